//! The whole table of tools, looked at from every side: names, schemas, examples, docs, size.
//! `UPDATE_DOCS=1 cargo test --test suite surface` makes the generated texts anew.

use std::collections::BTreeSet;

use crate::support::{Client, World, project, read};
use os_screen_observer::docs;
use os_screen_observer::tool::{Effect, Group, Spec};
use os_screen_observer::tools;
use serde_json::{Value, json};

fn specs() -> Vec<Spec> {
    tools::all_tools().collect()
}

#[test]
fn names_are_short_plain_and_unique() {
    let mut seen = BTreeSet::new();
    for spec in specs() {
        let name = spec.meta.name;
        assert!((1..=40).contains(&name.len()), "{name}");
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
            "{name}"
        );
        assert!(seen.insert(name), "{name} is declared twice");
    }
}

#[test]
fn every_argument_is_described() {
    for spec in specs() {
        for (name, property) in spec.input_schema()["properties"].as_object().unwrap() {
            // Every tool that acts takes it, and one of each list says what it is.
            if name == "confirm_token" {
                continue;
            }
            let described = property["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(described, "{}.{name} has no description", spec.meta.name);
        }
    }
}

#[test]
fn schemas_are_portable() {
    for spec in specs() {
        for schema in [Some(spec.input_schema()), spec.output_schema()].into_iter().flatten() {
            assert_eq!(schema["type"], "object", "{}", spec.meta.name);
            let text = schema.to_string();
            for word in
                ["$ref", "$defs", "$schema", "anyOf", "oneOf", "\"null\"", "\"format\":\"", "x-hidden"]
            {
                assert!(!text.contains(word), "{} has {word}: {text}", spec.meta.name);
            }
        }
    }
}

#[test]
fn every_tool_that_acts_can_be_tried_dry() {
    for spec in specs().into_iter().filter(|spec| spec.meta.effect.acts()) {
        let schema = spec.full_input_schema();
        // The steps of a list bring their own tokens.
        for name in if spec.meta.steps { &["dry_run"][..] } else { &["dry_run", "confirm_token"] } {
            assert!(schema["properties"].get(name).is_some(), "{} does not take {name}", spec.meta.name);
        }
    }
}

/// What a tool that is locked needs: the secret that the examples show.
fn unlocked(spec: &Spec) -> Value {
    match (spec.meta.lock, spec.meta.switch) {
        (Some(_), _) => json!({"exec": {"enabled": true, "secret": "correct horse battery"}}),
        (None, Some(_)) => {
            let folder = format!("{}-{}", spec.meta.name, std::process::id());
            let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
            json!({"jobs": {"enabled": true, "dir": dir, "desks": ["browser"]}})
        }
        (None, None) => json!({}),
    }
}

#[test]
fn every_example_works_on_its_scenario() {
    for spec in &specs() {
        assert!(!spec.meta.examples.is_empty(), "{} has no example", spec.meta.name);
        for example in spec.meta.examples {
            let world = World::build(example.scenario, unlocked(spec));
            for (tool, args) in spec.meta.before_examples {
                world.ok(tool, serde_json::from_str(args).unwrap());
            }
            world.ok(spec.meta.name, serde_json::from_str(example.args).unwrap());
        }
    }
}

#[test]
fn words_are_there_and_end() {
    for spec in specs() {
        let meta = spec.meta;
        assert!(meta.brief.ends_with('.') && meta.detail.ends_with('.'), "{}", meta.name);
        assert!(!meta.rest.is_empty(), "{} has no route", meta.name);
        let unknown = meta.implies.iter().find(|name| !specs().iter().any(|spec| spec.meta.name == **name));
        assert_eq!(unknown, None, "{} implies a tool that does not exist", meta.name);
    }
}

#[test]
fn a_get_route_never_acts_except_the_contracts_one() {
    use os_screen_observer::tool::Method;
    for spec in specs().into_iter().filter(|spec| spec.meta.effect != Effect::Observe) {
        let gets: Vec<_> = spec.meta.rest.iter().filter(|(method, _)| *method == Method::Get).collect();
        let allowed = gets.iter().all(|(_, path)| *path == "/api/bring_to_foreground");
        assert!(allowed, "{} acts by GET", spec.meta.name);
    }
}

#[test]
fn mcp_openai_and_declaration_agree() {
    let mut client = Client::mock(&[]);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let listed = listed.as_array().unwrap();
    let is_public = |spec: &Spec| {
        let meta = &spec.meta;
        meta.listed && meta.lock.is_none() && meta.switch.is_none() && meta.group != Group::Browser
    };
    let public: Vec<Spec> = specs().into_iter().filter(is_public).collect();
    assert_eq!(listed.len(), public.len());
    for (spec, tool) in public.iter().zip(listed) {
        assert_eq!(tool["name"], spec.meta.name);
        assert_eq!(tool["description"], spec.meta.brief);
        assert_eq!(tool["inputSchema"], spec.input_schema());
        assert_eq!(docs::openai_function(spec)["function"]["parameters"], spec.input_schema());
        assert_eq!(docs::tool_json(spec)["inputSchema"], spec.input_schema());
        let output = tool.get("outputSchema").cloned();
        assert_eq!(output, spec.output_schema(), "{}", spec.meta.name);
        check_annotations(spec, &tool["annotations"]);
    }
}

fn check_annotations(spec: &Spec, annotations: &Value) {
    let effect = spec.meta.effect;
    assert_eq!(annotations["readOnlyHint"], effect == Effect::Observe, "{}", spec.meta.name);
    assert_eq!(annotations["destructiveHint"], effect.acts(), "{}", spec.meta.name);
    assert_eq!(annotations["idempotentHint"], effect == Effect::Observe, "{}", spec.meta.name);
    assert_eq!(annotations["openWorldHint"], spec.meta.open_world(), "{}", spec.meta.name);
}

#[test]
fn the_list_of_tools_is_cheap_to_read() {
    let mut client = Client::mock(&[]);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    let tokens = serde_json::to_string(tools).unwrap().len() / 4 / tools.len();
    assert!(tokens <= 190, "{tokens} tokens a tool on average");
}

#[test]
fn an_agent_reads_little_and_can_do_everything() {
    let mut client = Client::mock(&["--profile", "agent"]);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(["look", "find", "act"].iter().all(|name| names.contains(name)), "{names:?}");
    let tokens = tools.to_string().len() / 4;
    assert!(tokens <= 3500, "{tokens} tokens for {} tools: {names:?}", names.len());
    // What is not listed can be a step, and whatever was taken away cannot.
    let step =
        json!({"steps": [{"do": "key_into_element", "selector": "Window", "keys": "end"}], "dry_run": true});
    let reply = client.call("act", step.clone());
    assert_eq!(reply["isError"], false, "{reply}");
    assert_eq!(reply["content"][0]["text"], "nothing was done, only foreseen\n1 key_into: ready");
    assert!(reply.get("structuredContent").is_none(), "clients would drop the lines: {reply}");
    let mut client = Client::mock(&["--profile", "agent", "--tools", "-key_into_element,+wait_idle"]);
    let refused = client.call("act", step);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && text.starts_with("act: failed, BadRequest: "), "{refused}");
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "wait_idle"));
}

/// A mock desktop with pages is a browser.
const SITE: &[&str] = &["--scenario", "scenarios/web.yaml"];

#[test]
fn an_agent_in_a_browser_reads_less() {
    let mut client = Client::mock(&[SITE, &["--profile", "web"]].concat());
    let tools = client.request("tools/list", json!({}))["result"].clone();
    let bytes = tools.to_string().len();
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(bytes <= 10_000, "{bytes} bytes for {} tools: {names:?}", names.len());
    let wanted = [
        "look",
        "find",
        "act",
        "open_url",
        "page_history",
        "read_page",
        "downloads",
        "choose_files",
        "page_log",
    ];
    for name in wanted {
        assert!(names.contains(&name), "{name} is missing: {names:?}");
    }
    let opened = client.call("open_url", json!({"url": "https://shop.example/cart"}));
    let text = opened["content"][0]["text"].as_str().unwrap();
    let first = "open_url: done, 200 \"Cart — Acme Shop\" https://shop.example/cart\n";
    assert!(text.starts_with(first) && text.contains("Voucher"), "{text}");
}

#[test]
fn tools_for_pages_are_listed_where_there_are_pages() {
    let listed = |flags: &[&str]| {
        let tools = Client::mock(flags).request("tools/list", json!({}))["result"]["tools"].clone();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        tools.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    let pages: Vec<&str> =
        specs().iter().filter(|spec| spec.meta.group == Group::Browser).map(|spec| spec.meta.name).collect();
    let (here, elsewhere) = (listed(SITE), listed(&[]));
    for name in pages {
        assert!(here.iter().any(|known| known == name), "{name}");
        assert!(!elsewhere.iter().any(|known| known == name), "{name}");
    }
    assert_eq!(World::new().code("open_url", json!({"url": "https://a.example"})), "PlatformUnsupported");
}

/// What an input on an element may take from the person is said where one would look for it.
#[test]
fn delivery_is_in_the_schema_of_what_acts_on_elements() {
    for spec in specs().iter().filter(|spec| spec.full_input_schema()["properties"].get("delivery").is_some())
    {
        assert!(spec.input_schema()["properties"].get("delivery").is_some(), "{}", spec.meta.name);
    }
    let mut client = Client::mock(&["--profile", "agent"]);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let shows = |tool: &Value| tool["inputSchema"]["properties"].get("delivery").is_some();
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| shows(tool))
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["click_element", "set_value", "select_option", "type_text", "press_key"]);
}

/// What is left out means the screen here, and nothing there.
#[test]
fn a_default_is_described_as_it_is() {
    let said = |name: &str| {
        let spec = specs().into_iter().find(|spec| spec.meta.name == name).unwrap();
        spec.input_schema()["properties"]["window_uid"]["description"].as_str().unwrap().to_owned()
    };
    let world = World::new();
    for name in ["get_screenshot", "get_screenshot_cropped"] {
        assert_eq!(said(name), "Default: the whole screen.");
        assert_eq!(world.ok(name, json!({}))["window"], "(full screen)");
    }
    for name in ["get_ocr", "get_visible_areas", "bring_to_foreground"] {
        assert_eq!(said(name), "It or window_index is required.");
        assert_eq!(world.code(name, json!({})), "BadRequest");
    }
    assert_eq!(said("find_element"), "Default: focused window.");
}

/// What a client of this profile is told before its first call, and the tools that it is shown.
fn told(profile: &str) -> (String, Vec<String>) {
    let mut client = Client::start(&["--mock", "--profile", profile]);
    let text = client.initialize("2025-11-25")["result"]["instructions"].as_str().unwrap().to_owned();
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
    (text, names.collect())
}

#[test]
fn instructions_fit_into_what_clients_read_and_name_what_they_were_shown() {
    for profile in ["agent", "full", "test"] {
        let (text, shown) = told(profile);
        assert!(text.chars().count() < 2000, "{profile}: {} characters", text.chars().count());
        for name in ["look", "find", "act", "click_element"] {
            assert!(text.contains(name), "{name} is not taught to {profile}");
        }
        let words: Vec<&str> = text.split(|sign: char| !sign.is_alphanumeric() && sign != '_').collect();
        for spec in specs().iter().filter(|spec| words.contains(&spec.meta.name)) {
            assert!(
                shown.iter().any(|name| name == spec.meta.name),
                "{profile} is told of {}",
                spec.meta.name
            );
        }
    }
    assert!(told("full").0.contains("find_element"));
    let mut client = Client::start(&[&["--mock", "--profile", "web"], SITE].concat());
    let text = client.initialize("2025-11-25")["result"]["instructions"].as_str().unwrap().to_owned();
    assert!(text.chars().count() < 2000, "web: {} characters", text.chars().count());
    assert!(["open_url", "read_page", "look", "act"].iter().all(|name| text.contains(name)), "{text}");
}

/// The steps that the instructions show, as `{do:"select_option", ref, option_name}`.
fn steps_shown(text: &str) -> Vec<(String, Vec<String>)> {
    let shown = text.split("{do:\"").skip(1).filter_map(|rest| rest.split_once('}'));
    let read = |(step, _): (&str, &str)| {
        let (tool, arguments) = step.split_once('"').unwrap();
        let names = arguments.split(',').map(|part| part.split(':').next().unwrap().trim().to_owned());
        (tool.to_owned(), names.filter(|name| !name.is_empty()).collect())
    };
    shown.map(read).collect()
}

fn instructions_of(profile: &str) -> String {
    let mut client = Client::start(&[&["--mock", "--profile", profile], SITE].concat());
    client.initialize("2025-11-25")["result"]["instructions"].as_str().unwrap().to_owned()
}

#[test]
fn the_steps_of_the_instructions_fit_their_tools() {
    let tools = Client::mock(&[SITE, &["--profile", "full"]].concat()).request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let check = |(tool, arguments): (String, Vec<String>)| {
        let found = tools.iter().find(|listed| listed["name"] == tool.as_str());
        let known = &found.unwrap_or_else(|| panic!("{tool}"))["inputSchema"]["properties"];
        let unknown = arguments.iter().find(|name| known[name.as_str()].is_null());
        assert_eq!(unknown, None, "{tool}");
    };
    assert!(steps_shown(&instructions_of("web")).len() >= 3);
    ["full", "agent", "web"].map(instructions_of).iter().flat_map(|text| steps_shown(text)).for_each(check);
}

/// An error tells a client to go on with what it was shown.
#[test]
fn the_advice_of_errors_names_listed_tools() {
    let check = |profile: &str, tool: &str, args: Value, expected: &str| {
        let mut client = Client::mock(&["--profile", profile]);
        let reply = client.call(tool, args);
        let text = reply["content"][0]["text"].as_str().unwrap();
        let said = if profile == "agent" {
            text.contains(&format!("; try {expected}"))
        } else {
            serde_json::from_str::<Value>(text).unwrap()["error"]["suggested_next_tool"] == expected
        };
        assert!(said, "{profile} {tool}: {text}");
    };
    let gone = json!({"window_uid": "mock:none"});
    check("agent", "look", gone.clone(), "look");
    check("full", "look", gone, "list_windows");
    let lost = json!({"selector": "//Button[name=\"none\"]"});
    check("agent", "click_element", lost.clone(), "find");
    check("full", "click_element", lost, "find_element");
}

/// Compares a generated text with the committed one, or writes it when asked to.
fn check_generated(path: &str, fresh: &str) {
    let file = project().join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, fresh).unwrap();
        return;
    }
    assert!(read(path) == fresh, "{path} is stale: UPDATE_DOCS=1 cargo test --test suite surface");
}

#[test]
fn the_tools_page_is_fresh() {
    check_generated("docs/tools.md", &docs::tools_page(&specs()));
}

#[test]
fn the_registry_entry_has_the_version_of_the_crate() {
    let entry: Value = serde_json::from_str(&read("server.json")).unwrap();
    assert_eq!(entry["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(entry["packages"][0]["version"], env!("CARGO_PKG_VERSION"));
    assert!(entry["description"].as_str().unwrap().chars().count() <= 100);
    assert!(read("README.md").contains(&format!("mcp-name: {}", entry["name"].as_str().unwrap())));
}

#[test]
fn the_example_config_of_the_client_names_this_binary() {
    let config: Value = serde_json::from_str(&read("claude_desktop_config.example.json")).unwrap();
    for (name, server) in config["mcpServers"].as_object().unwrap() {
        assert!(server["command"].as_str().unwrap().ends_with("os-screen-observer"), "{name}");
    }
}
