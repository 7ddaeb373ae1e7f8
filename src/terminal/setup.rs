//! Connects an MCP client: asks what it is not told, writes the client's entry or prints it, and says what comes next.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::{pretty_json, say};
use crate::cli::SetupCommand;
use crate::config::{Flags, page_url, process_variable};
use crate::setup::clients::{CLIENTS, McpClient, UserFolders};
use crate::setup::entry::{EntryDesk, entry_json, entry_words};
use crate::setup::{ENTRY_NAME, EntryChange, Undone, add_entry, remove_entry};

const PRINT: &str = "print";

pub fn run_setup(flags: &Flags, command: &SetupCommand) -> Result<ExitCode, String> {
    let folders = user_folders()?;
    let asks = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let name = match &command.client {
        Some(name) => name.clone(),
        None if asks => ask_client(&folders)?,
        None => return Err(format!("say which client: {}, or {PRINT}", client_names())),
    };
    if command.undo {
        return undo(known_client(&name)?, &folders);
    }
    let client = if name == PRINT { None } else { Some(known_client(&name)?) };
    let desk = match EntryDesk::of_flags(flags) {
        Some(desk) => desk,
        None if command.own_desktop => EntryDesk::Own,
        None if asks => ask_desk()?,
        None => return Err(NO_DESK.to_owned()),
    };
    if let Some(file) = flags.config.iter().chain(&flags.scenario).find(|file| !file.is_file()) {
        return Err(format!("there is no file {}", file.display()));
    }
    let program = own_program()?;
    let words = entry_words(flags, &desk);
    match client {
        Some(client) => connect(client, &folders, &program, &words),
        None => print_entry(&program, &words),
    }
}

const NO_DESK: &str = "say which desktop the client gets: --mock (a simulated one), --sandbox PROGRAM (a private one, \
                       Linux), --browser [URL], or --own-desktop (the one that you are looking at)";

fn known_client(name: &str) -> Result<&'static McpClient, String> {
    McpClient::by_name(name)
        .ok_or_else(|| format!("there is no client '{name}'; there are {}", client_names()))
}

fn client_names() -> String {
    CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().join(", ")
}

/// The program that is running, by the path that will start it again.
fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|problem| format!("this program does not know its own path: {problem}"))
}

fn user_folders() -> Result<UserFolders, String> {
    let folder = |name: &str| process_variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = folder("HOME").or_else(|| folder("USERPROFILE"));
    let home = home.ok_or("there is no home folder: HOME is not set")?;
    let settings = if cfg!(windows) {
        folder("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming"))
    } else if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else {
        folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"))
    };
    Ok(UserFolders { codex: folder("CODEX_HOME"), home, settings })
}

fn connect(
    client: &McpClient,
    folders: &UserFolders,
    program: &std::path::Path,
    words: &[String],
) -> Result<ExitCode, String> {
    let file = client.file(folders);
    let entry = entry_json(Some(client), program, words);
    let change = add_entry(&file, &entry).map_err(|problem| {
        let shown = json!({ ENTRY_NAME: entry });
        format!("{problem}\nNothing was changed. Add this entry yourself:\n{}", pretty_json(&shown))
    })?;
    let place = file.path.display();
    let told = match &change {
        EntryChange::Created => format!("{}: {place} was created.", client.title),
        EntryChange::Changed { copy } => {
            format!("{}: {place} was changed. As it was before, it is in {}", client.title, copy.display())
        }
        EntryChange::Unchanged => format!("{}: {place} has this entry already.", client.title),
    };
    say(&format!(
        "{told}\nIt starts: {} {}\n\nNext:\n  1. {}.\n  2. Ask it: \"Look at the desktop and tell me what you see.\"\n  \
         3. Watch it: os-screen-observer watch\nUndo: os-screen-observer setup --undo {}",
        program.display(),
        words.join(" "),
        client.next,
        client.name
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// For clients that are not known here, and for those who paste.
fn print_entry(program: &std::path::Path, words: &[String]) -> Result<ExitCode, String> {
    let entry = entry_json(None, program, words);
    say(&pretty_json(&json!({"mcpServers": { ENTRY_NAME: entry }})))?;
    Ok(ExitCode::SUCCESS)
}

fn undo(client: &McpClient, folders: &UserFolders) -> Result<ExitCode, String> {
    let file = client.file(folders);
    let (place, title) = (file.path.display(), client.title);
    say(&match remove_entry(&file)? {
        Undone::Restored => format!("{title}: {place} is as it was before."),
        Undone::Removed => {
            format!("{title}: the entry was removed from {place}; what else was changed there since stays.")
        }
        Undone::Deleted => format!("{title}: {place} had nothing but the entry and was deleted."),
        Undone::Nothing => format!("{title}: there is no entry in {place}; nothing was changed."),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn ask_client(folders: &UserFolders) -> Result<String, String> {
    say("Which client?")?;
    for (at, client) in CLIENTS.iter().enumerate() {
        let found = if client.is_used(folders) { "  (found here)" } else { "" };
        say(&format!("  {}  {}{found}", at + 1, client.title))?;
    }
    say(&format!("  {}  another one: print the entry", CLIENTS.len() + 1))?;
    let number = ask_number(CLIENTS.len() + 1)?;
    Ok(CLIENTS.get(number - 1).map_or(PRINT, |client| client.name).to_owned())
}

const DESK_QUESTION: &str = "What may it see and operate?\n  \
         1  a mock desktop: simulated, nothing real is touched\n  \
         2  a private desktop with a program of your choice (Linux)\n  \
         3  a browser of its own\n  \
         4  the desktop that you are looking at";

fn ask_desk() -> Result<EntryDesk, String> {
    say(DESK_QUESTION)?;
    Ok(match ask_number(4)? {
        1 => EntryDesk::Mock { scenario: None },
        2 => {
            let program = ask("Which program? (empty for none)")?;
            EntryDesk::Sandbox(program.split_whitespace().map(str::to_owned).collect())
        }
        3 => match ask("Which page first? (empty for none)")?.as_str() {
            "" => EntryDesk::Browser(None),
            url => EntryDesk::Browser(Some(page_url(url)?)),
        },
        _ => EntryDesk::Own,
    })
}

fn ask_number(most: usize) -> Result<usize, String> {
    let answer = ask(&format!("1 to {most}:"))?;
    let number = answer.parse::<usize>().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("'{answer}' is not a number from 1 to {most}; nothing was changed"))
}

fn ask(question: &str) -> Result<String, String> {
    say(question)?;
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read {
        Ok(0) => Err("there was no answer; nothing was changed".to_owned()),
        Ok(_) => Ok(line.trim().to_owned()),
        Err(problem) => Err(format!("standard input cannot be read: {problem}")),
    }
}
