//! What keys and the wheel choose where something is chosen: in open menus, lists, combo boxes, radio groups and tabs.
//! The application says there what is selected, and not what the next key will make of it, so that whoever judges an
//! input asks about every option that it may choose.

use super::View;
use crate::model::input::{Key, Modifier};
use crate::model::{Element, KeyCombo, NamedKey, Role, Tree};

/// A combo box is made of a menu with entries, or of a list with options, at most.
const COMBO_DEPTH: usize = 4;

/// What a key does to a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoosingKey {
    /// Arrows: the next option is marked, and where it counts at once, chosen.
    Moves,
    /// Enter, space: what is marked is chosen.
    Takes,
    /// Tab: what is marked in something that is open is chosen.
    Leaves,
    /// A letter: the option that begins with it, or whose mnemonic it is.
    Spells,
    /// What closes, opens or leaves.
    Neither,
}

impl ChoosingKey {
    pub fn of(keys: &KeyCombo) -> Self {
        let commands = |held: &Modifier| matches!(held, Modifier::Ctrl | Modifier::Meta);
        match keys.key {
            Key::Modifier(_) => ChoosingKey::Neither,
            Key::Character(_) if keys.modifiers.iter().any(commands) => ChoosingKey::Neither,
            Key::Character(_) => ChoosingKey::Spells,
            Key::Named(NamedKey::Enter | NamedKey::Space) => ChoosingKey::Takes,
            Key::Named(NamedKey::Tab) => ChoosingKey::Leaves,
            Key::Named(
                NamedKey::Up
                | NamedKey::Down
                | NamedKey::Left
                | NamedKey::Right
                | NamedKey::Home
                | NamedKey::End
                | NamedKey::PageUp
                | NamedKey::PageDown,
            ) => ChoosingKey::Moves,
            Key::Named(_) => ChoosingKey::Neither,
        }
    }
}

/// The options that a key may choose, with the focus there.
pub fn chosen_by_key(view: &View, focus: usize, key: ChoosingKey) -> Vec<usize> {
    let (open, around) = (|| open_entries(view, focus), || options_around(view, focus));
    match key {
        ChoosingKey::Neither => Vec::new(),
        // In a menu an arrow only marks; the entries of a combo box are its options.
        ChoosingKey::Moves if choice_group(view, focus).is_some_and(|group| is_combo(view, group)) => {
            around().collect()
        }
        ChoosingKey::Moves => around().filter(|&node| !is_entry(view.unredacted(node))).collect(),
        ChoosingKey::Leaves if view.unredacted(focus).expanded != Some(true) => open().collect(),
        ChoosingKey::Takes | ChoosingKey::Leaves => open().chain(around()).collect(),
        ChoosingKey::Spells if takes_letters(view.unredacted(focus)) => open().collect(),
        ChoosingKey::Spells => open().chain(around()).collect(),
    }
}

/// The options that the wheel may choose over an element.
pub fn chosen_by_wheel(view: &View, node: usize) -> Vec<usize> {
    let turns =
        |node: &usize| matches!(view.unredacted(*node).role, Role::ComboBox | Role::TabItem | Role::Tab);
    let turned = ancestors(view, node).find(turns);
    turned.map_or_else(Vec::new, |turned| options_around(view, turned).collect())
}

/// Whether a text leads with a tab to what nobody knows yet, and goes on there with the first letter of an option, which
/// chooses it where it is offered.
pub fn spells_elsewhere(text: &str, option: &Element) -> bool {
    let rest = text.split_once('\t').map_or("", |(_, rest)| rest).to_lowercase();
    let first = option.name.trim().chars().flat_map(char::to_lowercase).next();
    is_option(option) && first.is_some_and(|first| rest.contains(first))
}

/// Whether it is chosen among others.
fn is_option(element: &Element) -> bool {
    element.role.is_option() || element.role == Role::Tab
}

fn is_entry(element: &Element) -> bool {
    element.role == Role::MenuItem
}

fn takes_letters(element: &Element) -> bool {
    element.editable || element.is_secret() || element.role.keeps_typed_text()
}

/// The element and what it is in, from the inside out.
fn ancestors(view: &View, node: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(node), move |&node| view.tree().parent(node))
}

/// The entries of the menus that are open. A menu has the keyboard while it is open, whatever the application says has
/// the focus. A page may show a menu all the time: it has the keyboard when the focus is in it.
fn open_entries(view: &View, focus: usize) -> impl Iterator<Item = usize> {
    let shows = move |node: usize| {
        is_entry(view.unredacted(node)) && ancestors(view, node).all(|node| !view.unredacted(node).hidden)
    };
    let opened = move |node: usize| {
        let parent = view.tree().parent(node).map(|parent| &view.unredacted(parent).role);
        !matches!(parent, None | Some(Role::MenuBar))
    };
    let is_on_page =
        move |node: usize| ancestors(view, node).any(|node| view.unredacted(node).role == Role::Document);
    let has_focus = move |node: usize| {
        let menu = ancestors(view, node).find(|&around| view.unredacted(around).role == Role::Menu);
        menu.is_some_and(|menu| (menu..view.tree().end(menu)).contains(&focus))
    };
    (0..view.tree().len())
        .filter(move |&node| shows(node) && opened(node) && (!is_on_page(node) || has_focus(node)))
}

/// The options of the group that the focus is in: of the combo box or list that has it, or beside the option that does.
fn options_around(view: &View, focus: usize) -> impl Iterator<Item = usize> {
    let group = choice_group(view, focus);
    let role = view.unredacted(focus).role.clone();
    let nodes = group.map_or(0..0, |group| group..view.tree().end(group));
    nodes.filter(move |&node| {
        let found = view.unredacted(node);
        is_option(found) && (role != Role::RadioButton || found.role == role)
    })
}

/// What holds the options among which the focus is. A combo box has it by whatever it is made of. Radio buttons may be
/// anywhere in their window: which belong together nobody tells.
fn choice_group(view: &View, focus: usize) -> Option<usize> {
    let holds = |node: &usize| {
        matches!(
            view.unredacted(*node).role,
            Role::List | Role::Menu | Role::Tab | Role::Tree | Role::Table | Role::DataGrid
        )
    };
    let combo = ancestors(view, focus).take(COMBO_DEPTH).find(|&node| is_combo(view, node));
    match &view.unredacted(focus).role {
        Role::RadioButton => Some(Tree::ROOT),
        _ if combo.is_some() => combo,
        role if role.is_option() => {
            ancestors(view, focus).skip(1).find(holds).or_else(|| view.tree().parent(focus))
        }
        _ => Some(focus).filter(holds),
    }
}

fn is_combo(view: &View, node: usize) -> bool {
    view.unredacted(node).role == Role::ComboBox
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &str, expected: ChoosingKey) {
        assert_eq!(ChoosingKey::of(&KeyCombo::parse(keys).unwrap()), expected, "{keys}");
    }

    #[test]
    fn keys_move_take_or_spell() {
        for keys in ["up", "shift+down", "home", "ctrl+pagedown"] {
            check(keys, ChoosingKey::Moves);
        }
        for keys in ["enter", "space", "alt+enter"] {
            check(keys, ChoosingKey::Takes);
        }
        check("tab", ChoosingKey::Leaves);
        for keys in ["d", "shift+d", "alt+d", "7"] {
            check(keys, ChoosingKey::Spells);
        }
        for keys in ["escape", "f10", "ctrl+c", "shift", "menu"] {
            check(keys, ChoosingKey::Neither);
        }
    }

    #[test]
    fn letters_after_a_tab_go_somewhere_else() {
        let check = |text: &str, role: Role, expected: bool| {
            let option = Element { role, name: "Delete plan".to_owned(), ..Element::default() };
            assert_eq!(spells_elsewhere(text, &option), expected, "{text:?}");
        };
        for text in ["a\tD", "\td", "\t\txd"] {
            check(text, Role::ListItem, true);
            check(text, Role::Button, false);
        }
        for text in ["abcd", "d\t", "\t\t", "a\tb"] {
            check(text, Role::ListItem, false);
        }
    }
}
