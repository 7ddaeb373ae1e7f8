//! Secrets that are used by name: typed where their owner lets them, and seen nowhere else.

use crate::support::{Client, World};
use os_screen_observer::model::input::Act;
use os_screen_observer::tools;
use serde_json::{Value, json};

const SENTINEL: &str = "S3NT1NEL \"quoted\" 9f2c";

/// A file that only its owner may read.
fn secret_file(folder: &tempfile::TempDir) -> String {
    let path = folder.path().join("secrets.json");
    std::fs::write(&path, json!({"BANK": SENTINEL, "mail": "another one"}).to_string()).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn login(folder: &tempfile::TempDir, mut config: Value) -> World {
    config["secrets"]["file"] = secret_file(folder).into();
    World::build(Some("scenarios/login.yaml"), config)
}

fn focus(world: &World, field: &str) {
    world.ok("click_element", json!({"selector": format!("//Edit[name=\"{field}\"]")}));
}

fn bank() -> Value {
    json!({"text": {"secret": "BANK"}})
}

fn typed(world: &World) -> Vec<String> {
    let texts = world.mock.action_log().into_iter().filter_map(|act| match act {
        Act::Type { text, .. } => Some(text),
        _ => None,
    });
    texts.collect()
}

/// H-399 on code: the object that names a secret, written into a string
#[test]
fn a_secret_named_in_a_string_is_not_typed() {
    let folder = tempfile::tempdir().unwrap();
    let world = login(&folder, json!({}));
    focus(&world, "Username");
    let reply = world.call("type_text", json!({"text": "{\"secret\":\"BANK\"}"}));
    assert_eq!(reply["error"]["code"], "BadRequest", "{reply}");
    assert!(reply.to_string().contains("send the object itself"), "{reply}");
    for text in ["{\"secret\":1}", "{\"secret\":\"BANK\"} and more", "{}"] {
        world.ok("type_text", json!({ "text": text }));
    }
    assert_eq!(typed(&world).len(), 3);
}

/// H-58 on code: a secret that is used by name
#[test]
fn a_named_secret_is_typed_and_shown_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.log");
    let world = login(&folder, json!({"logging": {"audit": true, "audit_path": audit}}));
    // Username is an ordinary field: only the redactor keeps the text from being read back.
    focus(&world, "Username");
    world.ok("type_text", bank());
    assert_eq!(typed(&world), [SENTINEL]);
    let calls = [
        ("get_window_structure", json!({})),
        ("get_window_structure", json!({"max_nodes": 500})),
        ("get_screen_description", json!({})),
        ("get_screen_sketch", json!({"window_index": 0, "structured": true})),
        ("find_element", json!({"selector": "//Edit"})),
        ("find_element", json!({"selector": format!("//Edit[value*='{SENTINEL}']")})),
        ("click_element", json!({"selector": SENTINEL})),
        ("type_text", json!({"text": {"secret": SENTINEL}})),
        ("type_text", json!({"text": 1, SENTINEL: 1})),
        ("no_such_tool", json!({})),
    ];
    for (tool, args) in calls {
        let text = world.reply(tool, args.clone()).text();
        assert!(!text.contains("S3NT1NEL"), "{tool} {args} shows it: {text}");
    }
    let tree = world.ok("get_window_structure", json!({}));
    assert_eq!(tree["tree"]["children"][0]["value"], "[REDACTED]");
    let log = std::fs::read_to_string(&audit).unwrap();
    assert!(!log.contains("S3NT1NEL"), "{log}");
    assert!(log.contains("tool=type_text ok=true secrets=BANK redactions=[args.text]"), "{log}");
}

#[test]
fn a_secret_is_not_forgotten_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let world = login(&folder, json!({}));
    (0..300).for_each(|number| world.app.redactor.learn_secret(&format!("another secret {number}")));
    assert_eq!(world.app.redactor.text(&format!("<{SENTINEL}>")), "<[REDACTED]>");
}

/// H-58 on stdio: a named secret, with all logs on
#[test]
fn nothing_leaves_the_process_while_everything_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.log");
    let config = folder.path().join("config.json");
    std::fs::write(&config, json!({"logging": {"audit": true, "audit_path": audit}}).to_string()).unwrap();
    let flags = ["--mode", "mcp", "--mock", "--scenario", "scenarios/login.yaml", "--config"];
    let flags: Vec<&str> = flags.into_iter().chain([config.to_str().unwrap()]).collect();
    let environment = [("RUST_LOG", "trace"), ("OSO_SECRET_BANK", SENTINEL)];
    let mut client = Client::start_with(&flags, &environment);
    client.initialize("2025-11-25");
    let mut seen = String::new();
    for (tool, args) in [
        ("click_element", json!({"selector": "//Edit[name=\"Username\"]"})),
        ("type_text", bank()),
        ("type_text", json!({"text": {"secret": "NONE"}})),
        ("get_window_structure", json!({})),
        ("get_screen_description", json!({})),
    ] {
        seen.push_str(&client.call(tool, args).to_string());
    }
    assert!(seen.contains("[REDACTED]") && seen.contains("known are BANK"), "{seen}");
    client.close_input();
    client.wait(std::time::Duration::from_secs(5)).expect("the process did not end");
    let errors = client.errors.lock().unwrap().clone();
    let log = std::fs::read_to_string(&audit).unwrap();
    assert!(errors.contains("serving MCP on stdio"), "{errors:.300}");
    for (place, text) in [("stdout", seen), ("stderr", errors), ("the audit log", log)] {
        assert!(!text.contains("S3NT1NEL"), "{place} shows it: {text}");
    }
}

#[test]
fn names_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let world = login(&folder, json!({}));
    let check = |text: Value, words: &str| {
        let reply = world.call("type_text", json!({"text": text}));
        assert_eq!(reply["error"]["code"], "BadRequest", "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(words), "{reply}");
    };
    check(json!({"secret": "BNAK"}), "known are BANK, mail");
    check(json!({"secret": "bank"}), "known are BANK, mail");
    check(json!({"secret": ""}), "{\"secret\":\"NAME\"}");
    check(json!({"secret": "a b"}), "{\"secret\":\"NAME\"}");
    check(json!({"secret": "x".repeat(65)}), "{\"secret\":\"NAME\"}");
    check(json!({"secret": 1}), "{\"secret\":\"NAME\"}");
    check(json!({"secret": "BANK", "more": 1}), "{\"secret\":\"NAME\"}");
    check(json!({}), "{\"secret\":\"NAME\"}");
    check(json!(["BANK"]), "must be a string");
    assert_eq!(world.code("type_text", json!({"text": {"secret": "NO"}, "dry_run": true})), "BadRequest");
    assert_eq!(world.code("press_key", json!({"keys": {"secret": "BANK"}})), "BadRequest");
    assert_eq!(world.effects(), 0);
    let none = World::new().call("type_text", bank());
    assert!(none["error"]["message"].as_str().unwrap().contains("has none"), "{none}");
}

#[test]
fn a_secret_goes_only_where_its_owner_lets_it() {
    let check = |rules: Value, field: &str, allowed: bool| {
        let folder = tempfile::tempdir().unwrap();
        let world = login(&folder, json!({"secrets": {"allow": {"BANK": rules}}}));
        focus(&world, field);
        let reply = world.call("type_text", bank());
        assert_eq!(reply["ok"], allowed, "{field}: {reply}");
        assert_eq!(world.effects(), if allowed { 2 } else { 1 });
        if !allowed {
            assert_eq!(reply["error"]["code"], "PermissionDenied");
            assert_eq!(reply["error"]["context"]["secret"], "BANK");
            let dry = world.code("type_text", json!({"text": {"secret": "BANK"}, "dry_run": true}));
            assert_eq!(dry, "PermissionDenied");
        }
        world.ok("type_text", json!({"text": {"secret": "mail"}}));
        world.ok("type_text", json!({"text": "plain"}));
    };
    check(json!([{"name_regex": "^Password$"}]), "Password", true);
    check(json!([{"name_regex": "^Password$"}]), "Username", false);
    check(json!([{"role": "Edit", "window_title_regex": "^Acme"}]), "Username", true);
    check(json!([{"role": "Edit", "window_title_regex": "^Bank"}]), "Password", false);
    check(json!([{"role": "Document"}, {"name_regex": "Pass"}]), "Password", true);
    check(json!([]), "Password", false);
}

#[test]
fn a_secret_that_cannot_be_kept_stops_the_start() {
    let check = |config: Value, environment: &[(&str, &str)], words: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        std::fs::write(&path, config.to_string()).unwrap();
        let flags = ["--mode", "mcp", "--mock", "--config", path.to_str().unwrap()];
        let mut client = Client::start_with(&flags, environment);
        let (status, _) = client.wait(std::time::Duration::from_secs(20)).expect("the server started");
        assert_eq!(status.code(), Some(1));
        let errors = client.last_words();
        assert!(errors.contains(words) && !errors.contains("S3NT1NEL"), "{errors}");
    };
    check(json!({"secrets": {"file": "no/such/file"}}), &[], "secrets.file no/such/file");
    check(
        json!({"secrets": {"allow": {"BNAK": []}}}),
        &[("OSO_SECRET_BANK", "S3NT1NEL")],
        "'BNAK', which is not a secret",
    );
    check(json!({"secrets": {"allow": {"BANK": [{"name": "x"}]}}}), &[], "`name` is not a condition");
    check(json!({"secrets": {"allow": {"BANK": [{"name_regex": "("}]}}}), &[], "does not compile");
    check(json!({"secrets": {"allow": {"BANK": [{}]}}}), &[], "has no condition");
    check(json!({}), &[("OSO_SECRET_PIN", "123")], "the secret PIN has fewer than 4 characters");
    check(json!({"confirmation": {"mode": "maybe"}}), &[], "one of token, ask");
    check(json!({"confirmation": {"ttl_seconds": 601}}), &[], "from 1 to 600");
    #[cfg(unix)]
    {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("open");
        std::fs::write(&file, "BANK=S3NT1NEL\n").unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        check(json!({"secrets": {"file": file}}), &[], "chmod 600");
    }
}

#[test]
fn published_schemas_stay_plain() {
    for spec in tools::all_tools() {
        let schema = spec.input_schema().to_string();
        assert!(!schema.contains("x-secret"), "{}: {schema}", spec.meta.name);
    }
    let schema = tools::all_tools().find(|spec| spec.meta.name == "type_text").unwrap().input_schema();
    assert_eq!(schema["properties"]["text"]["type"], "string");
}
