//! Stands in for the whole module `http` in builds without the feature `http`, and says how to get it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::app::App;

#[path = "not_served.rs"]
mod not_served;

pub use not_served::NotServed;

pub const COMPILED_IN: bool = false;

/// No server of this build has a token; one of another build keeps it as that build says.
pub fn read_token(file: &std::path::Path) -> Result<String, String> {
    Err(format!("HTTP is not part of this build, so the token in {} is not read", file.display()))
}

/// A server that is up; in this build there is none.
pub struct Listening {
    pub address: SocketAddr,
    pub link: String,
    pub token_file: Option<PathBuf>,
    pub clickthrough: Option<u16>,
    pub screenjob: Option<u16>,
}

impl Listening {
    pub fn address_link(&self) -> String {
        self.link.clone()
    }

    pub fn finish(self) {}
}

pub fn start(_: Arc<App>, _: CancellationToken) -> Result<Listening, NotServed> {
    let how =
        "HTTP is not part of this build; build with `cargo build --release`, without --no-default-features";
    Err(NotServed::Unavailable(how.to_owned()))
}
