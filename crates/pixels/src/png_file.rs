//! PNG: how pictures are written, and how those of others are read.

use std::io::Cursor;

use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Filter, Limits, Reader, Transformations};

use crate::error::{PictureError, PictureResult};
use crate::image::{MAX_PIXELS, Picture};

/// Measured on a desktop of 1920x1080 pixels full of real windows: the fast compressor with the Paeth filter
/// needs 3.7 ms and 531 kB, the adaptive filter 5.8 ms for one percent fewer bytes (up to eight percent fewer
/// for single windows), the other filters no less time and half as many bytes again or more.
pub(crate) fn encode_png(bytes: &[u8], width: u32, height: u32, color: ColorType) -> PictureResult<Vec<u8>> {
    let mut png = Vec::new();
    write_png(&mut png, bytes, (width, height), color).map_err(|error| {
        PictureError::internal(format!(
            "an image of {width}x{height} pixels could not be encoded as PNG: {error}"
        ))
    })?;
    Ok(png)
}

fn write_png(
    png: &mut Vec<u8>,
    bytes: &[u8],
    (width, height): (u32, u32),
    color: ColorType,
) -> std::result::Result<(), png::EncodingError> {
    let mut encoder = Encoder::new(png, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.set_filter(Filter::Paeth);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytes)?;
    writer.finish()
}

/// A PNG whose header was read and whose pixels were not: its size is known before any memory is taken.
pub struct Png<'a> {
    reader: Reader<Cursor<&'a [u8]>>,
}

impl<'a> Png<'a> {
    pub fn open(bytes: &'a [u8]) -> PictureResult<Self> {
        // For everything beside the pixels: a profile of a few bytes may claim to unpack to gigabytes.
        let limits = Limits { bytes: MAX_PIXELS as usize };
        let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
        decoder.set_ignore_text_chunk(true);
        decoder.set_transformations(
            Transformations::EXPAND | Transformations::STRIP_16 | Transformations::ALPHA,
        );
        let (width, height) = decoder.read_header_info().map_err(unreadable_image)?.size();
        if u64::from(width) * u64::from(height) > MAX_PIXELS {
            return Err(PictureError::bad_request(format!(
                "an image of {width}x{height} pixels exceeds the limit of {MAX_PIXELS} pixels"
            )));
        }
        Ok(Self { reader: decoder.read_info().map_err(unreadable_image)? })
    }

    pub fn size(&self) -> (u32, u32) {
        self.reader.info().size()
    }

    /// What its pixels take once unpacked, and beside them while they are unpacked from another format.
    pub fn memory(&self) -> (u64, u64) {
        let (width, height) = self.size();
        let meanwhile =
            if self.is_grey() { self.reader.output_buffer_size().unwrap_or(usize::MAX) } else { 0 };
        (u64::from(width) * u64::from(height) * 4, meanwhile as u64)
    }

    pub fn decode(mut self) -> PictureResult<Picture> {
        let (width, height) = self.size();
        let length = self.reader.output_buffer_size().ok_or_else(|| {
            PictureError::bad_request(format!("an image of {width}x{height} pixels does not fit the memory"))
        })?;
        let mut bytes = vec![0; length];
        self.reader.next_frame(&mut bytes).map_err(unreadable_image)?;
        let rgba = if self.is_grey() { coloured(&bytes) } else { bytes };
        Picture::from_rgba(width, height, rgba)
    }

    /// Two bytes a pixel, its brightness and its opacity; every other format is unpacked to four.
    fn is_grey(&self) -> bool {
        self.reader.output_color_type().0 == ColorType::GrayscaleAlpha
    }
}

fn coloured(grey: &[u8]) -> Vec<u8> {
    let mut rgba = Vec::with_capacity(grey.len() * 2);
    for &[grey, alpha] in grey.as_chunks::<2>().0 {
        rgba.extend_from_slice(&[grey, grey, grey, alpha]);
    }
    rgba
}

fn unreadable_image(problem: png::DecodingError) -> PictureError {
    PictureError::bad_request(format!("this is not a complete PNG: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_png(bytes: &[u8], expected: &str) {
        let got = match Png::open(bytes).and_then(Png::decode) {
            Ok(picture) => format!("{picture:?}"),
            Err(error) => error.message,
        };
        assert!(got.contains(expected), "{got}");
    }

    #[test]
    fn only_a_whole_png_of_a_sane_size_is_decoded() {
        let png = Picture::new(20, 10, [9, 8, 7, 255]).unwrap().to_png().unwrap();
        check_png(&png, "Picture(20x10)");
        check_png(&png[..png.len() / 2], "not a complete PNG");
        check_png(&png[..20], "not a complete PNG");
        check_png(b"GIF89a", "not a complete PNG");
        check_png(b"", "not a complete PNG");
        check_png(&bomb(), "exceeds the limit");
    }

    /// A header that claims 50,000 by 50,000 pixels, with a checksum that fits.
    fn bomb() -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\xc3\x50\0\0\xc3\x50\x08\x06\0\0\0".to_vec();
        let checksum = crc(&png[12..]);
        png.extend(checksum.to_be_bytes());
        png.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
        png
    }

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        })
    }

    #[track_caller]
    fn check_decoded(color: ::image::ExtendedColorType, bytes: &[u8], expected: [u8; 4]) {
        let mut png = Vec::new();
        let encoder = ::image::codecs::png::PngEncoder::new(&mut png);
        ::image::ImageEncoder::write_image(encoder, bytes, 1, 1, color).unwrap();
        let opened = Png::open(&png).unwrap();
        let beside = opened.memory().1;
        assert_eq!(opened.decode().unwrap().rgba(), expected, "{color:?}");
        assert_eq!(beside > 0, color.channel_count() < 3, "{color:?}");
    }

    #[test]
    fn every_kind_of_pixel_becomes_four_bytes() {
        use ::image::ExtendedColorType::{L8, La8, Rgb8, Rgb16, Rgba8};
        check_decoded(L8, &[7], [7, 7, 7, 255]);
        check_decoded(La8, &[7, 8], [7, 7, 7, 8]);
        check_decoded(Rgb8, &[1, 2, 3], [1, 2, 3, 255]);
        check_decoded(Rgb16, &[1, 1, 2, 2, 3, 3], [1, 2, 3, 255]);
        check_decoded(Rgba8, &[1, 2, 3, 4], [1, 2, 3, 4]);
    }
}
