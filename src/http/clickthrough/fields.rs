//! Reading what a caller sent: each field with its type and its limits, and all errors reported at once.
//!
//! Nothing is done here; a request that does not fit has touched nothing.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use super::Failure;
use crate::clock::lock;

/// An object of the request. Those inside it tell their faults to the same list.
pub struct Form {
    /// Where it stands: `body`, then names.
    path: Vec<String>,
    fields: Map<String, Value>,
    asked: BTreeSet<String>,
    faults: Arc<Mutex<Vec<Value>>>,
    /// A query string has only texts.
    from_query: bool,
}

impl Form {
    pub fn body(fields: Map<String, Value>) -> Self {
        Self::new("body", fields, false)
    }

    pub fn query(query: &str) -> Self {
        let mut form = Self::new("query", Map::new(), true);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            // Which of two is meant nobody knows.
            if form.fields.insert(name.clone().into_owned(), value.into_owned().into()).is_some() {
                form.fault(&name, "repeated", "is given more than once");
            }
        }
        form
    }

    fn new(place: &str, fields: Map<String, Value>, from_query: bool) -> Self {
        let path = vec![place.to_owned()];
        Self { path, fields, asked: BTreeSet::new(), faults: Arc::default(), from_query }
    }

    /// What is read of the whole request.
    pub fn whole<T>(mut self, read: impl FnOnce(&mut Form) -> T) -> Result<T, Failure> {
        let value = read(&mut self);
        self.finish(value)
    }

    /// What was read, unless there are faults: those that were found, and names that nobody asked for.
    pub fn finish<T>(self, value: T) -> Result<T, Failure> {
        let faults = self.done();
        if faults.is_empty() { Ok(value) } else { Err(Failure::validation(faults)) }
    }

    /// The faults of a request that cannot be read further.
    pub fn refuse<T>(self) -> Result<T, Failure> {
        Err(Failure::validation(self.done()))
    }

    /// The end of an object, which may be inside another: the faults until here.
    pub fn done(self) -> Vec<Value> {
        for name in self.fields.keys().filter(|name| !self.asked.contains(*name)) {
            self.fault(name, "extra_forbidden", "unknown field");
        }
        lock(&self.faults).clone()
    }

    pub fn fault(&self, name: &str, kind: &str, message: impl Into<String>) {
        let place: Vec<&str> = self.path.iter().map(String::as_str).chain([name]).collect();
        lock(&self.faults).push(json!({"loc": place, "msg": message.into(), "type": kind}));
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    /// Whatever is read of the name next, it has to be there.
    pub fn require(&mut self, name: &str) -> &mut Self {
        if !self.has(name) {
            self.fault(name, "missing", "is required");
        }
        self
    }

    /// What was given for a name, as `read` understands it; null is nothing. A text of a query is handed in beside.
    fn read<T>(
        &mut self,
        name: &str,
        (kind, message): (&str, &str),
        read: impl FnOnce(&Value, Option<&str>) -> Option<T>,
    ) -> Option<T> {
        self.asked.insert(name.to_owned());
        let value = self.fields.get(name).filter(|value| !value.is_null())?;
        let read = read(value, value.as_str().filter(|_| self.from_query));
        if read.is_none() {
            self.fault(name, kind, message);
        }
        read
    }

    fn in_range<N: PartialOrd + Display>(
        &self,
        name: &str,
        number: N,
        range: RangeInclusive<N>,
    ) -> Option<N> {
        if range.contains(&number) {
            return Some(number);
        }
        let message = format!("must be from {} to {}, not {number}", range.start(), range.end());
        self.fault(name, "out_of_range", message);
        None
    }

    pub fn int(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let fault = ("int_type", "must be a whole number");
        let number = self.read(name, fault, |value, written| match written {
            Some(text) => text.parse().ok(),
            // JSON writes 3 also as 3.0.
            None => value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64)),
        })?;
        self.in_range(name, number, range)
    }

    pub fn number(&mut self, name: &str, range: RangeInclusive<f64>) -> Option<f64> {
        let number = self.read(name, ("float_type", "must be a number"), |value, written| {
            written.map_or(value.as_f64(), |text| text.parse().ok())
        })?;
        self.in_range(name, number, range)
    }

    pub fn flag(&mut self, name: &str) -> Option<bool> {
        self.read(name, ("bool_type", "must be true or false"), |value, written| {
            match written.map(str::to_ascii_lowercase).as_deref() {
                None => value.as_bool(),
                Some("true" | "1" | "yes" | "on") => Some(true),
                Some("false" | "0" | "no" | "off") => Some(false),
                Some(_) => None,
            }
        })
    }

    /// A text of so many characters.
    pub fn text(&mut self, name: &str, lengths: RangeInclusive<usize>) -> Option<String> {
        let text =
            self.read(name, ("string_type", "must be a text"), |value, _| value.as_str().map(str::to_owned))?;
        let length = text.chars().count();
        if lengths.contains(&length) {
            return Some(text);
        }
        let message = format!("must have {} to {} characters, not {length}", lengths.start(), lengths.end());
        self.fault(name, "string_length", message);
        None
    }

    pub fn texts(&mut self, name: &str, most: usize, lengths: RangeInclusive<usize>) -> Option<Vec<String>> {
        let (least, longest) = (lengths.start(), lengths.end());
        let message = format!("must be a list of at most {most} strings of {least} to {longest} characters");
        let fits = |text: &&str| lengths.contains(&text.chars().count());
        self.read(name, ("list_type", &message), |value, _| {
            let list = value.as_array().filter(|list| list.len() <= most)?;
            list.iter().map(|item| item.as_str().filter(fits).map(str::to_owned)).collect()
        })
    }

    /// A window's number, however it is written.
    pub fn handle(&mut self, name: &str) -> Option<String> {
        self.read(name, ("int_type", "must be the number of a window"), |value, _| match value {
            Value::String(text) if !text.is_empty() && text.len() <= 64 => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    pub fn one_of(&mut self, name: &str, choices: &[&'static str]) -> Option<&'static str> {
        let message = format!("must be one of {}", choices.join(", "));
        self.read(name, ("enum", &message), |value, _| {
            choices.iter().find(|choice| value.as_str() == Some(**choice)).copied()
        })
    }

    /// An object inside; what it does not know is told by its own end.
    pub fn object(&mut self, name: &str) -> Option<Form> {
        let fault = ("object_type", "must be an object");
        let fields = self.read(name, fault, |value, _| value.as_object().cloned())?;
        Some(self.inner(&[name], fields))
    }

    pub fn objects(&mut self, name: &str, most: usize) -> Option<Vec<Form>> {
        let message = format!("must be a list of 1 to {most} objects");
        let list = self.read(name, ("list_type", &message), |value, _| {
            value.as_array().filter(|list| !list.is_empty() && list.len() <= most).cloned()
        })?;
        let inner = list.into_iter().enumerate().map(|(at, item)| {
            if !item.is_object() {
                self.fault(&format!("{name}.{at}"), "object_type", "must be an object");
            }
            self.inner(&[name, &at.to_string()], item.as_object().cloned().unwrap_or_default())
        });
        Some(inner.collect())
    }

    fn inner(&self, place: &[&str], fields: Map<String, Value>) -> Form {
        let path = self.path.iter().cloned().chain(place.iter().map(ToString::to_string)).collect();
        let (asked, faults) = (BTreeSet::new(), self.faults.clone());
        Form { path, fields, asked, faults, from_query: self.from_query }
    }
}
