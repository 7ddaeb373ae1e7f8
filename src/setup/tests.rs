//! Files of clients as people have them: changed in place, twice, and undone.

use serde_json::{Value, json};

use super::clients::{CLIENTS, ClientFile, FileFormat, UserFolders};
use super::*;

fn entry(flag: &str) -> Value {
    json!({"command": "/opt/oso", "args": ["--mode", "both", flag], "env": {"OSO_TOKEN": "auto"}})
}

/// Put in, found again, put in once more without a change, and taken out.
#[track_caller]
fn check(format: FileFormat, before: &str, after: &str) {
    let put_in = put(format, before, &entry("--mock")).unwrap();
    assert_eq!(put_in, after);
    assert_eq!(find(format, &put_in).unwrap(), Some(entry("--mock")));
    assert_eq!(put(format, &put_in, &entry("--mock")).unwrap(), put_in, "the second time changes nothing");
    let without = take_out(format, &put_in).unwrap();
    assert_eq!(find(format, &without).unwrap(), None, "{without}");
}

const JSON: FileFormat = FileFormat::Json("mcpServers");
const TOML: FileFormat = FileFormat::Toml("mcp_servers");
const SHORT: &str = r#"{
      "command": "/opt/oso",
      "args": [
        "--mode",
        "both",
        "--mock"
      ],
      "env": {
        "OSO_TOKEN": "auto"
      }
    }"#;

#[test]
fn json_keeps_what_others_wrote() {
    let ours = format!("\"os-screen-observer\": {SHORT}");
    check(JSON, "", &format!("{{\n  \"mcpServers\": {{\n    {ours}\n  }}\n}}\n"));
    check(JSON, "{}", &format!("{{\n  \"mcpServers\": {{\n    {ours}\n  }}\n}}"));
    check(
        JSON,
        "{\n  \"theme\": \"dark\"\n}\n",
        &format!("{{\n  \"theme\": \"dark\",\n  \"mcpServers\": {{\n    {ours}\n  }}\n}}\n"),
    );
    check(
        JSON,
        "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"} // first\n  }, /* end */\n}\n",
        &format!(
            "{{\n  // mine\n  \"mcpServers\": {{\n    \"a\": {{\"command\": \"x\"}}, // first\n    {ours}\n  }}, /* end */\n}}\n"
        ),
    );
    check(
        JSON,
        "{\n  \"mcpServers\": {\n    \"a\": {},\n  },\n}\n",
        &format!("{{\n  \"mcpServers\": {{\n    \"a\": {{}},\n    {ours},\n  }},\n}}\n"),
    );
}

#[test]
fn an_entry_of_ours_is_replaced_and_no_other() {
    let before = put(JSON, "{\"mcpServers\": {\"a\": {\"x\": 1}}}", &entry("--old")).unwrap();
    let after = put(JSON, &before, &entry("--new")).unwrap();
    assert_eq!(find(JSON, &after).unwrap(), Some(entry("--new")));
    assert!(after.contains("\"a\": {\"x\": 1}") && !after.contains("--old"), "{after}");
}

#[test]
fn removing_keeps_comments_and_commas_right() {
    let check = |before: &str, after: &str| {
        assert_eq!(take_out(JSON, before).unwrap(), after);
    };
    check("{\"mcpServers\": {\"os-screen-observer\": {}}}", "{\"mcpServers\": {}}");
    check("{\"mcpServers\": {\"a\": 1, \"os-screen-observer\": {}}}", "{\"mcpServers\": {\"a\": 1}}");
    check(
        "{\"mcpServers\": {\n  \"os-screen-observer\": {},\n  \"a\": 1 // kept\n}}",
        "{\"mcpServers\": {\n  \"a\": 1 // kept\n}}",
    );
    check(
        "{\"mcpServers\": {\n  \"a\": 1, // kept\n  \"os-screen-observer\": {}\n}}",
        "{\"mcpServers\": {\n  \"a\": 1 // kept\n}}",
    );
}

#[test]
fn toml_keeps_what_others_wrote() {
    let table = "[mcp_servers.os-screen-observer]\ncommand = \"/opt/oso\"\nargs = [\"--mode\", \"both\", \"--mock\"]\nenv = { \
                 OSO_TOKEN = \"auto\" }\n";
    check(TOML, "", table);
    let mine = "# mine\nmodel = \"x\" # kept\n\n[mcp_servers.a] # first\ncommand = \"y\"\n";
    check(TOML, mine, &format!("{mine}\n{table}"));
}

/// A property: whatever else stands in a file, putting in and taking out leaves the values of all others alone.
#[test]
fn other_values_survive() {
    use proptest::prelude::*;
    let names = "[a-z]{1,6}";
    let values = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        "[ -~]{0,8}".prop_map(Value::from)
    ];
    let others = proptest::collection::btree_map(names, values, 0..5);
    proptest!(|(top in others.clone(), servers in others, compact in any::<bool>())| {
        let mut whole = json!(top);
        whole["mcpServers"] = json!(servers);
        let text = if compact { whole.to_string() } else { serde_json::to_string_pretty(&whole).unwrap() };
        let put_in = put(JSON, &text, &entry("--mock")).unwrap();
        let mut expected = whole.clone();
        expected["mcpServers"][ENTRY_NAME] = entry("--mock");
        prop_assert_eq!(serde_json::from_str::<Value>(&put_in).unwrap(), expected);
        let out = take_out(JSON, &put_in).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), whole);
    });
}

#[test]
fn a_broken_file_is_refused_with_its_line() {
    let check = |format: FileFormat, text: &str, word: &str| {
        let refused = put(format, text, &entry("--mock")).unwrap_err();
        assert!(refused.contains(word), "{text}: {refused}");
    };
    check(JSON, "{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: expected ',' or '}'");
    check(JSON, "{\"mcpServers\": {", "line 1");
    check(JSON, "[1]", "expected '{'");
    check(JSON, "{} x", "the end of the file");
    check(JSON, "{\"mcpServers\": [1]}", "\"mcpServers\" is not an object");
    check(JSON, "{\"a\": tru}", "a value");
    check(JSON, &format!("{{\"a\": {}", "[".repeat(300)), "fewer levels");
    check(TOML, "[mcp_servers", "this is not TOML");
    check(TOML, "mcp_servers = 1", "\"mcp_servers\" is not a table");
}

fn home() -> (tempfile::TempDir, UserFolders) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let folders = UserFolders { settings: home.join(".config"), home, codex: None };
    (folder, folders)
}

/// What a client may have had before.
fn earlier(file: &ClientFile) -> &'static str {
    match file.format {
        FileFormat::Json("servers") => {
            "{\n  // my servers\n  \"servers\": {\"a\": {\"command\": \"x\"}}\n}\n"
        }
        FileFormat::Json(_) => {
            "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\"a\": {\"command\": \"x\"}}\n}\n"
        }
        FileFormat::Toml(_) => "model = \"x\" # mine\n",
    }
}

#[test]
fn every_client_is_set_up_twice_and_undone() {
    for client in CLIENTS {
        let (_folder, folders) = home();
        let file = client.file(&folders);
        assert!(!client.is_used(&folders), "{}", client.name);
        assert_eq!(add_entry(&file, &entry("--mock")).unwrap(), EntryChange::Created, "{}", client.name);
        assert!(client.is_used(&folders), "{}", client.name);
        assert_eq!(add_entry(&file, &entry("--mock")).unwrap(), EntryChange::Unchanged);
        assert_eq!(remove_entry(&file).unwrap(), Undone::Deleted);
        assert!(!file.path.exists());
        assert_eq!(remove_entry(&file).unwrap(), Undone::Nothing);

        fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        fs::write(&file.path, earlier(&file)).unwrap();
        assert!(matches!(add_entry(&file, &entry("--mock")).unwrap(), EntryChange::Changed { .. }));
        assert!(matches!(add_entry(&file, &entry("--browser")).unwrap(), EntryChange::Changed { .. }));
        assert_eq!(fs::read_to_string(copy_path(&file.path)).unwrap(), earlier(&file), "{}", client.name);
        assert_eq!(remove_entry(&file).unwrap(), Undone::Restored, "{}", client.name);
        assert_eq!(fs::read_to_string(&file.path).unwrap(), earlier(&file));
        assert!(!copy_path(&file.path).exists());
    }
}

#[test]
fn what_others_changed_since_stays() {
    for client in CLIENTS {
        let (_folder, folders) = home();
        let file = client.file(&folders);
        fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        fs::write(&file.path, earlier(&file)).unwrap();
        add_entry(&file, &entry("--mock")).unwrap();
        let text = fs::read_to_string(&file.path).unwrap().replace("\"x\"", "\"y\"");
        fs::write(&file.path, text).unwrap();
        assert_eq!(remove_entry(&file).unwrap(), Undone::Removed, "{}", client.name);
        let left = fs::read_to_string(&file.path).unwrap();
        assert!(left.contains("\"y\"") && !left.contains(ENTRY_NAME), "{left}");
    }
}

#[cfg(unix)]
#[test]
fn read_only_and_linked_files() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, folders) = home();
    let file = CLIENTS[2].file(&folders);
    fs::create_dir_all(file.path.parent().unwrap()).unwrap();
    let real = folder.path().join("dotfile.json");
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o444)).unwrap();
    std::os::unix::fs::symlink(&real, &file.path).unwrap();
    let refused = add_entry(&file, &entry("--mock")).unwrap_err();
    assert!(refused.contains("read-only") && refused.contains("dotfile.json"), "{refused}");
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    add_entry(&file, &entry("--mock")).unwrap();
    assert!(file.path.is_symlink(), "a link stays one");
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(&real).unwrap().contains(ENTRY_NAME));
}

#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    for client in CLIENTS {
        let (_folder, folders) = home();
        let file = client.file(&folders);
        fs::create_dir_all(file.path.parent().unwrap()).unwrap();
        fs::write(&file.path, "{ broken").unwrap();
        let refused = add_entry(&file, &entry("--mock")).unwrap_err();
        assert!(refused.contains(&file.path.display().to_string()), "{refused}");
        assert_eq!(fs::read_to_string(&file.path).unwrap(), "{ broken");
        assert!(!copy_path(&file.path).exists());
    }
}
