//! What may be asked of the platform without a permit. The platform itself stays inside this room: code that
//! held it could send input past the gate.
//!
//! An input needs a permit, and so does everything that acts:
//!
//! ```
//! use os_screen_observer::{clock::Cancel, error::Result, model::input::Act, observer::{Observer, Permit}};
//!
//! fn send(observer: &Observer, permit: &mut Permit, act: &Act) -> Result<()> {
//!     observer.send_input(permit, act, &Cancel::new()).map(drop)
//! }
//! ```
//!
//! Without one it does not compile:
//!
//! ```compile_fail,E0061
//! use os_screen_observer::{clock::Cancel, error::Result, model::input::Act, observer::{Observer, Permit}};
//!
//! fn send(observer: &Observer, permit: &mut Permit, act: &Act) -> Result<()> {
//!     observer.send_input(act, &Cancel::new()).map(drop)
//! }
//! ```
//!
//! The platform answers questions through the observer, and cannot be reached behind it:
//!
//! ```
//! use os_screen_observer::{error::Result, observer::Observer};
//!
//! fn generation(observer: &Observer) -> Result<u64> {
//!     observer.generation()
//! }
//! ```
//!
//! ```compile_fail,E0616
//! use os_screen_observer::{error::Result, observer::Observer};
//!
//! fn generation(observer: &Observer) -> Result<u64> {
//!     observer.platform.watch().generation()
//! }
//! ```
//!
//! ```compile_fail,E0599
//! use os_screen_observer::{error::Result, observer::Observer};
//!
//! fn generation(observer: &Observer) -> Result<u64> {
//!     observer.platform().generation()
//! }
//! ```

use super::Observer;
use crate::error::Result;
use crate::model::app::{App, ProgramEnd};
use crate::model::{Monitor, Rect};
use crate::platform::{Facts, Health, Stage};

impl Observer {
    pub fn facts(&self) -> Facts {
        self.platform.facts()
    }

    /// Whether the desktop can be seen and operated, part by part.
    pub fn health(&self) -> Health {
        self.platform.health()
    }

    /// A count of the changes that the desktop told of.
    pub fn generation(&self) -> Result<u64> {
        self.platform.watch().generation()
    }

    pub fn monitors(&self) -> Result<Vec<Monitor>> {
        self.platform.desktop().monitors()
    }

    /// What all monitors together span, where that is known.
    pub fn screen(&self) -> Result<Option<Rect>> {
        self.platform.desktop().screen()
    }

    /// Where scenarios are played, on the mock.
    pub fn stage(&self) -> Option<&dyn Stage> {
        self.platform.stage()
    }

    pub fn installed(&self) -> Result<Vec<App>> {
        self.platform.apps().installed()
    }

    /// A line on where programs save that are launched here, where that is not the person's home.
    pub fn where_files_go(&self) -> Option<String> {
        self.platform.apps().where_files_go()
    }

    /// Whether programs that are launched here reach no network.
    pub fn is_without_network(&self) -> bool {
        self.platform.apps().is_without_network()
    }

    pub fn is_running(&self, pid: u32) -> bool {
        self.platform.apps().is_running(pid)
    }

    /// How a program that was launched has ended, where that is known.
    pub fn program_end(&self, pid: u32) -> Option<ProgramEnd> {
        self.platform.apps().program_end(pid)
    }

    /// Lets go of every key and button that is held down. It undoes what was permitted, so it needs no permit.
    pub fn release_all(&self) {
        self.platform.input().release_all();
    }
}
