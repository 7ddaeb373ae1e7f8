//! Recipes at the terminal: list and show them, learn one from a job, and accept a healed one. `recipe test` is a job, and
//! run by `jobs`.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::jobs::find_job_by_id;
use super::{pretty_json, say};
use crate::cli::RecipeCommand;
use crate::config::Config;
use crate::jobs::learning::learn_from_job;
use crate::recipes::library::{accept_candidate, own_folder, save_recipe};
use crate::recipes::{KeptRecipe, Recipe, RecipeLibrary, RecipeSource, RecipeState};
use crate::tool::{DesktopShows, Selection};
use crate::tools;

pub fn manage_recipes(config: &Config, what: &RecipeCommand) -> Result<ExitCode, String> {
    let folder = config.planner.recipes_dir.as_deref();
    match what {
        RecipeCommand::List { json } => list_recipes(folder, *json),
        RecipeCommand::Show { id, candidate } => show_recipe(folder, id, *candidate),
        RecipeCommand::Accept { id } => {
            let recipe = accept_candidate(own_folder(folder)?, id)?;
            say(&format!("{} version {} is the recipe now", recipe.id, recipe.version))
                .map(|()| ExitCode::SUCCESS)
        }
        RecipeCommand::Learn { job, id, replace } => learn(config, job, id.as_deref(), *replace),
        RecipeCommand::Test(_) => Err("recipe test runs as a job".to_owned()),
    }
}

fn list_recipes(folder: Option<&Path>, as_json: bool) -> Result<ExitCode, String> {
    let library = RecipeLibrary::open(folder);
    let all = || library.recipes.iter().chain(&library.candidates);
    let text = match as_json {
        true => pretty_json(&json!({
            "recipes": all().map(facts_of).collect::<Vec<_>>(),
            "problems": library.problems,
        })),
        false => all()
            .map(line_of)
            .chain(library.problems.iter().map(|problem| format!("cannot be used: {problem}")))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    say(&text)?;
    Ok(if library.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn facts_of(kept: &KeptRecipe) -> Value {
    let Recipe { id, name, version, state, url_patterns, stats, .. } = &kept.recipe;
    json!({
        "id": id, "name": name, "version": version, "state": state, "urlPatterns": url_patterns, "stats": stats,
        "source": source_name(kept), "replays": kept.recipe.can_replay(), "protected": kept.recipe.is_protected(),
    })
}

/// `shop v2 candidate  own  replays, ran 3 times (2 ok)  https://shop.example/*`
fn line_of(kept: &KeptRecipe) -> String {
    let recipe = &kept.recipe;
    let state = if recipe.state == RecipeState::Candidate { " candidate" } else { "" };
    let kind = if recipe.can_replay() { "runs without a model" } else { "hints for a model" };
    let ran = match recipe.stats.runs {
        0 => String::new(),
        runs => format!(", ran {runs} times ({} ok, {} healed)", recipe.stats.ok, recipe.stats.healed),
    };
    let patterns = recipe.url_patterns.join(" ");
    format!("{} v{}{state}  {}  {kind}{ran}  {patterns}", recipe.id, recipe.version, source_name(kept))
}

fn source_name(kept: &KeptRecipe) -> &'static str {
    match kept.source {
        RecipeSource::Bundled => "bundled",
        RecipeSource::Own(_) => "own",
    }
}

fn show_recipe(folder: Option<&Path>, id: &str, candidate: bool) -> Result<ExitCode, String> {
    let library = RecipeLibrary::open(folder);
    let kept = match candidate {
        true => library.candidate(id).ok_or_else(|| format!("the recipe '{id}' has no candidate"))?,
        false => library.find(id)?,
    };
    say(&pretty_json(&json!(kept.recipe))).map(|()| ExitCode::SUCCESS)
}

fn learn(config: &Config, job: &str, id: Option<&str>, replace: bool) -> Result<ExitCode, String> {
    let folder = own_folder(config.planner.recipes_dir.as_deref())?;
    let job = find_job_by_id(&config.jobs, job)?;
    let id = id.map_or_else(|| default_id(&job.id), str::to_owned);
    if !replace && folder.join(format!("{id}.json")).symlink_metadata().is_ok() {
        return Err(format!("there is a recipe '{id}' already; choose another --id, or say --replace"));
    }
    let recipe = learn_from_job(&job, &id, &tools::table_of(&Selection::default(), DesktopShows::Pages))?;
    let path = save_recipe(folder, &recipe)?;
    let (count, inputs) = (recipe.steps.len(), inputs_line(&recipe));
    say(&format!("{}\n{count} steps, {inputs}; run it: --planner recipe:{id}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn inputs_line(recipe: &Recipe) -> String {
    let inputs: Vec<&str> = recipe.input_aliases.keys().map(String::as_str).collect();
    if inputs.is_empty() { "no inputs".to_owned() } else { format!("inputs: {}", inputs.join(", ")) }
}

/// `learned-` and the beginning of the job's own id.
fn default_id(job_id: &str) -> String {
    let letters =
        job_id.chars().map(|letter| letter.to_ascii_lowercase()).filter(char::is_ascii_alphanumeric);
    format!("learned-{}", letters.skip(3).take(10).collect::<String>())
}
