//! A task as a client of web-task-api writes it, and the job that it becomes.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::config::OwnDesk;
use crate::error::{Error, Result};
use crate::jobs::limits::JobLimits;
use crate::jobs::output::OutputSchema;
use crate::jobs::spec::{JobSpec, TaskMode, WebPart};
use crate::jobs::store::web::SessionRow;
use crate::recipes::Recipe;
use crate::text::nearest;
use crate::tool::Table;

/// Turns of the planner, unless the task says how many.
const STEPS: u64 = 40;
const TIMEOUT_MS: u64 = 120_000;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRequest {
    pub goal: String,
    pub start_url: Option<String>,
    pub session_id: Option<String>,
    pub profile: Option<String>,
    pub mode: TaskMode,
    pub input: Map<String, Value>,
    pub output_schema: Option<Value>,
    pub agent: Option<Map<String, Value>>,
    pub limits: TaskLimits,
    pub webhook: Option<String>,
    pub recipe: Option<String>,
    pub idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskLimits {
    pub max_steps: Option<u64>,
    pub timeout_ms: Option<u64>,
    pub headless: Option<bool>,
}

impl TaskLimits {
    fn job_limits(self) -> JobLimits {
        JobLimits {
            max_steps: self.max_steps.unwrap_or(STEPS),
            timeout_ms: self.timeout_ms.unwrap_or(TIMEOUT_MS),
            ..JobLimits::default()
        }
    }
}

/// Who plans: the seed's names, and ours. A model speaks the names of web-task-api's tools.
const KINDS: [(&str, &str); 8] = [
    ("auto", "auto:webtask"),
    ("cliproxy", "chat:webtask"),
    ("chat", "chat:webtask"),
    ("responses", "responses:webtask"),
    ("anthropic", "anthropic:webtask"),
    ("opencode", "opencode:webtask"),
    ("cli", "cli"),
    ("mock", "mock"),
];

/// Who plans a task.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentWish {
    pub kind: Option<String>,
    pub model: Option<String>,
}

impl AgentWish {
    pub fn read(written: &Map<String, Value>) -> Result<Self> {
        let read: Self = serde_json::from_value(Value::Object(written.clone())).map_err(|problem| {
            Error::bad_request(format!("agent cannot be read: {problem}")).with("field", "agent")
        })?;
        read.planner()?;
        Ok(read)
    }

    /// The planner by our name; none where nobody said.
    pub fn planner(&self) -> Result<Option<String>> {
        let Some(kind) = &self.kind else { return Ok(None) };
        if kind.starts_with("scripted:") || kind.starts_with("recipe:") {
            return Ok(Some(kind.clone()));
        }
        let known = KINDS.iter().find(|(name, _)| name == kind);
        let planner = known.map(|(_, planner)| (*planner).to_owned());
        planner.map(Some).ok_or_else(|| {
            let near = nearest(kind, KINDS.iter().map(|(name, _)| *name));
            let near = near.map(|near| format!(" Did you mean '{near}'?")).unwrap_or_default();
            let names = KINDS.map(|(name, _)| name).join(", ");
            let message = format!(
                "agent.kind is '{kind}'; it must be one of {names}, recipe:ID, or scripted:FILE.{near}"
            );
            Error::bad_request(message).with("field", "agent.kind")
        })
    }
}

impl TaskRequest {
    /// From JSON; the error names the field.
    pub fn read(written: Map<String, Value>) -> Result<Self> {
        serde_json::from_value(Value::Object(written))
            .map_err(|problem| Error::bad_request(format!("the task cannot be read: {problem}")))
    }

    /// What a job would be refused for as well, by the names of a task.
    pub fn check(&self) -> Result<()> {
        if self.goal.trim().is_empty() {
            let message = "'goal' is empty; say what is to be done";
            return Err(Error::bad_request(message).with("field", "goal"));
        }
        let compiled = self.output_schema.as_ref().map(OutputSchema::compile).transpose();
        compiled.map(drop).map_err(|error| {
            let message = error.message.replace("output_schema", "outputSchema");
            Error::bad_request(message).with("field", "outputSchema")
        })
    }

    /// What the task does not say, its session does.
    pub fn merge_session(&mut self, session: &SessionRow) {
        let body = &session.body;
        let given = |own: &mut Option<String>, other: &Option<String>| {
            *own = own.take().or_else(|| other.clone());
        };
        given(&mut self.start_url, &body.start_url);
        given(&mut self.profile, &body.profile);
        // Key by key: a task that names another model keeps the kind.
        let mut agent = body.agent.clone().unwrap_or_default();
        agent.extend(self.agent.take().unwrap_or_default());
        self.agent = (!agent.is_empty()).then_some(agent);
    }

    fn web_part(&self, notes: Option<String>, recipe: Option<Recipe>) -> WebPart {
        WebPart {
            mode: self.mode,
            session_id: self.session_id.clone(),
            profile: self.profile.clone(),
            headful: self.limits.headless == Some(false),
            notes,
            webhook: self.webhook.clone(),
            recipe: recipe.as_ref().map(|recipe| recipe.id.clone()),
            hints: recipe.map(|recipe| recipe.prompt_hints).unwrap_or_default(),
        }
    }

    /// The job. `notes` are those of its session.
    pub fn into_spec(self, notes: Option<String>, recipe: Option<Recipe>, tools: &Table) -> Result<JobSpec> {
        let agent = AgentWish::read(&self.agent.clone().unwrap_or_default())?;
        let planner = agent.planner()?.unwrap_or_else(|| planner_for(recipe.as_ref()));
        let web = self.web_part(notes, recipe);
        let disabled_tools = if self.mode == TaskMode::Read { acting_tools(tools) } else { Vec::new() };
        Ok(JobSpec {
            job: self.goal,
            planner: Some(planner),
            model: agent.model,
            disabled_tools,
            limits: self.limits.job_limits(),
            output_schema: self.output_schema,
            idempotency_key: self.idempotency_key,
            record: true,
            desk: Some(OwnDesk::Browser),
            start_url: self.start_url,
            input: self.input,
            web: Some(web),
            ..JobSpec::default()
        })
    }
}

/// A recipe that needs no model, where there is one.
fn planner_for(recipe: Option<&Recipe>) -> String {
    match recipe.filter(|recipe| recipe.can_replay()) {
        Some(recipe) => format!("recipe:{}", recipe.id),
        None => "auto:webtask".to_owned(),
    }
}

/// What a task that only reads may use although it acts.
const MOVES: [&str; 3] = ["open_url", "page_history", "scroll"];

/// Everything that presses, types or starts something. The steps of a list pass the gate one by one.
fn acting_tools(tools: &Table) -> Vec<String> {
    let acting = tools.specs().filter(|spec| spec.meta.effect.acts() && !spec.meta.steps);
    let acting = acting.filter(|spec| !MOVES.contains(&spec.meta.name));
    acting.map(|spec| spec.meta.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::store::web::SessionBody;
    use serde_json::json;

    fn check_agent(agent: Value, expected: Result<Option<&str>, &str>) {
        let read = AgentWish::read(agent.as_object().unwrap()).and_then(|agent| agent.planner());
        match (read, expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got.as_deref(), expected, "{agent}"),
            (Err(error), Err(word)) => assert!(error.message.contains(word), "{agent}: {error}"),
            (got, _) => panic!("{agent}: {got:?}"),
        }
    }

    /// WT-07: the adapters of the seed by their names.
    #[test]
    fn an_agent_is_chosen_by_its_kind() {
        check_agent(json!({}), Ok(None));
        check_agent(json!({"kind": "mock"}), Ok(Some("mock")));
        check_agent(json!({"kind": "auto"}), Ok(Some("auto:webtask")));
        check_agent(json!({"kind": "cliproxy", "model": "m"}), Ok(Some("chat:webtask")));
        check_agent(json!({"kind": "opencode"}), Ok(Some("opencode:webtask")));
        check_agent(json!({"kind": "scripted:a.yaml"}), Ok(Some("scripted:a.yaml")));
        check_agent(json!({"kind": "recipe:lamp"}), Ok(Some("recipe:lamp")));
        check_agent(json!({"kind": "clipproxy"}), Err("Did you mean 'cliproxy'?"));
        check_agent(json!({"kind": "host"}), Err("agent.kind is 'host'"));
        check_agent(json!({"kid": "mock"}), Err("kid"));
    }

    #[test]
    fn a_session_says_what_the_task_does_not() {
        let agent = |agent: Value| agent.as_object().cloned();
        let body = SessionBody {
            start_url: Some("https://a.example/".to_owned()),
            profile: Some("work".to_owned()),
            agent: agent(json!({"kind": "chat", "model": "m"})),
            ..SessionBody::default()
        };
        let session = SessionRow { id: "s".to_owned(), body, created_at: 0, updated_at: 0 };
        let mut empty = TaskRequest::default();
        empty.merge_session(&session);
        assert_eq!(empty.start_url.as_deref(), Some("https://a.example/"));
        assert_eq!(
            (empty.profile.as_deref(), empty.agent),
            (Some("work"), agent(json!({"kind": "chat", "model": "m"})))
        );
        let mut full = TaskRequest {
            start_url: Some("https://b.example/".to_owned()),
            agent: agent(json!({"model": "other"})),
            ..TaskRequest::default()
        };
        full.merge_session(&session);
        assert_eq!(full.start_url.as_deref(), Some("https://b.example/"));
        assert_eq!(full.agent, agent(json!({"kind": "chat", "model": "other"})));
    }
}
