//! A page as a text: what an article, a list or a table says, without what it is worked by.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::browser::EXAMPLE_SITE;
use super::common::QuietWindowArgs;
use crate::error::{Error, Result};
use crate::observer::ResolvedWindow;
use crate::observer::page_text::{LinkWriting, PageReading, PageWriting, TextCursor, text_part};
use crate::tokens::{self, Writing};
use crate::tool::args::Text;
use crate::tool::{Cx, Example, Group, Meta, Method, Output, Permit, ReplyKind, Spec, Tool};

/// What a reading may cost where the caller does not say.
const DEFAULT_TOKENS: usize = 4000;
/// What stands around the text.
const TOKENS_AROUND: usize = 150;
/// A main part with less text is taken for a frame around something else.
const LEAST_MAIN_TEXT: usize = 200;

pub struct ReadPage;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReadPageArgs {
    #[serde(flatten)]
    window: QuietWindowArgs,
    /// Default markdown.
    format: Option<PageFormat>,
    /// Default main: without menus and bars.
    part: Option<PagePart>,
    /// What is told of links; default urls.
    links: Option<LinkForm>,
    /// next of the last reply.
    after: Option<Text<64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PageFormat {
    Text,
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PagePart {
    Main,
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkForm {
    Urls,
    Refs,
    None,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct PageRead {
    window_uid: String,
    title: String,
    url: String,
    part: PagePart,
    /// Of the whole text, in bytes.
    length: usize,
    /// The value of `after` that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Present and false when the page could not be read to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    lean: Option<String>,
}

impl Output for PageRead {
    fn take_outline(&mut self) -> Option<String> {
        Some(std::mem::take(&mut self.text))
    }

    fn take_lean(&mut self) -> Option<String> {
        self.lean.take()
    }
}

impl PageRead {
    /// What a model has to know beside the text.
    fn facts_in_lines(&self) -> String {
        let part = if self.part == PagePart::Main { "" } else { " (whole page)" };
        let facts = [
            Some(format!("page {:?} {}{part}", self.title, self.url)),
            self.complete.map(|_| "the page could not be read to the end".to_owned()),
            self.next.as_ref().map(|next| format!("more: read_page {{\"after\":\"{next}\"}}")),
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

impl Tool for ReadPage {
    type Args = ReadPageArgs;
    type Out = PageRead;
    const META: Meta = Meta {
        name: "read_page",
        group: Group::Browser,
        reply: ReplyKind::Tree,
        untrusted: true,
        web: true,
        fits: true,
        rest: &[(Method::Get, "/api/browser/page")],
        brief: "Read a page as text: headings, paragraphs, lists, tables, links.",
        detail: "All of the page, wherever it is scrolled to, in the order in which it is read, with its frames; what \
                 nobody can see is left out, and so are fields and buttons. `part` main is the page's main element or \
                 only article, else the page without its bars; where that has next to no text the whole page is told. \
                 With `links` refs, links have refs that can be clicked. Without `max_tokens` a reply has at most \
                 4000; `next` is the value of `after` that continues. The text is redacted as a look is.",
        examples: &[
            Example { scenario: Some(EXAMPLE_SITE), args: "{}", shows: "the shop's page as Markdown" },
            Example {
                scenario: Some(EXAMPLE_SITE),
                args: r#"{"format":"text","links":"refs","max_tokens":400}"#,
                shows: "plain, with refs of its links",
            },
        ],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: ReadPageArgs, _: Permit) -> Result<PageRead> {
        let after = args.after.as_ref().map(parse_cursor).transpose()?;
        let chosen = cx.observer().resolve_window(&args.window.window_choice())?;
        cx.warning = chosen.warning.clone();
        let (reading, part) = read_part(cx, &chosen, args.part.unwrap_or(PagePart::Main))?;
        let links = link_writing(cx, &chosen, &reading, args.links.unwrap_or(LinkForm::Urls))?;
        let writing = PageWriting { markdown: args.format != Some(PageFormat::Text), links };
        let text = reading.write(&writing);
        let most = cx.max_tokens.unwrap_or(DEFAULT_TOKENS);
        // However little may be told, half of it is the page.
        let room = most.saturating_sub(TOKENS_AROUND).max(most / 2).max(1);
        let told = text_part(&text, after.as_ref(), tokens::bytes(Writing::Outline, room));
        if told.moved {
            super::common::warn_too(cx, MOVED.to_owned());
        }
        let root = reading.tree.root();
        let mut read = PageRead {
            window_uid: chosen.window.uid,
            title: chosen.window.title,
            url: root.value.clone().unwrap_or_default(),
            part,
            length: text.len(),
            next: told.next.map(|next| next.to_string()),
            complete: (!reading.is_complete()).then_some(false),
            text: told.text.to_owned(),
            lean: None,
        };
        read.lean = cx.lean.then(|| read.facts_in_lines());
        Ok(read)
    }
}

const MOVED: &str =
    "the page has changed since the last part; this one may overlap it or leave something out";

fn parse_cursor(word: &Text<64>) -> Result<TextCursor> {
    TextCursor::parse(word.as_str()).ok_or_else(|| {
        let message = format!("'{}' is no place in a page; give next of the last reply", word.as_str());
        Error::bad_request(message).with("field", "after")
    })
}

/// The main part, or all of it where there is next to nothing in that.
fn read_part(cx: &Cx, chosen: &ResolvedWindow, wanted: PagePart) -> Result<(PageReading, PagePart)> {
    if wanted == PagePart::Main {
        let reading = cx.observer().read_page(chosen, true, cx.cancel)?;
        if reading.write(&PageWriting::default()).len() >= LEAST_MAIN_TEXT {
            return Ok((reading, PagePart::Main));
        }
    }
    Ok((cx.observer().read_page(chosen, false, cx.cancel)?, PagePart::Whole))
}

fn link_writing(
    cx: &Cx,
    chosen: &ResolvedWindow,
    reading: &PageReading,
    form: LinkForm,
) -> Result<LinkWriting> {
    match form {
        LinkForm::None => Ok(LinkWriting::Nothing),
        LinkForm::Urls => Ok(LinkWriting::Urls),
        LinkForm::Refs => {
            let view = cx.observer().look_at(chosen, cx.cancel)?.view;
            let links = reading.links_in(&view);
            let nodes = links.iter().map(|(_, node)| *node);
            let refs = cx.observer().show_refs(chosen, &view, nodes)?;
            let handles = links.into_iter().map(|(handle, _)| handle);
            Ok(LinkWriting::Refs(handles.zip(refs).collect::<HashMap<_, _>>()))
        }
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<ReadPage>()];
