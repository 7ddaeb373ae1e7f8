use super::*;
use crate::model::NamedKey;
use crate::model::input::Modifier;
use crate::platform::interaction::TextLength;
use crate::platform::interaction::fake_backend::*;

fn click() -> Act {
    Act::Click {
        element: Some(handle("it")),
        at: None,
        button: Button::Left,
        count: 1,
        modifiers: Vec::new(),
    }
}

fn set_value(text: &str) -> Act {
    Act::SetValue { element: handle("it"), text: text.to_owned() }
}

fn select(name: &str) -> Act {
    Act::Select { element: handle("it"), option: Some(OptionChoice::Name(name.to_owned())) }
}

fn hover(x: i32, y: i32) -> Act {
    Act::Hover { element: Some(handle("it")), at: Some(Point { x, y }) }
}

/// The same on every system.
fn each(test: impl Fn(&System)) {
    SYSTEMS.iter().for_each(test);
}

#[test]
fn an_element_that_can_does_it_by_itself() {
    each(|system| {
        system.with(Thing::Button, obeys).check(&click(), BY_ITSELF, &[system.press]);
        let invoke = Act::Invoke { element: handle("it") };
        system.with(Thing::Button, obeys).check(&invoke, BY_ITSELF, &[system.press]);
    });
}

#[test]
fn what_the_pointer_serves_better_is_clicked_by_the_pointer_where_that_meets_it() {
    each(|system| {
        let slow = || system.changed(Thing::Button, obeys, |state| state.pointer_first = true);
        slow().check(&click(), BY_POINTER, &[CLICKED]);
        let covered = slow();
        covered.covered.set(true);
        covered.check(&click(), BY_ITSELF, &[system.press]);
        let away = slow();
        away.sight.set(Rect::default());
        away.check(&click(), BY_ITSELF, &[system.press]);
        slow().check_behind(&click(), BY_ITSELF, &[system.press]);
        slow().check(&Act::Invoke { element: handle("it") }, BY_ITSELF, &[system.press]);
    });
}

#[test]
fn an_item_selects_itself() {
    SELF_SELECTING.iter().for_each(|system| {
        system.with(Thing::Item, obeys).check(&click(), BY_ITSELF, &["it: select"]);
        let itself = Act::Select { element: handle("it"), option: None };
        system.with(Thing::Item, obeys).check(&itself, BY_ITSELF, &["it: select"]);
    });
}

#[test]
fn what_an_element_cannot_the_pointer_does() {
    each(|system| {
        system.with(Thing::Picture, obeys).check(&click(), BY_POINTER, &[CLICKED]);
        system.with(Thing::Field("x"), obeys).check(&click(), BY_POINTER, &[CLICKED]);
        system.with(Thing::Button, refuses).check(&click(), BY_POINTER, &[system.press, CLICKED]);
        let twice = Act::Click {
            element: Some(handle("it")),
            at: None,
            button: Button::Left,
            count: 2,
            modifiers: Vec::new(),
        };
        system.with(Thing::Button, obeys).check(&twice, BY_POINTER, &["Click(Left, 2) 150,120"]);
        let right = Act::Click {
            element: Some(handle("it")),
            at: None,
            button: Button::Right,
            count: 1,
            modifiers: Vec::new(),
        };
        system.with(Thing::Button, obeys).check(&right, BY_POINTER, &["Click(Right, 1) 150,120"]);
    });
}

#[test]
fn a_press_that_is_not_answered_is_told_and_not_repeated() {
    each(|system| {
        let note = system.with(Thing::Button, |_, _| RequestOutcome::Unanswered).check(
            &click(),
            BY_ITSELF,
            &[system.press],
        );
        assert!(note.unwrap().contains("dialog"));
    });
}

#[test]
fn a_disabled_element_is_left_alone() {
    each(|system| {
        let off = system.changed(Thing::Button, obeys, |state| state.enabled = false);
        off.check(&click(), Err(Kind::ElementDisabled), &[]);
        let other = Act::Invoke { element: handle("other") };
        system.with(Thing::Button, obeys).check(&other, Err(Kind::ElementNotFound), &[]);
    });
}

#[test]
fn a_covered_element_is_uncovered_first() {
    each(|system| {
        let covered = system.with(Thing::Picture, obeys);
        covered.covered.set(true);
        covered.check(&click(), BY_POINTER, &["raise", CLICKED]);
        let stuck = system.with(Thing::Picture, obeys);
        stuck.raises.set(false);
        stuck.covered.set(true);
        stuck.check(&click(), Err(Kind::ElementOccluded), &["raise"]);
    });
}

#[test]
fn what_is_scrolled_away_is_scrolled_back() {
    each(|system| {
        let away = |reaction| {
            system.changed(Thing::Picture, reaction, |state| {
                state.bounds = Some(Rect::new(100, 2000, 100, 40));
                state.scrolls = true;
            })
        };
        away(obeys).check(&click(), BY_POINTER, &["it: scroll into view", CLICKED]);
        away(lies).check(&click(), Err(Kind::ElementOccluded), &["it: scroll into view"]);
        away(refuses).check(&click(), Err(Kind::ElementOccluded), &["it: scroll into view"]);
        let nowhere = system.changed(Thing::Picture, obeys, |state| {
            state.bounds = None;
            state.scrolls = false;
        });
        nowhere.check(&click(), Err(Kind::ElementOccluded), &[]);
    });
}

#[test]
fn of_what_is_half_in_sight_the_half_is_clicked() {
    each(|system| {
        let half = system.with(Thing::Picture, obeys);
        half.sight.set(Rect::new(0, 0, 1000, 110));
        half.check(&click(), BY_POINTER, &["Click(Left, 1) 150,105"]);
    });
}

#[test]
fn the_callers_point_counts_while_it_is_on_the_element() {
    each(|system| {
        system.with(Thing::Button, obeys).check(&hover(110, 105), BY_POINTER, &["Hover 110,105"]);
        system.with(Thing::Button, obeys).check(&hover(10, 5), BY_POINTER, &["Hover 150,120"]);
    });
}

#[test]
fn a_point_of_the_screen_needs_no_element() {
    each(|system| {
        let check = |input: Act, expected: &str| {
            system.with(Thing::Button, obeys).check(&input, BY_POINTER, &[expected]);
        };
        let at = Some(Point { x: 3, y: 4 });
        check(Act::Hover { element: None, at }, "Hover 3,4");
        check(
            Act::Click { element: None, at, button: Button::Middle, count: 1, modifiers: Vec::new() },
            "Click(Middle, 1) 3,4",
        );
        check(Act::Scroll { element: None, at, clicks: 2 }, "Scroll(2) 3,4");
        check(Act::Scroll { element: None, at: None, clicks: -3 }, "Scroll(-3) here");
        let lost = Act::Hover { element: None, at: None };
        system.with(Thing::Button, obeys).check(&lost, Err(Kind::BadRequest), &[]);
    });
}

#[test]
fn the_wheel_turns_over_what_is_meant() {
    each(|system| {
        let wheel = Act::Scroll { element: Some(handle("it")), at: None, clicks: -3 };
        system.with(Thing::List, obeys).check(&wheel, BY_POINTER, &["Scroll(-3) 150,120"]);
        let behind = system.with(Thing::List, obeys);
        behind.covered.set(true);
        behind.check(&wheel, BY_POINTER, &["raise", "Scroll(-3) 150,120"]);
    });
}

#[test]
fn a_drag_goes_its_whole_way() {
    each(|system| {
        let drag = Act::Drag {
            from: Point { x: 1, y: 2 },
            to: Point { x: 30, y: 40 },
            modifiers: vec![Modifier::Shift],
            duration: Duration::from_millis(250),
        };
        let log = "drag 1,2 to 30,40 [Shift] 250ms";
        system.with(Thing::Picture, obeys).check(&drag, BY_POINTER, &[log]);
    });
}

#[test]
fn a_value_is_set_by_the_element_and_read_back() {
    each(|system| {
        system.with(Thing::Field("old"), obeys).check(&set_value("new"), BY_ITSELF, &["it: set value"]);
        let typed = ["it: set value", "it: focus", CLICKED, system.selects_all, "type new"];
        let note = system.with(Thing::Field("old"), lies).check(&set_value("new"), BY_KEYS, &typed);
        assert_eq!(note, None, "typing is read back too");
        let same = system.with(Thing::Field("a\r\nb\r"), lies);
        assert_eq!(same.check(&set_value("a\nb"), BY_ITSELF, &["it: set value"]), None);
    });
}

#[test]
fn of_a_long_text_the_beginning_and_the_length_are_compared() {
    each(|system| {
        let check = |wanted: &str, held: bool| {
            let long = system
                .changed(Thing::Field("😀b"), lies, |state| state.length = Some(TextLength::Utf16Units(5)));
            let typed = format!("type {wanted}");
            let typed = ["it: set value", "it: focus", CLICKED, system.selects_all, &typed];
            let (route, log): (_, &[&str]) =
                if held { (BY_ITSELF, &["it: set value"]) } else { (BY_KEYS, &typed) };
            long.check(&set_value(wanted), route, log);
        };
        check("😀bcd", true);
        check("😀bc", false);
        check("xxbcd", false);
    });
}

#[test]
fn a_field_is_emptied_by_a_key() {
    each(|system| {
        let emptied = ["it: set value", "it: focus", CLICKED, system.selects_all, system.deletes];
        assert_eq!(system.with(Thing::Field("old"), lies).check(&set_value(""), BY_KEYS, &emptied), None);
    });
}

#[test]
fn a_field_that_makes_another_text_of_it_fails_the_call() {
    each(|system| {
        let check = |garbles: &'static str, wanted: &str, expected: Result<Route, Kind>| {
            let mut field = system.with(Thing::Field("old"), lies);
            field.garbles = Some(garbles);
            let typed = format!("type {wanted}");
            let log = ["it: set value", "it: focus", CLICKED, system.selects_all, &typed];
            field.check(&set_value(wanted), expected, &log)
        };
        let told = check("02/02/0004", "2026-02-04", Err(Kind::PatternUnsupported));
        assert_eq!(told.unwrap(), "typed, but 'It' holds '02/02/0004' now");
        assert_eq!(check("03", "3", BY_KEYS), None, "a number is the same, however it is written");
    });
}

#[test]
fn a_secret_that_holds_something_else_tells_only_how_much() {
    each(|system| {
        let mut secret =
            system.changed(Thing::Secret, lies, |state| state.length = Some(TextLength::Characters(9)));
        secret.garbles = Some("abc");
        let log = ["it: set value", "it: focus", CLICKED, system.selects_all, "type hunter2"];
        let told = secret.check(&set_value("hunter2"), Err(Kind::PatternUnsupported), &log);
        assert_eq!(told.unwrap(), "typed, but 'It' holds 3 characters now");
    });
}

#[test]
fn a_dry_run_refuses_what_the_element_cannot() {
    each(|system| {
        let check = |thing: Thing, act: &Act, expected: Result<(), Kind>| {
            let fake = system.with(thing, obeys);
            assert_eq!(super::check(&fake, act).map_err(|error| error.kind), expected, "{thing:?} {act:?}");
            fake.check_log(&[]);
        };
        check(Thing::Button, &set_value("x"), Err(Kind::PatternUnsupported));
        check(Thing::Slider, &set_value("11"), Err(Kind::BadRequest));
        check(Thing::Field("x"), &set_value("y"), Ok(()));
        check(Thing::Button, &click(), Ok(()));
        let off = system.changed(Thing::Button, obeys, |state| state.enabled = false);
        assert_eq!(super::check(&off, &click()).unwrap_err().kind, Kind::ElementDisabled);
    });
}

#[test]
fn keys_for_a_window_go_to_that_window_or_nowhere() {
    each(|system| {
        let uid = Some(handle("it").window_uid);
        let keys = key_combo(&[Modifier::Ctrl], Key::Character('s'));
        let acts = [
            (Act::Type { element: None, window_uid: uid.clone(), text: "hi".to_owned() }, "type hi"),
            (Act::Key { element: None, window_uid: uid, keys }, "ctrl+s"),
        ];
        for (act, sent) in acts {
            system.with(Thing::Field(""), obeys).check(&act, BY_KEYS, &[sent]);
            let behind = system.with(Thing::Field(""), obeys);
            behind.active.set(false);
            behind.check(&act, BY_KEYS, &["raise", sent]);
            let stuck = system.with(Thing::Field(""), obeys);
            stuck.raises.set(false);
            stuck.active.set(false);
            stuck.check(&act, Err(Kind::WindowOccluded), &["raise"]);
            let quiet = system.with(Thing::Field(""), obeys);
            quiet.active.set(false);
            quiet.check_behind(&act, Err(Kind::WindowOccluded), &[]);
        }
    });
}

/// Behind another window, which nobody may raise.
fn behind(system: &System, thing: Thing, reaction: Reaction) -> FakeBackend {
    let fake = system.with(thing, reaction);
    fake.active.set(false);
    fake.covered.set(true);
    fake
}

#[test]
fn what_an_element_does_by_itself_it_does_behind_others() {
    each(|system| {
        behind(system, Thing::Button, obeys).check_behind(&click(), BY_ITSELF, &[system.press]);
        behind(system, Thing::Field("old"), obeys).check_behind(
            &set_value("你好 😀"),
            BY_ITSELF,
            &["it: set value"],
        );
        behind(system, Thing::Slider, obeys).check_behind(&set_value("7"), BY_ITSELF, &["it: set value"]);
    });
}

#[test]
fn behind_others_nothing_is_taken() {
    each(|system| {
        let refused: Result<Route, Kind> = Err(Kind::ElementOccluded);
        let why = behind(system, Thing::Picture, obeys).check_behind(&click(), refused, &[]);
        assert!(why.unwrap().contains("delivery:\"foreground\""));
        behind(system, Thing::Button, refuses).check_behind(&click(), refused, &[system.press]);
        behind(system, Thing::Field("old"), lies).check_behind(
            &set_value("new"),
            refused,
            &["it: set value"],
        );
        let focus = Act::Focus { element: handle("it") };
        behind(system, Thing::Field(""), obeys).check_behind(&focus, refused, &[]);
        behind(system, Thing::Button, obeys).check_behind(&hover(110, 105), refused, &[]);
        let held = Act::Click {
            element: Some(handle("it")),
            at: None,
            button: Button::Left,
            count: 1,
            modifiers: vec![Modifier::Ctrl],
        };
        behind(system, Thing::Button, obeys).check_behind(&held, refused, &[]);
    });
}

#[test]
fn a_toggle_behind_others_counts_when_it_is_read_back() {
    each(|system| {
        let toggle = |reaction| {
            let fake = system.changed(Thing::Picture, reaction, |state| {
                state.selected = Some(false);
                state.unseen_click = Some(Request::Toggle);
            });
            fake.active.set(false);
            fake
        };
        toggle(obeys).check_behind(&click(), BY_ITSELF, &["it: toggle"]);
        toggle(lies).check_behind(&click(), Err(Kind::ElementOccluded), &["it: toggle"]);
        toggle(obeys).check(&click(), BY_POINTER, &[CLICKED]);
    });
}

#[test]
fn a_click_with_keys_held_is_the_pointers() {
    each(|system| {
        let held = Act::Click {
            element: Some(handle("it")),
            at: None,
            button: Button::Left,
            count: 1,
            modifiers: vec![Modifier::Ctrl, Modifier::Shift],
        };
        system.with(Thing::Button, obeys).check(&held, BY_POINTER, &["[Ctrl, Shift] Click(Left, 1) 150,120"]);
    });
}

#[test]
fn what_a_click_only_gives_the_focus_must_get_it() {
    each(|system| {
        let cell =
            |reaction| system.changed(Thing::Picture, reaction, |state| state.click = Some(Request::Focus));
        cell(obeys).check(&click(), BY_ITSELF, &["it: focus"]);
        let note = cell(lies).check(&click(), BY_POINTER, &["it: focus", CLICKED]);
        assert!(note.unwrap().contains("does not report that it has the focus"));
        let behind = cell(obeys);
        behind.active.set(false);
        behind.check(&click(), BY_ITSELF, &["raise", "it: focus"]);
    });
}

#[test]
fn what_has_no_value_is_told() {
    each(|system| {
        for thing in [Thing::Button, Thing::Picture] {
            system.with(thing, obeys).check(&set_value("x"), Err(Kind::PatternUnsupported), &[]);
        }
    });
}

#[test]
fn a_number_is_held_to_its_range() {
    each(|system| {
        let slider = |reaction| system.with(Thing::Slider, reaction);
        slider(obeys).check(&set_value(" 7 "), BY_ITSELF, &["it: set value"]);
        let note = slider(obeys).check(&set_value("11"), Err(Kind::BadRequest), &[]);
        assert_eq!(note.unwrap(), "11 is not between 0 and 10");
        slider(obeys).check(&set_value("-1"), Err(Kind::BadRequest), &[]);
        slider(lies).check(&set_value("7"), Err(Kind::PatternUnsupported), &["it: set value"]);
        let rounds: Reaction = |state, _| obeys(state, &Request::SetNumber(5.0));
        let note = slider(rounds).check(&set_value("7"), BY_ITSELF, &["it: set value"]);
        assert!(note.unwrap().contains("the value is 5"));
    });
}

#[test]
fn ends_with_nothing_between_them_are_no_ends() {
    let check = |min, max, number, expected: bool| {
        assert_eq!(is_within(Range { now: None, min, max }, number), expected, "{min:?} {max:?} {number}");
    };
    check(Some(0.0), Some(0.0), 4.0, true);
    check(Some(1.0), Some(3.0), 4.0, false);
    check(None, Some(3.0), 4.0, false);
    check(Some(5.0), None, 4.0, false);
    check(None, None, 4.0, true);
}

#[test]
fn keys_are_sent_only_where_they_are_meant_to_go() {
    each(|system| {
        let typing = Act::Type { element: Some(handle("it")), window_uid: None, text: "hi".to_owned() };
        let field = || system.with(Thing::Field(""), obeys);
        field().check(&typing, BY_KEYS, &["it: focus", "type hi"]);
        let behind = field();
        behind.active.set(false);
        behind.check(&typing, BY_KEYS, &["raise", "it: focus", "type hi"]);
        let stuck = field();
        stuck.raises.set(false);
        stuck.active.set(false);
        stuck.check(&typing, Err(Kind::WindowOccluded), &["raise", "it: focus"]);
        let keys = key_combo(&[Modifier::Shift], Key::Named(NamedKey::Tab));
        field().check(&Act::Key { element: None, window_uid: None, keys }, BY_KEYS, &["shift+tab"]);
    });
}

/// Take no text, and lie about the rest.
const REFUSES_TEXT: Reaction = |_, request| match request {
    Request::SetText(_) => RequestOutcome::Refused,
    _ => RequestOutcome::Accepted,
};
const SILENT_ON_TEXT: Reaction = |_, request| match request {
    Request::SetText(_) => RequestOutcome::Unanswered,
    _ => RequestOutcome::Accepted,
};

#[test]
fn a_password_is_believed_when_it_says_yes_and_else_typed() {
    SELF_SELECTING.iter().for_each(|system| {
        let secret = |reaction| system.with(Thing::Secret, reaction);
        secret(lies).check(&set_value("hunter2"), BY_ITSELF, &["it: set value"]);
        let typed = ["it: set value", "it: focus", CLICKED, system.selects_all, "type hunter2"];
        for reaction in [REFUSES_TEXT, SILENT_ON_TEXT] {
            let note = secret(reaction).check(&set_value("hunter2"), BY_KEYS, &typed);
            assert!(note.unwrap().contains("does not report its value"));
        }
    });
}

#[test]
fn a_password_of_the_same_length_is_no_proof() {
    each(|system| {
        let of_seven = |reaction| {
            system.changed(Thing::Secret, reaction, |state| state.length = Some(TextLength::Utf16Units(7)))
        };
        let typed = ["it: set value", "it: focus", CLICKED, system.selects_all, "type hunter2"];
        of_seven(REFUSES_TEXT).check(&set_value("hunter2"), BY_KEYS, &typed);
        of_seven(lies).check(&set_value("hunter2"), BY_ITSELF, &["it: set value"]);
        let typed = ["it: set value", "it: focus", CLICKED, system.selects_all, "type other"];
        of_seven(lies).check(&set_value("other"), BY_KEYS, &typed);
    });
}

#[test]
fn what_has_the_focus_keeps_it() {
    each(|system| {
        let focus = Act::Focus { element: handle("it") };
        let focused = system.changed(Thing::Field(""), obeys, |state| state.focused = true);
        assert!(focused.check(&focus, BY_ITSELF, &[]).unwrap().contains("already"));
        let deaf = system.with(Thing::Field(""), lies);
        let note = deaf.check(&focus, BY_POINTER, &["it: focus", CLICKED]);
        assert!(note.unwrap().contains("does not report"));
    });
}

#[test]
fn an_option_of_a_list_is_selected_by_itself() {
    SELF_SELECTING.iter().for_each(|system| {
        let item = system.thing(Thing::Item);
        let list = || system.with(Thing::List, obeys).with_options(&["Left", "Right"], &item, false);
        list().check(&select("Right"), BY_ITSELF, &["Right: select"]);
        let note = list().check(&select("Up"), Err(Kind::BadRequest), &[]);
        assert_eq!(note.unwrap(), "no option is named 'Up'; there are: Left, Right");
    });
}

#[test]
fn an_option_that_lies_is_clicked_and_told() {
    SELF_SELECTING.iter().for_each(|system| {
        let item = system.thing(Thing::Item);
        for reaction in [refuses, lies] {
            let list = system.with(Thing::List, reaction).with_options(&["Left"], &item, false);
            let log = ["Left: select", "Click(Left, 1) 150,150"];
            let note = list.check(&select("Left"), BY_POINTER, &log);
            assert!(note.unwrap().contains("does not report that it is selected"));
        }
    });
}

#[test]
fn a_combo_box_is_opened_and_closed_again() {
    SELF_SELECTING.iter().for_each(|system| {
        let item = system.thing(Thing::Item);
        let combo = || system.with(Thing::Combo, obeys).with_options(&["Left", "Right"], &item, true);
        let log = ["it: expand", "Right: select", "it: collapse"];
        combo().check(&select("Right"), BY_ITSELF, &log);
        let note = combo().check(&select("Up"), Err(Kind::BadRequest), &["it: expand", "it: collapse"]);
        assert_eq!(note.unwrap(), "no option is named 'Up'; there are: Left, Right");
    });
}

/// How many looks of so many milliseconds are made while 400 are waited, and how long that took.
fn check_wait(look: u64, expected_looks: u32, at_most: u64) {
    let fake = SYSTEMS[0].with(Thing::Picture, obeys);
    let mut looks = 0;
    let found = Interaction::new(&fake, &Unguarded, Delivery::Foreground).until(READ_BACK_TIME, || {
        looks += 1;
        fake.clock.advance(Duration::from_millis(look));
        Ok(false)
    });
    assert_eq!((found, looks), (Ok(false), expected_looks), "looks of {look} ms");
    assert!(fake.clock.now() <= Duration::from_millis(at_most), "{:?}", fake.clock.now());
}

#[test]
fn a_wait_is_bounded_by_the_clock_and_not_by_looks() {
    check_wait(0, 21, 400);
    check_wait(20, 11, 420);
    check_wait(300, 3, 920);
    check_wait(3_000, 2, 6_000);
}

#[test]
fn what_comes_at_the_last_moment_is_seen() {
    let fake = SYSTEMS[0].with(Thing::Picture, obeys);
    let interaction = Interaction::new(&fake, &Unguarded, Delivery::Foreground);
    assert_eq!(interaction.until(READ_BACK_TIME, || Ok(fake.clock.now() >= READ_BACK_TIME)), Ok(true));
    fake.cancel().fire();
    assert_eq!(interaction.until(READ_BACK_TIME, || Ok(false)), Err(Error::cancelled()));
}

/// Notes after how many deeds of the backend it is asked, and refuses from one of its looks on.
struct Watchful<'a> {
    backend: &'a FakeBackend,
    asked: std::cell::RefCell<Vec<(usize, PressKind)>>,
    refuses_at: usize,
}

impl PressGuard for Watchful<'_> {
    fn judges(&self) -> bool {
        true
    }

    fn check_press(&self, _: Point, kind: PressKind) -> Result<()> {
        self.asked.borrow_mut().push((self.backend.logged().len(), kind));
        match self.asked.borrow().len() > self.refuses_at {
            true => Err(Error::new(Kind::ConfirmationRequired, "protected")),
            false => Ok(()),
        }
    }
}

/// What is done to a picture when the guard refuses at one of its looks, and after how many deeds it was asked.
#[track_caller]
fn check_guarded(input: &Act, refuses_at: usize, log: &[&str], asked: &[usize]) {
    each(|system| {
        let backend = system.with(Thing::Picture, obeys);
        let guard = Watchful { backend: &backend, asked: Default::default(), refuses_at };
        let done = act(&backend, &guard, input, Delivery::Foreground);
        assert_eq!(done.is_err(), asked.len() > refuses_at, "{input:?}");
        assert_eq!(backend.logged(), log, "{input:?}");
        let times: Vec<usize> = guard.asked.borrow().iter().map(|(time, _)| *time).collect();
        assert_eq!(times, asked, "{input:?}");
    });
}

#[test]
fn a_guard_looks_before_each_press() {
    let at = Some(Point { x: 150, y: 120 });
    let click = |count| Act::Click { element: None, at, button: Button::Left, count, modifiers: Vec::new() };
    let (hover, one, two) = ("Hover 150,120", "Click(Left, 1) 150,120", "FurtherClick(Left, 2) 150,120");
    check_guarded(&click(1), 9, &[hover, one], &[1]);
    check_guarded(&click(2), 9, &[hover, one, two], &[1, 2]);
    check_guarded(&click(2), 1, &[hover, one], &[1, 2]);
    check_guarded(&click(2), 0, &[hover], &[1]);
    let turn = Act::Scroll { element: None, at, clicks: -2 };
    check_guarded(&turn, 1, &[hover, "Scroll(-1) 150,120"], &[1, 2]);
}

#[test]
fn a_guard_looks_before_a_release() {
    let (from, to) = (Point { x: 150, y: 120 }, Point { x: 10, y: 10 });
    let drag = Act::Drag { from, to, modifiers: Vec::new(), duration: Duration::ZERO };
    let (hover, whole) = ("Hover 150,120", "drag 150,120 to 10,10 [] 0ns");
    check_guarded(&drag, 9, &[hover, whole], &[1, 1]);
    check_guarded(&drag, 1, &[hover], &[1, 1]);
    check_guarded(&drag, 0, &[hover], &[1]);
}

/// What a click should switch is waited for, and of anything else only what its application tells by the time it rests.
#[test]
fn an_application_that_rests_is_not_waited_for() {
    let check = |selected: Option<bool>, toggles: bool, act: &Act, rests: bool| {
        let fake = SYSTEMS[0].changed(Thing::Picture, obeys, |state| {
            state.selected = selected;
            state.unseen_click = toggles.then_some(Request::Toggle);
        });
        fake.rests.set(true);
        let done = super::act(&fake, &Unguarded, act, Delivery::Foreground).unwrap();
        assert_eq!(done.rests, rests, "{selected:?} {toggles} {act:?}");
        assert_eq!(done.settles_in == fake.profile().timing.effect, !rests);
    };
    check(None, false, &click(), true);
    check(Some(false), false, &click(), false);
    check(Some(true), false, &click(), true);
    check(Some(true), true, &click(), false);
    let hover = Act::Hover { element: Some(handle("it")), at: None };
    check(None, false, &hover, false);
}

/// An entry of GTK 3 in a closed menu that is in the menu bar.
#[cfg(target_os = "linux")]
fn menu_entry(name: &str) -> FakeBackend {
    use crate::platform::interaction::fake_backend::LINUX;
    let entry = |state: &mut ElementState| {
        name.clone_into(&mut state.name);
        (state.runs_dialog, state.is_menu, state.showing) = (true, true, Some(false));
    };
    let mut menu = LINUX.thing(Thing::Button);
    menu.is_menu = true;
    menu.bounds = Some(Rect::new(0, 0, 40, 20));
    let mut fake = LINUX.changed(Thing::Button, obeys, entry);
    fake.way_in = vec!["File"];
    fake.elements.borrow_mut().insert("File", menu);
    fake
}

/// GTK 3 answers nothing while a dialog is open that an action of an element opened.
#[cfg(target_os = "linux")]
#[test]
fn an_entry_of_a_closed_menu_is_clicked_in_its_menu() {
    const OPENED: &str = "Click(Left, 1) 20,10";
    for name in ["Save", "Save As…", "Open..."] {
        menu_entry(name).check(&click(), BY_POINTER, &[OPENED, CLICKED]);
        let invoke = Act::Invoke { element: handle("it") };
        menu_entry(name).check(&invoke, BY_POINTER, &[OPENED, CLICKED]);
    }
    // Where there is no menu to open, what needs no dialog does it by itself.
    let mut loose = menu_entry("Save");
    loose.way_in.clear();
    loose.check(&click(), BY_ITSELF, &["it: click"]);
    menu_entry("Save").check_behind(&click(), BY_ITSELF, &["it: click"]);
    let note = menu_entry("Save As… ").check_behind(&click(), Err(Kind::ElementOccluded), &[]);
    assert!(note.unwrap().contains("delivery:\"foreground\""));
}

/// The first click on a menu may only close another one that is open.
#[cfg(target_os = "linux")]
#[test]
fn a_menu_that_does_not_open_is_clicked_twice_at_most() {
    const OPENED: &str = "Click(Left, 1) 20,10";
    let slow = menu_entry("Open...");
    slow.opens_after.set(2);
    slow.check(&click(), BY_POINTER, &[OPENED, OPENED, CLICKED]);
    let stuck = menu_entry("Save");
    stuck.opens_after.set(9);
    stuck.check(&click(), BY_ITSELF, &[OPENED, OPENED, "it: click"]);
}

#[test]
fn a_button_that_opens_a_dialog_is_not_pressed_beside_an_open_menu() {
    let button = |pointer_first: bool| {
        SYSTEMS[0].changed(Thing::Button, obeys, |state| {
            "Open…".clone_into(&mut state.name);
            (state.runs_dialog, state.pointer_first, state.showing) = (true, pointer_first, Some(true));
        })
    };
    button(true).check(&click(), BY_POINTER, &[CLICKED]);
    let covered = button(true);
    covered.covered.set(true);
    covered.check(&click(), BY_POINTER, &["raise", CLICKED]);
    let note = button(false).check(&click(), Err(Kind::ElementOccluded), &[]);
    assert!(note.unwrap().contains("a menu is open"));
    button(true).check_behind(&click(), Err(Kind::ElementOccluded), &[]);
}

/// What is clicked on the way to an entry is looked at like everything else.
#[cfg(target_os = "linux")]
#[test]
fn a_guard_looks_before_each_click_on_the_way_into_a_menu() {
    let (to_menu, opened, to_entry) = ("Hover 20,10", "Click(Left, 1) 20,10", "Hover 150,120");
    let check = |refuses_at: usize, log: &[&str]| {
        let backend = menu_entry("Open...");
        let guard = Watchful { backend: &backend, asked: Default::default(), refuses_at };
        let done = act(&backend, &guard, &click(), Delivery::Foreground);
        assert_eq!(done.is_err(), refuses_at < 2);
        assert_eq!(backend.logged(), log);
    };
    check(0, &[to_menu]);
    check(1, &[to_menu, opened, to_entry]);
    check(2, &[to_menu, opened, to_entry, CLICKED]);
}
