//! What a running tool may reach.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::call::{Call, Origin, Reply};
use super::caller::{Caller, Foreseen, Foresight};
use super::job_board::JobBoard;
use super::person::{Person, Question};
use super::scope::Scope;
use super::services::{ReplayControl, TraceControl, VisionModel};
use super::{Services, Table, Target};
use crate::budget::{Meter, Reservation};
use crate::clock::{Cancel, Clock};
use crate::config::{AmbiguousSelectors, Config};
use crate::error::{Error, Kind, Result};
use crate::metrics::Metrics;
use crate::observer::{
    DesktopState, ElementChoice, ElementTarget, Observer, SeveralMatches, Spotted, WindowChoice,
};
use crate::privacy::redact::Redactor;
use crate::session::Session;

pub struct Cx<'a> {
    services: Services<'a>,
    pub cancel: &'a Cancel,
    pub step_id: u64,
    /// Who calls, and what the surface knows of the person behind it; calls inside this one have the same.
    pub origin: Origin,
    pub person: &'a Person,
    /// The job that the call belongs to; calls inside this one belong to it too.
    pub scope: Option<&'a Arc<Scope>>,
    /// Whether somebody will judge what the call touches; finding it out costs a capture.
    pub judged: bool,
    /// It is a step of a list: what it touches may be about to come.
    pub is_step: bool,
    /// Who reads the reply is a model that wants few words: lines instead of JSON, screenshots no larger than it takes.
    pub lean: bool,
    /// Who reads it in the end reads lines, whether the reply is for it or for a call that it is a step of.
    pub reads_lines: bool,
    /// It is a step of a list, or the list itself.
    pub in_list: bool,
    /// What was read on the screen to find out what the call touches: reading again would take as long again.
    pub spotted: RefCell<Option<Spotted>>,
    /// The look at the desktop that this call has taken before its input, once it has.
    pub look_before: Rc<RefCell<Option<Arc<DesktopState>>>>,
    /// How many tokens the whole reply may have. The gate fits it; a tool may choose what to leave out.
    pub max_tokens: Option<usize>,
    /// What the person has to be asked before a call inside this one can succeed.
    pub question: Option<Box<Question>>,
    /// Said to the caller beside the result: what was understood differently from what was written.
    pub warning: Option<String>,
    /// The same of its arguments, which are read before the tool runs.
    pub argument_notes: Vec<String>,
}

impl<'a> Cx<'a> {
    pub fn new(
        services: Services<'a>,
        step_id: u64,
        origin: Origin,
        person: &'a Person,
        judged: bool,
        cancel: &'a Cancel,
    ) -> Self {
        Cx {
            services,
            cancel,
            step_id,
            origin,
            person,
            scope: None,
            judged,
            is_step: false,
            lean: false,
            reads_lines: false,
            in_list: false,
            spotted: Default::default(),
            look_before: Default::default(),
            max_tokens: None,
            question: None,
            warning: None,
            argument_notes: Vec::new(),
        }
    }

    /// The same call on the same look, with another answer to whether it is judged.
    pub fn with_judged(&self, judged: bool) -> Cx<'_> {
        Cx {
            look_before: self.look_before.clone(),
            in_list: self.in_list,
            reads_lines: self.reads_lines,
            scope: self.scope,
            ..Cx::new(self.services, self.step_id, self.origin, self.person, judged, self.cancel)
        }
    }

    /// The desktop before the input: everything that finds, judges and reports what is touched asks this one look.
    pub fn desktop(&self) -> Result<Arc<DesktopState>> {
        if let Some(desktop) = &*self.look_before.borrow() {
            return Ok(desktop.clone());
        }
        // Where somebody judges, nothing but what is there now counts.
        let desktop = match self.is_step && !self.judged {
            true => self.observer().desktop_after_input()?,
            false => self.observer().desktop()?,
        };
        desktop.ask_order();
        self.look_before.replace(Some(desktop.clone()));
        Ok(desktop)
    }

    /// The next one to ask looks anew.
    pub fn forget_desktop(&self) {
        self.look_before.take();
    }

    /// The element that is meant in a look at the desktop.
    pub fn find_element(
        &self,
        desktop: &Arc<DesktopState>,
        window: &WindowChoice,
        element: &ElementChoice,
    ) -> Result<ElementTarget> {
        self.observer().find_target(desktop, window, element, self.several_matches(), self.cancel)
    }

    fn several_matches(&self) -> SeveralMatches {
        let refuses = match self.config().input.ambiguous_selectors {
            AmbiguousSelectors::Auto => self.in_list || self.tools().is_for_an_agent(),
            AmbiguousSelectors::Refuse => true,
            AmbiguousSelectors::First => false,
        };
        if refuses { SeveralMatches::Refuse } else { SeveralMatches::TakeFirst }
    }

    pub fn observer(&self) -> &'a Observer {
        self.services.observer
    }

    pub fn redactor(&self) -> &'a Redactor {
        self.services.observer.redactor()
    }

    pub fn config(&self) -> &'a Config {
        self.services.config
    }

    pub fn session(&self) -> &'a Session {
        self.services.session
    }

    pub fn clock(&self) -> &'a Clock {
        self.services.clock
    }

    pub fn tools(&self) -> &'a Table {
        self.services.tools
    }

    pub fn config_error(&self) -> Option<&'a str> {
        self.services.config_error
    }

    pub fn metrics(&self) -> &'a Metrics {
        self.services.metrics
    }

    pub fn tracer(&self) -> &'a dyn TraceControl {
        self.services.tracer
    }

    pub fn replays(&self) -> &'a dyn ReplayControl {
        self.services.replays
    }

    pub fn vision(&self) -> &'a dyn VisionModel {
        self.services.vision
    }

    /// The jobs of this server; refused where it has none.
    pub fn jobs(&self) -> Result<&'a dyn JobBoard> {
        let none = || Error::new(Kind::PlatformUnsupported, "this server runs no jobs");
        self.services.jobs.ok_or_else(none)
    }

    pub fn caller(&self) -> &'a dyn Caller {
        self.services.caller
    }

    /// Budget for what a call turns out to need beyond what its declaration says, taken before it is
    /// used. It is given back unless it is committed.
    pub fn reserve_budget(&self, meters: &[Meter]) -> Result<Reservation> {
        self.caller().charge(meters)
    }

    /// Whether a consent rule is about this target.
    pub fn covers(&self, target: &Target) -> bool {
        self.caller().covers(target)
    }

    /// One step, on the way of every call.
    pub fn pass(&self, tool: &str, args: Map<String, Value>, person: &Person) -> Reply {
        let call = Call { tool: tool.to_owned(), args: Value::Object(args), origin: self.origin };
        self.caller().pass_step(call, person, self.scope, self.cancel)
    }

    /// Nobody will be asked: a list of steps does not go on in the middle.
    pub fn withdraw_question(&self, reply: &mut Reply) {
        if let Some(question) = reply.question.take() {
            self.caller().withdraw_question(&question.ticket);
        }
    }

    pub fn foresee(&self, tool: &str, args: &Map<String, Value>, when: Foresight) -> Result<Foreseen> {
        self.caller().foresee(self, tool, args, when)
    }
}
