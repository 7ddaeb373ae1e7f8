//! From the rows that macOS hands out to a picture of one pixel a point.

use crate::error::{Error, Result};
use crate::model::Rect;
use crate::model::image::Picture;
use crate::platform::Shot;

/// Rows of blue, green, red and opacity, each row perhaps longer than the picture is wide.
#[derive(Clone, Copy, Debug)]
pub struct RawPicture<'a> {
    pub bytes: &'a [u8],
    pub width: usize,
    pub height: usize,
    pub bytes_per_row: usize,
    pub bits_per_pixel: usize,
}

/// A picture that is finer than points is made coarser; one that then does not fit its area is refused, because no place
/// in it would be true.
pub fn shot(raw: &RawPicture<'_>, area: Rect) -> Result<Shot> {
    let picture = picture(raw)?;
    let wide = u32::try_from(area.width).unwrap_or(0);
    let picture = if picture.width() > wide { picture.shrink_to(wide.max(1)) } else { picture };
    if picture.area() != (Rect { x: 0, y: 0, ..area }) {
        let (width, height) = (picture.width(), picture.height());
        let message = format!("macOS gave {width}x{height} pixels for {}x{} points", area.width, area.height);
        return Err(Error::internal(message));
    }
    Ok(Shot { picture, area })
}

fn picture(raw: &RawPicture<'_>) -> Result<Picture> {
    let row_bytes = raw.width.saturating_mul(4);
    if raw.bits_per_pixel != 32 || raw.bytes_per_row < row_bytes || raw.width == 0 || raw.height == 0 {
        let message = format!(
            "macOS gave a picture of another kind: {}x{}, {} bits a pixel, {} bytes a row",
            raw.width, raw.height, raw.bits_per_pixel, raw.bytes_per_row
        );
        return Err(Error::internal(message));
    }
    let mut rgba = Vec::with_capacity(row_bytes.saturating_mul(raw.height));
    for row in raw.bytes.chunks(raw.bytes_per_row).take(raw.height) {
        let pixels = row.get(..row_bytes).unwrap_or_default().as_chunks::<4>().0;
        rgba.extend(pixels.iter().flat_map(|&[blue, green, red, _]| [red, green, blue, 255]));
    }
    let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    Picture::from_rgba(side(raw.width), side(raw.height), rgba)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(bytes: &[u8], width: usize, height: usize, bytes_per_row: usize) -> RawPicture<'_> {
        RawPicture { bytes, width, height, bytes_per_row, bits_per_pixel: 32 }
    }

    #[test]
    fn colours_change_places_and_padding_goes() {
        let bytes = [1, 2, 3, 0, 4, 5, 6, 0, 99, 99, 99, 99, 7, 8, 9, 0, 10, 11, 12, 0, 99, 99, 99, 99];
        let shot = shot(&raw(&bytes, 2, 2, 12), Rect::new(-5, 7, 2, 2)).unwrap();
        assert_eq!(shot.picture.rgba(), [3, 2, 1, 255, 6, 5, 4, 255, 9, 8, 7, 255, 12, 11, 10, 255]);
        assert_eq!(shot.area, Rect::new(-5, 7, 2, 2));
    }

    #[test]
    fn a_retina_picture_becomes_one_pixel_a_point() {
        let bytes = vec![200; 8 * 6 * 4];
        let shot = shot(&raw(&bytes, 8, 6, 32), Rect::new(0, 0, 4, 3)).unwrap();
        assert_eq!((shot.picture.width(), shot.picture.height()), (4, 3));
        assert_eq!(shot.picture.pixel(3, 2), Some([200, 200, 200, 255]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let bytes = vec![0; 8 * 6 * 4];
        assert!(shot(&raw(&bytes, 8, 6, 32), Rect::new(0, 0, 4, 4)).is_err());
        assert!(shot(&raw(&bytes, 8, 6, 32), Rect::new(0, 0, 9, 6)).is_err());
        assert!(shot(&raw(&bytes, 8, 7, 32), Rect::new(0, 0, 8, 7)).is_err(), "a row is missing");
        assert!(shot(&raw(&bytes, 8, 6, 16), Rect::new(0, 0, 8, 6)).is_err());
        let deep = RawPicture { bits_per_pixel: 64, ..raw(&bytes, 4, 6, 32) };
        assert!(shot(&deep, Rect::new(0, 0, 4, 6)).is_err());
    }
}
