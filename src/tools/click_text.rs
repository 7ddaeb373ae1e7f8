//! Text on the screen, found by reading pixels: where it is, and a click on it. For windows that expose no
//! elements, and for callers that go by what a person sees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{Dialog, QuietWindowArgs, millis, new_dialogs, regex_error, seen_after};
use super::element_actions::{BeforeInput, InputSettling, TargetOut, look_when_settled};
use super::zoom::Bbox;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::input::{Act, Button};
use crate::model::{InputAim, InputKind, Point, RecordedInput, Rect};
use crate::observer::text_match::{Fit, Occurrence, TextPage, TextPiece, WantedText};
use crate::observer::{Care, OcrScene, Spotted};
use crate::tool::args::{Int, Text};
use crate::tool::{
    Cx, Effect, ElementTarget, Example, Group, Meta, Method, Output, Permit, Spec, Target, Tool,
};

/// What a miss names.
const MOST_CANDIDATES: usize = 8;
/// How much around the text must not have changed before it is clicked.
const MARGIN: i32 = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    #[default]
    Contains,
    Exact,
    Regex,
}

impl From<Matching> for Fit {
    fn from(matching: Matching) -> Self {
        match matching {
            Matching::Contains => Fit::Contains,
            Matching::Exact => Fit::Exact,
            Matching::Regex => Fit::Regex,
        }
    }
}

/// Where and how to read, for both tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ReadArgs {
    /// Default contains.
    #[serde(rename = "match")]
    matching: Option<Matching>,
    /// Only this part of the screen.
    #[schemars(extend("x-hidden" = true))]
    region: Option<Bbox>,
    #[serde(flatten)]
    window: QuietWindowArgs,
    #[schemars(extend("x-hidden" = true))]
    case_sensitive: Option<bool>,
    /// Leave out words with less confidence; default `ocr.min_confidence` of the config.
    #[schemars(extend("x-hidden" = true))]
    min_confidence: Option<Int<0, 100>>,
    /// False: every word by itself instead of words in lines.
    #[schemars(extend("x-hidden" = true))]
    group_lines: Option<bool>,
    /// Tesseract's page segmentation mode; default `ocr.psm_window` of the config.
    #[schemars(extend("x-hidden" = true))]
    psm: Option<Int<0, 13>>,
}

impl ReadArgs {
    /// A region is on the screen; a window is read also where it is covered; both are the part of that window; neither is
    /// the focused window.
    fn reading_scene(&self, cx: &Cx) -> Result<OcrScene> {
        let choice = self.window.window_choice();
        match self.region {
            Some(part) if choice.is_empty() => Ok(OcrScene::Screen(part.to_rect())),
            part => {
                let chosen = Box::new(cx.observer().resolve_window(&choice)?);
                Ok(OcrScene::Window { chosen, part: part.map(Bbox::to_rect) })
            }
        }
    }

    fn reading_options(&self, cx: &Cx) -> Care {
        Care {
            least: self.min_confidence.map_or(cx.config().ocr.min_confidence, |least| least.get() as f64),
            grouped: self.group_lines.unwrap_or(true),
            segmentation: self.psm.and_then(|psm| u32::try_from(psm.get()).ok()),
        }
    }

    fn wanted_text(&self, text: &str) -> Result<WantedText> {
        let fit = self.matching.unwrap_or_default().into();
        WantedText::new(fit, text, self.case_sensitive.unwrap_or(false))
            .map_err(|problem| regex_error("text", &problem))
    }
}

/// A piece of text, with the point at which it would be clicked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PieceOut {
    text: String,
    /// The whole line, where there is more of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    confidence: u8,
    /// On the screen.
    bounds: Rect,
    x: i32,
    y: i32,
}

impl From<TextPiece> for PieceOut {
    fn from(piece: TextPiece) -> Self {
        let Point { x, y } = piece.bounds.center();
        let line = (piece.line != piece.text).then_some(piece.line);
        let confidence = piece.confidence.round() as u8;
        Self { text: piece.text, line, confidence, bounds: piece.bounds, x, y }
    }
}

fn list_pieces(pieces: Vec<TextPiece>) -> Vec<PieceOut> {
    pieces.into_iter().map(PieceOut::from).collect()
}

fn candidate_facts(pieces: Vec<TextPiece>) -> Fact {
    let fact = |piece: PieceOut| {
        Fact::object([
            ("text", piece.text.into()),
            ("confidence", Fact::Number(piece.confidence.into())),
            ("bounds", piece.bounds.into()),
            ("x", piece.x.into()),
            ("y", piece.y.into()),
        ])
    };
    Fact::List(list_pieces(pieces).into_iter().map(fact).collect())
}

pub struct OcrFind;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct OcrFindArgs {
    /// Default: all that can be read.
    text: Option<Text<1000>>,
    #[serde(flatten)]
    read: ReadArgs,
    /// Default 50.
    #[schemars(extend("x-hidden" = true))]
    max_results: Option<Int<1, 1000>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TextFound {
    /// The part of the screen that was read.
    area: Rect,
    count: usize,
    /// How many more there are.
    not_listed: usize,
    matches: Vec<PieceOut>,
    /// The most similar texts, when nothing was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    nearest: Vec<PieceOut>,
}

impl Output for TextFound {}

impl Tool for OcrFind {
    type Args = OcrFindArgs;
    type Out = TextFound;
    const META: Meta = Meta {
        name: "ocr_find",
        advise_instead: Some("click_text"),
        group: Group::Screen,
        untrusted: true,
        fits: true,
        rest: &[(Method::Get, "/api/ocr/find"), (Method::Post, "/api/ocr/find")],
        brief: "Find text on the screen by OCR; returns where it is.",
        detail: "Words are joined into lines and listed from top to bottom, each with its box and the point \
                 to click on the screen. `match` contains finds a part of a line, exact whole words (a label \
                 of their own, or else words in a line), regex an expression; `case_sensitive` makes the case \
                 matter. Without `region` and window the focused window is read; a window is read even where \
                 it is covered, a `region` as the screen shows it. `group_lines` false takes every word by \
                 itself. Redacted text cannot be found. When nothing matches, `nearest` has the most similar \
                 texts.",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"text":"this is a test","window_index":0}"#,
                shows: "a line of a document",
            },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"text":"^log ?in$","match":"regex","region":{"x":100,"y":100,"width":400,"height":300}}"#,
                shows: "a button, looked for in a part of the screen",
            },
        ],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: OcrFindArgs, _: Permit) -> Result<TextFound> {
        let wanted = args.text.as_ref().map(|text| args.read.wanted_text(text.as_str())).transpose()?;
        let scene = args.read.reading_scene(cx)?;
        if let OcrScene::Window { chosen, .. } = &scene {
            cx.warning = chosen.warning.clone();
        }
        let (seen, page) = cx.observer().read_scene(&scene, &args.read.reading_options(cx), cx.cancel)?;
        let mut found = match &wanted {
            Some(wanted) => page.find_text(wanted)?,
            None => page.all_lines(),
        };
        let nearest =
            wanted.filter(|_| found.is_empty()).map(|wanted| page.nearest_text(&wanted, MOST_CANDIDATES));
        let most = args.max_results.map_or(50, Int::as_usize);
        let not_listed = found.len().saturating_sub(most);
        found.truncate(most);
        Ok(TextFound {
            area: seen.area(),
            count: found.len(),
            not_listed,
            matches: list_pieces(found),
            nearest: list_pieces(nearest.unwrap_or_default()),
        })
    }
}

pub struct ClickText;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    First,
    Best,
    Nth,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClickTextArgs {
    /// As written there.
    text: Text<1000>,
    #[serde(flatten)]
    read: ReadArgs,
    /// Which of several, from 1.
    #[schemars(extend("x-hidden" = true))]
    nth: Option<Int<1, 10000>>,
    /// Of several: first in reading order, best match, or nth. Default the first whole word in the same case.
    #[schemars(extend("x-hidden" = true))]
    occurrence: Option<Which>,
    /// Default left.
    #[schemars(extend("x-hidden" = true))]
    button: Option<Button>,
    /// Clicks; default 1.
    #[schemars(extend("x-hidden" = true))]
    count: Option<Int<1, 10>>,
}

impl ClickTextArgs {
    fn chosen_occurrence(&self) -> Result<Option<Occurrence>> {
        let wrong = |message: &str, field: &str| Err(Error::bad_request(message).with("field", field));
        match (self.occurrence, self.nth) {
            (None | Some(Which::Nth), Some(nth)) => Ok(Some(Occurrence::Nth(nth.as_usize()))),
            (Some(Which::Nth), None) => wrong("occurrence nth needs 'nth', starting at 1", "nth"),
            (Some(_), Some(_)) => wrong("'nth' needs occurrence nth", "occurrence"),
            (Some(Which::First), None) => Ok(Some(Occurrence::First)),
            (Some(Which::Best), None) => Ok(Some(Occurrence::Best)),
            (None, None) => Ok(None),
        }
    }

    /// Reads, and finds the one that is meant.
    fn find_spot(&self, cx: &Cx) -> Result<Spotted> {
        let wanted = self.read.wanted_text(self.text.as_str())?;
        let occurrence = self.chosen_occurrence()?;
        let scene = self.read.reading_scene(cx)?;
        let (seen, page) = cx.observer().read_scene(&scene, &self.read.reading_options(cx), cx.cancel)?;
        let mut found = page.find_text(&wanted)?;
        let at = self.pick_occurrence(&page, &wanted, &found, occurrence)?;
        let count = found.len();
        Ok(Spotted { scene, seen, piece: found.swap_remove(at), number: at + 1, count })
    }

    fn pick_occurrence(
        &self,
        page: &TextPage,
        wanted: &WantedText,
        found: &[TextPiece],
        which: Option<Occurrence>,
    ) -> Result<usize> {
        let text = self.text.as_str();
        let several = |message: String, pieces: &[TextPiece]| {
            let shown = pieces.iter().take(MOST_CANDIDATES).cloned().collect();
            Error::new(Kind::Ambiguous, message)
                .with("text", text)
                .with("count", pieces.len())
                .with("candidates", candidate_facts(shown))
        };
        if found.is_empty() {
            let message =
                format!("no text found there matches '{text}'; see candidates, or search elsewhere");
            return Err(Error::new(Kind::ElementNotFound, message)
                .with("text", text)
                .with("candidates", candidate_facts(page.nearest_text(wanted, MOST_CANDIDATES))));
        }
        let closest = found.iter().map(|piece| piece.closeness).max();
        let as_close = found.iter().filter(|piece| Some(piece.closeness) == closest).count();
        if which.is_none() && self.read.matching == Some(Matching::Exact) && as_close > 1 {
            let message =
                format!("'{text}' occurs there {} times; choose one with nth or a region", found.len());
            return Err(several(message, found));
        }
        which.unwrap_or(Occurrence::Closest).index_among(found).ok_or_else(|| {
            let message = format!("'{text}' occurs there {} times, so nth is too large", found.len());
            several(message, found).with("field", "nth")
        })
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TextClicked {
    action: &'static str,
    dry_run: bool,
    /// What was clicked, in its middle.
    found: PieceOut,
    /// Which of how many, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    nth: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<usize>,
    /// The element under the point, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetOut>,
    changed: bool,
    new_dialogs: Vec<Dialog>,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    scenario_reaction: bool,
}

impl Output for TextClicked {
    fn changed(&self) -> Option<bool> {
        Some(self.changed)
    }
}

impl Tool for ClickText {
    type Args = ClickTextArgs;
    type Out = TextClicked;
    const META: Meta = Meta {
        name: "click_text",
        group: Group::Pointer,
        lean: true,
        effect: Effect::Input,
        untrusted: true,
        rest: &[(Method::Post, "/api/click_text")],
        brief: "Click text found by OCR, where there is no element.",
        detail: "Reads like ocr_find and clicks the middle of the match: of several the first that is the \
                 whole word in the same case, else the first. No match is an error with the eight most \
                 similar texts; so is an exact text that occurs several times, unless `nth` or `occurrence` \
                 (first, best, nth) chooses one. The pointer goes to the pixels, whether or not the window \
                 has elements; `target` has the element under the point. If the pixels there have changed \
                 since they were read, or another window covers them, nothing is clicked. `changed` compares \
                 the elements of the window before and after; where it has none, its pixels.",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"text":"Edit","match":"exact","window_index":0}"#,
                shows: "a click on a menu",
            },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"text":"login","match":"exact","region":{"x":190,"y":270,"width":200,"height":60},"dry_run":true}"#,
                shows: "where a click would go",
            },
        ],
        implies: &["click_at"],
        verify: &["ok", "error.code", "found.text", "changed"],
        input: Some(RecordedInput::new(InputKind::Click, InputAim::Element)),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &ClickTextArgs) -> Result<Vec<Target>> {
        // Reading takes long: at the second look what was read first counts, as long as it looks the same.
        let spotted = match cx.spotted.take() {
            Some(spotted) => spotted,
            None => args.find_spot(cx)?,
        };
        let at = spotted.piece.bounds.center();
        cx.observer().check_reachable(at)?;
        refuse_covered(cx, &spotted.scene, at)?;
        let targets = targets_under(cx, at, &spotted.piece)?;
        cx.spotted.replace(Some(spotted));
        Ok(targets)
    }

    fn run(cx: &mut Cx, args: ClickTextArgs, mut permit: Permit) -> Result<TextClicked> {
        let began = cx.clock().now();
        let spotted = cx.spotted.take().ok_or_else(|| Error::internal("no text was read for this click"))?;
        if let OcrScene::Window { chosen, .. } = &spotted.scene {
            cx.warning = chosen.warning.clone();
        }
        refuse_changed(cx, &spotted)?;
        let several = spotted.count > 1;
        let target = permit.target().and_then(Target::element).cloned();
        let mut receipt = TextClicked {
            action: "click_text",
            dry_run: permit.dry_run(),
            nth: several.then_some(spotted.number),
            of: several.then_some(spotted.count),
            target: target
                .as_ref()
                .map(|target| TargetOut::of(cx, &saying(target, &spotted.piece)))
                .transpose()?,
            found: PieceOut::from(spotted.piece.clone()),
            changed: false,
            new_dialogs: Vec::new(),
            duration_ms: 0,
            note: None,
            scenario_reaction: false,
        };
        let before = BeforeInput { desktop: cx.desktop()?, generation: cx.observer().generation()? };
        let act = Act::Click {
            element: None,
            at: Some(spotted.piece.bounds.center()),
            button: args.button.unwrap_or_default(),
            count: u32::try_from(args.count.map_or(1, Int::get)).unwrap_or(1),
            modifiers: Vec::new(),
        };
        let done = cx.observer().send_input(&mut permit, &act, cx.cancel)?;
        if !permit.dry_run() {
            let sent = ClickSent { before, settling: InputSettling::of(&done) };
            let changes = sent.changes(cx, target.as_ref(), &spotted);
            (receipt.changed, receipt.new_dialogs) = seen_after(cx, changes)?.unwrap_or_default();
        }
        receipt.note = done.note;
        receipt.scenario_reaction = done.reacted;
        receipt.duration_ms = millis(cx.clock().now().saturating_sub(began));
        Ok(receipt)
    }
}

/// The element that the pointer would reach, whatever protected one it could reach instead, and the text by itself: it
/// may be painted on something that has no name. Where the desktop does not
/// tell what is where, that is nobody's loss unless somebody has to judge it.
fn targets_under(cx: &Cx, at: Point, read: &TextPiece) -> Result<Vec<Target>> {
    let target = match cx.target_at(at) {
        Ok(Some(target)) => target,
        Ok(None) => return Ok(Vec::new()),
        Err(error) if error.kind == Kind::PlatformUnsupported && !cx.judged => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let read = cx.judged_by_names(Target::ScreenText, [read.text.as_str(), read.line.as_str()].into_iter());
    Ok(cx.judged_with(target, Some(at)).into_iter().chain(read).collect())
}

/// The element that the text was read on: of those under the point the one that says it, where one does. Which of them
/// lies over the others, an application does not always tell.
fn saying(target: &ElementTarget, read: &TextPiece) -> ElementTarget {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let sought = words(&read.text);
    let says = |&node: &usize| words(&target.view.tree()[node].name).contains(&sought);
    let under = target.view.elements_at(read.bounds.center());
    match std::iter::once(target.node).chain(under).find(says) {
        Some(node) if node != target.node => {
            ElementTarget::new(target.chosen.clone(), target.view.clone(), node, None)
        }
        _ => target.clone(),
    }
}

/// What was read in a window has to be what the pointer hits. Reading takes long, so that the look before the click
/// begins here, and is not the one in which the window was chosen: what lies over the text now is what counts.
fn refuse_covered(cx: &Cx, scene: &OcrScene, at: Point) -> Result<()> {
    let OcrScene::Window { chosen, .. } = scene else {
        return Ok(());
    };
    match cx.observer().window_at(&cx.desktop()?, at)? {
        Some(hit) if hit.window.uid != chosen.window.uid => Err(Error::new(
            Kind::WindowOccluded,
            "another window covers the text; bring the window to the front",
        )
        .with("window_uid", chosen.window.uid.as_str())
        .with("covered_by", hit.window.uid)),
        _ => Ok(()),
    }
}

fn refuse_changed(cx: &Cx, spotted: &Spotted) -> Result<()> {
    let Rect { x, y, width, height } = spotted.piece.bounds;
    let place = Rect::new(x - MARGIN, y - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN);
    if cx.observer().still_looks_like(&spotted.scene, &spotted.seen, place)? {
        return Ok(());
    }
    Err(Error::new(
        Kind::ElementNotFound,
        "the screen there has changed since the text was read, so nothing was clicked; try again",
    )
    .with("bounds", spotted.piece.bounds))
}

/// A click that was sent, and what came of it.
struct ClickSent {
    before: BeforeInput,
    settling: InputSettling,
}

impl ClickSent {
    /// Whether something else is shown than before, by the elements, or by the pixels where there are none; and the
    /// windows that came.
    fn changes(
        &self,
        cx: &Cx,
        target: Option<&ElementTarget>,
        spotted: &Spotted,
    ) -> Result<(bool, Vec<Dialog>)> {
        if let Some(target) = target.filter(|target| target.view.tree().len() > 1) {
            let after = look_when_settled(cx, target, &self.before, self.settling)?;
            let changed = after.differs_from(target) || after.has_closed_one_of(&self.before.desktop);
            return Ok((changed, after.new_dialogs(cx, &self.before)));
        }
        cx.observer().await_calm(self.before.generation, self.settling.within, cx.cancel)?;
        let changed = pixels_changed(cx, spotted)?;
        Ok((changed, new_dialogs(self.before.desktop.windows(), cx.observer().windows()?)))
    }
}

fn pixels_changed(cx: &Cx, spotted: &Spotted) -> Result<bool> {
    match cx.observer().still_looks_like(&spotted.scene, &spotted.seen, spotted.seen.area()) {
        Ok(same) => Ok(!same),
        Err(error) if error.kind == Kind::WindowGone => Ok(true),
        Err(error) => Err(error),
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<OcrFind>(), Spec::of::<ClickText>()];
