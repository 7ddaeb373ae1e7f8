//! Defects that people met in one program, each in that program. What was done is read from files, from what the program
//! printed, or from the X server, never from the server under test.

use std::path::Path;

use serde_json::{Value, json};

use crate::desk::{Desk, Server, Stage, own_desk, runs, until};

fn until_file(path: &Path, wanted: &str) {
    let read = || std::fs::read_to_string(path).unwrap_or_default();
    until(&format!("{path:?} with {wanted:?}"), || (read() == wanted).then_some(()));
}

/// Whether the X server has a window of this title.
fn has_window(desk: &Desk, title: &str) -> bool {
    let found = desk.command("xdotool").args(["search", "--onlyvisible", "--name", title]).output().unwrap();
    !found.stdout.is_empty()
}

/// Ends the program that was launched; it does not end with the server.
struct Launched {
    reply: Value,
}

impl Launched {
    fn start(server: &mut Server, program: &str, arguments: &[&str]) -> Self {
        let arguments = json!({"program": program, "args": arguments, "timeout_ms": 100_000});
        Self { reply: server.ok("launch_app", arguments) }
    }

    fn uid(&self) -> &str {
        self.reply["window"]["window_uid"].as_str().unwrap_or_else(|| panic!("{}", self.reply))
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        let Some(pid) = self.reply["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok()) else { return };
        let _ = rustix::process::Pid::from_raw(pid)
            .map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
    }
}

/// The splash was taken for the program's window, and an exact word was not found beside longer texts.
#[test]
fn gimp_is_launched_past_its_splash_and_its_menu_opens_by_a_word() {
    let desk = own_desk();
    let path = desk.home().join("in.png");
    image::RgbImage::from_pixel(400, 300, image::Rgb([48, 96, 144])).save(&path).unwrap();
    let mut server = desk.server();
    let launched = Launched::start(&mut server, "gimp", &["--no-data", "--no-fonts", path.to_str().unwrap()]);
    let title = launched.reply["window"]["title"].as_str().unwrap();
    assert!(title.contains("GNU Image Manipulation Program") || title.contains("GIMP built-in"), "{title}");
    until("the picture in its window", || has_window(&desk, "400x300").then_some(()));
    let uid = launched.uid();
    let click = |server: &mut Server, arguments: Value| {
        let mut arguments = arguments;
        arguments["window_uid"] = json!(uid);
        server.call("click_text", arguments)["ok"] == true
    };
    until("the menu", || {
        click(&mut server, json!({"text": "Image", "match": "exact", "nth": 1})).then_some(())
    });
    until("the menu's entry", || click(&mut server, json!({"text": "Scale Image"})).then_some(()));
    until("the dialog", || has_window(&desk, "^Scale Image$").then_some(()));
}

/// A tooltip about the clipboard was taken for an attack, and only `act` could drag.
#[test]
fn inkscape_draws_what_is_dragged_and_nothing_in_it_is_suspicious() {
    const EMPTY: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"600\"></svg>";
    let desk = own_desk();
    let path = desk.write("drawing.svg", EMPTY);
    let mut stage = Stage::new(&desk, "inkscape", &[path.to_str().unwrap()], "drawing", 500);
    let look = stage.ok("look", json!({"max_tokens": 8000}));
    let outline = look["outline"].as_str().unwrap();
    assert!(outline.contains("clipboard"), "{outline}");
    assert!(!look.to_string().contains("suspicious"), "{look}");
    let drag = json!({"do": "drag", "from": {"x": 600, "y": 400}, "to": {"x": 800, "y": 500}});
    stage.ok(
        "act",
        json!({"steps": [{"do": "press_key", "keys": "r"}, drag, {"do": "press_key", "keys": "ctrl+s"}]}),
    );
    let saved = until("a rectangle in the file", || {
        std::fs::read_to_string(&path).ok().filter(|text| text.contains("<rect"))
    });
    let number = |name: &str| -> f64 {
        let at = saved.split(&format!("\n     {name}=\"")).nth(1).unwrap_or_else(|| panic!("{saved}"));
        at.split('"').next().unwrap().parse().unwrap()
    };
    let shape = number("width") / number("height");
    assert!((shape - 2.0).abs() < 0.05, "200 by 100 pixels were dragged: {saved}");
}

/// Its first window, which never shows, was taken for the editor; another of its windows has the focus by then.
#[test]
fn jedit_is_launched_with_its_editor_and_typed_into() {
    let desk = own_desk();
    let path = desk.write("letter.txt", "");
    let mut server = desk.server();
    let launched =
        Launched::start(&mut server, "jedit", &["-noserver", "-norestore", path.to_str().unwrap()]);
    assert!(launched.reply["window"]["title"].to_string().contains("letter.txt"), "{}", launched.reply);
    let steps = json!([
        {"do": "type_text", "text": "Dear Zoë, 42 € – 漢字"},
        {"do": "press_key", "keys": "enter"},
        {"do": "type_text", "text": "second line"},
        {"do": "press_key", "keys": "ctrl+s"},
    ]);
    server.ok("act", json!({"window_uid": launched.uid(), "steps": steps}));
    let wanted = "Dear Zoë, 42 € – 漢字\nsecond line";
    until("the saved letter", || {
        std::fs::read_to_string(&path).ok().filter(|text| text.trim_end_matches('\n') == wanted)
    });
}

/// The shortcut overtook the text, and the dialog that it opened swallowed the rest.
#[test]
fn kwrite_saves_all_of_a_text_before_a_shortcut() {
    let desk = own_desk();
    let mut stage = Stage::new(&desk, "kwrite", &[], "KWrite", 30);
    let text = "the quick brown fox jumps over the lazy dog; ".repeat(4);
    for run in 0..runs(2) {
        let text = format!("{run} {text}.");
        let path = desk.home().join(format!("fox-{run}.txt"));
        let steps = json!([
            {"do": "press_key", "keys": "ctrl+n"},
            {"do": "type_text", "text": text},
            {"do": "press_key", "keys": "ctrl+s", "expect": "window: Save", "within_ms": 20000},
        ]);
        stage.ok("act", json!({"steps": steps}));
        let name = json!([{"do": "type_text", "text": path}, {"do": "press_key", "keys": "enter"}]);
        stage.server.ok("act", json!({"steps": name}));
        until_file(&path, &format!("{text}\n"));
    }
}

/// A click on a colour ran an action that closes the dialog with the old one, and an ordinary word became a secret because
/// it followed a line break.
#[test]
fn yad_gets_the_colour_that_was_clicked_and_shows_ordinary_words() {
    let desk = own_desk();
    let fields = ["--field=Harbour", "--field=Notes:TXT", "--field=Pin:H", "--field=Colour:CLR"];
    let mut arguments = vec!["--form", "--title=Berths"];
    arguments.extend(fields);
    let mut stage = Stage::new(&desk, "yad", &arguments, "Berths", 10);
    let field = |role: &str, value: &str| json!({"do": "set_value", "selector": role, "value": value});
    let steps = [
        field("//Document", "two\nlines"),
        field("//Edit[name=\"Harbour\"]", "harbour lines"),
        field("//Edit[name=\"Pin\"]", "4711-secret"),
    ];
    stage.ok("act", json!({"steps": steps}));
    let look = stage.ok("look", json!({}));
    let outline = look["outline"].as_str().unwrap();
    assert!(outline.contains(r#"="two\nlines""#) && outline.contains("=harbour lines"), "{outline}");
    assert!(!outline.contains("4711"), "{outline}");
    // The only button without a name.
    stage.ok("click_element", json!({"selector": "//Button[name=\"\"]"}));
    let dialog = stage.server.uid(&stage.app, "Pick a Color");
    stage.server.element(&dialog, "RadioButton", "Orange");
    for (role, name) in [("RadioButton", "Orange"), ("Button", "Select")] {
        let selector = format!("//{role}[name=\"{name}\"]");
        stage.server.ok("click_element", json!({"window_uid": dialog, "selector": selector}));
    }
    until("the dialog to close", || (!has_window(&desk, "Pick a Color")).then_some(()));
    stage.ok("click_element", json!({"selector": "//Button[name=\"OK\"]"}));
    let printed = stage.app.printed();
    let values: Vec<&str> = printed.trim_end().split('|').collect();
    let [harbour, notes, pin, colour] = values[..4] else { panic!("{printed}") };
    assert_eq!((harbour, notes, pin), ("harbour lines", "two\\nlines", "4711-secret"), "{printed}");
    assert_eq!(colour.to_lowercase(), "#ff7800", "{printed}");
}
