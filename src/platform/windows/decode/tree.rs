//! From the elements of UI Automation to a tree: walked within limits, pruned where they went away, and named as the
//! contract names them.
//!
//! The root is read first, alone: an application that does not answer that hangs. Then everything below it
//! comes in one answer (the cached subtree), and walking it needs no further calls. One element that goes
//! away meanwhile can cost that whole answer, and so can the time that a large window takes; then the tree
//! is walked element by element. What no longer exists is left out, and the tree says that it is not
//! complete.

use std::collections::HashSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::coordinates::rect_of;
use super::desktop::gone;
use super::errors::{Code, Meaning};
use super::roles::{self, RoleFacts};
use crate::clock::Deadline;
use crate::config::limits::{TREE_CHILDREN_OF_ONE_NODE, TREE_DEPTH, TREE_NODES};
use crate::model::element::Range;
use crate::model::{Element, Rect, Role, Tree, TreeBuilder, Window};
use crate::platform::normalize::{keep_one_focus, shortened, show_choices};

/// An element as UI Automation tells of it. A pattern that the element does not have is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RawElement {
    /// What tells it apart from all others for as long as it lives.
    pub runtime_id: Vec<i32>,
    pub control_type: i32,
    pub class: String,
    pub name: String,
    pub automation_id: String,
    pub help: String,
    pub accelerator: String,
    pub access_key: String,
    /// Left, top, right, bottom; all zero for what has no place.
    pub sides: [i32; 4],
    pub enabled: bool,
    pub focused: bool,
    pub offscreen: bool,
    pub password: bool,
    pub dialog: bool,
    pub invoke: bool,
    pub scroll_item: bool,
    /// Its children can be selected.
    pub selection: bool,
    pub value: Option<RawValue>,
    pub range: Option<RawRange>,
    /// 0 off, 1 on, 2 neither.
    pub toggle: Option<i32>,
    pub selected: Option<bool>,
    /// 0 collapsed, 1 expanded, 2 partly expanded, 3 has nothing to expand.
    pub expand: Option<i32>,
    /// The beginning of the text of an element that has no value.
    pub text: Option<String>,
    /// It has a text that can be read.
    pub has_text: bool,
    /// The system's window that it is, or that it is in; zero where nobody tells.
    pub window: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RawValue {
    pub text: String,
    pub read_only: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RawRange {
    pub now: f64,
    pub min: f64,
    pub max: f64,
    pub read_only: bool,
}

impl RawElement {
    pub fn bounds(&self) -> Rect {
        let [left, top, right, bottom] = self.sides;
        rect_of(left, top, right, bottom)
    }

    pub fn role(&self, root: bool) -> Role {
        roles::role(RoleFacts {
            control_type: self.control_type,
            class: &self.class,
            dialog: self.dialog,
            toggles: self.toggle.is_some(),
            root,
        })
    }

    /// `42.1116.4.3`: the platform's own name, by which the element is found again.
    pub fn native(&self) -> String {
        self.runtime_id.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    }

    pub fn range(&self) -> Range {
        let number = |it: f64| Some(it).filter(|it| it.is_finite());
        self.range.map_or_else(Range::default, |range| Range {
            now: number(range.now),
            min: number(range.min),
            max: number(range.max),
        })
    }

    /// Marks and selections are one thing to a person.
    pub fn selected(&self) -> Option<bool> {
        self.toggle.map(|state| state == 1).or(self.selected)
    }

    pub fn expanded(&self) -> Option<bool> {
        self.expand.filter(|state| *state != 3).map(|state| state != 0)
    }

    /// Its text can be changed by typing.
    pub fn editable(&self) -> bool {
        let role = self.role(false);
        let open = self.value.as_ref().map_or(self.has_text && role == Role::Edit, |value| !value.read_only);
        self.enabled && open && role.takes_text()
    }

    /// What it holds beside its name. A password is never read; the dots in its place are no news.
    fn value(&self) -> Option<String> {
        if self.password {
            return None;
        }
        if let Some(value) = &self.value {
            // Many elements offer a value and have none: only what is meant to hold a text may hold an empty one.
            let meant = self.role(false).takes_text();
            return (meant || !value.text.is_empty()).then(|| shortened(&value.text, None));
        }
        let number = self.range().now.map(|now| now.to_string());
        number.or_else(|| self.text.as_deref().map(|text| shortened(text, None)))
    }

    /// Keys that do it from anywhere, else those that do it while its menu or window is open.
    fn shortcut(&self) -> Option<String> {
        [&self.accelerator, &self.access_key].into_iter().find(|keys| !keys.is_empty()).cloned()
    }

    pub fn element(&self, root: bool) -> Element {
        let bounds = self.bounds();
        Element {
            role: self.role(root),
            name: shortened(&self.name, None),
            value: self.value(),
            bounds,
            enabled: self.enabled,
            focused: self.focused,
            selected: self.selected(),
            expanded: self.expanded(),
            range: self.range(),
            shortcut: self.shortcut(),
            description: Some(&self.help).filter(|help| !help.is_empty()).map(|help| shortened(help, None)),
            identifier: Some(&self.automation_id).filter(|id| !id.is_empty()).cloned(),
            secret: self.password,
            redacted: false,
            editable: self.editable(),
            read_only: false,
            invalid: false,
            hidden: self.offscreen || bounds.is_empty(),
            unseen: None,
            native: Some(self.native()).filter(|native| !native.is_empty()),
            label_links: Box::default(),
            shown_text: None,
            native_is_place: false,
            is_document: false,
        }
    }
}

/// The runtime id that a native name stands for.
pub fn runtime_id(native: &str) -> Option<Vec<i32>> {
    native.split('.').map(|part| part.parse().ok()).collect()
}

/// An element whose answers came with it. Its children came too, or are asked for.
pub trait Cached: Sized {
    fn facts(&self) -> Result<RawElement, Code>;

    fn children(&self) -> Result<Vec<Self>, Code>;
}

/// How much of a window is read at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub nodes: usize,
    pub depth: usize,
    pub children: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: TREE_NODES, depth: TREE_DEPTH, children: TREE_CHILDREN_OF_ONE_NODE }
    }
}

/// How long reading may take. What was read until then is told; waiting for the last answer must fit in too.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    deadline: Deadline,
    pub per_call: Duration,
}

impl Time {
    pub fn new(whole: Duration, per_call: Duration) -> Self {
        let per_call = per_call.min(whole / 2);
        Self { deadline: Deadline::after(whole - per_call), per_call }
    }

    pub fn is_over(&self) -> bool {
        self.deadline.is_over()
    }

    pub fn left(&self) -> Duration {
        self.deadline.left()
    }

    /// How long the one answer for everything may take, so that there is time to ask for the parts instead.
    pub fn for_all(&self) -> Duration {
        (self.left() / 2).max(self.per_call)
    }
}

/// Who is asked for a window's elements, or for those below an element.
pub trait Source {
    type Node: Cached;

    /// The root alone; its children are asked for when they are wanted.
    fn root(&mut self) -> Result<Self::Node, Code>;

    /// The root with everything below it.
    fn all(&mut self, root: &Self::Node) -> Result<Self::Node, Code>;

    /// Whether what is read is still there.
    fn lives(&self) -> bool;

    fn is_over(&self) -> bool;
}

/// The elements in pre-order with their depths, and whether they are all that there are.
#[derive(Debug)]
pub struct Gathered<C> {
    pub found: Vec<(usize, RawElement, C)>,
    pub complete: bool,
    placed: HashSet<Vec<i32>>,
}

/// Reads what is there, in one answer if that can be had.
pub fn read<S: Source>(source: &mut S, limits: Limits) -> Result<Gathered<S::Node>, Code> {
    let root = again_if_alive(source, |source| source.root())?;
    let mut gathered = Gathered::new();
    match again_if_alive(source, |source| source.all(&root)) {
        Ok(all) => gathered.add(all, 0, limits, || source.is_over())?,
        Err(code) if code.meaning().is_of_a_part() => {
            tracing::debug!("a window cannot be read at once ({code}), so it is read part by part");
            gathered.add(root, 0, limits, || source.is_over())?;
        }
        Err(code) => return Err(code),
    }
    Ok(gathered)
}

/// Adds a menu or a list of the window below its root, unless it stands there already. One that closes meanwhile is not
/// missed.
pub fn read_popup<S: Source>(gathered: &mut Gathered<S::Node>, popup: u64, source: &mut S) {
    if gathered.found.iter().any(|(_, raw, _)| raw.window == popup) {
        return;
    }
    if source.is_over() {
        gathered.complete = false;
        return;
    }
    let added = source
        .root()
        .and_then(|root| source.all(&root))
        .and_then(|all| gathered.add(all, 1, Limits::default(), || source.is_over()));
    gathered.complete &= added.is_ok() || !source.lives();
}

/// A thing that is there and says that it is not is asked once more: it was a part of it that went away.
fn again_if_alive<S: Source, T>(
    source: &mut S,
    mut ask: impl FnMut(&mut S) -> Result<T, Code>,
) -> Result<T, Code> {
    match ask(source) {
        Err(code) if code.meaning() == Meaning::Gone && source.lives() && !source.is_over() => ask(source),
        answer => answer,
    }
}

impl<C: Cached> Gathered<C> {
    fn new() -> Self {
        Self { found: Vec::new(), complete: true, placed: HashSet::new() }
    }

    /// Walks down from an element that stands at `top`. One that went away takes what is below it along; one that fails
    /// otherwise too. What is there already is not told twice.
    pub fn add(
        &mut self,
        root: C,
        top: usize,
        limits: Limits,
        is_over: impl Fn() -> bool,
    ) -> Result<(), Code> {
        let mut stack = vec![(top, 0, root)];
        while let Some((depth, around, node)) = stack.pop() {
            let first = self.found.is_empty();
            if self.found.len() >= limits.nodes || (!first && is_over()) {
                self.complete = false;
                break;
            }
            let mut facts = match node.facts() {
                Ok(facts) => facts,
                Err(code) if first => return Err(code),
                Err(_) => {
                    self.complete = false;
                    continue;
                }
            };
            // Providers that are their own grandchildren have been seen.
            if !facts.runtime_id.is_empty() && !self.placed.insert(facts.runtime_id.clone()) {
                continue;
            }
            if facts.window == 0 {
                facts.window = around;
            }
            let window = facts.window;
            let mut children = self.children(&node);
            self.found.push((depth, facts, node));
            if depth >= limits.depth {
                self.complete &= children.is_empty();
                continue;
            }
            if children.len() > limits.children {
                self.complete = false;
                children.truncate(limits.children);
            }
            stack.extend(children.into_iter().rev().map(|child| (depth + 1, window, child)));
        }
        Ok(())
    }

    fn children(&mut self, node: &C) -> Vec<C> {
        node.children().unwrap_or_else(|code| {
            // No children is an error without a number to some providers.
            self.complete &= matches!(code.meaning(), Meaning::Unsupported | Meaning::Other);
            Vec::new()
        })
    }
}

/// What is told of a window whose tree could not be read. One that tells nothing of itself is a tree of its root alone
/// that says why; one that is gone, or does not answer, is an error.
pub fn lacking(window: &Window, code: Code, lives: bool) -> crate::error::Result<Tree> {
    let error = code.error("reading the tree");
    match code.meaning() {
        _ if !lives => Err(gone(&window.uid)),
        Meaning::Slow => Err(error),
        _ => Ok(bare(window.bounds, &window.title, error.message)),
    }
}

/// A window's tree. `bounds` and `title` are the window's own, as the list of windows has them.
pub fn tree<'a>(
    elements: impl Iterator<Item = (usize, &'a RawElement)>,
    complete: bool,
    bounds: Rect,
    title: &str,
) -> Tree {
    let mut builder: Option<TreeBuilder> = None;
    for (depth, raw) in elements {
        match &mut builder {
            None => {
                let mut root = raw.element(true);
                root.bounds = bounds;
                root.hidden = false;
                if root.name.is_empty() {
                    root.name = title.to_owned();
                }
                builder = Some(TreeBuilder::new(root));
            }
            Some(builder) => {
                while builder.depth() > depth.max(1) {
                    builder.close();
                }
                builder.open(raw.element(false));
            }
        }
    }
    let root = || Tree::of_root(Element::new(Role::Window, title, bounds));
    let mut tree = builder.map_or_else(root, TreeBuilder::finish);
    tree.complete = complete;
    show_choices(&mut tree);
    keep_one_focus(&mut tree);
    tree
}

/// The tree of a window about which nothing can be known, which says why.
pub fn bare(bounds: Rect, title: &str, why: impl Into<String>) -> Tree {
    let mut tree = Tree::of_root(Element::new(Role::Window, title, bounds));
    tree.lacking = Some(why.into());
    tree
}

/// Of how many elements the text is asked for, which costs a question each.
pub const MOST_TEXTS: usize = 64;

/// Whether an element's text is worth a question of its own.
pub fn wants_text(raw: &RawElement) -> bool {
    let written = matches!(raw.role(false), Role::Document | Role::Edit);
    raw.has_text && raw.value.is_none() && !raw.password && !raw.offscreen && written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use std::rc::Rc;

    /// A recorded element and those below it.
    #[derive(Clone, Debug, Default, Deserialize)]
    #[serde(default)]
    struct Recorded {
        #[serde(flatten)]
        facts: RawElement,
        children: Vec<Rc<Recorded>>,
        /// What asking for it answers instead.
        fails: Option<u32>,
    }

    impl Cached for Rc<Recorded> {
        fn facts(&self) -> Result<RawElement, Code> {
            match self.fails {
                Some(number) => Err(Code(number.cast_signed())),
                None => Ok(self.facts.clone()),
            }
        }

        fn children(&self) -> Result<Vec<Self>, Code> {
            Ok(self.children.clone())
        }
    }

    fn recorded(name: &str) -> Rc<Recorded> {
        let text = match name {
            "notepad" => include_str!("../../../../tests/fixtures/windows/notepad.json"),
            "calculator" => include_str!("../../../../tests/fixtures/windows/calculator.json"),
            "save_as" => include_str!("../../../../tests/fixtures/windows/save_as.json"),
            other => panic!("{other}"),
        };
        serde_json::from_str(text).unwrap()
    }

    const BOUNDS: Rect = Rect { x: 100, y: 100, width: 800, height: 600 };

    fn gather(root: Rc<Recorded>, limits: Limits) -> Result<Gathered<Rc<Recorded>>, Code> {
        let mut gathered = Gathered::new();
        gathered.add(root, 0, limits, || false)?;
        Ok(gathered)
    }

    fn read(root: Rc<Recorded>, limits: Limits) -> Tree {
        told(&gather(root, limits).unwrap())
    }

    fn told(gathered: &Gathered<Rc<Recorded>>) -> Tree {
        let elements = gathered.found.iter().map(|(depth, raw, _)| (*depth, raw));
        tree(elements, gathered.complete, BOUNDS, "The title")
    }

    fn outline(tree: &Tree) -> String {
        let line = |node: usize| {
            let element = &tree[node];
            let mut line = format!("{}{} '{}'", "  ".repeat(tree.depth(node)), element.role, element.name);
            let mut add = |word: &str, is: bool| {
                if is {
                    line.push(' ');
                    line.push_str(word);
                }
            };
            add(&format!("= '{}'", element.value.as_deref().unwrap_or_default()), element.value.is_some());
            add(
                &format!("<{}>", element.shortcut.as_deref().unwrap_or_default()),
                element.shortcut.is_some(),
            );
            add("on", element.selected == Some(true));
            add("off", element.selected == Some(false));
            add("open", element.expanded == Some(true));
            add("closed", element.expanded == Some(false));
            add("editable", element.editable);
            add("secret", element.secret);
            add("hidden", element.hidden);
            add("disabled", !element.enabled);
            add("focused", element.focused);
            line + "\n"
        };
        (0..tree.len()).map(line).collect()
    }

    #[test]
    fn notepad_is_read_as_a_person_sees_it() {
        let tree = read(recorded("notepad"), Limits::default());
        insta::assert_snapshot!(outline(&tree));
        assert!(tree.complete);
        let text = (0..tree.len()).find(|&node| tree[node].role == "Document").unwrap();
        assert_eq!(tree[text].native.as_deref(), Some("42.329066"));
        assert_eq!(tree[text].identifier.as_deref(), Some("15"));
        assert_eq!(tree[text].bounds, Rect::new(108, 151, 784, 520));
    }

    #[test]
    fn the_calculator_is_read_as_a_person_sees_it() {
        insta::assert_snapshot!(outline(&read(recorded("calculator"), Limits::default())));
    }

    #[test]
    fn a_dialog_of_the_explorer_is_read_as_a_person_sees_it() {
        insta::assert_snapshot!(outline(&read(recorded("save_as"), Limits::default())));
    }

    fn node(id: i32, children: Vec<Rc<Recorded>>) -> Rc<Recorded> {
        let facts = RawElement {
            runtime_id: vec![42, id],
            control_type: 50_026,
            name: id.to_string(),
            enabled: true,
            sides: [0, 0, 10, 10],
            ..RawElement::default()
        };
        Rc::new(Recorded { facts, children, fails: None })
    }

    fn names(tree: &Tree) -> Vec<&str> {
        tree.elements().iter().map(|element| element.name.as_str()).collect()
    }

    #[test]
    fn what_went_away_is_pruned_and_the_rest_is_kept() {
        let gone =
            Rc::new(Recorded { fails: Some(0x8004_0201), ..(*node(2, vec![node(3, Vec::new())])).clone() });
        let tree = read(node(1, vec![gone, node(4, Vec::new())]), Limits::default());
        assert_eq!((names(&tree), tree.complete), (vec!["1", "4"], false));
    }

    #[test]
    fn a_window_that_went_away_is_an_error() {
        let gone = Rc::new(Recorded { fails: Some(0x8004_0201), ..Recorded::default() });
        assert_eq!(gather(gone, Limits::default()).unwrap_err().meaning(), Meaning::Gone);
    }

    const GONE: Code = Code(0x8004_0201_u32.cast_signed());
    const SLOW: Code = Code(0x8013_1505_u32.cast_signed());
    const DENIED: Code = Code(0x8007_0005_u32.cast_signed());

    /// A window that answers as it is told to, and counts what it was asked.
    #[derive(Default)]
    struct Played {
        roots: Vec<Code>,
        alls: Vec<Code>,
        dead: bool,
        asked: Vec<&'static str>,
    }

    impl Source for Played {
        type Node = Rc<Recorded>;

        fn root(&mut self) -> Result<Rc<Recorded>, Code> {
            self.asked.push("root");
            if self.roots.is_empty() {
                Ok(node(1, vec![node(2, Vec::new())]))
            } else {
                Err(self.roots.remove(0))
            }
        }

        fn all(&mut self, _: &Rc<Recorded>) -> Result<Rc<Recorded>, Code> {
            self.asked.push("all");
            let whole = || node(1, vec![node(2, Vec::new()), node(3, Vec::new())]);
            if self.alls.is_empty() { Ok(whole()) } else { Err(self.alls.remove(0)) }
        }

        fn lives(&self) -> bool {
            !self.dead
        }

        fn is_over(&self) -> bool {
            false
        }
    }

    #[track_caller]
    fn check_read(mut played: Played, asked: &[&str], expected: Result<&[&str], Meaning>) {
        let gathered = super::read(&mut played, Limits::default());
        assert_eq!(played.asked, asked);
        match expected {
            Ok(expected) => assert_eq!(names(&told(&gathered.unwrap())), expected),
            Err(expected) => assert_eq!(gathered.unwrap_err().meaning(), expected),
        }
    }

    #[test]
    fn a_window_is_two_questions_and_more_only_where_it_must_be() {
        let (whole, parts): (&[&str], &[&str]) = (&["1", "2", "3"], &["1", "2"]);
        let played = |roots: &[Code], alls: &[Code], dead| Played {
            roots: roots.to_vec(),
            alls: alls.to_vec(),
            dead,
            asked: Vec::new(),
        };
        check_read(played(&[], &[], false), &["root", "all"], Ok(whole));
        check_read(played(&[], &[GONE], false), &["root", "all", "all"], Ok(whole));
        check_read(played(&[], &[GONE, GONE], false), &["root", "all", "all"], Ok(parts));
        check_read(played(&[], &[SLOW], false), &["root", "all"], Ok(parts));
        check_read(played(&[], &[DENIED], false), &["root", "all"], Err(Meaning::Denied));
        check_read(played(&[GONE], &[], false), &["root", "root", "all"], Ok(whole));
        check_read(played(&[GONE], &[], true), &["root"], Err(Meaning::Gone));
        check_read(played(&[SLOW], &[], false), &["root"], Err(Meaning::Slow));
    }

    #[test]
    fn what_a_window_that_is_not_read_comes_to() {
        let window = Window {
            uid: "hwnd:7".to_owned(),
            handle: String::new(),
            title: "Notes".to_owned(),
            process: String::new(),
            pid: 0,
            bounds: BOUNDS,
            focused: false,
            minimized: false,
            url: None,
        };
        let check = |code, lives, expected: Result<(), Kind>| {
            let told = lacking(&window, code, lives);
            assert_eq!(told.map(|tree| assert!(tree.lacking.is_some())).map_err(|it| it.kind), expected);
        };
        check(GONE, false, Err(Kind::WindowGone));
        check(GONE, true, Ok(()));
        check(SLOW, true, Err(Kind::Timeout));
        check(SLOW, false, Err(Kind::WindowGone));
        check(DENIED, true, Ok(()));
    }

    #[test]
    fn when_the_time_is_over_what_was_read_is_told() {
        let mut gathered = Gathered::new();
        let root = node(1, vec![node(2, Vec::new())]);
        gathered.add(root, 0, Limits::default(), || true).unwrap();
        let tree = told(&gathered);
        assert_eq!((names(&tree), tree.complete), (vec!["1"], false));
    }

    #[test]
    fn the_time_of_a_walk_leaves_room_for_the_last_answer() {
        let second = Duration::from_secs(1);
        let time = Time::new(25 * second, 3 * second);
        assert!(time.left() <= 22 * second && time.left() > 20 * second);
        assert!(time.for_all() <= 11 * second && time.for_all() > 9 * second);
        let short = Time::new(2 * second, 3 * second);
        assert_eq!(short.per_call, second);
        assert!(short.left() <= second && !short.is_over());
        assert!(Time::new(Duration::ZERO, second).is_over());
    }

    #[test]
    fn menus_stand_below_the_root_and_what_is_there_already_is_not_told_twice() {
        let mut gathered =
            gather(node(1, vec![node(2, vec![node(3, Vec::new())])]), Limits::default()).unwrap();
        let menu = node(8, vec![node(9, Vec::new())]);
        for popup in [menu, node(2, vec![node(3, Vec::new())])] {
            gathered.add(popup, 1, Limits::default(), || false).unwrap();
        }
        let tree = told(&gathered);
        assert_eq!(names(&tree), ["1", "2", "3", "8", "9"]);
        let depths: Vec<usize> = (0..tree.len()).map(|node| tree.depth(node)).collect();
        assert_eq!((depths, tree.complete), (vec![0, 1, 2, 1, 2], true));
        let gone = Rc::new(Recorded { fails: Some(0x8004_0201), ..Recorded::default() });
        gathered.add(gone, 1, Limits::default(), || false).unwrap();
        assert!(!gathered.complete);
    }

    #[test]
    fn a_menu_that_closes_is_not_missed() {
        let check = |played: Played, popup, expected: (&[&str], bool)| {
            let root = (*node(7, Vec::new())).clone();
            let root = Recorded { facts: RawElement { window: 60, ..root.facts }, ..root };
            let mut gathered = gather(Rc::new(root), Limits::default()).unwrap();
            let mut played = played;
            read_popup(&mut gathered, popup, &mut played);
            let tree = told(&gathered);
            assert_eq!((names(&tree).as_slice(), tree.complete), expected);
        };
        check(Played::default(), 61, (&["7", "1", "2", "3"], true));
        check(Played::default(), 60, (&["7"], true));
        check(Played { roots: vec![GONE], dead: true, ..Played::default() }, 61, (&["7"], true));
        check(Played { roots: vec![SLOW], ..Played::default() }, 61, (&["7"], false));
    }

    #[test]
    fn an_element_is_in_the_nearest_window_around_it() {
        let within = |window, id, children| {
            let made = (*node(id, children)).clone();
            Rc::new(Recorded { facts: RawElement { window, ..made.facts }, ..made })
        };
        let dialog = within(70, 3, vec![node(4, Vec::new())]);
        let root = within(60, 1, vec![node(2, Vec::new()), dialog, node(5, Vec::new())]);
        let gathered = gather(root, Limits::default()).unwrap();
        let windows: Vec<u64> = gathered.found.iter().map(|(_, raw, _)| raw.window).collect();
        assert_eq!(windows, [60, 60, 70, 70, 60]);
    }

    #[test]
    fn an_element_is_listed_once_however_often_it_is_named() {
        let twin = node(2, vec![node(3, Vec::new())]);
        let tree = read(node(1, vec![twin.clone(), twin, node(1, Vec::new())]), Limits::default());
        assert_eq!((names(&tree), tree.complete), (vec!["1", "2", "3"], true));
    }

    #[track_caller]
    fn check_limit(limits: Limits, expected: &[&str]) {
        let children = vec![node(2, vec![node(3, Vec::new())]), node(4, Vec::new()), node(5, Vec::new())];
        let tree = read(node(1, children), limits);
        assert_eq!((names(&tree).as_slice(), tree.complete), (expected, false), "{limits:?}");
    }

    #[test]
    fn limits_cut_and_say_so() {
        let all = Limits::default();
        check_limit(Limits { nodes: 3, ..all }, &["1", "2", "3"]);
        check_limit(Limits { depth: 1, ..all }, &["1", "2", "4", "5"]);
        check_limit(Limits { children: 2, ..all }, &["1", "2", "3", "4"]);
    }

    #[test]
    fn a_very_deep_tree_is_no_danger() {
        let deep = (0..5_000).fold(node(0, Vec::new()), |below, id| node(id + 1, vec![below]));
        let tree = read(deep.clone(), Limits::default());
        assert_eq!((tree.len(), tree.complete), (TREE_DEPTH + 1, false));
        // Dropping it would recurse; a leak in a test is nobody's loss.
        std::mem::forget(deep);
    }

    #[test]
    fn a_password_is_never_read() {
        let raw = RawElement {
            control_type: 50_004,
            password: true,
            value: Some(RawValue { text: "hunter2".to_owned(), read_only: false }),
            enabled: true,
            ..RawElement::default()
        };
        let element = raw.element(false);
        assert!(element.secret && element.editable);
        assert_eq!((element.value, wants_text(&raw)), (None, false));
    }

    #[test]
    fn numbers_that_are_none_are_left_out() {
        let range = RawRange { now: 3.0, min: f64::NAN, max: f64::INFINITY, read_only: false };
        let raw = RawElement { control_type: 50_015, range: Some(range), ..RawElement::default() };
        let element = raw.element(false);
        assert_eq!(element.range, Range { now: Some(3.0), min: None, max: None });
        assert_eq!(element.value.as_deref(), Some("3"));
    }

    #[test]
    fn natives_lead_back_to_runtime_ids() {
        let raw = RawElement { runtime_id: vec![42, 1116, -4, 3], ..RawElement::default() };
        assert_eq!(raw.native(), "42.1116.-4.3");
        assert_eq!(runtime_id(&raw.native()), Some(raw.runtime_id));
        for wrong in ["", "42.", "42.x", "99999999999"] {
            assert_eq!(runtime_id(wrong), None, "{wrong}");
        }
        assert_eq!(RawElement::default().element(false).native, None);
    }

    #[test]
    fn a_bare_tree_says_why() {
        let tree = bare(BOUNDS, "Notes", "no UI Automation");
        assert_eq!((tree.root().name.as_str(), tree.lacking.as_deref()), ("Notes", Some("no UI Automation")));
    }
}
