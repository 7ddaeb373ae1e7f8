//! A look at a window, whole or as what changed since an earlier one.
//!
//! Every look leaves a token that stands for the whole capture, whatever depth was shown. Changes are
//! between captures too, so a path can lead below the depth that a caller has seen.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::outline::{DroppedCounts, OutlineOptions};
use super::structure::{Structure, StructureRequest};
use super::{CachedLook, Changes, DiffFormat, Observer, ResolvedWindow, TreeTokens, View};
use crate::clock::Cancel;
use crate::config::TreeReading;
use crate::error::Result;

/// What a caller wants to know of a window.
#[derive(Clone, Debug, Default)]
pub struct ObserveRequest {
    /// The tree token to compare with.
    pub since: Option<String>,
    pub format: DiffFormat,
    /// Written as outlines instead.
    pub outline: Option<OutlineOptions>,
    /// Levels below the root when the whole tree is shown; without it the config's.
    pub depth: Option<usize>,
    /// Compare with what was last shown of this window; no tree when nothing changed.
    pub changed_only: bool,
}

/// What was seen. It holds views and copies no node.
#[derive(Debug, Serialize)]
pub struct Observation {
    pub window_uid: String,
    pub window: String,
    #[serde(flatten)]
    content: ObservedContent,
    pub tree_hash: String,
    pub tree_token: String,
    pub perf: Perf,
    /// Present and false when the application could not be read to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded: Option<Lacking>,
    /// What was understood differently from what was asked; the caller of [`observe`] passes it on.
    #[serde(skip)]
    pub warning: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ObservedContent {
    Full {
        format: &'static str,
        tree: Structure,
        base_token: Option<String>,
        depth_used: usize,
        depth_truncated: bool,
    },
    Changed {
        format: DiffFormat,
        base_token: String,
        changes: Changes,
        unchanged: bool,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        changed_only: bool,
    },
    Unchanged {
        base_token: String,
        changed_only: bool,
        unchanged: bool,
    },
    Outline {
        format: &'static str,
        shown: usize,
        dropped: DroppedCounts,
        truncated: bool,
        /// Where get_window_structure goes on, as its `page_cursor`.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_cursor: Option<String>,
        #[serde(skip)]
        text: String,
    },
    OutlineChanges {
        format: &'static str,
        base_token: String,
        unchanged: bool,
        added: usize,
        removed: usize,
        changed: usize,
        truncated: bool,
        /// Changed lines that were left out for lack of room.
        #[serde(skip_serializing_if = "Option::is_none")]
        lines_left_out: Option<usize>,
        #[serde(skip)]
        text: String,
    },
}

/// The window shows less of itself than a person sees.
#[derive(Debug, Serialize)]
struct Lacking {
    reason: &'static str,
    detail: String,
}

impl Lacking {
    fn of(view: &View) -> Option<Self> {
        let detail = view.tree().lacking.clone()?;
        Some(Self { reason: "sparse_accessibility_tree", detail })
    }
}

impl Observation {
    /// Whether it was compared with something and found the same.
    pub fn is_unchanged(&self) -> bool {
        match self.content {
            ObservedContent::Full { .. } | ObservedContent::Outline { .. } => false,
            ObservedContent::Changed { unchanged, .. }
            | ObservedContent::Unchanged { unchanged, .. }
            | ObservedContent::OutlineChanges { unchanged, .. } => unchanged,
        }
    }

    pub fn take_outline(&mut self) -> Option<String> {
        match &mut self.content {
            ObservedContent::Outline { text, .. } | ObservedContent::OutlineChanges { text, .. } => {
                Some(std::mem::take(text))
            }
            ObservedContent::Full { .. }
            | ObservedContent::Changed { .. }
            | ObservedContent::Unchanged { .. } => None,
        }
    }
}

/// What reading the window cost.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Perf {
    pub capture_ms: u64,
    pub node_count: usize,
    pub cache: &'static str,
    pub depth_used: usize,
}

impl Perf {
    pub fn of(look: &CachedLook, node_count: usize, depth_used: usize) -> Self {
        let cache = if look.cached { "hit" } else { "miss" };
        Self { capture_ms: crate::clock::millis(look.view.capture_time), node_count, cache, depth_used }
    }
}

/// Looks at a window. `since` beats `changed_only`; a token that is not known gives the whole tree and a
/// warning. An action does not change what `changed_only` compares with: that is what was last shown.
pub fn observe_window(
    observer: &Observer,
    trees: &TreeTokens,
    limits: &TreeReading,
    chosen: &ResolvedWindow,
    request: &ObserveRequest,
    cancel: &Cancel,
) -> Result<Observation> {
    let depth = request.depth.unwrap_or(limits.default_depth).min(limits.max_depth);
    let fresh = request.changed_only && request.since.is_none();
    let look = if fresh {
        CachedLook { view: observer.fresh_view(chosen, cancel)?, cached: false }
    } else {
        observer.look_at(chosen, cancel)?
    };
    let mut perf = Perf::of(&look, look.view.tree().len(), depth);
    if fresh {
        perf.cache = "bypass";
    }
    let (base, warning) = base_view(trees, chosen, request, observer.clock.now());
    let (content, kept) = match (base, &request.outline) {
        (Some(base), None) => compare_with_base(base, &look.view, request),
        (None, None) => (whole_content(&look.view, depth)?, look.view.clone()),
        (Some(base), Some(options)) => compared_outlines(observer, chosen, base, &look.view, options)?,
        (None, Some(options)) => {
            let options = OutlineOptions { depth: request.depth, ..options.clone() };
            (outline_content(observer, chosen, &look.view, &options)?, look.view.clone())
        }
    };
    Ok(Observation {
        window_uid: chosen.window.uid.clone(),
        window: chosen.window.title.clone(),
        content,
        tree_hash: look.view.hash().to_owned(),
        tree_token: trees.put(&chosen.window.uid, kept, observer.clock.now()),
        perf,
        complete: (!look.view.tree().complete).then_some(false),
        degraded: Lacking::of(&look.view),
        warning: chosen.warning.clone().or(warning),
    })
}

/// An earlier view and the token that it was given.
type Base = (String, Arc<View>);

fn base_view(
    trees: &TreeTokens,
    chosen: &ResolvedWindow,
    request: &ObserveRequest,
    now: Duration,
) -> (Option<Base>, Option<String>) {
    let uid = &chosen.window.uid;
    let Some(since) = &request.since else {
        let last = if request.changed_only { trees.latest(uid, now) } else { None };
        return (last, None);
    };
    match trees.get(uid, since, now) {
        Some(view) => (Some((since.clone(), view)), None),
        None => {
            let warning = "the token in 'since' is unknown, belongs to another window or is too old; this is \
                           the whole tree";
            (None, Some(warning.to_owned()))
        }
    }
}

/// The changes, and the view to keep: of two equal ones the older, so that a window which is looked at
/// again and again is held once.
fn compare_with_base(base: Base, view: &Arc<View>, request: &ObserveRequest) -> (ObservedContent, Arc<View>) {
    let (base_token, old) = base;
    let changes = Changes::diff_views(old.clone(), view.clone(), request.format);
    let changed_only = request.since.is_none();
    let unchanged = changes.is_empty();
    let kept = if unchanged { old } else { view.clone() };
    let content = if unchanged && changed_only {
        ObservedContent::Unchanged { base_token, changed_only, unchanged }
    } else {
        ObservedContent::Changed { format: changes.format(), base_token, changes, unchanged, changed_only }
    };
    (content, kept)
}

fn compared_outlines(
    observer: &Observer,
    chosen: &ResolvedWindow,
    (base_token, old): Base,
    view: &Arc<View>,
    options: &OutlineOptions,
) -> Result<(ObservedContent, Arc<View>)> {
    let changes = observer.outline_changes(chosen, (&old, view), options)?;
    let unchanged = changes.is_empty();
    let content = ObservedContent::OutlineChanges {
        format: "outline",
        base_token,
        unchanged,
        added: changes.added,
        removed: changes.removed,
        changed: changes.changed,
        truncated: changes.cut > 0,
        lines_left_out: Some(changes.cut).filter(|cut| *cut > 0),
        text: changes.text,
    };
    // Where nothing is news something may still have moved, and a later look compares with how it is now.
    Ok((content, if old.is_same_as(view) { old } else { view.clone() }))
}

fn outline_content(
    observer: &Observer,
    chosen: &ResolvedWindow,
    view: &Arc<View>,
    options: &OutlineOptions,
) -> Result<ObservedContent> {
    let outline = observer.outline_view(chosen, view, options)?;
    Ok(ObservedContent::Outline {
        format: "outline",
        shown: outline.shown,
        dropped: outline.dropped,
        truncated: outline.cut_after.is_some(),
        next_cursor: outline.cut_after.map(|node| view.tree().id(node)),
        text: outline.text,
    })
}

fn whole_content(view: &Arc<View>, depth: usize) -> Result<ObservedContent> {
    let tree = Structure::new(view.clone(), &StructureRequest { depth, ..StructureRequest::default() })?;
    Ok(ObservedContent::Full {
        format: "full",
        base_token: None,
        depth_used: depth,
        depth_truncated: tree.depth_truncated,
        tree,
    })
}
