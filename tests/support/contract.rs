//! Comparing what we answer with what the contract recorded: same keys, and the same values where they are
//! facts.

use serde_json::{Map, Value};

/// An answer that is better on purpose: the sample's label, the pointer to the value, and why.
pub type Improved = (&'static str, &'static str, &'static str);

pub struct Comparison<'a> {
    pub label: &'a str,
    /// Keys whose values differ from run to run, or are sentences of another author.
    pub not_compared: &'a [&'a str],
    pub improved: &'a [Improved],
    pub differences: &'a mut Vec<String>,
}

impl Comparison<'_> {
    pub fn compare(&mut self, place: &str, want: &Value, got: &Value) {
        if self.is_improved(place) {
            return;
        }
        match (want, got) {
            // Sentences, pictures and paths of the recording are not kept.
            (Value::String(want), _) if want == "*" => {}
            (Value::Object(want), Value::Object(got)) => self.compare_objects(place, want, got),
            (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
                for (index, (want, got)) in want.iter().zip(got).enumerate() {
                    self.compare(&format!("{place}/{index}"), want, got);
                }
            }
            (Value::String(want), Value::String(got)) if same_text(want, got) => {}
            _ if want == got => {}
            _ => self.differ(place, &format!("want {}, got {}", short(want), short(got))),
        }
    }

    fn compare_objects(&mut self, place: &str, want: &Map<String, Value>, got: &Map<String, Value>) {
        for (key, want) in want.iter().filter(|(key, _)| !self.not_compared.contains(&key.as_str())) {
            let place_of_key = format!("{place}/{key}");
            match got.get(key).or_else(|| under_our_uid(key, got)) {
                None if self.is_improved(&place_of_key) => {}
                Some(got) => self.compare(&place_of_key, want, got),
                None => self.differ(place, &format!("the key {key} is missing")),
            }
        }
    }

    pub fn is_improved(&self, place: &str) -> bool {
        self.improved.iter().any(|(name, pointer, _)| *name == self.label && *pointer == place)
    }

    pub fn differ(&mut self, place: &str, how: &str) {
        self.differences.push(format!("{}{place}: {how}", self.label));
    }
}

/// What is keyed by a window's uid is so by ours.
fn under_our_uid<'a>(key: &str, got: &'a Map<String, Value>) -> Option<&'a Value> {
    got.iter().find(|(ours, _)| key.starts_with("mock:") && same_text(key, ours)).map(|(_, value)| value)
}

fn same_text(want: &str, got: &str) -> bool {
    if let (Some(want), Some(got)) = (want.strip_prefix("mock:"), got.strip_prefix("mock:")) {
        return want.split(':').next() == got.split(':').next();
    }
    // Long samples are cut: a beginning, and how long the whole is.
    if let Some((start, rest)) = want.split_once("…[") {
        let length: Option<usize> =
            rest.strip_suffix(" characters in all]").and_then(|count| count.parse().ok());
        return got.starts_with(start) && length == Some(got.chars().count());
    }
    // What follows is read from a picture, by another program.
    match want.split_once("\n\n[ocr]\n") {
        Some((accessibility, _)) => {
            got.strip_prefix(accessibility).is_some_and(|rest| rest.starts_with("\n\n[ocr]\n"))
        }
        None => want == got,
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(160).collect()
}
