//! A child process on a leash: its input is written, its output read and its end awaited, and none of the
//! three can hold the caller longer than it wants to wait.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::platform::child_process::without_our_settings;

/// How soon a cancelled call is noticed.
const SLICE: Duration = Duration::from_millis(10);

/// How long a caller waits at most, and its way to take the call back.
#[derive(Clone, Debug)]
pub struct Waiting {
    until: Instant,
    patience: Duration,
    cancel: Cancel,
}

impl Waiting {
    pub fn new(patience: Duration, cancel: &Cancel) -> Self {
        Self { until: Instant::now() + patience, patience, cancel: cancel.clone() }
    }

    /// The next piece of the wait, or the end of it.
    pub fn slice(&self, what: &str) -> Result<Duration> {
        self.cancel.check()?;
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let seconds = self.patience.as_secs_f64();
            return Err(Error::new(
                Kind::Timeout,
                format!("OCR gave up after {seconds} s of waiting {what}; read a smaller part of the window"),
            )
            .with("phase", "ocr"));
        }
        Ok(left.min(SLICE))
    }

    /// How much of the wait is left, and what takes the call back.
    pub fn left(&self) -> Result<(Duration, Cancel)> {
        self.slice("for its turn")?;
        Ok((self.until.saturating_duration_since(Instant::now()), self.cancel.clone()))
    }

    /// What a thread sends; `None` when it ended without sending anything.
    pub fn receive<T>(&self, from: &Receiver<T>, what: &str) -> Result<Option<T>> {
        loop {
            match from.recv_timeout(self.slice(what)?) {
                Ok(sent) => return Ok(Some(sent)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

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
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // More threads make tesseract several times slower, and they are counted when it loads.
        command.env("OMP_THREAD_LIMIT", "1");
        without_our_settings(&mut command);
        command.spawn().map(Leashed).map_err(|problem| {
            Error::new(
                Kind::PlatformUnsupported,
                format!("{} cannot be started: {problem}", program.display()),
            )
        })
    }

    /// Writes what it is given in a thread, and closes the input when the sender is gone.
    pub fn feed(&mut self) -> std::sync::mpsc::Sender<Vec<u8>> {
        let (sender, pieces) = channel::<Vec<u8>>();
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
    pub fn drain<T: Send + 'static>(
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
    pub fn complaints(&mut self, most: u64) -> Receiver<String> {
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
    pub fn ended(&mut self, waiting: &Waiting) -> Result<bool> {
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) => return Ok(status.success()),
                Ok(None) => std::thread::sleep(waiting.slice("for the engine to end")?),
                Err(problem) => {
                    return Err(Error::internal(format!("the OCR engine cannot be awaited: {problem}")));
                }
            }
        }
    }
}
