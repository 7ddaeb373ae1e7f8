//! The recognition that the operating system has itself, where there is no tesseract.

use std::sync::Arc;

use super::page::Page;
use super::{Options, Reader, Waiting, Word};
use crate::error::Result;
use crate::platform::{Grey, Recognizer, recognizer};

struct System(Box<dyn Recognizer>);

/// `None` where the system has none.
pub fn start() -> Option<Result<Arc<dyn Reader>>> {
    Some(recognizer()?.map(|engine| Arc::new(System(engine)) as Arc<dyn Reader>))
}

impl Reader for System {
    fn describe(&self) -> String {
        self.0.describe()
    }

    /// It finds lines and words by itself: tesseract's ways to take a page apart mean nothing to it.
    fn words(&self, page: &Page, _: Options, waiting: &Waiting) -> Result<Vec<Word>> {
        self.0.words(Grey { levels: &page.grey, width: page.width, height: page.height }, waiting)
    }
}
