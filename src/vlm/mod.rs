//! A window as a vision model sees it: the `[vlm]` part of a description.
//!
//! The prompt and the picture are a way out of this machine, so they are made only of what may be shown, and
//! whatever is private in the picture is black. Nothing is sent before the budget has room for it.

pub mod client;
pub mod multipass;
pub mod picker;
mod prompts;
pub mod runner;

use crate::budget::{Meter, Reservation};
use crate::config::{AsciiSketch, Vlm, VlmMode};
use crate::error::{Error, Kind, Result};
use crate::model::image::Picture;
use crate::model::{Rect, Tree};
use crate::observer::describe;
use crate::observer::sketch::{SketchOptions, SketchReading, draw_sketch};
use crate::privacy::scrub::Scrub;
use crate::tool::Cx;
use crate::tool::services::{VisionAnswer, VisionModel, VisionScene, VisionWish};

use client::{Client, KnownPrefix, ModelAnswer, ModelFailure, ModelRequest};
use prompts::{Block, first_characters, first_lines};

/// What the server remembers about its model server.
#[derive(Debug, Default)]
pub struct Vision {
    known: KnownPrefix,
}

impl VisionModel for Vision {
    fn describe(&self, cx: &Cx, wish: VisionWish, scene: &VisionScene) -> Result<Option<VisionAnswer>> {
        let enabled = cx.config().vlm.enabled;
        match wish {
            VisionWish::Unwanted => return Ok(None),
            VisionWish::Welcome if !enabled => return Ok(None),
            VisionWish::Welcome | VisionWish::Required => {}
        }
        // The other parts of the description are worth something without this one.
        match describe_scene(cx, &self.known, scene) {
            Err(error) if error.kind == Kind::Cancelled => Err(error),
            Err(error) => {
                let why = if is_refusal(error.kind) { "VLM not asked" } else { "VLM failed" };
                let text = format!("[{why}: {}]", error.message);
                Ok(Some(VisionAnswer { text, structured: None }))
            }
            Ok(answer) => Ok(Some(answer)),
        }
    }
}

fn is_refusal(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::BudgetExceeded | Kind::RateLimited | Kind::PermissionDenied | Kind::PlatformUnsupported
    )
}

/// Says how to switch it on, when it is off.
pub fn check_enabled(config: &Vlm) -> Result<()> {
    if config.enabled {
        return Ok(());
    }
    Err(Error::new(
        Kind::PlatformUnsupported,
        "no vision model is enabled; set vlm.enabled, vlm.base_url and vlm.model in the config \
         (`os-screen-observer models --pick` helps to choose), or use mode accessibility",
    ))
}

fn model_of(config: &Vlm) -> Result<&str> {
    config.model.as_deref().ok_or_else(|| {
        Error::new(
            Kind::PlatformUnsupported,
            "no vision model is chosen; set vlm.model in the config or run `os-screen-observer models --pick`",
        )
    })
}

fn describe_scene(cx: &Cx, known: &KnownPrefix, scene: &VisionScene) -> Result<VisionAnswer> {
    let config = &cx.config().vlm;
    check_enabled(config)?;
    let model = model_of(config)?;
    let client = Client::new(config, known)?;
    let scrub = Scrub::of(cx.redactor());
    let blocks = prompt_blocks(cx, scene, &scrub);
    let (width, height) = sent_size(scene, config.image_max_dim);
    let tally = Tally::open(cx, estimate_tokens(config, &blocks, picture_tokens(width, height)))?;
    let picture = cx.observer().picture_to_send(scene.chosen, cx.cancel)?.picture;
    let picture = shrink_picture(&picture, config.image_max_dim);
    let png = picture.to_png()?;
    let picture_tokens = picture_tokens(picture.width(), picture.height());
    let mut asker = Asker { cx, config, client, png, picture_tokens, tally };
    match config.mode {
        VlmMode::Single => asker.single_pass(model, &blocks),
        VlmMode::Multipass => asker.multi_pass(model, &blocks, &scrub),
    }
}

/// Sends questions and keeps count of what they used.
struct Asker<'a> {
    cx: &'a Cx<'a>,
    config: &'a Vlm,
    client: Client<'a>,
    png: Vec<u8>,
    picture_tokens: u64,
    tally: Tally,
}

impl Asker<'_> {
    fn single_pass(&mut self, model: &str, blocks: &[Block]) -> Result<VisionAnswer> {
        let question = prompts::with_blocks(single_prompt(self.config), blocks);
        let answer = self.ask_model(model, &question, true);
        answer.map(|text| VisionAnswer { text, structured: None }).map_err(|failure| failure.error)
    }

    fn multi_pass(&mut self, model: &str, blocks: &[Block], scrub: &Scrub) -> Result<VisionAnswer> {
        let (config, clock) = (self.config, self.cx.clock());
        let clean = |text: &str| scrub.text(text).into_owned();
        let found = multipass::describe(config, blocks, clock, clean, |pass, question| {
            self.ask_model((pass.model)(config).unwrap_or(model), question, pass.sees_picture)
        })?;
        let text = serde_json::to_string_pretty(&found).unwrap_or_else(|_| found.to_string());
        Ok(VisionAnswer { text, structured: Some(found) })
    }

    fn ask_model(&mut self, model: &str, prompt: &str, with_picture: bool) -> Result<String, ModelFailure> {
        let ask = ModelRequest {
            model,
            prompt,
            png: with_picture.then_some(self.png.as_slice()),
            max_tokens: self.config.max_tokens,
            temperature: self.config.temperature,
        };
        let asked = text_tokens(prompt) + if with_picture { self.picture_tokens } else { 0 };
        let result = self.client.ask_model(&ask, self.cx.cancel);
        self.tally.add(match &result {
            Ok(ModelAnswer { tokens: Some(tokens), .. }) => *tokens,
            Ok(ModelAnswer { text, .. }) => asked + text_tokens(text),
            Err(failure) if failure.may_have_cost => asked,
            Err(_) => 0,
        });
        result.map(|answer| answer.text)
    }
}

/// What a description has used so far. However it ends, that much is charged and the rest given back.
struct Tally {
    reservation: Option<Reservation>,
    used: u64,
}

impl Tally {
    /// A picture that leaves the machine counts as a screenshot.
    fn open(cx: &Cx, estimate: u64) -> Result<Self> {
        let reservation = cx.reserve_budget(&[Meter::Screenshot, Meter::VlmTokens(estimate)]);
        Ok(Self {
            reservation: Some(reservation.map_err(|error| error.with("estimated_tokens", estimate))?),
            used: 0,
        })
    }

    fn add(&mut self, tokens: u64) {
        self.used = self.used.saturating_add(tokens);
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        if let Some(mut reservation) = self.reservation.take() {
            reservation.set_vlm_tokens(self.used);
            reservation.commit();
        }
    }
}

/// The most that the questions can use: what is asked, and as much answer as is allowed.
fn estimate_tokens(config: &Vlm, blocks: &[Block], picture: u64) -> u64 {
    let answer = u64::from(config.max_tokens);
    match config.mode {
        VlmMode::Single => {
            text_tokens(&prompts::with_blocks(single_prompt(config), blocks)) + picture + answer
        }
        VlmMode::Multipass => multipass::enabled_passes(config)
            .map(|pass| {
                let asked = text_tokens(&pass.pass_prompt(config, blocks, None));
                let seen = if pass.sees_picture { picture } else { 0 };
                // What earlier passes answered is asked again.
                asked + seen + if pass.sees_findings { 2 * answer } else { answer }
            })
            .sum(),
    }
}

fn single_prompt(config: &Vlm) -> &str {
    config.prompt_single.as_deref().unwrap_or(prompts::SINGLE)
}

fn text_tokens(text: &str) -> u64 {
    text.len() as u64 / 4 + 1
}

/// About what the large models count.
fn picture_tokens(width: u32, height: u32) -> u64 {
    u64::from(width) * u64::from(height) / 750 + 85
}

/// The blocks that the config asks for, redacted before they are cut.
fn prompt_blocks(cx: &Cx, scene: &VisionScene, scrub: &Scrub) -> Vec<Block> {
    let config = &cx.config().vlm;
    let clean = |text: &str| scrub.text(text).into_owned();
    let tree = || describe::describe_tree(&scene.chosen.window, scene.view.tree(), scene.node);
    let drawn = || sketch_text(scene, &cx.config().ascii_sketch);
    let wanted = [
        (
            "ACCESSIBILITY_TREE",
            config.ground_with_tree.then(|| first_lines(&clean(&tree()), config.tree_max_lines)),
        ),
        (
            "OCR_TEXT",
            scene
                .ocr
                .filter(|_| config.ground_with_ocr)
                .map(|text| first_characters(&clean(text), config.ocr_max_chars)),
        ),
        (
            "ASCII_SKETCH",
            config.ground_with_sketch.then(|| first_characters(&clean(&drawn()), config.sketch_max_chars)),
        ),
        (
            "FOCUSED_ELEMENT",
            focused_label(scene).filter(|_| config.ground_with_focus).map(|text| clean(&text)),
        ),
    ];
    let present = wanted.into_iter().filter_map(|(name, text)| Some(Block { name, text: text? }));
    present.collect()
}

fn sketch_text(scene: &VisionScene, config: &AsciiSketch) -> String {
    draw_sketch(
        scene.view.tree(),
        scene.chosen.window.bounds,
        &SketchOptions::from(config),
        &SketchReading::default(),
    )
    .text
}

fn focused_label(scene: &VisionScene) -> Option<String> {
    let tree: &Tree = scene.view.tree();
    let node = tree.focused()?;
    let (element, bounds) = (&tree[node], tree[node].bounds);
    let value = element.value.as_ref().map(|value| format!(" = {value:?}")).unwrap_or_default();
    Some(format!(
        "{} {:?}{value} @({},{}) {}×{}\n{}",
        element.role,
        element.name,
        bounds.x,
        bounds.y,
        bounds.width,
        bounds.height,
        scene.view.derived_selector(node)
    ))
}

/// How large the picture will be, known before it is taken so that the budget can be asked first.
fn sent_size(scene: &VisionScene, longest: u32) -> (u32, u32) {
    let bounds = scene.chosen.window.bounds;
    let side = |pixels: i32| u32::try_from(pixels).unwrap_or(0).min(longest);
    (side(bounds.width), side(bounds.height))
}

/// The picture with its longer edge at most `longest`.
fn shrink_picture(picture: &Picture, longest: u32) -> Picture {
    let (width, height) = (u64::from(picture.width()), u64::from(picture.height()));
    let fitting = if height > width { width * u64::from(longest) / height } else { u64::from(longest) };
    let small = picture.shrink_to(u32::try_from(fitting.max(1)).unwrap_or(longest));
    // Something a hundred times as long as it is wide cannot get thinner than a pixel.
    let side = i32::try_from(longest).unwrap_or(i32::MAX);
    if small.width().max(small.height()) > longest { small.crop(Rect::new(0, 0, side, side)) } else { small }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::image::BLACK;

    #[track_caller]
    fn check_shrunk(size: (u32, u32), longest: u32, expected: (u32, u32)) {
        let small = shrink_picture(&Picture::new(size.0, size.1, BLACK).unwrap(), longest);
        assert_eq!((small.width(), small.height()), expected, "{size:?} to {longest}");
    }

    #[test]
    fn the_longer_edge_fits() {
        check_shrunk((800, 600), 1600, (800, 600));
        check_shrunk((800, 600), 400, (400, 300));
        check_shrunk((600, 800), 400, (300, 400));
        check_shrunk((600, 800), 800, (600, 800));
        check_shrunk((2, 3000), 16, (1, 16));
    }

    #[test]
    fn more_passes_need_more_tokens() {
        let config = Vlm { model: Some("m".into()), max_tokens: 1000, ..Vlm::default() };
        let single = estimate_tokens(&config, &[], 100);
        assert!((1100..2000).contains(&single), "{single}");
        let passes = estimate_tokens(&Vlm { mode: VlmMode::Multipass, ..config.clone() }, &[], 100);
        assert!((4200..6000).contains(&passes), "{passes}");
        let verify = Vlm { mode: VlmMode::Multipass, model_verify: Some("v".into()), ..config };
        assert!(estimate_tokens(&verify, &[], 100) > passes + 2000);
    }
}
