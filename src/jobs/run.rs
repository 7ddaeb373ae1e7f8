//! Runs one job: asks the planner, makes its calls through the gate, and writes down what came of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fence::StoreFence;
use super::lease::{LeaseKeeper, LeaseStanding, unix_ms};
use super::money::{Cost, Price, PriceTable};
use super::output::OutputSchema;
use super::planner::{
    CallResult, OpenedPlanner, PlannedStep, Planner, PlannerAnswer, PlannerContext, PlannerFailure,
    PlannerTurn, open_planner,
};
use super::repeats::{Repeats, Repetition};
use super::spec::JobSpec;
use super::status::{FailureCode, JobStatus, Wanted};
use super::store::{Claimed, Ending, EventKind, JobError, JobLease, JobTally, Store, Usage};
use crate::clock::{Cancel, Clock};
use crate::config;
use crate::error::{Error, Kind, Result};
use crate::gate::{Call, Gate, Origin, Reply};
use crate::tool::Table;
use crate::tool::person::Person;
use crate::tool::scope::Scope;

/// Calls of one answer that are made; more are a mistake.
const MOST_CALLS_A_TURN: usize = 16;
/// How often a result that does not fit may be mended.
const MOST_REPAIRS: u32 = 2;
/// How long a pause is slept through before the lease is looked at again.
const PAUSE_LOOK: Duration = Duration::from_secs(5);

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
}

/// Why a job ends before its planner finishes it.
struct Stop {
    code: FailureCode,
    message: String,
}

type Stopped<T> = std::result::Result<T, Stop>;

fn stop<T>(code: FailureCode, message: impl Into<String>) -> Stopped<T> {
    Err(Stop { code, message: message.into() })
}

impl Runner<'_> {
    /// Runs a job that this worker has claimed to its end, and writes the end. `cancel` stops it from outside.
    pub fn run(&self, claimed: &Claimed, cancel: &Cancel) -> Result<Ending> {
        (self.progress)(&JobProgress::Started { job_id: &claimed.lease.job_id, goal: &claimed.spec.job });
        let keeper = LeaseKeeper::start(self.store.clone(), claimed.lease.clone(), cancel.clone());
        let mut job = match RunningJob::open(self, claimed, &keeper, cancel) {
            Ok(job) => job,
            Err(refused) => return self.write_end(&claimed.lease, end_of(refused), JobTally::default()),
        };
        let ending = match job.work() {
            Ok(result) => Ending { status: JobStatus::Succeeded, result: Some(result), error: None },
            Err(stopped) => Ending { result: job.raw_result.take(), ..end_of(job.explained(stopped)) },
        };
        let tally = job.tally;
        drop(job);
        self.write_end(&claimed.lease, ending, tally)
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

struct RunningJob<'a> {
    runner: &'a Runner<'a>,
    spec: &'a JobSpec,
    lease: &'a JobLease,
    keeper: &'a LeaseKeeper,
    cancel: &'a Cancel,
    planner: Box<dyn Planner>,
    schema: Option<OutputSchema>,
    scope: Arc<Scope>,
    /// `None` where it is not known.
    price: Option<Price>,
    /// Inputs that were let through so far.
    sent: Arc<AtomicU64>,
    tally: JobTally,
    repeats: Repeats,
    failures: u64,
    repairs: u32,
    started: Duration,
    /// The time that a person took.
    waited: Duration,
    /// A result that does not fit; kept for whoever reads the job.
    raw_result: Option<Value>,
}

impl<'a> RunningJob<'a> {
    fn open(
        runner: &'a Runner<'a>,
        claimed: &'a Claimed,
        keeper: &'a LeaseKeeper,
        cancel: &'a Cancel,
    ) -> Stopped<Self> {
        let (spec, lease) = (&claimed.spec, &claimed.lease);
        let Some(name) = &spec.planner else {
            return stop(
                FailureCode::NoPlanner,
                "the job names no planner; use chat, scripted:FILE or scripted:demo",
            );
        };
        let context = PlannerContext { config: runner.planner, tools: runner.tools, spec };
        let OpenedPlanner { planner, reads_lines } =
            open_planner(name, context).map_err(|message| Stop { code: FailureCode::NoPlanner, message })?;
        let schema = spec.output_schema.as_ref().map(OutputSchema::compile).transpose();
        let schema = schema.map_err(|error| Stop { code: FailureCode::BadJob, message: error.message })?;
        let price = find_price(runner.planner, planner.model())?;
        if price.is_none() && spec.limits.max_usd.is_some() {
            let model = planner.model().unwrap_or_default();
            return stop(
                FailureCode::NoPlanner,
                format!(
                    "the price of '{model}' is not known, so limits.max_usd cannot be held; set planner.prices, or planner.free"
                ),
            );
        }
        let sent = Arc::new(AtomicU64::new(0));
        let fence = StoreFence {
            store: runner.store.clone(),
            lease: lease.clone(),
            clock: runner.clock.clone(),
            sent: sent.clone(),
        };
        let denied = spec.disabled_tools.iter().cloned();
        let mut scope = Scope::new(&lease.job_id, denied, spec.limits.in_scope(), Box::new(fence));
        scope.reads_lines = reads_lines;
        Ok(Self {
            runner,
            spec,
            lease,
            keeper,
            cancel,
            planner,
            schema,
            scope: Arc::new(scope),
            tally: JobTally { cost: price.map(|_| Cost::default()), ..JobTally::default() },
            price,
            sent,
            repeats: Repeats::default(),
            failures: 0,
            repairs: 0,
            started: runner.clock.now(),
            waited: Duration::ZERO,
            raw_result: None,
        })
    }

    /// Turn by turn until the planner finishes.
    fn work(&mut self) -> Stopped<Value> {
        let mut results: Vec<CallResult> = Vec::new();
        let mut remark: Option<String> = None;
        loop {
            self.wait_until_wanted()?;
            self.check_limits()?;
            let answer = self.ask_planner(&results, remark.take().as_deref())?;
            results.clear();
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

    fn ask_planner(&mut self, results: &[CallResult], remark: Option<&str>) -> Stopped<PlannerAnswer> {
        let turn = PlannerTurn { goal: &self.spec.job, results, remark };
        self.reserve_cost(self.planner.foresee_usage(&turn))?;
        self.tally.steps += 1;
        let answer = match self.planner.next(&turn, self.cancel) {
            Ok(answer) => answer,
            Err(PlannerFailure::Cancelled) => return stop(FailureCode::Cancelled, "it was cancelled"),
            Err(PlannerFailure::Failed(message)) => return stop(FailureCode::PlannerFailed, message),
        };
        self.tally.usage.add(answer.usage);
        if let (Some(cost), Some(price)) = (&mut self.tally.cost, &self.price) {
            cost.add(price.cost(answer.usage));
        }
        if let Some(said) = &answer.said {
            (self.runner.progress)(&JobProgress::Said(said));
        }
        if answer.said.is_some() || answer.usage.tokens() > 0 {
            self.append(
                EventKind::Turn,
                json!({"turn": self.tally.steps, "said": answer.said, "usage": answer.usage}),
            )?;
        }
        Ok(answer)
    }

    /// Stops before the call that would pass the cap.
    fn reserve_cost(&self, next: Usage) -> Stopped<()> {
        let (Some(most), Some(cost), Some(price)) =
            (self.spec.limits.max_cost(), self.tally.cost, &self.price)
        else {
            return Ok(());
        };
        let mut then = cost;
        then.add(price.cost(next));
        if then <= most {
            return Ok(());
        }
        stop(
            FailureCode::BudgetExceeded,
            format!("the job has cost {cost}, and the next answer may pass its cap of {most}"),
        )
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
        let (began, sent) = (self.runner.clock.now(), self.sent.load(Ordering::Relaxed));
        let written = Value::Object(args.clone()).to_string();
        let call = Call { tool: tool.to_owned(), args: Value::Object(args), origin: Origin::Job };
        let reply = self.runner.gate.pass_scoped(call, &Person::Unreachable, &self.scope, self.cancel);
        let took = self.runner.clock.now().saturating_sub(began);
        let value = reply.value();
        self.tell(step, tool, &reply, &value, took);
        // An input has its own two rows.
        if self.sent.load(Ordering::Relaxed) == sent {
            self.append(EventKind::Call, call_row(tool, &reply, &value, took))?;
        }
        self.check_ends(&reply)?;
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
        let target = value.pointer("/target/name").and_then(Value::as_str);
        (self.runner.progress)(&JobProgress::Called { step, tool, target, error, took });
    }

    /// Refusals after which no other call would be let through either.
    fn check_ends(&self, reply: &Reply) -> Stopped<()> {
        match reply.error {
            Some(Kind::Cancelled) => stop(FailureCode::Cancelled, "it was cancelled"),
            Some(Kind::BudgetExceeded) => {
                let said = reply.value().pointer("/error/message").and_then(Value::as_str).map(str::to_owned);
                stop(FailureCode::BudgetExceeded, said.unwrap_or_default())
            }
            Some(Kind::StorageFailed) => stop(FailureCode::StorageFailed, "the job store cannot be written"),
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
        if self.repairs > MOST_REPAIRS {
            return stop(FailureCode::OutputInvalid, said);
        }
        self.append(EventKind::Note, json!({"problem": said}))?;
        Ok(Err(said))
    }

    fn check_limits(&mut self) -> Stopped<()> {
        let limits = &self.spec.limits;
        let took = self.runner.clock.now().saturating_sub(self.started).saturating_sub(self.waited);
        let over = if self.tally.steps >= limits.max_steps {
            Some((
                FailureCode::BudgetExceeded,
                format!("the job may have {} steps, and has had them", limits.max_steps),
            ))
        } else if took >= limits.timeout() {
            Some((
                FailureCode::Timeout,
                format!("the job may take {} ms, and has taken them", limits.timeout_ms),
            ))
        } else if limits.max_tokens.is_some_and(|most| self.tally.usage.tokens() >= most) {
            Some((FailureCode::BudgetExceeded, "the job has used its tokens".to_owned()))
        } else {
            None
        };
        over.map_or(Ok(()), |(code, message)| stop(code, message))
    }

    /// Returns when the job is to run; a person's time is not the job's.
    fn wait_until_wanted(&mut self) -> Stopped<()> {
        let mut paused = false;
        let began = self.runner.clock.now();
        loop {
            let heard = self.keeper.changed().rings();
            match self.standing()? {
                LeaseStanding::Held(Wanted::Run) => break,
                LeaseStanding::Held(Wanted::Cancel) => {
                    return stop(FailureCode::Cancelled, "it was cancelled");
                }
                LeaseStanding::Lost => return stop(FailureCode::LeaseLost, "another worker holds the job"),
                LeaseStanding::Held(Wanted::Pause) => {}
            }
            if !paused {
                paused = true;
                self.set_status(JobStatus::Paused)?;
                (self.runner.progress)(&JobProgress::Paused);
            }
            let real = Clock::real();
            if real.sleep_unless_rung(self.keeper.changed(), heard, PAUSE_LOOK, self.cancel).is_err() {
                return stop(FailureCode::Cancelled, "it was cancelled");
            }
        }
        if paused {
            self.waited += self.runner.clock.now().saturating_sub(began);
            self.set_status(JobStatus::Running)?;
            (self.runner.progress)(&JobProgress::Resumed);
        }
        Ok(())
    }

    fn standing(&self) -> Stopped<LeaseStanding> {
        if self.cancel.check().is_err() && self.keeper.standing() == LeaseStanding::Held(Wanted::Run) {
            return stop(FailureCode::Cancelled, "it was cancelled");
        }
        Ok(self.keeper.standing())
    }

    /// A call that was refused because the lease is gone ends the job as that, not as cancelled.
    fn explained(&self, stopped: Stop) -> Stop {
        match (stopped.code, self.keeper.standing()) {
            (FailureCode::Cancelled, LeaseStanding::Lost) => {
                Stop { code: FailureCode::LeaseLost, message: "another worker holds the job".to_owned() }
            }
            _ => stopped,
        }
    }

    fn set_status(&self, status: JobStatus) -> Stopped<()> {
        let written =
            self.runner.store.set_status(self.lease, status, self.tally, unix_ms(&self.runner.clock));
        written.map_err(storage_stop)
    }

    fn append(&self, kind: EventKind, body: Value) -> Stopped<()> {
        let body = body.as_object().cloned().unwrap_or_default();
        let written = self.runner.store.append(self.lease, kind, &body, unix_ms(&self.runner.clock));
        written.map(drop).map_err(storage_stop)
    }
}

fn find_price(config: &config::Planner, model: Option<&str>) -> Stopped<Option<Price>> {
    let Some(model) = model.filter(|_| !config.free) else {
        return Ok(Some(Price::default()));
    };
    let prices = PriceTable::load(config.prices.as_deref());
    let prices = prices.map_err(|message| Stop { code: FailureCode::NoPlanner, message })?;
    Ok(prices.price_of(model))
}

enum Finished {
    Result(Value),
    /// Something to tell the planner in its next turn.
    Remark(String),
}

fn storage_stop(error: Error) -> Stop {
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
