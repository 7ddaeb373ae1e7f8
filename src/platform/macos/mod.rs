//! The macOS desktop: windows by CoreGraphics, what is in them by the AX functions, pictures by ScreenCaptureKit, pointer
//! and keys by CoreGraphics again.
//!
//! ```text
//!   adapter ── Mac, the platform: which part answers which question
//!     ├── desktop: windows, their order, monitors, changing them
//!     ├── accessibility, foundation: elements, asked one call a node; the values that they answer with
//!     ├── input, layout: pointer and keys, and what the keys write
//!     ├── capture, screenshots: pictures
//!     ├── apps, launch, clipboard, permissions: the session around the windows
//!     ├── ocr: text out of pictures, by Vision
//!     └── watch: a thread that rings the bell when elements change
//!  decode ── what all of these make of the answers: plain Rust, compiled and tested on every system
//! ```
//!
//! Whoever asks the system asks once and hands plain records on; everything that can be wrong in a way that a test would
//! notice is in `decode`. All places count in points from the upper left corner of the main monitor, as pointers do.

pub mod decode;
#[cfg(target_os = "macos")]
mod sys;

#[cfg(target_os = "macos")]
pub use sys::host;
