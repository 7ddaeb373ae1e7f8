//! Runs the cases of a suite: for each run a desk of its own, a job on it, and a judge at its end.

use std::sync::Arc;

use super::desk::{DeskBuilder, PlannedDesk, on_mock};
use super::judge::{FinishedRun, find_problem};
use super::pages::PageServer;
use super::report::{CaseReport, EvalReport, RunReport, RunUse};
use super::suite::{CaseDesk, EvalCase, Suite};
use crate::app::App;
use crate::clock::{Cancel, Clock, timestamp};
use crate::config::Loaded;
use crate::jobs::lease::unix_ms;
use crate::jobs::planner::named::{NamedPlanner, check_planner};
use crate::jobs::planner::{NO_HOST, OpenedPlanner};
use crate::jobs::resuming::{DeskLife, RunDesk};
use crate::jobs::run::{Runner, WhenStopped};
use crate::jobs::service::nameable_tools;
use crate::jobs::spec::JobSpec;
use crate::jobs::store::{Claimed, JobRecord, Store, Usage};
use crate::random::random_token;

/// The planner that plays what each case has in its `steps` or `script`.
pub const OWN_SCRIPTS: &str = "scripted";

/// What is wanted of an evaluation.
#[derive(Clone, Debug)]
pub struct EvalOptions {
    pub planner: String,
    pub model: Option<String>,
    /// How often each case is run, and of MiniWoB++ each seed.
    pub runs: u32,
    /// Browsers with a window.
    pub headful: bool,
}

pub struct SuiteRunner<'a> {
    pub options: EvalOptions,
    /// The settings of every desk.
    pub loaded: &'a Loaded,
    pub build_desk: DeskBuilder<'a>,
    pub store: Arc<dyn Store>,
    /// Told after each run, with its number and how many there are.
    pub progress: &'a dyn Fn(&EvalCase, usize, usize, &RunReport),
    pub cancel: &'a Cancel,
}

impl SuiteRunner<'_> {
    /// Fails before anything runs where the planner or a case cannot be used. When it is cancelled it ends with the runs
    /// that are done.
    pub fn run_suite(&self, suite: &Suite) -> Result<EvalReport, String> {
        self.check_cases(suite)?;
        let started_at = timestamp(Clock::real().wall_time());
        let mut cases = Vec::with_capacity(suite.cases.len());
        for case in &suite.cases {
            if self.cancel.check().is_err() {
                break;
            }
            cases.push(self.run_case(suite, case));
        }
        let EvalOptions { planner, model, .. } = self.options.clone();
        let stopped = self.cancel.check().is_err();
        Ok(EvalReport { suite: suite.name.clone(), planner, model, started_at, stopped, cases })
    }

    /// On a mock desktop, which is there at once: whether each case makes a job that this planner can plan.
    fn check_cases(&self, suite: &Suite) -> Result<(), String> {
        let desk = (self.build_desk)(on_mock(self.loaded.clone(), None))?;
        let known = nameable_tools(&desk.app.tools);
        for case in &suite.cases {
            let named = |problem: String| format!("case \"{}\": {problem}", case.name);
            self.job_of(suite, case).check(&known).map_err(|error| named(error.message))?;
            if self.plays_own_scripts() && case.script.is_none() {
                return Err(named(
                    "the planner 'scripted' plays \"steps\" or \"script\", and it has neither".to_owned(),
                ));
            }
        }
        if self.plays_own_scripts() {
            return Ok(());
        }
        if NamedPlanner::read(&self.options.planner) == Ok(NamedPlanner::Host) {
            return Err(NO_HOST.to_owned());
        }
        let spec = suite.cases.first().map(|case| self.job_of(suite, case)).unwrap_or_default();
        check_planner(&desk.app.config.planner, &spec, &desk.app.tools)
    }

    fn plays_own_scripts(&self) -> bool {
        self.options.planner == OWN_SCRIPTS
    }

    fn job_of(&self, suite: &Suite, case: &EvalCase) -> JobSpec {
        let planner = match self.plays_own_scripts() {
            true => format!("{OWN_SCRIPTS}:{}#{}", suite.name, case.name),
            false => self.options.planner.clone(),
        };
        JobSpec {
            job: case.goal.clone(),
            planner: Some(planner),
            model: self.options.model.clone(),
            disabled_tools: case.disabled_tools.clone(),
            limits: case.limits,
            output_schema: case.output_schema.clone(),
            ..JobSpec::default()
        }
    }

    fn run_case(&self, suite: &Suite, case: &EvalCase) -> CaseReport {
        let seeds: Vec<Option<u64>> = match &case.desk {
            CaseDesk::Miniwob { seeds, .. } => seeds.iter().copied().map(Some).collect(),
            _ => vec![None],
        };
        let repeated = (0..self.options.runs).flat_map(|_| seeds.iter().copied());
        let total = seeds.len() * usize::try_from(self.options.runs).unwrap_or(usize::MAX);
        let mut runs = Vec::new();
        for seed in repeated {
            let run = self.run_once(suite, case, seed);
            // What was stopped in the middle says nothing about the case.
            if self.cancel.check().is_err() {
                break;
            }
            (self.progress)(case, runs.len() + 1, total, &run);
            runs.push(run);
        }
        CaseReport { name: case.name.clone(), required: case.required, retried: false, runs }
    }

    /// A desk that cannot be had is a run that failed, with the reason.
    fn run_once(&self, suite: &Suite, case: &EvalCase, seed: Option<u64>) -> RunReport {
        let failed = |problem: String| RunReport { seed, problem: Some(problem), ..RunReport::default() };
        let planned = PlannedDesk::plan(self.loaded.clone(), &case.desk, seed, self.options.headful);
        let PlannedDesk { loaded, pages } = match planned {
            Ok(planned) => planned,
            Err(problem) => return failed(problem),
        };
        let desk = match (self.build_desk)(loaded) {
            Ok(desk) => desk,
            Err(problem) => return failed(problem),
        };
        let run = self.run_at_desk(suite, case, seed, &desk.app, pages.as_ref());
        desk.app.observer.release_all();
        run.unwrap_or_else(failed)
    }

    fn run_at_desk(
        &self,
        suite: &Suite,
        case: &EvalCase,
        seed: Option<u64>,
        app: &App,
        pages: Option<&PageServer>,
    ) -> Result<RunReport, String> {
        if let Some(missing) = app.observer.facts().unavailable {
            return Err(missing);
        }
        let episode = pages.filter(|_| seed.is_some());
        episode.map_or(Ok(()), |pages| pages.wait_until_ready(self.cancel))?;
        let record = self.run_job(suite, case, app)?;
        let reward = episode.and_then(|pages| pages.wait_for_reward(self.cancel));
        let problem = find_problem(case, &FinishedRun { app, record: &record, reward });
        Ok(RunReport {
            seed,
            reward,
            problem,
            used: use_of(&record),
            status: Some(record.status.name().to_owned()),
            job_id: Some(record.id),
            ..RunReport::default()
        })
    }

    fn run_job(&self, suite: &Suite, case: &EvalCase, app: &App) -> Result<JobRecord, String> {
        let planner = self.open_script(case, app)?;
        let (spec, worker) = (self.job_of(suite, case), random_token("worker_"));
        let now = unix_ms(&app.clock);
        let claimed = self.store.enqueue_taken(&spec, &worker, now).map_err(|error| error.message)?;
        let runner = Runner {
            gate: &app.gate,
            tools: &app.tools,
            planner: &app.config.planner,
            clock: app.clock.clone(),
            store: self.store.clone(),
            progress: &|_| {},
            when_stopped: WhenStopped::Cancelled,
            desk: RunDesk { life: DeskLife::ThrownAway, seen_by: None },
        };
        runner.run_planned(&claimed, planner, self.cancel).map_err(|error| error.message)?;
        self.read_record(&claimed)
    }

    /// The case's own script, where those are played, checked with the tools of this desk.
    fn open_script(&self, case: &EvalCase, app: &App) -> Result<Option<OpenedPlanner>, String> {
        let Some(script) = case.script.clone().filter(|_| self.plays_own_scripts()) else {
            return Ok(None);
        };
        script.check_calls(&app.tools)?;
        Ok(Some(OpenedPlanner { planner: Box::new(script), reads_lines: false, spent: Usage::default() }))
    }

    fn read_record(&self, claimed: &Claimed) -> Result<JobRecord, String> {
        let job_id = &claimed.lease.job_id;
        let record = self.store.read(job_id).map_err(|error| error.message)?;
        record.ok_or_else(|| format!("the job {job_id} is not in the store any more"))
    }
}

fn use_of(record: &JobRecord) -> RunUse {
    RunUse {
        steps: u64::try_from(record.steps).unwrap_or_default(),
        calls: record.used.calls,
        tokens: record.usage.tokens(),
        cost: record.cost,
        milliseconds: record.worked_ms,
    }
}
