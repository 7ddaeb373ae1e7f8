//! One element, asked to do something by its patterns. Every question is asked once.

use uiautomation::UIElement;
use uiautomation::patterns::{
    UIExpandCollapsePattern, UIInvokePattern, UIRangeValuePattern, UIScrollItemPattern,
    UISelectionItemPattern, UITextPattern, UITogglePattern, UIValuePattern,
};

use super::ask::code;
use crate::config::limits::TREE_TEXT_BYTES;
use crate::error::Result;
use crate::platform::hands::doing::{Request, Said};
use crate::platform::windows::sense::errors::Meaning;

/// An element that does not have the pattern says no; one that is gone or disabled is an error.
pub fn request(element: &UIElement, request: &Request) -> Result<Said> {
    let done = ask(element, request);
    let Err(problem) = done else { return Ok(Said::Yes) };
    let code = code(&problem);
    match code.meaning() {
        Meaning::Unsupported | Meaning::Other => Ok(Said::No),
        Meaning::Slow => Ok(Said::Nothing),
        _ => Err(code.error("asking the element")),
    }
}

fn ask(element: &UIElement, request: &Request) -> uiautomation::Result<()> {
    match request {
        Request::Press => element.get_pattern::<UIInvokePattern>()?.invoke(),
        Request::Toggle => element.get_pattern::<UITogglePattern>()?.toggle(),
        Request::Select => element.get_pattern::<UISelectionItemPattern>()?.select(),
        Request::Expand => element.get_pattern::<UIExpandCollapsePattern>()?.expand(),
        Request::Collapse => element.get_pattern::<UIExpandCollapsePattern>()?.collapse(),
        Request::ShowMenu => element.show_context_menu(),
        Request::SetText(text) => element.get_pattern::<UIValuePattern>()?.set_value(text),
        Request::SetNumber(number) => element.get_pattern::<UIRangeValuePattern>()?.set_value(*number),
        Request::SelectText => element.get_pattern::<UITextPattern>()?.get_document_range()?.select(),
        Request::Focus => element.set_focus(),
        Request::ScrollIntoView => element.get_pattern::<UIScrollItemPattern>()?.scroll_into_view(),
    }
}

/// The beginning of a text, one character longer than what is shown, so that a cut is noticed.
pub fn text(element: &UIElement) -> Option<String> {
    let pattern = element.get_pattern::<UITextPattern>().ok()?;
    let most = i32::try_from(TREE_TEXT_BYTES + 1).unwrap_or(i32::MAX);
    pattern.get_document_range().ok()?.get_text(most).ok()
}
