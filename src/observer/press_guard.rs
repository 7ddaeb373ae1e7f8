//! What is pressed is what was judged: the one place that looks again while the pointer is at work. What our own pointer
//! brings up, what a first click turns into something else, and what a menu opens between press and release is found
//! here. Where there are no consent rules nothing is read.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::choices::chosen_by_wheel;
use super::{ElementTarget, HitTest, Observer, Target, View};
use crate::clock::Cancel;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::{Point, Role};
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
        let needs_consent = |target: &Target| {
            rules.covers(target) || (rules.covers_unread() && target.is_unread() && !self.knew_unread())
        };
        let new = std::iter::once(target)
            .chain(others)
            .find(|target| needs_consent(target) && !self.was_judged(target));
        new.map_or(Ok(()), |target| Err(came_up(&target)))
    }

    fn was_judged(&self, target: &Target) -> bool {
        self.judged.iter().any(|judged| is_same(judged, target))
    }

    fn knew_unread(&self) -> bool {
        self.judged.iter().any(Target::is_unread)
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

fn came_up(target: &Target) -> Error {
    let message = format!(
        "{} \"{}\" is under the pointer now and needs consent; it was not there when the call was judged, so nothing \
         was pressed. Look again, and name it",
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
        let innermost = view.element_at(point);
        Ok(Some(ElementTarget::new(chosen, view, innermost, None).unread_if(unread).into()))
    }
}

impl ElementTarget {
    /// What else a press at a point of this element would reach: what lies there too, the controls that it labels, and
    /// what the wheel would choose.
    pub fn reached_beside(&self, point: Point, kind: PressKind) -> Vec<Target> {
        let mut nodes = self.view.elements_at(point);
        nodes.retain(|&node| node != self.node);
        let met: Vec<usize> = nodes.iter().copied().chain([self.node]).collect();
        for node in met {
            nodes.extend(labelled_controls(&self.view, node));
            if kind == PressKind::Wheel {
                nodes.extend(chosen_by_wheel(&self.view, node));
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes.into_iter().map(|node| self.beside(node).into()).collect()
    }
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
