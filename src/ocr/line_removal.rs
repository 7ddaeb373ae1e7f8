//! The thin lines around buttons, fields and tables, taken out before a picture is read: an engine takes a box with a word
//! in it for a drawing and leaves the word out.
//!
//! A line is long one way and thin the other. Letters are neither: their strokes are shorter than the shortest line here,
//! or thicker than the thickest.

/// A horizontal stroke of this length is no part of a letter; a vertical one may be shorter, as buttons are.
const LONG_ACROSS: u16 = 32;
const LONG_DOWN: u16 = 20;
const THIN: u16 = 3;
/// Neighbours that differ by no more belong together: buttons are shaded.
const ALIKE: u8 = 8;
/// How far the ground beside a line is looked for; a frame is often drawn of several lines.
const REACH: isize = 7;

/// `grey` has rows of `width` pixels. Each line takes the colour of the ground beside it.
pub fn without_lines(grey: &mut [u8], width: usize) {
    if width == 0 {
        return;
    }
    let lines = find_lines(grey, width);
    let height = grey.len() / width;
    let painted: Vec<(usize, u8)> = (0..width * height)
        .filter(|at| lines[*at] != LineDirection::No)
        .filter_map(|at| {
            let is_ground = |beside: &usize| lines[*beside] == LineDirection::No;
            let place = (at % width, at / width);
            nearest_ground(place, (width, height), lines[at], is_ground).map(|beside| (at, grey[beside]))
        })
        .collect();
    for (at, colour) in painted {
        grey[at] = colour;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineDirection {
    No,
    Lies,
    Stands,
}

/// Which pixels belong to a line. A long stroke is one if nearly all of it is thin: of the ground above a row of
/// letters only some is.
fn find_lines(grey: &[u8], width: usize) -> Vec<LineDirection> {
    let across = runs_across(grey, width);
    let down = runs_down(grey, width);
    let mut lines = vec![LineDirection::No; grey.len()];
    let mut mark = |first: usize, length: u16, step: usize, thickness: &[u16], line: LineDirection| {
        let stroke = || (0..usize::from(length)).map(|number| first + number * step);
        let thin = stroke().filter(|at| thickness[*at] <= THIN).count();
        if thin * 10 >= usize::from(length) * 9 {
            stroke().for_each(|at| lines[at] = line);
        }
    };
    for at in 0..grey.len() {
        let begins_across = at % width == 0 || !are_similar(grey[at], grey[at - 1]);
        if across[at] >= LONG_ACROSS && begins_across {
            mark(at, across[at], 1, &down, LineDirection::Lies);
        }
        let begins_down = at < width || !are_similar(grey[at], grey[at - width]);
        if down[at] >= LONG_DOWN && begins_down {
            mark(at, down[at], width, &across, LineDirection::Stands);
        }
    }
    lines
}

/// The nearest pixel beside a line that is none of one; at a corner, where lines are on both sides, one across it.
fn nearest_ground(
    (x, y): (usize, usize),
    (width, height): (usize, usize),
    line: LineDirection,
    is_ground: impl Fn(&usize) -> bool,
) -> Option<usize> {
    let beside: [(isize, isize); 2] =
        if line == LineDirection::Lies { [(0, 1), (0, -1)] } else { [(1, 0), (-1, 0)] };
    let across = [(1, 1), (-1, 1), (1, -1), (-1, -1)];
    let look = |ways: &[(isize, isize)]| {
        (1..=REACH).find_map(|far| {
            let at = |(right, down): &(isize, isize)| {
                let x = x.checked_add_signed(right * far).filter(|x| *x < width)?;
                let y = y.checked_add_signed(down * far).filter(|y| *y < height)?;
                Some(y * width + x)
            };
            ways.iter().filter_map(at).find(&is_ground)
        })
    };
    look(&beside).or_else(|| look(&across))
}

const fn are_similar(one: u8, other: u8) -> bool {
    one.abs_diff(other) <= ALIKE
}

/// How many alike pixels stand side by side with each, itself included.
fn runs_across(grey: &[u8], width: usize) -> Vec<u16> {
    let mut lengths = Vec::with_capacity(grey.len());
    for row in grey.chunks(width) {
        for run in row.chunk_by(|one, next| are_similar(*one, *next)) {
            let length = u16::try_from(run.len()).unwrap_or(u16::MAX);
            lengths.extend(std::iter::repeat_n(length, run.len()));
        }
    }
    lengths
}

/// The same, one above the other: counted row by row on the way down, and told back on the way up.
fn runs_down(grey: &[u8], width: usize) -> Vec<u16> {
    let mut lengths = vec![1_u16; grey.len()];
    for at in width..grey.len() {
        if are_similar(grey[at], grey[at - width]) {
            lengths[at] = lengths[at - width].saturating_add(1);
        }
    }
    for at in (0..grey.len().saturating_sub(width)).rev() {
        if are_similar(grey[at], grey[at + width]) {
            lengths[at] = lengths[at + width];
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of 60 by 40 with these dark boxes: x, y, width, height.
    fn page(boxes: &[[usize; 4]]) -> Vec<u8> {
        let mut grey = vec![230; 60 * 40];
        for [x, y, width, height] in boxes {
            for at in (*y..y + height).flat_map(|row| (*x..x + width).map(move |column| row * 60 + column)) {
                grey[at] = 20;
            }
        }
        grey
    }

    /// How many dark pixels are left.
    #[track_caller]
    fn check(boxes: &[[usize; 4]], expected: usize) {
        let mut grey = page(boxes);
        without_lines(&mut grey, 60);
        let dark = grey.iter().filter(|value| **value < 100).count();
        assert_eq!(dark, expected, "{boxes:?}");
    }

    #[test]
    fn lines_go() {
        check(&[[5, 5, 40, 1]], 0);
        check(&[[5, 5, 40, 3]], 0);
        check(&[[5, 5, 1, 25]], 0);
        check(&[[5, 5, 2, 25]], 0);
        check(&[[0, 0, 60, 1], [0, 39, 60, 1], [0, 0, 1, 40], [59, 0, 1, 40]], 0);
    }

    #[test]
    fn letters_and_grounds_stay() {
        check(&[[5, 5, 20, 2]], 40);
        check(&[[5, 5, 2, 15]], 30);
        check(&[[5, 5, 40, 20]], 800);
        check(&[[0, 0, 60, 40]], 2400);
    }

    #[test]
    fn a_frame_goes_and_what_it_holds_stays() {
        let frame = [[5, 5, 50, 1], [5, 29, 50, 1], [5, 5, 1, 25], [54, 5, 1, 25]];
        let letter = [20, 12, 2, 9];
        check(&[&frame[..], &[letter]].concat(), 18);
    }

    #[test]
    fn the_ground_above_letters_stays() {
        let line = [0, 5, 60, 1];
        let letters = [[4, 8, 2, 10], [10, 8, 12, 2], [30, 8, 2, 10], [44, 8, 2, 10]];
        check(&[&[line][..], &letters].concat(), 20 + 24 + 20 + 20);
    }

    #[test]
    fn any_size_is_taken() {
        for (count, width) in [(0, 0), (0, 5), (1, 1), (7, 7), (9, 3), (10, 3)] {
            without_lines(&mut vec![9; count], width);
        }
    }
}
