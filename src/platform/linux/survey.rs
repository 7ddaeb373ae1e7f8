//! What the doctor checks on a running desktop, without the adapter, so that it also works where the adapter
//! does not. Nothing is changed.

use std::time::Duration;

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt, Window};
use x11rb::rust_connection::RustConnection;

use crate::platform::session_env::SessionEnv;
use crate::platform::survey::{AccessibilityFacts, DisplayFacts, SeenWindow, Survey};

/// A desktop that hangs must not hang the doctor.
const PATIENCE: Duration = Duration::from_secs(5);

/// Windows beyond this many are not looked at.
const WINDOWS: usize = 100;

/// The desktop of this process's environment; `None` where there is none.
pub fn survey_desktop() -> Option<Survey> {
    let env = SessionEnv::read();
    let x11 = env.display.is_some();
    (x11 || env.wayland_display.is_some()).then(|| Survey {
        display: x11.then(|| in_time(display_facts)),
        accessibility: in_time(accessibility_facts),
    })
}

/// If the time is over, the thread is left behind; it ends with the connection or the process.
fn in_time<T: Send + 'static>(ask: fn() -> Result<T, String>) -> Result<T, String> {
    let (tell, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(ask()));
    answer.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(format!("no answer in {PATIENCE:?}")))
}

fn display_facts() -> Result<DisplayFacts, String> {
    let (connection, screen) = RustConnection::connect(None).map_err(|problem| problem.to_string())?;
    let root = connection.setup().roots.get(screen).ok_or("the display has no screen")?.root;
    let x = SurveyedDisplay { connection };
    let manager = x.windows(root, "_NET_SUPPORTING_WM_CHECK").first().copied();
    let window_manager = manager.map(|window| x.text(window, "_NET_WM_NAME")).map(quote_name);
    let windows = x.windows(root, "_NET_CLIENT_LIST");
    let windows = windows.into_iter().take(WINDOWS).map(|window| x.surveyed_window(window)).collect();
    Ok(DisplayFacts { window_manager, windows })
}

fn quote_name(name: String) -> String {
    if name.is_empty() { "one without a name".to_owned() } else { name }
}

struct SurveyedDisplay {
    connection: RustConnection,
}

impl SurveyedDisplay {
    fn property(&self, window: Window, name: &str) -> Option<x11rb::protocol::xproto::GetPropertyReply> {
        let atom = self.connection.intern_atom(false, name.as_bytes()).ok()?.reply().ok()?.atom;
        self.connection.get_property(false, window, atom, AtomEnum::ANY, 0, 1024).ok()?.reply().ok()
    }

    fn windows(&self, window: Window, name: &str) -> Vec<Window> {
        let reply = self.property(window, name);
        reply.and_then(|reply| Some(reply.value32()?.collect())).unwrap_or_default()
    }

    fn text(&self, window: Window, name: &str) -> String {
        let bytes = self.property(window, name).map(|reply| reply.value).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_matches('\0').to_owned()
    }

    fn surveyed_window(&self, window: Window) -> SeenWindow {
        let pid = self.windows(window, "_NET_WM_PID").first().copied();
        let title = Some(self.text(window, "_NET_WM_NAME")).filter(|title| !title.is_empty());
        // Instance and class, separated by a zero.
        let class = self.text(window, "WM_CLASS").replace('\0', ", ");
        SeenWindow {
            title: title.unwrap_or_else(|| self.text(window, "WM_NAME")),
            class,
            pid,
            toolkit: pid.and_then(toolkit_of),
        }
    }
}

/// A library that tells the toolkit, when a process has loaded it.
const TOOLKITS: &[(&str, &str)] = &[
    ("libQt6Gui", "qt6"),
    ("libQt5Gui", "qt5"),
    ("libgtk-4", "gtk4"),
    ("libgtk-3", "gtk3"),
    ("libjvm", "java"),
];

/// Of the process, while it runs.
pub fn toolkit_of(pid: u32) -> Option<&'static str> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    TOOLKITS.iter().find(|(library, _)| maps.contains(library)).map(|(_, toolkit)| *toolkit)
}

fn accessibility_facts() -> Result<AccessibilityFacts, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|problem| problem.to_string())?;
    runtime.block_on(ask_the_buses()).map_err(|problem| problem.to_string())
}

async fn ask_the_buses() -> zbus::Result<AccessibilityFacts> {
    const NAME: Option<&str> = Some("org.a11y.Bus");
    const PATH: &str = "/org/a11y/bus";
    let session = zbus::Connection::session().await?;
    let properties = Some("org.freedesktop.DBus.Properties");
    let flag = ("org.a11y.Status", "IsEnabled");
    let answer = session.call_method(NAME, PATH, properties, "Get", &flag).await?;
    let enabled = matches!(answer.body().deserialize()?, zbus::zvariant::Value::Bool(true));
    let answer = session.call_method(NAME, PATH, NAME, "GetAddress", &()).await?;
    let address: String = answer.body().deserialize()?;
    let bus = zbus::connection::Builder::address(address.as_str())?.build().await?;
    Ok(AccessibilityFacts { enabled, pids: offering_pids(&bus).await? })
}

/// Every client of the accessibility bus that is registered as an application, as a process.
async fn offering_pids(bus: &zbus::Connection) -> zbus::Result<Vec<u32>> {
    let registry = Some("org.a11y.atspi.Registry");
    let interface = Some("org.a11y.atspi.Accessible");
    let root = "/org/a11y/atspi/accessible/root";
    let answer = bus.call_method(registry, root, interface, "GetChildren", &()).await?;
    let children: Vec<(String, zbus::zvariant::OwnedObjectPath)> = answer.body().deserialize()?;
    let names = zbus::fdo::DBusProxy::new(bus).await?;
    let mut pids = Vec::new();
    for (name, _) in children {
        // One that has left meanwhile offers nothing.
        let Ok(name) = zbus::names::BusName::try_from(name) else { continue };
        if let Ok(pid) = names.get_connection_unix_process_id(name).await {
            pids.push(pid);
        }
    }
    Ok(pids)
}
