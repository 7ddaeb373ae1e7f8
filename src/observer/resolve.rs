//! Which window and which element a caller means. Every tool asks here and fails with the same diagnosis.

use std::sync::Arc;

use crate::clock::Cancel;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::selector::{Near, Selector, derive, state_of};
use crate::model::{Tree, Window};

use super::identity::{RefLookup, RememberedRef, WindowCapture, element_label};
use super::{DesktopState, ElementTarget, Observer, Ref, View};

pub(super) const MOST_MATCHES: usize = 10;
const MOST_CANDIDATES: usize = 5;

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
    /// A ref beats a selector, a selector beats an id.
    pub reference: Option<String>,
    pub selector: Option<String>,
    pub element_id: Option<String>,
}

/// What becomes of a selector that matches several elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeveralMatches {
    /// The first is meant, and the others are named beside it.
    TakeFirst,
    /// Only one that can be seen alone is meant.
    Refuse,
}

/// A window that was found.
#[derive(Clone, Debug)]
pub struct ResolvedWindow {
    /// The window with the title that may be shown.
    pub window: Window,
    /// The window as it is.
    pub(super) raw: Window,
    /// The look that it was chosen in.
    pub(super) desktop: Arc<DesktopState>,
    /// What the caller should know about the choice, and about its bounds.
    pub warning: Option<String>,
    /// What was named is not there, and the focused window stands for it.
    guessed: bool,
}

impl ResolvedWindow {
    /// For the gate's rules only: a redacted title must not decide about a rule.
    pub fn unredacted_title(&self) -> &str {
        &self.raw.title
    }

    /// For the gate's rules only.
    pub fn unredacted_url(&self) -> Option<&str> {
        self.raw.url.as_deref()
    }
}

impl Observer {
    pub(super) fn resolve_raw(
        &self,
        desktop: &Arc<DesktopState>,
        raw: &Window,
        warning: Option<String>,
    ) -> ResolvedWindow {
        let said = [warning, self.note_on_bounds()];
        let warning = said.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
        let (window, raw, desktop) = (self.shown_window(raw.clone()), raw.clone(), desktop.clone());
        ResolvedWindow { window, raw, desktop, warning, guessed: false }
    }

    /// The window that is meant, in a look of its own; without a word about it, the focused one.
    pub fn resolve_window(&self, choice: &WindowChoice) -> Result<ResolvedWindow> {
        self.choose_in(&self.desktop()?, choice)
    }

    /// Like `choose`, in a look that was taken before.
    pub fn choose_in(&self, desktop: &Arc<DesktopState>, choice: &WindowChoice) -> Result<ResolvedWindow> {
        let windows = desktop.windows();
        if let Some(uid) = &choice.uid {
            let warning =
                choice.index.map(|_| "both window_index and window_uid given; window_uid used".to_owned());
            return match windows.iter().find(|window| window.uid == *uid) {
                Some(window) => Ok(self.resolve_raw(desktop, window, warning)),
                None => {
                    Err(self
                        .window_gone(format!("no window has the uid '{uid}'; it may have closed"), windows))
                }
            };
        }
        if let Some(index) = choice.index {
            return match windows.get(index) {
                Some(window) => Ok(self.resolve_raw(desktop, window, None)),
                None => {
                    let warning = format!("there is no window_index {index}; the focused window was used");
                    let chosen = self.focused_window(desktop, Some(warning))?;
                    Ok(ResolvedWindow { guessed: true, ..chosen })
                }
            };
        }
        match &choice.title {
            Some(title) => self.by_title(title, desktop),
            None => self.focused_window(desktop, None),
        }
    }

    /// The window that is meant, where guessing would be wrong: nothing named, or not found, is an error.
    pub fn choose_strictly(
        &self,
        desktop: &Arc<DesktopState>,
        choice: &WindowChoice,
    ) -> Result<ResolvedWindow> {
        if choice.is_empty() {
            return Err(Error::bad_request("window_uid or window_index is required"));
        }
        let chosen = self.choose_in(desktop, choice)?;
        match (&choice.uid, choice.index) {
            (None, Some(index)) if chosen.guessed => {
                Err(Error::bad_request(format!("there is no window_index {index}"))
                    .with("field", "window_index"))
            }
            _ => Ok(chosen),
        }
    }

    fn focused_window(&self, desktop: &Arc<DesktopState>, warning: Option<String>) -> Result<ResolvedWindow> {
        let windows = desktop.windows();
        match windows.iter().find(|window| window.focused).or(windows.first()) {
            Some(window) => Ok(self.resolve_raw(desktop, window, warning)),
            None => Err(Error::new(Kind::WindowGone, "there are no windows")),
        }
    }

    fn by_title(&self, title: &str, desktop: &Arc<DesktopState>) -> Result<ResolvedWindow> {
        let wanted = title.to_lowercase();
        let matches = |window: &&Window| self.redactor.window_title(window).to_lowercase().contains(&wanted);
        match desktop.windows().iter().find(matches) {
            Some(window) => Ok(self.resolve_raw(desktop, window, None)),
            None => Err(self.window_gone(format!("no window title contains '{title}'"), desktop.windows())),
        }
    }

    pub(super) fn window_gone(&self, message: String, windows: &[Window]) -> Error {
        let known: Vec<Fact> = windows
            .iter()
            .take(10)
            .map(|window| {
                Fact::object([
                    ("window_uid", window.uid.as_str().into()),
                    ("title", self.redactor.window_title(window).into_owned().into()),
                ])
            })
            .collect();
        Error::new(Kind::WindowGone, message).with("windows", Fact::List(known))
    }

    /// Every match of a selector in document order, at most ten, and never none.
    pub fn find_all(
        &self,
        chosen: &ResolvedWindow,
        selector: &str,
        cancel: &Cancel,
    ) -> Result<(Arc<View>, String, Vec<usize>)> {
        let view = self.look_at(chosen, cancel)?.view;
        // An id is answered with the selector that stands for it: people have ids, agents want selectors.
        if let Some(node) = view.tree().find_id(selector) {
            return Ok((view.clone(), view.derived_selector(node), vec![node]));
        }
        let selector = parse_selector(selector)?;
        let matches = selector.resolve(view.tree(), MOST_MATCHES)?;
        if matches.is_empty() {
            return Err(self.not_found(&selector, chosen, &view));
        }
        Ok((view, selector.to_string(), matches))
    }

    /// The element that is meant, in a tree of this look. A ref knows its window; where one is named too, it must
    /// be that one.
    pub fn find_target(
        &self,
        desktop: &Arc<DesktopState>,
        window: &WindowChoice,
        choice: &ElementChoice,
        several: SeveralMatches,
        cancel: &Cancel,
    ) -> Result<ElementTarget> {
        match parse_choice(choice)? {
            WantedElement::Ref(reference) => self.find_ref(desktop, reference, window, cancel),
            WantedElement::Selector(selector) => {
                let (chosen, view) = self.choose_and_view(desktop, window, cancel)?;
                self.by_selector(&selector, chosen, view, several)
            }
            WantedElement::Id(id) => {
                let (chosen, view) = self.choose_and_view(desktop, window, cancel)?;
                match view.tree().find_id(&id) {
                    Some(node) => Ok(ElementTarget::new(chosen, view, node, None)),
                    None => self.by_other_name(&id, window, chosen, view, cancel),
                }
            }
        }
    }

    fn by_selector(
        &self,
        selector: &Selector,
        mut chosen: ResolvedWindow,
        view: Arc<View>,
        several: SeveralMatches,
    ) -> Result<ElementTarget> {
        let matches = selector.resolve(view.tree(), usize::MAX)?;
        let seen = |node: &&usize| state_of(view.tree(), **node, "visible") == Some(true);
        let node = match (matches.as_slice(), several) {
            ([], _) => return Err(self.not_found(selector, &chosen, &view)),
            ([only], _) => *only,
            ([first, others @ ..], SeveralMatches::TakeFirst) => {
                let said = self.several_warning(selector, &chosen, &view, others);
                chosen.warning =
                    Some(chosen.warning.map_or(said.clone(), |known| format!("{known}; {said}")));
                *first
            }
            (all, SeveralMatches::Refuse) => match all.iter().filter(seen).collect::<Vec<_>>().as_slice() {
                [only] => **only,
                _ => return Err(self.several_refusal(selector, &chosen, &view, all)),
            },
        };
        Ok(ElementTarget::new(chosen, view, node, Some(selector.to_string())))
    }

    fn several_warning(
        &self,
        selector: &Selector,
        chosen: &ResolvedWindow,
        view: &View,
        others: &[usize],
    ) -> String {
        let label = |&node: &usize| {
            let reference = self.show_ref(chosen, view, node).ok()?;
            Some(format!("{reference} {}", element_label(&view.tree()[node])))
        };
        let named: Vec<String> = others.iter().take(MOST_CANDIDATES).filter_map(label).collect();
        let more = others.len().saturating_sub(named.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let count = others.len() + 1;
        format!("{count} elements match '{selector}'; the first was taken, not {}{more}", named.join(", "))
    }

    fn several_refusal(
        &self,
        selector: &Selector,
        chosen: &ResolvedWindow,
        view: &View,
        all: &[usize],
    ) -> Error {
        let facts = all.iter().take(MOST_CANDIDATES).filter_map(|&node| {
            let fact = self.candidate_fact(chosen, view, node).ok()?;
            Some(fact.with("bounds", view.tree()[node].bounds))
        });
        let message = format!(
            "{} elements match '{selector}'; give the ref of one of the candidates, or say more: \
             [visible=true], another name, or the element around it",
            all.len()
        );
        Error::new(Kind::Ambiguous, message)
            .with("selector", selector.to_string())
            .with("window_uid", chosen.window.uid.as_str())
            .with("candidates", Fact::List(facts.collect()))
    }

    fn choose_and_view(
        &self,
        desktop: &Arc<DesktopState>,
        window: &WindowChoice,
        cancel: &Cancel,
    ) -> Result<(ResolvedWindow, Arc<View>)> {
        let chosen = self.choose_in(desktop, window)?;
        let view = self.view_in_look(&chosen, cancel)?;
        Ok((chosen, view))
    }

    /// An id that is none may still be a selector or a ref: models mix them up.
    fn by_other_name(
        &self,
        id: &str,
        window: &WindowChoice,
        chosen: ResolvedWindow,
        view: Arc<View>,
        cancel: &Cancel,
    ) -> Result<ElementTarget> {
        let selector = Selector::parse(id).ok();
        if let Some(selector) = selector
            && let Some(&node) = selector.resolve(view.tree(), 1)?.first()
        {
            return Ok(ElementTarget::new(chosen, view, node, Some(selector.to_string())));
        }
        match Ref::parse(id) {
            Some(reference) => self.find_ref(&chosen.desktop, reference, window, cancel),
            None => Err(Error::new(Kind::ElementNotFound, format!("no element has the id '{id}'"))
                .with("element_id", id)
                .with("window_uid", chosen.window.uid.as_str())),
        }
    }

    /// The element that a ref was given to, found anew: by its native object, else by its signature, else not.
    fn find_ref(
        &self,
        desktop: &Arc<DesktopState>,
        reference: Ref,
        window: &WindowChoice,
        cancel: &Cancel,
    ) -> Result<ElementTarget> {
        let memory = self.recall_ref(reference)?;
        let home = desktop.windows().iter().find(|window| memory.is_in(window));
        if !window.is_empty() {
            let named = self.choose_in(desktop, window)?;
            refuse_other_window(reference, &memory, &named, home.is_some())?;
        }
        let Some(home) = home else {
            return self.find_in_reopened(desktop, reference, &memory, cancel);
        };
        let chosen = self.resolve_raw(desktop, home, None);
        let mut view = self.view_in_look(&chosen, cancel)?;
        if memory.was_read() && view.is_dark() {
            view = self.view_by_reading(&chosen, &view, cancel)?;
        }
        let sight = WindowCapture { window: &chosen.raw, view: &view };
        let (node, certainty) = match self.refs().find_again(&memory, sight) {
            RefLookup::Same(node) => (node, None),
            RefLookup::Again(node, certainty) => (node, Some(certainty)),
            RefLookup::Changed(node) => {
                return Err(self.element_changed(reference, &memory, &chosen, &view, node));
            }
            RefLookup::Lost => {
                let message = format!("{reference} was {} and no longer exists", memory.shown_label());
                return Err(self.ref_lost(message, reference, &memory, &[(chosen, view)]));
            }
        };
        Ok(ElementTarget::new(chosen, view, node, None).known_as(reference, certainty))
    }

    /// A window like the closed one may ask something else in the same words. What is like the element there is told, so
    /// that its ref can be used once the caller knows of it.
    fn find_in_reopened(
        &self,
        desktop: &Arc<DesktopState>,
        reference: Ref,
        memory: &RememberedRef,
        cancel: &Cancel,
    ) -> Result<ElementTarget> {
        let mut looks = Vec::new();
        for window in memory.reopened_among(desktop.windows()) {
            let chosen = self.resolve_raw(desktop, window, None);
            let view = self.view_in_look(&chosen, cancel)?;
            looks.push((chosen, view));
        }
        let message = format!("the window of {reference}, which was {}, is gone", memory.shown_label());
        let error = self.ref_lost(message, reference, memory, &looks);
        Err(Error { kind: Kind::WindowGone, ..error })
    }

    /// An element that is named by its id or its ref, as its id in this look. What is neither stays as it is,
    /// for the caller to say that it is unknown.
    pub fn id_of(&self, chosen: &ResolvedWindow, view: &View, name: String) -> Result<String> {
        let Some(reference) = Ref::parse(&name) else {
            return Ok(name);
        };
        let memory = self.recall_ref(reference)?;
        if !memory.is_in(&chosen.raw) {
            return Err(Error::bad_request(format!("{reference} is in the window {}", memory.window_uid()))
                .with("field", "window_uid"));
        }
        match self.refs().find_again(&memory, WindowCapture { window: &chosen.raw, view }) {
            // Looking at what is called otherwise now does no harm: it is shown under its new name.
            RefLookup::Same(node) | RefLookup::Again(node, _) | RefLookup::Changed(node) => {
                Ok(view.tree().id(node))
            }
            RefLookup::Lost => {
                let message =
                    format!("{reference} was {} and no longer exists; look again", memory.shown_label());
                Err(Error::new(Kind::ElementNotFound, message).with("ref", reference.to_string()))
            }
        }
    }

    /// Where the element of a ref was last shown.
    pub fn window_of_ref(&self, reference: Ref) -> Result<String> {
        Ok(self.recall_ref(reference)?.window_uid().to_owned())
    }

    /// Refuses a ref that stands for nothing.
    pub fn check_ref(&self, reference: Ref) -> Result<()> {
        self.recall_ref(reference).map(drop)
    }

    /// What is remembered of a ref, or why nothing is.
    pub(super) fn recall_ref(&self, reference: Ref) -> Result<RememberedRef> {
        self.refs().remembered(reference).ok_or_else(|| {
            let message = if self.refs().was_given(reference) {
                format!("{reference} has expired, as the least recently used of many; look again")
            } else {
                format!("{reference} is unknown: this server never issued it; look again")
            };
            Error::new(Kind::ElementNotFound, message).with("ref", reference.to_string())
        })
    }

    /// The same object, but not what the caller saw. Telling what it is now makes it known as that.
    fn element_changed(
        &self,
        reference: Ref,
        memory: &RememberedRef,
        chosen: &ResolvedWindow,
        view: &Arc<View>,
        node: usize,
    ) -> Error {
        let now = element_label(&view.tree()[node]);
        let message = format!("{reference} was {} and is now {now}", memory.shown_label());
        let looks = [(chosen.clone(), view.clone())];
        let mut others = self.ref_candidates(memory, &looks);
        others.retain(|(_, other)| *other != node);
        others.insert(0, (0, node));
        self.ref_refusal(message, reference, &looks, &others)
    }

    fn ref_lost(
        &self,
        message: String,
        reference: Ref,
        memory: &RememberedRef,
        looks: &[(ResolvedWindow, Arc<View>)],
    ) -> Error {
        self.ref_refusal(message, reference, looks, &self.ref_candidates(memory, looks))
    }

    /// What could be meant, as the look it is in and the node.
    fn ref_candidates(
        &self,
        memory: &RememberedRef,
        looks: &[(ResolvedWindow, Arc<View>)],
    ) -> Vec<(usize, usize)> {
        let of = |(look, (_, view)): (usize, &(ResolvedWindow, Arc<View>))| {
            memory
                .candidates(view, MOST_CANDIDATES + 1)
                .into_iter()
                .map(move |node| (look, node))
                .collect::<Vec<_>>()
        };
        looks.iter().enumerate().flat_map(of).collect()
    }

    fn ref_refusal(
        &self,
        message: String,
        reference: Ref,
        looks: &[(ResolvedWindow, Arc<View>)],
        nodes: &[(usize, usize)],
    ) -> Error {
        let facts = nodes.iter().take(MOST_CANDIDATES).filter_map(|&(look, node)| {
            let (chosen, view) = looks.get(look)?;
            self.candidate_fact(chosen, view, node).ok()
        });
        let advice = if nodes.is_empty() { "look again" } else { "see candidates" };
        let error = Error::new(Kind::ElementNotFound, format!("{message}; nothing was done, {advice}"))
            .with("ref", reference.to_string())
            .with("candidates", Fact::List(facts.collect()));
        match looks.first() {
            Some((chosen, _)) => error.with("window_uid", chosen.window.uid.as_str()),
            None => error,
        }
    }

    fn candidate_fact(&self, chosen: &ResolvedWindow, view: &View, node: usize) -> Result<Fact> {
        let element = &view.tree()[node];
        Ok(Fact::object([
            ("ref", self.show_ref(chosen, view, node)?.to_string().into()),
            ("window_uid", chosen.window.uid.as_str().into()),
            ("element_id", view.tree().id(node).into()),
            ("role", element.role.name().into()),
            ("name", element.name.as_str().into()),
        ]))
    }

    /// Says which step broke and what was near, so that the next try can be the right one.
    fn not_found(&self, selector: &Selector, chosen: &ResolvedWindow, view: &View) -> Error {
        let error = Error::new(Kind::ElementNotFound, format!("no element matches '{selector}'"))
            .with("selector", selector.to_string())
            .with("window_uid", chosen.window.uid.as_str());
        let Some(miss) = selector.explain_miss(view.tree()) else {
            return error;
        };
        let near = miss.nearest.iter().map(|near| near_fact(near, view.tree()));
        let near = near.zip(&miss.nearest).map(|(fact, near)| match self.show_ref(chosen, view, near.node) {
            Ok(reference) => fact.with("ref", reference.to_string()),
            Err(_) => fact,
        });
        let mut error = error
            .with("broken_step", miss.step_text.as_str())
            .with("matched_before", miss.matched_before)
            .with("nearest", Fact::List(near.collect()));
        if !miss.notes.is_empty() {
            error = error.with("notes", miss.notes.clone());
        }
        error.message = format!("{}; {miss}", error.message);
        error
    }
}

enum WantedElement {
    Ref(Ref),
    Selector(Selector),
    Id(String),
}

fn parse_choice(choice: &ElementChoice) -> Result<WantedElement> {
    match (&choice.reference, &choice.selector, &choice.element_id) {
        (Some(text), _, _) => Ok(WantedElement::Ref(parse_ref(text)?)),
        (None, Some(text), _) => Ok(WantedElement::Selector(parse_selector(text)?)),
        (None, None, Some(id)) => Ok(WantedElement::Id(id.clone())),
        (None, None, None) => {
            Err(Error::bad_request("either ref, element_id or selector is required").with("field", "ref"))
        }
    }
}

fn parse_ref(text: &str) -> Result<Ref> {
    Ref::parse(text).ok_or_else(|| {
        Error::bad_request(format!("'{text}' is not a ref: refs look like e17 and come from look or find"))
            .with("field", "ref")
    })
}

fn refuse_other_window(
    reference: Ref,
    memory: &RememberedRef,
    named: &ResolvedWindow,
    is_open: bool,
) -> Result<()> {
    if !is_open || named.raw.uid == memory.window_uid() {
        return Ok(());
    }
    Err(Error::bad_request(format!(
        "{reference} is in the window {}, not in {}; leave out the window when you give a ref",
        memory.window_uid(),
        named.window.uid
    ))
    .with("field", "window_uid"))
}

fn parse_selector(text: &str) -> Result<Selector> {
    Selector::parse(text).map_err(|problem| Error::from(problem).with("field", "selector"))
}

pub(super) fn near_fact(near: &Near, tree: &Tree) -> Fact {
    Fact::object([
        ("element_id", tree.id(near.node).into()),
        ("selector", derive(tree, near.node).into()),
        ("role", tree[near.node].role.name().into()),
        ("name", tree[near.node].name.as_str().into()),
        ("why", near.why.as_str().into()),
    ])
}
