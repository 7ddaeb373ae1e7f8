//! Which applications may be neither seen nor operated.

use super::{CheckStatus, DoctorCheck, DoctorSubject};
use crate::privacy::app_rules::BUILT_IN;

pub fn check_apps(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let mut lines = Vec::new();
    if let Some(config) = subject.loaded_config() {
        let apps = &config.apps;
        lines.extend((!apps.allow.is_empty()).then(|| format!("apps.allow has {} rules", apps.allow.len())));
        lines.extend((!apps.ask.is_empty()).then(|| format!("apps.ask has {} rules", apps.ask.len())));
        lines.extend((!apps.deny.is_empty()).then(|| format!("apps.deny has {} rules", apps.deny.len())));
    }
    lines.push("denied unless apps.allow names them:".to_owned());
    lines.extend(BUILT_IN.iter().map(|group| format!("{}: {}", group.what, group.names.join(", "))));
    let hosts = if subject.hosts.is_empty() { "none found".to_owned() } else { subject.hosts.join(", ") };
    lines.push(format!("what started this server: {hosts}"));
    DoctorCheck::new("applications", CheckStatus::Ok, lines.join("\n"))
}
