//! What a tool hands back, before the gate's egress turns it into text and pictures.

use serde::Serialize;
use serde_json::{Map, Value};

use super::object::WrittenObject;
use crate::error::{Error, Kind, Result};
use crate::model::encoding::{Encoding, ImageFormat};
use crate::model::image::Picture;
use crate::privacy::scrub::{self, Scrub};

/// A picture as it leaves: encoded, with its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    pub format: ImageFormat,
    pub width: u32,
    pub height: u32,
    pub bytes: Vec<u8>,
}

impl Encoded {
    pub fn new(picture: &Picture, encoding: Encoding) -> Result<Self> {
        let bytes =
            encoding.encode_picture(picture).map_err(|problem| Error::internal(problem.to_string()))?;
        Ok(Self { format: encoding.format, width: picture.width(), height: picture.height(), bytes })
    }

    pub fn from_picture(picture: &Picture) -> Result<Self> {
        Self::new(picture, Encoding::default())
    }
}

/// A tool's result: data that serialises flat beside the envelope, and possibly a picture.
pub trait Output: Serialize {
    /// Pictures leave beside the JSON, never inside it: as text they would cost a model a hundred
    /// times as much.
    fn take_picture(&mut self) -> Option<Encoded> {
        None
    }

    /// An outline leaves beside the JSON where a surface can do that: inside it, every quotation mark and
    /// every line would cost an escape.
    fn take_outline(&mut self) -> Option<String> {
        None
    }

    /// For a model that reads lines: what stands in place of the JSON, before the outline.
    fn take_lean(&mut self) -> Option<String> {
        None
    }

    /// Whether an action changed what is shown; the audit line says it.
    fn changed(&self) -> Option<bool> {
        None
    }

    /// What kind of failure it is when the tool did its work but what it was asked for did not come about.
    fn failure(&self) -> Option<Kind> {
        None
    }
}

/// The keys that every successful reply begins with.
#[derive(Serialize)]
pub struct Envelope<'a, T: ?Sized> {
    pub ok: bool,
    pub success: bool,
    pub step_id: u64,
    pub caused_by_step_id: Option<u64>,
    /// Before a long body, behind which nobody would read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    #[serde(flatten)]
    pub body: &'a T,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
}

/// An [`Output`] with its type erased.
pub trait ErasedOutput: Send {
    fn take_picture(&mut self) -> Option<Encoded>;
    fn take_outline(&mut self) -> Option<String>;
    fn take_lean(&mut self) -> Option<String>;
    fn changed(&self) -> Option<bool>;
    fn failure(&self) -> Option<Kind>;
    /// Erased as well, so that seventy types of replies are compiled for one serializer and not for every one that the
    /// egress has.
    fn data(&self) -> &dyn erased_serde::Serialize;
}

/// The envelope's own values.
#[derive(Clone, Debug)]
pub struct ReplyFrame {
    pub step_id: u64,
    pub caused_by: Option<u64>,
    pub untrusted: bool,
    pub warning: Option<String>,
}

impl ReplyFrame {
    fn wrap_body(self, body: &dyn ErasedOutput) -> Envelope<'_, dyn erased_serde::Serialize + '_> {
        let ok = body.failure().is_none();
        Envelope {
            ok,
            success: ok,
            step_id: self.step_id,
            caused_by_step_id: self.caused_by,
            body: body.data(),
            untrusted: self.untrusted,
            warning: self.warning,
        }
    }
}

impl dyn ErasedOutput + '_ {
    pub fn write(&self, frame: ReplyFrame, scrub: &Scrub) -> Result<WrittenObject> {
        let envelope = frame.wrap_body(self);
        WrittenObject::of(&scrub::scrub_serialized(&envelope, scrub)).map_err(scrub::serialize_error)
    }

    pub fn value(&self, frame: ReplyFrame, scrub: &Scrub) -> Result<Map<String, Value>> {
        match scrub::to_json_value(&frame.wrap_body(self), scrub)? {
            Value::Object(fields) => Ok(fields),
            _ => Err(Error::internal("the reply is not an object")),
        }
    }
}

impl<T: Output + Send> ErasedOutput for T {
    fn take_picture(&mut self) -> Option<Encoded> {
        Output::take_picture(self)
    }

    fn take_outline(&mut self) -> Option<String> {
        Output::take_outline(self)
    }

    fn take_lean(&mut self) -> Option<String> {
        Output::take_lean(self)
    }

    fn changed(&self) -> Option<bool> {
        Output::changed(self)
    }

    fn failure(&self) -> Option<Kind> {
        Output::failure(self)
    }

    fn data(&self) -> &dyn erased_serde::Serialize {
        self
    }
}
