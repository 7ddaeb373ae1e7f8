//! A scenario with pages is a browser: a window is a tab if a document in it has an address for its value. Reactions to
//! `open_url` and `page_history` lead from one to the other.

use std::path::PathBuf;
use std::time::Duration;

use super::input::MockRefusal;
use super::world::{PlannedElement, World};
use super::{Mock, gone, refusal_error};
use crate::clock::{Cancel, lock};
use crate::error::{Error, Kind, Result};
use crate::model::page::{
    ChooserFiles, Download, DownloadState, Forgettable, HistoryStep, HostBytes, HostCookies, PageLogLines,
    PageVisit, ShownPage, is_page_address,
};
use crate::model::{InputKind, Role, Tree, Window};
use crate::platform::{Accessibility, Pages, Patience};
use crate::scenario::{DownloadPlan, Scenario};

/// The address that a window shows, if it is a tab.
fn page_address(tree: &Tree) -> Option<&str> {
    let documents = tree.elements().iter().filter(|element| element.role == Role::Document);
    let mut addresses = documents.filter_map(|document| document.value.as_deref());
    addresses.find(|address| is_page_address(address))
}

impl World {
    pub(super) fn has_pages(&self) -> bool {
        let mut windows = self.scenario.states.iter().flat_map(|state| &state.windows);
        windows.any(|window| page_address(&window.tree).is_some())
    }

    /// Has the first reaction take place that waits for this on the window; whether there was one.
    fn react_on_window(&mut self, uid: &str, kind: InputKind, text: &str, now: Duration) -> Result<bool> {
        self.advance_to(now);
        let root = self.window_index(uid).map(|window| PlannedElement { window, node: Tree::ROOT });
        let targets: Vec<PlannedElement> = root.into_iter().collect();
        let found = self.first_reaction(&[kind], &targets, Some(text));
        let found = found.map_err(|given_up| refusal_error(&MockRefusal::PatternGaveUp(given_up)))?;
        if let Some((reaction, text)) = &found {
            self.start(*reaction, text, now);
        }
        Ok(found.is_some())
    }
}

impl Mock {
    fn shown_page(&self, uid: &str) -> Result<ShownPage> {
        let window = self.now(|world, _| world.windows().into_iter().find(|window| window.uid == uid));
        let window = window.ok_or_else(|| gone(uid))?;
        let tree = self.tree_now(uid)?;
        Ok(ShownPage {
            window_uid: window.uid,
            title: window.title,
            url: page_address(&tree).unwrap_or_default().to_owned(),
            status: Some(200),
            loading: false,
            asks_first: false,
            note: None,
        })
    }

    fn front_page(&self) -> Result<String> {
        let front = self.now(|world, _| world.windows().into_iter().find(|window| window.focused));
        front.map(|window| window.uid).ok_or_else(|| gone("mock:"))
    }
}

/// What a scenario says that pages have sent.
pub(super) fn downloads_of(scenario: &Scenario) -> Vec<Download> {
    let download = |(at, plan): (usize, &DownloadPlan)| Download {
        id: format!("d{}", at + 1),
        url: plan.url.clone(),
        name: plan.name.clone(),
        state: DownloadState::Complete,
        received_bytes: plan.bytes.into(),
        total_bytes: Some(plan.bytes.into()),
        ..Download::default()
    };
    scenario.downloads.iter().enumerate().map(download).collect()
}

impl Pages for Mock {
    fn is_browser(&self) -> bool {
        self.now(|world, _| world.has_pages())
    }

    fn visit(&self, visit: &PageVisit, _: &Cancel) -> Result<ShownPage> {
        let uid = visit.window_uid.clone().map_or_else(|| self.front_page(), Ok)?;
        let address = visit.address.as_str();
        if self.do_to_world(|world, now| world.react_on_window(&uid, InputKind::OpenUrl, address, now))? {
            return self.shown_page(&self.front_page()?);
        }
        let shown = self.shown_page(&uid)?;
        if shown.url == address {
            return Ok(shown);
        }
        let message =
            format!("{address} cannot be opened: the scenario has no reaction to it (see docs/scenarios.md)");
        Err(Error::new(Kind::NavigationFailed, message))
    }

    fn step_history(
        &self,
        window_uid: &str,
        step: HistoryStep,
        _: Duration,
        _: &Cancel,
    ) -> Result<ShownPage> {
        let reacted = self.do_to_world(|world, now| {
            world.react_on_window(window_uid, InputKind::PageHistory, step.name(), now)
        })?;
        match step {
            HistoryStep::Back | HistoryStep::Forward if !reacted => {
                Err(Error::bad_request("the scenario has no page there").with("field", "go"))
            }
            _ => self.shown_page(window_uid),
        }
    }

    fn reading_tree(&self, window: &Window, _: bool, patience: &Patience) -> Result<Tree> {
        let mut tree = self.tree(window, patience)?;
        let address = page_address(&tree).map(str::to_owned);
        let mut is_root = true;
        tree.change_elements(|element| {
            if std::mem::take(&mut is_root) {
                element.value.clone_from(&address);
            }
        });
        Ok(tree)
    }

    fn named_files(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn chooser_files(&self, window_uid: Option<&str>, names: &[String]) -> Result<ChooserFiles> {
        if !names.is_empty() {
            return Err(
                Error::new(Kind::PermissionDenied, "the mock desktop has no files").with("field", "paths")
            );
        }
        let window_uid = window_uid.map_or_else(|| self.front_page(), |uid| Ok(uid.to_owned()))?;
        Ok(ChooserFiles { window_uid, files: Vec::<PathBuf>::new() })
    }

    fn choose_files(&self, _: &ChooserFiles, _: &Cancel) -> Result<()> {
        self.do_to_world(|_, _| ());
        Ok(())
    }

    fn downloads(&self) -> Result<Vec<Download>> {
        Ok(lock(&self.downloads).clone())
    }

    fn keep_download(&self, id: &str) -> Result<Download> {
        self.do_to_world(|_, _| ());
        let mut downloads = lock(&self.downloads);
        let download = downloads.iter_mut().find(|download| download.id == id);
        let download = download.ok_or_else(|| Error::bad_request(format!("no download is called '{id}'")))?;
        download.state = DownloadState::Kept;
        download.note = Some("mock desktop: there is no real file".to_owned());
        Ok(download.clone())
    }

    fn log_lines(&self) -> Result<PageLogLines> {
        Ok(PageLogLines::default())
    }

    fn cookies(&self, _: &Cancel) -> Result<Vec<HostCookies>> {
        Ok(Vec::new())
    }

    fn traffic(&self) -> Result<Vec<HostBytes>> {
        Ok(Vec::new())
    }

    fn forget(&self, _: Forgettable, _: Option<&str>, _: &Cancel) -> Result<()> {
        self.do_to_world(|_, _| ());
        Ok(())
    }
}
