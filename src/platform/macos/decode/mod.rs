//! What the answers of macOS mean: plain Rust over plain records, so that it is tested on every system.

#![cfg_attr(not(any(target_os = "macos", test)), allow(dead_code, reason = "asked by the macOS half alone"))]

pub mod apps;
pub mod changes;
pub mod coordinates;
pub mod desktop;
pub mod errors;
pub mod input;
pub mod interaction;
pub mod keys;
pub mod lease;
pub mod names;
pub mod ocr;
pub mod options;
pub mod permissions;
pub mod pixels;
pub mod quarantine;
pub mod records;
pub mod roles;
pub mod session;
pub mod tree;
pub mod watch;
