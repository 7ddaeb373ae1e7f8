//! What enter presses where the focused element does not take it: the default button of the window. Few toolkits tell
//! which one that is, and the button may change with the focus, so that any button of the window may be. Or it takes what
//! is marked in a list that belongs to the field and stands elsewhere, so that any option that shows may be meant.

use super::View;
use super::choices::shown_options;
use crate::model::{Element, Role};

/// Whether enter, with the focus there, may press a button that does not have it.
pub fn passes_enter_on(view: &View, focus: usize) -> bool {
    let element = view.unredacted(focus);
    match &element.role {
        Role::Button | Role::SplitButton | Role::MenuItem | Role::Terminal => false,
        Role::RadioButton => true,
        role if role.is_link() => false,
        // Text of many lines takes a line break.
        Role::Document => !element.editable,
        // A row that is opened in a dialog answers it.
        role if role.is_option() || is_choice(role) => is_in_dialog(view, focus),
        _ => true,
    }
}

/// Whether enter may press it from elsewhere.
pub fn may_be_default(element: &Element) -> bool {
    matches!(element.role, Role::Button | Role::SplitButton)
}

/// The options that enter may take, with the focus there.
pub fn taken_by_enter(view: &View, focus: usize) -> Vec<usize> {
    if passes_enter_on(view, focus) { shown_options(view).collect() } else { Vec::new() }
}

fn is_choice(role: &Role) -> bool {
    matches!(role, Role::List | Role::Menu | Role::Tab | Role::Tree | Role::Table | Role::DataGrid)
}

fn is_in_dialog(view: &View, node: usize) -> bool {
    let mut around = std::iter::successors(Some(node), |&node| view.tree().parent(node));
    around.any(|node| view.unredacted(node).role.is_dialog())
}
