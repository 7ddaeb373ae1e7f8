//! A browser that a person opened for this server. It works in tabs of its own there: those of the person are neither seen
//! nor touched, and the browser stays when the server goes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::network::BrowserNetwork;
use super::page_log::PageLog;
use super::tabs::Tabs;
use super::websocket::AttachAddress;
use super::wire::{CdpConnection, CdpEvent, CdpFailure};
use super::{BLANK_PAGE, Browser, PageFiles, START, await_tab};
use crate::clock::{Bell, Cancel, Clock, Deadline};
use crate::config::BrowserConfig;
use crate::platform::Chosen;

/// How long the closing of our tabs may take.
const CLOSING: Duration = Duration::from_secs(2);

/// Closes our tabs, and then the connection.
struct AttachedBrowser {
    connection: Arc<CdpConnection>,
    tabs: Arc<Tabs>,
}

impl Drop for AttachedBrowser {
    fn drop(&mut self) {
        let (deadline, cancel) = (Deadline::after(CLOSING), Cancel::new());
        for tab in self.tabs.all() {
            let order = self.connection.send(None, "Target.closeTarget", json!({ "targetId": tab.target }));
            // A browser that has gone has no tabs of ours.
            let _ = order.and_then(|order| self.connection.wait::<Value>(&order, deadline, &cancel));
        }
        self.connection.close_pipe();
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetCreated {
    target_info: FoundTarget,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FoundTarget {
    target_id: String,
    #[serde(rename = "type", default)]
    kind: String,
    opener_id: Option<String>,
}

pub fn attach_browser(address: &str, config: &BrowserConfig, clock: &Clock) -> Result<Chosen, String> {
    let network = BrowserNetwork::unjudged(config)?;
    let pipe = AttachAddress::parse(address)?.connect()?;
    let connection = Arc::new(CdpConnection::new(pipe.orders));
    let bell = Bell::default();
    let tabs = Arc::new(Tabs::new(config.size, bell.clone()));
    let ends = bell.clone();
    let (mut for_tabs, log) = (tabs.listener(&connection), Arc::new(PageLog::default()));
    let (lines, of_tabs) = (log.clone(), Arc::downgrade(&tabs));
    let popups = PopupWatch { tabs: Arc::downgrade(&tabs), connection: Arc::downgrade(&connection) };
    let for_both = move |event: &CdpEvent<'_>| {
        popups.take_event(event);
        lines.take_event(event, |session| of_tabs.upgrade()?.page_of_session(session));
        for_tabs(event);
    };
    connection
        .listen(pipe.answers, for_both, move || ends.ring())
        .map_err(|problem| format!("cannot start the thread for its events: {problem}"))?;
    let attached = AttachedBrowser { connection: connection.clone(), tabs: tabs.clone() };
    let (pid, name) = open_own_tab(&connection, &tabs, &bell)
        .map_err(|failure| crate::error::Error::from(failure).message)?;
    let files = PageFiles { downloads: None, log, upload_root: config.upload_root.clone() };
    let browser = Browser::new(clock.clone(), bell, connection, tabs, network, files, (name, pid));
    Ok(Chosen { platform: Arc::new(browser), ends_with_us: Some(Box::new(attached)), seen_by: None })
}

/// What a page of ours opens is ours too.
struct PopupWatch {
    tabs: Weak<Tabs>,
    connection: Weak<CdpConnection>,
}

impl PopupWatch {
    fn take_event(&self, event: &CdpEvent<'_>) {
        if event.method != "Target.targetCreated" {
            return;
        }
        let (Some(tabs), Some(connection)) = (self.tabs.upgrade(), self.connection.upgrade()) else { return };
        let Some(TargetCreated { target_info }) = event.read() else { return };
        let is_ours = target_info.opener_id.is_some_and(|opener| tabs.find(&opener).is_some());
        if target_info.kind == "page" && is_ours {
            let params = json!({ "targetId": target_info.target_id, "flatten": true });
            connection.tell(None, "Target.attachToTarget", params);
        }
    }
}

/// A tab of our own, and which process and which browser has it.
fn open_own_tab(connection: &CdpConnection, tabs: &Tabs, bell: &Bell) -> Result<(u32, String), CdpFailure> {
    let (deadline, cancel) = (Deadline::after(START), Cancel::new());
    let ask = |method, params: Value| {
        let order = connection.send(None, method, params)?;
        connection.wait::<Value>(&order, deadline, &cancel)
    };
    let text =
        |answer: &Value, key: &str| answer.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    ask("Target.setDiscoverTargets", json!({ "discover": true, "filter": [{ "type": "page" }] }))?;
    let made = ask("Target.createTarget", json!({ "url": BLANK_PAGE, "background": true }))?;
    ask("Target.attachToTarget", json!({ "targetId": text(&made, "targetId"), "flatten": true }))?;
    await_tab(tabs, bell, deadline, |tab| tab.prepared)?;
    let product = text(&ask("Browser.getVersion", json!({}))?, "product");
    let processes = ask("SystemInfo.getProcessInfo", json!({}))?;
    let name = product.split('/').next().unwrap_or_default().to_lowercase();
    Ok((super::browser_pid(processes).unwrap_or(0), name))
}
