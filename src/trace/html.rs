//! A trace as one page for a browser: steps at the left, at the right what a step did, the desktop before
//! and after it, and what differs.
//!
//! The page needs no network and is finished when it is written: its script only chooses which step is
//! shown. maud escapes every text that stands in the page, `clean` takes out what is invisible, and the page's own
//! policy allows no other script.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::compare::{SceneDifference, Sign, diff_scenes};
use super::recording::{LoadedTrace, RecordedWindow, StoryScene, StoryStep};
use super::text;
use crate::model::{Element, Rect, Role, Tree};
use crate::privacy::untrusted::clean_text;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// Pictures in one page together; beyond that a picture is named and not embedded.
const MOST_PICTURE_BYTES: usize = 64 * 1024 * 1024;
/// Elements drawn of one window; a picture with more shows nothing.
const MOST_DRAWN: usize = 4_000;
const MOST_DIFFERENCES: usize = 500;
/// Facts that share one line.
const SHORT_FACTS: &[&str] = &["time", "caller", "took"];

/// The whole page.
pub fn page(trace: &LoadedTrace) -> String {
    let mut page = TracePage { trace, drawings: Drawings::default(), picture_bytes: 0 };
    let steps: Vec<Markup> = trace.steps.iter().map(|step| page.step(step)).collect();
    let nonce = crate::random::random_token("n");
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (clean_text(trace.trace_id())) " – trace" }
                style nonce=(nonce) { (PreEscaped(STYLE)) }
            }
            body {
                (page_head(trace))
                div class="panes" {
                    nav aria-label="Steps" { ol { @for step in &trace.steps { (list_entry(step)) } } }
                    main { @for step in &steps { (step) } }
                }
                @for drawing in &page.drawings.definitions { (drawing) }
                script nonce=(nonce) { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn page_head(trace: &LoadedTrace) -> Markup {
    let head = text::trace_header(trace);
    let mut lines = head.lines();
    let title = lines.next().unwrap_or_default();
    let problems = text::trace_problems(trace);
    html! {
        header {
            div {
                h1 { (clean_text(title)) }
                @for line in lines { p { (clean_text(line)) } }
            }
            p class="keys" { kbd { "↑" } " " kbd { "↓" } " step" }
            @if !problems.is_empty() {
                details class="problems" open {
                    summary { "Incomplete: " (problems.len()) }
                    ul { @for problem in &problems { li { (clean_text(problem)) } } }
                }
            }
        }
    }
}

fn list_entry(step: &StoryStep) -> Markup {
    let row = &step.row;
    let outcome = text::outcome_text(row);
    let is_ok = outcome == "ok";
    html! {
        li {
            a href={ "#step-" (row.trace_seq) } class=(if is_ok { "ok" } else { "bad" }) {
                b { (row.trace_seq) }
                span class="what" {
                    strong { (clean_text(&row.tool)) }
                    @if text::has_changed(step) { i class="dot" title="changed" {} }
                    small {
                        @if !is_ok { em { (clean_text(&outcome)) } " " }
                        (clean_text(&gist(step)))
                    }
                }
                time { (clean_text(text::time_of_day(&row.ts).get(..8).unwrap_or_default())) }
            }
        }
    }
}

/// What a step was about: the element if it had one, else its arguments.
fn gist(step: &StoryStep) -> String {
    match step.row.target.as_ref().filter(|target| !target.role.is_empty()) {
        Some(target) if target.name.is_empty() => target.role.clone(),
        Some(target) => format!("{} “{}”", target.role, target.name),
        None => text::short_arguments(&step.row),
    }
}

struct TracePage<'a> {
    trace: &'a LoadedTrace,
    drawings: Drawings,
    picture_bytes: usize,
}

impl TracePage<'_> {
    fn step(&mut self, step: &StoryStep) -> Markup {
        let row = &step.row;
        let told = text::row_facts(row);
        let (short, long): (Vec<_>, Vec<_>) = told.iter().partition(|(name, _)| SHORT_FACTS.contains(name));
        let short: Vec<String> =
            short.iter().map(|(name, value)| format!("{name} {}", clean_text(value))).collect();
        let pictures = self.pictures(step);
        html! {
            section id={ "step-" (row.trace_seq) } hidden {
                h2 { b { (row.trace_seq) } " " (clean_text(&row.tool)) " " (badge(step)) }
                p class="quiet" { (short.join(" · ")) }
                dl { @for (name, value) in &long { dt { (name) } dd { (clean_text(value)) } } }
                (self.changes(step))
                (pictures)
            }
        }
    }

    fn changes(&self, step: &StoryStep) -> Markup {
        if !self.trace.tells_of_windows() {
            return html! {};
        }
        let found = diff_scenes(&step.before, &step.after);
        let more = found.len().saturating_sub(MOST_DIFFERENCES);
        html! {
            h3 { "What changed" }
            @if found.is_empty() {
                p class="quiet" { "No visible change." }
            } @else {
                ul class="changes" {
                    @for found in found.iter().take(MOST_DIFFERENCES) { (difference(found)) }
                    @if more > 0 { li { "… and " (more) " more" } }
                }
            }
        }
    }

    fn pictures(&mut self, step: &StoryStep) -> Markup {
        let drawings = self.desktops(step);
        let shots = self.screenshots(step);
        html! { div class="pictures" { @for figure in drawings.iter().chain(&shots) { (figure) } } }
    }

    /// The desktop before and after the step, or once if it is the same.
    fn desktops(&mut self, step: &StoryStep) -> Vec<Markup> {
        if !self.trace.tells_of_windows() {
            return Vec::new();
        }
        let marked = step.row.target.as_ref().and_then(|target| {
            let seen = step.before.iter().find(|seen| seen.window.window_uid == target.window_uid)?;
            let tree = seen.tree.as_ref()?;
            Some(tree[tree.find_id(&target.element_id)?].bounds)
        });
        let frame = frame_of(&[&step.before, &step.after]);
        if step.before == step.after {
            return vec![self.drawing(&step.before, frame, marked, "before and after")];
        }
        let before = self.drawing(&step.before, frame, marked, "before");
        vec![before, self.drawing(&step.after, frame, None, "after")]
    }

    fn drawing(&mut self, scene: &StoryScene, frame: Rect, marked: Option<Rect>, caption: &str) -> Markup {
        let id = self.drawings.of(scene);
        let Rect { x, y, width, height } = frame;
        html! {
            figure {
                figcaption { (caption) }
                svg viewBox={ (x) " " (y) " " (width) " " (height) } role="img" aria-label={ "the desktop " (caption) } {
                    use href={ "#" (id) } {}
                    @if let Some(mark) = marked { (rectangle(mark, "target")) }
                }
            }
        }
    }

    fn screenshots(&mut self, step: &StoryStep) -> Vec<Markup> {
        let row = &step.row;
        let references = [("window", &row.screenshot_window_ref), ("screen", &row.screenshot_full_ref)];
        let given = references.into_iter().filter_map(|(what, reference)| Some((what, reference.as_ref()?)));
        given.map(|(what, reference)| self.screenshot(what, reference)).collect()
    }

    fn screenshot(&mut self, what: &str, reference: &str) -> Markup {
        let content = match self.trace.read_picture(reference) {
            Ok(bytes) if self.picture_bytes + bytes.len() <= MOST_PICTURE_BYTES => {
                self.picture_bytes += bytes.len();
                html! { img alt=(what) src={ "data:image/png;base64," (STANDARD.encode(bytes)) }; }
            }
            Ok(_) => html! {
                p class="quiet" { (clean_text(reference)) " is not embedded: the page would be too large." }
            },
            Err(problem) => html! {
                p class="quiet" { (clean_text(reference)) " cannot be shown: " (clean_text(&problem)) }
            },
        };
        html! { figure { figcaption { "screenshot of the " (what) } (content) } }
    }
}

fn badge(step: &StoryStep) -> Markup {
    let outcome = text::outcome_text(&step.row);
    let class = if outcome == "ok" { "badge good" } else { "badge wrong" };
    html! {
        span class=(class) { (clean_text(&outcome)) }
        @if text::has_changed(step) { span class="badge" { "changed" } }
    }
}

fn difference(difference: &SceneDifference) -> Markup {
    let class = match difference.sign {
        Sign::Added => "added",
        Sign::Removed => "removed",
        Sign::Changed => "changed",
    };
    html! {
        li class=(class) {
            b { (difference.sign.mark()) }
            span { (clean_text(&difference.text)) }
            small { (clean_text(&difference.window)) }
        }
    }
}

// ── drawings ────────────────────────────────────────────────────────────────────────────────────

/// Each desktop is drawn once, however many steps show it.
#[derive(Default)]
struct Drawings {
    ids: HashMap<*const Vec<RecordedWindow>, String>,
    /// Keeps what the keys point to alive.
    scenes: Vec<StoryScene>,
    definitions: Vec<Markup>,
}

impl Drawings {
    fn of(&mut self, scene: &StoryScene) -> String {
        if let Some(known) = self.scenes.iter().find(|known| **known == *scene) {
            return self.ids.get(&Arc::as_ptr(known)).cloned().unwrap_or_default();
        }
        let id = format!("desktop-{}", self.scenes.len() + 1);
        self.definitions.push(html! {
            svg width="0" height="0" aria-hidden="true" { defs { g id=(id) { (draw(scene)) } } }
        });
        self.ids.insert(Arc::as_ptr(scene), id.clone());
        self.scenes.push(Arc::clone(scene));
        id
    }
}

/// What surrounds all windows, with a margin.
fn frame_of(scenes: &[&StoryScene]) -> Rect {
    const MARGIN: i32 = 12;
    let windows = scenes.iter().flat_map(|scene| scene.iter()).map(|seen| seen.window.bounds);
    let around = windows.reduce(|all, window| {
        let (x, y) = (all.x.min(window.x), all.y.min(window.y));
        let width = all.right().max(window.right()).saturating_sub(x);
        Rect::new(x, y, width, all.bottom().max(window.bottom()).saturating_sub(y))
    });
    let around = around.filter(|around| !around.is_empty()).unwrap_or(Rect::new(0, 0, 640, 360));
    Rect::new(
        around.x.saturating_sub(MARGIN),
        around.y.saturating_sub(MARGIN),
        around.width.saturating_add(2 * MARGIN),
        around.height.saturating_add(2 * MARGIN),
    )
}

/// The focused window is drawn last, over the others.
fn draw(scene: &StoryScene) -> Markup {
    let mut windows: Vec<&RecordedWindow> = scene.iter().rev().collect();
    windows.sort_by_key(|seen| seen.window.focused);
    html! { @for seen in windows { (draw_window(seen)) } }
}

fn draw_window(seen: &RecordedWindow) -> Markup {
    let bounds = seen.window.bounds;
    let class = if seen.window.focused { "window focused" } else { "window" };
    let title = Rect::new(bounds.x, bounds.y, bounds.width, 26.min(bounds.height));
    html! {
        (rectangle(bounds, class))
        (rectangle(title, "title"))
        (text(&seen.window.title, title, "titletext"))
        @match &seen.tree {
            Some(tree) => { (draw_tree(tree)) },
            None => { (text("could not be read", bounds, "quiet")) },
        }
    }
}

fn draw_tree(tree: &Tree) -> Markup {
    // Of many copies at one place, as scrolled lists have them, one is enough.
    let mut drawn = HashSet::new();
    let mut is_drawn = |node: &usize| {
        let element = &tree[*node];
        !element.bounds.is_empty() && drawn.insert((element.bounds, &element.name)) && in_view(tree, *node)
    };
    html! {
        @for node in (1..tree.len()).take(MOST_DRAWN).filter(|node| is_drawn(node)) {
            (draw_element(&tree[node], tree.end(node) == node + 1))
        }
    }
}

fn draw_element(element: &Element, is_leaf: bool) -> Markup {
    html! {
        (rectangle(element.bounds, &class_of(element, is_leaf)))
        @if is_leaf || element.value.is_some() { (text(&words(element), element.bounds, "label")) }
    }
}

/// What lies outside the element around it is scrolled away.
fn in_view(tree: &Tree, node: usize) -> bool {
    let parent = tree.parent(node).unwrap_or(Tree::ROOT);
    tree[parent].bounds.is_empty()
        || tree[parent].bounds.intersects(&tree[node].bounds)
        || tree[node].role == Role::ListItem && tree[parent].role == Role::ComboBox
}

fn class_of(element: &Element, is_leaf: bool) -> String {
    let kind = match &element.role {
        Role::Button | Role::SplitButton | Role::ToggleButton => "button",
        Role::MenuItem | Role::TabItem | Role::Tab => "button",
        Role::CheckBox | Role::RadioButton | Role::Switch => "choice",
        Role::Text => "text",
        role if role.is_link() => "text",
        role if role.takes_text() => "field",
        _ if is_leaf => "item",
        _ => "group",
    };
    let mut class = kind.to_owned();
    for (holds, word) in [
        (!element.enabled, " disabled"),
        (element.focused, " keyboard"),
        (element.selected == Some(true), " selected"),
    ] {
        if holds {
            class.push_str(word);
        }
    }
    class
}

fn words(element: &Element) -> String {
    let box_mark = match (&element.role, element.selected) {
        (Role::CheckBox | Role::Switch, Some(true)) => "☑ ",
        (Role::CheckBox | Role::Switch, _) => "☐ ",
        (Role::RadioButton, Some(true)) => "◉ ",
        (Role::RadioButton, _) => "○ ",
        _ => "",
    };
    match element.value.as_deref().filter(|value| !value.is_empty()) {
        Some(value) if value != element.name => format!("{box_mark}{}: {value}", element.name),
        _ => format!("{box_mark}{}", element.name),
    }
}

fn rectangle(bounds: Rect, class: &str) -> Markup {
    let Rect { x, y, width, height } = bounds;
    html! { rect class=(class) x=(x) y=(y) width=(width.max(0)) height=(height.max(0)) rx="3" {} }
}

/// As much of the text as fits: a nested `svg` cuts off what does not.
fn text(words: &str, bounds: Rect, class: &str) -> Markup {
    let Rect { x, y, width, height } = bounds;
    if words.is_empty() || width <= 0 || height <= 0 {
        return html! {};
    }
    let size = (height.min(30) * 6 / 10).clamp(9, 14);
    let baseline = (height.min(30) + size) / 2 - 2;
    html! {
        svg x=(x) y=(y) width=(width) height=(height) {
            text class=(class) x="6" y=(baseline) font-size=(size) { (clean_text(words)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        let words = "<img src=x onerror='a(\"b\")'>&\u{1b}[0m";
        let drawn = text(words, Rect::new(0, 0, 9, 9), words).into_string();
        assert!(drawn.contains("&gt;&amp;</text>"), "{drawn}");
        assert!(!drawn.contains("<img") && !drawn.contains("(\"b"), "{drawn}");
    }

    #[test]
    fn extreme_numbers_are_drawn_or_left_out() {
        for bounds in [Rect::new(i32::MIN, i32::MAX, i32::MAX, i32::MAX), Rect::new(0, 0, -5, 3)] {
            rectangle(bounds, "x");
            text("words", bounds, "x");
        }
    }
}
