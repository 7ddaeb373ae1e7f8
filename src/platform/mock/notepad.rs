//! The default mock desktop: three windows of well-known applications that share the tree of a text editor.
//!
//! Clients recognise this desktop by its exact values, the odd order of ids included (`root.4` comes last),
//! so nothing here is to be made nicer.

use std::time::Duration;

use crate::model::{Element, Range, Rect, Role, Tree, TreeBuilder};
use crate::scenario::{ElementPlan, Oracles, Scenario, ScenarioState, WindowPlan};

const SCREEN: Rect = Rect::new(0, 0, 1920, 1080);
const EDITOR: Rect = Rect::new(80, 60, 800, 600);
const TITLE: &str = "Untitled — Notepad";
const TEXT: &str = "Hello, world!\nThis is a test document.\nLine 3 has some content here.\n";

/// Title, process, pid, bounds.
const WINDOWS: &[(&str, &str, u32, Rect)] = &[
    (TITLE, "notepad.exe", 1234, EDITOR),
    ("GitHub · Where software is built — Google Chrome", "chrome.exe", 5678, Rect::new(0, 0, 1920, 1050)),
    ("screen_observer.py — Visual Studio Code", "code.exe", 9012, Rect::new(960, 0, 960, 1050)),
];

const MENUS: &[&str] = &["File", "Edit", "Format", "View", "Help"];

const STATUS: &[(&str, &str)] =
    &[("Position", "Ln 1, Col 1"), ("Zoom", "100%"), ("Encoding", "UTF-8"), ("EOL", "Windows (CRLF)")];

/// The desktop as a scenario of one state without reactions.
pub(super) fn scenario(nonce: &str) -> Scenario {
    let windows = (0..WINDOWS.len()).map(|index| window(index, nonce)).collect();
    let state = ScenarioState {
        name: "default".to_owned(),
        windows,
        then: None,
        keeps_focus: true,
        changes: Vec::new(),
    };
    Scenario {
        name: "default".to_owned(),
        initial_state: 0,
        states: vec![state],
        reactions: Vec::new(),
        apps: Vec::new(),
        downloads: Vec::new(),
        oracles: Oracles::default(),
        screen: SCREEN,
    }
}

fn window(index: usize, nonce: &str) -> WindowPlan {
    let (title, process, pid, bounds) = WINDOWS[index];
    let tree = tree();
    WindowPlan {
        uid: format!("mock:{index}:{nonce}"),
        handle: (1001 + index).to_string(),
        title: title.to_owned(),
        process: process.to_owned(),
        pid,
        bounds,
        focused: index == 0,
        minimized: false,
        capture_delay: Duration::ZERO,
        elements: vec![ElementPlan::default(); tree.len()],
        tree,
    }
}

fn tree() -> Tree {
    let mut tree = TreeBuilder::new(Element::new(Role::Window, TITLE, EDITOR));
    add_menus(&mut tree);
    add_editor(&mut tree);
    add_indicators(&mut tree);
    add_status(&mut tree);
    with_handles(&tree.finish())
}

fn add_menus(tree: &mut TreeBuilder) {
    tree.open(Element::new(Role::MenuBar, "MenuBar", Rect::new(80, 60, 800, 22)));
    for (column, name) in (0..).zip(MENUS) {
        tree.add_leaf(Element::new(Role::MenuItem, *name, Rect::new(80 + 58 * column, 60, 56, 22)));
    }
    tree.close();
}

fn add_editor(tree: &mut TreeBuilder) {
    tree.add_leaf(Element {
        value: Some(TEXT.to_owned()),
        focused: true,
        ..Element::new(Role::Document, "Text Editor", Rect::new(80, 82, 800, 514))
    });
    tree.add_leaf(Element::new(Role::ScrollBar, "Horizontal ScrollBar", Rect::new(80, 596, 784, 18)));
    tree.add_leaf(Element::new(Role::ScrollBar, "Vertical ScrollBar", Rect::new(864, 82, 18, 532)));
}

fn add_indicators(tree: &mut TreeBuilder) {
    let saving = Element {
        range: Range { now: Some(40.0), min: Some(0.0), max: Some(100.0) },
        ..Element::new(Role::ProgressBar, "Saving", Rect::new(560, 600, 200, 10))
    };
    let word_wrap = Element {
        selected: Some(true),
        ..Element::new(Role::CheckBox, "Word Wrap", Rect::new(80, 636, 120, 18))
    };
    for (slot, element) in [(5, saving), (6, word_wrap)] {
        tree.open_in_slot(element, slot);
        tree.close();
    }
}

fn add_status(tree: &mut TreeBuilder) {
    tree.open_in_slot(Element::new(Role::StatusBar, "Status Bar", Rect::new(80, 614, 800, 22)), 4);
    for (column, (name, value)) in (0..).zip(STATUS) {
        let text = Element::new(Role::Text, *name, Rect::new(80 + 190 * column, 614, 188, 22));
        tree.add_leaf(Element { value: Some((*value).to_owned()), ..text });
    }
    tree.close();
}

fn with_handles(tree: &Tree) -> Tree {
    let mut node = 0;
    tree.map_elements(|element| {
        element.native = Some(tree.id(node));
        element.native_is_place = true;
        node += 1;
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::mock::world::World;

    #[test]
    fn the_three_windows_share_the_known_tree() {
        let world = World::notepad("0123abcd");
        let windows = world.windows();
        assert_eq!(windows.len(), 3);
        for (index, window) in windows.iter().enumerate() {
            assert_eq!(window.uid, format!("mock:{index}:0123abcd"));
            assert_eq!(window.handle, (1001 + index).to_string());
            assert_eq!(window.focused, index == 0);
            let tree = world.tree(&window.uid, Duration::ZERO).unwrap();
            assert_eq!(tree.len(), 17);
            assert_eq!(tree.hash(Tree::ROOT), "sha1:c6d1c5dcac4098d1f2611051fa1372c9311d05f0");
        }
    }

    #[test]
    fn the_status_bar_is_last_but_keeps_its_number() {
        let tree = tree();
        let ids: Vec<String> = tree.children(Tree::ROOT).map(|node| tree.id(node)).collect();
        assert_eq!(ids, ["root.0", "root.1", "root.2", "root.3", "root.5", "root.6", "root.4"]);
        assert_eq!(tree.focused().map(|node| tree.id(node)).as_deref(), Some("root.1"));
    }
}
