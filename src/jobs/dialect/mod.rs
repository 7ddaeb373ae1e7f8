//! Names that other programs have for the same calls. A tool of a dialect becomes calls of our own tools, which the
//! gate judges as it judges every call; a dialect reaches nothing that they do not reach.

pub mod computer;
pub mod screenjob;
#[cfg(test)]
mod tests;
pub mod webtask;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// The longest wait that a model may ask for at once.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// What ends a job without a result, where the dialect has no word of its own.
const GIVE_UP: &str = "give_up";
/// More would not fit into one turn.
const MOST_REPEATS: u64 = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Our own tools.
    Native,
    /// The eight tools of ScreenJob.
    Screenjob,
    /// What vendors train their models with: Anthropic's toolset, and OpenAI's actions.
    Computer,
    /// The ten tools of web-task-api.
    Webtask,
}

/// A tool of a dialect.
pub struct DialectTool {
    pub name: &'static str,
    pub brief: &'static str,
    /// The schema of its arguments: properties, and the names of those that it needs.
    pub properties: &'static str,
    pub required: &'static [&'static str],
    /// Our tools that it becomes.
    pub uses: &'static [&'static str],
    /// Our tools and groups that are denied where it is: everything that does the same.
    pub denies: &'static [&'static str],
    /// Offered only where the operator lets jobs run commands.
    pub runs_commands: bool,
    pub translate: fn(&DialectCall) -> Result<Vec<DialectStep>, String>,
}

/// A call in a dialect, and what is needed to understand it.
pub struct DialectCall<'a> {
    pub args: &'a Map<String, Value>,
    pub seen: Option<&'a SeenPicture>,
    /// What opens commands.
    pub command_secret: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DialectStep {
    Call { tool: &'static str, args: Value },
    Wait(Duration),
}

/// The screenshot that a model points into.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenPicture {
    image_id: String,
    /// Pixels of it for one of the screen.
    scale: f64,
}

impl SeenPicture {
    pub fn new(image_id: impl Into<String>, scale: f64) -> Self {
        Self { image_id: image_id.into(), scale: if scale > 0.0 { scale } else { 1.0 } }
    }

    /// From the reply of a tool that takes pictures.
    pub fn read(reply: &Value) -> Option<Self> {
        let id = reply.get("image_id").and_then(Value::as_str)?;
        Some(Self::new(id, reply.get("scale").and_then(Value::as_f64).unwrap_or(1.0)))
    }
}

impl Dialect {
    pub const NAMES: [(&'static str, Dialect); 4] = [
        ("native", Dialect::Native),
        ("screenjob", Dialect::Screenjob),
        ("computer", Dialect::Computer),
        ("webtask", Dialect::Webtask),
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(own, _)| *own == name).map(|(_, dialect)| dialect)
    }

    pub fn tools(self) -> &'static [DialectTool] {
        match self {
            Dialect::Native => &[],
            Dialect::Screenjob => screenjob::TOOLS,
            Dialect::Computer => computer::TOOLS,
            Dialect::Webtask => webtask::TOOLS,
        }
    }

    /// The tools that end a job: with its result, and with the reason why it cannot be done.
    pub fn ending_names(self) -> (&'static str, &'static str) {
        match self {
            Dialect::Webtask => (webtask::FINISH, webtask::FAIL),
            _ => (screenjob::FINISH, GIVE_UP),
        }
    }

    /// What the system text says of it.
    pub fn advice(self) -> &'static str {
        match self {
            Dialect::Native => "Begin with look. Use act for several steps at once.",
            Dialect::Screenjob => {
                "Begin with see_screen: it draws a grid whose cells have labels row,col. Point by the label of a cell in \
                 the newest picture; enhance shows a cell larger, with a finer grid."
            }
            Dialect::Computer => "Coordinates are pixels of the newest screenshot of the whole screen.",
            Dialect::Webtask => {
                "The desktop is a browser with one page. Begin with snapshot; an elementId counts until the page changes."
            }
        }
    }

    /// Whether the next pixels of the model are those of a picture that this tool gave.
    pub fn points_into(self, tool: &str) -> bool {
        match self {
            Dialect::Native | Dialect::Webtask => false,
            Dialect::Screenjob => matches!(tool, "get_screenshot" | "zoom"),
            Dialect::Computer => tool == "get_screenshot",
        }
    }

    /// The calls that a call becomes. A name that the dialect does not have is left to the gate, which refuses it.
    pub fn translate(
        self,
        name: &str,
        args: &Map<String, Value>,
        seen: Option<&SeenPicture>,
        command_secret: Option<&str>,
    ) -> Result<Vec<DialectStep>, String> {
        let call = DialectCall { args, seen, command_secret };
        if self == Dialect::Computer && name == super::planner::responses::COMPUTER {
            return computer::translate_actions(&call);
        }
        let tool = self.tools().iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| format!("there is no tool '{name}' here"))?;
        let steps = (tool.translate)(&call)?;
        let foreign = steps.iter().find_map(|step| match step {
            DialectStep::Call { tool: used, .. } if !tool.uses.contains(used) => Some(*used),
            _ => None,
        });
        match foreign {
            None => Ok(steps),
            Some(used) => Err(format!("{name} does not become {used}")),
        }
    }
}

impl DialectTool {
    pub fn input_schema(&self) -> Value {
        let properties: Value = serde_json::from_str(self.properties).unwrap_or_else(|_| json!({}));
        json!({"type": "object", "properties": properties, "required": self.required})
    }
}

fn all_tools() -> impl Iterator<Item = &'static DialectTool> {
    Dialect::NAMES.into_iter().flat_map(|(_, dialect)| dialect.tools())
}

/// The names of all dialects that a job may disable.
pub fn deniable_names() -> impl Iterator<Item = &'static str> {
    let actions = computer::ACTIONS.iter().map(|action| action.name);
    all_tools().map(|tool| tool.name).chain(actions).filter(|name| *name != screenjob::FINISH)
}

/// What is denied with these names: a name of a dialect denies everything of ours that does the same.
pub fn denied_tools(names: &[String]) -> BTreeSet<String> {
    let mut denied: BTreeSet<String> = names.iter().cloned().collect();
    for tool in all_tools().chain(computer::ACTIONS).filter(|tool| names.iter().any(|name| name == tool.name))
    {
        denied.extend(tool.denies.iter().map(ToString::to_string));
    }
    denied
}

impl DialectCall<'_> {
    fn text(&self, name: &str) -> Result<&str, String> {
        let text = self.args.get(name).and_then(Value::as_str);
        text.ok_or_else(|| format!("the argument '{name}' is missing, or no text"))
    }

    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        match self.args.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let number = value.as_f64().filter(|number| number.is_finite());
                number.map(Some).ok_or_else(|| format!("the argument '{name}' is no number"))
            }
        }
    }

    /// A wait of so many seconds.
    fn seconds(&self, name: &str) -> Result<Option<DialectStep>, String> {
        let Some(seconds) = self.number(name)? else { return Ok(None) };
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| *time <= LONGEST_WAIT);
        let time = time.ok_or_else(|| {
            format!("the argument '{name}' must be from 0 to {} seconds", LONGEST_WAIT.as_secs())
        })?;
        Ok(Some(DialectStep::Wait(time)))
    }

    fn repeats(&self, name: &str) -> Result<usize, String> {
        let count = self.number(name)?.unwrap_or(1.0);
        if !(1.0..=MOST_REPEATS as f64).contains(&count) {
            return Err(format!("the argument '{name}' must be from 1 to {MOST_REPEATS}"));
        }
        Ok(count as usize)
    }

    fn seen(&self) -> Result<&SeenPicture, String> {
        self.seen.ok_or_else(|| "there is no screenshot yet that you could point into; take one".to_owned())
    }

    /// A pixel of the screenshot that the model saw.
    fn pixel(&self, value: Option<&Value>) -> Result<Value, String> {
        let pair = |value: &Value| -> Option<(i64, i64)> {
            let side = |value: Option<&Value>| value?.as_f64().map(|number| number.round() as i64);
            match value {
                Value::Array(pair) if pair.len() == 2 => Some((side(pair.first())?, side(pair.get(1))?)),
                Value::Object(_) => Some((side(value.get("x"))?, side(value.get("y"))?)),
                _ => None,
            }
        };
        let (x, y) = value.and_then(pair).ok_or("a coordinate is two numbers, [x, y]")?;
        Ok(json!({"x": x, "y": y, "image": self.seen()?.image_id}))
    }
}

/// One call.
fn one_call(tool: &'static str, args: Value) -> Vec<DialectStep> {
    vec![DialectStep::Call { tool, args }]
}

/// `more` added to an object.
fn with_fields(mut object: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut object, more) {
        fields.extend(more);
    }
    object
}
