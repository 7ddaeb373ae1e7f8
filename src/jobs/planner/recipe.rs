//! Replays a recipe without a model: all steps in one turn, each held to what is expected of it, and the result read from
//! its places. A step whose element is gone may be healed; a step that was sent and did not come to what was expected of
//! it ends the run.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::heal::{HealCandidate, ask_healer, candidates_in, question_of};
use super::scripted::check_call;
use super::{
    CallResult, LostUsage, OpenedPlanner, PlannedStep, Planner, PlannerAnswer, PlannerAsker, PlannerContext,
    PlannerFailure, PlannerTurn, open_planner,
};
use crate::config;
use crate::config::limits::ACT_STEPS;
use crate::jobs::output::OutputSchema;
use crate::jobs::spec::JobSpec;
use crate::jobs::store::Usage;
use crate::model::{Role, Tree};
use crate::recipes::completion::CompletedRun;
use crate::recipes::elements::subject_of;
use crate::recipes::format::{Recipe, RecipeState, RecipeStep};
use crate::recipes::input::{fill_selector, fill_value};
use crate::recipes::library::{self, KeptRecipe, RunEnd};
use crate::recipes::places::read_result;
use crate::text::shorten;
use crate::tool::Table;
use crate::trace::recording::tree_of_json;

/// How long a step may take to come to what is expected of it.
const WITHIN_MS: u64 = 10_000;
/// How long all steps of a call may take.
const ALL_STEPS_MS: u64 = 300_000;
/// Steps of one run that may be healed.
const MOST_HEALED: usize = 3;
/// A result that is not there yet is looked for again after so long each.
const LOOK_AGAIN_MS: [u64; 3] = [100, 400, 1_500];

const STRUCTURE: &str = "get_window_structure";
const ACT: &str = "act";
const FIND: &str = "find";

/// A recipe that has all that a replay needs.
pub fn find_replayable(id: &str, config: &config::Planner) -> Result<KeptRecipe, String> {
    let kept = library::find_to_run(config.recipes_dir.as_deref(), id)?;
    match kept.recipe.can_replay() {
        true => Ok(kept),
        false => Err(format!(
            "the recipe '{id}' has hints for a model and no result to read, so it cannot run by itself; use it with \
             another planner, or learn one: recipe learn JOB"
        )),
    }
}

/// Why a job cannot be planned by a recipe: said when the job is made.
pub fn check_replay(id: &str, config: &config::Planner, spec: &JobSpec, tools: &Table) -> Result<(), String> {
    let recipe = find_replayable(id, config)?.recipe;
    let input = recipe.canonical_input(&spec.input).map_err(|error| error.message)?;
    for (number, step) in recipe.steps.iter().enumerate() {
        let named = |problem: String| format!("recipe '{id}': steps[{number}] ({}): {problem}", step.tool);
        check_call(tools, &step.tool, &Map::new())
            .or_else(|problem| match tools.find_tool(&step.tool) {
                // Only its arguments are missing here.
                Some(entry) => crate::tool::scope::why_not_for_jobs(entry.spec.meta).map_or(Ok(()), Err),
                None => Err(problem),
            })
            .map_err(named)?;
        act_step(step, &input).map_err(named)?;
    }
    let shape = recipe.result.as_ref().map(|result| &result.shape).unwrap_or(&Value::Null);
    fill_value(shape, &input).map(drop).map_err(|problem| format!("recipe '{id}': {problem}"))
}

enum Phase {
    Start,
    /// The steps from this one on were sent, and the page was read.
    Ran {
        from: usize,
        looked_again: usize,
    },
    /// What may stand in for the element of a step was looked for.
    Searched {
        step: usize,
    },
}

pub struct RecipeReplay {
    recipe: Recipe,
    folder: Option<PathBuf>,
    input: Map<String, Value>,
    schema: Option<OutputSchema>,
    healer: Option<OpenedPlanner>,
    /// Whether the first page is opened by the recipe.
    start_url: Option<String>,
    phase: Phase,
    healed: Vec<String>,
}

impl RecipeReplay {
    pub fn open(id: &str, context: PlannerContext) -> Result<Self, String> {
        let recipe = find_replayable(id, context.config)?.recipe;
        let input = recipe.canonical_input(&context.spec.input).map_err(|error| error.message)?;
        let healer = open_healer(context);
        let start_url = recipe.start_url.as_ref().filter(|_| context.spec.start_url.is_none());
        let start_url = start_url.map(|url| fill_value(&json!(url), &input)).transpose()?;
        let schema = context.spec.output_schema.as_ref().map(OutputSchema::compile).transpose();
        Ok(Self {
            folder: context.config.recipes_dir.clone(),
            input,
            schema: schema.map_err(|error| error.message)?,
            healer: healer?,
            start_url: start_url.and_then(|url| url.as_str().map(str::to_owned)),
            phase: Phase::Start,
            healed: Vec::new(),
            recipe,
        })
    }

    /// All steps from one on, and a look at the page that they lead to.
    fn run_from(&mut self, from: usize) -> Result<PlannerAnswer, String> {
        let steps = self.recipe.steps.get(from..).unwrap_or_default();
        let mut written: Vec<Value> = Vec::with_capacity(steps.len() + 1);
        if let Some(url) = self.start_url.as_ref().filter(|_| from == 0) {
            written.push(json!({ "do": "open_url", "url": url }));
        }
        for step in steps {
            written.push(act_step(step, &self.input)?);
        }
        let mut calls: Vec<PlannedStep> = written.chunks(ACT_STEPS).map(act_call).collect();
        calls.push(structure_call());
        self.phase = Phase::Ran { from, looked_again: 0 };
        Ok(PlannerAnswer { steps: calls, ..PlannerAnswer::default() })
    }

    /// The step of the recipe at which a list of steps stopped; nothing for the opening of the first page.
    fn stopped_step(&self, from: usize, results: &[CallResult]) -> Option<usize> {
        let result = results.last()?;
        // A first step that cannot be made is found before anything is done.
        let foreseen = || result.reply.pointer("/error/context/step");
        let at = result.reply.get("stopped_at").or_else(foreseen)?.as_str()?;
        let at = at.strip_prefix("steps[")?.strip_suffix(']')?;
        let at: usize = at.parse().ok()?;
        let earlier = (results.len() - 1) * ACT_STEPS;
        (from + earlier + at).checked_sub(usize::from(self.start_url.is_some() && from == 0))
    }

    fn after_run(
        &mut self,
        from: usize,
        looked_again: usize,
        results: &[CallResult],
    ) -> Result<PlannerAnswer, String> {
        let failed = results.iter().find(|result| result.error.is_some());
        let Some(failed) = failed else { return self.finish(from, looked_again, results) };
        let message =
            failed.reply.pointer("/error/message").and_then(Value::as_str).unwrap_or("it failed").to_owned();
        let Some(step) = self.stopped_step(from, results).filter(|_| failed.tool == ACT) else {
            return Err(message);
        };
        let report = failed.reply.get("steps").and_then(Value::as_array).and_then(|steps| steps.last());
        let place = self.place_of(step);
        if report.is_some_and(|report| report.get("unmet").is_some()) {
            return Err(format!("{place} was done, and did not come to what is expected of it: {message}"));
        }
        let is_miss = matches!(failed.error.map(|kind| kind.code()), Some("ElementNotFound" | "Ambiguous"));
        if !is_miss {
            return Err(format!("{place}: {message}"));
        }
        self.search_for(step, &message)
    }

    fn place_of(&self, step: usize) -> String {
        let tool = self.recipe.steps.get(step).map_or("", |step| step.tool.as_str());
        format!("recipe '{}' version {}: steps[{step}] ({tool})", self.recipe.id, self.recipe.version)
    }

    /// Looks for what may stand in for an element that is gone.
    fn search_for(&mut self, number: usize, message: &str) -> Result<PlannerAnswer, String> {
        let place = self.place_of(number);
        let step = self.recipe.steps.get(number).ok_or_else(|| message.to_owned())?;
        let selector = step.selector.clone().ok_or_else(|| format!("{place}: {message}"))?;
        if step.expect.is_empty() && !is_read_back(&step.tool) {
            return Err(format!(
                "{place}: {message}; it is not healed, because nothing is expected of it that could be checked"
            ));
        }
        if self.healed.len() >= MOST_HEALED {
            return Err(format!(
                "{place}: {message}; {MOST_HEALED} steps were healed already, so the page is another one"
            ));
        }
        let filled = fill_selector(&selector, &self.input)?;
        let (role, name) = subject_of(&filled);
        let find = |args: Value| PlannedStep::Call { tool: FIND.to_owned(), args: object(args) };
        let mut calls = vec![find(json!({ "role": role, "limit": 20 }))];
        if !name.is_empty() {
            calls.insert(0, find(json!({ "text": shorten(&name, 100), "role": role, "limit": 10 })));
        }
        calls.push(structure_call());
        self.phase = Phase::Searched { step: number };
        Ok(PlannerAnswer { steps: calls, ..PlannerAnswer::default() })
    }

    fn candidates(
        &self,
        number: usize,
        results: &[CallResult],
    ) -> Result<(RecipeStep, Vec<HealCandidate>), String> {
        let place = self.place_of(number);
        let step = self.recipe.steps.get(number).cloned().unwrap_or_default();
        let selector = fill_selector(step.selector.as_deref().unwrap_or_default(), &self.input)?;
        let tree = last_tree(results)?;
        let candidates = candidates_in(results, &tree, &selector);
        if candidates.is_empty() {
            return Err(format!(
                "{place}: {selector} is not there, and nothing on the page could stand in for it"
            ));
        }
        if self.healer.is_none() {
            let names: Vec<&str> =
                candidates.iter().map(|candidate| candidate.name.as_str()).take(5).collect();
            return Err(format!(
                "{place}: {selector} is not there; near are \"{}\". Set planner.heal_with to let a model choose, or learn \
                 the recipe again",
                names.join("\", \"")
            ));
        }
        Ok((step, candidates))
    }

    /// Puts the step to the healer, once, and goes on with its choice.
    fn heal(
        &mut self,
        number: usize,
        results: &[CallResult],
        asker: PlannerAsker,
    ) -> Result<PlannerAnswer, HealFailure> {
        let (step, candidates) = self.candidates(number, results)?;
        let place = self.place_of(number);
        let Some(healer) = self.healer.as_mut() else { return Err(HealFailure::Refused(place)) };
        let answer = ask_healer(healer, &step, &candidates, asker).map_err(HealFailure::Planner)?;
        let said = answer.said.clone();
        let next = answer.chosen.map_err(|why| {
            format!("{place}: {} is not there, and was not healed: {why}", shown_selector(&step))
        });
        let next = next.and_then(|chosen| {
            self.healed.push(format!(
                "steps[{number}]: {} is now {}",
                shown_selector(&step),
                chosen.selector
            ));
            if let Some(step) = self.recipe.steps.get_mut(number) {
                step.selector = Some(chosen.selector);
            }
            self.run_from(number)
        });
        let steps = match next {
            Ok(next) => next.steps,
            Err(problem) => vec![self.fail(problem)],
        };
        Ok(PlannerAnswer { steps, usage: answer.usage, said })
    }

    fn finish(
        &mut self,
        from: usize,
        looked_again: usize,
        results: &[CallResult],
    ) -> Result<PlannerAnswer, String> {
        let read = self.read_page(results);
        match (read, LOOK_AGAIN_MS.get(looked_again)) {
            (Ok(result), _) => self.note_success().map(|()| one_step(PlannedStep::Finish(result))),
            (Err(_), Some(wait)) => {
                self.phase = Phase::Ran { from, looked_again: looked_again + 1 };
                Ok(look_again_after(Duration::from_millis(*wait)))
            }
            (Err(problem), None) => Err(format!("recipe '{}': {problem}", self.recipe.id)),
        }
    }

    /// The result, if the page has it and it is complete.
    fn read_page(&self, results: &[CallResult]) -> Result<Value, String> {
        let tree = last_tree(results)?;
        let plan = self.recipe.result.as_ref().ok_or("it has no result to read")?;
        let result = read_result(plan, &tree, &self.input)?;
        let problems = self.schema.as_ref().map(|schema| schema.problems(&result)).unwrap_or_default();
        if !problems.is_empty() {
            return Err(format!("the result does not fit output_schema: {}", problems.join("; ")));
        }
        let texts = texts_in(&tree);
        let document = tree.elements().iter().find(|element| element.role == Role::Document);
        let url = document.and_then(|document| document.value.as_deref());
        let problems = self.recipe.completion.problems(&CompletedRun { url, texts: &texts, result: &result });
        if problems.is_empty() { Ok(result) } else { Err(problems.join("; ")) }
    }

    /// A healed recipe is kept as a candidate, whose first run this was.
    fn note_success(&mut self) -> Result<(), String> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        if self.healed.is_empty() {
            return library::note_run(&folder, &self.recipe, RunEnd::Green);
        }
        let before = library::find_to_run(Some(&folder), &self.recipe.id)?.recipe;
        library::note_run(&folder, &before, RunEnd::Healed)?;
        self.recipe.version = before.version + 1;
        self.recipe.state = RecipeState::Candidate;
        self.recipe.stats = Default::default();
        let from = self.recipe.learned_from.get_or_insert_default();
        from.healed.extend(self.healed.iter().map(|healed| shorten(healed, 1_000).into_owned()));
        library::save_recipe(&folder, &self.recipe).map(drop)
    }

    fn fail(&self, problem: String) -> PlannedStep {
        if let Some(folder) = &self.folder {
            let noted = library::find_to_run(Some(folder), &self.recipe.id)
                .and_then(|kept| library::note_run(folder, &kept.recipe, RunEnd::Failed));
            if let Err(problem) = noted {
                tracing::warn!("recipe {}: {problem}", self.recipe.id);
            }
        }
        PlannedStep::Fail(problem)
    }
}

enum HealFailure {
    Refused(String),
    Planner(PlannerFailure),
}

impl From<String> for HealFailure {
    fn from(problem: String) -> Self {
        HealFailure::Refused(problem)
    }
}

impl Planner for RecipeReplay {
    /// What it reads is what the page shows.
    fn can_mend(&self) -> bool {
        false
    }

    fn next(&mut self, turn: &PlannerTurn, asker: PlannerAsker) -> Result<PlannerAnswer, PlannerFailure> {
        let next = match self.phase {
            Phase::Start => self.run_from(0),
            Phase::Ran { from, looked_again } => self.after_run(from, looked_again, turn.results),
            Phase::Searched { step } => match self.heal(step, turn.results, asker) {
                Ok(answer) => Ok(answer),
                Err(HealFailure::Refused(problem)) => Err(problem),
                Err(HealFailure::Planner(failure)) => return Err(failure),
            },
        };
        Ok(next.unwrap_or_else(|problem| one_step(self.fail(problem))))
    }

    fn foresee_usage(&self, turn: &PlannerTurn) -> Usage {
        let Phase::Searched { step } = self.phase else { return Usage::default() };
        let (Some(healer), Ok((step, candidates))) = (&self.healer, self.candidates(step, turn.results))
        else {
            return Usage::default();
        };
        let goal = question_of(&step, &candidates);
        healer.planner.foresee_usage(&PlannerTurn { goal: &goal, results: &[], remark: None })
    }

    fn model(&self) -> Option<&str> {
        self.healer.as_ref().and_then(|healer| healer.planner.model())
    }

    fn models(&self) -> Vec<&str> {
        self.healer.as_ref().map(|healer| healer.planner.models()).unwrap_or_default()
    }

    fn take_lost_usage(&mut self) -> Vec<LostUsage> {
        self.healer.as_mut().map(|healer| healer.planner.take_lost_usage()).unwrap_or_default()
    }
}

fn open_healer(context: PlannerContext) -> Result<Option<OpenedPlanner>, String> {
    let Some(name) = context.config.heal_with.as_deref() else { return Ok(None) };
    if name.starts_with("recipe:") {
        return Err("planner.heal_with is a recipe; a model or a script can heal".to_owned());
    }
    open_planner(name, context).map(Some).map_err(|problem| format!("planner.heal_with: {problem}"))
}

fn look_again_after(wait: Duration) -> PlannerAnswer {
    PlannerAnswer { steps: vec![PlannedStep::Wait(wait), structure_call()], ..PlannerAnswer::default() }
}

fn one_step(step: PlannedStep) -> PlannerAnswer {
    PlannerAnswer { steps: vec![step], ..PlannerAnswer::default() }
}

fn shown_selector(step: &RecipeStep) -> &str {
    step.selector.as_deref().unwrap_or_default()
}

/// What is put into a field is read back, so that it is checked without an expectation.
fn is_read_back(tool: &str) -> bool {
    matches!(tool, "set_value" | "clear_text" | "select_option")
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn act_call(steps: &[Value]) -> PlannedStep {
    let args = object(json!({ "steps": steps, "timeout_ms": ALL_STEPS_MS }));
    PlannedStep::Call { tool: ACT.to_owned(), args }
}

fn structure_call() -> PlannedStep {
    PlannedStep::Call { tool: STRUCTURE.to_owned(), args: object(json!({ "depth": 64 })) }
}

/// A step as `act` takes it, with what the job gives filled in.
fn act_step(step: &RecipeStep, input: &Map<String, Value>) -> Result<Value, String> {
    let mut written = Map::new();
    for (name, template) in &step.args {
        written.insert(name.clone(), typed_text(fill_value(template, input)?));
    }
    written.insert("do".to_owned(), step.tool.as_str().into());
    if let Some(selector) = &step.selector {
        written.insert("selector".to_owned(), fill_selector(selector, input)?.into());
    }
    if let Some(title) = &step.window_title {
        written.insert("window_title".to_owned(), title.as_str().into());
    }
    if !step.expect.is_empty() {
        let expected: Result<Vec<Value>, String> =
            step.expect.iter().map(|expected| fill_expected(expected, input)).collect();
        written.insert("expect".to_owned(), expected?.into());
        written.insert("within_ms".to_owned(), WITHIN_MS.into());
    }
    Ok(Value::Object(written))
}

/// What is typed is a text, also where the input is a number.
fn typed_text(filled: Value) -> Value {
    match filled {
        Value::Number(number) => number.to_string().into(),
        filled => filled,
    }
}

fn fill_expected(expected: &Value, input: &Map<String, Value>) -> Result<Value, String> {
    let Value::Object(fields) = expected else { return fill_value(expected, input) };
    let fill = |(name, value): (&String, &Value)| match value {
        Value::String(selector) if name == "selector" => {
            Ok((name.clone(), fill_selector(selector, input)?.into()))
        }
        value => Ok((name.clone(), fill_value(value, input)?)),
    };
    fields.iter().map(fill).collect::<Result<Map<_, _>, String>>().map(Value::Object)
}

/// The names and values of all elements.
fn texts_in(tree: &Tree) -> Vec<&str> {
    let texts = tree.elements().iter().flat_map(|it| [Some(it.name.as_str()), it.value.as_deref()]);
    texts.flatten().collect()
}

fn last_tree(results: &[CallResult]) -> Result<Tree, String> {
    let read = results.iter().rev().find(|result| result.tool == STRUCTURE && result.error.is_none());
    let reply = &read.ok_or("the page could not be read")?.reply;
    let is = |name: &str, value: bool| reply.get(name) == Some(&Value::Bool(value));
    if is("truncated", true) || is("depth_truncated", true) || is("complete", false) {
        return Err("the page is too large to be read as a whole".to_owned());
    }
    tree_of_json(reply.get("tree").unwrap_or(&Value::Null))
}
