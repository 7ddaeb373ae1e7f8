//! Reads a result from the places where it stands on a page, without a model. What cannot be read for certain is refused
//! with the part of the result that it is about.

use serde_json::{Map, Number, Value, json};

use super::format::{PlaceText, PlaceType, ResultPlace, ResultPlan};
use super::input::{fill_selector, fill_value};
use crate::model::Tree;
use crate::model::selector::Selector;
use crate::pattern::Pattern;

/// More rows are refused.
const MOST_ROWS: usize = 10_000;

/// The result of a run whose last page is `tree`.
pub fn read_result(plan: &ResultPlan, tree: &Tree, input: &Map<String, Value>) -> Result<Value, String> {
    let mut result = fill_value(&plan.shape, input)?;
    for (pointer, place) in &plan.places {
        let named = |problem: String| format!("the result's {}: {problem}", shown_pointer(pointer));
        put(&mut result, pointer, read_only_value(place, tree, input).map_err(named)?);
    }
    for (pointer, list) in &plan.lists {
        let named = |problem: String| format!("the result's {}: {problem}", shown_pointer(pointer));
        let rows = read_rows(&list.fields, tree, input).map_err(named)?;
        put(&mut result, pointer, rows);
    }
    Ok(result)
}

/// The value of a place that matches one element.
fn read_only_value(place: &ResultPlace, tree: &Tree, input: &Map<String, Value>) -> Result<Value, String> {
    let values = read_all(place, tree, input)?;
    match values.as_slice() {
        [value] => Ok(value.clone()),
        _ => Err(format!("{} matches {} elements of the page, and not one", place.selector, values.len())),
    }
}

pub fn shown_pointer(pointer: &str) -> &str {
    if pointer.is_empty() { "/" } else { pointer }
}

fn put(result: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = result.pointer_mut(pointer) {
        *place = value;
    }
}

fn read_rows(
    fields: &std::collections::BTreeMap<String, ResultPlace>,
    tree: &Tree,
    input: &Map<String, Value>,
) -> Result<Value, String> {
    let mut columns: Vec<(&str, Vec<Value>)> = Vec::new();
    for (field, place) in fields {
        let column = read_all(place, tree, input)?;
        if let Some((first, others)) = columns.first().filter(|(_, others)| others.len() != column.len()) {
            let (count, other) = (column.len(), others.len());
            return Err(format!(
                "the page has {count} of '{field}' and {other} of '{first}', so the rows are not known"
            ));
        }
        columns.push((field, column));
    }
    let count = columns.first().map_or(0, |(_, column)| column.len());
    if count == 0 {
        return Err("the page shows no row of it".to_owned());
    }
    let row = |at: usize| match columns.as_slice() {
        [("", column)] => column.get(at).cloned().unwrap_or_default(),
        columns => columns
            .iter()
            .map(|(field, column)| ((*field).to_owned(), column.get(at).cloned().unwrap_or_default()))
            .collect::<Map<_, _>>()
            .into(),
    };
    Ok((0..count).map(row).collect())
}

/// What every element of a place says, in their order.
pub fn read_all(place: &ResultPlace, tree: &Tree, input: &Map<String, Value>) -> Result<Vec<Value>, String> {
    let text = fill_selector(&place.selector, input)?;
    let selector = Selector::parse(&text).map_err(|problem| format!("{text}: {problem}"))?;
    let nodes = selector.resolve(tree, MOST_ROWS + 1).map_err(|problem| problem.to_string())?;
    if nodes.len() > MOST_ROWS {
        return Err(format!("{text} matches more than {MOST_ROWS} elements"));
    }
    let pattern = place.pattern.as_deref().map(Pattern::compile).transpose()?;
    nodes.into_iter().map(|node| read_one(place, pattern.as_ref(), tree, node)).collect()
}

fn read_one(
    place: &ResultPlace,
    pattern: Option<&Pattern>,
    tree: &Tree,
    node: usize,
) -> Result<Value, String> {
    let element = &tree[node];
    let text = match place.from {
        PlaceText::Name => element.name.as_str(),
        PlaceText::Value => element.value.as_deref().unwrap_or_default(),
    };
    let found = match pattern {
        None => Some(text),
        Some(pattern) => pattern.captured(text).map_err(|problem| problem.to_string())?,
    };
    let shown = crate::text::shorten(text, 80);
    let found = found.map(str::trim).filter(|found| !found.is_empty());
    let found = found.ok_or_else(|| {
        format!("\"{shown}\" is not what was learned ({})", place.pattern.as_deref().unwrap_or("a text"))
    })?;
    match place.r#type {
        PlaceType::Text => Ok(json!(found)),
        PlaceType::Number => {
            read_number(found).map(Value::Number).ok_or_else(|| format!("\"{shown}\" is no number"))
        }
    }
}

/// A number as a page writes it: with marks for thousands, and a comma or a point before its fraction.
pub fn read_number(text: &str) -> Option<Number> {
    let text: String =
        text.chars().filter(|letter| !matches!(letter, ' ' | '\u{a0}' | '\u{202f}' | '\'')).collect();
    let (points, commas) = (text.matches('.').count(), text.matches(',').count());
    let fraction = |mark: char| text.rsplit(mark).next().map_or(0, str::len);
    let decimal = match (points, commas) {
        (0, 0) => None,
        (1, 0) => Some('.'),
        (0, 1) if fraction(',') != 3 => Some(','),
        (0, _) | (_, 0) => None,
        _ => text.chars().rev().find(|letter| matches!(letter, '.' | ',')),
    };
    let plain: String = text
        .chars()
        .filter_map(|letter| match letter {
            mark if Some(mark) == decimal => Some('.'),
            '.' | ',' => None,
            other => Some(other),
        })
        .collect();
    let is_number = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-';
    if plain.is_empty() || !plain.chars().all(is_number) {
        return None;
    }
    match plain.parse::<i64>() {
        Ok(whole) => Some(whole.into()),
        Err(_) => plain.parse::<f64>().ok().and_then(Number::from_f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, TreeBuilder};

    fn page() -> Tree {
        let element = |role: &'static str, name: &str| Element::new(role, name, Rect::default());
        let mut tree = TreeBuilder::new(element("Window", "Shop"));
        tree.add_leaf(element("Heading", "Blue pen"));
        tree.add_leaf(element("Text", "Total: 1,234.50 EUR"));
        tree.open(element("List", "Items"));
        for name in ["Pen", "Ink"] {
            tree.open(element("ListItem", ""));
            tree.add_leaf(element("Text", name));
            tree.close();
        }
        tree.close();
        tree.finish()
    }

    fn check(plan: Value, expected: Result<Value, &str>) {
        let plan: ResultPlan = serde_json::from_value(plan).unwrap();
        let input = json!({"query": "pen"});
        let read = read_result(&plan, &page(), input.as_object().unwrap());
        match expected {
            Ok(expected) => assert_eq!(read, Ok(expected)),
            Err(words) => assert!(read.as_ref().is_err_and(|said| said.contains(words)), "{read:?}"),
        }
    }

    #[test]
    fn a_result_is_read_from_its_places() {
        check(
            json!({"shape": {"name": null, "total": null, "query": "{{input.query}}"}, "places": {
                "/name": {"selector": "//Heading"},
                "/total": {"selector": "Window/Text", "pattern": "^Total: (.+?) EUR$", "type": "number"}}}),
            Ok(json!({"name": "Blue pen", "total": 1234.5, "query": "pen"})),
        );
        let rows = json!({"shape": {"rows": []}, "lists": {"/rows": {"fields": {"": {"selector": "//ListItem/Text"}}}}});
        check(rows, Ok(json!({"rows": ["Pen", "Ink"]})));
        let rows = json!({"shape": [], "lists": {"": {"fields": {"name": {"selector": "//ListItem/Text"}}}}});
        check(rows, Ok(json!([{"name": "Pen"}, {"name": "Ink"}])));
    }

    #[test]
    fn what_is_not_there_or_not_certain_is_refused_with_its_part() {
        let place = |selector: &str, pattern: Value| json!({"shape": {"a": null}, "places": {"/a": {"selector": selector, "pattern": pattern, "type": "number"}}});
        check(place("//Button", Value::Null), Err("the result's /a: //Button matches 0 elements"));
        check(place("//ListItem/Text", json!("^(.).*$")), Err("is no number"));
        check(place("//Heading", json!("^Total: (.+)$")), Err("\"Blue pen\" is not what was learned"));
        let rows = json!({"shape": [], "lists": {"": {"fields": {"a": {"selector": "//ListItem/Text"}, "b": {"selector": "//Heading"}}}}});
        check(rows, Err("so the rows are not known"));
        check(
            json!({"shape": [], "lists": {"": {"fields": {"": {"selector": "//Row"}}}}}),
            Err("shows no row"),
        );
    }

    #[test]
    fn numbers_are_read_as_pages_write_them() {
        for (text, expected) in [
            ("12", Some(json!(12))),
            ("-3", Some(json!(-3))),
            ("12.50", Some(json!(12.5))),
            ("12,5", Some(json!(12.5))),
            ("1,234", Some(json!(1234))),
            ("1,234.5", Some(json!(1234.5))),
            ("1.234,5", Some(json!(1234.5))),
            ("1 234 567", Some(json!(1_234_567))),
            ("1.234.567", Some(json!(1_234_567))),
            ("", None),
            ("12 EUR", None),
            ("1e9", None),
        ] {
            assert_eq!(read_number(text).map(Value::Number), expected, "{text}");
        }
    }
}
