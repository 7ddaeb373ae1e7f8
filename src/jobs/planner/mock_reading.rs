//! Values of a result schema, read off a page by the labels that stand before them: `Price: 12.50`, or a column of a
//! table.

use serde_json::{Map, Value, json};

use super::mock::plain;

/// A page as labels with values, and as tables.
#[derive(Debug, Default, PartialEq)]
pub struct PageWords {
    title: String,
    labelled: Vec<(String, String)>,
    tables: Vec<PageTable>,
}

#[derive(Debug, Default, PartialEq)]
struct PageTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl PageWords {
    /// From the Markdown that `read_page` writes.
    pub fn read(title: &str, text: &str) -> Self {
        let mut words = Self { title: title.to_owned(), ..Self::default() };
        let mut in_table = false;
        for line in text.lines() {
            match table_cells(line) {
                Some(cells) => words.add_row(cells, in_table),
                None => words.add_line(line),
            }
            in_table = table_cells(line).is_some();
        }
        words
    }

    fn add_row(&mut self, cells: Vec<String>, in_table: bool) {
        let is_rule = cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| "-: ".contains(c)));
        match self.tables.last_mut().filter(|_| in_table) {
            _ if is_rule => {}
            Some(table) => table.rows.push(cells),
            None => self.tables.push(PageTable { head: cells, rows: Vec::new() }),
        }
    }

    fn add_line(&mut self, line: &str) {
        let line = line.trim().trim_start_matches(['#', '-', '*', '>', ' ']);
        if let Some((label, value)) = line.split_once(':').filter(|(_, value)| !value.trim().is_empty()) {
            let value = value.trim().trim_matches(['*', '_']).trim();
            self.labelled.push((plain(label), value.to_owned()));
        }
    }

    fn value_of(&self, name: &str) -> Option<&str> {
        let name = plain(name);
        let found = self.labelled.iter().find(|(label, _)| *label == name);
        found
            .map(|(_, value)| value.as_str())
            .or_else(|| (name == "pagetitle").then_some(self.title.as_str()))
    }

    /// The table that has a column for each of these.
    fn table_with(&self, names: &[&String]) -> Option<(&PageTable, Vec<usize>)> {
        self.tables.iter().find_map(|table| {
            let column = |name: &&String| table.head.iter().position(|cell| plain(cell) == plain(name));
            Some((table, names.iter().map(column).collect::<Option<Vec<usize>>>()?))
        })
    }
}

/// The cells of a row: `| a | b |`.
fn table_cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

/// A value for this schema. Fails with the name of what the page does not say.
pub fn read_value(schema: &Value, page: &PageWords) -> Result<Value, String> {
    match kind_of(schema) {
        "array" => read_list(schema, page, "the result"),
        _ => read_object(schema, page),
    }
}

fn kind_of(schema: &Value) -> &str {
    schema.get("type").and_then(Value::as_str).unwrap_or("object")
}

fn required_fields(schema: &Value) -> Vec<&str> {
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn read_object(schema: &Value, page: &PageWords) -> Result<Value, String> {
    let no_fields = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_fields);
    let required = required_fields(schema);
    let mut object = Map::new();
    for (name, property) in properties {
        match read_property(name, property, page) {
            Ok(value) => _ = object.insert(name.clone(), value),
            Err(problem) if required.contains(&name.as_str()) => return Err(problem),
            Err(_) => {}
        }
    }
    Ok(Value::Object(object))
}

fn read_property(name: &str, property: &Value, page: &PageWords) -> Result<Value, String> {
    match kind_of(property) {
        "array" => read_list(property, page, name),
        "object" if property.get("properties").is_some() => read_object(property, page),
        kind => page.value_of(name).and_then(|text| typed(kind, text)).ok_or_else(|| missing(name)),
    }
}

fn missing(name: &str) -> String {
    format!("the page does not say '{name}'; it would have to stand behind a label: {name}: …")
}

/// Rows of a table, as objects.
fn read_list(schema: &Value, page: &PageWords, name: &str) -> Result<Value, String> {
    let items = schema.get("items").and_then(|items| items.get("properties")).and_then(Value::as_object);
    let items = items
        .ok_or_else(|| format!("'{name}' is a list of what is no object; only tables are read as lists"))?;
    let names: Vec<&String> = items.keys().collect();
    let (table, columns) = page.table_with(&names).ok_or_else(|| {
        let wanted = names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        format!("the page has no table for '{name}' with the columns {wanted}")
    })?;
    let read_row = |row: &Vec<String>| -> Option<Value> {
        let mut object = Map::new();
        for (at, (name, property)) in columns.iter().zip(items) {
            object.insert(name.clone(), typed(kind_of(property), row.get(*at)?)?);
        }
        Some(Value::Object(object))
    };
    Ok(table.rows.iter().filter_map(read_row).collect())
}

fn typed(kind: &str, text: &str) -> Option<Value> {
    match kind {
        "number" => number_in(text).map(|number| json!(number)),
        "integer" => {
            number_in(text).filter(|number| number.fract() == 0.0).map(|number| json!(number as i64))
        }
        "boolean" => match plain(text).as_str() {
            "yes" | "true" | "on" | "instock" => Some(Value::Bool(true)),
            "no" | "false" | "off" | "soldout" => Some(Value::Bool(false)),
            _ => None,
        },
        _ => Some(Value::from(text)),
    }
}

/// `$1,234.50` and `12.50 EUR`: what is no digit around a number is its unit.
fn number_in(text: &str) -> Option<f64> {
    let is_part = |letter: char| letter.is_ascii_digit() || ".-".contains(letter);
    let kept: String = text.replace(',', "").chars().skip_while(|letter| !is_part(*letter)).collect();
    let end = kept.find(|letter: char| !is_part(letter)).unwrap_or(kept.len());
    kept.get(..end)?.trim_end_matches('.').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Value, page: &str, expected: Result<Value, &str>) {
        match (read_value(&schema, &PageWords::read("A title", page)), expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got, expected),
            (Err(said), Err(word)) => assert!(said.contains(word), "{said}"),
            (got, expected) => panic!("{got:?} instead of {expected:?}"),
        }
    }

    fn fields(properties: Value) -> Value {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({"type": "object", "required": required, "properties": properties})
    }

    #[test]
    fn values_stand_behind_their_labels() {
        let page = "# Desk lamp\n\nPrice: **$1,234.50**\n- In stock: yes\nPieces: 3\nMade by: Holm";
        check(fields(json!({"price": {"type": "number"}})), page, Ok(json!({"price": 1234.5})));
        check(fields(json!({"inStock": {"type": "boolean"}})), page, Ok(json!({"inStock": true})));
        check(fields(json!({"pieces": {"type": "integer"}})), page, Ok(json!({"pieces": 3})));
        check(fields(json!({"made_by": {"type": "string"}})), page, Ok(json!({"made_by": "Holm"})));
        check(fields(json!({"pageTitle": {"type": "string"}})), page, Ok(json!({"pageTitle": "A title"})));
        check(fields(json!({"weight": {"type": "number"}})), page, Err("'weight'"));
        check(fields(json!({"pieces": {"type": "boolean"}})), page, Err("'pieces'"));
    }

    #[test]
    fn what_is_not_required_may_be_missing() {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
        check(schema, "A: 1", Ok(json!({"a": "1"})));
    }

    #[test]
    fn tables_are_lists() {
        let page = "| Name | Price |\n|---|---|\n| Lamp | $3 |\n| Mug | 4.5 |\n\nThe end";
        let item = fields(json!({"name": {"type": "string"}, "price": {"type": "number"}}));
        let list = json!({"type": "array", "items": item});
        let rows = json!([{"name": "Lamp", "price": 3.0}, {"name": "Mug", "price": 4.5}]);
        check(list.clone(), page, Ok(rows.clone()));
        check(fields(json!({"items": list})), page, Ok(json!({ "items": rows })));
        check(json!({"type": "array", "items": fields(json!({"x": {}}))}), page, Err("columns x"));
    }
}
