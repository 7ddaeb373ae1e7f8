//! Pointer and keyboard, by `SendInput`: what a person's hand would do.
//!
//! Everything that is pressed is written down before and released whatever happens: when the call ends, is cancelled,
//! fails or panics. Modifiers that a person holds down would change what our input means; they get a moment to be let
//! go, then they are released. What Windows would drop without a word is not sent at all (`integrity`).
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::sync::Mutex;
use std::time::Duration;

use windows::Win32::Foundation::{ERROR_ACCESS_DENIED, GetLastError};
use windows::Win32::UI::Input::KeyboardAndMouse::{
    GetAsyncKeyState, GetKeyboardLayout, HKL, INPUT, INPUT_0, INPUT_KEYBOARD, INPUT_MOUSE, KEYBD_EVENT_FLAGS,
    KEYBDINPUT, KEYEVENTF_EXTENDEDKEY, KEYEVENTF_KEYUP, KEYEVENTF_UNICODE, MAPVK_VK_TO_VSC,
    MOUSE_EVENT_FLAGS, MOUSEEVENTF_ABSOLUTE, MOUSEEVENTF_LEFTDOWN, MOUSEEVENTF_LEFTUP,
    MOUSEEVENTF_MIDDLEDOWN, MOUSEEVENTF_MIDDLEUP, MOUSEEVENTF_MOVE, MOUSEEVENTF_RIGHTDOWN,
    MOUSEEVENTF_RIGHTUP, MOUSEEVENTF_VIRTUALDESK, MOUSEEVENTF_WHEEL, MOUSEINPUT, MapVirtualKeyExW, SendInput,
    VIRTUAL_KEY, VkKeyScanExW,
};
use windows::Win32::UI::WindowsAndMessaging::{GetSystemMetrics, SM_SWAPBUTTON, SetCursorPos};

use super::decode::coordinates::{astray, units};
use super::decode::keys::{self, Event, Placed, Vk};
use super::{desktop, integrity};
use crate::clock::{Cancel, Clock, Deadline, lock, sleep_really};
use crate::error::{Error, Kind, Result};
use crate::model::input::{Button, Modifier};
use crate::model::{KeyCombo, Point};
use crate::platform::interaction::{Drag, point_between};

/// How long a person may keep a modifier down before it is released.
const HELD_BY_A_PERSON: Duration = Duration::from_millis(500);
/// Events between two looks at the cancel flag; applications fall behind when thousands come at once.
const EVENTS_AT_A_TIME: usize = 32;
const BETWEEN_BATCHES: Duration = Duration::from_millis(4);
/// Applications look at the clock to tell two clicks from a double click.
const BETWEEN_CLICKS: Duration = Duration::from_millis(40);
/// A pointer that has just come is noticed before it presses.
const ARRIVAL: Duration = Duration::from_millis(15);
const DRAG_STEP: Duration = Duration::from_millis(10);
const DRAG_STEPS: u32 = 12;
const DRAG_REST: Duration = Duration::from_millis(40);
/// One click of a wheel.
const WHEEL_CLICK: i32 = 120;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    Key(Vk),
    Button(Button),
}

/// What this process holds down.
#[derive(Debug)]
pub struct Hands {
    clock: Clock,
    held: Mutex<Vec<Held>>,
    /// One input at a time.
    turn: Mutex<()>,
}

impl Hands {
    pub fn new(clock: Clock) -> Self {
        Self { clock, held: Mutex::default(), turn: Mutex::default() }
    }

    pub fn move_to(&self, at: Point) -> Result<()> {
        self.calmly(|_| move_to(at))
    }

    pub fn click(
        &self,
        at: Option<Point>,
        button: Button,
        count: u32,
        held: &[Modifier],
        cancel: &Cancel,
    ) -> Result<()> {
        integrity::reach_point(at.map_or_else(desktop::pointer, Ok)?)?;
        self.calmly(|grip| {
            for modifier in held {
                grip.press(Held::Key(keys::modifier(*modifier)))?;
            }
            if let Some(at) = at {
                move_to(at)?;
                self.clock.sleep(ARRIVAL, cancel)?;
            }
            for done in 0..count {
                if done > 0 {
                    self.clock.sleep(BETWEEN_CLICKS, cancel)?;
                }
                grip.press(Held::Button(button))?;
                grip.release(Held::Button(button))?;
            }
            Ok(())
        })
    }

    /// Positive clicks show what is further up.
    pub fn scroll(&self, at: Option<Point>, clicks: i32, cancel: &Cancel) -> Result<()> {
        integrity::reach_point(at.map_or_else(desktop::pointer, Ok)?)?;
        self.calmly(|_| {
            if let Some(at) = at {
                move_to(at)?;
                self.clock.sleep(ARRIVAL, cancel)?;
            }
            // Click by click, as a wheel does: some applications scroll once for each event, however much it says.
            let turn = WHEEL_CLICK * clicks.signum();
            (0..clicks.unsigned_abs()).try_for_each(|_| {
                cancel.check()?;
                send(&[mouse(0, 0, turn.cast_unsigned(), MOUSEEVENTF_WHEEL)])
            })
        })
    }

    pub fn drag(&self, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        integrity::reach_point(drag.from)?;
        integrity::reach_point(drag.to)?;
        self.calmly(|grip| {
            for modifier in drag.modifiers {
                grip.press(Held::Key(keys::modifier(*modifier)))?;
            }
            move_to(drag.from)?;
            self.clock.sleep(ARRIVAL, cancel)?;
            grip.press(Held::Button(Button::Left))?;
            let arrived = follow(&self.clock, drag, cancel);
            if arrived.is_err() {
                // What is dropped where it came from stays there.
                move_to(drag.from)?;
            }
            arrived
        })
    }

    pub fn keys(&self, combo: &KeyCombo) -> Result<()> {
        integrity::reach_keyboard()?;
        let events = keys::combination(combo, placed)?;
        self.calmly(|grip| grip.events(&events))
    }

    /// Types a text of any characters into what has the keyboard.
    pub fn text(&self, text: &str, cancel: &Cancel) -> Result<()> {
        integrity::reach_keyboard()?;
        let events = keys::text(text);
        self.calmly(|grip| {
            events.chunks(EVENTS_AT_A_TIME).try_for_each(|batch| {
                self.clock.sleep(BETWEEN_BATCHES, cancel)?;
                grip.events(batch)
            })
        })
    }

    /// Does something while keys are held down.
    pub fn with_events(&self, events: &[Event], work: impl FnOnce()) -> Result<()> {
        self.calmly(|grip| {
            grip.events(events)?;
            work();
            Ok(())
        })
    }

    pub fn release_all(&self) {
        let held = std::mem::take(&mut *lock(&self.held));
        for item in held.into_iter().rev() {
            if let Err(error) = send(&[event_of(item, false)]) {
                tracing::error!("keys or buttons may still be held down: {error}");
            }
        }
    }

    /// Does something with nothing held down before, and lets go of everything after.
    fn calmly<T>(&self, work: impl FnOnce(&mut Grip<'_>) -> Result<T>) -> Result<T> {
        let _turn = lock(&self.turn);
        self.release_all();
        wait_for_free_modifiers()?;
        let mut grip = Grip { held: &self.held };
        work(&mut grip)
    }
}

/// What one call holds down. Letting go is its last action, however it ends.
struct Grip<'a> {
    held: &'a Mutex<Vec<Held>>,
}

impl Grip<'_> {
    /// Written down first: what failed may have reached Windows all the same.
    fn press(&mut self, item: Held) -> Result<()> {
        lock(self.held).push(item);
        send(&[event_of(item, true)])
    }

    fn release(&mut self, item: Held) -> Result<()> {
        send(&[event_of(item, false)])?;
        lock(self.held).retain(|other| *other != item);
        Ok(())
    }

    fn events(&mut self, events: &[Event]) -> Result<()> {
        for event in events {
            match event {
                Event::Down(key) => self.press(Held::Key(*key))?,
                Event::Up(key) => self.release(Held::Key(*key))?,
                Event::Unit(unit) => send(&[unicode(*unit, false), unicode(*unit, true)])?,
            }
        }
        Ok(())
    }
}

impl Drop for Grip<'_> {
    fn drop(&mut self) {
        let held = std::mem::take(&mut *lock(self.held));
        for item in held.into_iter().rev() {
            if let Err(error) = send(&[event_of(item, false)]) {
                tracing::error!("a key or button may still be held down: {error}");
            }
        }
    }
}

/// Windows tells how many events it took, and nothing of what became of them.
fn send(events: &[INPUT]) -> Result<()> {
    // SAFETY: a slice of complete events, whose size is passed.
    let taken = unsafe { SendInput(events, size_of::<INPUT>() as i32) };
    if taken as usize == events.len() {
        return Ok(());
    }
    // SAFETY: takes nothing, gives a number.
    let why = unsafe { GetLastError() };
    if why == ERROR_ACCESS_DENIED || why.0 == 0 {
        let message = "Windows did not accept the input: the window in front runs as administrator, or the \
                       screen is locked; start the server as administrator, or unlock the screen";
        return Err(Error::new(Kind::PermissionDenied, message));
    }
    Err(Error::internal(format!("Windows did not accept the input (error {})", why.0)))
}

fn keyboard(vk: u16, scan: u16, flags: KEYBD_EVENT_FLAGS) -> INPUT {
    let ki = KEYBDINPUT { wVk: VIRTUAL_KEY(vk), wScan: scan, dwFlags: flags, time: 0, dwExtraInfo: 0 };
    INPUT { r#type: INPUT_KEYBOARD, Anonymous: INPUT_0 { ki } }
}

fn unicode(unit: u16, up: bool) -> INPUT {
    keyboard(0, unit, if up { KEYEVENTF_UNICODE | KEYEVENTF_KEYUP } else { KEYEVENTF_UNICODE })
}

fn mouse(x: i32, y: i32, data: u32, flags: MOUSE_EVENT_FLAGS) -> INPUT {
    let mi = MOUSEINPUT { dx: x, dy: y, mouseData: data, dwFlags: flags, time: 0, dwExtraInfo: 0 };
    INPUT { r#type: INPUT_MOUSE, Anonymous: INPUT_0 { mi } }
}

fn event_of(item: Held, down: bool) -> INPUT {
    match item {
        Held::Key(key) => {
            let mut flags = KEYBD_EVENT_FLAGS(0);
            if key.extended {
                flags |= KEYEVENTF_EXTENDEDKEY;
            }
            if !down {
                flags |= KEYEVENTF_KEYUP;
            }
            keyboard(key.code, scan_code(key), flags)
        }
        Held::Button(button) => mouse(0, 0, 0, button_flags(button, down)),
    }
}

/// Games and terminals look at the place of a key and not at its number.
fn scan_code(key: Vk) -> u16 {
    // SAFETY: numbers in, a number out.
    let code = unsafe { MapVirtualKeyExW(u32::from(key.code), MAPVK_VK_TO_VSC, Some(layout())) };
    u16::try_from(code).unwrap_or(0)
}

/// Events name the button of the mouse; a left-handed person has them the other way round.
fn button_flags(button: Button, down: bool) -> MOUSE_EVENT_FLAGS {
    // SAFETY: a number in, a number out.
    let swapped = unsafe { GetSystemMetrics(SM_SWAPBUTTON) } != 0;
    match (button, swapped) {
        (Button::Left, false) | (Button::Right, true) if down => MOUSEEVENTF_LEFTDOWN,
        (Button::Left, false) | (Button::Right, true) => MOUSEEVENTF_LEFTUP,
        (Button::Right, false) | (Button::Left, true) if down => MOUSEEVENTF_RIGHTDOWN,
        (Button::Right, false) | (Button::Left, true) => MOUSEEVENTF_RIGHTUP,
        (Button::Middle, _) if down => MOUSEEVENTF_MIDDLEDOWN,
        (Button::Middle, _) => MOUSEEVENTF_MIDDLEUP,
    }
}

/// Whether the pointer came where it should is looked at: rounding may have put it one pixel off, and it does not come
/// everywhere.
fn move_to(at: Point) -> Result<()> {
    glide_to(at)?;
    let now = desktop::pointer()?;
    if now == at {
        return Ok(());
    }
    Err(astray(at, now, desktop::monitors().into_iter().map(|monitor| monitor.rect)))
}

/// A point on the way, which may lead through a gap between monitors.
fn glide_to(at: Point) -> Result<()> {
    let screen = desktop::screen();
    let Some((x, y)) = units(screen, at) else {
        return Err(Error::bad_request(format!("the point {},{} is not on any monitor", at.x, at.y))
            .with("screen", screen));
    };
    send(&[mouse(x, y, 0, MOUSEEVENTF_MOVE | MOUSEEVENTF_ABSOLUTE | MOUSEEVENTF_VIRTUALDESK)])?;
    if desktop::pointer()? != at {
        // SAFETY: two numbers.
        unsafe { SetCursorPos(at.x, at.y) }.map_err(|problem| {
            Error::new(Kind::PermissionDenied, format!("Windows did not move the pointer: {problem}"))
        })?;
    }
    Ok(())
}

fn follow(clock: &Clock, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
    let steps = u32::try_from(drag.duration.as_millis() / DRAG_STEP.as_millis()).unwrap_or(u32::MAX);
    let steps = steps.clamp(DRAG_STEPS, 2_000);
    let pause = (drag.duration / steps).max(Duration::from_millis(2));
    clock.sleep(DRAG_REST, cancel)?;
    for step in 1..=steps {
        let at = point_between(drag.from, drag.to, step, steps);
        if step < steps {
            glide_to(at)?
        } else {
            move_to(at)?
        }
        clock.sleep(pause, cancel)?;
    }
    clock.sleep(DRAG_REST, cancel)?;
    (drag.before_release)()
}

/// Each thread has a layout of its own; the one that counts is that of whom the keys go to.
fn layout() -> HKL {
    let (thread, _) = desktop::thread_and_process(desktop::handle(desktop::foreground()));
    // SAFETY: a number in, a handle out that needs no closing.
    unsafe { GetKeyboardLayout(thread) }
}

/// Where that layout has a character.
fn placed(character: char) -> Option<Placed> {
    let unit = u16::try_from(u32::from(character)).ok()?;
    // SAFETY: a number and a layout in, a number out.
    Placed::of(unsafe { VkKeyScanExW(unit, layout()) })
}

/// Waits for a person to let go of modifiers, then releases them.
fn wait_for_free_modifiers() -> Result<()> {
    let deadline = Deadline::after(HELD_BY_A_PERSON);
    loop {
        let down = modifiers_down();
        if down.is_empty() {
            return Ok(());
        }
        if deadline.is_over() {
            return down.into_iter().try_for_each(|key| send(&[event_of(Held::Key(key), false)]));
        }
        sleep_really(DRAG_STEP);
    }
}

fn modifiers_down() -> Vec<Vk> {
    // SAFETY: a number in, a number out; the highest bit is set while the key is down.
    let down = |key: &Vk| unsafe { GetAsyncKeyState(i32::from(key.code)) } < 0;
    keys::HELD.into_iter().filter(down).collect()
}
