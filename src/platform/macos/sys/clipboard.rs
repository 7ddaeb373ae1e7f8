//! The pasteboard: what was copied last, and putting a text there. No text is logged.
#![allow(
    unsafe_code,
    reason = "the names of its types are variables of a library, and texts are copied into a buffer"
)]

use std::ptr::NonNull;

use objc2::rc::autoreleasepool;
use objc2_app_kit::{NSPasteboard, NSPasteboardType, NSPasteboardTypeString};
use objc2_foundation::{NSRange, NSString};

use crate::clock::Cancel;
use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::app::Clip;
use crate::platform::Clipboard;

/// Many programs put a dozen forms of one thing there.
const MOST_FORMATS: usize = 50;

fn plain_text() -> &'static NSPasteboardType {
    // SAFETY: a constant that AppKit sets before any of our code runs and never changes.
    unsafe { NSPasteboardTypeString }
}

pub struct MacClipboard;

impl Clipboard for MacClipboard {
    fn read(&self, _: &Cancel) -> Result<Clip> {
        autoreleasepool(|_| read())
    }

    fn write(&self, text: &str) -> Result<()> {
        autoreleasepool(|_| write(text))
    }
}

/// A text, whatever it holds: half a pair of UTF-16 is no reason to fail.
fn lossy(text: &NSString) -> String {
    let length = text.length();
    let mut units = vec![0_u16; length];
    if let Some(buffer) = NonNull::new(units.as_mut_ptr()) {
        // SAFETY: the buffer has as many units as the text has.
        unsafe { text.getCharacters_range(buffer, NSRange::new(0, length)) };
    }
    String::from_utf16_lossy(&units)
}

fn read() -> Result<Clip> {
    let board = NSPasteboard::generalPasteboard();
    if let Some(text) = board.stringForType(plain_text()) {
        // A unit is a byte at least, so a text that is too long is not even copied.
        let text = (text.length() <= limits::CLIPBOARD_BYTES).then(|| lossy(&text));
        let text = text.filter(|text| text.len() <= limits::CLIPBOARD_BYTES).ok_or_else(too_long)?;
        return Ok(Clip { text: Some(text), formats: Vec::new() });
    }
    let types = board.types().map(|types| types.to_vec()).unwrap_or_default();
    let formats = types.iter().take(MOST_FORMATS).map(|name| lossy(name)).collect();
    Ok(Clip { text: None, formats })
}

fn too_long() -> Error {
    Error::bad_request(format!("the clipboard holds more than {} bytes of text", limits::CLIPBOARD_BYTES))
}

fn write(text: &str) -> Result<()> {
    let board = NSPasteboard::generalPasteboard();
    board.clearContents();
    if board.setString_forType(&NSString::from_str(text), plain_text()) {
        return Ok(());
    }
    Err(Error::internal("the pasteboard did not accept the text"))
}
