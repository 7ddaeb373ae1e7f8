//! What a `config.json` that merely lies in the working folder may do to a key.
//!
//! Anybody who can make a person enter a folder chooses that file: the author of a cloned repository, another user of a
//! shared folder. So it may tighten what trusted sources say, and nothing else. Each key says in its declaration what
//! tightening it means; a new key does not compile without.

use serde_json::Value;

/// Which values of a file in the working folder are obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderRule {
    /// None: the key starts a program, names an address or a folder, opens a listener, chooses the desktop, or hides
    /// what happens.
    Trusted,
    /// All: no value starts, opens, shows or hides anything.
    Harmless,
    /// This one.
    Switch(bool),
    /// Later ones of this list, which goes from the loosest to the strictest.
    Stricter(&'static [&'static str]),
    /// A lower number, or any where there is no limit.
    Lower,
    /// A higher number.
    Higher,
    /// A list; its entries are added.
    More,
    /// A list without new entries.
    Fewer,
    /// A region within the one that there is, or any where there is none.
    Inside,
    /// A list of the only tools that may be called: any where all may be, else without new entries.
    AllowList,
}

use FolderRule::{AllowList, Fewer, Harmless, Higher, Inside, Lower, More, Stricter, Switch, Trusted};

impl FolderRule {
    /// The value that the key gets when the folder wants `wanted` and trusted sources say `trusted`; `None` where
    /// that would loosen something. `all_denied` says that trusted sources deny whatever is not listed.
    pub fn tightened(self, trusted: &Value, wanted: &Value, all_denied: bool) -> Option<Value> {
        if trusted == wanted {
            return Some(wanted.clone());
        }
        let obeyed = match self {
            Trusted => false,
            Harmless => true,
            Switch(shut) => wanted.as_bool() == Some(shut),
            Stricter(order) => rank(order, wanted) > rank(order, trusted).max(Some(0)),
            Lower => trusted.is_null() || number(wanted)? <= number(trusted)?,
            Higher => number(wanted)? >= number(trusted)?,
            More => return Some(union(trusted, wanted).into()),
            Fewer => entries(wanted).iter().all(|entry| entries(trusted).contains(entry)),
            Inside => trusted.is_null() || contains(&corners(trusted)?, &corners(wanted)?),
            AllowList if entries(trusted).is_empty() => !all_denied,
            AllowList => return common_entries(trusted, wanted),
        };
        obeyed.then(|| wanted.clone())
    }

    /// What the documentation says in the column for the working folder.
    pub fn in_docs(self) -> String {
        match self {
            Trusted => "no".to_owned(),
            Harmless => "yes".to_owned(),
            Switch(shut) => format!("`{shut}`"),
            Stricter(order) => format!("towards `{}`", order.last().unwrap_or(&"")),
            Lower => "lower".to_owned(),
            Higher => "higher".to_owned(),
            More => "adds".to_owned(),
            Fewer | AllowList => "fewer".to_owned(),
            Inside => "inside".to_owned(),
        }
    }
}

/// Where a choice stands; nothing for one that is not made.
fn rank(order: &[&str], value: &Value) -> Option<usize> {
    let text = value.as_str()?;
    order.iter().position(|choice| *choice == text)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn entries(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn union(trusted: &Value, wanted: &Value) -> Vec<Value> {
    let mut all = entries(trusted).to_vec();
    for entry in entries(wanted) {
        if !all.contains(entry) {
            all.push(entry.clone());
        }
    }
    all
}

/// An empty list would allow everything, so it is none.
fn common_entries(trusted: &Value, wanted: &Value) -> Option<Value> {
    let common = entries(wanted).iter().filter(|entry| entries(trusted).contains(entry));
    let common: Vec<Value> = common.cloned().collect();
    (!common.is_empty()).then(|| common.into())
}

/// Left, top, right and bottom.
fn corners(region: &Value) -> Option<[i64; 4]> {
    let numbers: Option<Vec<i64>> = entries(region).iter().map(Value::as_i64).collect();
    match numbers?[..] {
        [x, y, width, height] => Some([x, y, x + width, y + height]),
        _ => None,
    }
}

fn contains(outer: &[i64; 4], inner: &[i64; 4]) -> bool {
    let [left, top, right, bottom] = outer;
    let [inner_left, inner_top, inner_right, inner_bottom] = inner;
    inner_left >= left && inner_top >= top && inner_right <= right && inner_bottom <= bottom
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::{Config, KEYS, KeyRule};

    fn check(rule: FolderRule, trusted: Value, wanted: Value, expected: Option<Value>) {
        let got = rule.tightened(&trusted, &wanted, false);
        assert_eq!(got, expected, "{rule:?}: {trusted} then {wanted}");
    }

    fn check_obeyed(rule: FolderRule, trusted: Value, wanted: Value, obeyed: bool) {
        check(rule, trusted, wanted.clone(), obeyed.then_some(wanted));
    }

    #[test]
    fn switches_and_choices_go_one_way() {
        check_obeyed(Switch(true), json!(false), json!(true), true);
        check_obeyed(Switch(true), json!(true), json!(false), false);
        check_obeyed(Switch(false), json!(true), json!(false), true);
        let order = Stricter(&["any", "installed", "none"]);
        check_obeyed(order, json!("installed"), json!("none"), true);
        check_obeyed(order, json!("installed"), json!("any"), false);
        check_obeyed(Stricter(&["allow", "deny"]), json!(null), json!("deny"), true);
        check_obeyed(Stricter(&["allow", "deny"]), json!("deny"), json!(null), false);
        // Beside an allow list no default denies the rest.
        check_obeyed(Stricter(&["allow", "deny"]), json!(null), json!("allow"), false);
    }

    #[test]
    fn numbers_go_one_way() {
        check_obeyed(Lower, json!(null), json!(5), true);
        check_obeyed(Lower, json!(5), json!(4), true);
        check_obeyed(Lower, json!(5), json!(6), false);
        check_obeyed(Lower, json!(5), json!(null), false);
        check_obeyed(Higher, json!(5), json!(6), true);
        check_obeyed(Higher, json!(5), json!(4.5), false);
    }

    #[test]
    fn lists_grow_or_shrink() {
        check(More, json!(["a"]), json!(["b", "a"]), Some(json!(["a", "b"])));
        check(More, json!(["a"]), json!([]), Some(json!(["a"])));
        check(More, json!(null), json!([{"role": "Button"}]), Some(json!([{"role": "Button"}])));
        check_obeyed(Fewer, json!(["a", "b"]), json!(["b"]), true);
        check_obeyed(Fewer, json!([]), json!(["b"]), false);
    }

    #[test]
    fn an_allow_list_only_narrows() {
        check_obeyed(AllowList, json!([]), json!(["look"]), true);
        check(AllowList, json!(["look", "find"]), json!(["look", "act"]), Some(json!(["look"])));
        check_obeyed(AllowList, json!(["look"]), json!(["act"]), false);
        check_obeyed(AllowList, json!(["look"]), json!([]), false);
        assert_eq!(AllowList.tightened(&json!([]), &json!(["look"]), true), None);
    }

    #[test]
    fn a_region_stays_inside() {
        check_obeyed(Inside, json!(null), json!([0, 0, 9, 9]), true);
        check_obeyed(Inside, json!([0, 0, 9, 9]), json!([1, 1, 8, 8]), true);
        check_obeyed(Inside, json!([0, 0, 9, 9]), json!([1, 1, 9, 8]), false);
        check_obeyed(Inside, json!([0, 0, 9, 9]), json!(null), false);
    }

    #[test]
    fn what_is_trusted_is_obeyed_from_nobody_else() {
        check_obeyed(Trusted, json!("a"), json!("b"), false);
        check_obeyed(Trusted, json!("a"), json!("a"), true);
        check_obeyed(Harmless, json!(1), json!(2), true);
    }

    /// H-120 on code: each key's rule fits its values, and what no number, switch or list can tighten is trusted only.
    #[test]
    fn every_key_is_on_a_side_that_fits_it() {
        for key in KEYS.iter() {
            let bare = if let KeyRule::Optional(rule) = key.rule { *rule } else { key.rule };
            let fits = match key.in_folder {
                Trusted => true,
                Harmless => !key.guard && !key.secret,
                Switch(_) => matches!(bare, KeyRule::Flag),
                Stricter(order) => {
                    matches!(bare, KeyRule::OneOf(choices) if choices.len() == order.len()
                        && order.iter().all(|choice| choices.contains(choice)))
                }
                Lower | Higher => matches!(bare, KeyRule::Integer(..) | KeyRule::Number(..)),
                More => matches!(
                    bare,
                    KeyRule::Texts
                        | KeyRule::Patterns
                        | KeyRule::Confirmations
                        | KeyRule::AppRules
                        | KeyRule::Hosts
                        | KeyRule::Origins
                ),
                Fewer | AllowList => matches!(bare, KeyRule::Texts),
                Inside => matches!(bare, KeyRule::Region),
            };
            assert!(fits, "{}: {:?}", key.path, key.in_folder);
            let outside =
                matches!(bare, KeyRule::Path | KeyRule::Endpoint | KeyRule::SecretRules | KeyRule::Word);
            assert!(!(outside || key.secret) || key.in_folder == Trusted, "{} reaches outside", key.path);
        }
    }

    /// H-120 on code: these start programs, name addresses, open listeners, widen folders or choose the desktop.
    #[test]
    fn what_reaches_outside_is_trusted_only() {
        for path in [
            "browser.network_allow",
            "browser.file_root",
            "browser.profile",
            "browser.user_data_dir",
            "ocr.tesseract_cmd",
            "vlm.base_url",
            "vlm.api_key",
            "vlm.model",
            "vlm.ollama_runner",
            "web_ui.host",
            "web_ui.port",
            "web_ui.cors_origins",
            "web_ui.token",
            "web_ui.token_file",
            "clickthrough.host",
            "clickthrough.port",
            "clickthrough.token",
            "exec.secret",
            "exec.roots",
            "exec.default_shell",
            "mock",
            "platform",
            "logging.audit_path",
            "logging.level",
            "tracing.dir",
            "scenarios.dirs",
            "screenshots.reference_dirs",
            "secrets.file",
            "secrets.allow",
            "redaction.replacement",
            "sandbox.share",
            "sandbox.writable",
        ] {
            let key = KEYS.iter().find(|key| key.path == path).expect(path);
            assert_eq!(key.in_folder, Trusted, "{path}");
        }
    }

    /// H-120 on code: no switch that opens something can be turned on.
    #[test]
    fn defaults_that_shut_cannot_be_opened() {
        let defaults = json!(Config::default());
        for (path, wanted) in [
            ("exec.enabled", json!(true)),
            ("vlm.enabled", json!(true)),
            ("clickthrough.enabled", json!(true)),
            ("launch.programs", json!("any")),
            ("launch.allow", json!(["/tmp/x"])),
            ("redaction.enabled", json!(false)),
            ("confirmation.on_unread", json!("off")),
            ("confirmation.ttl_seconds", json!(600)),
            ("actions.delivery", json!("foreground")),
        ] {
            let key = KEYS.iter().find(|key| key.path == path).expect(path);
            let trusted = defaults.pointer(&format!("/{}", path.replace('.', "/"))).expect(path);
            assert_eq!(key.in_folder.tightened(trusted, &wanted, false), None, "{path}");
        }
    }
}
