//! LibreOffice Writer: every letter and every shortcut arrives in its place. What was typed is read from the document's own
//! XML, by `fodt_text.py`.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::desk::{Desk, Stage, own_desk, runs};
use crate::keys::lost_runs;
use crate::support::project;

const EMPTY: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document \
    xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
    xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" office:version=\"1.2\" \
    office:mimetype=\"application/vnd.oasis.opendocument.text\"><office:body><office:text><text:p/></office:text>\
    </office:body></office:document>";

/// What Writer would change by itself in a text that is typed, or ask before it saves.
const HELPFUL: &[(&str, &[&str])] = &[
    ("Common/AutoCorrect", &["CorrectAccidentalCapsLock", "ReplaceSingleQuote", "ReplaceDoubleQuote"]),
    ("Common/Misc", &["ShowTipOfTheDay", "FirstRun"]),
    ("Common/Save/Document", &["WarnAlienFormat"]),
    ("Writer/AutoFunction/Completion", &["Enable", "CollectWords"]),
    ("Writer/AutoFunction/Format/ByInput", &["Enable", "ChangeDash"]),
    (
        "Writer/AutoFunction/Format/Option",
        &[
            "UseReplacementTable",
            "TwoCapitalsAtStart",
            "CapitalAtStartSentence",
            "ChangeUnderlineWeight",
            "SetInetAttribute",
            "ChangeOrdinalNumber",
            "ChangeDash",
        ],
    ),
];

fn settings() -> String {
    let item = |path: &str, name: &str| {
        format!(
            "<item oor:path=\"/org.openoffice.Office.{path}\"><prop oor:name=\"{name}\" oor:op=\"fuse\">\
             <value>false</value></prop></item>"
        )
    };
    let items: String =
        HELPFUL.iter().flat_map(|(path, names)| names.iter().map(move |name| item(path, name))).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><oor:items xmlns:oor=\"http://openoffice.org/2001/registry\">{items}\
         </oor:items>"
    )
}

/// A document's file, as Writer saved it.
struct Saved<'a> {
    desk: &'a Desk,
    path: PathBuf,
}

impl Saved<'_> {
    /// Its text, the bold part of it, and its headings; null while it is being written.
    fn read(&self) -> Value {
        let script = project().join("tests/desktop/programs/fodt_text.py");
        let mut command = self.desk.command("/usr/bin/python3");
        let output = command.arg(script).arg(&self.path).stderr(Stdio::null()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    /// The same once it is as wanted, or after a while.
    fn read_as(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let saved = self.read();
            if wanted(&saved) || began.elapsed() > Duration::from_secs(6) {
                return saved;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// An empty document in Writer.
fn writer(desk: &Desk) -> (Stage<'_>, Saved<'_>) {
    let path = desk.write("page.fodt", EMPTY);
    std::fs::create_dir_all(desk.home().join("office/user")).unwrap();
    desk.write("office/user/registrymodifications.xcu", &settings());
    let profile = format!("-env:UserInstallation=file://{}", desk.home().join("office").display());
    // The first start completes the profile and ends.
    let mut first = desk.command("soffice");
    first.args([&profile, "--headless", "--terminate_after_init"]);
    assert!(first.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    let arguments = [&profile, "--writer", "--norestore", "--nologo", path.to_str().unwrap()];
    let stage = Stage::new(desk, "/usr/lib/libreoffice/program/soffice.bin", &arguments, "page", 200);
    (stage, Saved { desk, path })
}

fn key(keys: &str) -> Value {
    json!({"do": "press_key", "keys": keys})
}

fn text(text: &str) -> Value {
    json!({"do": "type_text", "text": text})
}

#[test]
fn a_document_holds_exactly_what_was_typed() {
    let desk = own_desk();
    let (mut stage, saved) = writer(&desk);
    let lost = lost_runs(&mut stage.server, &stage.uid, "Writer", &[key("ctrl+s")], |document| {
        let saved = saved.read_as(|saved| saved["text"] == document);
        saved["text"].as_str().unwrap_or_default().to_owned()
    });
    assert!(lost.is_empty(), "{} of {}:\n{}", lost.len(), runs(2), lost.join("\n"));
    a_shortcut_changes_the_text_after_it(&mut stage, &saved);
    a_report_has_all_of_the_text(&mut stage);
    bars_are_told_as_they_are_behind_a_dialog_that_closed(&mut stage);
    a_style_is_applied_by_enter(&mut stage, &saved);
}

/// The box of the styles took the text, and enter went into the document, where it made a paragraph.
fn a_style_is_applied_by_enter(stage: &mut Stage<'_>, saved: &Saved<'_>) {
    let style = "//Group[name=\"Paragraph Style\"]//Edit";
    let steps = [
        key("ctrl+a"),
        key("delete"),
        text("Chapter"),
        json!({"do": "set_value", "selector": style, "value": "Heading 1"}),
        key("enter"),
        key("ctrl+s"),
    ];
    stage.ok("act", json!({"steps": steps}));
    let wanted = json!({"text": "Chapter", "bold": "Chapter", "headings": ["Chapter"]});
    assert_eq!(saved.read_as(|saved| *saved == wanted), wanted);
}

/// While a dialog closes Writer's bars are disabled, and a report that came too early said so of all of them.
fn bars_are_told_as_they_are_behind_a_dialog_that_closed(stage: &mut Stage<'_>) {
    let open =
        json!({"do": "press_key", "keys": "ctrl+shift+s", "expect": "window: Save", "within_ms": 20000});
    let reply = stage.ok("act", json!({"steps": [open, key("escape")]}));
    let told = reply["outline"].as_str().unwrap_or_default();
    assert!(!told.lines().any(|line| line.contains("\"Bold\"") && line.contains("disabled")), "{told}");
}

/// What changed was told while the last letters still arrived.
fn a_report_has_all_of_the_text(stage: &mut Stage<'_>) {
    for run in 0..runs(2) {
        let line = format!("Ferry {run} leaves at nine tonight.");
        let reply = stage.ok("act", json!({"steps": [key("ctrl+a"), key("delete"), text(&line)]}));
        assert!(reply["outline"].as_str().unwrap_or_default().contains(&line), "{reply}");
    }
}

/// In the same program, because it takes long to start.
fn a_shortcut_changes_the_text_after_it(stage: &mut Stage<'_>, saved: &Saved<'_>) {
    for run in 0..runs(2) {
        let [before, heavy, after] = [
            &format!("This is line {run} of more than thirty letters, "),
            &format!("heavy{run}"),
            " and plain.",
        ];
        let steps = [
            key("ctrl+a"),
            key("delete"),
            // What an earlier run left is taken off.
            key("ctrl+m"),
            text(before),
            key("ctrl+b"),
            text(heavy),
            key("ctrl+b"),
            text(after),
            key("ctrl+s"),
        ];
        stage.ok("act", json!({"steps": steps}));
        let wanted = json!({"text": format!("{before}{heavy}{after}"), "bold": heavy, "headings": []});
        assert_eq!(saved.read_as(|saved| *saved == wanted), wanted);
    }
}
