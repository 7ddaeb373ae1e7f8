//! One entry of a TOML file, changed in its text: comments and the order of everything else stay.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|problem| {
        let told = problem.to_string();
        format!("this is not TOML: {}", told.split_whitespace().collect::<Vec<_>>().join(" "))
    })
}

fn servers<'a>(document: &'a DocumentMut, section: &str) -> Result<Option<&'a dyn TableLike>, String> {
    match document.get(section) {
        None => Ok(None),
        Some(item) => item.as_table_like().map(Some).ok_or_else(|| no_table(section)),
    }
}

fn no_table(section: &str) -> String {
    format!("\"{section}\" is not a table")
}

pub fn find_entry(text: &str, section: &str, name: &str) -> Result<Option<Value>, String> {
    let document = parse(text)?;
    let entry = servers(&document, section)?.and_then(|servers| servers.get(name));
    Ok(entry.map(to_json))
}

pub fn put_entry(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    let mut document = parse(text)?;
    let servers = document.entry(section).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| no_table(section))?;
    servers.insert(name, Item::Table(entry_table(entry)));
    Ok(document.to_string())
}

pub fn remove_entry(text: &str, section: &str, name: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut(section) else {
        return Ok(text.to_owned());
    };
    let table = servers.as_table_like_mut().ok_or_else(|| no_table(section))?;
    table.remove(name);
    let is_ours = table.is_empty() && servers.as_table().is_some_and(Table::is_implicit);
    if is_ours {
        document.remove(section);
    }
    Ok(document.to_string())
}

fn entry_table(entry: &Value) -> Table {
    let mut table = Table::new();
    for (key, value) in entry.as_object().into_iter().flatten() {
        table.insert(key, Item::Value(to_toml(value)));
    }
    table
}

/// What an entry has: texts, lists of texts, and tables of texts.
fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Array(list) => list.iter().map(to_toml).collect::<Array>().into(),
        Value::Object(fields) => {
            let pairs = fields.iter().map(|(key, value)| (key.as_str(), to_toml(value)));
            pairs.collect::<InlineTable>().into()
        }
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_f64().unwrap_or_default().into(),
        Value::Null => "".into(),
    }
}

fn to_json(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(table.iter().map(|(key, item)| (key.to_owned(), to_json(item))).collect());
    }
    if let Some(list) = item.as_array() {
        return list.iter().map(|value| to_json(&Item::Value(value.clone()))).collect();
    }
    if let Some(text) = item.as_str() {
        return text.into();
    }
    item.as_bool().map_or_else(|| item.to_string().trim().into(), Value::from)
}
