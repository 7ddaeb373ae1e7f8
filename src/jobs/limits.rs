//! How far a job may go.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::money::Cost;
use crate::error::{Error, Result};
use crate::tool::scope::ScopeLimits;

const MOST_STEPS: u64 = 100_000;
const MOST_USD: f64 = 1_000_000.0;
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

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
        }
    }
}

impl JobLimits {
    pub fn check(&self) -> Result<()> {
        if let Some(most) = self.max_usd.filter(|most| !(*most > 0.0 && *most <= MOST_USD)) {
            return Err(Error::bad_request(format!(
                "limits.max_usd is {most}; it must be above 0 and at most {MOST_USD}"
            )));
        }
        let longest = u64::try_from(LONGEST.as_millis()).unwrap_or(u64::MAX);
        let bounds = [
            ("limits.max_steps", self.max_steps, MOST_STEPS),
            ("limits.timeout_ms", self.timeout_ms, longest),
            ("limits.max_failures", self.max_failures, MOST_STEPS),
        ];
        let wrong = bounds.into_iter().find(|(_, value, most)| *value == 0 || value > most);
        match wrong {
            None => Ok(()),
            Some((name, value, most)) => {
                Err(Error::bad_request(format!("{name} is {value}; it must be from 1 to {most}")))
            }
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
