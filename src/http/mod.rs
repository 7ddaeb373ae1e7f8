//! HTTP, a cargo feature: the tools as REST, MCP over HTTP, events, and the page for people.
//!
//! It wraps calls and replies and judges none of them: behind the front door, which asks who calls, stands
//! the same gate as for every other surface.

#[cfg(feature = "http")]
mod adapters;
#[cfg(feature = "http")]
mod clickthrough;
#[cfg(feature = "http")]
mod control;
#[cfg(not(feature = "http"))]
mod disabled;
#[cfg(feature = "http")]
mod events;
#[cfg(feature = "http")]
pub mod guard;
#[cfg(feature = "http")]
mod inspector;
#[cfg(feature = "http")]
mod mcp;
#[cfg(feature = "http")]
mod meter;
#[cfg(feature = "http")]
mod metrics;
#[cfg(feature = "http")]
mod openapi;
#[cfg(feature = "http")]
mod present;
#[cfg(feature = "http")]
pub mod query;
#[cfg(feature = "http")]
mod router;
#[cfg(feature = "http")]
mod server;
#[cfg(feature = "http")]
mod surface;
#[cfg(feature = "http")]
pub mod token;
#[cfg(feature = "http")]
mod traces;

#[cfg(not(feature = "http"))]
pub use disabled::{COMPILED_IN, Listening, start};
#[cfg(feature = "http")]
pub use server::{COMPILED_IN, Listening, start};

/// Why HTTP is not served.
#[derive(Debug)]
pub enum NotServed {
    /// A port that is taken, a build without it: whoever has another surface can do without this one.
    Unavailable(String),
    /// Serving would open what the owner shut, or what nobody meant to open.
    Refused(String),
}

impl From<NotServed> for String {
    fn from(reason: NotServed) -> String {
        match reason {
            NotServed::Unavailable(why) | NotServed::Refused(why) => why,
        }
    }
}

/// What other origins may ask with, where the config lets them in.
#[cfg(feature = "http")]
const ALLOWED_METHODS: &str = "GET, POST, DELETE, OPTIONS";
