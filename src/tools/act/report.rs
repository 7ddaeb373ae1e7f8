//! One answer to many steps: what each did, and what is otherwise on the desktop now.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::lines::{foreseen_lines, step_lines};
use super::plan::{ActPlan, PlannedStep};
use super::run::{ActOutcome, StepReport, StepVerdict};
use crate::error::{Kind, Result};
use crate::model::{Tree, Window};
use crate::observer::outline::{Fold, Keep, OutlineOptions, is_actionable};
use crate::observer::{DesktopState, ResolvedWindow, View, WindowChoice};
use crate::tokens::{Writing, tokens_for_bytes};
use crate::tool::{Cx, Output, Tool};
use crate::tools::common::{Dialog, new_dialogs, warn_too};
use crate::tools::element_actions::{FocusElement, SelectOption, SetValue};
use crate::tools::pointer::Scroll;

/// How much is told of what changed, where the caller does not say how much it can read.
const DEFAULT_TOKENS: usize = 1500;
/// What the reply says beside that, and for each step.
const TOKENS_AROUND: usize = 120;
const TOKENS_OF_A_STEP: usize = 40;
/// Of a step's reply: whether something visible came of it.
const CHANGED: &str = "changed";

/// How long an application may go on changing before what changed is told.
const SETTLING_TIME: Duration = Duration::from_millis(500);

#[derive(Debug, Serialize, JsonSchema)]
pub struct ActReport {
    verdict: StepVerdict,
    steps: Vec<StepReport>,
    /// Why it failed: what its last step met.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ActError>,
    /// The step that failed; nothing ran after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped_at: Option<String>,
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    #[schemars(default)]
    not_run: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
    /// Of a dry run: the steps, and whether what they need is there already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    foreseen: Vec<ForeseenOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_uid: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    new_windows: Vec<Dialog>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    closed_windows: Vec<String>,
    /// Lines that were left out for lack of room; look shows them.
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    #[schemars(default)]
    lines_left_out: usize,
    /// What shows them, a line for each window.
    #[serde(skip)]
    more: Vec<String>,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    lean: Option<String>,
    #[serde(skip)]
    changed: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ActError {
    code: &'static str,
    message: String,
    #[serde(skip)]
    kind: Kind,
}

impl ActError {
    fn of(outcome: &ActOutcome) -> Option<Self> {
        let path = outcome.stopped_at.as_ref()?;
        let failure = outcome.steps.last()?.failure.as_ref()?;
        let message = format!("{path}: {}", failure.message);
        Some(Self { code: failure.kind.code(), message, kind: failure.kind })
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ForeseenOut {
    pub step: String,
    #[serde(rename = "do")]
    pub tool: String,
    /// Why its element is not there yet; it is looked for again when its turn comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_yet: Option<String>,
    /// The person has to agree: before the first step, or in a call of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub needs_consent: bool,
}

impl ForeseenOut {
    fn of(step: &PlannedStep) -> Self {
        let not_yet = step.foreseen.as_ref().and_then(|it| it.not_yet.clone());
        let needs_consent = step.foreseen.as_ref().is_some_and(|it| it.needs_consent);
        Self { step: step.path.clone(), tool: step.tool.clone(), not_yet, needs_consent }
    }
}

impl Output for ActReport {
    fn take_outline(&mut self) -> Option<String> {
        (!self.text.is_empty()).then(|| std::mem::take(&mut self.text))
    }

    fn take_lean(&mut self) -> Option<String> {
        self.lean.take()
    }

    fn changed(&self) -> Option<bool> {
        (!self.dry_run).then_some(self.changed)
    }

    fn failure(&self) -> Option<Kind> {
        self.error.as_ref().map(|error| error.kind)
    }
}

/// The desktop before the first step.
#[derive(Debug)]
pub struct DesktopBefore {
    desktop: Arc<DesktopState>,
    seen: Option<(ResolvedWindow, Arc<View>)>,
}

impl DesktopBefore {
    /// The window of the first step that has one, else the one that was named, else the focused one.
    pub fn look_before(cx: &Cx, plan: &ActPlan, named: Option<&str>) -> Result<Self> {
        let desktop = cx.desktop()?;
        if cx.lean {
            cx.session().news.begin(cx.origin.name(), || cx.observer().shown_windows(&desktop));
        }
        let of_steps = plan
            .steps
            .iter()
            .find_map(|step| step.foreseen.as_ref()?.window_uid.clone())
            .filter(|uid| !uid.is_empty());
        let uid = of_steps.or_else(|| named.map(str::to_owned));
        let chosen = cx.observer().choose_in(&desktop, &WindowChoice { uid, ..WindowChoice::default() });
        let seen = chosen.and_then(|chosen| {
            let view = cx.observer().look_at(&chosen, cx.cancel)?.view;
            let view = cx.observer().view_or_reading(&chosen, view, cx.cancel)?;
            Ok((chosen, view))
        });
        match seen {
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            seen => Ok(Self { desktop, seen: seen.ok() }),
        }
    }
}

impl ActReport {
    /// What a dry run answers.
    pub fn of_plan(cx: &Cx, plan: &ActPlan) -> Self {
        let steps = plan.steps.iter().chain(plan.alternatives.values().flatten());
        let foreseen: Vec<ForeseenOut> = steps.map(ForeseenOut::of).collect();
        let lean = cx.lean.then(|| foreseen_lines(&foreseen));
        Self { dry_run: true, foreseen, lean, ..Self::empty_report(StepVerdict::Unconfirmed) }
    }

    fn empty_report(verdict: StepVerdict) -> Self {
        Self {
            verdict,
            steps: Vec::new(),
            error: None,
            stopped_at: None,
            not_run: 0,
            dry_run: false,
            foreseen: Vec::new(),
            window_uid: None,
            new_windows: Vec::new(),
            closed_windows: Vec::new(),
            lines_left_out: 0,
            more: Vec::new(),
            text: String::new(),
            lean: None,
            changed: false,
        }
    }

    /// What was done is told whatever becomes of the last look.
    pub fn new(cx: &mut Cx, outcome: ActOutcome, before: DesktopBefore) -> Self {
        let (verdict, error) = (outcome.verdict(), ActError::of(&outcome));
        let ActOutcome { steps, stopped_at, not_run, changed } = outcome;
        let mut report = Self { steps, error, stopped_at, not_run, changed, ..Self::empty_report(verdict) };
        let now = report.settle(cx, &before);
        let room = report.room_for_changes(cx);
        if let Err(error) = now.and_then(|now| report.look_after(cx, before, &now, room)) {
            warn_too(cx, format!("what changed could not be read: {}", error.message));
        }
        report
    }

    /// What the steps leave of the tokens that the caller has. As lines they are written here.
    fn room_for_changes(&mut self, cx: &Cx) -> usize {
        let spent = if cx.lean {
            let lines = step_lines(&self.steps, self.not_run, cx.max_tokens.map(|most| most / 2));
            let spent = tokens_for_bytes(Writing::Outline, lines.len());
            self.lean = Some(lines);
            spent
        } else {
            TOKENS_AROUND + TOKENS_OF_A_STEP * self.steps.len()
        };
        cx.max_tokens.map_or(DEFAULT_TOKENS, |most| most.saturating_sub(spent).max(1))
    }

    fn moved_windows(&self) -> bool {
        !(self.new_windows.is_empty() && self.closed_windows.is_empty())
    }

    /// Waits for what is still on its way, which would be told half, and notes the windows that came and went.
    fn settle(&mut self, cx: &Cx, before: &DesktopBefore) -> Result<Arc<DesktopState>> {
        match &before.seen {
            Some((chosen, _)) => {
                cx.observer().await_unseen_effect(chosen, cx.cancel)?;
                cx.observer().await_done(chosen, SETTLING_TIME, cx.cancel)?;
            }
            None => cx.observer().await_quiet(SETTLING_TIME, cx.cancel)?,
        }
        let now = cx.observer().desktop_after_input()?;
        self.note_windows(cx, &before.desktop, &now);
        Ok(now)
    }

    /// A window that opened or closed after the last step had been looked at is a change by that step.
    fn note_late_change(&mut self) {
        self.changed = true;
        if let Some(step) = self.steps.last_mut() {
            step.moved_windows = true;
        }
        let last = self.steps.iter_mut().rev().find(|step| step.reply.contains_key(CHANGED));
        if let Some(step) = last {
            step.reply.insert(CHANGED.to_owned(), true.into());
        }
    }

    fn look_after(
        &mut self,
        cx: &Cx,
        before: DesktopBefore,
        now: &Arc<DesktopState>,
        room: usize,
    ) -> Result<()> {
        let acted = before.seen.as_ref().map(|(chosen, _)| chosen.window.uid.clone());
        let mut left = room;
        // What is in front now is what the next step will be about, so it has the room first.
        let in_front = match self.window_in_front(now, acted.as_deref()) {
            Some(uid) => self.window_outline(cx, &choose_by_uid(cx, now, uid)?, left)?,
            None => String::new(),
        };
        left = left.saturating_sub(tokens_for_bytes(Writing::Outline, in_front.len())).max(1);
        let changes = match (before.seen, &acted) {
            (Some((_, old)), Some(uid)) if !self.closed_windows.contains(uid) => {
                self.changes_outline(cx, &choose_by_uid(cx, now, uid.clone())?, &old, left)?
            }
            _ => String::new(),
        };
        self.window_uid = acted;
        let more = std::mem::take(&mut self.more).into_iter().filter(|_| cx.lean);
        let parts = [changes, in_front].into_iter().chain(more);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        self.text = parts.join("\n");
        Ok(())
    }

    fn note_windows(&mut self, cx: &Cx, before: &DesktopState, now: &DesktopState) {
        let is_open = |old: &&Window| now.windows().iter().any(|window| window.uid == old.uid);
        let gone = before.windows().iter().filter(|old| !is_open(old));
        self.closed_windows = gone.map(|window| window.uid.clone()).collect();
        self.new_windows = new_dialogs(before.windows(), cx.observer().shown_windows(now));
        if self.moved_windows() {
            self.note_late_change();
        }
    }

    /// The focused window, if it came with the steps or was laid open by them.
    fn window_in_front(&self, now: &DesktopState, acted: Option<&str>) -> Option<String> {
        let focused = now.windows().iter().find(|window| window.focused)?;
        let is_new = self.new_windows.iter().any(|window| window.window_uid == focused.uid);
        let came = is_new || !self.closed_windows.is_empty();
        (came && Some(focused.uid.as_str()) != acted).then(|| focused.uid.clone())
    }

    /// Says how many lines of a window were left out, and which call shows them: to who looked at it before, what changed
    /// since, and all of it to anybody else.
    fn note_left_out(&mut self, cx: &Cx, uid: &str, count: usize) {
        if count == 0 {
            return;
        }
        self.lines_left_out += count;
        let has_looked = cx.session().looks.last_view(cx.origin.name(), uid).is_some();
        let changes = if has_looked { ",\"changes\":true" } else { "" };
        self.more.push(format!("… {count} more lines: look {{\"window_uid\":\"{uid}\"{changes}}}"));
    }

    fn changes_outline(
        &mut self,
        cx: &Cx,
        chosen: &ResolvedWindow,
        old: &View,
        room: usize,
    ) -> Result<String> {
        let new = cx.observer().view_in_look(chosen, cx.cancel)?;
        if let Some(why) = new.tree().lacking.clone().filter(|_| new.tree().is_unread()) {
            return Ok(why);
        }
        let new = cx.observer().view_or_reading(chosen, new, cx.cancel)?;
        let ignores_focus = self.has_pressed_focused(cx, chosen, &new);
        let untold = if cx.lean { self.fields_read_back(cx, chosen, &new) } else { Vec::new() };
        let is_scrolled = new.is_scrolled_since(old);
        // What a click brought into view was there before; who scrolls wants to see it.
        let asked_to = self.steps.iter().any(|step| step.tool == Scroll::META.name);
        let keep = if is_scrolled && !asked_to { vec![Keep::Hidden] } else { Vec::new() };
        let options = OutlineOptions { ignores_focus, untold, keep, ..changes_options(room) };
        let changes = cx.observer().outline_changes(chosen, (old, &new), &options)?;
        self.note_left_out(cx, &chosen.window.uid, changes.cut);
        self.changed |= if is_scrolled { new.differs_from(old) } else { !changes.is_empty() };
        // Who knew the window as it was before the steps knows it now.
        let known = cx.session().looks.last_view(cx.origin.name(), &chosen.window.uid);
        if changes.cut == 0 && known.is_some_and(|known| known.fingerprint() == old.fingerprint()) {
            note_seen(cx, chosen, new.clone());
        }
        if !changes.is_empty() {
            let scrolled = if is_scrolled { "the page scrolled\n" } else { "" };
            return Ok(format!("{scrolled}{}", changes.text));
        }
        if is_scrolled && !new.differs_from(old) {
            return Ok("the page scrolled, and nothing else changed".to_owned());
        }
        if let Some(words) = changes_out_of_view(cx, chosen, (old, &new))? {
            self.changed = true;
            return Ok(words);
        }
        let is_confirmed = self.steps.iter().any(|step| step.verdict == StepVerdict::Confirmed);
        let title = |view: &View| view.tree()[Tree::ROOT].name.clone();
        if title(old) != title(&new) {
            // Who reads lines is told of it with the windows.
            return Ok(if cx.lean { String::new() } else { format!("the title is now '{}'", title(&new)) });
        }
        Ok(match cx.lean {
            false => format!("nothing changed in {}", chosen.window.uid),
            true if is_confirmed || self.moved_windows() => String::new(),
            true => "nothing changed".to_owned(),
        })
    }

    /// The fields that hold what steps put into them, as their lines say.
    fn fields_read_back(&self, cx: &Cx, chosen: &ResolvedWindow, view: &View) -> Vec<usize> {
        let is_filling = |tool: &str| tool == SetValue::META.name || tool == SelectOption::META.name;
        let is_told = |step: &&StepReport| step.verdict == StepVerdict::Confirmed && is_filling(&step.tool);
        let filled: Vec<&str> =
            self.steps.iter().filter(is_told).filter_map(|step| step.reply.get("ref")?.as_str()).collect();
        let is_filled = |&node: &usize| {
            let known = cx.observer().known_ref(chosen, view, node);
            known.is_some_and(|known| filled.contains(&known.to_string().as_str()))
        };
        let nodes = 0..if filled.is_empty() { 0 } else { view.tree().len() };
        nodes.filter(|&node| is_actionable(&view.tree()[node])).filter(is_filled).collect()
    }

    /// Whether what has the focus has it because a step pressed it. Of a field it is told: keys go there now.
    fn has_pressed_focused(&self, cx: &Cx, chosen: &ResolvedWindow, view: &View) -> bool {
        let Some(node) = view.tree().focused() else { return false };
        let element = &view.tree()[node];
        if element.editable || element.role.takes_text() {
            return false;
        }
        let Some(focused) = cx.observer().known_ref(chosen, view, node) else { return false };
        let focused = focused.to_string();
        let is_it = |step: &&StepReport| step.reply.get("ref").and_then(Value::as_str) == Some(&*focused);
        self.steps.iter().rfind(is_it).is_some_and(|step| step.tool != FocusElement::META.name)
    }

    /// A window that came to the front: what is in it, or what is new since the caller saw it.
    fn window_outline(&mut self, cx: &Cx, chosen: &ResolvedWindow, room: usize) -> Result<String> {
        let view = cx.observer().look_at(chosen, cx.cancel)?.view;
        let view = cx.observer().view_or_reading(chosen, view, cx.cancel)?;
        let read = if view.was_read() { " (by OCR)" } else { "" };
        let uid = &chosen.window.uid;
        if let Some(known) = cx.session().looks.last_view(cx.origin.name(), uid) {
            let changes = cx.observer().outline_changes(chosen, (&known, &view), &changes_options(room))?;
            self.note_left_out(cx, uid, changes.cut);
            if changes.cut == 0 {
                note_seen(cx, chosen, view);
            }
            return Ok(match changes.is_empty() {
                true => format!("now in front: {uid}{read}, as you saw it"),
                false => format!("now in front: {uid}{read}, since you saw it\n{}", changes.text),
            });
        }
        let options = OutlineOptions {
            max_tokens: Some(room.max(1)),
            fold: Fold::Rows,
            what_matters_first: true,
            ..OutlineOptions::default()
        };
        let outline = cx.observer().outline_view(chosen, &view, &options)?;
        self.note_left_out(cx, uid, outline.left_out);
        if outline.left_out == 0 && outline.dropped.folded == 0 {
            note_seen(cx, chosen, view);
        }
        Ok(format!("now in front: {uid}{read}\n{}", outline.text))
    }
}

/// What changed where nobody sees it now, by numbers: on a page that is scrolled elsewhere, in a menu that is closed.
fn changes_out_of_view(
    cx: &Cx,
    chosen: &ResolvedWindow,
    (old, new): (&View, &View),
) -> Result<Option<String>> {
    if old.fingerprint() == new.fingerprint() {
        return Ok(None);
    }
    let options = OutlineOptions { keep: vec![Keep::Hidden], ignores_focus: true, ..changes_options(1) };
    let changes = cx.observer().outline_changes(chosen, (old, new), &options)?;
    let counts = [(changes.added, "new"), (changes.changed, "changed"), (changes.removed, "gone")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    Ok((!counts.is_empty()).then(|| format!("nothing in view changed; out of view: {}", counts.join(", "))))
}

fn changes_options(room: usize) -> OutlineOptions {
    OutlineOptions {
        max_tokens: Some(room),
        fold: Fold::Unnamed,
        what_matters_first: true,
        counts_gone: true,
        ..OutlineOptions::default()
    }
}

/// What was shown here is no news to the next look.
fn note_seen(cx: &Cx, chosen: &ResolvedWindow, view: Arc<View>) {
    cx.session().looks.swap_view(cx.origin.name(), &chosen.window.uid, view);
}

fn choose_by_uid(cx: &Cx, desktop: &Arc<DesktopState>, uid: String) -> Result<ResolvedWindow> {
    cx.observer().choose_in(desktop, &WindowChoice { uid: Some(uid), ..WindowChoice::default() })
}
