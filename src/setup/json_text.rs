//! One entry of a JSON file, changed in its text: everything else stays as it is written, also comments and trailing
//! commas, which some clients allow.

use std::ops::Range;

use serde_json::Value;

/// Deeper files are refused, not recursed into.
const DEEPEST: usize = 128;

/// An object as it stands in the text.
#[derive(Debug)]
struct ObjectSpan {
    /// The place of `{`.
    open: usize,
    /// The place of `}`.
    close: usize,
    members: Vec<MemberSpan>,
}

#[derive(Debug)]
struct MemberSpan {
    name: String,
    key: Range<usize>,
    value: Range<usize>,
    /// The comma behind it.
    comma: Option<usize>,
}

impl ObjectSpan {
    /// Of two with one name the last counts, as for those who read the file.
    fn member(&self, name: &str) -> Option<&MemberSpan> {
        self.members.iter().rev().find(|member| member.name == name)
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Scanned<T> = Result<T, String>;

impl<'a> Scanner<'a> {
    fn new(text: &'a str, at: usize) -> Self {
        Self { text, at, depth: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fail<T>(&self, expected: &str) -> Scanned<T> {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Err(format!("this is not JSON: line {line}, column {column}: expected {expected}"))
    }

    /// Over blanks and comments.
    fn skip(&mut self) -> Scanned<()> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{feff}']).len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return self.fail("the end of a comment"),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn take(&mut self, sign: char) -> bool {
        let is_there = self.rest().starts_with(sign);
        self.at += if is_there { sign.len_utf8() } else { 0 };
        is_there
    }

    fn string(&mut self) -> Scanned<(Range<usize>, String)> {
        let from = self.at;
        if !self.take('"') {
            return self.fail("a name in quotes");
        }
        let mut escaped = false;
        for (offset, letter) in self.rest().char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    let range = from..self.at + offset + 1;
                    let written = self.text.get(range.clone()).unwrap_or_default();
                    let Ok(name) = serde_json::from_str(written) else {
                        return self.fail("a text in quotes");
                    };
                    self.at = range.end;
                    return Ok((range, name));
                }
                _ => {}
            }
        }
        self.fail("the end of a text")
    }

    fn value(&mut self) -> Scanned<Range<usize>> {
        let from = self.at;
        match self.rest().chars().next() {
            Some('{') => drop(self.object()?),
            Some('[') => self.array()?,
            Some('"') => drop(self.string()?),
            _ => self.word()?,
        }
        Ok(from..self.at)
    }

    /// A number, true, false or null.
    fn word(&mut self) -> Scanned<()> {
        let rest = self.rest();
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        if word.is_empty() || serde_json::from_str::<Value>(word).is_err() {
            return self.fail("a value");
        }
        self.at += end;
        Ok(())
    }

    fn enter(&mut self) -> Scanned<()> {
        self.depth += 1;
        if self.depth > DEEPEST { self.fail("fewer levels") } else { Ok(()) }
    }

    fn array(&mut self) -> Scanned<()> {
        self.enter()?;
        self.at += 1;
        loop {
            self.skip()?;
            if self.take(']') {
                break;
            }
            self.value()?;
            self.skip()?;
            if !self.take(',') {
                if !self.take(']') {
                    return self.fail("',' or ']'");
                }
                break;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn object(&mut self) -> Scanned<ObjectSpan> {
        let open = self.at;
        if !self.take('{') {
            return self.fail("'{'");
        }
        self.enter()?;
        let mut members: Vec<MemberSpan> = Vec::new();
        loop {
            self.skip()?;
            if self.take('}') {
                break;
            }
            if members.last().is_some_and(|last| last.comma.is_none()) {
                return self.fail("',' or '}'");
            }
            let (key, name) = self.string()?;
            self.skip()?;
            if !self.take(':') {
                return self.fail("':'");
            }
            self.skip()?;
            let value = self.value()?;
            self.skip()?;
            let comma = self.take(',').then(|| self.at - 1);
            members.push(MemberSpan { name, key, value, comma });
        }
        self.depth -= 1;
        Ok(ObjectSpan { open, close: self.at - 1, members })
    }
}

/// The whole file, which is one object.
fn root(text: &str) -> Scanned<ObjectSpan> {
    let mut scanner = Scanner::new(text, 0);
    scanner.skip()?;
    let root = scanner.object()?;
    scanner.skip()?;
    if scanner.rest().is_empty() { Ok(root) } else { scanner.fail("the end of the file") }
}

/// The object below a key of the file, if there is one.
fn section_of(text: &str, root: &ObjectSpan, section: &str) -> Scanned<Option<ObjectSpan>> {
    let Some(member) = root.member(section) else {
        return Ok(None);
    };
    let mut scanner = Scanner::new(text, member.value.start);
    scanner.object().map(Some).map_err(|_| format!("\"{section}\" is not an object"))
}

pub fn find_entry(text: &str, section: &str, name: &str) -> Scanned<Option<Value>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let servers = section_of(text, &root(text)?, section)?;
    let Some(member) = servers.as_ref().and_then(|servers| servers.member(name)) else {
        return Ok(None);
    };
    let written = text.get(member.value.clone()).unwrap_or_default();
    // An entry with comments in it is none of ours, and differs from any of ours.
    Ok(Some(serde_json::from_str(written).unwrap_or(Value::Null)))
}

pub fn put_entry(text: &str, section: &str, name: &str, entry: &Value) -> Scanned<String> {
    if text.trim().is_empty() {
        let whole = serde_json::json!({ section: { name: entry } });
        return Ok(format!("{}\n", pretty(&whole, "")));
    }
    let root = root(text)?;
    let Some(servers) = section_of(text, &root, section)? else {
        return Ok(with_member(text, &root, section, &serde_json::json!({ name: entry })));
    };
    Ok(match servers.member(name) {
        Some(member) => {
            let indent = line_indent(text, member.key.start);
            replaced(text, member.value.clone(), &pretty(entry, indent))
        }
        None => with_member(text, &servers, name, entry),
    })
}

pub fn remove_entry(text: &str, section: &str, name: &str) -> Scanned<String> {
    let servers = section_of(text, &root(text)?, section)?;
    let Some(servers) = servers else { return Ok(text.to_owned()) };
    let Some(at) = servers.members.iter().rposition(|member| member.name == name) else {
        return Ok(text.to_owned());
    };
    let member = &servers.members[at];
    let before = text.get(..member.key.start).unwrap_or_default();
    let from = before.trim_end_matches([' ', '\t']).trim_end_matches(['\n', '\r']).len();
    let end = member.comma.map_or(member.value.end, |comma| comma + 1);
    let mut changed = replaced(text, from..end, "");
    // The last one takes the comma before it along.
    let comma = at.checked_sub(1).and_then(|at| servers.members.get(at)?.comma);
    if let (None, Some(comma)) = (member.comma, comma) {
        changed = replaced(&changed, comma..comma + 1, "");
    }
    Ok(changed)
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    format!("{}{by}{}", before.unwrap_or_default(), after.unwrap_or_default())
}

/// As the first member is indented, or a step deeper than the object.
fn member_indent(text: &str, object: &ObjectSpan) -> String {
    let outer = line_indent(text, object.open);
    match object.members.first() {
        Some(first) if first_on_line(text, first.key.start) => line_indent(text, first.key.start).to_owned(),
        _ => format!("{outer}{}", if outer.contains('\t') { "\t" } else { "  " }),
    }
}

/// The text with one more member at the end of the object.
fn with_member(text: &str, object: &ObjectSpan, name: &str, value: &Value) -> String {
    let outer = line_indent(text, object.open);
    let indent = member_indent(text, object);
    let key = serde_json::to_string(name).unwrap_or_default();
    let body = text.get(..object.close).unwrap_or_default();
    let end = body.trim_end().len();
    let closes_on_own_line = body.get(end..).unwrap_or_default().contains('\n');
    let tail = if closes_on_own_line { String::new() } else { format!("\n{outer}") };
    let ends_with_comma = object.members.last().is_some_and(|last| last.comma.is_some());
    let own_comma = if ends_with_comma { "," } else { "" };
    let member = format!("\n{indent}{key}: {}{own_comma}{tail}", pretty(value, &indent));
    let changed = replaced(text, end..end, &member);
    match object.members.last() {
        // A comment may follow the last value, so its comma stands directly behind it.
        Some(last) if last.comma.is_none() => replaced(&changed, last.value.end..last.value.end, ","),
        _ => changed,
    }
}

/// The blanks at the beginning of the line.
fn line_indent(text: &str, at: usize) -> &str {
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
}

fn first_on_line(text: &str, at: usize) -> bool {
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    line.trim().is_empty()
}

fn pretty(value: &Value, indent: &str) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    let text = if indent.contains('\t') { with_tabs(&text) } else { text };
    text.replace('\n', &format!("\n{indent}"))
}

fn with_tabs(text: &str) -> String {
    let line = |line: &str| {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        format!("{}{}", "\t".repeat(blanks / 2), line.trim_start_matches(' '))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
