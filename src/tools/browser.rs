//! Pages of a browser: opening and leaving them, giving them files. Tabs, dialogs, elements, waits and screenshots are
//! what they are on every desktop.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::common::{Dialog, QuietWindowArgs, millis, new_dialogs, seen_after};
use crate::error::{Error, Kind, Result};
use crate::model::page::{ChooserFiles, HistoryStep, LONGEST_ADDRESS, PageAddress, PageVisit, ShownPage};
use crate::model::{InputAim, InputKind, InputText, RecordedInput};
use crate::observer::{ResolvedWindow, WindowChoice};
use crate::tool::args::{Int, Text};
use crate::tool::person::Person;
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Target, Tool};

/// A site of the mock desktop.
pub const EXAMPLE_SITE: &str = "scenarios/web.yaml";

const DEFAULT_WAIT_MS: usize = 15_000;

/// How much of a page is shown to a model that has just opened it.
const FIRST_LOOK_TOKENS: usize = 1200;

pub struct OpenUrl;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct OpenUrlArgs {
    /// http://… or https://…
    url: Text<LONGEST_ADDRESS>,
    /// Default false.
    new_tab: Option<bool>,
    /// Default: tab in front.
    window_uid: Option<Text<256>>,
    /// Default load.
    wait: Option<LoadWait>,
    #[schemars(extend("x-hidden" = true))]
    timeout_ms: Option<Int<100, 120_000>>,
}

/// How long a page is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoadWait {
    Load,
    None,
}

/// Whether it names a scheme, be it one that is not opened. `127.0.0.1:80` and `example.org` have none.
fn is_full_address(text: &str) -> bool {
    let scheme = text.trim().split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|each| each.is_ascii_alphanumeric() || "+-".contains(each))
    };
    scheme.is_some_and(is_scheme)
}

impl OpenUrlArgs {
    fn address(&self) -> Result<PageAddress> {
        let text = self.url.as_str();
        PageAddress::parse(text).map_err(|why| {
            let kind = if is_full_address(text) { Kind::PermissionDenied } else { Kind::BadRequest };
            Error::new(kind, format!("argument 'url': {why}")).with("field", "url")
        })
    }

    /// The tab that is to show it; none for a new one.
    fn tab(&self, cx: &Cx) -> Result<Option<ResolvedWindow>> {
        if self.new_tab == Some(true) {
            return Ok(None);
        }
        let uid = self.window_uid.as_ref().map(|uid| uid.as_str().to_owned());
        let choice = WindowChoice { uid, ..WindowChoice::default() };
        match cx.observer().choose_in(&cx.desktop()?, &choice) {
            Ok(chosen) => Ok(Some(chosen)),
            // With the last tab closed there is still a browser.
            Err(error) if error.kind == Kind::WindowGone && choice.is_empty() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A page that was opened.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct PageOpened {
    window_uid: String,
    title: String,
    url: String,
    /// What the server answered, as 200 or 404.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// It has not arrived as a whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    loading: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
    new_dialogs: Vec<Dialog>,
    duration_ms: u64,
    /// Nothing was opened: the page of before asks first.
    #[serde(skip)]
    asks_first: bool,
    #[serde(skip)]
    lean: Option<String>,
}

impl Output for PageOpened {
    fn take_lean(&mut self) -> Option<String> {
        self.lean.take()
    }

    fn changed(&self) -> Option<bool> {
        (!self.dry_run).then_some(true)
    }
}

impl PageOpened {
    fn dry(window_uid: String) -> Self {
        let note = Some("dry run: nothing was opened".to_owned());
        Self { window_uid, note, dry_run: true, ..Self::default() }
    }

    /// The page as it is, with what a model would look at next.
    fn new(cx: &mut Cx, tool: &str, page: ShownPage, began: Duration) -> Result<Self> {
        let before = cx.desktop()?;
        let after = cx.observer().windows();
        let after = seen_after(cx, after)?.unwrap_or_default();
        let new_windows = new_dialogs(before.windows(), after);
        let new_dialogs =
            new_windows.into_iter().filter(|window| window.window_uid != page.window_uid).collect();
        let ShownPage { window_uid, title, url, status, loading, asks_first, note } = page;
        let mut opened = Self {
            window_uid,
            title,
            url,
            status,
            loading,
            note,
            dry_run: false,
            new_dialogs,
            duration_ms: 0,
            asks_first,
            lean: None,
        };
        if cx.lean && !cx.in_list {
            opened.lean = Some(opened.lines(cx, tool));
        }
        opened.duration_ms = millis(cx.clock().now().saturating_sub(began));
        Ok(opened)
    }

    /// One line on the page, and the first lines of a look at it.
    fn lines(&self, cx: &Cx, tool: &str) -> String {
        let status = self.status.map_or(String::new(), |status| format!(" {status}"));
        let note = self.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        let line = match self.asks_first {
            // The tab has the address that it is asked about already.
            true => format!("{tool}: not yet, the tab still shows {:?}{note}", self.title),
            false => format!("{tool}: done,{status} {:?} {}{note}", self.title, self.url),
        };
        let mut args = Map::new();
        args.insert("window_uid".to_owned(), json!(self.window_uid));
        args.insert("max_tokens".to_owned(), json!(FIRST_LOOK_TOKENS));
        let look = cx.pass("look", args, &Person::default());
        match look.outline.as_ref().filter(|_| look.ok()) {
            Some(lines) => format!("{line}\n{lines}"),
            None => line,
        }
    }
}

impl Tool for OpenUrl {
    type Args = OpenUrlArgs;
    type Out = PageOpened;
    const META: Meta = Meta {
        name: "open_url",
        group: Group::Browser,
        lean: true,
        web: true,
        effect: Effect::Input,
        untrusted: true,
        rest: &[(Method::Post, "/api/browser/open")],
        brief: "Open an address in a tab and wait until it is loaded.",
        detail: "Pages of http and https and about:blank; an address with a password in it is refused. It waits up to \
                 `timeout_ms` (15000, at most 120000) for the page; one that goes on loading is answered with \
                 `loading`, one that never answers is a Timeout, and one that cannot be reached NavigationFailed. An \
                 address that is a file becomes a download. The answer has the title, the address that is shown after \
                 redirects, and the server's status; in the profiles `agent` and `web` also the first lines of a \
                 look. Consent rules see the address as the role `Url`.",
        examples: &[Example {
            scenario: Some(EXAMPLE_SITE),
            args: r#"{"url":"https://shop.example/cart"}"#,
            shows: "the cart of the scenario's shop",
        }],
        verify: &["ok", "status", "error.code"],
        input: Some(
            RecordedInput::new(InputKind::OpenUrl, InputAim::Window).with_text(InputText::Argument("url")),
        ),
        ..Meta::DEFAULT
    };

    fn targets(_: &Cx, args: &OpenUrlArgs) -> Result<Vec<Target>> {
        Ok(vec![Target::Url(args.address()?.as_str().to_owned())])
    }

    fn run(cx: &mut Cx, args: OpenUrlArgs, mut permit: Permit) -> Result<PageOpened> {
        let began = cx.clock().now();
        let address = args.address()?;
        let tab = args.tab(cx)?.map(|chosen| chosen.window.uid);
        if permit.dry_run() {
            return Ok(PageOpened::dry(tab.unwrap_or_default()));
        }
        let visit = PageVisit {
            address,
            window_uid: tab,
            waits_for_load: args.wait != Some(LoadWait::None),
            at_most: Duration::from_millis(args.timeout_ms.map_or(DEFAULT_WAIT_MS, Int::as_usize) as u64),
        };
        cx.desktop()?;
        let page = cx.observer().visit_page(&mut permit, &visit, cx.cancel)?;
        PageOpened::new(cx, Self::META.name, page, began)
    }
}

pub struct PageHistory;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct PageHistoryArgs {
    /// Which way.
    go: HistoryWay,
    #[serde(flatten)]
    window: QuietWindowArgs,
    #[schemars(extend("x-hidden" = true))]
    timeout_ms: Option<Int<100, 120_000>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HistoryWay {
    Back,
    Forward,
    Reload,
    Stop,
}

impl HistoryWay {
    const fn step(self) -> HistoryStep {
        match self {
            HistoryWay::Back => HistoryStep::Back,
            HistoryWay::Forward => HistoryStep::Forward,
            HistoryWay::Reload => HistoryStep::Reload,
            HistoryWay::Stop => HistoryStep::Stop,
        }
    }
}

impl Tool for PageHistory {
    type Args = PageHistoryArgs;
    type Out = PageOpened;
    const META: Meta = Meta {
        name: "page_history",
        group: Group::Browser,
        lean: true,
        web: true,
        effect: Effect::Input,
        untrusted: true,
        rest: &[(Method::Post, "/api/browser/history")],
        brief: "Go back or forward in a tab, load its page again, or stop loading.",
        detail: "It waits up to `timeout_ms` (15000, at most 120000) for the page, and answers as open_url does. A page \
                 may ask before it is left: the question is in `new_dialogs`. A page that came of a form is not sent for \
                 again: its address is opened, and `note` says so.",
        examples: &[Example {
            scenario: Some(EXAMPLE_SITE),
            args: r#"{"go":"reload"}"#,
            shows: "the page that is shown, loaded again",
        }],
        verify: &["ok", "status", "error.code"],
        input: Some(
            RecordedInput::new(InputKind::PageHistory, InputAim::Window).with_text(InputText::Argument("go")),
        ),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &PageHistoryArgs) -> Result<Vec<Target>> {
        let chosen = cx.observer().choose_in(&cx.desktop()?, &args.window.window_choice())?;
        cx.judged_window(&chosen, args.go.step().name())
    }

    fn run(cx: &mut Cx, args: PageHistoryArgs, mut permit: Permit) -> Result<PageOpened> {
        let began = cx.clock().now();
        let chosen = match permit.target().and_then(Target::element) {
            Some(target) => target.chosen.clone(),
            None => cx.observer().choose_in(&cx.desktop()?, &args.window.window_choice())?,
        };
        if permit.dry_run() {
            return Ok(PageOpened::dry(chosen.window.uid));
        }
        let at_most = Duration::from_millis(args.timeout_ms.map_or(DEFAULT_WAIT_MS, Int::as_usize) as u64);
        let page = cx.observer().step_history(&mut permit, &chosen, args.go.step(), at_most, cx.cancel)?;
        PageOpened::new(cx, Self::META.name, page, began)
    }
}

pub struct ChooseFiles;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ChooseFilesArgs {
    /// In the folder that the user shares; none closes the chooser.
    #[schemars(length(max = 50))]
    paths: Vec<Text<1024>>,
    /// Default: the chooser that is open.
    window_uid: Option<Text<256>>,
}

impl ChooseFilesArgs {
    fn chosen(&self, cx: &Cx) -> Result<ChooserFiles> {
        let names: Vec<String> = self.paths.iter().map(|path| path.as_str().to_owned()).collect();
        cx.observer().chooser_files(self.window_uid.as_ref().map(Text::as_str), &names)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct FilesChosen {
    window_uid: String,
    /// How many files the page got.
    files: usize,
    /// The field of the page took them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
}

impl Output for FilesChosen {}

impl Tool for ChooseFiles {
    type Args = ChooseFilesArgs;
    type Out = FilesChosen;
    const META: Meta = Meta {
        name: "choose_files",
        group: Group::Browser,
        web: true,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/browser/files")],
        brief: "Give files to the page whose file chooser is open.",
        detail: "A click on a file field opens a chooser, which is a window. Files come from below the folder \
                 `browser.upload_root` and from nowhere else; a path is absolute or counts from that folder. Consent \
                 rules see each file as the role `File`, also where its name is written into the chooser.",
        examples: &[Example {
            scenario: Some(EXAMPLE_SITE),
            args: r#"{"paths":[]}"#,
            shows: "the chooser of the page is closed",
        }],
        verify: &["ok", "files", "error.code"],
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &ChooseFilesArgs) -> Result<Vec<Target>> {
        let ChooserFiles { window_uid, files } = args.chosen(cx)?;
        let choice = WindowChoice { uid: Some(window_uid), ..WindowChoice::default() };
        let chooser = cx.observer().choose_in(&cx.desktop()?, &choice)?;
        let deed = if files.is_empty() { "cancel" } else { "open" };
        let files = files.iter().map(|file| Target::File(file.display().to_string()));
        Ok(files.chain(cx.judged_window(&chooser, deed)?).collect())
    }

    fn run(cx: &mut Cx, args: ChooseFilesArgs, mut permit: Permit) -> Result<FilesChosen> {
        let chosen = args.chosen(cx)?;
        let files = chosen.files.len();
        let window_uid = chosen.window_uid.clone();
        if permit.dry_run() {
            let note = Some("dry run: nothing was chosen".to_owned());
            return Ok(FilesChosen { window_uid, files, verified: false, note, dry_run: true });
        }
        cx.observer().choose_files(&mut permit, &chosen, cx.cancel)?;
        let note = (files == 0).then(|| "the chooser was closed without a file".to_owned());
        Ok(FilesChosen { window_uid, files, verified: files > 0, note, dry_run: false })
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<OpenUrl>(), Spec::of::<PageHistory>(), Spec::of::<ChooseFiles>()];
