//! Small inputs that would grow: scenarios, patterns, selectors, trees, waits, schemas.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use os_screen_observer::clock::Clock;
use os_screen_observer::config::limits;
use os_screen_observer::model::{Element, Rect, Tree, TreeBuilder};
use serde_json::{Value, json};

#[cfg(feature = "http")]
use crate::everywhere::{ACCEPT, Everywhere};
use crate::everywhere::{Odd, by_act, by_gate, by_replay, callables, odd_app};
#[cfg(feature = "http")]
use crate::support::http::{JSON, Site};
use crate::support::{Client, World};

/// Far above what any of this takes, far below what an explosion takes.
const SOON: Duration = Duration::from_secs(10);

#[track_caller]
fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    assert!(began.elapsed() < SOON, "{what:.80} took {:?}", began.elapsed());
    done
}

// ── scenarios ──────────────────────────────────────────────────────────────────────────────────────

fn aliases_of_aliases() -> String {
    let mut bomb = String::from("oracles:\n  success:\n    - kind: k\n      a0: &a0 [x, x, x, x]\n");
    for level in 1..=10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("      a{level}: &a{level} [{aliases}]\n"));
    }
    bomb
}

/// Files that no scenario may be, each with a word of the complaint.
fn scenario_bombs() -> Vec<(&'static str, String, &'static str)> {
    let one = "windows: [{uid: 'a:1', title: A, tree: {role: Window, children: [{role: Button, id: b}]}}]";
    vec![
        ("aliases.yaml", aliases_of_aliases(), "too many nodes"),
        ("itself.yaml", "states: &s {a: *s}\n".to_owned(), "itself.yaml:1:"),
        ("deep.yaml", format!("states: {}", "{a: ".repeat(100_000)), "deep.yaml:1:"),
        ("list.yaml", "[".repeat(100_000), "list.yaml:1:"),
        ("large.yaml", "# ".repeat(25 << 20), "1048576 bytes"),
        ("empty.yaml", String::new(), "no states"),
        ("twice.yaml", format!("states:\n  a: {{{one}}}\n  a: {{{one}}}\n"), "twice"),
        (
            "nowhere.yaml",
            format!("states:\n  a: {{{one}}}\nreactions:\n  - {{on: {{tool: click_element, target_id: b}}, transition_to: c}}\n"),
            "nowhere.yaml:4:",
        ),
        (
            "same.yaml",
            "states: {a: {windows: [{uid: 'a:1', tree: {children: [{id: b}, {id: b}]}}]}}".to_owned(),
            "same.yaml:1:",
        ),
        ("million.yaml", "states: {a: {windows: [{uid: 'a:1', tree: {children: [{repeat: {count: 1000000}}]}}]}}".to_owned(), "million.yaml:1:"),
        (
            "nested.yaml",
            "states: {a: {windows: [{uid: 'a:1', tree: {children: [{repeat: {count: 1000}, children: [{repeat: {count: 1000}, children: [{repeat: {count: 1000}}]}]}]}}]}}".to_owned(),
            "nested.yaml:1:",
        ),
    ]
}

/// H-41, H-42 on stdio, REST, /mcp, replay: a file that would explode is refused with the place, and the desktop stays.
#[cfg(feature = "http")]
#[test]
fn scenario_bombs_are_refused_through_every_door() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Everywhere::with(json!({"scenarios": {"dirs": [folder.path()]}}));
    for (name, text, words) in scenario_bombs() {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let args = json!({"path": path});
        let answers = soon(name, || {
            [
                ("stdio", all.pipe.call("load_scenario", args.clone())),
                ("REST", all.site.post("/api/scenario/load", args.clone()).json()),
                ("/mcp", all.by_mcp("load_scenario", &args)),
            ]
        });
        for (surface, reply) in answers {
            assert_eq!(reply["error"]["code"], "ScenarioInvalid", "{surface} {name}: {reply:.300}");
            let message = reply["error"]["message"].as_str().unwrap();
            assert!(message.contains(words) && message.len() < 1_000, "{surface} {name}: {message:.300}");
        }
        let replayed = by_replay(&all.site.app, "load_scenario", &args).to_string();
        assert!(
            !replayed.contains("\"ok\":true") || replayed.contains("ScenarioInvalid"),
            "{name}: {replayed:.300}"
        );
    }
    assert_eq!(all.pipe.call("list_windows", json!({}))["count"], 3);
}

/// H-41, H-42 on start, terminal: a server or a check that is given such a file ends with the complaint.
#[test]
fn scenario_bombs_stop_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, words) in scenario_bombs() {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let file = path.to_str().unwrap();
        for args in [&["--mode", "mcp", "--mock", "--scenario", file][..], &["scenario", "check", file]] {
            let mut client = Client::start(args);
            let (status, _) = client.wait(SOON * 2).expect("the process did not end");
            assert_eq!(status.code(), Some(1), "{args:?}");
            let mut said = client.last_words();
            said.extend(client.printed());
            assert!(said.contains(words) && said.len() < 2_000, "{args:?}: {said:.500}");
        }
    }
}

// ── patterns ───────────────────────────────────────────────────────────────────────────────────────

/// Refused wherever a pattern can stand.
fn broken_patterns() -> Vec<String> {
    let mut broken: Vec<String> = [
        "(?:a{1000}){1000}",
        "((((a{100}){100}){100}){100})",
        r"(?:\w{100}){100}",
        "(?=a",
        "(?<!",
        r"(a)\1(",
        "(",
        ")",
        "[",
        "a{2,1}",
        "*",
        "(?P<n>a)(?P<n>b)",
        r"\p{Nope}",
        "(?z)",
    ]
    .map(str::to_owned)
    .to_vec();
    broken.push("(".repeat(500));
    broken.push("a".repeat(513));
    broken.push("a".repeat(10 << 10));
    broken
}

/// Taken, and fast on whatever they are held against.
const HEAVY: [&str; 6] =
    ["(a+)+$", "(x*)*y", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)z", "[a-z]{200}", "(?s)a.{0,400}b"];

type Place = (&'static str, fn(&str) -> Value);

/// Every place that takes a pattern, by the tool. Those that a schema names are counted by the next test.
const PLACES: &[Place] = &[
    ("get_window_structure", |pattern| json!({"name_regex": pattern})),
    ("window_action", |pattern| json!({"action": "minimize", "title_regex": pattern})),
    ("launch_app", |pattern| json!({"program": "calculator", "match": {"title_regex": pattern}})),
    ("ocr_find", |pattern| json!({"text": pattern, "match": "regex"})),
    ("click_text", |pattern| json!({"text": pattern, "match": "regex"})),
    ("wait_for", |pattern| json!({"any_of": [{"type": "text_visible", "regex": pattern}], "timeout_ms": 0})),
    (
        "wait_for",
        |pattern| json!({"any_of": [{"type": "window_appears", "title_regex": pattern}], "timeout_ms": 0}),
    ),
    (
        "wait_for",
        |pattern| json!({"any_of": [{"kind": "value_matches", "selector": "//Edit", "regex": pattern}], "timeout_ms": 0}),
    ),
    ("find_element", |pattern| json!({"selector": format!("//*[name~={}]", json!(pattern))})),
    ("find_element", |pattern| json!({"selector": format!("//*[value~={}]", json!(pattern))})),
    ("click_element", |pattern| json!({"selector": format!("//Button[name~={}]", json!(pattern))})),
    ("set_value", |pattern| json!({"selector": format!("//Edit[name~={}]", json!(pattern)), "value": "x"})),
];

/// Paths of arguments whose name says that they are patterns.
fn patterns_in_schemas() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for callable in callables() {
        for (path, _) in callable.arguments() {
            if path.contains("regex") || path.contains("pattern") {
                found.insert((callable.name.to_owned(), path));
            }
        }
    }
    found
}

/// H-43 on code: no argument that takes a pattern is forgotten by these tests.
#[test]
fn every_pattern_of_a_schema_is_tried() {
    for (tool, path) in patterns_in_schemas() {
        let tried = PLACES.iter().any(|(name, args)| {
            *name == tool && args("x").pointer(&format!("/{}", path.replace('.', "/"))).is_some()
        });
        assert!(tried, "{path} of {tool} is not tried");
    }
}

/// A pattern that is no pattern is an error wherever it stands; it never means "anything" or "nothing".
#[track_caller]
fn check_broken(surface: &str, tool: &str, pattern: &str, reply: &Value) {
    let text = reply.to_string();
    assert!(text.contains("BadRequest"), "{surface} {tool} {pattern:.60}: {text:.300}");
}

/// H-43 on code: every broken pattern at every place is refused, soon, and nothing is done.
#[test]
fn broken_patterns_are_refused_wherever_they_stand() {
    for (tool, args) in PLACES {
        let world = World::build(Some("scenarios/apps.yaml"), json!({}));
        for pattern in broken_patterns() {
            let reply = soon(&pattern, || world.call(tool, args(&pattern)));
            check_broken("the gate", tool, &pattern, &reply);
        }
        assert_eq!(world.effects(), 0, "{tool}");
    }
}

/// H-43 on stdio, REST, /mcp, act, replay: a broken pattern at every place, whichever way the call comes.
#[cfg(feature = "http")]
#[test]
fn broken_patterns_are_refused_on_every_surface() {
    let mut all = Everywhere::on(Some("scenarios/apps.yaml"));
    for (number, (tool, args)) in PLACES.iter().enumerate() {
        let broken = broken_patterns();
        let pattern = &broken[number % broken.len()];
        for (surface, reply) in all.all(tool, &args(pattern)) {
            check_broken(surface, tool, pattern, &reply);
        }
    }
    assert_eq!(all.effects(), 0);
}

/// H-43 on code: a claim with a broken pattern does not hold and says why, and an expectation with one stops
/// the list before it begins.
#[test]
fn a_claim_with_a_broken_pattern_is_no_claim() {
    let world = World::on("scenarios/login.yaml");
    for pattern in broken_patterns() {
        for claim in [
            json!({"kind": "text_visible", "regex": pattern}),
            json!({"kind": "window_exists", "title_regex": pattern}),
            json!({"kind": "window_focused", "title_regex": pattern}),
            json!({"kind": "value_matches", "selector": "//Edit", "regex": pattern}),
        ] {
            let reply = soon(&pattern, || world.call("assert_state", json!({"predicates": [claim]})));
            assert_ne!(reply["all_passed"], true, "{claim:.200}: {reply:.300}");
            assert!(reply.to_string().contains("BadRequest"), "{claim:.200}: {reply:.300}");
            let step = json!({"do": "press_key", "keys": "tab", "expect": [claim]});
            let listed = world.call("act", json!({"steps": [step]}));
            assert_eq!(listed["error"]["code"], "BadRequest", "{claim:.200}: {listed:.300}");
        }
    }
    assert_eq!(world.effects(), 0);
}

/// H-43 on clickthrough: the windows' patterns of that face are held to the same limits.
#[cfg(feature = "http")]
#[test]
fn broken_patterns_are_refused_by_clickthrough() {
    let site = Site::clickthrough(json!({}));
    for pattern in broken_patterns().into_iter().filter(|pattern| pattern.len() < 600) {
        let body = json!({"action": "minimize", "title_regex": pattern});
        let answer = soon(&pattern, || site.post("/windows/action", body));
        assert!([400, 422].contains(&answer.status), "{pattern:.60}: {answer:?}");
    }
    assert_eq!(site.mock.action_count(), 0);
}

/// Those that look around or back: on a megabyte they may be given up, which is an error and not a miss.
const HEAVIEST: [&str; 4] = [r"(a*)*(?=b)c", r"(\w+)\s\1z", "(?!.*b)ac", "(?<=a+)z"];

/// H-43 on code: what takes too long is said to, soon.
#[test]
fn patterns_that_try_every_way_are_given_up() {
    let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(80, 60, 800, 600)));
    let element = Element::new("Edit", "a".repeat(1 << 20), Rect::new(100, 100, 100, 20));
    tree.add_leaf(Element { value: Some("a".repeat(3000)), ..element });
    let clock = Clock::steered();
    let mut odd = Odd::new(&clock);
    odd.tree = Some(tree.finish());
    let (app, _folder) = odd_app(Arc::new(odd), clock, json!({}));
    for pattern in HEAVIEST {
        for (tool, args) in [
            ("wait_for", json!({"any_of": [{"type": "text_visible", "regex": pattern}], "timeout_ms": 0})),
            ("find_element", json!({"selector": format!("//*[value~={}]", json!(pattern))})),
            ("get_window_structure", json!({"name_regex": pattern, "prune_empty": true})),
        ] {
            let reply = soon(pattern, || by_gate(&app, tool, args)).to_string();
            assert!(reply.len() < 100_000, "{tool} {pattern}: {reply:.300}");
        }
    }
}

/// H-43 on code: what is allowed is fast, also against a megabyte of text.
#[test]
fn heavy_patterns_are_fast_on_a_megabyte() {
    let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(80, 60, 800, 600)));
    for letter in ["a", "x", "ab"] {
        let text = letter.repeat((1 << 20) / letter.len());
        let element = Element::new("Edit", text.clone(), Rect::new(100, 100, 100, 20));
        tree.add_leaf(Element { value: Some(text), ..element });
    }
    let clock = Clock::steered();
    let mut odd = Odd::new(&clock);
    odd.tree = Some(tree.finish());
    let (app, _folder) = odd_app(Arc::new(odd), clock, json!({}));
    for pattern in HEAVY {
        for (tool, args) in [
            ("wait_for", json!({"any_of": [{"type": "text_visible", "regex": pattern}], "timeout_ms": 0})),
            ("find_element", json!({"selector": format!("//*[value~={}]", json!(pattern))})),
            ("get_window_structure", json!({"name_regex": pattern, "prune_empty": true})),
        ] {
            let reply = soon(pattern, || by_gate(&app, tool, args));
            assert_ne!(reply["error"]["code"], "BadRequest", "{tool} {pattern}: {reply:.300}");
        }
    }
}

// ── selectors ──────────────────────────────────────────────────────────────────────────────────────

/// Refused wherever a selector can stand.
fn broken_selectors() -> Vec<String> {
    let mut broken: Vec<String> = [
        "Window[",
        "Window]",
        "Window[name=\"a]",
        "Window[name='a]",
        "Window[name=]",
        "Window[=\"a\"]",
        "//Button[index=-1]",
        "//Button[index=99999999999]",
        "//Button[index=1e3]",
        "//Button[index=x]",
        "Window:nth-of-type(0)",
        "Window:nth-of-type(99999999999)",
        "Window:has-text(",
        "",
        " ",
    ]
    .map(str::to_owned)
    .to_vec();
    broken.push(vec!["a"; 10_000].join("/"));
    broken.push("//*".repeat(33));
    broken.push("//*".repeat(500));
    broken.push("x".repeat(1 << 20));
    broken.push(format!("a{}", "[index=0]".repeat(200)));
    broken.push("(".repeat(2_000));
    broken.push("[".repeat(2_000));
    broken.push("\"".repeat(2_000));
    broken.push("\u{0}".to_owned());
    broken
}

/// H-45 on code: every broken selector, by every tool that takes one, is a bad request and does nothing.
#[test]
fn broken_selectors_are_refused_by_every_tool() {
    let mut tried = 0;
    for callable in callables() {
        let selectors: Vec<String> = callable
            .arguments()
            .into_iter()
            .map(|(path, _)| path)
            .filter(|path| path == "selector" || path.ends_with(".selector"))
            .collect();
        let world = World::build(callable.scenario, json!({}));
        for path in selectors {
            for selector in broken_selectors() {
                let mut args = callable.with(&path, json!(selector));
                // An element is named in one way.
                for other in ["ref", "element_id"] {
                    args.as_object_mut().unwrap().remove(other);
                }
                if let Some((outer, _)) = path.split_once('.') {
                    args[outer] = json!({"selector": selector});
                }
                let reply = soon(&selector, || world.call(callable.name, args));
                assert_eq!(
                    reply["error"]["code"], "BadRequest",
                    "{} {selector:.60}: {reply:.300}",
                    callable.name
                );
                tried += 1;
            }
        }
        assert_eq!(world.effects(), 0, "{}", callable.name);
    }
    assert!(tried > 200, "{tried}");
}

/// H-45 on stdio, REST, /mcp, act, replay: a broken selector is refused whichever way it comes.
#[cfg(feature = "http")]
#[test]
fn broken_selectors_are_refused_on_every_surface() {
    let mut all = Everywhere::on(Some("scenarios/login.yaml"));
    for selector in broken_selectors() {
        for (surface, reply) in all.all("click_element", &json!({"selector": selector})) {
            let text = reply.to_string();
            // A megabyte is more than a body may have; the door says so before the tool can.
            let refused =
                text.contains("BadRequest") || selector.len() > 1 << 19 && text.contains("PayloadTooLarge");
            assert!(refused, "{surface} {selector:.60}: {text:.300}");
        }
    }
    assert_eq!(all.effects(), 0);
}

/// H-45 on act: what is expected, claimed or waited for by a broken selector is refused before anything is done.
#[test]
fn broken_selectors_are_refused_in_claims_and_conditions() {
    let world = World::on("scenarios/login.yaml");
    for selector in broken_selectors() {
        let claim = json!({"kind": "element_exists", "selector": selector});
        let waited = world.call(
            "wait_for",
            json!({"any_of": [{"type": "element_appears", "selector": selector}], "timeout_ms": 0}),
        );
        assert_eq!(waited["error"]["code"], "BadRequest", "{selector:.60}: {waited:.300}");
        let claimed = world.call("assert_state", json!({"predicates": [claim]}));
        assert!(
            claimed["all_passed"] != true && claimed.to_string().contains("BadRequest"),
            "{claimed:.300}"
        );
        let step = json!({"do": "press_key", "keys": "tab", "expect": [claim]});
        assert_eq!(world.code("act", json!({"steps": [step]})), "BadRequest", "{selector:.60}");
    }
    assert_eq!(world.effects(), 0);
}

/// H-45 on code: a name may have anything in it; the selector that a reply tells leads back to its element.
#[test]
fn names_with_every_odd_sign_lead_back_to_their_element() {
    let names = [
        "a\"b",
        "a'b",
        "a\"'b",
        "a/b",
        "a]b",
        "a[b",
        "a\\b",
        "a\\",
        "//x",
        "[index=0]",
        " a ",
        "a\tb",
        "*",
        "é\u{301}",
        "\u{202e}x",
        "a>b",
        "a:b",
        ")",
    ];
    let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 800, 600)));
    for (number, name) in names.iter().enumerate() {
        tree.add_leaf(Element::new("Button", *name, Rect::new(100, 80 + 20 * number as i32, 100, 18)));
    }
    let clock = Clock::steered();
    let mut odd = Odd::new(&clock);
    odd.tree = Some(tree.finish());
    let (app, _folder) = odd_app(Arc::new(odd), clock, json!({}));
    for (number, name) in names.iter().enumerate() {
        let id = format!("root.{number}");
        let told = by_gate(&app, "click_element", json!({"element_id": id, "dry_run": true}));
        let selector = told["target"]["selector"].as_str().unwrap_or_else(|| panic!("{name:?}: {told}"));
        let found = by_gate(&app, "find_element", json!({"selector": selector}));
        assert_eq!(found["element_id"], id, "{name:?} by {selector}: {found}");
        assert_eq!(found["count"].as_u64().or(found["total"].as_u64()).unwrap_or(1), 1, "{found}");
    }
}

/// H-45 on code: the most work that a selector may ask for, on the largest tree that there may be, is soon done.
#[test]
fn the_heaviest_selector_on_the_largest_tree_is_soon_done() {
    let clock = Clock::steered();
    let mut odd = Odd::new(&clock);
    odd.tree = Some(largest());
    let (app, _folder) = odd_app(Arc::new(odd), clock, json!({}));
    let seen = by_gate(&app, "get_window_structure", json!({"max_nodes": 1}));
    assert_eq!(seen["element_count"], limits::TREE_NODES, "{seen:.300}");
    for selector in
        ["//*".repeat(32), "//*[name*=\"a\"]".repeat(30), format!("//*{}", "[name*=\"a\"]".repeat(64))]
    {
        let began = Instant::now();
        let reply = by_gate(&app, "find_element", json!({"selector": selector}));
        assert!(
            reply["ok"] == true || reply["error"]["code"] == "ElementNotFound",
            "{selector:.60}: {reply:.300}"
        );
        assert!(began.elapsed() < SOON * 3, "{selector:.60} took {:?}", began.elapsed());
    }
}

// ── trees ──────────────────────────────────────────────────────────────────────────────────────────

struct Growing(TreeBuilder);

fn group(number: usize) -> Element {
    Element::new("Group", format!("a{number}"), Rect::new(0, 0, 400, 300))
}

fn chain(levels: usize) -> Growing {
    let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 800, 600)));
    for level in 0..levels {
        tree.open(group(level));
    }
    Growing(tree)
}

/// As deep and with as many elements as a tree may have, none of which is cut off for its place.
fn largest() -> Tree {
    let mut tree = chain(60).0;
    let mut left = limits::TREE_NODES - 61;
    for parent in 0.. {
        let leaves = left.saturating_sub(1).min(limits::TREE_CHILDREN_OF_ONE_NODE);
        if leaves == 0 {
            break;
        }
        tree.open(group(parent));
        for leaf in 0..leaves {
            tree.add_leaf(Element::new("Button", format!("a{leaf}"), Rect::new(5, 5, 50, 20)));
        }
        tree.close();
        left -= leaves + 1;
    }
    tree.finish()
}

impl Growing {
    /// So many more, as children of the innermost.
    fn finish_with(mut self, leaves: usize) -> Tree {
        for leaf in 0..leaves {
            self.0.add_leaf(Element::new("Button", format!("b{leaf}"), Rect::new(5, 5, 50, 20)));
        }
        self.0.finish()
    }
}

const READING: &[(&str, &str)] = &[
    ("find_element", r#"{"selector":"//Button"}"#),
    ("look", "{}"),
    ("find", r#"{"text":"b7"}"#),
    ("get_screen_sketch", "{}"),
    ("get_screen_description", r#"{"mode":"accessibility","max_tokens":500}"#),
    ("observe_window", "{}"),
    ("wait_for", r#"{"any_of":[{"type":"text_visible","regex":"b7"}],"timeout_ms":0}"#),
    ("click_element", r#"{"selector":"//Nope","dry_run":true}"#),
];

/// What every reading tool says of a tree that is too large: as much as the limits allow, and that it is not all.
#[track_caller]
fn check_large(what: &str, tree: Tree) {
    let clock = Clock::steered();
    let mut odd = Odd::new(&clock);
    let odd_elements = tree.len();
    odd.tree = Some(tree);
    let (app, _folder) = odd_app(Arc::new(odd), clock, json!({}));
    let began = Instant::now();
    // Every look costs a copy of the whole.
    let large = odd_elements > 500_000;
    let page = by_gate(&app, "get_window_structure", json!({"max_nodes": 50}));
    assert_eq!((&page["truncated"], &page["complete"]), (&json!(true), &json!(false)), "{what}: {page:.300}");
    assert!(page["element_count"].as_u64().unwrap() <= limits::TREE_NODES as u64, "{what}: {page:.300}");
    let lines = by_gate(&app, "get_window_structure", json!({"format": "outline", "max_tokens": 500}));
    assert_eq!(
        (&lines["truncated"], &lines["complete"]),
        (&json!(true), &json!(false)),
        "{what}: {lines:.300}"
    );
    let whole = by_gate(&app, "get_window_structure", json!({"depth": 64}));
    assert!(whole["truncated"] == true || whole["error"]["code"] == "BadRequest", "{what}: {whole:.300}");
    let read = if large { 1 } else { READING.len() };
    for (tool, args) in READING.iter().take(read) {
        let reply = by_gate(&app, tool, serde_json::from_str(args).unwrap());
        assert!(reply.to_string().len() <= limits::REPLY_BYTES, "{what} {tool}");
        assert_ne!(reply["error"]["code"], "Internal", "{what} {tool}: {reply:.300}");
    }
    // All of these together, on a busy machine and without optimisation.
    assert!(began.elapsed() < Duration::from_secs(100), "{what} took {:?}", began.elapsed());
}

/// H-46 on code: a million elements.
#[test]
fn a_million_elements_are_cut() {
    let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 800, 600)));
    for number in 0..1_000 {
        tree.open(group(number));
        for leaf in 0..1_000 {
            tree.add_leaf(Element::new("Button", format!("b{leaf}"), Rect::new(5, 5, 50, 20)));
        }
        tree.close();
    }
    check_large("a million", tree.finish());
}

/// H-46 on code: a hundred thousand levels.
#[test]
fn a_hundred_thousand_levels_are_cut() {
    check_large("deep", chain(100_000).finish_with(10));
}

/// H-46 on code: one element with more children than can be.
#[test]
fn an_element_with_endless_children_is_cut() {
    check_large("wide", chain(1).finish_with(300_000));
}

// ── grids, waits, inputs ───────────────────────────────────────────────────────────────────────────

/// H-47 on stdio, REST, /mcp, replay: a grid of no, of negative or of endless cells is refused by every tool that draws.
#[cfg(feature = "http")]
#[test]
fn grids_have_a_size() {
    let mut all = Everywhere::new();
    let mut tried = 0;
    for callable in callables() {
        for (path, property) in callable.arguments() {
            let is_grid = path.ends_with(".rows") || path.ends_with(".cols");
            if !is_grid || property["type"] != "integer" {
                continue;
            }
            for size in [0_i64, -5, 100_000_000, i64::MAX] {
                let args = callable.with(&path, json!(size));
                for (surface, reply) in
                    all.all(callable.name, &args).into_iter().filter(|(surface, _)| *surface != "act")
                {
                    let text = reply.to_string();
                    assert!(
                        text.contains("BadRequest"),
                        "{surface} {} {path} = {size}: {text:.300}",
                        callable.name
                    );
                }
                tried += 1;
            }
        }
    }
    assert!(tried >= 12, "{tried}");
    for size in ["0x1", "abc", "[]"] {
        assert_eq!(all.site.get(&format!("/api/sketch?grid_width={size}")).status, 400, "{size}");
    }
    // The grid of a sketch is an amount, and is brought within its bounds.
    for size in ["0", "-5", "100000000", "99999999999999999999"] {
        let sketch = all.site.get(&format!("/api/sketch?grid_width={size}")).json();
        assert!(sketch["grid_width"].as_u64().is_some_and(|width| width <= 500), "{size}: {sketch}");
    }
}

/// H-47, H-48, H-50 on clickthrough: that face has the same limits in its own words.
#[cfg(feature = "http")]
#[test]
fn clickthrough_has_the_same_limits() {
    let site = Site::clickthrough(json!({}));
    let pixel = |x: Value, y: Value| json!({"action": "click", "target": {"mode": "pixel", "x": x, "y": y}});
    let with = |name: &str, value: Value| {
        let mut action = pixel(json!(5), json!(5));
        action[name] = value;
        json!({"action": action})
    };
    let grid = |rows: i64| {
        json!({"action": {"action": "click", "target": {"mode": "grid", "region_x": 0, "region_y": 0,
        "region_width": 100, "region_height": 100, "rows": rows, "cols": 5, "row": 0, "col": 0}}})
    };
    let verify = json!({"kind": "visual", "timeout_ms": 0});
    // Each with the field that is complained of, so that nothing is refused for another reason.
    for (path, body, field) in [
        ("/interact", json!({"action": pixel(json!(i64::MAX), json!(1))}), "x"),
        ("/interact", json!({"action": pixel(json!(-1), json!(1))}), "screen"),
        ("/interact", json!({"action": pixel(json!(30_000), json!(30_000))}), "screen"),
        ("/interact", json!({"action": pixel(json!("5"), json!(1))}), "x"),
        ("/interact", json!({"action": pixel(json!(1.5), json!(1))}), "x"),
        ("/interact", with("clicks", json!(1_000_000_000)), "clicks"),
        ("/interact", with("clicks", json!(0)), "clicks"),
        ("/interact", with("duration_ms", json!(1_000_000_000_u64)), "duration_ms"),
        ("/interact", with("interval_ms", json!(-1)), "interval_ms"),
        ("/interact", json!({"action": {"action": "type", "text": "x".repeat(65_537)}}), "text"),
        ("/interact", grid(0), "rows"),
        ("/interact", grid(100_000_000), "rows"),
        ("/see", json!({"grid_rows": 100_000_000}), "grid_rows"),
        ("/see", json!({"grid_cols": -5}), "grid_cols"),
        ("/wait", json!({"kind": "visual", "timeout_ms": 1_000_000_000_000_u64}), "timeout_ms"),
        ("/wait", json!({"kind": "visual", "timeout_ms": -1}), "timeout_ms"),
        ("/wait", json!({"kind": "visual", "poll_ms": 0}), "poll_ms"),
        ("/batch", json!({"actions": vec![pixel(json!(5), json!(5)); 1_000]}), "actions"),
        ("/batch", json!({"actions": []}), "actions"),
        (
            "/action/verify",
            json!({"action": pixel(json!(5), json!(5)), "verify": verify, "retries": 1_000_000}),
            "retries",
        ),
    ] {
        let answer = soon(path, || site.post(path, body.clone()));
        let shown = format!("{path} {:.200}: {answer:?}", body.to_string());
        assert!([400, 403, 409, 422].contains(&answer.status), "{shown}");
        let details = answer.json()["error"]["details"].to_string();
        assert!(details.contains(&format!("\"{field}\"")), "not for its {field}: {shown}");
    }
    // The same within the limits is not refused, so it is the numbers that are.
    let mut dry = pixel(json!(5), json!(5));
    dry["dry_run"] = json!(true);
    assert_eq!(site.post("/batch", json!({"actions": vec![dry.clone(); 2]})).status, 200);
    let verified = site.post("/action/verify", json!({"action": dry, "verify": verify, "retries": 1}));
    assert_eq!(verified.status, 200, "{verified:?}");
    for number in ["1e400", "NaN", "Infinity"] {
        let body = format!(
            "{{\"action\":{{\"action\":\"click\",\"target\":{{\"mode\":\"pixel\",\"x\":{number},\"y\":1}}}}}}"
        );
        assert!([400, 422].contains(&site.ask("POST", "/interact", &[JSON], &body).status), "{number}");
    }
    assert_eq!(site.mock.action_count(), 0);
}

/// H-48 on stdio, REST, /mcp, act, replay: waits that are too many, too long or impossible.
#[cfg(feature = "http")]
#[test]
fn waits_have_limits_on_every_surface() {
    let mut all = Everywhere::with(json!({"wait_for": {"max_timeout_ms": 50}}));
    let one = json!({"type": "text_visible", "regex": "never"});
    for args in [
        json!({"any_of": vec![one.clone(); 1_000]}),
        json!({"any_of": []}),
        json!({"any_of": [one], "timeout_ms": -1}),
        json!({"any_of": [one], "poll_ms": -1}),
        json!({"any_of": [one], "timeout_ms": 1e300}),
        json!({"any_of": [one], "timeout_ms": "60000"}),
        json!({"any_of": vec![json!({"type": "visual_change"}); 5]}),
        json!({"any_of": [{"type": "visual_stable", "quiet_ms": 1e12}]}),
    ] {
        for (surface, reply) in all.all("wait_for", &args) {
            let text = reply.to_string();
            assert!(text.contains("BadRequest"), "{surface} {:.120}: {text:.300}", args.to_string());
        }
    }
    // What is too long is shortened to what the config allows, and that is said.
    for poll in [0, 1] {
        let args = json!({"any_of": [one], "timeout_ms": 1_000_000_000_000_u64, "poll_ms": poll});
        for (surface, reply) in soon("a wait without an end", || all.all("wait_for", &args)) {
            assert!(reply.to_string().contains("Timeout"), "{surface}: {reply:.300}");
        }
    }
    assert_eq!(all.effects(), 0);
}

/// H-48 on act: what a step may expect, and for how long, is bounded too.
#[test]
fn expectations_have_limits() {
    let world = World::on("scenarios/login.yaml");
    let claim = json!({"kind": "text_visible", "regex": "never"});
    let click = |more: Value| {
        let mut step = json!({"do": "press_key", "keys": "tab"});
        step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"steps": [step]})
    };
    for args in [
        click(json!({"expect": vec![claim.clone(); 1_000]})),
        click(json!({"expect": [claim], "within_ms": -1})),
        click(json!({"expect": [claim], "within_ms": 1_000_000_000_000_u64})),
        click(json!({"expect": [claim], "within_ms": "5"})),
        json!({"steps": vec![json!({"do": "press_key", "keys": "tab"}); 1_000]}),
    ] {
        assert_eq!(world.code("act", args.clone()), "BadRequest", "{:.200}", args.to_string());
    }
    assert_eq!(world.effects(), 0);
}

/// H-50 on stdio, REST, /mcp: ten megabytes to type stop at the limit of the line or the body.
#[cfg(feature = "http")]
#[test]
fn ten_megabytes_are_not_typed() {
    let mut all = Everywhere::new();
    let text = "x".repeat(10 << 20);
    let call = json!({"jsonrpc": "2.0", "id": "big", "method": "tools/call", "params": {"name": "type_text", "arguments": {"text": text}}});
    all.pipe.send(format!("{call}\n"));
    assert_eq!(all.pipe.receive()["error"]["code"], -32600);
    assert_eq!(all.site.post("/api/tool/type_text", json!({"text": text})).status, 413);
    assert_eq!(all.site.post("/api/action", json!({"action": "type", "value": text})).status, 413);
    assert_eq!(all.site.ask("POST", "/mcp", &[JSON, ACCEPT], &call.to_string()).status, 413);
    // Within the line, but beyond what is typed.
    for text in ["é".repeat(limits::TYPED_TEXT_CHARACTERS + 1), "x".repeat(3 << 20)] {
        let said = all.pipe.call("type_text", json!({ "text": text }));
        assert_eq!(said["error"]["code"], "BadRequest", "{said:.200}");
    }
    let said = by_act(&all.site.app, "type_text", &json!({"text": text}));
    assert_eq!(said["error"]["code"], "BadRequest", "{said:.200}");
    let replayed = by_replay(&all.site.app, "type_text", &json!({"text": text})).to_string();
    assert!(replayed.contains("BadRequest"), "{replayed:.300}");
    assert_eq!(all.effects(), 0);
}

/// H-50 on stdio, REST, /mcp, act, replay: a place off the screen is refused by every tool that points at one.
#[cfg(feature = "http")]
#[test]
fn no_pointer_leaves_the_screen() {
    let mut all = Everywhere::new();
    let mut tried = 0;
    for callable in callables().into_iter().filter(|callable| callable.acts) {
        let arguments = callable.arguments();
        let has = |name: &str| arguments.iter().any(|(path, _)| path == name);
        for (x, y) in [(32_767, 32_767), (-1, 5), (5, -32_768), (1_920_000, 5), (i64::MAX, i64::MIN)] {
            let args = if has("x") && has("image") {
                json!({"x": x, "y": y})
            } else if has("from.x") && has("to.x") {
                json!({"from": {"x": 5, "y": 5}, "to": {"x": x, "y": y}})
            } else {
                continue;
            };
            for (surface, reply) in all.all(callable.name, &args) {
                let text = reply.to_string();
                assert!(text.contains("BadRequest"), "{surface} {} {x},{y}: {text:.300}", callable.name);
            }
            tried += 1;
        }
    }
    assert!(tried >= 25, "{tried}");
    assert_eq!(all.effects(), 0);
}

/// H-50 on code: numbers that no schema bounds are bounded by their tool.
#[test]
fn numbers_without_bounds_in_the_schema_have_some_in_the_tool() {
    let world = World::new();
    let seconds = json!({"from": {"x": 5, "y": 5}, "to": {"x": 9, "y": 9}});
    for (tool, field, args, wrong) in [
        ("drag", "duration_s", seconds, [-0.1, 10.1, 1e9, 1e300, -1e300]),
        ("vision_diff", "threshold", json!({"wait_ms": 0}), [-0.1, 1.1, 1e9, 1e300, -1e300]),
        ("vision_stability", "threshold", json!({}), [-0.1, 1.1, 1e9, 1e300, -1e300]),
    ] {
        for number in wrong {
            let mut args = args.clone();
            args[field] = json!(number);
            let reply = world.call(tool, args);
            assert_eq!(reply["error"]["context"]["field"], field, "{tool} {number}: {reply:.300}");
        }
    }
    assert_eq!(world.effects(), 0);
}
