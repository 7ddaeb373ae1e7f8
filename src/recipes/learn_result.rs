//! Learns where each part of a result stood on the last page. A part that stands nowhere is refused: a replay would have
//! to claim it unseen.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::elements::{anchors, matches_alone, path_below, place_selectors, place_step, quoted, role_step};
use super::format::{ListPlace, PlaceText, PlaceType, ResultPlace, ResultPlan};
use super::places::{read_all, read_number, read_result, shown_pointer};
use crate::model::Tree;
use crate::text::escape_pointer;

/// So many elements that show a text are tried.
const MOST_TRIED: usize = 40;
/// A context of fewer letters tells nothing apart.
const FEWEST_LETTERS: usize = 3;

/// A longer one is a sentence.
const LONGEST_LABEL: usize = 40;

/// One value of the result, as the page shows it.
struct Leaf<'a> {
    value: &'a Value,
}

/// An element that shows a value: the text around it, and which text that is.
struct Shown {
    node: usize,
    from: PlaceText,
    text: String,
    start: usize,
    end: usize,
    kind: PlaceType,
}

pub struct ResultLearner<'a> {
    pub tree: &'a Tree,
    pub input: &'a Map<String, Value>,
    /// Texts that another run may not show: the values of the result and the inputs.
    volatile: Vec<String>,
}

impl<'a> ResultLearner<'a> {
    pub fn new(tree: &'a Tree, input: &'a Map<String, Value>, result: &Value) -> Self {
        let mut volatile = Vec::new();
        collect_texts(result, &mut volatile);
        input.values().for_each(|value| collect_texts(value, &mut volatile));
        volatile.retain(|text| !text.trim().is_empty());
        volatile.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Self { tree, input, volatile }
    }

    pub fn learn(&self, result: &Value) -> Result<ResultPlan, String> {
        let mut plan = ResultPlan { shape: result.clone(), ..ResultPlan::default() };
        self.learn_value(String::new(), result, &mut plan)?;
        let read = read_result(&plan, self.tree, self.input)?;
        match same_value(&read, result) {
            true => Ok(plan),
            false => Err(format!("read again from its places the result is {read}")),
        }
    }

    fn learn_value(&self, pointer: String, value: &Value, plan: &mut ResultPlan) -> Result<(), String> {
        match value {
            Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
                self.learn_value(format!("{pointer}/{}", escape_pointer(name)), value, plan)
            }),
            Value::Array(rows) => {
                let list = self.learn_list(&pointer, rows)?;
                put(&mut plan.shape, &pointer, Value::Array(Vec::new()));
                plan.lists.insert(pointer, list);
                Ok(())
            }
            leaf => self.learn_leaf(pointer, leaf, plan),
        }
    }

    fn learn_leaf(&self, pointer: String, value: &Value, plan: &mut ResultPlan) -> Result<(), String> {
        if let Some(place) = self.find_place(&Leaf { value }) {
            put(&mut plan.shape, &pointer, Value::Null);
            plan.places.insert(pointer, place);
            return Ok(());
        }
        let same = self.input.iter().find(|(_, given)| *given == value);
        let Some((name, _)) = same else { return Err(stands_nowhere(&pointer, value)) };
        put(&mut plan.shape, &pointer, format!("{{{{input.{name}}}}}").into());
        Ok(())
    }

    /// Behind a label of its own where there is one: a place by position may hold something else on another page.
    fn find_place(&self, leaf: &Leaf) -> Option<ResultPlace> {
        let mut shown = self.shown(leaf);
        shown.truncate(MOST_TRIED);
        shown.sort_by_key(|shown| (self.is_typed(shown), !is_labelled(shown)));
        shown.iter().find_map(|shown| self.place_of(shown).filter(|place| self.reads(place, leaf)))
    }

    /// What was typed into a field says nothing about the page.
    fn is_typed(&self, shown: &Shown) -> bool {
        shown.from == PlaceText::Value && self.tree[shown.node].role.takes_text()
    }

    fn reads(&self, place: &ResultPlace, leaf: &Leaf) -> bool {
        let read = read_all(place, self.tree, self.input);
        read.is_ok_and(|read| matches!(read.as_slice(), [value] if same_value(value, leaf.value)))
    }

    /// Where a value is shown: whole texts before longer ones.
    fn shown(&self, leaf: &Leaf) -> Vec<Shown> {
        let mut found = Vec::new();
        for node in 0..self.tree.len() {
            let element = &self.tree[node];
            if element.redacted || element.is_secret() {
                continue;
            }
            let texts = [(PlaceText::Name, Some(&element.name)), (PlaceText::Value, element.value.as_ref())];
            for (from, text) in texts.into_iter().filter_map(|(from, text)| Some((from, text?))) {
                found.extend(spans_of(leaf.value, text).into_iter().map(|(start, end, kind)| Shown {
                    node,
                    from,
                    text: text.clone(),
                    start,
                    end,
                    kind,
                }));
            }
        }
        found.sort_by_key(|shown| (shown.text.len(), std::cmp::Reverse(self.tree.depth(shown.node))));
        found
    }

    fn place_of(&self, shown: &Shown) -> Option<ResultPlace> {
        let pattern = self.pattern_of(shown);
        let by_text = pattern.as_ref().and_then(|pattern| self.selector_by_text(shown, pattern));
        let is_stable = |name: &str| self.is_stable(name);
        let selector = by_text.or_else(|| place_selectors(self.tree, shown.node, &is_stable).next())?;
        let pattern = pattern.map(|around| format!("^{}(.+?){}$", around.0, around.1));
        Some(ResultPlace { selector, from: shown.from, pattern, r#type: shown.kind })
    }

    /// What stands before and after the value, as patterns; nothing where the value is the whole text.
    fn pattern_of(&self, shown: &Shown) -> Option<(String, String)> {
        let (before, after) = (shown.text.get(..shown.start)?, shown.text.get(shown.end..)?);
        let is_whole = before.trim().is_empty() && after.trim().is_empty();
        (!is_whole).then(|| (self.context(before), self.context(after)))
    }

    /// A text as a pattern in which everything that changes matches anything.
    fn context(&self, text: &str) -> String {
        if let Some((at, volatile)) =
            self.volatile.iter().find_map(|volatile| Some((find_word(text, volatile)?, volatile)))
        {
            let (before, after) =
                (text.get(..at).unwrap_or_default(), text.get(at + volatile.len()..).unwrap_or_default());
            return format!("{}.*?{}", self.context(before), self.context(after));
        }
        with_any_numbers(text)
    }

    /// By the words around the value, where they are enough to tell it.
    fn selector_by_text(&self, shown: &Shown, (before, after): &(String, String)) -> Option<String> {
        let letters = [before, after]
            .iter()
            .flat_map(|part| part.chars())
            .filter(|letter| letter.is_alphabetic())
            .count();
        let key = match shown.from {
            PlaceText::Name => "name",
            PlaceText::Value => "value",
        };
        let role = role_step(&self.tree[shown.node].role);
        let selector = format!("//{role}[{key}~={}]", quoted(&format!("{before}.+?{after}")));
        let is_enough = letters >= FEWEST_LETTERS && matches_alone(self.tree, &selector, shown.node);
        is_enough.then_some(selector)
    }

    fn is_stable(&self, name: &str) -> bool {
        let shows_value = self.volatile.iter().any(|volatile| find_word(name, volatile).is_some());
        !shows_value
            && !name.chars().any(|letter| letter.is_ascii_digit())
            && name.chars().any(char::is_alphabetic)
    }

    fn learn_list(&self, pointer: &str, rows: &[Value]) -> Result<ListPlace, String> {
        let Some(first) = rows.first() else {
            return Err(format!(
                "the result's {}: an empty list stands nowhere on a page",
                shown_pointer(pointer)
            ));
        };
        let names: Vec<&str> = match first {
            Value::Object(fields) => fields.keys().map(String::as_str).collect(),
            _ => vec![""],
        };
        let mut fields = BTreeMap::new();
        for name in names {
            let of_row =
                |row: &'_ Value| if name.is_empty() { Some(row.clone()) } else { row.get(name).cloned() };
            let column: Option<Vec<Value>> = rows.iter().map(of_row).collect();
            let place = column.as_deref().and_then(|column| self.find_column(column));
            let place = place.ok_or_else(|| {
                let what =
                    if name.is_empty() { "its rows".to_owned() } else { format!("'{name}' of its rows") };
                format!(
                    "the result's {}: {what} cannot be told from the rest of the last page",
                    shown_pointer(pointer)
                )
            })?;
            fields.insert(name.to_owned(), place);
        }
        Ok(ListPlace { fields })
    }

    /// A place that matches the values of all rows, in their order, and nothing else.
    fn find_column(&self, column: &[Value]) -> Option<ResultPlace> {
        let first = self.shown(&Leaf { value: column.first()? });
        let second = column.get(1).map(|value| self.shown(&Leaf { value }));
        for one in first.iter().take(MOST_TRIED) {
            let paths: Vec<usize> = match &second {
                Some(second) => second
                    .iter()
                    .take(MOST_TRIED)
                    .filter_map(|other| self.row_level(one.node, other.node))
                    .collect(),
                None => self.row_like(one.node),
            };
            for row in paths {
                let place = self.column_place(one, row)?;
                let read = read_all(&place, self.tree, self.input).unwrap_or_default();
                if read.len() == column.len()
                    && read.iter().zip(column).all(|(one, other)| same_value(one, other))
                {
                    return Some(place);
                }
            }
        }
        None
    }

    /// The element on the way to the first node that is a row: its place is all in which the ways to the two differ.
    fn row_level(&self, one: usize, other: usize) -> Option<usize> {
        let (one, other) = (path_below(self.tree, Tree::ROOT, one), path_below(self.tree, Tree::ROOT, other));
        if one.len() != other.len() {
            return None;
        }
        let steps = one
            .iter()
            .zip(&other)
            .filter(|(one, other)| place_step(self.tree, **one) != place_step(self.tree, **other));
        let differing: Vec<usize> = steps.map(|(one, _)| *one).collect();
        match differing.as_slice() {
            [row] => Some(*row),
            _ => None,
        }
    }

    /// Of a list with one row: what is a row by its role.
    fn row_like(&self, node: usize) -> Vec<usize> {
        let path = path_below(self.tree, Tree::ROOT, node);
        path.into_iter().rev().filter(|&at| self.tree[at].role.is_repeated()).collect()
    }

    fn column_place(&self, shown: &Shown, row: usize) -> Option<ResultPlace> {
        let is_stable = |name: &str| self.is_stable(name);
        let root = (role_step(&self.tree[Tree::ROOT].role), Tree::ROOT);
        let (anchor, at) = anchors(self.tree, row, &is_stable).next().unwrap_or(root);
        let step = |node: usize| match node == row {
            true => format!("/{}", role_step(&self.tree[node].role)),
            false => format!("/{}", place_step(self.tree, node)),
        };
        let steps: String = path_below(self.tree, at, shown.node).into_iter().map(step).collect();
        let pattern = self.pattern_of(shown).map(|around| format!("^{}(.+?){}$", around.0, around.1));
        Some(ResultPlace {
            selector: format!("{anchor}{steps}"),
            from: shown.from,
            pattern,
            r#type: shown.kind,
        })
    }
}

/// Whether the value is all that stands behind a label.
fn is_labelled(shown: &Shown) -> bool {
    let (before, after) = (shown.text.get(..shown.start), shown.text.get(shown.end..));
    let is_label = |before: &str| label_of(before) == Some(before.trim_end());
    before.is_some_and(is_label) && after.is_some_and(|after| after.trim().is_empty())
}

/// What a text such as `Price: 12` begins with, up to the colon.
pub fn label_of(text: &str) -> Option<&str> {
    let label = text.get(..=text.find(':')?)?;
    let letters = label.chars().filter(|letter| letter.is_alphabetic()).count();
    (letters >= FEWEST_LETTERS && label.chars().count() <= LONGEST_LABEL).then_some(label)
}

fn stands_nowhere(pointer: &str, value: &Value) -> String {
    format!(
        "the result's {} is {value}, which stands nowhere on the last page; a recipe reads only what is shown",
        shown_pointer(pointer)
    )
}

fn put(shape: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = shape.pointer_mut(pointer) {
        *place = value;
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.trim().to_owned()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(list) => list.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|item| collect_texts(item, texts)),
        Value::Bool(_) | Value::Null => {}
    }
}

/// Numbers are the same if they are equal, however they are written.
fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::String(one), Value::String(other)) => one.trim() == other.trim(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_value(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| same_value(value, other))
            };
            one.len() == other.len() && one.iter().all(same)
        }
        _ => one == other,
    }
}

/// Where a value stands in a text.
fn spans_of(value: &Value, text: &str) -> Vec<(usize, usize, PlaceType)> {
    match value {
        Value::String(wanted) if !wanted.trim().is_empty() => {
            let wanted = wanted.trim();
            let at = find_word(text, wanted);
            at.map(|at| (at, at + wanted.len(), PlaceType::Text)).into_iter().collect()
        }
        Value::Number(wanted) => numbers_in(text)
            .into_iter()
            .filter(|&(start, end)| {
                let read = text.get(start..end).and_then(read_number);
                read.is_some_and(|read| read.as_f64() == wanted.as_f64())
            })
            .map(|(start, end)| (start, end, PlaceType::Number))
            .collect(),
        _ => Vec::new(),
    }
}

/// A text as a pattern in which a number matches every other one.
fn with_any_numbers(text: &str) -> String {
    let mut pattern = String::new();
    let mut in_number = false;
    for letter in text.chars() {
        let is_digit = letter.is_ascii_digit();
        match (is_digit, in_number) {
            (true, true) => {}
            (true, false) => pattern.push_str("[0-9]+"),
            (false, _) => pattern.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4]))),
        }
        in_number = is_digit;
    }
    pattern
}

fn next_digit(text: &str, from: usize) -> Option<usize> {
    let at = text.get(from..)?.find(|letter: char| letter.is_ascii_digit())?;
    Some(at + from)
}

fn numbers_in(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = next_digit(text, from) {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest
            .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ','))
            .unwrap_or(rest.len());
        let shown = rest.get(..length).unwrap_or_default().trim_end_matches(['.', ',']);
        let is_negative =
            text.get(..start).is_some_and(|before| before.ends_with('-') && !before.ends_with("--"));
        found.push((start - usize::from(is_negative), start + shown.len()));
        from = start + length.max(1);
    }
    found
}

/// Where the words stand in a text, not as a part of longer ones.
pub fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let fits = |at: &usize| {
        let (before, after) = (text.get(..*at), text.get(at + word.len()..));
        let cut_before =
            is_letter(before.and_then(|before| before.chars().next_back())) && is_letter(word.chars().next());
        let cut_after =
            is_letter(after.and_then(|after| after.chars().next())) && is_letter(word.chars().next_back());
        !cut_before && !cut_after
    };
    text.match_indices(word).map(|(at, _)| at).find(fits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{Element, Rect, TreeBuilder};

    fn element(role: &'static str, name: &str) -> Element {
        Element::new(role, name, Rect::default())
    }

    fn page(pen: &str, total: &str, rows: &[(&str, &str)]) -> Tree {
        let mut tree = TreeBuilder::new(element("Window", "Shop"));
        tree.add_leaf(element("Heading", pen));
        tree.add_leaf(element("Text", &format!("Total: {total} EUR for {pen}")));
        tree.open(element("List", "Items"));
        for (name, price) in rows {
            tree.open(element("ListItem", ""));
            tree.add_leaf(element("Text", name));
            tree.add_leaf(element("Text", price));
            tree.close();
        }
        tree.close();
        tree.finish()
    }

    /// Learned from one page and read from another.
    #[test]
    fn what_was_learned_from_one_page_is_read_from_another() {
        let input = json!({"query": "Blue pen"});
        let input = input.as_object().unwrap();
        let (one, other) = (
            page("Blue pen", "12.50", &[("Pen", "2"), ("Ink", "3")]),
            page("Red ink", "1,300.00", &[("A", "1"), ("B", "2"), ("C", "40")]),
        );
        let row = |name: &str, price: i64| json!({"name": name, "price": price});
        let result = json!({"title": "Blue pen", "total": 12.5, "rows": [row("Pen", 2), row("Ink", 3)]});
        let plan = ResultLearner::new(&one, input, &result).learn(&result).unwrap();
        assert_eq!(read_result(&plan, &one, input), Ok(result));
        let expected =
            json!({"title": "Red ink", "total": 1300.0, "rows": [row("A", 1), row("B", 2), row("C", 40)]});
        assert!(same_value(&read_result(&plan, &other, input).unwrap(), &expected), "{plan:?}");
        let texts = serde_json::to_string(&plan).unwrap();
        assert!(!texts.contains("Blue pen") && !texts.contains("12.5"), "{texts}");
    }

    /// A value that was typed into a field is read where the page tells it.
    #[test]
    fn a_label_is_a_better_place_than_a_field_or_a_position() {
        let input = json!({"query": "Lamp"});
        let input = input.as_object().unwrap();
        let page = |query: &str, name: &str| {
            let mut tree = TreeBuilder::new(element("Window", "Shop"));
            let mut field = element("Edit", "Query");
            field.value = Some(query.to_owned());
            tree.add_leaf(field);
            tree.add_leaf(element("Heading", name));
            tree.add_leaf(element("Text", &format!("Product: {name}")));
            tree.finish()
        };
        let result = json!({"name": "Lamp"});
        let plan = ResultLearner::new(&page("Lamp", "Lamp"), input, &result).learn(&result).unwrap();
        assert_eq!(plan.places["/name"].selector, r#"//Text[name~="Product: .+?"]"#);
        let read = read_result(&plan, &page("mug", "Tea mug"), input);
        assert_eq!(read, Ok(json!({"name": "Tea mug"})));
    }

    #[test]
    fn what_stands_nowhere_is_refused_with_its_part() {
        let tree = page("Blue pen", "12.50", &[("Pen", "2")]);
        let input = Map::from_iter([("who".to_owned(), json!("ann"))]);
        let check = |result: Value, expected: Option<&str>| {
            let learned = ResultLearner::new(&tree, &input, &result).learn(&result);
            match expected {
                None => assert!(learned.is_ok(), "{learned:?}"),
                Some(words) => {
                    assert!(learned.as_ref().is_err_and(|said| said.contains(words)), "{learned:?}")
                }
            }
        };
        check(json!({"who": "ann"}), None);
        check(json!({"rows": [{"name": "Pen"}]}), None);
        check(json!({"a": {"b": "Green"}}), Some("the result's /a/b is \"Green\", which stands nowhere"));
        check(json!({"ok": true}), Some("the result's /ok is true"));
        check(json!(null), Some("the result's / is null"));
        check(json!({"total": 2.5}), Some("the result's /total is 2.5"));
        check(json!({"rows": []}), Some("an empty list"));
        check(json!({"rows": ["Pen", "none"]}), Some("its rows cannot be told"));
    }
}
