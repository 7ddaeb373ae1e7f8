//! What this server is and what is left to it: capabilities, budgets, redaction.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::common::millis;
use super::windows::NoArgs;
use crate::budget::BudgetStatus;
use crate::error::Result;
use crate::metrics::ToolCount;
use crate::observer::CaptureStats;
use crate::platform::{Capabilities, os_name};
use crate::privacy::redact::RedactionStatus;
use crate::tool::{Cx, Example, Group, Meta, Method, Output, Permit, Spec, Tool};

pub struct GetCapabilities;

#[derive(Debug, Serialize, JsonSchema)]
pub struct CapabilitiesOut {
    platform: &'static str,
    adapter: &'static str,
    version: String,
    protocol_version: u32,
    supports: Capabilities,
    config: ConfigFacts,
    tree_stats: BTreeMap<String, TreeStats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unavailable: Option<String>,
    /// The OCR engine: the tesseract library or program, or the system's; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    ocr_engine: Option<String>,
    /// What does not work on this desktop, always or at the moment, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limitations: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config_error: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigFacts {
    tree_max_depth: usize,
    tree_default_depth: usize,
    ascii_grid: GridSize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GridSize {
    width: usize,
    height: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TreeStats {
    captured_at: f64,
    capture_ms: u64,
    node_count: usize,
    named_node_count: usize,
}

impl Output for CapabilitiesOut {}

impl Tool for GetCapabilities {
    type Args = NoArgs;
    type Out = CapabilitiesOut;
    const META: Meta = Meta {
        name: "get_capabilities",
        group: Group::Session,
        always: true,
        rest: &[(Method::Get, "/api/capabilities")],
        brief: "What this server can do here: platform, abilities, limits, config problems.",
        detail: "`unavailable` says why there is no desktop, `limitations` what does not work on it, and \
                 `config_error` why the config file was not used.",
        examples: &[Example { scenario: None, args: "{}", shows: "the abilities of the mock desktop" }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<CapabilitiesOut> {
        let facts = cx.observer().facts();
        let health = cx.observer().health();
        let config = cx.config();
        let ocr_engine = cx.observer().ocr().describe().ok();
        let now_lacking = [health.accessibility.clone(), health.taken].into_iter().flatten();
        Ok(CapabilitiesOut {
            platform: os_name(),
            adapter: facts.adapter,
            version: config.mcp.version.clone(),
            protocol_version: 2,
            // These need no desktop, so every platform has them.
            supports: Capabilities {
                ocr: ocr_engine.is_some(),
                vlm: config.vlm.enabled && config.vlm.model.is_some(),
                tracing: true,
                replay: true,
                accessibility_tree: facts.supports.accessibility_tree && health.accessibility.is_none(),
                ..facts.supports
            },
            config: ConfigFacts {
                tree_max_depth: config.tree.max_depth,
                tree_default_depth: config.tree.default_depth,
                ascii_grid: GridSize {
                    width: config.ascii_sketch.grid_width,
                    height: config.ascii_sketch.grid_height,
                },
            },
            tree_stats: cx.observer().capture_stats().into_iter().map(stats_out).collect(),
            unavailable: facts.unavailable.or(health.desktop),
            ocr_engine,
            limitations: facts.limitations.into_iter().chain(now_lacking).collect(),
            config_error: cx.config_error().map(str::to_owned),
        })
    }
}

fn stats_out((uid, stats): (String, CaptureStats)) -> (String, TreeStats) {
    let since_epoch = stats.captured_at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let stats = TreeStats {
        captured_at: since_epoch.as_secs_f64(),
        capture_ms: millis(stats.capture_time),
        node_count: stats.node_count,
        named_node_count: stats.named_node_count,
    };
    (uid, stats)
}

pub struct GetBudgetStatus;

#[derive(Debug, Serialize, JsonSchema)]
pub struct BudgetOut {
    #[serde(flatten)]
    status: BudgetStatus,
    sent: SentTotals,
}

/// What clients have been sent so far. Tokens are estimated.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct SentTotals {
    tokens: u64,
    bytes: u64,
    by_tool: BTreeMap<&'static str, SentByTool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SentByTool {
    calls: u64,
    tokens: u64,
    bytes: u64,
}

impl SentTotals {
    fn from_counts(counts: BTreeMap<&'static str, ToolCount>) -> Self {
        let mut sent = SentTotals::default();
        for (name, count) in counts {
            let (tokens, bytes) = (count.reply.tokens(), count.reply.bytes);
            sent.tokens += tokens;
            sent.bytes += bytes;
            sent.by_tool.insert(name, SentByTool { calls: count.calls, tokens, bytes });
        }
        sent
    }
}

impl Output for BudgetOut {}

impl Tool for GetBudgetStatus {
    type Args = NoArgs;
    type Out = BudgetOut;
    const META: Meta = Meta {
        name: "get_budget_status",
        group: Group::Session,
        lean: true,
        always: true,
        rest: &[(Method::Get, "/api/budget_status")],
        brief: "Remaining budget, and what replies have cost so far.",
        detail: "`configured:false` means that no limit is set. `sent` is what replies have cost so far, by \
                 tool: bytes and estimated tokens.",
        examples: &[Example { scenario: None, args: "{}", shows: "no limit is set" }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<BudgetOut> {
        let sent = SentTotals::from_counts(cx.metrics().by_tool());
        Ok(BudgetOut { status: cx.caller().budget_status(), sent })
    }
}

pub struct GetRedactionStatus;

impl Output for RedactionStatus {}

impl Tool for GetRedactionStatus {
    type Args = NoArgs;
    type Out = RedactionStatus;
    const META: Meta = Meta {
        name: "get_redaction_status",
        group: Group::Session,
        always: true,
        rest: &[(Method::Get, "/api/redaction_status")],
        brief: "Whether text is redacted, and how often that happened.",
        detail: "Secret fields are always redacted; this is about the configured patterns.",
        examples: &[Example { scenario: None, args: "{}", shows: "no pattern is configured" }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<RedactionStatus> {
        Ok(cx.redactor().redaction_status())
    }
}

pub const TOOLS: &[Spec] =
    &[Spec::of::<GetCapabilities>(), Spec::of::<GetBudgetStatus>(), Spec::of::<GetRedactionStatus>()];
