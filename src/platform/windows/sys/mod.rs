//! The half that asks Windows. It is compiled for Windows only; what the answers mean is in `decode`.

mod accessibility;
mod adapter;
mod apps;
mod capture;
mod clipboard;
mod desktop;
mod foreground;
pub mod host;
mod input;
mod integrity;
mod launch;
mod lease;
mod ocr;
mod processes;
mod watch;

use super::decode;
