//! Jobs: a goal in words, planned step by step, within limits and on record.
//!
//! A job has no way of its own to the desktop. It makes calls, the gate judges them, and the job's
//! [`Scope`](crate::tool::scope::Scope) only narrows what the gate allows. Before each input its intent is committed to
//! the [`store`], with the lease that the worker holds; so an input is sent at most once, also after a crash.

pub mod fence;
pub mod lease;
pub mod limits;
pub mod money;
pub mod output;
pub mod planner;
mod repeats;
pub mod run;
pub mod spec;
pub mod status;
pub mod store;

#[cfg(test)]
mod tests;
