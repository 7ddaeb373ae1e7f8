//! What a tool is: one declaration that every reader shares.
//!
//! A tool is a type that implements [`Tool`] beside its `Args` and `Out`. From it come the MCP entry
//! with its annotations, the REST route, the function schema, the docs, the gate's defaults and the
//! tests that replay its examples. Nothing else in the program is keyed by a tool's name.

mod advice;
pub mod args;
pub mod call;
mod caller;
pub mod cx;
pub mod gate_args;
mod input_targets;
pub mod job_board;
pub mod lean;
pub mod object;
pub mod person;
pub mod recorded;
pub mod reply;
pub mod resource;
pub mod schema;
pub mod scope;
pub mod services;
mod table;
pub mod typed;
mod words;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use caller::{Caller, Foreseen, Foresight, Proposal};
pub use cx::Cx;
pub use gate_args::GateArgs;
pub use reply::{Encoded, Output};
pub use resource::{Resource, ResourceContent};
pub use services::Services;
pub use table::{DesktopShows, Selection, Table, TableEntry};

use crate::budget::Meter;
use crate::config::{Config, Secret};
use crate::error::{Error, Result};
use crate::model::RecordedInput;
pub use crate::observer::{ConsentRules, ElementTarget, Permit, Starting, Target, TargetOrigin};

pub trait Tool: 'static {
    type Args: DeserializeOwned + schemars::JsonSchema + Send + 'static;
    type Out: Output + schemars::JsonSchema + Send + 'static;
    const META: Meta;

    /// What the call would touch, resolved before anything is done, so that the gate can judge it: the
    /// element that is meant comes first, whatever else the input would reach after it.
    fn targets(_cx: &Cx, _args: &Self::Args) -> Result<Vec<Target>> {
        Ok(Vec::new())
    }

    fn run(cx: &mut Cx, args: Self::Args, permit: Permit) -> Result<Self::Out>;
}

/// The facts of a tool that are not its types.
#[derive(Debug)]
pub struct Meta {
    pub name: &'static str,
    pub group: Group,
    pub effect: Effect,
    pub reply: ReplyKind,
    /// Text from the screen is in the reply: it is marked, and a client should not obey it.
    pub untrusted: bool,
    /// Always allowed, also when a list or a spent budget refuses the rest: an agent can always ask why.
    pub always: bool,
    /// The contract's route, method by method.
    pub rest: &'static [Rest],
    /// One promise, in the first words a model reads.
    pub brief: &'static str,
    /// What more a person wants to know; docs only.
    pub detail: &'static str,
    pub examples: &'static [Example],
    /// Calls that the examples need before them: tool and arguments.
    pub before_examples: &'static [(&'static str, &'static str)],
    /// Basic tools that this one contains: denying one of them denies this.
    pub implies: &'static [&'static str],
    /// A list of other calls: each passes the gate by itself, so this one uses nothing up and is not in traces.
    pub steps: bool,
    /// That it succeeds says that something was looked for and found.
    pub confirms: bool,
    /// One of the few that an agent needs; the profile `agent` lists these alone.
    pub lean: bool,
    /// One of the few that an agent in a browser needs; the profile `web` lists these alone.
    pub web: bool,
    /// Of no use where there are only the pages of a browser.
    pub needs_programs: bool,
    /// Writes its data as lines itself, for a model that reads them.
    pub writes_lines: bool,
    /// Shown in tools/list; a tool that is not can still be called by those who know it.
    pub listed: bool,
    /// What has to be switched on by the config and opened by a secret of the caller's; listed only then.
    pub lock: Option<fn(&Config) -> Lock<'_>>,
    /// What has to be switched on by the config; listed only then.
    pub switch: Option<fn(&Config) -> Switch>,
    /// Refuses arguments that it does not know, as what acts does: a misspelt limit would be none.
    pub strict: bool,
    /// Takes `max_tokens`: the gate fits the reply into them.
    pub fits: bool,
    /// Of a tool that acts: `dry_run` is in its published schema, and what `confirm_token` is. The others take the first
    /// unsaid, and list the second without a word.
    pub shows_gate_args: bool,
    /// `dry_run` is, for those who are shown all arguments: the contract lists it.
    pub lists_dry_run: bool,
    /// The tool that errors name to a client that is not shown this one.
    pub advise_instead: Option<&'static str>,
    /// Written into a running trace.
    pub traced: bool,
    /// What a recorded call becomes in a scenario; nothing for a tool that sends no input.
    pub input: Option<RecordedInput>,
    /// Sleeps most of its time, until the desktop changes. Such calls do not take the places of others.
    pub waits: bool,
    /// Where two runs of the same call must agree, as paths into the reply; what a replay compares. A path that
    /// ends in `>0` stands for whether that number is positive.
    pub verify: &'static [&'static str],
    /// Where the answer can be read without a call of the caller's own.
    pub resource: Option<Resource>,
    /// The page that shows the answer to a person, in clients that show pages.
    pub app: Option<&'static str>,
}

impl Meta {
    /// What most tools are: they look, answer with data, and a replay compares whether they worked.
    pub const DEFAULT: Meta = Meta {
        name: "",
        group: Group::Session,
        effect: Effect::Observe,
        reply: ReplyKind::Data,
        untrusted: false,
        always: false,
        rest: &[],
        brief: "",
        detail: "",
        examples: &[],
        before_examples: &[],
        implies: &[],
        steps: false,
        confirms: false,
        lean: false,
        web: false,
        needs_programs: false,
        writes_lines: false,
        listed: true,
        lock: None,
        switch: None,
        strict: false,
        fits: false,
        shows_gate_args: false,
        lists_dry_run: false,
        advise_instead: None,
        traced: true,
        input: None,
        waits: false,
        verify: &["ok"],
        resource: None,
        app: None,
    };
}

/// Groups are what a person does, not when a tool was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// See, find and act, in as few calls and words as can be.
    Act,
    /// Pages; listed where the desktop is a browser.
    Browser,
    Windows,
    Programs,
    Elements,
    Screen,
    Pointer,
    Keyboard,
    Watch,
    Session,
    /// Goals that a planner works toward.
    Jobs,
    Harness,
}

impl Group {
    pub const ALL: [Group; 12] = [
        Group::Act,
        Group::Browser,
        Group::Windows,
        Group::Programs,
        Group::Elements,
        Group::Screen,
        Group::Pointer,
        Group::Keyboard,
        Group::Watch,
        Group::Session,
        Group::Jobs,
        Group::Harness,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Group::Act => "act",
            Group::Browser => "browser",
            Group::Windows => "windows",
            Group::Programs => "programs",
            Group::Elements => "elements",
            Group::Screen => "screen",
            Group::Pointer => "pointer",
            Group::Keyboard => "keyboard",
            Group::Watch => "watch",
            Group::Session => "session",
            Group::Jobs => "jobs",
            Group::Harness => "harness",
        }
    }
}

/// What a tool does to the world. Annotations, budget, REST method and the need for a permit follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Looks, and leaves everything as it is.
    Observe,
    /// Moves, clicks, types.
    Input,
    /// Changes only what this server itself remembers.
    Session,
    /// Starts or ends programs, runs commands.
    System,
}

impl Effect {
    pub const fn read_only(self) -> bool {
        matches!(self, Effect::Observe)
    }

    pub const fn is_destructive(self) -> bool {
        matches!(self, Effect::Input | Effect::System)
    }

    pub const fn is_idempotent(self) -> bool {
        matches!(self, Effect::Observe)
    }

    pub const fn acts(self) -> bool {
        matches!(self, Effect::Input | Effect::System)
    }
}

/// What the reply is made of. Trees and pictures carry no output schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyKind {
    Data,
    Tree,
    Picture,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

/// A REST route: method and path.
pub type Rest = (Method, &'static str);

/// A call that works as written on its scenario; the docs show it and a test replays it.
#[derive(Debug)]
pub struct Example {
    /// A file in `scenarios/`, or the default desktop.
    pub scenario: Option<&'static str>,
    pub args: &'static str,
    pub shows: &'static str,
}

/// How a tool is kept from those who may not use it.
#[derive(Debug)]
pub struct Lock<'a> {
    pub enabled: bool,
    /// The config key that enables it.
    pub switch: &'static str,
    pub key: Option<&'a Secret>,
    /// The config key that holds the key.
    pub key_name: &'static str,
}

/// What turns a tool on.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    pub enabled: bool,
    /// The config key that enables it.
    pub key: &'static str,
}

impl Meta {
    /// Whether clients are told of the tool.
    pub fn is_listed(&self, config: &Config) -> bool {
        self.listed && self.is_open(config)
    }

    /// Whether it can be used here at all, by those who know it.
    pub fn is_open(&self, config: &Config) -> bool {
        let open = |lock: fn(&Config) -> Lock<'_>| {
            let lock = lock(config);
            lock.enabled && lock.key.is_some()
        };
        self.lock.is_none_or(open) && self.switch.is_none_or(|switch| switch(config).enabled)
    }

    /// Whether a reply or a refusal of it has text from the screen. What acts tells what it touched.
    pub fn shows_the_screen(&self) -> bool {
        self.untrusted || self.effect.acts()
    }

    pub fn open_world(&self) -> bool {
        self.shows_the_screen()
    }

    /// What a call of this tool uses up.
    pub fn meters(&self) -> &'static [Meter] {
        match (self.effect, self.reply) {
            _ if self.steps => &[],
            (Effect::Input | Effect::System, _) => &[Meter::Action],
            // What is shown to get a consent is free.
            (Effect::Observe, ReplyKind::Picture) => &[Meter::Screenshot],
            _ => &[],
        }
    }

    pub fn declares_output(&self) -> bool {
        self.reply == ReplyKind::Data
    }

    /// Whether a model that reads lines is told in one what came of it: it acted, or looked for something.
    pub fn is_told_in_a_line(&self) -> bool {
        self.declares_output() && (self.effect.acts() || self.confirms)
    }
}

/// From checked arguments to a call that can be resolved and run.
type Parse = fn(Map<String, Value>) -> Result<Box<dyn Prepared>>;

/// A declared tool with its types erased: what tables hold.
#[derive(Clone, Copy)]
pub struct Spec {
    pub meta: &'static Meta,
    input: fn() -> Value,
    output: fn() -> Value,
    reply: fn() -> Value,
    parse: Parse,
}

impl Spec {
    pub const fn of<T: Tool>() -> Spec {
        Spec {
            meta: &T::META,
            input: schema::raw_schema::<T::Args>,
            output: schema::raw_schema::<T::Out>,
            reply: schema::exact_schema::<T::Out>,
            parse: parse::<T>,
        }
    }

    /// Every argument, also the ones that the published schema leaves out.
    pub fn full_input_schema(&self) -> Value {
        let mut schema = (self.input)();
        gate_args::add_properties(self.meta, &mut schema);
        schema
    }

    /// What is shown of the arguments, except to a model that reads few words.
    pub fn input_schema(&self) -> Value {
        self.listed_schema(schema::Detail::Full)
    }

    pub fn listed_schema(&self, detail: schema::Detail) -> Value {
        schema::published_schema(self.full_input_schema(), detail)
    }

    pub fn output_schema(&self) -> Option<Value> {
        self.meta
            .declares_output()
            .then(|| schema::output_schema(schema::published_schema((self.output)(), schema::Detail::Lean)))
    }

    /// All that is known of a reply's own fields, for readers whom tokens do not cost.
    pub fn reply_schema(&self) -> Value {
        (self.reply)()
    }

    /// Checked arguments: the gate's own, and the tool's, ready to be resolved and run. `schema` is this spec's full
    /// input schema.
    pub fn parse(&self, schema: &Value, args: Value) -> Result<(GateArgs, Box<dyn Prepared>)> {
        let strict = self.meta.effect.acts() || self.meta.strict;
        let unknown = if strict { args::Unknown::Refused } else { args::Unknown::Ignored };
        let args::Checked { mut args, notes } = args::check(schema, args, unknown)?;
        let own = GateArgs { notes, ..GateArgs::split_off(self.meta, &mut args) };
        Ok((own, (self.parse)(args)?))
    }
}

impl std::fmt::Debug for Spec {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Spec").field("name", &self.meta.name).finish()
    }
}

/// A call whose arguments are understood. It runs with a permit:
///
/// ```
/// use os_screen_observer::{error::Result, tool::{Cx, Permit, Prepared}};
///
/// fn run(call: Box<dyn Prepared>, cx: &mut Cx, permit: Permit) -> Result<()> {
///     call.run(cx, permit).map(drop)
/// }
/// ```
///
/// and only the gate makes one, because a permit's fields are its own:
///
/// ```compile_fail,E0451
/// use os_screen_observer::{error::Result, tool::{Cx, Permit, Prepared}};
///
/// fn run(call: Box<dyn Prepared>, cx: &mut Cx) -> Result<()> {
///     let permit = Permit { reservation: None, targets: Vec::new(), dry_run: false };
///     call.run(cx, permit).map(drop)
/// }
/// ```
///
/// ```compile_fail,E0061
/// use os_screen_observer::{error::Result, tool::{Cx, Permit, Prepared}};
///
/// fn run(call: Box<dyn Prepared>, cx: &mut Cx, permit: Permit) -> Result<()> {
///     call.run(cx).map(drop)
/// }
/// ```
pub trait Prepared: Send {
    fn targets(&self, cx: &Cx) -> Result<Vec<Target>>;
    /// The tool's arguments as they were checked: what a consent is bound to.
    fn arguments(&self) -> &Map<String, Value>;
    fn run(self: Box<Self>, cx: &mut Cx, permit: Permit) -> Result<Box<dyn reply::ErasedOutput>>;
}

struct PreparedCall<T: Tool> {
    args: T::Args,
    said: Map<String, Value>,
}

fn parse<T: Tool>(said: Map<String, Value>) -> Result<Box<dyn Prepared>> {
    let args = T::Args::deserialize(&said).map_err(|problem| Error::bad_request(problem.to_string()))?;
    Ok(Box::new(PreparedCall::<T> { args, said }))
}

impl<T: Tool> Prepared for PreparedCall<T> {
    /// A click or a key in a file chooser may hand files to a page, whichever tool sends it.
    fn targets(&self, cx: &Cx) -> Result<Vec<Target>> {
        let mut targets = T::targets(cx, &self.args)?;
        if cx.judged && T::META.effect.acts() {
            targets.extend(cx.observer().files_behind(&targets));
        }
        Ok(targets)
    }

    fn arguments(&self) -> &Map<String, Value> {
        &self.said
    }

    fn run(self: Box<Self>, cx: &mut Cx, permit: Permit) -> Result<Box<dyn reply::ErasedOutput>> {
        Ok(Box::new(T::run(cx, self.args, permit)?))
    }
}
