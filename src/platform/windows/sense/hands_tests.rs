//! A body of paper: elements in a list, and everything that is done to them written down.

use std::cell::RefCell;
use std::collections::HashMap;

use super::super::tree::{RawRange, RawValue};
use super::*;

/// What an application does when it is asked.
type Reaction = fn(&mut RawElement, &Request) -> Said;

struct Paper {
    elements: RefCell<HashMap<&'static str, RawElement>>,
    options: RefCell<Vec<&'static str>>,
    /// They come only when the element is open.
    opens: bool,
    reaction: Reaction,
    log: RefCell<Vec<String>>,
    active: RefCell<bool>,
    /// Whether the window comes to the front when it is raised.
    raises: bool,
    covered: RefCell<bool>,
}

const UID: &str = "hwnd:1";
const SCREEN: Rect = Rect { x: 0, y: 0, width: 1000, height: 800 };

fn handle(native: &str) -> Handle {
    Handle { window_uid: UID.to_owned(), native: native.to_owned() }
}

fn element(control_type: i32) -> RawElement {
    RawElement {
        runtime_id: vec![42, 1],
        control_type,
        name: "It".to_owned(),
        sides: [100, 100, 200, 140],
        enabled: true,
        ..RawElement::default()
    }
}

const BUTTON: i32 = 50_000;
const CHECK_BOX: i32 = 50_002;
const COMBO_BOX: i32 = 50_003;
const EDIT: i32 = 50_004;
const LIST_ITEM: i32 = 50_007;
const MENU_ITEM: i32 = 50_011;
const SLIDER: i32 = 50_015;

/// Does as it is told.
fn obeys(raw: &mut RawElement, request: &Request) -> Said {
    match request {
        Request::Toggle => raw.toggle = Some(1),
        Request::Select => raw.selected = Some(true),
        Request::Expand => raw.expand = Some(1),
        Request::Collapse => raw.expand = Some(0),
        Request::SetText(text) => {
            if let Some(value) = &mut raw.value {
                value.text.clone_from(text);
            }
        }
        Request::SetNumber(number) => {
            if let Some(range) = &mut raw.range {
                range.now = *number;
            }
        }
        Request::Focus => raw.focused = true,
        Request::ScrollIntoView => (raw.offscreen, raw.sides) = (false, [100, 100, 200, 140]),
        Request::Invoke => {}
    }
    Said::Yes
}

/// Says yes and does nothing.
fn lies(_: &mut RawElement, _: &Request) -> Said {
    Said::Yes
}

fn refuses(_: &mut RawElement, _: &Request) -> Said {
    Said::No
}

fn paper(it: RawElement, reaction: Reaction) -> Paper {
    Paper {
        elements: RefCell::new(HashMap::from([("it", it)])),
        options: RefCell::default(),
        opens: false,
        reaction,
        log: RefCell::default(),
        active: RefCell::new(true),
        raises: true,
        covered: RefCell::new(false),
    }
}

impl Paper {
    fn note(&self, line: impl Into<String>) {
        self.log.borrow_mut().push(line.into());
    }

    fn with_options(self, names: &[&'static str], opens: bool) -> Self {
        for &name in names {
            let raw = RawElement {
                name: name.to_owned(),
                selected: Some(false),
                sides: [100, 140, 200, 160],
                ..element(LIST_ITEM)
            };
            self.elements.borrow_mut().insert(name, raw);
            self.options.borrow_mut().push(name);
        }
        Self { opens, ..self }
    }

    #[track_caller]
    fn check(&self, input: Act, route: Result<Route, Kind>, log: &[&str]) -> Option<String> {
        let done = act(self, &input);
        let note = done.as_ref().map_or_else(|error| Some(error.message.clone()), |done| done.note.clone());
        assert_eq!(done.map(|done| done.route).map_err(|error| error.kind), route, "{note:?}");
        assert_eq!(*self.log.borrow(), log, "{note:?}");
        note
    }
}

impl Body for Paper {
    fn look(&self, element: &Handle) -> Result<RawElement> {
        let elements = self.elements.borrow();
        let found = elements.get(element.native.as_str()).cloned();
        found.ok_or_else(|| Error::new(Kind::ElementNotFound, "gone"))
    }

    fn request(&self, element: &Handle, request: Request) -> Result<Said> {
        self.note(format!("{}: {}", element.native, word(&request)));
        let mut elements = self.elements.borrow_mut();
        let raw = elements.get_mut(element.native.as_str());
        Ok(raw.map_or(Said::No, |raw| (self.reaction)(raw, &request)))
    }

    fn options(&self, element: &Handle) -> Result<Vec<Listed>> {
        if self.opens && self.look(element)?.expanded() != Some(true) {
            return Ok(Vec::new());
        }
        let listed =
            |name: &&'static str| Ok(Listed { handle: handle(name), raw: self.look(&handle(name))? });
        self.options.borrow().iter().map(listed).collect()
    }

    fn has_keyboard(&self, _: &str) -> Result<bool> {
        Ok(*self.active.borrow())
    }

    fn raise(&self, _: &str) -> Result<()> {
        self.note("raise");
        if self.raises {
            *self.active.borrow_mut() = true;
            *self.covered.borrow_mut() = false;
        }
        Ok(())
    }

    fn screen(&self) -> Result<Rect> {
        Ok(SCREEN)
    }

    fn under(&self, _: Point) -> Result<Under> {
        Ok(if *self.covered.borrow() {
            Under::Window("hwnd:2".to_owned())
        } else {
            Under::Window(UID.to_owned())
        })
    }

    fn point(&self, deed: Deed, at: Option<Point>) -> Result<()> {
        let at = at.map_or_else(|| "here".to_owned(), |at| format!("{},{}", at.x, at.y));
        self.note(format!("{deed:?} {at}"));
        Ok(())
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        self.note(format!("drag to {},{}", drag.to.x, drag.to.y));
        Ok(())
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.note(keys.to_string());
        Ok(())
    }

    fn type_text(&self, text: &str) -> Result<()> {
        self.note(format!("type {text}"));
        if let Some(value) = self.elements.borrow_mut().get_mut("it").and_then(|raw| raw.value.as_mut()) {
            text.clone_into(&mut value.text);
        }
        Ok(())
    }

    fn pause(&self, _: Duration) -> Result<()> {
        Ok(())
    }
}

fn click() -> Act {
    Act::Click { element: Some(handle("it")), at: None, button: Button::Left, count: 1 }
}

fn set_value(text: &str) -> Act {
    Act::SetValue { element: handle("it"), text: text.to_owned() }
}

fn select(name: &str) -> Act {
    Act::Select { element: handle("it"), option: Some(Choice::Name(name.to_owned())) }
}

fn field(text: &str) -> RawElement {
    RawElement { value: Some(RawValue { text: text.to_owned(), read_only: false }), ..element(EDIT) }
}

const CLICKED: &str = "Click(Left, 1) 150,120";
const BY_ITSELF: Result<Route, Kind> = Ok(Route::Accessibility);
const BY_POINTER: Result<Route, Kind> = Ok(Route::Pointer);
const BY_KEYS: Result<Route, Kind> = Ok(Route::Keyboard);

#[test]
fn an_element_that_can_does_it_by_itself() {
    let button = RawElement { invoke: true, ..element(BUTTON) };
    paper(button, obeys).check(click(), BY_ITSELF, &["it: invoke"]);
    let mark = RawElement { toggle: Some(0), ..element(CHECK_BOX) };
    paper(mark, obeys).check(click(), BY_ITSELF, &["it: toggle"]);
    let menu = RawElement { expand: Some(0), ..element(MENU_ITEM) };
    paper(menu, obeys).check(click(), BY_ITSELF, &["it: expand"]);
    let open = RawElement { expand: Some(1), ..element(MENU_ITEM) };
    paper(open, obeys).check(click(), BY_ITSELF, &["it: collapse"]);
}

#[test]
fn a_click_on_an_item_selects_it_and_does_not_open_it() {
    let item = RawElement { invoke: true, selected: Some(false), ..element(LIST_ITEM) };
    paper(item.clone(), obeys).check(click(), BY_ITSELF, &["it: select"]);
    paper(item, obeys).check(Act::Invoke { element: handle("it") }, BY_ITSELF, &["it: invoke"]);
    let bare = RawElement { invoke: true, ..element(LIST_ITEM) };
    paper(bare, obeys).check(click(), BY_POINTER, &[CLICKED]);
}

#[test]
fn what_an_element_cannot_the_pointer_does() {
    paper(element(BUTTON), obeys).check(click(), BY_POINTER, &[CLICKED]);
    let refusing = RawElement { invoke: true, ..element(BUTTON) };
    paper(refusing.clone(), refuses).check(click(), BY_POINTER, &["it: invoke", CLICKED]);
    paper(field("x"), obeys).check(click(), BY_POINTER, &[CLICKED]);
    let twice = Act::Click { element: Some(handle("it")), at: None, button: Button::Left, count: 2 };
    paper(refusing, obeys).check(twice, BY_POINTER, &["Click(Left, 2) 150,120"]);
}

#[test]
fn a_press_that_is_not_answered_is_told() {
    let button = RawElement { invoke: true, ..element(BUTTON) };
    let note = paper(button, |_, _| Said::Nothing).check(click(), BY_ITSELF, &["it: invoke"]);
    assert!(note.unwrap().contains("dialog"));
}

#[test]
fn a_disabled_element_is_left_alone() {
    let off = RawElement { invoke: true, enabled: false, ..element(BUTTON) };
    paper(off, obeys).check(click(), Err(Kind::ElementDisabled), &[]);
    paper(element(BUTTON), obeys).check(
        Act::Invoke { element: handle("other") },
        Err(Kind::ElementNotFound),
        &[],
    );
}

#[test]
fn a_covered_element_is_uncovered_first() {
    let covered = Paper { covered: RefCell::new(true), ..paper(element(BUTTON), obeys) };
    covered.check(click(), BY_POINTER, &["raise", CLICKED]);
    let stuck = Paper { covered: RefCell::new(true), raises: false, ..paper(element(BUTTON), obeys) };
    stuck.check(click(), Err(Kind::ElementOccluded), &["raise"]);
}

#[test]
fn what_is_scrolled_away_is_scrolled_back() {
    let away = RawElement { offscreen: true, scroll_item: true, ..element(BUTTON) };
    paper(away.clone(), obeys).check(click(), BY_POINTER, &["it: scroll into view", CLICKED]);
    paper(away, lies).check(click(), Err(Kind::ElementOccluded), &["it: scroll into view"]);
    let nowhere = RawElement { sides: [0; 4], ..element(BUTTON) };
    paper(nowhere, obeys).check(click(), Err(Kind::ElementOccluded), &[]);
}

#[test]
fn the_callers_point_counts_while_it_is_on_the_element() {
    let at = |x, y| Act::Hover { element: Some(handle("it")), at: Some(Point { x, y }) };
    paper(element(BUTTON), obeys).check(at(110, 105), BY_POINTER, &["Stay 110,105"]);
    paper(element(BUTTON), obeys).check(at(10, 5), BY_POINTER, &["Stay 150,120"]);
    let wheel = Act::Scroll { element: None, at: None, clicks: -3 };
    paper(element(BUTTON), obeys).check(wheel, BY_POINTER, &["Scroll(-3) here"]);
}

#[test]
fn a_value_is_set_by_the_element_and_read_back() {
    paper(field("old"), obeys).check(set_value("new"), BY_ITSELF, &["it: set value"]);
    let typed = ["it: set value", "it: focus", CLICKED, "ctrl+a", "type new"];
    let note = paper(field("old"), lies).check(set_value("new"), BY_KEYS, &typed);
    assert_eq!(note, None, "typing is read back too");
    let lines = paper(field("a\r\nb"), lies).check(set_value("a\nb"), BY_ITSELF, &["it: set value"]);
    assert_eq!(lines, None);
}

#[test]
fn what_has_no_value_is_told() {
    paper(element(BUTTON), obeys).check(set_value("x"), Err(Kind::PatternUnsupported), &[]);
    let fixed =
        RawElement { value: Some(RawValue { read_only: true, ..RawValue::default() }), ..element(EDIT) };
    paper(fixed, obeys).check(set_value("x"), Err(Kind::PatternUnsupported), &[]);
}

#[test]
fn a_number_is_held_to_its_range() {
    let range = RawRange { now: 1.0, min: 0.0, max: 10.0, read_only: false };
    let slider = RawElement { range: Some(range), ..element(SLIDER) };
    paper(slider.clone(), obeys).check(set_value("7"), BY_ITSELF, &["it: set value"]);
    paper(slider.clone(), obeys).check(set_value("11"), Err(Kind::BadRequest), &[]);
    paper(slider.clone(), lies).check(set_value("7"), Err(Kind::PatternUnsupported), &["it: set value"]);
    let rounds: Reaction = |raw, _| {
        if let Some(range) = &mut raw.range {
            range.now = 5.0;
        }
        Said::Yes
    };
    let note = paper(slider, rounds).check(set_value("7"), BY_ITSELF, &["it: set value"]);
    assert!(note.unwrap().contains("the value is 5"));
}

#[test]
fn keys_are_sent_only_where_they_are_meant_to_go() {
    let typing = || Act::Type { element: Some(handle("it")), text: "hi".to_owned() };
    paper(field(""), obeys).check(typing(), BY_KEYS, &["it: focus", "type hi"]);
    let behind = Paper { active: RefCell::new(false), ..paper(field(""), obeys) };
    behind.check(typing(), BY_KEYS, &["raise", "it: focus", "type hi"]);
    let stuck = Paper { active: RefCell::new(false), raises: false, ..paper(field(""), obeys) };
    stuck.check(typing(), Err(Kind::WindowOccluded), &["raise", "it: focus"]);
}

#[test]
fn a_password_is_typed_and_believed() {
    let secret = RawElement { password: true, ..field("") };
    paper(secret, lies).check(set_value("hunter2"), BY_ITSELF, &["it: set value"]);
}

#[test]
fn an_option_of_a_list_is_selected_by_itself() {
    let list = paper(element(50_008), obeys).with_options(&["Left", "Right"], false);
    list.check(select("Right"), BY_ITSELF, &["Right: select"]);
}

#[test]
fn a_combo_box_is_opened_and_closed_again() {
    let combo = || RawElement { expand: Some(0), ..element(COMBO_BOX) };
    let log = ["it: expand", "Right: select", "it: collapse"];
    paper(combo(), obeys).with_options(&["Left", "Right"], true).check(select("Right"), BY_ITSELF, &log);
    let missing = paper(combo(), obeys).with_options(&["Left", "Right"], true);
    let note = missing.check(select("Up"), Err(Kind::BadRequest), &["it: expand", "it: collapse"]);
    assert_eq!(note.unwrap(), "no option is named 'Up'; there are: Left, Right");
}

#[test]
fn an_option_that_lies_is_clicked_and_told() {
    let list = paper(element(50_008), refuses).with_options(&["Left"], false);
    let log = ["Left: select", "Left: select", "Click(Left, 1) 150,150"];
    let note = list.check(select("Left"), BY_POINTER, &log);
    assert!(note.unwrap().contains("does not say that it is selected"));
}

#[test]
fn what_has_the_focus_keeps_it() {
    let focused = RawElement { focused: true, ..field("") };
    let focus = || Act::Focus { element: handle("it") };
    let note = paper(focused, obeys).check(focus(), BY_ITSELF, &[]);
    assert!(note.unwrap().contains("already"));
    let note = paper(field(""), lies).check(focus(), BY_POINTER, &["it: focus", CLICKED]);
    assert!(note.unwrap().contains("does not say"));
}
