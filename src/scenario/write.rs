//! Writes a `Scenario` as a file that people can read and that loads as the same scenario.
//!
//! What the loader wrote out (repeats, defaults) stays written out. A tree that occurs again is an alias
//! of its first occurrence, as long as the loader's limit on aliases allows that. Nothing here decides
//! what a scenario contains. The YAML itself is serde-saphyr's; here is what goes on one line.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number, Value};
use serde_saphyr::ser::Error;
use serde_saphyr::{
    CommentPosition, Commented, DoubleQuoted, FlowMap, RcAnchor, SerializerOptions, SpaceAfter,
};

use super::load::MAX_REPEATED_NODES;
use super::{
    AppPlan, DownloadPlan, ElementChange, ElementPlan, PredicateEntry, Reaction, ReactionCondition, Scenario,
    ScenarioState, Trigger, WindowPlan,
};
use crate::model::{Element, Rect, Tree};

/// What the file says to its readers beside the scenario: comments, by the place they stand at.
#[derive(Clone, Debug, Default)]
pub struct Comments {
    pub head: Vec<String>,
    pub states: BTreeMap<usize, String>,
    pub reactions: BTreeMap<usize, String>,
}

/// The scenario as the text of a YAML file.
pub fn write(scenario: &Scenario, comments: &Comments) -> Result<String, Error> {
    let head: String = comments.head.iter().map(|line| comment(line)).collect();
    let mut sections = vec![head + &yaml(&YamlNode::Block(beginning(scenario)))?];
    sections.push(yaml(&YamlNode::Block(vec![("states", states(scenario, comments))]))?);
    if !scenario.reactions.is_empty() {
        sections.push(reactions(scenario, comments)?);
    }
    let lists = [
        ("apps", list(&scenario.apps, app)),
        ("downloads", list(&scenario.downloads, download)),
        ("oracles", oracles(scenario)),
    ];
    for (key, list) in lists {
        sections.extend(list.map(|list| yaml(&YamlNode::Block(vec![(key, list)]))).transpose()?);
    }
    let file = sections.join("\n");
    // Escapes count in quotes alone, and serde-saphyr quotes the key of a block only where it must.
    let has_plain_keys = scenario.states.iter().all(|state| state.name.chars().all(is_printable));
    Ok(if has_plain_keys { escape_invisible(&file) } else { file })
}

/// Without the blank line that follows a last state.
fn yaml(node: &YamlNode) -> Result<String, Error> {
    let text = serde_saphyr::to_string_with_options(node, options())?;
    Ok(text.trim_end().to_owned() + "\n")
}

/// The directive is left out because the loader reads YAML 1.2 anyway. With the rules of 1.1 the keys `y` and `on`
/// would be quoted.
fn options() -> SerializerOptions {
    serde_saphyr::ser_options! {
        yaml_12: true,
        no_lang_directive: true,
        compact_list_indent: false,
        prefer_block_scalars: false,
        comment_position: CommentPosition::Above,
        anchor_generator: Some(|number| format!("tree-{number}")),
    }
}

// ── nodes ───────────────────────────────────────────────────────────────────────────────────────

type Fields<'a> = Vec<(&'a str, YamlNode<'a>)>;

/// A part of the file, with the style that it is written in.
#[derive(Debug)]
enum YamlNode<'a> {
    Text(&'a str),
    Flag(bool),
    Milliseconds(u128),
    Integer(i64),
    Float(f64),
    Json(&'a Number),
    Null,
    List(Vec<YamlNode<'a>>),
    Block(Fields<'a>),
    /// On one line. What is inside of it must be `Inline` and never `Flow`: serde-saphyr 2.0 keeps the hint of a
    /// nested flow map for the next block.
    Flow(Fields<'a>),
    Inline(Fields<'a>),
    /// Written once; what points to the same tree is an alias.
    Shared(Rc<YamlNode<'a>>),
    /// With a blank line after it, and a comment above.
    Paragraph(Box<YamlNode<'a>>, Option<&'a str>),
}

impl Serialize for YamlNode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            YamlNode::Text(text) => YamlText(text).serialize(serializer),
            YamlNode::Flag(flag) => flag.serialize(serializer),
            YamlNode::Milliseconds(count) => count.serialize(serializer),
            YamlNode::Integer(number) => number.serialize(serializer),
            YamlNode::Float(number) => number.serialize(serializer),
            YamlNode::Json(number) => number.serialize(serializer),
            YamlNode::Null => serializer.serialize_unit(),
            YamlNode::List(items) => items.serialize(serializer),
            YamlNode::Block(fields) | YamlNode::Inline(fields) => YamlPairs(fields).serialize(serializer),
            YamlNode::Flow(fields) => FlowMap(YamlPairs(fields)).serialize(serializer),
            YamlNode::Shared(node) => RcAnchor(Rc::clone(node)).serialize(serializer),
            YamlNode::Paragraph(node, None) => SpaceAfter(node).serialize(serializer),
            YamlNode::Paragraph(node, Some(comment)) => {
                SpaceAfter(Commented(node, one_line(comment))).serialize(serializer)
            }
        }
    }
}

struct YamlPairs<'a>(&'a [(&'a str, YamlNode<'a>)]);

impl Serialize for YamlPairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0 {
            match OUR_KEYS.contains(key) {
                true => map.serialize_entry(key, value)?,
                false => map.serialize_entry(&YamlText(key), value)?,
            }
        }
        map.end()
    }
}

/// Bare where no reader of YAML can take it for something else than text, else in double quotes.
struct YamlText<'a>(&'a str);

/// Words that a reader of YAML 1.1 takes for something else than text (<https://yaml.org/type/bool.html>).
const NOT_TEXT: &[&str] = &["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"];
/// Keys of this format among them. The loader takes them as they are.
const OUR_KEYS: &[&str] = &["on", "y"];

impl Serialize for YamlText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_word = self.0.starts_with(char::is_alphabetic) && self.0.chars().all(is_printable);
        if is_word && !NOT_TEXT.contains(&self.0.to_lowercase().as_str()) {
            return serializer.serialize_str(self.0);
        }
        DoubleQuoted(self.0).serialize(serializer)
    }
}

fn text(text: &Option<String>) -> Option<YamlNode<'_>> {
    text.as_deref().map(YamlNode::Text)
}

fn milliseconds(time: Duration) -> YamlNode<'static> {
    YamlNode::Milliseconds(time.as_millis())
}

fn present<'a>(fields: Vec<(&'a str, Option<YamlNode<'a>>)>) -> Fields<'a> {
    fields.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

// ── the parts of a scenario ─────────────────────────────────────────────────────────────────────

fn state_name(scenario: &Scenario, index: usize) -> YamlNode<'_> {
    YamlNode::Text(scenario.states.get(index).map_or("", |state| &state.name))
}

fn beginning(scenario: &Scenario) -> Fields<'_> {
    let Rect { width, height, .. } = scenario.screen;
    vec![
        ("name", YamlNode::Text(&scenario.name)),
        ("initial_state", state_name(scenario, scenario.initial_state)),
        ("screen", YamlNode::Flow(vec![("width", integer(width)), ("height", integer(height))])),
    ]
}

fn states<'a>(scenario: &'a Scenario, comments: &'a Comments) -> YamlNode<'a> {
    let mut trees = SharedTrees::of(scenario);
    let states = scenario.states.iter().enumerate().map(|(index, one)| {
        let node = Box::new(YamlNode::Block(state(scenario, one, &mut trees)));
        (one.name.as_str(), YamlNode::Paragraph(node, comments.states.get(&index).map(String::as_str)))
    });
    YamlNode::Block(states.collect())
}

fn state<'a>(scenario: &'a Scenario, state: &'a ScenarioState, trees: &mut SharedTrees<'a>) -> Fields<'a> {
    let then = state.then.map(|then| {
        let next = state_name(scenario, then.state);
        YamlNode::Flow(vec![("after_ms", milliseconds(then.after)), ("transition_to", next)])
    });
    let windows =
        state.windows.iter().map(|window| YamlNode::Block(fields_of_window(window, trees))).collect();
    present(vec![
        ("then", then),
        ("keeps_focus", (!state.keeps_focus).then_some(YamlNode::Flag(false))),
        ("windows", Some(YamlNode::List(windows))),
    ])
}

fn fields_of_window<'a>(window: &'a WindowPlan, trees: &mut SharedTrees<'a>) -> Fields<'a> {
    let delay = window.capture_delay;
    present(vec![
        ("uid", Some(YamlNode::Text(&window.uid))),
        ("title", Some(YamlNode::Text(&window.title))),
        ("process", Some(YamlNode::Text(&window.process))),
        ("pid", Some(YamlNode::Integer(window.pid.into()))),
        ("bounds", Some(YamlNode::Flow(bounds(window.bounds)))),
        ("focused", window.focused.then_some(YamlNode::Flag(true))),
        ("minimized", window.minimized.then_some(YamlNode::Flag(true))),
        ("capture_delay_ms", (!delay.is_zero()).then(|| milliseconds(delay))),
        ("tree", Some(trees.place(window))),
    ])
}

fn app(app: &AppPlan) -> YamlNode<'_> {
    YamlNode::Flow(vec![
        ("id", YamlNode::Text(&app.id)),
        ("name", YamlNode::Text(&app.name)),
        ("program", YamlNode::Text(&app.program)),
        ("window", YamlNode::Text(&app.window)),
        ("after_ms", milliseconds(app.after)),
    ])
}

fn download(download: &DownloadPlan) -> YamlNode<'_> {
    YamlNode::Flow(vec![
        ("name", YamlNode::Text(&download.name)),
        ("url", YamlNode::Text(&download.url)),
        ("bytes", YamlNode::Integer(download.bytes.into())),
    ])
}

fn oracles(scenario: &Scenario) -> Option<YamlNode<'_>> {
    let fields = present(vec![
        ("success", list(&scenario.oracles.success, predicate)),
        ("failure", list(&scenario.oracles.failure, predicate)),
    ]);
    (!fields.is_empty()).then_some(YamlNode::Block(fields))
}

/// `None` for an empty list, which is not written.
fn list<'a, T>(items: &'a [T], node: impl Fn(&'a T) -> YamlNode<'a>) -> Option<YamlNode<'a>> {
    (!items.is_empty()).then(|| YamlNode::List(items.iter().map(node).collect()))
}

// ── trees ───────────────────────────────────────────────────────────────────────────────────────

/// Which trees are written once and named again.
struct SharedTrees<'a> {
    /// By the tree as text, which two trees share that look the same.
    repeated: HashMap<String, Option<Rc<YamlNode<'a>>>>,
}

impl<'a> SharedTrees<'a> {
    /// The loader's limit decides how many trees that occur again are aliases, the first ones first.
    fn of(scenario: &'a Scenario) -> Self {
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        let windows = scenario.states.iter().flat_map(|state| &state.windows);
        let trees: Vec<String> = windows
            .map(|window| {
                let tree = format!("{:?}", tree(window));
                let entry = counts.entry(tree.clone()).or_default();
                *entry = (entry.0 + 1, events(window));
                tree
            })
            .collect();
        let mut repeated = HashMap::new();
        let mut room = MAX_REPEATED_NODES;
        for tree in trees {
            let (times, events) = counts.remove(&tree).unwrap_or_default();
            let cost = events.saturating_mul(times.saturating_sub(1));
            if times > 1 && cost <= room {
                room -= cost;
                repeated.insert(tree, None);
            }
        }
        Self { repeated }
    }

    fn place(&mut self, window: &'a WindowPlan) -> YamlNode<'a> {
        let tree = tree(window);
        match self.repeated.get_mut(&format!("{tree:?}")) {
            None => tree,
            Some(shared) => YamlNode::Shared(Rc::clone(shared.get_or_insert_with(|| Rc::new(tree)))),
        }
    }
}

/// At most how many parts of the file an alias of this tree repeats: an element has up to twenty keys
/// with their values, its bounds five more pairs, and both have a beginning and an end.
fn events(window: &WindowPlan) -> usize {
    window.tree.len().saturating_mul(2 * 20 + 2 * 5 + 4)
}

fn tree(window: &WindowPlan) -> YamlNode<'_> {
    YamlNode::Block(fields_of_branch(window, Tree::ROOT))
}

/// An element without children is one line.
fn element(window: &WindowPlan, node: usize) -> YamlNode<'_> {
    if window.tree.end(node) > node + 1 {
        return YamlNode::Block(fields_of_branch(window, node));
    }
    let mut fields = fields_of_element(window, node);
    fields.push(("bounds", YamlNode::Inline(bounds(window.tree[node].bounds))));
    YamlNode::Flow(fields)
}

/// Depth is bounded: every tree came through the loader or was captured within the same limit.
fn fields_of_branch(window: &WindowPlan, node: usize) -> Fields<'_> {
    let mut fields = fields_of_element(window, node);
    fields.push(("bounds", YamlNode::Flow(bounds(window.tree[node].bounds))));
    let mut children = Vec::new();
    let mut child = node + 1;
    while child < window.tree.end(node) {
        children.push(element(window, child));
        child = window.tree.end(child);
    }
    if !children.is_empty() {
        fields.push(("children", YamlNode::List(children)));
    }
    fields
}

/// What an element's entry says before its bounds, in the order of the format.
fn fields_of_element(window: &WindowPlan, node: usize) -> Fields<'_> {
    let element: &Element = &window.tree[node];
    let plan: ElementPlan = window.elements.get(node).copied().unwrap_or_default();
    let appears = Some(plan.appears_after).filter(|time| !time.is_zero());
    let native = element.native.as_deref().filter(|_| plan.authored);
    present(vec![
        ("role", Some(YamlNode::Text(element.role.name()))),
        ("name", Some(YamlNode::Text(&element.name)).filter(|_| !element.name.is_empty())),
        ("id", native.map(YamlNode::Text)),
        ("value", text(&element.value)),
        ("keyboard_shortcut", text(&element.shortcut)),
        ("description", text(&element.description)),
        ("identifier", text(&element.identifier)),
        ("label_for", element.label_links.first().map(|id| YamlNode::Text(id))),
        ("enabled", (!element.enabled).then_some(YamlNode::Flag(false))),
        ("secret", element.secret.then_some(YamlNode::Flag(true))),
        ("focused", element.focused.then_some(YamlNode::Flag(true))),
        ("selected", element.selected.map(YamlNode::Flag)),
        ("expanded", element.expanded.map(YamlNode::Flag)),
        ("value_now", element.range.now.map(YamlNode::Float)),
        ("value_min", element.range.min.map(YamlNode::Float)),
        ("value_max", element.range.max.map(YamlNode::Float)),
        ("appears_after_ms", appears.map(milliseconds)),
        ("disappears_after_ms", plan.disappears_after.map(milliseconds)),
    ])
}

fn bounds(rect: Rect) -> Fields<'static> {
    [("x", rect.x), ("y", rect.y), ("width", rect.width), ("height", rect.height)]
        .map(|(key, number)| (key, integer(number)))
        .into()
}

fn integer(number: i32) -> YamlNode<'static> {
    YamlNode::Integer(number.into())
}

// ── reactions and oracles ───────────────────────────────────────────────────────────────────────

/// Each is written by itself, because serde-saphyr puts the comment of an item below its dash.
fn reactions(scenario: &Scenario, comments: &Comments) -> Result<String, Error> {
    let mut section = "reactions:\n".to_owned();
    for (index, one) in scenario.reactions.iter().enumerate() {
        let above = comments.reactions.get(&index).map(|text| comment(text)).unwrap_or_default();
        let item = yaml(&YamlNode::List(vec![YamlNode::Block(reaction(scenario, one))]))?;
        for line in above.lines().chain(item.lines()) {
            let _ = writeln!(section, "  {line}");
        }
    }
    Ok(section)
}

fn reaction<'a>(scenario: &'a Scenario, reaction: &'a Reaction) -> Fields<'a> {
    let after = Some(reaction.after).filter(|after| !after.is_zero());
    present(vec![
        ("on", Some(YamlNode::Flow(trigger(&reaction.on)))),
        ("in_state", reaction.in_state.map(|state| state_name(scenario, state))),
        ("when", list(&reaction.when, condition)),
        ("set", list(&reaction.set, change)),
        ("focus", text(&reaction.focus)),
        ("transition_to", reaction.transition_to.map(|state| state_name(scenario, state))),
        ("after_ms", after.map(milliseconds)),
    ])
}

fn trigger(on: &Trigger) -> Fields<'_> {
    present(vec![
        ("tool", Some(YamlNode::Text(on.input.name()))),
        ("window", text(&on.window)),
        ("target_id", text(&on.target_id)),
        ("target_name", text(&on.target_name)),
        ("text_regex", on.text.as_ref().map(|pattern| YamlNode::Text(pattern.as_str()))),
    ])
}

fn condition(condition: &ReactionCondition) -> YamlNode<'_> {
    YamlNode::Flow(present(vec![
        ("id", Some(YamlNode::Text(&condition.id))),
        ("window", text(&condition.window)),
        ("value", text(&condition.value)),
        ("value_not_empty", condition.value_not_empty.map(YamlNode::Flag)),
        ("selected", condition.selected.map(YamlNode::Flag)),
    ]))
}

fn change(change: &ElementChange) -> YamlNode<'_> {
    YamlNode::Flow(present(vec![
        ("id", Some(YamlNode::Text(&change.id))),
        ("window", text(&change.window)),
        ("value", text(&change.value)),
        ("name", text(&change.name)),
        ("enabled", change.enabled.map(YamlNode::Flag)),
        ("selected", change.selected.map(YamlNode::Flag)),
        ("expanded", change.expanded.map(YamlNode::Flag)),
        ("focused", change.focused.map(YamlNode::Flag)),
    ]))
}

fn predicate(predicate: &PredicateEntry) -> YamlNode<'_> {
    YamlNode::Flow(json_fields(predicate))
}

fn json_fields(map: &PredicateEntry) -> Fields<'_> {
    map.iter().map(|(key, value)| (key.as_str(), json(value))).collect()
}

/// Depth is bounded: what is nested here came through the loader or is flat.
fn json(value: &Value) -> YamlNode<'_> {
    match value {
        Value::Null => YamlNode::Null,
        Value::Bool(flag) => YamlNode::Flag(*flag),
        Value::Number(number) => YamlNode::Json(number),
        Value::String(text) => YamlNode::Text(text),
        Value::Array(items) => YamlNode::List(items.iter().map(json).collect()),
        Value::Object(map) => YamlNode::Inline(json_fields(map)),
    }
}

// ── texts ───────────────────────────────────────────────────────────────────────────────────────

fn comment(text: &str) -> String {
    format!("# {}\n", one_line(text))
}

/// A comment is one line, whatever the text has in it.
fn one_line(text: &str) -> String {
    let shown: String = text.chars().map(|c| if is_printable(c) { c } else { ' ' }).collect();
    shown.trim().to_owned()
}

/// Characters that nobody sees, or that turn a line around, stand as escapes. They must be in double quotes, where
/// `Text` puts them.
fn escape_invisible(yaml: &str) -> String {
    let mut out = String::with_capacity(yaml.len());
    for character in yaml.chars() {
        let code = u32::from(character);
        let _ = match character {
            '\n' => out.write_char(character),
            character if is_printable(character) => out.write_char(character),
            _ if code <= 0xFFFF => write!(out, "\\u{code:04X}"),
            _ => write!(out, "\\U{code:08X}"),
        };
    }
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
        let text = write(scenario, &Comments::default()).unwrap();
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
     identifier: 'null', label_for: x, appears_after_ms: 1, disappears_after_ms: 9, children: [{}, {role: '1'}]}]}}]}
reactions:
  - {on: {tool: type_text, window: w, target_id: x, target_name: 'no', text_regex: 'a|(b): #'}, in_state: b,
     when: [{id: x, window: w, value: '~', value_not_empty: true, selected: true}],
     set: [{id: x, value: '{text}', name: '-', enabled: true, selected: true, expanded: false, focused: true}],
     focus: x, transition_to: a, after_ms: 7}
downloads: [{name: a.csv, url: 'http://a/b', bytes: 3}]
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
