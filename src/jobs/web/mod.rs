//! Web tasks: a page and a goal in, a result that fits a schema out. A task is a job on a browser of its own, so everything
//! that holds for jobs holds for tasks: the gate judges each call, an input is in the store before it is sent, and a scope
//! only narrows. Here are the bodies of web-task-api, the sessions that tasks share, and the webhooks that tell their end.

mod answer;
mod places;
mod recipes;
pub mod request;
pub mod sessions;
pub mod webhooks;

use std::time::Duration;

use serde_json::{Map, Value};

use self::places::check_start_url;
use self::request::TaskRequest;
use self::sessions::{MOST_TASKS, SessionRules, SessionWish, no_such_session, session_json};
use super::service::{JobService, MOST_EVENTS, MOST_LISTED};
use super::store::JobRecord;
use super::store::sqlite::no_such_job;
use super::store::web::{SessionBody, SessionRow};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::random::random_uuid;
use crate::recipes::{Recipe, RecipeLibrary};
use crate::tool::job_board::{JobBoard, SubmittedTask, WebTaskBoard};

/// What a caller says for the newest task.
const LAST: &str = "last";

impl JobService {
    fn read_task(&self, task_id: &str) -> Result<JobRecord> {
        let is_task = |job: &JobRecord| job.spec.web.is_some();
        // Another job is no task, and the answer does not tell that there is one.
        let found = match task_id {
            LAST => self.store.list(None, MOST_LISTED)?.into_iter().find(is_task),
            _ => self.store.read(task_id)?.filter(is_task),
        };
        found.ok_or_else(|| no_such_job(task_id))
    }

    fn read_session(&self, id: &str) -> Result<SessionRow> {
        self.web_store.read_session(id)?.ok_or_else(|| no_such_session(id))
    }

    fn session_view(&self, row: &SessionRow) -> Result<Value> {
        Ok(session_json(row, &self.web_store.session_jobs(&row.id, MOST_TASKS)?))
    }

    fn library(&self) -> RecipeLibrary {
        RecipeLibrary::open(self.planner.recipes_dir.as_deref())
    }

    /// The recipe of a task, with the names that it has for inputs.
    fn take_recipe(&self, request: &mut TaskRequest, session: Option<&SessionRow>) -> Result<Option<Recipe>> {
        let Some(recipe) = recipes::find_recipe(&self.library(), request)? else { return Ok(None) };
        recipes::check_session(&recipe, request, session, self.browser.user_data_dir.is_some())?;
        request.input = recipe.canonical_input(&request.input)?;
        Ok(Some(recipe))
    }

    /// What the request and its session come to, within what the owner allows.
    fn complete_request(&self, request: &mut TaskRequest) -> Result<Option<SessionRow>> {
        let session = request.session_id.as_deref().map(|id| self.read_session(id)).transpose()?;
        if let Some(session) = &session {
            request.merge_session(session);
        }
        let Some(url) = &request.start_url else {
            let message =
                "'startUrl' is missing: give the page that the task begins with, or a session that has one";
            return Err(Error::bad_request(message).with("field", "startUrl"));
        };
        request.start_url = Some(self.check_url(url)?);
        request.profile.as_deref().map_or(Ok(()), |profile| self.check_profile(profile))?;
        request.check()?;
        if let Some(url) = &request.webhook {
            webhooks::check_webhook(url, &self.config)?;
        }
        Ok(session)
    }
}

impl SessionRules for JobService {
    fn check_profile(&self, profile: &str) -> Result<()> {
        if self.config.profiles.iter().any(|allowed| allowed == profile) {
            return Ok(());
        }
        let message =
            format!("a task may not use the profile '{profile}' here; the owner can add it to jobs.profiles");
        Err(Error::new(Kind::PermissionDenied, message).with("field", "profile"))
    }

    fn check_url(&self, url: &str) -> Result<String> {
        check_start_url(url, &self.browser, "startUrl")
    }
}

impl WebTaskBoard for JobService {
    fn submit_task(&self, request: Map<String, Value>) -> Result<SubmittedTask> {
        let mut request = TaskRequest::read(request)?;
        let session = self.complete_request(&mut request)?;
        let recipe = self.take_recipe(&mut request, session.as_ref())?;
        let notes = session.and_then(|session| session.body.notes);
        let spec = request.into_spec(notes, recipe, &self.tools)?;
        let timeout = spec.limits.timeout();
        Ok(SubmittedTask { task_id: self.submit_spec(spec)?, timeout })
    }

    fn show_task(&self, task_id: &str) -> Result<Value> {
        let job = self.read_task(task_id)?;
        let events = self.store.events(&job.id, 0, MOST_EVENTS)?;
        Ok(answer::task_json(&job, &events, self.web_store.webhook_state(&job.id)?.as_ref()))
    }

    fn wait_for_task(&self, task_id: &str, at_most: Duration, cancel: &Cancel) -> Result<Value> {
        let job = self.read_task(task_id)?;
        self.wait_for_job(&job.id, at_most, cancel)?;
        self.show_task(&job.id)
    }

    fn list_recipes(&self) -> Result<(Vec<Value>, Vec<String>)> {
        let library = self.library();
        let listed = library.recipes.iter().chain(&library.candidates).map(recipes::recipe_json).collect();
        Ok((listed, library.problems))
    }

    fn list_sessions(&self) -> Result<Vec<Value>> {
        self.web_store.list_sessions(MOST_LISTED)?.iter().map(|row| self.session_view(row)).collect()
    }

    fn show_session(&self, session_id: &str) -> Result<Value> {
        self.session_view(&self.read_session(session_id)?)
    }

    fn create_session(&self, wish: Map<String, Value>) -> Result<Value> {
        let mut body = SessionBody::default();
        read_wish(wish)?.apply(&mut body, self, self.now())?;
        let row = self.web_store.add_session(&random_uuid(), &body, self.now())?;
        self.session_view(&row)
    }

    fn change_session(&self, session_id: &str, wish: Map<String, Value>) -> Result<Value> {
        let wish = read_wish(wish)?;
        let change = |body: &mut SessionBody| wish.apply(body, self, self.now());
        let row = self.web_store.change_session(session_id, &change, self.now())?;
        self.session_view(&row.ok_or_else(|| no_such_session(session_id))?)
    }
}

fn read_wish(wish: Map<String, Value>) -> Result<SessionWish> {
    serde_json::from_value(Value::Object(wish))
        .map_err(|problem| Error::bad_request(format!("the session cannot be read: {problem}")))
}
