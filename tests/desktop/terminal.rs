//! xterm, which shows no elements at all: keys reach it and pictures show it.

use serde_json::json;

use crate::desk::{desk, until};

#[test]
fn a_command_is_typed_and_runs() {
    let desk = desk();
    let mut server = desk.server();
    let app = desk.start("xterm", &["-u8", "-T", "Terminal", "-e", "sh"]);
    let uid = server.uid(&app, "Terminal");
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    let file = desk.home().join("typed");
    // The shell reads when it is ready; what is typed before waits in its terminal.
    server.ok("type_text", json!({"text": "echo 'Zoë 漢字 €' > typed\n"}));
    let text = until("the file", || std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n')));
    assert_eq!(text, "Zoë 漢字 €\n");
}

#[test]
fn its_picture_is_its_own() {
    let desk = desk();
    let mut server = desk.server();
    let app = desk.start("xterm", &["-T", "Red", "-bg", "#ff0000", "-e", "sleep 600"]);
    let uid = server.uid(&app, "Red");
    until("a red window", || {
        let picture = server.picture(&uid)?;
        let red = picture.pixels().filter(|pixel| pixel.0[..3] == [255, 0, 0]).count();
        (red * 10 > picture.pixels().count() * 7).then_some(())
    });
}

#[test]
fn its_lines_stand_for_its_elements() {
    let desk = desk();
    let mut server = desk.server();
    let command = [
        "-T",
        "Dark",
        "-fa",
        "DejaVu Sans Mono",
        "-fs",
        "16",
        "-e",
        "sh",
        "-c",
        "echo Harbour lights; sleep 600",
    ];
    let app = desk.start("xterm", &command);
    let uid = server.uid(&app, "Dark");
    until("the line", || {
        // A window that has just been made is listed before it shows and has a picture.
        let read = server.call("get_window_structure", json!({"window_uid": uid, "ocr": true}));
        if read["ok"] == false {
            return None;
        }
        assert!(read["degraded"]["detail"].as_str().unwrap().contains("accessibility bus"), "{read}");
        let lines = read["tree"]["children"].as_array()?;
        lines.iter().any(|line| line["name"].as_str().unwrap().contains("Harbour")).then_some(())
    });
}

#[test]
fn a_line_that_was_read_is_clicked_by_its_ref() {
    let desk = desk();
    let mut server = desk.server();
    // With mouse reporting on, a press arrives as six bytes; the last is the row.
    let script = "stty raw -echo; printf 'one\\r\\n\\r\\nHarbour lights\\r\\n\\033[?1000h'; head -c 6 > clicked; sleep 600";
    let app = desk
        .start("xterm", &["-T", "Dark", "-fa", "DejaVu Sans Mono", "-fs", "16", "-e", "sh", "-c", script]);
    let uid = server.uid(&app, "Dark");
    let reference = until("the line", || {
        let seen = server.call("look", json!({"window_uid": uid}));
        let lines = seen["outline"].as_str()?;
        let line = lines.lines().find(|line| line.contains("Harbour"))?;
        Some(line.split_whitespace().next()?.to_owned())
    });
    let receipt = server.ok("click_element", json!({"ref": reference}));
    assert_eq!(receipt["target"]["ref"], reference, "{receipt}");
    let clicked =
        until("the click", || std::fs::read(desk.home().join("clicked")).ok().filter(|read| read.len() == 6));
    assert_eq!(clicked[5], 32 + 3, "the third row: {clicked:?}");
}
