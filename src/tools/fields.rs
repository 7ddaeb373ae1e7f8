//! Objects whose fields depend on one of them, such as conditions and predicates: read field by field,
//! each refusal naming where it stands and what was expected.

use regex::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::Selector;
use crate::observer::Ref;
use crate::observer::predicate::Named;

const MOST_CHARACTERS: usize = 4096;

/// An object as it came. Its schema says no more than that: what belongs in it is said in words.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Object(pub Map<String, Value>);

impl JsonSchema for Object {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Object".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

pub struct Fields<'a> {
    /// Where the object stands in the arguments.
    pub path: String,
    pub object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    pub fn new(path: impl Into<String>, object: &'a Map<String, Value>) -> Self {
        Self { path: path.into(), object }
    }

    /// Null means absent, as everywhere.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    pub fn maybe_text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.chars().count() <= MOST_CHARACTERS => Ok(Some(text)),
            Some(Value::String(_)) => {
                Err(self.refusal(name, &format!("may have {MOST_CHARACTERS} characters")))
            }
            Some(_) => Err(self.refusal(name, "must be a string")),
        }
    }

    pub fn text(&self, name: &str) -> Result<&'a str> {
        self.maybe_text(name)?.ok_or_else(|| self.refusal(name, "is required"))
    }

    pub fn maybe_regex(&self, name: &str) -> Result<Option<Regex>> {
        let pattern = self.maybe_text(name)?;
        let compiled = pattern.map(limits::compile_pattern).transpose();
        compiled.map_err(|problem| self.refusal(name, &format!("cannot be used: {problem}")))
    }

    pub fn regex(&self, name: &str) -> Result<Regex> {
        self.maybe_regex(name)?.ok_or_else(|| self.refusal(name, "is required"))
    }

    pub fn selector(&self) -> Result<Selector> {
        let parsed = Selector::parse(self.text("selector")?);
        parsed.map_err(|problem| self.refusal("selector", &format!("cannot be used: {problem}")))
    }

    /// The element that is named by `ref` or by `selector`.
    pub fn element(&self) -> Result<Named> {
        match self.maybe_text("ref")? {
            None => Ok(Named::Selector(self.selector()?)),
            Some(text) => Ref::parse(text)
                .map(Named::Ref)
                .ok_or_else(|| self.refusal("ref", "is no ref: those look like e17")),
        }
    }

    /// A field with another name would be a wish that nobody hears.
    pub fn only(&self, known: &[&str]) -> Result<()> {
        let Some(unknown) = self.object.keys().find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let advice = match crate::text::nearest(unknown, known.iter().copied()) {
            Some(nearest) => format!("is unknown; did you mean '{nearest}'?"),
            None => format!("is unknown; known are {}", known.join(", ")),
        };
        Err(self.refusal(unknown, &advice))
    }

    pub fn refusal(&self, name: &str, problem: &str) -> Error {
        Error::bad_request(format!("{}: '{name}' {problem}", self.path))
            .with("field", format!("{}.{name}", self.path))
    }
}
