//! What programs that we start get from us.

use std::process::Command;

use crate::config::own_variable_names;

/// Our settings may hold keys that are nobody else's business.
pub fn without_our_settings(command: &mut Command) -> &mut Command {
    for name in own_variable_names() {
        command.env_remove(name);
    }
    command
}
