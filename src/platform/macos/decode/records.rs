//! What the system answers, as it answers it: the shape of the records that tests have recorded or written by hand.

use serde::Deserialize;

/// A place and a size in points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct RawRect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// An entry of `CGWindowListCopyWindowInfo`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RawWindow {
    /// `kCGWindowNumber`
    pub id: u32,
    pub pid: i32,
    pub owner: String,
    /// Missing without the permission to record the screen.
    pub title: Option<String>,
    pub layer: i32,
    pub alpha: f64,
    pub bounds: RawRect,
    pub on_screen: bool,
}

/// A window as its application tells of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RawAxWindow {
    pub key: u64,
    pub title: String,
    pub bounds: Option<RawRect>,
    pub minimized: bool,
}

/// The windows of one application; `None` where it did not tell.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RawApp {
    pub pid: i32,
    pub windows: Option<Vec<RawAxWindow>>,
    /// The key of the window that has its keyboard.
    pub focused: Option<u64>,
    /// It did not answer within its time.
    pub silent: bool,
}

/// One look at all windows.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RawLook {
    /// Those on the screen from the front to the back, then the others.
    pub windows: Vec<RawWindow>,
    pub apps: Vec<RawApp>,
    /// The application that the keys go to.
    pub front: Option<i32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
pub struct RawDisplay {
    pub bounds: RawRect,
    pub pixels_wide: u64,
    pub main: bool,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum RawValue {
    Flag(bool),
    Number(f64),
    Text(String),
}

/// What one call tells of an element: every attribute that it has of those that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RawElement {
    pub role: String,
    pub subrole: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub help: Option<String>,
    pub placeholder: Option<String>,
    pub identifier: Option<String>,
    pub value: Option<RawValue>,
    /// How many characters the whole value has, in units of UTF-16: only its beginning may be here.
    pub characters: Option<usize>,
    pub enabled: Option<bool>,
    pub focused: Option<bool>,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    pub disclosing: Option<bool>,
    pub hidden: Option<bool>,
    pub bounds: Option<RawRect>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// The letter of a menu item's shortcut, and the bits of the keys that are held for it.
    pub command_key: Option<String>,
    pub command_modifiers: Option<i64>,
    /// The element that is its label.
    pub titled_by: Option<u64>,
    /// Whether its value can be set; asked of texts alone.
    pub settable: Option<bool>,
    pub children: Vec<u64>,
}

impl RawElement {
    pub fn number(&self) -> Option<f64> {
        match &self.value {
            Some(RawValue::Number(number)) => Some(*number).filter(|number| number.is_finite()),
            Some(RawValue::Flag(flag)) => Some(f64::from(u8::from(*flag))),
            Some(RawValue::Text(text)) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
            None => None,
        }
    }

    pub fn text(&self) -> Option<String> {
        match &self.value {
            Some(RawValue::Text(text)) => Some(text.clone()),
            Some(RawValue::Number(number)) => Some(number.to_string()),
            Some(RawValue::Flag(_)) | None => None,
        }
    }
}
