//! What an evaluation found: a table for people, and JSON for programs. It measures nothing itself.

use serde_json::{Value, json};

use super::statistics::{WilsonInterval, median_of};
use crate::jobs::money::Cost;
use crate::text::shorten;

/// Rounding must not make two of three runs miss two thirds.
const TOLERANCE: f64 = 1e-9;
/// What is said of a report that is not whole.
pub const STOPPED: &str = "stopped before all runs were done";
/// As many characters of a problem fit below the table.
const PROBLEM_WIDTH: usize = 400;

#[derive(Clone, Debug)]
pub struct EvalReport {
    pub suite: String,
    pub planner: String,
    pub model: Option<String>,
    pub started_at: String,
    /// It was stopped before all runs were done, so it proves nothing.
    pub stopped: bool,
    pub cases: Vec<CaseReport>,
}

#[derive(Clone, Debug)]
pub struct CaseReport {
    pub name: String,
    /// Share of the runs that must succeed.
    pub required: f64,
    /// A test is run again until it passes, so that its last run counts.
    pub retried: bool,
    pub runs: Vec<RunReport>,
}

/// One run of a case.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// Nothing where the job could not be made.
    pub job_id: Option<String>,
    /// Of a task of MiniWoB++.
    pub seed: Option<u64>,
    pub reward: Option<f64>,
    pub status: Option<String>,
    /// Why it failed; nothing if it succeeded.
    pub problem: Option<String>,
    /// Of a test: a line for each step.
    pub lines: Vec<String>,
    /// Of a test that failed: the page of its trace.
    pub page: Option<String>,
    pub used: RunUse,
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunUse {
    pub steps: u64,
    pub calls: u64,
    pub tokens: u64,
    /// Nothing where the price of the model is not known.
    pub cost: Option<Cost>,
    pub milliseconds: u64,
}

impl RunReport {
    pub fn succeeded(&self) -> bool {
        self.problem.is_none()
    }
}

impl CaseReport {
    pub fn successes(&self) -> usize {
        self.runs.iter().filter(|run| run.succeeded()).count()
    }

    pub fn reached(&self) -> bool {
        if self.retried {
            return self.runs.last().is_some_and(RunReport::succeeded);
        }
        !self.runs.is_empty() && self.successes() as f64 + TOLERANCE >= self.required * self.runs.len() as f64
    }

    pub fn median_use(&self) -> RunUse {
        let median = |value: fn(&RunUse) -> u64| {
            median_of(self.runs.iter().map(|run| value(&run.used))).unwrap_or_default()
        };
        let costs: Option<Vec<u64>> = self.runs.iter().map(|run| run.used.cost.map(|cost| cost.0)).collect();
        RunUse {
            steps: median(|used| used.steps),
            calls: median(|used| used.calls),
            tokens: median(|used| used.tokens),
            cost: costs.map(|costs| Cost(median_of(costs.into_iter()).unwrap_or_default())),
            milliseconds: median(|used| used.milliseconds),
        }
    }
}

impl EvalReport {
    pub fn reached(&self) -> bool {
        !self.stopped && !self.cases.is_empty() && self.cases.iter().all(CaseReport::reached)
    }

    fn all_runs(&self) -> impl Iterator<Item = &RunReport> {
        self.cases.iter().flat_map(|case| &case.runs)
    }

    fn total_use(&self) -> RunUse {
        self.all_runs().fold(RunUse { cost: Some(Cost::default()), ..RunUse::default() }, |total, run| {
            RunUse {
                steps: total.steps.saturating_add(run.used.steps),
                calls: total.calls.saturating_add(run.used.calls),
                tokens: total.tokens.saturating_add(run.used.tokens),
                cost: total.cost.zip(run.used.cost).map(|(left, right)| Cost(left.0.saturating_add(right.0))),
                milliseconds: total.milliseconds.saturating_add(run.used.milliseconds),
            }
        })
    }

    fn counts(&self) -> (usize, usize) {
        (self.all_runs().filter(|run| run.succeeded()).count(), self.all_runs().count())
    }

    /// A line for each case with the median of its runs, one that adds all runs up, and why runs failed.
    pub fn to_table(&self) -> String {
        let mut rows = vec![HEADER.map(str::to_owned)];
        for case in &self.cases {
            let mark = if case.reached() { "" } else { " *" };
            let name = format!("{}{mark}", case.name);
            rows.push(table_row(&name, (case.successes(), case.runs.len()), case.median_use()));
        }
        rows.push(table_row("sum", self.counts(), self.total_use()));
        let mut text = align_columns(&rows);
        for (case, number, run) in self.failed_runs() {
            let problem = run.problem.as_deref().unwrap_or_default();
            let job = run.job_id.as_deref().map(|job| format!(" ({job})")).unwrap_or_default();
            text.push_str(&format!("\n{case}, run {number}{job}: {}", shorten(problem, PROBLEM_WIDTH)));
        }
        format!("{text}\n{}", self.verdict_text())
    }

    fn failed_runs(&self) -> impl Iterator<Item = (&str, usize, &RunReport)> {
        self.cases.iter().flat_map(|case| {
            let numbered = case.runs.iter().enumerate().filter(|(_, run)| !run.succeeded());
            numbered.map(|(at, run)| (case.name.as_str(), at + 1, run))
        })
    }

    fn verdict_text(&self) -> String {
        let below: Vec<String> =
            self.cases.iter().filter(|case| !case.reached()).map(required_text).collect();
        if self.stopped {
            return STOPPED.to_owned();
        }
        if below.is_empty() {
            return "every case reaches the success that it requires".to_owned();
        }
        format!("* below the success that is required: {}", below.join(", "))
    }

    pub fn to_json(&self) -> Value {
        let (succeeded, runs) = self.counts();
        json!({
            "suite": self.suite, "planner": self.planner, "model": self.model, "started_at": self.started_at,
            "version": env!("CARGO_PKG_VERSION"), "reached": self.reached(), "stopped": self.stopped,
            "cases": self.cases.iter().map(case_json).collect::<Vec<_>>(),
            "sum": {
                "runs": runs, "succeeded": succeeded, "success": share(succeeded, runs),
                "interval": WilsonInterval::of_runs(succeeded, runs), "used": use_json(self.total_use()),
            },
        })
    }
}

/// A case and the share of its runs that must succeed.
pub fn required_text(case: &CaseReport) -> String {
    format!(
        "{} ({} of {} succeeded, {} required)",
        case.name,
        case.successes(),
        case.runs.len(),
        percent(case.required)
    )
}

const HEADER: [&str; 9] =
    ["case", "success", "rate", "95 % interval", "steps", "calls", "tokens", "dollars", "ms"];

fn table_row(name: &str, (succeeded, runs): (usize, usize), used: RunUse) -> [String; 9] {
    let interval = WilsonInterval::of_runs(succeeded, runs);
    [
        name.to_owned(),
        format!("{succeeded}/{runs}"),
        percent(share(succeeded, runs)),
        format!("{} to {}", percent(interval.low), percent(interval.high)),
        used.steps.to_string(),
        used.calls.to_string(),
        used.tokens.to_string(),
        used.cost.map_or_else(|| "?".to_owned(), |cost| format!("{:.4}", cost.usd())),
        used.milliseconds.to_string(),
    ]
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn share(succeeded: usize, runs: usize) -> f64 {
    if runs == 0 { 0.0 } else { succeeded as f64 / runs as f64 }
}

/// The first column to the left, the others to the right.
fn align_columns(rows: &[[String; 9]]) -> String {
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let line = |row: &[String; 9]| {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let width = width(at).unwrap_or_default();
            if at == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn case_json(case: &CaseReport) -> Value {
    let (succeeded, runs) = (case.successes(), case.runs.len());
    json!({
        "name": case.name, "required": case.required, "reached": case.reached(), "succeeded": succeeded,
        "success": share(succeeded, runs), "interval": WilsonInterval::of_runs(succeeded, runs),
        "median": use_json(case.median_use()), "runs": case.runs.iter().map(run_json).collect::<Vec<_>>(),
    })
}

fn run_json(run: &RunReport) -> Value {
    let mut shown = json!({
        "succeeded": run.succeeded(), "problem": run.problem, "job_id": run.job_id, "status": run.status,
        "used": use_json(run.used),
    });
    if run.seed.is_some() {
        shown["seed"] = json!(run.seed);
        shown["reward"] = json!(run.reward);
    }
    shown
}

fn use_json(used: RunUse) -> Value {
    json!({
        "steps": used.steps, "calls": used.calls, "tokens": used.tokens, "cost_usd": used.cost.map(Cost::usd),
        "ms": used.milliseconds,
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    fn run(problem: Option<&str>, milliseconds: u64) -> RunReport {
        let used =
            RunUse { steps: 6, calls: 5, tokens: 100, cost: Some(Cost::from_usd(0.001)), milliseconds };
        let (job_id, problem) = (Some("job_1".to_owned()), problem.map(str::to_owned));
        RunReport { job_id, problem, status: Some("succeeded".to_owned()), used, ..RunReport::default() }
    }

    pub fn sample() -> EvalReport {
        let case = |name: &str, required: f64, runs: Vec<RunReport>| CaseReport {
            name: name.to_owned(),
            required,
            retried: false,
            runs,
        };
        EvalReport {
            suite: "hands".to_owned(),
            planner: "scripted".to_owned(),
            model: None,
            started_at: "2026-01-01T00:00:00.000000+00:00".to_owned(),
            stopped: false,
            cases: vec![
                case("login", 1.0, vec![run(None, 10), run(None, 30)]),
                case(
                    "form",
                    0.9,
                    vec![
                        run(Some("the job is <failed> & \u{1b}[31m\"late\""), 5),
                        run(None, 7),
                        run(None, 9),
                    ],
                ),
            ],
        }
    }

    #[test]
    fn the_table_has_a_line_for_each_case_and_a_sum() {
        insta::assert_snapshot!(sample().to_table().replace('\u{1b}', "ESC"));
    }

    #[test]
    fn a_case_is_held_to_what_it_requires() {
        let check = |succeeded: usize, failed: usize, required: f64, expected: bool| {
            let failing = std::iter::repeat_with(|| run(Some("x"), 1)).take(failed);
            let runs = std::iter::repeat_with(|| run(None, 1)).take(succeeded).chain(failing).collect();
            let case = CaseReport { name: "c".to_owned(), required, retried: false, runs };
            assert_eq!(case.reached(), expected, "{succeeded} and {failed}, {required}");
        };
        check(2, 0, 1.0, true);
        check(1, 1, 1.0, false);
        check(2, 1, 2.0 / 3.0, true);
        check(1, 2, 2.0 / 3.0, false);
        check(0, 3, 0.0, true);
        check(0, 0, 0.0, false);
    }

    #[test]
    fn of_a_test_that_is_retried_the_last_run_counts() {
        let check = |problems: &[Option<&str>], expected: bool| {
            let runs = problems.iter().map(|problem| run(*problem, 1)).collect();
            let case = CaseReport { name: "c".to_owned(), required: 1.0, retried: true, runs };
            assert_eq!(case.reached(), expected, "{problems:?}");
        };
        check(&[None], true);
        check(&[Some("x"), None], true);
        check(&[Some("x"), Some("y")], false);
        check(&[], false);
    }

    #[test]
    fn a_price_that_is_not_known_is_not_taken_for_nothing() {
        let mut report = sample();
        report.cases[0].runs[0].used.cost = None;
        let json = report.to_json();
        assert_eq!(json["cases"][0]["median"]["cost_usd"], Value::Null);
        assert_eq!(json["sum"]["used"]["cost_usd"], Value::Null);
        assert_eq!(json["cases"][1]["median"]["cost_usd"], 0.001);
        assert!(report.to_table().contains('?'));
    }

    /// Half of an evaluation must not pass for one that went well.
    #[test]
    fn what_was_stopped_reaches_nothing() {
        let mut report = sample();
        report.cases.truncate(1);
        assert!(report.reached());
        report.stopped = true;
        assert!(!report.reached() && report.to_table().ends_with(STOPPED));
        assert_eq!(
            (&report.to_json()["reached"], &report.to_json()["stopped"]),
            (&json!(false), &json!(true))
        );
        let junit = report.to_junit();
        assert!(
            junit.contains("tests=\"2\" failures=\"0\" errors=\"1\"") && junit.contains("<error "),
            "{junit}"
        );
    }

    #[test]
    fn json_has_every_run() {
        let json = sample().to_json();
        assert_eq!((json["reached"].clone(), json["sum"]["runs"].clone()), (json!(false), json!(5)));
        assert_eq!(json["cases"][0]["median"]["ms"], 20);
        assert_eq!(json["cases"][1]["runs"][0]["succeeded"], false);
        assert_eq!(json["cases"][1]["runs"].as_array().map(Vec::len), Some(3));
    }
}
