//! What a running tool may reach.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::call::Origin;
use super::person::{Person, Question};
use crate::app::App;
use crate::budget::{Meter, Reservation};
use crate::clock::{Cancel, Clock};
use crate::config::Config;
use crate::error::Result;
use crate::observer::{DesktopState, Observer, Spotted};
use crate::session::Session;

pub struct Cx<'a> {
    pub app: &'a App,
    pub cancel: &'a Cancel,
    pub step_id: u64,
    /// Who calls, and what the surface knows of the person behind it; calls inside this one have the same.
    pub origin: Origin,
    pub person: &'a Person,
    /// Whether somebody will judge what the call touches; finding it out costs a capture.
    pub judged: bool,
    /// What was read on the screen to find out what the call touches: reading again would take as long again.
    pub spotted: RefCell<Option<Spotted>>,
    /// The look at the desktop that this call has taken before its input, once it has.
    pub look_before: Rc<RefCell<Option<Arc<DesktopState>>>>,
    /// What the person has to be asked before a call inside this one can succeed.
    pub question: Option<Box<Question>>,
    /// Said to the caller beside the result: what was understood differently from what was written.
    pub warning: Option<String>,
}

impl Cx<'_> {
    /// The same call on the same look, with another answer to whether it is judged.
    pub fn judging(&self, judged: bool) -> Cx<'_> {
        Cx {
            app: self.app,
            cancel: self.cancel,
            step_id: self.step_id,
            origin: self.origin,
            person: self.person,
            judged,
            spotted: Default::default(),
            look_before: self.look_before.clone(),
            question: None,
            warning: None,
        }
    }

    /// The desktop before the input: everything that finds, judges and reports what is touched asks this one look.
    pub fn desktop(&self) -> Result<Arc<DesktopState>> {
        if let Some(desktop) = &*self.look_before.borrow() {
            return Ok(desktop.clone());
        }
        let desktop = self.observer().desktop()?;
        desktop.ask_order();
        self.look_before.replace(Some(desktop.clone()));
        Ok(desktop)
    }

    /// The next one to ask looks anew.
    pub fn forget_desktop(&self) {
        self.look_before.take();
    }

    pub fn observer(&self) -> &Observer {
        &self.app.observer
    }

    pub fn config(&self) -> &Config {
        &self.app.config
    }

    pub fn session(&self) -> &Session {
        &self.app.session
    }

    pub fn clock(&self) -> &Clock {
        &self.app.clock
    }

    /// Budget for what a call turns out to need beyond what its declaration says, taken before it is
    /// used. It is given back unless it is committed.
    pub fn charge(&self, meters: &[Meter]) -> Result<Reservation> {
        self.app.budget.reserve(meters, self.app.clock.now())
    }
}
