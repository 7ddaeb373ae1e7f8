//! Pictures to point at: of a window, the screen or a part of it, with a grid or with numbers on what can be acted
//! on, and the way back from a pixel or a cell of one to the screen.

mod badges;
mod coordinates;
mod grid_lines;
mod image;
mod marks;

pub use coordinates::PictureSpot;
pub use grid_lines::Labelled;
pub use image::Image;
pub use marks::Mark;

use super::{Observer, ResolvedWindow};
use crate::clock::Cancel;
use crate::error::{Error, Result};
use crate::model::Rect;
use crate::model::grid::Grid;
use crate::model::upscale::enlarged_picture;
use crate::platform::Shot;

/// What models take as it is. A larger picture they shrink themselves, and then point at other pixels than were sent.
const MODEL_SIDE: u32 = 1568;
const MODEL_PIXELS: u32 = 1_150_000;

/// What shall be seen.
#[derive(Clone, Debug)]
pub struct PictureWish<'a> {
    pub subject: PictureSubject<'a>,
    /// Only this part, in pixels of the screen.
    pub region: Option<Rect>,
    /// How many times as large as on the screen; 1 is as it is.
    pub enlarge: u32,
    pub overlay: Overlay,
    /// No larger than a model takes without shrinking it itself, which would move what is pointed at.
    pub for_model: bool,
}

impl<'a> PictureWish<'a> {
    /// All of it, as it is.
    pub fn plain(subject: PictureSubject<'a>) -> Self {
        Self { subject, region: None, enlarge: 1, overlay: Overlay::default(), for_model: false }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum PictureSubject<'a> {
    /// The window's own pixels, also where others cover it.
    Window(&'a ResolvedWindow),
    Screen,
}

/// What is laid over the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlay {
    pub grid: Option<GridWish>,
    /// Numbers on what can be acted on.
    pub marks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridWish {
    pub grid: Grid,
    pub labels: bool,
}

/// A picture and how to point at what it shows.
#[derive(Debug)]
pub struct Pointed {
    /// The picture as it leaves, and the part of the screen in it.
    pub shot: Shot,
    /// What has to be remembered for pointing.
    pub image: Image,
    /// Which cells have labels; `None` when there is no grid, or one without labels.
    pub labelled: Option<Labelled>,
    pub legend: Vec<Mark>,
    /// What a caller should know: what is missing, what is not labelled.
    pub notes: Vec<String>,
}

impl Observer {
    /// Takes a picture and draws on it what was asked for. Secrets are black before anything is drawn.
    pub fn pointing_picture(&self, wish: &PictureWish, cancel: &Cancel) -> Result<Pointed> {
        let shot = self.shot_of(wish.subject, wish.region, cancel)?;
        let (marked, mut notes) = match wish.overlay.marks {
            true => self.collect_marks(&wish.subject, shot.area, cancel)?,
            false => (Vec::new(), Vec::new()),
        };
        notes.extend(self.note_on_withheld(&wish.subject, shot.area)?);
        let mut picture = enlarged_picture(shot.picture, wish.enlarge)?;
        if wish.for_model {
            picture = picture.fit_within(MODEL_SIDE, MODEL_PIXELS);
        }
        let grid = wish.overlay.grid;
        if let Some(GridWish { grid, .. }) = &grid {
            grid_lines::check_fits(grid, picture.width(), picture.height())?;
        }
        let image = self.image_of(&wish.subject, &shot.area, &picture, grid.map(|wish| wish.grid))?;
        let boxes: Vec<Rect> = marked.iter().map(|mark| image.in_picture(mark.bounds)).collect();
        let labelled = grid.and_then(|wish| grid_lines::draw_grid(&mut picture, &wish.grid, wish.labels));
        // Over the grid, so that no label hides a number, and beside its labels where there is room.
        badges::draw_boxes(&mut picture, &boxes);
        notes.extend(labelled.and_then(note_on_labels));
        Ok(Pointed { shot: Shot { picture, area: shot.area }, image, labelled, legend: marked, notes })
    }

    /// Which windows are black in a picture because they may not be seen. A window's own pixels show no other.
    pub fn note_on_withheld(&self, subject: &PictureSubject, area: Rect) -> Result<Option<String>> {
        let is_own = matches!(subject, PictureSubject::Window(_));
        if is_own && self.platform.capture().shows_own_pixels() {
            return Ok(None);
        }
        self.withheld_note(area)
    }

    /// What is seen, or a part of it, with everything black that has to be.
    pub(super) fn shot_of(
        &self,
        subject: PictureSubject,
        region: Option<Rect>,
        cancel: &Cancel,
    ) -> Result<Shot> {
        match (subject, region) {
            (PictureSubject::Screen, None) => self.screen_picture(cancel),
            (PictureSubject::Screen, Some(region)) => self.region_picture(region, cancel),
            (PictureSubject::Window(chosen), None) => self.window_picture(chosen, cancel),
            (PictureSubject::Window(chosen), Some(region)) => {
                self.require_places("to find a region of the screen in the screenshot of a window")?;
                let whole = self.window_picture(chosen, cancel)?;
                let part = whole.part(region);
                if part.picture.is_empty() {
                    return Err(no_such_part(region, whole.area));
                }
                Ok(part)
            }
        }
    }

    /// A picture of a part of the screen, with the secrets of every window in it blackened.
    fn region_picture(&self, region: Rect, cancel: &Cancel) -> Result<Shot> {
        let take = || {
            let shot = self.platform.capture().region_picture(region)?;
            if shot.picture.is_empty() {
                return Err(no_such_part(region, self.platform.desktop().screen()?.unwrap_or_default()));
            }
            Ok(shot)
        };
        if !self.redactor.hides_pixels() {
            return take();
        }
        self.picture_without(take, || self.hidden_on_screen(cancel)).map(|(shot, _)| shot)
    }
}

fn no_such_part(region: Rect, whole: Rect) -> Error {
    Error::bad_request(format!(
        "the region {}x{} at {},{} does not overlap the screenshot, which spans {},{} to {},{} of the screen",
        region.width,
        region.height,
        region.x,
        region.y,
        whole.x,
        whole.y,
        whole.right() - 1,
        whole.bottom() - 1
    ))
    .with("region", region)
    .with("picture", whole)
}

fn note_on_labels(labelled: Labelled) -> Option<String> {
    let Labelled { every_row, every_col } = labelled;
    (every_row > 1 || every_col > 1).then(|| {
        format!(
            "the cells are too small for all labels: every {every_row} rows and every {every_col} columns \
             have one, at the top left corner of the cell"
        )
    })
}
