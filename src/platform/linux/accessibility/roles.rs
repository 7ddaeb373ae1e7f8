//! From AT-SPI's roles and states to the contract's: the table of `platform::roles` and a few rules.

use atspi::{Role, State};

use super::object::States;
use crate::model;
use crate::platform::roles::of_atspi;

/// The contract's role of an element. Roles that newer toolkits invent are `Unknown`, never an error.
pub fn role(role: u32, states: States, parent: Option<u32>) -> model::Role {
    let Some(role) = known_role(role) else {
        return model::Role::Unknown;
    };
    match role {
        // AT-SPI calls the item that opens a menu and the menu itself the same.
        Role::Menu if parent.and_then(known_role).is_some_and(holds_menu_items) => model::Role::MenuItem,
        // Many lines are a document, one is a field; GTK4 does not say of a field that it has only one.
        Role::Text if states.has(State::MultiLine) => model::Role::Document,
        Role::Text if states.has(State::SingleLine) || states.has(State::Editable) => model::Role::Edit,
        Role::Text => model::Role::Text,
        _ => of_atspi(role as u32),
    }
}

pub fn known_role(role: u32) -> Option<Role> {
    Role::try_from(role).ok()
}

pub fn is_one_of(role: u32, roles: &[Role]) -> bool {
    known_role(role).is_some_and(|role| roles.contains(&role))
}

fn holds_menu_items(role: Role) -> bool {
    matches!(role, Role::MenuBar | Role::Menu | Role::PopupMenu)
}

/// A password is never read; the dots in its place are no news.
pub fn is_secret(role: u32) -> bool {
    is_one_of(role, &[Role::PasswordText])
}

/// What shows its state by a mark or by staying pressed.
const CHECKABLE: &[Role] =
    &[Role::CheckBox, Role::CheckMenuItem, Role::RadioButton, Role::RadioMenuItem, Role::ToggleButton];

pub fn is_selected(role: u32, states: States) -> Option<bool> {
    if is_one_of(role, CHECKABLE) || states.has(State::Checkable) {
        return Some(states.has(State::Checked) || states.has(State::Pressed));
    }
    (states.has(State::Selectable) || states.has(State::Selected)).then(|| states.has(State::Selected))
}

pub fn is_expanded(states: States) -> Option<bool> {
    let known = [State::Expandable, State::Expanded, State::Collapsed];
    known.iter().any(|state| states.has(*state)).then(|| states.has(State::Expanded))
}

/// GTK says both of what can be worked, Chromium of what is not disabled; one of them is enough.
pub fn is_enabled(states: States) -> bool {
    states.has(State::Sensitive) || states.has(State::Enabled)
}

pub fn is_editable(states: States) -> bool {
    states.has(State::Editable) && !states.has(State::ReadOnly)
}

/// Are closed until somebody needs them: what is in them can be worked although it does not show.
const OPENED: &[Role] = &[
    Role::MenuBar,
    Role::Menu,
    Role::PopupMenu,
    Role::MenuItem,
    Role::CheckMenuItem,
    Role::RadioMenuItem,
    Role::PushButtonMenu,
    Role::ComboBox,
];

/// Whether nothing in it is to be seen, whatever it says itself: the element neither shows nor would by scrolling.
pub fn is_shut(states: States) -> bool {
    !states.has(State::Showing) && !states.has(State::Visible)
}

/// Whether nobody needs to know what is in it: a page that does not show, a pane that is closed, but no menu.
pub fn is_put_away(role: u32, states: States, parent: Option<u32>) -> bool {
    is_shut(states) && !is_one_of(role, OPENED) && !parent.is_some_and(|parent| is_one_of(parent, OPENED))
}

/// Clip what is in them: an element outside of them is not to be seen.
pub const CLIPPING: &[Role] = &[
    Role::ScrollPane,
    Role::Viewport,
    Role::DocumentWeb,
    Role::DocumentFrame,
    Role::DocumentText,
    Role::Table,
    Role::TreeTable,
    Role::Tree,
    Role::List,
    Role::ListBox,
];

/// Have numbers worth reading: where they stand, and between which ends.
pub const RANGED: &[Role] = &[
    Role::Slider,
    Role::ScrollBar,
    Role::ProgressBar,
    Role::SpinButton,
    Role::LevelBar,
    Role::Dial,
    Role::Rating,
];

/// Have a text of their own beside their name.
pub const WRITTEN: &[Role] = &[
    Role::Entry,
    Role::Text,
    Role::SpinButton,
    Role::Terminal,
    Role::DocumentText,
    Role::DocumentEmail,
    Role::Autocomplete,
    Role::DateEditor,
    Role::Editbar,
];

/// Say something without having a name.
pub const PROSE: &[Role] = &[
    Role::Paragraph,
    Role::Section,
    Role::BlockQuote,
    Role::StatusBar,
    Role::Label,
    Role::Heading,
    Role::Caption,
    Role::Form,
    Role::Article,
    Role::Comment,
    Role::Static,
    Role::ListItem,
    Role::TableCell,
    Role::Landmark,
    Role::Footer,
    Role::Header,
    Role::Notification,
    Role::Alert,
    Role::Panel,
    Role::DescriptionTerm,
    Role::DescriptionValue,
];

/// Have a name, and words beside their elements.
pub const PAGES: &[Role] = &[Role::DocumentWeb, Role::DocumentFrame];
/// Keep the state that a click gives them.
pub const TOGGLES: &[Role] = &[Role::CheckBox, Role::RadioButton, Role::ToggleButton];

/// Are selected by a click, and opened by two.
pub const ROWS: &[Role] = &[Role::ListItem, Role::TableCell, Role::TableRow, Role::TreeItem, Role::Icon];

/// Are pressed, rather than selected or opened by a second click.
pub const PRESSED: &[Role] = &[
    Role::Button,
    Role::ToggleButton,
    Role::CheckBox,
    Role::RadioButton,
    Role::MenuItem,
    Role::CheckMenuItem,
    Role::RadioMenuItem,
    Role::TearoffMenuItem,
    Role::Menu,
    Role::PageTab,
    Role::Link,
    Role::ComboBox,
    Role::PushButtonMenu,
];

/// Act when they are clicked, and open no menu.
pub const MENU_ENTRIES: &[Role] = &[Role::MenuItem, Role::CheckMenuItem, Role::RadioMenuItem];

/// Are chosen among others of their kind.
pub const OPTIONS: &[Role] = &[
    Role::ListItem,
    Role::MenuItem,
    Role::CheckMenuItem,
    Role::RadioMenuItem,
    Role::TableCell,
    Role::TableRow,
    Role::TreeItem,
    Role::PageTab,
    Role::RadioButton,
    Role::Icon,
];

/// Have a label of their own, which a click works as well.
pub const LABELLED: &[Role] = &[
    Role::Button,
    Role::CheckBox,
    Role::RadioButton,
    Role::ToggleButton,
    Role::ComboBox,
    Role::Entry,
    Role::PasswordText,
    Role::SpinButton,
];

/// Hold the cells of GTK4's grids, and the rows of its tables.
pub const GRIDS: &[Role] = &[Role::Table];
pub const LISTS: &[Role] = &[Role::List];

/// Label something, perhaps.
pub const LABELS: &[Role] = &[Role::Label, Role::Caption];

/// Are worked by keys that they may name.
pub const WITH_SHORTCUT: &[Role] = &[
    Role::MenuItem,
    Role::CheckMenuItem,
    Role::RadioMenuItem,
    Role::Menu,
    Role::Button,
    Role::ToggleButton,
    Role::CheckBox,
    Role::RadioButton,
    Role::PageTab,
    Role::PushButtonMenu,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn states(of: &[State]) -> States {
        States(of.iter().fold(0, |all, state| all | *state as u64))
    }

    fn check(native: Role, of: &[State], parent: Option<Role>, expected: &str) {
        assert_eq!(role(native as u32, states(of), parent.map(|role| role as u32)), expected, "{native:?}");
    }

    #[test]
    fn roles_have_the_names_of_the_contract() {
        check(Role::Button, &[], None, "Button");
        check(Role::Entry, &[], None, "Edit");
        check(Role::Frame, &[], None, "Window");
        check(Role::PageTab, &[], None, "TabItem");
        assert_eq!(role(9_999, States(0), None), "Unknown");
        assert_eq!(role(0, States(0), None), "Unknown");
    }

    #[test]
    fn an_item_that_opens_a_menu_is_an_item() {
        check(Role::Menu, &[], Some(Role::MenuBar), "MenuItem");
        check(Role::Menu, &[], Some(Role::Menu), "MenuItem");
        check(Role::Menu, &[], Some(Role::ComboBox), "Menu");
        check(Role::Menu, &[], None, "Menu");
    }

    #[test]
    fn texts_are_told_apart_by_their_states() {
        check(Role::Text, &[State::SingleLine, State::Editable], None, "Edit");
        check(Role::Text, &[State::MultiLine, State::Editable], None, "Document");
        check(Role::Text, &[State::MultiLine], None, "Document");
        check(Role::Text, &[State::Editable], None, "Edit");
        check(Role::Text, &[], None, "Text");
    }

    #[test]
    fn the_table_counts_as_the_bus_does() {
        use crate::platform::roles::ATSPI;
        for (number, (native, _)) in (0..).zip(&ATSPI) {
            assert_eq!(
                known_role(number).map(|role| format!("{role:?}")).as_deref(),
                Some(*native),
                "{number}"
            );
        }
        assert_eq!(known_role(ATSPI.len() as u32), None, "the bus has a role that the table lacks");
    }

    #[test]
    fn marks_and_selections_are_told_apart() {
        let button = Role::Button as u32;
        let check_box = Role::CheckBox as u32;
        let toggle = Role::ToggleButton as u32;
        let item = Role::ListItem as u32;
        assert_eq!(is_selected(button, states(&[])), None);
        assert_eq!(is_selected(check_box, states(&[])), Some(false));
        assert_eq!(is_selected(check_box, states(&[State::Checked])), Some(true));
        assert_eq!(is_selected(toggle, states(&[State::Pressed])), Some(true));
        assert_eq!(is_selected(item, states(&[State::Selectable])), Some(false));
        assert_eq!(is_selected(item, states(&[State::Selectable, State::Selected])), Some(true));
    }

    #[track_caller]
    fn check_put_away(native: Role, of: &[State], parent: Role, expected: bool) {
        let found = is_put_away(native as u32, states(of), Some(parent as u32));
        assert_eq!(found, expected, "{native:?} {of:?} in {parent:?}");
    }

    #[test]
    fn closed_pages_are_put_away_and_closed_menus_are_not() {
        check_put_away(Role::SplitPane, &[], Role::Filler, true);
        check_put_away(Role::Filler, &[State::Enabled], Role::LayeredPane, true);
        check_put_away(Role::Filler, &[State::Showing], Role::LayeredPane, false);
        check_put_away(Role::Section, &[State::Visible], Role::DocumentWeb, false);
        check_put_away(Role::PopupMenu, &[], Role::MenuItem, false);
        check_put_away(Role::MenuItem, &[], Role::MenuBar, false);
        check_put_away(Role::List, &[], Role::ComboBox, false);
    }

    #[test]
    fn what_cannot_open_is_not_closed() {
        assert_eq!(is_expanded(states(&[])), None);
        assert_eq!(is_expanded(states(&[State::Expandable])), Some(false));
        assert_eq!(is_expanded(states(&[State::Expandable, State::Expanded])), Some(true));
    }
}
