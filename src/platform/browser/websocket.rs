//! The DevTools protocol on a WebSocket, for a browser that a person opened for this: a client of RFC 6455, to loopback
//! alone, that looks like the pipe to whoever reads and writes messages with a zero behind each.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use sha1::{Digest, Sha1};

use super::process::BrowserPipe;
use crate::clock::lock;

const CONNECT_TIME: Duration = Duration::from_secs(5);
const LONGEST_HEAD: u64 = 16 << 10;
const LONGEST_ANSWER: u64 = 256 << 10;

/// A screenshot of an 8K screen and a tree of a million nodes are smaller.
const LARGEST_MESSAGE: usize = 256 << 20;

/// What every server adds to the key of the handshake.
const HANDSHAKE_GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Where a browser listens: this machine, a port, and the path if it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachAddress {
    pub at: SocketAddr,
    pub path: Option<String>,
}

const EXPECTED: &str =
    "expected the port of a browser on this machine, or its address ws://127.0.0.1:PORT/devtools/browser/ID";

impl AttachAddress {
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(port @ 1..) = text.parse::<u16>() {
            return Ok(Self { at: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), path: None });
        }
        let url = url::Url::parse(text).map_err(|_| EXPECTED.to_owned())?;
        let host = match url.host() {
            Some(url::Host::Ipv4(host)) => IpAddr::from(host),
            Some(url::Host::Ipv6(host)) => IpAddr::from(host),
            Some(url::Host::Domain("localhost")) => IpAddr::from(Ipv4Addr::LOCALHOST),
            _ => return Err(EXPECTED.to_owned()),
        };
        if url.scheme() != "ws" || !host.is_loopback() {
            return Err(EXPECTED.to_owned());
        }
        let path = Some(url.path()).filter(|path| *path != "/").map(str::to_owned);
        let port = url.port().ok_or_else(|| EXPECTED.to_owned())?;
        Ok(Self { at: SocketAddr::new(host, port), path })
    }

    /// The two ends of a connection to it.
    pub fn connect(&self) -> Result<BrowserPipe, String> {
        let about =
            |problem: io::Error| format!("the browser at {} cannot be attached to: {problem}", self.at);
        let path = match &self.path {
            Some(path) => path.clone(),
            None => self.ask_for_path().map_err(about)?,
        };
        let (stream, reader) = open_socket(self.at, &path).map_err(about)?;
        let writer = Arc::new(Mutex::new(stream));
        let orders = SocketWriter { writer: writer.clone(), message: Vec::new() };
        let answers = SocketReader { reader, writer, ready: Vec::new(), at: 0 };
        Ok(BrowserPipe { orders: Box::new(orders), answers: Box::new(answers) })
    }

    /// A browser that was started with a port tells its path to who asks.
    fn ask_for_path(&self) -> io::Result<String> {
        #[derive(Deserialize)]
        struct Version {
            #[serde(rename = "webSocketDebuggerUrl")]
            url: String,
        }
        let mut stream = connect(self.at)?;
        stream.set_read_timeout(Some(CONNECT_TIME))?;
        write!(stream, "GET /json/version HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.at)?;
        let mut answer = BufReader::new(stream.take(LONGEST_ANSWER));
        let status = read_status(&mut answer)?.0;
        let unknown = || {
            io::Error::other(
                "it does not tell its address; give it in full (ws://…), as in the file DevToolsActivePort of its folder",
            )
        };
        if !status.contains(" 200") {
            return Err(unknown());
        }
        let mut body = Vec::new();
        // Until the time is over or the connection ends: it may stay open.
        let _ = answer.read_to_end(&mut body);
        let version: Version = serde_json::from_slice(&body).map_err(|_| unknown())?;
        let url = url::Url::parse(&version.url).map_err(|_| unknown())?;
        Ok(url.path().to_owned())
    }
}

fn connect(at: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&at, CONNECT_TIME)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The first line, and what the server made of our key.
fn read_status(from: &mut impl BufRead) -> io::Result<(String, Option<String>)> {
    let mut head = from.by_ref().take(LONGEST_HEAD);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let accept = lines.iter().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("sec-websocket-accept").then(|| value.trim().to_owned())
    });
    Ok((lines.into_iter().next().unwrap_or_default(), accept))
}

fn open_socket(at: SocketAddr, path: &str) -> io::Result<(TcpStream, BufReader<TcpStream>)> {
    let mut stream = connect(at)?;
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let key = BASE64_STANDARD.encode(key);
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {at}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n\
         Sec-WebSocket-Version: 13\r\n\r\n"
    )?;
    // A person may have to agree first.
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut reader = BufReader::with_capacity(1 << 16, stream.try_clone()?);
    let (status, accept) = read_status(&mut reader)?;
    let expected = BASE64_STANDARD.encode(Sha1::digest(format!("{key}{HANDSHAKE_GUID}")));
    if !status.contains(" 101") || accept.as_deref() != Some(expected.as_str()) {
        return Err(io::Error::other(format!("it answers '{}'", crate::text::shorten(&status, 80))));
    }
    stream.set_read_timeout(None)?;
    Ok((stream, reader))
}

const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A frame of a client is masked, so that nothing between reads it as something else.
fn frame_bytes(kind: u8, payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    let mut frame = vec![0x80 | kind];
    match payload.len() {
        short @ 0..126 => frame.push(0x80 | short as u8),
        middle @ 126..65_536 => {
            frame.push(0x80 | 126);
            frame.extend((middle as u16).to_be_bytes());
        }
        long => {
            frame.push(0x80 | 127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

fn send_frame(writer: &Mutex<TcpStream>, kind: u8, payload: &[u8]) -> io::Result<()> {
    let mut mask = [0; 4];
    getrandom::fill(&mut mask).map_err(io::Error::other)?;
    lock(writer).write_all(&frame_bytes(kind, payload, mask))
}

/// Sends what was written up to each zero as one message.
struct SocketWriter {
    writer: Arc<Mutex<TcpStream>>,
    message: Vec<u8>,
}

impl Write for SocketWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == 0) {
            match part.split_last() {
                Some((0, rest)) => {
                    self.message.extend(rest);
                    send_frame(&self.writer, TEXT, &std::mem::take(&mut self.message))?;
                }
                _ => self.message.extend(part),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for SocketWriter {
    fn drop(&mut self) {
        // The browser stays; whether it hears of our going is its matter.
        let _ = send_frame(&self.writer, CLOSE, &[]);
        let _ = lock(&self.writer).shutdown(Shutdown::Both);
    }
}

/// Reads messages, each with a zero behind it.
struct SocketReader {
    reader: BufReader<TcpStream>,
    writer: Arc<Mutex<TcpStream>>,
    ready: Vec<u8>,
    at: usize,
}

impl Read for SocketReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() {
            self.at = 0;
            match next_message(&mut self.reader, &self.writer)? {
                Some(message) => self.ready = message,
                None => {
                    self.ready.clear();
                    return Ok(0);
                }
            }
        }
        let rest = self.ready.get(self.at..).unwrap_or_default();
        let read = rest.len().min(into.len());
        into.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.at += read;
        Ok(read)
    }
}

/// The frames of one message together; `None` where the other side closes.
fn next_message(reader: &mut impl Read, writer: &Mutex<TcpStream>) -> io::Result<Option<Vec<u8>>> {
    let mut message = Vec::new();
    loop {
        let frame = read_frame(reader, LARGEST_MESSAGE - message.len())?;
        match frame.kind {
            CLOSE => return Ok(None),
            PING => send_frame(writer, PONG, &frame.payload)?,
            PONG => {}
            _ => {
                message.extend(frame.payload);
                if frame.is_last {
                    message.push(0);
                    return Ok(Some(message));
                }
            }
        }
    }
}

struct SocketFrame {
    is_last: bool,
    kind: u8,
    payload: Vec<u8>,
}

fn read_frame(reader: &mut impl Read, most: usize) -> io::Result<SocketFrame> {
    let [first, second] = read_array(reader)?;
    let length = match second & 0x7f {
        126 => u64::from(u16::from_be_bytes(read_array(reader)?)),
        127 => u64::from_be_bytes(read_array(reader)?),
        short => u64::from(short),
    };
    // A server masks nothing.
    if second & 0x80 != 0 || first & 0x70 != 0 || length > most as u64 {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut payload = Vec::new();
    if reader.by_ref().take(length).read_to_end(&mut payload)? as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(SocketFrame { is_last: first & 0x80 != 0, kind: first & 0xf, payload })
}

fn read_array<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// H-189 on code: only a browser of this machine is attached to.
    #[test]
    fn an_address_is_a_port_or_a_socket_of_this_machine() {
        let shown = |text: &str| {
            AttachAddress::parse(text).ok().map(|address| (address.at.to_string(), address.path))
        };
        assert_eq!(shown("9222"), Some(("127.0.0.1:9222".to_owned(), None)));
        let path = Some("/devtools/browser/x".to_owned());
        assert_eq!(
            shown("ws://localhost:9222/devtools/browser/x"),
            Some(("127.0.0.1:9222".to_owned(), path.clone()))
        );
        assert_eq!(shown("ws://[::1]:1/devtools/browser/x"), Some(("[::1]:1".to_owned(), path)));
        for text in [
            "0",
            "70000",
            "ws://10.0.0.1:9222/x",
            "ws://evil.example:9222/",
            "wss://127.0.0.1:1/",
            "http://127.0.0.1:1/",
            "",
            "ws://127.0.0.1/x",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn lengths_of_frames_are_written_as_they_are_read() {
        for length in [0, 1, 125, 126, 65_535, 65_536] {
            let payload = vec![b'x'; length];
            let frame = frame_bytes(TEXT, &payload, [0; 4]);
            // A frame of a server is the same without a mask.
            let mut of_server = frame.clone();
            of_server[1] &= 0x7f;
            let mask_at = of_server.len() - length - 4;
            of_server.drain(mask_at..mask_at + 4);
            let read = read_frame(&mut of_server.as_slice(), LARGEST_MESSAGE).unwrap();
            assert_eq!((read.is_last, read.kind, read.payload), (true, TEXT, payload));
        }
        assert_eq!(frame_bytes(TEXT, b"ab", [1, 2, 3, 4]), [0x81, 0x82, 1, 2, 3, 4, b'a' ^ 1, b'b' ^ 2]);
    }

    fn socket() -> (Mutex<TcpStream>, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Mutex::new(client), listener.accept().unwrap().0)
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: Option<&str>) {
        let (writer, _server) = socket();
        let message = next_message(&mut &*bytes, &writer).ok().flatten();
        assert_eq!(message.as_deref(), expected.map(str::as_bytes), "{bytes:?}");
    }

    #[test]
    fn messages_are_put_together_and_nonsense_ends_the_connection() {
        check(&[0x81, 2, b'h', b'i'], Some("hi\0"));
        check(&[0x01, 1, b'h', 0x89, 0, 0x80, 1, b'i'], Some("hi\0"));
        check(&[0x88, 0], None);
        check(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'], None);
        check(&[0x81, 127, 0xff, 0, 0, 0, 0, 0, 0, 0], None);
        check(&[0x81, 5, b'h'], None);
        check(&[], None);
    }

    #[test]
    fn a_message_is_sent_when_its_zero_comes() {
        let (writer, mut server) = socket();
        let mut orders = SocketWriter { writer: Arc::new(writer), message: Vec::new() };
        orders.write_all(b"{\"a\":").unwrap();
        orders.write_all(b"1}\0{}\0").unwrap();
        let mut got = [0; 6 + 7 + 6 + 2];
        server.read_exact(&mut got).unwrap();
        assert_eq!((got[0], got[1], got[13], got[14]), (0x81, 0x87, 0x81, 0x82));
    }
}
