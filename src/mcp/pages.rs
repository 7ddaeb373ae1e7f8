//! Pages that a client shows to a person beside a tool's answer (the extension MCP Apps). Each is one file
//! that loads nothing; it gets what it shows from the client.
//! <https://github.com/modelcontextprotocol/ext-apps>

use rmcp::model::{ExtensionCapabilities, JsonObject, MetaObject, Resource as Entry, ResourceContents};
use serde_json::{Value, json};

use crate::tool::ResourceContent;
use crate::tool::Table;
use crate::tool::resource::WINDOW_PAGE;

const MIME_TYPE: &str = "text/html;profile=mcp-app";
const EXTENSION: &str = "io.modelcontextprotocol/ui";

struct AppPage {
    uri: &'static str,
    name: &'static str,
    about: &'static str,
    html: &'static str,
}

const PAGES: &[AppPage] = &[AppPage {
    uri: WINDOW_PAGE,
    name: "window viewer",
    about: "Shows a screenshot of a window, overlaid with its elements, their roles, names and refs.",
    html: include_str!("pages/window.html"),
}];

/// Where a page finds out how this server is asked for what it needs.
const FACTS: &str = "{\"facts\":null}";

/// The pages of tools that are offered.
pub fn offered_pages(tools: &Table) -> impl Iterator<Item = &'static str> {
    let wanted: Vec<&str> = tools.specs().filter_map(|spec| spec.meta.app).collect();
    PAGES.iter().map(|page| page.uri).filter(move |uri| wanted.contains(uri))
}

fn find_page(tools: &Table, uri: &str) -> Option<&'static AppPage> {
    let uri = offered_pages(tools).find(|offered| *offered == uri)?;
    PAGES.iter().find(|page| page.uri == uri)
}

pub fn list_pages(tools: &Table) -> Vec<Entry> {
    let pages = offered_pages(tools).filter_map(|uri| find_page(tools, uri));
    pages
        .map(|page| Entry::new(page.uri, page.name).with_description(page.about).with_mime_type(MIME_TYPE))
        .collect()
}

pub fn read(tools: &Table, uri: &str) -> Option<ResourceContents> {
    let page = find_page(tools, uri)?;
    // In a block of data within HTML nothing but the end of the block has a meaning.
    let facts = page_facts(tools).to_string().replace('<', "\\u003c");
    let html = page.html.replace(FACTS, &facts);
    let meta = to_object(json!({"ui": {"prefersBorder": true}}));
    Some(ResourceContents::text(html, page.uri).with_mime_type(MIME_TYPE).with_meta(MetaObject(meta)))
}

/// The call that gives the elements of a window with their refs; nothing where it is not offered.
fn page_facts(tools: &Table) -> Value {
    let gives_elements = |meta: &&crate::tool::Meta| {
        meta.resource
            .is_some_and(|resource| resource.is_of_a_window() && resource.content == ResourceContent::Outline)
    };
    let elements = tools.specs().map(|spec| spec.meta).find(gives_elements).map(|meta| {
        let args = meta.resource.map_or("{}", |resource| resource.args);
        json!({"name": meta.name, "arguments": serde_json::from_str::<Value>(args).unwrap_or_default()})
    });
    json!({"elements": elements, "version": env!("CARGO_PKG_VERSION")})
}

/// What the capabilities say of pages.
pub fn pages_extension(tools: &Table) -> Option<ExtensionCapabilities> {
    offered_pages(tools).next()?;
    Some(ExtensionCapabilities::from([(EXTENSION.to_owned(), to_object(json!({"mimeTypes": [MIME_TYPE]})))]))
}

/// What a tool's entry says of its page.
pub fn of_tool(app: &str) -> MetaObject {
    MetaObject(to_object(json!({"ui": {"resourceUri": app}})))
}

fn to_object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools;

    #[test]
    fn every_page_that_a_tool_names_is_there() {
        for app in tools::all_tools().filter_map(|spec| spec.meta.app) {
            assert!(PAGES.iter().any(|page| page.uri == app), "{app}");
        }
    }

    #[test]
    fn pages_load_nothing_and_write_no_markup() {
        for page in PAGES {
            for word in [
                "http:",
                "https:",
                " src=",
                "innerHTML",
                "outerHTML",
                "insertAdjacent",
                "document.write",
                "eval(",
            ] {
                assert!(!page.html.contains(word), "{} has {word}", page.uri);
            }
            assert!(page.html.contains("default-src 'none'") && page.html.contains(FACTS), "{}", page.uri);
        }
    }

    #[test]
    fn a_page_knows_what_it_may_ask() {
        let shown = |changes: &str| {
            let selection = tools::selection(Default::default(), changes).unwrap();
            read(&tools::table(&selection), WINDOW_PAGE).map(|contents| json!(contents)["text"].to_string())
        };
        assert!(shown("").unwrap().contains("get_window_structure"));
        assert!(!shown("-elements").unwrap().contains("get_window_structure"));
        assert_eq!(shown("-screen,-act"), None);
    }
}
