//! What stands in for the accessibility bus: an honest "no" to trees, and hands without eyes.

use super::Linux;
use super::input::Drag;
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::action::Act;
use crate::model::{Tree, Window};
use crate::platform::{Accessibility, Done, Input, Patience, Route};

fn no_bus<T>() -> Result<T> {
    Err(Error::new(Kind::PlatformUnsupported, "this build does not speak with the accessibility bus"))
}

impl Accessibility for Linux {
    fn tree(&self, _: &Window, _: &Patience) -> Result<Tree> {
        no_bus()
    }
}

impl Input for Linux {
    fn act(&self, act: &Act, cancel: &Cancel) -> Result<Done> {
        let route = match act {
            Act::Click { at: Some(at), button, count, .. } => {
                self.click(*at, *button, *count)?;
                Route::Pointer
            }
            Act::Scroll { at: Some(at), clicks, .. } => {
                self.scroll(*at, *clicks)?;
                Route::Pointer
            }
            Act::Hover { at: Some(at), .. } => {
                self.move_to(*at)?;
                Route::Pointer
            }
            Act::Drag { from, to, modifiers, duration } => {
                let drag = Drag { from: *from, to: *to, modifiers, duration: *duration };
                self.drag(&drag, cancel)?;
                Route::Pointer
            }
            Act::Type { element: None, text } => {
                self.type_text(text, cancel)?;
                Route::Keyboard
            }
            Act::Key { element: None, keys } => {
                self.press_keys(keys)?;
                Route::Keyboard
            }
            _ => return no_bus(),
        };
        Ok(Done { route, ..Done::default() })
    }

    fn release_all(&self) {
        self.let_go();
    }
}
