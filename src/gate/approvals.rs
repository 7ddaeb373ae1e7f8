//! Questions that wait for a person in the web inspector. A call that needs consent waits here, holding
//! nothing, until a person decides, the time limit passes, or the caller is gone.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Call, Gate, Origin, call_events};
use crate::clock::{Bell, Cancel, lock, timestamp};
use crate::error::{Error, Result};
use crate::events;
use crate::model::Rect;
use crate::privacy::scrub::{self, Scrub};
use crate::privacy::untrusted::escape_unseen;
use crate::tool::person::{Person, Question};
use crate::tool::recorded::for_the_books;
use crate::tool::scope::Scope;
use crate::tool::{Encoded, Target};

/// What a picture for the person is shrunk to.
const WIDEST: u32 = 1280;

#[derive(Debug, Default)]
pub struct Approvals {
    served: AtomicBool,
    pending: Mutex<VecDeque<PendingApproval>>,
    decided: Bell,
}

#[derive(Debug)]
struct PendingApproval {
    id: String,
    /// What the person is told: clean, and without what must not be shown.
    shown: Value,
    expires: Duration,
    picture: Option<Encoded>,
    decision: Option<Decision>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Deny,
    /// The question is not asked any more.
    Withdraw,
}

impl Approvals {
    /// From here on there is a place where a person can be asked.
    pub fn enable_approvals(&self) {
        self.served.store(true, Ordering::Relaxed);
    }

    pub fn are_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    /// Every open question, the oldest first.
    pub fn open_questions(&self, now: Duration) -> Vec<Value> {
        let pending = lock(&self.pending);
        let open = pending.iter().filter(|pending| pending.decision.is_none());
        open.map(|pending| with_time_left(&pending.shown, pending.expires.saturating_sub(now))).collect()
    }

    pub fn question_picture(&self, id: &str) -> Option<Encoded> {
        lock(&self.pending).iter().find(|pending| pending.id == id)?.picture.clone()
    }

    /// The ids of the questions that wait.
    pub fn open_ids(&self) -> Vec<String> {
        let pending = lock(&self.pending);
        pending
            .iter()
            .filter(|pending| pending.decision.is_none())
            .map(|pending| pending.id.clone())
            .collect()
    }

    /// Whether there was such a question without an answer.
    pub fn decide_question(&self, id: &str, decision: Decision) -> bool {
        let decided = lock(&self.pending)
            .iter_mut()
            .find(|pending| pending.id == id && pending.decision.is_none())
            .map(|pending| pending.decision = Some(decision));
        self.decided.ring();
        decided.is_some()
    }

    pub fn withdraw_all(&self) {
        for pending in lock(&self.pending).iter_mut() {
            pending.decision.get_or_insert(Decision::Withdraw);
        }
        self.decided.ring();
    }

    /// Asks, and waits. The call must hold nothing meanwhile. A job is told that it waits, and may be answered there.
    pub fn ask_and_wait(
        &self,
        gate: &Gate,
        call: &Call,
        question: &Question,
        scope: Option<&Arc<Scope>>,
        cancel: &Cancel,
    ) -> Person {
        let now = gate.clock.now();
        let pending = PendingApproval::new(gate, call, question, now + gate.confirm.token_ttl(), cancel);
        let id = pending.id.clone();
        let shown = with_time_left(&pending.shown, gate.confirm.token_ttl());
        lock(&self.pending).push_back(pending);
        let told = scope.map_or(Ok(()), |scope| scope.fence().ask(&id, &shown, gate.confirm.token_ttl()));
        gate.events.publish_value(events::APPROVAL, || shown);
        let decision = told.and_then(|()| self.wait(gate, &id, cancel));
        lock(&self.pending).retain(|pending| pending.id != id);
        let outcome = match decision {
            Ok(Some(Decision::Allow)) => "allowed",
            Ok(Some(Decision::Deny)) => "denied",
            Ok(None) => "expired",
            Ok(Some(Decision::Withdraw)) | Err(_) => "withdrawn",
        };
        if let Some(scope) = scope {
            scope.fence().close_question(&id, outcome);
        }
        gate.events.publish_value(events::APPROVAL_CLOSED, || json!({"id": id, "outcome": outcome}));
        let ticket = question.ticket.clone();
        match decision {
            Ok(Some(Decision::Allow)) => Person::Agreed(ticket),
            Ok(Some(Decision::Deny)) => Person::Declined(ticket),
            Ok(Some(Decision::Withdraw) | None) | Err(_) => Person::Silent(ticket),
        }
    }

    /// `None` when the time is over. The bell is read before the question is looked at, so no answer is missed.
    fn wait(&self, gate: &Gate, id: &str, cancel: &Cancel) -> Result<Option<Decision>> {
        loop {
            let heard = self.decided.rings();
            let (decision, left) = match lock(&self.pending).iter().find(|pending| pending.id == id) {
                Some(pending) => (pending.decision, pending.expires.saturating_sub(gate.clock.now())),
                None => (Some(Decision::Withdraw), Duration::ZERO),
            };
            if decision.is_some() || left.is_zero() {
                return Ok(decision);
            }
            gate.clock.sleep_unless_rung(&self.decided, heard, left, cancel)?;
        }
    }
}

impl PendingApproval {
    fn new(gate: &Gate, call: &Call, question: &Question, expires: Duration, cancel: &Cancel) -> Self {
        let id = crate::random::random_token("ap:");
        let target = &question.target;
        let pictured = question_screenshot(gate, target, cancel);
        let place = pictured.as_ref().ok().map(|(_, place)| *place);
        let shown = json!({
            "id": id,
            "tool": call.tool,
            "origin": Origin::name(call.origin),
            "args": shown_args(gate, call, question),
            "question": question.text,
            "for_session": question.for_session,
            "asked_at": timestamp(gate.clock.wall_time()),
            "target": {
                "window_uid": target.window_uid(),
                "window": escape_unseen(target.unredacted_title()),
                "element_id": target.element_id(),
                "selector": target.selector(),
                "role": target.unredacted_role(),
                "name": escape_unseen(target.unredacted_name()),
                "bounds": target.bounds(),
            },
            "picture": place.map(|place| json!({"url": format!("/api/approvals/{id}/picture"), "element": place})),
        });
        let scrub = Scrub::for_person(&gate.redactor);
        let shown = scrub::to_json_value(&shown, &scrub).unwrap_or_else(|_| json!({ "id": id }));
        Self { id, shown, expires, picture: pictured.ok().map(|(png, _)| png), decision: None }
    }
}

/// What the call was told, without what it would type into a private field: every watcher sees the question.
fn shown_args(gate: &Gate, call: &Call, question: &Question) -> Value {
    let Some(entry) = gate.tools.find_tool(&call.tool) else {
        return Value::Null;
    };
    let keeper = call_events::for_the_person(gate, entry, question.hides_typed);
    let kept = keeper.kept(&for_the_books(&gate.tools, &gate.secrets, entry, &call.args));
    with_unseen_escaped(Value::Object(kept))
}

/// The readers of requests bound the depth of what arrives, and with it this recursion.
fn with_unseen_escaped(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(escape_unseen(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(with_unseen_escaped).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (escape_unseen(&name).into_owned(), with_unseen_escaped(value)))
                .collect()
        }
        plain => plain,
    }
}

fn with_time_left(shown: &Value, left: Duration) -> Value {
    let mut shown = shown.clone();
    shown["expires_in_ms"] = crate::clock::millis(left).into();
    shown
}

/// The window as it is now, and where in the picture the element is. A window that cannot be pictured is no
/// reason not to ask.
fn question_screenshot(gate: &Gate, target: &Target, cancel: &Cancel) -> Result<(Encoded, Rect)> {
    let element = target
        .element()
        .ok_or_else(|| Error::internal("a target that is not an element has no screenshot"))?;
    let shot = gate.observer.window_picture(&element.chosen, cancel)?;
    let picture = shot.picture.shrink_to(WIDEST);
    let scale = f64::from(picture.width()) / f64::from(shot.picture.width().max(1));
    let scaled = |length: i32| (f64::from(length) * scale).round() as i32;
    let bounds = target.bounds();
    let place = Rect {
        x: scaled(bounds.x.saturating_sub(shot.area.x)),
        y: scaled(bounds.y.saturating_sub(shot.area.y)),
        width: scaled(bounds.width),
        height: scaled(bounds.height),
    };
    Ok((Encoded::from_picture(&picture)?, place))
}
