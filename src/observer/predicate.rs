//! Claims about the desktop, and whether they hold: what `assert_state` asks and `wait_for` waits for.
//!
//! A claim that cannot be judged does not hold, and says why; only a cancelled call fails. What is
//! observed comes from what may be shown, so that no claim can be used to feel for hidden text.

use std::sync::Arc;

use regex::Regex;

use super::evaluation::{Evaluation, find_text, window_fact};
use super::identity::Sight;
use super::vision::{Reference, similar_to_file};
use super::{Ref, View};
use crate::config::limits::REFERENCE_PICTURE_BYTES;
use crate::error::{Error, Fact, Kind, Result};
use crate::files::{Below, Unread};
use crate::model::selector::derive;
use crate::model::{Point, Rect, Selector, Tree, Window};

#[derive(Clone, Debug)]
pub struct Predicate {
    /// The window that is meant; otherwise the focused one.
    pub window_uid: Option<String>,
    pub claim: Claim,
}

#[derive(Clone, Debug)]
pub enum Claim {
    ElementExists(Named),
    ElementAbsent(Named),
    ValueEquals {
        element: Named,
        expected: String,
    },
    ValueMatches {
        element: Named,
        pattern: Regex,
    },
    TextVisible {
        pattern: Regex,
        source: TextSource,
    },
    WindowFocused {
        title: Option<Regex>,
    },
    WindowExists {
        title: Option<Regex>,
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
        reference: Reference,
        least: f64,
    },
    /// All of the predicates, or at least one.
    Oracle {
        every: bool,
        predicates: Vec<Predicate>,
    },
}

impl Claim {
    /// Whether it is about pixels: nobody tells when those change.
    pub fn is_visual(&self) -> bool {
        match self {
            Claim::ScreenshotSimilar { .. } | Claim::PixelColor { .. } | Claim::RegionSimilar { .. } => true,
            Claim::Oracle { predicates, .. } => {
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
pub struct Verdict {
    pub passed: bool,
    pub observed: Fact,
    /// Why the claim could not be judged.
    pub error: Option<Kind>,
}

impl Verdict {
    pub(super) fn new(passed: bool, observed: impl Into<Fact>) -> Self {
        Self { passed, observed: observed.into(), error: None }
    }

    /// What is said of a claim that could not be judged.
    pub fn unjudged(error: Error) -> Self {
        Self { passed: false, observed: error.message.into(), error: Some(error.kind) }
    }
}

impl Evaluation<'_> {
    /// Fails only when the call was cancelled.
    pub fn verdict(&self, predicate: &Predicate) -> Result<Verdict> {
        match self.judge(predicate) {
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            Err(error) => Ok(Verdict::unjudged(error)),
            Ok(verdict) => Ok(verdict),
        }
    }

    fn judge(&self, predicate: &Predicate) -> Result<Verdict> {
        let uid = predicate.window_uid.as_deref();
        match &predicate.claim {
            Claim::ElementExists(element) => self.element_exists(uid, element),
            Claim::ElementAbsent(element) => self.element_absent(uid, element),
            Claim::ValueEquals { element, expected } => {
                self.value(uid, element, |actual| actual == Some(expected))
            }
            Claim::ValueMatches { element, pattern } => {
                self.value(uid, element, |actual| actual.is_some_and(|text| pattern.is_match(text)))
            }
            Claim::TextVisible { pattern, source } => self.text_visible(uid, pattern, *source),
            Claim::WindowFocused { title } => self.window_focused(uid, title.as_ref()),
            Claim::WindowExists { title } => self.window_exists(uid, title.as_ref()),
            Claim::TreeHashEquals(expected) => self.tree_hash_equals(uid, expected),
            Claim::ScreenshotSimilar { reference, least } => self.screenshot_similar(uid, reference, *least),
            Claim::PixelColor { at, color, tolerance } => self.pixel_color(uid, *at, *color, *tolerance),
            Claim::RegionSimilar { region, reference, least } => {
                self.region_similar(uid, *region, reference, *least)
            }
            Claim::Oracle { every, predicates } => self.oracle(*every, predicates),
        }
    }

    fn element_exists(&self, uid: Option<&str>, element: &Named) -> Result<Verdict> {
        let exists = |count: usize, tree: &Tree, node: usize| {
            Verdict::new(true, Fact::object([("count", count.into()), ("first_id", tree.id(node).into())]))
        };
        let none = [("count", 0.into()), ("first_id", Fact::Null)];
        let selector = match element {
            Named::Selector(selector) => selector,
            Named::Ref(reference) => {
                return Ok(match self.node_of(*reference)? {
                    Some((view, node)) => exists(1, view.tree(), node),
                    None => Verdict::new(false, Fact::object(none)),
                });
            }
        };
        let chosen = self.chosen(uid)?;
        let view = self.view(&chosen)?;
        let found = selector.find(view.tree(), 1);
        Ok(match found.nodes.first() {
            Some(first) => exists(found.total, view.tree(), *first),
            None => {
                // A wait judges again and again and shows the last; a ref is not given before it is shown.
                let sight = Sight { window: &chosen.raw, view: &view };
                let refs = |node| self.observer.refs().peek(sight, node);
                let observed = none.into_iter().chain(self.miss_facts(selector, &view, refs)).collect();
                Verdict::new(false, Fact::Object(observed))
            }
        })
    }

    fn element_absent(&self, uid: Option<&str>, element: &Named) -> Result<Verdict> {
        let count = match element {
            Named::Selector(selector) => selector.find(self.view_of(uid)?.tree(), 1).total,
            Named::Ref(reference) => usize::from(self.node_of(*reference)?.is_some()),
        };
        Ok(Verdict::new(count == 0, Fact::object([("count", count.into())])))
    }

    fn value(
        &self,
        uid: Option<&str>,
        element: &Named,
        holds: impl FnOnce(Option<&String>) -> bool,
    ) -> Result<Verdict> {
        let (view, node) = self.sought(uid, element)?;
        let actual = view.tree()[node].value.as_ref();
        let observed = Fact::object([("actual", actual.map_or(Fact::Null, |text| text.as_str().into()))]);
        Ok(Verdict::new(holds(actual), observed))
    }

    /// The element that a claim is about; that it is not there says which step broke and what is near.
    fn sought(&self, uid: Option<&str>, element: &Named) -> Result<(Arc<View>, usize)> {
        let selector = match element {
            Named::Selector(selector) => selector,
            Named::Ref(reference) => {
                let gone = || Error::new(Kind::ElementNotFound, format!("{reference} is not there any more"));
                return self.node_of(*reference)?.ok_or_else(gone);
            }
        };
        let view = self.view_of(uid)?;
        if let Some(&first) = selector.resolve(view.tree(), 1).first() {
            return Ok((view, first));
        }
        let why = selector.explain_miss(view.tree()).map_or(String::new(), |miss| {
            let nearest = miss.nearest.first().map(|near| derive(view.tree(), near.node));
            format!("; {miss}{}", nearest.map_or(String::new(), |nearest| format!("; nearest is {nearest}")))
        });
        Err(Error::new(Kind::ElementNotFound, format!("no element matches '{selector}'{why}")))
    }

    fn text_visible(&self, uid: Option<&str>, pattern: &Regex, source: TextSource) -> Result<Verdict> {
        let chosen = self.chosen(uid)?;
        if source != TextSource::Ocr {
            let view = self.view(&chosen)?;
            if let Some(node) = find_text(view.tree(), pattern) {
                let observed = [("source", "tree".into()), ("element_id", view.tree().id(node).into())];
                return Ok(Verdict::new(true, Fact::object(observed)));
            }
            if source == TextSource::Tree {
                return Ok(Verdict::new(false, "no element's name or value has this text"));
            }
        }
        match self.observer.ocr_text(&chosen, self.cancel) {
            Ok(text) if pattern.is_match(&text) => {
                Ok(Verdict::new(true, Fact::object([("source", "ocr".into())])))
            }
            Ok(_) if source == TextSource::Ocr => {
                Ok(Verdict::new(false, "the picture does not have this text"))
            }
            Ok(_) => Ok(Verdict::new(false, "neither the tree nor the picture has this text")),
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            Err(error) if source == TextSource::Auto => {
                let observed = format!("no element's name or value has this text; {}", error.message);
                Ok(Verdict::new(false, observed))
            }
            Err(error) if error.kind == Kind::PlatformUnsupported => {
                Err(Error::new(Kind::PredicateUnsupported, error.message))
            }
            Err(error) => Err(error),
        }
    }

    fn window_focused(&self, uid: Option<&str>, title: Option<&Regex>) -> Result<Verdict> {
        let focused = self.windows()?.into_iter().find(|window| window.focused);
        Ok(match focused {
            Some(window) => Verdict::new(is_meant(&window, uid, title), window_fact(&window)),
            None => Verdict::new(false, "no window has the focus"),
        })
    }

    fn window_exists(&self, uid: Option<&str>, title: Option<&Regex>) -> Result<Verdict> {
        let windows = self.windows()?;
        let found = windows.iter().find(|window| is_meant(window, uid, title));
        Ok(match found {
            Some(window) => Verdict::new(true, window_fact(window)),
            None => Verdict::new(false, format!("none of the {} windows is meant", windows.len())),
        })
    }

    fn tree_hash_equals(&self, uid: Option<&str>, expected: &str) -> Result<Verdict> {
        let view = self.view_of(uid)?;
        Ok(Verdict::new(view.hash() == expected, Fact::object([("actual", view.hash().into())])))
    }

    fn screenshot_similar(&self, uid: Option<&str>, reference: &Below, least: f64) -> Result<Verdict> {
        similar_to_file(&self.picture(&self.chosen(uid)?)?.picture, reference, least)
    }

    /// Oracles hold plain predicates only, so this goes one level deep.
    fn oracle(&self, every: bool, predicates: &[Predicate]) -> Result<Verdict> {
        let verdicts: Vec<Verdict> =
            predicates.iter().map(|predicate| self.verdict(predicate)).collect::<Result<_>>()?;
        let held = verdicts.iter().filter(|verdict| verdict.passed).count();
        let passed = if every { held == verdicts.len() } else { held > 0 };
        let each = verdicts
            .into_iter()
            .map(|verdict| Fact::object([("passed", verdict.passed.into()), ("observed", verdict.observed)]));
        let observed = [("held", held.into()), ("each", Fact::List(each.collect()))];
        Ok(Verdict::new(passed, Fact::object(observed)))
    }
}

fn is_meant(window: &Window, uid: Option<&str>, title: Option<&Regex>) -> bool {
    uid.is_none_or(|uid| window.uid == uid) && title.is_none_or(|title| title.is_match(&window.title))
}

pub(super) fn read_reference(place: &Below) -> Result<Vec<u8>> {
    place.read(REFERENCE_PICTURE_BYTES).map_err(|problem| {
        Error::bad_request(match problem {
            Unread::NoFile => "the reference is no regular file".to_owned(),
            Unread::TooLong(_) => {
                format!("the reference has more than the {REFERENCE_PICTURE_BYTES} bytes that are read")
            }
            Unread::Failed(problem) => format!("the reference cannot be read: {problem}"),
        })
    })
}
