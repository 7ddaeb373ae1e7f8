//! What a running Linux desktop answers when it is asked: its window manager, its accessibility bus, and the
//! programs that show a window and no elements.

use super::{CheckStatus, DoctorCheck, DoctorSubject};
use crate::machine::fixes::{self, Package};
use crate::machine::sandbox::accessibility_launcher;
use crate::platform::survey::{DisplayFacts, SeenWindow, Survey};

const ENABLE: &str = "busctl --user set-property org.a11y.Bus /org/a11y/bus org.a11y.Status IsEnabled b true";

pub fn check_window_manager(subject: &DoctorSubject<'_>) -> DoctorCheck {
    const NAME: &str = "window manager";
    match subject.survey.as_ref().and_then(|survey| survey.display.as_ref()) {
        Some(Ok(DisplayFacts { window_manager: Some(name), windows })) => {
            DoctorCheck::new(NAME, CheckStatus::Ok, format!("{name}, {} windows", windows.len()))
        }
        Some(Ok(_)) => {
            let detail = "none is running on this display: windows cannot be listed, raised or moved";
            let fix = fixes::installed_then(subject.machine, "openbox", Package::WindowManager, "openbox &");
            DoctorCheck::new(NAME, CheckStatus::Missing, detail)
                .set_essential(subject.wants_desktop())
                .with_fix(fix)
        }
        Some(Err(reason)) => {
            DoctorCheck::new(NAME, CheckStatus::Error, format!("the display cannot be read: {reason}"))
        }
        None if subject.is_wayland_alone() => {
            DoctorCheck::new(NAME, CheckStatus::Ok, "the Wayland compositor (see real desktop)")
        }
        None => DoctorCheck::new(NAME, CheckStatus::Warning, "skipped (no X11 display)"),
    }
}

/// Where the bus cannot be asked, what is installed is told instead; that is a hint and no proof.
pub fn check_accessibility(subject: &DoctorSubject<'_>) -> DoctorCheck {
    const NAME: &str = "accessibility";
    if subject.env_variable("NO_AT_BRIDGE").is_some_and(|value| value != "0") {
        let detail = "NO_AT_BRIDGE is set: GTK programs started from here expose no elements";
        return DoctorCheck::new(NAME, CheckStatus::Warning, detail)
            .with_fix("unset NO_AT_BRIDGE".to_owned());
    }
    let Some(launcher) = accessibility_launcher(subject.machine) else {
        return DoctorCheck::new(NAME, CheckStatus::Missing, "AT-SPI is not installed: no element trees")
            .with_fix(fixes::install_command(subject.machine, Package::Accessibility));
    };
    match subject.survey.as_ref().map(|survey| &survey.accessibility) {
        None => DoctorCheck::new(NAME, CheckStatus::Ok, format!("AT-SPI starts on demand ({launcher})")),
        Some(Err(reason)) => {
            DoctorCheck::new(NAME, CheckStatus::Error, format!("the AT-SPI bus did not answer: {reason}"))
        }
        Some(Ok(facts)) if facts.enabled => DoctorCheck::new(
            NAME,
            CheckStatus::Ok,
            format!("the AT-SPI bus answers, {} programs expose elements", facts.pids.len()),
        ),
        Some(Ok(_)) => {
            let detail = "the AT-SPI bus answers, but its IsEnabled flag is off: Qt programs, Chromium and \
                          Firefox that start now may expose no elements";
            DoctorCheck::new(NAME, CheckStatus::Warning, detail).with_fix(ENABLE.to_owned())
        }
    }
}

pub fn check_programs(subject: &DoctorSubject<'_>) -> DoctorCheck {
    const NAME: &str = "programs";
    if subject.is_wayland_alone() {
        let detail =
            "only programs that expose elements have a tree; which they are is not surveyed under Wayland";
        return DoctorCheck::new(NAME, CheckStatus::Warning, detail);
    }
    let Some(Survey { display: Some(Ok(display)), accessibility: Ok(accessibility) }) = &subject.survey
    else {
        return DoctorCheck::new(
            NAME,
            CheckStatus::Warning,
            "skipped (needs a display and an accessibility bus)",
        );
    };
    let dark: Vec<&SeenWindow> =
        display.windows.iter().filter(|window| window.is_dark(&accessibility.pids)).collect();
    if dark.is_empty() {
        return DoctorCheck::new(NAME, CheckStatus::Ok, "every window's program exposes elements");
    }
    let lines = dark.iter().map(|window| window.window_advice());
    let detail = std::iter::once("these show a window and expose no elements:".to_owned()).chain(lines);
    DoctorCheck::new(NAME, CheckStatus::Warning, detail.collect::<Vec<_>>().join("\n"))
}

/// What helps a program whose window class or toolkit contains the word; the first that fits counts.
const ADVICE: &[(&str, &str)] = &[
    ("chrom", "start it with --force-renderer-accessibility"),
    ("electron", "start it with --force-renderer-accessibility"),
    ("code", "start it with --force-renderer-accessibility"),
    ("firefox", "start it with GNOME_ACCESSIBILITY=1"),
    ("java", "install java-atk-wrapper for its Java"),
    ("qt", "start it with QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1"),
    ("gtk3", "start it without NO_AT_BRIDGE; libatk-adaptor must be installed"),
    ("gtk4", "start it with GTK_A11Y=atspi"),
    ("xterm", "it has no elements; read it with get_ocr"),
    ("rxvt", "it has no elements; read it with get_ocr"),
];

impl SeenWindow {
    fn is_dark(&self, offering: &[u32]) -> bool {
        self.pid.is_none_or(|pid| !offering.contains(&pid))
    }

    fn window_advice(&self) -> String {
        let toolkit = self.toolkit.unwrap_or_default();
        let known = |word: &str| self.class.to_lowercase().contains(word) || toolkit.contains(word);
        let advice = ADVICE.iter().find(|(word, _)| known(word));
        let advice =
            advice.map_or("restart it; if that does not help, read it with get_ocr", |found| found.1);
        format!("{} ({}): {advice}", crate::text::shorten(&self.title, 40), self.class)
    }
}
