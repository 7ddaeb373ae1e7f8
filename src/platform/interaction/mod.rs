//! Input to elements, the same on every system.
//!
//! ```text
//!   strategy ── which way an input takes, decided once
//!     ├── backend: what each system declares of an element and lends to do it
//!     └── fake_backend: the backend of the tests, with elements of all systems
//! ```
//!
//! Here is what the systems share to do it: pointer actions, the path of a drag, finding an option. Nothing here touches
//! a desktop.

mod backend;
mod date_field;
#[cfg(test)]
pub mod fake_backend;
mod strategy;

pub use backend::{
    Backend, ChildPosition, ElementState, InputEffect, InputProfile, NamedAction, OptionItem, Request,
    RequestOutcome, TextLength, Timing, TypedText,
};
pub use date_field::{DatePart, is_date};
pub use strategy::{READ_BACK_TIME, act, check, poll_until};

use std::time::Duration;

use super::{Done, Route};
use crate::error::{Error, Kind, Result};
use crate::model::input::{Button, Key, Modifier, OptionChoice};
use crate::model::{KeyCombo, Point};

const OPTIONS_NAMED: usize = 20;

/// What a pointer does when it has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerAction {
    Click(Button, u32),
    /// One click that is the second or a later one of a double click.
    FurtherClick(Button, u32),
    /// Positive clicks of the wheel show what is further up.
    Scroll(i32),
    Hover,
}

/// A path with the left button down.
pub struct Drag<'a> {
    pub from: Point,
    pub to: Point,
    pub modifiers: &'a [Modifier],
    pub duration: Duration,
    /// Asked at the end of the way, with the button still down. Its error takes what is dragged back.
    pub before_release: &'a dyn Fn() -> Result<()>,
}

/// A point of a path that is made in so many steps.
pub fn point_between(from: Point, to: Point, step: u32, steps: u32) -> Point {
    let along = |from: i32, to: i32| {
        let way = i64::from(to) - i64::from(from);
        (i64::from(from) + way * i64::from(step) / i64::from(steps.max(1))) as i32
    };
    Point { x: along(from.x, to.x), y: along(from.y, to.y) }
}

pub fn done_by(route: Route) -> Done {
    Done { route, ..Done::default() }
}

pub fn done_with_note(route: Route, note: impl Into<String>) -> Done {
    Done { route, note: Some(note.into()), ..Done::default() }
}

pub fn key_combo(modifiers: &[Modifier], key: Key) -> KeyCombo {
    KeyCombo { modifiers: modifiers.to_vec(), key }
}

pub fn no_point() -> Error {
    Error::bad_request("neither an element nor a point to go to")
}

/// The index of the option that is meant, by its name as it is written, else without the blanks around it.
pub fn choice_index<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    choice: &OptionChoice,
) -> Option<usize> {
    match choice {
        OptionChoice::Index(index) => names.clone().nth(*index).map(|_| *index),
        OptionChoice::Name(name) => names
            .clone()
            .position(|option| option == name)
            .or_else(|| names.clone().position(|option| option.trim() == name.trim())),
    }
}

pub fn option_not_found<'a>(choice: &OptionChoice, names: impl Iterator<Item = &'a str>) -> Error {
    let wanted = match choice {
        OptionChoice::Name(name) => format!("no option is named '{name}'"),
        OptionChoice::Index(index) => format!("there is no option {index}"),
    };
    let names: Vec<&str> = names.map(str::trim).collect();
    if names.is_empty() {
        let help =
            "the application does not list its options: click the element and read what opens with get_ocr";
        return Error::new(Kind::PatternUnsupported, format!("{wanted}; {help}"));
    }
    let shown = names.iter().take(OPTIONS_NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(OPTIONS_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Error::bad_request(format!("{wanted}; there are: {shown}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(choice: OptionChoice, expected: Option<usize>) {
        assert_eq!(choice_index(["Left", " Middle  ", "Left"].into_iter(), &choice), expected, "{choice:?}");
    }

    #[test]
    fn options_are_found_by_name_and_by_place() {
        check(OptionChoice::Name("Left".to_owned()), Some(0));
        check(OptionChoice::Name("Middle".to_owned()), Some(1));
        check(OptionChoice::Name("Right".to_owned()), None);
        check(OptionChoice::Index(2), Some(2));
        check(OptionChoice::Index(3), None);
    }

    #[test]
    fn a_missing_option_is_told_what_there_is() {
        let error = option_not_found(&OptionChoice::Name("Up".to_owned()), ["Left", "Right"].into_iter());
        assert_eq!(error.message, "no option is named 'Up'; there are: Left, Right");
        let none = option_not_found(&OptionChoice::Index(3), [].into_iter());
        assert_eq!(none.kind, Kind::PatternUnsupported);
        let names: Vec<String> = (0..25).map(|number| number.to_string()).collect();
        let many = option_not_found(&OptionChoice::Index(30), names.iter().map(String::as_str));
        assert!(many.message.ends_with("18, 19 and 5 more"), "{many}");
    }

    proptest! {
        #[test]
        fn a_way_begins_ends_and_never_turns(from in any::<(i32, i32)>(), to in any::<(i32, i32)>(), steps in 1..200u32) {
            let point = |(x, y)| Point { x, y };
            let (from, to) = (point(from), point(to));
            prop_assert_eq!(point_between(from, to, 0, steps), from);
            prop_assert_eq!(point_between(from, to, steps, steps), to);
            let mut before = 0;
            for step in 0..=steps {
                let gone = point_between(from, to, step, steps).x.abs_diff(from.x);
                prop_assert!(gone >= before);
                before = gone;
            }
        }
    }
}
