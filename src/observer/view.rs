//! One capture of a window: the tree as it is, kept in here, and the tree as it may be shown.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use super::identity::Marks;
use crate::model::diff::ComparableTree;
use crate::model::{Element, Point, Rect, Role, Tree, Window, selector};
use crate::privacy::injection::{Inspector, Lexicon, has_tag_characters};
use crate::privacy::redact::{HiddenPlace, Redactor, is_secret};
use crate::privacy::untrusted::clean_text;

/// Applications count the frame and the shadow of a menu to it, or not.
const FRAME_OF_A_MENU: i32 = 8;

/// Both trees have the same shape, so an index into one is an index into the other.
#[derive(Debug)]
pub struct View {
    raw: Arc<Tree>,
    shown: Arc<Tree>,
    hash: OnceLock<String>,
    marks: OnceLock<Marks>,
    speaks: OnceLock<bool>,
    pub capture_time: Duration,
    pub captured_at: SystemTime,
}

impl View {
    pub fn new(raw: Arc<Tree>, shown: Arc<Tree>, capture_time: Duration, captured_at: SystemTime) -> Self {
        Self {
            raw,
            shown,
            hash: OnceLock::new(),
            marks: OnceLock::new(),
            speaks: OnceLock::new(),
            capture_time,
            captured_at,
        }
    }

    /// What may be shown; selectors match this too, so nothing hidden can be probed for.
    pub fn tree(&self) -> &Tree {
        &self.shown
    }

    /// A window that shows no elements at all.
    pub fn is_dark(&self) -> bool {
        self.shown.len() == 1
    }

    /// Its elements are lines that were read from a picture.
    pub fn was_read(&self) -> bool {
        self.shown
            .children(Tree::ROOT)
            .next()
            .is_some_and(|node| self.shown[node].role == super::ocr::TEXT_LINE)
    }

    /// Where what it shows comes from, if not from the application.
    pub fn source(&self) -> Option<&'static str> {
        self.was_read().then_some("ocr")
    }

    pub(super) fn raw(&self) -> &Tree {
        &self.raw
    }

    /// What its elements are known by, across captures.
    pub(super) fn marks(&self) -> &Marks {
        self.marks.get_or_init(|| Marks::of(&self.raw))
    }

    /// Both trees, to compare with those of another capture.
    pub(super) fn comparable_trees(&self) -> ComparableTree<'_> {
        ComparableTree { shown: &self.shown, raw: &self.raw }
    }

    /// Whether a later capture found the same window: then one of the two is enough to keep.
    pub(super) fn is_same_as(&self, other: &View) -> bool {
        self.raw == other.raw && self.shown == other.shown
    }

    /// For the gate's rules only: a redacted name must not slip past a rule about that name.
    pub fn unredacted(&self, node: usize) -> &Element {
        &self.raw[node]
    }

    /// For the gate only: whose page an element is on.
    pub fn unredacted_tree(&self) -> &Tree {
        &self.raw
    }

    /// For the gate only: whether the window may have elements that it could not judge.
    pub fn leaves_out(&self) -> bool {
        self.raw.leaves_out()
    }

    /// Whether an element at the point lies within an area, as the parts of a menu lie within it.
    pub fn shows_within(&self, area: Rect, point: Point) -> bool {
        let area = area.grown_by(FRAME_OF_A_MENU);
        let inside = |bounds: Rect| bounds.intersection(&area) == Some(bounds);
        self.elements_at(point).into_iter().any(|node| inside(self.raw[node].bounds))
    }

    /// Whether a menu, a list or a tooltip that shows lies within an area, or a part of one does.
    pub fn shows_menu_within(&self, area: Rect) -> bool {
        let area = area.grown_by(FRAME_OF_A_MENU);
        let is_part = |element: &Element| {
            element.role.is_option() || matches!(element.role, Role::Menu | Role::List | Role::ToolTip)
        };
        let inside = |bounds: Rect| !bounds.is_empty() && bounds.intersection(&area) == Some(bounds);
        let shows = |node: usize| {
            let mut around = std::iter::successors(Some(node), |&node| self.raw.parent(node));
            around.all(|node| !self.raw[node].hidden)
        };
        let fits = |node: &usize| is_part(&self.raw[*node]) && inside(self.raw[*node].bounds);
        (0..self.raw.len()).filter(fits).any(shows)
    }

    /// For the gate only: whether any text of the window speaks to an agent, to be seen or not.
    pub fn speaks_to_an_agent(&self, lexicon: &Arc<Lexicon>) -> bool {
        *self.speaks.get_or_init(|| {
            let mut inspector = Inspector::new(lexicon);
            self.raw.elements().iter().any(|element| {
                let texts = [Some(&element.name), element.value.as_ref(), element.description.as_ref()];
                let mut texts = texts.into_iter().flatten();
                texts.any(|text| has_tag_characters(text) || inspector.look(&clean_text(text)).is_some())
            })
        })
    }

    pub fn native_handle(&self, node: usize) -> Option<String> {
        self.raw[node].native.clone()
    }

    /// The contract's hash of the whole tree. It is made from what is really there, so that a change
    /// behind a redaction is still a change.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| self.raw.hash(Tree::ROOT))
    }

    pub fn hash_of(&self, node: usize) -> String {
        if node == Tree::ROOT { self.hash().to_owned() } else { self.raw.hash(node) }
    }

    pub fn fingerprint(&self) -> u64 {
        self.raw.fingerprint()
    }

    /// Whether anything is otherwise than in an earlier capture, but for the focus that came to this element of it.
    pub fn differs_beside_focus_of(&self, earlier: &View, node: usize) -> bool {
        let who = |view: &View, node: usize| view.native_handle(node).unwrap_or_else(|| view.tree().id(node));
        let focus = |view: &View| view.tree().focused().map(|node| who(view, node));
        let now = focus(self);
        let moved = now != focus(earlier) && now != Some(who(earlier, node));
        moved || self.differs_beside_focus(earlier)
    }

    /// Whether anything is otherwise than in an earlier capture.
    pub fn differs_from(&self, earlier: &View) -> bool {
        self.differs(earlier, true)
    }

    /// That a page is scrolled elsewhere is no change of it, and the focus may go with that.
    fn differs(&self, earlier: &View, focus: bool) -> bool {
        let in_place = !self.is_scrolled_since(earlier);
        let fingerprint = |view: &View| view.raw.fingerprint_with(focus && in_place, in_place);
        fingerprint(self) != fingerprint(earlier)
    }

    pub fn is_scrolled_since(&self, earlier: &View) -> bool {
        self.raw.scrolled != earlier.raw.scrolled
    }

    /// Whether anything but the focus is otherwise than in an earlier capture.
    pub(super) fn differs_beside_focus(&self, earlier: &View) -> bool {
        self.differs(earlier, false)
    }

    pub fn derived_selector(&self, node: usize) -> String {
        selector::derive(&self.shown, node)
    }

    /// Where the keyboard focus is, as a selector; empty when no element has it.
    pub fn focused_selector(&self) -> String {
        self.shown.focused().map_or(String::new(), |node| self.derived_selector(node))
    }

    /// The innermost element under a point: later siblings lie over earlier ones.
    pub fn element_at(&self, point: Point) -> usize {
        let tree = &*self.raw;
        let mut node = Tree::ROOT;
        while let Some(child) = tree.children(node).filter(|&child| self.shows_at(child, point)).last() {
            node = child;
        }
        node
    }

    /// Whether a person would see the element there. What a closed menu holds has places too.
    fn shows_at(&self, node: usize, point: Point) -> bool {
        let element = &self.raw[node];
        !element.hidden && element.bounds.contains(point)
    }

    /// Every element under a point that has none below it there, the topmost first. Applications do not
    /// always draw siblings in the order of the tree, nor children inside their parents, so whoever judges
    /// a point looks at all of them.
    pub fn elements_at(&self, point: Point) -> Vec<usize> {
        let tree = &*self.raw;
        let mut found: Vec<usize> = Vec::new();
        for node in (0..tree.len()).rev().filter(|&node| self.shows_at(node, point)) {
            let holds_another = found.last().is_some_and(|&inner| inner < tree.end(node));
            if !holds_another {
                found.push(node);
            }
        }
        found
    }

    /// Whether what is typed into the element must not be stored: it is secret, or its texts are hidden.
    pub fn is_private(&self, node: usize) -> bool {
        is_secret(&self.raw[node]) || self.shown[node].redacted
    }

    /// Whether its value is not the one that is shown: it is secret, or was redacted.
    pub fn hides_value(&self, node: usize) -> bool {
        let (raw, shown) = (&self.raw[node], &self.shown[node]);
        is_secret(raw) || (shown.redacted && raw.value != shown.value)
    }

    /// Whether it is a secret field, or one in it may have the focus that it is said to have.
    pub fn holds_secret(&self, node: usize) -> bool {
        self.raw.holds_secret(node)
    }

    /// Whether what is typed into whatever has the keyboard focus must not be stored.
    pub fn focus_is_private(&self) -> bool {
        self.raw.focus_is_secret() || self.raw.focused().is_some_and(|node| self.is_private(node))
    }

    /// Whether there is a secret field anywhere: a tab in a typed text may lead into it.
    pub fn has_secret(&self) -> bool {
        self.raw.holds_secret(Tree::ROOT)
    }

    pub fn named_count(&self) -> usize {
        self.shown.elements()[1..].iter().filter(|element| !element.name.trim().is_empty()).count()
    }

    pub fn unreadable_places(&self, redactor: &Redactor, window: &Window, frame: Rect) -> Vec<HiddenPlace> {
        redactor.unreadable_places(&self.raw, window, frame)
    }

    /// What is black in every picture where secrets have names.
    pub fn named_secret_regions(&self, redactor: &Redactor) -> Vec<Rect> {
        redactor.named_secret_regions(&self.raw)
    }

    pub fn hidden_regions(&self, redactor: &Redactor, window: &Window) -> Vec<Rect> {
        redactor.secret_regions(&self.raw, window)
    }
}
