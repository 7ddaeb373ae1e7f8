//! One call to see: windows, elements with refs, and what is new.

use crate::support::World;
use os_screen_observer::tokens::{Writing, tokens_for_bytes};
use serde_json::{Value, json};

/// The lines that a look shows, and the rest of its reply.
fn look(world: &World, args: Value) -> (String, Value) {
    let reply = world.reply("look", args);
    assert!(reply.ok(), "{}", reply.text());
    (reply.outline.clone().unwrap(), serde_json::from_str(&reply.json_text()).unwrap())
}

#[test]
fn windows_and_the_elements_of_the_focused_one_are_shown() {
    let world = World::on("scenarios/login.yaml");
    let (text, reply) = look(&world, json!({}));
    insta::assert_snapshot!(text);
    assert_eq!(reply["window_uid"], "mock:app");
    assert!(reply.get("since_last_look").is_none(), "the first look has nothing to compare with: {reply}");
}

#[test]
fn a_second_look_says_what_is_new() {
    let world = World::on("scenarios/login.yaml");
    let (first, _) = look(&world, json!({}));
    assert_eq!(look(&world, json!({})).0, first, "either that nothing changed, or all of it");
    world.ok("set_value", json!({"selector": "//Edit[name=\"Username\"]", "value": "alice"}));
    let (text, reply) = look(&world, json!({}));
    insta::assert_snapshot!(text);
    assert_eq!(reply["since_last_look"], json!({"added": 0, "removed": 0, "changed": 1}));
}

#[test]
fn changes_alone_leave_the_rest_out() {
    let world = World::on("scenarios/login.yaml");
    let (first, _) = look(&world, json!({"changes": true}));
    assert!(first.contains("Password"), "nothing was shown yet, so all is: {first}");
    world.ok("set_value", json!({"selector": "//Edit[name=\"Username\"]", "value": "alice"}));
    let (text, _) = look(&world, json!({"changes": true}));
    assert!(text.contains("=alice") && !text.contains("Password"), "{text}");
}

#[test]
fn a_part_is_shown_by_its_ref_and_is_no_look_at_the_whole() {
    let world = World::on("scenarios/form.yaml");
    let group = world.ok("find", json!({"text": "Paid by"}))["matches"][0]["ref"].clone();
    let (text, _) = look(&world, json!({"ref": group}));
    assert!(text.contains("Company card") && !text.contains("Urgency"), "{text}");
    let (_, reply) = look(&world, json!({}));
    assert!(reply.get("since_last_look").is_none(), "{reply}");
    assert_eq!(world.code("look", json!({"ref": "x1"})), "BadRequest");
    assert_eq!(world.code("look", json!({"ref": "e999"})), "ElementNotFound");
}

/// A look with little room keeps to it, and `next` leads through all lines.
#[test]
fn pages_make_the_whole() {
    let world = World::on("scenarios/long-list.yaml");
    let (whole, reply) = look(&world, json!({"max_tokens": 100_000}));
    assert!(reply.get("truncated").is_none() && reply.get("next").is_none(), "{reply}");
    let mut seen = String::new();
    let mut after = Value::Null;
    for _ in 0..100 {
        let (text, reply) = look(&world, json!({"max_tokens": 500, "after": after}));
        assert!(tokens_for_bytes(Writing::Outline, text.len()) <= 500, "{} bytes", text.len());
        seen.push_str(&text);
        match reply.get("next") {
            Some(next) => after = next.clone(),
            None => break,
        }
        assert_eq!(reply["truncated"], true);
    }
    for line in whole.lines().filter(|line| line.contains("ListItem")) {
        let name = line.split('"').nth(1).unwrap();
        assert!(seen.contains(&format!("\"{name}\"")), "{name} is on no page");
    }
    assert_eq!(world.code("look", json!({"after": "root.999.9"})), "BadRequest");
}

#[test]
fn many_windows_are_counted_where_they_do_not_fit() {
    let world = World::new();
    let (text, reply) = look(&world, json!({"max_tokens": 200}));
    let shown = text.lines().filter(|line| line.starts_with("mock:")).count();
    assert!(text.starts_with("mock:0"), "the window that is shown comes first: {text}");
    assert_eq!(shown + reply["windows_left_out"].as_u64().unwrap_or(0) as usize, 3, "{text} {reply}");
}

#[test]
fn secrets_are_hidden_in_lines_and_titles() {
    let config = json!({"redaction": {"enabled": true, "window_title_patterns": ["Acme"]}});
    let world = World::build(Some("scenarios/login.yaml"), config);
    world.ok("set_value", json!({"selector": "Window/Edit[index=1]", "value": "hunter2"}));
    let (text, reply) = look(&world, json!({}));
    assert!(!text.contains("hunter2") && !text.contains("<filled>"), "{text}");
    assert!(!text.contains("Acme") && !reply.to_string().contains("Acme"), "{text} {reply}");
}

#[test]
fn a_picture_comes_beside_the_lines_and_counts() {
    let world = World::build(Some("scenarios/form.yaml"), json!({"budgets": {"max_screenshots": 3}}));
    let plain = world.reply("look", json!({"picture": "plain"}));
    assert!(plain.picture.is_some() && plain.value()["image_id"].is_string(), "{}", plain.text());
    let (text, reply) = look(&world, json!({"picture": "marks"}));
    let marks = text.lines().find_map(|line| line.strip_prefix("marks: ")).unwrap();
    for pair in marks.split(' ') {
        let reference = pair.split_once('=').unwrap().1;
        let stands = |line: &str| line.split_whitespace().next() == Some(reference);
        assert!(text.lines().any(stands), "{reference} of {marks} has no line in {text}");
    }
    assert!(reply.get("grid").is_none(), "{reply}");
    let (_, grid) = look(&world, json!({"picture": "grid"}));
    world.ok("click_at", json!({"image": grid["image_id"], "row": 2, "col": 3}));
    assert_eq!(world.code("look", json!({"picture": "plain"})), "BudgetExceeded");
    look(&world, json!({}));
}

#[test]
fn a_picture_is_asked_for_in_detail_as_of_a_screenshot() {
    let world = World::on("scenarios/form.yaml");
    let region = json!({"x": 300, "y": 120, "width": 200, "height": 100});
    let args = json!({"grid": {"rows": 4, "cols": 5}, "region": region, "format": "jpeg", "quality": 70});
    let reply = world.reply("look", args);
    let facts = reply.value();
    assert_eq!((&facts["source_bbox"], &facts["grid"]["rows"]), (&region, &json!(4)), "{facts}");
    let picture = reply.picture.unwrap();
    assert_eq!((picture.width, picture.height, &picture.bytes[..2]), (200, 100, &[0xff, 0xd8][..]));
    let (_, fitted) = look(&world, json!({"picture": "grid", "max_tokens": 400}));
    assert!(fitted["dropped"].is_object(), "the lines make room for what is said of the picture: {fitted}");
    assert!(look(&world, json!({"marks": true})).0.contains("marks: 1="));
    assert!(world.reply("look", json!({"marks": false})).picture.is_none());
    assert_eq!(world.code("look", json!({"format": "png", "quality": 3})), "BadRequest");
}
