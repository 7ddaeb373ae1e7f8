//! What calls cost, counted at the gate, whichever surface they came through. Only numbers are kept, and only
//! for tools that exist, so what is kept is bounded.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use crate::clock::lock;
use crate::error::Kind;
use crate::tokens::{self, Writing};

/// Upper bounds of the latency classes, in seconds; what is slower has a class of its own.
pub const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

#[derive(Debug, Default)]
pub struct Metrics {
    tools: Mutex<BTreeMap<&'static str, ToolCount>>,
}

/// What was counted for one tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCount {
    pub calls: u64,
    pub errors: BTreeMap<&'static str, u64>,
    /// Calls by latency, one entry for each of `BOUNDS` and one for what is slower.
    pub classes: [u64; BOUNDS.len() + 1],
    pub time: Duration,
    pub reply: Size,
}

/// How large replies were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub bytes: u64,
    /// How many of the bytes are an outline, which has more tokens than JSON of the same length.
    pub outline_bytes: u64,
    pub pixels: u64,
}

/// What models ask for a picture, roughly.
const PIXELS_A_TOKEN: u64 = 750;

impl Size {
    /// What a model pays for it, estimated.
    pub fn tokens(self) -> u64 {
        let of = |writing, bytes: u64| {
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            tokens::tokens_for_bytes(writing, bytes) as u64
        };
        let json = self.bytes.saturating_sub(self.outline_bytes);
        of(Writing::Json, json)
            + of(Writing::Outline, self.outline_bytes)
            + self.pixels.div_ceil(PIXELS_A_TOKEN)
    }
}

impl Metrics {
    pub fn note(&self, tool: &'static str, error: Option<Kind>, took: Duration, size: Size) {
        let class = BOUNDS.iter().position(|bound| took.as_secs_f64() <= *bound).unwrap_or(BOUNDS.len());
        let mut tools = lock(&self.tools);
        let count = tools.entry(tool).or_default();
        count.calls += 1;
        count.classes[class] += 1;
        count.time += took;
        count.reply.bytes += size.bytes;
        count.reply.outline_bytes += size.outline_bytes;
        count.reply.pixels += size.pixels;
        if let Some(kind) = error {
            *count.errors.entry(kind.code()).or_default() += 1;
        }
    }

    pub fn by_tool(&self) -> BTreeMap<&'static str, ToolCount> {
        lock(&self.tools).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_class_and_code() {
        let metrics = Metrics::default();
        let size = Size { bytes: 10, outline_bytes: 0, pixels: 1500 };
        metrics.note("a", None, Duration::from_millis(1), size);
        metrics.note("a", Some(Kind::Timeout), Duration::from_secs(60), size);
        metrics.note("b", None, Duration::ZERO, Size::default());
        let counted = metrics.by_tool();
        let a = &counted["a"];
        assert_eq!((a.calls, a.classes[0], a.classes[BOUNDS.len()]), (2, 1, 1));
        assert_eq!(a.errors, BTreeMap::from([("Timeout", 1)]));
        assert_eq!((a.reply.bytes, a.reply.tokens()), (20, 11));
        assert_eq!(counted["b"].calls, 1);
    }
}
