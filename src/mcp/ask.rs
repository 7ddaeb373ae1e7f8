//! Asking the person behind an MCP client, in both eras of the protocol.
//!
//! Since 2026-07-28 a server asks by answering the call with a question; the client calls again with the
//! answer and the state that came with the question. Before, the server sends a request of its own and
//! waits (<https://modelcontextprotocol.io/specification/2025-06-18/client/elicitation>). Either way
//! the answer goes to the gate, which judges everything again: this file only asks.
//! What a hostile client answers cannot be checked; this protects against a misled model.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, JsonObject, ProtocolVersion, RequestStateCodec,
    SealOptions, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use serde_json::Value;

use crate::gate::confirm::{Person, Question, Ticket};

/// The name of the one question in a round, and of the one field in its form.
const QUESTION: &str = "confirm";
const FIELD: &str = "allow";

/// Seals what goes to the client and comes back, so that an answer belongs to a question of this process
/// and to the same call. That it serves once is the gate's doing.
pub struct StateSeal {
    codec: Option<RequestStateCodec>,
}

impl StateSeal {
    pub fn new() -> Self {
        let mut key = [0_u8; RequestStateCodec::MIN_KEY_LENGTH];
        // Without random numbers nothing can be sealed, and then nobody is asked that way.
        let codec = getrandom::fill(&mut key).ok().and_then(|()| RequestStateCodec::try_new(key).ok());
        Self { codec }
    }

    #[cfg(feature = "conformance")]
    pub fn state_codec(&self) -> Option<&RequestStateCodec> {
        self.codec.as_ref()
    }

    /// What the call brings along: an answer, or the ability to ask for one.
    pub fn person_for_call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Person {
        match &request.request_state {
            Some(state) => self.person_from_state(request, state),
            None if can_ask(context) && (self.codec.is_some() || !is_modern(context)) => Person::Reachable,
            None => Person::Unreachable,
        }
    }

    fn person_from_state(&self, request: &CallToolRequestParams, state: &str) -> Person {
        let call = bound_call(&request.name, request.arguments.as_ref());
        let opened = self.codec.as_ref().and_then(|codec| codec.open_with(state, call.as_bytes()).ok());
        let ticket = opened.and_then(|bytes| String::from_utf8(bytes).ok()).map(Ticket);
        // A state that is not ours stands for no question; the gate then finds the answer invalid.
        let ticket = ticket.unwrap_or(Ticket(String::new()));
        let answers = request.input_responses.as_ref();
        let answer = answers.and_then(|all| serde_json::from_value(all.get(QUESTION)?.clone()).ok());
        person_from_answer(answer.as_ref(), ticket)
    }

    /// The newer era's way: the call is answered by the question.
    pub fn input_required(
        &self,
        question: &Question,
        tool: &str,
        args: &Value,
        ttl: Duration,
    ) -> Option<InputRequiredResult> {
        let call = bound_call(tool, args.as_object());
        let options = SealOptions::new().associated_data(call.as_bytes()).ttl(ttl);
        let state = self.codec.as_ref()?.seal_with(question.ticket.0.as_bytes(), &options);
        let asked = InputRequest::Elicitation(ElicitRequest::new(elicitation_form(question)?));
        Some(InputRequiredResult::new(Some([(QUESTION.to_owned(), asked)].into()), Some(state)))
    }
}

/// The older era's way: a request to the client, and a wait that ends with the call.
pub async fn ask_and_wait(
    question: &Question,
    context: &RequestContext<RoleServer>,
    ttl: Duration,
) -> Person {
    let ticket = question.ticket.clone();
    let Some(form) = elicitation_form(question) else {
        return Person::Silent(ticket);
    };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let asked = context.peer.send_request_with_option(request, PeerRequestOptions::with_timeout(ttl)).await;
    let answer = match asked {
        Ok(waiting) => waiting.await_response().await.ok(),
        Err(_) => None,
    };
    match answer {
        Some(ClientResult::ElicitResult(result)) => person_from_answer(Some(&result), ticket),
        _ => Person::Silent(ticket),
    }
}

pub fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// A client that names no way of asking means forms; one that names only web addresses cannot show one.
fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    elicitation.is_some_and(|ways| ways.form.is_some() || ways.url.is_none())
}

/// Only a plain yes is a yes.
fn person_from_answer(answer: Option<&ElicitResult>, ticket: Ticket) -> Person {
    let Some(answer) = answer else {
        return Person::Silent(ticket);
    };
    match read_answer(answer) {
        Some(true) => Person::Agreed(ticket),
        Some(false) => Person::Declined(ticket),
        None => Person::Silent(ticket),
    }
}

/// What a person answered to a form, if they have.
pub fn read_answer(answer: &ElicitResult) -> Option<bool> {
    let allowed = answer.content.as_ref().and_then(|content| content.get(FIELD)) == Some(&Value::Bool(true));
    match answer.action {
        ElicitationAction::Accept => Some(allowed),
        ElicitationAction::Decline => Some(false),
        _ => None,
    }
}

fn elicitation_form(question: &Question) -> Option<ElicitRequestParams> {
    let title = if question.for_session { "Allow it until the server ends" } else { "Allow it once" };
    yes_or_no_form(question.text.clone(), title)
}

/// A form with one field, to allow something or not.
pub fn yes_or_no_form(message: String, title: &'static str) -> Option<ElicitRequestParams> {
    let field = |schema: rmcp::model::BooleanSchema| schema.title(title);
    let requested_schema = ElicitationSchema::builder().required_bool_with(FIELD, field).build().ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// The call that a state belongs to. Clients may write an object's keys in another order the second time.
fn bound_call(tool: &str, args: Option<&JsonObject>) -> String {
    let mut text = format!("{tool}\n");
    for (name, value) in sort_fields(args.into_iter().flatten()) {
        text.push_str(&format!("{}:{}\n", Value::from(name.as_str()), canonical_json(value)));
    }
    text
}

/// Walks values that a JSON reader bounded in depth.
fn canonical_json(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let inside: Vec<String> = sort_fields(fields)
                .into_iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical_json(value)))
                .collect();
            format!("{{{}}}", inside.join(","))
        }
        Value::Array(items) => {
            let inside: Vec<String> = items.iter().map(canonical_json).collect();
            format!("[{}]", inside.join(","))
        }
        plain => plain.to_string(),
    }
}

fn sort_fields<'a>(
    fields: impl IntoIterator<Item = (&'a String, &'a Value)>,
) -> Vec<(&'a String, &'a Value)> {
    let mut fields: Vec<_> = fields.into_iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_matter_and_all_else_does() {
        let bound = |args: Value| bound_call("click_at", args.as_object());
        assert_eq!(
            bound(json!({"a": {"x": 1, "y": 2}, "b": 3})),
            bound(json!({"b": 3, "a": {"y": 2, "x": 1}}))
        );
        assert_ne!(bound(json!({"a": 1})), bound(json!({"a": "1"})));
        assert_ne!(bound(json!({"a": [1, 2]})), bound(json!({"a": [2, 1]})));
        assert_ne!(bound(json!({"a": 1})), bound_call("click_element", json!({"a": 1}).as_object()));
    }

    #[test]
    fn only_a_plain_yes_is_a_yes() {
        let ticket = || Ticket("cq:1".to_owned());
        let heard = |action, content: Value| {
            person_from_answer(Some(&ElicitResult::new(action).with_content(content)), ticket())
        };
        assert_eq!(heard(ElicitationAction::Accept, json!({"allow": true})), Person::Agreed(ticket()));
        assert_eq!(heard(ElicitationAction::Accept, json!({"allow": "true"})), Person::Declined(ticket()));
        assert_eq!(heard(ElicitationAction::Accept, json!({})), Person::Declined(ticket()));
        assert_eq!(heard(ElicitationAction::Decline, json!({"allow": true})), Person::Declined(ticket()));
        assert_eq!(heard(ElicitationAction::Cancel, json!({"allow": true})), Person::Silent(ticket()));
        assert_eq!(person_from_answer(None, ticket()), Person::Silent(ticket()));
    }
}
