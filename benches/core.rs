//! What the parts of a call cost inside the process: capturing, showing, hashing, finding, drawing, writing.
//!
//!     cargo bench --bench core
//!
//! Measured is the CPU time of the thread that works, where the system tells it, so that a busy machine spoils less.
//! The pairs that are meant to be compared (a scrubbed text with a plain one, rules with none) run right after each
//! other. `docs/performance.md` says what is wanted.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark runs in real time and sets up its own environment"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run stops")]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use criterion::{Criterion, criterion_group, criterion_main};
use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags, Redaction};
use os_screen_observer::gate::{Call, Origin};
use os_screen_observer::model::image::Picture;
use os_screen_observer::model::pixel_diff::compare_pixels;
use os_screen_observer::model::selector::Selector;
use os_screen_observer::model::{Element, Rect, Tree, TreeBuilder};
use os_screen_observer::observer::View;
use os_screen_observer::observer::sketch::{SketchOptions, SketchReading, draw_sketch};
use os_screen_observer::observer::structure::{Structure, StructureRequest};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::{Patience, Platform, Stage};
use os_screen_observer::privacy::injection::Lexicon;
use os_screen_observer::privacy::redact::Redactor;
use os_screen_observer::privacy::scrub::{self, Scrub};
use os_screen_observer::privacy::watch::InjectionWatch;
use os_screen_observer::scenario;
use os_screen_observer::tool::Selection;
use os_screen_observer::tools;
use serde_json::{Value, json};

const SELECTOR: &str = r#"Window/Table[name="Articles"]//CheckBox[name="Counted"]"#;
/// Several of the kinds that people write: numbers of cards and accounts, addresses, keys.
const PATTERNS: &[&str] = &[
    r"\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}\b",
    r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}",
    r"\b[A-Z]{2}\d{2}[A-Z0-9]{11,30}\b",
    r"(?i)api[_-]?key\s*[:=]\s*\S+",
];

/// A server in this process that plays the dense scenario, or the default desktop.
struct World {
    app: App,
    platform: Arc<Mock>,
}

impl World {
    fn new(scenario_file: Option<&str>, cache_seconds: &str) -> Self {
        let flags = Flags { mock: true, ..Flags::default() };
        let environment = [("OSO_TREE__CACHE_TTL_S".to_owned(), cache_seconds.to_owned())];
        let loaded = config::load(&flags, environment).unwrap();
        let clock = Clock::real();
        let platform = Arc::new(Mock::new(clock.clone()));
        if let Some(file) = scenario_file {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            platform.load(scenario::load_file(&path).unwrap());
        }
        let app = App::new(loaded, &Selection::default(), platform.clone(), clock).unwrap();
        Self { app, platform }
    }

    fn dense(cache_seconds: &str) -> Self {
        Self::new(Some("scenarios/dense.yaml"), cache_seconds)
    }

    /// The call without its transport: everything that the gate does, to the text that leaves.
    fn call(&self, tool: &str, args: &Value) -> String {
        let call = Call { tool: tool.to_owned(), args: args.clone(), origin: Origin::Test };
        let reply = self.app.gate.pass_call(call, &Cancel::new());
        assert!(reply.ok(), "{tool} {args} was answered with {}", reply.text());
        reply.text().to_owned()
    }

    fn capture(&self) -> Arc<Tree> {
        let patience = Patience {
            per_call: Duration::from_secs(1),
            whole: Duration::from_secs(1),
            cancel: Cancel::new(),
        };
        let window = self.app.observer.windows().unwrap().swap_remove(0);
        Arc::new(self.platform.accessibility().tree(&window, &patience).unwrap())
    }
}

fn redactor(patterns: &[&str]) -> Redactor {
    let rules = Redaction {
        enabled: true,
        ocr_text_patterns: patterns.iter().map(|&pattern| pattern.to_owned()).collect(),
        ..Redaction::default()
    };
    Redactor::new(Some(rules)).unwrap()
}

fn whole_calls(criterion: &mut Criterion<CpuTime>) {
    let (uncached, cached, notepad) = (World::dense("0"), World::dense("3600"), World::new(None, "0"));
    let mut bench = |label: &str, world: &World, tool: &str, args: Value| {
        criterion.bench_function(label, |bencher| bencher.iter(|| world.call(tool, &args)));
    };
    bench("call/list_windows", &notepad, "list_windows", json!({}));
    bench("call/structure of dense, miss", &uncached, "get_window_structure", json!({"depth": 8}));
    bench("call/structure of dense, hit", &cached, "get_window_structure", json!({"depth": 8}));
    bench("call/sketch of dense", &cached, "get_screen_sketch", json!({}));
    bench("call/find_element on dense", &cached, "find_element", json!({"selector": SELECTOR}));
    bench(
        "call/click_element on dense",
        &uncached,
        "click_element",
        json!({"selector": "//Button[name=\"Save\"]"}),
    );
    bench("call/screenshot 800x600", &notepad, "get_screenshot", json!({"window_index": 0}));
}

fn trees(criterion: &mut Criterion<CpuTime>) {
    let world = World::dense("0");
    let tree = world.capture();
    let large = large_tree(20_000);
    let (plain, ruled) = (Redactor::new(None).unwrap(), redactor(PATTERNS));
    criterion.bench_function("tree/capture dense", |bencher| bencher.iter(|| world.capture()));
    criterion.bench_function("tree/shown, no rules", |bencher| bencher.iter(|| plain.shown(&tree, "Stock")));
    criterion
        .bench_function("tree/shown, 4 patterns", |bencher| bencher.iter(|| ruled.shown(&tree, "Stock")));
    criterion.bench_function("tree/hash dense", |bencher| bencher.iter(|| tree.hash(Tree::ROOT)));
    criterion.bench_function("tree/hash 20,000 nodes", |bencher| bencher.iter(|| large.hash(Tree::ROOT)));
    criterion.bench_function("tree/fingerprint dense", |bencher| bencher.iter(|| tree.fingerprint()));
    let options = SketchOptions::default();
    criterion.bench_function("tree/sketch dense", |bencher| {
        bencher
            .iter(|| draw_sketch(&tree, tree.root().bounds, &options, &SketchReading::default()).text.len());
    });
}

/// A screen compared with an earlier picture of it: the same, with a line of text changed, wholly changed.
fn pictures(criterion: &mut Criterion<CpuTime>) {
    let screen = |color| Picture::new(1920, 1080, color).unwrap();
    let (before, same, all) =
        (screen([90, 90, 90, 255]), screen([90, 90, 90, 255]), screen([20, 200, 90, 255]));
    let mut line = before.clone();
    line.fill(Rect::new(200, 300, 400, 16), [0, 0, 0, 255]);
    for (label, after) in [("same", same), ("a line", line), ("all", all)] {
        criterion.bench_function(&format!("pixels/compare 1920x1080, {label}"), |bencher| {
            bencher.iter(|| compare_pixels(&before, &after, 8));
        });
    }
    let grid = json!({"window_index": 0, "grid": {}, "marks": true});
    let world = World::new(None, "0");
    criterion.bench_function("call/screenshot 800x600 with a grid and marks", |bencher| {
        bencher.iter(|| world.call("get_screenshot", &grid));
    });
}

fn selectors(criterion: &mut Criterion<CpuTime>) {
    let tree = World::dense("0").capture();
    let selector = Selector::parse(SELECTOR).unwrap();
    criterion
        .bench_function("selector/parse", |bencher| bencher.iter(|| Selector::parse(black_box(SELECTOR))));
    criterion.bench_function("selector/resolve // on dense", |bencher| {
        bencher.iter(|| selector.resolve(&tree, usize::MAX));
    });
}

/// The same reply written with and without the filter that everything leaves through.
fn writing(criterion: &mut Criterion<CpuTime>) {
    let tree = World::dense("0").capture();
    let view = Arc::new(View::new(tree.clone(), tree, Duration::ZERO, SystemTime::UNIX_EPOCH));
    let request = StructureRequest { depth: 8, ..StructureRequest::default() };
    let structure = Structure::new(view, &request).unwrap();
    let (plain, ruled) = (Redactor::new(None).unwrap(), redactor(PATTERNS));
    criterion.bench_function("write/dense, serde_json alone", |bencher| {
        bencher.iter(|| serde_json::to_string(&structure).unwrap());
    });
    criterion.bench_function("write/dense, scrubbed", |bencher| {
        bencher.iter(|| scrub::to_json_string(&structure, &Scrub::of(&plain)).unwrap());
    });
    let lexicon = Lexicon::new(tools::all_tools().map(|spec| spec.meta.name));
    criterion.bench_function("write/dense, scrubbed and looked at for injections", |bencher| {
        bencher.iter(|| {
            let watch = InjectionWatch::new(&lexicon);
            scrub::to_json_string(&structure, &Scrub::of(&plain).watched_by(&watch)).unwrap()
        });
    });
    criterion.bench_function("write/dense, scrubbed with 4 patterns", |bencher| {
        bencher.iter(|| scrub::to_json_string(&structure, &Scrub::of(&ruled)).unwrap());
    });
}

/// Rows of ten cells, like a large table.
fn large_tree(nodes: usize) -> Tree {
    let element = |role: &'static str, number: usize| {
        let row = i32::try_from(number / 11).unwrap();
        Element::new(role, format!("{role} {number}"), Rect::new(8, row * 24, 300, 24))
    };
    let mut tree = TreeBuilder::new(element("Window", 0));
    while tree.len() < nodes {
        tree.open(element("DataItem", tree.len()));
        for _ in 0..10 {
            tree.add_leaf(element("Text", tree.len()));
        }
        tree.close();
    }
    tree.finish()
}

fn short() -> Criterion<CpuTime> {
    Criterion::default()
        .with_measurement(CpuTime)
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots()
}

#[cfg(not(unix))]
use criterion::measurement::WallTime as CpuTime;

#[cfg(unix)]
struct CpuTime;

#[cfg(unix)]
impl CpuTime {
    fn now() -> Duration {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
    }
}

#[cfg(unix)]
impl criterion::measurement::Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        Self::now()
    }

    fn end(&self, start: Duration) -> Duration {
        Self::now() - start
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn criterion::measurement::ValueFormatter {
        criterion::measurement::WallTime.formatter()
    }
}

criterion_group! {
    name = benches;
    config = short();
    targets = whole_calls, trees, pictures, selectors, writing
}
criterion_main!(benches);
