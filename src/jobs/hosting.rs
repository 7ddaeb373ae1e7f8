//! Jobs that a client of this server plans, on the server's own desk: its calls are steps of the job, so limits, the
//! fence, the record and the schema of the result hold as for every planner. One desk, one such job.

use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use serde_json::{Map, Value, json};

use super::planner::host::{DuringPause, HostAnswer, HostPlanner, HostSeat, open_seat};
use super::planner::{CallResult, HOST_NAME, NO_HOST, PlannedStep};
use super::spec::JobSpec;
use super::store::Claimed;
use crate::clock::{Cancel, lock};
use crate::error::{Error, Kind, Result};
use crate::gate::{Reply, ReplyBody};

/// Runs a job with this planner to its end, on the desk of this process.
pub type HostRunner = Arc<dyn Fn(&Claimed, HostPlanner, &Cancel) + Send + Sync>;

const HOW: &str = "Give job_id with each call of a tool; on a connection that lasts, calls without it belong to the job \
                   as well. End it with finish_job: with its result, or with fail and the reason.";

/// The job that a client plans just now, if there is one.
#[derive(Default)]
pub struct HostedJobs {
    runner: OnceLock<HostRunner>,
    current: Mutex<Option<HostedJob>>,
}

struct HostedJob {
    job_id: String,
    seat: HostSeat,
    cancel: Cancel,
    thread: JoinHandle<()>,
}

pub fn is_hosted(spec: &JobSpec) -> bool {
    spec.planner.as_deref() == Some(HOST_NAME)
}

/// What a client has to know that plans a job.
pub fn rules_json(spec: &JobSpec) -> Value {
    json!({"how": HOW, "disabled_tools": spec.disabled_tools, "output_schema": spec.output_schema})
}

impl HostedJobs {
    /// From here on there is a desk for such jobs.
    pub fn enable_hosting(&self, runner: HostRunner) {
        // The first one stays: there is one desk.
        let _ = self.runner.set(runner);
    }

    /// Takes the desk for a job, and begins it. `take` makes the job.
    pub fn begin_hosted(&self, take: impl FnOnce() -> Result<Claimed>) -> Result<String> {
        let runner = self.runner.get().ok_or_else(|| Error::bad_request(NO_HOST).with("field", "planner"))?;
        let mut current = lock(&self.current);
        if let Some(busy) = current.as_ref().filter(|job| !job.thread.is_finished()) {
            let message = format!("{} has the desk of this server; finish or cancel it first", busy.job_id);
            return Err(Error::new(Kind::JobConflict, message).with("job_id", busy.job_id.as_str()));
        }
        let claimed = take()?;
        let (planner, seat) = open_seat(&claimed.spec.limits);
        let (job_id, cancel) = (claimed.lease.job_id.clone(), Cancel::new());
        let (runner, until) = (runner.clone(), cancel.clone());
        let thread = std::thread::spawn(move || runner(&claimed, planner, &until));
        *current = Some(HostedJob { job_id: job_id.clone(), seat, cancel, thread });
        Ok(job_id)
    }

    /// The job that is planned just now.
    pub fn current_id(&self) -> Option<String> {
        let current = lock(&self.current);
        current.as_ref().filter(|job| !job.seat.is_over()).map(|job| job.job_id.clone())
    }

    fn seat_of(&self, job_id: &str) -> Option<HostSeat> {
        let current = lock(&self.current);
        current.as_ref().filter(|job| job.job_id == job_id).map(|job| job.seat.clone())
    }

    /// `None` where nobody plans this job here, or it is over.
    pub fn take_step(&self, job_id: &str, step: PlannedStep, cancel: &Cancel) -> Option<HostAnswer> {
        match self.seat_of(job_id)?.take_step(step, DuringPause::Withdraw, cancel) {
            HostAnswer::Ended => {
                self.wait_for_end(job_id);
                None
            }
            answer => Some(answer),
        }
    }

    /// The end of a job is written after its planner has left.
    fn wait_for_end(&self, job_id: &str) {
        let ended = lock(&self.current).take_if(|job| job.job_id == job_id);
        if let Some(job) = ended {
            let _ = job.thread.join();
        }
    }

    /// The server ends: the job is left to a person.
    pub fn give_up_hosted(&self) {
        if let Some(job) = lock(&self.current).take() {
            job.cancel.fire();
            let _ = job.thread.join();
        }
    }
}

/// What a call of the client gave, as every reply is.
pub fn reply_of(result: CallResult, remark: Option<&str>) -> Reply {
    let CallResult { error, reply, text, picture, .. } = result;
    let mut fields = match reply {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    // Where a model reads lines they are more than the JSON.
    let in_lines = serde_json::from_str::<Value>(&text).is_err();
    let lean = in_lines.then(|| {
        fields.shift_remove("warning");
        [Some(text.as_str()), remark].into_iter().flatten().collect::<Vec<_>>().join("\n")
    });
    if let Some(remark) = remark {
        fields.insert("remark".to_owned(), remark.into());
    }
    let is_marked = fields.get("suspicious").is_some_and(|marked| *marked != Value::Bool(false));
    Reply {
        step_id: fields.get("step_id").and_then(Value::as_u64),
        error,
        body: ReplyBody::Data(fields),
        outline: None,
        picture,
        lean,
        news: Vec::new(),
        question: None,
        suspicious: is_marked,
    }
}
