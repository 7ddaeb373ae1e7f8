//! Runs one job: asks the planner, makes its calls through the gate, and writes down what came of them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::artifacts::JobRecording;
use super::dialect::denied_tools;
use super::fence::{FenceCounts, StoreFence};
use super::lease::{JobWork, KeptJob, LeaseKeeper, unix_ms};
use super::limits::{JobLimits, OnBudget};
use super::money::{Cost, JobPrices};
use super::output::OutputSchema;
use super::planner::{
    CallResult, LostUsage, OpenedPlanner, PlannedStep, Planner, PlannerAnswer, PlannerAsker, PlannerContext,
    PlannerFailure, PlannerNews, PlannerTurn, open_planner,
};
use super::precheck::{self, SafetyReport};
use super::repeats::{Repeats, Repetition};
use super::resuming::RunDesk;
use super::spec::JobSpec;
use super::status::{FailureCode, JobStatus};
use super::store::{Claimed, Ending, EventKind, JobError, JobLease, JobTally, JobUse, Store, Usage};
use super::watch::JobWatch;
use crate::clock::{Cancel, Clock, millis};
use crate::config;
use crate::error::{Error, Kind, Result};
use crate::gate::{Call, Gate, Origin, Reply};
use crate::tool::Table;
use crate::tool::person::Person;
use crate::tool::scope::{Scope, ScopeUse};

/// Calls of one answer that are made; more are a mistake.
const MOST_CALLS_A_TURN: usize = 16;
/// How often a result that does not fit may be mended.
const MOST_REPAIRS: u32 = 2;

/// What a watcher of the job is told.
#[derive(Clone, Debug)]
pub enum JobProgress<'a> {
    Started {
        job_id: &'a str,
        goal: &'a str,
    },
    /// A call begins.
    Calling {
        step: u64,
        tool: &'a str,
    },
    Called {
        step: u64,
        tool: &'a str,
        target: Option<&'a str>,
        error: Option<(Kind, &'a str)>,
        took: Duration,
    },
    Said(&'a str),
    /// The planner's answer takes longer.
    Delayed(&'a PlannerNews<'a>),
    Paused,
    Resumed,
    Ended {
        ending: &'a Ending,
        tally: JobTally,
    },
}

pub struct Runner<'a> {
    pub gate: &'a Gate,
    pub tools: &'a Table,
    pub planner: &'a config::Planner,
    pub clock: Clock,
    pub store: Arc<dyn Store>,
    pub progress: &'a dyn Fn(&JobProgress),
    pub when_stopped: WhenStopped,
    pub desk: RunDesk<'a>,
}

/// What becomes of a job when its worker is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenStopped {
    /// Who stops the worker means the job.
    Cancelled,
    /// Somebody else may go on with it; what has acted is left to a person.
    GivenUp,
}

/// Why a job ends before its planner finishes it.
pub(super) struct Stop {
    pub(super) code: FailureCode,
    pub(super) message: String,
}

pub(super) type Stopped<T> = std::result::Result<T, Stop>;

pub(super) fn stop<T>(code: FailureCode, message: impl Into<String>) -> Stopped<T> {
    Err(Stop { code, message: message.into() })
}

impl Runner<'_> {
    /// Runs a job that this worker has claimed to its end, and writes the end. `cancel` stops it from outside.
    pub fn run(&self, claimed: &Claimed, cancel: &Cancel) -> Result<Ending> {
        self.run_planned(claimed, None, cancel)
    }

    /// The same, with a planner that is not opened by its name: whoever has the seat of `planner::host` plans.
    pub fn run_planned(
        &self,
        claimed: &Claimed,
        planner: Option<OpenedPlanner>,
        cancel: &Cancel,
    ) -> Result<Ending> {
        (self.progress)(&JobProgress::Started { job_id: &claimed.lease.job_id, goal: &claimed.spec.job });
        let watch = self.start_watch(claimed);
        // What ends the job ends nothing else of this worker.
        let job_cancel = cancel.for_part();
        let keeper = self.start_keeper(claimed, &watch, &job_cancel);
        let stops = JobStops { keeper: &keeper, cancel: job_cancel, from_outside: cancel };
        let mut job = match RunningJob::open(self, claimed, planner, watch, stops) {
            Ok(job) => job,
            Err(refused) => return self.write_end(&claimed.lease, end_of(refused), claimed.earlier),
        };
        let (ending, recording) = match job.start_recording(claimed) {
            Ok(recording) => (job.work_to_end(), recording),
            Err(refused) => (end_of(refused), JobRecording::Off),
        };
        let (tally, gives_up) = (job.current_tally(), job.gives_up());
        drop(job);
        let recorded = recording.finish(self.gate, &*self.store, &claimed.lease);
        if gives_up && ending.status == JobStatus::Cancelled {
            return self.give_up(&claimed.lease, tally);
        }
        self.write_end(&claimed.lease, with_recording(ending, recorded), tally)
    }

    fn start_watch(&self, claimed: &Claimed) -> Arc<JobWatch> {
        let before = Duration::from_millis(claimed.earlier.worked_ms);
        let limits = claimed.spec.limits.times(1 + claimed.earlier.used.more_allowances);
        Arc::new(JobWatch::start(self.clock.clone(), before, limits.timeout()))
    }

    fn start_keeper(&self, claimed: &Claimed, watch: &Arc<JobWatch>, cancel: &Cancel) -> LeaseKeeper {
        let job = KeptJob {
            lease: claimed.lease.clone(),
            watch: watch.clone(),
            on_budget: claimed.spec.limits.on_budget,
            approvals: self.gate.approvals.clone(),
            cancel: cancel.clone(),
        };
        LeaseKeeper::start(self.store.clone(), job)
    }

    /// The worker is stopped, and the job is not over.
    fn give_up(&self, lease: &JobLease, tally: JobTally) -> Result<Ending> {
        let status = self.store.abandon(lease, unix_ms(&self.clock))?;
        let error = JobError::new(FailureCode::LeaseLost, "its worker was stopped");
        let ending = Ending { status, result: None, error: Some(error) };
        (self.progress)(&JobProgress::Ended { ending: &ending, tally });
        Ok(ending)
    }

    fn write_end(&self, lease: &JobLease, ending: Ending, tally: JobTally) -> Result<Ending> {
        let written = self.store.finish(lease, &ending, tally, unix_ms(&self.clock));
        (self.progress)(&JobProgress::Ended { ending: &ending, tally });
        written.map(|()| ending)
    }
}

fn end_of(stopped: Stop) -> Ending {
    let error = JobError::new(stopped.code, stopped.message);
    Ending { status: stopped.code.status(), result: None, error: Some(error) }
}

/// A job that could not be recorded as it was asked to be has failed, whatever else it did; its result is kept.
fn with_recording(ending: Ending, recorded: Result<()>) -> Ending {
    match recorded {
        Err(problem) if ending.status == JobStatus::Succeeded => {
            let message = format!("the job was done, and its record could not be kept: {}", problem.message);
            let error = JobError::new(FailureCode::StorageFailed, message);
            Ending { status: JobStatus::Failed, error: Some(error), ..ending }
        }
        _ => ending,
    }
}

/// What may stop a job.
struct JobStops<'a> {
    keeper: &'a LeaseKeeper,
    cancel: Cancel,
    from_outside: &'a Cancel,
}

pub(super) struct RunningJob<'a> {
    pub(super) runner: &'a Runner<'a>,
    pub(super) spec: &'a JobSpec,
    /// What the planner is told.
    goal: Arc<str>,
    pub(super) lease: &'a JobLease,
    pub(super) keeper: &'a LeaseKeeper,
    /// Fired when nothing more may be done for the job.
    pub(super) cancel: Cancel,
    /// Fired when the worker is to stop.
    pub(super) stopped_from_outside: &'a Cancel,
    pub(super) watch: Arc<JobWatch>,
    pub(super) planner: Box<dyn Planner>,
    /// The limit that the job is about to pause for.
    pub(super) out_of_budget: Option<String>,
    schema: Option<OutputSchema>,
    pub(super) scope: Arc<Scope>,
    /// What the job may use by now.
    pub(super) limits: JobLimits,
    prices: JobPrices,
    /// All models that may be asked.
    models: Vec<String>,
    counts: Arc<FenceCounts>,
    pub(super) tally: JobTally,
    repeats: Repeats,
    failures: u64,
    repairs: u32,
    /// A result that does not fit; kept for whoever reads the job.
    raw_result: Option<Value>,
}

impl<'a> RunningJob<'a> {
    fn open(
        runner: &'a Runner<'a>,
        claimed: &'a Claimed,
        planner: Option<OpenedPlanner>,
        watch: Arc<JobWatch>,
        stops: JobStops<'a>,
    ) -> Stopped<Self> {
        let (spec, lease) = (&claimed.spec, &claimed.lease);
        let JobStops { keeper, cancel, from_outside } = stops;
        let book = DelayBook { runner, lease, watch: watch.clone(), tally: claimed.earlier };
        let opened = planner.map_or_else(|| open_named(&book, spec, &cancel), Ok);
        let OpenedPlanner { planner, reads_lines, spent } = opened.map_err(|message| {
            let code = if keeper.has_timed_out() { FailureCode::Timeout } else { FailureCode::NoPlanner };
            Stop { code, message }
        })?;
        let schema = spec.output_schema.as_ref().map(OutputSchema::compile).transpose();
        let schema = schema.map_err(|error| Stop { code: FailureCode::BadJob, message: error.message })?;
        let prices = JobPrices::load(runner.planner);
        let prices = prices.map_err(|message| Stop { code: FailureCode::NoPlanner, message })?;
        let models: Vec<String> = planner.models().into_iter().map(str::to_owned).collect();
        let tally = opening_tally(&prices, &models, claimed.earlier, spent);
        require_price(spec, &models, tally.cost)?;
        let limits = spec.limits.times(1 + tally.used.more_allowances);
        let counts = Arc::new(FenceCounts::new(watch.clone()));
        let fence = StoreFence {
            store: runner.store.clone(),
            lease: lease.clone(),
            clock: runner.clock.clone(),
            counts: counts.clone(),
        };
        let denied = denied_tools(&spec.disabled_tools);
        let scope = Scope::new(&lease.job_id, denied, limits.in_scope(), Box::new(fence));
        let JobUse { calls, actions, screenshots, .. } = tally.used;
        let mut scope = scope.starting_from(ScopeUse { calls, actions, screenshots });
        scope.reads_lines = reads_lines;
        Ok(Self {
            runner,
            spec,
            goal: spec.told_goal().into(),
            lease,
            keeper,
            cancel,
            stopped_from_outside: from_outside,
            watch,
            planner,
            out_of_budget: None,
            schema,
            scope: Arc::new(scope),
            limits,
            tally,
            prices,
            models,
            counts,
            repeats: Repeats::default(),
            failures: 0,
            repairs: 0,
            raw_result: None,
        })
    }

    /// A job that is to be recorded and cannot be does not begin.
    fn start_recording(&self, claimed: &Claimed) -> Stopped<JobRecording> {
        JobRecording::start(self.runner.gate, &*self.runner.store, claimed).map_err(|problem| Stop {
            code: FailureCode::StorageFailed,
            message: format!("the job cannot be recorded: {}", problem.message),
        })
    }

    fn work_to_end(&mut self) -> Ending {
        match self.check_safety().and_then(|()| self.work()) {
            Ok(result) => Ending { status: JobStatus::Succeeded, result: Some(result), error: None },
            Err(stopped) => Ending { result: self.raw_result.take(), ..end_of(self.explained(stopped)) },
        }
    }

    /// What the job has used by now.
    fn current_tally(&self) -> JobTally {
        let ScopeUse { calls, actions, screenshots } = self.scope.used();
        let used = JobUse { calls, actions, screenshots, ..self.tally.used };
        JobTally { used, worked_ms: millis(self.watch.worked()), ..self.tally }
    }

    /// What the next answer may use is written down before it is asked for: who goes on with the job after a crash
    /// counts it as used.
    fn reserve_usage(&mut self, usage: Usage, cost: Option<Cost>) -> Stopped<()> {
        if usage.tokens() == 0 {
            return Ok(());
        }
        self.tally.used.reserved = Some(usage);
        self.tally.used.reserved_pico = cost.map(|cost| cost.0);
        self.runner.store.keep_tally(self.lease, &self.current_tally()).map_err(storage_stop)
    }

    /// Turn by turn until the planner finishes.
    fn work(&mut self) -> Stopped<Value> {
        let mut results: Vec<CallResult> = Vec::new();
        let mut remark: Option<String> = self.told_of_interruption()?;
        loop {
            self.wait_until_wanted()?;
            let next = PlannerTurn { goal: &self.goal, results: &results, remark: remark.as_deref() };
            let foreseen = self.planner.foresee_usage(&next);
            if let Err(stopped) = self.check_limits().and_then(|()| self.reserve_cost(foreseen)) {
                self.pause_for_budget(stopped)?;
                continue;
            }
            let answer = self.ask_planner(foreseen, &results, remark.take().as_deref())?;
            results.clear();
            let Some(answer) = answer else {
                self.wait_after_interruption()?;
                continue;
            };
            match self.make_steps(answer, &mut results)? {
                Some(Finished::Result(result)) => match self.accept_result(result)? {
                    Ok(result) => return Ok(result),
                    Err(problem) => remark = Some(problem),
                },
                Some(Finished::Remark(said)) => remark = Some(said),
                None => {}
            }
        }
    }

    /// Nothing where the planner was interrupted and the job was not: it keeps what it was told.
    fn ask_planner(
        &mut self,
        foreseen: Usage,
        results: &[CallResult],
        remark: Option<&str>,
    ) -> Stopped<Option<PlannerAnswer>> {
        let goal = self.goal.clone();
        let turn = PlannerTurn { goal: &goal, results, remark };
        self.tally.steps += 1;
        self.reserve_usage(foreseen, self.prices.highest_cost(&self.models, foreseen))?;
        let answer = {
            let asking = self.keeper.begin_work(JobWork::Asking);
            let book = self.delay_book();
            let tell = |news: &PlannerNews| book.note(news);
            self.planner.next(&turn, PlannerAsker { cancel: &asking.cancel, tell: &tell })
        };
        self.tally.used.release();
        if matches!(answer, Err(PlannerFailure::Late(_) | PlannerFailure::Cancelled)) {
            // Asked again it is the same turn.
            self.tally.steps -= 1;
        }
        self.charge_lost(answer.as_ref().err())?;
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => return self.without_answer(failure),
        };
        self.charge(self.prices.cost(self.planner.model(), answer.usage), answer.usage);
        if let Some(said) = &answer.said {
            (self.runner.progress)(&JobProgress::Said(said));
        }
        if answer.said.is_some() || answer.usage.tokens() > 0 {
            self.append(EventKind::Turn, self.turn_row(&answer))?;
        }
        Ok(Some(answer))
    }

    /// Who answered, and what that used.
    fn turn_row(&self, answer: &PlannerAnswer) -> Value {
        let model = self.planner.model();
        json!({
            "turn": self.tally.steps, "said": answer.said, "model": model, "usage": answer.usage,
            "turn_usd": self.prices.cost(model, answer.usage).map(Cost::usd),
            "cost_usd": self.tally.cost.map(Cost::usd),
        })
    }

    /// Attempts without an answer may have been paid for, each at the price of its own model.
    fn charge_lost(&mut self, failure: Option<&PlannerFailure>) -> Stopped<()> {
        let problem = match failure {
            Some(PlannerFailure::Failed(message) | PlannerFailure::Late(message)) => message.as_str(),
            Some(PlannerFailure::Cancelled) => "the question was given up",
            None => "another model was asked",
        };
        for LostUsage { model, usage } in self.planner.take_lost_usage() {
            let cost = self.prices.cost(Some(&model), usage);
            self.charge(cost, usage);
            let lost_usd = cost.map(Cost::usd);
            let row = json!({"problem": problem, "model": model, "lost": usage, "lost_usd": lost_usd});
            self.append(EventKind::Note, row)?;
        }
        Ok(())
    }

    /// Nothing where the planner may be asked again.
    fn without_answer(&self, failure: PlannerFailure) -> Stopped<Option<PlannerAnswer>> {
        match failure {
            PlannerFailure::Cancelled if self.cancel.check().is_ok() => Ok(None),
            PlannerFailure::Cancelled => stop(FailureCode::Cancelled, "it was cancelled"),
            PlannerFailure::Failed(message) => stop(FailureCode::PlannerFailed, message),
            PlannerFailure::Late(message) => {
                let model = self.planner.model().unwrap_or_default();
                let news = PlannerNews::Again { model, why: &message };
                (self.runner.progress)(&JobProgress::Delayed(&news));
                Ok(None)
            }
        }
    }

    fn delay_book(&self) -> DelayBook<'a> {
        let (runner, lease, watch) = (self.runner, self.lease, self.watch.clone());
        DelayBook { runner, lease, watch, tally: self.current_tally() }
    }

    /// What was used, and what that costs.
    fn charge(&mut self, cost: Option<Cost>, usage: Usage) {
        self.tally.usage.add(usage);
        match (&mut self.tally.cost, cost) {
            (Some(total), Some(cost)) => total.add(cost),
            (total, None) if usage.tokens() > 0 => *total = None,
            _ => {}
        }
    }

    /// Stops before the call that would pass the cap.
    fn reserve_cost(&self, next: Usage) -> Stopped<()> {
        self.reserve(self.prices.highest_cost(&self.models, next))
    }

    fn reserve(&self, next: Option<Cost>) -> Stopped<()> {
        let (Some(most), Some(cost), Some(next)) = (self.limits.max_cost(), self.tally.cost, next) else {
            return Ok(());
        };
        let mut then = cost;
        then.add(next);
        if then <= most {
            return Ok(());
        }
        stop(
            FailureCode::BudgetExceeded,
            format!("the job has cost {cost}, and the next answer may pass its cap of {most}"),
        )
    }

    /// Lets a model judge the job before it begins. It is advice: what a job may do, the gate decides.
    fn check_safety(&mut self) -> Stopped<()> {
        let config = self.runner.planner;
        let Some(model) = &config.safety_model else {
            return Ok(());
        };
        if self.spec.safety_override {
            return self.override_safety();
        }
        let model = vec![precheck::model_name(model).to_owned()];
        let next = self.prices.highest_cost(&model, precheck::most_usage(&self.spec.job));
        require_price(self.spec, &model, next)?;
        self.reserve(next)?;
        self.reserve_usage(precheck::most_usage(&self.spec.job), next)?;
        let report = {
            let book = self.delay_book();
            let tell = |news: &PlannerNews| book.note(news);
            precheck::judge(config, &self.spec.job, PlannerAsker { cancel: &self.cancel, tell: &tell })
        };
        self.tally.used.release();
        let SafetyReport { verdict, usage, mut facts } = report;
        let cost = self.prices.highest_cost(&model, usage);
        self.charge(cost, usage);
        facts["usd"] = json!(cost.map(Cost::usd));
        self.append(EventKind::Safety, facts)?;
        match verdict {
            Ok(()) => Ok(()),
            Err((code, message)) => stop(code, message),
        }
    }

    fn override_safety(&self) -> Stopped<()> {
        if !self.runner.planner.safety_override {
            return stop(
                FailureCode::SafetyRefused,
                "safety_override is not allowed here; the server would have to set planner.safety_override",
            );
        }
        let facts = json!({"job": self.spec.job});
        let facts = facts.as_object().cloned().unwrap_or_default();
        let written = self.runner.gate.audit_job(&self.lease.job_id, "safety_override", &facts);
        written.map_err(|error| Stop { code: FailureCode::StorageFailed, message: error.message })?;
        self.append(EventKind::Safety, json!({"overridden": true}))
    }

    /// Makes the calls of an answer in their order, until one fails.
    fn make_steps(
        &mut self,
        answer: PlannerAnswer,
        results: &mut Vec<CallResult>,
    ) -> Stopped<Option<Finished>> {
        if answer.steps.is_empty() {
            return self.count_failure("the answer has no call").map(Some);
        }
        if answer.steps.len() > MOST_CALLS_A_TURN {
            let said = format!(
                "the answer has {} calls, at most {MOST_CALLS_A_TURN} are made in a turn; none was made",
                answer.steps.len()
            );
            return self.count_failure(&said).map(Some);
        }
        for step in answer.steps {
            match step {
                PlannedStep::Finish(result) => return Ok(Some(Finished::Result(result))),
                PlannedStep::Fail(reason) => return stop(FailureCode::PlannerFailed, reason),
                PlannedStep::Unreadable { tool, problem } => {
                    self.refuse_call(tool, &problem, results)?;
                    return Ok(None);
                }
                PlannedStep::Wait(time) => self.wait_for_planner(time, results)?,
                PlannedStep::Call { tool, args } => {
                    self.wait_until_wanted()?;
                    let failed = self.make_call(&tool, args, results)?;
                    if let Some(finished) = failed {
                        return Ok(Some(finished));
                    }
                    if results.last().is_some_and(|result| result.error.is_some()) {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(None)
    }

    fn make_call(
        &mut self,
        tool: &str,
        args: Map<String, Value>,
        results: &mut Vec<CallResult>,
    ) -> Stopped<Option<Finished>> {
        let step = self.tally.steps;
        (self.runner.progress)(&JobProgress::Calling { step, tool });
        let written = Value::Object(args.clone()).to_string();
        let (reply, value) = loop {
            let sent = self.counts.inputs_sent();
            let Some((reply, value)) = self.pass_call(step, tool, args.clone())? else {
                self.wait_after_interruption()?;
                continue;
            };
            let nothing_sent = self.counts.inputs_sent() == sent;
            if !self.was_held_back(&reply, &value)? || !nothing_sent || self.planner.has_withdrawn() {
                break (reply, value);
            }
        };
        self.check_ends(&reply, &value)?;
        let repetition = self.repeats.note(tool, &written, &comparable(&value));
        let text = reply.lines().unwrap_or_else(|| value.to_string());
        let (error, picture) = (reply.error, reply.picture);
        results.push(CallResult { tool: tool.to_owned(), error, reply: value, text, picture });
        match error {
            None => self.failures = 0,
            Some(_) => self.note_failure()?,
        }
        match repetition {
            Repetition::None => Ok(None),
            Repetition::Hint => {
                let said = format!(
                    "{tool} was called with the same arguments again, and nothing changed; do something else"
                );
                Ok(Some(Finished::Remark(said)))
            }
            Repetition::Stalled => stop(
                FailureCode::Stalled,
                format!("{tool} was called with the same arguments again and again, and nothing changed"),
            ),
        }
    }

    /// Nothing where a call that only looks was interrupted, and the job was not: it may be made again.
    fn pass_call(
        &mut self,
        step: u64,
        tool: &str,
        args: Map<String, Value>,
    ) -> Stopped<Option<(Reply, Value)>> {
        self.counts.share_tally(self.current_tally());
        let (began, sent) = (self.runner.clock.now(), self.counts.inputs_sent());
        let call = Call { tool: tool.to_owned(), args: Value::Object(args), origin: Origin::Job };
        let reply = {
            let work = self.keeper.begin_work(self.kind_of_work(tool));
            self.runner.gate.pass_scoped(call, &Person::Unreachable, &self.scope, &work.cancel)
        };
        if reply.error == Some(Kind::Cancelled) && self.cancel.check().is_ok() {
            return Ok(None);
        }
        let took = self.runner.clock.now().saturating_sub(began);
        let value = reply.value();
        self.tell(step, tool, &reply, &value, took);
        // An input has its own two rows.
        if self.counts.inputs_sent() == sent {
            self.append(EventKind::Call, call_row(tool, &reply, &value, took))?;
        }
        Ok(Some((reply, value)))
    }

    fn kind_of_work(&self, tool: &str) -> JobWork {
        let acts = self.runner.tools.find_tool(tool).is_some_and(|entry| entry.spec.meta.effect.acts());
        if acts { JobWork::Acting } else { JobWork::Looking }
    }

    /// Waits where the call was refused for a while only: it may be made again if it has sent nothing.
    fn was_held_back(&mut self, reply: &Reply, value: &Value) -> Stopped<bool> {
        let message =
            || value.pointer("/error/message").and_then(Value::as_str).unwrap_or_default().to_owned();
        match reply.error {
            Some(Kind::PermissionDenied) if value.pointer("/error/context/paused").is_some() => {
                self.wait_until_wanted()?;
                Ok(true)
            }
            Some(Kind::BudgetExceeded) if self.limits.on_budget == OnBudget::Pause => {
                self.pause_for_budget(Stop { code: FailureCode::BudgetExceeded, message: message() })?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn wait_for_planner(&mut self, time: Duration, results: &mut Vec<CallResult>) -> Stopped<()> {
        let mut left = time;
        while !left.is_zero() {
            let began = self.runner.clock.now();
            let slept = {
                let work = self.keeper.begin_work(JobWork::Looking);
                self.runner.clock.sleep(left.min(self.watch.time_left()), &work.cancel)
            };
            left = left.saturating_sub(self.runner.clock.now().saturating_sub(began));
            match slept {
                Err(_) if self.cancel.check().is_err() => {
                    return stop(FailureCode::Cancelled, "it was cancelled");
                }
                Err(_) => self.wait_after_interruption()?,
                Ok(()) if self.watch.time_left().is_zero() => {
                    let stopped = self.time_is_over();
                    self.pause_for_budget(stopped)?;
                }
                Ok(()) => {}
            }
        }
        let text = format!("waited {} s", time.as_secs_f64());
        let (tool, reply) = ("wait".to_owned(), json!({"ok": true}));
        results.push(CallResult { tool, error: None, reply, text, picture: None });
        Ok(())
    }

    /// A call that could not be read is answered to the planner, and counts as one that failed.
    fn refuse_call(&mut self, tool: String, problem: &str, results: &mut Vec<CallResult>) -> Stopped<()> {
        self.append(
            EventKind::Call,
            json!({"tool": tool, "ok": false, "code": "BadRequest", "message": problem}),
        )?;
        let reply = json!({"ok": false, "error": {"code": "BadRequest", "message": problem}});
        let text = format!("BadRequest: {problem}");
        results.push(CallResult { tool, error: Some(Kind::BadRequest), reply, text, picture: None });
        self.note_failure()
    }

    fn tell(&self, step: u64, tool: &str, reply: &Reply, value: &Value, took: Duration) {
        let message = value.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
        let error = reply.error.map(|kind| (kind, message));
        let target = self.counts.take_target();
        (self.runner.progress)(&JobProgress::Called { step, tool, target: target.as_deref(), error, took });
    }

    /// Refusals after which no other call would be let through either.
    fn check_ends(&self, reply: &Reply, value: &Value) -> Stopped<()> {
        match reply.error {
            Some(Kind::Cancelled) => stop(FailureCode::Cancelled, "it was cancelled"),
            Some(Kind::BudgetExceeded) if self.limits.on_budget == OnBudget::Stop => {
                let said = value.pointer("/error/message").and_then(Value::as_str).map(str::to_owned);
                stop(FailureCode::BudgetExceeded, said.unwrap_or_default())
            }
            Some(Kind::StorageFailed) => {
                let said = value.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
                stop(FailureCode::StorageFailed, said)
            }
            _ => Ok(()),
        }
    }

    /// What is said to the planner, unless there were too many failures.
    fn count_failure(&mut self, said: &str) -> Stopped<Finished> {
        self.append(EventKind::Note, json!({"problem": said}))?;
        self.note_failure()?;
        Ok(Finished::Remark(said.to_owned()))
    }

    fn note_failure(&mut self) -> Stopped<()> {
        self.failures += 1;
        if self.failures < self.spec.limits.max_failures {
            return Ok(());
        }
        stop(FailureCode::TooManyFailures, format!("{} calls failed one after the other", self.failures))
    }

    /// The result, or what is wrong with it where it may still be mended.
    fn accept_result(&mut self, result: Value) -> Stopped<std::result::Result<Value, String>> {
        let problems = self.schema.as_ref().map(|schema| schema.problems(&result)).unwrap_or_default();
        if problems.is_empty() {
            return Ok(Ok(result));
        }
        let said = format!("the result does not fit output_schema: {}", problems.join("; "));
        self.raw_result = Some(result);
        self.repairs += 1;
        if self.repairs > MOST_REPAIRS || !self.planner.can_mend() {
            return stop(FailureCode::OutputInvalid, said);
        }
        self.append(EventKind::Note, json!({"problem": said}))?;
        Ok(Err(said))
    }

    fn check_limits(&mut self) -> Stopped<()> {
        let limits = &self.limits;
        if self.watch.time_left().is_zero() {
            return Err(self.time_is_over());
        }
        let over = if self.tally.steps >= limits.max_steps {
            Some((
                FailureCode::BudgetExceeded,
                format!("the job may have {} steps, and has had them", limits.max_steps),
            ))
        } else if limits.max_tokens.is_some_and(|most| self.tally.usage.tokens() >= most) {
            Some((FailureCode::BudgetExceeded, "the job has used its tokens".to_owned()))
        } else {
            None
        };
        over.map_or(Ok(()), |(code, message)| stop(code, message))
    }

    pub(super) fn set_status(&self, status: JobStatus) -> Stopped<()> {
        let written = self.runner.store.set_status(
            self.lease,
            status,
            self.current_tally(),
            unix_ms(&self.runner.clock),
        );
        written.map_err(storage_stop)
    }

    pub(super) fn append(&self, kind: EventKind, body: Value) -> Stopped<()> {
        let body = body.as_object().cloned().unwrap_or_default();
        let now = unix_ms(&self.runner.clock);
        let written = self.runner.store.append(self.lease, kind, &body, &self.current_tally(), now);
        written.map(drop).map_err(storage_stop)
    }
}

/// Writes down why an answer takes longer, while it is waited for.
struct DelayBook<'a> {
    runner: &'a Runner<'a>,
    lease: &'a JobLease,
    watch: Arc<JobWatch>,
    tally: JobTally,
}

impl DelayBook<'_> {
    fn note(&self, news: &PlannerNews) {
        (self.runner.progress)(&JobProgress::Delayed(news));
        let body = news.facts().as_object().cloned().unwrap_or_default();
        let tally = JobTally { worked_ms: millis(self.watch.worked()), ..self.tally };
        let now = unix_ms(&self.runner.clock);
        // A worker that may not write any more is stopped elsewhere.
        if let Err(problem) = self.runner.store.append(self.lease, EventKind::Note, &body, &tally, now) {
            tracing::warn!("job {}: {}", self.lease.job_id, problem.message);
        }
    }
}

fn open_named(
    book: &DelayBook,
    spec: &JobSpec,
    cancel: &Cancel,
) -> std::result::Result<OpenedPlanner, String> {
    let runner = book.runner;
    let tell = |news: &PlannerNews| book.note(news);
    let asker = PlannerAsker { cancel, tell: &tell };
    let name = spec.planner.as_deref().unwrap_or_default();
    let command_secret = runner.gate.command_secret().filter(|_| runner.planner.exec);
    let context = PlannerContext { config: runner.planner, tools: runner.tools, spec, command_secret, asker };
    open_planner(name, context)
}

/// What earlier attempts have used, what one of them was about to use when it died, and what opening took.
fn opening_tally(prices: &JobPrices, models: &[String], earlier: JobTally, spent: Usage) -> JobTally {
    let mut tally = earlier;
    let lost = tally.used.release().map(|usage| Usage { estimated: true, ..usage }).unwrap_or_default();
    let is_first = tally.usage.tokens() == 0;
    let before = if is_first { Some(Cost::default()) } else { earlier.cost };
    let parts = [before, prices.highest_cost(models, lost), prices.highest_cost(models, spent)];
    tally.cost = parts.into_iter().try_fold(Cost::default(), |mut total, part| {
        total.add(part?);
        Some(total)
    });
    tally.usage.add(lost);
    tally.usage.add(spent);
    tally
}

/// What cannot be reckoned cannot be capped.
fn require_price(spec: &JobSpec, models: &[String], cost: Option<Cost>) -> Stopped<()> {
    if cost.is_some() || spec.limits.max_usd.is_none() {
        return Ok(());
    }
    let names = models.join("' or '");
    stop(
        FailureCode::NoPlanner,
        format!(
            "the price of '{names}' is not known, so limits.max_usd cannot be held; set planner.prices, or planner.free"
        ),
    )
}

enum Finished {
    Result(Value),
    /// Something to tell the planner in its next turn.
    Remark(String),
}

pub(super) fn storage_stop(error: Error) -> Stop {
    let code = match error.kind {
        Kind::PermissionDenied => FailureCode::LeaseLost,
        _ => FailureCode::StorageFailed,
    };
    Stop { code, message: error.message }
}

fn call_row(tool: &str, reply: &Reply, value: &Value, took: Duration) -> Value {
    let mut row = json!({"tool": tool, "ok": reply.ok(), "ms": crate::clock::millis(took)});
    if let Some(step_id) = reply.step_id {
        row["step_id"] = step_id.into();
    }
    if let Some(kind) = reply.error {
        row["code"] = kind.code().into();
        row["message"] = value.pointer("/error/message").cloned().unwrap_or_default();
    }
    row
}

/// What two replies to the same call agree in when nothing has changed.
fn comparable(value: &Value) -> String {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        for counted in ["step_id", "caused_by_step_id", "duration_ms", "elapsed_ms", "tree_token", "image_id"]
        {
            fields.remove(counted);
        }
    }
    value.to_string()
}
