//! From the control types of UI Automation to the contract's roles: one flat table and a few rules.

use crate::model::Role;

/// What an element says of itself, as far as its role depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoleFacts<'a> {
    pub control_type: i32,
    pub class: &'a str,
    /// It says that it is a dialog (Windows 10 and later).
    pub dialog: bool,
    /// It can be switched on and off.
    pub toggles: bool,
    /// It is the root of its window.
    pub root: bool,
}

/// The contract's role of an element. Types that a newer Windows invents are `Unknown`, never an error.
pub fn role(told: RoleFacts<'_>) -> Role {
    let known = TABLE.iter().find(|(known, _)| *known == told.control_type);
    match known.map_or(Role::Unknown, |(_, role)| role.clone()) {
        Role::Button if told.toggles => Role::ToggleButton,
        // The dialogs of old are windows of this class.
        Role::Window if told.dialog || told.class == "#32770" => Role::Dialog,
        // Some programs say of their window that it is a pane.
        Role::Pane if told.root => Role::Window,
        role => role,
    }
}

/// All control types there are, in the order of their numbers.
const TABLE: &[(i32, Role)] = &[
    (50_000, Role::Button),
    (50_001, Role::Calendar),
    (50_002, Role::CheckBox),
    (50_003, Role::ComboBox),
    (50_004, Role::Edit),
    (50_005, Role::Hyperlink),
    (50_006, Role::Image),
    (50_007, Role::ListItem),
    (50_008, Role::List),
    (50_009, Role::Menu),
    (50_010, Role::MenuBar),
    (50_011, Role::MenuItem),
    (50_012, Role::ProgressBar),
    (50_013, Role::RadioButton),
    (50_014, Role::ScrollBar),
    (50_015, Role::Slider),
    (50_016, Role::Spinner),
    (50_017, Role::StatusBar),
    (50_018, Role::Tab),
    (50_019, Role::TabItem),
    (50_020, Role::Text),
    (50_021, Role::ToolBar),
    (50_022, Role::ToolTip),
    (50_023, Role::Tree),
    (50_024, Role::TreeItem),
    (50_025, Role::Unknown), // made by the application for itself
    (50_026, Role::Group),
    (50_027, Role::Unknown), // the part of a scroll bar that is dragged
    (50_028, Role::Table),   // a data grid
    (50_029, Role::DataItem),
    (50_030, Role::Document),
    (50_031, Role::SplitButton),
    (50_032, Role::Window),
    (50_033, Role::Pane),
    (50_034, Role::Header),
    (50_035, Role::HeaderItem),
    (50_036, Role::Table),
    (50_037, Role::TitleBar),
    (50_038, Role::Separator),
    (50_039, Role::Group),   // a semantic zoom
    (50_040, Role::ToolBar), // an app bar
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::roles::CONTRACT;

    fn check(told: RoleFacts<'_>, expected: &str) {
        assert_eq!(role(told), expected, "{told:?}");
    }

    fn of(control_type: i32) -> RoleFacts<'static> {
        RoleFacts { control_type, ..RoleFacts::default() }
    }

    #[test]
    fn every_control_type_is_listed_once_and_in_order() {
        let numbers: Vec<i32> = TABLE.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (50_000..=50_040).collect::<Vec<_>>());
        for (number, role) in TABLE {
            assert!(CONTRACT.contains(role), "{number} is called {role}");
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
        check(RoleFacts { toggles: true, ..of(50_000) }, "ToggleButton");
        check(RoleFacts { toggles: true, ..of(50_002) }, "CheckBox");
        check(of(50_032), "Window");
        check(RoleFacts { class: "#32770", ..of(50_032) }, "Dialog");
        check(RoleFacts { dialog: true, ..of(50_032) }, "Dialog");
        check(of(50_033), "Pane");
        check(RoleFacts { root: true, ..of(50_033) }, "Window");
    }
}
