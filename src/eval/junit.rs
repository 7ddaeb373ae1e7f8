//! A report as JUnit XML, which CI servers read: one test for each case, failed where it is below what it requires.

use super::report::{CaseReport, EvalReport, RunReport, STOPPED, required_text};

/// Several reports as one document, as the command `test` has one for each file.
pub fn junit_document(reports: &[EvalReport]) -> String {
    let suites: String = reports.iter().map(EvalReport::suite_element).collect();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
}

impl EvalReport {
    pub fn to_junit(&self) -> String {
        junit_document(std::slice::from_ref(self))
    }

    fn suite_element(&self) -> String {
        let failures = self.cases.iter().filter(|case| !case.reached()).count();
        let seconds = total_seconds(self.cases.iter());
        let attributes = format!(
            "name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{}\" time=\"{seconds:.3}\"",
            escape_xml(&self.suite),
            self.cases.len() + usize::from(self.stopped),
            usize::from(self.stopped),
        );
        let stopped = self.stopped.then(stopped_element);
        let cases: String = self.cases.iter().map(|case| self.case_element(case)).chain(stopped).collect();
        format!(
            "  <testsuite {attributes} timestamp=\"{}\">\n{cases}  </testsuite>\n",
            escape_xml(self.started_at.split('.').next().unwrap_or_default()),
        )
    }

    /// What CI servers group by: the file of a test, or a suite and who planned it.
    fn class_name(&self, case: &CaseReport) -> String {
        if case.retried { self.suite.clone() } else { format!("{}.{}", self.suite, self.planner) }
    }

    fn case_element(&self, case: &CaseReport) -> String {
        format!(
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\">\n{}      <system-out>{}</system-out>\n    </testcase>\n",
            escape_xml(&self.class_name(case)),
            escape_xml(&case.name),
            total_seconds(std::iter::once(case)),
            failure_element(case),
            escape_xml(&output_text(case)),
        )
    }
}

/// The steps of a test, or the figures of a case.
fn output_text(case: &CaseReport) -> String {
    if case.retried {
        let lines = case.runs.iter().flat_map(|run| &run.lines);
        return lines.map(String::as_str).collect::<Vec<_>>().join("\n");
    }
    let used = case.median_use();
    format!(
        "{} of {} succeeded; median: {} steps, {} calls, {} tokens, {} ms",
        case.successes(),
        case.runs.len(),
        used.steps,
        used.calls,
        used.tokens,
        used.milliseconds
    )
}

fn stopped_element() -> String {
    format!(
        "    <testcase classname=\"eval\" name=\"all runs\">\n      <error type=\"Stopped\" message=\"{STOPPED}\"/>\n    </testcase>\n"
    )
}

fn failure_element(case: &CaseReport) -> String {
    if case.reached() {
        return String::new();
    }
    let problem = |(at, run): (usize, &RunReport)| {
        let page = run.page.as_ref().map(|page| format!("\n{page}")).unwrap_or_default();
        run.problem.as_ref().map(|problem| format!("run {}: {problem}{page}", at + 1))
    };
    let problems: Vec<String> = case.runs.iter().enumerate().filter_map(problem).collect();
    let (kind, message) = match case.runs.last().and_then(|run| run.problem.clone()) {
        Some(problem) if case.retried => ("TestFailed", problem),
        _ => ("BelowRequiredSuccess", required_text(case)),
    };
    format!(
        "      <failure type=\"{kind}\" message=\"{}\">{}</failure>\n",
        escape_xml(&message),
        escape_xml(&problems.join("\n"))
    )
}

fn total_seconds<'a>(cases: impl Iterator<Item = &'a CaseReport>) -> f64 {
    let milliseconds: u64 = cases.flat_map(|case| &case.runs).map(|run| run.used.milliseconds).sum();
    milliseconds as f64 / 1000.0
}

/// What XML has no way to write is left out: <https://www.w3.org/TR/xml/#charsets>.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push(letter),
            '\u{fffe}' | '\u{ffff}' => {}
            _ if letter.is_control() => {}
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use crate::eval::report::tests::sample;

    #[test]
    fn a_case_is_a_test_and_nothing_breaks_the_xml() {
        insta::assert_snapshot!(sample().to_junit());
    }

    #[test]
    fn a_test_has_its_steps_and_its_page() {
        let mut report = sample();
        report.cases.remove(0);
        let case = &mut report.cases[0];
        case.retried = true;
        case.runs.truncate(1);
        case.runs[0].lines = vec!["ok    1 click_element".to_owned(), "FAIL  2 type_text: \"no\"".to_owned()];
        case.runs[0].page = Some("results/page.html".to_owned());
        insta::assert_snapshot!(report.to_junit());
    }
}
