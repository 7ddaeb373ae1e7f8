//! Who may act on this display: one process at a time, whichever server it is of.
//!
//! The owner of a selection holds the lease. The X server takes the selection back from a process that is
//! gone, however it ended, and no other client can: exactly what a lease needs. What the owner says about
//! itself (who it is, how long it holds the desktop) is in a property of its window; a process that hangs
//! holds it no longer than it said.
//!
//! Another property lists what the owner may be holding down. It is on the root window, which outlives the
//! owner: the next server releases those keys.

use std::sync::Mutex;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, CreateWindowAux, PropMode, WindowClass};
use x11rb::wrapper::ConnectionExt as _;

use super::input::{X11Held, let_go_of};
use super::x11::{X11Error, X11Failure, X11Server};
use crate::clock::lock;
use crate::error::{Error, Kind};
use crate::platform::Claimant;

/// No call acts for longer than this; a process that does hangs.
const LONGEST_CALL: Duration = Duration::from_secs(120);
/// What others say of themselves is not read beyond this.
const NOTE_WORDS: u32 = 256;
const MOST_HELD: u32 = 256;

/// What the owner says of itself. Times are those of the machine since it started, which processes share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct X11LeaseNote {
    pid: u32,
    client: Option<String>,
    since_ms: u64,
    /// When it began to act last, or ended to.
    acted_ms: u64,
    until_ms: u64,
}

/// The window that speaks for this process on one connection, once it was needed.
#[derive(Debug, Default)]
pub struct Seal(Mutex<Option<(u32, X11LeaseNote)>>);

/// Takes the desktop for the time of a call, or says who has it.
pub fn claim(server: &X11Server, claimant: &Claimant) -> Result<(), X11Failure> {
    let mut seal = lock(&server.seal.0);
    let now = now_ms();
    // Kept at once: whatever fails below, this process speaks by one window only.
    let (window, mut note) = match &*seal {
        Some(mine) => mine.clone(),
        None => seal.insert((new_window(server)?, first_note(claimant, now))).clone(),
    };
    let grab = Grab::take(server)?;
    let owner = owner(server)?;
    if owner != window {
        if let Some(theirs) = read_note(server, owner)?.filter(|theirs| theirs.until_ms > now) {
            grab.end()?;
            return Err(busy(&theirs, now).into());
        }
        note = first_note(claimant, now);
    }
    note.acted_ms = now;
    note.until_ms = now + millis(LONGEST_CALL + claimant.keeps_for);
    write_note(server, window, &note)?;
    server.connection.set_selection_owner(window, server.atoms._OSO_INPUT_LEASE, x11rb::CURRENT_TIME)?;
    if owner != window {
        release_left_behind(server)?;
    }
    grab.end()?;
    *seal = Some((window, note));
    Ok(())
}

/// The call is over; the desktop stays this process's for a while, unless it keeps it for no time at all.
pub fn give_back(server: &X11Server, keeps_for: Duration) -> Result<(), X11Error> {
    if let Some((window, note)) = &mut *lock(&server.seal.0) {
        note.acted_ms = now_ms();
        note.until_ms = note.acted_ms + millis(keeps_for);
        write_note(server, *window, note)?;
    }
    server.sync_server()
}

/// Who else has the desktop now, as a sentence.
pub fn held_by_another(server: &X11Server) -> Result<Option<String>, X11Error> {
    let mine = lock(&server.seal.0).as_ref().map(|(window, _)| *window);
    let owner = owner(server)?;
    if Some(owner) == mine {
        return Ok(None);
    }
    let now = now_ms();
    let theirs = read_note(server, owner)?.filter(|theirs| theirs.until_ms > now);
    Ok(theirs.map(|theirs| described(&theirs, now)))
}

/// Lets go of what a process that is gone has left pressed, unless somebody acts just now.
pub fn clean_up(server: &X11Server) -> Result<(), X11Error> {
    let grab = Grab::take(server)?;
    if owner(server)? == x11rb::NONE {
        release_left_behind(server)?;
    }
    grab.end()
}

/// Says that this may be held down from now on.
pub fn note_held(server: &X11Server, item: X11Held) -> Result<(), X11Error> {
    let held = server.atoms._OSO_HELD;
    server.connection.change_property32(
        PropMode::APPEND,
        server.root,
        held,
        AtomEnum::CARDINAL,
        &[item.number()],
    )?;
    Ok(())
}

/// Says that nothing is held down any more.
pub fn note_free(server: &X11Server) -> Result<(), X11Error> {
    server.connection.delete_property(server.root, server.atoms._OSO_HELD)?;
    Ok(())
}

fn release_left_behind(server: &X11Server) -> Result<(), X11Error> {
    let held = server.atoms._OSO_HELD;
    let reply =
        server.connection.get_property(true, server.root, held, AtomEnum::CARDINAL, 0, MOST_HELD)?.reply()?;
    let items: Vec<X11Held> =
        super::desktop::property_numbers(reply).into_iter().filter_map(X11Held::of_number).collect();
    let released = let_go_of(server, &items)?;
    if released > 0 {
        tracing::warn!("released {released} keys or buttons that another server had left pressed");
    }
    Ok(())
}

fn first_note(claimant: &Claimant, now: u64) -> X11LeaseNote {
    let client = claimant.client.clone();
    X11LeaseNote { pid: std::process::id(), client, since_ms: now, acted_ms: now, until_ms: now }
}

fn new_window(server: &X11Server) -> Result<u32, X11Error> {
    let window = server.connection.generate_id()?;
    let (class, aux) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
    server.connection.create_window(0, window, server.root, -1, -1, 1, 1, 0, class, 0, &aux)?;
    Ok(window)
}

fn owner(server: &X11Server) -> Result<u32, X11Error> {
    Ok(server.connection.get_selection_owner(server.atoms._OSO_INPUT_LEASE)?.reply()?.owner)
}

/// Nothing for a window that is gone, and for one that does not say what we would.
fn read_note(server: &X11Server, window: u32) -> Result<Option<X11LeaseNote>, X11Error> {
    if window == x11rb::NONE {
        return Ok(None);
    }
    let (name, kind) = (server.atoms._OSO_INPUT_LEASE, server.atoms.UTF8_STRING);
    let asked = server.connection.get_property(false, window, name, kind, 0, NOTE_WORDS)?;
    match asked.reply().map_err(X11Error::from) {
        Ok(reply) => Ok(serde_json::from_slice(&reply.value).ok()),
        Err(trouble) if trouble.is_gone() => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

fn write_note(server: &X11Server, window: u32, note: &X11LeaseNote) -> Result<(), X11Error> {
    let text = serde_json::to_vec(note).map_err(|problem| X11Error::Lost(problem.to_string()))?;
    let (name, kind) = (server.atoms._OSO_INPUT_LEASE, server.atoms.UTF8_STRING);
    server.connection.change_property8(PropMode::REPLACE, window, name, kind, &text)?;
    Ok(())
}

/// While it lives the X server listens to us alone, so that looking and taking are one.
struct Grab<'a>(Option<&'a X11Server>);

impl<'a> Grab<'a> {
    fn take(server: &'a X11Server) -> Result<Self, X11Error> {
        server.connection.grab_server()?;
        Ok(Self(Some(server)))
    }

    fn end(mut self) -> Result<(), X11Error> {
        let Some(server) = self.0.take() else { return Ok(()) };
        server.connection.ungrab_server()?;
        Ok(server.connection.flush()?)
    }
}

impl Drop for Grab<'_> {
    fn drop(&mut self) {
        // Over a lost connection there is nothing to give back.
        if let Some(server) = self.0.take() {
            let _ = server.connection.ungrab_server().map(drop);
            let _ = server.connection.flush();
        }
    }
}

fn busy(theirs: &X11LeaseNote, now: u64) -> Error {
    let seconds = |ms: u64| i64::try_from(ms.div_ceil(1000)).unwrap_or(i64::MAX);
    let help = "You can still look. Wait, or ask the person which of the two should go on";
    let error = Error::new(Kind::DesktopBusy, format!("{}. {help}", described(theirs, now)))
        .with("holder_pid", theirs.pid)
        .with("held_for_s", seconds(now.saturating_sub(theirs.since_ms)))
        .with("free_in_s", seconds(theirs.until_ms.saturating_sub(now)));
    match &theirs.client {
        Some(client) => error.with("holder_client", client.as_str()),
        None => error,
    }
}

fn described(theirs: &X11LeaseNote, now: u64) -> String {
    let client = theirs.client.as_ref().map(|name| format!(", started by {name}")).unwrap_or_default();
    let seconds = |since: u64| now.saturating_sub(since) / 1000;
    format!(
        "another server acts on this desktop: process {}{client}, for {} s now; it acted {} s ago, and holds \
         the desktop for {} s more unless it acts again or ends (input.lease_s)",
        theirs.pid,
        seconds(theirs.since_ms),
        seconds(theirs.acted_ms),
        theirs.until_ms.saturating_sub(now).div_ceil(1000)
    )
}

fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let (seconds, part) = (u64::try_from(now.tv_sec).unwrap_or(0), u64::try_from(now.tv_nsec).unwrap_or(0));
    seconds * 1000 + part / 1_000_000
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_the_desktop_is_told() {
        let note = X11LeaseNote {
            pid: 42,
            client: Some("claude".to_owned()),
            since_ms: 1_000,
            acted_ms: 50_000,
            until_ms: 110_000,
        };
        let error = busy(&note, 61_500);
        assert_eq!(error.kind, Kind::DesktopBusy);
        for words in ["process 42, started by claude", "for 60 s now", "acted 11 s ago", "for 49 s more"] {
            assert!(error.message.contains(words), "{}", error.message);
        }
        let facts: Vec<&str> = error.context.iter().map(|(name, _)| *name).collect();
        assert_eq!(facts, ["holder_pid", "held_for_s", "free_in_s", "holder_client"]);
    }
}
