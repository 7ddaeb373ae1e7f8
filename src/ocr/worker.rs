//! The library in a process of its own: this program started once more as `ocr-worker`, which loads the
//! engine once and then answers picture after picture.
//!
//! Questions and answers are frames. A question is three numbers (width, height, segmentation mode) and
//! the grey pixels; an answer is a byte (0 for good, 1 for a failure, 2 where there is no library) and a text with its
//! length in front. The first answer comes unasked: the version, or why there is no engine.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::child::Leashed;
use super::library::Engine;
use super::preprocess::GreyPage;
use super::{OcrEngine, Options, Word, tsv};
use crate::clock::{Cancel, Waiting, lock};
use crate::error::{Error, Kind, Result};
use crate::platform::Grey;
use crate::platform::tesseract::EngineError;

/// The subcommand that makes this program the worker.
pub const SUBCOMMAND: &str = "ocr-worker";

// The first byte of an answer.
const GOOD: u8 = 0;
const FAILED: u8 = 1;
const NOT_INSTALLED: u8 = 2;

const MOST_OUTPUT: u32 = 8 << 20;
const MOST_PIXELS: u64 = 64_000_000;
const TIME_TO_START: Duration = Duration::from_secs(10);
/// A worker that nobody asks gives its memory back.
const IDLE: Duration = Duration::from_secs(120);

// ── the side of the server ─────────────────────────────────────────────────────────────────────────

/// The engine as the server sees it: idle workers, more of them started as needed.
pub struct Library {
    version: String,
    idle: Mutex<Vec<WorkerProcess>>,
}

struct WorkerProcess {
    questions: Sender<Arc<Vec<u8>>>,
    answers: Receiver<WorkerAnswer>,
    /// Ends the process, last.
    _process: Leashed,
}

type WorkerAnswer = Result<String, EngineError>;

/// What the engine says of itself, for `doctor`; `None` where there is no library.
pub fn library_version() -> Option<Result<String, String>> {
    match Library::start() {
        Ok(library) => library.map(|library| Ok(library.version)),
        Err(problem) => Some(Err(problem.message)),
    }
}

impl Library {
    /// `None` where there is no library, which only a process that tries to load it can tell.
    pub fn start() -> Result<Option<Self>> {
        let started = WorkerProcess::start(&Waiting::new(TIME_TO_START, &Cancel::new()))?;
        Ok(started.map(|(worker, version)| Self { version, idle: Mutex::new(vec![worker]) }))
    }

    /// A worker that waited too long may have gone; a new one is started then, once.
    fn ask_library(&self, question: &Arc<Vec<u8>>, waiting: &Waiting) -> Result<String> {
        let idle = lock(&self.idle).pop();
        if let Some(worker) = idle
            && let Some(answer) = worker.ask_worker(question, waiting)?
        {
            return self.keep_worker(worker, answer);
        }
        let (worker, _) = WorkerProcess::start(waiting)?
            .ok_or_else(|| Error::internal("the tesseract library that was in use no longer exists"))?;
        match worker.ask_worker(question, waiting)? {
            Some(answer) => self.keep_worker(worker, answer),
            None => Err(Error::internal("the OCR engine ended while it was reading the image")),
        }
    }

    /// Only a worker that answered well is used again.
    fn keep_worker(&self, worker: WorkerProcess, answer: WorkerAnswer) -> Result<String> {
        let text = answer
            .map_err(|problem| Error::internal(format!("the OCR engine failed: {}", problem.message())))?;
        lock(&self.idle).push(worker);
        Ok(text)
    }
}

impl OcrEngine for Library {
    fn describe(&self) -> String {
        self.version.clone()
    }

    fn read_words(&self, page: &GreyPage, options: Options, waiting: &Waiting) -> Result<Vec<Word>> {
        let numbers = [page.width, page.height, options.segmentation];
        let mut question = Vec::with_capacity(page.grey.len() + size_of_val(&numbers));
        question.extend(numbers.map(u32::to_le_bytes).concat());
        question.extend_from_slice(&page.grey);
        Ok(tsv::parse_words(&self.ask_library(&Arc::new(question), waiting)?))
    }
}

impl WorkerProcess {
    /// The worker and what its engine says of itself; `None` where there is no library.
    fn start(waiting: &Waiting) -> Result<Option<(Self, String)>> {
        let program = this_program().ok_or_else(|| {
            Error::internal("this program does not know its own path, so it cannot start a worker")
        })?;
        let mut process = Leashed::spawn(&program, &[SUBCOMMAND])?;
        // Read and dropped: tesseract talks about the resolution of every picture.
        process.collect_stderr(0);
        let questions = process.feed_input();
        let answers = process.drain_output(|output, results| {
            while let Ok(answer) = read_answer(output) {
                if results.send(answer).is_err() {
                    return;
                }
            }
        });
        let worker = Self { questions, answers, _process: process };
        match waiting.receive(&worker.answers, "for the OCR engine to start")? {
            Some(Ok(version)) => Ok(Some((worker, version))),
            Some(Err(EngineError::NotInstalled(_))) => Ok(None),
            Some(Err(EngineError::Failed(problem))) => Err(Error::new(Kind::PlatformUnsupported, problem)),
            None => Err(Error::new(
                Kind::PlatformUnsupported,
                format!("{} {SUBCOMMAND} ended at once", program.display()),
            )),
        }
    }

    /// `None` when the worker has ended.
    fn ask_worker(&self, question: &Arc<Vec<u8>>, waiting: &Waiting) -> Result<Option<WorkerAnswer>> {
        match self.questions.send(question.clone()) {
            Ok(()) => waiting.receive(&self.answers, "for the OCR engine"),
            Err(_) => Ok(None),
        }
    }
}

/// Set by `main`: the running executable has the subcommand, whatever its file is called. It is unset where this crate is
/// part of another program.
static IS_MAIN_PROGRAM: AtomicBool = AtomicBool::new(false);

pub fn mark_main_program() {
    IS_MAIN_PROGRAM.store(true, Ordering::Relaxed);
}

/// The program that has the subcommand: the one that runs, whatever its file is called, or, where this crate is part of
/// another one (its tests are), the one that lies beside it or one folder above.
fn this_program() -> Option<PathBuf> {
    let running = std::env::current_exe().ok()?;
    if IS_MAIN_PROGRAM.load(Ordering::Relaxed) {
        return Some(running);
    }
    let name = format!("{}{}", env!("CARGO_PKG_NAME"), std::env::consts::EXE_SUFFIX);
    running.ancestors().skip(1).take(2).map(|folder| folder.join(&name)).find(|program| program.is_file())
}

fn read_answer(input: &mut dyn Read) -> io::Result<WorkerAnswer> {
    let mut head = [0; 5];
    input.read_exact(&mut head)?;
    let [flag, length @ ..] = head;
    let length = u32::from_le_bytes(length);
    if length > MOST_OUTPUT {
        return Err(io::Error::other("an answer of this length is invalid"));
    }
    let mut text = Vec::new();
    input.take(u64::from(length)).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(match flag {
        GOOD => Ok(text),
        NOT_INSTALLED => Err(EngineError::NotInstalled(text)),
        _ => Err(EngineError::Failed(text)),
    })
}

// ── the side of the worker ─────────────────────────────────────────────────────────────────────────

/// What the process does: it answers on stdout until its stdin ends, or nobody has asked for a while.
pub fn serve() -> Result<(), String> {
    let questions = questions_of(io::stdin());
    let mut output = io::stdout().lock();
    let gone = |problem: io::Error| format!("the OCR worker cannot write its answer: {problem}");
    let mut engine = match Engine::start() {
        Ok(engine) => engine,
        Err(problem) => return write_answer(&mut output, &Err(problem)).map_err(gone),
    };
    write_answer(&mut output, &Ok(engine.version())).map_err(gone)?;
    loop {
        let question = match questions.recv_timeout(IDLE) {
            Ok(question) => question,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return Ok(()),
        };
        match engine.table(question.page(), question.segmentation) {
            Ok((same, table)) => {
                engine = same;
                write_answer(&mut output, &Ok(table)).map_err(gone)?;
            }
            Err(problem) => {
                return write_answer(&mut output, &Err(EngineError::Failed(problem))).map_err(gone);
            }
        }
    }
}

struct WorkerRequest {
    size: (u32, u32),
    segmentation: u32,
    grey: Vec<u8>,
}

impl WorkerRequest {
    fn page(&self) -> Grey<'_> {
        Grey { levels: &self.grey, width: self.size.0, height: self.size.1 }
    }
}

fn questions_of(mut input: impl Read + Send + 'static) -> Receiver<WorkerRequest> {
    let (sender, questions) = channel();
    std::thread::spawn(move || {
        while let Some(question) = read_question(&mut input) {
            if sender.send(question).is_err() {
                return;
            }
        }
    });
    questions
}

fn read_question(input: &mut impl Read) -> Option<WorkerRequest> {
    let mut number = || {
        let mut bytes = [0; 4];
        input.read_exact(&mut bytes).ok().map(|()| u32::from_le_bytes(bytes))
    };
    let (width, height, segmentation) = (number()?, number()?, number()?);
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 || pixels > MOST_PIXELS {
        return None;
    }
    let mut grey = vec![0; usize::try_from(pixels).ok()?];
    input.read_exact(&mut grey).ok()?;
    Some(WorkerRequest { size: (width, height), segmentation, grey })
}

fn write_answer(output: &mut impl Write, answer: &WorkerAnswer) -> io::Result<()> {
    let (flag, text) = match answer {
        Ok(text) => (GOOD, text),
        Err(EngineError::Failed(text)) => (FAILED, text),
        Err(EngineError::NotInstalled(text)) => (NOT_INSTALLED, text),
    };
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    output.write_all(&[flag])?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(text.as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: WorkerAnswer) {
        let mut written = Vec::new();
        write_answer(&mut written, &answer).unwrap();
        assert_eq!(read_answer(&mut written.as_slice()).unwrap(), answer);
        assert!(read_answer(&mut &written[..written.len().min(4)]).is_err());
    }

    #[test]
    fn answers_arrive_as_they_were_given() {
        check(Ok(String::new()));
        check(Ok("5\t1\n".repeat(1000)));
        check(Err(EngineError::Failed("no data".to_owned())));
        check(Err(EngineError::NotInstalled("no library".to_owned())));
    }

    #[test]
    fn an_answer_that_is_too_long_is_refused() {
        let mut written = vec![0];
        written.extend((MOST_OUTPUT + 1).to_le_bytes());
        assert!(read_answer(&mut written.as_slice()).is_err());
    }

    fn question(numbers: [u32; 3], pixels: usize) -> Option<WorkerRequest> {
        let mut bytes = numbers.map(u32::to_le_bytes).concat();
        bytes.resize(bytes.len() + pixels, 7);
        read_question(&mut bytes.as_slice())
    }

    #[test]
    fn questions_are_measured_before_they_are_read() {
        let good = question([3, 2, 11], 6).unwrap();
        assert_eq!((good.size, good.segmentation, good.grey), ((3, 2), 11, vec![7; 6]));
        assert!(question([3, 2, 11], 5).is_none());
        assert!(question([0, 2, 11], 6).is_none());
        assert!(question([u32::MAX, u32::MAX, 11], 6).is_none());
    }
}
