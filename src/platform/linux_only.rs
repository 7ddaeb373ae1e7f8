//! What only Linux has, refused on every other system.

use super::{Chosen, absent_because, os_name};
use crate::clock::{Cancel, Clock};
use crate::config::{PlatformChoice, Sandbox};
use crate::error::{Error, Kind, Result};
use crate::model::app::{Ended, Run};

pub fn private_desktop(_: &Sandbox, _: &[String], _: &Clock) -> Chosen {
    absent_because(format!("--sandbox needs Linux; this is {}", os_name())).into()
}

pub fn start_isolated_programs() -> Result<(), String> {
    Err("private desktops need Linux".to_owned())
}

pub fn keep_private_desktop() -> Result<(), String> {
    Err("private desktops need Linux".to_owned())
}

/// Elsewhere the allocator does so by itself.
pub fn keep_few_heaps() {}

pub fn keep_command() -> Result<i32, String> {
    Err("commands need Linux".to_owned())
}

pub fn run_command(_: &Run, _: &Cancel) -> Result<Ended> {
    let message =
        "this build runs commands on Linux only: elsewhere it could not end every process that they start";
    Err(Error::new(Kind::PlatformUnsupported, message))
}

pub fn survey_desktop() -> Option<crate::platform::survey::Survey> {
    None
}

pub fn is_by_powershell(_: &PlatformChoice) -> bool {
    false
}
