//! Claims about the desktop, and whether they hold: what `assert_state` asks and `wait_for` waits for.
//!
//! A claim that cannot be judged does not hold, and says why; only a cancelled call fails. What is
//! observed comes from what may be shown, so that no claim can be used to feel for hidden text.

use std::sync::Arc;

use super::evaluation::{Evaluation, find_text, find_window, window_fact};
use super::identity::{WindowCapture, element_label};
use super::vision::{RegionReference, similar_to_file};
use super::{Ref, ResolvedWindow, View};
use crate::config::limits::{REFERENCE_PICTURE_BYTES, TREE_TEXT_BYTES};
use crate::error::{Error, Fact, Kind, Result};
use crate::files::{Below, ReadFailure};
use crate::model::selector::{derive, state_of};
use crate::model::{Point, Rect, Selector, Tree, Window};
use crate::pattern::Pattern;

#[derive(Clone, Debug)]
pub struct WindowPredicate {
    /// The window that is meant; otherwise the focused one.
    pub window_uid: Option<String>,
    pub claim: PredicateClaim,
}

#[derive(Clone, Debug)]
pub enum PredicateClaim {
    ElementExists(Named),
    ElementAbsent(Named),
    ValueEquals {
        element: Named,
        expected: String,
    },
    ValueMatches {
        element: Named,
        pattern: Pattern,
    },
    /// The element has what was put into it, as its application writes it.
    ValueReads {
        element: Named,
        expected: String,
    },
    /// States of an element by the names that selectors have for them.
    ElementState {
        element: Named,
        states: Vec<(&'static str, bool)>,
    },
    TextVisible {
        pattern: Pattern,
        source: TextSource,
    },
    WindowFocused {
        title: Option<Pattern>,
    },
    WindowExists {
        title: Option<Pattern>,
    },
    TreeHashEquals(String),
    ScreenshotSimilar {
        reference: Below,
        least: f64,
    },
    /// A pixel of the screen, or of a window's own picture.
    PixelColor {
        at: Point,
        color: [u8; 3],
        tolerance: u8,
    },
    RegionSimilar {
        region: Option<Rect>,
        reference: RegionReference,
        least: f64,
    },
    /// All of the predicates, or at least one.
    Oracle {
        every: bool,
        predicates: Vec<WindowPredicate>,
    },
}

impl PredicateClaim {
    /// Whether it is about pixels: nobody tells when those change.
    pub fn is_visual(&self) -> bool {
        match self {
            PredicateClaim::ScreenshotSimilar { .. }
            | PredicateClaim::PixelColor { .. }
            | PredicateClaim::RegionSimilar { .. } => true,
            PredicateClaim::Oracle { predicates, .. } => {
                predicates.iter().any(|predicate| predicate.claim.is_visual())
            }
            _ => false,
        }
    }
}

/// An element as a claim names it.
#[derive(Clone, Debug)]
pub enum Named {
    Selector(Selector),
    /// Its window is the ref's own. That it is called otherwise now is no matter: nothing is done to it.
    Ref(Ref),
}

/// Where a text is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextSource {
    Tree,
    Ocr,
    /// The tree, and where it does not have the text, the picture.
    #[default]
    Auto,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PredicateVerdict {
    pub passed: bool,
    pub observed: Fact,
    /// Why the claim could not be judged.
    pub error: Option<Kind>,
}

impl PredicateVerdict {
    pub(super) fn new(passed: bool, observed: impl Into<Fact>) -> Self {
        Self { passed, observed: observed.into(), error: None }
    }

    /// What is said of a claim that could not be judged.
    pub fn not_evaluated(error: Error) -> Self {
        Self { passed: false, observed: error.message.into(), error: Some(error.kind) }
    }
}

impl Evaluation<'_> {
    /// Fails only when the call was cancelled.
    pub fn evaluate_predicate(&self, predicate: &WindowPredicate) -> Result<PredicateVerdict> {
        match self.judge_predicate(predicate) {
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            Err(error) => Ok(PredicateVerdict::not_evaluated(error)),
            Ok(verdict) => Ok(verdict),
        }
    }

    fn judge_predicate(&self, predicate: &WindowPredicate) -> Result<PredicateVerdict> {
        let uid = predicate.window_uid.as_deref();
        match &predicate.claim {
            PredicateClaim::ElementExists(element) => self.element_exists(uid, element),
            PredicateClaim::ElementAbsent(element) => self.element_absent(uid, element),
            PredicateClaim::ValueEquals { element, expected } => {
                self.value(uid, element, |actual| Ok(actual == Some(expected)))
            }
            PredicateClaim::ValueMatches { element, pattern } => self
                .value(uid, element, |actual| actual.map_or(Ok(false), |text| Ok(pattern.is_match(text)?))),
            PredicateClaim::ValueReads { element, expected } => self.value_reads(uid, element, expected),
            PredicateClaim::ElementState { element, states } => self.element_state(uid, element, states),
            PredicateClaim::TextVisible { pattern, source } => self.text_visible(uid, pattern, *source),
            PredicateClaim::WindowFocused { title } => self.window_focused(uid, title.as_ref()),
            PredicateClaim::WindowExists { title } => self.window_exists(uid, title.as_ref()),
            PredicateClaim::TreeHashEquals(expected) => self.tree_hash_equals(uid, expected),
            PredicateClaim::ScreenshotSimilar { reference, least } => {
                self.screenshot_similar(uid, reference, *least)
            }
            PredicateClaim::PixelColor { at, color, tolerance } => {
                self.pixel_color(uid, *at, *color, *tolerance)
            }
            PredicateClaim::RegionSimilar { region, reference, least } => {
                self.region_similar(uid, *region, reference, *least)
            }
            PredicateClaim::Oracle { every, predicates } => self.evaluate_oracle(*every, predicates),
        }
    }

    fn element_exists(&self, uid: Option<&str>, element: &Named) -> Result<PredicateVerdict> {
        let exists = |count: usize, tree: &Tree, node: usize| {
            PredicateVerdict::new(
                true,
                Fact::object([("count", count.into()), ("first_id", tree.id(node).into())]),
            )
        };
        let none = [("count", 0.into()), ("first_id", Fact::Null)];
        let selector = match element {
            Named::Selector(selector) => selector,
            Named::Ref(reference) => {
                return Ok(match self.node_of(*reference)? {
                    Some((view, node)) => exists(1, view.tree(), node),
                    None => PredicateVerdict::new(false, Fact::object(none)),
                });
            }
        };
        let chosen = self.chosen(uid)?;
        let view = self.view(&chosen)?;
        let found = selector.find(view.tree(), 1)?;
        Ok(match found.nodes.first() {
            Some(first) => exists(found.total, view.tree(), *first),
            None => {
                // A wait judges again and again and shows the last; a ref is not given before it is shown.
                let sight = WindowCapture { window: &chosen.raw, view: &view };
                let refs = |node| self.observer.refs().existing_ref(sight, node);
                let observed = none.into_iter().chain(self.miss_facts(selector, &view, refs)).collect();
                PredicateVerdict::new(false, Fact::Object(observed))
            }
        })
    }

    fn element_absent(&self, uid: Option<&str>, element: &Named) -> Result<PredicateVerdict> {
        let count = match element {
            Named::Selector(selector) => selector.find(self.view_of(uid)?.tree(), 1)?.total,
            Named::Ref(reference) => usize::from(self.node_of(*reference)?.is_some()),
        };
        Ok(PredicateVerdict::new(count == 0, Fact::object([("count", count.into())])))
    }

    fn value(
        &self,
        uid: Option<&str>,
        element: &Named,
        holds: impl Fn(Option<&String>) -> Result<bool>,
    ) -> Result<PredicateVerdict> {
        self.judge_each(uid, element, |view, node| {
            refuse_private(view, node)?;
            let actual = view.tree()[node].value.as_ref();
            let observed = Fact::object([("actual", actual.map_or(Fact::Null, |text| text.as_str().into()))]);
            Ok(PredicateVerdict::new(holds(actual)?, observed))
        })
    }

    fn element_state(
        &self,
        uid: Option<&str>,
        element: &Named,
        states: &[(&'static str, bool)],
    ) -> Result<PredicateVerdict> {
        self.judge_each(uid, element, |view, node| {
            let state = |name: &'static str| state_of(view.tree(), node, name);
            let holds = states.iter().all(|(name, wanted)| state(name) == Some(*wanted));
            let observed = states.iter().map(|(name, _)| (*name, state(name).map_or(Fact::Null, Fact::from)));
            Ok(PredicateVerdict::new(holds, Fact::Object(observed.collect())))
        })
    }

    /// What holds of one element. Of several that match, where it does not hold of all alike, the one that shows alone is
    /// meant; otherwise nobody knows which.
    fn judge_each(
        &self,
        uid: Option<&str>,
        element: &Named,
        judge: impl Fn(&View, usize) -> Result<PredicateVerdict>,
    ) -> Result<PredicateVerdict> {
        let (view, nodes) = self.find_elements(uid, element)?;
        if let [only] = nodes.as_slice() {
            return judge(&view, *only);
        }
        let judged = nodes.iter().take(MOST_JUDGED).map(|&node| judge(&view, node));
        let mut verdicts: Vec<PredicateVerdict> =
            judged.map(|verdict| verdict.unwrap_or_else(PredicateVerdict::not_evaluated)).collect();
        let shows = |at: &usize| state_of(view.tree(), nodes[*at], "visible") == Some(true);
        let shown: Vec<usize> = (0..verdicts.len()).filter(shows).collect();
        let is_like = |one: &PredicateVerdict, other: &PredicateVerdict| {
            one.passed == other.passed && one.error.is_some() == other.error.is_some()
        };
        let agree = nodes.len() <= MOST_JUDGED && verdicts.windows(2).all(|pair| is_like(&pair[0], &pair[1]));
        let meant = match shown.as_slice() {
            _ if agree => Some(0),
            [only] if nodes.len() <= MOST_JUDGED => Some(*only),
            _ => None,
        };
        let candidates = nodes.iter().take(MOST_CANDIDATES).map(|&node| derive(view.tree(), node).into());
        let (matches, candidates) = (nodes.len(), Fact::List(candidates.collect()));
        Ok(match meant {
            Some(at) => {
                let verdict = verdicts.swap_remove(at);
                let observed = verdict.observed.with("matches", matches).with("candidates", candidates);
                PredicateVerdict { observed, ..verdict }
            }
            None => PredicateVerdict {
                passed: false,
                observed: Fact::object([("matches", matches.into()), ("candidates", candidates)]),
                error: Some(Kind::Ambiguous),
            },
        })
    }

    /// Also a number that is shown elsewhere than as text, and an option that is chosen in a list.
    fn value_reads(&self, uid: Option<&str>, element: &Named, expected: &str) -> Result<PredicateVerdict> {
        let (view, nodes) = self.find_elements(uid, element)?;
        let node = nodes.first().copied().unwrap_or_default();
        let tree = view.tree();
        refuse_private(&view, node)?;
        let is_chosen = |&child: &usize| tree[child].selected == Some(true) && tree[child].name == expected;
        let number = tree[node].range.now.map(|now| now.to_string());
        let own = tree[node].value.clone().filter(|value| !value.is_empty());
        let Some(actual) = own.or(number).or_else(|| tree[node].editable.then(String::new)) else {
            let chosen = (node..tree.end(node)).find(is_chosen);
            let unread = || Error::new(Kind::PredicateUnsupported, "it tells no value");
            return chosen.map(|_| PredicateVerdict::new(true, expected)).ok_or_else(unread);
        };
        Ok(PredicateVerdict::new(reads_as(&actual, expected), actual))
    }

    /// The elements that a claim is about, at least one; that none is there says which step broke and what is near.
    fn find_elements(&self, uid: Option<&str>, element: &Named) -> Result<(Arc<View>, Vec<usize>)> {
        let selector = match element {
            Named::Selector(selector) => selector,
            Named::Ref(reference) => {
                let gone = || Error::new(Kind::ElementNotFound, format!("{reference} no longer exists"));
                return self.node_of(*reference)?.map(|(view, node)| (view, vec![node])).ok_or_else(gone);
            }
        };
        let view = self.view_of(uid)?;
        let found = selector.resolve(view.tree(), usize::MAX)?;
        if !found.is_empty() {
            return Ok((view, found));
        }
        let why = selector.explain_miss(view.tree()).map_or(String::new(), |miss| {
            let nearest = miss.nearest.first().map(|near| element_label(&view.tree()[near.node]));
            format!("; {miss}{}", nearest.map_or(String::new(), |nearest| format!("; nearest is {nearest}")))
        });
        Err(Error::new(Kind::ElementNotFound, format!("no element matches '{selector}'{why}")))
    }

    /// The text in the tree of a window and, where it is not there, in its pixels.
    pub(super) fn text_visible(
        &self,
        uid: Option<&str>,
        pattern: &Pattern,
        source: TextSource,
    ) -> Result<PredicateVerdict> {
        let chosen = self.chosen(uid)?;
        if source != TextSource::Ocr {
            let view = self.view(&chosen)?;
            self.note_dark(&view);
            if let Some(node) = find_text(view.tree(), pattern)? {
                let observed = [("source", "tree".into()), ("element_id", view.tree().id(node).into())];
                return Ok(PredicateVerdict::new(true, Fact::object(observed)));
            }
            if source == TextSource::Tree
                || (source == TextSource::Auto && is_page_in_elements(&chosen, &view))
            {
                return Ok(PredicateVerdict::new(false, "no element's name or value contains this text"));
            }
        }
        match self.pixel_text(&chosen) {
            Ok(text) if pattern.is_in_any(text.lines().chain([&*text]))? => {
                Ok(PredicateVerdict::new(true, Fact::object([("source", "ocr".into())])))
            }
            Ok(_) if source == TextSource::Ocr => {
                Ok(PredicateVerdict::new(false, "the screenshot does not contain this text"))
            }
            Ok(_) => {
                Ok(PredicateVerdict::new(false, "neither the tree nor the screenshot contains this text"))
            }
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            Err(error) if source == TextSource::Auto => {
                let observed = format!(
                    "no element's name or value contains this text, and the screenshot was not read: {}",
                    error.message
                );
                Ok(PredicateVerdict::new(false, observed))
            }
            Err(error) if error.kind == Kind::PlatformUnsupported => {
                Err(Error::new(Kind::PredicateUnsupported, error.message))
            }
            Err(error) => Err(error),
        }
    }

    fn window_focused(&self, uid: Option<&str>, title: Option<&Pattern>) -> Result<PredicateVerdict> {
        let focused = self.windows()?.into_iter().find(|window| window.focused);
        Ok(match focused {
            Some(window) => PredicateVerdict::new(is_meant(&window, uid, title)?, window_fact(&window)),
            None => PredicateVerdict::new(false, "no window has the focus"),
        })
    }

    fn window_exists(&self, uid: Option<&str>, title: Option<&Pattern>) -> Result<PredicateVerdict> {
        let windows = self.windows()?;
        let found = find_window(&windows, |window| is_meant(window, uid, title))?;
        Ok(match found {
            Some(window) => PredicateVerdict::new(true, window_fact(window)),
            None => PredicateVerdict::new(false, format!("none of the {} windows matches", windows.len())),
        })
    }

    fn tree_hash_equals(&self, uid: Option<&str>, expected: &str) -> Result<PredicateVerdict> {
        let view = self.view_of(uid)?;
        Ok(PredicateVerdict::new(view.hash() == expected, Fact::object([("actual", view.hash().into())])))
    }

    fn screenshot_similar(
        &self,
        uid: Option<&str>,
        reference: &Below,
        least: f64,
    ) -> Result<PredicateVerdict> {
        similar_to_file(&self.picture(&self.chosen(uid)?)?.picture, reference, least)
    }

    /// Oracles hold plain predicates only, so this goes one level deep.
    fn evaluate_oracle(&self, every: bool, predicates: &[WindowPredicate]) -> Result<PredicateVerdict> {
        let verdicts: Vec<PredicateVerdict> =
            predicates.iter().map(|predicate| self.evaluate_predicate(predicate)).collect::<Result<_>>()?;
        let held = verdicts.iter().filter(|verdict| verdict.passed).count();
        let passed = if every { held == verdicts.len() } else { held > 0 };
        let each = verdicts
            .into_iter()
            .map(|verdict| Fact::object([("passed", verdict.passed.into()), ("observed", verdict.observed)]));
        let observed = [("held", held.into()), ("each", Fact::List(each.collect()))];
        Ok(PredicateVerdict::new(passed, Fact::object(observed)))
    }
}

/// Of more elements that match one selector it is not asked whether they are alike.
const MOST_JUDGED: usize = 200;
/// So many of them are named.
const MOST_CANDIDATES: usize = 3;

/// Nothing is said about a value that is not shown: that it does not hold would be a word about its content.
fn refuse_private(view: &View, node: usize) -> Result<()> {
    if !view.hides_value(node) {
        return Ok(());
    }
    let message = "this field is secret: its value is not shown and cannot be compared";
    Err(Error::new(Kind::PredicateUnsupported, message))
}

/// Whether a value is what was put in: numbers may be written otherwise, and long texts are read in part.
fn reads_as(actual: &str, expected: &str) -> bool {
    let plain = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
    let (actual, expected) = (plain(actual), plain(expected));
    let number = |text: &str| text.replace([',', ' '], "").parse::<f64>().ok();
    let is_cut = actual.len() + LONGEST_LETTER > TREE_TEXT_BYTES;
    actual == expected
        || (is_cut && expected.starts_with(&actual))
        || number(&actual).is_some_and(|actual| number(&expected) == Some(actual))
}

/// In bytes: a cut may fall short of the limit by as much.
const LONGEST_LETTER: usize = 4;

/// A page of this many named elements shows its text in them; reading its pixels takes seconds and finds no more.
const ELEMENTS_OF_A_PAGE: usize = 5;

fn is_page_in_elements(chosen: &ResolvedWindow, view: &View) -> bool {
    chosen.raw.url.is_some() && view.named_count() >= ELEMENTS_OF_A_PAGE
}

fn is_meant(window: &Window, uid: Option<&str>, title: Option<&Pattern>) -> Result<bool> {
    let named = title.map_or(Ok(true), |title| title.is_match(&window.title))?;
    Ok(named && uid.is_none_or(|uid| window.uid == uid))
}

pub(super) fn read_reference(place: &Below) -> Result<Vec<u8>> {
    place.read(REFERENCE_PICTURE_BYTES).map_err(|problem| {
        Error::bad_request(match problem {
            ReadFailure::NoFile => "the reference is not a regular file".to_owned(),
            ReadFailure::TooLong(_) => {
                format!("the reference is larger than {REFERENCE_PICTURE_BYTES} bytes")
            }
            ReadFailure::Failed(problem) => format!("the reference cannot be read: {problem}"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(actual: &str, expected: &str, reads: bool) {
        assert_eq!(reads_as(actual, expected), reads, "{actual} {expected}");
    }

    #[test]
    fn a_value_is_read_back_as_its_application_writes_it() {
        check("alice", "alice", true);
        check("alice ", "alice", true);
        check("a\nb", "a\r\nb", true);
        check("3", "03", true);
        check("1,000.50", "1000.5", true);
        check("alic", "alice", false);
        check("/", "/in.txt", false);
        check("02/02/0004", "2024-02-02", false);
        check("", "alice", false);
        check(&"x".repeat(TREE_TEXT_BYTES), &"x".repeat(TREE_TEXT_BYTES + 9), true);
    }
}
