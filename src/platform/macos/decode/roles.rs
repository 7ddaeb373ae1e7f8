//! From the roles and subroles of AX to the contract's: two flat tables and a few rules.

use crate::model::Role;

/// The contract's role of an element. Roles that newer systems invent are `Unknown`, never an error.
pub fn role(role: &str, subrole: Option<&str>, parent: Option<&str>) -> Role {
    // Tabs are the radio buttons of a tab group, rows of an outline are its items.
    match (role, parent) {
        ("AXRadioButton", Some("AXTabGroup")) => return Role::TabItem,
        ("AXRow", Some("AXOutline")) => return Role::TreeItem,
        _ => {}
    }
    let by_subrole = subrole.and_then(|subrole| find(SUBROLES, subrole));
    by_subrole.or_else(|| find(ROLES, role)).unwrap_or(Role::Unknown)
}

fn find(table: &[(&str, Role)], word: &str) -> Option<Role> {
    table.iter().find(|(known, _)| *known == word).map(|(_, role)| role.clone())
}

/// A password is never read; the dots in its place are no news.
pub fn is_secret(role: &str, subrole: Option<&str>) -> bool {
    subrole == Some("AXSecureTextField") || role == "AXSecureTextField"
}

/// Hold a text that a person may write into.
pub fn is_text(role: &str) -> bool {
    matches!(role, "AXTextField" | "AXTextArea" | "AXComboBox" | "AXSecureTextField" | "AXSearchField")
}

/// Are on or off, or neither.
pub fn is_marked(role: &str) -> bool {
    matches!(role, "AXCheckBox" | "AXRadioButton")
}

/// Have numbers worth reading: where they stand, and between which ends.
pub fn is_ranged(role: &str) -> bool {
    RANGED.contains(&role)
}

const RANGED: &[&str] = &[
    "AXSlider",
    "AXScrollBar",
    "AXProgressIndicator",
    "AXLevelIndicator",
    "AXRelevanceIndicator",
    "AXIncrementor",
    "AXValueIndicator",
];

/// Clip what is in them: an element outside of them is not to be seen.
pub fn clips(role: &str) -> bool {
    matches!(role, "AXScrollArea" | "AXWebArea" | "AXSheet" | "AXWindow")
}

/// Repeat what stands elsewhere in the tree, or are parts that nobody works by themselves.
pub fn is_pruned(role: &str, parent: Option<&str>) -> bool {
    match parent {
        // The cells of a column are those of the rows.
        Some("AXTable" | "AXOutline") => role == "AXColumn",
        Some("AXScrollBar") => true,
        _ => false,
    }
}

/// Are chosen among others of their kind.
pub fn is_option(role: &str) -> bool {
    matches!(role, "AXMenuItem" | "AXRow" | "AXRadioButton" | "AXCell" | "AXStaticText")
}

/// Fields for dates and times are worked part by part, with the arrows: no text can be put into them.
const ROLES: &[(&str, Role)] = &[
    ("AXApplication", Role::Application),
    ("AXBrowser", Role::Tree),
    ("AXBusyIndicator", Role::ProgressBar),
    ("AXButton", Role::Button),
    ("AXCell", Role::DataItem),
    ("AXCheckBox", Role::CheckBox),
    ("AXColorWell", Role::Button),
    ("AXColumn", Role::Group),
    ("AXComboBox", Role::ComboBox),
    ("AXDateField", Role::Spinner),
    ("AXDateTimeArea", Role::Calendar),
    ("AXDisclosureTriangle", Role::Button),
    ("AXDockItem", Role::ListItem),
    ("AXDrawer", Role::Pane),
    ("AXGrid", Role::Table),
    ("AXGroup", Role::Group),
    ("AXGrowArea", Role::Image),
    ("AXHandle", Role::Image),
    ("AXHeading", Role::Heading),
    ("AXHelpTag", Role::ToolTip),
    ("AXImage", Role::Image),
    ("AXIncrementor", Role::Spinner),
    ("AXLayoutArea", Role::Canvas),
    ("AXLayoutItem", Role::Group),
    ("AXLevelIndicator", Role::ProgressBar),
    ("AXLink", Role::Hyperlink),
    ("AXList", Role::List),
    ("AXListMarker", Role::Text),
    ("AXMatte", Role::Image),
    ("AXMenu", Role::Menu),
    ("AXMenuBar", Role::MenuBar),
    ("AXMenuBarItem", Role::MenuItem),
    ("AXMenuButton", Role::SplitButton),
    ("AXMenuItem", Role::MenuItem),
    // What Mac Catalyst and SwiftUI put around their content.
    ("AXOpaqueProviderGroup", Role::Group),
    ("AXOutline", Role::Tree),
    ("AXPage", Role::Group),
    ("AXPopUpButton", Role::ComboBox),
    ("AXPopover", Role::Dialog),
    ("AXProgressIndicator", Role::ProgressBar),
    ("AXRadioButton", Role::RadioButton),
    ("AXRadioGroup", Role::Group),
    ("AXRelevanceIndicator", Role::ProgressBar),
    ("AXRow", Role::Row),
    ("AXRuler", Role::Group),
    ("AXRulerMarker", Role::Image),
    ("AXScrollArea", Role::ScrollPane),
    ("AXScrollBar", Role::ScrollBar),
    ("AXSheet", Role::Dialog),
    ("AXSlider", Role::Slider),
    ("AXSplitGroup", Role::Pane),
    ("AXSplitter", Role::Separator),
    ("AXStaticText", Role::Text),
    ("AXSystemWide", Role::Pane),
    ("AXTabGroup", Role::Tab),
    ("AXTable", Role::Table),
    ("AXTextArea", Role::Document),
    ("AXTextField", Role::Edit),
    ("AXTimeField", Role::Spinner),
    ("AXToolbar", Role::ToolBar),
    ("AXUnknown", Role::Unknown),
    ("AXValueIndicator", Role::Slider),
    ("AXWebArea", Role::Document),
    ("AXWindow", Role::Window),
];

/// Subroles that say more than the role. Those that are not here say nothing new.
const SUBROLES: &[(&str, Role)] = &[
    ("AXApplicationAlert", Role::Alert),
    ("AXApplicationAlertDialog", Role::AlertDialog),
    ("AXApplicationStatus", Role::StatusBar),
    ("AXContentList", Role::List),
    ("AXDefinitionList", Role::List),
    ("AXDescriptionList", Role::List),
    ("AXDialog", Role::Dialog),
    ("AXDocumentArticle", Role::Group),
    ("AXIncrementArrow", Role::Button),
    ("AXDecrementArrow", Role::Button),
    ("AXOutlineRow", Role::TreeItem),
    ("AXRatingIndicator", Role::Slider),
    ("AXSearchField", Role::Edit),
    ("AXSecureTextField", Role::Edit),
    ("AXSeparatorDockItem", Role::Separator),
    ("AXSortButton", Role::HeaderItem),
    ("AXSwitch", Role::ToggleButton),
    ("AXSystemDialog", Role::Dialog),
    ("AXTabButton", Role::TabItem),
    ("AXTableRow", Role::Row),
    ("AXTextLink", Role::Hyperlink),
    ("AXToggle", Role::ToggleButton),
    ("AXToggleButton", Role::ToggleButton),
    ("AXUserInterfaceTooltip", Role::ToolTip),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::roles::CONTRACT;

    /// Every role that AXRoleConstants.h names, and those of WebKit.
    const ALL: &str = "AXApplication AXSystemWide AXWindow AXSheet AXDrawer AXGrowArea AXImage AXUnknown AXButton \
        AXRadioButton AXCheckBox AXPopUpButton AXMenuButton AXTabGroup AXTable AXColumn AXRow AXOutline AXBrowser \
        AXScrollArea AXScrollBar AXRadioGroup AXList AXGroup AXValueIndicator AXComboBox AXSlider AXIncrementor \
        AXBusyIndicator AXProgressIndicator AXRelevanceIndicator AXToolbar AXDisclosureTriangle AXTextField AXTextArea \
        AXStaticText AXMenuBar AXMenuBarItem AXMenu AXMenuItem AXSplitGroup AXSplitter AXColorWell AXTimeField \
        AXDateField AXHelpTag AXMatte AXDockItem AXRuler AXRulerMarker AXGrid AXLevelIndicator AXCell AXLayoutArea \
        AXLayoutItem AXHandle AXPopover AXHeading AXLink AXWebArea AXPage AXListMarker AXDateTimeArea \
        AXOpaqueProviderGroup";

    #[test]
    fn every_role_is_listed_once() {
        let mut listed: Vec<&str> = ROLES.iter().map(|(role, _)| *role).collect();
        let mut all: Vec<&str> = ALL.split_whitespace().collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }

    #[test]
    fn every_subrole_is_listed_once() {
        for (place, (subrole, _)) in SUBROLES.iter().enumerate() {
            assert!(SUBROLES[..place].iter().all(|(other, _)| other != subrole), "{subrole}");
        }
    }

    #[test]
    fn every_name_is_one_of_the_contract() {
        for (native, role) in ROLES.iter().chain(SUBROLES) {
            assert!(CONTRACT.contains(role), "{native} is called {role}");
        }
    }

    fn check(native: &str, subrole: Option<&str>, parent: Option<&str>, expected: &str) {
        assert_eq!(role(native, subrole, parent), expected, "{native} {subrole:?} {parent:?}");
    }

    #[test]
    fn roles_have_the_names_of_the_contract() {
        check("AXButton", None, None, "Button");
        check("AXButton", Some("AXCloseButton"), Some("AXWindow"), "Button");
        check("AXCheckBox", Some("AXSwitch"), None, "ToggleButton");
        check("AXWindow", Some("AXStandardWindow"), None, "Window");
        check("AXWindow", Some("AXDialog"), None, "Dialog");
        check("AXRadioButton", Some("AXTabButton"), Some("AXTabGroup"), "TabItem");
        check("AXRadioButton", None, Some("AXTabGroup"), "TabItem");
        check("AXRadioButton", None, Some("AXRadioGroup"), "RadioButton");
        check("AXRow", Some("AXOutlineRow"), Some("AXOutline"), "TreeItem");
        check("AXRow", Some("AXTableRow"), Some("AXTable"), "Row");
        check("AXHologram", Some("AXFuture"), None, "Unknown");
        check("", None, None, "Unknown");
    }

    #[test]
    fn a_password_is_known_by_its_subrole() {
        assert!(is_secret("AXTextField", Some("AXSecureTextField")));
        assert!(!is_secret("AXTextField", Some("AXSearchField")) && !is_secret("AXTextField", None));
    }

    #[test]
    fn columns_and_the_parts_of_scroll_bars_are_left_out() {
        assert!(is_pruned("AXColumn", Some("AXTable")) && is_pruned("AXColumn", Some("AXOutline")));
        assert!(
            is_pruned("AXButton", Some("AXScrollBar")) && is_pruned("AXValueIndicator", Some("AXScrollBar"))
        );
        assert!(!is_pruned("AXColumn", Some("AXBrowser")) && !is_pruned("AXButton", Some("AXGroup")));
    }
}
