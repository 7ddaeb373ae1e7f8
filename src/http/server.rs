//! The server: its own accept loop, because every connection, head, body and request has a limit or a
//! deadline here. It lets requests through the guard and hands them to the router; it knows no route.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::{self, HeaderName};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::NotServed;
use super::clickthrough;
use super::events;
use super::guard::{self, Admitted, Face, Rules};
use super::meter::{ByteMeter, Metered};
use super::places::{ClaimedPlace, ConnectionPlaces, ConnectionState};
use super::present::{self, HttpRefusal};
use super::router;
#[cfg(feature = "jobs")]
use super::screenjob;
use super::surface::Surface;
use super::token::Token;
use crate::app::App;
use crate::clock::{Clock, sleep_task};
use crate::config::{AppVerdict, ConfirmationMode, limits};
use crate::gate::Origin;
use crate::guessing::Guesses;
use crate::privacy::redact::Redactor;

/// How long a place may take to become free once its connection was told to go.
const MAKE_ROOM: Duration = Duration::from_secs(1);
/// How long connections may go on when the server ends.
const GRACE: Duration = Duration::from_millis(250);
/// How long to wait when the system has no more connections to give.
const OUT_OF_SOCKETS: Duration = Duration::from_millis(50);

pub const COMPILED_IN: bool = true;

/// A server that is up.
pub struct Listening {
    pub address: SocketAddr,
    /// Where the inspector is; with the token, if the server made it.
    pub link: String,
    /// Where an automatic token is kept.
    pub token_file: Option<std::path::PathBuf>,
    /// The port of the other face, where it is served.
    pub clickthrough: Option<u16>,
    /// The same for the API of ScreenJob.
    pub screenjob: Option<u16>,
    thread: JoinHandle<()>,
}

impl Listening {
    /// The address without the token, for logs that others may read.
    pub fn address_link(&self) -> String {
        link_to(self.address)
    }

    /// Waits for the end after the shutdown.
    pub fn finish(self) {
        let _ = self.thread.join();
    }
}

/// Whether questions to the person are answered over HTTP, where nobody else may answer them: in the inspector, for the
/// jobs of a server whose person is asked, and about applications.
fn takes_the_persons_word(app: &App) -> bool {
    let config = &app.config;
    let asks_here = match config.confirmation.mode {
        ConfirmationMode::Inspector => true,
        ConfirmationMode::Ask => config.jobs.enabled,
        ConfirmationMode::Token => false,
    };
    let asks_about_apps = !config.apps.ask.is_empty() || config.apps.default == Some(AppVerdict::Ask);
    (asks_here && app.gate.may_need_consent()) || asks_about_apps
}

/// Binds, and serves on a thread of its own until the shutdown. What cannot be served safely is not started.
pub fn start(app: Arc<App>, shutdown: CancellationToken) -> Result<Listening, NotServed> {
    let config = &app.config.web_ui;
    let listener = bind_listener(&config.host, config.port).map_err(NotServed::Unavailable)?;
    let address = listener.local_addr().map_err(bind_failed)?;
    let token = Token::of(config, takes_the_persons_word(&app)).map_err(NotServed::Refused)?;
    if token.is_none() && !address.ip().to_canonical().is_loopback() {
        return Err(NotServed::Refused(format!(
            "refusing to listen on {address}, which other machines can reach, without a token; set \
             OSO_TOKEN, or web_ui.token to \"auto\""
        )));
    }
    if let Some(token) = &token {
        app.redactor.keep(token.reveal());
    }
    if config.cors_origins.iter().any(|origin| origin == "*") {
        tracing::warn!(
            "web_ui.cors_origins contains \"*\": any web page open in a browser on this machine can call this server"
        );
    }
    if app.config.vlm.enabled && app.config.vlm.model.is_none() {
        tracing::warn!(
            "no vision model is chosen (vlm.model); `os-screen-observer models --pick` lists them"
        );
    }
    app.gate.events.begin();
    app.gate.approvals.enable_approvals();
    let made = token.as_ref().filter(|token| token.kept_in.is_some());
    let link = match made {
        Some(token) => format!("{}#token={}", link_to(address), token.reveal()),
        None => link_to(address),
    };
    let token_file = made.and_then(|token| token.kept_in.clone());
    let other = clickthrough_door(&app, token.as_ref())?;
    let clickthrough = other.as_ref().map(|(_, rules)| rules.port);
    let for_jobs = screenjob_door(&app)?;
    let screenjob = for_jobs.as_ref().map(|(_, rules)| rules.port);
    let rules = Rules {
        face: Face::Own,
        names: vec![config.host.clone()],
        hosts: config.hosts.clone(),
        port: address.port(),
        cors_origins: config.cors_origins.clone(),
        token,
    };
    let doors = std::iter::once((listener, rules)).chain(other).chain(for_jobs).collect();
    let thread = std::thread::Builder::new()
        .name("http".to_owned())
        .spawn(move || serve(doors, app, shutdown))
        .map_err(|problem| NotServed::Unavailable(format!("cannot start the HTTP thread: {problem}")))?;
    Ok(Listening { address, link, token_file, clickthrough, screenjob, thread })
}

fn bind_failed(problem: std::io::Error) -> NotServed {
    NotServed::Unavailable(problem.to_string())
}

type Entrance = (TcpListener, Rules);

/// The door of the other face, if it is switched on. It asks for its own token, or else for that of the first one.
fn clickthrough_door(app: &App, token: Option<&Token>) -> Result<Option<Entrance>, NotServed> {
    let config = &app.config.clickthrough;
    if !config.enabled {
        return Ok(None);
    }
    let listener = bind_listener(&config.host, config.port).map_err(|problem| {
        NotServed::Unavailable(format!("clickthrough: {problem} (clickthrough.port, CLICKTHROUGH_PORT)"))
    })?;
    let address = listener.local_addr().map_err(bind_failed)?;
    let own = config.token.as_ref().map(|text| Token::from_config(text.reveal())).transpose();
    let own = own.map_err(NotServed::Refused)?;
    let token = own.or_else(|| token.cloned());
    if token.is_none() && !address.ip().to_canonical().is_loopback() {
        return Err(NotServed::Refused(format!(
            "refusing to listen on {address}, which other machines can reach, without a token; set \
             CLICKTHROUGH_TOKEN or clickthrough.token"
        )));
    }
    if let Some(token) = &token {
        app.redactor.keep(token.reveal());
    }
    let rules = Rules {
        face: Face::Clickthrough,
        names: vec![config.host.clone()],
        hosts: app.config.web_ui.hosts.clone(),
        port: address.port(),
        // Its clients are programs; no page has to reach it.
        cors_origins: Vec::new(),
        token,
    };
    Ok(Some((listener, rules)))
}

/// The door of ScreenJob's API, if it is switched on. It always asks for a token.
fn screenjob_door(app: &App) -> Result<Option<Entrance>, NotServed> {
    let config = &app.config.screenjob;
    if !config.enabled {
        return Ok(None);
    }
    if !cfg!(feature = "jobs") || !app.config.jobs.enabled {
        let why = "the ScreenJob-compatible API needs jobs.enabled, and a build with the feature jobs";
        return Err(NotServed::Refused(why.to_owned()));
    }
    let Some(token) = &config.token else {
        let why = "the ScreenJob-compatible API is not served without a token; set SCREENJOB_TOKEN";
        return Err(NotServed::Refused(why.to_owned()));
    };
    let token = Token::from_setting(token.reveal(), "screenjob.token, SCREENJOB_TOKEN");
    let token = token.map_err(NotServed::Refused)?;
    app.redactor.keep(token.reveal());
    let listener = bind_listener(&config.host, config.port).map_err(|problem| {
        NotServed::Unavailable(format!("screenjob: {problem} (screenjob.port, SCREENJOB_PORT)"))
    })?;
    let address = listener.local_addr().map_err(bind_failed)?;
    let rules = Rules {
        face: Face::ScreenJob,
        names: vec![config.host.clone()],
        hosts: app.config.web_ui.hosts.clone(),
        port: address.port(),
        cors_origins: Vec::new(),
        token: Some(token),
    };
    Ok(Some((listener, rules)))
}

/// An address that a browser on this machine can open.
fn link_to(address: SocketAddr) -> String {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => format!("http://127.0.0.1:{}/", address.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => format!("http://[::1]:{}/", address.port()),
        _ => format!("http://{address}/"),
    }
}

fn bind_listener(host: &str, port: u16) -> Result<TcpListener, String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> = (bare, port)
        .to_socket_addrs()
        .map_err(|problem| format!("web_ui.host '{host}' is not an address: {problem}"))?
        .collect();
    let listener = TcpListener::bind(addresses.as_slice()).map_err(|problem| {
        format!("cannot listen on {host}:{port}: {problem}; choose another --port, 0 takes a free one")
    })?;
    listener.set_nonblocking(true).map_err(|problem| problem.to_string())?;
    Ok(listener)
}

fn serve(doors: Vec<Entrance>, app: Arc<App>, shutdown: CancellationToken) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(problem) => return tracing::error!("cannot start the HTTP runtime: {problem}"),
    };
    runtime.block_on(async move {
        let asks_token = doors.first().is_some_and(|(_, rules)| rules.token.is_some());
        let surface = Arc::new(Surface::new(app, shutdown.clone(), asks_token));
        tokio::spawn(events::follow_windows(surface.clone()));
        let mut open = tokio::task::JoinSet::new();
        for (listener, rules) in doors {
            match tokio::net::TcpListener::from_std(listener) {
                Ok(listener) => {
                    let router = match rules.face {
                        Face::Own => router::build_router(&surface),
                        Face::Clickthrough => clickthrough::router(&surface),
                        #[cfg(feature = "jobs")]
                        Face::ScreenJob => screenjob::router(&surface),
                        #[cfg(not(feature = "jobs"))]
                        Face::ScreenJob => Router::new(),
                    };
                    let redactor = surface.app.redactor.clone();
                    let door = Arc::new(Door {
                        rules,
                        router,
                        redactor,
                        shutdown: shutdown.clone(),
                        clock: surface.app.clock.clone(),
                        guesses: Guesses::new("a token over HTTP"),
                        long_body: Semaphore::new(1),
                    });
                    open.spawn(door.accept(listener));
                }
                Err(problem) => tracing::error!("cannot serve HTTP: {problem}"),
            }
        }
        open.join_all().await;
    });
    crate::runtime::end(runtime);
}

struct Door {
    rules: Rules,
    router: Router,
    redactor: Arc<Redactor>,
    shutdown: CancellationToken,
    clock: Clock,
    guesses: Guesses,
    /// Held by the one body at a time that is long enough to be a picture.
    long_body: Semaphore,
}

impl Door {
    async fn accept(self: Arc<Self>, listener: tokio::net::TcpListener) {
        let mut places = ConnectionPlaces::new(limits::HTTP_CONNECTIONS);
        let mut kept = ConnectionPlaces::new(limits::HTTP_KEPT_CONNECTIONS);
        loop {
            let accepted = tokio::select! {
                () = self.shutdown.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                sleep_task(OUT_OF_SOCKETS).await;
                continue;
            };
            let Ok(local) = stream.local_addr() else { continue };
            // One too many is closed at once: whoever waits would not know why.
            let claimed = places.claim(false).or_else(|| kept.claim(true));
            if let Some(claim) = claimed {
                tokio::spawn(self.clone().serve_claimed(stream, local, claim));
            }
        }
        // Whoever is being answered gets a moment.
        let _ = tokio::time::timeout(GRACE, places.all_left()).await;
    }

    async fn serve_claimed(self: Arc<Self>, stream: TcpStream, local: SocketAddr, claim: ClaimedPlace) {
        let ClaimedPlace { slots, free, connection } = claim;
        let slot = match free {
            Some(slot) => Some(slot),
            // Somebody who has said nothing yet was told to go.
            None => tokio::time::timeout(MAKE_ROOM, slots.acquire_owned()).await.ok().and_then(Result::ok),
        };
        if slot.is_none() {
            return;
        }
        tokio::select! {
            () = self.serve_connection(stream, local, connection.clone()) => {}
            () = connection.told_to_go.cancelled() => {}
        }
        // Whoever hangs up before the answer to a wrong token has not saved the pause.
        sleep_task(connection.owed_pause()).await;
        drop(slot);
    }

    async fn serve_connection(
        self: Arc<Self>,
        stream: TcpStream,
        local: SocketAddr,
        place: Arc<ConnectionState>,
    ) {
        // Without it a small answer waits for the acknowledgement of the one before.
        let _ = stream.set_nodelay(true);
        let door = self.clone();
        let meter = ByteMeter::new();
        let stream = Metered::new(stream, meter.clone());
        let service = service_fn(move |request| {
            let (door, meter, place) = (door.clone(), meter.clone(), place.clone());
            async move { Ok::<_, Infallible>(door.answer_request(request, local, &meter, &place).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits::HTTP_HEADER_TIME)
            .max_buf_size(limits::HTTP_HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        tokio::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => {}
            () = self.shutdown.cancelled() => {
                connection.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(GRACE, connection).await;
            }
        }
    }

    async fn answer_request(
        &self,
        request: Request<Incoming>,
        local: SocketAddr,
        meter: &ByteMeter,
        place: &ConnectionState,
    ) -> Response<Body> {
        place.note_head();
        // The head is here; whatever it is answered, the next one may come.
        meter.expect_head();
        let (parts, body) = request.into_parts();
        let uri = parts.uri.clone();
        let in_chunks = parts.headers.contains_key(header::TRANSFER_ENCODING);
        let (mut response, cors) = match guard::admit_request(&self.rules, &parts, local) {
            Ok(_) if place.kept && !self.rules.face.is_persons(uri.path()) => {
                let message = "all places are in use; this one is kept for the stop switch and for approvals";
                let refusal = HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, message);
                (close_after(self.refuse_request(refusal)), None)
            }
            Ok(admitted) => (self.serve_admitted(parts, body, &admitted, meter).await, admitted.cors),
            Err(refusal) => {
                if refusal.is_wrong_token() {
                    place.pause(self.guesses.note_wrong(self.clock.now())).await;
                }
                (self.refuse_request(refusal), None)
            }
        };
        response = present::without_secrets(response, &self.redactor);
        if response.status() == StatusCode::METHOD_NOT_ALLOWED
            && let Some(allow) = self.methods_at(&uri).await
        {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        add_headers(response.headers_mut(), cors);
        // A body that also told its length may end elsewhere for somebody in between; what follows it is not read.
        if in_chunks { close_after(response) } else { response }
    }

    async fn serve_admitted(
        &self,
        mut parts: Parts,
        body: Incoming,
        admitted: &Admitted,
        meter: &ByteMeter,
    ) -> Response<Body> {
        if parts.method == Method::OPTIONS {
            return self.allowed_methods(&parts.uri).await;
        }
        // One at a time, until it is answered: it is kept as it came, as text, and unpacked.
        let _long =
            match guard::may_be_long(&parts.headers) && self.rules.face.takes_pictures(parts.uri.path()) {
                true => self.long_body.acquire().await.ok(),
                false => None,
            };
        let body = match read(&parts, body, self.rules.face, meter).await {
            Ok(body) => body,
            Err(refusal) => return close_after(self.refuse_request(refusal)),
        };
        parts.extensions.insert(if admitted.from_page { Origin::Inspector } else { Origin::Rest });
        self.route_request(Request::from_parts(parts, body)).await
    }

    /// In the shape that the clients of this door know.
    fn refuse_request(&self, refusal: HttpRefusal) -> Response<Body> {
        match self.rules.face {
            Face::Own | Face::ScreenJob => refusal.into_response(),
            Face::Clickthrough => clickthrough::refused(refusal),
        }
    }

    async fn route_request(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
    }

    async fn allowed_methods(&self, uri: &Uri) -> Response<Body> {
        match self.methods_at(uri).await {
            Some(allow) => {
                let mut response = Response::new(Body::empty());
                response.headers_mut().insert(header::ALLOW, allow);
                response
            }
            None => self.refuse_request(HttpRefusal::not_found()),
        }
    }

    /// How a path may be asked. The router knows: no route takes OPTIONS, so it names what the path takes.
    async fn methods_at(&self, uri: &Uri) -> Option<HeaderValue> {
        let mut probe = Request::new(Body::empty());
        *probe.method_mut() = Method::OPTIONS;
        *probe.uri_mut() = uri.clone();
        let refused = self.route_request(probe).await;
        let named = refused.headers().get(header::ALLOW)?.to_str().ok()?;
        // The router lets every GET be asked as HEAD; the door does so for the files of the page only.
        let taken = named
            .split(',')
            .map(str::trim)
            .filter(|method| *method != "HEAD" || !self.rules.face.is_api(uri.path()));
        HeaderValue::from_str(&taken.chain(["OPTIONS"]).collect::<Vec<_>>().join(", ")).ok()
    }
}

/// The whole body, within its limit and its time. What a GET carries is nobody's.
async fn read(parts: &Parts, body: Incoming, face: Face, meter: &ByteMeter) -> Result<Body, HttpRefusal> {
    if parts.method == Method::GET || parts.method == Method::HEAD {
        return Ok(Body::empty());
    }
    let most = face.most_bytes(parts.uri.path());
    meter.expect_body(most);
    let arrived = tokio::time::timeout(limits::HTTP_BODY_TIME, Limited::new(body, most).collect()).await;
    let too_long = meter.is_used_up();
    meter.expect_head();
    match arrived {
        Ok(Ok(whole)) => Ok(Body::from(whole.to_bytes())),
        Ok(Err(problem)) if too_long || problem.is::<LengthLimitError>() => Err(HttpRefusal::too_large(most)),
        Ok(Err(problem)) => {
            Err(HttpRefusal::new(StatusCode::BAD_REQUEST, format!("the body could not be read: {problem}")))
        }
        Err(_) => Err(HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")),
    }
}

fn close_after(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// What every answer says to a browser; a page of ours may have said more.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

fn add_headers(headers: &mut HeaderMap, cors: Option<HeaderValue>) {
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    let Some(origin) = cors else {
        return;
    };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(super::ALLOWED_METHODS));
    let sent =
        HeaderValue::from_static("Authorization, Content-Type, Mcp-Protocol-Version, Mcp-Method, Mcp-Name");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, sent);
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
}
