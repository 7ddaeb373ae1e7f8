//! Web tasks: a page and a goal in, a result that fits a schema out. A task is a job on a browser of its own; the names are
//! those of web-task-api.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::config::limits;
use crate::error::{Error, Result};
use crate::tool::args::{Int, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Switch, Tool};

/// What all tools of this file have in common. What a task found comes from a page.
const WEB_TASKS: Meta = Meta {
    group: Group::Jobs,
    traced: false,
    untrusted: true,
    web: true,
    switch: Some(|config| Switch { enabled: config.jobs.enabled, key: "jobs.enabled" }),
    ..Meta::DEFAULT
};

const EXAMPLE: &str = r#"{"goal":"Find the lamp and tell its price","startUrl":"https://shop.example/","input":{"query":"lamp"},"outputSchema":{"type":"object","properties":{"price":{"type":"number"}},"required":["price"]},"agent":{"kind":"mock"},"async":true}"#;
const MADE: &[(&str, &str)] = &[("run_web_task", EXAMPLE)];

/// Beyond its own time, what a task may take: the start of its browser, and the queue before it.
const AROUND: Duration = Duration::from_secs(20);

/// A task, or a session, with the names of web-task-api.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownTask {
    #[serde(rename = "taskId")]
    task_id: String,
    status: String,
    /// result, trace, recipe, artifactDir, timings, error, and what else is known of it.
    #[serde(flatten)]
    facts: Map<String, Value>,
}

impl Output for ShownTask {}

impl ShownTask {
    fn of(shown: Value) -> Self {
        let mut facts = shown.as_object().cloned().unwrap_or_default();
        let mut word = |name: &str| {
            let value = facts.shift_remove(name);
            value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (task_id, status) = (word("taskId"), word("status"));
        Self { task_id, status, facts }
    }
}

pub struct RunWebTask;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct RunWebTaskArgs {
    #[serde(flatten)]
    task: TaskArgs,
    /// Answer at once; get_web_task tells how it goes.
    #[serde(rename = "async")]
    at_once: Option<bool>,
    /// Wait at most so long for its end.
    #[serde(rename = "waitMs")]
    wait_ms: Option<Int<0, 300_000>>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskArgs {
    /// What is to be done, in words.
    goal: Text<16384>,
    /// The page to begin with; default: that of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_url: Option<Text<2048>>,
    /// From save_session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<Text<64>>,
    /// Browser profile with logins, where jobs.profiles allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Text<64>>,
    /// read: nothing is pressed or typed. Default act.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<TaskModeName>,
    /// What the goal is about, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Map<String, Value>>,
    /// JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Map<String, Value>>,
    /// Who plans; default auto.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentArgs>,
    /// maxSteps, timeoutMs, headless.
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<TaskLimitArgs>,
    /// Address that is told the end, where jobs.webhook_hosts allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<Text<2048>>,
    /// A recipe by its id; default: the one for the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<Text<64>>,
    /// A second task with the same key is the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<Text<256>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TaskModeName {
    Act,
    Read,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct AgentArgs {
    /// auto, mock, cliproxy, chat, responses, anthropic, opencode, cli or scripted:FILE.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Text<512>>,
    /// Instead of planner.model.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Text<256>>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TaskLimitArgs {
    /// Turns of the planner; default 40.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_steps: Option<Int<1, 100_000>>,
    /// Milliseconds of work; default 120000.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<Int<1, 604_800_000>>,
    /// False: a browser with a window. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    headless: Option<bool>,
}

/// Arguments as JSON, without what was not given.
fn written(args: &impl Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(args) {
        Ok(Value::Object(fields)) => Ok(fields),
        _ => Err(Error::internal("the arguments cannot be written as JSON")),
    }
}

impl Tool for RunWebTask {
    type Args = RunWebTaskArgs;
    type Out = ShownTask;
    const META: Meta = Meta {
        name: "run_web_task",
        effect: Effect::Session,
        strict: true,
        rest: &[(Method::Post, "/v1/tasks/run")],
        waits: true,
        brief: "Run a web task: a start page and a goal in, JSON that fits a schema out.",
        detail: "The task is a job on a browser of its own, within its limits. Waits for its end, up to five minutes, unless \
                 `async` is set. An address that may not be opened, a profile and a webhook that the owner does not list are \
                 refused before a browser starts. A result that does not fit `outputSchema` is a failure. docs/web-tasks.md \
                 has all fields.",
        examples: &[Example { scenario: None, args: EXAMPLE, shows: "a task in the queue" }],
        ..WEB_TASKS
    };

    fn run(cx: &mut Cx, args: RunWebTaskArgs, _: Permit) -> Result<ShownTask> {
        let submitted = cx.jobs()?.submit_task(written(&args.task)?)?;
        let whole = (submitted.timeout + AROUND).min(limits::WEB_TASK_WAIT);
        let wait = match (args.at_once, args.wait_ms) {
            (Some(true), _) => Duration::ZERO,
            (_, Some(wait)) => Duration::from_millis(u64::try_from(wait.get()).unwrap_or_default()),
            _ => whole,
        };
        cx.jobs()?.wait_for_task(&submitted.task_id, wait, cx.cancel).map(ShownTask::of)
    }
}

pub struct GetWebTask;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetWebTaskArgs {
    /// From run_web_task; `last` for the newest.
    task_id: Text<128>,
    /// Wait so long for its end.
    wait_ms: Option<Int<0, 60_000>>,
}

impl Tool for GetWebTask {
    type Args = GetWebTaskArgs;
    type Out = ShownTask;
    const META: Meta = Meta {
        name: "get_web_task",
        rest: &[(Method::Get, "/v1/tasks/{taskId}")],
        waits: true,
        brief: "How a web task goes: status, result, steps, timings, error.",
        detail: "`trace` tells each call; `artifactDir` is the folder of its recording.",
        examples: &[Example {
            scenario: None,
            args: r#"{"taskId":"last"}"#,
            shows: "the newest task, which waits",
        }],
        before_examples: MADE,
        ..WEB_TASKS
    };

    fn run(cx: &mut Cx, args: GetWebTaskArgs, _: Permit) -> Result<ShownTask> {
        let wait = args.wait_ms.map_or(0, |wait| u64::try_from(wait.get()).unwrap_or_default());
        let wait = Duration::from_millis(wait);
        cx.jobs()?.wait_for_task(args.task_id.as_str(), wait, cx.cancel).map(ShownTask::of)
    }
}

/// A session, or all of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownSessions {
    #[serde(flatten)]
    facts: Map<String, Value>,
}

impl Output for ShownSessions {}

impl ShownSessions {
    fn of(shown: Value) -> Self {
        Self { facts: shown.as_object().cloned().unwrap_or_default() }
    }
}

pub struct Sessions;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionsArgs {
    /// Only this one.
    session_id: Option<Text<64>>,
}

impl Tool for Sessions {
    type Args = SessionsArgs;
    type Out = ShownSessions;
    const META: Meta = Meta {
        name: "sessions",
        rest: &[(Method::Get, "/v1/sessions"), (Method::Get, "/v1/sessions/{sessionId}")],
        brief: "The sessions of web tasks, or one of them: its defaults, notes and latest tasks.",
        detail: "A session gives its tasks a start page, a profile, an agent and notes. `tasks` are its latest twenty.",
        examples: &[Example { scenario: None, args: "{}", shows: "no sessions yet" }],
        ..WEB_TASKS
    };

    fn run(cx: &mut Cx, args: SessionsArgs, _: Permit) -> Result<ShownSessions> {
        if let Some(id) = &args.session_id {
            return cx.jobs()?.show_session(id.as_str()).map(ShownSessions::of);
        }
        let sessions = cx.jobs()?.list_sessions()?;
        Ok(ShownSessions::of(serde_json::json!({"count": sessions.len(), "sessions": sessions})))
    }
}

pub struct ListRecipes;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListRecipesArgs {}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedRecipes {
    recipes: Vec<Map<String, Value>>,
    count: usize,
    /// Files that cannot be used, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    problems: Vec<String>,
}

impl Output for ListedRecipes {}

impl Tool for ListRecipes {
    type Args = ListRecipesArgs;
    type Out = ListedRecipes;
    const META: Meta = Meta {
        name: "list_recipes",
        rest: &[(Method::Get, "/v1/recipes")],
        brief: "What is known of sites: recipes, and which of them run without a model.",
        detail: "A task uses the recipe that it names, or the one whose `urlPatterns` fit its page. docs/recipes.md \
                 describes them.",
        examples: &[Example { scenario: None, args: "{}", shows: "those that come with the program" }],
        ..WEB_TASKS
    };

    fn run(cx: &mut Cx, _: ListRecipesArgs, _: Permit) -> Result<ListedRecipes> {
        let (listed, problems) = cx.jobs()?.list_recipes()?;
        let recipes: Vec<Map<String, Value>> =
            listed.iter().filter_map(|recipe| recipe.as_object().cloned()).collect();
        Ok(ListedRecipes { count: recipes.len(), recipes, problems })
    }
}

pub struct SaveSession;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct SaveSessionArgs {
    /// The session to change; without it a new one is made.
    #[serde(rename = "sessionId")]
    session_id: Option<Text<64>>,
    #[serde(flatten)]
    wish: SessionArgs,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionArgs {
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Text<200>>,
    /// guest: nothing stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<SessionModeName>,
    /// Browser profile, where jobs.profiles allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Text<64>>,
    /// Default of its tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_url: Option<Text<2048>>,
    /// Default of its tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<AgentArgs>,
    /// Told to the planner of each task, as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Text<4096>>,
    /// A person has logged in with its profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    warmed: Option<bool>,
    /// What is taken away.
    #[serde(skip_serializing_if = "Option::is_none")]
    clear: Option<Vec<SessionFieldName>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SessionModeName {
    Guest,
    Profile,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum SessionFieldName {
    Name,
    Profile,
    StartUrl,
    Agent,
    Notes,
}

impl Tool for SaveSession {
    type Args = SaveSessionArgs;
    type Out = ShownSessions;
    const META: Meta = Meta {
        name: "save_session",
        effect: Effect::Session,
        strict: true,
        rest: &[(Method::Post, "/v1/sessions"), (Method::Patch, "/v1/sessions/{sessionId}")],
        brief: "Make a session for web tasks, or change one.",
        detail: "What is not given stays as it is. `warmed` says that a person has logged in with the profile (`profile \
                 login`); another profile is not warmed any more. Over REST, null takes a field away.",
        examples: &[Example {
            scenario: None,
            args: r#"{"name":"shop","startUrl":"https://shop.example/","agent":{"kind":"mock"}}"#,
            shows: "a session with its id",
        }],
        ..WEB_TASKS
    };

    fn run(cx: &mut Cx, args: SaveSessionArgs, _: Permit) -> Result<ShownSessions> {
        let wish = written(&args.wish)?;
        let saved = match &args.session_id {
            Some(id) => cx.jobs()?.change_session(id.as_str(), wish),
            None => cx.jobs()?.create_session(wish),
        };
        saved.map(ShownSessions::of)
    }
}

pub const TOOLS: &[Spec] = &[
    Spec::of::<RunWebTask>(),
    Spec::of::<GetWebTask>(),
    Spec::of::<ListRecipes>(),
    Spec::of::<Sessions>(),
    Spec::of::<SaveSession>(),
];
