//! The platform where there is no desktop to work with: it compiles everywhere and says why.

use super::unsupported::{
    NO_PAGES, NoAccessibility, NoApps, NoCapture, NoClipboard, NoDesktop, NoInput, NoPages, NoWatch,
};
use super::{Capabilities, Coordinates, Facts, Health, Platform, platform_parts};

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
    pages: NoPages,
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
            pages: NO_PAGES.clone(),
            reason,
        }
    }

    /// Where a browser was to be the desktop.
    pub fn without_browser(reason: impl Into<String>) -> Self {
        let absent = Self::new(reason);
        let pages = NoPages::of_missing_browser(absent.reason.clone());
        Self { pages, ..absent }
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

    platform_parts! { self,
        desktop: &self.desktop,
        accessibility: &self.accessibility,
        input: &self.input,
        capture: &self.capture,
        clipboard: &self.clipboard,
        apps: &self.apps,
        watch: &self.watch,
        pages: &self.pages,
    }
}
