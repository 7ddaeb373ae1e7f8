//! The audit log: one line for each call, also for each refused one.
//!
//! A line is fields separated by one blank, `name=value`. No name and no value contains a blank or
//! a line break, so no caller and no window title can forge a field or a second line. A line that
//! cannot be written is an error: the gate then allows no input, because it could not be traced.
//!
//! Several servers may share one file. Each line is written under a lock on the file that is at the path at that
//! moment; one that was removed, replaced or rotated by another server is noticed before the line is written, and
//! before anything acts.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::clock::{Deadline, lock, sleep_really, timestamp};
use crate::files;
use crate::privacy::arguments::{KEYS, may_be_typed};
use crate::privacy::injection::is_invisible;
use crate::privacy::scrub::Scrub;
use crate::text::shorten;

const LONGEST_VALUE: usize = 200;
const MOST_ARGUMENTS: usize = 64;
/// Deeper than any reader of requests accepts; guards the walk below when called by others.
const DEEPEST_ARGUMENT: usize = 128;

/// What is known of a call when it ends.
#[derive(Clone, Copy, Debug)]
pub struct AuditEntry<'a> {
    pub time: SystemTime,
    pub step: u64,
    pub caller: &'a str,
    /// The job that the call belongs to.
    pub job_id: Option<&'a str>,
    pub tool: &'a str,
    pub ok: bool,
    pub changed: Option<bool>,
    /// The error's code; left out of a line that says `ok=true`.
    pub code: Option<&'a str>,
    /// By whose consent a protected element was touched.
    pub consent: Option<&'a str>,
    /// A text in the reply speaks to an agent.
    pub suspicious: bool,
    /// The names of the secrets that were used.
    pub secrets: &'a [String],
    pub args: &'a Map<String, Value>,
    /// The arguments that a tool that types knows. Others are left out: a misspelt name is no reason to store a
    /// password.
    pub declared: Option<&'a Map<String, Value>>,
}

/// The entry as one line, without its line break.
///
/// Arguments named like one of `redact_keys`, at any depth, are left out and listed at the end. So are keys that
/// spell a character: they may be a password, letter by letter.
/// Strings are redacted before they are shortened, so no half of a secret stays.
pub fn audit_line(entry: &AuditEntry, redact_keys: &[String], scrub: &Scrub) -> String {
    let mut line = timestamp(entry.time);
    push_field(&mut line, "step", &entry.step.to_string());
    push_field(&mut line, "caller", &shown_word(entry.caller, scrub));
    if let Some(job_id) = entry.job_id {
        push_field(&mut line, "job", &shown_word(job_id, scrub));
    }
    push_field(&mut line, "tool", &shown_word(entry.tool, scrub));
    push_field(&mut line, "ok", if entry.ok { "true" } else { "false" });
    if let Some(changed) = entry.changed {
        push_field(&mut line, "changed", if changed { "true" } else { "false" });
    }
    if let Some(code) = entry.code.filter(|_| !entry.ok) {
        push_field(&mut line, "code", &shown_word(code, scrub));
    }
    if let Some(consent) = entry.consent {
        push_field(&mut line, "consent", consent);
    }
    if entry.suspicious {
        push_field(&mut line, "suspicious", "true");
    }
    if !entry.secrets.is_empty() {
        push_field(&mut line, "secrets", &shown_text(&entry.secrets.join(","), scrub));
    }
    push_arguments(&mut line, entry, &ArgumentFilter { redact_keys, scrub });
    line
}

fn push_field(line: &mut String, name: &str, escaped: &str) {
    line.push(' ');
    line.push_str(name);
    line.push('=');
    line.push_str(escaped);
}

fn push_arguments(line: &mut String, entry: &AuditEntry, filter: &ArgumentFilter) {
    let args = entry.args;
    let mut left_out = Vec::new();
    for (key, value) in args.iter().take(MOST_ARGUMENTS) {
        let name = format!("args.{}", escaped_key(key, filter.scrub));
        let is_known = entry.declared.is_none_or(|declared| declared.contains_key(key));
        if !is_known || filter.hides_value(key, value) {
            left_out.push(name);
        } else {
            let shown = filter.shown_value(value, &name, &mut left_out);
            push_field(line, &name, &shown);
        }
    }
    if args.len() > MOST_ARGUMENTS {
        push_field(line, "args_not_shown", &(args.len() - MOST_ARGUMENTS).to_string());
    }
    if !left_out.is_empty() {
        push_field(line, "redactions", &format!("[{}]", shortened_list(&left_out)));
    }
}

fn shortened_list(names: &[String]) -> String {
    match names.get(..MOST_ARGUMENTS) {
        Some(first) if names.len() > MOST_ARGUMENTS => format!("{},…", first.join(",")),
        _ => names.join(","),
    }
}

struct ArgumentFilter<'a> {
    redact_keys: &'a [String],
    scrub: &'a Scrub<'a>,
}

impl ArgumentFilter<'_> {
    fn hides_value(&self, key: &str, value: &Value) -> bool {
        let is_typed = key == KEYS && value.is_string() && may_be_typed(value);
        is_typed || self.redact_keys.iter().any(|hidden| hidden.eq_ignore_ascii_case(key))
    }

    fn shown_value(&self, value: &Value, name: &str, left_out: &mut Vec<String>) -> String {
        match value {
            Value::String(text) => shown_text(text, self.scrub),
            Value::Array(_) | Value::Object(_) => {
                let compact = self.scrub_value(value, name, left_out, DEEPEST_ARGUMENT).to_string();
                escape_field(&shorten(&compact, LONGEST_VALUE), Backslash::Kept)
            }
            plain => plain.to_string(),
        }
    }

    /// The value without hidden keys and with redacted strings. `depth` bounds the recursion.
    fn scrub_value(&self, value: &Value, name: &str, left_out: &mut Vec<String>, depth: usize) -> Value {
        match value {
            Value::Array(_) | Value::Object(_) if depth == 0 => Value::from("…"),
            Value::String(text) => Value::String(self.scrub.text(text).into_owned()),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items
                    .map(|(at, item)| self.scrub_value(item, &format!("{name}.{at}"), left_out, depth - 1))
                    .collect()
            }
            Value::Object(fields) => self.scrubbed_object(fields, name, left_out, depth),
            plain => plain.clone(),
        }
    }

    fn scrubbed_object(
        &self,
        fields: &Map<String, Value>,
        name: &str,
        left_out: &mut Vec<String>,
        depth: usize,
    ) -> Value {
        let mut kept = Map::new();
        for (key, value) in fields {
            let name = format!("{name}.{}", escaped_key(key, self.scrub));
            if self.hides_value(key, value) {
                left_out.push(name);
            } else {
                let value = self.scrub_value(value, &name, left_out, depth - 1);
                kept.insert(self.scrub.text(key).into_owned(), value);
            }
        }
        Value::Object(kept)
    }
}

fn shown_text(text: &str, scrub: &Scrub) -> String {
    escape_field(&shorten(&scrub.text(text), LONGEST_VALUE), Backslash::Doubled)
}

/// Who called what is never hidden by a rule about texts.
fn shown_word(text: &str, scrub: &Scrub) -> String {
    escape_field(&shorten(&scrub.own_word(text), LONGEST_VALUE), Backslash::Doubled)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Backslash {
    /// In a plain text, so that its own backslashes cannot be taken for escapes.
    Doubled,
    /// In compact JSON, where every backslash is an escape already.
    Kept,
}

/// Writes blanks, line breaks, control characters and what takes no room as JSON does (`\u0020`). All else stays
/// readable, quotation marks too: a selector looks as it was written.
fn escape_field(text: &str, backslash: Backslash) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' if backslash == Backslash::Doubled => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            character if character.is_whitespace() || character.is_control() || is_invisible(character) => {
                push_escape(&mut result, character);
            }
            character => result.push(character),
        }
    }
    result
}

/// A key may come from a caller who guesses, so it can be anything. Nothing that separates fields,
/// names or list items stays.
fn escaped_key(key: &str, scrub: &Scrub) -> String {
    let mut result = String::with_capacity(key.len());
    for character in shorten(&scrub.text(key), LONGEST_VALUE).chars() {
        if character.is_alphanumeric() || matches!(character, '_' | '-' | '…') {
            result.push(character);
        } else {
            push_escape(&mut result, character);
        }
    }
    result
}

fn push_escape(result: &mut String, character: char) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(result, "\\u{unit:04x}");
    }
}

/// The file the lines go to.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    max_bytes: u64,
    backups: u32,
    log: Mutex<Log>,
    /// Lines that could not be written yet. They are written before anything else is.
    backlog: Mutex<VecDeque<String>>,
}

/// Lines that are kept while the disk is full; inputs are refused meanwhile, so few come.
const MOST_KEPT: usize = 1000;

/// How long another server may hold the file; a line takes it a few microseconds.
const LOCK_TIME: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(1);
/// How often the file may change under our hands while one line waits.
const MOST_REOPENED: usize = 20;

#[derive(Debug)]
struct Log {
    file: File,
    length: u64,
    /// The file ends within a line: a crash or a full disk cut it. The next line starts anew.
    torn: bool,
    /// What was written before is no longer here. The next line says so.
    reopened: bool,
}

impl AuditLog {
    /// Appends to the file at `path`, or creates it for its owner alone. A link or anything but a
    /// regular file is refused: the log must not become a way to write somewhere else.
    ///
    /// The log is rotated before it would exceed `max_bytes`. With `max_bytes` or `backups` 0 it
    /// never is, because rotating without a backup would delete what an audit is for.
    pub fn open(path: &Path, max_bytes: u64, backups: u32) -> io::Result<AuditLog> {
        let log = Log::open(path).map_err(|error| describe_io_error(path, "cannot be opened", &error))?;
        Ok(AuditLog {
            path: path.to_owned(),
            max_bytes,
            backups,
            log: Mutex::new(log),
            backlog: Mutex::default(),
        })
    }

    /// Adds one line after all that wait to be written; one that cannot be written waits, too.
    pub fn record_line(&self, line: String) -> io::Result<()> {
        let mut backlog = lock(&self.backlog);
        if backlog.len() == MOST_KEPT {
            tracing::error!("an audit line was dropped, too many are waiting: {line}");
        } else {
            backlog.push_back(line);
        }
        self.write_backlog(&mut backlog)
    }

    /// Whether everything so far is in the file that is there. The gate asks before it lets anything act.
    pub fn ensure_writable(&self) -> io::Result<()> {
        self.write_backlog(&mut lock(&self.backlog))?;
        let mut log = lock(&self.log);
        self.hold_file(&mut log)?;
        log.let_go();
        Ok(())
    }

    fn write_backlog(&self, backlog: &mut VecDeque<String>) -> io::Result<()> {
        while let Some(line) = backlog.front() {
            self.append_line(line)?;
            backlog.pop_front();
        }
        Ok(())
    }

    /// Adds one line, made by `line`. After an error the log is as before, or says where it is torn.
    fn append_line(&self, line: &str) -> io::Result<()> {
        let mut log = lock(&self.log);
        self.hold_file(&mut log)?;
        let done = self.append_held(&mut log, line);
        log.let_go();
        done
    }

    fn append_held(&self, log: &mut Log, line: &str) -> io::Result<()> {
        let failed = |what| move |error| describe_io_error(&self.path, what, &error);
        log.look_again().map_err(failed("cannot be read"))?;
        if self.must_rotate(log, line) {
            let reopened = log.reopened;
            *log = self.rotate_log().map_err(failed("cannot be rotated"))?;
            log.reopened = reopened;
        }
        log.append_line(line).map_err(failed("cannot be written"))
    }

    /// Locks the file that is at the path now, whatever became of the one that was open.
    fn hold_file(&self, log: &mut Log) -> io::Result<()> {
        let failed = |error| describe_io_error(&self.path, "cannot be locked", &error);
        for _ in 0..MOST_REOPENED {
            lock_file(&log.file).map_err(failed)?;
            if log.is_at(&self.path) {
                return Ok(());
            }
            self.reopen_log(log)?;
        }
        Err(failed(io::Error::other("it is replaced again and again")))
    }

    /// Another server may have rotated the file. What else took it away has taken lines with it, and that is said.
    fn reopen_log(&self, log: &mut Log) -> io::Result<()> {
        let rotated = (1..=self.backups).any(|number| log.is_at(&self.backup_path(number)));
        let mut fresh = Log::open(&self.path)
            .map_err(|error| describe_io_error(&self.path, "is gone and cannot be opened anew", &error))?;
        fresh.reopened = log.reopened || !rotated;
        if fresh.reopened {
            tracing::error!(
                "the audit log {} was removed or replaced; what was written to it before is no longer there",
                self.path.display()
            );
        }
        *log = fresh;
        Ok(())
    }

    fn must_rotate(&self, log: &Log, line: &str) -> bool {
        let can = self.max_bytes > 0 && self.backups > 0 && log.length > 0;
        can && log.length + line.len() as u64 + 1 > self.max_bytes
    }

    /// Moves `log` to `log.1`, `log.1` to `log.2` and so on; the last one is overwritten. The new file is there before
    /// any other is touched, so that nothing is moved when none can be made.
    fn rotate_log(&self) -> io::Result<Log> {
        let next = self.numbered_path("next");
        // Left by a server that was killed while it rotated; nothing was written to it.
        remove_if_there(&next)?;
        let log = Log::open(&next)?;
        lock_file(&log.file)?;
        if let Err(problem) = self.shift_backups().and_then(|()| std::fs::rename(&next, &self.path)) {
            // It is empty, and made anew at the next try.
            let _ = std::fs::remove_file(&next);
            return Err(problem);
        }
        Ok(log)
    }

    /// Only up to the first number that is free: a rotation that failed half-way is not repeated.
    fn shift_backups(&self) -> io::Result<()> {
        let is_free = |number: &u32| self.backup_path(*number).symlink_metadata().is_err();
        let last = (1..=self.backups).find(is_free).unwrap_or(self.backups);
        for number in (1..last).rev() {
            rename_if_there(&self.backup_path(number), &self.backup_path(number + 1))?;
        }
        let newest = self.backup_path(1);
        remove_if_there(&newest)?;
        // A second name leaves no moment without a file, in which another server would make one of its own. Some file
        // systems have no second names, and Windows may not replace a file that is open.
        let second = if cfg!(windows) {
            Err(io::ErrorKind::Unsupported.into())
        } else {
            std::fs::hard_link(&self.path, &newest)
        };
        second.or_else(|_| rename_if_there(&self.path, &newest))
    }

    fn backup_path(&self, number: u32) -> PathBuf {
        self.numbered_path(&number.to_string())
    }

    fn numbered_path(&self, end: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{end}"));
        name.into()
    }
}

impl Log {
    fn open(path: &Path) -> io::Result<Log> {
        let mut file = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => create_log(path)?,
            Err(error) => return Err(error),
            Ok(found) => open_existing(path, &found)?,
        };
        let length = file.metadata()?.len();
        let torn = length > 0 && last_byte(&mut file)? != b'\n';
        Ok(Log { file, length, torn, reopened: false })
    }

    /// Whether this is the file at the path.
    fn is_at(&self, path: &Path) -> bool {
        match (path.symlink_metadata(), self.file.metadata()) {
            (Ok(found), Ok(opened)) => files::is_same_file(&found, &opened),
            _ => false,
        }
    }

    /// Another server may have written since.
    fn look_again(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length != self.length {
            self.torn = length > 0 && last_byte(&mut self.file)? != b'\n';
            self.length = length;
        }
        Ok(())
    }

    /// Closing the file does the same, so that an error costs nothing.
    fn let_go(&self) {
        let _ = self.file.unlock();
    }

    fn append_line(&mut self, line: &str) -> io::Result<()> {
        let start = if self.torn { "\n" } else { "" };
        // At the time of the line that follows it.
        let time = line.split(' ').next().unwrap_or_default();
        let remark =
            if self.reopened { format!("{time} event=reopened before=gone\n") } else { String::new() };
        let bytes = format!("{start}{remark}{line}\n");
        match self.file.write_all(bytes.as_bytes()) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                self.torn = false;
                self.reopened = false;
                Ok(())
            }
            Err(error) => {
                // A part may have been written; if it cannot be taken back, the next line starts anew.
                self.torn |= self.file.set_len(self.length).is_err();
                Err(error)
            }
        }
    }
}

/// A link that appeared since the look before is refused.
fn create_log(path: &Path) -> io::Result<File> {
    files::create_private(path, OpenOptions::new().read(true).append(true))
}

fn open_existing(path: &Path, found: &Metadata) -> io::Result<File> {
    if !found.is_file() {
        let what = if found.is_symlink() { "a symbolic link" } else { "not a regular file" };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}")));
    }
    let file = OpenOptions::new().read(true).append(true).open(path)?;
    if !files::is_same_file(found, &file.metadata()?) {
        return Err(io::Error::other("it was replaced by another file while it was opened"));
    }
    Ok(file)
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// Waits for another server's line, not for a server that stopped in the middle of one.
fn lock_file(file: &File) -> io::Result<()> {
    let deadline = Deadline::after(LOCK_TIME);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            // Where files cannot be locked, one server alone uses this one.
            Err(TryLockError::Error(problem)) if problem.kind() == io::ErrorKind::Unsupported => {
                return Ok(());
            }
            Err(TryLockError::Error(problem)) => return Err(problem),
            Err(TryLockError::WouldBlock) if deadline.is_over() => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "another server holds it"));
            }
            Err(TryLockError::WouldBlock) => sleep_really(LOCK_PAUSE),
        }
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        answer => answer,
    }
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        answer => answer,
    }
}

fn describe_io_error(path: &Path, what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the audit log {} {what}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::redact::Redactor;
    use proptest::prelude::*;
    use serde_json::json;
    use std::fs;
    use std::time::Duration;

    fn keys() -> Vec<String> {
        crate::config::Audit::default().redact_arg_keys
    }

    fn written(args: Value, change: impl FnOnce(&mut AuditEntry)) -> String {
        written_for("click_element", args, change)
    }

    fn written_for(tool: &str, args: Value, change: impl FnOnce(&mut AuditEntry)) -> String {
        let redactor = Redactor::new(None).unwrap();
        redactor.learn_secret("hunter2");
        let Value::Object(args) = args else { panic!("arguments are an object") };
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_794_786_622_764_711);
        let mut entry = AuditEntry {
            job_id: None,
            time,
            step: 1,
            caller: "unknown",
            tool,
            ok: true,
            changed: None,
            code: None,
            consent: None,
            suspicious: false,
            secrets: &[],
            args: &args,
            declared: None,
        };
        change(&mut entry);
        audit_line(&entry, &keys(), &Scrub::of(&redactor))
    }

    /// H-398 on code: a rule about texts hides neither who called nor what
    #[test]
    fn caller_and_tool_are_never_hidden_by_a_rule() {
        let rules = serde_json::from_value(json!({"ocr_text_patterns": ["[^A]"]})).unwrap();
        let redactor = Redactor::new(Some(rules)).unwrap();
        let args = Map::new();
        let entry = AuditEntry {
            job_id: None,
            time: SystemTime::UNIX_EPOCH,
            step: 1,
            caller: "mcp",
            tool: "click_element",
            ok: true,
            changed: None,
            code: None,
            consent: None,
            suspicious: false,
            secrets: &[],
            args: &args,
            declared: None,
        };
        let line = audit_line(&entry, &keys(), &Scrub::of(&redactor));
        assert!(line.contains(" caller=mcp tool=click_element "), "{line}");
    }

    /// What stands after `tool=click_element ok=true`.
    #[track_caller]
    fn check(args: Value, expected: &str) {
        let line = written(args, |_| ());
        let (_, rest) = line.split_once(" ok=true").unwrap();
        assert_eq!(rest.trim_start(), expected);
    }

    #[test]
    fn lines_are_those_of_the_sample() {
        let args = json!({"selector": "Window/MenuBar/MenuItem[name=\"Edit\"]", "window_index": 0});
        assert_eq!(
            written(args, |entry| entry.ok = false),
            "2026-11-15T23:50:22.764711+00:00 step=1 caller=unknown tool=click_element ok=false \
             args.selector=Window/MenuBar/MenuItem[name=\"Edit\"] args.window_index=0"
        );
    }

    #[test]
    fn objects_are_compact_json() {
        check(
            json!({"args": {"selector": "MenuItem[name=\"Edit\"]", "window_index": 0}}),
            r#"args.args={"selector":"MenuItem[name=\"Edit\"]","window_index":0}"#,
        );
        check(json!({"a": [1, null, "x y"]}), r#"args.a=[1,null,"x\u0020y"]"#);
        check(json!({"n": 1.5, "t": true, "z": null}), "args.n=1.5 args.t=true args.z=null");
    }

    #[test]
    fn change_and_code_stand_after_ok() {
        let line = written(json!({}), |entry| entry.changed = Some(false));
        assert!(line.ends_with(" ok=true changed=false"), "{line}");
        let line = written(json!({"x": 1}), |entry| {
            entry.ok = false;
            entry.code = Some("PermissionDenied");
        });
        assert!(line.ends_with(" ok=false code=PermissionDenied args.x=1"), "{line}");
    }

    /// H-58 on code: letter by letter, and under a misspelt name
    #[test]
    fn what_may_spell_a_password_is_left_out() {
        for keys in ["h", "H", "shift+h", "space", "no keys at all"] {
            check(json!({ "keys": keys }), "redactions=[args.keys]");
        }
        for keys in ["enter", "ctrl+h", "alt+f4"] {
            check(json!({ "keys": keys }), &format!("args.keys={keys}"));
        }
        check(json!({"args": {"keys": "h"}}), "args.args={} redactions=[args.args.keys]");
        let declared: &Value = Box::leak(Box::new(json!({"text": {}, "dry_run": {}})));
        let line = written(json!({"txt": "open sesame", "dry_run": true}), |entry| {
            entry.declared = declared.as_object()
        });
        assert!(line.ends_with(" args.dry_run=true redactions=[args.txt]"), "{line}");
    }

    #[test]
    fn hidden_keys_are_left_out_and_listed() {
        check(json!({"confirm_token": "ct:1", "x": 1}), "args.x=1 redactions=[args.confirm_token]");
        check(json!({"TEXT": "abc"}), "redactions=[args.TEXT]");
        check(
            json!({"args": {"n": [{"password": "x"}], "text": "abc"}}),
            r#"args.args={"n":[{}]} redactions=[args.args.n.0.password,args.args.text]"#,
        );
    }

    #[test]
    fn known_secrets_are_hidden_wherever_they_stand() {
        check(json!({"selector": "a[hunter2]"}), "args.selector=a[[REDACTED]]");
        check(json!({"a": {"hunter2": "hunter2"}}), r#"args.a={"[REDACTED]":"[REDACTED]"}"#);
        check(json!({"hunter2": 1}), r"args.\u005bREDACTED\u005d=1");
        let line = written(json!({}), |entry| entry.caller = "hunter2");
        assert!(line.contains(r" caller=[hidden:\u00207\u0020characters] "), "{line}");
    }

    #[test]
    fn a_cut_never_shows_half_a_secret() {
        let long = format!("{}hunter2", "x".repeat(LONGEST_VALUE - 3));
        check(json!({"a": long}), &format!("args.a={}[RE…", "x".repeat(LONGEST_VALUE - 3)));
    }

    #[test]
    fn long_values_say_that_they_were_cut() {
        check(json!({"a": "é".repeat(200)}), &format!("args.a={}", "é".repeat(200)));
        check(json!({"a": "é".repeat(201)}), &format!("args.a={}…", "é".repeat(200)));
        check(json!({"a": vec![1; 300]}), &format!("args.a=[{}1…", "1,".repeat(99)));
    }

    #[test]
    fn nothing_forges_a_field_or_a_line() {
        check(json!({"a": "x ok=true"}), r"args.a=x\u0020ok=true");
        check(json!({"a": "x\n2026 step=9"}), r"args.a=x\n2026\u0020step=9");
        check(json!({"a": "x\u{2028}y\u{a0}z"}), r"args.a=x\u2028y\u00a0z");
        check(json!({"a": r"C:\u0020"}), r"args.a=C:\\u0020");
        check(json!({"a": {"b": "x ok=true\n"}}), r#"args.a={"b":"x\u0020ok=true\n"}"#);
        check(json!({"a=1 ok": 1}), r"args.a\u003d1\u0020ok=1");
        check(json!({"a.b": 1}), r"args.a\u002eb=1");
        let line = written_for("x ok=true", json!({}), |_| ());
        assert!(line.contains(r" tool=x\u0020ok=true ok=true"), "{line}");
    }

    #[test]
    fn many_arguments_are_counted_not_listed() {
        let args: Map<String, Value> = (0..70).map(|n| (format!("k{n:02}"), Value::from(n))).collect();
        let line = written(Value::Object(args), |_| ());
        assert!(line.ends_with(" args.k63=63 args_not_shown=6"), "{line}");
    }

    proptest! {
        /// Whatever a caller sends, splitting at blanks gives the fields that were written.
        #[test]
        fn fields_can_be_read_back(
            pairs in prop::collection::btree_map("[a-z= .,\\]\\n]{1,6}", "[a-z= \\\\\"\\n\\r\u{85}\u{2029}]{0,20}", 0..5),
            tool in "[a-z =\\n]{0,9}",
        ) {
            let args = Value::Object(pairs.iter().map(|(k, v)| (k.clone(), json!(v))).collect());
            let line = written_for(&tool, args, |_| ());
            prop_assert!(!line.contains(|c: char| c != ' ' && (c.is_whitespace() || c.is_control())));
            let fields: Vec<(&str, &str)> =
                line.split(' ').skip(1).map(|field| field.split_once('=').unwrap()).collect();
            let names: Vec<&str> = fields.iter().take(4).map(|(name, _)| *name).collect();
            prop_assert_eq!(names, ["step", "caller", "tool", "ok"]);
            for ((name, value), sent) in fields.iter().skip(4).zip(pairs.values()) {
                prop_assert!(name.starts_with("args."));
                let read: String =
                    serde_json::from_str(&format!("\"{}\"", value.replace('"', "\\\""))).unwrap();
                prop_assert_eq!(&read, &sent.replace('\u{85}', ""));
            }
            prop_assert_eq!(fields.len(), 4 + pairs.len());
        }
    }

    fn in_directory(test: impl FnOnce(&Path)) {
        let directory = tempfile::tempdir().unwrap();
        test(&directory.path().join("audit.log"));
    }

    #[test]
    fn lines_are_appended_to_what_is_there() {
        in_directory(|path| {
            fs::write(path, "old\n").unwrap();
            AuditLog::open(path, 1000, 3).unwrap().append_line("new").unwrap();
            AuditLog::open(path, 1000, 3).unwrap().append_line("newer").unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), "old\nnew\nnewer\n");
        });
    }

    #[test]
    fn a_torn_line_is_ended_first() {
        in_directory(|path| {
            fs::write(path, "half a li").unwrap();
            let audit = AuditLog::open(path, 1000, 3).unwrap();
            audit.append_line("whole").unwrap();
            audit.append_line("next").unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), "half a li\nwhole\nnext\n");
        });
    }

    #[test]
    fn the_log_rotates_by_size_and_keeps_the_newest() {
        in_directory(|path| {
            let audit = AuditLog::open(path, 10, 2).unwrap();
            for line in ["aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff", "a line beyond the limit", "last"] {
                audit.append_line(line).unwrap();
            }
            let read = |name: &str| fs::read_to_string(path.with_file_name(name)).unwrap();
            assert_eq!(read("audit.log"), "last\n");
            assert_eq!(read("audit.log.1"), "a line beyond the limit\n");
            assert_eq!(read("audit.log.2"), "eeee\nffff\n");
            assert!(!path.with_file_name("audit.log.3").exists());
        });
    }

    #[test]
    fn nothing_is_rotated_away_without_a_backup() {
        for (max_bytes, backups) in [(10, 0), (0, 3)] {
            in_directory(|path| {
                let audit = AuditLog::open(path, max_bytes, backups).unwrap();
                (0..5).for_each(|_| audit.append_line("aaaa").unwrap());
                assert_eq!(fs::read_to_string(path).unwrap(), "aaaa\n".repeat(5));
            });
        }
    }

    #[test]
    fn a_rotation_that_fails_is_told_and_tried_again() {
        in_directory(|path| {
            let audit = AuditLog::open(path, 10, 1).unwrap();
            audit.append_line("aaaaaaaa").unwrap();
            let backup = path.with_file_name("audit.log.1");
            fs::create_dir(&backup).unwrap();
            let error = audit.append_line("bbbbbbbb").unwrap_err().to_string();
            assert!(error.contains("cannot be rotated"), "{error}");
            fs::remove_dir(&backup).unwrap();
            audit.append_line("bbbbbbbb").unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), "bbbbbbbb\n");
            assert_eq!(fs::read_to_string(&backup).unwrap(), "aaaaaaaa\n");
        });
    }

    #[track_caller]
    fn check_refused(path: &Path, reason: &str) {
        let error = AuditLog::open(path, 1000, 3).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("audit.log"), "{error}");
    }

    /// H-25 on code: a folder in place of the log.
    #[test]
    fn a_directory_is_refused() {
        in_directory(|path| {
            fs::create_dir(path).unwrap();
            check_refused(path, "it is not a regular file");
        });
    }

    /// H-25 on code: a link in place of the log.
    #[cfg(unix)]
    #[test]
    fn a_link_is_refused_and_its_target_untouched() {
        in_directory(|path| {
            let target = path.with_file_name("target");
            std::os::unix::fs::symlink(&target, path).unwrap();
            check_refused(path, "it is a symbolic link");
            assert!(!target.exists());
            fs::write(&target, "mine").unwrap();
            check_refused(path, "it is a symbolic link");
            assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_new_log_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        in_directory(|path| {
            let audit = AuditLog::open(path, 10, 1).unwrap();
            (0..4).for_each(|_| audit.append_line("aaaaaaaa").unwrap());
            for name in ["audit.log", "audit.log.1"] {
                let mode = path.with_file_name(name).metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600, "{name}");
            }
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_every_time() {
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let mut log = Log { file, length: 0, torn: false, reopened: false };
        for _ in 0..2 {
            assert_eq!(log.append_line("line").unwrap_err().kind(), io::ErrorKind::StorageFull);
        }
        assert!(log.torn);
    }

    /// All lines of a log, from the oldest backup to the newest line.
    fn all_lines(path: &Path, backups: u32) -> Vec<String> {
        let files = (1..=backups).rev().map(|number| path.with_file_name(format!("audit.log.{number}")));
        let texts = files.chain([path.to_owned()]).filter_map(|file| fs::read_to_string(file).ok());
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// H-122 on code: where no new file can be made, no old one is moved, however often it is tried.
    #[cfg(unix)]
    #[test]
    fn a_rotation_that_fails_loses_nothing() {
        in_directory(|path| {
            let audit = AuditLog::open(path, 10, 4).unwrap();
            (0..3).for_each(|n| audit.append_line(&format!("aaaaaaa{n}")).unwrap());
            // A folder with something in it can be neither removed nor replaced.
            let next = path.with_file_name("audit.log.next");
            fs::create_dir_all(next.join("inner")).unwrap();
            for _ in 0..10 {
                assert!(audit.append_line("bbbbbbbb").unwrap_err().to_string().contains("cannot be rotated"));
            }
            fs::remove_dir_all(next).unwrap();
            audit.append_line("bbbbbbbb").unwrap();
            assert_eq!(all_lines(path, 4), ["aaaaaaa0", "aaaaaaa1", "aaaaaaa2", "bbbbbbbb"]);
        });
    }

    /// H-122 on code: nor is what was moved moved again when a later step failed.
    #[test]
    fn a_rotation_that_stopped_half_way_is_not_repeated() {
        in_directory(|path| {
            let audit = AuditLog::open(path, 10, 4).unwrap();
            (0..3).for_each(|n| audit.append_line(&format!("aaaaaaa{n}")).unwrap());
            // As if .2 and .1 had been moved, and the log itself not.
            for (from, to) in [("audit.log.2", "audit.log.3"), ("audit.log.1", "audit.log.2")] {
                fs::rename(path.with_file_name(from), path.with_file_name(to)).unwrap();
            }
            (3..5).for_each(|n| audit.append_line(&format!("aaaaaaa{n}")).unwrap());
            let all = ["aaaaaaa0", "aaaaaaa1", "aaaaaaa2", "aaaaaaa3", "aaaaaaa4"];
            assert_eq!(all_lines(path, 4), all);
        });
    }

    /// H-90 on code: a file that was removed or replaced is noticed before anything acts, and the new one says so.
    #[cfg(unix)]
    #[test]
    fn a_log_that_is_gone_is_noticed() {
        in_directory(|path| {
            let audit = AuditLog::open(path, 1000, 3).unwrap();
            audit.append_line("time-1 step=1").unwrap();
            fs::remove_file(path).unwrap();
            audit.ensure_writable().unwrap();
            audit.append_line("time-2 step=2").unwrap();
            let expected = "time-2 event=reopened before=gone\ntime-2 step=2\n";
            assert_eq!(fs::read_to_string(path).unwrap(), expected);
            fs::rename(path, path.with_file_name("mine")).unwrap();
            fs::write(path, "other\n").unwrap();
            audit.append_line("time-3 step=3").unwrap();
            let expected = "other\ntime-3 event=reopened before=gone\ntime-3 step=3\n";
            assert_eq!(fs::read_to_string(path).unwrap(), expected);
        });
    }

    /// H-90 on code: where it cannot be opened anew, nothing may act.
    #[cfg(unix)]
    #[test]
    fn a_log_that_became_a_link_lets_nothing_act() {
        in_directory(|path| {
            let audit = AuditLog::open(path, 1000, 3).unwrap();
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("/dev/null", path).unwrap();
            let problem = audit.ensure_writable().unwrap_err().to_string();
            assert!(
                problem.contains("is gone and cannot be opened anew: it is a symbolic link"),
                "{problem}"
            );
        });
    }

    /// H-90 on code: servers that share a log lose no line of each other, and no file outgrows its limit.
    #[test]
    fn servers_share_one_log() {
        in_directory(|path| {
            let servers: Vec<AuditLog> = (0..8).map(|_| AuditLog::open(path, 400, 200).unwrap()).collect();
            std::thread::scope(|scope| {
                for (number, audit) in servers.iter().enumerate() {
                    scope.spawn(move || {
                        (0..50).for_each(|n| audit.append_line(&format!("line-{number}-{n:02}")).unwrap())
                    });
                }
            });
            let mut lines = all_lines(path, 200);
            lines.sort_unstable();
            lines.dedup();
            assert_eq!(lines.len(), 400);
            for file in fs::read_dir(path.parent().unwrap()).unwrap().flatten() {
                assert!(file.metadata().unwrap().len() <= 400, "{:?}", file.file_name());
            }
        });
    }

    /// H-52 on code: what a person cannot see is written so that they can.
    #[test]
    fn invisible_characters_are_escaped() {
        check(json!({"name": "De\u{200b}le\u{ad}te\u{2060}"}), r"args.name=De\u200ble\u00adte\u2060");
        check(json!({"list": ["a\u{feff}b"]}), r#"args.list=["a\ufeffb"]"#);
    }

    #[test]
    fn lines_of_parallel_calls_stay_whole() {
        in_directory(|path| {
            let audit = AuditLog::open(path, 2000, 50).unwrap();
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    let audit = &audit;
                    scope.spawn(move || {
                        (0..50).for_each(|n| audit.append_line(&format!("line-{thread}-{n}")).unwrap())
                    });
                }
            });
            let names = fs::read_dir(path.parent().unwrap()).unwrap();
            let all: String = names.map(|name| fs::read_to_string(name.unwrap().path()).unwrap()).collect();
            let mut lines: Vec<&str> = all.lines().collect();
            lines.sort_unstable();
            lines.dedup();
            assert_eq!(lines.len(), 400);
        });
    }
}
