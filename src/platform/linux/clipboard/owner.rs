//! Owning the selection: a thread that serves the text to every program that requests it.
//!
//! The text is dropped as soon as another program owns the selection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, PropMode,
    Property, SelectionNotifyEvent, SelectionRequestEvent,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::reader::window_on;
use super::{Atoms, PIECE, encode_latin1};
use crate::clock::lock;
use crate::error::Error;
use crate::platform::linux::x11::{X11Error, X11Failure};

/// Texts that are handed out in pieces at the same time; of more, the oldest is given up.
const TRANSFERS: usize = 16;

pub struct Owner {
    shared: Arc<OwnerShared>,
}

struct OwnerShared {
    line: RustConnection,
    window: u32,
    atoms: Atoms,
    /// What is handed out; `None` once somebody else owns the selection.
    text: Mutex<Option<String>>,
    alive: AtomicBool,
}

impl Owner {
    pub fn start(display: Option<&str>) -> Result<Self, Error> {
        let (line, screen) = RustConnection::connect(display)
            .map_err(|problem| Error::internal(format!("the X server cannot be reached: {problem}")))?;
        let shared = Arc::new(OwnerShared::new(line, screen).map_err(Error::from)?);
        let theirs = shared.clone();
        let thread = std::thread::Builder::new().name("clipboard".to_owned());
        thread
            .spawn(move || theirs.run())
            .map_err(|problem| Error::internal(format!("cannot start the clipboard thread: {problem}")))?;
        Ok(Self { shared })
    }

    pub fn is_alive(&self) -> bool {
        self.shared.alive.load(Ordering::Acquire)
    }

    /// What we hand out, as long as the selection is ours.
    pub fn text(&self) -> Option<String> {
        let shared = &self.shared;
        let text = lock(&shared.text).clone().filter(|_| self.is_alive())?;
        // That it is somebody else's now may not have been told yet.
        shared.owns().ok().filter(|owns| *owns).map(|_| text)
    }

    pub fn take_over(&self, text: &str) -> Result<(), X11Failure> {
        let shared = &self.shared;
        *lock(&shared.text) = Some(text.to_owned());
        shared.line.set_selection_owner(shared.window, shared.atoms.CLIPBOARD, x11rb::CURRENT_TIME)?;
        if shared.owns()? {
            return Ok(());
        }
        Err(Error::internal("the X server did not grant the clipboard").into())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let OwnerShared { line, window, atoms, .. } = &*self.shared;
        let message = ClientMessageEvent::new(32, *window, atoms._OSO_STOP, [0; 5]);
        // If it cannot be sent, the connection is lost and the thread has ended already.
        let sent = line.send_event(false, *window, EventMask::NO_EVENT, message).map(drop);
        let _ = sent.and_then(|()| line.flush());
    }
}

/// A text that is handed out in pieces.
struct Transfer {
    requestor: u32,
    property: Atom,
    kind: Atom,
    bytes: Vec<u8>,
    sent: usize,
}

impl OwnerShared {
    fn new(line: RustConnection, screen: usize) -> Result<Self, X11Error> {
        let atoms = Atoms::new(&line)?.reply()?;
        let window = window_on(&line, screen)?;
        Ok(Self { line, window, atoms, text: Mutex::new(None), alive: AtomicBool::new(true) })
    }

    fn owns(&self) -> Result<bool, X11Error> {
        Ok(self.line.get_selection_owner(self.atoms.CLIPBOARD)?.reply()?.owner == self.window)
    }

    fn run(&self) {
        if let Err(trouble) = self.serve() {
            tracing::warn!("the clipboard is no longer served: {trouble}");
        }
        self.alive.store(false, Ordering::Release);
        *lock(&self.text) = None;
    }

    /// Returns when the owner was dropped.
    fn serve(&self) -> Result<(), X11Error> {
        let mut transfers: Vec<Transfer> = Vec::new();
        loop {
            match self.line.wait_for_event()? {
                Event::SelectionRequest(asked) => self.answer(&asked, &mut transfers)?,
                // A new text of our own clears nothing: the selection stays this window's.
                Event::SelectionClear(_) if !self.owns()? => *lock(&self.text) = None,
                Event::PropertyNotify(told) if told.state == Property::DELETE => {
                    self.go_on(told.window, told.atom, &mut transfers)?;
                }
                Event::ClientMessage(told) if told.type_ == self.atoms._OSO_STOP => return Ok(()),
                // Requestors that are gone are told of by errors; their transfers are given up when others come.
                _ => {}
            }
            self.line.flush()?;
        }
    }

    fn answer(&self, asked: &SelectionRequestEvent, transfers: &mut Vec<Transfer>) -> Result<(), X11Error> {
        // Old clients leave the property out and mean the target's name.
        let property = if asked.property == x11rb::NONE { asked.target } else { asked.property };
        let done = self.put(asked.requestor, property, asked.target, transfers)?;
        let told = SelectionNotifyEvent {
            response_type: x11rb::protocol::xproto::SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: asked.time,
            requestor: asked.requestor,
            selection: asked.selection,
            target: asked.target,
            property: if done { property } else { x11rb::NONE },
        };
        self.line.send_event(false, asked.requestor, EventMask::NO_EVENT, told)?;
        Ok(())
    }

    /// Whether there is something to hand out as `target`; it is in the property then, or begins to be.
    fn put(
        &self,
        requestor: u32,
        property: Atom,
        target: Atom,
        transfers: &mut Vec<Transfer>,
    ) -> Result<bool, X11Error> {
        let Atoms { TARGETS, TEXT, UTF8_STRING, PLAIN, PLAIN_UTF8, INCR, .. } = self.atoms;
        let string: Atom = AtomEnum::STRING.into();
        if target == TARGETS {
            let offered = [TARGETS, UTF8_STRING, PLAIN_UTF8, PLAIN, TEXT, string];
            self.line.change_property32(PropMode::REPLACE, requestor, property, AtomEnum::ATOM, &offered)?;
            return Ok(true);
        }
        let Some(text) = lock(&self.text).clone() else {
            return Ok(false);
        };
        let (kind, bytes) = match target {
            _ if target == string => (string, encode_latin1(&text)),
            _ if target == TEXT => (UTF8_STRING, text.into_bytes()),
            _ if [UTF8_STRING, PLAIN, PLAIN_UTF8].contains(&target) => (target, text.into_bytes()),
            _ => return Ok(false),
        };
        if bytes.len() <= PIECE {
            self.line.change_property8(PropMode::REPLACE, requestor, property, kind, &bytes)?;
            return Ok(true);
        }
        let values = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        self.line.change_window_attributes(requestor, &values)?;
        let size = [u32::try_from(bytes.len()).unwrap_or(u32::MAX)];
        self.line.change_property32(PropMode::REPLACE, requestor, property, INCR, &size)?;
        if transfers.len() >= TRANSFERS {
            transfers.remove(0);
        }
        transfers.push(Transfer { requestor, property, kind, bytes, sent: 0 });
        Ok(true)
    }

    /// Taking a piece asks for the next one; an empty one ends it.
    fn go_on(&self, window: u32, property: Atom, transfers: &mut Vec<Transfer>) -> Result<(), X11Error> {
        let wanted = |transfer: &Transfer| transfer.requestor == window && transfer.property == property;
        let Some(at) = transfers.iter().position(wanted) else {
            return Ok(());
        };
        let transfer = &mut transfers[at];
        let end = transfer.bytes.len().min(transfer.sent + PIECE);
        let piece = &transfer.bytes[transfer.sent..end];
        self.line.change_property8(PropMode::REPLACE, window, property, transfer.kind, piece)?;
        let was_last = piece.is_empty();
        transfer.sent = end;
        if was_last {
            transfers.remove(at);
        }
        Ok(())
    }
}
