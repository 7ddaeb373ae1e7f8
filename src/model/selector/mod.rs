//! Selectors: how a caller names elements by role, text, state and place.
//!
//! Two spellings, one meaning. `Window/MenuBar/MenuItem[name="Edit"]` (XPath-like) and
//! `Window > MenuBar > MenuItem "Edit"` (CSS-like) are the same three steps, and the parser reads
//! both with one grammar, so nothing has to be guessed from characters inside a name:
//!
//! ```text
//! selector   = [ "//" ] step { ( "/" | ">" | "//" | blank ) step }     "//" and blank: any depth below
//! step       = role { predicate }  |  ":text(" string ")" { predicate }
//! role       = "*" | identifier                                        exact, case-sensitive
//! predicate  = "[" key op value "]" | string | ":has-text(" string ")" | ":nth-of-type(" n ")"
//! op         = "=" equal | "*=" contains | "~=" regular expression over the whole text
//! key        = name | value | role | keyboard_shortcut | index | id
//!            | enabled | focused | checked | selected | expanded | editable | visible    true or false
//! ```
//!
//! Printing gives the canonical text. Reading that text gives the same selector again, always: the
//! axis is printed, quotes and backslashes are escaped, and what would not fit the limits when
//! printed is refused when read.
//!
//! Nothing here recurses, and resolving costs at most one test per element and step.

mod derive;
mod explain;
mod parse;
mod resolve;

use std::borrow::Cow;
use std::fmt;

pub use derive::derive;
pub use explain::{Near, StepMiss};
pub use resolve::Matches;

use super::{Role, Tree};
use crate::config::limits;
use crate::error::Error;
use crate::pattern::{Pattern, TooManySteps};

pub const MAX_TEXT_BYTES: usize = limits::SELECTOR_BYTES;
pub const MAX_STEPS: usize = limits::SELECTOR_STEPS;
pub const MAX_PREDICATES: usize = limits::SELECTOR_PREDICATES;
pub const MAX_PATTERNS: usize = limits::SELECTOR_PATTERNS;
pub const MAX_REGEX_CHARS: usize = limits::REGEX_CHARACTERS;
/// How many matches a reply lists unless its caller asks for another number.
pub const DEFAULT_MATCHES: usize = 10;

/// A parsed selector: at least one step, every regular expression already compiled.
#[derive(Clone, Debug)]
pub struct Selector {
    steps: Vec<SelectorStep>,
    warnings: Vec<String>,
}

impl Selector {
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        parse::parse(text)
    }

    /// The first `limit` matches, in the contract's order.
    pub fn resolve(&self, tree: &Tree, limit: usize) -> Result<Vec<usize>, TooManySteps> {
        Ok(self.find(tree, limit)?.nodes)
    }

    /// Like `resolve`, with the number of all matches.
    pub fn find(&self, tree: &Tree, limit: usize) -> Result<Matches, TooManySteps> {
        resolve::find(self, tree, limit)
    }

    /// Why nothing matches, or `None` if something does.
    pub fn explain_miss(&self, tree: &Tree) -> Option<StepMiss> {
        explain::explain_miss(self, tree)
    }

    /// What was read over and has no effect, as sentences for the caller.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn predicates(&self) -> impl Iterator<Item = &SelectorPredicate> {
        self.steps.iter().flat_map(|step| &step.predicates)
    }

    /// Also the canonical text must fit: it is handed out, and must be accepted when it comes back.
    fn check_limits(&self) -> Result<(), SelectorError> {
        let (steps, predicates) = (self.steps.len(), self.predicates().count());
        if steps > MAX_STEPS {
            return Err(SelectorError::too_many("steps", MAX_STEPS));
        }
        if predicates > MAX_PREDICATES {
            return Err(SelectorError::too_many("predicates", MAX_PREDICATES));
        }
        SelectorError::check_length("canonical text", self.to_string().len())
    }
}

/// Warnings are about the spelling, not about the meaning, so they do not tell selectors apart.
impl PartialEq for Selector {
    fn eq(&self, other: &Self) -> bool {
        self.steps == other.steps
    }
}

#[derive(Clone, Debug, PartialEq)]
struct SelectorStep {
    axis: Axis,
    /// `None` takes any.
    role: Option<Role>,
    predicates: Vec<SelectorPredicate>,
}

const ANY_ROLE: &str = "*";

/// Where a step looks, seen from the matches of the step before it.
///
/// The first step has none before it: there `Child` means the root or, if that does not match,
/// anything below it, and `Descendant` (a leading `//`) only what is below the root.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Axis {
    Child,
    Descendant,
}

#[derive(Clone, Debug, PartialEq)]
enum SelectorPredicate {
    Text(TextKey, Test),
    Flag(FlagKey, bool),
    /// The place among the siblings of the same role, from 0.
    Index(u32),
    /// The positional id. It is how an element is named whose path would not fit the limits.
    Id(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TextKey {
    Name,
    Value,
    Role,
    Shortcut,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FlagKey {
    Enabled,
    Focused,
    /// Of boxes and switches; the same as selected, by the name that people have for it.
    Checked,
    Selected,
    Expanded,
    Editable,
    /// Neither hidden by itself nor by what it is in.
    Visible,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Equals(Literal),
    Contains(Literal),
    /// The whole text.
    Matches(Pattern),
}

/// A text to compare with, folded once instead of at every element.
#[derive(Clone, Debug, PartialEq)]
struct Literal {
    written: String,
    folded: String,
}

impl Literal {
    fn new(written: impl Into<String>) -> Self {
        let written = written.into();
        Self { folded: fold(&written).into_owned(), written }
    }
}

/// Typographic characters that people and models write in plain letters.
const FOLDED: &[(char, &str)] = &[('…', "..."), ('\u{a0}', " "), ('–', "-"), ('—', "--")];

fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        match FOLDED.iter().find(|(from, _)| *from == character) {
            Some((_, to)) => folded.push_str(to),
            None => folded.push(character),
        }
    }
    Cow::Owned(folded)
}

impl fmt::Display for Selector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.steps.iter().enumerate() {
            out.write_str(match step.axis {
                Axis::Descendant => "//",
                Axis::Child if position > 0 => "/",
                Axis::Child => "",
            })?;
            write!(out, "{step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SelectorStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.role.as_ref().map_or(ANY_ROLE, Role::name))?;
        self.predicates.iter().try_for_each(|predicate| write!(out, "{predicate}"))
    }
}

impl fmt::Display for SelectorPredicate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectorPredicate::Text(key, test) => write!(out, "[{}{test}]", key.name()),
            SelectorPredicate::Flag(key, wanted) => write!(out, "[{}={wanted}]", key.name()),
            SelectorPredicate::Index(index) => write!(out, "[index={index}]"),
            SelectorPredicate::Id(id) => write!(out, "[id={}]", Quoted(id)),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Test::Equals(text) => write!(out, "={}", Quoted(&text.written)),
            Test::Contains(text) => write!(out, "*={}", Quoted(&text.written)),
            Test::Matches(pattern) => write!(out, "~={}", Quoted(pattern.as_str())),
        }
    }
}

impl TextKey {
    const fn name(self) -> &'static str {
        match self {
            TextKey::Name => "name",
            TextKey::Value => "value",
            TextKey::Role => "role",
            TextKey::Shortcut => "keyboard_shortcut",
        }
    }
}

impl FlagKey {
    const ALL: [FlagKey; 7] = [
        FlagKey::Enabled,
        FlagKey::Focused,
        FlagKey::Checked,
        FlagKey::Selected,
        FlagKey::Expanded,
        FlagKey::Editable,
        FlagKey::Visible,
    ];

    const fn name(self) -> &'static str {
        match self {
            FlagKey::Enabled => "enabled",
            FlagKey::Focused => "focused",
            FlagKey::Checked => "checked",
            FlagKey::Selected => "selected",
            FlagKey::Expanded => "expanded",
            FlagKey::Editable => "editable",
            FlagKey::Visible => "visible",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The state of an element; `None` where it has no such state, which is neither true nor false.
    fn state(self, tree: &Tree, node: usize) -> Option<bool> {
        let element = &tree[node];
        match self {
            FlagKey::Enabled => Some(element.enabled),
            FlagKey::Focused => Some(element.focused),
            FlagKey::Checked | FlagKey::Selected => element.selected,
            FlagKey::Expanded => element.expanded,
            FlagKey::Editable => Some(element.editable),
            FlagKey::Visible => Some(is_visible(tree, node)),
        }
    }
}

fn is_visible(tree: &Tree, node: usize) -> bool {
    let mut way_up = std::iter::successors(Some(node), |&at| tree.parent(at));
    tree[node].unseen.is_none() && !way_up.any(|at| tree[at].hidden)
}

/// The states that elements have, by name.
pub fn state_names() -> impl Iterator<Item = &'static str> {
    FlagKey::ALL.into_iter().map(FlagKey::name)
}

/// The state of an element by its name; `None` where it has no such state, or there is none of this name.
pub fn state_of(tree: &Tree, node: usize, name: &str) -> Option<bool> {
    FlagKey::parse(name)?.state(tree, node)
}

/// Double quotes around, `\"` and `\\` inside; everything else, newlines too, as it is.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        out.write_char('"')?;
        for character in self.0.chars() {
            if matches!(character, '"' | '\\') {
                out.write_char('\\')?;
            }
            out.write_char(character)?;
        }
        out.write_char('"')
    }
}

/// A selector that cannot be read; the sentence names the place and what would be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("selector parse error: {0}")]
pub struct SelectorError(String);

impl SelectorError {
    fn too_many(what: &str, limit: usize) -> Self {
        Self(format!("more than {limit} {what}; start nearer to the element, for example with //"))
    }

    fn check_length(what: &str, bytes: usize) -> Result<(), Self> {
        if bytes <= MAX_TEXT_BYTES {
            return Ok(());
        }
        Err(Self(format!(
            "the {what} has {bytes} bytes, at most {MAX_TEXT_BYTES} are allowed; use *= with a part of a long name"
        )))
    }
}

impl From<SelectorError> for Error {
    fn from(error: SelectorError) -> Self {
        Error::bad_request(error.to_string())
    }
}

#[cfg(test)]
mod tests;
