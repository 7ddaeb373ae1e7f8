//! What a window manager does to the windows of the mock desktop: raise, minimize, place, close.
//!
//! The default desktop lets itself be raised and otherwise never changes.

use std::time::Duration;

use super::world::World;
use crate::model::{Reached, Rect, WindowChange, WindowState};

/// Smaller windows are refused, as real ones do.
const SMALLEST: i32 = 1;

impl World {
    /// `None` when there is no such window.
    pub fn change_window(&mut self, uid: &str, change: &WindowChange, now: Duration) -> Option<Reached> {
        self.advance_to(now);
        self.window_index(uid)?;
        let note = self.refusal(change);
        if note.is_none() {
            self.place_window(uid, change);
        }
        Some(Reached { done: note.is_none(), state: self.window_state(uid), note: note.map(str::to_owned) })
    }

    fn refusal(&self, change: &WindowChange) -> Option<&'static str> {
        match change {
            WindowChange::Raise => None,
            _ if self.inert => Some("the default mock desktop never changes; load a scenario"),
            WindowChange::Resize { width, height } if *width < SMALLEST || *height < SMALLEST => {
                Some("a window has at least one pixel")
            }
            _ => None,
        }
    }

    fn place_window(&mut self, uid: &str, change: &WindowChange) {
        let Some(state) = self.window_state(uid) else { return };
        let screen = self.screen();
        match *change {
            WindowChange::Raise => {
                self.raise_window(uid);
            }
            WindowChange::Restore if state.minimized => {
                self.raise_window(uid);
            }
            WindowChange::Restore => {
                if let Some(before) = self.memory_mut(uid).place.before_maximized.take() {
                    self.put(uid, before);
                }
            }
            WindowChange::Minimize => self.memory_mut(uid).place.minimized = Some(true),
            WindowChange::Maximize => {
                self.raise_window(uid);
                self.memory_mut(uid).place.before_maximized.get_or_insert(state.bounds);
                self.put(uid, screen);
            }
            WindowChange::Move(to) => self.put_normally(uid, Rect { x: to.x, y: to.y, ..state.bounds }),
            WindowChange::Resize { width, height } => {
                self.put_normally(uid, Rect { width, height, ..state.bounds });
            }
            WindowChange::Close => self.close_window(uid),
        }
    }

    /// A window that is moved or resized no longer fills the screen.
    fn put_normally(&mut self, uid: &str, bounds: Rect) {
        self.memory_mut(uid).place.before_maximized = None;
        self.put(uid, bounds);
    }

    fn put(&mut self, uid: &str, bounds: Rect) {
        self.memory_mut(uid).place.bounds = Some(bounds);
    }

    fn window_state(&self, uid: &str) -> Option<WindowState> {
        let index = self.window_index(uid)?;
        let plan = &self.window_plans()[index];
        Some(WindowState {
            bounds: self.window_bounds(plan),
            focused: self.focused_window() == Some(index),
            minimized: self.is_minimized(plan),
            maximized: self.window_placement(plan).before_maximized.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::Point;
    use crate::scenario;

    const TWO: &str = "
name: two
states:
  start:
    windows:
      - {uid: one, bounds: {x: 10, y: 20, width: 300, height: 200}, tree: {children: [{role: Button, name: Go, bounds: {x: 20, y: 30, width: 50, height: 20}}]}}
      - {uid: two, bounds: {x: 400, y: 20, width: 300, height: 200}, tree: {}}
";

    fn world() -> World {
        let scenario = scenario::load_str(TWO, "two.yaml").unwrap_or_else(|problem| panic!("{problem}"));
        World::scenario(Arc::new(scenario), Duration::ZERO)
    }

    #[track_caller]
    fn change(world: &mut World, uid: &str, change: WindowChange) -> WindowState {
        let reached = world.change_window(uid, &change, Duration::ZERO).unwrap();
        assert!(reached.done, "{change:?}: {reached:?}");
        reached.state.unwrap()
    }

    #[test]
    fn a_moved_window_takes_its_elements_along() {
        let mut world = world();
        change(&mut world, "one", WindowChange::Move(Point { x: 110, y: 70 }));
        let tree = world.tree("one", Duration::ZERO).unwrap();
        assert_eq!(tree[0].bounds, Rect::new(110, 70, 300, 200));
        assert_eq!(tree[1].bounds, Rect::new(120, 80, 50, 20));
        assert_eq!(world.windows()[0].bounds, Rect::new(110, 70, 300, 200));
    }

    #[test]
    fn minimized_windows_lose_the_focus_and_come_back() {
        let mut world = world();
        let state = change(&mut world, "one", WindowChange::Minimize);
        assert!(state.minimized && !state.focused);
        assert!(world.windows()[1].focused);
        assert!(change(&mut world, "one", WindowChange::Restore).focused);
    }

    #[test]
    fn maximized_windows_fill_the_screen_and_shrink_again() {
        let mut world = world();
        let before = world.windows()[1].bounds;
        let state = change(&mut world, "two", WindowChange::Maximize);
        assert!(state.maximized && state.bounds == world.screen());
        let state = change(&mut world, "two", WindowChange::Restore);
        assert!(!state.maximized && state.bounds == before);
    }

    #[test]
    fn a_closed_window_is_gone() {
        let mut world = world();
        let reached = world.change_window("one", &WindowChange::Close, Duration::ZERO).unwrap();
        assert_eq!((reached.done, reached.state), (true, None));
        assert_eq!(world.windows().len(), 1);
        assert_eq!(world.stacked_windows()[0].uid, "two");
        assert!(world.tree("one", Duration::ZERO).is_none());
        assert!(world.change_window("one", &WindowChange::Raise, Duration::ZERO).is_none());
    }

    #[test]
    fn the_default_desktop_only_lets_itself_be_raised() {
        let mut world = World::notepad("n");
        let uid = world.windows()[1].uid.clone();
        assert!(change(&mut world, &uid, WindowChange::Raise).focused);
        let reached = world.change_window(&uid, &WindowChange::Close, Duration::ZERO).unwrap();
        assert!(!reached.done && reached.state.is_some());
    }
}
