//! What a browser answered, made sense of: documents into trees. Plain Rust, tested on every system with recorded
//! snapshots.
//!
//! ```text
//!   snapshot ── the browser's arrays as linked nodes
//!     ├── roles: what an element is       ├── names: what it is called
//!     ├── states: what holds of it        ├── clip: what of it can be seen
//!     ├── tree: which of it is in the tree, frame by frame
//!     ├── reading: what of it is there to be read   ├── lines: texts with the blanks that count
//!     └── blocked: pages that a site shows to machines
//!   accessible ── the browser's own accessibility tree, where it makes no snapshots
//! ```

pub mod accessible;
pub mod blocked;
mod clip;
pub mod handle;
mod lines;
pub mod names;
mod parts;
pub mod reading;
pub mod roles;
mod rows;
pub mod snapshot;
mod states;
pub mod tree;

#[cfg(test)]
mod tests;
