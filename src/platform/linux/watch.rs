//! Events of the X server: windows opened, closed, moved, changed their order or their titles.
//!
//! A thread with its own connection listens and rings the bell; it does not interpret events, the waiting
//! call looks for itself. When the connection is lost it reconnects, and until then reports that there are
//! no events.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, CreateWindowAux,
    EventMask, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use super::x11::{Atoms, X11Error};
use crate::clock::{Bell, lock, sleep_really};

const TRY_AGAIN: Duration = Duration::from_secs(1);

/// The listening thread; it ends when this is dropped.
pub struct X11Watcher {
    shared: Arc<WatchShared>,
}

struct WatchShared {
    display: Option<String>,
    bell: Bell,
    listening: AtomicBool,
    ended: AtomicBool,
    /// Set while a connection is up: what to send a message to, to end the wait for an event.
    ear: std::sync::Mutex<Option<Ear>>,
}

struct Ear {
    line: Arc<RustConnection>,
    window: u32,
    stop: Atom,
}

impl X11Watcher {
    /// Listens from now on: when this returns, no change is missed any more.
    pub fn start(display: Option<&str>, bell: Bell) -> std::io::Result<Self> {
        let shared = Arc::new(WatchShared {
            display: display.map(str::to_owned),
            bell,
            listening: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            ear: std::sync::Mutex::new(None),
        });
        let first = shared.listen().ok();
        let theirs = shared.clone();
        std::thread::Builder::new().name("x11-events".to_owned()).spawn(move || theirs.run(first))?;
        Ok(Self { shared })
    }

    /// Whether changes are heard of now.
    pub fn is_listening(&self) -> bool {
        self.shared.listening.load(Ordering::Acquire)
    }
}

impl Drop for X11Watcher {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        if let Some(ear) = &*lock(&self.shared.ear) {
            let message = ClientMessageEvent::new(32, ear.window, ear.stop, [0; 5]);
            // If it cannot be sent, the connection is lost and the thread is awake already.
            let sent = ear.line.send_event(false, ear.window, EventMask::NO_EVENT, message).map(drop);
            let _ = sent.and_then(|()| ear.line.flush());
        }
    }
}

impl WatchShared {
    fn run(&self, mut listener: Option<X11Listener>) {
        while !self.ended.load(Ordering::Acquire) {
            if let Some(mut listener) = listener.take().or_else(|| self.listen().ok()) {
                let lost = self.handle_events(&mut listener);
                self.listening.store(false, Ordering::Release);
                *lock(&self.ear) = None;
                // Those who wait must not go on trusting in events.
                self.bell.ring();
                let Err(trouble) = lost else { return };
                // A private desktop that is ended with its watcher is not lost.
                if self.ended.load(Ordering::Acquire) {
                    return;
                }
                tracing::warn!("window events stopped: {trouble}");
            }
            sleep_really(TRY_AGAIN);
        }
    }

    fn listen(&self) -> Result<X11Listener, X11Error> {
        let listener = X11Listener::connect(self.display.as_deref())?;
        let (line, window, stop) = (listener.line.clone(), listener.ear, listener.atoms._OSO_STOP);
        *lock(&self.ear) = Some(Ear { line, window, stop });
        self.listening.store(true, Ordering::Release);
        Ok(listener)
    }

    /// A burst of events is one ring. Returns when the watcher was dropped.
    fn handle_events(&self, listener: &mut X11Listener) -> Result<(), X11Error> {
        loop {
            let mut event = Some(listener.line.wait_for_event()?);
            let mut matters = false;
            while let Some(one) = event {
                if self.ended.load(Ordering::Acquire) {
                    return Ok(());
                }
                matters |= listener.is_relevant(&one)?;
                event = listener.line.poll_for_event()?;
            }
            if matters {
                self.bell.ring();
            }
        }
    }
}

struct X11Listener {
    line: Arc<RustConnection>,
    root: u32,
    atoms: Atoms,
    /// A window that nobody sees, to be sent messages to.
    ear: u32,
    /// Windows whose titles and states are listened to.
    followed: HashSet<u32>,
}

impl X11Listener {
    fn connect(display: Option<&str>) -> Result<Self, X11Error> {
        let lost = |problem: x11rb::errors::ConnectError| X11Error::Lost(problem.to_string());
        let (line, screen) = RustConnection::connect(display).map_err(lost)?;
        let root = line.setup().roots.get(screen).map_or(0, |screen| screen.root);
        let atoms = Atoms::new(&line)?.reply()?;
        let ear = line.generate_id()?;
        let (class, aux) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        line.create_window(0, ear, root, -1, -1, 1, 1, 0, class, 0, &aux)?;
        let events = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE;
        let listen = ChangeWindowAttributesAux::new().event_mask(events);
        line.change_window_attributes(root, &listen)?.check()?;
        let mut listener = Self { line: Arc::new(line), root, atoms, ear, followed: HashSet::new() };
        listener.follow_clients()?;
        Ok(listener)
    }

    /// Listens to every window of the list that is not yet listened to.
    fn follow_clients(&mut self) -> Result<(), X11Error> {
        let list = self
            .line
            .get_property(false, self.root, self.atoms._NET_CLIENT_LIST, AtomEnum::WINDOW, 0, 4096)?
            .reply()?;
        let clients: HashSet<u32> = super::desktop::property_numbers(list).into_iter().collect();
        let listen = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        for &client in clients.difference(&self.followed) {
            // A window that closed meanwhile is an error that comes as an event and means nothing.
            self.line.change_window_attributes(client, &listen)?;
        }
        self.line.flush()?;
        self.followed = clients;
        Ok(())
    }

    fn is_relevant(&mut self, event: &Event) -> Result<bool, X11Error> {
        if let Event::PropertyNotify(change) = event {
            if change.window == self.root && change.atom == self.atoms._NET_CLIENT_LIST {
                self.follow_clients()?;
            }
            return Ok(self.is_watched_property(change.atom, change.window == self.root));
        }
        Ok(matches!(
            event,
            Event::MapNotify(_)
                | Event::UnmapNotify(_)
                | Event::DestroyNotify(_)
                | Event::ConfigureNotify(_)
                | Event::CirculateNotify(_)
                | Event::ReparentNotify(_)
        ))
    }

    /// Others, like the time of the last key, change all the time and show nothing.
    fn is_watched_property(&self, atom: Atom, of_root: bool) -> bool {
        let atoms = &self.atoms;
        let watched: &[Atom] = if of_root {
            &[
                atoms._NET_CLIENT_LIST,
                atoms._NET_CLIENT_LIST_STACKING,
                atoms._NET_ACTIVE_WINDOW,
                atoms._NET_CURRENT_DESKTOP,
            ]
        } else {
            &[
                atoms._NET_WM_NAME,
                u32::from(AtomEnum::WM_NAME),
                atoms._NET_WM_STATE,
                atoms.WM_STATE,
                atoms._NET_FRAME_EXTENTS,
                atoms._GTK_FRAME_EXTENTS,
            ]
        };
        watched.contains(&atom)
    }
}
