//! `os-screen-observer`: lets an AI agent see and operate a desktop, and a person watch, test and trust that.
//!
//! The way of a call: a surface ([`mcp`], [`terminal`]) makes a [`gate::Call`]; [`gate::Gate::pass`] finds the
//! [`tool::Spec`], parses, allows, charges, resolves, asks for consent, runs, redacts and records; the
//! tool works through the [`observer`], the observer through a [`platform`].
//!
//! What holds, everywhere:
//!
//! - Only `mcp` writes to stdout while serving; `terminal` does for the subcommands that people run, and
//!   [`ocr::worker`] in the process that it has for itself.
//! - Only `platform` knows an operating system, and only it may contain `unsafe`.
//! - Only `gate` runs a tool or makes a [`gate::Permit`], and acting without one does not compile.
//! - `observer` and `model` never see JSON values, HTTP or JSON-RPC.
//! - Nothing outside a tool's declaration is keyed by its name.
//! - The mock passes through every line that the real platforms do.
//! - Only `vlm` calls another machine, and only the one that the config names.
//! - What is stored or sent was redacted first. What was shortened says so.

// In reading order.
pub mod app;
pub mod events;
pub mod gate;
pub mod tool;
pub mod tools;

pub mod model;
pub mod observer;
pub mod ocr;
pub mod platform;
pub mod scenario;
pub mod session;
pub mod trace;
pub mod vlm;

pub mod http;
pub mod mcp;
pub mod terminal;

pub mod cli;
pub mod clock;
pub mod config;
pub mod docs;
pub mod doctor;
pub mod error;
pub mod files;
pub mod halt;
pub mod log;
pub mod metrics;
pub mod runtime;
pub mod secrets;
pub mod text;
pub mod tokens;
