//! A report as JUnit XML, which CI servers read: one test for each case, failed where it is below what it requires.

use super::report::{CaseReport, EvalReport, STOPPED, required_text};

impl EvalReport {
    pub fn to_junit(&self) -> String {
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
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite {attributes} timestamp=\"{}\">\n{cases}  \
             </testsuite>\n</testsuites>\n",
            escape_xml(self.started_at.split('.').next().unwrap_or_default()),
        )
    }

    fn case_element(&self, case: &CaseReport) -> String {
        let used = case.median_use();
        let figures = format!(
            "{} of {} succeeded; median: {} steps, {} calls, {} tokens, {} ms",
            case.successes(),
            case.runs.len(),
            used.steps,
            used.calls,
            used.tokens,
            used.milliseconds
        );
        format!(
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\">\n{}      <system-out>{}</system-out>\n    </testcase>\n",
            escape_xml(&format!("{}.{}", self.suite, self.planner)),
            escape_xml(&case.name),
            total_seconds(std::iter::once(case)),
            failure_element(case),
            escape_xml(&figures),
        )
    }
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
    let problem = |(at, run): (usize, &super::report::RunReport)| {
        run.problem.as_ref().map(|problem| format!("run {}: {problem}", at + 1))
    };
    let problems: Vec<String> = case.runs.iter().enumerate().filter_map(problem).collect();
    format!(
        "      <failure type=\"BelowRequiredSuccess\" message=\"{}\">{}</failure>\n",
        escape_xml(&required_text(case)),
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
}
