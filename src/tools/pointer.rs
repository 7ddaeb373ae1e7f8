//! The pointer: clicks and the wheel, by screen coordinates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{Dialog, PointArgs, QuietInputArgs, SpaceArgs, millis, new_dialogs};
use crate::error::{Error, Result};
use crate::gate::Permit;
use crate::model::Point;
use crate::model::action::{Act, Button};
use crate::tool::args::{Int, Pixel};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Spec, Target, Tool};

pub struct ClickAt;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClickAtArgs {
    #[serde(flatten)]
    at: PointArgs,
    /// Default left.
    button: Option<Button>,
    /// Double click.
    double: Option<bool>,
    #[serde(flatten)]
    #[allow(dead_code, reason = "read by the gate")]
    input: QuietInputArgs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Clicked {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    scenario_reaction: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    duration_ms: u64,
    new_dialogs: Vec<Dialog>,
}

impl Output for Clicked {}

impl Tool for ClickAt {
    type Args = ClickAtArgs;
    type Out = Clicked;
    const META: Meta = Meta {
        name: "click_at",
        group: Group::Pointer,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/action")],
        brief: "Click at screen coordinates. Prefer click_element where there is a tree.",
        detail: "The point must be on the screen. With the `image_id` of a picture the coordinates count its pixels; \
                 a picture whose window has moved or closed since is refused. `coordinate_space` says it \
                 explicitly: screen, image or logical. The reply says what was sent, not what it did: look again.",
        examples: &[Example { scenario: None, args: r#"{"x":100,"y":100}"#, shows: "a left click" }],
        verify: &["ok", "error.code"],
        ..Meta::DEFAULT
    };

    fn target(cx: &Cx, args: &ClickAtArgs) -> Result<Option<Target>> {
        let at = args.at.on_screen(cx)?;
        cx.observer().check_reachable(at)?;
        cx.judged_at(at)
    }

    fn run(cx: &mut Cx, args: ClickAtArgs, mut permit: Permit) -> Result<Clicked> {
        let began = cx.clock().now();
        let before = cx.observer().windows()?;
        let act = Act::Click {
            at: Some(args.at.on_screen(cx)?),
            button: args.button.unwrap_or_default(),
            count: if args.double.unwrap_or(false) { 2 } else { 1 },
            element: None,
        };
        let done = cx.observer().act(&mut permit, &act, cx.cancel)?;
        Ok(Clicked {
            action: "click_at",
            note: done.note,
            scenario_reaction: done.reacted,
            dry_run: permit.dry_run(),
            new_dialogs: new_dialogs(&before, cx.observer().windows()?),
            duration_ms: millis(cx.clock().now().saturating_sub(began)),
        })
    }
}

pub struct Scroll;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ScrollArgs {
    /// Wheel clicks, positive up; default 3.
    clicks: Option<Int<-100, 100>>,
    /// Screen pixel; default: pointer position.
    x: Option<Pixel>,
    /// Screen pixel.
    y: Option<Pixel>,
    #[serde(flatten)]
    space: SpaceArgs,
    #[serde(flatten)]
    #[allow(dead_code, reason = "read by the gate")]
    input: QuietInputArgs,
}

/// The answer of inputs that have no target to compare.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sent {
    pub action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub scenario_reaction: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

impl Output for Sent {}

impl Sent {
    pub fn send(cx: &Cx, mut permit: Permit, action: &'static str, act: &Act) -> Result<Self> {
        let done = cx.observer().act(&mut permit, act, cx.cancel)?;
        Ok(Self { action, note: done.note, scenario_reaction: done.reacted, dry_run: permit.dry_run() })
    }
}

impl Tool for Scroll {
    type Args = ScrollArgs;
    type Out = Sent;
    const META: Meta = Meta {
        name: "scroll",
        group: Group::Pointer,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/action")],
        brief: "Turn the mouse wheel, at a point if given.",
        detail: "Positive numbers scroll up, negative ones down.",
        examples: &[Example {
            scenario: None,
            args: r#"{"clicks":-3,"x":5,"y":5}"#,
            shows: "scrolling down",
        }],
        verify: &["ok", "error.code"],
        ..Meta::DEFAULT
    };

    fn target(cx: &Cx, args: &ScrollArgs) -> Result<Option<Target>> {
        match scroll_point(cx, args)? {
            Some(at) => {
                cx.observer().check_reachable(at)?;
                cx.judged_at(at)
            }
            None => Ok(None),
        }
    }

    fn run(cx: &mut Cx, args: ScrollArgs, permit: Permit) -> Result<Sent> {
        let clicks = i32::try_from(args.clicks.map_or(3, Int::get)).unwrap_or(0);
        Sent::send(cx, permit, "scroll", &Act::Scroll { element: None, at: scroll_point(cx, &args)?, clicks })
    }
}

fn scroll_point(cx: &Cx, args: &ScrollArgs) -> Result<Option<Point>> {
    match (args.x, args.y) {
        (Some(x), Some(y)) => args.space.on_screen(cx, x, y).map(Some),
        (None, None) => Ok(None),
        _ => Err(Error::bad_request("x and y are given together or not at all").with("field", "x")),
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<ClickAt>(), Spec::of::<Scroll>()];
