//! What is pressed is what was judged: the one place that looks again while the pointer is at work. What our own pointer
//! brings up, what a first click turns into something else, and what a menu opens between press and release is found
//! here. Where there are no consent rules nothing is read.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::choices::chosen_by_wheel;
use super::{ElementTarget, HitTest, Observer, Permit, Target, View};
use crate::clock::Cancel;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::{Element, Point, Role};
use crate::observer::DesktopState;
use crate::platform::{PressGuard, PressKind, Wake};

/// How long the pointer rests before it presses, for the application to show what it brings up.
const REST: Duration = Duration::from_millis(60);
/// An application that goes on changing is not waited for any longer.
const LONGEST_REST: Duration = Duration::from_millis(400);

/// What needs consent, as whoever sends an input has to know it.
pub trait ConsentRules: fmt::Debug + Send + Sync {
    fn covers(&self, target: &Target) -> bool;

    /// Whether what could not be read needs consent too.
    fn covers_unread(&self) -> bool;
}

/// The look before each press of one input.
pub(super) struct SecondLook<'a> {
    observer: &'a Observer,
    rules: Option<&'a dyn ConsentRules>,
    /// What the gate judged, and has let pass.
    judged: &'a [Target],
    cancel: &'a Cancel,
    /// What the desktop had told when the input began, and when it was last looked at.
    seen: Cell<u64>,
}

impl<'a> SecondLook<'a> {
    pub(super) fn new(
        observer: &'a Observer,
        rules: Option<&'a Arc<dyn ConsentRules>>,
        judged: &'a [Target],
        cancel: &'a Cancel,
    ) -> Result<Self> {
        let rules = rules.map(|rules| &**rules);
        let seen = if rules.is_some() { observer.platform.watch().generation()? } else { 0 };
        Ok(Self { observer, rules, judged, cancel, seen: Cell::new(seen) })
    }

    /// Waits until the application has shown what the pointer, or the last press, brings up.
    fn let_it_show(&self) -> Result<()> {
        let watch = self.observer.platform.watch();
        match watch.wait_change(self.seen.get(), REST, self.cancel)? {
            Wake::Changed => self.observer.await_quiet(LONGEST_REST, self.cancel)?,
            Wake::NoEvents => self.observer.clock.sleep(REST, self.cancel)?,
            Wake::Elapsed => {}
        }
        self.seen.set(watch.generation()?);
        Ok(())
    }

    fn judge(&self, rules: &dyn ConsentRules, at: Point, kind: PressKind) -> Result<()> {
        self.observer.forget_all();
        let desktop = self.observer.desktop()?;
        let Some(target) = self.observer.target_at(&desktop, at, self.cancel)? else {
            return Ok(());
        };
        let others = target.element().map_or_else(Vec::new, |element| element.reached_beside(at, kind));
        let met: Vec<Target> = std::iter::once(target).chain(others).collect();
        let new = new_to_judge(rules, self.judged, &met);
        new.map_or(Ok(()), |target| Err(came_up(target, "is under the pointer now", "nothing was pressed")))
    }
}

/// What needs consent of what is met now, and was not among what was judged.
fn new_to_judge<'t>(rules: &dyn ConsentRules, judged: &[Target], met: &'t [Target]) -> Option<&'t Target> {
    let knew_unread = judged.iter().any(Target::is_unread);
    let needs_consent = |target: &Target| {
        rules.covers(target) || (rules.covers_unread() && target.is_unread() && !knew_unread)
    };
    let was_judged = |target: &Target| judged.iter().any(|judged| is_same(judged, target));
    met.iter().find(|target| needs_consent(target) && !was_judged(target))
}

impl Permit {
    /// Whether what was judged is all that needs consent of what the rest of the input would reach.
    pub fn holds_for(&self, reached: &[Target]) -> Result<()> {
        let new = self.rules().and_then(|rules| new_to_judge(&**rules, self.targets(), reached));
        let is_new = "would get what is left of the text";
        new.map_or(Ok(()), |target| Err(came_up(target, is_new, "it was not typed")))
    }
}

impl PressGuard for SecondLook<'_> {
    fn judges(&self) -> bool {
        self.rules.is_some()
    }

    fn check_press(&self, at: Point, kind: PressKind) -> Result<()> {
        let Some(rules) = self.rules else {
            return Ok(());
        };
        self.let_it_show()?;
        let began = self.observer.clock.now();
        let judged = self.judge(rules, at, kind);
        let took = self.observer.clock.now().saturating_sub(began);
        tracing::debug!(?took, "looked again before a press");
        judged
    }
}

/// An option may be another object each time its list opens; everything else is the same object with the same name.
fn is_same(judged: &Target, now: &Target) -> bool {
    let named = judged.unredacted_role() == now.unredacted_role()
        && judged.unredacted_name().trim() == now.unredacted_name().trim();
    match (judged, now) {
        (Target::ListOption(name), Target::Element(_)) => name.trim() == now.unredacted_name().trim(),
        (Target::Element(before), Target::Element(after)) => {
            let handle = |it: &ElementTarget| it.view.native_handle(it.node);
            let is_option = now.unredacted_role().is_option();
            named
                && before.chosen.window.uid == after.chosen.window.uid
                && (is_option || handle(before) == handle(after))
        }
        _ => named,
    }
}

fn came_up(target: &Target, now: &str, so: &str) -> Error {
    let message = format!(
        "{} \"{}\" {now} and needs consent; it was not there when the call was judged, so {so}. Look again, and name it",
        target.shown_role(),
        target.shown_name()
    );
    Error::new(Kind::ConfirmationRequired, message).with(
        "target",
        Fact::object([
            ("window_uid", target.window_uid().into()),
            ("element_id", target.element_id().into()),
            ("selector", target.selector().into()),
            ("bounds", target.bounds().into()),
        ]),
    )
}

impl Observer {
    /// Waits until the application has shown what the last key brings up; the next look reads it.
    pub fn show_what_came(&self, cancel: &Cancel) -> Result<()> {
        let watch = self.platform.watch();
        if let Wake::NoEvents = watch.wait_change(watch.generation()?, REST, cancel)? {
            self.clock.sleep(REST, cancel)?;
        }
        self.await_quiet(LONGEST_REST, cancel)?;
        self.forget_all();
        Ok(())
    }

    /// The innermost element under a point. Whoever points cannot know what an application does not tell of itself.
    pub fn target_at(
        &self,
        desktop: &Arc<DesktopState>,
        point: Point,
        cancel: &Cancel,
    ) -> Result<Option<Target>> {
        let HitTest { window, menu } = self.hit_test(desktop, point)?;
        let Some(chosen) = window else {
            return Ok(menu.map(|_| Target::UnreadMenu));
        };
        let view = self.view_in_look(&chosen, cancel)?;
        let unread = view.leaves_out() || menu.is_some_and(|menu| !view.shows_within(menu, point));
        let pointed =
            self.platform.accessibility().nodes_at(&chosen.raw, view.unredacted_tree(), point, cancel)?;
        let pointed = pointed.unwrap_or_default();
        let innermost = innermost_at(&view, point, &pointed.nodes);
        let unread = unread || pointed.is_unread;
        let target = ElementTarget::new(chosen, view, innermost, None).unread_if(unread);
        Ok(Some(target.with_text_there(pointed.text).into()))
    }
}

/// The innermost element by its place, unless the application itself finds one there that does not hold it.
fn innermost_at(view: &View, point: Point, pointed: &[usize]) -> usize {
    let by_place = view.element_at(point);
    let holds = |node: usize| (node..view.tree().end(node)).contains(&by_place);
    pointed.iter().copied().find(|&node| !holds(node)).unwrap_or(by_place)
}

impl ElementTarget {
    /// What else a press at a point of this element would reach: what lies there too, the controls that it labels, what
    /// stands there without being an element, and what the wheel would choose.
    pub fn reached_beside(&self, point: Point, kind: PressKind) -> Vec<Target> {
        let mut nodes = self.view.elements_at(point);
        nodes.retain(|&node| node != self.node);
        let met: Vec<usize> = nodes.iter().copied().chain([self.node]).collect();
        for node in met {
            nodes.extend(joined_by_labels(&self.view, node));
            if kind == PressKind::Wheel {
                nodes.extend(chosen_by_wheel(&self.view, node));
            }
        }
        self.all_beside(nodes).into_iter().chain(self.text_there()).collect()
    }

    /// What else is worked when this element is, wherever that is: the controls that it labels.
    pub fn reached_by_label(&self) -> Vec<Target> {
        self.all_beside(joined_by_labels(&self.view, self.node))
    }

    fn all_beside(&self, mut nodes: Vec<usize>) -> Vec<Target> {
        nodes.sort_unstable();
        nodes.dedup();
        nodes.into_iter().map(|node| self.beside(node).into()).collect()
    }
}

/// What labels join to an element: a click on a label works the control, whatever the two are called.
fn joined_by_labels(view: &View, node: usize) -> Vec<usize> {
    let mut found = labelled_controls(view, node);
    let mut at = Some(node);
    while let Some(here) = at {
        found.extend(linked_by_label(view, here));
        at = Some(here).filter(|&here| view.unredacted(here).role.is_passive());
        at = at.and_then(|here| view.tree().parent(here));
    }
    found
}

/// What the application says is the label of an element, or labelled by it.
fn linked_by_label(view: &View, node: usize) -> impl Iterator<Item = usize> {
    let links = |from: &Element, to: &Element| {
        let leads_there = |link: &String| Some(link) == to.native.as_ref();
        from.label_links.iter().any(leads_there)
    };
    (0..view.tree().len()).filter(move |&other| {
        let (one, two) = (view.unredacted(node), view.unredacted(other));
        other != node && (links(one, two) || links(two, one))
    })
}

/// The controls that a click on a label works: those in it, and those that are called like it, because the name of a
/// control is that of its label.
fn labelled_controls(view: &View, node: usize) -> Vec<usize> {
    let is_label = |node: usize| matches!(view.unredacted(node).role, Role::Label | Role::Text);
    let takes_label = |node: usize| {
        let role = &view.unredacted(node).role;
        role.toggles() || matches!(role, Role::RadioButton | Role::ComboBox | Role::Edit)
    };
    let mut found = Vec::new();
    let mut at = Some(node).filter(|&node| is_label(node));
    while let Some(label) = at {
        found.extend((label + 1..view.tree().end(label)).filter(|&inner| takes_label(inner)));
        let name = view.unredacted(label).name.trim();
        let is_called_so = |&other: &usize| takes_label(other) && view.unredacted(other).name.trim() == name;
        if !name.is_empty() {
            found.extend((0..view.tree().len()).filter(is_called_so));
        }
        at = view.tree().parent(label).filter(|&parent| is_label(parent));
    }
    found
}
