//! Fields that a page once called secret, by their handles. A page that shows a password makes a plain field of it, and
//! what it filled in itself nobody else knows.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::clock::lock;
use crate::model::Tree;

/// More than the pages of a browser have. The one noted longest ago goes first.
const MOST_NODES: usize = 500;

#[derive(Debug, Default)]
pub struct SecretNodes(Mutex<VecDeque<String>>);

impl SecretNodes {
    /// Notes the secret fields of a tree, and hides what is in those that were secret before.
    pub fn hide_in(&self, tree: &mut Tree) {
        let mut known = lock(&self.0);
        for element in tree.elements().iter().filter(|element| element.secret) {
            let Some(native) = element.native.as_ref().filter(|native| !known.contains(native)) else {
                continue;
            };
            if known.len() == MOST_NODES {
                known.pop_front();
            }
            known.push_back(native.clone());
        }
        if known.is_empty() {
            return;
        }
        tree.change_elements(|element| {
            if element.native.as_ref().is_some_and(|native| known.contains(native)) {
                (element.secret, element.value) = (true, None);
            }
        });
    }

    pub fn has(&self, native: &str) -> bool {
        lock(&self.0).iter().any(|known| known == native)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, TreeBuilder};

    fn page(is_secret: bool) -> Tree {
        let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::default()));
        for name in ["Password", "Name"] {
            let element = Element::new("Edit", name, Rect::default());
            let (native, value) = (Some(name.to_owned()), Some("4711".to_owned()));
            tree.add_leaf(Element { native, value, secret: is_secret && name == "Password", ..element });
        }
        tree.finish()
    }

    #[test]
    fn what_was_secret_stays_so() {
        let nodes = SecretNodes::default();
        let hidden = |is_secret: bool| {
            let mut tree = page(is_secret);
            nodes.hide_in(&mut tree);
            tree.elements().iter().skip(1).map(|it| (it.secret, it.value.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(hidden(false), [(false, true), (false, true)]);
        assert_eq!(hidden(true), [(true, false), (false, true)]);
        assert_eq!(hidden(false), [(true, false), (false, true)]);
        assert!(nodes.has("Password") && !nodes.has("Name"));
    }
}
