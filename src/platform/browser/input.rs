//! Input to pages. An element is brought into view, found under the pointer and then clicked; a text goes to what has
//! the focus; a value is read back. Which document an element is of is checked each time, and nothing is done to another.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Browser;
use super::downloads::Downloads;
use super::keys::{PageKey, character_key, combo_keys, key_event, modifier_bits, named_key};
use super::own_window::own_bounds;
use super::page::{ElementFacts, Evaluated, PageNode, PageSession, enabled};
use super::script;
use super::tabs::{REST, TabState, WindowOfTab};
use super::wire::{CdpFailure, CdpResult, SentOrder};
use crate::clock::{Cancel, Deadline};
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Button, Delivery, Handle, Modifier, OptionChoice};
use crate::model::page::Download;
use crate::model::{Element, KeyCombo, NamedKey, Point, Rect, Role, Tree};
use crate::platform::interaction::{
    Drag, PointerAction, choice_index, done_by, done_with_note, no_point, option_not_found, point_between,
};
use crate::platform::{
    Accessibility, Claimant, Desktop, Done, Input, Patience, PressGuard, PressKind, Route, Unguarded, gone,
};
use crate::text::shorten;

/// How long it may take until what came of an input can be seen.
const EFFECT: Duration = Duration::from_millis(150);

/// What was read back may still bring something else with it.
const AFTER_READ_BACK: Duration = Duration::from_millis(30);

/// How long an input waits for the page that it leads to.
const NAVIGATION: Duration = Duration::from_secs(5);

/// How long a link that is for a file may take until the browser fetches it.
const DOWNLOAD_BEGINS: Duration = Duration::from_millis(500);

/// How long a page may take to answer after an input, before it is taken for busy.
const HEARING: Duration = Duration::from_secs(1);

/// A page that was asked for so long ago and does not load does not come.
const GIVEN_UP: Duration = Duration::from_millis(400);

/// Longer texts are put in at once instead of key by key.
const TYPED_BY_KEYS: usize = 300;

/// How far a click of the wheel scrolls.
const WHEEL_STEP: i32 = 100;

/// How long a list may take to open.
const LIST_TIME: Duration = Duration::from_secs(1);

/// Fields that keys cannot be trusted with: the browser has editors of its own for them.
const SET_AS_WHOLE: &[&str] = &["date", "time", "datetime-local", "month", "week", "color", "range"];

/// Kinds of `input` that are not written into before they were looked at: those above and below, and numbers, which have
/// to be between their ends.
const NOT_BEGUN: &[&str] = &[
    "date",
    "time",
    "datetime-local",
    "month",
    "week",
    "color",
    "range",
    "number",
    "checkbox",
    "radio",
    "button",
    "submit",
    "reset",
    "image",
    "file",
    "hidden",
];

/// Kinds of `input` that hold no text.
const WITHOUT_TEXT: &[&str] = &["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"];

impl Input for Browser {
    fn act(&self, act: &Act, _: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        match self.input_place(act)? {
            InputPlace::Dialog(tab) => self.act_on_dialog(&tab, act, cancel),
            InputPlace::Chooser(tab) => self.act_on_chooser(&tab, act, cancel),
            InputPlace::Page(tab) => {
                tab.check_answers()?;
                self.tabs.change(&tab.target, |tab| {
                    (tab.dialogs_in_a_row, tab.invalid) = (0, Vec::new());
                });
                let sessions = self.sessions_of(&tab);
                let input = PageInput {
                    browser: self,
                    page: self.page_session(&tab, cancel),
                    sessions: &sessions,
                    tab: &tab,
                    guard,
                    fetches: Cell::new(false),
                };
                input.act_and_follow(act)
            }
        }
    }

    fn check(&self, act: &Act, cancel: &Cancel) -> Result<()> {
        match self.input_place(act)? {
            InputPlace::Dialog(tab) => self.check_dialog(&tab, act),
            InputPlace::Chooser(tab) => self.check_chooser(&tab, act),
            InputPlace::Page(tab) => {
                tab.check_answers()?;
                let sessions = self.sessions_of(&tab);
                let input = PageInput {
                    browser: self,
                    page: self.page_session(&tab, cancel),
                    sessions: &sessions,
                    tab: &tab,
                    guard: &Unguarded,
                    fetches: Cell::new(false),
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
    Chooser(TabState),
}

impl Browser {
    /// Lets a page finish what it does, and waits for the page that this leads to.
    pub(super) fn follow_page(&self, tab: &TabState, cancel: &Cancel) -> Result<Option<String>> {
        let sessions = self.sessions_of(tab);
        let input = PageInput {
            browser: self,
            page: self.page_session(tab, cancel),
            sessions: &sessions,
            tab,
            guard: &Unguarded,
            fetches: Cell::new(false),
        };
        input.hear_page()?;
        input.follow_navigation()
    }

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
            let meets_dialog = point.is_none_or(|at| own_bounds(&tab).contains(at));
            return Ok(match (meets_dialog, tab.dialog.is_some(), tab.chooser.is_some()) {
                (true, true, _) => InputPlace::Dialog(tab),
                (true, false, true) => InputPlace::Chooser(tab),
                _ => InputPlace::Page(tab),
            });
        };
        let tab = self.tab_of_window(uid)?;
        Ok(match WindowOfTab::parse(uid) {
            Some(WindowOfTab::Dialog(_)) => InputPlace::Dialog(tab),
            Some(WindowOfTab::Chooser(_)) => InputPlace::Chooser(tab),
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
    /// What was clicked says that it is for fetching a file.
    fetches: Cell<bool>,
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

/// An option of a list of the browser's own, or of the suggestions of a field.
#[derive(Clone, Debug, Default, Deserialize)]
struct ListOption {
    name: String,
    value: String,
    /// Empty where it is in none.
    group: String,
    disabled: bool,
}

impl ListOption {
    /// `Fruit / Apple`
    fn full_name(&self) -> String {
        match self.group.trim() {
            "" => self.name.trim().to_owned(),
            group => format!("{group} / {}", self.name.trim()),
        }
    }
}

/// What a field holds after it was written.
#[derive(Debug, Deserialize)]
struct WrittenValue {
    value: String,
    /// Why the browser does not accept it; empty where it does.
    wrong: String,
}

impl<'a> PageInput<'a> {
    /// Does it, waits for the page that it leads to, and tells what the page has to say about it.
    fn act_and_follow(&self, act: &Act) -> Result<Done> {
        let refused_before = self.browser.network.refusals();
        let logged_before = self.browser.files.log.last_number();
        let files_before = self.downloads().map_or(0, Downloads::last_number);
        let done = match self.act(act) {
            Err(error) if error == Error::from(CdpFailure::DialogOpened) => done_by(route_of(act)),
            done => done?,
        };
        let has_rested = self.hear_page()?;
        let settles_in = if done.verified { AFTER_READ_BACK } else { EFFECT };
        let still_loads = self.follow_navigation()?;
        let refused = self.refused_page(refused_before)?;
        let notes = [refused, still_loads, self.opened_dialog(), self.invalid_fields(), done.note];
        let begins = self.tab_now().is_some_and(|now| now.fetches > self.tab.fetches);
        let begun = self.begun_downloads(files_before, begins || self.fetches.get())?;
        let notes = notes.into_iter().chain([begun, self.script_error(logged_before)]).flatten();
        let note = notes.reduce(|all, note| format!("{all}; {note}"));
        // What was written is there, and what the page makes of that at once too. A click may bring more.
        let rests = done.verified && has_rested;
        Ok(Done { note, settles_in, rests, ..done })
    }

    /// Input is acknowledged on another way than events come. What the page told before it answers this is here by then:
    /// that it leads to another page, that a script failed, that a field is wrong, that something changed. Whether all of
    /// it has done what it had to do.
    fn hear_page(&self) -> Result<bool> {
        let page = PageSession { deadline: Deadline::after(HEARING), ..self.page };
        let asked = self.browser.frames_of_sessions(self.tab).into_iter().map(|(session, frame)| {
            let session = self.sessions.iter().find(|known| **known == session)?;
            let world = self.browser.tabs.world_in(session, &frame)?;
            let ask = json!({ "expression": REST, "contextId": world, "awaitPromise": true });
            let page = page.in_session(session);
            page.send("Runtime.evaluate", ask).ok().map(|order| (page, order))
        });
        let asked: Vec<Option<_>> = asked.collect();
        let mut rests = true;
        for order in asked {
            let answer = order.map(|(page, order)| page.wait::<Evaluated>(&order));
            rests &= match answer {
                Some(Err(CdpFailure::Cancelled)) => return Err(CdpFailure::Cancelled.into()),
                // A page that is busy, asks something or has gone says no more now.
                Some(Err(_)) | None => false,
                Some(Ok(answer)) => answer.result.is_true(),
            };
        }
        Ok(rests)
    }

    fn tab_now(&self) -> Option<TabState> {
        self.browser.tabs.find(&self.tab.target)
    }

    fn opened_dialog(&self) -> Option<String> {
        let now = self.tab_now().filter(|now| now.dialog.is_some())?;
        Some(format!("a dialog of the page opened; answer it: {}", now.dialog_uid()))
    }

    /// What the browser itself does not accept in the fields of a form.
    fn invalid_fields(&self) -> Option<String> {
        let invalid = self.tab_now()?.invalid;
        (!invalid.is_empty()).then(|| format!("invalid: {}", invalid.join(", ")))
    }

    fn downloads(&self) -> Option<&Downloads> {
        self.browser.files.downloads.as_deref()
    }

    /// The files that the page has begun to fetch. Where the element says that it is for that, one is waited for.
    fn begun_downloads(&self, before: usize, is_awaited: bool) -> Result<Option<String>> {
        let Some(downloads) = self.downloads() else { return Ok(None) };
        let deadline = Deadline::after(if is_awaited { DOWNLOAD_BEGINS } else { Duration::ZERO });
        loop {
            let heard = self.browser.bell.rings();
            let begun = downloads.begun_since(before);
            if !begun.is_empty() {
                let named = |it: &Download| format!("{} '{}'", it.id, shorten(&it.name, 80));
                let named: Vec<String> = begun.iter().map(named).collect();
                return Ok(Some(format!("a download began: {}; downloads waits for it", named.join(", "))));
            }
            if deadline.is_over() {
                return Ok(None);
            }
            let (clock, bell) = (&self.browser.clock, &self.browser.bell);
            clock.sleep_unless_rung(bell, heard, deadline.left(), self.page.cancel)?;
        }
    }

    fn script_error(&self, logged_before: u64) -> Option<String> {
        let error = self.browser.files.log.error_since(logged_before, &self.tab.uid())?;
        Some(format!("the page logged an error: {error}; page_log has it"))
    }

    /// What is said if the input led to a page that may not be reached.
    fn refused_page(&self, refused_before: usize) -> Result<Option<String>> {
        if self.browser.network.refusals() == refused_before {
            return Ok(None);
        }
        self.browser.refresh_titles()?;
        let url = self.browser.tabs.find(&self.tab.target).map(|tab| tab.url);
        let network = &self.browser.network;
        let refusal = url.and_then(|url| network.refusal_since(refused_before, &self.tab.target, &url));
        Ok(refusal.map(|refusal| refusal.told()))
    }

    /// What is said if the page that is on its way does not come in time. One that was asked for and does not begin to
    /// load was given up: the server had nothing to say, or it is for another program.
    fn follow_navigation(&self) -> Result<Option<String>> {
        let deadline = Deadline::after(NAVIGATION);
        let await_state = |at_most: Duration, holds: fn(&TabState) -> bool| {
            let ends = |now: &TabState| now.dialog.is_some() || now.crashed || holds(now);
            let (browser, target) = (self.browser, &self.tab.target);
            browser.await_tab_state(target, at_most, self.page.cancel, |now| now.is_none_or(ends))
        };
        loop {
            if !await_state(deadline.left(), |now| !now.loading)? {
                return Ok(Some("the page is still loading".to_owned()));
            }
            if !await_state(GIVEN_UP.min(deadline.left()), |now| now.loading || !now.asked)? {
                self.browser.tabs.change(&self.tab.target, |tab| tab.asked = false);
            }
            if !self.tab_now().is_some_and(|now| now.loading) || deadline.is_over() {
                return Ok(None);
            }
        }
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
            Act::Type { element: Some(element), text, .. } => self.type_into(element, text),
            Act::Type { element: None, text, .. } => self.type_text(text),
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
            Act::Click { .. } | Act::Invoke { .. } | Act::Select { option: None, .. } => {
                node.enabled_facts()?;
                self.check_cover(&node)
            }
            _ => node.enabled_facts().map(|_| ()),
        }
    }

    /// Whether something covers what shows of it now. Nothing is scrolled for that.
    fn check_cover(&self, node: &PageNode<'a>) -> Result<()> {
        let aimed: Aimed = node.ask(script::AIM, &[Value::Null, Value::Null])?;
        match aimed.covered {
            Some(cover) => Err(unreachable_element(node, &covered_by(&cover))),
            None => Ok(()),
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
        self.fetches.set(node.enabled_facts()?.download);
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
            (_, _, Some(cover)) => Err(unreachable_element(node, &covered_by(&cover))),
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
        // Both are asked at once: what it is, and whether it can be written into right away.
        let facts = node.send_ask(script::ELEMENT_FACTS, &[])?;
        let begun = node.send_ask(script::BEGIN_TEXT, &[json!(NOT_BEGUN)])?;
        let mut facts = node.receive::<ElementFacts>(&facts).map_err(Error::from).and_then(enabled)?;
        facts.secret |= self.browser.secret_nodes.has(&element.native);
        let has_begun = node.receive::<bool>(&begun)?;
        if facts.tag == "select" {
            return self.select(element, &OptionChoice::Name(text.to_owned()));
        }
        check_value(&facts, text)?;
        if SET_AS_WHOLE.contains(&facts.kind.as_str()) {
            let holds: WrittenValue = node.ask(script::SET_FIELD, &[json!(text)])?;
            return value_done(&facts, text, Some(&holds));
        }
        if !has_begun {
            self.focus(&node)?;
            node.ask::<Value>(script::SELECT_TEXT, &[])?;
        }
        match (facts.secret && self.write_text(&node, text, true)?, text) {
            (true, _) => {}
            (false, "") => self.press_keys(&[named_key(NamedKey::Delete)])?,
            (false, text) => self.put_text(text, is_typed_into(&facts))?,
        }
        let holds = self.read_written(&node, is_typed_into(&facts))?;
        value_done(&facts, text, holds.as_ref())
    }

    /// As the keyboard of a phone writes: a key without a name goes down, the text comes, the key comes up. What a page
    /// learns from keys it learns by that, and the key itself writes nothing.
    fn put_text(&self, text: &str, by_key: bool) -> CdpResult<()> {
        if !by_key {
            return self.insert_text(text);
        }
        let key = |kind: &str| {
            let event = json!({ "type": kind, "key": "Unidentified", "windowsVirtualKeyCode": WRITTEN_KEY });
            self.page.send("Input.dispatchKeyEvent", event)
        };
        let down = key("rawKeyDown")?;
        let written = self.page.send("Input.insertText", json!({ "text": text }))?;
        self.wait_all(&[down, written, key("keyUp")?])
    }

    /// Writes into the field itself, so that no other frame can take the text by taking the focus. Whether it is a field
    /// that can be written into so.
    fn write_text(&self, node: &PageNode<'a>, text: &str, replaces: bool) -> Result<bool> {
        match node.ask::<Option<bool>>(script::WRITE_TEXT, &[json!(text), json!(replaces)])? {
            Some(false) => Err(focus_taken(&node.facts()?.label)),
            wrote => Ok(wrote.is_some()),
        }
    }

    /// Types into an element. A secret goes into the field itself; other keys go to what has the focus, and it is said
    /// if that was not the element any more.
    fn type_into(&self, element: &Handle, text: &str) -> Result<Done> {
        let node = self.find(element)?;
        self.focus(&node)?;
        let is_secret = node.facts()?.secret || self.browser.secret_nodes.has(&element.native);
        let is_plain = !text.chars().any(char::is_control);
        if is_secret && is_plain && self.write_text(&node, text, false)? {
            return Ok(done_by(Route::Keyboard));
        }
        let done = self.type_text(text)?;
        match node.facts() {
            Ok(facts) if !facts.focused => Ok(Done { note: Some(ASTRAY.to_owned()), ..done }),
            _ => Ok(done),
        }
    }

    /// What the field holds. The page is told that the value is written, as leaving the field would, and what it made of
    /// it is read. A page may leave at that.
    fn read_written(&self, node: &PageNode<'a>, commits: bool) -> CdpResult<Option<WrittenValue>> {
        let typed = node.send_ask(script::ELEMENT_FACTS, &[])?;
        let committed = commits.then(|| node.send_ask(script::COMMIT_VALUE, &[])).transpose()?;
        let typed = node.receive::<ElementFacts>(&typed)?.value;
        let made_of_it = committed.and_then(|order| node.receive::<WrittenValue>(&order).ok());
        Ok(made_of_it.or_else(|| typed.map(|value| WrittenValue { value, wrong: String::new() })))
    }

    // ── options ────────────────────────────────────────────────────────────────────────────────────

    fn select(&self, element: &Handle, choice: &OptionChoice) -> Result<Done> {
        let node = self.find(element)?;
        node.enabled_facts()?;
        let options = node.send_ask(script::LIST_OPTIONS, &[])?;
        let suggestions = node.send_ask(script::SUGGESTIONS, &[])?;
        if let Some(options) = node.receive::<Option<Vec<ListOption>>>(&options)? {
            return self.select_in_list(&node, &options, choice);
        }
        match node.receive::<Option<Vec<ListOption>>>(&suggestions)? {
            Some(options) => {
                let any = |error: Error| Error { message: format!("{}{ANY_TEXT}", error.message), ..error };
                self.set_value(element, &usable_option(&options, choice).map_err(any)?.1.value)
            }
            None => self.select_in_page(element, &node, choice),
        }
    }

    fn select_in_list(
        &self,
        node: &PageNode<'a>,
        options: &[ListOption],
        choice: &OptionChoice,
    ) -> Result<Done> {
        let (index, _) = usable_option(options, choice)?;
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
        let mut before = HashSet::new();
        let (names, found) = self.page_options(element, choice, &mut before)?;
        if let Some(option) = found {
            return self.click_element(&option, None, PointerAction::Click(Button::Left, 1), &[]);
        }
        let at = self.aim(node, None)?;
        self.use_pointer(PointerAction::Click(Button::Left, 1), at, &[])?;
        let end = self.browser.clock.now() + LIST_TIME;
        let mut names = names;
        while self.browser.clock.now() < end {
            let heard = self.browser.bell.rings();
            let (opened, found) = self.page_options(element, choice, &mut before)?;
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

    /// The options that show in an element, or anywhere where it has none; and the one that is meant. Where a page has made
    /// them of plain elements, they are what has come since it was first asked.
    fn page_options(
        &self,
        element: &Handle,
        choice: &OptionChoice,
        before: &mut HashSet<String>,
    ) -> Result<(Vec<String>, Option<Handle>)> {
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
        let shown: HashSet<String> =
            tree.elements().iter().filter(|it| !it.hidden).filter_map(|it| it.native.clone()).collect();
        if before.is_empty() {
            *before = shown;
        } else if options.is_empty() {
            let is_new = |at: &usize| is_plain_option(&tree[*at], before);
            options = (0..tree.len()).filter(is_new).collect();
        }
        let names: Vec<String> = options.iter().map(|&at| tree[at].name.clone()).collect();
        let meant = choice_index(names.iter().map(String::as_str), choice).and_then(|at| options.get(at));
        let native = meant.and_then(|&at| tree[at].native.clone());
        Ok((names, native.map(|native| Handle { window_uid: element.window_uid.clone(), native })))
    }
}

const ANY_TEXT: &str = "; these are suggestions: set_value writes any text into it";

/// The option that is meant, with its place.
fn usable_option<'o>(options: &'o [ListOption], choice: &OptionChoice) -> Result<(usize, &'o ListOption)> {
    let index = match choice {
        OptionChoice::Index(index) => Some(*index),
        OptionChoice::Name(name) => option_named(options, name)?,
    };
    let found = index.and_then(|index| Some((index, options.get(index)?)));
    match found {
        Some((_, option)) if option.disabled => {
            let message = format!("the option '{}' is disabled now", option.name.trim());
            Err(Error::new(Kind::ElementDisabled, message))
        }
        Some(found) => Ok(found),
        None => {
            let names: Vec<String> = options.iter().map(ListOption::full_name).collect();
            Err(option_not_found(choice, names.iter().map(String::as_str)))
        }
    }
}

/// By its name as it is written, else without the blanks around it, else with its group. Of several with one name none is
/// meant, unless they are for the same value.
fn option_named(options: &[ListOption], name: &str) -> Result<Option<usize>> {
    let places = |is_meant: &dyn Fn(&ListOption) -> bool| -> Vec<usize> {
        (0..options.len()).filter(|&at| is_meant(&options[at])).collect()
    };
    let mut meant = places(&|option| option.name == name);
    if meant.is_empty() {
        meant = places(&|option| option.name.trim() == name.trim());
    }
    if meant.is_empty() {
        meant = places(&|option| option.full_name() == name.trim());
    }
    let Some(&first) = meant.first() else { return Ok(None) };
    if meant.iter().all(|&at| options[at].value == options[first].value) {
        return Ok(Some(first));
    }
    let told = meant.iter().map(|&at| format!("{at} is '{}'", options[at].full_name()));
    let told: Vec<String> = told.take(MOST_ALIKE).collect();
    let message = format!(
        "{} options are named '{}': option_index {}; give option_index, or the name with its group",
        meant.len(),
        name.trim(),
        told.join(", ")
    );
    Err(Error::new(Kind::Ambiguous, message).with("field", "option_name"))
}

/// Of more options with one name not all are told.
const MOST_ALIKE: usize = 10;

/// The key of which a page is told when a text comes without one, as from the keyboard of a phone.
const WRITTEN_KEY: u32 = 229;

/// An option of a list, a menu or a tree that the page made; those of the browser's own lists are chosen there.
fn is_page_option(tree: &Tree, node: usize) -> bool {
    let mut above = std::iter::successors(tree.parent(node), |&at| tree.parent(at));
    let is_option = matches!(tree[node].role, Role::ListItem | Role::MenuItem | Role::TreeItem);
    let holds = |role: &Role| matches!(role, Role::List | Role::Menu | Role::Tree | Role::ComboBox);
    let held_by = above.find(|&at| holds(&tree[at].role)).map(|at| &tree[at].role);
    is_option && tree[node].native.is_some() && held_by.is_some_and(|role| *role != Role::ComboBox)
}

/// Something to click, or a text, that was not there before.
fn is_plain_option(element: &Element, before: &HashSet<String>) -> bool {
    let is_new = element.native.as_ref().is_some_and(|native| !before.contains(native));
    is_new
        && !element.hidden
        && !element.name.is_empty()
        && matches!(element.role, Role::Button | Role::Text | Role::Hyperlink | Role::ListItem)
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
    if facts.readonly && is_field && holds_text {
        let message = format!("'{}' is read-only: the page lets nobody write into it now", facts.label);
        return Err(Error::new(Kind::PatternUnsupported, message));
    }
    if facts.readonly || !(facts.editable || (is_field && holds_text)) {
        let message = format!("the value of '{}' cannot be set", facts.label);
        return Err(Error::new(Kind::PatternUnsupported, message));
    }
    if let Some(form) = written_form(&facts.kind).filter(|form| !text.is_empty() && !has_form(text, form)) {
        let message = format!("'{}' takes {form}, not '{}'", facts.label, shorten(text, 40));
        return Err(Error::bad_request(message).with("field", "value"));
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

/// How a field of the browser's own is written, whatever it looks like: letters of a form stand for digits, but for `T`,
/// `W` and what is no letter.
fn written_form(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "date" => "YYYY-MM-DD",
        "time" => "HH:MM",
        "datetime-local" => "YYYY-MM-DDTHH:MM",
        "month" => "YYYY-MM",
        "week" => "YYYY-Www",
        "color" => "#RRGGBB",
        _ => return None,
    })
}

/// Seconds may follow a time.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(sign, place): (char, char)| match place {
        'T' | 'W' | '-' | ':' | '#' => sign == place,
        'R' | 'G' | 'B' => sign.is_ascii_hexdigit(),
        _ => sign.is_ascii_digit(),
    };
    let is_second = |sign: char| sign.is_ascii_digit() || matches!(sign, ':' | '.');
    let rest: String = text.chars().skip(form.len()).collect();
    let may_go_on = form.ends_with("HH:MM") && rest.chars().all(is_second);
    text.chars().count() >= form.len()
        && text.chars().zip(form.chars()).all(fits)
        && (rest.is_empty() || may_go_on)
}

fn is_typed_into(facts: &ElementFacts) -> bool {
    matches!(facts.tag.as_str(), "input" | "textarea")
}

/// What pages put between the digits of telephone numbers, cards and codes. Signs of amounts are not among it.
fn without_spacing(text: &str) -> String {
    text.chars().filter(|sign| !matches!(sign, ' ' | '\u{a0}' | '-' | '(' | ')' | '/')).collect()
}

/// Whether a page wrote it otherwise and meant the same: other spacing, or other letters of the same word. In a secret
/// the letters count.
fn is_rewritten(facts: &ElementFacts, wanted: &str, holds: &str) -> bool {
    let (holds, wanted) = (without_spacing(holds), without_spacing(wanted));
    !wanted.is_empty()
        && (holds == wanted || (!facts.secret && holds.to_lowercase() == wanted.to_lowercase()))
}

/// What the field holds now, compared with what it should hold.
fn value_done(facts: &ElementFacts, wanted: &str, holds: Option<&WrittenValue>) -> Result<Done> {
    let Some(WrittenValue { value: holds, wrong }) = holds else {
        return Ok(done_with_note(Route::Accessibility, "set; the element does not report its value"));
    };
    let normal = |text: &str| text.replace("\r\n", "\n").trim_end_matches('\n').to_owned();
    let numbers = (holds.trim().parse::<f64>(), wanted.trim().parse::<f64>());
    let is_same = normal(holds) == normal(wanted)
        || matches!(numbers, (Ok(one), Ok(other)) if (one - other).abs() < 1e-9);
    if !is_same && !is_rewritten(facts, wanted, holds) {
        let shown = match facts.secret {
            true => format!("{} characters", holds.chars().count()),
            false => format!("'{}'", holds.chars().take(200).collect::<String>()),
        };
        let message = format!("set, but '{}' holds {shown} now", facts.label);
        return Err(Error::new(Kind::PatternUnsupported, message));
    }
    let rewritten = (!is_same).then(|| match facts.secret {
        true => "the page wrote it with other spacing".to_owned(),
        false => format!("the page wrote it as '{}'", shorten(holds, 60)),
    });
    let refused = (!wrong.is_empty()).then(|| format!("invalid: '{}': {wrong}", facts.label));
    let note = [rewritten, refused].into_iter().flatten().reduce(|all, note| format!("{all}; {note}"));
    Ok(Done { verified: true, note, ..done_by(Route::Accessibility) })
}

/// Said of a text whose element lost the focus meanwhile.
const ASTRAY: &str =
    "the element has not got the keyboard focus any more: a part of the text may have gone elsewhere";

fn focus_taken(label: &str) -> Error {
    let message =
        format!("'{label}' does not keep the keyboard focus: the page takes it away; nothing was written");
    Error::new(Kind::PatternUnsupported, message)
}

/// With the way out: menus, pickers and dialogs close with Escape, a banner by a button of its own.
fn covered_by(cover: &str) -> String {
    format!("{cover} covers it; close that first, with press_key escape or its own button, and try again")
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
    fn a_date_is_written_as_its_field_takes_it() {
        for (kind, right, wrong) in [
            ("date", "2026-12-31", "31.12.2026"),
            ("time", "09:30", "9:30 am"),
            ("time", "09:30:15.5", "09:30 am"),
            ("datetime-local", "2026-12-31T09:30", "2026-12-31 09:30"),
            ("month", "2026-12", "December 2026"),
            ("week", "2026-W05", "2026-05"),
            ("color", "#0a0B0c", "red"),
        ] {
            check(&facts("input", kind), right, None);
            check(&facts("input", kind), wrong, Some(Kind::BadRequest));
            check(&facts("input", kind), "", None);
        }
        let said = check_value(&facts("input", "date"), "31.12.2026").unwrap_err().message;
        assert!(said.contains("takes YYYY-MM-DD, not '31.12.2026'"), "{said}");
    }

    #[test]
    fn what_was_read_back_is_compared_and_a_secret_is_not_told() {
        let plain = facts("input", "text");
        let done = |facts: &ElementFacts, wanted: &str, holds: &str| {
            let holds = WrittenValue { value: holds.to_owned(), wrong: String::new() };
            value_done(facts, wanted, Some(&holds))
        };
        assert!(done(&plain, "a\nb", "a\r\nb\n").unwrap().verified);
        assert!(done(&plain, "3", "03").unwrap().verified);
        assert!(done(&plain, "abc", "abd").unwrap_err().message.contains("'abd'"));
        assert_eq!(done(&plain, "abc", "A BC").unwrap().note.unwrap(), "the page wrote it as 'A BC'");
        let secret = ElementFacts { secret: true, ..facts("input", "password") };
        let error = done(&secret, "hunter2", "hunter").unwrap_err();
        assert!(error.message.contains("6 characters") && !error.message.contains("hunter"), "{error}");
        assert!(done(&secret, "hunter", "HUNTER").is_err());
        assert!(!value_done(&plain, "x", None).unwrap().verified);
    }

    #[test]
    fn what_the_browser_does_not_accept_is_noted() {
        let field = ElementFacts { label: "Num".to_owned(), ..facts("input", "number") };
        let holds = WrittenValue { value: "4".to_owned(), wrong: "Take 3 or 5.".to_owned() };
        let done = value_done(&field, "4", Some(&holds)).unwrap();
        assert_eq!((done.verified, done.note.as_deref()), (true, Some("invalid: 'Num': Take 3 or 5.")));
    }

    #[test]
    fn an_option_is_named_alone_or_with_its_group() {
        let option = |group: &str, name: &str, value: &str| ListOption {
            name: name.to_owned(),
            value: value.to_owned(),
            group: group.to_owned(),
            disabled: false,
        };
        let options =
            [option("A", "x", "1"), option("A", " y", "2"), option("B", "x", "3"), option("", "y", "2")];
        let named = |name: &str| option_named(&options, name).map_err(|error| error.kind);
        assert_eq!(named("x"), Err(Kind::Ambiguous));
        assert_eq!(named("B / x"), Ok(Some(2)));
        assert_eq!(named(" y "), Ok(Some(1)));
        assert_eq!(named("z"), Ok(None));
    }
}
