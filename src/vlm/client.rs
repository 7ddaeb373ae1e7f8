//! The questions of the vision model: an OpenAI-compatible chat-completions server, read leniently.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::clock::Cancel;
use crate::config::Vlm;
use crate::error::Error;
use crate::model_client::{KeyHeader, ModelServer, ServerConfig, SettingNames};
pub use crate::model_client::{KnownPrefix, ModelFailure, model_names};
use crate::privacy::untrusted;

/// No description of a window is longer.
const ANSWER_BYTES: usize = 4 << 20;

const SETTINGS: SettingNames = SettingNames {
    base_url: "vlm.base_url",
    api_key: "vlm.api_key",
    api_key_or_variable: "vlm.api_key (or OWUI_API_KEY)",
    model: "vlm.model",
    timeout: "vlm.timeout_s",
    smaller: "vlm.image_max_dim",
    max_tokens: "vlm.max_tokens",
};

pub struct Client<'a> {
    server: ModelServer,
    known: &'a KnownPrefix,
}

/// One question to a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    pub model: &'a str,
    pub prompt: &'a str,
    pub png: Option<&'a [u8]>,
    pub max_tokens: u32,
    pub temperature: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ModelAnswer {
    pub text: String,
    /// What the server says it used; many local servers say nothing.
    pub tokens: Option<u64>,
}

impl<'a> Client<'a> {
    pub fn new(config: &Vlm, known: &'a KnownPrefix) -> Result<Self, Error> {
        let server = ModelServer::new(&ServerConfig {
            base_url: &config.base_url,
            api_key: config.api_key.as_ref(),
            key_header: KeyHeader::Bearer,
            timeout: Duration::try_from_secs_f64(config.timeout_s).unwrap_or(Duration::from_secs(240)),
            answer_bytes: ANSWER_BYTES,
            settings: &SETTINGS,
        })?;
        Ok(Self { server, known })
    }

    /// Asks one question and waits for the answer. <https://platform.openai.com/docs/api-reference/chat/create>
    pub fn ask_model(&self, ask: &ModelRequest, cancel: &Cancel) -> Result<ModelAnswer, ModelFailure> {
        let body = request_body(ask).to_string();
        let text = self.server.post("/chat/completions", &body, self.known, cancel)?;
        self.parse_answer(&text)
    }

    /// The names of the models that the server offers.
    pub fn list_models(&self, cancel: &Cancel) -> Result<Vec<String>, ModelFailure> {
        self.server.list_models(cancel)
    }

    /// What the model said in a server's whole answer. The key is in neither the answer nor the failure.
    pub fn parse_answer(&self, text: &str) -> Result<ModelAnswer, ModelFailure> {
        match read_completion(text) {
            // Cleaned first: an escape inside the key would hide it here and be taken out later.
            Ok(answer) => {
                let said = self.server.without_secrets(&untrusted::clean_text(&answer.text));
                Ok(ModelAnswer { text: said, ..answer })
            }
            Err(problem) => Err(self.server.answer_failure(&problem, text)),
        }
    }
}

fn request_body(ask: &ModelRequest) -> Value {
    let content = match ask.png {
        // Servers without eyes take plain text only.
        None => json!(ask.prompt),
        Some(png) => json!([
            {"type": "image_url",
             "image_url": {"url": format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png))}},
            {"type": "text", "text": ask.prompt},
        ]),
    };
    json!({
        "model": ask.model,
        "messages": [{"role": "user", "content": content}],
        "max_tokens": ask.max_tokens,
        "temperature": ask.temperature,
        "stream": false,
    })
}

/// What the model said, wherever the server put it; else why nothing can be read.
fn read_completion(text: &str) -> Result<ModelAnswer, String> {
    let reply: Value =
        serde_json::from_str(text).map_err(|problem| format!("did not answer with JSON ({problem})"))?;
    if reply.get("error").is_some_and(|error| !error.is_null()) {
        return Err("answered with an error".to_owned());
    }
    let choice = reply.pointer("/choices/0").unwrap_or(&reply);
    let content = choice.pointer("/message/content").or(choice.get("text")).unwrap_or(&Value::Null);
    let said = joined_parts(content);
    if said.trim().is_empty() {
        return Err(match choice.get("finish_reason").and_then(Value::as_str) {
            Some("length") => "used up its tokens before it answered; raise vlm.max_tokens".to_owned(),
            _ => "answered, but the model's text is empty".to_owned(),
        });
    }
    Ok(ModelAnswer { text: said.trim().to_owned(), tokens: tokens_used(&reply) })
}

/// A text, or a list of strings and of objects with a text.
fn joined_parts(content: &Value) -> String {
    let one = |part: &Value| match part {
        Value::String(text) => text.clone(),
        Value::Object(fields) => fields.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    };
    match content {
        Value::Array(parts) => parts.iter().map(one).collect(),
        other => one(other),
    }
}

fn tokens_used(reply: &Value) -> Option<u64> {
    let usage = reply.get("usage")?;
    let count =
        |key: &str| usage.get(key).and_then(|number| number.as_u64().or(number.as_f64().map(|n| n as u64)));
    count("total_tokens").or_else(|| {
        let parts = (count("prompt_tokens"), count("completion_tokens"));
        (parts != (None, None)).then(|| parts.0.unwrap_or(0).saturating_add(parts.1.unwrap_or(0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_completion(reply: &Value, expected: Result<(&str, Option<u64>), &str>) {
        match (read_completion(&reply.to_string()), expected) {
            (Ok(answer), Ok((text, tokens))) => {
                assert_eq!((answer.text.as_str(), answer.tokens), (text, tokens))
            }
            (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{problem}"),
            (got, _) => panic!("{reply} gave {got:?}"),
        }
    }

    #[test]
    fn completions_are_read_leniently() {
        let with = |content: Value| json!({"choices": [{"message": {"content": content}}]});
        check_completion(&with(json!(" hi ")), Ok(("hi", None)));
        check_completion(&with(json!([{"type": "text", "text": "a"}, "b", 7, {"x": 1}])), Ok(("ab", None)));
        check_completion(&json!({"choices": [{"text": "old"}]}), Ok(("old", None)));
        check_completion(&json!({"message": {"content": "ollama"}}), Ok(("ollama", None)));
        let mut reply = with(json!("x"));
        reply["usage"] = json!({"prompt_tokens": 3, "completion_tokens": 4.0});
        check_completion(&reply, Ok(("x", Some(7))));
        reply["usage"] = json!({"total_tokens": 9});
        check_completion(&reply, Ok(("x", Some(9))));
        reply["usage"] = json!("none");
        check_completion(&reply, Ok(("x", None)));
    }

    #[test]
    fn what_says_nothing_is_an_error() {
        check_completion(&json!({"choices": []}), Err("text is empty"));
        check_completion(&json!([1]), Err("text is empty"));
        check_completion(&json!({"error": {"message": "no such model"}}), Err("answered with an error"));
        let cut = json!({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]});
        check_completion(&cut, Err("raise vlm.max_tokens"));
        assert!(read_completion("<html>").unwrap_err().contains("not answer with JSON"));
    }
}
