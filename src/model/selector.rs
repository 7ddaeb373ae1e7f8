//! Selectors: how a caller names an element by role, name and place.
