//! Seeing change: pictures compared with earlier ones. Whatever redaction hides is black in all of them, so nothing
//! can be felt for by comparing.

use std::sync::Arc;
use std::time::Duration;

use super::evaluation::Evaluation;
use super::predicate::{PredicateVerdict, read_reference};
use super::screenshots::PictureSubject;
use super::{Observer, ResolvedWindow, WindowChoice};
use crate::clock::Cancel;
use crate::error::{Error, Fact, Kind, Result};
use crate::files::Below;
use crate::model::image::Picture;
use crate::model::pixel_diff;
use crate::model::png_file::Png;
use crate::model::similarity::ssim;
use crate::model::{Point, Rect};
use crate::platform::Shot;

/// What is looked at: a window, or without one the screen; of either, a region of the screen or all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchedRegion {
    pub window_uid: Option<String>,
    pub region: Option<Rect>,
}

/// A picture to compare with.
#[derive(Clone, Debug)]
pub struct KeptFrame {
    pub watched: WatchedRegion,
    pub shot: Shot,
}

/// How much may differ without being a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Of a colour, from 0 to 255.
    pub tolerance: u8,
    /// A larger share of the pixels is a change.
    pub threshold: f64,
}

/// What became of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureChange {
    pub changed: bool,
    pub ratio: f64,
    pub pixels: u64,
    /// On the screen as it is now, the largest change first.
    pub boxes: Vec<Rect>,
    /// The picture has another size, so that nothing could be compared: all of it is a change.
    pub resized: bool,
}

impl Measure {
    pub fn compare_frames(&self, before: &Shot, after: &Shot) -> PictureChange {
        let Some(found) = pixel_diff::compare_pixels(&before.picture, &after.picture, self.tolerance) else {
            let pixels = u64::from(after.picture.width()) * u64::from(after.picture.height());
            return PictureChange {
                changed: true,
                ratio: 1.0,
                pixels,
                boxes: vec![after.area],
                resized: true,
            };
        };
        let on_screen = |area: &Rect| Rect { x: area.x + after.area.x, y: area.y + after.area.y, ..*area };
        PictureChange {
            changed: found.changed_ratio() > self.threshold,
            ratio: found.changed_ratio(),
            pixels: found.changed,
            boxes: found.boxes.iter().map(on_screen).collect(),
            resized: false,
        }
    }
}

/// How still a picture was.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    pub stable: bool,
    pub samples: usize,
    pub max_ratio: f64,
    pub avg_ratio: f64,
    /// Where it was not still, over the whole time.
    pub boxes: Vec<Rect>,
}

impl Observer {
    pub fn take_frame(&self, watched: &WatchedRegion, cancel: &Cancel) -> Result<KeptFrame> {
        let same = |uid: &String| WindowChoice { uid: Some(uid.clone()), ..WindowChoice::default() };
        let chosen = watched.window_uid.as_ref().map(|uid| self.resolve_window(&same(uid))).transpose()?;
        self.frame_of(chosen, watched, cancel)
    }

    fn frame_of(
        &self,
        chosen: Option<ResolvedWindow>,
        watched: &WatchedRegion,
        cancel: &Cancel,
    ) -> Result<KeptFrame> {
        let subject = chosen.as_ref().map_or(PictureSubject::Screen, PictureSubject::Window);
        let shot = self.shot_of(subject, watched.region, cancel)?;
        Ok(KeptFrame { watched: watched.clone(), shot })
    }

    /// Looks again every `interval` for `duration`, and compares each picture with the one before.
    pub fn measure_stability(
        &self,
        watched: &WatchedRegion,
        measure: &Measure,
        duration: Duration,
        interval: Duration,
        cancel: &Cancel,
    ) -> Result<Stability> {
        let deadline = self.clock.now() + duration;
        let mut last = self.take_frame(watched, cancel)?;
        let (mut samples, mut sum, mut max_ratio) = (1usize, 0.0, 0.0f64);
        let mut boxes = Vec::new();
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            if left.is_zero() {
                break;
            }
            self.clock.sleep(interval.min(left), cancel)?;
            let now = self.take_frame(watched, cancel)?;
            let change = measure.compare_frames(&last.shot, &now.shot);
            samples += 1;
            sum += change.ratio;
            max_ratio = max_ratio.max(change.ratio);
            change.boxes.into_iter().for_each(|area| add_box(&mut boxes, area));
            last = now;
        }
        let compared = samples.saturating_sub(1).max(1) as f64;
        Ok(Stability {
            stable: max_ratio <= measure.threshold,
            samples,
            max_ratio,
            avg_ratio: sum / compared,
            boxes,
        })
    }
}

/// Boxes that overlap become one.
fn add_box(boxes: &mut Vec<Rect>, mut area: Rect) {
    while let Some(at) = boxes.iter().position(|other| other.intersects(&area)) {
        let other = boxes.swap_remove(at);
        let (x, y) = (area.x.min(other.x), area.y.min(other.y));
        area = Rect::new(x, y, area.right().max(other.right()) - x, area.bottom().max(other.bottom()) - y);
    }
    boxes.push(area);
}

/// What a wait remembers of a picture.
#[derive(Clone, Debug)]
pub struct Visual {
    watched: WatchedRegion,
    /// Without a region it is the window of the wait, chosen at the first look.
    follows_focus: bool,
    measure: Measure,
    /// The picture to compare with, and since when it has not changed.
    last: Option<(Shot, Duration)>,
    ratio: f64,
}

const MOST_BOXES_TOLD: usize = 10;

impl Visual {
    pub fn new(region: Option<Rect>, measure: Measure) -> Self {
        let watched = WatchedRegion { window_uid: None, region };
        Self { watched, follows_focus: region.is_none(), measure, last: None, ratio: 0.0 }
    }

    /// Whether it is about the window of the wait, and not about a part of the screen.
    pub fn is_of_a_window(&self) -> bool {
        self.follows_focus || self.watched.window_uid.is_some()
    }

    /// Names the window whose pixels are compared.
    pub fn in_window(&mut self, uid: &str) {
        self.watched.window_uid = Some(uid.to_owned());
        self.follows_focus = false;
    }

    fn take_screenshot(&mut self, evaluation: &Evaluation) -> Result<Shot> {
        if self.follows_focus {
            let uid = evaluation.chosen(None)?.window.uid;
            self.in_window(&uid);
        }
        Ok(evaluation.take_frame(&self.watched)?.shot)
    }

    /// Whether the picture differs from that of the first look.
    pub(super) fn has_changed(&mut self, evaluation: &Evaluation) -> Result<Option<Fact>> {
        let now = match self.take_screenshot(evaluation) {
            Err(error) if error.kind == Kind::WindowGone && self.last.is_some() => {
                return Ok(Some(Fact::object([("window_gone", true.into())])));
            }
            shot => shot?,
        };
        let Some((before, _)) = &self.last else {
            self.last = Some((now, evaluation.observer.clock.now()));
            return Ok(None);
        };
        let change = self.measure.compare_frames(before, &now);
        self.ratio = change.ratio;
        Ok(change.changed.then(|| change_fact(&change)))
    }

    /// Whether the picture has been still for `quiet`.
    pub(super) fn is_still(&mut self, quiet: Duration, evaluation: &Evaluation) -> Result<Option<Fact>> {
        let shot = self.take_screenshot(evaluation)?;
        let now = evaluation.observer.clock.now();
        let change = self.last.as_ref().map(|(before, _)| self.measure.compare_frames(before, &shot));
        self.ratio = change.as_ref().map_or(0.0, |change| change.ratio);
        match &self.last {
            Some((_, since)) if change.is_none_or(|change| !change.changed) => {
                let still = now.saturating_sub(*since);
                let told = crate::clock::millis(still);
                Ok((still >= quiet).then(|| Fact::object([("still_ms", told.into())])))
            }
            _ => {
                self.last = Some((shot, now));
                Ok(quiet.is_zero().then(|| Fact::object([("still_ms", 0.into())])))
            }
        }
    }

    /// When it has to be looked at next, at the latest: nobody tells of pixels that change.
    pub(super) fn next_look(&self, quiet: Duration, poll: Duration, now: Duration) -> Duration {
        let due = self.last.as_ref().map_or(poll, |(_, since)| (*since + quiet).saturating_sub(now));
        if due.is_zero() { poll } else { due.min(poll) }
    }

    pub(super) fn last_seen(&self) -> Vec<(&'static str, Fact)> {
        vec![("diff_ratio", self.ratio.into())]
    }
}

fn change_fact(change: &PictureChange) -> Fact {
    let boxes = change.boxes.iter().take(MOST_BOXES_TOLD).map(|area| Fact::from(*area)).collect();
    Fact::object([("diff_ratio", change.ratio.into()), ("boxes", Fact::List(boxes))])
}

/// What a region is compared with.
#[derive(Clone, Debug)]
pub enum RegionReference {
    File(Below),
    Kept(Arc<KeptFrame>),
}

impl Evaluation<'_> {
    fn take_frame(&self, watched: &WatchedRegion) -> Result<KeptFrame> {
        let chosen = watched.window_uid.as_deref().map(|uid| self.chosen(Some(uid))).transpose()?;
        self.observer.frame_of(chosen, watched, self.cancel)
    }

    pub(super) fn pixel_color(
        &self,
        uid: Option<&str>,
        at: Point,
        expected: [u8; 3],
        tolerance: u8,
    ) -> Result<PredicateVerdict> {
        let watched =
            WatchedRegion { window_uid: uid.map(str::to_owned), region: Some(Rect::new(at.x, at.y, 1, 1)) };
        let picture = self.take_frame(&watched)?.shot.picture;
        let Some([red, green, blue, _]) = picture.pixel(0, 0) else {
            return Err(Error::bad_request(format!("the screenshot has no pixel at {},{}", at.x, at.y)));
        };
        let seen = [red, green, blue];
        let near = seen.iter().zip(expected).all(|(seen, wanted)| seen.abs_diff(wanted) <= tolerance);
        Ok(PredicateVerdict::new(near, Fact::object([("color", color_name(seen).into())])))
    }

    pub(super) fn region_similar(
        &self,
        uid: Option<&str>,
        region: Option<Rect>,
        reference: &RegionReference,
        least: f64,
    ) -> Result<PredicateVerdict> {
        match reference {
            RegionReference::Kept(frame) => {
                let shot = self.take_frame(&frame.watched)?.shot;
                let parts = match region {
                    Some(region) => [shot.part(region), frame.shot.part(region)],
                    None => [shot, frame.shot.clone()],
                };
                let sizes = parts.each_ref().map(|part| (part.picture.width(), part.picture.height()));
                if sizes[0] != sizes[1] {
                    return Ok(other_size(sizes[0], sizes[1]));
                }
                judge_similarity(&parts[0].picture, &parts[1].picture, least)
            }
            RegionReference::File(place) => {
                let watched = WatchedRegion { window_uid: uid.map(str::to_owned), region };
                let picture = self.take_frame(&watched)?.shot.picture;
                similar_to_file(&picture, place, least)
            }
        }
    }
}

/// Sizes are compared before the reference is decoded: it never takes more memory than the picture.
pub(super) fn similar_to_file(picture: &Picture, place: &Below, least: f64) -> Result<PredicateVerdict> {
    let bytes = read_reference(place)?;
    let reference = Png::open(&bytes)?;
    let size = (picture.width(), picture.height());
    if size != reference.size() {
        return Ok(other_size(size, reference.size()));
    }
    judge_similarity(picture, &reference.decode()?, least)
}

fn other_size(size: (u32, u32), wanted: (u32, u32)) -> PredicateVerdict {
    let words = |(width, height): (u32, u32)| format!("{width}x{height}");
    let observed =
        [("ssim", Fact::Null), ("size", words(size).into()), ("reference_size", words(wanted).into())];
    PredicateVerdict::new(false, Fact::object(observed))
}

fn judge_similarity(picture: &Picture, reference: &Picture, least: f64) -> Result<PredicateVerdict> {
    let likeness = ssim(picture, reference).ok_or_else(|| Error::bad_request("the images are empty"))?;
    Ok(PredicateVerdict::new(likeness >= least, Fact::object([("ssim", likeness.into())])))
}

fn color_name([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_that_overlap_become_one() {
        let mut boxes = Vec::new();
        for area in [Rect::new(0, 0, 10, 10), Rect::new(50, 0, 10, 10), Rect::new(5, 5, 50, 2)] {
            add_box(&mut boxes, area);
        }
        assert_eq!(boxes, [Rect::new(0, 0, 60, 10)]);
    }

    #[test]
    fn a_picture_of_another_size_is_a_change_of_all() {
        let shot = |width: u32| {
            let picture = Picture::new(width, 4, [9, 9, 9, 255]).unwrap();
            Shot { area: Rect::new(-30, 20, width as i32, 4), picture }
        };
        let measure = Measure { tolerance: 8, threshold: 0.0 };
        let change = measure.compare_frames(&shot(4), &shot(5));
        assert!(change.changed && change.resized && change.ratio == 1.0);
        assert_eq!(change.boxes, [Rect::new(-30, 20, 5, 4)]);
        assert!(!measure.compare_frames(&shot(4), &shot(4)).changed);
    }

    #[test]
    fn boxes_are_places_on_the_screen() {
        let before =
            Shot { picture: Picture::new(40, 40, [9, 9, 9, 255]).unwrap(), area: Rect::new(-30, 20, 40, 40) };
        let mut after = before.clone();
        after.picture.fill(Rect::new(3, 4, 5, 6), [200, 9, 9, 255]);
        let change = Measure { tolerance: 8, threshold: 0.0 }.compare_frames(&before, &after);
        assert_eq!(change.boxes, [Rect::new(-27, 24, 5, 6)]);
    }
}
