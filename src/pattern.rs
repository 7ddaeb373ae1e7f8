//! Regular expressions from outside: one type, compiled in one place.
//!
//! Most run in time linear in the text. Look-around and back-references, which that engine cannot have, are run by one
//! that tries one way after another; its steps and its time are bounded. A text that takes more is neither a match nor a
//! miss, and whoever asks must say what it is then: redaction hides the text, consent asks, all others fail.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::Duration;

use fancy_regex::RegexInput;

use crate::clock::Deadline;
use crate::error::Error;

/// What a caller's pattern may be long.
pub const MOST_CHARACTERS: usize = 512;
/// What a pattern may grow to once compiled: `(?:a{1000}){1000}` is short to write and huge to hold.
pub const COMPILED_BYTES: usize = 1 << 20;
/// How long a search may take in one text, and in many, such as those of a tree.
const TIME_IN_ONE_TEXT: Duration = Duration::from_millis(500);
const TIME_IN_MANY_TEXTS: Duration = Duration::from_secs(2);
/// How long one redaction may search, by all of its patterns and in all texts of a tree or a reply. A tree is redacted when
/// it is shown and once more when it leaves; both together take less than a second.
const TIME_IN_A_REDACTION: Duration = Duration::from_millis(400);

/// How many steps a search may take, by the length of the text: each step may look at all of it, so that both together
/// are bounded. A text of the first class is searched at one go. In longer ones each place is tried by itself, so that
/// the time can be looked at between them.
const CLASSES: [(usize, usize); 5] =
    [(512, 50_000), (8 << 10, 4_000), (64 << 10, 500), (512 << 10, 100), (usize::MAX, 32)];
const SHORT_TEXT: usize = CLASSES[0].0;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// As it was written.
    source: String,
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    Linear(regex::Regex),
    Backtracking(Box<Backtracking>),
}

/// An engine for each class of texts, made when it is first needed.
#[derive(Clone, Debug)]
struct Backtracking {
    pattern: String,
    case_sensitive: bool,
    engines: [OnceLock<Option<fancy_regex::Regex>>; CLASSES.len()],
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.source)
    }
}

/// The search was given up: whether the text matches is not known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the regular expression '{pattern}' takes too long on a text of {bytes} bytes; write it without nested \
     repetitions, or without look-around and back-references"
)]
pub struct TooManySteps {
    pattern: String,
    bytes: usize,
}

impl From<TooManySteps> for Error {
    fn from(error: TooManySteps) -> Self {
        Error::bad_request(error.to_string()).with("pattern", error.pattern)
    }
}

/// The time that is left for the searches of one question.
#[derive(Debug)]
pub struct Effort(Cell<Duration>);

impl Default for Effort {
    fn default() -> Self {
        Self(Cell::new(TIME_IN_ONE_TEXT))
    }
}

impl Effort {
    pub fn for_many_texts() -> Self {
        Self(Cell::new(TIME_IN_MANY_TEXTS))
    }

    /// For all texts of a tree, or of a reply.
    pub fn for_a_redaction() -> Self {
        Self(Cell::new(TIME_IN_A_REDACTION))
    }

    /// Does a part of the work; what it took is no longer left.
    fn spend<T>(&self, work: impl FnOnce(&Deadline) -> T) -> T {
        let deadline = Deadline::after(self.0.get());
        let done = work(&deadline);
        self.0.set(deadline.left());
        done
    }

    #[cfg(test)]
    pub fn none() -> Self {
        Self(Cell::new(Duration::ZERO))
    }
}

/// What a pattern has to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fits {
    Part,
    Whole,
}

impl Pattern {
    /// A pattern that is searched for, or in one line why it is none.
    pub fn compile(source: &str) -> Result<Self, String> {
        Self::compile_in(source, true)
    }

    /// The same, for a caller who chooses whether the case of letters counts.
    pub fn compile_in(source: &str, case_sensitive: bool) -> Result<Self, String> {
        check_length(source)?;
        build(source, Fits::Part, case_sensitive)
    }

    /// A pattern that must match the whole text.
    pub fn compile_whole(source: &str) -> Result<Self, String> {
        check_length(source)?;
        // On its own first: `a)|(b` would become valid inside the group that anchors it.
        check_syntax(source)?;
        build(source, Fits::Whole, true)
    }

    /// Finds a text as it is, as a part of another or the whole of it.
    pub fn literal(text: &str, whole: bool, case_sensitive: bool) -> Result<Self, String> {
        let fits = if whole { Fits::Whole } else { Fits::Part };
        build(&regex::escape(text), fits, case_sensitive)
    }

    pub fn as_str(&self) -> &str {
        &self.source
    }

    pub fn is_match(&self, text: &str) -> Result<bool, TooManySteps> {
        self.is_match_within(text, &Effort::default())
    }

    /// Whether it is in any of the texts, which share the time of one question.
    pub fn is_in_any<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Result<bool, TooManySteps> {
        let effort = Effort::for_many_texts();
        for text in texts {
            if self.is_match_within(text, &effort)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub fn is_match_within(&self, text: &str, effort: &Effort) -> Result<bool, TooManySteps> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(engine) => {
                let found = effort.spend(|deadline| engine.find(text, 0, deadline));
                found.map(|found| found.is_some()).map_err(|GivenUp| self.given_up(text))
            }
        }
    }

    /// Where it matches, from left to right; none of them is empty.
    pub fn spans(&self, text: &str, effort: &Effort) -> Result<Vec<Range<usize>>, TooManySteps> {
        // A linear search of short texts is no effort, however many they are.
        let own = Effort::default();
        let is_easy = matches!(self.engine, Engine::Linear(_)) && text.len() <= SHORT_TEXT;
        let effort = if is_easy { &own } else { effort };
        effort.spend(|deadline| self.all_spans(text, deadline)).map_err(|GivenUp| self.given_up(text))
    }

    /// Of a text that matches the first group, or all of it where there is none.
    pub fn captured<'a>(&self, text: &'a str) -> Result<Option<&'a str>, TooManySteps> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex
                .captures(text)
                .and_then(|found| found.get(1).or_else(|| found.get(0)))
                .map(|part| part.as_str())),
            Engine::Backtracking(engine) => {
                let found =
                    engine.engine_for(text).and_then(|engine| engine.captures(text).map_err(|_| GivenUp));
                let found = found.map_err(|GivenUp| self.given_up(text))?;
                let part = found.and_then(|found| found.get(1).or_else(|| found.get(0)));
                Ok(part.map(|part| part.as_str()))
            }
        }
    }

    fn all_spans(&self, text: &str, deadline: &Deadline) -> Result<Vec<Range<usize>>, GivenUp> {
        let mut spans = Vec::new();
        let mut from = 0;
        while let Some(found) = self.find_from(text, from, deadline)? {
            // An empty match is none; the next place is the next character.
            from = if found.is_empty() { next_place(text, found.end) } else { found.end };
            if !found.is_empty() {
                spans.push(found);
            }
            if from > text.len() {
                break;
            }
        }
        Ok(spans)
    }

    fn find_from(
        &self,
        text: &str,
        from: usize,
        deadline: &Deadline,
    ) -> Result<Option<Range<usize>>, GivenUp> {
        match &self.engine {
            // One search takes time linear in the text, all of them together may not.
            Engine::Linear(_) if deadline.is_over() => Err(GivenUp),
            Engine::Linear(regex) => Ok(regex.find_at(text, from).map(|found| found.range())),
            Engine::Backtracking(engine) => engine.find(text, from, deadline),
        }
    }

    fn given_up(&self, text: &str) -> TooManySteps {
        TooManySteps { pattern: self.source.clone(), bytes: text.len() }
    }
}

/// No longer searched for.
struct GivenUp;

impl Backtracking {
    fn new(pattern: &str, case_sensitive: bool) -> Result<Self, fancy_regex::Error> {
        let pattern = pattern.to_owned();
        let made = Self { pattern, case_sensitive, engines: Default::default() };
        // What compiles with one limit does with each.
        let first = made.build(CLASSES[0].1)?;
        made.engines[0].get_or_init(|| Some(first));
        Ok(made)
    }

    fn build(&self, steps: usize) -> Result<fancy_regex::Regex, fancy_regex::Error> {
        fancy_regex::RegexBuilder::new(&self.pattern)
            .case_insensitive(!self.case_sensitive)
            .delegate_size_limit(COMPILED_BYTES)
            .backtrack_limit(steps)
            .build()
    }

    fn engine_for(&self, text: &str) -> Result<&fancy_regex::Regex, GivenUp> {
        let classes = self.engines.iter().zip(CLASSES);
        let mut fitting = classes.filter(|(_, (longest, _))| text.len() <= *longest);
        let (engine, (_, steps)) = fitting.next().ok_or(GivenUp)?;
        engine.get_or_init(|| self.build(steps).ok()).as_ref().ok_or(GivenUp)
    }

    fn find(&self, text: &str, from: usize, deadline: &Deadline) -> Result<Option<Range<usize>>, GivenUp> {
        if deadline.is_over() {
            return Err(GivenUp);
        }
        let engine = self.engine_for(text)?;
        if text.len() <= SHORT_TEXT {
            let found = engine.find_from_pos(text, from).map_err(|_| GivenUp)?;
            return Ok(found.map(|found| found.range()));
        }
        let mut place = from;
        while place <= text.len() {
            let here = RegexInput::new(text).from_pos(place).anchored(true);
            if let Some(found) = engine.find_input(here).map_err(|_| GivenUp)? {
                return Ok(Some(found.range()));
            }
            if deadline.is_over() {
                return Err(GivenUp);
            }
            place = next_place(text, place);
        }
        Ok(None)
    }
}

/// Behind the character at `place`; behind the end of the text there is one more.
fn next_place(text: &str, place: usize) -> usize {
    place + text.get(place..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

/// Patterns of which one has to match, tried together where that can be.
#[derive(Clone, Debug)]
pub struct PatternSet {
    linear: regex::RegexSet,
    others: Vec<Pattern>,
}

impl PatternSet {
    pub fn new(patterns: Vec<Pattern>) -> Result<Self, String> {
        let (linear, others): (Vec<Pattern>, Vec<Pattern>) =
            patterns.into_iter().partition(|pattern| matches!(pattern.engine, Engine::Linear(_)));
        let sources = linear.iter().map(|pattern| python_spelling(&pattern.source));
        let linear = regex::RegexSet::new(sources).map_err(|error| error.to_string())?;
        Ok(Self { linear, others })
    }

    pub fn is_match(&self, text: &str, effort: &Effort) -> Result<bool, TooManySteps> {
        if !self.linear.is_empty() && self.linear.is_match(text) {
            return Ok(true);
        }
        for pattern in &self.others {
            if pattern.is_match_within(text, effort)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn check_length(source: &str) -> Result<(), String> {
    let characters = source.chars().count();
    if characters > MOST_CHARACTERS {
        return Err(format!(
            "the pattern has {characters} characters, at most {MOST_CHARACTERS} are allowed"
        ));
    }
    Ok(())
}

fn build(source: &str, fits: Fits, case_sensitive: bool) -> Result<Pattern, String> {
    let spelled = python_spelling(source);
    let shaped = match fits {
        Fits::Part => spelled,
        Fits::Whole => format!(r"\A(?:{spelled})\z"),
    };
    let linear = regex::RegexBuilder::new(&shaped)
        .case_insensitive(!case_sensitive)
        .size_limit(COMPILED_BYTES)
        .build();
    let engine = match linear {
        Ok(linear) => Engine::Linear(linear),
        Err(regex::Error::Syntax(_)) if needs_backtracking(&shaped) => {
            let other = Backtracking::new(&shaped, case_sensitive).map_err(|error| {
                let why = error.to_string();
                format!("the pattern does not compile: {}", why.lines().last().unwrap_or_default())
            })?;
            Engine::Backtracking(Box::new(other))
        }
        Err(error) => return Err(in_one_line(source, &error)),
    };
    Ok(Pattern { source: source.to_owned(), engine })
}

/// Whether it can be read on its own, by either engine.
fn check_syntax(source: &str) -> Result<(), String> {
    let spelled = python_spelling(source);
    let known = || needs_backtracking(&spelled) && fancy_regex::Expr::parse_tree(&spelled).is_ok();
    if regex_syntax::parse(&spelled).is_ok() || known() {
        return Ok(());
    }
    build(source, Fits::Part, true).map(drop)
}

/// The end of the text, which Python spells `\Z`. For others that is also before a last line break.
fn python_spelling(source: &str) -> String {
    let mut spelled = String::with_capacity(source.len());
    let mut characters = source.chars();
    while let Some(character) = characters.next() {
        spelled.push(character);
        if character == '\\' {
            spelled.extend(characters.next().map(|next| if next == 'Z' { 'z' } else { next }));
        }
    }
    spelled
}

/// What only the other engine has: look-around, back-references, atomic groups, conditions, comments.
const ONLY_BACKTRACKING: &[&str] = &["(?>", "(?(", "(?P=", "(?#"];

/// Whether all that is wrong with a pattern may be that the engine without steps does not have it.
fn needs_backtracking(pattern: &str) -> bool {
    use regex_syntax::ast::ErrorKind::{UnsupportedBackreference, UnsupportedLookAround};
    let unsupported = match regex_syntax::parse(pattern) {
        Err(regex_syntax::Error::Parse(error)) => {
            matches!(error.kind(), UnsupportedBackreference | UnsupportedLookAround)
        }
        _ => false,
    };
    unsupported || ONLY_BACKTRACKING.iter().any(|sign| pattern.contains(sign))
}

fn in_one_line(pattern: &str, error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(bytes) => {
            format!("the pattern compiles to more than {bytes} bytes; use smaller repetitions")
        }
        // The crate draws the pattern with a caret under the fault; its last line names the fault.
        other => {
            let drawn = other.to_string();
            let last = drawn.lines().last().unwrap_or_default().trim_start_matches("error: ");
            let place = fault(pattern).map_or(String::new(), |at| format!(" (at character {at})"));
            format!("the pattern does not compile: {last}{place}")
        }
    }
}

/// Where a pattern is wrong, counted from 1.
fn fault(pattern: &str) -> Option<usize> {
    let offset = match regex_syntax::parse(pattern).err()? {
        regex_syntax::Error::Parse(error) => error.span().start.offset,
        regex_syntax::Error::Translate(error) => error.span().start.offset,
        _ => return None,
    };
    Some(pattern.get(..offset)?.chars().count() + 1)
}

#[cfg(test)]
mod tests;
