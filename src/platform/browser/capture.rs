//! Pictures of pages, as the browser draws them.

use std::time::Duration;

use base64::Engine;
use serde::Deserialize;
use serde_json::json;

use super::Browser;
use super::page::PageSession;
use super::tabs::{TabState, WindowOfTab};
use crate::clock::{Cancel, Deadline};
use crate::error::{Error, Kind, Result};
use crate::model::image::Picture;
use crate::model::png_file::Png;
use crate::model::{Rect, Window};
use crate::platform::mock::render::draw_window;
use crate::platform::{Capture, Shot, gone};

const PICTURE_TIME: Duration = Duration::from_secs(15);

#[derive(Deserialize)]
struct ScreenshotAnswer {
    data: String,
}

impl Capture for Browser {
    fn window_picture(&self, window: &Window) -> Result<Shot> {
        match WindowOfTab::parse(&window.uid) {
            Some(WindowOfTab::Tab(target)) => {
                let tab = self.tabs.find(target).ok_or_else(|| gone(&window.uid))?;
                self.tab_picture(&tab)
            }
            _ => {
                let tree = self.own_window(&window.uid).ok_or_else(|| gone(&window.uid))?.tree();
                Ok(Shot { picture: draw_window(window, &tree)?, area: window.bounds })
            }
        }
    }

    fn screen_picture(&self) -> Result<Shot> {
        let tab = self.front_tab().ok_or_else(no_tab)?;
        match self.own_windows(&tab).next() {
            Some(own) => self.window_picture(&own.listed(&tab, &self.process_name, self.pid, true)),
            None => self.tab_picture(&tab),
        }
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        self.screen_picture().map(|whole| whole.part(area))
    }
}

fn no_tab() -> Error {
    Error::new(Kind::WindowGone, "the browser has no tab open")
}

impl Browser {
    /// A tab that is behind others is drawn by nobody, so that it comes to the front for it and goes back.
    fn tab_picture(&self, tab: &TabState) -> Result<Shot> {
        let front = self.front_tab().filter(|front| front.target != tab.target);
        if front.is_some() {
            self.show_tab(tab)?;
        }
        let picture = self.draw_tab(tab);
        if let Some(front) = front {
            self.show_tab(&front)?;
        }
        let picture = picture?;
        let area = picture.area();
        Ok(Shot { picture, area })
    }

    fn draw_tab(&self, tab: &TabState) -> Result<Picture> {
        tab.check_answers()?;
        let cancel = Cancel::new();
        let page = PageSession {
            connection: &self.connection,
            session: &tab.session,
            deadline: Deadline::after(PICTURE_TIME),
            cancel: &cancel,
        };
        let params = json!({ "format": "png", "optimizeForSpeed": true, "captureBeyondViewport": false });
        let answer: ScreenshotAnswer = page.call("Page.captureScreenshot", params)?;
        let broken = |problem: &dyn std::fmt::Display| {
            Error::internal(format!("the browser's screenshot cannot be read: {problem}"))
        };
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(answer.data)
            .map_err(|problem| broken(&problem))?;
        Png::open(&bytes).and_then(Png::decode).map_err(|problem| broken(&problem))
    }
}
