//! Rectangles and the errors of pictures, told the way that all errors here are.

use pixels::{PictureError, PictureFault, Rect};

use crate::error::{Error, Fact};

impl From<Rect> for Fact {
    fn from(Rect { x, y, width, height }: Rect) -> Self {
        Fact::Bounds { x, y, width, height }
    }
}

impl From<PictureError> for Error {
    fn from(PictureError { fault, message }: PictureError) -> Self {
        match fault {
            PictureFault::TooLarge { width, height } => Error::bad_request(message)
                .with("width", width)
                .with("height", height)
                .with("max_pixels", pixels::image::MAX_PIXELS),
            PictureFault::Request => Error::bad_request(message),
            PictureFault::Quality => Error::bad_request(message).with("field", "quality"),
            PictureFault::Internal => Error::internal(message),
        }
    }
}
