//! Tabs and dialogs as windows of one screen, which is as large as a page.

use std::time::Duration;

use serde_json::{Value, json};

use super::Browser;
use super::own_window::OwnWindow;
use super::tabs::{TabState, TargetList, WindowOfTab, device_metrics};
use super::wire::CdpFailure;
use super::{chooser, dialogs, page};
use crate::clock::{Cancel, Deadline};
use crate::config::Size;
use crate::error::Result;
use crate::model::window::WindowState;
use crate::model::{Monitor, Point, Reached, Rect, Window, WindowChange};
use crate::platform::{Activation, Desktop, Menu, gone};

impl Desktop for Browser {
    fn windows(&self) -> Result<Vec<Window>> {
        if self.connection.is_lost() {
            return Err(CdpFailure::Lost.into());
        }
        self.refresh_titles()?;
        let front = self.tabs.order().into_iter().next();
        let tabs = self.tabs.all();
        let windows = tabs.iter().map(|tab| self.tab_window(tab, front.as_deref()));
        let own = tabs.iter().flat_map(|tab| {
            let in_front = front.as_deref() == Some(&tab.target);
            let own = self.own_windows(tab).enumerate();
            own.map(move |(at, own)| own.listed(tab, &self.process_name, self.pid, in_front && at == 0))
        });
        Ok(windows.chain(own).collect())
    }

    /// A dialog lies over its tab, and a tab with its dialog over the tabs behind it.
    fn stacking(&self) -> Result<Option<Vec<String>>> {
        let order = self.tabs.order();
        let tabs = order.iter().filter_map(|target| self.tabs.find(target));
        let uids = tabs
            .flat_map(|tab| self.own_windows(&tab).map(|own| own.uid).chain([tab.uid()]).collect::<Vec<_>>());
        Ok(Some(uids.collect()))
    }

    /// The lists that a browser opens itself are drawn by it, and their options are elements of the page.
    fn menu_at(&self, _: Point) -> Result<Option<Menu>> {
        Ok(None)
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(self.screen()?.map(|screen| Monitor::scaled(screen, true, 1.0)).into_iter().collect())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        Ok(self.front_tab().map(|tab| viewport(&tab)))
    }

    fn pointer(&self) -> Result<Option<Point>> {
        Ok(self.front_tab().map(|tab| tab.pointer))
    }

    fn owner(&self, window: &Window) -> Result<Option<String>> {
        Ok(match WindowOfTab::parse(&window.uid) {
            Some(WindowOfTab::Dialog(target) | WindowOfTab::Chooser(target)) => {
                self.tabs.find(target).map(|tab| tab.uid())
            }
            _ => None,
        })
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        let tab = self.tab_of_window(&window.uid)?;
        self.show_tab(&tab)?;
        Ok(Activation::Activated)
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        let tab = self.tab_of_window(&window.uid)?;
        let note = match change {
            WindowChange::Raise | WindowChange::Restore => self.show_tab(&tab).map(|()| None)?,
            WindowChange::Close => self.close_window(window, &tab, at_most, cancel)?,
            WindowChange::Resize { width, height } => self.resize_tab(&tab, *width, *height, cancel)?,
            WindowChange::Minimize | WindowChange::Maximize | WindowChange::Move(_) => {
                Some("a tab of a browser can be raised, resized and closed, and nothing else".to_owned())
            }
        };
        let now = self.windows()?.into_iter().find(|other| other.uid == window.uid);
        let done = note.is_none() && (*change != WindowChange::Close || now.is_none());
        Ok(Reached { done, state: now.map(|now| window_state(&now)), note })
    }
}

fn window_state(window: &Window) -> WindowState {
    WindowState {
        bounds: window.bounds,
        focused: window.focused,
        minimized: window.minimized,
        maximized: false,
    }
}

pub fn viewport(tab: &TabState) -> Rect {
    Rect::new(0, 0, i32::from(tab.size.width), i32::from(tab.size.height))
}

impl Browser {
    fn tab_window(&self, tab: &TabState, front: Option<&str>) -> Window {
        Window {
            uid: tab.uid(),
            handle: tab.uid(),
            title: tab.title.clone(),
            process: self.process_name.clone(),
            pid: self.pid,
            bounds: viewport(tab),
            focused: front == Some(&tab.target) && tab.dialog.is_none() && tab.chooser.is_none(),
            minimized: false,
            url: Some(tab.url.clone()),
        }
    }

    /// What a tab asks, the topmost first: its dialog, its file chooser.
    pub(super) fn own_windows(&self, tab: &TabState) -> impl Iterator<Item = OwnWindow> + use<> {
        let chooser = chooser::chooser_of(tab, self.files.upload_root.as_deref());
        dialogs::dialog_of(tab).into_iter().chain(chooser)
    }

    pub(super) fn own_window(&self, uid: &str) -> Option<OwnWindow> {
        let tab = self.tab_of_window(uid).ok()?;
        self.own_windows(&tab).find(|own| own.uid == uid)
    }

    /// No event tells that a page has another title, so they are asked for; that takes a third of a millisecond.
    pub(super) fn refresh_titles(&self) -> Result<()> {
        let (deadline, cancel) = (Deadline::after(page::INPUT_TIME), Cancel::new());
        let order =
            self.connection.send(None, "Target.getTargets", json!({ "filter": [{ "type": "page" }] }))?;
        let answer: TargetList = self.connection.wait(&order, deadline, &cancel)?;
        self.tabs.take_titles(answer);
        Ok(())
    }

    pub(super) fn front_tab(&self) -> Option<TabState> {
        self.tabs.order().first().and_then(|target| self.tabs.find(target))
    }

    /// The tab that a window is, or whose dialog or file chooser it is.
    pub(super) fn tab_of_window(&self, uid: &str) -> Result<TabState> {
        let target = WindowOfTab::parse(uid).map(|window| window.target());
        target.and_then(|target| self.tabs.find(target)).ok_or_else(|| gone(uid))
    }

    pub(super) fn show_tab(&self, tab: &TabState) -> Result<()> {
        let (deadline, cancel) = (Deadline::after(page::INPUT_TIME), Cancel::new());
        let params = json!({ "targetId": tab.target });
        let order = self.connection.send(None, "Target.activateTarget", params)?;
        self.connection.wait::<Value>(&order, deadline, &cancel)?;
        self.tabs.bring_to_front(&tab.target);
        Ok(())
    }

    fn resize_tab(&self, tab: &TabState, width: i32, height: i32, cancel: &Cancel) -> Result<Option<String>> {
        let Some(size) = Size::parse(&format!("{width}x{height}")) else {
            let (least, most) = (Size::LEAST, Size::MOST);
            return Ok(Some(format!(
                "a page can be {}x{} to {}x{} pixels large",
                least.width, least.height, most.width, most.height
            )));
        };
        let page = self.page_session(tab, cancel);
        page.call::<Value>("Emulation.setDeviceMetricsOverride", device_metrics(size))?;
        self.tabs.change(&tab.target, |tab| tab.size = size);
        Ok(None)
    }

    /// A page may ask back before it is left; the question is a window then.
    fn close_window(
        &self,
        window: &Window,
        tab: &TabState,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Option<String>> {
        if let (true, Some(dialog)) = (window.uid == tab.dialog_uid(), &tab.dialog) {
            self.answer_dialog(tab, dialog, false, cancel)?;
            return Ok(None);
        }
        if window.uid == tab.chooser_uid() {
            self.tabs.change(&tab.target, |tab| tab.chooser = None);
            return Ok(None);
        }
        self.connection.tell(Some(&tab.session), "Page.close", json!({}));
        let seen = self.await_tab_state(&tab.target, at_most, cancel, |now| {
            now.is_none_or(|now| now.dialog.is_some())
        })?;
        let asks = seen && self.tabs.find(&tab.target).is_some();
        Ok(asks.then(|| "the page asks before it is left: answer its dialog".to_owned()))
    }

    /// Whether something comes to hold of a tab in time; `None` is a tab that is gone.
    pub(super) fn await_tab_state(
        &self,
        target: &str,
        at_most: Duration,
        cancel: &Cancel,
        holds: impl Fn(Option<&TabState>) -> bool,
    ) -> Result<bool> {
        let deadline = Deadline::after(at_most);
        loop {
            let heard = self.bell.rings();
            if holds(self.tabs.find(target).as_ref()) {
                return Ok(true);
            }
            if deadline.is_over() || self.connection.is_lost() {
                return Ok(false);
            }
            self.clock.sleep_unless_rung(&self.bell, heard, deadline.left(), cancel)?;
        }
    }
}
