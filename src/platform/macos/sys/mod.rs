//! The half that asks macOS. It is compiled for macOS only; what the answers mean is in `decode`.

mod accessibility;
mod adapter;
mod apps;
mod capture;
mod clipboard;
mod desktop;
mod foundation;
pub mod host;
mod input;
mod launch;
mod layout;
mod ocr;
mod permissions;
mod screenshots;
mod watch;

use super::decode;
