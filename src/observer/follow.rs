//! Watching the desktop for subscribers: what to compare, and how to sleep until there is something to
//! compare. It takes cached trees and leaves none behind, so that following changes
//! nothing for the calls beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::Observer;
use crate::clock::{Cancel, Clock};
use crate::config::limits;
use crate::error::{Kind, Result};
use crate::model::Window;
use crate::platform::Wake;

/// How long a sleep lasts when nothing is heard.
const NAP: Duration = Duration::from_secs(60);
/// How long it lasts where nobody tells of changes.
const UNTOLD_NAP: Duration = Duration::from_secs(1);
/// A steered clock must not be moved by who only looks on, so its bell is asked for now and then.
const STEERED_NAP: Duration = Duration::from_millis(100);

/// What there was at one moment.
#[derive(Clone, Debug)]
pub struct DesktopDigest {
    /// What the platform had counted before the look; nothing where it does not count.
    pub generation: Option<u64>,
    /// With the titles that may be shown.
    pub windows: Vec<Window>,
    /// A print of title and content of each window that was asked for and could be read.
    pub contents: BTreeMap<String, u64>,
}

impl DesktopDigest {
    pub fn has_window(&self, uid: &str) -> bool {
        self.windows.iter().any(|window| window.uid == uid)
    }
}

impl Observer {
    /// What the platform has counted so far, for who wants to know later whether anything happened meanwhile.
    pub fn change_count(&self) -> Option<u64> {
        self.platform.watch().generation().ok()
    }

    /// Looks at the windows, and into those that are named.
    pub fn digest_desktop(&self, uids: &BTreeSet<String>, cancel: &Cancel) -> Result<DesktopDigest> {
        let generation = self.change_count();
        let raw = self.platform.desktop().windows()?;
        let mut contents = BTreeMap::new();
        for window in raw.iter().filter(|window| uids.contains(&window.uid)) {
            cancel.check()?;
            let deadline = self.clock.now() + limits::TREE_WALK_TIME;
            if let Some(view) = self.glance_at(window, deadline, cancel) {
                contents.insert(window.uid.clone(), hash_content(&window.title, view.fingerprint()));
            }
        }
        cancel.check()?;
        let windows = raw.into_iter().map(|window| self.shown_window(window)).collect();
        Ok(DesktopDigest { generation, windows, contents })
    }

    /// Sleeps until something has changed since the platform counted `seen`. May wake up for nothing.
    pub fn sleep_until_news(&self, seen: Option<u64>, cancel: &Cancel) -> Result<()> {
        let real = Clock::real();
        let nap = if self.clock.is_steered() { Duration::ZERO } else { NAP };
        let woken = seen.map(|seen| self.platform.watch().wait_change(seen, nap, cancel));
        match woken {
            Some(Ok(Wake::Changed)) => Ok(()),
            Some(Ok(Wake::Elapsed)) if nap.is_zero() => real.sleep(STEERED_NAP, cancel),
            Some(Ok(Wake::Elapsed)) => Ok(()),
            Some(Err(error)) if error.kind == Kind::Cancelled => Err(error),
            Some(Ok(Wake::NoEvents) | Err(_)) | None => real.sleep(UNTOLD_NAP, cancel),
        }
    }
}

fn hash_content(title: &str, content: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (title, content).hash(&mut hasher);
    hasher.finish()
}
