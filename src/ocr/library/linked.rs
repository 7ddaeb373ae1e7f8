//! The engine of a build with the feature `ocr`: linked at build time, used for picture after picture. The whole program
//! then needs the library to start, and pays for it in every process.

use crate::platform::Grey;
use crate::platform::tesseract::EngineError;
use tesseract::{PageSegMode, Tesseract};

pub const LINKED: bool = true;

pub struct Engine(Tesseract);

/// In the order of tesseract's numbers.
const SEGMENTATIONS: [PageSegMode; 14] = [
    PageSegMode::PsmOsdOnly,
    PageSegMode::PsmAutoOsd,
    PageSegMode::PsmAutoOnly,
    PageSegMode::PsmAuto,
    PageSegMode::PsmSingleColumn,
    PageSegMode::PsmSingleBlockVertText,
    PageSegMode::PsmSingleBlock,
    PageSegMode::PsmSingleLine,
    PageSegMode::PsmSingleWord,
    PageSegMode::PsmCircleWord,
    PageSegMode::PsmSingleChar,
    PageSegMode::PsmSparseText,
    PageSegMode::PsmSparseTextOsd,
    PageSegMode::PsmRawLine,
];

impl Engine {
    pub fn start() -> Result<Self, EngineError> {
        Tesseract::new(None, Some("eng")).map(Engine).map_err(|problem| {
            EngineError::Failed(format!(
                "libtesseract cannot start ({problem}); is its English language data installed?"
            ))
        })
    }

    pub fn version(&self) -> String {
        format!(
            "tesseract {} (library, linked at build time)",
            tesseract::plumbing::version().to_string_lossy()
        )
    }

    /// What it recognises in a grey picture, as tesseract's table. A failure costs the engine.
    pub fn table(self, page: Grey<'_>, segmentation: u32) -> Result<(Self, String), String> {
        let mode = usize::try_from(segmentation).ok().and_then(|number| SEGMENTATIONS.get(number));
        let mode = *mode.ok_or_else(|| format!("there is no page segmentation mode {segmentation}"))?;
        let mut engine = self.0;
        engine.set_page_seg_mode(mode);
        let number = |value: u32| i32::try_from(value).map_err(|problem| problem.to_string());
        let (width, height) = (number(page.width)?, number(page.height)?);
        let mut engine =
            engine.set_frame(page.levels, width, height, 1, width).map_err(|problem| problem.to_string())?;
        let table = engine.get_tsv_text(0).map_err(|problem| problem.to_string())?;
        Ok((Engine(engine), table))
    }
}
