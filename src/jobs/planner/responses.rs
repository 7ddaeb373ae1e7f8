//! OpenAI's Responses API, without anything stored at the server.
//! <https://platform.openai.com/docs/api-reference/responses/create>

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::talk::{SCREENSHOT_BELOW, ShownPart, ShownResult, write_parts};
use super::wire::{OfferedTool, PlannerRequest, Toolset, Wire, data_url};
use super::written::{
    CallForm, ReadReply, WrittenCall, arguments_text, openai_usage, parse_reply, said_text, settle_calls,
    text_of,
};
use crate::text::shorten;
use crate::tool::Encoded;

pub struct ResponsesWire;

/// The name under which a list of actions reaches the dialect.
pub const COMPUTER: &str = "computer";
/// The model that had the toolset first, under another name.
const PREVIEW_MODEL: &str = "computer-use-preview";
const TOLD_ACTIONS: usize = 300;

impl Wire for ResponsesWire {
    fn route(&self) -> &'static str {
        "/responses"
    }

    fn has_toolset(&self) -> bool {
        true
    }

    fn write_request(&self, request: &PlannerRequest) -> Value {
        let mut tools: Vec<Value> = request.tools.iter().map(write_tool).collect();
        let mut body = json!({
            "model": request.model,
            "instructions": request.system,
            "input": write_input(&request.talk),
            "max_output_tokens": request.max_tokens,
            "store": false,
        });
        if let Some(toolset) = request.toolset {
            tools.push(computer_tool(request.model, toolset));
            body["truncation"] = "auto".into();
            body["include"] = json!(["reasoning.encrypted_content"]);
        }
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        body
    }

    fn read_reply(&self, text: &str, request_bytes: usize) -> Result<ReadReply, String> {
        let reply = parse_reply(text)?;
        let items = reply.get("output").and_then(Value::as_array).ok_or("answered without an output")?;
        let messages = items.iter().filter(|item| text_of(item, "type") == "message");
        let said: String = messages.map(|item| said_text(item.get("content"))).collect();
        let calls = settle_calls(items.iter().filter_map(read_call).collect(), &said);
        let message = own_items(items, &said, &calls);
        let usage =
            openai_usage(reply.get("usage"), ("input_tokens", "output_tokens"), request_bytes, text.len());
        Ok(ReadReply { said, calls, message, usage })
    }
}

fn write_tool(tool: &OfferedTool) -> Value {
    let OfferedTool { name, brief, schema } = tool;
    json!({"type": "function", "name": name, "description": brief, "parameters": schema, "strict": false})
}

fn computer_tool(model: &str, toolset: &Toolset) -> Value {
    if !model.starts_with(PREVIEW_MODEL) {
        return json!({"type": "computer"});
    }
    let (width, height) = toolset.display.unwrap_or((1024, 768));
    let environment = match std::env::consts::OS {
        "windows" => "windows",
        "macos" => "mac",
        _ => "linux",
    };
    json!({"type": "computer_use_preview", "display_width": width, "display_height": height, "environment": environment})
}

fn write_input(talk: &[ShownPart]) -> Vec<Value> {
    let seen = calls_with_picture(talk);
    write_parts(talk, |part, input, pictures| match part {
        ShownPart::Told { text, picture } => input.push(user_item(text, *picture)),
        ShownPart::Answered(items) => {
            input.extend(items.as_array().into_iter().flatten().map(|item| sendable_item(item, &seen)));
        }
        ShownPart::Result(result) => write_result(result, &seen, input, pictures),
    })
}

/// A result of the computer is a screenshot and nothing else.
fn calls_with_picture<'a>(talk: &'a [ShownPart]) -> BTreeSet<&'a str> {
    let with_picture = |part: &'a ShownPart| match part {
        ShownPart::Result(result) if result.picture.is_some() => Some(result.id),
        _ => None,
    };
    talk.iter().filter_map(with_picture).collect()
}

/// Actions whose screenshot is no longer sent become words: the server takes no result without one.
fn sendable_item(item: &Value, seen: &BTreeSet<&str>) -> Value {
    let id = text_of(item, "call_id");
    if text_of(item, "type") != "computer_call" || seen.contains(id.as_str()) {
        return item.clone();
    }
    let actions = item.get("actions").or(item.get("action")).cloned().unwrap_or_default().to_string();
    let said = format!("(earlier actions: {})", shorten(&actions, TOLD_ACTIONS));
    json!({"role": "assistant", "content": [{"type": "output_text", "text": said}]})
}

fn write_result(
    result: &ShownResult,
    seen: &BTreeSet<&str>,
    input: &mut Vec<Value>,
    pictures: &mut Vec<Value>,
) {
    let ShownResult { id, text, form, failed, picture, .. } = result;
    match (form, picture) {
        (CallForm::Computer, Some(picture)) => {
            let output = json!({"type": "computer_screenshot", "image_url": data_url(picture)});
            input.push(json!({"type": "computer_call_output", "call_id": id, "output": output}));
            pictures.extend(failed.then(|| user_item(text, None)));
        }
        (CallForm::Computer, None) => pictures.push(user_item(text, None)),
        _ => {
            input.push(json!({"type": "function_call_output", "call_id": id, "output": text}));
            let shown = picture.filter(|_| seen.contains(id));
            pictures.extend(shown.map(|picture| user_item(SCREENSHOT_BELOW, Some(picture))));
        }
    }
}

fn user_item(text: &str, picture: Option<&Encoded>) -> Value {
    let mut content = vec![json!({"type": "input_text", "text": text})];
    content.extend(picture.map(|picture| json!({"type": "input_image", "image_url": data_url(picture)})));
    json!({"role": "user", "content": content})
}

fn read_call(item: &Value) -> Option<WrittenCall> {
    let id = [text_of(item, "call_id"), text_of(item, "id")].into_iter().find(|id| !id.is_empty());
    let id = id.unwrap_or_default();
    match text_of(item, "type").as_str() {
        "function_call" => {
            let name = item.get("name").and_then(Value::as_str)?.to_owned();
            let arguments = item.get("arguments").cloned().unwrap_or(Value::Null);
            Some(WrittenCall { id, name, arguments, form: CallForm::Function })
        }
        "computer_call" => {
            let single = || item.get("action").map(|action| json!([action]));
            let actions = item.get("actions").cloned().or_else(single).unwrap_or_else(|| json!([]));
            let checks = item.get("pending_safety_checks").cloned().unwrap_or_else(|| json!([]));
            let arguments = json!({"actions": actions, "pending_safety_checks": checks});
            Some(WrittenCall { id, name: COMPUTER.to_owned(), arguments, form: CallForm::Computer })
        }
        _ => None,
    }
}

/// What goes back: calls in the form that every server takes, and the computer's items as they came.
fn own_items(items: &[Value], said: &str, calls: &[WrittenCall]) -> Value {
    if calls.iter().any(|call| call.form == CallForm::Computer) {
        return items.to_vec().into();
    }
    let mut own = Vec::new();
    if !said.is_empty() {
        own.push(json!({"role": "assistant", "content": [{"type": "output_text", "text": said}]}));
    }
    own.extend(calls.iter().map(|call| {
        let arguments = arguments_text(&call.arguments);
        json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
    }));
    own.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: Value) -> ReadReply {
        let usage =
            json!({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2});
        ResponsesWire.read_reply(&json!({"output": output, "usage": usage}).to_string(), 400).unwrap()
    }

    #[test]
    fn function_calls_and_words_are_read() {
        let got = read(json!([
            {"type": "reasoning", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        ]));
        assert_eq!((got.said.as_str(), got.calls[0].name.as_str()), ("I look.", "look"));
        assert_eq!((got.usage.input, got.usage.cached_input, got.usage.output), (10, 4, 2));
        assert_eq!(got.message.as_array().unwrap().len(), 2, "what the model thought does not go back");
    }

    #[test]
    fn actions_may_be_one_or_a_list() {
        let call = |more: Value| {
            let mut item = json!({"type": "computer_call", "call_id": "c", "id": "i"});
            item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            read(json!([item])).calls.remove(0).arguments["actions"].as_array().unwrap().len()
        };
        assert_eq!(call(json!({"action": {"type": "screenshot"}})), 1);
        assert_eq!(call(json!({"actions": [{"type": "wait"}, {"type": "wait"}]})), 2);
        assert_eq!(call(json!({})), 0);
    }

    #[test]
    fn actions_without_a_screenshot_become_words() {
        let item = json!({"type": "computer_call", "call_id": "c", "actions": [{"type": "wait"}]});
        assert_eq!(sendable_item(&item, &BTreeSet::from(["c"])), item);
        assert!(sendable_item(&item, &BTreeSet::new()).to_string().contains("earlier actions"));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for reply in ["<html>", "{}", "{\"error\": {\"message\": \"x\"}}"] {
            assert!(ResponsesWire.read_reply(reply, 0).is_err(), "{reply}");
        }
    }
}
