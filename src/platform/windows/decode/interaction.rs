//! What an element of UI Automation can be asked for: which of its patterns does what a hand would do. What is asked when
//! is decided in `platform::interaction`.

use std::time::Duration;

use super::tree::RawElement;
use crate::model::input::{Key, Modifier};
use crate::model::{NamedKey, Role};
use crate::platform::interaction::{ElementState, InputProfile, Request, Timing};

pub const PROFILE: InputProfile = InputProfile {
    // Buttons of newer toolkits show their press before they do something.
    timing: Timing { effect: Duration::from_millis(400) },
    command: Modifier::Ctrl,
    delete_key: Key::Named(NamedKey::Backspace),
    trusts_silent_secrets: true,
};

pub fn element_state(raw: &RawElement) -> ElementState {
    let bounds = raw.bounds();
    let open = (raw.expanded() == Some(false)).then_some(Request::Expand);
    let text = raw.value.as_ref().map(|value| value.text.clone()).or_else(|| raw.text.clone());
    ElementState {
        name: raw.name.clone(),
        enabled: raw.enabled,
        focused: raw.focused,
        selected: raw.selected(),
        expanded: raw.expanded(),
        bounds: (!raw.offscreen && !bounds.is_empty()).then_some(bounds),
        click: click_request(raw),
        invoke: invoke_request(raw),
        // There is a request for it since Windows 8, which most programs do not answer; all know the right button.
        menu: None,
        hides_options: open.is_some(),
        open,
        scrolls: raw.scroll_item,
        range: raw.range.filter(|range| !range.read_only).map(|_| raw.range()),
        text: text.filter(|_| !raw.password),
        secret: raw.password,
        settable: raw.value.as_ref().is_some_and(|value| !value.read_only),
        editable: raw.editable(),
        // Text is selected by ctrl+A, which is the same key in every layout here.
        ..ElementState::default()
    }
}

/// What a click on the element is, if it can do it by itself.
fn click_request(raw: &RawElement) -> Option<Request> {
    let role = raw.role(false);
    // A click into a text gives it the focus, which the pointer does best.
    if matches!(role, Role::Edit | Role::Document) {
        return None;
    }
    let select = raw.selected.is_some().then_some(Request::Select);
    if role.is_selected_by_click() {
        return select;
    }
    let toggle = raw.toggle.is_some().then_some(Request::Toggle);
    let press = raw.invoke.then_some(Request::Press);
    press.or(toggle).or(select).or_else(|| open_or_close(raw))
}

/// What the element does when it is asked to do its own thing, which for an item of a list is a double click's.
fn invoke_request(raw: &RawElement) -> Option<Request> {
    if raw.invoke { Some(Request::Press) } else { click_request(raw) }
}

fn open_or_close(raw: &RawElement) -> Option<Request> {
    raw.expanded().map(|open| if open { Request::Collapse } else { Request::Expand })
}

#[cfg(test)]
mod tests {
    use super::super::tree::{RawRange, RawValue};
    use super::*;
    use crate::model::Rect;

    const BUTTON: i32 = 50_000;
    const CHECK_BOX: i32 = 50_002;
    const COMBO_BOX: i32 = 50_003;
    const EDIT: i32 = 50_004;
    const LIST_ITEM: i32 = 50_007;
    const MENU_ITEM: i32 = 50_011;
    const SLIDER: i32 = 50_015;

    fn element(control_type: i32) -> RawElement {
        RawElement { control_type, sides: [100, 100, 200, 140], enabled: true, ..RawElement::default() }
    }

    fn check(raw: &RawElement, click: Option<Request>, invoke: Option<Request>) {
        let state = element_state(raw);
        assert_eq!((state.click, state.invoke, state.menu), (click, invoke, None), "{raw:?}");
    }

    fn check_both(raw: &RawElement, request: Option<Request>) {
        check(raw, request.clone(), request);
    }

    #[test]
    fn a_click_is_the_pattern_that_does_the_same() {
        check_both(&RawElement { invoke: true, ..element(BUTTON) }, Some(Request::Press));
        check_both(&RawElement { toggle: Some(0), ..element(CHECK_BOX) }, Some(Request::Toggle));
        check_both(&RawElement { expand: Some(0), ..element(MENU_ITEM) }, Some(Request::Expand));
        check_both(&RawElement { expand: Some(1), ..element(MENU_ITEM) }, Some(Request::Collapse));
        check_both(&RawElement { expand: Some(3), ..element(MENU_ITEM) }, None);
        check_both(&element(BUTTON), None);
    }

    #[test]
    fn a_click_on_an_item_selects_it_and_does_not_open_it() {
        let item = RawElement { invoke: true, selected: Some(false), ..element(LIST_ITEM) };
        check(&item, Some(Request::Select), Some(Request::Press));
        check(&RawElement { invoke: true, ..element(LIST_ITEM) }, None, Some(Request::Press));
    }

    #[test]
    fn a_click_into_a_text_is_the_pointers() {
        check(&RawElement { invoke: true, ..element(EDIT) }, None, Some(Request::Press));
    }

    #[test]
    fn a_closed_combo_box_opens_and_an_open_one_does_not() {
        let opens = |expand| element_state(&RawElement { expand, ..element(COMBO_BOX) }).open;
        assert_eq!(opens(Some(0)), Some(Request::Expand));
        assert_eq!((opens(Some(1)), opens(Some(3)), opens(None)), (None, None, None));
    }

    #[test]
    fn what_is_read_only_is_not_set() {
        let value = |read_only| Some(RawValue { text: "x".to_owned(), read_only });
        let field = |read_only| element_state(&RawElement { value: value(read_only), ..element(EDIT) });
        assert!(field(false).settable && field(false).editable);
        assert!(!field(true).settable && !field(true).editable);
        let range = |read_only| Some(RawRange { now: 1.0, min: 0.0, max: f64::NAN, read_only });
        let slider =
            |read_only| element_state(&RawElement { range: range(read_only), ..element(SLIDER) }).range;
        assert_eq!(slider(true), None);
        assert_eq!(slider(false).map(|range| (range.now, range.max)), Some((Some(1.0), None)));
    }

    #[test]
    fn a_text_is_the_value_or_else_what_can_be_read() {
        let told = |raw: RawElement| element_state(&raw).text;
        let value = || Some(RawValue { text: "value".to_owned(), read_only: false });
        let text = || Some("text".to_owned());
        assert_eq!(told(RawElement { value: value(), text: text(), ..element(EDIT) }).unwrap(), "value");
        assert_eq!(told(RawElement { text: text(), ..element(EDIT) }).unwrap(), "text");
        assert_eq!(told(RawElement { value: value(), password: true, ..element(EDIT) }), None);
        assert_eq!(told(element(EDIT)), None);
    }

    #[test]
    fn what_is_scrolled_away_has_no_place() {
        assert_eq!(element_state(&element(BUTTON)).bounds, Some(Rect::new(100, 100, 100, 40)));
        assert_eq!(element_state(&RawElement { offscreen: true, ..element(BUTTON) }).bounds, None);
        assert_eq!(element_state(&RawElement { sides: [0; 4], ..element(BUTTON) }).bounds, None);
    }
}
