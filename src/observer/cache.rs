//! Captured trees for a short time, and what capturing cost for a longer one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::View;

const MOST_TREES: usize = 8;
const MOST_STATS: usize = 64;

pub struct Cache {
    ttl: Duration,
    trees: HashMap<String, CacheEntry>,
    stats: HashMap<String, CaptureStats>,
    counters: CacheCounters,
    uses: u64,
}

struct CacheEntry {
    view: Arc<View>,
    captured: Duration,
    /// The platform's count of changes before the look.
    generation: u64,
    last_use: u64,
}

/// When something is asked of the cache: trees that are older, or that something changed since, do not count.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    pub time: Duration,
    pub generation: u64,
}

impl CacheEntry {
    fn is_fresh(&self, now: Now, ttl: Duration) -> bool {
        self.generation == now.generation && now.time.saturating_sub(self.captured) < ttl
    }
}

#[derive(Clone, Debug)]
pub struct CaptureStats {
    pub captured_at: SystemTime,
    pub capture_time: Duration,
    pub node_count: usize,
    pub named_node_count: usize,
    last_use: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CacheCounters {
    pub hits: u64,
    pub misses: u64,
    pub entries: usize,
    pub captures: u64,
    pub capture_total: Duration,
    pub capture_max: Duration,
}

impl Cache {
    pub fn new(ttl: Duration) -> Self {
        Self {
            ttl,
            trees: HashMap::new(),
            stats: HashMap::new(),
            counters: CacheCounters::default(),
            uses: 0,
        }
    }

    pub fn get(&mut self, uid: &str, now: Now) -> Option<Arc<View>> {
        self.uses += 1;
        let fresh = self.trees.get_mut(uid).filter(|entry| entry.is_fresh(now, self.ttl));
        match fresh {
            Some(entry) => {
                entry.last_use = self.uses;
                self.counters.hits += 1;
                Some(entry.view.clone())
            }
            None => {
                self.counters.misses += 1;
                None
            }
        }
    }

    /// Like `get`, for those whose looking must leave no mark.
    pub fn peek_view(&self, uid: &str, now: Now) -> Option<Arc<View>> {
        let entry = self.trees.get(uid)?;
        entry.is_fresh(now, self.ttl).then(|| entry.view.clone())
    }

    /// The generation in `now` is from before the look, so that a change during it makes the tree stale.
    pub fn insert_view(&mut self, uid: &str, view: &Arc<View>, now: Now) {
        self.uses += 1;
        self.count(view.capture_time);
        self.note_stats(uid, view);
        let entry = CacheEntry {
            view: view.clone(),
            captured: now.time,
            generation: now.generation,
            last_use: self.uses,
        };
        self.trees.insert(uid.to_owned(), entry);
        drop_oldest(&mut self.trees, MOST_TREES, |entry| entry.last_use);
    }

    fn count(&mut self, took: Duration) {
        self.counters.captures += 1;
        self.counters.capture_total += took;
        self.counters.capture_max = self.counters.capture_max.max(took);
    }

    fn note_stats(&mut self, uid: &str, view: &View) {
        let stats = CaptureStats {
            captured_at: view.captured_at,
            capture_time: view.capture_time,
            node_count: view.tree().len(),
            named_node_count: view.named_count(),
            last_use: self.uses,
        };
        self.stats.insert(uid.to_owned(), stats);
        drop_oldest(&mut self.stats, MOST_STATS, |stats| stats.last_use);
    }

    /// Trees go after every input; what capturing cost is remembered.
    pub fn clear(&mut self) {
        self.trees.clear();
    }

    pub fn stats(&self) -> Vec<(String, CaptureStats)> {
        let mut stats: Vec<_> = self.stats.iter().map(|(uid, stats)| (uid.clone(), stats.clone())).collect();
        stats.sort_by(|left, right| left.0.cmp(&right.0));
        stats
    }

    pub fn counters(&self) -> CacheCounters {
        CacheCounters { entries: self.trees.len(), ..self.counters }
    }
}

fn drop_oldest<T>(entries: &mut HashMap<String, T>, most: usize, last_use: impl Fn(&T) -> u64) {
    while entries.len() > most {
        let Some(oldest) =
            entries.iter().min_by_key(|(_, entry)| last_use(entry)).map(|(uid, _)| uid.clone())
        else {
            return;
        };
        entries.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, Tree};

    fn view() -> Arc<View> {
        let tree = Arc::new(Tree::of_root(Element::new("Window", "w", Rect::default())));
        Arc::new(View::new(tree.clone(), tree, Duration::from_millis(3), SystemTime::UNIX_EPOCH))
    }

    fn at(millis: u64) -> Now {
        Now { time: Duration::from_millis(millis), generation: 7 }
    }

    #[test]
    fn a_tree_is_stale_once_something_changed() {
        let mut cache = Cache::new(Duration::from_secs(2));
        cache.insert_view("a", &view(), at(0));
        assert!(cache.peek_view("a", at(1)).is_some());
        assert!(cache.peek_view("a", Now { generation: 8, ..at(1) }).is_none());
    }

    #[test]
    fn a_tree_lives_for_its_time() {
        let mut cache = Cache::new(Duration::from_secs(2));
        cache.insert_view("a", &view(), at(10_000));
        assert!(cache.get("a", at(11_999)).is_some());
        assert!(cache.get("a", at(12_000)).is_none());
        assert_eq!((cache.counters().hits, cache.counters().misses), (1, 1));
    }

    #[test]
    fn the_least_used_goes_first() {
        let mut cache = Cache::new(Duration::from_secs(2));
        for number in 0..MOST_TREES {
            cache.insert_view(&number.to_string(), &view(), at(0));
        }
        assert!(cache.get("0", at(0)).is_some());
        cache.insert_view("new", &view(), at(0));
        assert!(cache.get("0", at(0)).is_some());
        assert!(cache.get("1", at(0)).is_none());
    }

    #[test]
    fn what_capturing_cost_survives_forgetting() {
        let mut cache = Cache::new(Duration::from_secs(2));
        cache.insert_view("a", &view(), at(0));
        cache.clear();
        assert!(cache.get("a", at(0)).is_none());
        assert_eq!(cache.stats()[0].1.node_count, 1);
        assert_eq!(cache.counters().captures, 1);
    }
}
