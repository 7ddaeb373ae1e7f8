//! Acting on an element: found, checked, judged, done, and answered with a receipt.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{DeliveryArgs, Dialog, ElementArgs, QuietWindowArgs, millis, new_dialogs, seen_after};
use super::keyboard::parse_combination;
use super::pointer::with_range;
use super::typed_lines::refuse_lines_to_append;
use crate::config::limits;
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Button, Delivery, Handle, Modifier, OptionChoice};
use crate::model::{InputAim, InputKind, InputText, Point, RecordedInput, Rect, Role};
use crate::observer::outline::OutlineOptions;
use crate::observer::{DesktopState, Ref, ResolvedWindow, View, WindowChoice};
use crate::platform::{Done, Route};
use crate::tool::args::{Int, SecretOr, Text};
use crate::tool::{
    Cx, Effect, ElementTarget, Example, Group, Meta, Method, Output, Permit, Spec, Target, Tool,
};

pub struct ClickElement;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClickArgs {
    #[serde(flatten)]
    element: ElementArgs,
    #[serde(flatten)]
    window: QuietWindowArgs,
    /// Default left.
    button: Option<Button>,
    /// Clicks; default 1.
    count: Option<Int<1, 5>>,
    /// Held meanwhile.
    #[serde(default)]
    modifiers: Vec<Modifier>,
    #[serde(flatten)]
    delivery: DeliveryArgs,
}

impl Tool for ClickElement {
    type Args = ClickArgs;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "click_element",
        group: Group::Elements,
        lean: true,
        web: true,
        effect: Effect::Input,
        shows_gate_args: true,
        rest: &[(Method::Post, "/api/element/click")],
        brief: "Click an element. `ok` only means the click was delivered; check `changed`.",
        detail: "The tree is read again, the element must be enabled and visible, and the click goes to its \
                 centre. `changed` compares the window's tree before and after; `new_dialogs` lists windows \
                 that appeared.",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"selector":"Window/MenuBar/MenuItem[name=\"Edit\"]","dry_run":true}"#,
                shows: "what would be clicked, without clicking",
            },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"selector":"Window/Edit[name=\"Username\"]"}"#,
                shows: "a field that receives the focus",
            },
        ],
        implies: &["click_at"],
        verify: &["ok", "error.code", "target.selector", "changed"],
        input: Some(RecordedInput::new(InputKind::Click, InputAim::Element)),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &ClickArgs) -> Result<Vec<Target>> {
        let is_plain = args.button.unwrap_or_default() == Button::Left
            && args.count.is_none_or(|count| count.get() == 1)
            && args.modifiers.is_empty();
        let reach = Reach { asked: args.delivery.delivery, in_place: is_plain };
        let targets = actionable_target(cx, &args.window, &args.element, reach)?;
        Ok(with_range(cx, targets, &args.modifiers))
    }

    fn run(cx: &mut Cx, args: ClickArgs, permit: Permit) -> Result<Receipt> {
        let button = args.button.unwrap_or_default();
        let count = u32::try_from(args.count.map_or(1, Int::get)).unwrap_or(1);
        let (modifiers, asked) = (args.modifiers, args.delivery.delivery);
        act_on_target(cx, permit, "click_element", asked, |target, at| Act::Click {
            element: handle(target),
            at: Some(at),
            button,
            count,
            modifiers,
        })
    }
}

fn handle(target: &ElementTarget) -> Option<Handle> {
    let native = target.view.native_handle(target.node)?;
    Some(Handle { window_uid: target.chosen.window.uid.clone(), native })
}

/// How long a step waits for what an earlier one is about to bring.
const ABOUT_TO_COME: Duration = Duration::from_secs(1);

/// The element that is meant, if one can act on it. A step of a list comes right after others, whose effects may not be
/// there yet.
fn actionable_target(
    cx: &Cx,
    window: &QuietWindowArgs,
    element: &ElementArgs,
    reach: Reach,
) -> Result<Vec<Target>> {
    let deadline = cx.clock().now() + if cx.is_step { ABOUT_TO_COME } else { Duration::ZERO };
    loop {
        let seen = cx.observer().generation()?;
        let found = find_actionable(cx, window, element, reach);
        let left = deadline.saturating_sub(cx.clock().now());
        match found {
            Err(error) if may_come(error.kind, element) && !left.is_zero() => {
                cx.observer().await_calm(seen, left, cx.cancel)?;
                cx.forget_desktop();
            }
            found => return found,
        }
    }
}

/// Whether an element that cannot be worked now may be worked in a moment. A ref is of one that was there.
fn may_come(kind: Kind, element: &ElementArgs) -> bool {
    match kind {
        Kind::ElementDisabled => true,
        Kind::ElementNotFound => element.reference.is_none(),
        _ => false,
    }
}

/// The element, enabled. With it comes what a click on it would meet: the middle of a dialog may be a button.
fn find_actionable(
    cx: &Cx,
    window: &QuietWindowArgs,
    element: &ElementArgs,
    reach: Reach,
) -> Result<Vec<Target>> {
    let target = find_in_still_desktop(cx, window, element)?;
    if !target.view.tree()[target.node].enabled {
        return Err(target_error(Kind::ElementDisabled, "the element is disabled", &target));
    }
    let point = visible_point(cx, &target)?;
    if point.is_none() && !reach.reaches_unseen(cx, &target)? {
        let message = "the element is covered by other windows or off screen; delivery \"foreground\" brings its window to \
                       the front first";
        return Err(target_error(Kind::ElementOccluded, message, &target));
    }
    Ok(cx.judged_with(target, point))
}

/// The element in a look in which no window came, went or moved while the tree was read: what lies over the element is
/// judged by the windows that were listed before that. A desktop that does not stand still is looked at twice.
fn find_in_still_desktop(cx: &Cx, window: &QuietWindowArgs, element: &ElementArgs) -> Result<ElementTarget> {
    let find = || {
        let (window, element) = (window.window_choice(), element.element_choice());
        cx.find_element(&cx.desktop()?, &window, &element)
    };
    let listed = cx.desktop()?;
    let target = find()?;
    if cx.observer().desktop_since(&listed)?.stands_as_in(&listed)? {
        return Ok(target);
    }
    cx.forget_desktop();
    find()
}

/// How far an input goes for an element that cannot be seen.
#[derive(Clone, Copy)]
struct Reach {
    asked: Option<Delivery>,
    /// Some elements do it by themselves.
    in_place: bool,
}

impl Reach {
    fn in_place(asked: Option<Delivery>) -> Self {
        Self { asked, in_place: true }
    }

    fn in_front(asked: Option<Delivery>) -> Self {
        Self { asked, in_place: false }
    }

    /// What is in a closed menu or scrolled away, and what is covered, can be asked by itself; how, the platform knows.
    fn reaches_unseen(self, cx: &Cx, target: &ElementTarget) -> Result<bool> {
        let may = self.in_place || delivery_to(cx, target, self.asked)? == Delivery::Foreground;
        Ok(may && handle(target).is_some())
    }
}

/// What an input on the element may take. One that can be seen, or be brought into view in a window that can, is worked
/// as a person would; of a covered window the caller or the config says it.
fn delivery_to(cx: &Cx, target: &ElementTarget, asked: Option<Delivery>) -> Result<Delivery> {
    let is_hidden = || target.view.tree()[target.node].hidden;
    let in_sight =
        target.at().is_some() || (is_hidden() && !cx.observer().visible_regions(&target.chosen)?.is_empty());
    Ok(asked.unwrap_or(if in_sight { Delivery::Foreground } else { cx.config().actions.delivery }))
}

/// What the platform refuses is told with the element that it is about.
fn name_target(error: Error, target: &ElementTarget) -> Error {
    match error.kind {
        Kind::ElementOccluded => target_error(error.kind, &error.message, target),
        _ => error,
    }
}

fn target_error(kind: Kind, message: &str, target: &ElementTarget) -> Error {
    Error::new(kind, message)
        .with("window_uid", target.chosen.window.uid.as_str())
        .with("element_id", target.element_id())
        .with("selector", target.selector())
        .with("bounds", target.bounds())
}

/// Where the element can be hit: its centre, or the centre of a part that shows.
fn visible_point(cx: &Cx, target: &ElementTarget) -> Result<Option<Point>> {
    let bounds = target.bounds();
    if target.view.tree()[target.node].hidden {
        return Ok(None);
    }
    let regions = cx.observer().visible_regions(&target.chosen)?;
    let centre = bounds.center();
    if !bounds.is_empty() && regions.iter().any(|region| region.contains(centre)) {
        return Ok(Some(centre));
    }
    let part = regions.iter().find_map(|region| region.intersection(&bounds)).map(|part| part.center());
    // A list that opened may reach beyond the window that it is of.
    let in_popup = || cx.observer().popup_areas(&target.chosen).iter().any(|area| area.contains(centre));
    Ok(part.or_else(|| (!bounds.is_empty() && in_popup()).then_some(centre)))
}

/// What was done to an element, and what came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Receipt {
    action: &'static str,
    dry_run: bool,
    target: TargetOut,
    before: WindowMoment,
    after: WindowMoment,
    changed: bool,
    new_dialogs: Vec<Dialog>,
    duration_ms: u64,
    /// How the input was delivered; absent when nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<Route>,
    /// The window was and stayed behind others, without the focus.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    in_background: bool,
    /// The window was behind others or without the focus, and came to the front.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    raised: bool,
    /// What was asked for was read back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    scenario_reaction: bool,
    /// For a model that reads lines: the entries of the menu that opened.
    #[serde(skip)]
    entries: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TargetOut {
    window_uid: String,
    element_id: String,
    selector: String,
    bounds: Rect,
    #[serde(rename = "ref")]
    reference: Ref,
    /// Present when the element was not found by its own object.
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<IdentityOut>,
    /// What it is called after the action, when that is not what it was called before.
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed: Option<String>,
}

/// How sure it is that what was acted on is what the ref was given to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IdentityOut {
    confidence: f64,
    reason: &'static str,
}

impl TargetOut {
    pub(super) fn of(cx: &Cx, target: &ElementTarget) -> Result<Self> {
        // A line that was read is known by what it says, and by nothing else.
        let identity = target.certainty().filter(|_| !target.view.was_read());
        Ok(Self {
            window_uid: target.chosen.window.uid.clone(),
            element_id: target.element_id(),
            selector: target.selector(),
            bounds: target.bounds(),
            reference: target.show_ref(cx.observer())?,
            identity: identity.map(|it| IdentityOut { confidence: it.confidence, reason: it.reason }),
            renamed: None,
        })
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WindowMoment {
    tree_hash: String,
    focused_selector: String,
}

impl Output for Receipt {
    fn take_outline(&mut self) -> Option<String> {
        self.entries.take()
    }

    fn changed(&self) -> Option<bool> {
        Some(self.changed)
    }
}

impl WindowMoment {
    fn of(view: &View) -> Self {
        Self { tree_hash: view.hash().to_owned(), focused_selector: view.focused_selector() }
    }

    /// The window went away with the action, or could not be looked at after it.
    fn unseen() -> Self {
        Self { tree_hash: String::new(), focused_selector: String::new() }
    }
}

/// Sends the input that `act` makes for the gate's target and its point, and compares before and after.
fn act_on_target(
    cx: &mut Cx,
    permit: Permit,
    action: &'static str,
    asked: Option<Delivery>,
    act: impl FnOnce(&ElementTarget, Point) -> Act,
) -> Result<Receipt> {
    act_and_stay(cx, permit, action, asked, Duration::ZERO, act)
}

/// The same, with some time between the input and the look at what it did.
fn act_and_stay(
    cx: &mut Cx,
    mut permit: Permit,
    action: &'static str,
    asked: Option<Delivery>,
    stay: Duration,
    act: impl FnOnce(&ElementTarget, Point) -> Act,
) -> Result<Receipt> {
    let target = permit.target().and_then(Target::element).cloned();
    let target = target.ok_or_else(|| Error::internal("the gate resolved no target"))?;
    cx.warning = target.chosen.warning.clone();
    let began = cx.clock().now();
    let mut receipt = Receipt::of_target(cx, action, &target, permit.dry_run())?;
    if permit.dry_run() {
        // It sends nothing, but is refused as the real one would be.
        let act = act(&target, target.bounds().center());
        cx.observer().send_input(&mut permit, &act, cx.cancel)?;
        return Ok(receipt);
    }
    if handle(&target).is_none() {
        // Then only its place is left to click.
        cx.observer().require_places("to click what the application does not expose as an element")?;
    }
    let before = BeforeInput { desktop: cx.desktop()?, generation: cx.observer().generation()? };
    let at = target.at().unwrap_or(target.bounds().center());
    let delivery = delivery_to(cx, &target, asked)?;
    let done = cx.observer().deliver_input(&mut permit, &act(&target, at), delivery, cx.cancel);
    let done = done.map_err(|error| name_target(error, &target))?;
    if !stay.is_zero() {
        cx.clock().sleep(stay, cx.cancel)?;
    }
    let after = look_when_settled(cx, &target, &before, InputSettling::of(&done));
    receipt.note_done(cx, done);
    match seen_after(cx, after)? {
        Some(after) => receipt.note_changes(cx, &target, &before, after),
        None => receipt.after = WindowMoment::unseen(),
    }
    receipt.duration_ms = millis(cx.clock().now().saturating_sub(began));
    Ok(receipt)
}

impl Receipt {
    /// What is known before anything is sent.
    fn of_target(cx: &Cx, action: &'static str, target: &ElementTarget, dry_run: bool) -> Result<Self> {
        let before = WindowMoment::of(&target.view);
        Ok(Self {
            action,
            dry_run,
            target: TargetOut::of(cx, target)?,
            after: before.clone(),
            before,
            changed: false,
            new_dialogs: Vec::new(),
            duration_ms: 0,
            route: None,
            in_background: false,
            raised: false,
            verified: false,
            note: None,
            scenario_reaction: false,
            entries: None,
        })
    }

    fn note_done(&mut self, cx: &Cx, done: Done) {
        self.note = done.note.filter(|_| !cx.observer().facts().is_mock);
        self.route = Some(done.route);
        self.verified = done.verified;
        self.scenario_reaction = done.reacted;
    }

    fn note_changes(&mut self, cx: &Cx, target: &ElementTarget, before: &BeforeInput, after: AfterInput) {
        self.new_dialogs = after.new_dialogs(cx, before);
        // Who asks for the focus is content with it.
        self.changed = match self.action == FocusElement::META.name {
            true => after.differs_at_all(target),
            false => after.differs_from(target) || after.has_closed_one_of(&before.desktop),
        };
        let was_behind = !target.chosen.window.focused;
        self.raised = was_behind && after.is_in_front(&target.chosen.window.uid);
        self.in_background = was_behind && !self.raised && self.route == Some(Route::Accessibility);
        self.after = match after.view {
            Some(view) => {
                self.verified |= cx.is_step && has_switched(target, &view);
                self.entries = opened_entries(cx, target, &view);
                self.target.renamed = cx.observer().new_label(self.target.reference, &target.chosen, &view);
                WindowMoment::of(&view)
            }
            None => WindowMoment::unseen(),
        };
    }
}

/// Whether something that is on or off is the other now: that is what clicking it was for.
fn has_switched(target: &ElementTarget, after: &View) -> bool {
    let before = &target.view.tree()[target.node];
    let native = target.view.native_handle(target.node).filter(|_| before.role.is_ticked());
    let Some(native) = native.filter(|_| before.selected.is_some()) else { return false };
    let again = (0..after.tree().len()).find(|&node| after.native_handle(node).as_ref() == Some(&native));
    again.is_some_and(|node| after.tree()[node].selected.is_some_and(|now| Some(now) != before.selected))
}

const MOST_ENTRIES: usize = 12;

/// The entries of a menu that an input opened, for a model that reads lines. A list of steps tells all that changed.
fn opened_entries(cx: &Cx, target: &ElementTarget, view: &View) -> Option<String> {
    if !cx.lean || cx.in_list {
        return None;
    }
    let options = OutlineOptions { counts_gone: true, ..OutlineOptions::default() };
    let changes = cx.observer().outline_changes(&target.chosen, (&target.view, view), &options).ok()?;
    let sign = format!(" {} ", Role::MenuItem.name());
    let entries: Vec<&str> =
        changes.text.lines().filter(|line| line.starts_with('+') && line.contains(&sign)).collect();
    let more = entries.len().saturating_sub(MOST_ENTRIES);
    let counted = (more > 0).then(|| format!("… {more} more entries; look shows them"));
    let shown = entries.into_iter().take(MOST_ENTRIES).map(str::to_owned);
    let lines: Vec<String> = shown.chain(counted).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The desktop before an input.
pub(super) struct BeforeInput {
    pub desktop: Arc<DesktopState>,
    /// What the platform had counted by then.
    pub generation: u64,
}

/// The desktop after an input, and the target's window in it; no view when the input closed it.
pub(super) struct AfterInput {
    desktop: Arc<DesktopState>,
    view: Option<Arc<View>>,
}

impl AfterInput {
    pub fn new_dialogs(&self, cx: &Cx, before: &BeforeInput) -> Vec<Dialog> {
        new_dialogs(before.desktop.windows(), cx.observer().shown_windows(&self.desktop))
    }

    /// Whether a window that was open is so no more, the target's or another.
    pub fn has_closed_one_of(&self, before: &DesktopState) -> bool {
        let is_open = |uid: &str| self.desktop.windows().iter().any(|window| window.uid == uid);
        before.windows().iter().any(|window| !is_open(&window.uid))
    }

    fn is_in_front(&self, uid: &str) -> bool {
        self.desktop.windows().iter().any(|window| window.focused && window.uid == uid)
    }

    /// Whether the input has changed anything. That what was clicked has the focus now says nothing; into a field go the
    /// keys from now on.
    pub fn differs_from(&self, target: &ElementTarget) -> bool {
        let Some(view) = &self.view else { return true };
        let element = &target.view.tree()[target.node];
        match element.editable || element.role.takes_text() {
            true => view.differs_from(&target.view),
            false => view.differs_beside_focus_of(&target.view, target.node),
        }
    }

    fn differs_at_all(&self, target: &ElementTarget) -> bool {
        self.view.as_ref().is_none_or(|view| view.differs_from(&target.view))
    }
}

/// What was sent, as far as it is still to be waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputSettling {
    pub within: Duration,
    rests: bool,
    comes_late: bool,
}

impl InputSettling {
    pub fn of(done: &Done) -> Self {
        Self { within: done.settles_in, rests: done.rests, comes_late: done.comes_late }
    }
}

/// For what an application tells of after it rests.
const AFTER_REST: Duration = Duration::from_millis(40);

/// Looks once there is something to see: applications take their time, and "done" only says that they were
/// asked. Where nothing comes of the input, the time is waited for. Each try is a look of its own.
pub(super) fn look_when_settled(
    cx: &Cx,
    target: &ElementTarget,
    before: &BeforeInput,
    settling: InputSettling,
) -> Result<AfterInput> {
    let mut deadline = cx.clock().now() + settling.within;
    let mut generation = before.generation;
    // An application that rests has told what there is to tell, if it told anything.
    let mut is_told = settling.rests && cx.observer().note_rest()? != before.generation;
    loop {
        let left = deadline.saturating_sub(cx.clock().now());
        let waits = (left, settling.comes_late);
        let rests = match settling.comes_late && cx.is_step {
            // What comes late comes at once, and the end of the list waits for what follows it.
            true => cx.observer().await_change(generation, left, cx.cancel).map(|()| false)?,
            false => !is_told && cx.observer().await_effect(&target.chosen, generation, waits, cx.cancel)?,
        };
        if rests && !settling.comes_late {
            deadline = deadline.min(cx.clock().now() + AFTER_REST);
        }
        is_told = false;
        generation = cx.observer().generation()?;
        let after = look_again(cx, target)?;
        let has_come = after.differs_from(target) || !after.desktop.has_same_windows(&before.desktop);
        if has_come || cx.clock().now() >= deadline {
            cx.observer().note_effect_seen();
            cx.observer().keep_look(&after.desktop);
            return Ok(after);
        }
    }
}

/// The target's window as it is now.
fn look_again(cx: &Cx, target: &ElementTarget) -> Result<AfterInput> {
    let desktop = cx.observer().desktop()?;
    let same_window = WindowChoice { uid: Some(target.chosen.window.uid.clone()), ..WindowChoice::default() };
    let view = match cx.observer().choose_in(&desktop, &same_window) {
        Ok(chosen) => Some(read_alike(cx, &chosen, target)?),
        Err(error) if error.kind == Kind::WindowGone => None,
        Err(error) => return Err(error),
    };
    // A dialog that opened while the tree was read came of the input too, and so did the end of the window.
    let desktop = cx.observer().desktop_since(&desktop)?;
    let is_open = desktop.windows().iter().any(|window| window.uid == target.chosen.window.uid);
    Ok(AfterInput { desktop, view: view.filter(|_| is_open) })
}

/// Only what was read in the same way can be compared.
fn read_alike(cx: &Cx, chosen: &ResolvedWindow, target: &ElementTarget) -> Result<Arc<View>> {
    let view = cx.observer().view_in_look(chosen, cx.cancel)?;
    if target.view.was_read() && view.is_dark() {
        return cx.observer().view_by_reading(chosen, &view, cx.cancel);
    }
    Ok(view)
}

/// The arguments of a tool that needs an element and nothing else.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct OnElement {
    #[serde(flatten)]
    element: ElementArgs,
    #[serde(flatten)]
    window: QuietWindowArgs,
    #[serde(flatten)]
    delivery: DeliveryArgs,
}

impl OnElement {
    fn targets(&self, cx: &Cx) -> Result<Vec<Target>> {
        let reach = Reach::in_place(self.delivery.delivery);
        actionable_target(cx, &self.window, &self.element, reach)
    }

    /// The same for what takes the pointer or the keyboard.
    fn targets_in_front(&self, cx: &Cx) -> Result<Vec<Target>> {
        let reach = Reach::in_front(self.delivery.delivery);
        actionable_target(cx, &self.window, &self.element, reach)
    }

    /// With what else the input may reach from the element that is meant.
    fn targets_and(
        &self,
        cx: &Cx,
        more: impl FnOnce(&ElementTarget) -> Result<Vec<Target>>,
    ) -> Result<Vec<Target>> {
        let mut targets = self.targets(cx)?;
        let meant = targets.first().and_then(Target::element);
        let others = meant.map_or_else(|| Ok(Vec::new()), more)?;
        targets.extend(others);
        Ok(targets)
    }
}

/// What the tools below have in common; each says what differs.
const ACTING: Meta = Meta {
    group: Group::Elements,
    effect: Effect::Input,
    implies: &["click_at"],
    verify: &["ok", "error.code", "target.selector", "changed"],
    ..Meta::DEFAULT
};

/// A platform goes to the element itself; where it has no handle for it, a click has to do.
fn act_directly(target: &ElementTarget, at: Point, act: impl FnOnce(Handle) -> Act) -> Act {
    match handle(target) {
        Some(element) => act(element),
        None => click_act(target, at, Button::Left, 1),
    }
}

fn click_act(target: &ElementTarget, at: Point, button: Button, count: u32) -> Act {
    Act::Click { element: handle(target), at: Some(at), button, count, modifiers: Vec::new() }
}

pub struct FocusElement;

impl Tool for FocusElement {
    type Args = OnElement;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "focus_element",
        lists_dry_run: true,
        rest: &[(Method::Post, "/api/element/focus")],
        brief: "Give an element the keyboard focus.",
        detail: "Keys and text go to it from then on. The receipt's `after.focused_selector` says which \
                 element has it.",
        examples: &[Example {
            scenario: Some("scenarios/login.yaml"),
            args: r#"{"selector":"//Edit[name=\"Password\"]"}"#,
            shows: "the password field is ready for typing",
        }],
        input: Some(RecordedInput::new(InputKind::Focus, InputAim::Element)),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &OnElement) -> Result<Vec<Target>> {
        args.targets_in_front(cx)
    }

    fn run(cx: &mut Cx, args: OnElement, permit: Permit) -> Result<Receipt> {
        act_on_target(cx, permit, "focus_element", args.delivery.delivery, |target, at| {
            act_directly(target, at, |element| Act::Focus { element })
        })
    }
}

pub struct InvokeElement;

impl Tool for InvokeElement {
    type Args = OnElement;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "invoke_element",
        lists_dry_run: true,
        rest: &[(Method::Post, "/api/element/invoke")],
        brief: "Trigger an element's own action, without the pointer where possible.",
        detail: "A button is pressed, a link followed, a check box toggled. `route` says which input route was used.",
        examples: &[Example {
            scenario: Some("scenarios/wizard.yaml"),
            args: r#"{"selector":"//Button[name=\"Next\"]"}"#,
            shows: "the wizard continues",
        }],
        input: Some(RecordedInput::new(InputKind::Invoke, InputAim::Element)),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &OnElement) -> Result<Vec<Target>> {
        args.targets(cx)
    }

    fn run(cx: &mut Cx, args: OnElement, permit: Permit) -> Result<Receipt> {
        act_on_target(cx, permit, "invoke_element", args.delivery.delivery, |target, at| {
            act_directly(target, at, |element| Act::Invoke { element })
        })
    }
}

pub struct RightClickElement;

impl Tool for RightClickElement {
    type Args = OnElement;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "right_click_element",
        rest: &[(Method::Post, "/api/element/right_click")],
        brief: "Right-click an element, for its context menu.",
        detail: "The receipt's action is `click_element`.",
        examples: &[Example {
            scenario: None,
            args: r#"{"selector":"Window/Document"}"#,
            shows: "a right click on the document",
        }],
        verify: &["ok"],
        input: Some(RecordedInput::new(InputKind::RightClick, InputAim::Element)),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &OnElement) -> Result<Vec<Target>> {
        args.targets_in_front(cx)
    }

    fn run(cx: &mut Cx, args: OnElement, permit: Permit) -> Result<Receipt> {
        act_on_target(cx, permit, "click_element", args.delivery.delivery, |target, at| {
            click_act(target, at, Button::Right, 1)
        })
    }
}

pub struct DoubleClickElement;

impl Tool for DoubleClickElement {
    type Args = OnElement;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "double_click_element",
        rest: &[(Method::Post, "/api/element/double_click")],
        brief: "Double-click an element.",
        detail: "The receipt's action is `click_element`.",
        examples: &[Example {
            scenario: None,
            args: r#"{"selector":"Window/Document"}"#,
            shows: "a double click on the document",
        }],
        verify: &["ok"],
        input: Some(RecordedInput::new(InputKind::DoubleClick, InputAim::Element)),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &OnElement) -> Result<Vec<Target>> {
        args.targets_in_front(cx)
    }

    fn run(cx: &mut Cx, args: OnElement, permit: Permit) -> Result<Receipt> {
        act_on_target(cx, permit, "click_element", args.delivery.delivery, |target, at| {
            click_act(target, at, Button::Left, 2)
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct HoverArgs {
    #[serde(flatten)]
    on: OnElement,
    /// How long to stay; default 250.
    hover_ms: Option<Int<0, 9999>>,
}

pub struct HoverElement;

impl Tool for HoverElement {
    type Args = HoverArgs;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "hover_element",
        rest: &[(Method::Post, "/api/hover")],
        brief: "Move the pointer over an element and keep it there, for tooltips and menus.",
        detail: "What appears is in the receipt's `changed` and `new_dialogs`.",
        examples: &[Example {
            scenario: None,
            args: r#"{"selector":"Window/MenuBar/MenuItem[name=\"Edit\"]","hover_ms":1}"#,
            shows: "the pointer rests on a menu",
        }],
        implies: &["hover_at"],
        verify: &["ok"],
        input: Some(RecordedInput::new(InputKind::Hover, InputAim::Element)),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &HoverArgs) -> Result<Vec<Target>> {
        args.on.targets_in_front(cx)
    }

    fn run(cx: &mut Cx, args: HoverArgs, permit: Permit) -> Result<Receipt> {
        let stay = Duration::from_millis(args.hover_ms.map_or(250, Int::as_usize) as u64);
        act_and_stay(cx, permit, "hover_element", args.on.delivery.delivery, stay, |target, at| Act::Hover {
            element: handle(target),
            at: Some(at),
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct SetValueArgs {
    #[serde(flatten)]
    on: OnElement,
    /// New value, or {"secret":"NAME"}.
    value: SecretOr<Text<{ limits::TYPED_TEXT_CHARACTERS }>>,
    /// False: append instead; default true.
    clear_first: Option<bool>,
}

pub struct SetValue;

impl Tool for SetValue {
    type Args = SetValueArgs;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "set_value",
        lists_dry_run: true,
        lean: true,
        web: true,
        rest: &[(Method::Post, "/api/element/set_value")],
        brief: "Set the value of a field or slider directly; replaces the old value.",
        detail: "The value is set through accessibility; where that is not possible, the element is focused \
                 and typed into.",
        examples: &[Example {
            scenario: Some("scenarios/login.yaml"),
            args: r#"{"selector":"//Edit[name=\"Username\"]","value":"alice"}"#,
            shows: "a name in its field",
        }],
        implies: &["click_at", "type_text"],
        input: Some(
            RecordedInput::new(InputKind::SetValue, InputAim::Element)
                .with_text(InputText::Argument("value")),
        ),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &SetValueArgs) -> Result<Vec<Target>> {
        let text = args.value.reveal_secret(cx)?;
        let append = args.clear_first == Some(false);
        args.on.targets_and(cx, |target| {
            let reached = cx.judged_text_into(target, text);
            refuse_lines_to_append(cx, target, text, append && reached.is_empty())?;
            Ok(reached)
        })
    }

    fn run(cx: &mut Cx, args: SetValueArgs, permit: Permit) -> Result<Receipt> {
        let text = args.value.reveal_secret(cx)?.to_owned();
        let append = args.clear_first == Some(false);
        act_on_target(cx, permit, "set_value", args.on.delivery.delivery, |target, at| {
            act_directly(target, at, |element| match append {
                true => Act::Type { element: Some(element), window_uid: None, text },
                false => Act::SetValue { element, text },
            })
        })
    }
}

pub struct ClearText;

impl Tool for ClearText {
    type Args = OnElement;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "clear_text",
        rest: &[(Method::Post, "/api/element/clear_text")],
        brief: "Empty a text field.",
        detail: "The same as set_value with an empty string.",
        examples: &[Example {
            scenario: Some("scenarios/login.yaml"),
            args: r#"{"selector":"//Edit[name=\"Username\"]"}"#,
            shows: "an empty field",
        }],
        implies: &["click_at", "type_text"],
        verify: &["ok"],
        input: Some(RecordedInput::new(InputKind::ClearText, InputAim::Element)),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &OnElement) -> Result<Vec<Target>> {
        args.targets(cx)
    }

    fn run(cx: &mut Cx, args: OnElement, permit: Permit) -> Result<Receipt> {
        act_on_target(cx, permit, "clear_text", args.delivery.delivery, |target, at| {
            act_directly(target, at, |element| Act::SetValue { element, text: String::new() })
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct KeyArgs {
    #[serde(flatten)]
    on: OnElement,
    /// Key or combination: enter, ctrl+a.
    keys: Text<64>,
}

pub struct KeyIntoElement;

impl Tool for KeyIntoElement {
    type Args = KeyArgs;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "key_into_element",
        rest: &[(Method::Post, "/api/element/key")],
        brief: "Focus an element and press a key or combination there.",
        detail: "Modifiers come first, joined by `+`, as for press_key.",
        examples: &[Example {
            scenario: None,
            args: r#"{"selector":"Window/Document","keys":"end"}"#,
            shows: "the end key in the document",
        }],
        implies: &["click_at", "press_key", "type_text"],
        verify: &["ok"],
        input: Some(
            RecordedInput::new(InputKind::KeyIntoElement, InputAim::Element)
                .with_text(InputText::Keys("keys")),
        ),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &KeyArgs) -> Result<Vec<Target>> {
        let keys = parse_combination(args.keys.as_str())?;
        args.on.targets_and(cx, |target| cx.judged_keys_into(target, &keys))
    }

    fn run(cx: &mut Cx, args: KeyArgs, permit: Permit) -> Result<Receipt> {
        let keys = parse_combination(args.keys.as_str())?;
        act_on_target(cx, permit, "key_into_element", args.on.delivery.delivery, |target, _| Act::Key {
            element: handle(target),
            window_uid: None,
            keys,
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct SelectArgs {
    #[serde(flatten)]
    on: OnElement,
    /// Name of the option.
    option_name: Option<Text<2048>>,
    /// Or its place from 0.
    option_index: Option<Int<0, 9999>>,
}

impl SelectArgs {
    fn option_choice(&self) -> Result<OptionChoice> {
        match (&self.option_name, self.option_index) {
            (Some(name), _) => Ok(OptionChoice::Name(name.as_str().to_owned())),
            (None, Some(index)) => Ok(OptionChoice::Index(index.as_usize())),
            (None, None) => Err(Error::bad_request("option_name or option_index is required")),
        }
    }
}

/// Whether there is anything to choose in an element.
fn holds_options(target: &ElementTarget) -> bool {
    let (tree, node) = (target.view.tree(), target.node);
    (node + 1..tree.end(node)).any(|inner| tree[inner].role.is_option()) || tree[node].expanded.is_some()
}

/// A field is no list, whatever option is asked for.
fn check_has_options(target: &ElementTarget) -> Result<()> {
    if target.view.tree()[target.node].role != Role::Edit || holds_options(target) {
        return Ok(());
    }
    let message = "this is a field and no list: it has no options; set_value writes into it";
    Err(target_error(Kind::BadRequest, message, target))
}

/// A button of a page that says of itself that something opens by it.
fn opens_list(target: &ElementTarget) -> bool {
    let element = &target.view.tree()[target.node];
    target.chosen.window.url.is_some() && element.role == Role::Button && element.expanded.is_some()
}

/// On a real desktop the look for the options of a button would press it. The contract's mock serves it.
fn check_is_list(target: &ElementTarget) -> Result<()> {
    let role = &target.view.tree()[target.node].role;
    if !role.acts_by_itself() || (holds_options(target) && *role != Role::MenuItem) || opens_list(target) {
        return Ok(());
    }
    let message = format!(
        "this is a {role} and no list: it has no options; click_element works it, and nothing was pressed"
    );
    Err(target_error(Kind::PatternUnsupported, &message, target))
}

pub struct SelectOption;

impl Tool for SelectOption {
    type Args = SelectArgs;
    type Out = Receipt;
    const META: Meta = Meta {
        name: "select_option",
        lists_dry_run: true,
        lean: true,
        rest: &[(Method::Post, "/api/element/select")],
        brief: "Choose an option of a list, combo box or group, by name or index.",
        detail: "If there is no such option, the error lists the available ones.",
        examples: &[Example {
            scenario: Some("scenarios/form.yaml"),
            args: r#"{"selector":"//ComboBox[name=\"Category\"]","option_name":"Meals"}"#,
            shows: "another category",
        }],
        input: Some(
            RecordedInput::new(InputKind::SelectOption, InputAim::Element)
                .with_text(InputText::Argument("option_name")),
        ),
        ..ACTING
    };

    fn targets(cx: &Cx, args: &SelectArgs) -> Result<Vec<Target>> {
        let name = match args.option_choice()? {
            OptionChoice::Name(name) => Some(name),
            OptionChoice::Index(_) => None,
        };
        args.on.targets_and(cx, |target| {
            check_has_options(target)?;
            if !cx.observer().facts().is_mock {
                check_is_list(target)?;
            }
            Ok(cx.judged_option(target, name.as_deref()))
        })
    }

    fn run(cx: &mut Cx, args: SelectArgs, permit: Permit) -> Result<Receipt> {
        let option = args.option_choice()?;
        act_on_target(cx, permit, "select_option", args.on.delivery.delivery, |target, at| {
            act_directly(target, at, |element| Act::Select { element, option: Some(option) })
        })
    }
}

pub const TOOLS: &[Spec] = &[
    Spec::of::<ClickElement>(),
    Spec::of::<FocusElement>(),
    Spec::of::<InvokeElement>(),
    Spec::of::<SetValue>(),
    Spec::of::<ClearText>(),
    Spec::of::<SelectOption>(),
    Spec::of::<KeyIntoElement>(),
    Spec::of::<RightClickElement>(),
    Spec::of::<DoubleClickElement>(),
    Spec::of::<HoverElement>(),
];
