//! From bytes to values: texts, trees, and arguments as a tool's schema describes them. Few words, so that equal ones
//! meet; any byte stands for something, so that a mutation of the bytes is a mutation of the value.

use arbitrary::{Result, Unstructured};
use os_screen_observer::model::{Element, Range, Rect, Tree, TreeBuilder};
use serde_json::{Map, Value, json};

const ROLES: &[&str] = &["Window", "Group", "Button", "Edit", "Text", "PasswordText", "List", "row"];
const WORDS: &[&str] = &[
    "",
    "a",
    "ab",
    "abc",
    "OK",
    "Cancel",
    "hunter2",
    "hunt",
    "er2",
    "1234",
    "12",
    "[REDACTED]",
    "REDACTED",
    "*",
    "x",
    " ",
    "\n",
    "\u{1b}[2J",
    "\u{7}",
    "é",
    "日本",
    "\u{202e}",
    "\"",
    "\\",
    "[R",
    "ED]",
    "…",
    "name=Ada",
    "\0",
];

/// A text of up to six words.
pub fn text(bytes: &mut Unstructured) -> Result<String> {
    let mut text = String::new();
    for _ in 0..bytes.int_in_range(0..=6)? {
        match bytes.choose(WORDS)? {
            &"x" => text.push(bytes.arbitrary()?),
            word => text.push_str(word),
        }
    }
    Ok(text)
}

fn some<T>(bytes: &mut Unstructured, make: impl FnOnce(&mut Unstructured) -> Result<T>) -> Result<Option<T>> {
    if bytes.ratio(1, 3)? { make(bytes).map(Some) } else { Ok(None) }
}

pub fn element(bytes: &mut Unstructured) -> Result<Element> {
    let role = bytes.choose(ROLES)?;
    let mut element = Element::new(*role, text(bytes)?, Rect::default());
    element.value = some(bytes, text)?;
    element.bounds = Rect::new(bytes.int_in_range(-2..=2)?, 0, bytes.int_in_range(0..=3)?, 7);
    // Most elements have nothing more to say.
    if bytes.ratio(1, 4)? {
        element.enabled = bytes.arbitrary()?;
        element.focused = bytes.arbitrary()?;
        element.selected = bytes.arbitrary()?;
        element.expanded = bytes.arbitrary()?;
        element.secret = bytes.ratio(1, 4)?;
        element.shortcut = some(bytes, text)?;
        element.description = some(bytes, text)?;
        element.identifier = some(bytes, text)?;
        element.range = Range { now: number(bytes)?, min: number(bytes)?, max: number(bytes)? };
    }
    Ok(element)
}

fn number(bytes: &mut Unstructured) -> Result<Option<f64>> {
    let known = [None, Some(0.0), Some(-0.0), Some(0.5), Some(1e300), Some(f64::NAN), Some(f64::INFINITY)];
    bytes.choose(&known).copied()
}

/// A node of a tree that is being made: how many levels are closed before it, and what its number skips.
#[derive(Clone)]
pub struct Node {
    pub element: Element,
    closed: usize,
    skipped: u32,
}

pub fn node(bytes: &mut Unstructured) -> Result<Node> {
    let (closed, skipped) = (bytes.int_in_range(0..=3)?, if bytes.ratio(1, 10)? { 1 } else { 0 });
    Ok(Node { element: element(bytes)?, closed, skipped })
}

pub fn nodes(bytes: &mut Unstructured, most: usize) -> Result<Vec<Node>> {
    (0..bytes.int_in_range(0..=most)?).map(|_| node(bytes)).collect()
}

pub fn tree(root: Element, nodes: &[Node]) -> Tree {
    let mut builder = TreeBuilder::new(root);
    let mut next = vec![0_u32];
    for Node { element, closed, skipped } in nodes {
        for _ in 0..(*closed).min(next.len() - 1) {
            builder.close();
            next.pop();
        }
        let slot = next.last().copied().unwrap_or_default() + skipped;
        builder.open_in_slot(element.clone(), slot);
        next.pop();
        next.extend([slot + 1, 0]);
    }
    builder.finish()
}

/// Any JSON, `depth` levels deep at most.
pub fn json(bytes: &mut Unstructured, depth: usize) -> Result<Value> {
    let most = if depth == 0 { 4 } else { 6 };
    Ok(match bytes.int_in_range(0..=most)? {
        0 => Value::Null,
        1 => json!(bytes.arbitrary::<bool>()?),
        2 => json!(bytes.int_in_range(-3..=20)?),
        3 => json!(bytes.arbitrary::<i64>()?),
        4 => json!(text(bytes)?),
        5 => {
            let count = bytes.int_in_range(0..=3)?;
            (0..count).map(|_| json(bytes, depth - 1)).collect::<Result<Vec<_>>>()?.into()
        }
        _ => {
            let mut object = Map::new();
            for _ in 0..bytes.int_in_range(0..=3)? {
                object.insert(text(bytes)?, json(bytes, depth - 1)?);
            }
            object.into()
        }
    })
}

/// Arguments as a schema describes them, most of the time; `texts` are the texts that mean something here.
pub fn fitting(
    bytes: &mut Unstructured,
    schema: &Value,
    root: &Value,
    texts: &[&str],
    depth: usize,
) -> Result<Value> {
    if depth == 0 || bytes.ratio(1, 24)? {
        return json(bytes, depth.min(2));
    }
    if let Some(path) = schema["$ref"].as_str() {
        let target = root.pointer(path.trim_start_matches('#')).unwrap_or(&Value::Null);
        return fitting(bytes, target, root, texts, depth - 1);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(choices) = schema[key].as_array().filter(|choices| !choices.is_empty()) {
            let chosen = bytes_choice(bytes, choices)?;
            return fitting(bytes, chosen, root, texts, depth - 1);
        }
    }
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.is_empty()) {
        return Ok(bytes_choice(bytes, choices)?.clone());
    }
    if let Some(value) = schema.get("const") {
        return Ok(value.clone());
    }
    match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("object") => object(bytes, schema, root, texts, depth),
        Some("array") => {
            let count = bytes.int_in_range(0..=3)?;
            let item = |bytes: &mut Unstructured| fitting(bytes, &schema["items"], root, texts, depth - 1);
            Ok((0..count).map(|_| item(bytes)).collect::<Result<Vec<_>>>()?.into())
        }
        Some("integer") => whole_number(bytes, schema),
        Some("number") => Ok(json!(bytes.int_in_range(-2..=40)? as f64 / 4.0)),
        Some("boolean") => Ok(json!(bytes.arbitrary::<bool>()?)),
        Some("string") if bytes.ratio(4, 5)? => Ok(json!(bytes.choose(texts)?)),
        Some("string") => Ok(json!(text(bytes)?)),
        _ => json(bytes, 2),
    }
}

fn bytes_choice<'a>(bytes: &mut Unstructured, choices: &'a [Value]) -> Result<&'a Value> {
    Ok(&choices[bytes.choose_index(choices.len())?])
}

fn whole_number(bytes: &mut Unstructured, schema: &Value) -> Result<Value> {
    let least = schema["minimum"].as_i64().unwrap_or(-2);
    let most = schema["maximum"].as_i64().unwrap_or(i64::MAX);
    Ok(match bytes.int_in_range(0..=9)? {
        0 => json!(most),
        1 => json!(least),
        2 => json!(most.saturating_add(1)),
        3 => json!(bytes.arbitrary::<i32>()?),
        _ => json!(least.saturating_add(bytes.int_in_range(0..=30)?)),
    })
}

fn object(
    bytes: &mut Unstructured,
    schema: &Value,
    root: &Value,
    texts: &[&str],
    depth: usize,
) -> Result<Value> {
    let mut object = Map::new();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let wanted =
            if required.contains(&name.as_str()) { !bytes.ratio(1, 40)? } else { bytes.ratio(1, 4)? };
        if wanted {
            object.insert(name.clone(), fitting(bytes, property, root, texts, depth - 1)?);
        }
    }
    Ok(object.into())
}
