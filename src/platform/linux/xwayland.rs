//! An X server inside a Wayland session: its windows are true, its picture of the whole screen is not, because the
//! other programs' windows are not on it. The compositor is asked instead, by the protocol of wlroots or, through xcap, by
//! the portal.

use x11rb::protocol::randr::ConnectionExt as _;

use super::wayland;
use super::x11::X11Error;
use super::x11_stream::X11Stream;
use crate::clock::Clock;
#[cfg(not(feature = "wayland"))]
use crate::error::Kind;
use crate::error::{Error, Result};
use crate::platform::Shot;
use crate::platform::session_env::SessionEnv;

/// Newer ones say so by an extension, older ones by the names of their outputs.
pub fn is_xwayland(connection: &X11Stream, root: u32, has_outputs: bool) -> Result<bool, X11Error> {
    use x11rb::protocol::xproto::ConnectionExt as _;
    if connection.query_extension(b"XWAYLAND")?.reply()?.present {
        return Ok(true);
    }
    if !has_outputs {
        return Ok(false);
    }
    let resources = connection.randr_get_screen_resources_current(root)?.reply()?;
    for output in resources.outputs {
        let facts = connection.randr_get_output_info(output, resources.config_timestamp)?.reply()?;
        if facts.name.starts_with(b"XWAYLAND") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The whole screen by the protocol of wlroots, or by the portal.
pub fn screen_picture(clock: &Clock) -> Result<Shot> {
    wayland::screen_beside_x11(clock, &SessionEnv::read()).or_else(by_portal)
}

#[cfg(not(feature = "wayland"))]
fn by_portal(error: Error) -> Result<Shot> {
    let message = format!(
        "this X server is part of a Wayland session and does not see the whole screen, and {}; name a window instead, or \
         build with the cargo feature `wayland`, which asks the portal",
        error.message
    );
    Err(Error::new(Kind::PlatformUnsupported, message))
}

#[cfg(feature = "wayland")]
fn by_portal(error: Error) -> Result<Shot> {
    tracing::debug!(%error, "the portal is asked for the screen");
    by_xcap::screen_picture()
}

#[cfg(feature = "wayland")]
mod by_xcap {
    use std::sync::mpsc;
    use std::time::Duration;

    use xcap::{Monitor, XCapError};

    use crate::error::{Error, Kind, Result};
    use crate::model::Rect;
    use crate::model::image::{BLACK, Picture};
    use crate::platform::Shot;

    /// A portal may ask the person first.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// On a thread of its own: the library waits without an end.
    fn run_aside<T, F>(work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T> + Send + 'static,
    {
        let (tell, answer) = mpsc::channel();
        let started = std::thread::Builder::new().name("portal".to_owned()).spawn(move || tell.send(work()));
        started.map_err(|problem| Error::internal(format!("cannot start the portal's thread: {problem}")))?;
        let late = |_| {
            let message = format!("the portal gave no screenshot within {} s", PATIENCE.as_secs());
            Error::new(Kind::Timeout, message).with("phase", "picture")
        };
        answer.recv_timeout(PATIENCE).map_err(late)?
    }

    /// All monitors, each where the X server has it.
    pub fn screen_picture() -> Result<Shot> {
        run_aside(|| {
            let monitors = Monitor::all().map_err(failed)?;
            let shots = monitors.iter().map(picture_of).collect::<Result<Vec<Shot>>>()?;
            assembled(&shots)
        })
    }

    fn picture_of(monitor: &Monitor) -> Result<Shot> {
        let side = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
        let (x, y) = (monitor.x().map_err(failed)?, monitor.y().map_err(failed)?);
        let image = monitor.capture_image().map_err(failed)?;
        let area = Rect::new(x, y, side(image.width()), side(image.height()));
        let told = (monitor.width().map_err(failed)?, monitor.height().map_err(failed)?);
        if told != image.dimensions() {
            let message = format!(
                "the compositor's screenshot of a monitor has {:?} pixels and the X server reports {told:?}, \
                 so points in it would be wrong; name a window instead",
                image.dimensions()
            );
            return Err(Error::new(Kind::PlatformUnsupported, message));
        }
        Ok(Shot { picture: Picture::from_rgba(image.width(), image.height(), image.into_raw())?, area })
    }

    fn assembled(shots: &[Shot]) -> Result<Shot> {
        let edge = |pick: fn(&Rect) -> i32| shots.iter().map(move |shot| pick(&shot.area));
        let (left, top) = (edge(|area| area.x).min().unwrap_or(0), edge(|area| area.y).min().unwrap_or(0));
        let (right, bottom) = (edge(Rect::right).max().unwrap_or(0), edge(Rect::bottom).max().unwrap_or(0));
        let area = Rect::new(left, top, right.saturating_sub(left), bottom.saturating_sub(top));
        let side = |pixels: i32| u32::try_from(pixels).unwrap_or(0);
        let mut picture = Picture::new(side(area.width), side(area.height), BLACK)?;
        for shot in shots {
            picture.draw_over(
                &shot.picture,
                shot.area.x.saturating_sub(left),
                shot.area.y.saturating_sub(top),
            );
        }
        Ok(Shot { picture, area })
    }

    fn failed(problem: XCapError) -> Error {
        let message = format!(
            "neither the portal nor the wlroots protocol gave a screenshot of the screen ({problem}); name a \
             window to capture it alone"
        );
        Error::new(Kind::PlatformUnsupported, message)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn monitors_lie_side_by_side() {
            let shot = |x: i32, color| Shot {
                picture: Picture::new(2, 1, color).unwrap(),
                area: Rect::new(x, 5, 2, 1),
            };
            let (red, blue) = ([255, 0, 0, 255], [0, 0, 255, 255]);
            let whole = assembled(&[shot(2, red), shot(4, blue)]).unwrap();
            assert_eq!(whole.area, Rect::new(2, 5, 4, 1));
            assert_eq!(whole.picture.rgba(), [red, red, blue, blue].concat());
        }
    }
}
