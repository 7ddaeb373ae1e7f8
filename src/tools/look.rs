//! One call to see: the windows, what is in one of them, and what is new since the caller last looked.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{ImageFacts, QuietWindowArgs, remember_image, warn_too};
use super::screenshot_options::{GridArgs, GridOut, OverlayArgs, RegionRect, encode_image, marks_line};
use crate::budget::Meter;
use crate::error::{Error, Kind, Result};
use crate::model::encoding::{Encoding, ImageFormat};
use crate::model::{Rect, Tree, Window};
use crate::observer::outline::{
    DroppedCounts, Fold, Keep, Outline, OutlineChanges, OutlineOptions, window_line,
};
use crate::observer::screenshots::{Overlay, PictureSubject, PictureWish, Pointed};
use crate::observer::{DesktopState, Ref, ResolvedWindow, View};
use crate::tokens::{Writing, tokens_for_bytes};
use crate::tool::args::{Int, Text};
use crate::tool::{
    Cx, Encoded, Example, Group, Meta, Method, Output, Permit, ReplyKind, Spec, Tool, resource,
};

/// What a look may cost where the caller does not say.
const DEFAULT_TOKENS: usize = 4000;
/// What stands around the lines.
const TOKENS_AROUND: usize = 120;
/// What is said of what is new.
const TOKENS_OF_NEWS: usize = 60;
/// What is said of a picture and its grid.
const TOKENS_OF_A_PICTURE: usize = 150;
const MOST_WINDOWS: usize = 40;

pub struct LookTool;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct LookToolArgs {
    #[serde(flatten)]
    window: QuietWindowArgs,
    /// Only what is in this element.
    #[serde(rename = "ref")]
    reference: Option<Text<24>>,
    /// Only what changed since your last look.
    changes: Option<bool>,
    /// Add a screenshot: plain, with numbered elements, or with rows and columns.
    picture: Option<PictureKind>,
    #[serde(flatten)]
    drawing: DrawingArgs,
    /// next of the last reply.
    after: Option<Text<2048>>,
    /// groups, repeats, hidden, bars, bounds, texts, cells, details: what an outline normally leaves out.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    keep: Vec<Keep>,
    /// Whether a window without elements is read by OCR; default true.
    #[schemars(extend("x-hidden" = true))]
    ocr: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PictureKind {
    Plain,
    Marks,
    Grid,
}

/// The picture in detail, as of get_screenshot; each of them asks for one.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct DrawingArgs {
    #[schemars(extend("x-hidden" = true))]
    grid: Option<GridArgs>,
    #[schemars(extend("x-hidden" = true))]
    marks: Option<bool>,
    #[schemars(extend("x-hidden" = true))]
    region: Option<RegionRect>,
    #[schemars(extend("x-hidden" = true))]
    format: Option<ImageFormat>,
    #[schemars(extend("x-hidden" = true))]
    quality: Option<Int<1, 100>>,
}

/// A picture that is wanted.
struct PictureRequest {
    overlay: Overlay,
    region: Option<Rect>,
    encoding: Encoding,
}

impl PictureRequest {
    fn from_args(args: &LookToolArgs) -> Result<Option<Self>> {
        let DrawingArgs { grid, marks, region, format, quality } = args.drawing;
        let detailed = grid.is_some()
            || marks == Some(true)
            || region.is_some()
            || format.is_some()
            || quality.is_some();
        if args.picture.is_none() && !detailed {
            return Ok(None);
        }
        let is = |kind| args.picture == Some(kind);
        let wish = OverlayArgs {
            grid: grid.or_else(|| is(PictureKind::Grid).then(Default::default)),
            marks: marks.or(Some(is(PictureKind::Marks))),
            format,
            quality,
        };
        let region = region.map(RegionRect::to_rect);
        Ok(Some(Self { overlay: wish.overlay_request(), region, encoding: wish.image_encoding()? }))
    }
}

/// A picture beside the lines, and how to point at it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PictureOut {
    width: u32,
    height: u32,
    source_bbox: Rect,
    #[serde(flatten)]
    image: ImageFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<GridOut>,
    #[serde(skip)]
    encoded: Option<Encoded>,
    /// The same in words.
    #[serde(skip)]
    words: String,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Looked {
    /// Absent when there are no windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    window_uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<String>,
    elements: usize,
    shown: usize,
    /// "ocr": the lines were read in the pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    /// Why there are no elements, or not all of them, where the platform knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded: Option<String>,
    dropped: DroppedCounts,
    /// Absent when this is the first look at the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    since_last_look: Option<Since>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    truncated: bool,
    /// The value of `after` that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    #[schemars(default)]
    windows_left_out: usize,
    /// Present and false when the application could not be read to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    picture: Option<PictureOut>,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    lean: Option<String>,
}

/// What `look` answers where there is nothing to see.
const NO_WINDOWS: &str = "no windows are open; launch_app starts a program";

impl Looked {
    fn empty_desktop() -> Self {
        Self { text: NO_WINDOWS.to_owned(), ..Self::default() }
    }

    /// That it shows less than there is, and why.
    fn why_degraded(&self) -> Option<String> {
        const READ: &str = "read from pixels by OCR, which may miss some";
        match (&self.degraded, self.source) {
            (why, None) => why.clone(),
            (Some(why), Some(_)) => Some(format!("{READ}: {why}")),
            (None, Some(_)) => Some(format!(
                "{READ}: the application exposes no elements (Chromium, Electron: start it with \
                 --force-renderer-accessibility)"
            )),
        }
    }

    /// What a model has to know beside the lines.
    fn facts_in_lines(&self) -> String {
        let left_out = self.since_last_look.as_ref().map_or(0, |since| since.left_out);
        let facts = [
            self.picture.as_ref().map(|picture| picture.words.clone()),
            (self.windows_left_out > 0).then(|| format!("{} more windows", self.windows_left_out)),
            (left_out > 0).then(|| format!("{left_out} more changes")),
            // Told with the first look at a window.
            self.why_degraded().filter(|_| self.since_last_look.is_none()),
            // Why it was not is said above, where it is known.
            self.complete
                .filter(|_| self.degraded.is_none())
                .map(|_| "the application could not be read to the end".to_owned()),
            self.next.as_ref().map(|next| format!("more: look {{\"after\":\"{next}\"}}")),
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Since {
    added: usize,
    removed: usize,
    changed: usize,
    /// Lines of these that were left out for lack of room.
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    #[schemars(default)]
    left_out: usize,
}

impl Since {
    fn of(changes: &OutlineChanges) -> Self {
        let OutlineChanges { added, removed, changed, cut, .. } = *changes;
        Self { added, removed, changed, left_out: cut }
    }
}

impl Output for Looked {
    fn take_outline(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.text))
    }

    fn take_lean(&mut self) -> Option<String> {
        self.lean.take()
    }

    fn take_picture(&mut self) -> Option<Encoded> {
        self.picture.as_mut().and_then(|picture| picture.encoded.take())
    }
}

impl Tool for LookTool {
    type Args = LookToolArgs;
    type Out = Looked;
    const META: Meta = Meta {
        name: "look",
        group: Group::Act,
        reply: ReplyKind::Tree,
        untrusted: true,
        lean: true,
        web: true,
        fits: true,
        rest: &[(Method::Get, "/api/look")],
        brief: "See the windows, the elements of one as lines with refs, and what changed since your last look.",
        detail: "A line is `ref role \"name\" =value {flags} @x,y WxH`; docs/outline.md describes what is \
                 left out, and `dropped` counts it. The server remembers what each surface was last shown of \
                 a window: lines with `+` are new, `-` gone, `~` changed. A window without elements is read \
                 by OCR, and its lines have refs that can be clicked. `picture` adds a screenshot, which \
                 counts as one; `marks: 1=e3` says which number is on which element (docs/pictures.md). \
                 `grid`, `marks`, `region`, `format` and `quality` are those of get_screenshot and ask for a \
                 screenshot too. Without `max_tokens` a reply has at most 4000; `next` is the value of \
                 `after` that continues.",
        examples: &[
            Example { scenario: None, args: "{}", shows: "the windows, and what is in the focused one" },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"changes":true,"max_tokens":500}"#,
                shows: "only what changed since the last look",
            },
        ],
        app: Some(resource::WINDOW_PAGE),
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: LookToolArgs, _: Permit) -> Result<Looked> {
        let drawing = PictureRequest::from_args(&args)?;
        // What may not be asked for by itself does not come beside an answer either.
        drawing
            .as_ref()
            .map_or(Ok(()), |_| cx.caller().check_permitted_with(&Self::META, &["get_screenshot"]))?;
        let desktop = cx.observer().desktop()?;
        let windows = cx.observer().shown_windows(&desktop);
        if windows.is_empty() && args.window.window_choice().is_empty() && args.reference.is_none() {
            return Ok(Looked { lean: cx.lean.then(String::new), ..Looked::empty_desktop() });
        }
        let chosen = window_to_look(cx, &desktop, &args)?;
        cx.warning = chosen.warning.clone();
        let seen = LookResult::take_look(cx, chosen, &args)?;
        let around = TOKENS_AROUND + if drawing.is_some() { TOKENS_OF_A_PICTURE } else { 0 };
        let room = cx.max_tokens.unwrap_or(DEFAULT_TOKENS).saturating_sub(around).max(1);
        let pointed = drawing.as_ref().map(|drawing| seen.take_picture(cx, drawing)).transpose()?;
        let mut looked = seen.write_parts(cx, &args, &windows, pointed.as_ref(), room)?;
        if let Some((pointed, drawing)) = pointed.zip(drawing) {
            looked.picture = Some(PictureOut::new(cx, pointed, &drawing)?);
        }
        looked.lean = cx.lean.then(|| looked.facts_in_lines());
        Ok(looked)
    }
}

impl PictureOut {
    fn new(cx: &mut Cx, pointed: Pointed, drawing: &PictureRequest) -> Result<Self> {
        let encoded = encode_image(cx, &pointed, drawing.encoding)?;
        let area = pointed.shot.area;
        let grid =
            drawing.overlay.grid.map(|wish| format!(", {} rows, {} cols", wish.grid.rows, wish.grid.cols));
        let image = remember_image(cx, pointed.image.clone());
        let words = format!(
            "picture {}x{} of {},{} {}x{}, image {}{}",
            encoded.width,
            encoded.height,
            area.x,
            area.y,
            area.width,
            area.height,
            image.image_id,
            grid.unwrap_or_default()
        );
        Ok(Self {
            words,
            width: encoded.width,
            height: encoded.height,
            source_bbox: pointed.shot.area,
            grid: drawing.overlay.grid.map(|wish| GridOut::new(&wish.grid, &pointed)),
            image,
            encoded: Some(encoded),
        })
    }
}

/// A ref knows its window; otherwise it is the one that is named, or the focused one.
fn window_to_look(cx: &Cx, desktop: &Arc<DesktopState>, args: &LookToolArgs) -> Result<ResolvedWindow> {
    let mut choice = args.window.window_choice();
    if let (Some(text), true) = (&args.reference, choice.is_empty()) {
        choice.uid = Some(cx.observer().window_of_ref(parse_ref(text)?)?);
    }
    cx.observer().choose_in(desktop, &choice)
}

fn parse_ref(text: &Text<24>) -> Result<Ref> {
    Ref::parse(text.as_str()).ok_or_else(|| {
        Error::bad_request(format!("'{}' is not a ref: refs look like e17", text.as_str()))
            .with("field", "ref")
    })
}

/// What a look found, before it is written.
struct LookResult {
    chosen: ResolvedWindow,
    view: Arc<View>,
    /// What the caller was shown before.
    before: Option<Arc<View>>,
    scope: usize,
}

impl LookResult {
    fn take_look(cx: &mut Cx, chosen: ResolvedWindow, args: &LookToolArgs) -> Result<Self> {
        let mut view = cx.observer().look_at(&chosen, cx.cancel)?.view;
        let is_unread = view.tree().is_unread();
        if view.is_dark() && !is_unread && args.ocr != Some(false) {
            view = read_instead(cx, &chosen, view)?;
        }
        if let Some(notice) = view.tree().notice.clone() {
            let said = [cx.warning.take(), Some(notice)].into_iter().flatten();
            cx.warning = said.reduce(|one, other| format!("{one}; {other}"));
        }
        let scope = match &args.reference {
            None => Tree::ROOT,
            Some(text) => {
                let id = cx.observer().id_of(&chosen, &view, text.as_str().to_owned())?;
                view.tree().find_id(&id).unwrap_or(Tree::ROOT)
            }
        };
        // Part of a window is not a look at it: what was not shown would be missed the next time.
        // Nor is one that could not be read: what was shown before is what the next look is compared with.
        let whole = scope == Tree::ROOT && args.after.is_none() && !is_unread;
        let before = whole
            .then(|| cx.session().looks.swap_view(cx.origin.name(), &chosen.window.uid, view.clone()))
            .flatten();
        Ok(Self { chosen, view, before, scope })
    }

    /// It counts as a screenshot, and is taken before anything is written about it.
    fn take_picture(&self, cx: &Cx, drawing: &PictureRequest) -> Result<Pointed> {
        let charge = cx.reserve_budget(&[Meter::Screenshot])?;
        let of_element = || (self.scope != Tree::ROOT).then(|| self.view.tree()[self.scope].bounds);
        let region = drawing.region.or_else(of_element);
        let subject = PictureSubject::Window(&self.chosen);
        let wish = PictureWish {
            region,
            overlay: drawing.overlay,
            for_model: cx.lean,
            ..PictureWish::plain(subject)
        };
        let pointed = cx.observer().pointing_picture(&wish, cx.cancel)?;
        charge.commit();
        Ok(pointed)
    }

    fn write_parts(
        self,
        cx: &Cx,
        args: &LookToolArgs,
        windows: &[Window],
        pointed: Option<&Pointed>,
        room: usize,
    ) -> Result<Looked> {
        let mut parts = Parts { text: String::new(), room };
        let windows_left_out = parts.write_windows(windows, &self.chosen.window.uid);
        if let Some(pointed) = pointed {
            parts.write_marks(pointed);
        }
        let only_changes = args.changes == Some(true) && self.before.is_some();
        let (outline, changes) = match &self.before {
            Some(before) if only_changes => {
                let options = self.outline_options(cx, args, parts.tokens_left());
                let changes = cx.observer().outline_changes(&self.chosen, (before, &self.view), &options)?;
                parts.write_changes(&changes);
                (Outline { elements: self.view.tree().len(), ..Outline::default() }, Some(changes))
            }
            before => self.write_outline(cx, args, &mut parts, before.as_deref())?,
        };
        let next = self.next_page(&outline);
        let has_elements = !self.view.is_dark() && !self.view.was_read();
        let is_incomplete = !self.view.tree().complete;
        Ok(Looked {
            window_uid: Some(self.chosen.window.uid),
            window: Some(self.chosen.window.title),
            elements: outline.elements,
            shown: outline.shown,
            source: self.view.source(),
            degraded: self.view.tree().lacking.clone().filter(|_| !has_elements || is_incomplete),
            dropped: outline.dropped,
            since_last_look: changes.as_ref().map(Since::of),
            truncated: next.is_some() || changes.is_some_and(|changes| changes.cut > 0),
            next,
            windows_left_out,
            complete: is_incomplete.then_some(false),
            picture: None,
            text: parts.text.trim_end().to_owned(),
            lean: None,
        })
    }

    /// A long text goes on before the lines behind it do.
    fn next_page(&self, outline: &Outline) -> Option<String> {
        let id = |node| self.view.tree().id(node);
        match outline.text_cut {
            Some(characters) => Some(format!("{}{TEXT_MARK}{characters}", id(self.scope))),
            None => outline.cut_after.map(id),
        }
    }

    /// What says nothing is one line, unless a part or more is asked for.
    fn outline_options(&self, cx: &Cx, args: &LookToolArgs, max_tokens: usize) -> OutlineOptions {
        let folds = cx.lean && self.scope == Tree::ROOT && args.keep.is_empty();
        OutlineOptions {
            scope: self.scope,
            keep: args.keep.clone(),
            max_tokens: Some(max_tokens),
            fold: if folds { Fold::Unnamed } else { Fold::Nothing },
            counts_gone: true,
            ..OutlineOptions::default()
        }
    }

    /// Everything once; what is new since the last look has a sign before it.
    fn write_outline(
        &self,
        cx: &Cx,
        args: &LookToolArgs,
        parts: &mut Parts,
        before: Option<&View>,
    ) -> Result<(Outline, Option<OutlineChanges>)> {
        let (after, text_from) = page_start(&self.view, args.after.as_ref())?;
        let room = parts.tokens_left().saturating_sub(before.map_or(0, |_| TOKENS_OF_NEWS)).max(1);
        let options = OutlineOptions { after, text_from, ..self.outline_options(cx, args, room) };
        let Some(before) = before else {
            let outline = cx.observer().outline_view(&self.chosen, &self.view, &options)?;
            parts.push(&outline.text);
            return Ok((outline, None));
        };
        let (outline, changes) = cx.observer().outline_since(&self.chosen, (before, &self.view), &options)?;
        // That nothing changed is what an outline without signs says.
        if !changes.is_empty() {
            parts.push(&since_words(&changes));
        }
        parts.push(&changes.text);
        parts.push(&outline.text);
        Ok((outline, Some(changes)))
    }
}

/// How much is new, before the lines that say what.
fn since_words(changes: &OutlineChanges) -> String {
    if changes.replaced {
        return format!("page replaced since your last look, {} elements gone", changes.removed);
    }
    let counts =
        [(changes.added, "new (+)"), (changes.changed, "changed (~)"), (changes.removed, "gone (-)")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    format!("since your last look: {}", counts.join(", "))
}

const NOTHING_NEW: &str = "nothing changed since your last look";

/// Between an element and how many characters of its text were shown.
const TEXT_MARK: char = '+';

/// The element behind which a look goes on, or where in a long text.
fn page_start(view: &View, after: Option<&Text<2048>>) -> Result<(Option<usize>, usize)> {
    let Some(after) = after else { return Ok((None, 0)) };
    let text = after.as_str().split_once(TEXT_MARK).and_then(|(_, characters)| characters.parse().ok());
    if let Some(characters) = text {
        return Ok((None, characters));
    }
    match view.tree().find_id(after.as_str()) {
        Some(node) => Ok((Some(node), 0)),
        None => Err(Error::bad_request(format!(
            "the element '{}' no longer exists; look without after",
            after.as_str()
        ))
        .with("field", "after")),
    }
}

/// A window without elements, by what can be read in it. That nothing can is said, and is no failure.
fn read_instead(cx: &mut Cx, chosen: &ResolvedWindow, view: Arc<View>) -> Result<Arc<View>> {
    match cx.observer().view_by_reading(chosen, &view, cx.cancel) {
        Ok(read) => Ok(read),
        Err(error) if error.kind == Kind::Cancelled => Err(error),
        Err(error) => {
            warn_too(cx, format!("the window exposes no elements and cannot be read: {}", error.message));
            Ok(view)
        }
    }
}

/// The lines of a reply, and how many tokens are left for more.
struct Parts {
    text: String,
    room: usize,
}

impl Parts {
    fn tokens_left(&self) -> usize {
        self.room.saturating_sub(tokens_for_bytes(Writing::Outline, self.text.len())).max(1)
    }

    fn push(&mut self, lines: &str) {
        if !lines.is_empty() {
            self.text.push_str(lines);
            self.text.push('\n');
        }
    }

    /// The window that is looked at is always among them. How many were left out is returned.
    fn write_windows(&mut self, windows: &[Window], shown: &str) -> usize {
        let (here, others): (Vec<_>, Vec<_>) = windows.iter().partition(|window| window.uid == shown);
        let mut left_out = 0;
        for window in here.into_iter().chain(others) {
            let line = window_line(window);
            // A list of windows may take a quarter.
            let fits = tokens_for_bytes(Writing::Outline, self.text.len() + line.len()) <= self.room / 4;
            if self.text.is_empty() || (fits && left_out == 0 && self.text.lines().count() < MOST_WINDOWS) {
                self.push(&line);
            } else {
                left_out += 1;
            }
        }
        left_out
    }

    /// Which number stands on which element; everything else about it is on its line.
    fn write_marks(&mut self, pointed: &Pointed) {
        if !pointed.legend.is_empty() {
            self.push(&format!("marks: {}", marks_line(&pointed.legend)));
        }
    }

    fn write_changes(&mut self, changes: &OutlineChanges) {
        if changes.is_empty() {
            self.push(NOTHING_NEW);
        } else {
            self.push("changed since your last look:");
            self.push(&changes.text);
        }
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<LookTool>()];
