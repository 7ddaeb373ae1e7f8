//! A build without the feature `ocr`: there is no engine, and nothing of the system is linked.

pub const COMPILED_IN: bool = false;

/// Cannot be made.
pub enum Engine {}

impl Engine {
    pub fn start() -> Result<Self, String> {
        Err("this build has no OCR engine of its own (the cargo feature `ocr`)".to_owned())
    }

    pub fn version(&self) -> String {
        match *self {}
    }

    pub fn table(
        self,
        _grey: &[u8],
        _size: (i32, i32),
        _segmentation: u32,
    ) -> Result<(Self, String), String> {
        match self {}
    }
}
