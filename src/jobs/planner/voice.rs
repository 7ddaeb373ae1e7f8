//! Asks a model over its wire: again where that helps, and with every attempt counted.

use std::time::Duration;

use super::anthropic::AnthropicWire;
use super::chat::ChatWire;
use super::responses::ResponsesWire;
use super::wire::{PlannerRequest, Wire};
use super::written::{CountedTokens, ReadReply, count_at, estimated_tokens};
use super::{PlannerAsker, PlannerNews};
use crate::clock::{Cancel, Clock};
use crate::config;
use crate::error::Kind;
use crate::jobs::store::Usage;
use crate::model_client::{KnownPrefix, ModelFailure, ModelServer, ServerConfig, SettingNames};

/// A longer answer is a mistake or an attack on the memory.
pub const ANSWER_BYTES: usize = 8 << 20;
pub const MOST_RETRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Somebody who answers a question to a model.
pub trait Voice: Send {
    fn ask(&mut self, request: &PlannerRequest, asker: PlannerAsker) -> Result<ReadReply, VoiceFailure>;

    /// What attempts without an answer may have used since this was asked last.
    fn take_lost_usage(&mut self) -> Usage;

    /// Whether the vendor's own toolset for computers can be used.
    fn has_toolset(&self) -> bool {
        false
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum VoiceFailure {
    Cancelled,
    Failed(String),
    /// There was no answer in time.
    Late(String),
    /// The answer broke off, or is no JSON: a server or a proxy that stumbled.
    BrokeOff(String),
}

/// The wires by the names that a job gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireKind {
    Chat,
    Responses,
    Anthropic,
}

impl WireKind {
    pub const ALL: [(&'static str, WireKind); 3] =
        [("chat", WireKind::Chat), ("responses", WireKind::Responses), ("anthropic", WireKind::Anthropic)];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(own, _)| *own == name).map(|(_, kind)| kind)
    }

    fn wire(self) -> Box<dyn Wire> {
        match self {
            WireKind::Chat => Box::new(ChatWire),
            WireKind::Responses => Box::new(ResponsesWire),
            WireKind::Anthropic => Box::new(AnthropicWire),
        }
    }
}

const OPENAI: SettingNames = SettingNames {
    base_url: "planner.base_url",
    api_key: "planner.api_key",
    api_key_or_variable: "planner.api_key (or OPENAI_API_KEY)",
    model: "planner.model",
    timeout: "planner.timeout_s",
    smaller: "the size of screenshots",
    max_tokens: "planner.max_tokens",
};

const ANTHROPIC: SettingNames = SettingNames {
    base_url: "planner.anthropic_base_url",
    api_key: "planner.anthropic_api_key",
    api_key_or_variable: "planner.anthropic_api_key (or ANTHROPIC_API_KEY)",
    ..OPENAI
};

/// A model's server and the wire that it speaks.
pub struct ModelLine {
    server: ModelServer,
    known: KnownPrefix,
    wire: Box<dyn Wire>,
    lost: Usage,
    longest_wait: Duration,
}

impl ModelLine {
    pub fn open(kind: WireKind, config: &config::Planner) -> Result<Self, String> {
        let wire = kind.wire();
        let (base_url, api_key, settings) = match kind {
            WireKind::Anthropic => (&config.anthropic_base_url, &config.anthropic_api_key, &ANTHROPIC),
            WireKind::Chat | WireKind::Responses => (&config.base_url, &config.api_key, &OPENAI),
        };
        let server = ModelServer::new(&ServerConfig {
            base_url,
            api_key: api_key.as_ref(),
            key_header: wire.key_header(),
            timeout: answer_timeout(config),
            answer_bytes: ANSWER_BYTES,
            settings,
        })
        .map_err(|error| error.message)?;
        refuse_open_key(&server, config, settings.api_key)?;
        let (known, lost, longest_wait) = (KnownPrefix::default(), Usage::default(), longest_wait(config));
        Ok(Self { server, known, wire, lost, longest_wait })
    }

    /// The models that the server says it has.
    pub fn list_models(&self, cancel: &Cancel) -> Result<Vec<String>, String> {
        self.server.list_models(cancel).map_err(|failure| failure.error.message)
    }
}

/// How a model is asked again.
#[derive(Clone, Copy)]
pub struct Retrying<'a> {
    pub model: &'a str,
    /// A server that asks for more is not waited for.
    pub longest_wait: Duration,
    pub asker: PlannerAsker<'a>,
}

/// Asks until there is an answer; a server that is busy or fails is asked again. What may have cost is noted in `lost`.
/// An answer that does not come in time, or breaks off, is for the job to ask for again, because `most` of what it may
/// have cost counts first.
pub fn with_retries(
    retrying: Retrying,
    lost: &mut Usage,
    most: Usage,
    mut attempt: impl FnMut() -> Result<String, ModelFailure>,
) -> Result<String, VoiceFailure> {
    let (mut pause, mut retries) = (FIRST_PAUSE, 0);
    loop {
        let failure = match attempt() {
            Ok(text) => return Ok(text),
            Err(failure) => failure,
        };
        if failure.may_have_cost {
            lost.add(most);
        }
        if failure.error.kind == Kind::Cancelled {
            return Err(VoiceFailure::Cancelled);
        }
        if failure.error.kind == Kind::Timeout {
            return Err(VoiceFailure::Late(failure.error.message));
        }
        if failure.broke_off {
            return Err(VoiceFailure::BrokeOff(failure.error.message));
        }
        if retries == MOST_RETRIES || !is_worth_retrying(&failure) {
            return Err(VoiceFailure::Failed(failure.error.message));
        }
        retrying.wait_for_server(failure, pause)?;
        pause *= 2;
        retries += 1;
    }
}

impl Retrying<'_> {
    /// Waits as long as the server asks for, and tells so.
    fn wait_for_server(self, failure: ModelFailure, pause: Duration) -> Result<(), VoiceFailure> {
        let ModelFailure { error, retry_after, status, .. } = failure;
        let wait = retry_after.unwrap_or(pause);
        if wait > self.longest_wait {
            let (asked, most) = (wait.as_secs_f64(), self.longest_wait.as_secs_f64());
            let said = format!(
                "{}; it asks to wait {asked} s, which is more than planner.longest_wait_s ({most} s)",
                error.message
            );
            return Err(VoiceFailure::Failed(said));
        }
        let why =
            status.map_or_else(|| "no connection to the server".to_owned(), |status| status.to_string());
        (self.asker.tell)(&PlannerNews::Waiting { model: self.model, wait, why });
        Clock::real().sleep(wait, self.asker.cancel).map_err(|_| VoiceFailure::Cancelled)
    }
}

impl Voice for ModelLine {
    fn ask(&mut self, request: &PlannerRequest, asker: PlannerAsker) -> Result<ReadReply, VoiceFailure> {
        let body = self.wire.write_request(request).to_string();
        let Self { server, known, wire, lost, longest_wait } = self;
        let retrying = Retrying { model: request.model, longest_wait: *longest_wait, asker };
        let most = most_of_attempt(body.len(), request.max_tokens);
        let text =
            with_retries(retrying, lost, most, || server.post(wire.route(), &body, known, asker.cancel))?;
        wire.read_reply(&text, body.len()).map_err(|problem| {
            let said = server.answer_failure(&problem, &text).error.message;
            unreadable_answer(&text, said, (body.len(), most), lost)
        })
    }

    fn take_lost_usage(&mut self) -> Usage {
        std::mem::take(&mut self.lost)
    }

    fn has_toolset(&self) -> bool {
        self.wire.has_toolset()
    }
}

pub fn answer_timeout(config: &config::Planner) -> Duration {
    Duration::try_from_secs_f64(config.timeout_s).unwrap_or(Duration::from_secs(240))
}

pub fn longest_wait(config: &config::Planner) -> Duration {
    Duration::try_from_secs_f64(config.longest_wait_s).unwrap_or(Duration::from_secs(60))
}

pub fn refuse_open_key(server: &ModelServer, config: &config::Planner, key: &str) -> Result<(), String> {
    if server.sends_key_in_the_open() && !config.allow_plain_http {
        return Err(format!(
            "{key} would be sent without encryption; use an https address, or set planner.allow_plain_http"
        ));
    }
    Ok(())
}

fn is_worth_retrying(failure: &ModelFailure) -> bool {
    match failure.status {
        Some(status) => status == 429 || status >= 500,
        None => failure.is_dead && !failure.may_have_cost,
    }
}

/// The most that one attempt may use.
pub fn most_of_attempt(request_bytes: usize, max_tokens: u32) -> Usage {
    let (input, output) = (estimated_tokens(request_bytes), max_tokens.into());
    Usage { input, output, estimated: true, ..Usage::default() }
}

/// What is no JSON may be half of an answer, so it counts at its most, and is asked for again.
pub fn unreadable_answer(
    text: &str,
    said: String,
    (request_bytes, most): (usize, Usage),
    lost: &mut Usage,
) -> VoiceFailure {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(reply) => {
            lost.add(usage_of_unreadable(&reply, request_bytes, text.len()));
            VoiceFailure::Failed(said)
        }
        Err(_) => {
            lost.add(most);
            VoiceFailure::BrokeOff(said)
        }
    }
}

/// An answer that cannot be read was paid for as well; it may still say how much.
fn usage_of_unreadable(reply: &serde_json::Value, request_bytes: usize, answer_bytes: usize) -> Usage {
    let usage = reply.get("usage");
    let either = |one: &str, other: &str| count_at(usage, one).or_else(|| count_at(usage, other));
    let counted = CountedTokens {
        input: either("/prompt_tokens", "/input_tokens"),
        output: either("/completion_tokens", "/output_tokens"),
        ..CountedTokens::default()
    };
    counted.usage(request_bytes, answer_bytes)
}
