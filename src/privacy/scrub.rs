//! The one filter through which every string of every reply passes on its way out.
//!
//! It sits between a value and whatever writes it (a JSON text, a `Value`), so it sees replies of
//! any shape and nothing is built in between. It changes strings only; which values a reply holds
//! and how they are written is not its business.

use std::borrow::Cow;
use std::cell::Cell;

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::injection::{outline_texts, step_texts};
use super::redact::Redactor;
use super::untrusted;
use super::watch::InjectionWatch;
use crate::error::{Error, Result};
use crate::pattern::Effort;

#[derive(Debug)]
pub struct Scrub<'a> {
    redactor: &'a Redactor,
    /// What all texts of the reply may take together.
    effort: Effort,
    /// Sees every text as it leaves.
    watch: Option<&'a InjectionWatch>,
    /// For the person who decides, from whom only secrets are hidden.
    for_person: bool,
}

impl<'a> Scrub<'a> {
    pub fn of(redactor: &'a Redactor) -> Self {
        Self { redactor, effort: Effort::for_a_redaction(), watch: None, for_person: false }
    }

    /// What a person is asked: clean, and without the characters of secrets.
    pub fn for_person(redactor: &'a Redactor) -> Self {
        Self { for_person: true, ..Self::of(redactor) }
    }

    /// A word of ours, such as the name of a tool or of a caller, in which nothing but a secret is hidden.
    pub fn own_word(&self, text: &str) -> String {
        self.redactor.text_for_person(&untrusted::clean_text(text)).into_owned()
    }

    pub fn watched_by(self, watch: &'a InjectionWatch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// A foreign text as it may leave: clean, and without what must not be shown.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let shown = self.clean_text(text);
        if let Some(watch) = self.watch {
            watch.look(&shown);
        }
        shown
    }

    /// The same for an outline, whose lines are looked at as the texts that they are.
    pub fn outline<'t>(&self, outline: &'t str) -> Cow<'t, str> {
        let shown = self.clean_text(outline);
        if let Some(watch) = self.watch {
            outline_texts(&shown).into_iter().for_each(|text| watch.look(text));
        }
        shown
    }

    /// The same for the lines of steps, which say nothing together: the name of the next step's tool behind a sentence of
    /// ours would read as an order. What a step tells is in the JSON too, and is looked at there as a whole.
    pub fn step_lines<'t>(&self, lines: &'t str) -> Cow<'t, str> {
        let shown = self.clean_text(lines);
        if let Some(watch) = self.watch {
            step_texts(&shown).into_iter().for_each(|text| watch.look(text));
        }
        shown
    }

    fn clean_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let clean = untrusted::clean_text(text);
        if let (Cow::Owned(_), Some(watch)) = (&clean, self.watch) {
            watch.look_at_removed(text);
        }
        match clean {
            Cow::Borrowed(text) => self.redacted(text),
            Cow::Owned(text) => {
                let redacted = match self.redacted(&text) {
                    Cow::Borrowed(_) => None,
                    Cow::Owned(redacted) => Some(redacted),
                };
                Cow::Owned(redacted.unwrap_or(text))
            }
        }
    }
}

impl Scrub<'_> {
    fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.for_person {
            true => self.redactor.text_for_person(text),
            false => self.redactor.text_within(text, &self.effort),
        }
    }
}

/// The value, which scrubs itself while it is serialized.
pub fn scrub_serialized<'a, T: Serialize + ?Sized>(
    value: &'a T,
    scrub: &'a Scrub<'a>,
) -> impl Serialize + 'a {
    Scrubbed { value, scrub, place: StringPlace::Text }
}

pub fn to_json_string<T: Serialize + ?Sized>(value: &T, scrub: &Scrub) -> Result<String> {
    serde_json::to_string(&scrub_serialized(value, scrub)).map_err(serialize_error)
}

pub fn to_json_value<T: Serialize + ?Sized>(value: &T, scrub: &Scrub) -> Result<serde_json::Value> {
    serde_json::to_value(scrub_serialized(value, scrub)).map_err(serialize_error)
}

pub fn serialize_error(error: serde_json::Error) -> Error {
    Error::internal(format!("the reply could not be written as JSON: {error}"))
}

/// Where a string stands.
#[derive(Clone, Copy)]
enum StringPlace<'a> {
    Text,
    /// Under a key that `is_passed_key`.
    Passed,
    /// A key of a map; the cell tells the map what its value is.
    Key(&'a Cell<bool>),
}

impl StringPlace<'_> {
    fn under(key: &str) -> StringPlace<'static> {
        if is_passed_key(key) { StringPlace::Passed } else { StringPlace::Text }
    }
}

/// Keys whose value is made by the server or the platform and has to come back unchanged: picture
/// bytes and tokens, and the ids by which a caller names things. A pattern like `\d{4}` or a short
/// password would otherwise make every window and element unreachable.
fn is_passed_key(key: &str) -> bool {
    is_token_key(key) || is_id_key(key)
}

/// The contract's exceptions.
fn is_token_key(key: &str) -> bool {
    matches!(key, "data" | "screenshot_b64" | "tree_token" | "base_token" | "snapshot_id" | "confirm_token")
}

fn is_id_key(key: &str) -> bool {
    matches!(
        key,
        "id" | "ref"
            | "element_id"
            | "window_uid"
            | "focused_uid"
            | "handle"
            | "tree_hash"
            | "next_cursor"
            | "trace_id"
            | "active_trace_id"
            | "replay_id"
    )
}

/// A word that the server made up itself (a path into a tree, an id) where its key does not say so.
/// Like the values of those keys it has to come back unchanged. Foreign text never goes in here.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OwnWord<'a>(pub &'a str);

const OWN_WORD: &str = "OwnWord";

/// Ids, tokens and base64 are one word of printable ASCII. Anything else is text, whatever its key.
fn is_one_word(text: &str) -> bool {
    text.bytes().fold(true, |so_far, byte| so_far & byte.is_ascii_graphic())
}

struct Scrubbed<'a, T: ?Sized> {
    value: &'a T,
    scrub: &'a Scrub<'a>,
    place: StringPlace<'a>,
}

impl<T: Serialize + ?Sized> Serialize for Scrubbed<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(ScrubSerializer { inner: serializer, scrub: self.scrub, place: self.place })
    }
}

/// Hands everything on to `inner`, strings changed.
struct ScrubSerializer<'a, S> {
    inner: S,
    scrub: &'a Scrub<'a>,
    place: StringPlace<'a>,
}

impl<'a, S: Serializer> ScrubSerializer<'a, S> {
    fn scrub_compound<C>(scrub: &'a Scrub<'a>, inner: C) -> Compound<'a, C> {
        Compound { inner, scrub, next_is_passed: Cell::new(false) }
    }

    fn same_place<'v, T: ?Sized>(&self, value: &'v T) -> Scrubbed<'v, T>
    where
        'a: 'v,
    {
        Scrubbed { value, scrub: self.scrub, place: self.place }
    }
}

macro_rules! hand_on {
    ($($method:ident: $number:ty),*) => {$(
        fn $method(self, value: $number) -> Result<S::Ok, S::Error> {
            self.inner.$method(value)
        }
    )*};
}

impl<'a, S: Serializer> Serializer for ScrubSerializer<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Compound<'a, S::SerializeSeq>;
    type SerializeTuple = Compound<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Compound<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Compound<'a, S::SerializeTupleVariant>;
    type SerializeMap = Compound<'a, S::SerializeMap>;
    type SerializeStruct = Compound<'a, S::SerializeStruct>;
    type SerializeStructVariant = Compound<'a, S::SerializeStructVariant>;

    hand_on!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_f32: f32,
        serialize_f64: f64, serialize_bytes: &[u8], serialize_unit_struct: &'static str
    );

    fn serialize_str(self, text: &str) -> Result<S::Ok, S::Error> {
        match self.place {
            // An id that was not found is the caller's word, which may be a secret in the wrong place.
            StringPlace::Passed if is_one_word(text) && !self.scrub.redactor.is_known(text) => {
                self.inner.serialize_str(text)
            }
            StringPlace::Passed | StringPlace::Text => self.inner.serialize_str(&self.scrub.text(text)),
            StringPlace::Key(value_is_passed) => {
                value_is_passed.set(is_passed_key(text));
                self.inner.serialize_str(&untrusted::clean_text(text))
            }
        }
    }

    fn serialize_char(self, character: char) -> Result<S::Ok, S::Error> {
        self.serialize_str(character.encode_utf8(&mut [0; 4]))
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let value = self.same_place(value);
        self.inner.serialize_some(&value)
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    /// A variant's name is the program's own text. As a key it still says what follows.
    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        if let StringPlace::Key(value_is_passed) = self.place {
            value_is_passed.set(is_passed_key(variant));
        }
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let place = if name == OWN_WORD { StringPlace::Passed } else { self.place };
        let value = Scrubbed { value, scrub: self.scrub, place };
        self.inner.serialize_newtype_struct(name, &value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let value = Scrubbed { value, scrub: self.scrub, place: StringPlace::under(variant) };
        self.inner.serialize_newtype_variant(name, index, variant, &value)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        Ok(Self::scrub_compound(self.scrub, self.inner.serialize_seq(length)?))
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        Ok(Self::scrub_compound(self.scrub, self.inner.serialize_tuple(length)?))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        Ok(Self::scrub_compound(self.scrub, self.inner.serialize_tuple_struct(name, length)?))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        Ok(Self::scrub_compound(
            self.scrub,
            self.inner.serialize_tuple_variant(name, index, variant, length)?,
        ))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        Ok(Self::scrub_compound(self.scrub, self.inner.serialize_map(length)?))
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeStruct, S::Error> {
        Ok(Self::scrub_compound(self.scrub, self.inner.serialize_struct(name, length)?))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        Ok(Self::scrub_compound(
            self.scrub,
            self.inner.serialize_struct_variant(name, index, variant, length)?,
        ))
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// A list, a map or a struct that is being written. What is inside a passed key's list or object
/// is text again: only the string directly under the key is passed.
struct Compound<'a, C> {
    inner: C,
    scrub: &'a Scrub<'a>,
    next_is_passed: Cell<bool>,
}

macro_rules! list_of_items {
    ($($compound:ident :: $method:ident),*) => {$(
        impl<C: $compound> $compound for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                self.inner.$method(&Scrubbed { value, scrub: self.scrub, place: StringPlace::Text })
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    )*};
}

list_of_items!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! named_fields {
    ($($compound:ident),*) => {$(
        impl<C: $compound> $compound for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), C::Error> {
                let value = Scrubbed { value, scrub: self.scrub, place: StringPlace::under(key) };
                self.inner.serialize_field(key, &value)
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
                self.inner.skip_field(key)
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    )*};
}

named_fields!(SerializeStruct, SerializeStructVariant);

impl<C: SerializeMap> SerializeMap for Compound<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        self.next_is_passed.set(false);
        let place = StringPlace::Key(&self.next_is_passed);
        self.inner.serialize_key(&Scrubbed { value: key, scrub: self.scrub, place })
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let place = if self.next_is_passed.get() { StringPlace::Passed } else { StringPlace::Text };
        self.inner.serialize_value(&Scrubbed { value, scrub: self.scrub, place })
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Redaction;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn redactor() -> Redactor {
        let rules = Redaction { ocr_text_patterns: vec![r"\d{4}".to_owned()], ..Redaction::default() };
        let redactor = Redactor::new(Some(rules)).unwrap();
        redactor.learn_secret("hunter2");
        redactor
    }

    #[track_caller]
    fn check<T: Serialize>(value: T, expected: Value) {
        let redactor = redactor();
        let scrub = Scrub::of(&redactor);
        assert_eq!(to_json_value(&value, &scrub).unwrap(), expected);
        let text = to_json_string(&value, &scrub).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }

    #[derive(Serialize)]
    struct Inner {
        name: &'static str,
        window_uid: Option<&'static str>,
    }

    #[derive(Serialize)]
    struct Outer {
        #[serde(flatten)]
        inner: Inner,
        #[serde(flatten)]
        more: BTreeMap<&'static str, &'static str>,
        letter: char,
        nothing: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u8>,
        wrapped: Wrapped,
        pair: (&'static str, f64),
    }

    #[derive(Serialize)]
    struct Wrapped(&'static str);

    #[derive(Serialize)]
    enum Variants {
        Unit,
        Text(&'static str),
        Both(&'static str, bool),
        Fields { data: &'static str, note: &'static str },
    }

    /// However many strings a reply has, and however long their patterns take.
    #[test]
    fn the_texts_of_a_reply_share_their_time() {
        let rules = serde_json::from_value(json!({"ocr_text_patterns": ["x(?=y)", "z"]})).unwrap();
        let redactor = Redactor::new(Some(rules)).unwrap();
        let spent = || Scrub { effort: Effort::none(), ..Scrub::of(&redactor) };
        let long = "a".repeat(1000);
        for (text, in_time, too_late) in [("a", "a", "[REDACTED]"), (&*long, &*long, "[REDACTED]")] {
            assert_eq!(Scrub::of(&redactor).text(text), in_time);
            assert_eq!(spent().text(text), too_late);
        }
    }

    #[test]
    fn own_words_come_back_unchanged_under_any_key() {
        check(json!({"path": "0/1234"}), json!({"path": "0/[REDACTED]"}));
        check(BTreeMap::from([("path", OwnWord("0/1234"))]), json!({"path": "0/1234"}));
        check([Some(OwnWord("root.1234")), None], json!(["root.1234", null]));
        check([OwnWord("not one word 1234")], json!(["not one word [REDACTED]"]));
    }

    #[test]
    fn strings_are_cleaned_and_redacted_at_any_depth() {
        check(
            json!({"a": ["x\x1b[2Jy", {"b": "pw hunter2"}], "n": 1234, "t": true, "z": null}),
            json!({"a": ["xy", {"b": "pw [REDACTED]"}], "n": 1234, "t": true, "z": null}),
        );
        check("1234", json!("[REDACTED]"));
    }

    #[test]
    fn an_escape_cannot_hide_a_secret() {
        check("hun\x1b[0mter2", json!("[REDACTED]"));
    }

    #[test]
    fn ids_tokens_and_bytes_pass() {
        for key in ["data", "screenshot_b64", "tree_token", "base_token", "snapshot_id", "confirm_token"] {
            check(json!({key: "x:1234"}), json!({key: "x:1234"}));
        }
        for key in ["id", "ref", "element_id", "window_uid", "handle", "tree_hash", "trace_id", "replay_id"] {
            check(json!({key: "x:1234"}), json!({key: "x:1234"}));
        }
        check(json!({"token": "x:1234"}), json!({"token": "x:[REDACTED]"}));
    }

    #[test]
    fn only_a_word_directly_under_the_key_passes() {
        check(json!({"data": "pin 1234"}), json!({"data": "pin [REDACTED]"}));
        check(json!({"data": "\u{7}1234"}), json!({"data": "[REDACTED]"}));
        check(json!({"data": ["1234"]}), json!({"data": ["[REDACTED]"]}));
        check(json!({"data": {"text": "1234"}}), json!({"data": {"text": "[REDACTED]"}}));
        check(json!({"data": "1234", "next": "1234"}), json!({"data": "1234", "next": "[REDACTED]"}));
    }

    #[test]
    fn structs_flattened_fields_and_options() {
        let outer = Outer {
            inner: Inner { name: "hunter2", window_uid: Some("win:1234") },
            more: BTreeMap::from([("data", "1234"), ("b", "1234")]),
            letter: '\u{7}',
            nothing: None,
            skipped: None,
            wrapped: Wrapped("1234"),
            pair: ("1234", 0.5),
        };
        check(
            outer,
            json!({"name": "[REDACTED]", "window_uid": "win:1234", "data": "1234", "b": "[REDACTED]",
                "letter": "", "nothing": null, "wrapped": "[REDACTED]", "pair": ["[REDACTED]", 0.5]}),
        );
    }

    #[test]
    fn enums_of_every_form() {
        check(Variants::Unit, json!("Unit"));
        check(Variants::Text("1234"), json!({"Text": "[REDACTED]"}));
        check(Variants::Both("1234", true), json!({"Both": ["[REDACTED]", true]}));
        check(
            Variants::Fields { data: "1234", note: "1234" },
            json!({"Fields": {"data": "1234", "note": "[REDACTED]"}}),
        );
    }

    #[test]
    fn keys_are_cleaned_and_numbers_may_be_keys() {
        check(json!({"a\x1b[2Jb": 1}), json!({"ab": 1}));
        check(BTreeMap::from([(7u8, "1234")]), json!({"7": "[REDACTED]"}));
    }

    #[test]
    fn values_that_print_themselves_are_scrubbed() {
        struct Printed;
        impl Serialize for Printed {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&format_args!("hun{}", "ter2"))
            }
        }
        check(Printed, json!("[REDACTED]"));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = "([a-z0-9é\\x1b\\[\\x07 ]|hunter2|1234){0,8}";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-c]{1,2}|data|id", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn scrubbing_twice_is_scrubbing_once(value in any_json()) {
            let redactor = redactor();
            let scrub = Scrub::of(&redactor);
            let once = to_json_value(&value, &scrub).unwrap();
            prop_assert_eq!(&to_json_value(&once, &scrub).unwrap(), &once);
        }

        #[test]
        fn without_anything_to_hide_the_bytes_are_those_of_serde_json(value in any_json()) {
            let redactor = Redactor::new(None).unwrap();
            let scrub = Scrub::of(&redactor);
            let clean = to_json_value(&value, &scrub).unwrap();
            prop_assert_eq!(to_json_string(&clean, &scrub).unwrap(), serde_json::to_string(&clean).unwrap());
        }
    }
}
