//! The values that macOS answers with, and elements as values: every `unsafe` of the AX functions is here, each in a small
//! function that says why it is sound.
#![allow(unsafe_code, reason = "CoreFoundation and the AX functions are C")]

use std::ffi::c_void;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use accessibility_sys::{
    AXError, AXIsProcessTrusted, AXUIElementCopyActionNames, AXUIElementCopyAttributeValue,
    AXUIElementCopyMultipleAttributeValues, AXUIElementCreateApplication, AXUIElementCreateSystemWide,
    AXUIElementGetPid, AXUIElementGetTypeID, AXUIElementIsAttributeSettable, AXUIElementPerformAction,
    AXUIElementRef, AXUIElementSetAttributeValue, AXUIElementSetMessagingTimeout, AXValueCreate,
    AXValueGetType, AXValueGetTypeID, AXValueGetValue, AXValueRef, kAXErrorSuccess, kAXValueTypeAXError,
    kAXValueTypeCFRange, kAXValueTypeCGPoint, kAXValueTypeCGSize,
};
use core_foundation::array::{CFArray, CFArrayRef};
use core_foundation::base::{CFHash, CFRange, CFType, CFTypeRef, TCFType};
use core_foundation::boolean::CFBoolean;
use core_foundation::dictionary::{CFDictionary, CFDictionaryRef};
use core_foundation::number::CFNumber;
use core_foundation::string::{CFString, CFStringGetCharacters};
use core_graphics::geometry::{CGPoint, CGSize};

use super::decode::errors::Code;

/// An element of an application, or the application itself.
#[derive(Clone, Debug)]
pub struct Node(CFType);

// SAFETY: a reference to an element is a constant value (a process and a token); counting its owners and the AX
// functions, which send a message each, may be done from any thread.
unsafe impl Send for Node {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Node {}

impl PartialEq for Node {
    /// Two references are equal when they mean the same element.
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Node {}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // SAFETY: the reference is valid for as long as `self` is; equal ones have equal hashes by contract.
        unsafe { CFHash(self.0.as_CFTypeRef()) }.hash(state);
    }
}

pub fn checked(code: AXError) -> Result<(), Code> {
    if code == kAXErrorSuccess { Ok(()) } else { Err(Code(code)) }
}

/// The value that a function has copied for us.
fn copied(code: AXError, value: CFTypeRef) -> Result<CFType, Code> {
    checked(code)?;
    if value.is_null() {
        return Err(Code(NO_VALUE));
    }
    // SAFETY: it is not null, and functions with "Copy" in their name hand over the ownership.
    Ok(unsafe { CFType::wrap_under_create_rule(value) })
}

const NO_VALUE: i32 = -25212;

impl Node {
    pub fn application(pid: i32) -> Self {
        // SAFETY: any number may be asked for, and a reference is always made; "Create" hands over the ownership.
        Self(unsafe { CFType::wrap_under_create_rule(AXUIElementCreateApplication(pid) as CFTypeRef) })
    }

    fn system() -> Self {
        // SAFETY: as above.
        Self(unsafe { CFType::wrap_under_create_rule(AXUIElementCreateSystemWide() as CFTypeRef) })
    }

    /// The application that keys go to.
    pub fn front_application() -> Result<Self, Code> {
        let found = Self::system().attribute("AXFocusedApplication")?;
        Self::of(&found).ok_or(Code(NO_VALUE))
    }

    pub fn of(value: &CFType) -> Option<Self> {
        // SAFETY: a question without arguments.
        let kind = unsafe { AXUIElementGetTypeID() };
        (value.type_of() == kind).then(|| Self(value.clone()))
    }

    pub(super) fn raw(&self) -> AXUIElementRef {
        self.0.as_CFTypeRef() as AXUIElementRef
    }

    /// How long the application may take for what this reference asks; other references to the same element keep theirs.
    pub fn within(&self, time: Duration) -> &Self {
        // SAFETY: the element is valid, and the number is one that was made here.
        unsafe { AXUIElementSetMessagingTimeout(self.raw(), time.as_secs_f32().max(0.05)) };
        self
    }

    pub fn pid(&self) -> Option<i32> {
        let mut pid = 0;
        // SAFETY: the element is valid, and the number outlives the call.
        checked(unsafe { AXUIElementGetPid(self.raw(), &raw mut pid) }).ok().map(|()| pid)
    }

    pub fn attribute(&self, name: &str) -> Result<CFType, Code> {
        let name = CFString::new(name);
        let mut value: CFTypeRef = std::ptr::null();
        // SAFETY: element and name are valid, and the place for the value outlives the call.
        let code =
            unsafe { AXUIElementCopyAttributeValue(self.raw(), name.as_concrete_TypeRef(), &raw mut value) };
        copied(code, value)
    }

    /// Many attributes in one message. An attribute that the element lacks has an error in its place ([`code_in`]), which
    /// is no value of any kind that anybody asks for.
    pub fn attributes(&self, names: &CFArray<CFString>) -> Result<Vec<CFType>, Code> {
        let mut values: CFArrayRef = std::ptr::null();
        // SAFETY: element and names are valid, and the place for the values outlives the call.
        let code = unsafe {
            AXUIElementCopyMultipleAttributeValues(
                self.raw(),
                names.as_concrete_TypeRef(),
                0,
                &raw mut values,
            )
        };
        Ok(list(&copied(code, values as CFTypeRef)?))
    }

    pub fn actions(&self) -> Result<Vec<String>, Code> {
        let mut names: CFArrayRef = std::ptr::null();
        // SAFETY: the element is valid, and the place for the names outlives the call.
        let code = unsafe { AXUIElementCopyActionNames(self.raw(), &raw mut names) };
        Ok(list(&copied(code, names as CFTypeRef)?).iter().filter_map(text).collect())
    }

    pub fn perform(&self, action: &str) -> Result<(), Code> {
        let action = CFString::new(action);
        // SAFETY: element and name are valid.
        checked(unsafe { AXUIElementPerformAction(self.raw(), action.as_concrete_TypeRef()) })
    }

    pub fn is_settable(&self, name: &str) -> Result<bool, Code> {
        let name = CFString::new(name);
        let mut settable = 0;
        // SAFETY: element and name are valid, and the flag outlives the call.
        let code = unsafe {
            AXUIElementIsAttributeSettable(self.raw(), name.as_concrete_TypeRef(), &raw mut settable)
        };
        checked(code).map(|()| settable != 0)
    }

    fn set(&self, name: &str, value: &CFType) -> Result<(), Code> {
        let name = CFString::new(name);
        // SAFETY: element, name and value are valid; the function keeps none of them.
        checked(unsafe {
            AXUIElementSetAttributeValue(self.raw(), name.as_concrete_TypeRef(), value.as_CFTypeRef())
        })
    }

    pub fn set_flag(&self, name: &str, flag: bool) -> Result<(), Code> {
        self.set(name, &CFBoolean::from(flag).as_CFType())
    }

    pub fn set_text(&self, name: &str, text: &str) -> Result<(), Code> {
        self.set(name, &CFString::new(text).as_CFType())
    }

    pub fn set_number(&self, name: &str, number: f64) -> Result<(), Code> {
        self.set(name, &CFNumber::from(number).as_CFType())
    }

    /// Characters are counted in units of UTF-16.
    pub fn set_range(&self, name: &str, location: isize, length: isize) -> Result<(), Code> {
        let range = CFRange { location, length };
        self.set(name, &boxed(kAXValueTypeCFRange, (&raw const range).cast()).ok_or(Code(NO_VALUE))?)
    }

    pub fn set_position(&self, x: f64, y: f64) -> Result<(), Code> {
        let point = CGPoint { x, y };
        self.set("AXPosition", &boxed(kAXValueTypeCGPoint, (&raw const point).cast()).ok_or(Code(NO_VALUE))?)
    }

    pub fn set_size(&self, width: f64, height: f64) -> Result<(), Code> {
        let size = CGSize { width, height };
        self.set("AXSize", &boxed(kAXValueTypeCGSize, (&raw const size).cast()).ok_or(Code(NO_VALUE))?)
    }
}

/// How long whoever is asked without a time of its own may take. It is one setting for the whole process, made once.
pub fn set_default_patience(time: Duration) {
    Node::system().within(time);
}

/// What the window server tells of the session of this process; nothing where there is none.
pub fn session() -> Option<CFType> {
    // SAFETY: a question without arguments.
    let told = unsafe { CGSessionCopyCurrentDictionary() };
    // SAFETY: it is not null, and "Copy" hands over the ownership.
    (!told.is_null()).then(|| unsafe { CFType::wrap_under_create_rule(told as CFTypeRef) })
}

unsafe extern "C" {
    /// `CGSession.h`, of CoreGraphics, which is linked for all else.
    fn CGSessionCopyCurrentDictionary() -> CFDictionaryRef;
}

pub fn is_trusted() -> bool {
    // SAFETY: a question without arguments.
    unsafe { AXIsProcessTrusted() }
}

/// A place, a size or a range as a value. `pointer` leads to what `kind` says.
fn boxed(kind: u32, pointer: *const c_void) -> Option<CFType> {
    // SAFETY: all callers pass what `kind` stands for, which lives until this returns; the function copies it.
    let value = unsafe { AXValueCreate(kind, pointer) };
    // SAFETY: it is not null, and "Create" hands over the ownership.
    (!value.is_null()).then(|| unsafe { CFType::wrap_under_create_rule(value as CFTypeRef) })
}

/// What is in a box of this kind, if it is one; it is written over `inner`.
fn unboxed<T>(value: &CFType, kind: u32, mut inner: T) -> Option<T> {
    // SAFETY: a question without arguments.
    if value.type_of() != unsafe { AXValueGetTypeID() } {
        return None;
    }
    let boxed = value.as_CFTypeRef() as AXValueRef;
    // SAFETY: the type was checked above; all callers pass the structure that `kind` stands for.
    let got = unsafe {
        AXValueGetType(boxed) == kind && AXValueGetValue(boxed, kind, (&raw mut inner).cast::<c_void>())
    };
    got.then_some(inner)
}

pub fn point(value: &CFType) -> Option<(f64, f64)> {
    unboxed(value, kAXValueTypeCGPoint, CGPoint::default()).map(|point| (point.x, point.y))
}

pub fn size(value: &CFType) -> Option<(f64, f64)> {
    unboxed(value, kAXValueTypeCGSize, CGSize::default()).map(|size| (size.width, size.height))
}

/// Where it begins, and how long it is.
pub fn range(value: &CFType) -> Option<(isize, isize)> {
    let range = unboxed(value, kAXValueTypeCFRange, CFRange { location: 0, length: 0 })?;
    Some((range.location, range.length))
}

/// The error that stands in the place of a value.
pub fn code_in(value: &CFType) -> Option<Code> {
    unboxed(value, kAXValueTypeAXError, AXError::default()).map(Code)
}

/// A text, whatever it holds: half a pair of UTF-16 is no reason to fail, and web pages have such.
pub fn text(value: &CFType) -> Option<String> {
    let text = value.downcast::<CFString>()?;
    let length = text.char_len();
    let mut units = vec![0_u16; usize::try_from(length).unwrap_or(0)];
    let all = CFRange { location: 0, length };
    // SAFETY: the buffer has as many units as the text, which nobody can change while we own it.
    unsafe { CFStringGetCharacters(text.as_concrete_TypeRef(), all, units.as_mut_ptr()) };
    Some(String::from_utf16_lossy(&units))
}

pub fn flag(value: &CFType) -> Option<bool> {
    let number = || value.downcast::<CFNumber>().and_then(|number| number.to_i64());
    value.downcast::<CFBoolean>().map(bool::from).or_else(|| number().map(|number| number != 0))
}

pub fn number(value: &CFType) -> Option<f64> {
    value.downcast::<CFNumber>().and_then(|number| number.to_f64())
}

pub fn is_flag(value: &CFType) -> bool {
    value.instance_of::<CFBoolean>()
}

/// The items of a list; nothing when it is none.
pub fn list(value: &CFType) -> Vec<CFType> {
    let Some(array) = value.downcast::<CFArray>() else {
        return Vec::new();
    };
    // SAFETY: lists that the system hands out hold objects, which live at least as long as the list; each gets an owner
    // more here.
    array.iter().map(|item| unsafe { CFType::wrap_under_get_rule(*item as CFTypeRef) }).collect()
}

/// An entry of a dictionary with texts as keys.
pub fn entry(dictionary: &CFType, key: &str) -> Option<CFType> {
    let dictionary = dictionary.downcast::<CFDictionary>()?;
    let key = CFString::new(key);
    let value = dictionary.find(key.as_CFTypeRef())?;
    // SAFETY: dictionaries that the system hands out hold objects, which live at least as long as the dictionary.
    Some(unsafe { CFType::wrap_under_get_rule(*value as CFTypeRef) })
}
