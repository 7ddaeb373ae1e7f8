//! A JSON object whose entries are already written. Entries can be added and replaced without reading the others, so a
//! large tree is written once and nothing is made of it but text.

use std::fmt;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::{Error as _, Impossible, SerializeMap, SerializeStruct, Serializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Error, Map, Value};

/// In the order in which they are written; no key is there twice.
#[derive(Clone, Debug, Default)]
pub struct WrittenObject(Vec<(String, Box<RawValue>)>);

impl WrittenObject {
    /// Writes what serializes as an object.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        value.serialize(ObjectWriter)
    }

    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let (_, value) = self.0.iter().find(|(name, _)| name == key)?;
        serde_json::from_str(value.get()).ok()
    }

    /// Replaces the entry in its place, or adds it at the end.
    pub fn insert<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        let value = to_raw_value(value)?;
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, place)) => *place = value,
            None => self.0.push((key.to_owned(), value)),
        }
        Ok(())
    }

    /// Adds the entries of another at the end.
    pub fn extend(&mut self, other: WrittenObject) {
        self.0.extend(other.0);
    }

    /// How many bytes the text has.
    pub fn text_bytes(&self) -> usize {
        let entry = |(key, value): &(String, Box<RawValue>)| key_bytes(key) + 1 + value.get().len();
        let commas = self.0.len().saturating_sub(1);
        2 + commas + self.0.iter().map(entry).sum::<usize>()
    }

    pub fn to_map(&self) -> Map<String, Value> {
        let read = |value: &RawValue| serde_json::from_str(value.get()).unwrap_or_default();
        self.0.iter().map(|(key, value)| (key.clone(), read(value))).collect()
    }
}

fn key_bytes(key: &str) -> usize {
    serde_json::to_string(key).map_or(key.len() + 2, |text| text.len())
}

impl fmt::Display for WrittenObject {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for WrittenObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de> Deserialize<'de> for WrittenObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectReader)
    }
}

struct ObjectReader;

impl<'de> Visitor<'de> for ObjectReader {
    type Value = WrittenObject;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<WrittenObject, A::Error> {
        let mut object = WrittenObject::default();
        while let Some(entry) = entries.next_entry()? {
            object.0.push(entry);
        }
        Ok(object)
    }
}

/// Writes each entry of an object by itself, and refuses what is none.
struct ObjectWriter;

#[derive(Default)]
struct EntryWriter {
    object: WrittenObject,
    key: Option<String>,
}

fn no_object<T>() -> Result<T, Error> {
    Err(Error::custom("a reply is an object"))
}

macro_rules! refuse {
    ($($method:ident($($argument:ty),*) -> $result:ty;)*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<$result, Error> {
            no_object()
        }
    )*};
}

type Never = Impossible<WrittenObject, Error>;

impl Serializer for ObjectWriter {
    type Ok = WrittenObject;
    type Error = Error;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = EntryWriter;
    type SerializeStruct = EntryWriter;
    type SerializeStructVariant = Never;

    refuse! {
        serialize_bool(bool) -> WrittenObject;
        serialize_i8(i8) -> WrittenObject;
        serialize_i16(i16) -> WrittenObject;
        serialize_i32(i32) -> WrittenObject;
        serialize_i64(i64) -> WrittenObject;
        serialize_u8(u8) -> WrittenObject;
        serialize_u16(u16) -> WrittenObject;
        serialize_u32(u32) -> WrittenObject;
        serialize_u64(u64) -> WrittenObject;
        serialize_f32(f32) -> WrittenObject;
        serialize_f64(f64) -> WrittenObject;
        serialize_char(char) -> WrittenObject;
        serialize_str(&str) -> WrittenObject;
        serialize_bytes(&[u8]) -> WrittenObject;
        serialize_none() -> WrittenObject;
        serialize_unit() -> WrittenObject;
        serialize_unit_struct(&'static str) -> WrittenObject;
        serialize_unit_variant(&'static str, u32, &'static str) -> WrittenObject;
        serialize_seq(Option<usize>) -> Never;
        serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<WrittenObject, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<WrittenObject, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<WrittenObject, Error> {
        Ok(WrittenObject(vec![(variant.to_owned(), to_raw_value(value)?)]))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<EntryWriter, Error> {
        Ok(EntryWriter::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<EntryWriter, Error> {
        Ok(EntryWriter::default())
    }
}

impl SerializeMap for EntryWriter {
    type Ok = WrittenObject;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        match serde_json::to_value(key)? {
            Value::String(key) => self.key = Some(key),
            _ => return Err(Error::custom("a key is a text")),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().ok_or_else(|| Error::custom("a value follows its key"))?;
        self.object.0.push((key, to_raw_value(value)?));
        Ok(())
    }

    fn end(self) -> Result<WrittenObject, Error> {
        Ok(self.object)
    }
}

impl SerializeStruct for EntryWriter {
    type Ok = WrittenObject;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        self.object.0.push((key.to_owned(), to_raw_value(value)?));
        Ok(())
    }

    fn end(self) -> Result<WrittenObject, Error> {
        Ok(self.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Serialize)]
    struct Outer<'a> {
        ok: bool,
        #[serde(flatten)]
        inner: &'a Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        none: Option<u8>,
    }

    #[test]
    fn an_object_is_the_text_that_it_would_be_otherwise() {
        for inner in [json!({}), json!({"b": [1.0, "é\"\n"], "a\"": {"c": null}})] {
            let outer = Outer { ok: true, inner: &inner, none: None };
            let object = WrittenObject::of(&outer).unwrap();
            assert_eq!(object.to_string(), serde_json::to_string(&outer).unwrap());
            assert_eq!(object.text_bytes(), object.to_string().len());
            assert_eq!(Value::Object(object.to_map()), serde_json::to_value(&outer).unwrap());
            let read: WrittenObject = serde_json::from_str(&object.to_string()).unwrap();
            assert_eq!(read.to_string(), object.to_string());
        }
        assert_eq!(WrittenObject::default().text_bytes(), 2);
    }

    #[test]
    fn entries_keep_their_places() {
        let mut object = WrittenObject::of(&json!({"a": 1, "b": 2})).unwrap();
        object.insert("a", "new").unwrap();
        object.insert("c", &3).unwrap();
        assert_eq!(object.to_string(), r#"{"a":"new","b":2,"c":3}"#);
        assert_eq!((object.get::<u8>("b"), object.get::<u8>("d")), (Some(2), None));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for value in [json!([1]), json!("a"), json!(null)] {
            assert!(WrittenObject::of(&value).is_err(), "{value}");
        }
    }
}
