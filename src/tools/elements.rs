//! Reading a window's elements: the tree, and finding one in it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{WindowArgs, regex};
use crate::error::Result;
use crate::gate::Permit;
use crate::model::{Rect, Tree};
use crate::observer::structure::{Request, Structure};
use crate::observer::{Chosen, Look, Perf, View};
use crate::tool::args::{Int, Text};
use crate::tool::{Cx, Example, Group, Meta, Method, Output, ReplyKind, Spec, Tool};

pub struct GetWindowStructure;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct StructureArgs {
    #[serde(flatten)]
    window: WindowArgs,
    /// Levels below the root; default 5.
    depth: Option<Int<0, 64>>,
    /// Element id: only its subtree.
    scope: Option<Text<2048>>,
    /// Roles that match, e.g. ["Button"].
    #[serde(default)]
    roles: Vec<String>,
    /// Roles that do not match.
    #[serde(default)]
    exclude_roles: Vec<String>,
    /// Regex searched in names.
    name_regex: Option<Text<512>>,
    /// Match only what can be seen.
    visible_only: Option<bool>,
    /// Cut names and values to this length.
    max_text_len: Option<Int<1, 100000>>,
    /// Drop what does not match (else filters only mark pages).
    prune_empty: Option<bool>,
    /// Page size: a flat list of nodes.
    max_nodes: Option<Int<1, 20000>>,
    /// next_cursor of the page before.
    page_cursor: Option<Text<2048>>,
    /// Where a window shows no elements, the lines that OCR reads stand for them.
    #[schemars(extend("x-hidden" = true))]
    ocr: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct StructureOut {
    window: String,
    window_uid: String,
    element_count: usize,
    node_count: usize,
    #[schemars(with = "serde_json::Value")]
    tree: Structure,
    tree_hash: String,
    tree_token: Option<String>,
    truncated: bool,
    next_cursor: Option<String>,
    depth_used: usize,
    depth_truncated: bool,
    perf: Perf,
    /// Present and false when the application could not be read to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded: Option<Degraded>,
}

/// Too few named elements to work with: other eyes may see more.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Degraded {
    reason: &'static str,
    named_node_count: usize,
    threshold: usize,
    suggested_fallbacks: [&'static str; 2],
    /// Why, where the platform knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl Output for StructureOut {}

impl Tool for GetWindowStructure {
    type Args = StructureArgs;
    type Out = StructureOut;
    const META: Meta = Meta {
        name: "get_window_structure",
        group: Group::Elements,
        reply: ReplyKind::Tree,
        untrusted: true,
        rest: &[(Method::Get, "/api/structure")],
        brief: "Accessibility tree of a window: ids, roles, names, values, bounds, states.",
        detail: "Nodes cut by `depth` carry `truncated` and `child_count`; read on with `scope`. Filters decide \
                 which nodes match; with `prune_empty` only matches and their ancestors stay. `max_nodes` pages \
                 the tree as a flat list. `offscreen` marks what is there but not to be seen now (in a closed menu, \
                 scrolled away). `degraded` says that the application shows too little of itself, and why where \
                 that is known; `ocr: true` then puts the lines that can be read below the root.",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"window_index":0}"#,
                shows: "the whole tree of the front window",
            },
            Example {
                scenario: Some("scenarios/dense.yaml"),
                args: r#"{"roles":["Button"],"prune_empty":true,"depth":8}"#,
                shows: "only the buttons of a dense application, with the way to them",
            },
        ],
        verify: &["node_count", "tree_hash"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: StructureArgs, _: Permit) -> Result<StructureOut> {
        let chosen = cx.observer().choose(&args.window.choice())?;
        cx.warning = chosen.warning.clone();
        let request = request(cx, &args, &chosen)?;
        let mut look = cx.observer().look(&chosen, cx.cancel)?;
        let degraded = if request.scope.is_none() { degraded(cx, &look.view) } else { None };
        let is_dark = look.view.tree().len() == 1;
        let read = is_dark && args.ocr == Some(true);
        if read {
            let view = cx.observer().view_by_reading(&chosen, &look.view, cx.cancel)?;
            look = Look { view, cached: false };
            cx.warning = Some(READ_BY_OCR.to_owned());
        }
        let structure = Structure::new(look.view.clone(), &request)
            .map_err(|error| error.with("window_uid", chosen.window.uid.as_str()))?;
        let whole = request.scope.is_none() && !read;
        let element_count = look.view.tree().end(structure.scope) - structure.scope;
        let tree_token = whole.then(|| {
            let now = cx.clock().now();
            cx.session().trees.put(&chosen.window.uid, look.view.clone(), now)
        });
        Ok(StructureOut {
            element_count,
            node_count: structure.node_count,
            tree_hash: look.view.hash_of(structure.scope),
            tree_token,
            truncated: structure.next_cursor.is_some(),
            next_cursor: structure.next_cursor.clone(),
            depth_used: request.depth,
            depth_truncated: structure.depth_truncated,
            perf: Perf::of(&look, element_count, request.depth),
            complete: (!look.view.tree().complete).then_some(false),
            degraded,
            scope: request.scope,
            window: chosen.window.title,
            window_uid: chosen.window.uid,
            tree: structure,
        })
    }
}

const READ_BY_OCR: &str = "the window shows no elements; what stands below its root was read by OCR and is known \
                           by its place alone: click there with click_at";

fn request(cx: &Cx, args: &StructureArgs, chosen: &Chosen) -> Result<Request> {
    let limits = &cx.config().tree;
    let depth = args.depth.map_or(limits.default_depth, Int::size).min(limits.max_depth);
    let visible_in = match args.visible_only {
        Some(true) => Some(cx.observer().visible_regions(chosen)?),
        _ => None,
    };
    let owned = |text: &Option<Text<2048>>| text.as_ref().map(|text| text.as_str().to_owned());
    Ok(Request {
        depth,
        scope: owned(&args.scope),
        roles: args.roles.clone(),
        exclude_roles: args.exclude_roles.clone(),
        name_regex: args.name_regex.as_ref().map(|text| regex("name_regex", text.as_str())).transpose()?,
        visible_in,
        max_text_len: args.max_text_len.map(Int::size),
        prune_empty: args.prune_empty.unwrap_or(false),
        max_nodes: args.max_nodes.map(Int::size),
        page_cursor: owned(&args.page_cursor),
    })
}

fn degraded(cx: &Cx, view: &Arc<View>) -> Option<Degraded> {
    let threshold = cx.config().tree.sparse_threshold;
    let named_node_count = view.named_count();
    (named_node_count < threshold).then_some(Degraded {
        reason: "sparse_accessibility_tree",
        named_node_count,
        threshold,
        suggested_fallbacks: ["get_ocr", "get_screen_description"],
        detail: view.tree().lacking.clone(),
    })
}

pub struct FindElement;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct FindArgs {
    /// Window/Button[name="OK"], //Edit, Dialog > Button, [name*="part"], [name~="regex"].
    selector: Text<2048>,
    #[serde(flatten)]
    window: WindowArgs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    window_uid: String,
    element_id: String,
    selector: String,
    bounds: Rect,
    ambiguous_matches: usize,
    all_matches: Vec<Match>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Match {
    element_id: String,
    bounds: Rect,
    name: String,
    role: String,
}

impl Output for Found {}

impl Tool for FindElement {
    type Args = FindArgs;
    type Out = Found;
    const META: Meta = Meta {
        name: "find_element",
        group: Group::Elements,
        untrusted: true,
        rest: &[(Method::Get, "/api/find_element")],
        brief: "Find elements by selector; the first match and up to 10 in all. A miss names what is near.",
        detail: "Selectors are written like paths (`Window/MenuBar/MenuItem[name=\"Edit\"]`, `//Button`) or like \
                 CSS (`Dialog > Button`, `Window Edit`, `:has-text(\"Save\")`). Operators: `=` equal, `*=` \
                 contains, `~=` regular expression over the whole text. `[index=n]` counts siblings of the same \
                 role from 0.",
        examples: &[
            Example {
                scenario: None,
                args: r#"{"selector":"Window/MenuBar/MenuItem[name=\"Edit\"]"}"#,
                shows: "one menu item, by its path",
            },
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"selector":"//Button[name~=\"Log.*\"]"}"#,
                shows: "a button anywhere, by a regular expression over its name",
            },
        ],
        verify: &["ok", "error.code", "ambiguous_matches>0"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: FindArgs, _: Permit) -> Result<Found> {
        let chosen = cx.observer().choose(&args.window.choice())?;
        cx.warning = chosen.warning.clone();
        let (view, selector, matches) = cx.observer().find_all(&chosen, args.selector.as_str(), cx.cancel)?;
        let tree = view.tree();
        let all_matches: Vec<Match> = matches.iter().map(|&node| describe(tree, node)).collect();
        let first = &all_matches[0];
        Ok(Found {
            window_uid: chosen.window.uid,
            element_id: first.element_id.clone(),
            selector,
            bounds: first.bounds,
            ambiguous_matches: all_matches.len(),
            all_matches,
        })
    }
}

fn describe(tree: &Tree, node: usize) -> Match {
    let element = &tree[node];
    Match {
        element_id: tree.id(node),
        bounds: element.bounds,
        name: element.name.clone(),
        role: element.role.to_string(),
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<GetWindowStructure>(), Spec::of::<FindElement>()];
