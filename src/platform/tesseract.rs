//! The C interface of libtesseract, loaded at run time by the process that reads text.
//!
//! Only what the OCR worker calls: start an engine for one language, give it a grey picture, take its table. The
//! functions are those of tesseract's `capi.h`, whose types have not changed since version 4. Nothing here runs in the
//! server: the library and the fifty that it needs cost ten milliseconds and twelve megabytes.
#![allow(unsafe_code, reason = "libtesseract is called by functions of C that are found at run time")]

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr::{self, NonNull};

use libloading::Library;

use super::Grey;

/// By their names the dynamic linker finds them where the system has them.
#[cfg(all(unix, not(target_os = "macos")))]
const LIBRARIES: &[&str] = &["libtesseract.so.5", "libtesseract.so.4", "libtesseract.so"];
/// The dynamic linker does not look where Homebrew installs.
#[cfg(target_os = "macos")]
const LIBRARIES: &[&str] = &[
    "/opt/homebrew/lib/libtesseract.5.dylib",
    "/usr/local/lib/libtesseract.5.dylib",
    "/opt/local/lib/libtesseract.5.dylib",
];
/// A DLL that is loaded by its name may come from the current folder, which anybody can have written to.
#[cfg(windows)]
const LIBRARIES: &[&str] = &[];

/// Why there is no engine, or no table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// This machine does not have the library, which is no fault.
    NotInstalled(String),
    Failed(String),
}

impl EngineError {
    pub fn message(&self) -> &str {
        match self {
            Self::NotInstalled(message) | Self::Failed(message) => message,
        }
    }
}

/// An engine that has loaded its language, on the thread that started it.
pub struct TesseractEngine {
    functions: Functions,
    handle: NonNull<c_void>,
    library: &'static str,
}

type ApiHandle = *mut c_void;

/// Pointers into a library that stays loaded until the process ends.
#[derive(Clone, Copy)]
struct Functions {
    version: unsafe extern "C" fn() -> *const c_char,
    create: unsafe extern "C" fn() -> ApiHandle,
    delete: unsafe extern "C" fn(ApiHandle),
    init: unsafe extern "C" fn(ApiHandle, *const c_char, *const c_char) -> c_int,
    set_page_seg_mode: unsafe extern "C" fn(ApiHandle, c_int),
    set_image: unsafe extern "C" fn(ApiHandle, *const c_uchar, c_int, c_int, c_int, c_int),
    tsv_text: unsafe extern "C" fn(ApiHandle, c_int) -> *mut c_char,
    delete_text: unsafe extern "C" fn(*mut c_char),
}

impl TesseractEngine {
    pub fn start(language: &CStr) -> Result<Self, EngineError> {
        let (library, loaded) = open_library()?;
        let functions = Functions::find(loaded)
            .map_err(|problem| EngineError::Failed(format!("{library} is not usable: {problem}")))?;
        // SAFETY: TessBaseAPICreate takes nothing.
        let handle = NonNull::new(unsafe { (functions.create)() })
            .ok_or_else(|| EngineError::Failed(format!("{library} cannot create an engine")))?;
        let engine = Self { functions, handle, library };
        // SAFETY: the handle is alive; no path means the library's own, and the language ends with a zero.
        let failed = unsafe { (functions.init)(handle.as_ptr(), ptr::null(), language.as_ptr()) };
        if failed != 0 {
            return Err(EngineError::Failed(format!(
                "{library} cannot start; is its language data for {} installed?",
                language.to_string_lossy()
            )));
        }
        Ok(engine)
    }

    /// The name by which the library was found.
    pub const fn library(&self) -> &'static str {
        self.library
    }

    pub fn version(&self) -> String {
        // SAFETY: TessVersion takes nothing and returns a constant of the library.
        text_at(unsafe { (self.functions.version)() })
    }

    /// What it recognises, as tesseract's table (TSV).
    pub fn recognize(&mut self, page: Grey<'_>, segmentation: u32) -> Result<String, String> {
        let number = |value: u32| c_int::try_from(value).map_err(|problem| problem.to_string());
        let (width, height) = (number(page.width)?, number(page.height)?);
        if u64::from(page.width) * u64::from(page.height) != page.levels.len() as u64 {
            return Err("the image does not have the size of its pixel data".to_owned());
        }
        let segmentation = number(segmentation)?;
        let handle = self.handle.as_ptr();
        // SAFETY: the handle is alive; the picture has `height` rows of `width` bytes, and the library copies it.
        unsafe {
            (self.functions.set_page_seg_mode)(handle, segmentation);
            (self.functions.set_image)(handle, page.levels.as_ptr(), width, height, 1, width);
        }
        self.table()
    }

    fn table(&mut self) -> Result<String, String> {
        // SAFETY: the handle is alive and has a picture; the text is ours until it is given back.
        let text = unsafe { (self.functions.tsv_text)(self.handle.as_ptr(), 0) };
        if text.is_null() {
            return Err(format!("{} gave no result for the image", self.library));
        }
        let table = text_at(text);
        // SAFETY: the text came from this library and nothing points to it any more.
        unsafe { (self.functions.delete_text)(text) };
        Ok(table)
    }
}

impl Drop for TesseractEngine {
    fn drop(&mut self) {
        // SAFETY: the handle came from TessBaseAPICreate and is not used again.
        unsafe { (self.functions.delete)(self.handle.as_ptr()) }
    }
}

impl Functions {
    fn find(library: &'static Library) -> Result<Self, libloading::Error> {
        // SAFETY: the types are those that capi.h declares, and the library is never unloaded.
        unsafe {
            Ok(Self {
                version: *library.get(c"TessVersion".to_bytes_with_nul())?,
                create: *library.get(c"TessBaseAPICreate".to_bytes_with_nul())?,
                delete: *library.get(c"TessBaseAPIDelete".to_bytes_with_nul())?,
                init: *library.get(c"TessBaseAPIInit3".to_bytes_with_nul())?,
                set_page_seg_mode: *library.get(c"TessBaseAPISetPageSegMode".to_bytes_with_nul())?,
                set_image: *library.get(c"TessBaseAPISetImage".to_bytes_with_nul())?,
                tsv_text: *library.get(c"TessBaseAPIGetTsvText".to_bytes_with_nul())?,
                delete_text: *library.get(c"TessDeleteText".to_bytes_with_nul())?,
            })
        }
    }
}

/// The first of the libraries that is here, loaded for as long as the process lives: its threads do not survive being
/// unloaded.
fn open_library() -> Result<(&'static str, &'static Library), EngineError> {
    for &name in LIBRARIES {
        // SAFETY: loading runs the library's initialisers, as linking it would; it is the system's own.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok((name, Box::leak(Box::new(library)))),
            Err(problem) if is_absent(name, &problem.to_string()) => {}
            Err(problem) => return Err(EngineError::Failed(format!("{name} cannot be loaded: {problem}"))),
        }
    }
    let looked = if LIBRARIES.is_empty() { "this system".to_owned() } else { LIBRARIES.join(", ") };
    Err(EngineError::NotInstalled(format!("there is no tesseract library ({looked})")))
}

/// Whether the library itself is missing, and not one that it needs: the linker's message begins with what is missing.
fn is_absent(name: &str, problem: &str) -> bool {
    if Path::new(name).is_absolute() {
        !Path::new(name).exists()
    } else {
        problem.starts_with(name) && problem.contains("No such file")
    }
}

/// The text at a pointer that the library returned; nothing for none.
fn text_at(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the library ends its texts with a zero, and this one is not freed meanwhile.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_no_broken_one() {
        let name = "libtesseract.so.5";
        assert!(is_absent(
            name,
            "libtesseract.so.5: cannot open shared object file: No such file or directory"
        ));
        assert!(!is_absent(name, "liblept.so.5: cannot open shared object file: No such file or directory"));
        assert!(!is_absent(name, "libtesseract.so.5: wrong ELF class: ELFCLASS32"));
        assert!(is_absent("/no/such/libtesseract.5.dylib", "whatever the system says"));
    }
}
