//! A picture made ready for reading: grey, larger, with its contrast stretched.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::model::Rect;
use crate::model::enlarging::enlarged;
use crate::model::image::Picture;

/// What is read at once; a larger picture is enlarged less.
const MOST_PIXELS: u64 = 32_000_000;
/// The share of the darkest and of the brightest pixels that may lose their differences.
const CUT_PERCENT: u64 = 2;

/// Grey rows from top to bottom without padding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Page {
    pub width: u32,
    pub height: u32,
    pub grey: Vec<u8>,
    /// How many times larger than the picture it is.
    scale: u32,
}

impl Page {
    pub fn of(picture: &Picture, upscale: u32, preprocess: bool) -> Result<Self> {
        if picture.is_empty() {
            return Err(Error::bad_request("the picture to read is empty"));
        }
        let scale = if preprocess { fitting_scale(picture, upscale) } else { 1 };
        let mut grey = enlarged(picture.width(), picture.height(), grey_of(picture), scale)?;
        if preprocess {
            stretch_contrast(&mut grey);
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
    pub fn rows(&self, rows: Range<u32>) -> Page {
        let width = self.width as usize;
        let grey = self.grey.get(rows.start as usize * width..rows.end as usize * width).unwrap_or_default();
        Page { height: rows.end - rows.start, grey: grey.to_vec(), ..*self }
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

/// Makes the darkest that matters black and the brightest white.
fn stretch_contrast(grey: &mut [u8]) {
    let mut counts = [0u64; 256];
    for &value in grey.iter() {
        counts[usize::from(value)] += 1;
    }
    let cut = grey.len() as u64 * CUT_PERCENT / 100;
    let dark = level_after(counts.iter(), cut);
    let bright = 255 - level_after(counts.iter().rev(), cut);
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
        let page = Page::of(&picture(40, 30), 2, true).unwrap();
        assert_eq!((page.width, page.height, page.grey.len()), (80, 60, 4800));
        assert!(page.grey.contains(&0) && page.grey.contains(&255));
    }

    #[test]
    fn a_page_that_is_not_prepared_is_only_grey() {
        let page = Page::of(&picture(40, 30), 2, false).unwrap();
        assert_eq!((page.width, page.height, page.grey[0], page.grey[49]), (40, 30, 100, 149));
    }

    #[test]
    fn one_colour_stays_as_it_is() {
        let mut grey = vec![77; 100];
        stretch_contrast(&mut grey);
        assert_eq!(grey, vec![77; 100]);
    }

    #[test]
    fn few_dark_pixels_are_black_all_the_same() {
        let mut grey = [vec![90; 1], vec![200; 199]].concat();
        stretch_contrast(&mut grey);
        assert_eq!((grey[0], grey[1]), (90, 200), "one level is left when the darkest are cut away");
        let mut grey = [vec![60; 1], vec![100; 50], vec![200; 149]].concat();
        stretch_contrast(&mut grey);
        assert_eq!((grey[0], grey[1], grey[199]), (0, 0, 255));
    }

    #[test]
    fn a_huge_picture_is_enlarged_less() {
        assert_eq!(fitting_scale(&picture(400, 300), 8), 8);
        assert_eq!(fitting_scale(&Picture::new(4000, 3000, [0; 4]).unwrap(), 2), 1);
    }

    #[test]
    fn boxes_come_back_without_losing_a_pixel() {
        let page = Page { width: 20, height: 20, grey: Vec::new(), scale: 2 };
        assert_eq!(page.in_picture(Rect::new(3, 4, 5, 6)), Rect::new(1, 2, 3, 3));
        assert_eq!(page.in_picture(Rect::new(4, 4, 2, 2)), Rect::new(2, 2, 1, 1));
    }

    #[test]
    fn nothing_cannot_be_read() {
        assert!(Page::of(&picture(4, 4).crop(Rect::default()), 2, true).is_err());
    }
}
