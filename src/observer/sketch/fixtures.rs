//! The two worlds whose sketches and descriptions the contract fixes, for the tests of this room.

use crate::model::{Element, Range, Rect, Tree, TreeBuilder, Window};

pub fn notepad_window() -> Window {
    Window {
        uid: "mock:0:b71d1d6f".into(),
        handle: "1001".into(),
        title: "Untitled — Notepad".into(),
        process: "notepad.exe".into(),
        pid: 1234,
        bounds: Rect::new(80, 60, 800, 600),
        focused: true,
        minimized: false,
        url: None,
    }
}

pub fn notepad() -> Tree {
    let mut tree = TreeBuilder::new(element("Window", "Untitled — Notepad", [80, 60, 800, 600]));
    tree.open(element("MenuBar", "MenuBar", [80, 60, 800, 22]));
    for (column, name) in (0..).zip(["File", "Edit", "Format", "View", "Help"]) {
        tree.add_leaf(element("MenuItem", name, [80 + 58 * column, 60, 56, 22]));
    }
    tree.close();
    let document = "Hello, world!\nThis is a test document.\nLine 3 has some content here.\n";
    let editor = element("Document", "Text Editor", [80, 82, 800, 514]);
    tree.add_leaf(Element { focused: true, ..with_value(editor, document) });
    tree.add_leaf(element("ScrollBar", "Horizontal ScrollBar", [80, 596, 784, 18]));
    tree.add_leaf(element("ScrollBar", "Vertical ScrollBar", [864, 82, 18, 532]));
    let saving = Range { now: Some(40.0), min: Some(0.0), max: Some(100.0) };
    tree.open_in_slot(Element { range: saving, ..element("ProgressBar", "Saving", [560, 600, 200, 10]) }, 5);
    tree.close();
    tree.add_leaf(Element { selected: Some(true), ..element("CheckBox", "Word Wrap", [80, 636, 120, 18]) });
    tree.open_in_slot(element("StatusBar", "Status Bar", [80, 614, 800, 22]), 4);
    let cells =
        [("Position", "Ln 1, Col 1"), ("Zoom", "100%"), ("Encoding", "UTF-8"), ("EOL", "Windows (CRLF)")];
    for (column, (name, value)) in (0..).zip(cells) {
        tree.add_leaf(with_value(element("Text", name, [80 + 190 * column, 614, 188, 22]), value));
    }
    tree.finish()
}

pub fn login() -> Tree {
    let mut tree = TreeBuilder::new(element("Window", "Acme Login", [100, 100, 800, 600]));
    tree.add_leaf(with_value(element("Edit", "Username", [200, 200, 240, 24]), ""));
    tree.add_leaf(with_value(element("Edit", "Password", [200, 240, 240, 24]), ""));
    tree.add_leaf(element("Button", "Login", [200, 280, 100, 28]));
    tree.finish()
}

fn element(role: &'static str, name: &str, [x, y, width, height]: [i32; 4]) -> Element {
    Element::new(role, name, Rect::new(x, y, width, height))
}

fn with_value(element: Element, value: &str) -> Element {
    Element { value: Some(value.to_owned()), ..element }
}

#[test]
fn the_fixtures_are_the_trees_of_the_contract() {
    assert_eq!(notepad().hash(0), "sha1:c6d1c5dcac4098d1f2611051fa1372c9311d05f0");
    assert_eq!(login().hash(0), "sha1:fea1872051222609de110f1d998873b68a4e8faf");
}
