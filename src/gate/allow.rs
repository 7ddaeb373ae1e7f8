//! Which tools may be called at all: the config's `actions.allow`, `.deny` and `.default`; and which programs may be
//! started: `launch.programs` and `launch.allow`.
//!
//! Knows no tool by name. The gate passes the tool's own declaration in: its name, its group and
//! the basic tools it contains. Tools that the contract leaves unchecked are not brought here.

use serde::Deserialize;

use crate::config::{Actions, Launching, PolicyVerdict, Programs};
use crate::error::{Error, Kind, Result};
use crate::tool::{Starting, Target};

/// Names in both lists are tools or groups. A denial always wins.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Policy(pub Actions);

impl Policy {
    /// `implied` are the basic tools that a composite contains: what may not be done directly may
    /// not be done inside another tool either.
    pub fn check(&self, tool: &str, group: &str, implied: &[&str]) -> Result<()> {
        if list_contains(&self.0.deny, tool) {
            return permission_denied(format!("tool '{tool}' is in actions.deny"));
        }
        if list_contains(&self.0.deny, group) {
            return permission_denied(format!(
                "tool '{tool}' belongs to the group '{group}', which is in actions.deny"
            ));
        }
        if let Some(part) = implied.iter().find(|part| list_contains(&self.0.deny, part)) {
            return permission_denied(format!("tool '{tool}' contains '{part}', which is in actions.deny"));
        }
        if self.0.verdict_on_unlisted() == PolicyVerdict::Deny
            && !list_contains(&self.0.allow, tool)
            && !list_contains(&self.0.allow, group)
        {
            return permission_denied(format!(
                "neither the tool '{tool}' nor its group '{group}' is in actions.allow"
            ));
        }
        Ok(())
    }

    /// One sentence for each listed name that is none of `known` (tools and groups): a misspelt
    /// denial denies nothing, so the start reports it.
    pub fn unknown_names(&self, known: &[&str]) -> Vec<String> {
        let allow = self.0.allow.iter().map(|name| ("actions.allow allows", name));
        let deny = self.0.deny.iter().map(|name| ("actions.deny denies", name));
        allow
            .chain(deny)
            .filter(|(_, name)| !known.contains(&name.as_str()))
            .map(|(does, name)| {
                format!("{does} '{name}', which is not a tool or a group{}", similar_names(name, known))
            })
            .collect()
    }
}

impl Launching {
    /// Whether everything that a call would start may be started.
    pub fn check(&self, targets: &[Target]) -> Result<()> {
        targets.iter().filter_map(Target::program).try_for_each(|starting| self.check_one(starting))
    }

    fn check_one(&self, starting: &Starting) -> Result<()> {
        let program = &starting.program;
        let refusal = match self.programs {
            Programs::Any => return Ok(()),
            _ if list_contains(&self.allow, program) => return Ok(()),
            Programs::Installed if starting.installed => return Ok(()),
            Programs::Installed => format!(
                "'{program}' is not one of the desktop's installed apps{}, and launch.programs is installed; \
                 the owner can add it to launch.allow",
                similar_apps(&starting.similar)
            ),
            Programs::None => format!("launch.programs is none, and '{program}' is not in launch.allow"),
        };
        Err(Error::new(Kind::PermissionDenied, refusal).with("program", program.as_str()))
    }
}

fn similar_apps(ids: &[String]) -> String {
    if ids.is_empty() { String::new() } else { format!(" (try {})", ids.join(", ")) }
}

fn list_contains(names: &[String], name: &str) -> bool {
    names.iter().any(|listed| listed == name)
}

fn permission_denied(message: String) -> Result<()> {
    Err(Error::new(Kind::PermissionDenied, message))
}

/// Known names that begin like the unknown one, whatever its case and separators.
fn similar_names(name: &str, known: &[&str]) -> String {
    let beginning: String = name.to_lowercase().replace(['-', ' ', '.'], "_").chars().take(4).collect();
    let near: Vec<&str> = known
        .iter()
        .copied()
        .filter(|known| !beginning.is_empty() && known.starts_with(&beginning))
        .collect();
    if near.is_empty() { String::new() } else { format!("; near it are {}", near.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(json: &str) -> Policy {
        serde_json::from_str(json).unwrap()
    }

    #[track_caller]
    fn check(json: &str, tool: &str, group: &str, implied: &[&str], refusal: Option<&str>) {
        let answer = policy(json).check(tool, group, implied);
        let expected = refusal.map(|message| Error::new(Kind::PermissionDenied, message));
        assert_eq!(answer.err(), expected, "{json} {tool}");
    }

    #[test]
    fn nothing_configured_allows_everything() {
        check("{}", "type_text", "keyboard", &[], None);
        check(r#"{"default":"allow"}"#, "type_text", "keyboard", &[], None);
    }

    #[test]
    fn a_denied_tool_is_named() {
        let json = r#"{"deny":["type_text"]}"#;
        check(json, "type_text", "keyboard", &[], Some("tool 'type_text' is in actions.deny"));
        check(json, "press_key", "keyboard", &[], None);
    }

    #[test]
    fn a_denied_part_denies_the_whole() {
        check(
            r#"{"deny":["type_text"]}"#,
            "type_and_observe",
            "composite",
            &["type_text", "observe_window"],
            Some("tool 'type_and_observe' contains 'type_text', which is in actions.deny"),
        );
    }

    #[test]
    fn a_group_stands_for_its_tools() {
        check(
            r#"{"deny":["keyboard"]}"#,
            "type_text",
            "keyboard",
            &[],
            Some("tool 'type_text' belongs to the group 'keyboard', which is in actions.deny"),
        );
        check(r#"{"allow":["keyboard"]}"#, "type_text", "keyboard", &[], None);
    }

    #[test]
    fn an_allow_list_means_it_unless_told_otherwise() {
        let refusal = Some("neither the tool 'click_at' nor its group 'pointer' is in actions.allow");
        check(r#"{"allow":["type_text"]}"#, "click_at", "pointer", &[], refusal);
        check(r#"{"allow":["type_text"],"default":"deny"}"#, "click_at", "pointer", &[], refusal);
        check(r#"{"default":"deny"}"#, "click_at", "pointer", &[], refusal);
        check(r#"{"allow":["type_text"],"default":"allow"}"#, "click_at", "pointer", &[], None);
        check(r#"{"allow":["type_text"]}"#, "type_text", "keyboard", &[], None);
    }

    #[test]
    fn a_denial_beats_an_allowance() {
        let json = r#"{"allow":["type_text"],"deny":["type_text"]}"#;
        check(json, "type_text", "keyboard", &[], Some("tool 'type_text' is in actions.deny"));
    }

    #[test]
    fn an_allowed_composite_needs_no_listing_of_its_parts() {
        check(r#"{"allow":["type_and_observe"]}"#, "type_and_observe", "composite", &["type_text"], None);
    }

    #[test]
    fn misspelt_names_are_reported_with_what_is_near() {
        let policy = policy(r#"{"allow":["pointer"],"deny":["Type-Txt","zzz"]}"#);
        assert_eq!(
            policy.unknown_names(&["type_text", "type_and_observe", "click_at", "pointer"]),
            [
                "actions.deny denies 'Type-Txt', which is not a tool or a group; near it are type_text, \
                 type_and_observe",
                "actions.deny denies 'zzz', which is not a tool or a group",
            ]
        );
    }

    fn starting(program: &str, installed: bool, similar: &[&str]) -> Starting {
        let similar = similar.iter().map(ToString::to_string).collect();
        Starting { program: program.to_owned(), installed, similar, command: Vec::new() }
    }

    #[test]
    fn a_refused_program_has_similar_apps() {
        let refusal = |similar: &[&str]| {
            let launching = Launching { programs: Programs::Installed, allow: Vec::new() };
            launching.check_one(&starting("soffice", false, similar)).unwrap_err().message
        };
        assert!(refusal(&["libreoffice-calc", "b"]).contains("(try libreoffice-calc, b)"));
        assert!(!refusal(&[]).contains("try"));
    }

    #[track_caller]
    fn check_program(programs: Programs, allow: &[&str], installed: bool, expected: bool) {
        let launching = Launching { programs, allow: allow.iter().map(ToString::to_string).collect() };
        let starting = starting("xterm", installed, &[]);
        assert_eq!(launching.check_one(&starting).is_ok(), expected, "{launching:?} {installed}");
    }

    #[test]
    fn programs_are_started_as_far_as_the_config_lets_them() {
        check_program(Programs::Installed, &[], true, true);
        check_program(Programs::Installed, &[], false, false);
        check_program(Programs::Installed, &["xterm"], false, true);
        check_program(Programs::Any, &[], false, true);
        check_program(Programs::None, &[], true, false);
        check_program(Programs::None, &["xterm"], true, true);
        check_program(Programs::None, &["/usr/bin/xterm"], true, false);
    }

    #[test]
    fn another_default_is_refused() {
        assert!(serde_json::from_str::<Policy>(r#"{"default":"block"}"#).is_err());
    }
}
