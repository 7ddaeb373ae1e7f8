//! Makes a scenario of a traced session: what was seen becomes states, what was done becomes reactions.
//!
//! Played on the mock desktop, the scenario answers the calls of the session as the session did. Every
//! distinct desktop is a state, and every input leads from one state to the next. Where the same input
//! led elsewhere from a desktop that looked the same, that desktop becomes two states (see `label`).
//! Nothing that the trace hides is guessed: a hidden value stays hidden, and a hidden text matches any.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::compare;
use super::format::TraceRow;
use super::recording::{self, LoadedTrace, RecordedWindow, StoryScene, StoryStep};
use crate::model::{
    InputAim, InputKind, InputText, KeyCombo, Point, RecordedInput, Rect, Role, Tree, selector,
};
use crate::pattern::Pattern;
use crate::privacy::arguments::REDACTED;
use crate::scenario::write::{Comments, write};
use crate::scenario::{
    ElementPlan, Oracles, PredicateEntry, Reaction, Scenario, ScenarioState, Then, Trigger, WindowPlan,
    load_str, validate,
};

/// What stands in a tree where a value must not be shown.
const HIDDEN: &str = "[REDACTED]";
const LONGEST_ID: usize = 40;
const SMALLEST_SCREEN: Rect = Rect::new(0, 0, 1920, 1080);
const LARGEST_SCREEN: i32 = 32_768;
/// How many things the head of the file names before it says how many more there are.
const NOTES_SHOWN: usize = 20;

/// The text of a scenario file that plays the session again.
pub fn record_scenario(trace: &LoadedTrace, input_of: InputOf) -> Result<String, String> {
    if !trace.missing_trees.is_empty() {
        let missing = trace.missing_trees.join("\n  ");
        return Err(format!("trees of the trace are missing, so states would be guessed:\n  {missing}"));
    }
    if !trace.tells_of_windows() {
        return Err(
            "the trace has no windows: it was written by a program that does not store them".to_owned()
        );
    }
    let session = RecordedSession::of(trace, input_of);
    let labels = label_states(&session);
    let draft = Draft::of(&session, &labels);
    let text = write(&draft.build_scenario(trace), &draft.build_comments(trace))
        .map_err(|problem| format!("the scenario cannot be written as YAML: {problem}"))?;
    match load_str(&text, "the recorded scenario") {
        Ok(_) => Ok(text),
        Err(problem) => Err(format!("{problem} (a shorter session may fit)")),
    }
}

// ── what happened ───────────────────────────────────────────────────────────────────────────────

/// The session as moments and what led from each to the next.
struct RecordedSession {
    /// When the first look was taken.
    began: Duration,
    moments: Vec<RecordedMoment>,
    /// One less than there are moments.
    events: Vec<MomentEvent>,
    notes: Vec<String>,
}

#[derive(Clone)]
struct RecordedMoment {
    scene: StoryScene,
    /// Counts changes that the trace hides: a secret that became another one.
    hidden_changes: usize,
}

impl PartialEq for RecordedMoment {
    fn eq(&self, other: &Self) -> bool {
        self.scene == other.scene && self.hidden_changes == other.hidden_changes
    }
}

struct MomentEvent {
    cause: Cause,
    /// The step of the trace, for comments.
    step: u64,
    /// When the desktop had changed, as far as one can tell.
    at: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Cause {
    Time,
    Input(RecordedAct),
}

/// An input as a reaction waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RecordedAct {
    input: InputKind,
    target: Option<RecordedTarget>,
    /// `None` when the act has no text or the trace hides it.
    text: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RecordedTarget {
    uid: String,
    node: usize,
}

impl RecordedSession {
    fn of(trace: &LoadedTrace, input_of: InputOf) -> Self {
        let first = trace.steps.first().map(|step| Arc::clone(&step.before)).unwrap_or_default();
        let began = trace.steps.first().and_then(|step| recording::began_at(&step.row)).unwrap_or_default();
        let mut session = RecordedSession {
            began,
            moments: vec![RecordedMoment { scene: first, hidden_changes: 0 }],
            events: Vec::new(),
            notes: Vec::new(),
        };
        let mut last_look = began;
        for step in &trace.steps {
            session.add_step(step, input_of(&step.row.tool), &mut last_look);
        }
        session
    }

    fn add_step(&mut self, step: &StoryStep, input: Option<RecordedInput>, last_look: &mut Duration) {
        let row = &step.row;
        let began = recording::began_at(row).unwrap_or(*last_look);
        let ended = recording::ended_at(row).unwrap_or(*last_look);
        if *self.current_scene() != step.before {
            // Somewhere between two looks: the middle is the best guess.
            let middle = last_look.saturating_add(began.saturating_sub(*last_look) / 2);
            self.add_moment(
                Arc::clone(&step.before),
                MomentEvent { cause: Cause::Time, step: row.trace_seq, at: middle },
            );
        }
        let changed = step.after != step.before;
        match step_input(step, input) {
            Some(deed) => {
                self.add_moment(
                    Arc::clone(&step.after),
                    MomentEvent { cause: Cause::Input(deed), step: row.trace_seq, at: ended },
                );
                if !changed && row.windows_after.is_some() {
                    self.note_hidden_change();
                }
            }
            None if changed => {
                if input.is_none() && row.result_summary.action.is_some() {
                    self.notes.push(format!(
                        "step {}: {} changed the desktop, but a scenario cannot react to it; a timed \
                         transition does it here",
                        row.trace_seq, row.tool
                    ));
                }
                self.add_moment(
                    Arc::clone(&step.after),
                    MomentEvent { cause: Cause::Time, step: row.trace_seq, at: ended },
                );
            }
            None => {}
        }
        *last_look = ended;
    }

    fn current_scene(&self) -> &StoryScene {
        // There is always the first moment.
        &self.moments[self.moments.len() - 1].scene
    }

    fn add_moment(&mut self, scene: StoryScene, event: MomentEvent) {
        let hidden_changes = self.moments.last().map_or(0, |moment| moment.hidden_changes);
        self.moments.push(RecordedMoment { scene, hidden_changes });
        self.events.push(event);
    }

    /// Something changed that is not shown: the moment differs from the one before, though it looks alike.
    fn note_hidden_change(&mut self) {
        if let Some(moment) = self.moments.last_mut() {
            moment.hidden_changes += 1;
        }
    }
}

// ── inputs ──────────────────────────────────────────────────────────────────────────────────────

/// What the calls of a tool become; `None` for a tool that a scenario cannot wait for.
pub type InputOf<'a> = &'a dyn Fn(&str) -> Option<RecordedInput>;

/// What the row sent to the desktop; `None` when it sent nothing.
fn step_input(step: &StoryStep, input: Option<RecordedInput>) -> Option<RecordedAct> {
    let (row, RecordedInput { kind, aim, text }) = (&step.row, input?);
    let was_refused = row.result_summary.ok == Some(Value::Bool(false)) && step.after == step.before;
    if was_refused || row.args.get("dry_run") == Some(&Value::Bool(true)) {
        return None;
    }
    let target = find_target(step, aim);
    let text =
        text_of(row, text).filter(|text| !shows_placeholder(text) && !is_hidden(step, target.as_ref()));
    Some(RecordedAct { input: clicked_kind(kind, row), target, text })
}

/// A click with another button, or twice, is another kind.
fn clicked_kind(kind: InputKind, row: &TraceRow) -> InputKind {
    if kind != InputKind::Click {
        return kind;
    }
    let twice = row.args.get("count").and_then(Value::as_i64).is_some_and(|count| count > 1)
        || row.args.get("double") == Some(&Value::Bool(true));
    match row.args.get("button").and_then(Value::as_str) {
        Some("right") => InputKind::RightClick,
        Some("middle") => InputKind::MiddleClick,
        _ if twice => InputKind::DoubleClick,
        _ => kind,
    }
}

/// What `text_regex` is compared with, as the mock desktop tells it.
fn text_of(row: &TraceRow, text: InputText) -> Option<String> {
    let argument = |key: &str| row.args.get(key).and_then(Value::as_str);
    match text {
        InputText::Nothing => None,
        InputText::Argument(key) => argument(key).map(str::to_owned),
        InputText::Keys(key) => KeyCombo::parse(argument(key)?).ok().map(|keys| keys.to_string()),
        InputText::Number(key, otherwise) => {
            Some(row.args.get(key).and_then(Value::as_i64).unwrap_or(otherwise).to_string())
        }
    }
}

fn shows_placeholder(text: &str) -> bool {
    text.contains(REDACTED) || text.contains(HIDDEN)
}

/// Whether the element holds something hidden, before or after.
fn is_hidden(step: &StoryStep, target: Option<&RecordedTarget>) -> bool {
    let Some(target) = target else {
        return false;
    };
    let hidden = |scene: &StoryScene| {
        let tree = find_window(scene, &target.uid).and_then(|seen| seen.tree.as_ref());
        tree.is_some_and(|tree| target.node < tree.len() && is_secret(tree, target.node))
    };
    hidden(&step.before) || hidden(&step.after)
}

fn is_secret(tree: &Tree, node: usize) -> bool {
    tree[node].value.as_deref() == Some(HIDDEN)
}

fn find_window<'a>(scene: &'a StoryScene, uid: &str) -> Option<&'a RecordedWindow> {
    scene.iter().find(|seen| seen.window.window_uid == uid)
}

fn find_target(step: &StoryStep, aim: InputAim) -> Option<RecordedTarget> {
    let told = step.row.target.as_ref();
    let told = || {
        let told = told?;
        let node = find_window(&step.before, &told.window_uid)?.tree.as_ref()?.find_id(&told.element_id)?;
        Some(RecordedTarget { uid: told.window_uid.clone(), node })
    };
    match aim {
        InputAim::Element => told(),
        InputAim::Point => {
            point_on_screen(&step.row, &step.row.args).and_then(|at| element_at(&step.before, at))
        }
        InputAim::From => {
            let from = step.row.args.get("from").and_then(Value::as_object);
            let from = from.and_then(|from| point_on_screen(&step.row, from));
            from.map_or_else(told, |from| element_at(&step.before, from))
        }
        InputAim::Keyboard => with_keyboard(&step.before),
        InputAim::Window => told().map(|target| RecordedTarget { node: Tree::ROOT, ..target }),
    }
}

/// Coordinates that count something else than pixels of the screen say nothing by themselves.
fn point_on_screen(row: &TraceRow, args: &Map<String, Value>) -> Option<Point> {
    let said = |key: &str| args.get(key).and_then(Value::as_str);
    let of_a_picture = said("image").or_else(|| said("image_id")).is_some();
    let on_screen = !of_a_picture && matches!(said("coordinate_space"), None | Some("screen"));
    let number = |key: &str| i32::try_from(args.get(key)?.as_i64()?).ok();
    let plain = || Some(Point { x: number("x")?, y: number("y")? }).filter(|_| on_screen);
    row.point.or_else(plain)
}

/// The focused window, or else the first.
fn in_front(scene: &StoryScene) -> Option<&RecordedWindow> {
    scene.iter().find(|seen| seen.window.focused).or_else(|| scene.first())
}

/// The innermost element under the point; the focused window lies over the others.
fn element_at(scene: &StoryScene, at: Point) -> Option<RecordedTarget> {
    let contains = |seen: &&RecordedWindow| seen.window.bounds.contains(at);
    let seen = in_front(scene).filter(contains).or_else(|| scene.iter().find(contains))?;
    let tree = seen.tree.as_ref()?;
    let node = (0..tree.len()).rev().find(|&node| tree[node].bounds.contains(at))?;
    Some(RecordedTarget { uid: seen.window.window_uid.clone(), node })
}

fn with_keyboard(scene: &StoryScene) -> Option<RecordedTarget> {
    let seen = in_front(scene)?;
    let node = seen.tree.as_ref()?.focused()?;
    Some(RecordedTarget { uid: seen.window.window_uid.clone(), node })
}

// ── states ──────────────────────────────────────────────────────────────────────────────────────

/// Gives each moment the number of its state, so that a state and an input always lead to one state.
///
/// Moments that look alike begin as one state. As long as two of one state go on differently though the
/// same was done, the later one becomes a state of its own. Each round makes one more state, and when
/// every moment has its own nothing can differ, so this ends.
fn label_states(session: &RecordedSession) -> Vec<usize> {
    let mut labels = Vec::new();
    let mut distinct: Vec<&RecordedMoment> = Vec::new();
    for moment in &session.moments {
        let known = distinct.iter().position(|other| *other == moment);
        labels.push(known.unwrap_or_else(|| {
            distinct.push(moment);
            distinct.len() - 1
        }));
    }
    let mut next = distinct.len();
    while let Some(moment) = first_conflict(session, &labels) {
        labels[moment] = next;
        next += 1;
    }
    in_order(&labels)
}

/// The moment that cannot share its state, if there is one.
fn first_conflict(session: &RecordedSession, labels: &[usize]) -> Option<usize> {
    find_contradiction(session, labels)
        .or_else(|| find_timer_loop(session, labels))
        .or_else(|| find_outlasting(session, labels))
}

/// Same state, same cause, another outcome than before.
fn find_contradiction(session: &RecordedSession, labels: &[usize]) -> Option<usize> {
    let mut outcomes: HashMap<(usize, &Cause), usize> = HashMap::new();
    session.events.iter().enumerate().find_map(|(index, event)| {
        let outcome = labels[index + 1];
        let told = *outcomes.entry((labels[index], &event.cause)).or_insert(outcome);
        (told != outcome).then_some(index)
    })
}

/// Time alone may not lead back: the moment that closes such a circle becomes a state of its own.
fn find_timer_loop(session: &RecordedSession, labels: &[usize]) -> Option<usize> {
    let by_time = time_edges(session, labels);
    (0..session.events.len()).rev().filter(|&index| session.events[index].cause == Cause::Time).find_map(
        |index| {
            let next = |label: &usize| by_time.get(label).copied();
            let mut ahead = std::iter::successors(Some(labels[index + 1]), next).take(labels.len());
            let returns = ahead.any(|label| label == labels[index]);
            let target = if is_shared(labels, index + 1) { index + 1 } else { index };
            (returns && is_shared(labels, target)).then_some(target)
        },
    )
}

fn time_edges(session: &RecordedSession, labels: &[usize]) -> HashMap<usize, usize> {
    let timed = session.events.iter().enumerate().filter(|(_, event)| event.cause == Cause::Time);
    timed.map(|(index, _)| (labels[index], labels[index + 1])).collect()
}

fn is_shared(labels: &[usize], moment: usize) -> bool {
    labels.iter().filter(|&&label| label == labels[moment]).count() > 1
}

/// A moment that lasted longer than time needs to end its state cannot be of that state.
fn find_outlasting(session: &RecordedSession, labels: &[usize]) -> Option<usize> {
    let lasted = |index: usize| {
        let since = index.checked_sub(1).map_or(session.began, |before| session.events[before].at);
        session.events[index].at.saturating_sub(since)
    };
    let mut ends: HashMap<usize, Duration> = HashMap::new();
    for (index, _) in session.events.iter().enumerate().filter(|(_, event)| event.cause == Cause::Time) {
        let end = ends.entry(labels[index]).or_default();
        *end = (*end).max(lasted(index));
    }
    (0..session.events.len()).find(|&index| {
        let end = ends.get(&labels[index]).copied();
        session.events[index].cause != Cause::Time
            && end.is_some_and(|end| lasted(index) > end)
            && is_shared(labels, index)
    })
}

/// The same labels, numbered by their first moment.
fn in_order(labels: &[usize]) -> Vec<usize> {
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let number = |label: &usize| {
        let next = numbers.len();
        *numbers.entry(*label).or_insert(next)
    };
    labels.iter().map(number).collect()
}

// ── the scenario ────────────────────────────────────────────────────────────────────────────────

struct Draft<'a> {
    session: &'a RecordedSession,
    labels: &'a [usize],
    /// For each state one of its moments.
    states: Vec<&'a RecordedMoment>,
    names: Vec<String>,
    ids: Ids,
    secrets: HashSet<ElementIdentity>,
    reactions: Vec<Drafted>,
    then: BTreeMap<usize, Then>,
    notes: Vec<String>,
}

struct Drafted {
    state: usize,
    deed: RecordedAct,
    outcome: usize,
    /// The steps of the trace in which it happened.
    steps: Vec<u64>,
}

/// What makes an element the same one in another state: its window, role and name, and which of several.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ElementIdentity {
    uid: String,
    role: String,
    name: String,
    number: usize,
}

/// The ids that the file gives to elements that inputs were aimed at.
#[derive(Default)]
struct Ids {
    by_identity: HashMap<ElementIdentity, String>,
    used: HashSet<String>,
}

impl<'a> Draft<'a> {
    fn of(session: &'a RecordedSession, labels: &'a [usize]) -> Self {
        let count = labels.iter().max().map_or(0, |most| most + 1);
        let first = |state: usize| labels.iter().position(|&label| label == state);
        let states: Vec<&RecordedMoment> =
            (0..count).filter_map(first).map(|moment| &session.moments[moment]).collect();
        let mut draft = Draft {
            session,
            labels,
            names: state_names(&states),
            states,
            ids: Ids::default(),
            secrets: HashSet::new(),
            reactions: Vec::new(),
            then: BTreeMap::new(),
            notes: session.notes.clone(),
        };
        draft.find_secrets();
        draft.take_events();
        draft.give_ids();
        draft
    }

    /// An element whose value is hidden anywhere is secret everywhere, also while it is still empty.
    fn find_secrets(&mut self) {
        for seen in self.states.iter().flat_map(|moment| moment.scene.iter()) {
            let Some(tree) = &seen.tree else { continue };
            let identities = element_identities(&seen.window.window_uid, tree);
            let hidden = (0..tree.len()).filter(|&node| is_secret(tree, node));
            self.secrets.extend(hidden.filter_map(|node| identities.get(node).cloned()));
        }
    }

    fn take_events(&mut self) {
        let mut entered = self.session.began;
        for (index, event) in self.session.events.iter().enumerate() {
            let (state, outcome) = (self.labels[index], self.labels[index + 1]);
            match &event.cause {
                Cause::Time => {
                    let after = event.at.saturating_sub(entered);
                    // The file counts in milliseconds, and no state ends before it began.
                    let after = Duration::from_millis(u64::try_from(after.as_millis()).unwrap_or(1).max(1));
                    let then = self.then.entry(state).or_insert(Then { after, state: outcome });
                    then.after = then.after.max(after);
                    entered = event.at;
                }
                Cause::Input(deed) if state == outcome && self.leaves_alone(state, deed) => {}
                Cause::Input(deed) => {
                    self.add_reaction(state, deed, outcome, event.step);
                    entered = event.at;
                }
            }
        }
        self.reactions.sort_by_key(Drafted::sort_key);
    }

    fn add_reaction(&mut self, state: usize, deed: &RecordedAct, outcome: usize, step: u64) {
        match self.reactions.iter_mut().find(|known| known.state == state && known.deed == *deed) {
            Some(known) => known.steps.push(step),
            None => {
                self.reactions.push(Drafted { state, deed: deed.clone(), outcome, steps: vec![step] });
            }
        }
    }

    /// Whether the mock desktop by itself does nothing visible on this input: a click on a plain control
    /// that has the keyboard already. Everything else needs a reaction that keeps it from doing something.
    fn leaves_alone(&self, state: usize, deed: &RecordedAct) -> bool {
        let Some(target) = deed.target.as_ref().filter(|_| deed.input == InputKind::Click) else {
            return false;
        };
        let tree = find_window(&self.states[state].scene, &target.uid).and_then(|seen| seen.tree.as_ref());
        tree.is_some_and(|tree| {
            tree.focused() == Some(target.node) && tree[target.node].role.is_unchanged_by_click()
        })
    }

    fn give_ids(&mut self) {
        for drafted in &self.reactions {
            let targets =
                drafted.deed.target.as_ref().filter(|_| drafted.deed.input != InputKind::RaiseWindow);
            let Some(target) = targets else { continue };
            if let Some(identity) = identity_of(self.states[drafted.state], target) {
                self.ids.assign_id(&identity);
            }
        }
    }

    fn build_scenario(&self, trace: &LoadedTrace) -> Scenario {
        let label = trace.header.as_ref().and_then(|header| header.label.clone());
        let states = (0..self.states.len()).map(|state| self.build_state(state)).collect::<Vec<_>>();
        Scenario {
            name: label.filter(|label| !label.is_empty()).unwrap_or_else(|| trace.trace_id().to_owned()),
            initial_state: 0,
            screen: screen_of(&states),
            states,
            reactions: self.reactions.iter().map(|drafted| self.build_reaction(drafted)).collect(),
            apps: Vec::new(),
            downloads: Vec::new(),
            oracles: Oracles { success: self.success_predicates(), failure: Vec::new() },
        }
    }

    fn build_state(&self, state: usize) -> ScenarioState {
        let moment = self.states[state];
        ScenarioState {
            name: self.names[state].clone(),
            windows: moment.scene.iter().map(|seen| self.build_window(seen, moment.hidden_changes)).collect(),
            then: self.then.get(&state).copied(),
            keeps_focus: false,
            changes: Vec::new(),
        }
    }

    fn build_window(&self, seen: &RecordedWindow, hidden_changes: usize) -> WindowPlan {
        let window = &seen.window;
        let tree = seen
            .tree
            .as_ref()
            .map_or_else(|| unread_tree(window.bounds, &window.title), |tree| (**tree).clone());
        let identities = element_identities(&window.window_uid, &tree);
        let ids: Vec<Option<String>> = identities.iter().map(|identity| self.ids.of(identity)).collect();
        let focus = tree.focused();
        let mut node = 0;
        let tree = tree.map_elements(|element| {
            element.native = ids.get(node).cloned().flatten();
            // Where several elements claim the keyboard the innermost has it.
            element.focused &= focus == Some(node);
            if identities.get(node).is_some_and(|identity| self.secrets.contains(identity)) {
                element.secret = true;
                hide_value(&mut element.value, hidden_changes);
            }
            node += 1;
        });
        let authored = |id: &Option<String>| ElementPlan { authored: id.is_some(), ..ElementPlan::default() };
        WindowPlan {
            uid: window.window_uid.clone(),
            handle: String::new(),
            title: window.title.clone(),
            process: window.process.clone(),
            pid: window.pid,
            bounds: window.bounds,
            focused: window.focused,
            minimized: false,
            capture_delay: Duration::ZERO,
            elements: ids.iter().map(authored).collect(),
            tree,
        }
    }

    fn build_reaction(&self, drafted: &Drafted) -> Reaction {
        let RecordedAct { input, target, text } = &drafted.deed;
        let raises = *input == InputKind::RaiseWindow;
        let identity = target.as_ref().and_then(|target| identity_of(self.states[drafted.state], target));
        Reaction {
            on: Trigger {
                input: *input,
                window: target.as_ref().filter(|_| raises).map(|target| target.uid.clone()),
                target_id: identity.filter(|_| !raises).and_then(|identity| self.ids.of(&identity)),
                target_name: None,
                text: text.as_deref().filter(|_| self.needs_text(drafted)).and_then(exact_pattern),
            },
            when: Vec::new(),
            set: Vec::new(),
            focus: None,
            transition_to: Some(drafted.outcome),
            in_state: Some(drafted.state),
            after: Duration::ZERO,
        }
    }

    /// Patterns are few; when the file would have too many, only those stay that tell two inputs apart.
    fn needs_text(&self, drafted: &Drafted) -> bool {
        let patterns = self.reactions.iter().filter(|other| other.deed.text.is_some()).count();
        let same_place = |other: &&Drafted| {
            let (left, right) = (&other.deed, &drafted.deed);
            other.state == drafted.state && left.input == right.input && left.target == right.target
        };
        patterns <= validate::MAX_PATTERNS || self.reactions.iter().filter(same_place).count() > 1
    }

    /// What the end of the session shows and its beginning did not.
    fn success_predicates(&self) -> Vec<PredicateEntry> {
        let Some(seen) = self.session.moments.last().and_then(|moment| in_front(&moment.scene)) else {
            return Vec::new();
        };
        let title = format!("^{}$", regex::escape(&seen.window.title));
        let mut oracles = vec![to_predicate(json!({"kind": "window_exists", "title_regex": title}))];
        if let Some((tree, node)) = self.characteristic_element(seen) {
            let selector = selector::derive(tree, node);
            oracles.push(to_predicate(json!({"kind": "element_exists", "selector": selector})));
        }
        oracles
    }

    /// An element that the first moment has not; texts say more than containers.
    fn characteristic_element<'s>(&self, seen: &'s RecordedWindow) -> Option<(&'s Tree, usize)> {
        let tree = seen.tree.as_deref()?;
        let first = self.session.moments.first()?;
        let old = find_window(&first.scene, &seen.window.window_uid).and_then(|seen| seen.tree.as_deref());
        let was_there = |node: usize| {
            let same = |element: &crate::model::Element| {
                element.role == tree[node].role && element.name == tree[node].name
            };
            old.is_some_and(|old| old.elements().iter().any(same))
        };
        let named = |node: &usize| !tree[*node].name.is_empty() && !shows_placeholder(&tree[*node].name);
        let new = (1..tree.len()).filter(named).filter(|&node| !was_there(node));
        let is_text = |node: &usize| tree[*node].role == Role::Text;
        let new: Vec<usize> = new.collect();
        let found = new.iter().find(|node| is_text(node)).or_else(|| new.first()).copied();
        found.or_else(|| (1..tree.len()).find(named)).map(|node| (tree, node))
    }

    fn build_comments(&self, trace: &LoadedTrace) -> Comments {
        let steps = trace.steps.len();
        let mut head = vec![format!("Recorded from {} with {steps} steps.", trace.trace_id())];
        if let Some(header) = &trace.header {
            head.push(format!("The session began at {}.", header.started_at));
        }
        head.push(
            "Each state is the desktop as it was captured; each reaction is what an input led to.".to_owned(),
        );
        if !self.secrets.is_empty() {
            head.push(format!(
                "Secret values are not included: {HIDDEN} replaces them. Hashes of trees with one differ."
            ));
        }
        head.extend(list_notes(
            trace.problems.iter().map(|problem| format!("The trace is incomplete: {problem}.")),
        ));
        head.extend(list_notes(self.notes.iter().map(|note| format!("Note: {note}."))));
        Comments { head, states: self.state_comments(), reactions: self.reaction_comments() }
    }

    fn state_comments(&self) -> BTreeMap<usize, String> {
        let mut comments = BTreeMap::new();
        for (index, event) in self.session.events.iter().enumerate() {
            let cause = if event.cause == Cause::Time { "by itself, around step" } else { "after step" };
            comments.entry(self.labels[index + 1]).or_insert_with(|| format!("Seen {cause} {}.", event.step));
        }
        comments.insert(0, "The beginning.".to_owned());
        comments
    }

    fn reaction_comments(&self) -> BTreeMap<usize, String> {
        let comment = |drafted: &Drafted| {
            let steps: Vec<String> = drafted.steps.iter().map(u64::to_string).collect();
            let word = if steps.len() == 1 { "Step" } else { "Steps" };
            let stays = if drafted.state == drafted.outcome { "; nothing changed" } else { "" };
            format!("{word} {}: {}{stays}.", steps.join(", "), self.reaction_comment(drafted))
        };
        self.reactions.iter().map(comment).enumerate().collect()
    }

    fn reaction_comment(&self, drafted: &Drafted) -> String {
        let target = drafted.deed.target.as_ref().and_then(|target| {
            let tree = find_window(&self.states[drafted.state].scene, &target.uid)?.tree.as_ref()?;
            Some(compare::element_label(tree.elements().get(target.node)?))
        });
        target.map_or_else(
            || drafted.deed.input.name().to_owned(),
            |target| format!("{} on {target}", drafted.deed.input.name()),
        )
    }
}

impl Drafted {
    /// The first reaction that fits answers, so those that fit less come first: an act that also answers to
    /// a simpler name before that one, a named target before any, a known text before any.
    fn sort_key(&self) -> (usize, bool, bool, bool, u64) {
        let RecordedAct { input, target, text } = &self.deed;
        let step = self.steps.first().copied().unwrap_or_default();
        (self.state, !input.has_simpler_name(), target.is_none(), text.is_none(), step)
    }
}

impl Ids {
    fn of(&self, identity: &ElementIdentity) -> Option<String> {
        self.by_identity.get(identity).cloned()
    }

    fn assign_id(&mut self, identity: &ElementIdentity) {
        if self.by_identity.contains_key(identity) {
            return;
        }
        let id = unused_name(&slugify(&format!("{} {}", identity.role, identity.name)), &self.used);
        self.used.insert(id.clone());
        self.by_identity.insert(identity.clone(), id);
    }
}

fn identity_of(moment: &RecordedMoment, target: &RecordedTarget) -> Option<ElementIdentity> {
    let tree = find_window(&moment.scene, &target.uid)?.tree.as_ref()?;
    element_identities(&target.uid, tree).into_iter().nth(target.node)
}

/// For each element of a tree what it is.
fn element_identities(uid: &str, tree: &Tree) -> Vec<ElementIdentity> {
    let mut counts: HashMap<(&Role, &str), usize> = HashMap::new();
    let identity = |element| {
        let element: &crate::model::Element = element;
        let count = counts.entry((&element.role, &element.name)).or_default();
        *count += 1;
        ElementIdentity {
            uid: uid.to_owned(),
            role: element.role.to_string(),
            name: element.name.clone(),
            number: *count,
        }
    };
    tree.elements().iter().map(identity).collect()
}

/// What a window is taken for that nobody could look into.
fn unread_tree(bounds: Rect, title: &str) -> Tree {
    Tree::of_root(crate::model::Element::new(Role::Window, title, bounds))
}

/// A hidden value stays hidden and not empty; each change of it can still be noticed.
fn hide_value(value: &mut Option<String>, hidden_changes: usize) {
    if value.as_deref() == Some(HIDDEN) && hidden_changes > 0 {
        *value = Some(format!("{HIDDEN} {hidden_changes}"));
    }
}

/// A pattern that matches this text alone, if the format allows one so long.
fn exact_pattern(text: &str) -> Option<Pattern> {
    Pattern::compile_whole(&regex::escape(text)).ok()
}

fn to_predicate(value: Value) -> PredicateEntry {
    match value {
        Value::Object(map) => map,
        _ => PredicateEntry::default(),
    }
}

fn screen_of(states: &[ScenarioState]) -> Rect {
    let windows = states.iter().flat_map(|state| &state.windows);
    windows.fold(SMALLEST_SCREEN, |screen, window| {
        let side = |old: i32, new: i32| old.max(new).min(LARGEST_SCREEN);
        Rect::new(
            0,
            0,
            side(screen.width, window.bounds.right()),
            side(screen.height, window.bounds.bottom()),
        )
    })
}

fn state_names(states: &[&RecordedMoment]) -> Vec<String> {
    let mut used = HashSet::new();
    let name = |moment: &&RecordedMoment| {
        let name = in_front(&moment.scene).map_or("no windows", |seen| &seen.window.title);
        let name = unused_name(&slugify(name), &used);
        used.insert(name.clone());
        name
    };
    states.iter().map(name).collect()
}

/// `Edit User name` becomes `edit-user-name`.
fn slugify(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let slug: String = words.collect::<Vec<_>>().join("-").chars().take(LONGEST_ID).collect();
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "unnamed".to_owned() } else { slug.to_owned() }
}

fn unused_name(name: &str, used: &HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !used.contains(name)).unwrap_or_else(|| name.to_owned())
}

fn list_notes(notes: impl Iterator<Item = String>) -> Vec<String> {
    let mut notes: Vec<String> = notes.collect();
    if let Some(more) = notes.len().checked_sub(NOTES_SHOWN).filter(|&more| more > 0) {
        notes.truncate(NOTES_SHOWN);
        notes.push(format!("… and {more} more notes like these."));
    }
    notes
}
