//! Where the pointer is, and what is under it.

use schemars::JsonSchema;
use serde::Serialize;

use super::windows::NoArgs;
use crate::error::{Error, Kind, Result};
use crate::model::{Point, Rect};
use crate::observer::Ref;
use crate::tool::{Cx, Example, Group, Meta, Method, Output, Permit, Spec, Tool};

pub struct GetCursor;

#[derive(Debug, Serialize, JsonSchema)]
pub struct Cursor {
    x: i32,
    y: i32,
    /// The index that get_monitors gives it; absent where no monitor is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    monitor: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<UnderWindow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<UnderElement>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct UnderWindow {
    window_uid: String,
    title: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct UnderElement {
    #[serde(rename = "ref")]
    reference: Ref,
    role: String,
    name: String,
    bounds: Rect,
}

impl Output for Cursor {}

impl Tool for GetCursor {
    type Args = NoArgs;
    type Out = Cursor;
    const META: Meta = Meta {
        name: "get_cursor",
        group: Group::Pointer,
        untrusted: true,
        rest: &[(Method::Get, "/api/cursor")],
        brief: "Where the pointer is, and the window and element under it.",
        detail: "The element comes from that window's tree, which may be up to `tree.cache_ttl_s` old; a \
                 window that cannot be read has none, and `warning` says why.",
        examples: &[Example { scenario: None, args: "{}", shows: "the pointer of the mock desktop" }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<Cursor> {
        let Some(at) = cx.observer().pointer_position()? else {
            return Err(Error::new(
                Kind::PlatformUnsupported,
                "this desktop does not report where the pointer is",
            ));
        };
        let monitors = cx.observer().monitors()?;
        let monitor = monitors.iter().position(|monitor| monitor.physical.contains(at));
        let (window, element) = under_pointer(cx, at)?;
        Ok(Cursor { x: at.x, y: at.y, monitor, window, element })
    }
}

fn under_pointer(cx: &mut Cx, at: Point) -> Result<(Option<UnderWindow>, Option<UnderElement>)> {
    let Some(chosen) = cx.observer().window_at(&cx.observer().desktop()?, at)? else {
        return Ok((None, None));
    };
    let window = UnderWindow { window_uid: chosen.window.uid.clone(), title: chosen.window.title.clone() };
    let view = match cx.observer().look_at(&chosen, cx.cancel) {
        Ok(look) => look.view,
        Err(error) if error.kind == Kind::Cancelled => return Err(error),
        Err(error) => {
            cx.warning = Some(format!("the window cannot be read: {}", error.message));
            return Ok((Some(window), None));
        }
    };
    let node = view.element_at(at);
    let element = &view.tree()[node];
    let element = UnderElement {
        reference: cx.observer().show_ref(&chosen, &view, node)?,
        role: element.role.to_string(),
        name: element.name.clone(),
        bounds: element.bounds,
    };
    Ok((Some(window), Some(element)))
}

pub const TOOLS: &[Spec] = &[Spec::of::<GetCursor>()];
