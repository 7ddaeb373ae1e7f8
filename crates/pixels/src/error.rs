//! What can be wrong with a picture.

/// Who can do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFault {
    /// More pixels than a picture may have.
    TooLarge {
        width: u32,
        height: u32,
    },
    /// The caller: the request or its picture is wrong.
    Request,
    /// A format that takes no quality was given one.
    Quality,
    Internal,
}

/// A message for the caller, and whose fault it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureError {
    pub fault: PictureFault,
    pub message: String,
}

impl PictureError {
    pub(crate) fn internal(message: String) -> Self {
        Self { fault: PictureFault::Internal, message }
    }

    pub(crate) fn bad_request(message: String) -> Self {
        Self { fault: PictureFault::Request, message }
    }
}

impl std::fmt::Display for PictureError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for PictureError {}

pub(crate) type PictureResult<T> = std::result::Result<T, PictureError>;
