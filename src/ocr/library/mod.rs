//! The engine of the worker process: libtesseract, which is loaded at run time where the machine has it. A build with
//! the feature `ocr` is linked to it by the crate `tesseract` instead. Two files with one interface, so that nobody
//! else asks which build this is. Only the worker process uses it: see `worker`.

#[cfg(feature = "ocr")]
mod linked;
#[cfg(feature = "ocr")]
pub use linked::{Engine, LINKED};

#[cfg(not(feature = "ocr"))]
mod loaded;
#[cfg(not(feature = "ocr"))]
pub use loaded::{Engine, LINKED};
