//! Nothing of the browser outlives the server, however that ends.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::{PATIENCE, PageTest};

/// The browser's processes, by the folder that only they name; and the folder.
fn browser_of(page: &mut PageTest) -> (PathBuf, Vec<u32>) {
    let pid = page.windows()[0]["pid"].as_u64().unwrap();
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).into_owned();
    let folder = line.split('\0').find_map(|word| word.strip_prefix("--user-data-dir=")).unwrap().to_owned();
    let processes = processes_with(&folder);
    assert!(processes.len() > 1, "{processes:?}");
    (PathBuf::from(folder), processes)
}

fn processes_with(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let names = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(folder)
    };
    pids.filter(names).collect()
}

fn check(end: impl FnOnce(&mut PageTest)) {
    let mut page = PageTest::open("form.html");
    let (folder, _) = browser_of(&mut page);
    end(&mut page);
    let began = Instant::now();
    while !processes_with(&folder.to_string_lossy()).is_empty() || folder.exists() {
        assert!(began.elapsed() < PATIENCE, "{:?} lives", processes_with(&folder.to_string_lossy()));
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(page: &PageTest, signal: Signal) {
    let pid = Pid::from_raw(page.client.process_id().try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn the_browser_ends_with_the_clients_input() {
    check(|page| page.client.close_input());
}

#[test]
fn the_browser_ends_when_the_server_is_told_to_stop() {
    check(|page| signal(page, Signal::TERM));
}

#[test]
fn the_browser_ends_when_the_server_is_killed() {
    check(|page| signal(page, Signal::KILL));
}

#[test]
fn a_browser_that_is_killed_is_told_and_the_server_lives_on() {
    let mut page = PageTest::open("form.html");
    let pid = page.windows()[0]["pid"].as_u64().unwrap();
    let status = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(status.success());
    let began = Instant::now();
    loop {
        let reply = page.call("list_windows", serde_json::json!({}));
        if reply["ok"] == false {
            assert!(reply["error"]["message"].as_str().unwrap().contains("browser has ended"), "{reply}");
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{reply}");
    }
    page.ok("get_budget_status", serde_json::json!({}));
}
