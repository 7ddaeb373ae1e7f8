//! OpenCode's server plans with whatever model it has: it is asked for a structured answer, with its own tools off.
//! <https://opencode.ai/docs/server>

use std::time::Duration;

use serde_json::{Value, json};

use super::model::{ModelPlanner, wanted_models};
use super::talk::ShownPart;
use super::voice::{
    ANSWER_BYTES, Retrying, Voice, VoiceFailure, answer_timeout, longest_wait, most_of_attempt,
    refuse_open_key, unreadable_answer, with_retries,
};
use super::wire::{OfferedTool, PlannerRequest, data_url, media_type};
use super::written::{CountedTokens, ReadReply, WrittenCall, count_at, parse_reply, settle_calls, text_of};
use super::{PlannerAsker, PlannerContext};
use crate::clock::Cancel;
use crate::config::{self, Endpoint};
use crate::jobs::dialect::Dialect;
use crate::jobs::store::Usage;
use crate::model_client::{KeyHeader, Method, ModelFailure, ModelServer, ServerConfig, SettingNames};

/// The name of whoever has the password.
const USER: &str = "opencode";
/// What is paid for where the job leaves the model to the server; it has no price.
const ITS_OWN_MODEL: &str = "the model that opencode chooses";

/// The tool by which it makes a model answer in a form.
const ANSWERING_TOOL: &str = "StructuredOutput";

const SETTINGS: SettingNames = SettingNames {
    base_url: "planner.opencode_url",
    api_key: "planner.opencode_password",
    api_key_or_variable: "planner.opencode_password (or OPENCODE_SERVER_PASSWORD)",
    model: "planner.model, as provider/model",
    timeout: "planner.timeout_s",
    smaller: "the size of screenshots",
    max_tokens: "planner.max_tokens",
};

pub fn open(context: PlannerContext, dialect: Dialect) -> Result<ModelPlanner, String> {
    let voice = OpencodeVoice::open(context.config)?;
    let models = wanted_models(context).unwrap_or_else(|_| vec![ITS_OWN_MODEL.to_owned()]);
    if let Some(wrong) = models.iter().find(|model| *model != ITS_OWN_MODEL && !model.contains('/')) {
        return Err(format!("the model '{wrong}' has no provider; opencode wants provider/model"));
    }
    Ok(ModelPlanner::with_models(context, Box::new(voice), dialect, models))
}

/// Whether there is reason to think that OpenCode is there: its program, or a setting of it.
pub fn find_server(config: &config::Planner) -> Result<(), String> {
    let is_set =
        config.opencode_password.is_some() || config.opencode_url != config::Planner::default().opencode_url;
    if is_set || which::which_global(USER).is_ok() {
        return Ok(());
    }
    Err("there is no program 'opencode' here, and neither planner.opencode_url nor planner.opencode_password is set"
        .to_owned())
}

pub struct OpencodeVoice {
    server: ModelServer,
    lost: Usage,
    longest_wait: Duration,
}

impl OpencodeVoice {
    pub fn open(config: &config::Planner) -> Result<Self, String> {
        let base_url = with_login(config);
        let server = ModelServer::new(&ServerConfig {
            base_url: &base_url,
            api_key: None,
            key_header: KeyHeader::Bearer,
            timeout: answer_timeout(config),
            answer_bytes: ANSWER_BYTES,
            settings: &SETTINGS,
        })
        .map_err(|error| error.message)?;
        refuse_open_key(&server, config, SETTINGS.api_key)?;
        Ok(Self { server, lost: Usage::default(), longest_wait: longest_wait(config) })
    }

    /// Whether somebody answers there.
    pub fn check_health(&self, cancel: &Cancel) -> Result<(), String> {
        let answered = self.server.request_at(Method::GET, "/global/health", None, cancel);
        let text = answered.map_err(|failure| failure.error.message)?;
        let health = parse_reply(&text).ok().and_then(|reply| reply.get("healthy")?.as_bool());
        match health {
            Some(true) => Ok(()),
            _ => Err(self.server.describe_server("does not say that it is healthy")),
        }
    }
}

/// A session for one question: older ones would be told again by the server, in its own way.
fn new_session(server: &ModelServer, cancel: &Cancel) -> Result<String, ModelFailure> {
    let text = server.request_at(Method::POST, "/session", Some(r#"{"title": "job"}"#), cancel)?;
    let id = parse_reply(&text).map(|reply| text_of(&reply, "id"));
    match id {
        Ok(id) if is_id(&id) => Ok(id),
        _ => Err(server.answer_failure("did not answer with a session", &text)),
    }
}

/// It becomes a part of a path.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 128 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The password in the form of a login, unless the address has one.
fn with_login(config: &config::Planner) -> Endpoint {
    let address = config.opencode_url.reveal();
    let password = config.opencode_password.as_ref();
    match (address.split_once("://"), password) {
        (Some((scheme, rest)), Some(password)) if !rest.contains('@') => {
            let encoded: String = password.reveal().bytes().map(|byte| format!("%{byte:02X}")).collect();
            Endpoint::new(format!("{scheme}://{USER}:{encoded}@{rest}"))
        }
        _ => config.opencode_url.clone(),
    }
}

impl Voice for OpencodeVoice {
    fn ask(&mut self, request: &PlannerRequest, asker: PlannerAsker) -> Result<ReadReply, VoiceFailure> {
        let body = write_message(request).to_string();
        let Self { server, lost, longest_wait } = self;
        let (cancel, retrying) =
            (asker.cancel, Retrying { model: request.model, longest_wait: *longest_wait, asker });
        let most = most_of_attempt(body.len(), request.max_tokens);
        let session =
            with_retries(retrying, &mut Usage::default(), Usage::default(), || new_session(server, cancel))?;
        let path = format!("/session/{session}/message");
        let text = with_retries(retrying, lost, most, || {
            server.request_at(Method::POST, &path, Some(&body), cancel)
        });
        // One that stays is only a line in the server's list.
        let _ = server.request_at(Method::DELETE, &format!("/session/{session}"), None, cancel);
        let text = text?;
        read_message(&text, body.len()).map_err(|problem| {
            let said = server.answer_failure(&problem, &text).error.message;
            unreadable_answer(&text, said, (body.len(), most), lost)
        })
    }

    fn take_lost_usage(&mut self) -> Usage {
        std::mem::take(&mut self.lost)
    }
}

fn write_message(request: &PlannerRequest) -> Value {
    let mut body = json!({
        "system": write_system(request),
        "tools": {"*": false, ANSWERING_TOOL: true},
        "parts": write_parts(request),
    });
    if let Some((provider, model)) = request.model.split_once('/') {
        body["model"] = json!({"providerID": provider, "modelID": model});
    }
    if !request.tools.is_empty() {
        body["format"] = json!({"type": "json_schema", "schema": answer_schema(request.tools)});
    }
    body
}

fn write_system(request: &PlannerRequest) -> String {
    let tool = |tool: &OfferedTool| {
        json!({"tool": tool.name, "description": tool.brief, "arguments": tool.schema}).to_string()
    };
    let tools: Vec<String> = request.tools.iter().map(tool).collect();
    format!(
        "{}\nYou call tools by listing them in your answer; their results come with the next question. The tools:\n{}",
        request.system,
        tools.join("\n")
    )
}

fn answer_schema(tools: &[OfferedTool]) -> Value {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let call = json!({
        "type": "object",
        "properties": {"tool": {"type": "string", "enum": names}, "arguments": {"type": "object"}},
        "required": ["tool", "arguments"],
    });
    json!({
        "type": "object",
        "properties": {"said": {"type": "string"}, "calls": {"type": "array", "items": call}},
        "required": ["calls"],
    })
}

/// The talk as one text, and the pictures behind it.
fn write_parts(request: &PlannerRequest) -> Vec<Value> {
    let mut lines = Vec::new();
    let mut pictures = Vec::new();
    let mut show = |picture: Option<&crate::tool::Encoded>| {
        pictures.extend(picture.map(|picture| {
            json!({"type": "file", "mime": media_type(picture), "url": data_url(picture), "filename": "screenshot"})
        }));
    };
    for part in &request.talk {
        match part {
            ShownPart::Told { text, picture } => {
                lines.push(format!("TASK: {text}"));
                show(*picture);
            }
            ShownPart::Answered(message) => lines.push(format!("YOU ANSWERED: {message}")),
            ShownPart::Result(result) => {
                lines.push(format!("RESULT OF {} ({}): {}", result.name, result.id, result.text));
                show(result.picture);
            }
        }
    }
    let mut parts = vec![json!({"type": "text", "text": lines.join("\n\n")})];
    parts.append(&mut pictures);
    parts
}

fn read_message(text: &str, request_bytes: usize) -> Result<ReadReply, String> {
    let reply = parse_reply(text)?;
    let info = reply.get("info").ok_or("answered without info")?;
    if let Some(error) = info.get("error").filter(|error| !error.is_null()) {
        return Err(format!("answered with the error {}", text_of(error, "name")));
    }
    let answer = info.get("structured").cloned().unwrap_or(Value::Null);
    let own_words = reply.get("parts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts = own_words.iter().filter(|part| text_of(part, "type") == "text");
    let spoken: String = texts.map(|part| text_of(part, "text")).collect();
    let said = match text_of(&answer, "said") {
        said if said.is_empty() => spoken,
        said => said,
    };
    let calls = answer.get("calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let calls = settle_calls(calls.iter().filter_map(read_call).collect(), &said);
    let usage = read_usage(info.get("tokens"), request_bytes, text.len());
    let message = if answer.is_null() { json!({"said": said}) } else { answer };
    Ok(ReadReply { said, calls, message, usage })
}

fn read_call(call: &Value) -> Option<WrittenCall> {
    let name = ["tool", "name"].iter().find_map(|key| call.get(*key)?.as_str())?.to_owned();
    let arguments = call.get("arguments").cloned().unwrap_or(Value::Null);
    Some(WrittenCall { id: text_of(call, "id"), name, arguments, ..WrittenCall::default() })
}

/// Cached tokens stand beside the input, and thoughts beside the output.
fn read_usage(tokens: Option<&Value>, request_bytes: usize, answer_bytes: usize) -> Usage {
    let cached_input = count_at(tokens, "/cache/read");
    let cache_writes = count_at(tokens, "/cache/write");
    let beside = cached_input.unwrap_or(0).saturating_add(cache_writes.unwrap_or(0));
    let thoughts = count_at(tokens, "/reasoning").unwrap_or(0);
    // A provider that does not count is written as 0.
    let counted = |path: &str| count_at(tokens, path).filter(|count| *count > 0 || beside > 0);
    CountedTokens {
        input: counted("/input").map(|input| input.saturating_add(beside)),
        cached_input,
        cache_writes,
        output: counted("/output").map(|output| output.saturating_add(thoughts)),
    }
    .usage(request_bytes, answer_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(info: Value) -> ReadReply {
        read_message(&json!({"info": info, "parts": []}).to_string(), 400).unwrap()
    }

    #[test]
    fn a_structured_answer_has_calls() {
        let calls = json!([{"tool": "look", "arguments": {}}, {"name": "act", "arguments": "{}"}, {"x": 1}]);
        let tokens = json!({"input": 10, "output": 2, "reasoning": 3, "cache": {"read": 100, "write": 0}});
        let got = read(json!({"structured": {"said": "so", "calls": calls}, "tokens": tokens}));
        let names: Vec<&str> = got.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!((names, got.said.as_str()), (vec!["look", "act"], "so"));
        assert_eq!((got.usage.input, got.usage.cached_input, got.usage.output), (110, 100, 5));
    }

    #[test]
    fn what_is_not_counted_is_estimated() {
        assert!(read(json!({"tokens": {"input": 0, "output": 0}})).usage.estimated);
        assert!(read(json!({"tokens": {"input": -3, "output": 1}})).usage.estimated);
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let error = json!({"info": {"error": {"name": "ProviderAuthError"}}}).to_string();
        for reply in ["<html>", "{}", error.as_str()] {
            assert!(read_message(reply, 0).is_err(), "{reply}");
        }
        assert!(is_id("ses_1") && !is_id("../x") && !is_id(""));
    }

    #[test]
    fn a_password_becomes_a_login() {
        let config = |url: &str, password: Option<&str>| config::Planner {
            opencode_url: Endpoint::new(url),
            opencode_password: password.map(config::Secret::new),
            ..config::Planner::default()
        };
        let address = |url, password| with_login(&config(url, password)).reveal().to_owned();
        assert_eq!(address("http://h:1", None), "http://h:1");
        assert_eq!(address("http://h:1", Some("a@b")), "http://opencode:%61%40%62@h:1");
        assert_eq!(address("http://u:p@h:1", Some("x")), "http://u:p@h:1");
    }
}
