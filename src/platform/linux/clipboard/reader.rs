//! Requesting the text from the owner of the selection, in one piece or in many (INCR).

use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, GetPropertyReply, Property, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use super::{Atoms, from_latin1};
use crate::clock::{Cancel, Deadline, sleep_really};
use crate::config::limits;
use crate::error::{Error, Kind, Result};
use crate::model::app::Clip;
use crate::platform::linux::x11::{X11Error, X11Failure};

/// How long the owner may take for all of it.
const ANSWER_TIME: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);
const FORMATS_NAMED: usize = 20;

pub fn read(display: Option<&str>, cancel: &Cancel) -> Result<Clip> {
    let (line, screen) = RustConnection::connect(display)
        .map_err(|problem| Error::internal(format!("the X server cannot be reached: {problem}")))?;
    ClipboardReader::new(line, screen, cancel).and_then(|reader| reader.read_clip()).map_err(Error::from)
}

struct ClipboardReader<'a> {
    line: RustConnection,
    window: u32,
    atoms: Atoms,
    deadline: Deadline,
    cancel: &'a Cancel,
}

impl<'a> ClipboardReader<'a> {
    fn new(line: RustConnection, screen: usize, cancel: &'a Cancel) -> Result<Self, X11Failure> {
        let atoms = Atoms::new(&line)?.reply()?;
        let window = window_on(&line, screen)?;
        Ok(Self { line, window, atoms, deadline: Deadline::after(ANSWER_TIME), cancel })
    }

    fn read_clip(&self) -> Result<Clip, X11Failure> {
        if self.line.get_selection_owner(self.atoms.CLIPBOARD)?.reply()?.owner == x11rb::NONE {
            return Ok(Clip::default());
        }
        if let Some(bytes) = self.ask_owner(self.atoms.UTF8_STRING)? {
            return Ok(text(String::from_utf8_lossy(&bytes).into_owned()));
        }
        if let Some(bytes) = self.ask_owner(AtomEnum::STRING.into())? {
            return Ok(text(from_latin1(&bytes)));
        }
        Ok(Clip { text: None, formats: self.offered_formats()? })
    }

    /// What the owner offers, by name.
    fn offered_formats(&self) -> Result<Vec<String>, X11Failure> {
        let bytes = self.ask_owner(self.atoms.TARGETS)?.unwrap_or_default();
        let (words, _) = bytes.as_chunks::<4>();
        let atoms = words.iter().take(FORMATS_NAMED).map(|word| u32::from_ne_bytes(*word));
        let asked: Vec<_> = atoms.map(|atom| self.line.get_atom_name(atom)).collect::<Result<_, _>>()?;
        let names = asked.into_iter().filter_map(|cookie| cookie.reply().ok());
        Ok(names.map(|name| String::from_utf8_lossy(&name.name).into_owned()).collect())
    }

    /// The selection as `target`, or `None` when its owner does not have it as such.
    fn ask_owner(&self, target: Atom) -> Result<Option<Vec<u8>>, X11Failure> {
        let Atoms { CLIPBOARD, _OSO_CLIP, .. } = self.atoms;
        self.line.convert_selection(self.window, CLIPBOARD, target, _OSO_CLIP, x11rb::CURRENT_TIME)?;
        self.line.flush()?;
        let property = self.next(|event| match event {
            Event::SelectionNotify(told) if told.target == target => Some(told.property),
            _ => None,
        })?;
        if property == x11rb::NONE {
            return Ok(None);
        }
        let whole = self.take_property()?;
        if whole.type_ == self.atoms.INCR { self.read_pieces().map(Some) } else { Ok(Some(whole.value)) }
    }

    /// Each piece is there when the property is new, and taking it asks for the next; an empty one is the last.
    fn read_pieces(&self) -> Result<Vec<u8>, X11Failure> {
        let mut bytes = Vec::new();
        loop {
            self.next(|event| match event {
                Event::PropertyNotify(told) => {
                    (told.atom == self.atoms._OSO_CLIP && told.state == Property::NEW_VALUE).then_some(())
                }
                _ => None,
            })?;
            let piece = self.take_property()?;
            if piece.value.is_empty() {
                return Ok(bytes);
            }
            bytes.extend(piece.value);
            if bytes.len() > limits::CLIPBOARD_BYTES {
                return Err(too_long().into());
            }
        }
    }

    fn take_property(&self) -> Result<GetPropertyReply, X11Failure> {
        let words = u32::try_from(limits::CLIPBOARD_BYTES / 4).unwrap_or(u32::MAX);
        let (window, property) = (self.window, self.atoms._OSO_CLIP);
        let reply = self.line.get_property(true, window, property, AtomEnum::ANY, 0, words)?.reply()?;
        if reply.bytes_after > 0 { Err(too_long().into()) } else { Ok(reply) }
    }

    fn next<T>(&self, wanted: impl Fn(&Event) -> Option<T>) -> Result<T, X11Failure> {
        loop {
            if let Some(event) = self.line.poll_for_event()? {
                match wanted(&event) {
                    Some(found) => return Ok(found),
                    None => continue,
                }
            }
            self.cancel.check()?;
            if self.deadline.is_over() {
                let message = "the program that owns the clipboard does not answer";
                return Err(Error::new(Kind::Timeout, message).with("phase", "clipboard").into());
            }
            sleep_really(PAUSE);
        }
    }
}

fn text(text: String) -> Clip {
    Clip { text: Some(text), formats: Vec::new() }
}

fn too_long() -> Error {
    Error::bad_request(format!("the clipboard holds more than {} bytes", limits::CLIPBOARD_BYTES))
}

/// A window that nobody sees: selections are handed over at windows.
pub fn window_on(line: &RustConnection, screen: usize) -> Result<u32, X11Error> {
    let root = line.setup().roots.get(screen).map(|screen| screen.root);
    let root = root.ok_or_else(|| X11Error::Lost("it has no such screen".to_owned()))?;
    let window = line.generate_id()?;
    let values = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
    line.create_window(
        0,
        window,
        root,
        0,
        0,
        1,
        1,
        0,
        WindowClass::INPUT_ONLY,
        x11rb::COPY_FROM_PARENT,
        &values,
    )?;
    Ok(window)
}
