//! An action and a look at what it did, in one call: two step ids, one reply.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{observe, warn_too};
use super::element_actions::{ClickArgs, ClickElement, Receipt};
use super::keyboard::{PressArgs, PressKey, TypeArgs, TypeText};
use super::pointer::PointerSent;
use super::typed_field::TypedReceipt;
use crate::error::{Error, Kind, Result};
use crate::model::{InputAim, InputKind, InputText, RecordedInput};
use crate::observer::{Observation, ObserveRequest, WindowChoice};
use crate::tool::args::{Int, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, ReplyKind, Spec, Target, Tool};

/// When to look, and what to compare with.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ObserveAfterArgs {
    /// Pause before looking; default 200.
    wait_after_ms: Option<Int<0, 9999>>,
    /// Tree token: only the changes since.
    since: Option<Text<64>>,
}

/// What the action answered, and what was seen afterwards.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ActedAndSeen<T> {
    #[serde(flatten)]
    acted: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    observation: Option<StepObservation>,
}

/// An observation with an envelope of its own, because it is a step of its own.
#[derive(Debug, Serialize)]
struct StepObservation {
    ok: bool,
    success: bool,
    step_id: u64,
    caused_by_step_id: u64,
    #[serde(flatten)]
    content: ObservedOrNot,
    untrusted: bool,
}

/// What was seen, or why nothing was. The action has happened in either case.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ObservedOrNot {
    Seen(Box<Observation>),
    NotSeen { error: LookError },
}

#[derive(Debug, Serialize)]
struct LookError {
    code: &'static str,
    message: String,
    recoverable: bool,
}

impl LookError {
    fn of(error: Error) -> Self {
        let Error { kind, message, .. } = error;
        Self { code: kind.code(), message, recoverable: kind.is_recoverable() }
    }
}

impl<T: Output> Output for ActedAndSeen<T> {
    fn changed(&self) -> Option<bool> {
        self.acted.changed()
    }
}

/// Looks at a window after an action. What cannot be seen does not undo the action, so it is no failure of the call.
fn look_after(cx: &mut Cx, window_uid: Option<String>, args: &ObserveAfterArgs) -> Result<StepObservation> {
    let pause = Duration::from_millis(args.wait_after_ms.map_or(200, Int::as_usize) as u64);
    cx.clock().sleep(pause, cx.cancel)?;
    let seen = observe_after(cx, window_uid, args);
    let step_id = cx.session().next_step();
    let content = match seen {
        Ok(seen) => ObservedOrNot::Seen(Box::new(seen)),
        Err(error) if error.kind == Kind::Cancelled => return Err(error),
        Err(error) => {
            warn_too(cx, "the input was sent; only the observation failed".to_owned());
            ObservedOrNot::NotSeen { error: LookError::of(error) }
        }
    };
    let ok = matches!(content, ObservedOrNot::Seen(_));
    Ok(StepObservation { ok, success: ok, step_id, caused_by_step_id: cx.step_id, content, untrusted: true })
}

/// The window, or the focused one when the action closed it.
fn observe_after(cx: &mut Cx, window_uid: Option<String>, args: &ObserveAfterArgs) -> Result<Observation> {
    let wanted = WindowChoice { uid: window_uid, ..WindowChoice::default() };
    let desktop = cx.observer().desktop()?;
    let chosen = match cx.observer().choose_in(&desktop, &wanted) {
        Err(error) if error.kind == Kind::WindowGone => {
            cx.warning = Some("the window is gone; the focused one was observed".to_owned());
            cx.observer().choose_in(&desktop, &WindowChoice::default())?
        }
        found => found?,
    };
    let request = ObserveRequest {
        since: args.since.as_ref().map(|token| token.as_str().to_owned()),
        ..ObserveRequest::default()
    };
    let mut seen = observe(cx, &chosen, &request)?;
    cx.warning = cx.warning.take().or(seen.warning.take());
    Ok(seen)
}

/// What the tools below have in common.
const COMPOSITE: Meta = Meta {
    effect: Effect::Input,
    reply: ReplyKind::Tree,
    detail: "The observation is that of observe_window, made after a pause; with `since` it has only what \
             changed. A dry run does neither.",
    ..Meta::DEFAULT
};

pub struct ClickElementAndObserve;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClickAndLookArgs {
    #[serde(flatten)]
    click: ClickArgs,
    #[serde(flatten)]
    look: ObserveAfterArgs,
}

impl Tool for ClickElementAndObserve {
    type Args = ClickAndLookArgs;
    type Out = ActedAndSeen<Receipt>;
    const META: Meta = Meta {
        name: "click_element_and_observe",
        group: Group::Elements,
        shows_gate_args: true,
        rest: &[(Method::Post, "/api/element/click_and_observe")],
        brief: "Click an element and see the result, in one call.",
        examples: &[Example {
            scenario: Some("scenarios/login.yaml"),
            args: r#"{"selector":"//Edit[name=\"Username\"]","wait_after_ms":0}"#,
            shows: "a click and the tree after it",
        }],
        implies: &["click_element", "click_at", "observe_window"],
        verify: &["ok", "target.selector", "changed"],
        input: Some(RecordedInput::new(InputKind::Click, InputAim::Element)),
        ..COMPOSITE
    };

    fn targets(cx: &Cx, args: &ClickAndLookArgs) -> Result<Vec<Target>> {
        ClickElement::targets(cx, &args.click)
    }

    fn run(cx: &mut Cx, args: ClickAndLookArgs, permit: Permit) -> Result<Self::Out> {
        let dry_run = permit.dry_run();
        let window = permit.target().map(|target| target.window_uid().to_owned());
        let acted = ClickElement::run(cx, args.click, permit)?;
        let observation = if dry_run { None } else { Some(look_after(cx, window, &args.look)?) };
        Ok(ActedAndSeen { acted, observation })
    }
}

pub struct TypeAndObserve;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct TypeAndLookArgs {
    #[serde(flatten)]
    typing: TypeArgs,
    #[serde(flatten)]
    look: ObserveAfterArgs,
}

impl Tool for TypeAndObserve {
    type Args = TypeAndLookArgs;
    type Out = ActedAndSeen<TypedReceipt>;
    const META: Meta = Meta {
        name: "type_and_observe",
        group: Group::Keyboard,
        rest: &[(Method::Post, "/api/type_and_observe")],
        brief: "Type text and see the result, in one call.",
        examples: &[Example {
            scenario: None,
            args: r#"{"text":"x","wait_after_ms":0}"#,
            shows: "a letter and the tree after it",
        }],
        implies: &["type_text", "observe_window"],
        input: Some(
            RecordedInput::new(InputKind::TypeText, InputAim::Keyboard)
                .with_text(InputText::Argument("text")),
        ),
        ..COMPOSITE
    };

    fn targets(cx: &Cx, args: &TypeAndLookArgs) -> Result<Vec<Target>> {
        TypeText::targets(cx, &args.typing)
    }

    fn run(cx: &mut Cx, args: TypeAndLookArgs, permit: Permit) -> Result<Self::Out> {
        let dry_run = permit.dry_run();
        let window = args.typing.to.named_uid(cx)?;
        let acted = TypeText::run(cx, args.typing, permit)?;
        let observation = if dry_run { None } else { Some(look_after(cx, window, &args.look)?) };
        Ok(ActedAndSeen { acted, observation })
    }
}

pub struct PressKeyAndObserve;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct PressAndLookArgs {
    #[serde(flatten)]
    pressing: PressArgs,
    #[serde(flatten)]
    look: ObserveAfterArgs,
}

impl Tool for PressKeyAndObserve {
    type Args = PressAndLookArgs;
    type Out = ActedAndSeen<PointerSent>;
    const META: Meta = Meta {
        name: "press_key_and_observe",
        group: Group::Keyboard,
        rest: &[(Method::Post, "/api/key_and_observe")],
        brief: "Press a key and see the result, in one call.",
        examples: &[Example {
            scenario: None,
            args: r#"{"keys":"end","wait_after_ms":0}"#,
            shows: "a key and the tree after it",
        }],
        implies: &["press_key", "observe_window"],
        input: Some(
            RecordedInput::new(InputKind::PressKey, InputAim::Keyboard).with_text(InputText::Keys("keys")),
        ),
        ..COMPOSITE
    };

    fn targets(cx: &Cx, args: &PressAndLookArgs) -> Result<Vec<Target>> {
        PressKey::targets(cx, &args.pressing)
    }

    fn run(cx: &mut Cx, args: PressAndLookArgs, permit: Permit) -> Result<Self::Out> {
        let dry_run = permit.dry_run();
        let window = args.pressing.to.named_uid(cx)?;
        let acted = PressKey::run(cx, args.pressing, permit)?;
        let observation = if dry_run { None } else { Some(look_after(cx, window, &args.look)?) };
        Ok(ActedAndSeen { acted, observation })
    }
}

pub const TOOLS: &[Spec] =
    &[Spec::of::<ClickElementAndObserve>(), Spec::of::<TypeAndObserve>(), Spec::of::<PressKeyAndObserve>()];
