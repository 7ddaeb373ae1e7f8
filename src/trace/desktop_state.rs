//! What all windows show around a traced call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::clock::Cancel;
use crate::config::limits;
use crate::model::Window;
use crate::observer::{Observer, View};

/// All windows at one moment. One that could not be read has no view.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    pub windows: Vec<(Window, Option<Arc<View>>)>,
}

impl Scene {
    /// A desktop that cannot be read leaves an empty scene: a trace never fails the call it records.
    pub fn capture_scene(observer: &Observer, cancel: &Cancel) -> Self {
        let look = || observer.glance_all(limits::TRACE_LOOK_TIME, cancel);
        Self { windows: catch_unwind(AssertUnwindSafe(look)).unwrap_or_default() }
    }

    /// The focused window, or the first: the one that keys would go to.
    fn focused_window(&self) -> Option<&(Window, Option<Arc<View>>)> {
        self.windows.iter().find(|(window, _)| window.focused).or_else(|| self.windows.first())
    }

    fn focused_view(&self) -> Option<&Arc<View>> {
        self.focused_window().and_then(|(_, view)| view.as_ref())
    }

    pub fn focused_uid(&self) -> Option<&str> {
        self.focused_window().map(|(window, _)| window.uid.as_str())
    }

    pub fn tree_hash(&self) -> String {
        self.focused_view().map_or(String::new(), |view| view.hash().to_owned())
    }

    /// Whether typed text would go where it must not be stored. What cannot be read may be secret.
    pub fn focus_is_private(&self) -> bool {
        self.focused_view().is_none_or(|view| view.focus_is_private())
    }

    pub fn has_secret_near_focus(&self) -> bool {
        self.focused_view().is_none_or(|view| view.has_secret())
    }

    pub fn differs_from(&self, other: &Scene) -> bool {
        self.windows.len() != other.windows.len()
            || self.windows.iter().zip(&other.windows).any(|(left, right)| !same_window(left, right))
    }
}

fn same_window(left: &(Window, Option<Arc<View>>), right: &(Window, Option<Arc<View>>)) -> bool {
    left.0 == right.0
        && match (&left.1, &right.1) {
            (Some(left), Some(right)) => {
                Arc::ptr_eq(left, right) || left.fingerprint() == right.fingerprint()
            }
            (None, None) => true,
            _ => false,
        }
}
