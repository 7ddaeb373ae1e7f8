//! Elements found by words instead of paths: what is written on them, what they are, roughly.
//!
//! Looks at the shown trees alone, so nothing hidden can be felt for.

use std::sync::Arc;

use super::find_row::row_names;
use super::identity::element_label;
use super::outline::{OutlineOptions, in_view, is_actionable, neighbor_lines};
use super::{Observer, Ref, ResolvedWindow, View, WindowChoice};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::{Element, Role, Tree, Window};

/// What is sought: words, a role, or both.
#[derive(Clone, Debug, Default)]
pub struct SearchWords {
    pub text: Option<String>,
    pub role: Option<String>,
    pub most: usize,
}

/// The best matches, the best first, and where was looked.
#[derive(Debug)]
pub struct SearchResult {
    pub matches: Vec<ElementMatch>,
    /// How many more match.
    pub more: usize,
    pub windows: usize,
    pub elements: usize,
    /// Windows that could not be read, and why.
    pub unreadable: Vec<(String, String)>,
}

type WindowHit = (SearchHit, ResolvedWindow, Arc<View>);

impl SearchResult {
    fn add_window(
        &mut self,
        query: &SearchQuery,
        chosen: ResolvedWindow,
        view: Arc<View>,
        hits: &mut Vec<WindowHit>,
    ) {
        self.windows += 1;
        self.elements += view.tree().len();
        hits.extend(query.find_hits(view.tree()).map(|hit| (hit, chosen.clone(), view.clone())));
    }
}

#[derive(Debug)]
pub struct ElementMatch {
    /// From 0 to 1.
    pub score: f64,
    pub reference: Ref,
    pub chosen: ResolvedWindow,
    pub view: Arc<View>,
    pub node: usize,
    /// The named elements around it, the outermost first.
    pub path: String,
    /// What an outline shows before and after it.
    pub around: [Option<String>; 2],
    /// The part of a long name that has the words, where a line would end before it.
    pub excerpt: Option<String>,
    /// What stands in its row.
    pub row: String,
    /// Words that were sought stand there and not on it.
    pub by_row: bool,
}

/// Below this two texts have little in common.
const LEAST: f64 = 0.45;
/// A word that is off by more is another word.
const LEAST_OF_A_WORD: f64 = 0.65;
const PATH_STEPS: usize = 3;

impl Observer {
    /// Looks for words in the window that is named, or in all windows.
    pub fn search_words(
        &self,
        window: &WindowChoice,
        sought: &SearchWords,
        cancel: &Cancel,
    ) -> Result<SearchResult> {
        let query = SearchQuery::of(sought);
        let mut search =
            SearchResult { matches: Vec::new(), more: 0, windows: 0, elements: 0, unreadable: Vec::new() };
        let mut hits = Vec::new();
        let mut unread = Vec::new();
        for chosen in self.windows_to_search(window)? {
            cancel.check()?;
            match self.look_at(&chosen, cancel) {
                Ok(look) if look.view.is_dark() => unread.push((chosen, look.view)),
                Ok(look) => search.add_window(&query, chosen, look.view, &mut hits),
                Err(error) if error.kind == Kind::Cancelled || !window.is_empty() => return Err(error),
                Err(error) => search.unreadable.push((chosen.window.uid, error.message)),
            }
        }
        // Reading takes long: it is for what the caller works with, and for the rest when nothing else was found.
        unread.sort_by_key(|(chosen, _)| !self.is_worked_with(chosen, window));
        for (chosen, view) in unread {
            let worth = hits.is_empty() || self.is_worked_with(&chosen, window);
            let view = if worth { self.view_or_reading(&chosen, view, cancel)? } else { view };
            search.add_window(&query, chosen, view, &mut hits);
        }
        // Stable: of equals, what comes first on the screen stays first.
        hits.sort_by(|(one, ..), (other, ..)| other.score.total_cmp(&one.score));
        search.more = hits.len().saturating_sub(sought.most);
        hits.truncate(sought.most);
        for (hit, chosen, view) in hits {
            search.matches.push(self.build_match(hit, chosen, view, sought)?);
        }
        Ok(search)
    }

    /// The caller named it, or was shown elements of it, or a person would type into it.
    fn is_worked_with(&self, chosen: &ResolvedWindow, named: &WindowChoice) -> bool {
        !named.is_empty() || chosen.raw.focused || self.refs().knows_window(&chosen.raw.uid)
    }

    /// The focused window first: of equals, its elements are meant.
    fn windows_to_search(&self, window: &WindowChoice) -> Result<Vec<ResolvedWindow>> {
        if !window.is_empty() {
            return Ok(vec![self.resolve_window(window)?]);
        }
        let desktop = self.desktop()?;
        let mut windows: Vec<&Window> = desktop.windows().iter().collect();
        windows.sort_by_key(|window| !window.focused);
        Ok(windows.into_iter().map(|window| self.resolve_raw(&desktop, window, None)).collect())
    }

    fn build_match(
        &self,
        hit: SearchHit,
        chosen: ResolvedWindow,
        view: Arc<View>,
        sought: &SearchWords,
    ) -> Result<ElementMatch> {
        let (tree, node) = (view.tree(), hit.node);
        Ok(ElementMatch {
            score: (hit.score * 100.0).round() / 100.0,
            reference: self.show_ref(&chosen, &view, node)?,
            path: ancestor_path(tree, node),
            around: neighbor_lines(tree, &OutlineOptions::default(), node),
            excerpt: sought.text.as_deref().and_then(|text| excerpt_of(&tree[node].name, text)),
            row: row_names(tree, node).join(" · "),
            by_row: hit.by_row,
            chosen,
            node,
            view,
        })
    }
}

/// `Dialog "Save" > Group "Format"`: the last named ancestors, without the window.
fn ancestor_path(tree: &Tree, node: usize) -> String {
    let named = |at: &usize| *at != Tree::ROOT && !tree[*at].name.trim().is_empty();
    let above = std::iter::successors(tree.parent(node), |&at| tree.parent(at)).filter(named);
    let mut steps: Vec<String> = above.take(PATH_STEPS).map(|at| element_label(&tree[at])).collect();
    steps.reverse();
    steps.join(" > ")
}

/// The part of a text around the first of the words that it has, if that does not stand at its beginning.
fn excerpt_of(text: &str, sought: &str) -> Option<String> {
    let lower: Vec<char> =
        text.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect();
    let find = |words: &str| {
        let words: Vec<char> = words.to_lowercase().chars().collect();
        (!words.is_empty()).then(|| lower.windows(words.len()).position(|part| part == words)).flatten()
    };
    let longest_first = || {
        let mut words: Vec<&str> = sought.split_whitespace().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.into_iter().find_map(find)
    };
    let at = find(sought.trim()).or_else(longest_first)?;
    let start = (at >= EXCERPT_FROM).then(|| at - EXCERPT_BEFORE)?;
    Some(format!("…{}", text.chars().skip(start).collect::<String>()))
}

/// A line shows a text up to about here.
const EXCERPT_FROM: usize = 40;
const EXCERPT_BEFORE: usize = 15;

#[derive(Debug)]
struct SearchHit {
    score: f64,
    node: usize,
    by_row: bool,
}

/// What is found by words of its row comes after what says all of them itself.
const BY_ROW: f64 = 0.84;
/// What it adds to that to have all but one of the words itself, at most.
const MOST_OF_SHARE: f64 = 0.05;

/// A word that begins so, and a role that is nearly the one that was asked for.
const LIKE_WORD: f64 = 0.9;
const LIKE_ROLE: f64 = 0.9;

/// What people call things, and the roles that are meant. A role's own name need not stand here.
const CALLED: &[(&str, &[Role])] = &[
    ("field", &[Role::Edit, Role::Document, Role::Spinner]),
    ("input", &[Role::Edit, Role::Document, Role::Spinner]),
    ("textbox", &[Role::Edit, Role::Document]),
    ("textfield", &[Role::Edit, Role::Document]),
    ("entry", &[Role::Edit]),
    ("editor", &[Role::Document, Role::Edit]),
    ("dropdown", &[Role::ComboBox]),
    ("select", &[Role::ComboBox]),
    ("combo", &[Role::ComboBox]),
    ("link", &[Role::Hyperlink, Role::Link]),
    ("checkbox", &[Role::CheckBox]),
    ("radio", &[Role::RadioButton]),
    ("toggle", &[Role::ToggleButton, Role::Switch, Role::CheckBox]),
    ("switch", &[Role::Switch, Role::ToggleButton]),
    ("tab", &[Role::TabItem, Role::Tab]),
    ("menu", &[Role::Menu, Role::MenuItem]),
    ("row", &[Role::Row, Role::ListItem, Role::TreeItem, Role::DataItem]),
    ("item", &[Role::ListItem, Role::MenuItem, Role::TreeItem]),
    ("cell", &[Role::DataItem]),
    ("label", &[Role::Text]),
    ("popup", &[Role::Dialog, Role::AlertDialog, Role::Menu]),
    ("spinbutton", &[Role::Spinner]),
];

/// The words sought, prepared once.
struct SearchQuery {
    text: Option<FoldedWords>,
    /// The text without the words that only say what kind of element it is on.
    bare: Option<FoldedWords>,
    role: Option<Vec<String>>,
    /// A role that the words of the text name: it speaks for an element, but its absence not against it.
    hint: Option<Vec<String>>,
}

impl SearchQuery {
    fn of(sought: &SearchWords) -> Self {
        let text = sought.text.as_deref().map(FoldedWords::of).filter(|text| !text.words.is_empty());
        let hinted = text.as_ref().and_then(|text| {
            let at = text.words.iter().rposition(|word| is_called(word))?;
            let mut rest = text.words.clone();
            let word = rest.remove(at);
            (!rest.is_empty()).then(|| (roles_called(&word), FoldedWords::of_words(rest)))
        });
        let (hint, bare) = hinted.unzip();
        Self { text, bare, role: sought.role.as_deref().map(|role| roles_called(&fold_role(role))), hint }
    }

    fn find_hits<'a>(&'a self, tree: &'a Tree) -> impl Iterator<Item = SearchHit> + 'a {
        let seen = in_view(tree, Tree::ROOT);
        (0..tree.len()).filter_map(move |node| {
            let own = self.score_element(&tree[node]);
            let share = if own.is_none_or(|own| own < BY_ROW) { self.share_by_row(tree, node) } else { None };
            let (score, by_row) = match share {
                Some(share) => (BY_ROW + MOST_OF_SHARE * share, true),
                None => (own?, false),
            };
            // What cannot be seen or used now is seldom meant.
            let unlikely = if seen[node] { 0.0 } else { 0.05 };
            let usable = if is_actionable(&tree[node]) { 0.0 } else { 0.02 };
            Some(SearchHit { score: score - unlikely - usable, node, by_row })
        })
    }

    /// How many of the words something to act on has itself, where it has one of them, or the role that is sought, and
    /// its row all the others: a button of that name is meant rather than the cell beside it.
    fn share_by_row(&self, tree: &Tree, node: usize) -> Option<f64> {
        let sought = self.bare.as_ref().filter(|_| self.hint.is_some()).or(self.text.as_ref())?;
        let element = &tree[node];
        let roles = self.role.as_ref().or(self.hint.as_ref());
        let of_role = roles.map(|roles| role_score(roles, element.role.name()) >= LIKE_ROLE);
        if !is_actionable(element) || of_role == Some(false) {
            return None;
        }
        let says = [Some(element.name.as_str()), element.description.as_deref()];
        let name = FoldedWords::of(&says.into_iter().flatten().collect::<Vec<_>>().join(" "));
        let is_in = |word: &String, words: &FoldedWords| best_word(word, &words.words) >= LIKE_WORD;
        let (own, rest): (Vec<&String>, Vec<&String>) =
            sought.words.iter().partition(|word| is_in(word, &name));
        if rest.is_empty() || (own.is_empty() && of_role.is_none()) {
            return None;
        }
        let row = FoldedWords::of(&row_names(tree, node).join(" "));
        let share = own.len() as f64 / sought.words.len() as f64;
        rest.into_iter().all(|word| is_in(word, &row)).then_some(share)
    }

    fn score_element(&self, element: &Element) -> Option<f64> {
        let role = self.role.as_ref().map_or(1.0, |roles| role_score(roles, element.role.name()));
        let text = match &self.text {
            None => 1.0,
            Some(text) => {
                let whole = text_score(text, element);
                let fits = |roles: &Vec<String>| role_score(roles, element.role.name()) == 1.0;
                match (&self.bare, &self.hint) {
                    (Some(bare), Some(roles)) if fits(roles) => whole.max(text_score(bare, element)),
                    (Some(bare), _) => whole.max(0.8 * text_score(bare, element)),
                    _ => whole,
                }
            }
        };
        let score = text * role;
        (score >= LEAST).then_some(score)
    }
}

fn fold_role(role: &str) -> String {
    role.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_called(word: &str) -> bool {
    CALLED.iter().any(|(name, _)| *name == word)
        || matches!(word, "button" | "edit" | "slider" | "dialog" | "list")
}

/// The roles that a word means, folded; its own letters are always one of them.
fn roles_called(word: &str) -> Vec<String> {
    let known = CALLED.iter().find(|(name, _)| *name == word);
    let roles = known.map_or(&[][..], |(_, roles)| roles);
    roles.iter().map(|role| fold_role(role.name())).chain([word.to_owned()]).collect()
}

/// A button is a toggle button, nearly; what is not alike at all takes a match more than half of its score.
fn role_score(wanted: &[String], role: &str) -> f64 {
    let role = fold_role(role);
    let like = |wanted: &String| {
        if *wanted == role {
            1.0
        } else if role.ends_with(wanted.as_str()) {
            0.9
        } else {
            0.4 * strsim::jaro_winkler(wanted, &role)
        }
    };
    wanted.iter().map(like).fold(0.0, f64::max)
}

/// The best of what is written on the element. Its name says most.
fn text_score(sought: &FoldedWords, element: &Element) -> f64 {
    let texts = [
        (Some(&element.name), 1.0),
        (element.value.as_ref(), 0.95),
        (element.description.as_ref(), 0.9),
        (element.identifier.as_ref(), 0.85),
    ];
    let known = texts.into_iter().filter_map(|(text, weight)| Some((text?, weight)));
    known.map(|(text, weight)| weight * text_similarity(sought, &FoldedWords::of(text))).fold(0.0, f64::max)
}

/// A text for comparison: small letters, words only.
struct FoldedWords {
    words: Vec<String>,
    line: String,
}

/// Of a long text only the beginning is compared with words that are written alike; all of it with the words themselves.
const MOST_WORDS: usize = 64;

impl FoldedWords {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_owned).collect();
        if words.is_empty() && !lower.trim().is_empty() {
            // Signs alone, as on the keys of a calculator.
            return Self::of_words(vec![lower.trim().to_owned()]);
        }
        Self::of_words(words)
    }

    fn of_words(words: Vec<String>) -> Self {
        Self { line: words.join(" "), words }
    }
}

/// From 0 to 1: the same, in it, the same words, words that are nearly the same.
fn text_similarity(sought: &FoldedWords, text: &FoldedWords) -> f64 {
    if text.words.is_empty() {
        return 0.0;
    }
    if sought.line == text.line {
        return 1.0;
    }
    let share = sought.line.len().min(text.line.len()) as f64 / sought.line.len().max(text.line.len()) as f64;
    let in_it = format!(" {} ", text.line).contains(&format!(" {} ", sought.line));
    if in_it {
        return 0.85 + 0.1 * share;
    }
    if text.line.starts_with(&sought.line) {
        return 0.8 + 0.1 * share;
    }
    let each = sought.words.iter().map(|word| best_word(word, &text.words));
    let mean = each.sum::<f64>() / sought.words.len() as f64;
    mean * (0.75 + 0.1 * share)
}

fn best_word(sought: &str, words: &[String]) -> f64 {
    let like = |(at, word): (usize, &String)| {
        if word == sought {
            1.0
        } else if word.starts_with(sought) {
            0.9
        } else if at >= MOST_WORDS {
            0.0
        } else {
            let near = strsim::normalized_damerau_levenshtein(sought, word);
            if near >= LEAST_OF_A_WORD { near } else { 0.0 }
        }
    };
    words.iter().enumerate().map(like).fold(0.0, f64::max)
}

/// Nothing to look for is a mistake of the caller.
pub fn check_sought(sought: &SearchWords) -> Result<()> {
    let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    if given(&sought.text) || given(&sought.role) {
        return Ok(());
    }
    Err(Error::bad_request("find needs text, a role or both").with("field", "text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Rect, TreeBuilder};

    fn tree() -> Tree {
        let place = Rect::new(0, 0, 9, 9);
        let mut tree = TreeBuilder::new(Element::new("Window", "Editor", place));
        for (role, name) in [
            ("Button", "Save"),
            ("Button", "Save as…"),
            ("Edit", "E-mail address"),
            ("Text", "Save your work often"),
            ("CheckBox", "Remember me"),
            ("Button", "÷"),
            ("Hyperlink", "Terms and conditions"),
        ] {
            tree.add_leaf(Element::new(role, name, place));
        }
        tree.add_leaf(Element { hidden: true, ..Element::new("MenuItem", "Save", place) });
        tree.add_leaf(Element { value: Some("alice".to_owned()), ..Element::new("Edit", "User", place) });
        tree.finish()
    }

    fn check(text: &str, role: &str, expected: &[&str]) {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let sought = SearchWords { text: given(text), role: given(role), most: 9 };
        let tree = tree();
        let mut hits: Vec<SearchHit> = SearchQuery::of(&sought).find_hits(&tree).collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        let found: Vec<String> =
            hits.iter().take(expected.len()).map(|hit| element_label(&tree[hit.node])).collect();
        assert_eq!(found, expected, "{text} {role}: {hits:?}");
        if expected.is_empty() {
            assert!(hits.is_empty(), "{text} {role}: {hits:?}");
        }
    }

    #[test]
    fn the_same_words_come_first() {
        check("save", "", &["Button \"Save\"", "MenuItem \"Save\"", "Button \"Save as…\""]);
        check("Save as", "", &["Button \"Save as…\""]);
        check("terms", "", &["Hyperlink \"Terms and conditions\""]);
    }

    #[test]
    fn the_row_tells_buttons_with_one_tooltip_apart() {
        let place = Rect::new(0, 0, 9, 9);
        let mut tree = TreeBuilder::new(Element::new("Window", "Stock", place));
        for item in ["Lamp", "Chair", "Shelf"] {
            tree.open(Element::new("Row", "", place));
            tree.add_leaf(Element::new("DataItem", item, place));
            let description = Some("Delete record".to_owned());
            tree.add_leaf(Element { description, ..Element::new("Button", "\u{f1f8}", place) });
            tree.close();
        }
        let tree = tree.finish();
        let text = Some("Delete record Shelf".to_owned());
        let sought = SearchWords { text, role: Some("button".to_owned()), most: 3 };
        let best =
            SearchQuery::of(&sought).find_hits(&tree).max_by(|one, other| one.score.total_cmp(&other.score));
        assert_eq!(best.map(|hit| (hit.node, hit.by_row)), Some((tree.len() - 1, true)));
    }

    #[test]
    fn a_button_comes_before_the_cells_of_its_row() {
        let place = Rect::new(0, 0, 9, 9);
        let mut tree = TreeBuilder::new(Element::new("Window", "Stock", place));
        for item in ["Lamp", "Shelf"] {
            tree.open(Element::new("Row", "", place));
            tree.add_leaf(Element { selected: Some(false), ..Element::new("ListItem", item, place) });
            tree.add_leaf(Element::new("Button", "Delete record", place));
            tree.close();
        }
        let tree = tree.finish();
        let sought = SearchWords { text: Some("Delete record Shelf".to_owned()), role: None, most: 3 };
        let best =
            SearchQuery::of(&sought).find_hits(&tree).max_by(|one, other| one.score.total_cmp(&other.score));
        assert_eq!(best.map(|hit| (hit.node, hit.by_row)), Some((tree.len() - 1, true)));
    }

    #[test]
    fn all_of_a_long_text_is_searched() {
        let text = format!("{} the warranty ends in March", "word ".repeat(300));
        let mut tree = TreeBuilder::new(Element::new("Window", "Shop", Rect::default()));
        tree.add_leaf(Element::new("Text", text.as_str(), Rect::new(0, 0, 9, 9)));
        let tree = tree.finish();
        let hits = |text: &str| {
            let sought = SearchWords { text: Some(text.to_owned()), ..SearchWords::default() };
            SearchQuery::of(&sought).find_hits(&tree).filter(|hit| hit.node == 1).count()
        };
        assert_eq!((hits("warranty"), hits("warranty ends in march"), hits("guarantee")), (1, 1, 0));
        let excerpt = excerpt_of(&text, "Warranty ends").unwrap();
        assert!(excerpt.starts_with('…') && excerpt.contains(" the warranty ends"), "{excerpt}");
        assert_eq!(excerpt_of("a short text", "short"), None);
        assert_eq!(excerpt_of("", "short"), None);
    }

    #[test]
    fn slips_are_forgiven() {
        check("remeber me", "", &["CheckBox \"Remember me\""]);
        check("email adress", "", &["Edit \"E-mail address\""]);
        check("conditons", "", &["Hyperlink \"Terms and conditions\""]);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        check("print", "", &[]);
        check("xyzzy", "button", &[]);
    }

    #[test]
    fn a_role_narrows() {
        check("save", "text", &["Text \"Save your work often\""]);
        check("", "checkbox", &["CheckBox \"Remember me\""]);
        check("", "text field", &["Edit \"E-mail address\"", "Edit \"User\""]);
        check("", "link", &["Hyperlink \"Terms and conditions\""]);
    }

    #[test]
    fn words_of_its_row_tell_which_button_is_meant() {
        let mut tree = TreeBuilder::new(Element::new("Window", "Hotel", Rect::new(0, 0, 900, 900)));
        for (at, room) in ["Single room", "Deluxe room"].into_iter().enumerate() {
            let y = 100 * at as i32;
            tree.add_leaf(Element::new("Text", room, Rect::new(0, y, 90, 20)));
            tree.add_leaf(Element::new("Button", "Book", Rect::new(200, y, 60, 24)));
        }
        let tree = tree.finish();
        let found = |text: &str, role: Option<&str>| -> Vec<usize> {
            let sought = SearchWords { text: Some(text.to_owned()), role: role.map(str::to_owned), most: 9 };
            let mut hits: Vec<SearchHit> = SearchQuery::of(&sought).find_hits(&tree).collect();
            hits.sort_by(|one, other| other.score.total_cmp(&one.score));
            hits.into_iter().map(|hit| hit.node).collect()
        };
        assert_eq!(found("book deluxe", None), [4]);
        assert_eq!(found("deluxe book button", None)[0], 4);
        assert_eq!(found("deluxe", Some("button")), [4]);
        assert_eq!(found("book", None), [2, 4]);
    }

    #[test]
    fn a_role_among_the_words_is_understood() {
        check("save button", "", &["Button \"Save\""]);
        check("e-mail field", "", &["Edit \"E-mail address\""]);
    }

    #[test]
    fn values_and_signs_are_found() {
        check("alice", "", &["Edit \"User\""]);
        check("÷", "", &["Button \"÷\""]);
    }

    #[test]
    fn a_path_has_the_named_ancestors() {
        let place = Rect::default();
        let mut tree = TreeBuilder::new(Element::new("Window", "w", place));
        tree.open(Element::new("Dialog", "Print", place));
        tree.open(Element::new("Group", "", place));
        let button = tree.add_leaf(Element::new("Button", "OK", place));
        assert_eq!(ancestor_path(&tree.finish(), button), "Dialog \"Print\"");
    }
}
