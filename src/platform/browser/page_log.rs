//! What pages write to their console, scripts that fail, and requests that fail: the latest lines, each bounded.

use std::collections::VecDeque;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;

use super::wire::CdpEvent;
use crate::clock::lock;
use crate::model::page::{LogKind, LogLine, PageLogLines};
use crate::text::shorten;

const MOST_LINES: usize = 500;
const LONGEST_LINE: usize = 1000;
const LONGEST_URL: usize = 300;
/// Of an error, in the reply of the input that it came of.
const LONGEST_TOLD: usize = 160;

const GET: &str = "GET";

#[derive(Debug, Default)]
pub struct PageLog {
    kept: Mutex<KeptLines>,
}

/// A request that sends something, until it has failed or so many others have come.
const MOST_METHODS: usize = 100;

#[derive(Debug, Default)]
struct KeptLines {
    /// Requests and their methods; all others get something.
    methods: VecDeque<(String, String)>,
    lines: VecDeque<LogLine>,
    last_number: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConsoleCalled {
    #[serde(rename = "type", default)]
    level: String,
    #[serde(default)]
    args: Vec<ConsoleValue>,
    #[serde(default)]
    stack_trace: Value,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ConsoleValue {
    value: Value,
    unserializable_value: Option<String>,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionThrown {
    #[serde(default)]
    exception_details: Value,
}

#[derive(Deserialize)]
struct EntryAdded {
    entry: LogEntry,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestSent {
    request_id: String,
    request: RequestFacts,
}

#[derive(Deserialize)]
struct RequestFacts {
    method: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LogEntry {
    network_request_id: Option<String>,
    source: String,
    level: String,
    text: String,
    url: String,
}

/// What an event says, before it is numbered.
struct Said {
    kind: LogKind,
    level: String,
    text: String,
    url: String,
}

impl PageLog {
    /// `page_of` tells the tab of a session, and the address of its page.
    pub fn take_event(&self, event: &CdpEvent<'_>, page_of: impl FnOnce(&str) -> Option<(String, String)>) {
        if event.method == "Network.requestWillBeSent" {
            return event.read().map_or((), |sent| lock(&self.kept).note_method(sent));
        }
        let said = match event.method {
            "Runtime.consoleAPICalled" => event.read().map(console_line),
            "Runtime.exceptionThrown" => event.read().map(exception_line),
            "Log.entryAdded" => event.read().map(|added| {
                let method = |id: &str| lock(&self.kept).method_of(id);
                entry_line(added, method)
            }),
            _ => return,
        };
        let Some(said) = said else { return };
        let page = event.session.and_then(page_of);
        lock(&self.kept).add(said, page);
    }

    pub fn last_number(&self) -> u64 {
        lock(&self.kept).last_number
    }

    /// The first script of a tab that failed since there were so many lines: the first line of what it says.
    pub fn error_since(&self, number: u64, window_uid: &str) -> Option<String> {
        let kept = lock(&self.kept);
        let is_it = |line: &&LogLine| {
            line.number > number
                && line.kind == LogKind::Error
                && line.window_uid.as_deref() == Some(window_uid)
        };
        let text = kept.lines.iter().find(is_it)?.text.lines().next()?;
        Some(shorten(text, LONGEST_TOLD).into_owned())
    }

    pub fn all(&self) -> PageLogLines {
        let kept = lock(&self.kept);
        let dropped = kept.last_number - kept.lines.len() as u64;
        PageLogLines { lines: kept.lines.iter().cloned().collect(), dropped }
    }
}

impl KeptLines {
    fn note_method(&mut self, sent: RequestSent) {
        if sent.request.method == GET {
            return;
        }
        if self.methods.len() == MOST_METHODS {
            self.methods.pop_front();
        }
        self.methods.push_back((sent.request_id, shorten(&sent.request.method, 20).into_owned()));
    }

    fn method_of(&self, request: &str) -> String {
        let known = self.methods.iter().find(|(id, _)| id == request);
        known.map_or(GET, |(_, method)| method).to_owned()
    }

    fn add(&mut self, said: Said, page: Option<(String, String)>) {
        let (window_uid, page_url) = page.unzip();
        if self.lines.len() == MOST_LINES {
            self.lines.pop_front();
        }
        self.last_number += 1;
        self.lines.push_back(LogLine {
            number: self.last_number,
            kind: said.kind,
            level: shorten(&said.level, 20).into_owned(),
            text: shorten(&said.text, LONGEST_LINE).into_owned(),
            url: shorten(&said.url, LONGEST_URL).into_owned(),
            window_uid,
            page_url,
        });
    }
}

fn console_line(called: ConsoleCalled) -> Said {
    let texts: Vec<String> = called.args.into_iter().map(ConsoleValue::into_text).collect();
    let url = called.stack_trace.pointer("/callFrames/0/url").and_then(Value::as_str).unwrap_or_default();
    Said { kind: LogKind::Console, level: called.level, text: texts.join(" "), url: url.to_owned() }
}

impl ConsoleValue {
    fn into_text(self) -> String {
        match (self.value, self.unserializable_value, self.description) {
            (Value::String(text), ..) => text,
            (Value::Null, Some(text), _) | (Value::Null, None, Some(text)) => text,
            (Value::Null, None, None) => self.kind,
            (value, ..) => value.to_string(),
        }
    }
}

fn exception_line(thrown: ExceptionThrown) -> Said {
    let details = thrown.exception_details;
    let text = |path: &str| details.pointer(path).and_then(Value::as_str);
    let said = text("/exception/description").or_else(|| text("/text")).unwrap_or("a script failed");
    let url = text("/url").unwrap_or_default().to_owned();
    Said { kind: LogKind::Error, level: "error".to_owned(), text: said.to_owned(), url }
}

/// `method_of` tells how a request asked.
fn entry_line(added: EntryAdded, method_of: impl FnOnce(&str) -> String) -> Said {
    let LogEntry { source, level, text, url, network_request_id } = added.entry;
    let text = match network_request_id {
        Some(request) => format!("{}: {text}", method_of(&request)),
        None => text,
    };
    let kind = match source.as_str() {
        "network" => LogKind::Network,
        "javascript" => LogKind::Error,
        _ => LogKind::Browser,
    };
    Said { kind, level, text, url }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check<T: serde::de::DeserializeOwned>(
        line: fn(T) -> Said,
        event: Value,
        expected: (LogKind, &str, &str),
    ) {
        let said = line(serde_json::from_value(event).unwrap());
        assert_eq!((said.kind, said.level.as_str(), said.text.as_str()), expected);
    }

    #[test]
    fn events_are_read_as_lines() {
        let args = json!([{"type": "string", "value": "a"}, {"type": "number", "value": 1},
            {"type": "object", "description": "Window"}, {"type": "undefined"},
            {"type": "number", "unserializableValue": "NaN"}]);
        let called = json!({"type": "warning", "args": args});
        check(console_line, called, (LogKind::Console, "warning", "a 1 Window undefined NaN"));
        check(console_line, json!({}), (LogKind::Console, "", ""));
        let thrown =
            json!({"exceptionDetails": {"text": "Uncaught", "exception": {"description": "Error: no"}}});
        check(exception_line, thrown, (LogKind::Error, "error", "Error: no"));
        let entry =
            json!({"entry": {"source": "network", "level": "error", "text": "404", "url": "http://a"}});
        check(|added| entry_line(added, |_| GET.to_owned()), entry, (LogKind::Network, "error", "404"));
    }

    #[test]
    fn a_request_that_failed_is_told_with_its_method() {
        let log = PageLog::default();
        let sent = json!({"requestId": "7", "request": {"method": "POST", "url": "http://a"}});
        lock(&log.kept).note_method(serde_json::from_value(sent).unwrap());
        let entry = |id: &str| {
            let entry = json!({"entry": {"source": "network", "text": "500", "networkRequestId": id}});
            entry_line(serde_json::from_value(entry).unwrap(), |id| lock(&log.kept).method_of(id)).text
        };
        assert_eq!((entry("7"), entry("8")), ("POST: 500".to_owned(), "GET: 500".to_owned()));
    }

    #[test]
    fn the_first_error_of_a_tab_is_told_by_its_first_line() {
        let log = PageLog::default();
        let add = |kind, text: &str, uid: &str| {
            let said = Said { kind, level: "error".to_owned(), text: text.to_owned(), url: String::new() };
            lock(&log.kept).add(said, Some((uid.to_owned(), String::new())));
        };
        add(LogKind::Error, "TypeError: before", "tab:1");
        let mark = log.last_number();
        assert_eq!(log.error_since(mark, "tab:1"), None);
        add(LogKind::Console, "hello", "tab:1");
        add(LogKind::Error, "TypeError: elsewhere", "tab:2");
        add(LogKind::Error, "TypeError: no\n    at shop.js:3", "tab:1");
        assert_eq!(log.error_since(mark, "tab:1").as_deref(), Some("TypeError: no"));
    }

    #[test]
    fn the_latest_lines_are_kept_and_each_is_short() {
        let log = PageLog::default();
        for number in 0..MOST_LINES + 5 {
            let text = format!("{number} {}", "x".repeat(5 * LONGEST_LINE));
            let said = Said { kind: LogKind::Console, level: "log".to_owned(), text, url: String::new() };
            lock(&log.kept).add(said, None);
        }
        let all = log.all();
        assert_eq!((all.lines.len(), all.dropped, all.lines[0].number), (MOST_LINES, 5, 6));
        assert!(all.lines[0].text.len() < 2 * LONGEST_LINE);
    }
}
