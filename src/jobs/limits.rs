//! How far a job may go.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::money::Cost;
use crate::error::{Error, Result};
use crate::tool::scope::ScopeLimits;

const MOST_STEPS: u64 = 100_000;
const MOST_USD: f64 = 1_000_000.0;
const MOST_CALLS: u64 = 1_000_000;
const MOST_TOKENS: u64 = 1_000_000_000_000;
/// A week.
const LONGEST_MS: u64 = 7 * 24 * 3600 * 1000;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobLimits {
    /// Turns of the planner.
    pub max_steps: u64,
    /// Without the time that a person takes.
    pub timeout_ms: u64,
    pub max_calls: Option<u64>,
    pub max_actions: Option<u64>,
    pub max_screenshots: Option<u64>,
    /// Input and output of the model.
    pub max_tokens: Option<u64>,
    /// What the model may cost, in dollars.
    pub max_usd: Option<f64>,
    /// Calls that may fail, one after the other.
    pub max_failures: u64,
    /// What becomes of a job that meets one of these.
    pub on_budget: OnBudget,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnBudget {
    /// It ends.
    #[default]
    Stop,
    /// It pauses. Who resumes it gives it the same allowance once more.
    Pause,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self {
            max_steps: 80,
            timeout_ms: 30 * 60 * 1000,
            max_calls: None,
            max_actions: None,
            max_screenshots: None,
            max_tokens: None,
            max_usd: None,
            max_failures: 5,
            on_budget: OnBudget::Stop,
        }
    }
}

/// What a limit may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitRange {
    Whole(u64, u64),
    /// Above nothing, and at most so many.
    Dollars(f64),
    OneOf(&'static [&'static str]),
}

/// A limit as it is written, checked and described.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitRow {
    pub name: &'static str,
    pub meaning: &'static str,
    /// Of the command `run`.
    pub flag: Option<&'static str>,
    pub range: LimitRange,
}

const fn limit(
    name: &'static str,
    meaning: &'static str,
    flag: Option<&'static str>,
    range: LimitRange,
) -> LimitRow {
    LimitRow { name, meaning, flag, range }
}

const SOME_OR_NONE: LimitRange = LimitRange::Whole(0, MOST_CALLS);

/// Every limit of a job, once.
pub const LIMITS: [LimitRow; 9] = [
    limit("max_steps", "turns of the planner", Some("--max-steps"), LimitRange::Whole(1, MOST_STEPS)),
    limit(
        "timeout_ms",
        "milliseconds of work, without the time of people",
        Some("--timeout SECONDS"),
        LimitRange::Whole(1, LONGEST_MS),
    ),
    limit("max_calls", "calls of tools", None, SOME_OR_NONE),
    limit("max_actions", "inputs", Some("--max-job-actions"), SOME_OR_NONE),
    limit("max_screenshots", "screenshots", None, SOME_OR_NONE),
    limit("max_tokens", "tokens of the model, in and out", None, LimitRange::Whole(0, MOST_TOKENS)),
    limit("max_usd", "what the model costs, in dollars", Some("--max-usd"), LimitRange::Dollars(MOST_USD)),
    limit("max_failures", "calls that fail one after the other", None, LimitRange::Whole(1, MOST_STEPS)),
    limit(
        "on_budget",
        "what becomes of a job that meets a limit",
        None,
        LimitRange::OneOf(&["stop", "pause"]),
    ),
];

impl LimitRange {
    fn holds(self, value: &Value) -> bool {
        match self {
            LimitRange::Whole(least, most) => {
                value.as_u64().is_some_and(|number| (least..=most).contains(&number))
            }
            LimitRange::Dollars(most) => {
                value.as_f64().is_some_and(|dollars| dollars > 0.0 && dollars <= most)
            }
            LimitRange::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }
}

impl fmt::Display for LimitRange {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            LimitRange::Whole(least, most) => write!(out, "a whole number from {least} to {most}"),
            LimitRange::Dollars(most) => write!(out, "above 0 and at most {most}"),
            LimitRange::OneOf(words) => out.write_str(&words.join(" or ")),
        }
    }
}

/// Limits as a caller wrote them. The error names the field and what it may be.
pub fn check_written(written: &Value) -> Result<()> {
    let refused = |field: String, message: String| Error::bad_request(message).with("field", field);
    let Some(fields) = written.as_object() else {
        return Err(refused("limits".to_owned(), "limits is no object".to_owned()));
    };
    for (name, value) in fields {
        let field = format!("limits.{name}");
        let Some(row) = LIMITS.iter().find(|row| row.name == name) else {
            let names = LIMITS.map(|row| row.name).join(", ");
            return Err(refused(field, format!("there is no limits.{name}; there are {names}")));
        };
        if !value.is_null() && !row.range.holds(value) {
            let message = format!("{field} is {value}; it must be {}", row.range);
            return Err(refused(field, message));
        }
    }
    Ok(())
}

impl JobLimits {
    pub fn check(&self) -> Result<()> {
        // JSON has no word for them, so they would be no limit at all.
        if let Some(usd) = self.max_usd.filter(|usd| !usd.is_finite()) {
            let message = format!("limits.max_usd is {usd}; it must be {}", LimitRange::Dollars(MOST_USD));
            return Err(Error::bad_request(message).with("field", "limits.max_usd"));
        }
        check_written(&serde_json::json!(self))
    }

    /// The same limits for a job that was given its allowance so often.
    pub fn times(self, allowances: u64) -> Self {
        let more = |limit: Option<u64>| limit.map(|limit| limit.saturating_mul(allowances));
        Self {
            max_steps: self.max_steps.saturating_mul(allowances),
            timeout_ms: self.timeout_ms.saturating_mul(allowances),
            max_calls: more(self.max_calls),
            max_actions: more(self.max_actions),
            max_screenshots: more(self.max_screenshots),
            max_tokens: more(self.max_tokens),
            max_usd: self.max_usd.map(|usd| usd * allowances as f64),
            ..self
        }
    }

    pub fn max_cost(&self) -> Option<Cost> {
        self.max_usd.map(Cost::from_usd)
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// The part that the gate counts.
    pub fn in_scope(&self) -> ScopeLimits {
        ScopeLimits { calls: self.max_calls, actions: self.max_actions, screenshots: self.max_screenshots }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(written: Value, expected: Result<(), &str>) {
        let got = check_written(&written).map_err(|error| error.message);
        assert_eq!(got, expected.map_err(str::to_owned), "{written}");
    }

    #[test]
    fn a_limit_that_cannot_be_is_refused_by_its_name_and_range() {
        let steps = "it must be a whole number from 1 to 100000";
        check(json!({"max_steps": -1}), Err(&format!("limits.max_steps is -1; {steps}")));
        check(json!({"max_steps": 1.5}), Err(&format!("limits.max_steps is 1.5; {steps}")));
        check(json!({"max_steps": "5"}), Err(&format!("limits.max_steps is \"5\"; {steps}")));
        check(json!({"max_usd": 0}), Err("limits.max_usd is 0; it must be above 0 and at most 1000000"));
        check(json!({"on_budget": "go"}), Err("limits.on_budget is \"go\"; it must be stop or pause"));
        check(json!([]), Err("limits is no object"));
        check(json!({"max_calls": 0, "max_usd": null, "on_budget": "pause"}), Ok(()));
    }

    #[test]
    fn what_is_no_number_is_no_cap() {
        for usd in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            let limits = JobLimits { max_usd: Some(usd), ..JobLimits::default() };
            assert_eq!(limits.check().unwrap_err().kind, crate::error::Kind::BadRequest, "{usd}");
        }
    }

    /// The table has every field, and the defaults hold.
    #[test]
    fn the_table_of_limits_is_the_type() {
        let defaults = json!(JobLimits::default());
        let fields: Vec<&String> = defaults.as_object().unwrap().keys().collect();
        assert_eq!(fields, LIMITS.map(|row| row.name));
        check(defaults, Ok(()));
    }
}
