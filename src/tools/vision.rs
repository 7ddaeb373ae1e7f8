//! Seeing change: two pictures of the same place compared, and whether a place is still.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::WindowArgs;
use super::screenshot_options::{RegionArgs, RegionRect};
use super::wait_for::cap_duration;
use super::zoom::{given_bytes, given_png, unpacked};
use crate::config::limits::{CHANGED_BOXES, HTTP_PICTURE_BODY_BYTES};
use crate::error::{Error, Result};
use crate::model::Rect;
use crate::model::png_file::Png;
use crate::observer::vision::{KeptFrame, Measure, PictureChange, WatchedRegion};
use crate::platform::Shot;
use crate::tool::args::{Int, Text, WindowIndex};
use crate::tool::{Cx, Example, Group, Meta, Method, Output, Permit, Spec, Tool};

/// What is looked at, and what counts as a change.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SightArgs {
    /// Default: the screen.
    window_uid: Option<Text<256>>,
    #[schemars(extend("x-hidden" = true))]
    window_index: Option<WindowIndex>,
    #[schemars(extend("x-hidden" = true))]
    window_title: Option<Text<512>>,
    #[serde(flatten)]
    part: RegionArgs,
    #[schemars(extend("x-hidden" = true))]
    threshold: Option<f64>,
    #[schemars(extend("x-hidden" = true))]
    tolerance: Option<Int<0, 255>>,
}

/// Colours that differ by less look alike.
pub const TOLERANCE: u8 = 8;
/// So little of a picture changes where a cursor blinks.
pub const STILL: f64 = 0.001;

impl SightArgs {
    fn watched_area(&self, cx: &mut Cx) -> Result<WatchedRegion> {
        let window = WindowArgs {
            window_uid: self.window_uid.clone(),
            window_index: self.window_index,
            window_title: self.window_title.clone(),
        };
        let choice = window.window_choice();
        let region = self.part.region.map(RegionRect::to_rect);
        if choice.is_empty() {
            return Ok(WatchedRegion { window_uid: None, region });
        }
        let chosen = cx.observer().resolve_window(&choice)?;
        cx.warning = chosen.warning;
        Ok(WatchedRegion { window_uid: Some(chosen.window.uid), region })
    }

    fn change_measure(&self, otherwise: f64) -> Result<Measure> {
        let tolerance = self.tolerance.and_then(|given| u8::try_from(given.get()).ok()).unwrap_or(TOLERANCE);
        Ok(Measure { tolerance, threshold: parse_share(self.threshold)?.unwrap_or(otherwise) })
    }
}

fn parse_share(given: Option<f64>) -> Result<Option<f64>> {
    match given {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(Error::bad_request(format!("argument 'threshold' must be from 0 to 1, not {share}"))
                .with("field", "threshold"))
        }
        given => Ok(given),
    }
}

pub struct VisionDiff;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct VisionDiffArgs {
    #[serde(flatten)]
    sight: SightArgs,
    /// frame_id of an earlier call.
    since: Option<Text<64>>,
    /// Or wait between two captures.
    wait_ms: Option<Int<0, 60000>>,
    /// Two PNGs in base64 to compare instead of the screen.
    #[schemars(extend("x-hidden" = true))]
    before_b64: Option<Text<{ HTTP_PICTURE_BODY_BYTES }>>,
    #[schemars(extend("x-hidden" = true))]
    after_b64: Option<Text<{ HTTP_PICTURE_BODY_BYTES }>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Diff {
    /// What was compared: nothing yet, an earlier frame, two captures, or two images of the caller.
    mode: &'static str,
    changed: bool,
    diff_ratio: f64,
    changed_pixels: u64,
    /// What changed, on the screen, the largest change first.
    boxes: Vec<Rect>,
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    #[schemars(default)]
    boxes_left_out: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    size_changed: bool,
    source_bbox: Rect,
    /// The current frame, to compare with later.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_id: Option<String>,
}

impl Output for Diff {}

impl Diff {
    fn new(mode: &'static str, change: Option<PictureChange>, area: Rect, frame_id: Option<String>) -> Self {
        let nothing =
            PictureChange { changed: false, ratio: 0.0, pixels: 0, boxes: Vec::new(), resized: false };
        let mut change = change.unwrap_or(nothing);
        let boxes_left_out = change.boxes.len().saturating_sub(CHANGED_BOXES);
        change.boxes.truncate(CHANGED_BOXES);
        Self {
            mode,
            changed: change.changed,
            diff_ratio: round_ratio(change.ratio),
            changed_pixels: change.pixels,
            boxes: change.boxes,
            boxes_left_out,
            size_changed: change.resized,
            source_bbox: area,
            frame_id,
        }
    }
}

/// A pixel of the largest picture is still more than nothing.
fn round_ratio(ratio: f64) -> f64 {
    (ratio * 1e8).round() / 1e8
}

impl Tool for VisionDiff {
    type Args = VisionDiffArgs;
    type Out = Diff;
    const META: Meta = Meta {
        name: "vision_diff",
        group: Group::Watch,
        waits: true,
        rest: &[(Method::Post, "/api/vision/diff")],
        brief: "Compare pixels of a window or region with earlier ones: share and boxes of what changed.",
        detail: "The first call only remembers the pixels and returns their `frame_id`; a later one with \
                 that as `since` captures the same area again and compares. `wait_ms` does both in one call. \
                 `region` is in pixels of the screen, `boxes` too. A pixel has changed when one of its \
                 colours differs by more than `tolerance` (default 8 of 255); the area has `changed` when a \
                 larger share of its pixels than `threshold` (default 0) has. `before_b64` and `after_b64` \
                 compare two PNGs that you send. Eight frames are kept for five minutes; screenshots keep \
                 none. What redaction hides is blacked out before the comparison.",
        examples: &[
            Example { scenario: None, args: r#"{"window_index":0}"#, shows: "a frame to compare with later" },
            Example {
                scenario: Some("scenarios/slow-load.yaml"),
                args: r#"{"window_index":0,"wait_ms":4000}"#,
                shows: "what changes while a window loads",
            },
        ],
        verify: &["ok", "changed"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: VisionDiffArgs, _: Permit) -> Result<Diff> {
        let measure = args.sight.change_measure(0.0)?;
        if args.before_b64.is_some() || args.after_b64.is_some() {
            return diff_of_brought(cx, &args, &measure);
        }
        let (mode, before) = match (&args.since, args.wait_ms) {
            (Some(_), Some(_)) => {
                return Err(Error::bad_request(
                    "since and wait_ms exclude each other: since compares with an earlier call",
                )
                .with("field", "wait_ms"));
            }
            (Some(id), None) => ("since", Some(known_frame(cx, id.as_str())?)),
            (None, Some(wait)) => {
                let watched = args.sight.watched_area(cx)?;
                let frame = cx.observer().take_frame(&watched, cx.cancel)?;
                let wait = cap_duration(cx, "wait_ms", wait.as_usize() as u64);
                cx.clock().sleep(wait, cx.cancel)?;
                ("wait", Some(Arc::new(frame)))
            }
            (None, None) => ("first", None),
        };
        let watched = match (&before, args.since.is_some()) {
            (Some(before), true) => same_place(&args.sight, before)?,
            (Some(before), false) => before.watched.clone(),
            (None, _) => args.sight.watched_area(cx)?,
        };
        let after = cx.observer().take_frame(&watched, cx.cancel)?;
        let change = before.map(|before| measure.compare_frames(&before.shot, &after.shot));
        let area = after.shot.area;
        let id = cx.session().frames.store_frame(after, cx.clock().now());
        Ok(Diff::new(mode, change, area, Some(id)))
    }
}

/// A frame knows what it is a picture of; naming something else beside it would compare two places.
fn same_place(sight: &SightArgs, before: &KeptFrame) -> Result<WatchedRegion> {
    let named = sight.window_uid.is_some() || sight.window_index.is_some() || sight.window_title.is_some();
    if named || sight.part.region.is_some() {
        return Err(Error::bad_request(
            "the frame in since has its own window and region: leave window and region out",
        )
        .with("field", if named { "window_uid" } else { "region" }));
    }
    Ok(before.watched.clone())
}

pub fn known_frame(cx: &Cx, id: &str) -> Result<Arc<KeptFrame>> {
    cx.session().frames.get(id, cx.clock().now()).ok_or_else(|| {
        Error::bad_request(format!(
            "no frame '{id}' is known; it may have expired; vision_diff without since takes a new one"
        ))
        .with("field", "since")
    })
}

fn diff_of_brought(cx: &Cx, args: &VisionDiffArgs, measure: &Measure) -> Result<Diff> {
    let (Some(before), Some(after)) = (&args.before_b64, &args.after_b64) else {
        return Err(Error::bad_request("give before_b64 and after_b64 together").with("field", "after_b64"));
    };
    if args.since.is_some() || args.wait_ms.is_some() || args.sight.window_uid.is_some() {
        return Err(Error::bad_request(
            "before_b64 and after_b64 are compared instead of the screen: give no other argument",
        )
        .with("field", "before_b64"));
    }
    let bytes = [given_bytes("before_b64", before.as_str())?, given_bytes("after_b64", after.as_str())?];
    let pngs = [given_png("before_b64", &bytes[0])?, given_png("after_b64", &bytes[1])?];
    let memory = pngs.each_ref().map(Png::memory);
    let meanwhile = memory[0].1.max(memory[1].1);
    let _room = cx.observer().picture_room(memory[0].0 + memory[1].0 + meanwhile, cx.cancel)?;
    let cut = |field: &'static str, png: Png| -> Result<Shot> {
        let picture = unpacked(field, png)?;
        let whole = Shot { area: picture.area(), picture };
        Ok(match args.sight.part.region {
            Some(region) => whole.part(region.to_rect()),
            None => whole,
        })
    };
    let [before, after] = pngs;
    let (before, after) = (cut("before_b64", before)?, cut("after_b64", after)?);
    Ok(Diff::new("image", Some(measure.compare_frames(&before, &after)), after.area, None))
}

pub struct VisionStability;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct StabilityArgs {
    #[serde(flatten)]
    sight: SightArgs,
    /// Default 1000.
    duration_ms: Option<Int<0, 60000>>,
    #[schemars(extend("x-hidden" = true))]
    interval_ms: Option<Int<20, 60000>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Stable {
    stable: bool,
    sample_count: usize,
    max_ratio: f64,
    avg_ratio: f64,
    /// Where it changed.
    boxes: Vec<Rect>,
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    #[schemars(default)]
    boxes_left_out: usize,
}

impl Output for Stable {}

impl Tool for VisionStability {
    type Args = StabilityArgs;
    type Out = Stable;
    const META: Meta = Meta {
        name: "vision_stability",
        group: Group::Watch,
        waits: true,
        rest: &[(Method::Post, "/api/vision/stability")],
        brief: "Watch a window or region for a while: whether it is stable, and where not.",
        detail: "Takes a screenshot every `interval_ms` (default 200, at least 20) for `duration_ms` and \
                 compares each with the one before. `stable` when no share of changed pixels was above \
                 `threshold` (default 0.001, which a blinking cursor does not reach); `tolerance` as in \
                 vision_diff. To wait until it is stable, use wait_for with visual_stable.",
        examples: &[Example {
            scenario: None,
            args: r#"{"window_index":0,"duration_ms":400}"#,
            shows: "a window in which nothing moves",
        }],
        verify: &["ok", "stable"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: StabilityArgs, _: Permit) -> Result<Stable> {
        let measure = args.sight.change_measure(STILL)?;
        let watched = args.sight.watched_area(cx)?;
        let duration = cap_duration(cx, "duration_ms", args.duration_ms.map_or(1000, Int::as_usize) as u64);
        let interval = Duration::from_millis(args.interval_ms.map_or(200, Int::as_usize) as u64);
        let mut seen = cx.observer().measure_stability(&watched, &measure, duration, interval, cx.cancel)?;
        let boxes_left_out = seen.boxes.len().saturating_sub(CHANGED_BOXES);
        seen.boxes.truncate(CHANGED_BOXES);
        Ok(Stable {
            stable: seen.stable,
            sample_count: seen.samples,
            max_ratio: round_ratio(seen.max_ratio),
            avg_ratio: round_ratio(seen.avg_ratio),
            boxes: seen.boxes,
            boxes_left_out,
        })
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<VisionDiff>(), Spec::of::<VisionStability>()];
