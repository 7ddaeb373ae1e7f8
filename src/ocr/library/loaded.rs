//! The engine of the usual build: the system's libtesseract, loaded once and used for picture after picture.

use crate::platform::Grey;
use crate::platform::tesseract::{EngineError, TesseractEngine};

pub const LINKED: bool = false;

pub struct Engine(TesseractEngine);

/// The highest of tesseract's page segmentation modes.
const LAST_SEGMENTATION: u32 = 13;

impl Engine {
    pub fn start() -> Result<Self, EngineError> {
        TesseractEngine::start(c"eng").map(Engine)
    }

    pub fn version(&self) -> String {
        format!("tesseract {} (library {}, loaded at run time)", self.0.version(), self.0.library())
    }

    /// What it recognises in a grey picture, as tesseract's table. A failure costs the engine.
    pub fn table(mut self, page: Grey<'_>, segmentation: u32) -> Result<(Self, String), String> {
        if segmentation > LAST_SEGMENTATION {
            return Err(format!("there is no page segmentation mode {segmentation}"));
        }
        let table = self.0.recognize(page, segmentation)?;
        Ok((self, table))
    }
}
