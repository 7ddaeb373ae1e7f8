//! Acting on an element: found, checked, judged, done, and answered with a receipt.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{Dialog, ElementArgs, InputArgs, WindowArgs, millis, new_dialogs};
use crate::error::{Error, Kind, Result};
use crate::gate::Permit;
use crate::model::action::{Act, Button, Handle};
use crate::model::{Point, Rect};
use crate::observer::{View, WindowChoice};
use crate::tool::args::Int;
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Spec, Target, Tool};

pub struct ClickElement;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClickArgs {
    #[serde(flatten)]
    element: ElementArgs,
    #[serde(flatten)]
    window: WindowArgs,
    /// Default left.
    button: Option<Button>,
    /// Clicks; default 1.
    count: Option<Int<1, 5>>,
    #[serde(flatten)]
    #[allow(dead_code, reason = "read by the gate")]
    input: InputArgs,
}

impl Tool for ClickElement {
    type Args = ClickArgs;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "click_element",
        group: Group::Elements,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/element/click")],
        brief: "Click an element by selector or id. The receipt tells what changed; ok alone is no success.",
        detail: "The tree is read anew, the element must be enabled and visible, and the click goes to its \
                 centre. `changed` compares everything that is shown before and after; `new_dialogs` lists \
                 windows that appeared.",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"selector":"Window/MenuBar/MenuItem[name=\"Edit\"]","dry_run":true}"#,
                shows: "what would be clicked, without clicking",
            },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"selector":"Window/Edit[name=\"Username\"]"}"#,
                shows: "a field that receives the focus",
            },
        ],
        implies: &["click_at"],
        verify: &["ok", "error.code", "target.selector", "changed"],
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &ClickArgs) -> Result<Vec<Target>> {
        actionable(cx, &args.window, &args.element)
    }

    fn run(cx: &mut Cx, args: ClickArgs, permit: Permit) -> Result<Receipt> {
        let button = args.button.unwrap_or_default();
        let count = u32::try_from(args.count.map_or(1, Int::get)).unwrap_or(1);
        act_on_target(cx, permit, "click_element", |target, at| Act::Click {
            at: Some(at),
            button,
            count,
            element: handle(target),
        })
    }
}

fn handle(target: &Target) -> Option<Handle> {
    let native = target.view.native(target.node)?;
    Some(Handle { window_uid: target.chosen.window.uid.clone(), native })
}

/// The element that is meant, if one can act on it: enabled, and somewhere to be seen. With it comes what
/// a click on it would meet: the middle of a dialog may be a button.
fn actionable(cx: &Cx, window: &WindowArgs, element: &ElementArgs) -> Result<Vec<Target>> {
    let chosen = cx.observer().choose(&window.choice())?;
    let target = cx.observer().find_target(chosen, &element.choice(), cx.cancel)?;
    if !target.view.tree()[target.node].enabled {
        return Err(refused(Kind::ElementDisabled, "the element is disabled", &target));
    }
    let point = visible_point(cx, &target)?;
    if point.is_none() {
        return Err(refused(
            Kind::ElementOccluded,
            "the element is covered by other windows or off screen",
            &target,
        ));
    }
    Ok(cx.judged_with(target, point))
}

fn refused(kind: Kind, message: &str, target: &Target) -> Error {
    Error::new(kind, message)
        .with("window_uid", target.chosen.window.uid.as_str())
        .with("element_id", target.element_id())
        .with("selector", target.selector())
        .with("bounds", target.bounds())
}

/// Where the element can be hit: its centre, or the centre of a part that shows.
fn visible_point(cx: &Cx, target: &Target) -> Result<Option<Point>> {
    let bounds = target.bounds();
    let regions = cx.observer().visible_regions(&target.chosen)?;
    let centre = bounds.center();
    if !bounds.is_empty() && regions.iter().any(|region| region.contains(centre)) {
        return Ok(Some(centre));
    }
    Ok(regions.iter().find_map(|region| region.intersection(&bounds)).map(|part| part.center()))
}

/// What was done to an element, and what came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Receipt {
    action: &'static str,
    dry_run: bool,
    target: TargetOut,
    before: Moment,
    after: Moment,
    changed: bool,
    new_dialogs: Vec<Dialog>,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    scenario_reaction: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TargetOut {
    window_uid: String,
    element_id: String,
    selector: String,
    bounds: Rect,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Moment {
    tree_hash: String,
    focused_selector: String,
}

impl Output for Receipt {
    fn changed(&self) -> Option<bool> {
        Some(self.changed)
    }
}

impl Moment {
    fn of(view: &View) -> Self {
        Self { tree_hash: view.hash().to_owned(), focused_selector: view.focused_selector() }
    }

    /// The window went away with the action.
    fn gone() -> Self {
        Self { tree_hash: String::new(), focused_selector: String::new() }
    }
}

/// Sends the input that `act` makes for the gate's target and its point, and compares before and after.
fn act_on_target(
    cx: &mut Cx,
    mut permit: Permit,
    action: &'static str,
    act: impl FnOnce(&Target, Point) -> Act,
) -> Result<Receipt> {
    let target = permit.target().cloned().ok_or_else(|| Error::internal("the gate resolved no target"))?;
    cx.warning = target.chosen.warning.clone();
    let began = cx.clock().now();
    let before = Moment::of(&target.view);
    let mut receipt = Receipt {
        action,
        dry_run: permit.dry_run(),
        target: TargetOut {
            window_uid: target.chosen.window.uid.clone(),
            element_id: target.element_id(),
            selector: target.selector(),
            bounds: target.bounds(),
        },
        after: before.clone(),
        before,
        changed: false,
        new_dialogs: Vec::new(),
        duration_ms: 0,
        note: None,
        scenario_reaction: false,
    };
    if permit.dry_run() {
        return Ok(receipt);
    }
    let windows_before = cx.observer().windows()?;
    let at = visible_point(cx, &target)?.unwrap_or(target.bounds().center());
    let done = cx.observer().act(&mut permit, &act(&target, at), cx.cancel)?;
    receipt.note = done.note.filter(|_| !cx.observer().platform().facts().is_mock);
    receipt.scenario_reaction = done.reacted;
    receipt.new_dialogs = new_dialogs(&windows_before, cx.observer().windows()?);
    match look_again(cx, &target)? {
        Some(view) => {
            receipt.changed = view.fingerprint() != target.view.fingerprint();
            receipt.after = Moment::of(&view);
        }
        None => {
            receipt.changed = true;
            receipt.after = Moment::gone();
        }
    }
    receipt.duration_ms = millis(cx.clock().now().saturating_sub(began));
    Ok(receipt)
}

/// The target's window as it is now; `None` when the action closed it.
fn look_again(cx: &Cx, target: &Target) -> Result<Option<Arc<View>>> {
    let same_window = WindowChoice { uid: Some(target.chosen.window.uid.clone()), ..WindowChoice::default() };
    match cx.observer().choose(&same_window) {
        Ok(chosen) => cx.observer().view(&chosen, cx.cancel).map(Some),
        Err(error) if error.kind == Kind::WindowGone => Ok(None),
        Err(error) => Err(error),
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<ClickElement>()];
