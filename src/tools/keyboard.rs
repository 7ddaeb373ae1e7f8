//! The keyboard: text and key combinations, to whatever has the focus.

use schemars::JsonSchema;
use serde::Deserialize;

use super::pointer::PointerSent;
use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::input::Act;
use crate::model::{InputAim, InputKind, InputText, KeyCombo, RecordedInput};
use crate::tool::args::{SecretOr, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Permit, Spec, Target, Tool};

pub struct TypeText;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct TypeArgs {
    /// Text to type, or {"secret":"NAME"}.
    text: SecretOr<Text<{ limits::TYPED_TEXT_CHARACTERS }>>,
}

impl Tool for TypeText {
    type Args = TypeArgs;
    type Out = PointerSent;
    const META: Meta = Meta {
        name: "type_text",
        group: Group::Keyboard,
        lean: true,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/action")],
        brief: "Type text into the focused element. Click it first; then check its value.",
        detail: "The text goes to the focused element, character by character. `{\"secret\": \"NAME\"}` \
                 types a secret that the server's owner set in `secrets.file` or in the environment as \
                 `OSO_SECRET_NAME`: it is never shown.",
        examples: &[Example { scenario: None, args: r#"{"text":"hi"}"#, shows: "two letters typed" }],
        verify: &["ok", "error.code"],
        input: Some(
            RecordedInput::new(InputKind::TypeText, InputAim::Keyboard)
                .with_text(InputText::Argument("text")),
        ),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &TypeArgs) -> Result<Vec<Target>> {
        cx.judged_text(args.text.reveal_secret(cx)?)
    }

    fn run(cx: &mut Cx, args: TypeArgs, permit: Permit) -> Result<PointerSent> {
        let text = args.text.reveal_secret(cx)?.to_owned();
        PointerSent::send(cx, permit, "type", &Act::Type { element: None, text })
    }
}

pub struct PressKey;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct PressArgs {
    /// Key or combination: enter, ctrl+s, alt+f4.
    keys: Text<64>,
}

impl Tool for PressKey {
    type Args = PressArgs;
    type Out = PointerSent;
    const META: Meta = Meta {
        name: "press_key",
        group: Group::Keyboard,
        lean: true,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/action")],
        brief: "Press a key or a combination, e.g. enter, tab, ctrl+shift+t.",
        detail: "Modifiers come first, joined by `+`. All keys are released again, even when the call fails.",
        examples: &[Example { scenario: None, args: r#"{"keys":"ctrl+a"}"#, shows: "select all" }],
        verify: &["ok", "error.code"],
        input: Some(
            RecordedInput::new(InputKind::PressKey, InputAim::Keyboard).with_text(InputText::Keys("keys")),
        ),
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &PressArgs) -> Result<Vec<Target>> {
        cx.judged_keys(&parse_combination(args.keys.as_str())?)
    }

    fn run(cx: &mut Cx, args: PressArgs, permit: Permit) -> Result<PointerSent> {
        PointerSent::send(
            cx,
            permit,
            "key",
            &Act::Key { element: None, keys: parse_combination(args.keys.as_str())? },
        )
    }
}

pub fn parse_combination(keys: &str) -> Result<KeyCombo> {
    KeyCombo::parse(keys)
        .map_err(|problem| Error::bad_request(format!("argument 'keys': {problem}")).with("field", "keys"))
}

pub const TOOLS: &[Spec] = &[Spec::of::<TypeText>(), Spec::of::<PressKey>()];
