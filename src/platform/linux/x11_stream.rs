//! The line to an X server that does not wait for ever. A server that is stopped, or that another program has grabbed,
//! would otherwise take every call that asks it something with it.
//!
//! Whoever listens for events has to wait, and uses a connection of its own.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::errors::{ConnectError, DisplayParsingError};
use x11rb::reexports::x11rb_protocol::{parse_display::parse_display, xauth::get_auth};
use x11rb::rust_connection::{DefaultStream, PollMode, RustConnection, Stream};
use x11rb::utils::RawFdContainer;

/// Longer than any request takes, also on a machine that is busy with something else.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// The connection that calls share.
pub type X11Stream = RustConnection<TimeoutStream>;

pub struct TimeoutStream(DefaultStream);

/// Connects as the library does, by the display's name and the key that belongs to it.
pub fn connect(display: Option<&str>) -> Result<(X11Stream, usize), ConnectError> {
    let parsed = parse_display(display)?;
    let screen = usize::from(parsed.screen);
    let mut failed = None;
    for address in parsed.connect_instruction() {
        match DefaultStream::connect(&address) {
            Ok((stream, (family, peer))) => {
                // Without a key the server says itself whether it wants one.
                let (method, key) =
                    get_auth(family, &peer, parsed.display).unwrap_or_default().unwrap_or_default();
                let line =
                    X11Stream::connect_to_stream_with_auth_info(TimeoutStream(stream), screen, method, key)?;
                return Ok((line, screen));
            }
            Err(problem) => failed = Some(problem),
        }
    }
    Err(failed.map_or(DisplayParsingError::Unknown.into(), ConnectError::IoError))
}

impl Stream for TimeoutStream {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::IN, mode.readable());
        wanted.set(PollFlags::OUT, mode.writable());
        let time = Timespec { tv_sec: ANSWER_TIME.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: 0 };
        loop {
            match poll(&mut [PollFd::from_borrowed_fd(self.0.as_fd(), wanted)], Some(&time)) {
                Ok(0) => return Err(mute()),
                Ok(_) => return Ok(()),
                Err(problem) if problem == rustix::io::Errno::INTR => {}
                Err(problem) => return Err(problem.into()),
            }
        }
    }

    fn read(&self, bytes: &mut [u8], files: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.read(bytes, files)
    }

    fn write(&self, bytes: &[u8], files: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.write(bytes, files)
    }

    fn write_vectored(&self, parts: &[IoSlice<'_>], files: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.0.write_vectored(parts, files)
    }
}

fn mute() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("it has not answered for {} s", ANSWER_TIME.as_secs()))
}
