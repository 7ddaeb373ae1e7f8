//! What nobody could read: windows with more elements than are read, windows without any, menus that lie over others.
//! Rules cannot tell what is there, so an input that goes by place or by focus needs consent, and a picture in which
//! something would have to be black is not given.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use os_screen_observer::app::App;
use os_screen_observer::clock::Clock;
use os_screen_observer::model::{Element, Rect, Tree, TreeBuilder};
use os_screen_observer::platform::{Desktop, Done, Menu};
use serde_json::{Value, json};

use crate::everywhere::{Odd, by_act, by_gate, by_replay, odd_app};

/// Where the element is that is meant, in every tree below.
const PLACE: Rect = Rect::new(60, 65, 20, 20);
const POINT: [i32; 2] = [65, 70];

struct Desk {
    app: Arc<App>,
    deeds: Arc<AtomicUsize>,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn new(tree: Tree, config: Value) -> Self {
        Self::under(tree, |_| None, config)
    }

    fn under(tree: Tree, menu: impl Fn(&Odd) -> Option<Menu>, config: Value) -> Self {
        let clock = Clock::steered();
        let mut odd = Odd::new(&clock);
        odd.tree = Some(tree);
        odd.menu = menu(&odd);
        let deeds = Arc::new(AtomicUsize::new(0));
        let counted = deeds.clone();
        odd.hand = Some(Box::new(move |_, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(Done::default())
        }));
        let (app, _folder) = odd_app(Arc::new(odd), clock, config);
        Self { app, deeds, _folder }
    }

    fn deeds(&self) -> usize {
        self.deeds.load(Ordering::SeqCst)
    }
}

fn rules() -> Value {
    json!({"confirmation_required": [{"name_regex": "(?i)delete"}]})
}

fn window() -> Element {
    Element::new("Window", "w", Rect::new(0, 0, 800, 600))
}

/// A tool bar with one more child than is read; the last one is what is meant.
fn cut(last: Element) -> Tree {
    let mut tree = TreeBuilder::new(window());
    for _ in 0..2_000 {
        tree.add_leaf(Element::new("Button", "Harmless", Rect::new(300, 300, 10, 10)));
    }
    tree.add_leaf(last);
    tree.finish()
}

fn dark() -> Tree {
    let mut tree = Tree::of_root(window());
    tree.lacking = Some("the application offers no elements".to_owned());
    tree
}

fn whole() -> Tree {
    let mut tree = TreeBuilder::new(window());
    tree.add_leaf(Element::new("Button", "Harmless", PLACE));
    tree.finish()
}

/// Ways that go by a place or by the focus and name no element.
fn blind_ways() -> Vec<(&'static str, Value)> {
    let [x, y] = POINT;
    vec![
        ("click_at", json!({"x": x, "y": y})),
        ("right_click_at", json!({"x": x, "y": y})),
        ("hover_at", json!({"x": x, "y": y})),
        ("scroll", json!({"x": x, "y": y, "clicks": 1})),
        ("drag", json!({"from": {"x": 10, "y": 10}, "to": {"x": x, "y": y}})),
        ("drag", json!({"from": {"x": x, "y": y}, "to": {"x": 10, "y": 10}})),
        ("press_key", json!({"keys": "ctrl+d"})),
        ("press_key", json!({"keys": "enter"})),
        ("type_text", json!({"text": "x"})),
    ]
}

#[track_caller]
fn check_refused(desk: &Desk, ways: &[(&str, Value)]) {
    for (tool, args) in ways {
        for reply in [by_gate(&desk.app, tool, args.clone()), by_act(&desk.app, tool, args)] {
            assert!(reply.to_string().contains("confirmation.on_unread"), "{tool} {args}: {reply}");
        }
        // A replay tells of a step its code alone.
        let replayed = by_replay(&desk.app, tool, args);
        assert_eq!(replayed["actual_summary"]["error"]["code"], "ConfirmationRequired", "{replayed}");
    }
    assert_eq!(desk.deeds(), 0);
}

#[track_caller]
fn check_free(desk: &Desk, ways: &[(&str, Value)]) {
    for (number, (tool, args)) in ways.iter().enumerate() {
        let reply = by_gate(&desk.app, tool, args.clone());
        assert_eq!(reply["ok"], true, "{tool} {args}: {reply}");
        assert!(desk.deeds() > number, "{tool} {args}: {reply}");
    }
}

/// H-46, H-66 on code, act, replay: a button beyond the last element that is read is protected all the same.
#[test]
fn what_is_beyond_the_limit_is_not_clicked_without_consent() {
    check_refused(&Desk::new(cut(Element::new("Button", "Delete", PLACE)), rules()), &blind_ways());
}

/// H-66, H-84 on code, act, replay: a window that tells no elements hides none from the rules.
#[test]
fn a_window_without_elements_needs_consent() {
    check_refused(&Desk::new(dark(), rules()), &blind_ways());
}

/// H-66 on code: a window that was read, a desktop without rules, and an owner who wants it so are asked nothing.
#[test]
fn what_can_be_judged_or_is_not_to_be_is_free() {
    check_free(&Desk::new(whole(), rules()), &blind_ways());
    check_free(&Desk::new(dark(), json!({})), &blind_ways());
    let mut off = rules();
    off["confirmation"]["on_unread"] = "off".into();
    check_free(&Desk::new(dark(), off), &blind_ways());
}

/// H-66 on code: a token serves one such input, and an element that is named is judged by itself.
#[test]
fn consent_and_names_let_it_through() {
    let desk = Desk::new(cut(Element::new("Button", "Delete", PLACE)), rules());
    let args = json!({"x": POINT[0], "y": POINT[1]});
    let proposed = by_gate(&desk.app, "propose_action", json!({"action": "click_at", "args": args}));
    let token = proposed["confirm_token"].as_str().unwrap_or_else(|| panic!("{proposed}"));
    let mut with_token = args.clone();
    with_token["confirm_token"] = token.into();
    assert_eq!(by_gate(&desk.app, "click_at", with_token)["ok"], true);
    assert_eq!(desk.deeds(), 1);
    let named = by_gate(&desk.app, "click_element", json!({"element_id": "root.7"}));
    assert_eq!((&named["ok"], desk.deeds()), (&json!(true), 2), "{named}");
}

/// H-66 on code, act, replay: a menu that lies over another window, or over nothing, is not judged by what it covers.
#[test]
fn a_menu_is_judged_by_the_window_that_opened_it() {
    let menu = |window_uid| Some(Menu { bounds: Rect::new(50, 50, 100, 100), window_uid });
    let owner = |odd: &Odd| odd.mock.windows().unwrap()[1].uid.clone();
    let owned = |odd: &Odd| menu(Some(owner(odd)));
    let point = blind_ways().into_iter().filter(|(tool, _)| tool.ends_with("_at")).collect::<Vec<_>>();
    // Nobody's.
    check_refused(&Desk::under(whole(), |_| menu(None), rules()), &point);
    check_refused(&Desk::under(whole(), |_| menu(Some("gone".to_owned())), rules()), &point);
    // Its window shows nothing of it.
    let elsewhere = Tree::of_root(window());
    check_refused(&Desk::under(elsewhere, owned, rules()), &point);
    // Its window shows what is there.
    let mut items = TreeBuilder::new(window());
    items.add_leaf(Element::new("MenuItem", "Delete", PLACE));
    let desk = Desk::under(items.finish(), owned, rules());
    let second = by_gate(&desk.app, "list_windows", json!({}))["windows"][1]["window_uid"].clone();
    let reply = by_gate(&desk.app, "click_at", json!({"x": POINT[0], "y": POINT[1]}));
    assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{reply}");
    assert_eq!(reply["error"]["context"]["target"]["window_uid"], second, "{reply}");
    assert_eq!(reply["error"]["context"]["on_unread"], Value::Null, "a rule is about it: {reply}");
    assert_eq!(desk.deeds(), 0);
    check_free(&Desk::under(whole(), owned, rules()), &point);
}

/// H-60 on code: a field beyond the last element that is read is in no picture, because there is none.
#[test]
fn a_window_that_was_read_in_part_is_not_pictured_where_secrets_are_black() {
    let blurred = json!({"redaction": {"blur_screenshots": true}});
    let desk = Desk::new(cut(Element::new("PasswordText", "PIN", PLACE)), blurred.clone());
    for (tool, args) in [
        ("get_screenshot", json!({})),
        ("get_full_screenshot", json!({})),
        ("get_screenshot_cropped", json!({})),
        ("zoom", json!({"x": 65, "y": 70})),
        ("look", json!({"picture": "plain"})),
    ] {
        let reply = by_gate(&desk.app, tool, args);
        assert!(reply["data"].is_null() && reply["image_id"].is_null(), "{tool}: {reply:.300}");
        assert!(reply.to_string().contains("blur_screenshots"), "{tool}: {reply:.600}");
    }
    let desk = Desk::new(whole(), blurred);
    assert_eq!(by_gate(&desk.app, "get_screenshot", json!({}))["ok"], true);
}
