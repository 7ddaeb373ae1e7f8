//! The desk that a job asks for: whether what it says fits together, and whether this server lets it have that.

use crate::config::{self, OwnDesk, Programs, page_url};
use crate::error::{Error, Kind, Result};
use crate::files;

use super::spec::JobSpec;

/// What the owner of a server lets jobs choose.
#[derive(Clone, Debug)]
pub struct DeskRules {
    desks: Vec<OwnDesk>,
    launch: config::Launching,
    /// Where the scenarios are that clients may name.
    scenarios: Option<std::path::PathBuf>,
}

impl DeskRules {
    /// Fails with the name that is no desk.
    pub fn read(config: &config::Config) -> Result<Self> {
        let read = |name: &String| {
            OwnDesk::from_name(name).ok_or_else(|| {
                let names = OwnDesk::ALL.map(OwnDesk::name).join(", ");
                Error::bad_request(format!("jobs.desks names '{name}'; there are {names}"))
            })
        };
        let desks = config.jobs.desks.iter().map(read).collect::<Result<_>>()?;
        let (launch, scenarios) = (config.launch.clone(), config.jobs.scripts.clone());
        Ok(Self { desks, launch, scenarios })
    }

    /// Refuses what the owner did not allow, and makes the name of a scenario its place.
    pub fn grant_desk(&self, spec: &mut JobSpec) -> Result<()> {
        let Some(desk) = spec.desk else {
            return Ok(());
        };
        if !self.desks.contains(&desk) {
            let name = desk.name();
            let message =
                format!("a job may not choose the desk '{name}' here; the owner can add it to jobs.desks");
            return Err(Error::new(Kind::PermissionDenied, message).with("field", "desk"));
        }
        spec.program.as_deref().map_or(Ok(()), |program| self.check_program(program))?;
        if let Some(scenario) = &mut spec.scenario {
            *scenario = self.find_scenario(scenario)?;
        }
        Ok(())
    }

    /// The job's program is started before anybody looks, so what the desktop has in its menus does not count.
    fn check_program(&self, program: &str) -> Result<()> {
        if self.launch.programs == Programs::Any || self.launch.allow.iter().any(|allowed| allowed == program)
        {
            return Ok(());
        }
        let message = format!("a job may not start '{program}' here; the owner can add it to launch.allow");
        Err(Error::new(Kind::PermissionDenied, message).with("field", "program"))
    }

    fn find_scenario(&self, name: &str) -> Result<String> {
        let refused = |problem: String| Error::bad_request(problem).with("field", "scenario");
        let Some(folder) = &self.scenarios else {
            return Err(refused(
                "scenarios are played only from the folder jobs.scripts, which is not set".to_owned(),
            ));
        };
        let found = files::below(std::slice::from_ref(folder), name).map_err(refused)?;
        Ok(found.path().display().to_string())
    }
}

/// Each detail belongs to one desk.
pub fn check_wish(spec: &JobSpec) -> Result<()> {
    let details = [
        ("scenario", spec.scenario.is_some(), OwnDesk::Mock),
        ("program", spec.program.is_some(), OwnDesk::Sandbox),
        ("start_url", spec.start_url.is_some(), OwnDesk::Browser),
    ];
    for (field, given, desk) in details {
        if given && spec.desk != Some(desk) {
            let message = format!("'{field}' goes with \"desk\": \"{}\"", desk.name());
            return Err(Error::bad_request(message).with("field", field));
        }
    }
    let url = spec.start_url.as_deref().map(page_url).transpose();
    url.map(drop)
        .map_err(|problem| Error::bad_request(format!("'start_url': {problem}")).with("field", "start_url"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn rules(desks: &[&str]) -> DeskRules {
        let mut config = config::Config::default();
        config.jobs.desks = desks.iter().map(ToString::to_string).collect();
        config.launch.allow = vec!["xterm".to_owned()];
        DeskRules::read(&config).unwrap()
    }

    fn check(wish: Value, refused: Option<&str>) {
        let mut wish = wish;
        wish["job"] = "a".into();
        let granted = JobSpec::from_value(wish.clone()).and_then(|mut spec| {
            check_wish(&spec)?;
            rules(&["mock", "sandbox", "browser"]).grant_desk(&mut spec)
        });
        let said = granted.err().map(|error| error.message);
        let as_expected = match (&said, refused) {
            (Some(said), Some(word)) => said.contains(word),
            (said, refused) => said.is_none() && refused.is_none(),
        };
        assert!(as_expected, "{wish}: {said:?}");
    }

    #[test]
    fn a_job_has_the_desks_that_the_owner_allows() {
        check(json!({}), None);
        for desk in ["mock", "sandbox", "browser"] {
            check(json!({"desk": desk}), None);
        }
        check(json!({"desk": "desktop"}), Some("jobs.desks"));
        check(json!({"desk": "moon"}), Some("moon"));
        assert!(
            rules(&[]).grant_desk(&mut JobSpec { desk: Some(OwnDesk::Mock), ..JobSpec::default() }).is_err()
        );
    }

    #[test]
    fn details_belong_to_their_desk() {
        check(json!({"desk": "sandbox", "program": "xterm"}), None);
        check(json!({"desk": "sandbox", "program": "bash"}), Some("launch.allow"));
        check(json!({"program": "xterm"}), Some("\"desk\": \"sandbox\""));
        check(json!({"desk": "mock", "start_url": "https://a.example"}), Some("\"desk\": \"browser\""));
        check(json!({"desk": "browser", "start_url": "https://a.example"}), None);
        check(json!({"desk": "browser", "start_url": "javascript:alert(1)"}), Some("start_url"));
        check(json!({"desk": "mock", "scenario": "a.yaml"}), Some("jobs.scripts"));
    }

    #[test]
    fn a_desk_that_is_none_stops_the_start() {
        let mut config = config::Config::default();
        config.jobs.desks = vec!["moon".to_owned()];
        assert!(DeskRules::read(&config).unwrap_err().message.contains("moon"));
    }
}
