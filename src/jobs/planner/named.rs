//! The planners by the names that jobs give, and whether one could be opened: said when the job is made, as far as that
//! can be known without asking anybody.

use super::agent_cli;
use super::model;
use super::opencode::{self, OpencodeVoice};
use super::recipe;
use super::scripted::{Scripted, script_name};
use super::voice::{ModelLine, WireKind};
use super::{HOST_NAME, PLANNER_NAMES};
use crate::config::{self, Endpoint, Secret};
use crate::jobs::dialect::Dialect;
use crate::jobs::spec::JobSpec;
use crate::tool::Table;

/// A planner's name, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedPlanner<'a> {
    Scripted(&'a str),
    /// Without a model.
    Mock,
    /// The id of a recipe that needs no model.
    Recipe(&'a str),
    Cli,
    Host,
    Auto(Dialect),
    Opencode(Dialect),
    Wire(WireKind, Dialect),
}

/// What else may be named where one cannot be used.
const OTHERS: [&str; 5] = ["chat", "responses", "anthropic", "opencode", "cli"];

impl<'a> NamedPlanner<'a> {
    pub fn read(name: &'a str) -> Result<Self, String> {
        let (kind, more) = name.split_once(':').unwrap_or((name, ""));
        let unknown = || format!("there is no planner '{name}'; use {PLANNER_NAMES}");
        match (kind, more) {
            ("", _) => return Err(format!("the job names no planner; use {PLANNER_NAMES}")),
            ("scripted", "") => return Err(unknown()),
            ("scripted", script) => return Ok(NamedPlanner::Scripted(script)),
            ("mock", "") => return Ok(NamedPlanner::Mock),
            ("recipe", "") => return Err(unknown()),
            ("recipe", id) => return Ok(NamedPlanner::Recipe(id)),
            ("cli", "") => return Ok(NamedPlanner::Cli),
            (HOST_NAME, "") => return Ok(NamedPlanner::Host),
            _ => {}
        }
        let wire = WireKind::from_name(kind);
        if wire.is_none() && kind != "auto" && kind != "opencode" {
            return Err(unknown());
        }
        let dialect = if more.is_empty() { Some(Dialect::Native) } else { Dialect::from_name(more) };
        let dialect = dialect.ok_or_else(|| {
            let dialects = Dialect::NAMES.map(|(name, _)| name).join(", ");
            format!("there is no planner '{name}'; behind '{kind}:' may stand {dialects}")
        })?;
        Ok(match (kind, wire) {
            (_, Some(wire)) => NamedPlanner::Wire(wire, dialect),
            ("opencode", None) => NamedPlanner::Opencode(dialect),
            _ => NamedPlanner::Auto(dialect),
        })
    }
}

/// Why the planner of a job cannot be used, and what could be instead.
pub fn check_planner(config: &config::Planner, spec: &JobSpec, tools: &Table) -> Result<(), String> {
    let name = spec.planner.as_deref().unwrap_or_default();
    let read = NamedPlanner::read(name);
    let named = read.map_err(|problem| format!("{problem}; {}", usable_planners(config, spec)))?;
    if let NamedPlanner::Scripted(script) = named {
        let opened = Scripted::open(script)?;
        return opened.check_calls(tools).map_err(|problem| format!("{}: {problem}", script_name(script)));
    }
    if let NamedPlanner::Recipe(id) = named {
        return recipe::check_replay(id, config, spec, tools);
    }
    check_named(named, config, spec).map_err(|problem| {
        format!("the planner '{name}' cannot be used: {problem}; {}", usable_planners(config, spec))
    })
}

fn usable_planners(config: &config::Planner, spec: &JobSpec) -> String {
    let is_usable = |name: &&str| match NamedPlanner::read(name) {
        Ok(NamedPlanner::Opencode(_)) => find_opencode(config).is_ok(),
        Ok(planner) => check_named(planner, config, spec).is_ok(),
        Err(_) => false,
    };
    let usable: Vec<&str> =
        OTHERS.iter().copied().filter(is_usable).chain(["mock", "scripted:FILE"]).collect();
    format!("with what is set here these could be: {}", usable.join(", "))
}

fn check_named(named: NamedPlanner, config: &config::Planner, spec: &JobSpec) -> Result<(), String> {
    match named {
        NamedPlanner::Scripted(script) => Scripted::open(script).map(drop),
        NamedPlanner::Recipe(id) => recipe::find_replayable(id, config).map(drop),
        NamedPlanner::Cli => agent_cli::find_program(config).map(drop),
        NamedPlanner::Host | NamedPlanner::Mock => Ok(()),
        NamedPlanner::Opencode(_) => OpencodeVoice::open(config).map(drop),
        NamedPlanner::Wire(wire, _) => check_wire(wire, config, spec),
        NamedPlanner::Auto(_) => {
            let wires = WireKind::ALL.map(|(_, wire)| check_wire(wire, config, spec));
            let others = [find_opencode(config), agent_cli::find_program(config).map(drop)];
            let tried: Vec<Result<(), String>> = wires.into_iter().chain(others).collect();
            if tried.iter().any(Result::is_ok) {
                return Ok(());
            }
            let mut problems: Vec<String> = Vec::new();
            for problem in tried.into_iter().filter_map(Result::err) {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            Err(problems.join("; "))
        }
    }
}

/// Who names it may know more; nobody else is led to a program that is not here.
fn find_opencode(config: &config::Planner) -> Result<(), String> {
    opencode::find_server(config)?;
    OpencodeVoice::open(config).map(drop)
}

fn check_wire(wire: WireKind, config: &config::Planner, spec: &JobSpec) -> Result<(), String> {
    model::models_for(config, spec)?;
    ModelLine::open(wire, config)?;
    match wire {
        WireKind::Anthropic => require_key(
            &config.anthropic_base_url,
            config.anthropic_api_key.as_ref(),
            "planner.anthropic_api_key (or ANTHROPIC_API_KEY)",
        ),
        WireKind::Chat | WireKind::Responses => {
            require_key(&config.base_url, config.api_key.as_ref(), "planner.api_key (or OPENAI_API_KEY)")
        }
    }
}

/// Vendors whose servers answer nobody without a key.
const WANT_A_KEY: [&str; 2] = ["api.anthropic.com", "api.openai.com"];

fn require_key(server: &Endpoint, key: Option<&Secret>, setting: &str) -> Result<(), String> {
    let address = server.reveal();
    let host = address.split("://").nth(1).unwrap_or(address).split('/').next().unwrap_or_default();
    match WANT_A_KEY.iter().find(|vendor| host == **vendor) {
        Some(vendor) if key.is_none() => Err(format!("{vendor} wants a key, and {setting} is not set")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{DesktopShows, Selection};

    fn check(planner: &str, config: &config::Planner, expected: Result<(), &[&str]>) {
        let spec = JobSpec { planner: Some(planner.to_owned()), ..JobSpec::default() };
        let no_tools = Table::new(&Selection::default(), DesktopShows::Programs, std::iter::empty());
        match (check_planner(config, &spec, &no_tools), expected) {
            (Ok(()), Ok(())) => {}
            (Err(said), Err(words)) => {
                assert!(words.iter().all(|word| said.contains(word)), "{planner}: {said}");
            }
            (got, expected) => panic!("{planner}: {got:?} instead of {expected:?}"),
        }
    }

    fn with_model() -> config::Planner {
        config::Planner { model: Some("m".to_owned()), ..config::Planner::default() }
    }

    #[test]
    fn a_planner_that_is_not_there_is_refused_with_those_that_are() {
        check("gpt", &with_model(), Err(&["no planner 'gpt'", "scripted:FILE", "host"]));
        check("chat:klingon", &with_model(), Err(&["behind 'chat:' may stand", "native"]));
        check("scripted:", &with_model(), Err(&["no planner 'scripted:'"]));
        check("", &with_model(), Err(&["names no planner"]));
        check("scripted:/no/such.yaml", &with_model(), Err(&["/no/such.yaml"]));
        check("scripted:demo", &with_model(), Err(&["step 1 (look): there is no such tool here"]));
        for planner in ["chat", "chat:screenjob", "auto", "host"] {
            check(planner, &with_model(), Ok(()));
        }
    }

    #[test]
    fn a_missing_key_model_or_program_is_said_with_what_could_be_used() {
        check("anthropic", &with_model(), Err(&["ANTHROPIC_API_KEY", "these could be: chat, responses"]));
        check("chat", &config::Planner::default(), Err(&["planner.model"]));
        check("cli", &with_model(), Err(&["planner.cli"]));
        let spec = JobSpec { planner: Some("auto".to_owned()), ..JobSpec::default() };
        let said =
            check_named(NamedPlanner::Auto(Dialect::Native), &config::Planner::default(), &spec).unwrap_err();
        assert_eq!(said.matches("the job names no model").count(), 1, "{said}");
        let key = Some(Secret::new("k-123456".to_owned()));
        check("anthropic", &config::Planner { anthropic_api_key: key, ..with_model() }, Ok(()));
        let openai = Endpoint::new("https://api.openai.com/v1");
        check("responses", &config::Planner { base_url: openai, ..with_model() }, Err(&["OPENAI_API_KEY"]));
    }
}
