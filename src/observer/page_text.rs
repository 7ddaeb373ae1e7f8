//! A page as a text: headings, paragraphs, lists and tables in the order in which they are read, plain or as Markdown.
//! Links are told by address, by ref, or not at all.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Ref, View};
use crate::model::{Role, Tree};

/// A page as it may be shown, to be written.
#[derive(Clone, Debug)]
pub struct PageReading {
    pub tree: Arc<Tree>,
}

/// How a page is written.
#[derive(Clone, Debug, Default)]
pub struct PageWriting {
    pub markdown: bool,
    pub links: LinkWriting,
}

/// What stands beside the words of a link.
#[derive(Clone, Debug, Default)]
pub enum LinkWriting {
    Urls,
    /// By the handles of their elements.
    Refs(HashMap<String, Ref>),
    #[default]
    Nothing,
}

impl PageReading {
    pub fn is_complete(&self) -> bool {
        self.tree.complete
    }

    /// The links of the page that are elements of a view, with their handles.
    pub fn links_in(&self, view: &View) -> Vec<(String, usize)> {
        let by_handle: HashMap<&str, usize> = view
            .raw()
            .elements()
            .iter()
            .enumerate()
            .filter_map(|(node, element)| Some((element.native.as_deref()?, node)))
            .collect();
        let links = self.tree.elements().iter().filter(|element| element.role == Role::Hyperlink);
        let handles = links.filter_map(|link| link.native.clone());
        handles
            .filter_map(|handle| by_handle.get(handle.as_str()).map(|&node| (handle.clone(), node)))
            .collect()
    }

    pub fn write(&self, writing: &PageWriting) -> String {
        let mut writer = PageWriter { tree: &self.tree, writing, text: String::new() };
        for child in self.tree.children(Tree::ROOT) {
            writer.write_block(child, 0);
        }
        writer.text.trim_end().to_owned()
    }
}

struct PageWriter<'a> {
    tree: &'a Tree,
    writing: &'a PageWriting,
    text: String,
}

impl PageWriter<'_> {
    /// A tree's depth is bounded before it gets here.
    fn write_block(&mut self, node: usize, indent: usize) {
        let element = &self.tree[node];
        match &element.role {
            Role::Heading => self.write_heading(node),
            Role::List => self.write_list(node, indent),
            Role::ListItem => self.write_item(node, indent, "-"),
            Role::Table | Role::DataGrid => self.write_table(node),
            Role::Text if element.identifier.as_deref() == Some("pre") => self.write_code(node),
            role if is_inline(role) => {
                let words = self.inline_text(node);
                self.write_paragraph(&words);
            }
            _ => {
                for child in self.tree.children(node) {
                    self.write_block(child, indent);
                }
            }
        }
    }

    fn write_paragraph(&mut self, words: &str) {
        if !words.is_empty() {
            self.text.push_str(words);
            self.text.push_str("\n\n");
        }
    }

    fn write_heading(&mut self, node: usize) {
        let tag = self.tree[node].identifier.as_deref().unwrap_or_default();
        let level = tag.strip_prefix('h').and_then(|level| level.parse().ok()).unwrap_or(2).clamp(1, 6);
        let words = self.inline_text(node).replace('\n', " ");
        let signs = if self.writing.markdown { format!("{} ", "#".repeat(level)) } else { String::new() };
        if !words.is_empty() {
            self.write_paragraph(&format!("{signs}{words}"));
        }
    }

    fn write_code(&mut self, node: usize) {
        let text: String = self.tree.children(node).map(|run| self.tree[run].name.as_str()).collect();
        let text = text.trim_matches('\n').trim_end();
        match self.writing.markdown {
            true => self.write_paragraph(&format!("```\n{text}\n```")),
            false => self.write_paragraph(text),
        }
    }

    fn write_list(&mut self, node: usize, indent: usize) {
        let is_numbered = self.tree[node].identifier.as_deref() == Some("ol");
        for (at, child) in self.tree.children(node).enumerate() {
            match &self.tree[child].role {
                Role::ListItem if is_numbered => self.write_item(child, indent, &format!("{}.", at + 1)),
                Role::ListItem => self.write_item(child, indent, "-"),
                _ => self.write_block(child, indent),
            }
        }
        if indent == 0 {
            self.text.push('\n');
        }
    }

    /// An item has words, and perhaps lists in it.
    fn write_item(&mut self, node: usize, indent: usize, sign: &str) {
        let words = self.inline_text(node).replace('\n', " ");
        if !words.is_empty() {
            self.text.push_str(&format!("{}{sign} {words}\n", "  ".repeat(indent)));
        }
        for child in self.tree.children(node).filter(|&child| !is_inline(&self.tree[child].role)) {
            self.write_block(child, indent + 1);
        }
    }

    fn write_table(&mut self, node: usize) {
        let rows: Vec<usize> =
            (node + 1..self.tree.end(node)).filter(|&row| self.tree[row].role == Role::Row).collect();
        for (at, row) in rows.iter().enumerate() {
            let cells: Vec<String> = self.tree.children(*row).map(|cell| self.cell_text(cell)).collect();
            let line = match self.writing.markdown {
                true => format!("| {} |\n", cells.join(" | ")),
                false => format!("{}\n", cells.join("\t")),
            };
            self.text.push_str(&line);
            if at == 0 && self.writing.markdown {
                self.text.push_str(&format!("|{}\n", "---|".repeat(cells.len())));
            }
        }
        self.text.push('\n');
    }

    fn cell_text(&self, cell: usize) -> String {
        let words = self.inline_text(cell).replace('\n', " ");
        if self.writing.markdown { words.replace('|', "\\|") } else { words }
    }

    /// The words of an element and of what stands in its line.
    fn inline_text(&self, node: usize) -> String {
        let mut words = String::new();
        let has_runs = self.tree.children(node).any(|child| is_inline(&self.tree[child].role));
        if !has_runs {
            words.push_str(&self.run_text(node));
        }
        for child in self.tree.children(node).filter(|&child| is_inline(&self.tree[child].role)) {
            words.push_str(&self.run_text(child));
        }
        tidy_lines(&words)
    }

    fn run_text(&self, node: usize) -> String {
        let element = &self.tree[node];
        match &element.role {
            Role::Hyperlink | Role::Link => {
                self.link_text(&element.name, element.value.as_deref(), element.native.as_deref())
            }
            Role::Image | Role::Graphic | Role::Icon if self.writing.markdown => {
                format!("![{}]", element.name)
            }
            Role::Image | Role::Graphic | Role::Icon => format!("[{}]", element.name),
            _ => element.name.clone(),
        }
    }

    fn link_text(&self, name: &str, url: Option<&str>, native: Option<&str>) -> String {
        let beside = match &self.writing.links {
            LinkWriting::Nothing => None,
            LinkWriting::Urls => url.map(str::to_owned),
            LinkWriting::Refs(refs) => native.and_then(|native| refs.get(native)).map(Ref::to_string),
        };
        match beside {
            Some(beside) if self.writing.markdown => format!("[{name}]({beside})"),
            Some(beside) => format!("{name} ({beside})"),
            None => name.to_owned(),
        }
    }
}

/// What stands in a line with others.
fn is_inline(role: &Role) -> bool {
    matches!(
        role,
        Role::Text
            | Role::TextLine
            | Role::Label
            | Role::Hyperlink
            | Role::Link
            | Role::Image
            | Role::Graphic
            | Role::Icon
    )
}

/// One blank between words, and no blank at the ends of lines.
fn tidy_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines: Vec<String> = lines.collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Where a text goes on: so many bytes were told, of a text that began like that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextCursor {
    at: usize,
    check: String,
}

/// A part of a text that fits, and where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart<'t> {
    pub text: &'t str,
    pub next: Option<TextCursor>,
    /// What was told before it is no longer what the text begins with.
    pub moved: bool,
}

impl TextCursor {
    fn of(text: &str, at: usize) -> Self {
        Self { at, check: fingerprint(&text[..at]) }
    }

    /// `1200-9f3a`
    pub fn parse(word: &str) -> Option<Self> {
        let (at, check) = word.split_once('-')?;
        Some(Self { at: at.parse().ok()?, check: check.to_owned() })
    }
}

impl std::fmt::Display for TextCursor {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}-{}", self.at, self.check)
    }
}

fn fingerprint(text: &str) -> String {
    // FNV-1a: it only has to notice that a page has changed.
    let hash =
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

/// At most `most` bytes from the cursor on, to the end of a line or a word where there is one.
pub fn text_part<'t>(text: &'t str, after: Option<&TextCursor>, most: usize) -> TextPart<'t> {
    let mut at = after.map_or(0, |cursor| cursor.at).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let moved = after.is_some_and(|cursor| *cursor != TextCursor::of(text, at));
    let rest = &text[at..];
    if rest.len() <= most {
        return TextPart { text: rest, next: None, moved };
    }
    let mut end = most.max(1);
    while !rest.is_char_boundary(end) {
        end += 1;
    }
    let fitting = &rest[..end];
    let cut = [fitting.rfind('\n'), fitting.rfind(' ')].into_iter().flatten().find(|&cut| cut > end / 2);
    let end = cut.map_or(end, |cut| cut + 1);
    TextPart { text: &rest[..end], next: Some(TextCursor::of(text, at + end)), moved }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, TreeBuilder};

    fn part(role: Role, name: &str, tag: &str) -> Element {
        Element { identifier: Some(tag.to_owned()), ..Element::new(role, name, Rect::default()) }
    }

    fn page() -> PageReading {
        let mut tree = TreeBuilder::new(part(Role::Document, "Page", "html"));
        tree.open(part(Role::Heading, "", "h1"));
        tree.add_leaf(part(Role::Text, "Prices ", ""));
        tree.close();
        tree.open(part(Role::Text, "", "p"));
        tree.add_leaf(part(Role::Text, "See ", ""));
        let link = part(Role::Hyperlink, "the shop", "");
        tree.add_leaf(Element { value: Some("http://a/s".to_owned()), native: Some("h".to_owned()), ..link });
        tree.add_leaf(part(Role::Text, ",\n  now.", ""));
        tree.close();
        tree.open(part(Role::List, "", "ol"));
        for word in ["one", "two"] {
            tree.open(part(Role::ListItem, "", "li"));
            tree.add_leaf(part(Role::Text, word, ""));
            tree.close();
        }
        tree.close();
        tree.open(part(Role::Table, "", "table"));
        for row in [["Thing", "Price"], ["Pen|s", "2"]] {
            tree.open(part(Role::Row, "", "tr"));
            for cell in row {
                tree.open(part(Role::DataItem, "", "td"));
                tree.add_leaf(part(Role::Text, cell, ""));
                tree.close();
            }
            tree.close();
        }
        tree.close();
        tree.open(part(Role::Text, "", "pre"));
        tree.add_leaf(part(Role::Text, "a\n  b", ""));
        tree.close();
        PageReading { tree: Arc::new(tree.finish()) }
    }

    #[test]
    fn a_page_is_written_as_markdown_or_plain() {
        let writing = PageWriting { markdown: true, links: LinkWriting::Urls };
        assert_eq!(
            page().write(&writing),
            "# Prices\n\nSee [the shop](http://a/s),\nnow.\n\n1. one\n2. two\n\n\
             | Thing | Price |\n|---|---|\n| Pen\\|s | 2 |\n\n```\na\n  b\n```"
        );
        assert_eq!(
            page().write(&PageWriting::default()),
            "Prices\n\nSee the shop,\nnow.\n\n1. one\n2. two\n\nThing\tPrice\nPen|s\t2\n\na\n  b"
        );
    }

    #[test]
    fn links_can_be_told_by_ref() {
        let reference = Ref::parse("e7").unwrap();
        let links = LinkWriting::Refs(HashMap::from([("h".to_owned(), reference)]));
        assert!(page().write(&PageWriting { markdown: false, links }).contains("the shop (e7),"));
    }

    #[test]
    fn parts_are_the_whole_text_and_notice_changes() {
        let text = "Ein Satz über Öl.\nUnd noch einer, der länger ist als die anderen.\n".repeat(20);
        for most in [1, 7, 50, 1000, 5000] {
            let (mut told, mut cursor) = (String::new(), None);
            loop {
                let part = text_part(&text, cursor.as_ref(), most);
                assert!(!part.moved && part.text.len() <= most.max(2));
                told.push_str(part.text);
                cursor = part.next;
                match &cursor {
                    Some(next) => assert_eq!(TextCursor::parse(&next.to_string()).as_ref(), Some(next)),
                    None => break,
                }
            }
            assert_eq!(told, text);
        }
        let next = text_part(&text, None, 50).next.unwrap();
        let other = text.replace("Satz", "Text");
        assert!(text_part(&other, Some(&next), 50).moved);
        assert!(text_part("short", Some(&next), 50).moved);
        assert_eq!(TextCursor::parse("x-y"), None);
    }
}
