//! Names and roles of what can be acted on, against Chromium's own accessibility tree: on the pages of MiniWoB++ and on
//! those of Rust's documentation.
//!
//! What differs is printed. Known: in one summary of *trait Iterator* our name has a blank between a link and the full
//! stop behind it, where Chromium has none.
//!
//! `./test.sh` puts MiniWoB++ into its cache and names the folder in `MINIWOB_HTML`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use os_screen_observer::model::{Rect, Role, Tree};
use os_screen_observer::platform::browser::decode::handle::NodeHandle;
use os_screen_observer::platform::browser::decode::snapshot::STYLES;
use os_screen_observer::platform::browser::decode::tree::{FrameCapture, page_tree};
use serde_json::{Value, json};

use crate::devtools::DevTools;
use crate::site;
use crate::support::project;

/// What Chromium calls the things that one acts on, and what we call them.
const ROLES: &[(&str, &[Role])] = &[
    ("button", &[Role::Button, Role::ToggleButton]),
    ("checkbox", &[Role::CheckBox]),
    ("combobox", &[Role::ComboBox]),
    ("link", &[Role::Hyperlink]),
    ("listbox", &[Role::List]),
    ("menuitem", &[Role::MenuItem]),
    ("menuitemcheckbox", &[Role::MenuItem]),
    ("menuitemradio", &[Role::MenuItem]),
    ("option", &[Role::ListItem]),
    ("radio", &[Role::RadioButton]),
    ("searchbox", &[Role::Edit]),
    ("slider", &[Role::Slider]),
    ("spinbutton", &[Role::Spinner]),
    ("switch", &[Role::ToggleButton]),
    ("tab", &[Role::TabItem]),
    ("textbox", &[Role::Edit]),
    ("treeitem", &[Role::TreeItem]),
    ("ColorWell", &[Role::Button]),
    ("Date", &[Role::Edit]),
    ("DateTime", &[Role::Edit]),
    ("DisclosureTriangle", &[Role::Button]),
    ("InputTime", &[Role::Edit]),
];

/// What both trees say of one page.
#[derive(Default)]
struct Agreement {
    compared: usize,
    differences: Vec<String>,
}

impl Agreement {
    fn add(&mut self, page: &str, other: Agreement) {
        self.compared += other.compared;
        self.differences.extend(other.differences.into_iter().map(|line| format!("{page}: {line}")));
    }

    /// At least 99 of 100 agree.
    #[track_caller]
    fn check(&self, at_least: usize) {
        let (compared, differ) = (self.compared, self.differences.len());
        assert!(compared >= at_least, "only {compared} were compared");
        let listed = self.differences.join("\n  ");
        assert!(
            differ * 100 <= compared,
            "{differ} of {compared} differ from Chromium's own tree:\n  {listed}"
        );
    }
}

fn blanks_as_one(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page that shows, as our decoding reads it; the snapshot comes first, then Chromium's tree.
fn read_page(browser: &mut DevTools) -> (Tree, Vec<Value>, Value) {
    let frame_tree = browser.call("Page.getFrameTree", json!({}))["frameTree"].clone();
    let mut documents = HashMap::new();
    let mut rest = vec![&frame_tree];
    while let Some(frame) = rest.pop() {
        let text = |key: &str| frame["frame"][key].as_str().unwrap_or_default().to_owned();
        documents.insert(text("id"), text("loaderId"));
        rest.extend(frame["childFrames"].as_array().into_iter().flatten());
    }
    let snapshot = browser.call("DOMSnapshot.captureSnapshot", json!({ "computedStyles": STYLES }));
    let accessible = documents
        .keys()
        .flat_map(|frame| {
            let nodes = browser.call("Accessibility.getFullAXTree", json!({ "frameId": frame }));
            nodes["nodes"].as_array().cloned().unwrap_or_default()
        })
        .collect();
    let capture = FrameCapture {
        snapshot: serde_json::from_value(snapshot.clone()).unwrap(),
        documents,
        ..FrameCapture::default()
    };
    (page_tree(&[capture], "page", Rect::new(0, 0, 1280, 800)), accessible, snapshot)
}

/// The nodes that are in the snapshot: parts that the browser itself puts into a field are in none.
fn snapshot_nodes(snapshot: &Value) -> Vec<i64> {
    let documents = snapshot["documents"].as_array().into_iter().flatten();
    let ids =
        documents.flat_map(|document| document["nodes"]["backendNodeId"].as_array().into_iter().flatten());
    let mut ids: Vec<i64> = ids.filter_map(Value::as_i64).collect();
    ids.sort_unstable();
    ids
}

fn compare_page(browser: &mut DevTools) -> Agreement {
    let (tree, accessible, snapshot) = read_page(browser);
    let in_snapshot = snapshot_nodes(&snapshot);
    let mut ours: HashMap<i64, Vec<(&Role, String)>> = HashMap::new();
    for element in tree.elements() {
        if let Some(handle) = element.native.as_deref().and_then(NodeHandle::parse) {
            let facts = (&element.role, blanks_as_one(&element.name));
            ours.entry(handle.backend_node).or_default().push(facts);
        }
    }
    let mut agreement = Agreement::default();
    for node in accessible.iter().filter(|node| node["ignored"] == false) {
        let text = |key: &str| node[key]["value"].as_str().unwrap_or_default();
        let role = text("role");
        let Some((_, roles)) = ROLES.iter().find(|(name, _)| *name == role) else { continue };
        let Some(id) = node["backendDOMNodeId"].as_i64().filter(|id| in_snapshot.binary_search(id).is_ok())
        else {
            continue;
        };
        let name = blanks_as_one(text("name"));
        let found = ours.get(&id).map_or(&[][..], Vec::as_slice);
        agreement.compared += 1;
        if !found.iter().any(|(role, said)| roles.contains(role) && same_name(said, &name)) {
            agreement.differences.push(format!("{role} {name:?} is {found:?}"));
        }
    }
    agreement
}

/// Long names are shortened by us.
fn same_name(ours: &str, theirs: &str) -> bool {
    ours == theirs || ours.split_once("… [cut").is_some_and(|(start, _)| theirs.starts_with(start.trim_end()))
}

/// The folder of MiniWoB++'s pages.
pub fn miniwob() -> PathBuf {
    let named = std::env::var_os("MINIWOB_HTML").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| project().join(".cache/miniwob-1.1.0/miniwob/html"));
    let there = folder.join("miniwob/click-test.html").is_file();
    assert!(there, "{} has no MiniWoB++; ./test.sh gets it", folder.display());
    folder
}

fn pages_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut pages: Vec<String> = names.filter(|name| name.ends_with(".html")).collect();
    pages.sort();
    pages
}

#[test]
fn names_and_roles_are_chromiums_on_the_pages_of_miniwob() {
    let folder = miniwob();
    let base = site::folder_address(&folder);
    let mut browser = DevTools::start();
    let mut all = Agreement::default();
    for page in pages_in(&folder.join("miniwob")) {
        browser.open(&format!("{base}/miniwob/{page}"));
        browser.evaluate("Math.seedrandom('1'); core.startEpisodeReal(); 1");
        all.add(&page, compare_page(&mut browser));
    }
    all.check(300);
}

/// Pages of every kind that the documentation has.
const DOCUMENTATION: &[&str] = &[
    "std/index.html",
    "std/iter/trait.Iterator.html",
    "std/vec/struct.Vec.html",
    "std/primitive.str.html",
    "std/all.html",
    "std/io/index.html",
    "book/ch04-01-what-is-ownership.html",
    "reference/tokens.html",
    "cargo/index.html",
    "index.html",
];

/// Where this toolchain has its documentation.
fn documentation() -> PathBuf {
    let printed = Command::new("rustc").args(["--print", "sysroot"]).output().unwrap().stdout;
    PathBuf::from(String::from_utf8(printed).unwrap().trim()).join("share/doc/rust/html")
}

#[test]
fn names_and_roles_are_chromiums_in_the_documentation_of_rust() {
    let folder = documentation();
    let is_there = folder.join("std/index.html").is_file();
    assert!(is_there, "this toolchain has no documentation (rustup component add rust-docs)");
    let base = site::folder_address(&folder);
    let mut browser = DevTools::start();
    let mut all = Agreement::default();
    for page in DOCUMENTATION.iter().filter(|page| folder.join(page).is_file()) {
        browser.open(&format!("{base}/{page}"));
        all.add(page, compare_page(&mut browser));
    }
    all.check(5_000);
}
