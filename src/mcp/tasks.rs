//! Jobs as tasks, for clients that declare the extension. The store is the truth: a task is there before it is answered
//! and after a restart. A job that failed is a task that was completed with an error; `failed` is for the protocol.
//! <https://modelcontextprotocol.io/specification/2026-07-28/extensions/tasks>

use rmcp::model::{
    CallToolResponse, CreateTaskResult, DetailedTask, ElicitRequest, ElicitResult, ExtensionCapabilities,
    InputRequest, InputRequests, InputResponses, JsonObject, TASKS_EXTENSION_ID, Task, TaskPayload,
    TaskStatus,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value};

use super::{McpServer, ask, present};
use crate::clock::lock;
use crate::config::ConfirmationMode;
use crate::error::Kind;
use crate::gate::confirm::Person;
use crate::gate::{Call, JOB_ID, Origin, Reply};
use crate::tool::Group;

/// How often a client should ask.
const POLL_MS: u64 = 1_000;
const MAKES_A_JOB: &str = "run_job";
const ENDS_A_JOB: &str = "finish_job";

impl McpServer {
    /// What is offered where jobs are run.
    pub(super) fn tasks_extension(
        &self,
        extensions: Option<ExtensionCapabilities>,
    ) -> Option<ExtensionCapabilities> {
        if self.app.jobs.is_none() {
            return extensions;
        }
        let mut extensions = extensions.unwrap_or_default();
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        Some(extensions)
    }

    /// The job that a call has made, as a task, for a client that knows what to do with it.
    pub(super) fn task_of(
        &self,
        tool: &str,
        reply: &Reply,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResponse> {
        let knows_tasks = context.client_capabilities().is_some_and(|known| known.supports_tasks());
        if tool != MAKES_A_JOB || !knows_tasks || !reply.ok() {
            return None;
        }
        let job = reply.value();
        // Who plans the job itself does not wait for it.
        if is_planned_by_client(&job) {
            return None;
        }
        let task = read_task(&job, TaskStatus::Working)?;
        Some(CreateTaskResult::new(task).into())
    }

    /// Remembers the job that the client of this connection plans from now on.
    pub(super) fn note_planned_job(&self, tool: &str, reply: &Reply) {
        let Some(planned) = self.planned.as_ref().filter(|_| reply.ok()) else {
            return;
        };
        match tool {
            MAKES_A_JOB => {
                let job = reply.value();
                if is_planned_by_client(&job) {
                    *lock(planned) = job["job_id"].as_str().map(str::to_owned);
                }
            }
            // Who ends it knows that it is over.
            ENDS_A_JOB => *lock(planned) = None,
            _ => {}
        }
    }

    /// What the client is told with its first call after the job that it planned: limits and record hold no more.
    pub(super) fn planned_job_is_over(&self, call: &Call) -> Option<String> {
        if self.is_about_jobs(call) {
            return None;
        }
        let current = self.app.jobs.as_ref().and_then(|jobs| jobs.hosted.current_id());
        let mut planned = lock(self.planned.as_ref()?);
        let ended = planned.take_if(|job_id| current.as_ref() != Some(job_id))?;
        Some(format!(
            "{ended} is over, so this call is no step of it: neither its limits nor its record hold any more; job_status \
             says how it ended"
        ))
    }

    fn is_about_jobs(&self, call: &Call) -> bool {
        self.app.tools.find_tool(&call.tool).is_some_and(|entry| entry.spec.meta.group == Group::Jobs)
    }

    /// A call of a client that plans a job is a step of that job, until the job is over.
    pub(super) fn in_planned_job(&self, mut call: Call) -> Call {
        let current = self.app.jobs.as_ref().and_then(|jobs| jobs.hosted.current_id());
        let planned = self.planned.as_ref().and_then(|planned| lock(planned).clone());
        let of_jobs = self.is_about_jobs(&call);
        if let (Some(job_id), Some(args)) = (
            planned.filter(|_| !of_jobs).filter(|job_id| current.as_ref() == Some(job_id)),
            call.args.as_object_mut(),
        ) {
            args.entry(JOB_ID).or_insert(job_id.into());
        }
        call
    }

    pub(super) async fn show_task(
        &self,
        task_id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<DetailedTask, ErrorData> {
        let reply = self.ask_jobs("job_status", &[("job_id", task_id)], context).await?;
        let job = reply.value();
        let lost = || ErrorData::internal_error("the job cannot be shown", None);
        let payload = self.payload_of(&job, reply).ok_or_else(lost)?;
        let task = read_task(&job, payload.status()).ok_or_else(lost)?;
        Ok(DetailedTask::new(task, payload))
    }

    /// Answers that belong to no open question are ignored.
    pub(super) async fn answer_task(
        &self,
        task_id: &str,
        answers: InputResponses,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let job = self.ask_jobs("job_status", &[("job_id", task_id)], context).await?.value();
        let open = open_questions(&job);
        for (question, answer) in answers {
            let asked = open.iter().any(|(id, _)| *id == question) && self.asks_over_mcp();
            let answer =
                serde_json::from_value::<ElicitResult>(answer).ok().and_then(|said| ask::read_answer(&said));
            if let (true, Some(allowed), Some(jobs)) = (asked, answer, &self.app.jobs) {
                let answered = jobs.answer_question(&question, allowed);
                answered.map_err(|problem| ErrorData::internal_error(problem.message, None))?;
            }
        }
        Ok(())
    }

    /// A job that is over stays as it is.
    pub(super) async fn cancel_job(
        &self,
        task_id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let arguments = [("job_id", task_id), ("action", "cancel")];
        self.ask_jobs("job_control", &arguments, context).await.map(drop)
    }

    /// Where the person decides in the inspector, a client's word counts for nothing.
    fn asks_over_mcp(&self) -> bool {
        self.app.config.confirmation.mode != ConfirmationMode::Inspector
    }

    async fn ask_jobs(
        &self,
        tool: &str,
        arguments: &[(&str, &str)],
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, ErrorData> {
        let args: Map<String, Value> =
            arguments.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        let call = Call { tool: tool.to_owned(), args: Value::Object(args), origin: Origin::Mcp };
        let reply = self.run(call, Person::Unreachable, context).await?;
        match reply.error {
            None | Some(Kind::JobConflict) => Ok(reply),
            Some(Kind::JobNotFound) => Err(ErrorData::invalid_params("there is no such task", None)),
            Some(kind) => Err(ErrorData::internal_error(kind.code(), None)),
        }
    }

    fn payload_of(&self, job: &Value, reply: Reply) -> Option<TaskPayload> {
        Some(match job["status"].as_str()? {
            "queued" | "running" | "paused" => TaskPayload::Working,
            "input_required" if self.asks_over_mcp() => {
                TaskPayload::InputRequired { input_requests: input_requests(job) }
            }
            "input_required" => TaskPayload::Working,
            "cancelled" => TaskPayload::Cancelled,
            status => {
                let mut result = present::call_result(reply);
                result.is_error = Some(status != "succeeded");
                let result = serde_json::to_value(result).ok()?;
                TaskPayload::Completed { result: result.as_object()?.clone() }
            }
        })
    }
}

fn is_planned_by_client(job: &Value) -> bool {
    job.get("rules").is_some()
}

fn read_task(job: &Value, status: TaskStatus) -> Option<Task> {
    let word = |name: &str| job[name].as_str().unwrap_or_default().to_owned();
    let newest =
        ["finished_at", "started_at", "created_at"].map(word).into_iter().find(|at| !at.is_empty())?;
    let task = Task::new(job["job_id"].as_str()?, status, word("created_at"), newest);
    Some(task.with_status_message(word("status")).with_poll_interval_ms(POLL_MS))
}

/// The ids and the words of what a job asks.
fn open_questions(job: &Value) -> Vec<(String, String)> {
    let open = job["approvals"].as_array().into_iter().flatten();
    let word = |question: &Value, name: &str| question[name].as_str().unwrap_or_default().to_owned();
    open.map(|question| (word(question, "id"), word(question, "question"))).collect()
}

fn input_requests(job: &Value) -> InputRequests {
    let asked = |(id, text): (String, String)| {
        let form = ask::yes_or_no_form(text, "Allow it once")?;
        Some((id, InputRequest::Elicitation(ElicitRequest::new(form))))
    };
    open_questions(job).into_iter().filter_map(asked).collect()
}
