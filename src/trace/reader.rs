//! Reading a trace that was written earlier, perhaps by another program: bounded, and never outside the
//! folder of traces. A file whose last line was cut short by a crash is read up to there.

use std::fs::{DirEntry, FileType, Metadata};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::format::{FILE_NAME, Footer, Header, TraceRow};
use crate::config::limits;
use crate::files::{self, Below, ReadFailure};

/// The name that means the newest trace.
pub const LATEST: &str = "latest";

#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub header: Header,
    pub rows: Vec<TraceRow>,
    /// The file ends within a line.
    pub torn: bool,
    /// The trace was ended by its server.
    pub footer: Option<Footer>,
}

/// The trace that `name` means: a file, a folder, or `latest`. All of it lies below `root`.
pub fn read(root: &Path, name: &str) -> Result<Recording, String> {
    let problem = |why: String| format!("'{name}' cannot be read as a trace: {why}");
    let bytes = find_trace(root, name)?.read(limits::TRACE_READ_BYTES).map_err(|unread| {
        problem(match unread {
            ReadFailure::NoFile => "it is not a regular file".to_owned(),
            ReadFailure::TooLong(bytes) => {
                format!("it has {bytes} bytes, at most {} are allowed", limits::TRACE_READ_BYTES)
            }
            ReadFailure::Failed(why) => why.to_string(),
        })
    })?;
    parse(&bytes)
}

/// The lines of the trace that `name` means.
pub fn find_trace(root: &Path, name: &str) -> Result<Below, String> {
    let roots = [root.to_owned()];
    let path = match name {
        LATEST => newest_trace(root).ok_or("there is no trace yet")?,
        _ => {
            let found = files::below(&roots, name)?;
            if !found.path().is_dir() {
                return Ok(found);
            }
            found.path()
        }
    };
    // The file in the folder may be a link out of it.
    files::below(&roots, &path.join(FILE_NAME).to_string_lossy())
        .map_err(|problem| if name == LATEST { problem } else { format!("{problem}; '{name}' is a folder") })
}

/// A trace that is kept, by the first line of its file.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TraceEntry {
    /// The folder's name, by which it is read.
    pub id: String,
    pub label: Option<String>,
    pub started_at: String,
    pub bytes: u64,
}

/// The traces below `root`, the newest first, at most `most`; and how many there are.
pub fn list_traces(root: &Path, most: usize) -> (Vec<TraceEntry>, usize) {
    let mut folders = dated_folders(root);
    let count = folders.len();
    folders.sort_unstable_by(|one, other| other.cmp(one));
    (folders.into_iter().take(most).filter_map(|(_, folder)| read_entry(&folder)).collect(), count)
}

fn read_entry(folder: &Path) -> Option<TraceEntry> {
    let file = Below::find(folder, &folder.join(FILE_NAME))?.open().ok()?;
    let bytes = file.metadata().ok()?.len();
    let mut line = Vec::new();
    BufReader::new(file.take(limits::TRACE_HEADER_BYTES)).read_until(b'\n', &mut line).ok()?;
    let Header { label, started_at, .. } = serde_json::from_slice(&line).ok()?;
    Some(TraceEntry { id: folder.file_name()?.to_str()?.to_owned(), label, started_at, bytes })
}

fn newest_trace(root: &Path) -> Option<PathBuf> {
    dated_folders(root).into_iter().max().map(|(_, folder)| folder)
}

/// The folders that hold a trace, with the time of its last line. A link to a folder is none of them.
fn dated_folders(root: &Path) -> Vec<(SystemTime, PathBuf)> {
    let dated = |entry: DirEntry| -> Option<(SystemTime, PathBuf)> {
        let folder = entry.file_type().ok().filter(FileType::is_dir).map(|_| entry.path())?;
        let lines = folder.join(FILE_NAME).symlink_metadata().ok().filter(Metadata::is_file)?;
        Some((lines.modified().ok()?, folder))
    };
    let entries = root.canonicalize().ok().and_then(|root| std::fs::read_dir(root).ok());
    entries.into_iter().flatten().filter_map(|entry| dated(entry.ok()?)).collect()
}

/// The lines of a trace. Nonsense is refused with its line; only the last line may be cut short.
pub fn parse(bytes: &[u8]) -> Result<Recording, String> {
    let (whole, rest) = match bytes.iter().rposition(|&byte| byte == b'\n') {
        Some(end) => bytes.split_at(end + 1),
        None => bytes.split_at(0),
    };
    let mut lines = whole.split(|&byte| byte == b'\n').zip(1..).filter(|(line, _)| !is_blank(line));
    let Some((first, number)) = lines.next() else {
        return Err("the file has no complete line, so it is not a trace".to_owned());
    };
    let mut recording = Recording {
        header: typed_row(parse_line(first, number)?, number, "header")?,
        rows: Vec::new(),
        torn: false,
        footer: None,
    };
    for (line, number) in lines {
        recording.add(parse_line(line, number)?, number)?;
    }
    if !is_blank(rest) {
        // Other programs may end a file without a line break; what is whole is not torn.
        let number = whole.iter().filter(|&&byte| byte == b'\n').count() + 1;
        match parse_line(rest, number) {
            Ok(value) => recording.add(value, number)?,
            Err(_) => recording.torn = true,
        }
    }
    Ok(recording)
}

impl Recording {
    fn add(&mut self, value: Value, number: usize) -> Result<(), String> {
        if self.footer.is_some() {
            return Err(format!("line {number} comes after the footer"));
        }
        match value.get("type").and_then(Value::as_str) {
            None => self.rows.push(typed_row(value, number, "row")?),
            Some("footer") => self.footer = Some(typed_row(value, number, "footer")?),
            Some(other) => return Err(format!("line {number} has the unknown type '{other}'")),
        }
        Ok(())
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn parse_line(line: &[u8], number: usize) -> Result<Value, String> {
    if line.len() > limits::TRACE_LINE_BYTES {
        return Err(format!("line {number} has {} bytes, at most {}", line.len(), limits::TRACE_LINE_BYTES));
    }
    serde_json::from_slice(line).map_err(|problem| format!("line {number} is not JSON: {problem}"))
}

fn typed_row<T: DeserializeOwned>(value: Value, number: usize, what: &str) -> Result<T, String> {
    serde_json::from_value(value)
        .map_err(|problem| format!("line {number} is not the {what} of a trace: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: &str =
        r#"{"type":"header","trace_id":"trace-1","label":"x","started_at":"t","tool_version":"0.2.0"}"#;
    const ROW: &str = r#"{"step_id":1,"trace_seq":1,"tool":"list_windows","args":{}}"#;
    const FOOTER: &str = r#"{"type":"footer","stopped_at":"t","step_count":1,"duration_ms":5}"#;

    fn check(text: &str, expected: &str) {
        let got = match parse(text.as_bytes()) {
            Ok(recording) => format!(
                "{} rows, torn {}, footer {}",
                recording.rows.len(),
                recording.torn,
                recording.footer.is_some()
            ),
            Err(problem) => problem,
        };
        assert!(got.contains(expected), "{text:.300} gave {got}");
    }

    #[test]
    fn whole_files_are_read() {
        check(&format!("{HEADER}\n{ROW}\n{FOOTER}\n"), "1 rows, torn false, footer true");
        check(&format!("{HEADER}\r\n\n{ROW}\r\n{FOOTER}"), "1 rows, torn false, footer true");
        check(&format!("{HEADER}\n"), "0 rows, torn false, footer false");
    }

    #[test]
    fn every_cut_of_the_last_line_is_survived() {
        for cut in 1..ROW.len() {
            check(&format!("{HEADER}\n{ROW}\n{}", &ROW[..cut]), "1 rows, torn true, footer false");
        }
        check(&format!("{HEADER}\n{ROW}\n{ROW}"), "2 rows, torn false");
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        check("", "no complete line");
        check(&HEADER[..20], "no complete line");
        check("root:x:0:0\n", "line 1 is not JSON");
        check(&format!("{ROW}\n"), "line 1 is not the header");
        check(&format!("{HEADER}\n{{\n{ROW}\n"), "line 2 is not JSON");
        check(&format!("{HEADER}\n{{\"step_id\":1}}\n"), "line 2 is not the row of a trace: missing field");
        check(&format!("{HEADER}\n{HEADER}\n"), "line 2 has the unknown type 'header'");
        check(&format!("{HEADER}\n{FOOTER}\n{ROW}\n"), "line 3 comes after the footer");
        check(&format!("{HEADER}\n{}{}\n", "[".repeat(5000), "]".repeat(5000)), "line 2 is not JSON");
        check(&format!("{HEADER}\n[1]\n"), "line 2 is not the row");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
            let _ = parse(&[HEADER.as_bytes(), b"\n", &bytes].concat());
        }
    }
}
