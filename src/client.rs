//! A typed client for the HTTP API of a server, for Rust programs. `clients/` has those for TypeScript and Python.
//!
//! It sends one request for each method and waits for the answer: nothing is retried, redirects are not followed, proxies
//! of the environment are not used. Call it on a thread that may wait; in async code, within `spawn_blocking`.
//!
//! ```no_run
//! use os_screen_observer::client::{JobRequest, ScreenObserverClient};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), os_screen_observer::client::ClientError> {
//! let client = ScreenObserverClient::new("http://127.0.0.1:5001")?;
//! let request = JobRequest { planner: Some("scripted:demo".to_owned()), ..JobRequest::new("log in as alice") };
//! let job = client.create_job(&request)?;
//! let job = client.wait_for_job(&job.job_id, Duration::from_secs(60))?;
//! println!("{}: {:?}", job.status, job.result);
//! # Ok(())
//! # }
//! ```

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::clock::millis;
use crate::model_client::with_tls_for;
use crate::runtime;

/// How long a request may take, unless the client says otherwise.
const LONGEST_REQUEST: Duration = Duration::from_secs(120);
/// A longer answer is a mistake.
const LARGEST_ANSWER: usize = 256 << 20;
/// How long the server is asked to wait for a job at a time.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// As much of an answer that is no JSON is told.
const TOLD_CHARACTERS: usize = 200;

/// What the server refused, or that it could not be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ClientError {
    /// Nothing where there was no answer.
    pub status: Option<u16>,
    /// The server's word for the kind of error, such as `JobNotFound`.
    pub code: Option<String>,
    pub message: String,
}

impl ClientError {
    fn without_answer(message: impl Into<String>) -> Self {
        Self { status: None, code: None, message: message.into() }
    }
}

type ClientResult<T> = Result<T, ClientError>;

#[derive(Clone, Debug)]
pub struct ScreenObserverClient {
    base: Url,
    token: Option<String>,
    timeout: Duration,
    http: reqwest::Client,
}

/// How a server is.
#[derive(Clone, Debug, Deserialize)]
pub struct ServerHealth {
    pub version: String,
    /// The platform that it works.
    pub adapter: String,
    pub uptime_s: u64,
    /// The stop switch is on.
    pub halted: bool,
    /// What else it says.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A job to be made. What is not given is left to the server.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JobRequest {
    /// What is to be done, in words.
    pub job: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled_tools: Vec<String>,
    /// `max_steps`, `timeout_ms`, `max_usd` and the others of docs/jobs.md.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub limits: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// `mock`, `sandbox`, `desktop` or `browser`, where the server lets jobs choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desk: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_url: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
}

impl JobRequest {
    pub fn new(job: impl Into<String>) -> Self {
        Self { job: job.into(), ..Self::default() }
    }
}

/// A job as the server shows it.
#[derive(Clone, Debug, Deserialize)]
pub struct JobState {
    pub job_id: String,
    pub status: String,
    #[serde(default)]
    pub result: Option<Value>,
    #[serde(default)]
    pub error: Option<JobFailure>,
    #[serde(default)]
    pub steps: u64,
    /// Nothing where the price of the model is not known.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// What else it says; docs/jobs.md has the fields.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl JobState {
    /// Whether nothing more is done for it, as it stands.
    pub fn is_over(&self) -> bool {
        !matches!(self.status.as_str(), "queued" | "running" | "paused" | "input_required")
    }

    pub fn succeeded(&self) -> bool {
        self.status == "succeeded"
    }
}

/// Why a job did not succeed.
#[derive(Clone, Debug, Deserialize)]
pub struct JobFailure {
    pub code: String,
    pub message: String,
}

/// A web task to be run. What is not given is left to the server, or to the session.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebTaskRequest {
    /// What is to be done, in words.
    pub goal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// `act` or `read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// `kind` and `model`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub agent: Map<String, Value>,
    /// `maxSteps`, `timeoutMs` and `headless`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub limits: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
}

impl WebTaskRequest {
    pub fn new(goal: impl Into<String>, start_url: impl Into<String>) -> Self {
        Self { goal: goal.into(), start_url: Some(start_url.into()), ..Self::default() }
    }
}

/// A web task as the server shows it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebTaskState {
    pub task_id: String,
    pub status: String,
    #[serde(default)]
    pub result: Option<Value>,
    #[serde(default)]
    pub error: Option<JobFailure>,
    #[serde(default)]
    pub recipe: Option<String>,
    #[serde(default)]
    pub trace: Vec<Map<String, Value>>,
    /// What else it says; docs/web-tasks.md has the fields.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What happened to a job.
#[derive(Clone, Debug, Deserialize)]
pub struct JobEventPage {
    pub events: Vec<Map<String, Value>>,
    /// What the next page begins after.
    pub next: i64,
}

/// What may be wanted of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobCommand {
    Pause,
    Resume,
    Takeover,
    Release,
    Cancel,
}

impl JobCommand {
    const fn route(self) -> &'static str {
        match self {
            JobCommand::Pause => "pause",
            JobCommand::Resume => "resume",
            JobCommand::Takeover => "takeover",
            JobCommand::Release => "release",
            JobCommand::Cancel => "cancel",
        }
    }
}

impl ScreenObserverClient {
    /// `address` is where the server listens, such as `http://127.0.0.1:5001`.
    pub fn new(address: &str) -> ClientResult<Self> {
        let wrong =
            |problem: String| ClientError::without_answer(format!("the address {address:?}: {problem}"));
        let base = Url::parse(address).map_err(|problem| wrong(problem.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(wrong("it must begin with http:// or https://".to_owned()));
        }
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .retry(reqwest::retry::never())
            // Each request has a runtime of its own, with which its connection ends.
            .pool_max_idle_per_host(0);
        let builder = with_tls_for(base.scheme(), builder).map_err(wrong)?;
        let http = builder.build().map_err(|problem| wrong(problem.to_string()))?;
        Ok(Self { base, token: None, timeout: LONGEST_REQUEST, http })
    }

    /// What the server asks for in `Authorization`.
    pub fn with_token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    pub fn health(&self) -> ClientResult<ServerHealth> {
        self.get(&["api", "healthz"], &[])
    }

    /// Calls a tool; docs/tools.md has their arguments and replies.
    pub fn call_tool(&self, name: &str, arguments: Value) -> ClientResult<Value> {
        self.post(&["api", "tool", name], &arguments)
    }

    pub fn create_job(&self, request: &JobRequest) -> ClientResult<JobState> {
        self.post(&["api", "jobs"], request)
    }

    pub fn job(&self, job_id: &str) -> ClientResult<JobState> {
        self.get(&["api", "jobs", job_id], &[])
    }

    /// The job when it is over or waits for a person, or as it is when the time is.
    pub fn wait_for_job(&self, job_id: &str, at_most: Duration) -> ClientResult<JobState> {
        let mut left = at_most;
        loop {
            let wait = left.min(LONGEST_WAIT).min(self.timeout / 2);
            let job: JobState =
                self.get(&["api", "jobs", job_id], &[("wait_ms", &millis(wait).to_string())])?;
            left = left.saturating_sub(wait);
            if job.is_over() || job.status == "input_required" || left.is_zero() {
                return Ok(job);
            }
        }
    }

    /// The newest first.
    pub fn jobs(&self, status: Option<&str>, limit: u32) -> ClientResult<Vec<JobState>> {
        #[derive(Deserialize)]
        struct JobPage {
            jobs: Vec<JobState>,
        }
        let limit = limit.to_string();
        let query: Vec<(&str, &str)> =
            status.map(|status| ("status", status)).into_iter().chain([("limit", limit.as_str())]).collect();
        self.get::<JobPage>(&["api", "jobs"], &query).map(|page| page.jobs)
    }

    pub fn job_events(&self, job_id: &str, after: i64) -> ClientResult<JobEventPage> {
        self.get(&["api", "jobs", job_id, "events"], &[("after", &after.to_string())])
    }

    pub fn command_job(&self, job_id: &str, command: JobCommand) -> ClientResult<JobState> {
        self.post(&["api", "jobs", job_id, command.route()], &json!({}))
    }

    /// Runs a web task and waits for its end, as long as the server and the timeout of this client let it.
    pub fn run_task(&self, request: &WebTaskRequest) -> ClientResult<WebTaskState> {
        self.post(&["v1", "tasks", "run"], request)
    }

    pub fn task(&self, task_id: &str) -> ClientResult<WebTaskState> {
        self.get(&["v1", "tasks", task_id], &[])
    }

    /// `session` has the fields of docs/web-tasks.md.
    pub fn create_session(&self, session: &Value) -> ClientResult<Value> {
        self.post(&["v1", "sessions"], session)
    }

    pub fn session(&self, session_id: &str) -> ClientResult<Value> {
        self.get(&["v1", "sessions", session_id], &[])
    }

    /// Changes what is given; null takes a field away.
    pub fn update_session(&self, session_id: &str, change: &Value) -> ClientResult<Value> {
        self.send_body(Method::PATCH, &["v1", "sessions", session_id], change)
    }

    /// Allows or denies what a job asks.
    pub fn answer_job(&self, job_id: &str, question: &str, allow: bool) -> ClientResult<()> {
        let decision = if allow { "allow" } else { "deny" };
        let answer = json!({"id": question, "decision": decision});
        self.post::<Value>(&["api", "jobs", job_id, "answer"], &answer).map(drop)
    }

    fn get<T: DeserializeOwned>(&self, path: &[&str], query: &[(&str, &str)]) -> ClientResult<T> {
        let mut url = self.url_of(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.send(self.http.request(Method::GET, url))
    }

    fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> ClientResult<T> {
        self.send_body(Method::POST, path, body)
    }

    fn send_body<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: &impl Serialize,
    ) -> ClientResult<T> {
        let body = serde_json::to_string(body)
            .map_err(|problem| ClientError::without_answer(format!("this cannot be sent: {problem}")))?;
        let request = self.http.request(method, self.url_of(path)?);
        self.send(request.header("Content-Type", "application/json").body(body))
    }

    /// Each part of the path is escaped.
    fn url_of(&self, path: &[&str]) -> ClientResult<Url> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| ClientError::without_answer("the address has no path"))?
            .pop_if_empty()
            .extend(path);
        Ok(url)
    }

    /// One request and its whole answer, on a runtime of its own.
    fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> ClientResult<T> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|problem| ClientError::without_answer(problem.to_string()))?;
        let answer =
            runtime.block_on(async { tokio::time::timeout(self.timeout, read_answer(request)).await });
        runtime::end(runtime);
        let (status, text) = answer.unwrap_or_else(|_| {
            Err(ClientError::without_answer(format!(
                "{} did not answer within {:?}",
                self.base, self.timeout
            )))
        })?;
        if !(200..300).contains(&status) {
            return Err(refusal(status, &text));
        }
        serde_json::from_str(&text).map_err(|problem| ClientError {
            status: Some(status),
            code: None,
            message: format!("the answer is not what this client knows: {problem}"),
        })
    }
}

async fn read_answer(request: RequestBuilder) -> ClientResult<(u16, String)> {
    let failed = |problem: reqwest::Error| {
        let why = std::error::Error::source(&problem).map(|cause| format!(": {cause}")).unwrap_or_default();
        ClientError::without_answer(format!("{}{why}", problem.without_url()))
    };
    let mut response = request.send().await.map_err(failed)?;
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LARGEST_ANSWER {
            return Err(ClientError::without_answer(format!(
                "the answer has more than {LARGEST_ANSWER} bytes"
            )));
        }
    }
    Ok((response.status().as_u16(), String::from_utf8_lossy(&bytes).into_owned()))
}

fn refusal(status: u16, text: &str) -> ClientError {
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let word = |name: &str| said["error"][name].as_str().map(str::to_owned);
    let shown = || format!("{status}: {}", text.chars().take(TOLD_CHARACTERS).collect::<String>());
    ClientError { status: Some(status), code: word("code"), message: word("message").unwrap_or_else(shown) }
}
