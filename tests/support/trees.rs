//! Trees of real programs, recorded as get_window_structure writes them, and trees of the scenarios.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use os_screen_observer::model::{Element, Range, Rect, Tree, TreeBuilder, Window};
use os_screen_observer::observer::View;
use serde_json::Value;

use super::{World, project, read};

/// Every recorded tree, with the name of its program.
pub fn recorded() -> Vec<(String, Value)> {
    let folder = project().join("tests/fixtures/trees");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let tree = serde_json::from_str(&read(format!("tests/fixtures/trees/{name}"))).unwrap();
            (name.trim_end_matches(".json").to_owned(), tree)
        })
        .collect()
}

/// The first window of every scenario, and of the default desktop.
pub fn of_scenarios() -> Vec<(String, Value)> {
    scenarios()
        .into_iter()
        .map(|(name, file)| {
            let world = World::build(file.as_deref(), whole_depth());
            (name, world.ok("get_window_structure", serde_json::json!({"depth": 64}))["tree"].clone())
        })
        .collect()
}

pub fn whole_depth() -> Value {
    serde_json::json!({"tree": {"max_depth": 64}})
}

/// Name and file; the default desktop has none.
pub fn scenarios() -> Vec<(String, Option<String>)> {
    let mut names: Vec<String> = std::fs::read_dir(project().join("scenarios"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    let files = names
        .into_iter()
        .map(|name| (name.trim_end_matches(".yaml").to_owned(), Some(format!("scenarios/{name}"))));
    std::iter::once(("default".to_owned(), None)).chain(files).collect()
}

/// The contract's node JSON as a tree.
pub fn tree(json: &Value) -> Tree {
    let mut builder = TreeBuilder::new(element(json));
    add_children(&mut builder, json);
    builder.finish()
}

fn add_children(builder: &mut TreeBuilder, json: &Value) {
    for child in json["children"].as_array().unwrap() {
        builder.open(element(child));
        add_children(builder, child);
        builder.close();
    }
}

fn element(json: &Value) -> Element {
    let text = |key: &str| json[key].as_str().map(str::to_owned);
    let flag = |key: &str| json[key].as_bool();
    Element {
        role: text("role").unwrap().into(),
        name: text("name").unwrap(),
        value: text("value"),
        bounds: serde_json::from_value::<Rect>(json["bounds"].clone()).unwrap(),
        enabled: flag("enabled").unwrap(),
        focused: flag("focused").unwrap(),
        selected: flag("selected"),
        expanded: flag("expanded"),
        range: Range {
            now: json["value_now"].as_f64(),
            min: json["value_min"].as_f64(),
            max: json["value_max"].as_f64(),
        },
        shortcut: text("keyboard_shortcut"),
        description: text("description"),
        identifier: text("identifier"),
        editable: flag("editable").unwrap_or(false),
        hidden: flag("offscreen").unwrap_or(false),
        native: text("id"),
        ..Element::default()
    }
}

/// A look at a tree that hides nothing.
pub fn view(tree: Tree) -> View {
    let tree = Arc::new(tree);
    View::new(tree.clone(), tree, Duration::ZERO, SystemTime::UNIX_EPOCH)
}

pub fn window(title: &str) -> Window {
    Window {
        uid: "w".to_owned(),
        handle: String::new(),
        title: title.to_owned(),
        process: "p".to_owned(),
        pid: 1,
        bounds: Rect::default(),
        focused: true,
        minimized: false,
        url: None,
    }
}
