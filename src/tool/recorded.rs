//! The arguments of a call as the audit log, traces and events may hold them.

use serde_json::{Map, Value};

use super::{Table, TableEntry, args};
use crate::privacy::arguments;
use crate::secrets::Secrets;

const STEPS: &[&str] = &["steps", "alternatives"];
const LONGEST_NAME: usize = 64;

/// A list of steps stands in the books as the names of its steps, because each has a line of its own. A call that is
/// only spoken of stands there without what it would type: nobody has looked yet where that would go.
pub fn for_the_books(
    tools: &Table,
    secrets: &Secrets,
    entry: &TableEntry,
    args: &Value,
) -> Map<String, Value> {
    let mut spoken = args::given_arguments(args);
    if entry.spec.meta.steps {
        for name in STEPS {
            if let Some(steps) = spoken.get_mut(*name) {
                *steps = names_of(steps);
            }
        }
    }
    if let Some((name, tool)) = args::carried_call(entry.schema(), &spoken) {
        let inner = tools.find_tool(tool).map(|inner| without_typed(tools, secrets, inner, &spoken[name]));
        let hidden = || Value::from(arguments::HIDDEN);
        let (name, inner) = (name.to_owned(), inner.map_or_else(hidden, Value::Object));
        spoken.insert(name, inner);
    }
    spoken
}

fn without_typed(tools: &Table, secrets: &Secrets, entry: &TableEntry, args: &Value) -> Map<String, Value> {
    // A call inside a call inside a call is refused; what it says is not looked through.
    let is_call = args::carried_call(entry.schema(), &args::given_arguments(args)).is_some();
    let mut spoken = if is_call { Map::new() } else { for_the_books(tools, secrets, entry, args) };
    for (name, value) in &mut spoken {
        let named = args::named_secret(entry.schema(), name, value).is_some_and(|it| secrets.knows(it));
        if !named && arguments::is_typed(entry.schema(), name, value) {
            *value = arguments::HIDDEN.into();
        }
    }
    spoken
}

fn names_of(steps: &Value) -> Value {
    match steps {
        Value::Array(list) => list.iter().map(name_of).collect(),
        Value::Object(lists) => lists.values().map(names_of).collect(),
        _ => Value::from("not a list"),
    }
}

fn name_of(step: &Value) -> Value {
    let name = step.get("do").and_then(Value::as_str).unwrap_or("?");
    name.chars().take(LONGEST_NAME).collect::<String>().into()
}
