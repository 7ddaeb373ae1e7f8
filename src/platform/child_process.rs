//! What programs that we start get from us.

use std::process::Command;

/// Our settings may hold keys that are nobody else's business.
pub fn without_our_settings(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("OSO_")) {
        command.env_remove(name);
    }
    command
}
