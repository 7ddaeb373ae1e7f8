//! The line to the X server: connecting, the names the server knows by number, and what a failure means.
//!
//! A lost connection costs the calls that were using it an error, never a panic; the next call connects
//! again. Nothing here knows windows, pictures or input, except for the one thing that must hold as long
//! as the connection does: windows keep their own pixels (Composite), also where others cover them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::composite::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{Screen, Setup};
use x11rb::protocol::{ErrorKind, randr, shm, xkb, xtest};

use super::capture::Segment;
use super::lease::Seal;
use super::x11_stream::{self, X11Stream};
use super::xwayland::is_xwayland;
use crate::clock::{Deadline, lock};
use crate::config::process_variable;
use crate::error::{Error, Kind};

x11rb::atom_manager! {
    pub Atoms: AtomsCookie {
        UTF8_STRING,
        WM_CHANGE_STATE,
        WM_CLIENT_LEADER,
        WM_DELETE_WINDOW,
        WM_PROTOCOLS,
        WM_STATE,
        _GTK_APPLICATION_ID,
        _GTK_FRAME_EXTENTS,
        _KDE_NET_WM_DESKTOP_FILE,
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST,
        _NET_CLIENT_LIST_STACKING,
        _NET_CLOSE_WINDOW,
        _NET_CURRENT_DESKTOP,
        _NET_FRAME_EXTENTS,
        _NET_MOVERESIZE_WINDOW,
        _NET_RESTACK_WINDOW,
        _NET_SUPPORTED,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_DESKTOP,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_PING,
        _NET_WM_STATE,
        _NET_WM_STATE_HIDDEN,
        _NET_WM_STATE_MAXIMIZED_HORZ,
        _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_SPLASH,
        _NET_WM_WINDOW_TYPE_TOOLTIP,
        _OSO_HELD,
        _OSO_INPUT_LEASE,
        _OSO_STOP,
    }
}

/// Windows that were covered when the connection was made draw themselves anew; until then their pixels
/// are not theirs.
const FIRST_REPAINT: Duration = Duration::from_millis(60);

/// One connection, and what was learned when it was made.
pub struct X11Server {
    /// What it was reached by; `None` stands for DISPLAY.
    pub display: Option<String>,
    pub connection: X11Stream,
    pub root: u32,
    pub atoms: Atoms,
    pub extensions: Extensions,
    /// Until when windows have painted the pixels that they keep; `None` where the server cannot keep them.
    pub first_repaint: Option<Deadline>,
    /// Shared memory for pictures, kept because making it costs ten times a picture.
    pub segment: Mutex<Option<Segment>>,
    /// What this process has of the lease on the desktop.
    pub seal: Seal,
}

#[derive(Clone, Copy, Debug)]
pub struct Extensions {
    pub shared_memory: bool,
    pub test_input: bool,
    pub monitors: bool,
    pub keyboard: bool,
    pub resources: bool,
    /// It is a part of a Wayland session.
    pub xwayland: bool,
}

impl X11Server {
    /// Fails with a sentence that names the display.
    pub fn connect(display: Option<&str>) -> Result<Self, String> {
        let (connection, screen) =
            x11_stream::connect(display).map_err(|problem| unreachable_display(display, &problem))?;
        Self::greet_server(display, connection, screen).map_err(|trouble| {
            format!("the X server of display {} did not complete the handshake: {trouble}", name_of(display))
        })
    }

    fn greet_server(display: Option<&str>, connection: X11Stream, screen: usize) -> Result<Self, X11Error> {
        let display = display.map(str::to_owned);
        let atoms = Atoms::new(&connection)?;
        let root = root_of(connection.setup(), screen)?.root;
        let monitors = offers_extension(&connection, randr::X11_EXTENSION_NAME)?;
        let extensions = Extensions {
            shared_memory: offers_extension(&connection, shm::X11_EXTENSION_NAME)?,
            test_input: offers_extension(&connection, xtest::X11_EXTENSION_NAME)?,
            monitors,
            keyboard: offers_extension(&connection, xkb::X11_EXTENSION_NAME)?,
            resources: offers_extension(&connection, x11rb::protocol::res::X11_EXTENSION_NAME)?,
            xwayland: is_xwayland(&connection, root, monitors)?,
        };
        if extensions.keyboard {
            use x11rb::protocol::xkb::ConnectionExt as _;
            connection.xkb_use_extension(1, 0)?.reply()?;
        }
        let first_repaint = redirect_windows(&connection, root)?;
        let atoms = atoms.reply()?;
        let segment = Mutex::new(None);
        let seal = Seal::default();
        Ok(Self { display, connection, root, atoms, extensions, first_repaint, segment, seal })
    }

    /// Nobody reads events here, but some are sent to everyone (the keyboard changed) and would pile up. A
    /// connection that turns out to be lost is noticed by whoever uses it next.
    fn drop_events(&self) {
        while let Ok(Some(_)) = self.connection.poll_for_event() {}
    }

    /// Returns when the server has done everything asked of it so far.
    pub fn sync_server(&self) -> Result<(), X11Error> {
        use x11rb::protocol::xproto::ConnectionExt as _;
        self.connection.get_input_focus()?.reply()?;
        Ok(())
    }
}

fn root_of(setup: &Setup, screen: usize) -> Result<&Screen, X11Error> {
    setup.roots.get(screen).ok_or_else(|| X11Error::Lost("it has no such screen".to_owned()))
}

fn offers_extension(connection: &X11Stream, extension: &'static str) -> Result<bool, X11Error> {
    Ok(connection.extension_information(extension)?.is_some())
}

/// From now on every window has pixels of its own, for the life of the connection. A covered window then
/// goes on drawing (Chromium stops otherwise, and serves a stale tree) and its picture is exact.
fn redirect_windows(connection: &X11Stream, root: u32) -> Result<Option<Deadline>, X11Error> {
    if !offers_extension(connection, composite::X11_EXTENSION_NAME)? {
        return Ok(None);
    }
    connection.composite_query_version(0, 4)?.reply()?;
    let redirected = connection.composite_redirect_subwindows(root, composite::Redirect::AUTOMATIC)?.check();
    match redirected {
        Ok(()) => Ok(Some(Deadline::after(FIRST_REPAINT))),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(ReplyError::ConnectionError(problem)) => Err(problem.into()),
    }
}

fn name_of(display: Option<&str>) -> String {
    display.map(str::to_owned).or_else(|| process_variable("DISPLAY")?.into_string().ok()).unwrap_or_default()
}

fn unreachable_display(display: Option<&str>, problem: &ConnectError) -> String {
    format!(
        "the X server of display '{}' cannot be reached ({problem}); check DISPLAY and XAUTHORITY, \
         or start the server with --mock for the mock desktop",
        name_of(display)
    )
}

/// Why a conversation with the X server ended without an answer.
#[derive(Debug)]
pub enum X11Error {
    /// Nobody is at the other end any more.
    Lost(String),
    /// The server answered with an error.
    Refused(ErrorKind, String),
}

impl X11Error {
    /// The window or drawable that was asked about is not there any more.
    pub fn is_gone(&self) -> bool {
        matches!(self, X11Error::Refused(ErrorKind::Window | ErrorKind::Drawable, _))
    }
}

impl std::fmt::Display for X11Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            X11Error::Lost(why) => write!(out, "the connection to the X server was lost ({why})"),
            X11Error::Refused(_, what) => write!(out, "the X server refused: {what}"),
        }
    }
}

impl From<X11Error> for Error {
    fn from(trouble: X11Error) -> Self {
        match trouble {
            X11Error::Refused(ErrorKind::Window | ErrorKind::Drawable, _) => {
                Error::new(Kind::WindowGone, "the window has closed")
            }
            X11Error::Lost(_) => Error::internal(format!("{trouble}; the next call tries to connect again")),
            X11Error::Refused(..) => Error::internal(trouble.to_string()),
        }
    }
}

impl From<ConnectionError> for X11Error {
    fn from(problem: ConnectionError) -> Self {
        X11Error::Lost(problem.to_string())
    }
}

impl From<ReplyError> for X11Error {
    fn from(problem: ReplyError) -> Self {
        match problem {
            ReplyError::ConnectionError(problem) => problem.into(),
            ReplyError::X11Error(error) => X11Error::Refused(error.error_kind, describe(&error)),
        }
    }
}

impl From<ReplyOrIdError> for X11Error {
    fn from(problem: ReplyOrIdError) -> Self {
        match problem {
            ReplyOrIdError::IdsExhausted => X11Error::Lost("no more ids".to_owned()),
            ReplyOrIdError::ConnectionError(problem) => problem.into(),
            ReplyOrIdError::X11Error(error) => X11Error::Refused(error.error_kind, describe(&error)),
        }
    }
}

fn describe(error: &x11rb::x11_utils::X11Error) -> String {
    let request = error.request_name.unwrap_or("a request");
    format!("{request} failed with {:?} (value {:#x})", error.error_kind, error.bad_value)
}

/// The connection that calls share: made when needed, dropped when it is lost.
pub struct X11Session {
    display: Option<String>,
    current: Mutex<Option<Arc<X11Server>>>,
}

impl X11Session {
    pub fn connect(display: Option<&str>) -> Result<Self, String> {
        let server = X11Server::connect(display)?;
        Ok(Self { display: display.map(str::to_owned), current: Mutex::new(Some(Arc::new(server))) })
    }

    pub fn display(&self) -> Option<&str> {
        self.display.as_deref()
    }

    /// Speaks with the server; when the connection turns out to be lost, the next call makes a new one.
    pub fn with_server<T>(
        &self,
        speak: impl FnOnce(&X11Server) -> Result<T, X11Error>,
    ) -> crate::error::Result<T> {
        self.with_errors(|server| Ok(speak(server)?))
    }

    /// The same for work that has errors of its own.
    pub fn with_errors<T>(
        &self,
        speak: impl FnOnce(&X11Server) -> Result<T, X11Failure>,
    ) -> crate::error::Result<T> {
        let server = self.current_server()?;
        speak(&server).map_err(|failure| {
            if let X11Failure::Trouble(X11Error::Lost(_)) = &failure {
                self.forget_connection(&server);
            }
            failure.into()
        })
    }

    fn current_server(&self) -> crate::error::Result<Arc<X11Server>> {
        let mut current = lock(&self.current);
        if let Some(server) = &*current {
            server.drop_events();
            return Ok(server.clone());
        }
        let server = X11Server::connect(self.display()).map_err(Error::internal)?;
        Ok(current.insert(Arc::new(server)).clone())
    }

    /// Another call may have connected again already; its connection stays.
    fn forget_connection(&self, lost: &Arc<X11Server>) {
        let mut current = lock(&self.current);
        if current.as_ref().is_some_and(|server| Arc::ptr_eq(server, lost)) {
            *current = None;
        }
    }
}

/// A call fails by the server, or by itself.
#[derive(Debug)]
pub enum X11Failure {
    Trouble(X11Error),
    Own(Error),
}

impl<T: Into<X11Error>> From<T> for X11Failure {
    fn from(trouble: T) -> Self {
        X11Failure::Trouble(trouble.into())
    }
}

impl From<Error> for X11Failure {
    fn from(error: Error) -> Self {
        X11Failure::Own(error)
    }
}

impl From<X11Failure> for Error {
    fn from(failure: X11Failure) -> Self {
        match failure {
            X11Failure::Trouble(trouble) => trouble.into(),
            X11Failure::Own(error) => error,
        }
    }
}
