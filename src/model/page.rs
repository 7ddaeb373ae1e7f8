//! Pages of a browser: addresses, ways to go, downloads, what pages log.

use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::text::shorten;

/// The page that a browser begins with.
pub const BLANK_PAGE: &str = "about:blank";

/// No browser takes longer addresses from everybody.
pub const LONGEST_ADDRESS: usize = 8192;

/// An address that a browser may be asked to open: a page of the web, the blank page, or a file, in its one spelling.
/// Whether a file may be opened is for the browser to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageAddress(Url);

impl PageAddress {
    /// Why it may not be opened is said of what does not fit.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > LONGEST_ADDRESS {
            return Err(format!("an address has at most {LONGEST_ADDRESS} bytes"));
        }
        let url = Url::parse(text).map_err(|problem| {
            let shown = shorten(text, 100);
            format!("'{shown}' is no URL ({problem}); write it in full, with https://")
        })?;
        let has_login = !url.username().is_empty() || url.password().is_some();
        match url.scheme() {
            "http" | "https" if has_login => {
                Err("a URL with a user name or a password is not opened; sign in on the page".to_owned())
            }
            "http" | "https" | "file" => Ok(Self(url)),
            "about" if url.as_str() == BLANK_PAGE => Ok(Self(url)),
            scheme => Err(format!("{scheme}: is not opened; only http, https and {BLANK_PAGE} are")),
        }
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// Scheme, host and port; a page without a host has none.
    pub fn origin(&self) -> Option<String> {
        web_origin(&self.0)
    }
}

fn web_origin(url: &Url) -> Option<String> {
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
}

/// The origin of a page of the web.
pub fn origin_of(url: &str) -> Option<String> {
    web_origin(&Url::parse(url).ok()?)
}

/// Whether a text is the address of a page, as documents of browsers have it for their value.
pub fn is_page_address(text: &str) -> bool {
    PageAddress::parse(text).is_ok()
}

/// The address that a link leads to, from a document at `base`; nothing for one that leads to no page.
pub fn resolve_address(base: &str, href: &str) -> Option<String> {
    let base = Url::parse(base).ok();
    let url = Url::options().base_url(base.as_ref()).parse(href).ok()?;
    matches!(url.scheme(), "http" | "https" | "mailto").then(|| url.into())
}

/// Where to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageVisit {
    pub address: PageAddress,
    /// The tab that shows it; a new one where there is none.
    pub window_uid: Option<String>,
    /// Whether it is waited for until the page is loaded.
    pub waits_for_load: bool,
    pub at_most: Duration,
}

/// A step through the pages that a tab has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryStep {
    Back,
    Forward,
    Reload,
    Stop,
}

impl HistoryStep {
    /// What a button in the window that does the same is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Back => "back",
            Self::Forward => "forward",
            Self::Reload => "reload",
            Self::Stop => "stop",
        }
    }
}

/// What a tab shows after it was sent somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownPage {
    pub window_uid: String,
    pub title: String,
    pub url: String,
    /// What the server answered, where the browser tells.
    pub status: Option<u16>,
    /// It has not arrived as a whole.
    pub loading: bool,
    /// It is the page of before, which asks whether it may be left.
    pub asks_first: bool,
    pub note: Option<String>,
}

/// Files for a file chooser that is open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChooserFiles {
    /// The window of the chooser.
    pub window_uid: String,
    /// By their real names.
    pub files: Vec<PathBuf>,
}

/// A file that a page had the browser fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Download {
    pub id: String,
    pub url: String,
    /// A name that is safe to use.
    pub name: String,
    pub state: DownloadState,
    pub received_bytes: u64,
    pub total_bytes: Option<u64>,
    /// Where the file is, once somebody has kept it.
    pub path: Option<PathBuf>,
    /// Why it was not fetched to the end.
    pub note: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DownloadState {
    #[default]
    Running,
    Complete,
    Cancelled,
    Kept,
}

impl DownloadState {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
            Self::Kept => "kept",
        }
    }
}

/// A line that a page wrote, or that the browser wrote about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub number: u64,
    pub kind: LogKind,
    pub level: String,
    pub text: String,
    pub url: String,
    pub window_uid: Option<String>,
    /// What its tab showed when it was written.
    pub page_url: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// What the page itself writes.
    Console,
    /// A script that failed.
    Error,
    /// A request that failed.
    Network,
    /// What the browser has to say about the page.
    Browser,
}

impl LogKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Error => "error",
            Self::Network => "network",
            Self::Browser => "browser",
        }
    }
}

/// What is kept of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLogLines {
    pub lines: Vec<LogLine>,
    /// How many older ones were let go.
    pub dropped: u64,
}

/// How many cookies a host has; what is in them is nobody's business.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCookies {
    pub host: String,
    pub cookies: usize,
}

/// How much went to a host and came from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostBytes {
    pub host: String,
    pub sent: u64,
    pub received: u64,
}

/// What a browser remembers and can forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgettable {
    Cookies,
    /// What sites have stored, and what was fetched before.
    Storage,
    All,
}

/// How many letters of a file's name are kept.
const LONGEST_FILE_NAME: usize = 120;

/// A name for a file that a page suggests: no folder, nothing hidden, nothing that a shell or a system takes for
/// something else.
pub fn safe_file_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain =
        |sign: char| sign.is_alphanumeric() || matches!(sign, '.' | '-' | '_' | ' ' | '(' | ')' | '+');
    let plain: String = last.chars().map(|sign| if is_plain(sign) { sign } else { '_' }).collect();
    let plain = plain.trim_matches(|sign| matches!(sign, '.' | ' ' | '-'));
    let (stem, ending) = match plain.rsplit_once('.') {
        Some((stem, ending)) if ending.len() <= 12 => (stem, format!(".{ending}")),
        _ => (plain, String::new()),
    };
    let stem: String = stem.chars().take(LONGEST_FILE_NAME).collect();
    let is_device = |name: &str| {
        let name = name.split('.').next().unwrap_or_default().to_ascii_uppercase();
        matches!(name.as_str(), "CON" | "PRN" | "AUX" | "NUL")
            || (name.len() == 4 && (name.starts_with("COM") || name.starts_with("LPT")))
    };
    match stem.is_empty() {
        true => "download".to_owned(),
        false if is_device(&stem) => format!("_{stem}{ending}"),
        false => format!("{stem}{ending}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        match (PageAddress::parse(text), expected) {
            (Ok(address), Ok(expected)) => assert_eq!(address.as_str(), expected),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{text}: {why}"),
            (found, expected) => panic!("{text}: {found:?} and not {expected:?}"),
        }
    }

    #[test]
    fn pages_of_the_web_are_opened_and_nothing_else() {
        check("https://example.org/a?b#c", Ok("https://example.org/a?b#c"));
        check(" HTTP://example.org ", Ok("http://example.org/"));
        check("http://127.1/", Ok("http://127.0.0.1/"));
        check("http://example.org/a b", Ok("http://example.org/a%20b"));
        check("http://example.org\\@evil.example/", Ok("http://example.org/@evil.example/"));
        check("About:blank", Ok("about:blank"));
        for scheme in
            ["javascript:alert(1)", "data:text/html,x", "chrome://settings", "java\nscript:alert(1)"]
        {
            check(scheme, Err("is not opened"));
        }
        for other in ["view-source:http://a", "blob:http://a/b", "about:config", "ftp://a"] {
            check(other, Err("is not opened"));
        }
        check("example.org", Err("is no URL"));
        check("http://me:secret@example.org/", Err("password"));
        check("http://me@example.org", Err("password"));
        check(&format!("http://a/{}", "x".repeat(LONGEST_ADDRESS)), Err("at most"));
    }

    #[test]
    fn links_lead_where_a_browser_would_go() {
        let check = |href: &str, expected: Option<&str>| {
            let found = resolve_address("https://a.example/b/c.html?d#e", href);
            assert_eq!(found.as_deref(), expected, "{href}");
        };
        check("x.html", Some("https://a.example/b/x.html"));
        check("./x/", Some("https://a.example/b/x/"));
        check("../x?y=/../z", Some("https://a.example/x?y=/../z"));
        check("../../../x", Some("https://a.example/x"));
        check("..", Some("https://a.example/"));
        check("/x", Some("https://a.example/x"));
        check("//o.example/x", Some("https://o.example/x"));
        check("?q", Some("https://a.example/b/c.html?q"));
        check("#f", Some("https://a.example/b/c.html?d#f"));
        check("", Some("https://a.example/b/c.html?d"));
        check("HTTP://o.example", Some("http://o.example/"));
        check("mailto:a@b.example", Some("mailto:a@b.example"));
        check("javascript:alert(1)", None);
        check("data:text/html,x", None);
        assert_eq!(resolve_address("http://a.example", "x").as_deref(), Some("http://a.example/x"));
        assert_eq!(resolve_address("about:blank", "x"), None);
    }

    #[track_caller]
    fn check_name(suggested: &str, expected: &str) {
        assert_eq!(safe_file_name(suggested), expected);
    }

    #[test]
    fn names_of_files_are_made_safe() {
        check_name("report.pdf", "report.pdf");
        check_name("Bericht für März (2).ods", "Bericht für März (2).ods");
        check_name("../../etc/passwd", "passwd");
        check_name("..\\..\\evil.exe", "evil.exe");
        check_name(".bashrc", "bashrc");
        check_name("-rf", "rf");
        check_name("a\u{202e}fdp.exe", "a_fdp.exe");
        check_name("a\nb;c$(d)", "a_b_c_(d)");
        check_name("", "download");
        check_name("...", "download");
        check_name("con.txt", "_con.txt");
        check_name("LPT1", "_LPT1");
        assert_eq!(safe_file_name(&format!("{}.txt", "x".repeat(500))).len(), LONGEST_FILE_NAME + 4);
    }
}
