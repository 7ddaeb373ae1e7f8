//! What an element of a Mac can be asked for: which of its actions and attributes does what a hand would do. What is
//! asked when is decided in `platform::interaction`.

use std::time::Duration;

use super::records::{RawElement, RawRect};
use super::{coordinates, roles, tree};
use crate::model::input::{Key, Modifier};
use crate::model::{NamedKey, Rect};
use crate::platform::interaction::{ElementState, InputProfile, Request, TextLength, Timing};

pub const PROFILE: InputProfile = InputProfile {
    // Buttons show their press before they do something, and sheets slide.
    timing: Timing { effect: Duration::from_millis(500) },
    command: Modifier::Meta,
    delete_key: Key::Named(NamedKey::Backspace),
    trusts_silent_secrets: true,
};

/// `actions` as `AXUIElementCopyActionNames` tells them.
pub fn element_state(raw: &RawElement, actions: &[String]) -> ElementState {
    let shown = tree::shown(raw, None, None, None);
    let is_text = roles::is_text(&raw.role);
    // A field without a value is empty.
    let text = raw.text().or_else(|| is_text.then(String::new));
    let told = text.as_ref().map_or(0, |text| text.encode_utf16().count());
    let click = click_request(raw, actions);
    let open = open_request(raw, actions);
    let units = match shown.secret {
        // The dots in place of a password are as many as its characters.
        true => raw.characters.or(Some(told).filter(|dots| *dots > 0)),
        false => raw.characters.filter(|whole| *whole > told),
    };
    ElementState {
        name: shown.name,
        enabled: shown.enabled,
        focused: shown.focused,
        selected: shown.selected,
        expanded: shown.expanded,
        bounds: Some(shown.bounds).filter(|bounds| !bounds.is_empty()),
        invoke: click.clone(),
        click,
        menu: can(actions, "AXShowMenu").then_some(Request::ShowMenu),
        hides_options: open.is_some(),
        open,
        // Only asking tells whether it scrolls.
        scrolls: true,
        range: roles::is_ranged(&raw.role).then_some(shown.range),
        length: units.map(TextLength::Utf16Units),
        text: text.filter(|_| !shown.secret),
        secret: shown.secret,
        settable: raw.settable == Some(true),
        editable: is_text,
        selects_text: is_text,
        ..ElementState::default()
    }
}

fn can(actions: &[String], action: &str) -> bool {
    actions.iter().any(|known| known == action)
}

/// What a click on the element is, if it can do it by itself.
fn click_request(raw: &RawElement, actions: &[String]) -> Option<Request> {
    // A click into a text gives it the focus, which the pointer does best.
    if roles::is_text(&raw.role) && raw.role != "AXComboBox" {
        return None;
    }
    if can(actions, "AXPress") {
        return Some(Request::Press);
    }
    // Rows have no press; what a click does to them is to select them.
    (raw.role == "AXRow").then_some(Request::Select)
}

/// What brings out a list or menu. A combo box opens by its button; a click on its text only gives it the focus.
fn open_request(raw: &RawElement, actions: &[String]) -> Option<Request> {
    match raw.role.as_str() {
        "AXComboBox" => (raw.expanded != Some(true)).then_some(Request::Expand),
        "AXPopUpButton" | "AXMenuButton" | "AXMenuBarItem" => click_request(raw, actions),
        _ => None,
    }
}

/// Something that an element is in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    pub role: String,
    pub bounds: Option<RawRect>,
}

/// Lie over what they belong to, and are not cut off by what that is in.
const OVER: &[&str] = &["AXMenu", "AXPopover", "AXComboBox", "AXDrawer"];

/// The part of the screen in which an element can be seen. `around` is what it is in, the nearest first; an element that
/// is scrolled away has a place on the screen all the same.
pub fn sight(screen: Rect, around: impl Iterator<Item = Around>) -> Rect {
    let mut sight = screen;
    for Around { role, bounds } in around.take_while(|next| !OVER.contains(&next.role.as_str())) {
        if let Some(bounds) = bounds.filter(|_| roles::clips(&role)) {
            sight = sight.intersection(&coordinates::rect(bounds)).unwrap_or_default();
        }
        // A sheet may be larger than its window.
        if matches!(role.as_str(), "AXSheet" | "AXWindow") {
            break;
        }
    }
    sight
}

#[cfg(test)]
mod tests {
    use super::super::records::RawValue;
    use super::*;
    use crate::error::Kind;
    use crate::model::input::{Act, Button, OptionChoice};
    use crate::platform::interaction::fake_backend::{
        BY_ITSELF, BY_KEYS, BY_POINTER, CLICKED, FakeBackend, Reaction, handle, obeys, refuses,
    };

    fn element(role: &str) -> RawElement {
        RawElement { role: role.to_owned(), ..RawElement::default() }
    }

    fn of(raw: &RawElement, actions: &[&str]) -> ElementState {
        element_state(raw, &actions.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    fn check_click(role: &str, actions: &[&str], expected: Option<Request>) {
        let state = of(&element(role), actions);
        assert_eq!((state.click, state.invoke), (expected.clone(), expected), "{role} {actions:?}");
    }

    #[test]
    fn a_click_is_a_press_or_selects_a_row() {
        check_click("AXButton", &["AXPress", "AXShowMenu"], Some(Request::Press));
        check_click("AXRow", &[], Some(Request::Select));
        check_click("AXImage", &[], None);
        check_click("AXTextField", &["AXPress", "AXConfirm"], None);
        check_click("AXComboBox", &["AXPress"], Some(Request::Press));
    }

    fn check_open(raw: &RawElement, actions: &[&str], expected: Option<Request>) {
        assert_eq!(of(raw, actions).open, expected, "{raw:?} {actions:?}");
    }

    #[test]
    fn menus_open_by_a_press_and_combo_boxes_by_their_button() {
        check_open(&element("AXPopUpButton"), &["AXPress"], Some(Request::Press));
        check_open(&element("AXPopUpButton"), &[], None);
        check_open(&element("AXComboBox"), &["AXConfirm"], Some(Request::Expand));
        check_open(&RawElement { expanded: Some(true), ..element("AXComboBox") }, &[], None);
        check_open(&element("AXMenuItem"), &["AXPress"], None);
        check_open(&element("AXTable"), &[], None);
    }

    fn check_text(text: Option<&str>, characters: Option<usize>, expected: (Option<&str>, Option<usize>)) {
        let value = text.map(|text| RawValue::Text(text.to_owned()));
        let state = of(&RawElement { value, characters, ..element("AXTextArea") }, &[]);
        let expected = (expected.0, expected.1.map(TextLength::Utf16Units));
        assert_eq!((state.text.as_deref(), state.length), expected, "{text:?} {characters:?}");
    }

    #[test]
    fn a_text_is_counted_as_the_system_counts() {
        check_text(None, None, (Some(""), None));
        check_text(Some("né"), Some(2), (Some("né"), None));
        check_text(Some("a😀"), Some(3), (Some("a😀"), None));
        check_text(Some("a😀"), Some(9), (Some("a😀"), Some(9)));
    }

    #[test]
    fn of_a_password_the_length_is_told() {
        let units = |text: Option<&str>, characters| {
            let (value, subrole) = (text.map(|text| RawValue::Text(text.to_owned())), "AXSecureTextField");
            let raw = RawElement { value, characters, ..element("AXTextField") };
            let state = of(&RawElement { subrole: Some(subrole.to_owned()), ..raw }, &[]);
            assert_eq!(state.text, None);
            state.length
        };
        let of = |units| Some(TextLength::Utf16Units(units));
        assert_eq!((units(Some("•••"), None), units(None, Some(0))), (of(3), of(0)));
        assert_eq!((units(Some("•••"), Some(4)), units(None, None)), (of(4), None));
    }

    fn fake(role: &str, actions: &[&str], reaction: Reaction) -> FakeBackend {
        let bounds = Some(RawRect { x: 100.0, y: 100.0, width: 100.0, height: 40.0 });
        FakeBackend::new(PROFILE, of(&RawElement { bounds, ..element(role) }, actions), reaction)
    }

    #[test]
    fn a_right_click_is_the_menu_that_an_element_shows_by_itself() {
        let right = Act::Click {
            element: Some(handle("it")),
            at: None,
            button: Button::Right,
            count: 1,
            modifiers: Vec::new(),
        };
        fake("AXButton", &["AXShowMenu"], obeys).check(&right, BY_ITSELF, &["it: show menu"]);
        let log = ["it: show menu", "Click(Right, 1) 150,120"];
        fake("AXButton", &["AXShowMenu"], refuses).check(&right, BY_POINTER, &log);
    }

    #[test]
    fn a_menu_that_was_opened_in_vain_is_closed_by_a_key() {
        let select = |name: &str| Act::Select {
            element: handle("it"),
            option: Some(OptionChoice::Name(name.to_owned())),
        };
        let item = of(&element("AXMenuItem"), &["AXPress"]);
        let button = |put_away| {
            let button = fake("AXPopUpButton", &["AXPress"], obeys);
            button.with_options(&["WEP", "WPA2"], &item, put_away)
        };
        button(true).check(&select("WEP"), BY_ITSELF, &["it: press", "WEP: press"]);
        button(false).check(&select("WEP"), BY_ITSELF, &["WEP: press"]);
        button(true).check(&select("WPA"), Err(Kind::BadRequest), &["it: press", "escape"]);
    }

    #[test]
    fn a_text_is_selected_by_keys_only_where_it_does_not_do_it_itself() {
        let typing = Act::SetValue { element: handle("it"), text: "new".to_owned() };
        let by_itself = ["it: focus", "it: select text", "type new"];
        fake("AXTextField", &[], obeys).check(&typing, BY_KEYS, &by_itself);
        let by_keys = ["it: focus", CLICKED, "it: select text", "meta+a", "type new"];
        fake("AXTextField", &[], refuses).check(&typing, BY_KEYS, &by_keys);
    }

    fn check_sight(around: &[(&str, [f64; 4])], expected: Rect) {
        let around = around.iter().map(|(role, [x, y, width, height])| Around {
            role: (*role).to_owned(),
            bounds: Some(RawRect { x: *x, y: *y, width: *width, height: *height }),
        });
        assert_eq!(sight(Rect::new(0, 0, 1000, 800), around), expected);
    }

    #[test]
    fn an_element_is_seen_in_what_it_scrolls_in() {
        let window = ("AXWindow", [100.0, 100.0, 400.0, 300.0]);
        let scrolled = ("AXScrollArea", [100.0, 150.0, 200.0, 400.0]);
        check_sight(&[], Rect::new(0, 0, 1000, 800));
        check_sight(&[("AXGroup", [0.0; 4]), window], Rect::new(100, 100, 400, 300));
        check_sight(&[("AXTable", [100.0, -900.0, 200.0, 3000.0]), scrolled], Rect::new(100, 150, 200, 400));
        check_sight(&[scrolled, window], Rect::new(100, 150, 200, 250));
        check_sight(&[("AXScrollArea", [600.0, 0.0, 9.0, 9.0]), window], Rect::default());
    }

    #[test]
    fn what_lies_over_a_window_is_not_cut_off_by_it() {
        let window = ("AXWindow", [100.0, 100.0, 40.0, 30.0]);
        for over in OVER {
            check_sight(&[(over, [100.0, 100.0, 10.0, 10.0]), window], Rect::new(0, 0, 1000, 800));
        }
        check_sight(&[("AXSheet", [90.0, 100.0, 60.0, 60.0]), window], Rect::new(90, 100, 60, 60));
    }
}
