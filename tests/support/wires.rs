//! What model servers answer, on each wire: the same calls and words in four formats, and the faults of servers as data.

use serde_json::{Value, json};

use super::fake_model::{Request, Script};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FakeWire {
    Chat,
    Responses,
    Anthropic,
    Opencode,
}

/// What a server says that it counted: input, cached input, output.
pub const USUAL: Tokens = Tokens { input: 100, cached: 0, output: 10 };

#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    pub input: i64,
    pub cached: i64,
    pub output: i64,
}

impl FakeWire {
    pub const ALL: [FakeWire; 4] =
        [FakeWire::Chat, FakeWire::Responses, FakeWire::Anthropic, FakeWire::Opencode];

    pub fn planner(self) -> &'static str {
        match self {
            FakeWire::Chat => "chat",
            FakeWire::Responses => "responses",
            FakeWire::Anthropic => "anthropic",
            FakeWire::Opencode => "opencode",
        }
    }

    /// The section `planner` for a server at this address.
    pub fn config(self, url: &str) -> Value {
        match self {
            FakeWire::Chat | FakeWire::Responses => {
                json!({"base_url": format!("{url}/v1"), "model": "m", "api_key": KEY})
            }
            FakeWire::Anthropic => {
                json!({"anthropic_base_url": format!("{url}/v1"), "model": "m", "anthropic_api_key": KEY})
            }
            FakeWire::Opencode => json!({"opencode_url": url, "model": "p/m", "opencode_password": KEY}),
        }
    }

    /// An answer with these calls: the arguments as the wire has them.
    pub fn calls(self, calls: &[(&str, Value)]) -> Vec<Script> {
        self.answer("", calls, Some(USUAL))
    }

    pub fn says(self, text: &str) -> Vec<Script> {
        self.answer(text, &[], Some(USUAL))
    }

    pub fn done(self, result: Value) -> Vec<Script> {
        self.calls(&[("task_complete", json!({ "result": result }))])
    }

    pub fn answer(self, said: &str, calls: &[(&str, Value)], tokens: Option<Tokens>) -> Vec<Script> {
        let mut body = self.answer_body(said, calls);
        if let Some(tokens) = tokens {
            self.write_tokens(&mut body, tokens);
        }
        self.turn(Script::Json(200, body))
    }

    /// All requests that one question takes on this wire, with this answer to the question itself.
    pub fn turn(self, answer: Script) -> Vec<Script> {
        match self {
            FakeWire::Opencode => {
                vec![Script::Json(200, json!({"id": "ses_1"})), answer, Script::Json(200, json!(true))]
            }
            _ => vec![answer],
        }
    }

    fn answer_body(self, said: &str, calls: &[(&str, Value)]) -> Value {
        let ids = (0..calls.len()).map(|at| format!("c{at}"));
        let calls = calls.iter().zip(ids);
        match self {
            FakeWire::Chat => {
                let call = |((name, arguments), id): (&(&str, Value), String)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": as_text(arguments)}});
                let calls: Vec<Value> = calls.map(call).collect();
                json!({"choices": [{"message": {"role": "assistant", "content": said, "tool_calls": calls}}]})
            }
            FakeWire::Responses => {
                let call = |((name, arguments), id): (&(&str, Value), String)| json!({"type": "function_call", "call_id": id, "name": name, "arguments": as_text(arguments)});
                let mut output: Vec<Value> = calls.map(call).collect();
                output.insert(
                    0,
                    json!({"type": "message", "content": [{"type": "output_text", "text": said}]}),
                );
                json!({ "output": output })
            }
            FakeWire::Anthropic => {
                let call = |((name, arguments), id): (&(&str, Value), String)| json!({"type": "tool_use", "id": id, "name": name, "input": arguments});
                let mut content: Vec<Value> = calls.map(call).collect();
                content.insert(0, json!({"type": "text", "text": said}));
                json!({"type": "message", "role": "assistant", "content": content})
            }
            FakeWire::Opencode => {
                let call = |((name, arguments), id): (&(&str, Value), String)| json!({"id": id, "tool": name, "arguments": arguments});
                let calls: Vec<Value> = calls.map(call).collect();
                json!({"info": {"structured": {"said": said, "calls": calls}}, "parts": []})
            }
        }
    }

    fn write_tokens(self, body: &mut Value, Tokens { input, cached, output }: Tokens) {
        match self {
            FakeWire::Chat => {
                body["usage"] = json!({"prompt_tokens": input, "completion_tokens": output,
                    "prompt_tokens_details": {"cached_tokens": cached}});
            }
            FakeWire::Responses => {
                body["usage"] = json!({"input_tokens": input, "output_tokens": output,
                    "input_tokens_details": {"cached_tokens": cached}});
            }
            FakeWire::Anthropic => {
                body["usage"] = json!({"input_tokens": input - cached, "output_tokens": output,
                    "cache_read_input_tokens": cached});
            }
            FakeWire::Opencode => {
                body["info"]["tokens"] = json!({"input": input - cached, "output": output, "reasoning": 0,
                    "cache": {"read": cached, "write": 0}});
            }
        }
    }

    /// The requests that are questions to the model.
    pub fn questions(self, requests: &[Request]) -> Vec<Request> {
        let is_question = |request: &&Request| match self {
            FakeWire::Opencode => request.path.ends_with("/message"),
            _ => request.method == "POST",
        };
        requests.iter().filter(is_question).cloned().collect()
    }

    /// The calls and results that a question tells again, in their order: `Ok(id)` for a call, `Err(id)` for its result.
    pub fn told(self, question: &Value) -> Vec<Result<String, String>> {
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        let mut told = Vec::new();
        match self {
            FakeWire::Chat => {
                for message in question["messages"].as_array().unwrap() {
                    told.extend(items(&message["tool_calls"]).map(|call| Ok(id(&call["id"]))));
                    told.extend(message.get("tool_call_id").map(|result| Err(id(result))));
                }
            }
            FakeWire::Responses => {
                for item in question["input"].as_array().unwrap() {
                    match item["type"].as_str() {
                        Some("function_call" | "computer_call") => told.push(Ok(id(&item["call_id"]))),
                        Some("function_call_output" | "computer_call_output") => {
                            told.push(Err(id(&item["call_id"])));
                        }
                        _ => {}
                    }
                }
            }
            FakeWire::Anthropic => {
                for block in
                    question["messages"].as_array().unwrap().iter().flat_map(|one| items(&one["content"]))
                {
                    match block["type"].as_str() {
                        Some("tool_use") => told.push(Ok(id(&block["id"]))),
                        Some("tool_result") => told.push(Err(id(&block["tool_use_id"]))),
                        _ => {}
                    }
                }
            }
            // Its talk is one text.
            FakeWire::Opencode => {}
        }
        told
    }
}

pub const KEY: &str = "KEY-123456";

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn as_text(arguments: &Value) -> Value {
    match arguments {
        Value::String(_) => arguments.clone(),
        other => other.to_string().into(),
    }
}

/// Every call is answered before the next question, and nothing else is.
pub fn check_pairing(wire: FakeWire, requests: &[Request]) {
    for question in wire.questions(requests) {
        let mut open: Vec<String> = Vec::new();
        let mut answering = false;
        for told in wire.told(&question.json()) {
            match told {
                Ok(id) => {
                    assert!(!answering || open.is_empty(), "{id} before results of {open:?}");
                    answering = false;
                    open.push(id);
                }
                Err(id) => {
                    answering = true;
                    let at = open.iter().position(|own| *own == id);
                    open.remove(at.unwrap_or_else(|| panic!("the result of {id} answers nothing")));
                }
            }
        }
        assert!(open.is_empty(), "{open:?} are not answered in {}", question.body);
    }
}

/// What servers do wrong, and what comes of it: the code that the job ends with (none: it succeeds), and how many
/// questions were asked.
pub struct Fault {
    pub name: &'static str,
    pub answers: fn(FakeWire) -> Vec<Script>,
    pub code: &'static str,
    pub questions: usize,
}

const fn fault(
    name: &'static str,
    answers: fn(FakeWire) -> Vec<Script>,
    code: &'static str,
    questions: usize,
) -> Fault {
    Fault { name, answers, code, questions }
}

const AT_ONCE: &str = "Retry-After: 0\r\n";

fn page(status: u16, head: &'static str, body: &str) -> Script {
    Script::Page(status, head, body.to_owned())
}

/// A busy server, so many times, and then the end.
fn busy_then_done(wire: FakeWire, status: u16, times: usize) -> Vec<Script> {
    let busy = || page(status, AT_ONCE, "slow down");
    match wire {
        // The session is there already when the question is asked again.
        FakeWire::Opencode => {
            let mut scripts = vec![Script::Json(200, json!({"id": "ses_1"}))];
            scripts.extend((0..times).map(|_| busy()));
            scripts.extend(wire.done(json!(1)).into_iter().skip(1));
            scripts
        }
        _ => (0..times).map(|_| busy()).chain(wire.done(json!(1))).collect(),
    }
}

/// The same every time that it is asked.
fn every_time(wire: FakeWire, answer: Script) -> Vec<Script> {
    (0..4).flat_map(|_| wire.turn(answer.clone())).collect()
}

fn then_done(wire: FakeWire, first: Vec<Script>) -> Vec<Script> {
    first.into_iter().chain(wire.done(json!(1))).collect()
}

pub const FAULTS: &[Fault] = &[
    fault("a page", |wire| every_time(wire, page(200, "", "<html>Sign in</html>")), "PlannerFailed", 4),
    fault("a page once", |wire| then_done(wire, wire.turn(page(200, "", "<html>Restarting</html>"))), "", 2),
    fault(
        "half of an answer",
        |wire| then_done(wire, wire.turn(page(200, "", "{\"choices\": [{\"mess"))),
        "",
        2,
    ),
    fault("another form", |wire| wire.turn(page(200, "", "[]")), "PlannerFailed", 1),
    fault("nothing", |wire| then_done(wire, wire.turn(page(200, "", ""))), "", 2),
    fault(
        "a stream",
        |wire| every_time(wire, page(200, "", "data: {\"choices\": []}\n\n")),
        "PlannerFailed",
        4,
    ),
    fault(
        "an error as an answer",
        |wire| wire.turn(page(200, "", "{\"error\": {\"message\": \"x\"}}")),
        "PlannerFailed",
        1,
    ),
    fault(
        "a way to another server",
        |wire| wire.turn(page(302, "Location: http://169.254.169.254/\r\n", "")),
        "PlannerFailed",
        1,
    ),
    fault("a wrong key", |wire| wire.turn(page(401, "", "KEY-123456 is wrong")), "PlannerFailed", 1),
    fault("no such model", |wire| wire.turn(page(404, "", "no model")), "PlannerFailed", 1),
    fault("a busy server", |wire| busy_then_done(wire, 429, 2), "", 3),
    fault("a server that fails", |wire| busy_then_done(wire, 503, 3), "", 4),
    fault("a server that stays busy", |wire| busy_then_done(wire, 429, 9), "PlannerFailed", 4),
    fault("50 MiB", |wire| wire.turn(Script::Flood(50 << 20)), "PlannerFailed", 1),
    fault("a line that breaks", |wire| every_time(wire, Script::Cut), "PlannerFailed", 4),
    fault("a line that breaks once", |wire| then_done(wire, wire.turn(Script::Cut)), "", 2),
    fault("silence once", |wire| then_done(wire, wire.turn(Script::Hang)), "", 2),
    fault(
        "a server that asks to wait for a day",
        |wire| wire.turn(page(429, "Retry-After: 86400\r\n", "")),
        "PlannerFailed",
        1,
    ),
    fault("words alone", |wire| then_done(wire, wire.says("I am thinking.")), "", 2),
    fault(
        "calls as text",
        |wire| then_done(wire, wire.says("<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>")),
        "",
        2,
    ),
    fault("an object as arguments", |wire| then_done(wire, wire.calls(&[("look", json!({}))])), "", 2),
    fault("arguments that are no JSON", |wire| then_done(wire, wire.calls(&[("look", json!("{"))])), "", 2),
    fault("a list as arguments", |wire| then_done(wire, wire.calls(&[("look", json!([1]))])), "", 2),
    fault("an unknown tool", |wire| then_done(wire, wire.calls(&[("open_door", json!({}))])), "", 2),
    fault(
        "200 calls",
        |wire| {
            let many: Vec<(&str, Value)> =
                (0..200).map(|_| ("click_element", json!({"selector": "//Button"}))).collect();
            then_done(wire, wire.calls(&many))
        },
        "",
        2,
    ),
    fault("no usage", |wire| wire.answer("", &[("task_complete", json!({"result": 1}))], None), "", 1),
    fault(
        "negative usage",
        |wire| {
            let tokens = Tokens { input: -5, cached: -9, output: -1 };
            wire.answer("", &[("task_complete", json!({"result": 1}))], Some(tokens))
        },
        "",
        1,
    ),
    fault(
        "nothing but mistakes",
        |wire| (0..9).flat_map(|_| wire.calls(&[("look", json!("{"))])).collect(),
        "TooManyFailures",
        5,
    ),
];
