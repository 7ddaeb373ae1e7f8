//! Which desktop is meant: its display and its buses, named instead of taken from this process's environment,
//! so that a private desktop can be served beside the user's own.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// As `DISPLAY` has it: `:7`.
    pub display: String,
    /// The file with the key to the display.
    pub xauthority: Option<PathBuf>,
    /// The address of the session bus.
    pub bus: Option<String>,
}
