//! A client that is told what has changed in a tree, in either format, and changes its own copy: the custom format in
//! the way that the docs of `model::diff` tell, JSON Patch by somebody else's library.

use serde_json::{Map, Value, json};

/// Applies the custom format in the way that the docs of `model::diff` tell.
pub fn apply_custom(old: &Value, changes: &Value) -> Value {
    let mut tree = old.clone();
    note_numbers(&mut tree);
    let changes = changes.as_array().unwrap();
    for parent in parents_of_structural_changes(changes) {
        rearrange(at(&mut tree, &parent), &parent, changes);
    }
    number(&mut tree, "root".to_owned());
    for change in changes.iter().filter(|change| change["op"] == "replace") {
        let node = at(&mut tree, &indices(&change["path"])).as_object_mut().unwrap();
        change["fields"].as_object().unwrap().iter().for_each(|(key, value)| set_field(node, key, value));
    }
    // A number that was said renumbers what is below it.
    renumber(&mut tree);
    tree
}

fn indices(path: &Value) -> Vec<usize> {
    path.as_str()
        .unwrap()
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().unwrap())
        .collect()
}

fn at<'a>(tree: &'a mut Value, path: &[usize]) -> &'a mut Value {
    path.iter().fold(tree, |node, &index| &mut node["children"][index])
}

fn parents_of_structural_changes(changes: &[Value]) -> Vec<Vec<usize>> {
    let mut parents: Vec<Vec<usize>> = changes
        .iter()
        .filter(|change| change["op"] != "replace")
        .map(|change| indices(if change["op"] == "move" { &change["to"] } else { &change["path"] }))
        .map(|mut path| {
            path.pop();
            path
        })
        .collect();
    parents.sort_by_key(|path| (path.len(), path.clone()));
    parents.dedup();
    parents
}

fn rearrange(node: &mut Value, path: &[usize], changes: &[Value]) {
    let index_here = |place: &Value| {
        let place = indices(place);
        (place.len() == path.len() + 1 && place.starts_with(path)).then(|| place[path.len()])
    };
    let mut children: Vec<Option<Value>> =
        node["children"].as_array().unwrap().iter().cloned().map(Some).collect();
    let mut arrivals: Vec<(usize, Value)> = Vec::new();
    for change in changes {
        match change["op"].as_str().unwrap() {
            "remove" => {
                if let Some(index) = index_here(&change["path"]) {
                    assert!(children[index].take().is_some(), "removed twice: {change}");
                }
            }
            "move" => {
                if let Some(index) = index_here(&change["to"]) {
                    let from = index_here(&change["from"]).unwrap();
                    arrivals.push((index, children[from].take().unwrap()));
                }
            }
            "add" => {
                if let Some(index) = index_here(&change["path"]) {
                    arrivals.push((index, change["node"].clone()));
                }
            }
            _ => {}
        }
    }
    let mut rest: std::collections::VecDeque<Value> = children.into_iter().flatten().collect();
    let total = rest.len() + arrivals.len();
    let mut arrived: std::collections::HashMap<usize, Value> = arrivals.into_iter().collect();
    let next = |index: usize| arrived.remove(&index).or_else(|| rest.pop_front()).unwrap();
    node["children"] = (0..total).map(next).collect();
}

/// Notes on every node of the old tree whether its number is its index: then it will follow it.
fn note_numbers(node: &mut Value) {
    for (index, child) in node["children"].as_array_mut().unwrap().iter_mut().enumerate() {
        let id = child["id"].as_str().unwrap().to_owned();
        let number: usize = id.rsplit('.').next().unwrap().parse().unwrap();
        child["#"] = if number == index { json!("index") } else { json!(number) };
        note_numbers(child);
    }
}

/// Gives the nodes of the old tree their new ids; added nodes came with theirs.
fn number(node: &mut Value, id: String) {
    for (index, child) in node["children"].as_array_mut().unwrap().iter_mut().enumerate() {
        let number_of_child = match child.as_object_mut().unwrap().remove("#") {
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => index.to_string(),
            None => continue,
        };
        number(child, format!("{id}.{number_of_child}"));
    }
    node["id"] = json!(id);
}

/// Ids begin with the parent's.
fn renumber(node: &mut Value) {
    let id = node["id"].as_str().unwrap().to_owned();
    for child in node["children"].as_array_mut().unwrap() {
        let own = child["id"].as_str().unwrap().rsplit('.').next().unwrap().to_owned();
        child["id"] = json!(format!("{id}.{own}"));
        renumber(child);
    }
}

fn set_field(node: &mut Map<String, Value>, key: &str, value: &Value) {
    const SHOWN_WHEN_KNOWN: &[&str] =
        &["selected", "expanded", "value_now", "value_min", "value_max", "identifier"];
    if value.is_null() && SHOWN_WHEN_KNOWN.contains(&key) {
        node.remove(key);
    } else {
        node.insert(key.to_owned(), value.clone());
    }
}

/// Applies a patch as RFC 6902 says.
pub fn apply_patch(old: &Value, changes: &Value) -> Value {
    let patch: json_patch::Patch = serde_json::from_value(changes.clone()).unwrap();
    let mut tree = old.clone();
    json_patch::patch(&mut tree, &patch).unwrap_or_else(|problem| panic!("{problem}\n{changes}"));
    tree
}
