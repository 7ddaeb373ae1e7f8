//! Arguments and results that several tools share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::model::{Point, Rect, Window};
use crate::observer::{Chosen, ElementChoice, WindowChoice};
use crate::platform::Shot;
use crate::session::Image;
use crate::tool::args::{Int, Pixel, Text};
use crate::tool::{Cx, Png};

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct WindowArgs {
    /// Default: focused window.
    pub window_uid: Option<Text<256>>,
    /// The uid wins.
    pub window_index: Option<Int<0, 65535>>,
    #[schemars(extend("x-hidden" = true))]
    pub window_title: Option<Text<512>>,
}

impl WindowArgs {
    pub fn choice(&self) -> WindowChoice {
        window_choice(&self.window_uid, self.window_index, &self.window_title)
    }
}

fn window_choice(
    uid: &Option<Text<256>>,
    index: Option<Int<0, 65535>>,
    title: &Option<Text<512>>,
) -> WindowChoice {
    WindowChoice {
        uid: uid.as_ref().map(|uid| uid.as_str().to_owned()),
        index: index.map(Int::size),
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
    pub fn choice(&self) -> ElementChoice {
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
    #[schemars(extend("x-hidden" = true))]
    pub window_index: Option<Int<0, 65535>>,
    #[schemars(extend("x-hidden" = true))]
    pub window_title: Option<Text<512>>,
}

impl QuietWindowArgs {
    pub fn choice(&self) -> WindowChoice {
        window_choice(&self.window_uid, self.window_index, &self.window_title)
    }
}

/// How much a caller wants to read at most. The gate reads it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "declared for the schema; the gate reads the value")]
pub struct FitArgs {
    /// Fit the reply into these.
    #[schemars(extend("x-fit" = true))]
    pub max_tokens: Option<Int<100, 1000000>>,
}

/// Switches that every input tool understands. The gate reads them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "declared for the schema; the gate reads the values")]
pub struct QuietInputArgs {
    #[schemars(extend("x-hidden" = true))]
    pub dry_run: Option<bool>,
    #[schemars(extend("x-hidden" = true))]
    pub confirm_token: Option<Text<64>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "declared for the schema; the gate reads the values")]
pub struct InputArgs {
    /// Check only, do nothing.
    pub dry_run: Option<bool>,
    /// Consent token.
    pub confirm_token: Option<Text<64>>,
}

/// A point, in whatever the caller counts.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PointArgs {
    /// Screen pixel.
    pub x: Pixel,
    /// Screen pixel.
    pub y: Pixel,
    #[serde(flatten)]
    pub space: SpaceArgs,
}

impl PointArgs {
    /// The pixel of the screen that is meant, now.
    pub fn on_screen(&self, cx: &Cx) -> Result<Point> {
        self.space.on_screen(cx, self.x, self.y)
    }
}

/// What the coordinates of a call count: pixels of the screen, of a picture, or units of a scaled desktop.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SpaceArgs {
    #[schemars(extend("x-hidden" = true))]
    pub coordinate_space: Option<Space>,
    #[schemars(extend("x-hidden" = true))]
    pub image_id: Option<Text<64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    Screen,
    Image,
    Logical,
}

impl SpaceArgs {
    /// The pixel of the screen that is meant, now. What has become uncertain is refused, never guessed.
    pub fn on_screen(&self, cx: &Cx, x: Pixel, y: Pixel) -> Result<Point> {
        let pixel = |number: Pixel| i32::try_from(number.get()).unwrap_or(0);
        let given = Point { x: pixel(x), y: pixel(y) };
        match (self.coordinate_space, &self.image_id) {
            (None | Some(Space::Screen), None) => Ok(given),
            (None | Some(Space::Image), Some(id)) => image_point(cx, id.as_str(), given),
            (Some(Space::Logical), None) => logical_point(cx, given),
            (Some(Space::Image), None) => Err(Error::bad_request(
                "coordinate_space image needs the image_id that came with the picture",
            )
            .with("field", "image_id")),
            (Some(Space::Screen | Space::Logical), Some(_)) => {
                Err(Error::bad_request("an image_id goes with coordinate_space image")
                    .with("field", "coordinate_space"))
            }
        }
    }
}

fn image_point(cx: &Cx, id: &str, pixel: Point) -> Result<Point> {
    let Some(image) = cx.session().images.get(id, cx.clock().now()) else {
        return Err(Error::bad_request(format!("no picture '{id}' is known (any more); take a new one"))
            .with("field", "image_id"));
    };
    if image.screen.is_some() && image.screen != cx.observer().platform().screen()? {
        return Err(stale(id, "the screen has changed since"));
    }
    let Some(point) = image.on_screen(pixel) else {
        return Err(Error::bad_request(format!(
            "the pixel {},{} is not in the picture, which has {}x{} pixels",
            pixel.x, pixel.y, image.width, image.height
        ))
        .with("field", "x"));
    };
    if let Some((uid, bounds)) = &image.window {
        check_window_of_image(cx, id, uid, *bounds, point)?;
    }
    Ok(point)
}

/// The window must be where the picture showed it, and be what the pointer would hit there.
fn check_window_of_image(cx: &Cx, id: &str, uid: &str, bounds: Rect, point: Point) -> Result<()> {
    let same = WindowChoice { uid: Some(uid.to_owned()), ..WindowChoice::default() };
    if cx.observer().choose(&same)?.window.bounds != bounds {
        return Err(stale(id, "its window has moved or changed its size since"));
    }
    match cx.observer().window_at(point)? {
        Some(hit) if hit.window.uid != uid => Err(Error::new(
            Kind::WindowOccluded,
            "another window lies over that pixel of the picture; bring the pictured window to the front",
        )
        .with("window_uid", uid)
        .with("covered_by", hit.window.uid)),
        _ => Ok(()),
    }
}

fn stale(id: &str, reason: &str) -> Error {
    Error::bad_request(format!("the picture '{id}' is out of date: {reason}; take a new one"))
        .with("field", "image_id")
}

fn logical_point(cx: &Cx, point: Point) -> Result<Point> {
    let monitors = cx.observer().platform().monitors()?;
    let Some(monitor) = monitors.iter().find(|monitor| monitor.logical.contains(point)) else {
        return Err(Error::bad_request(format!(
            "no monitor that is known here has the logical point {},{}; get_monitors lists them",
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
    /// Pointer tools take pixels of this picture when they are given its id.
    pub image_id: String,
    /// Pixels of the picture for one of the screen.
    pub scale: f64,
}

/// Remembers how the pixels of a picture that leaves lead back to the screen.
pub fn remember_image(cx: &Cx, window: Option<&Chosen>, area: Rect, png: &Png) -> Result<ImageFacts> {
    let image = Image {
        area,
        width: png.width,
        height: png.height,
        window: window.map(|chosen| (chosen.window.uid.clone(), chosen.window.bounds)),
        screen: cx.observer().platform().screen()?,
    };
    let scale = image.scale();
    Ok(ImageFacts { image_id: cx.session().images.put(image, cx.clock().now()), scale })
}

/// A picture of what was named: the window, or without a word about it the whole screen.
pub fn take_picture(cx: &mut Cx, choice: &WindowChoice) -> Result<(Option<Chosen>, Shot)> {
    if choice.is_empty() {
        return Ok((None, cx.observer().screen_picture(cx.cancel)?));
    }
    let chosen = cx.observer().choose(choice)?;
    cx.warning = chosen.warning.clone();
    let shot = cx.observer().window_picture(&chosen, cx.cancel)?;
    Ok((Some(chosen), shot))
}

pub const FULL_SCREEN: &str = "(full screen)";

pub fn title_of(chosen: Option<&Chosen>) -> String {
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

pub fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A caller's regular expression: bounded, and an error when it is none.
pub fn regex(field: &'static str, pattern: &str) -> Result<regex::Regex> {
    crate::config::limits::compile_pattern(pattern).map_err(|problem| regex_error(field, &problem))
}

pub fn regex_error(field: &'static str, problem: &str) -> Error {
    Error::bad_request(format!("argument '{field}': {problem}")).with("field", field)
}
