//! Whether a run did what its case asks for. The judge looks at the record of the job, at the end state through the gate,
//! and at what a page of MiniWoB++ rewarded; the job sees nothing of it.

use serde_json::{Map, Value, json};

use super::suite::{CaseDesk, EvalCase};
use crate::app::App;
use crate::clock::Cancel;
use crate::gate::{Call, Origin};
use crate::jobs::store::{JobError, JobRecord};
use crate::privacy::untrusted::clean_text;
use crate::text::shorten;

/// As much of a value is told.
const SHOWN: usize = 300;

/// What a finished run is judged by.
pub struct FinishedRun<'a> {
    pub app: &'a App,
    pub record: &'a JobRecord,
    pub reward: Option<f64>,
}

/// Why the run failed; nothing if it succeeded.
pub fn find_problem(case: &EvalCase, run: &FinishedRun) -> Option<String> {
    let problem = match case.desk {
        CaseDesk::Miniwob { .. } => reward_problem(case, run)
            .or_else(|| result_problem(case, run))
            .or_else(|| state_problem(case, run)),
        _ => status_problem(case, run)
            .or_else(|| result_problem(case, run))
            .or_else(|| state_problem(case, run)),
    };
    problem.map(|problem| clean_text(&problem).into_owned())
}

/// The page is the judge: how the job ended does not count, but it explains why there is no reward.
fn reward_problem(case: &EvalCase, run: &FinishedRun) -> Option<String> {
    let ended = || ending_text(run.record);
    match (run.reward, case.expect.reward) {
        (None, _) => Some(format!("the page gave no reward; the job is {}", ended())),
        (Some(reward), Some(least)) if reward < least => {
            Some(format!("the page rewarded {reward}, and {least} is required; the job is {}", ended()))
        }
        (Some(reward), None) if reward <= 0.0 => {
            Some(format!("the page rewarded {reward}; the job is {}", ended()))
        }
        _ => None,
    }
}

fn status_problem(case: &EvalCase, run: &FinishedRun) -> Option<String> {
    let (expected, ended) = (case.expect.status, ending_text(run.record));
    (run.record.status != expected).then(|| format!("the job is {ended}; it should be {expected}"))
}

fn ending_text(record: &JobRecord) -> String {
    match &record.error {
        Some(JobError { code, message }) => {
            format!("{} ({code}: {})", record.status, shorten(message, SHOWN))
        }
        None => record.status.to_string(),
    }
}

fn result_problem(case: &EvalCase, run: &FinishedRun) -> Option<String> {
    let expected = case.expect.result.as_ref()?;
    let result = run.record.result.as_ref();
    if result == Some(expected) {
        return None;
    }
    let got = result
        .map_or_else(|| "missing".to_owned(), |result| shorten(&result.to_string(), SHOWN).into_owned());
    Some(format!("the result is {got}; it should be {}", shorten(&expected.to_string(), SHOWN)))
}

fn state_problem(case: &EvalCase, run: &FinishedRun) -> Option<String> {
    match failed_predicates(run.app, &case.expect.state) {
        Ok(failed) if failed.is_empty() => None,
        Ok(failed) => Some(format!("the end state is not as it should be: {}", failed.join("; "))),
        Err(problem) => Some(format!("the end state could not be checked: {problem}")),
    }
}

/// Of these predicates of `assert_state` those that do not hold, each with what was there instead.
pub fn failed_predicates(app: &App, predicates: &[Map<String, Value>]) -> Result<Vec<String>, String> {
    if predicates.is_empty() {
        return Ok(Vec::new());
    }
    let args = json!({ "predicates": predicates });
    let call = Call { tool: "assert_state".to_owned(), args, origin: Origin::Terminal };
    let reply = app.gate.pass_call(call, &Cancel::new()).value();
    if let Some(message) = reply.pointer("/error/message").and_then(Value::as_str) {
        return Err(message.to_owned());
    }
    let results = reply.get("results").and_then(Value::as_array).cloned().unwrap_or_default();
    let failed: Vec<String> =
        results.iter().filter(|result| result["passed"] != true).map(predicate_text).collect();
    if failed.is_empty() && reply["all_passed"] != true {
        return Err("assert_state did not say whether they hold".to_owned());
    }
    Ok(failed)
}

/// A predicate that does not hold, with what was there instead.
fn predicate_text(result: &Value) -> String {
    let kind = result["kind"].as_str().unwrap_or_default();
    let args = result["args"].as_object().cloned().unwrap_or_default();
    let observed = result.get("observed").cloned().unwrap_or_default();
    let told = shorten(&observed.to_string(), SHOWN).into_owned();
    format!("{kind} {} (observed {told})", arguments_text(&args))
}

fn arguments_text(args: &Map<String, Value>) -> String {
    shorten(&Value::Object(args.clone()).to_string(), SHOWN).into_owned()
}
