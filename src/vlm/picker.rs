//! Choosing models at a terminal: shows what the server offers, asks for each empty slot, saves the choice.
//!
//! It talks to a person, so it never runs while MCP is served. The config file is edited as text: only the
//! chosen values change, and the file is replaced as a whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::client::{Client, KnownPrefix};
use super::runner::{ModelRunner, is_model_name};
use crate::clock::Cancel;
use crate::config::{Vlm, VlmMode, limits};
use crate::files;

const PAGE: usize = 15;

/// A model for one of the config's slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    pub slot: &'static str,
    pub model: String,
}

struct ModelSlot {
    key: &'static str,
    purpose: &'static str,
    chosen: fn(&Vlm) -> bool,
    /// Asked for only when the description is made in passes; empty means that `model` serves.
    only_in_passes: bool,
}

const SLOTS: [ModelSlot; 4] = [
    ModelSlot {
        key: "model",
        purpose: "describes windows",
        chosen: |config| config.model.is_some(),
        only_in_passes: false,
    },
    ModelSlot {
        key: "model_fast",
        purpose: "says what a window is (Enter: the same model)",
        chosen: |config| config.model_fast.is_some(),
        only_in_passes: true,
    },
    ModelSlot {
        key: "model_actions",
        purpose: "suggests what to do next, without an image (Enter: the same model)",
        chosen: |config| config.model_actions.is_some(),
        only_in_passes: true,
    },
    ModelSlot {
        key: "model_verify",
        purpose: "checks the rest (Enter: none)",
        chosen: |config| config.model_verify.is_some(),
        only_in_passes: true,
    },
];

/// What the configured server offers, which may be nothing.
pub fn list_models(config: &Vlm) -> Result<Vec<String>, String> {
    let known = KnownPrefix::default();
    let client = Client::new(config, &known).map_err(|error| error.message)?;
    client.list_models(&Cancel::new()).map_err(|failure| failure.error.message)
}

pub fn none_offered(config: &Vlm) -> String {
    format!("the model server {} offers no models; load one there first", config.base_url)
}

/// Asks for each empty slot. Nothing is chosen for a slot that the person passes over. With a `runner`, a
/// model that is not there yet can be named too; it is got when the person says yes to that.
pub fn pick_models(
    config: &Vlm,
    models: &[String],
    runner: Option<ModelRunner>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<Vec<ModelChoice>, String> {
    let in_passes = config.mode == VlmMode::Multipass;
    let mut choices = Vec::new();
    for slot in SLOTS.iter().filter(|slot| !(slot.chosen)(config) && (in_passes || !slot.only_in_passes)) {
        let picked = ask_slot(slot, models, runner, input, output);
        match picked.map_err(|problem| format!("the terminal is invalid: {problem}"))? {
            Picked::Model(model) => choices.push(ModelChoice { slot: slot.key, model }),
            Picked::Nothing => {}
            Picked::Quit => return Ok(Vec::new()),
        }
    }
    Ok(choices)
}

enum Picked {
    Model(String),
    Nothing,
    Quit,
}

fn ask_slot(
    slot: &ModelSlot,
    models: &[String],
    runner: Option<ModelRunner>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> std::io::Result<Picked> {
    let pages = models.len().div_ceil(PAGE).max(1);
    let mut page = 0;
    loop {
        show_page(slot, models, page, pages, output)?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(Picked::Quit);
        }
        match line.trim() {
            "" => return Ok(Picked::Nothing),
            "q" => return Ok(Picked::Quit),
            "n" => page = (page + 1) % pages,
            "p" => page = (page + pages - 1) % pages,
            answer => match chosen_model(models, answer) {
                Some(model) => return Ok(Picked::Model(model.clone())),
                None if was_pulled(answer, runner, input, output)? => {
                    return Ok(Picked::Model(answer.to_owned()));
                }
                None => {}
            },
        }
    }
}

/// Whether a model that the server does not have was got. If not, the person has been told why.
fn was_pulled(
    answer: &str,
    runner: Option<ModelRunner>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> std::io::Result<bool> {
    let is_number = answer.bytes().all(|byte| byte.is_ascii_digit());
    let Some(runner) = runner.filter(|_| is_model_name(answer) && !is_number) else {
        writeln!(output, "'{answer}' is neither a number from the list nor a model.")?;
        return Ok(false);
    };
    write!(output, "'{answer}' is not installed. Run `{}`? y/n > ", runner.command_line(answer))?;
    output.flush()?;
    let mut line = String::new();
    input.read_line(&mut line)?;
    if line.trim() != "y" {
        return Ok(false);
    }
    match runner.pull_model(answer) {
        Ok(()) => Ok(true),
        Err(problem) => writeln!(output, "{problem}").map(|()| false),
    }
}

fn show_page(
    slot: &ModelSlot,
    models: &[String],
    page: usize,
    pages: usize,
    output: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(output, "\nvlm.{}: {}", slot.key, slot.purpose)?;
    for (index, model) in models.iter().enumerate().skip(page * PAGE).take(PAGE) {
        writeln!(output, "{:>4}  {model}", index + 1)?;
    }
    let turning = if pages > 1 { format!(", n/p: page {} of {pages}", page + 1) } else { String::new() };
    write!(output, "Number or name{turning}, Enter: leave empty, q: quit without saving > ")?;
    output.flush()
}

fn chosen_model<'a>(models: &'a [String], answer: &str) -> Option<&'a String> {
    let by_number = answer.parse::<usize>().ok().and_then(|number| models.get(number.checked_sub(1)?));
    by_number.or_else(|| models.iter().find(|model| *model == answer))
}

/// Writes the choices into the config file, or says why the file stays as it is.
pub fn save(path: &Path, choices: &[ModelChoice]) -> Result<(), String> {
    let problem = |what: String| format!("{} was not changed: {what}", path.display());
    let text = read(path).map_err(problem)?;
    let edited = choices.iter().try_fold(text, |text, choice| with_choice(&text, choice));
    let edited = edited.map_err(problem)?;
    // The user's own folder for settings may not be there yet.
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        files::create_private_dir(folder, true).map_err(|error| problem(error.to_string()))?;
    }
    replace_file(path, edited.as_bytes()).map_err(|error| problem(error.to_string()))
}

fn read(path: &Path) -> Result<String, String> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok("{}\n".to_owned()),
        Err(error) => return Err(error.to_string()),
        Ok(facts) if !facts.is_file() => return Err("it is not a regular file".to_owned()),
        Ok(facts) if facts.len() > limits::CONFIG_BYTES as u64 => return Err("it is too large".to_owned()),
        Ok(_) => {}
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// The text with one value changed or added, and everything else as it was, blanks included.
fn with_choice(text: &str, choice: &ModelChoice) -> Result<String, String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut expected: Value =
        serde_json::from_str(body).map_err(|error| format!("it is not JSON: {error}"))?;
    let section =
        expected.as_object_mut().ok_or("it is not a JSON object")?.entry("vlm").or_insert_with(|| json!({}));
    let fields = section.as_object_mut().ok_or("its key vlm is not an object")?;
    fields.insert(choice.slot.to_owned(), json!(choice.model));
    let start = text.len() - body.len();
    let edited = edit_config(text, start, choice);
    // The edit by hand must mean what an edit of the data means.
    let same =
        serde_json::from_str::<Value>(edited.trim_start_matches('\u{feff}')).is_ok_and(|got| got == expected);
    if same { Ok(edited) } else { Err("its format is not supported; add the model by hand".to_owned()) }
}

/// `text` is JSON from `start` on, and an object.
fn edit_config(text: &str, start: usize, choice: &ModelChoice) -> String {
    let model = json!(choice.model).to_string();
    let root = object_members(text, start);
    let Some(section) = root.iter().rev().find(|member| member.name == "vlm") else {
        return with_member(text, start, "vlm", &format!("{{\"{}\": {model}}}", choice.slot));
    };
    let fields = object_members(text, section.value.start);
    match fields.iter().rev().find(|member| member.name == choice.slot) {
        Some(field) => format!("{}{model}{}", &text[..field.value.start], &text[field.value.end..]),
        None => with_member(text, section.value.start, choice.slot, &model),
    }
}

/// A new first member, laid out like the member that was first before.
fn with_member(text: &str, object: usize, key: &str, value: &str) -> String {
    let inside = text[object..].find('{').map_or(object, |at| object + at + 1);
    let (before, after) = text.split_at(inside);
    let blanks = &after[..after.len() - after.trim_start().len()];
    let comma = if after.trim_start().starts_with('}') { "" } else { "," };
    let gap = if comma.is_empty() { "" } else { blanks };
    let pad = if gap.is_empty() && !comma.is_empty() { " " } else { "" };
    format!("{before}{gap}\"{key}\": {value}{comma}{pad}{after}")
}

struct Member {
    name: String,
    value: Range<usize>,
}

/// The members of the object that begins at or after `start`, with the places of their values. The text is
/// known to be JSON.
fn object_members(text: &str, start: usize) -> Vec<Member> {
    let mut members = Vec::new();
    let mut depth = 0_usize;
    let (mut name, mut value_start) = (String::new(), None);
    let mut at = start;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => {
                let end = end_of_string(text, at);
                if depth == 1 && value_start.is_none() {
                    name = serde_json::from_str(&text[at..end]).unwrap_or_default();
                }
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 && value_start.is_none() => value_start = Some(at + 1),
            _ => {}
        }
        let ends_value = (*byte == b',' && depth == 1) || (*byte == b'}' && depth == 0);
        if let (true, Some(from)) = (ends_value, value_start) {
            members.push(Member { name: std::mem::take(&mut name), value: trim_range(text, from..at) });
            value_start = None;
        }
        if depth == 0 && *byte == b'}' {
            break;
        }
        at += 1;
    }
    members
}

/// Behind the closing quote of the string that opens at `start`.
fn end_of_string(text: &str, start: usize) -> usize {
    let mut escaped = false;
    for (offset, byte) in text.as_bytes()[start + 1..].iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return start + offset + 2,
            _ => {}
        }
    }
    text.len()
}

fn trim_range(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let start = range.start + piece.len() - piece.trim_start().len();
    start..start + piece.trim().len()
}

/// Replaces the file as a whole: a reader sees the old text or the new one, and a full disk costs nothing.
fn replace_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // A link stays a link; what it points to is replaced.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let beside = temporary_path(&real);
    let written =
        write_new(&beside, bytes, fs::metadata(&real).ok()).and_then(|()| fs::rename(&beside, &real));
    if written.is_err() {
        // What could not become the config file is of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    written
}

fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.new", std::process::id()))
}

/// The file may hold a key, so the new one is as closed as the old one was, from its first byte on.
fn write_new(path: &Path, bytes: &[u8], old: Option<fs::Metadata>) -> std::io::Result<()> {
    let mut file = files::create_private(path, OpenOptions::new().write(true))?;
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_edit(text: &str, expected: &str) {
        let choice = ModelChoice { slot: "model", model: "a\"b".into() };
        assert_eq!(with_choice(text, &choice).unwrap(), expected);
    }

    #[test]
    fn only_the_value_changes() {
        check_edit(
            "{\n  \"mock\" : true,\n\t\"vlm\": { \"enabled\":true , \"model\": null },\n  \"x\": 1.50\n}\n",
            "{\n  \"mock\" : true,\n\t\"vlm\": { \"enabled\":true , \"model\": \"a\\\"b\" },\n  \"x\": 1.50\n}\n",
        );
        check_edit(r#"{"vlm":{"model":"{\"model\":1}"}}"#, r#"{"vlm":{"model":"a\"b"}}"#);
        check_edit("\u{feff}{\"vlm\":{\"model\":[1,{}]}}", "\u{feff}{\"vlm\":{\"model\":\"a\\\"b\"}}");
    }

    #[test]
    fn what_is_missing_is_added_in_the_same_layout() {
        check_edit("{}", r#"{"vlm": {"model": "a\"b"}}"#);
        check_edit(r#"{"mock":true}"#, r#"{"vlm": {"model": "a\"b"}, "mock":true}"#);
        check_edit(
            "{\"vlm\": {\n    \"enabled\": true\n  }\n}",
            "{\"vlm\": {\n    \"model\": \"a\\\"b\",\n    \"enabled\": true\n  }\n}",
        );
        check_edit("{\"vlm\": {}}", "{\"vlm\": {\"model\": \"a\\\"b\"}}");
    }

    #[test]
    fn what_is_no_config_is_left_alone() {
        let choice = ModelChoice { slot: "model", model: "m".into() };
        for text in ["", "[]", "{\"vlm\": 3}", "{\"vlm\": {},}"] {
            assert!(with_choice(text, &choice).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_object_keeps_the_rest(before in "[ -~]{0,20}", inner in "[ -~]{0,20}", pretty in any::<bool>(), has in any::<bool>()) {
            let mut value = json!({"a": before, "vlm": {"b": [inner, {"model": 1}], "c": {}}, "model": null});
            if has {
                value["vlm"]["model"] = json!({"deep": [before]});
            }
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            let edited = with_choice(&text, &ModelChoice { slot: "model", model: inner.clone() }).unwrap();
            value["vlm"]["model"] = json!(inner);
            prop_assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), value);
        }
    }

    fn run(config: &Vlm, count: usize, typed: &str) -> (Vec<ModelChoice>, String) {
        run_with(config, count, typed, None)
    }

    fn run_with(
        config: &Vlm,
        count: usize,
        typed: &str,
        runner: Option<ModelRunner>,
    ) -> (Vec<ModelChoice>, String) {
        let models: Vec<String> = (1..=count).map(|number| format!("m{number}")).collect();
        let mut shown = Vec::new();
        let choices = pick_models(config, &models, runner, &mut typed.as_bytes(), &mut shown).unwrap();
        (choices, String::from_utf8(shown).unwrap())
    }

    #[track_caller]
    fn check_pick(config: &Vlm, typed: &str, expected: &[(&'static str, &str)]) {
        let (choices, shown) = run(config, 40, typed);
        let choices: Vec<(&str, &str)> =
            choices.iter().map(|choice| (choice.slot, choice.model.as_str())).collect();
        assert_eq!(choices, expected, "{shown}");
    }

    #[test]
    fn a_model_is_chosen_by_number_or_name() {
        check_pick(&Vlm::default(), "2\n", &[("model", "m2")]);
        check_pick(&Vlm::default(), "m7\n", &[("model", "m7")]);
        check_pick(&Vlm::default(), "0\n41\nfoo\n40\n", &[("model", "m40")]);
        check_pick(&Vlm::default(), "\n", &[]);
        check_pick(&Vlm::default(), "q\n", &[]);
        check_pick(&Vlm::default(), "", &[]);
    }

    #[test]
    fn pages_turn_and_come_round() {
        let (_, shown) = run(&Vlm::default(), 40, "n\nn\nn\np\nq\n");
        let pages: Vec<&str> = shown.matches("page 1 of 3").collect();
        assert_eq!(pages.len(), 2, "{shown}");
        assert!(shown.contains("  31  m31\n") && shown.contains("page 3 of 3"), "{shown}");
        assert!(!run(&Vlm::default(), 3, "q\n").1.contains("page"));
    }

    #[cfg(unix)]
    #[test]
    fn a_model_that_is_not_there_is_got_only_after_a_yes() {
        let check = |program: &str, typed: &str, expected: Option<&str>, said: &str| {
            let command = [program.to_owned()];
            let runner = ModelRunner::of(Some(&command)).ok();
            let (choices, shown) = run_with(&Vlm::default(), 2, typed, runner);
            assert_eq!(choices.first().map(|choice| choice.model.as_str()), expected, "{shown}");
            assert!(shown.contains(said), "{shown}");
        };
        check("true", "llava\ny\n", Some("llava"), "'llava' is not installed. Run `true pull llava`? y/n");
        check("true", "llava\nn\n1\n", Some("m1"), "Run `true pull llava`?");
        check("true", "llava\n", None, "Run `true pull llava`?");
        check("false", "llava\ny\n2\n", Some("m2"), "false pull llava failed");
        check("true", "9\n--help\nq\n", None, "'--help' is neither a number from the list nor a model");
        let (choices, shown) = run(&Vlm::default(), 2, "llava\nq\n");
        assert!(choices.is_empty() && !shown.contains("pull"), "{shown}");
    }

    #[test]
    fn passes_ask_for_their_own_slots() {
        let passes = Vlm { mode: VlmMode::Multipass, model: Some("m1".into()), ..Vlm::default() };
        check_pick(&passes, "2\n\n3\n", &[("model_fast", "m2"), ("model_verify", "m3")]);
        check_pick(&passes, "2\nq\n", &[]);
        check_pick(&Vlm { model: Some("m1".into()), ..Vlm::default() }, "", &[]);
    }

    #[test]
    fn the_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        let choice = [ModelChoice { slot: "model", model: "m".into() }];
        save(&path, &choice).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"vlm\": {\"model\": \"m\"}}\n");
        fs::write(&path, "not json").unwrap();
        let problem = save(&path, &choice).unwrap_err();
        assert!(problem.contains("was not changed: it is not JSON"), "{problem}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "not json");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn the_new_file_is_as_closed_as_the_old_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
        fs::write(&path, "{}").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        save(&link, &[ModelChoice { slot: "model", model: "m".into() }]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&path).unwrap().contains("\"m\""));
    }
}
