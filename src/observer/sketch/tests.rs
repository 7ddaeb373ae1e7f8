//! The sketch against the contract's facts, each drawing rule by itself, and any tree at all.

use super::fixtures::{login, notepad};
use super::*;
use crate::model::{Range, TreeBuilder};
use proptest::prelude::*;

fn of_size(grid_width: usize, grid_height: usize) -> SketchOptions {
    SketchOptions { grid_width, grid_height, ..SketchOptions::default() }
}

fn sketch_of_root(tree: &Tree, options: SketchOptions) -> Sketch<'_> {
    draw_sketch(tree, tree.root().bounds, &options, &SketchReading::default())
}

mod contract {
    use super::*;

    fn check(tree: &Tree, options: SketchOptions, prefix: &str, characters: usize) {
        let text = sketch_of_root(tree, options).text;
        assert!(text.starts_with(prefix), "{text}");
        assert_eq!(text.chars().count(), characters, "{text}");
    }

    #[test]
    fn notepad_by_default() {
        let prefix = concat!(
            "┌─MenuB┌r─\"Menu┌ar\"────┌───────┌───────┐",
            "─────────────────────────────────────────────────────────────────────┐\n",
            "┌MenuBar②dit──D│③ormatE│④iew──F│⑤elp──G│─────────",
        );
        check(&notepad(), SketchOptions::default(), prefix, 4820);
        insta::assert_snapshot!(sketch_of_root(&notepad(), SketchOptions::default()).text);
    }

    #[test]
    fn notepad_on_a_small_grid() {
        let prefix = concat!(
            "┌─Me┌uBa┌─\"M┐┌uBa┌\"──┐────────────────────────────────────┌┐\n",
            "│MenuBar│③oE││④iF│⑤eG│                                    A│\n",
            "└Win└ow─└───┘└───└───┘────────────────",
        );
        check(&notepad(), of_size(60, 20), prefix, 1754);
    }

    #[test]
    fn login_by_default() {
        let prefix = concat!(
            "┌────────────────────────────────────────────────────",
            "────────────────────────────────────────────────────────┐\n",
            "│                                                ",
        );
        check(&login(), SketchOptions::default(), prefix, 4385);
        insta::assert_snapshot!(sketch_of_root(&login(), SketchOptions::default()).text);
    }

    /// The whole of the contract's structured reply, without the text that it shortens.
    #[test]
    fn notepad_structured() {
        let tree = notepad();
        let sketch = sketch_of_root(&tree, of_size(60, 20));
        insta::assert_json_snapshot!(Sketch { text: String::new(), ..sketch });
    }

    #[test]
    fn notepad_boxes_by_default() {
        let tree = notepad();
        let expected = [
            [0, 0, 109, 37],
            [0, 0, 109, 2],
            [0, 0, 7, 2],
            [7, 0, 15, 2],
            [15, 0, 23, 2],
            [23, 0, 31, 2],
            [31, 0, 39, 2],
            [0, 1, 109, 33],
            [0, 33, 107, 35],
            [107, 1, 109, 35],
            [66, 34, 93, 36],
            [0, 36, 16, 37],
            [0, 35, 109, 37],
            [0, 35, 25, 37],
            [26, 35, 51, 37],
            [52, 35, 78, 37],
            [78, 35, 104, 37],
        ];
        let sketch = sketch_of_root(&tree, SketchOptions::default());
        let boxes: Vec<[usize; 4]> = sketch.elements.iter().flat_map(|one| one.bounds_grid).collect();
        assert_eq!(boxes, expected);
        assert_eq!(sketch.legend.0.len(), 17);
    }
}

/// Elements side by side under a root without size, one pixel a cell.
fn siblings(elements: Vec<Element>) -> Tree {
    let mut tree = TreeBuilder::new(Element::default());
    for element in elements {
        tree.add_leaf(element);
    }
    tree.finish()
}

fn at(role: &'static str, name: &str, [x, y, width, height]: [i32; 4]) -> Element {
    Element::new(role, name, Rect::new(x, y, width, height))
}

fn grid_of(text: &str) -> &str {
    text.split("\n\n  LEGEND").next().unwrap_or(text)
}

const SCREEN: Rect = Rect::new(0, 0, 20, 8);

fn draw(elements: Vec<Element>, change: impl Fn(&mut SketchOptions), overlay: &[OcrLine]) -> String {
    let mut options = of_size(SCREEN.width as usize, SCREEN.height as usize);
    change(&mut options);
    let reading = SketchReading { lines: overlay.to_vec(), ..SketchReading::default() };
    grid_of(&draw_sketch(&siblings(elements), SCREEN, &options, &reading).text).to_owned()
}

fn check(elements: Vec<Element>, expected: &str) {
    assert_eq!(draw(elements, |_| (), &[]), expected.trim_matches('\n'));
}

mod rules {
    use super::*;

    #[test]
    fn role_name_and_key() {
        check(
            vec![at("Group", "Tools", [0, 0, 11, 4])],
            "
┌──────────┐
│         B│
│Group     │
│\"Tools\"   │
└──────────┘",
        );
    }

    #[test]
    fn rule_1_corners_always_and_edges_where_blank() {
        check(
            vec![at("Group", "", [0, 0, 6, 3]), at("Group", "", [3, 1, 6, 3])],
            "
┌─────┐
│  ┌─B│──┐
│Group│ C│
└─────┘up│
   └─────┘",
        );
    }

    #[test]
    fn rule_2_landmarks_are_headed() {
        check(
            vec![at("ToolBar", "T", [0, 0, 15, 2])],
            "
┌ Toolbar \"T\" ─┐
│ToolBar      B│
└──────────────┘",
        );
    }

    #[test]
    fn rule_2_a_header_is_cut_and_needs_seven_columns() {
        check(
            vec![at("Dialog", "", [0, 0, 6, 2]), at("Dialog", "", [8, 0, 5, 2])],
            "
┌ Dial┐ ┌────┐
│DialB│ │DiaC│
└─────┘ └────┘",
        );
    }

    #[test]
    fn rule_2_can_be_switched_off() {
        let bar = vec![at("ToolBar", "T", [0, 0, 15, 2])];
        let text = draw(bar, |options| options.landmark_headers = false, &[]);
        assert!(text.starts_with("┌──────────────┐"), "{text}");
    }

    #[test]
    fn rule_3_without_an_inside_there_is_only_the_outline() {
        let tree = siblings(vec![at("Group", "x", [18, 0, 2, 4])]);
        let sketch = draw_sketch(&tree, SCREEN, &of_size(20, 8), &SketchReading::default());
        assert_eq!(sketch.text, ["┌┐", "││", "││", "││", "└┘"].map(|row| " ".repeat(18) + row).join("\n"));
        assert_eq!(sketch.elements[1].bounds_grid, Some([18, 0, 19, 4]));
        assert!(sketch.legend.0.is_empty());
    }

    #[test]
    fn rule_4_the_key_needs_a_column_more_than_its_letters() {
        check(
            vec![at("Group", "", [0, 0, 2, 4]), at("Group", "", [4, 0, 3, 4])],
            "
┌─┐ ┌──┐
│ │ │ C│
│B│ │C │
│ │ │  │
└─┘ └──┘",
        );
    }

    #[test]
    fn rule_5_a_focusable_element_has_its_tab_number() {
        check(
            vec![at("Button", "OK", [0, 0, 9, 4]), at("Group", "", [10, 0, 9, 4])],
            "
┌────────┐┌────────┐
│①      B││       C│
│Button  ││Group   │
│\"OK\"    ││        │
└────────┘└────────┘",
        );
    }

    #[test]
    fn rule_5_without_an_inside_the_edge_stays() {
        let text = draw(vec![at("Button", "", [0, 6, 9, 2])], |_| (), &[]);
        assert_eq!(text, "\n".repeat(6) + "┌────────┐\n└────────┘");
    }

    #[test]
    fn rule_5_can_be_switched_off() {
        let button = vec![at("Button", "OK", [0, 0, 9, 2])];
        let text = draw(button, |options| options.tab_index_badges = false, &[]);
        assert_eq!(text, "┌────────┐\n│Button B│\n└────────┘");
    }

    #[test]
    fn rule_6_a_narrow_box_shows_its_key_in_the_middle() {
        check(
            vec![at("Group", "x", [0, 0, 2, 4]), at("Button", "y", [4, 0, 3, 6])],
            "
┌─┐ ┌──┐
│ │ │①C│
│B│ │  │
│ │ │C │
└─┘ │  │
    │  │
    └──┘",
        );
    }

    #[test]
    fn rule_7_the_label_moves_up_if_it_has_no_row_of_its_own() {
        check(
            vec![at("Button", "OK", [0, 0, 12, 2])],
            "
┌───────────┐
│①utton    B│
└───────────┘",
        );
    }

    #[test]
    fn glyphs_replace_role_and_name_unless_switched_off() {
        let check_box = || vec![at("CheckBox", "Wrap", [0, 0, 12, 4])];
        check(check_box(), "┌───────────┐\n│①         B│\n│[ ] Wrap   │\n│           │\n└───────────┘");
        let text = draw(check_box(), |options| options.role_glyphs = false, &[]);
        assert_eq!(text, "┌───────────┐\n│①         B│\n│CheckBox   │\n│\"Wrap\"     │\n└───────────┘");
    }

    #[test]
    fn a_progress_bar_shows_how_far_it_is() {
        let range = Range { now: Some(3.0), min: Some(0.0), max: Some(4.0) };
        check(
            vec![Element { range, ..at("ProgressBar", "", [0, 0, 14, 3]) }],
            "┌─────────────┐\n│            B│\n│▓▓▓▓▓▓░░ 75% │\n└─────────────┘",
        );
    }

    #[test]
    fn ascii_borders_and_rule() {
        let tree = siblings(vec![at("Group", "", [0, 0, 6, 2])]);
        let options = SketchOptions { unicode_box: false, ..of_size(20, 8) };
        let rule = "-".repeat(50);
        let expected = format!("+-----+\n|GrouB|\n+-----+\n\n  LEGEND\n  {rule}\n     B  Group");
        assert_eq!(draw_sketch(&tree, SCREEN, &options, &SketchReading::default()).text, expected);
    }

    #[test]
    fn control_and_wide_characters_take_one_cell_each() {
        check(
            vec![at("Group", "a\x1b\n日e\u{301}\u{200b}z", [0, 0, 12, 4])],
            "
┌───────────┐
│          B│
│Group      │
│\"a  日e\u{301}\u{200b}z\" │
└───────────┘",
        );
    }
}

mod numbering {
    use super::*;

    fn check_tabs(elements: Vec<Element>, prune: bool, expected: &[(bool, Option<usize>)]) {
        let tree = siblings(elements);
        let numbered = number_elements(&tree, prune);
        let found: Vec<_> = numbered[1..].iter().map(|one| (one.occluded, one.tab_index)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn only_visible_focusable_elements_are_counted() {
        let covered = at("Button", "", [1, 1, 2, 2]);
        let cover = at("Link", "", [0, 0, 9, 9]);
        let elements = vec![covered, cover, at("Group", "", [10, 0, 2, 2]), at("Edit", "", [12, 0, 2, 2])];
        let pruned = [(true, None), (false, Some(1)), (false, None), (false, Some(2))];
        check_tabs(elements.clone(), true, &pruned);
        let all = [(false, Some(1)), (false, Some(2)), (false, None), (false, Some(3))];
        check_tabs(elements, false, &all);
    }

    #[test]
    fn what_is_inside_a_hidden_element_is_hidden() {
        let mut tree = TreeBuilder::new(Element::default());
        tree.open(at("Group", "", [0, 0, 5, 5]));
        tree.add_leaf(at("Button", "sticks out", [0, 0, 20, 8]));
        tree.close();
        tree.add_leaf(at("Group", "", [0, 0, 5, 5]));
        let tree = tree.finish();
        let sketch = draw_sketch(&tree, SCREEN, &of_size(20, 8), &SketchReading::default());
        let hidden: Vec<bool> = sketch.elements.iter().map(|one| one.occluded).collect();
        assert_eq!(hidden, [false, true, true, false]);
        assert_eq!(sketch.legend.0, [("D".to_owned(), "Group".to_owned())]);
    }

    #[test]
    fn badges_are_circled_up_to_twenty() {
        assert_eq!([1, 9, 20, 21, 100].map(tab_badge), ["①", "⑨", "⑳", "#21", "#100"]);
    }

    /// H-46 on code: a deep tree, drawn.
    #[test]
    fn a_deep_tree_is_drawn_without_recursion() {
        let mut tree = TreeBuilder::new(at("Window", "", [0, 0, 20, 8]));
        for _ in 0..20_000 {
            tree.open(at("Group", "", [0, 0, 20, 8]));
        }
        assert_eq!(sketch_of_root(&tree.finish(), of_size(20, 8)).legend.0.len(), 20_001);
    }
}

mod overlay {
    use super::*;

    fn line(text: &str, [x, y, width, height]: [i32; 4], confidence: f32) -> OcrLine {
        OcrLine { text: text.into(), bounds: Rect::new(x, y, width, height), confidence }
    }

    fn check(lines: &[OcrLine], expected: &str) {
        let group = vec![at("Group", "", [0, 0, 10, 3])];
        assert_eq!(draw(group, |_| (), lines), expected);
    }

    #[test]
    fn recognised_text_replaces_blanks_and_labels_but_no_border() {
        check(
            &[line("recognised", [5, 2, 12, 1], 80.0)],
            "┌─────────┐\n│        B│\n│Grourecog│ised\n└─────────┘",
        );
    }

    #[test]
    fn the_row_is_that_of_the_middle_and_the_end_is_inclusive() {
        check(&[line("abcdef", [2, 0, 3, 3], 80.0)], "┌─────────┐\n│ abcd   B│\n│Group    │\n└─────────┘");
    }

    #[test]
    fn more_confidence_wins_and_less_fills_only_blanks() {
        let sure = line("sure", [1, 2, 9, 1], 90.0);
        let unsure = line("perhaps", [1, 2, 9, 1], 40.0);
        let expected = "┌─────────┐\n│        B│\n│sureaps  │\n└─────────┘";
        check(&[sure.clone(), unsure.clone()], expected);
        check(&[unsure, sure], expected);
    }

    #[test]
    fn without_confidence_labels_stay() {
        check(&[line("xxxxxxx", [1, 2, 9, 1], 0.0)], "┌─────────┐\n│        B│\n│Groupxx  │\n└─────────┘");
    }
}

mod names {
    use super::*;

    /// The window, and below it a pane that holds the elements.
    fn in_a_pane(elements: Vec<Element>) -> Tree {
        let mut tree = TreeBuilder::new(at("Window", "", [0, 0, 20, 8]));
        tree.open(at("Pane", "", [0, 0, 20, 8]));
        for element in elements {
            tree.add_leaf(element);
        }
        tree.finish()
    }

    #[track_caller]
    fn check(elements: Vec<Element>, expected: &[usize]) {
        assert_eq!(worth_reading(&in_a_pane(elements), &SketchOptions::default()), expected);
    }

    #[test]
    fn the_innermost_nameless_pictures_are_worth_reading() {
        check(vec![], &[1]);
        check(vec![at("Image", "", [0, 0, 9, 3]), at("AXGroup", " ", [9, 0, 9, 3])], &[2, 3]);
        check(vec![at("Image", "", [0, 0, 9, 3]), at("Image", "Logo", [9, 0, 9, 3])], &[2]);
    }

    #[test]
    fn what_has_or_holds_a_text_speaks_for_itself() {
        check(vec![at("Image", "Logo", [0, 0, 9, 3])], &[]);
        let value = Element { value: Some("40%".into()), ..at("Text", "", [0, 0, 9, 3]) };
        check(vec![value], &[]);
        check(vec![at("Separator", "", [0, 0, 9, 3])], &[1]);
    }

    #[test]
    fn what_is_hidden_covered_or_without_area_is_not() {
        let image = || at("Image", "", [0, 0, 9, 3]);
        let button = || at("Button", "B", [9, 0, 9, 3]);
        check(vec![Element { redacted: true, ..image() }, button()], &[]);
        check(vec![Element { secret: true, ..image() }, button()], &[]);
        check(vec![at("Image", "", [0, 0, 0, 3]), button()], &[]);
        check(vec![image(), at("Button", "B", [0, 0, 9, 3])], &[]);
    }

    #[test]
    fn what_was_read_is_drawn_as_a_name_and_told_apart_from_one() {
        let tree = siblings(vec![at("Image", "", [0, 0, 15, 6])]);
        let reading = SketchReading { names: [(1, "Logo".to_owned())].into(), ..SketchReading::default() };
        let drawn = draw_sketch(&tree, SCREEN, &of_size(20, 8), &reading);
        assert!(drawn.text.contains("│\"Logo\""), "{}", drawn.text);
        assert_eq!(drawn.legend.0[0].1, "Image \"Logo\"");
        let element = serde_json::to_value(&drawn.elements[1]).unwrap();
        assert_eq!((&element["name"], &element["ocr_text"]), (&"".into(), &"Logo".into()));
        assert!(serde_json::to_value(&drawn.elements[0]).unwrap().get("ocr_text").is_none());
    }
}

fn any_length() -> impl Strategy<Value = i32> {
    prop_oneof![Just(i32::MIN), Just(i32::MAX), Just(-2_147_483_647), -5..60i32, 0..10i32]
}

fn any_rect() -> impl Strategy<Value = Rect> {
    (any_length(), any_length(), any_length(), any_length()).prop_map(|(x, y, w, h)| Rect::new(x, y, w, h))
}

fn any_element() -> impl Strategy<Value = Element> {
    let role = prop::sample::select(vec![
        "Group",
        "Button",
        "CheckBox",
        "Slider",
        "ProgressBar",
        "ComboBox",
        "ToolBar",
        "AlertDialog",
        "",
    ]);
    let text = "[a日\u{301} \\n\\x1b\"]{0,40}";
    let number = || prop::option::of(prop::num::f64::ANY);
    (role, text, prop::option::of(text), any_rect(), (number(), number(), number())).prop_map(
        |(role, name, value, bounds, (now, min, max))| Element {
            range: Range { now, min, max },
            description: value.clone(),
            value,
            ..Element::new(role, name, bounds)
        },
    )
}

/// Each element and how many open ones are closed before it.
fn any_tree() -> impl Strategy<Value = Tree> {
    prop::collection::vec((any_element(), 0..3usize), 1..16).prop_map(|elements| {
        let mut tree = TreeBuilder::new(at("Window", "", [0, 0, 50, 40]));
        for (element, closed) in elements {
            (0..closed).for_each(|_| tree.close());
            tree.open(element);
        }
        tree.finish()
    })
}

fn any_options() -> impl Strategy<Value = SketchOptions> {
    (0..40usize, 0..20usize, any::<[bool; 5]>()).prop_map(
        |(grid_width, grid_height, [unicode_box, role_glyphs, prune, badges, headers])| SketchOptions {
            grid_width,
            grid_height,
            unicode_box,
            role_glyphs,
            occlusion_prune: prune,
            tab_index_badges: badges,
            landmark_headers: headers,
        },
    )
}

proptest! {
    // A generated tree is slow to make, and each holds many elements already.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_tree_is_drawn_within_the_grid(
        tree in any_tree(),
        reference in prop_oneof![Just(Rect::new(0, 0, 50, 40)), any_rect()],
        options in any_options(),
        overlay in prop::collection::vec((any_rect(), "[a-z ]{0,20}", prop::num::f32::ANY), 0..4),
    ) {
        let lines = overlay
            .into_iter()
            .map(|(bounds, text, confidence)| OcrLine { text, bounds, confidence })
            .collect();
        let names = worth_reading(&tree, &options).into_iter().map(|node| (node, "read".to_owned())).collect();
        let sketch = draw_sketch(&tree, reference, &options, &SketchReading { lines, names });
        let legend_lines = if sketch.legend.0.is_empty() { 0 } else { sketch.legend.0.len() + 3 };
        let lines: Vec<&str> = sketch.text.split('\n').collect();
        let rows = &lines[..lines.len() - legend_lines];
        prop_assert!(rows.len() <= options.grid_height.max(1));
        prop_assert!(rows.iter().all(|row| row.chars().count() <= options.grid_width.max(1)));
        prop_assert!(!sketch.text.contains('\x1b'));
        for [x1, y1, x2, y2] in sketch.elements.iter().filter_map(|one| one.bounds_grid) {
            prop_assert!(x1 < x2 && x2 < options.grid_width && y1 < y2 && y2 < options.grid_height);
        }
        prop_assert_eq!(sketch.elements.len(), tree.len());
        serde_json::to_string(&sketch).unwrap();
    }

    #[test]
    fn a_grid_of_one_cell_stays_blank(tree in any_tree()) {
        prop_assert_eq!(sketch_of_root(&tree, of_size(1, 1)).text, "");
    }
}

#[test]
fn what_is_hidden_is_not_drawn_and_is_no_stop() {
    let mut tree = TreeBuilder::new(Element::new("Window", "", Rect::new(0, 0, 100, 100)));
    let place = Rect::new(10, 10, 50, 50);
    tree.add_leaf(Element { hidden: true, ..Element::new("Button", "away", place) });
    tree.add_leaf(Element::new("Button", "here", place));
    let tree = tree.finish();
    let drawn = sketch_of_root(&tree, of_size(60, 20));
    assert!(drawn.text.contains("here") && !drawn.text.contains("away"), "{}", drawn.text);
    let stops: Vec<Option<usize>> = drawn.elements.iter().map(|element| element.tab_index).collect();
    assert_eq!(stops, [None, None, Some(1)]);
    assert_eq!(drawn.elements[1].bounds_grid, None);
}
