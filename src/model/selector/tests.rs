//! One `check` per question: what a text means, what it finds, why it fails, what is handed out.

use proptest::prelude::*;

use super::resolve::Resolver;
use super::*;
use crate::model::{Element, Rect, TreeBuilder};

fn element(role: &'static str, name: &str) -> Element {
    Element::new(role, name, Rect::new(0, 0, 1, 1))
}

fn with_value(role: &'static str, name: &str, value: &str) -> Element {
    Element { value: Some(value.to_owned()), ..element(role, name) }
}

/// The default mock window: 17 elements, `root.4` last among its siblings.
fn notepad() -> Tree {
    let mut tree = TreeBuilder::new(element("Window", "Untitled — Notepad"));
    tree.open(element("MenuBar", "MenuBar"));
    for name in ["File", "Edit", "Format", "View", "Help"] {
        tree.add_leaf(element("MenuItem", name));
    }
    tree.close();
    let text = "Hello, world!\nThis is a test document.\nLine 3 has some content here.\n";
    tree.add_leaf(Element { focused: true, ..with_value("Document", "Text Editor", text) });
    tree.add_leaf(element("ScrollBar", "Horizontal ScrollBar"));
    tree.add_leaf(element("ScrollBar", "Vertical ScrollBar"));
    tree.open_in_slot(element("ProgressBar", "Saving"), 5);
    tree.close();
    tree.add_leaf(Element { selected: Some(true), ..element("CheckBox", "Word Wrap") });
    tree.open_in_slot(element("StatusBar", "Status Bar"), 4);
    for (name, value) in
        [("Position", "Ln 1, Col 1"), ("Zoom", "100%"), ("Encoding", "UTF-8"), ("EOL", "Windows (CRLF)")]
    {
        tree.add_leaf(with_value("Text", name, value));
    }
    tree.finish()
}

/// Three nested groups: group(button a, group(button b, group(button c)), button d).
fn nested() -> Tree {
    let mut tree = TreeBuilder::new(element("Window", "w"));
    tree.open(element("Group", "1"));
    tree.add_leaf(element("Button", "a"));
    tree.open(element("Group", "2"));
    tree.add_leaf(element("Button", "b"));
    tree.open(element("Group", "3"));
    tree.add_leaf(element("Button", "c"));
    tree.close();
    tree.close();
    tree.add_leaf(element("Button", "d"));
    tree.finish()
}

#[track_caller]
fn parsed(text: &str) -> Selector {
    Selector::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn check(selector: &str, expected_ids: &[&str]) {
    check_in(&notepad(), selector, expected_ids);
}

#[track_caller]
fn check_in(tree: &Tree, selector: &str, expected_ids: &[&str]) {
    let found = parsed(selector).resolve(tree, DEFAULT_MATCHES).unwrap();
    let ids: Vec<String> = found.into_iter().map(|node| tree.id(node)).collect();
    assert_eq!(ids, expected_ids, "{selector}");
}

#[track_caller]
fn check_canonical(text: &str, canonical: &str) {
    assert_eq!(parsed(text).to_string(), canonical, "{text}");
    assert_eq!(parsed(canonical), parsed(text), "{canonical}");
}

#[track_caller]
fn check_error(text: &str, message: &str) {
    let error = Selector::parse(text).expect_err(text).to_string();
    assert_eq!(error, format!("selector parse error: {message}"), "{text}");
}

mod finding {
    use super::*;

    #[test]
    fn the_contract_samples() {
        check(r#"Window/MenuBar/MenuItem[name="Edit"]"#, &["root.0.1"]);
        check("Window/MenuBar/MenuItem", &["root.0.0", "root.0.1", "root.0.2", "root.0.3", "root.0.4"]);
        check(r#"Window/Nope[name="X"]"#, &[]);
        check("Window/StatusBar/Text", &["root.4.0", "root.4.1", "root.4.2", "root.4.3"]);
        check(r#"Window/StatusBar/Text[name="Zoom"]"#, &["root.4.1"]);
        check("Window/Document", &["root.1"]);
    }

    #[test]
    fn the_first_step_is_the_root_or_anything_below_it() {
        check("Window", &["root"]);
        check("MenuBar", &["root.0"]);
        check("/MenuBar", &["root.0"]);
        check("*", &["root"]);
        check("//Window", &[]);
        check("//Text[index=1]", &["root.4.1"]);
    }

    #[test]
    fn child_and_descendant_in_both_spellings() {
        for child in ["Window/MenuItem", "Window > MenuItem", "Window>MenuItem", "Window / MenuItem"] {
            check(child, &[]);
        }
        for descendant in ["Window//MenuItem", "Window MenuItem", "Window // MenuItem"] {
            check(descendant, &["root.0.0", "root.0.1", "root.0.2", "root.0.3", "root.0.4"]);
        }
        check(r#"Window > StatusBar > Text "EOL""#, &["root.4.3"]);
        check("Window/MenuBar > MenuItem:nth-of-type(2)", &["root.0.1"]);
    }

    #[test]
    fn the_predicates() {
        check(r#"*[text="Edit"]"#, &["root.0.1"]);
        check(r#"*[text()="Edit"]"#, &["root.0.1"]);
        check(r#"*[aria-label="Edit"]"#, &["root.0.1"]);
        check(r#"*[label="Edit"]"#, &["root.0.1"]);
        check(r#"//*[@name="Edit"]"#, &["root.0.1"]);
        check(r#"Text[value="UTF-8"]"#, &["root.4.2"]);
        check(r#"*[role="CheckBox"]"#, &["root.6"]);
        check("*[focused=true]", &["root.1"]);
        check("MenuItem[enabled=false]", &[]);
        check("ScrollBar[index=1]", &["root.3"]);
        check("ScrollBar[index=2]", &[]);
        check("Window[index=0]", &["root"]);
        check(r#"*[id="root.4"]"#, &["root.4"]);
        check(r#"MenuItem[id="root.4"]"#, &[]);
        check(r#"MenuItem[name*="i"][index=1]"#, &["root.0.1"]);
    }

    #[test]
    fn the_operators() {
        check(r#"MenuItem[name*="i"]"#, &["root.0.0", "root.0.1", "root.0.3"]);
        check(r#"MenuItem[name~="F.*"]"#, &["root.0.0", "root.0.2"]);
        check(r#"MenuItem[name~="F"]"#, &[]);
        check(r#"MenuItem[name~="E|Edit"]"#, &["root.0.1"]);
        check(r#"Text[value~="\d+%"]"#, &["root.4.1"]);
        check(r#"MenuItem:has-text("ie")"#, &["root.0.3"]);
        check(r#"MenuItem:text("ie")"#, &["root.0.3"]);
        check(r#":text("Wrap")"#, &["root.6"]);
        check(r#"StatusBar :text("Zoom")"#, &["root.4.1"]);
        check("MenuItem:nth-of-type(5)", &["root.0.4"]);
    }

    #[test]
    fn typographic_characters_are_folded_on_both_sides() {
        check(r#"Window[name="Untitled -- Notepad"]"#, &["root"]);
        check(r#"Window[name="Untitled — Notepad"]"#, &["root"]);
        check("Window[name=\"Untitled\u{a0}— Notepad\"]", &["root"]);
        check(r#"Window[name*="– "]"#, &["root"]);
        let tree = Tree::of_root(element("Button", "Save as…"));
        check_in(&tree, r#"*[name="Save as..."]"#, &["root"]);
        check_in(&tree, r#"*[name~="Save as\.\.\."]"#, &[]);
    }

    #[test]
    fn roles_are_exact() {
        check("menuitem", &[]);
        check("Menu*", &[]);
        let tree = Tree::of_root(element("push–button", ""));
        check_in(&tree, r#"*[role="push-button"]"#, &[]);
        check_in(&tree, r#"*[role="push–button"]"#, &["root"]);
    }

    #[test]
    fn descendants_come_parent_by_parent() {
        check_in(
            &nested(),
            "//*",
            &["root.0", "root.0.0", "root.0.1", "root.0.2", "root.0.1.0", "root.0.1.1", "root.0.1.1.0"],
        );
        check_in(&nested(), "Window//Button", &["root.0.0", "root.0.2", "root.0.1.0", "root.0.1.1.0"]);
    }

    #[test]
    fn nested_matches_give_each_element_once() {
        check_in(&nested(), "//Group//Button", &["root.0.0", "root.0.2", "root.0.1.0", "root.0.1.1.0"]);
        check_in(&nested(), "//Group/Group/Button", &["root.0.1.0", "root.0.1.1.0"]);
    }

    #[test]
    fn a_missing_value_equals_nothing() {
        check(r#"Document[value=""]"#, &[]);
        check(r#"MenuItem[value=""]"#, &[]);
        check(r#"MenuItem[value~=".*"]"#, &[]);
        check(r#"*[keyboard_shortcut=""]"#, &[]);
        let shortcut = Element { shortcut: Some("Ctrl+S".to_owned()), ..element("Button", "Save") };
        check_in(&Tree::of_root(shortcut), r#"*[keyboard_shortcut="Ctrl+S"]"#, &["root"]);
    }

    #[test]
    fn secret_values_cannot_be_probed() {
        let open = with_value("Edit", "Password", "hunter2");
        let secret = Element { secret: true, ..open.clone() };
        for probe in [r#"*[value="hunter2"]"#, r#"*[value~="h.*"]"#, r#"*[value*="u"]"#] {
            check_in(&Tree::of_root(open.clone()), probe, &["root"]);
            check_in(&Tree::of_root(secret.clone()), probe, &[]);
        }
    }

    #[test]
    fn the_limit_cuts_the_list_and_not_the_count() {
        let found = parsed("//*").find(&notepad(), 3).unwrap();
        assert_eq!(found, Matches { nodes: vec![1, 7, 8], total: 16 });
    }
}

/// What every element has, and what only some have: a button is neither checked nor unchecked.
#[test]
fn states_are_asked_for_by_name() {
    let mut tree = TreeBuilder::new(element("Window", "w"));
    tree.add_leaf(Element { selected: Some(true), ..element("CheckBox", "on") });
    tree.add_leaf(Element { selected: Some(false), ..element("CheckBox", "off") });
    tree.add_leaf(Element { expanded: Some(true), ..element("ComboBox", "open") });
    tree.add_leaf(Element { editable: true, enabled: false, ..element("Edit", "field") });
    tree.open(Element { hidden: true, ..element("Group", "page") });
    tree.add_leaf(element("Button", "inside"));
    tree.close();
    let tree = tree.finish();
    check_in(&tree, "//*[checked=true]", &["root.0"]);
    check_in(&tree, "//*[selected=true]", &["root.0"]);
    check_in(&tree, "//*[checked=false]", &["root.1"]);
    check_in(&tree, "//*[expanded=true]", &["root.2"]);
    check_in(&tree, "//*[expanded=false]", &[]);
    check_in(&tree, "//*[editable=true]", &["root.3"]);
    check_in(&tree, "//*[enabled=false]", &["root.3"]);
    check_in(&tree, "//*[visible=false]", &["root.4", "root.4.0"]);
    check_in(&tree, "//CheckBox[visible=true]", &["root.0", "root.1"]);
}

mod reading {
    use super::*;

    #[test]
    fn canonical_text() {
        check_canonical(r#"Window>MenuBar "M" > *"#, r#"Window/MenuBar[name="M"]/*"#);
        check_canonical("a b", "a//b");
        check_canonical("a//b", "a//b");
        check_canonical("a///b", "a//b");
        check_canonical("//a/b", "//a/b");
        check_canonical("/a/b/", "a/b");
        check_canonical("a//", "a");
        check_canonical(" a ", "a");
        check_canonical(".Button", "Button");
        check_canonical(".//Button", "//Button");
        check_canonical("./Button", "Button");
        check_canonical("a:nth-of-type(3)", "a[index=2]");
        check_canonical(r#"a:has-text("x")"#, r#"a[name*="x"]"#);
        check_canonical(r#"a:contains("x")"#, r#"a[name*="x"]"#);
        check_canonical(":text('x')", r#"*[name*="x"]"#);
        check_canonical("a[ enabled = true ] [ text() ~= 'x|y' ]", r#"a[enabled=true][name~="x|y"]"#);
        check_canonical(r#"a[focused="false"][index="7"]"#, "a[focused=false][index=7]");
        check_canonical("a[value=100]", r#"a[value="100"]"#);
        check_canonical(r#"a[checked="true"]"#, "a[checked=true]");
    }

    #[test]
    fn separators_inside_quotes_are_text() {
        check_canonical(r#"a[name="x/y"]/b"#, r#"a[name="x/y"]/b"#);
        check_canonical(r#"a[name="x > y ]"] > b"#, r#"a[name="x > y ]"]/b"#);
        check_canonical("a[name=\"x\ny\"]", "a[name=\"x\ny\"]");
        check_canonical(r#"a[name=':nth-of-type(2)']"#, r#"a[name=":nth-of-type(2)"]"#);
    }

    #[test]
    fn escapes() {
        check_canonical(r#"a[name="say \"hi\""]"#, r#"a[name="say \"hi\""]"#);
        check_canonical(r#"a[name='say "hi"']"#, r#"a[name="say \"hi\""]"#);
        check_canonical(r#"a[name="it\'s"]"#, r#"a[name="it's"]"#);
        check_canonical(r#"a[name="C:\\"]"#, r#"a[name="C:\\"]"#);
        check_canonical(r#"a[name="C:\dir"]"#, r#"a[name="C:\\dir"]"#);
    }

    #[test]
    fn quotes_escaped_once_too_often_are_understood() {
        check_canonical(r#"a[name=\"OK\"]"#, r#"a[name="OK"]"#);
        check_canonical(r#"a \"OK\" > b[name=\'x\']"#, r#"a[name="OK"]/b[name="x"]"#);
        check_canonical(r#"a[name="A"]/b[name=\"B\"]"#, r#"a[name="A"]/b[name="B"]"#);
        check_canonical(r#"a[name=\"say \\\"hi\\\"\"]"#, r#"a[name="say \"hi\""]"#);
        check_canonical(r#"a:text(\"x\")"#, r#"a[name*="x"]"#);
        check_canonical(r#"a[name="C:\"]"#, r#"a[name="C:"]"#);
    }

    #[test]
    fn what_has_no_effect_is_said() {
        let selector = parsed(r#"a:visible:foo("x)(", (1))[index=0]"#);
        assert_eq!(selector.to_string(), "a[index=0]");
        assert_eq!(
            selector.warnings(),
            [
                "':visible' has no effect here and was ignored",
                r#"':foo("x)(", (1))' has no effect here and was ignored"#
            ]
        );
        assert!(parsed("a[index=0]").warnings().is_empty());
    }

    #[test]
    fn errors_about_steps() {
        check_error("[", "cannot parse step role from '['");
        check_error("Window/[", "cannot parse step role from '['");
        check_error(r#"[name="x"]"#, r#"cannot parse step role from '[name="x"]'; write * for any role"#);
        check_error("a > ", "cannot parse step role from ''");
        check_error("> a", "cannot parse step role from '> a'");
        check_error("a > > b", "cannot parse step role from '> b'");
        check_error("a/..", "cannot parse step role from '..'");
        check_error(r#""OK""#, r#"cannot parse step role from '"OK"'"#);
        check_error(":nth-of-type(1)", "cannot parse step role from ':nth-of-type(1)'");
        for empty in ["", "  ", "/", "//", "./"] {
            check_error(empty, r#"the selector is empty; write for example Window/Button[name="OK"]"#);
        }
        check_error(
            "push-button",
            r#"unexpected '-button'; join steps by / or //, and write a role with other characters as *[role="…"]"#,
        );
    }

    /// H-45 on code: broken predicates, odd indexes.
    #[test]
    fn errors_about_predicates() {
        check_error("a[", "cannot parse predicate key from '['");
        check_error("a[=1]", "cannot parse predicate key from '[=1]'");
        let bare = r#"has no operator; write [key="value"] or [index=0]"#;
        check_error("a[name]", &format!("predicate '[name]' {bare}"));
        check_error("a[1]", &format!("predicate '[1]' {bare}"));
        for operator in ["^=", "$=", "|=", "!=", "<"] {
            let text = format!(r#"[name{operator}"x"]"#);
            check_error(
                &format!("a{text}"),
                &format!("unknown operator in '{text}'; use = (equal), *= (contains) or ~= (regex)"),
            );
        }
        let known = "known keys are name, value, role, keyboard_shortcut, index, id, enabled, focused, checked, \
                     selected, expanded, editable, visible";
        check_error(r#"a[nmae="x"]"#, &format!("unknown key 'nmae'; did you mean 'name'?; {known}"));
        check_error(r#"a[class="x"]"#, &format!("unknown key 'class'; {known}"));
        check_error("a[name=x]", "value 'x' must be in quotes, or be a number, true or false");
        check_error("a[name=]", "value '' must be in quotes, or be a number, true or false");
        check_error(r#"a[name="x""#, r#"missing ']' after the value in '[name="x"'"#);
        check_error(r#"a[name="x]"#, r#"unclosed quote at '"x]'"#);
        check_error(r#"a "x"#, r#"unclosed quote at '"x'"#);
        check_error(
            r#"a[name="x" and enabled=true]"#,
            r#"missing ']' after the value in '[name="x" and enabled=true]'"#,
        );
    }

    #[test]
    fn the_error_is_about_the_reading_that_was_meant() {
        check_error(r#"a[name=\"x\""#, r#"missing ']' after the value in '[name="x"'"#);
        check_error(r#"a[name="\"x\"""#, r#"missing ']' after the value in '[name="\"x\""'"#);
    }

    #[test]
    fn errors_about_values() {
        let range = "index must be a whole number from 0 to 4294967295, not";
        for wrong in ["-1", "99999999999", "true", "\"\"", "\"+1\"", "\"1.0\""] {
            check_error(&format!("a[index={wrong}]"), &format!("{range} '{}'", wrong.replace('"', "")));
        }
        check_error(r#"a[enabled="yes"]"#, "enabled must be true or false, not 'yes'");
        check_error("a[focused=1]", "focused must be true or false, not '1'");
        check_error(r#"a[index~="1"]"#, "index can only be compared with =");
        check_error(r#"a[enabled*="t"]"#, "enabled can only be compared with =");
        check_error(r#"a[id*="root"]"#, "id can only be compared with =");
    }

    #[test]
    fn errors_about_pseudo_classes() {
        check_error("a:nth-of-type(0)", "':nth-of-type(0)' needs a whole number from 1");
        check_error("a:nth-of-type(2n+1)", "':nth-of-type(2n+1)' needs a whole number from 1");
        check_error("a:nth-of-type", "':nth-of-type' needs a whole number from 1");
        check_error("a:text(x)", "':text(x)' needs one string in quotes");
        check_error("a:text", "':text' needs one string in quotes");
        check_error(r#"a:text("x", 1)"#, r#"':text("x", 1)' needs one string in quotes"#);
        check_error(r#"a:text("x""#, r#"missing ')' in ':text("x"'"#);
        check_error("a:", "cannot parse pseudo-class from ':'");
        check_error(
            r#"a:not([name="x"])"#,
            r#"':not([name="x"])' is not supported; write what to match instead"#,
        );
    }

    #[test]
    fn errors_about_regular_expressions() {
        let unclosed = "regex '(' is invalid: the pattern does not compile: unclosed group (at character 1)";
        check_error(r#"a[name~="("]"#, unclosed);
        let unopened =
            "regex 'a)|(b' is invalid: the pattern does not compile: unopened group (at character 2)";
        check_error(r#"a[name~="a)|(b"]"#, unopened);
        for big in [r"(?:a{1000}){1000}", r"\w{2000}"] {
            let why = "the pattern compiles to more than 1048576 bytes; use smaller repetitions";
            check_error(&format!(r#"a[name~="{big}"]"#), &format!("regex '{big}' is invalid: {why}"));
        }
        parsed(r#"a[name~="(a)\1"]"#);
        parsed(r#"a[name~="(?=a)"]"#);
        parsed(r#"a[name~="(a+)+$"]"#);
        parsed(r#"a[name~="\w+@\w+\.\w+ \d{1,4}"]"#);
    }

    /// H-45 on code: steps, predicates, lengths.
    #[test]
    fn limits() {
        parsed(&vec!["a"; 32].join("/"));
        let advice = "; start nearer to the element, for example with //";
        check_error(&vec!["a"; 33].join("/"), &format!("more than 32 steps{advice}"));
        parsed(&format!("a{}", "[index=0]".repeat(64)));
        check_error(&format!("a{}", "[index=0]".repeat(65)), &format!("more than 64 predicates{advice}"));
        let patterns = "[name~=\"a\"]".repeat(9);
        check_error(&format!("a{patterns}"), &format!("more than 8 regular expressions{advice}"));

        parsed(&format!(r#"a[name~="{}"]"#, "é".repeat(512)));
        let long = "é".repeat(513);
        check_error(
            &format!(r#"a[name~="{long}"]"#),
            &format!(
                "regex '{}…' is invalid: the pattern has 513 characters, at most 512 are allowed",
                "é".repeat(80)
            ),
        );

        parsed(&format!(r#"a[name="{}"]"#, "x".repeat(2038)));
        let advice = "bytes, at most 2048 are allowed; use *= with a part of a long name";
        check_error(&format!(r#"a[name="{}"]"#, "x".repeat(2039)), &format!("the text has 2049 {advice}"));
        check_error(
            &format!("a[name='{}']", "\"".repeat(1020)),
            &format!("the canonical text has 2050 {advice}"),
        );
    }

    #[test]
    fn an_error_is_a_bad_request() {
        let error = Error::from(Selector::parse("[").expect_err("no role"));
        assert_eq!(error.to_string(), "BadRequest: selector parse error: cannot parse step role from '['");
    }
}

mod explaining {
    use super::*;

    #[track_caller]
    fn check(selector: &str, expected: &[&str]) {
        let tree = notepad();
        let miss = parsed(selector).explain_miss(&tree).unwrap_or_else(|| panic!("{selector} matches"));
        let mut lines = vec![miss.to_string()];
        lines.extend(miss.nearest.iter().map(|near| format!("{}: {}", tree.id(near.node), near.why)));
        assert_eq!(lines, expected, "{selector}");
    }

    #[test]
    fn what_matches_needs_no_explanation() {
        assert_eq!(parsed("Window/MenuBar").explain_miss(&notepad()), None);
    }

    #[test]
    fn the_broken_step_is_named() {
        check(
            r#"Window/Nope[name="X"]/b"#,
            &[r#"step 2 'Nope[name="X"]' matches no element below the one that step 1 matches"#],
        );
        check("Nope", &["step 1 'Nope' matches no element"]);
        check("Window/*/*/a", &["step 4 'a' matches no element below the 9 that step 3 matches"]);
    }

    #[test]
    fn similar_names_come_first() {
        check(
            r#"Window/MenuBar/MenuItem[name="Fromat"]"#,
            &[
                r#"step 3 'MenuItem[name="Fromat"]' matches no element below the one that step 2 matches"#,
                "root.0.2: same role, similar name",
                "root.0.0: same role, another name",
                "root.0.1: same role, another name",
                "root.0.3: same role, another name",
                "root.0.4: same role, another name",
            ],
        );
    }

    #[test]
    fn the_right_element_in_another_place_is_found() {
        check(
            r#"Window/Button[name="word wrap"]"#,
            &[
                r#"step 2 'Button[name="word wrap"]' matches no element below the one that step 1 matches"#,
                "root.6: role CheckBox, same name, different case",
            ],
        );
        check(
            r#"Window/StatusBar/MenuItem[name="Help"]"#,
            &[
                r#"step 3 'MenuItem[name="Help"]' matches no element below the one that step 2 matches"#,
                "root.0.4: same role, same name, elsewhere in the tree",
                "root.0.0: same role, another name, elsewhere in the tree",
                "root.0.1: same role, another name, elsewhere in the tree",
                "root.0.2: same role, another name, elsewhere in the tree",
                "root.0.3: same role, another name, elsewhere in the tree",
            ],
        );
        check(
            "checkbox",
            &["step 1 'checkbox' matches no element", "root.6: same role, different case (CheckBox)"],
        );
        check("//Window", &["step 1 'Window' matches no element", "root: same role, elsewhere in the tree"]);
    }

    #[test]
    fn the_predicate_that_fails_is_named() {
        check(
            r#"*[role="CheckBox"][name="Word Wrap"][enabled=false]"#,
            &[
                r#"step 1 '*[role="CheckBox"][name="Word Wrap"][enabled=false]' matches no element"#,
                "root.6: same role, same name, [enabled=false] does not match",
            ],
        );
        check(
            r#"Document[name~="x"][index=0]"#,
            &[
                r#"step 1 'Document[name~="x"][index=0]' matches no element"#,
                r#"root.1: same role, [name~="x"] does not match"#,
            ],
        );
    }

    #[test]
    fn what_can_never_match_is_said() {
        check(
            "Menu*",
            &["step 1 'Menu*' matches no element; the role 'Menu*' is compared literally; * means any role \
               only when it stands alone"],
        );
    }

    #[test]
    fn texts_of_the_tree_stay_out() {
        let tree = Tree::of_root(with_value("Edit", "SECRET-NAME", "SECRET-VALUE"));
        let miss = parsed(r#"Edit[name="SECRET"][value="x"]"#).explain_miss(&tree).expect("a miss");
        assert_eq!(miss.nearest.len(), 1);
        assert!(!format!("{:?}", miss.nearest).contains("SECRET-"), "{miss:?}");
    }
}

mod deriving {
    use super::*;

    #[track_caller]
    fn check(tree: &Tree, id: &str, expected: &str) {
        let node = tree.find_id(id).expect(id);
        assert_eq!(derive(tree, node), expected);
        assert_eq!(
            parsed(expected).find(tree, 1).unwrap(),
            Matches { nodes: vec![node], total: 1 },
            "{expected}"
        );
    }

    fn row(elements: impl IntoIterator<Item = Element>) -> Tree {
        let mut tree = TreeBuilder::new(element("Window", ""));
        elements.into_iter().for_each(|element| _ = tree.add_leaf(element));
        tree.finish()
    }

    #[test]
    fn the_contract_samples() {
        let tree = notepad();
        check(&tree, "root", r#"Window[name="Untitled — Notepad"]"#);
        check(
            &tree,
            "root.0.1",
            r#"Window[name="Untitled — Notepad"]/MenuBar[name="MenuBar"]/MenuItem[name="Edit"]"#,
        );
        check(&tree, "root.1", r#"Window[name="Untitled — Notepad"]/Document[name="Text Editor"]"#);
    }

    #[test]
    fn unnamed_elements_are_counted() {
        let tree = row([element("Edit", ""), element("Button", ""), element("Button", "")]);
        check(&tree, "root.0", "Window/Edit");
        check(&tree, "root.1", "Window/Button[index=0]");
        check(&tree, "root.2", "Window/Button[index=1]");
    }

    #[test]
    fn twins_are_told_apart() {
        let tree = row(["OK", "x", "OK", "a…", "a..."].map(|name| element("Button", name)));
        check(&tree, "root.0", r#"Window/Button[name="OK"][index=0]"#);
        check(&tree, "root.1", r#"Window/Button[name="x"]"#);
        check(&tree, "root.2", r#"Window/Button[name="OK"][index=2]"#);
        check(&tree, "root.3", r#"Window/Button[name="a…"][index=3]"#);
        check(&tree, "root.4", r#"Window/Button[name="a..."][index=4]"#);
    }

    #[test]
    fn redacted_elements_are_written_by_place() {
        let hidden = Element { redacted: true, ..element("Text", "[redacted]") };
        let tree = row([hidden.clone(), element("Button", "OK")]);
        check(&tree, "root.0", "Window/Text");
        let tree = row([hidden, element("Text", "Total")]);
        check(&tree, "root.0", "Window/Text[index=0]");
        check(&tree, "root.1", r#"Window/Text[name="Total"][index=1]"#);
    }

    #[test]
    fn odd_roles_are_quoted() {
        let tree = row([element("push button", "OK"), element("*", ""), element("", "")]);
        check(&tree, "root.0", r#"Window/*[role="push button"][name="OK"]"#);
        check(&tree, "root.1", r#"Window/*[role="*"]"#);
        check(&tree, "root.2", r#"Window/*[role=""]"#);
    }

    #[test]
    fn paths_over_the_limits_become_ids() {
        let mut deep = TreeBuilder::new(element("Window", ""));
        (0..40).for_each(|_| _ = deep.open(element("Group", "")));
        let deep = deep.finish();
        check(&deep, &format!("root{}", ".0".repeat(31)), &format!("Window{}", "/Group".repeat(31)));
        let id = format!("root{}", ".0".repeat(32));
        check(&deep, &id, &format!(r#"Group[id="{id}"]"#));

        let long = row([element("Text", &"long ".repeat(500))]);
        check(&long, "root.0", r#"Text[id="root.0"]"#);
    }
}

/// Names that break naive quoting, collide after folding, or say nothing.
const NASTY: &[&str] = &[
    "",
    "",
    "OK",
    "OK",
    "Save…",
    "Save...",
    "a—b",
    "a--b",
    "\u{a0}",
    " ",
    "say \"hi\"",
    "it's",
    "C:\\",
    "\\\"",
    "\\'",
    "a/b",
    "//",
    "]",
    "[name=\"x\"]",
    "a > b",
    "two\nlines",
    "tab\t",
    "💾",
    "*",
    ":text(\"x\")",
];
const ROLES: &[&str] = &["Button", "Group", "Group", "Text", "push button", "*", "", "Ünï", "a*", "it\"em"];

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(NASTY).prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| text.chars().take(20).collect()),
    ]
}

fn any_element() -> impl Strategy<Value = Element> {
    (prop::sample::select(ROLES), any_name(), prop::bool::weighted(0.1), any::<bool>())
        .prop_map(|(role, name, redacted, enabled)| Element { redacted, enabled, ..element(role, &name) })
}

/// Each element closes some of the open ones first, so all shapes occur.
fn any_tree() -> impl Strategy<Value = Tree> {
    (any_element(), prop::collection::vec((any_element(), 0..4_usize), 0..40)).prop_map(|(root, elements)| {
        let mut tree = TreeBuilder::new(root);
        for (element, closing) in elements {
            (0..closing).for_each(|_| tree.close());
            tree.open(element);
        }
        tree.finish()
    })
}

fn any_test() -> impl Strategy<Value = Test> {
    let pattern = prop::sample::select(vec![".*", "OK|Save.*", "[0-9]+", r#"a"b"#, r"\\", "(?i)ok"]);
    prop_oneof![
        any_name().prop_map(|text| Test::Equals(Literal::new(text))),
        any_name().prop_map(|text| Test::Contains(Literal::new(text))),
        pattern.prop_map(|source| Test::Matches(Pattern::compile_whole(source).expect(source))),
    ]
}

fn any_predicate() -> impl Strategy<Value = SelectorPredicate> {
    let key = prop::sample::select(vec![TextKey::Name, TextKey::Value, TextKey::Role, TextKey::Shortcut]);
    prop_oneof![
        4 => (key, any_test()).prop_map(|(key, test)| SelectorPredicate::Text(key, test)),
        2 => (prop::sample::select(FlagKey::ALL.to_vec()), any::<bool>())
            .prop_map(|(state, wanted)| SelectorPredicate::Flag(state, wanted)),
        2 => prop_oneof![0..4_u32, any::<u32>()].prop_map(SelectorPredicate::Index),
        1 => prop::sample::select(vec!["root", "root.0", "root.1.0", "\"]"])
            .prop_map(|id| SelectorPredicate::Id(id.to_owned())),
    ]
}

fn any_step() -> impl Strategy<Value = SelectorStep> {
    let axis = prop::sample::select(vec![Axis::Child, Axis::Descendant]);
    let role = prop_oneof![
        3 => Just(None),
        3 => prop::sample::select(vec!["Button", "Group", "Text", "a*"]).prop_map(|role| Some(role.into())),
        1 => "[A-Za-z_*][A-Za-z0-9_*é]{0,6}".prop_map(|role| (role != "*").then(|| role.into())),
    ];
    (axis, role, prop::collection::vec(any_predicate(), 0..3))
        .prop_map(|(axis, role, predicates)| SelectorStep { axis, role, predicates })
}

fn any_selector() -> impl Strategy<Value = Selector> {
    prop::collection::vec(any_step(), 1..6)
        .prop_map(|steps| Selector { steps, warnings: Vec::new() })
        .prop_filter("within the limits", |selector| selector.check_limits().is_ok())
}

/// Mostly bare steps, so that several of them in a row still match something.
fn any_loose_selector() -> impl Strategy<Value = Selector> {
    let step = (any_step(), prop::bool::weighted(0.7)).prop_map(|(mut step, bare)| {
        if bare {
            step.predicates.clear();
        }
        step
    });
    prop::collection::vec(step, 1..4).prop_map(|steps| Selector { steps, warnings: Vec::new() })
}

/// Pieces of the grammar in any order: some of it is valid, none of it may do harm.
fn token_soup() -> impl Strategy<Value = String> {
    let tokens = vec![
        "a",
        "Button",
        "*",
        "/",
        "//",
        ">",
        " ",
        ".",
        "[",
        "]",
        "name",
        "index",
        "enabled",
        "=",
        "*=",
        "~=",
        "\"",
        "\"x\"",
        "'y'",
        "\\",
        "\\\"",
        "true",
        "-1",
        "2",
        ":text(",
        ":nth-of-type(",
        ")",
        ":foo",
        "@",
        "é",
        "[name=\"z\"]",
        "[index=1]",
        "(",
    ];
    prop::collection::vec(prop::sample::select(tokens), 0..14).prop_map(|tokens| tokens.concat())
}

/// The contract's words, taken literally and without regard to cost.
fn resolve_slowly(selector: &Selector, tree: &Tree) -> Vec<usize> {
    let resolver = Resolver::new(selector, tree);
    let fits = |step: &SelectorStep, node: usize| {
        step.role.as_ref().is_none_or(|role| *role == tree[node].role)
            && step.predicates.iter().all(|predicate| resolver.holds(predicate, node))
    };
    let below = |top: usize| (top..tree.end(top)).flat_map(|parent| tree.children(parent));
    let mut matches = vec![Tree::ROOT];
    for (position, step) in selector.steps.iter().enumerate() {
        if position == 0 && step.axis == Axis::Child && fits(step, Tree::ROOT) {
            continue;
        }
        let mut next = Vec::new();
        for top in matches {
            let candidates: Vec<usize> = match step.axis {
                Axis::Child if position > 0 => tree.children(top).collect(),
                _ => below(top).collect(),
            };
            for node in candidates {
                if fits(step, node) && !next.contains(&node) {
                    next.push(node);
                }
            }
        }
        matches = next;
    }
    matches
}

/// Per step each element is tested once, walked once, and jumped over at most once.
fn most_work(selector: &Selector, tree: &Tree) -> usize {
    3 * tree.len() * selector.steps.len()
}

proptest! {
    #[test]
    fn printed_selectors_read_back_the_same(selector in any_selector()) {
        let text = selector.to_string();
        prop_assert_eq!(Selector::parse(&text), Ok(selector), "{}", text);
    }

    #[test]
    fn whatever_can_be_read_prints_and_reads_the_same(text in token_soup()) {
        if let Ok(selector) = Selector::parse(&text) {
            prop_assert_eq!(Selector::parse(&selector.to_string()), Ok(selector), "{}", text);
        }
    }

    #[test]
    fn no_text_breaks_the_parser(text in any::<String>()) {
        if let Err(error) = Selector::parse(&text) {
            prop_assert!(error.to_string().starts_with("selector parse error: "));
        }
    }

    /// H-45 on code: whatever is in a name.
    #[test]
    fn derived_selectors_find_their_element_alone(tree in any_tree()) {
        for node in 0..tree.len() {
            let text = derive(&tree, node);
            let found = Selector::parse(&text).map(|selector| selector.find(&tree, 1).unwrap());
            prop_assert_eq!(found, Ok(Matches { nodes: vec![node], total: 1 }), "{}", text);
        }
    }

    #[test]
    fn names_of_redacted_elements_are_not_derived(tree in any_tree()) {
        let tree = tree.map_elements(|element| {
            if element.redacted {
                element.name = "SECRET".to_owned();
            }
        });
        for node in 0..tree.len() {
            prop_assert!(!derive(&tree, node).contains("SECRET"));
        }
    }

    #[test]
    fn the_fast_way_finds_what_the_slow_way_finds(tree in any_tree(), selector in any_loose_selector()) {
        let mut resolver = Resolver::new(&selector, &tree);
        prop_assert_eq!(resolver.all_steps(&selector), resolve_slowly(&selector, &tree), "{}", selector);
        prop_assert!(resolver.work <= most_work(&selector, &tree));
    }

    #[test]
    fn a_miss_is_explained_exactly_when_there_is_one(tree in any_tree(), selector in any_loose_selector()) {
        let found = selector.find(&tree, 1).unwrap().total > 0;
        prop_assert_eq!(selector.explain_miss(&tree).is_none(), found);
    }
}

/// H-45 on code: counted, not timed.
#[test]
fn the_work_is_bounded_by_elements_times_steps() {
    const COUNT: usize = 20_000;
    let mut chain = TreeBuilder::new(element("Group", ""));
    (1..COUNT).for_each(|_| _ = chain.open(element("Group", "")));
    let mut comb = TreeBuilder::new(element("Group", ""));
    for position in 1..COUNT {
        comb.open(element("Group", "x"));
        (0..position % 3).for_each(|_| comb.close());
    }
    let mut row = TreeBuilder::new(element("Group", ""));
    (1..COUNT).for_each(|_| _ = row.add_leaf(element("Group", "")));

    for tree in [chain.finish(), comb.finish(), row.finish()] {
        let longest = "//*".repeat(MAX_STEPS);
        for text in ["//*//*//*", "//*//Group[index=0]//*[name*=\"x\"]", "//*/*//*", "//*[index=7]", &longest]
        {
            let selector = parsed(text);
            let mut resolver = Resolver::new(&selector, &tree);
            resolver.all_steps(&selector);
            assert!(resolver.work <= most_work(&selector, &tree), "{text}: {}", resolver.work);
        }
        assert!(parsed("//*//*//Nope[name=\"x\"]").explain_miss(&tree).is_some());
    }
}
