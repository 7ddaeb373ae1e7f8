//! Pointer and keyboard, by the XTEST extension: what a person's hand would do.
//!
//! Everything that is pressed is written down before and released whatever happens: when the call ends, is
//! cancelled, fails or panics, and when the connection is lost, by the next one. Modifiers that a person
//! holds down would change what our input means; they get a moment to be let go, then they are released.
//! They are not pressed again, because a key that a person lets go in between would stay down for ever.

use std::sync::Mutex;
use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT, ModMask,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use super::keys::{self, Keysym};
use super::layout::{self, Keycode, Stroke, TextBatch, X11Layout};
use super::x11::{X11Error, X11Failure, X11Server, X11Session};
use super::{lease, remap, settle};
use crate::clock::{Cancel, Clock, Deadline, lock, sleep_really};
use crate::error::{Error, Kind, Result};
use crate::model::input::{Button, Modifier};
use crate::model::{KeyCombo, Point};
use crate::platform::interaction::{Drag, TypedText, point_between};

/// How long a person may keep a modifier down before it is released.
const HELD_BY_A_PERSON: Duration = Duration::from_millis(500);
/// Keys between two looks at the cancel flag and at what a person holds down.
const KEYS_AT_A_TIME: usize = 16;
const SCREEN_REFRESH: Duration = Duration::from_millis(8);
/// A drag makes at least so many steps: some applications ignore a pointer that jumps.
const DRAG_STEPS: u32 = 12;
/// How long the pointer rests before and after a drag, for the other side to see where it is.
const DRAG_REST: Duration = Duration::from_millis(40);

const WHEEL_UP: u8 = 4;
const WHEEL_DOWN: u8 = 5;

/// What this process holds down, and which keys it borrowed when.
#[derive(Debug, Default)]
pub struct X11Input {
    held: Mutex<Vec<X11Held>>,
    /// Borrowed keys, the one unused for longest first.
    last_used: Mutex<Vec<Keycode>>,
    /// The window that was given time to notice that it has the keyboard.
    attentive: Mutex<u32>,
    /// What was sent last, and until when it may not have come about.
    sent: Mutex<Option<(Sent, Deadline)>>,
}

/// What an application may still have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Characters, which it takes in one after the other.
    Text,
    /// Something that it may do later, or that moves the focus: a shortcut, a key with a name, a click.
    Shortcut,
}

impl Sent {
    fn of(combo: &KeyCombo) -> Self {
        if combo.types_a_character() { Sent::Text } else { Sent::Shortcut }
    }
}

/// After that an application has done what it was sent, or is busy with something else.
const TAKEN_IN: Duration = Duration::from_secs(1);
/// A field that a character opens is there after this time; whoever types later need not wait for it.
const FIELD_OPENS: Duration = Duration::from_millis(250);

/// Waits for the application in the middle of a text.
pub type Pause<'a> = dyn Fn(&X11Server, Sent) -> Result<(), X11Failure> + 'a;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum X11Held {
    Key(Keycode),
    Button(u8),
}

/// Set in the number of a button, which would be a key's otherwise.
const BUTTON: u32 = 1 << 8;

impl X11Held {
    /// How other processes are told of it.
    pub fn number(self) -> u32 {
        match self {
            X11Held::Key(code) => u32::from(code),
            X11Held::Button(number) => BUTTON | u32::from(number),
        }
    }

    pub fn of_number(number: u32) -> Option<Self> {
        let low = u8::try_from(number & !BUTTON).ok()?;
        Some(if number & BUTTON == 0 { X11Held::Key(low) } else { X11Held::Button(low) })
    }
}

/// Lets go of those that are down, and says how many that were.
pub fn let_go_of(server: &X11Server, items: &[X11Held]) -> Result<usize, X11Error> {
    if items.is_empty() || !server.extensions.test_input {
        return Ok(0);
    }
    let pointer = server.connection.query_pointer(server.root)?;
    let keys = server.connection.query_keymap()?.reply()?.keys;
    let buttons = u16::from(pointer.reply()?.mask);
    let is_down = |item: &X11Held| match *item {
        X11Held::Key(code) => is_down(&keys, code),
        X11Held::Button(number) => is_pressed(buttons, number),
    };
    let mut down: Vec<X11Held> = items.iter().copied().filter(is_down).collect();
    down.dedup();
    down.iter().rev().try_for_each(|item| fake_input(server, *item, false))?;
    server.sync_server()?;
    Ok(down.len())
}

/// The mask has five buttons, above eight modifiers; others are never held.
fn is_pressed(mask: u16, button: u8) -> bool {
    (1..=5).contains(&button) && mask & (1 << (7 + button)) != 0
}

/// Chromium takes two presses of the same millisecond for one, and makes no double click of them.
const BETWEEN_CLICKS: Duration = Duration::from_millis(20);

impl X11Input {
    pub fn click(
        &self,
        link: &X11Session,
        at: Point,
        button: Button,
        count: u32,
        held: &[Modifier],
    ) -> Result<()> {
        self.note_sent(Sent::Shortcut);
        self.with_nothing_held(link, |server, grip| {
            if !held.is_empty() {
                let layout = read_layout(server)?;
                held.iter().try_for_each(|modifier| {
                    grip.press_down(X11Held::Key(modifier_key(&layout, *modifier)?.code))
                })?;
            }
            move_to(server, at)?;
            for done in 0..count {
                if done > 0 {
                    server.sync_server()?;
                    sleep_really(BETWEEN_CLICKS);
                }
                grip.tap_item(X11Held::Button(button_number(button)))?;
            }
            Ok(())
        })
    }

    fn note_sent(&self, sent: Sent) {
        *lock(&self.sent) = Some((sent, Deadline::after(TAKEN_IN)));
    }

    /// One character was typed, which may open the field that the next ones belong into.
    pub fn note_first_character(&self) {
        *lock(&self.sent) = Some((Sent::Shortcut, Deadline::after(FIELD_OPENS)));
    }

    /// What was sent a moment ago, for whoever waits until it has come about.
    pub fn take_sent(&self) -> Option<Sent> {
        lock(&self.sent).take().filter(|(_, until)| !until.is_over()).map(|(sent, _)| sent)
    }

    pub fn move_to(&self, link: &X11Session, at: Point) -> Result<()> {
        self.with_nothing_held(link, |server, _| Ok(move_to(server, at)?))
    }

    /// Positive clicks show what is further up.
    pub fn scroll(&self, link: &X11Session, at: Option<Point>, clicks: i32) -> Result<()> {
        let wheel = if clicks > 0 { WHEEL_UP } else { WHEEL_DOWN };
        self.with_nothing_held(link, |server, grip| {
            if let Some(at) = at {
                move_to(server, at)?;
            }
            (0..clicks.unsigned_abs()).try_for_each(|_| grip.tap_item(X11Held::Button(wheel)))
        })
    }

    pub fn drag(&self, link: &X11Session, clock: &Clock, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        self.with_nothing_held(link, |server, grip| {
            let layout = read_layout(server)?;
            for modifier in drag.modifiers {
                grip.press_down(X11Held::Key(modifier_key(&layout, *modifier)?.code))?;
            }
            move_to(server, drag.from)?;
            grip.press_down(X11Held::Button(button_number(Button::Left)))?;
            let arrived = follow_drag(server, clock, drag, cancel);
            if arrived.is_err() {
                // What is dropped where it came from stays there.
                move_to(server, drag.from)?;
            }
            arrived
        })
    }

    pub fn keys(&self, link: &X11Session, combo: &KeyCombo, pause: &Pause<'_>) -> Result<()> {
        let keysym = keys::key_keysym(&combo.key)?;
        self.note_sent(Sent::of(combo));
        self.with_nothing_held(link, |server, grip| {
            self.wait_for_attention(server)?;
            let _layout_state = first_group(server)?;
            let layout = self.layout_with(server, &[keysym])?;
            let stroke = find_stroke(&layout, keysym)?;
            for modifier in &combo.modifiers {
                grip.press_down(X11Held::Key(modifier_key(&layout, *modifier)?.code))?;
            }
            if combo.modifiers.contains(&Modifier::Alt) {
                // Qt runs the mnemonic of a menu as soon as it comes, and takes the held key afterwards, which shuts the
                // menu: the key has to be taken before the mnemonic comes.
                pause(server, Sent::Text)?;
            }
            let has_shift = combo.modifiers.contains(&Modifier::Shift);
            grip.strike_key(&layout, Stroke { shift: stroke.shift && !has_shift, ..stroke })
        })
    }

    /// Types a text of any characters into what has the keyboard.
    pub fn text(
        &self,
        link: &X11Session,
        text: &str,
        cancel: &Cancel,
        pause: &Pause<'_>,
    ) -> Result<TypedText> {
        let keysyms = keys::keysyms_of(text)?;
        self.note_sent(Sent::Text);
        self.with_nothing_held(link, |server, grip| {
            self.wait_for_attention(server)?;
            let _layout_state = first_group(server)?;
            let mut typed = TypedText::default();
            let mut pace = Pace { pause, first: true, left: keysyms.len() };
            for batch in layout::split_batches(&read_layout(server)?, &keysyms)? {
                let layout = self.layout_with(server, &batch.borrowed)?;
                typed.disturbed |= type_batch(server, grip, &layout, &batch, &mut pace, cancel)?;
            }
            typed.disturbed |= is_any_key_down(server)?;
            Ok(typed)
        })
    }

    /// Lets go of everything, also what was pressed over a connection that is lost.
    pub fn release_all(&self, link: &X11Session) {
        if !lock(&self.held).is_empty() {
            let released = link.with_server(|server| self.release_held(server));
            if let Err(error) = released {
                tracing::error!("keys or buttons may still be held down: {error}");
            }
        }
    }

    fn release_held(&self, server: &X11Server) -> Result<(), X11Error> {
        let held = lock(&self.held).clone();
        for item in held.into_iter().rev() {
            fake_input(server, item, false)?;
            lock(&self.held).retain(|other| *other != item);
        }
        server.sync_server()
    }

    /// Does something with nothing held down before, and lets go of everything after.
    fn with_nothing_held<T>(
        &self,
        link: &X11Session,
        work: impl FnOnce(&X11Server, &mut X11Grip<'_>) -> Result<T, X11Failure>,
    ) -> Result<T> {
        link.with_errors(|server| {
            if !server.extensions.test_input {
                return Err(no_test_input().into());
            }
            self.release_held(server)?;
            wait_for_free_modifiers(server)?;
            let mut grip = X11Grip { server, held: &self.held, mine: Vec::new(), told: Vec::new() };
            let done = work(server, &mut grip)?;
            grip.let_go()?;
            server.sync_server()?;
            Ok(done)
        })
    }

    /// A window that has just got the keyboard loses what is typed before it noticed.
    fn wait_for_attention(&self, server: &X11Server) -> Result<(), X11Error> {
        let focus = server.connection.get_input_focus()?.reply()?.focus;
        let mut attentive = lock(&self.attentive);
        if *attentive != focus && settle::is_settled(server, focus)? {
            *attentive = focus;
        }
        Ok(())
    }

    /// The layout once all of these can be typed on it.
    fn layout_with(&self, server: &X11Server, wanted: &[Keysym]) -> Result<X11Layout, X11Failure> {
        let layout = read_layout(server)?;
        let assignments = {
            let mut last_used = lock(&self.last_used);
            let assignments = layout.assign_keysyms(wanted, &last_used);
            for assignment in &assignments {
                last_used.retain(|code| *code != assignment.code);
                last_used.push(assignment.code);
            }
            assignments
        };
        if assignments.is_empty() {
            return Ok(layout);
        }
        // What was typed on a key must have been understood before the key means something else, and the
        // new meaning must be known before it is typed.
        if assignments.iter().any(|assignment| assignment.displaces) {
            settle::wait_for_focus_owner(server)?;
        }
        remap::put_on_keys(server, &assignments)?;
        settle::wait_for_focus_owner(server)?;
        Ok(read_layout(server)?)
    }
}

fn no_test_input() -> Error {
    Error::new(
        Kind::PlatformUnsupported,
        "the X server has no XTEST extension, so neither pointer nor keys can be sent",
    )
}

/// What one call holds down. Letting go is its last action, however it ends.
struct X11Grip<'a> {
    server: &'a X11Server,
    held: &'a Mutex<Vec<X11Held>>,
    mine: Vec<X11Held>,
    /// What other processes know that this call may be holding down.
    told: Vec<X11Held>,
}

impl X11Grip<'_> {
    /// Written down first: what cannot be told to the server may have reached it all the same.
    fn press_down(&mut self, item: X11Held) -> Result<(), X11Failure> {
        if !self.told.contains(&item) {
            lease::note_held(self.server, item)?;
            self.told.push(item);
        }
        lock(self.held).push(item);
        self.mine.push(item);
        Ok(fake_input(self.server, item, true)?)
    }

    fn release(&mut self, item: X11Held) -> Result<(), X11Failure> {
        fake_input(self.server, item, false)?;
        self.mine.retain(|other| *other != item);
        lock(self.held).retain(|other| *other != item);
        Ok(())
    }

    fn tap_item(&mut self, item: X11Held) -> Result<(), X11Failure> {
        self.press_down(item)?;
        self.release(item)
    }

    fn strike_key(&mut self, layout: &X11Layout, stroke: Stroke) -> Result<(), X11Failure> {
        let shift = if stroke.shift { Some(find_stroke(layout, keys::SHIFT)?.code) } else { None };
        let level_3 = if stroke.level_3 { Some(find_stroke(layout, keys::LEVEL_3)?.code) } else { None };
        let holds = [shift, level_3].into_iter().flatten().map(X11Held::Key);
        holds.clone().try_for_each(|hold| self.press_down(hold))?;
        self.tap_item(X11Held::Key(stroke.code))?;
        holds.rev().try_for_each(|hold| self.release(hold))
    }

    fn let_go(&mut self) -> Result<(), X11Failure> {
        while let Some(item) = self.mine.last().copied() {
            self.release(item)?;
        }
        if !self.told.is_empty() {
            lease::note_free(self.server)?;
            self.told.clear();
        }
        Ok(())
    }
}

impl Drop for X11Grip<'_> {
    fn drop(&mut self) {
        // Over a lost connection nothing can be released; the list remembers it for the next one.
        let released = self.let_go().is_ok() && self.server.sync_server().is_ok();
        if !released {
            tracing::warn!("the connection was lost with keys or buttons down; the next call releases them");
        }
    }
}

fn fake_input(server: &X11Server, item: X11Held, down: bool) -> Result<(), X11Error> {
    let (kind, detail) = match (item, down) {
        (X11Held::Key(code), true) => (KEY_PRESS_EVENT, code),
        (X11Held::Key(code), false) => (KEY_RELEASE_EVENT, code),
        (X11Held::Button(number), true) => (BUTTON_PRESS_EVENT, number),
        (X11Held::Button(number), false) => (BUTTON_RELEASE_EVENT, number),
    };
    server.connection.xtest_fake_input(kind, detail, x11rb::CURRENT_TIME, server.root, 0, 0, 0)?;
    Ok(())
}

fn move_to(server: &X11Server, at: Point) -> Result<(), X11Error> {
    let side = |place: i32| place.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    let (x, y) = (side(at.x), side(at.y));
    server.connection.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, x11rb::CURRENT_TIME, server.root, x, y, 0)?;
    Ok(())
}

const fn button_number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}

/// Moves along a drag's way in small steps, in the time it shall take.
fn follow_drag(
    server: &X11Server,
    clock: &Clock,
    drag: &Drag<'_>,
    cancel: &Cancel,
) -> Result<(), X11Failure> {
    let steps = (drag.duration.as_millis() / SCREEN_REFRESH.as_millis()) as u32;
    let steps = steps.clamp(DRAG_STEPS, 2_000);
    let pause = (drag.duration / steps).max(Duration::from_millis(2));
    clock.sleep(DRAG_REST, cancel)?;
    for step in 1..=steps {
        move_to(server, point_between(drag.from, drag.to, step, steps))?;
        server.sync_server()?;
        clock.sleep(pause, cancel)?;
    }
    clock.sleep(DRAG_REST, cancel)?;
    Ok((drag.before_release)()?)
}

/// Where the focus may move in the middle of a text, the application is waited for.
struct Pace<'a> {
    pause: &'a Pause<'a>,
    /// Nothing was typed yet.
    first: bool,
    /// How many characters are to come.
    left: usize,
}

impl Pace<'_> {
    fn after_key(&mut self, server: &X11Server, keysym: Keysym) -> Result<(), X11Failure> {
        self.left = self.left.saturating_sub(1);
        // In a list of files the first character opens the field that the others belong into.
        if std::mem::take(&mut self.first) && self.left > 0 {
            server.sync_server()?;
            return (self.pause)(server, Sent::Shortcut);
        }
        if keys::MOVE_FOCUS.contains(&keysym) {
            server.sync_server()?;
            return (self.pause)(server, Sent::Text);
        }
        Ok(())
    }
}

fn type_batch(
    server: &X11Server,
    grip: &mut X11Grip<'_>,
    layout: &X11Layout,
    batch: &TextBatch,
    pace: &mut Pace<'_>,
    cancel: &Cancel,
) -> Result<bool, X11Failure> {
    let mut disturbed = false;
    for keysyms in batch.keysyms.chunks(KEYS_AT_A_TIME) {
        cancel.check()?;
        // A modifier that a person holds would make other characters of the rest.
        disturbed |= is_any_key_down(server)?;
        wait_for_free_modifiers(server)?;
        for &keysym in keysyms {
            grip.strike_key(layout, find_stroke(layout, keysym)?)?;
            pace.after_key(server, keysym)?;
        }
        server.sync_server()?;
    }
    Ok(disturbed)
}

/// Between two keys of ours, every key that is down is somebody else's.
fn is_any_key_down(server: &X11Server) -> Result<bool, X11Error> {
    let keys = server.connection.query_keymap()?.reply()?.keys;
    Ok(keys.iter().any(|byte| *byte != 0))
}

fn read_layout(server: &X11Server) -> Result<X11Layout, X11Error> {
    let setup = server.connection.setup();
    let count = setup.max_keycode.saturating_sub(setup.min_keycode).saturating_add(1);
    let reply = server.connection.get_keyboard_mapping(setup.min_keycode, count)?.reply()?;
    Ok(X11Layout::new(setup.min_keycode, reply.keysyms_per_keycode, reply.keysyms))
}

fn find_stroke(layout: &X11Layout, keysym: Keysym) -> Result<Stroke> {
    layout.find_stroke(keysym).ok_or_else(|| {
        Error::internal(format!("no key of the keyboard has the keysym {keysym:#x}; was the layout changed?"))
    })
}

fn modifier_key(layout: &X11Layout, modifier: Modifier) -> Result<Stroke> {
    find_stroke(layout, keys::modifier_keysym(modifier))
}

/// While it lives, keys mean what the first group of the layout says, without caps lock; after, as before.
struct FirstGroup<'a> {
    server: &'a X11Server,
    locked: ModMask,
    group: xkb::Group,
}

fn first_group(server: &X11Server) -> Result<Option<FirstGroup<'_>>, X11Error> {
    if !server.extensions.keyboard {
        return Ok(None);
    }
    let keyboard = xkb::ID::USE_CORE_KBD.into();
    let state = server.connection.xkb_get_state(keyboard)?.reply()?;
    let locked = state.locked_mods & ModMask::LOCK;
    let group = state.locked_group;
    if group == xkb::Group::M1 && locked == ModMask::from(0u16) {
        return Ok(None);
    }
    let before = FirstGroup { server, locked, group };
    before.set(ModMask::from(0u16), xkb::Group::M1)?;
    Ok(Some(before))
}

impl FirstGroup<'_> {
    fn set(&self, locked: ModMask, group: xkb::Group) -> Result<(), X11Error> {
        let keyboard = xkb::ID::USE_CORE_KBD.into();
        let nothing = ModMask::from(0u16);
        self.server.connection.xkb_latch_lock_state(
            keyboard,
            ModMask::LOCK,
            locked,
            true,
            group,
            nothing,
            false,
            0,
        )?;
        self.server.sync_server()
    }
}

impl Drop for FirstGroup<'_> {
    fn drop(&mut self) {
        if let Err(trouble) = self.set(self.locked, self.group) {
            tracing::warn!("caps lock and the layout's group are not as they were: {trouble}");
        }
    }
}

/// Waits for a person to let go of modifiers, then releases them.
fn wait_for_free_modifiers(server: &X11Server) -> Result<(), X11Error> {
    let deadline = Deadline::after(HELD_BY_A_PERSON);
    loop {
        let down = modifiers_down(server)?;
        if down.is_empty() {
            return Ok(());
        }
        if deadline.is_over() {
            down.into_iter().try_for_each(|code| fake_input(server, X11Held::Key(code), false))?;
            return server.sync_server();
        }
        sleep_really(SCREEN_REFRESH);
    }
}

fn modifiers_down(server: &X11Server) -> Result<Vec<Keycode>, X11Error> {
    let modifiers = server.connection.get_modifier_mapping()?;
    let keys = server.connection.query_keymap()?.reply()?.keys;
    let mut codes = modifiers.reply()?.keycodes;
    codes.retain(|&code| code != 0 && is_down(&keys, code));
    codes.dedup();
    Ok(codes)
}

/// One bit for every keycode.
fn is_down(keys: &[u8; 32], code: Keycode) -> bool {
    keys[usize::from(code / 8)] & (1 << (code % 8)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_tell_which_keys_are_down() {
        let mut keys = [0; 32];
        keys[4] = 0b0010_0000;
        assert!(is_down(&keys, 37));
        assert!(!is_down(&keys, 36) && !is_down(&keys, 255));
    }
}
