//! Traces: what was called and what came of it, written while it happens and played again later.

pub mod format;
