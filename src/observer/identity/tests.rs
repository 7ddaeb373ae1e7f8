use std::sync::Arc;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;
use crate::model::{Rect, TreeBuilder};

/// An element as the world knows it: who it is, whatever it is called and wherever it stands.
#[derive(Clone, Debug, PartialEq)]
struct Being {
    who: u32,
    role: &'static str,
    name: String,
    /// The platform has a handle for it; the number changes when the object is replaced.
    native: Option<u32>,
    children: Vec<Being>,
}

fn being(who: u32, role: &'static str, name: &str) -> Being {
    Being { who, role, name: name.to_owned(), native: Some(who), children: Vec::new() }
}

fn with(parent: Being, children: impl IntoIterator<Item = Being>) -> Being {
    Being { children: children.into_iter().collect(), ..parent }
}

/// A capture of the world, and who each node is.
struct Capture {
    view: View,
    who: Vec<u32>,
    window: Window,
}

impl Capture {
    fn of(root: &Being) -> Self {
        Self::in_window("w1", "Editor", root)
    }

    fn in_window(uid: &str, title: &str, root: &Being) -> Self {
        let mut who = vec![root.who];
        let mut builder = TreeBuilder::new(element(root));
        add_children(&mut builder, &mut who, root);
        let tree = Arc::new(builder.finish());
        let view = View::new(tree.clone(), tree, Duration::ZERO, SystemTime::UNIX_EPOCH);
        Self { view, who, window: window(uid, title) }
    }

    fn sight(&self) -> WindowCapture<'_> {
        WindowCapture { window: &self.window, view: &self.view }
    }

    fn node(&self, who: u32) -> usize {
        self.who.iter().position(|other| *other == who).unwrap()
    }

    fn show_all(&self, refs: &Refs) -> Vec<Ref> {
        refs.assign_refs(self.sight(), 0..self.who.len())
    }

    fn show(&self, refs: &Refs, who: u32) -> Ref {
        refs.show_one(self.sight(), self.node(who))
    }

    fn find(&self, refs: &Refs, reference: Ref) -> RefLookup {
        refs.find_again(&refs.remembered(reference).unwrap(), self.sight())
    }
}

fn element(being: &Being) -> Element {
    let native = being.native.map(|number| format!("n{number}"));
    Element { native, ..Element::new(being.role, being.name.clone(), Rect::new(0, 0, 9, 9)) }
}

fn add_children(builder: &mut TreeBuilder, who: &mut Vec<u32>, parent: &Being) {
    for child in &parent.children {
        who.push(child.who);
        builder.open(element(child));
        add_children(builder, who, child);
        builder.close();
    }
}

fn window(uid: &str, title: &str) -> Window {
    Window {
        uid: uid.to_owned(),
        handle: String::new(),
        title: title.to_owned(),
        process: "editor".to_owned(),
        pid: 1,
        bounds: Rect::default(),
        focused: true,
        minimized: false,
        url: None,
    }
}

fn form() -> Being {
    with(
        being(1, "Window", "Editor"),
        [
            with(being(2, "ToolBar", ""), [being(3, "Button", "Save"), being(4, "Button", "Play")]),
            with(
                being(5, "List", "Rows"),
                [being(6, "ListItem", "same"), being(7, "ListItem", "same"), being(8, "ListItem", "other")],
            ),
        ],
    )
}

fn change(root: &Being, who: u32, how: impl Fn(&mut Being) + Copy) -> Being {
    let mut copy = root.clone();
    if copy.who == who {
        how(&mut copy);
    }
    copy.children = copy.children.iter().map(|child| change(child, who, how)).collect();
    copy
}

fn without(root: &Being, who: u32) -> Being {
    let mut copy = root.clone();
    copy.children = copy.children.iter().filter(|it| it.who != who).map(|it| without(it, who)).collect();
    copy
}

fn without_handles(root: &Being) -> Being {
    let children = root.children.iter().map(without_handles).collect();
    Being { native: None, children, ..root.clone() }
}

#[test]
fn a_ref_is_an_e_and_a_number() {
    assert_eq!(Ref::parse("e17"), Some(Ref(17)));
    assert_eq!(Ref(17).to_string(), "e17");
    for wrong in ["", "e", "17", "E17", "e0", "e017", "e-1", "e+1", "e1 ", "e99999999999999999999", "éé"] {
        assert_eq!(Ref::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn the_same_element_has_the_same_ref_wherever_it_moves() {
    let refs = Refs::default();
    let save = Capture::of(&form()).show(&refs, 3);
    let mut moved = without(&form(), 3);
    moved.children[1].children.insert(0, being(3, "Button", "Save"));
    let capture = Capture::of(&moved);
    assert_eq!(capture.find(&refs, save), RefLookup::Same(capture.node(3)));
    assert_eq!(capture.show(&refs, 3), save);
}

#[test]
fn what_is_called_otherwise_is_not_acted_on_before_it_is_shown() {
    let refs = Refs::default();
    let play = Capture::of(&form()).show(&refs, 4);
    let paused = Capture::of(&change(&form(), 4, |it| it.name = "Pause".to_owned()));
    assert_eq!(paused.find(&refs, play), RefLookup::Changed(paused.node(4)));
    assert_eq!(paused.show(&refs, 4), play);
    assert_eq!(paused.find(&refs, play), RefLookup::Same(paused.node(4)));
}

/// As GTK3 has it: a combo box without a name is called by what is chosen in it.
#[test]
fn what_is_chosen_in_a_combo_box_is_not_who_it_is() {
    let combo = |name: &str| {
        let styles = [being(3, "MenuItem", "Normal"), being(4, "MenuItem", "Heading 1")];
        let menu = with(being(5, "Menu", ""), styles);
        Capture::of(&with(being(1, "Window", "Editor"), [with(being(2, "ComboBox", name), [menu])]))
    };
    let refs = Refs::default();
    let normal = combo("Normal");
    let (style, heading) = (normal.show(&refs, 2), normal.show(&refs, 4));
    let other = combo("Heading 1");
    assert_eq!(other.find(&refs, style), RefLookup::Same(other.node(2)));
    assert_eq!(other.find(&refs, heading), RefLookup::Same(other.node(4)));
    let renamed = combo("Size");
    assert_eq!(renamed.find(&refs, style), RefLookup::Changed(renamed.node(2)), "a name of its own");
}

#[test]
fn a_combo_box_without_options_is_not_called_by_its_value() {
    let combo = |name: &str, value: &str| {
        let mut builder = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 9, 9)));
        let value = Some(value.to_owned());
        builder.add_leaf(Element { value, ..Element::new("ComboBox", name, Rect::new(0, 0, 9, 9)) });
        Marks::of(&builder.finish()).meaning[1]
    };
    assert_eq!(combo("Left", "Left"), combo("Right", "Right"));
    assert_ne!(combo("Side", "Left"), combo("Size", "Left"));
    assert_eq!(combo("Side", "Left"), combo("Side", "Right"));
}

#[test]
fn a_window_whose_title_changes_keeps_its_elements() {
    let refs = Refs::default();
    let capture = Capture::of(&form());
    let (root, save) = (capture.show(&refs, 1), capture.show(&refs, 3));
    let titled = Capture::in_window("w1", "*Editor", &change(&form(), 1, |it| it.name = "*Editor".into()));
    assert_eq!(titled.find(&refs, root), RefLookup::Same(0));
    assert_eq!(titled.find(&refs, save), RefLookup::Same(titled.node(3)));
}

#[test]
fn an_object_that_was_replaced_is_found_by_its_signature() {
    let refs = Refs::default();
    let save = Capture::of(&form()).show(&refs, 3);
    let rebuilt = Capture::of(&change(&form(), 3, |it| it.native = Some(33)));
    assert_eq!(rebuilt.find(&refs, save), RefLookup::Again(rebuilt.node(3), REPLACED));
    assert_eq!(rebuilt.show(&refs, 3), save);
    assert_eq!(rebuilt.find(&refs, save), RefLookup::Same(rebuilt.node(3)));
}

#[test]
fn one_of_several_alike_is_never_guessed() {
    let refs = Refs::default();
    let first = Capture::of(&form()).show(&refs, 6);
    let removed = Capture::of(&without(&form(), 6));
    assert_eq!(removed.find(&refs, first), RefLookup::Lost);
    assert_ne!(removed.show(&refs, 7), first);
}

#[test]
fn an_element_that_has_a_ref_of_its_own_is_no_other() {
    let refs = Refs::default();
    let save = Capture::of(&form()).show(&refs, 3);
    // The button went, and another one that was known by another name is now called like it.
    let renamed = change(&without(&form(), 3), 4, |it| it.name = "Save".to_owned());
    let play = Capture::of(&form()).show(&refs, 4);
    let capture = Capture::of(&renamed);
    assert_eq!(capture.find(&refs, save), RefLookup::Lost);
    assert_eq!(capture.show(&refs, 4), play);
}

#[test]
fn a_count_behind_a_name_may_change_and_an_amount_may_not() {
    let check = |before: &str, now: &str, expected: bool| {
        let refs = Refs::default();
        let named = |name: &str| Capture::of(&change(&form(), 3, |it| it.name = name.to_owned()));
        let save = named(before).show(&refs, 3);
        let now = named(now);
        let found = now.find(&refs, save);
        let wanted = if expected { RefLookup::Same(now.node(3)) } else { RefLookup::Changed(now.node(3)) };
        assert_eq!(found, wanted, "{before}");
    };
    check("Basket (0)", "Basket (12)", true);
    check("Basket (0)", "Bin (0)", false);
    check("Pay (10)", "Pay 10", false);
    check("Pay 10", "Pay 90", false);
    check("Pay (10 EUR)", "Pay (90 EUR)", false);
    check("(1)", "(2)", true);
}

#[test]
fn an_object_with_another_role_is_another_element() {
    let refs = Refs::default();
    let save = Capture::of(&form()).show(&refs, 3);
    let capture = Capture::of(&change(&form(), 3, |it| it.role = "Edit"));
    let edit = capture.show(&refs, 3);
    assert_ne!(edit, save);
    assert_eq!(capture.find(&refs, edit), RefLookup::Same(capture.node(3)));
    assert_eq!(capture.find(&refs, save), RefLookup::Lost);
}

#[test]
fn without_handles_the_signature_is_the_identity() {
    let refs = Refs::default();
    let bare = without_handles(&form());
    let before = Capture::of(&bare);
    let (save, first) = (before.show(&refs, 3), before.show(&refs, 6));
    let mut longer = bare.clone();
    longer.children[0].children.insert(0, Being { native: None, ..being(9, "Button", "New") });
    let after = Capture::of(&longer);
    assert_eq!(after.find(&refs, save), RefLookup::Again(after.node(3), BY_SIGNATURE));
    assert_eq!(after.show(&refs, 3), save);
    assert_eq!(after.find(&refs, first), RefLookup::Again(after.node(6), SAME_PLACE));
    longer.children[1].children.insert(0, Being { native: None, ..being(10, "ListItem", "same") });
    assert_eq!(Capture::of(&longer).find(&refs, first), RefLookup::Lost);
}

#[test]
fn a_handle_that_two_elements_share_belongs_to_neither() {
    let refs = Refs::default();
    let capture = Capture::of(&change(&form(), 4, |it| it.native = Some(3)));
    let (save, play) = (capture.show(&refs, 3), capture.show(&refs, 4));
    assert_ne!(save, play);
    assert_eq!(capture.find(&refs, play), RefLookup::Again(capture.node(4), BY_SIGNATURE));
}

#[test]
fn a_window_that_is_opened_again_brings_its_refs_back() {
    let refs = Refs::default();
    let closed = Capture::in_window("w1", "Editor", &form());
    refs.meet_window(&closed.window, std::slice::from_ref(&closed.window));
    let (save, first) = (closed.show(&refs, 3), closed.show(&refs, 6));
    let reborn = change(&form(), 3, |it| it.native = Some(103));
    let opened = Capture::in_window("w2", "Editor", &reborn);
    let memory = refs.remembered(save).unwrap();
    assert_eq!(memory.reopened_among(std::slice::from_ref(&opened.window)), [&opened.window]);
    assert_eq!(refs.only_like(&memory, opened.sight()), Some(opened.node(3)));
    refs.meet_window(&opened.window, std::slice::from_ref(&opened.window));
    assert_eq!(opened.show(&refs, 3), save);
    assert_ne!(opened.show(&refs, 6), first, "two were alike, so nobody knows which this is");
}

#[test]
fn the_refs_of_a_process_that_ended_stay_dead() {
    let refs = Refs::default();
    let ended = Capture::in_window("w1", "Editor", &form());
    refs.meet_window(&ended.window, std::slice::from_ref(&ended.window));
    let save = ended.show(&refs, 3);
    let memory = refs.remembered(save).unwrap();
    for uid in ["w1", "w2"] {
        let mut next = Capture::in_window(uid, "Editor", &form());
        next.window.pid = 2;
        assert!(!memory.is_in(&next.window));
        assert!(memory.reopened_among(std::slice::from_ref(&next.window)).is_empty());
        refs.meet_window(&next.window, std::slice::from_ref(&next.window));
        assert_ne!(next.show(&refs, 3), save);
    }
    assert!(memory.is_in(&ended.window));
}

#[test]
fn a_window_that_was_open_beside_it_is_not_its_return() {
    let refs = Refs::default();
    let one = Capture::in_window("w1", "Editor", &form());
    let other = Capture::in_window("w2", "Editor", &form());
    refs.meet_window(&one.window, &[one.window.clone(), other.window.clone()]);
    let save = one.show(&refs, 3);
    let memory = refs.remembered(save).unwrap();
    assert!(memory.reopened_among(std::slice::from_ref(&other.window)).is_empty());
    refs.meet_window(&other.window, &[one.window.clone(), other.window.clone()]);
    assert_ne!(other.show(&refs, 3), save);
}

#[test]
fn the_least_used_are_forgotten() {
    let refs = Refs::with_room_for(8);
    let capture = Capture::of(&form());
    let first = capture.show(&refs, 3);
    for number in 0..8 {
        let named = change(&form(), 4, |it| it.native = Some(100 + number));
        let named = change(&named, 4, |it| it.name = format!("{}", 100 + number));
        Capture::of(&named).show(&refs, 4);
        assert!(refs.remembered(first).is_some(), "what is asked for is used");
    }
    for number in 0..8 {
        let named = change(&form(), 4, |it| it.name = format!("{}", 200 + number));
        Capture::of(&change(&named, 4, |it| it.native = Some(200 + number))).show(&refs, 4);
    }
    assert!(refs.remembered(first).is_none());
    assert!(refs.was_given(first) && !refs.was_given(Ref(1_000)));
    assert_ne!(capture.show(&refs, 3), first, "a number is given once");
}

/// What happens to a world between two looks.
#[derive(Clone, Debug)]
enum Event {
    Insert { under: usize, at: usize, role: &'static str, name: &'static str },
    Remove { who: usize },
    Rename { who: usize, name: &'static str },
    Reverse { under: usize },
    Replace { who: usize },
}

const ROLES: [&str; 3] = ["Button", "Edit", "ListItem"];
const NAMES: [&str; 4] = ["", "a", "b", "c"];

fn events() -> impl Strategy<Value = Vec<Event>> {
    let name = prop::sample::select(NAMES.to_vec());
    let event = prop_oneof![
        (any::<usize>(), any::<usize>(), prop::sample::select(ROLES.to_vec()), name.clone())
            .prop_map(|(under, at, role, name)| Event::Insert { under, at, role, name }),
        any::<usize>().prop_map(|who| Event::Remove { who }),
        (any::<usize>(), name).prop_map(|(who, name)| Event::Rename { who, name }),
        any::<usize>().prop_map(|under| Event::Reverse { under }),
        any::<usize>().prop_map(|who| Event::Replace { who }),
    ];
    prop::collection::vec(event, 0..6)
}

/// A world that grows: whoever is inserted is somebody new.
struct World {
    root: Being,
    last_who: u32,
    last_native: u32,
    handles: bool,
}

impl World {
    fn new(handles: bool) -> Self {
        let root = if handles { form() } else { without_handles(&form()) };
        Self { root, last_who: 100, last_native: 1000, handles }
    }

    fn everybody(&self) -> Vec<u32> {
        fn gather(being: &Being, all: &mut Vec<u32>) {
            all.push(being.who);
            being.children.iter().for_each(|child| gather(child, all));
        }
        let mut all = Vec::new();
        gather(&self.root, &mut all);
        all
    }

    fn pick(&self, number: usize) -> u32 {
        let all = self.everybody();
        all[number % all.len()]
    }

    fn happen(&mut self, event: &Event) {
        match *event {
            Event::Insert { under, at, role, name } => {
                self.last_who += 1;
                let native = self.handles.then_some(self.last_who);
                let (parent, newcomer) =
                    (self.pick(under), Being { native, ..being(self.last_who, role, name) });
                self.root = change(&self.root, parent, |it| {
                    let at = at % (it.children.len() + 1);
                    it.children.insert(at, newcomer.clone());
                });
            }
            Event::Remove { who } => self.root = without(&self.root, self.pick(who)),
            Event::Rename { who, name } => {
                self.root = change(&self.root, self.pick(who), |it| it.name = name.to_owned());
            }
            Event::Reverse { under } => {
                self.root = change(&self.root, self.pick(under), |it| it.children.reverse());
            }
            Event::Replace { who } => {
                self.last_native += 1;
                let native = self.handles.then_some(self.last_native);
                self.root = change(&self.root, self.pick(who), |it| it.native = native);
            }
        }
    }
}

fn signature(tree: &Tree, node: usize) -> Vec<(String, String)> {
    std::iter::successors(Some(node), |&at| tree.parent(at))
        .map(|at| {
            let name = if at == Tree::ROOT { "" } else { &tree[at].name };
            (tree[at].role.to_string(), name.to_owned())
        })
        .collect()
}

proptest! {
    /// However often it is looked at in between, no two elements of a look share a ref.
    #[test]
    fn no_two_elements_share_a_ref(rounds in prop::collection::vec(events(), 1..6), handles: bool) {
        let (refs, mut world) = (Refs::default(), World::new(handles));
        for round in rounds {
            let shown = Capture::of(&world.root).show_all(&refs);
            let distinct: HashSet<Ref> = shown.iter().copied().collect();
            prop_assert_eq!(distinct.len(), shown.len());
            round.iter().for_each(|event| world.happen(event));
        }
    }

    /// While its object lives, an element keeps its ref through whatever happens around it and to its name.
    #[test]
    fn a_living_object_keeps_its_ref(round in events(), again in events(), some in any::<u64>()) {
        let (refs, mut world) = (Refs::default(), World::new(true));
        let before = Capture::of(&world.root);
        // Some are shown and some are not: what nobody has seen must not disturb.
        let seen: Vec<usize> = (0..before.who.len()).filter(|node| some >> (node % 64) & 1 == 1).collect();
        let given = refs.assign_refs(before.sight(), seen.iter().copied());
        for events in [round, again] {
            events.iter().for_each(|event| world.happen(event));
            let after = Capture::of(&world.root);
            for (&node, &reference) in seen.iter().zip(&given) {
                let native = before.view.raw()[node].native.as_ref();
                let lives = (0..after.who.len()).find(|&at| after.view.raw()[at].native.as_ref() == native);
                if let Some(at) = lives {
                    prop_assert_eq!(refs.show_one(after.sight(), at), reference);
                    prop_assert_eq!(after.find(&refs, reference), RefLookup::Same(at));
                }
            }
        }
    }

    /// A ref leads to its own element, or says what it is not sure of, or leads nowhere.
    #[test]
    fn a_ref_never_leads_elsewhere_in_silence(round in events(), some in any::<u64>(), handles: bool) {
        let (refs, mut world) = (Refs::default(), World::new(handles));
        let before = Capture::of(&world.root);
        let seen: Vec<usize> = (0..before.who.len()).filter(|node| some >> (node % 64) & 1 == 1).collect();
        let given = refs.assign_refs(before.sight(), seen.iter().copied());
        round.iter().for_each(|event| world.happen(event));
        let after = Capture::of(&world.root);
        for (&node, &reference) in seen.iter().zip(&given) {
            let was = &before.view.raw()[node];
            match after.find(&refs, reference) {
                RefLookup::Same(at) => {
                    prop_assert_eq!(after.who[at], before.who[node]);
                    let is = &after.view.raw()[at];
                    prop_assert!(at == 0 || (&is.role, &is.name) == (&was.role, &was.name));
                }
                RefLookup::Changed(at) => prop_assert_eq!(after.who[at], before.who[node]),
                RefLookup::Again(at, certainty) => {
                    prop_assert!(certainty.confidence < 1.0);
                    let now = signature(after.view.raw(), at);
                    prop_assert_eq!(now, signature(before.view.raw(), node));
                }
                RefLookup::Lost => {}
            }
        }
    }
}

#[test]
fn many_elements_alike_are_named_in_no_time() {
    for native in [Some(0), None] {
        let rows =
            (0..20_000).map(|who| Being { native: native.map(|_| who + 10), ..being(who + 10, "Row", "") });
        let capture = Capture::of(&with(being(1, "Window", "w"), rows));
        let (refs, began) = (Refs::default(), crate::clock::Clock::real());
        capture.show_all(&refs);
        capture.show_all(&refs);
        assert!(began.now() < Duration::from_secs(10), "{:?}", began.now());
    }
}

#[test]
fn a_look_that_was_cut_short_says_nothing_about_what_is_gone() {
    let refs = Refs::default();
    let save = Capture::of(&form()).show(&refs, 3);
    let mut rebuilt = Capture::of(&change(&form(), 3, |it| it.native = Some(33)));
    let mut tree = rebuilt.view.raw().clone();
    tree.complete = false;
    let tree = Arc::new(tree);
    rebuilt.view = View::new(tree.clone(), tree, Duration::ZERO, SystemTime::UNIX_EPOCH);
    assert_eq!(rebuilt.find(&refs, save), RefLookup::Lost);
}
