//! Inputs out of kept ones, by a seed: the same in every run, on every machine.

use std::path::Path;

/// Longer inputs are cut; there is nothing to be found in length alone that takes so little time.
const LONGEST: usize = 4_096;

pub struct Mutator {
    state: u64,
    inputs: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    pub fn new(seed: u64, inputs: Vec<Vec<u8>>, words: Vec<Vec<u8>>) -> Self {
        Self { state: seed, inputs, words }
    }

    /// A few changes to one of the inputs, or now and then nothing but chance.
    pub fn next(&mut self) -> Vec<u8> {
        if self.below(8) == 0 {
            let length = self.below(256);
            return (0..length).map(|_| self.number() as u8).collect();
        }
        let mut input = self.some_input();
        for _ in 0..=self.below(4) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(16)).min(input.len());
        match self.below(7) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.number() as u8,
            2 => drop(input.drain(at..end)),
            3 => {
                let repeated = input[at..end].repeat(1 + self.below(4));
                drop(input.splice(at..at, repeated));
            }
            4 => {
                let other = self.some_input();
                let from = self.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            5 if !self.words.is_empty() => {
                let index = self.below(self.words.len());
                let word = self.words[index].clone();
                drop(input.splice(at..at, word));
            }
            _ => input.insert(at, self.number() as u8),
        }
    }

    fn some_input(&mut self) -> Vec<u8> {
        let index = self.below(self.inputs.len());
        self.inputs[index].clone()
    }

    /// Less than `bound`, and 0 if that is.
    fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound.max(1) as u64) as usize
    }

    /// SplitMix64: short, and good enough to choose by.
    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// The words of a libFuzzer dictionary: one in quotes a line, with `\\`, `\"` and `\xAB` inside. None without a file.
pub fn dictionary(path: &Path) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| word(line).unwrap_or_else(|| panic!("{}: {line}", path.display()))).collect()
}

fn word(line: &str) -> Option<Vec<u8>> {
    let inside = line.strip_prefix('"')?.strip_suffix('"')?;
    let mut word = Vec::new();
    let mut rest = inside.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, length) = match (first, after) {
            (b'\\', [b'x', high, low, ..]) => {
                (u8::from_str_radix(std::str::from_utf8(&[*high, *low]).ok()?, 16).ok()?, 4)
            }
            (b'\\', [escaped @ (b'\\' | b'"'), ..]) => (*escaped, 2),
            (b'\\', _) => return None,
            _ => (first, 1),
        };
        word.push(byte);
        rest = &rest[length..];
    }
    Some(word)
}

#[test]
fn mutations_are_the_same_for_a_seed() {
    let inputs = || vec![b"hello".to_vec(), b"world".to_vec()];
    let all = |seed| {
        let mut mutator = Mutator::new(seed, inputs(), vec![b"word".to_vec()]);
        (0..50).map(|_| mutator.next()).collect::<Vec<_>>()
    };
    assert_eq!(all(1), all(1));
    assert_ne!(all(1), all(2));
}

#[test]
fn words_are_read_as_libfuzzer_reads_them() {
    assert_eq!(word(r#""a\\\"\x0a""#).unwrap(), b"a\\\"\n");
    assert_eq!(word(r#""\n""#), None);
}
