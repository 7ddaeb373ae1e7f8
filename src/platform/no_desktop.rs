//! The platform where there is no desktop to work with: it compiles everywhere and says why.

use super::unsupported::{NoAccessibility, NoApps, NoCapture, NoClipboard, NoDesktop, NoInput, NoWatch};
use super::{
    Accessibility, Apps, Capabilities, Capture, Clipboard, Coordinates, Desktop, Facts, Health, Input,
    Platform, Stage, Watch,
};

#[derive(Debug)]
pub struct Absent {
    reason: String,
    desktop: NoDesktop,
    accessibility: NoAccessibility,
    input: NoInput,
    capture: NoCapture,
    clipboard: NoClipboard,
    apps: NoApps,
    watch: NoWatch,
}

impl Absent {
    pub fn new(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            desktop: NoDesktop { reason: reason.clone() },
            accessibility: NoAccessibility { reason: reason.clone() },
            input: NoInput { reason: reason.clone() },
            capture: NoCapture { reason: reason.clone() },
            clipboard: NoClipboard::new(&reason),
            apps: NoApps::new(&reason),
            watch: NoWatch { reason: reason.clone() },
            reason,
        }
    }
}

impl Platform for Absent {
    fn facts(&self) -> Facts {
        Facts {
            adapter: "AbsentAdapter",
            is_mock: false,
            unavailable: Some(self.reason.clone()),
            coordinates: Coordinates::Screen,
            limitations: Vec::new(),
            supports: Capabilities { redaction: true, ..Capabilities::default() },
        }
    }

    /// That there is no desktop is a fact and no illness.
    fn health(&self) -> Health {
        Health::default()
    }

    fn stage(&self) -> Option<&dyn Stage> {
        None
    }

    fn desktop(&self) -> &dyn Desktop {
        &self.desktop
    }

    fn accessibility(&self) -> &dyn Accessibility {
        &self.accessibility
    }

    fn input(&self) -> &dyn Input {
        &self.input
    }

    fn capture(&self) -> &dyn Capture {
        &self.capture
    }

    fn clipboard(&self) -> &dyn Clipboard {
        &self.clipboard
    }

    fn apps(&self) -> &dyn Apps {
        &self.apps
    }

    fn watch(&self) -> &dyn Watch {
        &self.watch
    }
}
