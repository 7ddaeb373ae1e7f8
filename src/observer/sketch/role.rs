//! What the sketch needs to know of roles, under one spelling for all platforms.

/// `AXRadioButton`, `radio_button` and `Radio Button` are all `radiobutton`.
///
/// Clients rely on the exact rule, although it also takes the first letter of `application`.
pub(super) fn normal_form(role: &str) -> String {
    let lower = role.trim().to_lowercase();
    let letters = lower.trim_start_matches(['a', 'x']).chars();
    letters.filter(|character| !matches!(character, '_' | '-') && !character.is_whitespace()).collect()
}

const FOCUSABLE: &[&str] = &[
    "button",
    "checkbox",
    "radiobutton",
    "radio",
    "combobox",
    "menuitem",
    "tab",
    "textfield",
    "edit",
    "editabletext",
    "text",
    "link",
    "hyperlink",
    "slider",
    "spinner",
    "spinbutton",
];

pub(super) fn is_focusable(normal_role: &str) -> bool {
    FOCUSABLE.contains(&normal_role)
}

const OFTEN_NAMELESS: &[&str] = &["image", "custom", "group", "pane", "unknown", "graphic"];

/// Whether applications leave elements of this role without a name although they show something.
pub(super) fn is_often_nameless(normal_role: &str) -> bool {
    OFTEN_NAMELESS.contains(&normal_role)
}

const LANDMARKS: &[(&str, &str)] = &[
    ("toolbar", "Toolbar"),
    ("menubar", "MenuBar"),
    ("tabpanel", "TabPanel"),
    ("sidebar", "Sidebar"),
    ("statusbar", "StatusBar"),
    ("dialog", "Dialog"),
    // What the normal form leaves of `alertdialog`.
    ("lertdialog", "Dialog"),
    ("navigation", "Navigation"),
    ("banner", "Banner"),
];

pub(super) fn landmark(normal_role: &str) -> Option<&'static str> {
    LANDMARKS.iter().find(|(role, _)| *role == normal_role).map(|(_, label)| *label)
}

/// How an element of a known kind shows its state at a glance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Glyph {
    Check,
    Radio,
    Combo,
    Menu,
    Slider,
    Progress,
}

const GLYPHS: &[(&str, Glyph)] = &[
    ("checkbox", Glyph::Check),
    ("togglebutton", Glyph::Check),
    ("switch", Glyph::Check),
    ("radiobutton", Glyph::Radio),
    ("radio", Glyph::Radio),
    ("radioitem", Glyph::Radio),
    ("combobox", Glyph::Combo),
    ("dropdownbutton", Glyph::Combo),
    ("popupbutton", Glyph::Combo),
    ("menuitem", Glyph::Menu),
    ("slider", Glyph::Slider),
    ("scrollbar", Glyph::Slider),
    ("progressbar", Glyph::Progress),
];

pub(super) fn glyph(normal_role: &str) -> Option<Glyph> {
    GLYPHS.iter().find(|(role, _)| *role == normal_role).map(|(_, glyph)| *glyph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_role_are_one() {
        for role in ["RadioButton", "AXRadioButton", " radio button ", "radio_button", "RADIO-BUTTON"] {
            assert_eq!(normal_form(role), "radiobutton", "{role}");
        }
        assert_eq!(normal_form("Application"), "pplication");
        assert_eq!(normal_form("aXxa"), "");
    }

    #[test]
    fn no_table_holds_a_role_that_the_normal_form_cannot_give() {
        let landmarks = LANDMARKS.iter().map(|(role, _)| role);
        let glyphs = GLYPHS.iter().map(|(role, _)| role);
        for role in FOCUSABLE.iter().chain(landmarks).chain(glyphs) {
            assert_eq!(normal_form(role), *role);
        }
    }

    #[test]
    fn an_alert_dialog_is_a_dialog() {
        for role in ["AlertDialog", "alertdialog", "AXAlertDialog", "alert dialog"] {
            assert_eq!(landmark(&normal_form(role)), Some("Dialog"), "{role}");
        }
        assert_eq!(landmark(&normal_form("Alert")), None);
    }
}
