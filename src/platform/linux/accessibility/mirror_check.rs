//! Compares what the mirror says of a window with a reading of everything: for tests by hand with real programs, in builds
//! for tests alone. `RUST_LOG=mirror_check=debug` switches it on.

use std::rc::Rc;

use super::bus::{BusConnection, BusDeadline};
use super::capture::{build_tree, read_everything};
use super::find::{AtspiFrame, WindowFacts};
use crate::model::{Element, Rect, Role, Tree};

const MOST_DIFFERENCES: usize = 12;

pub async fn compare(
    link: &Rc<BusConnection>,
    (sought, frame, bounds): (&WindowFacts, &AtspiFrame, Rect),
    mirrored: &Tree,
    pace: &BusDeadline,
) {
    if !tracing::enabled!(target: "mirror_check", tracing::Level::DEBUG) {
        return;
    }
    let reading = read_everything(link, frame, pace).await;
    let read = build_tree(sought, frame, bounds, &reading);
    let differences = differences(mirrored, &read);
    tracing::debug!(
        target: "mirror_check",
        window = %frame.name,
        elements = read.len(),
        mirrored = mirrored.len(),
        differences = differences.len(),
        "{}",
        differences.iter().take(MOST_DIFFERENCES).cloned().collect::<Vec<_>>().join(" | ")
    );
}

fn differences(mirrored: &Tree, read: &Tree) -> Vec<String> {
    let pairs = mirrored.elements().iter().zip(read.elements()).enumerate();
    pairs.filter_map(|(place, (one, other))| difference(place, one, other)).collect()
}

fn difference(place: usize, mirrored: &Element, read: &Element) -> Option<String> {
    let facts = |element: &Element| {
        [
            // LibreOffice makes new objects for its cells each time somebody asks for them.
            ("native", element.native.clone().filter(|_| element.role != Role::DataItem).unwrap_or_default()),
            ("role", format!("{:?}", element.role)),
            ("name", element.name.clone()),
            ("value", format!("{:?}", element.value)),
            ("bounds", format!("{:?}", element.bounds)),
            ("hidden", format!("{:?}", element.hidden)),
            ("description", format!("{:?}", element.description)),
            (
                "states",
                format!("{:?}", (element.enabled, element.focused, element.selected, element.expanded)),
            ),
            ("range", format!("{:?}", element.range)),
            ("other", format!("{:?}", (&element.shortcut, element.editable, element.secret))),
        ]
    };
    let (ours, theirs) = (facts(mirrored), facts(read));
    let different: Vec<String> = ours
        .iter()
        .zip(&theirs)
        .filter(|(one, other)| one != other)
        .map(|((fact, one), (_, other))| format!("{fact} {one} is {other}"))
        .collect();
    let label = format!("#{place} {:?} '{}'", read.role, read.name);
    (!different.is_empty()).then(|| format!("{label}: {}", different.join(", ")))
}
