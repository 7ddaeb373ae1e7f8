//! Which role an element of a page has: by its `role`, else by its tag.

use super::snapshot::DomDocument;
use crate::model::Role;

/// The roles of WAI-ARIA that are not mere containers, and what we call them.
const ARIA: &[(&str, Role)] = &[
    ("alert", Role::Alert),
    ("alertdialog", Role::AlertDialog),
    ("application", Role::Application),
    ("button", Role::Button),
    ("checkbox", Role::CheckBox),
    ("columnheader", Role::HeaderItem),
    ("combobox", Role::ComboBox),
    ("dialog", Role::Dialog),
    ("gridcell", Role::DataItem),
    ("cell", Role::DataItem),
    ("grid", Role::Table),
    ("heading", Role::Heading),
    ("image", Role::Image),
    ("img", Role::Image),
    ("link", Role::Hyperlink),
    ("listbox", Role::List),
    ("menu", Role::Menu),
    ("menubar", Role::MenuBar),
    ("menuitem", Role::MenuItem),
    ("menuitemcheckbox", Role::MenuItem),
    ("menuitemradio", Role::MenuItem),
    ("meter", Role::ProgressBar),
    ("option", Role::ListItem),
    ("progressbar", Role::ProgressBar),
    ("radio", Role::RadioButton),
    ("row", Role::Row),
    ("rowheader", Role::HeaderItem),
    ("scrollbar", Role::ScrollBar),
    ("searchbox", Role::Edit),
    ("separator", Role::Separator),
    ("slider", Role::Slider),
    ("spinbutton", Role::Spinner),
    ("status", Role::StatusBar),
    ("switch", Role::ToggleButton),
    ("tab", Role::TabItem),
    ("table", Role::Table),
    ("tablist", Role::Tab),
    ("textbox", Role::Edit),
    ("toolbar", Role::ToolBar),
    ("tooltip", Role::ToolTip),
    ("tree", Role::Tree),
    ("treegrid", Role::Table),
    ("treeitem", Role::TreeItem),
];

/// Containers: they show only under a name of their own.
const ARIA_CONTAINERS: &[&str] = &[
    "article",
    "banner",
    "complementary",
    "contentinfo",
    "definition",
    "directory",
    "document",
    "feed",
    "figure",
    "form",
    "group",
    "list",
    "listitem",
    "log",
    "main",
    "marquee",
    "math",
    "navigation",
    "note",
    "radiogroup",
    "region",
    "rowgroup",
    "search",
    "term",
    "timer",
    "generic",
    "blockquote",
    "paragraph",
];

/// What of a tag follows from its name alone.
const TAGS: &[(&str, Role)] = &[
    ("BUTTON", Role::Button),
    ("CANVAS", Role::Canvas),
    ("DIALOG", Role::Dialog),
    ("H1", Role::Heading),
    ("H2", Role::Heading),
    ("H3", Role::Heading),
    ("H4", Role::Heading),
    ("H5", Role::Heading),
    ("H6", Role::Heading),
    ("HR", Role::Separator),
    ("IMG", Role::Image),
    ("METER", Role::ProgressBar),
    ("OPTION", Role::ListItem),
    ("OUTPUT", Role::StatusBar),
    ("PROGRESS", Role::ProgressBar),
    ("SUMMARY", Role::Button),
    ("TEXTAREA", Role::Edit),
    ("svg", Role::Image),
];

const INPUT_TYPES: &[(&str, Role)] = &[
    ("button", Role::Button),
    ("checkbox", Role::CheckBox),
    ("color", Role::Button),
    ("file", Role::Button),
    ("image", Role::Button),
    ("number", Role::Spinner),
    ("radio", Role::RadioButton),
    ("range", Role::Slider),
    ("reset", Role::Button),
    ("submit", Role::Button),
];

/// The kinds of fields whose text one writes.
const TEXT_INPUTS: &[&str] = &[
    "",
    "text",
    "search",
    "email",
    "url",
    "tel",
    "password",
    "number",
    "date",
    "time",
    "datetime-local",
    "month",
    "week",
];

/// What an element is to a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DomRole {
    /// It is in the tree.
    Shown(Role),
    /// It is in the tree as a group if it has a name of its own; what is in it is there in any case.
    Container,
}

pub fn dom_role(document: &DomDocument<'_>, node: usize) -> DomRole {
    explicit_role(document, node).unwrap_or_else(|| tag_role(document, node))
}

/// What we call a role of WAI-ARIA; nothing for mere containers.
pub fn aria_role(word: &str) -> Option<Role> {
    ARIA.iter().find(|(name, _)| *name == word).map(|(_, role)| role.clone())
}

/// The first role that is known. `none` takes a role away, unless one could act on the element.
fn explicit_role(document: &DomDocument<'_>, node: usize) -> Option<DomRole> {
    let named = document.attribute(node, "role")?;
    for word in named.split_ascii_whitespace() {
        let word = word.to_ascii_lowercase();
        if let Some(role) = aria_role(&word) {
            return Some(DomRole::Shown(adjust_button(document, node, &role)));
        }
        if ARIA_CONTAINERS.contains(&word.as_str()) {
            return Some(DomRole::Container);
        }
        if matches!(word.as_str(), "none" | "presentation") && !is_focusable(document, node) {
            return Some(DomRole::Container);
        }
    }
    None
}

/// A button that says whether it is pressed is a toggle.
fn adjust_button(document: &DomDocument<'_>, node: usize, role: &Role) -> Role {
    match role {
        Role::Button if document.has_attribute(node, "aria-pressed") => Role::ToggleButton,
        role => role.clone(),
    }
}

fn tag_role(document: &DomDocument<'_>, node: usize) -> DomRole {
    let role = match document.tag(node) {
        "A" | "AREA" => document.has_attribute(node, "href").then_some(Role::Hyperlink),
        "INPUT" => Some(input_role(document, node)),
        "SELECT" if is_list_box(document, node) => Some(Role::List),
        "SELECT" => Some(Role::ComboBox),
        tag => TAGS.iter().find(|(name, _)| *name == tag).map(|(_, role)| role.clone()),
    };
    match role {
        Some(role) => DomRole::Shown(adjust_button(document, node, &role)),
        None if is_editing_host(document, node) => DomRole::Shown(Role::Edit),
        None => DomRole::Container,
    }
}

fn input_role(document: &DomDocument<'_>, node: usize) -> Role {
    let kind = document.word(node, "type");
    let known = INPUT_TYPES.iter().find(|(name, _)| *name == kind).map(|(_, role)| role.clone());
    match known {
        Some(role) => role,
        None if document.has_attribute(node, "list") => Role::ComboBox,
        None => Role::Edit,
    }
}

/// It shows several options at a time.
pub fn is_list_box(document: &DomDocument<'_>, node: usize) -> bool {
    let size = document.attribute(node, "size").and_then(|size| size.trim().parse::<u32>().ok());
    document.has_attribute(node, "multiple") || size.is_some_and(|size| size > 1)
}

/// A text of the page that can be edited, and not what is within it.
pub fn is_editing_host(document: &DomDocument<'_>, node: usize) -> bool {
    document
        .attribute(node, "contenteditable")
        .is_some_and(|value| !value.trim().eq_ignore_ascii_case("false"))
}

/// Whether a text can be typed into it now.
pub fn is_editable(document: &DomDocument<'_>, node: usize) -> bool {
    match is_text_field(document, node) {
        true => !says_read_only(document, node),
        false => !matches!(document.tag(node), "TEXTAREA" | "INPUT") && is_editing_host(document, node),
    }
}

/// A field of text that says that nobody may write into it.
pub fn is_read_only(document: &DomDocument<'_>, node: usize) -> bool {
    is_text_field(document, node) && says_read_only(document, node)
}

fn is_text_field(document: &DomDocument<'_>, node: usize) -> bool {
    match document.tag(node) {
        "TEXTAREA" => true,
        "INPUT" => TEXT_INPUTS.contains(&document.word(node, "type").as_str()),
        _ => false,
    }
}

fn says_read_only(document: &DomDocument<'_>, node: usize) -> bool {
    document.has_attribute(node, "readonly") || document.word(node, "aria-readonly") == "true"
}

/// A password, a one-time code, or the number of a card.
pub fn is_secret_field(document: &DomDocument<'_>, node: usize) -> bool {
    let kind = document.attribute(node, "type").filter(|_| document.tag(node) == "INPUT");
    names_secret(kind.unwrap_or_default(), document.attribute(node, "autocomplete").unwrap_or_default())
}

/// By the kind of a field and by what it says it is for.
pub fn names_secret(kind: &str, autocomplete: &str) -> bool {
    let is_secret = |purpose: &str| {
        matches!(purpose, "one-time-code" | "current-password" | "new-password") || purpose.starts_with("cc-")
    };
    kind.trim().eq_ignore_ascii_case("password")
        || autocomplete.to_ascii_lowercase().split_ascii_whitespace().any(is_secret)
}

fn is_focusable(document: &DomDocument<'_>, node: usize) -> bool {
    document.has_attribute(node, "tabindex")
        || matches!(document.tag(node), "BUTTON" | "INPUT" | "SELECT" | "TEXTAREA")
        || (document.tag(node) == "A" && document.has_attribute(node, "href"))
}

/// Its name is what stands in it.
pub fn is_named_by_content(role: &Role) -> bool {
    role.is_pressed_by_key()
        || matches!(
            role,
            Role::Heading
                | Role::MenuItem
                | Role::TabItem
                | Role::TreeItem
                | Role::ListItem
                | Role::DataItem
                | Role::HeaderItem
                | Role::ToolTip
        )
}
