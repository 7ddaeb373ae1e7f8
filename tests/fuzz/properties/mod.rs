//! What must hold for any bytes, one file for each way into the program. `check` panics where it does not hold.
//!
//! The fuzz targets of fuzz/ and the tests of tests/fuzz/main.rs call the same functions, so nothing here may
//! depend on the time, on chance or on an earlier call, and nothing may be written outside a temporary folder.

pub mod completion;
pub mod diff;
#[cfg(feature = "http")]
pub mod host_origin;
pub mod json_rpc;
pub mod keys;
#[cfg(feature = "http")]
pub mod query;
pub mod redactor;
pub mod rule_names;
pub mod scenario;
pub mod selector;
pub mod trace;

mod applying;
mod generated;

/// A property of one target.
pub struct Property {
    pub name: &'static str,
    pub check: fn(&[u8]),
}

macro_rules! properties {
    ($($(#[$condition:meta])? $name:ident),* $(,)?) => {
        /// All of them, by the names of the targets.
        pub const ALL: &[Property] = &[$(
            $(#[$condition])?
            Property { name: stringify!($name), check: $name::check },
        )*];
    };
}

properties!(
    completion,
    diff,
    #[cfg(feature = "http")]
    host_origin,
    json_rpc,
    keys,
    #[cfg(feature = "http")]
    query,
    redactor,
    rule_names,
    scenario,
    selector,
    trace,
);

/// A sentence for a person or a model: short enough to be read, however long the input was.
#[track_caller]
fn check_sentence(sentence: &str) {
    assert!(!sentence.trim().is_empty(), "an error says nothing");
    assert!(sentence.chars().count() <= 1_000, "an error has {} characters", sentence.chars().count());
}
