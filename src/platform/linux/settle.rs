//! Waiting until the application that has the keyboard has taken in everything that was sent to it.
//!
//! X11 has no such question, but window managers have one: whether an application is alive. Applications
//! answer it in the order in which things reach them, so the answer says that they have seen what came
//! before. One that does not take part (xterm) is watched from outside: a process that goes on sleeping
//! while the server answers others has nothing left to read.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask};
use x11rb::rust_connection::RustConnection;

use super::desktop::{NESTING, get_property, property_numbers};
use super::window_uid::pid_by_server;
use super::x11::{X11Error, X11Failure, X11Server};
use crate::clock::{Deadline, sleep_really};
use crate::error::{Error, Kind};

/// An application that does not react for so long will not get what is typed.
const REACTION_TIME: Duration = Duration::from_secs(4);
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// A process counts as idle when it slept through so many looks in a row, this far apart.
const IDLE_LOOKS: u32 = 8;
const BETWEEN_LOOKS: Duration = Duration::from_millis(4);
/// For an application that can be neither asked nor watched.
const BLIND_WAIT: Duration = Duration::from_millis(300);
const PROTOCOLS: u32 = 32;

/// So many looks, the application being busy for at most so long, say that it has done what it was told.
const QUIET_LOOKS: u32 = 3;
const QUIET_TIME: Duration = Duration::from_millis(500);

/// Waits until the application with the keyboard has read everything that was sent to it, and tells its process. What
/// it does with it may come later.
pub fn settle_focus(server: &X11Server) -> Result<Option<u32>, X11Error> {
    let focus = server.connection.get_input_focus()?.reply()?.focus;
    is_settled(server, focus)?;
    match owner_process(server, focus) {
        Err(trouble) if trouble.is_gone() => Ok(None),
        result => result,
    }
}

/// The process whose window this is, or is in.
fn owner_process(server: &X11Server, window: u32) -> Result<Option<u32>, X11Error> {
    let mut current = window;
    for _ in 0..NESTING {
        if current <= 1 || current == server.root {
            break;
        }
        if let Some(pid) = pid_by_server(server, current)? {
            return Ok(Some(pid));
        }
        current = server.connection.query_tree(current)?.reply()?.parent;
    }
    Ok(None)
}

/// Waits until the process sleeps, not for long where it has work of its own.
pub fn wait_until_quiet(server: &X11Server, pid: u32) -> Result<(), X11Error> {
    wait_until_asleep(server, pid, QUIET_LOOKS, QUIET_TIME)
}

/// Fails when the application does not react.
pub fn wait_for_focus_owner(server: &X11Server) -> Result<(), X11Failure> {
    let focus = server.connection.get_input_focus()?.reply()?.focus;
    if is_settled(server, focus)? { Ok(()) } else { Err(not_responding().into()) }
}

/// Waits until the window with the focus has taken in that it has it. False when its application does not
/// react in time; keys will then wait in its queue.
pub fn is_settled(server: &X11Server, focus: u32) -> Result<bool, X11Error> {
    match ask_focus(server, focus) {
        // A window that closed has nothing more to take in.
        Err(trouble) if trouble.is_gone() => Ok(true),
        result => result,
    }
}

fn ask_focus(server: &X11Server, focus: u32) -> Result<bool, X11Error> {
    match focus_listener(server, focus)? {
        FocusListener::Answers(xid) => ping_window(server, xid, REACTION_TIME, &|| false),
        FocusListener::Silent(Some(pid)) => wait_until_idle(server, pid),
        FocusListener::Silent(None) => {
            sleep_really(BLIND_WAIT);
            Ok(true)
        }
    }
}

/// Refuses keys to an application that can be asked whether it reads them, and does not answer. Its process otherwise.
pub fn check_takes_keys(server: &X11Server) -> Result<Option<u32>, X11Failure> {
    let focus = server.connection.get_input_focus()?.reply()?.focus;
    if !answers_ping(server, focus, REACTION_TIME, &|| false)? {
        return Err(deaf().into());
    }
    match owner_process(server, focus) {
        Err(trouble) if trouble.is_gone() => Ok(None),
        result => Ok(result?),
    }
}

/// Whether the application of a window has read what it was sent, as far as it can be asked; not for longer than
/// somebody wants to know it.
pub fn answers_ping(
    server: &X11Server,
    window: u32,
    at_most: Duration,
    is_over: &dyn Fn() -> bool,
) -> Result<bool, X11Error> {
    let asked = match focus_listener(server, window) {
        Ok(FocusListener::Answers(xid)) => ping_window(server, xid, at_most, is_over),
        Ok(FocusListener::Silent(_)) => Ok(!is_over()),
        Err(trouble) => Err(trouble),
    };
    match asked {
        Err(trouble) if trouble.is_gone() => Ok(true),
        result => result,
    }
}

enum FocusListener {
    Answers(u32),
    Silent(Option<u32>),
}

/// Who has the keyboard: the focus may be on a window deep inside the one that takes part.
fn focus_listener(server: &X11Server, focus: u32) -> Result<FocusListener, X11Error> {
    let (mut current, mut pid) = (focus, None);
    for _ in 0..NESTING {
        if current <= 1 || current == server.root {
            break;
        }
        let tree = server.connection.query_tree(current)?;
        let protocols =
            property_numbers(get_property(server, current, server.atoms.WM_PROTOCOLS, PROTOCOLS)?.reply()?);
        if protocols.contains(&server.atoms._NET_WM_PING) {
            return Ok(FocusListener::Answers(current));
        }
        if pid.is_none() {
            pid = pid_by_server(server, current)?;
        }
        current = tree.reply()?.parent;
    }
    Ok(FocusListener::Silent(pid))
}

/// Over a connection of its own, because every answer to a window manager comes to it too.
fn ping_window(
    server: &X11Server,
    xid: u32,
    at_most: Duration,
    is_over: &dyn Fn() -> bool,
) -> Result<bool, X11Error> {
    static QUESTIONS: AtomicU32 = AtomicU32::new(1);
    let (line, _) = RustConnection::connect(server.display.as_deref())
        .map_err(|problem| X11Error::Lost(problem.to_string()))?;
    // Answers go to those who listen to the root's children, as the standard says; Qt's go to those who
    // listen to the root itself.
    let masks = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY;
    let listen = ChangeWindowAttributesAux::new().event_mask(masks);
    line.change_window_attributes(server.root, &listen)?.check()?;
    let number = QUESTIONS.fetch_add(1, Ordering::Relaxed);
    let atoms = &server.atoms;
    let data = [atoms._NET_WM_PING, number, xid, 0, 0];
    line.send_event(
        false,
        xid,
        EventMask::NO_EVENT,
        ClientMessageEvent::new(32, xid, atoms.WM_PROTOCOLS, data),
    )?;
    line.flush()?;
    let deadline = Deadline::after(at_most);
    await_pong(&line, server.root, data, &|| deadline.is_over() || is_over())
}

fn await_pong(
    line: &RustConnection,
    root: u32,
    question: [u32; 5],
    is_over: &dyn Fn() -> bool,
) -> Result<bool, X11Error> {
    while !is_over() {
        match line.poll_for_event()? {
            // The answer is the question, sent to the root.
            Some(Event::ClientMessage(answer))
                if answer.window == root && answer.data.as_data32()[..3] == question[..3] =>
            {
                return Ok(true);
            }
            Some(_) => {}
            None => sleep_really(LOOK_AGAIN),
        }
    }
    Ok(false)
}

fn deaf() -> Error {
    let message = format!(
        "the application that has the keyboard has not reacted for {} s, so nothing was typed: it may be busy or hang. \
         Look at it again later",
        REACTION_TIME.as_secs()
    );
    Error::new(Kind::Timeout, message).with("phase", "keys")
}

fn not_responding() -> Error {
    Error::new(
        Kind::Timeout,
        format!(
            "the application that has the keyboard did not react for {} s, so the text was not typed completely",
            REACTION_TIME.as_secs()
        ),
    )
    .with("phase", "type")
}

/// A process may also sleep because it waits for an answer of the server, so the server is made to come
/// round to everyone before each look; then that process wakes. One that never sleeps may be busy with its
/// own things: it is not called deaf.
fn wait_until_idle(server: &X11Server, pid: u32) -> Result<bool, X11Error> {
    wait_until_asleep(server, pid, IDLE_LOOKS, REACTION_TIME).map(|()| true)
}

fn wait_until_asleep(server: &X11Server, pid: u32, wanted: u32, at_most: Duration) -> Result<(), X11Error> {
    let deadline = Deadline::after(at_most);
    let (mut looks, mut before) = (0, None);
    while looks < wanted && !deadline.is_over() {
        sleep_really(BETWEEN_LOOKS);
        server.sync_server()?;
        let now =
            std::fs::read_to_string(format!("/proc/{pid}/status")).map_or(None, |text| asleep_since(&text));
        looks = if now.is_some() && now == before { looks + 1 } else { 0 };
        before = now;
    }
    Ok(())
}

/// How often a process went to sleep, if it sleeps.
fn asleep_since(status: &str) -> Option<u64> {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    field("State:")?.starts_with('S').then_some(())?;
    field("voluntary_ctxt_switches:")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sleeper_tells_how_often_it_fell_asleep() {
        let status = |state: &str| {
            format!(
                "Name:\tState: S\nState:\t{state}\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t7\n"
            )
        };
        assert_eq!(asleep_since(&status("S (sleeping)")), Some(42));
        assert_eq!(asleep_since(&status("R (running)")), None);
        assert_eq!(asleep_since(""), None);
    }
}
