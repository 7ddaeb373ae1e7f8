//! The private desktop of this test run, the programs on it, and the two who look at it: the server under test
//! and the independent walk.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use os_screen_observer::config::Size;
use os_screen_observer::platform::linux::sandbox::{Sandbox, SandboxPlan};
use serde_json::{Value, json};

use crate::support::{Client, project};

pub const BINARY: &str = env!("CARGO_BIN_EXE_os-screen-observer");

/// A loaded machine is slow; a condition that holds is noticed at once, so only failures take so long.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// What the tests need, with the Debian package that brings each.
const NEEDED: &[(&str, &str)] = &[
    ("gtk3-widget-factory", "gtk-3-examples"),
    ("gtk4-widget-factory", "gtk-4-examples"),
    ("gnome-calculator", "gnome-calculator"),
    ("mousepad", "mousepad"),
    ("kcalc", "kcalc"),
    ("featherpad", "featherpad"),
    ("chromium", "chromium"),
    ("xterm", "xterm"),
    ("zenity", "zenity"),
    ("xinput", "xinput"),
    ("localc", "libreoffice-calc libreoffice-gtk3"),
    ("lowriter", "libreoffice-writer libreoffice-gtk3"),
    ("firefox-esr", "firefox-esr"),
    ("keepassxc", "keepassxc"),
    ("kwrite", "kwrite"),
    ("pcmanfm", "pcmanfm"),
    ("yad", "yad"),
    ("xdotool", "xdotool"),
    ("xprop", "x11-utils"),
    ("bwrap", "bubblewrap"),
    ("gimp", "gimp"),
    ("inkscape", "inkscape"),
    ("gedit", "gedit"),
    ("jedit", "jedit"),
    ("javac", "default-jdk"),
];

/// What Java offers its elements with; without it a window of Swing tells nothing.
pub const JAVA_BRIDGE: &str = "/usr/share/java/java-atk-wrapper.jar";

/// A desktop has one pointer, one keyboard and one focus: one test at a time has them.
pub struct Desk {
    sandbox: Lent,
}

enum Lent {
    /// Others have it before and after.
    Shared(&'static Sandbox),
    Own(Box<Sandbox>),
}

/// Desktops that nobody has now; there are as many as tests that run side by side.
static FREE: Mutex<Vec<&'static Sandbox>> = Mutex::new(Vec::new());

/// A desktop that tests have one after the other.
pub fn desk() -> Desk {
    let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    Desk { sandbox: Lent::Shared(free.unwrap_or_else(|| Box::leak(Box::new(start_sandbox())))) }
}

impl Drop for Desk {
    /// What a test that failed has left there is nobody else's trouble.
    fn drop(&mut self) {
        if let (Lent::Shared(sandbox), false) = (&self.sandbox, std::thread::panicking()) {
            FREE.lock().unwrap_or_else(PoisonError::into_inner).push(sandbox);
        }
    }
}

/// A desktop for one test alone. It ends with the test.
pub fn own_desk() -> Desk {
    Desk { sandbox: Lent::Own(Box::new(start_sandbox())) }
}

fn start_sandbox() -> Sandbox {
    static CHECKED: Once = Once::new();
    CHECKED.call_once(require_packages);
    let plan = SandboxPlan { size: Size { width: 1600, height: 1000 }, command: Vec::new(), isolation: None };
    Sandbox::start_with(BINARY.as_ref(), &plan).expect("the private desktop")
}

fn require_packages() {
    let there = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    let missing = NEEDED.iter().filter(|(program, _)| !there(program));
    let mut missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if !Path::new(JAVA_BRIDGE).exists() {
        missing.push("libatk-wrapper-java");
    }
    const GTK4: &str = "import gi; gi.require_version('Gtk', '4.0')";
    const GTK3: &str = "import gi; gi.require_version('Gtk', '3.0')";
    for (module, package) in [
        ("import pyatspi", "python3-pyatspi"),
        (GTK3, "gir1.2-gtk-3.0"),
        (GTK4, "gir1.2-gtk-4.0"),
        ("import PyQt5.QtWidgets", "python3-pyqt5"),
    ] {
        let python = Command::new("/usr/bin/python3").args(["-c", module]).stderr(Stdio::null()).status();
        if !python.is_ok_and(|status| status.success()) {
            missing.push(package);
        }
    }
    assert!(missing.is_empty(), "these tests need the packages {}", missing.join(" "));
}

impl Desk {
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(self.home());
        command
    }

    pub fn environment(&self) -> &BTreeMap<String, String> {
        match &self.sandbox {
            Lent::Shared(sandbox) => sandbox.environment(),
            Lent::Own(sandbox) => sandbox.environment(),
        }
    }

    pub fn home(&self) -> PathBuf {
        PathBuf::from(&self.environment()["HOME"])
    }

    /// A program with a window. It is ended with the value that is returned.
    pub fn start(&self, program: &str, arguments: &[&str]) -> App {
        let mut command = self.command(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        App { child: command.spawn().expect(program), program: program.to_owned() }
    }

    /// A server under test, on this desktop.
    pub fn server(&self) -> Server {
        self.server_with(&[])
    }

    /// The same with settings from the environment.
    pub fn server_with(&self, settings: &[(&str, &str)]) -> Server {
        let mut command = self.command(BINARY);
        command.envs(settings.iter().copied()).args(["--mode", "mcp", "--log", "warning"]);
        // The tests compare whole trees; what is cut by default is not what they are about.
        command.env("OSO_TREE__MAX_DEPTH", "64");
        // A password manager is among the programs.
        command.env("OSO_APPS__ALLOW", r#"["keepassxc"]"#).env("OSO_APPS__DEFAULT", "allow");
        let mut client = Client::spawn(command);
        client.initialize("2025-11-25");
        Server { client }
    }

    /// A server for a model, whose replies are lines.
    pub fn agent_server(&self) -> Server {
        let mut command = self.command(BINARY);
        command.args(["--mode", "mcp", "--profile", "agent", "--log", "warning"]);
        command.env("OSO_APPS__ALLOW", r#"["keepassxc"]"#).env("OSO_APPS__DEFAULT", "allow");
        let mut client = Client::spawn(command);
        client.initialize("2025-11-25");
        Server { client }
    }

    /// A server whose client can ask a person.
    pub fn asking_server(&self, settings: &[(&str, &str)]) -> Server {
        let mut command = self.command(BINARY);
        command.envs(settings.iter().copied()).args(["--mode", "mcp", "--log", "warning"]);
        let mut client = Client::spawn(command);
        let info = json!({"name": "t", "version": "1"});
        let capabilities = json!({"elicitation": {}});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
        client.request("initialize", params);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        Server { client }
    }

    /// What the independent walk sees of the program's first window, in pre-order; empty while there is none.
    pub fn walk(&self, app: &App) -> Vec<Value> {
        self.ask_walk(app, &["tree"])
    }

    /// Roles and names alone, which are quicker to ask for.
    pub fn brief_walk(&self, app: &App) -> Vec<Value> {
        self.ask_walk(app, &["tree", "--brief"])
    }

    fn ask_walk(&self, app: &App, arguments: &[&str]) -> Vec<Value> {
        let mut command = self.command("/usr/bin/python3");
        command.arg(project().join("tests/desktop/walk.py")).args(arguments);
        command.args(["--pid", &app.pid().to_string()]);
        let output = command.stderr(Stdio::null()).output().expect("the walk");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The node at the place that our ids name: `root.0.3` is the fourth child of the first.
    pub fn node(&self, app: &App, id: &Value) -> Option<Value> {
        let path = id.as_str().unwrap().trim_start_matches("root").trim_start_matches('.');
        self.ask_walk(app, &["node", "--path", path]).pop()
    }

    /// Waits until any node in any window of the program is as the test wants it.
    pub fn until_any(&self, app: &App, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        until(what, || self.ask_walk(app, &["tree", "--all"]).into_iter().find(&holds))
    }

    /// A file in the home of the desktop.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        std::fs::File::create(&path).and_then(|mut file| file.write_all(text.as_bytes())).unwrap();
        path
    }
}

pub struct App {
    child: Child,
    program: String,
}

impl App {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What it printed, once it has ended by itself.
    pub fn printed(&mut self) -> String {
        until(&format!("{} to end", self.program), || self.child.try_wait().unwrap());
        let mut text = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The server under test and what the tests ask it most.
pub struct Server {
    pub client: Client,
}

impl Server {
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.client.post("tools/call", json!({"name": tool, "arguments": arguments}));
        let answer = loop {
            let message = self.client.receive_within(Duration::from_secs(90)).unwrap_or_else(|| {
                panic!("no answer to {tool}; stderr was:\n{}", self.client.errors.lock().unwrap())
            });
            if message["id"] == id {
                break message;
            }
        };
        let blocks = &answer["result"]["content"];
        let text = blocks[0]["text"].as_str();
        let mut reply: Value =
            serde_json::from_str(text.unwrap_or_else(|| panic!("{tool} answered {answer}"))).unwrap();
        if let (Value::Object(fields), Some(outline)) = (&mut reply, blocks[1]["text"].as_str()) {
            fields.insert("outline".to_owned(), outline.into());
        }
        reply
    }

    /// What a model reads.
    pub fn lines(&mut self, tool: &str, arguments: Value) -> String {
        let reply = self.client.call(tool, arguments);
        reply["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{tool} answered {reply}")).to_owned()
    }

    /// A window's picture; `None` while it has none, as right after it opened.
    pub fn picture(&mut self, uid: &str) -> Option<image::RgbaImage> {
        use base64::Engine;
        let result = self.client.call("get_screenshot", json!({"window_uid": uid}));
        let data = result["content"].as_array()?.iter().find_map(|block| block["data"].as_str())?;
        let bytes = base64::prelude::BASE64_STANDARD.decode(data).unwrap();
        Some(image::load_from_memory(&bytes).unwrap().to_rgba8())
    }

    pub fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let value = self.call(tool, arguments.clone());
        assert_eq!(value["ok"], true, "{tool} {arguments} answered {value}");
        value
    }

    pub fn windows(&mut self) -> Vec<Value> {
        self.ok("list_windows", json!({}))["windows"].as_array().unwrap().clone()
    }

    /// Waits for a window of the program whose title has this in it.
    pub fn window(&mut self, app: &App, title: &str) -> Value {
        until(&format!("a window {title:?} of {}", app.program), || {
            let windows = self.windows();
            windows.into_iter().find(|window| {
                window["pid"] == app.pid()
                    && window["title"].as_str().is_some_and(|found| found.contains(title))
            })
        })
    }

    pub fn uid(&mut self, app: &App, title: &str) -> String {
        self.window(app, title)["window_uid"].as_str().unwrap().to_owned()
    }

    /// The program's window, at the front, with elements in its tree.
    pub fn ready(&mut self, app: &App, title: &str, least: usize) -> String {
        // Found anew at each look: a program may show a first window and replace it.
        until(&format!("{least} elements in {title:?}"), || {
            let uid = self.uid(app, title);
            let is_full = self.tree(&uid).len() >= least;
            let comes = is_full && self.call("bring_to_foreground", json!({"window_uid": uid}))["ok"] == true;
            comes.then_some(uid)
        })
    }

    /// Every element of a window in pre-order; empty while there is no tree.
    pub fn tree(&mut self, uid: &str) -> Vec<Value> {
        let reply = self.call("get_window_structure", json!({"window_uid": uid, "depth": 64}));
        let mut elements = Vec::new();
        flatten(&reply["tree"], &mut elements);
        elements
    }

    /// Waits for an element of this role and name, and gives its id and bounds.
    pub fn element(&mut self, uid: &str, role: &str, name: &str) -> Value {
        until(&format!("the {role} {name:?}"), || {
            self.tree(uid).into_iter().find(|element| element["role"] == role && name_of(element) == name)
        })
    }
}

/// A program at the front, seen by both: their trees agree, so a place in one is a place in the other.
pub struct Stage<'a> {
    pub desk: &'a Desk,
    pub server: Server,
    pub app: App,
    pub uid: String,
}

impl<'a> Stage<'a> {
    pub fn new(desk: &'a Desk, program: &str, arguments: &[&str], title: &str, least: usize) -> Self {
        let app = desk.start(program, arguments);
        let mut server = desk.server();
        let uid = server.ready(&app, title, least);
        Self { desk, server, app, uid }
    }

    /// Our element at the place of the first node of the walk that the test wants.
    pub fn find(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        until(what, || {
            let theirs = self.desk.walk(&self.app);
            let at = theirs.iter().position(&wanted)?;
            let ours = self.server.tree(&self.uid);
            (ours.len() == theirs.len()).then(|| ours[at].clone())
        })
    }

    /// Waits until the walk has our element as the test wants it.
    pub fn until_is(&self, element: &Value, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        until(what, || self.desk.node(&self.app, &element["id"]).filter(&holds))
    }

    pub fn ok(&mut self, tool: &str, mut arguments: Value) -> Value {
        arguments["window_uid"] = json!(self.uid);
        self.server.ok(tool, arguments)
    }
}

/// Names of menu entries end in the blanks before their shortcut.
pub fn name_of(node: &Value) -> &str {
    node["name"].as_str().unwrap_or_default().trim()
}

/// Something of this role that can be seen and worked.
pub fn live(node: &Value, role: &str) -> bool {
    let shown = has_state(node, "showing") || has_state(node, "visible");
    node["role"] == role && shown && has_state(node, "sensitive") && node["extents"][2].as_i64() > Some(0)
}

/// Depth is bounded by the tree's own.
fn flatten(element: &Value, into: &mut Vec<Value>) {
    let Some(fields) = element.as_object() else { return };
    let mut fields = fields.clone();
    let children = fields.remove("children");
    into.push(Value::Object(fields));
    for child in children.as_ref().and_then(Value::as_array).into_iter().flatten() {
        flatten(child, into);
    }
}

/// How often a test tries what depends on timing: as often as `DESKTOP_RUNS` says, or as is usual.
pub fn runs(usual: u64) -> u64 {
    std::env::var("DESKTOP_RUNS").map_or(usual, |count| count.parse().expect("DESKTOP_RUNS is a number"))
}

pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether the walk gives a node this state.
pub fn has_state(node: &Value, state: &str) -> bool {
    node["states"].as_array().is_some_and(|states| states.iter().any(|found| found == state))
}
