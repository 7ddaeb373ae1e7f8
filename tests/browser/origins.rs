//! Rules that name an origin: they hold on its pages and in its frames, and nowhere else.

use serde_json::{Value, json};

use crate::{PageTest, site};

fn origin(host: &str) -> String {
    format!("http://{host}:{}", site::port())
}

/// A page of 127.0.0.1 with a frame of localhost.
fn open(name: &str, value: &str) -> PageTest {
    let mut page = PageTest::open_with("login.html", &[("OSO_SECRET_WORD", "open sesame"), (name, value)]);
    page.until_shown("Edit", "Framed");
    page
}

fn type_secret(page: &mut PageTest, field: &str) -> String {
    let selector = format!("//Edit[name=\"{field}\"]");
    let arguments = json!({ "selector": selector, "value": { "secret": "WORD" } });
    page.call("set_value", arguments)["error"]["code"].as_str().unwrap_or("typed").to_owned()
}

/// H-187 on browser: a secret of one site is typed into no other, however alike, and into no frame of another.
#[test]
fn a_secret_of_an_origin_is_typed_there_alone() {
    for (host, word, framed) in [
        ("127.0.0.1", "typed", "PermissionDenied"),
        ("localhost", "PermissionDenied", "typed"),
        ("bank.example", "PermissionDenied", "PermissionDenied"),
    ] {
        let rules = json!({ "WORD": [{ "origin": origin(host) }] }).to_string();
        let mut page = open("OSO_SECRETS__ALLOW", &rules);
        assert_eq!(type_secret(&mut page, "Word"), word, "{host}");
        assert_eq!(type_secret(&mut page, "Framed"), framed, "{host}");
    }
}

/// H-394 on browser: a frame of another site that takes the focus whenever it can
#[test]
fn a_frame_that_takes_the_focus_gets_no_secret() {
    let rules = json!({ "WORD": [{ "origin": origin("127.0.0.1") }] }).to_string();
    let environment = [("OSO_SECRET_WORD", "open sesame"), ("OSO_SECRETS__ALLOW", rules.as_str())];
    let mut page = PageTest::open_with("focus.html", &environment);
    page.until_shown("Edit", "Thief");
    let mut kept = 0;
    for _ in 0..25 {
        let field = "//Edit[name=\"Password\"]";
        let set = page.call("set_value", json!({ "selector": field, "value": { "secret": "WORD" } }));
        kept += usize::from(set["error"].is_null());
        page.call("focus_element", json!({ "selector": field }));
        page.call("type_text", json!({ "text": { "secret": "WORD" } }));
    }
    assert!(kept > 0);
    assert!(!site::was_asked("/stolen"), "the frame got something of it");
}

fn press(page: &mut PageTest, button: &str) -> String {
    let arguments = json!({ "selector": format!("//Button[name=\"{button}\"]") });
    page.call("click_element", arguments)["error"]["code"].as_str().unwrap_or("pressed").to_owned()
}

#[test]
fn a_consent_rule_of_an_origin_holds_there_alone() {
    for (host, pay, framed) in [
        ("127.0.0.1", "ConfirmationRequired", "pressed"),
        ("localhost", "pressed", "ConfirmationRequired"),
        ("bank.example", "pressed", "pressed"),
    ] {
        let rules = json!([{ "role": "Button", "origin": origin(host) }]).to_string();
        let mut page = open("OSO_CONFIRMATION_REQUIRED", &rules);
        assert_eq!(press(&mut page, "Pay"), pay, "{host}");
        assert_eq!(press(&mut page, "In the frame"), framed, "{host}");
    }
}

#[test]
fn redaction_of_an_origin_hides_its_pages_and_frames() {
    let hidden = |host: &str| {
        let origins = json!([origin(host)]).to_string();
        let mut page = PageTest::open_with("login.html", &[("OSO_REDACTION__ORIGINS", &origins)]);
        let began = std::time::Instant::now();
        while page.elements(None).len() < 8 {
            assert!(began.elapsed() < crate::PATIENCE, "the frame does not come");
        }
        let windows = page.windows()[0].to_string();
        (page.shows("Button", "Pay"), page.shows("Button", "In the frame"), windows.contains("login.html"))
    };
    assert_eq!(hidden("bank.example"), (true, true, true));
    assert_eq!(hidden("localhost"), (true, false, true));
    assert_eq!(hidden("127.0.0.1"), (false, false, false));
}

/// H-298 on browser: what a page of a hidden origin is called, writes to its console, and sends.
#[test]
fn redaction_of_an_origin_hides_what_its_pages_tell() {
    let origins = json!([origin("127.0.0.1")]).to_string();
    let mut page = PageTest::open_with("pay.html", &[("OSO_REDACTION__ORIGINS", &origins)]);
    let opened = page.ok("open_url", json!({ "url": site::address("pay.html") }));
    page.ok("open_url", json!({ "url": site::address("report.csv") }));
    let sent = page.ok("downloads", json!({ "wait_ms": 20000 }));
    assert_eq!(sent["downloads"][0]["state"], "complete", "{sent}");
    let began = std::time::Instant::now();
    let is_written = |log: &Value| {
        let lines = log["lines"].as_array().unwrap();
        lines.iter().any(|line| line["kind"] == "console")
    };
    let mut log = page.ok("page_log", json!({}));
    while !is_written(&log) && began.elapsed() < crate::PATIENCE {
        log = page.ok("page_log", json!({}));
    }
    assert!(is_written(&log), "{log}");
    let state = page.ok("browser_state", json!({}));
    let again = page.ok("page_history", json!({ "go": "reload" }));
    for told in [&opened, &sent, &log, &state, &again] {
        for word in ["Pay page", "pay.html", "invoice", "report"] {
            assert!(!told.to_string().contains(word), "{word}: {told}");
        }
    }
}

/// H-298 on browser: an error behind a click is the page's own words.
#[test]
fn redaction_of_an_origin_hides_the_errors_behind_a_click() {
    let centre = {
        let mut page = PageTest::open("shop.html");
        page.until_shown("Button", "Compare");
        let button = page.elements(None).into_iter().find(|element| element["name"] == "Compare").unwrap();
        let side = |at: &str, length: &str| {
            button["bounds"][at].as_i64().unwrap() + button["bounds"][length].as_i64().unwrap() / 2
        };
        json!({ "x": side("x", "width"), "y": side("y", "height") })
    };
    let said = |origins: &str| {
        let mut page = PageTest::open_with("shop.html", &[("OSO_REDACTION__ORIGINS", origins)]);
        page.ok("click_at", centre.clone()).to_string()
    };
    assert!(said("[]").contains("TypeError"));
    let hidden = said(&json!([origin("127.0.0.1")]).to_string());
    assert!(!hidden.contains("TypeError"), "{hidden}");
}
