//! Text out of pictures by the engine that Windows has (Windows.Media.Ocr), in the languages of the user's profile.
//!
//! It runs inside of Windows and needs no program of its own; it is asked on a thread that is given up when it hangs.
#![allow(unsafe_code, reason = "a thread sets its COM apartment by a C function")]

use windows::Graphics::Imaging::{BitmapPixelFormat, SoftwareBitmap};
use windows::Media::Ocr::{OcrEngine, OcrResult};
use windows::Storage::Streams::DataWriter;
use windows::Win32::System::WinRT::{RO_INIT_MULTITHREADED, RoInitialize};

use super::decode::ocr::{RawWord, USUAL_LIMIT, grown, shrunk, shrunk_by, words};
use super::decode::worker::Worker;
use crate::clock::{Cancel, Waiting};
use crate::error::{Error, Kind, Result};
use crate::model::Word;
use crate::platform::{Grey, Recognizer};

pub struct Engine {
    worker: Worker<OcrEngine>,
    language: String,
}

const STARTING: std::time::Duration = std::time::Duration::from_secs(10);

impl Engine {
    pub fn start() -> Result<Self> {
        let worker = Worker::new("reading", make);
        let language =
            worker.run("starting Windows' text recognition", STARTING, &Cancel::new(), |engine| {
                let tag = engine.RecognizerLanguage().and_then(|language| language.LanguageTag());
                Ok(tag.map(|tag| tag.to_string()).unwrap_or_default())
            })?;
        Ok(Self { worker, language })
    }
}

impl Recognizer for Engine {
    fn describe(&self) -> String {
        format!("Windows.Media.Ocr ({})", self.language)
    }

    fn words(&self, page: Grey<'_>, waiting: &Waiting) -> Result<Vec<Word>> {
        let limit = OcrEngine::MaxImageDimension().unwrap_or(USUAL_LIMIT);
        let by = shrunk_by(page.width, page.height, limit);
        let (grey, width, height) = shrunk(page.levels, page.width, page.height, by);
        let (left, cancel) = waiting.left()?;
        let lines =
            self.worker.run("reading with Windows' text recognition", left, &cancel, move |engine| {
                read(engine, &grey, width, height).map_err(failed)
            })?;
        let mut found = words(&lines);
        for word in &mut found {
            word.bbox = grown(word.bbox, by);
        }
        Ok(found)
    }
}

fn make() -> Result<OcrEngine> {
    // SAFETY: the thread is new, and nothing else has said how it wants to be called.
    unsafe { RoInitialize(RO_INIT_MULTITHREADED) }.map_err(missing)?;
    OcrEngine::TryCreateFromUserProfileLanguages().map_err(missing)
}

fn missing(problem: windows::core::Error) -> Error {
    let message = format!(
        "Windows' text recognition is not available ({problem}); add a language with 'Optical character \
         recognition' in Settings, Time & language"
    );
    Error::new(Kind::PlatformUnsupported, message)
}

fn failed(problem: windows::core::Error) -> Error {
    Error::internal(format!("Windows' text recognition failed: {problem}"))
}

fn read(
    engine: &OcrEngine,
    grey: &[u8],
    width: u32,
    height: u32,
) -> windows::core::Result<Vec<Vec<RawWord>>> {
    let writer = DataWriter::new()?;
    writer.WriteBytes(grey)?;
    let buffer = writer.DetachBuffer()?;
    let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let bitmap =
        SoftwareBitmap::CreateCopyFromBuffer(&buffer, BitmapPixelFormat::Gray8, side(width), side(height))?;
    lines(&engine.RecognizeAsync(&bitmap)?.join()?)
}

fn lines(result: &OcrResult) -> windows::core::Result<Vec<Vec<RawWord>>> {
    let mut lines = Vec::new();
    for line in result.Lines()? {
        let mut words = Vec::new();
        for word in line.Words()? {
            let place = word.BoundingRect()?;
            words.push(RawWord {
                text: word.Text()?.to_string(),
                x: place.X,
                y: place.Y,
                width: place.Width,
                height: place.Height,
            });
        }
        lines.push(words);
    }
    Ok(lines)
}
