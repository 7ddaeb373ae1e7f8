//! What web tasks keep in the store beside their jobs: sessions, and how far webhooks are.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::JobRecord;
use crate::error::Result;

/// What the tasks of a session begin with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The browser profile of its tasks; none is a guest, of whom nothing stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// When somebody said that its profile is logged in and ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmed_at: Option<i64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    pub id: String,
    pub body: SessionBody,
    /// Milliseconds since 1970.
    pub created_at: i64,
    pub updated_at: i64,
}

/// A job that is over, and where that is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueWebhook {
    pub job_id: String,
    pub url: String,
    /// How often it was tried before.
    pub attempts: i64,
}

/// How far the webhook of a job is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WebhookState {
    pub state: String,
    pub attempts: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookOutcome {
    Delivered,
    /// It is tried again from this time on.
    Again {
        next_at: i64,
        problem: String,
    },
    /// It is not tried again.
    GivenUp(String),
}

pub trait WebStore: Send + Sync {
    fn add_session(&self, id: &str, body: &SessionBody, now: i64) -> Result<SessionRow>;

    fn read_session(&self, id: &str) -> Result<Option<SessionRow>>;

    /// The newest first.
    fn list_sessions(&self, limit: usize) -> Result<Vec<SessionRow>>;

    /// Changes a session while no other process does. Nothing where there is no such session.
    fn change_session(
        &self,
        id: &str,
        change: &dyn Fn(&mut SessionBody) -> Result<()>,
        now: i64,
    ) -> Result<Option<SessionRow>>;

    /// The jobs of a session, the newest first.
    fn session_jobs(&self, id: &str, limit: usize) -> Result<Vec<JobRecord>>;

    /// The next webhook that is due; until `held_until` nobody else gets it.
    fn take_webhook(&self, now: i64, held_until: i64) -> Result<Option<DueWebhook>>;

    fn settle_webhook(&self, job_id: &str, outcome: &WebhookOutcome) -> Result<()>;

    fn webhook_state(&self, job_id: &str) -> Result<Option<WebhookState>>;
}
