//! What can be read from the picture of a window: words, lines and text.
//!
//! Whatever is secret is black before an engine sees the picture, and what was read is redacted before it
//! leaves here, so that nobody downstream can show, store or match a hidden word.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::sketch::{OcrLine, SketchOptions, SketchReading, worth_reading};
use super::text_match::{TextPage, TextPiece};
use super::{Observer, ResolvedWindow, View, black_out};
use crate::clock::{Cancel, Waiting};
use crate::config;
use crate::error::{Error, Kind, Result};
use crate::model::image::{Picture, Rgba};
use crate::model::input::Handle;
use crate::model::{Element, Point, Rect, Role, TreeBuilder, Window, Word};
use crate::ocr::{Ocr, PictureTurn};
use crate::platform::Shot;

/// The role of a line that was read from a picture: it can be clicked, and is known by its words alone.
pub const TEXT_LINE: Role = Role::TextLine;

/// How far letters may reach out of the place that an application tells for them, in pixels.
const BEYOND_A_WORD: i32 = 3;

/// A picture without secrets of this desktop. Only from this is text read.
#[derive(Clone, Debug)]
pub struct Readable {
    picture: Picture,
    /// The part of the screen that it shows.
    area: Rect,
    /// What was blackened, on the screen.
    hidden: Vec<Rect>,
}

impl Readable {
    /// A picture that the caller had already: it learns nothing of this desktop from it.
    pub fn from_caller(picture: Picture) -> Self {
        let area = picture.area();
        Self { picture, area, hidden: Vec::new() }
    }

    pub fn area(&self) -> Rect {
        self.area
    }

    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// What it shows of a place on the screen.
    fn part_on_screen(&self, place: Rect) -> Readable {
        let (x, y) = (place.x.saturating_sub(self.area.x), place.y.saturating_sub(self.area.y));
        self.crop(Rect { x, y, ..place })
    }

    /// A part of it; `part` is in pixels of this picture.
    pub fn crop(&self, part: Rect) -> Readable {
        let part = part.intersection(&self.picture.area()).unwrap_or_default();
        let area =
            Rect { x: self.area.x.saturating_add(part.x), y: self.area.y.saturating_add(part.y), ..part };
        Readable { picture: self.picture.crop(part), area, hidden: self.hidden.clone() }
    }

    /// Whether nothing of it is to be seen.
    fn hides_everything(&self) -> bool {
        self.hidden.iter().any(|hidden| hidden.encloses(&self.area))
    }
}

/// Where text is looked for.
#[derive(Clone, Debug)]
pub enum OcrScene {
    /// What the window shows, also where others cover it; the part is given on the screen.
    Window { chosen: Box<ResolvedWindow>, part: Option<Rect> },
    /// What a part of the screen shows, whichever windows that is.
    Screen(Rect),
}

impl OcrScene {
    fn area(&self) -> Rect {
        match self {
            OcrScene::Window { chosen, .. } => chosen.raw.bounds,
            OcrScene::Screen(part) => *part,
        }
    }
}

/// How a scene is read.
#[derive(Clone, Copy, Debug)]
pub struct Care {
    /// How sure the engine has to be of a word, 0 to 100.
    pub least: f64,
    /// Words in lines, or each by itself.
    pub grouped: bool,
    /// Tesseract's page segmentation mode, if not the one for windows.
    pub segmentation: Option<u32>,
}

/// A piece of text that was found, with what it was found in.
#[derive(Clone, Debug)]
pub struct Spotted {
    pub scene: OcrScene,
    pub seen: Readable,
    pub piece: TextPiece,
    /// Which of how many that fit, from 1.
    pub number: usize,
    pub count: usize,
}

/// How many elements without a name were not read, and why.
struct UnreadElements {
    count: usize,
    why: String,
}

impl UnreadElements {
    fn warning_text(&self, total: usize) -> String {
        format!("{} of {total} elements without a name were not read: {}", self.count, self.why)
    }
}

impl Observer {
    pub fn with_ocr(mut self, settings: config::Ocr) -> Self {
        self.ocr = Ocr::new(settings, self.clock.clone());
        self
    }

    pub fn ocr(&self) -> &Ocr {
        &self.ocr
    }

    /// Waits until a picture of this part of the screen may be taken to be read: whoever takes one has a turn, until it was
    /// read. Nobody needs two.
    pub fn picture_turn(&self, area: Rect, cancel: &Cancel) -> Result<PictureTurn<'_>> {
        self.picture_turn_within(area, &self.ocr.start_deadline(cancel))
    }

    fn picture_turn_within(&self, area: Rect, waiting: &Waiting) -> Result<PictureTurn<'_>> {
        let side = |pixels: i32| u64::from(pixels.unsigned_abs());
        self.ocr.take_picture_turn(side(area.width) * side(area.height), waiting)
    }

    /// The window as an engine may see it.
    pub fn readable_picture(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Readable> {
        let take = || self.platform.capture().window_picture(&chosen.raw);
        // Where all of it is hidden, the frame and the shadow are too.
        let frame = chosen.raw.bounds;
        let places = || {
            let view = self.fresh_view(chosen, cancel)?;
            self.unreadable_regions(&chosen.raw, &view, cancel)
        };
        let (mut shot, mut hidden) = self.picture_without(take, places)?;
        if hidden.contains(&frame) {
            hidden.push(shot.area);
            black_out(&mut shot, &hidden);
        }
        smooth_over(&mut shot, &hidden);
        let Shot { picture, area } = shot;
        Ok(Readable { picture, area, hidden })
    }

    /// A part of the screen as an engine may see it: without what is secret in any window that is there.
    fn readable_screen(&self, part: Rect, cancel: &Cancel) -> Result<Readable> {
        let take = || self.platform.capture().region_picture(part);
        let places = || {
            let desktop = self.desktop()?;
            let mut hidden = Vec::new();
            for window in desktop.windows().iter().filter(|window| !self.is_withheld(window)) {
                let there = !self.knows_places() || window.bounds.intersects(&part);
                if there && !window.minimized {
                    let view = self.fresh_view(&self.resolve_raw(&desktop, window, None), cancel)?;
                    hidden.extend(self.unreadable_regions(window, &view, cancel)?);
                }
            }
            if !hidden.is_empty() {
                self.require_places("to black out what redaction hides before OCR")?;
            }
            Ok(hidden)
        };
        let (mut shot, hidden) = self.picture_without(take, places)?;
        smooth_over(&mut shot, &hidden);
        Ok(Readable { picture: shot.picture, area: shot.area, hidden })
    }

    /// What must be black in a picture of the window before it is read: hidden words where the application tells where
    /// they stand, and otherwise the whole element.
    fn unreadable_regions(&self, window: &Window, view: &View, cancel: &Cancel) -> Result<Vec<Rect>> {
        let mut regions = Vec::new();
        for place in view.unreadable_places(&self.redactor, window, window.bounds) {
            let words = match (&place.words, view.native_handle(place.node)) {
                (Some(words), Some(native)) if self.knows_places() => {
                    let element = Handle { window_uid: window.uid.clone(), native };
                    let accessibility = self.platform.accessibility();
                    accessibility.text_places(&element, &words.text, &words.characters, cancel)?
                }
                _ => None,
            };
            // Letters reach a little beyond their places.
            let grown =
                |words: Vec<Rect>| words.into_iter().map(|word| word.grown_by(BEYOND_A_WORD)).collect();
            let inside = |words: &Vec<Rect>| words.iter().all(|word| place.bounds.encloses(word));
            regions.extend(words.filter(inside).map_or_else(|| vec![place.bounds], grown));
        }
        Ok(regions)
    }

    /// What can be read there. What redaction covers is left out and parts the line, so that it is neither found nor
    /// bridged.
    pub fn read_scene(&self, scene: &OcrScene, care: &Care, cancel: &Cancel) -> Result<(Readable, TextPage)> {
        // The reason why nothing can be read comes before the work that would be for nothing.
        self.ocr.describe()?;
        let _turn = self.picture_turn(scene.area(), cancel)?;
        let readable = self.readable_scene(scene, cancel)?;
        let waiting = self.ocr.start_deadline(cancel);
        let read = self.ocr.read_window(&readable.picture, care.segmentation, &waiting)?;
        let clear: Vec<Word> =
            read.iter().filter(|word| f64::from(word.confidence) >= care.least).cloned().collect();
        let mut shown = clear.clone();
        self.redact_lines(&mut shown);
        let page = TextPage::of(clear_lines(&clear, &shown), readable.area, care.grouped);
        Ok((readable, page))
    }

    fn readable_scene(&self, scene: &OcrScene, cancel: &Cancel) -> Result<Readable> {
        match scene {
            OcrScene::Screen(part) => self.readable_screen(*part, cancel),
            OcrScene::Window { chosen, part: None } => self.readable_picture(chosen, cancel),
            OcrScene::Window { chosen, part: Some(part) } => {
                self.require_places("to find a part of the screen in a window; leave out the region")?;
                let whole = self.readable_picture(chosen, cancel)?;
                let cut = whole.part_on_screen(*part);
                if cut.picture.is_empty() {
                    return Err(Error::bad_request("the region does not overlap the window")
                        .with("field", "region")
                        .with("window", whole.area));
                }
                Ok(cut)
            }
        }
    }

    /// Whether a place on the screen still looks as it did when it was read. Nothing is read again, and nothing that was
    /// hidden is compared.
    pub fn still_looks_like(&self, scene: &OcrScene, seen: &Readable, place: Rect) -> Result<bool> {
        let mut shot = match scene {
            OcrScene::Window { chosen, .. } => self.platform.capture().window_picture(&chosen.raw)?,
            OcrScene::Screen(_) => self.platform.capture().region_picture(seen.area)?,
        };
        black_out(&mut shot, &seen.hidden);
        smooth_over(&mut shot, &seen.hidden);
        let Some(place) = place.intersection(&seen.area) else {
            return Ok(false);
        };
        Ok(shot.part(place).picture == seen.part_on_screen(place).picture)
    }

    /// The words of which the engine is at least as sure as `least` (0 to 100), with boxes in pixels of
    /// the picture.
    pub fn read_words(&self, readable: &Readable, least: f64, cancel: &Cancel) -> Result<Vec<Word>> {
        let read = self.ocr.read_window(&readable.picture, None, &self.ocr.start_deadline(cancel))?;
        Ok(self.clear_words(&read, least))
    }

    /// The words that are sure enough, as they may be shown.
    fn clear_words(&self, read: &[Word], least: f64) -> Vec<Word> {
        let mut words: Vec<Word> =
            read.iter().filter(|word| f64::from(word.confidence) >= least).cloned().collect();
        self.redact_lines(&mut words);
        words
    }

    fn redact_lines(&self, words: &mut [Word]) {
        for line in words.chunk_by_mut(|one, next| one.line_key() == next.line_key()) {
            let mut texts: Vec<&mut String> = line.iter_mut().map(|word| &mut word.text).collect();
            self.redactor.line_of_words(&mut texts);
        }
    }

    fn window_words(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<(Readable, Vec<Word>)> {
        // The reason why nothing can be read comes before the work that would be for nothing.
        self.ocr.describe()?;
        let _turn = self.picture_turn(chosen.raw.bounds, cancel)?;
        let readable = self.readable_picture(chosen, cancel)?;
        let words = self.read_words(&readable, self.ocr.settings().min_confidence, cancel)?;
        Ok((readable, words))
    }

    /// The text that can be read in a window: a line of text a line, a blank line between blocks; empty
    /// when there is none.
    pub fn ocr_text(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<String> {
        let (_, words) = self.window_words(chosen, cancel)?;
        Ok(text_of(&words))
    }

    /// The same, given up where it takes longer.
    pub fn ocr_text_within(
        &self,
        patience: Duration,
        chosen: &ResolvedWindow,
        cancel: &Cancel,
    ) -> Result<String> {
        self.ocr.describe()?;
        let waiting = self.ocr.start_deadline_within(patience, cancel);
        let _turn = self.picture_turn_within(chosen.raw.bounds, &waiting)?;
        let readable = self.readable_picture(chosen, cancel)?;
        let read = self.ocr.read_window(&readable.picture, None, &waiting)?;
        Ok(text_of(&self.clear_words(&read, self.ocr.settings().min_confidence)))
    }

    /// What can be read in a window for its sketch: the lines of the whole, and the names of elements that
    /// have none. The second value says which of them were left unread.
    pub fn read_for_sketch(
        &self,
        chosen: &ResolvedWindow,
        view: &View,
        options: &SketchOptions,
        cancel: &Cancel,
    ) -> Result<(SketchReading, Option<String>)> {
        let (readable, words) = self.window_words(chosen, cancel)?;
        let lines = words.chunk_by(|one, next| one.line_key() == next.line_key());
        let lines = lines.map(|words| line_of(words, readable.area)).collect();
        let parts: Vec<(usize, Readable)> = worth_reading(view.tree(), options)
            .into_iter()
            .map(|node| (node, readable.part_on_screen(view.tree()[node].bounds)))
            .filter(|(_, part)| !part.picture.is_empty())
            .collect();
        // From here on the parts are enough.
        drop(readable);
        let total = parts.len();
        let (hidden, parts): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|(_, part)| part.hides_everything());
        let (names, unread) = self.read_parts(parts, cancel)?;
        let hidden = (!hidden.is_empty())
            .then(|| UnreadElements { count: hidden.len(), why: "they are hidden".to_owned() });
        let warnings: Vec<String> =
            hidden.iter().chain(&unread).map(|unread| unread.warning_text(total)).collect();
        Ok((SketchReading { lines, names }, (!warnings.is_empty()).then(|| warnings.join("; "))))
    }

    /// A window that shows no elements, by the lines that can be read in it: each stands below the root.
    pub fn view_by_reading(
        &self,
        chosen: &ResolvedWindow,
        view: &View,
        cancel: &Cancel,
    ) -> Result<Arc<View>> {
        let began = self.clock.now();
        let (readable, words) = self.window_words(chosen, cancel)?;
        let mut builder = TreeBuilder::new(view.tree().root().clone());
        let lines = words.chunk_by(|one, next| one.line_key() == next.line_key()).map(<[Word]>::to_vec);
        let page = TextPage::of(lines.collect(), readable.area, true);
        for line in page.all_lines().into_iter().filter(|line| !is_noise(line)) {
            builder.add_leaf(Element::new(TEXT_LINE, line.text, line.bounds));
        }
        let mut tree = builder.finish();
        tree.lacking = view.tree().lacking.clone();
        // What was read is redacted already, so both trees are the same one.
        let (tree, took) = (Arc::new(tree), self.clock.now().saturating_sub(began));
        Ok(Arc::new(View::new(tree.clone(), tree, took, self.clock.wall_time())))
    }

    /// The window as a person sees it: by its elements, or by what can be read in it where it shows none. What can neither
    /// be listed nor read stays as it is.
    pub fn view_or_reading(
        &self,
        chosen: &ResolvedWindow,
        view: Arc<View>,
        cancel: &Cancel,
    ) -> Result<Arc<View>> {
        if !view.is_dark() || !self.ocr.is_available() {
            return Ok(view);
        }
        match self.view_by_reading(chosen, &view, cancel) {
            Ok(read) => Ok(read),
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            Err(error) => {
                tracing::debug!("the window {} is not read: {}", chosen.window.uid, error.message);
                Ok(view)
            }
        }
    }

    /// Reads part after part. All together have the time of one picture, so that a window of many pictures
    /// holds up nobody for long.
    fn read_parts(
        &self,
        parts: Vec<(usize, Readable)>,
        cancel: &Cancel,
    ) -> Result<(BTreeMap<usize, String>, Option<UnreadElements>)> {
        let (total, most) = (parts.len(), self.ocr.settings().max_roi_crops);
        let waiting = self.ocr.start_deadline(cancel);
        let mut names = BTreeMap::new();
        for (done, (node, part)) in parts.into_iter().take(most).enumerate() {
            match self.text_of_part(&part, &waiting) {
                Ok(text) if text.is_empty() => {}
                Ok(text) => drop(names.insert(node, text)),
                Err(error) if error.kind == Kind::Cancelled => return Err(error),
                Err(Error { message, .. }) => {
                    return Ok((names, Some(UnreadElements { count: total - done, why: message })));
                }
            }
        }
        let too_many = || UnreadElements { count: total - most, why: format!("ocr.max_roi_crops is {most}") };
        Ok((names, (total > most).then(too_many)))
    }

    fn text_of_part(&self, part: &Readable, waiting: &Waiting) -> Result<String> {
        // An empty panel needs no engine to say so.
        if part.picture.is_one_colour() {
            return Ok(String::new());
        }
        let read = self.ocr.read_words(&part.picture, self.ocr.part_options(), waiting)?;
        Ok(join_words(&self.clear_words(&read, self.ocr.settings().min_confidence)))
    }
}

/// Gives what was blackened the colour that most of what is around it has: an engine takes the edges of black for letters,
/// and misses those beside it.
fn smooth_over(shot: &mut Shot, hidden: &[Rect]) {
    for region in hidden {
        let (x, y) = (region.x.saturating_sub(shot.area.x), region.y.saturating_sub(shot.area.y));
        let region = Rect { x, y, ..*region };
        if let Some(color) = colour_around(&shot.picture, region) {
            shot.picture.fill(region, color);
        }
    }
}

/// The colour of most pixels that lie right beside a place.
fn colour_around(picture: &Picture, place: Rect) -> Option<Rgba> {
    let around = place.grown_by(1).intersection(&picture.area())?;
    let (last_x, last_y) = (around.right() - 1, around.bottom() - 1);
    let level = (around.x..=last_x).flat_map(|x| [(x, around.y), (x, last_y)]);
    let upright = (around.y..=last_y).flat_map(|y| [(around.x, y), (last_x, y)]);
    let mut counts: BTreeMap<Rgba, usize> = BTreeMap::new();
    for (x, y) in level.chain(upright).filter(|&(x, y)| !place.contains(Point { x, y })) {
        *counts.entry(picture.pixel(x, y)?).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(color, _)| color)
}

/// The lines without what redaction covers: there a line parts.
fn clear_lines(read: &[Word], shown: &[Word]) -> Vec<Vec<Word>> {
    let told: Vec<(&Word, bool)> =
        read.iter().zip(shown).map(|(word, shown)| (word, word.text == shown.text)).collect();
    let lines = told.chunk_by(|(one, _), (next, _)| one.line_key() == next.line_key());
    let parts = lines.flat_map(|line| line.split(|(_, clear)| !clear));
    parts.map(|part| part.iter().map(|(word, _)| (*word).clone()).collect()).collect()
}

/// What an engine makes of icons and borders: signs, or a letter or two, of which it is not sure itself. A sign that it is
/// sure of is what a button says.
fn is_noise(line: &TextPiece) -> bool {
    let letters = line.text.chars().filter(|letter| letter.is_alphanumeric()).count();
    let least = match letters {
        0 => SURE_OF_SIGNS,
        1 | 2 => SURE_OF_LETTERS,
        _ => 0.0,
    };
    line.confidence < least
}

/// How sure an engine has to be of signs, and of a letter or two, for a line of an outline (0 to 100).
const SURE_OF_SIGNS: f32 = 75.0;
const SURE_OF_LETTERS: f32 = 55.0;

fn text_of(words: &[Word]) -> String {
    let blocks = words.chunk_by(|one, next| one.block == next.block);
    let blocks: Vec<String> = blocks
        .map(|block| {
            let lines = block.chunk_by(|one, next| one.line_key() == next.line_key());
            lines.map(join_words).collect::<Vec<_>>().join("\n")
        })
        .collect();
    blocks.join("\n\n")
}

fn join_words(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn line_of(words: &[Word], area: Rect) -> OcrLine {
    let least = |value: fn(&Rect) -> i32| words.iter().map(|word| value(&word.bbox)).min().unwrap_or(0);
    let most = |value: fn(&Rect) -> i32| words.iter().map(|word| value(&word.bbox)).max().unwrap_or(0);
    let (x, y) = (least(|bbox| bbox.x), least(|bbox| bbox.y));
    let bounds = Rect {
        x: x.saturating_add(area.x),
        y: y.saturating_add(area.y),
        width: most(Rect::right) - x,
        height: most(Rect::bottom) - y,
    };
    let sum: f32 = words.iter().map(|word| word.confidence).sum();
    OcrLine { text: join_words(words), bounds, confidence: sum / words.len().max(1) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, x: i32, block: u32, line: u32) -> Word {
        let confidence = if x == 0 { 90.0 } else { 70.0 };
        let bbox = Rect::new(x, 10 * line as i32, 20, 10);
        Word { text: text.to_owned(), confidence, bbox, block, paragraph: 1, line }
    }

    #[test]
    fn words_make_lines_and_lines_blocks() {
        let words = [
            word("a", 0, 1, 1),
            word("b", 30, 1, 1),
            word("c", 0, 1, 2),
            word("d", 0, 2, 1),
            word("e", 0, 3, 1),
        ];
        assert_eq!(text_of(&words), "a b\nc\n\nd\n\ne");
        assert_eq!(text_of(&[]), "");
    }

    #[test]
    fn what_an_engine_makes_of_icons_is_no_line() {
        let check = |text: &str, confidence: f32, expected: bool| {
            let sure = Word { confidence, ..word(text, 0, 1, 1) };
            let page = TextPage::of(vec![vec![sure]], Rect::new(0, 0, 99, 99), false);
            assert_eq!(page.all_lines().iter().any(is_noise), expected, "{text} {confidence}");
        };
        check("|_", 40.0, true);
        check("©", 74.0, true);
        check("x\u{b7}", 50.0, true);
        // What buttons say, and words that are hard to read.
        check("=", 90.0, false);
        check("OK", 60.0, false);
        check("Save", 31.0, false);
    }

    #[test]
    fn a_line_spans_its_words_on_the_screen() {
        let line = line_of(&[word("a", 0, 1, 2), word("b", 30, 1, 2)], Rect::new(100, 200, 50, 50));
        let expected =
            OcrLine { text: "a b".to_owned(), bounds: Rect::new(100, 220, 50, 10), confidence: 80.0 };
        assert_eq!(line, expected);
    }

    #[test]
    fn what_is_hidden_has_the_colour_around_it() {
        let picture = Picture::new(40, 30, [9, 9, 9, 255]).unwrap();
        let mut shot = Shot { picture, area: Rect::new(100, 200, 40, 30) };
        let (word, edge) = (Rect::new(110, 210, 5, 5), Rect::new(90, 190, 20, 20));
        black_out(&mut shot, &[word, edge]);
        smooth_over(&mut shot, &[word, edge]);
        assert!(shot.picture.is_one_colour());
        // All of it: nothing is around it.
        let all = shot.area;
        black_out(&mut shot, &[all]);
        smooth_over(&mut shot, &[all]);
        assert_eq!(shot.picture.pixel(3, 3), Some([0, 0, 0, 255]));
    }

    #[test]
    fn a_part_knows_where_it_was() {
        let whole = Readable {
            picture: Picture::new(40, 30, [255; 4]).unwrap(),
            area: Rect::new(100, 200, 40, 30),
            hidden: vec![Rect::new(110, 210, 5, 5)],
        };
        assert!(
            !whole.hides_everything() && whole.part_on_screen(Rect::new(111, 211, 3, 3)).hides_everything()
        );
        assert_eq!(whole.crop(Rect::new(30, 20, 99, 99)).area(), Rect::new(130, 220, 10, 10));
        assert!(whole.crop(Rect::new(40, 0, 5, 5)).picture().is_empty());
    }
}
