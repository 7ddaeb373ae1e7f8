//! The virtual keyboard and the virtual pointer that compositors of the wlroots family offer.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use wayland_client::delegate_noop;
use wayland_client::protocol::wl_keyboard::KeymapFormat;
use wayland_client::protocol::wl_pointer::{Axis, AxisSource, ButtonState};
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_manager_v1::ZwpVirtualKeyboardManagerV1;
use wayland_protocols_misc::zwp_virtual_keyboard_v1::client::zwp_virtual_keyboard_v1::ZwpVirtualKeyboardV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_manager_v1::ZwlrVirtualPointerManagerV1;
use wayland_protocols_wlr::virtual_pointer::v1::client::zwlr_virtual_pointer_v1::ZwlrVirtualPointerV1;

use super::hands::{Devices, Powers, no_devices};
use super::keymap::{KeyCode, Keymap, Press, SHIFT_BIT, modifier_key};
use super::link::{Link, Told};
use super::outputs;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::model::Point;
use crate::model::input::{Button, Modifier};
use crate::platform::linux::keys::{Keysym, SHIFT, modifier_keysym};

pub const KEYBOARD: &str = "zwp_virtual_keyboard_manager_v1";
pub const POINTER: &str = "zwlr_virtual_pointer_manager_v1";

/// What compositors count for one click of a wheel.
const WHEEL_CLICK: f64 = 15.0;

pub fn powers(link: &Link) -> Powers {
    Powers { keyboard: link.offers(KEYBOARD), pointer: link.offers(POINTER) }
}

pub struct VirtualDevices {
    link: Link,
    clock: Clock,
    began: Duration,
    keyboard: Option<ZwpVirtualKeyboardV1>,
    pointer: Option<ZwlrVirtualPointerV1>,
    keymap: Keymap,
    /// The modifiers that are down.
    modifiers: u32,
    /// The buttons that are down.
    buttons: Vec<Button>,
}

impl VirtualDevices {
    pub fn open(clock: &Clock, socket: &Path) -> Result<Self> {
        let mut link = Link::open(clock, socket)?;
        outputs::listen(&mut link)?;
        let seat: WlSeat = link.bind(1)?;
        let handle = link.handle();
        let keyboard = link.bind::<ZwpVirtualKeyboardManagerV1>(1).ok();
        let keyboard = keyboard.map(|manager| manager.create_virtual_keyboard(&seat, &handle, ()));
        let pointer = link.bind::<ZwlrVirtualPointerManagerV1>(1).ok();
        let pointer = pointer.map(|manager| manager.create_virtual_pointer(Some(&seat), &handle, ()));
        if keyboard.is_none() && pointer.is_none() {
            return Err(no_devices(&format!("it offers neither {KEYBOARD} nor {POINTER}")));
        }
        let began = clock.now();
        let keymap = Keymap::default();
        let mut devices = Self {
            link,
            clock: clock.clone(),
            began,
            keyboard,
            pointer,
            keymap,
            modifiers: 0,
            buttons: Vec::new(),
        };
        devices.send_keymap()?;
        devices.link.round_trip()?;
        Ok(devices)
    }

    fn keyboard(&self) -> Result<&ZwpVirtualKeyboardV1> {
        self.keyboard.as_ref().ok_or_else(|| no_devices(&format!("no keys: it does not offer {KEYBOARD}")))
    }

    fn pointer(&self) -> Result<&ZwlrVirtualPointerV1> {
        self.pointer.as_ref().ok_or_else(|| no_devices(&format!("no pointer: it does not offer {POINTER}")))
    }

    /// Milliseconds, as events are stamped.
    fn time(&self) -> u32 {
        let time = self.clock.now().saturating_sub(self.began).as_millis();
        u32::try_from(time % u128::from(u32::MAX)).unwrap_or(0)
    }

    fn send_keymap(&mut self) -> Result<()> {
        let Some(keyboard) = &self.keyboard else { return Ok(()) };
        let source = self.keymap.source() + "\0";
        let failed = |problem: std::io::Error| Error::internal(format!("no memory for a keymap: {problem}"));
        let memory = memfd_create("oso-keymap", MemfdFlags::CLOEXEC).map_err(std::io::Error::from);
        let mut memory = File::from(memory.map_err(failed)?);
        memory.write_all(source.as_bytes()).map_err(failed)?;
        let size = u32::try_from(source.len()).unwrap_or(0);
        keyboard.keymap(KeymapFormat::XkbV1.into(), memory.as_fd(), size);
        // The file may be closed once it was sent.
        self.link.round_trip()
    }

    fn set_key(&self, code: KeyCode, down: bool) -> Result<()> {
        let keyboard = self.keyboard()?;
        keyboard.key(self.time(), code, u32::from(down));
        Ok(())
    }

    fn hold(&mut self, keysym: Keysym, down: bool) -> Result<()> {
        let (code, bit) = modifier_key(keysym).unwrap_or_default();
        self.modifiers = if down { self.modifiers | bit } else { self.modifiers & !bit };
        self.set_key(code, down)?;
        self.keyboard()?.modifiers(self.modifiers, 0, 0, 0);
        Ok(())
    }

    fn press_of(&self, keysym: Keysym) -> Result<Press> {
        let no_key = || Error::internal(format!("the keysym {keysym:#x} has no key on the virtual keyboard"));
        self.keymap.press(keysym).ok_or_else(no_key)
    }
}

impl Devices for VirtualDevices {
    fn set_modifier(&mut self, modifier: Modifier, down: bool) -> Result<()> {
        self.hold(modifier_keysym(modifier), down)
    }

    fn prepare(&mut self, keysyms: &[Keysym]) -> Result<usize> {
        self.keyboard()?;
        if keysyms.iter().all(|keysym| self.keymap.press(*keysym).is_some()) {
            return Ok(keysyms.len());
        }
        let (keymap, served) = Keymap::for_text(keysyms);
        self.keymap = keymap;
        self.send_keymap()?;
        Ok(served)
    }

    fn tap(&mut self, keysym: Keysym) -> Result<()> {
        if modifier_key(keysym).is_some() {
            self.hold(keysym, true)?;
            return self.hold(keysym, false);
        }
        let press = self.press_of(keysym)?;
        let needs_shift = press.shifted && self.modifiers & SHIFT_BIT == 0;
        if needs_shift {
            self.hold(SHIFT, true)?;
        }
        self.set_key(press.code, true)?;
        self.set_key(press.code, false)?;
        if needs_shift {
            self.hold(SHIFT, false)?;
        }
        Ok(())
    }

    fn move_to(&mut self, at: Point) -> Result<()> {
        let outputs = outputs::list(&self.link);
        let layout = outputs::layout_of(&outputs).ok_or_else(|| no_devices("it has no output"))?;
        // The middle of the pixel: at its edge, rounding would decide which one is met.
        let middle = |at: i32, from: i32| u32::try_from(2 * (at - from) + 1).unwrap_or(0);
        let extent = |length: i32| u32::try_from(2 * length).unwrap_or(0);
        let pointer = self.pointer()?;
        pointer.motion_absolute(
            self.time(),
            middle(at.x, layout.x),
            middle(at.y, layout.y),
            extent(layout.width),
            extent(layout.height),
        );
        pointer.frame();
        Ok(())
    }

    fn set_button(&mut self, button: Button, down: bool) -> Result<()> {
        let state = if down { ButtonState::Pressed } else { ButtonState::Released };
        self.buttons.retain(|held| *held != button);
        self.buttons.extend(down.then_some(button));
        let pointer = self.pointer()?;
        pointer.button(self.time(), button_code(button), state);
        pointer.frame();
        Ok(())
    }

    fn turn_wheel(&mut self, clicks: i32) -> Result<()> {
        let pointer = self.pointer()?;
        let step = if clicks > 0 { -1 } else { 1 };
        for _ in 0..clicks.unsigned_abs() {
            pointer.axis_source(AxisSource::Wheel);
            pointer.axis_discrete(self.time(), Axis::VerticalScroll, WHEEL_CLICK * f64::from(step), step);
            pointer.frame();
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        self.link.round_trip()
    }
}

/// Compositors let go of the keys of a keyboard that goes, but not all of them of its buttons.
impl Drop for VirtualDevices {
    fn drop(&mut self) {
        let held = std::mem::take(&mut self.buttons);
        if held.is_empty() && self.modifiers == 0 {
            return;
        }
        let buttons = held.into_iter().try_for_each(|button| self.set_button(button, false));
        let keys = MODIFIER_KEYSYMS.iter().try_for_each(|keysym| self.hold(*keysym, false));
        if let Err(error) = buttons.and(keys).and_then(|()| self.link.round_trip()) {
            tracing::debug!(%error, "the compositor is gone, and with it what was held down");
        }
    }
}

const MODIFIER_KEYSYMS: [Keysym; 4] = [
    modifier_keysym(Modifier::Shift),
    modifier_keysym(Modifier::Ctrl),
    modifier_keysym(Modifier::Alt),
    modifier_keysym(Modifier::Meta),
];

/// The kernel's numbers of buttons.
pub const fn button_code(button: Button) -> u32 {
    match button {
        Button::Left => 0x110,
        Button::Right => 0x111,
        Button::Middle => 0x112,
    }
}

delegate_noop!(Told: ignore ZwpVirtualKeyboardManagerV1);
delegate_noop!(Told: ignore ZwpVirtualKeyboardV1);
delegate_noop!(Told: ignore ZwlrVirtualPointerManagerV1);
delegate_noop!(Told: ignore ZwlrVirtualPointerV1);
