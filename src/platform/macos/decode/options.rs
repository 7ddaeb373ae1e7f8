//! What can be chosen in an element: the rows of a list, the items of a menu that is open or always there.

use super::records::RawElement;
use super::tree::{self, Elements};
use super::{names, roles};
use crate::error::Result;
use crate::model::input::Handle;
use crate::platform::interaction::OptionItem;

/// Options further down than that are not options of this element.
const OPTION_DEPTH: usize = 4;
const MOST_OPTIONS: usize = 2_000;

/// The options of the first level below the element that has any, in their order.
pub fn options(elements: &mut dyn Elements, root: u64, window_uid: &str) -> Result<Vec<OptionItem>> {
    let mut level = vec![root];
    for _ in 0..OPTION_DEPTH {
        let (mut found, mut next) = (Vec::new(), Vec::new());
        for key in level {
            if !elements.may_go_on()? {
                break;
            }
            let Ok(raw) = elements.read(key) else { continue };
            for child in raw.children.into_iter().take(MOST_OPTIONS) {
                match option(elements, child, window_uid) {
                    Some(listed) => found.push(listed),
                    None => next.push(child),
                }
            }
        }
        if !found.is_empty() || next.len() > MOST_OPTIONS {
            found.truncate(MOST_OPTIONS);
            return Ok(found);
        }
        level = next;
    }
    Ok(Vec::new())
}

fn option(elements: &mut dyn Elements, key: u64, window_uid: &str) -> Option<OptionItem> {
    let raw = elements.read(key).ok().filter(|raw| roles::is_option(&raw.role))?;
    let own = name(&raw);
    // The name of a row is the text in its first cell.
    let name = if own.is_empty() { first_text(elements, &raw).unwrap_or_default() } else { own };
    let handle = Handle { window_uid: window_uid.to_owned(), native: names::native(key) };
    Some(OptionItem { handle, name, position: None })
}

fn first_text(elements: &mut dyn Elements, raw: &RawElement) -> Option<String> {
    let mut next = raw.children.first().copied();
    for _ in 0..OPTION_DEPTH {
        let below = elements.read(next?).ok()?;
        let name = name(&below);
        if !name.is_empty() {
            return Some(name);
        }
        next = below.children.first().copied();
    }
    None
}

fn name(raw: &RawElement) -> String {
    tree::shown(raw, None, None, None).name
}

#[cfg(test)]
mod tests {
    use super::super::errors::Code;
    use super::*;
    use std::collections::HashMap;

    #[derive(Default)]
    struct Pretended {
        elements: HashMap<u64, RawElement>,
        reads: usize,
        most_reads: Option<usize>,
    }

    impl Elements for Pretended {
        fn read(&mut self, key: u64) -> Result<RawElement, Code> {
            self.reads += 1;
            self.elements.get(&key).cloned().ok_or(Code::INVALID_ELEMENT)
        }

        fn may_go_on(&mut self) -> Result<bool> {
            Ok(self.most_reads.is_none_or(|most| self.reads < most))
        }
    }

    fn pretended(all: &[(u64, &str, &str, &[u64])]) -> Pretended {
        let element = |(key, role, title, children): &(u64, &str, &str, &[u64])| {
            let title = Some((*title).to_owned());
            (
                *key,
                RawElement {
                    role: (*role).to_owned(),
                    title,
                    children: children.to_vec(),
                    ..RawElement::default()
                },
            )
        };
        Pretended { elements: all.iter().map(element).collect(), ..Pretended::default() }
    }

    fn check(all: &[(u64, &str, &str, &[u64])], expected: &[&str]) {
        let found = options(&mut pretended(all), 1, "cg:7").unwrap();
        let names: Vec<&str> = found.iter().map(|listed| listed.name.as_str()).collect();
        assert_eq!(names, expected);
        assert!(found.iter().all(|listed| listed.handle.window_uid == "cg:7"));
    }

    #[test]
    fn items_of_a_menu_below_its_button() {
        check(
            &[
                (1, "AXPopUpButton", "", &[2]),
                (2, "AXMenu", "", &[3, 4]),
                (3, "AXMenuItem", "Left", &[]),
                (4, "AXMenuItem", "Right", &[]),
            ],
            &["Left", "Right"],
        );
    }

    #[test]
    fn a_row_is_called_as_its_first_cell() {
        check(
            &[
                (1, "AXTable", "", &[2, 5]),
                (2, "AXRow", "", &[3]),
                (3, "AXCell", "", &[4]),
                (4, "AXStaticText", "Wi-Fi", &[]),
                (5, "AXRow", "", &[9]),
            ],
            &["Wi-Fi", ""],
        );
    }

    #[test]
    fn what_is_too_deep_or_gone_is_no_option() {
        check(&[(1, "AXList", "", &[2, 3])], &[]);
        let deep: Vec<(u64, &str, &str, Vec<u64>)> = (1..7)
            .map(|key| (key, if key == 6 { "AXMenuItem" } else { "AXGroup" }, "x", vec![key + 1]))
            .collect();
        let deep: Vec<(u64, &str, &str, &[u64])> =
            deep.iter().map(|(key, role, title, below)| (*key, *role, *title, below.as_slice())).collect();
        check(&deep, &[]);
        check(&deep[1..], &[]);
    }

    #[test]
    fn the_end_of_the_time_leaves_what_was_found() {
        let mut slow =
            pretended(&[(1, "AXList", "", &[2]), (2, "AXGroup", "", &[3]), (3, "AXMenuItem", "x", &[])]);
        slow.most_reads = Some(2);
        assert_eq!(options(&mut slow, 1, "cg:7").unwrap(), []);
    }
}
