//! What each caller knows of the windows, so that every reply can say what happened to them since.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::clock::lock;
use crate::model::Window;
use crate::observer::outline::window_name;

/// Callers are told apart by the surface that they come from.
#[derive(Debug, Default)]
pub struct WindowNews {
    known: Mutex<HashMap<&'static str, Vec<Window>>>,
}

impl WindowNews {
    /// What a caller finds that has not called before: what happens from here on is news to it.
    pub fn begin(&self, caller: &'static str, now: impl FnOnce() -> Vec<Window>) {
        lock(&self.known).entry(caller).or_insert_with(now);
    }

    /// A line for each window that came, went or is called otherwise since the caller's last call. Who calls for the
    /// first time knows of none, and is told of none.
    pub fn tell(&self, caller: &'static str, now: Vec<Window>) -> Vec<String> {
        let mut known = lock(&self.known);
        let lines = known.get(caller).map(|before| compare(before, &now));
        known.insert(caller, now);
        lines.unwrap_or_default()
    }
}

fn compare(before: &[Window], now: &[Window]) -> Vec<String> {
    let find = |windows: &'_ [Window], uid: &str| windows.iter().position(|window| window.uid == uid);
    let mut lines = Vec::new();
    for window in now {
        match find(before, &window.uid).map(|at| &before[at]) {
            None => lines.push(format!("new window {}", window_name(window))),
            Some(old) if old.title != window.title => {
                lines.push(format!("window is now {}", window_name(window)));
            }
            Some(_) => {}
        }
    }
    let gone = before.iter().filter(|old| find(now, &old.uid).is_none());
    lines.extend(gone.map(|old| format!("closed window {}", window_name(old))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Rect;

    fn windows(list: &[(&str, &str)]) -> Vec<Window> {
        let window = |(uid, title): &(&str, &str)| Window {
            uid: (*uid).to_owned(),
            title: (*title).to_owned(),
            handle: String::new(),
            process: String::new(),
            pid: 0,
            bounds: Rect::default(),
            focused: false,
            minimized: false,
            url: None,
        };
        list.iter().map(window).collect()
    }

    #[track_caller]
    fn check(before: &[(&str, &str)], now: &[(&str, &str)], lines: &[&str]) {
        let news = WindowNews::default();
        assert_eq!(news.tell("mcp", windows(before)), Vec::<String>::new());
        assert_eq!(news.tell("mcp", windows(now)), lines);
        assert_eq!(news.tell("mcp", windows(now)), Vec::<String>::new());
    }

    #[test]
    fn what_came_went_or_is_called_otherwise_is_told_once() {
        check(&[("a", "A")], &[("a", "A")], &[]);
        check(&[("a", "A")], &[("a", "A"), ("b", "B")], &["new window b \"B\""]);
        check(&[("a", "A"), ("b", "B")], &[("a", "A")], &["closed window b \"B\""]);
        check(&[("a", "A")], &[("a", "A*")], &["window is now a \"A*\""]);
    }

    #[test]
    fn each_caller_is_told_by_itself() {
        let news = WindowNews::default();
        news.tell("mcp", windows(&[("a", "A")]));
        assert_eq!(news.tell("rest", windows(&[])), Vec::<String>::new());
        assert_eq!(news.tell("mcp", windows(&[])), ["closed window a \"A\""]);
    }
}
