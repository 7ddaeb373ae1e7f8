//! A child process on a leash: its input is written, its output read and its end awaited, and none of the
//! three can hold the caller longer than it wants to wait.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use crate::clock::{Waiting, sleep_really};
use crate::error::{Error, Kind, Result};
use crate::spawn;

/// A running child that ends with this value.
pub struct Leashed(Child);

impl Drop for Leashed {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Leashed {
    /// Starts a program with pipes. Arguments go to it one by one; no shell reads them.
    pub fn spawn<A: AsRef<OsStr>>(program: &Path, arguments: &[A]) -> Result<Self> {
        let mut command = spawn::command(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // More threads make tesseract several times slower, and they are counted when it loads.
        command.env("OMP_THREAD_LIMIT", "1");
        command.spawn().map(Leashed).map_err(|problem| {
            Error::new(
                Kind::PlatformUnsupported,
                format!("{} cannot be started: {problem}", program.display()),
            )
        })
    }

    /// Writes what it is given in a thread, and closes the input when the sender is gone.
    pub fn feed_input(&mut self) -> std::sync::mpsc::Sender<Arc<Vec<u8>>> {
        let (sender, pieces) = channel::<Arc<Vec<u8>>>();
        let input = self.0.stdin.take();
        std::thread::spawn(move || {
            let Some(mut input) = input else { return };
            // A child that reads no further has ended or will be ended; its exit says more than this error.
            while let Ok(piece) = pieces.recv() {
                if input.write_all(&piece).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        });
        sender
    }

    /// Hands its output to `read` in a thread; what that returns arrives here.
    pub fn drain_output<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut dyn Read, &std::sync::mpsc::Sender<T>) + Send + 'static,
    ) -> Receiver<T> {
        let (sender, results) = channel();
        let output = self.0.stdout.take();
        std::thread::spawn(move || {
            if let Some(mut output) = output {
                read(&mut output, &sender);
            }
        });
        results
    }

    /// What it says on its error stream, at most `most` bytes of it; the rest is read and dropped.
    pub fn collect_stderr(&mut self, most: u64) -> Receiver<String> {
        let (sender, complaints) = channel();
        let errors = self.0.stderr.take();
        std::thread::spawn(move || {
            let Some(mut errors) = errors else { return };
            let mut said = Vec::new();
            let _ = errors.by_ref().take(most).read_to_end(&mut said);
            let _ = std::io::copy(&mut errors, &mut std::io::sink());
            let _ = sender.send(String::from_utf8_lossy(&said).into_owned());
        });
        complaints
    }

    /// Whether it ended well.
    pub fn exited_well(&mut self, waiting: &Waiting) -> Result<bool> {
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) => return Ok(status.success()),
                Ok(None) => sleep_really(waiting.slice("for the engine to end")?),
                Err(problem) => {
                    return Err(Error::internal(format!("waiting for the OCR engine failed: {problem}")));
                }
            }
        }
    }
}
