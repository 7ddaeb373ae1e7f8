//! Putting characters on keys that the layout leaves unused.
//!
//! Every change of the keyboard makes every program read it again, and a window manager grab its keys again:
//! openbox stands still for 80 ms each time. So all keys are changed by one request of the XKB extension,
//! which names a span of keys and gives those in between back as they were. The core request cannot do that
//! (it knows only part of what a key means), so without XKB each key is changed alone.

use x11rb::errors::ReplyError;
use x11rb::protocol::xkb::{self, ConnectionExt as _, KeySymMap, MapPart, SetMapAux, SetMapFlags, VMod};
use x11rb::protocol::xproto::ConnectionExt as _;

use super::layout::{Assignment, Keycode};
use super::x11::{X11Error, X11Server};

/// The type of keys that have a second meaning with shift; its number is the same in every layout.
const TWO_LEVELS: u8 = 1;

pub fn put_on_keys(server: &X11Server, assignments: &[Assignment]) -> Result<(), X11Error> {
    if !(server.extensions.keyboard && change_span(server, assignments)?) {
        for assignment in assignments {
            server.connection.change_keyboard_mapping(1, assignment.code, 2, &assignment.row())?;
        }
    }
    server.sync_server()
}

/// False when the server refuses, which it does as a whole.
fn change_span(server: &X11Server, assignments: &[Assignment]) -> Result<bool, X11Error> {
    let codes = assignments.iter().map(|assignment| assignment.code);
    let (Some(first), Some(last)) = (codes.clone().min(), codes.max()) else { return Ok(true) };
    let Some(mut keys) = read_span(server, first, last)? else { return Ok(false) };
    for assignment in assignments {
        if let Some(key) = keys.get_mut(usize::from(assignment.code - first)) {
            *key = two_levels(assignment);
        }
    }
    write_span(server, first, keys)
}

fn two_levels(assignment: &Assignment) -> KeySymMap {
    KeySymMap { kt_index: [TWO_LEVELS, 0, 0, 0], group_info: 1, width: 2, syms: assignment.row().to_vec() }
}

fn read_span(server: &X11Server, first: Keycode, last: Keycode) -> Result<Option<Vec<KeySymMap>>, X11Error> {
    let count = last - first + 1;
    let (none, mods) = (MapPart::from(0u16), VMod::from(0u16));
    let keyboard = xkb::ID::USE_CORE_KBD.into();
    let symbols = MapPart::KEY_SYMS;
    let asked = server
        .connection
        .xkb_get_map(keyboard, none, symbols, 0, 0, first, count, 0, 0, 0, 0, mods, 0, 0, 0, 0, 0, 0)?;
    match asked.reply() {
        Ok(reply) => Ok(reply.map.syms_rtrn.filter(|keys| keys.len() == usize::from(count))),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

fn write_span(server: &X11Server, first: Keycode, keys: Vec<KeySymMap>) -> Result<bool, X11Error> {
    let count = keys.len() as u8;
    let total = keys.iter().map(|key| key.syms.len()).sum::<usize>() as u16;
    let values = SetMapAux::new().syms(keys);
    let (flags, mods) = (SetMapFlags::from(0u16), VMod::from(0u16));
    let keyboard = xkb::ID::USE_CORE_KBD.into();
    let asked = server.connection.xkb_set_map(
        keyboard, flags, 0, 0, 0, 0, first, count, total, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, mods,
        &values,
    )?;
    match asked.check() {
        Ok(()) => Ok(true),
        Err(ReplyError::X11Error(_)) => Ok(false),
        Err(problem) => Err(problem.into()),
    }
}
