//! Consent: which targets need it. The rules look at what was resolved, never at how it was spelled.

use regex::Regex;

use crate::config::ConfirmationRule;
use crate::config::limits::compile_pattern;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::Element;
use crate::tool::{Meta, Target};

#[derive(Debug, Default)]
pub struct Confirm {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    role: Option<String>,
    name: Option<Regex>,
}

impl Confirm {
    pub fn new(rules: &[ConfirmationRule]) -> Result<Self, String> {
        let rules = rules
            .iter()
            .map(|rule| {
                let name = rule.name_regex.as_deref().map(compile).transpose()?;
                Ok(Rule { role: rule.role.clone(), name })
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { rules })
    }

    pub fn is_active(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Refuses a target that a rule covers. No token is issued by this server yet, so none can be valid.
    pub fn check(&self, meta: &Meta, target: Option<&Target>, token: Option<&str>) -> Result<()> {
        let Some(target) = target.filter(|target| meta.effect.acts() && self.covers(target)) else {
            return Ok(());
        };
        match token {
            Some(token) => {
                Err(Error::new(Kind::ConfirmationInvalid, "confirm_token expired, unknown, or already used")
                    .with("token", token))
            }
            None => Err(Error::new(
                Kind::ConfirmationRequired,
                format!("action {} requires a confirm_token from propose_action", meta.name),
            )
            .with("action", meta.name)
            .with("target", facts(target))),
        }
    }

    /// A click on the label or the icon inside a button is a click on the button, so passive elements
    /// pass the question on to what holds them.
    fn covers(&self, target: &Target) -> bool {
        let tree = target.view.tree();
        let mut node = Some(target.node);
        while let Some(at) = node {
            let element = target.view.unredacted(at);
            if self.rules.iter().any(|rule| rule.matches(element)) {
                return true;
            }
            node = tree.parent(at).filter(|_| PASSIVE_ROLES.contains(&&*element.role));
        }
        false
    }
}

/// Elements that do nothing of their own when clicked.
const PASSIVE_ROLES: &[&str] = &["Text", "Label", "Image", "Icon", "Graphic", "Group", "Pane", "Unknown"];

impl Rule {
    fn matches(&self, element: &Element) -> bool {
        self.role.as_ref().is_none_or(|role| *role == element.role)
            && self.name.as_ref().is_none_or(|name| name.is_match(&element.name))
    }
}

fn compile(pattern: &str) -> Result<Regex, String> {
    compile_pattern(pattern)
        .map_err(|problem| format!("confirmation_required: name_regex '{pattern}': {problem}"))
}

fn facts(target: &Target) -> Fact {
    Fact::object([
        ("window_uid", target.chosen.window.uid.as_str().into()),
        ("element_id", target.element_id().into()),
        ("selector", target.selector().into()),
        ("bounds", target.bounds().into()),
    ])
}
