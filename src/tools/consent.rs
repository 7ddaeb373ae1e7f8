//! Consent in two steps: what a call would touch, and a token that lets exactly that call through.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::gate::suspicion;
use crate::model::Rect;
use crate::tool::args::Text;
use crate::tool::{
    Cx, Effect, Encoded, Example, Group, Meta, Method, Output, Permit, Prepared, ReplyKind, Spec, TableEntry,
    Target, Tool,
};

/// Pixels around the target that the picture shows.
const PADDING: i32 = 8;

pub struct ProposeAction;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ProposeArgs {
    /// Tool to be confirmed.
    action: Text<64>,
    /// Its arguments, exactly as they will be sent.
    #[schemars(extend("x-call" = "action"))]
    args: Option<Map<String, Value>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Proposed {
    confirm_token: String,
    expires_at: f64,
    would_target: WouldTarget,
    #[serde(skip)]
    png: Option<Encoded>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WouldTarget {
    window_uid: String,
    selector: String,
    bounds: Rect,
}

impl Output for Proposed {
    fn take_picture(&mut self) -> Option<Encoded> {
        self.png.take()
    }
}

impl Tool for ProposeAction {
    type Args = ProposeArgs;
    type Out = Proposed;
    const META: Meta = Meta {
        name: "propose_action",
        group: Group::Session,
        lean: true,
        effect: Effect::Session,
        reply: ReplyKind::Picture,
        untrusted: true,
        rest: &[(Method::Post, "/api/propose_action")],
        brief: "Get a confirm_token for one call; shows its target and does nothing. It is valid once.",
        detail: "The target is resolved as the call itself would do it, and shown in a screenshot with a \
                 margin of 8 pixels (an image block over MCP, `would_target.screenshot_b64` over REST). The \
                 token is bound to the tool, all its arguments, the window and the element; it is valid \
                 once, for `confirmation.ttl_seconds`, and any use on something else invalidates it. With \
                 `confirmation.mode` `ask` there are no tokens: the person is asked when the action itself \
                 is called.",
        examples: &[Example {
            scenario: None,
            args: r#"{"action":"click_element","args":{"selector":"Window/MenuBar/MenuItem[name=\"Edit\"]"}}"#,
            shows: "a token for one click on the Edit menu",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: ProposeArgs, mut permit: Permit) -> Result<Proposed> {
        if cx.caller().asks_the_person() || cx.scope.is_some() {
            return Err(Error::bad_request(
                "there are no tokens here: call the action itself, and the person is asked",
            ));
        }
        let entry = acting_tool(cx, args.action.as_str())?;
        cx.caller().check_permitted(entry.spec.meta)?;
        // The proposal is about the deed: what is said to the gate is said with the call itself.
        let (_, prepared) = entry.spec.parse(entry.schema(), args.args.unwrap_or_default().into())?;
        let targets = resolve_targets(cx, &*prepared)?;
        let name = entry.spec.meta.name;
        // Where the screen is suspected, an input that meets nothing needs a token too.
        let nowhere = || cx.caller().suspects(&targets).then(|| suspicion::placeholder_target(name));
        let Some(target) = targets.first().cloned().or_else(nowhere) else {
            return Err(Error::bad_request("the action would touch nothing, so there is nothing to confirm"));
        };
        let png = target_picture(cx, &target, &mut permit);
        let proposal = cx.caller().propose(entry.spec.meta, prepared.arguments(), &targets)?;
        Ok(Proposed {
            confirm_token: proposal.confirm_token,
            expires_at: token_expiry(cx, proposal.ttl),
            would_target: WouldTarget {
                window_uid: target.window_uid().to_owned(),
                selector: target.selector(),
                bounds: target.bounds(),
            },
            png,
        })
    }
}

fn acting_tool<'a>(cx: &Cx<'a>, name: &str) -> Result<&'a TableEntry> {
    let acting = || cx.tools().specs().filter(|spec| spec.meta.effect.acts()).map(|spec| spec.meta.name);
    let refusal = |what: &str| {
        let advice = match crate::text::nearest(name, acting()) {
            Some(nearest) => format!("did you mean '{nearest}'?"),
            None => "only tools that act can be confirmed".to_owned(),
        };
        Error::bad_request(format!("'{name}' {what}; {advice}")).with("field", "action")
    };
    let entry = cx.tools().find_tool(name).ok_or_else(|| refusal("is not a tool of this server"))?;
    if entry.spec.meta.effect.acts() { Ok(entry) } else { Err(refusal("does not act")) }
}

/// The very resolution that the gate will do, whether or not anything has to be judged.
fn resolve_targets(cx: &Cx, prepared: &dyn Prepared) -> Result<Vec<Target>> {
    let judging = cx.with_judged(true);
    prepared.targets(&judging)
}

/// A desktop that cannot be pictured is no reason to refuse; the reply says that the picture is missing.
fn target_picture(cx: &mut Cx, target: &Target, permit: &mut Permit) -> Option<Encoded> {
    match crop_target(cx, target) {
        Ok(png) => {
            permit.spend();
            Some(png)
        }
        Err(problem) => {
            cx.warning = Some(format!("without a screenshot: {}", problem.message));
            None
        }
    }
}

fn crop_target(cx: &Cx, target: &Target) -> Result<Encoded> {
    let element = target
        .element()
        .ok_or_else(|| Error::internal("a target that is not an element has no screenshot"))?;
    let shot = cx.observer().window_picture(&element.chosen, cx.cancel)?;
    let bounds = target.bounds();
    let padded = Rect {
        x: bounds.x.saturating_sub(PADDING),
        y: bounds.y.saturating_sub(PADDING),
        width: bounds.width.saturating_add(2 * PADDING),
        height: bounds.height.saturating_add(2 * PADDING),
    };
    let Some(part) = padded.intersection(&shot.area) else {
        return Err(Error::internal("the element is outside of its window"));
    };
    Encoded::from_picture(&shot.picture.crop(Rect {
        x: part.x - shot.area.x,
        y: part.y - shot.area.y,
        ..part
    }))
}

fn token_expiry(cx: &Cx, ttl: Duration) -> f64 {
    let at = cx.clock().wall_time() + ttl;
    at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

pub const TOOLS: &[Spec] = &[Spec::of::<ProposeAction>()];
