//! What a call would touch.

use std::borrow::Cow;
use std::sync::Arc;

use super::identity::Certainty;
use super::{Observer, Ref, ResolvedWindow, View};
use crate::config::PageOrigin;
use crate::error::Result;
use crate::model::{Element, Point, Rect, Role, Tree, selector};
use crate::privacy::redact::Redactor;

/// What a call would touch: found before it acts, judged by the gate, used by the tool. Rules see each kind by its role
/// and its name.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every target is an element, and there are few at a time"
)]
pub enum Target {
    Element(ElementTarget),
    /// A program that would be started, by what the desktop calls it.
    Program(String, Starting),
    /// A program that would be started, by another of its names.
    ProgramName(String),
    /// A command line that would be run.
    Command(String),
    Clipboard,
    /// An address that would be opened, or whose data would be cleared.
    Url(String),
    /// A file that would be handed to a page, or kept of what a page sent.
    File(String),
    /// A window by its title, where its root element is called otherwise.
    WindowTitle(String),
    /// An option that is only there once its list is open.
    ListOption(String),
    /// Text that was read in a picture of the screen.
    ScreenText(String),
    /// A menu of no listed window, of which nothing could be read.
    UnreadMenu,
    /// An input of this tool that meets nothing that is known.
    Screen(&'static str),
}

/// A program that would be started: the config may allow it or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starting {
    /// As the caller wrote it.
    pub program: String,
    /// The desktop offers it to people.
    pub installed: bool,
    /// Ids of apps that may be meant, where it does not.
    pub similar: Vec<String>,
    /// What is run for it.
    pub command: Vec<String>,
}

impl From<ElementTarget> for Target {
    fn from(element: ElementTarget) -> Self {
        Target::Element(element)
    }
}

impl Target {
    pub fn element(&self) -> Option<&ElementTarget> {
        match self {
            Target::Element(element) => Some(element),
            _ => None,
        }
    }

    pub fn into_element(self) -> Option<ElementTarget> {
        match self {
            Target::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The role that rules see, as the application says it.
    pub fn unredacted_role(&self) -> &Role {
        match self {
            Target::Element(element) => &element.view.unredacted(element.node).role,
            Target::Program(..) | Target::ProgramName(_) => &Role::Application,
            Target::Command(_) => &Role::Command,
            Target::Clipboard => &Role::Clipboard,
            Target::Url(_) => &Role::Url,
            Target::File(_) => &Role::File,
            Target::WindowTitle(_) => &Role::Window,
            Target::ListOption(_) => &Role::ListItem,
            Target::ScreenText(_) => &Role::Text,
            Target::UnreadMenu => &Role::Menu,
            Target::Screen(_) => &Role::Screen,
        }
    }

    /// The name that rules see, which may have to be hidden from others.
    pub fn unredacted_name(&self) -> &str {
        match self {
            Target::Element(element) => &element.view.unredacted(element.node).name,
            Target::Program(name, _)
            | Target::ProgramName(name)
            | Target::Command(name)
            | Target::Url(name)
            | Target::File(name)
            | Target::WindowTitle(name)
            | Target::ListOption(name)
            | Target::ScreenText(name) => name,
            Target::Clipboard => "clipboard",
            Target::UnreadMenu => "",
            Target::Screen(tool) => tool,
        }
    }

    /// The role that may be shown.
    pub fn shown_role(&self) -> &Role {
        self.element().map_or_else(|| self.unredacted_role(), |it| &it.view.tree()[it.node].role)
    }

    /// The name that may be shown. What is no element is called what it is.
    pub fn shown_name(&self) -> &str {
        self.element().map_or_else(|| self.unredacted_name(), |it| &it.view.tree()[it.node].name)
    }

    /// The title that rules see. What is in no window goes by its own name.
    pub fn unredacted_title(&self) -> &str {
        self.element().map_or_else(|| self.unredacted_name(), |element| element.chosen.unredacted_title())
    }

    /// Whose page it is on, which decides about rules that name an origin.
    pub fn origin(&self) -> TargetOrigin {
        match self {
            Target::Element(element) => element.origin(),
            Target::Url(url) => TargetOrigin::of_url(url),
            Target::Program(..) | Target::ProgramName(_) | Target::Command(_) | Target::Clipboard => {
                TargetOrigin::NoPage
            }
            Target::File(_)
            | Target::WindowTitle(_)
            | Target::ListOption(_)
            | Target::ScreenText(_)
            | Target::UnreadMenu
            | Target::Screen(_) => TargetOrigin::Unknown,
        }
    }

    /// Whether it is one element and not a whole window or document, in which anything may have the focus.
    pub fn is_field(&self) -> bool {
        self.element().is_some_and(|it| {
            let element = &it.view.tree()[it.node];
            it.node != Tree::ROOT && (!element.is_document || element.editable)
        })
    }

    pub fn shown_title(&self, redactor: &Redactor) -> Cow<'_, str> {
        match self.element() {
            Some(element) => Cow::Borrowed(&element.chosen.window.title),
            None => redactor.title(self.unredacted_name()),
        }
    }

    /// Empty for what is in no window.
    pub fn window_uid(&self) -> &str {
        self.element().map_or("", |element| &element.chosen.window.uid)
    }

    pub fn is_unread(&self) -> bool {
        match self {
            Target::Element(element) => element.unread,
            other => matches!(other, Target::UnreadMenu),
        }
    }

    pub fn at(&self) -> Option<Point> {
        self.element().and_then(|element| element.at)
    }

    pub fn program(&self) -> Option<&Starting> {
        match self {
            Target::Program(_, starting) => Some(starting),
            _ => None,
        }
    }

    pub fn bounds(&self) -> Rect {
        self.element().map_or_else(Rect::default, ElementTarget::bounds)
    }

    pub fn element_id(&self) -> String {
        self.element().map_or_else(|| "root".to_owned(), ElementTarget::element_id)
    }

    pub fn selector(&self) -> String {
        match self.element() {
            Some(element) => element.selector(),
            None => {
                let root =
                    Element::new(self.unredacted_role().clone(), self.unredacted_name(), Rect::default());
                selector::derive(&Tree::of_root(root), Tree::ROOT)
            }
        }
    }
}

/// An element of a window that was read.
#[derive(Clone, Debug)]
pub struct ElementTarget {
    pub chosen: ResolvedWindow,
    pub view: Arc<View>,
    pub node: usize,
    /// The caller's selector in its canonical form; an element named by id has a derived one.
    selector: Option<String>,
    /// The ref that the caller named it by, and how sure it is that this is its element.
    known_as: Option<(Ref, Option<Certainty>)>,
    /// Where a pointer would meet it: judged with it, so that no other place is clicked.
    at: Option<Point>,
    unread: bool,
    /// What stands where the pointer is, where no element of the tree says it.
    text_there: Option<String>,
}

/// Whose page a target is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetOrigin {
    /// It is on no page.
    NoPage,
    Known(PageOrigin),
    /// It may be on any page, or its page is nobody's.
    Unknown,
}

impl TargetOrigin {
    /// The origin of the innermost document around an element. A document without an address of its own is that of the
    /// one that holds it.
    fn of_node(tree: &Tree, node: usize, window_url: Option<&str>) -> Self {
        let mut at = Some(node);
        while let Some(node) = at {
            let url = tree[node].value.as_deref().filter(|_| tree[node].is_document);
            match url {
                None | Some("about:blank" | "about:srcdoc") => at = tree.parent(node),
                Some(url) => return Self::of_url(url),
            }
        }
        window_url.map_or(Self::NoPage, Self::of_url)
    }

    fn of_url(url: &str) -> Self {
        PageOrigin::of_url(url).map_or(Self::Unknown, Self::Known)
    }

    /// Whether it is certainly this one.
    pub fn is(&self, origin: &PageOrigin) -> bool {
        matches!(self, Self::Known(own) if own == origin)
    }

    /// Whether it may be this one.
    pub fn may_be(&self, origin: &PageOrigin) -> bool {
        match self {
            Self::NoPage => false,
            Self::Known(own) => own == origin,
            Self::Unknown => true,
        }
    }
}

impl ElementTarget {
    fn origin(&self) -> TargetOrigin {
        TargetOrigin::of_node(self.view.unredacted_tree(), self.node, self.chosen.unredacted_url())
    }

    pub fn new(chosen: ResolvedWindow, view: Arc<View>, node: usize, selector: Option<String>) -> Self {
        Self { chosen, view, node, selector, known_as: None, at: None, unread: false, text_there: None }
    }

    /// The same, met at a part of a page that the tree has as its text alone.
    pub fn with_text_there(self, text_there: Option<String>) -> Self {
        Self { text_there, ..self }
    }

    /// That text, as a target of its own.
    pub fn text_there(&self) -> Option<Target> {
        self.text_there.clone().map(Target::ScreenText)
    }

    /// The same, where the input may as well reach something that could not be read.
    pub fn unread_if(self, unread: bool) -> Self {
        Self { unread, ..self }
    }

    /// The same, named by a ref; without a certainty there is no doubt.
    pub fn known_as(self, reference: Ref, certainty: Option<Certainty>) -> Self {
        Self { known_as: Some((reference, certainty)), ..self }
    }

    /// The same, met by a pointer there.
    pub fn met_at(self, at: Option<Point>) -> Self {
        Self { at, ..self }
    }

    pub fn at(&self) -> Option<Point> {
        self.at
    }

    pub fn certainty(&self) -> Option<Certainty> {
        self.known_as.and_then(|(_, certainty)| certainty)
    }

    /// The element's ref, which from here on stands for what is shown of it now.
    pub fn show_ref(&self, observer: &Observer) -> Result<Ref> {
        match self.known_as {
            Some((reference, _)) => {
                observer.rebind_ref(reference, self)?;
                Ok(reference)
            }
            None => observer.show_ref(&self.chosen, &self.view, self.node),
        }
    }

    /// Another element of the same capture.
    pub fn beside(&self, node: usize) -> Self {
        Self {
            node,
            selector: None,
            known_as: None,
            at: None,
            unread: false,
            text_there: None,
            ..self.clone()
        }
    }

    pub fn bounds(&self) -> Rect {
        self.view.tree()[self.node].bounds
    }

    pub fn element_id(&self) -> String {
        self.view.tree().id(self.node)
    }

    pub fn selector(&self) -> String {
        self.selector.clone().unwrap_or_else(|| self.view.derived_selector(self.node))
    }
}
