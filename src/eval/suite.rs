//! The file of a suite: read within limits, checked as a whole before anything runs. An error names the file, the line
//! and the key.
//!
//! ```yaml
//! about: …                          # for readers
//! required: 1.0                     # share of the runs of a case that must succeed; a case may say otherwise
//! limits: {max_steps: 20}           # of every job; a case may say otherwise
//! miniwob_pages: FOLDER             # the folder `html` of MiniWoB++
//! cases:
//!   - name: login
//!     scenario: login.yaml          # where it runs, exactly one of: a mock desktop,
//!     start_url: https://…          #   a browser at a page,
//!     site: FOLDER                  #   a browser at a folder of pages that is served on loopback,
//!     page: index.html              #     which begins with this one,
//!     miniwob: click-test           #   a task of MiniWoB++,
//!     seeds: [1, 2]                 #     which is run once for each seed
//!     goal: …                       # what the job is to do
//!     input: {user: alice}          # told with the goal; a script has them as {{input.user}}
//!     steps: […]                    # what the planner `scripted` plays, or
//!     script: FILE                  #   where that stands
//!     limits: {…}
//!     disabled_tools: […]
//!     output_schema: {…}            # of the result
//!     expect:
//!       status: succeeded           # how the job ends
//!       result: {…}                 # exactly this
//!       state: [{kind: …}]          # predicates of assert_state that hold at the end
//!       reward: 1.0                 # at least this much of MiniWoB++; without it anything above 0
//!     required: 0.9
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use serde_saphyr::{Location, Spanned};

use crate::config::limits::{PREDICATES, YAML_BYTES};
use crate::config::page_url;
use crate::error::Error;
use crate::jobs::limits::{JobLimits, check_written};
use crate::jobs::output::OutputSchema;
use crate::jobs::planner::scripted::{Scripted, WrittenStep};
use crate::jobs::spec::LONGEST_GOAL;
use crate::jobs::status::JobStatus;
use crate::scenario::load::explain_yaml;
use crate::text::nearest;

const MOST_CASES: usize = 500;
const MOST_SEEDS: usize = 1_000;
const DEEPEST: usize = 64;
const MOST_NODES: usize = 100_000;
const LONGEST_NAME: usize = 80;
/// What a task of MiniWoB++ is to do stands on its page.
const MINIWOB_GOAL: &str = "Do the task that is written at the top of the page.";

/// A suite that can be run.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The file's name without its ending.
    pub name: String,
    pub cases: Vec<EvalCase>,
}

#[derive(Clone, Debug)]
pub struct EvalCase {
    pub name: String,
    pub desk: CaseDesk,
    pub goal: String,
    /// What the planner `scripted` plays.
    pub script: Option<Scripted>,
    pub limits: JobLimits,
    pub disabled_tools: Vec<String>,
    pub output_schema: Option<Value>,
    pub expect: CaseExpectation,
    /// Share of its runs that must succeed.
    pub required: f64,
}

/// Where a case runs.
#[derive(Clone, Debug, PartialEq)]
pub enum CaseDesk {
    /// What the command line asks for.
    AsStarted,
    /// A private desktop with this program; Linux.
    Program(Vec<String>),
    /// A mock desktop that plays this file.
    Scenario(PathBuf),
    /// A browser at this address.
    StartUrl(String),
    /// A browser at a page of a folder that is served on loopback.
    Site { folder: PathBuf, page: String },
    /// A task of MiniWoB++ from the folder of its pages.
    Miniwob { folder: PathBuf, task: String, seeds: Vec<u64> },
}

/// How a run has to end.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseExpectation {
    pub status: JobStatus,
    pub result: Option<Value>,
    /// Predicates of `assert_state`.
    pub state: Vec<Map<String, Value>>,
    /// Of a task of MiniWoB++: at least this much, or anything above nothing.
    pub reward: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteEntry {
    #[serde(default)]
    #[allow(dead_code, reason = "a place for the author to say what the suite is for")]
    about: Option<String>,
    #[serde(default)]
    required: Option<Spanned<f64>>,
    #[serde(default)]
    limits: Option<Spanned<Map<String, Value>>>,
    #[serde(default)]
    miniwob_pages: Option<PathBuf>,
    cases: Spanned<Vec<Spanned<CaseEntry>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseEntry {
    name: Spanned<String>,
    #[serde(default)]
    scenario: Option<Spanned<PathBuf>>,
    #[serde(default)]
    start_url: Option<Spanned<String>>,
    #[serde(default)]
    site: Option<Spanned<PathBuf>>,
    #[serde(default)]
    page: Option<Spanned<String>>,
    #[serde(default)]
    miniwob: Option<Spanned<String>>,
    #[serde(default)]
    seeds: Option<Spanned<Vec<u64>>>,
    #[serde(default)]
    goal: Option<Spanned<String>>,
    #[serde(default)]
    input: Option<Spanned<Map<String, Value>>>,
    #[serde(default)]
    steps: Option<Spanned<Vec<WrittenStep>>>,
    #[serde(default)]
    script: Option<Spanned<PathBuf>>,
    #[serde(default)]
    limits: Option<Spanned<Map<String, Value>>>,
    #[serde(default)]
    disabled_tools: Vec<String>,
    #[serde(default)]
    output_schema: Option<Spanned<Value>>,
    #[serde(default)]
    expect: Option<Spanned<ExpectEntry>>,
    #[serde(default)]
    required: Option<Spanned<f64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ExpectEntry {
    status: Option<Spanned<String>>,
    #[serde(deserialize_with = "read_result")]
    result: Option<Value>,
    state: Option<Spanned<Vec<Map<String, Value>>>>,
    reward: Option<Spanned<f64>>,
}

/// `result: null` wants a result that is null; it is not left out.
fn read_result<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(reader).map(Some)
}

/// A sentence and the line that it is about.
pub(super) struct SuiteProblem {
    pub(super) place: Location,
    pub(super) message: String,
}

pub(super) type CheckedSuite<T> = Result<T, SuiteProblem>;

pub(super) fn problem<T>(place: Location, message: impl Into<String>) -> CheckedSuite<T> {
    Err(SuiteProblem { place, message: message.into() })
}

/// What the command line says of a suite.
#[derive(Clone, Debug, Default)]
pub struct SuiteOptions {
    /// The pages of MiniWoB++, instead of what the file says.
    pub miniwob_pages: Option<PathBuf>,
}

impl Suite {
    pub fn load_file(path: &Path, options: &SuiteOptions) -> Result<Self, String> {
        Self::parse(&read_yaml(path)?, path, options)
    }

    /// `path` is where the text stands: its folder is what other files are relative to.
    pub fn parse(text: &str, path: &Path, options: &SuiteOptions) -> Result<Self, String> {
        let file = path.display().to_string();
        let entry: SuiteEntry = serde_saphyr::from_str_with_options(text, yaml_options())
            .map_err(|error| explain_parser(&error, &file))?;
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let reader = SuiteReader::new(&entry, folder, options).map_err(|problem| problem.in_file(&file))?;
        let cases = reader.read_cases(&entry.cases).map_err(|problem| problem.in_file(&file))?;
        Ok(Self { name, cases })
    }

    /// Only the cases of these names; all where there are none.
    pub fn keep_cases(mut self, names: &[String]) -> Result<Self, String> {
        for name in names {
            if !self.cases.iter().any(|case| case.name == *name) {
                let near = nearest(name, self.cases.iter().map(|case| case.name.as_str()));
                let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
                return Err(format!("the suite has no case '{name}'{near}"));
            }
        }
        self.cases.retain(|case| names.is_empty() || names.contains(&case.name));
        Ok(self)
    }
}

/// The text of a file that may be a suite, or a file of tests.
pub(super) fn read_yaml(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let length = path.metadata().map_err(|problem| format!("{shown}: {problem}"))?;
    if !length.is_file() || length.len() > YAML_BYTES as u64 {
        return Err(format!("{shown}: this is not a file of at most {YAML_BYTES} bytes"));
    }
    std::fs::read_to_string(path).map_err(|problem| format!("{shown}: {problem}"))
}

impl SuiteProblem {
    pub(super) fn in_file(self, file: &str) -> String {
        let place = match (self.place.line(), self.place.column()) {
            (0, _) => String::new(),
            (line, column) => format!(":{line}:{column}"),
        };
        format!("{file}{place}: {}", self.message)
    }
}

pub(super) fn yaml_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_nodes: MOST_NODES,
            max_events: 2 * MOST_NODES,
            max_total_scalar_bytes: 4 * YAML_BYTES,
            max_documents: 1,
        },
        emit_comments: false,
        with_snippet: false,
    }
}

pub(super) fn explain_parser(error: &serde_saphyr::Error, file: &str) -> String {
    let mut explained = explain_yaml(error, file);
    if matches!(error, serde_saphyr::Error::Budget { .. }) {
        explained.message = format!(
            "the file has more than {MOST_NODES} nodes or is nested deeper than {DEEPEST} levels, with aliases expanded"
        );
    }
    explained.to_string()
}

/// What holds for all cases of a suite.
struct SuiteReader {
    folder: PathBuf,
    required: f64,
    limits: Map<String, Value>,
    miniwob_pages: Option<PathBuf>,
}

impl SuiteReader {
    fn new(entry: &SuiteEntry, folder: PathBuf, options: &SuiteOptions) -> CheckedSuite<Self> {
        let limits = entry.limits.as_ref().map(|limits| limits.value.clone()).unwrap_or_default();
        if let Some(written) = &entry.limits {
            read_limits(written.defined, &written.value)?;
        }
        let own_pages = entry.miniwob_pages.as_ref().map(|pages| folder.join(pages));
        Ok(Self {
            required: read_share(entry.required.as_ref(), 1.0)?,
            limits,
            miniwob_pages: options.miniwob_pages.clone().or(own_pages),
            folder,
        })
    }

    fn read_cases(&self, cases: &Spanned<Vec<Spanned<CaseEntry>>>) -> CheckedSuite<Vec<EvalCase>> {
        if cases.value.is_empty() || cases.value.len() > MOST_CASES {
            return problem(cases.defined, format!("\"cases\" needs 1 to {MOST_CASES} entries"));
        }
        let mut names = BTreeSet::new();
        for case in &cases.value {
            let name = &case.value.name;
            if name.value.trim().is_empty() || name.value.chars().count() > LONGEST_NAME {
                return problem(name.defined, format!("\"name\" needs 1 to {LONGEST_NAME} characters"));
            }
            if !names.insert(&name.value) {
                return problem(name.defined, format!("two cases have the name \"{}\"", name.value));
            }
        }
        cases.value.iter().map(|case| self.read_case(case)).collect()
    }

    fn read_case(&self, entry: &Spanned<CaseEntry>) -> CheckedSuite<EvalCase> {
        let case = &entry.value;
        let desk = self.read_desk(entry)?;
        let is_miniwob = matches!(desk, CaseDesk::Miniwob { .. });
        let expect = read_expectation(case.expect.as_ref(), is_miniwob)?;
        let output_schema = case.output_schema.as_ref().map(read_schema).transpose()?;
        let is_judged = is_miniwob
            || output_schema.is_some()
            || expect.result.is_some()
            || !expect.state.is_empty()
            || expect.status != JobStatus::Succeeded;
        if !is_judged {
            let message = "nothing judges this case: it needs \"expect\" with \"result\", \"state\" or another \
                           \"status\", or an \"output_schema\"";
            return problem(entry.defined, message);
        }
        Ok(EvalCase {
            name: case.name.value.clone(),
            goal: read_goal(entry, is_miniwob)?,
            script: self.read_script(case)?,
            limits: self.case_limits(case.limits.as_ref())?,
            disabled_tools: case.disabled_tools.clone(),
            output_schema,
            expect,
            required: read_share(case.required.as_ref(), self.required)?,
            desk,
        })
    }

    fn read_desk(&self, entry: &Spanned<CaseEntry>) -> CheckedSuite<CaseDesk> {
        let case = &entry.value;
        for (key, place, belongs_to, is_there) in [
            ("page", case.page.as_ref().map(|key| key.defined), "site", case.site.is_some()),
            ("seeds", case.seeds.as_ref().map(|key| key.defined), "miniwob", case.miniwob.is_some()),
        ] {
            if let Some(place) = place.filter(|_| !is_there) {
                return problem(place, format!("\"{key}\" goes with \"{belongs_to}\""));
            }
        }
        match (&case.scenario, &case.start_url, &case.site, &case.miniwob) {
            (Some(file), None, None, None) => read_scenario(&self.folder, file),
            (None, Some(url), None, None) => read_url(url),
            (None, None, Some(folder), None) => read_site(&self.folder, folder, case.page.as_ref()),
            (None, None, None, Some(task)) => self.read_miniwob(task, case.seeds.as_ref()),
            _ => problem(
                entry.defined,
                "a case runs in exactly one place: \"scenario\", \"start_url\", \"site\" or \"miniwob\"",
            ),
        }
    }

    fn read_miniwob(
        &self,
        task: &Spanned<String>,
        seeds: Option<&Spanned<Vec<u64>>>,
    ) -> CheckedSuite<CaseDesk> {
        let Some(folder) = self.miniwob_pages.clone() else {
            let message = "\"miniwob\" needs the pages of MiniWoB++: name the folder `miniwob/html` of its package by \
                           --miniwob or by \"miniwob_pages\" (pip download --no-deps miniwob==1.1.0; unzip miniwob-*.whl)";
            return problem(task.defined, message);
        };
        let is_name = task.value.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        let tasks = folder.join("miniwob");
        if !is_name || !tasks.join(format!("{}.html", task.value)).is_file() {
            let near = near_task(&tasks, &task.value).unwrap_or_default();
            let message = format!("{} has no task \"{}\"{near}", tasks.display(), task.value);
            return problem(task.defined, message);
        }
        let numbers = seeds.map_or_else(|| vec![1], |seeds| seeds.value.clone());
        if numbers.is_empty() || numbers.len() > MOST_SEEDS {
            let place = seeds.map_or(task.defined, |seeds| seeds.defined);
            return problem(place, format!("\"seeds\" needs 1 to {MOST_SEEDS} numbers"));
        }
        Ok(CaseDesk::Miniwob { folder, task: task.value.clone(), seeds: numbers })
    }

    fn read_script(&self, case: &CaseEntry) -> CheckedSuite<Option<Scripted>> {
        let values = script_values(case.input.as_ref());
        let (place, read) = match (&case.steps, &case.script) {
            (None, None) => return Ok(None),
            (Some(steps), None) => {
                (steps.defined, Scripted::from_steps(steps.value.clone(), "\"steps\"", values))
            }
            (None, Some(file)) => {
                let path = find_file(&self.folder, file, "script")?;
                (file.defined, Scripted::open_with(&path.display().to_string(), values))
            }
            (Some(steps), Some(_)) => {
                return problem(steps.defined, "\"steps\" and \"script\" say the same: write one");
            }
        };
        read.map(Some).or_else(|message| problem(place, message))
    }

    /// What the case says of a limit counts before what the suite says.
    fn case_limits(&self, own: Option<&Spanned<Map<String, Value>>>) -> CheckedSuite<JobLimits> {
        let mut merged = self.limits.clone();
        merged.extend(own.map(|own| own.value.clone()).unwrap_or_default());
        read_limits(own.map_or(Location::UNKNOWN, |own| own.defined), &merged)
    }
}

/// A file that is named relative to `folder`.
pub(super) fn find_file(folder: &Path, named: &Spanned<PathBuf>, key: &str) -> CheckedSuite<PathBuf> {
    let path = folder.join(&named.value);
    if path.is_file() {
        return Ok(path);
    }
    problem(named.defined, format!("\"{key}\": there is no file {}", path.display()))
}

pub(super) fn read_scenario(folder: &Path, named: &Spanned<PathBuf>) -> CheckedSuite<CaseDesk> {
    find_file(folder, named, "scenario").map(CaseDesk::Scenario)
}

pub(super) fn read_url(url: &Spanned<String>) -> CheckedSuite<CaseDesk> {
    match page_url(&url.value) {
        Ok(url) => Ok(CaseDesk::StartUrl(url)),
        Err(message) => problem(url.defined, format!("\"start_url\": {message}")),
    }
}

pub(super) fn read_site(
    folder: &Path,
    named: &Spanned<PathBuf>,
    page: Option<&Spanned<String>>,
) -> CheckedSuite<CaseDesk> {
    let folder = folder.join(&named.value);
    if !folder.is_dir() {
        return problem(named.defined, format!("\"site\": there is no folder {}", folder.display()));
    }
    let name = page.map_or("index.html", |page| page.value.as_str());
    let file = folder.join(name.split(['?', '#']).next().unwrap_or_default());
    if !file.is_file() {
        let place = page.map_or(named.defined, |page| page.defined);
        return problem(place, format!("\"page\": there is no file {}", file.display()));
    }
    Ok(CaseDesk::Site { folder, page: name.to_owned() })
}

fn read_goal(entry: &Spanned<CaseEntry>, is_miniwob: bool) -> CheckedSuite<String> {
    let case = &entry.value;
    let goal = match &case.goal {
        Some(goal) if goal.value.trim().is_empty() => return problem(goal.defined, "\"goal\" is empty"),
        Some(goal) => goal.value.clone(),
        None if is_miniwob => MINIWOB_GOAL.to_owned(),
        None => return problem(entry.defined, "the key \"goal\" is missing here"),
    };
    let goal = with_input(goal, case.input.as_ref().map(|input| &input.value));
    if goal.len() > LONGEST_GOAL {
        let message = format!("\"goal\" and \"input\" have more than {LONGEST_GOAL} bytes");
        return problem(entry.defined, message);
    }
    Ok(goal)
}

/// A job is a goal in words, so what is given with it is told there.
fn with_input(goal: String, input: Option<&Map<String, Value>>) -> String {
    match input.filter(|input| !input.is_empty()) {
        Some(input) => format!("{goal}\n\nInput: {}", Value::Object(input.clone())),
        None => goal,
    }
}

fn script_values(input: Option<&Spanned<Map<String, Value>>>) -> BTreeMap<String, Value> {
    let fields = input.into_iter().flat_map(|input| &input.value);
    fields.map(|(name, value)| (format!("input.{name}"), value.clone())).collect()
}

fn read_share(share: Option<&Spanned<f64>>, otherwise: f64) -> CheckedSuite<f64> {
    match share {
        None => Ok(otherwise),
        Some(share) if (0.0..=1.0).contains(&share.value) => Ok(share.value),
        Some(share) => problem(share.defined, "\"required\" is a share of the runs, from 0.0 to 1.0"),
    }
}

fn read_limits(place: Location, limits: &Map<String, Value>) -> CheckedSuite<JobLimits> {
    let written = Value::Object(limits.clone());
    let named = |error: Error| SuiteProblem { place, message: error.message };
    check_written(&written).map_err(named)?;
    let read: JobLimits = serde_json::from_value(written)
        .map_err(|error| SuiteProblem { place, message: format!("\"limits\": {error}") })?;
    read.check().map_err(named)?;
    Ok(read)
}

fn read_schema(schema: &Spanned<Value>) -> CheckedSuite<Value> {
    match OutputSchema::compile(&schema.value) {
        Ok(_) => Ok(schema.value.clone()),
        Err(error) => problem(schema.defined, error.message),
    }
}

fn read_expectation(entry: Option<&Spanned<ExpectEntry>>, is_miniwob: bool) -> CheckedSuite<CaseExpectation> {
    let nothing = ExpectEntry::default();
    let expect = entry.map_or(&nothing, |entry| &entry.value);
    if let Some(reward) = expect.reward.as_ref().filter(|_| !is_miniwob) {
        return problem(reward.defined, "\"reward\" goes with \"miniwob\"");
    }
    let state = expect.state.as_ref().map(|state| state.value.clone()).unwrap_or_default();
    if state.len() > PREDICATES {
        let place = entry.map_or(Location::UNKNOWN, |entry| entry.defined);
        return problem(place, format!("\"state\" may have at most {PREDICATES} predicates"));
    }
    Ok(CaseExpectation {
        status: expect.status.as_ref().map_or(Ok(JobStatus::Succeeded), read_status)?,
        result: expect.result.clone(),
        state,
        reward: expect.reward.as_ref().map(|reward| reward.value),
    })
}

fn read_status(named: &Spanned<String>) -> CheckedSuite<JobStatus> {
    match JobStatus::from_name(&named.value).filter(|status| status.is_over()) {
        Some(status) => Ok(status),
        None => {
            let over = JobStatus::ALL.iter().filter(|status| status.is_over());
            let names: Vec<&str> = over.map(|status| status.name()).collect();
            let message =
                format!("\"status\": no job ends as \"{}\"; there are {}", named.value, names.join(", "));
            problem(named.defined, message)
        }
    }
}

fn near_task(folder: &Path, name: &str) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names = entries.filter_map(|entry| {
        entry.file_name().to_str().and_then(|name| name.strip_suffix(".html")).map(str::to_owned)
    });
    nearest(name, names).map(|near| format!("; did you mean \"{near}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "cases:\n  - name: a\n    scenario: ../../scenarios/login.yaml\n    goal: g\n";

    fn parse(text: &str) -> Result<Suite, String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/eval/s.yaml");
        Suite::parse(text, &path, &SuiteOptions::default())
    }

    /// Refused at this line, with this word.
    #[track_caller]
    fn check(text: &str, line: usize, word: &str) {
        let refused = parse(text).map(|suite| suite.cases.len()).unwrap_err();
        let place = if line == 0 { "s.yaml: ".to_owned() } else { format!("s.yaml:{line}:") };
        assert!(refused.contains(&place) && refused.contains(word), "{text}\n{refused}");
    }

    /// The same with more lines of the one case.
    #[track_caller]
    fn check_case(more: &str, line: usize, word: &str) {
        check(&format!("{CASE}    {more}\n"), line, word);
    }

    #[test]
    fn what_is_not_a_suite_is_refused_with_its_line() {
        check("cases: []", 1, "1 to 500");
        check("casses: []", 1, "did you mean \"cases\"");
        check("cases: [\n", 1, "unclosed bracket");
        check("requiered: 1\ncases: []", 1, "did you mean \"required\"");
        check("required: 2\ncases: [{name: a}]", 1, "from 0.0 to 1.0");
        check("cases:\n  - {goal: g}", 2, "\"name\" is missing");
        check("cases:\n  - {name: a, goal: g}", 2, "exactly one place");
        check("limits: {max_step: 3}\ncases: [{name: a}]", 1, "max_step");
    }

    #[test]
    fn a_case_is_checked_key_by_key() {
        check(CASE, 2, "nothing judges this case");
        check_case("expct: {}", 5, "did you mean \"expect\"");
        check_case("expect: {resullt: 1}", 5, "did you mean \"result\"");
        check_case("expect: {status: done}", 5, "no job ends as \"done\"");
        check_case("expect: {reward: 1, result: 1}", 5, "goes with \"miniwob\"");
        check_case("seeds: [1]", 5, "goes with \"miniwob\"");
        check_case("page: a.html", 5, "goes with \"site\"");
        check_case("output_schema: {type: 5}", 5, "output_schema");
        check_case("limits: {max_steps: 0}\n    expect: {result: 1}", 5, "max_steps");
        check_case("required: -0.5\n    expect: {result: 1}", 5, "\"required\"");
        check_case("start_url: https://a.example\n    expect: {result: 1}", 2, "exactly one place");
        check_case("script: no.yaml\n    expect: {result: 1}", 5, "there is no file");
        check_case("steps: [{call: look, fail: x}]\n    expect: {result: 1}", 5, "step 1");
        check_case("steps: [{cal: look}]\n    expect: {result: 1}", 5, "did you mean \"call\"");
        check_case("steps: [{finish: '{{input.b}}'}]\n    expect: {result: 1}", 5, "{{input.b}}");
        check_case("name: b", 5, "occurs twice");
    }

    #[test]
    fn places_are_looked_for_before_anything_runs() {
        let case = |place: &str| {
            format!("cases:\n  - name: a\n    goal: g\n    {place}\n    expect: {{result: 1}}\n")
        };
        check(&case("scenario: no.yaml"), 4, "there is no file");
        check(&case("start_url: 'javascript:alert(1)'"), 4, "start_url");
        check(&case("site: no-such-folder"), 4, "there is no folder");
        check(&case("site: .\n    page: no.html"), 5, "there is no file");
        check(&case("miniwob: click-test"), 4, "--miniwob");
        check(&format!("{}  - name: a\n", case("start_url: https://a.example")), 6, "two cases");
    }

    #[test]
    fn bombs_are_refused() {
        check(&format!("cases: {}{}", "[".repeat(200), "]".repeat(200)), 1, "");
        let many = "  - {name: a}\n".repeat(600);
        check(&format!("cases:\n{many}"), 2, "1 to 500");
    }

    #[test]
    fn limits_and_shares_of_a_case_count_before_those_of_the_suite() {
        let text = format!(
            "required: 0.5\nlimits: {{max_steps: 7, max_calls: 9}}\n{CASE}    limits: {{max_steps: 3}}\n    \
             expect: {{result: null}}\n"
        );
        let suite = parse(&text).unwrap();
        let case = &suite.cases[0];
        assert_eq!((suite.name.as_str(), case.required), ("s", 0.5));
        assert_eq!((case.limits.max_steps, case.limits.max_calls), (3, Some(9)));
        assert_eq!(case.expect.result, Some(Value::Null));
    }

    #[test]
    fn what_is_given_is_told_with_the_goal_and_filled_into_steps() {
        let text = format!(
            "{CASE}    input: {{user: alice}}\n    steps: [{{finish: '{{{{input.user}}}}'}}]\n    expect: {{result: alice}}\n"
        );
        let case = parse(&text).unwrap().cases.remove(0);
        assert_eq!(case.goal, "g\n\nInput: {\"user\":\"alice\"}");
        assert!(case.script.is_some());
    }

    #[test]
    fn a_case_is_chosen_by_its_name() {
        let suite = parse(&format!("{CASE}    expect: {{result: 1}}\n")).unwrap();
        assert_eq!(suite.clone().keep_cases(&["a".to_owned()]).unwrap().cases.len(), 1);
        let refused = suite.keep_cases(&["b".to_owned()]).unwrap_err();
        assert!(refused.contains("no case 'b'; did you mean 'a'"), "{refused}");
    }
}
