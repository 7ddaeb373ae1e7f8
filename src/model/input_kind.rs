//! The kinds of input that a scenario can react to, by the names that its files use, and what a recorded call
//! becomes among them.

use super::input::{Act, Button};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    Click,
    RightClick,
    MiddleClick,
    DoubleClick,
    Invoke,
    Focus,
    SetValue,
    ClearText,
    SelectOption,
    TypeText,
    PressKey,
    KeyIntoElement,
    Hover,
    Scroll,
    Drag,
    RaiseWindow,
    OpenUrl,
    PageHistory,
}

impl InputKind {
    pub const ALL: [Self; 18] = [
        Self::Click,
        Self::RightClick,
        Self::MiddleClick,
        Self::DoubleClick,
        Self::Invoke,
        Self::Focus,
        Self::SetValue,
        Self::ClearText,
        Self::SelectOption,
        Self::TypeText,
        Self::PressKey,
        Self::KeyIntoElement,
        Self::Hover,
        Self::Scroll,
        Self::Drag,
        Self::RaiseWindow,
        Self::OpenUrl,
        Self::PageHistory,
    ];

    /// As `on: {tool: …}` of a scenario file spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Click => "click_element",
            Self::RightClick => "right_click_element",
            Self::MiddleClick => "middle_click_element",
            Self::DoubleClick => "double_click_element",
            Self::Invoke => "invoke_element",
            Self::Focus => "focus_element",
            Self::SetValue => "set_value",
            Self::ClearText => "clear_text",
            Self::SelectOption => "select_option",
            Self::TypeText => "type_text",
            Self::PressKey => "press_key",
            Self::KeyIntoElement => "key_into_element",
            Self::Hover => "hover_element",
            Self::Scroll => "scroll",
            Self::Drag => "drag",
            Self::RaiseWindow => "bring_to_foreground",
            Self::OpenUrl => "open_url",
            Self::PageHistory => "page_history",
        }
    }

    /// Whether an act of this kind also answers to a simpler one.
    pub const fn has_simpler_name(self) -> bool {
        matches!(
            self,
            Self::DoubleClick | Self::Invoke | Self::SetValue | Self::ClearText | Self::KeyIntoElement
        )
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Act {
    /// What a reaction may call this act.
    pub fn kinds(&self) -> &'static [InputKind] {
        match self {
            Act::Click { button: Button::Right, .. } => &[InputKind::RightClick],
            Act::Click { button: Button::Middle, .. } => &[InputKind::MiddleClick],
            Act::Click { count: 0 | 1, .. } => &[InputKind::Click],
            Act::Click { .. } => &[InputKind::DoubleClick, InputKind::Click],
            Act::Invoke { .. } => &[InputKind::Invoke, InputKind::Click],
            Act::Focus { .. } => &[InputKind::Focus],
            Act::SetValue { text, .. } if text.is_empty() => &[InputKind::SetValue, InputKind::ClearText],
            Act::SetValue { .. } => &[InputKind::SetValue, InputKind::TypeText],
            Act::Select { .. } => &[InputKind::SelectOption],
            Act::Type { .. } => &[InputKind::TypeText],
            Act::Key { element: Some(_), .. } => &[InputKind::KeyIntoElement, InputKind::PressKey],
            Act::Key { .. } => &[InputKind::PressKey],
            Act::Scroll { .. } => &[InputKind::Scroll],
            Act::Hover { .. } => &[InputKind::Hover],
            Act::Drag { .. } => &[InputKind::Drag],
        }
    }
}

/// What a call of a tool becomes when a trace is turned into a scenario.
#[derive(Clone, Copy, Debug)]
pub struct RecordedInput {
    pub kind: InputKind,
    pub aim: InputAim,
    pub text: InputText,
}

impl RecordedInput {
    pub const fn new(kind: InputKind, aim: InputAim) -> Self {
        Self { kind, aim, text: InputText::Nothing }
    }

    pub const fn with_text(self, text: InputText) -> Self {
        Self { text, ..self }
    }
}

/// Where an input goes to.
#[derive(Clone, Copy, Debug)]
pub enum InputAim {
    /// The element that the call names.
    Element,
    /// The element under the point `x`, `y`.
    Point,
    /// The element under `from`.
    From,
    /// Whatever has the keyboard.
    Keyboard,
    /// The root of the window.
    Window,
}

/// What `text_regex` of a scenario is compared with.
#[derive(Clone, Copy, Debug)]
pub enum InputText {
    Nothing,
    /// The argument of this name.
    Argument(&'static str),
    /// The key combination in this argument.
    Keys(&'static str),
    /// The number in this argument, or another where it is not given.
    Number(&'static str, i64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in InputKind::ALL {
            assert_eq!(InputKind::parse(kind.name()), Some(kind));
        }
        assert_eq!(InputKind::parse("click"), None);
    }
}
