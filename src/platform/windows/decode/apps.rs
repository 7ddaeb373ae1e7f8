//! What the shortcuts of the Start menu say: which program they start, and with which arguments.
//!
//! A shortcut is a file in Microsoft's Shell Link format (MS-SHLLINK): a header of 76 bytes whose flags tell which
//! parts follow. Of these a name, a place and a few texts are read; whatever does not fit is no shortcut to us. Apps of
//! the store have no program of their own and so are not listed.

use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::app::{App, Program};
use crate::text::nearest;

/// What of a shortcut counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shortcut {
    pub program: String,
    pub arguments: String,
}

/// Reads bytes in their order; everything outside of them is nothing.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn part(&self, at: usize, length: usize) -> Option<&'a [u8]> {
        self.0.get(at..at.checked_add(length)?)
    }

    fn u16(&self, at: usize) -> Option<usize> {
        Some(u16::from_le_bytes(self.part(at, 2)?.try_into().ok()?).into())
    }

    fn u32(&self, at: usize) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.part(at, 4)?.try_into().ok()?)).ok()
    }

    /// Bytes up to a zero. Programs outside of ASCII have their name in Unicode too, which is preferred.
    fn text(&self, at: usize) -> Option<String> {
        let bytes = self.0.get(at..)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        Some(bytes.get(..end)?.iter().map(|byte| char::from(*byte)).collect())
    }

    fn wide_text(&self, at: usize) -> Option<String> {
        let units = self.0.get(at..)?.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]]));
        let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
        String::from_utf16(&units).ok()
    }
}

const HEADER: usize = 76;
const HAS_ID_LIST: usize = 1 << 0;
const HAS_LINK_INFO: usize = 1 << 1;
const HAS_NAME: usize = 1 << 2;
const HAS_RELATIVE_PATH: usize = 1 << 3;
const HAS_WORKING_DIR: usize = 1 << 4;
const HAS_ARGUMENTS: usize = 1 << 5;
const IS_UNICODE: usize = 1 << 7;

pub fn shortcut(file: &[u8]) -> Option<Shortcut> {
    let bytes = Bytes(file);
    if bytes.u32(0)? != HEADER {
        return None;
    }
    let flags = bytes.u32(20)?;
    let mut at = HEADER;
    if flags & HAS_ID_LIST != 0 {
        at = at.checked_add(bytes.u16(at)?.checked_add(2)?)?;
    }
    if flags & HAS_LINK_INFO == 0 {
        return None;
    }
    let info = Bytes(bytes.part(at, bytes.u32(at)?)?);
    let program = place(&info)?;
    at = at.checked_add(bytes.u32(at)?)?;
    let mut arguments = String::new();
    for (flag, wanted) in
        [(HAS_NAME, false), (HAS_RELATIVE_PATH, false), (HAS_WORKING_DIR, false), (HAS_ARGUMENTS, true)]
    {
        if flags & flag != 0 {
            let (text, length) = counted(&bytes, at, flags & IS_UNICODE != 0)?;
            at = at.checked_add(length)?;
            if wanted {
                arguments = text;
            }
        }
    }
    Some(Shortcut { program, arguments })
}

/// The program's whole path on this machine.
fn place(info: &Bytes<'_>) -> Option<String> {
    const LOCAL: usize = 1;
    if info.u32(8)? & LOCAL == 0 {
        return None;
    }
    let wide = info.u32(4)? >= 0x24;
    let base = match wide.then(|| info.u32(28)).flatten() {
        Some(at) if at != 0 => info.wide_text(at)?,
        _ => info.text(info.u32(16)?)?,
    };
    let suffix = match wide.then(|| info.u32(32)).flatten() {
        Some(at) if at != 0 => info.wide_text(at)?,
        _ => info.text(info.u32(24)?)?,
    };
    Some(base + &suffix)
}

/// A text with its length before it, and how many bytes both take.
fn counted(bytes: &Bytes<'_>, at: usize, unicode: bool) -> Option<(String, usize)> {
    let count = bytes.u16(at)?;
    let length = if unicode { count.checked_mul(2)? } else { count };
    let part = bytes.part(at.checked_add(2)?, length)?;
    let text = if unicode {
        let units: Vec<u16> = part.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
        String::from_utf16_lossy(&units)
    } else {
        part.iter().map(|byte| char::from(*byte)).collect()
    };
    Some((text, length.checked_add(2)?))
}

/// The words of a command line, as programs of Windows take it apart.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut characters = line.chars().peekable();
    loop {
        while characters.next_if(|it| it.is_whitespace()).is_some() {}
        if characters.peek().is_none() {
            return words;
        }
        let (mut word, mut quoted) = (String::new(), false);
        while let Some(character) = characters.next_if(|it| quoted || !it.is_whitespace()) {
            match character {
                '"' => quoted = !quoted,
                '\\' => {
                    let mut slashes = 1;
                    while characters.next_if_eq(&'\\').is_some() {
                        slashes += 1;
                    }
                    let before_quote = characters.peek() == Some(&'"');
                    let kept = if before_quote { slashes / 2 } else { slashes };
                    word.extend(std::iter::repeat_n('\\', kept));
                    if before_quote && slashes % 2 == 1 {
                        word.extend(characters.next());
                    }
                }
                other => word.push(other),
            }
        }
        words.push(word);
    }
}

/// An app of the Start menu. `place` is the shortcut's path below the menu: `Accessories\Notepad.lnk`.
pub fn app(place: &str, file: &[u8]) -> Option<App> {
    let id = place.rsplit_once('.').filter(|(_, ending)| ending.eq_ignore_ascii_case("lnk"))?.0;
    let Shortcut { program, arguments } = shortcut(file)?;
    if !program.to_ascii_lowercase().ends_with(".exe") {
        return None;
    }
    let id = id.replace('\\', "/");
    let name = id.rsplit('/').next().unwrap_or_default().to_owned();
    let command = std::iter::once(program).chain(words(&arguments)).collect();
    Some(App { id, name, command })
}

/// Ordered by name, each id once, the first being that of the user's own menu.
pub fn sorted(apps: Vec<App>) -> Vec<App> {
    let mut kept: Vec<App> = Vec::with_capacity(apps.len());
    for app in apps {
        if !kept.iter().any(|known| known.id == app.id) {
            kept.push(app);
        }
    }
    kept.sort_by_cached_key(|app| (app.name.to_lowercase(), app.id.clone()));
    kept.truncate(limits::APPS);
    kept
}

/// Whether a caller who writes this means the program: its file's name, with or without the ending.
fn is_program(app: &App, name: &str) -> bool {
    let file = app.program().rsplit(['\\', '/']).next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    !name.is_empty() && [app.program(), file, stem].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// An app by its id, name or program, else a program by its path or on PATH, whose whole path `lookup` tells: what was
/// found is what is started, whatever Windows would find by the name.
pub fn find(apps: &[App], name: &str, lookup: impl Fn(&str) -> Option<String>) -> Result<Program> {
    let by_id = apps.iter().find(|app| app.id.eq_ignore_ascii_case(name));
    let by_name = || apps.iter().find(|app| app.name.eq_ignore_ascii_case(name));
    if let Some(app) = by_id.or_else(by_name).or_else(|| apps.iter().find(|app| is_program(app, name))) {
        let file = app.program().rsplit(['\\', '/']).next().unwrap_or_default();
        let name = format!("{} ({file})", app.name);
        return Ok(Program { name, command: app.command.clone(), installed: true });
    }
    if let Some(path) = lookup(name) {
        return Ok(Program { name: name.to_owned(), command: vec![path], installed: false });
    }
    let known = apps.iter().flat_map(|app| [app.id.clone(), app.name.clone()]);
    let near = nearest(name, known).map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
    Err(Error::bad_request(format!(
        "there is no app or program '{name}'{near} (an app has an id, a program is a name on PATH or an absolute path)"
    ))
    .with("field", "program"))
}

/// The line that a program takes apart into these words again; the first one, its own name, is taken apart by simpler
/// rules. What holds a zero would end there.
pub fn command_line(command: &[String]) -> Result<String, &'static str> {
    if command.iter().any(|word| word.contains('\0')) {
        return Err("an argument cannot contain a zero byte");
    }
    let mut line = String::new();
    for (place, word) in command.iter().enumerate() {
        if place == 0 {
            if word.contains('"') {
                return Err("a program name cannot contain a quotation mark");
            }
            line.push_str(&format!("\"{word}\""));
        } else {
            line.push(' ');
            line.push_str(&quote_word(word));
        }
    }
    Ok(line)
}

/// Backslashes count only before a quotation mark, and there each needs another.
fn quote_word(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '"', '\n', '\u{b}']) {
        return word.to_owned();
    }
    let mut line = String::from("\"");
    let mut slashes = 0;
    for character in word.chars() {
        if character == '"' {
            line.push_str(&"\\".repeat(slashes + 1));
        }
        slashes = if character == '\\' { slashes + 1 } else { 0 };
        line.push(character);
    }
    line.push_str(&"\\".repeat(slashes));
    line.push('"');
    line
}

/// The settings that a program gets, as Windows wants them: `NAME=value`, each ended by a zero, and one more at the end.
pub fn environment(variables: impl Iterator<Item = (Vec<u16>, Vec<u16>)>) -> Vec<u16> {
    let mut block = Vec::new();
    for (name, value) in variables.filter(|(name, _)| !name.is_empty()) {
        block.extend(name);
        block.push(u16::from(b'='));
        block.extend(value);
        block.push(0);
    }
    if block.is_empty() {
        block.push(0);
    }
    block.push(0);
    block
}

/// The file names that a word may stand for. What a shell would run (`.bat`) is no program: it takes its arguments
/// apart by rules of its own.
pub fn file_names(name: &str) -> Vec<String> {
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".exe") || lower.ends_with(".com") {
        return vec![name.to_owned()];
    }
    vec![format!("{name}.exe"), format!("{name}.com")]
}

/// Whether a word is a path: then it must be a whole one.
pub fn is_path(name: &str) -> bool {
    name.contains(['\\', '/', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shortcut as Windows writes it.
    fn file(base: &str, arguments: Option<&str>, wide: bool) -> Vec<u8> {
        let number = |value: usize| u32::try_from(value).unwrap().to_le_bytes();
        let wide_bytes = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let flags = HAS_ID_LIST | HAS_LINK_INFO | HAS_NAME | IS_UNICODE;
        let flags = if arguments.is_some() { flags | HAS_ARGUMENTS } else { flags };
        let mut bytes = vec![0; HEADER];
        bytes[..4].copy_from_slice(&number(HEADER));
        bytes[20..24].copy_from_slice(&number(flags));
        bytes.extend([3, 0, 9, 9, 9]);
        let header = if wide { 0x24 } else { 0x1c };
        let narrow: Vec<u8> = base.chars().map(|it| u8::try_from(it).unwrap_or(b'?')).chain([0, 0]).collect();
        let (base_at, suffix_at) = (header, header + narrow.len() - 1);
        let mut info = Vec::new();
        for field in [0, header, 1, 0, base_at, 0, suffix_at] {
            info.extend(number(field));
        }
        if wide {
            let wide_at = header + narrow.len();
            info.extend(number(wide_at));
            info.extend(number(wide_at + 2 * base.encode_utf16().count()));
        }
        info.extend(narrow);
        if wide {
            info.extend(wide_bytes(base));
            info.extend([0, 0]);
        }
        let size = info.len();
        info[..4].copy_from_slice(&number(size));
        bytes.extend(info);
        for text in std::iter::once("A description").chain(arguments) {
            bytes.extend(u16::try_from(text.encode_utf16().count()).unwrap().to_le_bytes());
            bytes.extend(wide_bytes(text));
        }
        bytes
    }

    #[track_caller]
    fn check(file: &[u8], expected: Option<(&str, &str)>) {
        let expected = expected.map(|(program, arguments)| Shortcut {
            program: program.to_owned(),
            arguments: arguments.to_owned(),
        });
        assert_eq!(shortcut(file), expected);
    }

    const CMD: &str = r"C:\Windows\System32\cmd.exe";
    const NOTEPAD: &str = r"C:\Windows\System32\notepad.exe";

    #[test]
    fn shortcuts_are_read() {
        check(&file(NOTEPAD, None, false), Some((NOTEPAD, "")));
        check(&file(NOTEPAD, Some("/p x"), false), Some((NOTEPAD, "/p x")));
        check(&file(r"C:\Müller\日本.exe", Some(""), true), Some((r"C:\Müller\日本.exe", "")));
    }

    #[test]
    fn broken_shortcuts_are_none_and_do_no_harm() {
        check(b"", None);
        check(b"[InternetShortcut]", None);
        let whole = file(NOTEPAD, Some("/p"), true);
        for end in 0..whole.len() {
            let _ = shortcut(&whole[..end]);
        }
        for at in 0..whole.len() {
            let mut wrong = whole.clone();
            wrong[at] = 0xff;
            let _ = shortcut(&wrong);
        }
        let mut remote = whole.clone();
        remote[HEADER + 5 + 8] = 2;
        check(&remote, None);
    }

    #[test]
    fn command_lines_are_taken_apart_as_programs_do() {
        let check = |line: &str, expected: &[&str]| assert_eq!(words(line), expected, "{line}");
        check(r#"/a "b c" d"#, &["/a", "b c", "d"]);
        check(r#""C:\a b\\" --x="1 2""#, &[r"C:\a b\", "--x=1 2"]);
        check(r#"a\\\"b c\d"#, &[r#"a\"b"#, r"c\d"]);
        check(r#""""#, &[""]);
        check("  ", &[]);
    }

    #[test]
    fn command_lines_are_put_together_as_programs_read_them() {
        let check = |command: &[&str], expected: Result<&str, &str>| {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(command_line(&command), expected.map(str::to_owned));
        };
        check(&[r"C:\a b\c.exe"], Ok(r#""C:\a b\c.exe""#));
        check(&["c.exe", "/p", "a b", ""], Ok(r#""c.exe" /p "a b" """#));
        check(&["c.exe", r"a b\", r#"x"y"#], Ok(r#""c.exe" "a b\\" "x\"y""#));
        check(&["c.exe", "a\0b"], Err("an argument cannot contain a zero byte"));
        check(&["c\"d.exe"], Err("a program name cannot contain a quotation mark"));
    }

    proptest::proptest! {
        #[test]
        fn what_is_put_together_is_taken_apart_again(
            arguments in proptest::collection::vec("[ab \\\\\"\t]{0,6}", 0..4)
        ) {
            let line = command_line(&[vec!["x".to_owned()], arguments.clone()].concat()).unwrap();
            proptest::prop_assert_eq!(words(line.strip_prefix("\"x\"").unwrap()), arguments);
        }
    }

    #[test]
    fn variables_are_one_block() {
        let wide = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        let check = |variables: &[(&str, &str)], expected: &str| {
            let variables = variables.iter().map(|(name, value)| (wide(name), wide(value)));
            assert_eq!(environment(variables), wide(expected));
        };
        check(&[("A", "1"), ("B", "")], "A=1\0B=\0\0");
        check(&[], "\0\0");
        check(&[("=C:", "C:\\x"), ("", "y")], "=C:=C:\\x\0\0");
    }

    fn apps() -> Vec<App> {
        let chrome = r"C:\Program Files\Google\Chrome\Application\chrome.exe";
        let own = app(r"Google Chrome.lnk", &file(chrome, Some("--profile-directory=\"Profile 1\""), true));
        let notepad = app(r"Accessories\Notepad.lnk", &file(NOTEPAD, None, true));
        let readme = app(r"Acme\Read me.lnk", &file(r"C:\Acme\readme.html", None, true));
        assert_eq!(readme, None, "a document is no program");
        sorted(vec![notepad.unwrap(), own.clone().unwrap(), own.unwrap()])
    }

    #[test]
    fn the_menu_is_listed_by_name() {
        let shown: Vec<_> = apps().into_iter().map(|app| (app.id, app.command.len())).collect();
        assert_eq!(shown, [("Google Chrome".to_owned(), 2), ("Accessories/Notepad".to_owned(), 1)]);
    }

    #[test]
    fn programs_are_found_by_what_people_call_them() {
        let check = |name: &str, expected: Result<&str, &str>| {
            let found = find(&apps(), name, |name| (name == "cmd.exe").then(|| CMD.to_owned()));
            match (found, expected) {
                (Ok(program), Ok(expected)) => assert_eq!(program.name, expected, "{name}"),
                (Err(error), Err(expected)) => assert!(error.message.contains(expected), "{error}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        };
        for name in ["Accessories/Notepad", "notepad", "Notepad.EXE", NOTEPAD] {
            check(name, Ok("Notepad (notepad.exe)"));
        }
        check("google chrome", Ok("Google Chrome (chrome.exe)"));
        check("cmd.exe", Ok("cmd.exe"));
        let found = find(&[], "cmd.exe", |_| Some(CMD.to_owned())).unwrap();
        assert_eq!(found.command, [CMD], "what was found is what is started");
        check("Notepat", Err("did you mean 'Notepad'?"));
        check("", Err("there is no app"));
    }

    #[test]
    fn a_word_stands_for_programs_only() {
        assert_eq!(file_names("calc"), ["calc.exe", "calc.com"]);
        assert_eq!(file_names("Calc.EXE"), ["Calc.EXE"]);
        assert_eq!(file_names("run.bat"), ["run.bat.exe", "run.bat.com"]);
        assert!(is_path(r"C:\x.exe") && is_path("a/b") && !is_path("calc.exe"));
    }
}
