//! What a chat-completions server answered, read leniently: servers differ in nearly every field.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{PlannedStep, PlannerAnswer};
use crate::jobs::store::Usage;
use crate::privacy::untrusted;

pub const FINISH_TOOL: &str = "task_complete";
pub const GIVE_UP_TOOL: &str = "give_up";
/// How many bytes a token has, where a server does not count.
pub const BYTES_A_TOKEN: usize = 4;
/// More calls in one answer are not even looked at.
const MOST_CALLS: usize = 256;

pub struct ReadAnswer {
    pub answer: PlannerAnswer,
    /// What goes back to the server as its own message.
    pub message: Value,
    /// The id of each call, in the order of the steps.
    pub ids: Vec<String>,
}

/// Whether there are calls decides, never `finish_reason`: servers write anything there.
pub fn read_answer(text: &str, request_bytes: usize) -> Result<ReadAnswer, String> {
    let reply: Value =
        serde_json::from_str(text).map_err(|problem| format!("did not answer with JSON ({problem})"))?;
    if reply.get("error").is_some_and(|error| !error.is_null()) {
        return Err("answered with an error".to_owned());
    }
    let message = reply.pointer("/choices/0/message").or(reply.get("message"));
    let message = message.and_then(Value::as_object).ok_or("answered without a message")?;
    let said = said_text(message.get("content"));
    let mut calls = tool_calls(message);
    if calls.is_empty() {
        calls = calls_in_text(&said);
    }
    calls.truncate(MOST_CALLS);
    name_calls(&mut calls);
    let ids = calls.iter().map(|call| call.id.clone()).collect();
    let usage = read_usage(reply.get("usage"), request_bytes, text.len());
    let clean = untrusted::clean_text(&said).trim().to_owned();
    let message = own_message(&said, &calls);
    let steps = calls.into_iter().map(WrittenCall::step).collect();
    let answer = PlannerAnswer { steps, usage, said: (!clean.is_empty()).then_some(clean) };
    Ok(ReadAnswer { answer, message, ids })
}

struct WrittenCall {
    id: String,
    name: String,
    arguments: Value,
}

fn tool_calls(message: &Map<String, Value>) -> Vec<WrittenCall> {
    let list = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str)?.to_owned();
        let arguments = function.get("arguments").cloned().unwrap_or(Value::Null);
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(WrittenCall { id, name, arguments })
    };
    list.iter().filter_map(read).collect()
}

/// Some models write their calls as text: `<tool_call>{"name": …, "arguments": …}</tool_call>`.
fn calls_in_text(said: &str) -> Vec<WrittenCall> {
    let parts = said.split("<tool_call>").skip(1).filter_map(|part| part.split_once("</tool_call>"));
    let read = |(text, _): (&str, &str)| {
        let call: Value = serde_json::from_str(text.trim()).ok()?;
        let name = call.get("name").and_then(Value::as_str)?.to_owned();
        let arguments = call.get("arguments").cloned().unwrap_or(Value::Null);
        Some(WrittenCall { id: String::new(), name, arguments })
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

impl WrittenCall {
    fn step(self) -> PlannedStep {
        let arguments = match read_arguments(&self.arguments) {
            Ok(arguments) => arguments,
            Err(problem) => return PlannedStep::Unreadable { tool: self.name, problem },
        };
        match self.name.as_str() {
            FINISH_TOOL => PlannedStep::Finish(
                arguments.get("result").cloned().unwrap_or_else(|| Value::Object(arguments)),
            ),
            GIVE_UP_TOOL => {
                let reason = arguments.get("reason").and_then(Value::as_str).unwrap_or("it gave no reason");
                PlannedStep::Fail(untrusted::clean_text(reason).into_owned())
            }
            _ => PlannedStep::Call { tool: self.name, args: arguments },
        }
    }
}

/// A string with JSON in it, or the object itself.
fn read_arguments(arguments: &Value) -> Result<Map<String, Value>, String> {
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

/// The model's message in the form that every server takes back.
fn own_message(said: &str, calls: &[WrittenCall]) -> Value {
    let mut message = json!({"role": "assistant", "content": said});
    if !calls.is_empty() {
        let written = |call: &WrittenCall| {
            let arguments = match &call.arguments {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
        };
        message["tool_calls"] = calls.iter().map(written).collect();
    }
    message
}

fn said_text(content: Option<&Value>) -> String {
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

/// What a server counted, or an estimate where it did not or cannot have.
fn read_usage(usage: Option<&Value>, request_bytes: usize, answer_bytes: usize) -> Usage {
    let count = |path: &str| {
        let number = usage?.pointer(path)?;
        number
            .as_u64()
            .or_else(|| number.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64))
    };
    let estimate = |bytes: usize| u64::try_from(bytes / BYTES_A_TOKEN).unwrap_or(u64::MAX);
    let (input, output) = (count("/prompt_tokens"), count("/completion_tokens"));
    Usage {
        input: input.unwrap_or_else(|| estimate(request_bytes)),
        cached_input: count("/prompt_tokens_details/cached_tokens").unwrap_or(0).min(input.unwrap_or(0)),
        output: output.unwrap_or_else(|| estimate(answer_bytes)),
        estimated: input.is_none() || output.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &Value) -> ReadAnswer {
        read_answer(&reply.to_string(), 400).unwrap_or_else(|problem| panic!("{reply}: {problem}"))
    }

    fn with_calls(calls: Value) -> Value {
        json!({"choices": [{"message": {"content": null, "tool_calls": calls}, "finish_reason": "stop"}]})
    }

    fn check_steps(calls: Value, expected: &[PlannedStep]) {
        assert_eq!(read(&with_calls(calls)).answer.steps, expected);
    }

    fn look(args: Value) -> PlannedStep {
        PlannedStep::Call { tool: "look".to_owned(), args: args.as_object().unwrap().clone() }
    }

    #[test]
    fn arguments_may_be_text_or_an_object_or_nothing() {
        let call =
            |arguments: Value| json!([{"id": "a", "function": {"name": "look", "arguments": arguments}}]);
        check_steps(call(json!("{\"ref\": \"e1\"}")), &[look(json!({"ref": "e1"}))]);
        check_steps(call(json!({"ref": "e1"})), &[look(json!({"ref": "e1"}))]);
        check_steps(call(json!("")), &[look(json!({}))]);
        check_steps(json!([{"function": {"name": "look"}}]), &[look(json!({}))]);
    }

    #[test]
    fn arguments_that_cannot_be_read_are_told() {
        for arguments in [json!("{"), json!("[1]"), json!(5)] {
            let got = read(&with_calls(json!([{"function": {"name": "look", "arguments": arguments}}])));
            assert!(matches!(&got.answer.steps[..], [PlannedStep::Unreadable { .. }]), "{arguments}");
        }
    }

    #[test]
    fn each_call_gets_an_id_of_its_own() {
        let call = |id: Value| json!({"id": id, "function": {"name": "look", "arguments": "{}"}});
        let ids = |calls: Value| read(&with_calls(calls)).ids;
        assert_eq!(ids(json!([call(json!("x")), call(json!("y"))])), ["x", "y"]);
        assert_eq!(
            ids(json!([call(json!("x")), call(json!("x")), call(json!(null))])),
            ["x", "call_2", "call_3"]
        );
    }

    #[test]
    fn calls_written_as_text_are_calls() {
        let said = "I look.<tool_call>{\"name\": \"look\", \"arguments\": {\"ref\": \"e1\"}}</tool_call>";
        let got = read(&json!({"message": {"content": said}}));
        assert_eq!(got.answer.steps, [look(json!({"ref": "e1"}))]);
    }

    #[test]
    fn the_two_ends_are_known() {
        let call =
            |name: &str, arguments: Value| json!([{"function": {"name": name, "arguments": arguments}}]);
        check_steps(call(FINISH_TOOL, json!({"result": {"a": 1}})), &[PlannedStep::Finish(json!({"a": 1}))]);
        check_steps(call(FINISH_TOOL, json!({"a": 1})), &[PlannedStep::Finish(json!({"a": 1}))]);
        check_steps(call(GIVE_UP_TOOL, json!({"reason": "no"})), &[PlannedStep::Fail("no".to_owned())]);
    }

    fn check_usage(usage: Value, expected: (u64, u64, u64, bool)) {
        let mut reply = with_calls(json!([]));
        reply["usage"] = usage;
        let got = read(&reply).answer.usage;
        let output = if expected.3 { got.output } else { expected.2 };
        assert_eq!(
            (got.input, got.cached_input, got.output, got.estimated),
            (expected.0, expected.1, output, expected.3)
        );
    }

    #[test]
    fn usage_is_counted_or_estimated() {
        let details = json!({"cached_tokens": 7});
        check_usage(
            json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": details}),
            (10, 7, 2, false),
        );
        check_usage(json!({"prompt_tokens": 10.0, "completion_tokens": 2}), (10, 0, 2, false));
        check_usage(json!(null), (100, 0, 0, true));
        check_usage(json!({"prompt_tokens": -5, "completion_tokens": -1}), (100, 0, 0, true));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for (reply, problem) in [
            ("<html>", "not answer with JSON"),
            ("{\"error\": \"x\"}", "an error"),
            ("{\"choices\": []}", "without a message"),
        ] {
            assert!(read_answer(reply, 0).err().unwrap().contains(problem), "{reply}");
        }
    }
}
