//! The consents that were given and not used yet: few, short-lived, each good for one use.
//!
//! Whoever shows one uses it up, whether or not it fits: a token that is tried on something else is burnt.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use super::{CallFacts, ShownWindow};
use crate::clock::lock;
use crate::error::{Error, Result};

const MOST_KEPT: usize = 256;

/// Who says yes by it. A token of the caller never stands for the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Giver {
    Caller,
    Person,
}

#[derive(Debug)]
pub struct Grants {
    ttl: Duration,
    tolerance: u32,
    oldest_first: Mutex<VecDeque<Grant>>,
}

#[derive(Debug)]
struct Grant {
    id: String,
    giver: Giver,
    facts: CallFacts,
    /// What the person saw when they were asked.
    shown: Option<ShownWindow>,
    since: Duration,
}

/// Why a grant is not good for a call.
#[derive(Debug, PartialEq, Eq)]
pub enum GrantProblem {
    /// In words that follow `the token`.
    Invalid(String),
    /// It is for this call, but the person saw something else: what.
    Changed(String),
}

impl Grants {
    pub fn new(ttl: Duration, tolerance: u32) -> Self {
        Self { ttl, tolerance, oldest_first: Mutex::default() }
    }

    pub fn store_grant(&self, facts: CallFacts, giver: Giver, now: Duration) -> Result<String> {
        self.store_shown(facts, giver, None, now)
    }

    /// The same for a grant that is good for what was shown alone.
    pub fn store_shown(
        &self,
        facts: CallFacts,
        giver: Giver,
        shown: Option<ShownWindow>,
        now: Duration,
    ) -> Result<String> {
        let id = fresh_id(giver)?;
        let mut grants = lock(&self.oldest_first);
        grants.retain(|grant| self.is_alive(grant, now));
        if giver == Giver::Person {
            // Asked again about the same: the older question is void.
            grants.retain(|grant| grant.giver != Giver::Person || grant.facts != facts);
        }
        if grants.len() >= MOST_KEPT {
            grants.pop_front();
        }
        grants.push_back(Grant { id: id.clone(), giver, facts, shown, since: now });
        Ok(id)
    }

    /// Uses a grant up, or says why it is not good for this call. A dry run that fits leaves it for the deed.
    /// Answers what changed where the person did not have to look.
    pub fn redeem_grant(
        &self,
        id: &str,
        giver: Giver,
        facts: &CallFacts,
        shown: Option<&ShownWindow>,
        now: Duration,
        dry_run: bool,
    ) -> Result<Option<String>, GrantProblem> {
        let mut grants = lock(&self.oldest_first);
        let place = grants.iter().position(|grant| grant.id == id && grant.giver == giver);
        let Some(grant) = place.and_then(|place| grants.remove(place)) else {
            return Err(GrantProblem::Invalid("is unknown, expired or already used".to_owned()));
        };
        if !self.is_alive(&grant, now) {
            return Err(GrantProblem::Invalid(format!("has expired after {} s", self.ttl.as_secs())));
        }
        if let Some(difference) = grant.facts.describe_difference(facts, self.tolerance) {
            return Err(GrantProblem::Invalid(difference));
        }
        let passed = now.saturating_sub(grant.since);
        let shown = grant.shown.as_ref().zip(shown);
        let change = shown.map(|(then, now)| then.describe_change(now, passed)).unwrap_or_default();
        if let Some(change) = change.in_question {
            return Err(GrantProblem::Changed(change));
        }
        if dry_run {
            grants.push_back(grant);
        }
        Ok(change.elsewhere)
    }

    /// Uses up the grant of a caller that is shown where none is needed, and says why it was not for this call.
    pub fn spend_needless(&self, id: &str, facts: &CallFacts, now: Duration) -> Option<String> {
        let mut grants = lock(&self.oldest_first);
        let place = grants.iter().position(|grant| grant.id == id && grant.giver == Giver::Caller);
        match place.and_then(|place| grants.remove(place)).filter(|grant| self.is_alive(grant, now)) {
            Some(grant) => grant.facts.describe_other_call(facts),
            None => Some("is unknown, expired or already used".to_owned()),
        }
    }

    pub fn revoke_grant(&self, id: &str) {
        lock(&self.oldest_first).retain(|grant| grant.id != id);
    }

    /// Whether the person is being asked about something else at the moment. `answered` is open no more.
    pub fn another_question_is_open(&self, facts: &CallFacts, answered: Option<&str>, now: Duration) -> bool {
        lock(&self.oldest_first).iter().any(|grant| {
            grant.giver == Giver::Person
                && Some(grant.id.as_str()) != answered
                && self.is_alive(grant, now)
                && grant.facts.describe_difference(facts, self.tolerance).is_some()
        })
    }

    fn is_alive(&self, grant: &Grant, now: Duration) -> bool {
        now.saturating_sub(grant.since) < self.ttl
    }
}

/// 128 random bits. Without a random source there is no consent rather than one that can be guessed.
fn fresh_id(giver: Giver) -> Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|problem| Error::internal(format!("cannot generate a token: {problem}")))?;
    let prefix = match giver {
        Giver::Caller => "ct:",
        Giver::Person => "cq:",
    };
    Ok(format!("{prefix}{:032x}", u128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};

    fn facts(count: u64) -> CallFacts {
        CallFacts::of("click_element", &Map::from_iter([("count".to_owned(), Value::from(count))]), &[])
    }

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn grants() -> Grants {
        Grants::new(seconds(60), 20)
    }

    #[test]
    fn a_token_is_long_and_serves_once() {
        let grants = grants();
        let id = grants.store_grant(facts(1), Giver::Caller, seconds(0)).unwrap();
        assert!(id.starts_with("ct:") && id.len() == 35, "{id}");
        grants.redeem_grant(&id, Giver::Caller, &facts(1), None, seconds(59), true).unwrap();
        grants.redeem_grant(&id, Giver::Caller, &facts(1), None, seconds(59), false).unwrap();
        assert!(grants.redeem_grant(&id, Giver::Caller, &facts(1), None, seconds(59), false).is_err());
    }

    #[test]
    fn time_and_mismatch_burn_it() {
        let grants = grants();
        let late = grants.store_grant(facts(1), Giver::Caller, seconds(0)).unwrap();
        let problem =
            grants.redeem_grant(&late, Giver::Caller, &facts(1), None, seconds(60), false).unwrap_err();
        assert_eq!(problem, GrantProblem::Invalid("has expired after 60 s".to_owned()));
        let other = grants.store_grant(facts(1), Giver::Caller, seconds(60)).unwrap();
        let problem =
            grants.redeem_grant(&other, Giver::Caller, &facts(2), None, seconds(61), true).unwrap_err();
        assert_eq!(problem, GrantProblem::Invalid("is for another 'count'".to_owned()));
        assert!(grants.redeem_grant(&other, Giver::Caller, &facts(1), None, seconds(61), false).is_err());
    }

    #[test]
    fn a_callers_token_is_not_the_persons_word() {
        let grants = grants();
        let token = grants.store_grant(facts(1), Giver::Caller, seconds(0)).unwrap();
        let ticket = grants.store_grant(facts(1), Giver::Person, seconds(0)).unwrap();
        assert!(grants.redeem_grant(&token, Giver::Person, &facts(1), None, seconds(0), false).is_err());
        assert!(grants.redeem_grant(&ticket, Giver::Caller, &facts(1), None, seconds(0), false).is_err());
    }

    #[test]
    fn the_store_is_bounded() {
        let grants = grants();
        let first = grants.store_grant(facts(1), Giver::Caller, seconds(0)).unwrap();
        let ids: Vec<String> = (0..MOST_KEPT)
            .map(|_| grants.store_grant(facts(1), Giver::Caller, seconds(0)).unwrap())
            .collect();
        assert!(grants.redeem_grant(&first, Giver::Caller, &facts(1), None, seconds(0), false).is_err());
        assert!(grants.redeem_grant(&ids[0], Giver::Caller, &facts(1), None, seconds(0), false).is_ok());
    }

    #[test]
    fn one_question_at_a_time() {
        let grants = grants();
        grants.store_grant(facts(1), Giver::Caller, seconds(0)).unwrap();
        assert!(!grants.another_question_is_open(&facts(2), None, seconds(0)));
        let old = grants.store_grant(facts(1), Giver::Person, seconds(0)).unwrap();
        assert!(grants.another_question_is_open(&facts(2), None, seconds(59)));
        assert!(!grants.another_question_is_open(&facts(1), None, seconds(59)));
        assert!(!grants.another_question_is_open(&facts(2), None, seconds(60)));
        grants.store_grant(facts(1), Giver::Person, seconds(1)).unwrap();
        assert!(grants.redeem_grant(&old, Giver::Person, &facts(1), None, seconds(1), false).is_err());
    }
}
