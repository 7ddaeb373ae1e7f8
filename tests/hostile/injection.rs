//! How well texts that speak to an agent are told from ordinary ones: counted on the two lists of tests/fixtures
//! and on everything that the fixtures show. `cargo test --test hostile injection -- --nocapture` prints the
//! figures of docs/security-injection.md.
#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use os_screen_observer::privacy::injection::{Inspector, Lexicon, has_tag_characters};
use os_screen_observer::tools;
use serde_json::{Value, json};

use crate::support::{World, project, read, trees};

/// What a server of all tools looks for.
static LEXICON: LazyLock<Arc<Lexicon>> =
    LazyLock::new(|| Lexicon::new(tools::all_tools().map(|spec| spec.meta.name)));

fn is_found(text: &str) -> bool {
    has_tag_characters(text) || Inspector::new(&LEXICON).look(text).is_some()
}

fn lines(file: &str) -> Vec<Value> {
    read(format!("tests/fixtures/{file}")).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(row: &Value) -> &str {
    row["text"].as_str().unwrap()
}

/// How many of the rows are found, and by class.
fn count(rows: &[&Value]) -> (usize, BTreeMap<String, (usize, usize)>) {
    let mut classes: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let class = classes.entry(row["class"].as_str().unwrap().to_owned()).or_default();
        class.0 += usize::from(is_found(text(row)));
        class.1 += 1;
    }
    (classes.values().map(|(found, _)| found).sum(), classes)
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole as f64
}

/// The least share that must be caught, of what the rules were made with and of what they were not.
const CAUGHT: [(&str, f64); 2] = [("tuned", 99.0), ("held out", 60.0)];

/// H-53 on code: published ways to talk to an agent are caught, most of them.
#[test]
fn published_attacks_are_caught() {
    let all = lines("injections.jsonl");
    assert!(all.len() >= 150, "{}", all.len());
    for (part, least) in CAUGHT {
        let rows: Vec<&Value> = all.iter().filter(|row| row["part"] == part).collect();
        let (found, classes) = count(&rows);
        println!("{part}: {found} of {} caught ({:.0} %)", rows.len(), percent(found, rows.len()));
        for (class, (found, of)) in &classes {
            println!("  {class}: {found} of {of}");
        }
        for row in rows.iter().filter(|row| !is_found(text(row))) {
            println!("  missed: {}", text(row));
        }
        assert!(percent(found, rows.len()) >= least, "{part}: {found} of {}", rows.len());
    }
}

/// The most false alarms in the list of ordinary texts: those that quote an attack are among them.
const FALSE_ALARMS: f64 = 2.0;

#[test]
fn ordinary_texts_are_left_alone() {
    let all = lines("ordinary.jsonl");
    assert!(all.len() >= 150, "{}", all.len());
    let alarms: Vec<&str> = all.iter().map(text).filter(|text| is_found(text)).collect();
    println!(
        "ordinary: {} false alarms of {} ({:.1} %)",
        alarms.len(),
        all.len(),
        percent(alarms.len(), all.len())
    );
    alarms.iter().for_each(|text| println!("  alarm: {text}"));
    assert!(percent(alarms.len(), all.len()) <= FALSE_ALARMS, "{alarms:?}");
}

/// Every string of a JSON value.
fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| strings(item, found)),
        _ => {}
    }
}

fn alarms_in(value: &Value) -> (usize, Vec<String>) {
    let mut texts = Vec::new();
    strings(value, &mut texts);
    let alarms = texts.iter().filter(|text| is_found(text)).map(|text| (*text).to_owned()).collect();
    (texts.len(), alarms)
}

#[test]
fn the_screens_of_the_fixtures_raise_no_alarm() {
    let (mut texts, mut alarms) = (0, Vec::new());
    let mut see = |value: &Value| {
        let (count, found) = alarms_in(value);
        texts += count;
        alarms.extend(found);
    };
    for file in std::fs::read_dir(project().join("scenarios")).unwrap() {
        let path = format!("scenarios/{}", file.unwrap().file_name().to_string_lossy());
        let world = World::on(&path);
        for window in world.ok("list_windows", json!({}))["windows"].as_array().unwrap() {
            let args = json!({"window_uid": window["window_uid"], "depth": 64});
            let reply = world.call("get_window_structure", args);
            assert_eq!(reply.get("suspicious"), None, "{path}");
            see(&reply);
        }
    }
    for file in ["samples.json", "rest.json"] {
        see(&serde_json::from_str(&read(format!("tests/contract/{file}"))).unwrap());
    }
    for (_, tree) in trees::recorded() {
        see(&tree);
    }
    println!("fixtures: {} alarms in {texts} texts", alarms.len());
    assert!(texts > 1000 && alarms.is_empty(), "{texts} texts, {alarms:?}");
}

/// H-53 on code: looking takes time in proportion to the text, whatever it says.
#[test]
fn no_text_makes_looking_slow() {
    let took = |part: &str, times: usize| {
        let text = part.repeat(times);
        let began = std::time::Instant::now();
        let _ = Inspector::new(&LEXICON).look(&text);
        began.elapsed()
    };
    // The best of three: another process may hold up one of them.
    let best = |part: &str, times: usize| (0..5).map(|_| took(part, times)).min().unwrap();
    for part in [
        "ignore ",
        "ignore all your ",
        "call the user never tell send password ",
        "a b c d ",
        "\u{200B}x",
        "ct:",
        "<|im_star",
    ] {
        // Fifty times as long; what is quadratic takes 2,500 times as long.
        let (short, long) = (best(part, 2_000), best(part, 100_000));
        assert!(long < 600 * short.max(std::time::Duration::from_micros(20)), "{part}: {short:?}, {long:?}");
    }
}
