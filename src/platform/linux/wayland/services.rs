//! Which part of the compositor serves what: windows, keys and pointer, screenshots. Each is asked for once, when the
//! desktop is connected, and `doctor` says what was found and what was not.

use std::path::{Path, PathBuf};

use super::hands::{CompositorHands, Powers};
use super::link::{Link, socket_path};
use super::outputs::{self, LayoutOutput};
use super::screencopy;
use super::sway::Sway;
use super::toplevels::{self, Toplevels};
use super::virtual_devices::{self, VirtualDevices};
use super::window_list::WindowSource;
use crate::clock::Clock;
use crate::error::Result;
use crate::model::Rect;
use crate::platform::Shot;
use crate::platform::session_env::SessionEnv;

/// Pictures of the screen.
pub trait ScreenSource: Send + Sync {
    fn name(&self) -> &'static str;

    /// What the screen shows in an area of the layout; what is outside is left out.
    fn region_picture(&self, area: Rect) -> Result<Shot>;
}

pub struct CompositorServices {
    pub clock: Clock,
    pub socket: PathBuf,
    pub windows: Option<Box<dyn WindowSource>>,
    pub hands: CompositorHands,
    hands_by: Option<&'static str>,
    pub powers: Powers,
    pub pictures: Option<Box<dyn ScreenSource>>,
    /// Whether the outputs can be read.
    pub has_outputs: bool,
}

impl CompositorServices {
    /// Fails with a sentence where nobody listens.
    pub fn find(clock: &Clock, env: &SessionEnv) -> Result<Self> {
        let socket = socket_path(env);
        let mut link = Link::open(clock, &socket)?;
        outputs::listen(&mut link)?;
        let windows = find_windows(clock, env, &socket, &link);
        let (hands, hands_by, powers) = find_hands(clock, &socket, &link);
        let pictures = find_pictures(clock, &socket, &link);
        let has_outputs = !outputs::list(&link).is_empty();
        Ok(Self { clock: clock.clone(), socket, windows, hands, hands_by, powers, pictures, has_outputs })
    }

    pub fn knows_places(&self) -> bool {
        self.windows.as_ref().is_some_and(|windows| windows.knows_places())
    }

    /// The outputs as they are now.
    pub fn outputs(&self) -> Result<Vec<LayoutOutput>> {
        let mut link = Link::open(&self.clock, &self.socket)?;
        outputs::listen(&mut link)?;
        Ok(outputs::list(&link))
    }

    /// What serves what, in one sentence.
    pub fn summary(&self) -> String {
        let windows = match &self.windows {
            Some(windows) if windows.knows_places() => format!("windows with places by {}", windows.name()),
            Some(windows) => format!("windows without places by {}", windows.name()),
            None => "windows without places by AT-SPI alone".to_owned(),
        };
        let input = match self.hands_by {
            Some(by) => format!("keys and pointer by {by}"),
            None => "no keys and no pointer".to_owned(),
        };
        let pictures = match &self.pictures {
            Some(pictures) => format!("screenshots by {}", pictures.name()),
            None => "no screenshots".to_owned(),
        };
        let missing = self.missing();
        let served = [windows, input, pictures].join(", ");
        if missing.is_empty() { served } else { format!("{served}; {}", missing.join("; ")) }
    }

    /// What does not work, a sentence each.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = self.powers.missing_powers();
        if self.pictures.is_none() {
            let none = "no screenshots: the compositor does not offer the wlroots screencopy protocol";
            missing.push(none.to_owned());
        }
        if self.windows.is_none() {
            let none = "windows are those on the accessibility bus: the compositor offers neither the socket of sway nor \
                        the protocol foreign-toplevel-management";
            missing.push(none.to_owned());
        }
        missing
    }
}

fn find_windows(
    clock: &Clock,
    env: &SessionEnv,
    socket: &Path,
    link: &Link,
) -> Option<Box<dyn WindowSource>> {
    if let Some(sway) = Sway::find(env, socket) {
        return Some(Box::new(sway));
    }
    let listed = link.offers(toplevels::PROTOCOL);
    listed.then(|| Box::new(Toplevels::new(clock.clone(), socket.to_owned())) as Box<dyn WindowSource>)
}

fn find_hands(clock: &Clock, socket: &Path, link: &Link) -> (CompositorHands, Option<&'static str>, Powers) {
    let powers = virtual_devices::powers(link);
    if powers == Powers::default() {
        return last_hands();
    }
    let (clock, socket) = (clock.clone(), socket.to_owned());
    let hands = CompositorHands::new(move || Ok(Box::new(VirtualDevices::open(&clock, &socket)?)));
    (hands, Some("the virtual devices of wlroots"), powers)
}

/// Where no protocol of ours is offered, the crate enigo is tried.
#[cfg(feature = "wayland")]
fn last_hands() -> (CompositorHands, Option<&'static str>, Powers) {
    use super::enigo_devices::EnigoDevices;
    let hands = CompositorHands::new(|| Ok(Box::new(EnigoDevices::open()?)));
    match hands.take_up() {
        Ok(()) => (hands, Some("enigo"), Powers { keyboard: true, pointer: true }),
        Err(_) => (hands, None, Powers::default()),
    }
}

#[cfg(not(feature = "wayland"))]
fn last_hands() -> (CompositorHands, Option<&'static str>, Powers) {
    let none = || Err(super::hands::no_devices("it offers neither a virtual keyboard nor a virtual pointer"));
    (CompositorHands::new(none), None, Powers::default())
}

fn find_pictures(clock: &Clock, socket: &Path, link: &Link) -> Option<Box<dyn ScreenSource>> {
    let screencopy = Screencopy { clock: clock.clone(), socket: socket.to_owned() };
    link.offers(screencopy::PROTOCOL).then(|| Box::new(screencopy) as Box<dyn ScreenSource>)
}

/// The protocol of wlroots; a connection for each picture.
struct Screencopy {
    clock: Clock,
    socket: PathBuf,
}

impl ScreenSource for Screencopy {
    fn name(&self) -> &'static str {
        "screencopy"
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        let mut link = Link::open(&self.clock, &self.socket)?;
        outputs::listen(&mut link)?;
        screencopy::region_picture(&mut link, area)
    }
}

/// The whole screen of the compositor beside an X server, where it gives one.
pub fn screen_beside_x11(clock: &Clock, env: &SessionEnv) -> Result<Shot> {
    let mut link = Link::open(clock, &socket_path(env))?;
    outputs::listen(&mut link)?;
    screencopy::screen_picture(&mut link)
}
