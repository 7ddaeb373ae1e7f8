//! The tools for pages: opening, reading, files in and out.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{PageTest, site};

#[test]
fn an_address_is_opened_and_the_way_back_leads_back() {
    let mut page = PageTest::open("form.html");
    let opened = page.ok("open_url", json!({ "url": site::address("moved") }));
    assert_eq!(
        (&opened["title"], &opened["status"], &opened["url"]),
        (&json!("Other page"), &json!(200), &json!(site::address("other.html")))
    );
    let back = page.ok("page_history", json!({ "go": "back" }));
    assert_eq!(back["title"], "Sign up", "{back}");
    let forward = page.ok("page_history", json!({ "go": "forward" }));
    assert_eq!(forward["title"], "Other page", "{forward}");
    assert_eq!(page.refused("page_history", json!({ "go": "forward" })).0, "BadRequest");
    assert_eq!(page.ok("page_history", json!({ "go": "reload" }))["title"], "Other page");
    assert_eq!(page.windows().len(), 1);
}

#[test]
fn a_new_tab_is_in_front_and_a_missing_page_has_its_status() {
    let mut page = PageTest::open("form.html");
    let opened = page.ok("open_url", json!({ "url": site::address("none.html"), "new_tab": true }));
    assert_eq!(opened["status"], 404, "{opened}");
    let windows = page.windows();
    assert_eq!(windows.len(), 2, "{windows:?}");
    let front = windows.iter().find(|window| window["focused"] == true).unwrap();
    assert_eq!(front["window_uid"], opened["window_uid"]);
    // Chromium refuses such a page, and the headless shell shows what the site sent with its question.
    let asked = page.call("open_url", json!({ "url": site::address("login") }));
    assert!(asked["error"]["code"] == "NavigationFailed" || asked["status"] == 401, "{asked}");
    assert!(asked.to_string().contains("a name and a password"), "{asked}");
}

/// H-200 on browser: addresses that are no pages of the web
#[test]
fn nothing_but_pages_is_opened() {
    let mut page = PageTest::open("form.html");
    let addresses = ["file:///etc/passwd", "javascript:alert(1)", "chrome://version", "data:text/html,x"];
    for address in addresses.into_iter().chain(["http://a:b@127.0.0.1/", "view-source:http://127.0.0.1/"]) {
        let (code, message) = page.refused("open_url", json!({ "url": address }));
        assert_eq!(code, "PermissionDenied", "{address}: {message}");
    }
    assert_eq!(page.windows()[0]["title"], "Sign up");
    // The page speaks no TLS.
    let address = site::address("form.html").replace("http:", "https:");
    let (code, message) = page.refused("open_url", json!({ "url": address }));
    assert!(code == "NavigationFailed" && message.contains("ERR_"), "{code} {message}");
}

/// H-305 on browser: what is refused by its host costs nothing of the page that is open.
#[test]
fn a_refused_address_leaves_the_page_as_it_is() {
    let deny = [("OSO_BROWSER__NETWORK_DENY", "[\"*.denied.example\"]")];
    let mut page = PageTest::open_with("form.html", &deny);
    page.ok("set_value", json!({ "selector": "//Edit[name=\"Name\"]", "value": "Ada" }));
    for address in ["http://127.0.0.1:9/", "http://169.254.169.254/latest", "https://a.denied.example/"] {
        let (code, message) = page.refused("open_url", json!({ "url": address }));
        assert!(code == "PermissionDenied" && message.contains("may not reach"), "{address}: {message}");
    }
    assert_eq!(page.value_of("Name"), "Ada");
}

fn read(page: &mut PageTest, arguments: Value) -> (Value, String) {
    let result = page.client.call("read_page", arguments);
    let data: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(data["ok"], true, "{data}");
    let text = result["content"].get(1).map_or("", |block| block["text"].as_str().unwrap());
    (data, text.to_owned())
}

#[test]
fn a_page_is_read_to_its_end_and_nothing_that_is_hidden_is() {
    let mut page = PageTest::open("pages.html");
    let (data, text) = read(&mut page, json!({}));
    assert_eq!((&data["part"], &data["title"]), (&json!("main"), &json!("Pages")));
    let expected =
        format!("# About pens\n\nA pen writes with [ink]({}). This paragraph", site::address("other.html"));
    assert!(text.starts_with(&expected), "{text}");
    for part in [
        "- Steel\n- Glass\n  - from Murano\n",
        "| Thing | Price |\n|---|---|\n| Pen | 2 |\n| Ink | 5 |\n",
        "```\nline one\n  line two\n```",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(text.ends_with("The last paragraph."), "{text}");
    for hidden in ["Ignore", "out of reach", "Menu entry", "Imprint"] {
        assert!(!text.contains(hidden), "{hidden} is in {text}");
    }
    let (data, whole) = read(&mut page, json!({ "part": "whole", "format": "text", "links": "none" }));
    assert!(data["part"] == "whole" && whole.contains("Menu entry") && whole.contains("Imprint"), "{whole}");
    assert!(whole.contains("writes with ink.") && whole.contains("Pen\t2"), "{whole}");
}

#[test]
fn a_reading_goes_on_where_it_ended_and_links_can_be_clicked() {
    let mut page = PageTest::open("pages.html");
    let (_, whole) = read(&mut page, json!({ "links": "none" }));
    let (mut told, mut after) = (String::new(), Value::Null);
    for _ in 0..50 {
        let mut arguments = json!({ "links": "none", "max_tokens": 180 });
        if after.is_string() {
            arguments["after"] = after.take();
        }
        let (data, text) = read(&mut page, arguments);
        told.push_str(&text);
        after = data["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(told, whole);
    let (_, text) = read(&mut page, json!({ "links": "refs" }));
    let reference = text.split("[ink](").nth(1).unwrap().split(')').next().unwrap();
    page.ok("click_element", json!({ "ref": reference }));
    assert_eq!(page.windows()[0]["title"], "Other page");
}

/// A server that shares a folder with two files in it.
fn with_files() -> (PageTest, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "aa").unwrap();
    std::fs::write(folder.path().join("b.txt"), "bbb").unwrap();
    let root = folder.path().to_str().unwrap().to_owned();
    let page = PageTest::open_flagged("tasks.html", &[], &[("OSO_BROWSER__UPLOAD_ROOT", &root)]);
    (page, folder)
}

/// Clicks a file field and returns the window of the chooser.
fn open_chooser(page: &mut PageTest, field: &str) -> Value {
    let selector = format!("//*[name*=\"{field}\"]");
    let fields = page.elements(None);
    let known = fields
        .iter()
        .find(|it| it["name"].as_str().is_some_and(|name| name.contains(field)) && it["role"] != "Text");
    assert!(known.is_some(), "{selector}: {fields:?}");
    let id = known.unwrap()["id"].clone();
    page.ok("click_element", json!({ "element_id": id }));
    let began = std::time::Instant::now();
    loop {
        let windows = page.windows();
        if let Some(chooser) =
            windows.iter().find(|window| window["title"].as_str().unwrap().starts_with("Choose files"))
        {
            return chooser.clone();
        }
        assert!(began.elapsed() < crate::PATIENCE, "{windows:?}");
    }
}

#[test]
fn a_file_chooser_is_answered_in_one_call() {
    let (mut page, _folder) = with_files();
    open_chooser(&mut page, "Photos");
    let chosen = page.ok("choose_files", json!({ "paths": ["a.txt", "b.txt"] }));
    assert_eq!(chosen["files"], 2);
    page.until_said("got a.txt 2, b.txt 3");
    assert_eq!(page.value_of("Photos"), "a.txt");
    assert_eq!(page.windows().len(), 1);
    assert_eq!(page.refused("choose_files", json!({ "paths": ["a.txt"] })).0, "WindowGone");
}

/// The chooser is not there when the list is checked: its first step opens it.
#[test]
fn a_file_chooser_is_opened_and_answered_in_one_list() {
    let (mut page, _folder) = with_files();
    let fields = page.elements(None);
    let is_field = |it: &&Value| it["role"] != "Text" && it["name"].to_string().contains("Photos");
    let field = fields.iter().find(is_field).unwrap()["id"].clone();
    let steps = json!([
        { "do": "click_element", "element_id": field },
        { "do": "choose_files", "paths": ["a.txt", "b.txt"] },
    ]);
    page.ok("act", json!({ "steps": steps }));
    page.until_said("got a.txt 2, b.txt 3");
}

/// What a page says is in its elements: reading its pixels would take the time of the wait.
#[test]
fn the_text_of_a_page_is_looked_for_in_its_elements() {
    let mut page = PageTest::open("tasks.html");
    let nowhere = json!([{ "type": "text_visible", "regex": "Nowhere" }]);
    let (_, message) = page.refused("wait_for", json!({ "any_of": nowhere, "timeout_ms": 300 }));
    assert!(message.contains("no element's name or value contains this text, within"), "{message}");
}

/// A text that comes late is found in the elements, without reading the pixels in between.
#[test]
fn a_text_that_comes_late_is_expected() {
    let mut page = PageTest::open("tasks.html");
    let slow =
        json!({ "do": "click_element", "selector": "//Button[name=\"Slow\"]", "expect": "text: Slow done" });
    let reply = page.ok("act", json!({ "steps": [slow] }));
    assert_eq!(reply["verdict"], "confirmed", "{reply}");
}

#[test]
fn a_file_chooser_is_a_window_with_a_field_and_buttons() {
    let (mut page, _folder) = with_files();
    let chooser = open_chooser(&mut page, "Photo")["window_uid"].clone();
    let names: Vec<String> = page
        .elements(chooser.as_str())
        .iter()
        .skip(2)
        .map(|it| format!("{} {}", it["role"].as_str().unwrap(), it["name"].as_str().unwrap()))
        .collect();
    assert_eq!(names, ["Edit File names", "Button Open", "Button Cancel"]);
    page.ok("set_value", json!({ "window_uid": chooser, "selector": "//Edit", "value": "a.txt" }));
    page.ok("click_element", json!({ "window_uid": chooser, "selector": "//Button[name=\"Open\"]" }));
    page.until_said("got a.txt 2");
    let chooser = open_chooser(&mut page, "Photo")["window_uid"].clone();
    page.ok("click_element", json!({ "window_uid": chooser, "selector": "//Button[name=\"Cancel\"]" }));
    assert_eq!(page.windows().len(), 1);
}

/// H-201 on browser: files that are not in the folder that is shared
#[test]
fn a_page_gets_no_file_from_elsewhere() {
    let (mut page, folder) = with_files();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.txt")).unwrap();
    let chooser = open_chooser(&mut page, "Photo")["window_uid"].clone();
    for (path, expected) in [
        ("/etc/passwd", "PermissionDenied"),
        ("../../etc/passwd", "PermissionDenied"),
        ("link.txt", "PermissionDenied"),
        ("none.txt", "BadRequest"),
    ] {
        let (code, message) = page.refused("choose_files", json!({ "paths": [path] }));
        assert_eq!(code, expected, "{path}: {message}");
        page.ok("set_value", json!({ "window_uid": chooser, "selector": "//Edit", "value": path }));
        let (code, message) = page.refused(
            "click_element",
            json!({ "window_uid": chooser, "selector": "//Button[name=\"Open\"]" }),
        );
        assert_eq!(code, expected, "{path}: {message}");
    }
    let (_, message) = page.refused("choose_files", json!({ "paths": ["a.text"] }));
    assert!(
        message.contains("there is no file 'a.text' below") && message.contains("near: a.txt"),
        "{message}"
    );
    assert_eq!(page.refused("choose_files", json!({ "paths": ["a.txt", "b.txt"] })).0, "BadRequest");
    let mut page = PageTest::open("tasks.html");
    open_chooser(&mut page, "Photo");
    let (code, message) = page.refused("choose_files", json!({ "paths": ["a.txt"] }));
    assert!(code == "PermissionDenied" && message.contains("browser.upload_root"), "{message}");
    page.ok("choose_files", json!({ "paths": [] }));
    assert_eq!(page.windows().len(), 1);
}

/// H-202 on browser: a rule about files holds for every way to hand one over
#[test]
fn a_rule_about_files_holds_in_the_chooser_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "aa").unwrap();
    let config = folder.path().join("config.json");
    let rules = json!({
        "browser": { "upload_root": folder.path(), "sandbox": false },
        "confirmation_required": [{ "role": "File", "name_regex": "." }, { "role": "Url", "name_regex": "other" }],
    });
    std::fs::write(&config, rules.to_string()).unwrap();
    let mut page = PageTest::open_flagged("tasks.html", &["--config", config.to_str().unwrap()], &[]);
    let chooser = open_chooser(&mut page, "Photo")["window_uid"].clone();
    assert_eq!(page.refused("choose_files", json!({ "paths": ["a.txt"] })).0, "ConfirmationRequired");
    page.ok("set_value", json!({ "window_uid": chooser, "selector": "//Edit", "value": "" }));
    page.ok("type_text", json!({ "window_uid": chooser, "text": "a.txt" }));
    let open = json!({ "window_uid": chooser, "selector": "//Button[name=\"Open\"]" });
    assert_eq!(page.refused("click_element", open).0, "ConfirmationRequired");
    assert_eq!(page.refused("press_key", json!({ "keys": "enter" })).0, "ConfirmationRequired");
    let url = site::address("other.html");
    assert_eq!(page.refused("open_url", json!({ "url": url })).0, "ConfirmationRequired");
    page.ok("open_url", json!({ "url": site::address("form.html") }));
}

#[test]
fn a_download_is_listed_and_kept_under_a_safe_name() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let mut page =
        PageTest::open_flagged("tasks.html", &[], &[("OSO_BROWSER__DOWNLOADS_DIR", kept.to_str().unwrap())]);
    assert_eq!(page.ok("downloads", json!({}))["downloads"], json!([]));
    page.click("Hyperlink", "Report");
    let listed = page.ok("downloads", json!({ "wait_ms": 20000 }))["downloads"][0].clone();
    assert_eq!(
        (&listed["state"], &listed["received_bytes"], &listed["path"]),
        (&json!("complete"), &json!(8), &Value::Null)
    );
    let tried = page.ok("keep_download", json!({ "id": listed["id"], "dry_run": true }));
    assert!(tried["dry_run"] == true && !kept.exists(), "{tried}");
    let file = page.ok("keep_download", json!({ "id": listed["id"] }));
    let path = PathBuf::from(file["path"].as_str().unwrap());
    assert_eq!(path.parent(), Some(kept.as_path()), "{file}");
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with(".csv") && !name.contains([';', '/']), "{name}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a,b\n1,2\n");
    let opened = page.ok("open_url", json!({ "url": site::address("report.csv") }));
    assert!(opened["note"].as_str().unwrap().contains("download"), "{opened}");
    assert_eq!(page.windows()[0]["title"], "Tasks");
}

/// H-203 on browser: a file that is larger than is allowed
#[test]
fn a_download_that_is_too_large_is_cancelled() {
    let mut page = PageTest::open_flagged("tasks.html", &[], &[("OSO_BROWSER__DOWNLOAD_MB", "1")]);
    page.click("Hyperlink", "Large");
    let listed = page.ok("downloads", json!({ "wait_ms": 20000 }))["downloads"][0].clone();
    assert!(listed["state"] == "cancelled" && listed["note"].to_string().contains("download_mb"), "{listed}");
    assert_eq!(page.refused("keep_download", json!({ "id": "d1" })).0, "BadRequest");
}

#[test]
fn what_pages_write_and_what_fails_is_in_the_log() {
    let mut page = PageTest::open("tasks.html");
    page.click("Button", "Log");
    let began = std::time::Instant::now();
    let lines = loop {
        let lines = page.ok("page_log", json!({}))["lines"].as_array().unwrap().clone();
        if lines.len() >= 4 || began.elapsed() > crate::PATIENCE {
            break lines;
        }
    };
    let has = |kind: &str, text: &str| {
        lines.iter().any(|line| line["kind"] == kind && line["text"].as_str().unwrap().contains(text))
    };
    assert!(has("console", "hello 7") && has("console", "careful") && has("error", "broken"), "{lines:?}");
    assert!(has("network", "404"), "{lines:?}");
    let last = lines.last().unwrap()["number"].clone();
    assert_eq!(page.ok("page_log", json!({ "after": last }))["lines"], json!([]));
    let warnings = page.ok("page_log", json!({ "kinds": ["network"] }))["lines"].as_array().unwrap().len();
    assert!(warnings >= 1 && warnings < lines.len());
}

#[test]
fn cookies_are_counted_and_forgotten() {
    let mut page = PageTest::open("tasks.html");
    page.click("Button", "Store");
    let state = page.ok("browser_state", json!({}));
    assert_eq!(state["cookies"], json!([{ "host": "127.0.0.1", "count": 2 }]), "{state}");
    assert_eq!(page.ok("clear_site_data", json!({ "what": "all" }))["cleared"], true);
    assert_eq!(page.ok("browser_state", json!({}))["cookies"], json!([]));
    page.ok("page_history", json!({ "go": "reload" }));
    page.click("Button", "Stored?");
    page.until_said("cookies 0, kept null");
}

/// H-301 on browser: a page that came of a form is loaded again, by each way that leads back to it.
#[test]
fn a_form_is_not_sent_again() {
    let mut page = PageTest::open("pay.html");
    page.click("Button", "Pay");
    page.until_said("Paid");
    assert_eq!(site::forms_sent("/paid.html"), 1);
    let again = page.ok("page_history", json!({ "go": "reload" }));
    assert!(again["note"].as_str().is_some_and(|note| note.contains("not sent again")), "{again}");
    page.ok("open_url", json!({ "url": site::address("other.html") }));
    for go in ["back", "back", "forward", "reload", "reload"] {
        page.ok("page_history", json!({ "go": go }));
    }
    assert_eq!(site::forms_sent("/paid.html"), 1);
}
