//! A wire format: how a model is asked, and how its answer is read.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::talk::ShownPart;
use super::written::ReadReply;
use crate::model_client::KeyHeader;
use crate::tool::Encoded;

pub trait Wire: Send {
    fn route(&self) -> &'static str;

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Bearer
    }

    fn write_request(&self, request: &PlannerRequest) -> Value;

    /// What an answer says; an error says what is wrong with it.
    fn read_reply(&self, text: &str, request_bytes: usize) -> Result<ReadReply, String>;

    /// Whether the vendor has a toolset for computers of its own on this wire.
    fn has_toolset(&self) -> bool {
        false
    }
}

/// A question to a model, in the words of no wire.
pub struct PlannerRequest<'a> {
    pub model: &'a str,
    pub max_tokens: u32,
    pub system: &'a str,
    pub tools: &'a [OfferedTool],
    pub toolset: Option<&'a Toolset>,
    pub talk: Vec<ShownPart<'a>>,
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    pub name: String,
    pub brief: String,
    pub schema: Value,
}

/// The vendor's own toolset for computers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Toolset {
    /// Members that a job cannot or may not use.
    pub disabled: Vec<&'static str>,
    /// Pixels of a screenshot, as far as one was seen.
    pub display: Option<(u32, u32)>,
}

pub fn in_base64(picture: &Encoded) -> String {
    BASE64_STANDARD.encode(&picture.bytes)
}

pub fn media_type(picture: &Encoded) -> String {
    format!("image/{}", picture.format.name())
}

pub fn data_url(picture: &Encoded) -> String {
    format!("data:{};base64,{}", media_type(picture), in_base64(picture))
}
