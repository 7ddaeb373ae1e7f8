//! A second look, taken while an input is under way: after the pointer has moved, and before each press, release, further
//! click and turn of the wheel. Whoever sends the input says who looks; where no rule judges, nobody does.

use crate::error::Result;
use crate::model::Point;

/// What the pointer is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressKind {
    Button,
    Wheel,
}

/// Looks again at what the pointer would press.
pub trait PressGuard {
    /// Whether anybody judges. Where nobody does, an input goes its way in one piece.
    fn judges(&self) -> bool;

    /// Called with the pointer at the point. An error ends the input there, with everything let go.
    fn check_press(&self, at: Point, kind: PressKind) -> Result<()>;
}

/// Where no rule judges.
pub struct Unguarded;

impl PressGuard for Unguarded {
    fn judges(&self) -> bool {
        false
    }

    fn check_press(&self, _: Point, _: PressKind) -> Result<()> {
        Ok(())
    }
}
