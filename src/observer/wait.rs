//! Waiting: asleep until something changed, then one look for all conditions together.
//!
//! ```text
//!   read the generation ─► look ─► met? ─► answer
//!          ▲                 └─ no ─► deadline? ─► Timeout, with what was last seen
//!          └── woken by a change, or at the deadline ◄── sleep
//! ```
//!
//! A wait holds no lock and no lease while it sleeps: other calls look and act, and wake it. Only a
//! platform without events is looked at again and again.

use std::sync::Arc;
use std::time::Duration;

use super::evaluation::{Evaluation, find_window, window_fact};
use super::identity::WindowCapture;
use super::predicate::{PredicateClaim, PredicateVerdict, TextSource, WindowPredicate};
use super::vision::Visual;
use super::{Observer, Ref, ResolvedWindow, View, WindowChoice};
use crate::clock::{Cancel, millis};
use crate::config::limits;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::{Selector, Window};
use crate::pattern::Pattern;
use crate::platform::Wake;

const MOST_OBSERVATIONS: usize = 16;
/// Reading takes long, and nobody tells when the pixels of a window without elements change.
const READ_AGAIN: Duration = Duration::from_millis(500);
const MOST_WINDOWS_NAMED: usize = 10;

/// What a caller waits for. What must change is remembered from the first look.
#[derive(Clone, Debug)]
pub enum WaitCondition {
    ElementAppears(Selector),
    ElementDisappears {
        element: Vanishing,
        window_uid: Option<String>,
    },
    TextVisible(Pattern),
    WindowAppears(Pattern),
    WindowDisappears(String),
    /// No window has such a title.
    TitleDisappears(Pattern),
    TreeChanges(Option<SeenTree>),
    FocusedChanges(Option<Focus>),
    VisualChange(Box<Visual>),
    VisualStable {
        visual: Box<Visual>,
        quiet: Duration,
    },
    Holds(WindowPredicate),
    /// A window of this title that was not there, or was called otherwise, before a step.
    WindowIsNew {
        title: Pattern,
        before: Arc<SeenDesktop>,
    },
    /// Something is otherwise than before a step.
    DesktopDiffers {
        before: Arc<SeenDesktop>,
        target: Option<Ref>,
    },
}

/// The desktop before a step, to tell what is new after it.
#[derive(Clone, Debug)]
pub struct SeenDesktop {
    /// With the titles that may be shown.
    pub windows: Vec<Window>,
    /// The window that the step is about, where it could be read.
    pub window: Option<(String, Arc<View>)>,
}

impl SeenDesktop {
    fn window(&self, uid: &str) -> Option<&Window> {
        self.windows.iter().find(|window| window.uid == uid)
    }

    fn focused_uid(&self) -> Option<&str> {
        focused_uid(&self.windows)
    }
}

fn focused_uid(windows: &[Window]) -> Option<&str> {
    windows.iter().find(|window| window.focused).map(|window| window.uid.as_str())
}

/// The element that shall go away.
#[derive(Clone, Debug)]
pub enum Vanishing {
    Selector(Selector),
    /// Ids are places, and another element may move up: so it is remembered who was there.
    Id {
        id: String,
        was: Option<VanishingIdentity>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct VanishingIdentity {
    native: Option<String>,
    role: String,
    name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SeenTree {
    pub window_uid: String,
    pub fingerprint: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Focus {
    window_uid: Option<String>,
    /// Empty when no element has the focus; `None` when the window could not be read.
    element: Option<String>,
}

/// How long, and in which window.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// The window that is looked into; otherwise the one that has the focus at each look.
    pub window_uid: Option<String>,
    pub timeout: Duration,
    /// How often to look where the platform tells nothing.
    pub poll: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    pub index: usize,
    pub detail: Fact,
    pub elapsed: Duration,
    /// How often the conditions were looked at.
    pub looks: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Idle {
    pub elapsed: Duration,
    pub tree_hash: String,
}

impl Observer {
    /// Waits until the first of the conditions is met.
    pub fn wait_for(
        &self,
        mut conditions: Vec<WaitCondition>,
        waiting: &WaitRequest,
        cancel: &Cancel,
    ) -> Result<Met> {
        let began = self.clock.now();
        let deadline = began + waiting.timeout;
        let window = WindowChoice { uid: waiting.window_uid.clone(), ..WindowChoice::default() };
        // One reading of the pixels is made to its end, however short the wait; those after it end with the wait.
        let mut has_read = false;
        for looks in 1.. {
            cancel.check()?;
            let generation = self.platform.watch().generation()?;
            let look = || self.evaluation_within(self.patience_until(deadline), window.clone(), cancel);
            let evaluation = if has_read { look().with_pixels_until(deadline) } else { look() };
            let mut met = first_met(&mut conditions, &evaluation)?;
            has_read |= evaluation.has_read_pixels();
            if met.is_none() && evaluation.has_read_pixels() && self.clock.now() >= deadline {
                met = text_came_meanwhile(&conditions, &look())?;
            }
            if let Some((index, detail)) = met {
                let elapsed = self.clock.now().saturating_sub(began);
                return Ok(Met { index, detail, elapsed, looks });
            }
            still_possible(&conditions, waiting, &evaluation)?;
            let now = self.clock.now();
            if now >= deadline {
                return Err(timed_out(&conditions, &evaluation, now.saturating_sub(began), looks));
            }
            let left = deadline - now;
            let of_conditions =
                conditions.iter().filter_map(|condition| condition.next_look(waiting.poll, now));
            let of_reading = evaluation.has_read_dark().then(|| waiting.poll.max(READ_AGAIN));
            let next = of_conditions.chain(of_reading).min();
            let at_most = next.map_or(left, |next| next.min(left));
            self.sleep_for_change(generation, at_most, waiting.poll, cancel)?;
        }
        Err(Error::internal("a wait looked more often than can be counted"))
    }

    /// Which of the conditions are met at this moment, in one look.
    pub fn met_now(&self, conditions: Vec<WaitCondition>, cancel: &Cancel) -> Vec<bool> {
        let evaluation = self.evaluation(cancel);
        let is_met = |mut condition: WaitCondition| matches!(condition.is_met(&evaluation), Ok(Some(_)));
        conditions.into_iter().map(is_met).collect()
    }

    /// Waits until the window has not changed for `quiet`.
    pub fn wait_idle(
        &self,
        chosen: &ResolvedWindow,
        quiet: Duration,
        waiting: &WaitRequest,
        cancel: &Cancel,
    ) -> Result<Idle> {
        let began = self.clock.now();
        let deadline = began + waiting.timeout;
        let mut last: Option<(u64, Duration)> = None;
        loop {
            cancel.check()?;
            let generation = self.platform.watch().generation()?;
            let patience = self.patience_until(deadline);
            let evaluation = self.evaluation_within(patience, WindowChoice::default(), cancel);
            let view = retry_unreadable(evaluation.view_of(Some(&chosen.raw.uid)))?;
            let now = self.clock.now();
            let fingerprint = view.as_ref().map(|view| view.fingerprint());
            last = fingerprint.map(|seen| match last {
                Some((before, since)) if before == seen => (before, since),
                _ => (seen, now),
            });
            if let (Some(view), Some((_, since))) = (view, last)
                && now.saturating_sub(since) >= quiet
            {
                let elapsed = now.saturating_sub(began);
                return Ok(Idle { elapsed, tree_hash: view.hash().to_owned() });
            }
            if now >= deadline {
                return Err(never_idle(chosen, quiet, now.saturating_sub(began)));
            }
            let quiet_at = last.map_or(deadline, |(_, since)| since + quiet).min(deadline);
            self.sleep_for_change(generation, quiet_at.saturating_sub(now), waiting.poll, cancel)?;
        }
    }

    pub(super) fn sleep_for_change(
        &self,
        seen: u64,
        at_most: Duration,
        poll: Duration,
        cancel: &Cancel,
    ) -> Result<()> {
        match self.platform.watch().wait_change(seen, at_most, cancel)? {
            Wake::Changed | Wake::Elapsed => Ok(()),
            Wake::NoEvents => self.clock.sleep(poll.min(at_most), cancel),
        }
    }

    /// A slow application may take what is left of the wait, and never less than one patient look.
    fn patience_until(&self, deadline: Duration) -> Duration {
        let left = deadline.saturating_sub(self.clock.now());
        left.clamp(limits::PLATFORM_CALL_TIME, limits::TREE_WALK_TIME)
    }
}

fn first_met(conditions: &mut [WaitCondition], evaluation: &Evaluation) -> Result<Option<(usize, Fact)>> {
    for (index, condition) in conditions.iter_mut().enumerate() {
        let met = condition.is_met(evaluation).map_err(|error| match error.kind {
            Kind::BadRequest => Error { message: format!("any_of[{index}]: {}", error.message), ..error },
            _ => error,
        })?;
        if let Some(detail) = met {
            return Ok(Some((index, detail)));
        }
    }
    Ok(None)
}

/// Reading pixels may take the rest of a wait: what came into a tree during that counts.
fn text_came_meanwhile(
    conditions: &[WaitCondition],
    evaluation: &Evaluation,
) -> Result<Option<(usize, Fact)>> {
    for (index, condition) in conditions.iter().enumerate() {
        let Some((uid, pattern)) = condition.awaited_text() else { continue };
        let seen = retry_missing(evaluation.text_visible(uid, pattern, TextSource::Tree))?;
        if let Some(seen) = seen.filter(|seen| seen.passed) {
            return Ok(Some((index, seen.observed)));
        }
    }
    Ok(None)
}

/// When the named window is gone and every condition needs it, the rest of the time would be wasted.
fn still_possible(
    conditions: &[WaitCondition],
    waiting: &WaitRequest,
    evaluation: &Evaluation,
) -> Result<()> {
    if waiting.window_uid.is_none() || !conditions.iter().all(WaitCondition::looks_into_window) {
        return Ok(());
    }
    evaluation.chosen(None).map(|_| ())
}

fn timed_out(
    conditions: &[WaitCondition],
    evaluation: &Evaluation,
    elapsed: Duration,
    looks: usize,
) -> Error {
    let what = match conditions {
        [WaitCondition::TextVisible(pattern)] => text_not_seen(pattern, evaluation),
        [_] => "the condition was not met".to_owned(),
        many => format!("none of the {} conditions was met", many.len()),
    };
    let observations = conditions.iter().enumerate().take(MOST_OBSERVATIONS);
    let mut seen: Vec<Fact> =
        observations.map(|(index, condition)| condition.last_seen(index, evaluation)).collect();
    if let Some(more) = conditions.len().checked_sub(MOST_OBSERVATIONS).filter(|more| *more > 0) {
        seen.push(Fact::object([("not_shown", more.into())]));
    }
    let elapsed_ms = millis(elapsed);
    Error::new(Kind::Timeout, format!("{what} within {elapsed_ms} ms"))
        .beside("elapsed_ms", elapsed_ms)
        .beside("polls", looks)
        .beside("matched_index", Fact::Null)
        .beside("last_observation", Fact::List(seen))
}

/// Says where the text was looked for.
fn text_not_seen(pattern: &Pattern, evaluation: &Evaluation) -> String {
    match text_visible(pattern, evaluation) {
        Ok(Some(PredicateVerdict { observed: Fact::Text(observed), .. })) => {
            format!("the text was not seen: {observed},")
        }
        _ => "the condition was not met".to_owned(),
    }
}

fn never_idle(chosen: &ResolvedWindow, quiet: Duration, elapsed: Duration) -> Error {
    let (quiet_ms, elapsed_ms) = (millis(quiet), millis(elapsed));
    Error::new(
        Kind::Timeout,
        format!("the window did not stay unchanged for {quiet_ms} ms within {elapsed_ms} ms"),
    )
    .with("window_uid", chosen.window.uid.as_str())
    .beside("elapsed_ms", elapsed_ms)
}

/// An application that did not answer in time may answer the next look.
fn retry_unreadable<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.kind == Kind::Timeout => Ok(None),
        other => other.map(Some),
    }
}

/// Like `readable`; a window that is not there shows nothing either.
fn retry_missing<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.kind == Kind::WindowGone => Ok(None),
        other => retry_unreadable(other),
    }
}

fn is_gone<T>(result: &Result<T>) -> bool {
    result.as_ref().is_err_and(|error| error.kind == Kind::WindowGone)
}

impl WaitCondition {
    pub fn name(&self) -> &'static str {
        match self {
            WaitCondition::ElementAppears(_) => "element_appears",
            WaitCondition::ElementDisappears { .. } => "element_disappears",
            WaitCondition::TextVisible(_) => "text_visible",
            WaitCondition::WindowAppears(_) => "window_appears",
            WaitCondition::WindowDisappears(_) | WaitCondition::TitleDisappears(_) => "window_disappears",
            WaitCondition::TreeChanges(_) => "tree_changes",
            WaitCondition::FocusedChanges(_) => "focused_changes",
            WaitCondition::VisualChange(_) => "visual_change",
            WaitCondition::VisualStable { .. } => "visual_stable",
            WaitCondition::Holds(_) => "predicate",
            WaitCondition::WindowIsNew { .. } => "window_appears",
            WaitCondition::DesktopDiffers { .. } => "changed",
        }
    }

    /// The text that may be in the tree or in the pixels, and in which window.
    fn awaited_text(&self) -> Option<(Option<&str>, &Pattern)> {
        match self {
            WaitCondition::TextVisible(pattern) => Some((None, pattern)),
            WaitCondition::Holds(WindowPredicate {
                claim: PredicateClaim::TextVisible { pattern, source: TextSource::Auto },
                window_uid,
            }) => Some((window_uid.as_deref(), pattern)),
            _ => None,
        }
    }

    /// Whether the answer is in the window that the whole wait is about.
    pub fn looks_into_window(&self) -> bool {
        match self {
            WaitCondition::ElementAppears(_)
            | WaitCondition::ElementDisappears { .. }
            | WaitCondition::TextVisible(_)
            | WaitCondition::TreeChanges(_) => true,
            WaitCondition::VisualChange(visual) | WaitCondition::VisualStable { visual, .. } => {
                visual.is_of_a_window()
            }
            WaitCondition::WindowAppears(_)
            | WaitCondition::WindowDisappears(_)
            | WaitCondition::TitleDisappears(_)
            | WaitCondition::WindowIsNew { .. }
            | WaitCondition::DesktopDiffers { .. }
            | WaitCondition::FocusedChanges(_) => false,
            WaitCondition::Holds(predicate) => {
                let about_windows = matches!(
                    predicate.claim,
                    PredicateClaim::WindowFocused { .. }
                        | PredicateClaim::WindowExists { .. }
                        | PredicateClaim::PixelColor { .. }
                        | PredicateClaim::RegionSimilar { .. }
                        | PredicateClaim::Oracle { .. }
                );
                predicate.window_uid.is_none() && !about_windows
            }
        }
    }

    /// When it has to be looked at again although nothing is told to have changed.
    fn next_look(&self, poll: Duration, now: Duration) -> Option<Duration> {
        match self {
            WaitCondition::VisualChange(visual) => Some(visual.next_look(poll, poll, now)),
            WaitCondition::VisualStable { visual, quiet } => Some(visual.next_look(*quiet, poll, now)),
            WaitCondition::Holds(predicate) if predicate.claim.is_visual() => Some(poll),
            _ => None,
        }
    }

    fn is_met(&mut self, evaluation: &Evaluation) -> Result<Option<Fact>> {
        match self {
            WaitCondition::ElementAppears(selector) => element_appears(selector, evaluation),
            WaitCondition::ElementDisappears { element, window_uid } => {
                element_disappears(element, window_uid, evaluation)
            }
            WaitCondition::TextVisible(pattern) => {
                let verdict = text_visible(pattern, evaluation)?.filter(|verdict| verdict.passed);
                Ok(verdict.map(|verdict| verdict.observed))
            }
            WaitCondition::WindowAppears(title) => window_titled(title, evaluation),
            WaitCondition::WindowDisappears(uid) => {
                let there = evaluation.windows()?.iter().any(|window| window.uid == *uid);
                Ok((!there).then(|| Fact::object([("window_uid", uid.as_str().into())])))
            }
            WaitCondition::TitleDisappears(title) => {
                let there = window_titled(title, evaluation)?;
                Ok(there.is_none().then(|| Fact::object([("window_gone", true.into())])))
            }
            WaitCondition::TreeChanges(was) => tree_changes(was, evaluation),
            WaitCondition::FocusedChanges(was) => focused_changes(was, evaluation),
            WaitCondition::VisualChange(visual) => {
                retry_missing(visual.has_changed(evaluation)).map(Option::flatten)
            }
            WaitCondition::VisualStable { visual, quiet } => {
                retry_missing(visual.is_still(*quiet, evaluation)).map(Option::flatten)
            }
            WaitCondition::Holds(predicate) => predicate_holds(predicate, evaluation),
            WaitCondition::WindowIsNew { title, before } => {
                let is_new = |window: &Window| {
                    let old = before.window(&window.uid);
                    let fitted = old.map_or(Ok(false), |old| title.is_match(&old.title))?;
                    Ok(!fitted && title.is_match(&window.title)?)
                };
                Ok(find_window(&evaluation.windows()?, is_new)?.map(window_fact))
            }
            WaitCondition::DesktopDiffers { before, target } => desktop_differs(before, *target, evaluation),
        }
    }

    /// For the caller whose time is over: what was there instead.
    fn last_seen(&self, index: usize, evaluation: &Evaluation) -> Fact {
        let facts =
            self.facts_seen(evaluation).unwrap_or_else(|error| vec![("unreadable", error.message.into())]);
        let name = [("index", index.into()), ("type", self.name().into())];
        Fact::Object(name.into_iter().chain(facts).collect())
    }

    fn facts_seen(&self, evaluation: &Evaluation) -> Result<Vec<(&'static str, Fact)>> {
        Ok(match self {
            WaitCondition::ElementAppears(selector) => {
                let chosen = evaluation.chosen(None)?;
                let view = evaluation.view(&chosen)?;
                let refs = |node| evaluation.observer.show_ref(&chosen, &view, node).ok();
                let [miss, nearest] = evaluation.miss_facts(selector, &view, refs);
                vec![("window_uid", chosen.window.uid.into()), miss, nearest]
            }
            WaitCondition::ElementDisappears { element, window_uid } => {
                let view = evaluation.view_of(window_uid.as_deref())?;
                vec![(
                    "still_there",
                    element.find_remembered(&view)?.map_or(Fact::Null, |node| view.tree().id(node).into()),
                )]
            }
            WaitCondition::TextVisible(pattern) => {
                let chosen = evaluation.chosen(None)?;
                let searched = evaluation.view(&chosen)?.tree().len();
                let observed = text_visible(pattern, evaluation)?.map_or(Fact::Null, |seen| seen.observed);
                vec![
                    ("window_uid", chosen.window.uid.into()),
                    ("elements_searched", searched.into()),
                    ("observed", observed),
                ]
            }
            WaitCondition::WindowAppears(_) | WaitCondition::WindowIsNew { .. } => {
                let windows = evaluation.windows()?;
                let named = windows.iter().take(MOST_WINDOWS_NAMED).map(window_fact).collect();
                vec![("window_count", windows.len().into()), ("windows", Fact::List(named))]
            }
            WaitCondition::WindowDisappears(uid) => vec![("still_there", uid.as_str().into())],
            WaitCondition::TitleDisappears(title) => {
                vec![("still_there", window_titled(title, evaluation)?.unwrap_or(Fact::Null))]
            }
            WaitCondition::TreeChanges(seen) => {
                let uid = seen.as_ref().map(|seen| seen.window_uid.as_str());
                vec![("tree_hash", evaluation.view_of(uid)?.hash().into())]
            }
            WaitCondition::FocusedChanges(_) => {
                vec![("focused", focus_fact(&focused_element(evaluation)?, evaluation)?)]
            }
            WaitCondition::VisualChange(visual) | WaitCondition::VisualStable { visual, .. } => {
                visual.last_seen()
            }
            WaitCondition::DesktopDiffers { .. } => vec![("observed", "nothing is otherwise".into())],
            WaitCondition::Holds(predicate) => {
                let verdict = evaluation.evaluate_predicate(predicate)?;
                vec![("observed", verdict.observed)]
            }
        })
    }
}

/// A window with such a title.
fn window_titled(title: &Pattern, evaluation: &Evaluation) -> Result<Option<Fact>> {
    let windows = evaluation.windows()?;
    Ok(find_window(&windows, |window| Ok(title.is_match(&window.title)?))?.map(window_fact))
}

fn element_appears(selector: &Selector, evaluation: &Evaluation) -> Result<Option<Fact>> {
    let Some(view) = retry_missing(evaluation.view_of(None))? else {
        return Ok(None);
    };
    let tree = view.tree();
    Ok(selector.resolve(tree, 1)?.first().map(|&node| {
        Fact::object([("element_id", tree.id(node).into()), ("bounds", tree[node].bounds.into())])
    }))
}

/// The window is the one of the first look: a dialog that takes the focus hides nothing.
fn element_disappears(
    element: &mut Vanishing,
    window_uid: &mut Option<String>,
    evaluation: &Evaluation,
) -> Result<Option<Fact>> {
    let chosen = evaluation.chosen(window_uid.as_deref());
    if is_gone(&chosen) {
        return Ok(Some(Fact::object([("window_gone", true.into())])));
    }
    let chosen = chosen?;
    *window_uid = Some(chosen.raw.uid.clone());
    let view = evaluation.view(&chosen);
    if is_gone(&view) {
        return Ok(Some(Fact::object([("window_gone", true.into())])));
    }
    let Some(view) = retry_unreadable(view)? else {
        return Ok(None);
    };
    element.remember_element(&view);
    Ok(element.find_remembered(&view)?.is_none().then(|| Fact::object([])))
}

impl Vanishing {
    pub fn by_id(id: &str) -> Self {
        Vanishing::Id { id: id.to_owned(), was: None }
    }

    fn remember_element(&mut self, view: &View) {
        if let Vanishing::Id { id, was: was @ None } = self
            && let Some(node) = view.tree().find_id(id)
        {
            *was = Some(VanishingIdentity::of(view, node));
        }
    }

    fn find_remembered(&self, view: &View) -> Result<Option<usize>> {
        match self {
            Vanishing::Selector(selector) => Ok(selector.resolve(view.tree(), 1)?.first().copied()),
            Vanishing::Id { id, was } => Ok(was.as_ref().and_then(|was| was.find_element(view, id))),
        }
    }
}

impl VanishingIdentity {
    fn of(view: &View, node: usize) -> Self {
        let element = &view.tree()[node];
        Self { native: view.native_handle(node), role: element.role.to_string(), name: element.name.clone() }
    }

    /// By the native handle wherever it is now; without one, by what stands at the old place.
    fn find_element(&self, view: &View, id: &str) -> Option<usize> {
        match &self.native {
            Some(native) => {
                (0..view.tree().len()).find(|&node| view.native_handle(node).as_ref() == Some(native))
            }
            None => view.tree().find_id(id).filter(|&node| VanishingIdentity::of(view, node) == *self),
        }
    }
}

/// In the tree, and where it is not there, in the pixels.
fn text_visible(pattern: &Pattern, evaluation: &Evaluation) -> Result<Option<PredicateVerdict>> {
    retry_missing(evaluation.text_visible(None, pattern, TextSource::Auto))
}

fn tree_changes(was: &mut Option<SeenTree>, evaluation: &Evaluation) -> Result<Option<Fact>> {
    let Some(seen) = was else {
        *was = first_tree(evaluation)?;
        return Ok(None);
    };
    let view = evaluation.view_of(Some(&seen.window_uid));
    let uid = ("window_uid", seen.window_uid.as_str().into());
    if is_gone(&view) {
        return Ok(Some(Fact::object([uid, ("window_gone", true.into())])));
    }
    let changed = retry_unreadable(view)?.filter(|view| view.fingerprint() != seen.fingerprint);
    Ok(changed.map(|view| Fact::object([uid, ("tree_hash", view.hash().into())])))
}

fn first_tree(evaluation: &Evaluation) -> Result<Option<SeenTree>> {
    let Some(chosen) = retry_missing(evaluation.chosen(None))? else {
        return Ok(None);
    };
    let view: Option<Arc<View>> = retry_missing(evaluation.view(&chosen))?;
    Ok(view.map(|view| SeenTree { window_uid: chosen.raw.uid, fingerprint: view.fingerprint() }))
}

/// A window that came, went or is called otherwise, something in the step's window, or a focus that moved to anything
/// but the step's own target: that one gets it from every click.
fn desktop_differs(
    before: &SeenDesktop,
    target: Option<Ref>,
    evaluation: &Evaluation,
) -> Result<Option<Fact>> {
    let windows = evaluation.windows()?;
    let home = before.window.as_ref().map(|(uid, _)| uid.as_str());
    let is_other = |window: &&Window| match before.window(&window.uid) {
        None => true,
        Some(old) => home == Some(&window.uid) && old.title != window.title,
    };
    if let Some(window) = windows.iter().find(is_other) {
        return Ok(Some(window_fact(window)));
    }
    if let Some(gone) = before.windows.iter().find(|old| !windows.iter().any(|now| now.uid == old.uid)) {
        return Ok(Some(window_fact(gone)));
    }
    let now = focused_uid(&windows);
    if before.focused_uid() != now && (target.is_none() || home != now) {
        return Ok(Some(Fact::object([("focused_uid", now.map_or(Fact::Null, Fact::from))])));
    }
    let Some((uid, old)) = &before.window else { return Ok(None) };
    let chosen = evaluation.chosen(Some(uid))?;
    let Some(view) = retry_missing(evaluation.view(&chosen))? else { return Ok(None) };
    // What shows no elements is compared by what can be read in it.
    let view = evaluation.observer.view_or_reading(&chosen, view, evaluation.cancel)?;
    let focus = moved_focus(&chosen, old, &view, target, evaluation);
    let differs = view.differs_beside_focus(old) || focus;
    Ok(differs.then(|| Fact::object([("window_uid", uid.as_str().into())])))
}

fn moved_focus(
    chosen: &ResolvedWindow,
    old: &View,
    new: &View,
    target: Option<Ref>,
    evaluation: &Evaluation,
) -> bool {
    let who = |view: &View| {
        let node = view.tree().focused()?;
        Some(view.native_handle(node).unwrap_or_else(|| view.tree().id(node)))
    };
    let Some(node) = new.tree().focused().filter(|_| who(new) != who(old)) else { return false };
    let sight = WindowCapture { window: &chosen.raw, view: new };
    target.is_none() || evaluation.observer.refs().existing_ref(sight, node) != target
}

fn focused_changes(was: &mut Option<Focus>, evaluation: &Evaluation) -> Result<Option<Fact>> {
    let now = focused_element(evaluation)?;
    let Some(before) = was else {
        *was = Some(now);
        return Ok(None);
    };
    let other_element = match (&before.element, &now.element) {
        (Some(before), Some(now)) => before != now,
        _ => false,
    };
    if before.window_uid != now.window_uid || other_element {
        return focus_fact(&now, evaluation).map(Some);
    }
    if before.element.is_none() {
        before.element = now.element;
    }
    Ok(None)
}

fn focused_element(evaluation: &Evaluation) -> Result<Focus> {
    let Some(window) = evaluation.windows()?.into_iter().find(|window| window.focused) else {
        return Ok(Focus { window_uid: None, element: None });
    };
    let view = retry_missing(evaluation.view_of(Some(&window.uid)))?;
    let element = view.map(|view| match view.tree().focused() {
        Some(node) => view.native_handle(node).unwrap_or_else(|| view.tree().id(node)),
        None => String::new(),
    });
    Ok(Focus { window_uid: Some(window.uid), element })
}

fn focus_fact(focus: &Focus, evaluation: &Evaluation) -> Result<Fact> {
    let Some(uid) = &focus.window_uid else {
        return Ok(Fact::object([("focused_uid", Fact::Null)]));
    };
    let selector = retry_missing(evaluation.view_of(Some(uid)))?.map(|view| view.focused_selector());
    Ok(Fact::object([
        ("focused_uid", uid.as_str().into()),
        ("focused_selector", selector.filter(|text| !text.is_empty()).map_or(Fact::Null, Fact::Text)),
    ]))
}

/// A predicate that can never be judged, such as a broken reference, ends the wait at once.
fn predicate_holds(predicate: &WindowPredicate, evaluation: &Evaluation) -> Result<Option<Fact>> {
    let verdict = evaluation.evaluate_predicate(predicate)?;
    match (verdict.error, verdict.observed) {
        (Some(kind @ (Kind::BadRequest | Kind::PredicateUnsupported | Kind::PlatformUnsupported)), why) => {
            let why = if let Fact::Text(why) = why { why } else { "it cannot be judged".to_owned() };
            Err(Error::new(kind, why))
        }
        // What was in a window is gone with it.
        (Some(Kind::WindowGone), why) if matches!(predicate.claim, PredicateClaim::ElementAbsent(_)) => {
            Ok(Some(why))
        }
        (_, observed) => Ok(verdict.passed.then_some(observed)),
    }
}
