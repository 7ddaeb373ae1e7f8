//! Short names for elements, `e17`, that stay the same for as long as the element lives.
//!
//! An element is known by the platform's own handle and by a signature: its role, its name and its ancestors.
//! The handle finds it wherever it moved; the signature tells whether it still means what the caller was shown,
//! and finds it again when an application has put a new object in its place. What is uncertain is never guessed:
//! the caller gets the candidates and nothing is done.
//!
//! A ref reveals nothing: it is a number. Signatures are made of what is really there, are kept as keyed hashes
//! and never leave; the words that messages use are those that were shown.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, LazyLock, Mutex};

use serde::{Serialize, Serializer};

use super::View;
use super::text::{one_line, shorten_text};
use crate::clock::lock;
use crate::config::limits;
use crate::model::{Element, Role, Tree, Window};

/// The name of an element for the life of this process: `e17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ref(u64);

impl Ref {
    /// Reads `e17`, and nothing that only looks like it.
    pub fn parse(text: &str) -> Option<Ref> {
        let digits = text.strip_prefix('e')?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        plain.then(|| digits.parse().ok().map(Ref)).flatten()
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "e{}", self.0)
    }
}

impl Serialize for Ref {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl schemars::JsonSchema for Ref {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Ref".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

/// Keyed anew by every process, so that no application can craft two elements that only hash alike.
static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

fn hash(value: impl Hash) -> u64 {
    KEYS.hash_one(value)
}

/// What the elements of one capture are known by. Made once for a view, when first asked for.
#[derive(Debug)]
pub struct Marks {
    /// Role and name. Of the root and of documents the role alone: titles change. What is chosen in a combo box is no name.
    meaning: Vec<u64>,
    /// Meaning and that of all ancestors, and the documents among them.
    path: Vec<u64>,
    /// How many elements have this path.
    alike: HashMap<u64, u32>,
    /// Handles that belong to an element and not to a place, and that no two elements share.
    natives: HashMap<String, usize>,
}

impl Marks {
    pub fn of(raw: &Tree) -> Self {
        let mut marks = Marks {
            meaning: Vec::with_capacity(raw.len()),
            path: Vec::with_capacity(raw.len()),
            alike: HashMap::new(),
            natives: HashMap::new(),
        };
        let mut twice = HashSet::new();
        for node in 0..raw.len() {
            marks.add(raw, node);
            if let Some(native) = lasting_native(&raw[node])
                && marks.natives.insert(native.to_owned(), node).is_some()
            {
                twice.insert(native);
            }
        }
        marks.natives.retain(|native, _| !twice.contains(native.as_str()));
        marks
    }

    fn add(&mut self, raw: &Tree, node: usize) {
        let element = &raw[node];
        let (meaning, above) = match raw.parent(node) {
            None => (hash((&element.role, "")), 0),
            Some(parent) if element.is_document => (hash((&element.role, "")), self.path[parent]),
            Some(parent) => (hash((&element.role, name_of_its_own(raw, node))), self.path[parent]),
        };
        let path = match &element.native {
            Some(document) if element.is_document => hash((above, meaning, document)),
            _ => hash((above, meaning)),
        };
        self.meaning.push(meaning);
        self.path.push(path);
        *self.alike.entry(path).or_default() += 1;
    }

    fn same_signature_count(&self, node: usize) -> u32 {
        self.alike.get(&self.path[node]).copied().unwrap_or(0)
    }

    fn native_handle<'a>(&self, raw: &'a Tree, node: usize) -> Option<&'a str> {
        lasting_native(&raw[node]).filter(|native| self.natives.get(*native) == Some(&node))
    }

    /// What tells the element from all others without its handle: its path, or where several have it and none
    /// of them a handle, its place among them.
    fn signature(&self, sight: WindowCapture, node: usize) -> Option<u64> {
        let (alike, path) = (self.same_signature_count(node), self.path[node]);
        if alike == 1 {
            return Some(path);
        }
        let has_handle = self.native_handle(sight.view.raw(), node).is_some();
        (!has_handle).then(|| hash((path, alike, &sight.window.uid, sight.view.tree().id(node))))
    }

    /// The lasting handle, if there is one, and the path.
    pub fn known_by<'a>(&self, raw: &'a Tree, node: usize) -> (Option<&'a str>, u64) {
        (self.native_handle(raw, node), self.path[node])
    }

    fn nodes_with_path(&self, path: u64) -> impl Iterator<Item = usize> {
        self.path.iter().enumerate().filter(move |(_, other)| **other == path).map(|(node, _)| node)
    }

    fn nodes_with_meaning(&self, meaning: u64) -> impl Iterator<Item = usize> {
        self.meaning.iter().enumerate().filter(move |(_, other)| **other == meaning).map(|(node, _)| node)
    }
}

/// GTK3 calls a combo box that has no name by what is chosen in it.
fn name_of_its_own(raw: &Tree, node: usize) -> &str {
    let Element { role, name, value, .. } = &raw[node];
    let is_choice =
        || value.as_ref() == Some(name) || (node + 1..raw.end(node)).any(|option| raw[option].name == *name);
    if *role == Role::ComboBox && is_choice() { "" } else { name }
}

fn lasting_native(element: &Element) -> Option<&str> {
    element.native.as_deref().filter(|_| !element.native_is_place)
}

/// A capture and the window that it is of.
#[derive(Clone, Copy)]
pub struct WindowCapture<'a> {
    pub window: &'a Window,
    pub view: &'a View,
}

/// How sure it is that an element is the one that a ref was given to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    pub confidence: f64,
    pub reason: &'static str,
}

/// The ways of finding an element that are less than certain, the surest first.
const BY_SIGNATURE: Certainty = Certainty {
    confidence: 0.95,
    reason: "the platform has no stable handle for it; it is the only one with the same role, name and ancestors",
};
const REPLACED: Certainty = Certainty {
    confidence: 0.9,
    reason: "its object is gone; it was replaced by the only one with the same role, name and ancestors",
};
const SAME_PLACE: Certainty = Certainty {
    confidence: 0.6,
    reason: "the platform has no stable handle for it; it is at the same position among as many similar elements",
};

/// Where the element of a ref is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RefLookup {
    /// The very object, with the role and name that were shown.
    Same(usize),
    /// Another object, or one without a handle, that is taken for it.
    Again(usize, Certainty),
    /// The same object, but it is called otherwise than the caller was shown.
    Changed(usize),
    /// Nothing, or too much, is like it.
    Lost,
}

/// All refs of this process.
#[derive(Debug)]
pub struct Refs {
    known: Mutex<RefTable>,
    most: usize,
}

#[derive(Debug, Default)]
struct RefTable {
    last: u64,
    uses: u64,
    entries: HashMap<Ref, ShownElement>,
    /// By window and handle.
    by_native: HashMap<String, HashMap<String, Ref>>,
    /// By what an element that is gone is recognised by.
    by_signature: HashMap<u64, Vec<Ref>>,
    windows: HashMap<String, Arc<Home>>,
}

/// An element as it was last shown.
#[derive(Clone, Debug)]
struct ShownElement {
    home: Arc<Home>,
    native: Option<String>,
    role: u64,
    meaning: u64,
    path: u64,
    alike: u32,
    /// What its return is recognised by; one of several alike with handles of their own never is.
    signature: Option<u64>,
    /// Its positional id, kept where nothing else tells it from others.
    place: Option<String>,
    words: String,
    last_use: u64,
}

/// A window whose elements were shown.
#[derive(Debug, Default)]
struct Home {
    uid: String,
    pid: u32,
    process: String,
    title: u64,
    /// Windows that were open beside it, which are therefore not its return.
    beside: HashSet<String>,
    /// Closed windows that it may be the return of.
    before: HashSet<String>,
}

impl Home {
    /// A process that ended comes back as nothing: what looks like its window is another's.
    fn is_like(&self, window: &Window) -> bool {
        self.is_of(window.pid) && self.process == window.process && self.title == hash(&window.title)
    }

    fn is_of(&self, pid: u32) -> bool {
        self.pid == pid
    }
}

/// What is remembered of a ref, as it was when it was asked for.
#[derive(Clone, Debug)]
pub struct RememberedRef {
    reference: Ref,
    entry: ShownElement,
}

impl RememberedRef {
    pub fn window_uid(&self) -> &str {
        &self.entry.home.uid
    }

    /// Whether this is the window that the element was shown in. A system may give a uid again to another process.
    pub fn is_in(&self, window: &Window) -> bool {
        self.entry.home.uid == window.uid && self.entry.home.is_of(window.pid)
    }

    /// It was a line that OCR found: looking for it means reading again.
    pub fn was_read(&self) -> bool {
        self.entry.role == hash(&super::ocr::TEXT_LINE)
    }

    /// `Button "Save"`, as it was shown.
    pub fn shown_label(&self) -> &str {
        &self.entry.words
    }

    /// Among the windows that are open, those that the closed window of the element may have come back as.
    pub fn reopened_among<'w>(&self, windows: &'w [Window]) -> Vec<&'w Window> {
        let home = &self.entry.home;
        windows.iter().filter(|window| home.is_like(window) && !home.beside.contains(&window.uid)).collect()
    }

    /// The elements that could be meant, the likeliest first: same signature, then same role and name.
    pub fn candidates(&self, view: &View, most: usize) -> Vec<usize> {
        let (entry, marks) = (&self.entry, view.marks());
        let elsewhere =
            marks.nodes_with_meaning(entry.meaning).filter(|&node| marks.path[node] != entry.path);
        marks.nodes_with_path(entry.path).chain(elsewhere).take(most).collect()
    }
}

impl Default for Refs {
    fn default() -> Self {
        Self::with_room_for(limits::REFS)
    }
}

impl Refs {
    pub fn with_room_for(most: usize) -> Self {
        Self { known: Mutex::default(), most }
    }

    /// Whether the ref was ever given out by this process.
    pub fn was_given(&self, reference: Ref) -> bool {
        reference.0 <= lock(&self.known).last
    }

    pub fn remembered(&self, reference: Ref) -> Option<RememberedRef> {
        let mut known = lock(&self.known);
        known.uses += 1;
        let uses = known.uses;
        let entry = known.entries.get_mut(&reference)?;
        entry.last_use = uses;
        Some(RememberedRef { reference, entry: entry.clone() })
    }

    pub fn knows_window(&self, uid: &str) -> bool {
        lock(&self.known).windows.contains_key(uid)
    }

    /// Before a window's elements are named for the first time: what it may be the return of.
    pub fn meet_window(&self, window: &Window, open: &[Window]) {
        let mut known = lock(&self.known);
        let beside: HashSet<String> = open.iter().map(|other| other.uid.clone()).collect();
        let is_closed = |home: &&Arc<Home>| !beside.contains(&home.uid) && home.is_like(window);
        let before = known.windows.values().filter(is_closed).map(|home| home.uid.clone()).collect();
        let home = Home {
            uid: window.uid.clone(),
            pid: window.pid,
            process: window.process.clone(),
            title: hash(&window.title),
            beside,
            before,
        };
        known.windows.insert(window.uid.clone(), Arc::new(home));
    }

    /// The refs of elements that are about to be shown. From here on they mean what is shown now.
    pub fn assign_refs(&self, sight: WindowCapture, nodes: impl IntoIterator<Item = usize>) -> Vec<Ref> {
        let mut known = lock(&self.known);
        known.uses += 1;
        let home = known.known_window(sight.window);
        let mut taken = HashSet::new();
        let refs = nodes
            .into_iter()
            .map(|node| {
                let reference = known.assign_ref(sight, node, &home, |found| !taken.contains(&found));
                taken.insert(reference);
                reference
            })
            .collect();
        known.forget_oldest(self.most);
        refs
    }

    pub fn show_one(&self, sight: WindowCapture, node: usize) -> Ref {
        let mut known = lock(&self.known);
        known.uses += 1;
        let home = known.known_window(sight.window);
        let reference = known.assign_ref(sight, node, &home, |_| true);
        known.forget_oldest(self.most);
        reference
    }

    /// The ref that an element has already, for those who give none.
    pub fn existing_ref(&self, sight: WindowCapture, node: usize) -> Option<Ref> {
        lock(&self.known).name_of(sight, node)
    }

    /// An element that was found again goes on under its ref.
    pub fn bind_ref(&self, reference: Ref, sight: WindowCapture, node: usize) {
        let mut known = lock(&self.known);
        known.uses += 1;
        let home = known.known_window(sight.window);
        known.remember_element(reference, sight, node, &home);
    }

    /// Where the element is in a fresh look at its window.
    pub fn find_again(&self, memory: &RememberedRef, sight: WindowCapture) -> RefLookup {
        let (entry, marks) = (&memory.entry, sight.view.marks());
        if let Some(&node) = entry.native.as_ref().and_then(|native| marks.natives.get(native)) {
            let now = || element_label(&sight.view.tree()[node]);
            let same = marks.meaning[node] == entry.meaning || differs_in_count(&entry.words, &now());
            return if same { RefLookup::Same(node) } else { RefLookup::Changed(node) };
        }
        // Of a window that could not be read to the end nobody knows whether the object is gone.
        if entry.native.is_some() && !sight.view.tree().complete {
            return RefLookup::Lost;
        }
        let certainty = if entry.native.is_some() { REPLACED } else { BY_SIGNATURE };
        match self.only_like(memory, sight) {
            Some(node) => RefLookup::Again(node, certainty),
            None => self.in_same_place(memory, sight),
        }
    }

    /// The one element with the same signature, if there was one then and is one now that nobody else is.
    fn only_like(&self, memory: &RememberedRef, sight: WindowCapture) -> Option<usize> {
        let (entry, marks) = (&memory.entry, sight.view.marks());
        if entry.alike != 1 || marks.alike.get(&entry.path) != Some(&1) {
            return None;
        }
        let node = marks.nodes_with_path(entry.path).next()?;
        let native = marks.native_handle(sight.view.raw(), node);
        let owner = native.and_then(|native| lock(&self.known).owner_ref(&sight.window.uid, native));
        owner.is_none_or(|owner| owner == memory.reference).then_some(node)
    }

    fn in_same_place(&self, memory: &RememberedRef, sight: WindowCapture) -> RefLookup {
        let (entry, marks) = (&memory.entry, sight.view.marks());
        let node = entry.place.as_ref().and_then(|id| sight.view.tree().find_id(id));
        match node {
            Some(node)
                if marks.path[node] == entry.path && marks.same_signature_count(node) == entry.alike =>
            {
                RefLookup::Again(node, SAME_PLACE)
            }
            _ => RefLookup::Lost,
        }
    }
}

impl RefTable {
    fn next(&mut self) -> Ref {
        self.last += 1;
        Ref(self.last)
    }

    fn assign_ref(
        &mut self,
        sight: WindowCapture,
        node: usize,
        home: &Arc<Home>,
        free: impl Fn(Ref) -> bool,
    ) -> Ref {
        let known = self.name_of(sight, node).filter(|found| free(*found));
        let reference = known.unwrap_or_else(|| self.next());
        self.remember_element(reference, sight, node, home);
        reference
    }

    /// The window as it is known, with the title that it has now.
    fn known_window(&mut self, window: &Window) -> Arc<Home> {
        let known = self.windows.get(&window.uid);
        if let Some(home) = known.filter(|home| home.is_like(window)) {
            return home.clone();
        }
        let same = known.filter(|home| home.is_of(window.pid));
        let (beside, before) =
            same.map(|home| (home.beside.clone(), home.before.clone())).unwrap_or_default();
        let (uid, pid, process) = (window.uid.clone(), window.pid, window.process.clone());
        let home = Arc::new(Home { uid, pid, process, title: hash(&window.title), beside, before });
        self.windows.insert(window.uid.clone(), home.clone());
        home
    }

    fn owner_ref(&self, uid: &str, native: &str) -> Option<Ref> {
        self.by_native.get(uid)?.get(native).copied()
    }

    /// The ref that the element already has. An object that has taken another role is another element.
    fn name_of(&self, sight: WindowCapture, node: usize) -> Option<Ref> {
        let raw = sight.view.raw();
        let native = sight.view.marks().native_handle(raw, node);
        let role = hash(&raw[node].role);
        native
            .and_then(|native| self.owner_ref(&sight.window.uid, native))
            .filter(|owner| {
                let entry = self.entries.get(owner);
                entry.is_some_and(|entry| entry.role == role && entry.home.is_of(sight.window.pid))
            })
            .or_else(|| self.inherited_ref(sight, node))
    }

    /// The ref of an element that is gone and whose signature this one alone has.
    fn inherited_ref(&self, sight: WindowCapture, node: usize) -> Option<Ref> {
        let signature = sight.view.marks().signature(sight, node)?;
        let fits =
            |reference: &&Ref| self.entries.get(reference).is_some_and(|entry| self.may_return(entry, sight));
        let mut heirs = self.by_signature.get(&signature)?.iter().filter(fits);
        let first = heirs.next().copied();
        first.filter(|_| heirs.next().is_none())
    }

    /// Whether an element that was in this window, or in one that this may be the return of, is not there.
    fn may_return(&self, entry: &ShownElement, sight: WindowCapture) -> bool {
        if !entry.home.is_of(sight.window.pid) {
            return false;
        }
        if entry.home.uid != sight.window.uid {
            let home = self.windows.get(&sight.window.uid);
            return home.is_some_and(|home| home.before.contains(&entry.home.uid));
        }
        let marks = sight.view.marks();
        !entry.native.as_ref().is_some_and(|native| marks.natives.contains_key(native))
    }

    fn remember_element(&mut self, reference: Ref, sight: WindowCapture, node: usize, home: &Arc<Home>) {
        let (raw, marks) = (sight.view.raw(), sight.view.marks());
        let native = marks.native_handle(raw, node).map(str::to_owned);
        let alike = marks.same_signature_count(node);
        let entry = ShownElement {
            home: home.clone(),
            role: hash(&raw[node].role),
            meaning: marks.meaning[node],
            path: marks.path[node],
            alike,
            signature: marks.signature(sight, node),
            place: (native.is_none() && alike > 1).then(|| sight.view.tree().id(node)),
            words: element_label(&sight.view.tree()[node]),
            last_use: self.uses,
            native,
        };
        self.remove_ref(reference);
        if let Some(signature) = entry.signature {
            self.by_signature.entry(signature).or_default().push(reference);
        }
        if let Some(native) = &entry.native {
            let natives = self.by_native.entry(home.uid.clone()).or_default();
            let before = natives.insert(native.clone(), reference);
            // The object plays another part now; what it was before is only known by its signature.
            if let Some(earlier) = before.and_then(|before| self.entries.get_mut(&before)) {
                earlier.native = None;
            }
        }
        self.entries.insert(reference, entry);
    }

    /// Takes a ref out of the tables by which it is found.
    fn remove_ref(&mut self, reference: Ref) {
        let Some(entry) = self.entries.get(&reference) else {
            return;
        };
        if let Some(signature) = entry.signature
            && let Some(refs) = self.by_signature.get_mut(&signature)
        {
            refs.retain(|other| *other != reference);
            if refs.is_empty() {
                self.by_signature.remove(&signature);
            }
        }
        if let Some(native) = &entry.native
            && let Some(natives) = self.by_native.get_mut(&entry.home.uid)
            && natives.get(native) == Some(&reference)
        {
            natives.remove(native);
            if natives.is_empty() {
                self.by_native.remove(&entry.home.uid);
            }
        }
    }

    /// Of too many, those that were not shown or asked for the longest go, an eighth at a time.
    fn forget_oldest(&mut self, most: usize) {
        if self.entries.len() <= most {
            return;
        }
        let mut ages: Vec<(u64, Ref)> =
            self.entries.iter().map(|(reference, entry)| (entry.last_use, *reference)).collect();
        let excess = (self.entries.len() - most + most / 8).min(ages.len() - 1);
        ages.select_nth_unstable(excess);
        for (_, reference) in &ages[..excess] {
            self.remove_ref(*reference);
            self.entries.remove(reference);
        }
        let homes: HashSet<String> = self.entries.values().map(|entry| entry.home.uid.clone()).collect();
        self.windows.retain(|uid, _| homes.contains(uid));
    }
}

const WORDS_OF_A_NAME: usize = 60;

/// `Button "Save"`: how an element is spoken of.
/// Whether two labels of one object differ in the number behind them alone, as `Basket (0)` and `Basket (1)` do. A number
/// anywhere else may be what the caller decided by, such as an amount.
fn differs_in_count(before: &str, now: &str) -> bool {
    let without = |label| without_count(label).filter(|rest: &&str| !rest.is_empty());
    without(before).is_some_and(|before| without(now) == Some(before))
}

/// `Button "Basket` of `Button "Basket (0)"`.
fn without_count(label: &str) -> Option<&str> {
    let rest = label.strip_suffix("\"").unwrap_or(label).strip_suffix(')')?;
    let start = rest.trim_end_matches(|letter: char| letter.is_ascii_digit());
    (start.len() < rest.len()).then(|| start.strip_suffix('(')).flatten().map(str::trim_end)
}

pub fn element_label(element: &Element) -> String {
    match &*element.name {
        "" => one_line(element.role.name()),
        name => format!(
            "{} \"{}\"",
            one_line(element.role.name()),
            one_line(&shorten_text(name, WORDS_OF_A_NAME, WORDS_OF_A_NAME - 1))
        ),
    }
}

#[cfg(test)]
mod tests;
