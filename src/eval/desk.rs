//! Where a case runs: the settings of its desk, and the server of its pages, where it has one.

use std::any::Any;
use std::path::PathBuf;

use super::pages::PageServer;
use super::suite::CaseDesk;
use crate::app::App;
use crate::config::{BrowserStart, Loaded};

/// An app, and what must go after it.
pub struct EvalDesk {
    pub app: App,
    pub ends_with_us: Option<Box<dyn Any + Send>>,
}

/// Starts the desk that the settings ask for.
pub type DeskBuilder<'a> = &'a dyn Fn(Loaded) -> Result<EvalDesk, String>;

/// The settings of the desk, and the server of its pages, which has to outlive it.
pub struct PlannedDesk {
    pub loaded: Loaded,
    pub pages: Option<PageServer>,
}

impl PlannedDesk {
    /// `seed` is that of a task of MiniWoB++; `headful` is whether a browser has a window.
    pub fn plan(loaded: Loaded, desk: &CaseDesk, seed: Option<u64>, headful: bool) -> Result<Self, String> {
        let without_pages = |loaded: Loaded| Self { loaded, pages: None };
        Ok(match desk {
            CaseDesk::AsStarted => without_pages(loaded),
            CaseDesk::Scenario(file) => without_pages(on_mock(loaded, Some(file.clone()))),
            CaseDesk::Program(command) => without_pages(on_private_desktop(loaded, command.clone())),
            CaseDesk::StartUrl(url) => without_pages(in_browser(loaded, url.clone(), headful)),
            CaseDesk::Site { folder, page } => {
                Self::with_pages(loaded, PageServer::serve_site(folder)?, page, headful)
            }
            CaseDesk::Miniwob { folder, task, .. } => {
                let pages = PageServer::serve_miniwob(folder, task, seed.unwrap_or_default())?;
                Self::with_pages(loaded, pages, &format!("miniwob/{task}.html"), headful)
            }
        })
    }

    fn with_pages(loaded: Loaded, pages: PageServer, page: &str, headful: bool) -> Self {
        Self { loaded: in_browser(loaded, pages.url_of(page), headful), pages: Some(pages) }
    }
}

pub fn on_mock(mut loaded: Loaded, scenario: Option<PathBuf>) -> Loaded {
    loaded.config.mock = true;
    (loaded.scenario, loaded.sandbox, loaded.browser) = (scenario, None, None);
    loaded
}

fn on_private_desktop(mut loaded: Loaded, command: Vec<String>) -> Loaded {
    loaded.config.mock = false;
    (loaded.scenario, loaded.sandbox, loaded.browser) = (None, Some(command), None);
    loaded.steered_clock = false;
    loaded
}

/// Who runs a suite names its pages, as with `--browser`.
fn in_browser(mut loaded: Loaded, url: String, headful: bool) -> Loaded {
    loaded.config.mock = false;
    (loaded.scenario, loaded.sandbox, loaded.steered_clock) = (None, None, false);
    loaded.browser = Some(BrowserStart { url, by_owner: true, headful, attach: None, with_desktop: false });
    loaded
}
