//! Seeing the screen: as a sketch in characters, as words.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{FULL_SCREEN, WindowArgs, warn_too};
use crate::config::AsciiSketch;
use crate::error::{Error, Kind, Result};
use crate::model::{Rect, Tree};
use crate::observer::sketch::{Legend, SketchElement, SketchOptions, SketchReading, draw_sketch};
use crate::observer::{ResolvedWindow, View, describe};
use crate::tool::args::{Amount, Int, Text};
use crate::tool::services::{VisionScene, VisionWish};
use crate::tool::{Cx, Example, Group, Meta, Method, Output, Permit, ReplyKind, Spec, Tool};

type GridWidth = Amount<1, 500>;
type GridHeight = Amount<1, 300>;

pub struct GetScreenSketch;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct SketchArgs {
    #[serde(flatten)]
    window: WindowArgs,
    /// Columns; default 110.
    grid_width: Option<GridWidth>,
    /// Rows; default 38.
    grid_height: Option<GridHeight>,
    #[schemars(extend("x-hidden" = true))]
    structured: Option<bool>,
    /// Overlay the text that OCR reads.
    #[schemars(extend("x-hidden" = true))]
    ocr: Option<bool>,
}

/// Drawn while it is written: the sketch borrows from the view.
#[derive(Debug)]
pub struct SketchOut {
    window: String,
    view: Arc<View>,
    frame: Rect,
    options: SketchOptions,
    structured: bool,
    reading: SketchReading,
    /// Whether text was laid over; `None` when nobody asked for it.
    ocr_overlay: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
struct SketchFields<'a> {
    window: &'a str,
    grid_width: usize,
    grid_height: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ocr_overlay: Option<bool>,
    sketch: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<serde_json::Value>")]
    elements: Option<&'a [SketchElement<'a>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "serde_json::Value")]
    legend: Option<&'a Legend>,
}

impl Serialize for SketchOut {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let drawn = draw_sketch(self.view.tree(), self.frame, &self.options, &self.reading);
        let fields = SketchFields {
            window: &self.window,
            grid_width: self.options.grid_width,
            grid_height: self.options.grid_height,
            ocr_overlay: self.ocr_overlay,
            sketch: &drawn.text,
            elements: self.structured.then_some(&drawn.elements),
            legend: self.structured.then_some(&drawn.legend),
        };
        fields.serialize(out)
    }
}

impl JsonSchema for SketchOut {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SketchOut".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SketchFields::json_schema(generator)
    }
}

impl Output for SketchOut {}

impl Tool for GetScreenSketch {
    type Args = SketchArgs;
    type Out = SketchOut;
    const META: Meta = Meta {
        name: "get_screen_sketch",
        group: Group::Screen,
        reply: ReplyKind::Tree,
        untrusted: true,
        fits: true,
        rest: &[(Method::Get, "/api/sketch")],
        brief: "The window's layout drawn in characters, with a legend.",
        detail: "Boxes are elements, circled numbers their focus order (from 21 on `#21`), letters refer to \
                 the legend. `structured` adds every element with its cell coordinates; `ocr` overlays the \
                 text that OCR reads, and names images and panels without a name by the text in them \
                 (`ocr_text`).",
        examples: &[Example {
            scenario: Some("scenarios/login.yaml"),
            args: r#"{"window_index":0,"grid_width":80,"grid_height":24}"#,
            shows: "a login form in 80 columns",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: SketchArgs, _: Permit) -> Result<SketchOut> {
        let chosen = cx.observer().resolve_window(&args.window.window_choice())?;
        cx.warning = chosen.warning.clone();
        let options = sketch_options(&cx.config().ascii_sketch, args.grid_width, args.grid_height);
        let view = cx.observer().look_at(&chosen, cx.cancel)?.view;
        // A window that was named is drawn in its own frame, any other in its root element's.
        let named = !args.window.window_choice().is_empty();
        let frame = if named { chosen.window.bounds } else { view.tree().root().bounds };
        let structured = args.structured.unwrap_or(false);
        let wanted = args.ocr.unwrap_or(false);
        let read = if wanted { read_names(cx, &chosen, &view, &options)? } else { None };
        Ok(SketchOut {
            ocr_overlay: args.ocr.map(|_| read.is_some()),
            reading: read.unwrap_or_default(),
            window: chosen.window.title,
            view,
            frame,
            options,
            structured,
        })
    }
}

/// What was read for a sketch. A sketch without it is still one: what is missing is said beside it.
fn read_names(
    cx: &mut Cx,
    chosen: &ResolvedWindow,
    view: &View,
    options: &SketchOptions,
) -> Result<Option<SketchReading>> {
    let backend = &cx.config().ocr.backend;
    let read = if backend == "tesseract" {
        cx.observer().read_for_sketch(chosen, view, options, cx.cancel)
    } else {
        Err(Error::new(Kind::PlatformUnsupported, format!("unknown ocr.backend '{backend}'")))
    };
    match read {
        Ok((reading, unread)) => {
            unread.into_iter().for_each(|warning| warn_too(cx, warning));
            Ok(Some(reading))
        }
        Err(error) if error.kind == Kind::Cancelled => Err(error),
        Err(error) => {
            warn_too(cx, format!("the sketch has no OCR text: {}", error.message));
            Ok(None)
        }
    }
}

fn sketch_options(
    config: &AsciiSketch,
    width: Option<GridWidth>,
    height: Option<GridHeight>,
) -> SketchOptions {
    SketchOptions {
        grid_width: width.map_or(config.grid_width, Amount::as_usize),
        grid_height: height.map_or(config.grid_height, Amount::as_usize),
        ..config.into()
    }
}

pub struct GetScreenDescription;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DescriptionArgs {
    #[serde(flatten)]
    window: WindowArgs,
    /// Sources; default combined: all that this server has.
    #[schemars(extend("x-ignorable" = true))]
    mode: Option<DescriptionMode>,
    /// Cut the text to this many tokens.
    max_tokens: Option<Int<1, 1000000>>,
    /// Element id or ref: only its subtree.
    focus_element: Option<Text<2048>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DescriptionMode {
    Accessibility,
    Ocr,
    Vlm,
    Combined,
    Auto,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Description {
    window: String,
    window_uid: String,
    effective_mode: &'static str,
    description: String,
    truncated: bool,
    /// The `[vlm]` part as data, when the model was asked in passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    vlm_structured: Option<serde_json::Value>,
}

impl Output for Description {}

impl Tool for GetScreenDescription {
    type Args = DescriptionArgs;
    type Out = Description;
    const META: Meta = Meta {
        name: "get_screen_description",
        advise_instead: Some("look"),
        group: Group::Screen,
        untrusted: true,
        rest: &[(Method::Get, "/api/description")],
        brief: "The window in words: one line per element with role, name, value, state and place.",
        detail: "Each source has its own heading, `[accessibility]` first, then `[ocr]`: the text that OCR \
                 reads in the window, or in brackets why there is none. Mode auto skips OCR where the tree \
                 is sufficient. `[vlm]` is what a vision model says, or in brackets why it was not asked.",
        examples: &[Example {
            scenario: None,
            args: r#"{"window_index":0,"focus_element":"root.4"}"#,
            shows: "the status bar in words",
        }],
        verify: &["ok", "effective_mode"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: DescriptionArgs, _: Permit) -> Result<Description> {
        let chosen = cx.observer().resolve_window(&args.window.window_choice())?;
        let view = cx.observer().look_at(&chosen, cx.cancel)?.view;
        let wanted = args.focus_element.as_ref().map(|text| text.as_str().to_owned());
        let wanted = wanted.map(|name| cx.observer().id_of(&chosen, &view, name)).transpose()?;
        let node = wanted.as_ref().and_then(|id| view.tree().find_id(id));
        cx.warning = match (wanted, node) {
            (Some(id), None) => Some(format!("no element has the id '{id}'; the whole window is described")),
            _ => chosen.warning.clone(),
        };
        let mut parts = Vec::new();
        if args.mode != Some(DescriptionMode::Ocr) {
            let text = describe::describe_tree(&chosen.window, view.tree(), node.unwrap_or(Tree::ROOT));
            parts.push(("accessibility", text));
        }
        if wants_ocr(cx, args.mode, &view) {
            parts.push(("ocr", ocr_part(cx, &chosen)?));
        }
        let ocr = parts.iter().find(|(heading, _)| *heading == "ocr").map(|(_, text)| text.as_str());
        let scene = VisionScene { chosen: &chosen, view: &view, node: node.unwrap_or(Tree::ROOT), ocr };
        let said = cx.vision().describe(cx, wish_for_model(args.mode), &scene)?;
        let vlm_structured = said.as_ref().and_then(|said| said.structured.clone());
        parts.extend(said.map(|said| ("vlm", said.text)));
        let (description, truncated) =
            describe::assemble_sections(&parts, args.max_tokens.map(Int::as_usize));
        Ok(Description {
            window: chosen.window.title,
            window_uid: chosen.window.uid,
            effective_mode: effective_mode(&parts, args.mode),
            description,
            truncated,
            vlm_structured,
        })
    }
}

fn wish_for_model(mode: Option<DescriptionMode>) -> VisionWish {
    match mode {
        Some(DescriptionMode::Vlm) => VisionWish::Required,
        Some(DescriptionMode::Accessibility | DescriptionMode::Ocr) => VisionWish::Unwanted,
        Some(DescriptionMode::Combined | DescriptionMode::Auto) | None => VisionWish::Welcome,
    }
}

/// What was asked for by name is answered, if only with the reason why not; otherwise OCR that is
/// switched off is not spoken of.
fn wants_ocr(cx: &Cx, mode: Option<DescriptionMode>, view: &View) -> bool {
    let config = cx.config();
    match mode {
        Some(DescriptionMode::Ocr) => true,
        Some(DescriptionMode::Accessibility | DescriptionMode::Vlm) => false,
        Some(DescriptionMode::Auto) => {
            config.ocr.enabled && view.named_count() < config.tree.sparse_threshold
        }
        Some(DescriptionMode::Combined) | None => config.ocr.enabled,
    }
}

fn effective_mode(parts: &[(&str, String)], mode: Option<DescriptionMode>) -> &'static str {
    match (parts, mode) {
        ([("ocr", _)], _) => "ocr",
        ([("accessibility", _)], Some(DescriptionMode::Accessibility | DescriptionMode::Auto)) => {
            "accessibility"
        }
        _ => "combined",
    }
}

/// What can be read, or in brackets why nothing was: the other parts of a description stand all the same.
fn ocr_part(cx: &Cx, chosen: &ResolvedWindow) -> Result<String> {
    match cx.observer().ocr_text(chosen, cx.cancel) {
        Ok(text) if text.is_empty() => Ok("[No text detected by OCR]".to_owned()),
        Ok(text) => Ok(text),
        Err(error) if error.kind == Kind::Cancelled => Err(error),
        Err(error) => Ok(format!("[{}]", error.message)),
    }
}

/// The title and the sketch of the window that is named, if one is.
pub(super) fn named_sketch(cx: &mut Cx, args: &SketchArgs) -> Result<(String, Option<String>)> {
    let choice = args.window.window_choice();
    if choice.is_empty() {
        return Ok((FULL_SCREEN.to_owned(), None));
    }
    let chosen = cx.observer().resolve_window(&choice)?;
    cx.warning = chosen.warning.clone();
    let options = sketch_options(&cx.config().ascii_sketch, args.grid_width, args.grid_height);
    let view = cx.observer().look_at(&chosen, cx.cancel)?.view;
    // Nobody has to hear that OCR is off who did not ask for it.
    let wanted = args.ocr.unwrap_or(cx.config().ocr.enabled);
    let read = if wanted { read_names(cx, &chosen, &view, &options)? } else { None };
    let drawn = draw_sketch(view.tree(), chosen.window.bounds, &options, &read.unwrap_or_default());
    Ok((chosen.window.title, Some(drawn.text)))
}

pub const TOOLS: &[Spec] = &[Spec::of::<GetScreenSketch>(), Spec::of::<GetScreenDescription>()];
