//! Reading and setting the clipboard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::windows::NoArgs;
use crate::config::limits;
use crate::error::Result;
use crate::tool::args::{SecretOr, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Target, Tool};

pub struct ClipboardGet;

#[derive(Debug, Serialize, JsonSchema)]
pub struct ClipboardText {
    /// Absent when it holds no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    characters: usize,
    /// What it holds instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    formats: Vec<String>,
}

impl Output for ClipboardText {}

/// Said of a clipboard that is hidden as a whole.
const COPIED_SECRET: &str = "a field that holds a named secret may have been copied, so the clipboard is hidden; \
                             clipboard_set replaces its text, and what is copied after that is shown";

impl Tool for ClipboardGet {
    type Args = NoArgs;
    type Out = ClipboardText;
    const META: Meta = Meta {
        name: "clipboard_get",
        group: Group::Keyboard,
        untrusted: true,
        traced: false,
        fits: true,
        rest: &[(Method::Get, "/api/clipboard")],
        brief: "Read the clipboard's text.",
        detail: "Secrets and redacted text are hidden in it. If it has no text, `formats` lists what it has. \
                 Traces do not record it. More than 4 MiB are refused; not on Wayland.",
        examples: &[Example { scenario: None, args: "{}", shows: "an empty clipboard" }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<ClipboardText> {
        let clip = cx.observer().read_clipboard(cx.cancel)?;
        if clip.text.is_none() && clip.formats.is_empty() {
            cx.warning = Some("the clipboard is empty".to_owned());
        } else if clip.text.is_some() && cx.observer().hides_clipboard() {
            cx.warning = Some(COPIED_SECRET.to_owned());
        }
        let characters = clip.text.as_ref().map_or(0, |text| text.chars().count());
        Ok(ClipboardText { text: clip.text, characters, formats: clip.formats })
    }
}

pub struct ClipboardSet;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClipboardSetArgs {
    /// Or {"secret":"NAME"}.
    text: SecretOr<Text<{ limits::CLIPBOARD_CHARACTERS }>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ClipboardDone {
    characters: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
}

impl Output for ClipboardDone {}

impl Tool for ClipboardSet {
    type Args = ClipboardSetArgs;
    type Out = ClipboardDone;
    const META: Meta = Meta {
        name: "clipboard_set",
        group: Group::Keyboard,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/clipboard")],
        brief: "Put text on the clipboard; paste it with press_key ctrl+v.",
        detail: "Replaces what was there. On X11 the text stays as long as this server runs and no other \
                 program copies. A secret with rules is refused unless one of them has the role `Clipboard`, \
                 because any program can read the clipboard. Not on Wayland.",
        examples: &[Example { scenario: None, args: r#"{"text":"hi"}"#, shows: "two letters to paste" }],
        verify: &["ok", "error.code"],
        ..Meta::DEFAULT
    };

    /// Any program may read it, so a secret that is bound to places needs a rule that names it.
    fn targets(_: &Cx, _: &ClipboardSetArgs) -> Result<Vec<Target>> {
        Ok(vec![Target::Clipboard])
    }

    fn run(cx: &mut Cx, args: ClipboardSetArgs, mut permit: Permit) -> Result<ClipboardDone> {
        let text = args.text.reveal_secret(cx)?;
        let characters = text.chars().count();
        if !permit.dry_run() {
            cx.observer().set_clipboard(&mut permit, text, cx.cancel)?;
        }
        Ok(ClipboardDone { characters, dry_run: permit.dry_run() })
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<ClipboardGet>(), Spec::of::<ClipboardSet>()];
