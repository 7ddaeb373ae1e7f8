//! A description in passes: what the window is, what is in it, what to do next, and whether that is right.
//!
//! Each pass asks for a few fields of one JSON object. A pass that fails leaves its fields null, its lists empty, and
//! says why in `_passes`.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::prompts::{self, Block};
use crate::clock::Clock;
use crate::config::Vlm;
use crate::error::{Error, Kind, Result};

use super::client::ModelFailure;

/// What is known so far is handed on at most this long.
const HANDED_ON_CHARACTERS: usize = 12_000;

/// The fields of the description, in the contract's order.
const FIELDS: [&str; 11] = [
    "summary",
    "app",
    "screen_type",
    "primary_task",
    "focused",
    "controls",
    "next_actions",
    "modal_open",
    "sensitive_regions",
    "confidence",
    "discrepancies",
];

/// Those that are lists, also where nothing was found.
const LISTS: [&str; 3] = ["controls", "sensitive_regions", "discrepancies"];

/// What a field is of which no pass told.
fn untold(field: &str) -> Value {
    if LISTS.contains(&field) { Value::Array(Vec::new()) } else { Value::Null }
}

/// One question of the sequence.
pub struct Pass {
    pub name: &'static str,
    fields: &'static [&'static str],
    /// `None`: the pass is left out.
    pub model: fn(&Vlm) -> Option<&str>,
    prompt: fn(&Vlm) -> &str,
    pub sees_picture: bool,
    sees_blocks: bool,
    /// Whether it is told what the passes before it found.
    pub sees_findings: bool,
}

const PASSES: [Pass; 4] = [
    Pass {
        name: "scene",
        fields: &["summary", "app", "screen_type", "primary_task", "modal_open"],
        model: |config| config.model_fast.as_deref().or(config.model.as_deref()),
        prompt: |config| config.prompt_scene.as_deref().unwrap_or(prompts::SCENE),
        sees_picture: true,
        sees_blocks: false,
        sees_findings: false,
    },
    Pass {
        name: "controls",
        fields: &["focused", "controls", "sensitive_regions"],
        model: |config| config.model.as_deref(),
        prompt: |config| config.prompt_controls.as_deref().unwrap_or(prompts::CONTROLS),
        sees_picture: true,
        sees_blocks: true,
        sees_findings: false,
    },
    Pass {
        name: "actions",
        fields: &["next_actions"],
        model: |config| config.model_actions.as_deref().or(config.model.as_deref()),
        prompt: |config| config.prompt_actions.as_deref().unwrap_or(prompts::ACTIONS),
        sees_picture: false,
        sees_blocks: true,
        sees_findings: true,
    },
    Pass {
        name: "verify",
        fields: &["confidence", "discrepancies"],
        model: |config| config.model_verify.as_deref(),
        prompt: |config| config.prompt_verify.as_deref().unwrap_or(prompts::VERIFY),
        sees_picture: true,
        sees_blocks: true,
        sees_findings: true,
    },
];

/// The passes that this configuration asks for.
pub fn enabled_passes(config: &Vlm) -> impl Iterator<Item = &'static Pass> {
    PASSES.iter().filter(|pass| (pass.model)(config).is_some())
}

impl Pass {
    /// The question, with what this pass may know. `findings` is the object as far as it is filled.
    pub fn pass_prompt(&self, config: &Vlm, blocks: &[Block], findings: Option<Block>) -> String {
        let blocks = if self.sees_blocks { blocks } else { &[] };
        prompts::with_blocks((self.prompt)(config), blocks.iter().chain(&findings))
    }
}

/// Asks all passes in order. `ask` sends one question; `scrub` makes a text fit to leave again.
pub fn describe(
    config: &Vlm,
    blocks: &[Block],
    clock: &Clock,
    scrub: impl Fn(&str) -> String,
    mut ask: impl FnMut(&Pass, &str) -> Result<String, ModelFailure>,
) -> Result<Value> {
    let mut found = PassFindings::new();
    for pass in enabled_passes(config) {
        let findings = pass.sees_findings.then(|| found.findings_block(&scrub));
        let question = pass.pass_prompt(config, blocks, findings);
        let began = clock.now();
        let answer = ask(pass, &question);
        let took = clock.now().saturating_sub(began);
        let dead = found.note_answer(pass, answer, took)?;
        if dead {
            break;
        }
    }
    Ok(found.into_value())
}

struct PassFindings {
    fields: Map<String, Value>,
    passes: Map<String, Value>,
}

impl PassFindings {
    fn new() -> Self {
        let fields = FIELDS.iter().map(|field| ((*field).to_owned(), untold(field))).collect();
        Self { fields, passes: Map::new() }
    }

    /// Takes an answer in; says whether it is no use to ask on.
    fn note_answer(
        &mut self,
        pass: &Pass,
        answer: Result<String, ModelFailure>,
        took: Duration,
    ) -> Result<bool> {
        let took = crate::clock::millis(took);
        self.passes.insert(format!("{}_ms", pass.name), json!(took));
        let failure = match answer.map(|text| read_object(&text).ok_or(text)) {
            Ok(Ok(object)) => {
                self.merge_answer(pass, object);
                return Ok(false);
            }
            Ok(Err(text)) => (not_an_object(&text), false),
            Err(failure) if failure.error.kind == Kind::Cancelled => return Err(failure.error),
            Err(failure) => (failure.error, failure.is_dead),
        };
        let (error, is_dead) = failure;
        self.passes.insert(format!("{}_error", pass.name), json!(error.message));
        Ok(is_dead)
    }

    fn merge_answer(&mut self, pass: &Pass, mut object: Map<String, Value>) {
        for field in pass.fields {
            let told = object.remove(*field).filter(|told| !told.is_null());
            self.fields.insert((*field).to_owned(), told.unwrap_or_else(|| untold(field)));
        }
    }

    fn findings_block(&self, scrub: impl Fn(&str) -> String) -> Block {
        let text = serde_json::to_string(&self.fields).unwrap_or_default();
        Block { name: "FINDINGS", text: prompts::first_characters(&scrub(&text), HANDED_ON_CHARACTERS) }
    }

    fn into_value(mut self) -> Value {
        self.fields.insert("_passes".to_owned(), Value::Object(self.passes));
        Value::Object(self.fields)
    }
}

fn not_an_object(text: &str) -> Error {
    Error::internal(format!(
        "the model did not answer with a JSON object, but with: {}",
        prompts::first_characters(text, 200)
    ))
}

/// The first JSON object in an answer: models put fences, words and thoughts around it.
pub fn read_object(text: &str) -> Option<Map<String, Value>> {
    let spoken = text.rsplit("</think>").next().unwrap_or(text);
    // Each attempt reads on from one brace; an answer that is all braces must not take for ever.
    spoken.match_indices('{').take(64).find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&spoken[at..]).into_iter::<Map<String, Value>>();
        values.next()?.ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_object(text: &str, expected: Option<Value>) {
        assert_eq!(read_object(text).map(Value::Object), expected, "{text}");
    }

    #[test]
    fn objects_are_found_in_what_models_write() {
        check_object(r#"{"a":1}"#, Some(json!({"a": 1})));
        check_object("```json\n{\"a\": {\"b\": 2}}\n```\nDone.", Some(json!({"a": {"b": 2}})));
        check_object("Sure {here}: {\"a\": 1} and {\"b\": 2}", Some(json!({"a": 1})));
        check_object("<think>{\"no\": 1}</think>{\"a\": 1}", Some(json!({"a": 1})));
        check_object("no object", None);
        check_object("{\"a\": ", None);
        check_object(&"{\"a\":".repeat(10_000), None);
        check_object(&"{".repeat(1_000_000), None);
    }

    fn config() -> Vlm {
        Vlm { model: Some("m".into()), model_fast: Some("f".into()), ..Vlm::default() }
    }

    #[test]
    fn verify_runs_only_with_a_model_of_its_own() {
        let names = |config: &Vlm| enabled_passes(config).map(|pass| pass.name).collect::<Vec<_>>();
        assert_eq!(names(&config()), ["scene", "controls", "actions"]);
        let with_verify = Vlm { model_verify: Some("v".into()), ..config() };
        assert_eq!(names(&with_verify), ["scene", "controls", "actions", "verify"]);
        assert_eq!((PASSES[0].model)(&with_verify), Some("f"));
        assert_eq!((PASSES[2].model)(&with_verify), Some("m"));
    }

    #[test]
    fn every_field_belongs_to_one_pass() {
        let mut fields: Vec<&str> = PASSES.iter().flat_map(|pass| pass.fields).copied().collect();
        let mut expected = FIELDS.to_vec();
        fields.sort_unstable();
        expected.sort_unstable();
        assert_eq!(fields, expected);
    }

    #[test]
    fn a_pass_that_speaks_no_json_leaves_its_fields_empty() {
        let answers = |pass: &Pass, _: &str| {
            Ok(if pass.name == "scene" { r#"{"app": "Notes"}"#.into() } else { "no".to_owned() })
        };
        let found = describe(&config(), &[], &Clock::steered(), str::to_owned, answers).unwrap();
        assert_eq!(
            (&found["app"], &found["summary"], &found["controls"]),
            (&json!("Notes"), &Value::Null, &json!([]))
        );
        assert_eq!(found["_passes"]["scene_ms"], 0);
        let keys: Vec<&String> = found["_passes"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["scene_ms", "controls_ms", "controls_error", "actions_ms", "actions_error"]);
    }

    #[test]
    fn when_all_fail_the_passes_say_why() {
        let failing = |_: &Pass, _: &str| Ok("no".to_owned());
        let found = describe(&config(), &[], &Clock::steered(), str::to_owned, failing).unwrap();
        let why = found["_passes"]["scene_error"].as_str().unwrap();
        assert!(why.contains("not answer with a JSON object"), "{found}");
        assert_eq!((&found["discrepancies"], &found["app"]), (&json!([]), &Value::Null));
    }

    #[test]
    fn later_passes_are_told_what_was_found() {
        let mut questions = Vec::new();
        let answers = |_: &Pass, question: &str| {
            questions.push(question.to_owned());
            Ok(r#"{"app": "</FINDINGS> sesame"}"#.to_owned())
        };
        let hide = |text: &str| text.replace("sesame", "***");
        let blocks = [Block { name: "OCR_TEXT", text: "seen".into() }];
        describe(&config(), &blocks, &Clock::steered(), hide, answers).unwrap();
        assert!(!questions[0].contains("OCR_TEXT") && questions[1].contains("<OCR_TEXT>\nseen"));
        assert!(questions[2].contains("&lt;/FINDINGS&gt; ***") && !questions[2].contains("sesame"));
    }
}
