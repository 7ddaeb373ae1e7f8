//! Dates and numbers in Firefox: a field of a date takes it in parts, and what selects the text of a field elsewhere selects
//! all of the page there. What the page got is in its title.

use serde_json::{Value, json};

use crate::desk::{Stage, desk, until};

const PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Dates</title>\
    <label>Day <input type=date oninput=\"document.title='day '+this.value\"></label>\
    <label>Old <input type=date value=2020-02-03 oninput=\"document.title='old '+this.value\"></label>\
    <label>Crew <input type=number value=3></label>\
    <script>document.addEventListener('selectionchange',()=>{if(String(getSelection()).includes('Crew'))\
    document.title='all of the page is selected'})</script></html>";

#[test]
fn a_date_arrives_as_it_was_given_or_nothing_changes() {
    let desk = desk();
    let page = desk.write("dates.html", PAGE);
    let profile = desk.home().join("firefox-dates");
    std::fs::create_dir_all(&profile).unwrap();
    let address = format!("file://{}", page.display());
    let arguments = ["--no-remote", "--profile", profile.to_str().unwrap(), &address];
    let mut stage = Stage::new(&desk, "firefox-esr", &arguments, "Dates", 20);
    let told = |stage: &mut Stage, text: &str| {
        until(text, || {
            let windows = stage.server.windows();
            let is_told =
                |window: &Value| window["title"].as_str().is_some_and(|title| title.starts_with(text));
            windows.iter().any(is_told).then_some(())
        });
    };
    let field =
        |name: &str, value: &str| json!({"selector": format!("//Edit[name=\"{name}\"]"), "value": value});
    stage.server.element(&stage.uid, "Edit", "Day");
    let set = stage.ok("set_value", field("Day", "2026-11-05"));
    assert_eq!(set["verified"], true, "{set}");
    told(&mut stage, "day 2026-11-05");
    let set = stage.ok("set_value", field("Old", "2024-02-29"));
    assert_eq!(set["verified"], true, "{set}");
    told(&mut stage, "old 2024-02-29");
    // What is no date is refused, and so is one that is typed into a part.
    let mut wrong = field("Old", "29/02/2024");
    wrong["window_uid"] = json!(stage.uid);
    assert_eq!(stage.server.call("set_value", wrong)["error"]["code"], "BadRequest");
    stage.ok("focus_element", json!({"selector": "//Edit[name=\"Old\"]//*[name=\"Year\"]"}));
    let typed = stage.server.call("type_text", json!({"text": "2025-01-02", "window_uid": stage.uid}));
    assert_eq!(typed["error"]["code"], "PatternUnsupported", "{typed}");
    told(&mut stage, "old 2024-02-29");
    let steps = json!([{"do": "set_value", "selector": "//Edit[name=\"Day\"]", "value": "2027-12-31"}]);
    let acted = stage.server.ok("act", json!({"steps": steps, "window_uid": stage.uid}));
    assert_eq!(acted["verdict"], "confirmed", "{acted}");
    told(&mut stage, "day 2027-12-31");
    // One part alone, and a number: each replaces what its own field holds, and nothing else is selected.
    stage.ok("set_value", json!({"selector": "//Edit[name=\"Old\"]//*[name=\"Month\"]", "value": "3"}));
    told(&mut stage, "old 2024-03-29");
    let set = stage.ok("set_value", json!({"selector": "//Spinner[name=\"Crew\"]", "value": "7"}));
    assert_eq!(set["verified"], true, "{set}");
    told(&mut stage, "old 2024-03-29");
}
