//! The list of windows as the applications report it, for a desktop that does not list other programs'
//! windows.

use std::rc::Rc;
use std::time::Duration;

use atspi::State;
use tokio::task::JoinSet;

use super::bus::{BusConnection, BusDeadline, BusError};
use super::find::{Candidate, POPUPS, gather_windows, list_applications};
use super::{AtspiClient, roles};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::Rect;

/// An application that does not answer in this time is left out of the list.
const CALL_TIME: Duration = Duration::from_millis(800);
const LIST_TIME: Duration = Duration::from_secs(3);

/// A window as its application shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct AtspiWindow {
    /// The name of its root on the bus.
    pub native: String,
    pub title: String,
    pub pid: u32,
    /// Its size; the place is the application's own idea of it.
    pub extents: Rect,
    pub active: bool,
    pub minimized: bool,
}

impl AtspiClient {
    /// All windows that show, in the order in which their applications came.
    pub fn windows(&self) -> Result<Vec<AtspiWindow>> {
        self.bus.run(LIST_TIME, &Cancel::new(), |link| async move { list_windows(link).await })
    }
}

async fn list_windows(link: Rc<BusConnection>) -> Result<Vec<AtspiWindow>> {
    let pace = BusDeadline::new(CALL_TIME, LIST_TIME);
    let applications = list_applications(&link, &pace).await.map_err(|trouble| bus_silent(&trouble))?;
    let mut asking = JoinSet::new();
    for (place, application) in applications.into_iter().enumerate() {
        let (link, pace) = (link.clone(), pace.clone());
        asking.spawn_local(async move {
            let mut windows = Vec::new();
            if !gather_windows(&link, &application, &mut windows, &pace).await {
                tracing::debug!(application = &*application.bus, "does not answer; its windows are left out");
            }
            let pid = link.process_of(&application.bus, &pace).await.unwrap_or(0);
            (place, windows.iter().filter_map(|window| listed_window(window, pid)).collect::<Vec<_>>())
        });
    }
    let mut found = Vec::new();
    while let Some(answer) = asking.join_next().await {
        found.extend(answer.ok());
    }
    found.sort_by_key(|(place, _)| *place);
    Ok(found.into_iter().flat_map(|(_, windows)| windows).collect())
}

fn bus_silent(trouble: &BusError) -> Error {
    Error::new(Kind::Timeout, format!("the accessibility registry does not list applications: {trouble:?}"))
        .with("phase", "windows")
}

/// Nothing for menus and tooltips, which belong to another window, and for what does not show.
fn listed_window(window: &Candidate, pid: u32) -> Option<AtspiWindow> {
    let shows = window.states.has(State::Showing) || window.states.has(State::Visible);
    let counts = shows && !roles::is_one_of(window.role, POPUPS);
    let native = window.object.as_ref().filter(|_| counts)?.native();
    Some(AtspiWindow {
        native,
        title: window.name.clone(),
        pid,
        extents: window.extents.unwrap_or_default(),
        active: window.states.has(State::Active),
        minimized: window.states.has(State::Iconified),
    })
}

#[cfg(test)]
mod tests {
    use atspi::Role;

    use super::super::object::{AtspiObject, States};
    use super::*;

    fn check(role: Role, states: &[State], expected: bool) {
        let states = States(states.iter().fold(0, |all, state| all | *state as u64));
        let window = Candidate {
            object: Some(AtspiObject::new(":1.7", "/3")),
            role: role as u32,
            states,
            ..Candidate::default()
        };
        assert_eq!(listed_window(&window, 9).is_some(), expected, "{role:?} {states:?}");
    }

    #[test]
    fn frames_that_show_are_listed_and_popups_are_not() {
        check(Role::Frame, &[State::Showing, State::Visible], true);
        check(Role::Dialog, &[State::Visible], true);
        check(Role::Frame, &[], false);
        check(Role::PopupMenu, &[State::Showing], false);
        check(Role::ToolTip, &[State::Showing], false);
    }
}
