//! Pictures of the screen and of windows.
//!
//! A window that nothing covers is read off the screen, with the menus that lie over it: that is exactly what a person
//! sees. One that is covered is asked to draw itself (`PrintWindow`), which some programs answer with one
//! flat colour; then the screenshot is an error that says so.
#![allow(unsafe_code, reason = "the Windows API is C")]

use windows::Win32::Graphics::Gdi::{
    BI_RGB, BITMAPINFO, BITMAPINFOHEADER, BitBlt, CAPTUREBLT, CreateCompatibleDC, CreateDIBSection,
    DIB_RGB_COLORS, DeleteDC, DeleteObject, GdiFlush, GetDC, HBITMAP, HDC, HGDIOBJ, ReleaseDC, SRCCOPY,
    SelectObject,
};
use windows::Win32::Storage::Xps::{PRINT_WINDOW_FLAGS, PrintWindow};
use windows::Win32::UI::WindowsAndMessaging::IsHungAppWindow;

use super::decode::capture::{Way, way};
use super::decode::coordinates::rgba_of;
use super::decode::desktop::{RawWindow, Sight, gone, hwnd_of};
use super::decode::worker::Lanes;
use super::desktop::{self, handle};
use crate::clock::Cancel;
use crate::config::limits::PLATFORM_CALL_TIME;
use crate::error::{Error, Kind, Result};
use crate::model::Rect;
use crate::model::image::{MAX_PIXELS, Picture};
use crate::platform::Shot;

/// Also what the graphics card draws (Windows 8.1 and later).
const PW_RENDERFULLCONTENT: PRINT_WINDOW_FLAGS = PRINT_WINDOW_FLAGS(2);

pub fn screen_picture() -> Result<Shot> {
    region_picture(desktop::screen())
}

pub fn region_picture(area: Rect) -> Result<Shot> {
    let screen = desktop::screen();
    let area = area.intersection(&screen).ok_or_else(|| {
        Error::bad_request("the area is outside of the screen").with("area", area).with("screen", screen)
    })?;
    let canvas = Canvas::new(area)?;
    canvas.copy_from_screen()?;
    canvas.shot()
}

/// Threads that wait for windows to draw themselves.
pub type Painters = Lanes<()>;

pub fn painters() -> Painters {
    Lanes::new("painting", || Ok(()))
}

pub fn window_picture(painters: &Painters, uid: &str) -> Result<Shot> {
    let hwnd = hwnd_of(uid)?;
    let sight = desktop::look()?;
    let raw = sight.find(hwnd).filter(|raw| raw.visible).ok_or_else(|| gone(uid))?;
    match way(&sight, raw, desktop::screen()) {
        Way::None => Err(no_picture(uid)),
        Way::Screen(area) => region_picture(area),
        Way::Itself => drawn_by_itself(painters, &sight, raw, uid),
    }
}

fn no_picture(uid: &str) -> Error {
    Error::new(
        Kind::WindowOccluded,
        "the window is minimized or on another desktop, so there is no screenshot of it; bring it to the front first",
    )
    .with("window_uid", uid)
}

/// The whole window with its invisible border, of which only what a person sees is kept.
fn drawn_by_itself(painters: &Painters, sight: &Sight, raw: &RawWindow, uid: &str) -> Result<Shot> {
    let why = match print(painters, raw) {
        Ok(Some(shot)) => {
            let shot = shot.part(raw.bounds());
            if !shot.picture.is_one_colour() {
                return Ok(shot);
            }
            "does not support PrintWindow"
        }
        Ok(None) => "does not support PrintWindow",
        Err(error) if error.kind == Kind::Timeout => "does not answer",
        Err(error) => return Err(error),
    };
    let covering = super::decode::capture::covering(sight, raw).map_or_else(
        || "it is not wholly on the screen".to_owned(),
        |other| format!("'{}' covers it", other.title),
    );
    let message =
        format!("the window {why}, and {covering}; bring it to the front and take the screenshot again");
    Err(Error::new(Kind::WindowOccluded, message).with("window_uid", uid))
}

/// Drawing is done by the window's own thread, which may hang: it is waited for on a thread that can be left behind.
fn print(painters: &Painters, raw: &RawWindow) -> Result<Option<Shot>> {
    let (hwnd, rect) = (raw.hwnd, raw.rect);
    // SAFETY: a handle that may be stale; Windows knows by itself whether the window has answered lately.
    if unsafe { IsHungAppWindow(handle(hwnd)) }.as_bool() {
        return Err(Error::new(Kind::Timeout, "the window does not answer"));
    }
    let painter = painters.of(raw.pid)?;
    painter.run("drawing the window", PLATFORM_CALL_TIME, &Cancel::new(), move |()| {
        let canvas = Canvas::new(rect)?;
        if canvas.print(hwnd) { canvas.shot().map(Some) } else { Ok(None) }
    })
}

/// Memory that Windows draws into.
struct Canvas {
    area: Rect,
    context: HDC,
    bitmap: HBITMAP,
    before: HGDIOBJ,
    /// Where the pixels are: rows from the top without padding, four bytes a pixel.
    pixels: *const u8,
}

impl Canvas {
    fn new(area: Rect) -> Result<Self> {
        let (width, height) = (area.width.max(0), area.height.max(0));
        if width == 0 || height == 0 {
            return Err(Error::bad_request("an area without pixels has no screenshot"));
        }
        if u64::from(width.unsigned_abs()) * u64::from(height.unsigned_abs()) > MAX_PIXELS {
            return Err(Error::bad_request("the area has too many pixels for a screenshot"));
        }
        let format = BITMAPINFO {
            bmiHeader: BITMAPINFOHEADER {
                biSize: size_of::<BITMAPINFOHEADER>() as u32,
                biWidth: width,
                // Negative: the first row is the upper one.
                biHeight: -height,
                biPlanes: 1,
                biBitCount: 32,
                biCompression: BI_RGB.0,
                ..Default::default()
            },
            ..Default::default()
        };
        let mut pixels = std::ptr::null_mut();
        // SAFETY: the format outlives the call; the memory belongs to the bitmap, which `drop` ends after its last use.
        unsafe {
            let context = CreateCompatibleDC(None);
            match CreateDIBSection(Some(context), &raw const format, DIB_RGB_COLORS, &raw mut pixels, None, 0)
            {
                Ok(bitmap) if !pixels.is_null() => {
                    let before = SelectObject(context, bitmap.into());
                    Ok(Self { area, context, bitmap, before, pixels: pixels.cast_const().cast() })
                }
                failed => {
                    let _ = DeleteDC(context);
                    let why = failed.err().map_or_else(String::new, |problem| format!(": {problem}"));
                    Err(Error::internal(format!("Windows gives no memory for a screenshot{why}")))
                }
            }
        }
    }

    fn copy_from_screen(&self) -> Result<()> {
        let Rect { x, y, width, height } = self.area;
        // SAFETY: the screen's context is given back at once; both contexts are alive.
        let copied = unsafe {
            let screen = GetDC(None);
            let copied = BitBlt(self.context, 0, 0, width, height, Some(screen), x, y, SRCCOPY | CAPTUREBLT);
            ReleaseDC(None, screen);
            copied
        };
        copied.map_err(|problem| {
            Error::new(
                Kind::PlatformUnsupported,
                format!("Windows gives no screenshot of the screen ({problem}); it may be locked"),
            )
        })
    }

    fn print(&self, hwnd: u64) -> bool {
        // SAFETY: a handle that may be stale, and a context that is alive.
        unsafe { PrintWindow(handle(hwnd), self.context, PW_RENDERFULLCONTENT) }.as_bool()
    }

    fn shot(self) -> Result<Shot> {
        let (width, height) = (self.area.width.unsigned_abs(), self.area.height.unsigned_abs());
        let length = width as usize * height as usize * 4;
        // SAFETY: the bitmap has exactly these bytes, and drawing into it has ended with the flush.
        let bytes = unsafe {
            let _ = GdiFlush();
            std::slice::from_raw_parts(self.pixels, length)
        };
        let picture = Picture::from_rgba(width, height, rgba_of(bytes.to_vec()))?;
        Ok(Shot { picture, area: self.area })
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        // SAFETY: all three were made by `new` and are used no more; the bitmap is taken out before it is ended.
        unsafe {
            SelectObject(self.context, self.before);
            let _ = DeleteObject(self.bitmap.into());
            let _ = DeleteDC(self.context);
        }
    }
}
