//! What the error numbers of COM and UI Automation mean to a caller.

use crate::error::{Error, Kind};

/// A number as Windows returns it (an HRESULT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Code(pub i32);

/// What can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The element went away: its part of the tree is pruned, and the rest goes on.
    Gone,
    Disabled,
    /// The element, or this Windows, does not have it.
    Unsupported,
    /// The application did not answer in time.
    Slow,
    /// The application's end of the line is gone.
    Lost,
    /// A program that runs as administrator is out of reach of one that does not.
    Denied,
    /// UI Automation itself is not there (Wine, a stripped installation).
    NoAutomation,
    Other,
}

const MEANINGS: &[(u32, Meaning)] = &[
    (0x8004_0200, Meaning::Disabled),     // UIA_E_ELEMENTNOTENABLED
    (0x8004_0201, Meaning::Gone),         // UIA_E_ELEMENTNOTAVAILABLE
    (0x8004_0202, Meaning::Unsupported),  // UIA_E_NOCLICKABLEPOINT
    (0x8004_0203, Meaning::Lost),         // UIA_E_PROXYASSEMBLYNOTLOADED
    (0x8004_0204, Meaning::Unsupported),  // UIA_E_NOTSUPPORTED
    (0x8013_1505, Meaning::Slow),         // UIA_E_TIMEOUT
    (0x8013_1509, Meaning::Unsupported),  // UIA_E_INVALIDOPERATION
    (0x8004_0154, Meaning::NoAutomation), // REGDB_E_CLASSNOTREG
    (0x800f_0125, Meaning::NoAutomation), // the component's files are missing
    (0x8000_4001, Meaning::Unsupported),  // E_NOTIMPL
    (0x8000_4002, Meaning::Unsupported),  // E_NOINTERFACE
    (0x8007_0005, Meaning::Denied),       // E_ACCESSDENIED
    (0x8001_0002, Meaning::Slow),         // RPC_E_CALL_CANCELED
    (0x8001_011f, Meaning::Slow),         // RPC_E_TIMEOUT
    (0x8001_0105, Meaning::Lost),         // RPC_E_SERVERFAULT
    (0x8001_0108, Meaning::Lost),         // RPC_E_DISCONNECTED
    (0x8007_06ba, Meaning::Lost),         // RPC_S_SERVER_UNAVAILABLE
    (0x8007_06be, Meaning::Lost),         // RPC_S_CALL_FAILED
    (0x8007_0578, Meaning::Gone),         // ERROR_INVALID_WINDOW_HANDLE
];

impl Meaning {
    /// It may be said of a part of what was asked for, and the rest can be had.
    pub fn is_of_a_part(self) -> bool {
        matches!(
            self,
            Meaning::Gone | Meaning::Slow | Meaning::Unsupported | Meaning::Disabled | Meaning::Other
        )
    }
}

impl Code {
    pub fn meaning(self) -> Meaning {
        let number = self.0.cast_unsigned();
        MEANINGS.iter().find(|(known, _)| *known == number).map_or(Meaning::Other, |(_, meaning)| *meaning)
    }

    /// The error that a caller gets for it, `what` being asked of an element or a window.
    pub fn error(self, what: &str) -> Error {
        let (kind, message) = match self.meaning() {
            Meaning::Gone => {
                (Kind::ElementNotFound, format!("{what}: the element no longer exists; look again"))
            }
            Meaning::Disabled => (Kind::ElementDisabled, format!("{what}: the element is disabled now")),
            Meaning::Unsupported => {
                (Kind::PatternUnsupported, format!("{what}: the element does not have that"))
            }
            Meaning::Slow => (Kind::Timeout, format!("{what}: the application does not answer")),
            Meaning::Lost => {
                (Kind::WindowGone, format!("{what}: the application ended or stopped answering"))
            }
            Meaning::Denied => (
                Kind::PermissionDenied,
                format!(
                    "{what}: Windows does not let this process reach the application, which runs as administrator; \
                     start the server as administrator too"
                ),
            ),
            Meaning::NoAutomation => {
                (Kind::PlatformUnsupported, format!("{what}: this Windows has no UI Automation"))
            }
            Meaning::Other => (Kind::Internal, what.to_owned()),
        };
        Error::new(kind, format!("{message} ({self})"))
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:#010x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: u32, meaning: Meaning, kind: Kind) {
        let code = Code(number.cast_signed());
        assert_eq!((code.meaning(), code.error("x").kind), (meaning, kind), "{code}");
    }

    #[test]
    fn numbers_have_meanings() {
        check(0x8004_0201, Meaning::Gone, Kind::ElementNotFound);
        check(0x8004_0200, Meaning::Disabled, Kind::ElementDisabled);
        check(0x8004_0154, Meaning::NoAutomation, Kind::PlatformUnsupported);
        check(0x8000_4001, Meaning::Unsupported, Kind::PatternUnsupported);
        check(0x8007_0005, Meaning::Denied, Kind::PermissionDenied);
        check(0x8013_1505, Meaning::Slow, Kind::Timeout);
        check(0x8007_06ba, Meaning::Lost, Kind::WindowGone);
        check(0x8000_4005, Meaning::Other, Kind::Internal);
    }

    #[test]
    fn every_number_is_listed_once() {
        for (place, (number, _)) in MEANINGS.iter().enumerate() {
            assert!(!MEANINGS[..place].iter().any(|(other, _)| other == number), "{number:#x}");
        }
    }

    #[test]
    fn an_error_names_its_number() {
        let error = Code(0x8004_0201_u32.cast_signed()).error("reading the tree");
        assert!(error.message.starts_with("reading the tree: "), "{error}");
        assert!(error.message.ends_with("(0x80040201)"), "{error}");
    }
}
