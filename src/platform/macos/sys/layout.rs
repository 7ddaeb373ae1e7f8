//! The keyboard layout that is in use: what each key would write. An event that is created and not sent has
//! it, on any thread; the functions made for this need the main thread of a program with windows.
#![allow(unsafe_code, reason = "the text of an event is written into a buffer")]

use objc2_core_graphics::{CGEvent, CGEventFlags};

use super::decode::keys::{Layer, Layout, Written};

/// Codes above it are no keys.
const LAST_CODE: u16 = 127;
const LAYERS: [(Layer, CGEventFlags); 3] = [
    (Layer::Plain, CGEventFlags(0)),
    (Layer::Shift, CGEventFlags::MaskShift),
    (Layer::Command, CGEventFlags::MaskCommand),
];
/// A key writes one character, a few at most.
const MOST_UNITS: usize = 8;

pub fn in_use() -> Layout {
    let keys = LAYERS.iter().flat_map(|(layer, flags)| {
        (0..=LAST_CODE).map(|code| Written { code, layer: *layer, text: written(code, *flags) })
    });
    Layout::of(keys)
}

fn written(code: u16, flags: CGEventFlags) -> String {
    let event = CGEvent::new_keyboard_event(None, code, true);
    let Some(event) = event.as_deref() else {
        return String::new();
    };
    CGEvent::set_flags(Some(event), flags);
    let (mut units, mut length) = ([0_u16; MOST_UNITS], 0);
    // SAFETY: the buffer has as many units as is said, and both places outlive the call.
    unsafe {
        CGEvent::keyboard_get_unicode_string(
            Some(event),
            MOST_UNITS as _,
            &raw mut length,
            units.as_mut_ptr(),
        );
    }
    let length = usize::try_from(length).unwrap_or(0);
    String::from_utf16_lossy(units.get(..length).unwrap_or_default())
}
