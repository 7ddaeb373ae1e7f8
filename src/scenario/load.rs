//! Reads a scenario within limits and says where it is wrong.
//!
//! A scenario may come from anyone, so nothing here trusts the file: devices and pipes are never opened,
//! no more than `MAX_FILE_BYTES` are read, and the parser stops at depth, alias and size budgets.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::thread;

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Location, Spanned};

use super::Scenario;
use super::format::ScenarioEntry;
use super::validate;
use crate::files::{Below, ReadFailure};

pub const MAX_FILE_BYTES: usize = crate::config::limits::YAML_BYTES;

/// Room for `validate::MAX_DEPTH` elements (two levels each) and what is around and in them.
const MAX_YAML_DEPTH: usize = 6 + 2 * validate::MAX_DEPTH + 4;
const MAX_YAML_NODES: usize = 250_000;
/// How many parts of the file aliases may repeat in all.
pub(super) const MAX_REPEATED_NODES: usize = 20_000;
/// Aliases may multiply the text of the file by this much in all.
const MAX_EXPANDED_BYTES: usize = 4 * MAX_FILE_BYTES;
const STACK_BYTES: usize = 24 * 1024 * 1024;
/// How far a key may be from a known one to be offered as what was meant.
const NEAR: usize = 3;

/// What is wrong with a scenario, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    pub file: String,
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub message: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.file)?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(out, ":{place}")?;
        }
        write!(out, ": {}", self.message)
    }
}

impl std::error::Error for ScenarioError {}

/// A sentence and the place in the file that it is about.
#[derive(Debug)]
pub(super) struct Problem {
    pub place: Location,
    pub message: String,
}

impl Problem {
    pub fn at_location(place: Location, message: impl Into<String>) -> Self {
        Self { place, message: message.into() }
    }

    fn in_file(self, file: &str) -> ScenarioError {
        let known = |number: u64| usize::try_from(number).ok().filter(|&number| number > 0);
        ScenarioError {
            file: file.to_owned(),
            line: known(self.place.line()),
            column: known(self.place.column()),
            message: self.message,
        }
    }
}

/// Loads a scenario from a regular file of at most `MAX_FILE_BYTES`.
pub fn load_file(path: &Path) -> Result<Scenario, ScenarioError> {
    let file_name = path.display().to_string();
    let text = read_text(path)
        .map_err(|message| Problem::at_location(Location::UNKNOWN, message).in_file(&file_name))?;
    load_str(&text, &file_name)
}

/// The same for a file that a caller has named, which stays where it was when its name was judged.
pub fn load_below(place: &Below) -> Result<Scenario, ScenarioError> {
    let file_name = place.path().display().to_string();
    let read = place.read(MAX_FILE_BYTES as u64).map_err(|problem| match problem {
        ReadFailure::NoFile => NO_FILE.to_owned(),
        ReadFailure::TooLong(bytes) => too_long(bytes),
        ReadFailure::Failed(problem) => format!("the file cannot be read: {problem}"),
    });
    let text = read
        .and_then(as_text)
        .map_err(|message| Problem::at_location(Location::UNKNOWN, message).in_file(&file_name))?;
    load_str(&text, &file_name)
}

/// Loads a scenario from its text; `file_name` is only for the error.
pub fn load_str(text: &str, file_name: &str) -> Result<Scenario, ScenarioError> {
    with_deep_stack(|| parse(text).and_then(validate::validate_scenario))
        .unwrap_or_else(|message| Err(Problem::at_location(Location::UNKNOWN, message)))
        .map_err(|problem| problem.in_file(file_name))
}

/// The parser needs up to 80 kB of stack for each level of elements, more than a caller's thread may have
/// left, so the work gets a thread of its own whose stack holds the deepest file that is allowed.
fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().name("scenario".to_owned()).stack_size(STACK_BYTES);
        let worker = worker.spawn_scoped(scope, work);
        let worker =
            worker.map_err(|error| format!("cannot start a thread to read the scenario: {error}"))?;
        worker.join().map_err(|_| "the scenario could not be read: its parser failed".to_owned())
    })
}

/// The kind is asked before the file is opened, because opening a pipe waits for its other end, and again
/// afterwards, because the name may lead elsewhere by then.
fn read_text(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("the file cannot be read: {error}");
    check_kind(&fs::metadata(path).map_err(failed)?)?;
    let file = File::open(path).map_err(failed)?;
    check_kind(&file.metadata().map_err(failed)?)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(too_long(bytes.len() as u64));
    }
    as_text(bytes)
}

fn as_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        format!("the file is not UTF-8 text: byte {} is wrong", error.utf8_error().valid_up_to() + 1)
    })
}

const NO_FILE: &str = "a scenario must be a regular file";

fn check_kind(metadata: &fs::Metadata) -> Result<(), String> {
    if !metadata.is_file() {
        return Err(NO_FILE.to_owned());
    }
    if metadata.len() > MAX_FILE_BYTES as u64 { Err(too_long(metadata.len())) } else { Ok(()) }
}

fn too_long(bytes: u64) -> String {
    format!("a scenario may have at most {MAX_FILE_BYTES} bytes, this one has {bytes} or more")
}

fn parse(text: &str) -> Result<Spanned<ScenarioEntry>, Problem> {
    if text.len() > MAX_FILE_BYTES {
        return Err(Problem::at_location(Location::UNKNOWN, too_long(text.len() as u64)));
    }
    serde_saphyr::from_str_with_options(text, yaml_options()).map_err(|error| explain_error(&error))
}

fn yaml_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            // The scanner reads ahead: with room to spare it is the depth that is reported.
            flow_nesting_limit: 2 * MAX_YAML_DEPTH,
            max_depth: MAX_YAML_DEPTH,
            max_nodes: MAX_YAML_NODES,
            max_events: 2 * MAX_YAML_NODES,
            max_total_scalar_bytes: MAX_EXPANDED_BYTES,
            max_recorded_anchor_events: 3 * MAX_REPEATED_NODES,
            max_recorded_anchor_bytes: MAX_EXPANDED_BYTES,
            enforce_alias_anchor_ratio: false,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_REPEATED_NODES },
        emit_comments: false,
        with_snippet: false,
    }
}

/// An error of the YAML parser with its place, for files of other formats.
pub fn explain_yaml(error: &serde_saphyr::Error, file_name: &str) -> ScenarioError {
    explain_error(error).in_file(file_name)
}

/// The parser's error in the words of this format.
fn explain_error(error: &serde_saphyr::Error) -> Problem {
    Problem::at_location(error.location().unwrap_or(Location::UNKNOWN), error_sentence(error))
}

fn error_sentence(error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error;
    match error {
        Error::AliasError { error, .. } => error_sentence(error),
        Error::SerdeUnknownField { field, expected, .. } => unknown_key(field, expected),
        Error::SerdeMissingField { field, .. } => format!("the key \"{field}\" is missing here"),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("the key \"{key}\" occurs twice in this mapping")
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("this is nested too deep: elements may be {} deep", validate::MAX_DEPTH)
        }
        Error::Budget { .. } | Error::AliasReplayLimitExceeded { .. } => {
            "the file has too many nodes or too much text up to here, with aliases expanded".to_owned()
        }
        other => without_place(&other.to_string()),
    }
}

fn unknown_key(key: &str, known: &[&str]) -> String {
    // The key `true` is what YAML 1.1 makes of `on` (https://yaml.org/type/bool.html); nobody means to write it.
    let known: Vec<&str> = known.iter().copied().filter(|name| !name.eq_ignore_ascii_case("true")).collect();
    match nearest_name(key, &known) {
        Some(near) => format!("the key \"{key}\" is unknown here; did you mean \"{near}\"?"),
        None => format!("the key \"{key}\" is unknown here; known keys are {}", known.join(", ")),
    }
}

/// The place is told by the error's own fields, so the parser's sentence need not repeat it.
fn without_place(message: &str) -> String {
    let first_line = message.lines().next().unwrap_or(message);
    first_line.split(" at line ").next().unwrap_or(first_line).to_owned()
}

/// The candidate with the fewest edits, if few enough to have been meant.
pub(super) fn nearest_name<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let distance = |candidate: &&str| edit_distance(word, candidate);
    candidates.iter().copied().min_by_key(distance).filter(|near| edit_distance(word, near) <= NEAR)
}

/// Levenshtein's distance, over at most the first 64 characters.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Refused with words that begin so.
    fn check(loaded: Result<Scenario, ScenarioError>, expected: &str) -> ScenarioError {
        let error = match loaded {
            Ok(scenario) => panic!("{} loaded, but expected: {expected}", scenario.name),
            Err(error) => error,
        };
        assert!(error.to_string().starts_with(expected), "{error}");
        error
    }

    fn check_text(text: &str, expected: &str) -> ScenarioError {
        check(load_str(text, "bomb.yaml"), expected)
    }

    /// How far it was read says how much was done before it was refused, on any machine.
    #[track_caller]
    fn check_depth(text: &str) {
        let column = check_text(text, "bomb.yaml:1:").column.unwrap();
        assert!(column <= 8 * MAX_YAML_DEPTH, "refused only in column {column}");
    }

    /// H-41 on code: aliases of aliases.
    #[test]
    fn alias_bombs_are_refused_where_they_grow() {
        let too_much = "the file has too many nodes or too much text up to here";
        let mut bomb = String::from("oracles:\n  success:\n    - kind: k\n      a0: &a0 [x, x, x, x]\n");
        for level in 1..=10 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("      a{level}: &a{level} [{aliases}]\n"));
        }
        // In the fifth of eleven levels, after some ten thousand parts; the whole has forty thousand million.
        check_text(&bomb, &format!("bomb.yaml:8:26: {too_much}"));
        let text = "x".repeat(500_000);
        let copies = "    - {kind: *t}\n".repeat(1000);
        check_text(
            &format!("name: &t {text}\noracles:\n  success:\n{copies}"),
            &format!("bomb.yaml:11:14: {too_much}"),
        );
    }

    /// H-41 on code: an alias of itself.
    #[test]
    fn self_reference_is_refused() {
        check_text("states: &s {a: *s}\n", "bomb.yaml:1:16: ");
        check_text("oracles: {success: [&s {kind: k, again: *s}]}\nstates: {a: {}}", "bomb.yaml:1:");
    }

    /// H-41 on code: a hundred thousand levels.
    #[test]
    fn depth_bombs_are_refused_where_they_get_too_deep() {
        check_depth(&"[".repeat(100_000));
        check_depth(&format!("states: {}", "{a: ".repeat(100_000)));
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        check_depth(&format!("oracles: {{success: [{{kind: k, x: {deep}}}]}}"));
        let block: String = (0..1_000).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
        check_text(&format!("{block}{}b: 1", " ".repeat(1_000)), "bomb.yaml:1:1: the key \"a\" is unknown");
    }

    /// H-42 on code: 50 MB.
    #[test]
    fn long_texts_are_refused_unread() {
        let long = "# ".repeat(25 << 20);
        check_text(
            &long,
            "bomb.yaml: a scenario may have at most 1048576 bytes, this one has 52428800 or more",
        );
    }

    /// H-20 on code: a folder, a huge sparse file, nothing, bytes that are no text.
    #[test]
    fn files_that_are_none_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let regular = "a scenario must be a regular file";
        check(load_file(dir.path()), &format!("{}: {regular}", dir.path().display()));
        let sparse = dir.path().join("sparse.yaml");
        File::create(&sparse).unwrap().set_len(1 << 30).unwrap();
        check(load_file(&sparse), &format!("{}: a scenario may have", sparse.display()));
        let missing = dir.path().join("missing.yaml");
        check(load_file(&missing), &format!("{}: the file cannot be read", missing.display()));
        let binary = dir.path().join("binary.yaml");
        fs::write(&binary, b"name: \xff").unwrap();
        check(load_file(&binary), &format!("{}: the file is not UTF-8 text: byte 7", binary.display()));
    }

    /// H-20 on code: a pipe, a device.
    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe.yaml");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        check(load_file(&pipe), &format!("{}: a scenario must be a regular file", pipe.display()));
        check(load_file(Path::new("/dev/zero")), "/dev/zero: a scenario must be a regular file");
    }

    #[test]
    fn broken_yaml_says_where() {
        check_text("states: {", "bomb.yaml:1:");
        check_text("states:\n  a: [1,\n", "bomb.yaml:");
        check_text("states: 5\n", "bomb.yaml:1:9: ");
        check_text("states: {a: {windows: 7}}\n", "bomb.yaml:1:23: ");
        check_text("states: {a: {windows: [{pid: many}]}}\n", "bomb.yaml:1:30: ");
        check_text("states: {a: {}}\n---\nname: b\n", "bomb.yaml:");
    }

    #[test]
    fn every_shipped_scenario_loads_and_has_oracles() {
        let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let mut names = Vec::new();
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let scenario = load_file(&path).unwrap_or_else(|error| panic!("{error}"));
            assert!(!scenario.oracles.success.is_empty(), "{}", path.display());
            assert!(!scenario.oracles.failure.is_empty(), "{}", path.display());
            check_bounds(&scenario);
            names.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
        names.sort();
        assert_eq!(names, ["apps", "dense", "form", "login", "long-list", "slow-load", "web", "wizard"]);
    }

    /// A believable application: windows are on the screen, and elements stay in their windows unless
    /// something that scrolls is around them.
    fn check_bounds(scenario: &Scenario) {
        for window in scenario.states.iter().flat_map(|state| &state.windows) {
            assert!(scenario.screen.encloses(&window.bounds), "{}", window.title);
            for node in 0..window.tree.len() {
                let mut around =
                    std::iter::successors(window.tree.parent(node), |&at| window.tree.parent(at));
                let scrolls =
                    around.any(|at| ["List", "Table", "Tree"].contains(&window.tree[at].role.name()));
                let element = &window.tree[node];
                assert!(
                    scrolls || window.bounds.encloses(&element.bounds),
                    "{} {}",
                    window.title,
                    element.name
                );
            }
        }
    }

    #[test]
    fn the_dense_application_has_two_thousand_elements() {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios/dense.yaml");
        let count = load_file(&path).unwrap().states[0].windows[0].tree.len();
        assert!((1990..=2010).contains(&count), "{count}");
    }

    #[test]
    fn near_words_are_found() {
        assert_eq!(nearest_name("enabeld", &["name", "enabled"]), Some("enabled"));
        assert_eq!(nearest_name("", &["name"]), None);
        assert_eq!(nearest_name("zzzzzz", &["name", "value"]), None);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
