//! Jobs: a goal in words, planned step by step, within limits and on record.
//!
//! A job has no way of its own to the desktop. It makes calls, the gate judges them, and the job's
//! [`Scope`](crate::tool::scope::Scope) only narrows what the gate allows. Before each input its intent is committed to
//! the [`store`], with the lease that the worker holds; so an input is sent at most once, also after a crash.

pub mod artifacts;
pub mod desk;
pub mod dialect;
pub mod fence;
pub mod hosting;
pub mod learning;
pub mod lease;
pub mod limits;
pub mod money;
pub mod output;
mod pausing;
pub mod planner;
pub mod precheck;
mod repeats;
pub mod resuming;
pub mod run;
pub mod service;
pub mod spec;
pub mod status;
pub mod store;
pub mod supervisor;
pub mod tables;
pub mod view;
pub mod watch;
pub mod web;
pub mod worker;

#[cfg(test)]
mod tests;
