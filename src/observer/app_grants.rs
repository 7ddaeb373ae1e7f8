//! Which applications may be seen and operated: the rules of the config with what the person answered in this session,
//! and a platform that holds everybody to them.
//!
//! The observer works through [`Guarded`] alone, so that a window that is withheld has no title, tree or pixels for
//! anybody above, whichever tool, surface or replay asks, and gets no input.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::clock::{Cancel, lock};
use crate::config::{AppAccess, AppVerdict};
use crate::error::{Error, Kind, Result};
use crate::model::app::AppNames;
use crate::model::geometry::visible_regions;
use crate::model::input::{Act, Delivery, Handle};
use crate::model::page::{
    ChooserFiles, Download, Forgettable, HistoryStep, HostBytes, HostCookies, PageLogLines, PageVisit,
    ShownPage,
};
use crate::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use crate::platform::ancestors::Ancestor;
use crate::platform::{
    Accessibility, Activation, Capture, Claimant, Coordinates, Desktop, Done, Facts, FieldText, Health,
    Input, Menu, Pages, Patience, Platform, PointedNodes, PressGuard, Shot, Stage, platform_parts,
};
use crate::privacy::app_rules::{AppFacts, AppRules, Judged};

/// What stands for the title of a window that may not be seen.
pub const WITHHELD_TITLE: &str = "[withheld]";

/// The fact in an error that says which application the person has to be asked about.
pub const ASKS: &str = "apps_ask";

/// More questions at once would be a flood.
const MOST_QUESTIONS: usize = 64;

/// The rules, and what the person answered in this session.
#[derive(Debug)]
pub struct AppGrants {
    rules: AppRules,
    /// By rule and application: whether the person agreed.
    answers: Mutex<HashMap<String, bool>>,
    /// Tickets of questions that are open, and what each is about.
    questions: Mutex<Vec<(String, String)>>,
}

/// Why an application is withheld.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Withheld {
    app: String,
    rule: String,
    how: Withholding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Withholding {
    Denied,
    /// The person has not been asked.
    Unasked,
    Declined,
}

impl AppGrants {
    pub fn new(config: &AppAccess) -> Result<Self, String> {
        Ok(Self { rules: AppRules::new(config)?, answers: Mutex::default(), questions: Mutex::default() })
    }

    fn judge(&self, app: &AppFacts) -> Option<Withheld> {
        let Judged { verdict, rule } = self.rules.judge(app);
        let label = app.label().to_owned();
        let how = match verdict {
            AppVerdict::Allow => return None,
            AppVerdict::Deny => Withholding::Denied,
            AppVerdict::Ask => match lock(&self.answers).get(&answer_key(&rule, &label)) {
                Some(true) => return None,
                Some(false) => Withholding::Declined,
                None => Withholding::Unasked,
            },
        };
        Some(Withheld { app: label, rule, how })
    }

    /// Whether a program by these names may be started.
    pub fn check_program(&self, program: &str, command: &[String]) -> Result<()> {
        let file = command.first().and_then(|word| word.rsplit('/').next()).map(str::to_owned);
        let names = AppNames { executable: file, desktop_id: Some(program.to_owned()), classes: Vec::new() };
        let process = program.rsplit('/').next().unwrap_or_default();
        let facts = AppFacts { process, names: &names, title: None, is_host: false };
        self.judge(&facts).map_or(Ok(()), |withheld| Err(withheld.error(None)))
    }

    /// The ticket of a question about what an error says has to be asked; `None` for any other error.
    pub fn open_question(&self, error: &Error) -> Option<(String, String)> {
        let asked = error.text_of(ASKS)?.to_owned();
        let app = error.text_of("app")?.to_owned();
        let ticket = crate::random::random_token("aq:");
        let mut questions = lock(&self.questions);
        if questions.len() >= MOST_QUESTIONS {
            questions.remove(0);
        }
        questions.push((ticket.clone(), asked));
        Some((ticket, app))
    }

    /// What the person answered, if the ticket stands for a question of ours; `None` for silence.
    pub fn note_answer(&self, ticket: &str, agreed: Option<bool>) -> bool {
        let mut questions = lock(&self.questions);
        let Some(place) = questions.iter().position(|(known, _)| known == ticket) else {
            return false;
        };
        let (_, asked) = questions.remove(place);
        if let Some(agreed) = agreed {
            lock(&self.answers).insert(asked, agreed);
        }
        true
    }
}

fn answer_key(rule: &str, app: &str) -> String {
    format!("{rule} {app}")
}

impl Withheld {
    fn error(&self, window_uid: Option<&str>) -> Error {
        let Self { app, rule, how } = self;
        let error = match how {
            Withholding::Denied => Error::new(
                Kind::PermissionDenied,
                format!(
                    "'{app}' may be neither seen nor operated ({rule}); only a person can change that, with apps.allow \
                     in the configuration"
                ),
            ),
            Withholding::Declined => Error::new(
                Kind::PermissionDenied,
                format!("the person declined access to '{app}' in this session ({rule}); do not try another way"),
            ),
            Withholding::Unasked => Error::new(
                Kind::ConfirmationRequired,
                format!(
                    "a person has to allow '{app}' once in this session ({rule}), through a client that can ask or in \
                     the inspector, or for good with apps.allow in the configuration"
                ),
            )
            .with(ASKS, answer_key(rule, app)),
        };
        let error = error.with("app", app.as_str()).with("rule", rule.as_str());
        match window_uid {
            Some(uid) => error.with("window_uid", uid),
            None => error,
        }
    }
}

/// A platform without the windows that may not be seen: they are listed and nothing more.
pub struct Guarded {
    inner: Arc<dyn Platform>,
    grants: Arc<AppGrants>,
    hosts: OnceLock<Vec<Ancestor>>,
    names: Mutex<HashMap<(String, u32), AppNames>>,
    /// The withheld windows as they were last listed, as they are.
    withheld: Mutex<Vec<Window>>,
}

impl Guarded {
    pub fn new(inner: Arc<dyn Platform>, grants: Arc<AppGrants>) -> Self {
        let (hosts, names, withheld) = (OnceLock::new(), Mutex::default(), Mutex::default());
        Self { inner, grants, hosts, names, withheld }
    }

    pub fn grants(&self) -> &AppGrants {
        &self.grants
    }

    /// Whether the window was withheld when the windows were last listed.
    pub fn is_withheld(&self, uid: &str) -> bool {
        lock(&self.withheld).iter().any(|window| window.uid == uid)
    }

    /// The windows that are black in a picture of a part of the screen: each application and where its window is.
    pub fn withheld_in(&self, area: Rect) -> Result<Vec<(String, Rect)>> {
        if lock(&self.withheld).is_empty() {
            return Ok(Vec::new());
        }
        let windows = self.raw_windows()?;
        let withheld = lock(&self.withheld).clone();
        let order = self.inner.desktop().stacking()?;
        let shows = |window: &&Window| {
            let parts = shown_parts(window, &windows, order.as_deref(), &withheld);
            !window.minimized && parts.iter().any(|part| part.intersection(&area).is_some())
        };
        let named = |window: &Window| Some((self.judge(window)?.app, window.bounds));
        Ok(withheld.iter().filter(shows).filter_map(named).collect())
    }

    fn judge(&self, window: &Window) -> Option<Withheld> {
        let names = self.names_of(window);
        let hosts = self.hosts.get_or_init(|| self.inner.desktop().hosts());
        let is_host = window.pid != 0 && hosts.iter().any(|host| host.pid == window.pid);
        let facts = AppFacts { process: &window.process, names: &names, title: Some(&window.title), is_host };
        self.grants.judge(&facts)
    }

    /// Asked once for each window: names do not change, and asking costs time.
    fn names_of(&self, window: &Window) -> AppNames {
        let key = (window.uid.clone(), window.pid);
        if let Some(known) = lock(&self.names).get(&key) {
            return known.clone();
        }
        // A window that cannot be asked is gone; its process is known all the same.
        let names = self.inner.desktop().app_names(window).unwrap_or_default();
        lock(&self.names).insert(key, names.clone());
        names
    }

    /// The windows as they are, of which some may not be shown.
    fn raw_windows(&self) -> Result<Vec<Window>> {
        let windows = self.inner.desktop().windows()?;
        let withheld = windows.iter().filter(|window| self.judge(window).is_some()).cloned().collect();
        *lock(&self.withheld) = withheld;
        lock(&self.names).retain(|(uid, _), _| windows.iter().any(|window| window.uid == *uid));
        Ok(windows)
    }

    fn check(&self, window: &Window) -> Result<()> {
        // A title that is hidden here cannot be judged; the window is as it was listed.
        let known = lock(&self.withheld).iter().find(|known| known.uid == window.uid).cloned();
        let verdict = self.judge(known.as_ref().unwrap_or(window));
        verdict.map_or(Ok(()), |withheld| Err(withheld.error(Some(&window.uid))))
    }

    fn check_uid(&self, uid: &str) -> Result<()> {
        let known = lock(&self.withheld).iter().find(|known| known.uid == uid).cloned();
        known.map_or(Ok(()), |window| self.check(&window))
    }

    /// Refuses what would reach a window that may not be operated. Where no window is withheld there is nothing to ask.
    fn check_act(&self, act: &Act) -> Result<()> {
        if lock(&self.withheld).is_empty() {
            return Ok(());
        }
        if let Some(element) = act.element() {
            return self.check_uid(&element.window_uid);
        }
        match act {
            Act::Drag { from, to, .. } => {
                [from, to].into_iter().try_for_each(|point| self.check_point(*point))
            }
            Act::Type { window_uid, .. } | Act::Key { window_uid, .. } => {
                window_uid.as_ref().map_or(Ok(()), |uid| self.check_uid(uid))?;
                if window_uid.is_none() { self.check_focus() } else { Ok(()) }
            }
            Act::Click { at, .. } | Act::Scroll { at, .. } | Act::Hover { at, .. } => {
                let at = at.map_or_else(|| self.inner.desktop().pointer(), |point| Ok(Some(point)))?;
                at.map_or(Ok(()), |point| self.check_point(point))
            }
            Act::Invoke { .. } | Act::Focus { .. } | Act::SetValue { .. } | Act::Select { .. } => Ok(()),
        }
    }

    fn check_focus(&self) -> Result<()> {
        let focused = self.raw_windows()?.into_iter().find(|window| window.focused);
        focused.map_or(Ok(()), |window| self.check(&window))
    }

    /// What a pointer meets there: a menu, or the frontmost window. Where the order is not known, any window there counts.
    fn check_point(&self, point: Point) -> Result<()> {
        let desktop = self.inner.desktop();
        if let Some(uid) = desktop.menu_at(point)?.and_then(|menu| menu.window_uid) {
            return self.check_uid(&uid);
        }
        let there = |window: &&Window| !window.minimized && window.bounds.contains(point);
        let windows = self.raw_windows()?;
        match desktop.stacking()? {
            Some(order) => {
                let by_uid = |uid: &String| windows.iter().find(|window| window.uid == *uid);
                order.iter().filter_map(by_uid).find(there).map_or(Ok(()), |window| self.check(window))
            }
            None => windows.iter().filter(there).try_for_each(|window| self.check(window)),
        }
    }

    /// Blackens in a picture of the screen what may not be seen, as it was before the picture and as it is after it.
    fn black_out(&self, mut shot: Shot) -> Result<Shot> {
        let before = lock(&self.withheld).clone();
        let windows = self.raw_windows()?;
        let after = lock(&self.withheld).clone();
        if before.is_empty() && after.is_empty() {
            return Ok(shot);
        }
        if self.inner.facts().coordinates == Coordinates::Window {
            return self.refuse_unplaced(&after).map(|()| shot);
        }
        let order = self.inner.desktop().stacking()?;
        for window in before.iter().chain(&after).filter(|window| !window.minimized) {
            let mut regions = shown_parts(window, &windows, order.as_deref(), &after);
            // A menu is over everything.
            regions.extend(self.inner.desktop().popup_areas(window).unwrap_or_default());
            super::black_out(&mut shot, &regions);
        }
        Ok(shot)
    }

    /// What has no place on the screen cannot be blackened in a picture of it.
    fn refuse_unplaced(&self, withheld: &[Window]) -> Result<()> {
        let Some(window) = withheld.iter().find(|window| !window.minimized) else {
            return Ok(());
        };
        let Err(why) = self.check(window) else { return Ok(()) };
        let message = format!(
            "no screenshot of the screen: this desktop does not tell where windows are, and one may not be seen: {}",
            why.message
        );
        Err(Error { message, ..why })
    }
}

/// The parts of a window that no window that may be seen lies over.
fn shown_parts(window: &Window, all: &[Window], order: Option<&[String]>, withheld: &[Window]) -> Vec<Rect> {
    let Some(order) = order else {
        return vec![window.bounds];
    };
    let in_front: Vec<&String> = order.iter().take_while(|uid| **uid != window.uid).collect();
    let may_be_seen = |other: &&Window| {
        !other.minimized
            && in_front.contains(&&other.uid)
            && !withheld.iter().any(|hidden| hidden.uid == other.uid)
    };
    let covers: Vec<Rect> = all.iter().filter(may_be_seen).map(|other| other.bounds).collect();
    visible_regions(window.bounds, &covers, None)
}

impl Platform for Guarded {
    fn facts(&self) -> Facts {
        self.inner.facts()
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn stage(&self) -> Option<&dyn Stage> {
        self.inner.stage()
    }

    platform_parts! { self,
        desktop: self,
        accessibility: self,
        input: self,
        capture: self,
        clipboard: self.inner.clipboard(),
        apps: self.inner.apps(),
        watch: self.inner.watch(),
        pages: self,
    }
}

impl Pages for Guarded {
    fn is_browser(&self) -> bool {
        self.inner.pages().is_browser()
    }

    fn is_whole_desktop(&self) -> bool {
        self.inner.pages().is_whole_desktop()
    }

    fn visit(&self, visit: &PageVisit, cancel: &Cancel) -> Result<ShownPage> {
        visit.window_uid.as_ref().map_or(Ok(()), |uid| self.check_uid(uid))?;
        self.inner.pages().visit(visit, cancel)
    }

    fn step_history(
        &self,
        window_uid: &str,
        step: HistoryStep,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<ShownPage> {
        self.check_uid(window_uid)?;
        self.inner.pages().step_history(window_uid, step, at_most, cancel)
    }

    fn reading_tree(&self, window: &Window, main_part: bool, patience: &Patience) -> Result<Tree> {
        self.check(window)?;
        self.inner.pages().reading_tree(window, main_part, patience)
    }

    fn named_files(&self, window_uid: &str) -> Vec<String> {
        self.inner.pages().named_files(window_uid)
    }

    fn chooser_files(&self, window_uid: Option<&str>, names: &[String]) -> Result<ChooserFiles> {
        let chosen = self.inner.pages().chooser_files(window_uid, names)?;
        self.check_uid(&chosen.window_uid)?;
        Ok(chosen)
    }

    fn choose_files(&self, chosen: &ChooserFiles, cancel: &Cancel) -> Result<()> {
        self.check_uid(&chosen.window_uid)?;
        self.inner.pages().choose_files(chosen, cancel)
    }

    fn downloads(&self) -> Result<Vec<Download>> {
        self.inner.pages().downloads()
    }

    fn keep_download(&self, id: &str) -> Result<Download> {
        self.inner.pages().keep_download(id)
    }

    /// Without what windows write that may not be seen.
    fn log_lines(&self) -> Result<PageLogLines> {
        let mut log = self.inner.pages().log_lines()?;
        log.lines.retain(|line| !line.window_uid.as_ref().is_some_and(|uid| self.is_withheld(uid)));
        Ok(log)
    }

    fn cookies(&self, cancel: &Cancel) -> Result<Vec<HostCookies>> {
        self.inner.pages().cookies(cancel)
    }

    fn traffic(&self) -> Result<Vec<HostBytes>> {
        self.inner.pages().traffic()
    }

    fn forget(&self, what: Forgettable, origin: Option<&str>, cancel: &Cancel) -> Result<()> {
        self.inner.pages().forget(what, origin, cancel)
    }
}

impl Desktop for Guarded {
    fn windows(&self) -> Result<Vec<Window>> {
        let windows = self.raw_windows()?;
        let conceal = |window: Window| {
            let title = if self.is_withheld(&window.uid) { WITHHELD_TITLE.to_owned() } else { window.title };
            Window { title, ..window }
        };
        Ok(windows.into_iter().map(conceal).collect())
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        self.inner.desktop().stacking()
    }

    fn menu_at(&self, point: Point) -> Result<Option<Menu>> {
        self.inner.desktop().menu_at(point)
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        self.inner.desktop().monitors()
    }

    fn screen(&self) -> Result<Option<Rect>> {
        self.inner.desktop().screen()
    }

    fn is_splash(&self, window: &Window) -> Result<bool> {
        self.inner.desktop().is_splash(window)
    }

    fn app_names(&self, window: &Window) -> Result<AppNames> {
        self.inner.desktop().app_names(window)
    }

    fn popup_areas(&self, window: &Window) -> Result<Vec<Rect>> {
        self.inner.desktop().popup_areas(window)
    }

    fn hosts(&self) -> Vec<Ancestor> {
        self.inner.desktop().hosts()
    }

    fn pointer(&self) -> Result<Option<Point>> {
        self.inner.desktop().pointer()
    }

    fn owner(&self, window: &Window) -> Result<Option<String>> {
        self.inner.desktop().owner(window)
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        self.check(window)?;
        self.inner.desktop().activate(window)
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        self.check(window)?;
        self.inner.desktop().change(window, change, at_most, cancel)
    }
}

impl Accessibility for Guarded {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        self.check(window)?;
        self.inner.accessibility().tree(window, patience)
    }

    fn focus_tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        self.check(window)?;
        self.inner.accessibility().focus_tree(window, patience)
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        self.check_uid(&element.window_uid)?;
        self.inner.accessibility().field(element, cancel)
    }

    fn text_places(
        &self,
        element: &Handle,
        text: &str,
        characters: &[Range<usize>],
        cancel: &Cancel,
    ) -> Result<Option<Vec<Rect>>> {
        self.check_uid(&element.window_uid)?;
        self.inner.accessibility().text_places(element, text, characters, cancel)
    }

    fn nodes_at(
        &self,
        window: &Window,
        tree: &Tree,
        at: Point,
        cancel: &Cancel,
    ) -> Result<Option<PointedNodes>> {
        self.check(window)?;
        self.inner.accessibility().nodes_at(window, tree, at, cancel)
    }
}

impl Input for Guarded {
    fn act(&self, act: &Act, delivery: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        self.check_act(act)?;
        self.inner.input().act(act, delivery, guard, cancel)
    }

    fn check(&self, act: &Act, cancel: &Cancel) -> Result<()> {
        self.check_act(act)?;
        self.inner.input().check(act, cancel)
    }

    fn await_rest(&self, window: &Window, at_most: Duration, cancel: &Cancel) -> Result<bool> {
        self.inner.input().await_rest(window, at_most, cancel)
    }

    fn claim(&self, claimant: &Claimant) -> Result<()> {
        self.inner.input().claim(claimant)
    }

    fn give_back(&self, claimant: &Claimant) {
        self.inner.input().give_back(claimant);
    }

    fn release_all(&self) {
        self.inner.input().release_all();
    }

    fn confine(&self, region: Rect) {
        self.inner.input().confine(region);
    }
}

impl Capture for Guarded {
    fn shows_own_pixels(&self) -> bool {
        self.inner.capture().shows_own_pixels()
    }

    fn window_picture(&self, window: &Window) -> Result<Shot> {
        self.check(window)?;
        let shot = self.inner.capture().window_picture(window)?;
        if lock(&self.withheld).is_empty() || self.shows_own_pixels() {
            return Ok(shot);
        }
        self.black_out(shot)
    }

    fn screen_picture(&self) -> Result<Shot> {
        self.black_out(self.inner.capture().screen_picture()?)
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        self.black_out(self.inner.capture().region_picture(area)?)
    }
}
