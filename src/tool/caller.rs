//! What a running tool may ask of the gate that runs it: nothing here lets a call through that the gate would refuse.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::call::{Call, Reply};
use super::person::{Person, Ticket};
use super::scope::Scope;
use super::{Cx, Meta, Target};
use crate::budget::{BudgetStatus, Meter, Reservation};
use crate::clock::Cancel;
use crate::error::{Error, Result};

pub trait Caller: Sync {
    /// A call inside this one, on the way of every call. What reaches the caller is counted with the outer one.
    /// It is held to the scope of the outer one.
    fn pass_step(&self, call: Call, person: &Person, scope: Option<&Arc<Scope>>, cancel: &Cancel) -> Reply;

    /// A recorded call, on the way of every call, held to the scope of the call that replays it. The client cannot be
    /// asked.
    fn pass_replayed(&self, call: Call, scope: Option<&Arc<Scope>>, cancel: &Cancel) -> Reply;

    /// Whether a step could be run as far as that can be told now: its arguments, the right to it, its target.
    fn foresee(&self, cx: &Cx, tool: &str, args: &Map<String, Value>, when: Foresight) -> Result<Foreseen>;

    /// Whether the config lets the tool be called.
    fn check_permitted(&self, meta: &Meta) -> Result<()>;

    /// Whether this call may contain these tools too, which not every call of the tool does.
    fn check_permitted_with(&self, meta: &Meta, parts: &[&str]) -> Result<()>;

    /// Takes from the budget; it is given back unless it is committed.
    fn charge(&self, meters: &[Meter]) -> Result<Reservation>;

    fn budget_status(&self) -> BudgetStatus;

    /// Whether a consent rule is about this target.
    fn covers(&self, target: &Target) -> bool;

    /// Whether an input on these targets needs consent because of what the screen says.
    fn suspects(&self, targets: &[Target]) -> bool;

    /// Whether the person decides, so that there are no tokens.
    fn asks_the_person(&self) -> bool;

    /// A token that lets exactly this call through.
    fn propose(&self, meta: &Meta, args: &Map<String, Value>, targets: &[Target]) -> Result<Proposal>;

    /// The person will not be asked.
    fn withdraw_question(&self, ticket: &Ticket);

    /// The value of a secret, for the input alone.
    fn reveal_secret(&self, name: &str) -> Result<&str>;

    fn knows_secret(&self, name: &str) -> bool;
}

/// Which step is foreseen, and what for.
#[derive(Clone, Copy, Debug)]
pub struct Foresight {
    /// What the first step would touch is what is there now.
    pub is_first: bool,
    /// Nothing will be done, so that the step is tried as far as a dry run of its tool goes.
    pub is_dry: bool,
}

/// What is known of a step before anything has been done.
#[derive(Debug)]
pub struct Foreseen {
    pub meta: &'static Meta,
    /// What it would touch, or why that cannot be found yet.
    pub targets: Result<Vec<Target>>,
    /// It touches what needs a consent, and brings none.
    pub needs_consent: bool,
    /// Why a dry run of it was refused.
    pub refused: Option<Error>,
}

/// A token, and for how long it serves.
#[derive(Debug)]
pub struct Proposal {
    pub confirm_token: String,
    pub ttl: Duration,
}
