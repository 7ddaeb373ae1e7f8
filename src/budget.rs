//! How much may still be done: actions, screenshots, model tokens, seconds, actions per minute.
//!
//! What a call will use is counted before it runs and given back if it does not happen, so calls
//! in parallel cannot pass a limit together. Time is always the caller's monotonic clock.

pub mod pictures;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::lock;
use crate::config::Budgets;
use crate::error::{Error, Kind, Result};

const RATE_WINDOW: Duration = Duration::from_secs(60);

/// One thing that a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meter {
    Action,
    Screenshot,
    VlmTokens(u64),
}

#[derive(Debug)]
pub struct Budget {
    limits: Budgets,
    started: Duration,
    counters: Arc<Mutex<Counters>>,
}

#[derive(Debug, Default)]
struct Counters {
    used: Use,
    /// When each action of the last minute was reserved, and by which reservation.
    recent: VecDeque<(Duration, u64)>,
    last_reservation: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Use {
    actions: u64,
    screenshots: u64,
    vlm_tokens: u64,
}

impl Use {
    fn of(meters: &[Meter]) -> Use {
        let mut sum = Use::default();
        for meter in meters {
            match meter {
                Meter::Action => sum.actions += 1,
                Meter::Screenshot => sum.screenshots += 1,
                Meter::VlmTokens(tokens) => sum.vlm_tokens = sum.vlm_tokens.saturating_add(*tokens),
            }
        }
        sum
    }

    fn add(&mut self, more: Use) {
        self.actions = self.actions.saturating_add(more.actions);
        self.screenshots = self.screenshots.saturating_add(more.screenshots);
        self.vlm_tokens = self.vlm_tokens.saturating_add(more.vlm_tokens);
    }

    fn take_back(&mut self, less: Use) {
        self.actions = self.actions.saturating_sub(less.actions);
        self.screenshots = self.screenshots.saturating_sub(less.screenshots);
        self.vlm_tokens = self.vlm_tokens.saturating_sub(less.vlm_tokens);
    }
}

impl Budget {
    pub fn new(limits: Budgets, now: Duration) -> Budget {
        Budget { limits, started: now, counters: Arc::default() }
    }

    /// Counts all the meters or none. A call that uses nothing is never refused: reading the
    /// status must work when everything else is spent.
    pub fn reserve(&self, meters: &[Meter], now: Duration) -> Result<Reservation> {
        let wanted = Use::of(meters);
        let mut counters = lock(&self.counters);
        counters.forget_before(now);
        if wanted != Use::default() {
            self.check_session(now)?;
        }
        if wanted.actions > 0 {
            within("max_actions", counters.used.actions, wanted.actions, self.limits.max_actions)?;
            self.check_rate(&counters, wanted.actions, now)?;
        }
        let used = counters.used;
        within("max_screenshots", used.screenshots, wanted.screenshots, self.limits.max_screenshots)?;
        within("max_vlm_tokens", used.vlm_tokens, wanted.vlm_tokens, self.limits.max_vlm_tokens)?;
        let number = counters.count(wanted, now);
        Ok(Reservation { counters: Arc::clone(&self.counters), number, wanted, committed: false })
    }

    fn check_session(&self, now: Duration) -> Result<()> {
        let elapsed = now.saturating_sub(self.started);
        match self.limits.max_session_seconds {
            Some(limit) if elapsed >= Duration::from_secs(limit) => {
                Err(budget_exceeded("max_session_seconds", elapsed.as_secs()))
            }
            _ => Ok(()),
        }
    }

    fn check_rate(&self, counters: &Counters, wanted: u64, now: Duration) -> Result<()> {
        let in_window = counters.recent.len() as u64;
        match self.limits.actions_per_minute {
            Some(limit) if in_window.saturating_add(wanted) > limit => {
                let too_many = (in_window + wanted - limit) as usize;
                Err(rate_limited(in_window, limit, counters.wait_until_free(too_many, now)))
            }
            _ => Ok(()),
        }
    }

    pub fn budget_status(&self, now: Duration) -> BudgetStatus {
        let mut counters = lock(&self.counters);
        counters.forget_before(now);
        if self.limits == Budgets::default() {
            return BudgetStatus::default();
        }
        let (limits, used) = (&self.limits, counters.used);
        BudgetStatus {
            actions: Some(Spent::of(used.actions, limits.max_actions)),
            screenshots: Some(Spent::of(used.screenshots, limits.max_screenshots)),
            vlm_tokens: Some(Spent::of(used.vlm_tokens, limits.max_vlm_tokens)),
            session_seconds: Some(Elapsed::of(
                now.saturating_sub(self.started).as_secs(),
                limits.max_session_seconds,
            )),
            actions_per_minute: Some(Rate::of(counters.recent.len() as u64, limits.actions_per_minute)),
            configured: true,
        }
    }

    /// Actions and screenshots so far, for the metrics.
    pub fn used(&self) -> (u64, u64) {
        let used = lock(&self.counters).used;
        (used.actions, used.screenshots)
    }
}

impl Counters {
    fn count(&mut self, wanted: Use, now: Duration) -> u64 {
        self.last_reservation += 1;
        self.used.add(wanted);
        for _ in 0..wanted.actions {
            self.recent.push_back((now, self.last_reservation));
        }
        self.last_reservation
    }

    /// Threads read the clock before they take the lock, so entries may be out of order by a
    /// little; each is judged by its own time.
    fn forget_before(&mut self, now: Duration) {
        self.recent.retain(|(at, _)| now.saturating_sub(*at) < RATE_WINDOW);
    }

    /// Until the `too_many` oldest actions are a minute old; a whole minute if there are not so many.
    fn wait_until_free(&self, too_many: usize, now: Duration) -> Duration {
        let nth = self.recent.get(too_many.saturating_sub(1));
        nth.map_or(RATE_WINDOW, |(at, _)| (*at + RATE_WINDOW).saturating_sub(now))
    }
}

fn within(name: &str, used: u64, wanted: u64, limit: Option<u64>) -> Result<()> {
    match limit {
        Some(limit) if wanted > 0 && used.saturating_add(wanted) > limit => Err(budget_exceeded(name, used)),
        _ => Ok(()),
    }
}

fn budget_exceeded(name: &str, used: u64) -> Error {
    Error::new(Kind::BudgetExceeded, format!("{name} reached")).with("used", used)
}

fn rate_limited(in_window: u64, limit: u64, wait: Duration) -> Error {
    // Rounded up: who waits as long as told is not refused again by a fraction.
    let milliseconds = u64::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
    let seconds = milliseconds.div_ceil(1000);
    Error::new(Kind::RateLimited, format!("actions_per_minute reached; try again in {seconds} s"))
        .with("used", in_window)
        .with("limit", limit)
        .with("retry_after_ms", milliseconds)
}

/// What one call has taken from the budget. Dropped without `commit`, all of it is given back.
#[derive(Debug)]
#[must_use = "a reservation that is dropped is given back at once"]
pub struct Reservation {
    counters: Arc<Mutex<Counters>>,
    number: u64,
    wanted: Use,
    committed: bool,
}

impl Reservation {
    pub fn commit(mut self) {
        self.committed = true;
    }

    /// Replaces the estimate by what the model reported, also when that is more: it was used.
    pub fn set_vlm_tokens(&mut self, actual: u64) {
        let mut counters = lock(&self.counters);
        counters.used.vlm_tokens =
            counters.used.vlm_tokens.saturating_sub(self.wanted.vlm_tokens).saturating_add(actual);
        self.wanted.vlm_tokens = actual;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.committed {
            let mut counters = lock(&self.counters);
            counters.used.take_back(self.wanted);
            counters.recent.retain(|(_, number)| *number != self.number);
        }
    }
}

/// The answer of get_budget_status; without any limit only `configured` is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BudgetStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Spent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshots: Option<Spent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlm_tokens: Option<Spent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_seconds: Option<Elapsed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions_per_minute: Option<Rate>,
    pub configured: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Spent {
    pub used: u64,
    pub limit: Option<u64>,
    pub remaining: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Elapsed {
    pub elapsed: u64,
    pub limit: Option<u64>,
    pub remaining: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rate {
    pub in_window: u64,
    pub limit: Option<u64>,
    pub remaining: Option<u64>,
}

impl Spent {
    fn of(used: u64, limit: Option<u64>) -> Self {
        Self { used, limit, remaining: left(used, limit) }
    }
}

impl Elapsed {
    fn of(elapsed: u64, limit: Option<u64>) -> Self {
        Self { elapsed, limit, remaining: left(elapsed, limit) }
    }
}

impl Rate {
    fn of(in_window: u64, limit: Option<u64>) -> Self {
        Self { in_window, limit, remaining: left(in_window, limit) }
    }
}

fn left(used: u64, limit: Option<u64>) -> Option<u64> {
    limit.map(|limit| limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fact;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    const NOTHING: Budgets = Budgets {
        max_actions: None,
        max_screenshots: None,
        max_vlm_tokens: None,
        max_session_seconds: None,
        actions_per_minute: None,
    };

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[track_caller]
    fn spend(budget: &Budget, meters: &[Meter], at: u64) {
        budget.reserve(meters, seconds(at)).unwrap().commit();
    }

    #[track_caller]
    fn check_refused(budget: &Budget, meters: &[Meter], at: u64, kind: Kind, message: &str) -> Error {
        let error = budget.reserve(meters, seconds(at)).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
        error
    }

    #[test]
    fn actions_end_with_the_contracts_words() {
        let budget = Budget::new(Budgets { max_actions: Some(3), ..NOTHING }, seconds(0));
        (0..3).for_each(|at| spend(&budget, &[Meter::Action], at));
        let error = check_refused(&budget, &[Meter::Action], 3, Kind::BudgetExceeded, "max_actions reached");
        assert_eq!(error.context, vec![("used", Fact::Number(3))]);
    }

    #[test]
    fn screenshots_and_tokens_end_too() {
        let limits = Budgets { max_screenshots: Some(1), max_vlm_tokens: Some(100), ..NOTHING };
        let budget = Budget::new(limits, seconds(0));
        spend(&budget, &[Meter::Screenshot, Meter::VlmTokens(60)], 0);
        check_refused(&budget, &[Meter::Screenshot], 0, Kind::BudgetExceeded, "max_screenshots reached");
        check_refused(&budget, &[Meter::VlmTokens(41)], 0, Kind::BudgetExceeded, "max_vlm_tokens reached");
        spend(&budget, &[Meter::VlmTokens(40)], 0);
        spend(&budget, &[Meter::Action], 0);
    }

    #[test]
    fn a_refusal_takes_nothing() {
        let limits = Budgets { max_actions: Some(5), max_screenshots: Some(0), ..NOTHING };
        let budget = Budget::new(limits, seconds(0));
        let both = [Meter::Action, Meter::Screenshot];
        check_refused(&budget, &both, 0, Kind::BudgetExceeded, "max_screenshots reached");
        assert_eq!(budget.used(), (0, 0));
    }

    #[test]
    fn the_session_ends_for_what_uses_something() {
        let budget = Budget::new(Budgets { max_session_seconds: Some(10), ..NOTHING }, seconds(100));
        spend(&budget, &[Meter::Action], 109);
        let message = "max_session_seconds reached";
        check_refused(&budget, &[Meter::Action], 110, Kind::BudgetExceeded, message);
        check_refused(&budget, &[Meter::Screenshot], 500, Kind::BudgetExceeded, message);
        spend(&budget, &[], 500);
    }

    #[test]
    fn the_first_reason_in_the_contracts_order_is_told() {
        let limits = Budgets {
            max_session_seconds: Some(10),
            max_actions: Some(0),
            actions_per_minute: Some(0),
            max_screenshots: Some(0),
            max_vlm_tokens: Some(0),
        };
        let all = [Meter::VlmTokens(1), Meter::Screenshot, Meter::Action];
        let told = |limits: Budgets, at: u64| {
            Budget::new(limits, seconds(0)).reserve(&all, seconds(at)).unwrap_err().message
        };
        assert_eq!(told(limits, 10), "max_session_seconds reached");
        assert_eq!(told(limits, 0), "max_actions reached");
        let limits = Budgets { max_actions: None, ..limits };
        assert_eq!(told(limits, 0), "actions_per_minute reached; try again in 60 s");
        let limits = Budgets { actions_per_minute: None, ..limits };
        assert_eq!(told(limits, 0), "max_screenshots reached");
        assert_eq!(told(Budgets { max_screenshots: None, ..limits }, 0), "max_vlm_tokens reached");
    }

    #[test]
    fn the_rate_slides_and_says_how_long_to_wait() {
        let budget = Budget::new(Budgets { actions_per_minute: Some(2), ..NOTHING }, seconds(0));
        spend(&budget, &[Meter::Action], 0);
        spend(&budget, &[Meter::Action], 20);
        let message = "actions_per_minute reached; try again in 30 s";
        let error = check_refused(&budget, &[Meter::Action], 30, Kind::RateLimited, message);
        assert!(error.context.contains(&("retry_after_ms", Fact::Number(30_000))));
        spend(&budget, &[Meter::Action], 60);
        let message = "actions_per_minute reached; try again in 19 s";
        check_refused(&budget, &[Meter::Action], 61, Kind::RateLimited, message);
    }

    #[test]
    fn a_clock_read_late_does_not_free_a_slot() {
        let budget = Budget::new(Budgets { actions_per_minute: Some(1), ..NOTHING }, seconds(0));
        spend(&budget, &[Meter::Action], 100);
        let message = "actions_per_minute reached; try again in 61 s";
        check_refused(&budget, &[Meter::Action], 99, Kind::RateLimited, message);
    }

    #[test]
    fn a_dropped_reservation_is_given_back_with_its_slot() {
        let limits = Budgets { max_actions: Some(1), actions_per_minute: Some(1), ..NOTHING };
        let budget = Budget::new(limits, seconds(0));
        let held = budget.reserve(&[Meter::Action], seconds(0)).unwrap();
        check_refused(&budget, &[Meter::Action], 0, Kind::BudgetExceeded, "max_actions reached");
        drop(held);
        spend(&budget, &[Meter::Action], 0);
        check_refused(&budget, &[Meter::Action], 0, Kind::BudgetExceeded, "max_actions reached");
    }

    #[test]
    fn giving_back_takes_the_own_slot_only() {
        let budget = Budget::new(Budgets { actions_per_minute: Some(2), ..NOTHING }, seconds(0));
        let held = budget.reserve(&[Meter::Action], seconds(0)).unwrap();
        spend(&budget, &[Meter::Action], 0);
        drop(held);
        assert_eq!(budget.budget_status(seconds(0)).actions_per_minute, Some(Rate::of(1, Some(2))));
    }

    #[test]
    fn the_models_own_number_replaces_the_estimate() {
        let budget = Budget::new(Budgets { max_vlm_tokens: Some(2000), ..NOTHING }, seconds(0));
        let mut reservation = budget.reserve(&[Meter::VlmTokens(1500)], seconds(0)).unwrap();
        reservation.set_vlm_tokens(300);
        reservation.commit();
        assert_eq!(budget.budget_status(seconds(0)).vlm_tokens, Some(Spent::of(300, Some(2000))));
    }

    #[test]
    fn the_status_is_the_contracts() {
        let limits = Budgets {
            max_actions: Some(3),
            max_screenshots: Some(1),
            actions_per_minute: Some(50),
            ..NOTHING
        };
        let budget = Budget::new(limits, seconds(7));
        spend(&budget, &[Meter::Action], 8);
        let status = budget.budget_status(Duration::from_millis(10_900));
        insta::assert_json_snapshot!(status, @r#"
        {
          "actions": {
            "used": 1,
            "limit": 3,
            "remaining": 2
          },
          "screenshots": {
            "used": 0,
            "limit": 1,
            "remaining": 1
          },
          "vlm_tokens": {
            "used": 0,
            "limit": null,
            "remaining": null
          },
          "session_seconds": {
            "elapsed": 3,
            "limit": null,
            "remaining": null
          },
          "actions_per_minute": {
            "in_window": 1,
            "limit": 50,
            "remaining": 49
          },
          "configured": true
        }
        "#);
    }

    #[test]
    fn without_limits_only_that_is_told() {
        let budget = Budget::new(NOTHING, seconds(0));
        spend(&budget, &[Meter::Action], 0);
        assert_eq!(
            serde_json::to_string(&budget.budget_status(seconds(0))).unwrap(),
            r#"{"configured":false}"#
        );
    }

    #[test]
    fn fifty_parallel_calls_get_exactly_the_limit() {
        let budget = Budget::new(Budgets { max_actions: Some(2), ..NOTHING }, seconds(0));
        let effects = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| {
                    if let Ok(reservation) = budget.reserve(&[Meter::Action], seconds(0)) {
                        effects.fetch_add(1, Ordering::SeqCst);
                        reservation.commit();
                    }
                });
            }
        });
        assert_eq!(effects.into_inner(), 2);
    }

    #[test]
    fn refunds_under_contention_are_used_again() {
        let limits = Budgets { max_actions: Some(40), actions_per_minute: Some(40), ..NOTHING };
        let budget = Budget::new(limits, seconds(0));
        let (held, most_held, commits) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for attempt in 0..200 {
                        let Ok(reservation) = budget.reserve(&[Meter::Action], seconds(0)) else { continue };
                        let now_held = held.fetch_add(1, Ordering::SeqCst) + 1;
                        most_held.fetch_max(now_held, Ordering::SeqCst);
                        if attempt % 3 == 0 {
                            commits.fetch_add(1, Ordering::SeqCst);
                            reservation.commit();
                        } else {
                            held.fetch_sub(1, Ordering::SeqCst);
                            drop(reservation);
                        }
                    }
                });
            }
        });
        while let Ok(reservation) = budget.reserve(&[Meter::Action], seconds(0)) {
            commits.fetch_add(1, Ordering::SeqCst);
            reservation.commit();
        }
        assert_eq!(commits.into_inner(), 40);
        assert!(most_held.into_inner() <= 40);
        assert_eq!(budget.used().0, 40);
    }

    proptest! {
        /// A plain model: a list of (time, kept). Whatever the order of reserving, committing and
        /// dropping, what the budget grants is what the model has room for.
        #[test]
        fn grants_follow_the_model(steps in prop::collection::vec((0u64..40, any::<bool>()), 0..60)) {
            let limits = Budgets { max_actions: Some(10), actions_per_minute: Some(4), ..NOTHING };
            let budget = Budget::new(limits, seconds(0));
            let mut kept: Vec<u64> = Vec::new();
            let mut now = 0;
            for (pause, commit) in steps {
                now += pause;
                let recent = kept.iter().filter(|at| now - **at < 60).count();
                let granted = budget.reserve(&[Meter::Action], seconds(now));
                prop_assert_eq!(granted.is_ok(), kept.len() < 10 && recent < 4);
                if let Ok(reservation) = granted && commit {
                    reservation.commit();
                    kept.push(now);
                }
            }
            prop_assert_eq!(budget.used().0, kept.len() as u64);
        }
    }
}
