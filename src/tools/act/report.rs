//! One answer to many steps: what each did, and what is otherwise on the desktop now.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::plan::{ActPlan, PlannedStep};
use super::run::{ActOutcome, StepReport, StepVerdict};
use crate::error::{Kind, Result};
use crate::model::Window;
use crate::observer::outline::OutlineOptions;
use crate::observer::{DesktopState, ResolvedWindow, View, WindowChoice};
use crate::tokens::{Writing, tokens_for_bytes};
use crate::tool::{Cx, Output};
use crate::tools::common::{Dialog, new_dialogs};

/// How much is told of what changed, where the caller does not say how much it can read.
const DEFAULT_TOKENS: usize = 1500;
/// What the reply says beside that, and for each step.
const TOKENS_AROUND: usize = 120;
const TOKENS_OF_A_STEP: usize = 40;

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
    /// Lines of what changed that there was no room for; look shows them.
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    #[schemars(default)]
    lines_left_out: usize,
    #[serde(skip)]
    text: String,
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
    step: String,
    #[serde(rename = "do")]
    tool: String,
    /// Why its element is not there yet; it is looked for again when its turn comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_yet: Option<String>,
    /// The person has to agree: before the first step, or in a call of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    needs_consent: bool,
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
        let of_steps = plan.steps.iter().find_map(|step| step.foreseen.as_ref()?.window_uid.clone());
        let uid = of_steps.or_else(|| named.map(str::to_owned));
        let chosen = cx.observer().choose_in(&desktop, &WindowChoice { uid, ..WindowChoice::default() });
        let seen = chosen.and_then(|chosen| {
            let view = cx.observer().look_at(&chosen, cx.cancel)?.view;
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
    pub fn of_plan(plan: &ActPlan) -> Self {
        let steps = plan.steps.iter().chain(plan.alternatives.values().flatten());
        Self {
            dry_run: true,
            foreseen: steps.map(ForeseenOut::of).collect(),
            ..Self::empty_report(StepVerdict::Unconfirmed)
        }
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
            text: String::new(),
            changed: false,
        }
    }

    /// What was done is told whatever becomes of the last look.
    pub fn new(cx: &mut Cx, outcome: ActOutcome, before: DesktopBefore) -> Self {
        let (verdict, error) = (outcome.verdict(), ActError::of(&outcome));
        let ActOutcome { steps, stopped_at, not_run, changed } = outcome;
        let mut report = Self { steps, error, stopped_at, not_run, changed, ..Self::empty_report(verdict) };
        let spent = TOKENS_AROUND + TOKENS_OF_A_STEP * report.steps.len();
        let room = cx.max_tokens.map_or(DEFAULT_TOKENS, |most| most.saturating_sub(spent).max(1));
        if let Err(error) = report.look_after(cx, before, room) {
            cx.warning = Some(format!("what changed could not be read: {}", error.message));
        }
        report
    }

    fn look_after(&mut self, cx: &Cx, before: DesktopBefore, room: usize) -> Result<()> {
        let now = cx.observer().desktop()?;
        let is_open = |old: &&Window| now.windows().iter().any(|window| window.uid == old.uid);
        let gone = before.desktop.windows().iter().filter(|old| !is_open(old));
        self.closed_windows = gone.map(|window| window.uid.clone()).collect();
        let focused = now.windows().iter().find(|window| window.focused).map(|window| window.uid.clone());
        self.new_windows = new_dialogs(before.desktop.windows(), cx.observer().shown_windows(&now));
        let mut parts = Vec::new();
        let mut left = room;
        if let Some((chosen, old)) = before.seen {
            let uid = chosen.window.uid;
            self.window_uid = Some(uid.clone());
            if !self.closed_windows.contains(&uid) {
                let text = self.changes_outline(cx, &choose_by_uid(cx, &now, uid)?, &old, left)?;
                left = left.saturating_sub(tokens_for_bytes(Writing::Outline, text.len()));
                parts.push(text);
            }
        }
        // What is in front now is what the next step will be about.
        let in_front = focused.filter(|uid| Some(uid) != self.window_uid.as_ref());
        let came = |uid: &String| self.new_windows.iter().any(|window| window.window_uid == *uid);
        if let Some(uid) = in_front.filter(|uid| came(uid) || !self.closed_windows.is_empty()) {
            parts.push(self.window_outline(cx, &choose_by_uid(cx, &now, uid)?, left)?);
        }
        self.text = parts.join("\n");
        Ok(())
    }

    fn changes_outline(
        &mut self,
        cx: &Cx,
        chosen: &ResolvedWindow,
        old: &View,
        room: usize,
    ) -> Result<String> {
        let new = cx.observer().view_in_look(chosen, cx.cancel)?;
        let options = OutlineOptions { max_tokens: Some(room), ..OutlineOptions::default() };
        let changes = cx.observer().outline_changes(chosen, (old, &new), &options)?;
        self.lines_left_out += changes.cut;
        self.changed |= !changes.is_empty();
        Ok(if changes.is_empty() {
            format!("nothing changed in {}", chosen.window.uid)
        } else {
            changes.text
        })
    }

    fn window_outline(&mut self, cx: &Cx, chosen: &ResolvedWindow, room: usize) -> Result<String> {
        let view = cx.observer().look_at(chosen, cx.cancel)?.view;
        let options = OutlineOptions { max_tokens: Some(room.max(1)), ..OutlineOptions::default() };
        let outline = cx.observer().outline_view(chosen, &view, &options)?;
        if outline.cut_after.is_some() {
            self.lines_left_out += outline.elements.saturating_sub(outline.shown);
        }
        Ok(format!("in front now: {}\n{}", chosen.window.uid, outline.text))
    }
}

fn choose_by_uid(cx: &Cx, desktop: &Arc<DesktopState>, uid: String) -> Result<ResolvedWindow> {
    cx.observer().choose_in(desktop, &WindowChoice { uid: Some(uid), ..WindowChoice::default() })
}
