//! The recognition that the operating system has itself, where there is no tesseract.

use std::sync::Arc;

use super::preprocess::GreyPage;
use super::{OcrEngine, Options, Waiting, Word};
use crate::error::Result;
use crate::platform::{Grey, Recognizer, recognizer};

struct System(Box<dyn Recognizer>);

/// `None` where the system has none.
pub fn start() -> Option<Result<Arc<dyn OcrEngine>>> {
    Some(recognizer()?.map(|engine| Arc::new(System(engine)) as Arc<dyn OcrEngine>))
}

impl OcrEngine for System {
    fn describe(&self) -> String {
        self.0.describe()
    }

    /// It finds lines and words by itself: tesseract's ways to take a page apart mean nothing to it.
    fn read_words(&self, page: &GreyPage, _: Options, waiting: &Waiting) -> Result<Vec<Word>> {
        self.0.words(Grey { levels: &page.grey, width: page.width, height: page.height }, waiting)
    }
}
