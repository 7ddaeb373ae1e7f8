//! The keyboard: text and key combinations, to whatever has the focus.

use schemars::JsonSchema;
use serde::Deserialize;

use super::common::window_choice;
use super::pointer::PointerSent;
use super::typed_field::{FieldBefore, TypedReceipt, shows_menu};
use super::typed_lines::{judge_rest, pieces_to_judge};
use crate::config::limits;
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Delivery, Handle};
use crate::model::{InputAim, InputKind, InputText, KeyCombo, RecordedInput, Role};
use crate::observer::{ResolvedWindow, WindowChoice};
use crate::platform::Done;
use crate::platform::interaction::is_date;
use crate::tool::args::{SecretOr, Text, WindowIndex};
use crate::tool::{Cx, Effect, ElementTarget, Example, Group, Meta, Method, Permit, Spec, Target, Tool};

/// The window that keys are for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct KeyWindowArgs {
    /// Raised first; default: focused window.
    window_uid: Option<Text<256>>,
    #[schemars(extend("x-hidden" = true))]
    window_index: Option<WindowIndex>,
    #[schemars(extend("x-hidden" = true))]
    window_title: Option<Text<512>>,
    /// background: refused unless it is in front.
    delivery: Option<Delivery>,
}

impl KeyWindowArgs {
    /// The window that is named, or the dialog of it that has the keyboard.
    fn window(&self, cx: &Cx) -> Result<Option<ResolvedWindow>> {
        let choice = self.window_choice();
        if choice.is_empty() {
            return Ok(None);
        }
        cx.observer().keyboard_window(&cx.desktop()?, &choice).map(Some)
    }

    /// Sends keys to the window. A dialog that has just opened gets the keyboard a moment after it is there, and with it
    /// what is for its window; where somebody judged that, nothing else is done.
    fn send_keys(&self, cx: &Cx, permit: &mut Permit, act: impl Fn(Option<String>) -> Act) -> Result<Done> {
        let delivery = self.delivery.unwrap_or_default();
        let uid = uid_of(self.window(cx)?);
        let sent = cx.observer().deliver_input(permit, &act(uid.clone()), delivery, cx.cancel);
        match sent {
            Err(error) if error.kind == Kind::WindowOccluded && !cx.judged => {
                cx.forget_desktop();
                let dialog = uid_of(self.window(cx)?).filter(|dialog| Some(dialog) != uid.as_ref());
                let dialog = dialog.ok_or(error)?;
                cx.observer().deliver_input(permit, &act(Some(dialog)), delivery, cx.cancel)
            }
            sent => sent,
        }
    }

    /// Types a text; what comes up before its end is judged first.
    fn type_in_pieces(
        &self,
        cx: &Cx,
        permit: &mut Permit,
        text: &str,
        into: Option<&Handle>,
    ) -> Result<Done> {
        let (mut done, mut rest, mut typed) = (Done::default(), text, 0);
        for piece in pieces_to_judge(cx, permit, text) {
            let takes_all = typed > 0
                && judge_rest(cx, permit, |cx| cx.judged_text(self.window(cx)?.as_ref(), rest), typed)?;
            let piece = if takes_all { rest } else { piece };
            let act = |window_uid| Act::Type { element: into.cloned(), window_uid, text: piece.to_owned() };
            done = self.send_keys(cx, permit, act)?;
            rest = rest.strip_prefix(piece).unwrap_or_default();
            typed += piece.chars().count();
            if rest.is_empty() {
                break;
            }
        }
        Ok(done)
    }

    fn window_choice(&self) -> WindowChoice {
        window_choice(&self.window_uid, self.window_index, &self.window_title)
    }

    /// The uid of the window that is named.
    pub fn named_uid(&self, cx: &Cx) -> Result<Option<String>> {
        let choice = self.window_choice();
        if choice.uid.is_some() || choice.is_empty() {
            return Ok(choice.uid);
        }
        Ok(Some(cx.observer().choose_in(&cx.desktop()?, &choice)?.window.uid))
    }
}

fn uid_of(window: Option<ResolvedWindow>) -> Option<String> {
    window.map(|window| window.window.uid)
}

pub struct TypeText;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct TypeArgs {
    /// Text to type, or {"secret":"NAME"}.
    text: SecretOr<Text<{ limits::TYPED_TEXT_CHARACTERS }>>,
    #[serde(flatten)]
    pub(super) to: KeyWindowArgs,
}

impl Tool for TypeText {
    type Args = TypeArgs;
    type Out = TypedReceipt;
    const META: Meta = Meta {
        name: "type_text",
        group: Group::Keyboard,
        lean: true,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/action")],
        brief: "Type text into the focused element. The receipt says which, and its value now.",
        detail: "The text goes to the focused element, character by character; with `window_uid` that window is \
                 brought to the front first, or nothing is typed. `into` is the element that got it, `verified` \
                 whether the text was read back there. `{\"secret\": \"NAME\"}` types a secret that the \
                 owner of the server set in `secrets.file` or in the environment as `OSO_SECRET_NAME`: it is \
                 never shown.",
        examples: &[Example { scenario: None, args: r#"{"text":"hi"}"#, shows: "two letters typed" }],
        verify: &["ok", "error.code"],
        input: Some(
            RecordedInput::new(InputKind::TypeText, InputAim::Keyboard)
                .with_text(InputText::Argument("text")),
        ),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &TypeArgs) -> Result<Vec<Target>> {
        let text = args.text.reveal_secret(cx)?;
        let targets = cx.judged_text(args.to.window(cx)?.as_ref(), text)?;
        refuse_date_in_part(targets.first().and_then(Target::element), text)?;
        Ok(targets)
    }

    fn run(cx: &mut Cx, args: TypeArgs, mut permit: Permit) -> Result<TypedReceipt> {
        let text = args.text.reveal_secret(cx)?.to_owned();
        let before = FieldBefore::look(cx, &permit);
        let has_menu = shows_menu(&permit);
        let into = field_of_secret(&args.text, &permit);
        let done = args.to.type_in_pieces(cx, &mut permit, &text, into.as_ref())?;
        let sent = PointerSent::of("type", done, permit.dry_run());
        TypedReceipt::read_back(cx, sent, before, &text).with_menu(has_menu).check_lines()
    }
}

/// The field of a page that a named secret is for: keys go to whatever has the focus, which a frame of another site may
/// take meanwhile.
fn field_of_secret<T>(text: &SecretOr<T>, permit: &Permit) -> Option<Handle> {
    let target =
        permit.target().and_then(Target::element).filter(|_| matches!(text, SecretOr::Named { .. }))?;
    let is_page = target.chosen.window.url.is_some();
    let native = target.view.native_handle(target.node).filter(|_| is_page)?;
    Some(Handle { window_uid: target.chosen.window.uid.clone(), native })
}

pub struct PressKey;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct PressArgs {
    /// Like enter, ctrl+s, alt+f4.
    keys: Text<64>,
    #[serde(flatten)]
    pub(super) to: KeyWindowArgs,
}

impl Tool for PressKey {
    type Args = PressArgs;
    type Out = PointerSent;
    const META: Meta = Meta {
        name: "press_key",
        group: Group::Keyboard,
        lean: true,
        web: true,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/action")],
        brief: "Press a key or a combination.",
        detail: "Modifiers come first, joined by `+`. All keys are released again, even when the call fails. With \
                 `window_uid` that window is brought to the front first, or nothing is pressed.",
        examples: &[Example { scenario: None, args: r#"{"keys":"ctrl+a"}"#, shows: "select all" }],
        verify: &["ok", "error.code"],
        input: Some(
            RecordedInput::new(InputKind::PressKey, InputAim::Keyboard).with_text(InputText::Keys("keys")),
        ),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &PressArgs) -> Result<Vec<Target>> {
        cx.judged_keys(args.to.window(cx)?.as_ref(), &parse_combination(args.keys.as_str())?)
    }

    fn run(cx: &mut Cx, args: PressArgs, mut permit: Permit) -> Result<PointerSent> {
        let keys = parse_combination(args.keys.as_str())?;
        let act = |window_uid| Act::Key { element: None, window_uid, keys: keys.clone() };
        let done = args.to.send_keys(cx, &mut permit, act)?;
        Ok(PointerSent::of("key", done, permit.dry_run()))
    }
}

/// A whole date that is typed into one part of a date field spreads over the others, in another order.
fn refuse_date_in_part(target: Option<&ElementTarget>, text: &str) -> Result<()> {
    let Some(target) = target.filter(|_| is_date(text)) else { return Ok(()) };
    let tree = target.view.tree();
    let is_spin = |node: usize| matches!(tree[node].role, Role::SpinButton | Role::Spinner);
    let around = tree.parent(target.node).filter(|_| is_spin(target.node));
    let Some(field) =
        around.filter(|&around| tree.children(around).filter(|&child| is_spin(child)).count() >= 3)
    else {
        return Ok(());
    };
    let message = format!(
        "the focus is in one part of the date '{}', and a whole date would go into the wrong parts; nothing was typed. \
         set_value on the date takes it as it is",
        tree[field].name
    );
    Err(Error::new(Kind::PatternUnsupported, message).with("element_id", tree.id(field)))
}

pub fn parse_combination(keys: &str) -> Result<KeyCombo> {
    KeyCombo::parse(keys)
        .map_err(|problem| Error::bad_request(format!("argument 'keys': {problem}")).with("field", "keys"))
}

pub const TOOLS: &[Spec] = &[Spec::of::<TypeText>(), Spec::of::<PressKey>()];
