//! The built server in a Wayland session: a compositor without a screen, real programs, and no X server unless a test
//! asks for one. What came of an input is read from what the programs print.
#![allow(clippy::disallowed_methods, reason = "a test runs in real time and sets up its own environment")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]
#![cfg(target_os = "linux")]

mod support;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Client;

/// A loaded machine is slow; a condition that holds is noticed at once, so only failures take so long.
const PATIENCE: Duration = Duration::from_secs(40);
/// Compositors refuse to run as root; this is everybody's `nobody`.
const NOBODY: u32 = 65_534;
const SCREEN: (u32, u32) = (1280, 720);

/// A window fills its output, so that its places are those of the screen and a test can know them.
const COMPOSITOR: &str =
    "default_border none\nfocus_follows_mouse no\nexec env > READY.part && mv READY.part READY\n";

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A process that ends with its value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Session {
    environment: Vec<(String, String)>,
    folder: tempfile::TempDir,
    _compositor: Ended,
    _bus: Ended,
}

impl Session {
    fn without_x11() -> Self {
        Self::start("xwayland disable\n")
    }

    fn start(more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        std::fs::set_permissions(home, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(
            home.join("sway.conf"),
            COMPOSITOR.replace("READY", &home.join("ready").to_string_lossy()) + more,
        )
        .unwrap();
        if rustix::process::getuid().is_root() {
            std::os::unix::fs::chown(home, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let text = home.to_string_lossy().into_owned();
        let fixed = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("LANG", "C.UTF-8"),
            ("GSETTINGS_BACKEND", "memory"),
            ("WLR_BACKENDS", "headless"),
            ("WLR_LIBINPUT_NO_DEVICES", "1"),
            ("WLR_RENDERER", "pixman"),
            ("HOME", &text),
            ("XDG_RUNTIME_DIR", &text),
        ];
        let mut environment: Vec<(String, String)> =
            fixed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (bus, address) = start_bus(&environment, home.as_os_str());
        environment.push(("DBUS_SESSION_BUS_ADDRESS".to_owned(), address));
        let mut command = command(&environment, "sway");
        command.arg("-c").arg(home.join("sway.conf")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut compositor = Ended(command.spawn().expect("sway (Debian: apt-get install sway)"));
        let seen = until("the compositor", || {
            assert!(compositor.0.try_wait().unwrap().is_none(), "sway has ended");
            std::fs::read_to_string(home.join("ready")).ok()
        });
        // What the compositor tells its own programs.
        let told = seen.lines().filter_map(|line| line.split_once('='));
        let told = told.filter(|(name, _)| ["WAYLAND_DISPLAY", "DISPLAY"].contains(name));
        environment.extend(told.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Self { environment, folder, _compositor: compositor, _bus: bus }
    }

    fn start_program(&self, program: &str, arguments: &[&str]) -> Program {
        let mut command = command(&self.environment, program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Program(Ended(command.spawn().expect(program)))
    }

    fn server(&self) -> Server {
        let binary = self.folder.path().join("server");
        let built = PathBuf::from(env!("CARGO_BIN_EXE_os-screen-observer"));
        // The other user may not reach the folder that it was built in.
        if !binary.exists() && std::fs::hard_link(&built, &binary).is_err() {
            std::fs::copy(&built, &binary).unwrap();
        }
        let mut command = command(&self.environment, binary.to_str().unwrap());
        command
            .args(["--mode", "mcp", "--log", "warning", "--config"])
            .arg(self.folder.path().join("none.json"));
        command.env("OSO_TREE__MAX_DEPTH", "64").env("OSO_TRACING__DIR", self.folder.path().join("traces"));
        let mut client = Client::spawn(command);
        client.initialize("2025-11-25");
        Server { client }
    }
}

/// As another user where this one is root, and gone when the test is.
fn command(environment: &[(String, String)], program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]);
    if rustix::process::getuid().is_root() {
        let id = NOBODY.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
    }
    command.arg(program).env_clear().envs(environment.iter().cloned());
    command
}

fn start_bus(environment: &[(String, String)], home: &OsStr) -> (Ended, String) {
    let mut command = command(environment, "dbus-daemon");
    command.args(["--session", "--nofork", "--print-address"]).current_dir(home);
    let mut bus = Ended(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("dbus-daemon"));
    let mut address = String::new();
    BufReader::new(bus.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    (bus, address.trim().to_owned())
}

struct Program(Ended);

impl Program {
    fn pid(&self) -> u32 {
        self.0.0.id()
    }

    /// What it printed, once it has ended by itself.
    fn printed(&mut self) -> String {
        until("the program to end", || self.0.0.try_wait().unwrap());
        let mut text = String::new();
        self.0.0.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

struct Server {
    client: Client,
}

impl Server {
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.client.call(tool, arguments);
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap_or_default()).unwrap_or_else(|_| {
            panic!("{tool} answered {result}; stderr: {}", self.client.errors.lock().unwrap())
        })
    }

    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let value = self.call(tool, arguments.clone());
        assert_eq!(value["ok"], true, "{tool} {arguments} answered {value}");
        value
    }

    /// A call that is refused because this desktop cannot do it, with a sentence that says so.
    fn refused(&mut self, tool: &str, arguments: Value, says: &str) {
        let value = self.call(tool, arguments.clone());
        assert_eq!(value["error"]["code"], "PlatformUnsupported", "{tool} {arguments} answered {value}");
        let message = value["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{tool}: {message}");
    }

    fn window(&mut self, program: &Program) -> Value {
        until("a window of the program", || {
            let windows = self.ok("list_windows", json!({}));
            let windows = windows["windows"].as_array().unwrap().clone();
            windows.into_iter().find(|window| window["pid"] == program.pid())
        })
    }

    /// The uid of the program's window once it has the keyboard.
    fn focused(&mut self, program: &Program) -> String {
        until("the window to have the focus", || {
            let window = self.window(program);
            (window["focused"] == true).then(|| window["window_uid"].as_str().unwrap().to_owned())
        })
    }

    fn element(&mut self, uid: &str, selector: &str) -> Value {
        until(selector, || {
            let found = self.call("find_element", json!({"window_uid": uid, "selector": selector}));
            (found["ok"] == true).then_some(found)
        })
    }

    fn tree(&mut self, uid: &str) -> String {
        self.ok("get_window_structure", json!({"window_uid": uid, "depth": 64}))["tree"].to_string()
    }

    fn picture(&mut self) -> image::RgbaImage {
        use base64::Engine;
        let result = self.client.call("get_screenshot", json!({}));
        let data = result["content"].as_array().unwrap().iter().find_map(|block| block["data"].as_str());
        let data = data.unwrap_or_else(|| panic!("no picture: {result}"));
        let bytes = base64::prelude::BASE64_STANDARD.decode(data).unwrap();
        image::load_from_memory(&bytes).unwrap().to_rgba8()
    }
}

fn centre(element: &Value) -> (i64, i64) {
    let side = |name: &str| element["bounds"][name].as_i64().unwrap();
    (side("x") + side("width") / 2, side("y") + side("height") / 2)
}

/// Letters, capitals, what the layout lacks, and what no keyboard has.
const TEXT: &str = "Grüße an ALLE: 5 € = 漢字 → 🎉!";

#[test]
fn a_gtk3_dialog_is_read_typed_into_and_answered() {
    let session = Session::without_x11();
    let mut server = session.server();
    let mut dialog = session.start_program("zenity", &["--entry", "--title", "Ask", "--text", "Name"]);
    let uid = server.focused(&dialog);
    let window = server.window(&dialog);
    assert_eq!(
        (&window["title"], &window["bounds"]["x"], &window["bounds"]["y"]),
        (&json!("Ask"), &json!(0), &json!(0))
    );
    server.element(&uid, "//Edit");
    let focus = server.ok("focus_element", json!({"window_uid": uid, "selector": "//Edit"}));
    assert_eq!(focus["route"], "accessibility", "{focus}");
    server.ok("type_text", json!({"text": TEXT}));
    until("the typed text in the tree", || server.tree(&uid).contains(TEXT).then_some(()));
    server.ok("press_key", json!({"keys": "ctrl+a"}));
    server.ok("type_text", json!({"text": "again"}));
    until("the text that was typed over", || server.tree(&uid).contains(r#""again""#).then_some(()));
    let receipt = server.ok("click_element", json!({"window_uid": uid, "selector": "//Button[name=\"OK\"]"}));
    assert_eq!(receipt["route"], "accessibility", "{receipt}");
    assert_eq!(dialog.printed(), "again\n");
}

#[test]
fn a_gtk4_calculator_is_worked_by_its_buttons_and_by_keys() {
    let session = Session::without_x11();
    let mut server = session.server();
    let calculator = session.start_program("gnome-calculator", &[]);
    let uid = server.focused(&calculator);
    assert!(!server.tree(&uid).contains("13.4"), "nothing is calculated yet");
    for name in ["6", "7", "÷", "5", "="] {
        let selector = format!("//Button[name=\"{name}\"]");
        server.element(&uid, &selector);
        let receipt = server.ok("click_element", json!({"window_uid": uid, "selector": selector}));
        assert_eq!(receipt["route"], "accessibility", "{receipt}");
    }
    until("67 ÷ 5", || server.tree(&uid).contains("13.4").then_some(()));
    server.ok("press_key", json!({"keys": "escape"}));
    server.ok("type_text", json!({"text": "9*9.5\n"}));
    until("9 × 9.5", || server.tree(&uid).contains("85.5").then_some(()));
}

#[test]
fn what_needs_the_place_of_a_window_is_refused() {
    let session = Session::without_x11();
    let mut server = session.server();
    let program = session.start_program("gtk3-widget-factory", &[]);
    let uid = server.focused(&program);
    let selector = "//Button";
    server.element(&uid, selector);
    let on = |selector: &str| json!({"window_uid": uid, "selector": selector});
    let listed = server.ok("list_windows", json!({}));
    assert!(listed["warning"].as_str().unwrap().contains("relative to the window"), "{listed}");
    let structure = server.ok("get_window_structure", json!({"window_uid": uid}));
    assert!(
        structure["warning"].as_str().unwrap().contains("relative to the window"),
        "{}",
        structure["warning"]
    );
    server.refused("right_click_element", on(selector), "the pointer cannot be moved to it");
    server.refused("get_screenshot", json!({"window_uid": uid}), "no screenshot of a single window");
    server.refused("get_visible_areas", json!({"window_uid": uid}), "where windows are");
    server.refused(
        "drag",
        json!({"window_uid": uid, "from": {"selector": selector}, "to": {"x": 1, "y": 1}}),
        "to drag an element",
    );
    let facts = server.ok("get_capabilities", json!({}));
    assert_eq!(facts["adapter"], "WaylandAdapter");
    assert_eq!(facts["supports"]["bring_to_foreground"], false);
    assert!(facts["limitations"].to_string().contains("none of a single window"), "{}", facts["limitations"]);
}

#[test]
fn the_screen_is_pictured_and_clicked_at_its_pixels() {
    let session = Session::without_x11();
    let mut server = session.server();
    let empty = server.picture();
    assert_eq!(empty.dimensions(), SCREEN);
    let mut dialog =
        session.start_program("zenity", &["--entry", "--title", "Ask", "--entry-text", "by pixels"]);
    let uid = server.focused(&dialog);
    let button = server.element(&uid, "//Button[name=\"OK\"]");
    // The dialog alone fills the screen, so its places happen to be those of the screen.
    assert_eq!(server.window(&dialog)["bounds"]["width"], SCREEN.0);
    until("a picture with the dialog", || (server.picture() != empty).then_some(()));
    let (x, y) = centre(&button);
    server.ok("click_at", json!({"x": x, "y": y}));
    assert_eq!(dialog.printed(), "by pixels\n");
    let off = server.call("click_at", json!({"x": SCREEN.0, "y": 1}));
    assert_eq!(off["error"]["code"], "BadRequest", "{off}");
}

#[test]
fn several_outputs_have_a_picture_and_no_pointer() {
    let session = Session::start("xwayland disable\nexec swaymsg create_output\n");
    let mut server = session.server();
    let monitors = until("a second output", || {
        let monitors = server.ok("get_monitors", json!({}))["monitors"].as_array().unwrap().clone();
        (monitors.len() == 2).then_some(monitors)
    });
    let side = |monitor: &Value, name: &str| monitor["bounds"][name].as_u64().unwrap();
    let width: u64 = monitors.iter().map(|monitor| side(monitor, "width")).sum();
    let height = monitors.iter().map(|monitor| side(monitor, "height")).max().unwrap();
    let picture = server.picture();
    assert_eq!((u64::from(picture.width()), u64::from(picture.height())), (width, height));
    server.refused("click_at", json!({"x": 5, "y": 5}), "several outputs");
}

/// The X server knows its own windows only; the picture of the screen comes from the compositor.
#[test]
fn beside_an_x_server_the_compositor_is_asked_for_the_screen() {
    let session = Session::start("xwayland enable\n");
    let mut server = session.server();
    assert_eq!(server.ok("get_capabilities", json!({}))["adapter"], "LinuxAdapter");
    let empty = server.picture();
    assert_eq!(empty.dimensions(), SCREEN);
    // A program of Wayland, which X11 does not see.
    let _dialog = session.start_program("env", &["-u", "DISPLAY", "zenity", "--entry", "--title", "Ask"]);
    until("a picture with the dialog", || (server.picture() != empty).then_some(()));
}
