//! Which nodes are to be seen, and which of them stand for the others when a window is asked whether anything moved.

use std::collections::{HashMap, HashSet};

use super::super::capture::FrameReading;
use super::super::find::POPUPS;
use super::super::object::AtspiObject;
use super::super::roles;
use crate::model::Rect;

/// Of the children of one node that are to be seen, so many are asked, and of the others.
const SEEN: usize = if cfg!(test) { 3 } else { 8 };
const HIDDEN: usize = 4;

/// Which nodes are to be seen: they show, and lie in what clips them.
pub fn visible_places(reading: &FrameReading) -> Vec<bool> {
    let mut visible = Vec::with_capacity(reading.order.len());
    let mut clips: Vec<Option<Rect>> = Vec::with_capacity(reading.order.len());
    for (step, fact) in reading.order.iter().zip(&reading.facts) {
        let clip = match step.parent {
            Some(parent) => clips.get(parent).copied().flatten(),
            None => fact.extents,
        };
        // Looked up once: this is done for every node of a window at every look.
        let role = reading.nodes.get(&step.object).map(|node| node.role);
        let is_one_of = |roles: &[atspi::Role]| role.is_some_and(|role| roles::is_one_of(role, roles));
        let clip = clip.filter(|_| !is_one_of(POPUPS));
        let own = fact.extents.filter(|own| !own.is_empty() && fact.sight.shows);
        visible.push(own.is_some_and(|own| clip.is_none_or(|clip| clip.intersects(&own))));
        clips.push(match own.filter(|_| is_one_of(roles::CLIPPING)) {
            Some(own) => Some(clip.map_or(own, |clip| clip.intersection(&own).unwrap_or_default())),
            None => clip,
        });
    }
    visible
}

/// Nodes that stand for their families.
#[derive(Debug, Default)]
pub struct Samples {
    pub seen: Vec<usize>,
    pub hidden: Vec<usize>,
}

impl Samples {
    /// Some of each family, from the root down; nobody below a node that does not stand for its family is asked. Of the
    /// families in `moved` everybody is, with what is below them.
    pub fn of(reading: &FrameReading, visible: &[bool], moved: &HashSet<AtspiObject>) -> Self {
        let families = Families::of(reading, visible);
        let mut samples = Self::default();
        let mut open = vec![Asked::default(); visible.len()];
        for (place, step) in reading.order.iter().enumerate() {
            let Some(mut asked) = open.get(place).copied() else { break };
            if step.parent.is_none() {
                asked.one = true;
                samples.seen.push(place);
            }
            asked.all |= moved.contains(&step.object);
            if !asked.one && !asked.all {
                continue;
            }
            let (seen, hidden) = families.children(place);
            let is_seen = visible.get(place).copied().unwrap_or(false);
            let most = if asked.all { usize::MAX } else { SEEN };
            for child in evenly_spread(seen, most) {
                samples.seen.push(child);
                open[child] = Asked { one: true, all: asked.all };
            }
            for child in hidden {
                open[*child] = Asked { one: true, all: asked.all };
            }
            if is_seen {
                samples.hidden.extend(evenly_spread(hidden, HIDDEN));
            }
        }
        samples
    }
}

/// Whether a node is asked with its children, and whether with all of them.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    one: bool,
    all: bool,
}

/// The children of each node, those that are to be seen and the others.
struct Families(HashMap<usize, (Vec<usize>, Vec<usize>)>);

impl Families {
    fn of(reading: &FrameReading, visible: &[bool]) -> Self {
        let mut families: HashMap<usize, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for ((place, step), visible) in reading.order.iter().enumerate().zip(visible) {
            if let Some(parent) = step.parent {
                let (seen, hidden) = families.entry(parent).or_default();
                if *visible { seen.push(place) } else { hidden.push(place) }
            }
        }
        Self(families)
    }

    fn children(&self, place: usize) -> (&[usize], &[usize]) {
        self.0.get(&place).map_or((&[], &[]), |(seen, hidden)| (seen, hidden))
    }
}

/// The first, the last, and some between.
fn evenly_spread(family: &[usize], most: usize) -> Vec<usize> {
    if family.len() <= most {
        return family.to_vec();
    }
    let last = family.len() - 1;
    (0..most).filter_map(|step| family.get(step * last / (most - 1)).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_over_a_family() {
        assert_eq!(evenly_spread(&[1, 2], 4), [1, 2]);
        assert_eq!(evenly_spread(&(0..100).collect::<Vec<_>>(), 4), [0, 33, 66, 99]);
        assert_eq!(evenly_spread(&[], 4), [0; 0]);
    }
}
