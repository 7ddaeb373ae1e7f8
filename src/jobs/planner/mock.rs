//! A planner without a model and without chance: it fills in the fields that the task's input names, presses the button
//! beside them, follows the link that names what was asked for, and reads the result off the page by its labels. For
//! demos and tests, and for simple forms.

use serde_json::{Map, Value};

use super::mock_reading::{self, PageWords};
use super::{CallResult, PlannedStep, Planner, PlannerAnswer, PlannerAsker, PlannerFailure, PlannerTurn};
use crate::jobs::spec::JobSpec;
use crate::model::Role;

/// What buttons are called that send a form.
const SENDS: [&str; 7] = ["search", "find", "show", "go", "submit", "send", "ok"];

/// How the question for the element of a recipe's step begins.
const HEAL_QUESTION: &str = "A recorded step no longer finds its element.";

pub struct MockPlanner {
    input: Map<String, Value>,
    schema: Option<Value>,
    /// The job may look and not act.
    only_reads: bool,
    stage: MockStage,
}

/// What the last answer asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MockStage {
    Begin,
    Looked,
    Acted,
    Read,
    LookedForLink,
    Followed,
    ReadAgain,
}

impl MockPlanner {
    pub fn open(spec: &JobSpec) -> Self {
        Self {
            input: spec.input.clone(),
            schema: spec.output_schema.clone(),
            only_reads: spec.web.as_ref().is_some_and(|web| web.only_reads()),
            stage: MockStage::Begin,
        }
    }

    fn plan(&mut self, turn: &PlannerTurn) -> Vec<PlannedStep> {
        if let Some(missed) = MissedStep::read(turn.goal) {
            return vec![missed.heal()];
        }
        if let Some(failed) = turn.results.iter().find(|result| result.error.is_some()) {
            return vec![PlannedStep::Fail(failure_of(failed))];
        }
        let reply = turn.results.last().map(|result| &result.reply);
        let (stage, steps) = match self.stage {
            MockStage::Begin if self.only_reads => (MockStage::Acted, Vec::new()),
            MockStage::Begin => (MockStage::Looked, vec![call("look", &[])]),
            MockStage::Looked => (MockStage::Acted, self.fill_form(&elements_of(reply))),
            MockStage::Acted => (MockStage::Read, vec![read_page()]),
            MockStage::Read => return self.finish_or_follow(reply),
            MockStage::LookedForLink => (MockStage::Followed, self.follow_link(&elements_of(reply))),
            MockStage::Followed => (MockStage::ReadAgain, vec![read_page()]),
            MockStage::ReadAgain => return vec![self.read_result(reply).unwrap_or_else(PlannedStep::Fail)],
        };
        self.stage = stage;
        // Nothing to do at this stage: the next one.
        if steps.is_empty() { self.plan(&PlannerTurn { results: &[], ..*turn }) } else { steps }
    }

    /// The result, or a look for a link that may lead to it.
    fn finish_or_follow(&mut self, page: Option<&Value>) -> Vec<PlannedStep> {
        match self.read_result(page) {
            Ok(finish) => vec![finish],
            Err(problem) if self.only_reads => vec![PlannedStep::Fail(problem)],
            Err(_) => {
                self.stage = MockStage::LookedForLink;
                vec![call("look", &[])]
            }
        }
    }

    fn read_result(&self, page: Option<&Value>) -> Result<PlannedStep, String> {
        let text = page.and_then(|page| page.get("outline")).and_then(Value::as_str).unwrap_or_default();
        let title = page.and_then(|page| page.get("title")).and_then(Value::as_str).unwrap_or_default();
        let words = PageWords::read(title, text);
        match &self.schema {
            Some(schema) => mock_reading::read_value(schema, &words).map(PlannedStep::Finish),
            None => Ok(PlannedStep::Finish(serde_json::json!({ "title": title, "text": text }))),
        }
    }

    /// Each field that the input names, and then the button.
    fn fill_form(&self, elements: &[SeenElement]) -> Vec<PlannedStep> {
        let fields: Vec<&SeenElement> = elements.iter().filter(|element| element.is_field()).collect();
        let alone = self.input.len() == 1 && fields.len() == 1;
        let fill = |(key, value): (&String, &Value)| {
            let field = fields.iter().find(|field| alone || names_the_same(&field.name, key))?;
            field.fill_with(&words_of(value)?)
        };
        let mut steps: Vec<PlannedStep> = self.input.iter().filter_map(fill).collect();
        let button = elements.iter().find(|element| element.is_button() && element.sends());
        if let Some(button) = button.filter(|_| !steps.is_empty()) {
            steps.push(call("click_element", &[("ref", &button.reference)]));
        }
        steps
    }

    fn follow_link(&self, elements: &[SeenElement]) -> Vec<PlannedStep> {
        let wanted: Vec<String> = self.input.values().filter_map(words_of).map(|word| plain(&word)).collect();
        let is_wanted = |element: &&SeenElement| {
            let name = plain(&element.name);
            element.is_link() && wanted.iter().any(|word| !word.is_empty() && name.contains(word))
        };
        let link = elements.iter().find(is_wanted);
        link.map(|link| call("click_element", &[("ref", &link.reference)])).into_iter().collect()
    }
}

impl Planner for MockPlanner {
    fn next(&mut self, turn: &PlannerTurn, _: PlannerAsker) -> Result<PlannerAnswer, PlannerFailure> {
        Ok(PlannerAnswer { steps: self.plan(turn), ..PlannerAnswer::default() })
    }

    fn can_mend(&self) -> bool {
        false
    }
}

/// A step of a recipe that found no element, as its healer is asked: the tool, the name that is gone, and what is there.
struct MissedStep<'a> {
    tool: &'a str,
    name: String,
    candidates: Vec<SeenElement>,
}

impl<'a> MissedStep<'a> {
    /// Nothing where the goal is another one.
    fn read(goal: &'a str) -> Option<Self> {
        let (_, asked) = goal.split_once("The step is ").filter(|_| goal.starts_with(HEAL_QUESTION))?;
        let (tool, rest) = asked.split_once(" on the ")?;
        let (_, name) = rest.split_once(' ')?;
        let listed = goal.lines().filter_map(|line| line.strip_prefix("- "));
        Some(Self { tool, name: quoted(name)?, candidates: listed.filter_map(SeenElement::read).collect() })
    }

    /// The one that shares a word with the old name, or means the same.
    fn heal(&self) -> PlannedStep {
        let like: Vec<&SeenElement> =
            self.candidates.iter().filter(|candidate| means_the_same(&candidate.name, &self.name)).collect();
        match like.as_slice() {
            [only] => call(self.tool, &[("ref", &only.reference)]),
            others => PlannedStep::Fail(format!("{} elements are like '{}'", others.len(), self.name)),
        }
    }
}

fn means_the_same(name: &str, other: &str) -> bool {
    let words = |text: &str| text.to_lowercase().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let sends = |words: &[String]| words.iter().any(|word| SENDS.contains(&word.as_str()));
    let (name, other) = (words(name), words(other));
    name.iter().any(|word| other.contains(word)) || (sends(&name) && sends(&other))
}

fn failure_of(result: &CallResult) -> String {
    let code = result.error.map(|kind| kind.code()).unwrap_or_default();
    let message = result.reply.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
    format!("{}: {code}: {message}", result.tool)
}

fn call(tool: &str, args: &[(&str, &str)]) -> PlannedStep {
    let args = args.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
    PlannedStep::Call { tool: tool.to_owned(), args }
}

fn read_page() -> PlannedStep {
    call("read_page", &[("format", "markdown"), ("part", "whole"), ("links", "none")])
}

/// A line of an outline that can be acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SeenElement {
    reference: String,
    role: Role,
    name: String,
}

impl SeenElement {
    /// `e7 Button "Search" @40,80 60x24`; with `+` or `~` before it since the last look.
    fn read(line: &str) -> Option<Self> {
        let line = line.trim_start().trim_start_matches(['+', '~']).trim_start();
        let (reference, rest) = line.split_once(' ')?;
        let digits = reference.strip_prefix('e')?;
        let is_ref = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let (role, rest) = rest.split_once(' ')?;
        let name = quoted(rest).unwrap_or_default();
        is_ref.then(|| Self { reference: reference.to_owned(), role: Role::parse(role), name })
    }

    fn is_field(&self) -> bool {
        matches!(self.role, Role::Edit | Role::ComboBox | Role::Spinner)
    }

    fn is_button(&self) -> bool {
        self.role == Role::Button
    }

    fn is_link(&self) -> bool {
        self.role.is_link()
    }

    fn sends(&self) -> bool {
        let name = self.name.to_lowercase();
        name.split_whitespace().any(|word| SENDS.contains(&word))
    }

    fn fill_with(&self, value: &str) -> Option<PlannedStep> {
        Some(match self.role {
            Role::ComboBox => call("select_option", &[("ref", &self.reference), ("option_name", value)]),
            _ => call("set_value", &[("ref", &self.reference), ("value", value)]),
        })
    }
}

/// The text between the first quotation marks; `\` stands before one that belongs to it.
fn quoted(text: &str) -> Option<String> {
    let mut letters = text.strip_prefix('"')?.chars();
    let mut name = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(name),
            '\\' => name.push(letters.next()?),
            letter => name.push(letter),
        }
    }
}

fn elements_of(look: Option<&Value>) -> Vec<SeenElement> {
    let outline = look.and_then(|look| look.get("outline")).and_then(Value::as_str).unwrap_or_default();
    outline.lines().filter_map(SeenElement::read).collect()
}

/// What is typed for a value of the input.
fn words_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Letters and digits alone: `Max price` and `maxPrice` are the same word.
pub fn plain(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn names_the_same(name: &str, key: &str) -> bool {
    let (name, key) = (plain(name), plain(key));
    !name.is_empty() && !key.is_empty() && (name.contains(&key) || key.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn planner(input: Value, schema: Value) -> MockPlanner {
        let input = input.as_object().cloned().unwrap_or_default();
        MockPlanner::open(&JobSpec { input, output_schema: Some(schema), ..JobSpec::default() })
    }

    fn result(tool: &str, reply: Value) -> CallResult {
        CallResult { tool: tool.to_owned(), error: None, reply, text: String::new(), picture: None }
    }

    /// What it answers to each of these replies, one after the other.
    fn check(planner: &mut MockPlanner, replies: &[Value], expected: &[&str]) {
        let mut results: Vec<CallResult> = Vec::new();
        for (turn, words) in expected.iter().enumerate() {
            let steps = planner.plan(&PlannerTurn { goal: "g", results: &results, remark: None });
            let said = steps.iter().map(|step| format!("{step:?}")).collect::<Vec<_>>().join("; ");
            for word in words.split('|') {
                assert!(said.contains(word), "turn {turn}: {said}");
            }
            results = replies.get(turn).map(|reply| result("x", reply.clone())).into_iter().collect();
        }
    }

    const FORM: &str =
        "e1 Edit \"Search for\" @1,1 9x9\ne2 ComboBox \"Kind\" =All\ne3 Button \"Search\"\n\"text\"";

    #[test]
    fn it_fills_in_sends_reads_and_finishes() {
        let schema =
            json!({"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]});
        let mut planner = planner(json!({"search": "lamp", "kind": "Home"}), schema);
        let page = json!({"title": "T", "outline": "Price: $12.50"});
        check(
            &mut planner,
            &[json!({"outline": FORM}), json!({}), page],
            &["look", "set_value|lamp|select_option|Home|click_element|e3", "read_page", "Finish|12.5"],
        );
    }

    #[test]
    fn it_follows_the_link_that_names_what_was_asked_for() {
        let schema =
            json!({"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]});
        let mut planner = planner(json!({"name": "lamp"}), schema);
        let links = json!({"outline": "- e3 Link \"lamp\"\ne4 Link \"Help\"\n+ e5 Link \"Desk lamp\""});
        check(
            &mut planner,
            &[
                json!({"outline": "e1 Edit \"Name\""}),
                json!({}),
                json!({"outline": "Results"}),
                links,
                json!({}),
                json!({"outline": "Price: 3"}),
            ],
            &["look", "set_value", "read_page", "look", "click_element|e5", "read_page", "Finish|3"],
        );
    }

    #[test]
    fn what_the_page_does_not_say_is_not_made_up() {
        let schema =
            json!({"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]});
        let mut planner = planner(json!({}), schema);
        let nothing = json!({"outline": "Nothing here"});
        check(
            &mut planner,
            &[json!({"outline": ""}), nothing.clone(), json!({"outline": ""}), nothing],
            &["look", "read_page", "look", "read_page", "Fail|price"],
        );
    }

    #[test]
    fn a_step_is_healed_by_the_one_element_that_means_the_same() {
        let check = |candidates: &str, expected: &str| {
            let goal = format!(
                "{HEAL_QUESTION} The step is click_element on the Button \"Search\"; after it this is expected: . \
                 These are there:\n{candidates}\nIf none is, fail."
            );
            let steps =
                planner(json!({}), json!({})).plan(&PlannerTurn { goal: &goal, results: &[], remark: None });
            assert!(format!("{steps:?}").contains(expected), "{candidates}: {steps:?}");
        };
        check("- e4 Button \"Find products\"\n- e5 Button \"Delete all\"", "e4");
        check("- e4 Button \"Search now\"", "e4");
        check("- e5 Button \"Delete all\"", "Fail(\"0 elements");
        check("- e4 Button \"Find\"\n- e5 Button \"Search it\"", "Fail(\"2 elements");
    }

    #[test]
    fn names_are_read_with_their_escapes() {
        let element = SeenElement::read(r#"  e12 Edit "Say \"hi\"" =x {focused} @1,2 3x4"#).unwrap();
        assert_eq!((element.reference.as_str(), element.name.as_str()), ("e12", r#"Say "hi""#));
        for line in ["\"text\"", "Row a | b", "edit Button \"x\"", "e Button \"x\"", ""] {
            assert_eq!(SeenElement::read(line), None, "{line}");
        }
    }
}
