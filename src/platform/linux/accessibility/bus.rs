//! The accessibility bus: one connection of our own on one thread, and calls that overlap.
//!
//! Callers are synchronous. They hand a piece of work to the thread and wait for its result, at most as long
//! as they said, and not a moment longer than their call lives. A round trip costs a tenth of a millisecond,
//! so what counts is that many are on their way at once.
//!
//! `Properties.GetAll` is for Firefox alone: it ends Qt applications (kcalc 5.15 and assistant 6.4 died of it). So there
//! are no proxies here, only calls.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use zbus::message::Sequence;
use zbus::zvariant::{ObjectPath, OwnedObjectPath, Value};
use zbus::{Connection, Message, connection};

use super::direct::DirectLine;
use super::events;
use super::object::{ACCESSIBLE, AtspiObject};
use crate::clock::{Bell, Cancel, Clock, Deadline, lock};
use crate::error::{Error, Kind, Result};

/// More than that on their way at once gains nothing and lets queues grow in applications.
const CALLS_IN_FLIGHT: usize = 512;
/// A bus that cannot be reached in this time is not there, as far as a caller is concerned.
pub const CONNECT_TIME: Duration = Duration::from_secs(3);
/// A bus that was started for a private desktop does come, but late on a busy machine.
pub const PRIVATE_CONNECT_TIME: Duration = Duration::from_secs(15);
/// An attempt to connect goes on for so long, also when nobody waits for it any more.
const ATTEMPT_TIME: Duration = Duration::from_secs(30);
/// A bus that let somebody wait for that is not waited for again so soon.
const MUTE_FOR: Duration = Duration::from_secs(10);
/// An application that let so many calls in a row time out is not asked further.
const TIMEOUTS_IN_A_ROW: u32 = 3;
/// For so long a hung application gets one short question instead of a look.
const QUARANTINE: Duration = Duration::from_secs(30);
/// A popup comes with what is in it; what showed before that is no popup that came last.
const MOST_SHOWN: usize = 64;
const SHORT_QUESTION: Duration = Duration::from_millis(300);
/// What a caller waits beyond its own deadline, for the work to say itself what it could not do.
const GRACE: Duration = Duration::from_millis(500);

type Work = Pin<Box<dyn Future<Output = ()>>>;
type BusJob = Box<dyn FnOnce(Rc<BusSession>) -> Work + Send>;

/// The way to the thread. It ends when this is dropped.
#[derive(Debug)]
pub struct Bus {
    jobs: mpsc::UnboundedSender<BusJob>,
    clock: Clock,
}

impl Bus {
    /// The bell is rung when an application that is watched tells of a change.
    pub fn start(clock: Clock, bell: Bell, connect_time: Duration) -> Result<Self> {
        let (jobs, queue) = mpsc::unbounded_channel();
        let started = std::thread::Builder::new()
            .name("accessibility".to_owned())
            .spawn(move || serve(queue, bell, connect_time))
            .map_err(|error| Error::internal(format!("cannot start the accessibility thread: {error}")));
        started.map(|_| Self { jobs, clock })
    }

    /// Connects without waiting for it. Whoever needs the bus learns then why it is not there.
    pub fn connect(&self) {
        let job: BusJob = Box::new(|session| {
            Box::pin(async move {
                if let Err(error) = session.bus_connection().await {
                    tracing::debug!(%error, "no accessibility bus yet");
                }
            })
        });
        // A thread that has ended is told to whoever needs it.
        let _ = self.jobs.send(job);
    }

    /// Runs `work` on the thread and waits for what it returns. Giving up drops the work, and with it every
    /// call that it has on its way.
    pub fn run<T, F, Running>(&self, whole: Duration, cancel: &Cancel, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Rc<BusConnection>) -> Running + Send + 'static,
        Running: Future<Output = Result<T>> + 'static,
    {
        let outcome: Arc<Mutex<Option<Result<T>>>> = Arc::default();
        let done = Bell::default();
        // Dropped when this function returns, which ends the work.
        let (_alive, mut given_up) = oneshot::channel::<()>();
        let (put, ring) = (outcome.clone(), done.clone());
        let job: BusJob = Box::new(move |session| {
            Box::pin(async move {
                let result = async { work(session.bus_connection().await?).await };
                tokio::select! {
                    biased;
                    _ = &mut given_up => {}
                    result = result => {
                        *lock(&put) = Some(result);
                        ring.ring();
                    }
                }
            })
        });
        self.jobs.send(job).map_err(|_| Error::internal("the accessibility thread has ended"))?;
        self.clock.sleep_unless_rung(&done, 0, whole.saturating_add(GRACE), cancel)?;
        lock(&outcome).take().unwrap_or_else(|| Err(too_slow("accessibility", whole)))
    }
}

pub fn too_slow(phase: &'static str, whole: Duration) -> Error {
    Error::new(Kind::Timeout, format!("the application did not answer within {} ms", whole.as_millis()))
        .with("phase", phase)
}

fn serve(mut queue: mpsc::UnboundedReceiver<BusJob>, bell: Bell, connect_time: Duration) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "the accessibility thread cannot start");
            return;
        }
    };
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async move {
        let session = Rc::new(BusSession::new(bell, connect_time));
        while let Some(job) = queue.recv().await {
            tokio::task::spawn_local(job(session.clone()));
        }
    });
}

/// What the thread keeps: the connection, made when it is needed and made anew when it broke.
struct BusSession {
    bell: Bell,
    /// How long a caller waits for the connection.
    connect_time: Duration,
    link: RefCell<Option<Rc<BusConnection>>>,
    is_connecting: Cell<bool>,
    /// Told when an attempt to connect is over.
    attempted: Notify,
    failure: RefCell<String>,
    /// Until when a bus that did not answer is not waited for.
    mute: Cell<Option<Deadline>>,
}

impl BusSession {
    fn new(bell: Bell, connect_time: Duration) -> Self {
        Self {
            bell,
            connect_time,
            link: RefCell::default(),
            is_connecting: Cell::default(),
            attempted: Notify::new(),
            failure: RefCell::default(),
            mute: Cell::default(),
        }
    }

    async fn bus_connection(self: &Rc<Self>) -> Result<Rc<BusConnection>> {
        if let Some(link) = self.open_link() {
            return Ok(link);
        }
        let over = self.attempted.notified();
        tokio::pin!(over);
        // From here on an end is not missed.
        over.as_mut().enable();
        self.begin_connecting();
        let is_mute = self.mute.get().is_some_and(|until| !until.is_over());
        let patience = if is_mute { Duration::ZERO } else { self.connect_time };
        if tokio::time::timeout(patience, over).await.is_err() {
            if !is_mute {
                self.mute.set(Some(Deadline::after(MUTE_FOR)));
            }
            return Err(no_bus("it does not answer"));
        }
        self.open_link().ok_or_else(|| no_bus(&self.failure.borrow()))
    }

    fn open_link(&self) -> Option<Rc<BusConnection>> {
        self.link.borrow().as_ref().filter(|link| !link.connection.is_closed()).cloned()
    }

    /// Connects beside whoever waits for it, so that a bus that comes late is there for the next call.
    fn begin_connecting(self: &Rc<Self>) {
        if self.is_connecting.replace(true) {
            return;
        }
        let session = self.clone();
        tokio::task::spawn_local(async move {
            match tokio::time::timeout(ATTEMPT_TIME, connect()).await {
                Ok(Ok(connection)) => session.keep_link(connection).await,
                Ok(Err(error)) => *session.failure.borrow_mut() = error.to_string(),
                Err(_) => *session.failure.borrow_mut() = "it does not answer".to_owned(),
            }
            session.is_connecting.set(false);
            session.attempted.notify_waiters();
        });
    }

    async fn keep_link(&self, connection: Connection) {
        let link = Rc::new(BusConnection::new(connection));
        events::listen(&link, self.bell.clone()).await;
        *self.link.borrow_mut() = Some(link);
        self.mute.set(None);
    }
}

fn no_bus(why: &str) -> Error {
    let message = format!(
        "the accessibility bus cannot be reached ({why}), so no elements can be read; windows, screenshots, OCR, \
         pointer and keys work. Install at-spi2-core, and start the desktop within dbus-run-session or the user's \
         session"
    );
    Error::new(Kind::PlatformUnsupported, message).with("phase", "accessibility_bus")
}

/// Whether there is no bus, which no application can be blamed for.
pub fn is_no_bus(error: &Error) -> bool {
    error.kind == Kind::PlatformUnsupported
}

async fn connect() -> zbus::Result<Connection> {
    let session = connection::Builder::session()?.build().await?;
    // Early, because Qt and Firefox look at it when they start. Nobody minds if it cannot be set.
    let status = ("org.a11y.Status", "IsEnabled", Value::from(true));
    let properties = Some("org.freedesktop.DBus.Properties");
    let set = session.call_method(Some("org.a11y.Bus"), "/org/a11y/bus", properties, "Set", &status);
    if let Err(error) = set.await {
        tracing::debug!(%error, "cannot set org.a11y.Status.IsEnabled");
    }
    let bus = Some("org.a11y.Bus");
    let reply = session.call_method(bus, "/org/a11y/bus", bus, "GetAddress", &()).await?;
    let address: String = reply.body().deserialize()?;
    connection::Builder::address(address.as_str())?.build().await
}

/// The connection, and what is known of those at its other end.
pub struct BusConnection {
    pub connection: Connection,
    /// Process ids by unique name. Names are never used twice.
    pids: RefCell<HashMap<Rc<str>, u32>>,
    hung: RefCell<HashMap<Rc<str>, Deadline>>,
    /// Lines to applications that were asked for one; nothing where there is none.
    pub lines: RefCell<HashMap<Rc<str>, Option<DirectLine>>>,
    /// Applications whose events are asked for.
    pub watched: RefCell<HashSet<Rc<str>>>,
    /// Browsers, windows and processes that were given time to wake up, each once.
    pub woken: RefCell<HashSet<Rc<str>>>,
    pub remembered: RefCell<super::capture::Remembered>,
    /// Where applications that know only their own window begin to count, from the window's corner.
    pub insets: RefCell<HashMap<Rc<str>, (i32, i32)>>,
    /// Of each application, the objects that said last that they show.
    pub shown: RefCell<HashMap<Rc<str>, VecDeque<Rc<str>>>>,
    /// Applications of GTK 3.
    pub gtk3: RefCell<HashSet<Rc<str>>>,
    /// Panes that told of another place than theirs, with everything in them, and what each of them fills.
    pub misplaced: RefCell<HashMap<AtspiObject, AtspiObject>>,
    pub mirrors: RefCell<super::mirror::Mirrors>,
    pub blocks: RefCell<super::table::KnownBlocks>,
    /// How many questions had no answer in time.
    pub silences: Cell<u64>,
    /// Up to where the messages were heard by who listens to events, and who waits for it.
    heard: Cell<Sequence>,
    listening: Notify,
    /// What is rung for events, and whether some were heard that it was not rung for yet.
    pub bell: OnceCell<Bell>,
    pub owes_ring: Cell<bool>,
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum BusError {
    TimedOut,
    /// The application or the bus is not there any more.
    Gone,
    /// The object answered with an error: it is gone, or does not know the question.
    Refused(String),
}

impl BusError {
    fn of(error: zbus::Error) -> Self {
        match error {
            zbus::Error::MethodError(name, text, _) => {
                let gone = ["ServiceUnknown", "NameHasNoOwner", "NoReply", "Disconnected"];
                match name.rsplit('.').next() {
                    Some(last) if gone.contains(&last) => BusError::Gone,
                    Some("Timeout" | "TimedOut") => BusError::TimedOut,
                    _ => BusError::Refused(text.unwrap_or_else(|| name.to_string())),
                }
            }
            zbus::Error::InputOutput(_) => BusError::Gone,
            other => BusError::Refused(other.to_string()),
        }
    }
}

pub type BusReply = std::result::Result<Message, BusError>;

pub fn is_silent(answer: &BusReply) -> bool {
    matches!(answer, Err(BusError::TimedOut))
}

/// How long the calls of one piece of work may take, and which way they go.
#[derive(Clone, Debug)]
pub struct BusDeadline {
    per_call: Duration,
    deadline: Deadline,
    line: Option<DirectLine>,
}

impl BusDeadline {
    pub fn new(per_call: Duration, whole: Duration) -> Self {
        Self { per_call, deadline: Deadline::after(whole), line: None }
    }

    /// The same time, and this line for the application that it leads to.
    pub fn over_line(&self, line: Option<DirectLine>) -> Self {
        Self { line, ..self.clone() }
    }

    /// Whether the line broke, so that not everything that was asked over it was answered.
    pub fn has_lost_line(&self) -> bool {
        self.line.as_ref().is_some_and(DirectLine::is_lost)
    }

    fn next(&self) -> Duration {
        self.per_call.min(self.left())
    }

    pub fn left(&self) -> Duration {
        self.deadline.left()
    }
}

/// One question to an object.
#[derive(Clone, Debug)]
pub enum BusRequest {
    /// A property, by interface and name.
    Get(&'static str, &'static str),
    /// All properties of an interface. Never of Qt.
    GetAll(&'static str),
    SetNumber(&'static str, &'static str, f64),
    Call(&'static str, &'static str),
    WithIndex(&'static str, &'static str, i32),
    WithCode(&'static str, &'static str, u32),
    WithRange(&'static str, &'static str, i32, i32),
    /// A place or a range of characters, and what places count from.
    WithPoint(&'static str, &'static str, i32, i32, u32),
    WithText(&'static str, &'static str, String),
}

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

impl BusConnection {
    pub fn new(connection: Connection) -> Self {
        Self {
            connection,
            pids: RefCell::default(),
            hung: RefCell::default(),
            lines: RefCell::default(),
            watched: RefCell::default(),
            woken: RefCell::default(),
            remembered: RefCell::default(),
            insets: RefCell::default(),
            shown: RefCell::default(),
            gtk3: RefCell::default(),
            misplaced: RefCell::default(),
            mirrors: RefCell::default(),
            blocks: RefCell::default(),
            silences: Cell::default(),
            heard: Cell::default(),
            listening: Notify::new(),
            bell: OnceCell::new(),
            owes_ring: Cell::default(),
        }
    }

    /// Rings for what was heard, if nobody did yet.
    pub fn ring_bell(&self) {
        if let (true, Some(bell)) = (self.owes_ring.take(), self.bell.get()) {
            bell.ring();
        }
    }

    /// Every message up to this one was heard.
    pub fn note_heard(&self, position: Sequence) {
        self.heard.set(self.heard.get().max(position));
        self.listening.notify_waiters();
    }

    /// Waits until every message up to this one was heard; false when nobody listens.
    pub async fn heard_until(&self, position: Sequence, pace: &BusDeadline) -> bool {
        let listening = async {
            while self.heard.get() < position {
                self.listening.notified().await;
            }
        };
        tokio::time::timeout(pace.next(), listening).await.is_ok()
    }

    pub async fn ask_object(&self, object: &AtspiObject, ask: &BusRequest, pace: &BusDeadline) -> BusReply {
        let (to, path) = (&*object.bus, &*object.path);
        match ask {
            BusRequest::Get(interface, name) => {
                self.call(to, path, PROPERTIES, "Get", &(*interface, *name), pace).await
            }
            BusRequest::GetAll(interface) => self.call(to, path, PROPERTIES, "GetAll", interface, pace).await,
            BusRequest::SetNumber(interface, name, number) => {
                let body = (*interface, *name, Value::from(*number));
                self.call(to, path, PROPERTIES, "Set", &body, pace).await
            }
            BusRequest::Call(interface, method) => self.call(to, path, interface, method, &(), pace).await,
            BusRequest::WithIndex(interface, method, index) => {
                self.call(to, path, interface, method, index, pace).await
            }
            BusRequest::WithCode(interface, method, code) => {
                self.call(to, path, interface, method, code, pace).await
            }
            BusRequest::WithRange(interface, method, start, end) => {
                self.call(to, path, interface, method, &(start, end), pace).await
            }
            BusRequest::WithPoint(interface, method, x, y, code) => {
                self.call(to, path, interface, method, &(x, y, code), pace).await
            }
            BusRequest::WithText(interface, method, text) => {
                self.call(to, path, interface, method, text, pace).await
            }
        }
    }

    pub async fn call<B>(
        &self,
        to: &str,
        path: &str,
        interface: &str,
        method: &str,
        body: &B,
        pace: &BusDeadline,
    ) -> BusReply
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
    {
        let path = ObjectPath::try_from(path).map_err(|error| BusError::Refused(error.to_string()))?;
        let connection =
            pace.line.as_ref().and_then(|line| line.connection_to(to)).unwrap_or(&self.connection);
        let call = connection.call_method(Some(to), path, Some(interface), method, body);
        match tokio::time::timeout(pace.next(), call).await {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(error)) => Err(BusError::of(error)),
            Err(_) => {
                self.silences.set(self.silences.get() + 1);
                Err(BusError::TimedOut)
            }
        }
    }

    /// Whether the bus itself still speaks, whatever the applications on it do.
    pub async fn is_answered(&self, time: Duration) -> Result<()> {
        let bus = "org.freedesktop.DBus";
        let pace = BusDeadline::new(time, time);
        match self.call(bus, "/org/freedesktop/DBus", bus, "GetId", &(), &pace).await {
            Ok(_) => Ok(()),
            Err(BusError::TimedOut) => Err(too_slow("accessibility_bus", time)),
            Err(BusError::Gone) => Err(no_bus("it is gone")),
            Err(BusError::Refused(why)) => Err(no_bus(&why)),
        }
    }

    /// Asks all questions, many at once, and returns the answers in their order. When an application lets
    /// several in a row go unanswered, the rest is not asked, and it is remembered as hung.
    pub async fn ask_all(
        self: &Rc<Self>,
        asks: Vec<(AtspiObject, BusRequest)>,
        pace: &BusDeadline,
    ) -> Vec<BusReply> {
        let mut answers: Vec<BusReply> = vec![Err(BusError::TimedOut); asks.len()];
        let silent = Rc::new(Cell::new(0));
        let mut flying: JoinSet<(usize, BusReply)> = JoinSet::new();
        for (place, (object, ask)) in asks.into_iter().enumerate() {
            if flying.len() >= CALLS_IN_FLIGHT {
                self.collect_answers(&mut flying, &mut answers).await;
            }
            if silent.get() >= TIMEOUTS_IN_A_ROW || pace.left().is_zero() {
                break;
            }
            // It was found hung earlier in the same piece of work; see `is_hung` for how it is forgiven.
            if self.is_marked_hung(&object) {
                continue;
            }
            let (link, pace, silent) = (self.clone(), pace.clone(), silent.clone());
            flying.spawn_local(async move {
                let answer = link.ask_object(&object, &ask, &pace).await;
                silent.set(if is_silent(&answer) { silent.get() + 1 } else { 0 });
                if silent.get() >= TIMEOUTS_IN_A_ROW && !pace.left().is_zero() {
                    link.mark_hung(&object);
                }
                (place, answer)
            });
        }
        while self.collect_answers(&mut flying, &mut answers).await {}
        answers
    }

    async fn collect_answers(
        &self,
        flying: &mut JoinSet<(usize, BusReply)>,
        answers: &mut [BusReply],
    ) -> bool {
        let Some(landed) = flying.join_next().await else {
            return false;
        };
        if let Ok((place, answer)) = landed
            && let Some(slot) = answers.get_mut(place)
        {
            *slot = answer;
        }
        true
    }

    /// Remembers that an object said that it shows.
    pub fn note_shown(&self, bus: &str, path: &str) {
        let mut shown = self.shown.borrow_mut();
        let of_bus = shown.entry(bus.into()).or_default();
        of_bus.retain(|known| &**known != path);
        of_bus.push_back(path.into());
        if of_bus.len() > MOST_SHOWN {
            of_bus.pop_front();
        }
    }

    pub fn mark_hung(&self, object: &AtspiObject) {
        self.hung.borrow_mut().insert(object.bus.clone(), Deadline::after(QUARANTINE));
    }

    /// The applications of a process are asked again, although they hung.
    pub fn forgive_process(&self, pid: u32) {
        for name in self.names_of(pid) {
            self.hung.borrow_mut().remove(&name);
        }
    }

    fn is_marked_hung(&self, object: &AtspiObject) -> bool {
        self.hung.borrow().get(&object.bus).is_some_and(|quarantine| !quarantine.is_over())
    }

    /// Whether the application hung a moment ago and still does not answer.
    pub async fn is_hung(&self, application: &AtspiObject) -> bool {
        if !self.is_marked_hung(application) {
            self.hung.borrow_mut().remove(&application.bus);
            return false;
        }
        let pace = BusDeadline::new(SHORT_QUESTION, SHORT_QUESTION);
        let hung =
            is_silent(&self.ask_object(application, &BusRequest::Call(ACCESSIBLE, "GetRole"), &pace).await);
        if !hung {
            self.hung.borrow_mut().remove(&application.bus);
        }
        hung
    }

    /// The process behind a unique name.
    pub async fn process_of(&self, name: &Rc<str>, pace: &BusDeadline) -> Option<u32> {
        if let Some(pid) = self.pids.borrow().get(name) {
            return Some(*pid);
        }
        let bus = "org.freedesktop.DBus";
        let reply = self
            .call(bus, "/org/freedesktop/DBus", bus, "GetConnectionUnixProcessID", &&**name, pace)
            .await
            .ok()?;
        let pid: u32 = reply.body().deserialize().ok()?;
        self.pids.borrow_mut().insert(name.clone(), pid);
        Some(pid)
    }

    /// Under which names a process is known on the bus.
    pub fn names_of(&self, pid: u32) -> Vec<Rc<str>> {
        let pids = self.pids.borrow();
        pids.iter().filter(|(_, known)| **known == pid).map(|(name, _)| name.clone()).collect()
    }

    /// Forgets an application that left the bus.
    pub fn forget_application(&self, name: &str) {
        self.pids.borrow_mut().remove(name);
        self.hung.borrow_mut().remove(name);
        self.lines.borrow_mut().remove(name);
        self.watched.borrow_mut().remove(name);
        self.woken.borrow_mut().retain(|known| known.split('/').next() != Some(name));
        self.insets.borrow_mut().remove(name);
        self.gtk3.borrow_mut().remove(name);
        self.misplaced.borrow_mut().retain(|pane, _| &*pane.bus != name);
        self.shown.borrow_mut().remove(name);
        self.remembered.borrow_mut().forget(name);
        self.mirrors.borrow_mut().forget(name);
        self.blocks.borrow_mut().forget(name);
    }
}

/// The objects in an answer of `GetChildren` or `GetChildAtIndex`; the null object is nobody.
pub fn read_objects(reply: &Message) -> Vec<AtspiObject> {
    let body = reply.body();
    let many: Vec<(String, OwnedObjectPath)> = match body.deserialize() {
        Ok(many) => many,
        Err(_) => body.deserialize::<(String, OwnedObjectPath)>().map(|one| vec![one]).unwrap_or_default(),
    };
    many.into_iter()
        .map(|(bus, path)| AtspiObject::new(&bus, path.as_str()))
        .filter(|it| !it.is_null())
        .collect()
}

/// The object in a property, such as who holds another; the null object is nobody.
pub fn read_object(reply: &Message) -> Option<AtspiObject> {
    let body = reply.body();
    let Value::Structure(pair) = body.deserialize::<Value>().ok()? else { return None };
    let (bus, path): (String, OwnedObjectPath) = pair.try_into().ok()?;
    Some(AtspiObject::new(&bus, path.as_str())).filter(|object| !object.is_null())
}

/// The text in an answer, whether it came as a property or by itself.
pub fn text(reply: &Message) -> Option<String> {
    let body = reply.body();
    if let Ok(text) = body.deserialize::<&str>() {
        return Some(text.to_owned());
    }
    match body.deserialize::<Value>().ok()? {
        Value::Str(text) => Some(text.as_str().to_owned()),
        _ => None,
    }
}

/// The number in an answer of any width. What is no number at all (NaN) is not known.
pub fn read_number(reply: &Message) -> Option<f64> {
    let number = match reply.body().deserialize::<Value>().ok()? {
        Value::F64(number) => number,
        Value::I32(number) => f64::from(number),
        Value::U32(number) => f64::from(number),
        Value::I64(number) => number as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

pub fn read_flag(reply: &Message) -> bool {
    reply.body().deserialize().unwrap_or(false)
}
