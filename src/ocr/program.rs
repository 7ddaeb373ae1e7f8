//! The `tesseract` program, started for each picture: it reads the picture from its input and writes a
//! table. Its arguments are ours alone; nothing of the screen ever becomes one.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use super::child::Leashed;
use super::preprocess::GreyPage;
use super::{OcrEngine, Options, Word, tsv};
use crate::clock::{Cancel, Waiting};
use crate::error::{Error, Kind, Result};

const MOST_OUTPUT: u64 = 8 << 20;
const MOST_COMPLAINTS: u64 = 16 << 10;
/// What tesseract reads when it is told nothing.
const LANGUAGE: &str = "eng";
const TIME_FOR_VERSION: Duration = Duration::from_secs(5);

pub struct TesseractProgram {
    path: PathBuf,
    version: String,
}

impl TesseractProgram {
    /// Asks it for its version and its languages, so that what is found is also known to be able to read.
    pub fn start(path: PathBuf) -> Result<Self> {
        let waiting = Waiting::new(TIME_FOR_VERSION, &Cancel::new());
        let ask = |question: &str| run(&path, &[question.to_owned()], Vec::new(), &waiting);
        let version = ask("--version")?.lines().next().unwrap_or_default().trim().to_owned();
        if !ask("--list-langs")?.lines().any(|language| language.trim() == LANGUAGE) {
            return Err(Error::new(
                Kind::PlatformUnsupported,
                format!(
                    "{} has no English language data ({LANGUAGE}.traineddata); install it or set TESSDATA_PREFIX",
                    path.display()
                ),
            ));
        }
        Ok(Self { path, version })
    }
}

impl OcrEngine for TesseractProgram {
    fn describe(&self) -> String {
        format!("{} (program {})", self.version, self.path.display())
    }

    fn read_words(&self, page: &GreyPage, options: Options, waiting: &Waiting) -> Result<Vec<Word>> {
        let arguments = ["-", "-", "--psm", &options.segmentation.to_string(), "tsv"].map(str::to_owned);
        Ok(tsv::parse_words(&run(&self.path, &arguments, page.to_pgm(), waiting)?))
    }
}

/// Runs it once. It is ended when the caller has waited long enough, or takes the call back.
fn run(path: &std::path::Path, arguments: &[String], input: Vec<u8>, waiting: &Waiting) -> Result<String> {
    let mut child = Leashed::spawn(path, arguments)?;
    // The sender goes away with the statement, so the input is closed behind the picture.
    let _ = child.feed_input().send(std::sync::Arc::new(input));
    let complaints = child.collect_stderr(MOST_COMPLAINTS);
    let output = child.drain_output(|output, results| {
        let mut text = Vec::new();
        if output.take(MOST_OUTPUT + 1).read_to_end(&mut text).is_ok() {
            let _ = results.send(text);
        }
    });
    let text = waiting.receive(&output, "for tesseract")?.unwrap_or_default();
    if text.len() as u64 > MOST_OUTPUT {
        return Err(Error::internal(format!("{} wrote more than {MOST_OUTPUT} bytes", path.display())));
    }
    if child.exited_well(waiting)? {
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
    let said = waiting.receive(&complaints, "for tesseract's error")?.unwrap_or_default();
    let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it printed no error");
    Err(Error::new(Kind::PlatformUnsupported, format!("{} failed: {said}", path.display())))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::clock::{Clock, sleep_really};
    use crate::model::image::Picture;
    use std::os::unix::fs::PermissionsExt;

    /// A folder with a script that stands for tesseract.
    fn script(body: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tesseract");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        (folder, path)
    }

    fn page() -> GreyPage {
        GreyPage::of(&Picture::new(300, 200, [255; 4]).unwrap(), 2, true, false).unwrap()
    }

    fn read(body: &str, patience: Duration, cancel: &Cancel) -> Result<Vec<Word>> {
        let (_folder, path) = script(body);
        let program = TesseractProgram { path, version: String::new() };
        let options = Options { segmentation: 11, upscale: 2, labels: false };
        program.read_words(&page(), options, &Waiting::new(patience, cancel))
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn it_gets_the_picture_its_arguments_and_one_thread() {
        let body = r#"size=$(wc -c); printf '5\t1\t1\t1\t1\t1\t2\t4\t6\t8\t90\t%s\n' "$*,$OMP_THREAD_LIMIT,$size" | tr ' ' '_'"#;
        let words = read(body, LONG, &Cancel::new()).unwrap();
        assert_eq!(words[0].text, format!("-_-_--psm_11_tsv,1,{}", page().to_pgm().len()));
    }

    #[test]
    fn a_slow_one_is_ended() {
        let began = Clock::real();
        let error = read("exec sleep 60", Duration::from_millis(200), &Cancel::new()).unwrap_err();
        assert_eq!(error.kind, Kind::Timeout, "{error}");
        assert!(error.message.contains("0.2 s"), "{error}");
        assert!(began.now() < LONG);
    }

    #[test]
    fn a_cancelled_one_is_ended() {
        let (began, cancel) = (Clock::real(), Cancel::new());
        let other = cancel.clone();
        std::thread::spawn(move || {
            sleep_really(Duration::from_millis(100));
            other.fire();
        });
        assert_eq!(read("exec sleep 60", LONG, &cancel).unwrap_err(), Error::cancelled());
        assert!(began.now() < LONG);
    }

    #[test]
    fn a_failure_is_told_in_its_words() {
        let error = read("echo 'no eng.traineddata' >&2; exit 1", LONG, &Cancel::new()).unwrap_err();
        assert_eq!(error.kind, Kind::PlatformUnsupported);
        assert!(error.message.ends_with("failed: no eng.traineddata"), "{error}");
    }

    #[test]
    fn endless_output_is_cut_off() {
        let error = read("exec yes 5", LONG, &Cancel::new()).unwrap_err();
        assert!(error.message.contains("more than"), "{error}");
    }

    #[test]
    fn one_without_a_language_is_no_engine() {
        let (_folder, path) = script("echo osd");
        let error = TesseractProgram::start(path).err().unwrap();
        assert!(error.message.contains("eng.traineddata"), "{error}");
        let (_folder, path) = script("echo tesseract 9; echo eng");
        assert!(TesseractProgram::start(path).unwrap().describe().starts_with("tesseract 9 (program "));
    }

    #[test]
    fn one_that_does_not_start_is_no_engine() {
        let (folder, path) = script("exit 0");
        drop(folder);
        assert_eq!(TesseractProgram::start(path).err().unwrap().kind, Kind::PlatformUnsupported);
    }
}
