//! The tests that need no desktop: an app on the mock in this process, and the built binary as clients see it.
//! One program for all of them, because linking it thirty times took longer than all tests.
#![allow(clippy::disallowed_methods, reason = "a test runs in real time and sets up its own environment")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

#[path = "../support/mod.rs"]
mod support;

/// The parsed code, for the tests of its structure.
#[allow(dead_code, reason = "each test uses its own part")]
#[path = "../support/source.rs"]
mod source;

mod act;
mod acting;
mod answers;
mod apps;
mod assert;
mod background;
mod click_text;
#[cfg(feature = "http")]
mod clickthrough;
#[cfg(all(feature = "http", feature = "jobs"))]
mod client_code;
#[cfg(all(feature = "http", feature = "jobs"))]
mod client_library;
mod code_figures;
mod commands;
mod consent;
#[cfg(feature = "http")]
mod docs_changelog;
mod docs_config;
#[cfg(feature = "jobs")]
mod docs_jobs;
mod docs_links;
mod docs_scenarios;
#[cfg(feature = "http")]
mod drop_in;
#[cfg(feature = "jobs")]
mod evals;
#[cfg(target_os = "linux")]
mod exec;
mod find;
mod gate;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "jobs")]
mod job_commands;
mod job_control;
#[cfg(all(feature = "jobs", target_os = "linux"))]
mod job_crashes;
#[cfg(all(feature = "jobs", feature = "http", target_os = "linux"))]
mod job_desks;
#[cfg(feature = "jobs")]
mod job_host;
#[cfg(feature = "jobs")]
mod job_promises;
#[cfg(all(feature = "jobs", feature = "http"))]
mod job_server;
#[cfg(feature = "jobs")]
mod jobs;
mod lean;
mod listings;
mod look;
mod observe;
mod ocr;
mod one_reading;
mod outline;
mod own_words;
mod pictures;
mod places;
#[cfg(feature = "jobs")]
mod planners;
#[cfg(feature = "jobs")]
mod recipes;
mod record;
mod refs;
mod region;
mod resources;
mod role_literals;
mod rooms;
mod samples;
#[cfg(all(feature = "jobs", feature = "http"))]
mod screenjob;
mod secrets;
mod setup;
mod spawning;
mod stdio;
mod surface;
mod tasks;
#[cfg(feature = "jobs")]
mod test_runs;
mod tokens;
mod trace;
mod typed_into;
mod vision;
mod vlm;
mod wait;
#[cfg(all(feature = "jobs", feature = "http", target_os = "linux"))]
mod web_tasks;
mod windows_and_programs;
#[cfg(target_os = "linux")]
mod wsl;
