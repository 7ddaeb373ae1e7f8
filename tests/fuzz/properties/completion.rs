//! Answers of a model server: the key of the config is in nothing that comes of them, what is told is bounded, and
//! the object that a model was asked for is found again in whatever is written around it.

use std::sync::LazyLock;

use os_screen_observer::clock::Clock;
use os_screen_observer::config::{Endpoint, Secret, Vlm};
use os_screen_observer::privacy::untrusted;
use os_screen_observer::vlm::client::{Client, KnownPrefix, model_names};
use os_screen_observer::vlm::multipass;
use serde_json::Value;

const KEY: &str = "sk-KEY/0123";
const PASSWORD: &str = "pa%3Ass";

static CONFIG: LazyLock<Vlm> = LazyLock::new(|| Vlm {
    base_url: Endpoint::new(format!("http://user:{PASSWORD}@localhost:1/v1?k=QUERYKEY")),
    api_key: Some(Secret::new(KEY)),
    model: Some("m".to_owned()),
    model_verify: Some("v".to_owned()),
    ..Vlm::default()
});

/// As they stand in the config, and as they may be written by a server that sends them back.
const SECRETS: &[&str] = &[KEY, PASSWORD, "pa:ss", "QUERYKEY", r"sk-KEY\/0123"];

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check_answer(&text);
    check_object(&text);
    check_passes(&text);
    check_names(&text);
}

fn check_answer(text: &str) {
    let known = KnownPrefix::default();
    let client = Client::new(&CONFIG, &known).unwrap();
    match client.parse_answer(text) {
        Ok(answer) => {
            assert!(!answer.text.trim().is_empty() && answer.text.trim() == answer.text, "{:?}", answer.text);
            check_secrets(&untrusted::clean_text(&answer.text));
        }
        Err(failure) => {
            assert!(failure.may_have_cost, "an answer came, so it may have cost something");
            super::check_sentence(&failure.error.message);
            check_secrets(&failure.error.message);
        }
    }
}

#[track_caller]
fn check_secrets(told: &str) {
    for secret in SECRETS {
        assert!(!told.contains(secret), "{secret} is told in {told:?}");
    }
}

fn check_object(text: &str) {
    let Some(object) = multipass::read_object(text) else { return };
    let plain = serde_json::to_string(&object).unwrap();
    for around in ["", "```json\n", "Sure, here {it} is: ", "<think>{\"no\": 1}</think>"] {
        let found = multipass::read_object(&format!("{around}{plain}\n```"));
        // What looks like the end of a thought may stand inside a text of the object.
        if !plain.contains("</think>") {
            assert_eq!(found.as_ref(), Some(&object), "after {around:?}");
        }
    }
}

fn check_passes(text: &str) {
    let mut asked = 0;
    let described = multipass::describe(&CONFIG, &[], &Clock::steered(), str::to_owned, |_, question| {
        asked += 1;
        assert!(question.len() < 200_000, "a question has {} bytes", question.len());
        Ok(text.to_owned())
    });
    assert_eq!(asked, 4, "not every pass was asked");
    match described {
        Ok(Value::Object(fields)) => assert_eq!(fields.len(), 12, "{fields:?}"),
        Ok(other) => panic!("the description is {other}"),
        Err(problem) => super::check_sentence(&problem.message),
    }
}

fn check_names(text: &str) {
    for name in model_names(text).into_iter().flatten() {
        assert!(!name.is_empty() && !name.contains(['\n', '\r', '\t']), "{name:?}");
        assert_eq!(untrusted::clean_text(&name), name, "a name has escapes");
    }
}
