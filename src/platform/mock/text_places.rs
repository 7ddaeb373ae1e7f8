//! Where parts of a text are drawn on the mock desktop, as an application with a text interface tells it.

use std::ops::Range;

use super::render::lines_of_text;
use crate::model::draw::{LETTER_WIDTH, LINE_HEIGHT};
use crate::model::{Element, Rect};

/// The places of these characters of an element's text, one for each line that they stand in. Nothing for an element
/// that shows its text otherwise than in lines of plain letters.
pub fn text_places(element: &Element, text: &str, characters: &[Range<usize>]) -> Option<Vec<Rect>> {
    if !text.bytes().all(|byte| byte == b'\n' || (byte.is_ascii() && !byte.is_ascii_control())) {
        return None;
    }
    let lines = lines_of_text(element)?;
    let mut places = Vec::new();
    let mut from = 0;
    for (line, corner) in lines {
        // Lines follow each other in the text, with no more than their ends between them.
        let start = from + text.get(from..)?.find(line)?;
        from = start + line.len();
        let inside = characters.iter().map(|range| range.start.max(start)..range.end.min(from));
        places.extend(inside.filter(|range| range.start < range.end).map(|range| {
            let width = |letters: usize| i32::try_from(letters).unwrap_or(0).saturating_mul(LETTER_WIDTH);
            Rect::new(corner.x + width(range.start - start), corner.y, width(range.len()), LINE_HEIGHT)
        }));
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_its_place_in_its_line() {
        let text = "card 1234 is\nyours";
        let mut sheet = Element::new("Document", "Letter", Rect::new(100, 50, 400, 200));
        sheet.value = Some(text.to_owned());
        let places = text_places(&sheet, text, &[5..9, 13..18]).unwrap();
        let [first, second] = places[..] else { panic!("{places:?}") };
        assert_eq!((first.width, second.width), (4 * LETTER_WIDTH, 5 * LETTER_WIDTH));
        assert_eq!((first.x - second.x, second.y - first.y), (5 * LETTER_WIDTH, LINE_HEIGHT));
        assert!(sheet.bounds.encloses(&first) && sheet.bounds.encloses(&second));
        assert_eq!(text_places(&sheet, "é", std::slice::from_ref(&(0..1))), None);
        let button = Element::new("Button", "card 1234", Rect::new(0, 0, 90, 20));
        assert_eq!(text_places(&button, "card 1234", std::slice::from_ref(&(5..9))), None);
    }
}
