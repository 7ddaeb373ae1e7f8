//! A call, and what comes back from it: what surfaces, steps of a list and replays hand to the gate and get from it.

use serde_json::Value;

use super::Encoded;
use super::person::Question;
use crate::error::Kind;

/// A call as a surface hands it in.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool: String,
    pub args: Value,
    pub origin: Origin,
}

/// Where a call came from. The surface says it; a caller cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Mcp,
    Terminal,
    /// A script or an agent over HTTP.
    Rest,
    /// The inspector page.
    Inspector,
    /// A recorded call that is played again.
    Replay,
    Test,
}

impl Origin {
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Mcp => "mcp",
            Origin::Terminal => "terminal",
            Origin::Rest => "rest",
            Origin::Inspector => "inspector",
            Origin::Replay => "replay",
            Origin::Test => "test",
        }
    }
}

/// What leaves the gate, clean: surfaces only wrap it.
#[derive(Clone, Debug)]
pub struct Reply {
    pub step_id: Option<u64>,
    pub error: Option<Kind>,
    pub json: Json,
    /// Belongs to the JSON as `outline`; surfaces that can show it by itself do.
    pub outline: Option<String>,
    pub picture: Option<Encoded>,
    /// What the person has to be asked before the call can succeed; only for surfaces that can ask.
    pub question: Option<Box<Question>>,
    /// A text in it speaks to an agent; the JSON says where.
    pub suspicious: bool,
}

/// Data that code reads stays a value; trees are written once, as text.
#[derive(Clone, Debug)]
pub enum Json {
    Text(String),
    Data(Value),
}

impl Reply {
    pub fn ok(&self) -> bool {
        self.error.is_none()
    }

    /// The whole of it as JSON.
    pub fn text(&self) -> String {
        match &self.outline {
            Some(outline) => with_entry(self.json_text(), "outline", &outline.as_str().into()),
            None => self.json_text(),
        }
    }

    /// The JSON without the outline.
    pub fn json_text(&self) -> String {
        match &self.json {
            Json::Text(text) => text.clone(),
            Json::Data(value) => value.to_string(),
        }
    }

    /// The reply as a value, for those who look into it rather than pass it on.
    pub fn value(&self) -> Value {
        match (&self.json, &self.outline) {
            (Json::Data(value), None) => value.clone(),
            _ => serde_json::from_str(&self.text()).unwrap_or(Value::Null),
        }
    }
}

/// A JSON object's text with one entry more at its end.
pub fn with_entry(mut object: String, key: &str, value: &Value) -> String {
    if object.pop() == Some('}') {
        object.push_str(&format!(",\"{key}\":{value}}}"));
    }
    object
}
