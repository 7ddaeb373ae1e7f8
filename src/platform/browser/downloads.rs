//! Files that pages have the browser fetch. They arrive in a private folder under names of the browser's own, and only
//! what somebody keeps gets its name, made safe, in the folder for kept files. Size and number are bounded.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::{Value, json};

use super::wire::{CdpConnection, CdpEvent};
use crate::clock::{Bell, lock};
use crate::error::{Error, Kind, Result};
use crate::files;
use crate::model::page::{Download, DownloadState, safe_file_name};

/// More at a time are cancelled when they begin.
pub const MOST_DOWNLOADS: usize = 50;

/// How many that failed are remembered.
const MOST_CANCELLED: usize = 50;

/// Addresses can be whole files.
const LONGEST_URL: usize = 300;

/// How many files of one name there may be.
const MOST_OF_A_NAME: usize = 1000;

const ENDS_WITH_THE_SERVER: &str =
    "the file is deleted when the server ends; set browser.downloads_dir to keep files for longer";

#[derive(Debug)]
pub struct Downloads {
    rows: Mutex<Vec<DownloadRow>>,
    /// Where the browser puts what it fetches.
    incoming: PathBuf,
    kept: PathBuf,
    /// What is kept ends with the browser.
    is_private: bool,
    most_bytes: u64,
    bell: Bell,
}

#[derive(Clone, Debug)]
struct DownloadRow {
    /// The browser's own name for it, which is the name of its file.
    guid: String,
    facts: Download,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Begun {
    guid: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    suggested_filename: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DownloadProgress {
    guid: String,
    #[serde(default)]
    total_bytes: f64,
    #[serde(default)]
    received_bytes: f64,
    #[serde(default)]
    state: String,
}

impl Downloads {
    /// `folder` is the browser's own.
    pub fn new(folder: &Path, kept: Option<&Path>, most_bytes: u64, bell: Bell) -> Result<Self, String> {
        let incoming = folder.join("incoming");
        files::create_private_dir(&incoming, true)
            .map_err(|problem| format!("the folder {} cannot be made: {problem}", incoming.display()))?;
        let is_private = kept.is_none();
        let kept = kept.map_or_else(|| folder.join("downloads"), Path::to_owned);
        Ok(Self { rows: Mutex::default(), incoming, kept, is_private, most_bytes, bell })
    }

    /// What the browser is told before its first page.
    pub fn behavior(&self) -> Value {
        json!({ "behavior": "allowAndName", "downloadPath": self.incoming, "eventsEnabled": true })
    }

    pub fn take_event(&self, connection: &CdpConnection, event: &CdpEvent<'_>) {
        let cancelled = match event.method {
            "Browser.downloadWillBegin" => event.read().and_then(|begun| self.begin(begun)),
            "Browser.downloadProgress" => event.read().and_then(|progress| self.progress(&progress)),
            _ => return,
        };
        if let Some(guid) = cancelled {
            connection.tell(None, "Browser.cancelDownload", json!({ "guid": guid }));
        }
        self.bell.ring();
    }

    /// The one that is to be cancelled.
    fn begin(&self, begun: Begun) -> Option<String> {
        let mut rows = lock(&self.rows);
        let alive = rows.iter().filter(|row| row.facts.state != DownloadState::Cancelled).count();
        let refused =
            (alive >= MOST_DOWNLOADS).then(|| format!("there are {MOST_DOWNLOADS} downloads already"));
        let number = rows.last().map_or(0, |row| row.number()) + 1;
        let facts = Download {
            id: format!("d{number}"),
            url: begun.url.chars().take(LONGEST_URL).collect(),
            name: safe_file_name(&begun.suggested_filename),
            state: if refused.is_some() { DownloadState::Cancelled } else { DownloadState::Running },
            note: refused.clone(),
            ..Download::default()
        };
        rows.push(DownloadRow { guid: begun.guid.clone(), facts });
        forget_cancelled(&mut rows);
        refused.map(|_| begun.guid)
    }

    fn progress(&self, progress: &DownloadProgress) -> Option<String> {
        let mut rows = lock(&self.rows);
        let row = rows.iter_mut().find(|row| row.guid == progress.guid)?;
        let facts = &mut row.facts;
        facts.received_bytes = progress.received_bytes.max(0.0) as u64;
        facts.total_bytes = Some(progress.total_bytes as u64).filter(|&bytes| bytes > 0);
        if facts.state != DownloadState::Running {
            return None;
        }
        let bytes = facts.received_bytes.max(facts.total_bytes.unwrap_or(0));
        if bytes > self.most_bytes {
            facts.state = DownloadState::Cancelled;
            facts.note = Some(format!(
                "it has {bytes} bytes or more, and {} are allowed (browser.download_mb)",
                self.most_bytes
            ));
            return Some(row.guid.clone());
        }
        match progress.state.as_str() {
            "completed" => facts.state = DownloadState::Complete,
            "canceled" => facts.state = DownloadState::Cancelled,
            _ => {}
        }
        None
    }

    pub fn all(&self) -> Vec<Download> {
        lock(&self.rows).iter().map(|row| row.facts.clone()).collect()
    }

    /// How many have begun so far, to know whether another one has.
    pub fn last_number(&self) -> usize {
        lock(&self.rows).last().map_or(0, DownloadRow::number)
    }

    /// Those that have begun since there were so many.
    pub fn begun_since(&self, number: usize) -> Vec<Download> {
        let rows = lock(&self.rows);
        rows.iter().filter(|row| row.number() > number).map(|row| row.facts.clone()).collect()
    }

    /// Moves a complete one to the folder for kept files.
    pub fn keep(&self, id: &str) -> Result<Download> {
        let mut rows = lock(&self.rows);
        let known: Vec<String> = rows.iter().map(|row| row.facts.id.clone()).collect();
        let Some(row) = rows.iter_mut().find(|row| row.facts.id == id) else {
            return Err(no_download(id, &known));
        };
        match row.facts.state {
            DownloadState::Kept => {}
            DownloadState::Complete => {
                let path = move_file(&self.incoming.join(&row.guid), &self.kept, &row.facts.name)
                    .map_err(|problem| not_kept(&self.kept, &problem))?;
                row.facts.path = Some(path);
                row.facts.state = DownloadState::Kept;
                if self.is_private {
                    row.facts.note = Some(ENDS_WITH_THE_SERVER.to_owned());
                }
            }
            state => {
                let message =
                    format!("download '{id}' is {}, not complete; wait for it with downloads", state.name());
                return Err(Error::bad_request(message).with("field", "id"));
            }
        }
        self.bell.ring();
        Ok(row.facts.clone())
    }
}

impl DownloadRow {
    fn number(&self) -> usize {
        self.facts.id.get(1..).and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

/// The oldest of them go first.
fn forget_cancelled(rows: &mut Vec<DownloadRow>) {
    let is_cancelled = |row: &DownloadRow| row.facts.state == DownloadState::Cancelled;
    while rows.iter().filter(|row| is_cancelled(row)).count() > MOST_CANCELLED {
        if let Some(oldest) = rows.iter().position(is_cancelled) {
            rows.remove(oldest);
        }
    }
}

fn no_download(id: &str, known: &[String]) -> Error {
    let there = if known.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    };
    Error::bad_request(format!("no download is called '{id}'; {there}")).with("field", "id")
}

fn not_kept(folder: &Path, problem: &io::Error) -> Error {
    Error::new(Kind::StorageFailed, format!("the file cannot be kept in {}: {problem}", folder.display()))
}

/// Under a name that nothing has yet: no file and no link is written over or through.
fn move_file(from: &Path, folder: &Path, name: &str) -> io::Result<PathBuf> {
    if !folder.is_dir() {
        files::create_private_dir(folder, true)?;
    }
    for number in 1..=MOST_OF_A_NAME {
        let path = folder.join(numbered_name(name, number));
        match files::create_private(&path, OpenOptions::new().write(true)) {
            Ok(mut to) => {
                io::copy(&mut std::fs::File::open(from)?, &mut to)?;
                std::fs::remove_file(from)?;
                return Ok(path);
            }
            Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => {}
            Err(problem) => return Err(problem),
        }
    }
    Err(io::Error::other(format!("there are {MOST_OF_A_NAME} files of that name")))
}

fn numbered_name(name: &str, number: usize) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, ending))) if !stem.is_empty() => format!("{stem} ({number}).{ending}"),
        _ => format!("{name} ({number})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Case {
        folder: PathBuf,
        downloads: Downloads,
    }

    impl Case {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(crate::random::random_token("oso-downloads-"));
            let downloads = Downloads::new(&folder, None, 1000, Bell::default()).unwrap();
            Self { folder, downloads }
        }

        fn begin(&self, guid: &str, name: &str) -> Option<String> {
            let (guid, url) = (guid.to_owned(), "http://a/b".to_owned());
            self.downloads.begin(Begun { guid, url, suggested_filename: name.to_owned() })
        }

        fn progress(&self, guid: &str, bytes: f64, state: &str) -> Option<String> {
            self.downloads.progress(&DownloadProgress {
                guid: guid.to_owned(),
                total_bytes: 0.0,
                received_bytes: bytes,
                state: state.to_owned(),
            })
        }

        /// A download that is complete and has a file.
        fn complete(&self, guid: &str, name: &str) {
            self.begin(guid, name);
            std::fs::write(self.folder.join("incoming").join(guid), guid).unwrap();
            self.progress(guid, 5.0, "completed");
        }
    }

    impl Drop for Case {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }

    #[test]
    fn what_is_kept_has_a_safe_name_and_replaces_nothing() {
        let case = Case::new();
        case.complete("g1", "../../a.txt");
        case.complete("g2", "a.txt");
        let paths: Vec<PathBuf> =
            ["d1", "d2"].iter().map(|id| case.downloads.keep(id).unwrap().path.unwrap()).collect();
        assert_eq!(paths, [case.folder.join("downloads/a.txt"), case.folder.join("downloads/a (2).txt")]);
        assert_eq!(std::fs::read_to_string(&paths[1]).unwrap(), "g2");
        assert_eq!(case.downloads.keep("d1").unwrap().path.as_ref(), Some(&paths[0]));
        assert_eq!(std::fs::read_dir(case.folder.join("incoming")).unwrap().count(), 0);
    }

    #[test]
    fn what_is_too_large_is_cancelled_and_cannot_be_kept() {
        let case = Case::new();
        assert_eq!(case.begin("g", "a"), None);
        assert_eq!(case.progress("g", 1000.0, "inProgress"), None);
        assert_eq!(case.progress("g", 1001.0, "inProgress").as_deref(), Some("g"));
        let row = &case.downloads.all()[0];
        assert!(row.state == DownloadState::Cancelled && row.note.as_ref().unwrap().contains("download_mb"));
        assert!(case.downloads.keep("d1").unwrap_err().message.contains("cancelled"));
        assert!(case.downloads.keep("d9").unwrap_err().message.contains("there are d1"));
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        let case = Case::new();
        for number in 0..MOST_DOWNLOADS {
            assert_eq!(case.begin(&format!("g{number}"), "a"), None);
        }
        for number in 0..3 * MOST_CANCELLED {
            assert!(case.begin(&format!("h{number}"), "a").is_some());
        }
        assert_eq!(case.downloads.all().len(), MOST_DOWNLOADS + MOST_CANCELLED);
        assert_eq!(case.downloads.last_number(), MOST_DOWNLOADS + 3 * MOST_CANCELLED);
    }
}
