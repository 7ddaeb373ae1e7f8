//! Draws numbered boxes on a picture. Where a number goes is chosen so that it hides as little as possible, and
//! another number last of all.

use crate::model::draw::{Canvas, Font, WHITE};
use crate::model::image::{Picture, Rgba};
use crate::model::{Point, Rect};

/// White letters can be read on all of them; neighbours in number differ in colour.
const COLORS: &[Rgba] = &[
    [200, 30, 45, 255],
    [25, 90, 200, 255],
    [20, 120, 60, 255],
    [140, 50, 170, 255],
    [165, 80, 0, 255],
    [0, 110, 120, 255],
];
const FONT: Font = Font::SMALL;
const PADDING: i32 = 2;
/// One pixel around a badge and around the line of a box, which shows on dark ground.
const RIM: i32 = 1;
const LINE: i32 = 2;

/// What hiding a pixel of something costs.
const OF_A_NUMBER: i64 = 1_000;
/// Where colours change there is something to see.
const OF_INK: i64 = 12;
const OF_ANOTHER_BOX: i64 = 2;
const OF_ITS_OWN_BOX: i64 = 1;
/// Not touching its box at its left upper corner costs a little, so that all is alike where all is free.
const OF_A_LATER_PLACE: i64 = 2;

/// Draws a box for each area, in pixels of the picture, and its number beside or in it. The first is number 1.
pub fn draw_boxes(picture: &mut Picture, boxes: &[Rect]) {
    let places = place_badges(picture, boxes);
    let mut canvas = Canvas::new(picture);
    for (number, area) in boxes.iter().enumerate() {
        let outer = Rect::new(area.x - RIM, area.y - RIM, area.width + 2 * RIM, area.height + 2 * RIM);
        canvas.frame(outer, RIM, WHITE);
        canvas.frame(*area, LINE, badge_color(number));
    }
    // Numbers lie over all boxes.
    for (number, place) in places.iter().enumerate() {
        canvas.fill(*place, WHITE);
        let inner = Rect::new(place.x + RIM, place.y + RIM, place.width - 2 * RIM, place.height - 2 * RIM);
        canvas.fill(inner, badge_color(number));
        let start = Point { x: inner.x + PADDING, y: inner.y + PADDING };
        canvas.label(start, &(number + 1).to_string(), FONT, WHITE);
    }
}

fn badge_color(number: usize) -> Rgba {
    COLORS[number % COLORS.len()]
}

fn badge_size(number: usize) -> (i32, i32) {
    let (width, height) = FONT.size_of(&(number + 1).to_string());
    (width + 2 * (PADDING + RIM), height + 2 * (PADDING + RIM))
}

fn place_badges(picture: &Picture, boxes: &[Rect]) -> Vec<Rect> {
    let mut placed: Vec<Rect> = Vec::with_capacity(boxes.len());
    for (number, area) in boxes.iter().enumerate() {
        let (width, height) = badge_size(number);
        let choices = badge_positions(*area, width, height);
        let choices = choices.into_iter().map(|choice| pushed_inside(choice, picture.area()));
        let cost = |(turn, choice): &(i64, Rect)| {
            let others = boxes.iter().enumerate().filter(|(other, _)| *other != number);
            // A box that holds this one is hidden by every choice alike.
            let others = others
                .filter(|(_, other)| !other.encloses(area))
                .map(|(_, other)| shared_pixels(choice, other));
            OF_A_NUMBER * placed.iter().map(|other| shared_pixels(choice, other)).sum::<i64>()
                + OF_INK * color_changes(picture, *choice)
                + OF_ANOTHER_BOX * others.sum::<i64>()
                + OF_ITS_OWN_BOX * shared_pixels(choice, area)
                + OF_A_LATER_PLACE * turn * i64::from(width)
        };
        let best = (0i64..).zip(choices).min_by_key(cost);
        placed.extend(best.map(|(_, choice)| choice));
    }
    placed
}

/// How often the colour changes along the rows of an area: letters do that, empty ground does not.
fn color_changes(picture: &Picture, area: Rect) -> i64 {
    let changes = |y: i32| {
        let differs = |x: &i32| picture.pixel(*x, y) != picture.pixel(x + 1, y);
        (area.x..area.right() - 1).filter(differs).count()
    };
    (area.y..area.bottom()).map(changes).sum::<usize>() as i64
}

/// Around the box, then in its corners.
fn badge_positions(area: Rect, width: i32, height: i32) -> [Rect; 10] {
    let (left, top) = (area.x - RIM, area.y - RIM);
    let (right, bottom) = (area.right() + RIM, area.bottom() + RIM);
    let middle = area.center().y - height / 2;
    [
        (left, top - height),
        (left - width, top),
        (right, top),
        (right - width, top - height),
        (left - width, middle),
        (right, middle),
        (left, bottom),
        (left, top),
        (right - width, top),
        (right - width, bottom - height),
    ]
    .map(|(x, y)| Rect::new(x, y, width, height))
}

fn pushed_inside(area: Rect, whole: Rect) -> Rect {
    let push = |at: i32, length: i32, most: i32| at.min(most - length).max(0);
    Rect { x: push(area.x, area.width, whole.width), y: push(area.y, area.height, whole.height), ..area }
}

/// The pixels that both have.
fn shared_pixels(one: &Rect, other: &Rect) -> i64 {
    one.intersection(other).map_or(0, |common| i64::from(common.width) * i64::from(common.height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SCREEN: Rect = Rect::new(0, 0, 400, 300);

    fn placed(boxes: &[Rect]) -> Vec<Rect> {
        place_badges(&Picture::new(400, 300, WHITE).unwrap(), boxes)
    }

    fn overlaps(places: &[Rect]) -> usize {
        let pairs = (0..places.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
        pairs.filter(|&(one, other)| places[one].intersects(&places[other])).count()
    }

    #[test]
    fn a_lone_number_stands_above_its_box() {
        let area = Rect::new(100, 100, 80, 24);
        let places = placed(&[area]);
        assert_eq!((places[0].x, places[0].bottom()), (99, 99));
    }

    #[test]
    fn at_the_edge_it_is_pushed_into_the_picture() {
        for area in [Rect::new(0, 0, 400, 300), Rect::new(390, 0, 10, 10), Rect::new(0, 295, 5, 5)] {
            let places = placed(&[area]);
            assert!(SCREEN.encloses(&places[0]), "{area:?} {places:?}");
        }
    }

    #[test]
    fn a_row_of_small_buttons_keeps_its_numbers_apart() {
        let boxes: Vec<Rect> = (0..12).map(|at| Rect::new(20 + 24 * at, 40, 22, 22)).collect();
        assert_eq!(overlaps(&placed(&boxes)), 0);
    }

    #[test]
    fn a_menu_of_lines_keeps_its_numbers_apart_and_its_names_free() {
        let boxes: Vec<Rect> = (0..12).map(|at| Rect::new(60, 20 + 20 * at, 150, 20)).collect();
        let places = placed(&boxes);
        assert_eq!(overlaps(&places), 0);
        assert!(places.iter().all(|place| boxes.iter().all(|area| !place.intersects(area))), "{places:?}");
    }

    #[test]
    fn a_text_above_the_box_is_left_free() {
        let mut picture = Picture::new(400, 300, WHITE).unwrap();
        let text = Point { x: 99, y: 84 };
        Canvas::new(&mut picture).label(text, "1234567", FONT, [0, 0, 0, 255]);
        let area = Rect::new(100, 100, 80, 24);
        let place = place_badges(&picture, &[area])[0];
        assert!(!place.intersects(&Rect::new(99, 84, 60, 14)), "{place:?}");
    }

    proptest! {
        #[test]
        fn every_number_is_in_the_picture(
            boxes in prop::collection::vec((-20..400i32, -20..300i32, 1..200i32, 1..100i32), 0..30),
        ) {
            let boxes: Vec<Rect> = boxes.into_iter().map(|(x, y, w, h)| Rect::new(x, y, w, h)).collect();
            let places = placed(&boxes);
            prop_assert_eq!(places.len(), boxes.len());
            prop_assert!(places.iter().all(|place| SCREEN.encloses(place)));
        }
    }
}
