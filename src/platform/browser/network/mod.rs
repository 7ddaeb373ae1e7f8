//! The browser's network: everything that it asks for goes through a proxy of this process, which judges it.
//!
//! ```text
//!   BrowserNetwork ── switches for the start, the password, what was refused
//!     ├── urls: which addresses may be opened      ├── rules, address: which hosts may be reached
//!     └── proxy, heads: the way out                └── ledger: bytes and refusals
//! ```
//!
//! The browser looks no name up itself and opens no connection but to the proxy. It shows at its start that it uses the
//! proxy; one that goes another way, by a policy of its machine, is not used.

mod address;
mod heads;
mod ledger;
mod proxy;
mod rules;
pub mod urls;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

pub use ledger::Refusal;
pub use proxy::NetworkProxy;
pub use rules::{NetworkRules, RequestedHost};

use super::wire::{CdpConnection, CdpEvent};
use crate::clock::lock;
use crate::config::{BrowserConfig, HostRule};
use crate::error::{Error, Kind, Result};
use crate::model::page::HostBytes;
use ledger::NetworkLedger;

/// What the browser's network is for everybody but the proxy.
#[derive(Debug)]
pub struct BrowserNetwork {
    ledger: Arc<NetworkLedger>,
    /// `None` where somebody else's browser goes its own way.
    rules: Option<NetworkRules>,
    /// The folder below which files may be opened, in its one spelling.
    file_root: Option<PathBuf>,
    login: Option<ProxyLogin>,
    /// The frames that show an error page, and what they would show.
    unreachable: Mutex<HashMap<String, String>>,
}

#[derive(Debug)]
struct ProxyLogin {
    switches: Vec<String>,
    password: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuthRequired {
    request_id: String,
    auth_challenge: AuthChallenge,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct AuthChallenge {
    source: String,
    realm: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    request: PausedRequest,
}

#[derive(Deserialize)]
struct PausedRequest {
    url: String,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: ErrorPageFrame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErrorPageFrame {
    id: String,
    unreachable_url: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameDetached {
    frame_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionAttached {
    session_id: String,
}

impl BrowserNetwork {
    /// `first_page` is what the person named on the command line: it may be reached, at its port alone.
    pub fn start(config: &BrowserConfig, first_page: &str) -> Result<(Arc<Self>, NetworkProxy), String> {
        let file_root = find_file_root(config)?;
        let rules = NetworkRules::new(config, first_page_rule(first_page));
        let ledger = Arc::new(NetworkLedger::default());
        let proxy = NetworkProxy::start(rules.clone(), ledger.clone())?;
        let login = ProxyLogin { switches: proxy_switches(&proxy), password: proxy.password().to_owned() };
        let network =
            Self { ledger, rules: Some(rules), file_root, login: Some(login), unreachable: Mutex::default() };
        Ok((Arc::new(network), proxy))
    }

    /// For a browser that somebody else started: its network is not ours to judge, so no rules may be set for it.
    pub fn unjudged(config: &BrowserConfig) -> Result<Arc<Self>, String> {
        let rules = [
            ("browser.network_allow", !config.network_allow.is_empty()),
            ("browser.network_deny", !config.network_deny.is_empty()),
            ("browser.file_root", config.file_root.is_some()),
        ];
        match rules.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => {
                Err(format!("{key} does not hold for a browser that is attached to; use --browser"))
            }
            None => Ok(Arc::new(Self {
                ledger: Arc::default(),
                rules: None,
                file_root: None,
                login: None,
                unreachable: Mutex::default(),
            })),
        }
    }

    /// What the browser is started with.
    pub fn switches(&self) -> &[String] {
        self.login.as_ref().map_or(&[], |login| &login.switches)
    }

    /// Whether an address may be opened, in the words for a reply.
    pub fn check_url(&self, text: &str) -> Result<Url> {
        urls::check_url(text, self.file_root.as_deref())
            .map_err(|reason| Error::new(Kind::PermissionDenied, reason))
    }

    /// Whether a page may be opened, judged before anything is asked for: by its scheme, and by the rules about its host
    /// as it is written. What a name leads to is for the proxy to judge.
    pub fn check_page(&self, text: &str) -> Result<Url> {
        let url = self.check_url(text)?;
        match self.refusal_by_host(text) {
            Some(refusal) => Err(Error::new(Kind::PermissionDenied, refusal.told())),
            None => Ok(url),
        }
    }

    fn refusal_by_host(&self, url: &str) -> Option<Refusal> {
        let rules = self.rules.as_ref()?;
        let url = Url::parse(url).ok()?;
        let (host, port) = (RequestedHost::parse(url.host_str()?)?, url.port_or_known_default()?);
        let by_address = || match host {
            RequestedHost::Address(address) => rules.check_address(&host, address, port),
            RequestedHost::Name(_) => Ok(()),
        };
        let reason = rules.check_host(&host, port).and_then(|()| by_address()).err()?;
        Some(Refusal { host: host.shown(), port, reason })
    }

    /// Hears events beside the tabs: for as long as this lives.
    pub fn listener(
        self: &Arc<Self>,
        connection: &Arc<CdpConnection>,
    ) -> impl FnMut(&CdpEvent<'_>) + Send + 'static {
        let (network, connection) = (self.clone(), Arc::downgrade(connection));
        move |event| network.take_event(&connection, event)
    }

    fn take_event(&self, connection: &Weak<CdpConnection>, event: &CdpEvent<'_>) {
        let Some(connection) = connection.upgrade() else { return };
        match event.method {
            "Fetch.authRequired" => self.answer_challenge(&connection, event),
            "Fetch.requestPaused" => self.judge_request(&connection, event),
            "Page.frameNavigated" => self.explain_error_page(&connection, event),
            "Page.frameDetached" => {
                if let Some(FrameDetached { frame_id }) = event.read() {
                    lock(&self.unreachable).remove(&frame_id);
                }
            }
            "Target.attachedToTarget" if self.file_root.is_some() => {
                if let Some(SessionAttached { session_id }) = event.read() {
                    connection.tell(Some(&session_id), "Fetch.enable", file_requests());
                }
            }
            _ => {}
        }
    }

    /// The password is for our own proxy and for nobody else who asks.
    fn answer_challenge(&self, connection: &CdpConnection, event: &CdpEvent<'_>) {
        let Some(AuthRequired { request_id, auth_challenge }) = event.read() else { return };
        let is_ours = auth_challenge.source == "Proxy" && auth_challenge.realm == proxy::REALM;
        let answer = match &self.login {
            Some(login) if is_ours => json!({
                "response": "ProvideCredentials",
                "username": proxy::USER,
                "password": login.password,
            }),
            _ => json!({ "response": "CancelAuth" }),
        };
        let params = json!({ "requestId": request_id, "authChallengeResponse": answer });
        connection.tell(event.session, "Fetch.continueWithAuth", params);
    }

    /// Only the request of the log-in and requests for files are held up for us.
    fn judge_request(&self, connection: &CdpConnection, event: &CdpEvent<'_>) {
        let Some(RequestPaused { request_id, request }) = event.read() else { return };
        let url = Url::parse(&request.url).ok().filter(|url| url.scheme() == "file");
        let refused = url.is_some_and(|url| urls::check_file(&url, self.file_root.as_deref()).is_err());
        if refused {
            let params = json!({ "requestId": request_id, "errorReason": "AccessDenied" });
            connection.tell(event.session, "Fetch.failRequest", params);
        } else {
            connection.tell(event.session, "Fetch.continueRequest", json!({ "requestId": request_id }));
        }
    }

    /// The browser shows its own page where a tunnel was refused, which says nothing of the rule.
    fn explain_error_page(&self, connection: &CdpConnection, event: &CdpEvent<'_>) {
        let Some(FrameNavigated { frame }) = event.read() else { return };
        let refusal = frame.unreachable_url.as_deref().and_then(|url| self.refusal_of(url));
        match frame.unreachable_url {
            Some(url) => lock(&self.unreachable).insert(frame.id.clone(), url),
            None => lock(&self.unreachable).remove(&frame.id),
        };
        if let Some(refusal) = refusal {
            let params = json!({ "frameId": frame.id, "html": proxy::refusal_page(&refusal) });
            connection.tell(event.session, "Page.setDocumentContent", params);
        }
    }

    /// Why the host of a page was refused, if it was.
    pub fn refusal_of(&self, url: &str) -> Option<Refusal> {
        let (host, port) = urls::host_and_port(url)?;
        self.ledger.refusal_of(&host, port)
    }

    /// How many refusals there were until now.
    pub fn refusals(&self) -> usize {
        self.ledger.refusals()
    }

    /// Why the page of a tab was refused since there were so many refusals.
    pub fn refusal_since(&self, count: usize, target: &str, url: &str) -> Option<Refusal> {
        let unreachable = lock(&self.unreachable).get(target).cloned();
        let (host, port) = urls::host_and_port(unreachable.as_deref().unwrap_or(url))?;
        let refusals = self.ledger.refusals_since(count);
        refusals.into_iter().find(|refusal| refusal.host == host && refusal.port == port)
    }

    pub fn traffic(&self) -> Vec<HostBytes> {
        self.ledger.traffic()
    }
}

/// What holds up the request of the log-in alone.
pub fn login_requests() -> Value {
    json!({ "handleAuthRequests": true, "patterns": [{ "urlPattern": format!("http://{}/*", proxy::LOGIN_HOST) }] })
}

/// The request that only our proxy answers, and only with its password.
pub fn login_script() -> Value {
    let script =
        format!("fetch('http://{}/', {{ mode: 'no-cors' }}).then(() => 0, () => 1)", proxy::LOGIN_HOST);
    json!({ "expression": script, "awaitPromise": true, "returnByValue": true })
}

/// What holds up requests for files; nothing of a page is held up.
fn file_requests() -> Value {
    json!({ "patterns": [{ "urlPattern": "file://*" }] })
}

impl BrowserNetwork {
    /// What requests are held up after the log-in.
    pub fn requests_after_login(&self) -> (&'static str, Value) {
        if self.file_root.is_some() {
            ("Fetch.enable", file_requests())
        } else {
            ("Fetch.disable", json!({}))
        }
    }
}

fn find_file_root(config: &BrowserConfig) -> Result<Option<PathBuf>, String> {
    let Some(root) = &config.file_root else { return Ok(None) };
    match root.canonicalize() {
        Ok(root) if root.is_dir() => Ok(Some(root)),
        Ok(_) => Err(format!("browser.file_root {} is no folder", root.display())),
        Err(problem) => Err(format!("browser.file_root {}: {problem}", root.display())),
    }
}

fn first_page_rule(url: &str) -> Option<HostRule> {
    let (host, port) = urls::host_and_port(url)?;
    HostRule::exact(host.trim_matches(['[', ']']), port).ok()
}

/// Every way out but the proxy is shut: names are looked up by nobody else, and what does not speak through a proxy (UDP
/// of WebRTC, QUIC) does not speak at all.
fn proxy_switches(proxy: &NetworkProxy) -> Vec<String> {
    vec![
        format!("--proxy-server=http://{}", proxy.address()),
        "--proxy-bypass-list=<-loopback>".to_owned(),
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1".to_owned(),
        // The name that it has had since 2024, and the one before.
        "--webrtc-ip-handling-policy=disable_non_proxied_udp".to_owned(),
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp".to_owned(),
        "--disable-quic".to_owned(),
        "--dns-prefetch-disable".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_page_is_allowed_at_its_place() {
        for (url, expected) in [
            ("http://127.0.0.1:8000/x", Some("127.0.0.1:8000")),
            ("https://a.example", Some("a.example:443")),
            ("http://[::1]:9/", Some("[::1]:9")),
            ("about:blank", None),
        ] {
            assert_eq!(first_page_rule(url).map(|rule| rule.to_string()).as_deref(), expected, "{url}");
        }
    }

    #[track_caller]
    fn check_opened(url: &str, expected: &str) {
        let parse = |text: &str| vec![HostRule::parse(text).unwrap()];
        let config = BrowserConfig { network_deny: parse("*.denied.example"), ..BrowserConfig::default() };
        let network = BrowserNetwork {
            ledger: Arc::default(),
            rules: Some(NetworkRules::new(&config, first_page_rule("http://127.0.0.1:8000/"))),
            file_root: None,
            login: None,
            unreachable: Mutex::default(),
        };
        let said = network.check_page(url).map_or_else(|error| error.message, |_| "opened".to_owned());
        assert!(said.contains(expected), "{url}: {said}");
    }

    #[test]
    fn a_host_that_is_refused_as_it_is_written_is_not_asked_for() {
        check_opened("http://127.0.0.1:8000/x", "opened");
        check_opened("https://a.example/", "opened");
        check_opened("about:blank", "opened");
        check_opened("https://a.denied.example/", "browser.network_deny has *.denied.example");
        check_opened("http://127.0.0.1:8001/", "browser.network_allow would have to name it");
        check_opened("http://[::1]/", "browser.network_allow would have to name it");
        // What a name leads to is judged by the proxy.
        check_opened("http://localhost:8001/", "opened");
        check_opened("javascript:1", "is not opened");
    }

    #[test]
    fn a_file_root_has_to_be_a_folder() {
        let with = |root: &str| BrowserConfig { file_root: Some(root.into()), ..BrowserConfig::default() };
        assert!(find_file_root(&with("/nowhere/at/all")).unwrap_err().contains("browser.file_root"));
        assert_eq!(find_file_root(&BrowserConfig::default()), Ok(None));
    }
}
