//! How the mock desktop answers an act: the first reaction of the scenario that fits, or else what any
//! application would do by itself (text goes where the keyboard is, boxes toggle, lists scroll).
//!
//! An act reaches the element it is aimed at: the one it names, or the innermost one of the topmost window
//! under its point, or the one that has the keyboard. The default desktop answers nothing and never changes.

use std::fmt;
use std::time::Duration;

use super::world::{PlannedElement, World};
use crate::model::input::{Act, Delivery, Handle, Key, Modifier, OptionChoice};
use crate::model::{Button, InputKind, KeyCombo, NamedKey, Point, Role, Tree};
use crate::platform::FieldText;
use crate::scenario::{ReactionCondition, Trigger};

/// What became of an act.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MockOutcome {
    /// A reaction of the scenario answered; its effects may come later.
    pub reacted: bool,
    /// No reaction did, but the desktop changed as any would: text was entered, a box toggled.
    pub built_in: bool,
    /// The element that the act reached.
    pub element: Option<Handle>,
    /// Why nothing was done.
    pub refusal: Option<MockRefusal>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MockRefusal {
    NoWindow {
        uid: String,
    },
    NoElement {
        native: String,
    },
    Disabled {
        role: String,
        name: String,
    },
    NotEditable {
        role: String,
        name: String,
    },
    NotInRange {
        text: String,
        min: Option<f64>,
        max: Option<f64>,
    },
    NoOption {
        wanted: String,
        options: Vec<String>,
    },
    /// Only the pointer or the keyboard does it.
    NotByItself {
        name: String,
    },
    /// Nobody knows which reaction fits.
    PatternGaveUp(String),
}

impl fmt::Display for MockRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MockRefusal::NoWindow { uid } => write!(out, "window {uid} does not exist now"),
            MockRefusal::NoElement { native } => write!(out, "the element {native} does not exist now"),
            MockRefusal::Disabled { role, name } => write!(out, "{role} \"{name}\" is disabled"),
            MockRefusal::NotEditable { role, name } => write!(out, "{role} \"{name}\" takes no value"),
            MockRefusal::NotInRange { text, min, max } => {
                write!(
                    out,
                    "\"{text}\" is not a number from {} to {}",
                    format_bound(*min),
                    format_bound(*max)
                )
            }
            MockRefusal::NoOption { wanted, options } => {
                write!(out, "there is no option {wanted}; options are {}", options.join(", "))
            }
            MockRefusal::NotByItself { name } => write!(
                out,
                "'{name}' does not do this by itself, and its window is behind others; delivery \"foreground\" brings it to \
                 the front first"
            ),
            MockRefusal::PatternGaveUp(given_up) => {
                write!(out, "which reaction of the scenario fits is not known: {given_up}")
            }
        }
    }
}

fn format_bound(number: Option<f64>) -> String {
    number.map_or_else(|| "any".to_owned(), |number| number.to_string())
}

/// The number of a reaction, and what `{text}` is for it.
type FittingReaction = (usize, String);

/// Pixels that one click of the wheel moves.
const WHEEL_STEP: i32 = 40;
const OPTIONS_SHOWN: usize = 20;

impl World {
    pub fn act(&mut self, act: &Act, now: Duration) -> MockOutcome {
        self.act_by(act, Delivery::Foreground, now)
    }

    pub fn act_by(&mut self, act: &Act, delivery: Delivery, now: Duration) -> MockOutcome {
        self.advance_to(now);
        let pointed = self.pointer_after(act, now).filter(|_| delivery == Delivery::Foreground);
        let outcome = if self.inert {
            let refusal = self.missing_option(act, now);
            MockOutcome { refusal, ..MockOutcome::default() }
        } else {
            let refused = |refusal| MockOutcome { refusal: Some(refusal), ..MockOutcome::default() };
            self.perform_act(act, delivery, now).unwrap_or_else(refused)
        };
        if let Some(point) = pointed.filter(|_| outcome.refusal.is_none()) {
            self.pointer = point;
        }
        outcome
    }

    /// One click of several, where the scenario reacts to one and not to both together.
    pub fn click_once_of(&mut self, act: &Act, now: Duration) {
        let Act::Click { element, at, button: Button::Left, modifiers, .. } = act else {
            return;
        };
        let reacts = |world: &World, kind: InputKind| {
            let spot = world.aim_act(act, now).ok().flatten();
            let targets = spot.map_or_else(Vec::new, |spot| world.targets(act, spot));
            matches!(world.first_reaction(&[kind], &targets, None), Ok(Some(_)))
        };
        if !reacts(self, InputKind::DoubleClick) && reacts(self, InputKind::Click) {
            let (element, at, modifiers) = (element.clone(), *at, modifiers.clone());
            self.act(&Act::Click { element, at, button: Button::Left, count: 1, modifiers }, now);
        }
    }

    /// Where the act takes the pointer, if it does.
    fn pointer_after(&self, act: &Act, now: Duration) -> Option<Point> {
        match act {
            Act::Drag { to, .. } => Some(*to),
            Act::Click { element, at, .. } | Act::Scroll { element, at, .. } | Act::Hover { element, at } => {
                at.or_else(|| {
                    Some(self.element(self.locate_handle(element.as_ref()?, now).ok()?).bounds.center())
                })
            }
            _ => None,
        }
    }

    /// The default desktop takes every act and does nothing, but even it cannot select what is not there.
    fn missing_option(&self, act: &Act, now: Duration) -> Option<MockRefusal> {
        let Act::Select { element, option: Some(choice) } = act else {
            return None;
        };
        let tree = self.tree(&element.window_uid, now)?;
        let (wanted, there) = match choice {
            OptionChoice::Name(wanted) => {
                (wanted.clone(), tree.elements().iter().any(|candidate| candidate.name == *wanted))
            }
            OptionChoice::Index(index) => {
                let options = tree.elements().iter().filter(|candidate| is_option(&candidate.role));
                (format!("number {index}"), options.count() > *index)
            }
        };
        (!there).then(|| MockRefusal::NoOption { wanted, options: Vec::new() })
    }

    /// Why an act would be refused.
    pub fn refusal_of(&self, act: &Act, now: Duration) -> Option<MockRefusal> {
        if self.inert { self.missing_option(act, now) } else { self.check_act(act, now).err() }
    }

    fn check_act(
        &self,
        act: &Act,
        now: Duration,
    ) -> Result<(Option<PlannedElement>, Option<FittingReaction>), MockRefusal> {
        let spot = self.aim_act(act, now)?;
        if let Some(spot) = spot.filter(|_| act.works_the_element()) {
            self.check_enabled(spot)?;
        }
        let reaction = self.matching_reaction(act, spot)?;
        if let Some(spot) = spot.filter(|_| reaction.is_none()) {
            self.check_ability(act, spot)?;
        }
        Ok((spot, reaction))
    }

    /// Nothing may come to the front for an act in the background.
    fn check_by_itself(&self, act: &Act, spot: PlannedElement) -> Result<(), MockRefusal> {
        let element = self.element(spot);
        let does = match act {
            Act::Invoke { .. } | Act::SetValue { .. } | Act::Select { .. } => true,
            Act::Click { button: Button::Left, count: 1, modifiers, .. } => {
                modifiers.is_empty() && element.role.is_pressed_by_key()
            }
            _ => false,
        };
        if does { Ok(()) } else { Err(MockRefusal::NotByItself { name: element.name }) }
    }

    /// What a field holds, and whether it has the keyboard.
    pub fn field(&self, element: &Handle, now: Duration) -> Option<FieldText> {
        let spot = self.locate_handle(element, now).ok()?;
        let found = self.element(spot);
        let value = found.value.unwrap_or_default();
        let characters = Some(value.chars().count());
        let text = (!found.secret).then_some(value);
        Some(FieldText { focused: self.keyboard_spot(now) == Some(spot), text, characters })
    }

    /// Keys are for a window that is brought to the front first.
    fn raise_for_keys(&mut self, act: &Act) {
        if let Act::Type { element: None, window_uid: Some(uid), .. }
        | Act::Key { element: None, window_uid: Some(uid), .. } = act
        {
            self.raise_window(uid);
        }
    }

    /// Everything that can be refused is refused before anything changes.
    fn perform_act(
        &mut self,
        act: &Act,
        delivery: Delivery,
        now: Duration,
    ) -> Result<MockOutcome, MockRefusal> {
        self.raise_for_keys(act);
        let (spot, reaction) = self.check_act(act, now)?;
        let in_front = delivery == Delivery::Foreground;
        if let Some(spot) = spot.filter(|_| !in_front) {
            self.check_by_itself(act, spot)?;
        }
        if let Some(spot) = spot.filter(|_| in_front && act.works_the_element()) {
            self.give_focus(spot, matches!(act, Act::Click { .. }));
        }
        let element = spot.map(|spot| self.handle(spot));
        if let Some((reaction, text)) = reaction {
            self.start(reaction, &text, now);
            return Ok(MockOutcome { reacted: true, element, ..MockOutcome::default() });
        }
        let done = self.answer_by_itself(act, spot, now)?;
        Ok(MockOutcome { element, ..done })
    }

    // ── aim ────────────────────────────────────────────────────────────────────────────────────

    fn aim_act(&self, act: &Act, now: Duration) -> Result<Option<PlannedElement>, MockRefusal> {
        let (element, point) = act.aim_act();
        if let Some(handle) = element {
            return self.locate_handle(handle, now).map(Some);
        }
        Ok(match point {
            Some(point) => self.hit_test(point, now),
            None => self.keyboard_spot(now),
        })
    }

    fn locate_handle(&self, handle: &Handle, now: Duration) -> Result<PlannedElement, MockRefusal> {
        let window = self
            .window_index(&handle.window_uid)
            .ok_or_else(|| MockRefusal::NoWindow { uid: handle.window_uid.clone() })?;
        let node = self.window_plans()[window].find_element(&handle.native);
        node.map(|node| PlannedElement { window, node })
            .filter(|&spot| self.is_present(spot, now))
            .ok_or_else(|| MockRefusal::NoElement { native: handle.native.clone() })
    }

    /// The innermost element under the point, in the topmost window there.
    fn hit_test(&self, point: Point, now: Duration) -> Option<PlannedElement> {
        let mut windows = self.open_windows().into_iter();
        let window =
            windows.find(|&window| self.window_bounds(&self.window_plans()[window]).contains(point))?;
        let (tree, origins) = self.shown_tree(window, now);
        // In pre-order what comes later lies inside or above what comes before.
        let node = (0..tree.len())
            .rev()
            .find(|&node| tree[node].bounds.contains(point) && !is_clipped(&tree, node, point))?;
        Some(PlannedElement { window, node: *origins.get(node)? })
    }

    fn keyboard_spot(&self, now: Duration) -> Option<PlannedElement> {
        let window = self.focused_window()?;
        let native = self.window_memory(window)?.keyboard.as_deref()?;
        let spot = PlannedElement { window, node: self.window_plans()[window].find_element(native)? };
        self.is_present(spot, now).then_some(spot)
    }

    fn handle(&self, spot: PlannedElement) -> Handle {
        let plan = &self.window_plans()[spot.window];
        let native = plan.tree[spot.node].native.clone().unwrap_or_default();
        Handle { window_uid: plan.uid.clone(), native }
    }

    /// A disabled element disables what is in it; a disabled root is a window behind a modal dialog.
    fn check_enabled(&self, spot: PlannedElement) -> Result<(), MockRefusal> {
        let disabled =
            self.ancestor_chain(spot).into_iter().map(|spot| self.element(spot)).find(|it| !it.enabled);
        match disabled {
            None => Ok(()),
            Some(element) => {
                Err(MockRefusal::Disabled { role: element.role.to_string(), name: element.name })
            }
        }
    }

    /// Gives the keyboard to the control that was worked, and brings its window to the front.
    fn give_focus(&mut self, spot: PlannedElement, clicked: bool) {
        let control = self.control_of(spot);
        let role = &self.window_plans()[control.window].tree[control.node].role;
        let authored = self.window_plans()[spot.window].elements[spot.node].authored;
        if role.is_focusable() {
            self.give_keyboard(control);
        } else if authored {
            self.give_keyboard(spot);
        } else {
            let uid = self.window_plans()[spot.window].uid.clone();
            self.raise_window(&uid);
        }
        if clicked {
            self.memory_at(spot.window).all_selected = false;
        }
    }

    /// A label belongs to what it labels, and inside a button to the button: the innermost control, or else the
    /// element itself.
    fn control_of(&self, spot: PlannedElement) -> PlannedElement {
        let tree = &self.window_plans()[spot.window].tree;
        let labelled = self.labelled_by(spot);
        let mut chain = labelled.into_iter().chain(self.ancestor_chain(spot));
        chain.find(|around| tree[around.node].role.is_focusable()).unwrap_or(spot)
    }

    fn labelled_by(&self, label: PlannedElement) -> Option<PlannedElement> {
        let plan = &self.window_plans()[label.window];
        let control = plan.tree[label.node].label_links.first()?;
        plan.find_element(control).map(|node| PlannedElement { node, ..label })
    }

    // ── reactions ──────────────────────────────────────────────────────────────────────────────

    /// The first reaction that fits, and what `{text}` is for it.
    fn matching_reaction(
        &self,
        act: &Act,
        spot: Option<PlannedElement>,
    ) -> Result<Option<FittingReaction>, MockRefusal> {
        let text = self.text_of(act, spot);
        let targets = spot.map_or_else(Vec::new, |spot| self.targets(act, spot));
        self.first_reaction(act.kinds(), &targets, text.as_deref()).map_err(MockRefusal::PatternGaveUp)
    }

    /// Brings a window to the front as a window manager does; a reaction may wait for that.
    pub fn activate_window(&mut self, uid: &str, now: Duration) -> bool {
        self.advance_to(now);
        if !self.raise_window(uid) {
            return false;
        }
        let root = self.window_index(uid).map(|window| PlannedElement { window, node: Tree::ROOT });
        let targets: Vec<PlannedElement> = root.into_iter().collect();
        // Without a text no pattern is tried.
        if let Ok(Some((reaction, text))) = self.first_reaction(&[InputKind::RaiseWindow], &targets, None) {
            self.start(reaction, &text, now);
        }
        true
    }

    pub(super) fn first_reaction(
        &self,
        kinds: &[InputKind],
        targets: &[PlannedElement],
        text: Option<&str>,
    ) -> Result<Option<FittingReaction>, String> {
        for (index, reaction) in self.scenario.reactions.iter().enumerate() {
            let fits = kinds.contains(&reaction.on.input)
                && reaction.in_state.is_none_or(|state| state == self.state)
                && self.trigger_fits(&reaction.on, targets)
                && reaction.when.iter().all(|condition| self.condition_holds(condition));
            if !fits {
                continue;
            }
            let captured = reaction.on.captured_text(text).map_err(|given_up| given_up.to_string())?;
            if let Some(captured) = captured {
                return Ok(Some((index, captured.to_owned())));
            }
        }
        Ok(None)
    }

    /// The elements that a reaction may mean: for a pointer also those between it and its control.
    fn targets(&self, act: &Act, spot: PlannedElement) -> Vec<PlannedElement> {
        if !act.is_by_pointer() {
            return vec![spot];
        }
        let tree = &self.window_plans()[spot.window].tree;
        let mut chain = self.ancestor_chain(spot);
        let labelled = self.labelled_by(spot);
        if let Some(control) = chain.iter().position(|around| tree[around.node].role.is_focusable()) {
            chain.truncate(control + 1);
        }
        chain.extend(labelled);
        chain
    }

    fn trigger_fits(&self, trigger: &Trigger, targets: &[PlannedElement]) -> bool {
        let anything = trigger.target_id.is_none() && trigger.target_name.is_none();
        if anything && trigger.window.is_none() {
            return true;
        }
        targets.iter().any(|&target| self.fits_target(trigger, target))
    }

    fn fits_target(&self, trigger: &Trigger, target: PlannedElement) -> bool {
        let plan = &self.window_plans()[target.window];
        let is_id = |id: &String| plan.find_authored(id) == Some(target.node);
        let is_name = |name: &String| self.element(target).name == *name;
        trigger.window.as_ref().is_none_or(|uid| plan.uid == *uid)
            && trigger.target_id.as_ref().is_none_or(is_id)
            && trigger.target_name.as_ref().is_none_or(is_name)
    }

    fn condition_holds(&self, condition: &ReactionCondition) -> bool {
        let Some(element) = self.remembered_element(&condition.id, condition.window.as_deref()) else {
            return false;
        };
        let value = element.value.unwrap_or_default();
        condition.value.as_ref().is_none_or(|wanted| value == *wanted)
            && condition.value_not_empty.is_none_or(|wanted| value.is_empty() != wanted)
            && condition.selected.is_none_or(|wanted| element.selected.unwrap_or(false) == wanted)
    }

    fn text_of(&self, act: &Act, spot: Option<PlannedElement>) -> Option<String> {
        match act {
            Act::Type { text, .. } | Act::SetValue { text, .. } => Some(text.clone()),
            Act::Key { keys, .. } => Some(keys.to_string()),
            Act::Scroll { clicks, .. } => Some(clicks.to_string()),
            Act::Select { option, .. } => {
                let chosen = self.option_of(spot?, option.as_ref());
                chosen.ok().map(|spot| self.element(spot).name)
            }
            _ => None,
        }
    }

    // ── what any application does ──────────────────────────────────────────────────────────────

    fn check_ability(&self, act: &Act, spot: PlannedElement) -> Result<(), MockRefusal> {
        match act {
            Act::SetValue { text, .. } => self.check_value(spot, text),
            Act::Select { option, .. } => self.option_of(spot, option.as_ref()).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn check_value(&self, spot: PlannedElement, text: &str) -> Result<(), MockRefusal> {
        let element = self.element(spot);
        if element.range.now.is_some() {
            let (min, max) = (element.range.min, element.range.max);
            let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            let inside =
                |number: f64| min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
            return match number.filter(|&number| inside(number)) {
                Some(_) => Ok(()),
                None => Err(MockRefusal::NotInRange { text: text.to_owned(), min, max }),
            };
        }
        if element.role.takes_text() {
            return Ok(());
        }
        Err(MockRefusal::NotEditable { role: element.role.to_string(), name: element.name })
    }

    fn answer_by_itself(
        &mut self,
        act: &Act,
        spot: Option<PlannedElement>,
        now: Duration,
    ) -> Result<MockOutcome, MockRefusal> {
        if let (Act::Key { keys, .. }, spot) = (act, spot) {
            return self.press_keys(keys, spot, now);
        }
        let Some(spot) = spot else {
            return Ok(MockOutcome::default());
        };
        let built_in = match act {
            Act::Click { button: Button::Left, count, .. } => count % 2 == 1 && self.work_control(spot),
            Act::Invoke { .. } => self.work_control(spot),
            Act::SetValue { text, .. } => self.set_value(spot, text),
            Act::Type { text, .. } => self.enter_text(spot, text),
            Act::Select { option, .. } => {
                let chosen = self.option_of(spot, option.as_ref())?;
                self.select_spot(chosen)
            }
            Act::Scroll { clicks, .. } => self.scroll_container(spot, *clicks),
            _ => false,
        };
        Ok(MockOutcome { built_in, ..MockOutcome::default() })
    }

    fn set_value(&mut self, spot: PlannedElement, text: &str) -> bool {
        let is_number = self.element(spot).range.now.is_some();
        let number = text.trim().parse().ok().filter(|_| is_number);
        let shows_text = number.is_none() || self.element(spot).value.is_some();
        let changed = self.changed_element(spot);
        changed.number = number.or(changed.number);
        if shows_text {
            changed.value = Some(text.to_owned());
        }
        self.memory_at(spot.window).all_selected = false;
        true
    }

    /// Text goes to the end of what is there, or in place of it when all of it is selected.
    fn enter_text(&mut self, spot: PlannedElement, text: &str) -> bool {
        let element = self.element(spot);
        if !element.role.takes_text() {
            return false;
        }
        let replaced = std::mem::take(&mut self.memory_at(spot.window).all_selected);
        let before = element.value.filter(|_| !replaced).unwrap_or_default();
        self.changed_element(spot).value = Some(before + text);
        true
    }

    fn work_control(&mut self, spot: PlannedElement) -> bool {
        let control = self.control_of(spot);
        let element = self.element(control);
        if element.role.toggles() {
            self.changed_element(control).selected = Some(!element.selected.unwrap_or(false));
            return true;
        }
        let is_option =
            element.role == Role::RadioButton || (element.selected.is_some() && is_option(&element.role));
        is_option && self.select_spot(control)
    }

    /// Selects one of its kind under its parent; a combo box around it shows its name.
    fn select_spot(&mut self, spot: PlannedElement) -> bool {
        for other in self.siblings_of(spot) {
            if self.element(other).selected == Some(true) {
                self.changed_element(other).selected = Some(false);
            }
        }
        self.changed_element(spot).selected = Some(true);
        let name = self.element(spot).name;
        let around = self.ancestor_chain(spot).into_iter().skip(1);
        let is_combo =
            |spot: &PlannedElement| self.window_plans()[spot.window].tree[spot.node].role == Role::ComboBox;
        let combo = around.into_iter().find(is_combo);
        if let Some(combo) = combo {
            let closes = self.element(combo).expanded.map(|_| false);
            let changed = self.changed_element(combo);
            changed.value = Some(name);
            changed.expanded = closes.or(changed.expanded);
        }
        true
    }

    fn siblings_of(&self, spot: PlannedElement) -> Vec<PlannedElement> {
        let tree = &self.window_plans()[spot.window].tree;
        let Some(parent) = tree.parent(spot.node) else {
            return Vec::new();
        };
        let same = |&node: &usize| node != spot.node && tree[node].role == tree[spot.node].role;
        tree.children(parent).filter(same).map(|node| PlannedElement { node, ..spot }).collect()
    }

    fn option_of(
        &self,
        spot: PlannedElement,
        choice: Option<&OptionChoice>,
    ) -> Result<PlannedElement, MockRefusal> {
        let Some(choice) = choice else {
            return Ok(self.control_of(spot));
        };
        let tree = &self.window_plans()[spot.window].tree;
        let below = (spot.node + 1)..tree.end(spot.node);
        let options = below.filter(|&node| is_option(&tree[node].role));
        let options: Vec<PlannedElement> = options.map(|node| PlannedElement { node, ..spot }).collect();
        let chosen = match choice {
            OptionChoice::Index(index) => options.get(*index),
            OptionChoice::Name(name) => options.iter().find(|&&option| self.element(option).name == *name),
        };
        chosen.copied().ok_or_else(|| self.no_option(choice, &options))
    }

    fn no_option(&self, choice: &OptionChoice, options: &[PlannedElement]) -> MockRefusal {
        let wanted = match choice {
            OptionChoice::Index(index) => format!("number {index}"),
            OptionChoice::Name(name) => format!("\"{name}\""),
        };
        let names = options.iter().take(OPTIONS_SHOWN).map(|&option| self.element(option).name);
        let mut options_named: Vec<String> = names.collect();
        if let Some(more) = options.len().checked_sub(OPTIONS_SHOWN).filter(|&more| more > 0) {
            options_named.push(format!("and {more} more"));
        }
        MockRefusal::NoOption { wanted, options: options_named }
    }

    /// Scrolls the innermost container around the element whose content is higher than itself.
    fn scroll_container(&mut self, spot: PlannedElement, clicks: i32) -> bool {
        let chain = self.ancestor_chain(spot).into_iter();
        let Some((container, most)) = chain.filter_map(|spot| Some((spot, self.scroll_range(spot)?))).next()
        else {
            return false;
        };
        let slot = self.memory_slot(container);
        let offset = self.memory_at(container.window).scrolled.entry(slot).or_default();
        let before = *offset;
        *offset = offset.saturating_sub(clicks.saturating_mul(WHEEL_STEP)).clamp(0, most);
        *offset != before
    }

    /// How far a container can be scrolled; `None` when all of its content fits.
    fn scroll_range(&self, spot: PlannedElement) -> Option<i32> {
        let tree = &self.window_plans()[spot.window].tree;
        let container = &tree[spot.node];
        let below = (spot.node + 1)..tree.end(spot.node);
        let bottom = below.map(|node| tree[node].bounds.bottom()).max()?;
        let most = bottom.saturating_sub(container.bounds.bottom());
        (most > 0 && container.role.scrolls()).then_some(most)
    }

    // ── keys ───────────────────────────────────────────────────────────────────────────────────

    fn press_keys(
        &mut self,
        keys: &KeyCombo,
        spot: Option<PlannedElement>,
        now: Duration,
    ) -> Result<MockOutcome, MockRefusal> {
        let built_in = |built_in| Ok(MockOutcome { built_in, ..MockOutcome::default() });
        let combo = keys.to_string();
        if combo == "tab" || combo == "shift+tab" {
            return built_in(self.move_keyboard(spot, combo == "tab", now));
        }
        let Some(spot) = spot else {
            return built_in(false);
        };
        let role = self.window_plans()[spot.window].tree[spot.node].role.clone();
        if matches!(&*combo, "enter" | "space") && role.is_pressed_by_key() {
            let element = Some(self.handle(spot));
            return self.perform_act(
                &Act::Click { element, at: None, button: Button::Left, count: 1, modifiers: Vec::new() },
                Delivery::Foreground,
                now,
            );
        }
        if !role.takes_text() {
            return built_in(false);
        }
        built_in(self.edit_text(&combo, keys, spot))
    }

    fn edit_text(&mut self, combo: &str, keys: &KeyCombo, spot: PlannedElement) -> bool {
        match combo {
            "ctrl+a" => {
                self.memory_at(spot.window).all_selected = true;
                true
            }
            "backspace" | "delete" => self.erase_text(spot, combo == "backspace"),
            "ctrl+c" => self.copy_text(spot),
            "ctrl+x" => self.copy_text(spot) && self.erase_text(spot, false),
            "ctrl+v" => self.clipboard.clone().is_some_and(|text| self.enter_text(spot, &text)),
            _ => typed_by(keys, &self.window_plans()[spot.window].tree[spot.node].role)
                .is_some_and(|text| self.enter_text(spot, &text)),
        }
    }

    /// What is selected, which is all or nothing, goes onto the clipboard. Nothing secret does, as in real fields.
    fn copy_text(&mut self, spot: PlannedElement) -> bool {
        let element = self.element(spot);
        let selected = self.window_memory(spot.window).is_some_and(|memory| memory.all_selected);
        let text = element.value.filter(|text| selected && !element.secret && !text.is_empty());
        let copied = text.is_some();
        self.clipboard = text.or(self.clipboard.take());
        copied
    }

    /// The caret is always at the end, so `delete` has something to do only when all is selected.
    fn erase_text(&mut self, spot: PlannedElement, backwards: bool) -> bool {
        let all = std::mem::take(&mut self.memory_at(spot.window).all_selected);
        let mut value = self.element(spot).value.unwrap_or_default();
        let erased =
            if all { !std::mem::take(&mut value).is_empty() } else { backwards && value.pop().is_some() };
        if erased {
            self.changed_element(spot).value = Some(value);
        }
        erased
    }

    /// Moves the keyboard to the next or previous control that can have it.
    fn move_keyboard(&mut self, from: Option<PlannedElement>, forwards: bool, now: Duration) -> bool {
        let Some(window) = from.map(|spot| spot.window).or_else(|| self.focused_window()) else {
            return false;
        };
        let (tree, origins) = self.shown_tree(window, now);
        let can_have = |&node: &usize| tree[node].role.is_focusable() && tree[node].enabled;
        let stops = (0..tree.len()).filter(can_have).filter_map(|node| origins.get(node).copied());
        let stops: Vec<usize> = stops.collect();
        let at = from.and_then(|spot| stops.iter().position(|&node| node == spot.node));
        let next = match (at, forwards) {
            (Some(at), true) => (at + 1) % stops.len(),
            (Some(at), false) => at.checked_sub(1).unwrap_or(stops.len() - 1),
            (None, true) => 0,
            (None, false) => stops.len().saturating_sub(1),
        };
        let Some(&node) = stops.get(next) else {
            return false;
        };
        self.give_keyboard(PlannedElement { window, node });
        true
    }
}

/// Scenarios may call a single tab `Tab`, which on real desktops is what holds the tabs.
fn is_option(role: &Role) -> bool {
    role.is_option() || *role == Role::Tab
}

/// Content that is scrolled out of its container is not under any pointer.
fn is_clipped(tree: &Tree, node: usize, point: Point) -> bool {
    let mut around = std::iter::successors(tree.parent(node), |&node| tree.parent(node));
    around.any(|node| tree[node].role.scrolls() && !tree[node].bounds.contains(point))
}

/// The character that a key enters; shift is the only modifier that still enters one.
fn typed_by(keys: &KeyCombo, role: &Role) -> Option<String> {
    let shifted = match keys.modifiers[..] {
        [] => false,
        [Modifier::Shift] => true,
        _ => return None,
    };
    match &keys.key {
        Key::Character(character) if shifted => Some(character.to_uppercase().collect()),
        Key::Character(character) => Some(character.to_string()),
        Key::Named(NamedKey::Space) => Some(" ".to_owned()),
        Key::Named(NamedKey::Enter) if *role == Role::Document => Some("\n".to_owned()),
        _ => None,
    }
}

impl Act {
    fn aim_act(&self) -> (Option<&Handle>, Option<Point>) {
        match self {
            Act::Click { element, at, .. } | Act::Scroll { element, at, .. } | Act::Hover { element, at } => {
                (element.as_ref(), *at)
            }
            Act::Invoke { element }
            | Act::Focus { element }
            | Act::SetValue { element, .. }
            | Act::Select { element, .. } => (Some(element), None),
            Act::Type { element, .. } | Act::Key { element, .. } => (element.as_ref(), None),
            Act::Drag { from, .. } => (None, Some(*from)),
        }
    }

    fn is_by_pointer(&self) -> bool {
        match self {
            Act::Click { .. }
            | Act::Invoke { .. }
            | Act::Scroll { .. }
            | Act::Hover { .. }
            | Act::Drag { .. } => true,
            Act::Focus { .. }
            | Act::SetValue { .. }
            | Act::Select { .. }
            | Act::Type { .. }
            | Act::Key { .. } => false,
        }
    }

    /// Needs the element enabled, and leaves the keyboard there. A wheel or a passing pointer does neither.
    fn works_the_element(&self) -> bool {
        !matches!(self, Act::Scroll { .. } | Act::Hover { .. } | Act::Drag { .. })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::model::Element;
    use crate::scenario::{load_file, load_str};

    const START: Duration = Duration::from_secs(100);

    fn shipped(name: &str) -> World {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name);
        World::scenario(Arc::new(load_file(&path).unwrap()), START)
    }

    /// One window `w` of 100×100 with these children, and these reactions.
    fn small(children: &str, reactions: &str) -> World {
        let yaml = format!(
            "states:
  a: {{windows: [{{uid: w, bounds: {{width: 100, height: 100}}, tree: {{role: Window, children: [{children}]}}}}]}}
  b: {{windows: [{{uid: w, tree: {{role: Window, children: [{{role: Edit, id: other}}]}}}}]}}
reactions: [{reactions}]"
        );
        World::scenario(Arc::new(load_str(&yaml, "small").unwrap_or_else(|e| panic!("{e}"))), START)
    }

    #[test]
    fn time_alone_ends_a_state() {
        let yaml = "states:
  a: {then: {after_ms: 100, transition_to: b}, windows: [{uid: w}]}
  b: {then: {after_ms: 50, transition_to: c}, windows: []}
  c: {windows: []}";
        let mut world = World::scenario(Arc::new(load_str(yaml, "t").unwrap()), START);
        let at = |ms: u64| START + Duration::from_millis(ms);
        for (ms, state, next) in [(99, "a", Some(at(100))), (100, "b", Some(at(150))), (150, "c", None)] {
            world.advance_to(at(ms));
            assert_eq!((world.state(), world.next_change(at(ms))), (Some(state), next), "{ms}");
        }
    }

    #[test]
    fn a_reaction_waits_only_in_its_state() {
        let click = "{on: {tool: click_element, target_id: x}";
        let mut world = small(
            "{role: Button, id: x}",
            &format!("{click}, in_state: b, transition_to: a}}, {click}, in_state: a, transition_to: b}}"),
        );
        let act = Act::Click {
            element: Some(handle("w", "x")),
            at: None,
            button: Button::Left,
            count: 1,
            modifiers: Vec::new(),
        };
        assert!(world.act(&act, START).reacted);
        assert_eq!(world.state(), Some("b"));
    }

    #[test]
    fn raising_a_window_can_be_reacted_to() {
        let mut world = small("", "{on: {tool: bring_to_foreground, window: w}, transition_to: b}");
        assert!(!world.activate_window("nobody", START));
        assert_eq!(world.state(), Some("a"));
        assert!(world.activate_window("w", START));
        assert_eq!(world.state(), Some("b"));
    }

    #[test]
    fn a_state_may_forget_who_had_the_keyboard() {
        for (keeps, expected) in [("true", Some("root.0")), ("false", None)] {
            let one = "windows: [{uid: w, tree: {children: [{role: Edit, id: x}]}}]";
            let yaml = format!(
                "states: {{a: {{{one}}}, b: {{keeps_focus: {keeps}, {one}}}}}
reactions: [{{on: {{tool: click_element}}, transition_to: b}}]"
            );
            let mut world = World::scenario(Arc::new(load_str(&yaml, "t").unwrap()), START);
            let element = Some(handle("w", "x"));
            world.act(
                &Act::Click { element, at: None, button: Button::Left, count: 1, modifiers: Vec::new() },
                START,
            );
            let tree = world.tree("w", START).unwrap();
            assert_eq!(tree.focused().map(|node| tree.id(node)).as_deref(), expected, "{keeps}");
        }
    }

    fn handle(window_uid: &str, native: &str) -> Handle {
        Handle { window_uid: window_uid.to_owned(), native: native.to_owned() }
    }

    fn click(world: &mut World, uid: &str, native: &str) -> MockOutcome {
        click_after(world, uid, native, START)
    }

    fn click_after(world: &mut World, uid: &str, native: &str, now: Duration) -> MockOutcome {
        let element = Some(handle(uid, native));
        world.act(
            &Act::Click { element, at: None, button: Button::Left, count: 1, modifiers: Vec::new() },
            now,
        )
    }

    fn click_at(world: &mut World, x: i32, y: i32) -> MockOutcome {
        let at = Some(Point { x, y });
        world.act(
            &Act::Click { element: None, at, button: Button::Left, count: 1, modifiers: Vec::new() },
            START,
        )
    }

    fn type_text(world: &mut World, text: &str) -> MockOutcome {
        world.act(&Act::Type { element: None, window_uid: None, text: text.to_owned() }, START)
    }

    fn set_value(world: &mut World, uid: &str, native: &str, text: &str) -> MockOutcome {
        world.act(&Act::SetValue { element: handle(uid, native), text: text.to_owned() }, START)
    }

    fn press(world: &mut World, keys: &str) -> MockOutcome {
        world.act(&Act::Key { element: None, window_uid: None, keys: KeyCombo::parse(keys).unwrap() }, START)
    }

    fn tree_at(world: &World, uid: &str, now: Duration) -> Tree {
        world.tree(uid, now).unwrap()
    }

    fn hash(world: &World, uid: &str) -> String {
        tree_at(world, uid, START).hash(Tree::ROOT)
    }

    fn element(world: &World, uid: &str, native: &str) -> Element {
        let tree = tree_at(world, uid, START);
        let found = tree.elements().iter().find(|element| element.native.as_deref() == Some(native));
        found.unwrap_or_else(|| panic!("no {native}")).clone()
    }

    fn value(world: &World, uid: &str, native: &str) -> String {
        element(world, uid, native).value.unwrap_or_default()
    }

    fn focused(world: &World, uid: &str) -> Option<String> {
        let tree = tree_at(world, uid, START);
        tree.focused().and_then(|node| tree[node].native.clone())
    }

    fn names(world: &World, uid: &str, now: Duration) -> Vec<String> {
        tree_at(world, uid, now).elements().iter().map(|element| element.name.clone()).collect()
    }

    // ── login ──────────────────────────────────────────────────────────────────────────────────

    const LOGIN_START: &str = "sha1:fea1872051222609de110f1d998873b68a4e8faf";
    const LOGIN_FILLED: &str = "sha1:729c8168a66cbfa1a180f6b936665b1224c7d96e";
    const LOGIN_WELCOME: &str = "sha1:e7106eade464b8752bdca437379f6d39e0a45dec";

    #[test]
    fn login_walks_from_start_to_welcome() {
        let mut world = shipped("login.yaml");
        assert_eq!((world.state(), world.states()), (Some("start"), vec!["start", "welcome"]));
        assert_eq!(hash(&world, "mock:app"), LOGIN_START);
        assert_eq!(focused(&world, "mock:app"), None);
        assert!(!click(&mut world, "mock:app", "u").reacted);
        assert_eq!(focused(&world, "mock:app").as_deref(), Some("u"));
        assert!(type_text(&mut world, "alice").reacted);
        click(&mut world, "mock:app", "p");
        assert!(type_text(&mut world, "hunter2").reacted);
        assert_eq!(hash(&world, "mock:app"), LOGIN_FILLED);
        assert!(click(&mut world, "mock:app", "btn").reacted);
        assert_eq!(hash(&world, "mock:app"), LOGIN_WELCOME);
        assert_eq!((world.state(), focused(&world, "mock:app")), (Some("welcome"), None));
        assert_eq!(world.windows()[0].title, "Acme — Welcome");
    }

    #[test]
    fn login_by_set_value_and_a_click_on_the_screen() {
        let mut world = shipped("login.yaml");
        assert!(set_value(&mut world, "mock:app", "p", "secret").reacted);
        assert!(set_value(&mut world, "mock:app", "u", "alice").reacted);
        assert_eq!(hash(&world, "mock:app"), LOGIN_FILLED);
        let outcome = click_at(&mut world, 250, 294);
        assert_eq!(outcome.element, Some(handle("mock:app", "btn")));
        assert!(outcome.reacted);
        assert_eq!(world.state(), Some("welcome"));
    }

    #[test]
    fn login_refuses_without_a_password_or_the_right_name() {
        let mut world = shipped("login.yaml");
        set_value(&mut world, "mock:app", "u", "alice");
        assert!(!click(&mut world, "mock:app", "btn").reacted);
        set_value(&mut world, "mock:app", "p", "x");
        set_value(&mut world, "mock:app", "p", "");
        assert!(!click(&mut world, "mock:app", "btn").reacted, "an emptied password is none");
        set_value(&mut world, "mock:app", "p", "x");
        set_value(&mut world, "mock:app", "u", "bob");
        assert!(!click(&mut world, "mock:app", "btn").reacted);
        assert_eq!(world.state(), Some("start"));
    }

    #[test]
    fn the_password_is_marked_secret() {
        let world = shipped("login.yaml");
        assert!(element(&world, "mock:app", "p").secret);
        assert!(!element(&world, "mock:app", "u").secret);
    }

    // ── the other shipped scenarios ────────────────────────────────────────────────────────────

    #[test]
    fn the_form_asks_back_until_it_is_sent() {
        let mut world = shipped("form.yaml");
        click(&mut world, "mock:claims", "send");
        assert_eq!(value(&world, "mock:claims", "hint"), "Please say who claims.");
        assert_eq!(focused(&world, "mock:claims").as_deref(), Some("employee"));
        type_text(&mut world, "Ada");
        assert_eq!(value(&world, "mock:claims", "employee"), "Ada");
        click(&mut world, "mock:claims", "send");
        assert_eq!(focused(&world, "mock:claims").as_deref(), Some("receipts"));
        press(&mut world, "space");
        assert_eq!(element(&world, "mock:claims", "receipts").selected, Some(true));
        click(&mut world, "mock:claims", "send");
        assert_eq!(world.state(), Some("confirming"));
        assert_eq!(world.stacking(), [1, 0]);
        assert_eq!(focused(&world, "mock:confirm").as_deref(), Some("send-now"));
        assert!(world.windows()[1].focused && !world.windows()[0].focused);
        assert!(press(&mut world, "enter").reacted);
        assert_eq!(world.windows()[0].title, "Claim sent — Claims");
    }

    #[test]
    fn a_modal_dialog_disables_its_owner_and_escape_closes_it() {
        let mut world = shipped("form.yaml");
        set_value(&mut world, "mock:claims", "employee", "Ada");
        click(&mut world, "mock:claims", "receipts");
        click(&mut world, "mock:claims", "send");
        let refusal = click(&mut world, "mock:claims", "discard").refusal;
        let window = ("Window".to_owned(), "New claim — Claims".to_owned());
        assert_eq!(refusal, Some(MockRefusal::Disabled { role: window.0, name: window.1 }));
        assert!(press(&mut world, "escape").reacted);
        assert_eq!(world.state(), Some("editing"));
        assert_eq!(value(&world, "mock:claims", "employee"), "Ada", "kept across states");
    }

    #[test]
    fn form_fields_of_every_kind_take_values() {
        let mut world = shipped("form.yaml");
        let option = Some(OptionChoice::Name("Meals".to_owned()));
        world.act(&Act::Select { element: handle("mock:claims", "category"), option }, START);
        assert_eq!(value(&world, "mock:claims", "category"), "Meals");
        click(&mut world, "mock:claims", "card");
        assert_eq!(element(&world, "mock:claims", "card").selected, Some(true));
        assert_eq!(element(&world, "mock:claims", "own").selected, Some(false));
        set_value(&mut world, "mock:claims", "urgency", "5");
        assert_eq!(element(&world, "mock:claims", "urgency").range.now, Some(5.0));
        let refusal = set_value(&mut world, "mock:claims", "urgency", "9").refusal.unwrap();
        assert_eq!(refusal.to_string(), "\"9\" is not a number from 1 to 5");
        let option = Some(OptionChoice::Index(7));
        let refused = world.act(&Act::Select { element: handle("mock:claims", "category"), option }, START);
        let message = refused.refusal.unwrap().to_string();
        assert_eq!(message, "there is no option number 7; options are Travel, Meals, Equipment");
        let message = set_value(&mut world, "mock:claims", "send", "x").refusal.unwrap().to_string();
        assert_eq!(message, "Button \"Send\" takes no value");
    }

    #[test]
    fn the_long_list_scrolls_to_the_person() {
        let mut world = shipped("long-list.yaml");
        assert_eq!(tree_at(&world, "mock:contacts", START).len(), 507);
        let scroll = |clicks| Act::Scroll { element: None, at: Some(Point { x: 300, y: 300 }), clicks };
        assert!(!world.act(&scroll(3), START).built_in, "it is at the top already");
        assert!(world.act(&scroll(-188), START).built_in);
        let row = element(&world, "mock:contacts", "person-321").bounds;
        assert_eq!((row.y, row.height), (176 + 320 * 24 - 188 * 40, 24));
        let center = row.center();
        assert_eq!(
            click_at(&mut world, center.x, center.y).element,
            Some(handle("mock:contacts", "person-321"))
        );
        assert!(click(&mut world, "mock:contacts", "open").reacted);
        assert_eq!(world.state(), Some("card"));
    }

    #[test]
    fn rows_scrolled_out_of_the_list_are_not_under_the_pointer() {
        let mut world = shipped("long-list.yaml");
        assert_eq!(click_at(&mut world, 250, 645).element, Some(handle("mock:contacts", "count")));
        world.act(&Act::Scroll { element: None, at: Some(Point { x: 300, y: 300 }), clicks: -5 }, START);
        assert_eq!(click_at(&mut world, 250, 150).element, Some(handle("mock:contacts", "search")));
        let bar = tree_at(&world, "mock:contacts", START);
        let bar = bar.elements().iter().find(|element| element.role == "ScrollBar").unwrap();
        assert_eq!(bar.bounds.y, 176, "the scroll bar stays");
    }

    #[test]
    fn slow_elements_come_and_go_with_time() {
        let world = shipped("slow-load.yaml");
        let after = |ms: u64| START + Duration::from_millis(ms);
        let names = |ms: u64| names(&world, "mock:report", after(ms)).join(" ");
        assert_eq!(names(0), "Quarterly report Loading Refresh");
        assert_eq!(names(1999), "Quarterly report Loading Refresh");
        assert_eq!(names(2000), "Quarterly report Figures Sales Refresh");
        assert_eq!(names(2600), "Quarterly report Figures Sales Returns Refresh");
        assert_eq!(names(3000), "Quarterly report Figures Sales Returns Margin Notice Refresh Export");
        assert_eq!(names(8000), "Quarterly report Figures Sales Returns Margin Refresh Export");
        assert_eq!(world.capture_delay("mock:report"), Duration::from_millis(150));
    }

    #[test]
    fn the_next_change_is_known_ahead() {
        let mut world = shipped("slow-load.yaml");
        let after = |ms: u64| START + Duration::from_millis(ms);
        assert_eq!(world.next_change(START), Some(after(2000)));
        assert_eq!(world.next_change(after(2000)), Some(after(2500)));
        assert_eq!(world.next_change(after(8000)), None);
        assert_eq!(
            click_after(&mut world, "mock:report", "export", after(2999)).refusal,
            Some(MockRefusal::NoElement { native: "export".to_owned() }),
        );
        assert!(click_after(&mut world, "mock:report", "export", after(9000)).reacted);
        assert_eq!((world.state(), world.next_change(after(9000))), (Some("loading"), Some(after(9400))));
        world.advance_to(after(9399));
        assert_eq!(world.state(), Some("loading"));
        world.advance_to(after(20_000));
        assert_eq!((world.state(), world.next_change(after(20_000))), (Some("exported"), None));
    }

    #[test]
    fn a_late_look_counts_from_when_the_effect_was_due() {
        let mut world = shipped("slow-load.yaml");
        let after = |ms: u64| START + Duration::from_millis(ms);
        click_after(&mut world, "mock:report", "refresh", after(10_000));
        world.advance_to(after(13_000));
        assert_eq!(
            names(&world, "mock:report", after(13_000)).join(" "),
            "Quarterly report Figures Sales Refresh"
        );
    }

    #[test]
    fn the_wizard_ends_after_three_steps() {
        let mut world = shipped("wizard.yaml");
        click(&mut world, "mock:setup", "next-1");
        assert_eq!(value(&world, "mock:setup", "message"), "Please accept the licence first.");
        click(&mut world, "mock:setup", "licence");
        click(&mut world, "mock:setup", "next-1");
        assert_eq!(world.state(), Some("folder"));
        set_value(&mut world, "mock:setup", "folder", "Novels");
        click(&mut world, "mock:setup", "next-2");
        assert_eq!(value(&world, "mock:setup", "chosen"), "Novels", "set before its state was shown");
        click(&mut world, "mock:setup", "back-3");
        assert_eq!(value(&world, "mock:setup", "folder"), "Novels");
        click(&mut world, "mock:setup", "next-2");
        click(&mut world, "mock:setup", "finish");
        assert_eq!((world.state(), world.windows()[0].title.as_str()), (Some("done"), "Setup is complete"));
    }

    #[test]
    fn the_wizard_deletes_only_after_it_was_confirmed() {
        let mut world = shipped("wizard.yaml");
        click(&mut world, "mock:setup", "licence");
        click(&mut world, "mock:setup", "next-1");
        click(&mut world, "mock:setup", "delete");
        assert_eq!(world.windows().len(), 2);
        assert!(press(&mut world, "enter").reacted, "Keep has the focus");
        assert!(element(&world, "mock:setup", "delete").enabled);
        click(&mut world, "mock:setup", "delete");
        click(&mut world, "mock:confirm", "delete-yes");
        assert!(!element(&world, "mock:setup", "delete").enabled);
        assert_eq!(element(&world, "mock:setup", "found").name, "The folder is empty.");
        click(&mut world, "mock:setup", "cancel-2");
        assert!(world.windows().is_empty() && world.stacking().is_empty());
    }

    #[test]
    fn the_dense_application_saves_by_key() {
        let mut world = shipped("dense.yaml");
        assert!(press(&mut world, "ctrl+s").reacted);
        assert_eq!(value(&world, "mock:stock", "saved"), "just now");
    }

    // ── rules ──────────────────────────────────────────────────────────────────────────────────

    #[test]
    fn the_default_desktop_never_changes() {
        let mut world = World::notepad("0");
        let before: Vec<u64> =
            (0..3).map(|i| tree_at(&world, &format!("mock:{i}:0"), START).fingerprint()).collect();
        assert_eq!(click(&mut world, "mock:0:0", "root.6"), MockOutcome::default());
        assert_eq!(click_at(&mut world, 100, 640), MockOutcome::default());
        assert_eq!(type_text(&mut world, "hi"), MockOutcome::default());
        assert_eq!(set_value(&mut world, "mock:0:0", "root.1", "x"), MockOutcome::default());
        let after: Vec<u64> =
            (0..3).map(|i| tree_at(&world, &format!("mock:{i}:0"), START).fingerprint()).collect();
        assert_eq!(before, after);
        assert_eq!((world.state(), world.states().len(), world.next_change(START)), (None, 0, None));
    }

    #[test]
    fn raising_changes_the_stacking_and_not_the_order() {
        let mut world = World::notepad("0");
        assert_eq!(world.stacking(), [0, 1, 2]);
        assert!(world.raise_window("mock:2:0"));
        assert_eq!(world.stacking(), [2, 0, 1]);
        let focused: Vec<bool> = world.windows().iter().map(|window| window.focused).collect();
        assert_eq!(focused, [false, false, true]);
        assert!(!world.raise_window("mock:9:0"));
    }

    #[test]
    fn text_goes_where_the_keyboard_is() {
        let mut world = small("{role: Edit, id: a}, {role: Edit}, {role: Button, id: b}", "");
        assert!(!type_text(&mut world, "lost").built_in);
        click(&mut world, "w", "a");
        assert!(type_text(&mut world, "one").built_in);
        type_text(&mut world, " two");
        assert_eq!(value(&world, "w", "a"), "one two");
        press(&mut world, "tab");
        type_text(&mut world, "unnamed");
        assert_eq!(value(&world, "w", "root.1"), "unnamed");
        press(&mut world, "tab");
        assert!(!type_text(&mut world, "x").built_in, "a button takes no text");
        press(&mut world, "tab");
        assert_eq!(focused(&world, "w").as_deref(), Some("a"), "and around");
        press(&mut world, "shift+tab");
        assert_eq!(focused(&world, "w").as_deref(), Some("b"));
    }

    #[test]
    fn editing_keys_edit() {
        let mut world = small("{role: Edit, id: a, value: old}", "");
        click(&mut world, "w", "a");
        press(&mut world, "backspace");
        press(&mut world, "shift+x");
        assert_eq!(value(&world, "w", "a"), "olX");
        press(&mut world, "ctrl+a");
        type_text(&mut world, "new");
        assert_eq!(value(&world, "w", "a"), "new");
        press(&mut world, "ctrl+a");
        press(&mut world, "delete");
        assert_eq!(value(&world, "w", "a"), "");
        assert!(!press(&mut world, "delete").built_in);
    }

    #[test]
    fn a_label_in_a_button_belongs_to_the_button() {
        let button = "{role: Button, id: b, bounds: {width: 50, height: 50}, children: [{role: Text, bounds: {width: 50, height: 50}}]}";
        let mut world = small(button, "{on: {tool: click_element, target_id: b}, transition_to: b}");
        let outcome = click_at(&mut world, 10, 10);
        assert_eq!((outcome.reacted, outcome.element), (true, Some(handle("w", "root.0.0"))));
        assert_eq!(world.state(), Some("b"));
        assert_eq!(click_at(&mut world, 5000, 5000), MockOutcome::default(), "no window is there");
    }

    #[test]
    fn other_buttons_have_their_own_reactions() {
        let reactions = "{on: {tool: click_element, target_id: b}, set: [{id: b, value: clicked}]},
            {on: {tool: right_click_element, target_id: b}, set: [{id: b, value: menu}]}";
        let mut world = small("{role: Button, id: b}", reactions);
        let element = Some(handle("w", "b"));
        world.act(
            &Act::Click {
                element: element.clone(),
                at: None,
                button: Button::Right,
                count: 1,
                modifiers: Vec::new(),
            },
            START,
        );
        assert_eq!(value(&world, "w", "b"), "menu");
        world.act(
            &Act::Click { element, at: None, button: Button::Left, count: 2, modifiers: Vec::new() },
            START,
        );
        assert_eq!(value(&world, "w", "b"), "clicked");
    }

    #[test]
    fn the_first_reaction_that_fits_wins() {
        let reactions = "{on: {tool: type_text, target_name: B}, focus: a},
            {on: {tool: type_text, text_regex: 'to (.*)'}, set: [{id: a, value: '<{text}>'}]},
            {on: {tool: type_text}, set: [{id: a, value: any}]}";
        let mut world = small("{role: Edit, id: a, name: A}, {role: Edit, id: c, name: B}", reactions);
        type_text(&mut world, "to Rome");
        assert_eq!(value(&world, "w", "a"), "<Rome>");
        type_text(&mut world, "x to Rome");
        assert_eq!(value(&world, "w", "a"), "any");
        click(&mut world, "w", "c");
        type_text(&mut world, "to Oslo");
        assert_eq!((value(&world, "w", "a"), focused(&world, "w")), ("any".to_owned(), Some("a".to_owned())));
    }

    #[test]
    fn what_is_disabled_does_nothing() {
        let mut world = small(
            "{role: Button, id: b, name: Go, enabled: false, bounds: {width: 9, height: 9}}",
            "{on: {tool: click_element, target_id: b}, transition_to: b}",
        );
        assert_eq!(click_at(&mut world, 1, 1).refusal.unwrap().to_string(), "Button \"Go\" is disabled");
        assert_eq!((world.state(), focused(&world, "w")), (Some("a"), None));
    }

    #[test]
    fn positions_of_one_state_mean_nothing_in_another() {
        let mut world = small(
            "{role: Edit}, {role: Button, id: b}",
            "{on: {tool: click_element, target_id: b}, transition_to: b}",
        );
        set_value(&mut world, "w", "root.0", "kept");
        click(&mut world, "w", "b");
        assert_eq!(value(&world, "w", "other"), "");
    }

    #[test]
    fn every_window_can_react_and_be_restored() {
        let yaml = "states:
  a:
    windows:
      - {uid: one, minimized: true, tree: {children: [{role: Edit, id: x}]}}
      - {uid: two, tree: {children: [{role: Edit, id: x, focused: true}, {role: Button, id: go}]}}
reactions:
  - {on: {tool: click_element, target_id: go}, set: [{id: x, window: one, value: hello}]}
  - {on: {tool: type_text, target_id: x, window: one}, set: [{id: x, window: two, value: '{text}'}]}";
        let mut world = World::scenario(Arc::new(load_str(yaml, "t").unwrap()), START);
        assert!(world.windows()[1].focused, "the first is minimized");
        assert_eq!(focused(&world, "two").as_deref(), Some("x"));
        assert!(click(&mut world, "two", "go").reacted);
        assert_eq!(value(&world, "one", "x"), "hello");
        assert!(world.raise_window("one"));
        assert!(world.windows()[0].focused && !world.windows()[0].minimized);
        assert_eq!(focused(&world, "two"), None, "only the window in front has the keyboard");
        let typed = Act::Type { element: Some(handle("one", "x")), window_uid: None, text: "hi".to_owned() };
        assert!(world.act(&typed, START).reacted);
        assert_eq!(value(&world, "two", "x"), "hi");
        let gone = world.act(&Act::Focus { element: handle("three", "x") }, START);
        assert_eq!(gone.refusal.unwrap().to_string(), "window three does not exist now");
    }

    // ── whatever is done ───────────────────────────────────────────────────────────────────────

    use proptest::prelude::*;

    fn any_act() -> impl Strategy<Value = Act> {
        let point = || (0..1000i32, 0..800i32).prop_map(|(x, y)| Point { x, y });
        let key =
            prop::sample::select(vec!["tab", "shift+tab", "enter", "space", "ctrl+a", "backspace", "escape"]);
        let uid = prop::sample::select(vec!["mock:claims", "mock:confirm", "mock:setup", "mock:contacts"]);
        let native =
            prop::sample::select(vec!["send", "category", "root.3", "licence", "person-9", "people"]);
        let element = (uid, native).prop_map(|(uid, native)| handle(uid, native));
        prop_oneof![
            4 => (point(), 1..3u32)
                .prop_map(|(at, count)| Act::Click { element: None, at: Some(at), button: Button::Left, count, modifiers: Vec::new() }),
            2 => key.prop_map(|keys| Act::Key { element: None, window_uid: None, keys: KeyCombo::parse(keys).unwrap() }),
            1 => "[a-zé]{0,4}".prop_map(|text| Act::Type { element: None, window_uid: None, text }),
            1 => (point(), any::<i32>())
                .prop_map(|(at, clicks)| Act::Scroll { element: None, at: Some(at), clicks }),
            1 => element.clone().prop_map(|element| Act::Invoke { element }),
            1 => (element.clone(), "[0-9]{0,3}").prop_map(|(element, text)| Act::SetValue { element, text }),
            1 => (element, 0..4usize)
                .prop_map(|(element, index)| Act::Select { element, option: Some(OptionChoice::Index(index)) }),
        ]
    }

    fn check_invariants(world: &World) {
        let windows = world.windows();
        let mut order = world.stacking();
        order.sort_unstable();
        assert_eq!(order, (0..windows.len()).collect::<Vec<_>>(), "every window has one place in the stack");
        assert!(windows.iter().filter(|window| window.focused).count() <= 1);
        let trees = windows.iter().map(|window| tree_at(world, &window.uid, START));
        let focused = trees.map(|tree| tree.elements().iter().filter(|element| element.focused).count());
        assert!(focused.sum::<usize>() <= 1, "one element of the desktop has the keyboard");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_refused_act_changes_nothing_and_invariants_hold(
            file in prop::sample::select(vec!["form.yaml", "wizard.yaml", "long-list.yaml"]),
            acts in prop::collection::vec(any_act(), 0..25),
        ) {
            let mut world = shipped(file);
            for act in acts {
                let before = world.clone();
                let outcome = world.act(&act, START);
                check_invariants(&world);
                if outcome.refusal.is_some() {
                    prop_assert_eq!((before.state(), before.windows()), (world.state(), world.windows()));
                    for window in world.windows() {
                        prop_assert_eq!(before.tree(&window.uid, START), world.tree(&window.uid, START));
                    }
                }
            }
        }
    }
}
