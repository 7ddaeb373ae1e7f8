//! What the mock desktop currently is: windows, trees, focus, and what time will change.
//!
//! ```text
//!   Scenario (plain data, shared)          World (what became of it)
//!   ├─ states ── windows ── elements  ──►  state + when it was entered
//!   └─ reactions                           windows front to back
//!                                          per window: changed elements, scroll, keyboard, place
//!                                          effects that are still to come
//! ```
//!
//! Pure and synchronous: no I/O, no clock of its own. Whoever owns the clock calls `advance` before a
//! look, because windows and states may have changed by then; `act` advances by itself. How acts work is
//! in `input`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::notepad;
use crate::model::app::App;
use crate::model::{Element, Point, Rect, Role, Tree, TreeBuilder, Window};
use crate::scenario::{AppPlan, ElementChange, Reaction, Scenario, ScenarioState, WindowPlan};

#[derive(Clone, Debug)]
pub struct World {
    pub(super) scenario: Arc<Scenario>,
    /// The default desktop: it can be looked at and its windows raised, but nothing reacts.
    pub(super) inert: bool,
    pub(super) state: usize,
    entered: Duration,
    /// Uids; the first that is not minimized has the focus.
    front_to_back: Vec<String>,
    /// By uid; kept when a state no longer shows the window, because another may show it again.
    memories: HashMap<String, WindowMemory>,
    pending: Vec<PendingChange>,
    /// The windows of apps that were started, by uid.
    launched: HashSet<String>,
    pub(super) clipboard: Option<String>,
    pub(super) pointer: Point,
}

/// What happened in a window since the scenario was loaded.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowMemory {
    pub changes: HashMap<MemorySlot, Changed>,
    pub scrolled: HashMap<MemorySlot, i32>,
    /// The element that gets what is typed, by its native handle.
    pub keyboard: Option<String>,
    /// Everything in the keyboard's element is selected: the next text replaces it.
    pub all_selected: bool,
    /// Where it was put, what it was told to be, and how it was before it filled the screen.
    pub place: WindowPlacement,
}

/// What became of a window as a whole; what is `None` is as the scenario says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowPlacement {
    pub bounds: Option<Rect>,
    pub minimized: Option<bool>,
    pub before_maximized: Option<Rect>,
    /// Until the next state begins.
    pub closed: bool,
}

/// The elements of a window that was moved go with it; only its root takes the new size.
fn move_along(element: &mut Element, node: usize, from: Rect, to: Rect) {
    element.bounds.x = element.bounds.x.saturating_add(to.x.saturating_sub(from.x));
    element.bounds.y = element.bounds.y.saturating_add(to.y.saturating_sub(from.y));
    if node == Tree::ROOT {
        element.bounds = to;
    }
}

/// An element's place in a memory. The author's ids mean the same element in every state; a position
/// means one element of one state only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct MemorySlot {
    native: String,
    state: Option<usize>,
}

/// What differs from the scenario's own words about an element.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    pub value: Option<String>,
    pub name: Option<String>,
    pub enabled: Option<bool>,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    pub number: Option<f64>,
}

/// Something that comes later.
#[derive(Clone, Debug)]
struct PendingChange {
    due: Duration,
    what: Coming,
}

#[derive(Clone, Debug)]
enum Coming {
    /// The effects of a reaction, and what `{text}` is in them.
    Reaction(usize, String),
    /// The window of an app that was started.
    Window(String),
}

/// An element of a window of the current state: indices into the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedElement {
    pub window: usize,
    pub node: usize,
}

impl World {
    /// The default desktop: three windows that share one tree. `nonce` makes their uids this process's own.
    pub fn notepad(nonce: &str) -> World {
        World::new(Arc::new(notepad::scenario(nonce)), true, Duration::ZERO)
    }

    pub fn scenario(scenario: Arc<Scenario>, now: Duration) -> World {
        World::new(scenario, false, now)
    }

    fn new(scenario: Arc<Scenario>, inert: bool, now: Duration) -> World {
        let state = scenario.initial_state;
        let pointer = scenario.screen.center();
        let mut world = World {
            scenario,
            inert,
            state,
            entered: now,
            front_to_back: Vec::new(),
            memories: HashMap::new(),
            pending: Vec::new(),
            launched: HashSet::new(),
            clipboard: None,
            pointer,
        };
        world.enter_state(state, now);
        world
    }

    // ── looking ────────────────────────────────────────────────────────────────────────────────

    /// All windows in the order of their index, which raising one does not change.
    pub fn windows(&self) -> Vec<Window> {
        let open = (0..self.window_plans().len()).filter(|&index| self.is_open(&self.window_plans()[index]));
        open.map(|index| self.window(index)).collect()
    }

    /// All windows from the front to the back.
    pub fn stacked_windows(&self) -> Vec<Window> {
        self.stacking().into_iter().map(|index| self.window(index)).collect()
    }

    fn window(&self, index: usize) -> Window {
        self.shown_window(&self.window_plans()[index], self.focused_window() == Some(index))
    }

    /// Indices of the windows from the front to the back.
    pub fn stacking(&self) -> Vec<usize> {
        self.front_to_back.iter().filter_map(|uid| self.window_index(uid)).collect()
    }

    /// The window's elements at `now`, or `None` when the current state has no such window.
    pub fn tree(&self, uid: &str, now: Duration) -> Option<Tree> {
        Some(self.shown_tree(self.window_index(uid)?, now).0)
    }

    /// How long the application behind the window takes to answer a look.
    pub fn capture_delay(&self, uid: &str) -> Duration {
        self.window_index(uid).map_or(Duration::ZERO, |window| self.window_plans()[window].capture_delay)
    }

    pub fn screen(&self) -> Rect {
        self.scenario.screen
    }

    /// The current state's name; the default desktop has none.
    pub fn state(&self) -> Option<&str> {
        self.loaded_scenario().map(|_| self.current_state().name.as_str())
    }

    /// The names of all states in the order of the file; none on the default desktop.
    pub fn states(&self) -> Vec<&str> {
        let states = self.loaded_scenario().map_or(&[][..], |scenario| &scenario.states);
        states.iter().map(|state| state.name.as_str()).collect()
    }

    /// The scenario that is played, or `None` on the default desktop.
    pub fn loaded_scenario(&self) -> Option<&Scenario> {
        (!self.inert).then_some(&*self.scenario)
    }

    // ── time ───────────────────────────────────────────────────────────────────────────────────

    /// Lets everything happen that was due until `now`, in order.
    pub fn advance_to(&mut self, now: Duration) {
        loop {
            let pending = self.first_pending().map(|position| (self.pending[position].due, position));
            let state_ends = self.end_of_state();
            match (pending, state_ends) {
                (Some((due, position)), ends) if due <= now && ends.is_none_or(|(end, _)| due <= end) => {
                    match self.pending.remove(position).what {
                        Coming::Reaction(reaction, text) => self.take_effect(reaction, &text, due),
                        Coming::Window(uid) => self.show_window_of_app(uid),
                    }
                }
                (_, Some((end, next))) if end <= now => self.enter_state(next, end),
                _ => return,
            }
        }
    }

    /// When time alone ends the current state, and what it becomes.
    fn end_of_state(&self) -> Option<(Duration, usize)> {
        let then = self.current_state().then?;
        Some((self.entered.saturating_add(then.after), then.state))
    }

    /// When on the clock something will change by itself next, so that a wait can sleep until then.
    pub fn next_change(&self, now: Duration) -> Option<Duration> {
        let timed = self.current_state().changes.iter().map(|after| self.entered.saturating_add(*after));
        let timed = timed.filter(|at| *at > now);
        let pending = self.pending.iter().map(|pending| pending.due.max(now));
        let end = self.end_of_state().map(|(end, _)| end.max(now));
        timed.chain(pending).chain(end).min()
    }

    fn first_pending(&self) -> Option<usize> {
        (0..self.pending.len()).min_by_key(|&position| self.pending[position].due)
    }

    // ── windows ────────────────────────────────────────────────────────────────────────────────

    /// Gives a window the focus and brings it to the front, also out of the task bar.
    pub fn raise_window(&mut self, uid: &str) -> bool {
        let Some(window) = self.window_index(uid) else {
            return false;
        };
        if self.is_minimized(&self.window_plans()[window]) {
            self.memory_mut(uid).place.minimized = Some(false);
        }
        self.bring_to_front(uid);
        true
    }

    fn bring_to_front(&mut self, uid: &str) {
        self.front_to_back.retain(|other| other != uid);
        self.front_to_back.insert(0, uid.to_owned());
    }

    pub(super) fn window_plans(&self) -> &[WindowPlan] {
        &self.current_state().windows
    }

    fn current_state(&self) -> &ScenarioState {
        &self.scenario.states[self.state]
    }

    pub(super) fn window_index(&self, uid: &str) -> Option<usize> {
        self.window_plans().iter().position(|plan| plan.uid == uid && self.is_open(plan))
    }

    /// Neither closed nor waiting for its app to be started.
    fn is_open(&self, plan: &WindowPlan) -> bool {
        let of_an_app = self.scenario.apps.iter().any(|app| app.window == plan.uid);
        !self.window_placement(plan).closed && (!of_an_app || self.launched.contains(&plan.uid))
    }

    /// What can be started, whatever the state.
    pub fn apps(&self) -> Vec<App> {
        let app = |plan: &AppPlan| App {
            id: plan.id.clone(),
            name: plan.name.clone(),
            command: vec![plan.program.clone()],
        };
        self.scenario.apps.iter().map(app).collect()
    }

    /// Starts an app of the scenario; returns the process id of its window.
    pub fn launch_app(&mut self, id: &str, now: Duration) -> Option<u32> {
        self.advance_to(now);
        let scenario = Arc::clone(&self.scenario);
        let app = scenario.apps.iter().find(|app| app.id == id)?;
        let what = Coming::Window(app.window.clone());
        self.pending.push(PendingChange { due: now.saturating_add(app.after), what });
        self.advance_to(now);
        let windows = scenario.states.iter().flat_map(|state| &state.windows);
        windows.into_iter().find(|plan| plan.uid == app.window).map(|plan| plan.pid)
    }

    fn show_window_of_app(&mut self, uid: String) {
        self.memory_mut(&uid).place.closed = false;
        self.launched.insert(uid.clone());
        self.raise_window(&uid);
    }

    pub(super) fn close_window(&mut self, uid: &str) {
        self.launched.remove(uid);
        self.memory_mut(uid).place.closed = true;
    }

    pub(super) fn window_placement(&self, plan: &WindowPlan) -> WindowPlacement {
        self.memories.get(&plan.uid).map_or(WindowPlacement::default(), |memory| memory.place)
    }

    pub(super) fn window_bounds(&self, plan: &WindowPlan) -> Rect {
        self.window_placement(plan).bounds.unwrap_or(plan.bounds)
    }

    pub(super) fn focused_window(&self) -> Option<usize> {
        self.open_windows().into_iter().next()
    }

    /// Indices from the front to the back without those in the task bar.
    pub(super) fn open_windows(&self) -> Vec<usize> {
        self.stacking()
            .into_iter()
            .filter(|&window| !self.is_minimized(&self.window_plans()[window]))
            .collect()
    }

    pub(super) fn is_minimized(&self, plan: &WindowPlan) -> bool {
        self.window_placement(plan).minimized.unwrap_or(plan.minimized)
    }

    fn shown_window(&self, plan: &WindowPlan, focused: bool) -> Window {
        Window {
            uid: plan.uid.clone(),
            handle: plan.handle.clone(),
            title: plan.title.clone(),
            process: plan.process.clone(),
            pid: plan.pid,
            bounds: self.window_bounds(plan),
            focused,
            minimized: self.is_minimized(plan),
            url: None,
        }
    }

    // ── elements ───────────────────────────────────────────────────────────────────────────────

    /// The tree as it is shown, and for each of its elements the node of the plan that it came from.
    pub(super) fn shown_tree(&self, window: usize, now: Duration) -> (Tree, Vec<usize>) {
        let (mut tree, origins) = self.present_part(&self.window_plans()[window], now);
        let mut nodes = origins.iter();
        tree.change_elements(|element| {
            if let Some(&node) = nodes.next() {
                self.apply_changes(PlannedElement { window, node }, element);
            }
        });
        (tree, origins)
    }

    /// What of the plan has appeared and not disappeared.
    fn present_part(&self, plan: &WindowPlan, now: Duration) -> (Tree, Vec<usize>) {
        let elapsed = now.saturating_sub(self.entered);
        if plan.elements.iter().all(|element| element.is_shown_after(elapsed)) {
            return (plan.tree.clone(), (0..plan.tree.len()).collect());
        }
        let mut builder = TreeBuilder::new(plan.tree.root().clone());
        let mut origins = vec![Tree::ROOT];
        let mut node = Tree::ROOT + 1;
        while node < plan.tree.len() {
            if !plan.elements[node].is_shown_after(elapsed) {
                node = plan.tree.end(node);
                continue;
            }
            while builder.depth() > plan.tree.depth(node) {
                builder.close();
            }
            builder.open(plan.tree[node].clone());
            origins.push(node);
            node += 1;
        }
        (builder.finish(), origins)
    }

    /// The element as it is now, wherever time stands.
    pub(super) fn element(&self, spot: PlannedElement) -> Element {
        let mut element = self.window_plans()[spot.window].tree[spot.node].clone();
        self.apply_changes(spot, &mut element);
        element
    }

    /// Puts onto a copy from the plan what happened since.
    fn apply_changes(&self, spot: PlannedElement, element: &mut Element) {
        let Some(memory) = self.window_memory(spot.window) else {
            return;
        };
        if let Some(changed) = memory.changes.get(&self.memory_slot(spot)) {
            changed.show_on(element);
        }
        element.bounds.y = element.bounds.y.saturating_sub(self.scrolled_by(spot, memory));
        if let Some(bounds) = memory.place.bounds {
            move_along(element, spot.node, self.window_plans()[spot.window].bounds, bounds);
        }
        if !self.inert {
            let can_show = element.focused || element.role.is_focusable();
            element.focused = can_show && self.has_keyboard(spot, memory);
        }
    }

    /// An element by its author's id as it is now, or as it was left in a state that is not shown.
    pub(super) fn remembered_element(&self, id: &str, window: Option<&str>) -> Option<Element> {
        let order = std::iter::once(self.state).chain(0..self.scenario.states.len());
        let windows = order.flat_map(|state| &self.scenario.states[state].windows);
        let mut windows = windows.filter(|plan| window.is_none_or(|uid| plan.uid == uid));
        let (plan, node) = windows.find_map(|plan| Some((plan, plan.find_authored(id)?)))?;
        let mut element = plan.tree[node].clone();
        let slot = MemorySlot { native: id.to_owned(), state: None };
        if let Some(changed) = self.memories.get(&plan.uid).and_then(|memory| memory.changes.get(&slot)) {
            changed.show_on(&mut element);
        }
        Some(element)
    }

    /// Whether the element and everything around it has appeared and not disappeared.
    pub(super) fn is_present(&self, spot: PlannedElement, now: Duration) -> bool {
        let elapsed = now.saturating_sub(self.entered);
        let elements = &self.window_plans()[spot.window].elements;
        self.ancestor_chain(spot).iter().all(|around| elements[around.node].is_shown_after(elapsed))
    }

    /// How far the containers around an element are scrolled.
    fn scrolled_by(&self, spot: PlannedElement, memory: &WindowMemory) -> i32 {
        if memory.scrolled.is_empty() {
            return 0;
        }
        let chain = self.ancestor_chain(spot).into_iter();
        let scrolled = chain.skip(1).filter_map(|around| memory.scrolled.get(&self.memory_slot(around)));
        let stays = self.window_plans()[spot.window].tree[spot.node].role == Role::ScrollBar;
        if stays { 0 } else { scrolled.fold(0, |sum: i32, offset| sum.saturating_add(*offset)) }
    }

    fn has_keyboard(&self, spot: PlannedElement, memory: &WindowMemory) -> bool {
        memory.keyboard.is_some()
            && memory.keyboard == self.window_plans()[spot.window].tree[spot.node].native
            && self.focused_window() == Some(spot.window)
    }

    /// The element and those around it, up to the root.
    pub(super) fn ancestor_chain(&self, spot: PlannedElement) -> Vec<PlannedElement> {
        let tree = &self.window_plans()[spot.window].tree;
        let nodes = std::iter::successors(Some(spot.node), |&node| tree.parent(node));
        nodes.map(|node| PlannedElement { node, ..spot }).collect()
    }

    pub(super) fn memory_slot(&self, spot: PlannedElement) -> MemorySlot {
        let plan = &self.window_plans()[spot.window];
        let native = plan.tree[spot.node].native.clone().unwrap_or_default();
        let state = (!plan.elements[spot.node].authored).then_some(self.state);
        MemorySlot { native, state }
    }

    pub(super) fn changed_element(&mut self, spot: PlannedElement) -> &mut Changed {
        let slot = self.memory_slot(spot);
        self.memory_at(spot.window).changes.entry(slot).or_default()
    }

    pub(super) fn memory_at(&mut self, window: usize) -> &mut WindowMemory {
        let uid = self.window_plans()[window].uid.clone();
        self.memories.entry(uid).or_default()
    }

    pub(super) fn memory_mut(&mut self, uid: &str) -> &mut WindowMemory {
        self.memories.entry(uid.to_owned()).or_default()
    }

    pub(super) fn window_memory(&self, window: usize) -> Option<&WindowMemory> {
        self.memories.get(&self.window_plans()[window].uid)
    }

    // ── reactions' effects ─────────────────────────────────────────────────────────────────────

    /// Starts a reaction: its effects come at once, or when its time is up.
    pub(super) fn start(&mut self, reaction: usize, text: &str, now: Duration) {
        let after = self.scenario.reactions[reaction].after;
        if after.is_zero() {
            self.take_effect(reaction, text, now);
        } else {
            let due = now.saturating_add(after);
            self.pending.push(PendingChange { due, what: Coming::Reaction(reaction, text.to_owned()) });
        }
    }

    fn take_effect(&mut self, reaction: usize, text: &str, now: Duration) {
        let scenario = Arc::clone(&self.scenario);
        let reaction = &scenario.reactions[reaction];
        for change in &reaction.set {
            self.set(change, reaction, text);
        }
        if let Some(state) = reaction.transition_to {
            self.enter_state(state, now);
        }
        for change in reaction.set.iter().filter(|change| change.focused.is_some()) {
            self.set_focus(&change.id, change.window.as_deref(), change.focused == Some(true));
        }
        if let Some(id) = &reaction.focus {
            self.set_focus(id, None, true);
        }
    }

    fn set(&mut self, change: &ElementChange, reaction: &Reaction, text: &str) {
        let Some(uid) = self.change_owner(change, reaction.transition_to) else {
            return;
        };
        let fill = |words: &Option<String>| words.as_ref().map(|words| words.replace("{text}", text));
        let slot = MemorySlot { native: change.id.clone(), state: None };
        self.memory_mut(&uid).changes.entry(slot).or_default().merge_changes(Changed {
            value: fill(&change.value),
            name: fill(&change.name),
            enabled: change.enabled,
            selected: change.selected,
            expanded: change.expanded,
            number: None,
        });
    }

    /// The uid of the window that a change is about: in this state, in the next one, or in any.
    fn change_owner(&self, change: &ElementChange, next: Option<usize>) -> Option<String> {
        if change.window.is_some() {
            return change.window.clone();
        }
        let order = [Some(self.state), next].into_iter().flatten().chain(0..self.scenario.states.len());
        let mut windows = order.flat_map(|state| &self.scenario.states[state].windows);
        windows.find(|plan| plan.find_authored(&change.id).is_some()).map(|plan| plan.uid.clone())
    }

    fn set_focus(&mut self, id: &str, window: Option<&str>, focused: bool) {
        let Some(spot) = self.find_authored(id, window) else {
            return;
        };
        if focused {
            self.give_keyboard(spot);
        } else if self.window_memory(spot.window).is_some_and(|memory| memory.keyboard.as_deref() == Some(id))
        {
            self.memory_at(spot.window).keyboard = None;
        }
    }

    /// An element of the current state by its author's id.
    pub(super) fn find_authored(&self, id: &str, window: Option<&str>) -> Option<PlannedElement> {
        let windows = self.window_plans().iter().enumerate();
        let mut windows = windows.filter(|(_, plan)| window.is_none_or(|uid| plan.uid == uid));
        windows.find_map(|(window, plan)| plan.find_authored(id).map(|node| PlannedElement { window, node }))
    }

    /// What is typed from now on goes to this element, and its window is in front.
    pub(super) fn give_keyboard(&mut self, spot: PlannedElement) {
        let plan = &self.window_plans()[spot.window];
        let (uid, native) = (plan.uid.clone(), plan.tree[spot.node].native.clone());
        let memory = self.memory_mut(&uid);
        memory.all_selected &= memory.keyboard == native;
        memory.keyboard = native;
        self.raise_window(&uid);
    }

    /// Shows another state. A window that the state calls focused comes to the front, else the one that
    /// was in front stays there if it still exists, else the first one takes the focus.
    fn enter_state(&mut self, state: usize, now: Duration) {
        self.state = state;
        self.entered = now;
        self.memories.values_mut().for_each(|memory| memory.place.closed = false);
        let leader = self.front_window();
        let uids: Vec<String> = self.window_plans().iter().map(|plan| plan.uid.clone()).collect();
        self.front_to_back.retain(|uid| uids.contains(uid));
        let new = uids.iter().filter(|uid| !self.front_to_back.contains(uid)).cloned();
        let new: Vec<String> = new.collect();
        self.front_to_back.extend(new);
        if let Some(uid) = leader {
            self.bring_to_front(&uid);
        }
        for window in 0..uids.len() {
            self.enter_window(window);
        }
    }

    /// Called while `front_to_back` still tells of the state before.
    fn front_window(&self) -> Option<String> {
        let open =
            || self.window_plans().iter().filter(|plan| !self.is_minimized(plan) && self.is_open(plan));
        let was_in_front = |plan: &&WindowPlan| self.front_to_back.first() == Some(&plan.uid);
        let told = open().find(|plan| plan.focused);
        let leader = told.or_else(|| open().find(was_in_front)).or_else(|| open().next());
        leader.map(|plan| plan.uid.clone())
    }

    /// The keyboard goes where the state says; a mere position of another state means nothing in this one.
    fn enter_window(&mut self, window: usize) {
        let plan = &self.window_plans()[window];
        let told = plan.tree.elements().iter().find(|element| element.focused);
        let told = told.and_then(|element| element.native.clone());
        let before = self.window_memory(window).and_then(|memory| memory.keyboard.clone());
        let keeps = self.current_state().keeps_focus;
        let kept = before.filter(|native| keeps && plan.find_authored(native).is_some());
        let memory = self.memory_at(window);
        memory.keyboard = told.or(kept);
        memory.all_selected = false;
    }
}

impl Changed {
    fn merge_changes(&mut self, newer: Changed) {
        self.value = newer.value.or(self.value.take());
        self.name = newer.name.or(self.name.take());
        self.enabled = newer.enabled.or(self.enabled);
        self.selected = newer.selected.or(self.selected);
        self.expanded = newer.expanded.or(self.expanded);
    }

    fn show_on(&self, element: &mut Element) {
        if let Some(value) = &self.value {
            element.value = Some(value.clone());
        }
        if let Some(name) = &self.name {
            element.name.clone_from(name);
        }
        element.enabled = self.enabled.unwrap_or(element.enabled);
        element.selected = self.selected.or(element.selected);
        element.expanded = self.expanded.or(element.expanded);
        element.range.now = self.number.or(element.range.now);
    }
}
