//! Jobs: a goal in words, which a planner works toward on a desk of its own. To answer the questions of a job, and to
//! take its desktop over, is the person's, and no tool.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::text::shorten;
use crate::tool::args::{Int, Text};
use crate::tool::job_board::{JobAction, PlannedEnding};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Switch, Tool};

/// What all tools of this file have in common. What a job found comes from a screen.
const JOBS: Meta = Meta {
    group: Group::Jobs,
    traced: false,
    untrusted: true,
    switch: Some(|config| Switch { enabled: config.jobs.enabled, key: "jobs.enabled" }),
    ..Meta::DEFAULT
};

/// A job that the examples are about.
const MADE: &[(&str, &str)] = &[("run_job", r#"{"job":"log in as alice","planner":"scripted:demo"}"#)];

/// Jobs that are listed when nobody says how many.
const LISTED: usize = 20;

/// A job as every surface shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownJob {
    job_id: String,
    status: String,
    /// What else is known of it.
    #[serde(flatten)]
    facts: Map<String, Value>,
}

impl ShownJob {
    fn of(shown: Value) -> Self {
        let mut facts = shown.as_object().cloned().unwrap_or_default();
        let mut word = |name: &str| {
            let value = facts.shift_remove(name);
            value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (job_id, status) = (word("job_id"), word("status"));
        facts.retain(|_, value| !value.is_null());
        Self { job_id, status, facts }
    }
}

impl Output for ShownJob {}

pub struct RunJob;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct RunJobArgs {
    /// What is to be done, in words.
    job: Text<16384>,
    /// chat, scripted:FILE, or host: you plan it yourself.
    planner: Option<Text<512>>,
    /// Instead of planner.model.
    model: Option<Text<256>>,
    /// Tools and groups that it may not use.
    disabled_tools: Option<Vec<Text<128>>>,
    /// max_steps, timeout_ms, max_calls, max_actions, max_screenshots, max_tokens, max_usd, max_failures, on_budget
    /// (stop or pause).
    limits: Option<Map<String, Value>>,
    /// JSON Schema of the result.
    output_schema: Option<Map<String, Value>>,
    /// A second job with the same key is the first one.
    idempotency_key: Option<Text<256>>,
    /// Higher runs first.
    priority: Option<Int<-1000, 1000>>,
    /// Keep a trace of it.
    record: Option<bool>,
    /// A desk of its own, where jobs.desks allows that.
    desk: Option<DeskName>,
    /// For the desk mock.
    scenario: Option<Text<512>>,
    /// For the desk sandbox.
    program: Option<Text<512>>,
    /// For the desk browser.
    start_url: Option<Text<2048>>,
    /// Wait so long for its end.
    wait_ms: Option<Int<0, 60000>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DeskName {
    Mock,
    Sandbox,
    Desktop,
    Browser,
}

impl RunJobArgs {
    fn desk_wish(&self) -> [(&'static str, Option<Value>); 4] {
        [
            ("desk", self.desk.map(|desk| json!(desk))),
            ("scenario", self.scenario.as_ref().map(|name| name.as_str().into())),
            ("program", self.program.as_ref().map(|name| name.as_str().into())),
            ("start_url", self.start_url.as_ref().map(|url| url.as_str().into())),
        ]
    }

    fn into_spec(self) -> Map<String, Value> {
        let wish = self.desk_wish();
        let text = |text: Text<256>| Value::from(text.as_str());
        let disabled = |names: Vec<Text<128>>| names.iter().map(|name| Value::from(name.as_str())).collect();
        let fields = [
            ("job", Some(Value::from(self.job.as_str()))),
            ("planner", self.planner.map(|planner| planner.as_str().into())),
            ("model", self.model.map(text)),
            ("disabled_tools", self.disabled_tools.map(disabled)),
            ("limits", self.limits.map(Value::Object)),
            ("output_schema", self.output_schema.map(Value::Object)),
            ("idempotency_key", self.idempotency_key.map(text)),
            ("priority", self.priority.map(|priority| priority.get().into())),
            ("record", self.record.map(Value::Bool)),
        ];
        fields.into_iter().chain(wish).filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

impl Tool for RunJob {
    type Args = RunJobArgs;
    type Out = ShownJob;
    const META: Meta = Meta {
        name: "run_job",
        effect: Effect::Session,
        strict: true,
        rest: &[(Method::Post, "/api/jobs")],
        waits: true,
        brief: "Queue a job: a planner works toward a goal on a desk of its own, within limits.",
        detail: "Answers at once, or after `wait_ms` at most; `job_status` tells how it goes. The job's calls pass the \
                 same gate, and its limits only narrow what the gate allows. With the planner `host` you plan it: your \
                 calls with its `job_id` are its steps, and `finish_job` ends it.",
        examples: &[Example {
            scenario: None,
            args: r#"{"job":"log in as alice","planner":"scripted:demo"}"#,
            shows: "a job in the queue",
        }],
        ..JOBS
    };

    fn run(cx: &mut Cx, args: RunJobArgs, _: Permit) -> Result<ShownJob> {
        // Who plans a job must not wait for its end.
        let is_hosts = args.planner.as_ref().is_some_and(|planner| planner.as_str() == "host");
        let wait = args.wait_ms.as_ref().filter(|_| !is_hosts);
        let wait = wait.map_or(0, |wait| u64::try_from(wait.get()).unwrap_or_default());
        let job_id = cx.jobs()?.submit_job(args.into_spec())?;
        let shown = cx.jobs()?.wait_for_job(&job_id, Duration::from_millis(wait), cx.cancel)?;
        Ok(ShownJob::of(shown))
    }
}

pub struct JobStatusTool;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct JobStatusArgs {
    /// From run_job; `last` for the newest.
    job_id: Text<128>,
    /// Wait so long for its end.
    wait_ms: Option<Int<0, 60000>>,
}

impl Tool for JobStatusTool {
    type Args = JobStatusArgs;
    type Out = ShownJob;
    const META: Meta = Meta {
        name: "job_status",
        rest: &[(Method::Get, "/api/jobs/{job_id}"), (Method::Get, "/api/jobs/{job_id}/status")],
        waits: true,
        brief: "How a job goes: status, result, steps, usage and cost, open approvals.",
        detail: "`in_doubt` names inputs of a job that is over of which nobody knows whether they were sent.",
        examples: &[Example {
            scenario: None,
            args: r#"{"job_id":"last"}"#,
            shows: "the newest job, which waits",
        }],
        before_examples: MADE,
        ..JOBS
    };

    fn run(cx: &mut Cx, args: JobStatusArgs, _: Permit) -> Result<ShownJob> {
        let wait = args.wait_ms.map_or(0, |wait| u64::try_from(wait.get()).unwrap_or_default());
        let wait = Duration::from_millis(wait);
        cx.jobs()?.wait_for_job(args.job_id.as_str(), wait, cx.cancel).map(ShownJob::of)
    }
}

pub struct JobControl;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct JobControlArgs {
    /// From run_job; `last` for the newest.
    job_id: Text<128>,
    /// What is wanted of it.
    action: JobAction,
}

impl Tool for JobControl {
    type Args = JobControlArgs;
    type Out = ShownJob;
    const META: Meta = Meta {
        name: "job_control",
        effect: Effect::Session,
        rest: &[(Method::Post, "/api/job_control")],
        brief: "Pause, resume or cancel a job. A cancelled job sends nothing more.",
        detail: "Over REST there is a route for each as well: `/api/jobs/{job_id}/cancel`. Refused with `JobConflict` \
                 where it does not fit the status. To take over and to answer is the person's.",
        examples: &[Example {
            scenario: None,
            args: r#"{"job_id":"last","action":"cancel"}"#,
            shows: "a job that waited is cancelled at once",
        }],
        before_examples: MADE,
        ..JOBS
    };

    fn run(cx: &mut Cx, args: JobControlArgs, _: Permit) -> Result<ShownJob> {
        cx.jobs()?.control_job(args.job_id.as_str(), args.action).map(ShownJob::of)
    }
}

pub struct FinishJob;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct FinishJobArgs {
    /// From run_job; `last` for the one that you plan.
    job_id: Text<128>,
    /// What was found or done, as output_schema wants it.
    result: Option<Value>,
    /// Why it cannot be done, instead of a result.
    fail: Option<Text<4096>>,
}

impl FinishJobArgs {
    fn ending(self) -> Result<PlannedEnding> {
        match (self.result, self.fail) {
            (Some(result), None) => Ok(PlannedEnding::Result(result)),
            (None, Some(reason)) => Ok(PlannedEnding::Fail(reason.as_str().to_owned())),
            _ => Err(Error::bad_request("give either result or fail").with("field", "result")),
        }
    }
}

impl Tool for FinishJob {
    type Args = FinishJobArgs;
    type Out = ShownJob;
    const META: Meta = Meta {
        name: "finish_job",
        effect: Effect::Session,
        waits: true,
        rest: &[(Method::Post, "/api/finish_job")],
        brief: "End a job that you plan yourself (planner host), with its result or with the reason why not.",
        detail: "A result that does not fit `output_schema` is refused with what is wrong, twice; after that the job \
                 fails with `OutputInvalid`.",
        examples: &[Example {
            scenario: None,
            args: r#"{"job_id":"last","result":{"greeting":"Hello"}}"#,
            shows: "the job is over, with its result",
        }],
        before_examples: &[("run_job", r#"{"job":"read the greeting","planner":"host"}"#)],
        ..JOBS
    };

    fn run(cx: &mut Cx, args: FinishJobArgs, _: Permit) -> Result<ShownJob> {
        let job_id = args.job_id.as_str().to_owned();
        cx.jobs()?.finish_job(&job_id, args.ending()?, cx.cancel).map(ShownJob::of)
    }
}

pub struct ListJobs;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListJobsArgs {
    /// Only jobs with this status.
    status: Option<Text<32>>,
    /// At most so many, 20 unless told.
    limit: Option<Int<1, 1000>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedJobs {
    jobs: Vec<ShownJob>,
    count: usize,
    #[serde(skip)]
    lean: Option<String>,
}

impl Output for ListedJobs {
    fn take_lean(&mut self) -> Option<String> {
        self.lean.take()
    }
}

/// So much of a goal is told in a list.
const GOAL_IN_LIST: usize = 80;

impl ShownJob {
    /// What tells one job from another: `job_1 succeeded, 6 turns, $0.0130: log in`.
    fn line(&self) -> String {
        let word = |name: &str| self.facts.get(name).and_then(Value::as_str).unwrap_or_default();
        let turns = self.facts.get("steps").and_then(Value::as_i64).unwrap_or_default();
        let cost = self.facts.get("cost_usd").and_then(Value::as_f64).filter(|cost| *cost > 0.0);
        let cost = cost.map(|cost| format!(", ${cost:.4}")).unwrap_or_default();
        let code = self.facts.get("error").and_then(|error| error.get("code")).and_then(Value::as_str);
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        let goal = word("job").split_whitespace().collect::<Vec<_>>().join(" ");
        let goal = shorten(&goal, GOAL_IN_LIST);
        format!("{} {}{code}, {turns} turns{cost}: {goal}", self.job_id, self.status)
    }
}

impl Tool for ListJobs {
    type Args = ListJobsArgs;
    type Out = ListedJobs;
    const META: Meta = Meta {
        name: "list_jobs",
        rest: &[(Method::Get, "/api/jobs")],
        brief: "All jobs of the store, the newest first.",
        detail: "Those of other servers that share `jobs.dir`, and of earlier runs, are among them. Without their events; \
                 `job_status` has everything about one.",
        examples: &[Example { scenario: None, args: "{}", shows: "no jobs yet" }],
        ..JOBS
    };

    fn run(cx: &mut Cx, args: ListJobsArgs, _: Permit) -> Result<ListedJobs> {
        let limit = args.limit.and_then(|limit| usize::try_from(limit.get()).ok()).unwrap_or(LISTED);
        let listed = cx.jobs()?.list_jobs(args.status.as_ref().map(Text::as_str), limit)?;
        let jobs: Vec<ShownJob> = listed.into_iter().map(ShownJob::of).collect();
        let lean = cx.lean.then(|| list_lines(&jobs, limit));
        Ok(ListedJobs { count: jobs.len(), jobs, lean })
    }
}

fn list_lines(jobs: &[ShownJob], limit: usize) -> String {
    let mut lines: Vec<String> = jobs.iter().map(ShownJob::line).collect();
    if lines.is_empty() {
        return "no jobs".to_owned();
    }
    if lines.len() == limit {
        lines.push(format!("at most {limit} are listed; `limit` takes more"));
    }
    lines.join("\n")
}

pub const TOOLS: &[Spec] = &[
    Spec::of::<RunJob>(),
    Spec::of::<JobStatusTool>(),
    Spec::of::<JobControl>(),
    Spec::of::<FinishJob>(),
    Spec::of::<ListJobs>(),
];
