//! GTK 4 and Qt by a thing that people do: a sum, by clicks.

use serde_json::{Value, json};

use crate::desk::{Stage, desk};

fn press(stage: &mut Stage<'_>, names: &[&str]) {
    for name in names {
        let element = stage.server.element(&stage.uid, "Button", name);
        stage.ok("click_element", json!({"element_id": element["id"]}));
    }
}

fn says(node: &Value, expected: &str) -> bool {
    [&node["text"], &node["name"]]
        .iter()
        .any(|text| text.as_str().is_some_and(|text| text.trim() == expected))
}

/// Its buttons have names and labels, and GTK 4 makes one name of both.
#[test]
fn gnome_calculator_multiplies() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gnome-calculator", &[], "Calculator", 50);
    press(&mut stage, &["7", "×", "6", "="]);
    desk.until_any(&stage.app, "42 in the calculator", |node| says(node, "42"));
}

#[test]
fn kcalc_adds() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "kcalc", &[], "KCalc", 50);
    press(&mut stage, &["8", "+", "5", "="]);
    desk.until_any(&stage.app, "13 in the calculator", |node| says(node, "13"));
}

#[test]
fn kcalc_is_typed_into() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "kcalc", &[], "KCalc", 50);
    stage.server.ok("type_text", json!({"text": "6*7="}));
    desk.until_any(&stage.app, "42 in the calculator", |node| says(node, "42"));
}
