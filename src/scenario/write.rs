//! Writes a `Scenario` as a file that people can read and that loads as the same scenario.
//!
//! What the loader wrote out (repeats, defaults) stays written out. A tree that occurs again is an alias
//! of its first occurrence, as long as the loader's limit on aliases allows that. Nothing here decides
//! what a scenario contains.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::load::MAX_REPEATED_NODES;
use super::{Change, Condition, ElementPlan, Predicate, Reaction, Scenario, State, Trigger, WindowPlan};
use crate::model::{Element, Rect, Tree};

/// What the file says to its readers beside the scenario: comments, by the place they stand at.
#[derive(Clone, Debug, Default)]
pub struct Comments {
    pub head: Vec<String>,
    pub states: BTreeMap<usize, String>,
    pub reactions: BTreeMap<usize, String>,
}

/// The scenario as the text of a YAML file.
pub fn write(scenario: &Scenario, comments: &Comments) -> String {
    let mut file = File { out: String::new(), anchors: Anchors::of(scenario) };
    for line in &comments.head {
        file.comment(0, line);
    }
    file.line(0, &format!("name: {}", scalar(&scenario.name)));
    let initial = scenario.states.get(scenario.initial_state);
    file.line(0, &format!("initial_state: {}", scalar(initial.map_or("", |state| &state.name))));
    let screen = scenario.screen;
    file.line(0, &format!("screen: {{width: {}, height: {}}}", screen.width, screen.height));
    file.line(0, "");
    file.states(scenario, comments);
    file.reactions(scenario, comments);
    file.apps(scenario);
    file.oracles(scenario);
    file.out
}

struct File {
    out: String,
    anchors: Anchors,
}

impl File {
    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "");
    }

    /// A comment is one line, whatever the text has in it.
    fn comment(&mut self, indent: usize, text: &str) {
        let shown: String = text.chars().map(|c| if is_printable(c) { c } else { ' ' }).collect();
        self.line(indent, &format!("# {}", shown.trim()));
    }

    fn states(&mut self, scenario: &Scenario, comments: &Comments) {
        self.line(0, "states:");
        for (index, state) in scenario.states.iter().enumerate() {
            if index > 0 {
                self.out.push('\n');
            }
            if let Some(comment) = comments.states.get(&index) {
                self.comment(2, comment);
            }
            self.state(scenario, state);
        }
    }

    fn state(&mut self, scenario: &Scenario, state: &State) {
        self.line(2, &format!("{}:", scalar(&state.name)));
        if let Some(then) = state.then {
            let next = scenario.states.get(then.state).map_or("", |state| &state.name);
            let after = milliseconds(then.after);
            self.line(4, &format!("then: {{after_ms: {after}, transition_to: {}}}", scalar(next)));
        }
        if !state.keeps_focus {
            self.line(4, "keeps_focus: false");
        }
        if state.windows.is_empty() {
            return self.line(4, "windows: []");
        }
        self.line(4, "windows:");
        for window in &state.windows {
            self.window(window);
        }
    }

    fn window(&mut self, window: &WindowPlan) {
        self.line(6, &format!("- uid: {}", scalar(&window.uid)));
        self.line(8, &format!("title: {}", scalar(&window.title)));
        self.line(8, &format!("process: {}", scalar(&window.process)));
        self.line(8, &format!("pid: {}", window.pid));
        self.line(8, &format!("bounds: {}", bounds(window.bounds)));
        for (key, flag) in [("focused", window.focused), ("minimized", window.minimized)] {
            if flag {
                self.line(8, &format!("{key}: true"));
            }
        }
        if !window.capture_delay.is_zero() {
            self.line(8, &format!("capture_delay_ms: {}", milliseconds(window.capture_delay)));
        }
        self.tree(window);
    }

    fn tree(&mut self, window: &WindowPlan) {
        let text = tree_text(window);
        match self.anchors.place(&text) {
            Place::Alias(name) => self.line(8, &format!("tree: *{name}")),
            Place::Anchor(name) => {
                self.line(8, &format!("tree: &{name}"));
                self.out.push_str(&text);
            }
            Place::Plain => {
                self.line(8, "tree:");
                self.out.push_str(&text);
            }
        }
    }

    fn reactions(&mut self, scenario: &Scenario, comments: &Comments) {
        if scenario.reactions.is_empty() {
            return;
        }
        self.line(0, "\nreactions:");
        for (index, reaction) in scenario.reactions.iter().enumerate() {
            if let Some(comment) = comments.reactions.get(&index) {
                self.comment(2, comment);
            }
            self.reaction(scenario, reaction);
        }
    }

    fn apps(&mut self, scenario: &Scenario) {
        if scenario.apps.is_empty() {
            return;
        }
        self.line(0, "\napps:");
        for app in &scenario.apps {
            let [id, name, program, window] =
                [&app.id, &app.name, &app.program, &app.window].map(|it| scalar(it));
            let after = milliseconds(app.after);
            let line = format!(
                "- {{id: {id}, name: {name}, program: {program}, window: {window}, after_ms: {after}}}"
            );
            self.line(2, &line);
        }
    }

    fn reaction(&mut self, scenario: &Scenario, reaction: &Reaction) {
        let name = |state: usize| scalar(scenario.states.get(state).map_or("", |state| &state.name));
        self.line(2, &format!("- on: {}", trigger(&reaction.on)));
        if let Some(state) = reaction.in_state {
            self.line(4, &format!("in_state: {}", name(state)));
        }
        self.list(4, "when", &reaction.when.iter().map(condition).collect::<Vec<_>>());
        self.list(4, "set", &reaction.set.iter().map(change).collect::<Vec<_>>());
        if let Some(id) = &reaction.focus {
            self.line(4, &format!("focus: {}", scalar(id)));
        }
        if let Some(state) = reaction.transition_to {
            self.line(4, &format!("transition_to: {}", name(state)));
        }
        if !reaction.after.is_zero() {
            self.line(4, &format!("after_ms: {}", milliseconds(reaction.after)));
        }
    }

    fn oracles(&mut self, scenario: &Scenario) {
        let lists = [("success", &scenario.oracles.success), ("failure", &scenario.oracles.failure)];
        if lists.iter().all(|(_, list)| list.is_empty()) {
            return;
        }
        self.line(0, "\noracles:");
        for (key, list) in lists {
            self.list(2, key, &list.iter().map(predicate).collect::<Vec<_>>());
        }
    }

    fn list(&mut self, indent: usize, key: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.line(indent, &format!("{key}:"));
        for item in items {
            self.line(indent + 2, &format!("- {item}"));
        }
    }
}

// ── trees ───────────────────────────────────────────────────────────────────────────────────────

/// Which trees are written once and named again.
struct Anchors {
    /// By the tree's text; the name is `None` until it was written.
    repeated: HashMap<String, (String, bool)>,
}

enum Place {
    Plain,
    Anchor(String),
    Alias(String),
}

impl Anchors {
    /// The first tree that occurs again gets the first name; the loader's limit decides how many do.
    fn of(scenario: &Scenario) -> Self {
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        let windows = scenario.states.iter().flat_map(|state| &state.windows);
        let texts: Vec<(String, usize)> = windows.map(|window| (tree_text(window), events(window))).collect();
        for (text, events) in &texts {
            let entry = counts.entry(text.clone()).or_default();
            *entry = (entry.0 + 1, *events);
        }
        let mut repeated = HashMap::new();
        let mut room = MAX_REPEATED_NODES;
        for (text, _) in texts {
            let (times, events) = counts.remove(&text).unwrap_or_default();
            let cost = events.saturating_mul(times.saturating_sub(1));
            if times > 1 && cost <= room {
                room -= cost;
                let name = format!("tree-{}", repeated.len() + 1);
                repeated.insert(text, (name, false));
            }
        }
        Self { repeated }
    }

    fn place(&mut self, text: &str) -> Place {
        match self.repeated.get_mut(text) {
            None => Place::Plain,
            Some((name, true)) => Place::Alias(name.clone()),
            Some((name, written)) => {
                *written = true;
                Place::Anchor(name.clone())
            }
        }
    }
}

/// At most how many parts of the file an alias of this tree repeats: an element has up to twenty keys
/// with their values, its bounds five more pairs, and both have a beginning and an end.
fn events(window: &WindowPlan) -> usize {
    window.tree.len().saturating_mul(2 * 20 + 2 * 5 + 4)
}

/// The lines below `tree:`.
fn tree_text(window: &WindowPlan) -> String {
    let tree = &window.tree;
    let mut out = String::new();
    for node in 0..tree.len() {
        let plan = window.elements.get(node).copied().unwrap_or_default();
        let fields = fields(&tree[node], &plan);
        if node == Tree::ROOT {
            write_block(&mut out, 10, None, &fields);
        } else if tree.end(node) == node + 1 {
            let indent = 10 + 4 * tree.depth(node) - 2;
            let pairs: Vec<String> = fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
            let _ = writeln!(out, "{:indent$}- {{{}}}", "", pairs.join(", "));
        } else {
            write_block(&mut out, 10 + 4 * tree.depth(node) - 2, Some("- "), &fields);
        }
        if tree.end(node) > node + 1 {
            let indent = 10 + 4 * tree.depth(node);
            let _ = writeln!(out, "{:indent$}children:", "");
        }
    }
    out
}

fn write_block(out: &mut String, indent: usize, dash: Option<&str>, fields: &[(&str, String)]) {
    for (position, (key, value)) in fields.iter().enumerate() {
        let start = match (dash, position) {
            (Some(dash), 0) => dash,
            (Some(_), _) => "  ",
            (None, _) => "",
        };
        let _ = writeln!(out, "{:indent$}{start}{key}: {value}", "");
    }
}

/// What an element's entry says, in the order of the format; the role is always there, so it is never
/// empty.
fn fields(element: &Element, plan: &ElementPlan) -> Vec<(&'static str, String)> {
    let mut fields = vec![("role", scalar(element.role.name()))];
    let mut text = |key, text: Option<&str>| fields.extend(text.map(|text| (key, scalar(text))));
    text("name", Some(element.name.as_str()).filter(|name| !name.is_empty()));
    text("id", element.native.as_deref().filter(|_| plan.authored));
    text("value", element.value.as_deref());
    text("keyboard_shortcut", element.shortcut.as_deref());
    text("description", element.description.as_deref());
    text("identifier", element.identifier.as_deref());
    let mut flag = |key, flag: Option<bool>| fields.extend(flag.map(|flag| (key, flag.to_string())));
    flag("enabled", Some(false).filter(|_| !element.enabled));
    flag("secret", Some(true).filter(|_| element.secret));
    flag("focused", Some(true).filter(|_| element.focused));
    flag("selected", element.selected);
    flag("expanded", element.expanded);
    let range = element.range;
    for (key, number) in [("value_now", range.now), ("value_min", range.min), ("value_max", range.max)] {
        fields.extend(number.map(|number| (key, number.to_string())));
    }
    let mut time = |key, time: Option<Duration>| fields.extend(time.map(|time| (key, milliseconds(time))));
    time("appears_after_ms", Some(plan.appears_after).filter(|time| !time.is_zero()));
    time("disappears_after_ms", plan.disappears_after);
    fields.push(("bounds", bounds(element.bounds)));
    fields
}

fn bounds(rect: Rect) -> String {
    format!("{{x: {}, y: {}, width: {}, height: {}}}", rect.x, rect.y, rect.width, rect.height)
}

fn milliseconds(time: Duration) -> String {
    time.as_millis().to_string()
}

// ── reactions and oracles ───────────────────────────────────────────────────────────────────────

fn flow(fields: Vec<(&str, Option<String>)>) -> String {
    let pairs = fields.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}", value?)));
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

fn trigger(on: &Trigger) -> String {
    let text = |text: &Option<String>| text.as_deref().map(scalar);
    flow(vec![
        ("tool", Some(scalar(on.tool))),
        ("window", text(&on.window)),
        ("target_id", text(&on.target_id)),
        ("target_name", text(&on.target_name)),
        ("text_regex", on.text.as_ref().map(|regex| scalar(written_pattern(regex.as_str())))),
    ])
}

/// The pattern without the brackets by which the loader makes it match whole texts.
fn written_pattern(pattern: &str) -> &str {
    pattern.strip_prefix(r"\A(?:").and_then(|rest| rest.strip_suffix(r")\z")).unwrap_or(pattern)
}

fn condition(condition: &Condition) -> String {
    let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
    flow(vec![
        ("id", Some(scalar(&condition.id))),
        ("window", condition.window.as_deref().map(scalar)),
        ("value", condition.value.as_deref().map(scalar)),
        ("value_not_empty", flag(condition.value_not_empty)),
        ("selected", flag(condition.selected)),
    ])
}

fn change(change: &Change) -> String {
    let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
    flow(vec![
        ("id", Some(scalar(&change.id))),
        ("window", change.window.as_deref().map(scalar)),
        ("value", change.value.as_deref().map(scalar)),
        ("name", change.name.as_deref().map(scalar)),
        ("enabled", flag(change.enabled)),
        ("selected", flag(change.selected)),
        ("expanded", flag(change.expanded)),
        ("focused", flag(change.focused)),
    ])
}

fn predicate(predicate: &Predicate) -> String {
    flow(predicate.iter().map(|(key, value)| (key.as_str(), Some(json(value)))).collect())
}

/// Depth is bounded: what is nested here came through the loader or is flat.
fn json(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => predicate(map),
        other => other.to_string(),
    }
}

// ── texts ───────────────────────────────────────────────────────────────────────────────────────

/// Words that a reader of YAML may take for something else than text.
const NOT_TEXT: &[&str] = &["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"];

/// A text as YAML: bare where nobody can misread it, else in double quotes.
pub fn scalar(text: &str) -> String {
    if is_bare(text) { text.to_owned() } else { quoted(text) }
}

fn is_bare(text: &str) -> bool {
    let ends_well = |text: &str| text.chars().last().is_some_and(|c| !matches!(c, ' ' | ':'));
    let may_be_inside = |c: char| c.is_alphanumeric() || " _-./+—–…:".contains(c);
    text.starts_with(|c: char| c.is_alphabetic())
        && text.chars().all(|c| may_be_inside(c) && is_printable(c))
        && ends_well(text)
        && !text.contains(": ")
        && !NOT_TEXT.contains(&text.to_lowercase().as_str())
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            character if is_printable(character) => out.push(character),
            character if u32::from(character) <= 0xFFFF => {
                let _ = write!(out, "\\u{:04X}", u32::from(character));
            }
            character => {
                let _ = write!(out, "\\U{:08X}", u32::from(character));
            }
        }
    }
    out.push('"');
    out
}

/// What may stand in a file as itself: no control or format character, no other line end, no private one.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{85}' | '\u{A0}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}')
        && !matches!(character, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        && !matches!(u32::from(character), 0xE000..=0xF8FF | 0xFFF0..=0xFFFF | 0xE0000..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scenario::{load_file, load_str};

    /// Structures hold patterns, which cannot be compared; their words can.
    fn check_round_trip(scenario: &Scenario) -> String {
        let text = write(scenario, &Comments::default());
        let again = load_str(&text, "written.yaml").unwrap_or_else(|error| panic!("{error} in\n{text}"));
        assert_eq!(format!("{again:#?}"), format!("{scenario:#?}"), "in\n{text}");
        text
    }

    #[test]
    fn shipped_scenarios_survive() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            check_round_trip(&load_file(&entry.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count >= 6, "{count} scenarios");
    }

    #[test]
    fn every_part_of_the_format_survives() {
        let text = check_round_trip(
            &load_str(
                "name: all\ninitial_state: b\nscreen: {width: 10, height: 20}
states:
  a: {then: {after_ms: 5, transition_to: b}, keeps_focus: false, windows: []}
  b: {windows: [{uid: w, minimized: true, capture_delay_ms: 3, tree: {role: R, children: [
    {role: Edit, name: 'yes', value: '', id: x, secret: true, focused: true, enabled: false, selected: false,
     expanded: true, value_now: 0.5, value_min: -1, value_max: 1e9, keyboard_shortcut: k, description: '',
     identifier: 'null', appears_after_ms: 1, disappears_after_ms: 9, children: [{}, {role: '1'}]}]}}]}
reactions:
  - {on: {tool: type_text, window: w, target_id: x, target_name: 'no', text_regex: 'a|(b): #'}, in_state: b,
     when: [{id: x, window: w, value: '~', value_not_empty: true, selected: true}],
     set: [{id: x, value: '{text}', name: '-', enabled: true, selected: true, expanded: false, focused: true}],
     focus: x, transition_to: a, after_ms: 7}
oracles: {success: [{kind: k, deep: {list: [1, 2.5, null, true, 'x: y']}}], failure: [{kind: f}]}
",
                "all.yaml",
            )
            .unwrap_or_else(|error| panic!("{error}")),
        );
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_tree_that_occurs_again_is_named() {
        let one = "{uid: w, tree: {role: Window, children: [{role: Text, name: a}]}}";
        let yaml = format!("states:\n  a: {{windows: [{one}]}}\n  b: {{windows: [{one}]}}\n");
        let text = check_round_trip(&load_str(&yaml, "t").unwrap());
        assert_eq!((text.matches("&tree-1").count(), text.matches("*tree-1").count()), (1, 1), "{text}");
    }

    fn with_name(name: &str) -> Scenario {
        let mut scenario = load_str("states: {s: {windows: [{tree: {children: [{}]}}]}}", "t").unwrap();
        let tree = scenario.states[0].windows[0].tree.map_elements(|element| {
            element.name = name.to_owned();
            element.value = Some(name.to_owned());
        });
        scenario.states[0].windows[0].tree = tree;
        scenario.states[0].windows[0].title = name.to_owned();
        scenario
    }

    #[test]
    fn hostile_names_survive() {
        for name in [
            "on",
            "Yes",
            "NULL",
            "~",
            "1",
            "1e5",
            "0x10",
            ".5",
            "-",
            "- a",
            "a: b",
            "a:",
            ": a",
            "a #b",
            "#a",
            "a, b",
            "[a]",
            "{a}",
            "'a'",
            "\"a\"",
            "\\",
            "a\nb",
            "\n",
            " a",
            "a ",
            "",
            "é — …",
            "🦀",
            "&a",
            "*a",
            "!a",
            "%a",
            "@a",
            "`a",
            "|",
            ">",
            "?",
            "\t",
            "\r\n",
            "\u{85}\u{2028}\u{feff}\0\u{1b}[0m",
            "a\u{a0}",
            "---",
            "...",
            "mock:app",
            "<<",
            "=",
            "{n}",
            "{text}",
        ] {
            check_round_trip(&with_name(name));
        }
    }

    proptest! {
        #[test]
        fn any_name_survives(name in any::<String>()) {
            check_round_trip(&with_name(&name));
        }
    }
}
