//! A ref is of an element of one document: an equal element of another page is another element.

use serde_json::{Value, json};

use crate::PageTest;

fn ref_of(page: &mut PageTest, role: &str, name: &str) -> Value {
    let found = page.ok("find", json!({ "text": name, "role": role }));
    found["matches"][0]["ref"].clone()
}

#[test]
fn an_equal_button_of_another_page_is_refused() {
    let mut page = PageTest::open("form.html");
    let send = ref_of(&mut page, "Button", "Send");
    page.click("Hyperlink", "a link");
    page.until_shown("Heading", "Other page");
    assert!(page.shows("Button", "Send"));
    let (code, message) = page.refused("click_element", json!({ "ref": send }));
    assert_eq!(code, "ElementNotFound", "{message}");
    assert!(page.shows("Button", "Send") && !page.shows("Button", "Sent from the other page"));
}

#[test]
fn a_ref_stays_with_its_element_while_the_page_changes() {
    let mut page = PageTest::open("form.html");
    let clickable = ref_of(&mut page, "Button", "click me");
    let name = ref_of(&mut page, "Edit", "Name");
    page.ok("click_element", json!({ "ref": clickable }));
    page.ok("set_value", json!({ "ref": name, "value": "Ada" }));
    assert_eq!(page.value_of("Name"), "Ada");
    assert_eq!(ref_of(&mut page, "Button", "was clicked"), clickable);
}
