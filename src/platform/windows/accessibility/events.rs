//! Being told that the elements of a window changed. What a person sees change is heard; the rest is left alone,
//! because every event costs the application something.

use uiautomation::UIAutomation;
use uiautomation::UIElement;
use uiautomation::events::{
    CustomPropertyChangedEventHandlerFn, CustomStructureChangedEventHandlerFn, UIPropertyChangedEventHandler,
    UIStructureChangeEventHandler,
};
use uiautomation::types::{TreeScope, UIProperty};

use crate::clock::Bell;

/// Of so many windows changes are told; the one that was looked into longest ago makes room.
const MOST_WATCHED: usize = 4;

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
    watched: Vec<Watched>,
}

struct Watched {
    uid: String,
    root: UIElement,
    properties: UIPropertyChangedEventHandler,
    structure: UIStructureChangeEventHandler,
}

impl Events {
    pub fn new(bell: Bell) -> Self {
        Self { bell, watched: Vec::new() }
    }

    /// A window that does not tell of changes is looked at again and again instead; that is no fault.
    pub fn watch(&mut self, automation: &UIAutomation, uid: &str, root: &UIElement) {
        if self.watched.iter().any(|watched| watched.uid == uid) {
            return;
        }
        if self.watched.len() >= MOST_WATCHED {
            forget(automation, &self.watched.remove(0));
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
            uid: uid.to_owned(),
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
            Ok(()) => self.watched.push(watched),
            Err(problem) => {
                tracing::debug!("a window tells nothing of changes: {problem}");
                forget(automation, &watched);
            }
        }
    }
}

/// One that is gone has forgotten us already.
fn forget(automation: &UIAutomation, watched: &Watched) {
    let _ = automation.remove_property_changed_event_handler(&watched.root, &watched.properties);
    let _ = automation.remove_structure_changed_event_handler(&watched.root, &watched.structure);
}
