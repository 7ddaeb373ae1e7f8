//! Plain values that every room speaks: rectangles, windows, elements, trees, selectors.
//!
//! Nothing here does I/O, knows an operating system, or has heard of a protocol.

pub mod app;
pub mod diff;
pub mod element;
pub mod grid;
pub mod input;
pub mod input_kind;
pub mod named_key;
pub mod page;
mod picture_facts;
pub mod role;
pub mod selector;
pub mod tree;
pub mod visibility;
pub mod window;
pub mod word;

pub use element::{Element, Range};
pub use input::{Button, KeyCombo};
pub use input_kind::{InputAim, InputKind, InputText, RecordedInput};
pub use named_key::NamedKey;
pub use pixels::{
    Point, Rect, draw, encoding, geometry, image, pixel_buffer, pixel_diff, png_file, similarity, upscale,
};
pub use role::Role;
pub use selector::Selector;
pub use tree::{Tree, TreeBuilder};
pub use visibility::HiddenReason;
pub use window::{Monitor, Reached, Window, WindowChange, WindowState};
pub use word::Word;

/// For counts that are left out of an answer when there is nothing to count.
pub fn is_zero(count: &usize) -> bool {
    *count == 0
}
