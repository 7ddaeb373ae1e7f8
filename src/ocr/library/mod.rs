//! The `tesseract` crate, in builds with the feature `ocr`. Two files with one interface, so that nobody
//! else asks which build this is. Only the worker process uses it: see `worker`.

#[cfg(feature = "ocr")]
mod enabled;
#[cfg(feature = "ocr")]
pub use enabled::{COMPILED_IN, Engine};

#[cfg(not(feature = "ocr"))]
mod disabled;
#[cfg(not(feature = "ocr"))]
pub use disabled::{COMPILED_IN, Engine};
