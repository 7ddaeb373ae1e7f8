//! Windows and monitors as every platform reports them.

use super::{Point, Rect};

#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    pub uid: String,
    pub handle: String,
    pub title: String,
    pub process: String,
    pub pid: u32,
    pub bounds: Rect,
    pub focused: bool,
    pub minimized: bool,
    /// The address of the page that it shows; of a browser's tabs and their dialogs alone.
    pub url: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    pub primary: bool,
    pub scale_factor: f64,
    pub logical: Rect,
    pub physical: Rect,
}

impl Monitor {
    /// One whose pixels are known, and how many of them a unit of its desktop has.
    pub fn scaled(physical: Rect, primary: bool, scale_factor: f64) -> Self {
        let shrink = |pixels: i32| (f64::from(pixels) / scale_factor).round() as i32;
        let logical = Rect::new(
            shrink(physical.x),
            shrink(physical.y),
            shrink(physical.width),
            shrink(physical.height),
        );
        Self { primary, scale_factor, logical, physical }
    }
}

/// What can be done to a window as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowChange {
    /// In front of the others, without asking for the keyboard.
    Raise,
    /// Back from minimized or, when it is not, from maximized.
    Restore,
    Minimize,
    Maximize,
    /// Its upper left corner, as `Window::bounds` tells it.
    Move(Point),
    /// Its size, as `Window::bounds` tells it.
    Resize {
        width: i32,
        height: i32,
    },
    /// By asking it politely; it may ask back.
    Close,
}

/// How a window is after a change was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowState {
    pub bounds: Rect,
    pub focused: bool,
    pub minimized: bool,
    pub maximized: bool,
}

/// What became of a change: the state that was seen, not the one that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Whether it is as asked.
    pub done: bool,
    /// `None` when the window is gone.
    pub state: Option<WindowState>,
    /// What kept it from being done.
    pub note: Option<String>,
}
