//! A thread that rings the bell when windows change: come, go, move, are renamed or come to the front, and when their
//! elements say that they have changed.
#![allow(unsafe_code, reason = "Windows is asked by functions of C")]

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windows::Win32::Foundation::HWND;
use windows::Win32::UI::Accessibility::{HWINEVENTHOOK, SetWinEventHook};
use windows::Win32::UI::WindowsAndMessaging::{
    DispatchMessageW, EVENT_OBJECT_CREATE, EVENT_OBJECT_VALUECHANGE, EVENT_SYSTEM_FOREGROUND,
    EVENT_SYSTEM_MENUEND, EVENT_SYSTEM_MINIMIZEEND, GetMessageW, MSG, OBJID_CARET, OBJID_CURSOR,
    WINEVENT_OUTOFCONTEXT, WINEVENT_SKIPOWNPROCESS,
};

use crate::clock::Bell;

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
    static BELL: RefCell<Option<Bell>> = const { RefCell::new(None) };
}

impl Watcher {
    pub fn start(bell: Bell) -> std::io::Result<Self> {
        let listening = Arc::new(AtomicBool::new(false));
        let told = listening.clone();
        std::thread::Builder::new().name("window events".to_owned()).spawn(move || listen(bell, &told))?;
        Ok(Self { listening })
    }

    pub fn is_listening(&self) -> bool {
        self.listening.load(Ordering::Acquire)
    }
}

/// Ends with the process.
fn listen(bell: Bell, listening: &AtomicBool) {
    BELL.set(Some(bell));
    let flags = WINEVENT_OUTOFCONTEXT | WINEVENT_SKIPOWNPROCESS;
    // SAFETY: the callback is a function of this program, called on this thread while it waits for messages.
    let hooked = HEARD.iter().all(|(from, to)| {
        !unsafe { SetWinEventHook(*from, *to, None, Some(heard), 0, 0, flags) }.is_invalid()
    });
    listening.store(hooked, Ordering::Release);
    if !hooked {
        tracing::warn!("Windows tells nothing of changes; waits look again and again");
        return;
    }
    let mut message = MSG::default();
    // SAFETY: the message outlives each call; what is dispatched are the hooks' own.
    unsafe {
        while GetMessageW(&raw mut message, None, 0, 0).0 > 0 {
            DispatchMessageW(&raw const message);
        }
    }
    listening.store(false, Ordering::Release);
}

/// The text cursor blinks and the pointer moves without anything being different.
extern "system" fn heard(_: HWINEVENTHOOK, _: u32, _: HWND, object: i32, _: i32, _: u32, _: u32) {
    if object == OBJID_CARET.0 || object == OBJID_CURSOR.0 {
        return;
    }
    BELL.with_borrow(|bell| {
        if let Some(bell) = bell {
            bell.ring();
        }
    });
}
