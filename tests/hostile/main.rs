//! Hostile and bad input, and what must come of it: every row of `rows.rs`, on every surface that it can reach.
//! "Nothing was done" is read from the mock's action log, never from a reply.
//!
//! A test says which rows it holds in the first line of its comment: `/// H-01, H-02 on REST, /mcp: what holds`.
//! `table.rs` collects these lines from all tests of the project into docs/security.md
//! (`UPDATE_DOCS=1 cargo test --features desktop_tests --test hostile`), and fails for a row without a test or a reason.
#![allow(clippy::disallowed_methods, reason = "a test runs in real time and sets up its own environment")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

#[path = "../support/mod.rs"]
mod support;

mod bombs;
mod broken;
mod costs;
mod everywhere;
mod exec;
mod face;
mod folder;
mod front;
mod gates;
mod injection;
mod lost;
mod paths;
mod persons_word;
#[cfg(feature = "jobs")]
mod planned;
mod pressed;
mod rows;
mod screen;
mod secrets;
mod start;
mod stdio;
mod surroundings;
mod table;
mod typed;
mod unread;
