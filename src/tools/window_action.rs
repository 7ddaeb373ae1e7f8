//! Windows as a whole: focus, minimize, move, resize, close; and report their state afterwards.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{Dialog, millis, new_dialogs, parse_regex, seen_after};
use crate::error::{Error, Result};
use crate::model::{Point, Rect, WindowChange, WindowState};
use crate::observer::{WindowOperation, WindowQuery};
use crate::tool::args::{Int, Pixel, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Target, Tool};

/// How a window is found; exactly one must fit.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct WindowQueryArgs {
    /// Or one of:
    window_uid: Option<Text<256>>,
    /// Part of it.
    title: Option<Text<512>>,
    #[schemars(extend("x-hidden" = true))]
    title_regex: Option<Text<512>>,
    /// Its name.
    process: Option<Text<260>>,
}

impl WindowQueryArgs {
    pub fn window_query(&self) -> Result<WindowQuery> {
        let pattern = self.title_regex.as_ref().map(|pattern| parse_regex("title_regex", pattern.as_str()));
        Ok(WindowQuery {
            uid: to_owned_text(&self.window_uid),
            title_contains: to_owned_text(&self.title),
            title_regex: pattern.transpose()?,
            process: to_owned_text(&self.process),
        })
    }
}

fn to_owned_text<const MAX: usize>(text: &Option<Text<MAX>>) -> Option<String> {
    text.as_ref().map(|text| text.as_str().to_owned())
}

pub struct WindowAction;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct WindowActionArgs {
    /// What to do.
    action: WindowActionName,
    #[serde(flatten)]
    window: WindowQueryArgs,
    /// To move.
    x: Option<Pixel>,
    /// To move.
    y: Option<Pixel>,
    /// To resize.
    width: Option<Int<1, 32767>>,
    /// To resize.
    height: Option<Int<1, 32767>>,
    #[schemars(extend("x-hidden" = true))]
    timeout_ms: Option<Int<0, 60000>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WindowActionName {
    Focus,
    Restore,
    Minimize,
    Maximize,
    Close,
    Move,
    Resize,
}

impl WindowActionName {
    /// What a button in the window that does the same is called.
    const fn name(self) -> &'static str {
        match self {
            WindowActionName::Focus => "focus",
            WindowActionName::Restore => "restore",
            WindowActionName::Minimize => "minimize",
            WindowActionName::Maximize => "maximize",
            WindowActionName::Close => "close",
            WindowActionName::Move => "move",
            WindowActionName::Resize => "resize",
        }
    }
}

impl WindowActionArgs {
    fn window_change(&self) -> Result<WindowOperation> {
        let pair = |x: Option<i64>, y: Option<i64>, what: &'static str, field: &'static str| match (x, y) {
            (Some(x), Some(y)) => Ok((i32::try_from(x).unwrap_or(0), i32::try_from(y).unwrap_or(0))),
            _ => {
                let message = format!("{} needs {what}", self.action.name());
                Err(Error::bad_request(message).with("field", field))
            }
        };
        let (x, y) = (self.x.map(Int::get), self.y.map(Int::get));
        let (width, height) = (self.width.map(Int::get), self.height.map(Int::get));
        let change = match self.action {
            WindowActionName::Focus => return Ok(WindowOperation::Focus),
            WindowActionName::Restore => WindowChange::Restore,
            WindowActionName::Minimize => WindowChange::Minimize,
            WindowActionName::Maximize => WindowChange::Maximize,
            WindowActionName::Close => WindowChange::Close,
            WindowActionName::Move => {
                let (x, y) = pair(x, y, "x and y", "x")?;
                WindowChange::Move(Point { x, y })
            }
            WindowActionName::Resize => {
                let (width, height) = pair(width, height, "width and height", "width")?;
                WindowChange::Resize { width, height }
            }
        };
        Ok(WindowOperation::Change(change))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WindowActed {
    action: WindowActionName,
    /// Whether the window has the requested state.
    reached: bool,
    window_uid: String,
    window: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    closed: bool,
    /// Its state now; absent when it is gone.
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    state: Option<FinalState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
    new_dialogs: Vec<Dialog>,
    duration_ms: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct FinalState {
    bounds: Rect,
    focused: bool,
    minimized: bool,
    maximized: bool,
}

impl From<WindowState> for FinalState {
    fn from(state: WindowState) -> Self {
        let WindowState { bounds, focused, minimized, maximized } = state;
        Self { bounds, focused, minimized, maximized }
    }
}

impl Output for WindowActed {}

impl Tool for WindowAction {
    type Args = WindowActionArgs;
    type Out = WindowActed;
    const META: Meta = Meta {
        name: "window_action",
        group: Group::Windows,
        lean: true,
        effect: Effect::Input,
        untrusted: true,
        rest: &[(Method::Post, "/api/window/action")],
        brief: "Change the one window that matches. Check `reached`.",
        detail: "The window is named by its uid, a part of its title, `title_regex` or its process, or \
                 several of these; if none or more than one matches, nothing is done and the error lists \
                 them. Waits up to `timeout_ms` (3000, at most 60000) until the window has the requested \
                 state. `reached` says whether it has, `final` is its state; a program that asks whether to \
                 save keeps its window open, and the question is in `new_dialogs`. Closing asks the program; \
                 nothing is killed. Other inputs wait until this one has ended.",
        examples: &[
            Example {
                scenario: Some("scenarios/form.yaml"),
                args: r#"{"action":"move","title":"new claim","x":40,"y":30}"#,
                shows: "a window is moved",
            },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"action":"minimize","title_regex":"^Acme"}"#,
                shows: "a window is minimized",
            },
        ],
        verify: &["ok", "reached", "error.code"],
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &WindowActionArgs) -> Result<Vec<Target>> {
        args.window_change()?;
        let chosen = cx.observer().choose_only(&cx.desktop()?, &args.window.window_query()?)?;
        cx.judged_window(&chosen, args.action.name())
    }

    fn run(cx: &mut Cx, args: WindowActionArgs, mut permit: Permit) -> Result<WindowActed> {
        let began = cx.clock().now();
        let deed = args.window_change()?;
        // The window that was judged, however many fit the query by now.
        let chosen = match permit.target().and_then(Target::element) {
            Some(target) => target.chosen.clone(),
            None => cx.observer().choose_only(&cx.desktop()?, &args.window.window_query()?)?,
        };
        let timeout = Duration::from_millis(args.timeout_ms.map_or(3000, Int::as_usize) as u64);
        let mut acted = WindowActed {
            action: args.action,
            reached: false,
            window_uid: chosen.window.uid.clone(),
            window: chosen.window.title.clone(),
            closed: false,
            state: None,
            note: None,
            dry_run: permit.dry_run(),
            new_dialogs: Vec::new(),
            duration_ms: 0,
        };
        if permit.dry_run() {
            return Ok(WindowActed { note: Some("dry run: nothing was done".to_owned()), ..acted });
        }
        let before = cx.desktop()?;
        let reached = cx.observer().change_window(&mut permit, &chosen, deed, timeout, cx.cancel)?;
        let after = cx.observer().windows();
        if let Some(after) = seen_after(cx, after)? {
            acted.closed = !after.iter().any(|window| window.uid == acted.window_uid);
            acted.new_dialogs = new_dialogs(before.windows(), after);
        }
        acted.reached = reached.done;
        acted.state = reached.state.map(FinalState::from);
        acted.note = reached.note;
        acted.duration_ms = millis(cx.clock().now().saturating_sub(began));
        Ok(acted)
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<WindowAction>()];
