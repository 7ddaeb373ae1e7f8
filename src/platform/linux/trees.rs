//! From a window of X11 to its elements on the accessibility bus.

use super::Linux;
use super::accessibility::Sought;
use crate::error::Result;
use crate::model::{Tree, Window};
use crate::platform::{Accessibility, Desktop, Patience};

impl Accessibility for Linux {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        self.accessible.tree(self.sought(window)?, window.bounds, patience)
    }
}

impl Linux {
    /// What of the window is known on both sides.
    pub(super) fn sought(&self, window: &Window) -> Result<Sought> {
        let frame = self.frame(&window.uid)?;
        let mine = self.windows()?.into_iter().filter(|other| other.pid == window.pid).count();
        let shadow = frame.shadow;
        Ok(Sought {
            pid: window.pid,
            title: window.title.clone(),
            client: frame.client,
            shadow: [shadow.left, shadow.top, shadow.right, shadow.bottom],
            focused: window.focused,
            alone: mine <= 1,
            native: None,
        })
    }
}
