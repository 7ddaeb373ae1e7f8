//! The tables of docs/jobs.md, written from the types: limits, statuses, reasons and events.

use std::fmt::Write;

use serde_json::json;

use super::limits::{JobLimits, LIMITS, LimitRow};
use super::status::{FailureCode, JobStatus};
use super::store::EventKind;

const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";

/// The page with its tables made anew; what stands between them is a person's.
pub fn jobs_page(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut inside = false;
    for line in page.split_inclusive('\n') {
        if line.trim_end() == END {
            inside = false;
        }
        if !inside {
            text.push_str(line);
        }
        if let Some(name) = line.trim_end().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(" -->")) {
            inside = true;
            text.push_str(&table_named(name));
        }
    }
    text
}

fn table_named(name: &str) -> String {
    match name {
        "limits" => limits_table(),
        "statuses" => written_table(
            "status | ",
            JobStatus::ALL.map(|status| (status.name(), status.meaning())).as_ref(),
        ),
        "reasons" => {
            let row = |code: FailureCode| {
                (code.name(), format!("{}, so the job is `{}`", code.meaning(), code.status()))
            };
            written_table("code | ", FailureCode::ALL.map(row).as_ref())
        }
        "events" => {
            written_table("kind | ", EventKind::ALL.map(|kind| (kind.name(), kind.meaning())).as_ref())
        }
        _ => format!("there is no table '{name}'\n"),
    }
}

fn written_table(heading: &str, rows: &[(&str, impl std::fmt::Display)]) -> String {
    let mut text = format!("| {heading}|\n|---|---|\n");
    for (name, meaning) in rows {
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    text
}

fn limits_table() -> String {
    let defaults = json!(JobLimits::default());
    let mut text = String::from(
        "| limit | of what | default | what it may be | flag of `run` |\n|---|---|---|---|---|\n",
    );
    for LimitRow { name, meaning, flag, range } in LIMITS {
        let default = match &defaults[name] {
            value if value.is_null() => "none".to_owned(),
            value => format!("`{value}`"),
        };
        let flag = flag.map(|flag| format!("`{flag}`")).unwrap_or_default();
        let _ = writeln!(text, "| `{name}` | {meaning} | {default} | {range} | {flag} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_written_anew() {
        let page = "a\n<!-- generated: statuses -->\nold\n<!-- end -->\nb\n";
        let fresh = jobs_page(page);
        assert!(
            fresh.starts_with("a\n<!-- generated: statuses -->\n| status | |\n|---|---|\n| `queued` |"),
            "{fresh}"
        );
        assert!(fresh.ends_with("|\n<!-- end -->\nb\n") && !fresh.contains("old"), "{fresh}");
        assert_eq!(jobs_page(&fresh), fresh);
    }
}
