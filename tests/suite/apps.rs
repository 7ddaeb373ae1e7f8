//! Applications that may not be seen or operated: `apps.allow`, `apps.ask`, `apps.deny`, and what is denied without being
//! named. What was done is read from the mock's log, what was shown from every reply.

use os_screen_observer::clock::Cancel;
use os_screen_observer::gate::confirm::Person;
use os_screen_observer::gate::{Call, Origin, Reply};
use os_screen_observer::model::Rect;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Map, Value, json};

use crate::support::{Client, World};

/// What stands in the window that is withheld, and nowhere else.
const HIDDEN: &str = "S3NT1NEL";

/// A window of a password manager in front of an editor, and one beside it.
const DESKTOP: &str = r#"
name: vault
screen: {width: 900, height: 400}
states:
  only:
    windows:
      - uid: mock:vault
        title: S3NT1NEL-title
        process: PROCESS
        pid: 4001
        bounds: {x: 0, y: 0, width: 300, height: 200}
        focused: FOCUSED
        tree:
          role: Window
          name: S3NT1NEL-root
          children:
            - {role: Edit, name: S3NT1NEL-user, id: user, value: S3NT1NEL-value, focused: true, bounds: {x: 10, y: 10, width: 200, height: 24}}
            - {role: Button, name: S3NT1NEL-copy, id: copy, bounds: {x: 10, y: 50, width: 100, height: 30}}
      - uid: mock:notes
        title: Notes
        process: notes
        pid: 4002
        bounds: {x: 200, y: 100, width: 500, height: 250}
        focused: OTHER
        tree:
          role: Window
          name: Notes
          children:
            - {role: Edit, name: Note, id: note, value: "", bounds: {x: 320, y: 210, width: 200, height: 24}}
"#;

fn desktop(process: &str, vault_is_focused: bool, config: Value) -> World {
    let world = World::with(config);
    let text = DESKTOP
        .replace("PROCESS", process)
        .replace("FOCUSED", &vault_is_focused.to_string())
        .replace("OTHER", &(!vault_is_focused).to_string());
    world.mock.load(scenario::load_str(&text, "vault.yaml").unwrap());
    world
}

fn denied() -> World {
    desktop("vault", false, json!({"apps": {"deny": ["vault"]}}))
}

fn whole(reply: &Reply) -> String {
    format!("{} {} {:?}", reply.text(), reply.outline.clone().unwrap_or_default(), reply.lines())
}

/// Arguments that most tools would take, as far as the tool has them.
fn arguments(properties: &Map<String, Value>, window: bool) -> Value {
    let mut known = json!({
        "x": 60, "y": 65, "from_x": 60, "from_y": 65, "to_x": 20, "to_y": 20, "x1": 60, "y1": 65, "x2": 20, "y2": 20,
        "text": "a", "keys": "a", "value": "a", "selector": "//*", "element_id": "root.0", "query": "S3NT1NEL", "clicks": 1,
        "action": "maximize", "confirm": true,
    });
    if window {
        known["window_uid"] = json!("mock:vault");
    }
    let fits = |(name, _): &(String, Value)| properties.contains_key(name);
    Value::Object(known.as_object().unwrap().clone().into_iter().filter(fits).collect())
}

/// H-130 on code: every tool, by the window, by a point in it, and by the focus.
#[test]
fn no_tool_shows_or_touches_what_is_denied() {
    for focused in [false, true] {
        let world =
            desktop("vault", focused, json!({"apps": {"deny": ["vault"]}, "launch": {"programs": "none"}}));
        let refused_inputs = std::cell::Cell::new(0);
        for spec in world.app.tools.specs() {
            let schema = world.app.tools.find_tool(spec.meta.name).unwrap().schema();
            let none = Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&none);
            // Without a window, an input may well be meant for the other one.
            for window in if focused { &[true, false][..] } else { &[true][..] } {
                let args = arguments(properties, *window);
                let before = world.effects();
                let reply = world.reply(spec.meta.name, args.clone());
                let shown = whole(&reply);
                // What a caller wrote may come back.
                let shown = shown
                    .replace("\"S3NT1NEL\"", "")
                    .replace("'S3NT1NEL'", "")
                    .replace("\\\"S3NT1NEL\\\"", "");
                assert!(!shown.contains(HIDDEN), "{} {args}: {shown}", spec.meta.name);
                let names_place =
                    *window && (properties.contains_key("window_uid") || properties.contains_key("x"));
                if spec.meta.effect == os_screen_observer::tool::Effect::Input && names_place {
                    assert_eq!(world.effects(), before, "{} {args}: {shown}", spec.meta.name);
                    refused_inputs.set(refused_inputs.get() + 1);
                }
            }
        }
        assert!(refused_inputs.get() > 10, "{}", refused_inputs.get());
    }
}

/// H-130 on code: it is there, and no more is said of it.
#[test]
fn a_denied_window_is_listed_without_its_title() {
    let world = denied();
    let windows = world.ok("list_windows", json!({}))["windows"].clone();
    let vault =
        windows.as_array().unwrap().iter().find(|window| window["window_uid"] == "mock:vault").unwrap();
    assert_eq!((&vault["title"], &vault["process"]), (&json!("[withheld]"), &json!("vault")), "{vault}");
    let refused = world.call("get_window_structure", json!({"window_uid": "mock:vault"}));
    assert_eq!(refused["error"]["code"], "PermissionDenied", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("'vault'") && message.contains("apps.deny[0]") && message.contains("apps.allow"),
        "{message}"
    );
    assert_eq!(refused["error"]["context"]["rule"], "apps.deny[0]");
    assert_eq!(
        world.code("find_element", json!({"window_title": HIDDEN, "selector": "//Edit"})),
        "WindowGone"
    );
}

/// H-130 on code: keys go to the focus, clicks to what is in front there.
#[test]
fn no_input_reaches_a_denied_window() {
    let world = desktop("vault", true, json!({"apps": {"deny": ["vault"]}}));
    for (tool, args) in [
        ("type_text", json!({"text": "x"})),
        ("press_key", json!({"keys": "enter"})),
        ("click_at", json!({"x": 60, "y": 65})),
        ("drag", json!({"x1": 400, "y1": 300, "x2": 60, "y2": 65})),
        ("act", json!({"steps": [{"do": "type_text", "text": "x"}]})),
        ("window_action", json!({"window_uid": "mock:vault", "action": "close"})),
        ("bring_to_foreground", json!({"window_uid": "mock:vault"})),
    ] {
        if world.app.tools.find_tool(tool).is_none() {
            continue;
        }
        let reply = world.call(tool, args.clone());
        assert_eq!(reply["ok"], false, "{tool} {args}: {reply}");
        assert_eq!(world.effects(), 0, "{tool} {args}: {reply}");
    }
    let other = desktop("vault", false, json!({"apps": {"deny": ["vault"]}}));
    other.ok("click_at", json!({"x": 600, "y": 300}));
    other.ok("click_element", json!({"window_uid": "mock:notes", "selector": "//Edit"}));
    assert_eq!(other.effects(), 2);
}

/// H-130 on code: black where it shows, and the rest as it is.
#[test]
fn pictures_of_the_screen_have_nothing_of_it() {
    let world = denied();
    let picture = world.app.observer.screen_picture(&Cancel::new()).unwrap();
    let part = |x, y, width, height| picture.part(Rect::new(x, y, width, height)).picture;
    assert!(part(0, 0, 199, 199).is_one_colour(), "what of it shows is black");
    assert!(part(0, 0, 300, 99).is_one_colour());
    assert!(!part(310, 205, 300, 40).is_one_colour(), "the other window is there");
    let open = desktop("vault", false, json!({}));
    let picture = open.app.observer.screen_picture(&Cancel::new()).unwrap();
    assert!(!picture.part(Rect::new(0, 0, 190, 99)).picture.is_one_colour(), "without the rule it shows");
    assert_eq!(world.code("get_screenshot", json!({"window_uid": "mock:vault"})), "PermissionDenied");
}

#[test]
fn password_managers_and_prompts_are_denied_unless_they_are_allowed() {
    let check = |process: &str, config: Value, expected: Option<&str>| {
        let world = desktop(process, false, config);
        let reply = world.call("get_window_structure", json!({"window_uid": "mock:vault"}));
        assert_eq!(reply["error"]["context"]["rule"].as_str(), expected, "{process}: {reply}");
    };
    check("keepassxc", json!({}), Some("built in: password managers"));
    check("pinentry-gtk-2", json!({}), Some("built in: authorisation prompts"));
    check("keepassxc", json!({"apps": {"allow": ["keepassxc"], "default": "allow"}}), None);
    check("gedit", json!({"apps": {"allow": ["notes"]}}), Some("apps.allow, which does not name it"));
    check("gedit", json!({}), None);
}

/// H-130 on code: what may not be operated is not started either.
#[test]
fn a_denied_program_is_not_started() {
    let world = World::build(Some("scenarios/apps.yaml"), json!({"apps": {"deny": ["calculator"]}}));
    let reply = world.call("launch_app", json!({"program": "calculator"}));
    assert_eq!(reply["error"]["code"], "PermissionDenied", "{reply}");
    assert_eq!(world.effects(), 0);
}

// ── asking ─────────────────────────────────────────────────────────────────────────────────────────

fn asking() -> World {
    desktop("vault", false, json!({"apps": {"ask": ["vault"]}}))
}

fn look(world: &World, person: &Person) -> Reply {
    let args = json!({"window_uid": "mock:vault"});
    let call = Call { tool: "get_window_structure".to_owned(), args, origin: Origin::Mcp };
    world.app.gate.pass_for(call, person, &Cancel::new())
}

/// H-131 on code: asked once, and then known.
#[test]
fn the_person_is_asked_once_in_a_session() {
    let world = asking();
    let mut refused = look(&world, &Person::Reachable);
    assert!(!whole(&refused).contains(HIDDEN), "{}", refused.text());
    let question = refused.question.take().expect("a question");
    assert!(question.text.contains("\"vault\"") && question.for_session, "{}", question.text);
    let shown = look(&world, &Person::Agreed(question.ticket.clone()));
    assert!(whole(&shown).contains(HIDDEN), "{}", shown.text());
    // From now on nobody has to be asked, whoever calls.
    assert!(whole(&look(&world, &Person::Unreachable)).contains(HIDDEN));
    world.ok("click_element", json!({"window_uid": "mock:vault", "selector": "//Button"}));
    assert_eq!(world.effects(), 1);
}

/// H-131 on code: a no holds for the session, silence for the call.
#[test]
fn a_no_is_not_asked_again() {
    let world = asking();
    let question = look(&world, &Person::Reachable).question.take().unwrap();
    let declined = look(&world, &Person::Declined(question.ticket)).value();
    assert_eq!(declined["error"]["code"], "PermissionDenied", "{declined}");
    let again = look(&world, &Person::Reachable);
    assert!(
        again.question.is_none() && again.value()["error"]["code"] == "PermissionDenied",
        "{}",
        again.text()
    );
    let world = asking();
    let question = look(&world, &Person::Reachable).question.take().unwrap();
    let silent = look(&world, &Person::Silent(question.ticket));
    assert_eq!(
        (silent.question.is_none(), silent.value()["error"]["code"].as_str()),
        (true, Some("ConfirmationRequired"))
    );
    assert!(look(&world, &Person::Reachable).question.is_some(), "it may be asked again");
}

/// H-131 on code: nothing that a caller writes stands for the person.
#[test]
fn nobody_else_can_answer() {
    let world = asking();
    assert_eq!(look(&world, &Person::Unreachable).value()["error"]["code"], "ConfirmationRequired");
    let question = look(&world, &Person::Reachable).question.take().unwrap();
    let forged = os_screen_observer::gate::confirm::Ticket("aq:forged".to_owned());
    assert!(!whole(&look(&world, &Person::Agreed(forged))).contains(HIDDEN));
    look(&world, &Person::Silent(question.ticket.clone()));
    assert!(!whole(&look(&world, &Person::Agreed(question.ticket))).contains(HIDDEN), "a ticket serves once");
}

/// H-131 on REST: the person decides in the inspector.
#[test]
#[cfg(feature = "http")]
fn the_person_can_answer_in_the_inspector() {
    use crate::support::http::{Site, until};
    let site = Site::with(json!({"apps": {"ask": ["vault"]}}));
    let text = DESKTOP.replace("PROCESS", "vault").replace("FOCUSED", "false").replace("OTHER", "true");
    site.mock.load(scenario::load_str(&text, "vault.yaml").unwrap());
    let path = "/api/structure?window_uid=mock:vault";
    // Where a person answers, the server has a token.
    let token = format!("Bearer {}", site.link.split_once("#token=").unwrap().1);
    let ask = |path: &str| site.ask("GET", path, &[("authorization", token.as_str())], "");
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| ask(path));
        let list = || ask("/api/approvals").json()["approvals"].clone();
        until("the question is asked", || list()[0].is_object());
        let question = list()[0].clone();
        assert_eq!(question["for_session"], true, "{question}");
        let decide = os_screen_observer::gate::approvals::Decision::Allow;
        assert!(site.app.gate.approvals.decide_question(question["id"].as_str().unwrap(), decide));
        call.join().unwrap()
    });
    assert!(answer.body.contains(HIDDEN), "{answer:?}");
    assert!(ask(path).body.contains(HIDDEN));
}

// ── asking over stdio ──────────────────────────────────────────────────────────────────────────────

/// A server on its pipes that has to ask before it shows the window, and a client with these capabilities.
fn over_stdio(capabilities: Value) -> (Client, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (stage, config) = (folder.path().join("vault.yaml"), folder.path().join("config.json"));
    let text = DESKTOP.replace("PROCESS", "vault").replace("FOCUSED", "false").replace("OTHER", "true");
    std::fs::write(&stage, text).unwrap();
    std::fs::write(&config, json!({"apps": {"ask": ["vault"]}}).to_string()).unwrap();
    let (stage, config) = (stage.to_str().unwrap().to_owned(), config.to_str().unwrap().to_owned());
    let mut client = Client::start(&["--mode", "mcp", "--mock", "--scenario", &stage, "--config", &config]);
    let info = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
    client.request("initialize", params);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    (client, folder)
}

const READING: &str = "get_window_structure";

fn of_the_vault() -> Value {
    json!({"window_uid": "mock:vault"})
}

/// What a look at the window says after the question was answered so, and what the next one says without a question.
fn answered(answer: Value) -> (Value, Value) {
    let (mut client, _folder) = over_stdio(json!({"elicitation": {}}));
    let id = client.post("tools/call", json!({"name": READING, "arguments": of_the_vault()}));
    let question = client.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let words = question["params"]["message"].as_str().unwrap();
    assert!(words.contains("\"vault\"") && words.contains(READING) && !words.contains(HIDDEN), "{words}");
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    let text = |reply: &Value| {
        serde_json::from_str(reply["result"]["content"][0]["text"].as_str().unwrap_or("null")).unwrap()
    };
    let first = text(&client.answer(id));
    let id = client.post("tools/call", json!({"name": READING, "arguments": of_the_vault()}));
    let next = client.receive();
    let next = if next["method"] == "elicitation/create" {
        client.send(&json!({"jsonrpc": "2.0", "id": next["id"], "result": {"action": "cancel"}}));
        client.answer(id);
        json!("asked again")
    } else {
        text(&next)
    };
    (first, next)
}

/// H-131 on stdio: yes, no and no answer, by the client's own question.
#[test]
fn the_client_asks_about_an_application() {
    let (first, next) = answered(json!({"action": "accept", "content": {"allow": true}}));
    assert!(first.to_string().contains(HIDDEN) && next.to_string().contains(HIDDEN), "{first} {next}");
    for no in [json!({"action": "decline"}), json!({"action": "accept", "content": {"allow": false}})] {
        let (first, next) = answered(no.clone());
        let codes = [&first["error"]["code"], &next["error"]["code"]];
        assert_eq!(codes, ["PermissionDenied", "PermissionDenied"], "{no}: {first} {next}");
    }
    let (first, next) = answered(json!({"action": "cancel"}));
    assert_eq!((&first["error"]["code"], &next), (&json!("ConfirmationRequired"), &json!("asked again")));
}

/// H-131 on stdio: a client that cannot ask is refused, and told who could.
#[test]
fn a_client_that_cannot_ask_sees_nothing() {
    let (mut client, _folder) = over_stdio(json!({}));
    for (tool, args) in [
        (READING, of_the_vault()),
        ("click_element", json!({"window_uid": "mock:vault", "selector": "//Button"})),
        ("get_ocr", of_the_vault()),
    ] {
        let reply = client.data(tool, args);
        assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{tool}: {reply}");
        assert!(!reply.to_string().contains(HIDDEN), "{tool}: {reply}");
    }
}
