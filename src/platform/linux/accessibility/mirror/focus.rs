//! Who has the focus in a window that was read before, for those who type: they ask the field itself for all the rest.
//!
//! Toolkits tell who gets the focus. So those are asked who had it or told of it, with what they are in, as far as that
//! told of something: what does not show has no focus. Whatever else was told is left for a look that needs it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use atspi::State;

use super::super::bus::{BusConnection, BusDeadline};
use super::super::capture::FrameReading;
use super::super::find::AtspiFrame;
use super::super::object::AtspiObject;
use super::{Known, Marked, Marks, Outdated, add_subtree, lists};

impl Known {
    /// The reading with its focus made true, and what was told of everything else.
    pub async fn refresh_focus(
        mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        pace: &BusDeadline,
    ) -> Result<(FrameReading, Marks), Outdated> {
        if self.marks.overflown {
            return Err("too much changed");
        }
        let mut asked = self.focus_objects();
        let told: HashSet<AtspiObject> = asked.keys().cloned().collect();
        if self.popups != frame.popups {
            asked.insert(frame.object.clone(), Marked::CHILDREN);
        }
        let strangers = self.focus_strangers(frame);
        let stale = self.ask_again(link, frame, asked, pace).await?;
        let mut changed = lists::holders_of_strangers(link, &self.reading, strangers, pace).await;
        let nodes = &self.reading.nodes;
        stale.iter().for_each(|top| add_subtree(nodes, top, Marked::CHILDREN, &mut changed));
        let relisted = lists::are_relisted(&changed);
        self.ask_again(link, frame, changed, pace).await?;
        if relisted {
            self.ask_listers_of_moved(link, frame, pace).await?;
        }
        self.forget_heeded(frame, &told);
        Ok((self.reading, self.marks))
    }

    /// Who told of the focus and is listed by nobody.
    fn focus_strangers(&self, frame: &AtspiFrame) -> Vec<AtspiObject> {
        let strangers = lists::strangers(&self.reading.nodes, &frame.object.bus, &self.marks);
        let tells_of_it =
            |object: &AtspiObject| self.marks.nodes.get(&object.path).is_some_and(|it| it.focus);
        strangers.into_iter().filter(tells_of_it).collect()
    }

    /// Leaves the marks of those that were not asked, and of who lists others, for which nobody was asked here.
    fn forget_heeded(&mut self, frame: &AtspiFrame, asked: &HashSet<AtspiObject>) {
        self.marks.nodes.retain(|path, marked| {
            let object = AtspiObject { bus: frame.object.bus.clone(), path: path.clone() };
            marked.children || marked.below || !asked.contains(&object)
        });
    }

    fn may_have_focus(&self, object: &AtspiObject) -> bool {
        let had = self.reading.nodes.get(object).is_some_and(|node| node.states.has(State::Focused));
        had || self.marks.nodes.get(&object.path).is_some_and(|told| told.focus)
    }

    /// Who may have the focus, and what around them may not show any more.
    fn focus_objects(&self) -> HashMap<AtspiObject, Marked> {
        let order = &self.reading.order;
        let mut asked = HashMap::new();
        let mut is_around = vec![false; order.len()];
        // From the end, so that whoever is in something comes before it.
        for (place, step) in order.iter().enumerate().rev() {
            let may_have = self.may_have_focus(&step.object);
            if !may_have && !is_around[place] {
                continue;
            }
            if let Some(parent) = step.parent.and_then(|parent| is_around.get_mut(parent)) {
                *parent = true;
            }
            if may_have || self.marks.nodes.contains_key(&step.object.path) {
                asked.insert(step.object.clone(), Marked::default());
            }
        }
        asked
    }
}
