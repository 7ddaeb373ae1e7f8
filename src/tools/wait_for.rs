//! Waiting for the desktop: until something is there, gone or different, or until a window is still.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::assert_state;
use super::common::{WindowArgs, millis};
use super::fields::{ArgumentFields, ArgumentObject};
use super::vision::{STILL, TOLERANCE};
use crate::config::limits::{VISUAL_CONDITIONS, WAIT_CONDITIONS};
use crate::error::{Error, Fact, Kind, Result};
use crate::observer::WindowChoice;
use crate::observer::predicate::{PredicateClaim, WindowPredicate};
use crate::observer::vision::{Measure, Visual};
use crate::observer::wait::{SeenTree, Vanishing, WaitCondition, WaitRequest};
use crate::tool::args::{Int, Text, WINDOW_UID, WindowIndex};
use crate::tool::{Cx, Example, Group, Meta, Method, Output, Permit, Spec, Tool};

/// Longer waits are shortened to what the config allows; a number beyond this is a mistake.
type Millis = Int<0, 9_007_199_254_740_991>;

const LEAST_POLL_MS: u64 = 50;

pub struct WaitForTool;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct WaitForArgs {
    /// {type,…}: element_appears{selector}, element_disappears{ref|selector|element_id}, text_visible{regex},
    /// window_appears{title_regex}, window_disappears{window_uid|title_regex}, tree_changes{since?}, focused_changes,
    /// visual_change, visual_stable{region?,quiet_ms?};
    /// or an assert_state predicate {kind,…}.
    #[schemars(length(max = WAIT_CONDITIONS))]
    any_of: Vec<ArgumentObject>,
    /// Default: focused window.
    window_uid: Option<Text<256>>,
    #[schemars(extend("x-hidden" = true))]
    window_index: Option<WindowIndex>,
    #[schemars(extend("x-hidden" = true))]
    window_title: Option<Text<512>>,
    /// Default 5000.
    timeout_ms: Option<Millis>,
    /// How often to look where changes are not told.
    #[schemars(extend("x-hidden" = "in full"))]
    poll_ms: Option<Millis>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitForOut {
    matched_index: usize,
    #[schemars(with = "Map<String, Value>")]
    matched_detail: Fact,
    elapsed_ms: u64,
    polls: usize,
}

impl Output for WaitForOut {}

impl Tool for WaitForTool {
    type Args = WaitForArgs;
    type Out = WaitForOut;
    const META: Meta = Meta {
        name: "wait_for",
        group: Group::Watch,
        confirms: true,
        lean: true,
        web: true,
        waits: true,
        untrusted: true,
        rest: &[(Method::Post, "/api/wait_for")],
        brief: "Wait until a condition is met; a timeout tells what was last seen.",
        detail: "Sleeps until the desktop changes; other calls can run meanwhile and wake it. Conditions \
                 apply to the focused window unless one is named; element_disappears and tree_changes stay \
                 with the window of the first look. focused_changes and tree_changes without `since` compare \
                 with the moment of the call. visual_change compares a screenshot of the window (or of a \
                 `region` of the screen, or both) with the first one; visual_stable waits until it has not \
                 changed for `quiet_ms` (default 500). Both take `threshold`, the share of pixels that may \
                 differ (default 0 and 0.001), and `tolerance` (default 8 of 255), and look every `poll_ms`. \
                 `polls` counts the looks; `poll_ms` (default 200, at least 50) matters only for pixels and \
                 where a desktop sends no change events.",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"any_of":[{"type":"window_appears","title_regex":"Notepad"}]}"#,
                shows: "a window that is already there",
            },
            Example {
                scenario: Some("scenarios/slow-load.yaml"),
                args: r#"{"any_of":[{"type":"element_appears","selector":"//Button[name=\"Export\"]"},{"kind":"oracle","name":"failure"}]}"#,
                shows: "a button that appears after three seconds, unless the scenario fails before",
            },
        ],
        verify: &["ok", "matched_index"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: WaitForArgs, _: Permit) -> Result<WaitForOut> {
        if args.any_of.is_empty() {
            return Err(
                Error::bad_request("argument 'any_of' needs at least one condition").with("field", "any_of")
            );
        }
        let mut conditions = args
            .any_of
            .iter()
            .enumerate()
            .map(|(number, entry)| {
                parse_condition(cx, &ArgumentFields::new(format!("any_of[{number}]"), &entry.0))
            })
            .collect::<Result<Vec<_>>>()?;
        check_visual(&conditions)?;
        let window = WindowArgs {
            window_uid: args.window_uid,
            window_index: args.window_index,
            window_title: args.window_title,
        };
        let choice = chosen_window(window.window_choice(), &args.any_of)?;
        let window_uid = named_window(cx, &choice, &mut conditions)?;
        resolve_tokens(cx, &args.any_of, &mut conditions, window_uid.as_deref())?;
        let waiting = WaitRequest {
            window_uid,
            timeout: capped_timeout(cx, args.timeout_ms),
            poll: poll(args.poll_ms, 200),
        };
        let met = cx.observer().wait_for(conditions, &waiting, cx.cancel)?;
        Ok(WaitForOut {
            matched_index: met.index,
            matched_detail: met.detail,
            elapsed_ms: millis(met.elapsed),
            polls: met.looks,
        })
    }
}

/// A type of condition: its name, its fields, how they are read, and the kind of predicate that says the same.
struct TypeOf(
    &'static str,
    &'static [&'static str],
    fn(&ArgumentFields) -> Result<WaitCondition>,
    Option<&'static str>,
);

const TYPES: &[TypeOf] = &[
    TypeOf("element_appears", &["selector"], element_appears, Some("element_exists")),
    TypeOf("element_disappears", &["ref", "selector", "element_id"], element_disappears, None),
    TypeOf("text_visible", &["regex"], text_visible, Some("text_visible")),
    TypeOf("window_appears", &["title_regex"], window_appears, None),
    TypeOf("window_disappears", &["window_uid", "title_regex"], window_disappears, None),
    TypeOf("tree_changes", &["since"], |_| Ok(WaitCondition::TreeChanges(None)), None),
    TypeOf("focused_changes", &[], |_| Ok(WaitCondition::FocusedChanges(None)), None),
    TypeOf("visual_change", &["region", "threshold", "tolerance"], visual_change, None),
    TypeOf("visual_stable", &["region", "threshold", "tolerance", "quiet_ms"], visual_stable, None),
];

fn element_appears(fields: &ArgumentFields) -> Result<WaitCondition> {
    Ok(WaitCondition::ElementAppears(fields.selector_field()?))
}

fn text_visible(fields: &ArgumentFields) -> Result<WaitCondition> {
    Ok(WaitCondition::TextVisible(fields.regex_field("regex")?))
}

fn window_appears(fields: &ArgumentFields) -> Result<WaitCondition> {
    Ok(WaitCondition::WindowAppears(fields.regex_field("title_regex")?))
}

fn window_disappears(fields: &ArgumentFields) -> Result<WaitCondition> {
    match (fields.maybe_text("window_uid")?, fields.maybe_regex("title_regex")?) {
        (Some(uid), None) => Ok(WaitCondition::WindowDisappears(uid.to_owned())),
        (None, Some(title)) => Ok(WaitCondition::TitleDisappears(title)),
        (Some(_), Some(_)) => {
            Err(fields.field_error("title_regex", "and 'window_uid' are two ways; give one"))
        }
        (None, None) => Err(fields.field_error("window_uid", "or 'title_regex' is required")),
    }
}

fn visual_change(fields: &ArgumentFields) -> Result<WaitCondition> {
    Ok(WaitCondition::VisualChange(Box::new(visual_condition(fields, 0.0)?)))
}

/// The kind of predicate that a type of condition asks for as well, if it is about one window.
pub fn kind_of_type(name: &str) -> Option<&'static str> {
    TYPES.iter().find(|known| known.0 == name).and_then(|known| known.3)
}

/// A condition by its `type`, or a predicate by its `kind`, alone or under `predicate`.
pub fn parse_condition(cx: &Cx, fields: &ArgumentFields) -> Result<WaitCondition> {
    if fields.get("type").is_none() && fields.get("kind").is_some() {
        return predicate_condition(cx, fields);
    }
    let name = fields.text("type")?;
    if name == "predicate" {
        fields.reject_unknown(&["type", "predicate"])?;
        let Some(Value::Object(object)) = fields.get("predicate") else {
            return Err(fields.field_error("predicate", "must be an object with a kind"));
        };
        return predicate_condition(cx, &ArgumentFields::new(format!("{}.predicate", fields.path), object));
    }
    let Some(TypeOf(_, names, read, _)) = TYPES.iter().find(|known| known.0 == name) else {
        let known: Vec<&str> = TYPES.iter().map(|known| known.0).chain(["predicate"]).collect();
        let known = known.join(", ");
        return Err(fields.field_error("type", &format!("is unknown: '{name}'; known ones are {known}")));
    };
    let known: Vec<&str> = names.iter().copied().chain(["type"]).collect();
    fields.reject_unknown(&known)?;
    read(fields)
}

/// Waiting for what can never be judged would be waiting for the timeout.
fn predicate_condition(cx: &Cx, fields: &ArgumentFields) -> Result<WaitCondition> {
    match assert_state::read(cx, fields) {
        Ok(predicate) => Ok(WaitCondition::Holds(predicate)),
        Err(error) if error.kind == Kind::PredicateUnsupported => {
            Err(fields.field_error("kind", &format!("is invalid: {}", error.message)))
        }
        Err(error) => Err(error),
    }
}

fn visual_condition(fields: &ArgumentFields, otherwise: f64) -> Result<Visual> {
    let threshold = fields.maybe_number("threshold", 0.0, 1.0)?.unwrap_or(otherwise);
    let tolerance = fields.maybe_number("tolerance", 0.0, 255.0)?.map_or(TOLERANCE, |given| given as u8);
    Ok(Visual::new(fields.maybe_region()?, Measure { tolerance, threshold }))
}

fn visual_stable(fields: &ArgumentFields) -> Result<WaitCondition> {
    let quiet = fields.maybe_number("quiet_ms", 0.0, 60_000.0)?.unwrap_or(500.0);
    let visual = Box::new(visual_condition(fields, STILL)?);
    Ok(WaitCondition::VisualStable { visual, quiet: Duration::from_millis(quiet as u64) })
}

/// Every one of them holds a picture while it waits.
fn check_visual(conditions: &[WaitCondition]) -> Result<()> {
    let is_visual = |condition: &&WaitCondition| {
        matches!(condition, WaitCondition::VisualChange(_) | WaitCondition::VisualStable { .. })
    };
    let count = conditions.iter().filter(is_visual).count();
    if count > VISUAL_CONDITIONS {
        return Err(Error::bad_request(format!(
            "argument 'any_of' may have at most {VISUAL_CONDITIONS} conditions that compare screenshots, \
             this has {count}"
        ))
        .with("field", "any_of"));
    }
    Ok(())
}

fn element_disappears(fields: &ArgumentFields) -> Result<WaitCondition> {
    if fields.get("ref").is_some() {
        let claim = PredicateClaim::ElementAbsent(fields.element_field()?);
        return Ok(WaitCondition::Holds(WindowPredicate { window_uid: None, claim }));
    }
    let element = match (fields.get("selector"), fields.maybe_text("element_id")?) {
        (Some(_), _) => Vanishing::Selector(fields.selector_field()?),
        (None, Some(id)) => Vanishing::by_id(id),
        (None, None) => return Err(fields.field_error("selector", "or 'element_id' is required")),
    };
    Ok(WaitCondition::ElementDisappears { element, window_uid: None })
}

/// The window beside the conditions, or the one that is named in them. Only one is waited at.
fn chosen_window(beside: WindowChoice, entries: &[ArgumentObject]) -> Result<WindowChoice> {
    let mut chosen = beside;
    for (number, entry) in entries.iter().enumerate() {
        let fields = ArgumentFields::new(format!("any_of[{number}]"), &entry.0);
        // A predicate has a window of its own; that of window_disappears is what is waited for.
        if matches!(fields.maybe_text("type")?, None | Some("predicate" | "window_disappears")) {
            continue;
        }
        let named = fields.window_choice()?;
        if !named.is_empty() && !chosen.is_empty() && named != chosen {
            let problem = "and what was named before it are two windows; wait for each in a call of its own";
            return Err(fields.field_error(WINDOW_UID, problem));
        }
        chosen = if named.is_empty() { chosen } else { named };
    }
    Ok(chosen)
}

/// The window that the caller named, which must be there if a condition looks into it.
fn named_window(
    cx: &mut Cx,
    choice: &WindowChoice,
    conditions: &mut [WaitCondition],
) -> Result<Option<String>> {
    let is_visual = |condition: &WaitCondition| {
        matches!(condition, WaitCondition::VisualChange(_) | WaitCondition::VisualStable { .. })
    };
    let needed = |condition: &WaitCondition| condition.looks_into_window() || is_visual(condition);
    if choice.is_empty() || !conditions.iter().any(needed) {
        return Ok(None);
    }
    let chosen = cx.observer().resolve_window(choice)?;
    cx.warning = chosen.warning;
    for condition in conditions {
        if let WaitCondition::VisualChange(visual) | WaitCondition::VisualStable { visual, .. } = condition {
            visual.in_window(&chosen.window.uid);
        }
    }
    Ok(Some(chosen.window.uid))
}

/// A token that is not known any more cannot be compared with, and never matching would hide that.
fn resolve_tokens(
    cx: &Cx,
    entries: &[ArgumentObject],
    conditions: &mut [WaitCondition],
    window_uid: Option<&str>,
) -> Result<()> {
    for (number, (entry, condition)) in entries.iter().zip(conditions).enumerate() {
        let fields = ArgumentFields::new(format!("any_of[{number}]"), &entry.0);
        let (WaitCondition::TreeChanges(was), Some(token)) = (condition, fields.maybe_text("since")?) else {
            continue;
        };
        let window_uid = match window_uid {
            Some(uid) => uid.to_owned(),
            None => cx.observer().resolve_window(&Default::default())?.window.uid,
        };
        let Some(view) = cx.session().trees.get(&window_uid, token, cx.clock().now()) else {
            let message =
                format!("any_of[{number}]: the tree_token of 'since' is unknown or too old for this window");
            return Err(Error::new(Kind::SnapshotExpired, message)
                .with("field", format!("any_of[{number}].since"))
                .with("window_uid", window_uid));
        };
        *was = Some(SeenTree { window_uid, fingerprint: view.fingerprint() });
    }
    Ok(())
}

/// Capped by the config, and the caller hears of it.
fn capped_timeout(cx: &mut Cx, wanted: Option<Millis>) -> Duration {
    cap_duration(cx, "timeout_ms", wanted.map_or(5000, to_unsigned))
}

/// No call sleeps longer than the config allows.
pub(super) fn cap_duration(cx: &mut Cx, name: &str, wanted: u64) -> Duration {
    let most = cx.config().wait_for.max_timeout_ms;
    if wanted > most {
        cx.warning.get_or_insert(format!("{name} {wanted} was shortened to {most}"));
    }
    Duration::from_millis(wanted.min(most))
}

fn poll(wanted: Option<Millis>, default: u64) -> Duration {
    Duration::from_millis(wanted.map_or(default, to_unsigned).max(LEAST_POLL_MS))
}

fn to_unsigned(number: Millis) -> u64 {
    u64::try_from(number.get()).unwrap_or(0)
}

pub struct WaitIdle;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct WaitIdleArgs {
    #[serde(flatten)]
    window: WindowArgs,
    /// Default 750.
    quiet_ms: Option<Int<0, 60_000>>,
    /// Default 5000.
    timeout_ms: Option<Millis>,
    /// How often to look where changes are not told.
    #[schemars(extend("x-hidden" = "in full"))]
    poll_ms: Option<Millis>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitIdleOut {
    elapsed_ms: u64,
    tree_hash: String,
}

impl Output for WaitIdleOut {}

impl Tool for WaitIdle {
    type Args = WaitIdleArgs;
    type Out = WaitIdleOut;
    const META: Meta = Meta {
        name: "wait_idle",
        group: Group::Watch,
        waits: true,
        rest: &[(Method::Post, "/api/wait_idle")],
        brief: "Wait until a window has not changed for quiet_ms.",
        detail: "Any change in the tree counts, including focus, selection and progress. The window is \
                 chosen once; if it closes, the error is WindowGone.",
        examples: &[Example {
            scenario: Some("scenarios/slow-load.yaml"),
            args: r#"{"quiet_ms":1500,"timeout_ms":10000}"#,
            shows: "a window that has stopped loading",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: WaitIdleArgs, _: Permit) -> Result<WaitIdleOut> {
        let chosen = cx.observer().resolve_window(&args.window.window_choice())?;
        cx.warning = chosen.warning.clone();
        let quiet = Duration::from_millis(args.quiet_ms.map_or(750, |quiet| quiet.as_usize() as u64));
        let waiting = WaitRequest {
            window_uid: Some(chosen.window.uid.clone()),
            timeout: capped_timeout(cx, args.timeout_ms),
            poll: poll(args.poll_ms, 100),
        };
        let idle = cx.observer().wait_idle(&chosen, quiet, &waiting, cx.cancel)?;
        Ok(WaitIdleOut { elapsed_ms: millis(idle.elapsed), tree_hash: idle.tree_hash })
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<WaitForTool>(), Spec::of::<WaitIdle>()];
