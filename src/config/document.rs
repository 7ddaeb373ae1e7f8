//! The text of a configuration file as JSON that remembers keys written twice.
//!
//! A second `"actions"` would otherwise replace the first without a word, and with it a deny list.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::keys::BACKSLASH_HINT;

/// A JSON object as it was written: in order, duplicates included.
#[derive(Debug)]
pub struct Pairs<V>(pub Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Pairs<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<V> {
    type Value = Pairs<V>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object of sections like {\"web_ui\": {…}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

/// Any JSON value; serde_json bounds its depth to 128 while reading, so walking it may recurse.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum JsonNode {
    Object(Pairs<JsonNode>),
    Array(Vec<JsonNode>),
    Plain(Value),
}

impl JsonNode {
    /// The plain value, and the name of every key that an object inside it holds twice.
    pub fn into_value(self, repeated: &mut Vec<String>) -> Value {
        match self {
            JsonNode::Plain(value) => value,
            JsonNode::Array(items) => items.into_iter().map(|item| item.into_value(repeated)).collect(),
            JsonNode::Object(Pairs(pairs)) => {
                repeated.extend(repeated_names(&pairs));
                pairs.into_iter().map(|(name, item)| (name, item.into_value(repeated))).collect()
            }
        }
    }
}

/// Each name that occurs more than once, once.
pub fn repeated_names<V>(pairs: &[(String, V)]) -> Vec<String> {
    let mut names: Vec<&str> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let mut repeated: Vec<&str> = names
        .windows(2)
        .filter_map(|two| (two.first() == two.last()).then(|| two.first().copied())?)
        .collect();
    repeated.dedup();
    repeated.into_iter().map(str::to_owned).collect()
}

/// Reads the text, or says at which line and column it stops being JSON, with a hint where one is likely.
pub fn parse(text: &str) -> Result<Pairs<JsonNode>, String> {
    // Editors on Windows put a byte order mark in front; it is not part of the JSON.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).map_err(|error| format!("{error}{}", syntax_hint(text, &error)))
}

fn syntax_hint(text: &str, error: &serde_json::Error) -> String {
    // Column 0 is the line feed itself, so the fault is in the line that it ends: `"C:\dir\"` runs on.
    let line = if error.column() == 0 { error.line().saturating_sub(1) } else { error.line() };
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    if line.contains('\\') {
        return format!(". The line contains a backslash: {BACKSLASH_HINT}");
    }
    // Where the fault is, counted in bytes; a comment may also follow a value.
    let from_here = line.get(error.column().saturating_sub(1)..).unwrap_or_default().trim_start();
    let is_comment = |text: &str| text.starts_with("//") || text.starts_with("/*") || text.starts_with('#');
    if is_comment(line.trim_start()) || is_comment(from_here) {
        return ". JSON has no comments: use a key that starts with an underscore, like \"_note\"."
            .to_owned();
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let complaint = parse(text).err().unwrap_or_else(|| "parses".to_owned());
        assert!(complaint.contains(expected), "{text}: {complaint}");
    }

    #[test]
    fn faults_come_with_their_place() {
        check("{\n  \"mock\": True\n}", "line 2 column 11");
        check("", "line 1 column 0");
        check("[]", "expected a JSON object of sections");
        check("{\"mock\": true,}", "trailing comma at line 1");
        check(&"[".repeat(100_000), "expected a JSON object");
        check(&format!("{{\"a\":{}", "[".repeat(100_000)), "recursion limit");
    }

    #[test]
    fn backslashes_and_comments_get_a_hint() {
        check("{\"ocr\": {\n\"tesseract_cmd\": \"C:\\Program Files\\x\"}}", "line 2 column");
        check("{\"ocr\": {\n\"tesseract_cmd\": \"C:\\Program Files\\x\"}}", "Write each backslash twice");
        check("{\"tracing\": {\"dir\": \"C:\\users\\me\"}}", "Write each backslash twice");
        check("{\"tracing\": {\n\"dir\": \"C:\\\\dir\\\"\n}}", "Write each backslash twice");
        check("{\n// port\n}", "JSON has no comments");
        check("{\"mock\": true, // for tests\n}", "JSON has no comments");
        check("{\"mock\": /* no */ true}", "JSON has no comments");
        check("/* mine */ {}", "JSON has no comments");
        check("{\"a\\\\b\": 1,\n tru}", "line 2");
        assert!(!parse("{\"a\\\\b\": 1,\n tru}").unwrap_err().contains("backslash"));
    }

    #[test]
    fn a_byte_order_mark_is_no_fault() {
        check("\u{feff}{}", "parses");
    }

    #[test]
    fn repeated_keys_are_remembered_at_every_depth() {
        let Pairs(pairs) =
            parse(r#"{"a": [{"b": 1, "b": {"c": 0, "c": 0}}], "d": 1, "a": 2, "a": 3}"#).unwrap();
        assert_eq!(repeated_names(&pairs), ["a"]);
        let mut repeated = Vec::new();
        let values: Vec<Value> = pairs.into_iter().map(|(_, json)| json.into_value(&mut repeated)).collect();
        assert_eq!(repeated, ["b", "c"]);
        assert_eq!(values[0], serde_json::json!([{"b": {"c": 0}}]));
    }
}
