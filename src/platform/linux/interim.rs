//! What stands in for the accessibility bus: an honest "no" to trees.

use super::Linux;
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::action::Act;
use crate::platform::{Done, Input};

fn no_bus<T>() -> Result<T> {
    Err(Error::new(Kind::PlatformUnsupported, "this build does not speak with the accessibility bus"))
}

impl Input for Linux {
    fn act(&self, _: &Act, _: &Cancel) -> Result<Done> {
        no_bus()
    }

    fn release_all(&self) {}
}
