//! The schema that a caller wants the result to have. It comes from outside: it is bounded, and reads nothing.

use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use regex::RegexBuilder;
use serde_json::Value;

use crate::error::{Error, Result};

const LARGEST_SCHEMA: usize = 64 * 1024;
const DEEPEST_SCHEMA: usize = 32;
/// More would only repeat the first.
const MOST_PROBLEMS: usize = 5;
const MOST_PATTERNS: usize = 64;
const PATTERN_BYTES: usize = 1 << 20;
/// What the schema is called where it refers to itself.
const OWN_ADDRESS: &str = "schema:///output_schema";

pub struct OutputSchema {
    compiled: Schemas,
    root: SchemaIndex,
}

/// Refuses every document that a schema names.
struct NoDocuments;

impl UrlLoader for NoDocuments {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("output_schema refers to {url}; a schema must be whole").into())
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
        check_patterns(schema)?;
        let (mut compiled, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.use_loader(Box::new(NoDocuments));
        let unusable =
            |problem: CompileError| Error::bad_request(format!("output_schema cannot be used: {problem:#}"));
        compiler.add_resource(OWN_ADDRESS, schema.clone()).map_err(unusable)?;
        let root = compiler.compile(OWN_ADDRESS, &mut compiled).map_err(unusable)?;
        Ok(Self { compiled, root })
    }

    /// What is wrong with a result, place by place; empty if it fits.
    pub fn problems(&self, result: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        if let Err(problem) = self.compiled.validate(result, self.root) {
            collect_problems(&problem, &mut problems);
        }
        problems.truncate(MOST_PROBLEMS);
        problems
    }
}

/// A problem that has causes is told by them.
fn collect_problems(problem: &ValidationError, into: &mut Vec<String>) {
    if problem.causes.is_empty() {
        let place = problem.instance_location.to_string();
        let place = if place.is_empty() { "/" } else { &place };
        into.push(format!("{place}: {}", problem.kind));
    }
    for cause in &problem.causes {
        collect_problems(cause, into);
    }
}

/// A short pattern may take much memory once it is compiled, so what the schema's own compiler would do without a limit is
/// done with one before.
fn check_patterns(schema: &Value) -> Result<()> {
    let mut patterns = Vec::new();
    collect_patterns(schema, &mut patterns);
    if patterns.len() > MOST_PATTERNS {
        return Err(Error::bad_request(format!("output_schema has more than {MOST_PATTERNS} patterns")));
    }
    for pattern in patterns {
        RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build().map_err(|problem| {
            Error::bad_request(format!("output_schema cannot be used: the pattern {pattern:?}: {problem}"))
        })?;
    }
    Ok(())
}

fn collect_patterns<'a>(schema: &'a Value, patterns: &mut Vec<&'a str>) {
    match schema {
        Value::Array(list) => list.iter().for_each(|item| collect_patterns(item, patterns)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("pattern", Value::String(pattern)) => patterns.push(pattern),
                    ("patternProperties", Value::Object(by_pattern)) => {
                        patterns.extend(by_pattern.keys().map(String::as_str));
                    }
                    _ => {}
                }
                collect_patterns(value, patterns);
            }
        }
        _ => {}
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check_problems(schema: Value, result: Value, expected: &[&str]) {
        let problems = OutputSchema::compile(&schema).unwrap().problems(&result);
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.contains(expected), "{problems:?}");
        }
    }

    #[test]
    fn a_result_is_held_to_its_schema_place_by_place() {
        let schema = json!({
            "type": "object",
            "required": ["total"],
            "properties": {
                "total": { "type": "number", "minimum": 0 },
                "lines": { "type": "array", "items": { "$ref": "#/$defs/line" } },
            },
            "$defs": { "line": { "type": "string", "pattern": "^[a-z]+$" } },
        });
        check_problems(schema.clone(), json!({ "total": 1, "lines": ["a", "b"] }), &[]);
        check_problems(schema.clone(), json!({}), &["/: missing properties 'total'"]);
        check_problems(schema, json!({ "total": -1, "lines": ["a", "B"] }), &["/", "/"]);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let list = json!({ "type": "array", "items": { "$ref": "#" } });
        check_problems(list.clone(), json!([[], [[]]]), &[]);
        check_problems(list, json!([[], [1]]), &["/1/0"]);
        check_problems(json!({ "$ref": "#" }), json!(1), &["/"]);
    }

    #[track_caller]
    fn check_refused(schema: Value, expected: &str) {
        let error = OutputSchema::compile(&schema).err().unwrap();
        assert!(error.message.contains(expected), "{error}");
    }

    #[test]
    fn patterns_are_bounded_in_number_and_in_memory() {
        check_refused(json!({ "pattern": r"(\pL{1000}){10}" }), "pattern");
        check_refused(json!({ "patternProperties": { r"(\pL{1000}){10}": true } }), "pattern");
        let many: Vec<Value> = (0..65).map(|index| json!({ "pattern": format!("a{index}") })).collect();
        check_refused(json!({ "anyOf": many }), "more than 64 patterns");
    }
}
