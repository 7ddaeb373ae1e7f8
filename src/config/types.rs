//! What the configuration holds, section by section, with the built-in defaults.
//!
//! Values only: reading, checking and merging are `merge`'s, and what each key accepts is `keys`'. A field
//! that is added here needs its line in `keys::KEYS`; a test compares the two.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::secret::{Endpoint, Secret};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    pub web_ui: WebUi,
    pub clickthrough: Clickthrough,
    pub mcp: Mcp,
    pub ocr: Ocr,
    pub vlm: Vlm,
    pub ascii_sketch: AsciiSketch,
    pub tree: TreeReading,
    pub logging: Logging,
    pub audit: Audit,
    pub mock: bool,
    pub platform: PlatformChoice,
    pub actions: Actions,
    pub confirmation_required: Option<Vec<ConfirmationRule>>,
    pub confirmation: Confirmation,
    pub redaction: Redaction,
    pub tracing: Tracing,
    pub wait_for: WaitFor,
    pub scenarios: Scenarios,
    pub screenshots: Screenshots,
    pub budgets: Budgets,
    pub secrets: NamedSecrets,
    pub sandbox: Sandbox,
    pub launch: Launching,
    pub exec: Exec,
    pub input: InputBounds,
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebUi {
    pub host: String,
    pub port: u16,
    pub debug: bool,
    pub cors_origins: Vec<String>,
    /// What a caller has to show; `auto` stands for a random one that the server makes and keeps.
    pub token: Option<Secret>,
    /// Where the automatic token is kept. Without a word about it: the user's folder for state.
    pub token_file: Option<PathBuf>,
}

/// The face of Clickthrough, on a port of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clickthrough {
    pub enabled: bool,
    pub host: String,
    pub port: u16,
    /// What a caller has to show; without one, what `web_ui.token` says.
    pub token: Option<Secret>,
    /// Everything is checked and nothing done.
    pub dry_run: bool,
    pub grid_rows: u32,
    pub grid_cols: u32,
}

impl Default for Clickthrough {
    fn default() -> Self {
        Self {
            enabled: false,
            host: "127.0.0.1".to_owned(),
            port: 8123,
            token: None,
            dry_run: false,
            grid_rows: 12,
            grid_cols: 12,
        }
    }
}

impl Default for WebUi {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 5001,
            debug: false,
            cors_origins: Vec::new(),
            token: None,
            token_file: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mcp {
    pub server_name: String,
    pub version: String,
}

impl Default for Mcp {
    fn default() -> Self {
        Self { server_name: "os-screen-observer".to_owned(), version: "0.1.0".to_owned() }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ocr {
    pub enabled: bool,
    /// Already expanded: quotes trimmed, `~` and `$VAR` replaced.
    pub tesseract_cmd: Option<PathBuf>,
    pub min_confidence: f64,
    pub preprocess: bool,
    pub upscale: u32,
    pub psm_window: u32,
    pub psm_roi: u32,
    pub max_roi_crops: usize,
    pub backend: String,
    /// What one picture may take before the engine is ended.
    pub timeout_s: f64,
}

impl Default for Ocr {
    fn default() -> Self {
        Self {
            enabled: true,
            tesseract_cmd: None,
            min_confidence: 30.0,
            preprocess: true,
            upscale: 2,
            psm_window: 11,
            psm_roi: 7,
            max_roi_crops: 40,
            backend: "tesseract".to_owned(),
            timeout_s: 30.0,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Vlm {
    pub enabled: bool,
    pub base_url: Endpoint,
    pub api_key: Option<Secret>,
    pub model: Option<String>,
    pub max_tokens: u32,
    pub mode: VlmMode,
    pub model_fast: Option<String>,
    pub model_actions: Option<String>,
    pub model_verify: Option<String>,
    pub temperature: f64,
    pub timeout_s: f64,
    pub image_max_dim: u32,
    pub ground_with_tree: bool,
    pub ground_with_ocr: bool,
    pub ground_with_sketch: bool,
    pub ground_with_focus: bool,
    pub tree_max_lines: usize,
    pub ocr_max_chars: usize,
    pub sketch_max_chars: usize,
    pub prompt_single: Option<String>,
    pub prompt_scene: Option<String>,
    pub prompt_controls: Option<String>,
    pub prompt_actions: Option<String>,
    pub prompt_verify: Option<String>,
    pub ollama_runner: Option<Vec<String>>,
}

impl Default for Vlm {
    fn default() -> Self {
        Self {
            enabled: false,
            base_url: Endpoint::new("http://localhost:3000"),
            api_key: None,
            model: None,
            max_tokens: 1500,
            mode: VlmMode::Single,
            model_fast: None,
            model_actions: None,
            model_verify: None,
            temperature: 0.1,
            timeout_s: 240.0,
            image_max_dim: 1600,
            ground_with_tree: true,
            ground_with_ocr: true,
            ground_with_sketch: true,
            ground_with_focus: true,
            tree_max_lines: 80,
            ocr_max_chars: 4000,
            sketch_max_chars: 6000,
            prompt_single: None,
            prompt_scene: None,
            prompt_controls: None,
            prompt_actions: None,
            prompt_verify: None,
            ollama_runner: None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VlmMode {
    #[default]
    Single,
    Multipass,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AsciiSketch {
    pub grid_width: usize,
    pub grid_height: usize,
    pub unicode_box: bool,
    pub role_glyphs: bool,
    pub occlusion_prune: bool,
    pub tab_index_badges: bool,
    pub landmark_headers: bool,
    pub vlm_fallback: bool,
}

impl Default for AsciiSketch {
    fn default() -> Self {
        Self {
            grid_width: 110,
            grid_height: 38,
            unicode_box: true,
            role_glyphs: true,
            occlusion_prune: true,
            tab_index_badges: true,
            landmark_headers: true,
            vlm_fallback: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TreeReading {
    pub max_depth: usize,
    pub default_depth: usize,
    pub cache_ttl_s: f64,
    pub strategy: TreeStrategy,
    pub sparse_threshold: usize,
}

impl Default for TreeReading {
    fn default() -> Self {
        Self {
            max_depth: 8,
            default_depth: 5,
            cache_ttl_s: 2.0,
            strategy: TreeStrategy::Merged,
            sparse_threshold: 5,
        }
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logging {
    pub level: LogLevel,
    pub audit: bool,
    pub audit_path: PathBuf,
    pub audit_max_bytes: u64,
    pub audit_backups: u32,
}

impl Default for Logging {
    fn default() -> Self {
        Self {
            level: LogLevel::Info,
            audit: false,
            audit_path: PathBuf::from("./audit.log"),
            audit_max_bytes: 10 << 20,
            audit_backups: 3,
        }
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Audit {
    pub redact_arg_keys: Vec<String>,
}

impl Default for Audit {
    fn default() -> Self {
        let keys = ["text", "value", "password", "api_key", "Authorization", "confirm_token"];
        Self { redact_arg_keys: keys.map(str::to_owned).into() }
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

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Actions {
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    pub default: Option<Verdict>,
}

impl Actions {
    /// What happens to a tool that neither list names. Whoever writes an allow list and no default means
    /// "these and no others".
    pub fn verdict_on_unlisted(&self) -> Verdict {
        let implied = if self.allow.is_empty() { Verdict::Allow } else { Verdict::Deny };
        self.default.unwrap_or(implied)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Allow,
    Deny,
}

/// An element that matches every condition given here is touched only with a confirmation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfirmationRule {
    pub role: Option<String>,
    pub name_regex: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confirmation {
    /// How far an element may have moved since it was confirmed.
    pub bbox_tolerance_px: u32,
    pub mode: ConfirmationMode,
    /// What a text on the screen that speaks to an agent leads to, besides its mark.
    pub on_suspicion: OnSuspicion,
    /// How long that lasts after such a text was last shown.
    pub suspicion_seconds: u64,
    /// What rules that cannot tell lead to.
    pub on_unread: OnUnread,
    /// How long a confirmation may wait for its use.
    pub ttl_seconds: u64,
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

impl Default for Confirmation {
    fn default() -> Self {
        Self {
            bbox_tolerance_px: 20,
            mode: ConfirmationMode::Token,
            on_suspicion: OnSuspicion::Off,
            suspicion_seconds: 600,
            on_unread: OnUnread::Consent,
            ttl_seconds: 60,
        }
    }
}

/// Secrets that an agent may use by name without seeing them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NamedSecrets {
    pub file: Option<PathBuf>,
    /// Where a secret may go; a name that is not listed may go anywhere.
    pub allow: BTreeMap<String, Vec<SecretRule>>,
}

/// An element that matches every condition given here may receive the secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecretRule {
    pub role: Option<String>,
    pub name_regex: Option<String>,
    pub window_title_regex: Option<String>,
}

/// Which programs may be started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Launching {
    pub programs: Programs,
    /// Further ones, as a caller writes them.
    pub allow: Vec<String>,
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

/// Commands of a shell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Exec {
    pub enabled: bool,
    /// What a caller has to show.
    pub secret: Option<Secret>,
    pub default_shell: Shell,
    pub timeout_s: u64,
    pub max_timeout_s: u64,
    pub max_output_chars: usize,
    /// Where commands may run; empty for anywhere.
    pub roots: Vec<PathBuf>,
}

impl Default for Exec {
    fn default() -> Self {
        Self {
            enabled: false,
            secret: None,
            default_shell: Shell::Bash,
            timeout_s: 30,
            max_timeout_s: 120,
            max_output_chars: 20_000,
            roots: Vec::new(),
        }
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

/// Where input may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputBounds {
    /// x, y, width and height on the screen.
    pub allowed_region: Option<[i32; 4]>,
    /// For how many seconds after an input no other server may act on the desktop.
    pub lease_s: u64,
}

impl Default for InputBounds {
    fn default() -> Self {
        Self { allowed_region: None, lease_s: 60 }
    }
}

/// The private desktop that `--sandbox` starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sandbox {
    pub size: Size,
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
        Size::parse(&text).ok_or_else(|| format!("{text} is no size like 1280x800"))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Redaction {
    pub enabled: bool,
    pub window_title_patterns: Vec<String>,
    pub element_name_patterns: Vec<String>,
    pub element_role_patterns: Vec<String>,
    pub ocr_text_patterns: Vec<String>,
    pub replacement: String,
    pub blur_screenshots: bool,
}

impl Default for Redaction {
    fn default() -> Self {
        Self {
            enabled: true,
            window_title_patterns: Vec::new(),
            element_name_patterns: Vec::new(),
            element_role_patterns: Vec::new(),
            ocr_text_patterns: Vec::new(),
            replacement: "[REDACTED]".to_owned(),
            blur_screenshots: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tracing {
    pub dir: PathBuf,
    /// 0 = no screenshots.
    pub screenshot_every_n_actions: u32,
    pub max_args_bytes: usize,
    pub redact_keys: Vec<String>,
}

impl Default for Tracing {
    fn default() -> Self {
        let keys = ["api_key", "password", "Authorization", "token", "confirm_token"];
        Self {
            dir: PathBuf::from("./traces"),
            screenshot_every_n_actions: 5,
            max_args_bytes: 4096,
            redact_keys: keys.map(str::to_owned).into(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitFor {
    pub max_timeout_ms: u64,
}

impl Default for WaitFor {
    fn default() -> Self {
        Self { max_timeout_ms: 60_000 }
    }
}

/// Where scenario files may be read from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scenarios {
    pub dirs: Vec<PathBuf>,
}

impl Default for Scenarios {
    fn default() -> Self {
        Self { dirs: vec![PathBuf::from(".")] }
    }
}

/// Where pictures to compare with may be read from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Screenshots {
    pub reference_dirs: Vec<PathBuf>,
}

impl Default for Screenshots {
    fn default() -> Self {
        Self { reference_dirs: vec![PathBuf::from(".")] }
    }
}

/// How much a session may do; a budget that is not set has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budgets {
    pub max_actions: Option<u64>,
    pub max_screenshots: Option<u64>,
    pub max_vlm_tokens: Option<u64>,
    pub max_session_seconds: Option<u64>,
    pub actions_per_minute: Option<u64>,
}

impl Budgets {
    pub fn configured(&self) -> bool {
        *self != Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_unlisted(allow: &[&str], default: Option<Verdict>, expected: Verdict) {
        let allow = allow.iter().map(ToString::to_string).collect();
        assert_eq!(Actions { allow, deny: Vec::new(), default }.verdict_on_unlisted(), expected);
    }

    #[test]
    fn an_allow_list_without_a_default_denies_the_rest() {
        check_unlisted(&[], None, Verdict::Allow);
        check_unlisted(&["click_at"], None, Verdict::Deny);
        check_unlisted(&["click_at"], Some(Verdict::Allow), Verdict::Allow);
        check_unlisted(&[], Some(Verdict::Deny), Verdict::Deny);
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
