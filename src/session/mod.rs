//! What outlives a call: step numbers, the trees that tokens stand for, snapshots, the pictures that were
//! handed out, and those that are kept to be compared with.

mod image_maps;
mod kept_screenshots;
mod last_looks;
mod snapshots;
mod window_news;

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub use image_maps::Images;
pub use kept_screenshots::Frames;
pub use last_looks::Looks;
pub use snapshots::Snapshots;
pub use window_news::WindowNews;

use crate::clock::lock;
use crate::observer::TreeTokens;

#[derive(Debug, Default)]
pub struct Session {
    steps: AtomicU64,
    last_input: AtomicU64,
    pub trees: TreeTokens,
    pub images: Images,
    pub looks: Looks,
    pub news: WindowNews,
    pub frames: Frames,
    pub snapshots: Snapshots,
    last_failure: Mutex<Option<FailedCall>>,
    /// Who was told where programs save their files.
    told_of_files: Mutex<HashSet<&'static str>>,
}

/// A call that failed, as its caller was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCall {
    pub step_id: u64,
    pub tool: &'static str,
    /// The reply, clean; only its code when it is too long to be kept.
    pub reply: String,
}

impl Session {
    /// The number of a call that begins. Calls from every surface count together, from 1.
    pub fn next_step(&self) -> u64 {
        self.steps.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether a caller is told for the first time where programs save their files: once is enough.
    pub fn is_first_word_of_files(&self, caller: &'static str) -> bool {
        lock(&self.told_of_files).insert(caller)
    }

    pub fn step_count(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Only the last one is kept, for who asks what went wrong.
    pub fn note_failure(&self, failure: FailedCall) {
        *lock(&self.last_failure) = Some(failure);
    }

    pub fn last_failure(&self) -> Option<FailedCall> {
        lock(&self.last_failure).clone()
    }

    /// Remembers an input, to which later observations are attributed.
    pub fn note_input(&self, step: u64) {
        self.last_input.fetch_max(step, Ordering::Relaxed);
    }

    pub fn last_input(&self) -> Option<u64> {
        let step = self.last_input.load(Ordering::Relaxed);
        (step > 0).then_some(step)
    }
}
