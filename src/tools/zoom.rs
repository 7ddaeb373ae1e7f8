//! A closer look at a part of the screen: its picture, and the words that can be read in it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{
    ImageFacts, WindowArgs, describe_required_window, describe_screen_default, picture_subject,
    remember_image, take_picture, title_of,
};
use crate::budget::pictures::PictureRoom;
use crate::config::limits::{self, PICTURE_WORK_BYTES};
use crate::error::{Error, Result};
use crate::model::image::Picture;
use crate::model::{Rect, Word, png_file};
use crate::observer::{ElementChoice, Readable, Ref, ResolvedWindow, WindowChoice};
use crate::tool::args::{Int, Pixel, Text};
use crate::tool::{Cx, Encoded, Example, Group, Meta, Method, Output, Permit, ReplyKind, Spec, Tool};

/// The part that is meant: an element, or a box.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct PartArgs {
    /// Only this element, like e17.
    #[serde(rename = "ref")]
    reference: Option<Text<24>>,
    /// Only this element.
    element_id: Option<Text<2048>>,
    /// Only this box of the window.
    bbox: Option<Bbox>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(super) struct Bbox {
    x: Pixel,
    y: Pixel,
    width: Int<1, 65535>,
    height: Int<1, 65535>,
}

impl Bbox {
    pub(super) fn to_rect(self) -> Rect {
        let pixel = |number: i64| i32::try_from(number).unwrap_or(0);
        Rect::new(pixel(self.x.get()), pixel(self.y.get()), pixel(self.width.get()), pixel(self.height.get()))
    }
}

impl PartArgs {
    /// The element that is meant, and the argument that names it.
    fn named_element(&self) -> Option<(&'static str, ElementChoice)> {
        let owned = |text: &str| Some(text.to_owned());
        match (&self.reference, &self.element_id) {
            (Some(text), _) => {
                Some(("ref", ElementChoice { reference: owned(text.as_str()), ..Default::default() }))
            }
            (None, Some(id)) => {
                Some(("element_id", ElementChoice { element_id: owned(id.as_str()), ..Default::default() }))
            }
            (None, None) => None,
        }
    }

    /// The window that is meant: a ref knows its own.
    fn named_window(&self, cx: &Cx, window: &WindowArgs) -> WindowChoice {
        let choice = window.window_choice();
        let reference = self.reference.as_ref().and_then(|text| Ref::parse(text.as_str()));
        match reference.and_then(|reference| cx.observer().refs().remembered(reference)) {
            Some(memory) if choice.is_empty() => {
                WindowChoice { uid: Some(memory.window_uid().to_owned()), ..choice }
            }
            _ => choice,
        }
    }

    /// The part in pixels of a picture of `area`, widened by `padding` and cut to the picture.
    fn part_of_picture(
        &self,
        cx: &mut Cx,
        chosen: Option<&ResolvedWindow>,
        picture: &Picture,
        area: Rect,
        padding: i32,
    ) -> Result<Rect> {
        let wanted = match (self.named_element(), self.bbox) {
            (Some((field, element)), bbox) => {
                if bbox.is_some() {
                    cx.warning = Some(format!("both {field} and bbox given; {field} used"));
                }
                let bounds = element_bounds(cx, chosen, &element)?;
                Rect { x: bounds.x.saturating_sub(area.x), y: bounds.y.saturating_sub(area.y), ..bounds }
            }
            (None, Some(bbox)) => bbox.to_rect(),
            (None, None) => return Ok(picture.area()),
        };
        let found =
            if wanted.is_empty() { None } else { widen_rect(wanted, padding).intersection(&picture.area()) };
        found.ok_or_else(|| {
            Error::bad_request(format!(
                "that area does not overlap the screenshot, which has {}x{} pixels",
                picture.width(),
                picture.height()
            ))
            .with("field", self.named_element().map_or("bbox", |(field, _)| field))
            .with("part", wanted)
        })
    }
}

fn widen_rect(area: Rect, by: i32) -> Rect {
    Rect {
        x: area.x.saturating_sub(by),
        y: area.y.saturating_sub(by),
        width: area.width.saturating_add(2 * by),
        height: area.height.saturating_add(2 * by),
    }
}

/// Without a window the element is one of the focused window, as everywhere.
fn element_bounds(cx: &Cx, chosen: Option<&ResolvedWindow>, element: &ElementChoice) -> Result<Rect> {
    cx.observer().require_places("to find an element in a screenshot; give a bbox in its pixels")?;
    let uid = chosen.map(|chosen| chosen.window.uid.clone());
    let window = WindowChoice { uid, ..WindowChoice::default() };
    Ok(cx.find_element(&cx.observer().desktop()?, &window, element)?.bounds())
}

pub struct GetScreenshotCropped;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = describe_screen_default)]
pub struct CropArgs {
    #[serde(flatten)]
    window: WindowArgs,
    #[serde(flatten)]
    part: PartArgs,
    /// Pixels around it.
    padding_px: Option<Int<0, 10000>>,
    /// Shrink to this width.
    max_width: Option<Int<1, 65535>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CroppedScreenshot {
    window: String,
    format: &'static str,
    encoding: &'static str,
    width: u32,
    height: u32,
    /// The part, relative to the window.
    source_bbox: Rect,
    /// The part, on the screen.
    screen_bbox: Rect,
    #[serde(flatten)]
    image: ImageFacts,
    #[serde(skip)]
    png: Option<Encoded>,
}

impl Output for CroppedScreenshot {
    fn take_picture(&mut self) -> Option<Encoded> {
        self.png.take()
    }
}

impl Tool for GetScreenshotCropped {
    type Args = CropArgs;
    type Out = CroppedScreenshot;
    const META: Meta = Meta {
        name: "get_screenshot_cropped",
        group: Group::Screen,
        reply: ReplyKind::Picture,
        implies: &["get_screenshot"],
        untrusted: true,
        rest: &[(Method::Get, "/api/screenshot/cropped")],
        brief: "Screenshot of one element or box of a window or the screen.",
        detail: "`bbox` and the reply's `source_bbox` are relative to the window (to the screen when no \
                 window is named), `screen_bbox` is where that is on the screen. The area is clipped to the \
                 window or screen; an area outside of it is an error. Pointer tools accept pixels of the \
                 screenshot if you give its `image_id`.",
        examples: &[Example {
            scenario: None,
            args: r#"{"window_index":0,"element_id":"root.0.1","padding_px":2}"#,
            shows: "one menu item with two pixels around it",
        }],
        verify: &["ok", "width", "height", "source_bbox"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: CropArgs, mut permit: Permit) -> Result<CroppedScreenshot> {
        permit.spend();
        let (chosen, shot) = take_picture(cx, &args.part.named_window(cx, &args.window))?;
        let padding = i32::try_from(args.padding_px.map_or(0, Int::get)).unwrap_or(0);
        let part = args.part.part_of_picture(cx, chosen.as_ref(), &shot.picture, shot.area, padding)?;
        let widest = args.max_width.and_then(|width| u32::try_from(width.get()).ok()).unwrap_or(u32::MAX);
        let picture = shot.picture.crop(part).shrink_to(widest);
        let png = Encoded::from_picture(&picture)?;
        let on_screen = Rect { x: part.x + shot.area.x, y: part.y + shot.area.y, ..part };
        Ok(CroppedScreenshot {
            window: title_of(chosen.as_ref()),
            format: "png",
            encoding: "base64",
            width: png.width,
            height: png.height,
            source_bbox: part,
            screen_bbox: on_screen,
            image: remember_image(
                cx,
                cx.observer().image_for(&picture_subject(chosen.as_ref()), on_screen, &picture)?,
            ),
            png: Some(png),
        })
    }
}

pub struct GetOcr;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = describe_required_window)]
pub struct OcrArgs {
    #[serde(flatten)]
    window: WindowArgs,
    #[serde(flatten)]
    part: PartArgs,
    /// Leave out words with less confidence; default `ocr.min_confidence` of the config.
    #[schemars(extend("x-hidden" = true))]
    min_confidence: Option<Int<0, 100>>,
    /// Read this PNG in base64 instead of a window.
    #[schemars(extend("x-hidden" = true))]
    image_b64: Option<Text<{ limits::HTTP_PICTURE_BODY_BYTES }>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Words {
    window: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_uid: Option<String>,
    words: Vec<WordOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WordOut {
    text: String,
    confidence: u8,
    bbox: Rect,
}

impl From<Word> for WordOut {
    fn from(word: Word) -> Self {
        Self { confidence: word.confidence.round() as u8, text: word.text, bbox: word.bbox }
    }
}

impl Output for Words {}

impl Tool for GetOcr {
    type Args = OcrArgs;
    type Out = Words;
    const META: Meta = Meta {
        name: "get_ocr",
        advise_instead: Some("look"),
        group: Group::Screen,
        untrusted: true,
        fits: true,
        rest: &[(Method::Get, "/api/ocr"), (Method::Post, "/api/ocr")],
        brief: "Words that OCR reads in a window, with confidence and box.",
        detail: "For windows that expose few elements. `bbox` is relative to the window; the words' boxes \
                 are relative to the area that was read. Secrets are blacked out before OCR. Needs \
                 tesseract: the error says how to install it. `image_b64` reads a PNG in base64 instead of a \
                 window.",
        examples: &[Example {
            scenario: None,
            args: r#"{"window_index":0,"bbox":{"x":0,"y":22,"width":400,"height":80}}"#,
            shows: "the first lines of a document",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: OcrArgs, _: Permit) -> Result<Words> {
        cx.observer().ocr().describe()?;
        let chosen = match &args.image_b64 {
            Some(_) => None,
            None => {
                let desktop = cx.observer().desktop()?;
                Some(cx.observer().choose_strictly(&desktop, &args.part.named_window(cx, &args.window))?)
            }
        };
        cx.warning = chosen.as_ref().and_then(|chosen| chosen.warning.clone());
        let _turn = match &chosen {
            Some(chosen) => Some(cx.observer().picture_turn(chosen.window.bounds, cx.cancel)?),
            // What callers send has a budget of its own.
            None => None,
        };
        let (readable, _room) = match (&chosen, &args.image_b64) {
            (Some(chosen), _) => (cx.observer().readable_picture(chosen, cx.cancel)?, None),
            (None, image) => {
                let text = image.as_ref().map_or("", Text::as_str);
                let (picture, room) = decode_given_picture(cx, text, &args)?;
                (Readable::from_caller(picture), Some(room))
            }
        };
        let part = args.part.part_of_picture(cx, chosen.as_ref(), readable.picture(), readable.area(), 0)?;
        let least = args.min_confidence.map_or(cx.config().ocr.min_confidence, |least| least.get() as f64);
        let is_whole = part == readable.picture().area();
        let readable = if is_whole { readable } else { readable.crop(part) };
        let words = cx.observer().read_words(&readable, least, cx.cancel)?;
        let (window, window_uid) = match chosen {
            Some(chosen) => (chosen.window.title, Some(chosen.window.uid)),
            None => ("(image)".to_owned(), None),
        };
        Ok(Words { window, window_uid, words: words.into_iter().map(WordOut::from).collect() })
    }
}

/// A picture that came with the call, and the room that it takes. The address form that browsers use is understood too.
fn decode_given_picture<'a>(cx: &Cx<'a>, text: &str, args: &OcrArgs) -> Result<(Picture, PictureRoom<'a>)> {
    let wrong = |problem: String| Error::bad_request(problem).with("field", "image_b64");
    if !args.window.window_choice().is_empty() || args.part.named_element().is_some() {
        return Err(wrong("image_b64 is read instead of a window: give no window and no element".to_owned()));
    }
    let bytes = given_bytes("image_b64", text)?;
    let png = given_png("image_b64", &bytes)?;
    let (pixels, meanwhile) = png.memory();
    // Reading takes several times what the picture takes, so one is read at a time.
    let room = cx.observer().picture_room((pixels + meanwhile).max(PICTURE_WORK_BYTES), cx.cancel)?;
    Ok((unpacked("image_b64", png)?, room))
}

/// A PNG in base64 that came as an argument: its bytes.
pub(super) fn given_bytes(field: &'static str, text: &str) -> Result<Vec<u8>> {
    let text = text.strip_prefix("data:image/png;base64,").unwrap_or(text).trim();
    BASE64_STANDARD
        .decode(text)
        .map_err(|problem| wrong_picture(field, &format!(" is not base64: {problem}")))
}

/// What the head of such a PNG tells; nothing is unpacked.
pub(super) fn given_png<'a>(field: &'static str, bytes: &'a [u8]) -> Result<png_file::Png<'a>> {
    png_file::Png::open(bytes).map_err(|problem| wrong_picture(field, &format!(": {}", problem.message)))
}

pub(super) fn unpacked(field: &'static str, png: png_file::Png) -> Result<Picture> {
    png.decode().map_err(|problem| wrong_picture(field, &format!(": {}", problem.message)))
}

fn wrong_picture(field: &'static str, problem: &str) -> Error {
    Error::bad_request(format!("{field}{problem}")).with("field", field)
}

pub const TOOLS: &[Spec] = &[Spec::of::<GetScreenshotCropped>(), Spec::of::<GetOcr>()];
