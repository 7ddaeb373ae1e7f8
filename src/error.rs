//! One enum of error kinds; the wire code, the HTTP status and the advice are its methods.

use serde::Serialize;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, in the contract's words. Every table over kinds is an exhaustive method below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Kind {
    ElementNotFound,
    WindowGone,
    ElementOccluded,
    WindowOccluded,
    ElementDisabled,
    /// Several things fit where one has to.
    Ambiguous,
    /// Another process acts on the desktop.
    DesktopBusy,
    Timeout,
    PatternUnsupported,
    RateLimited,
    ConfirmationRequired,
    ConfirmationInvalid,
    SnapshotExpired,
    BudgetExceeded,
    PermissionDenied,
    ScenarioInvalid,
    PlatformUnsupported,
    PredicateUnsupported,
    BadRequest,
    /// A page cannot be opened.
    NavigationFailed,
    /// What is kept on disk cannot be written or read.
    StorageFailed,
    JobNotFound,
    /// What is wanted of a job does not fit its status.
    JobConflict,
    /// The client took the call back; no reply is owed, so this never reaches a wire.
    Cancelled,
    Internal,
}

impl Kind {
    pub const ALL: [Kind; 25] = [
        Kind::ElementNotFound,
        Kind::WindowGone,
        Kind::ElementOccluded,
        Kind::WindowOccluded,
        Kind::ElementDisabled,
        Kind::Ambiguous,
        Kind::DesktopBusy,
        Kind::Timeout,
        Kind::PatternUnsupported,
        Kind::RateLimited,
        Kind::ConfirmationRequired,
        Kind::ConfirmationInvalid,
        Kind::SnapshotExpired,
        Kind::BudgetExceeded,
        Kind::PermissionDenied,
        Kind::ScenarioInvalid,
        Kind::PlatformUnsupported,
        Kind::PredicateUnsupported,
        Kind::BadRequest,
        Kind::NavigationFailed,
        Kind::StorageFailed,
        Kind::JobNotFound,
        Kind::JobConflict,
        Kind::Cancelled,
        Kind::Internal,
    ];

    pub const fn code(self) -> &'static str {
        match self {
            Kind::ElementNotFound => "ElementNotFound",
            Kind::WindowGone => "WindowGone",
            Kind::ElementOccluded => "ElementOccluded",
            Kind::WindowOccluded => "WindowOccluded",
            Kind::ElementDisabled => "ElementDisabled",
            Kind::Ambiguous => "Ambiguous",
            Kind::DesktopBusy => "DesktopBusy",
            Kind::Timeout => "Timeout",
            Kind::PatternUnsupported => "PatternUnsupported",
            Kind::RateLimited => "RateLimited",
            Kind::ConfirmationRequired => "ConfirmationRequired",
            Kind::ConfirmationInvalid => "ConfirmationInvalid",
            Kind::SnapshotExpired => "SnapshotExpired",
            Kind::BudgetExceeded => "BudgetExceeded",
            Kind::PermissionDenied => "PermissionDenied",
            Kind::ScenarioInvalid => "ScenarioInvalid",
            Kind::PlatformUnsupported => "PlatformUnsupported",
            Kind::PredicateUnsupported => "PredicateUnsupported",
            Kind::BadRequest => "BadRequest",
            Kind::NavigationFailed => "NavigationFailed",
            Kind::StorageFailed => "StorageFailed",
            Kind::JobNotFound => "JobNotFound",
            Kind::JobConflict => "JobConflict",
            Kind::Cancelled => "Cancelled",
            Kind::Internal => "Internal",
        }
    }

    pub const fn http_status(self) -> u16 {
        match self {
            Kind::ElementNotFound | Kind::WindowGone | Kind::JobNotFound => 404,
            Kind::ElementOccluded
            | Kind::WindowOccluded
            | Kind::ElementDisabled
            | Kind::Ambiguous
            | Kind::DesktopBusy
            | Kind::JobConflict => 409,
            Kind::Timeout => 408,
            Kind::PatternUnsupported | Kind::PlatformUnsupported | Kind::PredicateUnsupported => 501,
            Kind::RateLimited | Kind::BudgetExceeded => 429,
            Kind::ConfirmationRequired | Kind::ConfirmationInvalid => 412,
            Kind::SnapshotExpired => 410,
            Kind::NavigationFailed => 502,
            Kind::StorageFailed => 507,
            Kind::PermissionDenied => 403,
            Kind::ScenarioInvalid | Kind::BadRequest => 400,
            Kind::Cancelled => 499,
            Kind::Internal => 500,
        }
    }

    /// Whether the caller can reach its goal by doing something else first.
    pub const fn is_recoverable(self) -> bool {
        match self {
            Kind::ElementNotFound
            | Kind::WindowGone
            | Kind::ElementOccluded
            | Kind::WindowOccluded
            | Kind::ElementDisabled
            | Kind::Ambiguous
            | Kind::DesktopBusy
            | Kind::Timeout
            | Kind::NavigationFailed
            | Kind::PatternUnsupported
            | Kind::RateLimited
            | Kind::ConfirmationRequired
            | Kind::ConfirmationInvalid
            | Kind::SnapshotExpired => true,
            Kind::BudgetExceeded
            | Kind::PermissionDenied
            | Kind::ScenarioInvalid
            | Kind::PlatformUnsupported
            | Kind::PredicateUnsupported
            | Kind::BadRequest
            | Kind::StorageFailed
            | Kind::JobNotFound
            | Kind::JobConflict
            | Kind::Cancelled
            | Kind::Internal => false,
        }
    }

    pub const fn next_tool(self) -> Option<&'static str> {
        match self {
            Kind::ElementNotFound => Some("find_element"),
            Kind::WindowGone => Some("list_windows"),
            Kind::ElementOccluded | Kind::WindowOccluded => Some("bring_to_foreground"),
            Kind::ElementDisabled => Some("wait_for"),
            Kind::PatternUnsupported => Some("click_element"),
            Kind::RateLimited => Some("get_budget_status"),
            Kind::ConfirmationRequired | Kind::ConfirmationInvalid => Some("propose_action"),
            Kind::PlatformUnsupported => Some("get_capabilities"),
            Kind::Ambiguous
            | Kind::DesktopBusy
            | Kind::Timeout
            | Kind::NavigationFailed
            | Kind::SnapshotExpired
            | Kind::BudgetExceeded
            | Kind::PermissionDenied
            | Kind::ScenarioInvalid
            | Kind::PredicateUnsupported
            | Kind::BadRequest
            | Kind::StorageFailed
            | Kind::JobNotFound
            | Kind::JobConflict
            | Kind::Cancelled
            | Kind::Internal => None,
        }
    }
}

const _: () = assert!(Kind::ALL.len() == Kind::Internal as usize + 1, "the list lacks a kind");

/// A failure of one call: the kind, a sentence for the caller, and the facts it needs to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub kind: Kind,
    pub message: String,
    pub context: Vec<(&'static str, Fact)>,
    /// Facts that stand beside the error in the reply: what was learned although the call failed.
    pub beside: Vec<(&'static str, Fact)>,
}

/// The fact of an error that an earlier step of a list may make good.
pub const MAY_COME: &str = "may_come";

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), context: Vec::new(), beside: Vec::new() }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Kind::BadRequest, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }

    pub fn cancelled() -> Self {
        Self::new(Kind::Cancelled, "the call was cancelled")
    }

    /// Adds a fact for the caller. Facts that are not known are left out, never null.
    pub fn with(mut self, key: &'static str, fact: impl Into<Fact>) -> Self {
        self.context.push((key, fact.into()));
        self
    }

    /// A text among the facts.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.context.iter().find_map(|(known, fact)| match fact {
            Fact::Text(text) if *known == key => Some(text.as_str()),
            _ => None,
        })
    }

    /// Adds a fact to the reply itself, beside `error`.
    pub fn beside(mut self, key: &'static str, fact: impl Into<Fact>) -> Self {
        self.beside.push((key, fact.into()));
        self
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.kind.code(), self.message)
    }
}

impl std::error::Error for Error {}

/// A fact in an error's context.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Fact {
    Null,
    Text(String),
    Number(i64),
    Decimal(f64),
    Flag(bool),
    Bounds { x: i32, y: i32, width: i32, height: i32 },
    List(Vec<Fact>),
    Object(std::collections::BTreeMap<&'static str, Fact>),
}

impl Fact {
    pub fn object<const N: usize>(pairs: [(&'static str, Fact); N]) -> Fact {
        Fact::Object(pairs.into())
    }

    /// An object with one fact more; anything else stays as it is.
    pub fn with(mut self, key: &'static str, fact: impl Into<Fact>) -> Fact {
        if let Fact::Object(pairs) = &mut self {
            pairs.insert(key, fact.into());
        }
        self
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Fact::Text(text)
    }
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        Fact::Text(text.to_owned())
    }
}

impl From<f64> for Fact {
    fn from(number: f64) -> Self {
        Fact::Decimal(number)
    }
}

impl From<bool> for Fact {
    fn from(flag: bool) -> Self {
        Fact::Flag(flag)
    }
}

impl<T: Into<Fact>> From<Vec<T>> for Fact {
    fn from(items: Vec<T>) -> Self {
        Fact::List(items.into_iter().map(Into::into).collect())
    }
}

macro_rules! fact_from_number {
    ($($number:ty),*) => {$(
        impl From<$number> for Fact {
            fn from(number: $number) -> Self {
                Fact::Number(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }
    )*};
}
fact_from_number!(i32, i64, u32, u64, usize);
