//! The lines of a trace file, read and written by the same types.
//!
//! `trace.jsonl` is a header, one row for each call, and a footer. Beside the contract's keys a row
//! carries ours: what was acted on, which windows there were, and where a token of the arguments came
//! from. A reader that does not know them loses nothing, and a file without them can still be read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{Point, Rect};

/// The version that readers of the contract's format expect in the header.
pub const FORMAT_VERSION: &str = "0.2.0";

/// The file of a trace's folder that holds its lines.
pub const FILE_NAME: &str = "trace.jsonl";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    #[serde(rename = "type")]
    pub kind: HeaderKind,
    pub trace_id: String,
    #[serde(default)]
    pub label: Option<String>,
    pub started_at: String,
    #[serde(default)]
    pub tool_version: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeaderKind {
    #[default]
    Header,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    #[serde(rename = "type")]
    pub kind: FooterKind,
    pub stopped_at: String,
    pub step_count: u64,
    pub duration_ms: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FooterKind {
    #[default]
    Footer,
}

/// One call, also a refused one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    pub step_id: u64,
    /// Counts the rows of this trace from 1.
    pub trace_seq: u64,
    #[serde(default)]
    pub ts: String,
    #[serde(default)]
    pub caller: String,
    /// The job that the call belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    pub tool: String,
    pub args: Map<String, Value>,
    #[serde(default)]
    pub result_summary: ReplySummary,
    /// Of the focused window; empty when there is none or it cannot be read.
    #[serde(default)]
    pub tree_hash_before: String,
    #[serde(default)]
    pub tree_hash_after: String,
    #[serde(default)]
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot_full_ref: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot_window_ref: Option<String>,
    /// Why a picture that was due is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot_error: Option<String>,
    /// Text of the reply addresses an agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspicious: bool,
    /// What the gate resolved and judged for this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetSeen>,
    /// Where on the screen the pixel of a picture is that the arguments name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// Tokens among the arguments that an earlier row's reply told: JSON pointer into `args` → origin.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<String, TokenOrigin>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows_before: Vec<WindowSeen>,
    /// Only when something that is shown differs from `windows_before`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub windows_after: Option<Vec<WindowSeen>>,
}

/// The part of a reply that a trace keeps. What a reply does not say is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplySummary {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_index: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effective_mode: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_hash: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_passed: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_count: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ambiguous_matches: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorSummary>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetSummary {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_uid: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorSummary {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The element that a call was about, in the texts that may be shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetSeen {
    pub window_uid: String,
    pub element_id: String,
    pub selector: String,
    pub role: String,
    pub name: String,
}

/// A window as it was around a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowSeen {
    pub window_uid: String,
    pub title: String,
    pub process: String,
    pub pid: u32,
    pub bounds: Rect,
    pub focused: bool,
    /// `trees/HASH.json` in the trace's folder: the whole tree as the contract's node JSON. `None` when
    /// the window could not be read.
    pub tree: Option<String>,
}

/// Where a token was told: the row, and the place in its reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenOrigin {
    pub trace_seq: u64,
    /// A JSON pointer into the reply, such as `/tree_token`.
    pub path: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_of_the_contract_is_read_and_written_alike() {
        let row = json!({
            "step_id": 99, "trace_seq": 2, "ts": "2026-11-15T23:50:20.606738+00:00", "caller": "unknown",
            "tool": "click_element", "args": {"selector": "Window/Edit"},
            "result_summary": {
                "ok": true, "step_id": 99, "action": "click_element", "changed": false, "duration_ms": 0,
                "target": {"selector": "Window/Edit", "window_uid": "mock:app"},
            },
            "tree_hash_before": "sha1:a", "tree_hash_after": "sha1:b", "duration_ms": 0,
        });
        let read: TraceRow = serde_json::from_value(row.clone()).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), row.to_string());
    }

    #[test]
    fn a_summary_takes_only_its_keys_from_a_reply() {
        let reply = json!({
            "ok": false, "success": false, "step_id": 3, "count": null, "windows": [1, 2],
            "error": {"code": "WindowGone", "message": "gone"},
        });
        let summary: ReplySummary = serde_json::from_value(reply).unwrap();
        assert_eq!(
            serde_json::to_value(&summary).unwrap(),
            json!({"ok": false, "step_id": 3, "error": {"code": "WindowGone"}})
        );
    }
}
