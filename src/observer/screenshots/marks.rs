//! What can be acted on in a picture, numbered from 1.

use super::PictureSubject;
use crate::clock::Cancel;
use crate::config::limits::MARKS;
use crate::error::{Kind, Result};
use crate::model::geometry::visible_regions;
use crate::model::{Point, Rect, Tree, Window};
use crate::observer::outline::{in_view, is_actionable};
use crate::observer::text::{one_line, shorten_text};
use crate::observer::{Observer, Ref, ResolvedWindow, View};

const LONGEST_NAME: usize = 60;

/// A numbered element. Its number is its place in the legend, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub number: usize,
    pub reference: Ref,
    pub window_uid: String,
    pub role: String,
    pub name: String,
    /// The part of it that shows, on the screen.
    pub bounds: Rect,
    /// Where to click.
    pub center: Point,
    pub disabled: bool,
}

impl Observer {
    /// What can be acted on in `area` of the screen, and what is not marked and why.
    pub(super) fn collect_marks(
        &self,
        subject: &PictureSubject,
        area: Rect,
        cancel: &Cancel,
    ) -> Result<(Vec<Mark>, Vec<String>)> {
        self.require_places("to mark elements in a screenshot; use a grid")?;
        let mut marks = Vec::new();
        let mut notes = Vec::new();
        match subject {
            PictureSubject::Window(chosen) => {
                let view = self.view_or_reading(chosen, self.fresh_view(chosen, cancel)?, cancel)?;
                marks = self.marks_of(chosen, &view, &[], area)?;
            }
            PictureSubject::Screen => {
                let (windows, note) = self.frontmost_first()?;
                notes.extend(note);
                let mut covers = Vec::new();
                for chosen in windows {
                    match self.fresh_view(&chosen, cancel) {
                        Ok(view) => marks.extend(self.marks_of(&chosen, &view, &covers, area)?),
                        Err(error) if error.kind == Kind::Cancelled => return Err(error),
                        Err(error) => notes.push(format!(
                            "nothing is marked in the window {}: {}",
                            chosen.window.uid, error.message
                        )),
                    }
                    covers.push(chosen.window.bounds);
                }
            }
        }
        if let Some(more) = marks.len().checked_sub(MARKS).filter(|more| *more > 0) {
            notes.push(format!("{more} more elements are not marked; look at a smaller region"));
            marks.truncate(MARKS);
        }
        (1..).zip(&mut marks).for_each(|(number, mark)| mark.number = number);
        Ok((marks, notes))
    }

    /// The windows that show, the frontmost first, and what has to be said where that is not known.
    fn frontmost_first(&self) -> Result<(Vec<ResolvedWindow>, Option<String>)> {
        let desktop = self.desktop()?;
        let mut windows: Vec<&Window> = desktop.windows().iter().filter(|window| !window.minimized).collect();
        let note = match desktop.stacking()? {
            Some(order) => {
                let place = |uid: &str| order.iter().position(|other| other == uid).unwrap_or(usize::MAX);
                windows.sort_by_key(|window| place(&window.uid));
                None
            }
            None => {
                windows.sort_by_key(|window| !window.focused);
                Some(
                    "the stacking order of windows is unknown here: covered elements may be marked"
                        .to_owned(),
                )
            }
        };
        Ok((windows.into_iter().map(|window| self.resolve_raw(&desktop, window, None)).collect(), note))
    }

    fn marks_of(
        &self,
        chosen: &ResolvedWindow,
        view: &View,
        covers: &[Rect],
        area: Rect,
    ) -> Result<Vec<Mark>> {
        let tree = view.tree();
        let seen = in_view(tree, Tree::ROOT);
        let shown: Vec<(usize, Rect)> = (0..tree.len())
            .filter(|&node| seen[node] && is_actionable(&tree[node]))
            .filter_map(|node| Some((node, largest_part(tree[node].bounds, covers, area)?)))
            .collect();
        let refs = self.show_refs(chosen, view, shown.iter().map(|(node, _)| *node))?;
        Ok(shown
            .into_iter()
            .zip(refs)
            .map(|((node, bounds), reference)| {
                let element = &tree[node];
                Mark {
                    number: 0,
                    reference,
                    window_uid: chosen.window.uid.clone(),
                    role: one_line(element.role.name()),
                    name: one_line(&shorten_text(&element.name, LONGEST_NAME, LONGEST_NAME - 1)),
                    bounds,
                    center: bounds.center(),
                    disabled: !element.enabled,
                }
            })
            .collect())
    }
}

/// The largest rectangle of an element that shows in an area.
fn largest_part(bounds: Rect, covers: &[Rect], area: Rect) -> Option<Rect> {
    let parts = visible_regions(bounds, covers, Some(area));
    parts.into_iter().max_by_key(|part| i64::from(part.width) * i64::from(part.height))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Rect = Rect::new(0, 0, 100, 100);

    #[track_caller]
    fn check(bounds: Rect, covers: &[Rect], expected: Option<Rect>) {
        assert_eq!(largest_part(bounds, covers, SCREEN), expected);
    }

    #[test]
    fn the_part_that_shows_is_marked() {
        let button = Rect::new(10, 10, 40, 20);
        check(button, &[], Some(button));
        check(button, &[Rect::new(0, 0, 20, 100)], Some(Rect::new(20, 10, 30, 20)));
        check(button, &[Rect::new(0, 0, 60, 60)], None);
        check(Rect::new(90, 90, 40, 40), &[], Some(Rect::new(90, 90, 10, 10)));
        check(Rect::new(10, 10, 0, 20), &[], None);
    }
}
