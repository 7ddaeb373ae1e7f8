//! Screenshots by ScreenCaptureKit. It answers on its own threads: first what can be captured, then the
//! image. Nothing but plain bytes leaves those threads, and the caller waits for them with a deadline.
#![allow(unsafe_code, reason = "ScreenCaptureKit is Objective-C without promises")]

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use block2::RcBlock;
use core_graphics::display::CGDisplay;
use objc2::AnyThread;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::AnyClass;
use objc2_core_foundation::{CGPoint, CGRect, CGSize};
use objc2_core_graphics::{CGDataProvider, CGImage};
use objc2_foundation::{NSArray, NSError};
use objc2_screen_capture_kit::{
    SCContentFilter, SCDisplay, SCScreenshotManager, SCShareableContent, SCStreamConfiguration, SCWindow,
};

use super::decode::pixels::{OwnedPicture, Scope, Taken};
use crate::error::{Error, Result};
use crate::model::Rect;

/// A busy system takes a tenth of it.
const TIME: Duration = Duration::from_secs(5);
/// `kCVPixelFormatType_32BGRA`
const BGRA: u32 = u32::from_be_bytes(*b"BGRA");

type Answer = Result<OwnedPicture, String>;

pub fn are_there() -> bool {
    AnyClass::get(c"SCScreenshotManager").is_some()
}

/// A picture of each part, one after the other.
pub fn take(scope: &Scope, parts: &[Rect]) -> Result<Vec<Taken>> {
    // A process without windows has no way to the window server until it asks for something of it, and
    // ScreenCaptureKit ends such a process.
    let _ = CGDisplay::main();
    parts.iter().map(|part| one(scope, *part).map(|picture| Taken { area: *part, picture })).collect()
}

fn one(scope: &Scope, part: Rect) -> Result<OwnedPicture> {
    let (tell, answer) = channel();
    autoreleasepool(|_| ask_for_content(scope.clone(), part, tell));
    let answer = answer.recv_timeout(TIME).map_err(|_| Error::internal("ScreenCaptureKit did not answer"))?;
    answer.map_err(|problem| Error::internal(format!("ScreenCaptureKit: {problem}")))
}

fn ask_for_content(scope: Scope, part: Rect, tell: Sender<Answer>) {
    let handler = RcBlock::new(move |content: *mut SCShareableContent, error: *mut NSError| {
        // SAFETY: the system hands over nothing, or an object that lives until this returns.
        let content = unsafe { content.as_ref() };
        let asked = content.ok_or_else(|| said(error)).and_then(|content| filter(content, &scope, part));
        match asked {
            Ok((filter, area)) => ask_for_picture(&filter, area, part, tell.clone()),
            // Whoever gave up waiting does not hear it.
            Err(problem) => _ = tell.send(Err(problem)),
        }
    });
    // SAFETY: the handler has the type that is wanted; the system keeps it until it was called.
    unsafe {
        SCShareableContent::getShareableContentExcludingDesktopWindows_onScreenWindowsOnly_completionHandler(
            false, true, &handler,
        );
    }
}

fn ask_for_picture(filter: &SCContentFilter, area: Option<CGRect>, part: Rect, tell: Sender<Answer>) {
    let side = |length: i32| usize::try_from(length).unwrap_or(0);
    // SAFETY: settings of an object that is ours alone until it is handed over.
    let settings = unsafe {
        let settings = SCStreamConfiguration::new();
        settings.setWidth(side(part.width));
        settings.setHeight(side(part.height));
        settings.setPixelFormat(BGRA);
        settings.setShowsCursor(false);
        settings.setIgnoreShadowsSingleWindow(true);
        settings.setIgnoreShadowsDisplay(true);
        if let Some(area) = area {
            settings.setSourceRect(area);
        }
        settings
    };
    let handler = RcBlock::new(move |image: *mut CGImage, error: *mut NSError| {
        // SAFETY: the system hands over nothing, or an image that lives until this returns.
        let image = unsafe { image.as_ref() };
        // Whoever gave up waiting does not hear it.
        let _ = tell.send(image.ok_or_else(|| said(error)).map(copied));
    });
    // SAFETY: the handler has the type that is wanted; the system keeps it until it was called.
    unsafe {
        SCScreenshotManager::captureImageWithFilter_configuration_completionHandler(
            filter,
            &settings,
            Some(&handler),
        );
    }
}

/// What is pictured, and which part of it where it is not the whole.
fn filter(
    content: &SCShareableContent,
    scope: &Scope,
    part: Rect,
) -> Result<(Retained<SCContentFilter>, Option<CGRect>), String> {
    let blank = SCContentFilter::alloc();
    if let Scope::Windows(ids) = scope
        && let [id] = ids.as_slice()
    {
        let window = windows(content, &[*id]).into_iter().next();
        let window = window.ok_or("the window is not among those that can be captured")?;
        // SAFETY: a window that is alive.
        return Ok((unsafe { SCContentFilter::initWithDesktopIndependentWindow(blank, &window) }, None));
    }
    let (display, bounds) = display(content, part).ok_or("the monitor cannot be captured")?;
    // SAFETY: objects that are alive.
    let filter = unsafe {
        match scope {
            Scope::Screen => {
                SCContentFilter::initWithDisplay_excludingWindows(blank, &display, &NSArray::new())
            }
            Scope::Windows(ids) => {
                let windows = NSArray::from_retained_slice(&windows(content, ids));
                SCContentFilter::initWithDisplay_includingWindows(blank, &display, &windows)
            }
        }
    };
    let origin = CGPoint { x: f64::from(part.x) - bounds.origin.x, y: f64::from(part.y) - bounds.origin.y };
    let size = CGSize { width: f64::from(part.width), height: f64::from(part.height) };
    Ok((filter, Some(CGRect { origin, size })))
}

fn windows(content: &SCShareableContent, ids: &[u32]) -> Vec<Retained<SCWindow>> {
    // SAFETY: questions to objects that are alive.
    unsafe {
        let all = content.windows().to_vec();
        all.into_iter().filter(|window| ids.contains(&window.windowID())).collect()
    }
}

/// The monitor on which a part lies, and where it is; a part lies on one.
fn display(
    content: &SCShareableContent,
    part: Rect,
) -> Option<(Retained<SCDisplay>, core_graphics::geometry::CGRect)> {
    // SAFETY: questions to objects that are alive.
    let displays = unsafe { content.displays() }.to_vec().into_iter().map(|display| {
        let bounds = CGDisplay::new(unsafe { display.displayID() }).bounds();
        (display, bounds)
    });
    let center = part.center();
    let center = core_graphics::geometry::CGPoint { x: f64::from(center.x), y: f64::from(center.y) };
    displays.into_iter().find(|(_, bounds)| bounds.contains(&center))
}

fn copied(image: &CGImage) -> OwnedPicture {
    let image = Some(image);
    let data = CGDataProvider::data(CGImage::data_provider(image).as_deref());
    OwnedPicture {
        bytes: data.map(|data| data.to_vec()).unwrap_or_default(),
        width: CGImage::width(image),
        height: CGImage::height(image),
        bytes_per_row: CGImage::bytes_per_row(image),
        bits_per_pixel: CGImage::bits_per_pixel(image),
    }
}

fn said(error: *mut NSError) -> String {
    // SAFETY: the system hands over nothing, or an object that lives until its handler returns.
    let error = unsafe { error.as_ref() };
    error.map_or_else(
        || "no answer and no reason".to_owned(),
        |error| error.localizedDescription().to_string(),
    )
}
