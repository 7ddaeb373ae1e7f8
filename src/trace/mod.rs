//! Traces: what was called and what came of it, written while it happens and played again later.

pub mod compare;
pub mod format;
pub mod html;
pub mod record;
pub mod show;
pub mod story;
