//! Linux: X11 and AT-SPI.

pub mod sandbox;
pub mod session;
pub mod survey;
