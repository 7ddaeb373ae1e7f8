//! Whole tasks in few calls: what look and act save, held to what the README says.
//!
//! `cargo test --test suite tasks -- --nocapture` prints the README's table; the tokenizer is o200k.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that fails may panic, and this one tells figures"
)]

use crate::support::tasks::{TASKS, Way, tokens_of_tools};

fn count(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}

/// The numbers in the README's row of this name.
fn told(name: &str) -> Vec<usize> {
    let readme = crate::support::read("README.md");
    let start = format!("| {name} |");
    let row = readme.lines().find(|line| line.starts_with(&start)).unwrap_or_default();
    row.split(['|', '/', ' ']).filter_map(|cell| cell.parse().ok()).collect()
}

/// Times and numbers of steps have a digit more or less from run to run.
#[track_caller]
fn check_told(name: &str, measured: &[usize]) {
    let told = told(name);
    let near = |(measured, told): (&usize, &usize)| measured.abs_diff(*told) * 20 <= *told;
    let same = told.len() == measured.len() && measured.iter().zip(&told).all(near);
    assert!(same, "the README says {told:?} of {name}, measured are {measured:?}");
}

fn saved(slow: usize, fast: usize) -> usize {
    100 - fast * 100 / slow.max(1)
}

#[test]
fn every_task_takes_two_calls_instead_of_eight_or_more() {
    println!("| task | one tool per call: calls / tokens | look and act: calls / tokens | tokens saved |");
    println!("|---|---:|---:|---:|");
    let mut rows = Vec::new();
    for task in TASKS.iter().filter(|task| task.is_compared()) {
        let (slow, fast) = (task.run(Way::Contract, &count), task.run(Way::LookAndAct, &count));
        assert!(fast.calls <= 2 && slow.calls >= 8, "{}: {fast:?} {slow:?}", task.name);
        let saved = saved(slow.tokens, fast.tokens);
        let row = [slow.calls, slow.tokens, fast.calls, fast.tokens, saved];
        println!("| {} | {} / {} | {} / {} | {} % |", task.name, row[0], row[1], row[2], row[3], row[4]);
        rows.push((task.name, row));
    }
    let (full, agent) = (tokens_of_tools("full", &count), tokens_of_tools("agent", &count));
    println!("| list of tools | {full} | {agent} | {} % |", saved(full, agent));
    rows.iter().for_each(|(name, row)| check_told(name, row));
    check_told("list of tools", &[full, agent, saved(full, agent)]);
}

#[test]
fn an_agent_can_do_every_scenario_with_look_and_act() {
    for task in TASKS.iter().filter(|task| !task.is_compared()) {
        assert!(task.run(Way::LookAndAct, &count).calls <= 2, "{}", task.name);
    }
    for file in std::fs::read_dir(crate::support::project().join("scenarios")).unwrap() {
        let name = format!("scenarios/{}", file.unwrap().file_name().to_str().unwrap());
        assert!(TASKS.iter().any(|task| task.scenario == name), "no task for {name}");
    }
}
