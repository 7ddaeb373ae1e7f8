//! What replies cost: the estimates against a real tokenizer, replies that are fitted, and what was sent so far.

use crate::support::{World, trees};
use os_screen_observer::observer::Refs;
use os_screen_observer::observer::describe;
use os_screen_observer::observer::identity::WindowCapture;
use os_screen_observer::observer::outline::{OutlineOptions, outline_tree};
use os_screen_observer::observer::sketch::{SketchOptions, SketchReading, draw_sketch};
use os_screen_observer::tokens::{Writing, tokens_for_bytes};
use serde_json::{Value, json};

/// One tree in every way of writing.
fn writings(json: &Value) -> Vec<(Writing, String)> {
    let tree = trees::tree(json);
    let (refs, window) = (Refs::default(), trees::window("w"));
    let view = trees::view(tree.clone());
    let sight = WindowCapture { window: &window, view: &view };
    let shown = |nodes: &[usize]| refs.assign_refs(sight, nodes.iter().copied());
    vec![
        (Writing::Json, json.to_string()),
        (Writing::Outline, outline_tree(&tree, &OutlineOptions::default(), shown).text),
        (Writing::Words, describe::describe_tree(&window, &tree, 0)),
        (
            Writing::Sketch,
            draw_sketch(&tree, tree.root().bounds, &SketchOptions::default(), &SketchReading::default()).text,
        ),
    ]
}

#[test]
fn estimates_are_near_a_real_tokenizer() {
    let tokenizer = tiktoken_rs::o200k_base_singleton();
    let all: Vec<(Writing, String)> = (trees::recorded().into_iter().chain(trees::of_scenarios()))
        .flat_map(|(_, json)| writings(&json))
        .collect();
    let mut told = Vec::new();
    for writing in Writing::ALL {
        let texts = all.iter().filter(|(other, _)| *other == writing).map(|(_, text)| text);
        let (mut bytes, mut real, mut estimated) = (0, 0, 0);
        for text in texts {
            bytes += text.len();
            real += tokenizer.encode_ordinary(text).len();
            estimated += tokens_for_bytes(writing, text.len());
        }
        let off = estimated as f64 / real as f64 - 1.0;
        told.push((
            format!(
                "{writing:?}: {bytes} bytes, {real} tokens, {estimated} estimated, {:.2} a token",
                bytes as f64 / real as f64
            ),
            off,
        ));
    }
    let words: Vec<&String> = told.iter().map(|(line, _)| line).collect();
    assert!(told.iter().all(|(_, off)| off.abs() <= 0.15), "{words:#?}");
}

fn real_tokens(reply: &os_screen_observer::gate::Reply) -> usize {
    let tokenizer = tiktoken_rs::o200k_base_singleton();
    let outline = reply.outline.as_deref().unwrap_or_default();
    tokenizer.encode_ordinary(&reply.json_text()).len() + tokenizer.encode_ordinary(outline).len()
}

/// A reply that must be cut, be marked, and be near what was asked for by a real count.
#[track_caller]
fn check_fits(world: &World, tool: &str, args: Value, most: usize) -> Value {
    let mut fitted = args.clone();
    fitted["max_tokens"] = json!(most);
    let whole = real_tokens(&world.reply(tool, args));
    assert!(whole > most, "{tool}: {whole} tokens need no fitting");
    let reply = world.reply(tool, fitted);
    assert!(reply.ok(), "{}", reply.text());
    let real = real_tokens(&reply);
    assert!(real as f64 <= most as f64 * 1.15, "{tool}: {real} tokens, not {most}: {}", reply.text());
    reply.value()
}

#[test]
fn every_reading_tool_fits_its_reply() {
    let world = World::on("scenarios/dense.yaml");
    let tree = check_fits(&world, "get_window_structure", json!({"depth": 8}), 3000);
    assert_eq!(tree["depth_truncated"], true);
    let outline = check_fits(&world, "get_window_structure", json!({"format": "outline"}), 1000);
    assert_eq!(outline["truncated"], true);
    assert!(outline["next_cursor"].is_string());
    for (tool, args, most) in [
        ("find_element", json!({"selector": "//DataItem"}), 300),
        ("find", json!({"role": "button", "limit": 50}), 800),
        ("get_screen_sketch", json!({}), 900),
        ("observe_window", json!({}), 2000),
        ("observe_window", json!({"format": "outline"}), 1000),
        ("snapshot_get", json!({"snapshot_id": "now"}), 5000),
    ] {
        let reply = check_fits(&world, tool, args, most);
        let marked = reply["truncated"] == true || reply["next_cursor"].is_string();
        assert!(marked, "{tool} does not say that it was cut: {reply}");
    }
    let desktop = World::new();
    let windows = check_fits(&desktop, "list_windows", json!({}), 150);
    assert_eq!(windows["dropped"][0]["path"], "/windows");
    assert_eq!(windows["dropped"][0]["of"], 3);
    let enough = windows["more"]["max_tokens"].clone();
    assert_eq!(desktop.ok("list_windows", json!({"max_tokens": enough})).get("truncated"), None);
}

#[test]
fn what_was_sent_is_told_by_tool() {
    let world = World::new();
    let first = world.reply("list_windows", json!({}));
    world.ok("list_windows", json!({}));
    let sent = world.ok("get_budget_status", json!({}))["sent"].clone();
    let windows = &sent["by_tool"]["list_windows"];
    assert_eq!(windows["calls"], 2);
    assert_eq!(windows["bytes"], 2 * first.text().len());
    assert!(windows["tokens"].as_u64().unwrap() > 100, "{sent}");
    assert_eq!(sent["bytes"], windows["bytes"]);
}
