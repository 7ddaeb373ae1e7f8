//! Several inputs in one call: foreseen together, run one by one through the gate, each with what is expected of
//! it, and answered once.

mod expect;
mod lines;
mod plan;
mod report;
mod run;
mod step_window;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::fields::ArgumentObject;
use crate::config::limits::ACT_STEPS;
use crate::error::Result;
use crate::tool::args::{Int, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Permit, ReplyKind, Spec, Tool};
use plan::ActPlan;
use report::{ActReport, DesktopBefore};
use run::StepRunner;

const DEFAULT_TIME: Duration = Duration::from_secs(45);

pub struct ActTool;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ActArgs {
    /// {do:TOOL, its arguments…, expect?, within_ms?, on_fail?}. TOOL acts (also drag{from,to}), waits or asserts.
    /// expect: "changed", "text: WORDS" (whole), "text_contains: PART", "window: TITLE" (new), "gone: e12", "value: TEXT", assert_state predicates or
    /// wait_for conditions, all met in within_ms (3000).
    #[schemars(length(max = ACT_STEPS))]
    steps: Vec<ArgumentObject>,
    /// {NAME:[steps]}: run in place of a step that fails with on_fail:NAME.
    alternatives: Option<ArgumentObject>,
    /// Of all steps; default focused.
    window_uid: Option<Text<256>>,
    /// Time limit of all steps together; default 45000.
    #[schemars(extend("x-hidden" = true))]
    timeout_ms: Option<Int<1, 600_000>>,
    /// Full replies of the steps instead of a summary.
    #[schemars(extend("x-hidden" = true))]
    full: Option<bool>,
}

impl Tool for ActTool {
    type Args = ActArgs;
    type Out = ActReport;
    const META: Meta = Meta {
        name: "act",
        group: Group::Act,
        effect: Effect::Input,
        reply: ReplyKind::Tree,
        untrusted: true,
        steps: true,
        lean: true,
        web: true,
        waits: true,
        traced: false,
        fits: true,
        shows_gate_args: true,
        rest: &[(Method::Post, "/api/act")],
        brief: "Run several steps in one call, stopping at the first that fails; reports what changed.",
        detail: "Every step is parsed, checked against the allow list and, if its element exists already, \
                 resolved before the first runs; a call that is refused then has done nothing. A step fails \
                 when its tool fails, when an assertion does not hold, or when an expectation is not met in \
                 time (`within_ms`, default 3000; several are checked one after the other). Nothing runs \
                 after a failed step, except the alternative that it names. A step is `confirmed` when the \
                 expected effect came after it, or when its field reads back the value that was set, else \
                 `unconfirmed`; what held before the step confirms nothing (`held_before`), and neither does \
                 the focus of what was clicked. The verdict of all is that of the worst step; `failed` is an \
                 error. Consent, budget and the stop switch apply to each step; missing consent in the \
                 middle stops there. The lines below the reply show what changed in the window, and windows \
                 that opened.",
        examples: &[
            Example {
                scenario: Some("scenarios/login.yaml"),
                args: r#"{"steps":[{"do":"set_value","selector":"//Edit[name=\"Username\"]","value":"ann"},{"do":"set_value","selector":"//Edit[name=\"Password\"]","value":"x","expect":"changed"}]}"#,
                shows: "two fields filled in, the second confirmed",
            },
            Example {
                scenario: None,
                args: r#"{"steps":[{"do":"press_key","keys":"end"},{"do":"assert_state","predicates":[{"kind":"window_focused","title_regex":"Notepad"}]}],"dry_run":true}"#,
                shows: "what would be done, without doing it",
            },
        ],
        verify: &["ok", "verdict"],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: ActArgs, permit: Permit) -> Result<ActReport> {
        let mut plan = ActPlan::read(cx, &args.steps, args.alternatives.as_ref(), args.window_uid.as_ref())?;
        plan.check_all(cx, permit.dry_run())?;
        if permit.dry_run() {
            return Ok(ActReport::of_plan(cx, &plan));
        }
        let before = DesktopBefore::look_before(cx, &plan, args.window_uid.as_ref().map(Text::as_str))?;
        let time = args.timeout_ms.map_or(DEFAULT_TIME, |time| Duration::from_millis(time.as_usize() as u64));
        let mut runner = StepRunner::new(cx, time, args.full == Some(true));
        let outcome = runner.run(&plan)?;
        Ok(ActReport::new(cx, outcome, before))
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<ActTool>()];
