//! The recipe of a task: named by the task, or found by the page that it begins with. It sharpens what the planner is told,
//! gives inputs their names, and may demand a session before a browser starts.

use serde_json::{Value, json};

use super::request::TaskRequest;
use crate::error::{Error, Kind, Result};
use crate::jobs::store::web::SessionRow;
use crate::recipes::{KeptRecipe, PROFILE_REQUIRED, Recipe, RecipeLibrary, RecipeSource, SessionFacts};

/// The one that a task names, or the one for its page.
pub fn find_recipe(library: &RecipeLibrary, request: &TaskRequest) -> Result<Option<Recipe>> {
    let found = match (&request.recipe, &request.start_url) {
        (Some(id), _) => Some(library.find(id).map_err(|problem| {
            Error::bad_request(format!("{problem}; GET /v1/recipes lists them")).with("field", "recipe")
        })?),
        (None, Some(url)) => library.match_url(url),
        (None, None) => None,
    };
    Ok(found.map(|kept| kept.recipe.clone()))
}

/// Whether the session of a task is what its recipe demands.
pub fn check_session(
    recipe: &Recipe,
    request: &TaskRequest,
    session: Option<&SessionRow>,
    has_user_data: bool,
) -> Result<()> {
    let facts = SessionFacts {
        profile: request.profile.as_deref(),
        user_data_dir: has_user_data && request.profile.is_none(),
        warmed: session.is_some_and(|session| {
            session.body.warmed_at.is_some() && session.body.profile == request.profile
        }),
    };
    recipe.check_session(&facts).map_err(|why| {
        Error::new(Kind::JobConflict, why).with("reason", PROFILE_REQUIRED).with("field", "sessionId")
    })
}

pub fn recipe_json(kept: &KeptRecipe) -> Value {
    let KeptRecipe { recipe, source } = kept;
    json!({
        "id": recipe.id, "name": recipe.name, "description": recipe.description, "version": recipe.version,
        "urlPatterns": recipe.url_patterns, "promptHints": recipe.prompt_hints, "inputAliases": recipe.input_aliases,
        "browserHints": recipe.browser_hints, "completion": recipe.completion, "requires": recipe.requires,
        "state": recipe.state, "stats": recipe.stats, "steps": recipe.steps.len(), "replays": recipe.can_replay(),
        "source": if *source == RecipeSource::Bundled { "bundled" } else { "own" },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::store::web::SessionBody;
    use crate::recipes::format::Requirement;

    fn request(fields: Value) -> TaskRequest {
        serde_json::from_value(fields).unwrap()
    }

    fn check_found(fields: Value, expected: Result<Option<&str>, &str>) {
        let found = find_recipe(&RecipeLibrary::open(None), &request(fields.clone()));
        match (found.map(|recipe| recipe.map(|recipe| recipe.id)), expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got.as_deref(), expected, "{fields}"),
            (Err(error), Err(word)) => assert!(error.message.contains(word), "{error}"),
            (got, _) => panic!("{fields}: {got:?}"),
        }
    }

    /// WT-06.
    #[test]
    fn a_recipe_is_named_or_found_by_the_page() {
        check_found(json!({"startUrl": "http://127.0.0.1:8765/catalog.html"}), Ok(Some("fixture-catalog")));
        check_found(json!({"recipe": "gmgn-token-read"}), Ok(Some("gmgn-token-read")));
        check_found(json!({"recipe": "gmgn-token-raed"}), Err("did you mean 'gmgn-token-read'?"));
    }

    #[test]
    fn a_protected_recipe_demands_a_warmed_session() {
        let recipe =
            Recipe { id: "bank".to_owned(), requires: vec![Requirement::Warmed], ..Recipe::default() };
        let session = |profile: Option<&str>, warmed_at| SessionRow {
            id: "s".to_owned(),
            body: SessionBody { profile: profile.map(str::to_owned), warmed_at, ..SessionBody::default() },
            created_at: 0,
            updated_at: 0,
        };
        let check = |profile: Option<&str>, session: Option<SessionRow>, expected: bool| {
            let request = request(json!({ "profile": profile }));
            let got = check_session(&recipe, &request, session.as_ref(), false);
            assert_eq!(got.is_ok(), expected, "{profile:?} {session:?} {got:?}");
        };
        check(None, None, false);
        check(Some("work"), Some(session(Some("work"), None)), false);
        check(Some("work"), Some(session(Some("work"), Some(1))), true);
        // Another profile than the one that somebody logged in with.
        check(Some("home"), Some(session(Some("work"), Some(1))), false);
    }
}
