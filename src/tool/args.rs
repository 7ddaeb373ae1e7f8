//! Arguments: the types that carry their own limits, and the check of a call against its schema.
//!
//! The check reads the very schema that clients are shown, so what is advertised is what is enforced,
//! and every refusal names the argument, what was expected and what came.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::model::Selector;
pub use crate::privacy::arguments::{SECRET, named_secret};

/// A whole number between `MIN` and `MAX`: schema and check from one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Int<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Int<MIN, MAX> {
    pub const fn get(self) -> i64 {
        self.0
    }

    /// For counts and sizes, whose `MIN` is not negative.
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Int<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(input)?;
        if (MIN..=MAX).contains(&number) {
            Ok(Self(number))
        } else {
            Err(D::Error::custom(format!("{number} is not between {MIN} and {MAX}")))
        }
    }
}

impl<const MIN: i64, const MAX: i64> JsonSchema for Int<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Int_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

/// A number that callers write large when they mean "all of it": brought within its bounds, and said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Amount<const MIN: i64, const MAX: i64>(Int<MIN, MAX>);

impl<const MIN: i64, const MAX: i64> Amount<MIN, MAX> {
    pub const fn get(self) -> i64 {
        self.0.get()
    }

    pub fn as_usize(self) -> usize {
        self.0.as_usize()
    }
}

impl<const MIN: i64, const MAX: i64> JsonSchema for Amount<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Amount_{MIN}_{MAX}").into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Int::<MIN, MAX>::json_schema(generator);
        schema.insert(CLAMPED.to_owned(), TO_NEAREST.into());
        schema
    }
}

/// A window's place in the list. One that no window can have leads to none, on whichever side it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct WindowIndex(Int<0, 65535>);

impl WindowIndex {
    pub fn as_usize(self) -> usize {
        self.0.as_usize()
    }
}

impl JsonSchema for WindowIndex {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WindowIndex".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Int::<0, 65535>::json_schema(generator);
        schema.insert(CLAMPED.to_owned(), PAST_THE_END.into());
        schema
    }
}

/// A screen coordinate. X11 carries 16 bits, and no desktop is larger.
pub type Pixel = Int<-32768, 32767>;

/// Half cells or the like: a number from -1 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction(f64);

impl Fraction {
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(input)?;
        if (-1.0..=1.0).contains(&number) {
            Ok(Self(number))
        } else {
            Err(D::Error::custom(format!("{number} is not between -1 and 1")))
        }
    }
}

impl JsonSchema for Fraction {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fraction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": -1, "maximum": 1 })
    }
}

/// Arguments that are understood but not advertised, where another tool advertises them already.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Quiet<T>(pub T);

impl<T: JsonSchema> JsonSchema for Quiet<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Quiet_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for property in properties.into_iter().flat_map(|properties| properties.values_mut()) {
            property.as_object_mut().into_iter().for_each(|property| {
                property.insert(super::schema::HIDDEN.to_owned(), true.into());
            });
        }
        schema
    }
}

/// A text of at most `MAX` characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Serialize for Text<MAX> {
    fn serialize<S: serde::Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(&self.0)
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        let length = text.chars().count();
        if length <= MAX {
            Ok(Self(text))
        } else {
            Err(D::Error::custom(format!("{length} characters are more than the {MAX} allowed")))
        }
    }
}

impl<const MAX: usize> JsonSchema for Text<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Text_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MAX })
    }
}

/// A text, or the name of a secret that its owner gave to the server: the caller never sees the value.
///
/// Clients stumble over arguments of two types, so the schema says `string`; the marker lets the check
/// accept `{"secret": "NAME"}` in its place.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum SecretOr<T> {
    Plain(T),
    Named { secret: String },
}

impl<const MAX: usize> SecretOr<Text<MAX>> {
    /// The text itself, for the input alone: it must not be put into a reply or a log.
    pub fn reveal_secret<'a>(&'a self, cx: &'a super::Cx) -> Result<&'a str> {
        match self {
            SecretOr::Plain(text) => Ok(text.as_str()),
            SecretOr::Named { secret } => cx.caller().reveal_secret(secret),
        }
    }
}

impl<T: JsonSchema> JsonSchema for SecretOr<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("SecretOr_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.insert(SECRET.to_owned(), true.into());
        schema
    }
}

/// Marks an argument that holds the arguments of another call, with the name of the argument that names its tool.
pub const CALL: &str = "x-call";

/// The argument that holds the arguments of another call, and that call's tool.
pub fn carried_call<'a>(schema: &Value, args: &'a Map<String, Value>) -> Option<(&'a str, &'a str)> {
    let tool_in = |name: &str| schema.get("properties")?.get(name)?.get(CALL)?.as_str();
    let (name, named_in) = args.keys().find_map(|name| Some((name.as_str(), tool_in(name)?)))?;
    Some((name, args.get(named_in).and_then(Value::as_str).unwrap_or_default()))
}

/// The secrets that checked arguments name, wherever the schema lets one stand.
pub fn secrets_named<'a>(schema: &Value, args: &'a Map<String, Value>) -> Vec<&'a str> {
    args.iter().filter_map(|(name, value)| named_secret(schema, name, value)).collect()
}

/// A client that writes the object into a string would have its letters typed.
fn refuse_secret_as_text(path: &str, text: &str) -> Result<()> {
    let looks_so = text.len() < 200 && text.trim_start().starts_with('{');
    let object = looks_so.then(|| serde_json::from_str::<Map<String, Value>>(text).ok()).flatten();
    match object.is_some_and(|object| check_secret_name(path, &object).is_ok()) {
        true => Err(argument_error(
            path,
            "is the text of an object that names a secret; send the object itself, {\"secret\":\"NAME\"}, not a \
             string. To type these letters, send them in two calls"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

fn check_secret_name(path: &str, object: &Map<String, Value>) -> Result<()> {
    let name = object.get("secret").and_then(Value::as_str).filter(|_| object.len() == 1);
    match name {
        Some(name) if crate::secrets::is_name(name) => Ok(()),
        _ => Err(argument_error(
            path,
            "must be a string, or {\"secret\":\"NAME\"} with a name of letters, digits and _".to_owned(),
        )),
    }
}

/// What every tool takes, because clients send it with every call. Where it has no meaning it has no effect.
pub const COMMON: &[&str] =
    &[WINDOW_UID, WINDOW_INDEX, WINDOW_TITLE, "dry_run", "confirm_token", "poll_ms", "timeout_ms"];
pub const WINDOW_UID: &str = "window_uid";
pub const WINDOW_INDEX: &str = "window_index";
pub const WINDOW_TITLE: &str = "window_title";

/// Marks an argument that was never more than a wish: a value that is none of the known ones is left out and named.
pub const IGNORABLE: &str = "x-ignorable";

/// Marks a number that is brought within its bounds, and says how.
pub const CLAMPED: &str = "x-clamped";
/// To the bound that is nearest, with a word.
const TO_NEAREST: &str = "to the nearest";
/// To the largest, whatever it was: nobody has to be told that there is nothing.
const PAST_THE_END: &str = "past the end";

/// What becomes of an argument that a tool does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It is left out and named: a look without it is a look.
    Ignored,
    /// A modifier that is dropped is a wrong click.
    Refused,
}

/// Arguments in the shape of their schema, and what was understood differently from what was written.
#[derive(Debug, Default)]
pub struct Checked {
    pub args: Map<String, Value>,
    pub notes: Vec<String>,
}

/// Checks a call's arguments against the tool's full schema and brings them into its shape: names
/// that start with `_` are dropped (no caller may speak for the server), null means absent, numbers are rounded and
/// brought within their bounds.
pub fn check(schema: &Value, args: Value, unknown: Unknown) -> Result<Checked> {
    if !args.is_object() {
        return Err(Error::bad_request(format!("arguments must be an object, not {}", kind_of(&args))));
    }
    let mut check = ArgumentCheck { unknown, notes: Vec::new() };
    let args = check.known_arguments(schema, args)?;
    let mut args = given_arguments(&args);
    check.object("", schema, &mut args)?;
    args.iter().for_each(|(name, value)| check.selectors(name, value));
    Ok(Checked { args, notes: check.notes })
}

/// The arguments that were really given.
pub fn given_arguments(args: &Value) -> Map<String, Value> {
    let given = args.as_object().into_iter().flatten();
    given
        .filter(|(name, value)| !name.starts_with('_') && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The check of one call.
struct ArgumentCheck {
    unknown: Unknown,
    notes: Vec<String>,
}

impl ArgumentCheck {
    /// A name that is not known is a mistake also where nothing is given for it.
    fn known_arguments(&mut self, schema: &Value, mut args: Value) -> Result<Value> {
        let (Some(known), Some(given)) =
            (schema.get("properties").and_then(Value::as_object), args.as_object_mut())
        else {
            return Ok(args);
        };
        let foreign = |name: &&String| !name.starts_with('_') && !known.contains_key(*name);
        let names: Vec<String> = given.keys().filter(foreign).cloned().collect();
        for name in names {
            if self.unknown == Unknown::Refused && !COMMON.contains(&name.as_str()) {
                return Err(unknown_argument(&name, &name, known));
            }
            let value = given.shift_remove(&name).unwrap_or_default();
            if !value.is_null() {
                self.notes.push(ignored_argument(&name, &name, known));
            }
        }
        Ok(args)
    }

    /// What selectors were read without, also those of conditions and claims.
    fn selectors(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) if name == "selector" => {
                // One that is none is answered by whoever needs it.
                let selector = Selector::parse(text);
                self.notes.extend(selector.iter().flat_map(|selector| selector.warnings().to_vec()));
            }
            Value::Object(inner) => inner.iter().for_each(|(name, value)| self.selectors(name, value)),
            Value::Array(items) => items.iter().for_each(|item| self.selectors(name, item)),
            _ => {}
        }
    }

    fn value(&mut self, path: &str, schema: &Value, value: &mut Value) -> Result<()> {
        if let (Some(_), Value::Object(object)) = (schema.get(SECRET), &*value) {
            return check_secret_name(path, object);
        }
        if let (Some(_), Value::String(text)) = (schema.get(SECRET), &*value) {
            refuse_secret_as_text(path, text)?;
        }
        self.kind(path, schema, value)?;
        check_enum(path, schema, value)?;
        match value {
            Value::Object(object) => self.object(path, schema, object),
            Value::Array(items) => self.array(path, schema, items),
            Value::String(text) => check_text(path, schema, text),
            Value::Number(_) => self.number(path, schema, value),
            _ => Ok(()),
        }
    }

    fn kind(&mut self, path: &str, schema: &Value, value: &mut Value) -> Result<()> {
        let Some(expected) = schema.get("type").and_then(Value::as_str) else {
            return Ok(());
        };
        if expected == "integer"
            && let Some((number, whole)) = rounded(value)
        {
            if number.fract() != 0.0 {
                self.notes.push(format!("{path} {number} was rounded to {whole}"));
            }
            *value = whole.into();
        }
        let fits = match expected {
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            other => kind_of(value) == other,
        };
        if fits {
            return Ok(());
        }
        let got = match &*value {
            Value::Number(number) => number.to_string(),
            other => with_article(kind_of(other)),
        };
        Err(argument_error(path, format!("must be {}, not {got}", with_article(expected))))
    }

    /// Amounts are brought within their bounds; a place or a choice is not moved.
    fn number(&mut self, path: &str, schema: &Value, value: &mut Value) -> Result<()> {
        let Some(number) = value.as_f64() else {
            return Err(argument_error(path, "is not a usable number".to_owned()));
        };
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let (least, most) = (bound("minimum"), bound("maximum"));
        if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
            return Ok(());
        }
        let clamps = schema.get(CLAMPED).filter(|_| value.is_i64() || value.is_u64());
        let to_nearest = clamps.is_some_and(|how| how == TO_NEAREST);
        let below = least.is_some_and(|least| number < least);
        let side = if below && to_nearest { "minimum" } else { "maximum" };
        let Some(nearest) = clamps.and_then(|_| schema.get(side).cloned()) else {
            let shown = |bound: Option<f64>| bound.map_or("any".to_owned(), |bound| bound.to_string());
            let problem = format!("must be between {} and {}, not {number}", shown(least), shown(most));
            return Err(argument_error(path, problem));
        };
        if to_nearest {
            self.notes.push(format!("{path} {value} is out of bounds, so {nearest} was used"));
        }
        *value = nearest;
        Ok(())
    }

    fn array(&mut self, path: &str, schema: &Value, items: &mut [Value]) -> Result<()> {
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(1000);
        if items.len() as u64 > most {
            return Err(argument_error(
                path,
                format!("may have at most {most} entries, this has {}", items.len()),
            ));
        }
        let Some(item_schema) = schema.get("items") else {
            return Ok(());
        };
        items
            .iter_mut()
            .enumerate()
            .try_for_each(|(number, item)| self.value(&format!("{path}[{number}]"), item_schema, item))
    }

    fn object(&mut self, path: &str, schema: &Value, object: &mut Map<String, Value>) -> Result<()> {
        let Some(known) = schema.get("properties").and_then(Value::as_object) else {
            return Ok(());
        };
        let inner = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let names: Vec<String> = object.keys().cloned().collect();
        for name in names {
            match (known.get(&name), object.get_mut(&name)) {
                (Some(schema), Some(value)) if schema.get(IGNORABLE).is_some() => {
                    if let Err(error) = self.value(&inner(&name), schema, value) {
                        object.shift_remove(&name);
                        self.notes.push(format!("{}, so it was ignored", error.message));
                    }
                }
                (Some(schema), Some(value)) => self.value(&inner(&name), schema, value)?,
                (None, _) if self.unknown == Unknown::Refused => {
                    return Err(unknown_argument(&inner(&name), &name, known));
                }
                _ => {
                    object.shift_remove(&name);
                    self.notes.push(ignored_argument(&inner(&name), &name, known));
                }
            }
        }
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = name.as_str()
                && !object.contains_key(name)
            {
                return Err(argument_error(&inner(name), "is required".to_owned()));
            }
        }
        Ok(())
    }
}

/// A number and the whole one that is nearest to it; nothing for what is whole already.
fn rounded(value: &Value) -> Option<(f64, i64)> {
    let number = value.as_f64().filter(|_| !value.is_i64() && !value.is_u64())?;
    // A cast stops at the ends of what there is.
    Some((number, number.round() as i64))
}

fn check_enum(path: &str, schema: &Value, value: &Value) -> Result<()> {
    let Some(allowed) = schema.get("enum").and_then(Value::as_array) else {
        return Ok(());
    };
    if allowed.contains(value) {
        return Ok(());
    }
    let names: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    Err(argument_error(path, format!("must be one of {}, not {value}", names.join(", "))))
}

fn check_text(path: &str, schema: &Value, text: &str) -> Result<()> {
    let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let length = text.chars().count() as u64;
    if length > most {
        return Err(argument_error(path, format!("may have at most {most} characters, this has {length}")));
    }
    Ok(())
}

/// What is said of an argument that has no effect.
fn ignored_argument(path: &str, name: &str, known: &Map<String, Value>) -> String {
    let nearest = crate::text::nearest(name, known.keys().map(String::as_str));
    match nearest.filter(|_| !COMMON.contains(&name)) {
        Some(nearest) => format!("'{path}' is unknown and was ignored; did you mean '{nearest}'?"),
        None => format!("'{path}' has no effect here"),
    }
}

fn unknown_argument(path: &str, name: &str, known: &Map<String, Value>) -> Error {
    let shown: Vec<&str> = known
        .iter()
        .filter(|(_, schema)| schema.get(super::schema::HIDDEN).is_none())
        .map(|(known_name, _)| known_name.as_str())
        .collect();
    let nearest = crate::text::nearest(name, known.keys().map(String::as_str));
    let advice = match (nearest, shown.is_empty()) {
        (Some(nearest), _) => format!("did you mean '{nearest}'?"),
        (None, true) => "this tool takes no arguments".to_owned(),
        (None, false) => format!("known are {}", shown.join(", ")),
    };
    Error::bad_request(format!("unknown argument '{path}'; {advice}")).with("field", path)
}

fn argument_error(path: &str, problem: String) -> Error {
    Error::bad_request(format!("argument '{path}' {problem}")).with("field", path)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "integer" => "a whole number".to_owned(),
        "array" | "object" => format!("an {kind}"),
        "null" => "null".to_owned(),
        _ => format!("a {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Sample {
        x: Pixel,
        label: Option<Text<4>>,
        button: Option<crate::model::Button>,
        roles: Option<Vec<String>>,
    }

    fn check_args(args: Value, expected: &str) {
        let schema = super::super::schema::raw_schema::<Sample>();
        let got = match check(&schema, args.clone(), Unknown::Refused) {
            Ok(checked) => [Value::Object(checked.args).to_string()]
                .into_iter()
                .chain(checked.notes)
                .collect::<Vec<_>>()
                .join("; "),
            Err(error) => error.message,
        };
        assert_eq!(got, expected, "for {args}");
    }

    #[test]
    fn good_arguments_pass() {
        check_args(json!({"x": 3, "label": "four"}), r#"{"x":3,"label":"four"}"#);
        check_args(json!({"x": 3.0}), r#"{"x":3}"#);
        check_args(json!({"x": 3, "label": null, "_caller": "root"}), r#"{"x":3}"#);
    }

    /// H-30 on code: wrong types.
    #[test]
    fn types_are_named() {
        check_args(json!({"x": "1"}), "argument 'x' must be a whole number, not a string");
        check_args(json!({"x": true}), "argument 'x' must be a whole number, not a boolean");
        check_args(json!({"x": 1, "roles": "Button"}), "argument 'roles' must be an array, not a string");
        check_args(json!({"x": 1, "roles": [1]}), "argument 'roles[0]' must be a string, not 1");
        check_args(json!([1]), "arguments must be an object, not array");
    }

    #[test]
    fn numbers_are_rounded_and_places_are_not_moved() {
        check_args(json!({"x": 1.5}), r#"{"x":2}; x 1.5 was rounded to 2"#);
        check_args(json!({"x": -1.4}), r#"{"x":-1}; x -1.4 was rounded to -1"#);
        for far in [40000, -40000] {
            check_args(
                json!({ "x": far }),
                &format!("argument 'x' must be between -32768 and 32767, not {far}"),
            );
        }
    }

    /// What a client sends with every call is taken by every tool; a look goes on without what it does not know.
    #[test]
    fn what_has_no_effect_is_named() {
        check_args(json!({"x": 1, "window_index": 0}), r#"{"x":1}; 'window_index' has no effect here"#);
        check_args(json!({"x": 1, "dry_run": null}), r#"{"x":1}"#);
        let schema = super::super::schema::raw_schema::<Sample>();
        let looks = check(&schema, json!({"x": 1, "lable": "a", "cache": 3}), Unknown::Ignored).unwrap();
        assert_eq!(Value::Object(looks.args), json!({"x": 1}));
        let notes =
            ["'lable' is unknown and was ignored; did you mean 'label'?", "'cache' has no effect here"];
        assert_eq!(looks.notes, notes);
    }

    /// H-30 on code: what is too much.
    #[test]
    fn limits_are_the_advertised_ones() {
        check_args(
            json!({"x": 1, "label": "fives"}),
            "argument 'label' may have at most 4 characters, this has 5",
        );
        check_args(
            json!({"x": 1, "button": "centre"}),
            "argument 'button' must be one of left, right, middle, not \"centre\"",
        );
    }

    /// H-30 on code: what is missing, and what nobody knows.
    #[test]
    fn missing_and_unknown_names_are_refused() {
        check_args(json!({}), "argument 'x' is required");
        check_args(json!({"x": null}), "argument 'x' is required");
        check_args(json!({"x": 1, "lable": "a"}), "unknown argument 'lable'; did you mean 'label'?");
        check_args(json!({"x": 1, "lable": null}), "unknown argument 'lable'; did you mean 'label'?");
        check_args(json!({"x": 1, "zzz": 1}), "unknown argument 'zzz'; known are x, label, button, roles");
    }
}
