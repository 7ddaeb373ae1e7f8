//! What the protocol's conformance suite calls by name, beside our own tools: a build for tests only.
//!
//! The suite finds out how a server answers by calling tools, resources and prompts that it describes. They
//! are lines of a table here; everything else, from the socket to the seal of a question's state, is the
//! server's own.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, InitializeRequestParams, InitializeResult,
    InputRequiredResult, InputResponses, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, SealOptions, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::McpServer;
use crate::app::App;
use crate::clock::sleep_task;

static TABLE: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("fixtures.json").replace("\"PNG\"", PNG).replace("\"WAV\"", WAV);
    serde_json::from_str(&text).unwrap_or_default()
});

/// One pixel, and a sound without a sample.
const PNG: &str =
    "\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==\"";
const WAV: &str = "\"UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=\"";

const STEP: Duration = Duration::from_millis(50);
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// The server, and what the suite looks for in it.
#[derive(Clone)]
pub struct Fixtures(McpServer);

impl Fixtures {
    pub fn stateless(app: Arc<App>, shutdown: CancellationToken) -> Self {
        Self(McpServer::stateless(app, shutdown))
    }

    /// Asks round after round what the fixture lists; `None` when everything is answered.
    fn ask_rounds(
        &self,
        fixture: &Value,
        name: &str,
        state: Option<&str>,
        answers: Option<&InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<InputRequiredResult>, ErrorData> {
        let Some(rounds) = fixture["rounds"].as_array() else {
            return Ok(None);
        };
        let codec = self
            .0
            .ask
            .state_codec()
            .ok_or_else(|| ErrorData::internal_error("nothing can be sealed", None))?;
        let round = match state {
            None => 0,
            Some(state) => codec
                .open_with(state, name.as_bytes())
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok()?.parse::<usize>().ok())
                .ok_or_else(|| ErrorData::invalid_params("requestState is not this server's", None))?,
        };
        let keys = |round: usize| rounds.get(round).and_then(Value::as_array).into_iter().flatten();
        let answered = |key: &str| answers.is_some_and(|all| all.get(key).is_some_and(Value::is_object));
        let complete = keys(round).filter_map(Value::as_str).all(answered);
        let round = if complete { round + 1 } else { round };
        if round >= rounds.len() {
            return Ok(None);
        }
        let can = json!(context.client_capabilities());
        let asked: Map<String, Value> = keys(round)
            .filter_map(Value::as_str)
            .map(|key| (key.to_owned(), TABLE["asked"][key].clone()))
            .filter(|(_, request)| can.get(needed_capability(request)).is_some_and(|can| !can.is_null()))
            .collect();
        let options = SealOptions::new().associated_data(name.as_bytes()).ttl(ANSWER_WITHIN);
        let sealed = codec.seal_with(round.to_string().as_bytes(), &options);
        let result = json!({"resultType": "input_required", "inputRequests": asked, "requestState": sealed});
        decode_fixture(result).map(Some)
    }
}

/// The capability that a request to the client needs: the first word of its method.
fn needed_capability(request: &Value) -> &str {
    request["method"].as_str().and_then(|method| method.split('/').next()).unwrap_or_default()
}

fn decode_fixture<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|problem| ErrorData::internal_error(problem.to_string(), None))
}

/// The last answer to a request, as the newer era marks it.
fn complete_result<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = "complete".into();
    decode_fixture(value)
}

fn fixture_entries(kind: &str) -> impl Iterator<Item = (&'static String, &'static Value)> {
    TABLE[kind].as_object().into_iter().flatten()
}

fn fixture_tools() -> Result<Vec<Tool>, ErrorData> {
    let listed = |(name, fixture): (&String, &Value)| {
        let input = fixture.get("input").cloned().unwrap_or_else(|| json!({"type": "object"}));
        json!({"name": name, "description": "For the conformance suite.", "inputSchema": input})
    };
    decode_fixture(fixture_entries("tools").map(listed).collect())
}

/// Arguments stand in braces where they are put in.
fn fill_arguments(
    text: &Value,
    arguments: impl Iterator<Item = (String, String)>,
) -> Result<Value, ErrorData> {
    let escaped = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
    let text = arguments
        .fold(text.to_string(), |text, (name, value)| text.replace(&format!("{{{name}}}"), &escaped(&value)));
    serde_json::from_str(&text).map_err(|problem| ErrorData::internal_error(problem.to_string(), None))
}

fn text_arguments(arguments: Option<Map<String, Value>>) -> impl Iterator<Item = (String, String)> {
    arguments.into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())))
}

async fn make_progress(fixture: &Value, context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    for done in fixture["progress"].as_array().into_iter().flatten().filter_map(Value::as_f64) {
        let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        let _ = context.peer.notify_progress(progress).await;
        sleep_task(STEP).await;
    }
}

fn missing_capability(fixture: &Value, context: &RequestContext<RoleServer>) -> Option<ErrorData> {
    let can = json!(context.client_capabilities());
    let needed = fixture["needs"].as_object()?;
    let lacking = needed.keys().any(|name| can.get(name).is_none_or(Value::is_null));
    lacking.then(|| {
        let data = json!({"requiredCapabilities": needed});
        ErrorData::new(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, "the client cannot do that", Some(data))
    })
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.0.initialize(request, context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.0.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.0.listen(context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixture = fixture_tools().ok()?.into_iter().find(|tool| tool.name == name);
        fixture.or_else(|| self.0.get_tool(name))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.0.list_tools(request, context).await?;
        listed.tools.extend(fixture_tools()?);
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(fixture) = TABLE["tools"].get(request.name.as_ref()) else {
            return self.0.call_tool(request, context).await;
        };
        if let Some(missing) = missing_capability(fixture, &context) {
            return Err(missing);
        }
        let (state, answers) = (request.request_state.as_deref(), request.input_responses.as_ref());
        if let Some(question) = self.ask_rounds(fixture, &request.name, state, answers, &context)? {
            return Ok(question.into());
        }
        make_progress(fixture, &context).await;
        let done = json!({"content": [{"type": "text", "text": "state-ok"}]});
        Ok(CallToolResponse::Complete(complete_result(fixture.get("result").cloned().unwrap_or(done))?))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let fixture = |(uri, contents): (&String, &Value)| json!({"uri": uri, "name": uri, "mimeType": contents["mimeType"]});
        let mut listed = self.0.list_resources(request, context).await?;
        listed
            .resources
            .extend(decode_fixture::<Vec<_>>(fixture_entries("resources").map(fixture).collect())?);
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let fixture = |(uri, _): (&String, &Value)| json!({"uriTemplate": uri, "name": uri});
        let mut listed = self.0.list_resource_templates(request, context).await?;
        listed
            .resource_templates
            .extend(decode_fixture::<Vec<_>>(fixture_entries("templates").map(fixture).collect())?);
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let fixed = TABLE["resources"].get(uri).cloned();
        let contents = fixed.or_else(|| {
            fixture_entries("templates").find_map(|(template, contents)| {
                let (before, after) = template.split_once("{id}")?;
                let id = uri.strip_prefix(before)?.strip_suffix(after)?;
                fill_arguments(contents, [("id".to_owned(), id.to_owned())].into_iter()).ok()
            })
        });
        let Some(mut contents) = contents else {
            return self.0.read_resource(request, context).await;
        };
        contents["uri"] = uri.into();
        Ok(ReadResourceResponse::Complete(complete_result(json!({"contents": [contents]}))?))
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let fixture = |(name, prompt): (&String, &Value)| {
            let names = prompt["arguments"].as_array().into_iter().flatten();
            let arguments: Vec<Value> = names.map(|name| json!({"name": name, "required": true})).collect();
            json!({"name": name, "description": "For the conformance suite.", "arguments": arguments})
        };
        let mut listed = self.0.list_prompts(request, context).await?;
        listed.prompts.extend(decode_fixture::<Vec<_>>(fixture_entries("prompts").map(fixture).collect())?);
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = TABLE["prompts"].get(&request.name) else {
            return self.0.get_prompt(request, context).await;
        };
        let (state, answers) = (request.request_state.as_deref(), request.input_responses.as_ref());
        if let Some(question) = self.ask_rounds(prompt, &request.name, state, answers, &context)? {
            return Ok(question.into());
        }
        let messages = fill_arguments(&prompt["messages"], text_arguments(request.arguments))?;
        Ok(GetPromptResponse::Complete(complete_result(json!({ "messages": messages }))?))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match request.r#ref.as_prompt_name().and_then(|name| TABLE["prompts"].get(name)) {
            Some(_) => Ok(CompleteResult::default()),
            None => self.0.complete(request, context).await,
        }
    }
}
