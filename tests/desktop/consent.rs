//! Consent on real toolkits: what the mock desktop plays, GTK 3, GTK 4, Qt and Chromium do. The programs write down what
//! was done; nothing that a rule is about may be among it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::desk::{App, Desk, Server, desk, until};
use crate::support::project;

const SECRET: &str = "correct-horse-battery-staple";

const RULES: &[(&str, &str)] =
    &[("OSO_CONFIRMATION_REQUIRED", r#"[{"name_regex": "(?i)delete"}]"#), ("OSO_SECRET_BANK", SECRET)];

/// A program in which something can be deleted.
struct Deeds {
    _app: App,
    server: Server,
    uid: String,
    log: PathBuf,
}

/// Starts one of the programs.
type Start = fn(&Desk) -> Deeds;

impl Deeds {
    fn start(desk: &Desk, arguments: &[&str], least: usize) -> Self {
        let log = desk.home().join("deeds.log");
        let _ = std::fs::remove_file(&log);
        let source = project().join("tests/desktop/programs").join(arguments[0]);
        let mut all = vec![source.to_str().unwrap()];
        all.extend(&arguments[1..]);
        all.push(log.to_str().unwrap());
        let app = desk.start("/usr/bin/python3", &all);
        let mut server = desk.server_with(RULES);
        let uid = server.ready(&app, "Deeds", least);
        Self { _app: app, server, uid, log }
    }

    fn gtk3(desk: &Desk) -> Self {
        Self::start(desk, &["deeds_gtk.py", "3.0"], 50)
    }

    fn gtk4(desk: &Desk) -> Self {
        Self::start(desk, &["deeds_gtk.py", "4.0"], 50)
    }

    fn qt(desk: &Desk) -> Self {
        Self::start(desk, &["deeds_qt.py"], 8)
    }

    fn chromium(desk: &Desk) -> Self {
        let page = project().join("tests/desktop/programs/deeds.html");
        let profile = format!("--user-data-dir={}", desk.home().join("deeds").display());
        let address = format!("file://{}", page.display());
        let arguments = [
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--password-store=basic",
            "--force-renderer-accessibility",
            &profile,
            &address,
        ];
        let app = desk.start("chromium", &arguments);
        let mut server = desk.server_with(RULES);
        let uid = server.ready(&app, "Deeds", 20);
        until("the page", || {
            server.tree(&uid).iter().any(|element| element["name"] == "Archive").then_some(())
        });
        Self { _app: app, server, uid, log: PathBuf::new() }
    }

    /// What was done: by what the program wrote down, or by the page's title.
    fn deeds(&mut self) -> Vec<String> {
        if self.log.as_os_str().is_empty() {
            let windows = self.server.windows();
            let title =
                windows.iter().find_map(|window| window["title"].as_str().filter(|it| it.contains("Deeds")));
            let told = title.and_then(|title| title.split_once("web:")).map_or("", |(_, told)| told);
            return told.split_whitespace().map(str::to_owned).collect();
        }
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter_map(|line| line["deed"].as_str().map(str::to_owned)).collect()
    }

    /// Calls, as long as nothing asks for consent; says whether something did.
    fn try_all(&mut self, calls: &[(&str, Value)]) -> bool {
        calls.iter().any(|(tool, args)| {
            let reply = self.server.call(tool, args.clone());
            std::thread::sleep(Duration::from_millis(250));
            reply["error"]["code"] == "ConfirmationRequired"
        })
    }

    /// Every one of these ways ends at a question, and nothing is deleted on it.
    #[track_caller]
    fn holds(&mut self, what: &str, calls: &[(&str, Value)]) {
        let asked = self.try_all(calls);
        std::thread::sleep(Duration::from_millis(400));
        let deeds = self.deeds();
        assert!(!deeds.iter().any(|deed| deed.contains("Delete")), "{what}: {deeds:?}");
        assert!(asked, "{what}: nothing asked for consent");
        for _ in 0..2 {
            self.server.call("press_key", json!({"keys": "escape"}));
        }
    }

    fn place(&mut self, name: &str) -> (i64, i64) {
        self.place_of(|element| element["name"].as_str().is_some_and(|it| it.trim() == name))
    }

    /// The middle of the first element like this that shows.
    fn place_of(&mut self, wanted: impl Fn(&Value) -> bool) -> (i64, i64) {
        let uid = self.uid.clone();
        let element = until("an element", || {
            let shows = |element: &Value| element["bounds"]["width"].as_i64() > Some(1);
            self.server.tree(&uid).into_iter().find(|element| wanted(element) && shows(element))
        });
        let side = |name: &str| element["bounds"][name].as_i64().unwrap();
        (side("x") + side("width") / 2, side("y") + side("height") / 2)
    }

    fn focus(&mut self, selector: &str) {
        let args = json!({"window_uid": self.uid, "selector": selector});
        self.server.ok("focus_element", args);
    }

    fn keys(&self, keys: &[&str]) -> Vec<(&'static str, Value)> {
        keys.iter().map(|keys| ("press_key", json!({ "keys": keys }))).collect()
    }

    fn check_menu(&mut self, opens: &str) {
        let way = [self.keys(&[opens]), self.keys(&["down", "down", "enter"])].concat();
        self.holds("arrows in a menu", &way);
        self.focus("//Edit");
        let way = self.keys(&[opens, "d"]);
        self.holds("a mnemonic in a menu", &way);
        self.focus("//Edit");
    }

    fn check_choices(&mut self) {
        self.focus("//ComboBox");
        let way = self.keys(&["down", "space", "down", "enter"]);
        self.holds("arrows on a combo box", &way);
        self.focus("//RadioButton[name=\"Keep all\"]");
        let way = self.keys(&["down"]);
        self.holds("arrows in a radio group", &way);
        self.focus("//Edit");
    }

    /// From the title of a menu to its protected entry, so far below.
    fn check_drag(&mut self, below: i64) {
        let (x, y) = self.place("Edit");
        let drag = json!({"from": {"x": x, "y": y}, "to": {"x": x + 10, "y": y + below}, "duration_s": 0.4});
        self.holds("a drag into a menu", &[("drag", drag)]);
    }

    fn check_second_click(&mut self) {
        let (x, y) = self.place("Archive");
        self.holds("a double click", &[("click_at", json!({"x": x, "y": y, "double": true}))]);
        assert!(self.deeds().contains(&"Archive".to_owned()), "the first click was free");
    }
}

/// H-111, H-113 on desktop: GTK 3
#[test]
fn gtk3_deletes_nothing_without_consent() {
    let desk = desk();
    let mut deeds = Deeds::gtk3(&desk);
    deeds.check_menu("alt+e");
    deeds.check_choices();
    let (x, y) = deeds.place("Keep");
    deeds.holds("the wheel over a combo box", &[("scroll", json!({"x": x, "y": y, "clicks": -1}))]);
    deeds.check_drag(60);
    deeds.check_second_click();
}

/// H-111, H-113 on desktop: GTK 4
#[test]
fn gtk4_deletes_nothing_without_consent() {
    let desk = desk();
    let mut deeds = Deeds::gtk4(&desk);
    // A popover that is open would take the first click.
    deeds.check_second_click();
    deeds.check_drag(55);
}

/// H-111, H-113 on desktop: Qt
#[test]
fn qt_deletes_nothing_without_consent() {
    let desk = desk();
    let mut deeds = Deeds::qt(&desk);
    deeds.check_choices();
    let (x, y) = deeds.place_of(|element| element["role"] == "ComboBox");
    deeds.holds("the wheel over a combo box", &[("scroll", json!({"x": x, "y": y, "clicks": -1}))]);
    deeds.check_drag(55);
    deeds.check_second_click();
}

/// H-111, H-112, H-113 on desktop: Chromium
#[test]
fn chromium_deletes_nothing_without_consent() {
    let desk = desk();
    let mut deeds = Deeds::chromium(&desk);
    deeds.check_choices();
    let (x, y) = deeds.place("12 Nov");
    deeds.holds("what comes up under the pointer", &[("click_at", json!({"x": x, "y": y}))]);
    let uid = deeds.uid.clone();
    let tree = deeds.server.tree(&uid);
    let named = |wanted: &dyn Fn(&Value) -> bool| {
        tree.iter().find(|element| wanted(element)).map(|it| it["id"].clone())
    };
    let soft = named(&|it| {
        it["role"] == "Button" && it["name"].as_str().is_some_and(|name| name.contains('\u{AD}'))
    });
    let brick = named(&|it| it["role"] == "ListItem");
    for (what, id) in [("a soft hyphen", soft), ("inside a button", brick)] {
        let id = id.unwrap_or_else(|| panic!("{what} is not in the tree"));
        deeds.holds(what, &[("click_element", json!({"window_uid": uid, "element_id": id}))]);
    }
    deeds.check_second_click();
}

/// H-116 on desktop: a named secret that is erased and copied in part, in GTK 3, Qt and Chromium
#[test]
fn a_named_secret_stays_secret_in_pieces() {
    let desk = desk();
    for (start, field) in
        [(Deeds::gtk3 as Start, "//Edit"), (Deeds::qt, "//Edit"), (Deeds::chromium, "//Edit[name=\"Note\"]")]
    {
        let mut deeds = start(&desk);
        deeds.focus(field);
        deeds.server.ok("type_text", json!({"text": {"secret": "BANK"}}));
        for keys in
            ["backspace", "home", "shift+right", "shift+right", "shift+right", "shift+right", "ctrl+c"]
        {
            deeds.server.ok("press_key", json!({ "keys": keys }));
            let uid = deeds.uid.clone();
            let shown =
                [deeds.server.tree(&uid), vec![deeds.server.call("clipboard_get", json!({}))]].concat();
            let shown = json!(shown).to_string();
            for part in ["corr", "horse", "batt", "stap"] {
                assert!(!shown.contains(part), "{field} after {keys}: {shown}");
            }
        }
        for keys in ["ctrl+a", "delete"] {
            deeds.server.ok("press_key", json!({ "keys": keys }));
        }
        let uid = deeds.uid.clone();
        until("the field to be empty", || {
            let tree = deeds.server.tree(&uid);
            tree.iter().any(|element| element["role"] == "Edit" && element["value"] == "").then_some(())
        });
        deeds.server.ok("type_text", json!({"text": "hello"}));
        until("the field to be a field again", || {
            deeds.server.tree(&uid).iter().any(|element| element["value"] == "hello").then_some(())
        });
    }
}

/// H-117 on desktop: random inputs on windows of GTK 3, Qt and Chromium
#[test]
fn no_inputs_delete_anything() {
    let desk = desk();
    // Below the browser's own tabs and buttons, which lead away from the page.
    let starts: [(Start, i64); 3] = [(Deeds::gtk3, 0), (Deeds::qt, 0), (Deeds::chromium, 100)];
    for (start, top) in starts {
        let mut deeds = start(&desk);
        let bounds = {
            let windows = deeds.server.windows();
            let own =
                windows.iter().find(|window| window["title"].as_str().is_some_and(|it| it.contains("Deeds")));
            own.unwrap()["bounds"].clone()
        };
        let side = |name: &str| bounds[name].as_i64().unwrap();
        let mut seed: u64 = 20_261_117;
        let mut next = move |below: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((seed >> 33) % u64::try_from(below.max(1)).unwrap()).unwrap()
        };
        const KEYS: &[&str] =
            &["tab", "enter", "space", "down", "up", "right", "escape", "d", "alt+e", "f10", "end"];
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            let (x, y) =
                (side("x") + next(side("width")), side("y") + top + next((side("height") - top).min(260)));
            let (tool, args) = match next(7) {
                0 | 1 => ("click_at", json!({"x": x, "y": y, "count": 1 + next(2)})),
                2 => ("scroll", json!({"x": x, "y": y, "clicks": 1 - 2 * next(2)})),
                3 => (
                    "drag",
                    json!({"from": {"x": x, "y": y}, "to": {"x": x + 5, "y": y + next(80)}, "duration_s": 0.1}),
                ),
                _ => ("press_key", json!({"keys": KEYS[usize::try_from(next(KEYS.len() as i64)).unwrap()]})),
            };
            deeds.server.call(tool, args.clone());
            let done = deeds.deeds();
            assert!(!done.iter().any(|deed| deed.contains("Delete")), "{tool} {args}: {done:?}");
        }
    }
}
