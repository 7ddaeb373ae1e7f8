//! What a model's server answered, read leniently: servers differ in nearly every field. What all wire formats share.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::jobs::store::Usage;

/// How many bytes a token has, where a server does not count.
pub const BYTES_A_TOKEN: usize = 4;
/// More calls in one answer are not even looked at.
const MOST_CALLS: usize = 256;

/// An answer in the words of the wire, as far as they are calls.
#[derive(Debug)]
pub struct ReadReply {
    pub said: String,
    pub calls: Vec<WrittenCall>,
    /// What goes back to the server as its own message.
    pub message: Value,
    pub usage: Usage,
}

/// A call as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
    pub form: CallForm,
}

/// In which form a call came, and its result goes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallForm {
    #[default]
    Function,
    /// A tool of Anthropic's computer toolset.
    Member,
    /// A list of actions for OpenAI's computer.
    Computer,
}

/// The answer as JSON, unless it is an error in itself.
pub fn parse_reply(text: &str) -> Result<Value, String> {
    let reply: Value =
        serde_json::from_str(text).map_err(|problem| format!("did not answer with JSON ({problem})"))?;
    match reply.get("error") {
        Some(error) if !error.is_null() => Err("answered with an error".to_owned()),
        _ => Ok(reply),
    }
}

/// The calls of an answer, or those that it has in its text; each with an id of its own.
pub fn settle_calls(mut calls: Vec<WrittenCall>, said: &str) -> Vec<WrittenCall> {
    if calls.is_empty() {
        calls = calls_in_text(said);
    }
    calls.truncate(MOST_CALLS);
    name_calls(&mut calls);
    calls
}

/// Some models write their calls as text: `<tool_call>{"name": …, "arguments": …}</tool_call>`.
fn calls_in_text(said: &str) -> Vec<WrittenCall> {
    let parts = said.split("<tool_call>").skip(1).filter_map(|part| part.split_once("</tool_call>"));
    let read = |(text, _): (&str, &str)| {
        let call: Value = serde_json::from_str(text.trim()).ok()?;
        let name = call.get("name").and_then(Value::as_str)?.to_owned();
        let arguments = call.get("arguments").cloned().unwrap_or(Value::Null);
        Some(WrittenCall { name, arguments, ..WrittenCall::default() })
    };
    parts.filter_map(read).collect()
}

/// Results are matched by id, so each call gets one of its own.
fn name_calls(calls: &mut [WrittenCall]) {
    let mut seen = BTreeSet::new();
    for (at, call) in calls.iter_mut().enumerate() {
        if call.id.is_empty() || seen.contains(&call.id) {
            call.id = format!("call_{}", at + 1);
        }
        seen.insert(call.id.clone());
    }
}

/// A string with JSON in it, or the object itself.
pub fn read_arguments(arguments: &Value) -> Result<Map<String, Value>, String> {
    let parsed = match arguments {
        Value::String(text) if text.trim().is_empty() => Value::Null,
        Value::String(text) => {
            serde_json::from_str(text).map_err(|problem| format!("the arguments are not JSON: {problem}"))?
        }
        other => other.clone(),
    };
    match parsed {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        _ => Err("the arguments are no JSON object".to_owned()),
    }
}

/// The arguments as the text that they are on most wires.
pub fn arguments_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The text of a content: a string, or a list of parts.
pub fn said_text(content: Option<&Value>) -> String {
    let part = |part: &Value| match part {
        Value::String(text) => text.clone(),
        Value::Object(fields) => fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    match content {
        Some(Value::Array(parts)) => parts.iter().map(part).collect(),
        Some(other) => part(other),
        None => String::new(),
    }
}

/// A text of an object, or nothing.
pub fn text_of(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A count of tokens, if it can be one.
pub fn count_at(usage: Option<&Value>, path: &str) -> Option<u64> {
    let number = usage?.pointer(path)?;
    number.as_u64().or_else(|| number.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
}

/// What a server counted; `input` is all of it, what was cached included.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountedTokens {
    pub input: Option<u64>,
    pub cached_input: Option<u64>,
    pub cache_writes: Option<u64>,
    pub output: Option<u64>,
}

impl CountedTokens {
    /// An estimate where the server did not count, or cannot have counted so.
    pub fn usage(self, request_bytes: usize, answer_bytes: usize) -> Usage {
        // No prompt has 0 tokens, so a server that says so does not count its answers either.
        let counted_input = self.input.filter(|input| *input > 0);
        let counted_output = self.output.filter(|output| *output > 0 || counted_input.is_some());
        let input = counted_input.unwrap_or_else(|| estimated_tokens(request_bytes));
        let cached_input = self.cached_input.unwrap_or(0).min(input);
        Usage {
            input,
            cached_input,
            cache_writes: self.cache_writes.unwrap_or(0).min(input - cached_input),
            output: counted_output.unwrap_or_else(|| estimated_tokens(answer_bytes)),
            estimated: counted_input.is_none() || counted_output.is_none(),
        }
    }
}

/// What OpenAI's wires count, each under its own names; cached tokens, read and written, are part of the input's.
pub fn openai_usage(
    usage: Option<&Value>,
    (input, output): (&str, &str),
    request_bytes: usize,
    answer_bytes: usize,
) -> Usage {
    let counted = CountedTokens {
        input: count_at(usage, &format!("/{input}")),
        cached_input: count_at(usage, &format!("/{input}_details/cached_tokens")),
        cache_writes: count_at(usage, &format!("/{input}_details/cache_write_tokens")),
        output: count_at(usage, &format!("/{output}")),
    };
    counted.usage(request_bytes, answer_bytes)
}

pub fn estimated_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes / BYTES_A_TOKEN).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_arguments(written: Value, expected: Option<Value>) {
        let read = read_arguments(&written).ok().map(Value::Object);
        assert_eq!(read, expected, "{written}");
    }

    #[test]
    fn arguments_may_be_text_or_an_object_or_nothing() {
        check_arguments(json!("{\"ref\": \"e1\"}"), Some(json!({"ref": "e1"})));
        check_arguments(json!({"ref": "e1"}), Some(json!({"ref": "e1"})));
        check_arguments(json!(""), Some(json!({})));
        check_arguments(json!(null), Some(json!({})));
        for wrong in [json!("{"), json!("[1]"), json!(5)] {
            check_arguments(wrong, None);
        }
    }

    #[test]
    fn each_call_gets_an_id_of_its_own() {
        let ids = |ids: &[&str]| {
            let call = |id: &&str| WrittenCall { id: (*id).to_owned(), ..WrittenCall::default() };
            let calls = settle_calls(ids.iter().map(call).collect(), "");
            calls.into_iter().map(|call| call.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(&["x", "y"]), ["x", "y"]);
        assert_eq!(ids(&["x", "x", ""]), ["x", "call_2", "call_3"]);
    }

    #[test]
    fn calls_written_as_text_are_calls() {
        let said = "I look.<tool_call>{\"name\": \"look\", \"arguments\": {\"ref\": \"e1\"}}</tool_call>";
        let calls = settle_calls(Vec::new(), said);
        assert_eq!((calls[0].name.as_str(), &calls[0].arguments), ("look", &json!({"ref": "e1"})));
        assert_eq!(settle_calls(Vec::new(), "<tool_call>{</tool_call><tool_call>"), []);
    }

    #[test]
    fn what_cannot_have_been_counted_is_estimated() {
        let usage = |input, cached_input, output| {
            let counted = CountedTokens { input, cached_input, output, cache_writes: Some(9) };
            counted.usage(400, 40)
        };
        let told = usage(Some(10), Some(7), Some(2));
        assert_eq!((told.input, told.cached_input, told.cache_writes, told.output), (10, 7, 3, 2));
        assert!(!told.estimated);
        let guessed = usage(None, None, None);
        assert_eq!((guessed.input, guessed.output, guessed.estimated), (100, 10, true));
        let denied = usage(Some(0), Some(0), Some(0));
        assert_eq!((denied.input, denied.output, denied.estimated), (100, 10, true));
        let silent = usage(Some(10), None, Some(0));
        assert_eq!((silent.output, silent.estimated), (0, false), "an answer may be empty");
        assert_eq!(count_at(Some(&json!({"n": -5})), "/n"), None);
        assert_eq!(count_at(Some(&json!({"n": 5.0})), "/n"), Some(5));
    }
}
