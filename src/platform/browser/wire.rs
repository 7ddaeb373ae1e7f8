//! The DevTools protocol on a pipe: orders with numbers, answers by number, events.
//!
//! Reading is lenient: a message that is not understood is skipped, and a field that nobody asked for is no error. Every
//! wait has a deadline and ends when its call is cancelled. A dialog that a page opens holds up everything that the page
//! was asked, so that whoever waits for the page is told of the dialog instead.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::clock::{Bell, Cancel, Clock, Deadline, lock};
use crate::error::{Error, Kind};

/// A screenshot of an 8K screen and a tree of a million nodes are smaller.
const LARGEST_MESSAGE: u64 = 256 << 20;

/// What is wrong with an order or with its answer.
#[derive(Clone, Debug, PartialEq)]
pub enum CdpFailure {
    /// The browser says no.
    Refused {
        method: &'static str,
        message: String,
    },
    /// A dialog of the page is open, and nothing else is answered meanwhile.
    DialogOpened,
    TimedOut {
        method: &'static str,
    },
    /// The answer is not what this program can read.
    Unreadable {
        method: &'static str,
        problem: String,
    },
    /// The browser has ended, or its pipe broke.
    Lost,
    Cancelled,
}

impl CdpFailure {
    /// The page is between the process that it had and the one that it gets.
    pub fn is_between_processes(&self) -> bool {
        matches!(self, CdpFailure::Refused { message, .. } if message == "Not attached to an active page")
    }
}

impl From<CdpFailure> for Error {
    fn from(failure: CdpFailure) -> Self {
        match failure {
            CdpFailure::Refused { method, message } => {
                Error::internal(format!("the browser refuses {method}: {message}"))
            }
            CdpFailure::DialogOpened => Error::new(
                Kind::WindowOccluded,
                "a dialog of the page is open and holds it up; answer the dialog first (list_windows has it)",
            ),
            CdpFailure::TimedOut { method } => {
                Error::new(Kind::Timeout, format!("the page did not answer {method} in time"))
                    .with("phase", "browser")
            }
            CdpFailure::Unreadable { method, problem } => {
                Error::internal(format!("the browser's answer to {method} cannot be read: {problem}"))
            }
            CdpFailure::Lost => {
                Error::new(Kind::WindowGone, "the browser has ended; start the server again to have another")
            }
            CdpFailure::Cancelled => Error::cancelled(),
        }
    }
}

pub type CdpResult<T> = Result<T, CdpFailure>;

/// An event: which session it is of, its name and what it says.
pub struct CdpEvent<'a> {
    pub session: Option<&'a str>,
    pub method: &'a str,
    params: Option<&'a RawValue>,
}

impl CdpEvent<'_> {
    /// What it says, if it says what is expected.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.params?.get()).ok()
    }
}

/// One message of the browser. Whatever else it has is not looked at.
#[derive(Deserialize)]
struct CdpMessage<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct CdpRefusal {
    #[serde(default)]
    message: String,
}

#[derive(Serialize)]
struct CdpOrder<'a, P> {
    id: u64,
    method: &'a str,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    params: P,
}

/// What became of an order.
#[derive(Debug)]
enum CdpOutcome {
    Answered(Box<RawValue>),
    Refused(String),
    DialogOpened,
    Lost,
}

#[derive(Debug, Default)]
struct AnswerSlot {
    outcome: Mutex<Option<CdpOutcome>>,
    bell: Bell,
}

impl AnswerSlot {
    fn fill(&self, outcome: CdpOutcome) {
        *lock(&self.outcome) = Some(outcome);
        self.bell.ring();
    }
}

/// An order that was sent and not answered yet.
#[derive(Debug)]
pub struct SentOrder {
    id: u64,
    method: &'static str,
    slot: Arc<AnswerSlot>,
}

#[derive(Debug)]
struct PendingOrder {
    session: Option<String>,
    slot: Arc<AnswerSlot>,
}

/// The pipe to one browser.
pub struct CdpConnection {
    orders: Mutex<Option<Box<dyn Write + Send>>>,
    last_id: AtomicU64,
    pending: Mutex<HashMap<u64, PendingOrder>>,
    lost: OnceLock<()>,
    clock: Clock,
}

impl CdpConnection {
    pub fn new(orders: Box<dyn Write + Send>) -> Self {
        Self {
            orders: Mutex::new(Some(orders)),
            last_id: AtomicU64::new(0),
            pending: Mutex::default(),
            lost: OnceLock::new(),
            clock: Clock::real(),
        }
    }

    /// Reads on a thread of its own until the browser ends; events are handed on in their order.
    pub fn listen(
        self: &Arc<Self>,
        answers: Box<dyn Read + Send>,
        mut on_event: impl FnMut(&CdpEvent<'_>) + Send + 'static,
        on_end: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        let connection = self.clone();
        std::thread::Builder::new().name("browser-events".to_owned()).spawn(move || {
            let mut answers = BufReader::with_capacity(1 << 16, answers);
            while let Some(message) = next_message(&mut answers) {
                connection.take_message(&message, &mut on_event);
            }
            connection.give_up();
            on_end();
        })?;
        Ok(())
    }

    fn take_message(&self, message: &[u8], on_event: &mut impl FnMut(&CdpEvent<'_>)) {
        let Ok(message) = serde_json::from_slice::<CdpMessage<'_>>(message) else { return };
        match (message.id, &message.method) {
            (Some(id), _) => self.take_answer(id, message.result, message.error),
            (None, Some(method)) => {
                on_event(&CdpEvent { session: message.session.as_deref(), method, params: message.params });
            }
            (None, None) => {}
        }
    }

    fn take_answer(&self, id: u64, result: Option<&RawValue>, error: Option<&RawValue>) {
        // Nobody waits any more for one that came too late.
        let Some(order) = lock(&self.pending).remove(&id) else { return };
        let refusal =
            error.map(|error| serde_json::from_str::<CdpRefusal>(error.get()).unwrap_or_default().message);
        order.slot.fill(match (refusal, result) {
            (Some(message), _) => CdpOutcome::Refused(message),
            (None, Some(result)) => CdpOutcome::Answered(result.to_owned()),
            (None, None) => CdpOutcome::Refused("an answer without a result".to_owned()),
        });
    }

    /// Whoever waits for one of these sessions is told that a dialog holds it up.
    pub fn interrupt(&self, is_held_up: impl Fn(&str) -> bool) {
        lock(&self.pending).retain(|_, order| {
            let held_up = order.session.as_deref().is_some_and(&is_held_up);
            if held_up {
                order.slot.fill(CdpOutcome::DialogOpened);
            }
            !held_up
        });
    }

    fn give_up(&self) {
        self.lost.get_or_init(|| ());
        for (_, order) in lock(&self.pending).drain() {
            order.slot.fill(CdpOutcome::Lost);
        }
    }

    pub fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// The browser ends when its pipe does.
    pub fn close_pipe(&self) {
        lock(&self.orders).take();
    }

    pub fn send(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: impl Serialize,
    ) -> CdpResult<SentOrder> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let slot = Arc::new(AnswerSlot::default());
        let pending = PendingOrder { session: session.map(str::to_owned), slot: slot.clone() };
        lock(&self.pending).insert(id, pending);
        let sent = self.write_order(&CdpOrder { id, method, session, params });
        if sent.is_err() || self.is_lost() {
            lock(&self.pending).remove(&id);
            return Err(CdpFailure::Lost);
        }
        Ok(SentOrder { id, method, slot })
    }

    fn write_order(&self, order: &impl Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(order)?;
        line.push(0);
        match &mut *lock(&self.orders) {
            Some(orders) => orders.write_all(&line).and_then(|()| orders.flush()),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// For orders of which nobody has to know the answer.
    pub fn tell(&self, session: Option<&str>, method: &'static str, params: impl Serialize) {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        // If the browser has ended, whoever waits for it is told.
        let _ = self.write_order(&CdpOrder { id, method, session, params });
    }

    pub fn sleep(&self, time: Duration, cancel: &Cancel) -> CdpResult<()> {
        self.clock.sleep(time, cancel).map_err(|_| CdpFailure::Cancelled)
    }

    pub fn wait<T: DeserializeOwned>(
        &self,
        order: &SentOrder,
        deadline: Deadline,
        cancel: &Cancel,
    ) -> CdpResult<T> {
        let method = order.method;
        let rung = self.clock.sleep_unless_rung(&order.slot.bell, 0, deadline.left(), cancel);
        let outcome = lock(&order.slot.outcome).take();
        match (rung, outcome) {
            (_, Some(CdpOutcome::Answered(answer))) => serde_json::from_str(answer.get())
                .map_err(|problem| CdpFailure::Unreadable { method, problem: problem.to_string() }),
            (_, Some(CdpOutcome::Refused(message))) => Err(CdpFailure::Refused { method, message }),
            (_, Some(CdpOutcome::DialogOpened)) => Err(CdpFailure::DialogOpened),
            (_, Some(CdpOutcome::Lost)) => Err(CdpFailure::Lost),
            (rung, None) => {
                lock(&self.pending).remove(&order.id);
                Err(if rung.is_err() { CdpFailure::Cancelled } else { CdpFailure::TimedOut { method } })
            }
        }
    }
}

/// The bytes up to the next zero; nothing at the end, and nothing of what is too long to be a message.
fn next_message(answers: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    let read = answers.by_ref().take(LARGEST_MESSAGE).read_until(0, &mut message);
    (read.is_ok() && message.pop() == Some(0)).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::io::PipeWriter;

    /// A browser that says what a test has it say.
    struct FakeBrowser {
        connection: Arc<CdpConnection>,
        says: PipeWriter,
        heard: Arc<Mutex<Vec<String>>>,
    }

    fn fake_browser() -> FakeBrowser {
        let (answers, says) = std::io::pipe().unwrap();
        let connection = Arc::new(CdpConnection::new(Box::new(std::io::sink())));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = heard.clone();
        let on_event = move |event: &CdpEvent<'_>| lock(&told).push(event.method.to_owned());
        connection.listen(Box::new(answers), on_event, || ()).unwrap();
        FakeBrowser { connection, says, heard }
    }

    impl FakeBrowser {
        fn say(&mut self, message: &str) {
            self.says.write_all(format!("{message}\0").as_bytes()).unwrap();
        }

        fn wait(&self, order: &SentOrder, time: Duration) -> CdpResult<Value> {
            self.connection.wait(order, Deadline::after(time), &Cancel::new())
        }
    }

    #[track_caller]
    fn check(message: &str, expected: CdpResult<Value>) {
        let mut browser = fake_browser();
        let order = browser.connection.send(Some("s"), "A.b", json!({})).unwrap();
        browser.say(message);
        assert_eq!(browser.wait(&order, Duration::from_secs(5)), expected, "{message}");
    }

    #[test]
    fn answers_are_read_whatever_else_they_say() {
        check(r#"{"id":1,"result":{"x":1}}"#, Ok(json!({ "x": 1 })));
        check(r#"{"id":1,"sessionId":"s","novelty":[1],"result":{}}"#, Ok(json!({})));
        let refused = |message: &str| CdpFailure::Refused { method: "A.b", message: message.to_owned() };
        check(r#"{"id":1,"error":{"code":-1,"message":"no"}}"#, Err(refused("no")));
        check(r#"{"id":1,"error":"odd"}"#, Err(refused("")));
    }

    #[test]
    fn garbage_and_answers_to_nobody_are_skipped() {
        let mut browser = fake_browser();
        let order = browser.connection.send(None, "A.b", json!({})).unwrap();
        for message in ["", "{", "[]", "7", r#"{"id":99,"result":{}}"#, r#"{"id":"1"}"#, "{}"] {
            browser.say(message);
        }
        browser.say(r#"{"method":"Page.novelty"}"#);
        browser.say(r#"{"id":1,"result":{}}"#);
        assert_eq!(browser.wait(&order, Duration::from_secs(5)), Ok(json!({})));
        assert_eq!(*lock(&browser.heard), ["Page.novelty"]);
    }

    #[test]
    fn a_wait_ends_with_its_time_its_call_or_the_browser() {
        let browser = fake_browser();
        let send = || browser.connection.send(Some("s"), "A.b", json!({})).unwrap();
        let late = browser.wait(&send(), Duration::from_millis(1));
        assert_eq!(late, Err(CdpFailure::TimedOut { method: "A.b" }));
        let cancel = Cancel::new();
        cancel.fire();
        let hour = Deadline::after(Duration::from_secs(3600));
        let cancelled = browser.connection.wait::<Value>(&send(), hour, &cancel);
        assert_eq!(cancelled, Err(CdpFailure::Cancelled));
        let order = send();
        drop(browser.says);
        assert_eq!(browser.connection.wait::<Value>(&order, hour, &Cancel::new()), Err(CdpFailure::Lost));
        assert!(matches!(browser.connection.send(None, "A.b", json!({})), Err(CdpFailure::Lost)));
        assert!(lock(&browser.connection.pending).is_empty());
    }

    #[test]
    fn a_dialog_interrupts_only_what_it_holds_up() {
        let browser = fake_browser();
        let held_up = browser.connection.send(Some("s"), "A.b", json!({})).unwrap();
        let other = browser.connection.send(Some("t"), "A.b", json!({})).unwrap();
        browser.connection.interrupt(|session| session == "s");
        assert_eq!(browser.wait(&held_up, Duration::from_secs(5)), Err(CdpFailure::DialogOpened));
        let late = browser.wait(&other, Duration::from_millis(1));
        assert_eq!(late, Err(CdpFailure::TimedOut { method: "A.b" }));
    }
}
