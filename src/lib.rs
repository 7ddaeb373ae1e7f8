//! `os-screen-observer`: lets an AI agent see and operate a desktop, and a person watch, test and trust that.
//!
//! The way of a call: a surface ([`mcp`], [`terminal`]) makes a [`tool::call::Call`]; [`gate::Gate::pass`] finds the
//! [`tool::Spec`], parses, allows, charges, resolves, asks for consent, runs, redacts and records; the
//! tool works through the [`observer`], the observer through a [`platform`].
//!
//! What holds everywhere, and what holds it:
//!
//! - Modules import each other in one direction, by the table of `tests/suite/rooms.rs`.
//! - Only `gate` grants a [`observer::Permit`] (the same test), and a tool does not run without one (a type).
//! - Nothing prints to stdout or stderr, except where a lint is switched off with its reason.
//! - Only `platform` may contain `unsafe` (a lint).
//! - Outside of `platform` only [`clock`] sleeps and reads the time, and only [`config`] reads the environment (a lint).
//! - Data from outside is never unwrapped (a lint).
//! - Every string of a reply passes [`privacy::scrub`] (tests/suite/gate.rs).

// In reading order.
pub mod app;
pub mod budget;
#[cfg(feature = "jobs")]
pub mod eval;
pub mod events;
pub mod gate;
#[cfg(feature = "jobs")]
pub mod jobs;
#[cfg(feature = "jobs")]
pub mod recipes;
pub mod tool;
pub mod tools;

pub mod model;
pub mod observer;
pub mod ocr;
pub mod platform;
pub mod privacy;
pub mod scenario;
pub mod session;
pub mod trace;
pub mod vlm;

#[cfg(feature = "http")]
pub mod http;
#[cfg(not(feature = "http"))]
#[path = "http/disabled.rs"]
pub mod http;
pub mod mcp;
pub mod terminal;

pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod docs;
pub mod doctor;
pub mod error;
pub mod files;
pub mod guessing;
pub mod halt;
pub mod log;
pub mod machine;
pub mod metrics;
pub mod model_client;
pub mod pattern;
pub mod random;
pub mod running;
pub mod runtime;
pub mod secrets;
pub mod setup;
pub mod spawn;
pub mod text;
pub mod tokens;
