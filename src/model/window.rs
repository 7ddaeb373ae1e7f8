//! Windows and monitors as every platform reports them.

use super::Rect;

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
}

#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    pub primary: bool,
    pub scale_factor: f64,
    pub logical: Rect,
    pub physical: Rect,
}
