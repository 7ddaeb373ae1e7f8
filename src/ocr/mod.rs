//! OCR: one interface, the engines behind it, and which of them is available.
//!
//! Tesseract runs in its own process: an image that makes it crash, hang or grow costs one call and not the
//! server, and its thread limit has to be in the environment before the library loads.
//! Nothing here knows a window, a secret or a reply; the caller has blacked out what must not be read. Time
//! is real here, even under a steered clock, because another program is waited for.

mod child;
pub mod library;
mod line_removal;
mod merged;
mod preprocess;
mod program;
mod strips;
mod system;
mod tsv;
pub mod worker;

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::{Cancel, Clock, Waiting, lock};
use crate::config;
use crate::error::{Error, Kind, Result};
use crate::machine::{RealMachine, tesseract};
use crate::model::Word;
use crate::model::image::Picture;
use merged::merged_words;
use preprocess::GreyPage;

/// How a page is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// Tesseract's page segmentation mode: 11 finds scattered text, 7 takes the picture for one line.
    pub segmentation: u32,
    /// How many times larger the picture is made before it is read.
    pub upscale: u32,
    /// The words stand on buttons and in fields: frames are taken out first, and few dark letters count as many.
    pub labels: bool,
}

/// One engine.
trait OcrEngine: Send + Sync {
    /// What it is, with its version, for people.
    fn describe(&self) -> String;

    /// The words of a page in reading order, with boxes in pixels of the page.
    fn read_words(&self, page: &GreyPage, options: Options, waiting: &Waiting) -> Result<Vec<Word>>;
}

/// How many times larger a small part is made.
const PART_UPSCALE: u32 = 3;
/// How many engines run at once at most: each takes a core and some sixty megabytes.
const MOST_ENGINES: usize = 3;
/// The pixels of all pictures that are taken and read at a time, whoever reads them: two of 1920 × 1080. A larger one is
/// alone.
const MOST_PIXELS_IN_WORK: u64 = 4_200_000;
/// A larger picture is read in one way after the other: its strips keep the engines busy by themselves.
const SIDE_BY_SIDE_PIXELS: u64 = 1_000_000;
/// Enough for a sketch whose elements are read one by one.
const MOST_RECENT: usize = 64;
const RECENT_TIME: Duration = Duration::from_secs(30);

/// The configured engine, found when it is first needed, and what it has read lately.
pub struct Ocr {
    settings: config::Ocr,
    clock: Clock,
    /// Only success is kept: an engine that is installed later is found without a restart.
    engine: Mutex<Option<Arc<dyn OcrEngine>>>,
    /// How many engines may run at once.
    engines: usize,
    turns: Turns,
    in_work: PixelTurns,
    underway: Underway,
    recent: Mutex<VecDeque<RecentRead>>,
    /// Keyed at random, so that no application can draw two pictures of one hash.
    hasher: RandomState,
}

struct RecentRead {
    key: u64,
    words: Arc<Vec<Word>>,
    since: Duration,
}

impl Ocr {
    pub fn new(settings: config::Ocr, clock: Clock) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let engines = cores.clamp(2, MOST_ENGINES);
        Self {
            settings,
            clock,
            engine: Mutex::default(),
            engines,
            turns: Turns::new(engines),
            in_work: PixelTurns::default(),
            underway: Underway::default(),
            recent: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    pub fn settings(&self) -> &config::Ocr {
        &self.settings
    }

    /// Whether text can be read here: the engine is there and answers.
    pub fn is_available(&self) -> bool {
        self.engine().is_ok()
    }

    /// Which engine reads here, or why none does.
    pub fn describe(&self) -> Result<String> {
        Ok(self.engine()?.describe())
    }

    /// The words of a whole window. It is read as it is, and with the frames of buttons and fields taken out, because
    /// each way finds words that the other does not. Whoever reads a window reads it here, so that all see the same.
    pub fn read_window(
        &self,
        picture: &Picture,
        segmentation: Option<u32>,
        waiting: &Waiting,
    ) -> Result<Vec<Word>> {
        let segmentation = segmentation.unwrap_or(self.settings.psm_window);
        let plain = Options { segmentation, upscale: self.settings.upscale, labels: false };
        if !self.settings.preprocess {
            return Ok(self.read_words(picture, plain, waiting)?.to_vec());
        }
        // The strips of a large picture keep all engines busy, and each way has a page of its own in memory.
        if u64::from(picture.width()) * u64::from(picture.height()) > SIDE_BY_SIDE_PIXELS {
            let found = self.read_words(picture, plain, waiting)?;
            let framed = self.read_words(picture, Options { labels: true, ..plain }, waiting)?;
            return Ok(merged_words(&found, &framed));
        }
        let (plain, framed) = std::thread::scope(|scope| {
            let framed = scope.spawn(|| self.read_words(picture, Options { labels: true, ..plain }, waiting));
            let plain = self.read_words(picture, plain, waiting);
            (plain, framed.join().unwrap_or_else(|_| Err(reader_panicked())))
        });
        Ok(merged_words(&plain?, &framed?))
    }

    /// Waits until a picture of so many pixels may be taken and read beside those that are. Whoever has a turn asks for
    /// no other one.
    pub fn take_picture_turn(&self, pixels: u64, waiting: &Waiting) -> Result<PictureTurn<'_>> {
        self.in_work.take_turn(pixels, waiting)
    }

    /// How one small part of a window is read: as it stands there, and well enlarged.
    pub fn part_options(&self) -> Options {
        Options { segmentation: self.settings.psm_roi, upscale: PART_UPSCALE, labels: false }
    }

    /// The time for what is to be read from now on, be it one picture or many.
    pub fn start_deadline(&self, cancel: &Cancel) -> Waiting {
        Waiting::new(self.read_timeout(), cancel)
    }

    /// The same where the caller has less patience.
    pub fn start_deadline_within(&self, patience: Duration, cancel: &Cancel) -> Waiting {
        Waiting::new(self.read_timeout().min(patience), cancel)
    }

    /// Every word of the picture that the engine made out, however unsure of it.
    pub fn read_words(
        &self,
        picture: &Picture,
        options: Options,
        waiting: &Waiting,
    ) -> Result<Arc<Vec<Word>>> {
        let engine = self.engine()?;
        let key = self.hasher.hash_one((picture.width(), picture.height(), picture.rgba(), options));
        let _alone = self.underway.enter(key, waiting)?;
        if let Some(words) = self.read_lately(key) {
            return Ok(words);
        }
        let page = GreyPage::of(picture, options.upscale, self.settings.preprocess, options.labels)?;
        let mut words = self.read(&*engine, &page, options, waiting)?;
        for word in &mut words {
            word.bbox = page.in_picture(word.bbox);
        }
        let words = Arc::new(words);
        self.cache_words(key, &words);
        Ok(words)
    }

    /// A large page is read in strips, as many at a time as there are turns.
    fn read(
        &self,
        engine: &dyn OcrEngine,
        page: &GreyPage,
        options: Options,
        waiting: &Waiting,
    ) -> Result<Vec<Word>> {
        let count = strips::count(page, options, self.engines);
        if count == 1 {
            let _turn = self.turns.take_turn(waiting)?;
            return engine.read_words(page, options, waiting);
        }
        let part = |strip: &strips::Strip| {
            let _turn = self.turns.take_turn(waiting)?;
            engine.read_words(&page.sub_page(strip.rows.clone()), options, waiting)
        };
        let strips = strips::cut_strips(page, count);
        let read: Result<Vec<Vec<Word>>> = std::thread::scope(|scope| {
            let reading: Vec<_> = strips.iter().map(|strip| scope.spawn(|| part(strip))).collect();
            reading.into_iter().map(|strip| strip.join().unwrap_or_else(|_| Err(reader_panicked()))).collect()
        });
        Ok(strips::join_words(&strips, read?))
    }

    fn read_timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.settings.timeout_s).unwrap_or(Duration::from_secs(30))
    }

    fn read_lately(&self, key: u64) -> Option<Arc<Vec<Word>>> {
        let now = self.clock.now();
        let recent = lock(&self.recent);
        let fresh = |entry: &&RecentRead| entry.key == key && now.saturating_sub(entry.since) < RECENT_TIME;
        recent.iter().find(fresh).map(|entry| entry.words.clone())
    }

    fn cache_words(&self, key: u64, words: &Arc<Vec<Word>>) {
        let since = self.clock.now();
        let mut recent = lock(&self.recent);
        recent.retain(|entry| entry.key != key && since.saturating_sub(entry.since) < RECENT_TIME);
        if recent.len() == MOST_RECENT {
            recent.pop_front();
        }
        recent.push_back(RecentRead { key, words: words.clone(), since });
    }

    fn engine(&self) -> Result<Arc<dyn OcrEngine>> {
        if !self.settings.enabled {
            return Err(Error::new(Kind::PlatformUnsupported, DISABLED));
        }
        let mut engine = lock(&self.engine);
        if let Some(engine) = &*engine {
            return Ok(engine.clone());
        }
        let found = find_engine(&self.settings)?;
        tracing::info!("OCR by {}", found.describe());
        *engine = Some(found.clone());
        Ok(found)
    }
}

fn reader_panicked() -> Error {
    Error::internal("reading a part of the image failed")
}

pub const DISABLED: &str = "OCR disabled in config (ocr.enabled = false)";

/// A program that the config names is meant. Otherwise the library is preferred: it starts once. Which of them reads is
/// logged, and said by `doctor` and `get_capabilities`.
fn find_engine(settings: &config::Ocr) -> Result<Arc<dyn OcrEngine>> {
    let named = settings.tesseract_cmd.as_deref();
    if named.is_none() {
        match worker::Library::start() {
            Ok(Some(library)) => return Ok(Arc::new(library)),
            Ok(None) => {}
            Err(problem) => tracing::warn!("OCR: the tesseract library does not work: {}", problem.message),
        }
    }
    let machine = &RealMachine;
    let Some(program) = tesseract::find_tesseract(machine, named) else {
        return system::start().unwrap_or_else(|| Err(no_engine(settings)));
    };
    if let Some(named) = named.filter(|named| **named != *program) {
        tracing::debug!(
            "OCR: {} is used instead of ocr.tesseract_cmd {}",
            program.display(),
            named.display()
        );
    }
    Ok(Arc::new(program::TesseractProgram::start(program)?))
}

/// What the system's own recognition says of itself; `None` where it has none.
pub fn system_engine() -> Option<Result<String, String>> {
    Some(system::start()?.map(|engine| engine.describe()).map_err(|error| error.message))
}

fn no_engine(settings: &config::Ocr) -> Error {
    let looked = match &settings.tesseract_cmd {
        Some(named) => format!("neither {} nor a tesseract on the PATH exists", named.display()),
        None => "there is no tesseract on the PATH".to_owned(),
    };
    let fix = tesseract::tesseract_install_line();
    Error::new(Kind::PlatformUnsupported, format!("no OCR engine: {looked}. Install it with: {fix}"))
        .with("fix", fix)
}

/// Lets a few in at a time. Waiting for a turn ends with the caller's patience.
struct Turns {
    free: Mutex<usize>,
    given_back: Condvar,
}

struct EngineTurn<'a>(&'a Turns);

impl Turns {
    fn new(count: usize) -> Self {
        Self { free: Mutex::new(count), given_back: Condvar::new() }
    }

    fn take_turn(&self, waiting: &Waiting) -> Result<EngineTurn<'_>> {
        let mut free = lock(&self.free);
        while *free == 0 {
            let slice = waiting.slice("for other OCR calls")?;
            free = self.given_back.wait_timeout(free, slice).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Ok(EngineTurn(self))
    }
}

impl Drop for EngineTurn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.given_back.notify_one();
    }
}

/// How many pixels are in work, of all who read.
#[derive(Default)]
struct PixelTurns {
    used: Mutex<u64>,
    given_back: Condvar,
}

/// The right to have a picture in work.
pub struct PictureTurn<'a> {
    turns: &'a PixelTurns,
    pixels: u64,
}

impl PixelTurns {
    fn take_turn(&self, pixels: u64, waiting: &Waiting) -> Result<PictureTurn<'_>> {
        let mut used = lock(&self.used);
        while *used > 0 && *used + pixels > MOST_PIXELS_IN_WORK {
            let slice = waiting.slice("for other OCR calls")?;
            used = self.given_back.wait_timeout(used, slice).unwrap_or_else(PoisonError::into_inner).0;
        }
        *used += pixels;
        Ok(PictureTurn { turns: self, pixels })
    }
}

impl Drop for PictureTurn<'_> {
    fn drop(&mut self) {
        *lock(&self.turns.used) -= self.pixels;
        self.turns.given_back.notify_all();
    }
}

/// The pictures that are being read. Whoever wants one of them waits until it was read, instead of reading it too.
#[derive(Default)]
struct Underway {
    keys: Mutex<HashSet<u64>>,
    done: Condvar,
}

struct ReadingPicture<'a>(&'a Underway, u64);

impl Underway {
    fn enter(&self, key: u64, waiting: &Waiting) -> Result<ReadingPicture<'_>> {
        let mut keys = lock(&self.keys);
        while !keys.insert(key) {
            let slice = waiting.slice("for the same picture to be read")?;
            keys = self.done.wait_timeout(keys, slice).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(ReadingPicture(self, key))
    }
}

impl Drop for ReadingPicture<'_> {
    fn drop(&mut self) {
        lock(&self.0.keys).remove(&self.1);
        self.0.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read_by_one_at_a_time() {
        let underway = Underway::default();
        let first = underway.enter(7, &waiting(0)).unwrap();
        assert!(underway.enter(8, &waiting(0)).is_ok());
        assert_eq!(underway.enter(7, &waiting(30)).err().unwrap().kind, Kind::Timeout);
        drop(first);
        assert!(underway.enter(7, &waiting(30)).is_ok());
    }

    fn waiting(milliseconds: u64) -> Waiting {
        Waiting::new(Duration::from_millis(milliseconds), &Cancel::new())
    }

    #[test]
    fn turns_are_limited_and_given_back() {
        let turns = Turns::new(1);
        let first = turns.take_turn(&waiting(0)).unwrap();
        assert_eq!(turns.take_turn(&waiting(30)).err().unwrap().kind, Kind::Timeout);
        drop(first);
        assert!(turns.take_turn(&waiting(30)).is_ok());
    }

    /// H-153 on code: pictures wait for each other, and one that is too large is read alone
    #[test]
    fn pictures_share_the_pixels_in_work() {
        let turns = PixelTurns::default();
        let half = turns.take_turn(MOST_PIXELS_IN_WORK / 2, &waiting(0)).unwrap();
        let other = turns.take_turn(MOST_PIXELS_IN_WORK / 2, &waiting(0)).unwrap();
        assert_eq!(turns.take_turn(1, &waiting(30)).err().unwrap().kind, Kind::Timeout);
        drop((half, other));
        let large = turns.take_turn(9 * MOST_PIXELS_IN_WORK, &waiting(0)).unwrap();
        assert!(turns.take_turn(1, &waiting(0)).is_err());
        drop(large);
        assert!(turns.take_turn(1, &waiting(0)).is_ok());
    }

    #[test]
    fn a_cancelled_call_waits_for_no_turn() {
        let (turns, cancel) = (Turns::new(0), Cancel::new());
        cancel.fire();
        let refused = turns.take_turn(&Waiting::new(Duration::from_secs(60), &cancel)).err().unwrap();
        assert_eq!(refused, Error::cancelled());
    }

    #[test]
    fn what_was_read_is_kept_for_a_while() {
        let clock = Clock::steered();
        let ocr = Ocr::new(config::Ocr::default(), clock.clone());
        let last = MOST_RECENT as u64;
        for key in 0..=last {
            ocr.cache_words(key, &Arc::default());
        }
        assert!(ocr.read_lately(0).is_none(), "the oldest of too many is forgotten");
        assert!(ocr.read_lately(1).is_some() && ocr.read_lately(last).is_some());
        clock.advance(RECENT_TIME);
        assert!(ocr.read_lately(last).is_none());
    }

    #[test]
    fn switched_off_is_said() {
        let settings = config::Ocr { enabled: false, ..config::Ocr::default() };
        let error = Ocr::new(settings, Clock::steered()).describe().unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (Kind::PlatformUnsupported, DISABLED));
    }
}
