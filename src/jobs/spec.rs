//! What a caller asks for, checked when the job is made.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::JobLimits;
use super::output::OutputSchema;
use crate::error::{Error, Result};
use crate::text;

/// Longer goals are refused.
pub const LONGEST_GOAL: usize = 16 * 1024;
const MOST_DISABLED_TOOLS: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// What is to be done, in words.
    pub job: String,
    /// Who plans the steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tools and groups of tools that this job may not use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
    #[serde(default)]
    pub limits: JobLimits,
    /// What the result must look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// A second job with the same key is the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(default)]
    pub priority: i32,
}

impl JobSpec {
    /// From JSON; the error names the field.
    pub fn from_value(value: Value) -> Result<Self> {
        serde_json::from_value(value)
            .map_err(|problem| Error::bad_request(format!("the job cannot be read: {problem}")))
    }

    /// `known` are the names of tools and groups.
    pub fn check(&self, known: &[&str]) -> Result<()> {
        check_goal(&self.job)?;
        if self.disabled_tools.len() > MOST_DISABLED_TOOLS {
            return Err(Error::bad_request(format!(
                "disabled_tools has more than {MOST_DISABLED_TOOLS} names"
            )));
        }
        self.disabled_tools.iter().try_for_each(|name| check_tool_name(name, known))?;
        self.limits.check()?;
        if let Some(schema) = &self.output_schema {
            OutputSchema::compile(schema)?;
        }
        Ok(())
    }
}

fn check_goal(goal: &str) -> Result<()> {
    if goal.trim().is_empty() {
        return Err(Error::bad_request("job is empty; say what is to be done"));
    }
    if goal.len() > LONGEST_GOAL {
        let message = format!("job has {} bytes, the limit is {LONGEST_GOAL}", goal.len());
        return Err(Error::bad_request(message));
    }
    Ok(())
}

fn check_tool_name(name: &str, known: &[&str]) -> Result<()> {
    if known.contains(&name) {
        return Ok(());
    }
    let near = text::nearest(name, known.iter().copied());
    let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
    Err(Error::bad_request(format!("disabled_tools names '{name}', which is no tool and no group{near}")))
}
