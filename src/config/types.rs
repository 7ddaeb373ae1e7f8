//! What the configuration holds, section by section, with the built-in defaults.
//!
//! Values only: reading, checking and merging are `merge`'s. A key is declared here and nowhere else: its comment is
//! its row in docs/configuration.md, after `=` stands the default, after `=>` what it accepts (`keys::KeyRule`) and
//! whether it is a guard or a secret, after the second `=>` what a file in the working folder may do to it
//! (`folder::FolderRule`).

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::folder::FolderRule::*;
use super::hosts::HostRule;
use super::keys::KeyRule::*;
use super::keys::{
    ANY_PORT, Key, KeyRule, MAYBE_COUNT, MAYBE_TEXT, UP_TO_A_MILLION, guard, plain, secret, secret_guard,
};
use super::limits;
use super::origins::PageOrigin;
use super::secret::{Endpoint, Secret};

/// A section of the configuration: the struct, its defaults and its keys.
macro_rules! section {
    ($(#[$meta:meta])* pub struct $name:ident in $section:literal {
        $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr => $accepts:expr => $in_folder:expr,)+
    }) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $name {
            const KEYS: &'static [Key] = &[
                $(Key::new(concat!($section, ".", stringify!($field)), concat!($($doc),+), $accepts, $in_folder),)+
            ];
        }
    };
}

/// The whole configuration: sections, and keys that stand at the top level.
macro_rules! config {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[doc = $doc:literal])* $kind:ident $field:ident: $type:ty $(= $accepts:expr => $in_folder:expr)?,)+
    }) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $doc])* pub $field: $type,)+
        }

        impl $name {
            /// In the order of the documentation.
            pub(super) const KEYS: &'static [&'static [Key]] =
                &[$(config!(@$kind [$($doc),*] $field $type $(, $accepts, $in_folder)?),)+];
        }
    };
    (@section [] $field:ident $type:ty) => { <$type>::KEYS };
    (@key [$($doc:literal),+] $field:ident $type:ty, $accepts:expr, $in_folder:expr) => {
        &[Key::new(stringify!($field), concat!($($doc),+), $accepts, $in_folder)]
    };
}

config! {
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Config {
        section web_ui: WebUi,
        section clickthrough: Clickthrough,
        section screenjob: Screenjob,
        section mcp: Mcp,
        section ocr: Ocr,
        section vlm: Vlm,
        section ascii_sketch: AsciiSketch,
        section tree: TreeReading,
        section logging: Logging,
        section audit: Audit,
        /// Work on the mock desktop and touch nothing real.
        key mock: bool = guard(Flag) => Trusted,
        /// `auto`, `Windows`, `Darwin`, `Linux` or `WSL` (the desktop of Windows around it, by PowerShell:
        /// [linux.md](linux.md#wsl)); any other name means the mock desktop.
        key platform: PlatformChoice = guard(Word) => Trusted,
        section actions: Actions,
        /// Elements that are touched only with the user's consent.
        key confirmation_required: Option<Vec<ConfirmationRule>> = guard(Optional(&Confirmations)) => More,
        section confirmation: Confirmation,
        section redaction: Redaction,
        section tracing: Tracing,
        section jobs: Jobs,
        section planner: Planner,
        section wait_for: WaitFor,
        section scenarios: Scenarios,
        section screenshots: Screenshots,
        section budgets: Budgets,
        section secrets: NamedSecrets,
        section apps: AppAccess,
        section sandbox: Sandbox,
        section browser: BrowserConfig,
        section launch: Launching,
        section exec: Exec,
        section input: InputBounds,
    }
}

impl Config {
    /// A platform that nobody knows means the mock: better a pretended desktop than a wrong real one.
    pub fn wants_mock(&self) -> bool {
        self.mock || !self.platform.is_known()
    }

    pub fn confirmation_rules(&self) -> &[ConfirmationRule] {
        self.confirmation_required.as_deref().unwrap_or_default()
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct WebUi in "web_ui" {
        /// Address to bind.
        host: String = "127.0.0.1".to_owned() => plain(Word) => Trusted,
        /// Port to bind; 0 takes a free one.
        port: u16 = 5001 => plain(ANY_PORT) => Trusted,
        /// Accepted for old files; it has no effect.
        debug: bool = false => plain(Flag) => Harmless,
        /// Origins whose pages may call this server from a browser; `"*"` means all.
        cors_origins: Vec<String> = Vec::new() => plain(Texts) => Trusted,
        /// Names besides loopback ones by which this server may be called, such as that of a container: `oso` with any
        /// port, `oso:5001` with this one. Requests for other names are refused.
        hosts: Vec<String> = Vec::new() => guard(Texts) => Fewer,
        /// The token that a caller must send: at least 8 visible ASCII characters, or `auto` for a random
        /// one that the server generates and keeps. `OSO_TOKEN` overrides it. Without one the server listens
        /// only on addresses that other machines cannot reach.
        token: Option<Secret> = None => secret_guard(MAYBE_TEXT) => Trusted,
        /// File of the automatic token, readable only by its owner; null: `os-screen-observer/http-token` in
        /// the user's state folder. `~` and `$VAR` are replaced.
        token_file: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
    }
}

section! {
    /// The Clickthrough-compatible API, on its own port.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Clickthrough in "clickthrough" {
        /// Whether it is served. `CLICKTHROUGH_HOST` and `CLICKTHROUGH_PORT` enable it too.
        enabled: bool = false => plain(Flag) => Switch(false),
        /// Address to bind.
        host: String = "127.0.0.1".to_owned() => plain(Word) => Trusted,
        /// Port to bind; 0 takes a free one.
        port: u16 = 8123 => plain(ANY_PORT) => Trusted,
        /// The token that a caller must send as `x-clickthrough-token`: at least 8 visible ASCII characters.
        /// Null: the token of `web_ui`, if there is one.
        token: Option<Secret> = None => secret_guard(MAYBE_TEXT) => Trusted,
        /// Make every action through this API a dry run.
        dry_run: bool = false => guard(Flag) => Switch(true),
        /// Rows of the grid on a screenshot.
        grid_rows: u32 = 12 => plain(Integer(1, 300)) => Harmless,
        /// Columns of it.
        grid_cols: u32 = 12 => plain(Integer(1, 300)) => Harmless,
    }
}

section! {
    /// The ScreenJob-compatible API, on its own port.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Screenjob in "screenjob" {
        /// Whether it is served; it needs `jobs.enabled`, which `--screenjob` sets too.
        enabled: bool = false => plain(Flag) => Switch(false),
        /// Address to bind.
        host: String = "127.0.0.1".to_owned() => plain(Word) => Trusted,
        /// Port to bind; 0 takes a free one.
        port: u16 = 8787 => plain(ANY_PORT) => Trusted,
        /// The token that a caller must send, at least 8 visible ASCII characters; without one it is not served.
        token: Option<Secret> = None => secret_guard(MAYBE_TEXT) => Trusted,
        /// The model of jobs that name none.
        default_model: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// Serve no page there: `/` then answers `{"ui_disabled": true}`. Also `DISABLE_UI` beside `--screenjob`.
        disable_ui: bool = false => plain(Flag) => Switch(true),
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Mcp in "mcp" {
        /// The name in the answer to `initialize`.
        server_name: String = "os-screen-observer".to_owned() => plain(Word) => Trusted,
        /// The version there and in `get_capabilities`.
        version: String = "0.1.0".to_owned() => plain(Word) => Trusted,
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Ocr in "ocr" {
        /// false: OCR is off, and tools that need it report that.
        enabled: bool = true => plain(Flag) => Switch(false),
        /// The program, if it is not found as `tesseract`; quotes around it are trimmed, `~` and `$VAR` replaced.
        tesseract_cmd: Option<PathBuf> = None => plain(Optional(&Path)) => Trusted,
        /// Words with less confidence are left out.
        min_confidence: f64 = 30.0 => plain(Number(0.0, 100.0)) => Harmless,
        /// Convert the image to grey and stretch its contrast first.
        preprocess: bool = true => plain(Flag) => Harmless,
        /// Upscale it by this factor first.
        upscale: u32 = 2 => plain(Integer(1, 8)) => Lower,
        /// Tesseract's page mode for a window.
        psm_window: u32 = 11 => plain(Integer(0, 13)) => Harmless,
        /// Its page mode for an element that has no name, read alone for a sketch.
        psm_roi: u32 = 7 => plain(Integer(0, 13)) => Harmless,
        /// How many unnamed elements one sketch reads; a warning says when there were more.
        max_roi_crops: usize = 40 => plain(UP_TO_A_MILLION) => Lower,
        /// Any other name switches the overlay off.
        backend: String = "tesseract".to_owned() => plain(Word) => Trusted,
        /// Time limit for one image, or for all elements of a sketch together; then the engine is ended.
        timeout_s: f64 = 30.0 => plain(Number(0.1, 600.0)) => Lower,
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Vlm in "vlm" {
        /// Whether to use a vision model.
        enabled: bool = false => plain(Flag) => Switch(false),
        /// Its server. Messages show it without a login.
        base_url: Endpoint = Endpoint::new("http://localhost:3000") => secret(KeyRule::Endpoint) => Trusted,
        /// Its API key; default: `OWUI_API_KEY` from the environment. Never shown.
        api_key: Option<Secret> = None => secret(MAYBE_TEXT) => Trusted,
        /// The model's name.
        model: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// Maximum length of an answer.
        max_tokens: u32 = 1500 => plain(Integer(1, 1_000_000)) => Lower,
        /// One request, or several that build on each other.
        mode: VlmMode = VlmMode::Single => plain(OneOf(&["single", "multipass"])) => Trusted,
        /// For the first pass; else `vlm.model`.
        model_fast: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// For the pass over possible actions; else `vlm.model`.
        model_actions: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// For the verifying pass; without it that pass is skipped.
        model_verify: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// The model's sampling temperature.
        temperature: f64 = 0.1 => plain(Number(0.0, 2.0)) => Trusted,
        /// Seconds to wait for an answer.
        timeout_s: f64 = 240.0 => plain(Number(0.1, 3600.0)) => Lower,
        /// The longer side of the image that is sent.
        image_max_dim: u32 = 1600 => plain(Integer(16, 16_384)) => Lower,
        /// Include the tree.
        ground_with_tree: bool = true => plain(Flag) => Switch(false),
        /// Include the text that OCR read.
        ground_with_ocr: bool = true => plain(Flag) => Switch(false),
        /// Include the sketch.
        ground_with_sketch: bool = true => plain(Flag) => Switch(false),
        /// Include the focused element.
        ground_with_focus: bool = true => plain(Flag) => Switch(false),
        /// Truncate the tree to this.
        tree_max_lines: usize = 80 => plain(UP_TO_A_MILLION) => Lower,
        /// Truncate the text to this.
        ocr_max_chars: usize = 4000 => plain(UP_TO_A_MILLION) => Lower,
        /// Truncate the sketch to this.
        sketch_max_chars: usize = 6000 => plain(UP_TO_A_MILLION) => Lower,
        /// Replaces the built-in prompt. Its old name `prompt` still works.
        prompt_single: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// The same for the first pass.
        prompt_scene: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// The same for the pass over controls.
        prompt_controls: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// The same for the pass over actions.
        prompt_actions: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// The same for the verifying pass.
        prompt_verify: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// The command that runs Ollama, such as `["ollama"]`: `models --pull NAME`, and `models --pick` after a
        /// yes, add `pull NAME` to it and run it. Only for a person at a terminal; the server never runs it.
        ollama_runner: Option<Vec<String>> = None => plain(Optional(&Texts)) => Trusted,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VlmMode {
    #[default]
    Single,
    Multipass,
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct AsciiSketch in "ascii_sketch" {
        /// Default number of columns.
        grid_width: usize = 110 => plain(Integer(1, limits::SKETCH_SIDE as u64)) => Harmless,
        /// Default number of rows.
        grid_height: usize = 38 => plain(Integer(1, limits::SKETCH_SIDE as u64)) => Harmless,
        /// Box-drawing characters; false: `+`, `-` and a bar.
        unicode_box: bool = true => plain(Flag) => Harmless,
        /// `[x]`, `(•)`, `▼` and bars instead of the role's name.
        role_glyphs: bool = true => plain(Flag) => Harmless,
        /// Leave out what a later sibling covers.
        occlusion_prune: bool = true => plain(Flag) => Harmless,
        /// Circled numbers in focus order.
        tab_index_badges: bool = true => plain(Flag) => Harmless,
        /// Label tool bars, menus and dialogs on their top edge.
        landmark_headers: bool = true => plain(Flag) => Harmless,
        /// *Later*: ask a vision model where the tree is empty.
        vlm_fallback: bool = false => plain(Flag) => Harmless,
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct TreeReading in "tree" {
        /// The most levels below the root that a call can get.
        max_depth: usize = 8 => plain(Integer(1, limits::TREE_DEPTH as u64)) => Harmless,
        /// Default number of levels. Reduced to `max_depth`, with a notice.
        default_depth: usize = 5 => plain(Integer(0, limits::TREE_DEPTH as u64)) => Harmless,
        /// Reading tools may reuse a tree this many seconds; acting tools never do.
        cache_ttl_s: f64 = 2.0 => plain(Number(0.0, 3600.0)) => Lower,
        /// *Later*: how Windows gathers a tree.
        strategy: TreeStrategy = TreeStrategy::Merged => plain(OneOf(&["merged", "uia_only"])) => Harmless,
        /// With fewer named elements the reply says `degraded`.
        sparse_threshold: usize = 5 => plain(UP_TO_A_MILLION) => Harmless,
    }
}

/// How the tree is gathered on Windows; the other platforms have one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeStrategy {
    #[default]
    Merged,
    UiaOnly,
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Logging in "logging" {
        /// How much is logged to stderr. `WARN`, `CRITICAL` and `FATAL` are accepted; `RUST_LOG` overrides
        /// it.
        level: LogLevel = LogLevel::Info => plain(OneOf(&["TRACE", "DEBUG", "INFO", "WARNING", "ERROR"])) => Trusted,
        /// Write one line for each call, including refused ones. While the file cannot be written, inputs
        /// are refused and reading goes on; up to 1000 lines wait and are written when that is possible
        /// again, before anything acts.
        audit: bool = false => guard(Flag) => Switch(true),
        /// The file, readable only by its owner. If it is a link or not a regular file, the server refuses
        /// to start.
        audit_path: PathBuf = PathBuf::from("./audit.log") => guard(Path) => Trusted,
        /// The file is rotated before it exceeds this.
        audit_max_bytes: u64 = 10 << 20 => plain(Integer(1024, i64::MAX as u64)) => Trusted,
        /// How many rotated files are kept; 0: never rotate.
        audit_backups: u32 = 3 => plain(Integer(0, 1000)) => Trusted,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "UPPERCASE")]
pub enum LogLevel {
    Trace,
    Debug,
    #[default]
    Info,
    #[value(alias = "warn")]
    Warning,
    #[value(alias = "critical")]
    Error,
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Audit in "audit" {
        /// Arguments that are left out of the lines, at any depth.
        redact_arg_keys: Vec<String> =
            ["text", "value", "password", "api_key", "Authorization", "confirm_token"].map(str::to_owned).into()
            => guard(Texts) => More,
    }
}

/// The platform's name as written. The adapters decide what it means; here only the known names count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlatformChoice(pub String);

impl PlatformChoice {
    pub const KNOWN: [&str; 5] = ["auto", "Windows", "Darwin", "Linux", "WSL"];

    pub fn is_known(&self) -> bool {
        Self::KNOWN.contains(&self.0.as_str())
    }
}

impl Default for PlatformChoice {
    fn default() -> Self {
        Self("auto".to_owned())
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Actions in "actions" {
        /// The only tools that may be called, unless `default` says otherwise.
        allow: Vec<String> = Vec::new() => guard(Texts) => AllowList,
        /// Tools that may not be called.
        deny: Vec<String> = Vec::new() => guard(Texts) => More,
        /// What happens to tools in neither list. null: allow, or deny once `allow` names anything.
        default: Option<PolicyVerdict> = None => guard(Optional(&OneOf(&["allow", "deny"]))) => Stricter(&["allow", "deny"]),
        /// What is done to an element of a covered window that does not do it by itself, unless the call says it.
        /// `background`: it is refused. `foreground`: the window is brought to the front.
        delivery: Delivery = Delivery::Background => guard(OneOf(&["background", "foreground"])) => Stricter(&["foreground", "background"]),
    }
}

/// What an input may take from the person at the desktop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    // Nothing: the element does it by itself, or the input is refused.
    Background,
    // The focus, the front of the screen and the pointer, where the element does not do it by itself.
    #[default]
    Foreground,
}

impl Actions {
    /// What happens to a tool that neither list names. Whoever writes an allow list and no default means
    /// "these and no others".
    pub fn verdict_on_unlisted(&self) -> PolicyVerdict {
        let implied = if self.allow.is_empty() { PolicyVerdict::Allow } else { PolicyVerdict::Deny };
        self.default.unwrap_or(implied)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyVerdict {
    Allow,
    Deny,
}

/// An element that matches every condition given here is touched only with a confirmation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfirmationRule {
    pub role: Option<String>,
    pub name_regex: Option<String>,
    /// On pages of this origin alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<PageOrigin>,
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Confirmation in "confirmation" {
        /// How far an element may have moved since consent was given.
        bbox_tolerance_px: u32 = 20 => guard(Integer(0, 10_000)) => Lower,
        /// Who gives consent: the agent in two steps, the person through the client, or the person in the
        /// web inspector.
        mode: ConfirmationMode = ConfirmationMode::Token => guard(OneOf(&["token", "ask", "inspector"])) => Stricter(&["token", "ask", "inspector"]),
        /// `consent`: every input needs consent while [the screen addresses an
        /// agent](security-injection.md#consent-on-suspicion).
        on_suspicion: OnSuspicion = OnSuspicion::Off => guard(OneOf(&["off", "consent"])) => Stricter(&["off", "consent"]),
        /// How long that lasts after such a text was last shown.
        suspicion_seconds: u64 = 600 => guard(Integer(1, 86_400)) => Higher,
        /// If there are rules: an input by coordinates or focus into a window that does not expose all of
        /// its elements needs consent. `off`: it is judged by what could be read.
        on_unread: OnUnread = OnUnread::Consent => guard(OneOf(&["consent", "off"])) => Stricter(&["off", "consent"]),
        /// How long a consent stays valid.
        ttl_seconds: u64 = 60 => guard(Integer(1, 600)) => Lower,
    }
}

/// What becomes of an input by place or focus into a window that does not tell all of its elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnUnread {
    /// It needs consent, wherever there are rules.
    #[default]
    Consent,
    /// It is judged by what could be read.
    Off,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnSuspicion {
    /// It is marked, and nothing else.
    #[default]
    Off,
    /// Every input needs consent.
    Consent,
}

/// Who says yes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfirmationMode {
    /// The agent, in two steps: propose_action gives a token for exactly one call.
    #[default]
    Token,
    /// The person, asked through the MCP client.
    Ask,
    /// The person, asked in the web inspector, whatever the client can do.
    Inspector,
}

section! {
    /// Secrets that an agent may use by name without seeing them.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct NamedSecrets in "secrets" {
        /// The file with the secrets. If it is missing, readable by other users or invalid, the server
        /// refuses to start.
        file: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
        /// Where a secret may be typed: `{"ACME_PASSWORD": [{"role": "Edit", "name_regex": "(?i)password"}]}`. A
        /// secret that is not named here may go anywhere.
        allow: BTreeMap<String, Vec<SecretRule>> = BTreeMap::new() => guard(SecretRules) => Trusted,
    }
}

/// An element that matches every condition given here may receive the secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecretRule {
    pub role: Option<String>,
    pub name_regex: Option<String>,
    pub window_title_regex: Option<String>,
    /// On pages of this origin alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<PageOrigin>,
}

section! {
    /// Which programs may be started.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Launching in "launch" {
        /// `installed`: what the desktop offers in its menus, and what `launch.allow` names. `any`: every program.
        /// `none`: only what `launch.allow` names.
        programs: Programs = Programs::default() => guard(OneOf(&["installed", "any", "none"])) => Stricter(&["any", "installed", "none"]),
        /// Programs and app ids that may be started too, exactly as a caller writes them.
        allow: Vec<String> = Vec::new() => guard(Texts) => Fewer,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Programs {
    /// What the desktop offers to people.
    #[default]
    Installed,
    Any,
    None,
}

section! {
    /// Commands of a shell.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Exec in "exec" {
        /// Enables `exec_command`. Without a secret it stays refused.
        enabled: bool = false => guard(Flag) => Switch(false),
        /// The secret that a caller must send, at least 12 characters; with a shorter one the server refuses
        /// to start. Best set in the environment: `OSO_EXEC__SECRET`.
        secret: Option<Secret> = None => secret_guard(MAYBE_TEXT) => Trusted,
        /// The shell when the call names none.
        default_shell: Shell = Shell::Bash => plain(OneOf(&["bash", "sh", "powershell", "cmd"])) => Trusted,
        /// How long a command may run when the call does not say.
        timeout_s: u64 = 30 => plain(Integer(1, 600)) => Lower,
        /// The longest that it may run; a longer timeout is reduced, with a warning.
        max_timeout_s: u64 = 120 => guard(Integer(1, 600)) => Lower,
        /// How much of each output is returned; the rest is dropped.
        max_output_chars: usize = 20_000 => plain(Integer(1, 1_000_000)) => Lower,
        /// Folders, with their subfolders, that commands may be started in; empty for anywhere. The first is
        /// the default. It limits where a command starts, not what it may open.
        roots: Vec<PathBuf> = Vec::new() => guard(Texts) => Trusted,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    #[default]
    Bash,
    Sh,
    Powershell,
    Cmd,
}

section! {
    /// Where input may go.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct InputBounds in "input" {
        /// The part of the screen that input is confined to ([windows and
        /// programs](windows-and-programs.md#the-allowed-region)): `[0, 0, 800, 600]` or the text `0,0,800,600`.
        allowed_region: Option<[i32; 4]> = None => guard(Optional(&Region)) => Inside,
        /// How long after an input no other server may act on the same X11 display ([two
        /// servers](linux.md#two-servers-on-one-desktop)); 0: only while a call acts.
        lease_s: u64 = 60 => plain(Integer(0, 3600)) => Trusted,
        /// A selector that matches several elements: `refuse`, `first` (the first is taken, and `warning` names the
        /// others), or `auto`: refused in `act` and in the profile `agent`, elsewhere the first.
        ambiguous_selectors: AmbiguousSelectors = AmbiguousSelectors::Auto => plain(OneOf(&["auto", "refuse", "first"])) => Stricter(&["first", "auto", "refuse"]),
    }
}

/// What becomes of a selector that matches several elements where one is acted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AmbiguousSelectors {
    /// Refused where a model writes selectors, taken as the contract says elsewhere.
    #[default]
    Auto,
    Refuse,
    First,
}

section! {
    /// The private desktop that `--sandbox` starts.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Sandbox in "sandbox" {
        /// The size of its screen, in pixels.
        size: Size = Size::default() => plain(ScreenSize) => Harmless,
        /// How far its programs are kept from everything else ([linux.md](linux.md#isolation)). `strict`: own home and
        /// `/tmp`, the system read-only, no other process, no network; where that is not possible, it does not start.
        /// `home`: the files alone. `off`: nothing. `auto`: `strict` where that is possible, else `off`, with a warning.
        isolate: Isolate = Isolate::Auto => guard(OneOf(&["auto", "strict", "home", "off"])) => Stricter(&["off", "home", "auto", "strict"]),
        /// Let isolated programs use the network. They then also reach what listens on this machine: servers on loopback
        /// and sockets with abstract names, such as your display.
        network: bool = false => guard(Flag) => Switch(false),
        /// Folders and files that isolated programs may read too, beside the system's. `~` and `$VAR` are not replaced.
        share: Vec<PathBuf> = Vec::new() => guard(Texts) => Trusted,
        /// Folders that its programs may write, at the same path (`--share`): what they save there stays. Their own home is
        /// deleted with the server.
        writable: Vec<PathBuf> = Vec::new() => guard(Texts) => Trusted,
    }
}

/// How far the programs of a private desktop are kept from everything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolate {
    /// Strict where that is possible, else off, and said.
    #[default]
    Auto,
    /// Files, processes, shared memory and network; or no private desktop.
    Strict,
    /// Files alone; or no private desktop.
    Home,
    Off,
}

section! {
    /// Which applications may be seen and operated.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct AppAccess in "apps" {
        /// The only applications that may be seen and operated, unless `default` says otherwise. It also opens what is
        /// denied without being named ([security.md](security.md#applications)).
        allow: Vec<AppRule> = Vec::new() => guard(AppRules) => Trusted,
        /// Applications for which a person is asked, once in a session.
        ask: Vec<AppRule> = Vec::new() => guard(AppRules) => Trusted,
        /// Applications that may be neither seen nor operated.
        deny: Vec<AppRule> = Vec::new() => guard(AppRules) => More,
        /// What happens to applications in no list. null: allow, or deny once `allow` names anything.
        default: Option<AppVerdict> = None => guard(Optional(&OneOf(&["allow", "ask", "deny"]))) => Trusted,
    }
}

impl AppAccess {
    /// What happens to an application that no list names.
    pub fn verdict_on_unlisted(&self) -> AppVerdict {
        let implied = if self.allow.is_empty() { AppVerdict::Allow } else { AppVerdict::Deny };
        self.default.unwrap_or(implied)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AppVerdict {
    Allow,
    Ask,
    Deny,
}

/// An application, and maybe one window of it: every condition given here holds. Names count whatever their case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AppRule {
    /// Any of the names below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The name of the program: its file, or its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desktop_id: Option<String>,
    /// One of the two names in `WM_CLASS`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_regex: Option<String>,
}

section! {
    /// The browser that `--browser` starts.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct BrowserConfig in "browser" {
        /// The program, by its name or its path; null: the first of Chromium, Chrome, Edge and
        /// chromium-headless-shell that is found.
        executable: Option<String> = None => guard(MAYBE_TEXT) => Trusted,
        /// Keep the browser's own sandbox around pages. It does not start as root and in some containers; without
        /// it a page that breaks out of its process has the rights of this server.
        sandbox: bool = true => guard(Flag) => Switch(true),
        /// The folder whose files pages may be given, with all that is in it; null: none.
        upload_root: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
        /// Where downloads that were kept go; null: a private folder that ends with the server.
        downloads_dir: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
        /// How large a download may be, in megabytes; a larger one is cancelled.
        download_mb: u64 = 100 => guard(Integer(1, 100_000)) => Lower,
        /// The size of a page, in pixels.
        size: Size = Size::default() => plain(ScreenSize) => Harmless,
        /// The only hosts that pages may reach ([browser.md](browser.md#the-network)): names, `*.domain`, addresses,
        /// networks such as `10.0.0.0/8`, each maybe with `:port`; `*` is every public one. Empty: every public one.
        /// A private address has to be named here.
        network_allow: Vec<HostRule> = Vec::new() => guard(Hosts) => Trusted,
        /// Hosts that pages may not reach, whatever else is allowed.
        network_deny: Vec<HostRule> = Vec::new() => guard(Hosts) => More,
        /// The profile, in which cookies and logins stay ([browser.md](browser.md#your-own-login)); null: a guest, of
        /// which nothing stays.
        profile: Option<String> = None => guard(Optional(&Word)) => Trusted,
        /// Folder of the profiles; null: `os-screen-observer/browser-profiles` in the user's data folder. `~` and `$VAR`
        /// are replaced.
        profiles_dir: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
        /// A folder of a browser to use as it is, instead of a profile; default: `BROWSER_USER_DATA_DIR` from the
        /// environment. `~` and `$VAR` are replaced.
        user_data_dir: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
        /// The folder below which pages may be opened as `file:`; null: none. `~` and `$VAR` are not replaced.
        file_root: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
    }
}

/// Of a screen, in pixels; written `1280x800`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Size {
    pub width: u16,
    pub height: u16,
}

impl Size {
    pub const LEAST: Size = Size { width: 320, height: 200 };
    pub const MOST: Size = Size { width: 7680, height: 4320 };

    pub fn parse(text: &str) -> Option<Self> {
        let (width, height) = text.split_once('x')?;
        let size = Size { width: width.parse().ok()?, height: height.parse().ok()? };
        let fits = (Self::LEAST.width..=Self::MOST.width).contains(&size.width)
            && (Self::LEAST.height..=Self::MOST.height).contains(&size.height);
        fits.then_some(size)
    }
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 1280, height: 800 }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}x{}", self.width, self.height)
    }
}

impl From<Size> for String {
    fn from(size: Size) -> String {
        size.to_string()
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Size::parse(&text).ok_or_else(|| format!("{text} is not a size like 1280x800"))
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Redaction in "redaction" {
        /// Whether the patterns below are applied.
        enabled: bool = true => guard(Flag) => Switch(true),
        /// A window with such a title shows none of its texts; roles and bounds stay.
        window_title_patterns: Vec<String> = Vec::new() => guard(Patterns) => More,
        /// A page or a frame of such an origin (`https://bank.example`) shows none of its texts; a tab of one has
        /// neither title nor address.
        origins: Vec<PageOrigin> = Vec::new() => guard(Origins) => More,
        /// An element with such a name shows no text.
        element_name_patterns: Vec<String> = Vec::new() => guard(Patterns) => More,
        /// An element with such a role shows no text.
        element_role_patterns: Vec<String> = Vec::new() => guard(Patterns) => More,
        /// Matches are replaced in every string of every reply, wherever it came from.
        ocr_text_patterns: Vec<String> = Vec::new() => guard(Patterns) => More,
        /// What is shown instead.
        replacement: String = "[REDACTED]".to_owned() => guard(Text) => Trusted,
        /// Black out secret and redacted elements in screenshots; of those that only contain matching text,
        /// the ones without children.
        blur_screenshots: bool = false => guard(Flag) => Switch(true),
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Tracing in "tracing" {
        /// Folder of the traces, and the only one that `replay_start` reads from. Must not be a link.
        dir: PathBuf = PathBuf::from("./traces") => plain(Path) => Trusted,
        /// Screenshots of the screen and the window with the first call and every n-th; 0: none. They count
        /// against `budgets.max_screenshots`.
        screenshot_every_n_actions: u32 = 5 => plain(UP_TO_A_MILLION) => Trusted,
        /// Longer arguments are truncated, with a mark.
        max_args_bytes: usize = 4096 => plain(Integer(0, 16 << 20)) => Lower,
        /// Arguments that are not recorded.
        redact_keys: Vec<String> =
            ["api_key", "password", "Authorization", "token", "confirm_token"].map(str::to_owned).into()
            => guard(Texts) => More,
    }
}

section! {
    /// Jobs.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Jobs in "jobs" {
        /// Run jobs in this server: the tools and routes of jobs, and workers for them.
        enabled: bool = false => guard(Flag) => Switch(false),
        /// Folder of the job store (`jobs.db`) and of what recorded jobs leave (`runs`); default: `jobs` in the user's
        /// folder for data, because a job that waits there is run.
        dir: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
        /// How many jobs run at once, each on its own desk. On the real desktop it is one.
        workers: u64 = 1 => plain(Integer(1, 64)) => Lower,
        /// The desk of a job: as the server's own, a mock, a private desktop, or a browser.
        desk: JobDesk = JobDesk::Same => plain(OneOf(&["same", "mock", "sandbox", "browser"])) => Trusted,
        /// Desks that a job may choose for itself: `mock`, `sandbox`, `desktop`, `browser`.
        desks: Vec<String> = Vec::new() => guard(Texts) => Fewer,
        /// Folder of the scripts and scenarios that clients may name; none if not set.
        scripts: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
        /// Browser profiles that web tasks and sessions may name ([web-tasks.md](web-tasks.md)): whoever may start a task
        /// acts with the logins of these.
        profiles: Vec<String> = Vec::new() => guard(Texts) => Fewer,
        /// Hosts that may be told the end of a web task; written as in `browser.network_allow`. Empty: none. A private
        /// address has to be named here.
        webhook_hosts: Vec<HostRule> = Vec::new() => guard(Hosts) => Trusted,
        /// What webhooks are signed with; without it none are sent. Never shown.
        webhook_secret: Option<Secret> = None => secret(MAYBE_TEXT) => Trusted,
    }
}

/// Where the jobs of a server work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobDesk {
    #[default]
    Same,
    Mock,
    Sandbox,
    Browser,
}

/// A desk that a job has to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnDesk {
    Mock,
    /// A private desktop.
    Sandbox,
    /// The real one.
    Desktop,
    Browser,
}

impl OwnDesk {
    pub const ALL: [OwnDesk; 4] = [OwnDesk::Mock, OwnDesk::Sandbox, OwnDesk::Desktop, OwnDesk::Browser];

    pub const fn name(self) -> &'static str {
        match self {
            OwnDesk::Mock => "mock",
            OwnDesk::Sandbox => "sandbox",
            OwnDesk::Desktop => "desktop",
            OwnDesk::Browser => "browser",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|desk| desk.name() == name)
    }
}

section! {
    /// The model that plans jobs.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Planner in "planner" {
        /// Its server, OpenAI-compatible. Messages show it without a login.
        base_url: Endpoint = Endpoint::new("http://localhost:11434") => secret(KeyRule::Endpoint) => Trusted,
        /// Its API key; default: `OPENAI_API_KEY` from the environment. Never shown.
        api_key: Option<Secret> = None => secret(MAYBE_TEXT) => Trusted,
        /// The model's name, unless the job names one.
        model: Option<String> = None => plain(MAYBE_TEXT) => Trusted,
        /// Models of the same server that are asked, in this order, when the model fails.
        fallback_models: Vec<String> = Vec::new() => plain(Texts) => Trusted,
        /// Anthropic's server, for the planner `anthropic`. Messages show it without a login.
        anthropic_base_url: Endpoint = Endpoint::new("https://api.anthropic.com")
            => secret(KeyRule::Endpoint) => Trusted,
        /// Its API key; default: `ANTHROPIC_API_KEY` from the environment. Never shown.
        anthropic_api_key: Option<Secret> = None => secret(MAYBE_TEXT) => Trusted,
        /// OpenCode's server (`opencode serve`), for the planner `opencode`. Messages show it without a login.
        opencode_url: Endpoint = Endpoint::new("http://127.0.0.1:4096") => secret(KeyRule::Endpoint) => Trusted,
        /// Its password; default: `OPENCODE_SERVER_PASSWORD` from the environment. Never shown.
        opencode_password: Option<Secret> = None => secret(MAYBE_TEXT) => Trusted,
        /// The command line of a coding agent, for the planner `cli`: `["claude"]`, `["codex"]`, `["opencode"]`, or
        /// another with its arguments, which finds the MCP server of the job in `OSO_JOB_URL` and `OSO_JOB_TOKEN`.
        cli: Vec<String> = Vec::new() => plain(Texts) => Trusted,
        /// Names of variables that the coding agent gets beside the usual ones, like `ANTHROPIC_API_KEY`.
        cli_variables: Vec<String> = Vec::new() => plain(Texts) => Trusted,
        /// The model that judges each job before it runs; none: no job is judged. `responses:NAME` and
        /// `anthropic:NAME` say how it is asked, else it is asked like `chat`.
        safety_model: Option<String> = None => guard(MAYBE_TEXT) => Trusted,
        /// Let a job ask to be run without that judgement.
        safety_override: bool = false => guard(Flag) => Switch(false),
        /// Shell commands in jobs, as `execute_command`; needs `exec.enabled` and `exec.secret` as well.
        exec: bool = false => guard(Flag) => Switch(false),
        /// Maximum length of an answer.
        max_tokens: u32 = 4096 => plain(Integer(1, 1_000_000)) => Lower,
        /// Seconds to wait for an answer.
        timeout_s: f64 = 240.0 => plain(Number(0.1, 3600.0)) => Lower,
        /// Seconds that a busy server may ask to wait before it is asked again. One that asks for more is not waited
        /// for: the next of `fallback_models` is asked, or the job ends.
        longest_wait_s: f64 = 60.0 => plain(Number(0.0, 3600.0)) => Lower,
        /// File with prices in LiteLLM's form, in dollars per token; its models replace those that are built in.
        prices: Option<PathBuf> = None => plain(Optional(&Path)) => Trusted,
        /// The model costs nothing; for one on your own computer.
        free: bool = false => plain(Flag) => Switch(false),
        /// Send the key without encryption to a server that is not on this computer.
        allow_plain_http: bool = false => guard(Flag) => Switch(false),
        /// Folder of your own recipes, those that were learned among them ([recipes.md](recipes.md)); null:
        /// `os-screen-observer/recipes` in the user's data folder. `~` and `$VAR` are replaced.
        recipes_dir: Option<PathBuf> = None => guard(Optional(&Path)) => Trusted,
        /// The planner that is asked once for another element when a step of a recipe misses; null: none, so that the run
        /// fails and says what was near.
        heal_with: Option<String> = None => guard(MAYBE_TEXT) => Trusted,
    }
}

section! {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct WaitFor in "wait_for" {
        /// The longest wait of `wait_for` and `wait_idle`; a call that asks for more waits this long and says so in
        /// `warning`.
        max_timeout_ms: u64 = 60_000 => plain(Integer(1, 60_000)) => Lower,
    }
}

section! {
    /// Where scenario files may be read from.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Scenarios in "scenarios" {
        /// `load_scenario` reads only below these folders, links followed. The flag `--scenario` may name
        /// any file.
        dirs: Vec<PathBuf> = vec![PathBuf::from(".")] => guard(Texts) => Trusted,
    }
}

section! {
    /// Where reference images may be read from.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Screenshots in "screenshots" {
        /// `assert_state`'s `screenshot_similar` reads only below these folders, links followed.
        reference_dirs: Vec<PathBuf> = vec![PathBuf::from(".")] => guard(Texts) => Trusted,
    }
}

section! {
    /// How much a session may do; a budget that is not set has no limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Budgets in "budgets" {
        /// Inputs in one session.
        max_actions: Option<u64> = None => guard(MAYBE_COUNT) => Lower,
        /// Screenshots in one session.
        max_screenshots: Option<u64> = None => guard(MAYBE_COUNT) => Lower,
        /// Tokens of the vision model in one session.
        max_vlm_tokens: Option<u64> = None => guard(MAYBE_COUNT) => Lower,
        /// After this many seconds inputs and screenshots are refused.
        max_session_seconds: Option<u64> = None => guard(MAYBE_COUNT) => Lower,
        /// Inputs in any 60 seconds; refused with the time to wait.
        actions_per_minute: Option<u64> = None => guard(MAYBE_COUNT) => Lower,
    }
}

impl Budgets {
    pub fn is_configured(&self) -> bool {
        *self != Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_unlisted(allow: &[&str], default: Option<PolicyVerdict>, expected: PolicyVerdict) {
        let allow = allow.iter().map(ToString::to_string).collect();
        assert_eq!(Actions { allow, default, ..Actions::default() }.verdict_on_unlisted(), expected);
    }

    #[test]
    fn an_allow_list_without_a_default_denies_the_rest() {
        check_unlisted(&[], None, PolicyVerdict::Allow);
        check_unlisted(&["click_at"], None, PolicyVerdict::Deny);
        check_unlisted(&["click_at"], Some(PolicyVerdict::Allow), PolicyVerdict::Allow);
        check_unlisted(&[], Some(PolicyVerdict::Deny), PolicyVerdict::Deny);
    }

    #[test]
    fn an_unknown_platform_means_the_mock() {
        let with = |name: &str| Config { platform: PlatformChoice(name.to_owned()), ..Config::default() };
        assert!(!with("auto").wants_mock() && !with("WSL").wants_mock());
        assert!(with("BeOS").wants_mock());
        assert!(Config { mock: true, ..Config::default() }.wants_mock());
    }

    #[test]
    fn a_printed_configuration_holds_no_key() {
        let mut config = Config::default();
        config.vlm.api_key = Some(Secret::new("S3NT1NEL"));
        config.vlm.base_url = Endpoint::new("https://S3NT1NEL@host");
        let printed = format!("{config:?} {}", serde_json::to_string(&config).unwrap());
        assert!(!printed.contains("S3NT1NEL"), "{printed}");
    }
}
