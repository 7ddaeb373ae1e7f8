//! Which tools exist, one file per group, each ending in its `TOOLS`.

mod act;
mod apps;
mod assert_state;
mod capabilities;
mod click_text;
mod clipboard;
mod common;
mod composite;
mod consent;
mod cursor;
mod element_actions;
#[cfg(test)]
mod example;
mod exec;
mod fields;
mod find_element;
mod keyboard;
mod look;
mod observe;
mod pointer;
mod scenarios;
mod screenshot;
mod screenshot_options;
mod sketch;
mod traces;
mod typed_field;
mod vision;
mod wait_for;
mod window_action;
mod windows;
mod zoom;

use crate::config::Profile;
use crate::model::RecordedInput;
use crate::tool::{Selection, Spec, Table};

/// All tools, in the order in which the docs and `tools/list` show them.
pub fn all_tools() -> impl Iterator<Item = Spec> {
    [
        look::TOOLS,
        act::TOOLS,
        windows::TOOLS,
        window_action::TOOLS,
        apps::TOOLS,
        exec::TOOLS,
        find_element::TOOLS,
        sketch::TOOLS,
        screenshot::TOOLS,
        zoom::TOOLS,
        click_text::TOOLS,
        element_actions::TOOLS,
        pointer::TOOLS,
        cursor::TOOLS,
        keyboard::TOOLS,
        clipboard::TOOLS,
        wait_for::TOOLS,
        composite::TOOLS,
        observe::TOOLS,
        vision::TOOLS,
        capabilities::TOOLS,
        consent::TOOLS,
        scenarios::TOOLS,
        assert_state::TOOLS,
        traces::TOOLS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The tools that a selection leaves.
pub fn table(selection: &Selection) -> Table {
    Table::new(selection, all_tools())
}

/// Reads which tools are wanted: a profile, and changes like `+group,-tool`.
pub fn selection(profile: Profile, changes: &str) -> Result<Selection, String> {
    Selection::parse(profile, changes, &all_tools().collect::<Vec<_>>())
}

/// What a recorded call of a tool becomes in a scenario.
pub fn recorded_input(name: &str) -> Option<RecordedInput> {
    all_tools().find(|spec| spec.meta.name == name).and_then(|spec| spec.meta.input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(profile: Profile, changes: &str, present: &[&str], absent: &[&str]) {
        let table = table(&selection(profile, changes).unwrap());
        for name in present {
            assert!(table.find_tool(name).is_some(), "{name} is missing with {profile:?} {changes}");
        }
        for name in absent {
            assert!(table.find_tool(name).is_none(), "{name} is there with {profile:?} {changes}");
        }
    }

    #[test]
    fn profiles_choose_and_changes_correct() {
        check(Profile::Full, "", &["list_windows", "click_at", "load_scenario"], &[]);
        check(Profile::Agent, "", &["click_at"], &["load_scenario"]);
        check(Profile::Agent, "+harness", &["load_scenario"], &[]);
        check(Profile::Observe, "", &["list_windows"], &["click_at", "type_text"]);
        check(Profile::Observe, "+pointer,-scroll", &["click_at"], &["scroll", "type_text"]);
    }

    #[test]
    fn advice_leads_to_a_tool_that_exists() {
        let known = |name: &str| all_tools().any(|spec| spec.meta.name == name);
        let wrong = all_tools().filter_map(|spec| spec.meta.advise_instead).find(|name| !known(name));
        assert_eq!(wrong, None);
    }

    /// Text on the screen that asks for one of them is found by its name, wherever it would be carried out.
    #[test]
    fn a_table_knows_what_it_does_not_offer() {
        let table = table(&selection(Profile::Observe, "").unwrap());
        assert!(table.declared_names().eq(all_tools().map(|spec| spec.meta.name)));
    }

    #[test]
    fn unknown_words_are_named() {
        let error = selection(Profile::Full, "-clik_at").unwrap_err();
        assert!(error.contains("did you mean 'click_at'"), "{error}");
    }
}
