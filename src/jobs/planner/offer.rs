//! What a model is offered: the tools of its dialect as far as the job may use them, and the two that end it.

use serde_json::{Value, json};

use super::wire::{OfferedTool, Toolset};
use super::{PlannedStep, PlannerContext};
use crate::jobs::dialect::{self, Dialect, DialectStep, DialectTool, SeenPicture, computer};
use crate::privacy::untrusted;
use crate::text::nearest;
use crate::tool::Spec;
use crate::tool::schema::Detail;

/// The tools of a job, and what a call of one becomes.
pub struct Offer {
    pub dialect: Dialect,
    pub tools: Vec<OfferedTool>,
    pub toolset: Option<Toolset>,
    denied: Vec<String>,
    /// What opens commands, where the operator lets jobs have them.
    command_secret: Option<String>,
}

impl Offer {
    /// `has_toolset`: the wire has the vendor's own toolset for computers, so its tools are no functions.
    pub fn new(context: PlannerContext, dialect: Dialect, has_toolset: bool) -> Self {
        let command_secret = context.command_secret.map(|secret| secret.reveal().to_owned());
        let mut offer = Self {
            dialect,
            tools: Vec::new(),
            toolset: None,
            denied: context.spec.disabled_tools.clone(),
            command_secret,
        };
        offer.tools = match dialect {
            Dialect::Native => offer.native_tools(context),
            Dialect::Computer if has_toolset => Vec::new(),
            _ => offer.dialect_tools(context),
        };
        if dialect == Dialect::Computer && has_toolset {
            offer.toolset = Some(Toolset { disabled: offer.disabled_members(context), display: None });
        }
        offer.tools.extend(ending_tools(dialect, context.spec.output_schema.clone()));
        offer
    }

    /// How many bytes the tools have as JSON; every request carries them.
    pub fn bytes(&self) -> usize {
        self.tools.iter().map(|tool| tool.name.len() + tool.brief.len() + tool.schema.to_string().len()).sum()
    }

    fn is_denied(&self, name: &str) -> bool {
        self.denied.iter().any(|denied| denied == name)
    }

    fn native_tools(&self, context: PlannerContext) -> Vec<OfferedTool> {
        let denied = dialect::denied_tools(&self.denied);
        let offered = context.tools.listed_tools().filter(|spec| {
            let meta = spec.meta;
            meta.lean && !denied.contains(meta.name) && !denied.contains(meta.group.name())
        });
        let write = |spec: Spec| OfferedTool {
            name: spec.meta.name.to_owned(),
            brief: spec.meta.brief.to_owned(),
            schema: spec.listed_schema(Detail::Lean),
        };
        offered.map(write).collect()
    }

    fn dialect_tools(&self, context: PlannerContext) -> Vec<OfferedTool> {
        let usable = self.dialect.tools().iter().filter(|tool| self.is_usable(tool, context));
        let write = |tool: &DialectTool| OfferedTool {
            name: tool.name.to_owned(),
            brief: tool.brief.to_owned(),
            schema: tool.input_schema(),
        };
        usable.map(write).collect()
    }

    fn disabled_members(&self, context: PlannerContext) -> Vec<&'static str> {
        let unusable = self.dialect.tools().iter().filter(|tool| !self.is_usable(tool, context));
        unusable.map(|tool| tool.name).chain(computer::NOT_POSSIBLE.iter().copied()).collect()
    }

    fn is_usable(&self, tool: &DialectTool, context: PlannerContext) -> bool {
        let denied = dialect::denied_tools(&self.denied);
        let is_there = |name: &&str| {
            let entry = context.tools.find_tool(name);
            entry.is_some_and(|entry| {
                !denied.contains(*name) && !denied.contains(entry.spec.meta.group.name())
            })
        };
        !denied.contains(tool.name)
            && tool.uses.iter().all(is_there)
            && (!tool.runs_commands || self.command_secret.is_some())
    }

    /// A tool that was not offered is not called, whatever else the server has. What the job disables is left to the
    /// gate, which puts the refusal on record.
    fn why_not_offered(&self, name: &str) -> Option<String> {
        if self.tools.iter().any(|tool| tool.name == name)
            || dialect::denied_tools(&self.denied).contains(name)
        {
            return None;
        }
        let near = nearest(name, self.tools.iter().map(|tool| tool.name.as_str()));
        let advice = near.map_or_else(
            || format!("it has {}", self.tool_names().join(", ")),
            |near| format!("did you mean '{near}'?"),
        );
        Some(format!("'{name}' is not among the tools of this job; {advice}"))
    }

    fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    /// The steps that a call becomes.
    pub fn steps(&self, name: &str, arguments: &Value, seen: Option<&SeenPicture>) -> Vec<PlannedStep> {
        let unreadable = |problem: String| vec![PlannedStep::Unreadable { tool: name.to_owned(), problem }];
        let arguments = match super::written::read_arguments(arguments) {
            Ok(arguments) => arguments,
            Err(problem) => return unreadable(problem),
        };
        let (finish, fail) = self.dialect.ending_names();
        if name == finish {
            let result = arguments.get("result").cloned().unwrap_or_else(|| Value::Object(arguments));
            return vec![PlannedStep::Finish(result)];
        }
        if name == fail {
            let reason = arguments.get("reason").and_then(Value::as_str).unwrap_or("it gave no reason");
            return vec![PlannedStep::Fail(untrusted::clean_text(reason).into_owned())];
        }
        if self.dialect == Dialect::Native {
            return match self.why_not_offered(name) {
                Some(problem) => unreadable(problem),
                None => vec![PlannedStep::Call { tool: name.to_owned(), args: arguments }],
            };
        }
        if self.is_denied(name) {
            return unreadable(format!("{name} is not among the tools of this job"));
        }
        let secret = self.command_secret.as_deref();
        match self.dialect.translate(name, &arguments, seen, secret) {
            Ok(steps) => steps.into_iter().map(planned_step).collect(),
            Err(problem) => unreadable(problem),
        }
    }
}

fn planned_step(step: DialectStep) -> PlannedStep {
    match step {
        DialectStep::Call { tool, args } => {
            PlannedStep::Call { tool: tool.to_owned(), args: args.as_object().cloned().unwrap_or_default() }
        }
        DialectStep::Wait(time) => PlannedStep::Wait(time),
    }
}

fn ending_tools(dialect: Dialect, output_schema: Option<Value>) -> [OfferedTool; 2] {
    let (finish, fail) = dialect.ending_names();
    let result = output_schema.unwrap_or_else(|| json!({}));
    let tool = |name: &str, brief: &str, schema: Value| OfferedTool {
        name: name.to_owned(),
        brief: brief.to_owned(),
        schema,
    };
    [
        tool(
            finish,
            "The task is done. Give its result.",
            json!({"type": "object", "properties": {"result": result}, "required": ["result"]}),
        ),
        tool(
            fail,
            "The task cannot be done. Say why.",
            json!({"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}),
        ),
    ]
}
