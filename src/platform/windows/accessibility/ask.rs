//! Elements as plain records. A cache request names everything that is wanted, so that a whole window comes in one
//! answer, and reading it asks nobody.
#![allow(unsafe_code, reason = "COM is started by functions of C")]

use uiautomation::core::UICacheRequest;
use uiautomation::patterns::UIPatternType;
use uiautomation::types::{ElementMode, TreeScope, UIProperty};
use uiautomation::variants::Variant;
use uiautomation::{UIAutomation, UIElement};
use windows::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, COINIT_MULTITHREADED, CoCreateInstance, CoInitializeEx,
};
use windows::Win32::UI::Accessibility::{CUIAutomation, CUIAutomation8, IUIAutomation, IUIAutomation2};
use windows::core::Interface;

use crate::config::limits::PLATFORM_CALL_TIME;
use crate::error::Result;
use crate::platform::windows::sense::errors::Code;
use crate::platform::windows::sense::tree::{Cached, RawElement, RawRange, RawValue};

/// The client of UI Automation, on a thread of the multi-threaded kind: others would wait for our own messages.
pub fn automation() -> Result<UIAutomation> {
    // SAFETY: the thread is new; it says once how COM may call it, and then asks for an object.
    let made = unsafe {
        CoInitializeEx(None, COINIT_MULTITHREADED).ok().and_then(|()| {
            CoCreateInstance::<_, IUIAutomation>(&CUIAutomation8, None, CLSCTX_INPROC_SERVER)
                .or_else(|_| CoCreateInstance::<_, IUIAutomation>(&CUIAutomation, None, CLSCTX_INPROC_SERVER))
        })
    };
    let automation = made.map_err(|problem| Code(problem.code().0).error("starting UI Automation"))?;
    bound_its_patience(&automation);
    Ok(automation.into())
}

/// Newer versions can be told how long an application may take. Older ones wait for minutes, and the thread is given up.
fn bound_its_patience(automation: &IUIAutomation) {
    let Ok(newer) = automation.cast::<IUIAutomation2>() else { return };
    let time = u32::try_from(PLATFORM_CALL_TIME.as_millis()).unwrap_or(u32::MAX);
    // SAFETY: numbers for an object that is alive.
    let told = unsafe { newer.SetConnectionTimeout(time).and_then(|()| newer.SetTransactionTimeout(time)) };
    if let Err(problem) = told {
        tracing::debug!("UI Automation keeps its own patience: {problem}");
    }
}

pub fn code(problem: &uiautomation::Error) -> Code {
    Code(problem.code())
}

const PROPERTIES: &[UIProperty] = &[
    UIProperty::RuntimeId,
    UIProperty::BoundingRectangle,
    UIProperty::ControlType,
    UIProperty::Name,
    UIProperty::AcceleratorKey,
    UIProperty::AccessKey,
    UIProperty::HasKeyboardFocus,
    UIProperty::IsEnabled,
    UIProperty::AutomationId,
    UIProperty::ClassName,
    UIProperty::HelpText,
    UIProperty::IsOffscreen,
    UIProperty::IsPassword,
    UIProperty::IsDialog,
    UIProperty::IsInvokePatternAvailable,
    UIProperty::IsScrollItemPatternAvailable,
    UIProperty::IsSelectionPatternAvailable,
    UIProperty::IsTextPatternAvailable,
    UIProperty::IsValuePatternAvailable,
    UIProperty::IsRangeValuePatternAvailable,
    UIProperty::IsTogglePatternAvailable,
    UIProperty::IsSelectionItemPatternAvailable,
    UIProperty::IsExpandCollapsePatternAvailable,
    UIProperty::ValueValue,
    UIProperty::ValueIsReadOnly,
    UIProperty::RangeValueValue,
    UIProperty::RangeValueMinimum,
    UIProperty::RangeValueMaximum,
    UIProperty::RangeValueIsReadOnly,
    UIProperty::ToggleToggleState,
    UIProperty::SelectionItemIsSelected,
    UIProperty::ExpandCollapseExpandCollapseState,
];

/// Elements stay connected to what they stand for, so that they can be asked to do something later.
pub fn cache_request(automation: &UIAutomation, subtree: bool) -> Result<UICacheRequest, Code> {
    let made = || {
        let request = automation.create_cache_request()?;
        for property in PROPERTIES {
            // An older Windows does not know the newest.
            if let Err(problem) = request.add_property(*property) {
                tracing::debug!("UI Automation does not tell {property:?}: {problem}");
            }
        }
        for pattern in [UIPatternType::Value, UIPatternType::Text] {
            request.add_pattern(pattern)?;
        }
        request.set_element_mode(ElementMode::Full)?;
        request.set_tree_filter(automation.get_control_view_condition()?)?;
        request.set_tree_scope(if subtree { TreeScope::Subtree } else { TreeScope::Element })?;
        Ok::<_, uiautomation::Error>(request)
    };
    made().map_err(|problem| code(&problem))
}

/// An element whose answers came with it.
pub struct Known(pub UIElement);

impl Known {
    fn variant(&self, property: UIProperty) -> Option<Variant> {
        self.0.get_cached_property_value(property).ok()
    }

    fn flag(&self, property: UIProperty) -> bool {
        self.variant(property).and_then(|it| TryInto::<bool>::try_into(it).ok()).unwrap_or(false)
    }

    fn number(&self, property: UIProperty) -> Option<i32> {
        self.variant(property).and_then(|it| it.try_into().ok())
    }

    fn real(&self, property: UIProperty) -> f64 {
        self.variant(property).and_then(|it| it.try_into().ok()).unwrap_or(f64::NAN)
    }

    fn text(&self, property: UIProperty) -> String {
        self.variant(property).and_then(|it| it.get_string().ok()).unwrap_or_default()
    }

    fn runtime_id(&self) -> Vec<i32> {
        let array = self.variant(UIProperty::RuntimeId).and_then(|it| it.get_array().ok());
        array.and_then(|array| array.try_into().ok()).unwrap_or_default()
    }

    fn value(&self) -> Option<RawValue> {
        self.flag(UIProperty::IsValuePatternAvailable).then(|| RawValue {
            text: self.text(UIProperty::ValueValue),
            read_only: self.flag(UIProperty::ValueIsReadOnly),
        })
    }

    fn range(&self) -> Option<RawRange> {
        self.flag(UIProperty::IsRangeValuePatternAvailable).then(|| RawRange {
            now: self.real(UIProperty::RangeValueValue),
            min: self.real(UIProperty::RangeValueMinimum),
            max: self.real(UIProperty::RangeValueMaximum),
            read_only: self.flag(UIProperty::RangeValueIsReadOnly),
        })
    }
}

impl Cached for Known {
    /// The first question tells whether the element is still there; what it does not answer after that it does not have.
    fn facts(&self) -> Result<RawElement, Code> {
        let has = |property| self.flag(property);
        let control_type =
            self.0.get_cached_property_value(UIProperty::ControlType).map_err(|it| code(&it))?;
        let place = self.0.get_cached_bounding_rectangle().map_err(|problem| code(&problem))?;
        let password = has(UIProperty::IsPassword);
        Ok(RawElement {
            runtime_id: self.runtime_id(),
            control_type: control_type.try_into().unwrap_or(0),
            class: self.text(UIProperty::ClassName),
            name: self.text(UIProperty::Name),
            automation_id: self.text(UIProperty::AutomationId),
            help: self.text(UIProperty::HelpText),
            accelerator: self.text(UIProperty::AcceleratorKey),
            access_key: self.text(UIProperty::AccessKey),
            sides: [place.get_left(), place.get_top(), place.get_right(), place.get_bottom()],
            enabled: has(UIProperty::IsEnabled),
            focused: has(UIProperty::HasKeyboardFocus),
            offscreen: has(UIProperty::IsOffscreen),
            password,
            dialog: has(UIProperty::IsDialog),
            invoke: has(UIProperty::IsInvokePatternAvailable),
            scroll_item: has(UIProperty::IsScrollItemPatternAvailable),
            selection: has(UIProperty::IsSelectionPatternAvailable),
            // What a password field holds does not even come into our memory as a record.
            value: self
                .value()
                .map(|value| if password { RawValue { text: String::new(), ..value } } else { value }),
            range: self.range(),
            toggle: has(UIProperty::IsTogglePatternAvailable)
                .then(|| self.number(UIProperty::ToggleToggleState).unwrap_or(2)),
            selected: has(UIProperty::IsSelectionItemPatternAvailable)
                .then(|| has(UIProperty::SelectionItemIsSelected)),
            expand: has(UIProperty::IsExpandCollapsePatternAvailable)
                .then(|| self.number(UIProperty::ExpandCollapseExpandCollapseState).unwrap_or(3)),
            text: None,
            has_text: has(UIProperty::IsTextPatternAvailable),
        })
    }

    /// An element without children answers with an error that has no number.
    fn children(&self) -> Result<Vec<Self>, Code> {
        match self.0.get_cached_children() {
            Ok(children) => Ok(children.into_iter().map(Known).collect()),
            Err(problem) if problem.code() >= 0 => Ok(Vec::new()),
            Err(problem) => Err(code(&problem)),
        }
    }
}
