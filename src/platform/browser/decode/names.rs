//! The name of an element of a page, as the accessible name computation has it: what labels it, what it says of itself,
//! what stands in it, and last its title.

use super::roles::{DomRole, dom_role, is_named_by_content};
use super::snapshot::{DomDocument, Style};
use crate::model::Role;

/// Longer names are cut by whoever shows them; no name is gathered without an end.
const LONGEST_NAME: usize = 16 << 10;

const LONGEST_PAGE_WORDS: usize = 60;

/// Of a picture that the page calls nothing.
const NO_WORDS: &str = "no name";

pub fn accessible_name(document: &DomDocument<'_>, node: usize, role: Option<&Role>) -> String {
    own_name(document, node, role)
        .or_else(|| {
            role.filter(|role| is_named_by_content(role))
                .map(|_| content_text(document, node))
                .filter(|text| !text.is_empty())
        })
        .or_else(|| attribute_text(document, node, "title"))
        .or_else(|| attribute_text(document, node, "placeholder"))
        .or_else(|| attribute_text(document, node, "aria-placeholder"))
        .unwrap_or_default()
}

/// A name that was given to it, whatever stands in it.
pub fn own_name(document: &DomDocument<'_>, node: usize, role: Option<&Role>) -> Option<String> {
    referenced_text(document, node, "aria-labelledby")
        .or_else(|| attribute_text(document, node, "aria-label"))
        .or_else(|| native_name(document, node, role))
}

/// What a person reads in something that is called by its content, where it has another name: `aria-label`, a label
/// around a button, a part that is hidden from readers. `None` where both are the same.
pub fn shown_text(document: &DomDocument<'_>, node: usize, role: &Role, name: &str) -> Option<String> {
    let is_plain = || document.children(node).all(|child| document.is_text(child));
    if !is_named_by_content(role) || (is_plain() && own_name(document, node, Some(role)).is_none()) {
        return None;
    }
    let text = match document.tag(node) {
        "INPUT" => button_value(document, node).unwrap_or_default(),
        tag => {
            let unseen = matches!(tag, "OPTION" | "OPTGROUP");
            Gathering { unseen, as_drawn: true, ..Gathering::new(document) }.gather(node)
        }
    };
    Some(text).filter(|text| !text.is_empty() && text != name)
}

/// Whether there is anything that it could be called by, if it were a button.
pub fn has_name(document: &DomDocument<'_>, node: usize) -> bool {
    own_name(document, node, Some(&Role::Button)).is_some()
        || !Gathering { until_any: true, ..Gathering::new(document) }.gather(node).is_empty()
        || attribute_text(document, node, "title").is_some()
}

/// What the page itself calls an element that has no name: to a person it is a picture, or a place.
pub fn page_words(document: &DomDocument<'_>, node: usize) -> Option<String> {
    let shape = is_shape(document.tag(node));
    let tag = Some(document.tag(node)).filter(|_| shape).map(str::to_owned);
    let fill = attribute_text(document, node, "fill").filter(|_| shape);
    let file = attribute_text(document, node, "src").filter(|_| document.tag(node) == "IMG");
    let file = file.and_then(|address| file_name(&address));
    let words = ["name", "id", "class"].into_iter().filter_map(|name| attribute_text(document, node, name));
    let mut all: Vec<String> = tag.into_iter().chain(fill).chain(file).chain(words).collect();
    if all.is_empty() && matches!(document.tag(node), "IMG" | "CANVAS" | "svg") {
        all.push(NO_WORDS.to_owned());
    }
    let text: String = all.join(" ").chars().take(LONGEST_PAGE_WORDS).collect();
    (!text.is_empty()).then_some(text)
}

/// The parts that a drawing is made of.
pub fn is_shape(tag: &str) -> bool {
    matches!(
        tag,
        "rect" | "circle" | "ellipse" | "polygon" | "polyline" | "path" | "line" | "text" | "image" | "use"
    )
}

/// The last part of an address, without what is asked of it; nothing of a picture that is its own address.
fn file_name(address: &str) -> Option<String> {
    let path = address.split(['?', '#']).next().filter(|path| !path.starts_with("data:"))?;
    path.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// What the page says is wrong with a field.
pub fn error_message(document: &DomDocument<'_>, node: usize) -> Option<String> {
    referenced_text(document, node, "aria-errormessage")
}

/// What describes it beside its name.
pub fn description(document: &DomDocument<'_>, node: usize, name: &str) -> Option<String> {
    referenced_text(document, node, "aria-describedby")
        .or_else(|| attribute_text(document, node, "aria-description"))
        .or_else(|| attribute_text(document, node, "title"))
        .filter(|text| text != name)
}

fn attribute_text(document: &DomDocument<'_>, node: usize, name: &str) -> Option<String> {
    document.attribute(node, name).map(one_space).filter(|text| !text.is_empty())
}

fn referenced_text(document: &DomDocument<'_>, node: usize, attribute: &str) -> Option<String> {
    let ids = document.attribute(node, attribute)?.split_ascii_whitespace();
    let texts: Vec<String> = ids
        .filter_map(|id| document.node_with_id(id))
        .map(|target| text_of_reference(document, target))
        .filter(|text| !text.is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// What a reference leads to is read even where it is not shown.
fn text_of_reference(document: &DomDocument<'_>, node: usize) -> String {
    attribute_text(document, node, "aria-label")
        .or_else(|| attribute_text(document, node, "alt"))
        .unwrap_or_else(|| gather_text(document, node, !document.is_rendered(node)))
}

/// What HTML itself names an element by.
fn native_name(document: &DomDocument<'_>, node: usize, role: Option<&Role>) -> Option<String> {
    match document.tag(node) {
        "INPUT" => input_name(document, node),
        "SELECT" | "TEXTAREA" | "BUTTON" | "METER" | "PROGRESS" | "OUTPUT" => label_text(document, node),
        "IMG" | "AREA" => attribute_text(document, node, "alt"),
        "FIELDSET" => child_text(document, node, "LEGEND"),
        "TABLE" => child_text(document, node, "CAPTION"),
        "FIGURE" => child_text(document, node, "FIGCAPTION"),
        // What is written small is no HTML: a drawing and its parts.
        tag if tag.starts_with(|letter: char| letter.is_ascii_lowercase()) => {
            child_text(document, node, "title")
        }
        "OPTION" | "OPTGROUP" => attribute_text(document, node, "label"),
        _ if role == Some(&Role::Edit) => label_text(document, node),
        _ => None,
    }
}

fn input_name(document: &DomDocument<'_>, node: usize) -> Option<String> {
    label_text(document, node).or_else(|| button_value(document, node))
}

/// What stands on a button that is an `<input>`.
fn button_value(document: &DomDocument<'_>, node: usize) -> Option<String> {
    match document.word(node, "type").as_str() {
        "button" => attribute_text(document, node, "value"),
        "submit" => attribute_text(document, node, "value").or(Some("Submit".to_owned())),
        "reset" => attribute_text(document, node, "value").or(Some("Reset".to_owned())),
        "image" => attribute_text(document, node, "alt").or_else(|| attribute_text(document, node, "value")),
        _ => None,
    }
}

fn label_text(document: &DomDocument<'_>, node: usize) -> Option<String> {
    let by_id = document.attribute(node, "id").map_or(&[][..], |id| document.labels_for(id));
    let around = document.ancestors(node).find(|&above| document.tag(above) == "LABEL");
    let around = around.filter(|&label| !document.has_attribute(label, "for") && !by_id.contains(&label));
    let texts: Vec<String> = by_id
        .iter()
        .copied()
        .chain(around)
        .map(|label| gather_label(document, label, node))
        .filter(|text| !text.is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

fn child_text(document: &DomDocument<'_>, node: usize, tag: &str) -> Option<String> {
    let child = document.children(node).find(|&child| document.tag(child) == tag)?;
    Some(gather_text(document, child, !document.is_rendered(child))).filter(|text| !text.is_empty())
}

/// The text that stands in an element, as a person reads it.
pub fn content_text(document: &DomDocument<'_>, node: usize) -> String {
    // Options are drawn by the browser itself.
    gather_text(document, node, matches!(document.tag(node), "OPTION" | "OPTGROUP"))
}

fn gather_text(document: &DomDocument<'_>, root: usize, unseen: bool) -> String {
    Gathering { unseen, ..Gathering::new(document) }.gather(root)
}

/// A label's text, without that of the field that it is around.
fn gather_label(document: &DomDocument<'_>, label: usize, field: usize) -> String {
    let unseen = !document.is_rendered(label);
    Gathering { unseen, without: Some(field), ..Gathering::new(document) }.gather(label)
}

/// Collects the text below an element in the order in which it is read.
struct Gathering<'a, 'd> {
    document: &'a DomDocument<'d>,
    /// Also what is not drawn.
    unseen: bool,
    without: Option<usize>,
    /// As it is drawn, whatever readers are told instead.
    as_drawn: bool,
    /// Ends at the first text that is not blank.
    until_any: bool,
    has_words: bool,
    text: String,
}

/// What is left to do: a node, or the end of one that stands on lines of its own.
enum GatherStep {
    Node(usize),
    Space,
}

impl<'a, 'd> Gathering<'a, 'd> {
    fn new(document: &'a DomDocument<'d>) -> Self {
        Self {
            document,
            unseen: false,
            without: None,
            as_drawn: false,
            until_any: false,
            has_words: false,
            text: String::new(),
        }
    }

    fn gather(mut self, root: usize) -> String {
        let mut steps: Vec<GatherStep> = Vec::new();
        self.push_children(root, &mut steps);
        while let Some(step) = steps.pop() {
            let is_enough = self.until_any && self.has_words;
            if self.text.len() > LONGEST_NAME || is_enough || !self.document.may_read_on() {
                break;
            }
            match step {
                GatherStep::Space => self.push_space(),
                GatherStep::Node(node) => self.add_node(node, &mut steps),
            }
        }
        one_space(&self.text)
    }

    fn push_children(&self, node: usize, steps: &mut Vec<GatherStep>) {
        let children = self.document.children_in_order(node);
        steps.extend(children.into_iter().rev().map(GatherStep::Node));
    }

    fn add_node(&mut self, node: usize, steps: &mut Vec<GatherStep>) {
        let document = self.document;
        if document.is_text(node) {
            if self.unseen || document.is_rendered(node) {
                self.push_text(document.node_text(node));
            }
            return;
        }
        if self.without == Some(node) || self.is_left_out(node) {
            return;
        }
        if let Some(text) = self.replacing_text(node) {
            self.push_space();
            self.push_text(&text);
            self.push_space();
            return;
        }
        if stands_apart(document, node) {
            self.push_space();
            steps.push(GatherStep::Space);
        }
        if document.is_pseudo(node) {
            for text in document.pseudo_texts(node) {
                self.push_text(text);
            }
        }
        self.push_children(node, steps);
    }

    fn push_text(&mut self, text: &str) {
        self.has_words |= text.contains(|letter: char| !letter.is_whitespace());
        self.text.push_str(text);
    }

    fn push_space(&mut self) {
        if !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    /// Nothing that is hidden from readers, and no list or menu that opens below an item.
    fn is_left_out(&self, node: usize) -> bool {
        let document = self.document;
        let is_hidden = (!self.as_drawn && document.word(node, "aria-hidden") == "true")
            || document.style(node, Style::Visibility) == "hidden"
            || matches!(document.tag(node), "SCRIPT" | "STYLE" | "TEMPLATE" | "NOSCRIPT" | "HEAD");
        let opens = matches!(document.word(node, "role").as_str(), "group" | "menu" | "tree" | "listbox");
        let drawn = self.unseen || document.is_rendered(node) || holds_anything(document, node);
        is_hidden || opens || !drawn
    }

    /// What is said instead of what stands in it: its own name, or what a field holds.
    fn replacing_text(&self, node: usize) -> Option<String> {
        let document = self.document;
        if let Some(label) = attribute_text(document, node, "aria-label").filter(|_| !self.as_drawn) {
            return Some(label);
        }
        match document.tag(node) {
            "BR" | "WBR" => Some(String::new()),
            "IMG" => {
                let title = || attribute_text(document, node, "title");
                Some(attribute_text(document, node, "alt").or_else(title).unwrap_or_default())
            }
            "svg" => Some(child_text(document, node, "title").unwrap_or_default()),
            "INPUT" | "TEXTAREA" => Some(field_text(document, node)),
            "SELECT" => Some(chosen_options(document, node)),
            _ => None,
        }
    }
}

/// What has no box of its own may hold what has: `display: contents`.
fn holds_anything(document: &DomDocument<'_>, node: usize) -> bool {
    document.children(node).any(|child| document.is_rendered(child)) || document.tag(node) == "SLOT"
}

fn field_text(document: &DomDocument<'_>, node: usize) -> String {
    let kind = document.word(node, "type");
    let shows_value =
        matches!(kind.as_str(), "button" | "submit" | "reset" | "" | "text" | "number" | "search");
    let is_secret = super::roles::is_secret_field(document, node);
    let value = document.field_value(node).or_else(|| document.attribute(node, "value"));
    value.filter(|_| shows_value && !is_secret).map(one_space).unwrap_or_default()
}

/// The names of the options that are chosen in a list.
pub fn chosen_options(document: &DomDocument<'_>, select: usize) -> String {
    let options = select_options(document, select).into_iter();
    let chosen = options.filter(|&option| document.is_selected_option(option));
    let names: Vec<String> =
        chosen.map(|option| accessible_name(document, option, Some(&Role::ListItem))).collect();
    names.join(", ")
}

/// The options of a list, also those in groups.
pub fn select_options(document: &DomDocument<'_>, select: usize) -> Vec<usize> {
    let mut options = Vec::new();
    let mut rest: Vec<usize> = document.children(select).collect();
    rest.reverse();
    while let Some(node) = rest.pop() {
        match document.tag(node) {
            "OPTION" => options.push(node),
            _ => {
                let below: Vec<usize> = document.children(node).collect();
                rest.extend(below.into_iter().rev());
            }
        }
    }
    options
}

/// What the group of an option is called.
pub fn option_group(document: &DomDocument<'_>, option: usize) -> Option<String> {
    let group = document.parent(option).filter(|&above| document.tag(above) == "OPTGROUP")?;
    attribute_text(document, group, "label")
}

/// It begins and ends a line, or is a box of its own in one.
fn stands_apart(document: &DomDocument<'_>, node: usize) -> bool {
    let display = document.style(node, Style::Display);
    !matches!(display, "" | "inline" | "contents" | "ruby" | "ruby-text")
        || matches!(dom_role(document, node), DomRole::Shown(role) if role != Role::Hyperlink)
}

/// One blank for every run of blanks, and none at the ends.
pub fn one_space(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !result.is_empty() {
            result.push(' ');
        }
        result.push_str(word);
    }
    result
}
