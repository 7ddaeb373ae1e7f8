//! Pages that make trouble: they open tabs and dialogs without end, hold on to the reader, crash, or never come.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{PATIENCE, PageTest, site};

/// H-204 on browser: a flood of tabs
#[test]
fn a_flood_of_tabs_is_bounded() {
    let mut page = PageTest::open("tasks.html");
    page.click("Button", "Many tabs");
    std::thread::sleep(Duration::from_secs(2));
    let tabs = page.windows().len();
    assert!((2..=20).contains(&tabs), "{tabs}");
    let first = page.windows()[0].clone();
    assert_eq!(first["title"], "Tasks");
    let other = page_uid(&mut page, "Other page");
    page.ok("window_action", json!({ "window_uid": other, "action": "close" }));
    page.ok("open_url", json!({ "url": site::address("form.html"), "new_tab": true }));
}

fn page_uid(page: &mut PageTest, title: &str) -> Value {
    let began = Instant::now();
    loop {
        let windows = page.windows();
        if let Some(window) = windows.iter().find(|window| window["title"] == title) {
            return window["window_uid"].clone();
        }
        assert!(began.elapsed() < PATIENCE, "{windows:?}");
    }
}

/// H-205 on browser: dialogs without an end
#[test]
fn a_page_that_opens_dialogs_without_end_is_closed() {
    let mut page = PageTest::open("tasks.html");
    page.ok("open_url", json!({ "url": site::address("form.html"), "new_tab": true }));
    let tasks = page_uid(&mut page, "Tasks");
    page.ok("click_element", json!({ "window_uid": tasks, "selector": "//Button[name=\"Endless\"]" }));
    let began = Instant::now();
    let mut answered = 0;
    loop {
        let windows = page.windows();
        let uid = |window: &Value| window["window_uid"].as_str().unwrap().to_owned();
        let Some(dialog) = windows.iter().map(uid).find(|uid| uid.ends_with("/dialog")) else {
            if !windows.iter().any(|window| uid(window) == tasks.as_str().unwrap()) {
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{windows:?}");
            continue;
        };
        let reply =
            page.call("click_element", json!({ "window_uid": dialog, "selector": "//Button[name=\"OK\"]" }));
        answered += u32::from(reply["ok"] == true);
        assert!(answered < 40 && began.elapsed() < PATIENCE, "{answered} answered: {reply}");
    }
    assert!(answered >= 10, "{answered}");
    assert_eq!(page.windows()[0]["title"], "Sign up");
}

/// H-206 on browser: a server that never answers, and one that never ends
#[test]
fn a_page_that_never_comes_costs_its_time_and_no_more() {
    let mut page = PageTest::open("form.html");
    let began = Instant::now();
    let (code, message) =
        page.refused("open_url", json!({ "url": site::address("silent"), "timeout_ms": 1500 }));
    assert_eq!(code, "Timeout", "{message}");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(page.shows("Button", "Send"));
    let opened = page.ok("open_url", json!({ "url": site::address("endless"), "timeout_ms": 1500 }));
    assert!(opened["loading"] == true && opened["note"].as_str().unwrap().contains("loading"), "{opened}");
    let stopped = page.ok("page_history", json!({ "go": "stop" }));
    assert_eq!(stopped["url"], site::address("endless"));
    let opened = page.ok("open_url", json!({ "url": site::address("form.html") }));
    assert_eq!((&opened["title"], &opened["loading"]), (&json!("Sign up"), &Value::Null));
}

#[test]
fn a_page_that_asks_before_it_is_left_is_answered() {
    let mut page = PageTest::open("tasks.html");
    page.click("Button", "Hold");
    for (answer, title) in [("Stay", "Tasks"), ("Leave", "Sign up")] {
        let receipt = page.click("Hyperlink", "Elsewhere");
        let dialog = receipt["new_dialogs"][0]["window_uid"].clone();
        assert!(dialog.is_string(), "{receipt}");
        let selector = format!("//Button[name=\"{answer}\"]");
        page.ok("click_element", json!({ "window_uid": dialog, "selector": selector }));
        page_uid(&mut page, title);
    }
}

#[test]
fn what_a_page_would_ask_a_person_for_is_denied() {
    let mut page = PageTest::open("tasks.html");
    page.click("Button", "Where");
    page.until_said("refused 1");
}

/// The processes that draw the pages of a browser: those of its kind among its descendants.
fn renderers(browser: u64) -> Vec<u32> {
    let line = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let browser = u32::try_from(browser).unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|&pid| line(pid).contains("--type=renderer") && descends(pid, browser)).collect()
}

/// Whether a process was started by another one, directly or by those between.
fn descends(pid: u32, ancestor: u32) -> bool {
    let parent = |pid: u32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse::<u32>().ok()
    };
    std::iter::successors(parent(pid), |&pid| parent(pid)).any(|pid| pid == ancestor)
}

#[test]
fn a_page_that_crashes_is_said_and_opened_again() {
    let mut page = PageTest::open("form.html");
    assert!(page.shows("Button", "Send"));
    let browser = page.windows()[0]["pid"].as_u64().unwrap();
    let drawing = renderers(browser);
    assert!(!drawing.is_empty());
    for pid in drawing {
        let _ = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    }
    let began = Instant::now();
    loop {
        let reply = page.call("look", json!({}));
        if reply.to_string().contains("has crashed") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{reply}");
        std::thread::sleep(Duration::from_millis(50));
    }
    let (code, message) = page.refused("click_element", json!({ "selector": "//Button[name=\"Send\"]" }));
    assert!(code == "WindowGone" || code == "ElementNotFound", "{code} {message}");
    let opened = page.ok("open_url", json!({ "url": site::address("form.html") }));
    assert_eq!(opened["title"], "Sign up", "{opened}");
    assert!(page.shows("Button", "Send"));
}
