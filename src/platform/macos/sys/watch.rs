//! Change events: an observer for each application whose tree was read, on one thread with a run loop, which
//! rings the bell.
//!
//! Other applications send no events, so events are trusted for a short time only.
#![allow(unsafe_code, reason = "observers are functions of C with a pointer of ours")]

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use accessibility_sys::{
    AXObserverAddNotification, AXObserverCreate, AXObserverGetRunLoopSource, AXObserverRef, AXUIElementRef,
    kAXErrorSuccess,
};
use core_foundation::base::{CFType, CFTypeRef, TCFType};
use core_foundation::runloop::{CFRunLoop, CFRunLoopSource, kCFRunLoopDefaultMode};
use core_foundation::string::{CFString, CFStringRef};

use super::decode::watch::{Followed, enroll};
use super::foundation::{Node, checked};
use super::launch::is_running;
use crate::clock::{Bell, lock, sleep_really};

const NOTIFICATIONS: [&str; 18] = [
    "AXFocusedWindowChanged",
    "AXFocusedUIElementChanged",
    "AXApplicationActivated",
    "AXApplicationDeactivated",
    "AXWindowCreated",
    "AXWindowMoved",
    "AXWindowResized",
    "AXWindowMiniaturized",
    "AXWindowDeminiaturized",
    "AXSheetCreated",
    "AXValueChanged",
    "AXUIElementDestroyed",
    "AXMenuOpened",
    "AXMenuClosed",
    "AXRowCountChanged",
    "AXSelectedChildrenChanged",
    "AXTitleChanged",
    "AXLayoutChanged",
];
/// How long the thread sleeps in its run loop before it looks for new applications.
const TURN: Duration = Duration::from_millis(100);
/// After so many turns it looks which applications have ended.
const TURNS_BETWEEN_ROUNDS: usize = 50;
/// What an application may take to say that it will tell.
const ENROLL_TIME: Duration = Duration::from_millis(300);

/// The thread that listens; it ends when this is dropped.
pub struct Watcher {
    pids: Mutex<Sender<i32>>,
}

impl Watcher {
    pub fn start(bell: Bell) -> std::io::Result<Self> {
        let (pids, wanted) = channel();
        std::thread::Builder::new().name("ax-events".to_owned()).spawn(move || listen(&bell, &wanted))?;
        Ok(Self { pids: Mutex::new(pids) })
    }

    /// Listens to an application from now on, if it was not listened to before.
    pub fn follow(&self, pid: i32) {
        // The thread ends only with this.
        let _ = lock(&self.pids).send(pid);
    }
}

fn listen(bell: &Bell, wanted: &Receiver<i32>) {
    let mut followed: Followed<Observer> = Followed::default();
    for turn in 1_usize.. {
        loop {
            match wanted.try_recv() {
                Ok(pid) => followed.follow(pid, || Observer::start(pid, bell)),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        if turn.is_multiple_of(TURNS_BETWEEN_ROUNDS) {
            followed.keep_alive(|pid| u32::try_from(pid).is_ok_and(is_running));
        }
        // Without any source the loop would return at once.
        if followed.is_empty() {
            sleep_really(TURN);
        } else {
            run_for(TURN);
        }
    }
}

fn run_for(time: Duration) {
    // SAFETY: a constant that CoreFoundation sets before any of our code runs and never changes.
    let mode = unsafe { kCFRunLoopDefaultMode };
    CFRunLoop::run_in_mode(mode, time, false);
}

/// What listens to one application. It lives and dies on the thread of the run loop.
struct Observer {
    source: CFRunLoopSource,
    _observer: CFType,
    /// What the function below gets; it must outlive the observer.
    _bell: Box<Bell>,
}

impl Observer {
    /// `None` when the application is gone or does not answer; it is tried again when it is looked into again.
    fn start(pid: i32, bell: &Bell) -> Option<Self> {
        let bell = Box::new(bell.clone());
        let mut observer: AXObserverRef = std::ptr::null_mut();
        // SAFETY: the function has the type that is wanted, and the place for the observer outlives the call.
        let code = unsafe { AXObserverCreate(pid, ring, &raw mut observer) };
        if code != kAXErrorSuccess || observer.is_null() {
            return None;
        }
        // SAFETY: it is not null, and "Create" hands over the ownership.
        let owned = unsafe { CFType::wrap_under_create_rule(observer as CFTypeRef) };
        let application = Node::application(pid);
        let pointer: *mut c_void = std::ptr::from_ref(&*bell).cast_mut().cast();
        let asked = application.within(ENROLL_TIME);
        let enrolled = enroll(&NOTIFICATIONS, |name| {
            let name = CFString::new(name);
            // SAFETY: observer, element and name are valid; the bell lives as long as the observer, which holds the
            // pointer, and is only read through it.
            checked(unsafe {
                AXObserverAddNotification(observer, asked.raw(), name.as_concrete_TypeRef(), pointer)
            })
        });
        if !enrolled {
            return None;
        }
        // SAFETY: the observer is valid; "Get" leaves the ownership with it, so another owner is added.
        let source = unsafe { CFRunLoopSource::wrap_under_get_rule(AXObserverGetRunLoopSource(observer)) };
        // SAFETY: a constant, as above.
        let mode = unsafe { kCFRunLoopDefaultMode };
        CFRunLoop::get_current().add_source(&source, mode);
        Some(Self { source, _observer: owned, _bell: bell })
    }
}

impl Drop for Observer {
    /// Taken out of the loop first: nothing is called afterwards, so the bell may go.
    fn drop(&mut self) {
        // SAFETY: a constant, as above.
        let mode = unsafe { kCFRunLoopDefaultMode };
        CFRunLoop::get_current().remove_source(&self.source, mode);
    }
}

unsafe extern "C" fn ring(_: AXObserverRef, _: AXUIElementRef, _: CFStringRef, bell: *mut c_void) {
    // SAFETY: the pointer is the one that `Observer::start` gave, to a bell that outlives the observer.
    if let Some(bell) = unsafe { bell.cast::<Bell>().as_ref() } {
        bell.ring();
    }
}
