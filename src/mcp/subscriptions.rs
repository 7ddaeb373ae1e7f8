//! Subscriptions to resources. One thread looks for changes for all of them: it sleeps until the platform
//! reports a change, compares each resource with its last state, and ends with the last subscriber.
//!
//! A notification has only the address to read again, so nothing passes the gate here; reading does.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;

use crate::app::App;
use crate::clock::{Cancel, Clock, lock};
use crate::config::limits;
use crate::model::Window;
use crate::observer::DesktopDigest;

/// Looks are at least so far apart, and so are two notices about the same thing.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// A look that takes long is followed by a rest that takes longer: applications have other things to do.
const REST_FOR_LOOK: u32 = 3;

/// How long the first look may hold up everybody else.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// What a follower hears.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// There are other resources than before.
    ListChanged,
    /// What is at this address has changed.
    Updated(String),
}

/// What has to change for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowSubject {
    /// Which windows there are.
    WindowSet,
    /// Anything that the list of windows shows.
    WindowList,
    /// What one window shows, its title, or that it is there.
    Window(String),
}

/// What is compared with what it was.
#[derive(Debug, PartialEq)]
enum Stamp {
    Uids(BTreeSet<String>),
    Windows(Vec<Window>),
    Content(u64),
    Gone,
}

impl FollowSubject {
    /// The window that has to be read for it.
    fn followed_window(&self) -> Option<String> {
        match self {
            FollowSubject::Window(uid) => Some(uid.clone()),
            FollowSubject::WindowSet | FollowSubject::WindowList => None,
        }
    }

    /// Nothing where it cannot be told just now.
    fn content_stamp(&self, sighting: &DesktopDigest) -> Option<Stamp> {
        Some(match self {
            FollowSubject::WindowSet => {
                Stamp::Uids(sighting.windows.iter().map(|window| window.uid.clone()).collect())
            }
            FollowSubject::WindowList => Stamp::Windows(sighting.windows.clone()),
            FollowSubject::Window(uid) if !sighting.has_window(uid) => Stamp::Gone,
            FollowSubject::Window(uid) => Stamp::Content(*sighting.contents.get(uid)?),
        })
    }
}

struct FollowedSubject {
    subject: FollowSubject,
    notice: Notice,
    /// What the platform had counted when somebody began to follow.
    since: Option<u64>,
    seen: Option<Stamp>,
}

impl FollowedSubject {
    /// Whether it has changed. If the first look came late, nothing is known of the time before; if anything happened
    /// in it, it may have happened here.
    fn has_changed(&mut self, sighting: &DesktopDigest) -> bool {
        let Some(now) = self.subject.content_stamp(sighting) else {
            return false;
        };
        let changed = match &self.seen {
            Some(before) => *before != now,
            None => self.since != sighting.generation,
        };
        self.seen = Some(now);
        changed
    }
}

/// Notices that wait for one follower. However slow it is, each waits once.
#[derive(Default)]
struct Mail {
    waiting: Mutex<BTreeSet<Notice>>,
    /// No more will come.
    closed: Mutex<bool>,
    arrived: Notify,
}

impl Mail {
    fn post_notice(&self, notice: Notice) {
        lock(&self.waiting).insert(notice);
        self.arrived.notify_one();
    }

    fn close(&self) {
        *lock(&self.closed) = true;
        self.arrived.notify_one();
    }
}

struct Follower {
    followed: Vec<FollowedSubject>,
    mail: Arc<Mail>,
}

#[derive(Default)]
struct HubState {
    last_number: u64,
    followers: BTreeMap<u64, Follower>,
    /// Wakes the thread that looks; nothing while there is none.
    nudge: Option<Cancel>,
}

impl HubState {
    fn count(&self) -> usize {
        self.followers.values().map(|follower| follower.followed.len()).sum()
    }

    fn windows_to_read(&self) -> BTreeSet<String> {
        let followed = self.followers.values().flat_map(|follower| &follower.followed);
        followed.filter_map(|followed| followed.subject.followed_window()).collect()
    }
}

/// How a rest went: somebody who comes is looked after at its end, without more sleep.
enum Rested {
    Quietly,
    Nudged(Option<Cancel>),
}

pub struct Hub {
    app: Arc<App>,
    state: Mutex<HubState>,
}

/// Follows until it is dropped.
pub struct Following {
    hub: Arc<Hub>,
    number: u64,
    mail: Arc<Mail>,
}

impl Following {
    /// The notices that have come, at least one; nothing when no more will come.
    pub async fn next(&self) -> Option<Vec<Notice>> {
        loop {
            let notices = std::mem::take(&mut *lock(&self.mail.waiting));
            if !notices.is_empty() {
                return Some(notices.into_iter().collect());
            }
            if *lock(&self.mail.closed) {
                return None;
            }
            self.mail.arrived.notified().await;
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut state = lock(&self.hub.state);
        state.followers.remove(&self.number);
        if let (true, Some(nudge)) = (state.followers.is_empty(), &state.nudge) {
            nudge.fire();
        }
    }
}

impl Hub {
    pub fn new(app: Arc<App>) -> Self {
        Self { app, state: Mutex::default() }
    }

    /// The error is a sentence for who wanted to follow.
    pub fn follow_subjects(
        self: &Arc<Self>,
        subjects: Vec<(FollowSubject, Notice)>,
    ) -> Result<Following, String> {
        self.check_room(&lock(&self.state), subjects.len())?;
        let since = self.app.observer.change_count();
        let first =
            self.first_look(subjects.iter().filter_map(|(subject, _)| subject.followed_window()).collect());
        let mail = Arc::new(Mail::default());
        let followed = |(subject, notice): (FollowSubject, Notice)| {
            let seen = first.as_ref().and_then(|sighting| subject.content_stamp(sighting));
            FollowedSubject { subject, notice, since, seen }
        };
        let followed: Vec<FollowedSubject> = subjects.into_iter().map(followed).collect();
        let mut state = lock(&self.state);
        self.check_room(&state, followed.len())?;
        state.last_number += 1;
        let number = state.last_number;
        state.followers.insert(number, Follower { followed, mail: mail.clone() });
        match &state.nudge {
            Some(nudge) => nudge.fire(),
            None => {
                state.nudge = Some(Cancel::new());
                let hub = self.clone();
                let thread = std::thread::Builder::new().name("following".to_owned());
                if let Err(problem) = thread.spawn(move || hub.run()) {
                    *state = HubState { last_number: number, ..HubState::default() };
                    return Err(format!("cannot start the thread that looks for changes: {problem}"));
                }
            }
        }
        drop(state);
        Ok(Following { hub: self.clone(), number, mail })
    }

    fn check_room(&self, state: &HubState, more: usize) -> Result<(), String> {
        let most = limits::MCP_SUBSCRIPTIONS;
        if state.count() + more <= most {
            return Ok(());
        }
        Err(format!("at most {most} subscriptions are allowed; unsubscribe from others first"))
    }

    /// What there is when somebody begins to follow. It is waited for, so that they can do nothing before; but only
    /// for a moment, because nobody else is served meanwhile.
    fn first_look(&self, uids: BTreeSet<String>) -> Option<DesktopDigest> {
        let (sender, seen) = std::sync::mpsc::channel();
        let (app, cancel) = (self.app.clone(), Cancel::new());
        let given_up = cancel.clone();
        let thread = std::thread::Builder::new().name("first look".to_owned());
        thread.spawn(move || sender.send(app.observer.digest_desktop(&uids, &cancel).ok())).ok()?;
        let seen = seen.recv_timeout(FIRST_LOOK).ok().flatten();
        given_up.fire();
        seen
    }

    fn run(&self) {
        if catch_unwind(AssertUnwindSafe(|| self.look_for_all())).is_err() {
            tracing::error!("looking for changes failed inside the server; all subscriptions end");
            let mut state = lock(&self.state);
            state.nudge = None;
            std::mem::take(&mut state.followers).values().for_each(|follower| follower.mail.close());
        }
    }

    /// A nudge means that somebody came or that everybody went.
    fn look_for_all(&self) {
        let clock = Clock::real();
        let mut awake = self.wake_handle();
        while let Some(nudge) = awake {
            let began = clock.now();
            let uids = lock(&self.state).windows_to_read();
            let sighting = self.app.observer.digest_desktop(&uids, &nudge).ok();
            if let Some(sighting) = &sighting {
                self.notify_followers(sighting);
            }
            let now = clock.now();
            let rest = (now.saturating_sub(began) * REST_FOR_LOOK).max(BETWEEN_LOOKS);
            awake = match self.rest_until(&clock, now + rest, &nudge) {
                Rested::Nudged(awake) => awake,
                Rested::Quietly => {
                    let seen = sighting.and_then(|sighting| sighting.generation);
                    // Cancelled is nudged; after any other end there is a look as well.
                    let _ = self.app.observer.sleep_until_news(seen, &nudge);
                    self.wake_handle()
                }
            };
        }
    }

    /// What wakes the thread from now on; nothing when it has to end, which it then must.
    fn wake_handle(&self) -> Option<Cancel> {
        let mut state = lock(&self.state);
        let nudge = (!state.followers.is_empty()).then(Cancel::new);
        state.nudge.clone_from(&nudge);
        nudge
    }

    /// Rests the whole time, unless nobody is left to look for.
    fn rest_until(&self, clock: &Clock, end: Duration, nudge: &Cancel) -> Rested {
        let mut nudge = nudge.clone();
        let mut rested = Rested::Quietly;
        while clock.sleep(end.saturating_sub(clock.now()), &nudge).is_err() {
            let Some(next) = self.wake_handle() else {
                return Rested::Nudged(None);
            };
            rested = Rested::Nudged(Some(next.clone()));
            nudge = next;
        }
        rested
    }

    fn notify_followers(&self, sighting: &DesktopDigest) {
        let mut state = lock(&self.state);
        for follower in state.followers.values_mut() {
            for followed in &mut follower.followed {
                if followed.has_changed(sighting) {
                    follower.mail.post_notice(followed.notice.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(uid: &str, title: &str) -> Window {
        Window { uid: uid.to_owned(), title: title.to_owned(), ..blank() }
    }

    fn blank() -> Window {
        Window {
            uid: String::new(),
            handle: String::new(),
            title: String::new(),
            process: String::new(),
            pid: 0,
            bounds: Default::default(),
            focused: false,
            minimized: false,
            url: None,
        }
    }

    fn sighting(generation: u64, windows: &[(&str, &str)], contents: &[(&str, u64)]) -> DesktopDigest {
        DesktopDigest {
            generation: Some(generation),
            windows: windows.iter().map(|(uid, title)| window(uid, title)).collect(),
            contents: contents.iter().map(|(uid, print)| ((*uid).to_owned(), *print)).collect(),
        }
    }

    /// Follows from the count of 1 on, and says at which sightings it was told.
    fn check(subject: FollowSubject, sightings: &[DesktopDigest], expected: &[bool]) {
        let notice = Notice::ListChanged;
        let mut followed = FollowedSubject { subject, notice, since: Some(1), seen: None };
        let told: Vec<bool> = sightings.iter().map(|sighting| followed.has_changed(sighting)).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn the_set_of_windows_is_not_its_order_or_titles() {
        let all = [
            sighting(1, &[("a", "A"), ("b", "B")], &[]),
            sighting(2, &[("b", "B"), ("a", "new")], &[]),
            sighting(3, &[("b", "B")], &[]),
        ];
        check(FollowSubject::WindowSet, &all, &[false, false, true]);
        check(FollowSubject::WindowList, &all, &[false, true, true]);
    }

    #[test]
    fn a_window_is_its_content_and_whether_it_is_there() {
        let there: &[(&str, &str)] = &[("a", "A")];
        let all = [
            sighting(1, there, &[("a", 7)]),
            sighting(2, there, &[("a", 7)]),
            sighting(3, there, &[("a", 8)]),
            // It could not be read, which is no news.
            sighting(4, there, &[]),
            sighting(5, there, &[("a", 8)]),
            sighting(6, &[], &[]),
            sighting(7, &[], &[]),
        ];
        check(FollowSubject::Window("a".to_owned()), &all, &[false, false, true, false, false, true, false]);
    }

    #[test]
    fn what_happened_before_the_first_look_is_not_lost() {
        check(FollowSubject::WindowList, &[sighting(2, &[], &[]), sighting(3, &[], &[])], &[true, false]);
    }
}
