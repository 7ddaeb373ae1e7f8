//! What the server offers beside tools: resources, notices of their changes, prompts, and completions. Whatever is
//! read for them is a call through the gate.

use std::collections::BTreeMap;
use std::sync::Mutex;

use rmcp::model::{
    ArgumentInfo, CompleteRequestMethod, CompleteResult, CompletionInfo, ContentBlock, GetPromptResult,
    JsonObject, ListPromptsRequestMethod, ListResourceTemplatesRequestMethod, ListResourcesRequestMethod,
    Prompt as PromptEntry, PromptMessage, ReadResourceResponse, ReadResourceResult, Reference,
    Resource as ResourceEntry, ResourceContents, ResourceTemplate, ResourceUpdatedNotificationParam, Role,
    ServerCapabilities, SubscribeRequestMethod, SubscriptionFilter, UnsubscribeRequestMethod,
};
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::prompts::{self, Embeds, Prompt};
use super::resources::{self, FoundResource, ListedWindow};
use super::subscriptions::{FollowSubject, Following, Notice};
use super::{McpServer, pages};
use crate::clock::lock;
use crate::gate::confirm::Person;
use crate::privacy::scrub::Scrub;
use crate::tool::ResourceContent;

/// The subscriptions of the older era's one connection; dropping one ends it.
#[derive(Default)]
pub struct Subscribed(Mutex<BTreeMap<String, DropGuard>>);

pub fn whole_resource(contents: ResourceContents) -> ReadResourceResponse {
    ReadResourceResponse::Complete(ReadResourceResult::new(vec![contents]))
}

// ---- what is offered ---------------------------------------------------------------------------------------

impl McpServer {
    pub(super) fn server_capabilities(&self) -> ServerCapabilities {
        let tools = &self.app.tools;
        let all = ServerCapabilities::builder()
            .enable_tools()
            .enable_completions()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed();
        let mut capabilities = all.build();
        capabilities.extensions = pages::pages_extension(tools);
        #[cfg(feature = "jobs")]
        {
            capabilities.extensions = self.tasks_extension(capabilities.extensions);
        }
        let (resources, prompts) = (resources::are_offered(tools), prompts::are_offered(tools));
        capabilities.resources = capabilities.resources.filter(|_| resources);
        capabilities.prompts = capabilities.prompts.filter(|_| prompts);
        capabilities.completions = capabilities.completions.filter(|_| resources || prompts);
        capabilities
    }

    /// Clients of the older era cannot say whether they want to hear of new resources, and to look for those who do
    /// not would be looking for nobody; who does subscribes to the list of windows.
    pub(super) fn capabilities_of_the_older_era(&self) -> ServerCapabilities {
        let mut capabilities = self.server_capabilities();
        if let Some(resources) = &mut capabilities.resources {
            resources.list_changed = None;
            resources.subscribe = resources.subscribe.filter(|_| self.subscribed.is_some());
        }
        capabilities
    }

    pub(super) async fn offered_resources(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<ResourceEntry>, ErrorData> {
        if !resources::are_offered(&self.app.tools) {
            return Err(ErrorData::method_not_found::<ListResourcesRequestMethod>());
        }
        let windows = self.listed_windows(context).await?;
        Ok(resources::list_resources(&self.app.tools, &windows))
    }

    pub(super) fn offered_templates(&self) -> Result<Vec<ResourceTemplate>, ErrorData> {
        if !resources::are_offered(&self.app.tools) {
            return Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>());
        }
        Ok(resources::resource_templates(&self.app.tools))
    }

    pub(super) fn offered_prompts(&self) -> Result<Vec<PromptEntry>, ErrorData> {
        if !prompts::are_offered(&self.app.tools) {
            return Err(ErrorData::method_not_found::<ListPromptsRequestMethod>());
        }
        Ok(prompts::list_prompts(&self.app.tools))
    }
}

// ---- reading -----------------------------------------------------------------------------------------------

impl McpServer {
    pub(super) async fn read(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ResourceContents, ErrorData> {
        let tools = &self.app.tools;
        if let Some(page) = pages::read(tools, uri) {
            return Ok(page);
        }
        let found =
            resources::find_resource(tools, uri).ok_or_else(|| resources::unknown_resource(tools, uri))?;
        let reply = self.run(found.call(), Person::Unreachable, context).await?;
        found.resource_contents(uri, reply)
    }

    /// The open windows as the gate lets them be listed: none where they cannot be, and why is told to who reads.
    async fn listed_windows(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Vec<ListedWindow>, ErrorData> {
        match resources::window_list(&self.app.tools) {
            None => Ok(Vec::new()),
            Some(list) => {
                let reply = self.run(list.call(), Person::Unreachable, context).await?;
                Ok(resources::listed_windows(&reply))
            }
        }
    }
}

// ---- being told --------------------------------------------------------------------------------------------

impl McpServer {
    /// An address that can be followed: it is offered and allowed, and what is there can change.
    fn followable_resource(&self, uri: &str) -> Result<FoundResource, ErrorData> {
        let tools = &self.app.tools;
        if pages::read(tools, uri).is_some() {
            return Err(ErrorData::invalid_params(
                format!("'{uri}' never changes"),
                Some(json!({"uri": uri})),
            ));
        }
        let found =
            resources::find_resource(tools, uri).ok_or_else(|| resources::unknown_resource(tools, uri))?;
        self.app.gate.permits(found.meta).map_err(|error| {
            ErrorData::invalid_request(
                error.message.clone(),
                Some(json!({"uri": uri, "error": {"code": error.kind.code(), "message": error.message}})),
            )
        })?;
        Ok(found)
    }

    /// Of what a client of the newer era wants to hear, what it can; the acknowledgment says what that is.
    pub(super) fn followable_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        if !resources::are_offered(&self.app.tools) {
            return None;
        }
        let uris = requested.resource_subscriptions.iter().flatten();
        let mut filter = SubscriptionFilter::builder().resources_list_changed();
        for uri in uris.filter(|uri| self.followable_resource(uri).is_ok()) {
            filter = filter.resource_subscription(uri);
        }
        Some(filter.build())
    }

    pub(super) async fn tell_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let accepted = context.accepted();
        let list = (accepted.resources_list_changed == Some(true))
            .then_some((FollowSubject::WindowSet, Notice::ListChanged));
        let uris = accepted.resource_subscriptions.iter().flatten();
        let found = uris.filter_map(|uri| Some(self.followable_resource(uri).ok()?.followed_subject(uri)));
        let subjects: Vec<_> = list.into_iter().chain(found).collect();
        let following = self.hub.follow_subjects(subjects).map_err(too_many)?;
        loop {
            let told = async {
                let notices = following.next().await?;
                for notice in notices {
                    match notice {
                        Notice::ListChanged => context.sink().notify_resource_list_changed().await.ok()?,
                        Notice::Updated(uri) => context.sink().notify_resource_updated(uri).await.ok()?,
                    }
                }
                Some(())
            };
            tokio::select! {
                biased;
                () = context.cancelled() => return Ok(()),
                () = self.shutdown.cancelled() => return Ok(()),
                told = told => told.ok_or_else(|| ErrorData::internal_error("the subscription was lost", None))?,
            }
        }
    }

    pub(super) async fn begin_telling(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(subscribed) = &self.subscribed else {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        };
        let found = self.followable_resource(uri)?;
        self.is_there(&found, uri, context).await?;
        let mut subscribed = lock(&subscribed.0);
        if subscribed.contains_key(uri) {
            return Ok(());
        }
        let following = self.hub.follow_subjects(vec![found.followed_subject(uri)]).map_err(too_many)?;
        let stop = self.shutdown.child_token();
        subscribed.insert(uri.to_owned(), stop.clone().drop_guard());
        tokio::spawn(tell_updates(following, context.peer.clone(), stop));
        Ok(())
    }

    pub(super) fn stop_telling(&self, uri: &str) -> Result<(), ErrorData> {
        let Some(subscribed) = &self.subscribed else {
            return Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>());
        };
        lock(&subscribed.0).remove(uri);
        Ok(())
    }

    /// Nobody should wait for news of a window that is gone.
    async fn is_there(
        &self,
        found: &FoundResource,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some(uid) = found.window_uid() else {
            return Ok(());
        };
        let windows = self.listed_windows(context).await?;
        let offered = resources::window_list(&self.app.tools).is_some();
        if !offered || windows.iter().any(|window| window.uid == uid) {
            return Ok(());
        }
        Err(ErrorData::resource_not_found(
            format!("no window has the uid '{uid}'; it may have closed"),
            Some(json!({"uri": uri, "windows": window_names(&windows)})),
        ))
    }
}

fn too_many(why: String) -> ErrorData {
    ErrorData::invalid_request(why, None)
}

fn window_names(windows: &[ListedWindow]) -> serde_json::Value {
    windows.iter().map(|window| json!({"window_uid": window.uid, "title": window.title})).collect()
}

/// The older era's way: notices that belong to no request.
async fn tell_updates(following: Following, peer: Peer<RoleServer>, stop: CancellationToken) {
    let telling = async {
        while let Some(notices) = following.next().await {
            for notice in notices {
                if let Notice::Updated(uri) = notice {
                    let told = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
                    if told.is_err() {
                        return;
                    }
                }
            }
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = telling => {}
    }
}

// ---- prompts and completions -------------------------------------------------------------------------------

impl McpServer {
    pub(super) async fn write_prompt(
        &self,
        name: &str,
        arguments: Option<JsonObject>,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResult, ErrorData> {
        let prompt = prompts::find_prompt(&self.app.tools, name)?;
        let given = prompt.check(arguments)?;
        let text = ContentBlock::text(self.scrub_text(&prompt.text(&given)));
        let embedded = match prompt.embeds {
            Embeds::Nothing => None,
            Embeds::LastFailure => Some(ContentBlock::text(self.last_failure())),
            Embeds::Window => Some(self.embedded_window(&given, context).await?),
        };
        let messages = [Some(text), embedded].into_iter().flatten();
        let messages = messages.map(|content| PromptMessage::new(Role::User, content)).collect();
        Ok(GetPromptResult::new(messages).with_description(prompt.prompt_description()))
    }

    fn scrub_text(&self, text: &str) -> String {
        Scrub::of(&self.app.redactor).text(text).into_owned()
    }

    fn last_failure(&self) -> String {
        match self.app.session.last_failure() {
            None => "No call has failed since this server was started.".to_owned(),
            Some(call) => self
                .scrub_text(&format!("{}, step {}, was answered:\n{}", call.tool, call.step_id, call.reply)),
        }
    }

    /// The outline of the window that was named, which must be there, or else of the focused one, if there is one.
    async fn embedded_window(
        &self,
        given: &[(&'static str, String)],
        context: &RequestContext<RoleServer>,
    ) -> Result<ContentBlock, ErrorData> {
        let wanted = given.iter().find(|(name, _)| *name == prompts::WINDOW).map(|(_, value)| value.as_str());
        let windows = self.listed_windows(context).await?;
        let chosen = chosen_window(&windows, wanted)?;
        let uri = chosen.and_then(|uid| resources::of_window(&self.app.tools, ResourceContent::Outline, uid));
        let Some(uri) = uri else {
            return Ok(ContentBlock::text("There is no window whose outline could be shown here."));
        };
        let contents = self.read(&uri, context).await?;
        Ok(ContentBlock::resource(contents))
    }

    /// Uids of open windows, wherever a window can be named.
    pub(super) async fn complete_argument(
        &self,
        reference: &Reference,
        argument: &ArgumentInfo,
        context: &RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let tools = &self.app.tools;
        if !resources::are_offered(tools) && !prompts::are_offered(tools) {
            return Err(ErrorData::method_not_found::<CompleteRequestMethod>());
        }
        if !self.names_a_window(reference, &argument.name)? {
            return Ok(CompleteResult::new(CompletionInfo::default()));
        }
        let windows = self.listed_windows(context).await?;
        let fitting =
            windows.into_iter().map(|window| window.uid).filter(|uid| uid.starts_with(&argument.value));
        let mut values: Vec<String> = fitting.collect();
        let total = values.len();
        values.truncate(CompletionInfo::MAX_VALUES);
        let more = total > values.len();
        let info = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), more)
            .map_err(|problem| ErrorData::internal_error(problem, None))?;
        Ok(CompleteResult::new(info))
    }

    fn names_a_window(&self, reference: &Reference, argument: &str) -> Result<bool, ErrorData> {
        let tools = &self.app.tools;
        match reference {
            Reference::Resource(template) if resources::is_template(tools, &template.uri) => {
                known_argument(argument == "uid", argument).map(|()| true)
            }
            Reference::Resource(template) => Err(resources::unknown_resource(tools, &template.uri)),
            Reference::Prompt(named) => {
                let prompt: &Prompt = prompts::find_prompt(tools, &named.name)?;
                known_argument(prompt.has_argument(argument), argument)?;
                Ok(argument == prompts::WINDOW)
            }
            _ => Err(ErrorData::invalid_params("only prompts and resource templates can be completed", None)),
        }
    }
}

fn known_argument(known: bool, argument: &str) -> Result<(), ErrorData> {
    if known {
        return Ok(());
    }
    Err(ErrorData::invalid_params(format!("there is no argument '{argument}'"), None))
}

/// By its uid, or else by a part of its shown title.
fn chosen_window<'a>(
    windows: &'a [ListedWindow],
    wanted: Option<&str>,
) -> Result<Option<&'a str>, ErrorData> {
    let Some(wanted) = wanted else {
        let focused = windows.iter().find(|window| window.focused);
        return Ok(focused.or(windows.first()).map(|window| window.uid.as_str()));
    };
    let title = wanted.to_lowercase();
    let by_uid = windows.iter().find(|window| window.uid == wanted);
    let by_title = || windows.iter().find(|window| window.title.to_lowercase().contains(&title));
    match by_uid.or_else(by_title) {
        Some(window) => Ok(Some(&window.uid)),
        None => Err(ErrorData::invalid_params(
            format!("the argument 'window': no window has the uid '{wanted}' or a title that contains it"),
            Some(json!({"argument": prompts::WINDOW, "windows": window_names(windows)})),
        )),
    }
}
