//! Elements, asked one call a node, and asked to do something. What the answers mean is said in `sense`.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use core_foundation::array::CFArray;
use core_foundation::base::CFType;
use core_foundation::string::CFString;

use super::foundation::{self, Node, flag, is_flag, list, number, point, range, size, text};
use super::sense::errors::{Code, Meaning};
use super::sense::hands::Around;
use super::sense::names::{self, Names};
use super::sense::records::{RawApp, RawAxWindow, RawElement, RawRect, RawValue};
use super::sense::tree::{self, Elements, Sought};
use super::sense::{permissions, roles};
use crate::clock::{Cancel, lock};
use crate::config::limits::{REFS, TREE_CHILDREN_OF_ONE_NODE, TREE_DEPTH, TREE_TEXT_BYTES};
use crate::error::{Error, Kind, Result};
use crate::model::Tree;
use crate::model::action::Handle;
use crate::platform::Patience;
use crate::platform::hands::doing::{Listed, Request, Said};

/// What an application may take to tell of its windows, and an element to do something.
const WINDOW_TIME: Duration = Duration::from_millis(500);
const ELEMENT_TIME: Duration = Duration::from_secs(2);
/// Options further down than that are not options of this element.
const OPTION_DEPTH: usize = 4;
const MOST_OPTIONS: usize = 2_000;

/// What is asked of every node, in this order: [`element`] reads the answers by it.
const QUESTIONS: [&str; 23] = [
    "AXRole",
    "AXSubrole",
    "AXTitle",
    "AXDescription",
    "AXHelp",
    "AXPlaceholderValue",
    "AXIdentifier",
    "AXValue",
    "AXEnabled",
    "AXFocused",
    "AXSelected",
    "AXExpanded",
    "AXDisclosing",
    "AXHidden",
    "AXPosition",
    "AXSize",
    "AXMinValue",
    "AXMaxValue",
    "AXMenuItemCmdChar",
    "AXMenuItemCmdModifiers",
    "AXTitleUIElement",
    "AXChildren",
    "AXNumberOfCharacters",
];

pub struct Accessible {
    names: Mutex<Names<Node>>,
}

impl Default for Accessible {
    fn default() -> Self {
        Self { names: Mutex::new(Names::new(2 * REFS)) }
    }
}

fn questions() -> CFArray<CFString> {
    CFArray::from_CFTypes(&QUESTIONS.map(CFString::new))
}

impl Accessible {
    pub fn key(&self, node: &Node) -> u64 {
        lock(&self.names).number(node)
    }

    pub fn node(&self, key: u64) -> Option<Node> {
        lock(&self.names).thing(key).cloned()
    }

    fn node_of(&self, handle: &Handle) -> Result<Node> {
        let node = names::number_of(&handle.native).and_then(|key| self.node(key));
        node.ok_or_else(|| {
            Error::new(Kind::ElementNotFound, "the element is not there any more; look again")
                .with("native", handle.native.as_str())
        })
    }

    fn read(&self, node: &Node, questions: &CFArray<CFString>) -> Result<RawElement, Code> {
        let values = node.attributes(questions)?;
        let mut raw = self.element(&values);
        if roles::is_text(&raw.role) {
            raw.settable = node.is_settable("AXValue").ok();
        }
        Ok(raw)
    }

    fn element(&self, values: &[CFType]) -> RawElement {
        let at = |name: &str| {
            QUESTIONS.iter().position(|known| *known == name).and_then(|place| values.get(place))
        };
        let word = |name: &str| at(name).and_then(text);
        let mark = |name: &str| at(name).and_then(flag);
        let amount = |name: &str| at(name).and_then(number);
        let (value, cut) = at("AXValue").map_or((None, None), value_of);
        let characters = amount("AXNumberOfCharacters").map(|count| count.max(0.0) as usize);
        let children = at("AXChildren").map(list).unwrap_or_default();
        // One more than is allowed, so that the tree knows that some are missing.
        let children = children.iter().take(TREE_CHILDREN_OF_ONE_NODE + 1).filter_map(Node::of);
        RawElement {
            role: word("AXRole").unwrap_or_default(),
            subrole: word("AXSubrole"),
            title: word("AXTitle"),
            description: word("AXDescription"),
            help: word("AXHelp"),
            placeholder: word("AXPlaceholderValue"),
            identifier: word("AXIdentifier"),
            value,
            characters: characters.or(cut),
            enabled: mark("AXEnabled"),
            focused: mark("AXFocused"),
            selected: mark("AXSelected"),
            expanded: mark("AXExpanded"),
            disclosing: mark("AXDisclosing"),
            hidden: mark("AXHidden"),
            bounds: bounds(at("AXPosition"), at("AXSize")),
            min: amount("AXMinValue"),
            max: amount("AXMaxValue"),
            command_key: word("AXMenuItemCmdChar"),
            command_modifiers: amount("AXMenuItemCmdModifiers").map(|bits| bits as i64),
            titled_by: at("AXTitleUIElement").and_then(Node::of).map(|node| self.key(&node)),
            settable: None,
            children: children.map(|child| self.key(&child)).collect(),
        }
    }

    /// The windows of an application, as it tells of them.
    pub fn windows_of(&self, pid: i32) -> RawApp {
        foundation::set_patience(WINDOW_TIME);
        let application = Node::application(pid);
        let windows = application.attribute("AXWindows").map(|windows| {
            let nodes = list(&windows);
            nodes.iter().filter_map(Node::of).map(|node| self.window(&node)).collect()
        });
        let windows = match windows {
            Ok(windows) => Some(windows),
            // An application without windows has no list of them.
            Err(code) if code.meaning() == Meaning::Without => Some(Vec::new()),
            Err(_) => None,
        };
        let focused = application.attribute("AXFocusedWindow").ok();
        let focused = focused.as_ref().and_then(Node::of).map(|node| self.key(&node));
        RawApp { pid, windows, focused }
    }

    fn window(&self, node: &Node) -> RawAxWindow {
        let names = ["AXTitle", "AXPosition", "AXSize", "AXMinimized"].map(CFString::new);
        let values = node.attributes(&CFArray::from_CFTypes(&names)).unwrap_or_default();
        RawAxWindow {
            key: self.key(node),
            title: values.first().and_then(text).unwrap_or_default(),
            bounds: bounds(values.get(1), values.get(2)),
            minimized: values.get(3).and_then(flag).unwrap_or(false),
        }
    }

    /// `bounds` and `title` are the window's, as people see it.
    pub fn tree(
        &self,
        key: u64,
        pid: i32,
        title: &str,
        bounds: crate::model::Rect,
        patience: &Patience,
    ) -> Result<Tree> {
        if !super::permissions::granted().accessibility {
            return Err(permissions::missing_accessibility());
        }
        foundation::set_patience(patience.per_call);
        let bar = Node::application(pid).attribute("AXMenuBar").ok();
        let menu_bar = bar.as_ref().and_then(Node::of).map(|bar| self.key(&bar));
        let sought = Sought { root: key, menu_bar, title: title.to_owned(), bounds };
        let mut reading =
            Reading { accessible: self, patience, questions: questions(), began: Instant::now() };
        tree::capture(&mut reading, &sought)
    }

    /// An element as it is now, and the names of its actions.
    pub fn look_at(&self, handle: &Handle) -> Result<(RawElement, Vec<String>)> {
        foundation::set_patience(ELEMENT_TIME);
        let node = self.node_of(handle)?;
        let raw = self.read(&node, &questions()).map_err(|code| code.error("the element"))?;
        // One without actions may answer an error instead of an empty list.
        Ok((raw, node.actions().unwrap_or_default()))
    }

    /// What an element is in, the nearest first; each costs a question.
    pub fn around(&self, handle: &Handle) -> Result<impl Iterator<Item = Around>> {
        foundation::set_patience(ELEMENT_TIME);
        let names = CFArray::from_CFTypes(&["AXRole", "AXPosition", "AXSize", "AXParent"].map(CFString::new));
        let mut next = self.node_of(handle)?.attribute("AXParent").ok().as_ref().and_then(Node::of);
        let up = std::iter::from_fn(move || {
            let values = next.take()?.attributes(&names).ok()?;
            next = values.get(3).and_then(Node::of);
            let role = values.first().and_then(text).unwrap_or_default();
            Some(Around { role, bounds: bounds(values.get(1), values.get(2)) })
        });
        Ok(up.take(TREE_DEPTH))
    }

    pub fn request(&self, handle: &Handle, request: &Request) -> Result<Said> {
        foundation::set_patience(ELEMENT_TIME);
        let node = self.node_of(handle)?;
        let outcome = match request {
            // A press is how a person switches something on and off.
            Request::Press | Request::Toggle => node.perform("AXPress"),
            Request::Expand => expand(&node, true),
            Request::Collapse => expand(&node, false),
            Request::ShowMenu => node.perform("AXShowMenu"),
            Request::Select => node.set_flag("AXSelected", true),
            Request::Focus => node.set_flag("AXFocused", true),
            Request::SetText(text) => node.set_text("AXValue", text),
            Request::SetNumber(number) => node.set_number("AXValue", *number),
            Request::SelectText => select_text(&node),
            Request::ScrollIntoView => node.perform("AXScrollToVisible"),
        };
        match outcome.map_err(|code| (code, code.meaning())) {
            Ok(()) => Ok(Said::Yes),
            Err((_, Meaning::Silent)) => Ok(Said::Nothing),
            Err((code, Meaning::Gone | Meaning::Forbidden)) => Err(code.error("the element")),
            Err((_, Meaning::Without | Meaning::Failed)) => Ok(Said::No),
        }
    }

    /// What can be chosen in an element: the rows of a list, the items of a menu that is open or always there.
    pub fn options(&self, handle: &Handle, cancel: &Cancel) -> Result<Vec<Listed>> {
        foundation::set_patience(ELEMENT_TIME);
        let questions = questions();
        let mut level = vec![self.key(&self.node_of(handle)?)];
        for _ in 0..OPTION_DEPTH {
            let (mut found, mut next) = (Vec::new(), Vec::new());
            for key in level {
                cancel.check()?;
                let Some(raw) = self.node(key).and_then(|node| self.read(&node, &questions).ok()) else {
                    continue;
                };
                for child in raw.children.into_iter().take(MOST_OPTIONS) {
                    match self.option(child, &handle.window_uid, &questions) {
                        Some(listed) => found.push(listed),
                        None => next.push(child),
                    }
                }
            }
            if !found.is_empty() || next.len() > MOST_OPTIONS {
                found.truncate(MOST_OPTIONS);
                return Ok(found);
            }
            level = next;
        }
        Ok(Vec::new())
    }

    fn option(&self, key: u64, window_uid: &str, questions: &CFArray<CFString>) -> Option<Listed> {
        let raw = self.read(&self.node(key)?, questions).ok()?;
        if !roles::is_option(&raw.role) {
            return None;
        }
        let own = tree::shown(&raw, None, None, None).name;
        // The name of a row is the text in its first cell.
        let name = if own.is_empty() { self.first_text(&raw, questions).unwrap_or_default() } else { own };
        let handle = Handle { window_uid: window_uid.to_owned(), native: names::native(key) };
        Some(Listed { handle, name })
    }

    fn first_text(&self, raw: &RawElement, questions: &CFArray<CFString>) -> Option<String> {
        let mut next = raw.children.first().copied();
        for _ in 0..OPTION_DEPTH {
            let below = self.read(&self.node(next?)?, questions).ok()?;
            let name = tree::shown(&below, None, None, None).name;
            if !name.is_empty() {
                return Some(name);
            }
            next = below.children.first().copied();
        }
        None
    }
}

/// Whether it is selected is read back: then keys are not needed, which are pressed on whatever layout there is.
fn select_text(node: &Node) -> Result<(), Code> {
    let characters = number(&node.attribute("AXNumberOfCharacters")?).unwrap_or(0.0).max(0.0) as isize;
    node.set_range("AXSelectedTextRange", 0, characters)?;
    let selected = range(&node.attribute("AXSelectedTextRange")?);
    if selected == Some((0, characters)) { Ok(()) } else { Err(Code::FAILURE) }
}

/// By the attribute, else by the button that a combo box has for it.
fn expand(node: &Node, open: bool) -> Result<(), Code> {
    node.set_flag("AXExpanded", open).or_else(|code| {
        let children = list(&node.attribute("AXChildren")?);
        let is_button = |child: &Node| {
            child.attribute("AXRole").is_ok_and(|role| text(&role).as_deref() == Some("AXButton"))
        };
        children.iter().filter_map(Node::of).find(is_button).ok_or(code)?.perform("AXPress")
    })
}

fn bounds(position: Option<&CFType>, extent: Option<&CFType>) -> Option<RawRect> {
    let ((x, y), (width, height)) = (position.and_then(point)?, extent.and_then(size)?);
    Some(RawRect { x, y, width, height })
}

/// The value, and how many characters the whole has, counted as macOS does, where its end was cut off.
fn value_of(value: &CFType) -> (Option<RawValue>, Option<usize>) {
    if is_flag(value) {
        return (flag(value).map(RawValue::Flag), None);
    }
    if let Some(number) = number(value) {
        return (Some(RawValue::Number(number)), None);
    }
    let Some(whole) = text(value) else {
        return (None, None);
    };
    if whole.len() <= TREE_TEXT_BYTES {
        return (Some(RawValue::Text(whole)), None);
    }
    let cut: String = whole.chars().take(TREE_TEXT_BYTES).collect();
    (Some(RawValue::Text(cut)), Some(whole.encode_utf16().count()))
}

/// The elements of applications, within a time.
struct Reading<'a> {
    accessible: &'a Accessible,
    patience: &'a Patience,
    questions: CFArray<CFString>,
    began: Instant,
}

impl Elements for Reading<'_> {
    fn read(&mut self, key: u64) -> Result<RawElement, Code> {
        let node = self.accessible.node(key).ok_or(Code::INVALID_ELEMENT)?;
        self.accessible.read(&node, &self.questions)
    }

    fn may_go_on(&mut self) -> Result<bool> {
        self.patience.cancel.check()?;
        Ok(self.began.elapsed() < self.patience.whole)
    }
}
