//! PCManFM of GTK 2: a program that tells nothing of its elements, so that it is worked by what can be read in it. What was
//! done is read from the files.

use serde_json::{Value, json};

use crate::desk::{App, Desk, Server, desk, until};

const FILE: &str = "harbour.txt";

struct FileManager {
    app: App,
    server: Server,
    uid: String,
}

/// The file manager on a folder with one file, once the file can be read in its window.
fn file_manager(desk: &Desk, folder: &str) -> FileManager {
    let path = desk.home().join(folder);
    std::fs::create_dir_all(&path).unwrap();
    desk.write(&format!("{folder}/{FILE}"), "");
    let app = desk.start("pcmanfm", &[path.to_str().unwrap()]);
    let mut server = desk.server();
    let uid = server.uid(&app, folder);
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    let mut manager = FileManager { app, server, uid };
    until("the file in the window", || manager.look()["outline"].as_str()?.contains(FILE).then_some(()));
    manager
}

impl FileManager {
    fn look(&mut self) -> Value {
        self.server.call("look", json!({"window_uid": self.uid}))
    }
}

#[test]
fn every_tool_reads_the_same_in_a_window_without_elements() {
    let desk = desk();
    let mut manager = file_manager(&desk, "berths");
    let look = manager.look();
    assert_eq!(look["source"], "ocr", "{look}");
    let outline = look["outline"].as_str().unwrap();
    let line = outline.lines().find(|line| line.contains(FILE)).unwrap();
    let uid = manager.uid.clone();
    let found = manager.server.ok("find", json!({"text": FILE, "window_uid": uid}));
    assert_eq!(found["matches"][0]["ref"], line.split(' ').next().unwrap(), "{found}");
    for name in ["type", "kind"] {
        let condition = json!({name: "text_visible", "regex": "harbour"});
        manager.server.ok("wait_for", json!({"any_of": [condition], "window_uid": uid}));
    }
    let menu = manager.server.ok("ocr_find", json!({"text": "Bookmarks", "window_uid": uid}));
    assert!(menu["count"].as_u64() > Some(0), "{menu}");
    manager.server.ok("click_text", json!({"text": FILE, "window_uid": uid}));
    let dialog = json!({"type": "window_appears", "title_regex": "Rename"});
    let renaming =
        json!({"steps": [{"do": "press_key", "keys": "f2", "expect": dialog, "within_ms": 20000}]});
    let reply = manager.server.call("act", renaming);
    let dialog = manager.server.uid(&manager.app, "Rename");
    assert!(reply.to_string().contains(&dialog), "{reply}");
    manager.server.ok("press_key", json!({"keys": "ctrl+a"}));
    manager.server.ok("type_text", json!({"text": "meadow.txt\n"}));
    let folder = desk.home().join("berths");
    until("the renamed file", || {
        (folder.join("meadow.txt").exists() && !folder.join(FILE).exists()).then_some(())
    });
}

/// A dialog that opens is a change, and a window that was there before is not a new one.
#[test]
fn what_is_expected_of_a_key_is_new_since_the_key() {
    let desk = desk();
    let mut manager = file_manager(&desk, "quays");
    let uid = manager.uid.clone();
    manager.server.ok("click_text", json!({"text": FILE, "window_uid": uid}));
    let step = |keys: &str, expect: Value| json!({"window_uid": uid, "steps": [{"do": "press_key", "keys": keys, "expect": expect, "within_ms": 2000}]});
    let old = manager.server.call("act", step("right", json!("window: quays")));
    assert_eq!((&old["ok"], &old["verdict"]), (&json!(false), &json!("failed")), "{old}");
    manager.server.ok("click_text", json!({"text": FILE, "window_uid": uid}));
    let renaming = manager.server.ok("act", step("f2", json!("changed")));
    assert_eq!(renaming["verdict"], "confirmed", "{renaming}");
    manager.server.uid(&manager.app, "Rename");
    manager.server.ok("press_key", json!({"keys": "ctrl+a"}));
    manager.server.ok("type_text", json!({"text": "pier.txt\n"}));
    until("the renamed file", || desk.home().join("quays/pier.txt").exists().then_some(()));
}

/// A drag of GTK 2 leaves a window of a pixel beyond the edge of the screen.
#[test]
fn a_drag_does_not_widen_the_picture_of_the_window() {
    let desk = desk();
    let mut manager = file_manager(&desk, "drags");
    let (app, server, uid) = (&manager.app, &mut manager.server, manager.uid.clone());
    let window = server.window(app, "drags");
    let at = server.ok("ocr_find", json!({"text": FILE, "window_uid": uid}))["matches"][0].clone();
    let (x, y) = (at["x"].as_i64().unwrap(), at["y"].as_i64().unwrap());
    server.ok("drag", json!({"from": {"x": x, "y": y}, "to": {"x": x + 80, "y": y + 90}, "duration_s": 0.5}));
    let picture = until("a picture", || server.picture(&uid));
    assert_eq!(i64::from(picture.width()), window["bounds"]["width"].as_i64().unwrap(), "{window}");
}
