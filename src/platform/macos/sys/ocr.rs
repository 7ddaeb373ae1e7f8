//! Text out of pictures, by Vision, which every Mac has.
#![allow(unsafe_code, reason = "a message that the bindings do not have")]

use std::sync::mpsc::channel;

use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::NSObjectProtocol;
use objc2::{AnyThread, msg_send, sel};
use objc2_foundation::{NSArray, NSData, NSDictionary, NSError, NSRange};
use objc2_vision::{
    VNImageRequestHandler, VNRecognizeTextRequest, VNRecognizedText, VNRecognizedTextObservation,
    VNRectangleObservation, VNRequest, VNRequestTextRecognitionLevel,
};

use super::decode::ocr::{Part, RawLine, words, words_in};
use crate::clock::Waiting;
use crate::error::{Error, Result};
use crate::model::Word;
use crate::model::image::Picture;
use crate::platform::{Grey, Recognizer};

pub struct Engine;

impl Engine {
    pub fn start() -> Result<Self> {
        Ok(Self)
    }
}

impl Recognizer for Engine {
    fn describe(&self) -> String {
        "Vision of macOS".to_owned()
    }

    /// On a thread of its own, which is left behind when the time is over: Vision cannot be stopped.
    fn words(&self, page: Grey<'_>, waiting: &Waiting) -> Result<Vec<Word>> {
        let (width, height) = (page.width, page.height);
        let png = png(page)?;
        let (tell, answer) = channel();
        let reader = std::thread::Builder::new().name("vision".to_owned());
        let problem =
            |problem: std::io::Error| Error::internal(format!("cannot start the Vision thread: {problem}"));
        reader.spawn(move || tell.send(autoreleasepool(|_| lines(&png)))).map_err(problem)?;
        let lines = waiting.receive(&answer, "for Vision")?;
        let lines =
            lines.unwrap_or_else(|| Err(Error::internal("Vision ended while it was reading the image")))?;
        Ok(words(lines, width, height))
    }
}

fn png(page: Grey<'_>) -> Result<Vec<u8>> {
    let rgba = page.levels.iter().flat_map(|&level| [level, level, level, 255]).collect();
    Ok(Picture::from_rgba(page.width, page.height, rgba)?.to_png()?)
}

fn lines(png: &[u8]) -> Result<Vec<RawLine>> {
    let request = VNRecognizeTextRequest::new();
    request.setRecognitionLevel(VNRequestTextRecognitionLevel::Accurate);
    // Labels and numbers are no sentences.
    request.setUsesLanguageCorrection(false);
    // Without it Vision reads English; systems before macOS 13 do not know it.
    if request.respondsToSelector(sel!(setAutomaticallyDetectsLanguage:)) {
        request.setAutomaticallyDetectsLanguage(true);
    }
    let data = NSData::with_bytes(png);
    let handler = VNImageRequestHandler::initWithData_options(
        VNImageRequestHandler::alloc(),
        &data,
        &NSDictionary::new(),
    );
    let base: &VNRequest = &request;
    let requests = NSArray::from_slice(&[base]);
    handler.performRequests_error(&requests).map_err(|error| failed(&error))?;
    let found = request.results().map(|found| found.to_vec()).unwrap_or_default();
    Ok(found.iter().filter_map(|observation| line(observation)).collect())
}

fn failed(error: &NSError) -> Error {
    Error::internal(format!("Vision failed: {}", error.localizedDescription()))
}

fn line(observation: &VNRecognizedTextObservation) -> Option<RawLine> {
    let best = observation.topCandidates(1).to_vec().into_iter().next()?;
    let text = best.string().to_string();
    let words = words_in(&text).into_iter().map(|(_, range)| part_of(&best, range)).collect();
    // SAFETY: a question to an object that is alive.
    let place = unsafe { observation.boundingBox() };
    Some(RawLine { confidence: best.confidence(), part: part(place), words, text })
}

fn part(place: objc2_foundation::NSRect) -> Part {
    Part { x: place.origin.x, y: place.origin.y, width: place.size.width, height: place.size.height }
}

fn part_of(text: &VNRecognizedText, range: std::ops::Range<usize>) -> Option<Part> {
    let range = NSRange::new(range.start, range.len());
    // SAFETY: the message is `boundingBoxForRange:error:` of VNRecognizedText with these types; the range lies within
    // its text, which was just read.
    let found: Result<Retained<VNRectangleObservation>, Retained<NSError>> =
        unsafe { msg_send![text, boundingBoxForRange: range, error: _] };
    // SAFETY: a question to an object that is alive.
    found.ok().map(|found| part(unsafe { found.boundingBox() }))
}
