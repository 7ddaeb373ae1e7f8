//! What an element's answer to a request means.

use super::errors::{Code, Meaning};
use crate::error::Result;
use crate::platform::interaction::{Request, RequestOutcome};

/// When it failed: while the element was asked for the pattern, or while it did what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Before,
    During,
}

/// An element that does not have the pattern says no; one that is gone or disabled is an error. But a press that closes
/// its own window takes the element along, and the line to it: then it was done.
pub fn request_outcome(request: &Request, stage: Stage, code: Code) -> Result<RequestOutcome> {
    match code.meaning() {
        Meaning::Gone | Meaning::Lost if stage == Stage::During && may_end_itself(request) => {
            Ok(RequestOutcome::Accepted)
        }
        Meaning::Unsupported | Meaning::Other => Ok(RequestOutcome::Refused),
        Meaning::Slow if stage == Stage::During => Ok(RequestOutcome::Unanswered),
        _ => Err(code.error("asking the element")),
    }
}

const fn may_end_itself(request: &Request) -> bool {
    matches!(
        request,
        Request::Press | Request::Toggle | Request::Select | Request::Expand | Request::Collapse
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[track_caller]
    fn check(request: Request, stage: Stage, number: u32, expected: Result<RequestOutcome, Kind>) {
        let told = request_outcome(&request, stage, Code(number.cast_signed())).map_err(|error| error.kind);
        assert_eq!(told, expected, "{request:?} {stage:?} {number:#x}");
    }

    const GONE: u32 = 0x8004_0201;
    const LOST: u32 = 0x8007_06be;
    const SLOW: u32 = 0x8013_1505;

    #[test]
    fn a_press_that_closes_its_window_is_done() {
        check(Request::Press, Stage::During, GONE, Ok(RequestOutcome::Accepted));
        check(Request::Press, Stage::During, LOST, Ok(RequestOutcome::Accepted));
        check(Request::Select, Stage::During, GONE, Ok(RequestOutcome::Accepted));
        check(Request::Press, Stage::Before, GONE, Err(Kind::ElementNotFound));
        check(Request::Press, Stage::Before, LOST, Err(Kind::WindowGone));
        check(Request::Focus, Stage::During, GONE, Err(Kind::ElementNotFound));
        check(Request::SetText("x".to_owned()), Stage::During, LOST, Err(Kind::WindowGone));
    }

    #[test]
    fn what_it_does_not_have_is_a_no_and_silence_is_silence() {
        check(Request::Toggle, Stage::Before, 0x8004_0204, Ok(RequestOutcome::Refused));
        check(Request::Toggle, Stage::During, 0x8000_4005, Ok(RequestOutcome::Refused));
        check(Request::Press, Stage::During, SLOW, Ok(RequestOutcome::Unanswered));
        check(Request::Press, Stage::Before, SLOW, Err(Kind::Timeout));
        check(Request::Press, Stage::During, 0x8004_0200, Err(Kind::ElementDisabled));
    }
}
