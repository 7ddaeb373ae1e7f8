//! Jobs that a test runs on the mock desktop, with a planner of its own.

use std::sync::Arc;

use os_screen_observer::clock::Cancel;
use os_screen_observer::jobs::lease::unix_ms;
use os_screen_observer::jobs::planner::OpenedPlanner;
use os_screen_observer::jobs::resuming::RunDesk;
use os_screen_observer::jobs::run::{Runner, WhenStopped};
use os_screen_observer::jobs::spec::JobSpec;
use os_screen_observer::jobs::store::sqlite::SqliteStore;
use os_screen_observer::jobs::store::{Claimed, Ending, JobEvent, JobRecord, ModelUse, Store};
use serde_json::Value;

use super::World;

pub struct JobRun {
    pub world: World,
    store: Arc<SqliteStore>,
    claimed: Claimed,
}

impl JobRun {
    pub fn new(world: World, spec: Value) -> Self {
        let spec = JobSpec::from_value(spec).unwrap();
        let store = Arc::new(SqliteStore::in_memory().unwrap());
        let now = unix_ms(&world.app.clock);
        let id = store.enqueue(&spec, None, now).unwrap();
        let claimed = store.claim_job(&id, "w", now).unwrap().unwrap();
        Self { world, store, claimed }
    }

    pub fn run(&self) -> Ending {
        self.run_planned(None, &Cancel::new())
    }

    pub fn run_planned(&self, planner: Option<OpenedPlanner>, cancel: &Cancel) -> Ending {
        let app = &self.world.app;
        let runner = Runner {
            gate: &app.gate,
            tools: &app.tools,
            planner: &app.config.planner,
            clock: app.clock.clone(),
            store: self.store.clone(),
            progress: &|_| {},
            when_stopped: WhenStopped::Cancelled,
            desk: RunDesk::LASTING,
        };
        runner.run_planned(&self.claimed, planner, cancel).unwrap()
    }

    pub fn record(&self) -> JobRecord {
        self.store.read(&self.claimed.lease.job_id).unwrap().unwrap()
    }

    pub fn events(&self) -> Vec<JobEvent> {
        self.store.events(&self.claimed.lease.job_id, 0, 1000).unwrap()
    }

    pub fn model_use(&self) -> Vec<ModelUse> {
        self.store.model_use(&self.claimed.lease.job_id).unwrap()
    }

    pub fn id(&self) -> &str {
        &self.claimed.lease.job_id
    }
}

/// The code that a job ended with; nothing if it succeeded.
pub fn code_of(ending: &Ending) -> String {
    ending.error.as_ref().map(|error| error.code.clone()).unwrap_or_default()
}

pub fn message_of(ending: &Ending) -> String {
    ending.error.as_ref().map(|error| error.message.clone()).unwrap_or_default()
}
