//! The example of CONTRIBUTING.md, compiled, so that it stays true.

use schemars::JsonSchema;
use serde::Serialize;

use super::common::WindowArgs;
use crate::error::Result;
use crate::tool::{
    Cx, DesktopShows, Example, Group, Meta, Method, Output, Permit, Selection, Spec, Table, Tool,
};

// example:begin
pub struct CountElements;

#[derive(Debug, Serialize, JsonSchema)]
pub struct Counted {
    window_uid: String,
    elements: usize,
}

impl Output for Counted {}

impl Tool for CountElements {
    type Args = WindowArgs;
    type Out = Counted;
    const META: Meta = Meta {
        name: "count_elements",
        group: Group::Elements,
        rest: &[(Method::Get, "/api/count_elements")],
        brief: "How many elements a window has.",
        detail: "Counts the whole tree, however little of it is shown.",
        examples: &[Example { scenario: None, args: "{}", shows: "the elements of the focused window" }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: WindowArgs, _: Permit) -> Result<Counted> {
        let chosen = cx.observer().resolve_window(&args.window_choice())?;
        cx.warning = chosen.warning.clone();
        let view = cx.observer().look_at(&chosen, cx.cancel)?.view;
        Ok(Counted { window_uid: chosen.window.uid, elements: view.tree().len() })
    }
}
// example:end

#[test]
fn contributing_shows_this_code() {
    let own = include_str!("example.rs");
    let code = own.split("// example:begin\n").nth(1).and_then(|rest| rest.split("// example:end").next());
    assert!(
        include_str!("../../CONTRIBUTING.md").contains(code.unwrap()),
        "CONTRIBUTING.md shows other code"
    );
}

#[test]
fn one_line_offers_it() {
    let table =
        Table::new(&Selection::default(), DesktopShows::Programs, [Spec::of::<CountElements>()].into_iter());
    let entry = table.find_tool("count_elements").unwrap();
    assert!(entry.schema()["properties"]["window_uid"].is_object());
}
