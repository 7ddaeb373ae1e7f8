//! The first planner that can be used, found out before the job begins: its server answers, has the model, and the
//! model calls a tool.

use serde_json::json;

use super::model::{ModelPlanner, wanted_models};
use super::opencode::{self, OpencodeVoice};
use super::talk::Talk;
use super::voice::{ModelLine, Voice, VoiceFailure, WireKind};
use super::wire::{OfferedTool, PlannerRequest};
use super::{OpenedPlanner, PlannerContext, agent_cli};
use crate::jobs::dialect::Dialect;
use crate::jobs::money::JobPrices;
use crate::jobs::store::Usage;
use crate::text::shorten;

const PROBE_TOOL: &str = "ready";
const PROBE_TOKENS: u32 = 500;
const MOST_LISTED: usize = 200;

pub fn open(context: PlannerContext, dialect: Dialect) -> Result<OpenedPlanner, String> {
    let mut problems = Vec::new();
    let mut spent = Usage::default();
    for (name, wire) in wires(context) {
        match open_wire(context, dialect, wire, &mut spent) {
            Ok(planner) => return Ok(OpenedPlanner { spent, ..OpenedPlanner::for_model(planner) }),
            Err(problem) => problems.push(format!("{name}: {problem}")),
        }
    }
    match open_opencode(context, dialect) {
        Ok(planner) => return Ok(OpenedPlanner { spent, ..OpenedPlanner::for_model(planner) }),
        Err(problem) => problems.push(format!("opencode: {problem}")),
    }
    match agent_cli::AgentCli::open(context) {
        Ok(planner) => return Ok(OpenedPlanner { spent, ..OpenedPlanner::for_model(planner) }),
        Err(problem) => problems.push(format!("cli: {problem}")),
    }
    Err(format!("no planner can be used; {}", problems.join("; ")))
}

/// Anthropic's wire comes first for its models, where there is a key for it.
fn wires(context: PlannerContext) -> Vec<(&'static str, WireKind)> {
    let model = context.spec.model.as_deref().or(context.config.model.as_deref()).unwrap_or_default();
    let is_anthropics = model.starts_with("claude") && context.config.anthropic_api_key.is_some();
    let first = is_anthropics.then_some(("anthropic", WireKind::Anthropic));
    first.into_iter().chain([("chat", WireKind::Chat)]).collect()
}

fn open_wire(
    context: PlannerContext,
    dialect: Dialect,
    wire: WireKind,
    spent: &mut Usage,
) -> Result<ModelPlanner, String> {
    let models = wanted_models(context)?;
    let mut line = ModelLine::open(wire, context.config)?;
    let model = models.first().map(String::as_str).unwrap_or_default();
    check_listed(&line.list_models(context.asker.cancel)?, model)?;
    check_affordable(context, &models)?;
    let probed = check_tool_call(&mut line, model, context, spent);
    spent.add(line.take_lost_usage());
    probed?;
    ModelPlanner::open(context, Box::new(line), dialect)
}

/// Ollama lists `name:latest` for what is called `name`.
fn check_listed(listed: &[String], model: &str) -> Result<(), String> {
    let is_model = |name: &String| name == model || name.strip_suffix(":latest") == Some(model);
    if listed.iter().any(is_model) {
        return Ok(());
    }
    Err(format!("its server has no model '{model}'; it has {}", shorten(&listed.join(", "), MOST_LISTED)))
}

/// The question costs, too.
fn check_affordable(context: PlannerContext, models: &[String]) -> Result<(), String> {
    let Some(most) = context.spec.limits.max_cost() else { return Ok(()) };
    let usage = Usage { input: PROBE_TOKENS.into(), output: PROBE_TOKENS.into(), ..Usage::default() };
    match JobPrices::load(context.config)?.highest_cost(models, usage) {
        Some(cost) if cost <= most => Ok(()),
        Some(_) => Err("limits.max_usd is too low to ask anything".to_owned()),
        None => Err(format!(
            "the price of '{}' is not known, so limits.max_usd cannot be held",
            models.join("' or '")
        )),
    }
}

fn check_tool_call(
    line: &mut ModelLine,
    model: &str,
    context: PlannerContext,
    spent: &mut Usage,
) -> Result<(), String> {
    let tools = [OfferedTool {
        name: PROBE_TOOL.to_owned(),
        brief: "Say that you are ready.".to_owned(),
        schema: json!({"type": "object", "properties": {}}),
    }];
    let mut talk = Talk::default();
    talk.tell(format!("Call the tool {PROBE_TOOL}."), None);
    let request = PlannerRequest {
        model,
        max_tokens: PROBE_TOKENS,
        system: "You call tools.",
        tools: &tools,
        toolset: None,
        talk: talk.shown(),
    };
    let reply = line.ask(&request, context.asker).map_err(|failure| match failure {
        VoiceFailure::Cancelled => "it was cancelled".to_owned(),
        VoiceFailure::Failed(problem) | VoiceFailure::Late(problem) | VoiceFailure::BrokeOff(problem) => {
            problem
        }
    })?;
    spent.add(reply.usage);
    if reply.calls.iter().any(|call| call.name == PROBE_TOOL) {
        return Ok(());
    }
    Err(format!("the model '{model}' does not call tools"))
}

fn open_opencode(context: PlannerContext, dialect: Dialect) -> Result<ModelPlanner, String> {
    opencode::find_server(context.config)?;
    OpencodeVoice::open(context.config)?.check_health(context.asker.cancel)?;
    opencode::open(context, dialect)
}
