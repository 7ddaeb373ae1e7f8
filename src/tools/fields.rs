//! Objects whose fields depend on one of them, such as conditions and predicates: read field by field,
//! each refusal naming where it stands and what was expected.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::model::{Rect, Selector};
use crate::observer::predicate::Named;
use crate::observer::{Ref, WindowChoice};
use crate::pattern::Pattern;
use crate::tool::args::{COMMON, WINDOW_INDEX, WINDOW_TITLE, WINDOW_UID};

const MOST_CHARACTERS: usize = 4096;

/// An object as it came. Its schema says no more than that: what belongs in it is said in words.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct ArgumentObject(pub Map<String, Value>);

impl JsonSchema for ArgumentObject {
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

pub struct ArgumentFields<'a> {
    /// The path of the object in the arguments.
    pub path: String,
    pub object: &'a Map<String, Value>,
}

impl<'a> ArgumentFields<'a> {
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
                Err(self.field_error(name, &format!("may have at most {MOST_CHARACTERS} characters")))
            }
            Some(_) => Err(self.field_error(name, "must be a string")),
        }
    }

    pub fn text(&self, name: &str) -> Result<&'a str> {
        self.maybe_text(name)?.ok_or_else(|| self.field_error(name, "is required"))
    }

    pub fn maybe_regex(&self, name: &str) -> Result<Option<Pattern>> {
        let pattern = self.maybe_text(name)?;
        let compiled = pattern.map(Pattern::compile).transpose();
        compiled.map_err(|problem| self.field_error(name, &format!("is invalid: {problem}")))
    }

    pub fn regex_field(&self, name: &str) -> Result<Pattern> {
        self.maybe_regex(name)?.ok_or_else(|| self.field_error(name, "is required"))
    }

    pub fn selector_field(&self) -> Result<Selector> {
        let parsed = Selector::parse(self.text("selector")?);
        parsed.map_err(|problem| self.field_error("selector", &format!("is invalid: {problem}")))
    }

    pub fn maybe_number(&self, name: &str, least: f64, most: f64) -> Result<Option<f64>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = value.as_f64().filter(|number| (least..=most).contains(number));
        number
            .map(Some)
            .ok_or_else(|| self.field_error(name, &format!("must be a number from {least} to {most}")))
    }

    /// A whole number that fits a pixel of the screen.
    pub fn pixel_field(&self, name: &str) -> Result<i32> {
        let Some(value) = self.get(name) else {
            return Err(self.field_error(name, "is required"));
        };
        let number = value.as_i64().filter(|number| (-32768..=65535).contains(number));
        number
            .and_then(|number| i32::try_from(number).ok())
            .ok_or_else(|| self.field_error(name, "must be a whole number of pixels"))
    }

    /// `region` `{x, y, width, height}`, in pixels of the screen.
    pub fn maybe_region(&self) -> Result<Option<Rect>> {
        let inner = match self.get("region") {
            None => return Ok(None),
            Some(Value::Object(inner)) => ArgumentFields::new(format!("{}.region", self.path), inner),
            Some(_) => return Err(self.field_error("region", "must be an object {x, y, width, height}")),
        };
        inner.reject_unknown(&["x", "y", "width", "height"])?;
        let region = Rect::new(
            inner.pixel_field("x")?,
            inner.pixel_field("y")?,
            inner.pixel_field("width")?,
            inner.pixel_field("height")?,
        );
        if region.is_empty() {
            return Err(self.field_error("region", "must be at least one pixel wide and high"));
        }
        Ok(Some(region))
    }

    /// The element that is named by `ref` or by `selector`.
    pub fn element_field(&self) -> Result<Named> {
        match self.maybe_text("ref")? {
            None => Ok(Named::Selector(self.selector_field()?)),
            Some(text) => Ref::parse(text)
                .map(Named::Ref)
                .ok_or_else(|| self.field_error("ref", "is not a ref: refs look like e17")),
        }
    }

    /// The window that the object names, if it names one.
    pub fn window_choice(&self) -> Result<WindowChoice> {
        let index = match self.get(WINDOW_INDEX) {
            None => None,
            // An index that no window can have leads to none of them.
            Some(Value::Number(number)) => Some(number.as_u64().map_or(usize::MAX, |index| index as usize)),
            Some(_) => return Err(self.field_error(WINDOW_INDEX, "must be a whole number")),
        };
        let text = |name: &str| Ok::<_, Error>(self.maybe_text(name)?.map(str::to_owned));
        Ok(WindowChoice { uid: text(WINDOW_UID)?, index, title: text(WINDOW_TITLE)? })
    }

    /// A field with another name would be a wish that nobody hears. What clients send with everything is taken.
    pub fn reject_unknown(&self, known: &[&str]) -> Result<()> {
        let is_known = |name: &str| known.contains(&name) || COMMON.contains(&name) || name.starts_with('_');
        let Some(unknown) = self.object.keys().find(|name| !is_known(name)) else {
            return Ok(());
        };
        let advice = match crate::text::nearest(unknown, known.iter().copied()) {
            Some(nearest) => format!("is unknown; did you mean '{nearest}'?"),
            None => format!("is unknown; known ones are {}", known.join(", ")),
        };
        Err(self.field_error(unknown, &advice))
    }

    pub fn field_error(&self, name: &str, problem: &str) -> Error {
        Error::bad_request(format!("{}: '{name}' {problem}", self.path))
            .with("field", format!("{}.{name}", self.path))
    }
}
