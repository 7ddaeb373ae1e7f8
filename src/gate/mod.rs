//! The one gate: every call from every surface passes [`Gate::pass`], and everything that leaves goes through
//! its egress. Only here is a tool run, and only here is a [`Permit`] granted.

pub mod allow;
mod app_questions;
pub mod approvals;
pub mod audit;
mod call_events;
mod caller;
pub mod confirm;
pub mod fit;
pub mod replay;
mod state;
pub mod steps;
pub mod suspicion;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::clock::{Cancel, lock};
use crate::config::{Secret, limits};
use crate::error::{Error, Fact, Kind, Result};
use crate::events;
use crate::gate::confirm::{CallFacts, Case, Consent, ConsentVerdict, Forced, Why};
use crate::metrics::Size;
use crate::observer::Ref;
use crate::privacy::scrub::{self, Scrub};
use crate::session::FailedCall;
use crate::tokens::{Writing, tokens_for_bytes};
pub use crate::tool::call::{Call, Origin, Reply, ReplyBody};
use crate::tool::object::WrittenObject;
use crate::tool::person::{Person, Question};
use crate::tool::recorded::for_the_books;
use crate::tool::reply::{ErasedOutput, ReplyFrame};
use crate::tool::scope::{Intent, IntentOutcome, Scope, describe_targets};
use crate::tool::{
    Cx, Effect, GateArgs, Group, Meta, Permit, Prepared, Spec, TableEntry, Target, args, gate_args, lean,
    typed,
};
use crate::trace::{Closing, PendingCall};

pub use state::{Gate, Shared};

impl Origin {
    /// A person who only looks on: what the page reads to show it is neither the agent's budget nor part of
    /// a recorded session. It is allowed, redacted and audited like any call.
    const fn looks_on(self, meta: &Meta) -> bool {
        matches!((self, meta.effect), (Origin::Inspector, Effect::Observe))
    }
}

impl Reply {
    /// How much of it a client has to read.
    fn reply_size(&self) -> Size {
        let bytes = match &self.body {
            ReplyBody::Written(object) => object.text_bytes(),
            ReplyBody::Data(fields) => call_events::json_length(fields),
        };
        let pixels = self.picture.as_ref().map_or(0, |png| u64::from(png.width) * u64::from(png.height));
        let outline = self.outline.as_ref().map_or(0, String::len);
        let bytes = self.lines().map_or(bytes, |lines| lines.len().saturating_sub(outline));
        Size { bytes: (bytes + outline) as u64, outline_bytes: outline as u64, pixels }
    }
}

/// The argument by which a client says that a call is a step of the job that it plans.
pub const JOB_ID: &str = "job_id";

/// How often a person is asked about one call: it may need access to several applications, and consent to what it does
/// there, once more if the window changed meanwhile.
pub const MOST_QUESTIONS: usize = 5;

/// Who reads a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplyReader {
    Caller,
    /// A call that contains this one: what reaches the caller is counted there.
    AnotherCall,
}

impl Gate {
    /// The way of a call, from where no person can be asked.
    pub fn pass_call(&self, call: Call, cancel: &Cancel) -> Reply {
        self.pass_for(call, &Person::Unreachable, cancel)
    }

    /// The way of a call. `person` is the surface's word, never the caller's. Where the person is asked in the
    /// inspector, that word counts for nothing, and every surface's calls wait for the same person.
    pub fn pass_for(&self, call: Call, person: &Person, cancel: &Cancel) -> Reply {
        if let Some(reply) = self.pass_to_job(&call, cancel) {
            return reply;
        }
        self.pass_along(call, person, None, cancel, ReplyReader::Caller)
    }

    /// The way of a call of a job, which is held to the job's scope as well.
    pub fn pass_scoped(&self, call: Call, person: &Person, scope: &Arc<Scope>, cancel: &Cancel) -> Reply {
        self.pass_along(call, person, Some(scope), cancel, ReplyReader::Caller)
    }

    /// A call that names a job is a step of it, where the caller plans that job: it comes back by `pass_scoped`.
    fn pass_to_job(&self, call: &Call, cancel: &Cancel) -> Option<Reply> {
        let jobs = self.jobs.as_deref()?;
        let entry = self.tools.find_tool(&call.tool).filter(|entry| entry.spec.meta.group != Group::Jobs)?;
        let mut args = call.args.as_object()?.clone();
        let job_id =
            args.shift_remove(JOB_ID).filter(|_| entry.schema()["properties"].get(JOB_ID).is_none())?;
        let scrub = Scrub::of(&self.redactor);
        let passed = match job_id.as_str() {
            Some(job_id) => jobs.pass_step(job_id, &call.tool, args, cancel),
            None => Err(Error::bad_request("job_id is no text; it is what run_job answered")),
        };
        Some(passed.unwrap_or_else(|error| failure_reply(self, &error, None, false, &scrub)))
    }

    /// What opens commands, where they are switched on.
    pub fn command_secret(&self) -> Option<&Secret> {
        self.config.exec.secret.as_ref().filter(|_| self.config.exec.enabled)
    }

    /// Writes a line that belongs to a job and to no call of it. An error means that it is not written.
    pub fn audit_job(&self, job_id: &str, what: &str, facts: &Map<String, Value>) -> Result<()> {
        let Some(audit) = &self.audit else { return Ok(()) };
        let entry = audit::AuditEntry {
            time: self.clock.wall_time(),
            step: 0,
            caller: Origin::Job.name(),
            job_id: Some(job_id),
            tool: what,
            ok: true,
            changed: None,
            code: None,
            consent: None,
            suspicious: false,
            secrets: &[],
            args: facts,
            declared: None,
        };
        let line = audit::audit_line(&entry, &self.config.audit.redact_arg_keys, &Scrub::of(&self.redactor));
        audit
            .record_line(line)
            .map_err(|problem| Error::internal(format!("the audit log cannot be written: {problem}")))
    }

    fn pass_along(
        &self,
        mut call: Call,
        person: &Person,
        scope: Option<&Arc<Scope>>,
        cancel: &Cancel,
        reader: ReplyReader,
    ) -> Reply {
        let credential = self
            .tools
            .find_tool(&call.tool)
            .and_then(|entry| gate_args::take_credential(entry.spec.meta, &mut call.args));
        let pass_once = |call: Call, person: &Person| {
            let showing = CallAuthority { credential: credential.as_ref(), person, scope, was_silent: false };
            pass_once(self, call, showing, cancel, reader)
        };
        // The calls of a job wait for a person wherever they can be reached: by the inspector, or by the job's store.
        let here = self.confirm.asks_in_the_inspector() || scope.is_some();
        let served = self.approvals.are_served() || scope.is_some();
        let first = match (here, served) {
            (false, _) => person,
            (true, true) => &Person::Reachable,
            (true, false) => &Person::Unreachable,
        };
        let mut reply = pass_once(call.clone(), first);
        for _ in 0..MOST_QUESTIONS {
            // What the client is asked by its own surface is not asked here.
            let asked_here = here || (*person == Person::Unreachable && served);
            let Some(question) = reply.question.take_if(|_| asked_here) else {
                return reply;
            };
            let person = self.approvals.ask_and_wait(self, &call, &question, scope, cancel);
            reply = pass_once(call.clone(), &person);
            // Refused before it was judged, the question would stay open.
            self.withdraw(&question.ticket);
        }
        if let Some(question) = reply.question.take_if(|_| here) {
            self.withdraw(&question.ticket);
        }
        reply
    }
}

/// Nothing runs a tool but this.
fn pass_once(gate: &Gate, call: Call, showing: CallAuthority, cancel: &Cancel, reader: ReplyReader) -> Reply {
    let Some(entry) = gate.tools.find_tool(&call.tool) else {
        return unknown_tool(gate, &call.tool);
    };
    let mut record = Record::open(gate, entry, &call, showing.scope, reader);
    let person = gate.take_app_answer(showing.person, &mut record.notes);
    let was_silent = matches!(showing.person, Person::Silent(_));
    let showing = CallAuthority { person: &person, was_silent, ..showing };
    let judged = gate.judges(entry.spec.meta);
    let mut cx = Cx::new(gate.services(), record.step_id, call.origin, showing.person, judged, cancel);
    cx.scope = showing.scope;
    let for_a_model = gate.tools.is_for_an_agent() && call.origin == Origin::Mcp;
    cx.reads_lines = for_a_model || showing.scope.is_some_and(|scope| scope.reads_lines);
    cx.lean = cx.reads_lines && reader == ReplyReader::Caller;
    cx.is_step = reader == ReplyReader::AnotherCall;
    cx.in_list = entry.spec.meta.steps || cx.is_step;
    let name = entry.spec.meta.name;
    let result =
        catch_panic(gate, name, || admit_and_run(gate, &mut cx, entry, call.args, &showing, &mut record));
    let result = result.map_err(|error| gate.halt.explain_cancel(error));
    if let Err(error) = &result {
        gate.ask_about_app(error, name, &showing, &mut record.notes);
    }
    let changed = result.as_ref().ok().and_then(|body| body.changed());
    let reply = catch_panic(gate, name, || Ok(write_reply(gate, entry.spec, &record, result, &mut cx)));
    let mut reply = reply.unwrap_or_else(|error| {
        let scrub = Scrub::of(&gate.redactor);
        failure_reply(gate, &error, Some(record.step_id), entry.spec.meta.untrusted, &scrub)
    });
    reply.question = record.notes.question.take().or(cx.question);
    record.close(gate, entry, reply, changed)
}

/// What stands beside a call and not in it.
struct CallAuthority<'a> {
    /// What the caller opens a lock with; recorded nowhere.
    credential: Option<&'a Value>,
    person: &'a Person,
    /// The job that the call belongs to.
    scope: Option<&'a Arc<Scope>>,
    /// The person was asked just now and did not decide.
    was_silent: bool,
}

fn admit_and_run(
    gate: &Gate,
    cx: &mut Cx,
    entry: &TableEntry,
    args: Value,
    showing: &CallAuthority,
    record: &mut Record,
) -> Result<Box<dyn ErasedOutput>> {
    let meta = entry.spec.meta;
    let (own, prepared) = entry.spec.parse(entry.schema(), args)?;
    let dry_run = own.dry_run;
    cx.max_tokens = own.max_tokens;
    cx.argument_notes.clone_from(&own.notes);
    gate.permits(meta)?;
    showing.scope.map_or(Ok(()), |scope| scope.admit_call(meta))?;
    gate.unlocks(meta, showing.credential)?;
    let meters = if dry_run || record.origin.looks_on(meta) { &[] } else { meta.meters() };
    let reservation = gate.budget.reserve(meters, gate.clock.now())?;
    showing.scope.map_or(Ok(()), |scope| scope.count_call(meters))?;
    // Inputs hold one lease from the look at the target to the last key, so that nothing moves between.
    // The steps of a list take it one by one: what they wait for may need somebody else's hands.
    let _lease = (meta.effect.acts() && !meta.steps).then(|| lock(&gate.input_lease));
    let _acting = meta.effect.acts().then(|| gate.halt.admit_call(cx.cancel)).transpose()?;
    gate.ready_to_record(meta.effect)?;
    let _claim = (meta.effect.acts() && !meta.steps && !dry_run)
        .then(|| gate.observer.claim_desktop(gate.claimant()))
        .transpose()?;
    if let Some(trace) = &mut record.trace {
        trace.look_before(&gate.observer, &gate.clock, cx.cancel);
    }
    let mut targets = prepared.targets(cx)?;
    if let Some(trace) = &mut record.trace {
        trace.note_target(targets.first());
    }
    gate.config.launch.check(&targets)?;
    gate.check_programs(&targets)?;
    record.notes.secrets = admit_secrets(gate, entry, &*prepared, &targets)?;
    if cx.judged {
        judge_targets(gate, entry, &*prepared, &own, &targets, showing, &mut record.notes)?;
        targets = look_again(cx, meta, &*prepared, targets)?;
    } else {
        record.notes.needless_token = spend_needless(gate, meta, &*prepared, &own, &targets);
    }
    let intent = match showing.scope {
        Some(scope) if meta.effect.acts() && !meta.steps && !dry_run => {
            Some((scope, intend(gate, entry, scope, &*prepared, &targets, cx)?))
        }
        _ => None,
    };
    let permit = Permit::grant(reservation, targets, dry_run).held_to(gate.confirm.rules_for_inputs());
    // By itself, so that a trace also sees what a panic left behind.
    let result = catch_panic(gate, meta.name, || prepared.run(cx, permit));
    if let Some((scope, intent)) = intent {
        settle(scope, intent, &result);
    }
    if let Some(trace) = &mut record.trace {
        trace.look_after(&gate.observer, &gate.clock);
    }
    result
}

/// The last thing before an input of a job: it is written down. Where that fails nothing is sent.
fn intend(
    gate: &Gate,
    entry: &TableEntry,
    scope: &Scope,
    prepared: &dyn Prepared,
    targets: &[Target],
    cx: &Cx,
) -> Result<u64> {
    // What was stopped by now leaves no intent behind.
    cx.cancel.check()?;
    let books =
        for_the_books(&gate.tools, &gate.secrets, entry, &Value::Object(prepared.arguments().clone()));
    scope.fence().intend(&Intent {
        tool: entry.spec.meta.name,
        step_id: cx.step_id,
        args: call_events::recordable_arguments(gate, entry, &books),
        target: describe_targets(targets).map(|shown| Scrub::of(&gate.redactor).text(&shown).into_owned()),
    })
}

/// An outcome that cannot be written leaves the input in doubt, which is what the job's next reader has to know.
fn settle(scope: &Scope, intent: u64, result: &Result<Box<dyn ErasedOutput>>) {
    let code = match result {
        Ok(body) => body.failure(),
        Err(error) => Some(error.kind),
    };
    let outcome = IntentOutcome { ok: code.is_none(), code: code.map(Kind::code) };
    if let Err(problem) = scope.fence().settle(intent, &outcome) {
        tracing::error!("job {}: {}", scope.job_id, problem.message);
    }
}

/// Secrets go only where their owner lets them, also in a dry run.
fn admit_secrets(
    gate: &Gate,
    entry: &TableEntry,
    prepared: &dyn Prepared,
    targets: &[Target],
) -> Result<Vec<String>> {
    let names = args::secrets_named(entry.schema(), prepared.arguments());
    names.iter().try_for_each(|name| gate.secrets.check(name, targets))?;
    Ok(names.into_iter().map(str::to_owned).collect())
}

/// What is wrong with the token of a call that nobody judges.
fn spend_needless(
    gate: &Gate,
    meta: &Meta,
    prepared: &dyn Prepared,
    own: &GateArgs,
    targets: &[Target],
) -> Option<String> {
    let token = own.confirm_token.as_deref()?;
    let facts = CallFacts::of(meta.name, prepared.arguments(), targets);
    gate.confirm.spend_needless(token, &facts, gate.clock.now())
}

fn judge_targets(
    gate: &Gate,
    entry: &TableEntry,
    prepared: &dyn Prepared,
    own: &GateArgs,
    targets: &[Target],
    showing: &CallAuthority,
    notes: &mut Judgement,
) -> Result<()> {
    let meta = entry.spec.meta;
    let (dry_run, token) = (own.dry_run, own.confirm_token.as_deref());
    let (args, now) = (prepared.arguments(), gate.clock.now());
    // What meets nothing that is known may go anywhere.
    let hides_typed = targets.first().is_none_or(|target| typed::is_secret(target, args));
    let keeper = call_events::for_the_person(gate, entry, hides_typed);
    let nowhere;
    let forced = if gate.suspicion.is_up(now, targets) {
        nowhere = suspicion::placeholder_target(meta.name);
        Some(Forced { target: targets.first().unwrap_or(&nowhere), why: Why::Suspicion })
    } else {
        gate.confirm.unread_target(targets).map(|target| Forced { target, why: Why::Unread })
    };
    let (person, of_job) = (showing.person, showing.scope.is_some());
    let case = Case { meta, args, keeper: &keeper, targets, forced, dry_run, token, person, of_job, now };
    match gate.confirm.judge_call(&case)? {
        ConsentVerdict::Free => Ok(()),
        ConsentVerdict::FreeBeside(problem) => {
            notes.needless_token = Some(problem);
            Ok(())
        }
        ConsentVerdict::Granted(consent) => {
            notes.consent = Some(consent);
            Ok(())
        }
        ConsentVerdict::GrantedBeside(consent, what) => {
            notes.consent = Some(consent);
            notes.changed_elsewhere = Some(format!(
                "the window changed since the person was asked, where it does not matter to their answer ({what})"
            ));
            Ok(())
        }
        ConsentVerdict::Asks(error, mut question) => {
            question.text = Scrub::for_person(&gate.redactor).text(&question.text).into_owned();
            notes.question = Some(question);
            Err(error)
        }
    }
}

/// Resolves once more, right before the input: what is touched must be what was judged.
fn look_again(cx: &Cx, meta: &Meta, prepared: &dyn Prepared, judged: Vec<Target>) -> Result<Vec<Target>> {
    cx.forget_desktop();
    let now = prepared.targets(cx)?;
    let facts = |targets: &[Target]| CallFacts::of(meta.name, prepared.arguments(), targets);
    let tolerance = cx.config().confirmation.bbox_tolerance_px;
    match facts(&judged).describe_difference(&facts(&now), tolerance) {
        None => Ok(now),
        Some(_) => Err(Error::new(
            Kind::ElementNotFound,
            "the screen changed while the call was being checked, so nothing was done; look again",
        )),
    }
}

/// A panic costs one call, wherever on its way it happens: the call still has its reply, its line in the books
/// and its place in the counters. Whatever it was holding down is let go.
fn catch_panic<T>(gate: &Gate, name: &str, part: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(part)).unwrap_or_else(|_| {
        gate.observer.release_all();
        Err(Error::internal(format!(
            "{name} failed inside the server; the server is still running, and other calls work"
        )))
    })
}

/// The one way out: redacted, cleaned, marked, bounded.
fn write_reply(
    gate: &Gate,
    spec: Spec,
    record: &Record,
    result: Result<Box<dyn ErasedOutput>>,
    cx: &mut Cx,
) -> Reply {
    let watch = gate.suspicion.watch();
    let scrub = Scrub::of(&gate.redactor);
    // What carries no text from the screen has nothing that could speak to anybody.
    let untrusted = spec.meta.shows_the_screen();
    let scrub = if untrusted { scrub.watched_by(&watch) } else { scrub };
    let Judgement { changed_elsewhere, needless_token, .. } = &record.notes;
    let of_consent = changed_elsewhere.iter().chain(needless_token).cloned();
    let warnings: Vec<String> =
        cx.argument_notes.drain(..).chain(of_consent).chain(cx.warning.take()).collect();
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    let warning = warning.map(|warning| gate.tools.fitted_advice(&warning).into_owned());
    let frame = ReplyFrame { step_id: record.step_id, caused_by: record.caused_by, untrusted, warning };
    let written = result.and_then(|mut body| {
        let failure = body.failure();
        let lean = body.take_lean().map(|lines| scrubbed_lines(spec, &lines, &scrub));
        let picture = body.take_picture();
        let outline = body.take_outline().map(|outline| scrub.outline(&outline).into_owned());
        let mut written = write_body(&*body, spec, frame.clone(), &scrub)?;
        // Lines have been fitted by the tool that wrote them.
        if let Some(most) = cx.max_tokens.filter(|_| lean.is_none()) {
            let most = if watch.has_seen() { suspicion::room_beside_places(most) } else { most };
            written = fit_json(written, outline.as_ref().map_or(0, String::len), most)?;
        }
        Ok((failure, written, outline, picture, lean))
    });
    let mut reply = match written {
        Ok((error, body, outline, picture, lean)) => Reply {
            step_id: Some(record.step_id),
            error,
            body,
            outline,
            picture,
            lean,
            news: Vec::new(),
            question: None,
            suspicious: false,
        },
        Err(error) => failure_reply(gate, &error, Some(record.step_id), untrusted, &scrub),
    };
    if cx.lean {
        reply.lean = reply.lean.take().or_else(|| lean_line(gate, spec, &reply, &scrub));
        let news = gate.session.news.tell(record.origin.name(), gate.observer.last_listing());
        // Titles are texts of the screen, whatever the tool is.
        let scrub = Scrub::of(&gate.redactor).watched_by(&watch);
        reply.news = news.iter().map(|line| scrub.text(line).into_owned()).collect();
    }
    suspicion::mark_reply(&mut reply, &watch, cx.max_tokens);
    if watch.has_seen() && record.origin != Origin::Inspector {
        gate.suspicion.raise_suspicion(gate.clock.now());
    }
    reply.suspicious = watch.has_seen();
    reply
}

fn scrubbed_lines(spec: Spec, lines: &str, scrub: &Scrub) -> String {
    let shown = if spec.meta.steps { scrub.step_lines(lines) } else { scrub.text(lines) };
    shown.into_owned()
}

/// The reply in a line, where that says all of it: what came of an input or a question, and every failure.
fn lean_line(gate: &Gate, spec: Spec, reply: &Reply, scrub: &Scrub) -> Option<String> {
    if reply.ok() && !spec.meta.is_told_in_a_line() {
        return None;
    }
    let value = reply.value();
    let target = value.pointer("/target/ref").and_then(Value::as_str).and_then(Ref::parse);
    let known = target.and_then(|target| gate.observer.refs().remembered(target));
    let label = known.map(|known| scrub.text(known.shown_label()).into_owned());
    Some(lean::call_line(spec.meta.name, value, label.as_deref()))
}

/// What is written is only read again when it is too long as it is.
fn fit_json(body: ReplyBody, outline_bytes: usize, max_tokens: usize) -> Result<ReplyBody> {
    let beside = tokens_for_bytes(Writing::Outline, outline_bytes);
    match body {
        ReplyBody::Written(object)
            if tokens_for_bytes(Writing::Json, object.text_bytes()) + beside <= max_tokens =>
        {
            Ok(ReplyBody::Written(object))
        }
        ReplyBody::Written(object) => {
            let mut value = Value::Object(object.to_map());
            fit::fit_reply(&mut value, outline_bytes, max_tokens);
            WrittenObject::of(&value).map(ReplyBody::Written).map_err(scrub::serialize_error)
        }
        ReplyBody::Data(fields) => {
            let mut value = Value::Object(fields);
            fit::fit_reply(&mut value, outline_bytes, max_tokens);
            Ok(ReplyBody::Data(into_fields(value)))
        }
    }
}

fn into_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn write_body(body: &dyn ErasedOutput, spec: Spec, frame: ReplyFrame, scrub: &Scrub) -> Result<ReplyBody> {
    if spec.meta.declares_output() {
        return Ok(ReplyBody::Data(body.value(frame, scrub)?));
    }
    let object = body.write(frame, scrub)?;
    if object.text_bytes() > limits::REPLY_BYTES {
        return Err(Error::bad_request(format!(
            "the reply would have {} bytes, the limit is {}; ask for less",
            object.text_bytes(),
            limits::REPLY_BYTES
        )));
    }
    Ok(ReplyBody::Written(object))
}

#[derive(Serialize)]
struct FailureBody<'a> {
    ok: bool,
    success: bool,
    error: FailureFacts<'a>,
    #[serde(flatten)]
    beside: BTreeMap<&'static str, &'a Fact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_id: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    untrusted: bool,
}

#[derive(Serialize)]
struct FailureFacts<'a> {
    code: &'static str,
    message: &'a str,
    recoverable: bool,
    suggested_next_tool: Option<&'static str>,
    context: BTreeMap<&'static str, &'a Fact>,
}

fn failure_reply(gate: &Gate, error: &Error, step_id: Option<u64>, untrusted: bool, scrub: &Scrub) -> Reply {
    let body = FailureBody {
        ok: false,
        success: false,
        error: FailureFacts {
            code: error.kind.code(),
            message: &gate.tools.fitted_advice(&error.message),
            recoverable: error.kind.is_recoverable(),
            // Only what the client was shown: advice that cannot be followed is worse than none.
            suggested_next_tool: suggested_tool(gate, error),
            context: error.context.iter().map(|(key, fact)| (*key, fact)).collect(),
        },
        beside: error.beside.iter().map(|(key, fact)| (*key, fact)).collect(),
        step_id,
        untrusted,
    };
    let fields = scrub::to_json_value(&body, scrub).map(into_fields).unwrap_or_default();
    Reply {
        step_id,
        error: Some(error.kind),
        body: ReplyBody::Data(fields),
        outline: None,
        picture: None,
        lean: None,
        news: Vec::new(),
        question: None,
        suspicious: false,
    }
}

fn suggested_tool(gate: &Gate, error: &Error) -> Option<&'static str> {
    let kind = error.kind;
    // A ref that leads nowhere cannot be searched for.
    if kind == Kind::ElementNotFound && error.text_of("ref").is_some() && gate.tools.is_listed(LOOK) {
        return Some(LOOK);
    }
    let about_consent = matches!(kind, Kind::ConfirmationRequired | Kind::ConfirmationInvalid);
    // Where the person decides there is nothing that the caller could propose.
    let useless = about_consent && gate.confirm.asks_the_person();
    kind.next_tool().filter(|_| !useless).and_then(|name| gate.tools.advised_tool(name))
}

const LOOK: &str = "look";

fn unknown_tool(gate: &Gate, name: &str) -> Reply {
    failure_reply(gate, &no_such_tool(gate, name), None, false, &Scrub::of(&gate.redactor))
}

fn no_such_tool(gate: &Gate, name: &str) -> Error {
    if let Some(meant) = gate.tools.tool_by_word(name) {
        return Error::bad_request(format!("unknown tool '{name}'; use {meant}"));
    }
    match crate::text::nearest(name, gate.tools.tool_names()) {
        Some(nearest) => Error::bad_request(format!("unknown tool '{name}'; did you mean '{nearest}'?")),
        None => Error::bad_request(format!("unknown tool '{name}'; see tools/list")),
    }
}

/// A call's entry in the books, opened before anything is judged so that refusals are recorded too.
struct Record {
    step_id: u64,
    caused_by: Option<u64>,
    tool: &'static str,
    origin: Origin,
    job_id: Option<String>,
    reader: ReplyReader,
    began: SystemTime,
    started: Duration,
    notes: Judgement,
    /// Kept only when there is a book to write them into.
    args: Option<Map<String, Value>>,
    trace: Option<PendingCall>,
}

/// What the judge found out about a call.
#[derive(Default)]
struct Judgement {
    consent: Option<Consent>,
    question: Option<Box<Question>>,
    /// What is otherwise than when the person was asked, without voiding their answer.
    changed_elsewhere: Option<String>,
    /// What is wrong with a token that was given although none was needed.
    needless_token: Option<String>,
    secrets: Vec<String>,
}

impl Record {
    fn open(
        gate: &Gate,
        entry: &TableEntry,
        call: &Call,
        scope: Option<&Arc<Scope>>,
        reader: ReplyReader,
    ) -> Self {
        let spec = entry.spec;
        let job_id = scope.map(|scope| scope.job_id.clone());
        let step_id = gate.session.next_step();
        let origin = call.origin.name();
        gate.events.publish(events::STARTED, || {
            call_events::started_event(gate, entry, step_id, origin, job_id.as_deref(), &call.args)
        });
        let acts = spec.meta.effect == Effect::Input;
        if acts {
            gate.session.note_input(step_id);
        }
        Self {
            step_id,
            caused_by: if acts { Some(step_id) } else { gate.session.last_input() },
            tool: spec.meta.name,
            origin: call.origin,
            job_id,
            reader,
            began: gate.clock.wall_time(),
            started: gate.clock.now(),
            notes: Judgement::default(),
            args: (gate.audit.is_some() || gate.events.wanted())
                .then(|| for_the_books(&gate.tools, &gate.secrets, entry, &call.args)),
            trace: if call.origin.looks_on(spec.meta) {
                None
            } else {
                gate.tracer.begin_call(entry, || for_the_books(&gate.tools, &gate.secrets, entry, &call.args))
            },
        }
    }

    fn close(mut self, gate: &Gate, entry: &TableEntry, mut reply: Reply, changed: Option<bool>) -> Reply {
        self.write_trace(gate, entry, &mut reply);
        self.write_audit(gate, entry, &mut reply, changed);
        self.note_failure(gate, &reply);
        self.publish_call(gate, entry, &reply, changed);
        reply
    }

    fn write_trace(&mut self, gate: &Gate, entry: &TableEntry, reply: &mut Reply) {
        let Some(pending) = self.trace.take() else {
            return;
        };
        let closing = Closing {
            step_id: self.step_id,
            caller: self.origin.name(),
            job_id: self.job_id.as_deref(),
            entry,
            reply,
        };
        if let Err(problem) = gate.tracer.record_call(gate.trace_sources(), pending, closing) {
            tracing::error!("{problem}");
            reply.warn(&problem);
        }
    }

    fn write_audit(&self, gate: &Gate, entry: &TableEntry, reply: &mut Reply, changed: Option<bool>) {
        let Some(audit) = &gate.audit else {
            return;
        };
        if let Err(problem) = audit.record_line(self.audit_line(gate, entry, reply, changed)) {
            tracing::error!("{problem}");
            reply.warn("the audit log cannot be written; inputs are refused until it can");
        }
    }

    /// What the page reads to show it is nobody's question.
    fn note_failure(&self, gate: &Gate, reply: &Reply) {
        let (Some(kind), false) = (reply.error, self.origin == Origin::Inspector) else {
            return;
        };
        let text = reply.text();
        let fits = text.len() <= limits::EVENT_RESULT_BYTES;
        let reply = if fits { text } else { kind.code().to_owned() };
        gate.session.note_failure(FailedCall { step_id: self.step_id, tool: self.tool, reply });
    }

    /// Counts the call, and tells those who watch.
    fn publish_call(&self, gate: &Gate, entry: &TableEntry, reply: &Reply, changed: Option<bool>) {
        let took = gate.clock.now().saturating_sub(self.started);
        let size = reply.reply_size();
        let sent = if self.reader == ReplyReader::Caller { size } else { Size::default() };
        gate.metrics.note(self.tool, reply.error, took, sent);
        gate.events.publish(events::CALL, || {
            let none = Map::new();
            let told = call_events::CallEvent {
                gate,
                entry,
                reply,
                step_id: self.step_id,
                caused_by: self.caused_by,
                origin: self.origin.name(),
                job_id: self.job_id.as_deref(),
                began: self.began,
                took,
                size,
                changed,
                consent: self.notes.consent.map(Consent::name),
                args: self.args.as_ref().unwrap_or(&none),
            };
            told.ended_event()
        });
    }

    fn audit_line(&self, gate: &Gate, entry: &TableEntry, reply: &Reply, changed: Option<bool>) -> String {
        let none = Map::new();
        let declared = entry.schema()["properties"].as_object();
        let entry = audit::AuditEntry {
            time: self.began,
            step: self.step_id,
            caller: self.origin.name(),
            job_id: self.job_id.as_deref(),
            tool: self.tool,
            ok: reply.ok(),
            changed,
            code: reply.error.map(Kind::code),
            consent: self.notes.consent.map(Consent::name),
            suspicious: reply.suspicious,
            secrets: &self.notes.secrets,
            args: self.args.as_ref().unwrap_or(&none),
            declared: declared.filter(|_| entry.spec.meta.effect.acts()),
        };
        audit::audit_line(&entry, &gate.config.audit.redact_arg_keys, &Scrub::of(&gate.redactor))
    }
}
