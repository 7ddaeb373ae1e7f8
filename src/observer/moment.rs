//! One look at the desktop that several questions share: windows are listed once and every tree is read
//! once, so that all answers are about the same moment and 64 conditions cost as much as one.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::identity::{Found, Sight};
use super::resolve::near_fact;
use super::text::shorten;
use super::{Chosen, Observer, Ref, View, WindowChoice};
use crate::clock::Cancel;
use crate::config::limits;
use crate::error::{Fact, Kind, Result};
use crate::model::{Selector, Tree, Window};
use crate::platform::Shot;

pub struct Moment<'a> {
    pub(super) observer: &'a Observer,
    pub(super) cancel: &'a Cancel,
    /// How long reading one window may take.
    patience: Duration,
    /// The window that is meant where nothing else is said.
    window: WindowChoice,
    windows: OnceCell<Result<Vec<Window>>>,
    views: RefCell<HashMap<String, Result<Arc<View>>>>,
}

impl Observer {
    /// A moment in which the focused window is meant unless another is named.
    pub fn moment<'a>(&'a self, cancel: &'a Cancel) -> Moment<'a> {
        self.moment_within(limits::TREE_WALK_TIME, WindowChoice::default(), cancel)
    }

    pub(super) fn moment_within<'a>(
        &'a self,
        patience: Duration,
        window: WindowChoice,
        cancel: &'a Cancel,
    ) -> Moment<'a> {
        let (windows, views) = (OnceCell::new(), RefCell::default());
        Moment { observer: self, cancel, patience, window, windows, views }
    }
}

impl Moment<'_> {
    fn raw_windows(&self) -> Result<&[Window]> {
        let windows = self.windows.get_or_init(|| self.observer.platform.desktop().windows());
        windows.as_deref().map_err(Clone::clone)
    }

    /// All windows, with the titles that may be shown.
    pub(super) fn windows(&self) -> Result<Vec<Window>> {
        Ok(self.raw_windows()?.iter().map(|window| self.observer.shown_window(window.clone())).collect())
    }

    /// The window of this uid, or the one that is meant where none is named.
    pub(super) fn chosen(&self, uid: Option<&str>) -> Result<Chosen> {
        let choice = match uid {
            Some(uid) => WindowChoice { uid: Some(uid.to_owned()), ..WindowChoice::default() },
            None => self.window.clone(),
        };
        self.observer.choose_among(self.raw_windows()?.to_vec(), &choice)
    }

    pub(super) fn view(&self, chosen: &Chosen) -> Result<Arc<View>> {
        if let Some(known) = self.views.borrow().get(&chosen.raw.uid) {
            return known.clone();
        }
        let view = self.observer.view_within(self.patience, chosen, self.cancel);
        self.views.borrow_mut().insert(chosen.raw.uid.clone(), view.clone());
        view
    }

    pub(super) fn view_of(&self, uid: Option<&str>) -> Result<Arc<View>> {
        self.view(&self.chosen(uid)?)
    }

    /// Where the element of a ref is at this moment, by whatever name.
    pub(super) fn node_of(&self, reference: Ref) -> Result<Option<(Arc<View>, usize)>> {
        let memory = self.observer.recall(reference)?;
        let chosen = match self.chosen(Some(memory.window_uid())) {
            Err(error) if error.kind == Kind::WindowGone => return Ok(None),
            chosen => chosen?,
        };
        let view = self.view(&chosen)?;
        let found = self.observer.refs().find(&memory, Sight { window: &chosen.raw, view: &view });
        Ok(match found {
            Found::Same(node) | Found::Again(node, _) | Found::Changed(node) => Some((view, node)),
            Found::Lost => None,
        })
    }

    /// Why a selector matches nothing, and what is near. `refs` tells what an element that is near is called.
    pub(super) fn miss_facts(
        &self,
        selector: &Selector,
        view: &View,
        refs: impl Fn(usize) -> Option<Ref>,
    ) -> [(&'static str, Fact); 2] {
        let Some(miss) = selector.explain_miss(view.tree()) else {
            return [("miss", Fact::Null), ("nearest", Fact::List(Vec::new()))];
        };
        let near = miss.nearest.iter().map(|near| {
            let fact = near_fact(near, view.tree());
            match refs(near.node) {
                Some(reference) => fact.with("ref", reference.to_string()),
                None => fact,
            }
        });
        [("miss", miss.to_string().into()), ("nearest", Fact::List(near.collect()))]
    }

    pub(super) fn picture(&self, chosen: &Chosen) -> Result<Shot> {
        self.observer.window_picture(chosen, self.cancel)
    }
}

/// The words by which an element's text is searched: its name and its value.
pub(super) fn find_text(tree: &Tree, pattern: &regex::Regex) -> Option<usize> {
    let mut words = String::new();
    tree.elements().iter().position(|element| {
        words.clear();
        words.push_str(&element.name);
        if let Some(value) = element.value.as_deref().filter(|value| !value.is_empty()) {
            words.push(' ');
            words.push_str(value);
        }
        pattern.is_match(&words)
    })
}

pub(super) fn window_fact(window: &Window) -> Fact {
    Fact::object([
        ("window_uid", window.uid.as_str().into()),
        ("title", shorten(&window.title, 200, 199).into()),
    ])
}
