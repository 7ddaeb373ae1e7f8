//! A system that this build has no adapter for.

use std::sync::Arc;

pub use super::linux_only::{
    is_by_powershell, keep_command, keep_few_heaps, keep_private_desktop, private_desktop, run_command,
    start_isolated_programs, survey_desktop,
};

use super::{Platform, Recognizer, os_name};
use crate::clock::Clock;
use crate::config::PlatformChoice;
use crate::error::Result;

pub fn connect(_: &Clock, wished: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    Err(probe(wished).unwrap_or_else(|reason| reason))
}

pub fn probe(_: &PlatformChoice) -> Result<String, String> {
    Err(format!(
        "this build has no adapter for the {} desktop; start the server with --mock for the mock desktop",
        os_name()
    ))
}

pub fn recognizer() -> Option<Result<Box<dyn Recognizer>>> {
    None
}

pub fn mac_permissions() -> Option<crate::platform::survey::MacPermissions> {
    None
}
