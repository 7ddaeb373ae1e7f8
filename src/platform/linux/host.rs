//! What this build can do because it is for Linux.

use std::sync::Arc;

pub use super::exec::{run as run_command, run_keeper as keep_command};
pub use super::heap::keep_few as keep_few_heaps;
pub use super::sandbox::inside::run_inside as start_isolated_programs;
pub use super::sandbox::keeper::run_keeper as keep_private_desktop;
pub use super::survey::survey_desktop;
pub use super::{is_by_powershell, probe};

use super::sandbox::isolation::Isolation;
use super::sandbox::{Sandbox, SandboxPlan};
use super::session::DesktopSession;
use crate::clock::Clock;
use crate::config::{PlatformChoice, Sandbox as SandboxConfig};
use crate::error::Result;
use crate::machine::RealMachine;
use crate::platform::{Chosen, Platform, Recognizer, absent_because};

pub fn connect(clock: &Clock, wished: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    super::connect(clock.clone(), wished)
}

/// One that cannot start is no reason to work on the user's own: then there is no desktop at all.
pub fn private_desktop(config: &SandboxConfig, command: &[String], clock: &Clock) -> Chosen {
    let plan = Isolation::choose(config, &RealMachine).map(|(isolation, warning)| {
        let said = warning.or_else(|| isolation.as_ref().map(|isolation| isolation.describe().to_owned()));
        (SandboxPlan { size: config.size, command: command.to_vec(), isolation }, said)
    });
    match plan.and_then(|(plan, said)| {
        start_sharing(&plan, config).map(|sandbox| (sandbox, plan.isolation.is_some(), said))
    }) {
        Err(reason) => absent_because(format!("the private desktop did not start: {reason}")).into(),
        Ok((sandbox, isolated, said)) => {
            if let Some(remark) = sandbox.remark() {
                tracing::warn!("private desktop: {remark}");
            }
            match &said {
                Some(said) if isolated => tracing::info!("{said}"),
                Some(said) => tracing::warn!("{said}"),
                None => {}
            }
            sandbox.enter();
            let sandbox = Arc::new(sandbox);
            let platform =
                super::connect_private(clock.clone(), &sandbox, said).unwrap_or_else(absent_because);
            let seen_by = Some(how_to_see(sandbox.session()));
            Chosen { platform, ends_with_us: Some(Box::new(sandbox)), seen_by }
        }
    }
}

/// It has no screen of its own; a VNC server lends it one.
fn how_to_see(session: &DesktopSession) -> String {
    let (display, key) = (&session.display, session.xauthority.display());
    format!(
        "the private desktop is on no screen; to see and operate it, run on this machine: \
         x11vnc -localhost -display {display} -auth {key}   and open localhost:5900 in a VNC viewer"
    )
}

fn start_sharing(plan: &SandboxPlan, config: &SandboxConfig) -> Result<Sandbox, String> {
    Ok(Sandbox::start(plan)?.sharing(config.writable.clone()))
}

/// Tesseract reads here (`ocr`).
pub fn recognizer() -> Option<Result<Box<dyn Recognizer>>> {
    None
}

pub fn mac_permissions() -> Option<crate::platform::survey::MacPermissions> {
    None
}
