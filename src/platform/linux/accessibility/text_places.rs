//! Where words of an element's text stand on the screen, as the application says. Who says nothing, or has another text
//! by now, has no places.

use std::ops::Range;
use std::rc::Rc;

use super::AtspiClient;
use super::bus::{BusConnection, BusDeadline, BusRequest, read_number, text};
use super::find::{ON_SCREEN, read_rectangle};
use super::object::{AtspiObject, TEXT};
use crate::clock::Cancel;
use crate::error::{Kind, Result};
use crate::model::Rect;
use crate::model::input::Handle;

impl AtspiClient {
    pub fn text_places(
        &self,
        handle: &Handle,
        text: &str,
        characters: &[Range<usize>],
        cancel: &Cancel,
    ) -> Result<Option<Vec<Rect>>> {
        let (text, characters) = (text.to_owned(), characters.to_vec());
        let asked = self.with_element(handle, cancel, move |link, object, pace| async move {
            Ok(places_of(&link, &object, &text, &characters, &pace).await)
        });
        match asked {
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            // Not known: then all of the element is hidden.
            Err(_) => Ok(None),
            asked => asked,
        }
    }
}

async fn places_of(
    link: &Rc<BusConnection>,
    object: &AtspiObject,
    expected: &str,
    characters: &[Range<usize>],
    pace: &BusDeadline,
) -> Option<Vec<Rect>> {
    let count = link.ask_object(object, &BusRequest::Get(TEXT, "CharacterCount"), pace).await.ok()?;
    let count = read_number(&count)? as i32;
    let told = link.ask_object(object, &BusRequest::WithRange(TEXT, "GetText", 0, count), pace).await.ok()?;
    if text(&told)? != expected {
        return None;
    }
    let mut places = Vec::new();
    for range in characters {
        let (start, end) = (i32::try_from(range.start).ok()?, i32::try_from(range.end).ok()?);
        let ask = BusRequest::WithPoint(TEXT, "GetRangeExtents", start, end, ON_SCREEN);
        let place = link.ask_object(object, &ask, pace).await.ok()?;
        places.push(read_rectangle(&place).filter(|place| !place.is_empty())?);
    }
    Some(places)
}
