//! Events that the elements of a window changed. Only visible changes are subscribed to, because every event
//! costs the application something.
//!
//! The handlers of the crate borrow what they are handed (version 0.25.1: the array of a structure event is not owned by
//! its wrapper, the value of a property event is copied), and nothing of it is looked at here.

use uiautomation::UIAutomation;
use uiautomation::UIElement;
use uiautomation::events::{
    CustomPropertyChangedEventHandlerFn, CustomStructureChangedEventHandlerFn, UIPropertyChangedEventHandler,
    UIStructureChangeEventHandler,
};
use uiautomation::types::{TreeScope, UIProperty};

use crate::clock::Bell;
use crate::platform::windows::decode::lru::Recent;

/// Of so many windows of an application changes are told; the one that was looked into longest ago makes room.
const MOST_WATCHED: usize = 2;

const WATCHED: &[UIProperty] = &[
    UIProperty::Name,
    UIProperty::ValueValue,
    UIProperty::RangeValueValue,
    UIProperty::ToggleToggleState,
    UIProperty::SelectionItemIsSelected,
    UIProperty::ExpandCollapseExpandCollapseState,
    UIProperty::IsEnabled,
    UIProperty::IsOffscreen,
    UIProperty::HasKeyboardFocus,
];

pub struct Events {
    bell: Bell,
    watched: Recent<Watched>,
}

/// A window that tells of changes until this ends. It ends on the thread that began it, as UI Automation wants it.
struct Watched {
    automation: UIAutomation,
    root: UIElement,
    properties: UIPropertyChangedEventHandler,
    structure: UIStructureChangeEventHandler,
}

impl Drop for Watched {
    /// One that is gone has forgotten us already.
    fn drop(&mut self) {
        let _ = self.automation.remove_property_changed_event_handler(&self.root, &self.properties);
        let _ = self.automation.remove_structure_changed_event_handler(&self.root, &self.structure);
    }
}

impl Events {
    pub fn new(bell: Bell) -> Self {
        Self { bell, watched: Recent::new(MOST_WATCHED) }
    }

    /// A window that does not tell of changes is looked at again and again instead; that is no fault.
    pub fn watch(&mut self, automation: &UIAutomation, uid: &str, root: &UIElement) {
        if self.watched.get(uid).is_some() {
            return;
        }
        let (property_bell, structure_bell) = (self.bell.clone(), self.bell.clone());
        let on_property: Box<CustomPropertyChangedEventHandlerFn> = Box::new(move |_, _, _| {
            property_bell.ring();
            Ok(())
        });
        let on_structure: Box<CustomStructureChangedEventHandlerFn> = Box::new(move |_, _, _| {
            structure_bell.ring();
            Ok(())
        });
        let watched = Watched {
            automation: automation.clone(),
            root: root.clone(),
            properties: on_property.into(),
            structure: on_structure.into(),
        };
        let scope = TreeScope::Subtree;
        let heard = automation
            .add_property_changed_event_handler(root, scope, None, &watched.properties, WATCHED)
            .and_then(|()| {
                automation.add_structure_changed_event_handler(root, scope, None, &watched.structure)
            });
        match heard {
            Ok(()) => self.watched.put(uid, watched),
            Err(problem) => tracing::debug!("a window sends no change events: {problem}"),
        }
    }
}
