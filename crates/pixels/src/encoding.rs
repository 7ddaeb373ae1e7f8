//! Pictures as files: PNG, which loses nothing; JPEG, which is smaller for photographs; WebP, without loss too.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, ImageEncoder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{PictureError, PictureFault, PictureResult};
use crate::image::Picture;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImageFormat {
    #[default]
    Png,
    Jpeg,
    Webp,
}

impl ImageFormat {
    pub const fn name(self) -> &'static str {
        match self {
            ImageFormat::Png => "png",
            ImageFormat::Jpeg => "jpeg",
            ImageFormat::Webp => "webp",
        }
    }

    pub const fn mime_type(self) -> &'static str {
        match self {
            ImageFormat::Png => "image/png",
            ImageFormat::Jpeg => "image/jpeg",
            ImageFormat::Webp => "image/webp",
        }
    }
}

/// A format and, where it loses something, how little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    pub format: ImageFormat,
    /// For JPEG alone, from 1 to 100.
    quality: Option<u8>,
}

/// Text stays readable, and a screen has a third of a PNG's bytes where it shows a photograph.
const DEFAULT_QUALITY: u8 = 85;

impl Encoding {
    /// The encoder for WebP that needs no C library writes without loss, so a quality would say nothing there.
    pub fn new(format: ImageFormat, quality: Option<u8>) -> PictureResult<Self> {
        if quality.is_some() && format != ImageFormat::Jpeg {
            let message = format!(
                "quality needs format jpeg; {} is lossless here, so leave quality out",
                format.name()
            );
            return Err(PictureError { fault: PictureFault::Quality, message });
        }
        Ok(Self { format, quality })
    }

    pub fn encode_picture(&self, picture: &Picture) -> PictureResult<Vec<u8>> {
        picture.check_has_pixels()?;
        match self.format {
            ImageFormat::Png => picture.to_png(),
            ImageFormat::Jpeg => {
                let mut bytes = Vec::new();
                let quality = self.quality.unwrap_or(DEFAULT_QUALITY);
                write(JpegEncoder::new_with_quality(&mut bytes, quality), picture, self.format)?;
                Ok(bytes)
            }
            ImageFormat::Webp => {
                let mut bytes = Vec::new();
                write(WebPEncoder::new_lossless(&mut bytes), picture, self.format)?;
                Ok(bytes)
            }
        }
    }
}

fn write(encoder: impl ImageEncoder, picture: &Picture, format: ImageFormat) -> PictureResult<()> {
    let (width, height) = (picture.width(), picture.height());
    encoder.write_image(&picture.to_rgb(), width, height, ExtendedColorType::Rgb8).map_err(|error| {
        PictureError::internal(format!(
            "an image of {width}x{height} pixels could not be encoded as {}: {error}",
            format.name()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rect;

    const GREY: [u8; 4] = [90, 120, 150, 255];

    fn sample() -> Picture {
        let mut picture = Picture::new(64, 48, GREY).unwrap();
        picture.fill(Rect::new(8, 8, 30, 20), [250, 240, 20, 255]);
        picture
    }

    fn decoded(format: ImageFormat, quality: Option<u8>) -> (usize, image::RgbaImage) {
        let bytes = Encoding::new(format, quality).unwrap().encode_picture(&sample()).unwrap();
        let kind = match format {
            ImageFormat::Png => image::ImageFormat::Png,
            ImageFormat::Jpeg => image::ImageFormat::Jpeg,
            ImageFormat::Webp => image::ImageFormat::WebP,
        };
        assert_eq!(image::guess_format(&bytes).unwrap(), kind);
        (bytes.len(), image::load_from_memory_with_format(&bytes, kind).unwrap().to_rgba8())
    }

    #[test]
    fn png_and_webp_lose_nothing() {
        for format in [ImageFormat::Png, ImageFormat::Webp] {
            assert_eq!(decoded(format, None).1.into_raw(), sample().rgba());
        }
    }

    #[test]
    fn jpeg_is_near_enough_and_smaller_with_less_quality() {
        let (fine, picture) = decoded(ImageFormat::Jpeg, Some(95));
        let off = picture.as_raw().iter().zip(sample().rgba()).map(|(one, other)| one.abs_diff(*other)).max();
        assert!(off.unwrap() < 60, "{off:?}");
        assert!(decoded(ImageFormat::Jpeg, Some(5)).0 < fine);
    }

    #[test]
    fn quality_is_refused_where_it_says_nothing() {
        for format in [ImageFormat::Png, ImageFormat::Webp] {
            let error = Encoding::new(format, Some(50)).unwrap_err();
            assert!(error.message.contains("lossless"), "{error}");
        }
        assert!(Encoding::new(ImageFormat::Jpeg, Some(50)).is_ok());
    }

    #[test]
    fn nothing_cannot_be_encoded() {
        let empty = sample().crop(Rect::new(99, 99, 1, 1));
        for format in [ImageFormat::Jpeg, ImageFormat::Webp] {
            let error = Encoding::new(format, None).unwrap().encode_picture(&empty).unwrap_err();
            assert!(error.message.contains("empty"), "{error}");
        }
    }
}
