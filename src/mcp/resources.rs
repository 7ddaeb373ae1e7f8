//! Addresses and what is at them: the answers that tools declare as resources, of this server's tools only, and
//! the pages that show them. Reading is a call; here it is only named, and its reply wrapped.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, MetaObject, Resource as Entry, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::pages;
use super::subscriptions::{FollowSubject, Notice};
use crate::error::Kind;
use crate::gate::{Call, Origin, Reply};
use crate::tool::Table;
use crate::tool::resource::{About, WINDOWS};
use crate::tool::{Meta, Resource, ResourceContent};

/// An address of a tool that is offered.
pub struct FoundResource {
    pub meta: &'static Meta,
    resource: Resource,
    about: About,
}

fn declared_resources(tools: &Table) -> impl Iterator<Item = (&'static Meta, Resource)> {
    tools.specs().filter_map(|spec| Some((spec.meta, spec.meta.resource?)))
}

pub fn are_offered(tools: &Table) -> bool {
    declared_resources(tools).next().is_some() || pages::offered_pages(tools).next().is_some()
}

pub fn find_resource(tools: &Table, uri: &str) -> Option<FoundResource> {
    let found = |(meta, resource): (&'static Meta, Resource)| {
        let about = resource.matches(uri)?;
        Some(FoundResource { meta, resource, about })
    };
    declared_resources(tools).find_map(found)
}

impl FoundResource {
    pub fn call(&self) -> Call {
        self.resource.call(self.meta.name, &self.about, Origin::Resource)
    }

    pub fn window_uid(&self) -> Option<&str> {
        match &self.about {
            About::Desktop => None,
            About::Window(uid) => Some(uid),
        }
    }

    /// What has to change for who follows this address, and what they hear. They hear the address as they wrote it.
    pub fn followed_subject(&self, uri: &str) -> (FollowSubject, Notice) {
        let subject = match &self.about {
            About::Desktop => FollowSubject::WindowList,
            About::Window(uid) => FollowSubject::Window(uid.clone()),
        };
        (subject, Notice::Updated(uri.to_owned()))
    }

    /// The part of the reply that was asked for; what else it says, also that something was cut, stands beside it.
    pub fn resource_contents(&self, uri: &str, reply: Reply) -> Result<ResourceContents, ErrorData> {
        if let Some(kind) = reply.error {
            return Err(gate_refusal(uri, kind, &reply));
        }
        let beside = MetaObject(reply.body.to_map());
        let contents = match self.resource.content {
            ResourceContent::Json => ResourceContents::text(reply.json_text(), uri),
            ResourceContent::Outline => {
                ResourceContents::text(reply.outline.unwrap_or_default(), uri).with_meta(beside)
            }
            ResourceContent::Picture => {
                let bytes = reply.picture.map(|picture| picture.bytes).unwrap_or_default();
                ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri).with_meta(beside)
            }
        };
        Ok(contents.with_mime_type(self.resource.content.mime_type()))
    }
}

/// The gate's refusal as the protocol's error, which carries it whole. A window that is gone is a resource that is
/// not there; rmcp writes the code as the client's era knows it.
/// <https://modelcontextprotocol.io/specification/2025-06-18/server/resources#error-handling>
fn gate_refusal(uri: &str, kind: Kind, reply: &Reply) -> ErrorData {
    let mut data = reply.value();
    data["uri"] = uri.into();
    let message = data["error"]["message"].as_str().unwrap_or(kind.code()).to_owned();
    let code = match kind {
        Kind::WindowGone => ErrorCode::RESOURCE_NOT_FOUND,
        Kind::BadRequest => ErrorCode::INVALID_PARAMS,
        Kind::PermissionDenied | Kind::BudgetExceeded | Kind::RateLimited => ErrorCode::INVALID_REQUEST,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    ErrorData::new(code, message, Some(data))
}

pub fn unknown_resource(tools: &Table, uri: &str) -> ErrorData {
    let known: Vec<&str> = declared_resources(tools)
        .map(|(_, resource)| resource.uri)
        .chain(pages::offered_pages(tools))
        .collect();
    let message = format!("there is no resource '{uri}'; there are {}", known.join(", "));
    ErrorData::resource_not_found(message, Some(json!({"uri": uri, "resources": known})))
}

/// A window as it stands in the list that the gate let out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedWindow {
    pub uid: String,
    pub title: String,
    pub focused: bool,
}

/// The address of the list of windows, if this server offers it.
pub fn window_list(tools: &Table) -> Option<FoundResource> {
    find_resource(tools, WINDOWS)
}

pub fn listed_windows(reply: &Reply) -> Vec<ListedWindow> {
    let text = |window: &Value, key: &str| window[key].as_str().unwrap_or_default().to_owned();
    let listed = |window: &Value| ListedWindow {
        uid: text(window, "window_uid"),
        title: text(window, "title"),
        focused: window["focused"] == true,
    };
    let reply = reply.value();
    reply["windows"].as_array().into_iter().flatten().map(listed).collect()
}

/// The address of what a tool shows of a window, if one that is offered shows it that way.
pub fn of_window(tools: &Table, content: ResourceContent, uid: &str) -> Option<String> {
    let mut declared = declared_resources(tools).map(|(_, resource)| resource);
    let shows = |resource: &Resource| resource.is_of_a_window() && resource.content == content;
    declared.find(shows).map(|resource| resource.of_window(uid))
}

pub fn list_resources(tools: &Table, windows: &[ListedWindow]) -> Vec<Entry> {
    let (of_windows, others): (Vec<_>, Vec<_>) =
        declared_resources(tools).map(|(_, resource)| resource).partition(Resource::is_of_a_window);
    let entry = |resource: &Resource, uri: String, name: String| {
        Entry::new(uri, name).with_description(resource.about).with_mime_type(resource.content.mime_type())
    };
    let mut entries: Vec<Entry> = others
        .iter()
        .map(|resource| entry(resource, resource.uri.to_owned(), resource.name.to_owned()))
        .collect();
    for window in windows {
        entries.extend(of_windows.iter().map(|resource| {
            entry(resource, resource.of_window(&window.uid), format!("{}: {}", window.title, resource.name))
        }));
    }
    entries.extend(pages::list_pages(tools));
    entries
}

pub fn resource_templates(tools: &Table) -> Vec<ResourceTemplate> {
    let of_windows = declared_resources(tools).map(|(_, resource)| resource).filter(Resource::is_of_a_window);
    of_windows
        .map(|resource| {
            ResourceTemplate::new(resource.uri, resource.name)
                .with_description(resource.about)
                .with_mime_type(resource.content.mime_type())
        })
        .collect()
}

/// Whether an address with a variable in it is one of ours.
pub fn is_template(tools: &Table, uri: &str) -> bool {
    declared_resources(tools).any(|(_, resource)| resource.is_of_a_window() && resource.uri == uri)
}
