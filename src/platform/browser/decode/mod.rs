//! What a browser answered, made sense of: documents into trees. Plain Rust, tested on every system with recorded
//! snapshots.
//!
//! ```text
//!   snapshot ── the browser's arrays as linked nodes
//!     ├── roles: what an element is       ├── names: what it is called
//!     ├── states: what holds of it        ├── clip: what of it can be seen
//!     └── tree: which of it is in the tree, frame by frame
//! ```

mod clip;
pub mod handle;
pub mod names;
pub mod roles;
pub mod snapshot;
mod states;
pub mod tree;

#[cfg(test)]
mod tests;
