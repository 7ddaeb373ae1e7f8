//! A real desktop with programs that nobody here wrote, driven through the built binary over MCP.
//!
//! What a call did is read from the program's own state by `walk.py`, which shares nothing with the server; the
//! server's own replies prove nothing. Tests wait for conditions and never for a time. A desktop has one pointer and one
//! focus, so each test has one to itself while it runs.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "a test runs in real time and sets up its own environment")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

#[path = "../support/mod.rs"]
mod support;

mod agreement;
mod background;
mod browser;
mod calculators;
mod company;
mod consent;
mod covered;
mod dates;
mod desk;
mod dialogs;
mod editor;
mod faults;
mod field_programs;
mod file_manager;
mod first_look;
mod gone;
mod gtk_dialogs;
mod isolated;
mod job_desks;
mod keys;
mod no_bus;
mod page_server;
mod passwords;
mod pictures;
mod private;
mod qt_lists;
mod random_act;
mod reading;
mod reported;
mod resources;
mod terminal;
mod test_runs;
mod widgets;
mod windows_and_programs;
mod writer;
