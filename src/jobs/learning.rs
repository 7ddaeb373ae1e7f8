//! A recipe from a job: only from one that succeeded, and that was recorded.

use std::path::Path;

use super::status::JobStatus;
use super::store::JobRecord;
use crate::recipes::Recipe;
use crate::recipes::learn::{FinishedJob, learn_recipe};
use crate::tool::Table;
use crate::trace::recording::LoadedTrace;

/// The recipe that does again what the job did. `id` is that of the recipe; the tools are those of the job's desk.
pub fn learn_from_job(job: &JobRecord, id: &str, tools: &Table) -> Result<Recipe, String> {
    let cannot = |why: &str| format!("no recipe can be learned from job {}: {why}", job.id);
    if job.status != JobStatus::Succeeded {
        return Err(cannot(&format!(
            "it is {}, and only what succeeded is worth doing again",
            job.status.name()
        )));
    }
    let result = job.result.as_ref().ok_or_else(|| cannot("it has no result"))?;
    let folder = job.run_dir.as_deref().ok_or_else(|| cannot("it was not recorded; run it with --record"))?;
    let trace = LoadedTrace::read(Path::new(folder)).map_err(|problem| cannot(&problem))?;
    let finished = FinishedJob {
        job_id: &job.id,
        start_url: job.spec.start_url.as_deref(),
        input: &job.spec.input,
        result,
        trace: &trace,
    };
    learn_recipe(id, &finished, tools).map_err(|problem| cannot(&problem))
}
