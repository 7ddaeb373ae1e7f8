//! The client for Rust programs, against the built server.

use std::time::Duration;

use os_screen_observer::client::{JobCommand, JobRequest, ScreenObserverClient};
use serde_json::json;

use crate::job_commands::JobsServer;
use crate::support::http::Site;
use crate::support::project;

fn server(folder: &std::path::Path) -> (JobsServer, ScreenObserverClient) {
    let scenario = project().join("scenarios/login.yaml");
    let words = ["server", "--mock", "--port", "0", "--scenario", scenario.to_str().unwrap()];
    let server = JobsServer::start(folder, &words, 1);
    let client = ScreenObserverClient::new(&format!("http://127.0.0.1:{}", server.ports[0])).unwrap();
    (server, client)
}

#[test]
fn a_job_is_made_waited_for_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, client) = server(folder.path());
    assert_eq!(client.health().unwrap().version, env!("CARGO_PKG_VERSION"));
    let request =
        JobRequest { planner: Some("scripted:demo".to_owned()), ..JobRequest::new("log in as alice") };
    let made = client.create_job(&request).unwrap();
    let job = client.wait_for_job(&made.job_id, Duration::from_secs(60)).unwrap();
    assert!(job.is_over() && job.succeeded(), "{job:?}");
    assert_eq!((job.result, job.steps), (Some(json!({"greeting": "Hello, alice"})), 6));
    assert_eq!(client.jobs(Some("succeeded"), 5).unwrap().len(), 1);
    assert_eq!(client.jobs(Some("failed"), 5).unwrap().len(), 0);
    let page = client.job_events(&made.job_id, 0).unwrap();
    assert!(page.events.len() > 6 && page.next >= 6, "{page:?}");
    assert!(client.job_events(&made.job_id, page.next).unwrap().events.is_empty());
    let windows = client.call_tool("list_windows", json!({})).unwrap();
    assert_eq!(windows["windows"][0]["title"], "Acme Login");
}

/// What the server refuses comes with its code, and what is no server with the reason.
#[test]
fn a_refusal_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let (server, client) = server(folder.path());
    let refused = client.job("job_none/../x").unwrap_err();
    assert_eq!((refused.status, refused.code.as_deref()), (Some(404), Some("JobNotFound")), "{refused:?}");
    let refused = client.create_job(&JobRequest::new("")).unwrap_err();
    assert_eq!((refused.status, refused.code.as_deref()), (Some(400), Some("BadRequest")), "{refused:?}");
    let request = JobRequest { planner: Some("scripted:demo".to_owned()), ..JobRequest::new("log in") };
    let job = client.create_job(&request).unwrap();
    client.wait_for_job(&job.job_id, Duration::from_secs(60)).unwrap();
    let refused = client.command_job(&job.job_id, JobCommand::Pause).unwrap_err();
    assert_eq!((refused.status, refused.code.as_deref()), (Some(409), Some("JobConflict")), "{refused:?}");
    drop(server);
    let refused = client.health().unwrap_err();
    assert_eq!((refused.status, refused.code), (None, None));
    for address in ["nowhere", "ftp://a.example", "http://"] {
        assert!(ScreenObserverClient::new(address).is_err(), "{address}");
    }
}

#[test]
fn the_token_is_sent() {
    let site = Site::with(json!({"web_ui": {"token": "a-token-of-sixteen"}}));
    let client = ScreenObserverClient::new(&format!("http://{}", site.address)).unwrap();
    assert_eq!(client.health().unwrap_err().status, Some(401));
    assert!(client.with_token("a-token-of-sixteen").health().is_ok());
}
