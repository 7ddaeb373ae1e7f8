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

/// What is pictured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Whatever the screen shows.
    Screen,
    /// These windows alone, from the front to the back.
    Windows(Vec<u32>),
}

/// Rows as they are in [`RawPicture`], which nobody else has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedPicture {
    pub bytes: Vec<u8>,
    pub width: usize,
    pub height: usize,
    pub bytes_per_row: usize,
    pub bits_per_pixel: usize,
}

/// A picture of a part of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub area: Rect,
    pub picture: OwnedPicture,
}

/// The parts that have to be pictured one by one: a window alone is one, also beyond the screen's edge; everything else
/// is pictured monitor by monitor.
pub fn parts(scope: &Scope, area: Rect, monitors: &[Rect]) -> Vec<Rect> {
    match scope {
        Scope::Windows(ids) if ids.len() == 1 => vec![area],
        _ => monitors.iter().filter_map(|monitor| monitor.intersection(&area)).collect(),
    }
}

/// The parts put together; where no monitor is, there is black.
pub fn assembled(parts: &[Taken], area: Rect) -> Result<Shot> {
    let shots = parts.iter().map(|part| shot(&part.picture.as_raw(), part.area));
    let mut shots: Vec<Shot> = shots.collect::<Result<_>>()?;
    if shots.len() == 1 && shots.iter().all(|shot| shot.area == area) {
        return shots.pop().ok_or_else(|| Error::internal("no image"));
    }
    let side = |length: i32| usize::try_from(length).unwrap_or(0);
    let (wide, high) = (side(area.width), side(area.height));
    let mut rgba = [0, 0, 0, 255].repeat(wide.saturating_mul(high));
    for shot in shots {
        let (left, top) = (side(shot.area.x - area.x), side(shot.area.y - area.y));
        let rows = shot.picture.rgba().chunks_exact(4 * side(shot.area.width).max(1));
        for (row, pixels) in rows.enumerate() {
            let start = 4 * ((top + row) * wide + left);
            if let Some(place) = rgba.get_mut(start..start + pixels.len()) {
                place.copy_from_slice(pixels);
            }
        }
    }
    let side = |length: i32| u32::try_from(length).unwrap_or(0);
    Ok(Shot { picture: Picture::from_rgba(side(area.width), side(area.height), rgba)?, area })
}

impl OwnedPicture {
    fn as_raw(&self) -> RawPicture<'_> {
        let Self { bytes, width, height, bytes_per_row, bits_per_pixel } = self;
        RawPicture {
            bytes,
            width: *width,
            height: *height,
            bytes_per_row: *bytes_per_row,
            bits_per_pixel: *bits_per_pixel,
        }
    }
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
            "macOS gave an image of an unexpected format: {}x{}, {} bits per pixel, {} bytes per row",
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
    Ok(Picture::from_rgba(side(raw.width), side(raw.height), rgba)?)
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

    fn taken(area: Rect, level: u8) -> Taken {
        let (width, height) = (area.width as usize, area.height as usize);
        let bytes = vec![level; width * height * 4];
        Taken {
            area,
            picture: OwnedPicture { bytes, width, height, bytes_per_row: 4 * width, bits_per_pixel: 32 },
        }
    }

    #[test]
    fn monitors_are_pictured_one_by_one_and_put_together() {
        let monitors = [Rect::new(0, 0, 4, 4), Rect::new(-4, 1, 4, 4)];
        let area = Rect::new(-2, 0, 4, 3);
        let parts = parts(&Scope::Screen, area, &monitors);
        assert_eq!(parts, [Rect::new(0, 0, 2, 3), Rect::new(-2, 1, 2, 2)]);
        let shot = assembled(&[taken(parts[0], 10), taken(parts[1], 20)], area).unwrap();
        let at = |x, y| shot.picture.pixel(x, y).unwrap()[0];
        assert_eq!(shot.area, area);
        assert_eq!(
            [at(0, 0), at(1, 0), at(2, 0), at(3, 0)],
            [0, 0, 10, 10],
            "no monitor is at the upper left"
        );
        assert_eq!([at(0, 1), at(1, 2), at(2, 1), at(3, 2)], [20, 20, 10, 10]);
    }

    #[test]
    fn a_window_alone_is_pictured_beyond_the_edge() {
        let (monitors, area) = ([Rect::new(0, 0, 4, 4)], Rect::new(2, 2, 4, 4));
        let of = |ids: &[u32]| parts(&Scope::Windows(ids.to_vec()), area, &monitors);
        assert_eq!(of(&[7]), [area]);
        assert_eq!(of(&[8, 7]), [Rect::new(2, 2, 2, 2)]);
        let whole = assembled(&[taken(area, 9)], area).unwrap();
        assert_eq!(whole.picture.pixel(3, 3), Some([9, 9, 9, 255]));
        assert_eq!(assembled(&[], area).unwrap().picture.pixel(0, 0), Some([0, 0, 0, 255]));
        assert!(assembled(&[Taken { area, ..taken(Rect::new(0, 0, 1, 1), 9) }], area).is_err());
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
