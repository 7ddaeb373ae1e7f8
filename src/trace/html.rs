//! A trace as one page for a browser: steps at the left, at the right what a step did, the desktop before
//! and after it, and what differs.
//!
//! The page needs no network and is finished when it is written: its script only chooses which step is
//! shown. Every text of the trace passes `escape`, and the page's own policy allows no other script.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::compare::{Difference, Sign, differences};
use super::show;
use super::story::{Scene, SeenWindow, Step, Story};
use crate::model::{Element, Rect, Tree};
use crate::privacy::untrusted::clean;

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
pub fn page(story: &Story) -> String {
    let mut page = Page { story, drawings: Drawings::default(), picture_bytes: 0 };
    let steps: String = story.steps.iter().map(|step| page.step(step)).collect();
    let nonce = crate::random::random_token("n");
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'\">
<title>{title}</title>
<style nonce=\"{nonce}\">{STYLE}</style>
</head>
<body>
{header}
<div class=\"panes\">
<nav aria-label=\"Steps\"><ol>{list}</ol></nav>
<main>{steps}</main>
</div>
{drawings}
<script nonce=\"{nonce}\">{SCRIPT}</script>
</body>
</html>
",
        title = escape(&format!("{} – trace", story.id())),
        header = page_head(story),
        list = story.steps.iter().map(list_entry).collect::<String>(),
        drawings = page.drawings.definitions,
    )
}

/// A text as text: nothing in it can become markup, in content or in an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in clean(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

fn page_head(story: &Story) -> String {
    let head = show::head(story);
    let mut lines = head.lines();
    let title = lines.next().unwrap_or_default();
    let rest: String = lines.map(|line| format!("<p>{}</p>", escape(line))).collect();
    let problems = show::problems(story);
    let items: String = problems.iter().map(|problem| format!("<li>{}</li>", escape(problem))).collect();
    let problems = match problems.len() {
        0 => String::new(),
        count => format!(
            "<details class=\"problems\" open><summary>Incomplete: {count}</summary><ul>{items}</ul></details>"
        ),
    };
    format!(
        "<header><div><h1>{}</h1>{rest}</div><p class=\"keys\"><kbd>↑</kbd> <kbd>↓</kbd> step</p>{problems}</header>",
        escape(title)
    )
}

fn list_entry(step: &Step) -> String {
    let row = &step.row;
    let outcome = show::outcome(row);
    let state = if outcome == "ok" { "ok" } else { "bad" };
    let changed = if show::changed(step) { "<i class=\"dot\" title=\"changed\"></i>" } else { "" };
    let badge = if outcome == "ok" { String::new() } else { format!("<em>{}</em> ", escape(&outcome)) };
    format!(
        "<li><a href=\"#step-{n}\" class=\"{state}\"><b>{n}</b><span class=\"what\"><strong>{tool}</strong>{changed}\
<small>{badge}{arguments}</small></span><time>{time}</time></a></li>",
        n = row.trace_seq,
        tool = escape(&row.tool),
        arguments = escape(&gist(step)),
        time = escape(show::time_of_day(&row.ts).get(..8).unwrap_or_default()),
    )
}

/// What a step was about: the element if it had one, else its arguments.
fn gist(step: &Step) -> String {
    match step.row.target.as_ref().filter(|target| !target.role.is_empty()) {
        Some(target) if target.name.is_empty() => target.role.clone(),
        Some(target) => format!("{} “{}”", target.role, target.name),
        None => show::short_arguments(&step.row),
    }
}

struct Page<'a> {
    story: &'a Story,
    drawings: Drawings,
    picture_bytes: usize,
}

impl Page<'_> {
    fn step(&mut self, step: &Step) -> String {
        let row = &step.row;
        let told = show::facts(row);
        let (short, long): (Vec<_>, Vec<_>) = told.iter().partition(|(name, _)| SHORT_FACTS.contains(name));
        let short: Vec<String> =
            short.iter().map(|(name, value)| format!("{} {}", escape(name), escape(value))).collect();
        let facts: String = long
            .iter()
            .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value)))
            .collect();
        let n = row.trace_seq;
        format!(
            "<section id=\"step-{n}\" hidden><h2><b>{n}</b> {tool} {badge}</h2><p class=\"quiet\">{short}</p><dl>{facts}</dl>{changes}{pictures}</section>",
            short = short.join(" · "),
            tool = escape(&row.tool),
            badge = badge(step),
            pictures = self.pictures(step),
            changes = self.changes(step),
        )
    }

    fn changes(&self, step: &Step) -> String {
        if !self.story.tells_of_windows() {
            return String::new();
        }
        let found = differences(&step.before, &step.after);
        if found.is_empty() {
            return "<h3>What changed</h3><p class=\"quiet\">Nothing that is shown.</p>".to_owned();
        }
        let items: String = found.iter().take(MOST_DIFFERENCES).map(difference).collect();
        let more = found.len().saturating_sub(MOST_DIFFERENCES);
        let more = if more > 0 { format!("<li>… and {more} more</li>") } else { String::new() };
        format!("<h3>What changed</h3><ul class=\"changes\">{items}{more}</ul>")
    }

    fn pictures(&mut self, step: &Step) -> String {
        let shots = self.screenshots(step);
        if !self.story.tells_of_windows() {
            return format!("<div class=\"pictures\">{shots}</div>");
        }
        let marked = step.row.target.as_ref().and_then(|target| {
            let seen = step.before.iter().find(|seen| seen.window.window_uid == target.window_uid)?;
            let tree = seen.tree.as_ref()?;
            Some(tree[tree.find_id(&target.element_id)?].bounds)
        });
        let frame = frame_of(&[&step.before, &step.after]);
        let before = self.drawing(&step.before, frame, marked, "before");
        if step.before == step.after {
            let both = before.replace("<figcaption>before", "<figcaption>before and after");
            return format!("<div class=\"pictures\">{both}{shots}</div>");
        }
        let after = self.drawing(&step.after, frame, None, "after");
        format!("<div class=\"pictures\">{before}{after}{shots}</div>")
    }

    fn drawing(&mut self, scene: &Scene, frame: Rect, marked: Option<Rect>, caption: &str) -> String {
        let id = self.drawings.of(scene);
        let mark = marked.map(|mark| rectangle(mark, "target")).unwrap_or_default();
        format!(
            "<figure><figcaption>{caption}</figcaption><svg viewBox=\"{} {} {} {}\" role=\"img\" \
aria-label=\"the desktop {caption}\"><use href=\"#{id}\"/>{mark}</svg></figure>",
            frame.x, frame.y, frame.width, frame.height
        )
    }

    fn screenshots(&mut self, step: &Step) -> String {
        let row = &step.row;
        let references = [("window", &row.screenshot_window_ref), ("screen", &row.screenshot_full_ref)];
        let mut out = String::new();
        for (what, reference) in references {
            if let Some(reference) = reference {
                out.push_str(&self.screenshot(what, reference));
            }
        }
        out
    }

    fn screenshot(&mut self, what: &str, reference: &str) -> String {
        let caption = format!("<figcaption>picture of the {what}</figcaption>");
        match self.story.picture(reference) {
            Ok(bytes) if self.picture_bytes + bytes.len() <= MOST_PICTURE_BYTES => {
                self.picture_bytes += bytes.len();
                let data = STANDARD.encode(bytes);
                format!("<figure>{caption}<img alt=\"{what}\" src=\"data:image/png;base64,{data}\"></figure>")
            }
            Ok(_) => format!(
                "<figure>{caption}<p class=\"quiet\">{} is not embedded: the page would be too large.</p></figure>",
                escape(reference)
            ),
            Err(problem) => format!(
                "<figure>{caption}<p class=\"quiet\">{} cannot be shown: {}</p></figure>",
                escape(reference),
                escape(&problem)
            ),
        }
    }
}

fn badge(step: &Step) -> String {
    let outcome = show::outcome(&step.row);
    let class = if outcome == "ok" { "good" } else { "wrong" };
    let changed = if show::changed(step) { "<span class=\"badge\">changed</span>" } else { "" };
    format!("<span class=\"badge {class}\">{}</span>{changed}", escape(&outcome))
}

fn difference(difference: &Difference) -> String {
    let class = match difference.sign {
        Sign::Added => "added",
        Sign::Removed => "removed",
        Sign::Changed => "changed",
    };
    format!(
        "<li class=\"{class}\"><b>{}</b><span>{}</span><small>{}</small></li>",
        difference.sign.mark(),
        escape(&difference.text),
        escape(&difference.window)
    )
}

// ── drawings ────────────────────────────────────────────────────────────────────────────────────

/// Each desktop is drawn once, however many steps show it.
#[derive(Default)]
struct Drawings {
    ids: HashMap<*const Vec<SeenWindow>, String>,
    /// Keeps what the keys point to alive.
    scenes: Vec<Scene>,
    definitions: String,
}

impl Drawings {
    fn of(&mut self, scene: &Scene) -> String {
        if let Some(known) = self.scenes.iter().find(|known| **known == *scene) {
            return self.ids.get(&Arc::as_ptr(known)).cloned().unwrap_or_default();
        }
        let id = format!("desktop-{}", self.scenes.len() + 1);
        let _ = write!(
            self.definitions,
            "<svg width=\"0\" height=\"0\" aria-hidden=\"true\"><defs><g id=\"{id}\">{}</g></defs></svg>",
            draw(scene)
        );
        self.ids.insert(Arc::as_ptr(scene), id.clone());
        self.scenes.push(Arc::clone(scene));
        id
    }
}

/// What surrounds all windows, with a margin.
fn frame_of(scenes: &[&Scene]) -> Rect {
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
fn draw(scene: &Scene) -> String {
    let mut windows: Vec<&SeenWindow> = scene.iter().rev().collect();
    windows.sort_by_key(|seen| seen.window.focused);
    windows.into_iter().map(draw_window).collect()
}

fn draw_window(seen: &SeenWindow) -> String {
    let bounds = seen.window.bounds;
    let class = if seen.window.focused { "window focused" } else { "window" };
    let mut out = rectangle(bounds, class);
    let title = Rect::new(bounds.x, bounds.y, bounds.width, 26.min(bounds.height));
    out.push_str(&rectangle(title, "title"));
    out.push_str(&text(&seen.window.title, title, "titletext"));
    match &seen.tree {
        Some(tree) => draw_tree(tree, &mut out),
        None => out.push_str(&text("could not be read", bounds, "quiet")),
    }
    out
}

fn draw_tree(tree: &Tree, out: &mut String) {
    // Of many copies at one place, as scrolled lists have them, one is enough.
    let mut drawn = HashSet::new();
    for node in (1..tree.len()).take(MOST_DRAWN) {
        let element = &tree[node];
        if element.bounds.is_empty() || !drawn.insert((element.bounds, &element.name)) || !in_view(tree, node)
        {
            continue;
        }
        let is_leaf = tree.end(node) == node + 1;
        out.push_str(&rectangle(element.bounds, &class_of(element, is_leaf)));
        if is_leaf || element.value.is_some() {
            out.push_str(&text(&words(element), element.bounds, "label"));
        }
    }
}

/// What lies outside the element around it is scrolled away.
fn in_view(tree: &Tree, node: usize) -> bool {
    let parent = tree.parent(node).unwrap_or(Tree::ROOT);
    tree[parent].bounds.is_empty()
        || tree[parent].bounds.intersects(&tree[node].bounds)
        || tree[node].role == "ListItem" && tree[parent].role == "ComboBox"
}

fn class_of(element: &Element, is_leaf: bool) -> String {
    let kind = match &*element.role {
        "Button" | "SplitButton" | "ToggleButton" | "MenuItem" | "TabItem" | "Tab" => "button",
        "Edit" | "Document" | "ComboBox" | "Spinner" | "SpinButton" => "field",
        "CheckBox" | "RadioButton" | "Switch" => "choice",
        "Text" | "Hyperlink" | "Link" => "text",
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
    let box_mark = match (&*element.role, element.selected) {
        ("CheckBox" | "Switch", Some(true)) => "☑ ",
        ("CheckBox" | "Switch", _) => "☐ ",
        ("RadioButton", Some(true)) => "◉ ",
        ("RadioButton", _) => "○ ",
        _ => "",
    };
    match element.value.as_deref().filter(|value| !value.is_empty()) {
        Some(value) if value != element.name => format!("{box_mark}{}: {value}", element.name),
        _ => format!("{box_mark}{}", element.name),
    }
}

fn rectangle(bounds: Rect, class: &str) -> String {
    let Rect { x, y, width, height } = bounds;
    format!(
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"3\"/>",
        width.max(0),
        height.max(0)
    )
}

/// As much of the text as fits: a nested `svg` cuts off what does not.
fn text(words: &str, bounds: Rect, class: &str) -> String {
    let Rect { x, y, width, height } = bounds;
    if words.is_empty() || width <= 0 || height <= 0 {
        return String::new();
    }
    let size = (height.min(30) * 6 / 10).clamp(9, 14);
    let baseline = (height.min(30) + size) / 2 - 2;
    format!(
        "<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"><text class=\"{class}\" x=\"6\" \
y=\"{baseline}\" font-size=\"{size}\">{}</text></svg>",
        escape(words)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(
            escape("<img src=x onerror='a(\"b\")'>&\u{1b}[0m"),
            "&lt;img src=x onerror=&#39;a(&quot;b&quot;)&#39;&gt;&amp;"
        );
    }

    #[test]
    fn extreme_numbers_are_drawn_or_left_out() {
        for bounds in [Rect::new(i32::MIN, i32::MAX, i32::MAX, i32::MAX), Rect::new(0, 0, -5, 3)] {
            rectangle(bounds, "x");
            text("words", bounds, "x");
        }
    }
}
