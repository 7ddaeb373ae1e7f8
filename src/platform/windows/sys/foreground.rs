//! Bringing a window to the foreground, within Windows' rules.
//!
//! Windows lets a program take the foreground only shortly after the person worked with it. The one exception that its
//! documentation names (LockSetForegroundWindow) is the Alt key: once it is pressed, everybody may. It is pressed
//! together with a key that means nothing, so that the window that gets it does not open its menu. Return codes are not
//! believed: the foreground is looked at.
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::time::Duration;

use windows::Win32::UI::Input::KeyboardAndMouse::IsWindowEnabled;
use windows::Win32::UI::WindowsAndMessaging::{
    GetLastActivePopup, IsIconic, SW_RESTORE, SetForegroundWindow, ShowWindowAsync,
};

use super::decode::desktop::{active_of, gone, hwnd_of, why_not_active};
use super::decode::keys::{Event, Vk};
use super::desktop::{foreground, handle, look, number, raise};
use super::input::Hands;
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::platform::Activation;
use crate::platform::poll::{Polling, poll_until};

/// How long the first, polite try may take, and both together.
const POLITE: Duration = Duration::from_millis(250);
const WHOLE: Duration = Duration::from_millis(1_500);
const STEP: Duration = Duration::from_millis(10);

const ALT: Vk = Vk { code: 0x12, extended: false };
/// A number that no keyboard has.
const NO_KEY: Vk = Vk { code: 0xe8, extended: false };

pub fn activate(hands: &Hands, clock: &Clock, uid: &str) -> Result<Activation> {
    let hwnd = hwnd_of(uid)?;
    let sight = look()?;
    if !sight.find(hwnd).is_some_and(|raw| raw.visible) {
        return Err(gone(uid));
    }
    restore(hwnd);
    ask(hwnd);
    if came(clock, hwnd, POLITE)? {
        return Ok(Activation::Activated);
    }
    hands.with_events(&[Event::Down(ALT), Event::Down(NO_KEY), Event::Up(NO_KEY)], || ask(hwnd))?;
    if came(clock, hwnd, WHOLE - POLITE)? {
        return Ok(Activation::Activated);
    }
    Ok(Activation::Refused(why_not_active(&look()?, WHOLE)))
}

fn restore(hwnd: u64) {
    // SAFETY: a handle that may be stale; what is returned is how the window was before.
    unsafe {
        if IsIconic(handle(hwnd)).as_bool() {
            let _ = ShowWindowAsync(handle(hwnd), SW_RESTORE);
        }
    }
}

/// A window that gets the keyboard is not always put above the others, so that is asked for too.
fn ask(hwnd: u64) {
    let wanted = handle(stands_for(hwnd));
    // SAFETY: a handle that may be stale. Whether it was obeyed is looked at.
    unsafe {
        let _ = SetForegroundWindow(wanted);
    }
    if let Some(why) = raise(wanted) {
        tracing::debug!("a window was not put above the others: {why}");
    }
}

/// What a person would get who clicks on the window.
fn stands_for(hwnd: u64) -> u64 {
    // SAFETY: handles that may be stale, and one back.
    let (enabled, popup) =
        unsafe { (IsWindowEnabled(handle(hwnd)).as_bool(), number(GetLastActivePopup(handle(hwnd)))) };
    active_of(hwnd, popup, enabled)
}

/// Whether keys go to the window, or to a dialog that keeps it from getting any, before the time is over.
fn came(clock: &Clock, hwnd: u64, at_most: Duration) -> Result<bool> {
    let found = poll_until(clock, &Cancel::new(), Polling::every(STEP, at_most), || {
        let front = foreground();
        if front == 0 || (front != hwnd && front != stands_for(hwnd)) {
            return Ok(None);
        }
        let restored = look()?.find(hwnd).is_some_and(|raw| !raw.minimized);
        Ok::<_, Error>(restored.then_some(()))
    })?;
    Ok(found.is_some())
}
