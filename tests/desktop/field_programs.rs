//! Programs that people work with: what their trees contain, and what they must not.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use crate::desk::{Desk, Server, Stage, desk, until};

const PASSWORD: &str = "S3NTINEL-9f2c-typed";

fn outline_of(server: &mut Server, arguments: Value) -> String {
    server.ok("look", arguments)["outline"].as_str().unwrap_or_default().to_owned()
}

/// Waits for a look that has all of these in it.
fn look_with(server: &mut Server, uid: &str, wanted: &[&str]) -> String {
    until(&format!("a look with {wanted:?}"), || {
        let text = outline_of(server, json!({"window_uid": uid}));
        wanted.iter().all(|part| text.contains(part)).then_some(text)
    })
}

fn lines_with<'a>(text: &'a str, part: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.contains(part)).collect()
}

fn locked_vault<'a>(desk: &'a Desk, name: &str) -> Stage<'a> {
    let path = desk.home().join(name);
    let _ = std::fs::remove_file(&path);
    let mut command = desk.command("keepassxc-cli");
    command
        .args(["db-create", "-p"])
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut cli = command.spawn().unwrap();
    let typed = format!("{PASSWORD}\n{PASSWORD}\n");
    cli.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    assert!(cli.wait().unwrap().success());
    Stage::new(desk, "keepassxc", &[path.to_str().unwrap()], "Locked", 50)
}

#[test]
fn a_locked_vault_shows_one_page_and_one_focus() {
    let desk = desk();
    let mut stage = locked_vault(&desk, "page.kdbx");
    let text = look_with(&mut stage.server, &stage.uid, &["Password field", "{focused"]);
    let elements = stage.server.tree(&stage.uid).len();
    assert!(elements < 400, "{elements} elements: pages that do not show are read");
    assert!(text.lines().count() <= 42, "{text}");
    // To a model the buttons of a search box that is disabled are told on its line.
    let told = desk.agent_server().lines("look", json!({"window_uid": stage.uid}));
    assert!(told.contains("Password field") && told.lines().count() <= 40, "{told}");
    assert_eq!(lines_with(&text, "focused").len(), 2, "one window and one element: {text}");
    let began = Instant::now();
    outline_of(&mut stage.server, json!({"window_uid": stage.uid}));
    println!("a look at the locked vault took {:?}", began.elapsed());
    // What is in a closed menu can be worked all the same.
    let item = stage.server.ok("find", json!({"text": "Password Generator", "window_uid": stage.uid}));
    assert!(item["matches"].as_array().is_some_and(|found| !found.is_empty()), "{item}");
}

/// A password that is typed where the pointer put the focus is in no trace.
#[test]
fn a_password_that_is_typed_into_qt_is_in_no_trace() {
    let desk = desk();
    let mut stage = locked_vault(&desk, "trace.kdbx");
    look_with(&mut stage.server, &stage.uid, &["Password field"]);
    let field = stage.server.element(&stage.uid, "Edit", "Password field");
    let traced = stage.server.ok("trace_start", json!({}));
    let bounds = &field["bounds"];
    let [x, y, height] = ["x", "y", "height"].map(|side| bounds[side].as_i64().unwrap());
    stage.server.ok("click_at", json!({"x": x + 20, "y": y + height / 2}));
    stage.server.ok("type_text", json!({"text": PASSWORD}));
    stage.server.ok("press_key", json!({"keys": "enter"}));
    stage.server.ok("trace_stop", json!({}));
    let opened = until("the vault to open", || {
        let windows = stage.server.windows();
        windows.into_iter().find(|window| {
            window["pid"] == stage.app.pid() && !window["title"].as_str().unwrap().contains("Locked")
        })
    });
    println!("{}", opened["title"]);
    let folder =
        traced["dir"].as_str().or(traced["trace_dir"].as_str()).expect("where the trace is").to_owned();
    let folder = folder.replacen('~', desk.home().to_str().unwrap(), 1);
    let mut rows = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|_| panic!("{folder}")) {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        rows += text.matches("type_text").count();
        assert!(!text.contains(PASSWORD), "the password is in the trace");
    }
    assert!(rows > 0, "the trace has no row for the text");
}

#[test]
fn one_element_of_kwrite_has_the_focus() {
    let desk = desk();
    let path = desk.write("notes.txt", "A note.");
    let mut stage = Stage::new(&desk, "kwrite", &[path.to_str().unwrap()], "notes", 30);
    let text = look_with(&mut stage.server, &stage.uid, &["{focused"]);
    let focused = lines_with(&text, "focused");
    assert_eq!(focused.len(), 2, "one window and one element: {text}");
    assert!(focused[1].contains("Document"), "{text}");
}

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Plain page</title><h1>Harbours</h1>\
    <p>Plain paragraph one.</p><p>Mixed <a href='#'>link</a> tail words.</p><div>Div text</div>\
    <blockquote>Quoted words</blockquote><div role=status>Applied: SEA42</div>\
    <table><tr><th>No<th>Ship<tr><td>1014<td>Holm<tr><td>1015<td>Vik</table>\
    <input type=password aria-label=Secret>";

#[test]
fn the_text_of_a_page_in_firefox_is_read() {
    let desk = desk();
    let page = desk.write("plain.html", PAGE);
    let profile = desk.home().join("firefox");
    std::fs::create_dir_all(&profile).unwrap();
    let address = format!("file://{}", page.display());
    let arguments = ["--no-remote", "--profile", profile.to_str().unwrap(), &address];
    let mut stage = Stage::new(&desk, "firefox-esr", &arguments, "Plain page", 20);
    let wanted = [
        "\"Plain paragraph one.\"",
        "\"Mixed link tail words.\"",
        "\"Div text\"",
        "\"Quoted words\"",
        "Applied: SEA42",
        "Row 1014 | Holm",
        "Row 1015 | Vik",
    ];
    let text = look_with(&mut stage.server, &stage.uid, &wanted);
    assert_eq!(lines_with(&text, "{secret}").len(), 1, "{text}");
}

/// A sheet with these cells, as LibreOffice writes it.
fn sheet() -> String {
    let row = |cells: &[&str]| {
        let cells: String = cells
            .iter()
            .map(|text| format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>"))
            .collect();
        format!("<table:table-row>{cells}</table:table-row>")
    };
    let rows: String =
        [["Name", "Load"], ["Holm", "883"], ["Vik", "1014"]].iter().map(|cells| row(cells)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document \
         xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
         xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
         xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" office:version=\"1.2\" \
         office:mimetype=\"application/vnd.oasis.opendocument.spreadsheet\"><office:body><office:spreadsheet>\
         <table:table table:name=\"Fleet\">{rows}</table:table></office:spreadsheet></office:body></office:document>"
    )
}

#[test]
fn of_a_sheet_the_visible_rows_are_read_and_refs_of_cells_live() {
    let desk = desk();
    let path = desk.write("fleet.fods", &sheet());
    // The first start makes a profile and ends.
    let mut first = desk.command("soffice");
    first.args(["--headless", "--terminate_after_init"]).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(first.status().unwrap().success());
    let arguments = ["--calc", "--norestore", "--nologo", "--nofirststartwizard", path.to_str().unwrap()];
    let mut stage = Stage::new(&desk, "/usr/lib/libreoffice/program/soffice.bin", &arguments, "fleet", 200);
    let text = look_with(&mut stage.server, &stage.uid, &["A1 =Name {focused} | ", "B3 =1014"]);
    let cells = stage.server.tree(&stage.uid).iter().filter(|element| element["role"] == "DataItem").count();
    assert!(cells < 100, "{cells} cells of a sheet with six");
    let bars = lines_with(&text, "MenuBar");
    assert_eq!(bars.len(), 1, "{text}");
    let row = lines_with(&text, "B3 =1014")[0];
    let words: Vec<&str> = row.split_whitespace().collect();
    let reference = words[words.iter().position(|word| *word == "B3").unwrap() - 1];
    for _ in 0..2 {
        let dry = stage.server.ok("click_element", json!({"ref": reference, "dry_run": true}));
        assert_eq!(dry["target"]["ref"], reference, "{dry}");
    }
    cells_are_written_one_by_one(&mut stage, &path);
    a_letter_is_told_with_the_field_that_it_opened(&mut stage);
}

/// The cell goes on saying that it has the focus while the field over it gets the letters.
fn a_letter_is_told_with_the_field_that_it_opened(stage: &mut Stage<'_>) {
    stage.ok("click_element", json!({"selector": "//DataItem[name=\"C1\"]"}));
    for written in ["q", "qq"] {
        let typed = stage.ok("type_text", json!({"text": "q"}));
        assert_eq!((&typed["verified"], &typed["into"]["value"]), (&json!(true), &json!(written)), "{typed}");
    }
    stage.ok("press_key", json!({"keys": "escape"}));
}

/// In the same program, because it takes long to start. The first click into a window of LibreOffice once selected a whole
/// column, and a cell that was set stayed open for more. What came of it is in the file.
fn cells_are_written_one_by_one(stage: &mut Stage<'_>, path: &Path) {
    stage.ok("click_element", json!({"selector": "//DataItem[name=\"B2\"]"}));
    let key = |keys: &str| json!({"do": "press_key", "keys": keys});
    stage.ok("act", json!({"steps": [{"do": "type_text", "text": "77"}, key("enter")]}));
    stage.ok("set_value", json!({"selector": "//DataItem[name=\"A3\"]", "value": "Nord"}));
    // Out of a cell that is not open the arrow leads to the next.
    stage.ok(
        "act",
        json!({"steps": [key("home"), key("down"), {"do": "type_text", "text": "Oslo"}, key("enter")]}),
    );
    stage.ok("press_key", json!({"keys": "ctrl+s"}));
    let saved = until("the saved sheet", || {
        // It may ask whether the format is to be kept, which is what enter answers.
        if stage.server.windows().iter().any(|window| window["title"].to_string().contains("Keep Current")) {
            stage.server.ok("press_key", json!({"keys": "enter"}));
        }
        let saved = texts_of(&std::fs::read_to_string(path).ok()?);
        saved.contains(&"Oslo".to_owned()).then_some(saved)
    });
    assert_eq!(saved, ["Name", "Load", "Holm", "77", "Nord", "1014", "Oslo"]);
}

/// What the paragraphs of a document's only table say.
fn texts_of(document: &str) -> Vec<String> {
    let table = document.split("<table:table ").nth(1).unwrap_or_default();
    let paragraphs = table.split("<text:p>").skip(1).filter_map(|rest| rest.split("</text:p>").next());
    paragraphs.map(str::to_owned).collect()
}

#[test]
fn fields_of_a_form_are_called_as_the_labels_beside_them() {
    let desk = desk();
    let arguments = [
        "--form",
        "--title=Berths",
        "--field=Harbour",
        "--field=Berth:NUM",
        "--field=Notes:TXT",
        "--field=Pin:H",
    ];
    let mut stage = Stage::new(&desk, "yad", &arguments, "Berths", 10);
    let wanted = ["Edit \"Harbour\"", "Spinner \"Berth\"", "Document \"Notes\"", "Edit \"Pin\" {"];
    let text = look_with(&mut stage.server, &stage.uid, &wanted);
    assert!(lines_with(&text, "Harbour").len() == 1 && lines_with(&text, "{secret}").len() == 1, "{text}");
}

#[test]
fn a_popover_of_gtk4_is_where_it_is_seen() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gnome-calculator", &[], "Calculator", 50);
    let text = look_with(&mut stage.server, &stage.uid, &["Button \"7\" @", "Document"]);
    assert!(!text.contains("\"Gtk") && !text.contains("\"7 7\""), "{text}");
    let tree = stage.server.tree(&stage.uid);
    let display = tree.iter().find(|element| element["role"] == "Document").unwrap();
    let [x, y] = ["x", "y"].map(|side| display["bounds"][side].as_i64().unwrap());
    stage.server.ok("click_at", json!({"x": x + 30, "y": y + 10, "button": "right"}));
    let text = look_with(&mut stage.server, &stage.uid, &["MenuItem \"Cut\"", "\"Paste\"", "\"Select All\""]);
    let item = stage.server.element(&stage.uid, "MenuItem", "Paste");
    let [item_x, item_y] = ["x", "y"].map(|side| item["bounds"][side].as_i64().unwrap());
    assert!(item_x.abs_diff(x + 30) < 100 && item_y.abs_diff(y + 10) < 300, "{item} {text}");
    stage.server.ok("press_key", json!({"keys": "escape"}));
}

#[test]
fn a_long_text_is_read_to_its_end_and_changes_at_its_end_are_told() {
    let desk = desk();
    let words: String = (0..600).map(|at| format!("word{at} ")).collect();
    let path = desk.write("long.txt", &words);
    let mut stage = Stage::new(&desk, "mousepad", &[path.to_str().unwrap()], "long", 50);
    let text = look_with(&mut stage.server, &stage.uid, &["Document"]);
    let is_document = |line: &&str| line.split_whitespace().nth(1) == Some("Document");
    let line = text.lines().find(is_document).unwrap_or_else(|| panic!("{text}"));
    let reference = line.split_whitespace().next().unwrap().to_owned();
    let whole = outline_of(&mut stage.server, json!({"ref": reference, "max_tokens": 8000}));
    assert!(whole.contains("word599"), "{whole}");
    stage.server.ok("focus_element", json!({"ref": reference}));
    stage.server.ok("press_key", json!({"keys": "ctrl+end"}));
    look_with(&mut stage.server, &stage.uid, &["Document"]);
    stage.server.ok("type_text", json!({"text": "the very end"}));
    until("the change at the end", || {
        let text = outline_of(&mut stage.server, json!({"window_uid": stage.uid, "changes": true}));
        text.contains("the very end").then_some(())
    });
}
