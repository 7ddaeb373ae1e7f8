//! What the real desktop costs: trees beside a plain walk of the same windows (pyatspi), lists, pictures, clicks,
//! waits and reading, on a private desktop with programs that nobody here wrote.
//!
//!     cargo bench --bench live [-- trees|rest|acting|PROGRAM…]
//!
//! `acting` is in `live/acting.rs`, with words for its parts.
//!
//! Needs the packages of the desktop tests (`./test.sh` names them); a program that is missing is left out with a
//! word. Compare the columns of one row: both were measured in the same minutes.
#![cfg_attr(not(target_os = "linux"), allow(unused))]
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark runs in real time and sets up its own environment"
)]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a program for a terminal")]

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the private desktop is there on Linux only");
}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
#[path = "live/acting.rs"]
mod acting;

#[cfg(target_os = "linux")]
mod linux {
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use os_screen_observer::app::App;
    use os_screen_observer::clock::{Cancel, Clock};
    use os_screen_observer::config::{self, Flags, Size};
    use os_screen_observer::gate::{Call, Origin};
    use os_screen_observer::model::input::{Act, Button, Delivery};
    use os_screen_observer::model::{Rect, Window};
    use os_screen_observer::platform::linux::Linux;
    use os_screen_observer::platform::linux::sandbox::{Sandbox, SandboxPlan};
    use os_screen_observer::platform::session_env::SessionEnv;
    use os_screen_observer::platform::{
        Accessibility, Capture, Desktop, Input, Patience, Platform, Unguarded, Wake,
    };
    use os_screen_observer::tool::Selection;
    use serde_json::{Value, json};

    use super::acting;

    const BINARY: &str = env!("CARGO_BIN_EXE_os-screen-observer");
    pub const ROUNDS: usize = 9;
    const PATIENCE: Duration = Duration::from_secs(40);
    /// What a browser needs to load the page and to build its tree.
    pub const PAGE_TIME: Duration = Duration::from_secs(8);
    pub const BROWSER: &[&str] = &[
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-sync",
        "--password-store=basic",
        "--force-renderer-accessibility",
    ];

    /// The rows of `trees`, which can be asked for one by one.
    const PROGRAMS: &[&str] = &[
        "chromium",
        "gtk3-widget-factory",
        "mousepad",
        "zenity",
        "gtk4-widget-factory",
        "gnome-calculator",
        "kcalc",
        "/usr/lib/qt5/bin/assistant",
    ];

    pub fn main() {
        let plan =
            SandboxPlan { size: Size { width: 1920, height: 1080 }, command: Vec::new(), isolation: None };
        let sandbox = Sandbox::start_with(BINARY.as_ref(), &plan).expect("the private desktop");
        enter(&sandbox);
        let platform = Arc::new(Linux::connect(Clock::real(), &SessionEnv::read()).expect("the desktop"));
        let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
        let home = PathBuf::from(&sandbox.environment()["HOME"]);
        let bench = Bench { app: app(&platform), platform, home, wanted };
        if bench.wants("trees") || bench.wanted.iter().any(|word| PROGRAMS.contains(&word.as_str())) {
            bench.trees();
        }
        acting::run(&bench);
        if bench.wants("rest") {
            bench.rest();
        }
    }

    #[allow(unsafe_code, reason = "this program has no other thread yet")]
    fn enter(sandbox: &Sandbox) {
        let (set, removed) = sandbox.session().variables();
        // SAFETY: called before anything else is started in this process.
        unsafe {
            set.into_iter().for_each(|(name, value)| std::env::set_var(name, value));
            for (name, value) in sandbox.environment() {
                std::env::set_var(name, value);
            }
            removed.iter().for_each(|name| std::env::remove_var(name));
        }
    }

    fn app(platform: &Arc<Linux>) -> Arc<App> {
        app_for(platform, &Selection::default())
    }

    pub fn app_for(platform: &Arc<Linux>, selection: &Selection) -> Arc<App> {
        // A password manager is withheld unless its owner says otherwise.
        let allowed = ("OSO_APPS__ALLOW".to_owned(), r#"["*", "keepassxc"]"#.to_owned());
        let loaded = config::load(&Flags::default(), [allowed]).expect("the config");
        let app = App::new(loaded, selection, platform.clone(), Clock::real());
        Arc::new(app.unwrap_or_else(|problem| panic!("{problem}")))
    }

    pub struct Bench {
        pub app: Arc<App>,
        pub platform: Arc<Linux>,
        pub home: PathBuf,
        /// Parts and programs; all of them when there is none.
        wanted: Vec<String>,
    }

    /// Ended with the row that it is for.
    pub struct Program(Child);

    impl Drop for Program {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    impl Bench {
        pub fn wants(&self, word: &str) -> bool {
            self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted == word)
        }

        fn trees(&self) {
            println!(
                "| program | nodes | best first look, ms | nodes/s | pyatspi, nodes/s | times as fast | best look after it, ms |"
            );
            println!("|---|---:|---:|---:|---:|---:|---:|");
            let zenity =
                ["--forms", "--text=Fill in", "--add-entry=Name", "--add-entry=City", "--add-calendar=Day"];
            // First, because a browser's cache is filled when the first listener comes, which is at the first look.
            self.browser("chromium", "chromium, its page open before the first look");
            self.tree("gtk3-widget-factory", &[], 200);
            self.tree("mousepad", &["--disable-server"], 200);
            self.tree("zenity", &zenity, 10);
            self.tree("gtk4-widget-factory", &[], 500);
            self.tree("gnome-calculator", &[], 50);
            self.tree("kcalc", &[], 100);
            self.tree("/usr/lib/qt5/bin/assistant", &[], 100);
            self.browser("chromium", "chromium, its page loaded later");
        }

        fn browser(&self, program: &str, row: &str) {
            let page = self.page();
            let profile =
                format!("--user-data-dir={}", self.home.join(row.replace([' ', ','], "")).display());
            let arguments = [BROWSER, &[&profile, &page]].concat();
            if self.wants("trees") || self.wants(program) {
                self.row(row, program, &arguments, 3000, PAGE_TIME);
            }
        }

        fn page(&self) -> String {
            let rows: String = (0..600)
                .map(|row| {
                    format!(
                        "<tr><td>{row}</td><td><a href='#{row}'>Item {row}</a></td><td><button>Button {row}</button>\
                         <label><input type=checkbox> Check {row}</label></td></tr>"
                    )
                })
                .collect();
            let file = self.home.join("page.html");
            let page = format!(
                "<!doctype html><html lang=en><meta charset=utf-8><title>Rows</title><table>{rows}</table>"
            );
            std::fs::write(&file, page).expect("the page");
            format!("file://{}", file.display())
        }

        fn tree(&self, program: &str, arguments: &[&str], least: usize) {
            if !self.wants("trees") && !self.wants(program) {
                return;
            }
            self.row(program, program, arguments, least, Duration::ZERO);
        }

        fn row(&self, row: &str, program: &str, arguments: &[&str], least: usize, unseen: Duration) {
            let Some((_running, window)) = self.start(program, arguments) else { return };
            std::thread::sleep(unseen);
            let nodes = eventually(|| Some(self.look(&window)).filter(|&count| count >= least));
            let Some(nodes) = nodes else {
                println!("| {program} | showed fewer than {least} nodes | | | | |");
                return;
            };
            // Whoever comes anew has read nothing yet.
            let strangers: Vec<Linux> = (0..ROUNDS).filter_map(|_| stranger()).collect();
            let mut strangers = strangers.iter();
            let best = best_of(ROUNDS, || strangers.next().map_or(0, |platform| look_by(platform, &window)));
            let again = best_of(ROUNDS, || self.look(&window));
            let ours = nodes as f64 / best.as_secs_f64();
            let theirs = plain_walk(window.pid);
            let name = Path::new(row).file_name().map_or(row.into(), |name| name.to_string_lossy());
            println!(
                "| {name} | {nodes} | {:.1} | {ours:.0} | {theirs:.0} | {:.0} | {:.1} |",
                best.as_secs_f64() * 1e3,
                ours / theirs,
                again.as_secs_f64() * 1e3
            );
        }

        /// `None` when it is not installed or shows no window.
        pub fn start(&self, program: &str, arguments: &[&str]) -> Option<(Program, Window)> {
            let before: Vec<String> = self.windows().into_iter().map(|window| window.uid).collect();
            let started = Command::new(program)
                .args(arguments)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let Ok(child) = started else {
                println!("| {program} | is not installed | | | | |");
                return None;
            };
            let running = Program(child);
            let new = |window: &Window| !before.contains(&window.uid) && !window.title.is_empty();
            let window = eventually(|| self.windows().into_iter().find(new));
            if window.is_none() {
                println!("| {program} | showed no window | | | | |");
            }
            Some((running, window?))
        }

        pub fn windows(&self) -> Vec<Window> {
            self.platform.windows().expect("the windows")
        }

        pub fn look(&self, window: &Window) -> usize {
            look_by(&self.platform, window)
        }

        fn rest(&self) {
            let Some((_one, factory)) = self.start("gtk3-widget-factory", &[]) else { return };
            let others: Vec<_> = ["mousepad", "zenity --info", "kcalc"]
                .iter()
                .filter_map(|command| self.beside(command))
                .collect();
            println!("\n| what | best |\n|---|---:|");
            let count = self.windows().len();
            say(&format!("list of {count} windows"), best_of(100, || self.windows()));
            say("1920 × 1080 screen, pixels alone", best_of(30, || self.platform.screen_picture().unwrap()));
            let screen = self.platform.screen_picture().unwrap().picture;
            say("its encoding alone", best_of(30, || screen.to_png()));
            say(
                "1920 × 1080 screen as PNG",
                best_of(30, || self.platform.screen_picture().unwrap().picture.to_png()),
            );
            let part = Rect::new(200, 200, 600, 400);
            say(
                "600 × 400 of it as PNG",
                best_of(50, || self.platform.region_picture(part).unwrap().picture.to_png()),
            );
            say(
                "a window as PNG",
                best_of(50, || self.platform.window_picture(&factory).unwrap().picture.to_png()),
            );
            drop(others);
            self.pointer();
            self.clicks(&factory);
            self.reading();
        }

        fn beside(&self, command: &str) -> Option<(Program, Window)> {
            let words: Vec<&str> = command.split(' ').collect();
            self.start(words[0], &words[1..])
        }

        pub fn call(&self, tool: &str, args: Value) -> Value {
            let call = Call { tool: tool.to_owned(), args, origin: Origin::Test };
            self.app.gate.pass_call(call, &Cancel::new()).value()
        }

        /// From the press of a button to the event that the application sends for it, in a quiet GTK3 dialog.
        fn pointer(&self) {
            let fields = ["--forms", "--text=Fill in", "--add-entry=Name", "--add-entry=City"];
            let Some((_running, window)) = self.start("zenity", &fields) else { return };
            let patience = Patience { per_call: PATIENCE, whole: PATIENCE, cancel: Cancel::new() };
            let edits = || {
                let tree = self.platform.tree(&window, &patience).ok()?;
                let places: Vec<Rect> = (0..tree.len())
                    .filter(|&node| tree[node].role == "Edit" && !tree[node].hidden)
                    .map(|node| tree[node].bounds)
                    .collect();
                Some(places).filter(|places| places.len() == 2)
            };
            let Some(places) = eventually(edits) else {
                println!("| click | the dialog shows no two fields |");
                return;
            };
            let mut turn = 0;
            let mut click = || {
                turn += 1;
                let at = Some(places[turn % 2].center());
                let modifiers = Vec::new();
                let act = Act::Click { element: None, at, button: Button::Left, count: 1, modifiers };
                let seen = self.platform.watch().generation().unwrap();
                let began = Instant::now();
                self.platform.act(&act, Delivery::Foreground, &Unguarded, &Cancel::new()).unwrap();
                let wake = self.platform.watch().wait_change(seen, PATIENCE, &Cancel::new()).unwrap();
                let took = began.elapsed();
                std::thread::sleep(Duration::from_millis(200));
                (wake == Wake::Changed).then_some(took)
            };
            match (0..3 * ROUNDS).filter_map(|_| click()).min() {
                Some(best) => say("click into a field to the event that tells of it (GTK3)", best),
                None => println!("| click | no event |"),
            }
            let woken =
                (0..ROUNDS).filter_map(|round| self.woken(&window.uid, &format!("woken {round}"))).min();
            match woken {
                Some(best) => {
                    say("from the start of set_value to the answer of a wait, in a small dialog", best)
                }
                None => println!("| wait in a dialog | never answered |"),
            }
        }

        /// A check box is clicked; a field is filled while somebody waits for its text, and is answered.
        fn clicks(&self, window: &Window) {
            let uid = window.uid.as_str();
            let click = || {
                self.call("click_element", json!({"window_uid": uid, "selector": "//CheckBox[enabled=true]"}))
            };
            let clicked = click();
            if clicked["ok"] != true {
                println!("| click | failed: {} |", clicked["error"]["message"]);
                return;
            }
            say("click_element on a check box, with its receipt", best_of(ROUNDS, click));
            let woken = (0..ROUNDS).filter_map(|round| self.woken(uid, &format!("woken {round}"))).min();
            match woken {
                Some(best) => say("from the start of set_value to the answer of a wait for its text", best),
                None => println!("| wait | never answered |"),
            }
        }

        fn woken(&self, uid: &str, text: &str) -> Option<Duration> {
            let waiting = {
                let (app, uid, text) = (self.app.clone(), uid.to_owned(), text.to_owned());
                std::thread::spawn(move || {
                    let condition = json!({"type": "text_visible", "regex": text});
                    let args = json!({"window_uid": uid, "any_of": [condition], "timeout_ms": 5000});
                    let call = Call { tool: "wait_for".to_owned(), args, origin: Origin::Test };
                    let answer = app.gate.pass_call(call, &Cancel::new()).value();
                    (Instant::now(), answer)
                })
            };
            std::thread::sleep(Duration::from_millis(300));
            let began = Instant::now();
            let args = json!({"window_uid": uid, "selector": "//Edit", "value": text});
            let done = self.call("set_value", args);
            let (ended, answer) = waiting.join().ok()?;
            let good = done["ok"] == true && answer["matched"] != false && answer["ok"] == true;
            good.then(|| ended.saturating_duration_since(began))
        }

        /// The same picture by the kept engines, and by the program started for it with one thread.
        fn reading(&self) {
            let page = self.page();
            let profile = format!("--user-data-dir={}", self.home.join("reader").display());
            let arguments = [
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--window-size=1920,1080",
                "--window-position=0,0",
                &profile,
                &page,
            ];
            let Some((_running, window)) = self.start("chromium", &arguments) else { return };
            std::thread::sleep(Duration::from_secs(3));
            let read = || self.call("get_ocr", json!({"window_uid": window.uid}));
            read();
            self.call("scroll", json!({"x": 900, "y": 600, "clicks": -5}));
            std::thread::sleep(Duration::from_secs(1));
            let picture = self.platform.window_picture(&window).unwrap().picture;
            let file = self.home.join("page.png");
            let enlarged = image::load_from_memory(&picture.to_png().unwrap()).unwrap();
            let enlarged = enlarged.resize(
                picture.width() * 2,
                picture.height() * 2,
                image::imageops::FilterType::Lanczos3,
            );
            enlarged.to_luma8().save(&file).expect("the picture");
            let began = Instant::now();
            let words = read()["words"].as_array().map_or(0, Vec::len);
            let size = format!("{} × {}", picture.width(), picture.height());
            say(&format!("get_ocr of {size}, engines kept ({words} words)"), began.elapsed());
            let began = Instant::now();
            let status = Command::new("tesseract")
                .arg(&file)
                .args(["-", "--psm", "11", "tsv"])
                .env("OMP_THREAD_LIMIT", "1")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            match status {
                Ok(_) => say("the same enlarged picture by the program with one thread", began.elapsed()),
                Err(problem) => println!("| tesseract | {problem} |"),
            }
        }
    }

    pub fn stranger() -> Option<Linux> {
        Linux::connect(Clock::real(), &SessionEnv::read()).ok()
    }

    pub fn look_by(platform: &Linux, window: &Window) -> usize {
        let patience = Patience {
            per_call: Duration::from_secs(3),
            whole: Duration::from_secs(25),
            cancel: Cancel::new(),
        };
        platform.tree(window, &patience).map_or(0, |tree| tree.len())
    }

    pub fn plain_walk(pid: u32) -> f64 {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desktop/walk.py");
        let output =
            Command::new("/usr/bin/python3").arg(script).args(["time", "--pid", &pid.to_string()]).output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        let measured: Value = serde_json::from_slice(&text).unwrap_or_default();
        measured["nodes_per_second"].as_f64().unwrap_or(f64::NAN)
    }

    fn best_of<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
        let measure = |_| {
            let began = Instant::now();
            std::hint::black_box(work());
            began.elapsed()
        };
        (0..rounds).map(measure).min().unwrap_or_default()
    }

    pub fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let began = Instant::now();
        loop {
            if let Some(found) = look() {
                return Some(found);
            }
            if began.elapsed() > PATIENCE {
                return None;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn say(what: &str, took: Duration) {
        println!("| {what} | {:.2} ms |", took.as_secs_f64() * 1e3);
    }
}
