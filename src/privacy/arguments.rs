//! Arguments as they may be kept and shown: without secrets, and bounded.

use serde_json::{Map, Value, json};

use super::redact::Redactor;
use crate::model::KeyCombo;

/// Stands for an argument that must not be stored; it is never typed by a replay.
pub const REDACTED: &str = "<redacted>";

/// The key that marks arguments which were too long to store.
pub const TRUNCATED: &str = "__truncated";

/// Marks an argument that takes `{"secret": "NAME"}` instead of its text.
pub const SECRET: &str = "x-secret";

/// How much of arguments that are too long is kept.
const PREVIEW_CHARACTERS: usize = 200;

/// Arguments whose text goes into an element. Whatever a tool does not declare is treated like them,
/// because a misspelt name is no reason to store a password.
const TYPED: &[&str] = &["text", "value"];
pub const KEYS: &str = "keys";
/// What stands for a text that is not kept.
pub const HIDDEN: &str = REDACTED;

/// The names of the secrets that the server was given.
pub trait SecretNames {
    fn knows(&self, name: &str) -> bool;
}

pub struct Keeper<'a> {
    pub redactor: &'a Redactor,
    pub redact_keys: &'a [String],
    /// The tool's full input schema.
    pub schema: &'a Value,
    /// What is typed goes into an element that must not be shown.
    pub hides_typed: bool,
    /// Known secrets are kept by their names, which are none.
    pub secrets: &'a dyn SecretNames,
    pub max_bytes: usize,
    /// A person who decides is to read them.
    pub for_person: bool,
}

impl Keeper<'_> {
    pub fn kept(&self, args: &Map<String, Value>) -> Map<String, Value> {
        let kept = self.object(args, true);
        let text = Value::Object(kept.clone()).to_string();
        if kept.is_empty() || text.len() <= self.max_bytes {
            return kept;
        }
        let preview: String = text.chars().take(PREVIEW_CHARACTERS).collect();
        Map::from_iter([(TRUNCATED.to_owned(), json!(true)), ("preview".to_owned(), json!(preview))])
    }

    fn object(&self, fields: &Map<String, Value>, at_root: bool) -> Map<String, Value> {
        fields
            .iter()
            .map(|(name, value)| {
                let kept = match at_root.then(|| self.named_secret(name, value)).flatten() {
                    Some(secret) => json!({ "secret": secret }),
                    None if self.hides_field(name) => json!(REDACTED),
                    None if at_root && self.hides_typed && is_typed(self.schema, name, value) => {
                        json!(REDACTED)
                    }
                    None => self.value(value),
                };
                (self.text(name), kept)
            })
            .collect()
    }

    /// The name of the secret that the argument stands for. A name that is not known may be a password that
    /// somebody put into the wrong place.
    fn named_secret<'b>(&self, argument: &str, value: &'b Value) -> Option<&'b str> {
        let name = named_secret(self.schema, argument, value)?;
        let shown = self.secrets.knows(name) && !self.hides_field(argument) && self.text(name) == name;
        shown.then_some(name)
    }

    /// The readers of requests bound the depth of what arrives, and with it this recursion.
    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => Value::Object(self.object(fields, false)),
            plain => plain.clone(),
        }
    }

    /// A text with something to hide is hidden as a whole: half a selector selects nothing. From a person who decides
    /// only the secret itself is hidden.
    fn text(&self, text: &str) -> String {
        if self.for_person {
            return self.redactor.text_for_person(text).into_owned();
        }
        if self.redactor.text(text) == text { text.to_owned() } else { REDACTED.to_owned() }
    }

    fn hides_field(&self, name: &str) -> bool {
        self.redact_keys.iter().any(|hidden| hidden.eq_ignore_ascii_case(name))
    }
}

/// The secret that one argument names, if the schema lets one stand there.
pub fn named_secret<'a>(schema: &Value, name: &str, value: &'a Value) -> Option<&'a str> {
    schema.get("properties")?.get(name)?.get(SECRET)?;
    value.as_object().filter(|object| object.len() == 1)?.get("secret")?.as_str()
}

/// Whether an argument of a tool with this schema is what the tool would type.
pub fn is_typed(schema: &Value, name: &str, value: &Value) -> bool {
    if name == KEYS {
        return may_be_typed(value);
    }
    let declared = schema.pointer(&format!("/properties/{}", crate::text::escape_pointer(name))).is_some();
    TYPED.contains(&name) || !declared
}

/// Whether the keys of a call may be a letter of a password. What is no combination may be a text in the wrong place.
pub fn may_be_typed(keys: &Value) -> bool {
    let combination = keys.as_str().and_then(|keys| KeyCombo::parse(keys).ok());
    combination.is_none_or(|keys| keys.types_a_character())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl SecretNames for [&str; 2] {
        fn knows(&self, name: &str) -> bool {
            self.contains(&name)
        }
    }

    fn check(args: Value, hides_typed: bool, expected: Value) {
        let redactor = Redactor::new(None).unwrap();
        redactor.learn_secret("hunter22");
        let text = json!({SECRET: true});
        let schema = json!({"properties": {"text": text, "keys": {}, "selector": {}, "x": {}}});
        let secrets = ["BANK", "hunter22"];
        let keys = ["password".to_owned(), "Token".to_owned(), "secret".to_owned()];
        let keeper = Keeper {
            redactor: &redactor,
            redact_keys: &keys,
            schema: &schema,
            hides_typed,
            secrets: &secrets,
            max_bytes: 300,
            for_person: false,
        };
        assert_eq!(Value::Object(keeper.kept(args.as_object().unwrap())), expected);
    }

    #[test]
    fn named_keys_are_hidden_at_any_depth() {
        check(json!({"x": 1, "PASSWORD": "a"}), false, json!({"x": 1, "PASSWORD": REDACTED}));
        check(json!({"a": [{"token": {"b": 1}}]}), false, json!({"a": [{"token": REDACTED}]}));
    }

    #[test]
    fn known_secrets_are_hidden_whole_wherever_they_stand() {
        check(json!({"selector": "//Edit[name=\"hunter22\"]"}), false, json!({"selector": REDACTED}));
        check(json!({"text": "alice"}), false, json!({"text": "alice"}));
        check(json!({"hunter22": 1}), false, json!({REDACTED: 1}));
    }

    #[test]
    fn what_is_typed_into_a_secret_is_hidden_and_the_rest_stays() {
        check(json!({"text": "12", "x": 3}), true, json!({"text": REDACTED, "x": 3}));
        check(
            json!({"selector": "//Edit", "txt": "12"}),
            true,
            json!({"selector": "//Edit", "txt": REDACTED}),
        );
        for (keys, kept) in [("h", REDACTED), ("shift+h", REDACTED), ("?!", REDACTED), ("enter", "enter")] {
            check(json!({"keys": keys}), true, json!({"keys": kept}));
        }
        check(json!({"keys": "ctrl+a"}), true, json!({"keys": "ctrl+a"}));
        check(json!({"keys": "h"}), false, json!({"keys": "h"}));
    }

    #[test]
    fn a_known_secret_is_kept_by_its_name_where_one_may_stand() {
        for hides_typed in [false, true] {
            check(json!({"text": {"secret": "BANK"}}), hides_typed, json!({"text": {"secret": "BANK"}}));
        }
        let hidden = json!({"text": REDACTED});
        for no_name in
            [json!({"secret": "hunter2"}), json!({"secret": "BANK", "or": "hunter2"}), json!("BANK")]
        {
            check(json!({ "text": no_name }), true, hidden.clone());
        }
        // A name that is also the value of a secret gives it away.
        check(json!({"text": {"secret": "hunter22"}}), true, hidden);
        check(json!({"x": {"secret": "BANK"}}), false, json!({"x": {"secret": REDACTED}}));
        check(json!({"password": {"secret": "BANK"}}), false, json!({"password": REDACTED}));
    }

    #[test]
    fn long_arguments_leave_a_preview() {
        let text = "é".repeat(400);
        let preview: String = format!("{{\"text\":\"{text}").chars().take(200).collect();
        check(json!({"text": text}), false, json!({"__truncated": true, "preview": preview}));
    }
}
