//! Figures of the production code, held to limits: how long functions are, and whether names are long enough to be
//! guessed and unique enough to be searched for.
//!
//! `cargo test --test suite code_figures -- --nocapture` prints them.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Declared, SourceFile, files};

/// How often a type name is declared in more than one file.
const MOST_SHARED_TYPE_NAMES: usize = 40;
/// In percent of all functions.
const MOST_ONE_WORD_FUNCTIONS: usize = 40;
const LONGEST_FUNCTION: usize = 60;
const MEDIAN_FUNCTION: usize = 7;
/// Nine of ten functions are not longer.
const NINTH_DECILE: usize = 18;

const TYPES: &[&str] = &["struct", "enum", "trait", "type", "union"];

struct Figures {
    files: usize,
    /// Lines of functions, the shortest first.
    lengths: Vec<usize>,
    one_word: usize,
    /// Names of types that several files declare, with these files.
    shared: Vec<(String, BTreeSet<String>)>,
    longest: String,
}

impl Figures {
    fn of(files: &[SourceFile]) -> Self {
        let declared = |file: &SourceFile| -> Vec<(String, Declared)> {
            file.declared().into_iter().map(|item| (file.path.clone(), item)).collect()
        };
        let all: Vec<(String, Declared)> = files.iter().flat_map(declared).collect();
        let functions: Vec<&(String, Declared)> = all.iter().filter(|(_, item)| item.kind == "fn").collect();
        let mut lengths: Vec<usize> = functions.iter().map(|(_, item)| length(item)).collect();
        lengths.sort_unstable();
        let longest = functions.iter().max_by_key(|(_, item)| length(item));
        let mut types: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, item) in all.iter().filter(|(_, item)| TYPES.contains(&item.kind)) {
            types.entry(item.name.clone()).or_default().insert(path.clone());
        }
        Self {
            files: files.len(),
            one_word: functions.iter().filter(|(_, item)| !item.name.trim_matches('_').contains('_')).count(),
            longest: longest.map(|(path, item)| format!("{path} {}", item.name)).unwrap_or_default(),
            shared: types.into_iter().filter(|(_, files)| files.len() > 1).collect(),
            lengths,
        }
    }

    fn share_of_one_word(&self) -> usize {
        100 * self.one_word / self.lengths.len().max(1)
    }

    fn at(&self, tenths: usize) -> usize {
        self.lengths[self.lengths.len() * tenths / 10]
    }
}

fn length(item: &Declared) -> usize {
    item.last_line - item.line + 1
}

#[test]
fn functions_are_short_and_names_can_be_searched_for() {
    let figures = Figures::of(&files());
    let Figures { files, lengths, one_word, shared, longest } = &figures;
    println!("{files} files, {} functions, {one_word} with one-word names", lengths.len());
    println!("function length: median {}, p90 {}", figures.at(5), figures.at(9));
    println!("the longest, {longest}: {}", lengths[lengths.len() - 1]);
    println!("type names in several files: {}", shared.len());
    assert!(figures.at(5) <= MEDIAN_FUNCTION && figures.at(9) <= NINTH_DECILE);
    assert!(lengths[lengths.len() - 1] <= LONGEST_FUNCTION, "{longest} is too long");
    let percent = figures.share_of_one_word();
    assert!(percent < MOST_ONE_WORD_FUNCTIONS, "{percent} % of the functions have one-word names");
    let names: Vec<String> = shared.iter().map(|(name, files)| format!("{name}: {files:?}")).collect();
    assert!(names.len() < MOST_SHARED_TYPE_NAMES, "types share names:\n{}", names.join("\n"));
}
