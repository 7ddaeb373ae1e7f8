//! A connection to the compositor, by the crate wayland-client: no libwayland, and no wait without an end.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wayland_client::protocol::wl_callback::WlCallback;
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::{Connection, Dispatch, EventQueue, Proxy, QueueHandle, delegate_noop};

use super::outputs::ToldOutput;
use super::screencopy::ToldFrame;
use super::toplevels::ToldToplevel;
use crate::clock::Clock;
use crate::error::{Error, Kind, Result};
use crate::platform::session_env::SessionEnv;

/// A compositor that takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the compositor of a session listens.
pub fn socket_path(env: &SessionEnv) -> PathBuf {
    let part = |value: &Option<std::ffi::OsString>| value.clone().map(PathBuf::from).unwrap_or_default();
    part(&env.runtime_dir).join(part(&env.wayland_display))
}

/// A protocol that the compositor offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    pub name: u32,
    pub interface: String,
    pub version: u32,
}

/// What the compositor told on one connection.
#[derive(Default)]
pub struct Told {
    pub globals: Vec<Global>,
    pub outputs: Vec<ToldOutput>,
    pub toplevels: Vec<ToldToplevel>,
    pub next_toplevel: u32,
    pub frame: ToldFrame,
    answered: u64,
}

pub struct Link {
    clock: Clock,
    connection: Connection,
    queue: EventQueue<Told>,
    registry: WlRegistry,
    asked: u64,
    pub told: Told,
}

impl Link {
    /// Connects and reads which protocols there are.
    pub fn open(clock: &Clock, socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).map_err(|problem| unreachable_socket(socket, &problem))?;
        let connection =
            Connection::from_socket(stream).map_err(|problem| lost(&format!("no connection: {problem}")))?;
        let queue = connection.new_event_queue();
        let registry = connection.display().get_registry(&queue.handle(), ());
        let told = Told::default();
        let mut link = Self { clock: clock.clone(), connection, queue, registry, asked: 0, told };
        link.round_trip()?;
        Ok(link)
    }

    pub fn handle(&self) -> QueueHandle<Told> {
        self.queue.handle()
    }

    pub fn offers(&self, interface: &str) -> bool {
        self.told.globals.iter().any(|global| global.interface == interface)
    }

    /// The first global of this kind, or an error that names it.
    pub fn bind<I>(&self, at_most: u32) -> Result<I>
    where
        I: Proxy + 'static,
        Told: Dispatch<I, ()>,
    {
        let name = I::interface().name;
        let global = self.told.globals.iter().find(|global| global.interface == name);
        let global = global.ok_or_else(|| not_offered(name))?;
        Ok(self.registry.bind(global.name, global.version.min(at_most), &self.handle(), ()))
    }

    pub fn bind_by_name<I, U>(&self, global: &Global, at_most: u32, data: U) -> I
    where
        I: Proxy + 'static,
        U: Send + Sync + 'static,
        Told: Dispatch<I, U>,
    {
        self.registry.bind(global.name, global.version.min(at_most), &self.handle(), data)
    }

    /// Everything that was sent has been worked on when this returns.
    pub fn round_trip(&mut self) -> Result<()> {
        self.asked += 1;
        let turn = self.asked;
        self.connection.display().sync(&self.handle(), turn);
        self.wait_until(|told| told.answered >= turn)
    }

    pub fn wait_until(&mut self, is_there: impl Fn(&Told) -> bool) -> Result<()> {
        let end = self.clock.now() + PATIENCE;
        loop {
            self.queue.dispatch_pending(&mut self.told).map_err(|problem| lost(&problem.to_string()))?;
            if is_there(&self.told) {
                return Ok(());
            }
            let left = end.saturating_sub(self.clock.now());
            if left.is_zero() {
                return Err(silent());
            }
            self.exchange(left)?;
        }
    }

    /// Sends what waits to be sent, and reads what has come within the time.
    fn exchange(&mut self, within: Duration) -> Result<()> {
        let mut wanted = PollFlags::IN;
        match self.queue.flush() {
            Ok(()) => {}
            Err(wayland_client::backend::WaylandError::Io(problem))
                if problem.kind() == std::io::ErrorKind::WouldBlock =>
            {
                wanted |= PollFlags::OUT;
            }
            Err(problem) => return Err(lost(&problem.to_string())),
        }
        // Something is there to be dispatched already.
        let Some(reading) = self.queue.prepare_read() else { return Ok(()) };
        let time = Timespec {
            tv_sec: i64::try_from(within.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(within.subsec_nanos()),
        };
        let fd = reading.connection_fd();
        let polled = poll(&mut [PollFd::from_borrowed_fd(fd.as_fd(), wanted)], Some(&time));
        match polled {
            Ok(_) => {}
            Err(problem) if problem == rustix::io::Errno::INTR => {}
            Err(problem) => return Err(lost(&problem.to_string())),
        }
        match reading.read() {
            Ok(_) => Ok(()),
            Err(wayland_client::backend::WaylandError::Io(problem))
                if problem.kind() == std::io::ErrorKind::WouldBlock =>
            {
                Ok(())
            }
            Err(problem) => Err(lost(&problem.to_string())),
        }
    }
}

fn unreachable_socket(socket: &Path, problem: &std::io::Error) -> Error {
    let message = format!(
        "no Wayland compositor answers at {} ({problem}); WAYLAND_DISPLAY and XDG_RUNTIME_DIR must be those of a \
         running session, or start the server with --mock for the mock desktop",
        socket.display()
    );
    Error::new(Kind::PlatformUnsupported, message)
}

fn lost(why: &str) -> Error {
    let message = format!(
        "the connection to the Wayland compositor is lost ({why}); the next call connects again, if the compositor runs"
    );
    Error::new(Kind::PlatformUnsupported, message)
}

fn silent() -> Error {
    let message = format!("the Wayland compositor did not answer within {} s", PATIENCE.as_secs());
    Error::new(Kind::Timeout, message).with("phase", "compositor")
}

fn not_offered(interface: &str) -> Error {
    Error::new(Kind::PlatformUnsupported, format!("the compositor does not offer the protocol {interface}"))
}

impl Dispatch<WlRegistry, ()> for Told {
    fn event(
        told: &mut Self,
        _: &WlRegistry,
        event: wl_registry::Event,
        (): &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            wl_registry::Event::Global { name, interface, version } => {
                told.globals.push(Global { name, interface, version });
            }
            wl_registry::Event::GlobalRemove { name } => {
                told.globals.retain(|global| global.name != name);
                told.outputs.retain(|output| output.global != name);
            }
            _ => {}
        }
    }
}

impl Dispatch<WlCallback, u64> for Told {
    fn event(
        told: &mut Self,
        _: &WlCallback,
        _: wayland_client::protocol::wl_callback::Event,
        turn: &u64,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        told.answered = told.answered.max(*turn);
    }
}

delegate_noop!(Told: ignore WlSeat);
