//! What must hold at the end of a run of a recipe, whoever planned it: a page cannot declare a run done.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::matching::UrlPattern;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Completion {
    /// The last page's address fits one of them.
    #[serde(rename = "urlPatterns", skip_serializing_if = "Vec::is_empty")]
    pub url_patterns: Vec<String>,
    /// The last page shows all of these.
    #[serde(rename = "textIncludes", skip_serializing_if = "Vec::is_empty")]
    pub text_includes: Vec<String>,
    /// The last page shows none of these.
    #[serde(rename = "textExcludes", skip_serializing_if = "Vec::is_empty")]
    pub text_excludes: Vec<String>,
    /// The result has something at each of these keys, or JSON pointers.
    #[serde(rename = "requiredFields", skip_serializing_if = "Vec::is_empty")]
    pub required_fields: Vec<String>,
}

/// What is known at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct CompletedRun<'a> {
    /// Of the last page; nothing where there is no browser.
    pub url: Option<&'a str>,
    /// The texts of the last page.
    pub texts: &'a [&'a str],
    pub result: &'a Value,
}

impl Completion {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the last page has to be known to check it.
    pub fn needs_page(&self) -> bool {
        !(self.url_patterns.is_empty() && self.text_includes.is_empty() && self.text_excludes.is_empty())
    }

    /// What does not hold, as sentences; empty if the run is complete.
    pub fn problems(&self, run: &CompletedRun) -> Vec<String> {
        let mut problems = Vec::new();
        self.check_address(run.url, &mut problems);
        let shows = |text: &String| run.texts.iter().any(|shown| shown.contains(text.as_str()));
        let missing = self.text_includes.iter().filter(|text| !shows(text));
        problems.extend(
            missing.map(|text| format!("completion.textIncludes: the page does not show \"{text}\"")),
        );
        let excluded = self.text_excludes.iter().filter(|text| shows(text));
        problems.extend(excluded.map(|text| format!("completion.textExcludes: the page shows \"{text}\"")));
        let absent = self.required_fields.iter().filter(|field| !has_field(run.result, field));
        problems
            .extend(absent.map(|field| format!("completion.requiredFields: the result has no '{field}'")));
        problems
    }

    fn check_address(&self, url: Option<&str>, problems: &mut Vec<String>) {
        if self.url_patterns.is_empty() {
            return;
        }
        let shown = url.unwrap_or("none");
        let fits = |pattern: &String| UrlPattern::read(pattern).is_ok_and(|pattern| pattern.matches(shown));
        if !self.url_patterns.iter().any(fits) {
            let patterns = self.url_patterns.join(", ");
            problems
                .push(format!("completion.urlPatterns: the last page is {shown}, and not one of {patterns}"));
        }
    }
}

/// A key, or a pointer, behind which something stands.
fn has_field(result: &Value, field: &str) -> bool {
    let found = if field.starts_with('/') { result.pointer(field) } else { result.get(field) };
    match found {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.trim().is_empty(),
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(completion: Value, expected: &[&str]) {
        let completion: Completion = serde_json::from_value(completion).unwrap();
        let result = json!({"price": 12, "empty": " ", "rows": [], "deep": {"name": "a"}});
        let run = CompletedRun {
            url: Some("https://shop.test/order/7"),
            texts: &["Order 7", "Total: 12 EUR"],
            result: &result,
        };
        let problems = completion.problems(&run);
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.contains(expected), "{problems:?}");
        }
    }

    #[test]
    fn each_assertion_holds_or_is_named() {
        check(json!({}), &[]);
        check(json!({"requiredFields": ["price", "/deep/name"]}), &[]);
        check(
            json!({"requiredFields": ["empty", "rows", "none", "/deep/x"]}),
            &["'empty'", "'rows'", "'none'", "'/deep/x'"],
        );
        check(json!({"textIncludes": ["Total"], "textExcludes": ["Sign in"]}), &[]);
        check(
            json!({"textIncludes": ["Thanks"], "textExcludes": ["Order"]}),
            &["\"Thanks\"", "shows \"Order\""],
        );
        check(json!({"urlPatterns": ["https://shop.test/order/*"]}), &[]);
        check(
            json!({"urlPatterns": ["https://shop.test/paid"]}),
            &["the last page is https://shop.test/order/7"],
        );
    }
}
