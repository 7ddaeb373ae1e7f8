//! The whole desktop at one moment: every window and what it shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::structure::Structure;
use super::{Observer, View};
use crate::clock::Cancel;
use crate::error::{Kind, Result};
use crate::model::{Tree, Window};

/// Windows with the titles that may be shown, and the views of those that could be read.
#[derive(Debug)]
pub struct Snapshot {
    pub taken_at: SystemTime,
    pub windows: Vec<Window>,
    pub views: BTreeMap<String, Arc<View>>,
    /// Why a window has no view.
    pub unreadable: BTreeMap<String, String>,
}

impl Observer {
    /// Reads every window now. A window that cannot be read costs its own entry. Views that `earlier`
    /// already has are shared with it, so a desktop that stands still is held once.
    pub fn take_snapshot(&self, earlier: Option<&Snapshot>, cancel: &Cancel) -> Result<Snapshot> {
        let desktop = self.desktop()?;
        let mut snapshot = Snapshot {
            taken_at: self.clock.wall_time(),
            windows: Vec::with_capacity(desktop.windows().len()),
            views: BTreeMap::new(),
            unreadable: BTreeMap::new(),
        };
        for raw in desktop.windows() {
            cancel.check()?;
            let chosen = self.resolve_raw(&desktop, raw, None);
            let uid = chosen.window.uid.clone();
            match self.fresh_view(&chosen, cancel) {
                Ok(view) => {
                    let view = share_view(earlier.and_then(|earlier| earlier.views.get(&uid)), view);
                    snapshot.views.insert(uid, view);
                }
                Err(error) if error.kind == Kind::Cancelled => return Err(error),
                Err(error) => {
                    snapshot.unreadable.insert(uid, error.to_string());
                }
            }
            snapshot.windows.push(chosen.window);
        }
        Ok(snapshot)
    }
}

fn share_view(earlier: Option<&Arc<View>>, view: Arc<View>) -> Arc<View> {
    earlier.filter(|earlier| earlier.is_same_as(&view)).cloned().unwrap_or(view)
}

impl Snapshot {
    /// Every tree in full, by the uid of its window.
    pub fn all_trees(&self) -> BTreeMap<String, Structure> {
        self.views
            .iter()
            .map(|(uid, view)| (uid.clone(), Structure::whole_subtree(view.clone(), Tree::ROOT)))
            .collect()
    }
}
