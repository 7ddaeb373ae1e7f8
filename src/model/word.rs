//! A word that was read out of a picture.

use super::Rect;

/// What a recognised word is, and where it stands on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub text: String,
    /// 0 to 100.
    pub confidence: f32,
    /// In pixels of the picture that was read.
    pub bbox: Rect,
    pub block: u32,
    pub paragraph: u32,
    pub line: u32,
}

impl Word {
    /// Words with the same key stand in one line.
    pub const fn line_key(&self) -> (u32, u32, u32) {
        (self.block, self.paragraph, self.line)
    }
}
