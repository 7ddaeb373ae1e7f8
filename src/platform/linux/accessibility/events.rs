//! Change events: an event only rings the bell; what changed is read again, never taken from the event.
//!
//! Only applications whose trees were read are listened to, and never for `bounds-changed`: one idle
//! application sends two hundred of those in a second.

use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::time::Duration;

use zbus::export::futures_core::Stream;
use zbus::message::Type;
use zbus::{Message, MessageStream};

use super::bus::{BusConnection, BusDeadline};
use super::mirror::Change;
use crate::clock::{Bell, Deadline, sleep_task};

/// What toolkits are asked to tell. Without a listener to the first, GTK3 and Chromium have no cache either.
const KINDS: &[&str] = &[
    "object:children-changed",
    "object:state-changed",
    "object:text-changed",
    "object:property-change",
    "object:visible-data-changed",
    "object:model-changed",
    "window:",
];

/// What is taken off the bus, of each application that is watched.
const TOLD: &[(&str, &str)] = &[
    ("org.a11y.atspi.Event.Object", "ChildrenChanged"),
    ("org.a11y.atspi.Event.Object", "StateChanged"),
    ("org.a11y.atspi.Event.Object", "TextChanged"),
    ("org.a11y.atspi.Event.Object", "PropertyChange"),
    ("org.a11y.atspi.Event.Object", "VisibleDataChanged"),
    ("org.a11y.atspi.Event.Object", "ModelChanged"),
];

/// The first event of a burst rings at once; those that follow within this time ring once, together.
const BURST: Duration = Duration::from_millis(15);
const PATIENCE: Duration = Duration::from_secs(1);
/// With so many watched applications the events of the others are more noise than news.
const MOST_WATCHED: usize = 64;

/// Rings the bell from a task that lives as long as the connection.
pub async fn listen(link: &Rc<BusConnection>, bell: Bell) {
    let pace = BusDeadline::new(PATIENCE, PATIENCE);
    let stream = MessageStream::from(&link.connection);
    link.bell.get_or_init(|| bell.clone());
    tokio::task::spawn_local(hear(stream, Rc::downgrade(link), bell));
    let windows = "type='signal',interface='org.a11y.atspi.Event.Window'";
    let leaving = "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'";
    for rule in [windows, leaving] {
        add_match(link, rule, &pace).await;
    }
}

/// From now on this application's changes ring.
pub async fn watch(link: &Rc<BusConnection>, name: &Rc<str>) {
    if link.watched.borrow().contains(name) || link.watched.borrow().len() >= MOST_WATCHED {
        return;
    }
    let pace = BusDeadline::new(PATIENCE, PATIENCE);
    // Not before somebody looks: browsers fill their cache when the first listener comes, and hardly add to
    // it later. The page that is open at the first look is answered from it, one that is loaded after that
    // is walked.
    if link.watched.borrow().is_empty() {
        register(link, &pace).await;
    }
    link.watched.borrow_mut().insert(name.clone());
    for (interface, member) in TOLD {
        let rule = format!("type='signal',sender='{name}',interface='{interface}',member='{member}'");
        add_match(link, &rule, &pace).await;
    }
}

/// Tells all applications that there is a listener.
async fn register(link: &Rc<BusConnection>, pace: &BusDeadline) {
    for kind in KINDS {
        let registry = "org.a11y.atspi.Registry";
        let path = "/org/a11y/atspi/registry";
        if let Err(trouble) = link.call(registry, path, registry, "RegisterEvent", kind, pace).await {
            tracing::debug!(?trouble, kind, "cannot register for an event");
        }
    }
}

async fn add_match(link: &Rc<BusConnection>, rule: &str, pace: &BusDeadline) {
    let bus = "org.freedesktop.DBus";
    if let Err(trouble) = link.call(bus, "/org/freedesktop/DBus", bus, "AddMatch", &rule, pace).await {
        tracing::debug!(?trouble, rule, "the bus refused a match rule");
    }
}

/// Rings for what is told. It holds no reference to the link, so that a broken one can go.
async fn hear(mut stream: MessageStream, link: Weak<BusConnection>, bell: Bell) {
    let mut quiet = Deadline::after(Duration::ZERO);
    let ring = |link: &BusConnection| {
        link.ring_bell();
        Deadline::after(BURST)
    };
    loop {
        let owes = link.upgrade().is_some_and(|link| link.owes_ring.get());
        tokio::select! {
            biased;
            message = poll_fn(|cx| Pin::new(&mut stream).poll_next(cx)) => {
                let Some(Ok(message)) = message else { break };
                let Some(link) = link.upgrade() else { break };
                let news = is_news(&message, &link);
                link.owes_ring.set(link.owes_ring.get() || news);
                link.note_heard(message.recv_position());
                if news && quiet.is_over() {
                    quiet = ring(&link);
                }
            }
            () = sleep_task(quiet.left()), if owes => {
                let Some(link) = link.upgrade() else { break };
                quiet = ring(&link);
            }
        }
    }
    // What the bus would have told is not known any more.
    bell.ring();
}

fn is_news(message: &Message, link: &BusConnection) -> bool {
    if message.message_type() != Type::Signal {
        return false;
    }
    let header = message.header();
    match header.member().map(|member| member.as_str()) {
        Some("NameOwnerChanged") => left(message).is_some_and(|name| {
            let known = link.watched.borrow().contains(name.as_str());
            link.forget_application(&name);
            known
        }),
        Some("NameAcquired" | "NameLost") | None => false,
        Some(member) => {
            if let (Some(bus), Some(path)) = (header.sender(), header.path()) {
                link.mirrors.borrow_mut().mark(bus, path, told_change(member, message));
                if member == "StateChanged" && says_that_it_shows(message) {
                    link.note_shown(bus, path);
                }
            }
            true
        }
    }
}

fn told_change(member: &str, message: &Message) -> Change {
    match member {
        "StateChanged" if is_about_focus(message) => Change::Focus,
        "ChildrenChanged" => Change::Children,
        "VisibleDataChanged" | "ModelChanged" => Change::Below,
        _ => Change::Facts,
    }
}

/// The state is the first word, whatever follows it; one that cannot be read may be any.
fn is_about_focus(message: &Message) -> bool {
    let body = message.body();
    body.data().deserialize::<&str>().map_or(true, |(state, _)| state == "focused")
}

fn says_that_it_shows(message: &Message) -> bool {
    let body = message.body();
    body.data().deserialize::<(&str, i32)>().is_ok_and(|((state, is_on), _)| state == "showing" && is_on == 1)
}

/// Who left the bus.
fn left(message: &Message) -> Option<String> {
    let body = message.body();
    let (name, _, new): (&str, &str, &str) = body.deserialize().ok()?;
    new.is_empty().then(|| name.to_owned())
}
