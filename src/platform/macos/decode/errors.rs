//! What the numbers mean that AX functions answer with.

use super::permissions;
use crate::error::{Error, Kind};

/// An answer of an AX function other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub i32);

/// What it means for whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The element, or its application, no longer exists.
    Gone,
    /// No answer came within the time; the application is busy or hangs.
    Silent,
    /// This process may not use the AX functions.
    Forbidden,
    /// The element has no such attribute or action, or no value for it.
    Without,
    /// It should not happen.
    Failed,
}

impl Code {
    pub const FAILURE: Code = Code(-25200);
    pub const CANNOT_COMPLETE: Code = Code(-25204);
    pub const INVALID_ELEMENT: Code = Code(-25202);
    pub const API_DISABLED: Code = Code(-25211);

    pub fn meaning(self) -> Meaning {
        TABLE.iter().find(|(code, ..)| *code == self.0).map_or(Meaning::Failed, |(_, _, meaning)| *meaning)
    }

    pub fn name(self) -> &'static str {
        TABLE.iter().find(|(code, ..)| *code == self.0).map_or("an unknown error", |(_, name, _)| name)
    }

    /// What the place of an element's role says when it holds no role: that the element is gone or its application does
    /// not answer. Elements that have none by themselves are elements all the same.
    pub fn ends_reading(self) -> bool {
        self.meaning() != Meaning::Without
    }

    /// For a call that cannot do without the answer. `what` is the window or element that was asked.
    pub fn error(self, what: &str) -> Error {
        match self.meaning() {
            Meaning::Gone => {
                Error::new(Kind::ElementNotFound, format!("{what} no longer exists; look again"))
            }
            Meaning::Silent => {
                let message =
                    format!("the application of {what} did not answer in time; it is busy or hangs");
                Error::new(Kind::Timeout, message).with("phase", "tree")
            }
            Meaning::Forbidden => permissions::missing_accessibility(),
            Meaning::Without => {
                Error::new(Kind::PatternUnsupported, format!("{what} does not offer that ({})", self.name()))
            }
            Meaning::Failed => Error::internal(format!("{what}: {} ({})", self.name(), self.0)),
        }
    }
}

/// `AXError.h`.
const TABLE: &[(i32, &str, Meaning)] = &[
    (-25200, "kAXErrorFailure", Meaning::Failed),
    (-25201, "kAXErrorIllegalArgument", Meaning::Failed),
    (-25202, "kAXErrorInvalidUIElement", Meaning::Gone),
    (-25203, "kAXErrorInvalidUIElementObserver", Meaning::Failed),
    (-25204, "kAXErrorCannotComplete", Meaning::Silent),
    (-25205, "kAXErrorAttributeUnsupported", Meaning::Without),
    (-25206, "kAXErrorActionUnsupported", Meaning::Without),
    (-25207, "kAXErrorNotificationUnsupported", Meaning::Without),
    (-25208, "kAXErrorNotImplemented", Meaning::Without),
    (-25209, "kAXErrorNotificationAlreadyRegistered", Meaning::Failed),
    (-25210, "kAXErrorNotificationNotRegistered", Meaning::Failed),
    (-25211, "kAXErrorAPIDisabled", Meaning::Forbidden),
    (-25212, "kAXErrorNoValue", Meaning::Without),
    (-25213, "kAXErrorParameterizedAttributeUnsupported", Meaning::Without),
    (-25214, "kAXErrorNotEnoughPrecision", Meaning::Failed),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: i32, kind: Kind, part: &str) {
        let error = Code(code).error("'Save'");
        assert!(error.kind == kind && error.message.contains(part), "{code} {error}");
    }

    #[test]
    fn codes_become_the_errors_of_the_contract() {
        check(-25202, Kind::ElementNotFound, "'Save' no longer exists");
        check(-25204, Kind::Timeout, "did not answer in time");
        check(-25211, Kind::PermissionDenied, "Privacy & Security");
        check(-25206, Kind::PatternUnsupported, "kAXErrorActionUnsupported");
        check(-25200, Kind::Internal, "kAXErrorFailure");
        check(-1, Kind::Internal, "unknown");
    }

    #[test]
    fn an_element_without_a_role_is_one_and_one_that_is_gone_is_none() {
        for (code, expected) in
            [(-25202, true), (-25204, true), (-25200, true), (-25205, false), (-25212, false)]
        {
            assert_eq!(Code(code).ends_reading(), expected, "{code}");
        }
    }

    #[test]
    fn every_code_is_listed_once() {
        let codes: Vec<i32> = TABLE.iter().map(|(code, ..)| *code).collect();
        assert_eq!(codes, (-25214..=-25200).rev().collect::<Vec<_>>());
    }
}
