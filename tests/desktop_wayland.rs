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
use std::sync::{Arc, Mutex};
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
    compositor: Ended,
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
        Self { environment, folder, compositor, _bus: bus }
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
        let config = self.folder.path().join("config.json");
        std::fs::write(&config, "{}").unwrap();
        command.args(["--mode", "mcp", "--log", "warning", "--config"]).arg(config);
        command.env("OSO_TREE__MAX_DEPTH", "64").env("OSO_TRACING__DIR", self.folder.path().join("traces"));
        let mut client = Client::spawn(command);
        client.initialize("2025-11-25");
        Server { client }
    }

    /// The same session for a server that cannot find the socket of sway, as with other compositors of wlroots.
    fn hide_socket_of_sway(&mut self) {
        let elsewhere = self.folder.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o777)).unwrap();
        let home = self.folder.path().to_owned();
        for (name, value) in &mut self.environment {
            match name.as_str() {
                "WAYLAND_DISPLAY" => *value = home.join(&*value).to_string_lossy().into_owned(),
                "XDG_RUNTIME_DIR" => *value = elsewhere.to_string_lossy().into_owned(),
                _ => {}
            }
        }
    }

    /// A form of GTK in this version, which prints what is done to it.
    fn start_form(&self, version: &str, title: &str) -> Form {
        let script = self.folder.path().join("form.py");
        std::fs::write(&script, FORM).unwrap();
        let mut program = self.start_program("/usr/bin/python3", &[script.to_str().unwrap(), version, title]);
        let lines = BufReader::new(program.0.0.stdout.take().unwrap()).lines();
        let printed: Arc<Mutex<Vec<String>>> = Arc::default();
        let into = printed.clone();
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| into.lock().unwrap().push(line))
        });
        Form { program, printed }
    }
}

/// A field, and a button that is red all over. It says which button of the pointer was pressed on it.
const FORM: &str = r#"
import sys, gi
version, title = sys.argv[1], sys.argv[2]
gi.require_version("Gtk", version + ".0")
from gi.repository import Gtk, Gdk, GLib
def say(*words):
    print(*words, flush=True)
css = Gtk.CssProvider()
css.load_from_data(b"button.red { background: #ff0000; border: none; box-shadow: none; text-shadow: none; }")
def fill(window):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    entry, button = Gtk.Entry(), Gtk.Button(label="Press")
    entry.connect("activate", lambda it: say("text", it.get_text()))
    button.connect("clicked", lambda it: say("clicked"))
    button.set_size_request(200, 80)
    if version == "3":
        button.connect("button-press-event", lambda it, event: say("button", event.button))
        box.pack_start(entry, False, False, 0); box.pack_start(button, False, False, 0)
        window.add(box); button.get_style_context().add_class("red")
        Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), css, 900)
        window.show_all()
    else:
        gesture = Gtk.GestureClick(button=0)
        gesture.connect("pressed", lambda it, *rest: say("button", it.get_current_button()))
        button.add_controller(gesture)
        box.append(entry); box.append(button)
        window.set_child(box); button.add_css_class("red")
        Gtk.StyleContext.add_provider_for_display(Gdk.Display.get_default(), css, 900)
        window.present()
window = Gtk.Window(title=title)
window.set_default_size(420, 260)
loop = GLib.MainLoop()
def closed(*rest):
    say("closed"); loop.quit(); return False
window.connect("delete-event" if version == "3" else "close-request", closed)
fill(window)
loop.run()
"#;

struct Form {
    program: Program,
    printed: Arc<Mutex<Vec<String>>>,
}

impl Form {
    fn says(&self, line: &str) {
        until(line, || self.printed.lock().unwrap().iter().any(|printed| printed == line).then_some(()));
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

    fn titled(&mut self, title: &str) -> String {
        until(title, || {
            let windows = self.ok("list_windows", json!({}))["windows"].as_array().unwrap().clone();
            let window = windows.into_iter().find(|window| window["title"] == title)?;
            Some(window["window_uid"].as_str().unwrap().to_owned())
        })
    }

    fn reaches(&mut self, change: Value) -> Value {
        self.ok("window_action", change)["reached"].clone()
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
        self.picture_of(json!({}))
    }

    fn picture_of(&mut self, arguments: Value) -> image::RgbaImage {
        use base64::Engine;
        let result = self.client.call("get_screenshot", arguments);
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
    let mut session = Session::without_x11();
    session.hide_socket_of_sway();
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
    assert_eq!(facts["supports"]["bring_to_foreground"], true);
    assert!(facts["limitations"].to_string().contains("none of a single window"), "{}", facts["limitations"]);
}

/// Compositors of wlroots other than sway list windows by a protocol that tells titles and states.
#[test]
fn windows_without_places_are_raised_and_closed() {
    let mut session = Session::without_x11();
    session.hide_socket_of_sway();
    let mut server = session.server();
    let (first, second) = (session.start_form("3", "First"), session.start_form("4", "Second"));
    let uid = server.titled("First");
    server.titled("Second");
    assert!(uid.starts_with("toplevel:"), "{uid}");
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    assert_eq!(server.focused(&first.program), uid);
    server.element(&uid, "//Button[name=\"Press\"]");
    let other = server.titled("Second");
    assert_eq!(server.reaches(json!({"action": "close", "window_uid": other})), json!(true));
    second.says("closed");
    assert_eq!(server.reaches(json!({"action": "move", "window_uid": uid, "x": 9, "y": 9})), json!(false));
}

/// A window that floats somewhere on the screen.
const FLOATING: &str =
    "xwayland disable\nfor_window [title=\".*\"] floating enable, move absolute position 310 170\n";

fn check_pointer_on_elements(version: &str) {
    let session = Session::start(FLOATING);
    let mut server = session.server();
    let form = session.start_form(version, "Form");
    let uid = server.titled("Form");
    let window = until("the place of the window", || {
        let window = server.window(&form.program);
        (window["bounds"]["x"].as_i64() > Some(100)).then_some(window)
    });
    let selector = "//Button[name=\"Press\"]";
    let button = server.element(&uid, selector);
    let on = json!({"window_uid": uid, "selector": selector});
    let receipt = server.ok("right_click_element", on.clone());
    assert_eq!(receipt["route"], "pointer", "{receipt}");
    form.says("button 3");
    // The pixels of the element are those of the button, on the screen and in the window.
    let (x, y) = (centre(&button).0 - 60, centre(&button).1);
    assert_eq!(server.picture().get_pixel(x as u32, y as u32).0, [255, 0, 0, 255], "{button}");
    let (left, top) = (window["bounds"]["x"].as_i64().unwrap(), window["bounds"]["y"].as_i64().unwrap());
    let picture = server.picture_of(json!({"window_uid": uid}));
    assert_eq!(i64::from(picture.width()), window["bounds"]["width"].as_i64().unwrap());
    assert_eq!(picture.get_pixel((x - left) as u32, (y - top) as u32).0, [255, 0, 0, 255]);
    server.ok("click_at", json!({"x": x, "y": y}));
    form.says("clicked");
    server.ok("get_visible_areas", json!({"window_uid": uid}));
}

#[test]
fn the_pointer_meets_the_elements_of_a_gtk3_window() {
    check_pointer_on_elements("3");
}

#[test]
fn the_pointer_meets_the_elements_of_a_gtk4_window() {
    check_pointer_on_elements("4");
}

/// Scripts of many kinds, more characters than a keyboard has keys, and what needs shift.
#[test]
fn text_of_every_script_arrives() {
    let session = Session::without_x11();
    let mut server = session.server();
    let form = session.start_form("3", "Form");
    let uid = server.titled("Form");
    server.ok("focus_element", json!({"window_uid": uid, "selector": "//Edit"}));
    let many: String = (0..300).filter_map(|at| char::from_u32(0x4e00 + at)).collect();
    let text =
        format!("Ünïcode ÀÉ {{[(<~|`\"'>)]}} Привет Γειά שלום مرحبا नमस्ते ไทย 日本語 한국어 🎉👍🏽 {many}");
    server.ok("type_text", json!({"text": format!("{text}\n")}));
    form.says(&format!("text {text}"));
}

#[test]
fn a_window_is_moved_resized_hidden_and_closed() {
    let session = Session::start(FLOATING);
    let mut server = session.server();
    let form = session.start_form("3", "Form");
    let uid = server.titled("Form");
    let of = |action: &str, more: Value| {
        let mut arguments = json!({"action": action, "window_uid": uid});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    assert_eq!(server.reaches(of("move", json!({"x": 40, "y": 60}))), json!(true));
    assert_eq!(server.reaches(of("resize", json!({"width": 500, "height": 400}))), json!(true));
    let bounds = server.window(&form.program)["bounds"].clone();
    assert_eq!(bounds, json!({"x": 40, "y": 60, "width": 500, "height": 400}));
    assert_eq!(server.reaches(of("minimize", json!({}))), json!(true));
    server.refused("get_screenshot", json!({"window_uid": uid}), "does not show");
    assert_eq!(server.reaches(of("restore", json!({}))), json!(true));
    assert_eq!(server.reaches(of("maximize", json!({}))), json!(true));
    assert_eq!(server.reaches(of("restore", json!({}))), json!(true));
    assert_eq!(server.reaches(of("close", json!({}))), json!(true));
    form.says("closed");
}

#[test]
fn a_compositor_that_dies_costs_the_call_and_not_the_server() {
    let mut session = Session::without_x11();
    let mut server = session.server();
    let form = session.start_form("3", "Form");
    server.titled("Form");
    session.compositor.0.kill().unwrap();
    session.compositor.0.wait().unwrap();
    drop(form);
    for (tool, arguments) in [
        ("list_windows", json!({})),
        ("type_text", json!({"text": "x"})),
        ("click_at", json!({"x": 5, "y": 5})),
        ("get_screenshot", json!({})),
    ] {
        let answer = server.call(tool, arguments);
        assert_eq!(answer["ok"], false, "{tool} answered {answer}");
    }
    assert_eq!(server.ok("get_capabilities", json!({}))["adapter"], "WaylandAdapter");
}

#[test]
fn a_program_without_elements_is_listed_by_the_compositor() {
    let session = Session::without_x11();
    let mut server = session.server();
    let mut command = command(&session.environment, "/usr/bin/python3");
    let script = session.folder.path().join("mute.py");
    std::fs::write(&script, FORM).unwrap();
    command.arg(&script).args(["3", "Mute"]).env("NO_AT_BRIDGE", "1").stdout(Stdio::null());
    let _program = Ended(command.spawn().unwrap());
    let uid = server.titled("Mute");
    let tree = server.call("get_window_structure", json!({"window_uid": uid}));
    assert!(tree.to_string().contains("accessibility bus"), "{tree}");
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
fn several_outputs_with_different_scales_are_one_screen() {
    let more = "xwayland disable\nexec swaymsg create_output\noutput HEADLESS-1 pos 0 0\n\
                output HEADLESS-2 pos 1280 0 scale 2\n\
                for_window [title=\"Form\"] floating enable, move absolute position 1400 100\n";
    let session = Session::start(more);
    let mut server = session.server();
    let monitors = until("a second output", || {
        let monitors = server.ok("get_monitors", json!({}))["monitors"].as_array().unwrap().clone();
        let is_scaled = monitors.iter().any(|monitor| monitor["scale_factor"] == 2.0);
        (monitors.len() == 2 && is_scaled).then_some(monitors)
    });
    let right = |monitor: &Value| {
        monitor["bounds"]["x"].as_u64().unwrap() + monitor["bounds"]["width"].as_u64().unwrap()
    };
    let width = monitors.iter().map(right).max().unwrap();
    assert_eq!(u64::from(server.picture().width()), width);
    let form = session.start_form("3", "Form");
    let uid = server.titled("Form");
    until("the window on the second output", || {
        (server.window(&form.program)["bounds"]["x"].as_i64() > Some(1280)).then_some(())
    });
    let button = server.element(&uid, "//Button[name=\"Press\"]");
    let receipt =
        server.ok("right_click_element", json!({"window_uid": uid, "selector": "//Button[name=\"Press\"]"}));
    assert_eq!(receipt["route"], "pointer", "{receipt}");
    form.says("button 3");
    let (x, y) = (centre(&button).0 - 60, centre(&button).1);
    assert_eq!(server.picture().get_pixel(x as u32, y as u32).0, [255, 0, 0, 255], "{button}");
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
