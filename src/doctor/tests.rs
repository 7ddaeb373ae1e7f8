//! Reports on pretended machines.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::config::{self, Flags};
use crate::machine::sandbox::sandbox_can_start;
use crate::platform::survey::{AccessibilityFacts, DisplayFacts, SeenWindow};

/// A machine with nothing; tests add to it.
#[derive(Default)]
struct PretendedMachine {
    system: &'static str,
    variables: BTreeMap<&'static str, &'static str>,
    programs: BTreeSet<&'static str>,
    files: BTreeSet<&'static str>,
    sockets: BTreeSet<&'static str>,
    links: BTreeMap<&'static str, &'static str>,
    output: Option<Result<&'static str, &'static str>>,
    read_only: bool,
    survey: Option<Survey>,
    mac: Option<MacPermissions>,
}

impl Machine for PretendedMachine {
    fn system(&self) -> String {
        self.system.to_owned()
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(ToString::to_string)
    }
    fn find_program(&self, name: &str) -> Option<PathBuf> {
        self.programs.contains(name).then(|| Path::new("/usr/bin").join(name))
    }
    fn exists(&self, path: &Path) -> bool {
        self.files.contains(path.to_str().unwrap())
    }
    fn has_entries(&self, folder: &Path) -> bool {
        self.exists(folder)
    }
    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        self.links.get(path.to_str().unwrap()).map(PathBuf::from)
    }
    fn folder_state(&self, _: &Path) -> FolderState {
        let refused = FolderState::Refused("read-only file system".to_owned());
        if self.read_only { refused } else { FolderState::Creatable }
    }
    fn connect(&self, socket: &Socket) -> Result<(), String> {
        let known = self.sockets.contains(socket.to_string().as_str());
        known.then_some(()).ok_or_else(|| "connection refused".to_owned())
    }
    fn run(&self, _: &Path, _: &[&str]) -> Result<String, String> {
        match self.output {
            Some(Ok(text)) => Ok(text.to_owned()),
            Some(Err(reason)) => Err(reason.to_owned()),
            None => Err("not runnable".to_owned()),
        }
    }
}

fn bare() -> PretendedMachine {
    PretendedMachine { system: "linux", ..PretendedMachine::default() }
}

fn complete() -> PretendedMachine {
    PretendedMachine {
        system: "linux",
        variables: [
            ("DISPLAY", ":0"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus,guid=1"),
            ("XDG_RUNTIME_DIR", "/run/user/1000"),
        ]
        .into(),
        programs: ["tesseract", "apt-get", "sudo", "Xvfb", "dbus-daemon", "openbox", "bwrap", "chromium"]
            .into(),
        files: ["/usr/share/fonts", "/usr/libexec/at-spi-bus-launcher"].into(),
        sockets: ["/tmp/.X11-unix/X0", "/run/user/1000/bus"].into(),
        survey: Some(Survey {
            display: Some(Ok(DisplayFacts {
                window_manager: Some("Openbox".to_owned()),
                windows: Vec::new(),
            })),
            accessibility: Ok(AccessibilityFacts { enabled: true, pids: vec![7] }),
        }),
        output: Some(Ok("tesseract 5.3.0\n leptonica-1.82.0\n")),
        ..PretendedMachine::default()
    }
}

fn loaded(pairs: &[(&str, &str)]) -> Result<Loaded, FatalConfig> {
    let folder = tempfile::tempdir().unwrap();
    let no_file = ("XDG_CONFIG_HOME", folder.path().to_str().unwrap());
    let environment = pairs.iter().copied().chain([no_file]);
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let named = PathBuf::from("config.json");
    match config::load(&Flags::default(), environment) {
        Ok(loaded) => Ok(Loaded { path: named, ..loaded }),
        Err(fatal) => Err(FatalConfig { path: named, ..fatal }),
    }
}

fn report_on(machine: &PretendedMachine, environment: &[(&str, &str)], available: bool) -> DoctorReport {
    report_with(machine, environment, available, || None)
}

fn report_with(
    machine: &PretendedMachine,
    environment: &[(&str, &str)],
    available: bool,
    system_ocr: fn() -> Option<Result<String, String>>,
) -> DoctorReport {
    let reason = if available { "X11 and AT-SPI" } else { "this build has no adapter for it" };
    let platform =
        PlatformFacts { name: "Linux".into(), available, reason: reason.into(), by_powershell: false };
    let loaded = loaded(environment);
    run_checks(&DoctorSubject {
        version: "0.1.0",
        features: &["http"],
        platform: &platform,
        own_ocr: None,
        system_ocr,
        config: loaded.as_ref(),
        survey: machine.survey.clone(),
        mac: machine.mac,
        hosts: vec!["bash".to_owned(), "konsole".to_owned()],
        machine,
    })
}

/// One check of a report on this machine: status, detail and fix.
fn check(machine: &PretendedMachine, name: &str, status: CheckStatus, detail: &str, fix: Option<&str>) {
    check_with(machine, &[], name, status, detail, fix);
}

fn check_with(
    machine: &PretendedMachine,
    environment: &[(&str, &str)],
    name: &str,
    status: CheckStatus,
    detail: &str,
    fix: Option<&str>,
) {
    let report = report_on(machine, environment, true);
    let check = report.checks.iter().find(|check| check.name == name).expect(name);
    assert!(check.detail.contains(detail), "{check:?}");
    assert_eq!((check.status, check.fix.as_deref()), (status, fix), "{check:?}");
}

#[test]
fn a_bare_machine() {
    let report = report_on(&bare(), &[], false);
    assert_eq!(report.exit_code(), 1);
    insta::assert_snapshot!("bare_machine", report.to_text());
}

#[test]
fn a_bare_machine_with_a_package_manager() {
    let machine = PretendedMachine { programs: ["apt-get", "sudo"].into(), ..bare() };
    insta::assert_snapshot!("bare_machine_with_apt", report_on(&machine, &[], true).to_text());
}

#[test]
fn a_complete_machine() {
    let report = report_on(&complete(), &[], true);
    assert_eq!((report.verdict, report.exit_code()), (DoctorVerdict::Ready, 0));
    insta::assert_snapshot!("complete_machine", report.to_text());
    insta::assert_json_snapshot!("complete_machine_json", report);
}

#[test]
fn the_mock_makes_a_bare_machine_usable() {
    let report = report_on(&bare(), &[("OSO_MOCK", "true")], false);
    assert_eq!((report.verdict, report.exit_code()), (DoctorVerdict::Limited, 0));
    assert!(report.summary.starts_with("ready to serve the mock desktop"), "{}", report.summary);
}

#[test]
fn a_build_without_an_adapter_is_not_usable_however_complete_the_machine() {
    let report = report_on(&complete(), &[], false);
    assert_eq!(report.summary, "cannot serve this desktop: real desktop. With --mock it works now.");
}

#[test]
fn a_configuration_that_refuses_the_start_decides_alone() {
    let report = report_on(&complete(), &[("OSO_MOCK", "yes")], true);
    assert_eq!((report.exit_code(), report.summary.as_str()), (1, "will not start: fix the configuration"));
    let config = report.checks.iter().find(|check| check.name == "config").unwrap();
    assert!(config.detail.contains("OSO_MOCK: expected true or false"), "{config:?}");
}

#[test]
fn configuration_remarks_are_warnings() {
    let odd = [("OSO_THEME", "dark")];
    check_with(&complete(), &odd, "config", CheckStatus::Warning, "OSO_THEME in the environment", None);
    check(&complete(), "config", CheckStatus::Ok, "config.json absent, defaults used", None);
}

#[test]
fn displays() {
    let with = |variables: &[(&'static str, &'static str)], sockets: &[&'static str]| PretendedMachine {
        variables: variables.iter().copied().collect(),
        sockets: sockets.iter().copied().collect(),
        programs: ["Xvfb"].into(),
        ..bare()
    };
    let start = Some("os-screen-observer --sandbox");
    let wayland = [("WAYLAND_DISPLAY", "wayland-0"), ("XDG_RUNTIME_DIR", "/run/user/1")];
    let both = [wayland[0], wayland[1], ("DISPLAY", ":0")];
    let check = |machine, status, detail, fix| check(&machine, "display", status, detail, fix);
    check(with(&[], &[]), CheckStatus::Missing, "neither DISPLAY nor WAYLAND_DISPLAY", start);
    check(with(&[("DISPLAY", "")], &[]), CheckStatus::Missing, "neither", start);
    check(with(&[("DISPLAY", ":7.0")], &["/tmp/.X11-unix/X7"]), CheckStatus::Ok, "X11 :7.0 answers", None);
    check(with(&[("DISPLAY", ":7")], &["@/tmp/.X11-unix/X7"]), CheckStatus::Ok, "X11 :7 answers", None);
    check(with(&[("DISPLAY", ":7")], &[]), CheckStatus::Error, "X7: connection refused", start);
    check(with(&[("DISPLAY", "far:0")], &[]), CheckStatus::Ok, "not tried", None);
    check(with(&wayland, &["/run/user/1/wayland-0"]), CheckStatus::Ok, "no X11", None);
    check(with(&wayland[..1], &[]), CheckStatus::Error, "XDG_RUNTIME_DIR is not set", start);
    let sockets = ["/tmp/.X11-unix/X0", "/run/user/1/wayland-0"];
    check(with(&both, &sockets), CheckStatus::Warning, "may not be reachable", None);
    check(with(&both, &sockets[..1]), CheckStatus::Ok, "X11 :0 answers", None);
    check(
        with(&both, &sockets[1..]),
        CheckStatus::Warning,
        "Wayland wayland-0 answers; X11 :0 does not",
        None,
    );
    check(with(&both, &[]), CheckStatus::Error, "X11 :0 does not", start);
}

/// A session without an X server.
fn wayland_alone() -> PretendedMachine {
    let elements = AccessibilityFacts { enabled: true, pids: vec![7] };
    PretendedMachine {
        variables: [("WAYLAND_DISPLAY", "wayland-0"), ("XDG_RUNTIME_DIR", "/run/user/1000")].into(),
        sockets: ["/run/user/1000/wayland-0", "/run/user/1000/bus"].into(),
        survey: Some(Survey { display: None, accessibility: Ok(elements) }),
        ..complete()
    }
}

#[test]
fn wayland_without_x11() {
    check(&wayland_alone(), "display", CheckStatus::Ok, "which part of the compositor", None);
    check(&wayland_alone(), "window manager", CheckStatus::Ok, "the Wayland compositor", None);
    check(&wayland_alone(), "programs", CheckStatus::Warning, "only programs that expose elements", None);
    check(&wayland_alone(), "accessibility", CheckStatus::Ok, "1 programs expose elements", None);
}

#[test]
fn session_buses() {
    let with = |address: &'static str, socket: &'static str| PretendedMachine {
        variables: [("DBUS_SESSION_BUS_ADDRESS", address), ("XDG_RUNTIME_DIR", "/run/user/1")].into(),
        sockets: [socket].into(),
        files: ["/run/user/1/bus"].into(),
        programs: ["dbus-run-session"].into(),
        ..bare()
    };
    let start = Some("dbus-run-session -- os-screen-observer");
    let check = |machine, status, detail, fix| check(&machine, "session bus", status, detail, fix);
    check(with("unix:path=/b,guid=1", "/b"), CheckStatus::Ok, "answers at /b", None);
    check(with("unix:abstract=/b,guid=1;tcp:x", "@/b"), CheckStatus::Ok, "answers at @/b", None);
    check(with("unix:path=/b", "/c"), CheckStatus::Error, "does not answer at /b", start);
    check(with("tcp:host=far,port=1", ""), CheckStatus::Warning, "cannot be tried", None);
    check(with("", "/run/user/1/bus"), CheckStatus::Ok, "answers at /run/user/1/bus", None);
    check(bare(), CheckStatus::Missing, "is not set", None);
}

fn surveyed(display: DisplayFacts, accessibility: Result<AccessibilityFacts, &str>) -> PretendedMachine {
    let accessibility = accessibility.map_err(str::to_owned);
    PretendedMachine { survey: Some(Survey { display: Some(Ok(display)), accessibility }), ..complete() }
}

#[test]
fn accessibility() {
    let check = |machine, status, detail, fix| check(&machine, "accessibility", status, detail, fix);
    check(complete(), CheckStatus::Ok, "answers, 1 programs expose elements", None);
    check(PretendedMachine { survey: None, ..complete() }, CheckStatus::Ok, "starts on demand", None);
    let install = Some("sudo apt-get install -y at-spi2-core");
    let bare = PretendedMachine { programs: ["apt-get", "sudo"].into(), ..bare() };
    check(bare, CheckStatus::Missing, "not installed", install);
    let hidden = PretendedMachine { variables: [("NO_AT_BRIDGE", "1")].into(), ..complete() };
    check(hidden, CheckStatus::Warning, "NO_AT_BRIDGE", Some("unset NO_AT_BRIDGE"));
    let off = surveyed(DisplayFacts::default(), Ok(AccessibilityFacts::default()));
    let fix = "busctl --user set-property org.a11y.Bus /org/a11y/bus org.a11y.Status IsEnabled b true";
    check(off, CheckStatus::Warning, "IsEnabled flag is off", Some(fix));
    check(surveyed(DisplayFacts::default(), Err("no bus")), CheckStatus::Error, "no bus", None);
}

#[test]
fn window_managers() {
    let check = |machine, status, detail, fix| check(&machine, "window manager", status, detail, fix);
    check(complete(), CheckStatus::Ok, "Openbox, 0 windows", None);
    let none = surveyed(DisplayFacts::default(), Err(""));
    check(none, CheckStatus::Missing, "none is running", Some("openbox &"));
    let broken =
        Survey { display: Some(Err("no such display".to_owned())), accessibility: Err(String::new()) };
    let broken = PretendedMachine { survey: Some(broken), ..complete() };
    check(broken, CheckStatus::Error, "no such display", None);
    check(bare(), CheckStatus::Warning, "no X11 display", None);
}

#[test]
fn programs_without_elements_are_told_what_helps() {
    let window = |title: &str, class: &str, pid, toolkit| SeenWindow {
        title: title.to_owned(),
        class: class.to_owned(),
        pid,
        toolkit,
    };
    let windows = vec![
        window("Notes", "mousepad, Mousepad", Some(7), Some("gtk3")),
        window("News", "chromium, Chromium", Some(8), None),
        window("Sums", "kcalc, kcalc", Some(9), Some("qt5")),
        window("shell", "xterm, XTerm", None, None),
        window(&"a long title ".repeat(9), "game, Game", Some(10), None),
    ];
    let display = DisplayFacts { window_manager: Some("Openbox".to_owned()), windows };
    let machine = surveyed(display, Ok(AccessibilityFacts { enabled: true, pids: vec![7] }));
    let report = report_on(&machine, &[], true);
    let check = report.checks.iter().find(|check| check.name == "programs").unwrap();
    assert_eq!(check.status, CheckStatus::Warning);
    insta::assert_snapshot!(check.detail, @r"
    these show a window and expose no elements:
    News (chromium, Chromium): start it with --force-renderer-accessibility
    Sums (kcalc, kcalc): start it with QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1
    shell (xterm, XTerm): it has no elements; read it with get_ocr
    a long title a long title a long title a… (game, Game): restart it; if that does not help, read it with get_ocr
    ");
    super::tests::check(&complete(), "programs", CheckStatus::Ok, "every window's program", None);
    super::tests::check(&bare(), "programs", CheckStatus::Warning, "skipped (needs a display", None);
}

#[test]
fn browsers() {
    let check = |machine: &PretendedMachine, environment: &[(&str, &str)], status, detail, fix| {
        check_with(machine, environment, "browser", status, detail, fix);
    };
    check(&complete(), &[], CheckStatus::Ok, "(/usr/bin/chromium), for --browser", None);
    check(&bare(), &[], CheckStatus::Missing, "--browser needs one: no browser was found", None);
    let apt = PretendedMachine { programs: ["apt-get", "sudo"].into(), ..bare() };
    let install = Some("sudo apt-get install -y chromium");
    check(&apt, &[], CheckStatus::Missing, "install Chromium", install);
    let off = [("OSO_BROWSER__SANDBOX", "false")];
    check(&complete(), &off, CheckStatus::Warning, "without its sandbox", None);
    let root = PretendedMachine { programs: ["chromium", "id"].into(), output: Some(Ok("0\n")), ..bare() };
    check(&root, &[], CheckStatus::Warning, "does not start as root", None);
    let broken = PretendedMachine { output: Some(Err("exit status 1")), ..complete() };
    check(&broken, &[], CheckStatus::Error, "does not say its version: exit status 1", None);
}

#[test]
fn private_desktops() {
    let check = |machine: &PretendedMachine, status, detail, fix| {
        check(machine, "private desktop", status, detail, fix);
    };
    check(&complete(), CheckStatus::Ok, "--sandbox", None);
    let needs = "--sandbox needs Xvfb, dbus-daemon, at-spi-bus-launcher, openbox";
    check(&bare(), CheckStatus::Missing, needs, None);
    let half = PretendedMachine { programs: ["apt-get", "sudo", "Xvfb", "dbus-daemon"].into(), ..complete() };
    let install = "sudo apt-get install -y openbox";
    check(&half, CheckStatus::Missing, "--sandbox needs openbox", Some(install));
    let complaint = sandbox_can_start(&half, None).unwrap_err();
    assert_eq!(complaint, format!("a private desktop needs openbox, not found here. Install: {install}"));
    assert_eq!(sandbox_can_start(&complete(), None), Ok(()));
    assert_eq!(sandbox_can_start(&complete(), Some("tesseract")), Ok(()));
    assert!(
        sandbox_can_start(&complete(), Some("no-such"))
            .unwrap_err()
            .contains("program no-such was not found")
    );
}

#[test]
fn a_system_that_reads_by_itself_needs_no_tesseract() {
    let check = |machine, system_ocr, status, detail: &str| {
        let report = report_with(&machine, &[], true, system_ocr);
        let found = report.checks.iter().find(|check| check.name == "tesseract").unwrap();
        assert_eq!(found.status, status, "{found:?}");
        assert!(found.detail.contains(detail), "{found:?}");
    };
    check(
        bare(),
        || Some(Ok("Windows.Media.Ocr (en-US)".into())),
        CheckStatus::Ok,
        "OCR uses Windows.Media.Ocr (en-US)",
    );
    check(bare(), || Some(Err("no language".into())), CheckStatus::Missing, "no OCR; no language");
    check(complete(), || Some(Err("no language".into())), CheckStatus::Ok, "tesseract 5.3.0");
}

#[test]
fn tesseract() {
    const WINDOWS_PATH: &[(&str, &str)] = &[("OSO_OCR__TESSERACT_CMD", r"C:\Tesseract\tesseract.exe")];
    let check = |machine, environment: &[(&str, &str)], status, detail, fix| {
        check_with(&machine, environment, "tesseract", status, detail, fix);
    };
    check(complete(), &[], CheckStatus::Ok, "tesseract 5.3.0 (program /usr/bin/tesseract)", None);
    check(complete(), &[("OSO_OCR__TESSERACT_CMD", "tesseract")], CheckStatus::Ok, "5.3.0", None);
    let fix = Some("export OSO_OCR__TESSERACT_CMD='/usr/bin/tesseract'");
    check(complete(), WINDOWS_PATH, CheckStatus::Warning, "does not exist, but /usr/bin/tesseract does", fix);
    check(bare(), WINDOWS_PATH, CheckStatus::Missing, "neither at C:", None);
    check(bare(), &[("OSO_OCR__ENABLED", "false")], CheckStatus::Ok, "not needed", None);
    let stuck = PretendedMachine { output: Some(Err("did not end in 5s")), ..complete() };
    check(stuck, &[], CheckStatus::Error, "did not end", Some("sudo apt-get install -y tesseract-ocr"));
    let loud = PretendedMachine { output: Some(Ok("\u{1b}[2Jtesseract 5")), ..complete() };
    check(loud, &[], CheckStatus::Ok, "\u{fffd}[2Jtesseract 5", None);
}

#[test]
fn folders() {
    const AUDIT: &[(&str, &str)] = &[("OSO_LOGGING__AUDIT", "true")];
    let read_only = PretendedMachine { read_only: true, ..complete() };
    let traces = Some("export OSO_TRACING__DIR=\"$HOME/.local/state/os-screen-observer/traces\"");
    check(&read_only, "trace folder", CheckStatus::Error, "read-only file system", traces);
    check(&complete(), "audit log", CheckStatus::Ok, "off", None);
    check_with(&complete(), AUDIT, "audit log", CheckStatus::Ok, "./audit.log will be created", None);
    let linked = PretendedMachine { links: [("./audit.log", "/etc/passwd")].into(), ..complete() };
    check_with(&linked, AUDIT, "audit log", CheckStatus::Warning, "is a link to /etc/passwd", None);
    assert_eq!(report_on(&read_only, &[], true).verdict, DoctorVerdict::Limited);
    assert_eq!(report_on(&read_only, AUDIT, true).verdict, DoctorVerdict::Unusable);
}

#[test]
fn install_lines_speak_the_managers_language() {
    let check = |system, programs: &[&'static str], fix: Option<&str>| {
        let programs = programs.iter().copied().collect();
        let machine = PretendedMachine { system, programs, ..PretendedMachine::default() };
        super::tests::check(&machine, "tesseract", CheckStatus::Missing, "not on PATH", fix);
    };
    check("linux", &[], None);
    check("linux", &["apt-get"], Some("apt-get install -y tesseract-ocr"));
    check("linux", &["apt-get", "sudo"], Some("sudo apt-get install -y tesseract-ocr"));
    check("linux", &["dnf", "sudo"], Some("sudo dnf install -y tesseract"));
    check("linux", &["pacman"], Some("pacman -S --needed --noconfirm tesseract tesseract-data-eng"));
    check("linux", &["zypper"], Some("zypper --non-interactive install tesseract-ocr"));
    check("linux", &["brew", "sudo"], Some("brew install tesseract"));
    check("windows", &["winget", "choco"], Some("winget install --exact --id UB-Mannheim.TesseractOCR"));
    check("windows", &["choco"], Some("choco install -y tesseract"));
}

#[test]
fn other_systems_are_asked_their_own_questions() {
    let windows = |session| PretendedMachine {
        system: "windows",
        variables: [("SESSIONNAME", session)].into(),
        ..PretendedMachine::default()
    };
    check(&windows("Console"), "session", CheckStatus::Ok, "interactive session Console", None);
    check(&windows("Services"), "session", CheckStatus::Error, "service", None);
    assert_eq!(report_on(&windows("Services"), &[], true).verdict, DoctorVerdict::Unusable);
    let mac = PretendedMachine { system: "macos", ..PretendedMachine::default() };
    let report = report_on(&mac, &[], true);
    let names: Vec<_> = report.checks.iter().map(|check| check.name).collect();
    assert!(names.contains(&"screen recording") && !names.contains(&"display"), "{names:?}");
}

fn check_mac(mac: MacPermissions, name: &str, status: CheckStatus, detail: &str, verdict: DoctorVerdict) {
    let machine = PretendedMachine {
        system: "macos",
        mac: Some(mac),
        programs: ["chromium"].into(),
        output: Some(Ok("Chromium 156")),
        ..PretendedMachine::default()
    };
    let report = report_with(&machine, &[], true, || Some(Ok("Vision".into())));
    let check = report.checks.iter().find(|check| check.name == name).expect(name);
    assert!(check.status == status && check.detail.contains(detail), "{check:?}");
    assert_eq!((check.fix.is_some(), report.verdict), (status != CheckStatus::Ok, verdict), "{report:?}");
}

#[test]
fn a_mac_says_where_to_click() {
    let all = MacPermissions { accessibility: true, recording: true };
    check_mac(all, "accessibility", CheckStatus::Ok, "permitted", DoctorVerdict::Ready);
    check_mac(all, "screen recording", CheckStatus::Ok, "permitted", DoctorVerdict::Ready);
    let blind = MacPermissions { recording: false, ..all };
    let pane = "Screen & System Audio Recording (Screen Recording before macOS 15): switch on the app";
    check_mac(blind, "screen recording", CheckStatus::Missing, pane, DoctorVerdict::Limited);
    let pane = "Privacy & Security › Accessibility: switch on the app";
    let deaf = MacPermissions { accessibility: false, ..all };
    check_mac(deaf, "accessibility", CheckStatus::Missing, pane, DoctorVerdict::Unusable);
}

#[test]
fn wsl_needs_no_display() {
    let machine = PretendedMachine { system: "linux", ..PretendedMachine::default() };
    let platform =
        PlatformFacts { name: "Linux".into(), available: true, reason: String::new(), by_powershell: true };
    let loaded = loaded(&[]);
    let report = run_checks(&DoctorSubject {
        version: "0.1.0",
        features: &[],
        platform: &platform,
        own_ocr: None,
        system_ocr: || None,
        config: loaded.as_ref(),
        survey: None,
        mac: None,
        hosts: Vec::new(),
        machine: &machine,
    });
    let display = report.checks.iter().find(|check| check.name == "display").unwrap();
    assert!(display.status == CheckStatus::Warning && display.detail.contains("this is WSL"), "{display:?}");
    assert_eq!(report.verdict, DoctorVerdict::Limited);
}
