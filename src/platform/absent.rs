//! The platform where there is no desktop to work with: it compiles everywhere and says why.

use std::time::Duration;

use super::{
    Accessibility, Activation, Capabilities, Capture, Claimant, Coordinates, Desktop, Done, Facts, Health,
    Input, Patience, Platform, Shot, Stage, Surroundings, Wake, Watch,
};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::action::Act;
use crate::model::program::{App, Clip, Ended, Launch, Program, Run};
use crate::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};

#[derive(Debug)]
pub struct Absent {
    reason: String,
}

impl Absent {
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    fn refuse<T>(&self) -> Result<T> {
        Err(Error::new(Kind::PlatformUnsupported, self.reason.clone()))
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

    fn stage(&self) -> Option<&dyn Stage> {
        None
    }

    fn surroundings(&self) -> &dyn Surroundings {
        self
    }

    /// That there is no desktop is a fact and no illness.
    fn health(&self) -> Health {
        Health::default()
    }
}

impl Desktop for Absent {
    fn windows(&self) -> Result<Vec<Window>> {
        self.refuse()
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        self.refuse()
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(Vec::new())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        self.refuse()
    }

    fn activate(&self, _: &Window) -> Result<Activation> {
        self.refuse()
    }

    fn change(&self, _: &Window, _: &WindowChange, _: Duration, _: &Cancel) -> Result<Reached> {
        self.refuse()
    }
}

impl Surroundings for Absent {
    fn pointer(&self) -> Result<Option<Point>> {
        self.refuse()
    }

    fn clipboard(&self, _: &Cancel) -> Result<Clip> {
        self.refuse()
    }

    fn set_clipboard(&self, _: &str) -> Result<()> {
        self.refuse()
    }

    fn installed(&self) -> Result<Vec<App>> {
        self.refuse()
    }

    fn program(&self, _: &str) -> Result<Program> {
        self.refuse()
    }

    fn launch(&self, _: &Launch) -> Result<u32> {
        self.refuse()
    }

    fn is_running(&self, _: u32) -> bool {
        false
    }

    fn run(&self, run: &Run, cancel: &Cancel) -> Result<Ended> {
        super::run_command(run, cancel)
    }

    fn confine(&self, _: Rect) {}
}

impl Accessibility for Absent {
    fn tree(&self, _: &Window, _: &Patience) -> Result<Tree> {
        self.refuse()
    }
}

impl Input for Absent {
    fn act(&self, _: &Act, _: &Cancel) -> Result<Done> {
        self.refuse()
    }

    fn claim(&self, _: &Claimant) -> Result<()> {
        Ok(())
    }

    fn give_back(&self, _: &Claimant) {}

    fn release_all(&self) {}
}

impl Capture for Absent {
    fn window_picture(&self, _: &Window) -> Result<Shot> {
        self.refuse()
    }

    fn screen_picture(&self) -> Result<Shot> {
        self.refuse()
    }

    fn region_picture(&self, _: Rect) -> Result<Shot> {
        self.refuse()
    }
}

impl Watch for Absent {
    fn generation(&self) -> Result<u64> {
        self.refuse()
    }

    fn wait_change(&self, _: u64, _: Duration, _: &Cancel) -> Result<Wake> {
        self.refuse()
    }
}
