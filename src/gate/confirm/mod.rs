//! Consent: which targets need it, who may give it, and what a consent that was given is good for.
//!
//! The rules look at what was resolved, never at how it was spelled. A consent is bound to [`Facts`]: it
//! serves one call of one tool with the same arguments on the same elements, once, for a short time.
//! By `confirmation.mode` it is a token that the caller fetched from propose_action, or the word of the
//! person, whom a surface asked. Nothing that a caller can write in its arguments stands for the person.

mod facts;
mod grants;
mod rules;
mod shown_window;
mod ticking;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

pub use facts::CallFacts;

use crate::config::{Config, ConfirmationMode, limits};
use crate::error::{Error, Fact, Kind, Result};
use crate::privacy::arguments::{Keeper, TRUNCATED};
use crate::privacy::redact::HIDDEN_FROM_PERSON;
use crate::privacy::untrusted::escape_unseen;
use crate::text::shorten;
pub use crate::tool::person::{Person, Question, Ticket};
use crate::tool::{ConsentRules, Meta, Target};
use grants::{Giver, GrantProblem, Grants};
use rules::NameRules;
use shown_window::ShownWindow;

#[derive(Debug)]
pub struct Confirm {
    rules: Arc<NameRules>,
    mode: ConfirmationMode,
    ttl: Duration,
    grants: Grants,
}

impl Person {
    /// The question that was answered, in whatever way.
    fn answered_ticket(&self) -> Option<&str> {
        match self {
            Person::Unreachable | Person::Reachable => None,
            Person::Agreed(ticket) | Person::Declined(ticket) | Person::Silent(ticket) => Some(&ticket.0),
        }
    }
}

/// By what right a protected target was touched; the audit line says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    Token,
    Person,
}

impl Consent {
    pub const fn name(self) -> &'static str {
        match self {
            Consent::Token => "token",
            Consent::Person => "person",
        }
    }
}

/// A call before the judge.
pub struct Case<'a> {
    pub meta: &'a Meta,
    pub args: &'a Map<String, Value>,
    /// What of the arguments a person is shown.
    pub keeper: &'a Keeper<'a>,
    pub targets: &'a [Target],
    /// What needs consent although no rule is about it.
    pub forced: Option<Forced<'a>>,
    pub dry_run: bool,
    pub token: Option<&'a str>,
    pub person: &'a Person,
    /// A job makes the call: it gives no consent to itself.
    pub of_job: bool,
    pub now: Duration,
}

#[derive(Clone, Copy, Debug)]
pub struct Forced<'a> {
    pub target: &'a Target,
    pub why: Why,
}

/// Why an input needs consent that no rule asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The screen speaks to agents.
    Suspicion,
    /// What is touched could not be read, so that no rule can tell.
    Unread,
}

impl Why {
    /// The key of the config, which stands in the error too.
    const fn key(self) -> &'static str {
        match self {
            Why::Suspicion => "on_suspicion",
            Why::Unread => "on_unread",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Why::Suspicion => ", because text on the screen addresses an agent (confirmation.on_suspicion)",
            Why::Unread => {
                ", because the window does not expose all of its elements, and the input may reach a \
                 protected one (confirmation.on_unread); name the element by ref or selector to have it \
                 judged by itself"
            }
        }
    }

    /// What the person should know.
    const fn warning(self) -> &'static str {
        match self {
            Why::Suspicion => " Warning: text on the screen tries to instruct the agent.",
            Why::Unread => " The window does not expose what is there: check it yourself.",
        }
    }
}

/// What the judge says, besides refusing.
#[derive(Debug)]
pub enum ConsentVerdict {
    /// Nothing in it needs consent.
    Free,
    /// The same, and what is wrong with the token that was given nevertheless.
    FreeBeside(String),
    Granted(Consent),
    /// The same, and what changed meanwhile where the person did not have to look.
    GrantedBeside(Consent, String),
    /// Refused until the person has been asked.
    Asks(Error, Box<Question>),
}

impl Confirm {
    pub fn new(config: &Config) -> Result<Self, String> {
        let settings = &config.confirmation;
        let ttl = Duration::from_secs(settings.ttl_seconds);
        Ok(Self {
            rules: Arc::new(NameRules::of(config)?),
            mode: settings.mode,
            ttl,
            grants: Grants::new(ttl, settings.bbox_tolerance_px),
        })
    }

    pub fn is_active(&self) -> bool {
        self.rules.has_any()
    }

    /// What the rules cannot tell about, because it could not be read.
    pub fn unread_target<'a>(&self, targets: &'a [Target]) -> Option<&'a Target> {
        let judges = self.is_active() && self.rules.covers_unread();
        targets.iter().find(|target| judges && target.is_unread())
    }

    /// What is held to the rules again while an input is under way; nothing where there are none.
    pub fn rules_for_inputs(&self) -> Option<Arc<dyn ConsentRules>> {
        self.is_active().then(|| self.rules.clone() as Arc<dyn ConsentRules>)
    }

    pub fn asks_the_person(&self) -> bool {
        self.mode != ConfirmationMode::Token
    }

    /// Whoever calls, the person decides in the inspector.
    pub fn asks_in_the_inspector(&self) -> bool {
        self.mode == ConfirmationMode::Inspector
    }

    pub fn token_ttl(&self) -> Duration {
        self.ttl
    }

    /// Whether a call that acts may be made.
    pub fn judge_call(&self, case: &Case) -> Result<ConsentVerdict> {
        let protected = case
            .targets
            .iter()
            .find(|target| self.covers_target(target))
            .or(case.forced.map(|forced| forced.target));
        match self.mode {
            ConfirmationMode::Token if !case.of_job => self.judge_token(case, protected),
            ConfirmationMode::Token | ConfirmationMode::Ask | ConfirmationMode::Inspector => {
                self.judge_person(case, protected)
            }
        }
    }

    fn judge_token(&self, case: &Case, protected: Option<&Target>) -> Result<ConsentVerdict> {
        match (protected, case.token) {
            (None, None) => Ok(ConsentVerdict::Free),
            (None, Some(token)) => Ok(self.free_beside_token(case, token)),
            (Some(target), None) => {
                Err(consent_required(case, target, "requires a confirm_token from propose_action"))
            }
            (Some(_), Some(token)) => {
                self.redeem_grant(case, None, token, Giver::Caller).map_err(|problem| {
                    let (GrantProblem::Invalid(why) | GrantProblem::Changed(why)) = problem;
                    Error::new(
                        Kind::ConfirmationInvalid,
                        format!("confirm_token {why}; propose the action again"),
                    )
                    .with("token", token)
                    .with("reason", why)
                })
            }
        }
    }

    fn free_beside_token(&self, case: &Case, token: &str) -> ConsentVerdict {
        let facts = CallFacts::of(case.meta.name, case.args, case.targets);
        let problem = self.spend_needless(token, &facts, case.now);
        problem.map_or(ConsentVerdict::Free, ConsentVerdict::FreeBeside)
    }

    /// Uses up a token that is given with a call that needs none, and says what is wrong with it.
    pub fn spend_needless(&self, token: &str, facts: &CallFacts, now: Duration) -> Option<String> {
        let problem = self.grants.spend_needless(token, facts, now)?;
        Some(format!("confirm_token {problem}; none was needed"))
    }

    fn judge_person(&self, case: &Case, protected: Option<&Target>) -> Result<ConsentVerdict> {
        let facts = CallFacts::of(case.meta.name, case.args, case.targets);
        let answered = case.person.answered_ticket();
        if !case.dry_run && self.grants.another_question_is_open(&facts, answered, case.now) {
            return Err(question_open(case));
        }
        let Some(target) = protected else {
            answered.inspect(|ticket| self.grants.revoke_grant(ticket));
            return Ok(match case.token {
                Some(token) => self.free_beside_token(case, token),
                None => ConsentVerdict::Free,
            });
        };
        if let Some(token) = case.token {
            self.grants.revoke_grant(token);
            return Err(Error::new(
                Kind::ConfirmationInvalid,
                "here a person decides, not a confirm_token; call without one",
            )
            .with("token", token));
        }
        match case.person {
            Person::Agreed(ticket) => match self.redeem_grant(case, Some(target), &ticket.0, Giver::Person) {
                Ok(granted) => Ok(granted),
                Err(GrantProblem::Changed(what)) => self.ask_person(case, target, Some(&what)),
                Err(GrantProblem::Invalid(why)) => Err(Error::new(
                    Kind::ConfirmationInvalid,
                    format!("the person's answer {why}; call again to ask again"),
                )
                .with("reason", why)),
            },
            Person::Declined(ticket) => {
                self.grants.revoke_grant(&ticket.0);
                Err(consent_declined(case, target))
            }
            Person::Silent(ticket) => {
                self.grants.revoke_grant(&ticket.0);
                Err(consent_required(
                    case,
                    target,
                    "was not answered by the person in time; nothing was done",
                ))
            }
            Person::Reachable if !case.dry_run => self.ask_person(case, target, None),
            Person::Reachable => {
                Err(consent_required(case, target, "needs the person's consent; call it without dry_run"))
            }
            Person::Unreachable => Err(consent_required(case, target, self.unreachable_hint())),
        }
    }

    /// Refused until the person has been asked; `changed` is what they did not see when they were asked before.
    fn ask_person(&self, case: &Case, target: &Target, changed: Option<&str>) -> Result<ConsentVerdict> {
        let text = question_text(case, target, changed)?;
        let facts = CallFacts::of(case.meta.name, case.args, case.targets);
        let shown = ShownWindow::of(target);
        let ticket = Ticket(self.grants.store_shown(facts, Giver::Person, shown, case.now)?);
        let hides_typed = case.keeper.hides_typed;
        let question =
            Box::new(Question { ticket, text, target: target.clone(), hides_typed, for_session: false });
        let what = match changed {
            None => "needs the person's consent",
            Some(_) => "needs the person's consent again, because the window changed since they were asked",
        };
        Ok(ConsentVerdict::Asks(consent_required(case, target, what), question))
    }

    fn unreachable_hint(&self) -> &'static str {
        if self.asks_in_the_inspector() {
            "needs the person's consent in the web inspector, which is not running (start the server with \
             --mode both)"
        } else {
            "needs the person's consent, and this client cannot ask for it (it does not declare \
             elicitation); the person has to do it"
        }
    }

    /// `shown` is the element that the person was asked about.
    fn redeem_grant(
        &self,
        case: &Case,
        shown: Option<&Target>,
        id: &str,
        giver: Giver,
    ) -> Result<ConsentVerdict, GrantProblem> {
        let facts = CallFacts::of(case.meta.name, case.args, case.targets);
        let shown = shown.and_then(ShownWindow::of);
        let elsewhere =
            self.grants.redeem_grant(id, giver, &facts, shown.as_ref(), case.now, case.dry_run)?;
        let consent = match giver {
            Giver::Caller => Consent::Token,
            Giver::Person => Consent::Person,
        };
        Ok(elsewhere
            .map_or(ConsentVerdict::Granted(consent), |what| ConsentVerdict::GrantedBeside(consent, what)))
    }

    /// A token for exactly this call.
    pub fn propose_token(&self, facts: CallFacts, now: Duration) -> Result<String> {
        self.grants.store_grant(facts, Giver::Caller, now)
    }

    /// A question that nobody will answer any more.
    pub fn withdraw_question(&self, ticket: &Ticket) {
        self.grants.revoke_grant(&ticket.0);
    }

    pub fn covers_target(&self, target: &Target) -> bool {
        self.rules.covers(target)
    }
}

fn consent_required(case: &Case, target: &Target, what: &str) -> Error {
    let why = case.forced.map(|forced| forced.why);
    let because = why.map_or("", Why::sentence);
    let error = Error::new(Kind::ConfirmationRequired, format!("action {} {what}{because}", case.meta.name))
        .with("action", case.meta.name)
        .with("target", target_facts(target));
    match why {
        Some(why) => error.with(why.key(), true),
        None => error,
    }
}

fn consent_declined(case: &Case, target: &Target) -> Error {
    let message = format!("the person declined {}; do not try another way", case.meta.name);
    Error::new(Kind::PermissionDenied, message)
        .with("action", case.meta.name)
        .with("target", target_facts(target))
}

/// The question may be shown on this very desktop: until it is answered, nobody clicks anything there.
fn question_open(case: &Case) -> Error {
    Error::new(
        Kind::ConfirmationRequired,
        "the person is being asked about another action; no input is sent until that is answered or expires",
    )
    .with("action", case.meta.name)
}

fn target_facts(target: &Target) -> Fact {
    Fact::object([
        ("window_uid", target.window_uid().into()),
        ("element_id", target.element_id().into()),
        ("selector", target.selector().into()),
        ("bounds", target.bounds().into()),
    ])
}

/// What the person reads. Names come from the screen, so they stand in quotation marks that they cannot
/// close, and it is said where they are cut; the rest of the sentence is ours. What would be run or typed is never cut.
/// What is not seen is written out, in names and in arguments.
fn question_text(case: &Case, target: &Target, changed: Option<&str>) -> Result<String> {
    let args = case.keeper.kept(case.args);
    let is_cut = args.contains_key(TRUNCATED);
    let args = escape_unseen(&Value::Object(args).to_string()).into_owned();
    if is_cut || args.chars().count() > limits::QUESTION_CHARACTERS {
        return Err(too_long_to_ask(case));
    }
    let redactor = case.keeper.redactor;
    let again = changed
        .map_or_else(String::new, |changed| format!("The window changed since you were asked ({changed}). "));
    let text = format!(
        "{again}Allow {} on {} {} in the window {}? Arguments: {}",
        case.meta.name,
        target.unredacted_role(),
        quote_text(&redactor.text_for_person(target.unredacted_name())),
        quote_text(&redactor.text_for_person(target.unredacted_title())),
        args,
    );
    let hidden = if text.contains(HIDDEN_FROM_PERSON) { HIDDEN_WARNING } else { "" };
    Ok(text + hidden + case.forced.map_or("", |forced| forced.why.warning()))
}

/// What the person should know of what they are not shown.
const HIDDEN_WARNING: &str = " Warning: parts of it are hidden, because the same text was typed as a secret: decline unless you know what they say.";

fn too_long_to_ask(case: &Case) -> Error {
    let message = format!(
        "{} needs the person's consent, and its arguments are too long for a person to read (more than {} \
         characters); do it in shorter pieces",
        case.meta.name,
        limits::QUESTION_CHARACTERS
    );
    Error::new(Kind::PermissionDenied, message).with("action", case.meta.name)
}

/// So much of a name is in a question.
const LONGEST_NAME: usize = 200;

fn quote_text(text: &str) -> String {
    let quoted = Value::from(shorten(text, LONGEST_NAME)).to_string();
    let left_out = text.chars().count().saturating_sub(LONGEST_NAME);
    let more = if left_out > 0 { format!(" (and {left_out} more characters)") } else { String::new() };
    format!("{}{more}", escape_unseen(&quoted))
}
