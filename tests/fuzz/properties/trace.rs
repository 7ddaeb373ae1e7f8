//! Traces: what is read can be written and read again; a file that was cut off is read as far as it goes; and the
//! readers for people, the page and the recorder of scenarios agree with the reader for replays.
//!
//! The lines of a trace. After a line `%%` follows the file of a tree that rows may name as `trees/t.json`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use os_screen_observer::scenario;
use os_screen_observer::tools;
use os_screen_observer::trace::format::FILE_NAME;
use os_screen_observer::trace::reader::{self, Recording};
use os_screen_observer::trace::recording::LoadedTrace;
use os_screen_observer::trace::{html, text, to_scenario};

const TREE_FOLLOWS: &[u8] = b"\n%%\n";

pub fn check(data: &[u8]) {
    let (lines, tree) = match data.windows(TREE_FOLLOWS.len()).position(|part| part == TREE_FOLLOWS) {
        Some(at) => (&data[..=at], &data[at + TREE_FOLLOWS.len()..]),
        None => (data, &b""[..]),
    };
    let recording = reader::parse(lines);
    match &recording {
        Ok(recording) => {
            check_written(recording);
            check_cuts(lines, recording);
        }
        Err(problem) => super::check_sentence(problem),
    }
    check_story(lines, tree, recording.ok());
}

fn check_written(recording: &Recording) {
    let mut lines = vec![serde_json::to_string(&recording.header).unwrap()];
    lines.extend(recording.rows.iter().map(|row| serde_json::to_string(row).unwrap()));
    lines.extend(recording.footer.iter().map(|footer| serde_json::to_string(footer).unwrap()));
    let again = reader::parse((lines.join("\n") + "\n").as_bytes()).unwrap();
    assert_eq!(again, Recording { torn: false, ..recording.clone() }, "written, it is another trace");
}

/// Whatever a crash leaves of the file tells no other story.
fn check_cuts(lines: &[u8], whole: &Recording) {
    for cut in [lines.len() / 3, lines.len() / 2, lines.len().saturating_sub(2)] {
        if let Ok(part) = reader::parse(&lines[..cut]) {
            assert_eq!(part.header, whole.header);
            // A number that was cut short is still a number, so the last row may differ.
            let sure = part.rows.len().saturating_sub(1);
            assert_eq!(part.rows[..sure], whole.rows[..sure], "cut at {cut}");
        }
    }
}

fn check_story(lines: &[u8], tree: &[u8], recording: Option<Recording>) {
    let folder = FOLDER.as_path();
    put(&folder.join(FILE_NAME), lines);
    put(&folder.join("trees/t.json"), tree);
    let story = match LoadedTrace::read(folder) {
        Ok(story) => story,
        Err(problem) => {
            assert!(recording.is_none(), "a trace for replays is none for people: {problem}");
            return;
        }
    };
    if let Some(recording) = recording {
        assert_eq!(story.steps.len(), recording.rows.len(), "people are told of other steps");
        assert_eq!(story.footer, recording.footer);
    }
    let table = text::trace_table(&story);
    assert!(!table.contains(|c: char| c.is_control() && c != '\n'), "a terminal would obey {table:?}");
    for step in story.steps.iter().take(3) {
        text::show_step(&story, step.row.trace_seq).unwrap();
    }
    let page = html::page(&story);
    assert_eq!(page.matches("<script").count(), 1, "the page has a script of others");
    if let Ok(recorded) = to_scenario::record_scenario(&story, &tools::recorded_input) {
        scenario::load_str(&recorded, "recorded.yaml").unwrap();
    }
}

/// One folder for the process: the same two files are written again and again.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("oso-fuzz-trace-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("trees")).unwrap();
    folder
});

fn put(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}
