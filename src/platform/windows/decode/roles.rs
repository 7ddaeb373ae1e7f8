//! From the control types of UI Automation to the contract's roles: one flat table and a few rules.

/// What an element says of itself, as far as its role depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    pub control_type: i32,
    pub class: &'a str,
    /// It says that it is a dialog (Windows 10 and later).
    pub dialog: bool,
    /// It can be switched on and off.
    pub toggles: bool,
    /// It is the root of its window.
    pub root: bool,
}

/// What an element is called. Types that a newer Windows invents are `Unknown`, never an error.
pub fn name(told: Told<'_>) -> &'static str {
    let role =
        TABLE.iter().find(|(known, _)| *known == told.control_type).map_or("Unknown", |(_, name)| name);
    match role {
        "Button" if told.toggles => "ToggleButton",
        // The dialogs of old are windows of this class.
        "Window" if told.dialog || told.class == "#32770" => "Dialog",
        // Some programs say of their window that it is a pane.
        "Pane" if told.root => "Window",
        role => role,
    }
}

/// Holds one text that can be typed into.
pub const WRITTEN: &[&str] = &["Edit", "Document", "ComboBox", "Spinner"];

/// Are chosen among others of their kind; a click selects them, and what they do by themselves is a double click's.
pub const ITEMS: &[&str] = &["ListItem", "TreeItem", "DataItem", "TabItem", "RadioButton"];

/// Are options of the list, the combo box or the menu that they are in.
pub const OPTIONS: &[&str] = &["ListItem", "TreeItem", "DataItem", "TabItem", "RadioButton", "MenuItem"];

/// All control types there are, in the order of their numbers.
const TABLE: &[(i32, &str)] = &[
    (50_000, "Button"),
    (50_001, "Calendar"),
    (50_002, "CheckBox"),
    (50_003, "ComboBox"),
    (50_004, "Edit"),
    (50_005, "Hyperlink"),
    (50_006, "Image"),
    (50_007, "ListItem"),
    (50_008, "List"),
    (50_009, "Menu"),
    (50_010, "MenuBar"),
    (50_011, "MenuItem"),
    (50_012, "ProgressBar"),
    (50_013, "RadioButton"),
    (50_014, "ScrollBar"),
    (50_015, "Slider"),
    (50_016, "Spinner"),
    (50_017, "StatusBar"),
    (50_018, "Tab"),
    (50_019, "TabItem"),
    (50_020, "Text"),
    (50_021, "ToolBar"),
    (50_022, "ToolTip"),
    (50_023, "Tree"),
    (50_024, "TreeItem"),
    (50_025, "Unknown"), // made by the application for itself
    (50_026, "Group"),
    (50_027, "Unknown"), // the part of a scroll bar that is dragged
    (50_028, "Table"),   // a data grid
    (50_029, "DataItem"),
    (50_030, "Document"),
    (50_031, "SplitButton"),
    (50_032, "Window"),
    (50_033, "Pane"),
    (50_034, "Header"),
    (50_035, "HeaderItem"),
    (50_036, "Table"),
    (50_037, "TitleBar"),
    (50_038, "Separator"),
    (50_039, "Group"),   // a semantic zoom
    (50_040, "ToolBar"), // an app bar
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::roles::CONTRACT;

    fn check(told: Told<'_>, expected: &str) {
        assert_eq!(name(told), expected, "{told:?}");
    }

    fn of(control_type: i32) -> Told<'static> {
        Told { control_type, ..Told::default() }
    }

    #[test]
    fn every_control_type_is_listed_once_and_in_order() {
        let numbers: Vec<i32> = TABLE.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (50_000..=50_040).collect::<Vec<_>>());
        for (number, name) in TABLE {
            assert!(CONTRACT.contains(name), "{number} is called {name}");
        }
        for unknown in [0, 49_999, 50_041, -1, i32::MAX] {
            check(of(unknown), "Unknown");
        }
    }

    /// The adapter speaks UI Automation through a crate with a list of its own.
    #[cfg(target_os = "windows")]
    #[test]
    fn the_crate_knows_no_type_that_is_not_listed() {
        for number in 50_000..50_100 {
            let known = uiautomation::types::ControlType::try_from(number).is_ok();
            assert_eq!(known, TABLE.iter().any(|(listed, _)| *listed == number), "{number}");
        }
    }

    #[test]
    fn what_a_person_calls_it_counts() {
        check(of(50_000), "Button");
        check(Told { toggles: true, ..of(50_000) }, "ToggleButton");
        check(Told { toggles: true, ..of(50_002) }, "CheckBox");
        check(of(50_032), "Window");
        check(Told { class: "#32770", ..of(50_032) }, "Dialog");
        check(Told { dialog: true, ..of(50_032) }, "Dialog");
        check(of(50_033), "Pane");
        check(Told { root: true, ..of(50_033) }, "Window");
    }

    #[test]
    fn lists_of_roles_name_roles_that_there_are() {
        for role in [WRITTEN, ITEMS, OPTIONS].concat() {
            assert!(TABLE.iter().any(|(_, name)| *name == role), "{role}");
        }
    }
}
