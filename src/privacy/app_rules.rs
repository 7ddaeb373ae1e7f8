//! Which applications an agent may see and operate: the config's `apps.allow`, `.ask`, `.deny` and `.default`, and what
//! is denied without being named there.
//!
//! It judges names and titles alone, and knows neither windows nor who asks.

use std::sync::LazyLock;

use crate::config::{AppAccess, AppRule, AppVerdict};
use crate::model::app::AppNames;
use crate::pattern::Pattern;

/// Applications that are denied unless `apps.allow` names them.
#[derive(Debug)]
pub struct BuiltIn {
    pub what: &'static str,
    /// Programs, desktop ids or window classes; one that ends in `*` stands for all that begin so.
    pub names: &'static [&'static str],
}

pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        what: "password managers",
        names: &[
            "keepassxc",
            "org.keepassxc.KeePassXC",
            "keepass",
            "keepass2",
            "keepassx",
            "bitwarden",
            "bitwarden-app",
            "1password",
            "seahorse",
            "org.gnome.seahorse.Application",
            "gnome-passwordsafe",
            "org.gnome.World.Secrets",
            "kwalletmanager*",
            "enpass",
            "dashlane",
            "lastpass",
            "nordpass",
            "proton-pass",
            "keeweb",
            "buttercup",
            "qtpass",
            "Keychain Access",
            "Passwords",
            "Strongbox",
        ],
    },
    BuiltIn {
        what: "authorisation prompts",
        names: &[
            "polkit-*",
            "lxpolkit",
            "mate-polkit*",
            "lxqt-policykit-agent",
            "xfce-polkit",
            "pkexec",
            "pinentry*",
            "gcr-prompter",
            "gcr4-ssh-askpass",
            "gnome-keyring*",
            "kwalletd*",
            "ksshaskpass",
            "lxqt-openssh-askpass",
            "ssh-askpass*",
            "gnome-ssh-askpass*",
            "SecurityAgent",
            "coreautha",
            "consent",
            "CredentialUIBroker",
            "LogonUI",
        ],
    },
];

/// What an application is called, and the title of one of its windows where it is about one.
#[derive(Clone, Copy, Debug)]
pub struct AppFacts<'a> {
    pub process: &'a str,
    pub names: &'a AppNames,
    pub title: Option<&'a str>,
    /// It started this server.
    pub is_host: bool,
}

/// What a rule says, and which one it is, in the words of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    pub verdict: AppVerdict,
    pub rule: String,
}

#[derive(Debug)]
pub struct AppRules {
    /// In the order in which they are asked; the first that matches decides.
    rules: Vec<(AppVerdict, String, CompiledRule)>,
    unlisted: Judged,
}

#[derive(Debug)]
struct CompiledRule {
    any: Option<NamePattern>,
    program: Option<NamePattern>,
    desktop_id: Option<NamePattern>,
    class: Option<NamePattern>,
    title: Option<Pattern>,
}

/// A name as rules write it; one that ends in `*` stands for all that begin so.
#[derive(Debug)]
struct NamePattern {
    text: String,
    is_beginning: bool,
}

impl AppRules {
    pub fn new(config: &AppAccess) -> Result<Self, String> {
        let lists = [
            (AppVerdict::Deny, "apps.deny", &config.deny),
            (AppVerdict::Ask, "apps.ask", &config.ask),
            (AppVerdict::Allow, "apps.allow", &config.allow),
        ];
        let mut rules = Vec::new();
        for (verdict, key, list) in lists {
            for (index, rule) in list.iter().enumerate() {
                let name = format!("{key}[{index}]");
                let rule =
                    CompiledRule::new(rule).map_err(|problem| format!("{name}: title_regex: {problem}"))?;
                rules.push((verdict, name, rule));
            }
        }
        let verdict = config.verdict_on_unlisted();
        let rule =
            if config.default.is_some() { "apps.default" } else { "apps.allow, which does not name it" };
        Ok(Self { rules, unlisted: Judged { verdict, rule: rule.to_owned() } })
    }

    pub fn judge(&self, app: &AppFacts) -> Judged {
        let names = SpelledNames::of(app);
        if let Some((verdict, name, _)) =
            self.rules.iter().find(|(verdict, _, rule)| rule.matches(&names, app.title, *verdict))
        {
            return Judged { verdict: *verdict, rule: name.clone() };
        }
        match built_in(&names, app.is_host) {
            Some(what) => Judged { verdict: AppVerdict::Deny, rule: format!("built in: {what}") },
            None => self.unlisted.clone(),
        }
    }
}

fn built_in(names: &SpelledNames, is_host: bool) -> Option<&'static str> {
    static PATTERNS: LazyLock<Vec<(NamePattern, &'static str)>> = LazyLock::new(|| {
        let named = BUILT_IN.iter().flat_map(|group| group.names.iter().map(|name| (*name, group.what)));
        named.map(|(name, what)| (NamePattern::new(name), what)).collect()
    });
    if is_host {
        return Some("what started this server");
    }
    PATTERNS.iter().find(|(pattern, _)| names.any(pattern)).map(|(_, what)| *what)
}

impl CompiledRule {
    fn new(rule: &AppRule) -> Result<Self, String> {
        let pattern = |name: &Option<String>| name.as_deref().map(NamePattern::new);
        Ok(Self {
            any: pattern(&rule.app),
            program: pattern(&rule.program),
            desktop_id: pattern(&rule.desktop_id),
            class: pattern(&rule.class),
            title: rule.title_regex.as_deref().map(Pattern::compile).transpose()?,
        })
    }

    /// A title of which that cannot be told is not allowed, and is denied or asked about.
    fn matches(&self, names: &SpelledNames, title: Option<&str>, verdict: AppVerdict) -> bool {
        let in_doubt = verdict != AppVerdict::Allow;
        let holds = |pattern: &Option<NamePattern>, of: &[String]| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches_any(of))
        };
        self.any.as_ref().is_none_or(|pattern| names.any(pattern))
            && holds(&self.program, &names.programs)
            && holds(&self.desktop_id, &names.desktop_ids)
            && holds(&self.class, &names.classes)
            && self
                .title
                .as_ref()
                .is_none_or(|pattern| title.is_some_and(|text| pattern.is_match(text).unwrap_or(in_doubt)))
    }
}

impl NamePattern {
    fn new(name: &str) -> Self {
        let text = bare(name);
        match text.strip_suffix('*') {
            Some(beginning) => Self { text: beginning.to_owned(), is_beginning: true },
            None => Self { text, is_beginning: false },
        }
    }

    fn matches_any(&self, names: &[String]) -> bool {
        names
            .iter()
            .any(|name| if self.is_beginning { name.starts_with(&self.text) } else { *name == self.text })
    }
}

/// The names of an application as they are compared.
struct SpelledNames {
    programs: Vec<String>,
    desktop_ids: Vec<String>,
    classes: Vec<String>,
}

impl SpelledNames {
    fn of(app: &AppFacts) -> Self {
        let spelled = |name: &str| Some(bare(name)).filter(|name| !name.is_empty());
        let names = app.names;
        Self {
            programs: [Some(app.process), names.executable.as_deref()]
                .into_iter()
                .flatten()
                .filter_map(spelled)
                .collect(),
            desktop_ids: names.desktop_id.as_deref().and_then(spelled).into_iter().collect(),
            classes: names.classes.iter().filter_map(|class| spelled(class)).collect(),
        }
    }

    fn any(&self, pattern: &NamePattern) -> bool {
        [&self.programs, &self.desktop_ids, &self.classes].into_iter().any(|names| pattern.matches_any(names))
    }
}

impl AppFacts<'_> {
    /// What people and messages call it.
    pub fn label(&self) -> &str {
        let known = Some(self.process).filter(|name| !name.is_empty());
        known.or(self.names.executable.as_deref()).unwrap_or("an application without a name")
    }
}

/// Without its case, and without the ending that a system gives to files.
fn bare(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let endings = [".exe", ".desktop", ".app"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(executable: &str, desktop_id: &str, class: &str) -> AppNames {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        AppNames {
            executable: some(executable),
            desktop_id: some(desktop_id),
            classes: some(class).into_iter().collect(),
        }
    }

    #[track_caller]
    fn check(config: serde_json::Value, process: &str, title: &str, expected: (AppVerdict, &str)) {
        let config: AppAccess = serde_json::from_value(config).unwrap();
        let names = names("", "org.example.Notes", "Notes");
        let facts = AppFacts { process, names: &names, title: Some(title), is_host: false };
        let judged = AppRules::new(&config).unwrap().judge(&facts);
        assert_eq!((judged.verdict, judged.rule.as_str()), expected, "{process} {title}");
    }

    #[test]
    fn a_denial_wins_over_a_question_and_a_question_over_a_permission() {
        use AppVerdict::{Allow, Ask, Deny};
        let app = |name: &str| json!({ "app": name });
        check(json!({}), "firefox", "", (Allow, "apps.allow, which does not name it"));
        check(json!({"deny": [app("firefox")]}), "Firefox", "", (Deny, "apps.deny[0]"));
        check(
            json!({"deny": [app("a"), app("firefox")], "allow": [app("firefox")]}),
            "firefox.exe",
            "",
            (Deny, "apps.deny[1]"),
        );
        check(json!({"ask": [app("fire*")], "allow": [app("firefox")]}), "firefox", "", (Ask, "apps.ask[0]"));
        check(json!({"allow": [app("gimp")]}), "firefox", "", (Deny, "apps.allow, which does not name it"));
        check(json!({"allow": [app("gimp")], "default": "ask"}), "firefox", "", (Ask, "apps.default"));
        check(
            json!({"deny": [{"desktop_id": "org.example.notes.desktop"}]}),
            "x",
            "",
            (Deny, "apps.deny[0]"),
        );
        check(json!({"deny": [{"class": "notes"}]}), "x", "", (Deny, "apps.deny[0]"));
        check(
            json!({"deny": [{"program": "notes"}]}),
            "x",
            "",
            (Allow, "apps.allow, which does not name it"),
        );
    }

    #[test]
    fn a_title_makes_it_one_window() {
        use AppVerdict::{Allow, Deny};
        let rules = json!({"deny": [{"app": "firefox", "title_regex": "(?i)bank"}]});
        check(rules.clone(), "firefox", "My Bank", (Deny, "apps.deny[0]"));
        check(rules.clone(), "firefox", "News", (Allow, "apps.allow, which does not name it"));
        check(rules, "gedit", "My Bank", (Allow, "apps.allow, which does not name it"));
    }

    #[test]
    fn some_are_denied_unless_they_are_allowed() {
        use AppVerdict::{Allow, Deny};
        check(json!({}), "keepassxc", "", (Deny, "built in: password managers"));
        check(json!({}), "KeePassXC.exe", "", (Deny, "built in: password managers"));
        check(
            json!({}),
            "polkit-gnome-authentication-agent-1",
            "",
            (Deny, "built in: authorisation prompts"),
        );
        check(json!({}), "pinentry-gtk-2", "", (Deny, "built in: authorisation prompts"));
        let allowed = json!({"allow": [{"app": "keepassxc"}], "default": "allow"});
        check(allowed, "keepassxc", "", (Allow, "apps.allow[0]"));
        check(json!({"default": "allow"}), "keepassxc", "", (Deny, "built in: password managers"));
        check(json!({}), "passwordless-notes", "", (Allow, "apps.allow, which does not name it"));
        check(json!({}), "", "", (Allow, "apps.allow, which does not name it"));
    }

    #[test]
    fn what_started_the_server_is_denied() {
        let rules = AppRules::new(&AppAccess::default()).unwrap();
        let names = AppNames::default();
        let facts = AppFacts { process: "konsole", names: &names, title: None, is_host: true };
        assert_eq!(rules.judge(&facts).rule, "built in: what started this server");
    }
}
