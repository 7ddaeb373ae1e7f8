//! Finding by words, and what a selector that finds nothing says.

use crate::support::World;
use serde_json::{Value, json};

fn best(world: &World, args: Value) -> Value {
    let found = world.ok("find", args);
    found["matches"].get(0).cloned().unwrap_or(Value::Null)
}

#[test]
fn a_match_has_what_is_needed_to_go_on() {
    let world = World::on("scenarios/form.yaml");
    let found = best(&world, json!({"text": "company card"}));
    assert_eq!((&found["role"], &found["name"]), (&json!("RadioButton"), &json!("Company card")));
    assert_eq!(found["path"], "Group \"Paid by\"");
    assert_eq!(found["before"], "RadioButton \"My own money\" {checked}");
    assert_eq!(found["after"], "Slider \"Urgency\" =2");
    assert_eq!(found["score"], 1.0);
    world.ok("click_element", json!({"ref": found["ref"]}));
}

#[test]
fn all_windows_are_searched_unless_one_is_named() {
    let world = World::new();
    let everywhere = world.ok("find", json!({"role": "window", "limit": 50}));
    assert_eq!(everywhere["searched"]["windows"], 3);
    let windows = world.ok("list_windows", json!({}));
    let uid = &windows["windows"][1]["window_uid"];
    let one = world.ok("find", json!({"role": "window", "window_uid": uid}));
    assert_eq!(one["searched"]["windows"], 1);
    assert!(one["matches"].as_array().unwrap().iter().all(|found| found["window_uid"] == *uid), "{one}");
    assert_eq!(world.code("find", json!({"text": "a", "window_uid": "gone"})), "WindowGone");
}

#[test]
fn what_is_disabled_or_out_of_view_says_so() {
    let world = World::on("scenarios/form.yaml");
    assert_eq!(best(&world, json!({"text": "print"}))["disabled"], true);
    let exact = best(&world, json!({"text": "meals"}));
    assert!(exact["score"].as_f64().unwrap() < 1.0, "an option of a closed box counts less: {exact}");
}

#[test]
fn nothing_to_look_for_is_refused_and_nothing_found_is_said() {
    let world = World::new();
    for args in [json!({}), json!({"text": "  "})] {
        assert_eq!(world.code("find", args), "BadRequest");
    }
    let none = world.ok("find", json!({"text": "xyzzy"}));
    assert_eq!(none["count"], 0);
    assert!(none["warning"].as_str().unwrap().contains("call look"), "{none}");
}

#[test]
fn the_limit_says_how_many_more_there_are() {
    let world = World::on("scenarios/long-list.yaml");
    let found = world.ok("find", json!({"text": "person", "limit": 3}));
    assert_eq!(found["count"], 3);
    assert!(found["not_listed"].as_u64().unwrap() > 400, "{}", found["not_listed"]);
}

/// Wherever a selector can stand, a miss names the step that broke and what is near.
#[test]
fn a_selector_that_fails_is_explained_everywhere() {
    let world = World::on("scenarios/login.yaml");
    let selector = "Window/Buton[name=\"Login\"]";
    for (tool, args) in [
        ("find_element", json!({"selector": selector})),
        ("click_element", json!({"selector": selector})),
        ("set_value", json!({"selector": selector, "value": "x"})),
        ("drag", json!({"from": {"selector": selector}, "to": {"x": 1, "y": 1}})),
    ] {
        let error = world.call(tool, args)["error"].clone();
        assert_eq!(error["context"]["broken_step"], "Buton[name=\"Login\"]", "{tool}: {error}");
        assert!(error["context"]["nearest"][0]["ref"].is_string(), "{tool}: {error}");
    }
    let predicates = json!([{"kind": "element_exists", "selector": selector}, {"kind": "value_equals", "selector": selector, "expected": "x"}]);
    let verdicts = world.ok("assert_state", json!({"predicates": predicates}))["results"].clone();
    assert!(verdicts[0]["observed"]["miss"].as_str().unwrap().contains("step 2"), "{verdicts}");
    let told = verdicts[1]["observed"].as_str().unwrap();
    assert!(told.contains("step 2") && told.contains("nearest is"), "{told}");
    let timeout = world.call(
        "wait_for",
        json!({"any_of": [{"type": "element_appears", "selector": selector}], "timeout_ms": 1}),
    );
    assert!(timeout.to_string().contains("nearest"), "{timeout}");
}

/// An agent's model reads a line for each match, as `look` shows it.
#[test]
fn a_model_reads_lines() {
    let check = |scenario: &str, args: Value, expected: &[&str]| {
        let world = World::for_agent(Some(scenario));
        let lines = world.lines("find", args);
        assert_eq!(lines.lines().collect::<Vec<_>>(), expected, "{scenario}");
    };
    let form = "scenarios/form.yaml";
    check(form, json!({"text": "company card"}), &["e1 RadioButton \"Company card\" @490,352 150x24"]);
    check(form, json!({"text": "xyzzy"}), &["warning: no match; call look to see what is there"]);
    let world = World::for_agent(Some("scenarios/long-list.yaml"));
    let lines = world.lines("find", json!({"text": "person", "limit": 3}));
    assert_eq!(lines.lines().count(), 4, "{lines}");
    assert!(lines.lines().last().unwrap().ends_with(" more match"), "{lines}");
    let few = world.lines("find", json!({"text": "person", "limit": 50, "max_tokens": 100}));
    assert!(few.len() / 3 <= 110 && few.contains(" more match"), "{few}");
    let reply = World::on("scenarios/long-list.yaml").mcp("find", json!({"text": "person"}));
    assert!(reply.lines().is_none() && reply.value()["matches"][0]["score"].is_number(), "the full profile");
}

/// Of two that read the same, and in several windows, the line says which it is.
#[test]
fn a_line_says_which_of_two_it_is() {
    let world = World::for_agent(None);
    let lines = world.lines("find", json!({"role": "window", "limit": 50}));
    assert!(lines.lines().count() >= 3 && lines.lines().all(|line| line.contains(" in ")), "{lines}");
    let group = |name: &str, y: i32| {
        let place = |y: i32| format!("{{x: 9, y: {y}, width: 90, height: 20}}");
        format!(
            "            - {{role: Group, name: {name}, bounds: {}, children: [{{role: Button, name: Delete, bounds: {}}}]}}\n",
            place(y),
            place(y)
        )
    };
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    let window = "name: people\nstates:\n  only:\n    windows:\n      - uid: mock:people\n        title: People\n        \
                  process: people\n        pid: 7\n        bounds: {x: 0, y: 0, width: 400, height: 400}\n        \
                  tree:\n          role: Window\n          name: People\n          children:\n";
    std::fs::write(file.path(), format!("{window}{}{}", group("Ada", 20), group("Bob", 60))).unwrap();
    let lines = World::for_agent(file.path().to_str()).lines("find", json!({"text": "delete"}));
    let expected = [
        "e1 Button \"Delete\" @9,20 90x20 of Group \"Ada\"",
        "e2 Button \"Delete\" @9,60 90x20 of Group \"Bob\"",
    ];
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected);
}
