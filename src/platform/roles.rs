//! The roles of AT-SPI and what we call them, as data, so that the table is tested on every system; those of macOS and
//! Windows are beside what makes sense of their answers. Only the Linux adapter reads this one.

use crate::model::Role;

/// In the order of the numbers that the bus carries: its name there, and ours. What newer toolkits add is not here.
#[cfg_attr(not(any(target_os = "linux", test)), allow(dead_code, reason = "read by the Linux adapter alone"))]
pub static ATSPI: [(&str, Role); 130] = [
    ("Invalid", Role::Unknown),
    ("AcceleratorLabel", Role::Text),
    ("Alert", Role::AlertDialog),
    ("Animation", Role::Image),
    ("Arrow", Role::Image),
    ("Calendar", Role::Calendar),
    ("Canvas", Role::Canvas),
    ("CheckBox", Role::CheckBox),
    ("CheckMenuItem", Role::MenuItem),
    ("ColorChooser", Role::Dialog),
    ("ColumnHeader", Role::HeaderItem),
    ("ComboBox", Role::ComboBox),
    ("DateEditor", Role::Edit),
    ("DesktopIcon", Role::ListItem),
    ("DesktopFrame", Role::Pane),
    ("Dial", Role::Slider),
    ("Dialog", Role::Dialog),
    ("DirectoryPane", Role::Pane),
    ("DrawingArea", Role::Canvas),
    ("FileChooser", Role::Dialog),
    ("Filler", Role::Group),
    ("FocusTraversable", Role::Group),
    ("FontChooser", Role::Dialog),
    ("Frame", Role::Window),
    ("GlassPane", Role::Pane),
    ("HTMLContainer", Role::Document),
    ("Icon", Role::Image),
    ("Image", Role::Image),
    ("InternalFrame", Role::Pane),
    ("Label", Role::Text),
    ("LayeredPane", Role::Pane),
    ("List", Role::List),
    ("ListItem", Role::ListItem),
    ("Menu", Role::Menu),
    ("MenuBar", Role::MenuBar),
    ("MenuItem", Role::MenuItem),
    ("OptionPane", Role::Dialog),
    ("PageTab", Role::TabItem),
    ("PageTabList", Role::Tab),
    ("Panel", Role::Group),
    ("PasswordText", Role::Edit),
    ("PopupMenu", Role::Menu),
    ("ProgressBar", Role::ProgressBar),
    ("Button", Role::Button),
    ("RadioButton", Role::RadioButton),
    ("RadioMenuItem", Role::MenuItem),
    ("RootPane", Role::Pane),
    ("RowHeader", Role::HeaderItem),
    ("ScrollBar", Role::ScrollBar),
    ("ScrollPane", Role::ScrollPane),
    ("Separator", Role::Separator),
    ("Slider", Role::Slider),
    ("SpinButton", Role::Spinner),
    ("SplitPane", Role::Pane),
    ("StatusBar", Role::StatusBar),
    ("Table", Role::Table),
    ("TableCell", Role::DataItem),
    ("TableColumnHeader", Role::HeaderItem),
    ("TableRowHeader", Role::HeaderItem),
    ("TearoffMenuItem", Role::MenuItem),
    ("Terminal", Role::Document),
    ("Text", Role::Document),
    ("ToggleButton", Role::ToggleButton),
    ("ToolBar", Role::ToolBar),
    ("ToolTip", Role::ToolTip),
    ("Tree", Role::Tree),
    ("TreeTable", Role::Tree),
    ("Unknown", Role::Unknown),
    ("Viewport", Role::Pane),
    ("Window", Role::Window),
    ("Extended", Role::Unknown),
    ("Header", Role::Header),
    ("Footer", Role::Group),
    ("Paragraph", Role::Group),
    ("Ruler", Role::Group),
    ("Application", Role::Application),
    ("Autocomplete", Role::Edit),
    ("Editbar", Role::Edit),
    ("Embedded", Role::Group),
    ("Entry", Role::Edit),
    ("CHART", Role::Image),
    ("Caption", Role::Text),
    ("DocumentFrame", Role::Document),
    ("Heading", Role::Heading),
    ("Page", Role::Group),
    ("Section", Role::Group),
    ("RedundantObject", Role::Group),
    ("Form", Role::Group),
    ("Link", Role::Hyperlink),
    ("InputMethodWindow", Role::Window),
    ("TableRow", Role::Row),
    ("TreeItem", Role::TreeItem),
    ("DocumentSpreadsheet", Role::Document),
    ("DocumentPresentation", Role::Document),
    ("DocumentText", Role::Document),
    ("DocumentWeb", Role::Document),
    ("DocumentEmail", Role::Document),
    ("Comment", Role::Group),
    ("ListBox", Role::List),
    ("Grouping", Role::Group),
    ("ImageMap", Role::Image),
    ("Notification", Role::Alert),
    ("InfoBar", Role::Group),
    ("LevelBar", Role::ProgressBar),
    ("TitleBar", Role::TitleBar),
    ("BlockQuote", Role::Group),
    ("Audio", Role::Group),
    ("Video", Role::Group),
    ("Definition", Role::Text),
    ("Article", Role::Group),
    ("Landmark", Role::Group),
    ("Log", Role::Group),
    ("Marquee", Role::Text),
    ("Math", Role::Group),
    ("Rating", Role::Slider),
    ("Timer", Role::Text),
    ("Static", Role::Text),
    ("MathFraction", Role::Group),
    ("MathRoot", Role::Group),
    ("Subscript", Role::Text),
    ("Superscript", Role::Text),
    ("DescriptionList", Role::List),
    ("DescriptionTerm", Role::Text),
    ("DescriptionValue", Role::Text),
    ("Footnote", Role::Text),
    ("ContentDeletion", Role::Text),
    ("ContentInsertion", Role::Text),
    ("Mark", Role::Text),
    ("Suggestion", Role::Text),
    ("PushButtonMenu", Role::SplitButton),
];

/// Roles that newer toolkits invent are `Unknown`, never an error.
#[cfg_attr(not(any(target_os = "linux", test)), allow(dead_code, reason = "read by the Linux adapter alone"))]
pub fn of_atspi(number: u32) -> Role {
    let known = usize::try_from(number).ok().and_then(|number| ATSPI.get(number));
    known.map_or(Role::Unknown, |(_, role)| role.clone())
}

/// What elements are called on every platform: an agent must not learn new words for a system.
#[cfg(test)]
pub const CONTRACT: &[Role] = &[
    Role::Alert,
    Role::AlertDialog,
    Role::Application,
    Role::Button,
    Role::Calendar,
    Role::Canvas,
    Role::CheckBox,
    Role::ComboBox,
    Role::DataItem,
    Role::Dialog,
    Role::Document,
    Role::Edit,
    Role::Group,
    Role::Header,
    Role::HeaderItem,
    Role::Heading,
    Role::Hyperlink,
    Role::Image,
    Role::List,
    Role::ListItem,
    Role::Menu,
    Role::MenuBar,
    Role::MenuItem,
    Role::Pane,
    Role::ProgressBar,
    Role::RadioButton,
    Role::Row,
    Role::ScrollBar,
    Role::ScrollPane,
    Role::Separator,
    Role::Slider,
    Role::Spinner,
    Role::SplitButton,
    Role::StatusBar,
    Role::Tab,
    Role::TabItem,
    Role::Table,
    Role::Text,
    Role::TitleBar,
    Role::ToggleButton,
    Role::ToolBar,
    Role::ToolTip,
    Role::Tree,
    Role::TreeItem,
    Role::Unknown,
    Role::Window,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_of_the_bus_is_listed_once_and_called_by_a_word_of_the_contract() {
        for (place, (native, role)) in ATSPI.iter().enumerate() {
            assert!(ATSPI[..place].iter().all(|(other, _)| other != native), "{native}");
            assert!(CONTRACT.contains(role), "{native} is called {role}");
        }
    }

    #[test]
    fn only_what_says_nothing_is_unknown() {
        let unknown: Vec<&str> =
            ATSPI.iter().filter(|(_, role)| *role == Role::Unknown).map(|(native, _)| *native).collect();
        assert_eq!(unknown, ["Invalid", "Unknown", "Extended"]);
    }

    #[test]
    fn roles_are_found_by_their_numbers() {
        for (number, expected) in
            [(43, "Button"), (7, "CheckBox"), (69, "Window"), (129, "SplitButton"), (130, "Unknown")]
        {
            assert_eq!(of_atspi(number), expected, "{number}");
        }
        assert_eq!(of_atspi(u32::MAX), "Unknown");
    }
}
