//! Windows by the socket of sway, which says where each of them is, what process it is of, and takes commands.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::window_list::{CompositorWindow, WindowSource};
use crate::error::{Error, Kind, Result};
use crate::model::{Point, Rect, WindowChange};
use crate::platform::session_env::SessionEnv;

const MAGIC: &[u8; 6] = b"i3-ipc";
const RUN_COMMAND: u32 = 0;
const GET_TREE: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(5);
const LARGEST_ANSWER: usize = 16 << 20;
/// A fullscreen window lies over all others of its output.
const FULLSCREEN: u32 = 1 << 20;

pub struct Sway {
    socket: PathBuf,
}

impl Sway {
    /// The sway whose compositor listens at this socket, where there is one.
    pub fn find(env: &SessionEnv, compositor: &Path) -> Option<Self> {
        let owner = peer_process(compositor)?;
        let mut sockets: Vec<PathBuf> = env.sway_socket.iter().map(PathBuf::from).collect();
        sockets.extend(sockets_in(Path::new(env.runtime_dir.as_ref()?)));
        let socket = sockets.into_iter().find(|socket| peer_process(socket) == Some(owner))?;
        let sway = Self { socket };
        sway.tree().ok().map(|_| sway)
    }

    fn tree(&self) -> Result<SwayNode> {
        let answer = self.ask(GET_TREE, "")?;
        serde_json::from_slice(&answer)
            .map_err(|problem| failed(&format!("its tree is unreadable: {problem}")))
    }

    fn ask(&self, kind: u32, payload: &str) -> Result<Vec<u8>> {
        exchange(&self.socket, kind, payload).map_err(|problem| failed(&problem.to_string()))
    }

    /// Nothing, or the sentence that sway answers.
    fn run(&self, id: &str, command: &str) -> Result<Option<String>> {
        let answer = self.ask(RUN_COMMAND, &format!("[con_id={id}] {command}"))?;
        let outcomes: Vec<CommandOutcome> = serde_json::from_slice(&answer)
            .map_err(|problem| failed(&format!("its answer is unreadable: {problem}")))?;
        let refusal = outcomes.into_iter().find(|outcome| !outcome.success);
        Ok(refusal.map(|outcome| format!("sway refused: {}", outcome.error.unwrap_or_default())))
    }

    fn node(&self, id: &str) -> Result<Option<SwayWindow>> {
        Ok(views(&self.tree()?).into_iter().find(|view| view.listed.id == id))
    }
}

#[derive(Deserialize)]
struct CommandOutcome {
    success: bool,
    error: Option<String>,
}

/// The process that listens at a socket.
fn peer_process(socket: &Path) -> Option<u32> {
    let stream = UnixStream::connect(socket).ok()?;
    let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?;
    u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
}

fn sockets_in(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_socket = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("sway-ipc.") && name.ends_with(".sock")
    };
    entries.filter(is_socket).collect()
}

fn exchange(socket: &Path, kind: u32, payload: &str) -> std::io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let message = [&MAGIC[..], &length.to_ne_bytes(), &kind.to_ne_bytes(), payload.as_bytes()].concat();
    stream.write_all(&message)?;
    let mut head = [0; 14];
    stream.read_exact(&mut head)?;
    let length = u32::from_ne_bytes([head[6], head[7], head[8], head[9]]);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if &head[..6] != MAGIC || length > LARGEST_ANSWER {
        return Err(std::io::Error::other("an answer that is not of this protocol"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

fn failed(why: &str) -> Error {
    Error::new(Kind::PlatformUnsupported, format!("sway does not answer at its socket ({why})"))
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct SwayRect {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Properties {
    class: Option<String>,
}

/// A part of sway's tree: an output, a workspace, a container or a window.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SwayNode {
    id: u64,
    name: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    app_id: Option<String>,
    window_properties: Option<Properties>,
    pid: Option<u32>,
    rect: SwayRect,
    window_rect: SwayRect,
    deco_rect: SwayRect,
    focused: bool,
    visible: Option<bool>,
    fullscreen_mode: u32,
    nodes: Vec<SwayNode>,
    floating_nodes: Vec<SwayNode>,
}

/// A window, and what its frame adds to it.
struct SwayWindow {
    listed: CompositorWindow,
    floats: bool,
    /// Left of and above the application's area.
    corner: (i32, i32),
    /// In all.
    added: (i32, i32),
}

impl SwayWindow {
    fn move_command(&self, to: Point) -> String {
        format!("move absolute position {} {}", to.x - self.corner.0, to.y - self.corner.1)
    }

    /// Sway resizes around the middle, so the window is moved back to where it was.
    fn resize_command(&self, width: i32, height: i32) -> String {
        let bounds = self.listed.bounds.unwrap_or_default();
        let back = self.move_command(Point { x: bounds.x, y: bounds.y });
        format!("resize set {} px {} px, {back}", width + self.added.0, height + self.added.1)
    }
}

/// All windows, from the back to the front.
fn views(root: &SwayNode) -> Vec<SwayWindow> {
    let mut found = Vec::new();
    gather(root, &mut found);
    found
}

fn gather(node: &SwayNode, into: &mut Vec<SwayWindow>) {
    if let Some(pid) = node.pid.filter(|_| node.nodes.is_empty() && node.floating_nodes.is_empty()) {
        into.push(view(node, pid, u32::try_from(into.len()).unwrap_or(0)));
    }
    // What floats lies over what is tiled.
    node.nodes.iter().chain(&node.floating_nodes).for_each(|child| gather(child, into));
}

fn view(node: &SwayNode, pid: u32, order: u32) -> SwayWindow {
    let (outer, inner, title) = (node.rect, node.window_rect, node.deco_rect.height);
    let bounds = Rect::new(outer.x + inner.x, outer.y + inner.y, inner.width, inner.height);
    let class = node.window_properties.as_ref().and_then(|properties| properties.class.clone());
    let is_full = node.fullscreen_mode != 0;
    let floats = node.kind == "floating_con";
    let title_above = if floats { title } else { 0 };
    SwayWindow {
        listed: CompositorWindow {
            id: node.id.to_string(),
            title: node.name.clone().unwrap_or_default(),
            app_id: node.app_id.clone().or(class).unwrap_or_default(),
            pid: Some(pid),
            bounds: Some(bounds),
            focused: node.focused,
            hidden: node.visible == Some(false),
            maximized: is_full,
            stack: order + if is_full { FULLSCREEN } else { 0 },
        },
        floats,
        corner: (inner.x, inner.y + title_above),
        added: (outer.width - inner.width, outer.height - inner.height + title_above),
    }
}

const TILED: &str = "sway places tiled windows itself; make the window float first (press_key meta+shift+space, where the \
                     configuration has the usual key)";

impl WindowSource for Sway {
    fn name(&self) -> &'static str {
        "sway"
    }

    fn knows_places(&self) -> bool {
        true
    }

    fn windows(&self) -> Result<Vec<CompositorWindow>> {
        let mut listed: Vec<CompositorWindow> =
            views(&self.tree()?).into_iter().map(|view| view.listed).collect();
        listed.sort_by_key(|window| window.id.parse::<u64>().unwrap_or(u64::MAX));
        Ok(listed)
    }

    fn activate(&self, id: &str) -> Result<()> {
        self.run(id, "focus").map(|_| ())
    }

    fn request(&self, window: &CompositorWindow, change: &WindowChange) -> Result<Option<String>> {
        let Some(view) = self.node(&window.id)? else { return Ok(None) };
        let command = match change {
            WindowChange::Raise => "focus".to_owned(),
            WindowChange::Restore if view.listed.hidden => "focus".to_owned(),
            WindowChange::Restore => "fullscreen disable".to_owned(),
            WindowChange::Minimize => "move scratchpad".to_owned(),
            WindowChange::Maximize => "focus, fullscreen enable".to_owned(),
            WindowChange::Close => "kill".to_owned(),
            WindowChange::Move(_) | WindowChange::Resize { .. } if !view.floats => {
                return Ok(Some(TILED.to_owned()));
            }
            WindowChange::Move(to) => view.move_command(*to),
            WindowChange::Resize { width, height } => view.resize_command(*width, *height),
        };
        self.run(&window.id, &command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = r#"{"id":1,"type":"root","nodes":[{"id":2,"type":"output","nodes":[{"id":3,"type":"workspace",
        "nodes":[{"id":7,"type":"con","name":"Notes","app_id":"org.notes","pid":12,"focused":true,"visible":true,
            "rect":{"x":100,"y":50,"width":640,"height":400},"window_rect":{"x":2,"y":2,"width":636,"height":396},
            "deco_rect":{"x":0,"y":0,"width":640,"height":23}}],
        "floating_nodes":[{"id":5,"type":"floating_con","name":"Old","app_id":null,"pid":13,"visible":false,
            "window_properties":{"class":"XOld"},"rect":{"x":0,"y":23,"width":20,"height":30},
            "window_rect":{"x":1,"y":0,"width":18,"height":29},"deco_rect":{"x":0,"y":0,"width":20,"height":23}}]}]}]}"#;

    #[test]
    fn windows_are_read_from_the_tree() {
        let root: SwayNode = serde_json::from_str(TREE).unwrap();
        let views = views(&root);
        let [tiled, floating] = views.as_slice() else { panic!("{}", views.len()) };
        assert_eq!(tiled.listed.bounds, Some(Rect::new(102, 52, 636, 396)));
        assert_eq!((tiled.listed.pid, tiled.listed.focused, tiled.listed.hidden), (Some(12), true, false));
        assert_eq!((floating.listed.app_id.as_str(), floating.listed.hidden), ("XOld", true));
        assert!(floating.floats && floating.listed.stack > tiled.listed.stack);
        assert_eq!(floating.resize_command(50, 60), "resize set 52 px 84 px, move absolute position 0 0");
    }
}
