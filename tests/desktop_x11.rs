//! The X11 half of the Linux platform on a real desktop with applications that nobody here wrote.
//!
//! What arrived is read from the applications themselves (their output, files and titles), never from our
//! own replies. They run on a private desktop of their own.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "a test runs in real time and sets up its own environment")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::Size;
use os_screen_observer::model::{Button, KeyCombo, Point, Rect, Window, WindowChange};
use os_screen_observer::platform::linux::sandbox::{Sandbox, SandboxPlan};
use os_screen_observer::platform::linux::{Drag, Linux, PointerHit};
use os_screen_observer::platform::session_env::SessionEnv;
use os_screen_observer::platform::{Activation, Capture, Desktop, Platform, Wake};

const UNICODE: &str = "héllo 漢字 → € Ω 🎉";
const FORTY: &str = "一丁七万丈三上下不与丐丑专且世丘丙业丛东丝丢两严丧个丫中丰串临丸丹为主丽举乃久么";
const PATIENCE: Duration = Duration::from_secs(30);

/// One keyboard, one pointer: one test at a time.
static DESKTOP: Mutex<()> = Mutex::new(());

struct Stage {
    linux: Linux,
    _alone: MutexGuard<'static, ()>,
}

fn stage() -> Stage {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    let alone = DESKTOP.lock().unwrap_or_else(PoisonError::into_inner);
    SANDBOX.get_or_init(|| {
        let plan =
            SandboxPlan { size: Size { width: 1600, height: 1000 }, command: Vec::new(), isolation: None };
        let sandbox = Sandbox::start_with(env!("CARGO_BIN_EXE_os-screen-observer").as_ref(), &plan);
        let sandbox = sandbox.expect("the private desktop");
        enter(&sandbox);
        sandbox
    });
    Stage { linux: Linux::connect(Clock::real(), &SessionEnv::read()).unwrap(), _alone: alone }
}

#[allow(unsafe_code, reason = "the first test of this process is alone: the others wait for their turn")]
fn enter(sandbox: &Sandbox) {
    let (set, removed) = sandbox.session().variables();
    // SAFETY: every other test waits for `DESKTOP`, and nothing else in this process reads the environment.
    unsafe {
        set.into_iter().for_each(|(name, value)| std::env::set_var(name, value));
        removed.iter().for_each(|name| std::env::remove_var(name));
    }
}

/// An application of a test; it ends with it.
struct Application(Child);

impl Application {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        Self(command.spawn().unwrap_or_else(|problem| panic!("{program}: {problem}")))
    }

    /// What it wrote until it ended by itself.
    fn output(mut self) -> String {
        let mut text = String::new();
        std::io::Read::read_to_string(self.0.stdout.as_mut().unwrap(), &mut text).unwrap();
        self.0.wait().unwrap();
        text
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[track_caller]
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Stage {
    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
    ) -> os_screen_observer::error::Result<os_screen_observer::model::Reached> {
        self.linux.change(window, change, Duration::from_secs(5), &Cancel::new())
    }

    fn find(&self, title: &str) -> Option<Window> {
        self.find_where(|window| window.title.contains(title))
    }

    fn find_where(&self, fits: impl Fn(&Window) -> bool) -> Option<Window> {
        self.linux.windows().unwrap().into_iter().find(fits)
    }

    #[track_caller]
    fn window(&self, title: &str) -> Window {
        eventually(title, || self.find(title))
    }

    /// The window, shown, in front and with the keyboard.
    #[track_caller]
    fn front(&self, title: &str) -> Window {
        self.front_where(|window| window.title.contains(title))
    }

    #[track_caller]
    fn front_of(&self, application: &Application) -> Window {
        self.front_where(|window| window.pid == application.0.id())
    }

    #[track_caller]
    fn front_where(&self, fits: impl Fn(&Window) -> bool) -> Window {
        // A window manager that lags behind may take a new window for one that was closed.
        eventually("to the front", || {
            let window = self.find_where(&fits)?;
            matches!(self.linux.activate(&window), Ok(Activation::Activated)).then_some(())
        });
        std::thread::sleep(Duration::from_millis(300));
        eventually("still there", || self.find_where(&fits))
    }

    fn type_text(&self, text: &str) {
        self.linux.type_text(text, &Cancel::new()).unwrap();
    }

    fn press(&self, keys: &str) {
        self.linux.press_keys(&KeyCombo::parse(keys).unwrap(), &Cancel::new()).unwrap();
    }

    fn zenity(&self, title: &str, text: &str) -> String {
        // The next one gets the same number, and the window manager may still know the last one by it.
        eventually("the last one is gone", || self.find(title).is_none().then_some(()));
        let application = Application::start("zenity", &["--entry", "--title", title, "--text", "text"]);
        self.front(title);
        self.type_text(text);
        self.press("enter");
        application.output().trim_end_matches('\n').to_owned()
    }

    fn stacked_above(&self, upper: &Window, lower: &Window) -> bool {
        let order = self.linux.stacking().unwrap().unwrap();
        let place = |window: &Window| order.iter().position(|uid| *uid == window.uid).unwrap();
        place(upper) < place(lower)
    }
}

fn scratch(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn any_text_arrives_whole_in_gtk3() {
    let stage = stage();
    for text in ["The quick brown fox, 100% (\"quoted\") <a@b.c> ~^`|\\ {}[]", UNICODE, FORTY, UNICODE] {
        assert_eq!(stage.zenity("typed into", text), text);
    }
}

#[test]
fn any_text_arrives_whole_in_a_terminal() {
    let stage = stage();
    let (_folder, path) = scratch("typed");
    let command = format!("cat > '{}'", path.display());
    let _terminal = Application::start("xterm", &["-u8", "-T", "typed terminal", "-e", "sh", "-c", &command]);
    stage.front("typed terminal");
    let text = format!("{UNICODE}\n{FORTY}\n");
    stage.type_text(&text);
    stage.press("ctrl+d");
    eventually("the end of the input", || stage.find("typed terminal").is_none().then_some(()));
    assert_eq!(read(&path), text);
}

#[test]
fn any_text_arrives_whole_in_an_editor_and_keys_save_it() {
    let stage = stage();
    let (_folder, path) = scratch("typed.txt");
    std::fs::write(&path, "").unwrap();
    let _editor = Application::start("mousepad", &["--disable-server", path.to_str().unwrap()]);
    stage.front("typed.txt");
    let text = format!("{UNICODE}\n\tsecond line\n{FORTY}{UNICODE}\n");
    stage.type_text(&text);
    stage.press("ctrl+s");
    eventually("saved", || (!read(&path).is_empty()).then_some(()));
    assert_eq!(read(&path), text);
}

const PAGE: &str = "<!doctype html><meta charset=utf-8><title>typed page</title><textarea autofocus rows=9 cols=60 \
    oninput=\"document.title='typed page:'+value\"></textarea>";

#[test]
fn any_text_arrives_whole_in_chromium() {
    let stage = stage();
    let (folder, path) = scratch("page.html");
    std::fs::write(&path, PAGE).unwrap();
    let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
    let page = format!("--app=file://{}", path.display());
    let flags =
        ["--no-sandbox", "--disable-gpu", "--no-first-run", "--password-store=basic", &profile, &page];
    let _browser = Application::start("chromium", &flags);
    stage.front("typed page");
    std::thread::sleep(Duration::from_millis(1500));
    let text = format!("{UNICODE}{FORTY}");
    stage.type_text(&text);
    let title = eventually("the whole text", || {
        stage.find("typed page:").map(|window| window.title).filter(|title| title.ends_with("久么"))
    });
    assert_eq!(title, format!("typed page:{text}"));
}

#[test]
fn caps_lock_does_not_change_a_text() {
    let stage = stage();
    stage.press("capslock");
    let got = stage.zenity("with caps", "Abc xYz");
    stage.press("capslock");
    assert_eq!(got, "Abc xYz");
    assert_eq!(stage.zenity("without caps", "Abc xYz"), "Abc xYz");
}

#[test]
fn windows_are_told_as_they_are() {
    let stage = stage();
    let first = Application::start("zenity", &["--info", "--title", "First Two Words", "--text", "x"]);
    let second = Application::start("xterm", &["-T", "Second", "-geometry", "60x20+200+150"]);
    let lower = stage.window("First Two Words");
    assert_eq!((lower.process.as_str(), lower.pid), ("zenity", first.0.id()));
    let upper = stage.front("Second");
    assert_eq!((upper.process.as_str(), upper.pid), ("xterm", second.0.id()));
    assert!(upper.focused && !stage.window("First Two Words").focused);
    assert!(stage.stacked_above(&upper, &lower));
    let frame = stage.linux.frame(&upper.uid).unwrap();
    assert_eq!(frame.bounds(), upper.bounds);
    assert!(upper.bounds.encloses(&frame.client) && upper.bounds != frame.client, "{frame:?}");
    assert_eq!(stage.linux.under(upper.bounds.center()).unwrap(), PointerHit::Window(upper.uid.clone()));
    stage.front("First Two Words");
    assert!(stage.stacked_above(&lower, &upper));
    drop(second);
    eventually("gone", || stage.find("Second").is_none().then_some(()));
    assert_eq!(stage.linux.frame(&upper.uid).unwrap_err().kind, os_screen_observer::error::Kind::WindowGone);
}

#[test]
fn windows_change_as_asked() {
    let stage = stage();
    let mousepad = Application::start("mousepad", &["--disable-server"]);
    let window = stage.front_of(&mousepad);
    let change = |change: WindowChange| {
        let reached = stage.change(&window, &change).unwrap();
        assert!(reached.done, "{change:?}: {reached:?}");
        reached.state
    };
    let state = change(WindowChange::Move(Point { x: 140, y: 130 })).unwrap();
    assert_eq!((state.bounds.x, state.bounds.y), (140, 130));
    let state = change(WindowChange::Resize { width: 620, height: 440 }).unwrap();
    assert_eq!(state.bounds, Rect::new(140, 130, 620, 440));
    assert!(change(WindowChange::Maximize).unwrap().maximized);
    assert_eq!(change(WindowChange::Restore).unwrap().bounds, Rect::new(140, 130, 620, 440));
    assert!(change(WindowChange::Minimize).unwrap().minimized);
    let error = stage.linux.window_picture(&window).unwrap_err();
    assert!(error.message.contains("minimized"), "{error}");
    assert!(!change(WindowChange::Restore).unwrap().minimized);
    change(WindowChange::Raise);
    assert_eq!(change(WindowChange::Close), None);
    assert!(stage.find_where(|other| other.uid == window.uid).is_none());
}

/// A terminal of one colour: every pixel of its text area is known.
fn coloured(title: &str, colour: &str, geometry: &str) -> Application {
    Application::start(
        "xterm",
        &["-T", title, "-bg", colour, "-fg", colour, "-cr", colour, "-geometry", geometry],
    )
}

fn share_of(shot: &os_screen_observer::platform::Shot, colour: [u8; 3]) -> f64 {
    let pixels = shot.picture.rgba().chunks_exact(4);
    let total = pixels.len() as f64;
    pixels.filter(|pixel| pixel[..3] == colour).count() as f64 / total
}

#[test]
fn a_covered_window_has_its_own_picture() {
    let stage = stage();
    let _red = coloured("red one", "#ff0000", "60x20+300+200");
    let red = stage.front("red one");
    let _blue = coloured("blue one", "#0000ff", "80x30+280+180");
    let blue = stage.front("blue one");
    std::thread::sleep(Duration::from_millis(300));
    let shot = stage.linux.window_picture(&red).unwrap();
    assert_eq!(shot.area, red.bounds);
    assert!(share_of(&shot, [255, 0, 0]) > 0.8 && share_of(&shot, [0, 0, 255]) == 0.0);
    let seen = stage.linux.region_picture(red.bounds).unwrap();
    assert!(share_of(&seen, [0, 0, 255]) > 0.8, "the screen shows what covers it");
    let off_screen = WindowChange::Move(Point { x: -200, y: 300 });
    let reached = stage.change(&red, &off_screen).unwrap();
    assert!(reached.done, "{reached:?}");
    let shot = stage.linux.window_picture(&red).unwrap();
    assert_eq!(shot.area, stage.window("red one").bounds);
    assert!(share_of(&shot, [255, 0, 0]) > 0.8, "also what is off the screen");
    let screen = stage.linux.screen().unwrap().unwrap();
    let whole = stage.linux.screen_picture().unwrap();
    assert_eq!(whole.area, screen);
    let (x, y) = (blue.bounds.center().x, blue.bounds.center().y);
    assert_eq!(whole.picture.pixel(x, y), Some([0, 0, 255, 255]));
}

#[test]
fn clicks_and_menus_reach_their_window() {
    let stage = stage();
    let mousepad = Application::start("mousepad", &["--disable-server"]);
    let window = stage.front_of(&mousepad);
    let before = stage.linux.popups().unwrap().len();
    let inside = window.bounds.center();
    stage.linux.click(inside, Button::Right, 1, &[]).unwrap();
    let menu = eventually("a context menu", || stage.linux.popups().unwrap().into_iter().nth(before));
    std::thread::sleep(Duration::from_millis(300));
    let area = menu.bounds;
    assert_eq!(stage.linux.under(area.center()).unwrap(), PointerHit::Popup(menu));
    let with_menu = stage.linux.window_picture(&window).unwrap();
    stage.press("escape");
    eventually("closed", || (stage.linux.popups().unwrap().len() == before).then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    let without = stage.linux.window_picture(&window).unwrap();
    let place = |shot: &os_screen_observer::platform::Shot| {
        let Rect { x, y, width, height } = area;
        shot.picture.crop(Rect::new(x - shot.area.x, y - shot.area.y, width, height))
    };
    assert_ne!(place(&with_menu), place(&without), "the menu is in the picture of its window");
}

#[test]
fn a_drag_moves_a_window_by_its_frame() {
    let stage = stage();
    let _terminal = Application::start("xterm", &["-T", "dragged", "-geometry", "50x12+400+300"]);
    let before = stage.front("dragged").bounds;
    let from = Point { x: before.x + before.width / 2, y: before.y + 8 };
    let to = Point { x: from.x + 120, y: from.y + 90 };
    let duration = Duration::from_millis(300);
    let drag = Drag { from, to, modifiers: &[], duration, before_release: &|| Ok(()) };
    stage.linux.drag(&drag, &Cancel::new()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let after = stage.window("dragged").bounds;
    let way = (after.x - before.x, after.y - before.y);
    // Edges of other windows hold a dragged one back by some pixels.
    assert!((108..=122).contains(&way.0) && (78..=92).contains(&way.1), "{way:?}");
    let cancel = Cancel::new();
    cancel.fire();
    assert!(stage.linux.drag(&drag, &cancel).is_err());
    stage.linux.click(stage.window("dragged").bounds.center(), Button::Left, 1, &[]).unwrap();
    assert_eq!(stage.window("dragged").bounds.width, before.width, "nothing is held down");
}

#[test]
fn waits_are_woken_by_windows() {
    let stage = stage();
    let quiet = || {
        let seen = stage.linux.watch().generation().unwrap();
        stage.linux.watch().wait_change(seen, Duration::from_millis(400), &Cancel::new()).unwrap()
            == Wake::Elapsed
    };
    eventually("quiet", || quiet().then_some(()));
    let seen = stage.linux.watch().generation().unwrap();
    let _terminal = Application::start("xterm", &["-T", "waited for"]);
    let woken = stage.linux.watch().wait_change(seen, PATIENCE, &Cancel::new()).unwrap();
    assert_eq!(woken, Wake::Changed);
    let terminal = stage.window("waited for");
    eventually("quiet", || quiet().then_some(()));
    let seen = stage.linux.watch().generation().unwrap();
    stage.change(&terminal, &WindowChange::Move(Point { x: 77, y: 88 })).unwrap();
    assert_eq!(stage.linux.watch().wait_change(seen, PATIENCE, &Cancel::new()).unwrap(), Wake::Changed);
}

#[test]
fn monitors_cover_the_screen() {
    let stage = stage();
    let screen = stage.linux.screen().unwrap().unwrap();
    let monitors = stage.linux.monitors().unwrap();
    assert!(monitors.iter().filter(|monitor| monitor.primary).count() == 1, "{monitors:?}");
    assert!(monitors.iter().all(|monitor| screen.encloses(&monitor.physical) && monitor.scale_factor > 0.0));
}
