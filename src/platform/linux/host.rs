//! What this build can do because it is for Linux.

use std::sync::Arc;

pub use super::exec::{run as run_command, run_keeper as keep_command};
pub use super::heap::keep_few as keep_few_heaps;
pub use super::sandbox::keeper::run_keeper as keep_private_desktop;
pub use super::survey::survey_desktop;
pub use super::{is_by_powershell, probe};

use super::sandbox::{Sandbox, SandboxPlan};
use crate::clock::Clock;
use crate::config::{PlatformChoice, Size};
use crate::error::Result;
use crate::platform::{Chosen, Platform, Recognizer, absent_because};

pub fn connect(clock: &Clock, wished: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    super::connect(clock.clone(), wished)
}

/// One that cannot start is no reason to work on the user's own: then there is no desktop at all.
pub fn private_desktop(size: Size, command: &[String], clock: &Clock) -> Chosen {
    match Sandbox::start(&SandboxPlan { size, command: command.to_vec() }) {
        Err(reason) => absent_because(format!("the private desktop did not start: {reason}")).into(),
        Ok(sandbox) => {
            if let Some(remark) = sandbox.remark() {
                tracing::warn!("private desktop: {remark}");
            }
            sandbox.enter();
            let sandbox = Arc::new(sandbox);
            let platform = super::connect_private(clock.clone(), &sandbox).unwrap_or_else(absent_because);
            Chosen { platform, ends_with_us: Some(Box::new(sandbox)) }
        }
    }
}

/// Tesseract reads here (`ocr`).
pub fn recognizer() -> Option<Result<Box<dyn Recognizer>>> {
    None
}

pub fn mac_permissions() -> Option<crate::platform::survey::MacPermissions> {
    None
}
