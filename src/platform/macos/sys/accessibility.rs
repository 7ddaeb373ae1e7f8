//! Elements, asked one call a node, and asked to do something. What the answers mean is said in `decode`.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use core_foundation::array::CFArray;
use core_foundation::base::CFType;
use core_foundation::string::CFString;
use objc2::rc::autoreleasepool;

use super::decode::errors::{Code, Meaning};
use super::decode::interaction::Around;
use super::decode::names::{self, Names};
use super::decode::options;
use super::decode::quarantine::Quarantine;
use super::decode::records::{RawApp, RawAxWindow, RawElement, RawRect, RawValue};
use super::decode::tree::{self, Elements, Sought};
use super::decode::{permissions, roles};
use super::foundation::{Node, code_in, flag, is_flag, list, number, point, range, size, text};
use crate::clock::{Cancel, Clock, Deadline, lock};
use crate::config::limits::{REFS, TREE_CHILDREN_OF_ONE_NODE, TREE_DEPTH, TREE_TEXT_BYTES};
use crate::error::{Error, Kind, Result};
use crate::model::Tree;
use crate::model::input::Handle;
use crate::platform::Patience;
use crate::platform::interaction::{OptionItem, Request, RequestOutcome};

/// What an element may take to do something.
pub const ELEMENT_TIME: Duration = Duration::from_secs(2);
const OPTIONS_TIME: Duration = Duration::from_secs(20);
/// Windows of one application that are asked for; nobody has more.
const MOST_WINDOWS: usize = 500;
/// What Electron takes to build a tree after it was asked to.
const WAKING_TIME: Duration = Duration::from_millis(400);
const MOST_WOKEN: usize = 500;

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
    clock: Clock,
    names: Mutex<Names<Node>>,
    quarantine: Mutex<Quarantine>,
    /// Applications that were asked to build their trees.
    woken: Mutex<HashSet<i32>>,
}

/// While it lives no name is forgotten.
struct Remembering<'a>(&'a Mutex<Names<Node>>);

impl Drop for Remembering<'_> {
    fn drop(&mut self) {
        lock(self.0).end();
    }
}

fn questions() -> CFArray<CFString> {
    CFArray::from_CFTypes(&QUESTIONS.map(CFString::new))
}

impl Accessible {
    pub fn new(clock: Clock) -> Self {
        let names = Mutex::new(Names::new(2 * REFS));
        let quarantine = Mutex::new(Quarantine::new(clock.clone()));
        Self { clock, names, quarantine, woken: Mutex::default() }
    }

    pub fn key(&self, node: &Node) -> u64 {
        lock(&self.names).number(node)
    }

    pub fn node(&self, key: u64) -> Option<Node> {
        lock(&self.names).thing(key).cloned()
    }

    fn remember(&self) -> Remembering<'_> {
        lock(&self.names).begin();
        Remembering(&self.names)
    }

    fn node_of(&self, handle: &Handle) -> Result<Node> {
        let node = names::number_of(&handle.native).and_then(|key| self.node(key));
        node.ok_or_else(|| {
            Error::new(Kind::ElementNotFound, "the element no longer exists; look again")
                .with("native", handle.native.as_str())
        })
    }

    fn read(&self, node: &Node, questions: &CFArray<CFString>) -> Result<RawElement, Code> {
        let values = node.attributes(questions)?;
        if let Some(code) = values.first().and_then(code_in).filter(|code| code.ends_reading()) {
            return Err(code);
        }
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

    /// The windows of an application, as it tells of them. One that is silent is asked no more questions.
    pub fn windows_of(&self, pid: i32) -> RawApp {
        let _names = self.remember();
        let time = lock(&self.quarantine).time_for(pid);
        match self.told_windows(pid, time) {
            Ok((windows, focused)) => {
                lock(&self.quarantine).answered(pid);
                RawApp { pid, windows: Some(windows), focused, silent: false }
            }
            Err(code) => {
                let silent = code.meaning() == Meaning::Silent;
                if silent {
                    lock(&self.quarantine).was_silent(pid);
                }
                RawApp { pid, silent, ..RawApp::default() }
            }
        }
    }

    fn told_windows(&self, pid: i32, time: Duration) -> Result<(Vec<RawAxWindow>, Option<u64>), Code> {
        let application = Node::application(pid);
        let windows = match application.within(time).attribute("AXWindows") {
            Ok(windows) => list(&windows),
            // An application without windows has no list of them.
            Err(code) if code.meaning() == Meaning::Without => Vec::new(),
            Err(code) => return Err(code),
        };
        let windows = windows.iter().filter_map(Node::of).take(MOST_WINDOWS);
        let windows: Vec<RawAxWindow> =
            windows.map(|node| self.window(&node, time)).collect::<Result<_, Code>>()?;
        let focused = application.attribute("AXFocusedWindow").ok();
        Ok((windows, focused.as_ref().and_then(Node::of).map(|node| self.key(&node))))
    }

    /// A window that went away meanwhile has no place and no title; silence is the application's.
    fn window(&self, node: &Node, time: Duration) -> Result<RawAxWindow, Code> {
        let names = ["AXTitle", "AXPosition", "AXSize", "AXMinimized"].map(CFString::new);
        let values = match node.within(time).attributes(&CFArray::from_CFTypes(&names)) {
            Err(code) if code.meaning() == Meaning::Silent => return Err(code),
            values => values.unwrap_or_default(),
        };
        Ok(RawAxWindow {
            key: self.key(node),
            title: values.first().and_then(text).unwrap_or_default(),
            bounds: bounds(values.get(1), values.get(2)),
            minimized: values.get(3).and_then(flag).unwrap_or(false),
        })
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
        let _names = self.remember();
        let bar = match Node::application(pid).within(patience.per_call).attribute("AXMenuBar") {
            Err(code) if code.meaning() == Meaning::Silent => {
                lock(&self.quarantine).was_silent(pid);
                return Err(code.error(&format!("the window '{title}'")));
            }
            bar => bar.ok(),
        };
        let menu_bar = bar.as_ref().and_then(Node::of).map(|bar| self.key(&bar));
        let sought = Sought { root: key, menu_bar, title: title.to_owned(), bounds };
        let mut reading = self.reading(patience.per_call, patience.whole, &patience.cancel);
        // What the AX functions leave behind on the way goes with the pool.
        let tree = autoreleasepool(|_| tree::capture(&mut reading, &sought))?;
        if tree::is_hollow(&tree) && self.wake(pid) {
            self.clock.sleep(WAKING_TIME, &patience.cancel)?;
            return autoreleasepool(|_| tree::capture(&mut reading, &sought));
        }
        Ok(tree)
    }

    /// Asks an application once to build its tree. Only Electron knows the question; the others say so.
    fn wake(&self, pid: i32) -> bool {
        let mut woken = lock(&self.woken);
        if woken.len() >= MOST_WOKEN {
            woken.clear();
        }
        woken.insert(pid)
            && Node::application(pid).within(ELEMENT_TIME).set_flag("AXManualAccessibility", true).is_ok()
    }

    fn reading<'a>(&'a self, per_call: Duration, whole: Duration, cancel: &'a Cancel) -> Reading<'a> {
        let deadline = Deadline::after(whole);
        Reading { accessible: self, per_call, deadline, cancel, questions: questions() }
    }

    /// An element as it is now, and the names of its actions.
    pub fn look_at(&self, handle: &Handle) -> Result<(RawElement, Vec<String>)> {
        let node = self.node_of(handle)?;
        node.within(ELEMENT_TIME);
        let raw = self.read(&node, &questions()).map_err(|code| code.error("the element"))?;
        // One without actions may answer an error instead of an empty list.
        Ok((raw, node.actions().unwrap_or_default()))
    }

    /// What an element is in, the nearest first; each costs a question.
    pub fn around(&self, handle: &Handle) -> Result<impl Iterator<Item = Around>> {
        let names = CFArray::from_CFTypes(&["AXRole", "AXPosition", "AXSize", "AXParent"].map(CFString::new));
        let parent = self.node_of(handle)?.within(ELEMENT_TIME).attribute("AXParent");
        let mut next = parent.ok().as_ref().and_then(Node::of);
        let up = std::iter::from_fn(move || {
            let values = next.take()?.within(ELEMENT_TIME).attributes(&names).ok()?;
            next = values.get(3).and_then(Node::of);
            let role = values.first().and_then(text).unwrap_or_default();
            Some(Around { role, bounds: bounds(values.get(1), values.get(2)) })
        });
        Ok(up.take(TREE_DEPTH))
    }

    pub fn request(&self, handle: &Handle, request: &Request) -> Result<RequestOutcome> {
        let node = self.node_of(handle)?;
        node.within(ELEMENT_TIME);
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
            // Requests of another system, which no state of ours offers.
            Request::Perform(_) | Request::SelectChild(_) => return Ok(RequestOutcome::Refused),
        };
        match outcome.map_err(|code| (code, code.meaning())) {
            Ok(()) => Ok(RequestOutcome::Accepted),
            Err((_, Meaning::Silent)) => Ok(RequestOutcome::Unanswered),
            Err((code, Meaning::Gone | Meaning::Forbidden)) => Err(code.error("the element")),
            Err((_, Meaning::Without | Meaning::Failed)) => Ok(RequestOutcome::Refused),
        }
    }

    pub fn options(&self, handle: &Handle, cancel: &Cancel) -> Result<Vec<OptionItem>> {
        let _names = self.remember();
        let root = self.key(&self.node_of(handle)?);
        options::options(&mut self.reading(ELEMENT_TIME, OPTIONS_TIME, cancel), root, &handle.window_uid)
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
    per_call: Duration,
    deadline: Deadline,
    cancel: &'a Cancel,
    questions: CFArray<CFString>,
}

impl Elements for Reading<'_> {
    fn read(&mut self, key: u64) -> Result<RawElement, Code> {
        let node = self.accessible.node(key).ok_or(Code::INVALID_ELEMENT)?;
        self.accessible.read(node.within(self.per_call), &self.questions)
    }

    fn may_go_on(&mut self) -> Result<bool> {
        self.cancel.check()?;
        Ok(!self.deadline.is_over() && !lock(&self.accessible.names).is_full())
    }
}
