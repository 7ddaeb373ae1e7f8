//! What must not be shown: whatever the rules, the replacement and the secrets are, doing it twice is doing it once,
//! and a secret stands nowhere in what comes out, unless it is part of the replacement itself.

use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use os_screen_observer::config::Redaction;
use os_screen_observer::model::Element;
use os_screen_observer::privacy::redact::{Redactor, SHORTEST_LEARNED_SECRET};
use os_screen_observer::privacy::scrub::{self, Scrub};
use os_screen_observer::privacy::untrusted::clean_text;
use serde_json::{Value, json};

use super::generated::{element, nodes, text, tree};

const REPLACEMENTS: &[&str] = &["[REDACTED]", "", "*", "x", " hidden ", "hunter", "12", "]["];
const PATTERNS: &[&str] = &[
    r"\d{4}", "(?i)pass", "REDACTED", "hunt.?", r"\bab\b", "^a", "c$", "[ab]+c", "(?s).", "x*", r"\[",
    r"\w+@\w+",
];

struct Case {
    redactor: Redactor,
    replacement: String,
    secrets: Vec<String>,
}

pub fn check(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    // Too few bytes are no finding.
    let _ = check_case(&mut bytes);
}

fn check_case(bytes: &mut Unstructured) -> Result<()> {
    let case = Case::of(bytes)?;
    let given = text(bytes)?;
    case.check_text(&given);
    case.check_title(&given);
    case.check_line(bytes)?;
    case.check_json(&json!({"a": [given, text(bytes)?], "b": {"c": text(bytes)?}}));
    case.check_tree(bytes)
}

impl Case {
    fn of(bytes: &mut Unstructured) -> Result<Self> {
        let rules = Redaction {
            ocr_text_patterns: patterns(bytes)?,
            element_name_patterns: patterns(bytes)?,
            window_title_patterns: patterns(bytes)?,
            replacement: (*bytes.choose(REPLACEMENTS)?).to_owned(),
            ..Redaction::default()
        };
        let replacement = clean_text(&rules.replacement).into_owned();
        let redactor = Redactor::new(Some(rules)).expect("every pattern of ours can be used");
        let mut secrets = Vec::new();
        for _ in 0..bytes.int_in_range(0..=4)? {
            let secret = text(bytes)?;
            let known = clean_text(&secret).trim().to_owned();
            if bytes.ratio(1, 3)? && !known.is_empty() {
                redactor.keep(&secret);
                secrets.push(known);
            } else {
                redactor.learn_secret(&secret);
                if is_learned(&known, &replacement) {
                    secrets.push(known);
                }
            }
        }
        Ok(Self { redactor, replacement, secrets })
    }

    fn check_text(&self, text: &str) {
        let scrub = Scrub::of(&self.redactor);
        let once = scrub.text(text).into_owned();
        self.check_hidden(&once);
        assert_eq!(scrub.text(&once), once, "redacting twice is not redacting once");
        assert_eq!(clean_text(&clean_text(text)), clean_text(text), "cleaning twice is not cleaning once");
    }

    fn check_title(&self, title: &str) {
        let once = self.redactor.title(title).into_owned();
        self.check_hidden(&once);
    }

    /// The words of a line, as they were read from a picture.
    fn check_line(&self, bytes: &mut Unstructured) -> Result<()> {
        let mut words = Vec::new();
        for _ in 0..bytes.int_in_range(0..=4)? {
            words.push(clean_text(&text(bytes)?).into_owned());
        }
        self.redactor.line_of_words(&mut words.iter_mut().collect::<Vec<_>>());
        words.iter().for_each(|word| self.check_hidden(word));
        self.check_hidden(&words.join(" "));
        Ok(())
    }

    fn check_json(&self, value: &Value) {
        let scrub = Scrub::of(&self.redactor);
        let once = scrub::to_json_value(value, &scrub).unwrap();
        strings(&once).into_iter().for_each(|text| self.check_hidden(text));
        assert_eq!(
            scrub::to_json_value(&once, &scrub).unwrap(),
            once,
            "scrubbing twice is not scrubbing once"
        );
        let text = scrub::to_json_string(value, &scrub).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), once, "the text says something else");
    }

    fn check_tree(&self, bytes: &mut Unstructured) -> Result<()> {
        let (title, root, nodes) = (text(bytes)?, element(bytes)?, nodes(bytes, 8)?);
        let raw = Arc::new(tree(root, &nodes));
        let shown = self.redactor.shown(&raw, title.as_str());
        let mut learned = self.secrets.clone();
        for element in raw.elements().iter().filter(|element| element.secret) {
            let secret = clean_text(element.value.as_deref().unwrap_or_default()).trim().to_owned();
            if is_learned(&secret, &self.replacement) {
                learned.push(secret);
            }
        }
        for element in shown.tree.elements() {
            for text in texts(element) {
                check_hidden(&learned, &self.replacement, text);
            }
        }
        assert_eq!(shown.tree.len(), raw.len(), "an element was lost");
        let again = self.redactor.shown(&raw, title.as_str());
        // What is no number differs from itself, so it is the prints that are compared.
        assert_eq!(again.tree.fingerprint(), shown.tree.fingerprint(), "the same tree is shown in two ways");
        Ok(())
    }

    #[track_caller]
    fn check_hidden(&self, text: &str) {
        check_hidden(&self.secrets, &self.replacement, text);
    }
}

fn patterns(bytes: &mut Unstructured) -> Result<Vec<String>> {
    (0..bytes.int_in_range(0..=2)?).map(|_| Ok((*bytes.choose(PATTERNS)?).to_owned())).collect()
}

/// Too short a text and a row of bullets are no secret worth hiding everywhere.
fn is_learned(secret: &str, replacement: &str) -> bool {
    let mut characters = secret.chars();
    let first = characters.next().unwrap_or_default();
    let is_mask = !first.is_alphanumeric() && characters.all(|next| next == first);
    secret.chars().count() >= SHORTEST_LEARNED_SECRET && !is_mask && secret != replacement
}

fn texts(element: &Element) -> impl Iterator<Item = &str> {
    let others = [&element.value, &element.shortcut, &element.description, &element.identifier];
    [element.name.as_str(), element.role.name()]
        .into_iter()
        .chain(others.into_iter().flatten().map(String::as_str))
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// No secret stands in the text, but inside the replacement.
#[track_caller]
fn check_hidden(secrets: &[String], replacement: &str, text: &str) {
    for secret in secrets {
        let mut from = 0;
        while let Some(at) = text[from..].find(secret.as_str()).map(|at| at + from) {
            let covered = places(text, replacement)
                .into_iter()
                .any(|place| place <= at && at + secret.len() <= place + replacement.len());
            assert!(covered, "{secret:?} is shown in {text:?}, replaced by {replacement:?}");
            from = at + text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
}

/// Where `part` begins in the text, also where two of them overlap.
fn places(text: &str, part: &str) -> Vec<usize> {
    if part.is_empty() {
        return Vec::new();
    }
    text.char_indices().map(|(at, _)| at).filter(|&at| text[at..].starts_with(part)).collect()
}
