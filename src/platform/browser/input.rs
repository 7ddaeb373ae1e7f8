//! Input to pages. An element is brought into view, found under the pointer and then clicked; a text goes to what has
//! the focus; a value is read back. Which document an element is of is checked each time, and nothing is done to another.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Browser;
use super::keys::{PageKey, character_key, combo_keys, key_event, modifier_bits, named_key};
use super::page::{ElementFacts, PageNode, PageSession};
use super::script;
use super::tabs::{TabState, WindowOfTab};
use super::wire::{CdpFailure, CdpResult, SentOrder};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Button, Delivery, Handle, Modifier, OptionChoice};
use crate::model::{KeyCombo, NamedKey, Point, Rect, Role, Tree};
use crate::platform::interaction::{
    Drag, PointerAction, choice_index, done_by, done_with_note, no_point, option_not_found, point_between,
};
use crate::platform::{
    Accessibility, Claimant, Desktop, Done, Input, Patience, PressGuard, PressKind, Route, Unguarded, gone,
};

/// How long it may take until what came of an input can be seen.
const EFFECT: Duration = Duration::from_millis(150);

/// What was read back may still bring something else with it.
const AFTER_READ_BACK: Duration = Duration::from_millis(30);

/// How long an input waits for the page that it leads to.
const NAVIGATION: Duration = Duration::from_secs(5);

/// Longer texts are put in at once instead of key by key.
const TYPED_BY_KEYS: usize = 300;

/// How far a click of the wheel scrolls.
const WHEEL_STEP: i32 = 100;

/// How long a list may take to open.
const LIST_TIME: Duration = Duration::from_secs(1);

/// Fields that keys cannot be trusted with: the browser has editors of its own for them.
const SET_AS_WHOLE: &[&str] = &["date", "time", "datetime-local", "month", "week", "color", "range"];

/// Kinds of `input` that hold no text.
const WITHOUT_TEXT: &[&str] = &["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"];

impl Input for Browser {
    fn act(&self, act: &Act, _: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        match self.input_place(act)? {
            InputPlace::Dialog(tab) => self.act_on_dialog(&tab, act, cancel),
            InputPlace::Page(tab) => {
                tab.check_answers()?;
                let sessions = self.sessions_of(&tab);
                let input = PageInput {
                    browser: self,
                    page: self.page_session(&tab, cancel),
                    sessions: &sessions,
                    tab: &tab,
                    guard,
                };
                input.act_and_follow(act)
            }
        }
    }

    fn check(&self, act: &Act, cancel: &Cancel) -> Result<()> {
        match self.input_place(act)? {
            InputPlace::Dialog(tab) => self.check_dialog(&tab, act),
            InputPlace::Page(tab) => {
                tab.check_answers()?;
                let sessions = self.sessions_of(&tab);
                let input = PageInput {
                    browser: self,
                    page: self.page_session(&tab, cancel),
                    sessions: &sessions,
                    tab: &tab,
                    guard: &Unguarded,
                };
                input.check(act)
            }
        }
    }

    /// The browser is this process's own.
    fn claim(&self, _: &Claimant) -> Result<()> {
        Ok(())
    }

    fn give_back(&self, _: &Claimant) {}

    /// What goes down comes up with the same input, also when it is cancelled.
    fn release_all(&self) {}

    fn confine(&self, region: Rect) {
        self.region.set(region);
    }
}

/// What an input goes to.
enum InputPlace {
    Page(TabState),
    Dialog(TabState),
}

impl Browser {
    fn input_place(&self, act: &Act) -> Result<InputPlace> {
        let (uid, point) = match act {
            Act::Type { element: None, window_uid, .. } | Act::Key { element: None, window_uid, .. } => {
                (window_uid.as_deref(), None)
            }
            Act::Click { element: None, at, .. }
            | Act::Scroll { element: None, at, .. }
            | Act::Hover { element: None, at } => (None, *at),
            Act::Drag { from, .. } => (None, Some(*from)),
            act => (act.element().map(|element| element.window_uid.as_str()), None),
        };
        let Some(uid) = uid else {
            let tab = self.front_tab().ok_or_else(|| gone("tab:"))?;
            let meets_dialog = point.is_none_or(|at| super::dialogs::dialog_bounds(&tab).contains(at));
            let to_dialog = tab.dialog.is_some() && meets_dialog;
            return Ok(if to_dialog { InputPlace::Dialog(tab) } else { InputPlace::Page(tab) });
        };
        let tab = self.tab_of_window(uid)?;
        Ok(match WindowOfTab::parse(uid) {
            Some(WindowOfTab::Dialog(_)) => InputPlace::Dialog(tab),
            _ => InputPlace::Page(tab),
        })
    }
}

/// One input to one page.
struct PageInput<'a> {
    browser: &'a Browser,
    page: PageSession<'a>,
    sessions: &'a [String],
    tab: &'a TabState,
    guard: &'a dyn PressGuard,
}

/// A point of a frame, or what is there instead.
#[derive(Deserialize)]
struct Aimed {
    x: Option<f64>,
    y: Option<f64>,
    covered: Option<String>,
}

#[derive(Deserialize)]
struct OutOfFrame {
    x: f64,
    y: f64,
    met: bool,
}

#[derive(Deserialize)]
struct ListOption {
    name: String,
    disabled: bool,
}

impl<'a> PageInput<'a> {
    /// Does it, and waits for the page that it leads to.
    fn act_and_follow(&self, act: &Act) -> Result<Done> {
        let done = match self.act(act) {
            Err(error) if error == Error::from(CdpFailure::DialogOpened) => {
                done_with_note(route_of(act), "a dialog of the page opened; answer it (list_windows has it)")
            }
            done => done?,
        };
        let settles_in = if done.verified { AFTER_READ_BACK } else { EFFECT };
        let note = self.follow_navigation()?.or(done.note);
        Ok(Done { note, settles_in, ..done })
    }

    /// What is said if the page that is on its way does not come in time.
    fn follow_navigation(&self) -> Result<Option<String>> {
        let arrived =
            self.browser.await_tab_state(&self.tab.target, NAVIGATION, self.page.cancel, |now| {
                now.is_none_or(|now| !now.loading || now.dialog.is_some() || now.crashed)
            })?;
        Ok((!arrived).then(|| "the page is still loading".to_owned()))
    }

    fn act(&self, act: &Act) -> Result<Done> {
        match act {
            Act::Click { element: Some(element), at, button, count, modifiers } => {
                self.click_element(element, *at, PointerAction::Click(*button, *count), modifiers)
            }
            Act::Click { element: None, at, button, count, modifiers } => {
                let at = at.ok_or_else(no_point)?;
                self.use_pointer(PointerAction::Click(*button, *count), at, modifiers)
            }
            Act::Invoke { element } | Act::Select { element, option: None } => {
                self.click_element(element, None, PointerAction::Click(Button::Left, 1), &[])
            }
            Act::Focus { element } => self.focus(&self.find(element)?),
            Act::SetValue { element, text } => self.set_value(element, text),
            Act::Select { element, option: Some(choice) } => self.select(element, choice),
            Act::Type { element, text, .. } => {
                self.focus_for_keys(element.as_ref())?;
                self.type_text(text)
            }
            Act::Key { element, keys, .. } => {
                self.focus_for_keys(element.as_ref())?;
                self.press_combo(keys)?;
                Ok(done_by(Route::Keyboard))
            }
            Act::Scroll { element, at, clicks } => {
                self.point_at(element.as_ref(), *at, PointerAction::Scroll(*clicks))
            }
            Act::Hover { element, at } => self.point_at(element.as_ref(), *at, PointerAction::Hover),
            Act::Drag { from, to, modifiers, duration } => {
                let before_release = || self.guard.check_press(*to, PressKind::Button);
                self.drag(&Drag {
                    from: *from,
                    to: *to,
                    modifiers,
                    duration: *duration,
                    before_release: &before_release,
                })
            }
        }
    }

    /// Refuses what would be refused before anything is done.
    fn check(&self, act: &Act) -> Result<()> {
        let Some(element) = act.element() else { return Ok(()) };
        let node = self.find(element)?;
        match act {
            Act::Scroll { .. } | Act::Hover { .. } => Ok(()),
            Act::SetValue { text, .. } => check_value(&node.enabled_facts()?, text),
            _ => node.enabled_facts().map(|_| ()),
        }
    }

    fn find(&self, element: &Handle) -> Result<PageNode<'a>> {
        self.browser.find_node(self.page, self.sessions, element)
    }

    // ── the pointer ────────────────────────────────────────────────────────────────────────────────

    fn click_element(
        &self,
        element: &Handle,
        at: Option<Point>,
        action: PointerAction,
        held: &[Modifier],
    ) -> Result<Done> {
        let node = self.find(element)?;
        node.enabled_facts()?;
        if let Some(index) = node.ask::<Option<usize>>(script::OWN_LIST, &[])? {
            return self.choose_own_option(&node, index);
        }
        let at = self.aim(&node, at)?;
        self.use_pointer(action, at, held)
    }

    fn point_at(&self, element: Option<&Handle>, at: Option<Point>, action: PointerAction) -> Result<Done> {
        let at = match (element, at) {
            (Some(element), at) => self.aim(&self.find(element)?, at)?,
            (None, Some(at)) => at,
            (None, None) => self.tab.pointer,
        };
        self.use_pointer(action, at, &[])
    }

    /// A point of the page where a pointer meets the element, after it was brought into view.
    fn aim(&self, node: &PageNode<'a>, wanted: Option<Point>) -> Result<Point> {
        let scroll = json!({ "backendNodeId": node.backend_node });
        match node.page.call::<Value>("DOM.scrollIntoViewIfNeeded", scroll) {
            // What takes no room may have a label that does.
            Ok(_) | Err(CdpFailure::Refused { .. }) => {}
            Err(failure) => return Err(failure.into()),
        }
        let in_page = node.frame == self.tab.target;
        let wanted =
            wanted.filter(|_| in_page).map_or([Value::Null, Value::Null], |at| [json!(at.x), json!(at.y)]);
        let aimed: Aimed = node.ask(script::AIM, &wanted)?;
        match (aimed.x, aimed.y, aimed.covered) {
            (Some(x), Some(y), _) => self.out_of_frames(&node.frame, x, y),
            (_, _, Some(cover)) => Err(unreachable_element(node, &format!("{cover} covers it"))),
            _ => Err(unreachable_element(node, "it takes no room in the page that shows")),
        }
    }

    /// The point in the coordinates of the page, through all frames around it.
    fn out_of_frames(&self, frame: &str, x: f64, y: f64) -> Result<Point> {
        let (mut frame, mut x, mut y) = (frame.to_owned(), x, y);
        while frame != self.tab.target {
            let owner = self.browser.frame_owner(self.page, self.sessions, &frame)?;
            let owner =
                owner.ok_or_else(|| Error::new(Kind::ElementNotFound, "the frame has gone; look again"))?;
            let out: OutOfFrame = owner.ask(script::OUT_OF_FRAME, &[json!(x), json!(y)])?;
            if !out.met {
                return Err(unreachable_element(&owner, "something covers the frame that it is in"));
            }
            (x, y) = (out.x, out.y);
            frame.clone_from(&owner.frame);
        }
        Ok(Point { x: x.floor() as i32, y: y.floor() as i32 })
    }

    fn use_pointer(&self, action: PointerAction, at: Point, held: &[Modifier]) -> Result<Done> {
        self.browser.region.check(&[at])?;
        self.browser.tabs.change(&self.tab.target, |tab| tab.pointer = at);
        let (held, heard) = (modifier_bits(held), self.browser.bell.rings());
        let mut orders = vec![self.mouse("mouseMoved", at, held, json!({}))?];
        match action {
            PointerAction::Hover => {}
            PointerAction::Scroll(clicks) => {
                self.look_first(&mut orders, at, PressKind::Wheel)?;
                let down = json!({ "deltaX": 0, "deltaY": -clicks.saturating_mul(WHEEL_STEP) });
                orders.push(self.mouse("mouseWheel", at, held, down)?);
            }
            PointerAction::Click(button, count) => {
                for click in 1..=count {
                    self.look_first(&mut orders, at, PressKind::Button)?;
                    self.press_and_release(&mut orders, at, held, (button, click))?;
                }
            }
            PointerAction::FurtherClick(button, click) => {
                self.press_and_release(&mut orders, at, held, (button, click))?;
            }
        }
        self.wait_all(&orders)?;
        if let PointerAction::Scroll(_) = action {
            // The page moves with its next frame, and says so; where it is at its end, nothing comes.
            let (clock, bell) = (&self.browser.clock, &self.browser.bell);
            clock.sleep_unless_rung(bell, heard, WHEEL_TIME, self.page.cancel)?;
        }
        Ok(done_by(Route::Pointer))
    }

    /// Where somebody judges, everything before a press is waited for, and what is under the pointer then is judged.
    fn look_first(&self, orders: &mut Vec<SentOrder>, at: Point, kind: PressKind) -> Result<()> {
        if !self.guard.judges() {
            return Ok(());
        }
        self.wait_all(&std::mem::take(orders))?;
        self.guard.check_press(at, kind)
    }

    fn press_and_release(
        &self,
        orders: &mut Vec<SentOrder>,
        at: Point,
        held: u32,
        (button, click): (Button, u32),
    ) -> CdpResult<()> {
        let with = json!({ "button": button, "clickCount": click });
        orders.push(self.mouse("mousePressed", at, held, with.clone())?);
        orders.push(self.mouse("mouseReleased", at, held, with)?);
        Ok(())
    }

    fn mouse(&self, kind: &str, at: Point, held: u32, with: Value) -> CdpResult<SentOrder> {
        let mut event = json!({ "type": kind, "x": at.x, "y": at.y, "modifiers": held });
        if let (Some(event), Value::Object(with)) = (event.as_object_mut(), with) {
            event.extend(with);
        }
        self.page.send("Input.dispatchMouseEvent", event)
    }

    fn wait_all(&self, orders: &[SentOrder]) -> CdpResult<()> {
        orders.iter().try_for_each(|order| self.page.wait::<Value>(order).map(|_| ()))
    }

    // ── dragging ───────────────────────────────────────────────────────────────────────────────────

    /// What a page carries itself comes along as moves do; what the browser carries is handed over where it is let go.
    fn drag(&self, drag: &Drag<'_>) -> Result<Done> {
        self.browser.region.check(&[drag.from, drag.to])?;
        let held = modifier_bits(drag.modifiers);
        self.browser.tabs.change(&self.tab.target, |tab| tab.drag_data = None);
        self.page.call::<Value>("Input.setInterceptDrags", json!({ "enabled": true }))?;
        let carried = self.carry(drag, held);
        // Whatever came of it, the button comes up and the browser has its drags back.
        let dropped = carried.and_then(|data| {
            (drag.before_release)()?;
            self.let_go(drag.to, held, data)
        });
        self.page.connection.tell(
            Some(self.page.session),
            "Input.setInterceptDrags",
            json!({ "enabled": false }),
        );
        if dropped.is_err() {
            self.take_back(drag.from);
        }
        dropped.map(|()| done_by(Route::Pointer))
    }

    /// What was not let go where it was meant is let go where it came from.
    fn take_back(&self, from: Point) {
        let tell = |method: &'static str, event: Value| {
            self.page.connection.tell(Some(self.page.session), method, event);
        };
        let data = self.browser.tabs.find(&self.tab.target).and_then(|tab| tab.drag_data);
        if let Some(data) = data {
            let cancel = json!({ "type": "dragCancel", "x": from.x, "y": from.y, "data": data });
            tell("Input.dispatchDragEvent", cancel);
        }
        for kind in ["mouseMoved", "mouseReleased"] {
            let event = json!({ "type": kind, "x": from.x, "y": from.y, "button": "left" });
            tell("Input.dispatchMouseEvent", event);
        }
    }

    fn carry(&self, drag: &Drag<'_>, held: u32) -> Result<Option<Value>> {
        let left = json!({ "button": "left", "clickCount": 1 });
        let start = [
            self.mouse("mouseMoved", drag.from, held, json!({}))?,
            self.mouse("mousePressed", drag.from, held, left)?,
        ];
        self.wait_all(&start)?;
        let pause = drag.duration / DRAG_STEPS;
        for step in 1..=DRAG_STEPS {
            let at = point_between(drag.from, drag.to, step, DRAG_STEPS);
            let moved = self.mouse("mouseMoved", at, held, json!({ "button": "left", "buttons": 1 }))?;
            self.page.wait::<Value>(&moved)?;
            let now = self.browser.tabs.find(&self.tab.target);
            if let Some(data) = now.and_then(|tab| tab.drag_data) {
                return Ok(Some(data));
            }
            self.browser.clock.sleep(pause, self.page.cancel)?;
        }
        Ok(None)
    }

    fn let_go(&self, to: Point, held: u32, data: Option<Value>) -> Result<()> {
        if let Some(data) = data {
            for kind in ["dragEnter", "dragOver", "drop"] {
                let event = json!({ "type": kind, "x": to.x, "y": to.y, "data": data, "modifiers": held });
                self.page.call::<Value>("Input.dispatchDragEvent", event)?;
            }
        }
        let released = self.mouse("mouseReleased", to, held, json!({ "button": "left", "clickCount": 1 }))?;
        self.browser.tabs.change(&self.tab.target, |tab| tab.pointer = to);
        Ok(self.wait_all(&[released])?)
    }

    // ── keys ───────────────────────────────────────────────────────────────────────────────────────

    fn focus_for_keys(&self, element: Option<&Handle>) -> Result<()> {
        element.map_or(Ok(()), |element| self.focus(&self.find(element)?).map(|_| ()))
    }

    /// An element that cannot have the focus by itself may give it to something by a click.
    fn focus(&self, node: &PageNode<'a>) -> Result<Done> {
        if node.enabled_facts()?.focused {
            return Ok(Done { verified: true, ..done_by(Route::Accessibility) });
        }
        let asked = node.page.call::<Value>("DOM.focus", json!({ "backendNodeId": node.backend_node }));
        match asked {
            Ok(_) if node.facts()?.focused => Ok(Done { verified: true, ..done_by(Route::Accessibility) }),
            Ok(_) | Err(CdpFailure::Refused { .. }) => {
                let at = self.aim(node, None)?;
                self.use_pointer(PointerAction::Click(Button::Left, 1), at, &[])
            }
            Err(failure) => Err(failure.into()),
        }
    }

    fn type_text(&self, text: &str) -> Result<Done> {
        if text.chars().count() > TYPED_BY_KEYS {
            self.insert_text(text)?;
            return Ok(done_with_note(Route::Keyboard, "put in as one text, because it is long"));
        }
        let keys: Vec<PageKey> = text.replace("\r\n", "\n").chars().map(character_key).collect();
        self.press_keys(&keys)?;
        Ok(done_by(Route::Keyboard))
    }

    fn insert_text(&self, text: &str) -> CdpResult<()> {
        self.page.call::<Value>("Input.insertText", json!({ "text": text })).map(|_| ())
    }

    fn press_keys(&self, keys: &[PageKey]) -> CdpResult<()> {
        let mut orders = Vec::with_capacity(2 * keys.len());
        for key in keys {
            for down in [true, false] {
                orders.push(self.page.send("Input.dispatchKeyEvent", key_event(key, down, 0))?);
            }
        }
        self.wait_all(&orders)
    }

    fn press_combo(&self, combo: &KeyCombo) -> CdpResult<()> {
        let keys = combo_keys(combo);
        let held = |count: usize| modifier_bits(combo.modifiers.get(..count).unwrap_or(&combo.modifiers));
        let mut orders = Vec::with_capacity(2 * keys.len());
        for (at, key) in keys.iter().enumerate() {
            orders.push(self.page.send("Input.dispatchKeyEvent", key_event(key, true, held(at)))?);
        }
        for (at, key) in keys.iter().enumerate().rev() {
            orders.push(self.page.send("Input.dispatchKeyEvent", key_event(key, false, held(at)))?);
        }
        self.wait_all(&orders)
    }

    // ── values ─────────────────────────────────────────────────────────────────────────────────────

    fn set_value(&self, element: &Handle, text: &str) -> Result<Done> {
        let node = self.find(element)?;
        let facts = node.enabled_facts()?;
        if facts.tag == "select" {
            return self.select(element, &OptionChoice::Name(text.to_owned()));
        }
        check_value(&facts, text)?;
        if SET_AS_WHOLE.contains(&facts.kind.as_str()) {
            let holds: String = node.ask(script::SET_FIELD, &[json!(text)])?;
            return value_done(&facts, text, Some(&holds));
        }
        self.focus(&node)?;
        node.ask::<Value>(script::SELECT_TEXT, &[])?;
        match text {
            "" => self.press_keys(&[named_key(NamedKey::Delete)])?,
            text => self.insert_text(text)?,
        }
        value_done(&facts, text, node.facts()?.value.as_deref())
    }

    // ── options ────────────────────────────────────────────────────────────────────────────────────

    fn select(&self, element: &Handle, choice: &OptionChoice) -> Result<Done> {
        let node = self.find(element)?;
        node.enabled_facts()?;
        match node.ask::<Option<Vec<ListOption>>>(script::LIST_OPTIONS, &[])? {
            Some(options) => self.select_in_list(&node, &options, choice),
            None => self.select_in_page(element, &node, choice),
        }
    }

    fn select_in_list(
        &self,
        node: &PageNode<'a>,
        options: &[ListOption],
        choice: &OptionChoice,
    ) -> Result<Done> {
        let names = options.iter().map(|option| option.name.as_str());
        let index = choice_index(names.clone(), choice).ok_or_else(|| option_not_found(choice, names))?;
        if let Some(option) = options.get(index).filter(|option| option.disabled) {
            let message = format!("the option '{}' is disabled now", option.name.trim());
            return Err(Error::new(Kind::ElementDisabled, message));
        }
        let chosen: bool = node.ask(script::CHOOSE_OPTION, &[json!(index)])?;
        choice_done(chosen)
    }

    /// An option that belongs to a list of the browser's own, by its place there.
    fn choose_own_option(&self, option: &PageNode<'a>, index: usize) -> Result<Done> {
        let chosen: bool = option.ask(script::CHOOSE_OWN, &[json!(index)])?;
        choice_done(chosen)
    }

    /// A list that the page made itself: its options are elements, which may show only once it is open.
    fn select_in_page(&self, element: &Handle, node: &PageNode<'a>, choice: &OptionChoice) -> Result<Done> {
        let (names, found) = self.page_options(element, choice)?;
        if let Some(option) = found {
            return self.click_element(&option, None, PointerAction::Click(Button::Left, 1), &[]);
        }
        let at = self.aim(node, None)?;
        self.use_pointer(PointerAction::Click(Button::Left, 1), at, &[])?;
        let end = self.browser.clock.now() + LIST_TIME;
        let mut names = names;
        while self.browser.clock.now() < end {
            let heard = self.browser.bell.rings();
            let (opened, found) = self.page_options(element, choice)?;
            if let Some(option) = found {
                return self.click_element(&option, None, PointerAction::Click(Button::Left, 1), &[]);
            }
            names = opened;
            let left = end.saturating_sub(self.browser.clock.now());
            self.browser.clock.sleep_unless_rung(&self.browser.bell, heard, left, self.page.cancel)?;
        }
        self.press_keys(&[named_key(NamedKey::Escape)])?;
        Err(option_not_found(choice, names.iter().map(String::as_str)))
    }

    /// The options that show in an element, or anywhere after it where it has none; and the one that is meant.
    fn page_options(&self, element: &Handle, choice: &OptionChoice) -> Result<(Vec<String>, Option<Handle>)> {
        let windows = self.browser.windows()?;
        let window = windows.iter().find(|window| window.uid == element.window_uid);
        let window = window.ok_or_else(|| gone(&element.window_uid))?;
        let patience = Patience {
            per_call: LIST_TIME,
            whole: self.page.deadline.left(),
            cancel: self.page.cancel.clone(),
        };
        let tree = self.browser.tree(window, &patience)?;
        let own = (0..tree.len()).find(|&at| tree[at].native.as_deref() == Some(&element.native));
        let own = own.map_or(0..0, |at| at + 1..tree.end(at));
        let is_option = |at: &usize| is_page_option(&tree, *at);
        let mut options: Vec<usize> = own.filter(is_option).collect();
        if options.is_empty() {
            options = (0..tree.len()).filter(is_option).collect();
        }
        let names: Vec<String> = options.iter().map(|&at| tree[at].name.clone()).collect();
        let meant = choice_index(names.iter().map(String::as_str), choice).and_then(|at| options.get(at));
        let native = meant.and_then(|&at| tree[at].native.clone());
        Ok((names, native.map(|native| Handle { window_uid: element.window_uid.clone(), native })))
    }
}

/// An option of a list, a menu or a tree that the page made; those of the browser's own lists are chosen there.
fn is_page_option(tree: &Tree, node: usize) -> bool {
    let mut above = std::iter::successors(tree.parent(node), |&at| tree.parent(at));
    let is_option = matches!(tree[node].role, Role::ListItem | Role::MenuItem | Role::TreeItem);
    let holds = |role: &Role| matches!(role, Role::List | Role::Menu | Role::Tree | Role::ComboBox);
    let held_by = above.find(|&at| holds(&tree[at].role)).map(|at| &tree[at].role);
    is_option && tree[node].native.is_some() && held_by.is_some_and(|role| *role != Role::ComboBox)
}

/// How long it may take until a wheel has moved what it turns over.
const WHEEL_TIME: Duration = Duration::from_millis(150);

/// Some pages take a drag only after a few moves.
const DRAG_STEPS: u32 = 12;

fn route_of(act: &Act) -> Route {
    match act {
        Act::Focus { .. } | Act::SetValue { .. } | Act::Select { .. } => Route::Accessibility,
        Act::Type { .. } | Act::Key { .. } => Route::Keyboard,
        _ => Route::Pointer,
    }
}

fn choice_done(chosen: bool) -> Result<Done> {
    Ok(match chosen {
        true => Done { verified: true, ..done_by(Route::Accessibility) },
        false => done_with_note(Route::Accessibility, "the page did not keep the option selected"),
    })
}

/// Refuses a value that the element could not take.
fn check_value(facts: &ElementFacts, text: &str) -> Result<()> {
    let is_field = matches!(facts.tag.as_str(), "input" | "textarea" | "select");
    let holds_text = !WITHOUT_TEXT.contains(&facts.kind.as_str());
    if facts.readonly || !(facts.editable || (is_field && holds_text)) {
        let message = format!("the value of '{}' cannot be set", facts.label);
        return Err(Error::new(Kind::PatternUnsupported, message));
    }
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let (Some(wanted), true) = (number(text), matches!(facts.kind.as_str(), "range" | "number")) else {
        return Ok(());
    };
    let below = number(&facts.min).is_some_and(|min| wanted < min);
    let above = number(&facts.max).is_some_and(|max| wanted > max);
    if below || above {
        let bound = |text: &str| if text.is_empty() { "?".to_owned() } else { text.to_owned() };
        let (min, max) = (bound(&facts.min), bound(&facts.max));
        return Err(Error::bad_request(format!("{wanted} is not between {min} and {max}")));
    }
    Ok(())
}

/// What the field holds now, compared with what it should hold.
fn value_done(facts: &ElementFacts, wanted: &str, holds: Option<&str>) -> Result<Done> {
    let normal = |text: &str| text.replace("\r\n", "\n").trim_end_matches('\n').to_owned();
    let same = |holds: &str| {
        let numbers = (holds.trim().parse::<f64>(), wanted.trim().parse::<f64>());
        normal(holds) == normal(wanted)
            || matches!(numbers, (Ok(one), Ok(other)) if (one - other).abs() < 1e-9)
    };
    match holds {
        Some(holds) if same(holds) => Ok(Done { verified: true, ..done_by(Route::Accessibility) }),
        Some(holds) => {
            let shown = match facts.secret {
                true => format!("{} characters", holds.chars().count()),
                false => format!("'{}'", holds.chars().take(200).collect::<String>()),
            };
            let message = format!("set, but '{}' holds {shown} now", facts.label);
            Err(Error::new(Kind::PatternUnsupported, message))
        }
        None => Ok(done_with_note(Route::Accessibility, "set; the element does not report its value")),
    }
}

fn unreachable_element(node: &PageNode<'_>, why: &str) -> Error {
    let name = node.facts().map_or_else(|_| "the element".to_owned(), |facts| format!("'{}'", facts.label));
    Error::new(Kind::ElementOccluded, format!("the pointer cannot reach {name}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(tag: &str, kind: &str) -> ElementFacts {
        ElementFacts { tag: tag.to_owned(), kind: kind.to_owned(), ..ElementFacts::default() }
    }

    #[track_caller]
    fn check(facts: &ElementFacts, text: &str, expected: Option<Kind>) {
        assert_eq!(check_value(facts, text).err().map(|error| error.kind), expected, "{facts:?} {text}");
    }

    #[test]
    fn only_what_holds_a_text_takes_one() {
        check(&facts("input", "text"), "x", None);
        check(&facts("textarea", ""), "x", None);
        check(&facts("div", ""), "x", Some(Kind::PatternUnsupported));
        check(&ElementFacts { editable: true, ..facts("div", "") }, "x", None);
        check(&facts("input", "checkbox"), "x", Some(Kind::PatternUnsupported));
        check(
            &ElementFacts { readonly: true, ..facts("input", "text") },
            "x",
            Some(Kind::PatternUnsupported),
        );
    }

    #[test]
    fn a_number_has_to_be_between_its_ends() {
        let slider = ElementFacts { min: "0".to_owned(), max: "10".to_owned(), ..facts("input", "range") };
        check(&slider, "5", None);
        check(&slider, "11", Some(Kind::BadRequest));
        check(&slider, "-1", Some(Kind::BadRequest));
    }

    #[test]
    fn what_was_read_back_is_compared_and_a_secret_is_not_told() {
        let plain = facts("input", "text");
        assert!(value_done(&plain, "a\nb", Some("a\r\nb\n")).unwrap().verified);
        assert!(value_done(&plain, "3", Some("03")).unwrap().verified);
        assert!(value_done(&plain, "abc", Some("abd")).unwrap_err().message.contains("'abd'"));
        let secret = ElementFacts { secret: true, ..facts("input", "password") };
        let error = value_done(&secret, "hunter2", Some("hunter")).unwrap_err();
        assert!(error.message.contains("6 characters") && !error.message.contains("hunter"), "{error}");
        assert!(!value_done(&plain, "x", None).unwrap().verified);
    }
}
