//! Pictures made larger, so that small letters can be read and small targets be hit.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use crate::error::{PictureError, PictureResult};
use crate::image::Picture;

/// One byte a pixel, `scale` times as wide and as high.
pub fn upscale_plane(width: u32, height: u32, plane: Vec<u8>, scale: u32) -> PictureResult<Vec<u8>> {
    if scale == 1 {
        return Ok(plane);
    }
    let wrong = |why: String| PictureError::internal(format!("the image cannot be enlarged: {why}"));
    // By the type of its pixels, so that the code for all the others is left out of the program.
    let plane: Vec<U8> = plane.into_iter().map(U8::new).collect();
    let small = TypedImageRef::new(width, height, &plane).map_err(|why| wrong(why.to_string()))?;
    let mut large = vec![U8::new(0); plane.len() * scale as usize * scale as usize];
    let mut view = TypedImage::from_pixels_slice(width * scale, height * scale, &mut large)
        .map_err(|why| wrong(why.to_string()))?;
    let lanczos = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
    Resizer::new().resize_typed(&small, &mut view, &lanczos).map_err(|why| wrong(why.to_string()))?;
    Ok(large.into_iter().map(|pixel| pixel.0).collect())
}

/// A whole picture, colour by colour: that takes no code but the one for grey. What it makes is opaque.
pub fn enlarged_picture(picture: Picture, scale: u32) -> PictureResult<Picture> {
    let (width, height) = (picture.width(), picture.height());
    if scale <= 1 || picture.is_empty() {
        return Ok(picture);
    }
    let mut large =
        Picture::new(width.saturating_mul(scale), height.saturating_mul(scale), crate::image::BLACK)?;
    for channel in 0..3 {
        let plane = picture.rgba().as_chunks::<4>().0.iter().map(|pixel| pixel[channel]).collect();
        large.set_channel(channel, &upscale_plane(width, height, plane, scale)?);
    }
    Ok(large)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rect;

    #[test]
    fn a_picture_is_enlarged_in_its_colours() {
        let mut small = Picture::new(20, 10, [200, 100, 50, 255]).unwrap();
        small.fill(Rect::new(10, 0, 10, 10), [0, 0, 255, 255]);
        let large = enlarged_picture(small, 3).unwrap();
        assert_eq!((large.width(), large.height()), (60, 30));
        assert_eq!(large.pixel(2, 2), Some([200, 100, 50, 255]));
        assert_eq!(large.pixel(57, 27), Some([0, 0, 255, 255]));
    }

    #[test]
    fn once_is_a_copy_and_too_large_is_refused() {
        let small = Picture::new(3, 3, [1, 2, 3, 255]).unwrap();
        assert_eq!(enlarged_picture(small.clone(), 1).unwrap(), small);
        assert!(enlarged_picture(small, 100_000).is_err());
    }
}
