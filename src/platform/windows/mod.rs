//! The Windows desktop: windows, pictures and input by its own functions, what is in windows by UI Automation.
//!
//! ```text
//!   adapter ── Windows, the platform: which part answers which question
//!     ├── desktop, foreground: windows, their order, monitors, changing them
//!     ├── capture: pictures
//!     ├── accessibility: what is in a window, on threads that may be left behind
//!     ├── input: keys and pointer; integrity: whether Windows lets them through
//!     ├── lease: one server at a time acts
//!     ├── clipboard, apps, launch, processes: the session around the windows
//!     ├── ocr: text out of pictures, by the engine that Windows has
//!     └── watch: a thread that rings the bell when windows change
//!  decode ── what all of these make of the answers: plain Rust, compiled and tested on every system
//! ```
//!
//! Whoever asks the system asks once, believes little, and hands plain records on; everything that can be wrong in a
//! way that a test would notice is in `decode`.

pub mod decode;
#[cfg(target_os = "windows")]
mod sys;

#[cfg(target_os = "windows")]
pub use sys::host;
