//! A picture in memory: what was seen, cut, hidden, made smaller and encoded as PNG.
//!
//! Knows nothing of screens or windows, and never allocates before it knows the size is sane: every
//! way to make a picture passes `byte_count`.

use crate::error::{PictureError, PictureFault, PictureResult};
use crate::geometry::Rect;
use crate::pixel_buffer::Buffer;
use crate::png_file::encode_png;

/// More than an 8K screen has; a larger picture is a mistake or an attack on the memory.
pub const MAX_PIXELS: u64 = 64_000_000;

const BYTES_PER_PIXEL: usize = 4;

/// Red, green, blue, opacity.
pub type Rgba = [u8; BYTES_PER_PIXEL];

pub const BLACK: Rgba = [0, 0, 0, 255];

/// Rows from top to bottom without padding. A picture without a pixel is allowed: it is what remains
/// of a crop that missed.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    rgba: Buffer,
}

impl Picture {
    pub fn new(width: u32, height: u32, color: Rgba) -> PictureResult<Self> {
        let mut rgba = Buffer::new_zeroed(byte_count(width, height)?);
        fill_pixels(&mut rgba, color);
        Ok(Self { width, height, rgba })
    }

    pub fn from_rgba(width: u32, height: u32, rgba: Vec<u8>) -> PictureResult<Self> {
        Self::from_buffer(width, height, rgba.into())
    }

    pub fn from_buffer(width: u32, height: u32, rgba: Buffer) -> PictureResult<Self> {
        let expected = byte_count(width, height)?;
        if rgba.len() != expected {
            return Err(PictureError::internal(format!(
                "an image of {width}x{height} pixels needs {expected} bytes of RGBA, but has {}",
                rgba.len()
            )));
        }
        Ok(Self { width, height, rgba })
    }

    pub const fn width(&self) -> u32 {
        self.width
    }

    pub const fn height(&self) -> u32 {
        self.height
    }

    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    pub fn is_empty(&self) -> bool {
        self.rgba.is_empty()
    }

    /// The whole picture as a rectangle in its own coordinates.
    pub fn area(&self) -> Rect {
        let side = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
        Rect::new(0, 0, side(self.width), side(self.height))
    }

    pub fn pixel(&self, x: i32, y: i32) -> Option<Rgba> {
        let start = self.pixel_offset(x, y)?;
        self.rgba.get(start..start + BYTES_PER_PIXEL)?.try_into().ok()
    }

    /// Lays `color` over a pixel; `coverage` says how much of the pixel it covers, 255 being all.
    pub fn blend(&mut self, x: i32, y: i32, color: Rgba, coverage: u8) {
        let Some(start) = self.pixel_offset(x, y) else { return };
        for (channel, new) in self.rgba[start..start + BYTES_PER_PIXEL].iter_mut().zip(color) {
            let (old, new, share) = (u32::from(*channel), u32::from(new), u32::from(coverage));
            *channel = ((old * (255 - share) + new * share + 127) / 255) as u8;
        }
    }

    pub fn is_one_colour(&self) -> bool {
        let pixels = self.pixels();
        pixels.first().is_none_or(|first| pixels.iter().all(|pixel| pixel == first))
    }

    /// Sets every pixel of `area` that lies in the picture to `color`.
    pub fn fill(&mut self, area: Rect, color: Rgba) {
        let Some(area) = area.intersection(&self.area()) else { return };
        for y in area.y..area.bottom() {
            let row = self.row_range(&area, y);
            fill_pixels(&mut self.rgba[row], color);
        }
    }

    /// Lays another picture over this one with its corner at a place; what hangs over the edge is cut.
    pub fn draw_over(&mut self, other: &Picture, x: i32, y: i32) {
        let Some(area) = Rect { x, y, ..other.area() }.intersection(&self.area()) else { return };
        let theirs = Rect { x: area.x - x, y: area.y - y, ..area };
        for row in 0..area.height {
            let from = &other.rgba[other.row_range(&theirs, theirs.y + row)];
            let into = self.row_range(&area, area.y + row);
            self.rgba[into].copy_from_slice(from);
        }
    }

    /// Hides `area` for good: nothing of what was there can be computed back.
    pub fn black_out(&mut self, area: Rect) {
        self.fill(area, BLACK);
    }

    /// The part of `area` that lies in the picture; without a pixel when there is none.
    pub fn crop(&self, area: Rect) -> Picture {
        let Some(area) = area.intersection(&self.area()) else {
            return Picture { width: 0, height: 0, rgba: Vec::new().into() };
        };
        let (width, height) = (area.width as u32, area.height as u32);
        let mut rgba = Vec::with_capacity(width as usize * height as usize * BYTES_PER_PIXEL);
        for y in area.y..area.bottom() {
            rgba.extend_from_slice(&self.rgba[self.row_range(&area, y)]);
        }
        Picture { width, height, rgba: rgba.into() }
    }

    /// The picture at most `max_width` wide, in its proportions; a copy when it is already.
    pub fn shrink_to(&self, max_width: u32) -> Picture {
        let width = max_width.max(1);
        if self.width <= width {
            return self.clone();
        }
        let height = shrunk_height(self.width, self.height, width);
        Picture { width, height, rgba: average_areas(self, width, height).into() }
    }

    /// The picture with no side longer than `longest` and no more than `pixels` of them, in its proportions.
    pub fn fit_within(&self, longest: u32, pixels: u32) -> Picture {
        let (width, height) = (f64::from(self.width.max(1)), f64::from(self.height.max(1)));
        let by_side = f64::from(longest) / width.max(height);
        let by_area = (f64::from(pixels) / (width * height)).sqrt();
        let scale = by_side.min(by_area);
        // What is a whole number but for the last digit of its fraction is meant to be whole.
        if scale >= 1.0 { self.clone() } else { self.shrink_to((width * scale + 1e-6) as u32) }
    }

    /// Encoded to be quick rather than as small as possible: it happens at every look.
    pub fn to_png(&self) -> PictureResult<Vec<u8>> {
        self.check_has_pixels()?;
        match self.without_alpha() {
            Some(rgb) => encode_png(&rgb, self.width, self.height, png::ColorType::Rgb),
            None => encode_png(&self.rgba, self.width, self.height, png::ColorType::Rgba),
        }
    }

    /// Refuses to go on with what remains of a crop that missed.
    pub fn check_has_pixels(&self) -> PictureResult<()> {
        if self.is_empty() {
            return Err(PictureError::bad_request(format!(
                "the screenshot is empty ({}x{} pixels); ask for a region that overlaps the window or the screen",
                self.width, self.height
            )));
        }
        Ok(())
    }

    /// The colours alone, three bytes a pixel.
    pub fn to_rgb(&self) -> Vec<u8> {
        let mut rgb = vec![0; self.rgba.len() / BYTES_PER_PIXEL * 3];
        copy_colours(self.pixels(), &mut rgb);
        rgb
    }

    /// Sets one colour (0 is red) of every pixel.
    pub fn set_channel(&mut self, channel: usize, plane: &[u8]) {
        for (pixel, value) in self.rgba.as_chunks_mut::<BYTES_PER_PIXEL>().0.iter_mut().zip(plane) {
            pixel[channel] = *value;
        }
    }

    /// A quarter fewer bytes to filter and compress, possible when every pixel is opaque.
    fn without_alpha(&self) -> Option<Buffer> {
        let mut rgb = Buffer::new_zeroed(self.rgba.len() / BYTES_PER_PIXEL * 3);
        let opacity = copy_colours(self.pixels(), &mut rgb);
        (opacity == u8::MAX).then_some(rgb)
    }

    fn pixels(&self) -> &[Rgba] {
        self.rgba.as_chunks().0
    }

    fn pixel_offset(&self, x: i32, y: i32) -> Option<usize> {
        let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        (x < self.width && y < self.height)
            .then(|| (y as usize * self.width as usize + x as usize) * BYTES_PER_PIXEL)
    }

    /// The bytes of one row of `area`, which lies in the picture.
    fn row_range(&self, area: &Rect, y: i32) -> std::ops::Range<usize> {
        let start = (y as usize * self.width as usize + area.x as usize) * BYTES_PER_PIXEL;
        start..start + area.width as usize * BYTES_PER_PIXEL
    }
}

/// A million bytes help nobody who reads a failed test.
impl std::fmt::Debug for Picture {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Picture({}x{})", self.width, self.height)
    }
}

fn byte_count(width: u32, height: u32) -> PictureResult<usize> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS {
        let message = format!(
            "an image of {width}x{height} pixels exceeds the limit of {MAX_PIXELS} pixels; \
             ask for a smaller region"
        );
        return Err(PictureError { fault: PictureFault::TooLarge { width, height }, message });
    }
    Ok(pixels as usize * BYTES_PER_PIXEL)
}

fn fill_pixels(bytes: &mut [u8], color: Rgba) {
    bytes.as_chunks_mut::<BYTES_PER_PIXEL>().0.fill(color);
}

/// Writes three bytes for each pixel and tells what all opacities have in common, in one pass, because reading eight
/// million bytes twice is a millisecond. Pixels are arrays here: copying a slice of three bytes is a call of memmove
/// wherever the compiler does not inline it.
fn copy_colours(pixels: &[Rgba], rgb: &mut [u8]) -> u8 {
    let mut opacity = u8::MAX;
    for (to, &[red, green, blue, alpha]) in rgb.as_chunks_mut::<3>().0.iter_mut().zip(pixels) {
        *to = [red, green, blue];
        opacity &= alpha;
    }
    opacity
}

fn shrunk_height(width: u32, height: u32, new_width: u32) -> u32 {
    let (width, height, new_width) = (u64::from(width), u64::from(height), u64::from(new_width));
    let rounded = (height * new_width + width / 2) / width;
    (rounded as u32).clamp(u32::from(height > 0), height as u32)
}

/// Every new pixel is the exact average of the area it covers, so no thin line of a letter is skipped.
///
/// Lengths are counted in units in which both the old and the new pixels are whole: an old pixel is as
/// many units long as there are new pixels in the row, and the other way round.
fn average_areas(from: &Picture, width: u32, height: u32) -> Vec<u8> {
    let row_bytes = from.width as usize * BYTES_PER_PIXEL;
    let new_row_bytes = width as usize * BYTES_PER_PIXEL;
    let total = u64::from(from.width) * u64::from(from.height);
    let mut rgba = Vec::with_capacity(new_row_bytes * height as usize);
    let mut narrow = vec![0u64; new_row_bytes];
    let mut sums = vec![0u64; new_row_bytes];
    for (row, share) in from.rgba.chunks_exact(row_bytes).zip(shares_of(from.height, height)) {
        narrow_row(row, shares_of(from.width, width), &mut narrow);
        add_row(&narrow, share.first, &mut sums);
        if share.closes {
            rgba.extend(sums.iter().map(|sum| ((sum + total / 2) / total) as u8));
            sums.fill(0);
            add_row(&narrow, share.second, &mut sums);
        }
    }
    rgba
}

/// How one old pixel is split between the new pixel it begins in and the one after.
struct Share {
    first: u64,
    second: u64,
    /// The new pixel it begins in ends with it or within it.
    closes: bool,
}

fn shares_of(old: u32, new: u32) -> impl Iterator<Item = Share> {
    let (old, new) = (u64::from(old), u64::from(new));
    let mut left = old;
    (0..old).map(move |_| {
        let first = new.min(left);
        let share = Share { first, second: new - first, closes: left <= new };
        left = if share.closes { old - share.second } else { left - first };
        share
    })
}

fn narrow_row(row: &[u8], shares: impl Iterator<Item = Share>, narrow: &mut [u64]) {
    let mut targets = narrow.as_chunks_mut::<BYTES_PER_PIXEL>().0.iter_mut();
    let mut sum = [0u64; BYTES_PER_PIXEL];
    for (pixel, share) in row.as_chunks::<BYTES_PER_PIXEL>().0.iter().zip(shares) {
        for (sum, &channel) in sum.iter_mut().zip(pixel) {
            *sum += u64::from(channel) * share.first;
        }
        if share.closes
            && let Some(target) = targets.next()
        {
            *target = sum;
            for (sum, &channel) in sum.iter_mut().zip(pixel) {
                *sum = u64::from(channel) * share.second;
            }
        }
    }
}

fn add_row(narrow: &[u64], share: u64, sums: &mut [u64]) {
    for (sum, value) in sums.iter_mut().zip(narrow) {
        *sum += value * share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WHITE: Rgba = [255, 255, 255, 255];

    /// Every pixel differs from its neighbours, so a shifted copy is noticed.
    fn pattern(width: u32, height: u32, alpha: u8) -> Picture {
        let bytes =
            (0..height).flat_map(|y| (0..width).flat_map(move |x| [x as u8, y as u8, (x * y) as u8, alpha]));
        Picture::from_rgba(width, height, bytes.collect()).unwrap()
    }

    fn decode(png: &[u8]) -> image::DynamicImage {
        image::load_from_memory_with_format(png, image::ImageFormat::Png).unwrap()
    }

    #[test]
    fn too_many_pixels_are_refused_before_they_are_allocated() {
        for (width, height) in [(u32::MAX, u32::MAX), (8001, 8000), (1, 64_000_001)] {
            let error = Picture::new(width, height, BLACK).unwrap_err();
            assert_eq!(error.fault, PictureFault::TooLarge { width, height });
            assert!(error.message.contains("64000000"), "{error}");
            assert!(Picture::from_rgba(width, height, Vec::new()).is_err());
        }
    }

    #[test]
    fn raw_bytes_must_fit_the_size() {
        let error = Picture::from_rgba(2, 2, vec![0; 15]).unwrap_err();
        assert_eq!(error.message, "an image of 2x2 pixels needs 16 bytes of RGBA, but has 15");
        assert!(Picture::from_rgba(2, 2, vec![0; 16]).is_ok());
    }

    #[test]
    fn blending_mixes_by_coverage() {
        let mut picture = Picture::new(3, 1, WHITE).unwrap();
        for (x, coverage) in [(0, 0), (1, 51), (2, 255)] {
            picture.blend(x, 0, BLACK, coverage);
        }
        let seen: Vec<_> = (0..3).map(|x| picture.pixel(x, 0).unwrap()).collect();
        assert_eq!(seen, [WHITE, [204, 204, 204, 255], BLACK]);
    }

    #[test]
    fn blending_outside_changes_nothing() {
        let mut picture = Picture::new(2, 2, WHITE).unwrap();
        for (x, y) in [(-1, 0), (0, -1), (2, 0), (0, 2), (i32::MIN, i32::MAX)] {
            picture.blend(x, y, BLACK, 255);
        }
        assert_eq!(picture, Picture::new(2, 2, WHITE).unwrap());
    }

    #[test]
    fn an_opaque_picture_becomes_a_png_without_alpha() {
        let picture = pattern(33, 17, 255);
        let decoded = decode(&picture.to_png().unwrap());
        assert_eq!(decoded.color(), image::ColorType::Rgb8);
        assert_eq!(decoded.to_rgba8().into_raw(), picture.rgba());
    }

    #[test]
    fn one_translucent_pixel_keeps_the_alpha() {
        let mut picture = pattern(9, 9, 255);
        picture.fill(Rect::new(8, 8, 1, 1), [1, 2, 3, 4]);
        let decoded = decode(&picture.to_png().unwrap());
        assert_eq!(decoded.color(), image::ColorType::Rgba8);
        assert_eq!(decoded.to_rgba8().into_raw(), picture.rgba());
    }

    #[test]
    fn one_other_pixel_is_another_colour() {
        let mut picture = Picture::new(3, 2, WHITE).unwrap();
        assert!(picture.is_one_colour());
        picture.fill(Rect::new(2, 1, 1, 1), BLACK);
        assert!(!picture.is_one_colour());
    }

    #[test]
    fn nothing_cannot_be_encoded() {
        let error = pattern(4, 4, 255).crop(Rect::new(9, 9, 2, 2)).to_png().unwrap_err();
        assert!(error.message.contains("empty (0x0 pixels)"), "{error}");
    }

    #[track_caller]
    fn check_shrunk(size: (u32, u32), max_width: u32, expected: (u32, u32)) {
        let shrunk = pattern(size.0, size.1, 255).shrink_to(max_width);
        assert_eq!((shrunk.width(), shrunk.height()), expected);
        assert_eq!(shrunk.rgba().len(), (expected.0 * expected.1 * 4) as usize);
    }

    #[test]
    fn what_a_model_takes_bounds_sides_and_pixels() {
        let check = |size: (u32, u32), expected: (u32, u32)| {
            let fitted = Picture::new(size.0, size.1, BLACK).unwrap().fit_within(1568, 1_150_000);
            assert_eq!((fitted.width(), fitted.height()), expected, "{size:?}");
        };
        check((800, 600), (800, 600));
        check((1920, 1080), (1429, 804));
        check((3000, 300), (1568, 157));
        check((300, 3000), (156, 1560));
    }

    #[test]
    fn shrinking_keeps_the_proportions() {
        check_shrunk((80, 60), 40, (40, 30));
        check_shrunk((100, 33), 10, (10, 3));
        check_shrunk((100, 1), 10, (10, 1));
        check_shrunk((3, 100), 2, (2, 67));
        check_shrunk((5, 5), 0, (1, 1));
        check_shrunk((40, 30), 40, (40, 30));
        check_shrunk((40, 30), u32::MAX, (40, 30));
        check_shrunk((40, 0), 7, (7, 0));
    }

    #[test]
    fn a_new_pixel_is_the_average_of_what_it_covers() {
        let halves = [BLACK, WHITE, WHITE, BLACK].concat();
        let grey = Picture::from_rgba(2, 2, halves).unwrap().shrink_to(1);
        assert_eq!(grey.pixel(0, 0), Some([128, 128, 128, 255]));
        let thirds = Picture::from_rgba(3, 1, [BLACK, WHITE, BLACK].concat()).unwrap().shrink_to(2);
        assert_eq!(thirds.rgba(), [85, 85, 85, 255, 85, 85, 85, 255]);
    }

    fn any_rect() -> impl Strategy<Value = Rect> {
        let number = || prop_oneof![-5..25i32, any::<i32>()];
        (number(), number(), number(), number()).prop_map(|(x, y, w, h)| Rect::new(x, y, w, h))
    }

    proptest! {
        #[test]
        fn black_out_blackens_exactly(area in any_rect()) {
            let before = pattern(20, 15, 255);
            let mut after = before.clone();
            after.black_out(area);
            for (x, y) in (0..20).flat_map(|x| (0..15).map(move |y| (x, y))) {
                let hidden = area.contains(crate::Point { x, y });
                let expected = if hidden { Some(BLACK) } else { before.pixel(x, y) };
                prop_assert_eq!(after.pixel(x, y), expected);
            }
        }

        #[test]
        fn crop_is_the_common_part(area in any_rect()) {
            let whole = pattern(20, 15, 255);
            let part = whole.crop(area);
            let common = area.intersection(&whole.area()).unwrap_or_default();
            prop_assert_eq!(part.area(), Rect::new(0, 0, common.width, common.height));
            for (x, y) in (0..common.width).flat_map(|x| (0..common.height).map(move |y| (x, y))) {
                prop_assert_eq!(part.pixel(x, y), whole.pixel(common.x + x, common.y + y));
            }
        }

        #[test]
        fn shrinking_one_colour_keeps_it(
            width in 1..40u32, height in 1..40u32, max_width in 0..45u32, color in any::<Rgba>(),
        ) {
            let shrunk = Picture::new(width, height, color).unwrap().shrink_to(max_width);
            let same = Picture::new(shrunk.width(), shrunk.height(), color).unwrap();
            prop_assert_eq!(shrunk, same);
        }

        #[test]
        fn a_png_decodes_to_the_same_pixels(width in 1..30u32, bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
            let height = bytes.len() as u32 / 4 / width;
            prop_assume!(height > 0);
            let used = (width * height * 4) as usize;
            let picture = Picture::from_rgba(width, height, bytes[..used].to_vec()).unwrap();
            prop_assert_eq!(decode(&picture.to_png().unwrap()).to_rgba8().into_raw(), picture.rgba());
        }
    }
}
