//! Loading as a whole: what wins, what is survived, what is refused.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::merge::{ConfigFile, FileText, merge_sources};
use super::*;

fn load_text(file: &str, environment: &[(&str, &str)], flags: &Flags) -> Result<Loaded, FatalConfig> {
    let environment: BTreeMap<_, _> =
        environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    merge_sources("config.json".into(), vec![trusted(file)], &environment, flags)
}

fn trusted(text: &str) -> ConfigFile {
    ConfigFile { path: "config.json".into(), text: FileText::Text(text.to_owned()), in_folder: false }
}

fn in_folder(text: &str) -> ConfigFile {
    ConfigFile { in_folder: true, ..trusted(text) }
}

fn survives(file: &str) -> Loaded {
    load_text(file, &[], &Flags::default()).unwrap_or_else(|fatal| panic!("{file}: {fatal}"))
}

/// The file is fine and the value at the JSON pointer is this.
fn check_value(file: &str, environment: &[(&str, &str)], flags: &Flags, pointer: &str, expected: Value) {
    let loaded = load_text(file, environment, flags).unwrap_or_else(|fatal| panic!("{file}: {fatal}"));
    assert_eq!(loaded.problems, Vec::<String>::new());
    assert_eq!(json!(loaded.config).pointer(pointer), Some(&expected), "{file} {environment:?}");
}

/// The server starts with the defaults, and one problem says this.
fn check_problem(file: &str, expected: &[&str]) {
    let loaded = survives(file);
    assert_eq!(loaded.config, Config::default(), "{file}");
    assert_eq!(loaded.problems.len(), 1, "{:?}", loaded.problems);
    assert_all(&loaded.problems[0], expected);
}

fn check_fatal(file: &str, environment: &[(&str, &str)], expected: &[&str]) {
    let fatal = load_text(file, environment, &Flags::default()).expect_err(file);
    assert_all(&fatal.to_string(), expected);
}

fn check_notice(file: &str, expected: &[&str]) {
    let loaded = survives(file);
    assert_eq!((loaded.problems, loaded.notices.len()), (Vec::new(), 1), "{file}: {:?}", loaded.notices);
    assert_all(&loaded.notices[0], expected);
}

fn assert_all(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn later_sources_win() {
    const FILE: &str = r#"{"web_ui": {"port": 1, "host": "file"}}"#;
    const ENVIRONMENT: &[(&str, &str)] = &[("OSO_WEB_UI__PORT", "2"), ("OSO_WEB_UI__HOST", "env")];
    let flags = Flags { port: Some(3), ..Flags::default() };
    for (file, environment, flags, port, host) in [
        ("{}", &[] as &[_], &Flags::default(), 5001, "127.0.0.1"),
        (FILE, &[], &Flags::default(), 1, "file"),
        ("{}", ENVIRONMENT, &Flags::default(), 2, "env"),
        (FILE, ENVIRONMENT, &Flags::default(), 2, "env"),
        (FILE, &[], &flags, 3, "file"),
        (FILE, ENVIRONMENT, &flags, 3, "env"),
    ] {
        check_value(file, environment, flags, "/web_ui/port", json!(port));
        check_value(file, environment, flags, "/web_ui/host", json!(host));
    }
}

#[test]
fn sections_merge_one_level_deep_and_lists_replace() {
    let file = r#"{"tree": {"max_depth": 12}, "tracing": {"redact_keys": ["pin"]}}"#;
    check_value(file, &[], &Flags::default(), "/tree/max_depth", json!(12));
    check_value(file, &[], &Flags::default(), "/tree/default_depth", json!(5));
    check_value(file, &[], &Flags::default(), "/tracing/redact_keys", json!(["pin"]));
    check_value(file, &[], &Flags::default(), "/tracing/dir", json!("./traces"));
}

#[test]
fn every_flag_with_a_key_reaches_it() {
    let flags = Flags {
        mock: true,
        host: Some("::1".into()),
        log: Some(LogLevel::Error),
        max_actions: Some(1),
        max_screenshots: Some(2),
        max_vlm_tokens: Some(3),
        max_session_seconds: Some(4),
        actions_per_minute: Some(5),
        ..Flags::default()
    };
    let config = load_text("{}", &[], &flags).unwrap().config;
    assert!(config.mock);
    assert_eq!((config.web_ui.host.as_str(), config.logging.level), ("::1", LogLevel::Error));
    let budgets = json!(config.budgets);
    assert_eq!(
        budgets,
        json!({"max_actions": 1, "max_screenshots": 2, "max_vlm_tokens": 3,
        "max_session_seconds": 4, "actions_per_minute": 5})
    );
    assert!(config.budgets.is_configured() && !Config::default().budgets.is_configured());
}

#[test]
fn environment_forms() {
    let check = |name, raw, pointer, expected| {
        check_value("{}", &[(name, raw)], &Flags::default(), pointer, expected);
    };
    check("OSO_MOCK", "true", "/mock", json!(true));
    check("OSO_ACTIONS__DENY", r#"["type_text"]"#, "/actions/deny", json!(["type_text"]));
    check("OSO_LOGGING__LEVEL", "debug", "/logging/level", json!("DEBUG"));
    check("OSO_MCP__VERSION", "7", "/mcp/version", json!("7"));
    check("OSO_TREE__CACHE_TTL_S", "0.5", "/tree/cache_ttl_s", json!(0.5));
    check("OSO_VLM__PROMPT", "look", "/vlm/prompt_single", json!("look"));
    check("OSO_TOKEN", "t", "/mock", json!(false));
    check("OSO_MOCK", "", "/mock", json!(false));
}

#[test]
fn environment_faults() {
    let problem = |name, raw| {
        let loaded = load_text(r#"{"web_ui": {"port": 7}}"#, &[(name, raw)], &Flags::default()).unwrap();
        assert_eq!(loaded.config.web_ui.port, 7);
        loaded.error().expect(name)
    };
    assert_all(
        &problem("OSO_WEB_UI__PORT", "x"),
        &["OSO_WEB_UI__PORT: ", "0 to 65535", "the number 7 stays"],
    );
    assert_all(&problem("OSO_WEB_UI__PROT", "1"), &["OSO_WEB_UI__PROT", "did you mean OSO_WEB_UI__PORT?"]);
    assert_all(&problem("OSO_THEME", "1"), &["matches no key", "OSO_WEB_UI__PORT"]);
    check_fatal("{}", &[("OSO_MOCK", "yes")], &["OSO_MOCK: expected true or false"]);
    check_fatal("{}", &[("OSO_MOKC", "true")], &["OSO_MOKC", "did you mean OSO_MOCK?"]);
    check_fatal(
        "{}",
        &[("CLICKTHROUGH_ALLOWED_REGION", "0,0,0,5")],
        &["CLICKTHROUGH_ALLOWED_REGION: expected four whole numbers"],
    );
    check_fatal(
        "{}",
        &[("CLICKTHROUGH_DRY_RUN", "perhaps")],
        &["CLICKTHROUGH_DRY_RUN: expected true or false"],
    );
    check_fatal(
        "{}",
        &[("CLICKTHROUGH_ALOWED_REGION", "0,0,5,5")],
        &["CLICKTHROUGH_ALOWED_REGION", "did you mean CLICKTHROUGH_ALLOWED_REGION?"],
    );
    check_fatal(
        "{}",
        &[("OSO_ACTIONS__DENY", "type_text")],
        &["OSO_ACTIONS__DENY: expected a list of strings"],
    );
}

#[test]
fn an_absent_file_means_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let home = ("XDG_CONFIG_HOME".to_owned(), folder.path().display().to_string());
    let loaded = load(&Flags::default(), [home]).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.read.is_empty() && loaded.error().is_none() && loaded.notices.is_empty());
}

#[test]
fn a_file_that_was_named_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.json");
    let refused = load(&Flags { config: Some(path), ..Flags::default() }, []).unwrap_err().to_string();
    assert_all(&refused, &["refusing to start", "none.json", "does not exist", "leave --config out"]);
}

#[test]
fn a_file_is_read_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    let load_bytes = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        load(&Flags { config: Some(path.clone()), ..Flags::default() }, []).unwrap()
    };
    assert!(load_bytes(b"{\"mock\": true}").config.mock);
    assert_all(&load_bytes(b"{\"mock\": \xff}").error().unwrap(), &["not UTF-8 (byte 9)", "c.json"]);
    let large = vec![b' '; limits::CONFIG_BYTES + 1];
    assert_all(&load_bytes(&large).error().unwrap(), &["larger than 1048576 bytes"]);
    let folder_as_file = Flags { config: Some(folder.path().to_owned()), ..Flags::default() };
    assert_all(&load(&folder_as_file, []).unwrap().error().unwrap(), &["not a regular file"]);
}

#[test]
fn a_broken_file_is_survived_and_reported() {
    check_problem("{", &["config.json: EOF while parsing", "line 1 column 1", "the defaults apply"]);
    check_problem("[1]", &["expected a JSON object of sections"]);
    check_problem(
        "{\n \"ocr\": {\"tesseract_cmd\": \"C:\\Program Files\\t.exe\"}}",
        &["line 2", "Write each backslash twice"],
    );
}

#[test]
fn flags_and_environment_count_even_if_the_file_is_broken() {
    let flags = Flags { port: Some(9), ..Flags::default() };
    let loaded = load_text("{", &[("OSO_MOCK", "true")], &flags).unwrap();
    assert!(loaded.config.mock && loaded.error().is_some());
    assert_eq!(loaded.config.web_ui.port, 9);
}

#[test]
fn a_wrong_type_costs_one_key() {
    check_problem(r#"{"web_ui": {"port": "x"}}"#, &["`web_ui.port` in config.json", "the number 5001 stays"]);
    check_problem(r#"{"web_ui": {"port": 70000}}"#, &["0 to 65535", "70000"]);
    check_problem(r#"{"mcp": {"server_name": 5}}"#, &["`mcp.server_name`", "a non-empty string"]);
    check_problem(r#"{"web_ui": {"host": ""}}"#, &["a non-empty string"]);
    check_problem(r#"{"ocr": {"enabled": "no"}}"#, &["true or false"]);
    check_problem(r#"{"vlm": {"mode": "triple"}}"#, &["one of single, multipass"]);
    check_problem(r#"{"ascii_sketch": {"grid_width": 0}}"#, &["from 1 to 1000"]);
    check_problem(r#"{"tree": {"max_depth": 65}}"#, &["from 1 to 64"]);
    check_problem(r#"{"logging": {"level": "loud"}}"#, &["DEBUG"]);
    check_problem(r#"{"tracing": {"dir": null}}"#, &["a path as a string, found null"]);
    check_problem(r#"{"wait_for": {"max_timeout_ms": 60001}}"#, &["1 to 60000"]);
    check_problem(r#"{"mcp": 5}"#, &["`mcp` in config.json: expected an object with keys like server_name"]);
    assert_eq!(survives(r#"{"web_ui": {"port": "x", "host": "h"}}"#).config.web_ui.host, "h");
}

#[test]
fn a_broken_guard_refuses_the_start() {
    let check = |file, expected: &str| check_fatal(file, &[], &["refusing to start", expected]);
    check(r#"{"actions": []}"#, "`actions` in config.json: expected an object");
    check(r#"{"actions": {"deny": "type_text"}}"#, "`actions.deny`");
    check(r#"{"actions": {"default": "ask"}}"#, "one of allow, deny");
    check(r#"{"confirmation_required": {"role": "Button"}}"#, "a list of rules");
    check(r#"{"confirmation_required": [{"name_regex": "("}]}"#, "does not compile");
    check(r#"{"confirmation": {"bbox_tolerance_px": "20"}}"#, "`confirmation.bbox_tolerance_px`");
    check(r#"{"redaction": true}"#, "`redaction` in config.json");
    check(r#"{"redaction": {"ocr_text_patterns": ["(?=a"]}}"#, "does not compile");
    check(r#"{"redaction": {"enabled": "true"}}"#, "`redaction.enabled`");
    check(r#"{"audit": {"redact_arg_keys": "pin"}}"#, "`audit.redact_arg_keys`");
    check(r#"{"mock": "true"}"#, "`mock`");
    check(r#"{"logging": {"audit": 1}}"#, "`logging.audit`");
    check(r#"{"budgets": {"max_actions": -1}}"#, "`budgets.max_actions`");
}

#[test]
fn a_refusal_lists_everything_to_mend() {
    let file = r#"{"mock": 1, "redaction": {"ocr_text_patterns": ["("]}, "web_ui": {"port": "x"}}"#;
    check_fatal(file, &[], &["`mock`", "`redaction.ocr_text_patterns`", "`web_ui.port`"]);
}

#[test]
fn unknown_keys_are_ignored_aloud() {
    check_notice(r#"{"theme": "dark"}"#, &["`theme` in config.json", "ignored"]);
    check_notice(r#"{"downloads_folder": "x"}"#, &["ignored", "Near are", "`browser.downloads_dir`"]);
    check_notice(r#"{"web_ui": {"prot": 1}}"#, &["`web_ui.prot`", "did you mean `web_ui.port`?"]);
    check_notice(r#"{"ascii_skech": {}}"#, &["did you mean `ascii_sketch`?"]);
    check_notice(r#"{"vlm": {"output_format": "x"}}"#, &["has no effect"]);
    check_notice(r#"{"telemetry": {"metrics_enabled": true}}"#, &["`telemetry`", "has no effect"]);
    let silent = survives(r#"{"_note": 1, "web_ui": {"_note": 1}, "_": {"port": 5}}"#);
    assert_eq!((silent.notices, silent.config), (Vec::new(), Config::default()));
}

/// H-92 on code: among settings that protect, one that is not known is an error that everybody is told of.
#[test]
fn an_unknown_key_among_guards_is_a_problem() {
    for (file, path) in [
        (r#"{"actions": {"colour": 1}}"#, "`actions.colour`"),
        (r#"{"redaction": {"everything": true}}"#, "`redaction.everything`"),
    ] {
        assert_all(&survives(file).error().unwrap(), &[path, "is not protected"]);
    }
    assert_eq!(survives(r#"{"web_ui": {"colour": 1}}"#).error(), None);
}

/// H-92 on code: a name that is nearly that of a guard stops the start.
#[test]
fn a_misspelt_guard_is_not_ignored() {
    check_fatal(r#"{"actions": {"denny": ["x"]}}"#, &[], &["did you mean `actions.deny`?"]);
    check_fatal(r#"{"action": {"deny": ["x"]}}"#, &[], &["did you mean `actions`?"]);
    check_fatal(r#"{"redactions": {}}"#, &[], &["did you mean `redaction`?"]);
    check_fatal(r#"{"confirmation_require": []}"#, &[], &["did you mean `confirmation_required`?"]);
    check_fatal(r#"{"Mock": true}"#, &[], &["did you mean `mock`?"]);
    check_fatal(r#"{"upload_root": "/x"}"#, &[], &["did you mean `browser.upload_root`?"]);
}

#[test]
fn keys_written_twice_are_not_swallowed() {
    let loaded = survives(r#"{"web_ui": {"port": 1, "port": 2}}"#);
    assert_eq!(loaded.config.web_ui.port, 2);
    assert_all(&loaded.error().unwrap(), &["`web_ui.port` occurs twice"]);
    check_fatal(r#"{"actions": {"deny": ["a"]}, "actions": {}}"#, &[], &["`actions` occurs twice"]);
    check_fatal(r#"{"actions": {"deny": ["a"], "deny": []}}"#, &[], &["`actions.deny` occurs twice"]);
    check_fatal(
        r#"{"confirmation_required": [{"role": "a", "role": "b"}]}"#,
        &[],
        &["`confirmation_required` in config.json: `role` occurs twice"],
    );
}

#[test]
fn a_flat_path_is_no_key() {
    check_problem(r#"{"web_ui.port": 5}"#, &["`web_ui.port`", r#"write {"web_ui": {"port": …}} instead"#]);
    check_fatal(r#"{"actions.deny": ["x"]}"#, &[], &[r#"write {"actions": {"deny": …}} instead"#]);
    check_fatal(r#"{"actions.denny": ["x"]}"#, &[], &["did you mean `actions.deny`?"]);
    check_notice(r#"{"a.b.c": 1}"#, &["`a.b.c`", "ignored"]);
}

#[test]
fn the_old_name_of_the_prompt_works_and_yields() {
    check_value(r#"{"vlm": {"prompt": "a"}}"#, &[], &Flags::default(), "/vlm/prompt_single", json!("a"));
    let both = r#"{"vlm": {"prompt_single": "b", "prompt": "a"}}"#;
    check_value(both, &[], &Flags::default(), "/vlm/prompt_single", json!("b"));
}

#[test]
fn the_api_key_falls_back_to_its_variable() {
    let key = |file: &str, environment: &[(&str, &str)]| {
        let loaded = load_text(file, environment, &Flags::default()).unwrap();
        loaded.config.vlm.api_key.map(|key| key.reveal().to_owned())
    };
    assert_eq!(key("{}", &[]), None);
    assert_eq!(key("{}", &[("OWUI_API_KEY", "w")]).as_deref(), Some("w"));
    assert_eq!(key(r#"{"vlm": {"api_key": ""}}"#, &[("OWUI_API_KEY", "w")]).as_deref(), Some("w"));
    assert_eq!(key(r#"{"vlm": {"api_key": "f"}}"#, &[("OWUI_API_KEY", "w")]).as_deref(), Some("f"));
    assert_eq!(key("{}", &[("OSO_VLM__API_KEY", "e"), ("OWUI_API_KEY", "w")]).as_deref(), Some("e"));
}

#[test]
fn no_message_carries_a_secret() {
    assert!(!survives(r#"{"vlm": "S3NT1NEL"}"#).error().unwrap().contains("S3NT1NEL"));
    let file = r#"{"vlm": {"api_key": ["S3NT1NEL"], "base_url": "S3NT1NEL@host"}}"#;
    let loaded = load_text(file, &[("OSO_VLM__BASE_URL", "ftp://S3NT1NEL@h")], &Flags::default()).unwrap();
    assert_eq!(loaded.problems.len(), 3);
    assert!(!format!("{loaded:?}").contains("S3NT1NEL"), "{loaded:?}");
}

#[test]
fn the_path_of_tesseract_is_expanded() {
    let command = |file: &str| {
        let loaded = load_text(file, &[("HOME", "/home/ada")], &Flags::default()).unwrap();
        (loaded.config.ocr.tesseract_cmd, loaded.problems)
    };
    let (path, problems) = command(r#"{"ocr": {"tesseract_cmd": "\"~/t\""}}"#);
    assert_eq!((path, problems), (Some(PathBuf::from("/home/ada/t")), Vec::new()));
    assert_eq!(command(r#"{"ocr": {"tesseract_cmd": "\"\""}}"#).0, None);
    assert_all(&command(r#"{"ocr": {"tesseract_cmd": "$NOPE/t"}}"#).1[0], &["NOPE", "not set"]);
}

#[test]
fn the_default_depth_yields_to_the_greatest() {
    let loaded = survives(r#"{"tree": {"max_depth": 3}}"#);
    assert_eq!(loaded.config.tree.default_depth, 3);
    assert_all(&loaded.notices[0], &["`tree.default_depth` 5 is reduced to `tree.max_depth` 3"]);
}

#[test]
fn an_unknown_platform_is_noticed() {
    let loaded = survives(r#"{"platform": "BeOS"}"#);
    assert!(loaded.config.wants_mock());
    assert_all(&loaded.notices[0], &["BeOS", "mock"]);
}

#[test]
fn a_scenario_asks_for_the_mock() {
    let flags = Flags { scenario: Some("s.yaml".into()), steered_clock: true, ..Flags::default() };
    for text in ["{}", r#"{"mock": true}"#, r#"{"mock": false}"#] {
        let loaded = load_text(text, &[], &flags).unwrap();
        assert!(loaded.config.wants_mock(), "{text}");
        assert_eq!((loaded.scenario, loaded.steered_clock), (Some("s.yaml".into()), true), "{text}");
        assert!(loaded.notices.is_empty(), "{text}");
    }
}

#[test]
fn a_steered_clock_needs_the_mock() {
    let flags = Flags { steered_clock: true, ..Flags::default() };
    let loaded = load_text("{}", &[], &flags).unwrap();
    assert!(!loaded.steered_clock && !loaded.config.wants_mock());
    assert_eq!(loaded.notices, ["--steered-clock is ignored: it needs --mock"]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z_]{1,10}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    /// Whatever a key is given, it is taken, reported or refused: never a panic, never a swallowed fault.
    #[test]
    fn any_value_of_any_key_is_accounted_for(at in 0..KEYS.len(), value in any_json()) {
        let key = &KEYS[at];
        let file = match key.section() {
            Some(section) => json!({section: {key.name(): value}}),
            None => json!({key.path: value}),
        };
        let accepted = key.check(&value).is_ok();
        match load_text(&file.to_string(), &[], &Flags::default()) {
            Ok(loaded) => prop_assert_eq!(loaded.problems.is_empty(), accepted),
            Err(fatal) => prop_assert!(key.guard && !accepted, "{}", fatal),
        }
    }

    #[test]
    fn any_text_is_survived_or_refused(text in r#"[{}\[\]":,a-z_\\0-9 \n]{0,60}"#) {
        let _ = load_text(&text, &[], &Flags::default());
    }
}

#[test]
fn a_token_comes_from_the_file_or_by_its_short_name() {
    let token = |text: &str, environment: &[(&str, &str)]| {
        let environment =
            environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let files = vec![trusted(text)];
        let loaded = merge_sources("config.json".into(), files, &environment, &Flags::default()).unwrap();
        (
            loaded.config.web_ui.token.map(|token| token.reveal().to_owned()),
            loaded.config.web_ui.token_file.map(|file| file.to_string_lossy().into_owned()),
        )
    };
    let written = r#"{"web_ui": {"token": "from-file", "token_file": "~/t"}}"#;
    let home = ("HOME", "/home/a");
    assert_eq!(token(written, &[home]), (Some("from-file".to_owned()), Some("/home/a/t".to_owned())));
    assert_eq!(token(written, &[home, ("OSO_TOKEN", "short-name")]).0.as_deref(), Some("short-name"));
    let kept = "/home/a/.local/state/os-screen-observer/http-token".to_owned();
    assert_eq!(token(r#"{"web_ui": {"token": ""}}"#, &[home]), (None, Some(kept)));
    assert_eq!(token("{}", &[]), (None, None));
}

// ---- a file in the working folder --------------------------------------------------------------------------

fn load_folder(own: &str, folder: &str, environment: &[(&str, &str)]) -> Result<Loaded, FatalConfig> {
    let environment: BTreeMap<_, _> =
        environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let files = vec![trusted(own), in_folder(folder)];
    merge_sources("own.json".into(), files, &environment, &Flags::default())
}

/// With the user's own file before it, the folder's gives this value, and leaves out these keys.
fn check_folder(own: &str, folder: &str, pointer: &str, expected: Value, left_out: &[&str]) {
    let loaded = load_folder(own, folder, &[("HOME", "/home/ada")]).unwrap();
    assert_eq!(json!(loaded.config).pointer(pointer), Some(&expected), "{own} {folder}");
    assert_eq!(loaded.problems, Vec::<String>::new());
    let notice = loaded.notices.join("; ");
    assert_eq!(loaded.notices.len(), usize::from(!left_out.is_empty()), "{notice}");
    for key in left_out {
        assert_all(
            &notice,
            &[key, "--config ./config.json", "/home/ada/.config/os-screen-observer/config.json"],
        );
    }
}

/// H-120 on code: programs, addresses, listeners, folders and the desktop are not a folder's to choose.
#[test]
fn a_folder_opens_nothing() {
    let check = |folder, pointer, expected, key| check_folder("{}", folder, pointer, expected, &[key]);
    check(r#"{"ocr": {"tesseract_cmd": "./x"}}"#, "/ocr/tesseract_cmd", json!(null), "`ocr.tesseract_cmd`");
    check(r#"{"vlm": {"enabled": true}}"#, "/vlm/enabled", json!(false), "`vlm.enabled`");
    check(r#"{"exec": {"enabled": true}}"#, "/exec/enabled", json!(false), "`exec.enabled`");
    check(
        r#"{"web_ui": {"cors_origins": ["*"]}}"#,
        "/web_ui/cors_origins",
        json!([]),
        "`web_ui.cors_origins`",
    );
    check(r#"{"mock": true}"#, "/mock", json!(false), "`mock`");
    check(r#"{"platform": "web"}"#, "/platform", json!("auto"), "`platform`");
    check(r#"{"platform": 7}"#, "/platform", json!("auto"), "`platform`");
    check(r#"{"redaction": {"enabled": false}}"#, "/redaction/enabled", json!(true), "`redaction.enabled`");
    let own = r#"{"actions": {"default": "deny"}, "budgets": {"max_actions": 5}}"#;
    check_folder(
        own,
        r#"{"actions": {"allow": ["act"]}}"#,
        "/actions/allow",
        json!([]),
        &["`actions.allow`"],
    );
    check_folder(
        own,
        r#"{"actions": {"default": "allow"}}"#,
        "/actions/default",
        json!("deny"),
        &["default"],
    );
    check_folder(
        own,
        r#"{"budgets": {"max_actions": 6}}"#,
        "/budgets/max_actions",
        json!(5),
        &["max_actions"],
    );
}

#[test]
fn a_folder_may_tighten() {
    let check = |own, folder, pointer, expected| check_folder(own, folder, pointer, expected, &[]);
    let own = r#"{"actions": {"deny": ["act"]}, "budgets": {"max_actions": 5}}"#;
    check(own, r#"{"actions": {"deny": ["look"]}}"#, "/actions/deny", json!(["act", "look"]));
    check(own, r#"{"actions": {"deny": []}}"#, "/actions/deny", json!(["act"]));
    check(own, r#"{"budgets": {"max_actions": 4}}"#, "/budgets/max_actions", json!(4));
    check("{}", r#"{"logging": {"audit": true}}"#, "/logging/audit", json!(true));
    check("{}", r#"{"ascii_sketch": {"grid_width": 80}}"#, "/ascii_sketch/grid_width", json!(80));
    let narrow = r#"{"actions": {"default": "deny", "allow": ["look"]}}"#;
    check("{}", narrow, "/actions/default", json!("deny"));
    check("{}", narrow, "/actions/allow", json!(["look"]));
}

#[test]
fn the_environment_beats_a_folder() {
    let folder = r#"{"budgets": {"max_actions": 4}}"#;
    let loaded = load_folder("{}", folder, &[("OSO_BUDGETS__MAX_ACTIONS", "9")]).unwrap();
    assert_eq!(loaded.config.budgets.max_actions, Some(9));
    assert_eq!(loaded.read, ["config.json", "config.json in the working folder, for what it tightens"]);
}

/// H-120 on code: a file that cannot be read, or whose guard is broken, says how to leave it out.
#[test]
fn a_broken_file_in_a_folder_says_how_to_leave_it_out() {
    let lost = load_folder("{}", "{\"mock\": true, // for tests\n}", &[]).unwrap();
    assert!(lost.file_lost);
    assert_all(&lost.error().unwrap(), &["JSON has no comments", "no tool may act", "--config FILE"]);
    let fatal = load_folder("{}", r#"{"actions": {"deny": 5}}"#, &[]).unwrap_err().to_string();
    assert_all(&fatal, &["`actions.deny`", "--config FILE"]);
}

proptest! {
    /// H-120 on code: whatever a folder wants of a key that is trusted only, the configuration is as without it.
    #[test]
    fn no_value_of_a_folder_changes_a_trusted_key(at in 0..KEYS.len(), value in any_json()) {
        let key = &KEYS[at];
        let file = match key.section() {
            Some(section) => json!({section: {key.name(): value}}),
            None => json!({key.path: value}),
        };
        let Ok(loaded) = load_folder("{}", &file.to_string(), &[]) else { return Ok(()) };
        if key.in_folder == folder::FolderRule::Trusted {
            prop_assert_eq!(loaded.config, load_folder("{}", "{}", &[]).unwrap().config);
        }
    }
}

/// H-120 on code: whoever else can write the file is not asked.
#[cfg(unix)]
#[test]
fn a_file_that_others_can_write_is_refused_with_the_fix() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    std::fs::write(&path, "{}").unwrap();
    let outcome = |mode| {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let loaded = load(&Flags { config: Some(path.clone()), ..Flags::default() }, []);
        loaded.map_or_else(|fatal| fatal.to_string(), |_| "loaded".to_owned())
    };
    for mode in [0o666, 0o602, 0o646] {
        assert_all(&outcome(mode), &["other users can change it", "chmod go-w"]);
    }
    for mode in [0o600, 0o644, 0o444] {
        assert_eq!(outcome(mode), "loaded");
    }
    // Only the administrator can give a file away.
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_ok() {
        assert_all(&outcome(0o644), &["it belongs to another user (uid 12345)"]);
    }
}
