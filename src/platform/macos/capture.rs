//! Pictures by CoreGraphics, one pixel for a point, whatever the monitor's own pixels are.

use core_graphics::geometry::{CGPoint, CGRect, CGSize};
use core_graphics::image::CGImage;
use core_graphics::window::{
    create_image, kCGNullWindowID, kCGWindowImageBoundsIgnoreFraming, kCGWindowImageNominalResolution,
    kCGWindowListOptionIncludingWindow, kCGWindowListOptionOnScreenOnly,
};

use super::sense::permissions::missing_recording;
use super::sense::pixels;
use crate::error::{Error, Result};
use crate::model::Rect;
use crate::platform::Shot;

/// A window alone, also where others cover it.
pub fn window(id: u32, bounds: Rect) -> Result<Shot> {
    picture(bounds, kCGWindowListOptionIncludingWindow, id)
}

pub fn screen(area: Rect) -> Result<Shot> {
    picture(area, kCGWindowListOptionOnScreenOnly, kCGNullWindowID)
}

/// Without the permission macOS shows the desktop without windows, which would be a lie.
fn picture(area: Rect, option: u32, id: u32) -> Result<Shot> {
    if !super::permissions::granted().recording {
        return Err(missing_recording());
    }
    let how = kCGWindowImageNominalResolution | kCGWindowImageBoundsIgnoreFraming;
    let image = create_image(rect(area), option, id, how);
    let image = image
        .ok_or_else(|| Error::internal("macOS gave no picture: the window or the screen may be gone"))?;
    shot(&image, area)
}

fn rect(area: Rect) -> CGRect {
    let origin = CGPoint { x: f64::from(area.x), y: f64::from(area.y) };
    CGRect { origin, size: CGSize { width: f64::from(area.width), height: f64::from(area.height) } }
}

fn shot(image: &CGImage, area: Rect) -> Result<Shot> {
    let data = image.data();
    let raw = pixels::RawPicture {
        bytes: data.bytes(),
        width: image.width(),
        height: image.height(),
        bytes_per_row: image.bytes_per_row(),
        bits_per_pixel: image.bits_per_pixel(),
    };
    pixels::shot(&raw, area)
}
