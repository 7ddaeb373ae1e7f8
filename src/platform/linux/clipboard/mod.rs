//! The clipboard of X11, which stores nothing: the program that copied a text owns the selection CLIPBOARD
//! and serves the text for as long as it lives. `owner` serves ours, `reader` requests that of others.
//!
//! Each has a connection of its own, so that a program that does not answer blocks nothing else. No text is
//! logged.

mod owner;
mod reader;

use std::sync::Mutex;

use crate::clock::{Cancel, lock};
use crate::error::{Error, Result};
use crate::model::app::Clip;
use crate::platform::Clipboard;
use owner::Owner;

x11rb::atom_manager! {
    pub Atoms: AtomsCookie {
        CLIPBOARD,
        INCR,
        TARGETS,
        TEXT,
        UTF8_STRING,
        PLAIN: b"text/plain",
        PLAIN_UTF8: b"text/plain;charset=utf-8",
        _OSO_CLIP,
        _OSO_STOP,
    }
}

/// What a single request carries well below every server's limit; more goes in pieces.
const PIECE: usize = 64 << 10;

pub struct X11Clipboard {
    display: Option<String>,
    owner: Mutex<Option<Owner>>,
}

impl X11Clipboard {
    pub fn new(display: Option<&str>) -> Self {
        Self { display: display.map(str::to_owned), owner: Mutex::new(None) }
    }
}

impl Clipboard for X11Clipboard {
    fn read(&self, cancel: &Cancel) -> Result<Clip> {
        if let Some(text) = lock(&self.owner).as_ref().and_then(Owner::text) {
            return Ok(Clip { text: Some(text), formats: Vec::new() });
        }
        reader::read(self.display.as_deref(), cancel)
    }

    /// The text is handed out until somebody else copies something, or this process ends.
    fn write(&self, text: &str) -> Result<()> {
        let mut owner = lock(&self.owner);
        if let Some(alive) = owner.as_ref().filter(|owner| owner.is_alive()) {
            return alive.take_over(text).map_err(Error::from);
        }
        let fresh = Owner::start(self.display.as_deref())?;
        fresh.take_over(text)?;
        *owner = Some(fresh);
        Ok(())
    }
}

/// How a text is written for programs that know Latin-1 only.
fn encode_latin1(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect()
}

fn from_latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin1_keeps_what_it_can() {
        assert_eq!(encode_latin1("Zoë €"), b"Zo\xeb ?");
        assert_eq!(from_latin1(b"Zo\xeb"), "Zoë");
    }
}
