//! Whether the session can be worked: behind a locked screen every input goes to the lock, and every picture shows it.

/// What the window server tells of this session; nothing where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawSession {
    pub exists: bool,
    /// `CGSSessionScreenIsLocked`, which is there only while it is.
    pub locked: Option<bool>,
    /// `kCGSSessionOnConsoleKey`
    pub on_console: Option<bool>,
}

/// Why nothing can be worked now.
pub fn problem(session: RawSession) -> Option<String> {
    let why = if !session.exists {
        "this process does not belong to a session with a screen; start the server from a desktop session"
    } else if session.locked == Some(true) {
        "the screen is locked: a person has to unlock it"
    } else if session.on_console == Some(false) {
        "another person's session is on the screen: switch back to the one of this server"
    } else {
        return None;
    };
    Some(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(locked: Option<bool>, on_console: Option<bool>, expected: Option<&str>) {
        let told = problem(RawSession { exists: true, locked, on_console });
        assert_eq!(told.is_some(), expected.is_some(), "{told:?}");
        assert!(expected.is_none_or(|part| told.unwrap().contains(part)));
    }

    #[test]
    fn a_locked_screen_and_another_person_are_told() {
        check(None, Some(true), None);
        check(Some(false), None, None);
        check(Some(true), Some(true), Some("locked"));
        check(None, Some(false), Some("another person"));
        assert!(problem(RawSession::default()).unwrap().contains("not belong to a session"));
    }
}
