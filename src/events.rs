//! What happens, as it happens, for those who watch: calls, windows, approvals, the stop switch.
//!
//! No event is built unless it can be watched. A watcher that is too slow is notified that it missed
//! something; it never makes a call wait.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::broadcast;

use crate::clock::lock;
use crate::config::limits;

#[derive(Debug)]
pub struct Events {
    watched: AtomicBool,
    channel: broadcast::Sender<Arc<Event>>,
    history: Mutex<History>,
}

/// One thing that happened. `data` is a JSON object.
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    pub number: u64,
    pub kind: &'static str,
    pub data: String,
}

/// The numbers that were given out, and the latest calls.
#[derive(Debug, Default)]
struct History {
    last: u64,
    calls: VecDeque<Arc<Event>>,
}

/// The kinds of events. A call is told when it begins and when it ends.
pub const STARTED: &str = "call_started";
pub const CALL: &str = "call";
/// Something on the screen changed; nobody says what.
pub const CHANGED: &str = "changed";
pub const WINDOWS: &str = "windows";
pub const APPROVAL: &str = "approval";
pub const APPROVAL_CLOSED: &str = "approval_closed";
pub const HALT: &str = "halt";

impl Default for Events {
    fn default() -> Self {
        let (channel, _) = broadcast::channel(limits::EVENT_QUEUE);
        Self { watched: AtomicBool::new(false), channel, history: Mutex::default() }
    }
}

impl Events {
    /// From here on events are made: a surface is up through which they can be watched.
    pub fn begin(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    pub fn wanted(&self) -> bool {
        self.watched.load(Ordering::Relaxed)
    }

    /// How many watch just now.
    pub fn watchers(&self) -> usize {
        self.channel.receiver_count()
    }

    pub fn watch(&self) -> broadcast::Receiver<Arc<Event>> {
        self.channel.subscribe()
    }

    /// `data` is made only when somebody may see it. It is held to the order of the numbers.
    pub fn publish(&self, kind: &'static str, data: impl FnOnce() -> String) {
        if !self.wanted() {
            return;
        }
        let data = data();
        let mut history = lock(&self.history);
        history.last += 1;
        let event = Arc::new(Event { number: history.last, kind, data });
        if kind == CALL {
            if history.calls.len() == limits::EVENT_HISTORY {
                history.calls.pop_front();
            }
            history.calls.push_back(event.clone());
        }
        // Nobody listening is no error.
        let _ = self.channel.send(event);
    }

    pub fn publish_value(&self, kind: &'static str, data: impl FnOnce() -> Value) {
        self.publish(kind, || data().to_string());
    }

    /// The latest calls after that number, and the number of the last event of any kind.
    pub fn calls_after(&self, number: u64) -> (Vec<Arc<Event>>, u64) {
        let history = lock(&self.history);
        (history.calls.iter().filter(|event| event.number > number).cloned().collect(), history.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::broadcast::error::TryRecvError;

    fn events() -> Events {
        let events = Events::default();
        events.begin();
        events
    }

    #[test]
    fn nothing_is_made_for_nobody() {
        let events = Events::default();
        events.publish(CALL, || unreachable!("nobody can watch"));
        assert_eq!(events.calls_after(0), (Vec::new(), 0));
    }

    #[test]
    fn watchers_get_what_happens_and_late_ones_the_calls() {
        let events = events();
        let mut watcher = events.watch();
        events.publish("halt", || "{}".to_owned());
        events.publish(CALL, || "{\"a\":1}".to_owned());
        assert_eq!(watcher.try_recv().unwrap().kind, "halt");
        assert_eq!(watcher.try_recv().unwrap().number, 2);
        let (calls, last) = events.calls_after(0);
        assert_eq!((calls.len(), calls[0].number, last), (1, 2, 2));
        assert!(events.calls_after(2).0.is_empty());
    }

    #[test]
    fn a_slow_watcher_is_told_and_history_is_bounded() {
        let events = events();
        let mut watcher = events.watch();
        for _ in 0..limits::EVENT_QUEUE + limits::EVENT_HISTORY {
            events.publish(CALL, String::new);
        }
        assert!(matches!(watcher.try_recv(), Err(TryRecvError::Lagged(_))));
        assert_eq!(events.calls_after(0).0.len(), limits::EVENT_HISTORY);
    }
}
