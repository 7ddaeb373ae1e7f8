//! Keys and pointer by the crate enigo, for compositors that offer none of the protocols that this program speaks itself.

use enigo::{Axis, Coordinate, Direction, Enigo, InputError, Keyboard, Mouse, Settings};

use super::hands::{Devices, no_devices};
use crate::error::{Error, Kind, Result};
use crate::model::Point;
use crate::model::input::{Button, Modifier};
use crate::platform::linux::keys::{Keysym, modifier_keysym};

/// What enigo counts for one click of a wheel.
const WHEEL_CLICK: i32 = 15;

pub struct EnigoDevices(Enigo);

impl EnigoDevices {
    pub fn open() -> Result<Self> {
        let settings = Settings { release_keys_when_dropped: true, ..Settings::default() };
        Enigo::new(&settings).map(Self).map_err(|problem| no_devices(&problem.to_string()))
    }
}

fn input_refused(problem: InputError) -> Error {
    Error::new(Kind::PlatformUnsupported, format!("the compositor did not accept the input: {problem}"))
}

fn direction(down: bool) -> Direction {
    if down { Direction::Press } else { Direction::Release }
}

impl Devices for EnigoDevices {
    fn set_modifier(&mut self, modifier: Modifier, down: bool) -> Result<()> {
        self.0.key(enigo::Key::Other(modifier_keysym(modifier)), direction(down)).map_err(input_refused)
    }

    fn prepare(&mut self, keysyms: &[Keysym]) -> Result<usize> {
        Ok(keysyms.len())
    }

    fn tap(&mut self, keysym: Keysym) -> Result<()> {
        self.0.key(enigo::Key::Other(keysym), Direction::Click).map_err(input_refused)
    }

    fn move_to(&mut self, at: Point) -> Result<()> {
        self.0.move_mouse(at.x, at.y, Coordinate::Abs).map_err(input_refused)
    }

    fn set_button(&mut self, button: Button, down: bool) -> Result<()> {
        let button = match button {
            Button::Left => enigo::Button::Left,
            Button::Right => enigo::Button::Right,
            Button::Middle => enigo::Button::Middle,
        };
        self.0.button(button, direction(down)).map_err(input_refused)
    }

    fn turn_wheel(&mut self, clicks: i32) -> Result<()> {
        let way = clicks.saturating_neg().saturating_mul(WHEEL_CLICK);
        self.0.scroll(way, Axis::Vertical).map_err(input_refused)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
}
