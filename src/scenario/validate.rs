//! Turns the file's entries into a `Scenario`, or names the line that makes no sense.
//!
//! A scenario that loads can be played: every state, id and pattern that it names exists, repeats are
//! written out, and sums of coordinates fit. Recursion here follows the file's own nesting, which the
//! parser has already bounded.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde_saphyr::{Location, Spanned};

use super::format::{
    AppEntry, BoundsEntry, ChangeEntry, ConditionEntry, DownloadEntry, ElementEntry, OraclesEntry,
    PredicateEntry, ReactionEntry, RepeatEntry, ScenarioEntry, ScreenEntry, StateEntry, ThenEntry,
    TriggerEntry, WindowEntry,
};
use super::load::{Problem, nearest_name};
use super::{
    AppPlan, DownloadPlan, ElementChange, ElementPlan, Oracles, Reaction, ReactionCondition, Scenario,
    ScenarioState, Then, Trigger, WindowPlan,
};
use crate::config::limits;
use crate::model::page::safe_file_name;
use crate::model::{Element, InputKind, Range, Rect, Role, Tree, TreeBuilder};
use crate::pattern::Pattern;

/// How deep elements may be nested; the root is the first level.
pub const MAX_DEPTH: usize = limits::TREE_DEPTH;
/// How many elements all states have together once repeats are written out.
pub const MAX_ELEMENTS: u64 = limits::YAML_NODES as u64;
/// How many bytes of text all elements have together once repeats are written out.
pub const MAX_TEXT: u64 = 4 * 1024 * 1024;
pub const MAX_REACTIONS: usize = 1_000;
pub const MAX_APPS: usize = 100;
pub const MAX_DOWNLOADS: usize = 50;
/// Patterns take long to compile for their length, so there are fewer of them than reactions.
pub const MAX_PATTERNS: usize = 100;
pub const MAX_REGEX_CHARS: usize = limits::REGEX_CHARACTERS;

const MAX_SCREEN: i64 = 32_768;
const DEFAULT_SCREEN: Rect = Rect::new(0, 0, 1920, 1080);
const DEFAULT_WINDOW: Rect = Rect::new(0, 0, 800, 600);
const FIRST_HANDLE: usize = 1_000;
const FIRST_PID: u32 = 10_000;
/// How many names an error lists before it says how many more there are.
const NAMES_SHOWN: usize = 20;

type Checked<T> = Result<T, Problem>;

pub(super) fn validate_scenario(file: Spanned<ScenarioEntry>) -> Checked<Scenario> {
    let entry = file.value;
    if entry.states.is_empty() {
        return Err(Problem::at_location(
            file.defined,
            "the scenario has no states; define at least one under states",
        ));
    }
    check_size(&entry)?;
    let name = entry.name.unwrap_or_else(|| "scenario".to_owned());
    let states = check_each(&entry.states, |(state, entry)| plan_state(&name, state, entry))?;
    let states = plan_times_of_states(states, &entry.states)?;
    let initial_state =
        entry.initial_state.map_or(Ok(0), |state| find_state(&states, "initial_state", &state))?;
    let reactions = plan_reactions(&states, entry.reactions.unwrap_or_default())?;
    let apps = plan_apps(&states, entry.apps.unwrap_or_default())?;
    let downloads = plan_downloads(entry.downloads.unwrap_or_default())?;
    let oracles = check_oracles(entry.oracles.unwrap_or_default())?;
    let screen = entry.screen.map_or(Ok(DEFAULT_SCREEN), check_screen)?;
    Ok(Scenario { name, initial_state, states, reactions, apps, downloads, oracles, screen })
}

fn check_each<T, U>(items: &[T], plan: impl FnMut(&T) -> Checked<U>) -> Checked<Vec<U>> {
    items.iter().map(plan).collect()
}

fn check_screen(screen: Spanned<ScreenEntry>) -> Checked<Rect> {
    let ScreenEntry { width, height } = screen.value;
    if !(1..=MAX_SCREEN).contains(&width) || !(1..=MAX_SCREEN).contains(&height) {
        let message = format!("the screen is {width}×{height}; each side must be from 1 to {MAX_SCREEN}");
        return Err(Problem::at_location(screen.defined, message));
    }
    Ok(Rect::new(0, 0, width as i32, height as i32))
}

// ── size ────────────────────────────────────────────────────────────────────────────────────────

/// Counts what repeats would make before any of it is made.
fn check_size(entry: &ScenarioEntry) -> Checked<()> {
    let mut total = TreeSize::default();
    let windows = entry.states.iter().filter_map(|(_, state)| state.windows.as_ref()).flatten();
    for tree in windows.filter_map(|window| window.value.tree.as_ref()) {
        total = total.add_size(measure_element(tree, 1)?);
        if total.elements > MAX_ELEMENTS {
            return Err(too_many(tree.defined, total.elements));
        }
        if total.text > MAX_TEXT {
            let message =
                format!("with this tree the texts have {} bytes; at most {MAX_TEXT} are allowed", total.text);
            return Err(Problem::at_location(tree.defined, message));
        }
    }
    Ok(())
}

fn too_many(place: Location, count: u64) -> Problem {
    Problem::at_location(
        place,
        format!("with this tree the scenario has {count} elements; at most {MAX_ELEMENTS} are allowed"),
    )
}

#[derive(Clone, Copy, Default)]
struct TreeSize {
    elements: u64,
    text: u64,
}

impl TreeSize {
    fn add_size(self, other: TreeSize) -> TreeSize {
        let elements = self.elements.saturating_add(other.elements);
        TreeSize { elements, text: self.text.saturating_add(other.text) }
    }

    fn multiply_size(self, count: u64) -> TreeSize {
        TreeSize { elements: self.elements.saturating_mul(count), text: self.text.saturating_mul(count) }
    }
}

fn measure_element(entry: &Spanned<ElementEntry>, depth: usize) -> Checked<TreeSize> {
    if depth > MAX_DEPTH {
        let message = format!("this element is more than {MAX_DEPTH} levels deep");
        return Err(Problem::at_location(entry.defined, message));
    }
    let element = &entry.value;
    let mut size = TreeSize { elements: 1, text: text_bytes(element) };
    for child in element.children.iter().flatten() {
        size = size.add_size(measure_element(child, depth + 1)?);
    }
    Ok(size.multiply_size(u64::from(count_of(element.repeat.as_ref())?)))
}

fn text_bytes(element: &ElementEntry) -> u64 {
    let id = element.id.as_ref().map(|id| &id.value);
    let texts = [&element.role, &element.name, &element.value, &element.keyboard_shortcut];
    let label_for = element.label_for.as_ref().map(|id| &id.value);
    let others = [element.description.as_ref(), element.identifier.as_ref(), id, label_for];
    let texts = texts.into_iter().flatten().chain(others.into_iter().flatten());
    texts.map(|text| text.len() as u64).sum()
}

fn count_of(repeat: Option<&Spanned<RepeatEntry>>) -> Checked<u32> {
    match repeat {
        None => Ok(1),
        Some(repeat) if repeat.value.count == 0 => {
            Err(Problem::at_location(repeat.defined, "repeat has the count 0; it must be at least 1"))
        }
        Some(repeat) => Ok(repeat.value.count),
    }
}

// ── states and windows ──────────────────────────────────────────────────────────────────────────

fn plan_state(scenario: &str, name: &Spanned<String>, entry: &StateEntry) -> Checked<ScenarioState> {
    let entries = entry.windows.as_deref().unwrap_or_default();
    let mut windows: Vec<WindowPlan> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let window = plan_window(scenario, &name.value, index, entry)?;
        check_window(name, &windows, &window, entry)?;
        windows.push(window);
    }
    let changes = change_times(&windows);
    let keeps_focus = entry.keeps_focus.unwrap_or(true);
    Ok(ScenarioState { name: name.value.clone(), windows, then: None, keeps_focus, changes })
}

/// Only when every state is known can one say what another becomes.
fn plan_times_of_states(
    mut states: Vec<ScenarioState>,
    entries: &[(Spanned<String>, StateEntry)],
) -> Checked<Vec<ScenarioState>> {
    for (index, (_, entry)) in entries.iter().enumerate() {
        if let Some(then) = &entry.then {
            states[index].then = Some(plan_then(&states, then)?);
        }
    }
    for (index, (_, entry)) in entries.iter().enumerate() {
        if let Some(then) = entry.then.as_ref().filter(|_| returns_by_itself(&states, index)) {
            let message = "this leads back to the same state; timed transitions may not form a cycle";
            return Err(Problem::at_location(then.defined, message));
        }
    }
    Ok(states)
}

fn plan_then(states: &[ScenarioState], then: &Spanned<ThenEntry>) -> Checked<Then> {
    if then.value.after_ms == 0 {
        return Err(Problem::at_location(
            then.defined,
            "after_ms is 0; a state must last a while before it ends",
        ));
    }
    let state = find_state(states, "transition_to", &then.value.transition_to)?;
    Ok(Then { after: milliseconds(Some(then.value.after_ms)), state })
}

fn returns_by_itself(states: &[ScenarioState], start: usize) -> bool {
    let next = |state: &usize| states[*state].then.map(|then| then.state);
    std::iter::successors(next(&start), next).take(states.len()).any(|state| state == start)
}

fn check_window(
    state: &Spanned<String>,
    before: &[WindowPlan],
    window: &WindowPlan,
    entry: &Spanned<WindowEntry>,
) -> Checked<()> {
    let place = entry.value.uid.as_ref().map_or(entry.defined, |uid| uid.defined);
    if before.iter().any(|other| other.uid == window.uid) {
        let message =
            format!("the state \"{}\" has two windows with the uid \"{}\"", state.value, window.uid);
        return Err(Problem::at_location(place, message));
    }
    if window.focused && before.iter().any(|other| other.focused) {
        let message =
            format!("the state \"{}\" has two focused windows; at most one is allowed", state.value);
        return Err(Problem::at_location(place, message));
    }
    if window.focused && window.minimized {
        return Err(Problem::at_location(place, "a window cannot be focused and minimized at once"));
    }
    Ok(())
}

fn change_times(windows: &[WindowPlan]) -> Vec<Duration> {
    let elements = windows.iter().flat_map(|window| &window.elements);
    let times = elements.flat_map(|element| [Some(element.appears_after), element.disappears_after]);
    let times: BTreeSet<Duration> = times.flatten().filter(|time| !time.is_zero()).collect();
    times.into_iter().collect()
}

fn plan_window(
    scenario: &str,
    state: &str,
    index: usize,
    spanned: &Spanned<WindowEntry>,
) -> Checked<WindowPlan> {
    let entry = &spanned.value;
    let bounds = entry
        .bounds
        .as_ref()
        .map_or(Ok(DEFAULT_WINDOW), |bounds| check_bounds(bounds.defined, bounds.value, (0, 0)))?;
    let (tree, elements) = match &entry.tree {
        Some(tree) => plan_tree(tree, bounds)?,
        None => empty_tree(),
    };
    Ok(WindowPlan {
        uid: entry.uid.as_ref().map_or_else(|| format!("mock:{state}"), |uid| uid.value.clone()),
        handle: (FIRST_HANDLE + index).to_string(),
        title: entry.title.clone().unwrap_or_else(|| scenario.to_owned()),
        process: entry.process.clone().unwrap_or_else(|| "scenario.exe".to_owned()),
        pid: entry.pid.unwrap_or(FIRST_PID.saturating_add(index as u32)),
        bounds,
        focused: entry.focused.unwrap_or(false),
        minimized: entry.minimized.unwrap_or(false),
        capture_delay: milliseconds(entry.capture_delay_ms),
        tree,
        elements,
    })
}

fn empty_tree() -> (Tree, Vec<ElementPlan>) {
    let root = Element::new(Role::Window, "(empty)", DEFAULT_WINDOW);
    (with_handles(&Tree::of_root(root), &[None]), vec![ElementPlan::default()])
}

fn milliseconds(count: Option<u32>) -> Duration {
    Duration::from_millis(u64::from(count.unwrap_or(0)))
}

fn check_bounds(place: Location, bounds: BoundsEntry, shift: (i64, i64)) -> Checked<Rect> {
    let BoundsEntry { x, y, width, height } = bounds;
    if width < 0 || height < 0 {
        return Err(Problem::at_location(
            place,
            format!("the bounds are {width}×{height}; no side can be negative"),
        ));
    }
    fit_span(x.checked_add(shift.0), width)
        .zip(fit_span(y.checked_add(shift.1), height))
        .map(|((x, width), (y, height))| Rect::new(x, y, width, height))
        .ok_or_else(|| {
            Problem::at_location(
                place,
                "these bounds are outside of the range of screen coordinates (32 bits)",
            )
        })
}

/// A start and a length whose sum fits as well.
fn fit_span(start: Option<i64>, length: i64) -> Option<(i32, i32)> {
    let start = start?;
    i32::try_from(start.checked_add(length)?).ok()?;
    Some((i32::try_from(start).ok()?, i32::try_from(length).ok()?))
}

// ── elements ────────────────────────────────────────────────────────────────────────────────────

/// One element of the written-out tree, before it has its place in it.
struct Planned {
    depth: usize,
    element: Element,
    plan: ElementPlan,
    id: Option<String>,
    place: Location,
}

fn plan_tree(root: &Spanned<ElementEntry>, window: Rect) -> Checked<(Tree, Vec<ElementPlan>)> {
    if let Some(repeat) = &root.value.repeat {
        return Err(Problem::at_location(repeat.defined, "the root of a tree cannot be repeated"));
    }
    if root.value.appears_after_ms.is_some() || root.value.disappears_after_ms.is_some() {
        return Err(Problem::at_location(
            root.defined,
            "the root of a tree is always there; it cannot appear later",
        ));
    }
    let mut writer = PlanWriter { window, planned: Vec::new() };
    writer.write(root, 0, &[], (0, 0))?;
    let planned = writer.planned;
    let ids: Vec<Option<String>> = planned.iter().map(|item| item.id.clone()).collect();
    let plans = planned.iter().map(|item| item.plan).collect();
    let places: Vec<Location> = planned.iter().map(|item| item.place).collect();
    check_focus(&planned)?;
    check_labels(&planned)?;
    let tree = build_tree(planned);
    check_ids(&tree, &ids, &places)?;
    Ok((with_handles(&tree, &ids), plans))
}

struct PlanWriter {
    window: Rect,
    planned: Vec<Planned>,
}

impl PlanWriter {
    /// `numbers` are those of the repeats around the entry, the innermost last.
    fn write(
        &mut self,
        entry: &Spanned<ElementEntry>,
        depth: usize,
        numbers: &[u32],
        shift: (i64, i64),
    ) -> Checked<()> {
        let Some(repeat) = &entry.value.repeat else {
            return self.write_once(entry, depth, numbers, shift);
        };
        let RepeatEntry { count, dx, dy } = repeat.value;
        for number in 1..=count {
            let numbers = [numbers, &[number]].concat();
            let shift = shifted_by(shift, (dx, dy), number - 1).ok_or_else(|| {
                Problem::at_location(
                    repeat.defined,
                    "dx and dy lead outside of the range of screen coordinates",
                )
            })?;
            self.write_once(entry, depth, &numbers, shift)?;
        }
        Ok(())
    }

    fn write_once(
        &mut self,
        entry: &Spanned<ElementEntry>,
        depth: usize,
        numbers: &[u32],
        shift: (i64, i64),
    ) -> Checked<()> {
        let planned = self.plan_element(entry, depth, numbers, shift)?;
        self.planned.push(planned);
        for child in entry.value.children.iter().flatten() {
            self.write(child, depth + 1, numbers, shift)?;
        }
        Ok(())
    }

    fn plan_element(
        &self,
        spanned: &Spanned<ElementEntry>,
        depth: usize,
        numbers: &[u32],
        shift: (i64, i64),
    ) -> Checked<Planned> {
        let entry = &spanned.value;
        let bounds = match &entry.bounds {
            Some(bounds) => check_bounds(bounds.defined, bounds.value, shift)?,
            None => self.window,
        };
        let id = entry.id.as_ref().map(|id| number_text(&id.value, numbers));
        Ok(Planned {
            depth,
            element: plan_element(spanned, bounds, numbers)?,
            plan: plan_times(spanned, id.is_some())?,
            id,
            place: entry.id.as_ref().map_or(spanned.defined, |id| id.defined),
        })
    }
}

fn shifted_by(shift: (i64, i64), step: (i64, i64), times: u32) -> Option<(i64, i64)> {
    let far = |start: i64, step: i64| start.checked_add(step.checked_mul(i64::from(times))?);
    Some((far(shift.0, step.0)?, far(shift.1, step.1)?))
}

fn plan_element(spanned: &Spanned<ElementEntry>, bounds: Rect, numbers: &[u32]) -> Checked<Element> {
    let entry = &spanned.value;
    let text = |text: &Option<String>| text.as_ref().map(|text| number_text(text, numbers));
    Ok(Element {
        role: entry.role.as_deref().map_or(Role::Unknown, Role::parse),
        name: text(&entry.name).unwrap_or_default(),
        value: text(&entry.value),
        bounds,
        enabled: entry.enabled.unwrap_or(true),
        focused: entry.focused.unwrap_or(false),
        selected: entry.selected,
        expanded: entry.expanded,
        range: plan_range(spanned)?,
        shortcut: text(&entry.keyboard_shortcut),
        shown_text: None,
        description: text(&entry.description),
        identifier: text(&entry.identifier),
        secret: entry.secret.unwrap_or(false),
        redacted: false,
        editable: false,
        read_only: false,
        invalid: false,
        hidden: false,
        unseen: None,
        native: None,
        label_links: text(&entry.label_for.as_ref().map(|id| id.value.clone())).into_iter().collect(),
        native_is_place: false,
        is_document: false,
    })
}

fn plan_range(spanned: &Spanned<ElementEntry>) -> Checked<Range> {
    let ElementEntry { value_now: now, value_min: min, value_max: max, .. } = spanned.value;
    let numbers = [now, min, max];
    let ordered = min.zip(max).is_none_or(|(min, max)| min <= max);
    if ordered && numbers.into_iter().flatten().all(f64::is_finite) {
        return Ok(Range { now, min, max });
    }
    Err(Problem::at_location(
        spanned.defined,
        "value_now, value_min and value_max must be numbers, and min at most max",
    ))
}

fn plan_times(spanned: &Spanned<ElementEntry>, authored: bool) -> Checked<ElementPlan> {
    let entry = &spanned.value;
    let appears_after = milliseconds(entry.appears_after_ms);
    let disappears_after = entry.disappears_after_ms.map(|end| milliseconds(Some(end)));
    if disappears_after.is_some_and(|end| end <= appears_after) {
        return Err(Problem::at_location(spanned.defined, "this element disappears before it appears"));
    }
    Ok(ElementPlan { authored, appears_after, disappears_after })
}

/// Writes the numbers of the repeats into a text.
fn number_text(text: &str, numbers: &[u32]) -> String {
    let Some((nearest, around)) = numbers.split_last() else {
        return text.to_owned();
    };
    let text = text.replace("{n}", &nearest.to_string());
    match around.last() {
        Some(outer) => text.replace("{outer}", &outer.to_string()),
        None => text,
    }
}

fn check_focus(planned: &[Planned]) -> Checked<()> {
    match planned.iter().filter(|item| item.element.focused).nth(1) {
        None => Ok(()),
        Some(second) => Err(Problem::at_location(
            second.place,
            "a second element of this window is focused; at most one is allowed",
        )),
    }
}

/// A label leads to an element of its own window.
fn check_labels(planned: &[Planned]) -> Checked<()> {
    let ids: BTreeSet<&str> = planned.iter().filter_map(|item| item.id.as_deref()).collect();
    let lost = |item: &&Planned| item.element.label_links.iter().any(|id| !ids.contains(id.as_str()));
    match planned.iter().find(lost) {
        None => Ok(()),
        Some(item) => {
            let message =
                format!("label_for: no element of this window has the id {:?}", item.element.label_links[0]);
            Err(Problem::at_location(item.place, message))
        }
    }
}

fn build_tree(planned: Vec<Planned>) -> Tree {
    let mut planned = planned.into_iter();
    let root = planned.next().map(|item| item.element).unwrap_or_default();
    let mut builder = TreeBuilder::new(root);
    for item in planned {
        while builder.depth() > item.depth {
            builder.close();
        }
        builder.open(item.element);
    }
    builder.finish()
}

fn check_ids(tree: &Tree, ids: &[Option<String>], places: &[Location]) -> Checked<()> {
    let mut seen = BTreeSet::new();
    for (node, id) in ids.iter().enumerate() {
        let Some(id) = id else { continue };
        let place = places.get(node).copied().unwrap_or(Location::UNKNOWN);
        if id.is_empty() {
            return Err(Problem::at_location(place, "an id cannot be empty"));
        }
        if !seen.insert(id) {
            let message = format!("the id \"{id}\" occurs twice in this window; in a repeat use {{n}} in it");
            return Err(Problem::at_location(place, message));
        }
        if tree.find_id(id).is_some_and(|other| other != node) {
            let message = format!("the id \"{id}\" is the position of another element; choose another");
            return Err(Problem::at_location(place, message));
        }
    }
    Ok(())
}

fn with_handles(tree: &Tree, ids: &[Option<String>]) -> Tree {
    let mut node = 0;
    tree.map_elements(|element| {
        let id = ids.get(node).cloned().flatten();
        element.native_is_place = id.is_none();
        element.native = Some(id.unwrap_or_else(|| tree.id(node)));
        node += 1;
    })
}

// ── reactions ───────────────────────────────────────────────────────────────────────────────────

fn plan_reactions(states: &[ScenarioState], entries: Vec<Spanned<ReactionEntry>>) -> Checked<Vec<Reaction>> {
    let patterns = entries.iter().filter_map(|entry| entry.value.on.text_regex.as_ref());
    check_count("reactions", entries.iter().map(|entry| entry.defined), MAX_REACTIONS)?;
    check_count("text_regex patterns", patterns.map(|pattern| pattern.defined), MAX_PATTERNS)?;
    let known = KnownIds::of(states);
    entries.into_iter().map(|entry| plan_reaction(states, &known, entry)).collect()
}

fn check_count(what: &str, mut places: impl Iterator<Item = Location>, most: usize) -> Checked<()> {
    match places.nth(most) {
        None => Ok(()),
        Some(extra) => Err(Problem::at_location(extra, format!("the scenario has more than {most} {what}"))),
    }
}

fn plan_reaction(
    states: &[ScenarioState],
    known: &KnownIds,
    spanned: Spanned<ReactionEntry>,
) -> Checked<Reaction> {
    let entry = spanned.value;
    let set = entry.set.unwrap_or_default();
    if set.is_empty() && entry.focus.is_none() && entry.transition_to.is_none() {
        return Err(Problem::at_location(
            spanned.defined,
            "this reaction does nothing; give it set, focus or transition_to",
        ));
    }
    let to_state = |state| find_state(states, "transition_to", &state);
    let within = |state| find_state(states, "in_state", &state);
    Ok(Reaction {
        on: plan_trigger(known, entry.on)?,
        when: entry
            .when
            .unwrap_or_default()
            .into_iter()
            .map(|item| plan_condition(known, item))
            .collect::<Checked<_>>()?,
        set: set.into_iter().map(|item| plan_change(known, item)).collect::<Checked<_>>()?,
        focus: entry
            .focus
            .map(|id| known.require_unique("focus", &id, None).map(|()| id.value))
            .transpose()?,
        transition_to: entry.transition_to.map(to_state).transpose()?,
        in_state: entry.in_state.map(within).transpose()?,
        after: milliseconds(entry.after_ms),
    })
}

fn find_state(states: &[ScenarioState], key: &str, wanted: &Spanned<String>) -> Checked<usize> {
    states.iter().position(|state| state.name == wanted.value).ok_or_else(|| {
        let names: Vec<&str> = states.iter().map(|state| state.name.as_str()).collect();
        let message =
            format!("{key} names the state \"{}\"; states are {}", wanted.value, list_names(&names));
        Problem::at_location(wanted.defined, message)
    })
}

fn plan_trigger(known: &KnownIds, entry: TriggerEntry) -> Checked<Trigger> {
    let window = known.known_window("on", entry.window)?;
    if let Some(id) = &entry.target_id {
        known.require_any("target_id", id, window.as_deref())?;
    }
    Ok(Trigger {
        input: find_input(&entry.tool)?,
        window,
        target_id: entry.target_id.map(|id| id.value),
        target_name: entry.target_name,
        text: entry.text_regex.map(|pattern| whole_text(&pattern)).transpose()?,
    })
}

fn find_input(wanted: &Spanned<String>) -> Checked<InputKind> {
    InputKind::parse(&wanted.value).ok_or_else(|| {
        let names = InputKind::ALL.map(InputKind::name);
        let advice = did_you_mean(&wanted.value, &names);
        let message = format!("tool is \"{}\", which a reaction cannot use; {advice}", wanted.value);
        Problem::at_location(wanted.defined, message)
    })
}

fn plan_condition(known: &KnownIds, spanned: Spanned<ConditionEntry>) -> Checked<ReactionCondition> {
    let entry = spanned.value;
    if entry.value.is_none() && entry.value_not_empty.is_none() && entry.selected.is_none() {
        let message = "this condition is empty; give it value, value_not_empty or selected";
        return Err(Problem::at_location(spanned.defined, message));
    }
    known.require_unique("when", &entry.id, entry.window.as_ref().map(|uid| uid.value.as_str()))?;
    Ok(ReactionCondition {
        id: entry.id.value,
        window: known.known_window("when", entry.window)?,
        value: entry.value,
        value_not_empty: entry.value_not_empty,
        selected: entry.selected,
    })
}

fn plan_change(known: &KnownIds, spanned: Spanned<ChangeEntry>) -> Checked<ElementChange> {
    let entry = spanned.value;
    let flags = [entry.enabled, entry.selected, entry.expanded, entry.focused];
    if entry.value.is_none() && entry.name.is_none() && flags.iter().all(Option::is_none) {
        let message = "this set changes nothing; give it value, name, enabled, selected, expanded or focused";
        return Err(Problem::at_location(spanned.defined, message));
    }
    known.require_unique("set", &entry.id, entry.window.as_ref().map(|uid| uid.value.as_str()))?;
    Ok(ElementChange {
        id: entry.id.value,
        window: known.known_window("set", entry.window)?,
        value: entry.value,
        name: entry.name,
        enabled: entry.enabled,
        selected: entry.selected,
        expanded: entry.expanded,
        focused: entry.focused,
    })
}

fn whole_text(pattern: &Spanned<String>) -> Checked<Pattern> {
    let text = &pattern.value;
    let length = text.chars().count();
    if length > MAX_REGEX_CHARS {
        let message = format!("text_regex has {length} characters; at most {MAX_REGEX_CHARS} are allowed");
        return Err(Problem::at_location(pattern.defined, message));
    }
    Pattern::compile_whole(text)
        .map_err(|problem| Problem::at_location(pattern.defined, format!("text_regex is invalid: {problem}")))
}

/// Which author ids and window uids exist, and in which states.
struct KnownIds<'a> {
    /// For each id its windows, by state.
    ids: HashMap<&'a str, BTreeMap<usize, Vec<&'a str>>>,
    uids: BTreeSet<&'a str>,
}

impl<'a> KnownIds<'a> {
    fn of(states: &'a [ScenarioState]) -> Self {
        let mut known = KnownIds { ids: HashMap::new(), uids: BTreeSet::new() };
        for (state, window) in
            states.iter().enumerate().flat_map(|(index, state)| state.windows.iter().map(move |w| (index, w)))
        {
            known.uids.insert(&window.uid);
            for (element, plan) in window.tree.elements().iter().zip(&window.elements) {
                let Some(id) = element.native.as_deref().filter(|_| plan.authored) else { continue };
                known.ids.entry(id).or_default().entry(state).or_default().push(&window.uid);
            }
        }
        known
    }

    /// The id exists, in the window if one is named.
    fn require_any(&self, key: &str, id: &Spanned<String>, window: Option<&str>) -> Checked<()> {
        let Some(states) = self.ids.get(id.value.as_str()) else {
            let names: Vec<&str> = self.ids.keys().copied().collect::<BTreeSet<_>>().into_iter().collect();
            let hint = did_you_mean(&id.value, &names);
            return Err(Problem::at_location(
                id.defined,
                format!("{key} names the id \"{}\", which no element has; {hint}", id.value),
            ));
        };
        match window {
            Some(uid) if !states.values().flatten().any(|other| *other == uid) => {
                let message =
                    format!("{key} names the id \"{}\", which is not in window \"{uid}\"", id.value);
                Err(Problem::at_location(id.defined, message))
            }
            _ => Ok(()),
        }
    }

    /// The id exists and means one element in every state that has it.
    fn require_unique(&self, key: &str, id: &Spanned<String>, window: Option<&str>) -> Checked<()> {
        self.require_any(key, id, window)?;
        let states = self.ids.get(id.value.as_str()).filter(|_| window.is_none());
        match states.and_then(|states| states.values().find(|windows| windows.len() > 1)) {
            None => Ok(()),
            Some(windows) => {
                let message = format!(
                    "{key} names the id \"{}\", which is in the windows {}; choose one with window in the set or when",
                    id.value,
                    list_names(windows)
                );
                Err(Problem::at_location(id.defined, message))
            }
        }
    }

    fn known_window(&self, key: &str, uid: Option<Spanned<String>>) -> Checked<Option<String>> {
        let Some(uid) = uid else { return Ok(None) };
        if self.uids.contains(uid.value.as_str()) {
            return Ok(Some(uid.value));
        }
        let uids: Vec<&str> = self.uids.iter().copied().collect();
        let message = format!("{key} names the window \"{}\"; windows are {}", uid.value, list_names(&uids));
        Err(Problem::at_location(uid.defined, message))
    }
}

// ── apps ────────────────────────────────────────────────────────────────────────────────────────

fn plan_apps(states: &[ScenarioState], entries: Vec<Spanned<AppEntry>>) -> Checked<Vec<AppPlan>> {
    let known = KnownIds::of(states);
    let mut apps: Vec<AppPlan> = Vec::with_capacity(entries.len());
    for entry in entries {
        let app = plan_app(&known, entry.value, &apps)?;
        apps.push(app);
        if apps.len() > MAX_APPS {
            return Err(Problem::at_location(
                entry.defined,
                format!("a scenario may have at most {MAX_APPS} apps"),
            ));
        }
    }
    Ok(apps)
}

fn plan_app(known: &KnownIds, entry: AppEntry, before: &[AppPlan]) -> Checked<AppPlan> {
    let id = entry.id.value;
    if id.trim().is_empty() || before.iter().any(|other| other.id == id) {
        let message = format!("the id \"{id}\" of an app is empty or taken");
        return Err(Problem::at_location(entry.id.defined, message));
    }
    let window = known.known_window("window", Some(entry.window))?.unwrap_or_default();
    let named = |text: Option<String>| text.filter(|text| !text.is_empty()).unwrap_or_else(|| id.clone());
    let (name, program) = (named(entry.name), named(entry.program));
    Ok(AppPlan { name, program, window, after: milliseconds(entry.after_ms), id })
}

fn plan_downloads(entries: Vec<Spanned<DownloadEntry>>) -> Checked<Vec<DownloadPlan>> {
    if let Some(one_more) = entries.get(MAX_DOWNLOADS) {
        let message = format!("a scenario may have at most {MAX_DOWNLOADS} downloads");
        return Err(Problem::at_location(one_more.defined, message));
    }
    check_each(&entries, |entry| {
        let DownloadEntry { name, url, bytes } = &entry.value;
        if safe_file_name(name) != *name {
            let message = format!("the name \"{name}\" of a download is no plain name of a file");
            return Err(Problem::at_location(entry.defined, message));
        }
        let (name, url) = (name.clone(), url.clone().unwrap_or_default());
        Ok(DownloadPlan { name, url, bytes: bytes.unwrap_or(0) })
    })
}

fn did_you_mean(wanted: &str, names: &[&str]) -> String {
    match nearest_name(wanted, names) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if names.is_empty() => "there are none".to_owned(),
        None => format!("there are {}", list_names(names)),
    }
}

fn list_names(names: &[&str]) -> String {
    match names.split_at_checked(NAMES_SHOWN) {
        Some((shown, rest)) if !rest.is_empty() => {
            format!("{} and {} more", shown.join(", "), rest.len())
        }
        _ => names.join(", "),
    }
}

// ── oracles ─────────────────────────────────────────────────────────────────────────────────────

fn check_oracles(entry: OraclesEntry) -> Checked<Oracles> {
    Ok(Oracles {
        success: check_predicates(entry.success.unwrap_or_default())?,
        failure: check_predicates(entry.failure.unwrap_or_default())?,
    })
}

fn check_predicates(entries: Vec<Spanned<PredicateEntry>>) -> Checked<Vec<PredicateEntry>> {
    entries.into_iter().map(check_predicate).collect()
}

fn check_predicate(entry: Spanned<PredicateEntry>) -> Checked<PredicateEntry> {
    if entry.value.get("kind").is_some_and(serde_json::Value::is_string) {
        return Ok(entry.value);
    }
    Err(Problem::at_location(entry.defined, "an oracle needs a kind, for example kind: text_visible"))
}

#[cfg(test)]
mod tests {
    use super::super::load::load_str;
    use super::*;

    /// Loads `yaml` and expects an error that reads exactly so.
    fn check(yaml: &str, expected: &str) {
        match load_str(yaml, "t.yaml") {
            Ok(_) => panic!("loaded, but expected: {expected}"),
            Err(error) => assert_eq!(error.to_string(), expected, "in\n{yaml}"),
        }
    }

    /// One state with one window whose tree has `children`, then `rest`.
    fn with_children(children: &str, rest: &str) -> String {
        format!(
            "states:\n  start:\n    windows:\n      - tree:\n          children:\n            [{children}]\n{rest}"
        )
    }

    fn loaded(yaml: &str) -> Scenario {
        load_str(yaml, "t.yaml").unwrap_or_else(|error| panic!("{error}"))
    }

    /// H-42 on code: no states.
    #[test]
    fn states_are_needed() {
        check("name: x\n", "t.yaml:1:1: the scenario has no states; define at least one under states");
        check(
            "name: x\nstates: {}\n",
            "t.yaml:1:1: the scenario has no states; define at least one under states",
        );
        check("", "t.yaml:1:1: the scenario has no states; define at least one under states");
    }

    /// H-42 on code: unknown targets.
    #[test]
    fn state_names_must_exist() {
        check(
            "initial_state: begin\nstates: {start: {}, end: {}}\n",
            "t.yaml:1:16: initial_state names the state \"begin\"; states are start, end",
        );
        check(
            &with_children(
                "{id: b}",
                "reactions:\n  - on: {tool: click_element}\n    transition_to: welcom\n",
            ),
            "t.yaml:9:20: transition_to names the state \"welcom\"; states are start",
        );
    }

    #[test]
    fn time_leads_forward() {
        let then = |then: &str| format!("states:\n  a: {{then: {then}}}\n  b: {{}}\n");
        check(
            &then("{after_ms: 0, transition_to: b}"),
            "t.yaml:2:13: after_ms is 0; a state must last a while before it ends",
        );
        check(
            &then("{after_ms: 5, transition_to: c}"),
            "t.yaml:2:42: transition_to names the state \"c\"; states are a, b",
        );
        let circle = "t.yaml:2:13: this leads back to the same state; timed transitions may not form a cycle";
        check(&then("{after_ms: 5, transition_to: a}"), circle);
        let round = "states:\n  a: {then: {after_ms: 5, transition_to: b}}\n  b: {then: {after_ms: 5, transition_to: a}}\n";
        check(round, circle);
    }

    #[test]
    fn a_reaction_may_belong_to_a_state() {
        check(
            &with_children(
                "",
                "reactions:\n  - {on: {tool: drag}, transition_to: start, in_state: nowhere}\n",
            ),
            "t.yaml:8:56: in_state names the state \"nowhere\"; states are start",
        );
    }

    #[test]
    fn ids_must_exist() {
        let reaction = |body: &str| with_children("{id: button}", &format!("reactions:\n  - {body}\n"));
        check(
            &reaction("{on: {tool: click_element, target_id: buton}, focus: button}"),
            "t.yaml:8:43: target_id names the id \"buton\", which no element has; did you mean \"button\"?",
        );
        check(
            &reaction("{on: {tool: type_text}, set: [{id: zzzzzzzz, value: a}]}"),
            "t.yaml:8:40: set names the id \"zzzzzzzz\", which no element has; there are button",
        );
        check(
            &reaction("{on: {tool: type_text}, when: [{id: b, value: a}], focus: button}"),
            "t.yaml:8:41: when names the id \"b\", which no element has; there are button",
        );
        check(
            &reaction("{on: {tool: type_text}, focus: botton}"),
            "t.yaml:8:36: focus names the id \"botton\", which no element has; did you mean \"button\"?",
        );
    }

    /// H-42 on code: ids that occur twice.
    #[test]
    fn ids_are_unique_in_a_window() {
        check(
            &with_children("{id: a}, {id: b}, {id: a}", ""),
            "t.yaml:6:37: the id \"a\" occurs twice in this window; in a repeat use {n} in it",
        );
        check(
            &with_children("{id: a, repeat: {count: 2}}", ""),
            "t.yaml:6:19: the id \"a\" occurs twice in this window; in a repeat use {n} in it",
        );
        check(
            &with_children("{id: root.1}, {}", ""),
            "t.yaml:6:19: the id \"root.1\" is the position of another element; choose another",
        );
        check(&with_children("{id: ''}", ""), "t.yaml:6:19: an id cannot be empty");
    }

    const TWO_WINDOWS: &str = "states:
  start:
    windows:
      - {uid: one, tree: {children: [{id: ok}]}}
      - {uid: two, tree: {children: [{id: ok}]}}
reactions:
";

    #[test]
    fn an_id_of_two_windows_needs_the_window() {
        let reaction = |body: &str| format!("{TWO_WINDOWS}  - {body}\n");
        check(
            &reaction("{on: {tool: type_text}, set: [{id: ok, value: a}]}"),
            "t.yaml:7:40: set names the id \"ok\", which is in the windows one, two; choose one with window \
             in the set or when",
        );
        check(
            &reaction("{on: {tool: type_text}, set: [{id: ok, value: a, window: three}]}"),
            "t.yaml:7:40: set names the id \"ok\", which is not in window \"three\"",
        );
        check(
            &reaction("{on: {tool: type_text, window: three}, transition_to: start}"),
            "t.yaml:7:36: on names the window \"three\"; windows are one, two",
        );
        loaded(&reaction("{on: {tool: type_text}, set: [{id: ok, value: a, window: two}]}"));
    }

    #[test]
    fn windows_of_a_state_differ() {
        check(
            "states:\n  start:\n    windows:\n      - {uid: a}\n      - {uid: a}\n",
            "t.yaml:5:15: the state \"start\" has two windows with the uid \"a\"",
        );
        check(
            "states:\n  start:\n    windows: [{}, {}]\n",
            "t.yaml:3:19: the state \"start\" has two windows with the uid \"mock:start\"",
        );
        check(
            "states:\n  start:\n    windows: [{uid: a, focused: true}, {uid: b, focused: true}]\n",
            "t.yaml:3:46: the state \"start\" has two focused windows; at most one is allowed",
        );
        check(
            "states:\n  start:\n    windows: [{focused: true, minimized: true}]\n",
            "t.yaml:3:15: a window cannot be focused and minimized at once",
        );
    }

    /// H-42 on code: keys that occur twice.
    #[test]
    fn unknown_and_doubled_keys_are_named() {
        check(
            "states: {}\nnmae: x\n",
            "t.yaml:2:1: the key \"nmae\" is unknown here; did you mean \"name\"?",
        );
        check(
            &with_children("{enabeld: true}", ""),
            "t.yaml:6:15: the key \"enabeld\" is unknown here; did you mean \"enabled\"?",
        );
        check(
            "states: {s: {colour_of_everything: red}}\n",
            "t.yaml:1:14: the key \"colour_of_everything\" is unknown here; known keys are windows, then, keeps_focus",
        );
        check("name: a\nname: b\n", "t.yaml:2:1: the key \"name\" occurs twice in this mapping");
        check("states:\n  a: {}\n  a: {}\n", "t.yaml:3:3: the key \"a\" occurs twice in this mapping");
        check(
            &with_children("", "reactions:\n  - {match: {tool: type_text}, on: {tool: type_text}}\n"),
            "t.yaml:8:5: duplicate field `on`",
        );
        check(
            &with_children("", "reactions:\n  - {on: {target_name: a}}\n"),
            "t.yaml:8:11: the key \"tool\" is missing here",
        );
    }

    /// H-43 on code: patterns of scenarios.
    #[test]
    fn patterns_are_checked() {
        let pattern = |pattern: &str| {
            let reaction =
                format!("{{on: {{tool: type_text, text_regex: '{pattern}'}}, transition_to: start}}");
            with_children("", &format!("reactions:\n  - {reaction}\n"))
        };
        check(
            &pattern("("),
            "t.yaml:8:40: text_regex is invalid: the pattern does not compile: unclosed group (at character 1)",
        );
        check(
            &pattern("a)|(?:b"),
            "t.yaml:8:40: text_regex is invalid: the pattern does not compile: unopened group (at character 2)",
        );
        check(
            &pattern(r"\w{2000}"),
            "t.yaml:8:40: text_regex is invalid: the pattern compiles to more than 1048576 bytes; use smaller repetitions",
        );
        check(
            &pattern(&"a".repeat(513)),
            "t.yaml:8:40: text_regex has 513 characters; at most 512 are allowed",
        );
    }

    /// H-46 on code: repetitions of repetitions.
    #[test]
    fn size_is_limited_before_it_is_made() {
        check(
            &with_children("{repeat: {count: 10000}}", ""),
            "t.yaml:5:11: with this tree the scenario has 10001 elements; at most 10000 are allowed",
        );
        let nested = "{repeat: {count: 4000000000}, children: [".repeat(20) + "{}" + &"]}".repeat(20);
        check(
            &with_children(&nested, ""),
            &format!(
                "t.yaml:5:11: with this tree the scenario has {} elements; at most 10000 are allowed",
                u64::MAX
            ),
        );
        check(
            &with_children(&format!("{{name: {}, repeat: {{count: 9000}}}}", "x".repeat(1000)), ""),
            "t.yaml:5:11: with this tree the texts have 9000000 bytes; at most 4194304 are allowed",
        );
        check(
            &with_children("{repeat: {count: 0}}", ""),
            "t.yaml:6:23: repeat has the count 0; it must be at least 1",
        );
    }

    #[test]
    fn depth_is_limited() {
        let deep = |levels: usize| "{children: [".repeat(levels - 2) + "{}" + &"]}".repeat(levels - 2);
        assert_eq!(loaded(&with_children(&deep(64), "")).states[0].windows[0].tree.len(), 64);
        check(&with_children(&deep(65), ""), "t.yaml:6:770: this element is more than 64 levels deep");
        check(
            &with_children(&deep(100), ""),
            "t.yaml:6:805: this is nested too deep: elements may be 64 deep",
        );
    }

    #[test]
    fn bounds_fit_the_screen_numbers() {
        let bounds = |bounds: &str| with_children(&format!("{{bounds: {{{bounds}}}}}"), "");
        let overflow = "t.yaml:6:23: these bounds are outside of the range of screen coordinates (32 bits)";
        check(&bounds("x: 2147483647, width: 1, height: 1"), overflow);
        check(&bounds("y: -2147483649, width: 1, height: 1"), overflow);
        check(&bounds("x: 9223372036854775807, width: 1, height: 1"), overflow);
        check(&bounds("width: 1, height: -2"), "t.yaml:6:23: the bounds are 1×-2; no side can be negative");
        check(
            &with_children("{bounds: {width: 1, height: 1}, repeat: {count: 3, dx: 2147483647}}", ""),
            "t.yaml:6:23: these bounds are outside of the range of screen coordinates (32 bits)",
        );
        check(
            &with_children("{repeat: {count: 3, dx: 9223372036854775807}}", ""),
            "t.yaml:6:23: dx and dy lead outside of the range of screen coordinates",
        );
        check(
            "states: {s: {}}\nscreen: {width: 0, height: 5}\n",
            "t.yaml:2:9: the screen is 0×5; each side must be from 1 to 32768",
        );
    }

    #[test]
    fn entries_must_mean_something() {
        let reaction = |body: &str| with_children("{id: a}", &format!("reactions:\n  - {body}\n"));
        check(
            &reaction("{on: {tool: type_text}}"),
            "t.yaml:8:5: this reaction does nothing; give it set, focus or transition_to",
        );
        check(
            &reaction("{on: {tool: type_text}, set: [{id: a}]}"),
            "t.yaml:8:35: this set changes nothing; give it value, name, enabled, selected, expanded or focused",
        );
        check(
            &reaction("{on: {tool: type_text}, when: [{id: a}], focus: a}"),
            "t.yaml:8:36: this condition is empty; give it value, value_not_empty or selected",
        );
        check(
            &reaction("{on: {tool: typ_text}, focus: a}"),
            "t.yaml:8:17: tool is \"typ_text\", which a reaction cannot use; did you mean \"type_text\"?",
        );
        check(
            &with_children("", "oracles: {success: [{regex: a}]}"),
            "t.yaml:7:21: an oracle needs a kind, for example kind: text_visible",
        );
        check(
            &with_children("{focused: true}, {focused: true}", ""),
            "t.yaml:6:31: a second element of this window is focused; at most one is allowed",
        );
        check(
            &with_children("{appears_after_ms: 5, disappears_after_ms: 5}", ""),
            "t.yaml:6:14: this element disappears before it appears",
        );
        check(
            &with_children("{value_now: .nan}", ""),
            "t.yaml:6:14: value_now, value_min and value_max must be numbers, and min at most max",
        );
    }

    #[test]
    fn a_root_is_always_there_and_alone() {
        let root = |root: &str| format!("states: {{s: {{windows: [{{tree: {root}}}]}}}}");
        check(&root("{repeat: {count: 2}}"), "t.yaml:1:40: the root of a tree cannot be repeated");
        check(
            &root("{appears_after_ms: 2}"),
            "t.yaml:1:31: the root of a tree is always there; it cannot appear later",
        );
    }

    #[test]
    fn reactions_and_patterns_are_counted() {
        let reactions = "  - {on: {tool: type_text}, transition_to: start}\n".repeat(1001);
        check(
            &with_children("", &format!("reactions:\n{reactions}")),
            "t.yaml:1008:5: the scenario has more than 1000 reactions",
        );
        let reactions = "  - {on: {tool: type_text, text_regex: a}, transition_to: start}\n".repeat(101);
        check(
            &with_children("", &format!("reactions:\n{reactions}")),
            "t.yaml:108:40: the scenario has more than 100 text_regex patterns",
        );
    }

    #[test]
    fn defaults_are_the_contracts() {
        let scenario = loaded("states: {first: {windows: [{}]}, second: {windows: [{tree: {}}, {uid: b}]}}");
        assert_eq!((scenario.name.as_str(), scenario.initial_state), ("scenario", 0));
        let window = &scenario.states[0].windows[0];
        assert_eq!(
            (window.uid.as_str(), window.process.as_str(), window.pid),
            ("mock:first", "scenario.exe", 10000)
        );
        assert_eq!((window.bounds, window.handle.as_str()), (Rect::new(0, 0, 800, 600), "1000"));
        assert_eq!((window.tree.root().role.name(), window.tree.root().name.as_str()), ("Window", "(empty)"));
        let second = &scenario.states[1].windows;
        assert_eq!(
            (second[0].tree.root().role.name(), second[0].tree.root().bounds),
            ("Unknown", window.bounds)
        );
        assert_eq!((second[1].pid, second[1].handle.as_str()), (10001, "1001"));
    }

    /// H-42 on code: `on`, `match` and what YAML makes of `on`.
    #[test]
    fn the_trigger_has_three_spellings() {
        for key in ["on", "match", "true", "'on'"] {
            let yaml = with_children(
                "",
                &format!("reactions:\n  - {key}: {{tool: type_text}}\n    transition_to: start\n"),
            );
            assert_eq!(loaded(&yaml).reactions[0].on.input, InputKind::TypeText, "{key}");
        }
    }

    #[test]
    fn repeats_are_numbered_and_moved() {
        let row = "{name: 'row {n}', id: 'r{n}', repeat: {count: 2, dy: 10}, bounds: {width: 5, height: 5},
               children: [{name: 'cell {outer}/{n}', repeat: {count: 2, dx: 3}, bounds: {x: 1, width: 2, height: 2}}]}";
        let scenario = loaded(&with_children(row, ""));
        let tree = &scenario.states[0].windows[0].tree;
        let seen: Vec<(&str, i32, i32, &str)> = tree.elements()[1..]
            .iter()
            .map(|it| (it.name.as_str(), it.bounds.x, it.bounds.y, it.native.as_deref().unwrap()))
            .collect();
        assert_eq!(
            seen,
            [
                ("row 1", 0, 0, "r1"),
                ("cell 1/1", 1, 0, "root.0.0"),
                ("cell 1/2", 4, 0, "root.0.1"),
                ("row 2", 0, 10, "r2"),
                ("cell 2/1", 1, 10, "root.1.0"),
                ("cell 2/2", 4, 10, "root.1.1"),
            ]
        );
    }

    #[test]
    fn a_pattern_matches_the_whole_text_and_gives_group_one() {
        let captured = |pattern: &str, text: &'static str| {
            let reaction =
                format!("{{on: {{tool: type_text, text_regex: '{pattern}'}}, transition_to: start}}");
            let scenario = loaded(&with_children("", &format!("reactions:\n  - {reaction}\n")));
            scenario.reactions[0].on.captured_text(Some(text)).unwrap()
        };
        assert_eq!(captured("a|ab", "ab"), Some("ab"));
        assert_eq!(captured("user:(.*)", "user:bo"), Some("bo"));
        assert_eq!(captured("a", "ab"), None);
        assert_eq!(captured("a", "a\n"), None);
    }
}
