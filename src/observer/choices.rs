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
    /// Everything in the list is chosen, and everything in a text marked.
    TakesAll,
    /// What closes, opens or leaves.
    Neither,
}

impl ChoosingKey {
    pub fn of(keys: &KeyCombo) -> Self {
        let commands = |held: &Modifier| matches!(held, Modifier::Ctrl | Modifier::Meta);
        match keys.key {
            Key::Modifier(_) => ChoosingKey::Neither,
            // GTK has a second combination for it.
            Key::Character('a' | 'A' | '/') if keys.modifiers.iter().any(commands) => ChoosingKey::TakesAll,
            Key::Character(_) if keys.modifiers.iter().any(commands) => ChoosingKey::Neither,
            Key::Character(_) => ChoosingKey::Spells,
            Key::Named(NamedKey::Enter | NamedKey::Space) => ChoosingKey::Takes,
            // What is marked in an open list is chosen, and the list closes.
            Key::Named(NamedKey::Up) if keys.modifiers.contains(&Modifier::Alt) => ChoosingKey::Takes,
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

/// The options that a key may choose, with the focus there. While a menu is open that the tree does not show
/// (`has_unseen_menu`), it may be any of the window's.
pub fn chosen_by_key(view: &View, focus: usize, key: ChoosingKey, has_unseen_menu: bool) -> Vec<usize> {
    let open = || open_entries(view, focus, has_unseen_menu);
    let around = || options_around(view, focus);
    // The list of something that is open may be anywhere in the window.
    let is_open = view.unredacted(focus).expanded == Some(true);
    let elsewhere = || shown_options(view).filter(move |_| is_open);
    match key {
        ChoosingKey::Neither => Vec::new(),
        ChoosingKey::TakesAll if takes_letters(view.unredacted(focus)) => Vec::new(),
        ChoosingKey::TakesAll => around().collect(),
        // In a menu an arrow only marks; the entries of a combo box are its options.
        ChoosingKey::Moves if choice_group(view, focus).is_some_and(|group| is_combo(view, group)) => {
            around().collect()
        }
        ChoosingKey::Moves => around().filter(|&node| !is_entry(view.unredacted(node))).collect(),
        ChoosingKey::Leaves if !is_open => open().collect(),
        ChoosingKey::Takes | ChoosingKey::Leaves => open().chain(around()).chain(elsewhere()).collect(),
        ChoosingKey::Spells if takes_letters(view.unredacted(focus)) => open().collect(),
        ChoosingKey::Spells => open().chain(around()).collect(),
    }
}

/// Whether a key only leads away from what has the focus: escape chooses no option, and tab presses no button.
pub fn backs_out(view: &View, focus: usize, keys: &KeyCombo) -> bool {
    let element = view.unredacted(focus);
    let by_shift = || keys.modifiers.iter().all(|held| matches!(held, Modifier::Shift));
    match keys.key {
        Key::Named(NamedKey::Escape) => keys.modifiers.is_empty() && element.role.is_option(),
        Key::Named(NamedKey::Tab) => by_shift() && is_left_by_tab(element),
        _ => false,
    }
}

/// What tab moves the focus away from without choosing, opening or entering anything.
fn is_left_by_tab(element: &Element) -> bool {
    let is_pressed = element.role.is_link() || element.role == Role::Button || element.role.toggles();
    is_pressed && element.expanded != Some(true)
}

/// The options that show in a window, of lists and of menus that are open: a field may choose among them although they
/// stand somewhere else, as in a combo box whose list is drawn over the page, or under a search field.
pub fn shown_options(view: &View) -> impl Iterator<Item = usize> {
    let is_listed = move |node: usize| {
        let element = view.unredacted(node);
        let in_bar = view.tree().parent(node).is_some_and(|bar| view.unredacted(bar).role == Role::MenuBar);
        element.role.is_option() && !matches!(element.role, Role::RadioButton | Role::TabItem) && !in_bar
    };
    let is_shut = move |node: usize| is_combo(view, node) && view.unredacted(node).expanded != Some(true);
    let shows =
        move |node: usize| ancestors(view, node).all(|node| !view.unredacted(node).hidden && !is_shut(node));
    (0..view.tree().len()).filter(move |&node| is_listed(node) && shows(node))
}

/// The options of the list that an element is in: shift and a click, or a drag, chooses what lies between.
pub fn options_in_range(view: &View, node: usize) -> Vec<usize> {
    let in_list = ancestors(view, node).find(|&node| choice_group(view, node).is_some());
    in_list.map_or_else(Vec::new, |node| options_around(view, node).collect())
}

/// The tabs that a key turns to, wherever the focus is: ctrl+tab and its like, and a digit with a modifier.
pub fn tabs_turned_to(view: &View, keys: &KeyCombo) -> Vec<usize> {
    let holds = |wanted: &[Modifier]| keys.modifiers.iter().any(|held| wanted.contains(held));
    let turns = match keys.key {
        Key::Named(NamedKey::PageUp | NamedKey::PageDown | NamedKey::Tab) => holds(&[Modifier::Ctrl]),
        Key::Character(digit) if digit.is_ascii_digit() => {
            holds(&[Modifier::Alt, Modifier::Ctrl, Modifier::Meta])
        }
        _ => false,
    };
    let is_tab = |node: &usize| {
        let element = view.unredacted(*node);
        element.role == Role::TabItem && element.selected != Some(true)
    };
    (0..view.tree().len()).filter(|node| turns && is_tab(node)).collect()
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
fn open_entries(view: &View, focus: usize, has_unseen_menu: bool) -> impl Iterator<Item = usize> {
    let shows = move |node: usize| {
        let is_shown = || ancestors(view, node).all(|node| !view.unredacted(node).hidden);
        is_entry(view.unredacted(node)) && (has_unseen_menu || is_shown())
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
        for keys in ["enter", "space", "alt+enter", "alt+up"] {
            check(keys, ChoosingKey::Takes);
        }
        for keys in ["ctrl+a", "cmd+a", "ctrl+/"] {
            check(keys, ChoosingKey::TakesAll);
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
