//! The outputs of the compositor and the picture of all of them, by the screencopy protocol of wlroots.
//!
//! xcap, which knows the portal's way too, asks an X server for the monitors first and so works beside one only (see
//! `linux/xwayland.rs`); the library below it, which is used here, does not.

use std::sync::mpsc;
use std::time::Duration;

use libwayshot_xcap::WayshotConnection;
use libwayshot_xcap::output::OutputInfo;
use libwayshot_xcap::reexport::Transform;

use crate::error::{Error, Kind, Result};
use crate::model::image::Picture;
use crate::model::{Monitor, Rect};

/// A compositor that takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// A portal may ask the person first.
pub const PATIENCE_OF_PORTAL: Duration = Duration::from_secs(60);

/// A monitor, as the compositor lays it out.
#[derive(Clone, Debug, PartialEq)]
pub struct WaylandOutput {
    pub logical: Rect,
    pub physical: Rect,
    pub scale: f64,
    pub upright: bool,
}

impl WaylandOutput {
    fn of(info: &OutputInfo) -> Self {
        let side = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
        let region = info.logical_region.inner;
        let logical = Rect::new(
            region.position.x,
            region.position.y,
            side(region.size.width),
            side(region.size.height),
        );
        let upright = info.transform == Transform::Normal;
        let (mut width, mut height) = (side(info.physical_size.width), side(info.physical_size.height));
        if matches!(
            info.transform,
            Transform::_90 | Transform::_270 | Transform::Flipped90 | Transform::Flipped270
        ) {
            (width, height) = (height, width);
        }
        Self::new(logical, (width, height), upright)
    }

    fn new(logical: Rect, (width, height): (i32, i32), upright: bool) -> Self {
        let scale = f64::from(height) / f64::from(logical.height.max(1));
        let scaled = |at: i32| (f64::from(at) * scale).round() as i32;
        Self {
            logical,
            physical: Rect::new(scaled(logical.x), scaled(logical.y), width, height),
            scale,
            upright,
        }
    }

    pub fn monitor(&self, primary: bool) -> Monitor {
        Monitor { primary, scale_factor: self.scale, logical: self.logical, physical: self.physical }
    }
}

/// The output on which a pixel of the picture is a place for the pointer: the only one, not turned.
pub fn only_output(outputs: &[WaylandOutput]) -> Result<&WaylandOutput, &'static str> {
    match outputs {
        [output] if output.upright => Ok(output),
        [_] => Err("the output is rotated, so the compositor's pixels are not those of the screenshot"),
        _ => Err("there are several outputs, so it is not known which of them a point is on"),
    }
}

/// The screen as far as the compositor tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Screen {
    pub outputs: Vec<WaylandOutput>,
    /// It gives pictures of them.
    pub pictures: bool,
}

pub fn query_outputs() -> Result<Screen> {
    run_aside("outputs", PATIENCE, || {
        let connection = WayshotConnection::new().map_err(|problem| no_outputs(&problem.to_string()))?;
        let is_screencopy = |name: &str| name == "zwlr_screencopy_manager_v1";
        Ok(Screen {
            outputs: connection.get_all_outputs().iter().map(WaylandOutput::of).collect(),
            pictures: connection
                .globals
                .contents()
                .with_list(|all| all.iter().any(|it| is_screencopy(&it.interface))),
        })
    })
}

/// All outputs in one picture.
pub fn capture_screen() -> Result<Picture> {
    let screen = query_outputs()?;
    if !screen.pictures {
        return Err(no_picture("it does not offer it"));
    }
    if !screen.outputs.iter().all(|output| output.upright) {
        return Err(no_picture("an output is rotated, and the screenshot would be distorted"));
    }
    run_aside("picture", PATIENCE, || {
        let connection = WayshotConnection::new().map_err(|problem| no_outputs(&problem.to_string()))?;
        let image = connection.screenshot_all(false).map_err(|problem| no_picture(&problem.to_string()))?;
        let image = image.into_rgba8();
        Ok(Picture::from_rgba(image.width(), image.height(), image.into_raw())?)
    })
}

/// On a thread of its own: the library panics where the compositor lacks a protocol, and waits without an end.
pub fn run_aside<T, F>(phase: &'static str, patience: Duration, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    let (tell, answer) = mpsc::channel();
    let started =
        std::thread::Builder::new().name(format!("wayland {phase}")).spawn(move || tell.send(work()));
    started.map_err(|problem| Error::internal(format!("cannot start the compositor thread: {problem}")))?;
    match answer.recv_timeout(patience) {
        Ok(answer) => answer,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(Error::new(
            Kind::Timeout,
            format!("the compositor did not answer within {} s", patience.as_secs()),
        )
        .with("phase", phase)),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(no_outputs("it lacks a required protocol, such as xdg-output 3"))
        }
    }
}

fn no_outputs(why: &str) -> Error {
    let message = format!(
        "the compositor does not report its outputs ({why}), so there are no screenshots and no pointer; \
         windows, elements and keys are not affected"
    );
    Error::new(Kind::PlatformUnsupported, message)
}

fn no_picture(why: &str) -> Error {
    let message = format!(
        "the compositor gives no screenshot through the wlroots protocol ({why}); the portal works only with \
         an X server: start Xwayland and set DISPLAY, or read the windows' trees"
    );
    Error::new(Kind::PlatformUnsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(logical: Rect, size: (i32, i32)) -> WaylandOutput {
        WaylandOutput::new(logical, size, true)
    }

    #[test]
    fn a_scaled_output_has_more_pixels_than_units() {
        let output = output(Rect::new(640, 0, 640, 360), (1280, 720));
        assert_eq!((output.scale, output.physical), (2.0, Rect::new(1280, 0, 1280, 720)));
    }

    #[test]
    fn the_pointer_needs_one_upright_output() {
        let one = output(Rect::new(0, 0, 640, 360), (640, 360));
        assert_eq!(only_output(std::slice::from_ref(&one)), Ok(&one));
        let turned = WaylandOutput { upright: false, ..one.clone() };
        assert!(only_output(&[turned]).unwrap_err().contains("rotated"));
        assert!(only_output(&[one.clone(), one]).unwrap_err().contains("several"));
        assert!(only_output(&[]).is_err());
    }

    #[test]
    fn a_library_that_panics_is_an_error() {
        let error = run_aside("test", PATIENCE, || -> Result<()> { panic!("no protocol") }).unwrap_err();
        assert_eq!(error.kind, Kind::PlatformUnsupported);
    }
}
