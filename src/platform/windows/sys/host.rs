//! What this build can do because it is for Windows.

use std::sync::Arc;

pub use crate::platform::linux_only::{
    is_by_powershell, keep_command, keep_few_heaps, keep_private_desktop, private_desktop, run_command,
    start_isolated_programs, survey_desktop,
};

pub use super::processes::look_up as look_up_process;
use super::{adapter, ocr};
use crate::clock::Clock;
use crate::config::PlatformChoice;
use crate::error::Result;
use crate::platform::{Platform, Recognizer};

pub fn connect(clock: &Clock, _: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    adapter::connect(clock.clone())
}

pub fn probe(_: &PlatformChoice) -> Result<String, String> {
    adapter::probe()
}

pub fn recognizer() -> Option<Result<Box<dyn Recognizer>>> {
    Some(ocr::Engine::start().map(|engine| Box::new(engine) as Box<dyn Recognizer>))
}

pub fn mac_permissions() -> Option<crate::platform::survey::MacPermissions> {
    None
}
