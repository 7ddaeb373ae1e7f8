//! The files of the command `test`: read within limits, checked as a whole before anything runs. A step is one of `act`,
//! an expectation is a predicate of `assert_state`; both are handed to these tools as they are written.
//!
//! ```yaml
//! about: …                          # for readers
//! scenario: login.yaml              # where all tests run, at most one of: a mock desktop,
//! program: [gnome-calculator]       #   a private desktop with this program,
//! start_url: https://…              #   a browser at a page,
//! site: FOLDER                      #   a browser at a folder of pages that is served on loopback,
//! page: index.html                  #     which begins with this one
//! tests:
//!   - name: log in
//!     scenario: …                   # where this one runs, instead
//!     steps: [{do: click_element, selector: …, expect: changed}]
//!     trace: FOLDER                 # or a recorded trace, which is replayed and compared
//!     supply: {4: {text: …}}        #   and what it does not hold, by the number of the row
//!     expect: [{kind: oracle, name: success}]
//! ```
//!
//! A file of one test has `steps` or `trace` in place of `tests`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use serde_saphyr::{Location, Spanned};

use super::suite::{
    CaseDesk, CheckedSuite, explain_parser, problem, read_scenario, read_site, read_url, read_yaml,
    yaml_options,
};
use crate::config::limits::PREDICATES;
use crate::trace::format::FILE_NAME;

const MOST_TESTS: usize = 1_000;
const MOST_STEPS: usize = 10_000;
/// How deep a folder is looked through.
const DEEPEST_FOLDER: usize = 16;
/// What the names of test files end with, so that scenarios may lie beside them.
pub const ENDINGS: [&str; 2] = [".test.yaml", ".test.yml"];

/// What one file or one recorded trace asks for.
#[derive(Clone, Debug)]
pub struct TestFile {
    pub path: PathBuf,
    pub tests: Vec<TestCase>,
}

#[derive(Clone, Debug)]
pub struct TestCase {
    pub name: String,
    pub desk: CaseDesk,
    pub work: TestWork,
    /// Predicates of `assert_state` that hold at the end.
    pub expect: Vec<Map<String, Value>>,
}

/// What a test does.
#[derive(Clone, Debug)]
pub enum TestWork {
    /// Steps of `act`.
    Steps(Vec<Map<String, Value>>),
    /// A recorded trace, and the arguments that it does not hold, by the number of the row.
    Replay { folder: PathBuf, supply: BTreeMap<u64, Map<String, Value>> },
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FileEntry {
    #[allow(dead_code, reason = "a place for the author to say what the tests are for")]
    about: Option<String>,
    tests: Option<Spanned<Vec<Spanned<TestEntry>>>>,
    scenario: Option<Spanned<PathBuf>>,
    program: Option<Spanned<ProgramCommand>>,
    #[serde(alias = "url")]
    start_url: Option<Spanned<String>>,
    site: Option<Spanned<PathBuf>>,
    page: Option<Spanned<String>>,
    steps: Option<Spanned<Vec<Map<String, Value>>>>,
    trace: Option<Spanned<PathBuf>>,
    supply: Option<Spanned<BTreeMap<u64, Map<String, Value>>>>,
    expect: Option<Spanned<Vec<Map<String, Value>>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TestEntry {
    name: Spanned<String>,
    #[serde(default)]
    scenario: Option<Spanned<PathBuf>>,
    #[serde(default)]
    program: Option<Spanned<ProgramCommand>>,
    #[serde(default, alias = "url")]
    start_url: Option<Spanned<String>>,
    #[serde(default)]
    site: Option<Spanned<PathBuf>>,
    #[serde(default)]
    page: Option<Spanned<String>>,
    #[serde(default)]
    steps: Option<Spanned<Vec<Map<String, Value>>>>,
    #[serde(default)]
    trace: Option<Spanned<PathBuf>>,
    #[serde(default)]
    supply: Option<Spanned<BTreeMap<u64, Map<String, Value>>>>,
    #[serde(default)]
    expect: Option<Spanned<Vec<Map<String, Value>>>>,
}

/// A program, or a program with its arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum ProgramCommand {
    Program(String),
    WithArguments(Vec<String>),
}

/// The keys that say where a test runs.
struct DeskKeys<'a> {
    scenario: Option<&'a Spanned<PathBuf>>,
    program: Option<&'a Spanned<ProgramCommand>>,
    start_url: Option<&'a Spanned<String>>,
    site: Option<&'a Spanned<PathBuf>>,
    page: Option<&'a Spanned<String>>,
}

/// The keys that say what a test does.
struct WorkKeys<'a> {
    place: Location,
    steps: Option<&'a Spanned<Vec<Map<String, Value>>>>,
    trace: Option<&'a Spanned<PathBuf>>,
    supply: Option<&'a Spanned<BTreeMap<u64, Map<String, Value>>>>,
    expect: Option<&'a Spanned<Vec<Map<String, Value>>>>,
}

impl TestFile {
    /// The tests of these paths: test files, traces, and folders that hold some of them.
    pub fn find_all(paths: &[PathBuf]) -> Result<Vec<Self>, String> {
        let mut files = Vec::new();
        for path in paths {
            let found = if path.is_dir() && !is_trace(path) { below(path, 0)? } else { vec![path.clone()] };
            if found.is_empty() {
                return Err(format!(
                    "{} has no test: a test file ends with {}, and a recorded trace is a folder with {FILE_NAME}",
                    path.display(),
                    ENDINGS.join(" or "),
                ));
            }
            for path in found {
                files.push(Self::load(&path)?);
            }
        }
        Ok(files)
    }

    fn load(path: &Path) -> Result<Self, String> {
        if is_trace(path) {
            return Ok(Self::of_trace(path.to_owned()));
        }
        if path.file_name().is_some_and(|name| name == FILE_NAME) {
            return Ok(Self::of_trace(path.parent().unwrap_or(Path::new("")).to_owned()));
        }
        Self::parse(&read_yaml(path)?, path)
    }

    fn of_trace(folder: PathBuf) -> Self {
        let name = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let work = TestWork::Replay { folder: folder.clone(), supply: BTreeMap::new() };
        let test = TestCase { name, desk: CaseDesk::AsStarted, work, expect: Vec::new() };
        Self { path: folder, tests: vec![test] }
    }

    /// `path` is where the text stands: its folder is what other files are relative to.
    pub fn parse(text: &str, path: &Path) -> Result<Self, String> {
        let file = path.display().to_string();
        let entry: FileEntry = serde_saphyr::from_str_with_options(text, yaml_options())
            .map_err(|error| explain_parser(&error, &file))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let tests = read_tests(&entry, path, folder).map_err(|problem| problem.in_file(&file))?;
        Ok(Self { path: path.to_owned(), tests })
    }
}

fn is_trace(path: &Path) -> bool {
    path.join(FILE_NAME).is_file()
}

/// Test files and traces in a folder and the folders in it, in the order of their names.
fn below(folder: &Path, depth: usize) -> Result<Vec<PathBuf>, String> {
    let failed = |problem: std::io::Error| format!("{}: {problem}", folder.display());
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // A link to a folder may lead back here.
        let is_folder = path.is_dir() && !path.is_symlink();
        if is_folder && is_trace(&path) || ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        } else if is_folder && depth < DEEPEST_FOLDER {
            found.extend(below(&path, depth + 1)?);
        }
    }
    Ok(found)
}

fn read_tests(entry: &FileEntry, path: &Path, folder: &Path) -> CheckedSuite<Vec<TestCase>> {
    let shared = entry.desk_keys().read(folder)?;
    let Some(tests) = &entry.tests else {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned();
        let (work, expect) = entry.work_keys().read(folder)?;
        return Ok(vec![TestCase { name: stem, desk: shared.unwrap_or(CaseDesk::AsStarted), work, expect }]);
    };
    if let Some(place) = entry.work_keys().first_place() {
        return problem(place, "a file with \"tests\" has its steps and expectations in them");
    }
    if tests.value.is_empty() || tests.value.len() > MOST_TESTS {
        return problem(tests.defined, format!("\"tests\" needs 1 to {MOST_TESTS} entries"));
    }
    let mut names = BTreeSet::new();
    let read = |test: &Spanned<TestEntry>| {
        let name = &test.value.name;
        if name.value.trim().is_empty() {
            return problem(name.defined, "\"name\" is empty");
        }
        if !names.insert(name.value.clone()) {
            return problem(name.defined, format!("two tests have the name \"{}\"", name.value));
        }
        let (work, expect) = test.value.work_keys(test.defined).read(folder)?;
        let own = test.value.desk_keys().read(folder)?;
        let desk = own.or_else(|| shared.clone()).unwrap_or(CaseDesk::AsStarted);
        Ok(TestCase { name: name.value.clone(), desk, work, expect })
    };
    tests.value.iter().map(read).collect()
}

impl FileEntry {
    fn desk_keys(&self) -> DeskKeys<'_> {
        DeskKeys {
            scenario: self.scenario.as_ref(),
            program: self.program.as_ref(),
            start_url: self.start_url.as_ref(),
            site: self.site.as_ref(),
            page: self.page.as_ref(),
        }
    }

    fn work_keys(&self) -> WorkKeys<'_> {
        WorkKeys {
            place: Location::UNKNOWN,
            steps: self.steps.as_ref(),
            trace: self.trace.as_ref(),
            supply: self.supply.as_ref(),
            expect: self.expect.as_ref(),
        }
    }
}

impl TestEntry {
    fn desk_keys(&self) -> DeskKeys<'_> {
        DeskKeys {
            scenario: self.scenario.as_ref(),
            program: self.program.as_ref(),
            start_url: self.start_url.as_ref(),
            site: self.site.as_ref(),
            page: self.page.as_ref(),
        }
    }

    fn work_keys(&self, place: Location) -> WorkKeys<'_> {
        WorkKeys {
            place,
            steps: self.steps.as_ref(),
            trace: self.trace.as_ref(),
            supply: self.supply.as_ref(),
            expect: self.expect.as_ref(),
        }
    }
}

impl DeskKeys<'_> {
    /// The desk that they name; nothing where they name none.
    fn read(&self, folder: &Path) -> CheckedSuite<Option<CaseDesk>> {
        if let (Some(page), None) = (self.page, self.site) {
            return problem(page.defined, "\"page\" goes with \"site\"");
        }
        let desk = match (self.scenario, self.program, self.start_url, self.site) {
            (None, None, None, None) => return Ok(None),
            (Some(file), None, None, None) => read_scenario(folder, file),
            (None, Some(program), None, None) => read_program(program),
            (None, None, Some(url), None) => read_url(url),
            (None, None, None, Some(site)) => read_site(folder, site, self.page),
            _ => {
                let places = [
                    self.scenario.map(|key| key.defined),
                    self.program.map(|key| key.defined),
                    self.start_url.map(|key| key.defined),
                    self.site.map(|key| key.defined),
                ];
                let place = places.into_iter().flatten().nth(1).unwrap_or(Location::UNKNOWN);
                problem(
                    place,
                    "a test runs in one place: \"scenario\", \"program\", \"start_url\" or \"site\"",
                )
            }
        };
        desk.map(Some)
    }
}

fn read_program(named: &Spanned<ProgramCommand>) -> CheckedSuite<CaseDesk> {
    let command = match &named.value {
        ProgramCommand::Program(program) => vec![program.clone()],
        ProgramCommand::WithArguments(words) => words.clone(),
    };
    match command.first() {
        Some(program) if !program.trim().is_empty() => Ok(CaseDesk::Program(command)),
        _ => problem(named.defined, "\"program\" is empty"),
    }
}

impl WorkKeys<'_> {
    /// Where the first of them stands.
    fn first_place(&self) -> Option<Location> {
        let places = [
            self.steps.map(|key| key.defined),
            self.trace.map(|key| key.defined),
            self.supply.map(|key| key.defined),
            self.expect.map(|key| key.defined),
        ];
        places.into_iter().flatten().next()
    }

    fn read(&self, folder: &Path) -> CheckedSuite<(TestWork, Vec<Map<String, Value>>)> {
        let expect = self.expect.map(|expect| expect.value.clone()).unwrap_or_default();
        if let Some(written) = self.expect.filter(|expect| expect.value.len() > PREDICATES) {
            return problem(written.defined, format!("\"expect\" may have at most {PREDICATES} predicates"));
        }
        if let (Some(supply), None) = (self.supply, self.trace) {
            return problem(supply.defined, "\"supply\" goes with \"trace\"");
        }
        let work = match (self.steps, self.trace) {
            (Some(steps), None) => read_steps(steps, &expect)?,
            (None, Some(trace)) => self.read_trace(trace, folder)?,
            (Some(steps), Some(_)) => {
                return problem(steps.defined, "a test has \"steps\" or a \"trace\", not both");
            }
            (None, None) => return problem(self.place, "a test needs \"steps\" or a \"trace\""),
        };
        Ok((work, expect))
    }

    fn read_trace(&self, trace: &Spanned<PathBuf>, folder: &Path) -> CheckedSuite<TestWork> {
        let path = folder.join(&trace.value);
        if !is_trace(&path) {
            let message = format!("\"trace\": {} is no trace: it has no {FILE_NAME}", path.display());
            return problem(trace.defined, message);
        }
        let supply = self.supply.map(|supply| supply.value.clone()).unwrap_or_default();
        Ok(TestWork::Replay { folder: path, supply })
    }
}

fn read_steps(
    steps: &Spanned<Vec<Map<String, Value>>>,
    expect: &[Map<String, Value>],
) -> CheckedSuite<TestWork> {
    if steps.value.len() > MOST_STEPS {
        return problem(steps.defined, format!("\"steps\" may have at most {MOST_STEPS} entries"));
    }
    if steps.value.is_empty() && expect.is_empty() {
        return problem(steps.defined, "a test needs a step or an expectation");
    }
    for (at, step) in steps.value.iter().enumerate() {
        if !step.get("do").is_some_and(Value::is_string) {
            let message = format!("step {}: \"do\" is missing, the tool of the step, as in act", at + 1);
            return problem(steps.defined, message);
        }
    }
    Ok(TestWork::Steps(steps.value.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGIN: &str = "scenario: ../../scenarios/login.yaml\n";

    fn parse(text: &str) -> Result<TestFile, String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/eval/t.test.yaml");
        TestFile::parse(text, &path)
    }

    /// Refused at this line, with this word.
    #[track_caller]
    fn check(text: &str, line: usize, word: &str) {
        let refused = parse(text).map(|file| file.tests.len()).unwrap_err();
        let place = if line == 0 { "t.test.yaml: ".to_owned() } else { format!("t.test.yaml:{line}:") };
        assert!(refused.contains(&place) && refused.contains(word), "{text}\n{refused}");
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        check("tests: []", 1, "1 to 1000");
        check("testss: []", 1, "did you mean \"tests\"");
        check("tests:\n  - {steps: []}", 2, "\"name\" is missing");
        check("tests:\n  - {name: a}", 2, "needs \"steps\" or a \"trace\"");
        check("tests:\n  - {name: a, steps: []}", 2, "needs a step or an expectation");
        check("tests:\n  - {name: a, step: []}", 2, "did you mean \"steps\"");
        check("steps: [{click: x}]", 1, "step 1: \"do\" is missing");
        check("steps: [{do: look}]\nsupply: {1: {}}", 2, "goes with \"trace\"");
        check("steps: [{do: look}]\ntrace: .", 1, "not both");
        check("trace: .", 1, "has no trace.jsonl");
        check("tests: [{name: a, steps: [{do: x}]}, {name: a, steps: [{do: x}]}]", 1, "two tests");
        check(
            "expect: []\ntests: [{name: a, steps: [{do: x}]}]",
            1,
            "has its steps and expectations in them",
        );
    }

    #[test]
    fn a_test_runs_in_one_place() {
        check(&format!("{LOGIN}program: xterm\nsteps: [{{do: x}}]"), 2, "runs in one place");
        check("scenario: no.yaml\nsteps: [{do: x}]", 1, "there is no file");
        check("url: 'javascript:1'\nsteps: [{do: x}]", 1, "start_url");
        check("site: none\nsteps: [{do: x}]", 1, "there is no folder");
        check("page: a.html\nsteps: [{do: x}]", 1, "goes with \"site\"");
        check("program: ''\nsteps: [{do: x}]", 1, "\"program\" is empty");
    }

    #[test]
    fn a_test_has_its_own_place_or_that_of_the_file() {
        let text = format!(
            "{LOGIN}tests:\n  - {{name: a, steps: [{{do: x}}]}}\n  - {{name: b, program: [xterm, -e, top], steps: [{{do: x}}]}}\n"
        );
        let desks: Vec<CaseDesk> = parse(&text).unwrap().tests.into_iter().map(|test| test.desk).collect();
        assert!(matches!(&desks[0], CaseDesk::Scenario(file) if file.ends_with("login.yaml")), "{desks:?}");
        assert_eq!(desks[1], CaseDesk::Program(["xterm", "-e", "top"].map(str::to_owned).into()));
    }

    #[test]
    fn a_file_of_one_test_is_named_like_the_file() {
        let file = parse("steps: [{do: press_key, keys: enter}]").unwrap();
        assert_eq!((file.tests[0].name.as_str(), &file.tests[0].desk), ("t", &CaseDesk::AsStarted));
    }

    #[test]
    fn a_folder_is_searched_for_tests_and_traces() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("b/second.test.yml", "steps: [{do: x}]");
        write("a.test.yaml", "steps: [{do: x}]");
        write("scenario.yaml", "not: a test");
        write("traces/one/trace.jsonl", "{}");
        let found = TestFile::find_all(&[folder.path().to_owned()]).unwrap();
        let names: Vec<&str> = found.iter().map(|file| file.tests[0].name.as_str()).collect();
        assert_eq!(names, ["a", "second", "one"]);
        let refused = TestFile::find_all(&[folder.path().join("b/none")]).unwrap_err();
        assert!(refused.contains("none"), "{refused}");
        std::fs::create_dir(folder.path().join("empty")).unwrap();
        let refused = TestFile::find_all(&[folder.path().join("empty")]).unwrap_err();
        assert!(refused.contains("has no test") && refused.contains(".test.yaml"), "{refused}");
    }
}
