//! The properties of the fuzz targets in every test run: on the inputs that once broke something
//! (fuzz/regressions), on hand-made ones (fuzz/seeds), and on mutations of both that are the same in every run.
//! `PROPTEST_RNG_SEED` chooses others. docs/fuzzing.md tells how to let libFuzzer search on.
#![allow(clippy::disallowed_methods, reason = "a test runs in real time and sets up its own environment")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test that fails may say so"
)]

mod mutation;
mod properties;

use std::path::{Path, PathBuf};

use mutation::{Mutator, dictionary};
use properties::{ALL, Property};

const DEFAULT_SEED: u64 = 20_260_728;

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(kind)
}

/// Says which input it was when a property does not hold.
struct Trying<'a> {
    target: &'a str,
    origin: &'a str,
    input: &'a [u8],
}

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Trying { target, origin, input } = self;
            eprintln!("{target} does not hold for {origin}: b\"{}\"", input.escape_ascii());
        }
    }
}

fn try_input(property: &Property, origin: &str, input: &[u8]) {
    let _trying = Trying { target: property.name, origin, input };
    (property.check)(input);
}

/// The files of one target, in the order of their names.
fn files(kind: &str, target: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder(kind).join(target)).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}

fn seed() -> u64 {
    std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_SEED)
}

/// What is kept, and so many mutations of it.
fn check(target: &str, mutations: usize) {
    let property = ALL.iter().find(|property| property.name == target).unwrap();
    let kept: Vec<_> = [files("regressions", target), files("seeds", target)].concat();
    assert!(!kept.is_empty(), "{target} has no seeds");
    for (name, input) in &kept {
        try_input(property, name, input);
    }
    let inputs = kept.into_iter().map(|(_, input)| input).collect();
    let words = dictionary(&folder("dictionaries").join(format!("{target}.dict")));
    let mut mutator = Mutator::new(seed(), inputs, words);
    for number in 0..mutations {
        try_input(property, &format!("mutation {number} of seed {}", seed()), &mutator.next());
    }
}

macro_rules! targets {
    ($($(#[$condition:meta])? $name:ident: $mutations:literal,)*) => {
        $($(#[$condition])? #[test] fn $name() { check(stringify!($name), $mutations); })*

        const TESTED: &[&str] = &[$($(#[$condition])? stringify!($name)),*];
    };
}

// So many that all together take some seconds.
targets! {
    completion: 2_000,
    diff: 500,
    #[cfg(feature = "http")] host_origin: 5_000,
    json_rpc: 150,
    keys: 20_000,
    #[cfg(feature = "http")] query: 4_000,
    redactor: 500,
    rule_names: 20_000,
    scenario: 400,
    selector: 200,
    trace: 500,
}

#[test]
fn every_property_is_tested_and_is_a_target() {
    for property in ALL {
        assert!(TESTED.contains(&property.name), "{} is not tested", property.name);
        assert!(
            folder("targets").join(format!("{}.rs", property.name)).is_file(),
            "{} is no target",
            property.name
        );
    }
}

/// An input that is kept for a target that is not there would never be tried.
#[test]
fn what_is_kept_belongs_to_a_target() {
    for kind in ["seeds", "regressions"] {
        for entry in std::fs::read_dir(folder(kind)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(folder("targets").join(format!("{name}.rs")).is_file(), "{kind}/{name} is for no target");
        }
    }
}
