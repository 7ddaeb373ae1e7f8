//! Whole tasks on scenarios, done twice: with the contract's tools one by one, and with look and act.

use serde_json::{Value, json};

use super::Client;

/// Tool and arguments, call by call.
type Calls = fn() -> Vec<(&'static str, Value)>;

pub struct Task {
    pub name: &'static str,
    pub scenario: &'static str,
    /// Only of the tasks that are compared.
    contract: Option<Calls>,
    /// The steps of the one act that follows a look. `@words` stands for the ref of the line that has these words.
    steps: fn() -> Value,
}

/// What a way of doing a task cost.
#[derive(Debug, Default)]
pub struct Cost {
    pub calls: usize,
    pub tokens: usize,
}

/// Which of the two ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Contract,
    LookAndAct,
}

pub const TASKS: &[Task] = &[
    compared("login", "scenarios/login.yaml", login_by_contract, login_steps),
    compared("wizard", "scenarios/wizard.yaml", wizard_by_contract, wizard_steps),
    compared("form", "scenarios/form.yaml", form_by_contract, form_steps),
    other("stock", "scenarios/dense.yaml", stock_steps),
    other("address book", "scenarios/long-list.yaml", address_steps),
    other("report", "scenarios/slow-load.yaml", report_steps),
    other("program", "scenarios/apps.yaml", program_steps),
    other("cart", "scenarios/web.yaml", cart_steps),
];

const fn compared(name: &'static str, scenario: &'static str, contract: Calls, steps: fn() -> Value) -> Task {
    Task { name, scenario, contract: Some(contract), steps }
}

const fn other(name: &'static str, scenario: &'static str, steps: fn() -> Value) -> Task {
    Task { name, scenario, contract: None, steps }
}

fn stock_steps() -> Value {
    json!([{"do": "click_element", "ref": "@Button \"Save\"", "expect": "changed"}])
}

fn address_steps() -> Value {
    json!([
        {"do": "select_option", "selector": "//List", "option_name": "Person 321"},
        {"do": "click_element", "ref": "@Button \"Open", "expect": {"type": "text_visible", "regex": "Person 321"}},
    ])
}

fn report_steps() -> Value {
    json!([
        {"do": "wait_for", "timeout_ms": 20000,
         "any_of": [{"type": "element_appears", "selector": "//Button[name=\"Export\"]"}]},
        {"do": "click_element", "selector": "//Button[name=\"Export\"]", "within_ms": 10000,
         "expect": {"type": "text_visible", "regex": "was written"}},
    ])
}

fn program_steps() -> Value {
    json!([{"do": "launch_app", "program": "calculator",
            "expect": {"kind": "window_exists", "title_regex": "^Calculator$"}}])
}

fn cart_steps() -> Value {
    json!([
        {"do": "click_element", "ref": "@Hyperlink \"Cart\"", "expect": "window: Cart"},
        {"do": "set_value", "selector": "//Edit[name=\"Voucher\"]", "value": "SPRING"},
    ])
}

fn element(role: &str, name: &str) -> Value {
    json!({ "selector": format!("//{role}[name=\"{name}\"]") })
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

fn login_by_contract() -> Vec<(&'static str, Value)> {
    vec![
        ("list_windows", json!({})),
        ("get_window_structure", json!({})),
        ("click_element", element("Edit", "Username")),
        ("type_text", json!({"text": "alice"})),
        ("click_element", element("Edit", "Password")),
        ("type_text", json!({"text": "open sesame"})),
        ("click_element", element("Button", "Login")),
        ("get_window_structure", json!({})),
    ]
}

fn login_steps() -> Value {
    json!([
        {"do": "set_value", "ref": "@Edit \"Username\"", "value": "alice"},
        {"do": "set_value", "ref": "@Edit \"Password\"", "value": "open sesame"},
        {"do": "click_element", "ref": "@Button \"Login\"", "expect": {"kind": "text_visible", "regex": "Hello"}},
    ])
}

fn wizard_by_contract() -> Vec<(&'static str, Value)> {
    vec![
        ("list_windows", json!({})),
        ("get_window_structure", json!({})),
        ("click_element", element("CheckBox", "I accept the licence")),
        ("click_element", element("Button", "Next")),
        ("get_window_structure", json!({})),
        ("click_element", element("Button", "Next")),
        ("get_window_structure", json!({})),
        ("click_element", element("Button", "Finish")),
        ("get_window_structure", json!({})),
    ]
}

fn wizard_steps() -> Value {
    let step = |number: u32| json!({"kind": "text_visible", "regex": format!("Step {number} of 3")});
    json!([
        {"do": "click_element", "ref": "@CheckBox \"I accept"},
        {"do": "click_element", "ref": "@Button \"Next\"", "expect": step(2)},
        {"do": "click_element", "selector": "//Button[name=\"Next\"]", "expect": step(3)},
        {"do": "click_element", "selector": "//Button[name=\"Finish\"]",
         "expect": {"kind": "window_exists", "title_regex": "complete"}},
    ])
}

fn form_by_contract() -> Vec<(&'static str, Value)> {
    vec![
        ("list_windows", json!({})),
        ("get_window_structure", json!({})),
        ("set_value", with(element("Edit", "Employee"), "value", json!("Ann Archer"))),
        ("set_value", with(element("Edit", "PIN"), "value", json!("0000"))),
        ("select_option", with(element("ComboBox", "Category"), "option_name", json!("Meals"))),
        ("set_value", with(element("Spinner", "Amount"), "value", json!("42"))),
        ("click_element", element("RadioButton", "Company card")),
        ("set_value", with(element("Slider", "Urgency"), "value", json!("4"))),
        ("set_value", with(element("Document", "Reason"), "value", json!("Lunch with a customer"))),
        ("click_element", element("CheckBox", "I keep the receipts")),
        ("click_element", element("Button", "Send")),
        ("list_windows", json!({})),
        ("get_window_structure", json!({})),
        ("click_element", element("Button", "Send now")),
        ("get_window_structure", json!({})),
    ]
}

fn form_steps() -> Value {
    json!([
        {"do": "set_value", "ref": "@Edit \"Employee\"", "value": "Ann Archer"},
        {"do": "set_value", "ref": "@Edit \"PIN\"", "value": "0000"},
        {"do": "select_option", "ref": "@ComboBox \"Category\"", "option_name": "Meals"},
        {"do": "set_value", "ref": "@Spinner \"Amount\"", "value": "42"},
        {"do": "click_element", "ref": "@RadioButton \"Company card\""},
        {"do": "set_value", "ref": "@Slider \"Urgency\"", "value": "4"},
        {"do": "set_value", "ref": "@Document \"Reason\"", "value": "Lunch with a customer"},
        {"do": "click_element", "ref": "@CheckBox \"I keep"},
        {"do": "click_element", "ref": "@Button \"Send\"",
         "expect": {"type": "element_appears", "selector": "//Button[name=\"Send now\"]"}},
        {"do": "click_element", "selector": "//Button[name=\"Send now\"]",
         "expect": {"kind": "window_exists", "title_regex": "Claim sent"}},
    ])
}

impl Task {
    pub fn is_compared(&self) -> bool {
        self.contract.is_some()
    }

    /// Does it with the built binary over stdio, and fails unless the scenario says that it was done.
    pub fn run(&self, way: Way, count: &dyn Fn(&str) -> usize) -> Cost {
        let profile = if way == Way::Contract { "full" } else { "agent" };
        let mut client = Client::mock(&["--scenario", self.scenario, "--profile", profile]);
        let mut counted = Counted { client: &mut client, cost: Cost::default(), count };
        match way {
            Way::Contract => {
                self.contract.unwrap()().into_iter().for_each(|(tool, args)| drop(counted.call(tool, args)))
            }
            Way::LookAndAct => {
                let seen = counted.call("look", json!({}));
                let mut steps = (self.steps)();
                steps.as_array_mut().unwrap().iter_mut().for_each(|step| put_ref(step, &seen));
                counted.call("act", json!({ "steps": steps }));
            }
        }
        let cost = counted.cost;
        let oracle = json!({"predicates": [{"kind": "oracle", "name": "success"}]});
        let verdict = client.call("assert_state", oracle);
        let text = verdict["content"][0]["text"].as_str().unwrap();
        let holds = match way {
            Way::Contract => serde_json::from_str::<Value>(text).unwrap()["all_passed"] == true,
            Way::LookAndAct => text == "assert_state: confirmed",
        };
        assert!(holds, "{} {way:?}: {text}", self.name);
        cost
    }
}

/// As a model does: it saw the line and takes the ref at its beginning.
fn put_ref(step: &mut Value, seen: &str) {
    let Some(words) = step["ref"].as_str().and_then(|text| text.strip_prefix('@')).map(str::to_owned) else {
        return;
    };
    let line =
        seen.lines().find(|line| line.contains(&words)).unwrap_or_else(|| panic!("no {words} in {seen}"));
    step["ref"] = line.split_whitespace().next().into();
}

struct Counted<'a> {
    client: &'a mut Client,
    cost: Cost,
    count: &'a dyn Fn(&str) -> usize,
}

impl Counted<'_> {
    /// Counts what a model writes and what it reads; answers with the text that it reads.
    fn call(&mut self, tool: &str, args: Value) -> String {
        let result = self.client.call(tool, args.clone());
        assert_ne!(result["isError"], true, "{tool} {args} answered {result}");
        let blocks = result["content"].as_array().unwrap().iter();
        let text: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        let text = text.join("\n");
        self.cost.calls += 1;
        self.cost.tokens += (self.count)(tool) + (self.count)(&args.to_string()) + (self.count)(&text);
        text
    }
}

/// What a model reads of the tools before its first call.
pub fn tokens_of_tools(profile: &str, count: &dyn Fn(&str) -> usize) -> usize {
    let mut client = Client::mock(&["--profile", profile]);
    count(&client.request("tools/list", json!({}))["result"]["tools"].to_string())
}
