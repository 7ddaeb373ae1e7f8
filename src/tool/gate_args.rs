//! The gate's own arguments: what a caller says to the gate and not to the tool. A tool's declaration says which of
//! them it takes; they are added to its schema here, and taken out of a call before the tool's `Args` are read.

use serde_json::{Map, Value, json};

use super::schema::{HIDDEN, IN_FULL};
use super::{Lock, Meta};
use crate::config::Config;

const SECRET: &str = "secret";
const MAX_TOKENS: &str = "max_tokens";
const DRY_RUN: &str = "dry_run";
const CONFIRM_TOKEN: &str = "confirm_token";

/// What a call says to the gate.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GateArgs {
    /// How many tokens the whole reply may have.
    pub max_tokens: Option<usize>,
    /// Everything is checked and nothing is done.
    pub dry_run: bool,
    /// What proves a consent.
    pub confirm_token: Option<String>,
    /// What of the arguments was understood differently from what was written.
    pub notes: Vec<String>,
}

impl GateArgs {
    /// Takes the gate's arguments out of checked ones, and leaves the tool's. What opens a lock is dropped: the gate
    /// has read it before anything was recorded.
    pub fn split_off(meta: &Meta, args: &mut Map<String, Value>) -> Self {
        let own: Map<String, Value> = gate_properties(meta)
            .filter_map(|(name, _)| Some((name.to_owned(), args.shift_remove(name)?)))
            .collect();
        let most = own.get(MAX_TOKENS).and_then(Value::as_u64);
        Self {
            max_tokens: most.and_then(|most| usize::try_from(most).ok()),
            dry_run: own.get(DRY_RUN) == Some(&Value::Bool(true)),
            confirm_token: own.get(CONFIRM_TOKEN).and_then(Value::as_str).map(str::to_owned),
            notes: Vec::new(),
        }
    }
}

/// Takes the argument that opens a lock out of a call, whatever it is.
pub fn take_credential(meta: &Meta, args: &mut Value) -> Option<Value> {
    meta.lock.and_then(|_| args.as_object_mut()?.shift_remove(SECRET))
}

/// Adds the gate's arguments to the schema of a tool's own.
pub fn add_properties(meta: &Meta, schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties
        .into_iter()
        .for_each(|known| known.extend(gate_properties(meta).map(|(name, own)| (name.to_owned(), own))));
}

/// The gate's arguments that a tool takes, each with its schema.
fn gate_properties(meta: &Meta) -> impl Iterator<Item = (&'static str, Value)> {
    let of_lock = meta.lock.map(secret_schema);
    let of_reply = meta.fits.then(|| {
        json!({
            "type": "integer", "minimum": 100, "maximum": 1_000_000,
            "description": "At most so many.", "x-fit": true,
        })
    });
    let words = if meta.steps { "Check all, do nothing." } else { "Check only, do nothing." };
    let of_input = meta.effect.acts().then(|| {
        let schema = json!({"type": "boolean", "description": words});
        shown_or_hidden(meta, schema, if meta.lists_dry_run { IN_FULL.into() } else { true.into() })
    });
    // The steps of a list bring a token each. What may be asked for is listed; one tool of a list says what it is.
    let of_consent = (meta.effect.acts() && !meta.steps).then(|| match meta.shows_gate_args {
        true => json!({"type": "string", "maxLength": 64, "description": "Consent token."}),
        false => json!({"type": "string", "maxLength": 64}),
    });
    [(SECRET, of_lock), (MAX_TOKENS, of_reply), (DRY_RUN, of_input), (CONFIRM_TOKEN, of_consent)]
        .into_iter()
        .filter_map(|(name, schema)| Some((name, schema?)))
}

fn secret_schema(lock: fn(&Config) -> Lock<'_>) -> Value {
    let description = format!("The value of {}.", lock(&Config::default()).key_name);
    json!({"type": "string", "maxLength": 512, "description": description, "x-credential": true})
}

fn shown_or_hidden(meta: &Meta, mut schema: Value, hidden: Value) -> Value {
    if !meta.shows_gate_args {
        schema[HIDDEN] = hidden;
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Effect;

    const LOOKS: Meta = Meta::DEFAULT;
    const FITS: Meta = Meta { fits: true, ..Meta::DEFAULT };
    const ACTS: Meta = Meta { effect: Effect::Input, ..Meta::DEFAULT };
    const LISTS: Meta = Meta { steps: true, fits: true, shows_gate_args: true, ..ACTS };

    fn check(meta: &Meta, names: &[&str], own: GateArgs, left: &[&str]) {
        let mut schema = json!({"properties": {"x": {}}});
        add_properties(meta, &mut schema);
        let known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(known, names);
        let args = json!({"x": 1, "max_tokens": 500, "dry_run": true, "confirm_token": "ct:1"});
        let mut args = args.as_object().unwrap().clone();
        assert_eq!(GateArgs::split_off(meta, &mut args), own);
        assert_eq!(args.keys().collect::<Vec<_>>(), left);
    }

    #[test]
    fn a_declaration_says_which_arguments_are_the_gates() {
        let all = ["x", "max_tokens", "dry_run", "confirm_token"];
        let fitted = || GateArgs { max_tokens: Some(500), ..GateArgs::default() };
        let token = Some("ct:1".to_owned());
        check(&LOOKS, &["x"], GateArgs::default(), &all);
        check(&FITS, &["x", "max_tokens"], fitted(), &["x", "dry_run", "confirm_token"]);
        check(
            &ACTS,
            &["x", "dry_run", "confirm_token"],
            GateArgs { dry_run: true, confirm_token: token, ..GateArgs::default() },
            &["x", "max_tokens"],
        );
        check(
            &LISTS,
            &["x", "max_tokens", "dry_run"],
            GateArgs { dry_run: true, ..fitted() },
            &["x", "confirm_token"],
        );
    }

    #[test]
    fn only_a_lock_takes_a_secret() {
        let mut call = json!({"secret": "s"});
        assert_eq!(take_credential(&ACTS, &mut call), None);
        let lock: fn(&Config) -> Lock<'_> =
            |_| Lock { enabled: true, switch: "a.b", key: None, key_name: "a.secret" };
        let locked = Meta { lock: Some(lock), ..ACTS };
        assert_eq!(take_credential(&locked, &mut call), Some("s".into()));
        assert_eq!(call, json!({}));
        let mut checked = Map::from_iter([(SECRET.to_owned(), "s".into())]);
        GateArgs::split_off(&locked, &mut checked);
        assert!(checked.is_empty());
    }
}
