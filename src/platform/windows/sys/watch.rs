//! A thread that rings the bell when windows change: come, go, move, are renamed or come to the front, and when their
//! elements say that they have changed. Many changes within a moment ring it once.
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use windows::Win32::Foundation::HWND;
use windows::Win32::System::Threading::INFINITE;
use windows::Win32::UI::Accessibility::{HWINEVENTHOOK, SetWinEventHook};
use windows::Win32::UI::WindowsAndMessaging::{
    DispatchMessageW, EVENT_OBJECT_CREATE, EVENT_OBJECT_VALUECHANGE, EVENT_SYSTEM_FOREGROUND,
    EVENT_SYSTEM_MENUEND, EVENT_SYSTEM_MINIMIZEEND, MSG, MWMO_INPUTAVAILABLE, MsgWaitForMultipleObjectsEx,
    PM_REMOVE, PeekMessageW, QS_ALLINPUT, WINEVENT_OUTOFCONTEXT, WINEVENT_SKIPOWNPROCESS, WM_QUIT,
};

use super::decode::changes::{Pending, counts};
use crate::clock::{Bell, Clock};

pub struct Watcher {
    listening: Arc<AtomicBool>,
}

/// Windows and elements; and menus, minimizing and the foreground.
const HEARD: &[(u32, u32)] = &[
    (EVENT_OBJECT_CREATE, EVENT_OBJECT_VALUECHANGE),
    (EVENT_SYSTEM_FOREGROUND, EVENT_SYSTEM_MENUEND),
    (EVENT_SYSTEM_MINIMIZEEND - 1, EVENT_SYSTEM_MINIMIZEEND),
];

thread_local! {
    /// A hook gets nothing but the event, on the thread that asked for it.
    #[allow(clippy::missing_const_for_thread_local, reason = "it is const; the lint looks at what the macro makes of it")]
    static HEARD_LATELY: RefCell<Option<Pending>> = const { RefCell::new(None) };
}

impl Watcher {
    pub fn start(clock: Clock, bell: Bell) -> std::io::Result<Self> {
        let listening = Arc::new(AtomicBool::new(false));
        let told = listening.clone();
        std::thread::Builder::new()
            .name("window events".to_owned())
            .spawn(move || listen(clock, &bell, &told))?;
        Ok(Self { listening })
    }

    pub fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Acquire)
    }
}

/// Ends with the process.
fn listen(clock: Clock, bell: &Bell, listening: &AtomicBool) {
    HEARD_LATELY.set(Some(Pending::new(clock)));
    let flags = WINEVENT_OUTOFCONTEXT | WINEVENT_SKIPOWNPROCESS;
    // SAFETY: the callback is a function of this program, called on this thread while it waits for messages.
    let hooked = HEARD.iter().all(|(from, to)| {
        !unsafe { SetWinEventHook(*from, *to, None, Some(heard), 0, 0, flags) }.is_invalid()
    });
    listening.store(hooked, Ordering::Release);
    if !hooked {
        tracing::warn!("Windows sends no change events; waits poll");
        return;
    }
    while dispatch_messages() {
        if HEARD_LATELY.with_borrow_mut(|pending| pending.as_mut().is_some_and(Pending::take)) {
            bell.ring();
        }
        wait_for_messages(HEARD_LATELY.with_borrow(|pending| pending.as_ref().and_then(Pending::due_in)));
    }
    listening.store(false, Ordering::Release);
}

/// The hooks are called from in here. Says whether there will be more.
fn dispatch_messages() -> bool {
    let mut message = MSG::default();
    // SAFETY: the message outlives each call; what is dispatched are the hooks' own.
    unsafe {
        while PeekMessageW(&raw mut message, None, 0, 0, PM_REMOVE).as_bool() {
            if message.message == WM_QUIT {
                return false;
            }
            DispatchMessageW(&raw const message);
        }
    }
    true
}

/// What is already there ends the wait too, although it was there before.
fn wait_for_messages(at_most: Option<Duration>) {
    let time = at_most.map_or(INFINITE, |time| u32::try_from(time.as_millis() + 1).unwrap_or(INFINITE));
    // SAFETY: no handles are waited for, only messages.
    unsafe { MsgWaitForMultipleObjectsEx(None, time, QS_ALLINPUT, MWMO_INPUTAVAILABLE) };
}

extern "system" fn heard(_: HWINEVENTHOOK, event: u32, _: HWND, object: i32, _: i32, _: u32, _: u32) {
    if counts(event, object) {
        HEARD_LATELY.with_borrow_mut(|pending| pending.as_mut().map(Pending::heard));
    }
}
