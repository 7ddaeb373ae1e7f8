//! Makes a recipe of the trace of a job that succeeded. What a recipe could not do again for certain is refused with the
//! step: a wrong recipe is worse than none.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use url::Url;

use super::check::check_recipe;
use super::elements::{quoted, selector_of};
use super::format::{LearnedFrom, Recipe, RecipeStep};
use super::learn_expect::{StepScenes, expectation_of, own_tree};
use super::learn_result::{ResultLearner, find_word};
use crate::model::selector::Selector;
use crate::model::{InputAim, InputKind, RecordedInput, Role, Tree};
use crate::privacy::arguments::{REDACTED, TRUNCATED};
use crate::privacy::injection::{Inspector, Lexicon};
use crate::tool::Table;
use crate::tool::args::COMMON;
use crate::trace::recording::{LoadedTrace, StoryScene, StoryStep};

/// What stands in a tree where a value must not be shown.
const HIDDEN: &str = "[REDACTED]";
/// A shorter input may stand in a text by chance.
const SHORTEST_INPUT: usize = 3;
/// Arguments that name an element, a window or a place of this one run.
const LOCATING: &[&str] = &[
    "selector",
    "ref",
    "element_id",
    "window_uid",
    "window_index",
    "window_title",
    "x",
    "y",
    "image",
    "image_id",
    "row",
    "col",
    "dx",
    "dy",
    "coordinate_space",
    "confirm_token",
    "dry_run",
    "tree_token",
    "nth",
    "index",
];

/// A job that succeeded, and its record.
pub struct FinishedJob<'a> {
    pub job_id: &'a str,
    pub start_url: Option<&'a str>,
    pub input: &'a Map<String, Value>,
    pub result: &'a Value,
    pub trace: &'a LoadedTrace,
}

/// `id` is that of the recipe.
pub fn learn_recipe(id: &str, job: &FinishedJob, tools: &Table) -> Result<Recipe, String> {
    refuse_incomplete(job.trace)?;
    refuse_suspicious(job.trace, tools)?;
    let steps = LearnedSteps { job, tools, acting: acting_steps(job.trace, tools) }.learn()?;
    let last = job.trace.steps.last().map(|step| &step.after).ok_or("the trace has no step")?;
    let tree = own_tree(last, None).ok_or("the last page of the job could not be read")?;
    let result = ResultLearner::new(tree, job.input, job.result).learn(job.result)?;
    let opens_page = steps.first().is_some_and(|step| step.tool == InputKind::OpenUrl.name());
    let first = first_address(job);
    let mut recipe = Recipe {
        id: id.to_owned(),
        name: id.to_owned(),
        description: format!("Learned from job {}.", job.job_id),
        url_patterns: first.as_deref().and_then(pattern_of).into_iter().collect(),
        start_url: first.filter(|_| !opens_page).map(|url| job_text(&url, job.input)).transpose()?,
        steps,
        result: Some(result),
        version: 1,
        learned_from: Some(LearnedFrom { job_id: job.job_id.to_owned(), healed: Vec::new() }),
        ..Recipe::default()
    };
    recipe.input_aliases.extend(used_inputs(&recipe).into_iter().map(|name| (name, Vec::new())));
    check_recipe(&recipe)?;
    refuse_hidden(&recipe)?;
    Ok(recipe)
}

fn refuse_incomplete(trace: &LoadedTrace) -> Result<(), String> {
    let missing = trace.problems.iter().chain(&trace.missing_trees).next();
    match missing {
        Some(problem) => Err(format!("the record of the job is not whole: {problem}")),
        None if !trace.tells_of_windows() => Err("the record of the job does not tell of windows".to_owned()),
        None => Ok(()),
    }
}

/// What a page that speaks to agents has brought about is not done again.
fn refuse_suspicious(trace: &LoadedTrace, tools: &Table) -> Result<(), String> {
    let lexicon = Lexicon::new(tools.declared_names());
    let mut inspector = Inspector::new(&lexicon);
    let mut seen: Vec<*const Tree> = Vec::new();
    for step in &trace.steps {
        let flagged = || {
            format!(
                "step {} ({}) was flagged: text on the screen addresses an agent",
                step.row.trace_seq, step.row.tool
            )
        };
        if step.row.suspicious {
            return Err(flagged());
        }
        for window in step.before.iter().chain(step.after.iter()) {
            let Some(tree) = window.tree.as_ref().filter(|tree| !seen.contains(&Arc::as_ptr(tree))) else {
                continue;
            };
            seen.push(Arc::as_ptr(tree));
            if speaks_to_agents(tree, &mut inspector) {
                return Err(flagged());
            }
        }
    }
    Ok(())
}

fn speaks_to_agents(tree: &Tree, inspector: &mut Inspector) -> bool {
    tree.elements().iter().any(|element| {
        let texts = [Some(element.name.as_str()), element.value.as_deref(), element.description.as_deref()];
        texts.into_iter().flatten().any(|text| inspector.look(text).is_some())
    })
}

/// The calls that sent an input, with what each becomes.
fn acting_steps<'a>(trace: &'a LoadedTrace, tools: &Table) -> Vec<(&'a StoryStep, Option<RecordedInput>)> {
    let acts = |step: &&StoryStep| {
        let meta = tools.find_tool(&step.row.tool).map(|entry| entry.spec.meta);
        meta.is_some_and(|meta| meta.effect.acts())
            && step.row.args.get("dry_run") != Some(&Value::Bool(true))
    };
    let input =
        |step: &'a StoryStep| (step, tools.find_tool(&step.row.tool).and_then(|entry| entry.spec.meta.input));
    trace.steps.iter().filter(acts).map(input).collect()
}

struct LearnedSteps<'a> {
    job: &'a FinishedJob<'a>,
    tools: &'a Table,
    acting: Vec<(&'a StoryStep, Option<RecordedInput>)>,
}

impl LearnedSteps<'_> {
    fn learn(&self) -> Result<Vec<RecipeStep>, String> {
        let mut learned: Vec<(RecipeStep, StepScenes, InputKind)> = Vec::new();
        for (number, (step, input)) in self.acting.iter().enumerate() {
            let place =
                |problem: String| format!("step {} ({}): {problem}", step.row.trace_seq, step.row.tool);
            let after = self.scene_after(number, step);
            if !had_effect(step, *input).map_err(place)? {
                continue;
            }
            let input = input.ok_or_else(|| place("no recipe can do it again".to_owned()))?;
            let recipe_step = self.learn_step(step, input).map_err(place)?;
            let window_uid = step.row.target.as_ref().map(|target| target.window_uid.as_str());
            learned.push((recipe_step, StepScenes { before: &step.before, after, window_uid }, input.kind));
        }
        let next: Vec<Option<String>> =
            learned.iter().skip(1).map(|(step, ..)| step.selector.clone()).chain([None]).collect();
        learned
            .into_iter()
            .zip(next)
            .map(|((step, scenes, kind), next)| self.with_expectation(step, &scenes, kind, next.as_deref()))
            .collect()
    }

    /// As the desktop was when the next input began, or at the end.
    fn scene_after<'s>(&'s self, number: usize, step: &'s StoryStep) -> &'s StoryScene {
        let next = self.acting.get(number + 1).map(|(next, _)| &next.before);
        next.or_else(|| self.job.trace.steps.last().map(|last| &last.after)).unwrap_or(&step.after)
    }

    fn learn_step(&self, step: &StoryStep, input: RecordedInput) -> Result<RecipeStep, String> {
        let tool = input.kind.name();
        let entry = self.tools.find_tool(tool).ok_or("no recipe can do it again")?;
        let selector = match input.aim {
            InputAim::Element | InputAim::Point => Some(self.learn_target(step)?),
            InputAim::From => return Err("a drag cannot be learned".to_owned()),
            InputAim::Keyboard | InputAim::Window => None,
        };
        let known = |name: &str| entry.schema().pointer(&format!("/properties/{name}")).is_some();
        let args = self.learn_arguments(&step.row.args, &known)?;
        Ok(RecipeStep { tool: tool.to_owned(), selector, args, ..RecipeStep::default() })
    }

    /// `known` says which names the tool has.
    fn learn_arguments(
        &self,
        recorded: &Map<String, Value>,
        known: &dyn Fn(&str) -> bool,
    ) -> Result<Map<String, Value>, String> {
        if recorded.contains_key(TRUNCATED) {
            return Err("its arguments were too long to be kept (tracing.max_args_bytes)".to_owned());
        }
        let mut args = Map::new();
        for (name, value) in recorded {
            if known(name) && !LOCATING.contains(&name.as_str()) && !COMMON.contains(&name.as_str()) {
                args.insert(name.clone(), self.learn_argument(name, value)?);
            }
        }
        Ok(args)
    }

    fn learn_target(&self, step: &StoryStep) -> Result<String, String> {
        let target = step
            .row
            .target
            .as_ref()
            .ok_or("it went to a point at which no element is, so it cannot be found again")?;
        let window = step.before.iter().find(|seen| seen.window.window_uid == target.window_uid);
        let tree = window.and_then(|seen| seen.tree.as_ref()).ok_or("its window could not be read")?;
        let node = tree.find_id(&target.element_id).ok_or("its element is not in the record")?;
        let is_stable = |name: &str| self.is_stable(name);
        let selector = selector_of(tree, node, &is_stable).ok_or_else(|| no_name(tree, node))?;
        job_text(&selector, &escaped_input(self.job.input))
    }

    /// A name that another run will show as well.
    fn is_stable(&self, name: &str) -> bool {
        let is_input = || {
            self.job
                .input
                .values()
                .filter_map(Value::as_str)
                .any(|input| input.len() >= SHORTEST_INPUT && find_word(name, input).is_some())
        };
        !shows_hidden(name) && (is_input() || !shows_result(self.job.result, name))
    }

    fn learn_argument(&self, name: &str, value: &Value) -> Result<Value, String> {
        if let Some(secret) = value
            .as_object()
            .filter(|object| object.len() == 1)
            .and_then(|object| object.get("secret")?.as_str())
        {
            return Ok(json!(format!("{{{{secret:{secret}}}}}")));
        }
        if contains_hidden(value) {
            return Err(format!(
                "'{name}' is not on record, because it must not be shown; let the job name a secret ({{\"secret\": \"NAME\"}})"
            ));
        }
        let same = |given: &Value| {
            given == value
                || (value.is_string() && given.is_number() && value.as_str() == Some(&given.to_string()))
        };
        let mut inputs = self.job.input.iter().filter(|(_, given)| same(given)).map(|(name, _)| name);
        match (inputs.next(), inputs.next(), value) {
            (Some(one), Some(other), _) => Err(format!(
                "'{name}' is the value of input.{one} and of input.{other}; run the job with values that differ"
            )),
            (Some(input), None, _) => Ok(json!(format!("{{{{input.{input}}}}}"))),
            (None, _, Value::String(text)) => job_text(text, self.job.input).map(Value::String),
            (None, ..) => Ok(value.clone()),
        }
    }

    /// What is put into a field is read back by itself; more is expected of it where the next step needs what it brings.
    fn with_expectation(
        &self,
        step: RecipeStep,
        scenes: &StepScenes,
        kind: InputKind,
        next: Option<&str>,
    ) -> Result<RecipeStep, String> {
        let is_read_back =
            matches!(kind, InputKind::SetValue | InputKind::ClearText | InputKind::SelectOption);
        let tree = own_tree(scenes.before, scenes.window_uid);
        let is_there =
            next.is_none_or(|next| tree.is_some_and(|tree| matches_any(tree, next, self.job.input)));
        if is_read_back && is_there {
            return Ok(step);
        }
        let result = self.job.result;
        let is_stable = |name: &str| {
            !shows_hidden(name)
                && !shows_result(result, name)
                && !name.chars().any(|letter| letter.is_ascii_digit())
        };
        let expected = expectation_of(scenes, &is_stable);
        let expect = expected.map(|expected| learn_expected(expected, self.job.input)).transpose()?;
        Ok(RecipeStep { expect: expect.into_iter().collect(), ..step })
    }
}

fn no_name(tree: &Tree, node: usize) -> String {
    let element = &tree[node];
    let (role, name) = (element.role.name(), crate::text::shorten(&element.name, 80));
    format!(
        "its element ({role} \"{name}\") has no name of its own that stays, so another could be in its place next time"
    )
}

/// Whether the call changed anything that a replay has to do too. One that failed and changed the desktop all the same
/// cannot be repeated.
fn had_effect(step: &StoryStep, input: Option<RecordedInput>) -> Result<bool, String> {
    let (failed, changed) =
        (step.row.result_summary.ok == Some(Value::Bool(false)), step.after != step.before);
    let only_shows = matches!(
        input.map(|input| input.kind),
        Some(InputKind::Scroll | InputKind::Hover | InputKind::Focus | InputKind::RaiseWindow)
    );
    match (failed, changed) {
        (true, true) => Err("it failed, and changed the desktop all the same".to_owned()),
        (true, false) => Ok(false),
        (false, changed) => Ok(changed || !only_shows),
    }
}

fn matches_any(tree: &Tree, selector: &str, input: &Map<String, Value>) -> bool {
    let filled = super::input::fill_selector(selector, input).ok();
    let selector = filled.and_then(|selector| Selector::parse(&selector).ok());
    selector.and_then(|selector| selector.resolve(tree, 1).ok()).is_some_and(|found| !found.is_empty())
}

fn learn_expected(expected: Value, input: &Map<String, Value>) -> Result<Value, String> {
    match expected {
        Value::String(text) => job_text(&text, input).map(Value::String),
        Value::Object(mut fields) => {
            if let Some(selector) = fields.get("selector").and_then(Value::as_str) {
                let selector = job_text(selector, &escaped_input(input))?;
                fields.insert("selector".to_owned(), selector.into());
            }
            Ok(Value::Object(fields))
        }
        other => Ok(other),
    }
}

/// A text with `{{input.NAME}}` in place of the inputs that stand in it as whole words.
fn job_text(text: &str, input: &Map<String, Value>) -> Result<String, String> {
    let texts = input.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
    let mut inputs: Vec<(&String, &str)> =
        texts.filter(|(_, value)| value.chars().count() >= SHORTEST_INPUT).collect();
    inputs.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    for (name, value) in &inputs {
        let Some(at) = find_word(text, value) else { continue };
        if let Some((other, _)) = inputs.iter().find(|(other, same)| other != name && same == value) {
            return Err(format!(
                "\"{value}\" is input.{name} and input.{other}; run the job with values that differ"
            ));
        }
        let (before, after) =
            (text.get(..at).unwrap_or_default(), text.get(at + value.len()..).unwrap_or_default());
        return Ok(format!("{}{{{{input.{name}}}}}{}", job_text(before, input)?, job_text(after, input)?));
    }
    Ok(text.to_owned())
}

/// The inputs as they stand in the quotes of a selector.
fn escaped_input(input: &Map<String, Value>) -> Map<String, Value> {
    let escaped = |text: &str| {
        let text = quoted(text);
        text.get(1..text.len() - 1).unwrap_or_default().to_owned()
    };
    input.iter().filter_map(|(name, value)| Some((name.clone(), escaped(value.as_str()?).into()))).collect()
}

fn shows_hidden(text: &str) -> bool {
    text.contains(HIDDEN) || text.contains(REDACTED)
}

fn contains_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => shows_hidden(text),
        Value::Array(list) => list.iter().any(contains_hidden),
        Value::Object(fields) => fields.contains_key(TRUNCATED) || fields.values().any(contains_hidden),
        _ => false,
    }
}

fn shows_result(result: &Value, name: &str) -> bool {
    match result {
        Value::String(text) => !text.trim().is_empty() && find_word(name, text.trim()).is_some(),
        Value::Number(number) => find_word(name, &number.to_string()).is_some(),
        Value::Array(list) => list.iter().any(|item| shows_result(item, name)),
        Value::Object(fields) => fields.values().any(|item| shows_result(item, name)),
        Value::Bool(_) | Value::Null => false,
    }
}

/// The page that the job began with.
fn first_address(job: &FinishedJob) -> Option<String> {
    let is_web = |url: &&str| url.starts_with("http://") || url.starts_with("https://");
    let opened = job.trace.steps.iter().find(|step| step.row.tool == InputKind::OpenUrl.name());
    let opened = opened.and_then(|step| step.row.args.get("url")?.as_str());
    let shown = || {
        let tree = own_tree(&job.trace.steps.first()?.before, None)?;
        let document = tree.elements().iter().find(|element| element.role == Role::Document)?;
        document.value.as_deref()
    };
    job.start_url
        .filter(is_web)
        .or_else(|| shown().filter(is_web))
        .or_else(|| opened.filter(is_web))
        .map(str::to_owned)
}

fn pattern_of(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{}{port}{}*", url.scheme(), url.host_str()?, url.path()))
}

/// The names of the inputs that the steps and the result have places for.
fn used_inputs(recipe: &Recipe) -> Vec<String> {
    let text = json!([recipe.steps, recipe.result, recipe.start_url]).to_string();
    let begun = text.split("{{input.").skip(1).filter_map(|rest| rest.split_once("}}"));
    let mut names: Vec<String> = begun.map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

fn refuse_hidden(recipe: &Recipe) -> Result<(), String> {
    match contains_hidden(&json!(recipe)) {
        true => Err("a text that must not be shown would be in the recipe".to_owned()),
        false => Ok(()),
    }
}
