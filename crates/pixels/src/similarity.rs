//! How alike two pictures of one size are: the mean structural similarity (SSIM) of their greys.
//! <https://doi.org/10.1109/TIP.2003.819861>
//!
//! Windows of 8 by 8 pixels, each half over its neighbours, weighted alike. All sums are whole numbers, so
//! a picture is exactly 1.0 like itself and the order of the two does not matter. Opacity is not compared.

use crate::image::Picture;

/// Windows are made of four cells of this side, so that overlapping windows share their sums.
const CELL: usize = 4;

// The two constants of the measure keep flat areas from dividing by zero: (k * 255)², k as its authors chose.
const MEAN_STEADIER: f64 = (0.01 * 255.0) * (0.01 * 255.0);
const SPREAD_STEADIER: f64 = (0.03 * 255.0) * (0.03 * 255.0);

/// From -1.0 to 1.0, where 1.0 is the same; `None` when the sizes differ or there is no pixel.
pub fn ssim(left: &Picture, right: &Picture) -> Option<f64> {
    let same_size = (left.width(), left.height()) == (right.width(), right.height());
    if !same_size || left.is_empty() {
        return None;
    }
    let mut mean = Mean::default();
    let mut above: Option<Vec<Sums>> = None;
    for row in cell_rows(left, right) {
        if let Some(above) = above.replace(row.clone()) {
            mean.add_windows(above.iter().zip(&row).map(|(top, bottom)| top.add_sums(bottom)));
        } else if left.height() as usize <= CELL {
            mean.add_windows(row.into_iter());
        }
    }
    Some(mean.total / mean.count)
}

/// What a window's similarity is made of.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    pixels: i64,
    left: i64,
    right: i64,
    /// The squares of both pictures' greys.
    squares: i64,
    products: i64,
}

impl Sums {
    fn add(&mut self, left: i64, right: i64) {
        self.pixels += 1;
        self.left += left;
        self.right += right;
        self.squares += left * left + right * right;
        self.products += left * right;
    }

    fn add_sums(&self, other: &Sums) -> Sums {
        Sums {
            pixels: self.pixels + other.pixels,
            left: self.left + other.left,
            right: self.right + other.right,
            squares: self.squares + other.squares,
            products: self.products + other.products,
        }
    }

    /// The measure with numerator and denominator multiplied by the number of pixels, twice each: so
    /// nothing is divided before the end.
    fn similarity(&self) -> f64 {
        let area = (self.pixels * self.pixels) as f64;
        let mean_product = self.left * self.right;
        let mean_squares = self.left * self.left + self.right * self.right;
        let together = self.pixels * self.products - mean_product;
        let spread = self.pixels * self.squares - mean_squares;
        let alike = (2 * mean_product) as f64 + MEAN_STEADIER * area;
        let bound = mean_squares as f64 + MEAN_STEADIER * area;
        let alike_spread = (2 * together) as f64 + SPREAD_STEADIER * area;
        let bound_spread = spread as f64 + SPREAD_STEADIER * area;
        (alike * alike_spread) / (bound * bound_spread)
    }
}

#[derive(Default)]
struct Mean {
    total: f64,
    count: f64,
}

impl Mean {
    /// Joins every column of cells with the next one; a single column stands for itself.
    fn add_windows(&mut self, columns: impl Iterator<Item = Sums>) {
        let mut before: Option<Sums> = None;
        let mut alone = None;
        for column in columns {
            match before.replace(column) {
                Some(before) => {
                    self.add(before.add_sums(&column));
                    alone = None;
                }
                None => alone = Some(column),
            }
        }
        if let Some(alone) = alone {
            self.add(alone);
        }
    }

    fn add(&mut self, window: Sums) {
        self.total += window.similarity();
        self.count += 1.0;
    }
}

/// The sums of the cells, row by row from the top; cells at the right and the bottom may be smaller.
fn cell_rows<'a>(left: &'a Picture, right: &'a Picture) -> impl Iterator<Item = Vec<Sums>> + 'a {
    let width = left.width() as usize;
    let band = width * CELL * 4;
    left.rgba().chunks(band).zip(right.rgba().chunks(band)).map(move |(left, right)| {
        let mut cells = vec![Sums::default(); width.div_ceil(CELL)];
        let rows = left.chunks_exact(width * 4).zip(right.chunks_exact(width * 4));
        for (left, right) in rows {
            let blocks = left.chunks(CELL * 4).zip(right.chunks(CELL * 4));
            for (cell, (left, right)) in cells.iter_mut().zip(blocks) {
                let pixels = left.chunks_exact(4).zip(right.chunks_exact(4));
                pixels.for_each(|(left, right)| cell.add(grey(left), grey(right)));
            }
        }
        cells
    })
}

/// How bright a pixel looks.
fn grey(pixel: &[u8]) -> i64 {
    match pixel {
        [red, green, blue, ..] => {
            (77 * i64::from(*red) + 150 * i64::from(*green) + 29 * i64::from(*blue)) >> 8
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn picture(width: u32, height: u32, grey_at: impl Fn(u32, u32) -> u8) -> Picture {
        let points = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let rgba = points.flat_map(|(x, y)| [grey_at(x, y), grey_at(x, y), grey_at(x, y), 255]).collect();
        Picture::from_rgba(width, height, rgba).unwrap()
    }

    fn squares(width: u32, height: u32, shift: u32) -> Picture {
        picture(width, height, |x, y| if ((x + shift) / 16 + y / 16).is_multiple_of(2) { 230 } else { 30 })
    }

    fn check_between(left: &Picture, right: &Picture, least: f64, most: f64) {
        let ssim = ssim(left, right).unwrap();
        assert!(least <= ssim && ssim <= most, "{ssim} is not between {least} and {most}");
    }

    #[test]
    fn a_picture_is_exactly_like_itself() {
        for (width, height) in [(1, 1), (3, 9), (4, 4), (5, 4), (8, 8), (61, 47)] {
            let squares = squares(width, height, 3);
            assert_eq!(ssim(&squares, &squares), Some(1.0), "{width}x{height}");
        }
    }

    #[test]
    fn more_noise_is_less_alike() {
        let noisy = |strength: u32| {
            picture(64, 64, move |x, y| {
                let base = if (x / 16 + y / 16).is_multiple_of(2) { 200 } else { 50 };
                (base + (x * 7 + y * 13) % 17 * strength / 16) as u8
            })
        };
        let alike = [1, 4, 16, 48].map(|strength| ssim(&noisy(0), &noisy(strength)).unwrap());
        assert!(alike.windows(2).all(|pair| pair[1] < pair[0]), "{alike:?}");
    }

    #[test]
    fn moved_and_reversed_pictures_differ() {
        check_between(&squares(64, 64, 0), &squares(64, 64, 5), -1.0, 0.9);
        check_between(&squares(64, 64, 0), &squares(64, 64, 16), -1.0, 0.1);
    }

    /// The measure's own formula for one window: means 100 and 110, no spread.
    #[test]
    fn two_flat_greys_differ_by_their_means_alone() {
        let ssim = ssim(&picture(8, 8, |_, _| 100), &picture(8, 8, |_, _| 110)).unwrap();
        let expected = (2.0 * 100.0 * 110.0 + 6.5025) / (100.0 * 100.0 + 110.0 * 110.0 + 6.5025);
        assert!((ssim - expected).abs() < 1e-12, "{ssim} {expected}");
    }

    #[test]
    fn other_sizes_cannot_be_compared() {
        assert_eq!(ssim(&squares(8, 8, 0), &squares(8, 9, 0)), None);
        let nothing = Picture::from_rgba(0, 0, Vec::new()).unwrap();
        assert_eq!(ssim(&nothing, &nothing), None);
    }

    fn any_pair() -> impl Strategy<Value = (Picture, Picture)> {
        (1..30_u32, 1..30_u32).prop_flat_map(|(width, height)| {
            let bytes = (width * height * 4) as usize;
            let one = prop::collection::vec(any::<u8>(), bytes)
                .prop_map(move |rgba| Picture::from_rgba(width, height, rgba).unwrap());
            (one.clone(), one)
        })
    }

    proptest! {
        #[test]
        fn likeness_is_mutual_and_at_most_one((left, right) in any_pair()) {
            let there = ssim(&left, &right).unwrap();
            prop_assert_eq!(there, ssim(&right, &left).unwrap());
            prop_assert!((-1.0..=1.0).contains(&there), "{}", there);
            prop_assert_eq!(ssim(&left, &left), Some(1.0));
        }
    }
}
