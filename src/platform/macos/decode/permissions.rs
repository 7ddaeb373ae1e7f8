//! The two permissions that macOS asks for, and where a person gives them.

use crate::error::{Error, Kind};
use crate::platform::survey::MacPermissions;

pub const ACCESSIBILITY_PANE: &str =
    r#"open "x-apple.systempreferences:com.apple.preference.security?Privacy_Accessibility""#;
pub const RECORDING_PANE: &str =
    r#"open "x-apple.systempreferences:com.apple.preference.security?Privacy_ScreenCapture""#;

pub const ACCESSIBILITY_PLACE: &str = "System Settings › Privacy & Security › Accessibility";
/// macOS 15 gave it a longer name.
pub const RECORDING_PLACE: &str = "System Settings › Privacy & Security › Screen & System Audio Recording (Screen Recording before macOS 15)";
/// macOS asks about the program that a person started, not about this one below it.
pub const TICK: &str = "switch on the app that starts this program (Terminal, iTerm, Claude, your editor; \
                        add it with + if it is not in the list), then quit that app and start it again";

pub fn missing_accessibility() -> Error {
    let message = format!(
        "macOS does not let this program see or operate other programs: in {ACCESSIBILITY_PLACE} {TICK}"
    );
    Error::new(Kind::PermissionDenied, message).with("fix", ACCESSIBILITY_PANE)
}

pub fn missing_recording() -> Error {
    let message = format!("macOS does not let this program capture the screen: in {RECORDING_PLACE} {TICK}");
    Error::new(Kind::PermissionDenied, message).with("fix", RECORDING_PANE)
}

/// What does not work without them, a sentence each.
pub fn limitations(granted: MacPermissions) -> Vec<String> {
    let missing =
        [(granted.accessibility, missing_accessibility()), (granted.recording, missing_recording())];
    missing.into_iter().filter(|(granted, _)| !granted).map(|(_, error)| error.message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_where_to_click() {
        let all = MacPermissions { accessibility: true, recording: true };
        assert!(limitations(all).is_empty());
        let none = limitations(MacPermissions::default());
        assert!(none[0].contains("› Accessibility switch on the app that starts"), "{none:?}");
        assert!(none[1].contains("› Screen & System Audio Recording (Screen Recording before"), "{none:?}");
        assert!(none.iter().all(|error| error.contains("add it with +")), "{none:?}");
        assert_eq!(limitations(MacPermissions { accessibility: true, recording: false }).len(), 1);
    }
}
