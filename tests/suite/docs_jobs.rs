//! The tables of docs/jobs.md against the types. `UPDATE_DOCS=1 cargo test --test suite docs_` makes them anew.

use crate::support::{project, read};
use os_screen_observer::jobs::tables::jobs_page;

#[test]
fn the_tables_of_jobs_are_fresh() {
    let page = read("docs/jobs.md");
    let fresh = jobs_page(&page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(project().join("docs/jobs.md"), fresh).unwrap();
        return;
    }
    assert!(page == fresh, "docs/jobs.md is stale: UPDATE_DOCS=1 cargo test --test suite docs_");
    let tables = ["limits", "statuses", "reasons", "events"];
    assert!(tables.iter().all(|name| page.contains(&format!("<!-- generated: {name} -->"))));
}
