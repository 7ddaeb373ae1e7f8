//! All recipes of this computer: those of the program, and the user's own in a private folder. A file that cannot be
//! used is named with its problem, and none of it counts.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::bundled::bundled_recipes;
use super::check::{LARGEST_RECIPE, check_id, read_recipe};
use super::format::{Recipe, RecipeState, RecipeStats};
use super::matching::best_match;
use crate::files::{self, Below, ReadFailure};
use crate::random::random_token;
use crate::text::nearest;

/// More files in the folder are refused.
const MOST_RECIPES: usize = 1_000;
const ENDING: &str = ".json";
/// Of a healed version that has not proved itself.
const CANDIDATE: &str = ".candidate.json";
/// So often a candidate has to run without a miss to become the recipe.
pub const GREEN_RUNS: u64 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecipeSource {
    Bundled,
    Own(PathBuf),
}

/// A recipe, and where it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRecipe {
    pub recipe: Recipe,
    pub source: RecipeSource,
}

#[derive(Clone, Debug, Default)]
pub struct RecipeLibrary {
    /// Active ones, by their ids; an own one stands in for a bundled one of the same id.
    pub recipes: Vec<KeptRecipe>,
    pub candidates: Vec<KeptRecipe>,
    /// Files that cannot be used, each with the reason.
    pub problems: Vec<String>,
}

/// How a run of a recipe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Every step came to what was expected of it.
    Green,
    /// It was done, and a step had to be healed.
    Healed,
    Failed,
}

impl RecipeLibrary {
    /// Reads the bundled recipes and those of `folder`; a folder that is not there is empty.
    pub fn open(folder: Option<&Path>) -> Self {
        let mut library = Self::default();
        if let Some(folder) = folder {
            library.read_folder(folder);
        }
        let is_own = |recipe: &Recipe| library.recipes.iter().any(|own| own.recipe.id == recipe.id);
        let bundled: Vec<Recipe> = bundled_recipes().into_iter().filter(|recipe| !is_own(recipe)).collect();
        let kept = bundled.into_iter().map(|recipe| KeptRecipe { recipe, source: RecipeSource::Bundled });
        library.recipes.extend(kept);
        library.recipes.sort_by(|one, other| one.recipe.id.cmp(&other.recipe.id));
        library
    }

    fn read_folder(&mut self, folder: &Path) {
        let Ok(names) = recipe_names(folder) else { return };
        if names.len() > MOST_RECIPES {
            let count = names.len();
            self.problems.push(format!(
                "{}: {count} recipes, the limit is {MOST_RECIPES}; none is used",
                folder.display()
            ));
            return;
        }
        for name in names {
            match read_file(folder, &name) {
                Ok(kept) if kept.recipe.state == RecipeState::Candidate => self.candidates.push(kept),
                Ok(kept) => self.recipes.push(kept),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    /// The recipe for an address, if there is one.
    pub fn match_url(&self, address: &str) -> Option<&KeptRecipe> {
        // Own ones come first, so that of equals they are meant.
        let own = self.recipes.iter().filter(|kept| kept.source != RecipeSource::Bundled);
        let bundled = self.recipes.iter().filter(|kept| kept.source == RecipeSource::Bundled);
        let best = best_match(own.chain(bundled).map(|kept| &kept.recipe), address)?;
        self.recipes.iter().find(|kept| kept.recipe.id == best.id)
    }

    /// The recipe of this id; the error names one that is near.
    pub fn find(&self, id: &str) -> Result<&KeptRecipe, String> {
        let found = self.recipes.iter().find(|kept| kept.recipe.id == id);
        found.ok_or_else(|| {
            let near = nearest(id, self.recipes.iter().map(|kept| kept.recipe.id.as_str()));
            let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
            let broken = self.problems.iter().find(|problem| problem.starts_with(&format!("{id}{ENDING}")));
            let broken =
                broken.map(|problem| format!("; its file cannot be used: {problem}")).unwrap_or_default();
            format!("there is no recipe '{id}'{near}{broken}")
        })
    }

    pub fn candidate(&self, id: &str) -> Option<&KeptRecipe> {
        self.candidates.iter().find(|kept| kept.recipe.id == id)
    }
}

/// The version of a recipe that runs next: a candidate has to prove itself, so it runs where there is one.
pub fn find_to_run(folder: Option<&Path>, id: &str) -> Result<KeptRecipe, String> {
    check_id(id)?;
    let own = |ending: &str| {
        let folder = folder?;
        let name = format!("{id}{ending}");
        folder.join(&name).symlink_metadata().is_ok().then(|| read_file(folder, &name))
    };
    match own(CANDIDATE).or_else(|| own(ENDING)) {
        Some(read) => read,
        None => RecipeLibrary::open(folder).find(id).cloned(),
    }
}

fn recipe_names(folder: &Path) -> std::io::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ENDING)).collect();
    names.sort();
    Ok(names)
}

/// The bytes of a file of the folder that only its owner can change.
fn read_own_bytes(folder: &Path, path: &Path, name: &str) -> Result<Vec<u8>, String> {
    let found =
        Below::find(folder, path).ok_or_else(|| format!("{name}: it leads out of the folder of recipes"))?;
    let facts = path.metadata().map_err(|problem| format!("{name}: {problem}"))?;
    if let Some(why) = files::written_by_others(&facts, path) {
        return Err(format!("{name}: {why}"));
    }
    found.read(LARGEST_RECIPE as u64).map_err(|problem| match problem {
        ReadFailure::NoFile => format!("{name}: it is not a regular file"),
        ReadFailure::TooLong(bytes) => format!("{name}: it has {bytes} bytes, the limit is {LARGEST_RECIPE}"),
        ReadFailure::Failed(problem) => format!("{name}: {problem}"),
    })
}

fn read_file(folder: &Path, name: &str) -> Result<KeptRecipe, String> {
    let path = folder.join(name);
    let recipe = read_recipe(&read_own_bytes(folder, &path, name)?, name)?;
    let expected = file_name(&recipe);
    if expected != name {
        return Err(format!(
            "{name}: a recipe with this id and state is kept in {expected}; rename the file"
        ));
    }
    Ok(KeptRecipe { recipe, source: RecipeSource::Own(path) })
}

fn file_name(recipe: &Recipe) -> String {
    let ending = if recipe.state == RecipeState::Candidate { CANDIDATE } else { ENDING };
    format!("{}{ending}", recipe.id)
}

/// Where own recipes are written.
pub fn own_folder(folder: Option<&Path>) -> Result<&Path, String> {
    folder.ok_or_else(|| {
        "there is no folder for recipes: neither planner.recipes_dir nor a home folder is set".to_owned()
    })
}

/// Writes a recipe in full, or not at all; what is written can be read again.
pub fn save_recipe(folder: &Path, recipe: &Recipe) -> Result<PathBuf, String> {
    let named = |problem: std::io::Error| format!("{}: {problem}", folder.display());
    let name = file_name(recipe);
    let mut text = serde_json::to_vec_pretty(recipe).map_err(|problem| format!("{name}: {problem}"))?;
    read_recipe(&text, &name)?;
    text.push(b'\n');
    if !folder.is_dir() {
        files::create_private_dir(folder, true).map_err(named)?;
    }
    let beside = folder.join(random_token(".writing-"));
    let written = files::create_private(&beside, OpenOptions::new().write(true))
        .and_then(|mut file| file.write_all(&text))
        .and_then(|()| std::fs::rename(&beside, folder.join(&name)));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written.map_err(named).map(|()| folder.join(name))
}

fn count_end(stats: &mut RecipeStats, end: RunEnd) {
    stats.runs += 1;
    match end {
        RunEnd::Green => (stats.ok, stats.green) = (stats.ok + 1, stats.green + 1),
        RunEnd::Healed => (stats.ok, stats.healed, stats.green) = (stats.ok + 1, stats.healed + 1, 0),
        RunEnd::Failed => (stats.failed, stats.green) = (stats.failed + 1, 0),
    }
}

/// Counts a run. A candidate that ran without a miss often enough becomes the recipe. Nothing is counted for a version that
/// is not kept any more.
pub fn note_run(folder: &Path, ran: &Recipe, end: RunEnd) -> Result<(), String> {
    let name = file_name(ran);
    if folder.join(&name).symlink_metadata().is_err() {
        return Ok(());
    }
    let mut kept = read_file(folder, &name)?.recipe;
    if (kept.version, &kept.steps) != (ran.version, &ran.steps) {
        return Ok(());
    }
    count_end(&mut kept.stats, end);
    if kept.state == RecipeState::Candidate && kept.stats.green >= GREEN_RUNS {
        return promote(folder, kept).map(drop);
    }
    save_recipe(folder, &kept).map(drop)
}

/// A candidate becomes the recipe, because a person says so.
pub fn accept_candidate(folder: &Path, id: &str) -> Result<Recipe, String> {
    check_id(id)?;
    let name = format!("{id}{CANDIDATE}");
    if folder.join(&name).symlink_metadata().is_err() {
        return Err(format!("the recipe '{id}' has no candidate: nothing was healed since it was accepted"));
    }
    promote(folder, read_file(folder, &name)?.recipe)
}

fn promote(folder: &Path, mut candidate: Recipe) -> Result<Recipe, String> {
    let old = folder.join(file_name(&candidate));
    candidate.state = RecipeState::Active;
    save_recipe(folder, &candidate)?;
    std::fs::remove_file(&old).map_err(|problem| format!("{}: {problem}", old.display()))?;
    Ok(candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(id: &str) -> Recipe {
        Recipe {
            id: id.to_owned(),
            name: id.to_owned(),
            url_patterns: vec!["https://dexscreener.com/*".to_owned()],
            version: 1,
            ..Recipe::default()
        }
    }

    #[test]
    fn own_recipes_stand_in_for_bundled_ones_and_win_where_they_say_as_much() {
        let folder = tempfile::tempdir().unwrap();
        let path = save_recipe(folder.path(), &recipe("zz-own")).unwrap();
        save_recipe(folder.path(), &recipe("generic-search")).unwrap();
        let library = RecipeLibrary::open(Some(folder.path()));
        assert_eq!(library.problems, Vec::<String>::new());
        assert_eq!(library.recipes.len(), 5);
        assert_eq!(library.find("zz-own").unwrap().source, RecipeSource::Own(path));
        assert_ne!(library.find("generic-search").unwrap().source, RecipeSource::Bundled);
        let met = library.match_url("https://dexscreener.com/solana/x").unwrap();
        assert_eq!(met.recipe.id, "generic-search");
        let said = library.find("gmgn-token-reed").unwrap_err();
        assert!(said.contains("did you mean 'gmgn-token-read'"), "{said}");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named_and_the_others_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("broken.json", "{");
        write("other.json", r#"{"id": "named-otherwise", "name": "x"}"#);
        write("notes.txt", "{");
        save_recipe(folder.path(), &recipe("fine")).unwrap();
        let library = RecipeLibrary::open(Some(folder.path()));
        assert!(library.find("fine").is_ok());
        assert_eq!(library.problems.len(), 2, "{:?}", library.problems);
        assert!(library.problems[0].starts_with("broken.json: EOF"), "{:?}", library.problems);
        assert!(library.problems[1].contains("kept in named-otherwise.json"), "{:?}", library.problems);
        assert!(library.find("broken").unwrap_err().contains("its file cannot be used"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_others_or_from_elsewhere_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = save_recipe(folder.path(), &recipe("open")).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o666)).unwrap();
        let outside = save_recipe(elsewhere.path(), &recipe("linked")).unwrap();
        std::os::unix::fs::symlink(outside, folder.path().join("linked.json")).unwrap();
        let problems = RecipeLibrary::open(Some(folder.path())).problems;
        assert!(problems[0].contains("leads out of the folder"), "{problems:?}");
        assert!(problems[1].contains("other users can change it"), "{problems:?}");
    }

    #[test]
    fn a_candidate_runs_first_and_becomes_the_recipe_after_two_green_runs() {
        let folder = tempfile::tempdir().unwrap();
        let healed = Recipe { version: 2, state: RecipeState::Candidate, ..recipe("shop") };
        save_recipe(folder.path(), &recipe("shop")).unwrap();
        save_recipe(folder.path(), &healed).unwrap();
        let next = || find_to_run(Some(folder.path()), "shop").unwrap().recipe;
        for (end, state, green) in [
            (RunEnd::Green, RecipeState::Candidate, 1),
            (RunEnd::Failed, RecipeState::Candidate, 0),
            (RunEnd::Green, RecipeState::Candidate, 1),
            (RunEnd::Green, RecipeState::Active, 2),
        ] {
            note_run(folder.path(), &next(), end).unwrap();
            let next = next();
            assert_eq!((next.state, next.stats.green, next.version), (state, green, 2), "{end:?}");
        }
        assert!(accept_candidate(folder.path(), "shop").unwrap_err().contains("has no candidate"));
    }

    #[test]
    fn a_run_of_a_version_that_is_gone_counts_for_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let healed = Recipe { version: 3, state: RecipeState::Candidate, ..recipe("shop") };
        save_recipe(folder.path(), &healed).unwrap();
        note_run(folder.path(), &Recipe { version: 2, ..healed.clone() }, RunEnd::Green).unwrap();
        assert_eq!(find_to_run(Some(folder.path()), "shop").unwrap().recipe.stats.runs, 0);
        assert_eq!(accept_candidate(folder.path(), "shop").unwrap().state, RecipeState::Active);
        assert_eq!(find_to_run(Some(folder.path()), "shop").unwrap().recipe.version, 3);
    }
}
