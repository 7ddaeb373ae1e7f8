//! Reads a recipe from bytes that may be anybody's: bounded, and refused with the place.

use serde_json::{Map, Value};

use super::format::{Recipe, RecipeStep, ResultPlace, ResultPlan};
use super::input::{is_name, slots_in};
use super::matching::UrlPattern;
use crate::model::selector::Selector;
use crate::pattern::Pattern;
use crate::privacy::injection::is_invisible;

/// Longer files are refused.
pub const LARGEST_RECIPE: usize = 256 * 1024;
const LONGEST_ID: usize = 64;
const LONGEST_NAME: usize = 120;
const LONGEST_TEXT: usize = 2_000;
const LONGEST_PATTERN: usize = 512;
const MOST_PATTERNS: usize = 32;
const MOST_HINTS: usize = 32;
const MOST_ALIASES: usize = 64;
const MOST_STEPS: usize = 200;
const MOST_EXPECTED: usize = 8;
const MOST_PLACES: usize = 500;
const DEEPEST: usize = 16;

type CheckedRecipe = Result<(), String>;

/// `name` is what errors call the file.
pub fn read_recipe(bytes: &[u8], name: &str) -> Result<Recipe, String> {
    let named = |problem: String| format!("{name}: {problem}");
    if bytes.len() > LARGEST_RECIPE {
        return Err(named(format!("the recipe has {} bytes, the limit is {LARGEST_RECIPE}", bytes.len())));
    }
    let recipe: Recipe = serde_json::from_slice(bytes).map_err(|problem| named(problem.to_string()))?;
    check_recipe(&recipe).map_err(named)?;
    Ok(recipe)
}

pub fn check_recipe(recipe: &Recipe) -> CheckedRecipe {
    check_id(&recipe.id)?;
    if recipe.name.trim().is_empty() {
        return Err("name is empty".to_owned());
    }
    check_text("name", &recipe.name, LONGEST_NAME)?;
    check_text("description", &recipe.description, LONGEST_TEXT)?;
    check_addresses("urlPatterns", &recipe.url_patterns)?;
    check_texts("promptHints", &recipe.prompt_hints, MOST_HINTS)?;
    check_aliases(recipe)?;
    check_completion(recipe)?;
    recipe.start_url.as_deref().map_or(Ok(()), check_start)?;
    check_count("steps", recipe.steps.len(), MOST_STEPS)?;
    for (number, step) in recipe.steps.iter().enumerate() {
        check_step(&format!("steps[{number}]"), step)?;
    }
    recipe.result.as_ref().map_or(Ok(()), check_result)?;
    if recipe.version == 0 {
        return Err("version is 0; the first one is 1".to_owned());
    }
    let told = recipe.learned_from.iter().flat_map(|from| from.healed.iter().chain([&from.job_id]));
    told.enumerate().try_for_each(|(at, text)| check_text(&format!("learned_from[{at}]"), text, LONGEST_TEXT))
}

pub fn check_id(id: &str) -> CheckedRecipe {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let is_fine =
        id.len() <= LONGEST_ID && !id.starts_with('-') && id.chars().all(is_letter) && !id.is_empty();
    match is_fine {
        true => Ok(()),
        false => Err(format!(
            "id is {id:?}; it must be 1 to {LONGEST_ID} small letters, digits and dashes, and not begin with a dash"
        )),
    }
}

fn check_count(place: &str, count: usize, most: usize) -> CheckedRecipe {
    match count > most {
        true => Err(format!("{place} has {count} entries, the limit is {most}")),
        false => Ok(()),
    }
}

/// Nothing that a person who reads the recipe would not see.
fn check_text(place: &str, text: &str, longest: usize) -> CheckedRecipe {
    let count = text.chars().count();
    if count > longest {
        return Err(format!("{place} has {count} characters, the limit is {longest}"));
    }
    let is_bad =
        |letter: &char| (letter.is_control() && !matches!(letter, '\n' | '\t')) || is_invisible(*letter);
    match text.chars().find(is_bad) {
        Some(letter) => Err(format!("{place} has the invisible character U+{:04X}", u32::from(letter))),
        None => Ok(()),
    }
}

fn check_texts(place: &str, texts: &[String], most: usize) -> CheckedRecipe {
    check_count(place, texts.len(), most)?;
    let all = texts.iter().enumerate();
    all.map(|(at, text)| (format!("{place}[{at}]"), text)).try_for_each(|(place, text)| {
        if text.trim().is_empty() {
            return Err(format!("{place} is empty"));
        }
        check_text(&place, text, LONGEST_TEXT)
    })
}

fn check_addresses(place: &str, patterns: &[String]) -> CheckedRecipe {
    check_count(place, patterns.len(), MOST_PATTERNS)?;
    for (at, pattern) in patterns.iter().enumerate() {
        let place = format!("{place}[{at}]");
        check_text(&place, pattern, LONGEST_PATTERN)?;
        UrlPattern::read(pattern).map_err(|problem| format!("{place}: {problem}"))?;
    }
    Ok(())
}

/// An input has one name of its own, and every other name leads to one input.
fn check_aliases(recipe: &Recipe) -> CheckedRecipe {
    let aliases = &recipe.input_aliases;
    check_count("inputAliases", aliases.len() + aliases.values().map(Vec::len).sum::<usize>(), MOST_ALIASES)?;
    let mut seen: Vec<&str> = aliases.keys().map(String::as_str).collect();
    for (name, others) in aliases {
        if let Some(text) = others.iter().chain([name]).find(|text| !is_name(text)) {
            return Err(format!("inputAliases.{name}: {text:?} is no name of an input"));
        }
        for other in others {
            if seen.contains(&other.as_str()) {
                return Err(format!("inputAliases.{name}: '{other}' is a name of two inputs"));
            }
            seen.push(other);
        }
    }
    Ok(())
}

fn check_completion(recipe: &Recipe) -> CheckedRecipe {
    let completion = &recipe.completion;
    check_addresses("completion.urlPatterns", &completion.url_patterns)?;
    check_texts("completion.textIncludes", &completion.text_includes, MOST_HINTS)?;
    check_texts("completion.textExcludes", &completion.text_excludes, MOST_HINTS)?;
    check_texts("completion.requiredFields", &completion.required_fields, MOST_HINTS)
}

fn check_start(address: &str) -> CheckedRecipe {
    check_text("start_url", address, LONGEST_TEXT)?;
    slots_in(address).map_err(|problem| format!("start_url: {problem}"))?;
    match address.starts_with("http://") || address.starts_with("https://") {
        true => Ok(()),
        false => Err("start_url must begin with http:// or https://".to_owned()),
    }
}

fn check_step(place: &str, step: &RecipeStep) -> CheckedRecipe {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    if step.tool.is_empty() || step.tool.len() > LONGEST_ID || !step.tool.chars().all(is_letter) {
        return Err(format!("{place}.do is {:?}, which is no name of a tool", step.tool));
    }
    if let Some(selector) = &step.selector {
        check_selector(&format!("{place}.selector"), selector)?;
    }
    if let Some(title) = &step.window_title {
        check_text(&format!("{place}.window_title"), title, LONGEST_TEXT)?;
    }
    if let Some(own) = OWN_ARGUMENTS.iter().find(|name| step.args.contains_key(**name)) {
        return Err(format!("{place}.args.{own}: {OWN_WHY}"));
    }
    check_values(&format!("{place}.args"), &Value::Object(step.args.clone()))?;
    check_count(&format!("{place}.expect"), step.expect.len(), MOST_EXPECTED)?;
    let expected = step.expect.iter().enumerate();
    expected.map(|(at, value)| (format!("{place}.expect[{at}]"), value)).try_for_each(|(place, value)| {
        match value {
            Value::String(_) | Value::Object(_) => check_values(&place, value),
            _ => Err(format!("{place} must be a text or an object")),
        }
    })
}

/// Names of one run: nothing that is written down beforehand can know them.
const OWN_ARGUMENTS: &[&str] =
    &["selector", "ref", "confirm_token", "dry_run", "window_uid", "window_index", "expect"];
const OWN_WHY: &str = "it cannot be known before the run; an element is named by the step's selector";

fn check_selector(place: &str, selector: &str) -> CheckedRecipe {
    check_text(place, selector, LONGEST_TEXT)?;
    slots_in(selector).map_err(|problem| format!("{place}: {problem}"))?;
    Selector::parse(selector).map(drop).map_err(|problem| format!("{place}: {problem}"))
}

/// Every text in a value, with its place.
fn check_values(place: &str, value: &Value) -> CheckedRecipe {
    let mut waiting = vec![(place.to_owned(), value, 0)];
    while let Some((place, value, depth)) = waiting.pop() {
        if depth > DEEPEST {
            return Err(format!("{place} is deeper than {DEEPEST} levels"));
        }
        match value {
            Value::String(text) => {
                check_text(&place, text, LONGEST_TEXT)?;
                slots_in(text).map_err(|problem| format!("{place}: {problem}"))?;
            }
            Value::Array(list) => {
                waiting.extend(
                    list.iter().enumerate().map(|(at, item)| (format!("{place}[{at}]"), item, depth + 1)),
                );
            }
            Value::Object(fields) => check_keys(&place, fields).map(|()| {
                waiting.extend(fields.iter().map(|(name, item)| (format!("{place}.{name}"), item, depth + 1)))
            })?,
            _ => {}
        }
    }
    Ok(())
}

fn check_keys(place: &str, fields: &Map<String, Value>) -> CheckedRecipe {
    fields.keys().try_for_each(|name| check_text(&format!("a key of {place}"), name, LONGEST_NAME))
}

fn check_result(result: &ResultPlan) -> CheckedRecipe {
    check_values("result.shape", &result.shape)?;
    let of_lists: usize = result.lists.values().map(|list| list.fields.len()).sum();
    check_count("result.places", result.places.len() + of_lists, MOST_PLACES)?;
    for (pointer, place) in &result.places {
        let name = format!("result.places[{pointer:?}]");
        if result.shape.pointer(pointer).is_none() {
            return Err(format!("{name}: result.shape has nothing there"));
        }
        check_place(&name, place)?;
    }
    for (pointer, list) in &result.lists {
        let name = format!("result.lists[{pointer:?}]");
        if !result.shape.pointer(pointer).is_some_and(Value::is_array) {
            return Err(format!("{name}: result.shape has no list there"));
        }
        if list.fields.is_empty() {
            return Err(format!("{name}: it has no field"));
        }
        list.fields
            .iter()
            .try_for_each(|(field, place)| check_place(&format!("{name}.fields[{field:?}]"), place))?;
    }
    Ok(())
}

fn check_place(name: &str, place: &ResultPlace) -> CheckedRecipe {
    check_selector(&format!("{name}.selector"), &place.selector)?;
    let Some(pattern) = &place.pattern else { return Ok(()) };
    check_text(&format!("{name}.pattern"), pattern, LONGEST_PATTERN)?;
    Pattern::compile(pattern).map(drop).map_err(|problem| format!("{name}.pattern: {problem}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn whole() -> Value {
        json!({
            "id": "shop", "name": "Shop", "urlPatterns": ["https://shop.test/*"],
            "inputAliases": {"query": ["q"]},
            "steps": [{"do": "set_value", "selector": "//Edit[name=\"Search\"]", "args": {"value": "{{input.query}}"},
                       "expect": ["changed"]}],
            "result": {"shape": {"price": null, "rows": []},
                       "places": {"/price": {"selector": "//Text", "pattern": "Price: (.+)", "type": "number"}},
                       "lists": {"/rows": {"fields": {"": {"selector": "//ListItem"}}}}},
        })
    }

    /// A recipe with one thing changed, and what is said of it; nothing where it is fine.
    fn check(pointer: &str, value: Value, expected: Option<&str>) {
        let mut recipe = whole();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = recipe.pointer_mut(parent).unwrap();
        match parent {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
            _ => parent[key.replace("~1", "/")] = value,
        }
        let read = read_recipe(recipe.to_string().as_bytes(), "r.json");
        match (read, expected) {
            (Ok(_), None) => {}
            (Err(said), Some(words)) => {
                assert!(said.starts_with("r.json: ") && said.contains(words), "{pointer}: {said}");
            }
            (got, _) => panic!("{pointer}: {got:?}"),
        }
    }

    #[test]
    fn a_whole_recipe_is_read_and_written_alike() {
        let recipe = read_recipe(whole().to_string().as_bytes(), "r.json").unwrap();
        let again = serde_json::to_vec(&recipe).unwrap();
        assert_eq!(read_recipe(&again, "r.json").unwrap(), recipe);
        check("/description", json!("two\nlines"), None);
        check("/requires", json!(["profile", "warmed"]), None);
    }

    #[test]
    fn names_and_texts_are_bounded_and_visible() {
        check("/id", json!("../../etc/passwd"), Some("id is \"../../etc/passwd\""));
        check("/id", json!(""), Some("small letters"));
        check("/id", json!("-rf"), Some("not begin with a dash"));
        check("/id", json!("a".repeat(65)), Some("1 to 64"));
        check("/name", json!(" "), Some("name is empty"));
        check("/name", json!("a\u{202e}b"), Some("invisible character U+202E"));
        check("/name", json!("a\u{e0041}b"), Some("invisible character U+E0041"));
        check("/description", json!("x".repeat(2001)), Some("description has 2001 characters"));
        check("/promptHints", json!(vec!["x"; 33]), Some("promptHints has 33 entries"));
        check(
            "/promptHints",
            json!(["fine", "\u{7}"]),
            Some("promptHints[1] has the invisible character U+0007"),
        );
        check("/version", json!(0), Some("version is 0"));
    }

    #[test]
    fn what_is_unknown_or_of_another_type_is_refused_with_its_line() {
        check("/onload", json!("x"), Some("unknown field `onload`"));
        check("/requires", json!(["root"]), Some("unknown variant `root`"));
        check("/steps", json!({"do": "x"}), Some("line 1 column"));
        check("/browserHints", json!({"args": ["--no-sandbox"]}), Some("unknown field `args`"));
    }

    #[test]
    fn addresses_and_aliases_are_read_when_the_file_is() {
        check("/urlPatterns", json!(["https://a/*", "javascript:alert(1)"]), Some("urlPatterns[1]: "));
        check("/urlPatterns", json!(vec!["https://a/*"; 33]), Some("33 entries"));
        check("/start_url", json!("file:///etc/passwd"), Some("start_url must begin"));
        check("/completion", json!({"urlPatterns": ["x"]}), Some("completion.urlPatterns[0]"));
        check("/inputAliases", json!({"a": ["b"], "c": ["b"]}), Some("'b' is a name of two inputs"));
        check("/inputAliases", json!({"a": ["c"], "c": []}), Some("'c' is a name of two inputs"));
        check("/inputAliases", json!({"a b": []}), Some("is no name of an input"));
    }

    #[test]
    fn steps_name_elements_by_selectors_that_can_be_read() {
        check("/steps/0/do", json!("rm -rf"), Some("steps[0].do is \"rm -rf\""));
        check("/steps/0/selector", json!("//Edit["), Some("steps[0].selector: "));
        check("/steps/0/selector", json!("//Edit[name=\"{{input.a b}}\"]"), Some("is neither"));
        check("/steps/0/args", json!({"ref": "e12"}), Some("steps[0].args.ref: it cannot be known"));
        check("/steps/0/args", json!({"confirm_token": "x"}), Some("steps[0].args.confirm_token"));
        check("/steps/0/args", json!({"value": {"a": ["{{env.HOME}}"]}}), Some("steps[0].args.value.a[0]: "));
        check("/steps/0/expect", json!([7]), Some("steps[0].expect[0] must be"));
        check("/steps/0/expect", json!(vec!["changed"; 9]), Some("steps[0].expect has 9 entries"));
        check("/steps", json!(vec![json!({"do": "look"}); 201]), Some("steps has 201 entries"));
        let deep = (0..20).fold(json!("x"), |value, _| json!([value]));
        check("/steps/0/args", json!({"value": deep}), Some("is deeper than 16 levels"));
    }

    #[test]
    fn places_lead_into_the_result() {
        check(
            "/result/places",
            json!({"/none": {"selector": "//Text"}}),
            Some("result.shape has nothing there"),
        );
        check(
            "/result/lists",
            json!({"/price": {"fields": {"": {"selector": "//Text"}}}}),
            Some("has no list there"),
        );
        check("/result/lists", json!({"/rows": {"fields": {}}}), Some("it has no field"));
        check("/result/places/~1price/pattern", json!("("), Some("pattern: "));
        check("/result/places/~1price/pattern", json!("\\pL{1000}{1000}{1000}"), Some("pattern: "));
    }

    #[test]
    fn what_is_no_recipe_is_refused() {
        for (bytes, words) in [
            (b"".to_vec(), "EOF"),
            (b"[]".to_vec(), "invalid"),
            (b"\xff\xfe".to_vec(), "line 1"),
            ("[".repeat(10_000).into_bytes(), "line 1"),
            (vec![b' '; LARGEST_RECIPE + 1], "the limit is 262144"),
        ] {
            let said = read_recipe(&bytes, "r.json").unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_recipe(&bytes, "r.json");
        }
    }
}
