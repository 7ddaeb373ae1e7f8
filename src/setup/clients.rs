//! The MCP clients that are known: where each keeps its servers, and in which form.

use std::path::PathBuf;

/// The folders that clients keep their files in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFolders {
    pub home: PathBuf,
    /// For settings of programs: `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
    pub settings: PathBuf,
    /// `$CODEX_HOME`, where it is set.
    pub codex: Option<PathBuf>,
}

/// In which form a file has its servers, and below which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    Json(&'static str),
    Toml(&'static str),
}

/// A client, by the name that the command line gives it.
#[derive(Clone, Copy, Debug)]
pub struct McpClient {
    pub name: &'static str,
    pub title: &'static str,
    format: FileFormat,
    /// Entries say that they are started and talked to over pipes.
    pub says_type: bool,
    place: fn(&UserFolders) -> PathBuf,
    /// How the client comes to read its file again.
    pub next: &'static str,
}

/// A client's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFile {
    pub path: PathBuf,
    pub format: FileFormat,
}

impl McpClient {
    pub fn file(&self, folders: &UserFolders) -> ClientFile {
        ClientFile { path: (self.place)(folders), format: self.format }
    }

    /// Whether the client seems to be in use here: its folder is there.
    pub fn is_used(&self, folders: &UserFolders) -> bool {
        let path = (self.place)(folders);
        path.exists() || path.parent().is_some_and(|folder| *folder != folders.home && folder.is_dir())
    }

    pub fn by_name(name: &str) -> Option<&'static McpClient> {
        CLIENTS.iter().find(|client| client.name == name)
    }
}

const SERVERS: FileFormat = FileFormat::Json("mcpServers");

pub const CLIENTS: &[McpClient] = &[
    McpClient {
        name: "claude-desktop",
        title: "Claude Desktop",
        format: SERVERS,
        says_type: false,
        place: |folders| folders.settings.join("Claude/claude_desktop_config.json"),
        next: "Quit and start Claude Desktop",
    },
    McpClient {
        name: "claude-code",
        title: "Claude Code",
        format: SERVERS,
        says_type: true,
        place: |folders| folders.home.join(".claude.json"),
        next: "Start claude again; /mcp lists its servers",
    },
    McpClient {
        name: "cursor",
        title: "Cursor",
        format: SERVERS,
        says_type: false,
        place: |folders| folders.home.join(".cursor/mcp.json"),
        next: "Open Cursor Settings, MCP, and switch the server on",
    },
    McpClient {
        name: "vscode",
        title: "VS Code",
        format: FileFormat::Json("servers"),
        says_type: true,
        place: |folders| folders.settings.join("Code/User/mcp.json"),
        next: "Run \"MCP: List Servers\" in VS Code and start it",
    },
    McpClient {
        name: "codex",
        title: "Codex",
        format: FileFormat::Toml("mcp_servers"),
        says_type: false,
        place: |folders| {
            let folder = folders.codex.clone().unwrap_or_else(|| folders.home.join(".codex"));
            folder.join("config.toml")
        },
        next: "Start codex again; /mcp lists its servers",
    },
    McpClient {
        name: "gemini",
        title: "Gemini CLI",
        format: SERVERS,
        says_type: false,
        place: |folders| folders.home.join(".gemini/settings.json"),
        next: "Start gemini again; /mcp lists its servers",
    },
    McpClient {
        name: "windsurf",
        title: "Windsurf",
        format: SERVERS,
        says_type: false,
        place: |folders| folders.home.join(".codeium/windsurf/mcp_config.json"),
        next: "Open Windsurf Settings, Cascade, MCP servers, and refresh",
    },
];
