//! One evaluation of conditions or claims, on one look at the desktop: windows are listed once and every tree is read
//! once, so that all answers are about the same moment and 64 conditions cost as much as one.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::identity::{RefLookup, WindowCapture};
use super::resolve::near_fact;
use super::text::shorten_text;
use super::{DesktopState, Observer, Ref, ResolvedWindow, View, WindowChoice};
use crate::clock::Cancel;
use crate::config::limits;
use crate::error::{Fact, Kind, Result};
use crate::model::{Selector, Tree, Window};
use crate::pattern::{Effort, Pattern};
use crate::platform::Shot;

/// What a reading gets at the end of a wait: less would see nothing of a window without elements.
const SHORTEST_READING: Duration = Duration::from_millis(300);

pub struct Evaluation<'a> {
    pub(super) observer: &'a Observer,
    pub(super) cancel: &'a Cancel,
    /// How long reading one window may take.
    patience: Duration,
    /// The window that is meant where nothing else is said.
    window: WindowChoice,
    /// Not before a condition wants it: some look at pixels alone.
    desktop: OnceCell<Result<Arc<DesktopState>>>,
    /// What was read in the pictures of windows, by their uid.
    read: RefCell<HashMap<String, Result<Arc<str>>>>,
    /// Until when pixels may be read; without it, as long as that takes.
    pixels_until: Option<Duration>,
    /// Something was read that nobody tells the changes of: a window without elements.
    read_dark: Cell<bool>,
}

impl Observer {
    /// An evaluation in which the focused window is meant unless another is named.
    pub fn evaluation<'a>(&'a self, cancel: &'a Cancel) -> Evaluation<'a> {
        self.evaluation_within(limits::TREE_WALK_TIME, WindowChoice::default(), cancel)
    }

    pub(super) fn evaluation_within<'a>(
        &'a self,
        patience: Duration,
        window: WindowChoice,
        cancel: &'a Cancel,
    ) -> Evaluation<'a> {
        Evaluation {
            observer: self,
            cancel,
            patience,
            window,
            desktop: OnceCell::new(),
            read: RefCell::default(),
            pixels_until: None,
            read_dark: Cell::new(false),
        }
    }
}

impl Evaluation<'_> {
    /// Pixels are read until then.
    pub(super) fn with_pixels_until(self, deadline: Duration) -> Self {
        Self { pixels_until: Some(deadline), ..self }
    }

    pub(super) fn desktop(&self) -> Result<&Arc<DesktopState>> {
        self.desktop.get_or_init(|| self.observer.desktop()).as_ref().map_err(Clone::clone)
    }

    /// All windows, with the titles that may be shown.
    pub(super) fn windows(&self) -> Result<Vec<Window>> {
        Ok(self.observer.shown_windows(self.desktop()?))
    }

    /// The window of this uid, or the one that is meant where none is named.
    pub(super) fn chosen(&self, uid: Option<&str>) -> Result<ResolvedWindow> {
        let choice = match uid {
            Some(uid) => WindowChoice { uid: Some(uid.to_owned()), ..WindowChoice::default() },
            None => self.window.clone(),
        };
        self.observer.choose_in(self.desktop()?, &choice)
    }

    pub(super) fn view(&self, chosen: &ResolvedWindow) -> Result<Arc<View>> {
        self.observer.view_in_look_within(self.patience, chosen, self.cancel)
    }

    pub(super) fn view_of(&self, uid: Option<&str>) -> Result<Arc<View>> {
        self.view(&self.chosen(uid)?)
    }

    /// Where the element of a ref is at this evaluation, by whatever name.
    pub fn node_of(&self, reference: Ref) -> Result<Option<(Arc<View>, usize)>> {
        let memory = self.observer.recall_ref(reference)?;
        let chosen = match self.chosen(Some(memory.window_uid())) {
            Err(error) if error.kind == Kind::WindowGone => return Ok(None),
            chosen => chosen?,
        };
        if !memory.is_in(&chosen.raw) {
            return Ok(None);
        }
        let view = self.view(&chosen)?;
        let found =
            self.observer.refs().find_again(&memory, WindowCapture { window: &chosen.raw, view: &view });
        Ok(match found {
            RefLookup::Same(node) | RefLookup::Again(node, _) | RefLookup::Changed(node) => {
                Some((view, node))
            }
            RefLookup::Lost => None,
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

    /// The text that can be read in the picture of a window, read once.
    pub(super) fn pixel_text(&self, chosen: &ResolvedWindow) -> Result<Arc<str>> {
        if let Some(read) = self.read.borrow().get(&chosen.raw.uid) {
            return read.clone();
        }
        let read = self.read_in_time(chosen).map(Arc::from);
        self.read.borrow_mut().insert(chosen.raw.uid.clone(), read.clone());
        read
    }

    fn read_in_time(&self, chosen: &ResolvedWindow) -> Result<String> {
        let Some(until) = self.pixels_until else {
            return self.observer.ocr_text(chosen, self.cancel);
        };
        let left = until.saturating_sub(self.observer.clock.now());
        self.observer.ocr_text_within(left.max(SHORTEST_READING), chosen, self.cancel)
    }

    /// Whether pixels were read, during which the trees may have changed.
    pub(super) fn has_read_pixels(&self) -> bool {
        !self.read.borrow().is_empty()
    }

    pub(super) fn note_dark(&self, view: &View) {
        self.read_dark.set(self.read_dark.get() || view.is_dark());
    }

    /// Whether looking again is worth while although nothing is told to have changed.
    pub(super) fn has_read_dark(&self) -> bool {
        self.read_dark.get()
    }

    pub(super) fn picture(&self, chosen: &ResolvedWindow) -> Result<Shot> {
        self.observer.window_picture(chosen, self.cancel)
    }
}

/// The words by which an element's text is searched: its name and its value.
pub(super) fn find_text(tree: &Tree, pattern: &Pattern) -> Result<Option<usize>> {
    let (mut words, effort) = (String::new(), Effort::for_many_texts());
    for (node, element) in tree.elements().iter().enumerate() {
        words.clear();
        words.push_str(&element.name);
        if let Some(value) = element.value.as_deref().filter(|value| !value.is_empty()) {
            words.push(' ');
            words.push_str(value);
        }
        if pattern.is_match_within(&words, &effort)? {
            return Ok(Some(node));
        }
    }
    Ok(None)
}

/// The first window that fits, as far as that can be told.
pub(super) fn find_window(
    windows: &[Window],
    fits: impl Fn(&Window) -> Result<bool>,
) -> Result<Option<&Window>> {
    for window in windows {
        if fits(window)? {
            return Ok(Some(window));
        }
    }
    Ok(None)
}

pub(super) fn window_fact(window: &Window) -> Fact {
    Fact::object([
        ("window_uid", window.uid.as_str().into()),
        ("title", shorten_text(&window.title, 200, 199).into()),
    ])
}
