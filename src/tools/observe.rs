//! Watching: what a window shows and what changed in it, and the whole desktop at two moments.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{WindowArgs, observe};
use super::windows::NoArgs;
use crate::error::{Error, Kind, Result};
use crate::model::{Rect, Window};
use crate::observer::outline::{Keep, OutlineOptions};
use crate::observer::structure::Structure;
use crate::observer::{Changes, DiffFormat, Observation, ObserveRequest, Snapshot};
use crate::privacy::scrub::OwnWord;
use crate::tool::args::{Amount, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, ReplyKind, Spec, Tool};

pub struct ObserveWindow;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ObserveArgs {
    #[serde(flatten)]
    window: WindowArgs,
    /// tree_token: only what changed since.
    since: Option<Text<64>>,
    /// Of changes; default custom. outline: of everything.
    format: Option<ObserveFormat>,
    /// Levels of the full tree; default 5.
    depth: Option<Amount<0, 64>>,
    /// Only what changed since the last look.
    changed_only: Option<bool>,
    /// What an outline should not leave out, as in get_window_structure.
    #[serde(default)]
    #[schemars(extend("x-hidden" = true))]
    keep: Vec<Keep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ObserveFormat {
    #[serde(rename = "custom")]
    Custom,
    #[serde(rename = "json-patch")]
    JsonPatch,
    #[serde(rename = "outline")]
    Outline,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ObserveOut(#[schemars(with = "serde_json::Value")] Observation);

impl Output for ObserveOut {
    fn take_outline(&mut self) -> Option<String> {
        self.0.take_outline()
    }
}

impl Tool for ObserveWindow {
    type Args = ObserveArgs;
    type Out = ObserveOut;
    const META: Meta = Meta {
        name: "observe_window",
        group: Group::Watch,
        reply: ReplyKind::Tree,
        untrusted: true,
        fits: true,
        rest: &[(Method::Get, "/api/observe")],
        brief: "Tree of a window, or only what changed since a tree_token or the last look.",
        detail: "Without `since` the tree is shown down to `depth`; its `tree_token` identifies the whole \
                 tree, so later changes may be deeper than what was shown. `custom` changes: paths are child \
                 indices joined by `/` in the new tree, but the last index of `remove` and of a move's \
                 `from` is the one in the old parent. To apply them, take parents from the top down: remove \
                 what `remove` and `from` name, insert what was added or moved at its index, let the rest \
                 fill the gaps in order; then set the `fields` (null removes a field that is only shown when \
                 known). The last number of an id follows its index. `json-patch` is RFC 6902 and turns the \
                 full old tree into the new one, ids included, so it is longer. `changed_only` compares with \
                 what this server last showed of the window, also across actions. An unknown token gives the \
                 whole tree. In the format `outline` a tree is text, and changes are lines: `+` came, `-` \
                 went, `~` is otherwise; what only moved is left out (docs/outline.md).",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"window_index":0,"depth":1}"#,
                shows: "the upper levels, and a token to ask again with",
            },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"changed_only":true}"#,
                shows: "the whole tree at first, only changes later",
            },
        ],
        verify: &["ok", "format"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: ObserveArgs, _: Permit) -> Result<ObserveOut> {
        let chosen = cx.observer().resolve_window(&args.window.window_choice())?;
        let max_tokens = cx.max_tokens.map(|most| most.saturating_sub(TOKENS_AROUND_AN_OUTLINE));
        let request = ObserveRequest {
            since: args.since.map(|token| token.as_str().to_owned()),
            format: match args.format {
                Some(ObserveFormat::JsonPatch) => DiffFormat::JsonPatch,
                _ => DiffFormat::Custom,
            },
            outline: (args.format == Some(ObserveFormat::Outline)).then(|| OutlineOptions {
                keep: args.keep,
                max_tokens,
                ..OutlineOptions::default()
            }),
            depth: args.depth.map(Amount::as_usize),
            changed_only: args.changed_only.unwrap_or(false),
        };
        let observation = observe(cx, &chosen, &request)?;
        cx.warning = observation.warning.clone();
        Ok(ObserveOut(observation))
    }
}

/// Hash, token and counts, which stand beside an outline.
const TOKENS_AROUND_AN_OUTLINE: usize = 190;

/// In place of an id: the desktop as it is at the call, kept like any other snapshot.
const NOW: &str = "now";

fn take_snapshot(cx: &Cx) -> Result<(String, Arc<Snapshot>)> {
    let snapshots = &cx.session().snapshots;
    let earlier = snapshots.latest_snapshot(cx.clock().now());
    let snapshot = Arc::new(cx.observer().take_snapshot(earlier.as_deref(), cx.cancel)?);
    Ok((snapshots.store_snapshot(snapshot.clone(), cx.clock().now()), snapshot))
}

fn find_snapshot(cx: &Cx, id: &str) -> Result<(String, Arc<Snapshot>)> {
    if id == NOW {
        return take_snapshot(cx);
    }
    match cx.session().snapshots.get(id, cx.clock().now()) {
        Some(snapshot) => Ok((id.to_owned(), snapshot)),
        None => Err(Error::new(
            Kind::SnapshotExpired,
            format!(
                "there is no snapshot '{id}': snapshots expire after 300 s, and only the 32 last used \
                     are kept; take a new one"
            ),
        )
        .with("snapshot_id", id)),
    }
}

fn epoch_seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

pub struct TakeSnapshot;

#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotTaken {
    snapshot_id: String,
    ts: f64,
    summary: SnapshotSummary,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotSummary {
    windows: usize,
    trees: usize,
    /// Windows whose tree could not be read.
    unreadable: usize,
}

impl Output for SnapshotTaken {}

impl Tool for TakeSnapshot {
    type Args = NoArgs;
    type Out = SnapshotTaken;
    const META: Meta = Meta {
        name: "snapshot",
        group: Group::Watch,
        rest: &[(Method::Post, "/api/snapshot")],
        brief: "Remember every window and its tree for 300 s, to compare with later.",
        detail: "The 32 snapshots last used are kept. A window whose tree cannot be read is counted as `unreadable`.",
        examples: &[Example { scenario: None, args: "{}", shows: "an id to compare with later" }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<SnapshotTaken> {
        let (snapshot_id, snapshot) = take_snapshot(cx)?;
        Ok(SnapshotTaken {
            snapshot_id,
            ts: epoch_seconds(snapshot.taken_at),
            summary: SnapshotSummary {
                windows: snapshot.windows.len(),
                trees: snapshot.views.len(),
                unreadable: snapshot.unreadable.len(),
            },
        })
    }
}

pub struct SnapshotGet;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetArgs {
    /// From snapshot, or "now".
    snapshot_id: Text<64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Got {
    snapshot_id: String,
    ts: f64,
    windows: Vec<WindowThen>,
    #[schemars(with = "serde_json::Value")]
    trees: BTreeMap<String, Structure>,
    tree_hashes: BTreeMap<String, Hash>,
    /// Why windows have no tree.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unreadable: BTreeMap<String, String>,
}

/// A window of a snapshot: indices belong to list_windows and would mislead later.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WindowThen {
    handle: String,
    title: String,
    process: String,
    pid: u32,
    bounds: Rect,
    focused: bool,
    window_uid: String,
}

impl WindowThen {
    fn of(window: &Window) -> Self {
        Self {
            handle: window.handle.clone(),
            title: window.title.clone(),
            process: window.process.clone(),
            pid: window.pid,
            bounds: window.bounds,
            focused: window.focused,
            window_uid: window.uid.clone(),
        }
    }
}

/// A hash stands under a window's uid here, which does not say what it is.
#[derive(Debug, JsonSchema)]
pub struct Hash(String);

impl Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        OwnWord(&self.0).serialize(out)
    }
}

impl Output for Got {}

impl Tool for SnapshotGet {
    type Args = GetArgs;
    type Out = Got;
    const META: Meta = Meta {
        name: "snapshot_get",
        group: Group::Watch,
        reply: ReplyKind::Tree,
        untrusted: true,
        fits: true,
        rest: &[(Method::Get, "/api/snapshot/{snapshot_id}")],
        brief: "All windows and full trees of a snapshot. Long; snapshot_diff is shorter.",
        detail: "`now` takes a snapshot first. `unreadable` says why a window has no tree.",
        examples: &[Example {
            scenario: Some("scenarios/login.yaml"),
            args: r#"{"snapshot_id":"now"}"#,
            shows: "the whole desktop as it is",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: GetArgs, _: Permit) -> Result<Got> {
        let (snapshot_id, snapshot) = find_snapshot(cx, args.snapshot_id.as_str())?;
        let hash =
            |(uid, view): (&String, &Arc<crate::observer::View>)| (uid.clone(), Hash(view.hash().to_owned()));
        Ok(Got {
            snapshot_id,
            ts: epoch_seconds(snapshot.taken_at),
            windows: snapshot.windows.iter().map(WindowThen::of).collect(),
            trees: snapshot.all_trees(),
            tree_hashes: snapshot.views.iter().map(hash).collect(),
            unreadable: snapshot.unreadable.clone(),
        })
    }
}

pub struct SnapshotDiff;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct SnapshotDiffArgs {
    /// Earlier snapshot_id.
    a: Text<64>,
    /// Later snapshot_id, or "now".
    b: Text<64>,
    /// Of changes; default custom.
    format: Option<DiffFormat>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotDifference {
    windows_added: Vec<WindowThen>,
    windows_removed: Vec<WindowThen>,
    per_window_changes: BTreeMap<String, WindowChanges>,
    /// Windows that could not be compared, because one of their trees could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WindowChanges {
    format: DiffFormat,
    #[schemars(with = "serde_json::Value")]
    changes: Changes,
}

impl Output for SnapshotDifference {}

impl Tool for SnapshotDiff {
    type Args = SnapshotDiffArgs;
    type Out = SnapshotDifference;
    const META: Meta = Meta {
        name: "snapshot_diff",
        group: Group::Watch,
        reply: ReplyKind::Tree,
        untrusted: true,
        fits: true,
        rest: &[(Method::Post, "/api/snapshot/diff")],
        brief: "What changed between two snapshots: windows opened and closed, changes in the others.",
        detail: "Windows are the same when their uid is. Changes are in the format of observe_window. With \
                 `now` as `b` the desktop is read and kept as a snapshot.",
        examples: &[Example {
            scenario: Some("scenarios/login.yaml"),
            args: r#"{"a":"now","b":"now"}"#,
            shows: "nothing, because nothing happens in between",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: SnapshotDiffArgs, _: Permit) -> Result<SnapshotDifference> {
        let (_, old) = find_snapshot(cx, args.a.as_str())?;
        let (_, new) = find_snapshot(cx, args.b.as_str())?;
        let mut difference = SnapshotDifference {
            windows_added: missing_from(&new, &old),
            windows_removed: missing_from(&old, &new),
            per_window_changes: BTreeMap::new(),
            unreadable: Vec::new(),
        };
        for window in old.windows.iter().filter(|window| has_window(&new, window)) {
            cx.cancel.check()?;
            difference.compare_windows(&window.uid, &old, &new, args.format.unwrap_or_default());
        }
        Ok(difference)
    }
}

impl SnapshotDifference {
    fn compare_windows(&mut self, uid: &str, old: &Snapshot, new: &Snapshot, format: DiffFormat) {
        let (Some(old), Some(new)) = (old.views.get(uid), new.views.get(uid)) else {
            return self.unreadable.push(uid.to_owned());
        };
        let changes = Changes::diff_views(old.clone(), new.clone(), format);
        self.per_window_changes.insert(uid.to_owned(), WindowChanges { format, changes });
    }
}

fn has_window(snapshot: &Snapshot, window: &Window) -> bool {
    snapshot.windows.iter().any(|other| other.uid == window.uid)
}

fn missing_from(one: &Snapshot, other: &Snapshot) -> Vec<WindowThen> {
    one.windows.iter().filter(|window| !has_window(other, window)).map(WindowThen::of).collect()
}

pub struct SnapshotDrop;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DropArgs {
    /// From snapshot.
    snapshot_id: Text<64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotDropped {
    dropped: bool,
}

impl Output for SnapshotDropped {}

impl Tool for SnapshotDrop {
    type Args = DropArgs;
    type Out = SnapshotDropped;
    const META: Meta = Meta {
        name: "snapshot_drop",
        group: Group::Watch,
        effect: Effect::Session,
        rest: &[(Method::Delete, "/api/snapshot/{snapshot_id}")],
        brief: "Forget a snapshot.",
        detail: "`dropped` is false when there was none.",
        examples: &[Example {
            scenario: None,
            args: r#"{"snapshot_id":"snap:0000000000000000"}"#,
            shows: "there was nothing to drop",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: DropArgs, _: Permit) -> Result<SnapshotDropped> {
        let dropped = cx.session().snapshots.drop(args.snapshot_id.as_str(), cx.clock().now());
        Ok(SnapshotDropped { dropped })
    }
}

pub const TOOLS: &[Spec] = &[
    Spec::of::<ObserveWindow>(),
    Spec::of::<TakeSnapshot>(),
    Spec::of::<SnapshotGet>(),
    Spec::of::<SnapshotDiff>(),
    Spec::of::<SnapshotDrop>(),
];
