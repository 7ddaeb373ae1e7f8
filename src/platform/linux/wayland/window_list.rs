//! What a compositor tells of windows, and which window on the accessibility bus each of them is.

use crate::error::Result;
use crate::model::{Rect, WindowChange};
use crate::platform::linux::accessibility::AtspiWindow;

/// A window as the compositor knows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompositorWindow {
    /// Stays the same as long as the window is open.
    pub id: String,
    pub title: String,
    pub app_id: String,
    pub pid: Option<u32>,
    /// Where the application draws, in the layout, where the compositor tells it.
    pub bounds: Option<Rect>,
    pub focused: bool,
    /// Minimized, or on a workspace or tab that does not show.
    pub hidden: bool,
    pub maximized: bool,
    /// Larger is further in front.
    pub stack: u32,
}

/// Where windows come from, and what changes them.
pub trait WindowSource: Send + Sync {
    /// In front of the ids, and in what `doctor` says.
    fn name(&self) -> &'static str;

    /// Whether it says where windows are.
    fn knows_places(&self) -> bool;

    fn windows(&self) -> Result<Vec<CompositorWindow>>;

    /// Gives a window the keyboard, in front of the others.
    fn activate(&self, id: &str) -> Result<()>;

    /// Asks for a change; the sentence is why it cannot be asked for.
    fn request(&self, window: &CompositorWindow, change: &WindowChange) -> Result<Option<String>>;
}

/// For each listed window the place of its root among those on the bus. Where two fit alike there is none.
pub fn match_roots(
    listed: &[CompositorWindow],
    roots: &[AtspiWindow],
    process_of: impl Fn(u32) -> Option<String>,
) -> Vec<Option<usize>> {
    let processes: Vec<String> = roots.iter().map(|root| process_of(root.pid).unwrap_or_default()).collect();
    let mut pairs: Vec<(u32, usize, usize)> = Vec::new();
    for (at, window) in listed.iter().enumerate() {
        for (place, root) in roots.iter().enumerate() {
            let score = likeness(window, root, &processes[place]);
            pairs.extend((score > 0).then_some((score, at, place)));
        }
    }
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.0));
    let mut found: Vec<Option<usize>> = vec![None; listed.len()];
    while let Some((score, at, place)) = pairs.first().copied() {
        let rivals = pairs.iter().filter(|(other, a, p)| *other == score && (*a == at || *p == place));
        if rivals.count() == 1 {
            found[at] = Some(place);
            pairs.retain(|(_, a, p)| *a != at && *p != place);
        } else {
            // None of those that fit alike is taken; a worse fit of one of them would be another window.
            let alike: Vec<(usize, usize)> = pairs
                .iter()
                .filter(|(other, a, p)| *other == score && (*a == at || *p == place))
                .map(|(_, a, p)| (*a, *p))
                .collect();
            pairs.retain(|(_, a, p)| !alike.iter().any(|(at, place)| a == at || p == place));
        }
    }
    found
}

/// Nothing in common is zero.
fn likeness(window: &CompositorWindow, root: &AtspiWindow, process: &str) -> u32 {
    let same_process = window.pid.is_some_and(|pid| pid == root.pid);
    let same_title = !window.title.is_empty() && window.title == root.title;
    let same_app = window.pid.is_none() && is_of_app(&window.app_id, process);
    // A program in a container speaks through a proxy, whose process is another.
    if !(same_process || same_title || same_app) {
        return 0;
    }
    let same_size = window
        .bounds
        .is_some_and(|bounds| (bounds.width, bounds.height) == (root.extents.width, root.extents.height));
    let weigh = |holds: bool, weight: u32| if holds { weight } else { 0 };
    weigh(same_process, 16)
        + weigh(same_title, 8)
        + weigh(same_app, 4)
        + weigh(window.focused && root.active, 2)
        + weigh(same_size, 1)
}

/// Whether an application calls itself like its program: `org.gnome.Calculator` is `gnome-calculator`.
fn is_of_app(app_id: &str, process: &str) -> bool {
    let last = app_id.rsplit('.').next().unwrap_or(app_id).to_lowercase();
    let process = process.to_lowercase();
    !last.is_empty() && !process.is_empty() && (process.contains(&last) || last.contains(&process))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(title: &str, app_id: &str, pid: Option<u32>) -> CompositorWindow {
        CompositorWindow {
            title: title.to_owned(),
            app_id: app_id.to_owned(),
            pid,
            ..CompositorWindow::default()
        }
    }

    fn root(title: &str, pid: u32) -> AtspiWindow {
        AtspiWindow {
            native: format!(":1.{pid}/{title}"),
            title: title.to_owned(),
            pid,
            extents: Rect::new(0, 0, 10, 10),
            active: false,
            minimized: false,
        }
    }

    fn check(windows: &[CompositorWindow], roots: &[AtspiWindow], expected: &[Option<usize>]) {
        let process = |pid| Some(if pid == 7 { "gnome-calculator" } else { "zenity" }.to_owned());
        assert_eq!(match_roots(windows, roots, process), expected, "{windows:?} {roots:?}");
    }

    #[test]
    fn a_window_is_found_by_its_process_and_title() {
        let (ask, tell) = (listed("Ask", "", Some(3)), listed("Tell", "", Some(3)));
        check(&[ask.clone(), tell.clone()], &[root("Tell", 3), root("Ask", 3)], &[Some(1), Some(0)]);
        // GTK leaves the name of many windows empty.
        check(std::slice::from_ref(&ask), &[root("", 3), root("Ask", 4)], &[Some(0)]);
        check(&[ask], &[root("Other", 5)], &[None]);
    }

    #[test]
    fn without_a_process_the_title_or_the_application_decides() {
        check(
            &[listed("Calculator", "org.gnome.Calculator", None)],
            &[root("", 7), root("x", 8)],
            &[Some(0)],
        );
        check(&[listed("Ask", "", None)], &[root("x", 7), root("Ask", 8)], &[Some(1)]);
    }

    #[test]
    fn of_two_that_fit_alike_none_is_taken() {
        let twin = listed("Ask", "", Some(3));
        check(&[twin.clone(), twin.clone()], &[root("Ask", 3), root("Ask", 3)], &[None, None]);
        let focused = CompositorWindow { focused: true, ..twin.clone() };
        let active = AtspiWindow { active: true, ..root("Ask", 3) };
        check(&[focused, twin], &[root("Ask", 3), active], &[Some(1), Some(0)]);
    }
}
