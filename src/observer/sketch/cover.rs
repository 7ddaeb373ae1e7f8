//! Which elements lie wholly behind a later sibling.
//!
//! "A contains B" is "A is at least B" in four numbers (how far it reaches left, up, right and
//! down), and "later" is a fifth. So each sibling is a point, and the question is whether any
//! point is at least another in all five. A tree of halves answers it without comparing every
//! sibling with every other: lists of thousands of rows are common.

use crate::model::{Rect, Tree};

pub(super) fn covered_by_later_siblings(tree: &Tree) -> Vec<bool> {
    let mut covered = vec![false; tree.len()];
    for parent in 0..tree.len() {
        let siblings: Vec<usize> =
            tree.children(parent).filter(|&child| !tree[child].bounds.is_empty()).collect();
        if siblings.len() < 2 {
            continue;
        }
        let reach = |&node: &usize| SketchReach::of(tree[node].bounds, node);
        let index = Index::new(siblings.iter().map(reach).collect());
        for node in &siblings {
            covered[*node] = index.holds_at_least(&reach(node).but_later());
        }
    }
    covered
}

const MEASURES: usize = 5;

#[derive(Clone, Copy)]
struct SketchReach([i64; MEASURES]);

impl SketchReach {
    fn of(bounds: Rect, order: usize) -> SketchReach {
        let (x, y) = (i64::from(bounds.x), i64::from(bounds.y));
        SketchReach([-x, -y, x + i64::from(bounds.width), y + i64::from(bounds.height), order as i64])
    }

    fn but_later(self) -> SketchReach {
        let SketchReach([left, up, right, down, order]) = self;
        SketchReach([left, up, right, down, order + 1])
    }

    fn is_at_least(&self, other: &SketchReach) -> bool {
        self.0.iter().zip(&other.0).all(|(own, asked)| own >= asked)
    }

    fn furthest_reach(points: &[SketchReach]) -> SketchReach {
        SketchReach(std::array::from_fn(|measure| {
            points.iter().map(|point| point.0[measure]).max().unwrap_or(i64::MIN)
        }))
    }

    /// The measure in which these points differ most, and so are best told apart.
    fn widest_measure(points: &[SketchReach]) -> usize {
        let spread = |measure: &usize| {
            let values = points.iter().map(|point| point.0[*measure]);
            values.clone().max().unwrap_or(0) - values.min().unwrap_or(0)
        };
        (0..MEASURES).max_by_key(spread).unwrap_or(0)
    }
}

const LEAF: usize = 8;

/// Halves of halves in pre-order, like [`Tree`]: `next` is one past the last part of a part.
struct Index {
    points: Vec<SketchReach>,
    parts: Vec<ReachPart>,
}

struct ReachPart {
    furthest: SketchReach,
    next: usize,
    /// The points of a part that was not halved any more.
    leaf: Option<std::ops::Range<usize>>,
}

impl Index {
    fn new(mut points: Vec<SketchReach>) -> Index {
        let mut index = Index { points: Vec::with_capacity(points.len()), parts: Vec::new() };
        index.add(&mut points);
        index
    }

    /// Recursive, but every level halves the points: 40 levels would be a million million siblings.
    fn add(&mut self, points: &mut [SketchReach]) {
        let at = self.parts.len();
        self.parts.push(ReachPart {
            furthest: SketchReach::furthest_reach(points),
            next: at + 1,
            leaf: None,
        });
        if points.len() <= LEAF {
            let start = self.points.len();
            self.points.extend_from_slice(points);
            self.parts[at].leaf = Some(start..self.points.len());
            return;
        }
        let measure = SketchReach::widest_measure(points);
        let middle = points.len() / 2;
        points.select_nth_unstable_by_key(middle, |point| point.0[measure]);
        let (low, high) = points.split_at_mut(middle);
        self.add(low);
        self.add(high);
        self.parts[at].next = self.parts.len();
    }

    fn holds_at_least(&self, asked: &SketchReach) -> bool {
        self.leaves_within_reach(asked).flatten().any(|point| point.is_at_least(asked))
    }

    fn leaves_within_reach(&self, asked: &SketchReach) -> impl Iterator<Item = &[SketchReach]> {
        let mut at = 0;
        std::iter::from_fn(move || {
            while let Some(part) = self.parts.get(at) {
                let within_reach = part.furthest.is_at_least(asked);
                at = if within_reach { at + 1 } else { part.next };
                if let (true, Some(leaf)) = (within_reach, &part.leaf) {
                    return Some(&self.points[leaf.clone()]);
                }
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, TreeBuilder};
    use proptest::prelude::*;

    fn family(bounds: &[Rect]) -> Tree {
        let mut tree = TreeBuilder::new(Element::default());
        for &bounds in bounds {
            tree.add_leaf(Element::new("Group", "", bounds));
        }
        tree.finish()
    }

    fn check(bounds: &[(i32, i32, i32, i32)], expected: &[bool]) {
        let bounds: Vec<Rect> = bounds.iter().map(|&(x, y, w, h)| Rect::new(x, y, w, h)).collect();
        assert_eq!(covered_by_later_siblings(&family(&bounds))[1..], *expected, "{bounds:?}");
    }

    #[test]
    fn behind_a_later_sibling() {
        check(&[(1, 1, 2, 2), (0, 0, 9, 9)], &[true, false]);
    }

    #[test]
    fn in_front_of_an_earlier_sibling() {
        check(&[(0, 0, 9, 9), (1, 1, 2, 2)], &[false, false]);
    }

    #[test]
    fn of_two_alike_the_later_is_in_front() {
        check(&[(0, 0, 9, 9), (0, 0, 9, 9)], &[true, false]);
    }

    #[test]
    fn one_pixel_that_shows_is_enough() {
        check(&[(0, 0, 9, 10), (0, 0, 9, 9)], &[false, false]);
    }

    #[test]
    fn without_area_nothing_covers_or_is_covered() {
        check(&[(1, 1, 0, 2), (1, 1, 2, -1), (0, 0, 9, 9)], &[false, false, false]);
    }

    #[test]
    fn only_siblings_cover() {
        let mut tree = TreeBuilder::new(Element::new("Window", "", Rect::new(0, 0, 9, 9)));
        tree.open(Element::new("Group", "", Rect::new(0, 0, 9, 9)));
        tree.add_leaf(Element::new("Text", "", Rect::new(0, 0, 9, 9)));
        tree.close();
        assert_eq!(covered_by_later_siblings(&tree.finish()), [false; 3]);
    }

    /// How many parts the search opens for the worst of the siblings.
    fn most_leaves_opened(bounds: impl Iterator<Item = Rect>) -> usize {
        let reaches: Vec<SketchReach> =
            bounds.enumerate().map(|(at, bounds)| SketchReach::of(bounds, at)).collect();
        let index = Index::new(reaches.clone());
        let opened = |reach: &SketchReach| index.leaves_within_reach(&reach.but_later()).count();
        reaches.iter().map(opened).max().unwrap_or(0)
    }

    #[test]
    fn thousands_of_siblings_in_usual_layouts_are_not_compared_with_each_other() {
        let list = (0..8000).map(|row| Rect::new(10, 20 * row, 300, 20));
        let upwards = (0..8000).map(|row| Rect::new(10, -20 * row, 300, 20));
        let table = (0..8000).map(|cell| Rect::new(cell % 8 * 100, cell / 8 * 20, 100, 20));
        let shuffled = (0..8000).map(|row| Rect::new(10, row * 4799 % 8000 * 20, 300, 20));
        let layouts: [(&str, Box<dyn Iterator<Item = Rect>>); 4] = [
            ("list", Box::new(list)),
            ("upwards", Box::new(upwards)),
            ("table", Box::new(table)),
            ("shuffled", Box::new(shuffled)),
        ];
        for (name, layout) in layouts {
            let opened = most_leaves_opened(layout);
            assert!(opened <= 8, "{name}: {opened} of 1000 leaves");
        }
    }

    fn naive(bounds: &[Rect]) -> Vec<bool> {
        let behind = |back: &Rect, front: &Rect| front.encloses(back);
        let covered = |(at, own): (usize, &Rect)| {
            !own.is_empty() && bounds[at + 1..].iter().any(|front| behind(own, front))
        };
        bounds.iter().enumerate().map(covered).collect()
    }

    fn any_rect() -> impl Strategy<Value = Rect> {
        (-6..6i32, -6..6i32, -1..9i32, -1..9i32).prop_map(|(x, y, w, h)| Rect::new(x, y, w, h))
    }

    proptest! {
        #[test]
        fn the_index_agrees_with_the_definition(bounds in prop::collection::vec(any_rect(), 0..80)) {
            prop_assert_eq!(&covered_by_later_siblings(&family(&bounds))[1..], &naive(&bounds)[..]);
        }
    }
}
