//! What is written inside a box: a glyph row where the role has one, else role, name and value.
//!
//! Lines may come out longer than the box; the grid cuts them. Only as many lines are made as
//! fit, so the value of a whole document costs no more than the box that shows it.

use super::role::Glyph;
use crate::model::Element;
use crate::observer::text::{one_line, visible_or_blank};

pub(super) fn label_lines(element: &Element, glyph: Option<Glyph>, width: usize, rows: usize) -> Vec<String> {
    let mut lines = match glyph.and_then(|glyph| glyph_row(element, glyph, width)) {
        Some(row) => under_glyph_row(row, element, width, rows),
        None => plain_lines(element, width, rows),
    };
    lines.truncate(rows);
    lines
}

fn under_glyph_row(row: String, element: &Element, width: usize, rows: usize) -> Vec<String> {
    let mut lines = vec![row];
    if let (true, Some(description)) = (rows >= 3, &element.description) {
        lines.extend(wrap_words(description, width, rows - 1));
    }
    lines
}

fn plain_lines(element: &Element, width: usize, rows: usize) -> Vec<String> {
    let mut lines = vec![role_line(element, width)];
    if !element.name.is_empty() {
        lines.push(name_line(&element.name, width));
    }
    if let Some(value) = &element.value {
        lines.extend(wrap_words(value, width, rows.saturating_sub(lines.len())));
    }
    lines
}

fn role_line(element: &Element, width: usize) -> String {
    let mut words = vec![element.role.to_string()];
    words.extend(state_badges(element));
    let line = words.join(" ");
    if line.chars().count() <= width { line } else { element.role.name().chars().take(width).collect() }
}

fn name_line(name: &str, width: usize) -> String {
    let line = format!("\"{name}\"");
    if line.chars().nth(width).is_none() {
        return line;
    }
    line.chars().take(width.saturating_sub(2)).chain("…\"".chars()).take(width).collect()
}

/// `●` has the focus, `✗` is disabled, `⌨` its shortcut.
pub(super) fn state_badges(element: &Element) -> Vec<String> {
    let focused = element.focused.then(|| "●".to_owned());
    let disabled = (!element.enabled).then(|| "✗".to_owned());
    let shortcut = element.shortcut.as_ref().filter(|shortcut| !shortcut.is_empty());
    let shortcut = shortcut.map(|shortcut| format!("⌨{shortcut}"));
    [focused, disabled, shortcut].into_iter().flatten().collect()
}

/// `None` when the glyph would show a state that is not known.
fn glyph_row(element: &Element, glyph: Glyph, width: usize) -> Option<String> {
    let name = &element.name;
    let selected = element.selected == Some(true);
    let expanded = element.expanded == Some(true);
    match glyph {
        Glyph::Check => Some(format!("{} {name}", if selected { "[x]" } else { "[ ]" })),
        Glyph::Radio => Some(format!("{} {name}", if selected { "(•)" } else { "( )" })),
        Glyph::Combo => Some(combo_row(element, if expanded { "▼" } else { "▶" })),
        Glyph::Menu => Some(if expanded { format!("▸ {name}") } else { name.clone() }),
        Glyph::Slider => value_fraction(element).map(|fraction| slider_row(fraction, width)),
        Glyph::Progress => value_fraction(element).map(|fraction| progress_row(fraction, width)),
    }
}

fn combo_row(element: &Element, arrow: &str) -> String {
    let mut words = vec![arrow.to_owned()];
    words.extend((!element.name.is_empty()).then(|| element.name.clone()));
    words.extend(element.value.as_ref().map(|value| format!("[{value}]")));
    words.join(" ")
}

fn slider_row(fraction: f64, width: usize) -> String {
    let track = width.saturating_sub(6).max(5) - 2;
    let knob = part_of(track - 1, fraction);
    format!("├{}●{}┤ {}%", "─".repeat(knob), "─".repeat(track - 1 - knob), part_of(100, fraction))
}

fn progress_row(fraction: f64, width: usize) -> String {
    let cells = width.saturating_sub(5).max(4);
    let full = part_of(cells, fraction);
    format!("{}{} {}%", "▓".repeat(full), "░".repeat(cells - full), part_of(100, fraction))
}

/// Halves go to the even neighbour, as clients saw them do.
fn part_of(whole: usize, fraction: f64) -> usize {
    ((fraction * whole as f64).round_ties_even() as usize).min(whole)
}

/// Where between its ends a slider or a progress bar stands, from 0 to 1.
fn value_fraction(element: &Element) -> Option<f64> {
    let fraction = fraction_of_range(element).or_else(|| fraction_of_text(element.value.as_deref()?))?;
    fraction.is_finite().then(|| fraction.clamp(0.0, 1.0))
}

fn fraction_of_range(element: &Element) -> Option<f64> {
    let range = element.range;
    let (now, min, max) = (range.now?, range.min?, range.max?);
    (max > min).then(|| (now - min) / (max - min))
}

/// `40%`, `3 of 10`, a number from 0 to 1, or one from 0 to 100.
fn fraction_of_text(value: &str) -> Option<f64> {
    let value = value.trim();
    if let Some(percent) = value.strip_suffix('%') {
        return parse_number(percent).map(|percent| percent / 100.0);
    }
    if let Some((part, whole)) = value.split_once(" of ") {
        return parse_number(whole)
            .filter(|&whole| whole > 0.0)
            .and_then(|whole| Some(parse_number(part)? / whole));
    }
    match parse_number(value)? {
        fraction if (0.0..=1.0).contains(&fraction) => Some(fraction),
        percent if (0.0..=100.0).contains(&percent) => Some(percent / 100.0),
        _ => None,
    }
}

fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// Word-wraps to at most `rows` lines; only a word longer than a line is broken.
fn wrap_words(text: &str, width: usize, rows: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.trim_matches(|character: char| is_gap(character) || character.is_whitespace());
    while lines.len() < rows && !rest.is_empty() {
        let (line, after) = rest.split_at(line_end(rest, width));
        lines.push(one_line(line.trim_end_matches(is_gap)));
        rest = after.trim_start_matches(is_gap);
    }
    lines
}

/// Where the first line of `text` ends, in bytes. The text starts with a word.
fn line_end(text: &str, width: usize) -> usize {
    let Some((full, next)) = text.char_indices().nth(width.max(1)) else {
        return text.len();
    };
    let head = &text[..full];
    if is_gap(next) {
        return full;
    }
    match head.rfind(is_gap) {
        Some(gap) if !starts_with_long_word(text[gap..].trim_start_matches(is_gap), width) => gap,
        _ => full,
    }
}

fn starts_with_long_word(text: &str, width: usize) -> bool {
    text.chars().take_while(|&character| !is_gap(character)).nth(width).is_some()
}

fn is_gap(character: char) -> bool {
    visible_or_blank(character) == ' '
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Range, Rect};
    use crate::observer::sketch::role;
    use proptest::prelude::*;

    fn element(role: &'static str, name: &str) -> Element {
        Element::new(role, name, Rect::default())
    }

    fn check(element: &Element, width: usize, rows: usize, expected: &[&str]) {
        let glyph = role::glyph(&role::normal_form(element.role.name()));
        assert_eq!(label_lines(element, glyph, width, rows), expected);
    }

    fn check_row(element: Element, width: usize, expected: &str) {
        check(&element, width, 1, &[expected]);
    }

    #[test]
    fn check_boxes() {
        for role in ["CheckBox", "ToggleButton", "Switch"] {
            check_row(element(role, "Wrap"), 20, "[ ] Wrap");
            check_row(Element { selected: Some(true), ..element(role, "Wrap") }, 20, "[x] Wrap");
            check_row(Element { selected: Some(false), ..element(role, "Wrap") }, 20, "[ ] Wrap");
        }
    }

    #[test]
    fn radio_buttons() {
        for role in ["RadioButton", "Radio", "RadioItem"] {
            check_row(element(role, "Red"), 20, "( ) Red");
            check_row(Element { selected: Some(true), ..element(role, "Red") }, 20, "(•) Red");
        }
    }

    #[test]
    fn combo_boxes() {
        for role in ["ComboBox", "DropDownButton", "PopUpButton"] {
            let combo = Element { value: Some("A4".into()), ..element(role, "Size") };
            check_row(combo.clone(), 20, "▶ Size [A4]");
            check_row(Element { expanded: Some(true), ..combo.clone() }, 20, "▼ Size [A4]");
            check_row(Element { name: String::new(), ..combo.clone() }, 20, "▶ [A4]");
            check_row(Element { value: None, ..combo }, 20, "▶ Size");
        }
    }

    #[test]
    fn menu_items() {
        check_row(element("MenuItem", "File"), 20, "File");
        check_row(Element { expanded: Some(true), ..element("MenuItem", "File") }, 20, "▸ File");
        check_row(Element { expanded: Some(false), ..element("MenuItem", "File") }, 20, "File");
    }

    fn at(role: &'static str, now: f64) -> Element {
        let range = Range { now: Some(now), min: Some(0.0), max: Some(100.0) };
        Element { range, ..element(role, "Volume") }
    }

    #[test]
    fn sliders() {
        check_row(at("Slider", 0.0), 13, "├●────┤ 0%");
        check_row(at("Slider", 50.0), 13, "├──●──┤ 50%");
        check_row(at("ScrollBar", 100.0), 13, "├────●┤ 100%");
        check_row(at("Slider", 100.0), 3, "├──●┤ 100%");
        check_row(at("Slider", 900.0), 3, "├──●┤ 100%");
    }

    #[test]
    fn progress_bars() {
        check_row(at("ProgressBar", 40.0), 15, "▓▓▓▓░░░░░░ 40%");
        check_row(at("ProgressBar", -5.0), 3, "░░░░ 0%");
        check_row(at("ProgressBar", 100.0), 3, "▓▓▓▓ 100%");
    }

    #[test]
    fn halves_are_rounded_to_even() {
        check_row(at("ProgressBar", 12.5), 9, "░░░░ 12%");
        check_row(at("ProgressBar", 37.5), 9, "▓▓░░ 38%");
    }

    #[test]
    fn a_bar_that_does_not_know_where_it_stands_is_a_plain_box() {
        check(&element("Slider", "Volume"), 20, 3, &["Slider", "\"Volume\""]);
        check(&at("ProgressBar", f64::NAN), 20, 3, &["ProgressBar", "\"Volume\""]);
    }

    fn check_fraction(value: &str, expected: Option<f64>) {
        assert_eq!(fraction_of_text(value), expected, "{value}");
    }

    #[test]
    fn fractions_are_read_from_values() {
        check_fraction("40%", Some(0.4));
        check_fraction(" 40 % ", Some(0.4));
        check_fraction("3 of 10", Some(0.3));
        check_fraction("3 of 0", None);
        check_fraction("0.25", Some(0.25));
        check_fraction("1", Some(1.0));
        check_fraction("25", Some(0.25));
        check_fraction("101", None);
        check_fraction("-1", None);
        check_fraction("much", None);
    }

    #[test]
    fn a_range_says_more_than_a_value() {
        let slider = Element { value: Some("90%".into()), ..at("Slider", 50.0) };
        assert_eq!(value_fraction(&slider), Some(0.5));
        let slider = Element { range: Range { min: None, ..slider.range }, ..slider };
        assert_eq!(value_fraction(&slider), Some(0.9));
    }

    #[test]
    fn under_a_glyph_row_only_the_description_and_only_with_three_rows() {
        let menu = Element { description: Some("opens a file".into()), ..element("MenuItem", "Open") };
        check(&menu, 8, 3, &["Open", "opens a", "file"]);
        check(&menu, 8, 2, &["Open"]);
    }

    #[test]
    fn role_name_and_value() {
        let edit = Element { value: Some("  one\ntwo three ".into()), ..element("Edit", "Text") };
        check(&edit, 8, 9, &["Edit", "\"Text\"", "one two", "three"]);
        check(&edit, 8, 3, &["Edit", "\"Text\"", "one two"]);
        check(&edit, 8, 1, &["Edit"]);
        check(&element("Edit", ""), 8, 9, &["Edit"]);
    }

    #[test]
    fn badges_stand_behind_the_role_where_they_fit() {
        let edit =
            Element { focused: true, enabled: false, shortcut: Some("F2".into()), ..element("Edit", "") };
        check(&edit, 12, 1, &["Edit ● ✗ ⌨F2"]);
        check(&edit, 11, 1, &["Edit"]);
        check(&edit, 3, 1, &["Edi"]);
    }

    #[test]
    fn a_long_name_keeps_its_closing_quote() {
        assert_eq!(name_line("Save", 6), "\"Save\"");
        assert_eq!(name_line("Save as", 6), "\"Sav…\"");
        assert_eq!(name_line("Save as", 3), "\"…\"");
        assert_eq!(name_line("Save as", 1), "…");
    }

    fn check_wrap(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(wrap_words(text, width, 99), expected);
    }

    #[test]
    fn words_wrap_and_only_long_ones_break() {
        check_wrap("", 5, &[]);
        check_wrap("  ", 5, &[]);
        check_wrap("one two", 7, &["one two"]);
        check_wrap("one two", 6, &["one", "two"]);
        check_wrap("one  two", 5, &["one", "two"]);
        check_wrap("a  b", 5, &["a  b"]);
        check_wrap("abcdefgh", 3, &["abc", "def", "gh"]);
        check_wrap("x abcdefgh", 4, &["x ab", "cdef", "gh"]);
        check_wrap("größer öä", 6, &["größer", "öä"]);
        check_wrap("ab", 0, &["a", "b"]);
    }

    proptest! {
        #[test]
        fn wrapping_fits_and_loses_only_gaps(text in "[ab\u{301}日 \\n\\x1b\u{a0}]{0,60}", width in 1..12usize) {
            let lines = wrap_words(&text, width, usize::MAX);
            prop_assert!(lines.iter().all(|line| !line.is_empty() && line.chars().count() <= width));
            let solid = |text: &str| text.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(solid(&lines.concat()), solid(&text));
        }
    }
}
