//! The elements of a window, through AT-SPI: the tree, change events, and actions of elements.
//!
//! ```text
//!   Accessible ── bus: one connection, one thread, many calls at once    direct: a line to an application of its own
//!     ├── find: from a window to its root
//!     ├── capture: cache ─► walk ─► places and values ─► Tree    roles: words; table: the visible block; prose
//!     ├── mirror: what was read before, made true
//!     ├── windows: those that the applications show, where the window system does not list them
//!     ├── element: one element, asked to do something
//!     └── events: what rings the bell
//! ```

mod bus;
mod cache;
mod capture;
mod direct;
pub mod element;
mod events;
pub mod find;
mod labels;
mod mirror;
#[cfg(feature = "desktop_tests")]
mod mirror_check;
mod object;
mod prose;
pub mod roles;
mod table;
mod text_places;
mod walk;
mod windows;

use std::rc::Rc;
use std::time::Duration;

use bus::{Bus, BusConnection, BusDeadline};
pub use bus::{CONNECT_TIME, PRIVATE_CONNECT_TIME};
pub use find::WindowFacts;
pub use mirror::Detail;
pub use windows::AtspiWindow;

use crate::clock::{Bell, Cancel, Clock};
use crate::error::{Error, Kind, Result};
use crate::model::input::Handle;
use crate::model::{Rect, Tree};
use crate::platform::Patience;
use object::AtspiObject;

/// How long one element may take to answer when something is done to it.
const ELEMENT_CALL_TIME: Duration = Duration::from_secs(2);
const ELEMENT_TIME: Duration = Duration::from_secs(5);
/// How long an application may take to answer that it has done what came before.
const ROUND_TRIP_TIME: Duration = Duration::from_millis(500);
/// How long an application may be busy before keys are kept from it.
const REACTION_TIME: Duration = Duration::from_secs(3);
/// How long the bus may take to say that it is there.
const HEALTH_TIME: Duration = Duration::from_millis(700);
const MUTE: &str = "the accessibility bus does not answer: no elements can be read until it does; windows, \
                    screenshots, pointer and keys work";

#[derive(Debug)]
pub struct AtspiClient {
    bus: Bus,
}

impl AtspiClient {
    /// The bell is rung when an application that was looked into tells of a change.
    pub fn start(clock: Clock, bell: Bell, connect_time: Duration) -> Result<Self> {
        let bus = Bus::start(clock, bell, connect_time)?;
        // Early, so that applications that start from now on know that somebody listens.
        bus.connect();
        Ok(Self { bus })
    }

    /// Why no application can be asked now; nothing when the bus answers.
    pub fn bus_problem(&self) -> Option<String> {
        let asked = self
            .bus
            .run(HEALTH_TIME, &Cancel::new(), |link| async move { link.is_answered(HEALTH_TIME).await });
        match asked {
            Ok(()) => None,
            Err(error) if error.kind == Kind::Timeout => Some(MUTE.to_owned()),
            Err(error) => Some(error.message),
        }
    }

    /// The elements of a window. `bounds` is the window with its frame, as people see it. Without a bus every window is
    /// one that shows no elements, and says why.
    pub fn tree(
        &self,
        sought: WindowFacts,
        bounds: Rect,
        detail: Detail,
        patience: &Patience,
    ) -> Result<Tree> {
        let (per_call, whole) = (patience.per_call, patience.whole);
        let title = sought.title.clone();
        let captured = self.bus.run(whole, &patience.cancel, move |link| async move {
            let pace = BusDeadline::new(per_call, whole);
            capture::capture_tree(link, sought, bounds, detail, pace).await
        });
        match captured {
            Err(error) if bus::is_no_bus(&error) => Ok(capture::bare_tree(title, bounds, error.message)),
            captured => captured,
        }
    }

    /// Has the application of a process answer a question. It does so behind what it was sent before, and one that does
    /// not answer soon, or is not on the bus, is not waited for.
    pub fn round_trip(&self, pid: u32, cancel: &Cancel) -> Result<()> {
        let asked = self.bus.run(ROUND_TRIP_TIME, cancel, move |link| async move {
            find::greet_process(&link, pid, &BusDeadline::new(ROUND_TRIP_TIME, ROUND_TRIP_TIME)).await;
            Ok(())
        });
        match asked {
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            _ => Ok(()),
        }
    }

    /// Refuses keys to an application that would never come to read them.
    pub fn check_takes_keys(&self, pid: u32, cancel: &Cancel) -> Result<()> {
        let asked = self.bus.run(REACTION_TIME, cancel, move |link| async move {
            Ok(find::is_stuck_gtk3(&link, pid, &BusDeadline::new(REACTION_TIME, REACTION_TIME)).await)
        });
        match asked {
            Ok(true) => Err(stuck_in_dialog()),
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            _ => Ok(()),
        }
    }

    /// Asks the element behind a handle; the work gets its object and a pace.
    fn with_element<T, F, Running>(&self, handle: &Handle, cancel: &Cancel, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Rc<BusConnection>, AtspiObject, BusDeadline) -> Running + Send + 'static,
        Running: Future<Output = Result<T>> + 'static,
    {
        let native = handle.native.clone();
        let gone = || no_element(&handle.native);
        AtspiObject::from_native(&native).ok_or_else(gone)?;
        self.bus.run(ELEMENT_TIME, cancel, move |link| async move {
            let pace = BusDeadline::new(ELEMENT_CALL_TIME, ELEMENT_TIME);
            let object = table::object_of(&link, &native, &pace).await.ok_or_else(|| no_element(&native))?;
            work(link, object, pace).await
        })
    }
}

fn stuck_in_dialog() -> Error {
    let message = "the application does not answer: it may be stuck in a dialog that one of its actions opened, and a \
                   key could hang it for good, so nothing was typed. Close the dialog with the mouse (click_at)";
    Error::new(Kind::Timeout, message).with("phase", "keys")
}

fn no_element(native: &str) -> Error {
    Error::new(Kind::ElementNotFound, "the element no longer exists; look again").with("native", native)
}
