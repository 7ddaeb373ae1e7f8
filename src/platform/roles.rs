//! The roles of AT-SPI and what we call them, as data, so that the table is tested on every system; those of macOS and
//! Windows are beside what makes sense of their answers. Only the Linux adapter reads this one.

/// In the order of the numbers that the bus carries: its name there, and ours. What newer toolkits add is not here.
#[cfg_attr(not(any(target_os = "linux", test)), allow(dead_code, reason = "read by the Linux adapter alone"))]
pub const ATSPI: [(&str, &str); 130] = [
    ("Invalid", "Unknown"),
    ("AcceleratorLabel", "Text"),
    ("Alert", "AlertDialog"),
    ("Animation", "Image"),
    ("Arrow", "Image"),
    ("Calendar", "Calendar"),
    ("Canvas", "Canvas"),
    ("CheckBox", "CheckBox"),
    ("CheckMenuItem", "MenuItem"),
    ("ColorChooser", "Dialog"),
    ("ColumnHeader", "HeaderItem"),
    ("ComboBox", "ComboBox"),
    ("DateEditor", "Edit"),
    ("DesktopIcon", "ListItem"),
    ("DesktopFrame", "Pane"),
    ("Dial", "Slider"),
    ("Dialog", "Dialog"),
    ("DirectoryPane", "Pane"),
    ("DrawingArea", "Canvas"),
    ("FileChooser", "Dialog"),
    ("Filler", "Group"),
    ("FocusTraversable", "Group"),
    ("FontChooser", "Dialog"),
    ("Frame", "Window"),
    ("GlassPane", "Pane"),
    ("HTMLContainer", "Document"),
    ("Icon", "Image"),
    ("Image", "Image"),
    ("InternalFrame", "Pane"),
    ("Label", "Text"),
    ("LayeredPane", "Pane"),
    ("List", "List"),
    ("ListItem", "ListItem"),
    ("Menu", "Menu"),
    ("MenuBar", "MenuBar"),
    ("MenuItem", "MenuItem"),
    ("OptionPane", "Dialog"),
    ("PageTab", "TabItem"),
    ("PageTabList", "Tab"),
    ("Panel", "Group"),
    ("PasswordText", "Edit"),
    ("PopupMenu", "Menu"),
    ("ProgressBar", "ProgressBar"),
    ("Button", "Button"),
    ("RadioButton", "RadioButton"),
    ("RadioMenuItem", "MenuItem"),
    ("RootPane", "Pane"),
    ("RowHeader", "HeaderItem"),
    ("ScrollBar", "ScrollBar"),
    ("ScrollPane", "ScrollPane"),
    ("Separator", "Separator"),
    ("Slider", "Slider"),
    ("SpinButton", "Spinner"),
    ("SplitPane", "Pane"),
    ("StatusBar", "StatusBar"),
    ("Table", "Table"),
    ("TableCell", "DataItem"),
    ("TableColumnHeader", "HeaderItem"),
    ("TableRowHeader", "HeaderItem"),
    ("TearoffMenuItem", "MenuItem"),
    ("Terminal", "Document"),
    ("Text", "Document"),
    ("ToggleButton", "ToggleButton"),
    ("ToolBar", "ToolBar"),
    ("ToolTip", "ToolTip"),
    ("Tree", "Tree"),
    ("TreeTable", "Tree"),
    ("Unknown", "Unknown"),
    ("Viewport", "Pane"),
    ("Window", "Window"),
    ("Extended", "Unknown"),
    ("Header", "Header"),
    ("Footer", "Group"),
    ("Paragraph", "Group"),
    ("Ruler", "Group"),
    ("Application", "Application"),
    ("Autocomplete", "Edit"),
    ("Editbar", "Edit"),
    ("Embedded", "Group"),
    ("Entry", "Edit"),
    ("CHART", "Image"),
    ("Caption", "Text"),
    ("DocumentFrame", "Document"),
    ("Heading", "Heading"),
    ("Page", "Group"),
    ("Section", "Group"),
    ("RedundantObject", "Group"),
    ("Form", "Group"),
    ("Link", "Hyperlink"),
    ("InputMethodWindow", "Window"),
    ("TableRow", "Row"),
    ("TreeItem", "TreeItem"),
    ("DocumentSpreadsheet", "Document"),
    ("DocumentPresentation", "Document"),
    ("DocumentText", "Document"),
    ("DocumentWeb", "Document"),
    ("DocumentEmail", "Document"),
    ("Comment", "Group"),
    ("ListBox", "List"),
    ("Grouping", "Group"),
    ("ImageMap", "Image"),
    ("Notification", "Alert"),
    ("InfoBar", "Group"),
    ("LevelBar", "ProgressBar"),
    ("TitleBar", "TitleBar"),
    ("BlockQuote", "Group"),
    ("Audio", "Group"),
    ("Video", "Group"),
    ("Definition", "Text"),
    ("Article", "Group"),
    ("Landmark", "Group"),
    ("Log", "Group"),
    ("Marquee", "Text"),
    ("Math", "Group"),
    ("Rating", "Slider"),
    ("Timer", "Text"),
    ("Static", "Text"),
    ("MathFraction", "Group"),
    ("MathRoot", "Group"),
    ("Subscript", "Text"),
    ("Superscript", "Text"),
    ("DescriptionList", "List"),
    ("DescriptionTerm", "Text"),
    ("DescriptionValue", "Text"),
    ("Footnote", "Text"),
    ("ContentDeletion", "Text"),
    ("ContentInsertion", "Text"),
    ("Mark", "Text"),
    ("Suggestion", "Text"),
    ("PushButtonMenu", "SplitButton"),
];

/// Roles that newer toolkits invent are `Unknown`, never an error.
#[cfg_attr(not(any(target_os = "linux", test)), allow(dead_code, reason = "read by the Linux adapter alone"))]
pub fn of_atspi(number: u32) -> &'static str {
    usize::try_from(number).ok().and_then(|number| ATSPI.get(number)).map_or("Unknown", |(_, name)| name)
}

/// What elements are called on every platform: an agent must not learn new words for a system.
#[cfg(test)]
pub const CONTRACT: &[&str] = &[
    "Alert",
    "AlertDialog",
    "Application",
    "Button",
    "Calendar",
    "Canvas",
    "CheckBox",
    "ComboBox",
    "DataItem",
    "Dialog",
    "Document",
    "Edit",
    "Group",
    "Header",
    "HeaderItem",
    "Heading",
    "Hyperlink",
    "Image",
    "List",
    "ListItem",
    "Menu",
    "MenuBar",
    "MenuItem",
    "Pane",
    "ProgressBar",
    "RadioButton",
    "Row",
    "ScrollBar",
    "ScrollPane",
    "Separator",
    "Slider",
    "Spinner",
    "SplitButton",
    "StatusBar",
    "Tab",
    "TabItem",
    "Table",
    "Text",
    "TitleBar",
    "ToggleButton",
    "ToolBar",
    "ToolTip",
    "Tree",
    "TreeItem",
    "Unknown",
    "Window",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_of_the_bus_is_listed_once_and_called_by_a_word_of_the_contract() {
        for (place, (native, name)) in ATSPI.iter().enumerate() {
            assert!(ATSPI[..place].iter().all(|(other, _)| other != native), "{native}");
            assert!(CONTRACT.contains(name), "{native} is called {name}");
        }
    }

    #[test]
    fn only_what_says_nothing_is_unknown() {
        let unknown: Vec<&str> =
            ATSPI.iter().filter(|(_, name)| *name == "Unknown").map(|(native, _)| *native).collect();
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
