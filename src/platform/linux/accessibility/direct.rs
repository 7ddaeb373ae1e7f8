//! A line to an application that does not lead through the bus daemon, which would pass on every question and every
//! answer. Programs with ATK's bridge (GTK3, Firefox, LibreOffice, Java) offer one.
//!
//! Answers that come over it have no order with events, which come over the bus. So what asks for that order stays there:
//! a look first hears on the bus what was told until then, and asks over the line afterwards. Its answers may be newer
//! than what it heard, never older, and what is told later is for the next look.
//!
//! The application says where its socket is, and is not believed: the path must be one that the bridge makes, lead
//! through no link, and be listened at by the application's own process.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use zbus::{Connection, connection};

use super::bus::{BusConnection, BusDeadline, BusRequest, text};
use super::object::AtspiObject;

/// A socket that does not answer in this time is not used.
const CONNECT_TIME: Duration = Duration::from_millis(500);
/// What the names of the bridge's folders and sockets begin with.
const BRIDGE: &str = "at-spi2-";

#[derive(Clone, Debug)]
pub struct DirectLine {
    bus: Rc<str>,
    connection: Connection,
}

impl DirectLine {
    /// The connection, if this is the line to that application.
    pub fn connection_to(&self, bus: &str) -> Option<&Connection> {
        (&*self.bus == bus).then_some(&self.connection)
    }

    pub fn is_lost(&self) -> bool {
        self.connection.is_closed()
    }
}

/// The line to an application, where it offers one. It is asked once.
pub async fn line_to(
    link: &Rc<BusConnection>,
    application: &AtspiObject,
    pace: &BusDeadline,
) -> Option<DirectLine> {
    let known = link.lines.borrow().get(&application.bus).cloned();
    let line = match known {
        Some(line) => line,
        None => {
            let line = open_line(link, application, pace).await;
            link.lines.borrow_mut().insert(application.bus.clone(), line.clone());
            line
        }
    };
    line.filter(|line| !line.is_lost())
}

async fn open_line(
    link: &Rc<BusConnection>,
    application: &AtspiObject,
    pace: &BusDeadline,
) -> Option<DirectLine> {
    let ask = BusRequest::Call("org.a11y.atspi.Application", "GetApplicationBusAddress");
    let reply = link.ask_object(application, &ask, pace).await.ok()?;
    let address = text(&reply)?;
    let path = socket_path(&address)?;
    let process = link.process_of(&application.bus, pace).await?;
    let connecting = tokio::time::timeout(CONNECT_TIME, connect_peer(path));
    let found = connecting.await.ok().and_then(Result::ok);
    let connection =
        found.filter(|(_, listener)| *listener == Some(process)).map(|(connection, _)| connection);
    tracing::debug!(path, process, is_open = connection.is_some(), "an application offers a line of its own");
    Some(DirectLine { bus: application.bus.clone(), connection: connection? })
}

/// The connection, and the process that listens there.
async fn connect_peer(path: &str) -> zbus::Result<(Connection, Option<u32>)> {
    let address = format!("unix:path={path}");
    let connection = connection::Builder::address(address.as_str())?.p2p().build().await?;
    let listener = connection.peer_creds().await?.process_id();
    Ok((connection, listener))
}

/// The path in an address, if it can be a socket of the bridge.
fn socket_path(address: &str) -> Option<&str> {
    let path = address.strip_prefix("unix:path=").filter(|path| is_bridge_path(path))?;
    // Links and `..` lead elsewhere.
    let is_straight = std::fs::canonicalize(path).is_ok_and(|real| real == Path::new(path));
    is_straight.then_some(path)
}

/// `/run/user/1000/at-spi2-8XK2M2/socket`, and for root `…/at-spi2-socket-4711`.
fn is_bridge_path(path: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/-_.".contains(letter);
    let mut last = path.rsplit('/');
    path.starts_with('/')
        && path.chars().all(is_plain)
        && match (last.next(), last.next()) {
            (Some("socket"), Some(folder)) => folder.starts_with(BRIDGE),
            (Some(socket), Some(_)) => socket.starts_with(BRIDGE),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: bool) {
        assert_eq!(is_bridge_path(path), expected, "{path}");
    }

    #[test]
    fn only_the_sockets_of_the_bridge_are_connected_to() {
        check("/run/user/1000/at-spi2-8XK2M2/socket", true);
        check("/home/a/at-spi2-socket-4711", true);
        for other in [
            "",
            "at-spi2-8XK2M2/socket",
            "/run/user/1000/bus",
            "/at-spi2-8XK2M2/agent",
            "/run/docker.sock",
            "/tmp/at-spi2-8XK2M2/socket,guid=1;tcp:host=example.org",
            "/tmp/at-spi2-8XK2M2/%2e%2e/socket",
        ] {
            check(other, false);
        }
    }

    #[test]
    fn another_address_than_that_of_a_socket_that_is_there_is_none() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let folder = home.join("at-spi2-AAAAAA");
        std::fs::create_dir(&folder).unwrap();
        let socket = folder.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink(&folder, home.join("at-spi2-BBBBBB")).unwrap();
        let path = |folder: &str| format!("{}/{folder}/socket", home.display());
        let found = |address: &str| socket_path(address).map(str::to_owned);
        let own = path("at-spi2-AAAAAA");
        assert_eq!(found(&format!("unix:path={own}")), Some(own.clone()));
        for wrong in [
            own,
            format!("tcp:path={}", path("at-spi2-AAAAAA")),
            format!("unix:path={}", path("at-spi2-BBBBBB")),
            format!("unix:path={}", path("at-spi2-AAAAAA/../at-spi2-AAAAAA")),
            format!("unix:path={}", path("at-spi2-CCCCCC")),
            "unix:abstract=/tmp/at-spi2-AAAAAA/socket".to_owned(),
        ] {
            assert_eq!(found(&wrong), None, "{wrong}");
        }
    }
}
