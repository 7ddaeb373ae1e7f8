//! One element, looked at and asked to do something. Every question is asked once.

use std::time::Duration;

use atspi::State;

use super::bus::{
    BusConnection, BusDeadline, BusError, BusReply, BusRequest, read_flag, read_number, read_object,
    read_objects, text,
};
use super::capture::misplacement;
use super::find::{ON_SCREEN, ROOT, read_rectangle, states_of};
use super::object::{
    ACCESSIBLE, ACTION, AtspiObject, COMPONENT, EDITABLE_TEXT, Interfaces, SELECTION, States, TEXT, VALUE,
};
use super::{AtspiClient, no_element, roles};
use crate::clock::Cancel;
use crate::config::limits::{TREE_CHILDREN_OF_ONE_NODE, TYPED_TEXT_CHARACTERS};
use crate::error::{Error, Kind, Result};
use crate::model::Rect;
use crate::model::element::Range;
use crate::model::input::Handle;
use crate::platform::interaction::{NamedAction, RequestOutcome};

/// Toolkits name a handful; a thousand would be a mistake.
const MOST_ACTIONS: i32 = 16;
/// An action that is not answered in this time may run a dialog; whether its application still answers is asked then.
const ANSWERED_SOON: Duration = Duration::from_millis(400);
/// How far up the pane of an application may be: a paragraph of LibreOffice is some ten levels below it.
const LEVELS_OF_PANE: usize = 24;

/// An element as it is at this moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtspiElement {
    pub name: String,
    pub role: u32,
    pub states: States,
    pub faces: Interfaces,
    /// On the screen, or from `inset` on.
    pub extents: Option<Rect>,
    /// The application counts from this place in its window.
    pub inset: Option<(i32, i32)>,
    pub is_gtk3: bool,
    /// In the order of their numbers, in small letters.
    pub actions: Vec<String>,
    pub range: Range,
}

impl AtspiElement {
    pub fn enabled(&self) -> bool {
        roles::is_enabled(self.states)
    }

    pub fn shows(&self) -> bool {
        self.states.has(State::Showing)
    }

    pub fn focused(&self) -> bool {
        self.states.has(State::Focused)
    }

    pub fn can(&self, interface: &str) -> bool {
        self.faces.has(interface)
    }

    pub fn sets_text(&self) -> bool {
        self.faces.has(EDITABLE_TEXT)
    }

    pub fn has_text(&self) -> bool {
        self.faces.has(TEXT)
    }

    pub fn has_number(&self) -> bool {
        self.faces.has(VALUE) && self.range.now.is_some()
    }

    pub fn selects(&self) -> bool {
        self.faces.has(SELECTION)
    }

    pub fn is_secret(&self) -> bool {
        roles::is_secret(self.role)
    }

    pub fn is_text(&self) -> bool {
        self.states.has(State::Editable) || roles::is_one_of(self.role, roles::WRITTEN)
    }

    /// The action that is a click, by its name: in GTK4 the first ones are about the clipboard.
    pub fn click_action(&self) -> Option<NamedAction> {
        // What a text field calls to activate is the enter key, and a click into it only gives it the focus.
        if self.is_text() {
            return None;
        }
        if roles::is_one_of(self.role, roles::ROWS) {
            return self.action(CLICKS_ON_ROWS);
        }
        let is_pressed = roles::is_one_of(self.role, roles::PRESSED) && (!self.is_toggle() || self.expands());
        let more = if is_pressed { PRESSES } else { &[] };
        self.action(CLICKS).or_else(|| self.action(more))
    }

    /// Whether its action may run a dialog to its end before the application answers anything again. GTK 3 does, and a key
    /// that is pressed meanwhile stops it for good.
    pub fn may_run_dialog(&self) -> bool {
        self.is_gtk3 && (self.is_button() || self.is_menu_entry())
    }

    /// The layouts of LibreOffice Impress are a list that takes a selection and applies only a click.
    pub fn acts_by_clicked_options(&self) -> bool {
        self.is_gtk3 && roles::is_one_of(self.role, &[atspi::Role::List])
    }

    pub fn is_menu_entry(&self) -> bool {
        roles::is_one_of(self.role, roles::MENU_ENTRIES)
    }

    pub fn is_popup(&self) -> bool {
        roles::is_one_of(self.role, &[atspi::Role::PopupMenu])
    }

    fn is_button(&self) -> bool {
        roles::is_one_of(self.role, &[atspi::Role::Button])
    }

    /// A cell of a sheet, which is made when it is asked for. LibreOffice does not know where it is on the screen before
    /// the first click into its window.
    pub fn is_sheet_cell(&self) -> bool {
        let is_made_for_asking = self.states.has(State::Transient) && self.states.has(State::Focusable);
        is_made_for_asking
            && self.states.has(State::Editable)
            && roles::is_one_of(self.role, &[atspi::Role::TableCell])
    }

    /// The action that changes the state of something that keeps it. Qt tells nobody of a click then, and the swatches
    /// of GTK 3 call it to activate when they are left with the old colour.
    pub fn toggle_action(&self) -> Option<NamedAction> {
        let named: &[&str] = match roles::known_role(self.role) {
            Some(atspi::Role::CheckBox | atspi::Role::ToggleButton) => TOGGLES,
            Some(atspi::Role::RadioButton) => &["toggle"],
            _ => &[],
        };
        self.action(named)
    }

    /// GTK 3 calls an expander a toggle button. It is as wide as what it opens, and takes clicks at its label only.
    fn expands(&self) -> bool {
        self.states.has(State::Expandable)
    }

    fn is_toggle(&self) -> bool {
        roles::is_one_of(self.role, roles::TOGGLES)
    }

    fn action(&self, names: &[&str]) -> Option<NamedAction> {
        let by_name = |wanted: &&str| self.actions.iter().position(|name| name == wanted);
        let place = names.iter().find_map(by_name)?;
        Some(NamedAction { index: i32::try_from(place).ok()?, name: self.actions.get(place)?.clone() })
    }
}

/// The names under which toolkits offer what a click does, the most telling first.
const CLICKS: &[&str] = &["click", "press", "jump", "check", "uncheck", "clickancestor"];
/// Other actions select a row, or take it out of what is selected.
const CLICKS_ON_ROWS: &[&str] = &["click", "clickancestor"];
const TOGGLES: &[&str] = &["toggle", "activate"];
/// What a click does to a button or a menu item, but a double click to a row.
const PRESSES: &[&str] = &["activate", "open", "select", "showmenu"];

const QUESTIONS: &[BusRequest] = &[
    BusRequest::Get(ACCESSIBLE, "Name"),
    BusRequest::Call(ACCESSIBLE, "GetRole"),
    BusRequest::Call(ACCESSIBLE, "GetState"),
    BusRequest::Call(ACCESSIBLE, "GetInterfaces"),
    BusRequest::WithCode(COMPONENT, "GetExtents", ON_SCREEN),
];
const NUMBERS: &[BusRequest] = &[
    BusRequest::Get(VALUE, "CurrentValue"),
    BusRequest::Get(VALUE, "MinimumValue"),
    BusRequest::Get(VALUE, "MaximumValue"),
];

async fn look(
    link: std::rc::Rc<BusConnection>,
    object: AtspiObject,
    pace: BusDeadline,
) -> Result<AtspiElement> {
    let ask = |questions: &[BusRequest]| questions.iter().map(|ask| (object.clone(), ask.clone())).collect();
    if link.is_hung(&object).await {
        return Err(failed(&BusError::TimedOut, &object));
    }
    let answers = link.ask_all(ask(QUESTIONS), &pace).await;
    let [name, role, states, faces, extents] = answers.as_slice() else {
        return Err(no_element(&object.native()));
    };
    let states = states_of(states.as_ref().map_err(|trouble| failed(trouble, &object))?);
    if states.has(State::Defunct) {
        return Err(no_element(&object.native()));
    }
    let faces = faces.as_ref().map_or_else(
        |_| Interfaces::default(),
        |reply| {
            let body = reply.body();
            let names: Vec<&str> = body.deserialize().unwrap_or_default();
            Interfaces::of(names)
        },
    );
    let mut live = AtspiElement {
        name: name.as_ref().ok().and_then(text).unwrap_or_default(),
        role: role.as_ref().ok().and_then(|reply| reply.body().deserialize().ok()).unwrap_or(0),
        states,
        faces,
        extents: extents.as_ref().ok().and_then(read_rectangle),
        inset: link.insets.borrow().get(&object.bus).copied(),
        is_gtk3: link.gtk3.borrow().contains(&object.bus),
        ..AtspiElement::default()
    };
    let by = misplacement_around(&link, &object, &pace).await;
    live.extents =
        live.extents.map(|own| Rect { x: own.x.saturating_add(by.0), y: own.y.saturating_add(by.1), ..own });
    if faces.has(VALUE) {
        let answers = link.ask_all(ask(NUMBERS), &pace).await;
        let numbers: Vec<Option<f64>> =
            answers.iter().map(|answer| answer.as_ref().ok().and_then(read_number)).collect();
        if let [now, min, max] = numbers.as_slice() {
            live.range = Range { now: *now, min: *min, max: *max };
        }
    }
    if faces.has(ACTION) {
        live.actions = actions(&link, &object, &pace).await;
    }
    Ok(live)
}

/// How far from its place the element is told to be, if it is in a pane that was told elsewhere before. The pane is asked
/// anew: LibreOffice finds its place some time after its window opened.
async fn misplacement_around(
    link: &std::rc::Rc<BusConnection>,
    object: &AtspiObject,
    pace: &BusDeadline,
) -> (i32, i32) {
    if !link.misplaced.borrow().keys().any(|pane| pane.bus == object.bus) {
        return (0, 0);
    }
    let mut around = object.clone();
    for _ in 0..LEVELS_OF_PANE {
        let filled = link.misplaced.borrow().get(&around).cloned();
        if let Some(filled) = filled {
            let extents = BusRequest::WithCode(COMPONENT, "GetExtents", ON_SCREEN);
            let answers = link.ask_all(vec![(around, extents.clone()), (filled, extents)], pace).await;
            let place = |at: usize| answers.get(at)?.as_ref().ok().and_then(read_rectangle);
            return misplacement(atspi::Role::RootPane as u32, place(0), place(1)).unwrap_or_default();
        }
        let reply = link.ask_object(&around, &BusRequest::Get(ACCESSIBLE, "Parent"), pace).await;
        let Some(parent) = reply.ok().as_ref().and_then(read_object) else { break };
        around = parent;
    }
    (0, 0)
}

/// Chromium tells names only one by one; GetActions gives blanks.
async fn actions(link: &std::rc::Rc<BusConnection>, object: &AtspiObject, pace: &BusDeadline) -> Vec<String> {
    let count = link
        .ask_object(object, &BusRequest::Get(ACTION, "NActions"), pace)
        .await
        .ok()
        .and_then(|it| read_number(&it));
    let count = (count.unwrap_or(0.0) as i32).clamp(0, MOST_ACTIONS);
    let asks = (0..count).map(|index| (object.clone(), BusRequest::WithIndex(ACTION, "GetName", index)));
    let answers = link.ask_all(asks.collect(), pace).await;
    let name =
        |answer: BusReply| answer.ok().and_then(|reply| text(&reply)).unwrap_or_default().to_lowercase();
    answers.into_iter().map(name).collect()
}

fn failed(trouble: &BusError, object: &AtspiObject) -> Error {
    match trouble {
        BusError::TimedOut => {
            Error::new(Kind::Timeout, "the application does not answer").with("phase", "element")
        }
        BusError::Gone | BusError::Refused(_) => no_element(&object.native()),
    }
}

/// Qt answers a press only when the dialog that it opened is closed, so silence is an outcome and no error.
fn outcome_of(answer: BusReply) -> Result<RequestOutcome> {
    match answer {
        Ok(reply) if read_flag(&reply) => Ok(RequestOutcome::Accepted),
        Ok(_) | Err(BusError::Refused(_)) => Ok(RequestOutcome::Refused),
        Err(BusError::TimedOut) => Ok(RequestOutcome::Unanswered),
        Err(trouble) => Err(failed(&trouble, &AtspiObject::new("", "/"))),
    }
}

impl AtspiClient {
    pub fn look_at(&self, handle: &Handle, cancel: &Cancel) -> Result<AtspiElement> {
        self.with_element(handle, cancel, look)
    }

    fn request(&self, handle: &Handle, ask: BusRequest, cancel: &Cancel) -> Result<RequestOutcome> {
        self.with_element(handle, cancel, |link, object, pace| async move {
            outcome_of(link.ask_object(&object, &ask, &pace).await)
        })
    }

    pub fn do_action(&self, handle: &Handle, number: i32, cancel: &Cancel) -> Result<RequestOutcome> {
        self.with_element(handle, cancel, move |link, object, pace| async move {
            let action = BusRequest::WithIndex(ACTION, "DoAction", number);
            let acting = link.ask_object(&object, &action, &pace);
            tokio::pin!(acting);
            if let Ok(answer) = tokio::time::timeout(ANSWERED_SOON, &mut acting).await {
                return outcome_of(answer);
            }
            // Qt runs a dialog inside of the action and answers everything else meanwhile.
            let other = BusRequest::Call(ACCESSIBLE, "GetRole");
            let application = AtspiObject::new(&object.bus, ROOT);
            let other = link.ask_object(&application, &other, &pace).await;
            match tokio::time::timeout(Duration::ZERO, &mut acting).await {
                Ok(answer) => outcome_of(answer),
                Err(_) if other.is_ok() => Ok(RequestOutcome::Accepted),
                Err(_) => outcome_of(acting.await),
            }
        })
    }

    pub fn grab_focus(&self, handle: &Handle, cancel: &Cancel) -> Result<RequestOutcome> {
        self.request(handle, BusRequest::Call(COMPONENT, "GrabFocus"), cancel)
    }

    /// Anywhere it can be seen.
    pub fn scroll_to(&self, handle: &Handle, cancel: &Cancel) -> Result<RequestOutcome> {
        const ANYWHERE: u32 = 6;
        self.request(handle, BusRequest::WithCode(COMPONENT, "ScrollTo", ANYWHERE), cancel)
    }

    pub fn set_text(&self, handle: &Handle, text: String, cancel: &Cancel) -> Result<RequestOutcome> {
        self.request(handle, BusRequest::WithText(EDITABLE_TEXT, "SetTextContents", text), cancel)
    }

    pub fn set_number(&self, handle: &Handle, number: f64, cancel: &Cancel) -> Result<()> {
        self.with_element(handle, cancel, move |link, object, pace| async move {
            let set =
                link.ask_object(&object, &BusRequest::SetNumber(VALUE, "CurrentValue", number), &pace).await;
            set.map(|_| ()).map_err(|trouble| failed(&trouble, &object))
        })
    }

    /// The whole text, as far as it can have been typed, and how long it is.
    pub fn text(&self, handle: &Handle, cancel: &Cancel) -> Result<ToldText> {
        self.with_element(handle, cancel, |link, object, pace| async move {
            let count = link.ask_object(&object, &BusRequest::Get(TEXT, "CharacterCount"), &pace).await;
            let Some(count) = count.ok().as_ref().and_then(read_number) else {
                return Ok(ToldText::default());
            };
            let characters = count.max(0.0) as usize;
            let end = i32::try_from(characters.min(TYPED_TEXT_CHARACTERS)).unwrap_or(i32::MAX);
            let ask = BusRequest::WithRange(TEXT, "GetText", 0, end);
            let text = link.ask_object(&object, &ask, &pace).await.ok().as_ref().and_then(text);
            Ok(ToldText { text, characters: Some(characters) })
        })
    }

    pub fn index_in_parent(&self, handle: &Handle, cancel: &Cancel) -> Result<Option<i32>> {
        self.with_element(handle, cancel, |link, object, pace| async move {
            let ask = BusRequest::Call(ACCESSIBLE, "GetIndexInParent");
            let reply = link.ask_object(&object, &ask, &pace).await;
            let index = reply.ok().and_then(|reply| reply.body().deserialize::<i32>().ok());
            Ok(index.filter(|index| *index >= 0))
        })
    }

    pub fn select_child(&self, handle: &Handle, index: i32, cancel: &Cancel) -> Result<RequestOutcome> {
        self.request(handle, BusRequest::WithIndex(SELECTION, "SelectChild", index), cancel)
    }

    /// The name and handle of each child, and whether it is selected.
    pub fn children(&self, handle: &Handle, cancel: &Cancel) -> Result<Vec<Child>> {
        let uid = handle.window_uid.clone();
        self.with_element(handle, cancel, |link, object, pace| async move {
            let reply = link
                .ask_object(&object, &BusRequest::Call(ACCESSIBLE, "GetChildren"), &pace)
                .await
                .map_err(|trouble| failed(&trouble, &object))?;
            let mut children = read_objects(&reply);
            children.truncate(TREE_CHILDREN_OF_ONE_NODE);
            let questions = [
                BusRequest::Get(ACCESSIBLE, "Name"),
                BusRequest::Call(ACCESSIBLE, "GetRole"),
                BusRequest::Call(ACCESSIBLE, "GetState"),
            ];
            let asks =
                children.iter().flat_map(|child| questions.iter().map(|ask| (child.clone(), ask.clone())));
            let answers = link.ask_all(asks.collect(), &pace).await;
            let facts = children.iter().zip(answers.chunks(questions.len()));
            Ok(facts.map(|(child, answers)| child_of(child, &uid, answers)).collect())
        })
    }

    /// Who lists an element that was read, and at which place.
    pub fn lister(&self, handle: &Handle, cancel: &Cancel) -> Result<Option<(Handle, i32)>> {
        let uid = handle.window_uid.clone();
        self.with_element(handle, cancel, |link, object, _| async move {
            let lister = link.mirrors.borrow().lister_of(&object);
            Ok(lister.map(|(lister, index)| (Handle { window_uid: uid, native: lister.native() }, index)))
        })
    }

    pub fn parent(&self, handle: &Handle, cancel: &Cancel) -> Result<Option<Handle>> {
        let uid = handle.window_uid.clone();
        self.with_element(handle, cancel, |link, object, pace| async move {
            let reply = link.ask_object(&object, &BusRequest::Get(ACCESSIBLE, "Parent"), &pace).await;
            let reply = reply.map_err(|trouble| failed(&trouble, &object))?;
            let native = read_object(&reply).map(|object| object.native());
            Ok(native.map(|native| Handle { window_uid: uid, native }))
        })
    }
}

/// A text as far as an element tells it; where it is hidden there may still be its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToldText {
    pub text: Option<String>,
    pub characters: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    pub handle: Handle,
    pub name: String,
    pub role: u32,
    pub states: States,
}

fn child_of(object: &AtspiObject, uid: &str, answers: &[BusReply]) -> Child {
    let answer = |place: usize| answers.get(place).and_then(|answer| answer.as_ref().ok());
    Child {
        handle: Handle { window_uid: uid.to_owned(), native: object.native() },
        name: answer(0).and_then(text).unwrap_or_default(),
        role: answer(1).and_then(|reply| reply.body().deserialize().ok()).unwrap_or(0),
        states: answer(2).map(states_of).unwrap_or_default(),
    }
}

#[cfg(test)]
impl AtspiElement {
    /// An element as an application would tell it.
    pub fn told(role: atspi::Role, states: &[State], interfaces: &[&str], actions: &[&str]) -> Self {
        Self {
            role: role as u32,
            states: States(states.iter().fold(0, |all, state| all | *state as u64)),
            faces: Interfaces::of(interfaces.iter().copied()),
            actions: actions.iter().map(|name| (*name).to_owned()).collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_role(role: atspi::Role, actions: &[&str], expected: Option<i32>) {
        let actions = actions.iter().map(|name| (*name).to_owned()).collect();
        let live = AtspiElement { actions, role: role as u32, ..AtspiElement::default() };
        assert_eq!(live.click_action().map(|action| action.index), expected, "{live:?}");
    }

    fn check(actions: &[&str], expected: Option<i32>) {
        check_role(atspi::Role::Button, actions, expected);
    }

    #[test]
    fn activating_a_row_or_a_field_is_no_click() {
        check_role(atspi::Role::TableCell, &["expand or contract", "activate"], None);
        check_role(atspi::Role::Entry, &["activate"], None);
        check_role(atspi::Role::TableCell, &["click"], Some(0));
    }

    #[test]
    fn what_selects_or_toggles_is_no_click() {
        check_role(atspi::Role::ListItem, &["toggle"], None);
        check_role(atspi::Role::TableCell, &["press", "toggle"], None);
        check_role(atspi::Role::ToggleButton, &["toggle"], None);
        check_role(atspi::Role::CheckBox, &["toggle", "activate"], None);
        check_role(atspi::Role::CheckBox, &["check"], Some(0));
        // A swatch of GTK 3.
        check_role(atspi::Role::RadioButton, &["select", "activate", "customize"], None);
    }

    #[test]
    fn an_expander_is_clicked_by_its_action() {
        let check = |states: &[State], expected: Option<&str>| {
            let live = AtspiElement::told(atspi::Role::ToggleButton, states, &[], &["activate"]);
            assert_eq!(live.click_action().map(|action| action.name).as_deref(), expected, "{states:?}");
        };
        check(&[State::Expandable], Some("activate"));
        check(&[], None);
    }

    #[test]
    fn only_buttons_and_menu_entries_of_gtk_3_may_run_a_dialog() {
        let check = |role: atspi::Role, is_gtk3: bool, expected: bool| {
            let live = AtspiElement { role: role as u32, is_gtk3, ..AtspiElement::default() };
            assert_eq!(live.may_run_dialog(), expected, "{role:?}");
        };
        check(atspi::Role::Button, true, true);
        check(atspi::Role::MenuItem, true, true);
        check(atspi::Role::Button, false, false);
        // It opens a menu.
        check(atspi::Role::Menu, true, false);
        check(atspi::Role::ToggleButton, true, false);
    }

    #[test]
    fn where_no_pointer_reaches_a_toggle_does() {
        let check = |role: atspi::Role, actions: &[&str], expected: Option<&str>| {
            let live = AtspiElement::told(role, &[], &[], actions);
            assert_eq!(live.toggle_action().map(|action| action.name).as_deref(), expected, "{role:?}");
        };
        check(atspi::Role::ToggleButton, &["toggle"], Some("toggle"));
        check(atspi::Role::CheckBox, &["activate"], Some("activate"));
        check(atspi::Role::RadioButton, &["select", "activate", "customize"], None);
        check(atspi::Role::ListItem, &["toggle"], None);
    }

    #[test]
    fn a_click_is_found_by_its_name() {
        check(&["click"], Some(0));
        check(&["clipboard.copy", "clipboard.cut", "activate"], Some(2));
        check(&["select", "press"], Some(1));
        check(&["menu.popup", "clipboard.paste"], None);
        check(&["", ""], None);
        check(&[], None);
    }
}
