//! Somebody else plans: an MCP client's own model, or a coding agent that we started. Each of its calls is a turn of
//! the job, so limits, the record, repetitions and the schema of the result hold as for every planner.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::{CallResult, PlannedStep, Planner, PlannerAnswer, PlannerAsker, PlannerFailure, PlannerTurn};
use crate::clock::{Cancel, Clock, lock};
use crate::jobs::limits::JobLimits;

/// How soon a cancelled job and the end of a job are noticed.
const LOOK_UP: Duration = Duration::from_millis(50);

/// Waits for the steps of whoever has the seat.
pub struct HostPlanner {
    exchange: Arc<HostExchange>,
    /// The step of the seat that was handed to the job: its outcome is owed.
    owed: Option<u64>,
    patience: Duration,
}

/// The place from which somebody else plans a job.
#[derive(Clone)]
pub struct HostSeat {
    exchange: Arc<HostExchange>,
}

#[derive(Default)]
struct HostExchange {
    state: Mutex<ExchangeState>,
    changed: Condvar,
    /// One step at a time.
    turn: Mutex<()>,
}

#[derive(Default)]
struct ExchangeState {
    /// Numbered, so that an answer that nobody waits for any more is not taken for that of a later step.
    step: Option<(u64, PlannedStep)>,
    answer: Option<(u64, HostAnswer)>,
    last_step: u64,
    /// The number of the newest step that nobody waits for any more.
    withdrawn: u64,
    /// Why the job waits for a person.
    paused: Option<String>,
    is_over: bool,
}

/// What whoever plans does while the job is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuringPause {
    /// Its call waits until somebody resumes the job.
    Wait,
    /// Its call is withdrawn, and it is told so: it may be the one who can resume the job.
    Withdraw,
}

/// What came of a step.
#[derive(Clone, Debug)]
pub enum HostAnswer {
    /// The reply of a call, and what the job says beside it.
    Result(Box<CallResult>, Option<String>),
    /// The step was not taken; this is why.
    Remark(String),
    /// The job is paused for this reason, and the step was withdrawn; a part of it may have been made.
    Paused { why: String, was_begun: bool },
    /// The job is over: its end is in the store.
    Ended,
}

/// A planner, and the seat to plan from.
pub fn open_seat(limits: &JobLimits) -> (HostPlanner, HostSeat) {
    let exchange = Arc::new(HostExchange::default());
    let planner = HostPlanner { exchange: exchange.clone(), owed: None, patience: limits.timeout() };
    (planner, HostSeat { exchange })
}

impl HostSeat {
    /// Makes a step of the job and waits for what comes of it.
    pub fn take_step(&self, step: PlannedStep, during_pause: DuringPause, cancel: &Cancel) -> HostAnswer {
        let _turn = lock(&self.exchange.turn);
        let mut state = lock(&self.exchange.state);
        if state.is_over {
            return HostAnswer::Ended;
        }
        state.last_step += 1;
        let number = state.last_step;
        state.step = Some((number, step));
        self.exchange.changed.notify_all();
        loop {
            if let Some((_, answer)) = state.answer.take().filter(|(answered, _)| *answered == number) {
                return answer;
            }
            if state.is_over {
                return HostAnswer::Ended;
            }
            if cancel.check().is_err() && state.step.take().is_some() {
                return HostAnswer::Remark("cancelled before it was made".to_owned());
            }
            if let Some(why) = state.paused.clone().filter(|_| during_pause == DuringPause::Withdraw) {
                let was_begun = state.step.take().is_none();
                state.withdrawn = number;
                return HostAnswer::Paused { why, was_begun };
            }
            state = self.exchange.wait(state);
        }
    }

    pub fn is_over(&self) -> bool {
        lock(&self.exchange.state).is_over
    }
}

impl HostExchange {
    fn wait<'a>(
        &self,
        state: std::sync::MutexGuard<'a, ExchangeState>,
    ) -> std::sync::MutexGuard<'a, ExchangeState> {
        self.changed.wait_timeout(state, LOOK_UP).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl HostPlanner {
    /// `gone` says why no step will come any more.
    pub fn next_unless(
        &mut self,
        turn: &PlannerTurn,
        cancel: &Cancel,
        gone: &mut dyn FnMut() -> Option<String>,
    ) -> Result<PlannerAnswer, PlannerFailure> {
        let (clock, exchange) = (Clock::real(), self.exchange.clone());
        let began = clock.now();
        let mut state = lock(&exchange.state);
        if let Some(number) = self.owed.take() {
            state.answer = Some((number, answer_of(turn)));
            exchange.changed.notify_all();
        }
        loop {
            if let Some((number, step)) = state.step.take() {
                self.owed = Some(number);
                return Ok(PlannerAnswer { steps: vec![step], ..PlannerAnswer::default() });
            }
            cancel.check().map_err(|_| PlannerFailure::Cancelled)?;
            if let Some(reason) = gone() {
                return Ok(PlannerAnswer {
                    steps: vec![PlannedStep::Fail(reason)],
                    ..PlannerAnswer::default()
                });
            }
            if clock.now().saturating_sub(began) >= self.patience {
                let seconds = self.patience.as_secs();
                return Err(PlannerFailure::Failed(format!(
                    "no step came from the client within {seconds} s"
                )));
            }
            state = exchange.wait(state);
        }
    }
}

fn answer_of(turn: &PlannerTurn) -> HostAnswer {
    let remark = turn.remark.map(str::to_owned);
    match turn.results.last() {
        Some(result) => HostAnswer::Result(Box::new(result.clone()), remark),
        None => HostAnswer::Remark(remark.unwrap_or_default()),
    }
}

impl Planner for HostPlanner {
    fn next(&mut self, turn: &PlannerTurn, asker: PlannerAsker) -> Result<PlannerAnswer, PlannerFailure> {
        self.next_unless(turn, asker.cancel, &mut || None)
    }

    fn note_pause(&mut self, why: Option<&str>) {
        lock(&self.exchange.state).paused = why.map(str::to_owned);
        self.exchange.changed.notify_all();
    }

    fn has_withdrawn(&self) -> bool {
        self.owed.is_some_and(|number| lock(&self.exchange.state).withdrawn >= number)
    }
}

impl Drop for HostPlanner {
    fn drop(&mut self) {
        lock(&self.exchange.state).is_over = true;
        self.exchange.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn look() -> PlannedStep {
        PlannedStep::Call { tool: "look".to_owned(), args: serde_json::Map::new() }
    }

    fn turn<'a>(results: &'a [CallResult], remark: Option<&'a str>) -> PlannerTurn<'a> {
        PlannerTurn { goal: "", results, remark }
    }

    #[test]
    fn a_step_of_the_seat_is_a_turn_and_is_answered() {
        let (mut planner, seat) = open_seat(&JobLimits::default());
        let client = std::thread::spawn(move || {
            let first = seat.take_step(look(), DuringPause::Wait, &Cancel::new());
            let second = seat.take_step(PlannedStep::Finish(json!(1)), DuringPause::Wait, &Cancel::new());
            (first, second)
        });
        let cancel = Cancel::new();
        assert_eq!(planner.next(&turn(&[], None), PlannerAsker::deaf(&cancel)).unwrap().steps, [look()]);
        let reply = json!({"ok": true});
        let result = CallResult {
            tool: "look".to_owned(),
            error: None,
            reply,
            text: "a window".to_owned(),
            picture: None,
        };
        let steps =
            planner.next(&turn(&[result], Some("again?")), PlannerAsker::deaf(&cancel)).unwrap().steps;
        assert_eq!(steps, [PlannedStep::Finish(json!(1))]);
        drop(planner);
        let (first, second) = client.join().unwrap();
        assert!(
            matches!(&first, HostAnswer::Result(result, Some(remark)) if result.text == "a window" && remark == "again?")
        );
        assert!(matches!(second, HostAnswer::Ended));
    }

    #[test]
    fn a_seat_that_is_empty_ends_the_job() {
        let limits = JobLimits { timeout_ms: 60, ..JobLimits::default() };
        let (mut planner, _seat) = open_seat(&limits);
        let cancel = Cancel::new();
        let alone = planner.next(&turn(&[], None), PlannerAsker::deaf(&cancel));
        assert!(matches!(alone, Err(PlannerFailure::Failed(_))));
        cancel.fire();
        assert_eq!(
            planner.next(&turn(&[], None), PlannerAsker::deaf(&cancel)),
            Err(PlannerFailure::Cancelled)
        );
        let gone = planner.next_unless(&turn(&[], None), &Cancel::new(), &mut || Some("it left".to_owned()));
        assert_eq!(gone.unwrap().steps, [PlannedStep::Fail("it left".to_owned())]);
    }
}
