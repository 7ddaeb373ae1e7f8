//! The pasteboard: what was copied last, and putting a text there. No text is logged.
#![allow(unsafe_code, reason = "the names of its types are variables of a library")]

use objc2_app_kit::{NSPasteboard, NSPasteboardType, NSPasteboardTypeString};
use objc2_foundation::NSString;

use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::program::Clip;

/// Many programs put a dozen forms of one thing there.
const MOST_FORMATS: usize = 50;

fn plain_text() -> &'static NSPasteboardType {
    // SAFETY: a constant that AppKit sets before any of our code runs and never changes.
    unsafe { NSPasteboardTypeString }
}

pub fn get() -> Result<Clip> {
    let board = NSPasteboard::generalPasteboard();
    if let Some(text) = board.stringForType(plain_text()) {
        let text = text.to_string();
        if text.len() > limits::CLIPBOARD_BYTES {
            let message = format!("the clipboard holds more than {} bytes of text", limits::CLIPBOARD_BYTES);
            return Err(Error::bad_request(message));
        }
        return Ok(Clip { text: Some(text), formats: Vec::new() });
    }
    let types = board.types().map(|types| types.to_vec()).unwrap_or_default();
    let formats = types.iter().take(MOST_FORMATS).map(|name| name.to_string()).collect();
    Ok(Clip { text: None, formats })
}

pub fn set(text: &str) -> Result<()> {
    let board = NSPasteboard::generalPasteboard();
    board.clearContents();
    if board.setString_forType(&NSString::from_str(text), plain_text()) {
        return Ok(());
    }
    Err(Error::internal("the pasteboard did not take the text"))
}
