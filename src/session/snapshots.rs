//! Snapshots by their id, for a while.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::lock;
use crate::observer::Snapshot;

const MOST: usize = 32;
const LIFE: Duration = Duration::from_secs(300);

/// The least recently used stands in front.
#[derive(Debug, Default)]
pub struct Snapshots {
    kept: Mutex<VecDeque<SnapshotEntry>>,
}

#[derive(Debug)]
struct SnapshotEntry {
    id: String,
    snapshot: Arc<Snapshot>,
    since: Duration,
}

impl Snapshots {
    pub fn store_snapshot(&self, snapshot: Arc<Snapshot>, now: Duration) -> String {
        let id = crate::random::random_token("snap:");
        let mut kept = lock(&self.kept);
        drop_old(&mut kept, now);
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back(SnapshotEntry { id: id.clone(), snapshot, since: now });
        id
    }

    /// The snapshot, while it lives. Asking for it keeps it from being pushed out, not from growing old.
    pub fn get(&self, id: &str, now: Duration) -> Option<Arc<Snapshot>> {
        let mut kept = lock(&self.kept);
        drop_old(&mut kept, now);
        let place = kept.iter().position(|kept| kept.id == id)?;
        let found = kept.remove(place)?;
        let snapshot = found.snapshot.clone();
        kept.push_back(found);
        Some(snapshot)
    }

    /// The youngest snapshot, to share views with the next one.
    pub fn latest_snapshot(&self, now: Duration) -> Option<Arc<Snapshot>> {
        let mut kept = lock(&self.kept);
        drop_old(&mut kept, now);
        kept.iter().max_by_key(|kept| kept.since).map(|kept| kept.snapshot.clone())
    }

    /// Whether there was one to drop.
    pub fn drop(&self, id: &str, now: Duration) -> bool {
        let mut kept = lock(&self.kept);
        drop_old(&mut kept, now);
        let before = kept.len();
        kept.retain(|kept| kept.id != id);
        kept.len() < before
    }
}

fn drop_old(kept: &mut VecDeque<SnapshotEntry>, now: Duration) {
    kept.retain(|kept| now.saturating_sub(kept.since) < LIFE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn snapshot() -> Arc<Snapshot> {
        Arc::new(Snapshot {
            taken_at: std::time::SystemTime::UNIX_EPOCH,
            windows: Vec::new(),
            views: BTreeMap::new(),
            unreadable: BTreeMap::new(),
        })
    }

    #[test]
    fn a_snapshot_lives_for_its_time() {
        let snapshots = Snapshots::default();
        let id = snapshots.store_snapshot(snapshot(), Duration::from_secs(10));
        assert!(id.starts_with("snap:") && id.len() == 21);
        assert!(snapshots.get(&id, Duration::from_secs(309)).is_some());
        assert!(snapshots.get(&id, Duration::from_secs(310)).is_none());
        assert!(!snapshots.drop(&id, Duration::from_secs(310)));
    }

    #[test]
    fn the_least_used_goes_first() {
        let snapshots = Snapshots::default();
        let ids: Vec<String> =
            (0..MOST).map(|_| snapshots.store_snapshot(snapshot(), Duration::ZERO)).collect();
        assert!(snapshots.get(&ids[0], Duration::ZERO).is_some());
        snapshots.store_snapshot(snapshot(), Duration::ZERO);
        assert!(snapshots.get(&ids[0], Duration::ZERO).is_some());
        assert!(snapshots.get(&ids[1], Duration::ZERO).is_none());
    }

    #[test]
    fn what_was_dropped_is_gone() {
        let snapshots = Snapshots::default();
        let id = snapshots.store_snapshot(snapshot(), Duration::ZERO);
        assert!(snapshots.drop(&id, Duration::ZERO));
        assert!(!snapshots.drop(&id, Duration::ZERO));
        assert!(snapshots.get(&id, Duration::ZERO).is_none());
    }
}
