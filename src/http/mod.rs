//! HTTP, a cargo feature: the tools as REST, MCP over HTTP, events, and the page for people.
//!
//! It wraps calls and replies and judges none of them: behind the front door, which asks who calls, stands
//! the same gate as for every other surface. Builds without the feature have `disabled.rs` in its place.

mod adapters;
mod clickthrough;
mod control;
mod events;
pub mod guard;
mod inspector;
#[cfg(feature = "jobs")]
mod job_socket;
#[cfg(feature = "jobs")]
mod jobs;
mod mcp;
mod meter;
mod metrics;
mod not_served;
mod openapi;
mod places;
mod present;
pub mod query;
mod router;
#[cfg(feature = "jobs")]
mod screenjob;
mod server;
mod surface;
pub mod token;
mod traces;

pub use not_served::NotServed;
pub use server::{COMPILED_IN, Listening, start};
pub use token::read_token;

/// What other origins may ask with, where the config lets them in.
const ALLOWED_METHODS: &str = "GET, POST, PATCH, DELETE, OPTIONS";
