//! From a pixel or a cell of a picture to the screen as it is now. What has changed since is refused and named,
//! never guessed.

use std::sync::Arc;

use super::Image;
use super::PictureSubject;
use crate::error::{Error, Kind, Result};
use crate::model::grid::{Cell, Grid, Offset};
use crate::model::image::Picture;
use crate::model::{Monitor, Point, Rect};
use crate::observer::{DesktopState, Observer, WindowChoice};

/// A place in a picture, as a caller names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PictureSpot {
    Pixel(Point),
    Cell(Cell, Offset),
}

impl Observer {
    /// What has to be remembered of a picture that shows `area` of the screen.
    pub(super) fn image_of(
        &self,
        subject: &PictureSubject,
        area: &Rect,
        picture: &Picture,
        grid: Option<Grid>,
    ) -> Result<Image> {
        let window = match subject {
            PictureSubject::Window(chosen) => Some((chosen.window.uid.clone(), chosen.window.bounds)),
            PictureSubject::Screen => None,
        };
        let front = if window.is_none() { self.front_windows()? } else { None };
        Ok(Image {
            area: *area,
            width: picture.width(),
            height: picture.height(),
            window,
            screen: self.platform.desktop().screen()?,
            monitors: self.platform.desktop().monitors()?,
            front,
            grid,
        })
    }

    /// The same for a picture that was made elsewhere.
    pub fn image_for(&self, subject: &PictureSubject, area: Rect, picture: &Picture) -> Result<Image> {
        self.image_of(subject, &area, picture, None)
    }

    /// What lies where on the screen, from the front; `None` where that cannot be known.
    fn front_windows(&self) -> Result<Option<Vec<(String, Rect)>>> {
        let desktop = self.desktop()?;
        let Some(order) = desktop.stacking()?.filter(|_| self.knows_places()) else {
            return Ok(None);
        };
        let found = |uid: &String| {
            let window = desktop.windows().iter().find(|window| window.uid == *uid && !window.minimized)?;
            Some((uid.clone(), window.bounds))
        };
        Ok(Some(order.iter().filter_map(found).collect()))
    }

    /// The pixel of the screen that a place in a picture stands for, if it still does.
    pub fn resolve_spot(
        &self,
        desktop: &Arc<DesktopState>,
        id: &str,
        image: &Image,
        spot: PictureSpot,
    ) -> Result<Point> {
        check_screen(desktop, id, image)?;
        let point = point_of(image, spot)?;
        match &image.window {
            Some((uid, bounds)) => self.check_window(desktop, id, uid, *bounds, point)?,
            None => self.check_front(desktop, id, image, point)?,
        }
        Ok(point)
    }

    /// The window must be where the picture showed it, and be what the pointer would hit there.
    fn check_window(
        &self,
        desktop: &Arc<DesktopState>,
        id: &str,
        uid: &str,
        bounds: Rect,
        point: Point,
    ) -> Result<()> {
        let same = WindowChoice { uid: Some(uid.to_owned()), ..WindowChoice::default() };
        let now = self.choose_in(desktop, &same).map_err(|error| match error.kind {
            Kind::WindowGone => {
                Error { message: format!("the screenshot '{id}' is out of date: {}", error.message), ..error }
            }
            _ => error,
        })?;
        if let Some(change) = changed_place(bounds, now.window.bounds) {
            return Err(stale_image(id, &format!("its window {change}")));
        }
        match self.window_at(desktop, point)? {
            Some(hit) if hit.window.uid != uid => Err(Error::new(
                Kind::WindowOccluded,
                "another window covers that pixel of the screenshot; bring the window of the screenshot to the front",
            )
            .with("window_uid", uid)
            .with("covered_by", hit.window.uid)),
            _ => Ok(()),
        }
    }

    /// On a picture of the screen, what lies at the point must be what lay there.
    fn check_front(&self, desktop: &Arc<DesktopState>, id: &str, image: &Image, point: Point) -> Result<()> {
        let Some(front) = &image.front else {
            return Ok(());
        };
        let was = front.iter().find(|(_, bounds)| bounds.contains(point));
        let is = self.listed_window_at(desktop, point)?.map(|hit| (hit.window.uid, hit.window.bounds));
        let change = match (was, &is) {
            (None, None) => return Ok(()),
            (Some((uid, bounds)), Some((now, place))) if uid == now => match changed_place(*bounds, *place) {
                Some(change) => format!("the window {uid} at {},{} {change}", point.x, point.y),
                None => return Ok(()),
            },
            (_, Some((now, _))) => format!("another window, {now}, is at {},{} now", point.x, point.y),
            (Some((uid, _)), None) => format!("the window {uid} is no longer at {},{}", point.x, point.y),
        };
        Err(stale_image(id, &change))
    }
}

fn check_screen(desktop: &DesktopState, id: &str, image: &Image) -> Result<()> {
    let now = desktop.screen()?;
    if let Some(was) = image.screen.filter(|was| Some(*was) != now) {
        let now = now.map_or("unknown".to_owned(), area_text);
        return Err(stale_image(id, &format!("the screen was {} and is {now} now", area_text(was))));
    }
    match changed_monitor(&image.monitors, desktop.monitors()?) {
        Some(change) => Err(stale_image(id, &change)),
        None => Ok(()),
    }
}

fn point_of(image: &Image, spot: PictureSpot) -> Result<Point> {
    match spot {
        PictureSpot::Pixel(pixel) => image.on_screen(pixel).ok_or_else(|| {
            Error::bad_request(format!(
                "the pixel {},{} is outside of the screenshot, which has {}x{} pixels",
                pixel.x, pixel.y, image.width, image.height
            ))
            .with("field", "x")
        }),
        PictureSpot::Cell(cell, offset) => {
            let Some(grid) = image.grid else {
                return Err(Error::bad_request(
                    "row and col need a screenshot with a grid; this one has none, so give x and y in its pixels",
                )
                .with("field", "row"));
            };
            grid.point(image.area, cell, offset).ok_or_else(|| no_such_cell(&grid, cell))
        }
    }
}

fn no_such_cell(grid: &Grid, cell: Cell) -> Error {
    let (field, given, most) =
        if cell.row >= grid.rows { ("row", cell.row, grid.rows) } else { ("col", cell.col, grid.cols) };
    Error::bad_request(format!(
        "argument '{field}' is {given}, but the grid of the screenshot has {field}s 0 to {}",
        most.saturating_sub(1)
    ))
    .with("field", field)
}

fn changed_place(was: Rect, is: Rect) -> Option<String> {
    if (was.width, was.height) != (is.width, is.height) {
        return Some(format!(
            "had {}x{} pixels and has {}x{} now",
            was.width, was.height, is.width, is.height
        ));
    }
    ((was.x, was.y) != (is.x, is.y))
        .then(|| format!("has moved from {},{} to {},{}", was.x, was.y, is.x, is.y))
}

fn changed_monitor(was: &[Monitor], is: &[Monitor]) -> Option<String> {
    if was.len() != is.len() {
        return Some(format!("there were {} monitors and there are {} now", was.len(), is.len()));
    }
    let (was, is) = was.iter().zip(is).find(|(was, is)| was != is)?;
    Some(if was.scale_factor == is.scale_factor {
        format!("a monitor was {} and is {} now", area_text(was.physical), area_text(is.physical))
    } else {
        format!("a monitor had the scale {} and has {} now", was.scale_factor, is.scale_factor)
    })
}

fn area_text(area: Rect) -> String {
    format!("{}x{} at {},{}", area.width, area.height, area.x, area.y)
}

fn stale_image(id: &str, reason: &str) -> Error {
    Error::bad_request(format!("the screenshot '{id}' is out of date: {reason}; take a new one"))
        .with("field", "image_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_place(was: Rect, is: Rect, expected: Option<&str>) {
        assert_eq!(changed_place(was, is).as_deref(), expected);
    }

    #[test]
    fn what_changed_is_named() {
        let was = Rect::new(10, 20, 300, 200);
        check_place(was, was, None);
        check_place(was, Rect { x: -5, ..was }, Some("has moved from 10,20 to -5,20"));
        check_place(was, Rect { width: 301, ..was }, Some("had 300x200 pixels and has 301x200 now"));
    }

    #[test]
    fn a_monitor_that_changed_is_named() {
        let one = Monitor {
            primary: true,
            scale_factor: 1.0,
            logical: Rect::new(0, 0, 800, 600),
            physical: Rect::new(0, 0, 800, 600),
        };
        let scaled = Monitor { scale_factor: 2.0, ..one.clone() };
        let check = |is: &[Monitor], expected: Option<&str>| {
            assert_eq!(changed_monitor(std::slice::from_ref(&one), is).as_deref(), expected);
        };
        check(std::slice::from_ref(&one), None);
        check(&[], Some("there were 1 monitors and there are 0 now"));
        check(&[scaled], Some("a monitor had the scale 1 and has 2 now"));
    }
}
