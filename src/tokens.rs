//! What a text costs a model, estimated: no tokenizer runs in the server, and clients use different ones.
//!
//! Each way of writing has its own average of bytes for a token. A test holds the averages to a real tokenizer.

/// A way of writing that replies are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    Json,
    Outline,
    /// Descriptions and other sentences.
    Words,
    Sketch,
}

impl Writing {
    pub const ALL: [Writing; 4] = [Writing::Json, Writing::Outline, Writing::Words, Writing::Sketch];

    /// Measured on the recorded trees. In tenths, because a number without a fraction would be off by a fifth.
    const fn tenths_of_a_byte(self) -> usize {
        match self {
            Writing::Json => 31,
            Writing::Outline => 24,
            Writing::Words => 25,
            Writing::Sketch => 51,
        }
    }
}

/// The tokens that this many bytes are.
pub fn tokens_for_bytes(writing: Writing, bytes: usize) -> usize {
    bytes.saturating_mul(10).div_ceil(writing.tenths_of_a_byte())
}

/// The bytes that so many tokens hold.
pub fn bytes(writing: Writing, tokens: usize) -> usize {
    tokens.saturating_mul(writing.tenths_of_a_byte()) / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_never_overdrawn_by_rounding() {
        for writing in Writing::ALL {
            for most in [0, 1, 7, 100, 12_345] {
                assert!(tokens_for_bytes(writing, bytes(writing, most)) <= most, "{writing:?} {most}");
            }
        }
    }
}
