//! What each caller was last shown of a window, so that the next look can say what is new.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::clock::lock;
use crate::observer::View;

const MOST: usize = 64;

/// The newest last. Callers are told apart by the surface that they come from.
#[derive(Debug, Default)]
pub struct Looks {
    kept: Mutex<VecDeque<LookEntry>>,
}

#[derive(Debug)]
struct LookEntry {
    caller: &'static str,
    window_uid: String,
    view: Arc<View>,
}

impl Looks {
    /// What the caller was last shown of a window.
    pub fn last_view(&self, caller: &'static str, window_uid: &str) -> Option<Arc<View>> {
        let kept = lock(&self.kept);
        let same = |old: &&LookEntry| old.caller == caller && old.window_uid == window_uid;
        kept.iter().find(same).map(|old| old.view.clone())
    }

    /// Keeps what is shown now, and gives back what was shown before it.
    pub fn swap_view(&self, caller: &'static str, window_uid: &str, view: Arc<View>) -> Option<Arc<View>> {
        let mut kept = lock(&self.kept);
        let same = |old: &LookEntry| old.caller == caller && old.window_uid == window_uid;
        let before = kept.iter().position(same).and_then(|at| kept.remove(at));
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back(LookEntry { caller, window_uid: window_uid.to_owned(), view });
        before.map(|old| old.view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, Tree};
    use std::time::{Duration, SystemTime};

    fn view(name: &str) -> Arc<View> {
        let tree = Arc::new(Tree::of_root(Element::new("Window", name, Rect::default())));
        Arc::new(View::new(tree.clone(), tree, Duration::ZERO, SystemTime::UNIX_EPOCH))
    }

    fn title(view: Option<Arc<View>>) -> Option<String> {
        view.map(|view| view.tree().root().name.clone())
    }

    #[test]
    fn each_caller_has_its_own_last_look_at_each_window() {
        let looks = Looks::default();
        assert_eq!(title(looks.swap_view("mcp", "a", view("1"))), None);
        assert_eq!(title(looks.swap_view("rest", "a", view("2"))), None);
        assert_eq!(title(looks.swap_view("mcp", "b", view("3"))), None);
        assert_eq!(title(looks.swap_view("mcp", "a", view("4"))).as_deref(), Some("1"));
        assert_eq!(title(looks.swap_view("mcp", "a", view("5"))).as_deref(), Some("4"));
    }

    #[test]
    fn the_least_recent_is_forgotten_first() {
        let looks = Looks::default();
        for number in 0..=MOST {
            looks.swap_view("mcp", &number.to_string(), view("old"));
        }
        assert_eq!(title(looks.swap_view("mcp", "0", view("new"))), None);
        assert!(looks.swap_view("mcp", "2", view("new")).is_some());
    }
}
