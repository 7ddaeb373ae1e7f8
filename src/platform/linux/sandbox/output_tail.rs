//! The end of what a program writes to its error output, kept for whoever asks why it ended.
//!
//! Everything is read, so that the program never waits, and only the end is kept, so that it cannot fill anything.

use std::io::Read;
use std::process::ChildStderr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::{Deadline, lock, sleep_really};

const KEPT_BYTES: usize = 500;
/// How long the last of it may take to arrive; a child of the program may hold its output open.
const ARRIVES_IN: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    has_ended: bool,
}

/// Read by a thread of its own until the output ends.
#[derive(Clone, Debug, Default)]
pub struct OutputTail(Arc<Mutex<Tail>>);

impl OutputTail {
    pub fn follow(mut output: ChildStderr) -> Self {
        let tail = Self::default();
        let kept = tail.clone();
        std::thread::spawn(move || {
            let mut chunk = [0; 1024];
            while let Ok(count @ 1..) = output.read(&mut chunk) {
                kept.keep_end(chunk.get(..count).unwrap_or_default());
            }
            lock(&kept.0).has_ended = true;
        });
        tail
    }

    fn keep_end(&self, chunk: &[u8]) {
        let bytes = &mut lock(&self.0).bytes;
        bytes.extend_from_slice(chunk);
        bytes.drain(..bytes.len().saturating_sub(KEPT_BYTES));
    }

    /// What it wrote last, once its program has ended.
    pub fn last_words(&self) -> String {
        let deadline = Deadline::after(ARRIVES_IN);
        while !lock(&self.0).has_ended && !deadline.is_over() {
            sleep_really(PAUSE);
        }
        String::from_utf8_lossy(&lock(&self.0).bytes).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::command;
    use std::process::Stdio;

    #[test]
    fn the_end_of_much_is_kept() {
        let script =
            "i=0; while [ $i -lt 5000 ]; do echo noise >&2; i=$((i+1)); done; printf 'no display' >&2";
        let mut child = command("sh").args(["-c", script]).stderr(Stdio::piped()).spawn().unwrap();
        let tail = OutputTail::follow(child.stderr.take().unwrap());
        assert!(child.wait().unwrap().success(), "it waits for nobody who reads");
        let said = tail.last_words();
        assert!(said.len() <= KEPT_BYTES && said.ends_with("noise\nno display"), "{said}");
    }
}
