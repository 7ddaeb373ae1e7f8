//! Which tools exist, one file per group, each ending in its `TOOLS`.

mod act;
mod apps;
mod assert_state;
mod browser;
mod browser_files;
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
mod found_lines;
mod jobs;
mod keyboard;
mod look;
mod observe;
mod pointer;
mod read_page;
mod scenarios;
mod screenshot;
mod screenshot_options;
mod sketch;
mod traces;
mod typed_field;
mod typed_lines;
mod vision;
mod wait_for;
mod web_tasks;
mod window_action;
mod windows;
mod zoom;

use crate::config::Profile;
use crate::model::RecordedInput;
use crate::tool::{DesktopShows, Selection, Spec, Table};

/// All tools, in the order in which the docs and `tools/list` show them.
pub fn all_tools() -> impl Iterator<Item = Spec> {
    [
        look::TOOLS,
        act::TOOLS,
        browser::TOOLS,
        read_page::TOOLS,
        browser_files::TOOLS,
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
        jobs::TOOLS,
        web_tasks::TOOLS,
        scenarios::TOOLS,
        assert_state::TOOLS,
        traces::TOOLS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The tools that a selection leaves on a desktop that is no browser.
pub fn table(selection: &Selection) -> Table {
    table_of(selection, DesktopShows::Programs)
}

/// The tools that a selection leaves; those for pages are listed where there are pages.
pub fn table_of(selection: &Selection, shows: DesktopShows) -> Table {
    Table::new(selection, shows, all_tools())
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
        check(Profile::Web, "", &["click_at", "open_url"], &["load_scenario"]);
        check(Profile::Observe, "", &["list_windows"], &["click_at", "type_text"]);
        check(Profile::Observe, "+pointer,-scroll", &["click_at"], &["scroll", "type_text"]);
    }

    #[test]
    fn tools_for_pages_are_listed_where_there_are_pages() {
        let lists = |profile, shows, tool| table_of(&selection(profile, "").unwrap(), shows).is_listed(tool);
        for profile in [Profile::Full, Profile::Agent, Profile::Web] {
            assert!(lists(profile, DesktopShows::Pages, "open_url"), "{profile:?}");
            assert!(lists(profile, DesktopShows::Both, "open_url"), "{profile:?}");
            assert!(!lists(profile, DesktopShows::Programs, "open_url"), "{profile:?}");
        }
        assert!(lists(Profile::Agent, DesktopShows::Programs, "launch_app"));
        assert!(lists(Profile::Agent, DesktopShows::Both, "launch_app"));
        assert!(!lists(Profile::Agent, DesktopShows::Pages, "launch_app"));
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
