//! The pointer: clicks and the wheel, by screen coordinates.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::common::{
    Dialog, ElementArgs, PointArgs, QuietWindowArgs, SpaceArgs, is_another_in_front, millis, new_dialogs,
    seen_after,
};
use crate::error::{Error, MAY_COME, Result};
use crate::model::input::{Act, Button, Modifier};
use crate::model::{InputAim, InputKind, InputText, Point, RecordedInput};
use crate::observer::ElementChoice;
use crate::platform::Done;
use crate::tool::args::{Amount, Int, Pixel, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Target, Tool};

pub struct ClickAt;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClickAtArgs {
    #[serde(flatten)]
    at: PointArgs,
    /// Default left.
    button: Option<Button>,
    /// Double click.
    double: Option<bool>,
    /// How many clicks; `double` is two.
    #[schemars(extend("x-hidden" = true))]
    count: Option<Int<1, 10>>,
    /// Held meanwhile.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    modifiers: Vec<Modifier>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Clicked {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    scenario_reaction: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
    /// A window that was behind others or without the focus came to the front.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    raised: bool,
    duration_ms: u64,
    new_dialogs: Vec<Dialog>,
}

impl Output for Clicked {}

impl ClickAtArgs {
    fn click_count(&self) -> u32 {
        let count = self.count.and_then(|count| u32::try_from(count.get()).ok());
        count.unwrap_or(if self.double.unwrap_or(false) { 2 } else { 1 })
    }
}

impl Tool for ClickAt {
    type Args = ClickAtArgs;
    type Out = Clicked;
    const META: Meta = Meta {
        name: "click_at",
        group: Group::Pointer,
        lean: true,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/action")],
        brief: "Click at screen coordinates. Prefer click_element where there is a tree.",
        detail: "The point must be on the screen. With `image`, the `image_id` of a screenshot, `x` and `y` \
                 are its pixels; on a screenshot with a grid, `row` and `col` name a cell instead, and `dx`, \
                 `dy` (-1 to 1) the place in it, in half cells from its middle. A screenshot whose window \
                 has since moved or closed, or whose screen has changed, is refused. `coordinate_space` says \
                 it explicitly: screen, image or logical. The reply says what was sent, not what it did: \
                 look again.",
        examples: &[Example { scenario: None, args: r#"{"x":100,"y":100}"#, shows: "a left click" }],
        verify: &["ok", "error.code"],
        input: Some(RecordedInput::new(InputKind::Click, InputAim::Point)),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &ClickAtArgs) -> Result<Vec<Target>> {
        Ok(with_range(cx, targets_at(cx, &args.at)?, &args.modifiers))
    }

    fn run(cx: &mut Cx, args: ClickAtArgs, mut permit: Permit) -> Result<Clicked> {
        let began = cx.clock().now();
        let before = cx.desktop()?;
        let act = Act::Click {
            at: Some(args.at.on_screen(cx)?),
            button: args.button.unwrap_or_default(),
            count: args.click_count(),
            element: None,
            modifiers: args.modifiers,
        };
        let done = cx.observer().send_input(&mut permit, &act, cx.cancel)?;
        let after = cx.observer().windows();
        let after = seen_after(cx, after)?;
        Ok(Clicked {
            action: "click_at",
            note: done.note,
            scenario_reaction: done.reacted,
            dry_run: permit.dry_run(),
            raised: after.as_ref().is_some_and(|after| is_another_in_front(before.windows(), after)),
            new_dialogs: after.map_or_else(Vec::new, |after| new_dialogs(before.windows(), after)),
            duration_ms: millis(cx.clock().now().saturating_sub(began)),
        })
    }
}

pub struct Scroll;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ScrollArgs {
    /// Wheel clicks, positive up; default 3.
    clicks: Option<Amount<-100, 100>>,
    /// Screen pixel; default: pointer position.
    x: Option<Pixel>,
    /// Screen pixel.
    y: Option<Pixel>,
    #[serde(flatten)]
    space: SpaceArgs,
}

/// The answer of inputs that have no target to compare.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PointerSent {
    pub action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub scenario_reaction: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub dry_run: bool,
}

impl Output for PointerSent {}

impl PointerSent {
    pub fn send(cx: &Cx, mut permit: Permit, action: &'static str, act: &Act) -> Result<Self> {
        let done = cx.observer().send_input(&mut permit, act, cx.cancel)?;
        Ok(Self::of(action, done, permit.dry_run()))
    }

    pub fn of(action: &'static str, done: Done, dry_run: bool) -> Self {
        Self { action, note: done.note, scenario_reaction: done.reacted, dry_run }
    }
}

impl Tool for Scroll {
    type Args = ScrollArgs;
    type Out = PointerSent;
    const META: Meta = Meta {
        name: "scroll",
        group: Group::Pointer,
        lean: true,
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
        input: Some(
            RecordedInput::new(InputKind::Scroll, InputAim::Point).with_text(InputText::Number("clicks", 3)),
        ),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &ScrollArgs) -> Result<Vec<Target>> {
        match args.space.on_screen(cx, args.x, args.y)? {
            Some(at) => {
                cx.observer().check_reachable(at)?;
                cx.judged_by_wheel(at)
            }
            // Not every desktop tells where the pointer is; what has the focus can always be judged.
            None => {
                let at = if cx.judged { cx.observer().pointer_position()? } else { None };
                let under = at.map_or(Ok(Vec::new()), |at| cx.judged_by_wheel(at))?;
                Ok(under.into_iter().chain(cx.judged_focus()?).collect())
            }
        }
    }

    fn run(cx: &mut Cx, args: ScrollArgs, permit: Permit) -> Result<PointerSent> {
        let clicks = i32::try_from(args.clicks.map_or(3, Amount::get)).unwrap_or(0);
        let at = args.space.on_screen(cx, args.x, args.y)?;
        PointerSent::send(cx, permit, "scroll", &Act::Scroll { element: None, at, clicks })
    }
}

/// What the point meets.
fn targets_at(cx: &Cx, point: &PointArgs) -> Result<Vec<Target>> {
    let at = point.on_screen(cx)?;
    cx.observer().check_reachable(at)?;
    cx.judged_at(at)
}

/// The targets of a click, and with shift what it chooses beside them.
pub fn with_range(cx: &Cx, mut targets: Vec<Target>, modifiers: &[Modifier]) -> Vec<Target> {
    if modifiers.contains(&Modifier::Shift) {
        targets.extend(cx.judged_range(targets.first()));
    }
    targets
}

pub struct RightClickAt;

impl Tool for RightClickAt {
    type Args = PointArgs;
    type Out = Clicked;
    const META: Meta = Meta {
        name: "right_click_at",
        group: Group::Pointer,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/tool/right_click_at")],
        brief: "Right-click at screen coordinates.",
        detail: "The same as click_at with the right button; kept for clients that know it.",
        examples: &[Example { scenario: None, args: r#"{"x":100,"y":100}"#, shows: "a right click" }],
        implies: &["click_at"],
        listed: false,
        input: Some(RecordedInput::new(InputKind::RightClick, InputAim::Point)),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &PointArgs) -> Result<Vec<Target>> {
        targets_at(cx, args)
    }

    fn run(cx: &mut Cx, args: PointArgs, permit: Permit) -> Result<Clicked> {
        let button = Some(Button::Right);
        ClickAt::run(
            cx,
            ClickAtArgs { at: args, button, double: None, count: None, modifiers: Vec::new() },
            permit,
        )
    }
}

pub struct DoubleClickAt;

impl Tool for DoubleClickAt {
    type Args = PointArgs;
    type Out = Clicked;
    const META: Meta = Meta {
        name: "double_click_at",
        group: Group::Pointer,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/tool/double_click_at")],
        brief: "Double-click at screen coordinates.",
        detail: "The same as click_at with `double`; kept for clients that know it.",
        examples: &[Example { scenario: None, args: r#"{"x":100,"y":100}"#, shows: "a double click" }],
        implies: &["click_at"],
        listed: false,
        input: Some(RecordedInput::new(InputKind::DoubleClick, InputAim::Point)),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &PointArgs) -> Result<Vec<Target>> {
        targets_at(cx, args)
    }

    fn run(cx: &mut Cx, args: PointArgs, permit: Permit) -> Result<Clicked> {
        ClickAt::run(
            cx,
            ClickAtArgs { at: args, button: None, double: Some(true), count: None, modifiers: Vec::new() },
            permit,
        )
    }
}

pub struct HoverAt;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct HoverAtArgs {
    #[serde(flatten)]
    at: PointArgs,
    /// How long to stay; default 250.
    hover_ms: Option<Int<0, 9999>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Hovered {
    #[serde(flatten)]
    sent: PointerSent,
    x: i32,
    y: i32,
    hover_ms: u64,
}

impl Output for Hovered {}

impl Tool for HoverAt {
    type Args = HoverAtArgs;
    type Out = Hovered;
    const META: Meta = Meta {
        name: "hover_at",
        group: Group::Pointer,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/hover")],
        brief: "Move the pointer to screen coordinates and keep it there.",
        detail: "For tooltips and menus that open under the pointer; look again afterwards.",
        examples: &[Example {
            scenario: None,
            args: r#"{"x":5,"y":5,"hover_ms":1}"#,
            shows: "the pointer in a corner",
        }],
        verify: &["ok", "error.code"],
        input: Some(RecordedInput::new(InputKind::Hover, InputAim::Point)),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &HoverAtArgs) -> Result<Vec<Target>> {
        targets_at(cx, &args.at)
    }

    fn run(cx: &mut Cx, args: HoverAtArgs, permit: Permit) -> Result<Hovered> {
        let at = args.at.on_screen(cx)?;
        let hover_ms = args.hover_ms.map_or(250, Int::as_usize) as u64;
        let dry_run = permit.dry_run();
        let sent = PointerSent::send(cx, permit, "hover_at", &Act::Hover { element: None, at: Some(at) })?;
        if !dry_run {
            cx.clock().sleep(Duration::from_millis(hover_ms), cx.cancel)?;
        }
        Ok(Hovered { sent, x: at.x, y: at.y, hover_ms })
    }
}

pub struct DragTool;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DragArgs {
    /// {x, y}, a ref or {selector}.
    from: DragEnd,
    /// Likewise.
    to: DragEnd,
    /// Keys held down during the drag.
    #[serde(default)]
    modifiers: Vec<Modifier>,
    /// Default 0.5.
    duration_s: Option<f64>,
    #[serde(flatten)]
    window: QuietWindowArgs,
}

/// An end of a drag: a ref by itself, as other tools take it, or a place or an element in full.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum DragEnd {
    Ref(Text<24>),
    Place(Box<DragPlace>),
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DragPlace {
    x: Option<Pixel>,
    y: Option<Pixel>,
    #[serde(flatten)]
    space: SpaceArgs,
    #[serde(flatten)]
    element: ElementArgs,
}

/// By hand, so that what is wrong with a place is said of its own field.
impl<'de> Deserialize<'de> for DragEnd {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let end = match value.is_string() {
            true => serde_json::from_value(value).map(DragEnd::Ref),
            false => serde_json::from_value(value).map(DragEnd::Place),
        };
        end.map_err(serde::de::Error::custom)
    }
}

impl DragEnd {
    /// The point that it names, if it does not name an element.
    fn on_screen(&self, cx: &Cx) -> Result<Option<Point>> {
        match self {
            DragEnd::Ref(_) => Ok(None),
            DragEnd::Place(place) => place.space.on_screen(cx, place.x, place.y),
        }
    }

    fn element_choice(&self) -> ElementChoice {
        match self {
            DragEnd::Ref(reference) => {
                let reference = Some(reference.as_str().to_owned());
                ElementChoice { reference, ..ElementChoice::default() }
            }
            DragEnd::Place(place) => place.element.element_choice(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Dragged {
    #[serde(flatten)]
    sent: PointerSent,
    from: [i32; 2],
    to: [i32; 2],
    modifiers: Vec<Modifier>,
    path: [[i32; 2]; 3],
}

impl Output for Dragged {}

impl Tool for DragTool {
    type Args = DragArgs;
    type Out = Dragged;
    const META: Meta = Meta {
        name: "drag",
        group: Group::Pointer,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/drag")],
        brief: "Press at one place, move, release at another; both ends are points or elements.",
        detail: "Both ends must be on the screen. `path` has the start, middle and end of the drag.",
        examples: &[Example {
            scenario: None,
            args: r#"{"from":{"x":10,"y":10},"to":{"selector":"Window/MenuBar/MenuItem[name=\"Edit\"]"},"duration_s":0}"#,
            shows: "from a corner onto a menu",
        }],
        implies: &["click_at"],
        verify: &["ok", "error.code"],
        input: Some(RecordedInput::new(InputKind::Drag, InputAim::From)),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &DragArgs) -> Result<Vec<Target>> {
        parse_duration(args.duration_s)?;
        let mut ends = [drag_end(cx, args, &args.from)?, drag_end(cx, args, &args.to)?];
        // In a list a drag chooses what it passes.
        let passed = cx.judged_range(ends[0].first());
        ends[1].extend(passed);
        // What is named by itself has a place of its own, and comes first.
        let (named, others): (Vec<_>, Vec<_>) =
            ends.into_iter().flatten().partition(|target| target.at().is_some());
        Ok(named.into_iter().chain(others).collect())
    }

    fn run(cx: &mut Cx, args: DragArgs, permit: Permit) -> Result<Dragged> {
        // The places that were judged: an element that has moved since is not followed.
        let mut named = permit.targets().iter().filter_map(Target::at);
        let mut place = |end: &DragEnd| match end.on_screen(cx)? {
            Some(at) => Ok(at),
            None => named.next().ok_or_else(|| Error::internal("the gate resolved no drag ends")),
        };
        let (from, to) = (place(&args.from)?, place(&args.to)?);
        let act = Act::Drag {
            from,
            to,
            modifiers: args.modifiers.clone(),
            duration: parse_duration(args.duration_s)?,
        };
        let sent = PointerSent::send(cx, permit, "drag", &act)?;
        let middle = Point { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
        let pair = |point: Point| [point.x, point.y];
        Ok(Dragged {
            sent,
            from: pair(from),
            to: pair(to),
            modifiers: args.modifiers,
            path: [pair(from), pair(middle), pair(to)],
        })
    }
}

/// What is at an end: the element that it names, and whatever else is there if somebody will judge it.
fn drag_end(cx: &Cx, args: &DragArgs, end: &DragEnd) -> Result<Vec<Target>> {
    if let Some(at) = end.on_screen(cx)? {
        cx.observer().check_reachable(at)?;
        return cx.judged_at(at);
    }
    let choice = end.element_choice();
    if choice == ElementChoice::default() {
        return Err(Error::bad_request(
            "drag needs from and to as {x, y}, {image, row, col}, a ref, {selector} or {element_id}",
        ));
    }
    cx.observer().require_places("to drag an element; give both ends as {x, y}")?;
    let target = cx.find_element(&cx.desktop()?, &args.window.window_choice(), &choice)?;
    let at = target.bounds().center();
    // A step before this one may bring it into view.
    let off_screen = |mut error: Error| {
        error.message.push_str("; hover_element on it first, which scrolls it into view");
        error.with(MAY_COME, true)
    };
    cx.observer().check_reachable(at).map_err(off_screen)?;
    Ok(cx.judged_with(target, Some(at)))
}

const LONGEST_DRAG: Duration = Duration::from_secs(10);

fn parse_duration(seconds: Option<f64>) -> Result<Duration> {
    let seconds = seconds.unwrap_or(0.5);
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| *duration <= LONGEST_DRAG).ok_or_else(|| {
        Error::bad_request(format!(
            "argument 'duration_s' must be from 0 to {}, not {seconds}",
            LONGEST_DRAG.as_secs()
        ))
        .with("field", "duration_s")
    })
}

pub const TOOLS: &[Spec] = &[
    Spec::of::<ClickAt>(),
    Spec::of::<RightClickAt>(),
    Spec::of::<DoubleClickAt>(),
    Spec::of::<HoverAt>(),
    Spec::of::<DragTool>(),
    Spec::of::<Scroll>(),
];
