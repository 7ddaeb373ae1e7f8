//! What must not be shown: the config's redaction rules, and secrets whether or not there are rules.
//!
//! Works on copies that are about to leave; the observer's own trees and the hashes made of them
//! keep the truth. Rules always look at cleaned text, because that is the text that is shown.
//! Nothing here knows a reply or a protocol: `scrub` carries `Redactor::text` into every reply.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use schemars::JsonSchema;
use serde::Serialize;

use super::untrusted;
use crate::config::limits::TREE_TEXT_BYTES;
use crate::config::{PageOrigin, Redaction};
use crate::model::{Element, Range as NumberRange, Rect, Tree, Window};
use crate::pattern::{Effort, Pattern, PatternSet, TooManySteps};

/// A shorter secret would hide half of what is on the screen wherever it occurs by chance.
pub const SHORTEST_LEARNED_SECRET: usize = 4;
/// Of a named secret a part of so many characters is hidden like the whole.
pub const SHORTEST_PART: usize = 6;
/// So many of them are letters or digits; what has fewer stands in many texts.
const LETTERS_OF_A_PART: usize = 4;
const MOST_LEARNED_SECRETS: usize = 256;
const MOST_LEARNED_BYTES: usize = 256 * 1024;
/// Building the machine that finds many secrets at once takes time quadratic in the length of one
/// that repeats itself, and an application chooses what its fields hold. Longer ones are searched
/// one by one.
const LONGEST_SHORT_SECRET: usize = 64;
/// Covering a match may bring the text beside it into a new one. Rules that need more rounds than
/// this chase their own replacement; the whole text is replaced then.
const MOST_ROUNDS: usize = 8;
/// What stands before the number of characters that are hidden from the person who decides.
pub const HIDDEN_FROM_PERSON: &str = "[hidden: ";

/// A tree as it may be shown, and how many of its elements had something replaced.
#[derive(Clone, Debug)]
pub struct RedactedTree {
    pub tree: Arc<Tree>,
    pub redacted: usize,
}

/// The answer of get_redaction_status; what only rules have is left out when there are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RedactionStatus {
    pub enabled: bool,
    pub active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blur_screenshots: Option<bool>,
}

#[derive(Debug)]
pub struct Redactor {
    rules: Option<Redaction>,
    titles: PatternSet,
    names: PatternSet,
    roles: PatternSet,
    origins: Vec<PageOrigin>,
    texts: Vec<Pattern>,
    replacement: String,
    applied: AtomicU64,
    secrets: RwLock<LearnedSecrets>,
    /// Spares every string of every reply the lock as long as no secret is known.
    knows_secrets: AtomicBool,
    /// There are secrets with names.
    knows_named: AtomicBool,
}

/// What must be black before text is read from a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenPlace {
    pub node: usize,
    /// The whole of the element.
    pub bounds: Rect,
    /// What alone of it is hidden, where no more is.
    pub words: Option<HiddenWords>,
}

/// Words of an element's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenWords {
    pub text: String,
    pub characters: Vec<Range<usize>>,
}

/// What may make a whole window private: its raw title, and the address of its page.
#[derive(Clone, Copy, Debug)]
pub struct WindowTexts<'a> {
    title: &'a str,
    url: Option<&'a str>,
}

impl<'a> From<&'a str> for WindowTexts<'a> {
    fn from(title: &'a str) -> Self {
        Self { title, url: None }
    }
}

impl<'a> From<&'a Window> for WindowTexts<'a> {
    fn from(window: &'a Window) -> Self {
        Self { title: &window.title, url: window.url.as_deref() }
    }
}

/// What is hidden of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RedactionCover {
    Nothing,
    /// The element holds a secret: its value.
    Value,
    /// A rule names it, or it is inside a secret: every text.
    Texts,
}

/// A text of an element: from which cover on it is hidden as a whole, how it is read and written.
struct TextField {
    hidden_by: &'static [RedactionCover],
    get: fn(&Element) -> Option<&str>,
    set: fn(&mut Element, String),
}

const TEXT_FIELDS: &[TextField] = &[
    TextField { hidden_by: &[], get: |e| Some(e.role.name()), set: |e, text| e.role = text.into() },
    TextField { hidden_by: &[RedactionCover::Texts], get: |e| Some(&e.name), set: |e, text| e.name = text },
    TextField {
        hidden_by: &[RedactionCover::Value, RedactionCover::Texts],
        get: |e| e.value.as_deref(),
        set: |e, text| e.value = Some(text),
    },
    TextField {
        hidden_by: &[RedactionCover::Texts],
        get: |e| e.shortcut.as_deref(),
        set: |e, text| e.shortcut = Some(text),
    },
    TextField {
        hidden_by: &[RedactionCover::Texts],
        get: |e| e.description.as_deref(),
        set: |e, text| e.description = Some(text),
    },
    TextField {
        hidden_by: &[RedactionCover::Texts],
        get: |e| e.shown_text.as_deref(),
        set: |e, text| e.shown_text = Some(text),
    },
    TextField {
        hidden_by: &[RedactionCover::Texts],
        get: |e| e.identifier.as_deref(),
        set: |e, text| e.identifier = Some(text),
    },
];

impl Redactor {
    /// The error names the list and the pattern: a rule that cannot be read must stop the start,
    /// because a skipped rule shows what it was written to hide.
    pub fn new(rules: Option<Redaction>) -> Result<Redactor, String> {
        let given = rules.clone().unwrap_or_default();
        // All lists are compiled, so that switching redaction on cannot reveal an error later.
        let titles = compile_patterns("window_title_patterns", &given.window_title_patterns)?;
        let names = compile_patterns("element_name_patterns", &given.element_name_patterns)?;
        let roles = compile_patterns("element_role_patterns", &given.element_role_patterns)?;
        let texts = compile_patterns("ocr_text_patterns", &given.ocr_text_patterns)?;
        let when_enabled = |list: Vec<Pattern>| if given.enabled { list } else { Vec::new() };
        Ok(Redactor {
            titles: set_of("window_title_patterns", when_enabled(titles))?,
            names: set_of("element_name_patterns", when_enabled(names))?,
            roles: set_of("element_role_patterns", when_enabled(roles))?,
            origins: if given.enabled { given.origins.clone() } else { Vec::new() },
            texts: when_enabled(texts),
            replacement: untrusted::clean_text(&given.replacement).into_owned(),
            rules,
            applied: AtomicU64::new(0),
            secrets: RwLock::default(),
            knows_secrets: AtomicBool::new(false),
            knows_named: AtomicBool::new(false),
        })
    }

    /// The tree as it may be shown: the same one when nothing has to change.
    ///
    /// `window` has the raw title. Every text comes out cleaned, so that a selector made from
    /// what was shown finds its element in the same shown tree.
    pub fn shown<'a>(&self, tree: &Arc<Tree>, window: impl Into<WindowTexts<'a>>) -> RedactedTree {
        let window = window.into();
        self.learn_secrets_of(tree);
        let effort = Effort::for_a_redaction();
        let changed: Vec<(usize, Element)> = self
            .covers(tree, window, &effort)
            .filter_map(|(node, cover)| Some((node, self.shown_element(&tree[node], cover, &effort)?)))
            .collect();
        let redacted = changed.iter().filter(|(_, element)| element.redacted).count();
        self.applied.fetch_add(redacted as u64, Ordering::Relaxed);
        let tree = if changed.is_empty() { Arc::clone(tree) } else { Arc::new(with_changes(tree, changed)) };
        RedactedTree { tree, redacted }
    }

    /// A window title as it may be shown.
    pub fn title<'a>(&self, title: &'a str) -> Cow<'a, str> {
        let (cleaned, effort) = (untrusted::clean_text(title), Effort::default());
        if self.is_private_title(&cleaned, &effort) {
            self.count_one();
            return Cow::Owned(self.replacement.clone());
        }
        self.redacted_cow(cleaned, &effort)
    }

    /// The title of a window as it may be shown.
    pub fn window_title<'a>(&self, window: &'a Window) -> Cow<'a, str> {
        match &window.url {
            Some(url) if self.hides_window_of(url) => Cow::Owned(self.replacement.clone()),
            _ => self.title(&window.title),
        }
    }

    /// The address of the page of a window as it may be shown.
    pub fn window_url(&self, url: &str) -> String {
        if self.hides_page(url) { self.replacement.clone() } else { self.title(url).into_owned() }
    }

    /// A text of a page, such as its title, as it may be shown.
    pub fn page_text(&self, url: &str, text: &str) -> String {
        if self.hides_window_of(url) { self.replacement.clone() } else { self.title(text).into_owned() }
    }

    /// Whether a rule names the origin of a page, or of what it made.
    pub fn hides_page(&self, url: &str) -> bool {
        let url = url.strip_prefix("blob:").unwrap_or(url);
        !self.origins.is_empty()
            && PageOrigin::of_url(url).is_some_and(|origin| self.origins.contains(&origin))
    }

    /// The same for the page of a window. One without an address of its own was written by a page that is not known.
    fn hides_window_of(&self, url: &str) -> bool {
        let is_blank = url.split(['?', '#']).next() == Some("about:blank");
        self.hides_page(url) || (is_blank && self.hides_some_pages())
    }

    /// Whether there are rules that name origins.
    pub fn hides_some_pages(&self) -> bool {
        !self.origins.is_empty()
    }

    fn is_private_document(&self, element: &Element) -> bool {
        element.is_document && element.value.as_deref().is_some_and(|url| self.hides_page(url))
    }

    fn is_private_window(&self, window: WindowTexts<'_>, effort: &Effort) -> bool {
        window.url.is_some_and(|url| self.hides_window_of(url))
            || self.is_private_title(&untrusted::clean_text(window.title), effort)
    }

    /// The text without what the text patterns find and without any secret that is known.
    ///
    /// Doing it twice is doing it once, also when a pattern finds the replacement itself.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_within(text, &Effort::default())
    }

    /// The same for one of several texts, which share the time.
    pub fn text_within<'a>(&self, text: &'a str, effort: &Effort) -> Cow<'a, str> {
        self.redacted_cow(Cow::Borrowed(text), effort)
    }

    /// Redacts the words of one line together, so that what spans several of them is found too.
    ///
    /// Like `text`, until nothing is exposed: an empty replacement may bring two halves of a secret together.
    pub fn line_of_words(&self, words: &mut [&mut String]) {
        let effort = Effort::default();
        for round in 0..=MOST_ROUNDS {
            let line = words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
            let Ok(spans) = self.spans_to_cover(&line, &effort) else {
                break;
            };
            if spans.is_empty() || !self.cover_words(words, &spans) {
                return;
            }
            if round == 0 {
                self.count_one();
            }
        }
        words.iter_mut().for_each(|word| word.clone_from(&self.replacement));
    }

    /// `spans` are places of the line that the words make. Says whether a word has changed: what matches nothing
    /// but the blanks between them exposes nothing.
    fn cover_words(&self, words: &mut [&mut String], spans: &[Range<usize>]) -> bool {
        let mut changed = false;
        let mut start = 0;
        for word in words {
            let end = start + word.len();
            let inside: Vec<Range<usize>> = spans
                .iter()
                .map(|span| span.start.max(start)..span.end.min(end))
                .filter(|span| span.start < span.end)
                .map(|span| span.start - start..span.end - start)
                .collect();
            let covered = replace_spans(word, &inside, &self.replacement);
            changed |= covered != **word;
            **word = covered;
            start = end + 1;
        }
        changed
    }

    /// Remembers a secret that was seen in a secret field or typed into one.
    pub fn learn_secret(&self, secret: &str) {
        let cleaned = untrusted::clean_text(secret);
        let secret = cleaned.trim();
        if is_worth_learning(secret) && secret != self.replacement {
            let mut secrets = self.secrets.write().unwrap_or_else(PoisonError::into_inner);
            secrets.learn_secret(secret);
            self.knows_secrets.store(true, Ordering::Release);
        }
    }

    /// Remembers what a secret has grown to, in place of its beginning. Says whether it is known by this alone, so that
    /// it can be replaced again.
    pub fn learn_longer(&self, shorter: Option<&str>, longer: &str) -> bool {
        let cleaned = untrusted::clean_text(longer);
        let is_new = is_worth_learning(cleaned.trim()) && !self.is_known(cleaned.trim());
        if let Some(shorter) = shorter {
            let cleaned = untrusted::clean_text(shorter);
            self.secrets.write().unwrap_or_else(PoisonError::into_inner).forget_secret(cleaned.trim());
        }
        self.learn_secret(longer);
        is_new
    }

    /// Remembers a secret that was given by name. From then on it is black in pictures, too.
    pub fn keep_named(&self, secret: &str) {
        self.keep(secret);
        self.knows_named.store(true, Ordering::Release);
    }

    /// Remembers a secret for good: others that are learned later do not push it out.
    pub fn keep(&self, secret: &str) {
        let cleaned = untrusted::clean_text(secret);
        let secret = cleaned.trim();
        if !secret.is_empty() {
            let mut secrets = self.secrets.write().unwrap_or_else(PoisonError::into_inner);
            secrets.keep(secret);
            // As it stands inside a selector or a quoted text.
            secrets.keep(&secret.replace('\\', "\\\\").replace('"', "\\\""));
            secrets.keep_spellings(in_addresses(secret));
            secrets.keep_spellings(in_other_case(secret));
            self.knows_secrets.store(true, Ordering::Release);
        }
    }

    /// Whether a word is a known secret as a whole.
    pub fn is_known(&self, word: &str) -> bool {
        self.knows_secrets.load(Ordering::Acquire)
            && self.secrets.read().unwrap_or_else(PoisonError::into_inner).all().any(|known| known == word)
    }

    /// Whether a text has a secret in it that was named, or a part of one.
    pub fn tells_named_secret(&self, text: &str) -> bool {
        self.knows_secrets.load(Ordering::Acquire)
            && self
                .secrets
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .tells_kept(&untrusted::clean_text(text))
    }

    /// The text for the person who decides: rules hide nothing from them, and of known secrets nothing but their own
    /// characters, with how many these are. Whoever types into a secret field makes secrets, and must not hide more.
    pub fn text_for_person<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.knows_secrets.load(Ordering::Acquire) {
            return Cow::Borrowed(text);
        }
        let mut spans = Vec::new();
        self.secrets.read().unwrap_or_else(PoisonError::into_inner).find_in(text, &mut spans);
        let spans = merge_spans(spans);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(text.len());
        let mut copied = 0;
        for span in spans {
            let hidden = text.get(span.clone()).map_or(0, |hidden| hidden.chars().count());
            shown.push_str(text.get(copied..span.start).unwrap_or_default());
            shown.push_str(&format!("{HIDDEN_FROM_PERSON}{hidden} characters]"));
            copied = span.end;
        }
        shown.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(shown)
    }

    /// What stands for a text that is hidden.
    pub fn replacement(&self) -> &str {
        &self.replacement
    }

    /// Whether pictures need a look at the tree before they leave.
    pub fn hides_pixels(&self) -> bool {
        self.blurs_screenshots() || self.knows_named.load(Ordering::Acquire)
    }

    /// Whether everything that is hidden in texts is black in pictures. Otherwise that is what secrets are in.
    pub fn blurs_screenshots(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.enabled && rules.blur_screenshots)
    }

    /// Where secret fields that hold something are, and what shows a named secret.
    pub fn named_secret_regions(&self, tree: &Tree) -> Vec<Rect> {
        let holds_secret = |element: &Element| {
            is_secret(element) && element.value.as_deref().is_none_or(|value| !value.is_empty())
        };
        let tells = |element: &Element| {
            let mut texts = TEXT_FIELDS.iter().filter_map(|field| (field.get)(element));
            texts.any(|text| self.tells_named_secret(text))
        };
        let hides = |node: usize| holds_secret(&tree[node]) || tells(&tree[node]);
        let counts = |node: &usize| is_secret(&tree[*node]) || is_innermost(tree, *node, hides);
        let nodes = (0..tree.len()).filter(|&node| hides(node)).filter(counts);
        nodes.map(|node| tree[node].bounds).filter(|bounds| !bounds.is_empty()).collect()
    }

    /// What has to be black in a picture of the window, if it is to hide anything: a screenshot does
    /// when `hides_pixels` says so, a picture for a foreign model always.
    ///
    /// An element that only mentions something private is blackened if nothing in it does: a container
    /// repeats the text of what is in it, and blackening it would leave no picture.
    pub fn secret_regions<'a>(&self, tree: &Tree, window: impl Into<WindowTexts<'a>>) -> Vec<Rect> {
        self.secret_places(tree, window.into()).into_iter().map(|place| place.bounds).collect()
    }

    fn secret_places(&self, tree: &Tree, window: WindowTexts<'_>) -> Vec<HiddenPlace> {
        self.learn_secrets_of(tree);
        let effort = Effort::for_a_redaction();
        let covers: Vec<RedactionCover> =
            self.covers(tree, window, &effort).map(|(_, cover)| cover).collect();
        let is_private = |node: usize| {
            let shown = || self.shown_element(&tree[node], covers[node], &effort);
            covers[node] != RedactionCover::Nothing || shown().is_some_and(|shown| shown.redacted)
        };
        let mut regions: Vec<HiddenPlace> = Vec::new();
        for node in (0..tree.len()).filter(|&node| is_private(node)) {
            let bounds = tree[node].bounds;
            let is_black = |last: &HiddenPlace| last.words.is_none() && last.bounds.encloses(&bounds);
            let already = regions.last().is_some_and(is_black);
            let counts = covers[node] != RedactionCover::Nothing || is_innermost(tree, node, is_private);
            if !bounds.is_empty() && !already && counts {
                let words = (covers[node] == RedactionCover::Nothing && !is_secret(&tree[node]))
                    .then(|| self.hidden_words(&tree[node], &effort))
                    .flatten();
                regions.push(HiddenPlace { node, bounds, words });
            }
        }
        regions
    }

    /// What must be black before text is read from a picture of the window, whatever the config says of
    /// pictures: everything whose text the tree hides, because it may be read with another letter in it. What only
    /// pixels tell is redacted when it is read.
    pub fn unreadable_places<'a>(
        &self,
        tree: &Tree,
        window: impl Into<WindowTexts<'a>>,
        frame: Rect,
    ) -> Vec<HiddenPlace> {
        let window = window.into();
        if self.is_private_window(window, &Effort::default()) {
            self.learn_secrets_of(tree);
            return vec![HiddenPlace { node: Tree::ROOT, bounds: frame, words: None }];
        }
        self.secret_places(tree, window)
    }

    /// The words of an element that are hidden, where its value is all that is hidden of it and has nothing in it that
    /// is shown otherwise.
    fn hidden_words(&self, element: &Element, effort: &Effort) -> Option<HiddenWords> {
        let text = element.value.as_deref().filter(|text| untrusted::clean_text(text) == *text)?;
        let others =
            TEXT_FIELDS.iter().filter_map(|field| (field.get)(element)).filter(|other| *other != text);
        let others = others.filter(|other| self.substitute_secrets(other, effort).is_some());
        if others.count() > 0 || text.len() >= TREE_TEXT_BYTES {
            return None;
        }
        let spans = self.spans_to_cover(text, effort).ok().filter(|spans| !spans.is_empty())?;
        let characters = |at: usize| text.get(..at).map(|before| before.chars().count());
        let ranges = spans.iter().map(|span| Some(characters(span.start)?..characters(span.end)?));
        Some(HiddenWords { text: text.to_owned(), characters: ranges.collect::<Option<_>>()? })
    }

    pub fn redaction_status(&self) -> RedactionStatus {
        let rules = self.rules.as_ref();
        let patterns_count = rules.map(count_patterns);
        let enabled = rules.is_some_and(|rules| rules.enabled);
        RedactionStatus {
            enabled,
            active: enabled && patterns_count > Some(0),
            patterns_count,
            applied_count: rules.map(|_| self.applied.load(Ordering::Relaxed)),
            blur_screenshots: rules.map(|rules| rules.blur_screenshots),
        }
    }

    /// What hides each element, in document order.
    fn covers<'a>(
        &'a self,
        tree: &'a Tree,
        window: WindowTexts<'_>,
        effort: &'a Effort,
    ) -> impl Iterator<Item = (usize, RedactionCover)> + 'a {
        let everything = self.is_private_window(window, effort);
        let mut end_of_secret = 0;
        let mut end_of_document = 0;
        (0..tree.len()).map(move |node| {
            let element = &tree[node];
            let secret = is_secret(element);
            let inside_secret = node < end_of_secret;
            if secret {
                end_of_secret = end_of_secret.max(tree.end(node));
            }
            if self.is_private_document(element) {
                end_of_document = end_of_document.max(tree.end(node));
            }
            let inside = inside_secret || node < end_of_document;
            let texts = everything || inside || self.is_named_by_a_rule(element, effort);
            let cover = match (texts, secret) {
                (true, _) => RedactionCover::Texts,
                (false, true) => RedactionCover::Value,
                (false, false) => RedactionCover::Nothing,
            };
            (node, cover)
        })
    }

    fn is_private_title(&self, cleaned: &str, effort: &Effort) -> bool {
        hides_text(&self.titles, cleaned, effort)
    }

    fn is_named_by_a_rule(&self, element: &Element, effort: &Effort) -> bool {
        hides_text(&self.names, &untrusted::clean_text(&element.name), effort)
            || hides_text(&self.roles, &untrusted::clean_text(element.role.name()), effort)
    }

    /// Remembers what the secret fields of a tree hold.
    pub fn learn_secrets_of(&self, tree: &Tree) {
        for element in tree.elements().iter().filter(|element| is_secret(element)) {
            self.learn_secret(element.value.as_deref().unwrap_or_default());
        }
    }

    /// The element as it may be shown, or `None` when that is how it is.
    fn shown_element(&self, element: &Element, cover: RedactionCover, effort: &Effort) -> Option<Element> {
        let mut shown = Cow::Borrowed(element);
        for field in TEXT_FIELDS {
            let text = (field.get)(element).unwrap_or_default();
            if text.is_empty() {
                continue;
            }
            if field.hidden_by.contains(&cover) {
                (field.set)(shown.to_mut(), self.replacement.clone());
                shown.to_mut().redacted = true;
                continue;
            }
            let cleaned = untrusted::clean_text(text);
            if let Some(replaced) = self.substitute_secrets(&cleaned, effort) {
                (field.set)(shown.to_mut(), replaced);
                shown.to_mut().redacted = true;
            } else if let Cow::Owned(cleaned) = cleaned {
                (field.set)(shown.to_mut(), cleaned);
            }
        }
        // The numbers behind a hidden value would tell it.
        if cover != RedactionCover::Nothing && element.range != NumberRange::default() {
            shown.to_mut().range = NumberRange::default();
            shown.to_mut().redacted = true;
        }
        match shown {
            Cow::Owned(shown) if shown != *element => Some(shown),
            _ => None,
        }
    }

    fn redacted_cow<'a>(&self, text: Cow<'a, str>, effort: &Effort) -> Cow<'a, str> {
        match self.substitute_secrets(&text, effort) {
            None => text,
            Some(replaced) => {
                self.count_one();
                Cow::Owned(replaced)
            }
        }
    }

    fn count_one(&self) {
        self.applied.fetch_add(1, Ordering::Relaxed);
    }

    /// Covers what is exposed until nothing is: the result is a text that would not change again.
    /// What takes too long to search is replaced as a whole.
    fn substitute_secrets(&self, text: &str, effort: &Effort) -> Option<String> {
        if self.texts.is_empty() && !self.knows_secrets.load(Ordering::Acquire) {
            return None;
        }
        let mut current = Cow::Borrowed(text);
        for _ in 0..MOST_ROUNDS {
            let Ok(spans) = self.spans_to_cover(&current, effort) else {
                break;
            };
            if spans.is_empty() {
                return match current {
                    Cow::Borrowed(_) => None,
                    Cow::Owned(text) => Some(text),
                };
            }
            current = Cow::Owned(replace_spans(&current, &spans, &self.replacement));
        }
        Some(self.replacement.clone())
    }

    /// What to write the replacement over; empty when nothing is exposed.
    ///
    /// A match inside a replacement that already stands in the text is no exposure. A match that
    /// reaches out of one is covered together with it.
    fn spans_to_cover(&self, text: &str, effort: &Effort) -> Result<Vec<Range<usize>>, TooManySteps> {
        let exposed = self.matches(text, effort)?;
        if exposed.is_empty() {
            return Ok(exposed);
        }
        let covered = find_occurrences(text, &self.replacement);
        let mut spans: Vec<_> = exposed.into_iter().filter(|span| !is_inside_one(span, &covered)).collect();
        if !spans.is_empty() {
            spans.extend(covered);
        }
        Ok(merge_spans(spans))
    }

    fn matches(&self, text: &str, effort: &Effort) -> Result<Vec<Range<usize>>, TooManySteps> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for pattern in &self.texts {
            found.extend(pattern.spans(text, effort)?);
        }
        if self.knows_secrets.load(Ordering::Acquire) {
            let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
            secrets.find_in(text, &mut found);
        }
        Ok(found)
    }
}

/// What takes too long to find out is hidden.
fn hides_text(rules: &PatternSet, text: &str, effort: &Effort) -> bool {
    rules.is_match(text, effort).unwrap_or(true)
}

/// Whether what is said of an element holds of nothing in it. Of a window something always is in it: its title is not
/// all of it.
fn is_innermost(tree: &Tree, node: usize, holds: impl Fn(usize) -> bool) -> bool {
    let (first, end) = (node + 1, tree.end(node));
    first == end || (node != Tree::ROOT && !(first..end).any(holds))
}

/// The secrets that are known.
#[derive(Debug, Default)]
struct LearnedSecrets {
    learned: Vec<Arc<LearnedSecret>>,
    /// Counts every use of a learned secret.
    uses: AtomicU64,
    /// Never forgotten.
    kept: Vec<String>,
    /// How those are written elsewhere; only as a whole, because parts of it stand in many texts.
    spellings: Vec<String>,
    /// Finds all the short ones in one pass. `None` before the first.
    finder: Option<AhoCorasick>,
    /// What the finder finds, by its numbers; nothing for a kept one.
    found: Vec<Option<Arc<LearnedSecret>>>,
    /// Finds the parts of the kept ones.
    parts: Option<AhoCorasick>,
}

/// One that may be forgotten, and when it was last learned or hidden. What stands on the screen is hidden at every look,
/// so that others are forgotten first.
#[derive(Debug)]
struct LearnedSecret {
    text: String,
    last_use: AtomicU64,
}

impl LearnedSecrets {
    fn learn_secret(&mut self, secret: &str) {
        if let Some(known) = self.learned.iter().find(|known| known.text == secret) {
            self.note_use(known);
            return;
        }
        let new = Arc::new(LearnedSecret { text: secret.to_owned(), last_use: AtomicU64::default() });
        self.note_use(&new);
        self.learned.push(new);
        self.forget_unused();
        self.build_finder();
    }

    fn note_use(&self, secret: &LearnedSecret) {
        secret.last_use.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Whoever learns the next one makes the finder anew.
    fn forget_secret(&mut self, secret: &str) {
        self.learned.retain(|known| known.text != secret);
    }

    fn keep(&mut self, secret: &str) {
        if !self.kept.iter().any(|known| known == secret) {
            self.kept.push(secret.to_owned());
            self.build_finder();
            let parts = self.kept.iter().flat_map(|secret| telling_parts(secret));
            self.parts = AhoCorasick::builder().ascii_case_insensitive(true).build(parts).ok();
        }
    }

    fn keep_spellings(&mut self, spellings: Vec<String>) {
        let new =
            spellings.into_iter().filter(|one| !self.kept.contains(one) && !self.spellings.contains(one));
        let new: Vec<String> = new.collect();
        if !new.is_empty() {
            self.spellings.extend(new);
            self.build_finder();
        }
    }

    fn build_finder(&mut self) {
        let kept = self.kept.iter().chain(&self.spellings).filter(|secret| is_short(secret));
        let learned = self.learned.iter().filter(|secret| is_short(&secret.text));
        self.found = kept.clone().map(|_| None).chain(learned.clone().cloned().map(Some)).collect();
        let texts = kept.map(String::as_str).chain(learned.map(|secret| secret.text.as_str()));
        self.finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok();
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let kept = self.kept.iter().chain(&self.spellings).map(String::as_str);
        kept.chain(self.learned.iter().map(|secret| secret.text.as_str()))
    }

    fn forget_unused(&mut self) {
        let mut bytes: usize = self.learned.iter().map(|secret| secret.text.len()).sum();
        while self.learned.len() > MOST_LEARNED_SECRETS
            || (bytes > MOST_LEARNED_BYTES && self.learned.len() > 1)
        {
            let uses = self.learned.iter().map(|secret| secret.last_use.load(Ordering::Relaxed));
            let Some((at, _)) = uses.enumerate().min_by_key(|(_, last)| *last) else { return };
            bytes -= self.learned.remove(at).text.len();
        }
    }

    fn find_in(&self, text: &str, found: &mut Vec<Range<usize>>) {
        match &self.finder {
            Some(finder) => found.extend(finder.find_iter(text).map(|hit| {
                if let Some(Some(secret)) = self.found.get(hit.pattern().as_usize()) {
                    self.note_use(secret);
                }
                hit.range()
            })),
            // The bounds keep the machine far below its limits. Should it not be built all the
            // same, then nothing is shown rather than something secret.
            None => found.push(0..text.len()),
        }
        for long in self.all().filter(|secret| !is_short(secret)) {
            found.extend(find_occurrences(text, long));
        }
        self.find_parts(text, found);
        if text.contains('%') {
            found.extend(self.find_encoded(text));
        }
    }

    /// Where a secret is written as addresses write it, however much of it is percent-encoded.
    fn find_encoded(&self, text: &str) -> Vec<Range<usize>> {
        let (bytes, places) = percent_decoded(text);
        let place = |at: usize| places.get(at).copied().unwrap_or(text.len());
        let hits = self.finder.iter().flat_map(|finder| finder.find_iter(&bytes));
        hits.map(|hit| place(hit.start())..place(hit.end())).collect()
    }

    /// The parts of secrets that were named; of others no more is known than that somebody typed them.
    fn find_parts(&self, text: &str, found: &mut Vec<Range<usize>>) {
        match &self.parts {
            Some(parts) => found.extend(parts.find_overlapping_iter(text).map(|hit| hit.range())),
            None if self.kept.is_empty() => {}
            None => found.push(0..text.len()),
        }
    }

    /// Whether a text has a secret in it that was named, or a part of one.
    fn tells_kept(&self, text: &str) -> bool {
        let mut parts = Vec::new();
        self.find_parts(text, &mut parts);
        !parts.is_empty() || self.kept.iter().any(|secret| text.contains(secret))
    }
}

/// A secret as a page writes it that shows its texts in capitals or in small letters.
fn in_other_case(secret: &str) -> Vec<String> {
    let mut all = vec![secret.to_uppercase(), secret.to_lowercase()];
    all.retain(|spelling| spelling != secret);
    all
}

/// A secret as it stands in an address: as a script writes it, as a form does, and as a browser leaves it.
fn in_addresses(secret: &str) -> Vec<String> {
    let of_script = percent_encoded(secret, |byte| b"-_.!~*'()".contains(&byte));
    let of_form = percent_encoded(secret, |byte| b"*-._ ".contains(&byte)).replace(' ', "+");
    let of_browser = percent_encoded(secret, |byte| byte.is_ascii_graphic() && !b"\"#<>'".contains(&byte));
    let lower = |text: &String| text.to_ascii_lowercase();
    let mut all = vec![lower(&of_script), lower(&of_form), of_script, of_form, of_browser];
    all.retain(|spelling| spelling.contains(['%', '+']) && spelling != secret);
    all.sort_unstable();
    all.dedup();
    all
}

/// The bytes that a percent-encoded text stands for, and where each of them is in it.
fn percent_decoded(text: &str) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut places) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()));
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        let code = text.get(at + 1..at + 3).filter(|code| code.bytes().all(|it| it.is_ascii_hexdigit()));
        let decoded = code.filter(|_| byte == b'%').and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(decoded.unwrap_or(byte));
        places.push(at);
        at += if decoded.is_some() { 3 } else { 1 };
    }
    (bytes, places)
}

fn percent_encoded(text: &str, stays: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(3 * text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || stays(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Every part of a secret that is as long as tells something of it. A row of dashes does not.
fn telling_parts(secret: &str) -> Vec<&str> {
    let ends: Vec<usize> = secret.char_indices().map(|(at, _)| at).chain([secret.len()]).collect();
    let parts =
        ends.windows(SHORTEST_PART + 1).filter_map(|window| secret.get(*window.first()?..*window.last()?));
    parts
        .filter(|part| part.chars().filter(|one| one.is_alphanumeric()).count() >= LETTERS_OF_A_PART)
        .collect()
}

fn is_short(secret: &str) -> bool {
    secret.len() <= LONGEST_SHORT_SECRET
}

/// Not worth it: what is too short, and the row of bullets that a masked field shows.
fn is_worth_learning(secret: &str) -> bool {
    let mut characters = secret.chars();
    let first = characters.next();
    let is_mask = first.is_some_and(|first| !first.is_alphanumeric() && characters.all(|next| next == first));
    !is_mask && secret.chars().count() >= SHORTEST_LEARNED_SECRET
}

/// Marked by the platform, or of a role that says so (`PasswordText`, `AXSecureTextField`).
pub fn is_secret(element: &Element) -> bool {
    element.is_secret()
}

fn compile_patterns(list: &str, patterns: &[String]) -> Result<Vec<Pattern>, String> {
    let one = |(at, pattern): (usize, &String)| {
        Pattern::compile(pattern).map_err(|problem| format!("redaction.{list}[{at}] '{pattern}': {problem}"))
    };
    patterns.iter().enumerate().map(one).collect()
}

fn set_of(list: &str, patterns: Vec<Pattern>) -> Result<PatternSet, String> {
    PatternSet::new(patterns).map_err(|error| format!("redaction.{list} is too large as a whole: {error}"))
}

fn count_patterns(rules: &Redaction) -> usize {
    rules.window_title_patterns.len()
        + rules.origins.len()
        + rules.element_name_patterns.len()
        + rules.element_role_patterns.len()
        + rules.ocr_text_patterns.len()
}

fn with_changes(tree: &Tree, changed: Vec<(usize, Element)>) -> Tree {
    let mut changed = changed.into_iter().peekable();
    let mut node = 0;
    tree.map_elements(|element| {
        if let Some((_, shown)) = changed.next_if(|(at, _)| *at == node) {
            *element = shown;
        }
        node += 1;
    })
}

fn find_occurrences(text: &str, part: &str) -> Vec<Range<usize>> {
    if part.is_empty() {
        return Vec::new();
    }
    text.match_indices(part).map(|(at, part)| at..at + part.len()).collect()
}

/// `sorted` are in order and do not overlap.
fn is_inside_one(span: &Range<usize>, sorted: &[Range<usize>]) -> bool {
    let candidate = sorted.partition_point(|other| other.end < span.end);
    sorted.get(candidate).is_some_and(|other| other.start <= span.start && span.end <= other.end)
}

/// Sorted, and what overlaps joined. Neighbours that only touch stay two.
fn merge_spans(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

fn replace_spans(text: &str, spans: &[Range<usize>], replacement: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for span in spans {
        result.push_str(&text[copied..span.start]);
        result.push_str(replacement);
        copied = span.end;
    }
    result.push_str(&text[copied..]);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TreeBuilder;
    use proptest::prelude::*;

    fn redactor(json: &str) -> Redactor {
        Redactor::new(Some(serde_json::from_str(json).unwrap())).unwrap()
    }

    fn unconfigured() -> Redactor {
        Redactor::new(None).unwrap()
    }

    fn valued(role: &'static str, name: &str, value: &str) -> Element {
        Element { value: Some(value.to_owned()), ..Element::new(role, name, Rect::new(1, 2, 30, 40)) }
    }

    fn secret(name: &str, value: &str) -> Element {
        Element { secret: true, ..valued("Edit", name, value) }
    }

    fn check_line(redactor: &Redactor, line: &str, expected: &str) {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        redactor.line_of_words(&mut words.iter_mut().collect::<Vec<_>>());
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn words_of_a_line_are_redacted_together() {
        let redactor = redactor(r#"{"ocr_text_patterns": ["Hello", "card \\d+ \\d+"]}"#);
        check_line(&redactor, "Hello, world!", "[REDACTED], world!");
        check_line(&redactor, "my card 12 34 ok", "my [REDACTED] [REDACTED] [REDACTED] ok");
        check_line(&redactor, "a card of 12", "a card of 12");
        redactor.learn_secret("open sesame");
        check_line(&redactor, "say open sesame!", "say [REDACTED] [REDACTED]!");
        check_line(&unconfigured(), "Hello, world!", "Hello, world!");
    }

    #[test]
    fn covering_a_word_brings_no_secret_together() {
        let redactor = redactor(r#"{"replacement": ""}"#);
        redactor.learn_secret("hunter2");
        check_line(&redactor, "my hunthunter2er2 ok", "my  ok");
    }

    #[test]
    fn what_is_hidden_is_not_readable_whatever_pictures_show() {
        let redactor = redactor(r#"{"element_name_patterns": ["^PIN$"], "window_title_patterns": ["Bank"]}"#);
        let tree = tree_of(vec![secret("x", "1234"), valued("Edit", "PIN", "1"), valued("Edit", "y", "2")]);
        let frame = Rect::new(0, 0, 500, 500);
        let bounds = Rect::new(1, 2, 30, 40);
        assert_eq!(unreadable(&redactor, &tree, "Shop", frame), vec![bounds]);
        assert_eq!(unreadable(&redactor, &tree, "My Bank", frame), vec![frame]);
        assert_eq!(unreadable(&unconfigured(), &tree, "My Bank", frame), vec![bounds]);
    }

    /// H-118 on code: what the tree hides by its text is not read from a picture either
    #[test]
    fn what_a_text_pattern_hides_is_not_readable() {
        let redactor = redactor(r#"{"ocr_text_patterns": ["\\d{4}"]}"#);
        let tree = tree_of(vec![valued("Edit", "card", "1234"), valued("Edit", "name", "Ada")]);
        let frame = Rect::new(0, 0, 500, 500);
        assert_eq!(unreadable(&redactor, &tree, "Shop", frame), vec![Rect::new(1, 2, 30, 40)]);
    }

    fn unreadable(redactor: &Redactor, tree: &Tree, title: &str, frame: Rect) -> Vec<Rect> {
        redactor.unreadable_places(tree, title, frame).into_iter().map(|place| place.bounds).collect()
    }

    /// The characters of the hidden words of an element with this value.
    fn check_words(redactor: &Redactor, element: Element, expected: Option<&[Range<usize>]>) {
        let places = redactor.unreadable_places(&tree_of(vec![element]), "Shop", Rect::default());
        let words = places[0].words.as_ref().map(|words| words.characters.as_slice());
        assert_eq!(words, expected);
    }

    /// H-152 on code: of a text with a hidden word, which characters that is
    #[test]
    fn the_hidden_words_of_a_text_are_known() {
        let redactor = redactor(r#"{"ocr_text_patterns": ["\\d{4}"], "element_name_patterns": ["^card$"]}"#);
        check_words(&redactor, valued("Document", "letter", "éé 1234 and 5678."), Some(&[3..7, 12..16]));
        check_words(&redactor, valued("Document", "1111", "the 1234"), None);
        check_words(&redactor, valued("Document", "letter", "the\u{7} 1234"), None);
        check_words(&redactor, valued("Document", "card", "the 1234"), None);
        check_words(&redactor, Element { secret: true, ..valued("Edit", "pin", "1234") }, None);
    }

    fn tree_of(leaves: Vec<Element>) -> Arc<Tree> {
        let mut tree = TreeBuilder::new(Element::new("Window", "Bank", Rect::new(0, 0, 100, 100)));
        leaves.into_iter().for_each(|leaf| {
            tree.add_leaf(leaf);
        });
        Arc::new(tree.finish())
    }

    /// `name=value` of every element of the shown tree.
    fn texts(shown: &RedactedTree) -> Vec<String> {
        let one = |e: &Element| format!("{}={}", e.name, e.value.as_deref().unwrap_or("-"));
        shown.tree.elements().iter().map(one).collect()
    }

    #[track_caller]
    fn check(redactor: &Redactor, leaf: Element, expected: &str) {
        let shown = redactor.shown(&tree_of(vec![leaf]), "Bank");
        assert_eq!(texts(&shown)[1], expected);
    }

    #[track_caller]
    fn check_text(redactor: &Redactor, text: &str, expected: &str) {
        let once = redactor.text(text);
        assert_eq!(once, expected, "{text:?}");
        assert_eq!(redactor.text(&once), expected, "again {text:?}");
    }

    #[test]
    fn nothing_to_hide_is_the_same_tree() {
        let tree = tree_of(vec![valued("Text", "Zoom", "100%")]);
        for redactor in [unconfigured(), redactor(r#"{"element_name_patterns":["^Balance"]}"#)] {
            let shown = redactor.shown(&tree, "Bank");
            assert!(Arc::ptr_eq(&shown.tree, &tree));
            assert_eq!(shown.redacted, 0);
        }
    }

    #[test]
    fn names_and_roles_are_searched() {
        let redactor = redactor(r#"{"element_name_patterns":["oo"],"element_role_patterns":["^Tex"]}"#);
        check(&redactor, valued("Edit", "Zoom", "100%"), "[REDACTED]=[REDACTED]");
        check(&redactor, valued("Text", "Size", "100%"), "[REDACTED]=[REDACTED]");
        check(&redactor, valued("Edit", "Size", "100%"), "Size=100%");
    }

    #[test]
    fn empty_texts_stay_empty() {
        let redactor = redactor(r#"{"element_role_patterns":["Text"]}"#);
        check(&redactor, valued("Text", "", ""), "=");
        check(&redactor, Element::new("Text", "x", Rect::default()), "[REDACTED]=-");
    }

    #[test]
    fn every_text_and_number_of_a_named_element_goes() {
        let redactor = redactor(r#"{"element_name_patterns":["Zoom"]}"#);
        let full = Element {
            shortcut: Some("z".into()),
            description: Some("about".into()),
            identifier: Some("zoom-1".into()),
            range: NumberRange { now: Some(1.0), min: None, max: None },
            native: Some("handle".into()),
            ..valued("Slider", "Zoom", "1")
        };
        let shown = redactor.shown(&tree_of(vec![full]), "");
        let element = &shown.tree[1];
        let replacement = Some("[REDACTED]");
        assert_eq!(element.shortcut.as_deref(), replacement);
        assert_eq!(element.description.as_deref(), replacement);
        assert_eq!(element.identifier.as_deref(), replacement);
        assert_eq!(element.range, NumberRange::default());
        assert_eq!((element.role.name(), element.native.as_deref()), ("Slider", Some("handle")));
        assert!(element.redacted && !shown.tree[0].redacted);
        assert_eq!(shown.redacted, 1);
    }

    #[test]
    fn a_private_title_hides_every_element() {
        let redactor = redactor(r#"{"window_title_patterns":["(?i)bank"]}"#);
        let tree = tree_of(vec![valued("Text", "a", "1"), valued("Text", "b", "2")]);
        let shown = redactor.shown(&tree, "My B\x1b[0mank");
        assert_eq!(texts(&shown), ["[REDACTED]=-", "[REDACTED]=[REDACTED]", "[REDACTED]=[REDACTED]"]);
        assert_eq!(redactor.title("My Bank"), "[REDACTED]");
        assert_eq!(redactor.title("Notes\x07"), "Notes");
    }

    #[test]
    fn secrets_are_hidden_without_any_rule() {
        check(&unconfigured(), secret("Password", "hunter2"), "Password=[REDACTED]");
        check(&unconfigured(), secret("PIN", "1"), "PIN=[REDACTED]");
        check(&unconfigured(), secret("Password", ""), "Password=");
        check(&unconfigured(), valued("PasswordText", "Key", "x"), "Key=[REDACTED]");
        check(&unconfigured(), valued("AXSecureTextField", "Key", "x"), "Key=[REDACTED]");
        check(&redactor(r#"{"enabled":false}"#), secret("Password", "x"), "Password=[REDACTED]");
    }

    #[test]
    fn what_is_inside_a_secret_is_hidden_too() {
        let mut builder = TreeBuilder::new(Element::new("Window", "w", Rect::default()));
        builder.open(secret("Password", "x"));
        builder.add_leaf(valued("Text", "hunter2", ""));
        builder.close();
        builder.add_leaf(valued("Text", "after", ""));
        let shown = unconfigured().shown(&Arc::new(builder.finish()), "");
        assert_eq!(texts(&shown), ["w=-", "Password=[REDACTED]", "[REDACTED]=", "after="]);
    }

    #[test]
    fn a_secret_seen_once_is_hidden_everywhere() {
        let redactor = unconfigured();
        let tree = tree_of(vec![valued("Text", "you typed hunter2!", ""), secret("Password", "hunter2")]);
        let shown = redactor.shown(&tree, "hunter2");
        assert_eq!(texts(&shown)[1], "you typed [REDACTED]!=");
        assert!(shown.tree[1].redacted);
        check_text(&redactor, "echo hunter2hunter2", "echo [REDACTED][REDACTED]");
        assert_eq!(redactor.title("hunter2 - shell"), "[REDACTED] - shell");
    }

    #[test]
    fn shown_texts_are_clean() {
        let redactor = unconfigured();
        check(&redactor, valued("Text", "a\x1b[2Jb\x07", "\u{202E}c"), "ab=c");
        let shown = redactor.shown(&tree_of(vec![valued("Text", "\x07", "")]), "");
        assert_eq!((shown.redacted, shown.tree[1].redacted), (0, false));
    }

    #[test]
    fn showing_what_was_shown_changes_nothing() {
        let redactor = redactor(r#"{"element_name_patterns":["RED"],"ocr_text_patterns":["ACT"]}"#);
        let tree = tree_of(vec![valued("Text", "RED", "FACT"), secret("Password", "hunter2")]);
        let once = redactor.shown(&tree, "").tree;
        assert_eq!(redactor.shown(&once, "").tree, once);
    }

    #[test]
    fn text_patterns_are_substituted() {
        let redactor = redactor(r#"{"ocr_text_patterns":["Hello","\\d{4}"]}"#);
        check_text(&redactor, "Hello, 1234 567 89012", "[REDACTED], [REDACTED] 567 [REDACTED]2");
        check_text(&redactor, "nothing", "nothing");
    }

    #[test]
    fn a_replacement_that_matches_is_left_alone() {
        check_text(&redactor(r#"{"ocr_text_patterns":["RED"]}"#), "RED cat", "[REDACTED] cat");
        check_text(&redactor(r#"{"ocr_text_patterns":["."]}"#), "ab", "[REDACTED][REDACTED]");
        check_text(&redactor(r#"{"ocr_text_patterns":["b*"]}"#), "abba", "a[REDACTED]a");
        check_text(&redactor(r#"{"ocr_text_patterns":["pin.*","12"]}"#), "pin 12 x", "[REDACTED]");
    }

    #[test]
    fn an_empty_replacement_removes_until_nothing_is_left_to_find() {
        check_text(&redactor(r#"{"ocr_text_patterns":["ab"],"replacement":""}"#), "xaabby", "xy");
    }

    #[test]
    fn rules_that_chase_their_replacement_end_with_it() {
        let redactor = redactor(r#"{"ocr_text_patterns":["^a"],"replacement":""}"#);
        check_text(&redactor, &"a".repeat(100), "");
    }

    #[test]
    fn a_secret_that_contains_the_replacement_is_found() {
        let redactor = unconfigured();
        redactor.learn_secret("a[REDACTED]b");
        check_text(&redactor, "xa[REDACTED]by", "x[REDACTED]y");
    }

    #[test]
    fn only_what_is_worth_it_is_learned() {
        let redactor = unconfigured();
        for noise in ["", "abc", "   ", "••••••••", "********", "[REDACTED]"] {
            redactor.learn_secret(noise);
        }
        assert!(!redactor.knows_secrets.load(Ordering::Acquire));
        redactor.learn_secret(" 0000\x07 ");
        check_text(&redactor, "pin 0000", "pin [REDACTED]");
    }

    #[test]
    fn learning_is_bounded_and_the_last_used_stay() {
        let redactor = unconfigured();
        for number in 0..MOST_LEARNED_SECRETS {
            redactor.learn_secret(&format!("secret-{number:04}"));
        }
        redactor.learn_secret("secret-0000");
        redactor.learn_secret("one more");
        check_text(&redactor, "secret-0000 secret-0001", "[REDACTED] secret-0001");
        assert_eq!(redactor.secrets.read().unwrap().learned.len(), MOST_LEARNED_SECRETS);
        let long = "long".repeat(MOST_LEARNED_BYTES);
        redactor.learn_secret(&long);
        assert_eq!(redactor.secrets.read().unwrap().learned.len(), 1);
        check_text(&redactor, &format!("a{long}b"), "a[REDACTED]b");
        check_text(&redactor, "secret-0000", "secret-0000");
    }

    #[test]
    fn what_is_hidden_at_every_look_is_not_forgotten() {
        let redactor = unconfigured();
        redactor.learn_secret("on the screen");
        for number in 0..2 * MOST_LEARNED_SECRETS {
            redactor.learn_secret(&format!("secret-{number:04}"));
            check_text(&redactor, "on the screen", "[REDACTED]");
        }
    }

    #[test]
    fn parts_of_named_secrets_are_hidden() {
        let redactor = unconfigured();
        redactor.keep("correct-horse-battery-staple");
        check_text(&redactor, "correct-horse-battery-", "[REDACTED]");
        check_text(&redactor, "a horse- battery b", "a [REDACTED] [REDACTED] b");
        check_text(&redactor, "stapl", "stapl");
        check_text(&redactor, "xcorrecx", "x[REDACTED]x");
        // What says nothing of it.
        redactor.keep("------BEGIN------");
        check_text(&redactor, "------", "------");
        // Of others only the whole.
        redactor.learn_secret("hunter-of-the-north");
        check_text(&redactor, "hunter", "hunter");
        assert!(
            redactor.tells_named_secret("it is horse-b")
                && !redactor.tells_named_secret("hunter-of-the-north")
        );
    }

    /// H-416 on code: a named secret in capitals, as style sheets make them
    #[test]
    fn a_named_secret_is_hidden_in_capitals() {
        let redactor = unconfigured();
        redactor.keep("correct-horse");
        check_text(&redactor, "CORRECT-HORSE and Correct-Horse", "[REDACTED] and [REDACTED]");
        check_text(&redactor, "ORRECT-", "[REDACTED]");
        redactor.keep("p\u{e4}\u{df}9");
        check_text(&redactor, "P\u{c4}SS9", "[REDACTED]");
        // Of others only as it was typed.
        redactor.learn_secret("hunter");
        check_text(&redactor, "Hunter", "Hunter");
    }

    /// H-396 on code: a named secret in an address
    #[test]
    fn a_named_secret_is_hidden_as_an_address_writes_it() {
        let redactor = unconfigured();
        redactor.keep("a b+c/d%e\u{e9}");
        for spelled in [
            "a%20b%2Bc%2Fd%25e%C3%A9",
            "a%20b%2bc%2fd%25e%c3%a9",
            "a+b%2Bc%2Fd%25e%C3%A9",
            "a%20b+c%2Fd%25e\u{e9}",
        ] {
            check_text(&redactor, &format!("?q={spelled}&x"), "?q=[REDACTED]&x");
        }
        check_text(&redactor, "x%20%20y", "x%20%20y");
    }

    /// H-393 on code: what rules hide is shown to the person, and of secrets nothing but their own characters is hidden
    #[test]
    fn a_person_is_shown_all_but_the_secret() {
        let redactor = redactor(r#"{"ocr_text_patterns":["(?s).+"],"element_name_patterns":["."]}"#);
        assert_eq!(redactor.text_for_person("Mallory 10000 EUR"), "Mallory 10000 EUR");
        redactor.learn_secret("for lunch");
        let shown = redactor.text_for_person("Mallory 10000 EUR for lunch");
        assert_eq!(shown, "Mallory 10000 EUR [hidden: 9 characters]");
        assert_eq!(redactor.text_for_person(&shown), shown);
    }

    /// H-397 on code: a window without an address of its own, where origins are hidden
    #[test]
    fn a_window_that_any_page_may_have_written_is_hidden() {
        let rules = redactor(r#"{"origins":["https://bank.test"]}"#);
        let shown = |rules: &Redactor, url: &str| rules.page_text(url, "Balance 12");
        assert_eq!(shown(&rules, "about:blank"), "[REDACTED]");
        assert_eq!(shown(&rules, "https://shop.test/"), "Balance 12");
        assert_eq!(shown(&unconfigured(), "about:blank"), "Balance 12");
    }

    /// H-395 on code: where a named secret shows and what a secret field holds, without any rule about pictures
    #[test]
    fn named_secrets_have_regions_without_rules() {
        let at = |x: i32, element: Element| Element { bounds: Rect::new(x, 0, 10, 10), ..element };
        let tree = tree_of(vec![
            at(10, secret("Password", "hunter2")),
            at(20, secret("Password", "")),
            at(30, valued("Document", "Entry", "it is correct-horse")),
            at(50, valued("Text", "plain", "")),
        ]);
        let redactor = unconfigured();
        assert!(!redactor.hides_pixels());
        redactor.keep_named("correct-horse");
        assert!(redactor.hides_pixels() && !redactor.blurs_screenshots());
        let lefts: Vec<i32> = redactor.named_secret_regions(&tree).iter().map(|region| region.x).collect();
        assert_eq!(lefts, [10, 30]);
    }

    #[test]
    fn an_invalid_pattern_is_named() {
        for (json, named) in [
            (r#"{"element_name_patterns":["ok","(a"]}"#, "redaction.element_name_patterns[1] '(a'"),
            (r#"{"enabled":false,"ocr_text_patterns":["(?=x"]}"#, "redaction.ocr_text_patterns[0] '(?=x'"),
        ] {
            let error = Redactor::new(Some(serde_json::from_str(json).unwrap())).unwrap_err();
            assert!(error.starts_with(named), "{error}");
        }
    }

    #[test]
    fn regions_are_those_of_what_is_hidden() {
        let at = |x: i32, element: Element| Element { bounds: Rect::new(x, 0, 10, 10), ..element };
        let tree = tree_of(vec![
            at(10, secret("Password", "hunter2")),
            at(30, valued("Text", "Zoom", "")),
            at(50, valued("Text", "it is hunter2", "")),
            at(70, valued("Text", "plain", "")),
        ]);
        let json =
            r#"{"element_name_patterns":["Zoom"],"window_title_patterns":["Bank"],"blur_screenshots":true}"#;
        let redactor = redactor(json);
        let lefts = |title: &str| -> Vec<i32> {
            redactor.secret_regions(&tree, title).iter().map(|region| region.x).collect()
        };
        assert_eq!(lefts("Notes"), [10, 30, 50]);
        assert_eq!(lefts("Bank"), [0]);
        let without_rules = unconfigured().secret_regions(&tree, "Bank");
        assert_eq!(without_rules.iter().map(|region| region.x).collect::<Vec<_>>(), [10, 50]);
        assert!(!unconfigured().hides_pixels());
    }

    /// A field with scroll bars in it, in a window that has the secret in its title.
    #[test]
    fn a_field_that_shows_a_secret_is_black_with_what_is_in_it() {
        let place = |x: i32| Rect::new(x, 0, 10, 10);
        let mut builder = TreeBuilder::new(Element::new("Window", "S3NTINEL-9f2c", Rect::new(0, 0, 99, 99)));
        builder.open(Element::new("Group", "S3NTINEL-9f2c", Rect::new(0, 0, 50, 50)));
        builder.open(Element { bounds: place(10), ..valued("Edit", "Notes", "S3NTINEL-9f2c") });
        builder.add_leaf(Element::new("ScrollBar", "", place(10)));
        builder.close();
        builder.close();
        builder.add_leaf(Element { bounds: place(60), ..valued("Edit", "Other", "plain") });
        let (tree, redactor) = (builder.finish(), unconfigured());
        redactor.learn_secret("S3NTINEL-9f2c");
        assert_eq!(redactor.secret_regions(&tree, "t"), [place(10)]);
        assert_eq!(unreadable(&redactor, &tree, "t", Rect::default()), [place(10)]);
        assert!(unconfigured().unreadable_places(&tree, "t", Rect::default()).is_empty());
    }

    #[test]
    fn the_status_is_the_contracts() {
        let json = |redactor: &Redactor| serde_json::to_string(&redactor.redaction_status()).unwrap();
        assert_eq!(json(&unconfigured()), r#"{"enabled":false,"active":false}"#);
        let redactor = redactor(r#"{"element_name_patterns":["Zoom"],"ocr_text_patterns":["Hello"]}"#);
        redactor.shown(&tree_of(vec![valued("Text", "Zoom", "100%")]), "");
        redactor.text("Hello");
        assert_eq!(
            json(&redactor),
            r#"{"enabled":true,"active":true,"patterns_count":2,"applied_count":2,"blur_screenshots":false}"#
        );
    }

    #[test]
    fn rules_without_patterns_are_enabled_but_not_active() {
        let status = redactor("{}").redaction_status();
        assert!(status.enabled && !status.active);
        let status = redactor(r#"{"enabled":false,"ocr_text_patterns":["a"]}"#).redaction_status();
        assert!(!status.enabled && !status.active);
        assert_eq!(redactor(r#"{"enabled":false,"ocr_text_patterns":["a"]}"#).text("a"), "a");
    }

    const PATTERNS: &[&str] = &[
        "RED", "[a-c]+", "A.*", "^x", "x$", r"\bab\b", ".", "..", "", "a*", r"\]a", "D]|a", r"^\[", "TED].",
    ];
    const REPLACEMENTS: &[&str] = &["[REDACTED]", "", "*", "aa", "aba", "x", "bRED"];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn redacting_twice_is_redacting_once(
            patterns in prop::collection::vec(prop::sample::select(PATTERNS), 0..4),
            replacement in prop::sample::select(REPLACEMENTS),
            secrets in prop::collection::vec("[abxRED\\[\\]]{4,6}", 0..3),
            text in "([abxREDACT\\[\\]\\n *]|\\[REDACTED\\]|aba|aa){0,20}",
        ) {
            let rules = Redaction {
                ocr_text_patterns: patterns.iter().map(|p| (*p).to_owned()).collect(),
                replacement: replacement.to_owned(),
                ..Redaction::default()
            };
            let redactor = Redactor::new(Some(rules)).unwrap();
            secrets.iter().for_each(|secret| redactor.learn_secret(secret));
            let once = redactor.text(&text).into_owned();
            prop_assert_eq!(redactor.text(&once), once.as_str());
        }

        /// None of these secrets shares a character with the replacement, so none may be left.
        #[test]
        fn no_learned_secret_is_left(
            secrets in prop::collection::vec("[abc]{4,6}", 1..5),
            text in "[abc ]{0,60}",
        ) {
            let redactor = unconfigured();
            secrets.iter().for_each(|secret| redactor.learn_secret(secret));
            let shown = redactor.text(&text).into_owned();
            prop_assert!(!secrets.iter().any(|secret| shown.contains(secret.as_str())), "{}", shown);
        }
    }
}
