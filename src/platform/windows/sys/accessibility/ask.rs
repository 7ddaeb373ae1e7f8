//! Elements as plain records. A cache request names everything that is wanted, so that a whole window can come in one
//! answer, and reading it asks nobody.
//!
//! The crate's wrappers of a VARIANT only borrow its string and its array (version 0.25.1, `variants.rs`: `bstrVal` is
//! never dropped, `VT_ARRAY` is read element by element), so nothing is freed twice.
#![allow(unsafe_code, reason = "COM is initialized by C functions")]

use std::time::Duration;

use uiautomation::core::UICacheRequest;
use uiautomation::patterns::UIPatternType;
use uiautomation::types::{ElementMode, UIProperty};
use uiautomation::variants::Variant;
use uiautomation::{UIAutomation, UIElement};
use windows::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, COINIT_MULTITHREADED, CoCreateInstance, CoInitializeEx, CoUninitialize,
};
use windows::Win32::UI::Accessibility::{
    CUIAutomation, CUIAutomation8, IUIAutomation, IUIAutomation2, TreeScope_Children, TreeScope_Element,
    TreeScope_Subtree,
};
use windows::core::Interface;

use super::super::desktop;
use crate::config::limits::PLATFORM_CALL_TIME;
use crate::error::Result;
use crate::platform::windows::decode::errors::{Code, Meaning};
use crate::platform::windows::decode::tree::{Cached, RawElement, RawRange, RawValue, Source, Time};

/// COM on this thread, of the multi-threaded kind: others would wait for our own messages. Whatever came by COM must be
/// gone before this ends.
pub struct Com;

impl Com {
    pub fn start() -> Result<Self> {
        // SAFETY: the thread says once how COM may call it; `drop` takes it back.
        let started = unsafe { CoInitializeEx(None, COINIT_MULTITHREADED) };
        started.ok().map_err(|problem| Code(problem.code().0).error("starting COM"))?;
        Ok(Self)
    }
}

impl Drop for Com {
    fn drop(&mut self) {
        // SAFETY: `start` began it on this thread, which the value never leaves: it has no use elsewhere.
        unsafe { CoUninitialize() }
    }
}

/// The client of UI Automation.
pub fn automation(_: &Com) -> Result<UIAutomation> {
    // SAFETY: COM was started on this thread; an object is asked for.
    let made = unsafe {
        CoCreateInstance::<_, IUIAutomation>(&CUIAutomation8, None, CLSCTX_INPROC_SERVER)
            .or_else(|_| CoCreateInstance::<_, IUIAutomation>(&CUIAutomation, None, CLSCTX_INPROC_SERVER))
    };
    let automation = made.map_err(|problem| Code(problem.code().0).error("starting UI Automation"))?;
    Ok(automation.into())
}

/// Newer versions can be told how long an application may take to be found, and to answer. Older ones wait for minutes,
/// and the thread is given up.
pub fn bound_patience(automation: &UIAutomation, answer: Duration) {
    let Ok(newer) = automation.as_ref().cast::<IUIAutomation2>() else { return };
    let number = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1);
    let connection = number(answer.min(PLATFORM_CALL_TIME));
    // SAFETY: numbers for an object that is alive.
    let told = unsafe {
        newer.SetConnectionTimeout(connection).and_then(|()| newer.SetTransactionTimeout(number(answer)))
    };
    if let Err(problem) = told {
        tracing::debug!("UI Automation keeps its own timeout: {problem}");
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
    UIProperty::NativeWindowHandle,
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

/// What can be asked for at once, each with everything that a tree tells.
pub struct Requests {
    /// An element and all below it.
    subtree: UICacheRequest,
    /// An element and its children.
    level: UICacheRequest,
    pub single: UICacheRequest,
}

impl Requests {
    pub fn new(automation: &UIAutomation) -> Result<Self, Code> {
        let request = |scope| cache_request(automation, scope).map_err(|problem| code(&problem));
        // The crate's own names for scopes cannot be joined.
        let level = windows::Win32::UI::Accessibility::TreeScope(TreeScope_Element.0 | TreeScope_Children.0);
        Ok(Self {
            subtree: request(TreeScope_Subtree)?,
            level: request(level)?,
            single: request(TreeScope_Element)?,
        })
    }
}

/// Elements stay connected to what they stand for, so that they can be asked to do something later.
fn cache_request(
    automation: &UIAutomation,
    scope: windows::Win32::UI::Accessibility::TreeScope,
) -> uiautomation::Result<UICacheRequest> {
    let request = automation.create_cache_request()?;
    for property in PROPERTIES {
        // An older Windows does not know the newest.
        if let Err(problem) = request.add_property(*property) {
            tracing::debug!("UI Automation does not report {property:?}: {problem}");
        }
    }
    for pattern in [UIPatternType::Value, UIPatternType::Text] {
        request.add_pattern(pattern)?;
    }
    request.set_element_mode(ElementMode::Full)?;
    request.set_tree_filter(automation.get_control_view_condition()?)?;
    // SAFETY: a number for an object that is alive.
    unsafe { request.as_ref().SetTreeScope(scope) }?;
    Ok(request)
}

/// From where a tree is read.
pub enum Place {
    Window,
    Element(UIElement),
}

/// A window, or a part of it, that is read.
pub struct Reading<'a> {
    pub automation: &'a UIAutomation,
    pub requests: &'a Requests,
    pub hwnd: u64,
    pub place: Place,
    pub time: Time,
}

impl Source for Reading<'_> {
    type Node = Known;

    fn root(&mut self) -> Result<Known, Code> {
        bound_patience(self.automation, self.time.per_call);
        let single = &self.requests.single;
        let root = match &self.place {
            Place::Window => {
                self.automation.element_from_handle_build_cache(desktop::handle(self.hwnd).into(), single)
            }
            Place::Element(element) => element.build_updated_cache(single),
        };
        let element = root.map_err(|problem| code(&problem))?;
        Ok(Known { element, asks: Some(self.requests.level.clone()) })
    }

    fn all(&mut self, root: &Known) -> Result<Known, Code> {
        bound_patience(self.automation, self.time.for_all());
        let all = root.element.build_updated_cache(&self.requests.subtree);
        // Whatever is asked next is asked of one element.
        bound_patience(self.automation, self.time.per_call);
        all.map(Known::whole).map_err(|problem| code(&problem))
    }

    fn lives(&self) -> bool {
        desktop::is_window(self.hwnd)
    }

    fn is_over(&self) -> bool {
        self.time.is_over()
    }
}

/// An element whose answers came with it.
pub struct Known {
    pub element: UIElement,
    /// How its children are asked for; nothing where they came with it.
    asks: Option<UICacheRequest>,
}

impl Known {
    pub fn whole(element: UIElement) -> Self {
        Self { element, asks: None }
    }

    /// With fresh children, which may need a second try: one of them may go away while they are told.
    fn with_children(&self) -> Result<UIElement, Code> {
        let Some(level) = &self.asks else { return Ok(self.element.clone()) };
        let ask = || self.element.build_updated_cache(level).map_err(|problem| code(&problem));
        match ask() {
            Err(code) if code.meaning() == Meaning::Gone => ask(),
            answer => answer,
        }
    }

    fn variant(&self, property: UIProperty) -> Option<Variant> {
        self.element.get_cached_property_value(property).ok()
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

    /// A window's number has 32 bits, and is extended by its sign.
    fn window(&self) -> u64 {
        i64::from(self.number(UIProperty::NativeWindowHandle).unwrap_or(0)).cast_unsigned()
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
            self.element.get_cached_property_value(UIProperty::ControlType).map_err(|it| code(&it))?;
        let place = self.element.get_cached_bounding_rectangle().map_err(|problem| code(&problem))?;
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
            window: self.window(),
        })
    }

    /// An element without children answers with an error that has no number.
    fn children(&self) -> Result<Vec<Self>, Code> {
        let known = |element| Known { element, asks: self.asks.clone() };
        match self.with_children()?.get_cached_children() {
            Ok(children) => Ok(children.into_iter().map(known).collect()),
            Err(problem) if problem.code() >= 0 => Ok(Vec::new()),
            Err(problem) => Err(code(&problem)),
        }
    }
}
