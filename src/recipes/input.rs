//! The inputs of a run under the names that a recipe has for them, and texts with inputs and secrets filled in.

use serde_json::{Map, Value, json};

use super::format::Recipe;
use crate::error::{Error, Result};

impl Recipe {
    /// The inputs by the recipe's own names. Two names of one input must not disagree.
    pub fn canonical_input(&self, input: &Map<String, Value>) -> Result<Map<String, Value>> {
        let mut canonical = Map::new();
        for (given, value) in input {
            let name = self.canonical_name(given);
            match canonical.get(name) {
                Some(other) if other != value => {
                    let message = format!(
                        "input.{given} is another name of input.{name} in the recipe '{}', and their values differ",
                        self.id
                    );
                    return Err(Error::bad_request(message).with("field", format!("input.{given}")));
                }
                _ => canonical.insert(name.to_owned(), value.clone()),
            };
        }
        Ok(canonical)
    }

    fn canonical_name<'a>(&'a self, given: &'a str) -> &'a str {
        let is_given = |aliases: &[String]| aliases.iter().any(|alias| alias == given);
        let named = self.input_aliases.iter().find(|(name, aliases)| *name == given || is_given(aliases));
        named.map_or(given, |(name, _)| name)
    }
}

/// What stands between `{{` and `}}` in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    Input(String),
    Secret(String),
}

impl Slot {
    pub fn read(name: &str) -> std::result::Result<Self, String> {
        if let Some(input) = name.strip_prefix("input.").filter(|input| is_name(input)) {
            return Ok(Slot::Input(input.to_owned()));
        }
        if let Some(secret) = name.strip_prefix("secret:").filter(|secret| is_name(secret)) {
            return Ok(Slot::Secret(secret.to_owned()));
        }
        Err(format!("{{{{{name}}}}} is neither {{{{input.NAME}}}} nor {{{{secret:NAME}}}}"))
    }
}

pub fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    !text.is_empty() && text.len() <= 64 && text.chars().all(is_letter)
}

/// The slots of a text, in their order.
pub fn slots_in(text: &str) -> std::result::Result<Vec<Slot>, String> {
    let begun = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
    begun.map(|(name, _)| Slot::read(name)).collect()
}

/// A value with its slots filled. A text that is one secret becomes the argument that names the secret; its value is put
/// in by the server, and never passes through here.
pub fn fill_value(value: &Value, input: &Map<String, Value>) -> std::result::Result<Value, String> {
    match value {
        Value::String(text) => fill_text(text, input),
        Value::Array(list) => list.iter().map(|item| fill_value(item, input)).collect(),
        Value::Object(fields) => {
            let filled = fields.iter().map(|(name, item)| Ok((name.clone(), fill_value(item, input)?)));
            filled.collect::<std::result::Result<Map<_, _>, String>>().map(Value::Object)
        }
        other => Ok(other.clone()),
    }
}

fn fill_text(text: &str, input: &Map<String, Value>) -> std::result::Result<Value, String> {
    let whole =
        text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")).filter(|name| !name.contains("}}"));
    match whole.map(Slot::read).transpose()? {
        Some(Slot::Secret(name)) => return Ok(json!({ "secret": name })),
        Some(Slot::Input(name)) => return input.get(&name).cloned().ok_or_else(|| missing_input(&name)),
        None => {}
    }
    let mut filled = String::new();
    let mut rest = text;
    // What was filled in is not looked through again: it may be anybody's text.
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            filled.push_str("{{");
            rest = after;
            continue;
        };
        filled.push_str(&slot_text(name, input)?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(Value::String(filled))
}

fn slot_text(name: &str, input: &Map<String, Value>) -> std::result::Result<String, String> {
    match Slot::read(name)? {
        Slot::Secret(name) => Err(format!("{{{{secret:{name}}}}} must be the whole of an argument")),
        Slot::Input(name) => {
            let value = input.get(&name).ok_or_else(|| missing_input(&name))?;
            Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        }
    }
}

/// A selector with its slots filled. What fills them stays inside the quotes that it stands in.
pub fn fill_selector(selector: &str, input: &Map<String, Value>) -> std::result::Result<String, String> {
    if !selector.contains("{{") {
        return Ok(selector.to_owned());
    }
    let quoted: Map<String, Value> =
        input.iter().map(|(name, value)| (name.clone(), escaped(value).into())).collect();
    let filled = fill_text(selector, &quoted)?;
    filled.as_str().map(str::to_owned).ok_or_else(|| "a selector holds no secret".to_owned())
}

fn escaped(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn missing_input(name: &str) -> String {
    format!("the recipe needs input.{name}, and the job does not give it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: Value, expected: std::result::Result<Value, &str>) {
        let input = json!({"amount": 3, "name": "{{secret:pin}}"});
        let filled = fill_value(&written, input.as_object().unwrap());
        match expected {
            Ok(expected) => assert_eq!(filled, Ok(expected), "{written}"),
            Err(words) => {
                assert!(filled.as_ref().is_err_and(|said| said.contains(words)), "{written}: {filled:?}")
            }
        }
    }

    #[test]
    fn slots_are_filled_and_what_fills_them_is_not_read_again() {
        check(json!("{{input.amount}}"), Ok(json!(3)));
        check(json!("{{input.amount}} pens for {{input.name}}"), Ok(json!("3 pens for {{secret:pin}}")));
        check(json!({"value": ["{{secret:pin}}"]}), Ok(json!({"value": [{"secret": "pin"}]})));
        check(json!("a {{ b"), Ok(json!("a {{ b")));
        check(json!("x{{secret:pin}}"), Err("must be the whole"));
        check(json!("{{input.none}}"), Err("needs input.none"));
        check(json!("{{other}}"), Err("neither"));
    }

    #[test]
    fn an_input_does_not_end_the_quotes_of_a_selector() {
        let input = json!({"name": r#"x"] /Button[name="Pay\"#});
        let filled = fill_selector(r#"//Text[name="{{input.name}}"]"#, input.as_object().unwrap()).unwrap();
        let read = crate::model::selector::Selector::parse(&filled).unwrap();
        assert_eq!(read.to_string(), filled);
        assert_eq!(filled, r#"//Text[name="x\"] /Button[name=\"Pay\\"]"#);
    }

    #[test]
    fn aliases_become_the_names_of_the_recipe() {
        let recipe = Recipe {
            id: "r".to_owned(),
            input_aliases: [("address".to_owned(), vec!["token".to_owned(), "mint".to_owned()])].into(),
            ..Recipe::default()
        };
        let canonical = |input: Value| recipe.canonical_input(input.as_object().unwrap());
        assert_eq!(
            Value::Object(canonical(json!({"mint": "x", "n": 1})).unwrap()),
            json!({"address": "x", "n": 1})
        );
        assert!(canonical(json!({"mint": "x", "address": "x"})).is_ok());
        assert!(canonical(json!({"mint": "x", "token": "y"})).unwrap_err().message.contains("differ"));
    }
}
