//! Windows by the protocol foreign-toplevel-management of wlroots: titles, applications, states, and what changes them. It
//! says neither where a window is nor what process it is of.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::{Connection, Dispatch, QueueHandle, event_created_child};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_handle_v1::{
    self, State, ZwlrForeignToplevelHandleV1,
};
use wayland_protocols_wlr::foreign_toplevel::v1::client::zwlr_foreign_toplevel_manager_v1::{
    self, ZwlrForeignToplevelManagerV1,
};

use super::link::{Link, Told};
use super::window_list::{CompositorWindow, WindowSource};
use crate::clock::{Clock, lock};
use crate::error::Result;
use crate::model::WindowChange;

pub const PROTOCOL: &str = "zwlr_foreign_toplevel_manager_v1";

/// A window as the compositor tells of it, event by event.
#[derive(Clone, Debug)]
pub struct ToldToplevel {
    number: u32,
    proxy: ZwlrForeignToplevelHandleV1,
    title: String,
    app_id: String,
    states: Vec<u32>,
}

impl ToldToplevel {
    fn new(number: u32, proxy: ZwlrForeignToplevelHandleV1) -> Self {
        Self { number, proxy, title: String::new(), app_id: String::new(), states: Vec::new() }
    }

    fn has(&self, state: State) -> bool {
        self.states.contains(&u32::from(state))
    }

    fn listed(&self, generation: u32) -> CompositorWindow {
        CompositorWindow {
            id: format!("{generation}.{}", self.number),
            title: self.title.clone(),
            app_id: self.app_id.clone(),
            focused: self.has(State::Activated),
            hidden: self.has(State::Minimized),
            maximized: self.has(State::Maximized),
            ..CompositorWindow::default()
        }
    }
}

/// One connection is kept: a window is numbered on it.
struct ToplevelListener {
    link: Link,
    seat: WlSeat,
    generation: u32,
}

pub struct Toplevels {
    clock: Clock,
    socket: PathBuf,
    listening: Mutex<Option<ToplevelListener>>,
    generations: AtomicU32,
}

impl Toplevels {
    pub fn new(clock: Clock, socket: PathBuf) -> Self {
        Self { clock, socket, listening: Mutex::default(), generations: AtomicU32::new(1) }
    }

    fn listen(&self) -> Result<ToplevelListener> {
        let mut link = Link::open(&self.clock, &self.socket)?;
        let _manager: ZwlrForeignToplevelManagerV1 = link.bind(3)?;
        let seat = link.bind(1)?;
        // Once for the windows, and once for what is told of each.
        link.round_trip()?;
        link.round_trip()?;
        Ok(ToplevelListener { link, seat, generation: self.generations.fetch_add(1, Ordering::Relaxed) })
    }

    /// After a failure the next call connects again.
    fn with<T>(&self, work: impl FnOnce(&mut ToplevelListener) -> Result<T>) -> Result<T> {
        let mut kept = lock(&self.listening);
        let mut listening = match kept.take() {
            Some(listening) => listening,
            None => self.listen()?,
        };
        listening.link.round_trip()?;
        let done = work(&mut listening)?;
        listening.link.round_trip()?;
        *kept = Some(listening);
        Ok(done)
    }

    fn with_window(&self, id: &str, work: impl Fn(&ToldToplevel, &WlSeat)) -> Result<()> {
        self.with(|listening| {
            let generation = listening.generation;
            let mut all = listening.link.told.toplevels.iter();
            if let Some(toplevel) = all.find(|toplevel| toplevel.listed(generation).id == id) {
                work(toplevel, &listening.seat);
            }
            Ok(())
        })
    }
}

const NO_PLACE: &str = "this compositor does not let a program move or resize another program's window; the \
                        desktop's own keys may do it (press_key)";

impl WindowSource for Toplevels {
    fn name(&self) -> &'static str {
        "toplevel"
    }

    fn knows_places(&self) -> bool {
        false
    }

    fn windows(&self) -> Result<Vec<CompositorWindow>> {
        self.with(|listening| {
            let all = listening.link.told.toplevels.iter();
            Ok(all.map(|toplevel| toplevel.listed(listening.generation)).collect())
        })
    }

    fn activate(&self, id: &str) -> Result<()> {
        self.with_window(id, |toplevel, seat| toplevel.proxy.activate(seat))
    }

    fn request(&self, window: &CompositorWindow, change: &WindowChange) -> Result<Option<String>> {
        if matches!(change, WindowChange::Move(_) | WindowChange::Resize { .. }) {
            return Ok(Some(NO_PLACE.to_owned()));
        }
        self.with_window(&window.id, |toplevel, seat| match change {
            WindowChange::Raise => toplevel.proxy.activate(seat),
            WindowChange::Restore if toplevel.has(State::Minimized) => toplevel.proxy.unset_minimized(),
            WindowChange::Restore => toplevel.proxy.unset_maximized(),
            WindowChange::Minimize => toplevel.proxy.set_minimized(),
            WindowChange::Maximize => toplevel.proxy.set_maximized(),
            WindowChange::Close => toplevel.proxy.close(),
            WindowChange::Move(_) | WindowChange::Resize { .. } => {}
        })?;
        Ok(None)
    }
}

impl Dispatch<ZwlrForeignToplevelManagerV1, ()> for Told {
    fn event(
        told: &mut Self,
        _: &ZwlrForeignToplevelManagerV1,
        event: zwlr_foreign_toplevel_manager_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let zwlr_foreign_toplevel_manager_v1::Event::Toplevel { toplevel } = event {
            told.next_toplevel += 1;
            told.toplevels.push(ToldToplevel::new(told.next_toplevel, toplevel));
        }
    }

    event_created_child!(Told, ZwlrForeignToplevelManagerV1, [
        zwlr_foreign_toplevel_manager_v1::EVT_TOPLEVEL_OPCODE => (ZwlrForeignToplevelHandleV1, ()),
    ]);
}

impl Dispatch<ZwlrForeignToplevelHandleV1, ()> for Told {
    fn event(
        told: &mut Self,
        proxy: &ZwlrForeignToplevelHandleV1,
        event: zwlr_foreign_toplevel_handle_v1::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_foreign_toplevel_handle_v1::Event;
        if matches!(event, Event::Closed) {
            told.toplevels.retain(|toplevel| toplevel.proxy != *proxy);
            proxy.destroy();
            return;
        }
        let Some(toplevel) = told.toplevels.iter_mut().find(|toplevel| toplevel.proxy == *proxy) else {
            return;
        };
        match event {
            Event::Title { title } => toplevel.title = title,
            Event::AppId { app_id } => toplevel.app_id = app_id,
            Event::State { state } => {
                toplevel.states =
                    state.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word)).collect();
            }
            _ => {}
        }
    }
}
