//! What differs between two pictures of one size: how many pixels, and where.
//!
//! Pictures are compared tile by tile. Tiles that are the same byte for byte cost no more than the reading of them,
//! and in the others whole rows are compared at once, so that a screen takes a few milliseconds.

use crate::geometry::Rect;
use crate::image::Picture;

/// The side of a tile, in pixels. Changes that are nearer than that are one change.
const TILE: usize = 16;
const BYTES: usize = 4;
const TILE_BYTES: usize = TILE * BYTES;
/// The bytes of a pixel that are compared: all but its opacity.
const COLOURS: u32 = 0x00ff_ffff;

/// The difference of two pictures of one size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PixelDifference {
    pub changed: u64,
    pub pixels: u64,
    /// What changed, as boxes that do not touch, the largest change first; in pixels of the pictures.
    pub boxes: Vec<Rect>,
}

impl PixelDifference {
    /// From 0, the same, to 1, every pixel.
    pub fn changed_ratio(&self) -> f64 {
        if self.pixels == 0 { 0.0 } else { self.changed as f64 / self.pixels as f64 }
    }
}

/// A pixel differs when one of its colours differs by more than `tolerance`. `None` when the sizes differ.
pub fn compare_pixels(left: &Picture, right: &Picture, tolerance: u8) -> Option<PixelDifference> {
    if (left.width(), left.height()) != (right.width(), right.height()) {
        return None;
    }
    let pixels = u64::from(left.width()) * u64::from(left.height());
    let tiles = Tiles::of(left, right, tolerance);
    let changed = tiles.all.iter().map(|tile| u64::from(tile.changed)).sum();
    Some(PixelDifference { changed, pixels, boxes: tiles.changed_boxes() })
}

/// What changed in a tile: how many pixels, and the box around them.
#[derive(Clone, Copy, Debug, Default)]
struct Tile {
    changed: u32,
    left: u32,
    right: u32,
    top: u32,
    bottom: u32,
}

impl Tile {
    /// Takes in a changed run of a row, from `left` to before `right`.
    fn add(&mut self, changed: u32, left: u32, right: u32, row: u32) {
        if self.changed == 0 {
            *self = Tile { changed, left, right, top: row, bottom: row + 1 };
            return;
        }
        self.changed += changed;
        self.left = self.left.min(left);
        self.right = self.right.max(right);
        self.bottom = row + 1;
    }

    fn join(&mut self, other: &Tile) {
        if self.changed == 0 {
            *self = *other;
            return;
        }
        self.changed += other.changed;
        self.left = self.left.min(other.left);
        self.right = self.right.max(other.right);
        self.top = self.top.min(other.top);
        self.bottom = self.bottom.max(other.bottom);
    }

    fn area(&self) -> Rect {
        let side = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
        Rect::new(side(self.left), side(self.top), side(self.right - self.left), side(self.bottom - self.top))
    }
}

struct Tiles {
    columns: usize,
    all: Vec<Tile>,
}

impl Tiles {
    fn of(left: &Picture, right: &Picture, tolerance: u8) -> Self {
        let width = left.width() as usize;
        let columns = width.div_ceil(TILE);
        let mut all = vec![Tile::default(); columns * (left.height() as usize).div_ceil(TILE)];
        if width == 0 {
            return Self { columns, all };
        }
        let rows = left.rgba().chunks_exact(width * BYTES).zip(right.rgba().chunks_exact(width * BYTES));
        for (row, (left, right)) in rows.enumerate() {
            if left != right {
                let tiles = &mut all[row / TILE * columns..][..columns];
                compare_row(tiles, left, right, tolerance, row as u32);
            }
        }
        Self { columns, all }
    }

    /// Tiles that touch, also by a corner, are one change.
    fn changed_boxes(&self) -> Vec<Rect> {
        let mut seen = vec![false; self.all.len()];
        let mut found: Vec<Tile> = Vec::new();
        for start in 0..self.all.len() {
            if self.all[start].changed > 0 && !seen[start] {
                found.push(self.joined(start, &mut seen));
            }
        }
        join_overlapping(&mut found);
        found.sort_by_key(|tile| std::cmp::Reverse(tile.changed));
        found.iter().map(Tile::area).collect()
    }

    fn joined(&self, start: usize, seen: &mut [bool]) -> Tile {
        let mut whole = Tile::default();
        let mut waiting = vec![start];
        seen[start] = true;
        while let Some(at) = waiting.pop() {
            whole.join(&self.all[at]);
            for next in self.around(at) {
                if self.all[next].changed > 0 && !seen[next] {
                    seen[next] = true;
                    waiting.push(next);
                }
            }
        }
        whole
    }

    fn around(&self, at: usize) -> impl Iterator<Item = usize> {
        let (row, column, columns) = (at / self.columns, at % self.columns, self.columns);
        let rows = self.all.len() / columns;
        let near = |at: usize, most: usize| at.saturating_sub(1)..=(at + 1).min(most - 1);
        near(row, rows).flat_map(move |row| near(column, columns).map(move |column| row * columns + column))
    }
}

/// The box of a change that lies around another one takes it in.
fn join_overlapping(tiles: &mut Vec<Tile>) {
    let mut at = 0;
    while at < tiles.len() {
        let area = tiles[at].area();
        let other = (0..tiles.len()).find(|&other| other != at && tiles[other].area().intersects(&area));
        match other {
            Some(other) => {
                let taken = tiles.swap_remove(at.max(other));
                tiles[at.min(other)].join(&taken);
                at = 0;
            }
            None => at += 1,
        }
    }
}

fn compare_row(tiles: &mut [Tile], left: &[u8], right: &[u8], tolerance: u8, row: u32) {
    let blocks = left.chunks(TILE_BYTES).zip(right.chunks(TILE_BYTES));
    for ((column, tile), (left, right)) in tiles.iter_mut().enumerate().zip(blocks) {
        if left == right {
            continue;
        }
        let mask = match (left.try_into(), right.try_into()) {
            (Ok(left), Ok(right)) => differing_mask(left, right, tolerance),
            _ => differing_mask(&pad_tile(left), &pad_tile(right), tolerance),
        };
        if mask != 0 {
            let start = (column * TILE) as u32;
            let (first, end) = (mask.trailing_zeros(), u32::BITS - mask.leading_zeros());
            tile.add(mask.count_ones(), start + first, start + end, row);
        }
    }
}

/// At the right edge a tile is narrower; what is not there does not differ.
fn pad_tile(bytes: &[u8]) -> [u8; TILE_BYTES] {
    let mut whole = [0; TILE_BYTES];
    whole[..bytes.len()].copy_from_slice(bytes);
    whole
}

/// A bit for each pixel of a tile's row that differs, the first one lowest. Byte by byte and without branches, so that
/// the processor takes many of them at once, whatever has changed.
fn differing_mask(left: &[u8; TILE_BYTES], right: &[u8; TILE_BYTES], tolerance: u8) -> u32 {
    let mut over = [0; TILE_BYTES];
    for (over, (left, right)) in over.iter_mut().zip(left.iter().zip(right)) {
        *over = u8::from(left.abs_diff(*right) > tolerance);
    }
    let mut mask = 0;
    for (at, pixel) in over.as_chunks::<BYTES>().0.iter().enumerate() {
        mask |= u32::from(u32::from_le_bytes(*pixel) & COLOURS != 0) << at;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GREY: [u8; 4] = [100, 100, 100, 255];

    fn changed(size: (u32, u32), areas: &[Rect]) -> PixelDifference {
        let before = Picture::new(size.0, size.1, GREY).unwrap();
        let mut after = before.clone();
        areas.iter().for_each(|area| after.fill(*area, [200, 100, 100, 255]));
        compare_pixels(&before, &after, 8).unwrap()
    }

    #[test]
    fn the_same_picture_has_no_difference() {
        let nothing = changed((100, 50), &[]);
        assert_eq!((nothing.changed, nothing.changed_ratio(), nothing.boxes.len()), (0, 0.0, 0));
        assert_eq!(changed((0, 0), &[]).changed_ratio(), 0.0);
    }

    #[test]
    fn a_change_has_its_box_and_its_share() {
        let area = Rect::new(13, 7, 40, 21);
        let difference = changed((200, 100), &[area]);
        assert_eq!(difference.boxes, [area]);
        assert_eq!(difference.changed_ratio(), 40.0 * 21.0 / 20_000.0);
    }

    #[test]
    fn changes_apart_are_two_and_near_ones_are_one() {
        let (one, far) = (Rect::new(2, 2, 4, 4), Rect::new(150, 80, 9, 9));
        assert_eq!(changed((200, 100), &[one, far]).boxes, [far, one]);
        let near = Rect::new(10, 10, 4, 4);
        assert_eq!(changed((200, 100), &[one, near]).boxes, [Rect::new(2, 2, 12, 12)]);
    }

    #[test]
    fn a_frame_takes_in_what_changed_inside_it() {
        let edges = [
            Rect::new(0, 0, 200, 2),
            Rect::new(0, 98, 200, 2),
            Rect::new(0, 0, 2, 100),
            Rect::new(198, 0, 2, 100),
        ];
        let all = [&edges[..], &[Rect::new(90, 45, 5, 5)]].concat();
        assert_eq!(changed((200, 100), &all).boxes, [Rect::new(0, 0, 200, 100)]);
    }

    #[test]
    fn small_differences_of_colour_are_tolerated_and_sizes_must_fit() {
        let before = Picture::new(9, 9, GREY).unwrap();
        let after = Picture::new(9, 9, [108, 92, 100, 0]).unwrap();
        assert_eq!(compare_pixels(&before, &after, 8).unwrap().changed, 0);
        assert_eq!(compare_pixels(&before, &after, 7).unwrap().changed, 81);
        assert_eq!(compare_pixels(&before, &Picture::new(9, 8, GREY).unwrap(), 8), None);
    }

    proptest! {
        /// Every changed pixel is in exactly one box, and every box has changed pixels on each of its sides.
        #[test]
        fn boxes_hold_what_changed(
            width in 1..90u32, height in 1..90u32,
            areas in prop::collection::vec((0..90i32, 0..90i32, 1..20i32, 1..20i32), 0..6),
        ) {
            let areas: Vec<Rect> = areas.into_iter().map(|(x, y, w, h)| Rect::new(x, y, w, h)).collect();
            let difference = changed((width, height), &areas);
            let is_changed = |x: i32, y: i32| areas.iter().any(|area| area.contains(crate::Point { x, y }));
            let mut count = 0;
            for (x, y) in (0..width as i32).flat_map(|x| (0..height as i32).map(move |y| (x, y))) {
                let holding = difference.boxes.iter().filter(|area| area.contains(crate::Point { x, y })).count();
                prop_assert!(holding <= 1);
                if is_changed(x, y) {
                    count += 1;
                    prop_assert_eq!(holding, 1);
                }
            }
            prop_assert_eq!(difference.changed, count);
            for area in &difference.boxes {
                prop_assert!((area.x..area.right()).any(|x| is_changed(x, area.y)));
                prop_assert!((area.y..area.bottom()).any(|y| is_changed(area.right() - 1, y)));
            }
        }
    }
}
