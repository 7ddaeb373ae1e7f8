//! The tree of each program's window, against the independent walk: the same elements in the same order.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::desk::{App, Desk, Server, desk, name_of, until};

/// What AT-SPI calls the roles that an agent works with, and what we call them. Roles that depend on states
/// (text, menu) are not here: their names differ by design.
const ROLES: &[(&str, &str)] = &[
    ("push button", "Button"),
    ("button", "Button"),
    ("check box", "CheckBox"),
    ("radio button", "RadioButton"),
    ("toggle button", "ToggleButton"),
    ("slider", "Slider"),
    ("spin button", "Spinner"),
    ("combo box", "ComboBox"),
    ("menu bar", "MenuBar"),
    ("menu item", "MenuItem"),
    ("page tab", "TabItem"),
    ("label", "Text"),
    ("link", "Hyperlink"),
    ("progress bar", "ProgressBar"),
    ("scroll bar", "ScrollBar"),
    ("list item", "ListItem"),
    ("frame", "Window"),
    ("dialog", "Dialog"),
];

fn expected_role(role: &str) -> Option<&'static str> {
    ROLES.iter().find(|(theirs, _)| *theirs == role).map(|(_, ours)| *ours)
}

/// Programs change while they are looked at, so a few looks may disagree before one agrees.
fn check(desk: &Desk, server: &mut Server, app: &App, title: &str, least: usize) {
    let uid = server.ready(app, title, least);
    let title = server.window(app, title)["title"].as_str().unwrap().to_owned();
    check_tree(desk, server, app, (&uid, &title), least);
}

fn check_tree(desk: &Desk, server: &mut Server, app: &App, (uid, title): (&str, &str), least: usize) {
    for attempt in 0.. {
        let ours = server.tree(uid);
        let difference = first_difference(&ours, &desk.brief_walk(app));
        if difference.is_empty() && ours.len() >= least {
            return;
        }
        assert!(attempt < 8, "{title}: {difference}");
    }
}

/// The root is the window itself: its title is that of the window manager, which a program may not know. What
/// stands in a password field is not shown.
fn first_difference(ours: &[Value], theirs: &[Value]) -> String {
    for (at, (our, their)) in ours.iter().zip(theirs).enumerate() {
        let role = their["role"].as_str().unwrap();
        let same_role = expected_role(role).is_none_or(|expected| our["role"] == expected);
        let same_name = at == 0 || is_same_name(name_of(our), name_of(their));
        if !same_name || !same_role {
            return format!("element {at} is {our}, but the walk has {their}");
        }
    }
    if ours.len() == theirs.len() {
        return String::new();
    }
    format!("{} elements, but the walk has {}; roles {:?}", ours.len(), theirs.len(), counts(ours, theirs))
}

/// GTK 4 has the class of a widget for a name, or a label twice; a field may have the name of the label beside it.
fn is_same_name(our: &str, their: &str) -> bool {
    let is_class = ["Gtk", "Adw"].iter().any(|prefix| their.starts_with(prefix)) || is_camel(their);
    our == their || our == "[REDACTED]" || their.is_empty() || is_class || their == format!("{our} {our}")
}

fn is_camel(name: &str) -> bool {
    name.chars().all(char::is_alphanumeric) && name.chars().filter(|letter| letter.is_uppercase()).count() > 1
}

/// Roles that are not equally frequent.
fn counts(ours: &[Value], theirs: &[Value]) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for our in ours {
        *counts.entry(our["role"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for their in theirs {
        let role = their["role"].as_str().unwrap();
        *counts.entry(expected_role(role).unwrap_or(role).to_owned()).or_default() -= 1;
    }
    counts.retain(|_, count| *count != 0);
    counts
}

#[test]
fn gtk3_widget_factory() {
    let desk = desk();
    let app = desk.start("gtk3-widget-factory", &[]);
    check(&desk, &mut desk.server(), &app, "", 200);
}

#[test]
fn gtk4_widget_factory() {
    let desk = desk();
    let app = desk.start("gtk4-widget-factory", &[]);
    check(&desk, &mut desk.server(), &app, "", 300);
}

#[test]
fn gnome_calculator() {
    let desk = desk();
    let app = desk.start("gnome-calculator", &[]);
    check(&desk, &mut desk.server(), &app, "Calculator", 50);
}

#[test]
fn mousepad() {
    let desk = desk();
    let app = desk.start("mousepad", &[]);
    check(&desk, &mut desk.server(), &app, "Mousepad", 100);
}

#[test]
fn kcalc() {
    let desk = desk();
    let app = desk.start("kcalc", &[]);
    check(&desk, &mut desk.server(), &app, "KCalc", 50);
}

/// Qt tells of no widget that a program makes while it runs.
#[test]
fn what_featherpad_makes_while_it_runs() {
    let desk = desk();
    let app = desk.start("featherpad", &["--standalone"]);
    let mut server = desk.server();
    let uid = server.ready(&app, "Untitled", 150);
    for (keys, what, role, least) in [
        ("ctrl+n", "a second tab", "page tab", 2),
        ("ctrl+f", "the field to search", "text", 2),
        ("ctrl+alt+p", "the pane at the side", "list", 1),
        ("ctrl+n", "a third row in the pane", "list item", 3),
    ] {
        check_tree(&desk, &mut server, &app, (&uid, "before"), 150);
        server.ok("press_key", json!({"keys": keys, "window_uid": uid}));
        until(what, || {
            let shown = desk.brief_walk(&app);
            (shown.iter().filter(|node| node["role"] == role).count() >= least).then_some(())
        });
        check_tree(&desk, &mut server, &app, (&uid, what), 150);
    }
}

#[test]
fn zenity() {
    let desk = desk();
    let app = desk.start("zenity", &["--forms", "--title=Form", "--text=Fill in", "--add-entry=Name"]);
    check(&desk, &mut desk.server(), &app, "Form", 5);
}

#[test]
fn two_windows_of_one_kind_are_not_mixed_up() {
    let desk = desk();
    let mut server = desk.server();
    let first = desk.start("zenity", &["--entry", "--title=First", "--text=Alpha"]);
    let second = desk.start("zenity", &["--entry", "--title=Second", "--text=Beta"]);
    for (app, title, text, other) in
        [(&first, "First", "Alpha", "Beta"), (&second, "Second", "Beta", "Alpha")]
    {
        let uid = server.ready(app, title, 4);
        let tree = server.tree(&uid);
        let has = |name: &str| tree.iter().any(|element| element["name"] == name);
        assert!(has(text) && !has(other), "{title}: {tree:?}");
        check(&desk, &mut server, app, title, 4);
    }
}

#[test]
fn a_window_without_elements_says_so_and_shows_no_other() {
    let desk = desk();
    let mut server = desk.server();
    let other = desk.start("zenity", &["--info", "--title=Other", "--text=Somebody else's"]);
    server.ready(&other, "Other", 3);
    let app = desk.start("xterm", &["-T", "Terminal"]);
    let uid = server.uid(&app, "Terminal");
    let reply = server.call("get_window_structure", serde_json::json!({"window_uid": uid, "depth": 64}));
    assert!(reply.to_string().contains("degraded"), "{reply}");
    assert!(!reply.to_string().contains("Somebody else's"), "{reply}");
}
