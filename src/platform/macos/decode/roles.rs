//! From the roles and subroles of AX to the contract's: two flat tables and a few rules.

/// What an element is called. Roles that newer systems invent are `Unknown`, never an error.
pub fn name(role: &str, subrole: Option<&str>, parent: Option<&str>) -> &'static str {
    // Tabs are the radio buttons of a tab group, rows of an outline are its items.
    match (role, parent) {
        ("AXRadioButton", Some("AXTabGroup")) => return "TabItem",
        ("AXRow", Some("AXOutline")) => return "TreeItem",
        _ => {}
    }
    let by_subrole = subrole.and_then(|subrole| find(SUBROLES, subrole));
    by_subrole.or_else(|| find(ROLES, role)).unwrap_or("Unknown")
}

fn find(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == word).map(|(_, name)| *name)
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
const ROLES: &[(&str, &str)] = &[
    ("AXApplication", "Application"),
    ("AXBrowser", "Tree"),
    ("AXBusyIndicator", "ProgressBar"),
    ("AXButton", "Button"),
    ("AXCell", "DataItem"),
    ("AXCheckBox", "CheckBox"),
    ("AXColorWell", "Button"),
    ("AXColumn", "Group"),
    ("AXComboBox", "ComboBox"),
    ("AXDateField", "Spinner"),
    ("AXDateTimeArea", "Calendar"),
    ("AXDisclosureTriangle", "Button"),
    ("AXDockItem", "ListItem"),
    ("AXDrawer", "Pane"),
    ("AXGrid", "Table"),
    ("AXGroup", "Group"),
    ("AXGrowArea", "Image"),
    ("AXHandle", "Image"),
    ("AXHeading", "Heading"),
    ("AXHelpTag", "ToolTip"),
    ("AXImage", "Image"),
    ("AXIncrementor", "Spinner"),
    ("AXLayoutArea", "Canvas"),
    ("AXLayoutItem", "Group"),
    ("AXLevelIndicator", "ProgressBar"),
    ("AXLink", "Hyperlink"),
    ("AXList", "List"),
    ("AXListMarker", "Text"),
    ("AXMatte", "Image"),
    ("AXMenu", "Menu"),
    ("AXMenuBar", "MenuBar"),
    ("AXMenuBarItem", "MenuItem"),
    ("AXMenuButton", "SplitButton"),
    ("AXMenuItem", "MenuItem"),
    // What Mac Catalyst and SwiftUI put around their content.
    ("AXOpaqueProviderGroup", "Group"),
    ("AXOutline", "Tree"),
    ("AXPage", "Group"),
    ("AXPopUpButton", "ComboBox"),
    ("AXPopover", "Dialog"),
    ("AXProgressIndicator", "ProgressBar"),
    ("AXRadioButton", "RadioButton"),
    ("AXRadioGroup", "Group"),
    ("AXRelevanceIndicator", "ProgressBar"),
    ("AXRow", "Row"),
    ("AXRuler", "Group"),
    ("AXRulerMarker", "Image"),
    ("AXScrollArea", "ScrollPane"),
    ("AXScrollBar", "ScrollBar"),
    ("AXSheet", "Dialog"),
    ("AXSlider", "Slider"),
    ("AXSplitGroup", "Pane"),
    ("AXSplitter", "Separator"),
    ("AXStaticText", "Text"),
    ("AXSystemWide", "Pane"),
    ("AXTabGroup", "Tab"),
    ("AXTable", "Table"),
    ("AXTextArea", "Document"),
    ("AXTextField", "Edit"),
    ("AXTimeField", "Spinner"),
    ("AXToolbar", "ToolBar"),
    ("AXUnknown", "Unknown"),
    ("AXValueIndicator", "Slider"),
    ("AXWebArea", "Document"),
    ("AXWindow", "Window"),
];

/// Subroles that say more than the role. Those that are not here say nothing new.
const SUBROLES: &[(&str, &str)] = &[
    ("AXApplicationAlert", "Alert"),
    ("AXApplicationAlertDialog", "AlertDialog"),
    ("AXApplicationStatus", "StatusBar"),
    ("AXContentList", "List"),
    ("AXDefinitionList", "List"),
    ("AXDescriptionList", "List"),
    ("AXDialog", "Dialog"),
    ("AXDocumentArticle", "Group"),
    ("AXIncrementArrow", "Button"),
    ("AXDecrementArrow", "Button"),
    ("AXOutlineRow", "TreeItem"),
    ("AXRatingIndicator", "Slider"),
    ("AXSearchField", "Edit"),
    ("AXSecureTextField", "Edit"),
    ("AXSeparatorDockItem", "Separator"),
    ("AXSortButton", "HeaderItem"),
    ("AXSwitch", "ToggleButton"),
    ("AXSystemDialog", "Dialog"),
    ("AXTabButton", "TabItem"),
    ("AXTableRow", "Row"),
    ("AXTextLink", "Hyperlink"),
    ("AXToggle", "ToggleButton"),
    ("AXToggleButton", "ToggleButton"),
    ("AXUserInterfaceTooltip", "ToolTip"),
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
        for (role, name) in ROLES.iter().chain(SUBROLES) {
            assert!(CONTRACT.contains(name), "{role} is called {name}");
        }
    }

    fn check(role: &str, subrole: Option<&str>, parent: Option<&str>, expected: &str) {
        assert_eq!(name(role, subrole, parent), expected, "{role} {subrole:?} {parent:?}");
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
