//! The right to act, without which no input is sent.

use std::sync::Arc;

use super::{ConsentRules, Target};
use crate::budget::Reservation;

/// The right to act once, for what was resolved and judged. The budget is charged when it is spent.
#[derive(Debug)]
pub struct Permit {
    /// Taken when the effect begins; what is left here is given back.
    reservation: Option<Reservation>,
    targets: Vec<Target>,
    dry_run: bool,
    /// What is held to them again right before it is pressed; nothing where nobody judges.
    rules: Option<Arc<dyn ConsentRules>>,
}

impl Permit {
    /// Only the gate grants one (held by tests/suite/rooms.rs).
    pub(crate) fn grant(reservation: Reservation, targets: Vec<Target>, dry_run: bool) -> Self {
        Self { reservation: Some(reservation), targets, dry_run, rules: None }
    }

    /// The same, where rules judge what is pressed.
    pub(crate) fn held_to(self, rules: Option<Arc<dyn ConsentRules>>) -> Self {
        Self { rules, ..self }
    }

    pub(super) fn rules(&self) -> Option<&Arc<dyn ConsentRules>> {
        self.rules.as_ref()
    }

    /// What the gate resolved and judged for this call: the element that is meant.
    pub fn target(&self) -> Option<&Target> {
        self.targets.first()
    }

    /// Everything that was judged, what is meant first.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The caller wants to know what would happen, not that it happens.
    pub fn dry_run(&self) -> bool {
        self.dry_run
    }

    /// Called right before the effect: from here on it counts, whatever becomes of it.
    pub fn spend(&mut self) {
        if let Some(reservation) = self.reservation.take() {
            reservation.commit();
        }
    }
}
