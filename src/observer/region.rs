//! The region that input is confined to: the one place that keeps every pointer, and every element that is worked
//! by whatever route, within what the owner allows. Every act passes here, right before it is sent.
//!
//! A region is convex, so a straight way between two points in it stays in it.

use super::Observer;
use crate::clock::Cancel;
use crate::config::limits;
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Handle};
use crate::model::{Point, Rect};
use crate::platform::{Patience, check_within, outside};

/// Where input may go; everywhere unless it is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputRegion(Option<Rect>);

/// What an act reaches for.
#[derive(Clone, Debug, PartialEq)]
enum PointerReach<'a> {
    Points(Vec<Point>),
    Element(&'a Handle),
    /// Wherever the pointer is now.
    Pointer,
    /// Keys go to what has the focus; no place is named.
    Keyboard,
}

fn pointer_reach(act: &Act) -> PointerReach<'_> {
    match act {
        Act::Click { element: Some(element), .. }
        | Act::Scroll { element: Some(element), .. }
        | Act::Hover { element: Some(element), .. }
        | Act::Type { element: Some(element), .. }
        | Act::Key { element: Some(element), .. }
        | Act::Invoke { element }
        | Act::Focus { element }
        | Act::SetValue { element, .. }
        | Act::Select { element, .. } => PointerReach::Element(element),
        Act::Click { at: Some(at), .. }
        | Act::Scroll { at: Some(at), .. }
        | Act::Hover { at: Some(at), .. } => PointerReach::Points(vec![*at]),
        Act::Click { .. } | Act::Scroll { .. } | Act::Hover { .. } => PointerReach::Pointer,
        Act::Drag { from, to, .. } => PointerReach::Points(vec![*from, *to]),
        Act::Type { .. } | Act::Key { .. } => PointerReach::Keyboard,
    }
}

impl Observer {
    pub fn confined_to(self, region: Option<Rect>) -> Self {
        if let Some(region) = region {
            self.platform.input().confine(region);
        }
        Self { region: InputRegion(region), ..self }
    }

    /// Refuses an act that would reach outside of the region, also in a dry run.
    pub(super) fn check_region(&self, act: &Act, cancel: &Cancel) -> Result<()> {
        let InputRegion(Some(region)) = self.region else {
            return Ok(());
        };
        match pointer_reach(act) {
            PointerReach::Keyboard => Ok(()),
            PointerReach::Points(points) => {
                points.into_iter().try_for_each(|point| check_within(region, point))
            }
            PointerReach::Pointer => match self.pointer_position()? {
                Some(point) => check_within(region, point),
                None => Err(outside(region, "this desktop does not report where the pointer is")),
            },
            PointerReach::Element(element) => {
                self.require_places("to keep input within input.allowed_region")?;
                let bounds = self.bounds_of(element, cancel)?;
                if !bounds.is_empty() && region.encloses(&bounds) {
                    return Ok(());
                }
                let Rect { x, y, width, height } = bounds;
                Err(outside(
                    region,
                    &format!("the element at {x},{y} with {width}x{height} pixels is outside of it"),
                ))
            }
        }
    }

    /// Where an element is now, whatever was seen of it before.
    fn bounds_of(&self, element: &Handle, cancel: &Cancel) -> Result<Rect> {
        let windows = self.platform.desktop().windows()?;
        let window = windows.iter().find(|window| window.uid == element.window_uid);
        let window = window.ok_or_else(|| Error::new(Kind::WindowGone, "the window has closed"))?;
        let patience = Patience {
            per_call: limits::PLATFORM_CALL_TIME,
            whole: limits::TREE_WALK_TIME,
            cancel: cancel.clone(),
        };
        let tree = self.platform.accessibility().tree(window, &patience)?;
        let found =
            tree.elements().iter().find(|candidate| candidate.native.as_deref() == Some(&element.native));
        found
            .map(|element| element.bounds)
            .ok_or_else(|| Error::new(Kind::ElementNotFound, "the element no longer exists; look again"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every pixel of a straight way between two points of a region is in the region.
        #[test]
        fn a_way_within_stays_within(
            (x, y, width, height) in (-50..50i32, -50..50i32, 1..60i32, 1..60i32),
            from in (0..60i32, 0..60i32),
            to in (0..60i32, 0..60i32),
            steps in 1..50i32,
        ) {
            let region = Rect::new(x, y, width, height);
            let inside = |(dx, dy): (i32, i32)| Point { x: x + dx % width, y: y + dy % height };
            let (from, to) = (inside(from), inside(to));
            for step in 0..=steps {
                let between = |a: i32, b: i32| {
                    (f64::from(a) + f64::from(b - a) * f64::from(step) / f64::from(steps)).round() as i32
                };
                let point = Point { x: between(from.x, to.x), y: between(from.y, to.y) };
                prop_assert!(region.contains(point));
            }
        }
    }
}
