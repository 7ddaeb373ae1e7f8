//! Which window and which element a caller means. Every tool asks here and fails with the same diagnosis.

use std::sync::Arc;

use crate::clock::Cancel;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::selector::{Near, Selector, derive};
use crate::model::{Tree, Window};
use crate::tool::Target;

use super::{Observer, View};

const MOST_MATCHES: usize = 10;

/// A window as the caller names it. A uid beats an index, an index beats a title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowChoice {
    pub uid: Option<String>,
    pub index: Option<usize>,
    pub title: Option<String>,
}

impl WindowChoice {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// An element as the caller names it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementChoice {
    pub selector: Option<String>,
    pub element_id: Option<String>,
}

/// A window that was found.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The window with the title that may be shown.
    pub window: Window,
    /// The window as it is.
    pub(super) raw: Window,
    /// What the caller should know about the choice, and about its bounds.
    pub warning: Option<String>,
    /// What was named is not there, and the focused window stands for it.
    guessed: bool,
}

impl Chosen {
    /// For the gate's rules only: a redacted title must not decide about a rule.
    pub fn unredacted_title(&self) -> &str {
        &self.raw.title
    }
}

impl Observer {
    pub(super) fn chosen(&self, raw: Window, warning: Option<String>) -> Chosen {
        let said = [warning, self.note_on_bounds()];
        let warning = said.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
        Chosen { window: self.shown_window(raw.clone()), raw, warning, guessed: false }
    }

    /// The window that is meant; without a word about it, the focused one.
    pub fn choose(&self, choice: &WindowChoice) -> Result<Chosen> {
        self.choose_among(self.platform.windows()?, choice)
    }

    /// Like `choose`, among windows that were listed before.
    pub(super) fn choose_among(&self, windows: Vec<Window>, choice: &WindowChoice) -> Result<Chosen> {
        if let Some(uid) = &choice.uid {
            let warning =
                choice.index.map(|_| "both window_index and window_uid given; window_uid used".to_owned());
            return match windows.iter().find(|window| window.uid == *uid) {
                Some(window) => Ok(self.chosen(window.clone(), warning)),
                None => Err(self.gone(format!("no window has the uid '{uid}' (any more)"), &windows)),
            };
        }
        if let Some(index) = choice.index {
            return match windows.get(index) {
                Some(window) => Ok(self.chosen(window.clone(), None)),
                None => {
                    let warning = format!("there is no window_index {index}; the focused window was used");
                    let chosen = self.focused(windows, Some(warning))?;
                    Ok(Chosen { guessed: true, ..chosen })
                }
            };
        }
        match &choice.title {
            Some(title) => self.by_title(title, &windows),
            None => self.focused(windows, None),
        }
    }

    /// The window that is meant, where guessing would be wrong: nothing named, or not found, is an error.
    pub fn choose_strictly(&self, choice: &WindowChoice) -> Result<Chosen> {
        if choice.is_empty() {
            return Err(Error::bad_request("window_uid or window_index is required"));
        }
        let chosen = self.choose(choice)?;
        match (&choice.uid, choice.index) {
            (None, Some(index)) if chosen.guessed => {
                Err(Error::bad_request(format!("there is no window_index {index}"))
                    .with("field", "window_index"))
            }
            _ => Ok(chosen),
        }
    }

    fn focused(&self, mut windows: Vec<Window>, warning: Option<String>) -> Result<Chosen> {
        if windows.is_empty() {
            return Err(Error::new(Kind::WindowGone, "there are no windows"));
        }
        let index = windows.iter().position(|window| window.focused).unwrap_or(0);
        Ok(self.chosen(windows.swap_remove(index), warning))
    }

    fn by_title(&self, title: &str, windows: &[Window]) -> Result<Chosen> {
        let wanted = title.to_lowercase();
        let matches = |window: &&Window| self.redactor.title(&window.title).to_lowercase().contains(&wanted);
        match windows.iter().find(matches) {
            Some(window) => Ok(self.chosen(window.clone(), None)),
            None => Err(self.gone(format!("no window title contains '{title}'"), windows)),
        }
    }

    fn gone(&self, message: String, windows: &[Window]) -> Error {
        let known: Vec<Fact> = windows
            .iter()
            .take(10)
            .map(|window| {
                Fact::object([
                    ("window_uid", window.uid.as_str().into()),
                    ("title", self.redactor.title(&window.title).into_owned().into()),
                ])
            })
            .collect();
        Error::new(Kind::WindowGone, message).with("windows", Fact::List(known))
    }

    /// Every match of a selector in document order, at most ten, and never none.
    pub fn find_all(
        &self,
        chosen: &Chosen,
        selector: &str,
        cancel: &Cancel,
    ) -> Result<(Arc<View>, String, Vec<usize>)> {
        let view = self.look(chosen, cancel)?.view;
        // An id is answered with the selector that stands for it: people have ids, agents want selectors.
        if let Some(node) = view.tree().find_id(selector) {
            return Ok((view.clone(), view.derived_selector(node), vec![node]));
        }
        let selector = parse_selector(selector)?;
        let matches = selector.resolve(view.tree(), MOST_MATCHES);
        if matches.is_empty() {
            return Err(not_found(&selector, view.tree(), chosen));
        }
        Ok((view, selector.to_string(), matches))
    }

    /// The element that is meant, in a tree read now.
    pub fn find_target(&self, chosen: Chosen, choice: &ElementChoice, cancel: &Cancel) -> Result<Target> {
        let wanted = parse_choice(choice)?;
        let view = self.view(&chosen, cancel)?;
        let (node, selector) = match wanted {
            Wanted::Selector(selector) => {
                (first_match(&selector, view.tree(), &chosen)?, Some(selector.to_string()))
            }
            Wanted::Id(id) => match view.tree().find_id(&id) {
                Some(node) => (node, None),
                None => by_id_as_selector(&id, view.tree(), &chosen)?,
            },
        };
        Ok(Target::element(chosen, view, node, selector))
    }
}

enum Wanted {
    Selector(Selector),
    Id(String),
}

fn parse_choice(choice: &ElementChoice) -> Result<Wanted> {
    match (&choice.selector, &choice.element_id) {
        (Some(text), _) => Ok(Wanted::Selector(parse_selector(text)?)),
        (None, Some(id)) => Ok(Wanted::Id(id.clone())),
        (None, None) => Err(Error::bad_request("either element_id or selector is required")),
    }
}

fn parse_selector(text: &str) -> Result<Selector> {
    Selector::parse(text).map_err(|problem| Error::from(problem).with("field", "selector"))
}

fn first_match(selector: &Selector, tree: &Tree, chosen: &Chosen) -> Result<usize> {
    selector.resolve(tree, 1).first().copied().ok_or_else(|| not_found(selector, tree, chosen))
}

/// An id that is none may still be a selector: models mix the two up.
fn by_id_as_selector(id: &str, tree: &Tree, chosen: &Chosen) -> Result<(usize, Option<String>)> {
    let selector = Selector::parse(id).ok();
    match selector.as_ref().and_then(|selector| selector.resolve(tree, 1).first().copied()) {
        Some(node) => Ok((node, selector.map(|selector| selector.to_string()))),
        None => Err(Error::new(Kind::ElementNotFound, format!("no element has the id '{id}'"))
            .with("element_id", id)
            .with("window_uid", chosen.window.uid.as_str())),
    }
}

/// Says which step broke and what was near, so that the next try can be the right one.
fn not_found(selector: &Selector, tree: &Tree, chosen: &Chosen) -> Error {
    let error = Error::new(Kind::ElementNotFound, format!("no element matches '{selector}'"))
        .with("selector", selector.to_string())
        .with("window_uid", chosen.window.uid.as_str());
    let Some(miss) = selector.explain_miss(tree) else {
        return error;
    };
    let near = miss.nearest.iter().map(|near| near_fact(near, tree)).collect();
    let mut error = error
        .with("broken_step", miss.step_text.as_str())
        .with("matched_before", miss.matched_before)
        .with("nearest", Fact::List(near));
    if !miss.notes.is_empty() {
        error = error.with("notes", miss.notes.clone());
    }
    error.message = format!("{}; {miss}", error.message);
    error
}

pub(super) fn near_fact(near: &Near, tree: &Tree) -> Fact {
    Fact::object([
        ("element_id", tree.id(near.node).into()),
        ("selector", derive(tree, near.node).into()),
        ("why", near.why.as_str().into()),
    ])
}
