//! Tree tokens: what a caller saw, so that it can later ask what has changed since.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::View;
use crate::clock::lock;

const MOST_PER_WINDOW: usize = 16;
const MOST_WINDOWS: usize = 64;
const LIFE: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
pub struct TreeTokens {
    windows: Mutex<HashMap<String, VecDeque<TokenEntry>>>,
}

#[derive(Debug)]
struct TokenEntry {
    token: String,
    view: Arc<View>,
    since: Duration,
}

impl TreeTokens {
    pub fn put(&self, window_uid: &str, view: Arc<View>, now: Duration) -> String {
        let token = crate::random::random_token("tt:");
        let mut windows = lock(&self.windows);
        if !windows.contains_key(window_uid) && windows.len() >= MOST_WINDOWS {
            drop_stalest(&mut windows);
        }
        let kept = windows.entry(window_uid.to_owned()).or_default();
        kept.retain(|old| now.saturating_sub(old.since) < LIFE);
        if kept.len() == MOST_PER_WINDOW {
            kept.pop_front();
        }
        kept.push_back(TokenEntry { token: token.clone(), view, since: now });
        token
    }

    /// The tree behind a token of this window, while it lives.
    pub fn get(&self, window_uid: &str, token: &str, now: Duration) -> Option<Arc<View>> {
        let windows = lock(&self.windows);
        let kept = windows.get(window_uid)?.iter().find(|kept| kept.token == token)?;
        (now.saturating_sub(kept.since) < LIFE).then(|| kept.view.clone())
    }

    /// What was last shown of this window, and its token, while it lives.
    pub fn latest(&self, window_uid: &str, now: Duration) -> Option<(String, Arc<View>)> {
        let windows = lock(&self.windows);
        let kept = windows.get(window_uid)?.back()?;
        (now.saturating_sub(kept.since) < LIFE).then(|| (kept.token.clone(), kept.view.clone()))
    }
}

fn drop_stalest(windows: &mut HashMap<String, VecDeque<TokenEntry>>) {
    let stalest =
        windows.iter().min_by_key(|(_, kept)| kept.back().map(|last| last.since)).map(|(uid, _)| uid.clone());
    if let Some(uid) = stalest {
        windows.remove(&uid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, Tree};

    fn view() -> Arc<View> {
        let tree = Arc::new(Tree::of_root(Element::new("Window", "w", Rect::default())));
        Arc::new(View::new(tree.clone(), tree, Duration::ZERO, std::time::SystemTime::UNIX_EPOCH))
    }

    #[test]
    fn a_token_is_of_its_window_and_time() {
        let tokens = TreeTokens::default();
        let token = tokens.put("a", view(), Duration::ZERO);
        assert!(token.starts_with("tt:") && token.len() == 19);
        assert!(tokens.get("a", &token, Duration::from_secs(299)).is_some());
        assert!(tokens.get("a", &token, LIFE).is_none());
        assert!(tokens.get("b", &token, Duration::ZERO).is_none());
    }

    #[test]
    fn a_window_keeps_sixteen() {
        let tokens = TreeTokens::default();
        let first = tokens.put("a", view(), Duration::ZERO);
        let rest: Vec<String> = (0..16).map(|_| tokens.put("a", view(), Duration::ZERO)).collect();
        assert!(tokens.get("a", &first, Duration::ZERO).is_none());
        assert!(tokens.get("a", &rest[0], Duration::ZERO).is_some());
    }
}
