//! The description of a window in words: its parts with headings, and the accessibility part.
//!
//! Only what the tree says. Recognised text and a model's view are made elsewhere and arrive here
//! as finished parts.

use super::text::{one_line, shorten_text};
use crate::model::{Element, Tree, Window};

/// Puts `[heading]` over each part and cuts the whole at four characters a token.
///
/// The second value says whether anything was cut.
pub fn assemble_sections(parts: &[(&str, String)], max_tokens: Option<usize>) -> (String, bool) {
    let parts: Vec<String> = parts.iter().map(|(heading, text)| format!("[{heading}]\n{text}")).collect();
    let whole = parts.join("\n\n");
    let cut = max_tokens.and_then(|tokens| whole.char_indices().nth(tokens.saturating_mul(4)));
    match cut {
        Some((end, _)) => (format!("{}… [truncated]", &whole[..end]), true),
        None => (whole, false),
    }
}

/// The window and the subtree at `node`, one line an element.
pub fn describe_tree(window: &Window, tree: &Tree, node: usize) -> String {
    let mut text = window_header(window);
    let root = &tree[node];
    text.push_str(&format!("\n\nRoot: {}{}", one_line(root.role.name()), quoted_name(root, "  ")));
    let shows = shows_something(tree, node);
    for at in (node..tree.end(node)).filter(|&at| shows[at - node]) {
        let indent = 2 * (tree.depth(at) - tree.depth(node)) + 2;
        text.push_str(&format!("\n{:indent$}└─ {}", "", element_line(&tree[at])));
    }
    text + "\n\n" + &summarize_tree(tree, node)
}

/// Whether a person sees anything of each element or of what is in it, from `node` on.
fn shows_something(tree: &Tree, node: usize) -> Vec<bool> {
    let mut shows = vec![false; tree.end(node) - node];
    shows[0] = true;
    // Backwards, so that an element knows of what is below it before its own turn comes.
    for at in (node + 1..tree.end(node)).rev() {
        shows[at - node] |= !tree[at].hidden;
        if let (true, Some(parent)) = (shows[at - node], tree.parent(at)) {
            shows[parent - node] = true;
        }
    }
    shows
}

fn window_header(window: &Window) -> String {
    let bounds = window.bounds;
    format!(
        "Application : {}\nWindow      : {}\nGeometry    : ({}, {})  {} × {} px",
        one_line(&window.process),
        one_line(&window.title),
        bounds.x,
        bounds.y,
        bounds.width,
        bounds.height,
    )
}

fn element_line(element: &Element) -> String {
    let mut line = role_and_name(element);
    if let Some(value) = &element.value {
        line.push_str(&format!(" = {}", python_literal(&shorten_text(value, 60, 59))));
    }
    let remarks = element_remarks(element);
    if !remarks.is_empty() {
        line.push_str(&format!("  [{}]", remarks.join("  ")));
    }
    let bounds = element.bounds;
    line + &format!("  @({},{}) {}×{}", bounds.x, bounds.y, bounds.width, bounds.height)
}

fn role_and_name(element: &Element) -> String {
    format!("{}{}", one_line(element.role.name()), quoted_name(element, " "))
}

fn quoted_name(element: &Element, gap: &str) -> String {
    match &*element.name {
        "" => String::new(),
        name => format!("{gap}\"{}\"", one_line(name)),
    }
}

fn element_remarks(element: &Element) -> Vec<String> {
    let known = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let shortcut = known(&element.shortcut).map(|shortcut| format!("shortcut:{}", one_line(&shortcut)));
    let description = known(&element.description);
    let description = description.map(|text| format!("desc:{}", one_line(&shorten_text(&text, 30, 29))));
    let focused = element.focused.then(|| "FOCUSED".to_owned());
    let disabled = (!element.enabled).then(|| "DISABLED".to_owned());
    let unseen = element.unseen.map(|unseen| format!("HIDDEN:{}", unseen.name()));
    [focused, disabled, unseen, shortcut, description].into_iter().flatten().collect()
}

/// Of several that claim the focus the innermost has it.
fn summarize_tree(tree: &Tree, node: usize) -> String {
    let nodes = node..tree.end(node);
    let focused = nodes.clone().rev().find(|&at| tree[at].focused);
    let focused = focused.map(|at| format!("; focused → {}", role_and_name(&tree[at]))).unwrap_or_default();
    let unseen = shows_something(tree, node).into_iter().filter(|shows| !shows).count();
    let unseen = if unseen > 0 { format!(", {unseen} of them not visible now") } else { String::new() };
    format!("[{} elements total{unseen}{focused}]", nodes.len())
}

/// The text as Python would write it in a program: what clients have always read here.
fn python_literal(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut literal = String::from(quote);
    for character in text.chars() {
        push_python_character(&mut literal, character, quote);
    }
    literal.push(quote);
    literal
}

fn push_python_character(literal: &mut String, character: char, quote: char) {
    match character {
        '\n' => literal.push_str("\\n"),
        '\r' => literal.push_str("\\r"),
        '\t' => literal.push_str("\\t"),
        '\\' => literal.push_str("\\\\"),
        _ if character == quote => literal.extend(['\\', quote]),
        _ if is_printable(character) => literal.push(character),
        _ => literal.push_str(&python_escape(u32::from(character))),
    }
}

fn python_escape(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

/// Rust escapes the same Unicode categories in its debug output as Python does. The letter in
/// front matters: a combining mark is escaped only where it has nothing to combine with.
fn is_printable(character: char) -> bool {
    match character {
        ' '..='~' => true,
        _ => format!("a{character}").escape_debug().nth(1) == Some(character),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sketch::fixtures::{notepad, notepad_window};
    use super::*;
    use crate::model::{Rect, TreeBuilder};

    #[test]
    fn the_default_window_reads_as_clients_know_it() {
        let expected = "\
Application : notepad.exe
Window      : Untitled — Notepad
Geometry    : (80, 60)  800 × 600 px

Root: Window  \"Untitled — Notepad\"
  └─ Window \"Untitled — Notepad\"  @(80,60) 800×600
    └─ MenuBar \"MenuBar\"  @(80,60) 800×22
      └─ MenuItem \"File\"  @(80,60) 56×22
      └─ MenuItem \"Edit\"  @(138,60) 56×22
      └─ MenuItem \"Format\"  @(196,60) 56×22
      └─ MenuItem \"View\"  @(254,60) 56×22
      └─ MenuItem \"Help\"  @(312,60) 56×22
    └─ Document \"Text Editor\" = 'Hello, world!\\nThis is a test document.\\nLine 3 has some cont…'  [FOCUSED]  @(80,82) 800×514
    └─ ScrollBar \"Horizontal ScrollBar\"  @(80,596) 784×18
    └─ ScrollBar \"Vertical ScrollBar\"  @(864,82) 18×532
    └─ ProgressBar \"Saving\"  @(560,600) 200×10
    └─ CheckBox \"Word Wrap\"  @(80,636) 120×18
    └─ StatusBar \"Status Bar\"  @(80,614) 800×22
      └─ Text \"Position\" = 'Ln 1, Col 1'  @(80,614) 188×22
      └─ Text \"Zoom\" = '100%'  @(270,614) 188×22
      └─ Text \"Encoding\" = 'UTF-8'  @(460,614) 188×22
      └─ Text \"EOL\" = 'Windows (CRLF)'  @(650,614) 188×22

[17 elements total; focused → Document \"Text Editor\"]";
        assert_eq!(describe_tree(&notepad_window(), &notepad(), Tree::ROOT), expected);
    }

    #[test]
    fn what_is_not_shown_is_counted_only() {
        let hidden = |name: &str| Element { hidden: true, ..Element::new("Group", name, Rect::default()) };
        let mut tree = TreeBuilder::new(hidden("root"));
        tree.open(hidden("empty box"));
        tree.add_leaf(Element::new("Button", "seen", Rect::new(1, 2, 3, 4)));
        tree.close();
        tree.open(hidden("closed menu"));
        tree.add_leaf(hidden("item"));
        let tree = tree.finish();
        let text = describe_tree(&notepad_window(), &tree, Tree::ROOT);
        for (name, expected) in [("root", true), ("empty box", true), ("seen", true), ("closed menu", false)]
        {
            assert_eq!(
                text.contains(&format!("└─ Group \"{name}\""))
                    || text.contains(&format!("└─ Button \"{name}\"")),
                expected,
                "{text}"
            );
        }
        assert!(text.ends_with("[5 elements total, 2 of them not visible now]"), "{text}");
    }

    #[test]
    fn a_subtree_alone() {
        let expected = "\
Application : notepad.exe
Window      : Untitled — Notepad
Geometry    : (80, 60)  800 × 600 px

Root: StatusBar  \"Status Bar\"
  └─ StatusBar \"Status Bar\"  @(80,614) 800×22
    └─ Text \"Position\" = 'Ln 1, Col 1'  @(80,614) 188×22
    └─ Text \"Zoom\" = '100%'  @(270,614) 188×22
    └─ Text \"Encoding\" = 'UTF-8'  @(460,614) 188×22
    └─ Text \"EOL\" = 'Windows (CRLF)'  @(650,614) 188×22

[5 elements total]";
        let tree = notepad();
        let status_bar = tree.find_id("root.4").unwrap();
        assert_eq!(describe_tree(&notepad_window(), &tree, status_bar), expected);
    }

    #[test]
    fn parts_have_headings_and_a_blank_line_between() {
        let parts = [("accessibility", "a\nb".to_owned()), ("ocr", "c".to_owned())];
        assert_eq!(assemble_sections(&parts, None), ("[accessibility]\na\nb\n\n[ocr]\nc".to_owned(), false));
        assert_eq!(assemble_sections(&[], None), (String::new(), false));
    }

    #[test]
    fn too_many_tokens_are_cut_with_a_mark() {
        let parts = [("accessibility", describe_tree(&notepad_window(), &notepad(), Tree::ROOT))];
        let expected =
            "[accessibility]\nApplication : notepad.exe\nWindow      : Unti… [truncated]".to_owned();
        assert_eq!(assemble_sections(&parts, Some(15)), (expected, true));
    }

    #[test]
    fn what_just_fits_is_not_cut() {
        let parts = [("ocr", "ab".to_owned())];
        assert_eq!(assemble_sections(&parts, Some(2)), ("[ocr]\nab".to_owned(), false));
        assert_eq!(assemble_sections(&parts, Some(1)), ("[ocr… [truncated]".to_owned(), true));
        assert!(!assemble_sections(&parts, Some(usize::MAX)).1);
    }

    fn check_line(element: Element, expected: &str) {
        assert_eq!(element_line(&element), expected);
    }

    fn edit() -> Element {
        Element::new("Edit", "", Rect::new(-1, 2, 3, 4))
    }

    #[test]
    fn names_are_left_out_when_empty_and_values_when_unknown() {
        check_line(edit(), "Edit  @(-1,2) 3×4");
        check_line(Element { value: Some(String::new()), ..edit() }, "Edit = ''  @(-1,2) 3×4");
        check_line(Element { name: "a\nb".into(), ..edit() }, "Edit \"a b\"  @(-1,2) 3×4");
    }

    #[test]
    fn remarks_in_order() {
        let element = Element {
            focused: true,
            enabled: false,
            shortcut: Some("Ctrl+S".into()),
            description: Some("d".repeat(31)),
            ..edit()
        };
        let description = "d".repeat(29);
        let expected =
            format!("Edit  [FOCUSED  DISABLED  shortcut:Ctrl+S  desc:{description}…]  @(-1,2) 3×4");
        check_line(element, &expected);
    }

    #[test]
    fn values_are_shortened_before_they_are_quoted() {
        let fits = "\n".repeat(60);
        let too_long = "\n".repeat(61);
        check_line(
            Element { value: Some(fits), ..edit() },
            &format!("Edit = '{}'  @(-1,2) 3×4", "\\n".repeat(60)),
        );
        check_line(
            Element { value: Some(too_long), ..edit() },
            &format!("Edit = '{}…'  @(-1,2) 3×4", "\\n".repeat(59)),
        );
    }

    #[test]
    fn the_innermost_focused_element_is_named() {
        let mut tree = crate::model::TreeBuilder::new(Element { focused: true, ..edit() });
        tree.add_leaf(Element { focused: true, name: "in".into(), ..edit() });
        assert_eq!(summarize_tree(&tree.finish(), 0), "[2 elements total; focused → Edit \"in\"]");
    }

    fn check_literal(text: &str, expected: &str) {
        assert_eq!(python_literal(text), expected);
    }

    #[test]
    fn quotes_and_backslashes_as_python_writes_them() {
        check_literal("", "''");
        check_literal("it", "'it'");
        check_literal("it's", "\"it's\"");
        check_literal("\"it\"", "'\"it\"'");
        check_literal("\"it's\"", "'\"it\\'s\"'");
        check_literal("C:\\new", "'C:\\\\new'");
    }

    #[test]
    fn unprintable_characters_as_python_writes_them() {
        check_literal("a\n\r\t\0\x1b\x7f\u{a0}\u{ad}", "'a\\n\\r\\t\\x00\\x1b\\x7f\\xa0\\xad'");
        check_literal("\u{200b}\u{2028}\u{feff}\u{3000}", "'\\u200b\\u2028\\ufeff\\u3000'");
        check_literal("\u{e0001}\u{10ffff}", "'\\U000e0001\\U0010ffff'");
        check_literal("é日😀e\u{301}…", "'é日😀e\u{301}…'");
    }
}
