//! Asking whether the desktop is as it should be: predicates read, judged and reported one by one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fields::{ArgumentFields, ArgumentObject};
use super::vision::{TOLERANCE, known_frame};
use crate::config::limits::{PREDICATE_BYTES, PREDICATES};
use crate::error::{Error, Fact, Kind, Result};
use crate::files::{self, Below};
use crate::model::Point;
use crate::model::selector::state_names;
use crate::observer::predicate::{PredicateClaim, PredicateVerdict, TextSource, WindowPredicate};
use crate::observer::vision::RegionReference;
use crate::tool::args::WINDOW_UID;
use crate::tool::{Cx, Example, Group, Meta, Method, Output, Permit, Spec, Tool};

pub struct AssertState;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct AssertArgs {
    /// {kind,…}: element_exists, element_absent{ref|selector}; value_equals{selector,expected};
    /// value_matches{selector,regex}; element_state{ref|selector,checked?,expanded?,…}; text_visible{regex}; window_focused, window_exists{title_regex};
    /// tree_hash_equals{expected_hash}; screenshot_similar{reference_path}; pixel_color{x,y,color};
    /// region_similar{region,since}; oracle{name}; each window_uid?.
    predicates: Option<Vec<ArgumentObject>>,
    /// The same, or one object: the older spelling.
    #[schemars(extend("x-hidden" = "in full", "anyOf" = [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]))]
    predicate: Option<Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AssertOut {
    all_passed: bool,
    results: Vec<ResultOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ResultOut {
    kind: String,
    passed: bool,
    #[schemars(with = "Value")]
    observed: Fact,
    args: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<&'static str>,
}

impl Output for AssertOut {}

impl Tool for AssertState {
    type Args = AssertArgs;
    type Out = AssertOut;
    const META: Meta = Meta {
        name: "assert_state",
        group: Group::Harness,
        confirms: true,
        lean: true,
        untrusted: true,
        rest: &[(Method::Post, "/api/assert_state")],
        brief: "Check predicates about the desktop; all_passed says whether all hold.",
        detail: "All predicates are checked at the same moment, in the focused window unless one names a \
                 `window_uid`. One that cannot be checked (an unknown kind, a selector that does not parse) \
                 fails with `error_code`; the call does not fail. `text_visible` takes `mode` tree, ocr or \
                 auto (default). `screenshot_similar` compares with a PNG below `screenshots.reference_dirs` \
                 and takes `min_ssim` (default 0.95). `pixel_color` compares a pixel of the screen (of the \
                 window's own screenshot with `window_uid`) with a `color` like #1e90ff, within `tolerance` \
                 (default 8). `region_similar` compares a `region` of the screen with `since`, a frame_id of \
                 vision_diff, or with a PNG as `reference_path`. `oracle` checks the loaded scenario: \
                 `success` when all of its predicates hold, `failure` when one does.",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"predicate":{"kind":"window_focused","title_regex":"Notepad"}}"#,
                shows: "which window has the focus",
            },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"predicates":[{"kind":"element_exists","selector":"//Button"},{"kind":"oracle","name":"success"}]}"#,
                shows: "a form that is not sent yet: the second predicate does not hold",
            },
        ],
        verify: &["ok", "all_passed"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: AssertArgs, _: Permit) -> Result<AssertOut> {
        let entries = predicate_entries(args)?;
        // A claim that was not understood must not be taken for one that does not hold.
        for (number, entry) in entries.iter().enumerate() {
            check_names(&ArgumentFields::new(format!("predicates[{number}]"), entry))?;
        }
        let evaluation = cx.observer().evaluation(cx.cancel);
        let mut results = Vec::with_capacity(entries.len());
        for (number, entry) in entries.into_iter().enumerate() {
            cx.cancel.check()?;
            let read = read_bounded(cx, &ArgumentFields::new(format!("predicates[{number}]"), &entry));
            let verdict = match read {
                Ok(predicate) => evaluation.evaluate_predicate(&predicate)?,
                Err(error) => PredicateVerdict::not_evaluated(error),
            };
            results.push(ResultOut::new(entry, verdict));
        }
        Ok(AssertOut { all_passed: results.iter().all(|result| result.passed), results })
    }
}

fn predicate_entries(args: AssertArgs) -> Result<Vec<Map<String, Value>>> {
    let mut entries: Vec<_> = args.predicates.into_iter().flatten().map(|entry| entry.0).collect();
    let single = match args.predicate {
        None => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
    };
    for (number, entry) in single.into_iter().enumerate() {
        let Value::Object(entry) = entry else {
            return Err(Error::bad_request(format!("argument 'predicate[{number}]' must be an object"))
                .with("field", format!("predicate[{number}]")));
        };
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err(Error::bad_request("argument 'predicates' is required, with at least one predicate")
            .with("field", "predicates"));
    }
    if entries.len() > PREDICATES {
        return Err(Error::bad_request(format!(
            "argument 'predicates' may have at most {PREDICATES} entries, this has {}",
            entries.len()
        ))
        .with("field", "predicates"));
    }
    Ok(entries)
}

impl ResultOut {
    fn new(mut entry: Map<String, Value>, verdict: PredicateVerdict) -> Self {
        let kind = entry.get("kind").and_then(Value::as_str).unwrap_or_default();
        let kind = kind.chars().take(64).collect::<String>();
        if is_too_long(&entry) {
            entry.clear();
        } else if find_kind(&kind).is_some() {
            entry.remove("kind");
        }
        let error_code = verdict.error.map(Kind::code);
        Self { kind, passed: verdict.passed, observed: verdict.observed, args: entry, error_code }
    }
}

fn is_too_long(entry: &Map<String, Value>) -> bool {
    serde_json::to_string(entry).map_or(true, |text| text.len() > PREDICATE_BYTES)
}

/// What is reported comes back whole, so it must not be of any length.
fn read_bounded(cx: &Cx, fields: &ArgumentFields) -> Result<WindowPredicate> {
    if is_too_long(fields.object) {
        return Err(Error::bad_request(format!(
            "{} has more than {PREDICATE_BYTES} bytes; its args are not repeated",
            fields.path
        )));
    }
    read(cx, fields)
}

/// A kind of predicate: its name, what it is about, its fields, and how they are read.
struct KindOf(
    &'static str,
    PredicateSubject,
    &'static [&'static str],
    fn(&Cx, &ArgumentFields) -> Result<PredicateClaim>,
);

/// What a predicate is about, where it does not say so itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredicateSubject {
    /// One window.
    Window,
    /// One window, or a dialog that shows instead.
    WindowOrDialog,
    /// The desktop, or the screen.
    Desktop,
}

use PredicateSubject::{Desktop, Window, WindowOrDialog};

const KINDS: &[KindOf] = &[
    KindOf("element_exists", WindowOrDialog, &["ref", "selector"], |_, fields| {
        Ok(PredicateClaim::ElementExists(fields.element_field()?))
    }),
    KindOf("element_absent", Window, &["ref", "selector"], |_, fields| {
        Ok(PredicateClaim::ElementAbsent(fields.element_field()?))
    }),
    KindOf("value_equals", Window, &["ref", "selector", "expected"], value_equals),
    KindOf("value_matches", Window, &["ref", "selector", "regex"], |_, fields| {
        Ok(PredicateClaim::ValueMatches {
            element: fields.element_field()?,
            pattern: fields.regex_field("regex")?,
        })
    }),
    KindOf("element_state", Window, ELEMENT_STATE, element_state),
    KindOf("text_visible", WindowOrDialog, &["regex", "mode"], |_, fields| {
        Ok(PredicateClaim::TextVisible {
            pattern: fields.regex_field("regex")?,
            source: text_source(fields)?,
        })
    }),
    KindOf("window_focused", Desktop, &["title_regex"], |_, fields| {
        Ok(PredicateClaim::WindowFocused { title: fields.maybe_regex("title_regex")? })
            .and_then(names_a_window(fields))
    }),
    KindOf("window_exists", Desktop, &["title_regex"], |_, fields| {
        Ok(PredicateClaim::WindowExists { title: fields.maybe_regex("title_regex")? })
            .and_then(names_a_window(fields))
    }),
    KindOf("tree_hash_equals", Window, &["expected_hash"], |_, fields| {
        Ok(PredicateClaim::TreeHashEquals(fields.text("expected_hash")?.to_owned()))
    }),
    KindOf("screenshot_similar", Desktop, &["reference_path", "min_ssim"], screenshot_similar),
    KindOf("pixel_color", Desktop, &["x", "y", "color", "tolerance"], pixel_color),
    KindOf("region_similar", Desktop, &["region", "since", "reference_path", "min_ssim"], region_similar),
    KindOf("oracle", Desktop, &["name"], scenario_oracle),
];

/// The element, and the states that selectors know.
const ELEMENT_STATE: &[&str] =
    &["ref", "selector", "enabled", "focused", "checked", "selected", "expanded", "editable", "visible"];

fn element_state(_: &Cx, fields: &ArgumentFields) -> Result<PredicateClaim> {
    let mut states = Vec::new();
    for name in state_names() {
        match fields.get(name) {
            None => {}
            Some(Value::Bool(wanted)) => states.push((name, *wanted)),
            Some(_) => return Err(fields.field_error(name, "must be true or false")),
        }
    }
    if states.is_empty() {
        let known: Vec<&str> = state_names().collect();
        return Err(fields.field_error("checked", &format!("or another of {} is required", known.join(", "))));
    }
    Ok(PredicateClaim::ElementState { element: fields.element_field()?, states })
}

fn find_kind(kind: &str) -> Option<&'static KindOf> {
    KINDS.iter().find(|known| known.0 == kind)
}

/// What predicates of this kind are about.
pub fn subject_of(kind: &str) -> Option<PredicateSubject> {
    find_kind(kind).map(|known| known.1)
}

/// Reads a predicate from `kind` and that kind's own fields.
pub fn read(cx: &Cx, fields: &ArgumentFields) -> Result<WindowPredicate> {
    let kind = fields.text("kind")?;
    let Some(KindOf(.., read_claim)) = find_kind(kind) else {
        let known: Vec<&str> = KINDS.iter().map(|known| known.0).collect();
        let message = format!("unknown predicate kind '{kind}'; known kinds are {}", known.join(", "));
        return Err(Error::new(Kind::PredicateUnsupported, message));
    };
    check_names(fields)?;
    let claim = read_claim(cx, fields)?;
    Ok(WindowPredicate { window_uid: named_window(cx, fields)?, claim })
}

/// Refuses names that the kind of a predicate does not have.
fn check_names(fields: &ArgumentFields) -> Result<()> {
    let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
    let Some(KindOf(_, _, names, _)) = find_kind(kind) else { return Ok(()) };
    let known: Vec<&str> = names.iter().copied().chain(["kind", WINDOW_UID]).collect();
    fields.reject_unknown(&known)
}

/// The window that a predicate is about. A uid may be that of a window that is gone, which is a claim too.
fn named_window(cx: &Cx, fields: &ArgumentFields) -> Result<Option<String>> {
    let choice = fields.window_choice()?;
    if choice.uid.is_some() || choice.is_empty() {
        return Ok(choice.uid);
    }
    Ok(Some(cx.observer().resolve_window(&choice)?.window.uid))
}

/// Numbers and flags are values too, as their text.
fn value_equals(_: &Cx, fields: &ArgumentFields) -> Result<PredicateClaim> {
    let expected = match fields.get("expected") {
        Some(number @ (Value::Number(_) | Value::Bool(_))) => number.to_string(),
        _ => fields.text("expected")?.to_owned(),
    };
    Ok(PredicateClaim::ValueEquals { element: fields.element_field()?, expected })
}

fn text_source(fields: &ArgumentFields) -> Result<TextSource> {
    match fields.maybe_text("mode")? {
        None | Some("auto") => Ok(TextSource::Auto),
        Some("tree") => Ok(TextSource::Tree),
        Some("ocr") => Ok(TextSource::Ocr),
        Some(_) => Err(fields.field_error("mode", "must be one of tree, ocr, auto")),
    }
}

/// Without a word about the window, any would do, and the claim would say nothing.
fn names_a_window<'a>(
    fields: &'a ArgumentFields,
) -> impl FnOnce(PredicateClaim) -> Result<PredicateClaim> + 'a {
    move |claim| {
        if fields.get("title_regex").is_none() && fields.get("window_uid").is_none() {
            return Err(fields.field_error("title_regex", "or 'window_uid' is required"));
        }
        Ok(claim)
    }
}

/// `#rrggbb`, in small or capital letters.
fn parse_color(fields: &ArgumentFields) -> Result<[u8; 3]> {
    let text = fields.text("color")?;
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii());
    let part = |at: usize| u8::from_str_radix(digits?.get(at..at + 2)?, 16).ok();
    match (part(0), part(2), part(4)) {
        (Some(red), Some(green), Some(blue)) => Ok([red, green, blue]),
        _ => Err(fields.field_error("color", "must be written like #1e90ff")),
    }
}

fn pixel_color(_: &Cx, fields: &ArgumentFields) -> Result<PredicateClaim> {
    let at = Point { x: fields.pixel_field("x")?, y: fields.pixel_field("y")? };
    let tolerance = fields.maybe_number("tolerance", 0.0, 255.0)?.map_or(TOLERANCE, |given| given as u8);
    Ok(PredicateClaim::PixelColor { at, color: parse_color(fields)?, tolerance })
}

fn region_similar(cx: &Cx, fields: &ArgumentFields) -> Result<PredicateClaim> {
    let least = fields.maybe_number("min_ssim", -1.0, 1.0)?.unwrap_or(0.95);
    let region = fields.maybe_region()?;
    let reference = match (fields.maybe_text("since")?, fields.get("reference_path")) {
        (Some(id), None) => {
            if fields.get("window_uid").is_some() {
                return Err(
                    fields.field_error("window_uid", "is not allowed: the frame in since has its own window")
                );
            }
            let frame = known_frame(cx, id).map_err(|error| fields.field_error("since", &error.message))?;
            RegionReference::Kept(frame)
        }
        (None, Some(_)) => RegionReference::File(reference_path(cx, fields)?),
        _ => return Err(fields.field_error("since", "or 'reference_path' is required, but not both")),
    };
    Ok(PredicateClaim::RegionSimilar { region, reference, least })
}

fn reference_path(cx: &Cx, fields: &ArgumentFields) -> Result<Below> {
    files::below(&cx.config().screenshots.reference_dirs, fields.text("reference_path")?).map_err(|problem| {
        fields.field_error(
            "reference_path",
            &format!("cannot be read: {problem}; screenshots.reference_dirs names the folders"),
        )
    })
}

fn screenshot_similar(cx: &Cx, fields: &ArgumentFields) -> Result<PredicateClaim> {
    let reference = reference_path(cx, fields)?;
    let least = fields.maybe_number("min_ssim", -1.0, 1.0)?.unwrap_or(0.95);
    Ok(PredicateClaim::ScreenshotSimilar { reference, least })
}

/// The loaded scenario's own words for success and failure.
fn scenario_oracle(cx: &Cx, fields: &ArgumentFields) -> Result<PredicateClaim> {
    let name = fields.text("name")?;
    let every = match name {
        "success" => true,
        "failure" => false,
        _ => return Err(fields.field_error("name", "must be success or failure")),
    };
    let loaded = cx.observer().stage().and_then(|stage| stage.oracles());
    let Some(loaded) = loaded else {
        return Err(Error::new(Kind::PlatformUnsupported, "no scenario is loaded, so there are no oracles"));
    };
    let entries = if every { loaded.success } else { loaded.failure };
    if entries.is_empty() {
        return Err(fields.field_error("name", "names an oracle that the scenario leaves empty"));
    }
    let read_entry = |(number, entry): (usize, &Map<String, Value>)| {
        let fields = ArgumentFields::new(format!("oracle {name}[{number}]"), entry);
        // An oracle that asks an oracle could ask itself.
        if fields.get("kind").and_then(Value::as_str) == Some("oracle") {
            return Err(fields.field_error("kind", "must not be oracle again"));
        }
        read(cx, &fields)
    };
    let predicates = entries.iter().enumerate().map(read_entry).collect::<Result<_>>()?;
    Ok(PredicateClaim::Oracle { every, predicates })
}

pub const TOOLS: &[Spec] = &[Spec::of::<AssertState>()];
