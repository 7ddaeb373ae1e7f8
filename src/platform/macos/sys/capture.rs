//! Pictures, one pixel for a point, whatever the monitor's own pixels are: by ScreenCaptureKit where it takes screenshots
//! (macOS 14 and later), else by CoreGraphics, whose function newer systems still have and no longer describe.

use std::ffi::c_void;

use core_foundation::array::CFArray;
use core_graphics::geometry::{CGPoint, CGRect, CGSize};
use core_graphics::image::CGImage;
use core_graphics::window::{
    create_image, create_image_from_array, kCGNullWindowID, kCGWindowImageBoundsIgnoreFraming,
    kCGWindowImageNominalResolution, kCGWindowListOptionIncludingWindow, kCGWindowListOptionOnScreenOnly,
};

use super::decode::permissions::missing_recording;
use super::decode::pixels::{self as decoded, Scope};
use super::screenshots;
use crate::error::{Error, Result};
use crate::model::Rect;
use crate::platform::Shot;

/// Windows alone, from the front to the back, also where others cover them.
pub fn windows(ids: &[u32], area: Rect, monitors: &[Rect]) -> Result<Shot> {
    taken(&Scope::Windows(ids.to_vec()), area, monitors)
}

pub fn screen(area: Rect, monitors: &[Rect]) -> Result<Shot> {
    taken(&Scope::Screen, area, monitors)
}

/// Without the permission macOS shows the desktop without windows, which would be a lie.
fn taken(scope: &Scope, area: Rect, monitors: &[Rect]) -> Result<Shot> {
    if !super::permissions::granted().recording {
        return Err(missing_recording());
    }
    let parts = decoded::parts(scope, area, monitors);
    if screenshots::are_there() && !parts.is_empty() {
        match screenshots::take(scope, &parts).and_then(|taken| decoded::assembled(&taken, area)) {
            Ok(shot) => return Ok(shot),
            Err(problem) => {
                tracing::debug!(%problem, "ScreenCaptureKit gave no image; trying CoreGraphics")
            }
        }
    }
    let image = by_core_graphics(scope, rect(area));
    let image =
        image.ok_or_else(|| Error::internal("macOS gave no image: the window or the screen may be gone"))?;
    shot(&image, area)
}

fn by_core_graphics(scope: &Scope, area: CGRect) -> Option<CGImage> {
    let how = kCGWindowImageNominalResolution | kCGWindowImageBoundsIgnoreFraming;
    match scope {
        Scope::Screen => create_image(area, kCGWindowListOptionOnScreenOnly, kCGNullWindowID, how),
        Scope::Windows(ids) => match ids.as_slice() {
            [id] => create_image(area, kCGWindowListOptionIncludingWindow, *id, how),
            // The numbers stand in the list as if they were pointers.
            ids => {
                let ids: Vec<*const c_void> = ids.iter().map(|id| *id as usize as *const c_void).collect();
                create_image_from_array(area, CFArray::from_copyable(&ids), how)
            }
        },
    }
}

fn rect(area: Rect) -> CGRect {
    let origin = CGPoint { x: f64::from(area.x), y: f64::from(area.y) };
    CGRect { origin, size: CGSize { width: f64::from(area.width), height: f64::from(area.height) } }
}

fn shot(image: &CGImage, area: Rect) -> Result<Shot> {
    let data = image.data();
    let raw = decoded::RawPicture {
        bytes: data.bytes(),
        width: image.width(),
        height: image.height(),
        bytes_per_row: image.bytes_per_row(),
        bits_per_pixel: image.bits_per_pixel(),
    };
    decoded::shot(&raw, area)
}
