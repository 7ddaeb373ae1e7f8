//! Consent on real toolkits: what the mock desktop plays, GTK 3, GTK 4, Qt, Chromium and Firefox do. The programs write down what
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

/// The field of the page.
const NOTE: &str = "//Edit[name=\"Note\"]";

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

    fn firefox(desk: &Desk) -> Self {
        let page = project().join("tests/desktop/programs/deeds.html");
        let server = desk.server_with(RULES);
        let (app, server, uid) = in_firefox(desk, &format!("file://{}", page.display()), "Deeds", server);
        let mut deeds = Self { _app: app, server, uid, log: PathBuf::new() };
        deeds.place("Archive");
        deeds
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
        self.check_choices_in("//ComboBox");
    }

    fn check_choices_in(&mut self, combo: &str) {
        self.focus(combo);
        let way = self.keys(&["down", "space", "down", "enter"]);
        self.holds("arrows on a combo box", &way);
        self.focus("//RadioButton[name=\"Keep all\"]");
        let way = self.keys(&["down"]);
        self.holds("arrows in a radio group", &way);
        self.focus("//Edit");
    }

    /// The key of a check box, or of a label, with the focus elsewhere.
    fn check_mnemonics(&mut self, keys: &[&str]) {
        for keys in keys {
            self.focus("//Edit");
            let way = self.keys(&[keys]);
            self.holds(keys, &way);
        }
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

    /// What is to be archived twice is deleted, and that button is the default one.
    fn check_default_button(&mut self) {
        self.focus("//Edit");
        let way = self.keys(&["enter"]);
        self.holds("enter in a field", &way);
        self.focus("//Edit");
        self.holds("a line break in a field", &[("type_text", json!({"text": "a\n"}))]);
    }
}

/// H-111, H-113, H-330, H-417 on desktop: GTK 3
#[test]
fn gtk3_deletes_nothing_without_consent() {
    let desk = desk();
    let mut deeds = Deeds::gtk3(&desk);
    deeds.check_menu("alt+e");
    deeds.check_mnemonics(&["alt+w"]);
    deeds.check_choices();
    let (x, y) = deeds.place("Keep");
    deeds.holds("the wheel over a combo box", &[("scroll", json!({"x": x, "y": y, "clicks": -1}))]);
    deeds.check_drag(60);
    deeds.check_second_click();
    deeds.check_default_button();
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

/// H-111, H-113, H-417 on desktop: Qt
#[test]
fn qt_deletes_nothing_without_consent() {
    let desk = desk();
    let mut deeds = Deeds::qt(&desk);
    deeds.check_menu("alt+e");
    deeds.check_mnemonics(&["alt+w", "alt+t"]);
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

/// A page in Firefox, before a server.
fn in_firefox(desk: &Desk, address: &str, title: &str, mut server: Server) -> (App, Server, String) {
    let profile = desk.home().join("firefox-consent");
    std::fs::create_dir_all(&profile).unwrap();
    let app = desk.start("firefox-esr", &["--no-remote", "--profile", profile.to_str().unwrap(), address]);
    let uid = server.ready(&app, title, 20);
    (app, server, uid)
}

/// H-111, H-113, H-150 on desktop: Firefox
#[test]
fn firefox_deletes_nothing_without_consent() {
    let desk = desk();
    let mut deeds = Deeds::firefox(&desk);
    deeds.check_choices_in("//ComboBox[name=\"Plan\"]");
    let (x, y) = deeds.place("12 Nov");
    deeds.holds("what comes up under the pointer", &[("click_at", json!({"x": x, "y": y}))]);
    let (x, y) = deeds.place("Tidy up");
    deeds.holds("a label of another name", &[("click_at", json!({"x": x, "y": y}))]);
    deeds.check_second_click();
}

/// H-111 on desktop: a menu of GTK 4, worked by keys
#[test]
fn a_menu_of_gtk4_is_judged_by_keys() {
    let desk = desk();
    let mut deeds = Deeds::gtk4(&desk);
    let way = deeds.keys(&["f10", "down", "down", "enter", "enter"]);
    deeds.holds("arrows in a menu of GTK 4", &way);
}

/// Asks to press the button of the page, and says yes to each question after four seconds; the questions.
fn questions_about_paying(desk: &Desk, hash: &str, answers: usize) -> (Vec<String>, bool) {
    let page = project().join("tests/desktop/programs/pay.html");
    let address = format!("file://{}{hash}", page.display());
    let mode = ("OSO_CONFIRMATION__MODE", "ask");
    let server = desk.asking_server(&[RULES[0], mode]);
    let (_app, mut server, uid) = in_firefox(desk, &address, "Pay page", server);
    let client = &mut server.client;
    let arguments = json!({"window_uid": uid, "selector": "//Button[name=\"Delete\"]"});
    let id = client.post("tools/call", json!({"name": "click_element", "arguments": arguments}));
    let mut questions = Vec::new();
    for number in 1..=answers {
        let question = client.receive();
        if question["method"] != "elicitation/create" {
            return (questions, false);
        }
        questions.push(question["params"]["message"].as_str().unwrap_or_default().to_owned());
        std::thread::sleep(Duration::from_secs(4));
        let action = if number < answers { "accept" } else { "decline" };
        let answer = json!({"action": action, "content": {"allow": true}});
        client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    }
    client.answer(id);
    let paid = server.windows().iter().any(|window| window["title"].to_string().contains("paid"));
    (questions, paid)
}

/// H-114, H-151 on desktop: Firefox; a clock that ticks leaves the answer good, a sum that grows does not
#[test]
fn in_firefox_consent_is_to_what_was_shown() {
    let desk = desk();
    let (questions, paid) = questions_about_paying(&desk, "#1500", 2);
    assert!(questions.len() == 2 && questions[1].contains("EUR to Mallory"), "{questions:?}");
    assert!(!paid);
    let (questions, _) = questions_about_paying(&desk, "", 2);
    assert_eq!(questions.len(), 1, "{questions:?}");
}

/// H-116 on desktop: a named secret that is erased and copied in part, in GTK 3, Qt, Chromium and Firefox
#[test]
fn a_named_secret_stays_secret_in_pieces() {
    let desk = desk();
    for (start, field) in [
        (Deeds::gtk3 as Start, "//Edit"),
        (Deeds::qt, "//Edit"),
        (Deeds::chromium, NOTE),
        (Deeds::firefox, NOTE),
    ] {
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
        // Undo brings the secret back, and letters between its own make another text of it.
        for keys in ["ctrl+z", "home", "right", "right", "x"] {
            deeds.server.ok("press_key", json!({ "keys": keys }));
            let shown = json!(deeds.server.tree(&uid)).to_string();
            for part in ["orre", "horse", "batt", "stap"] {
                assert!(!shown.contains(part), "{field} after undo and {keys}: {shown}");
            }
        }
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
