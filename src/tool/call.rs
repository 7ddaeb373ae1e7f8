//! A call, and what comes back from it: what surfaces, steps of a list and replays hand to the gate and get from it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Encoded;
use super::object::WrittenObject;
use super::person::Question;
use crate::error::Kind;

/// A call as a surface hands it in.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool: String,
    pub args: Value,
    pub origin: Origin,
}

/// Where a call came from. The surface says it; a caller cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Mcp,
    /// A client over MCP that reads a resource: no model waits for the reply.
    Resource,
    Terminal,
    /// A script or an agent over HTTP.
    Rest,
    /// The inspector page.
    Inspector,
    /// A recorded call that is played again.
    Replay,
    /// A job, whatever plans it.
    Job,
    Test,
}

impl Origin {
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Mcp | Origin::Resource => "mcp",
            Origin::Terminal => "terminal",
            Origin::Rest => "rest",
            Origin::Inspector => "inspector",
            Origin::Replay => "replay",
            Origin::Job => "job",
            Origin::Test => "test",
        }
    }
}

/// What leaves the gate, clean: surfaces only wrap it.
#[derive(Clone, Debug)]
pub struct Reply {
    pub step_id: Option<u64>,
    pub error: Option<Kind>,
    pub body: ReplyBody,
    /// Belongs to the JSON as `outline`; surfaces that can show it by itself do.
    pub outline: Option<String>,
    pub picture: Option<Encoded>,
    /// For a model that reads lines: what stands in place of the JSON, before the outline.
    pub lean: Option<String>,
    /// For such a model: what happened to windows since its last call, a line each.
    pub news: Vec<String>,
    /// What the person has to be asked before the call can succeed; only for surfaces that can ask.
    pub question: Option<Box<Question>>,
    /// A text in it speaks to an agent; the JSON says where.
    pub suspicious: bool,
}

/// A JSON object. Data that code reads stays values; trees are written once, as text.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ReplyBody {
    Written(WrittenObject),
    Data(Map<String, Value>),
}

/// A reply as one text.
#[derive(Serialize)]
struct WholeReply<'a> {
    #[serde(flatten)]
    body: &'a ReplyBody,
    #[serde(skip_serializing_if = "Option::is_none")]
    outline: Option<&'a str>,
    /// The picture in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a str>,
}

impl Reply {
    pub fn ok(&self) -> bool {
        self.error.is_none()
    }

    /// The whole of it as JSON, without the picture.
    pub fn text(&self) -> String {
        self.text_with(None)
    }

    /// The whole of it as JSON, with the picture in base64.
    pub fn text_with_picture(&self, data: &str) -> String {
        self.text_with(Some(data))
    }

    fn text_with(&self, data: Option<&str>) -> String {
        write_json(&WholeReply { body: &self.body, outline: self.outline.as_deref(), data })
    }

    /// The JSON without the outline.
    pub fn json_text(&self) -> String {
        write_json(&self.body)
    }

    /// Everything that a model reads of a reply in lines; nothing where it is JSON.
    pub fn lines(&self) -> Option<String> {
        let lean = self.lean.clone()?;
        // First: nobody reads a long reply to its end to learn that an argument was ignored.
        let warning = self.body.get::<String>("warning").map(|warning| format!("warning: {warning}"));
        let mut parts: Vec<String> = warning.into_iter().chain([lean]).collect();
        parts.extend(self.outline.clone());
        parts.extend(self.suspicious_lines());
        parts.extend(self.news.iter().cloned());
        parts.retain(|part| !part.is_empty());
        Some(parts.join("\n"))
    }

    fn suspicious_lines(&self) -> Vec<String> {
        let places: Vec<Map<String, Value>> = self.body.get("suspicious_places").unwrap_or_default();
        if places.is_empty() && self.suspicious {
            return vec!["suspicious: a text here speaks to an agent".to_owned()];
        }
        let line = |place: &Map<String, Value>| {
            let words = ["element", "why", "excerpt"].map(|key| place.get(key).and_then(Value::as_str));
            let words: Vec<&str> = words.into_iter().flatten().collect();
            format!("suspicious: {}", words.join(" | "))
        };
        places.iter().map(line).collect()
    }

    /// The reply as a value, for those who look into it rather than pass it on.
    pub fn value(&self) -> Value {
        let mut fields = self.body.to_map();
        if let Some(outline) = &self.outline {
            fields.insert("outline".to_owned(), outline.as_str().into());
        }
        Value::Object(fields)
    }

    /// Says something beside the result that was learned after it was written.
    pub fn warn(&mut self, warning: &str) {
        let earlier: Option<String> = self.body.get("warning");
        let all = earlier.map_or_else(|| warning.to_owned(), |earlier| format!("{earlier}; {warning}"));
        self.body.insert("warning", all.into());
    }
}

/// Values and written entries can always be written.
fn write_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl ReplyBody {
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        match self {
            ReplyBody::Written(object) => object.get(key),
            ReplyBody::Data(fields) => serde_json::from_value(fields.get(key)?.clone()).ok(),
        }
    }

    /// Replaces the entry in its place, or adds it at the end.
    pub fn insert(&mut self, key: &str, value: Value) {
        match self {
            ReplyBody::Written(object) => {
                // A value can always be written.
                let _ = object.insert(key, &value);
            }
            ReplyBody::Data(fields) => {
                fields.insert(key.to_owned(), value);
            }
        }
    }

    /// The same inside of an entry that is an object.
    pub fn insert_inside(&mut self, object: &str, key: &str, value: Value) {
        if let Some(mut inside) = self.get::<Map<String, Value>>(object) {
            inside.insert(key.to_owned(), value);
            self.insert(object, inside.into());
        }
    }

    pub fn to_map(&self) -> Map<String, Value> {
        match self {
            ReplyBody::Written(object) => object.to_map(),
            ReplyBody::Data(fields) => fields.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(body: &Value, change: impl Fn(&mut Reply), expected: &str) {
        let written = ReplyBody::Written(WrittenObject::of(body).unwrap());
        for body in [written, ReplyBody::Data(body.as_object().unwrap().clone())] {
            let mut reply = Reply {
                step_id: None,
                error: None,
                body,
                outline: None,
                picture: None,
                lean: None,
                news: Vec::new(),
                question: None,
                suspicious: false,
            };
            change(&mut reply);
            assert_eq!(reply.text(), expected);
            assert_eq!(reply.value(), serde_json::from_str::<Value>(expected).unwrap());
        }
    }

    #[test]
    fn two_warnings_both_arrive() {
        let warn_twice = |reply: &mut Reply| ["one", "two"].iter().for_each(|warning| reply.warn(warning));
        check(&json!({"ok": true}), warn_twice, r#"{"ok":true,"warning":"one; two"}"#);
        let warned = json!({"ok": true, "warning": "zero"});
        check(&warned, |reply| reply.warn("one"), r#"{"ok":true,"warning":"zero; one"}"#);
    }

    /// A text of the screen that looks like the key is none.
    #[test]
    fn a_warning_arrives_beside_a_text_that_names_one() {
        let body = json!({"tree": {"warning": "on the screen"}});
        let expected = r#"{"tree":{"warning":"on the screen"},"warning":"one"}"#;
        check(&body, |reply| reply.warn("one"), expected);
    }

    #[test]
    fn an_outline_and_a_picture_come_last() {
        let outline = |reply: &mut Reply| reply.outline = Some("a\n\"b\"".to_owned());
        check(&json!({"ok": true}), outline, r#"{"ok":true,"outline":"a\n\"b\""}"#);
        let body = ReplyBody::Written(WrittenObject::of(&json!({"ok": true})).unwrap());
        let whole = WholeReply { body: &body, outline: Some("o"), data: Some("QQ==") };
        assert_eq!(write_json(&whole), r#"{"ok":true,"outline":"o","data":"QQ=="}"#);
    }

    #[test]
    fn what_is_inside_an_entry_is_replaced_there() {
        let inside = |reply: &mut Reply| reply.body.insert_inside("at", "b", 2.into());
        check(&json!({"at": {"a": 1}, "c": 3}), inside, r#"{"at":{"a":1,"b":2},"c":3}"#);
        check(&json!({"at": 1}), inside, r#"{"at":1}"#);
    }
}
