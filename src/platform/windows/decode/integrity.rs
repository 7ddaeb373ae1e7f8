//! Whether Windows lets our input through to a process. It drops, without a word, what a process sends to one that is
//! trusted more (UIPI), so that is found out before anything is sent.

use crate::error::{Error, Kind, Result};

/// How much a process is trusted, as far as it can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The last number of its integrity label: 0x2000 is usual, 0x3000 an administrator's.
    Level(u32),
    /// Windows does not let us ask, which it refuses about those that are trusted more.
    Denied,
    Unknown,
}

pub fn is_out_of_reach(ours: Trust, theirs: Trust) -> bool {
    match (ours, theirs) {
        (Trust::Level(ours), Trust::Level(theirs)) => theirs > ours,
        // An administrator may ask about everybody but the system's own.
        (Trust::Level(_), Trust::Denied) => true,
        _ => false,
    }
}

pub fn check(ours: Trust, theirs: Trust, title: &str) -> Result<()> {
    if !is_out_of_reach(ours, theirs) {
        return Ok(());
    }
    let message = format!(
        "nothing was sent: '{title}' runs as administrator, and Windows accepts no input for it from a \
         program that does not; start the server as administrator"
    );
    Err(Error::new(Kind::PermissionDenied, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ours: Trust, theirs: Trust, out_of_reach: bool) {
        assert_eq!(is_out_of_reach(ours, theirs), out_of_reach, "{ours:?} {theirs:?}");
        let told = super::check(ours, theirs, "Registry Editor").map_err(|error| error.kind);
        assert_eq!(told, if out_of_reach { Err(Kind::PermissionDenied) } else { Ok(()) });
    }

    const USUAL: Trust = Trust::Level(0x2000);
    const ADMINISTRATOR: Trust = Trust::Level(0x3000);

    #[test]
    fn who_is_trusted_more_is_out_of_reach() {
        check(USUAL, USUAL, false);
        check(USUAL, Trust::Level(0x1000), false);
        check(USUAL, ADMINISTRATOR, true);
        check(ADMINISTRATOR, USUAL, false);
        check(USUAL, Trust::Denied, true);
    }

    #[test]
    fn what_is_not_known_is_tried() {
        check(Trust::Unknown, ADMINISTRATOR, false);
        check(USUAL, Trust::Unknown, false);
        check(Trust::Denied, Trust::Denied, false);
    }
}
