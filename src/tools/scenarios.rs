//! For tests and agent harnesses: setting the stage.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind, Result};
use crate::files::{self, Below};
use crate::scenario;
use crate::tool::args::Text;
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Tool};

pub struct LoadScenario;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct LoadArgs {
    /// YAML file below the server's scenario folders.
    path: Text<4096>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct LoadedOut {
    scenario: String,
    state: String,
    states: Vec<String>,
}

impl Output for LoadedOut {}

impl Tool for LoadScenario {
    type Args = LoadArgs;
    type Out = LoadedOut;
    const META: Meta = Meta {
        name: "load_scenario",
        group: Group::Harness,
        effect: Effect::Session,
        rest: &[(Method::Post, "/api/scenario/load")],
        brief: "Mock only: replace the mock desktop by a scenario file, from its initial state.",
        detail: "The file must be in one of `scenarios.dirs` of the config (default: the working folder). \
                 Errors in it are reported with line and reason, and the desktop stays as it was.",
        examples: &[Example {
            scenario: None,
            args: r#"{"path":"scenarios/login.yaml"}"#,
            shows: "the login form",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: LoadArgs, _: Permit) -> Result<LoadedOut> {
        let path = args.path.as_str();
        let Some(stage) = cx.observer().stage() else {
            return Err(Error::new(
                Kind::PlatformUnsupported,
                "scenarios need the mock desktop; start the server with --mock",
            ));
        };
        let file = scenario_file(cx, path)?;
        let scenario =
            scenario::load_below(&file).map_err(|problem| invalid_scenario(problem.to_string(), path))?;
        let loaded = stage.load(scenario);
        cx.observer().forget_all();
        Ok(LoadedOut { scenario: loaded.name, state: loaded.state, states: loaded.states })
    }
}

fn scenario_file(cx: &Cx, path: &str) -> Result<Below> {
    files::below(&cx.config().scenarios.dirs, path)
        .map_err(|problem| invalid_scenario(format!("{problem}; scenarios.dirs names the folders"), path))
}

fn invalid_scenario(message: String, path: &str) -> Error {
    Error::new(Kind::ScenarioInvalid, message).with("path", path)
}

pub const TOOLS: &[Spec] = &[Spec::of::<LoadScenario>()];
