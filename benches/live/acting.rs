//! What looking at and acting on large windows costs, one row for each figure that is wanted, beside a plain walk of the
//! same window (pyatspi).
//!
//!     cargo bench --bench live -- acting
//!     cargo bench --bench live -- sheet|page|buttons|firefox|vault|calculator|covered
//!
//! The clock is the machine's, so that a busy one counts in; `CPU` is what this process used of it, which is the server's
//! part. A row has the middle and the best of nine rounds, and a round before them is not counted.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use os_screen_observer::app::App;
use os_screen_observer::clock::Cancel;
use os_screen_observer::config::Profile;
use os_screen_observer::gate::{Call, Origin, Reply};
use os_screen_observer::model::Window;
use os_screen_observer::tools;
use serde_json::{Value, json};

use super::linux::{BROWSER, Bench, PAGE_TIME, Program, ROUNDS, app_for, eventually, plain_walk, stranger};

const OFFICE: &str = "/usr/lib/libreoffice/program/soffice.bin";
const OFFICE_ARGUMENTS: &[&str] = &["--calc", "--norestore", "--nologo", "--nofirststartwizard"];
const BETWEEN_ROUNDS: Duration = Duration::from_millis(300);
const PASSWORD: &str = "correct horse";

type Part = fn(&Bench);

const PARTS: &[(&str, Part)] = &[
    ("sheet", sheet),
    ("page", long_page),
    ("buttons", buttons),
    ("firefox", firefox),
    ("vault", vault),
    ("calculator", calculator),
    ("covered", covered),
];

pub fn run(bench: &Bench) {
    let wanted = |word: &str| bench.wants("acting") || bench.wants(word);
    if !PARTS.iter().any(|(word, _)| wanted(word)) {
        return;
    }
    println!(
        "\n| work | wanted, ms | median, ms | best, ms | CPU, ms | elements | one walk by pyatspi, ms |\n|---|---:|---:|---:|---:|---:|---:|"
    );
    for (_, part) in PARTS.iter().filter(|(word, _)| wanted(word)) {
        part(bench);
    }
}

/// One figure.
struct Row<'a> {
    work: &'a str,
    wanted: u64,
    window: &'a Window,
}

/// What one round took, on the clock and of this process.
#[derive(Clone, Copy)]
struct Took {
    clock: Duration,
    cpu: Duration,
}

fn process_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let (began, cpu) = (Instant::now(), process_time());
    let result = work();
    (result, Took { clock: began.elapsed(), cpu: process_time().saturating_sub(cpu) })
}

impl Row<'_> {
    /// Works the rounds and prints the row; `prepare` is not counted. What is not `ok` ends it.
    fn measure(&self, bench: &Bench, prepare: impl Fn(usize), act: impl Fn(usize) -> Value) {
        let mut took = Vec::new();
        for round in 0..=ROUNDS {
            prepare(round);
            std::thread::sleep(BETWEEN_ROUNDS);
            let (reply, time) = timed(|| act(round));
            if reply["ok"] != true {
                println!(
                    "| {} | {} | failed: {} | | | | |",
                    self.work, self.wanted, reply["error"]["message"]
                );
                return;
            }
            took.push(time);
        }
        // The first look reads everything; later ones use what is cached.
        self.print(bench, took.split_off(1));
    }

    fn print(&self, bench: &Bench, mut took: Vec<Took>) {
        took.sort_unstable_by_key(|took| took.clock);
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let (median, best) = (millis(took[took.len() / 2].clock), millis(took[0].clock));
        let mut cpu: Vec<Duration> = took.iter().map(|took| took.cpu).collect();
        cpu.sort_unstable();
        let cpu = millis(cpu[cpu.len() / 2]);
        let nodes = bench.look(self.window);
        let walk = nodes as f64 / plain_walk(self.window.pid) * 1e3;
        let Self { work, wanted, .. } = self;
        println!("| {work} | {wanted} | {median:.0} | {best:.0} | {cpu:.0} | {nodes} | {walk:.0} |");
    }
}

fn raise(bench: &Bench, window: &Window) {
    bench.call("bring_to_foreground", json!({"window_uid": window.uid}));
}

/// The first look of servers that have just been started.
fn first_looks(bench: &Bench, row: &Row) {
    raise(bench, row.window);
    let selection = tools::selection(Profile::Agent, "").expect("the profile");
    let mut took = Vec::new();
    let mut lines = 0;
    for _ in 0..ROUNDS {
        let Some(platform) = stranger() else { return };
        let app = app_for(&Arc::new(platform), &selection);
        std::thread::sleep(BETWEEN_ROUNDS);
        let (reply, time) = timed(|| lean_call(&app, "look", json!({"window_uid": row.window.uid})));
        if !reply.ok() {
            println!("| {} | {} | failed: {} | | | | |", row.work, row.wanted, reply.text());
            return;
        }
        lines = reply.lines().map_or(0, |text| text.lines().count());
        took.push(time);
    }
    let work = format!("{}, {lines} lines", row.work);
    Row { work: &work, ..*row }.print(bench, took);
}

/// A call as a model makes it.
fn lean_call(app: &Arc<App>, tool: &str, args: Value) -> Reply {
    let call = Call { tool: tool.to_owned(), args, origin: Origin::Mcp };
    app.gate.pass_call(call, &Cancel::new())
}

// ── LibreOffice Calc ───────────────────────────────────────────────────────────────────────────────

fn sheet(bench: &Bench) {
    let file = bench.home.join("fleet.fods");
    std::fs::write(&file, sheet_of(7)).expect("the sheet");
    // The first start makes a profile and ends.
    let mut first = Command::new(OFFICE);
    first.args(["--headless", "--terminate_after_init"]).stdout(Stdio::null()).stderr(Stdio::null());
    if first.status().is_err() {
        println!("| {OFFICE} | | is not installed | | | | |");
        return;
    }
    let path = file.display().to_string();
    let Some((_running, window)) = bench.start(OFFICE, &[OFFICE_ARGUMENTS, &[&path]].concat()) else {
        return;
    };
    let named = |window: &Window| window.title.contains("fleet");
    let Some(window) =
        eventually(|| bench.windows().into_iter().find(named).filter(|window| bench.look(window) > 200))
    else {
        println!("| Calc | | showed no sheet in {} | | | | |", window.title);
        return;
    };
    raise(bench, &window);
    std::thread::sleep(PAGE_TIME);
    first_looks(bench, &Row { work: "first `look`, Calc", wanted: 150, window: &window });
    let letter = |_| bench.call("type_text", json!({"text": "a"}));
    let escape = |_| {
        bench.call("press_key", json!({"keys": "escape"}));
    };
    let row = |work, wanted| Row { work, wanted, window: &window };
    row("a letter into a cell, Calc", 30).measure(bench, escape, letter);
    row("a letter after it", 30).measure(bench, |_| (), letter);
    escape(0);
    let bold = json!({"window_uid": window.uid, "selector": "//ToggleButton[name=\"Bold\"]"});
    let click = |_| bench.call("click_element", bold.clone());
    row("`click_element` on Bold, Calc", 250).measure(bench, |_| (), click);
    let cell = |round| json!({"window_uid": window.uid, "selector": format!("//DataItem[name=\"A{}\"]", 1 + round % 7)});
    let click = |round| bench.call("click_element", cell(round));
    row("`click_element` on a cell, Calc", 250).measure(bench, |_| (), click);
}

fn sheet_of(rows: usize) -> String {
    let cell = |text: String| {
        format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    };
    let row = |row: usize| {
        let cells: String = ["Holm", "Load", "Port"].map(|word| cell(format!("{word} {row}"))).concat();
        format!("<table:table-row>{cells}</table:table-row>")
    };
    let rows: String = (0..rows).map(row).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document \
         xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
         xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
         xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" office:version=\"1.2\" \
         office:mimetype=\"application/vnd.oasis.opendocument.spreadsheet\"><office:body><office:spreadsheet>\
         <table:table table:name=\"Fleet\">{rows}</table:table></office:spreadsheet></office:body></office:document>"
    )
}

// ── pages ──────────────────────────────────────────────────────────────────────────────────────────

/// A table with so many rows, each of eleven elements in Chromium and of six in Firefox.
fn page_of(rows: usize) -> String {
    let cells = |row| (0..5).map(|cell| format!("<td>c{row} {cell}</td>")).collect::<String>();
    let rows: String = (0..rows).map(|row| format!("<tr>{}</tr>", cells(row))).collect();
    format!(
        "<p id=s>none</p><button onclick=\"s.textContent='yes '+Date.now()\">Press</button><input aria-label=Note>\
         <table>{rows}</table>"
    )
}

fn write_page(bench: &Bench, name: &str, body: &str) -> String {
    let file = bench.home.join(format!("{name}.html"));
    std::fs::write(&file, format!("<!doctype html><meta charset=utf-8><title>{name}</title>{body}"))
        .expect("the page");
    format!("file://{}", file.display())
}

fn in_chromium(bench: &Bench, name: &str, body: &str, least: usize) -> Option<(Program, Window)> {
    let page = write_page(bench, name, body);
    let profile = format!("--user-data-dir={}", bench.home.join(name).display());
    let (running, window) = bench.start("chromium", &[BROWSER, &[&profile, &page]].concat())?;
    std::thread::sleep(PAGE_TIME);
    eventually(|| Some(bench.look(&window)).filter(|&count| count >= least))?;
    Some((running, window))
}

fn long_page(bench: &Bench) {
    let Some((_running, window)) = in_chromium(bench, "long", &page_of(1_640), 10_000) else { return };
    raise(bench, &window);
    let row = |work, wanted| Row { work, wanted, window: &window };
    let press = json!({"window_uid": window.uid, "selector": "//Button[name=\"Press\"]"});
    let click = |_| bench.call("click_element", press.clone());
    row("`click_element`, 18,000-element page, Chromium", 400).measure(bench, |_| (), click);
    bench.call("focus_element", json!({"window_uid": window.uid, "selector": "//Edit[name=\"Note\"]"}));
    let letter = |_| bench.call("type_text", json!({"text": "a"}));
    row("a letter in that page", 400).measure(bench, |_| (), letter);
}

fn buttons(bench: &Bench) {
    let body = "<p id=s>none</p><script>for(let i=0;i<245;i++){let b=document.createElement('button');\
                b.textContent='B '+i;b.onclick=()=>{s.textContent='clicked '+i};document.body.append(b)}</script>";
    let Some((_running, window)) = in_chromium(bench, "buttons", body, 245) else { return };
    raise(bench, &window);
    let app = app_for(&bench.platform, &tools::selection(Profile::Agent, "").expect("the profile"));
    lean_call(&app, "look", json!({"window_uid": window.uid}));
    let tokens = std::cell::Cell::new(0);
    let act = |round| {
        let button = format!("//Button[name=\"B {round}\"]");
        let step =
            json!({"do": "click_element", "selector": button, "expect": format!("text: clicked {round}")});
        let reply = lean_call(&app, "act", json!({"window_uid": window.uid, "steps": [step]}));
        tokens.set(count_tokens(&reply.lines().unwrap_or_default()));
        reply.value()
    };
    let row = Row { work: "one of 245 buttons clicked and verified, Chromium", wanted: 150, window: &window };
    row.measure(bench, |_| (), act);
    println!("| tokens of its reply | 60 | {} | | | | |", tokens.get());
}

fn count_tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

fn firefox(bench: &Bench) {
    let page = write_page(bench, "fire", &page_of(2_000));
    let profile = bench.home.join("firefox");
    std::fs::create_dir_all(&profile).expect("the profile");
    let arguments = ["--no-remote", "--profile", &profile.display().to_string(), &page];
    let Some((_running, window)) = bench.start("firefox-esr", &arguments) else { return };
    let Some(window) =
        eventually(|| bench.windows().into_iter().find(|window| window.title.contains("fire")))
    else {
        println!("| firefox | | showed no page in {} | | | | |", window.title);
        return;
    };
    std::thread::sleep(PAGE_TIME);
    eventually(|| Some(bench.look(&window)).filter(|&count| count >= 10_000));
    first_looks(
        bench,
        &Row { work: "first `look`, 12,000-element page, Firefox", wanted: 900, window: &window },
    );
}

// ── other programs ─────────────────────────────────────────────────────────────────────────────────

fn vault(bench: &Bench) {
    let path = bench.home.join("vault.kdbx");
    let _ = std::fs::remove_file(&path);
    if !create_vault(&path) {
        println!("| keepassxc-cli | | made no vault | | | | |");
        return;
    }
    let Some((_running, window)) = bench.start("keepassxc", &[&path.display().to_string()]) else { return };
    let Some(window) =
        eventually(|| bench.windows().into_iter().find(|window| window.title.contains("Locked")))
    else {
        println!("| keepassxc | | showed no vault in {} | | | | |", window.title);
        return;
    };
    eventually(|| Some(bench.look(&window)).filter(|&count| count >= 50));
    first_looks(bench, &Row { work: "`look` of a locked KeePassXC", wanted: 100, window: &window });
}

fn create_vault(path: &Path) -> bool {
    let mut command = Command::new("keepassxc-cli");
    command.args(["db-create", "-p"]).arg(path);
    let Ok(mut cli) = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    else {
        return false;
    };
    if let Some(mut stdin) = cli.stdin.take() {
        let _ = stdin.write_all(format!("{PASSWORD}\n{PASSWORD}\n").as_bytes());
    }
    cli.wait().is_ok_and(|status| status.success())
}

/// Lies over all of the desktop, and has the keyboard.
fn cover(bench: &Bench) -> Option<(Program, Window)> {
    let (running, window) =
        bench.start("xterm", &["-T", "Cover", "-geometry", "400x120+0+0", "-e", "cat"])?;
    raise(bench, &window);
    Some((running, window))
}

fn calculator(bench: &Bench) {
    let Some((_running, window)) = bench.start("gnome-calculator", &[]) else { return };
    let _ = eventually(|| Some(bench.look(&window)).filter(|&count| count > 50));
    let click = |key: char| json!({"do": "click_element", "selector": format!("//Button[name=\"{key}\"]")});
    let clear = |_| {
        bench.call("act", json!({"window_uid": window.uid, "steps": [click('C')]}));
    };
    // A sum with another result each time, so that an old one is not taken for it.
    let sum = |round: usize| {
        let (one, other) = (12 + round, 3000 + 7 * round);
        let mut steps: Vec<Value> = format!("{one}+{other}=").chars().map(click).collect();
        if let Some(last) = steps.last_mut() {
            last["expect"] = json!(format!("text: {}", one + other));
        }
        bench.call("act", json!({"window_uid": window.uid, "steps": steps}))
    };
    raise(bench, &window);
    let row = |work, wanted| Row { work, wanted, window: &window };
    row("eight clicks by one `act`, gnome-calculator in front, result confirmed", 900)
        .measure(bench, clear, sum);
    let Some(_cover) = cover(bench) else { return };
    row("the same behind another window", 2_400).measure(bench, clear, |round| sum(round + ROUNDS + 1));
}

fn covered(bench: &Bench) {
    for (version, wanted, toggle) in
        [("3.0", 100, "//CheckBox[name=\"Agree\"]"), ("4.0", 400, "//CheckBox[name=\"\"]")]
    {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desktop/programs/gtk_form.py");
        let log = bench.home.join("form.log");
        let arguments = [&source.display().to_string(), version, &log.display().to_string()];
        let Some((_running, window)) = bench.start("/usr/bin/python3", &arguments) else { return };
        let _ = eventually(|| Some(bench.look(&window)).filter(|&count| count > 6));
        let Some(_cover) = cover(bench) else { return };
        let on = |selector: &str| json!({"window_uid": window.uid, "selector": selector});
        let (press, toggle) = (on("//Button[name=\"Press me\"]"), on(toggle));
        let text = |round: usize| json!({"window_uid": window.uid, "selector": "//Edit", "value": format!("Grüße 你好 😀 {round}")});
        let row = |job: &str, act: &dyn Fn(usize) -> Value| {
            let work = format!("{job} in a covered window of GTK {version}");
            Row { work: &work, wanted, window: &window }.measure(bench, |_| (), act);
        };
        row("a button pressed", &|_| bench.call("click_element", press.clone()));
        row("a toggle switched", &|_| bench.call("click_element", toggle.clone()));
        row("a text set", &|round| bench.call("set_value", text(round)));
    }
}
