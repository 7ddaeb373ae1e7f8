//! The clipboard of Windows: it is opened, read or written, and closed at once, because while one program has it open
//! no other gets to it. No text is logged.
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::time::Duration;

use windows::Win32::Foundation::{GlobalFree, HANDLE, HGLOBAL, HWND};
use windows::Win32::System::DataExchange::{
    CloseClipboard, EmptyClipboard, EnumClipboardFormats, GetClipboardData, GetClipboardFormatNameW,
    OpenClipboard, SetClipboardData,
};
use windows::Win32::System::Memory::{GMEM_MOVEABLE, GlobalAlloc, GlobalLock, GlobalSize, GlobalUnlock};
use windows::Win32::System::Ole::CF_UNICODETEXT;
use windows::Win32::UI::WindowsAndMessaging::{
    CreateWindowExW, DestroyWindow, HWND_MESSAGE, WINDOW_EX_STYLE, WINDOW_STYLE,
};
use windows::core::{PCWSTR, w};

use crate::clock::{Cancel, Clock};
use crate::config::limits::CLIPBOARD_BYTES;
use crate::error::{Error, Kind, Result};
use crate::model::app::Clip;
use crate::platform::Clipboard;

/// Others have it open for moments.
const TRIES: u32 = 40;
const BETWEEN_TRIES: Duration = Duration::from_millis(25);
const MOST_FORMATS: usize = 64;
const TEXT: u32 = CF_UNICODETEXT.0 as u32;

pub struct WindowsClipboard {
    pub clock: Clock,
}

impl Clipboard for WindowsClipboard {
    fn read(&self, cancel: &Cancel) -> Result<Clip> {
        let open = Open::new(&self.clock, cancel)?;
        match open.text()? {
            Some(text) => Ok(Clip { text: Some(text), formats: Vec::new() }),
            None => Ok(Clip { text: None, formats: open.formats() }),
        }
    }

    /// What was put there is read back: return codes say less.
    fn write(&self, text: &str) -> Result<()> {
        let cancel = Cancel::new();
        {
            let open = Open::new(&self.clock, &cancel)?;
            open.put(text)?;
        }
        if self.read(&cancel)?.text.as_deref() == Some(text) {
            return Ok(());
        }
        Err(Error::internal("the clipboard has something else than the text that was set"))
    }
}

/// The clipboard, ours until this ends.
struct Open {
    /// Without a window of its own nobody owns what is put there, and Windows may refuse to take it.
    _window: Window,
}

/// A window that nobody sees and that gets no messages but its own.
struct Window(HWND);

impl Window {
    fn new() -> Result<Self> {
        // SAFETY: a class that every Windows has; nothing is passed to it. `drop` ends the window, on the same thread.
        let made = unsafe {
            CreateWindowExW(
                WINDOW_EX_STYLE(0),
                w!("STATIC"),
                PCWSTR::null(),
                WINDOW_STYLE(0),
                0,
                0,
                0,
                0,
                Some(HWND_MESSAGE),
                None,
                None,
                None,
            )
        };
        made.map(Self).map_err(|problem| {
            Error::internal(format!("there is no window to open the clipboard with: {problem}"))
        })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: `new` made it on this thread, which the value does not leave: it is on the stack of one call.
        let ended = unsafe { DestroyWindow(self.0) };
        debug_assert!(ended.is_ok(), "{ended:?}");
    }
}

impl Open {
    fn new(clock: &Clock, cancel: &Cancel) -> Result<Self> {
        let window = Window::new()?;
        for _ in 0..TRIES {
            // SAFETY: the window is this thread's own; `drop` closes the clipboard before it ends the window.
            if unsafe { OpenClipboard(Some(window.0)) }.is_ok() {
                return Ok(Self { _window: window });
            }
            clock.sleep(BETWEEN_TRIES, cancel)?;
        }
        Err(Error::new(Kind::Timeout, "another program keeps the clipboard open").with("phase", "clipboard"))
    }

    fn text(&self) -> Result<Option<String>> {
        // SAFETY: the clipboard is open. The handle belongs to it and is only read, within the size that Windows tells.
        unsafe {
            let Ok(data) = GetClipboardData(TEXT) else { return Ok(None) };
            let memory = HGLOBAL(data.0);
            let size = GlobalSize(memory);
            if size > 2 * CLIPBOARD_BYTES {
                return Err(Error::bad_request("the text on the clipboard is too long"));
            }
            let start = GlobalLock(memory).cast::<u16>();
            if start.is_null() {
                return Ok(None);
            }
            let units = std::slice::from_raw_parts(start, size / 2);
            let end = units.iter().position(|unit| *unit == 0).unwrap_or(units.len());
            let text = String::from_utf16_lossy(units.get(..end).unwrap_or_default());
            // An error here says that it was locked once, which it was.
            let _ = GlobalUnlock(memory);
            Ok(Some(text))
        }
    }

    /// The names of what it offers; those without one are known by their numbers.
    fn formats(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut format = 0;
        while names.len() < MOST_FORMATS {
            let mut units = [0; 128];
            // SAFETY: the clipboard is open; the buffer's length is passed with it.
            let length = unsafe {
                format = EnumClipboardFormats(format);
                if format == 0 { 0 } else { GetClipboardFormatNameW(format, &mut units) }
            };
            if format == 0 {
                break;
            }
            let name = units.get(..usize::try_from(length).unwrap_or(0)).unwrap_or_default();
            names.push(if name.is_empty() {
                format!("format {format}")
            } else {
                String::from_utf16_lossy(name)
            });
        }
        names
    }

    fn put(&self, text: &str) -> Result<()> {
        let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
        let failed = |problem: windows::core::Error| {
            Error::internal(format!("the clipboard does not accept the text: {problem}"))
        };
        // SAFETY: the memory has room for all units, and belongs to the clipboard once that took it; else it is freed.
        unsafe {
            EmptyClipboard().map_err(failed)?;
            let memory = GlobalAlloc(GMEM_MOVEABLE, units.len() * 2).map_err(failed)?;
            let start = GlobalLock(memory).cast::<u16>();
            if start.is_null() {
                let _ = GlobalFree(Some(memory));
                return Err(Error::internal("there is no memory for the text"));
            }
            std::ptr::copy_nonoverlapping(units.as_ptr(), start, units.len());
            let _ = GlobalUnlock(memory);
            if let Err(problem) = SetClipboardData(TEXT, Some(HANDLE(memory.0))) {
                let _ = GlobalFree(Some(memory));
                return Err(failed(problem));
            }
        }
        Ok(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: `new` opened it.
        let closed = unsafe { CloseClipboard() };
        debug_assert!(closed.is_ok(), "{closed:?}");
    }
}
