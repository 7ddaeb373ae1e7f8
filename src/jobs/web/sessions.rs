//! Sessions: what several tasks have in common. A session is a guest, of whom nothing stays, or has a browser profile.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::request::AgentWish;
use crate::error::{Error, Kind, Result};
use crate::jobs::store::JobRecord;
use crate::jobs::store::web::{SessionBody, SessionRow};
use crate::jobs::view::shown_time;
use crate::text::shorten;

/// As many of its tasks a session tells.
pub const MOST_TASKS: usize = 20;
const GOAL_IN_HISTORY: usize = 120;
const LONGEST_NOTES: usize = 4096;
const LONGEST_NAME: usize = 200;

/// What a caller says of a session; what is not said stays as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionWish {
    pub name: Option<String>,
    pub mode: Option<SessionMode>,
    pub profile: Option<String>,
    pub start_url: Option<String>,
    pub agent: Option<Map<String, Value>>,
    pub notes: Option<String>,
    pub warmed: Option<bool>,
    /// What is taken away.
    pub clear: Vec<SessionField>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionMode {
    Guest,
    Profile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionField {
    Name,
    Profile,
    StartUrl,
    Agent,
    Notes,
}

pub fn no_such_session(id: &str) -> Error {
    let message = format!("there is no session '{}'", shorten(id, 64));
    Error::new(Kind::JobNotFound, message).with("field", "sessionId")
}

impl SessionWish {
    /// Writes the wish into a session. `check_profile` and `check_url` say whether the owner allows them.
    pub fn apply(&self, body: &mut SessionBody, rules: &dyn SessionRules, now: i64) -> Result<()> {
        self.clear_fields(body);
        keep(&mut body.name, self.name.as_deref(), "name", LONGEST_NAME)?;
        keep(&mut body.notes, self.notes.as_deref(), "notes", LONGEST_NOTES)?;
        if let Some(url) = &self.start_url {
            body.start_url = Some(rules.check_url(url)?);
        }
        if let Some(agent) = &self.agent {
            AgentWish::read(agent)?;
            body.agent = Some(agent.clone());
        }
        self.apply_profile(body, rules)?;
        self.apply_warmth(body, now)
    }

    fn clear_fields(&self, body: &mut SessionBody) {
        for field in &self.clear {
            match field {
                SessionField::Name => body.name = None,
                SessionField::Profile => (body.profile, body.warmed_at) = (None, None),
                SessionField::StartUrl => body.start_url = None,
                SessionField::Agent => body.agent = None,
                SessionField::Notes => body.notes = None,
            }
        }
    }

    fn apply_profile(&self, body: &mut SessionBody, rules: &dyn SessionRules) -> Result<()> {
        if let Some(profile) = &self.profile {
            rules.check_profile(profile)?;
            set_profile(body, profile);
        }
        let wrong = |message: &str| Err(Error::bad_request(message).with("field", "mode"));
        match (self.mode, &body.profile) {
            (Some(SessionMode::Profile), None) => wrong("mode is 'profile'; say which, with 'profile'"),
            (Some(SessionMode::Guest), Some(_)) if self.profile.is_some() => {
                wrong("a guest has no profile; leave 'profile' out, or make mode 'profile'")
            }
            (Some(SessionMode::Guest), _) => {
                (body.profile, body.warmed_at) = (None, None);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn apply_warmth(&self, body: &mut SessionBody, now: i64) -> Result<()> {
        match self.warmed {
            Some(true) if body.profile.is_none() => {
                let message = "nothing of a guest stays, so its session cannot be warmed; give it a profile";
                return Err(Error::bad_request(message).with("field", "warmed"));
            }
            Some(true) => body.warmed_at = Some(now),
            Some(false) => body.warmed_at = None,
            None => {}
        }
        Ok(())
    }
}

/// Another profile is as cold as a new one.
fn set_profile(body: &mut SessionBody, profile: &str) {
    if body.profile.as_deref() != Some(profile) {
        body.warmed_at = None;
    }
    body.profile = Some(profile.to_owned());
}

/// What the owner of a server lets sessions have.
pub trait SessionRules {
    fn check_profile(&self, profile: &str) -> Result<()>;
    /// The address in its one spelling.
    fn check_url(&self, url: &str) -> Result<String>;
}

fn keep(field: &mut Option<String>, said: Option<&str>, name: &'static str, most: usize) -> Result<()> {
    let Some(said) = said else { return Ok(()) };
    if said.len() > most {
        let message = format!("{name} has {} bytes, the limit is {most}", said.len());
        return Err(Error::bad_request(message).with("field", name));
    }
    *field = Some(said.to_owned());
    Ok(())
}

pub fn session_json(row: &SessionRow, tasks: &[JobRecord]) -> Value {
    let SessionBody { name, profile, start_url, agent, notes, warmed_at } = &row.body;
    json!({
        "sessionId": row.id, "name": name, "mode": if profile.is_some() { "profile" } else { "guest" },
        "profile": profile, "startUrl": start_url, "agent": agent, "notes": notes,
        "warmed": warmed_at.is_some(), "warmedAt": warmed_at.map(shown_time),
        "createdAt": shown_time(row.created_at), "updatedAt": shown_time(row.updated_at),
        "tasks": tasks.iter().map(task_line).collect::<Vec<_>>(),
    })
}

/// A task in a word or two.
fn task_line(job: &JobRecord) -> Value {
    json!({
        "taskId": job.id, "goal": shorten(&job.spec.job, GOAL_IN_HISTORY), "status": job.status.name(),
        "startUrl": job.spec.start_url, "error": job.error.as_ref().map(|error| &error.code),
        "createdAt": shown_time(job.created_at), "finishedAt": job.finished_at.map(shown_time),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OnlyWork;

    impl SessionRules for OnlyWork {
        fn check_profile(&self, profile: &str) -> Result<()> {
            if profile == "work" { Ok(()) } else { Err(Error::new(Kind::PermissionDenied, "jobs.profiles")) }
        }

        fn check_url(&self, url: &str) -> Result<String> {
            if url.starts_with("https://") { Ok(url.to_owned()) } else { Err(Error::bad_request("startUrl")) }
        }
    }

    fn check(before: Value, wish: Value, expected: Result<Value, &str>) {
        let mut body: SessionBody = serde_json::from_value(before).unwrap();
        let read: SessionWish = serde_json::from_value(wish.clone()).unwrap();
        let got = read.apply(&mut body, &OnlyWork, 7).map_err(|error| error.message);
        match (got, expected) {
            (Ok(()), Ok(expected)) => assert_eq!(json!(body), expected, "{wish}"),
            (Err(said), Err(word)) => assert!(said.contains(word), "{wish}: {said}"),
            (got, _) => panic!("{wish}: {got:?}"),
        }
    }

    #[test]
    fn what_is_said_is_kept_and_the_rest_stays() {
        check(json!({"name": "a"}), json!({"notes": "n"}), Ok(json!({"name": "a", "notes": "n"})));
        check(json!({"name": "a"}), json!({"clear": ["name"]}), Ok(json!({})));
        check(json!({}), json!({"profile": "work"}), Ok(json!({"profile": "work"})));
        check(json!({"profile": "work"}), json!({"mode": "guest"}), Ok(json!({})));
        check(json!({}), json!({"agent": {"kind": "mock"}}), Ok(json!({"agent": {"kind": "mock"}})));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        check(json!({}), json!({"profile": "bank"}), Err("jobs.profiles"));
        check(json!({}), json!({"mode": "profile"}), Err("say which"));
        check(json!({}), json!({"mode": "guest", "profile": "work"}), Err("guest has no profile"));
        check(json!({}), json!({"startUrl": "file:///"}), Err("startUrl"));
        check(json!({}), json!({"agent": {"kind": "moon"}}), Err("moon"));
        check(json!({}), json!({"notes": "n".repeat(5000)}), Err("notes has 5000 bytes"));
    }

    #[test]
    fn a_profile_is_warm_until_it_is_another() {
        let cold = json!({"profile": "work"});
        let warm = json!({"profile": "work", "warmed_at": 7});
        check(cold.clone(), json!({"warmed": true}), Ok(warm.clone()));
        check(warm.clone(), json!({"warmed": false}), Ok(cold));
        check(warm.clone(), json!({"profile": "work"}), Ok(warm));
        check(
            json!({"profile": "old", "warmed_at": 3}),
            json!({"profile": "work"}),
            Ok(json!({"profile": "work"})),
        );
        check(json!({}), json!({"warmed": true}), Err("guest"));
    }
}
