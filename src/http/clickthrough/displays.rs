//! The displays of the desktop, and the parts of them that requests name.

use std::sync::Arc;

use serde_json::{Value, json};

use super::fields::Form;
use super::{Answer, Failure, RouteAnswer, call};
use crate::http::surface::Surface;

pub async fn displays(surface: Arc<Surface>, _: Form) -> RouteAnswer {
    Ok(Answer::Own(json!({"displays": displays_of(&surface).await?})))
}

/// The monitors, the primary one first.
async fn displays_of(surface: &Surface) -> Result<Vec<Value>, Failure> {
    let reply = call(surface, "get_monitors", Value::Null).await?;
    let mut monitors = reply["monitors"].as_array().cloned().unwrap_or_default();
    monitors.sort_by_key(|monitor| monitor["primary"] != true);
    let shown = monitors.iter().enumerate().map(|(index, monitor)| {
        let area = &monitor["bounds"];
        json!({
            "index": index, "x": area["x"], "y": area["y"], "width": area["width"], "height": area["height"],
            "is_primary": monitor["primary"], "scale_factor": monitor["scale_factor"],
        })
    });
    Ok(shown.collect())
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    pub x: i64,
    pub y: i64,
    pub width: i64,
    pub height: i64,
}

impl Area {
    /// All four numbers, or none.
    pub fn read(form: &mut Form) -> Option<Self> {
        const NAMES: [&str; 4] = ["region_x", "region_y", "region_width", "region_height"];
        let said = NAMES.iter().any(|name| form.has(name));
        for missing in NAMES.iter().filter(|name| said && !form.has(name)) {
            form.fault(missing, "missing", "a region needs all four of its numbers");
        }
        Self::read_named(form, NAMES)
    }

    pub fn read_named(form: &mut Form, [x, y, width, height]: [&str; 4]) -> Option<Self> {
        let [x, y] = [x, y].map(|name| form.int(name, -32_768..=32_767));
        let [width, height] = [width, height].map(|name| form.int(name, 1..=65_535));
        Some(Self { x: x?, y: y?, width: width?, height: height? })
    }

    pub fn of(value: &Value) -> Option<Self> {
        let number = |name: &str| value[name].as_i64();
        Some(Self { x: number("x")?, y: number("y")?, width: number("width")?, height: number("height")? })
    }

    pub fn json(self) -> Value {
        json!({"x": self.x, "y": self.y, "width": self.width, "height": self.height})
    }

    fn encloses(&self, other: &Area) -> bool {
        other.x >= self.x
            && other.y >= self.y
            && other.x + other.width <= self.x + self.width
            && other.y + other.height <= self.y + self.height
    }
}

/// The display that a request meant, and how it was found.
pub struct Display {
    /// Absent where the desktop does not know its monitors.
    pub area: Option<Area>,
    index: usize,
    pub facts: Value,
    pub screen: Value,
}

impl Display {
    /// A number that no display has means the first, and the answer says so.
    pub async fn find(surface: &Surface, requested: i64) -> Result<Self, Failure> {
        let displays = displays_of(surface).await?;
        let wanted = usize::try_from(requested).ok().filter(|index| *index < displays.len());
        let index = wanted.unwrap_or(0);
        let facts = displays.into_iter().nth(index).unwrap_or(Value::Null);
        let fallback = wanted.is_none() && requested != 0;
        let screen = json!({"requested": requested, "selected": index, "fallback": fallback});
        Ok(Self { area: Area::of(&facts), index, facts, screen })
    }

    pub fn check_region(&self, area: Area) -> Result<Area, Failure> {
        match self.area {
            Some(whole) if !whole.encloses(&area) => {
                let details = json!({"region": area.json(), "display": whole.json(), "screen": self.index});
                let message = "the region is not inside the display";
                Err(Failure::new(400, "region_outside_display", message).with(details))
            }
            _ => Ok(area),
        }
    }

    pub fn check_point(&self, x: i64, y: i64) -> Result<(), Failure> {
        match self.area {
            Some(whole) if !whole.encloses(&Area { x, y, width: 1, height: 1 }) => {
                let details = json!({"x": x, "y": y, "display": whole.json()});
                let message = "the target is not on the display";
                Err(Failure::new(400, "target_outside_display", message).with(details))
            }
            _ => Ok(()),
        }
    }
}

/// Any whole number: what names no display falls back.
pub fn screen_field(form: &mut Form) -> i64 {
    form.int("screen", i64::MIN..=i64::MAX).unwrap_or(0)
}

/// A display, and the region of it that is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    pub screen: i64,
    pub area: Option<Area>,
}

impl Part {
    pub fn read(form: &mut Form) -> Self {
        Self { screen: screen_field(form), area: Area::read(form) }
    }

    /// The region that was named, or the whole display.
    pub async fn find(self, surface: &Surface) -> Result<(Display, Area), Failure> {
        let (display, area) = self.find_known(surface).await?;
        let unknown = "this desktop does not report its displays; give a region";
        Ok((display, area.ok_or_else(|| Failure::bad_request(unknown))?))
    }

    /// The same, or nothing where the desktop does not tell its displays.
    pub async fn find_known(self, surface: &Surface) -> Result<(Display, Option<Area>), Failure> {
        let display = Display::find(surface, self.screen).await?;
        let area = self.area.map(|area| display.check_region(area)).transpose()?.or(display.area);
        Ok((display, area))
    }
}
