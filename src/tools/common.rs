//! Arguments and results that several tools share.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Kind, Result};
use crate::model::grid::{Cell, Offset};
use crate::model::input::Delivery;
use crate::model::{Point, Rect, Window};
use crate::observer::screenshots::{Image, PictureSpot, PictureSubject};
use crate::observer::{self, ElementChoice, Observation, ObserveRequest, ResolvedWindow, WindowChoice};
use crate::pattern::Pattern;
use crate::platform::Shot;
use crate::tool::Cx;
use crate::tool::args::{Fraction, Int, Pixel, Text, WindowIndex};

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct WindowArgs {
    /// Default: focused window.
    pub window_uid: Option<Text<256>>,
    /// The uid wins.
    pub window_index: Option<WindowIndex>,
    #[schemars(extend("x-hidden" = true))]
    pub window_title: Option<Text<512>>,
}

impl WindowArgs {
    pub fn window_choice(&self) -> WindowChoice {
        window_choice(&self.window_uid, self.window_index, &self.window_title)
    }
}

/// The window of a tool that guesses none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(transform = describe_required_window)]
pub struct NamedWindowArgs {
    #[serde(flatten)]
    pub window: WindowArgs,
}

/// Of a tool whose picture is of the whole screen where no window is named.
pub fn describe_screen_default(schema: &mut Schema) {
    describe_window_uid(schema, "Default: the whole screen.");
}

/// Of a tool that works on no window but a named one.
pub fn describe_required_window(schema: &mut Schema) {
    describe_window_uid(schema, "It or window_index is required.");
}

fn describe_window_uid(schema: &mut Schema, words: &str) {
    let property = schema.pointer_mut("/properties/window_uid").and_then(Value::as_object_mut);
    property.into_iter().for_each(|uid| drop(uid.insert("description".to_owned(), words.into())));
}

pub fn window_choice(
    uid: &Option<Text<256>>,
    index: Option<WindowIndex>,
    title: &Option<Text<512>>,
) -> WindowChoice {
    WindowChoice {
        uid: uid.as_ref().map(|uid| uid.as_str().to_owned()),
        index: index.map(WindowIndex::as_usize),
        title: title.as_ref().map(|title| title.as_str().to_owned()),
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ElementArgs {
    /// Like e17; knows its window.
    #[serde(rename = "ref")]
    pub reference: Option<Text<24>>,
    /// Or e.g. Window/Button[name="OK"].
    pub selector: Option<Text<2048>>,
    /// Or id in the tree.
    pub element_id: Option<Text<2048>>,
}

impl ElementArgs {
    pub fn element_choice(&self) -> ElementChoice {
        ElementChoice {
            reference: self.reference.as_ref().map(|text| text.as_str().to_owned()),
            selector: self.selector.as_ref().map(|text| text.as_str().to_owned()),
            element_id: self.element_id.as_ref().map(|text| text.as_str().to_owned()),
        }
    }
}

/// Like a window's, where it is seldom needed: a ref knows its own, and the uid says it best.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct QuietWindowArgs {
    /// Default: focused window.
    pub window_uid: Option<Text<256>>,
    /// The uid wins.
    #[schemars(extend("x-hidden" = "in full"))]
    pub window_index: Option<WindowIndex>,
    #[schemars(extend("x-hidden" = true))]
    pub window_title: Option<Text<512>>,
}

impl QuietWindowArgs {
    pub fn window_choice(&self) -> WindowChoice {
        window_choice(&self.window_uid, self.window_index, &self.window_title)
    }
}

/// What an input on an element may take.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DeliveryArgs {
    /// foreground: raise the window.
    pub delivery: Option<Delivery>,
}

/// A point, in whatever the caller counts.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PointArgs {
    /// Screen pixel.
    pub x: Option<Pixel>,
    /// Screen pixel.
    pub y: Option<Pixel>,
    #[serde(flatten)]
    pub space: SpaceArgs,
}

impl PointArgs {
    /// The pixel of the screen that is meant, now.
    pub fn on_screen(&self, cx: &Cx) -> Result<Point> {
        match self.space.on_screen(cx, self.x, self.y)? {
            Some(point) => Ok(point),
            None => {
                Err(Error::bad_request("argument 'x' is required, or image with row and col")
                    .with("field", "x"))
            }
        }
    }
}

/// What the coordinates of a call count: pixels of the screen, of a picture, cells of a picture's grid, or units
/// of a scaled desktop.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SpaceArgs {
    #[schemars(extend("x-hidden" = true))]
    pub coordinate_space: Option<Space>,
    #[schemars(extend("x-hidden" = true))]
    pub image: Option<Text<64>>,
    /// The older spelling.
    #[schemars(extend("x-hidden" = true))]
    pub image_id: Option<Text<64>>,
    #[schemars(extend("x-hidden" = true))]
    pub row: Option<CellNumber>,
    #[schemars(extend("x-hidden" = true))]
    pub col: Option<CellNumber>,
    #[schemars(extend("x-hidden" = true))]
    pub dx: Option<Fraction>,
    #[schemars(extend("x-hidden" = true))]
    pub dy: Option<Fraction>,
}

type CellNumber = Int<0, 9999>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    Screen,
    Image,
    Logical,
}

impl SpaceArgs {
    /// The pixel of the screen that is meant, now; nothing where no point is given. What has become uncertain is
    /// refused, never guessed.
    pub fn on_screen(&self, cx: &Cx, x: Option<Pixel>, y: Option<Pixel>) -> Result<Option<Point>> {
        let id = self.image_id()?;
        let Some(spot) = self.image_spot(x, y)? else {
            return match id {
                Some(_) => Err(argument_error("row", "an image needs row and col, or x and y in its pixels")),
                None => Ok(None),
            };
        };
        match (self.coordinate_space, id, spot) {
            (None | Some(Space::Image), Some(id), spot) => screen_point(cx, id, spot).map(Some),
            (_, None, PictureSpot::Cell(..)) => Err(argument_error(
                "image",
                "row and col need image: the image_id of a screenshot with a grid",
            )),
            (None | Some(Space::Screen), None, PictureSpot::Pixel(given)) => Ok(Some(given)),
            (Some(Space::Logical), None, PictureSpot::Pixel(given)) => logical_point(cx, given).map(Some),
            (Some(Space::Image), None, _) => {
                Err(argument_error("image_id", "coordinate_space image needs the image_id of the screenshot"))
            }
            (Some(Space::Screen | Space::Logical), Some(_), _) => {
                Err(argument_error("coordinate_space", "image_id needs coordinate_space image"))
            }
        }
    }

    /// The picture that is pointed at.
    pub fn image_id(&self) -> Result<Option<&str>> {
        match (&self.image, &self.image_id) {
            (Some(one), Some(other)) if one != other => {
                Err(argument_error("image", "image and image_id are the same argument; give one of them"))
            }
            (one, other) => Ok(one.as_ref().or(other.as_ref()).map(Text::as_str)),
        }
    }

    fn image_spot(&self, x: Option<Pixel>, y: Option<Pixel>) -> Result<Option<PictureSpot>> {
        let pixel = |number: Pixel| i32::try_from(number.get()).unwrap_or(0);
        let cell = |number: CellNumber| u32::try_from(number.get()).unwrap_or(u32::MAX);
        let offset = |number: Option<Fraction>| number.map_or(0.0, Fraction::get);
        match (x, y, self.row, self.col) {
            (None, None, Some(row), Some(col)) => Ok(Some(PictureSpot::Cell(
                Cell { row: cell(row), col: cell(col) },
                Offset { dx: offset(self.dx), dy: offset(self.dy) },
            ))),
            (_, _, Some(_), None) | (_, _, None, Some(_)) => {
                Err(argument_error("row", "give row and col together"))
            }
            (_, _, Some(_), Some(_)) => Err(argument_error("row", "give x and y, or row and col, not both")),
            (_, _, None, None) if self.dx.is_some() || self.dy.is_some() => Err(argument_error(
                "dx",
                "dx and dy are half cells from the middle of a cell; give row and col too",
            )),
            (Some(x), Some(y), None, None) => {
                Ok(Some(PictureSpot::Pixel(Point { x: pixel(x), y: pixel(y) })))
            }
            (None, None, None, None) => Ok(None),
            (Some(_), None, ..) => {
                Err(argument_error("y", "argument 'y' is required: give x and y together"))
            }
            (None, Some(_), ..) => {
                Err(argument_error("x", "argument 'x' is required: give x and y together"))
            }
        }
    }
}

fn argument_error(field: &'static str, message: &str) -> Error {
    Error::bad_request(message).with("field", field)
}

fn screen_point(cx: &Cx, id: &str, spot: PictureSpot) -> Result<Point> {
    cx.observer().resolve_spot(&cx.desktop()?, id, &known_image(cx, id)?, spot)
}

pub fn known_image(cx: &Cx, id: &str) -> Result<Image> {
    cx.session().images.get(id, cx.clock().now()).ok_or_else(|| {
        Error::bad_request(format!("no screenshot '{id}' is known; it may have expired, take a new one"))
            .with("field", "image_id")
    })
}

fn logical_point(cx: &Cx, point: Point) -> Result<Point> {
    let monitors = cx.observer().monitors()?;
    let Some(monitor) = monitors.iter().find(|monitor| monitor.logical.contains(point)) else {
        return Err(Error::bad_request(format!(
            "no monitor contains the logical point {},{}; get_monitors lists them",
            point.x, point.y
        ))
        .with("field", "coordinate_space"));
    };
    let scaled = |at: i32, logical: i32, physical: i32| {
        let offset = f64::from(at.saturating_sub(logical)) * monitor.scale_factor;
        physical.saturating_add(offset.round() as i32)
    };
    Ok(Point {
        x: scaled(point.x, monitor.logical.x, monitor.physical.x),
        y: scaled(point.y, monitor.logical.y, monitor.physical.y),
    })
}

/// What a picture is known by afterwards.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImageFacts {
    /// Pointer tools accept pixels of this screenshot if you give its id.
    pub image_id: String,
    /// Pixels of the screenshot for one of the screen.
    pub scale: f64,
}

/// Remembers how the pixels of a picture that leaves lead back to the screen.
pub fn remember_image(cx: &Cx, image: Image) -> ImageFacts {
    let scale = image.scale();
    ImageFacts { image_id: cx.session().images.store_image(image, cx.clock().now()), scale }
}

pub fn picture_subject(window: Option<&ResolvedWindow>) -> PictureSubject<'_> {
    window.map_or(PictureSubject::Screen, PictureSubject::Window)
}

/// A picture of what was named: the window, or without a word about it the whole screen.
pub fn take_picture(cx: &mut Cx, choice: &WindowChoice) -> Result<(Option<ResolvedWindow>, Shot)> {
    let (chosen, shot) = if choice.is_empty() {
        (None, cx.observer().screen_picture(cx.cancel)?)
    } else {
        let chosen = cx.observer().resolve_window(choice)?;
        cx.warning = chosen.warning.clone();
        let shot = cx.observer().window_picture(&chosen, cx.cancel)?;
        (Some(chosen), shot)
    };
    let withheld = cx.observer().note_on_withheld(&picture_subject(chosen.as_ref()), shot.area)?;
    withheld.into_iter().for_each(|note| warn_too(cx, note));
    Ok((chosen, shot))
}

/// Says something beside the result, and beside what was said before.
pub fn warn_too(cx: &mut Cx, warning: String) {
    cx.warning = Some(match cx.warning.take() {
        Some(other) => format!("{other}; {warning}"),
        None => warning,
    });
}

/// What was seen after an input that was sent. That nothing could be seen does not undo the input, so it is told beside
/// the result: who is told of a failure sends the input again.
pub fn seen_after<T>(cx: &mut Cx, seen: Result<T>) -> Result<Option<T>> {
    match seen {
        Ok(seen) => Ok(Some(seen)),
        Err(error) if error.kind == Kind::Cancelled => Err(error),
        Err(error) => {
            warn_too(
                cx,
                format!("the input was sent, but what came of it could not be seen: {}", error.message),
            );
            Ok(None)
        }
    }
}

pub const FULL_SCREEN: &str = "(full screen)";

pub fn title_of(chosen: Option<&ResolvedWindow>) -> String {
    chosen.map_or(FULL_SCREEN, |chosen| &chosen.window.title).to_owned()
}

/// A window as list_windows shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WindowOut {
    pub index: usize,
    pub handle: String,
    pub title: String,
    pub process: String,
    pub pid: u32,
    pub bounds: Rect,
    pub focused: bool,
    pub window_uid: String,
    /// The address of the page that a tab of a browser shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl WindowOut {
    pub fn new(index: usize, window: Window) -> Self {
        Self {
            index,
            handle: window.handle,
            title: window.title,
            process: window.process,
            pid: window.pid,
            bounds: window.bounds,
            focused: window.focused,
            window_uid: window.uid,
            url: window.url,
        }
    }
}

/// A window that was not there before an action.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Dialog {
    pub window_uid: String,
    pub title: String,
}

/// The windows of `after` whose uid is not among `before`.
pub fn new_dialogs(before: &[Window], after: Vec<Window>) -> Vec<Dialog> {
    after
        .into_iter()
        .filter(|window| !before.iter().any(|old| old.uid == window.uid))
        .map(|window| Dialog { window_uid: window.uid, title: window.title })
        .collect()
}

/// Whether a window that was there before an input, without the focus, has it now.
pub fn is_another_in_front(before: &[Window], after: &[Window]) -> bool {
    let Some(now) = after.iter().find(|window| window.focused) else { return false };
    before.iter().any(|old| old.uid == now.uid && !old.focused)
}

pub use crate::clock::millis;

/// A caller's regular expression: bounded, and an error when it is none.
pub fn parse_regex(field: &'static str, pattern: &str) -> Result<Pattern> {
    Pattern::compile(pattern).map_err(|problem| regex_error(field, &problem))
}

pub fn regex_error(field: &'static str, problem: &str) -> Error {
    Error::bad_request(format!("argument '{field}': {problem}")).with("field", field)
}

/// A look at a window that is compared with what this session was shown before.
pub fn observe(cx: &Cx, chosen: &ResolvedWindow, request: &ObserveRequest) -> Result<Observation> {
    let (trees, limits) = (&cx.session().trees, &cx.config().tree);
    observer::observe_window(cx.observer(), trees, limits, chosen, request, cx.cancel)
}
