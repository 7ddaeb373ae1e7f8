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
        let pairs = form_urlencoded::parse(query.as_bytes());
        let mut form = Self::new("query", Map::new(), true);
        for (name, value) in pairs {
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

    /// What was read, unless there are faults: those that were found, and names that nobody asked for.
    pub fn finish<T>(self, value: T) -> Result<T, Failure> {
        self.check_names();
        let faults = std::mem::take(&mut *lock(&self.faults));
        if faults.is_empty() { Ok(value) } else { Err(Failure::validation(faults)) }
    }

    /// The faults of a request that cannot be read further.
    pub fn refuse<T>(self) -> Result<T, Failure> {
        self.check_names();
        Err(Failure::validation(std::mem::take(&mut *lock(&self.faults))))
    }

    fn check_names(&self) {
        for name in self.fields.keys().filter(|name| !self.asked.contains(*name)) {
            self.fault(name, "extra_forbidden", "unknown field");
        }
    }

    pub fn fault(&self, name: &str, kind: &str, message: impl Into<String>) {
        let place: Vec<&str> = self.path.iter().map(String::as_str).chain([name]).collect();
        lock(&self.faults).push(json!({"loc": place, "msg": message.into(), "type": kind}));
    }

    /// What was given for a name; null is nothing.
    fn given(&mut self, name: &str) -> Option<Value> {
        self.asked.insert(name.to_owned());
        self.fields.get(name).filter(|value| !value.is_null()).cloned()
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    pub fn int(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let value = self.given(name)?;
        let number = match &value {
            Value::String(text) if self.from_query => text.parse().ok(),
            // JSON writes 3 also as 3.0.
            value => value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64)),
        };
        if number.is_none() {
            self.fault(name, "int_type", "must be a whole number");
        }
        self.in_range(name, number?, range)
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

    pub fn number(&mut self, name: &str, range: RangeInclusive<f64>) -> Option<f64> {
        let value = self.given(name)?;
        let number = match &value {
            Value::String(text) if self.from_query => text.parse().ok(),
            value => value.as_f64(),
        };
        if number.is_none() {
            self.fault(name, "float_type", "must be a number");
        }
        self.in_range(name, number?, range)
    }

    pub fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.given(name)?;
        let flag = match value.as_str().filter(|_| self.from_query) {
            Some(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" | "on" => Some(true),
                "false" | "0" | "no" | "off" => Some(false),
                _ => None,
            },
            None => value.as_bool(),
        };
        if flag.is_none() {
            self.fault(name, "bool_type", "must be true or false");
        }
        flag
    }

    /// A text of so many characters.
    pub fn text(&mut self, name: &str, lengths: RangeInclusive<usize>) -> Option<String> {
        let value = self.given(name)?;
        let Some(text) = value.as_str() else {
            self.fault(name, "string_type", "must be a text");
            return None;
        };
        let length = text.chars().count();
        if lengths.contains(&length) {
            return Some(text.to_owned());
        }
        let message = format!("must have {} to {} characters, not {length}", lengths.start(), lengths.end());
        self.fault(name, "string_length", message);
        None
    }

    pub fn texts(&mut self, name: &str, most: usize, lengths: RangeInclusive<usize>) -> Option<Vec<String>> {
        let value = self.given(name)?;
        let fits = |text: &str| lengths.contains(&text.chars().count());
        let texts = value.as_array().filter(|list| list.len() <= most).and_then(|list| {
            list.iter().map(|item| item.as_str().filter(|text| fits(text)).map(str::to_owned)).collect()
        });
        if texts.is_none() {
            let message = format!(
                "must be a list of at most {most} strings of {} to {} characters",
                lengths.start(),
                lengths.end()
            );
            self.fault(name, "list_type", message);
        }
        texts
    }

    /// A window's number, however it is written.
    pub fn handle(&mut self, name: &str) -> Option<String> {
        match self.given(name)? {
            Value::String(text) if !text.is_empty() && text.len() <= 64 => Some(text),
            Value::Number(number) => Some(number.to_string()),
            _ => {
                self.fault(name, "int_type", "must be the number of a window");
                None
            }
        }
    }

    pub fn one_of(&mut self, name: &str, choices: &[&'static str]) -> Option<&'static str> {
        let value = self.given(name)?;
        let chosen = choices.iter().find(|choice| value.as_str() == Some(**choice)).copied();
        if chosen.is_none() {
            self.fault(name, "enum", format!("must be one of {}", choices.join(", ")));
        }
        chosen
    }

    /// An object inside; what it does not know is told by its own end.
    pub fn object(&mut self, name: &str) -> Option<Form> {
        match self.given(name)? {
            Value::Object(fields) => Some(self.inner(vec![name.to_owned()], fields)),
            _ => {
                self.fault(name, "object_type", "must be an object");
                None
            }
        }
    }

    pub fn objects(&mut self, name: &str, most: usize) -> Option<Vec<Form>> {
        match self.given(name)? {
            Value::Array(list) if !list.is_empty() && list.len() <= most => {
                let inner = list.into_iter().enumerate().map(|(at, item)| {
                    let fields = match item {
                        Value::Object(fields) => fields,
                        _ => {
                            self.fault(&format!("{name}.{at}"), "object_type", "must be an object");
                            Map::new()
                        }
                    };
                    self.inner(vec![name.to_owned(), at.to_string()], fields)
                });
                Some(inner.collect())
            }
            _ => {
                self.fault(name, "list_type", format!("must be a list of 1 to {most} objects"));
                None
            }
        }
    }

    fn inner(&self, place: Vec<String>, fields: Map<String, Value>) -> Form {
        let path = self.path.iter().cloned().chain(place).collect();
        Form {
            path,
            fields,
            asked: BTreeSet::new(),
            faults: self.faults.clone(),
            from_query: self.from_query,
        }
    }

    /// The end of an object inside another.
    pub fn done(self) {
        self.check_names();
    }

    /// Whatever is read of a name, it has to be there.
    fn require(&self, name: &str) {
        if !self.has(name) {
            self.fault(name, "missing", "is required");
        }
    }

    pub fn required_int(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        self.require(name);
        self.int(name, range)
    }

    pub fn required_text(&mut self, name: &str, lengths: RangeInclusive<usize>) -> String {
        self.require(name);
        self.text(name, lengths).unwrap_or_default()
    }

    pub fn required_one_of(&mut self, name: &str, choices: &[&'static str]) -> Option<&'static str> {
        self.require(name);
        self.one_of(name, choices)
    }

    pub fn required_object(&mut self, name: &str) -> Option<Form> {
        self.require(name);
        self.object(name)
    }

    pub fn required_objects(&mut self, name: &str, most: usize) -> Option<Vec<Form>> {
        self.require(name);
        self.objects(name, most)
    }
}
