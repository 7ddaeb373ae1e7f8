//! The schema that a caller wants the result to have. It comes from outside: it is bounded, and reads nothing.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::error::{Error, Result};

const LARGEST_SCHEMA: usize = 64 * 1024;
const DEEPEST_SCHEMA: usize = 32;
/// More would only repeat the first.
const MOST_PROBLEMS: usize = 5;
const PATTERN_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub struct OutputSchema(Validator);

/// Refuses every document that a schema names.
struct NoDocuments;

impl jsonschema::Retrieve for NoDocuments {
    fn retrieve(
        &self,
        uri: &jsonschema::Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("output_schema refers to {uri}; a schema must be whole").into())
    }
}

impl OutputSchema {
    pub fn compile(schema: &Value) -> Result<Self> {
        if !schema.is_object() {
            return Err(Error::bad_request("output_schema is no object"));
        }
        if schema.to_string().len() > LARGEST_SCHEMA {
            return Err(Error::bad_request(format!("output_schema has more than {LARGEST_SCHEMA} bytes")));
        }
        if depth(schema) > DEEPEST_SCHEMA {
            return Err(Error::bad_request(format!("output_schema is deeper than {DEEPEST_SCHEMA} levels")));
        }
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES);
        let options = jsonschema::options().with_retriever(NoDocuments).with_pattern_options(patterns);
        let compiled = options.build(schema);
        compiled
            .map(Self)
            .map_err(|problem| Error::bad_request(format!("output_schema cannot be used: {problem}")))
    }

    /// What is wrong with a result, place by place; empty if it fits.
    pub fn problems(&self, result: &Value) -> Vec<String> {
        let say = |problem: jsonschema::ValidationError| {
            let place = problem.instance_path().to_string();
            let place = if place.is_empty() { "/".to_owned() } else { place };
            format!("{place}: {problem}")
        };
        self.0.iter_errors(result).take(MOST_PROBLEMS).map(say).collect()
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
