//! Pictures: cut, drawn on, compared, made larger and smaller, encoded. Rectangles are those of the whole program.
//!
//! A crate of its own, so that its loops over bytes are optimised in every build, however little the rest is. Knows
//! nothing of screens, elements or protocols.

pub mod draw;
pub mod encoding;
pub mod error;
pub mod geometry;
pub mod image;
pub mod pixel_buffer;
pub mod pixel_diff;
pub mod png_file;
pub mod similarity;
pub mod upscale;

pub use error::{PictureError, PictureFault};
pub use geometry::{Point, Rect};
