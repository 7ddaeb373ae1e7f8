//! One action a request: a point that was named, a key, a text, or text that is read on the screen.

use std::sync::Arc;

use serde_json::{Value, json};

use super::displays::{Area, Display, Part, screen_field};
use super::fields::Form;
use super::screenshots::{ReadingFields, item, text_fields};
use super::{Answer, Failure, Outcome, RouteAnswer, call};
use crate::http::surface::Surface;

const ACTIONS: &[&str] = &[
    "move",
    "click",
    "right_click",
    "double_click",
    "middle_click",
    "scroll",
    "type",
    "hotkey",
    "click_text",
];
const MOST_ACTIONS: usize = 100;

/// An action that was read and is not done yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    name: &'static str,
    point: Option<PointTarget>,
    tool: &'static str,
    args: Value,
    /// Where text is looked for, when it is.
    part: Option<Part>,
}

/// A point, and what it was worked out from.
#[derive(Clone, Debug, PartialEq)]
struct PointTarget {
    x: i64,
    y: i64,
    info: Value,
}

impl PointTarget {
    fn read(mut form: Form) -> Option<Self> {
        let mode = form.require("mode").one_of("mode", &["pixel", "grid"])?;
        let target = if mode == "pixel" { Self::pixel(&mut form) } else { Self::grid(&mut form) };
        form.done();
        target
    }

    fn pixel(form: &mut Form) -> Option<Self> {
        let [x, y] = ["x", "y"].map(|name| form.require(name).int(name, -32_768..=32_767));
        let [dx, dy] = ["dx", "dy"].map(|name| form.int(name, -10_000..=10_000).unwrap_or(0));
        let (x, y) = (x?, y?);
        let info = json!({"mode": "pixel", "x": x, "y": y, "dx": dx, "dy": dy});
        Some(Self { x: x + dx, y: y + dy, info })
    }

    /// The cell's middle, moved by half cells. No picture has to be known: the target brings its region along.
    fn grid(form: &mut Form) -> Option<Self> {
        let area = Area::read(form);
        if area.is_none() && !form.has("region_x") && !form.has("region_width") {
            form.fault("region_x", "missing", "the region of the screenshot is required");
        }
        let [rows, cols] = ["rows", "cols"].map(|name| form.require(name).int(name, 1..=300));
        let row = form.require("row").int("row", 0..=rows.unwrap_or(300) - 1);
        let col = form.require("col").int("col", 0..=cols.unwrap_or(300) - 1);
        let [dx, dy] = ["dx", "dy"].map(|name| form.number(name, -1.0..=1.0).unwrap_or(0.0));
        let (area, rows, cols, row, col) = (area?, rows?, cols?, row?, col?);
        let x = on_axis(area.x, area.width, cols, col, dx);
        let y = on_axis(area.y, area.height, rows, row, dy);
        let info = json!({
            "mode": "grid", "region": area.json(), "rows": rows, "cols": cols, "row": row, "col": col,
            "dx": dx, "dy": dy,
        });
        Some(Self { x, y, info })
    }
}

/// Never a pixel of the next cell, nor one behind the region.
fn on_axis(start: i64, length: i64, cells: i64, cell: i64, offset: f64) -> i64 {
    let size = length as f64 / cells as f64;
    let along = ((cell as f64 + 0.5 + offset * 0.5) * size).floor() as i64;
    let last = (((cell + 1) as f64 * size).ceil() as i64 - 1).min(length - 1);
    start + along.clamp(0, last)
}

/// Reads an action; what is missing beside the fields themselves is a bad request.
pub fn read_action(mut form: Form) -> Result<Action, Failure> {
    let name = form.require("action").one_of("action", ACTIONS).unwrap_or("move");
    let point = form.object("target").and_then(PointTarget::read);
    let had_target = form.has("target");
    form.int("duration_ms", 0..=20_000);
    form.int("interval_ms", 0..=5_000);
    let button = form.one_of("button", &["left", "right", "middle"]);
    let clicks = form.int("clicks", 1..=10);
    let amount = form.int("scroll_amount", -100..=100);
    let text = form.text("text", 0..=65_536);
    let keys = form.texts("keys", 10, 1..=32);
    let dry_run = form.flag("dry_run");
    let words = form.object("click_text").map(read_words);
    form.finish(())?;
    let needed = |code: &str, what: &str| Failure::new(400, code, format!("{name} needs {what}"));
    let at = |mut args: Value| {
        let point = point.as_ref().ok_or_else(|| needed("target_required", "a target"))?;
        args["x"] = point.x.into();
        args["y"] = point.y.into();
        Ok::<_, Failure>(args)
    };
    let (tool, mut args, part) = match name {
        "move" => ("hover_at", at(json!({"hover_ms": 0}))?, None),
        "click" => ("click_at", at(json!({"button": button, "count": clicks}))?, None),
        "right_click" => ("click_at", at(json!({"button": "right", "count": clicks}))?, None),
        "middle_click" => ("click_at", at(json!({"button": "middle", "count": clicks}))?, None),
        "double_click" => ("click_at", at(json!({"button": button, "count": 2}))?, None),
        "scroll" => ("scroll", at(json!({"clicks": amount.unwrap_or(0)}))?, None),
        "type" => ("type_text", json!({"text": text.ok_or_else(|| needed("text_required", "text"))?}), None),
        "hotkey" => {
            let keys = keys.filter(|keys| !keys.is_empty()).ok_or_else(|| needed("keys_required", "keys"))?;
            ("press_key", json!({"keys": keys.join("+")}), None)
        }
        _ => {
            let (mut args, part) =
                words.ok_or_else(|| needed("click_text_required", "the object click_text"))?;
            args["button"] = json!(button);
            args["count"] = json!(clicks);
            ("click_text", args, Some(part))
        }
    };
    args["dry_run"] = dry_run.into();
    // Whoever gives a key a target means something else.
    if had_target && !matches!(tool, "hover_at" | "click_at" | "scroll") {
        return Err(Failure::bad_request(format!("{name} takes no target")));
    }
    Ok(Action { name, point, tool, args, part })
}

fn read_words(mut form: Form) -> (Value, Part) {
    let mut args = text_fields(&mut form);
    let occurrence = form.one_of("occurrence", &["first", "best", "nth"]);
    if (occurrence == Some("nth")) != form.has("nth") {
        form.fault("nth", "value_error", "is required with occurrence nth, and not allowed with any other");
    }
    args["occurrence"] = occurrence.into();
    args["nth"] = form.int("nth", 1..=10_000).into();
    let least = form.number("min_confidence", 0.0..=100.0);
    args["min_confidence"] = least.map(|least| least.round() as i64).into();
    args["psm"] = ReadingFields::read(&mut form).psm.into();
    let area = form.object("region").and_then(|mut inner| {
        const NAMES: [&str; 4] = ["x", "y", "width", "height"];
        for name in NAMES {
            inner.require(name);
        }
        let area = Area::read_named(&mut inner, NAMES);
        inner.done();
        area
    });
    let part = Part { screen: screen_field(&mut form), area };
    form.done();
    (args, part)
}

pub async fn interact(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let (screen, action) = read_interact(form)?;
    perform(&surface, screen, action).await.map(Answer::Seen)
}

pub fn read_interact(mut form: Form) -> Result<(i64, Action), Failure> {
    let screen = screen_field(&mut form);
    let Some(inner) = form.require("action").object("action") else {
        return form.refuse();
    };
    form.done();
    Ok((screen, read_action(inner)?))
}

/// One call, and what it came to.
pub async fn perform(surface: &Surface, screen: i64, action: Action) -> Outcome {
    let display = Display::find(surface, screen).await?;
    action.point.as_ref().map_or(Ok(()), |point| display.check_point(point.x, point.y))?;
    let mut args = action.args;
    if let Some(part) = action.part {
        args["region"] = part.find(surface).await?.1.json();
    }
    let reply = call(surface, action.tool, args).await?;
    let dry_run = reply["dry_run"] == true;
    let found = &reply["found"];
    let target = action.point.map(|point| json!({"x": point.x, "y": point.y, "target_info": point.info}));
    let target = target.or_else(|| {
        found.is_object().then(|| json!({"x": found["x"], "y": found["y"], "target_info": {"mode": "text"}}))
    });
    let whole = display.area.unwrap_or_default();
    Ok(json!({
        "action": action.name,
        "executed": !dry_run,
        "dry_run": dry_run,
        "screen": display.screen,
        "display": display.facts,
        "resolved_target": target,
        "click_text_match": found.is_object().then(|| item(found, whole)),
        "element": reply["target"],
        "new_dialogs": reply["new_dialogs"],
        "note": reply["note"],
    }))
}

/// Several actions, each for itself: each passes the gate, and each has its own result.
pub async fn batch(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let (screen, actions, stop) = read_batch(form)?;
    Ok(Answer::Seen(run_batch(&surface, screen, actions, stop).await))
}

/// All of them are read before the first is done.
pub fn read_batch(mut form: Form) -> Result<(i64, Vec<Action>, bool), Failure> {
    let screen = screen_field(&mut form);
    let stop = form.flag("stop_on_error").unwrap_or(true);
    let Some(inner) = form.require("actions").objects("actions", MOST_ACTIONS) else {
        return form.refuse();
    };
    form.done();
    let actions: Result<Vec<Action>, Failure> = inner.into_iter().map(read_action).collect();
    Ok((screen, actions?, stop))
}

async fn run_batch(surface: &Surface, screen: i64, actions: Vec<Action>, stop: bool) -> Value {
    let count = actions.len();
    let mut results = Vec::new();
    let mut failed = 0;
    for (index, action) in actions.into_iter().enumerate() {
        let name = action.name;
        let outcome = perform(surface, screen, action).await;
        failed += usize::from(outcome.is_err());
        let ended = stop && outcome.is_err();
        let (data, error) = match outcome {
            Ok(data) => (data, Value::Null),
            Err(failure) => (Value::Null, failure.as_json()),
        };
        results.push(
            json!({"index": index, "action": name, "ok": error.is_null(), "data": data, "error": error}),
        );
        if ended {
            break;
        }
    }
    json!({"results": results, "count": count, "ran": results.len(), "failed": failed, "completed": results.len() == count})
}
