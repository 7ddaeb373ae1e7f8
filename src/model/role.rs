//! What kind of element it is, and what follows from that: every list of roles is a predicate here.
//!
//! Predicates that look alike differ on purpose; each says what it is for.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Defines the enum, the list of its values and their names, which are the names of the variants.
macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident,)*) => {
        /// The role as the contract spells it (`Button`, `MenuItem`). Platforms map theirs to it.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Role {
            $($(#[$doc])* $role,)*
            /// Whatever else a scenario or a trace calls an element. Made by `parse` alone.
            Other(OtherRole),
        }

        impl Role {
            /// Every role that has a variant of its own.
            pub const ALL: &[Role] = &[$(Role::$role),*];

            pub fn name(&self) -> &str {
                match self {
                    $(Role::$role => stringify!($role),)*
                    Role::Other(other) => other.name(),
                }
            }
        }
    };
}

roles! {
    Alert,
    AlertDialog,
    Application,
    Button,
    Calendar,
    Canvas,
    CheckBox,
    /// What tools that read or write the clipboard are judged by; no element has it.
    Clipboard,
    ComboBox,
    /// What the tool that runs programs is judged by; no element has it.
    Command,
    /// A table's name in scenarios; platforms say `Table`.
    DataGrid,
    DataItem,
    Dialog,
    Document,
    Edit,
    /// What tools that hand files to pages or keep files of them are judged by; no element has it.
    File,
    /// A picture's name in scenarios; platforms say `Image`.
    Graphic,
    Group,
    Header,
    HeaderItem,
    Heading,
    Hyperlink,
    /// A picture's name in scenarios; platforms say `Image`.
    Icon,
    Image,
    /// A text's name in scenarios; platforms say `Text`.
    Label,
    /// A link's name in scenarios; platforms say `Hyperlink`.
    Link,
    List,
    ListItem,
    Menu,
    MenuBar,
    MenuItem,
    Pane,
    ProgressBar,
    RadioButton,
    Row,
    /// What tools that show the whole screen are judged by; no element has it.
    Screen,
    ScrollBar,
    ScrollPane,
    Separator,
    Slider,
    /// A spinner's name in scenarios; platforms say `Spinner`.
    SpinButton,
    Spinner,
    SplitButton,
    StatusBar,
    /// A toggle's name in scenarios; platforms say `ToggleButton`.
    Switch,
    Tab,
    TabItem,
    Table,
    /// A terminal's name in scenarios; platforms say `Document`.
    Terminal,
    Text,
    /// A line that OCR has read in a window without a tree.
    TextLine,
    TitleBar,
    ToggleButton,
    ToolBar,
    ToolTip,
    Tree,
    TreeItem,
    Unknown,
    /// What tools that open addresses are judged by; no element has it.
    Url,
    Window,
}

/// The name of a role without a variant, never that of one with a variant. It is shared, because trees are cloned, and
/// behind one pointer, because every element has room for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherRole(Option<Arc<Box<str>>>);

impl OtherRole {
    fn new(name: &str) -> Self {
        Self((!name.is_empty()).then(|| Arc::new(name.into())))
    }

    pub fn name(&self) -> &str {
        self.0.as_deref().map_or("", |name| name)
    }
}

impl Role {
    /// The role of a name, exactly as it is spelled. Every text is one.
    pub fn parse(name: &str) -> Self {
        let known = Self::ALL.iter().find(|role| role.name() == name);
        known.cloned().unwrap_or_else(|| Role::Other(OtherRole::new(name)))
    }

    /// One acts on it, whatever its states say.
    pub fn is_actionable(&self) -> bool {
        matches!(self, Role::HeaderItem | Role::TextLine)
            || (self.is_focusable() && !matches!(self, Role::DataItem | Role::Tab))
    }

    /// It shows the keyboard focus. Other than what is acted on, it counts cells and tabs, which say by their states
    /// whether one can act on them, and neither headers of columns nor lines of text, which only a pointer reaches.
    pub fn is_focusable(&self) -> bool {
        self.takes_text()
            || self.is_option()
            || self.is_pressed_by_key()
            || matches!(self, Role::Slider | Role::Tab)
    }

    /// Pressing enter or space on it is clicking it.
    pub fn is_pressed_by_key(&self) -> bool {
        self.toggles()
            || self.is_link()
            || matches!(self, Role::Button | Role::SplitButton | Role::RadioButton)
    }

    pub fn is_link(&self) -> bool {
        matches!(self, Role::Hyperlink | Role::Link)
    }

    /// A click switches it on or off.
    pub fn toggles(&self) -> bool {
        matches!(self, Role::CheckBox | Role::Switch | Role::ToggleButton)
    }

    /// What is chosen in it is ticked or pressed, and not marked as a row is.
    pub fn is_ticked(&self) -> bool {
        self.toggles() || *self == Role::RadioButton
    }

    /// It holds one text or number that can be written into it, unless it says otherwise.
    pub fn takes_text(&self) -> bool {
        matches!(self, Role::ComboBox | Role::Document | Role::Edit | Role::SpinButton | Role::Spinner)
    }

    /// Typed characters stay in it although the application does not say that it is editable. Fewer than what takes
    /// text: a document may be a page to read, which hands characters on as shortcuts.
    pub fn keeps_typed_text(&self) -> bool {
        matches!(self, Role::Edit | Role::Terminal)
    }

    /// It is chosen among others of its kind, in a list, a combo box or a menu.
    pub fn is_option(&self) -> bool {
        *self == Role::MenuItem || self.is_selected_by_click()
    }

    /// It does something itself, and is no list to choose in unless there are options in it.
    pub fn acts_by_itself(&self) -> bool {
        (self.is_pressed_by_key() && *self != Role::SplitButton) || self.is_option() || *self == Role::Slider
    }

    /// It is an option that one click only selects, and a double click opens. A menu item acts at once.
    pub fn is_selected_by_click(&self) -> bool {
        matches!(self, Role::DataItem | Role::ListItem | Role::RadioButton | Role::TabItem | Role::TreeItem)
    }

    /// What a list of results has once for each of them.
    pub fn is_repeated(&self) -> bool {
        matches!(self, Role::ListItem | Role::Row | Role::TreeItem)
    }

    /// It shows only while what holds it is expanded. That is the list or the menu itself, too, and neither a radio
    /// button nor a tab or a cell.
    pub fn is_hidden_by_collapsed_parent(&self) -> bool {
        matches!(self, Role::List | Role::ListItem | Role::Menu | Role::MenuItem | Role::TreeItem)
    }

    /// It has a window of its own on the screen, wherever that is, or opens in one.
    pub fn pops_up(&self) -> bool {
        match self {
            Role::ComboBox | Role::Dialog | Role::List | Role::ListItem => true,
            Role::Menu | Role::MenuItem | Role::ToolTip | Role::Window => true,
            // Scenarios spell it so.
            Role::Other(other) => other.name() == "Tooltip",
            _ => false,
        }
    }

    /// It is drawn over everything that it is in, and nothing clips it. Less than what pops up: a list may lie in a
    /// pane.
    pub fn lies_over_all(&self) -> bool {
        matches!(self, Role::Dialog | Role::Menu | Role::ToolTip | Role::Window)
    }

    /// A person decides by what stands in it, and by nothing around it.
    pub fn is_dialog(&self) -> bool {
        matches!(self, Role::Alert | Role::AlertDialog | Role::Dialog)
    }

    /// It clips what is in it: a row outside of its list is scrolled away.
    pub fn clips(&self) -> bool {
        matches!(self, Role::List | Role::ScrollPane | Role::Table | Role::Tree)
    }

    /// On the mock desktop the wheel moves what is in it, and what is outside of it is under no pointer. More than
    /// what clips, which is asked of real trees too.
    pub fn scrolls(&self) -> bool {
        self.clips() || matches!(self, Role::DataGrid | Role::Document | Role::Pane)
    }

    /// It tells where one is even without a name.
    pub fn is_landmark(&self) -> bool {
        matches!(
            self,
            Role::AlertDialog
                | Role::Dialog
                | Role::List
                | Role::Menu
                | Role::MenuBar
                | Role::Row
                | Role::StatusBar
                | Role::Tab
                | Role::Table
                | Role::ToolBar
                | Role::Tree
        )
    }

    /// It only decorates the element around it.
    pub fn is_decoration(&self) -> bool {
        matches!(self, Role::Group | Role::Image | Role::Pane | Role::Separator)
    }

    /// It does nothing of its own when clicked: the click is for what is around it. That is text too, which is no
    /// decoration, and no separator.
    pub fn is_passive(&self) -> bool {
        matches!(
            self,
            Role::Graphic
                | Role::Group
                | Role::Icon
                | Role::Image
                | Role::Label
                | Role::Pane
                | Role::Text
                | Role::Unknown
        )
    }

    /// A click on it changes nothing to be seen, apart from the focus.
    pub fn is_unchanged_by_click(&self) -> bool {
        self.is_link() || matches!(self, Role::Button | Role::Document | Role::Edit)
    }
}

/// No role at all: the empty name.
impl Default for Role {
    fn default() -> Self {
        Role::Other(OtherRole::default())
    }
}

/// As the name does, so that both find the same entry of a map.
impl Hash for Role {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl From<&str> for Role {
    fn from(name: &str) -> Self {
        Self::parse(name)
    }
}

impl From<String> for Role {
    fn from(name: String) -> Self {
        Self::parse(&name)
    }
}

impl PartialEq<str> for Role {
    fn eq(&self, name: &str) -> bool {
        self.name() == name
    }
}

impl PartialEq<&str> for Role {
    fn eq(&self, name: &&str) -> bool {
        self.name() == *name
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer).map(|name| Self::parse(&name))
    }
}

/// In schemas a role is a text like any other.
impl JsonSchema for Role {
    fn inline_schema() -> bool {
        String::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Element;

    fn check(predicate: fn(&Role) -> bool, expected: &str) {
        let holds: Vec<&str> = Role::ALL.iter().filter(|role| predicate(role)).map(Role::name).collect();
        assert_eq!(holds.join(" "), expected);
    }

    #[test]
    fn a_role_is_its_name() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.name()), *role);
            assert!(!matches!(Role::parse(role.name()), Role::Other(_)), "{role}");
        }
        for name in ["", "button", "push button", "Tooltip", "AXButton"] {
            assert!(matches!(Role::parse(name), Role::Other(_)), "{name}");
            assert_eq!(Role::parse(name).name(), name);
        }
        assert_eq!(Role::default(), Role::parse(""));
    }

    #[test]
    fn names_stand_in_their_order() {
        assert!(Role::ALL.iter().map(Role::name).is_sorted());
    }

    #[test]
    fn in_json_a_role_is_a_text() {
        for name in ["Button", "push button", "quo\"ted", ""] {
            let json = serde_json::to_string(name).unwrap();
            assert_eq!(serde_json::to_string(&Role::parse(name)).unwrap(), json);
            assert_eq!(serde_json::from_str::<Role>(&json).unwrap(), name);
        }
        assert_eq!(schemars::schema_for!(Role), schemars::schema_for!(String));
        assert_eq!(schemars::schema_for!(Option<Role>), schemars::schema_for!(Option<String>));
    }

    #[test]
    fn a_role_has_the_hash_of_its_name() {
        let hash = |value: &dyn Fn(&mut std::hash::DefaultHasher)| {
            let mut hasher = std::hash::DefaultHasher::new();
            value(&mut hasher);
            hasher.finish()
        };
        for name in ["Button", "push button"] {
            assert_eq!(hash(&|state| Role::parse(name).hash(state)), hash(&|state| name.hash(state)));
        }
    }

    #[test]
    fn what_one_acts_on() {
        check(
            Role::is_actionable,
            "Button CheckBox ComboBox Document Edit HeaderItem Hyperlink Link ListItem MenuItem RadioButton Slider \
             SpinButton Spinner SplitButton Switch TabItem TextLine ToggleButton TreeItem",
        );
        check(
            Role::is_focusable,
            "Button CheckBox ComboBox DataItem Document Edit Hyperlink Link ListItem MenuItem RadioButton Slider \
             SpinButton Spinner SplitButton Switch Tab TabItem ToggleButton TreeItem",
        );
        check(
            Role::is_pressed_by_key,
            "Button CheckBox Hyperlink Link RadioButton SplitButton Switch ToggleButton",
        );
        check(Role::is_unchanged_by_click, "Button Document Edit Hyperlink Link");
    }

    #[test]
    fn what_is_chosen_among_others() {
        check(Role::is_option, "DataItem ListItem MenuItem RadioButton TabItem TreeItem");
        check(
            Role::acts_by_itself,
            "Button CheckBox DataItem Hyperlink Link ListItem MenuItem RadioButton Slider Switch TabItem \
             ToggleButton TreeItem",
        );
        check(Role::is_selected_by_click, "DataItem ListItem RadioButton TabItem TreeItem");
        check(Role::is_repeated, "ListItem Row TreeItem");
        check(Role::is_hidden_by_collapsed_parent, "List ListItem Menu MenuItem TreeItem");
    }

    #[test]
    fn what_holds_others() {
        check(Role::is_dialog, "Alert AlertDialog Dialog");
        check(Role::clips, "List ScrollPane Table Tree");
        check(Role::scrolls, "DataGrid Document List Pane ScrollPane Table Tree");
        check(Role::is_landmark, "AlertDialog Dialog List Menu MenuBar Row StatusBar Tab Table ToolBar Tree");
        check(Role::pops_up, "ComboBox Dialog List ListItem Menu MenuItem ToolTip Window");
        assert!(Role::parse("Tooltip").pops_up() && !Role::parse("tooltip").pops_up());
    }

    #[test]
    fn what_is_only_to_be_seen() {
        check(Role::is_decoration, "Group Image Pane Separator");
        check(Role::is_passive, "Graphic Group Icon Image Label Pane Text Unknown");
    }

    /// Trees have thousands of elements.
    #[test]
    fn an_element_stays_small() {
        assert_eq!(size_of::<Role>(), 16);
        assert_eq!(size_of::<Element>(), 280);
    }
}
