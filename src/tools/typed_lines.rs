//! A text that may press something before its end: what came up by then is judged before the rest is typed. A line break
//! answers a dialog, and the next one whatever dialog came after it, which nobody could see when the call was judged.

use crate::error::{Error, Kind, Result};
use crate::model::Role;
use crate::observer::View;
use crate::observer::enter::passes_enter_on;
use crate::tool::{Cx, ElementTarget, Permit, Target};

/// The text in the pieces that are typed between two judgements.
pub fn pieces_to_judge<'t>(cx: &Cx, permit: &Permit, text: &'t str) -> Vec<&'t str> {
    let focus = permit.target().and_then(Target::element);
    match focus.filter(|_| cx.judged && !permit.dry_run()) {
        Some(focus) => apart_from_breaks(
            pieces(text, pressing_characters(&focus.view, focus.node)),
            &focus.view,
            focus.node,
        ),
        None => vec![text],
    }
}

/// What is left of the text, held to the rules as the desktop is now. Whether the field has taken the line break as text, so
/// that it takes the others too.
pub fn judge_rest(
    cx: &Cx,
    permit: &Permit,
    targets: impl FnOnce(&Cx) -> Result<Vec<Target>>,
    typed: usize,
) -> Result<bool> {
    cx.observer().show_what_came(cx.cancel)?;
    cx.forget_desktop();
    let reached = targets(cx)?;
    permit.holds_for(&reached).map_err(|error| {
        let message = format!("{}; {typed} characters were typed", error.message);
        Error { message, ..error }.with("typed_characters", typed)
    })?;
    let focus = |targets: &[Target]| targets.first().and_then(Target::element).cloned();
    Ok(focus(permit.targets()).zip(focus(&reached)).is_some_and(|(before, now)| took_line(&before, &now)))
}

fn took_line(before: &ElementTarget, now: &ElementTarget) -> bool {
    let native = |it: &ElementTarget| it.view.native_handle(it.node);
    let lines = |it: &ElementTarget| {
        let value = it.view.unredacted(it.node).value.as_ref();
        value.map_or(0, |text| text.matches('\n').count())
    };
    native(before).is_some() && native(before) == native(now) && lines(now) > lines(before)
}

/// What is appended is typed, and all of it in one go.
pub fn refuse_lines_to_append(cx: &Cx, field: &ElementTarget, text: &str, append: bool) -> Result<()> {
    let ends = pressing_characters(&field.view, field.node);
    if !append || !cx.judged || pieces(text, ends).len() == 1 {
        return Ok(());
    }
    let message = "what the line breaks of this text press has not been judged; nothing was typed. type_text judges each line";
    Err(Error::new(Kind::PatternUnsupported, message))
}

/// The characters that press something with the focus there, and bring up what is not known yet. A text of many lines and
/// a terminal take all of them.
fn pressing_characters(view: &View, focus: usize) -> &'static [char] {
    let element = view.unredacted(focus);
    match element.role {
        Role::Terminal => &[],
        Role::Document if element.editable => &[],
        _ if element.editable || element.is_secret() || element.role.keeps_typed_text() => &['\n', '\r'],
        _ => &['\n', '\r', ' '],
    }
}

/// Where a line break may take what the text before it has brought up, as under a search field, it is a piece by itself.
fn apart_from_breaks<'t>(pieces: Vec<&'t str>, view: &View, focus: usize) -> Vec<&'t str> {
    if !passes_enter_on(view, focus) {
        return pieces;
    }
    let mut apart = Vec::new();
    for piece in pieces {
        match piece.split_at(piece.trim_end_matches(['\n', '\r']).len()) {
            ("", _) | (_, "") => apart.push(piece),
            (text, line_break) => apart.extend([text, line_break]),
        }
    }
    apart
}

fn pieces<'t>(text: &'t str, ends: &[char]) -> Vec<&'t str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(ends) {
        // A carriage return and a line feed are one line break.
        let end = if rest[at..].starts_with("\r\n") { at + 2 } else { at + 1 };
        let (piece, behind) = rest.split_at(end);
        pieces.push(piece);
        rest = behind;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_ends_with_what_may_press() {
        let lines: &[char] = &['\n', '\r'];
        for (text, ends, expected) in [
            ("a b\nc\n", lines, vec!["a b\n", "c\n"]),
            ("\n\n", lines, vec!["\n", "\n"]),
            ("a\r\nb\r", lines, vec!["a\r\n", "b\r"]),
            ("a b\n", &[], vec!["a b\n"]),
            ("", lines, vec![""]),
        ] {
            assert_eq!(pieces(text, ends), expected, "{text:?}");
        }
    }
}
