//! A picture made ready for reading: grey, without thin lines, larger, with its contrast stretched.

use std::ops::Range;

use super::line_removal::without_lines;
use crate::error::{Error, Result};
use crate::model::Rect;
use crate::model::image::Picture;
use crate::model::upscale::upscale_plane;

/// What is read at once; a larger picture is enlarged less.
const MOST_PIXELS: u64 = 32_000_000;
/// The share of the darkest and of the brightest pixels that may lose their differences.
const CUT_PERCENT: u64 = 2;
/// The share of all levels that may be lost with them at either end, as a divisor, where labels are read. The letters of an almost empty
/// window are few, and cutting them away with the buttons they stand on would leave nothing to read.
const CUT_LEVELS: usize = 2;

/// Grey rows from top to bottom without padding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GreyPage {
    pub width: u32,
    pub height: u32,
    pub grey: Vec<u8>,
    /// How many times larger than the picture it is.
    scale: u32,
}

impl GreyPage {
    /// `labels`: the words stand on buttons and in fields, of which few may be in the picture.
    pub fn of(picture: &Picture, upscale: u32, preprocess: bool, labels: bool) -> Result<Self> {
        if picture.is_empty() {
            return Err(Error::bad_request("the image to read is empty"));
        }
        let scale = if preprocess { fitting_scale(picture, upscale) } else { 1 };
        let mut grey = grey_of(picture);
        if preprocess && labels {
            without_lines(&mut grey, picture.width() as usize);
        }
        let mut grey = upscale_plane(picture.width(), picture.height(), grey, scale)?;
        if preprocess {
            stretch_contrast(&mut grey, labels);
        }
        Ok(Self { width: picture.width() * scale, height: picture.height() * scale, grey, scale })
    }

    pub const fn scale(&self) -> u32 {
        self.scale
    }

    pub fn row(&self, row: u32) -> &[u8] {
        let width = self.width as usize;
        self.grey.get(row as usize * width..(row as usize + 1) * width).unwrap_or_default()
    }

    /// Some rows as a page of their own.
    pub fn sub_page(&self, rows: Range<u32>) -> GreyPage {
        let width = self.width as usize;
        let grey = self.grey.get(rows.start as usize * width..rows.end as usize * width).unwrap_or_default();
        GreyPage { height: rows.end - rows.start, grey: grey.to_vec(), ..*self }
    }

    /// A box of the page in pixels of the picture; every pixel that it touches belongs to it.
    pub fn in_picture(&self, area: Rect) -> Rect {
        let scale = i32::try_from(self.scale).unwrap_or(1).max(1);
        let (x, y) = (area.x.div_euclid(scale), area.y.div_euclid(scale));
        let up = |end: i32| end.saturating_add(scale - 1).div_euclid(scale);
        Rect::new(x, y, up(area.right()) - x, up(area.bottom()) - y)
    }

    /// The simplest format that tesseract reads.
    pub fn to_pgm(&self) -> Vec<u8> {
        let mut file = format!("P5\n{} {}\n255\n", self.width, self.height).into_bytes();
        file.extend_from_slice(&self.grey);
        file
    }
}

fn fitting_scale(picture: &Picture, wanted: u32) -> u32 {
    let pixels = u64::from(picture.width()) * u64::from(picture.height());
    (1..=wanted.max(1))
        .rev()
        .find(|scale| pixels * u64::from(*scale) * u64::from(*scale) <= MOST_PIXELS)
        .unwrap_or(1)
}

fn grey_of(picture: &Picture) -> Vec<u8> {
    let brightness = |red: u8, green: u8, blue: u8| {
        (u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114 + 500) / 1000
    };
    picture
        .rgba()
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&[red, green, blue, _]| brightness(red, green, blue) as u8)
        .collect()
}

/// Makes the darkest that matters black and the brightest white; where a few letters matter, not much more than them.
fn stretch_contrast(grey: &mut [u8], labels: bool) {
    let mut counts = [0u64; 256];
    for &value in grey.iter() {
        counts[usize::from(value)] += 1;
    }
    let cut = grey.len() as u64 * CUT_PERCENT / 100;
    let (darkest, brightest) = (level_after(counts.iter(), 0), 255 - level_after(counts.iter().rev(), 0));
    let most = if labels { brightest.saturating_sub(darkest) / CUT_LEVELS } else { usize::MAX / 2 };
    let dark = level_after(counts.iter(), cut).min(darkest + most);
    let bright = (255 - level_after(counts.iter().rev(), cut)).max(brightest.saturating_sub(most));
    if bright <= dark {
        return;
    }
    let span = (bright - dark) as u32;
    for value in grey {
        let above = u32::from(*value).saturating_sub(dark as u32).min(span);
        *value = ((above * 255 + span / 2) / span) as u8;
    }
}

/// How many levels hold no more than `cut` pixels together.
fn level_after<'a>(counts: impl Iterator<Item = &'a u64>, cut: u64) -> usize {
    let mut seen = 0;
    counts
        .take_while(|count| {
            seen += **count;
            seen <= cut
        })
        .count()
        .min(255)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32) -> Picture {
        let bytes = (0..width * height).flat_map(|at| [100 + (at % 50) as u8; 3].into_iter().chain([255]));
        Picture::from_rgba(width, height, bytes.collect()).unwrap()
    }

    #[test]
    fn a_page_is_larger_and_of_full_contrast() {
        let page = GreyPage::of(&picture(40, 30), 2, true, false).unwrap();
        assert_eq!((page.width, page.height, page.grey.len()), (80, 60, 4800));
        assert!(page.grey.contains(&0) && page.grey.contains(&255));
    }

    #[test]
    fn a_page_that_is_not_prepared_is_only_grey() {
        let page = GreyPage::of(&picture(40, 30), 2, false, false).unwrap();
        assert_eq!((page.width, page.height, page.grey[0], page.grey[49]), (40, 30, 100, 149));
    }

    #[test]
    fn one_colour_stays_as_it_is() {
        let mut grey = vec![77; 100];
        stretch_contrast(&mut grey, true);
        assert_eq!(grey, vec![77; 100]);
    }

    fn stretched(levels: &[(u8, usize)], labels: bool) -> Vec<u8> {
        let mut grey: Vec<u8> =
            levels.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count)).collect();
        stretch_contrast(&mut grey, labels);
        grey.dedup();
        grey
    }

    #[test]
    fn few_dark_pixels_are_black_all_the_same() {
        assert_eq!(
            stretched(&[(90, 1), (200, 199)], false),
            [90, 200],
            "one level is left when the darkest are cut away"
        );
        assert_eq!(stretched(&[(60, 1), (100, 50), (200, 149)], false), [0, 255]);
    }

    #[test]
    fn few_letters_stay_apart_from_what_they_stand_on() {
        assert_eq!(stretched(&[(20, 1), (200, 19), (240, 180)], true), [0, 162, 255]);
        assert_eq!(stretched(&[(20, 1), (200, 19), (240, 180)], false), [0, 255]);
        assert_eq!(stretched(&[(60, 1), (70, 50), (200, 149)], true), [0, 255]);
    }

    #[test]
    fn a_huge_picture_is_enlarged_less() {
        assert_eq!(fitting_scale(&picture(400, 300), 8), 8);
        assert_eq!(fitting_scale(&Picture::new(4000, 3000, [0; 4]).unwrap(), 2), 1);
    }

    #[test]
    fn boxes_come_back_without_losing_a_pixel() {
        let page = GreyPage { width: 20, height: 20, grey: Vec::new(), scale: 2 };
        assert_eq!(page.in_picture(Rect::new(3, 4, 5, 6)), Rect::new(1, 2, 3, 3));
        assert_eq!(page.in_picture(Rect::new(4, 4, 2, 2)), Rect::new(2, 2, 1, 1));
    }

    #[test]
    fn nothing_cannot_be_read() {
        assert!(GreyPage::of(&picture(4, 4).crop(Rect::default()), 2, true, false).is_err());
    }
}
