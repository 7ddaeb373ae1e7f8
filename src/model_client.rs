//! One way to talk to a model's server over HTTP: requests out, texts and failures back.
//!
//! It speaks only to the address of the config: redirects are not followed, proxies of the environment are
//! not used, nothing is retried here. The key goes into the request's header and nowhere else: every text that
//! comes back loses it before it is shown. Network time is real time, also under a steered clock.

use std::error::Error as _;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use regex::Regex;
pub use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use serde_json::{Value, json};

use crate::clock::{Cancel, sleep_task};
use crate::config::{Endpoint, Secret};
use crate::error::{Error, Kind};
use crate::privacy::untrusted;

/// An error page is read this far and no further.
const ERROR_BYTES: usize = 64 << 10;
/// How much of an error page is told.
const TOLD_CHARACTERS: usize = 200;
/// How soon a cancelled call is noticed.
const LOOK_UP: Duration = Duration::from_millis(25);
/// Open WebUI's prefix, then that of OpenAI, Ollama and most others.
const PREFIXES: [&str; 2] = ["/api/v1", "/v1"];

/// Which of the prefixes answered last, so that the next call starts there.
#[derive(Debug, Default)]
pub struct KnownPrefix(AtomicUsize);

/// The keys of the config that messages name.
#[derive(Debug)]
pub struct SettingNames {
    pub base_url: &'static str,
    pub api_key: &'static str,
    /// The same with the variable that may hold it.
    pub api_key_or_variable: &'static str,
    pub model: &'static str,
    pub timeout: &'static str,
    /// What makes a request smaller.
    pub smaller: &'static str,
    /// What an answer may be too long for.
    pub max_tokens: &'static str,
}

/// In which header the key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHeader {
    Bearer,
    /// As Anthropic wants it, beside the version of its API.
    XApiKey(&'static str),
}

/// What the config says of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerConfig<'a> {
    pub base_url: &'a Endpoint,
    pub api_key: Option<&'a Secret>,
    pub key_header: KeyHeader,
    pub timeout: Duration,
    /// A longer answer is a mistake or an attack on the memory.
    pub answer_bytes: usize,
    pub settings: &'static SettingNames,
}

pub struct ModelServer {
    base: Url,
    headers: HeaderMap,
    /// Longest first: what contains another secret is covered as a whole.
    secrets: Vec<String>,
    /// The address as it may be shown.
    shown: String,
    timeout: Duration,
    answer_bytes: usize,
    settings: &'static SettingNames,
}

/// An error, and what it means for the next question.
#[derive(Debug)]
pub struct ModelFailure {
    pub error: Error,
    /// The question arrived, so the model may have worked for it.
    pub may_have_cost: bool,
    /// The line went dead after the question was sent.
    pub broke_off: bool,
    /// Nobody answers there: asking again would only wait again.
    pub is_dead: bool,
    /// The status that the server answered with.
    pub status: Option<u16>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
}

impl ModelFailure {
    fn new(kind: Kind, message: String) -> Self {
        let error = Error::new(kind, message);
        Self {
            error,
            may_have_cost: false,
            broke_off: false,
            is_dead: false,
            status: None,
            retry_after: None,
        }
    }

    pub fn internal(message: String) -> Self {
        Self::new(Kind::Internal, message)
    }

    fn cancelled() -> Self {
        let failure = Self::new(Kind::Cancelled, String::new());
        Self { error: Error::cancelled(), may_have_cost: true, is_dead: true, ..failure }
    }

    fn is_not_found(&self) -> bool {
        self.status == Some(404)
    }
}

impl ModelServer {
    pub fn new(config: &ServerConfig) -> Result<Self, Error> {
        let (shown, settings) = (config.base_url.to_string(), config.settings);
        let unusable =
            |why: String| Error::internal(format!("{} {shown} is invalid: {why}", settings.base_url));
        let mut base =
            Url::parse(config.base_url.reveal()).map_err(|problem| unusable(problem.to_string()))?;
        let login = Login::take_from(&mut base);
        let key = config.api_key.map(|key| key.reveal().trim()).filter(|key| !key.is_empty());
        let headers = auth_headers(config.key_header, key, login.as_ref());
        Ok(Self {
            headers: headers.map_err(|_| unwritable_key(settings))?,
            secrets: secrets_of(key, login.as_ref(), config.base_url),
            base,
            shown,
            timeout: config.timeout,
            answer_bytes: config.answer_bytes,
            settings,
        })
    }

    /// Whether a key would travel where others can read it.
    pub fn sends_key_in_the_open(&self) -> bool {
        let host = self.base.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_here = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        !self.headers.is_empty() && self.base.scheme() != "https" && !is_here
    }

    /// Posts a question and waits for the whole answer, at the first address that has the route.
    pub fn post(
        &self,
        route: &str,
        body: &str,
        known: &KnownPrefix,
        cancel: &Cancel,
    ) -> Result<String, ModelFailure> {
        let mut addresses: Vec<_> = self.candidate_urls(route).into_iter().enumerate().collect();
        let first = known.0.load(Ordering::Relaxed).min(addresses.len());
        addresses.rotate_left(first);
        let mut not_found = None;
        for (index, url) in addresses {
            match self.send_request(Method::POST, url, Some(body), cancel) {
                Ok(text) => {
                    known.0.store(index, Ordering::Relaxed);
                    return Ok(text);
                }
                Err(failure) if failure.is_not_found() => not_found = Some(failure),
                Err(failure) => return Err(failure),
            }
        }
        Err(not_found.unwrap_or_else(|| ModelFailure::internal(format!("{} has no address", self.shown))))
    }

    /// One request to exactly this path below the address, for servers without a version in theirs.
    pub fn request_at(
        &self,
        method: Method,
        path: &str,
        body: Option<&str>,
        cancel: &Cancel,
    ) -> Result<String, ModelFailure> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        self.send_request(method, url, body, cancel)
    }

    /// A failure of an answer that arrived; the key is not in it.
    pub fn answer_failure(&self, problem: &str, answer: &str) -> ModelFailure {
        let said = format!("{problem}; it answered: {}", self.body_excerpt(answer));
        ModelFailure { may_have_cost: true, ..ModelFailure::internal(self.describe_server(&said)) }
    }

    /// The names of the models that the server offers.
    pub fn list_models(&self, cancel: &Cancel) -> Result<Vec<String>, ModelFailure> {
        let mut problem = None;
        for url in self.candidate_urls("/models") {
            match self.send_request(Method::GET, url, None, cancel).map(|text| model_names(&text)) {
                Ok(Some(names)) => return Ok(names.iter().map(|name| self.without_secrets(name)).collect()),
                // A server of web pages answers every path with its own page.
                Ok(None) => {
                    problem = Some(ModelFailure::internal(
                        self.describe_server("did not answer with a list of models"),
                    ))
                }
                Err(failure) if failure.is_not_found() => problem = problem.or(Some(failure)),
                Err(failure) => return Err(failure),
            }
        }
        Err(problem.unwrap_or_else(|| ModelFailure::internal(format!("{} has no address", self.shown))))
    }

    /// Where to ask, in order. An address that already ends in the version is taken at its word.
    fn candidate_urls(&self, leaf: &str) -> Vec<Url> {
        let path = self.base.path().trim_end_matches('/').to_owned();
        let prefixes: &[&str] = if path.ends_with("/v1") { &[""] } else { &PREFIXES };
        let at = |prefix: &&str| {
            let mut url = self.base.clone();
            url.set_path(&format!("{path}{prefix}{leaf}"));
            url
        };
        prefixes.iter().map(at).collect()
    }

    /// One request and its whole answer. A runtime of its own, because tools run on plain threads.
    fn send_request(
        &self,
        method: Method,
        url: Url,
        body: Option<&str>,
        cancel: &Cancel,
    ) -> Result<String, ModelFailure> {
        if cancel.check().is_err() {
            return Err(ModelFailure { may_have_cost: false, ..ModelFailure::cancelled() });
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|problem| {
            ModelFailure::internal(format!("cannot start the async runtime: {problem}"))
        })?;
        let path = url.path().to_owned();
        let done = runtime.block_on(async {
            tokio::select! {
                done = tokio::time::timeout(self.timeout, self.send(method, url, body)) => done,
                () = wait_cancelled(cancel) => Ok(Err(ModelFailure::cancelled())),
            }
        });
        // A name that is still being looked up must not hold up the caller.
        crate::runtime::end(runtime);
        done.unwrap_or_else(|_| Err(self.too_late(&path)))
    }

    async fn send(&self, method: Method, url: Url, body: Option<&str>) -> Result<String, ModelFailure> {
        let path = url.path().to_owned();
        let mut request = self.http_client()?.request(method, url).headers(self.headers.clone());
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_owned());
        }
        let response = request.send().await.map_err(|problem| self.transport_failure(&path, problem))?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        if status.is_success() {
            return self.read_answer(&path, response).await;
        }
        let failure = self.status_failure(&path, status, &read_error_page(response).await);
        Err(ModelFailure { retry_after, ..failure })
    }

    fn http_client(&self) -> Result<reqwest::Client, ModelFailure> {
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .user_agent(concat!("os-screen-observer/", env!("CARGO_PKG_VERSION")));
        let builder = with_tls_for(self.base.scheme(), builder).map_err(ModelFailure::internal)?;
        builder.build().map_err(|problem| self.transport_failure("", problem))
    }

    async fn read_answer(&self, path: &str, mut response: Response) -> Result<String, ModelFailure> {
        let mut bytes = Vec::new();
        loop {
            let chunk = response.chunk().await;
            match chunk.map_err(|problem| ModelFailure {
                may_have_cost: true,
                ..self.transport_failure(path, problem)
            })? {
                Some(chunk) if bytes.len() + chunk.len() > self.answer_bytes => {
                    let said = format!("{path} answered with more than {} bytes", self.answer_bytes);
                    return Err(ModelFailure {
                        may_have_cost: true,
                        ..ModelFailure::internal(self.describe_server(&said))
                    });
                }
                Some(chunk) => bytes.extend_from_slice(&chunk),
                None => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            }
        }
    }

    fn status_failure(&self, path: &str, status: StatusCode, page: &str) -> ModelFailure {
        let SettingNames { base_url, api_key_or_variable, model, smaller, max_tokens, .. } = self.settings;
        let advice = match status.as_u16() {
            300..=399 => format!("redirects are not followed: set {base_url} to the final address"),
            401 | 403 => format!("check {api_key_or_variable}"),
            404 => format!("check {base_url} and that the server has the model in {model}"),
            413 => format!("reduce {smaller}"),
            429 => "the server asks to slow down: wait, or ask for less".to_owned(),
            400..=499 => format!("check {model} and {max_tokens}"),
            _ => "the server itself failed: check its log".to_owned(),
        };
        let said = format!("{path} answered {status}: {} ({advice})", self.body_excerpt(page));
        let status = Some(status.as_u16());
        ModelFailure { status, ..ModelFailure::internal(self.describe_server(&said)) }
    }

    /// The request broke off. The library's own message would carry the address with its user part.
    fn transport_failure(&self, path: &str, problem: reqwest::Error) -> ModelFailure {
        let is_dead = problem.is_connect();
        let broke_off = !is_dead && !problem.is_builder();
        let problem = problem.without_url();
        let mut causes = problem.to_string();
        let mut cause = problem.source();
        while let Some(deeper) = cause {
            causes.push_str(&format!(": {deeper}"));
            cause = deeper.source();
        }
        let advice =
            format!("check that the server of {} runs and can be reached from here", self.settings.base_url);
        let said = format!("{path}: {} ({advice})", self.body_excerpt(&causes));
        let failure = ModelFailure::internal(self.describe_server(&said));
        ModelFailure { is_dead, may_have_cost: broke_off, broke_off, ..failure }
    }

    fn too_late(&self, path: &str) -> ModelFailure {
        let seconds = self.timeout.as_secs_f64();
        let said = format!(
            "{path} did not answer within {seconds} s; check that the server is not busy loading the model, \
             or raise {}",
            self.settings.timeout
        );
        ModelFailure {
            may_have_cost: true,
            is_dead: true,
            ..ModelFailure::new(Kind::Timeout, self.describe_server(&said))
        }
    }

    pub fn describe_server(&self, said: &str) -> String {
        format!("the model server {} {said}", self.shown)
    }

    /// The beginning of a foreign text, on one line, without what must not be told.
    fn body_excerpt(&self, text: &str) -> String {
        let clean = untrusted::clean_text(text);
        let one_line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
        let safe = AUTHORIZATION_ECHO.replace_all(&self.without_secrets(&one_line), "$1 ***").into_owned();
        match safe.char_indices().nth(TOLD_CHARACTERS) {
            Some((end, _)) => format!("{}…", &safe[..end]),
            None if safe.is_empty() => "(nothing)".to_owned(),
            None => safe,
        }
    }

    pub fn without_secrets(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }
}

fn auth_headers(
    style: KeyHeader,
    key: Option<&str>,
    login: Option<&Login>,
) -> Result<HeaderMap, reqwest::header::InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    if let KeyHeader::XApiKey(version) = style {
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static(version));
    }
    match (key, style, login) {
        (Some(key), KeyHeader::XApiKey(_), _) => {
            headers.insert(HeaderName::from_static("x-api-key"), sensitive_header(key)?);
        }
        (Some(key), KeyHeader::Bearer, _) => {
            headers.insert(AUTHORIZATION, sensitive_header(&format!("Bearer {key}"))?);
        }
        (None, _, Some(login)) => {
            headers.insert(AUTHORIZATION, sensitive_header(&login.basic_auth())?);
        }
        (None, _, None) => {}
    }
    Ok(headers)
}

/// Only the form in seconds: a date would need the server's clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// A header that a server printed back, whoever's key is in it.
#[allow(clippy::unwrap_used, reason = "a constant pattern, compiled by every test")]
static AUTHORIZATION_ECHO: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(bearer|basic)\s+[^\s,;<>]+").unwrap());

/// User and password that people write into an address.
struct Login {
    /// As they stand in the address.
    written: [String; 2],
    user: String,
    password: String,
}

impl Login {
    fn take_from(url: &mut Url) -> Option<Login> {
        let (user, password) = (url.username().to_owned(), url.password().unwrap_or_default().to_owned());
        if user.is_empty() && password.is_empty() {
            return None;
        }
        // These two fail only for addresses without a host, which have no user part either.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let (decoded_user, decoded_password) = (percent_decoded(&user), percent_decoded(&password));
        Some(Login { written: [user, password], user: decoded_user, password: decoded_password })
    }

    fn encode_login(&self) -> String {
        BASE64_STANDARD.encode(format!("{}:{}", self.user, self.password))
    }

    fn basic_auth(&self) -> String {
        format!("Basic {}", self.encode_login())
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.filter(|_| first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn secrets_of(key: Option<&str>, login: Option<&Login>, address: &Endpoint) -> Vec<String> {
    let mut secrets: Vec<String> = key.map(str::to_owned).into_iter().collect();
    if let Some(login) = login {
        secrets.extend(login.written.clone());
        secrets.extend([login.encode_login(), login.user.clone(), login.password.clone()]);
    }
    let query = address.reveal().split_once('?').map(|(_, query)| query).unwrap_or_default();
    secrets.extend(query.split(['&', '#']).filter_map(|pair| Some(pair.split_once('=')?.1.to_owned())));
    // As they stand inside JSON, which some servers write with `\/` for every slash.
    let quoted = |secret: &String| json!(secret).to_string().trim_matches('"').to_owned();
    let written: Vec<String> = secrets.iter().map(quoted).collect();
    let slashed: Vec<String> = written.iter().map(|secret| secret.replace('/', "\\/")).collect();
    secrets.extend(written.into_iter().chain(slashed));
    secrets.retain(|secret| !secret.is_empty());
    secrets.sort_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
    secrets.dedup();
    secrets
}

fn sensitive_header(text: &str) -> Result<HeaderValue, reqwest::header::InvalidHeaderValue> {
    let mut value = HeaderValue::from_str(text)?;
    value.set_sensitive(true);
    Ok(value)
}

fn unwritable_key(settings: &SettingNames) -> Error {
    Error::internal(format!(
        "{} contains characters that are invalid in an HTTP header; copy it again without line breaks",
        settings.api_key
    ))
}

/// One message to a host that was judged by its address.
#[derive(Clone, Copy, Debug)]
pub struct PinnedPost<'a> {
    pub url: &'a Url,
    /// Where the connection goes, whatever the name leads to by now.
    pub address: std::net::SocketAddr,
    pub headers: &'a [(&'a str, &'a str)],
    /// JSON.
    pub body: &'a str,
    pub timeout: Duration,
}

/// Sends it once, and answers the status; what else the host says is not read.
pub fn post_pinned(post: &PinnedPost, cancel: &Cancel) -> Result<u16, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|problem| format!("cannot start the async runtime: {problem}"))?;
    let done = runtime.block_on(async {
        tokio::select! {
            done = tokio::time::timeout(post.timeout, send_pinned(post)) => done,
            () = wait_cancelled(cancel) => Ok(Err("it was cancelled".to_owned())),
        }
    });
    crate::runtime::end(runtime);
    done.unwrap_or_else(|_| Err(format!("the host did not answer within {} s", post.timeout.as_secs())))
}

async fn send_pinned(post: &PinnedPost<'_>) -> Result<u16, String> {
    let builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .retry(reqwest::retry::never())
        .resolve(post.url.host_str().unwrap_or_default(), post.address)
        .user_agent(concat!("os-screen-observer/", env!("CARGO_PKG_VERSION")));
    let client = with_tls_for(post.url.scheme(), builder)?.build();
    let client = client.map_err(|problem| problem.without_url().to_string())?;
    let mut request = client.post(post.url.clone()).header(CONTENT_TYPE, "application/json");
    for (name, value) in post.headers {
        request = request.header(*name, *value);
    }
    let sent = request.body(post.body.to_owned()).send().await;
    sent.map(|response| response.status().as_u16()).map_err(|problem| problem.without_url().to_string())
}

/// A client for addresses of this scheme. Certificates are not loaded for a server that has none: a machine without any
/// could not talk to its own Ollama.
pub fn with_tls_for(scheme: &str, builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder, String> {
    if scheme == "https" {
        use_ring();
        return Ok(builder);
    }
    Ok(builder.tls_backend_preconfigured(no_tls()?))
}

/// The library's own choice would need cmake to build.
fn use_ring() {
    // Somebody else may have chosen before; any choice will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A configuration that trusts nobody, for connections that use no TLS at all.
fn no_tls() -> Result<rustls::ClientConfig, String> {
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|problem| format!("TLS cannot be set up: {problem}"))?;
    Ok(builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

pub async fn wait_cancelled(cancel: &Cancel) {
    while cancel.check().is_ok() {
        sleep_task(LOOK_UP).await;
    }
}

/// As much of an error page as is worth reading; one that breaks off is told as far as it came.
async fn read_error_page(mut response: Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > ERROR_BYTES {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Names from `{"data": [{"id"}]}`, `{"models": [{"name"}]}` or a bare list; `None` if it is none of them.
pub fn model_names(text: &str) -> Option<Vec<String>> {
    let reply: Value = serde_json::from_str(text).ok()?;
    let list = reply.get("data").or(reply.get("models")).unwrap_or(&reply).as_array()?;
    let name = |model: &Value| {
        let named = ["id", "name", "model"].iter().find_map(|key| model.get(*key)?.as_str());
        let name = untrusted::clean_text(named.or(model.as_str())?);
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        (!name.is_empty()).then_some(name)
    };
    Some(list.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: SettingNames = SettingNames {
        base_url: "a.base_url",
        api_key: "a.api_key",
        api_key_or_variable: "a.api_key",
        model: "a.model",
        timeout: "a.timeout_s",
        smaller: "a.image_max_dim",
        max_tokens: "a.max_tokens",
    };

    fn server(url: &str, key: Option<&str>) -> Result<ModelServer, Error> {
        server_with(KeyHeader::Bearer, url, key)
    }

    fn server_with(key_header: KeyHeader, url: &str, key: Option<&str>) -> Result<ModelServer, Error> {
        let (base_url, key) = (Endpoint::new(url), key.map(Secret::new));
        ModelServer::new(&ServerConfig {
            base_url: &base_url,
            api_key: key.as_ref(),
            key_header,
            timeout: Duration::from_secs(1),
            answer_bytes: 1000,
            settings: &SETTINGS,
        })
    }

    #[track_caller]
    fn check_addresses(url: &str, expected: &[&str]) {
        let client = server(url, None).unwrap();
        let addresses: Vec<String> = client.candidate_urls("/models").iter().map(Url::to_string).collect();
        assert_eq!(addresses, expected, "{url}");
    }

    #[test]
    fn both_prefixes_are_tried_unless_the_address_has_one() {
        check_addresses("http://h:3000", &["http://h:3000/api/v1/models", "http://h:3000/v1/models"]);
        check_addresses("http://h/sub/", &["http://h/sub/api/v1/models", "http://h/sub/v1/models"]);
        check_addresses("https://h/v1", &["https://h/v1/models"]);
        check_addresses("https://u:p@h/api/v1/?k=v", &["https://h/api/v1/models?k=v"]);
    }

    #[track_caller]
    fn check_excerpt(text: &str, expected: &str) {
        let client = server("http://us%65r:pa:ss@h?k=QUERYKEY", Some("KEY123")).unwrap();
        assert_eq!(client.body_excerpt(text), expected);
    }

    #[test]
    fn nothing_secret_is_told() {
        check_excerpt("wrong key KEY123!", "wrong key ***!");
        check_excerpt("Authorization: Bearer other-key, sorry", "Authorization: Bearer ***, sorry");
        check_excerpt("{\"authorization\": \"Basic Zm9v\"}", "{\"authorization\": \"Basic ***");
        check_excerpt("hello user with pa:ss and QUERYKEY", "hello *** with *** and ***");
        check_excerpt("a\n\n  b\x1b[2J", "a b");
        check_excerpt("", "(nothing)");
    }

    #[test]
    fn an_excerpt_is_short() {
        let long = "é".repeat(300);
        check_excerpt(&long, &format!("{}…", "é".repeat(200)));
        // A key across the cut is covered before the cut.
        check_excerpt(&format!("{}KEY123", "x".repeat(197)), &format!("{}***", "x".repeat(197)));
    }

    #[test]
    fn the_key_beats_the_login() {
        let header = |url: &str, key| {
            let client = server(url, key).unwrap();
            client.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(header("http://h", None), None);
        assert_eq!(header("http://h", Some(" k ")).as_deref(), Some("Bearer k"));
        assert_eq!(header("http://u:p@h", Some("k")).as_deref(), Some("Bearer k"));
        assert_eq!(header("http://u:p%21@h", None).as_deref(), Some("Basic dTpwIQ=="));
        let problem = server("http://h", Some("KEY\nLINE")).err().unwrap();
        assert!(!problem.to_string().contains("KEY"), "{problem}");
    }

    #[test]
    fn anthropic_gets_its_key_in_its_own_header() {
        let server = server_with(KeyHeader::XApiKey("2023-06-01"), "https://h", Some("k")).unwrap();
        assert_eq!(server.headers.get("x-api-key").unwrap(), "k");
        assert_eq!(server.headers.get("anthropic-version").unwrap(), "2023-06-01");
        assert_eq!(server.headers.get(AUTHORIZATION), None);
    }

    #[test]
    fn a_key_in_the_open_is_noticed() {
        let open = |url: &str, key| server(url, key).unwrap().sends_key_in_the_open();
        assert!(open("http://example.org", Some("k")));
        assert!(open("http://10.0.0.1:8000", Some("k")));
        for url in ["https://example.org", "http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"] {
            assert!(!open(url, Some("k")), "{url}");
        }
        assert!(!open("http://example.org", None));
    }

    #[test]
    fn lists_of_models_are_read_leniently() {
        let names = |text: &str| model_names(text);
        assert_eq!(names(r#"{"data":[{"id":"a"},{"id":"b\u001b[2J"},{"id":""},3]}"#).unwrap(), ["a", "b"]);
        assert_eq!(names(r#"{"models":[{"name":"llava:7b"}]}"#).unwrap(), ["llava:7b"]);
        assert_eq!(names(r#"["x"]"#).unwrap(), ["x"]);
        assert_eq!(names("<html>"), None);
        assert_eq!(names(r#"{"data":{}}"#), None);
    }
}
