//! The facade over a platform: windows chosen, trees captured and shown, pictures taken, inputs sent.
//!
//! What leaves here is what may be seen: texts are cleaned and redacted before anything is rendered
//! from them. Acting takes a [`Permit`], which only the gate can make.

mod app_grants;
mod cache;
mod changes;
pub mod choices;
pub mod describe;
mod desktop;
pub mod enter;
mod evaluation;
pub mod find;
mod find_row;
mod follow;
pub mod identity;
mod observe;
mod ocr;
pub mod outline;
pub mod page_text;
mod pages;
mod permit;
pub mod predicate;
mod press_guard;
mod region;
mod resolve;
pub mod screenshots;
mod secret_fields;
pub mod sketch;
mod snapshot;
mod status;
pub mod structure;
mod target;
mod text;
pub mod text_match;
mod tree_tokens;
mod typed_secrets;
mod view;
pub mod vision;
pub mod wait;
mod window_ops;

use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use app_grants::{AppGrants, WITHHELD_TITLE};
pub use cache::{CacheCounters, CaptureStats};
pub use changes::{Changes, DiffFormat};
pub use desktop::DesktopState;
pub use evaluation::Evaluation;
pub use follow::DesktopDigest;
pub use identity::{Ref, Refs};
pub use observe::{Observation, ObserveRequest, Perf, observe_window};
pub use ocr::{Care, OcrScene, Readable, Spotted};
pub use permit::Permit;
pub use press_guard::ConsentRules;
pub use resolve::{ElementChoice, ResolvedWindow, SeveralMatches, WindowChoice};
pub use snapshot::Snapshot;
pub use target::{ElementTarget, Starting, Target, TargetOrigin};
pub use text::one_line;
pub use tree_tokens::TreeTokens;
pub use view::View;
pub use window_ops::{WindowOperation, WindowQuery, WindowWait};

use app_grants::Guarded;
use identity::{RefLookup, WindowCapture};
use press_guard::SecondLook;
use region::InputRegion;

use crate::budget::pictures::{PictureBudget, PictureRoom};
use crate::clock::{Cancel, Clock, lock};
use crate::config::limits;
use crate::error::{Error, Kind, Result};
use crate::model::geometry::visible_regions;
use crate::model::input::{Act, Delivery, Handle};
use crate::model::tree::Bounds;
use crate::model::{Point, Rect, Tree, Window, visibility};
use crate::ocr::Ocr;
pub use crate::platform::PressKind;
use crate::platform::{Activation, Claimant, Coordinates, Done, FieldText, Patience, Platform, Shot, Wake};
use crate::privacy::redact::Redactor;
use crate::privacy::untrusted::clean_text;

/// After the last of a burst of changes a window is worth looking at.
const CALM: Duration = Duration::from_millis(40);

/// An application that goes on for longer is busy with something else than what it was sent.
const TO_REST: Duration = Duration::from_millis(300);

/// For so long an application may have paused over what keys began.
const AFTER_KEYS: Duration = Duration::from_millis(80);

/// A picture of what moves is taken so often at most.
const MOST_PICTURES: u32 = 3;

/// Dialogs of dialogs; more would be a circle.
const MOST_OWNERS: usize = 8;

const LARGEST_TREE: Bounds = Bounds {
    elements: limits::TREE_NODES,
    depth: limits::TREE_DEPTH,
    children: limits::TREE_CHILDREN_OF_ONE_NODE,
};

pub struct Observer {
    platform: Arc<dyn Platform>,
    /// The same platform where applications are withheld.
    guard: Option<Arc<Guarded>>,
    clock: Clock,
    redactor: Arc<Redactor>,
    cache: Mutex<cache::Cache>,
    refs: Refs,
    ocr: Ocr,
    region: InputRegion,
    pictures: PictureBudget,
    typed: Mutex<typed_secrets::TypedSecret>,
    secret_fields: Mutex<secret_fields::SecretFields>,
    /// The windows as they were last listed.
    listed: Mutex<Vec<Window>>,
    calm: Mutex<Option<CalmSince>>,
    unseen: Mutex<Option<UnseenEffect>>,
    kept: Mutex<Option<desktop::KeptLook>>,
}

/// When somebody began to wait in vain for a change, and what had been counted by then.
#[derive(Clone, Copy, Debug)]
struct CalmSince {
    generation: u64,
    since: Duration,
}

/// What may still come of the last input, while nobody has looked for it.
#[derive(Clone, Copy, Debug)]
struct UnseenEffect {
    /// What had been counted before the input.
    generation: u64,
    within: Duration,
    comes_late: bool,
}

/// A view and where it came from.
#[derive(Clone, Debug)]
pub struct CachedLook {
    pub view: Arc<View>,
    pub cached: bool,
}

/// The desktop is this process's.
pub struct DesktopClaim<'a> {
    observer: &'a Observer,
    claimant: Claimant,
}

impl Drop for DesktopClaim<'_> {
    fn drop(&mut self) {
        self.observer.platform.input().give_back(&self.claimant);
    }
}

impl Observer {
    pub fn new(
        platform: Arc<dyn Platform>,
        clock: Clock,
        redactor: Arc<Redactor>,
        cache_ttl: Duration,
    ) -> Self {
        let ocr = Ocr::new(Default::default(), clock.clone());
        let cache = Mutex::new(cache::Cache::new(cache_ttl));
        let (refs, region, pictures) = Default::default();
        let (typed, secret_fields, listed) = (Mutex::default(), Mutex::default(), Mutex::default());
        let guard = None;
        Self {
            platform,
            guard,
            clock,
            redactor,
            cache,
            refs,
            ocr,
            region,
            pictures,
            typed,
            secret_fields,
            listed,
            calm: Mutex::default(),
            unseen: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    /// From here on, windows of applications that these rules withhold are neither seen nor operated.
    pub fn withholding(mut self, grants: Arc<AppGrants>) -> Self {
        let guard = Arc::new(Guarded::new(self.platform, grants));
        self.platform = guard.clone();
        self.guard = Some(guard);
        self
    }

    /// Which applications may be seen and operated, where that is restricted.
    pub fn app_grants(&self) -> Option<&AppGrants> {
        self.guard.as_deref().map(Guarded::grants)
    }

    /// Whether a window may not be seen; nothing of it is in any picture.
    fn is_withheld(&self, window: &Window) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.is_withheld(&window.uid))
    }

    /// What is said of the windows that are black in a picture because they may not be seen.
    pub(crate) fn withheld_note(&self, area: Rect) -> Result<Option<String>> {
        let Some(guard) = &self.guard else { return Ok(None) };
        let place = |at: Rect| format!("{},{} {}x{}", at.x, at.y, at.width, at.height);
        let named: Vec<String> =
            guard.withheld_in(area)?.into_iter().map(|(app, at)| format!("{app} at {}", place(at))).collect();
        Ok((!named.is_empty()).then(|| format!("withheld: {} (black here)", named.join(", "))))
    }

    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub fn refs(&self) -> &Refs {
        &self.refs
    }

    /// Room for pictures that a caller sent along, of which all callers share so much.
    pub fn picture_room(&self, bytes: u64, cancel: &Cancel) -> Result<PictureRoom<'_>> {
        self.pictures.take_room(bytes, cancel)
    }

    /// The refs of elements that a reply is about to show, in the order of `nodes`.
    pub fn show_refs(
        &self,
        chosen: &ResolvedWindow,
        view: &View,
        nodes: impl IntoIterator<Item = usize>,
    ) -> Result<Vec<Ref>> {
        self.remember_window(chosen);
        Ok(self.refs.assign_refs(WindowCapture { window: &chosen.raw, view }, nodes))
    }

    pub fn show_ref(&self, chosen: &ResolvedWindow, view: &View, node: usize) -> Result<Ref> {
        self.remember_window(chosen);
        Ok(self.refs.show_one(WindowCapture { window: &chosen.raw, view }, node))
    }

    /// The ref that an element was shown under, if it was.
    pub fn known_ref(&self, chosen: &ResolvedWindow, view: &View, node: usize) -> Option<Ref> {
        self.refs.existing_ref(WindowCapture { window: &chosen.raw, view }, node)
    }

    /// The element that a ref was found to mean goes on under it.
    pub fn rebind_ref(&self, reference: Ref, target: &ElementTarget) -> Result<()> {
        self.remember_window(&target.chosen);
        let sight = WindowCapture { window: &target.chosen.raw, view: &target.view };
        self.refs.bind_ref(reference, sight, target.node);
        Ok(())
    }

    /// What an element that was just acted on is called now, if it is called otherwise: `Button "Pause"`. Who is
    /// told so knows it, and may go on under the same ref.
    pub fn new_label(&self, reference: Ref, chosen: &ResolvedWindow, view: &View) -> Option<String> {
        let sight = WindowCapture { window: &chosen.raw, view };
        let memory = self.refs.remembered(reference)?;
        let RefLookup::Changed(node) = self.refs.find_again(&memory, sight) else {
            return None;
        };
        self.refs.bind_ref(reference, sight, node);
        Some(identity::element_label(&view.tree()[node]))
    }

    fn remember_window(&self, chosen: &ResolvedWindow) {
        if !self.refs.knows_window(&chosen.raw.uid) {
            self.refs.meet_window(&chosen.raw, chosen.desktop.windows());
        }
    }

    /// All windows, with the titles that may be shown.
    pub fn windows(&self) -> Result<Vec<Window>> {
        Ok(self.platform.desktop().windows()?.into_iter().map(|window| self.shown_window(window)).collect())
    }

    fn shown_window(&self, mut window: Window) -> Window {
        window.title = self.redactor.window_title(&window).into_owned();
        window.url = window.url.map(|url| self.redactor.window_url(&url));
        // A process names itself too, and a text that is written around it would keep half of a terminal code.
        window.process = clean_text(&window.process).into_owned();
        window
    }

    /// What the window shows, read now or within the cache's time.
    pub fn look_at(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<CachedLook> {
        if let Some(view) = lock(&self.cache).get(&chosen.raw.uid, self.cache_now()?) {
            return Ok(CachedLook { view, cached: true });
        }
        Ok(CachedLook { view: self.fresh_view(chosen, cancel)?, cached: false })
    }

    /// What the window shows, read now. Actions always use this: a cached tree may be two seconds old.
    pub fn fresh_view(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Arc<View>> {
        self.view_within(limits::TREE_WALK_TIME, chosen, cancel)
    }

    fn view_within(&self, whole: Duration, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Arc<View>> {
        let patience = Patience { per_call: limits::PLATFORM_CALL_TIME, whole, cancel: cancel.clone() };
        let generation = self.platform.watch().generation()?;
        let view = self.capture_view(&chosen.raw, &patience)?;
        let now = cache::Now { time: self.clock.now(), generation };
        lock(&self.cache).insert_view(&chosen.raw.uid, &view, now);
        Ok(view)
    }

    /// The window for those who only need to know which element has the focus: the rest may be that of an earlier look,
    /// so that it is not kept.
    pub fn focus_view(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Arc<View>> {
        let began = self.clock.now();
        let (per_call, whole) = (limits::PLATFORM_CALL_TIME, limits::TREE_WALK_TIME);
        let patience = Patience { per_call, whole, cancel: cancel.clone() };
        let tree = self.platform.accessibility().focus_tree(&chosen.raw, &patience)?.within(LARGEST_TREE);
        Ok(self.view_of(&chosen.raw, tree, began, false))
    }

    fn cache_now(&self) -> Result<cache::Now> {
        Ok(cache::Now { time: self.clock.now(), generation: self.platform.watch().generation()? })
    }

    fn capture_view(&self, window: &Window, patience: &Patience) -> Result<Arc<View>> {
        let began = self.clock.now();
        // An adapter holds itself to the limits while it reads; nobody else has to rely on that.
        let raw = self.platform.accessibility().tree(window, patience)?.within(LARGEST_TREE);
        Ok(self.view_of(window, raw, began, true))
    }

    fn view_of(&self, window: &Window, mut raw: Tree, began: Duration, is_whole: bool) -> Arc<View> {
        visibility::mark(&mut raw);
        lock(&self.secret_fields).mark(&window.uid, &mut raw);
        self.redactor.learn_secrets_of(&raw);
        lock(&self.secret_fields).veil_values(&window.uid, &mut raw, is_whole);
        let raw = Arc::new(raw);
        let took = self.clock.now().saturating_sub(began);
        let shown = self.redactor.shown(&raw, window);
        Arc::new(View::new(raw, shown.tree, took, self.clock.wall_time()))
    }

    /// Every window and, where it can be read in `time`, what it shows. It takes cached trees and leaves
    /// none behind, so that being traced changes nothing for the calls that come after.
    pub fn glance_all(&self, time: Duration, cancel: &Cancel) -> Vec<(Window, Option<Arc<View>>)> {
        let windows = self.platform.desktop().windows().unwrap_or_default();
        let deadline = self.clock.now() + time;
        let mut order: Vec<usize> = (0..windows.len()).collect();
        // The focused window matters most, should the time run out.
        order.sort_by_key(|&index| !windows[index].focused);
        let mut views: Vec<Option<Arc<View>>> = vec![None; windows.len()];
        for index in order {
            views[index] = self.glance_at(&windows[index], deadline, cancel);
        }
        windows.into_iter().map(|window| self.shown_window(window)).zip(views).collect()
    }

    fn glance_at(&self, window: &Window, deadline: Duration, cancel: &Cancel) -> Option<Arc<View>> {
        let now = self.clock.now();
        let known = self.cache_now().ok().and_then(|now| lock(&self.cache).peek_view(&window.uid, now));
        if let Some(view) = known {
            return Some(view);
        }
        let whole = deadline.checked_sub(now).filter(|left| !left.is_zero())?;
        let patience = Patience { per_call: limits::PLATFORM_CALL_TIME, whole, cancel: cancel.clone() };
        self.capture_view(window, &patience).ok()
    }

    pub fn forget_all(&self) {
        lock(&self.cache).clear();
    }

    pub fn capture_stats(&self) -> Vec<(String, CaptureStats)> {
        lock(&self.cache).stats()
    }

    pub fn cache_counters(&self) -> CacheCounters {
        lock(&self.cache).counters()
    }

    /// The parts of the window that no other window covers and that lie on the screen, in the look that it was chosen
    /// in.
    pub fn visible_regions(&self, chosen: &ResolvedWindow) -> Result<Vec<Rect>> {
        if chosen.raw.minimized {
            return Ok(Vec::new());
        }
        // What covers it cannot be known then; all of it counts from its own corner.
        if !self.knows_places() {
            return Ok(vec![chosen.raw.bounds]);
        }
        let in_front = chosen.desktop.windows_in_front_of(&chosen.raw.uid, false)?;
        let covers: Vec<Rect> = in_front.iter().map(|window| window.bounds).collect();
        Ok(visible_regions(chosen.raw.bounds, &covers, chosen.desktop.screen()?))
    }

    /// Whether bounds are places on the screen. Where they count from the window's corner, nothing may take them for
    /// places.
    fn knows_places(&self) -> bool {
        self.platform.facts().coordinates == Coordinates::Screen
    }

    /// Refuses what needs to know where windows are, on a desktop that does not tell.
    pub fn require_places(&self, what_for: &str) -> Result<()> {
        if self.knows_places() {
            return Ok(());
        }
        Err(Error::new(
            Kind::PlatformUnsupported,
            format!(
                "this desktop does not report where windows are on the screen, which is needed {what_for}"
            ),
        ))
    }

    /// What a reply with bounds has to say about them.
    pub fn note_on_bounds(&self) -> Option<String> {
        let note = "bounds are relative to the window, not to the screen: this desktop does not report where \
                    windows are, so do not click by coordinates";
        (!self.knows_places()).then(|| note.to_owned())
    }

    /// What a pointer meets at a point: the frontmost window there, or a menu of one that may be elsewhere.
    pub fn hit_test(&self, desktop: &Arc<DesktopState>, point: Point) -> Result<HitTest> {
        let listed = self.listed_window_at(desktop, point)?;
        let Some(menu) = self.platform.desktop().menu_at(point)? else {
            return Ok(HitTest { window: listed, menu: None });
        };
        let owner = desktop.windows().iter().find(|window| Some(&window.uid) == menu.window_uid.as_ref());
        Ok(HitTest {
            window: owner.map(|window| self.resolve_raw(desktop, window, None)),
            menu: Some(menu.bounds),
        })
    }

    /// Whether a menu of the window is open that its tree does not show. One of which nobody can tell counts as open.
    pub fn has_unseen_menu(&self, chosen: &ResolvedWindow, view: &View) -> bool {
        let areas = self.platform.desktop().popup_areas(&chosen.raw);
        areas.map_or(true, |areas| areas.into_iter().any(|area| !view.shows_menu_within(area)))
    }

    /// Where the menus and lists are that a window has open; none where nobody can tell.
    pub fn popup_areas(&self, chosen: &ResolvedWindow) -> Vec<Rect> {
        self.platform.desktop().popup_areas(&chosen.raw).unwrap_or_default()
    }

    /// The window that a pointer works at a point; a menu works the window that opened it.
    pub fn window_at(&self, desktop: &Arc<DesktopState>, point: Point) -> Result<Option<ResolvedWindow>> {
        Ok(self.hit_test(desktop, point)?.window)
    }

    /// The frontmost window under a point, whatever menus lie over it.
    fn listed_window_at(&self, desktop: &Arc<DesktopState>, point: Point) -> Result<Option<ResolvedWindow>> {
        self.require_places("to know what is at a point and to check an input there")?;
        Ok(desktop.front_window_at(point)?.map(|window| self.resolve_raw(desktop, window, None)))
    }

    /// Refuses points that no pointer can reach, before anything moves.
    pub fn check_reachable(&self, point: Point) -> Result<()> {
        match self.platform.desktop().screen()? {
            Some(screen) if !screen.contains(point) => Err(Error::bad_request(format!(
                "the point {},{} is off the screen, which spans {},{} to {},{}",
                point.x,
                point.y,
                screen.x,
                screen.y,
                screen.right() - 1,
                screen.bottom() - 1
            ))
            .with("screen", screen)),
            _ => Ok(()),
        }
    }

    /// Waits for a change since `seen`, at most `at_most`, and then until a moment passes without another.
    pub fn await_calm(&self, mut seen: u64, at_most: Duration, cancel: &Cancel) -> Result<()> {
        let deadline = self.clock.now() + at_most;
        let mut patience = at_most;
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            if left.is_zero() {
                return Ok(());
            }
            let since = self.clock.now();
            match self.platform.watch().wait_change(seen, patience.min(left), cancel)? {
                Wake::Changed => patience = CALM,
                Wake::Elapsed => {
                    *lock(&self.calm) = Some(CalmSince { generation: seen, since });
                    return Ok(());
                }
                Wake::NoEvents => return self.clock.sleep(left, cancel),
            }
            seen = self.platform.watch().generation()?;
        }
    }

    /// Waits for a change since `seen`, at most `at_most`.
    pub fn await_change(&self, seen: u64, at_most: Duration, cancel: &Cancel) -> Result<()> {
        match self.platform.watch().wait_change(seen, at_most, cancel)? {
            Wake::NoEvents => self.clock.sleep(at_most, cancel),
            Wake::Changed | Wake::Elapsed => Ok(()),
        }
    }

    /// An application has come to rest: nothing more is waited for that it told by then. What is counted now.
    pub fn note_rest(&self) -> Result<u64> {
        let generation = self.platform.watch().generation()?;
        let since = self.clock.now().saturating_sub(CALM);
        *lock(&self.calm) = Some(CalmSince { generation, since });
        Ok(generation)
    }

    /// Waits until a moment passes without a change, at most `at_most`.
    pub fn await_quiet(&self, at_most: Duration, cancel: &Cancel) -> Result<()> {
        let deadline = self.clock.now() + at_most;
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            let seen = self.platform.watch().generation()?;
            let rest = CALM.saturating_sub(self.calm_time(seen));
            if rest.is_zero() {
                return Ok(());
            }
            let wake = self.platform.watch().wait_change(seen, rest.min(left), cancel)?;
            if left.is_zero() || !matches!(wake, Wake::Changed) {
                return Ok(());
            }
        }
    }

    /// Waits for a change since `seen`, at most `at_most`, and then until the application of the window rests or a moment
    /// passes without another change; unless it may come late also until it rests and has told of nothing for a moment.
    /// Whether it rests.
    pub fn await_effect(
        &self,
        chosen: &ResolvedWindow,
        seen: u64,
        (at_most, may_come_late): (Duration, bool),
        cancel: &Cancel,
    ) -> Result<bool> {
        let began = self.clock.now();
        let deadline = began + at_most;
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            if left.is_zero() {
                return Ok(false);
            }
            let patience = if may_come_late { left } else { left.min(CALM) };
            match self.platform.watch().wait_change(seen, patience, cancel)? {
                Wake::Changed => return self.await_rest_or_calm(chosen, deadline, cancel),
                Wake::Elapsed if !may_come_late && self.comes_to_rest(chosen, CALM, cancel)? => {
                    return Ok(true);
                }
                Wake::Elapsed => *lock(&self.calm) = Some(CalmSince { generation: seen, since: began }),
                Wake::NoEvents => return self.clock.sleep(left, cancel).map(|()| false),
            }
        }
    }

    fn await_rest_or_calm(
        &self,
        chosen: &ResolvedWindow,
        deadline: Duration,
        cancel: &Cancel,
    ) -> Result<bool> {
        loop {
            let (since, generation) = (self.clock.now(), self.platform.watch().generation()?);
            if self.comes_to_rest(chosen, CALM, cancel)? {
                return Ok(true);
            }
            let took = self.clock.now().saturating_sub(since);
            let left = deadline.saturating_sub(self.clock.now());
            let rest = CALM.saturating_sub(took).min(left);
            let is_calm =
                !matches!(self.platform.watch().wait_change(generation, rest, cancel)?, Wake::Changed);
            if is_calm {
                *lock(&self.calm) = Some(CalmSince { generation, since });
            }
            if is_calm || left.is_zero() {
                return Ok(false);
            }
        }
    }

    fn comes_to_rest(&self, chosen: &ResolvedWindow, at_most: Duration, cancel: &Cancel) -> Result<bool> {
        let rests = self.platform.input().await_rest(&chosen.raw, at_most, cancel)?;
        if rests {
            self.note_rest()?;
        }
        Ok(rests)
    }

    /// Waits until a window's application has done what it was sent, and nothing changes any more, at most `at_most` for
    /// the latter.
    pub fn await_done(&self, chosen: &ResolvedWindow, at_most: Duration, cancel: &Cancel) -> Result<()> {
        if self.calm_time(self.platform.watch().generation()?) < CALM {
            self.comes_to_rest(chosen, TO_REST, cancel)?;
        }
        self.await_quiet(at_most, cancel)
    }

    /// How long nothing has changed, as far as somebody waited for it.
    fn calm_time(&self, generation: u64) -> Duration {
        let calm = lock(&self.calm).filter(|calm| calm.generation == generation);
        calm.map_or(Duration::ZERO, |calm| self.clock.now().saturating_sub(calm.since))
    }

    /// Sends one input. Whatever was cached is stale from here on.
    pub fn send_input(&self, permit: &mut Permit, act: &Act, cancel: &Cancel) -> Result<Done> {
        self.deliver_input(permit, act, Delivery::Foreground, cancel)
    }

    /// The same, with what it may take from the person at the desktop.
    pub fn deliver_input(
        &self,
        permit: &mut Permit,
        act: &Act,
        delivery: Delivery,
        cancel: &Cancel,
    ) -> Result<Done> {
        cancel.check()?;
        self.check_region(act, cancel)?;
        if permit.dry_run() {
            self.platform.input().check(act, cancel)?;
            return Ok(Done { note: Some("dry run: nothing was sent".to_owned()), ..Done::default() });
        }
        permit.spend();
        if delivery == Delivery::Foreground {
            self.raise_for_keys(act)?;
        }
        self.learn_typed(permit.targets(), act, cancel);
        let bound = self.bound_to_target(permit, act);
        let act = bound.as_ref().unwrap_or(act);
        // What was quiet before it says nothing about what comes of it.
        *lock(&self.calm) = None;
        *lock(&self.kept) = None;
        let guard = SecondLook::new(self, permit.rules(), permit.targets(), cancel)?;
        let generation = self.platform.watch().generation()?;
        let done = self.platform.input().act(act, delivery, &guard, cancel);
        self.forget_all();
        let done = done?;
        let unseen =
            UnseenEffect { generation, within: done.settles_in, comes_late: done.comes_late && !done.rests };
        *lock(&self.unseen) = Some(unseen);
        Ok(self.hide_page_words(done))
    }

    /// A named secret for the focus of a page, addressed to the element that was judged: the focus may go elsewhere.
    fn bound_to_target(&self, permit: &Permit, act: &Act) -> Option<Act> {
        let Act::Type { element: None, window_uid, text } = act else { return None };
        let target = permit.target().and_then(Target::element)?;
        let is_page = target.chosen.raw.url.is_some() && target.node != Tree::ROOT;
        let native = target.view.native_handle(target.node).filter(|_| is_page)?;
        let element = Handle { window_uid: target.chosen.raw.uid.clone(), native };
        let bound =
            || Act::Type { element: Some(element), window_uid: window_uid.clone(), text: text.clone() };
        self.redactor.tells_named_secret(text).then(bound)
    }

    /// Somebody has waited for what came of the last input.
    pub fn note_effect_seen(&self) {
        *lock(&self.unseen) = None;
    }

    /// Waits for what comes of the last input, where nobody has waited for it yet: keys and the wheel do not.
    pub fn await_unseen_effect(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<()> {
        let Some(UnseenEffect { generation, within, comes_late }) = lock(&self.unseen).take() else {
            return Ok(());
        };
        if within.is_zero() {
            return Ok(());
        }
        if comes_late {
            return self.await_effect(chosen, generation, (within, true), cancel).map(drop);
        }
        let deadline = self.clock.now() + within;
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            let seen = self.platform.watch().generation()?;
            self.comes_to_rest(chosen, left, cancel)?;
            // It may go on after a pause of its own: a dialog is there a moment after the key.
            let pause = AFTER_KEYS.min(deadline.saturating_sub(self.clock.now()));
            match self.platform.watch().wait_change(seen, pause, cancel)? {
                Wake::Changed if !pause.is_zero() => {}
                _ => return Ok(()),
            }
        }
    }

    /// A note may repeat what a page said of an input. While a page is open that a rule hides, it is not told.
    fn hide_page_words(&self, done: Done) -> Done {
        let may_be_hidden =
            |window: &Window| window.url.as_deref().is_some_and(|url| self.redactor.hides_page(url));
        let is_hidden = || match self.platform.desktop().windows() {
            Ok(windows) => windows.iter().any(may_be_hidden),
            Err(_) => true,
        };
        match done.note {
            Some(_) if self.redactor.hides_some_pages() && is_hidden() => Done { note: None, ..done },
            _ => done,
        }
    }

    /// Brings the window that keys are for to the front, before it is looked at where they go.
    fn raise_for_keys(&self, act: &Act) -> Result<()> {
        let (Act::Type { element: None, window_uid: Some(uid), .. }
        | Act::Key { element: None, window_uid: Some(uid), .. }) = act
        else {
            return Ok(());
        };
        let desktop = self.platform.desktop();
        let find = || -> Result<Option<Window>> {
            Ok(desktop.windows()?.into_iter().find(|window| window.uid == *uid))
        };
        let Some(window) = find()?.filter(|window| !window.focused) else {
            return Ok(());
        };
        match desktop.activate(&window)? {
            Activation::Refused(why) if !find()?.is_some_and(|window| window.focused) => {
                let message = format!("the window does not get the keyboard, so nothing was typed: {why}");
                Err(Error::new(Kind::WindowOccluded, message).with("window_uid", uid.as_str()))
            }
            _ => Ok(()),
        }
    }

    /// The window that keys for a window go to: a dialog of it that has the keyboard, else itself.
    pub fn keyboard_window(
        &self,
        desktop: &Arc<DesktopState>,
        choice: &WindowChoice,
    ) -> Result<ResolvedWindow> {
        let named = self.choose_in(desktop, choice)?;
        let by_uid = |uid: &str| desktop.windows().iter().find(|window| window.uid == uid);
        let in_front = desktop.windows().iter().find(|window| window.focused);
        let mut current = in_front;
        for _ in 0..MOST_OWNERS {
            let Some(window) = current else { break };
            if window.uid == named.raw.uid {
                return Ok(in_front.map_or(named, |window| self.resolve_raw(desktop, window, None)));
            }
            let owner = self.platform.desktop().owner(window)?;
            current = owner.as_deref().and_then(by_uid);
        }
        Ok(named)
    }

    /// What a field holds now, where that can be asked without reading its window.
    pub fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        self.platform.accessibility().field(element, cancel)
    }

    /// Takes the desktop for this process until the result is dropped; the error says which other process has it.
    pub fn claim_desktop(&self, claimant: Claimant) -> Result<DesktopClaim<'_>> {
        self.platform.input().claim(&claimant)?;
        Ok(DesktopClaim { observer: self, claimant })
    }

    pub fn activate_window(&self, permit: &mut Permit, chosen: &ResolvedWindow) -> Result<Activation> {
        permit.spend();
        let activation = self.platform.desktop().activate(&chosen.raw);
        self.forget_all();
        activation
    }

    /// A picture of one window, with secrets blackened when the config says so.
    pub fn window_picture(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Shot> {
        let take = || self.platform.capture().window_picture(&chosen.raw);
        if !self.redactor.hides_pixels() {
            return take();
        }
        self.picture_without(take, || self.black_places(chosen, cancel)).map(|(shot, _)| shot)
    }

    /// A picture of one window for somebody outside this machine: whatever is private in it is black,
    /// whether or not the config hides it in screenshots. Windows in front may be in the picture too.
    pub fn picture_to_send(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Shot> {
        let take = || self.platform.capture().window_picture(&chosen.raw);
        // A look of its own each time: what has come in front since the window was chosen is in the picture too.
        let places = || {
            let desktop = self.desktop()?;
            let in_front = desktop.windows_in_front_of(&chosen.raw.uid, true)?.into_iter();
            let in_front = in_front.filter(|window| !self.is_withheld(window));
            let overlapping = in_front.filter(|window| window.bounds.intersects(&chosen.raw.bounds));
            let overlapping: Vec<ResolvedWindow> =
                overlapping.map(|window| self.resolve_raw(&desktop, window, None)).collect();
            let mut places = Vec::new();
            for window in overlapping.iter().chain([chosen]) {
                places.extend(self.hidden_places(window, cancel)?);
            }
            Ok(places)
        };
        self.picture_without(take, places).map(|(shot, _)| shot)
    }

    /// A picture of the whole screen, with the secrets of every window blackened.
    pub fn screen_picture(&self, cancel: &Cancel) -> Result<Shot> {
        let take = || self.platform.capture().screen_picture();
        if !self.redactor.hides_pixels() {
            return take();
        }
        self.picture_without(take, || self.hidden_on_screen(cancel)).map(|(shot, _)| shot)
    }

    /// All windows: menus and lists reach out of the one that they belong to.
    fn hidden_on_screen(&self, cancel: &Cancel) -> Result<Vec<Rect>> {
        let desktop = self.desktop()?;
        let mut places = Vec::new();
        for window in desktop.windows().iter().filter(|window| !self.is_withheld(window)) {
            let chosen = self.resolve_raw(&desktop, window, None);
            self.check_secrets_have_places(&chosen, cancel)?;
            places.extend(self.black_places(&chosen, cancel)?);
        }
        Ok(places)
    }

    /// A picture, and what was blackened in it. Places are read before and after it was taken: what moved meanwhile is
    /// pictured anew, and what does not stop is black where it was, where it is and between.
    fn picture_without(
        &self,
        take: impl Fn() -> Result<Shot>,
        places: impl Fn() -> Result<Vec<Rect>>,
    ) -> Result<(Shot, Vec<Rect>)> {
        let mut before = places()?;
        for tries in 1.. {
            let mut shot = take()?;
            let after = places()?;
            if before == after || tries == MOST_PICTURES {
                let hidden = moved_places(before, after);
                black_out(&mut shot, &hidden);
                return Ok((shot, hidden));
            }
            before = after;
        }
        Err(Error::internal("no picture was taken"))
    }

    /// A picture of the screen leaves only if what has to be black in it can be found in it.
    fn check_secrets_have_places(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<()> {
        if self.knows_places() || !self.redactor.hides_pixels() {
            return Ok(());
        }
        if self.black_places(chosen, cancel)?.is_empty() {
            Ok(())
        } else {
            self.require_places("to black out what redaction hides in a screenshot")
        }
    }

    /// What is black in a screenshot: what the config hides in pictures, or the secrets alone. A window that shows no
    /// elements shows no secret that is known.
    fn black_places(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Vec<Rect>> {
        if self.redactor.blurs_screenshots() {
            return self.hidden_places(chosen, cancel);
        }
        match self.fresh_view(chosen, cancel) {
            Ok(view) => Ok(view.named_secret_regions(&self.redactor)),
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// What was not read may be what has to be black, so that there is no picture of a window that was read in part.
    fn hidden_places(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Vec<Rect>> {
        let view = self.fresh_view(chosen, cancel)?;
        if !view.raw().complete {
            return Err(unread_error(chosen));
        }
        Ok(view.hidden_regions(&self.redactor, &chosen.raw))
    }
}

/// Where something was, where it is, and between, for what is in the same order in both.
fn moved_places(before: Vec<Rect>, after: Vec<Rect>) -> Vec<Rect> {
    if before == after {
        return after;
    }
    let same_count = before.len() == after.len();
    let between: Vec<Rect> =
        before.iter().zip(&after).filter(|_| same_count).map(|(one, other)| one.around(other)).collect();
    [before, after, between].concat()
}

/// What a pointer meets.
pub struct HitTest {
    pub window: Option<ResolvedWindow>,
    /// Where the menu is that it meets there.
    pub menu: Option<Rect>,
}

fn unread_error(chosen: &ResolvedWindow) -> Error {
    Error::new(
        Kind::PermissionDenied,
        format!(
            "no screenshot of '{}': it has more elements than could be read, and some of the others may have \
             to be blacked out (redaction.blur_screenshots)",
            chosen.window.title
        ),
    )
    .with("window_uid", chosen.window.uid.as_str())
}

/// Blackens regions of the screen in a picture of it.
fn black_out(shot: &mut Shot, regions: &[Rect]) {
    for region in regions {
        let (x, y) = (region.x.saturating_sub(shot.area.x), region.y.saturating_sub(shot.area.y));
        shot.picture.black_out(Rect { x, y, ..*region });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::model::image::Picture;
    use crate::platform::mock::Mock;

    /// What is black when a thing is at these places, one for each look; and how often a picture was taken.
    fn blackened(places: &[i32]) -> (Vec<i32>, u32) {
        let clock = Clock::steered();
        let redactor = Arc::new(Redactor::new(None).unwrap());
        let observer = Observer::new(Arc::new(Mock::new(clock.clone())), clock, redactor, Duration::ZERO);
        let (looks, taken) = (Cell::new(0), Cell::new(0));
        let area = Rect::new(0, 0, 100, 1);
        let take = || {
            taken.set(taken.get() + 1);
            Ok(Shot { picture: Picture::from_rgba(100, 1, vec![255; 400])?, area })
        };
        let places = || {
            looks.set(looks.get() + 1);
            Ok(vec![Rect::new(places[(looks.get() - 1).min(places.len() - 1)], 0, 10, 1)])
        };
        let (shot, _) = observer.picture_without(take, places).unwrap();
        let black = (0..100).filter(|&x| shot.picture.rgba()[4 * x as usize] == 0);
        (black.filter(|x| x % 10 == 0).collect(), taken.get())
    }

    /// H-118 on code: what moves is pictured anew, or black on its whole way
    #[test]
    fn what_moves_is_black() {
        assert_eq!(blackened(&[10]), (vec![10], 1));
        assert_eq!(blackened(&[10, 30]), (vec![30], 2));
        assert_eq!(blackened(&[10, 20, 30, 60]), (vec![30, 40, 50, 60], 3));
    }
}
