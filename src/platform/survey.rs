//! What a platform reports about itself and its desktop, for the doctor.

/// What the caller knows about the adapter for a real desktop that this build contains.
#[derive(Clone, Debug)]
pub struct PlatformFacts {
    pub name: String,
    pub available: bool,
    pub reason: String,
    /// The desktop is that of Windows around WSL, which needs no display here.
    pub by_powershell: bool,
}

/// The permissions that macOS asks a person for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacPermissions {
    /// To see and work other programs.
    pub accessibility: bool,
    /// To picture the screen.
    pub recording: bool,
}

/// What was seen of the desktop around us; each half may have failed on its own.
#[derive(Clone, Debug)]
pub struct Survey {
    /// `None` where there is no X11 display.
    pub display: Option<Result<DisplayFacts, String>>,
    pub accessibility: Result<AccessibilityFacts, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisplayFacts {
    pub window_manager: Option<String>,
    pub windows: Vec<SeenWindow>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenWindow {
    pub title: String,
    pub class: String,
    pub pid: Option<u32>,
    /// What its program is built with, as far as its loaded libraries tell.
    pub toolkit: Option<&'static str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessibilityFacts {
    /// `org.a11y.Status.IsEnabled`
    pub enabled: bool,
    /// The processes that offer elements.
    pub pids: Vec<u32>,
}
