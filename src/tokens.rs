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

    /// In tenths, because a number without a fraction would be off by a fifth.
    const fn tenths_of_a_byte(self) -> usize {
        match self {
            Writing::Json => 33,
            Writing::Outline => 27,
            Writing::Words => 32,
            Writing::Sketch => 30,
        }
    }
}

/// The tokens that this many bytes are.
pub fn tokens(writing: Writing, bytes: usize) -> usize {
    bytes.saturating_mul(10).div_ceil(writing.tenths_of_a_byte())
}

/// The bytes that so many tokens hold.
pub fn bytes(writing: Writing, tokens: usize) -> usize {
    tokens.saturating_mul(writing.tenths_of_a_byte()) / 10
}
