//! One element, asked to do something by its patterns. Every question is asked once.

use uiautomation::UIElement;
use uiautomation::patterns::{
    UIExpandCollapsePattern, UIInvokePattern, UIPattern, UIRangeValuePattern, UIScrollItemPattern,
    UISelectionItemPattern, UITextPattern, UITogglePattern, UIValuePattern,
};
use windows::core::IUnknown;

use super::ask::code;
use crate::config::limits::TREE_TEXT_BYTES;
use crate::error::Result;
use crate::platform::interaction::{Request, RequestOutcome};
use crate::platform::windows::decode::requests::{Stage, request_outcome};

type Failed = (Stage, uiautomation::Error);

pub fn request(element: &UIElement, request: &Request) -> Result<RequestOutcome> {
    // Requests of another system, which no state of ours offers.
    if matches!(request, Request::Perform(_) | Request::SelectChild(_)) {
        return Ok(RequestOutcome::Refused);
    }
    match ask(element, request) {
        Ok(()) => Ok(RequestOutcome::Accepted),
        Err((stage, problem)) => request_outcome(request, stage, code(&problem)),
    }
}

fn ask(element: &UIElement, request: &Request) -> Result<(), Failed> {
    match request {
        Request::Press => by(element, UIInvokePattern::invoke),
        Request::Toggle => by(element, UITogglePattern::toggle),
        Request::Select => by(element, UISelectionItemPattern::select),
        Request::Expand => by(element, UIExpandCollapsePattern::expand),
        Request::Collapse => by(element, UIExpandCollapsePattern::collapse),
        Request::SetText(text) => by(element, |pattern: &UIValuePattern| pattern.set_value(text)),
        Request::SetNumber(number) => by(element, |pattern: &UIRangeValuePattern| pattern.set_value(*number)),
        Request::SelectText => by(element, |pattern: &UITextPattern| pattern.get_document_range()?.select()),
        Request::ShowMenu => element.show_context_menu().map_err(|problem| (Stage::During, problem)),
        Request::Focus => element.set_focus().map_err(|problem| (Stage::During, problem)),
        Request::ScrollIntoView => by(element, UIScrollItemPattern::scroll_into_view),
        Request::Perform(_) | Request::SelectChild(_) => Ok(()),
    }
}

fn by<P>(element: &UIElement, work: impl Fn(&P) -> uiautomation::Result<()>) -> Result<(), Failed>
where
    P: UIPattern + TryFrom<IUnknown, Error = uiautomation::Error>,
{
    let pattern = element.get_pattern::<P>().map_err(|problem| (Stage::Before, problem))?;
    work(&pattern).map_err(|problem| (Stage::During, problem))
}

/// The beginning of a text, one character longer than what is shown, so that a cut is noticed.
pub fn text(element: &UIElement) -> Option<String> {
    let pattern = element.get_pattern::<UITextPattern>().ok()?;
    let most = i32::try_from(TREE_TEXT_BYTES + 1).unwrap_or(i32::MAX);
    pattern.get_document_range().ok()?.get_text(most).ok()
}
