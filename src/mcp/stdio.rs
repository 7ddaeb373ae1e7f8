//! Standard input and output as an rmcp transport: the only place in the program that owns stdout.
//!
//! Lines are bounded while they are read, and so is what is asked and not yet answered, and what is answered
//! and not yet taken: a client cannot make the server buffer without limit. An invalid line is answered with
//! a JSON-RPC error, and the next line is served.
//! <https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#stdio>

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientNotification, ClientRequest,
    ErrorCode, ErrorData, JsonObject, JsonRpcMessage, JsonRpcVersion2_0, RequestId, RequestMetaObject,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::lock;
use crate::config::limits;

/// Messages that may wait for a slow reader of our output.
const MOST_UNWRITTEN: usize = 256;

pub struct Stdio<R> {
    lines: BoundedLines<R>,
    out: Option<mpsc::Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    open: Arc<OpenRequests>,
    ended: CancellationToken,
    /// Whether the client said who it is, which the older protocol begins with.
    greeted: bool,
}

impl<R: AsyncRead + Send + Unpin> Stdio<R> {
    /// `ended` is cancelled when the input ends, and when nobody reads what is written.
    pub fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static, ended: CancellationToken) -> Self {
        let (out, waiting) = mpsc::channel(MOST_UNWRITTEN);
        let open = Arc::<OpenRequests>::default();
        let writer = tokio::spawn(write_all(waiting, output, open.clone(), ended.clone()));
        Self {
            lines: BoundedLines::new(input),
            out: Some(out),
            writer: Some(writer),
            open,
            ended,
            greeted: false,
        }
    }

    /// Does not wait: `receive` may be dropped at any await, and a refusal with it.
    fn refuse_message(&self, code: ErrorCode, message: String, id: Option<RequestId>) {
        let error: TxJsonRpcMessage<RoleServer> =
            JsonRpcMessage::error(ErrorData::new(code, message, None), id);
        let (Some(out), Ok(line)) = (&self.out, to_line(&error)) else {
            return;
        };
        let bytes = line.len();
        self.open.note_made(bytes);
        if out.try_send(line).is_err() {
            self.open.note_taken(bytes);
            tracing::warn!("a bad message was not answered: the client does not read its input");
        }
    }

    /// Whether a message may be served. Two requests of one id could not be told apart by their answers, nor by
    /// who cancels one.
    fn admit_message(&self, message: &RxJsonRpcMessage<RoleServer>, bytes: usize) -> bool {
        let is_new = self.open.note_arrival(message, bytes);
        if !is_new {
            let problem = "another request with this id is still running";
            self.refuse_message(ErrorCode::INVALID_REQUEST, problem.to_owned(), None);
        }
        is_new
    }

    fn parse_message(&mut self, line: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
        let completed = if self.greeted { None } else { self.complete_line(line) };
        let line = completed.as_deref().unwrap_or(line);
        if let Some(call) = tool_call(line) {
            return Some(call);
        }
        let problem = match serde_json::from_slice(line) {
            Ok(message) => return Some(message),
            Err(problem) => problem,
        };
        if problem.is_data() {
            self.refuse_message(
                ErrorCode::INVALID_REQUEST,
                format!("not an MCP message: {problem}"),
                id_of(line),
            );
        } else {
            self.refuse_message(ErrorCode::PARSE_ERROR, format!("not JSON: {problem}"), None);
        }
        None
    }
}

impl<R> Stdio<R> {
    /// Scripts made by hand leave out what the protocol asks for and what we do not need: who they are, or the whole
    /// greeting. What they left out is filled in; a line that has it all stays as it is.
    fn complete_line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let mut message: Value = serde_json::from_slice(line).ok()?;
        let method = message.get("method")?.as_str()?.to_owned();
        message.get("id").filter(|id| !id.is_null())?;
        let request = message.as_object_mut()?;
        let params = request.entry("params").or_insert_with(|| json!({}));
        if params.is_null() {
            *params = json!({});
        }
        let params = params.as_object_mut()?;
        let lacked = if method == "initialize" {
            self.greeted = true;
            fill_in(params, &greeting())
        } else {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            fill_in(meta.as_object_mut()?, &stateless_meta())
        };
        lacked.then(|| serde_json::to_vec(&message).ok()).flatten()
    }
}

fn greeting() -> Value {
    json!({
        "protocolVersion": "2024-11-05",
        "capabilities": {},
        "clientInfo": {"name": "unnamed client", "version": "0"},
    })
}

/// What a request without a greeting has to bring.
/// <https://modelcontextprotocol.io/specification/draft/basic/lifecycle>
fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Whether anything was lacking.
fn fill_in(object: &mut JsonObject, defaults: &Value) -> bool {
    let mut lacked = false;
    for (name, value) in defaults.as_object().into_iter().flatten() {
        if object.get(name).is_none_or(Value::is_null) {
            object.insert(name.clone(), value.clone());
            lacked = true;
        }
    }
    lacked
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Stdio<R> {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (out, open) = (self.out.clone(), self.open.clone());
        async move {
            let line = to_line(&message)?;
            let answered = answered_request(message);
            open.note_made(line.len());
            let sent = match out {
                Some(out) => out.send(line).await.map_err(|_| std::io::ErrorKind::BrokenPipe.into()),
                None => Err(std::io::ErrorKind::NotConnected.into()),
            };
            // Only now: what waits for the reader of our output is as good as not answered.
            open.forget_request(answered.as_ref());
            sent
        }
    }

    /// Dropped and called again whenever something is to be sent, so all progress is kept in `self`.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.open.wait_for_room().await;
            match self.lines.next().await {
                LineRead::Line => {
                    let line = self.lines.take_line();
                    if line.is_empty() {
                        continue;
                    }
                    if let Some(message) = self.parse_message(&line)
                        && self.admit_message(&message, line.len())
                    {
                        return Some(message);
                    }
                }
                LineRead::TooLong => {
                    let message = format!("the line is longer than {} bytes", limits::MCP_LINE_BYTES);
                    self.refuse_message(ErrorCode::INVALID_REQUEST, message, None);
                }
                LineRead::End => {
                    self.ended.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.out = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.await;
        }
        Ok(())
    }
}

fn to_line(message: &TxJsonRpcMessage<RoleServer>) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// A tool call as clients write it. Nearly every line is one, and rmcp would first try to read it as each of
/// the other requests. A line with anything unusual about it is left to rmcp: what is not known would be passed over
/// unread here, and could be no text at all.
pub fn tool_call(line: &[u8]) -> Option<RxJsonRpcMessage<RoleServer>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ToolCall {
        #[serde(rename = "jsonrpc")]
        _version: JsonRpcVersion2_0,
        id: RequestId,
        #[serde(rename = "method")]
        _method: CallToolRequestMethod,
        params: Params,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Option<RequestMetaObject>,
        name: String,
        arguments: Option<JsonObject>,
    }
    let ToolCall { id, params: Params { meta, name, arguments }, .. } = serde_json::from_slice(line).ok()?;
    let mut params = CallToolRequestParams::new(name);
    params.arguments = arguments;
    let mut request = CallToolRequest::new(params);
    // The service takes the metadata (a progress token, for one) from here.
    if let Some(meta) = meta {
        request.extensions.insert(meta);
    }
    Some(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
}

fn id_of(line: &[u8]) -> Option<RequestId> {
    let value: Value = serde_json::from_slice(line).ok()?;
    serde_json::from_value(value.get("id")?.clone()).ok()
}

/// The request that a message answers.
fn answered_request(message: TxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(response.id),
        JsonRpcMessage::Error(error) => error.id,
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// Writes whole lines, as many at a time as are waiting.
async fn write_all(
    mut waiting: mpsc::Receiver<Vec<u8>>,
    mut output: impl AsyncWrite + Unpin,
    open: Arc<OpenRequests>,
    ended: CancellationToken,
) {
    while let Some(mut batch) = waiting.recv().await {
        while batch.len() < 1 << 16
            && let Ok(next) = waiting.try_recv()
        {
            batch.extend_from_slice(&next);
        }
        if output.write_all(&batch).await.is_err() || output.flush().await.is_err() {
            // Whoever cannot read what was done must not have more done.
            tracing::info!("the client reads no more; ending");
            ended.cancel();
            return open.note_nobody_reads();
        }
        open.note_taken(batch.len());
    }
}

/// Requests that have arrived and are not answered yet, and answers that were not taken yet.
#[derive(Default)]
struct OpenRequests {
    traffic: Mutex<Traffic>,
    room: Notify,
}

#[derive(Default)]
struct Traffic {
    /// With the length of the line that each came in.
    asked: HashMap<RequestId, usize>,
    asked_bytes: usize,
    unwritten_bytes: usize,
    nobody_reads: bool,
}

impl Traffic {
    fn is_full(&self) -> bool {
        self.asked.len() >= limits::MCP_UNANSWERED_REQUESTS
            || self.asked_bytes >= limits::MCP_UNANSWERED_BYTES
            || self.unwritten_bytes >= limits::MCP_UNREAD_BYTES
    }
}

impl OpenRequests {
    /// False for a request whose id another one has that is not answered yet.
    fn note_arrival(&self, message: &RxJsonRpcMessage<RoleServer>, bytes: usize) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                let mut traffic = lock(&self.traffic);
                if traffic.asked.contains_key(&request.id) {
                    return false;
                }
                traffic.asked.insert(request.id.clone(), bytes);
                traffic.asked_bytes += bytes;
            }
            JsonRpcMessage::Notification(notification) => {
                // A cancelled request is never answered.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    self.forget_request(cancelled.params.request_id.as_ref());
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        true
    }

    fn forget_request(&self, id: Option<&RequestId>) {
        let Some(id) = id else {
            return;
        };
        let mut traffic = lock(&self.traffic);
        let bytes = traffic.asked.remove(id).unwrap_or(0);
        traffic.asked_bytes -= bytes;
        self.room.notify_one();
    }

    fn note_made(&self, bytes: usize) {
        lock(&self.traffic).unwritten_bytes += bytes;
    }

    fn note_taken(&self, bytes: usize) {
        let mut traffic = lock(&self.traffic);
        traffic.unwritten_bytes = traffic.unwritten_bytes.saturating_sub(bytes);
        self.room.notify_one();
    }

    /// Whoever reads no more may still close the input, and that is to be noticed.
    fn note_nobody_reads(&self) {
        lock(&self.traffic).nobody_reads = true;
        self.room.notify_one();
    }

    async fn wait_for_room(&self) {
        loop {
            {
                let traffic = lock(&self.traffic);
                if traffic.nobody_reads || !traffic.is_full() {
                    return;
                }
            }
            self.room.notified().await;
        }
    }
}

enum LineRead {
    Line,
    TooLong,
    End,
}

/// Lines of at most `MCP_LINE_BYTES`. A longer one is skipped to its end without being kept.
struct BoundedLines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> BoundedLines<R> {
    fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(1 << 16, input), line: Vec::new(), skipping: false }
    }

    async fn next(&mut self) -> LineRead {
        loop {
            let Ok(available) = self.input.fill_buf().await else {
                return LineRead::End;
            };
            if available.is_empty() {
                return LineRead::End;
            }
            let newline = available.iter().position(|&byte| byte == b'\n');
            let used = newline.map_or(available.len(), |at| at + 1);
            let fits = !self.skipping && self.line.len() + used <= limits::MCP_LINE_BYTES;
            if fits {
                self.line.extend_from_slice(&available[..used]);
            } else {
                self.line.clear();
                self.skipping = true;
            }
            self.input.consume(used);
            if newline.is_some() {
                let too_long = std::mem::take(&mut self.skipping);
                return if too_long { LineRead::TooLong } else { LineRead::Line };
            }
        }
    }

    /// The line that was read, without its end.
    fn take_line(&mut self) -> Vec<u8> {
        let mut line = std::mem::take(&mut self.line);
        while line.last().is_some_and(|byte| byte.is_ascii_whitespace()) {
            line.pop();
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::GetMeta;

    /// What is read at once is what rmcp would have read.
    fn check(line: &str) {
        let ours = tool_call(line.as_bytes()).unwrap();
        let theirs: RxJsonRpcMessage<RoleServer> = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_value(&ours).unwrap(), serde_json::to_value(&theirs).unwrap(), "{line}");
        let (JsonRpcMessage::Request(ours), JsonRpcMessage::Request(theirs)) = (ours, theirs) else {
            panic!("{line} is no request");
        };
        assert_eq!(ours.request.get_meta(), theirs.request.get_meta(), "{line}");
    }

    #[test]
    fn tool_calls_are_read_as_rmcp_reads_them() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":[1.5,null]}}}"#,
        );
        check(r#"{"method":"tools/call","params":{"name":"a"},"id":"x","jsonrpc":"2.0"}"#);
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"p","k":{}},"name":"a"}}"#,
        );
    }

    #[test]
    fn what_is_unusual_is_left_to_rmcp() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","other":"\ud800"}}"#,
        ] {
            assert!(tool_call(line.as_bytes()).is_none(), "{line}");
        }
    }
}
