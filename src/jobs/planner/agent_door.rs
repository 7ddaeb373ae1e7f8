//! The only tool of a coding agent that plans a job: an MCP server on a port of this computer, for one job and one
//! token. What is called there is a step of the job.
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http>

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::host::{DuringPause, HostAnswer, HostSeat};
use super::offer::Offer;
use super::wire::{in_base64, media_type};
use super::{CallResult, PlannedStep};
use crate::clock::Cancel;
use crate::config::Secret;
use crate::random::random_token;

/// An agent asks for one thing at a time; some hold a second connection.
const MOST_CONNECTIONS: usize = 8;
const LARGEST_HEAD: u64 = 16 << 10;
const LARGEST_BODY: usize = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(30);
const KNOWN_VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const NOT_FOUND: i64 = -32601;
const UNREADABLE: i64 = -32700;

/// Listens until it is dropped.
pub struct AgentDoor {
    pub url: String,
    pub token: Secret,
    address: SocketAddr,
    shared: Arc<DoorState>,
    thread: Option<JoinHandle<()>>,
}

struct DoorState {
    seat: HostSeat,
    offer: Offer,
    token: Secret,
    address: SocketAddr,
    open: AtomicUsize,
    ended: Cancel,
}

impl AgentDoor {
    pub fn open(seat: HostSeat, offer: Offer) -> Result<Self, String> {
        let problem = |problem: std::io::Error| format!("no port of this computer can be opened: {problem}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(problem)?;
        let address = listener.local_addr().map_err(problem)?;
        let token = Secret::new(format!("{}{}", random_token(""), random_token("")));
        let shared = Arc::new(DoorState {
            seat,
            offer,
            token: token.clone(),
            address,
            open: AtomicUsize::new(0),
            ended: Cancel::new(),
        });
        let state = shared.clone();
        let thread = std::thread::spawn(move || serve_all(&listener, &state));
        Ok(Self { url: format!("http://{address}/mcp"), token, address, shared, thread: Some(thread) })
    }
}

impl Drop for AgentDoor {
    fn drop(&mut self) {
        self.shared.ended.fire();
        // Whoever waits for a connection gets one.
        let _ = TcpStream::connect_timeout(&self.address, PATIENCE);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve_all(listener: &TcpListener, state: &Arc<DoorState>) {
    for stream in listener.incoming() {
        if state.ended.check().is_err() {
            return;
        }
        let Ok(stream) = stream else { continue };
        if state.open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            state.open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let state = state.clone();
        std::thread::spawn(move || {
            serve_one(&stream, &state);
            state.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

struct HttpRequest {
    method: String,
    host: String,
    authorization: String,
    body: Vec<u8>,
}

/// One request of a connection; the client opens another for the next.
fn serve_one(stream: &TcpStream, state: &DoorState) {
    let timeouts =
        stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
    if timeouts.is_err() {
        return;
    }
    let (status, body) = match read_request(stream) {
        None => ("400 Bad Request", None),
        Some(request) => respond(&request, state),
    };
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut out = stream;
    // A client that has gone away needs no answer.
    let _ = out.write_all(head.as_bytes()).and_then(|()| out.write_all(body.as_bytes()));
}

fn read_request(stream: &TcpStream) -> Option<HttpRequest> {
    let mut reader = BufReader::new(stream.take(LARGEST_HEAD));
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let method = line.split(' ').next()?.to_owned();
    let mut request =
        HttpRequest { method, host: String::new(), authorization: String::new(), body: Vec::new() };
    let mut length = 0_usize;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" => request.host = value.to_owned(),
            "authorization" => request.authorization = value.to_owned(),
            "content-length" => length = value.parse().ok()?,
            "transfer-encoding" => return None,
            _ => {}
        }
    }
    if !line.ends_with('\n') || length > LARGEST_BODY {
        return None;
    }
    request.body = reader.buffer().get(..length.min(reader.buffer().len()))?.to_vec();
    let missing = length - request.body.len();
    let mut rest = vec![0; missing];
    let mut stream = stream;
    stream.read_exact(&mut rest).ok()?;
    request.body.extend(rest);
    Some(request)
}

fn respond(request: &HttpRequest, state: &DoorState) -> (&'static str, Option<Value>) {
    let port = state.address.port();
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if !hosts.contains(&request.host) {
        return ("403 Forbidden", None);
    }
    let shown =
        request.authorization.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    if !shown.is_some_and(|(_, token)| state.token.is(token.trim())) {
        return ("401 Unauthorized", None);
    }
    if request.method != "POST" {
        return ("405 Method Not Allowed", None);
    }
    let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
        return ("400 Bad Request", Some(rpc_error(&Value::Null, UNREADABLE, "the body is no JSON")));
    };
    match answer_message(&message, state) {
        Some(answer) => ("200 OK", Some(answer)),
        None => ("202 Accepted", None),
    }
}

/// `None` for what wants no answer.
fn answer_message(message: &Value, state: &DoorState) -> Option<Value> {
    let id = message.get("id").filter(|id| !id.is_null())?;
    let params = message.get("params").unwrap_or(&Value::Null);
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let result = match method {
        "initialize" => initialized(params),
        "ping" => json!({}),
        "tools/list" => json!({"tools": state.offer.tools.iter().map(listed_tool).collect::<Vec<_>>()}),
        "tools/call" => call_tool(params, state),
        _ => return Some(rpc_error(id, NOT_FOUND, "there is no such method here")),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn rpc_error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn initialized(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = KNOWN_VERSIONS.iter().find(|known| **known == asked).or(KNOWN_VERSIONS.first());
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "os-screen-observer", "version": env!("CARGO_PKG_VERSION")},
    })
}

fn listed_tool(tool: &super::wire::OfferedTool) -> Value {
    json!({"name": tool.name, "description": tool.brief, "inputSchema": tool.schema})
}

fn call_tool(params: &Value, state: &DoorState) -> Value {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let arguments = params.get("arguments").unwrap_or(&Value::Null);
    let steps = state.offer.steps(name, arguments, None);
    let mut answer = told("nothing was done".to_owned(), true);
    for step in steps {
        answer = take_step(step, state);
        if answer.get("isError") == Some(&Value::Bool(true)) {
            break;
        }
    }
    answer
}

fn take_step(step: PlannedStep, state: &DoorState) -> Value {
    let is_end = matches!(step, PlannedStep::Finish(_) | PlannedStep::Fail(_));
    match state.seat.take_step(step, DuringPause::Wait, &state.ended) {
        HostAnswer::Result(result, remark) => told_result(&result, remark),
        HostAnswer::Remark(remark) | HostAnswer::Paused { why: remark, .. } => told(remark, true),
        HostAnswer::Ended if is_end => told("the job is over".to_owned(), false),
        HostAnswer::Ended => told("the job is over; nothing was done".to_owned(), true),
    }
}

fn told(text: String, is_error: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

fn told_result(result: &CallResult, remark: Option<String>) -> Value {
    let text = [Some(result.text.clone()), remark].into_iter().flatten().collect::<Vec<_>>().join("\n");
    let mut answer = told(text, result.error.is_some());
    if let (Some(picture), Some(content)) = (&result.picture, answer["content"].as_array_mut()) {
        content.push(json!({"type": "image", "data": in_base64(picture), "mimeType": media_type(picture)}));
    }
    answer
}
