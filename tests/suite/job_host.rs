//! Jobs that a client plans itself: its calls are steps of the job, within the job's limits and on its record.

use serde_json::{Value, json};

use crate::support::{Client, World, project};

const LOGIN: &str = "scenarios/login.yaml";

struct Host {
    world: World,
    _folder: tempfile::TempDir,
}

impl Host {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = json!({"jobs": {"enabled": true, "dir": folder.path().join("jobs")}});
        Self { world: World::build(Some(LOGIN), config), _folder: folder }
    }

    fn begin(&self, more: Value) -> String {
        let mut job = json!({"job": "log in", "planner": "host"});
        job.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let made = self.world.ok("run_job", job);
        assert!(made["rules"]["how"].as_str().unwrap().contains("finish_job"), "{made}");
        made["job_id"].as_str().unwrap().to_owned()
    }

    fn status(&self, id: &str) -> Value {
        self.world.ok("job_status", json!({"job_id": id}))
    }
}

fn click(id: &str) -> Value {
    json!({"selector": "Button[name=\"Login\"]", "job_id": id})
}

fn code(reply: &Value) -> &str {
    reply["error"]["code"].as_str().unwrap_or_default()
}

#[test]
fn calls_with_the_id_of_a_job_are_its_steps() {
    let host = Host::new();
    let id = host.begin(json!({}));
    let seen = host.world.ok("get_window_structure", json!({"job_id": id}));
    assert!(seen["tree"].is_object(), "{seen}");
    host.world.ok("click_element", click(&id));
    // A call without it is none.
    host.world.ok("list_windows", json!({}));
    let now = host.status(&id);
    assert_eq!(
        (&now["status"], &now["steps"], &now["inputs"]),
        (&json!("running"), &json!(2), &json!(1)),
        "{now}"
    );
    let over = host.world.ok("finish_job", json!({"job_id": id, "result": {"a": 1}}));
    assert_eq!((&over["status"], &over["result"]), (&json!("succeeded"), &json!({"a": 1})), "{over}");
    assert_eq!((host.world.effects(), &over["used"]["calls"]), (1, &json!(2)));
    let late = host.world.call("click_element", click(&id));
    assert_eq!((code(&late), host.world.effects()), ("JobConflict", 1), "{late}");
    assert_eq!(code(&host.world.call("list_windows", json!({"job_id": "job_x"}))), "JobNotFound");
}

#[test]
fn the_limits_and_tools_of_a_job_hold_for_its_client() {
    let host = Host::new();
    let id = host.begin(json!({"limits": {"max_actions": 1}, "disabled_tools": ["set_value"]}));
    let value = json!({"selector": "Edit[name=\"Username\"]", "value": "a", "job_id": id});
    let refused = host.world.call("set_value", value);
    assert!(refused.to_string().contains("not among the tools of this job"), "{refused}");
    host.world.ok("click_element", click(&id));
    let over = host.world.call("click_element", click(&id));
    assert!(over.to_string().contains("1 actions"), "{over}");
    assert_eq!((host.status(&id)["status"].as_str(), host.world.effects()), (Some("budget_exceeded"), 1));
}

#[test]
fn the_result_of_a_client_may_be_mended_twice() {
    let schema = json!({"type": "object", "required": ["n"]});
    let host = Host::new();
    let id = host.begin(json!({ "output_schema": schema }));
    let finish = |result: Value| host.world.call("finish_job", json!({"job_id": id, "result": result}));
    let wrong = finish(json!({}));
    assert!(code(&wrong) == "BadRequest" && wrong.to_string().contains("corrected result"), "{wrong}");
    assert_eq!(finish(json!({"n": 1}))["status"], "succeeded");
    let id = host.begin(json!({ "output_schema": schema }));
    let finish = |result: Value| host.world.call("finish_job", json!({"job_id": id, "result": result}));
    assert_eq!(
        [finish(json!({})), finish(json!({}))].map(|reply| code(&reply).to_owned()),
        ["BadRequest"; 2]
    );
    let over = finish(json!({"m": 1}));
    assert_eq!((&over["ok"], code(&over)), (&json!(false), "JobConflict"), "{over}");
    assert!(over.to_string().contains("does not fit output_schema"), "{over}");
    let job = host.status(&id);
    assert_eq!((&job["status"], &job["error"]["code"]), (&json!("failed"), &json!("OutputInvalid")), "{job}");
}

/// A client that may resume its job is not left waiting for itself.
#[test]
fn a_call_of_a_paused_job_is_answered_and_not_made_later() {
    let host = Host::new();
    let id = host.begin(json!({"limits": {"max_actions": 1, "on_budget": "pause"}}));
    host.world.ok("click_element", click(&id));
    for _ in 0..2 {
        let paused = host.world.call("click_element", click(&id));
        assert_eq!((code(&paused), &paused["error"]["context"]["status"]), ("JobConflict", &json!("paused")));
        assert!(
            paused.to_string().contains("1 actions") && paused.to_string().contains("job_control"),
            "{paused}"
        );
    }
    assert_eq!(code(&host.world.call("finish_job", json!({"job_id": id, "result": 1}))), "JobConflict");
    host.world.ok("job_control", json!({"job_id": id, "action": "resume"}));
    let windows = host.world.ok("list_windows", json!({"job_id": id}));
    assert!(windows["windows"].is_array(), "the answer of this call, and not of an earlier one: {windows}");
    assert_eq!(host.world.effects(), 1, "what was withdrawn is not made");
    host.world.ok("click_element", click(&id));
    host.world.ok("finish_job", json!({"job_id": "last", "result": 1}));
    assert_eq!(host.status(&id)["inputs"], 2);
}

#[test]
fn the_last_job_of_a_planning_client_is_the_one_that_it_plans() {
    let host = Host::new();
    let id = host.begin(json!({}));
    host.world.ok("run_job", json!({"job": "b", "planner": "scripted:demo"}));
    let over = host.world.ok("finish_job", json!({"job_id": "last", "result": 1}));
    assert_eq!(over["job_id"], json!(id), "{over}");
}

#[test]
fn a_client_gives_up_or_is_cancelled_and_the_desk_is_free_again() {
    let host = Host::new();
    let id = host.begin(json!({}));
    let second = host.world.call("run_job", json!({"job": "b", "planner": "host"}));
    assert!(code(&second) == "JobConflict" && second.to_string().contains(&id), "{second}");
    assert_eq!(code(&host.world.call("finish_job", json!({"job_id": id}))), "BadRequest");
    let over = host.world.ok("finish_job", json!({"job_id": id, "fail": "no such form"}));
    assert_eq!((&over["status"], &over["error"]["message"]), (&json!("failed"), &json!("no such form")));
    let id = host.begin(json!({}));
    host.world.ok("job_control", json!({"job_id": id, "action": "cancel"}));
    let late = host.world.call("click_element", click(&id));
    assert!(code(&late) == "JobConflict" && late.to_string().contains("cancelled"), "{late}");
    assert_eq!(host.world.effects(), 0);
    host.begin(json!({}));
}

/// H-318 on stdio: on a connection that lasts a client does not leave its job by leaving the id out.
#[test]
fn the_calls_of_a_connection_belong_to_the_job_that_it_plans() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("jobs").display().to_string();
    let scenario = project().join(LOGIN).display().to_string();
    let settings = [("OSO_JOBS__ENABLED", "true"), ("OSO_JOBS__DIR", dir.as_str())];
    let mut client = Client::start_with(&["--mode", "mcp", "--mock", "--scenario", &scenario], &settings);
    client.initialize("2025-11-25");
    let job =
        client.data("run_job", json!({"job": "log in", "planner": "host", "limits": {"max_actions": 1}}));
    let id = job["job_id"].clone();
    let click = json!({"selector": "Button[name=\"Login\"]"});
    assert_eq!(client.data("click_element", click.clone())["ok"], true);
    let over = client.data("click_element", click.clone());
    assert!(over.to_string().contains("1 actions"), "{over}");
    assert_eq!(client.data("job_status", json!({"job_id": id}))["status"], "budget_exceeded");
    let first = client.data("list_windows", json!({}));
    let warning = first["warning"].as_str().unwrap_or_default();
    assert!(first["ok"] == true && warning.contains("is over") && warning.contains("job_"), "{first}");
    let second = client.data("list_windows", json!({}));
    assert!(second["ok"] == true && second.get("warning").is_none(), "it is said once: {second}");
}
