//! Which targets need consent: rules about roles and names, asked about what was resolved and never about how it was
//! spelled.

use crate::config::{Config, OnUnread, PageOrigin};
use crate::model::Role;
use crate::pattern::Pattern;
use crate::privacy::spelling::other_readings;
use crate::tool::{ConsentRules, ElementTarget, Target, TargetOrigin};

#[derive(Debug)]
pub struct NameRules {
    rules: Vec<NameRule>,
    covers_unread: bool,
}

#[derive(Debug)]
struct NameRule {
    role: Option<Role>,
    name: Option<Pattern>,
    /// On pages of this origin alone.
    origin: Option<PageOrigin>,
}

impl NameRules {
    pub fn of(config: &Config) -> Result<Self, String> {
        let rules = config.confirmation_rules().iter().map(|rule| {
            let name = rule.name_regex.as_deref().map(compile_rule).transpose()?;
            Ok(NameRule { role: rule.role.as_deref().map(Role::parse), name, origin: rule.origin.clone() })
        });
        let covers_unread = config.confirmation.on_unread != OnUnread::Off;
        Ok(Self { rules: rules.collect::<Result<_, String>>()?, covers_unread })
    }

    pub fn has_any(&self) -> bool {
        !self.rules.is_empty()
    }

    /// A click on the label or the icon inside a button is a click on the button, so passive elements pass the question
    /// on to what holds them. What is pressed gets the clicks on everything in it, passive or not. A description counts
    /// as a name does: it is the tooltip of a button with an icon, and often all that says what the button is for.
    fn covers_element(
        &self,
        ElementTarget { view, node, .. }: &ElementTarget,
        origin: &TargetOrigin,
    ) -> bool {
        let mut is_passed_on = true;
        let mut node = Some(*node);
        while let Some(at) = node {
            let element = view.unredacted(at);
            // A press on a cell is one on its row, which may have a name of its own.
            let counts = is_passed_on || element.role.is_pressed_by_key() || element.role == Role::Row;
            let says = [Some(&element.name), element.description.as_ref()];
            if counts && says.into_iter().flatten().any(|text| self.any_matches(&element.role, text, origin))
            {
                return true;
            }
            is_passed_on &= element.role.is_passive();
            node = view.tree().parent(at);
        }
        false
    }

    fn any_matches(&self, role: &Role, name: &str, origin: &TargetOrigin) -> bool {
        let readings = other_readings(name);
        self.rules.iter().filter(|rule| rule.origin.as_ref().is_none_or(|wanted| origin.may_be(wanted))).any(
            |rule| rule.matches(role, name) || readings.iter().any(|reading| rule.matches(role, reading)),
        )
    }
}

impl ConsentRules for NameRules {
    fn covers(&self, target: &Target) -> bool {
        match target.element() {
            Some(element) => self.covers_element(element, &target.origin()),
            None => self.any_matches(target.unredacted_role(), target.unredacted_name(), &target.origin()),
        }
    }

    fn covers_unread(&self) -> bool {
        self.covers_unread
    }
}

impl NameRule {
    /// A name of which that cannot be told needs consent like one that matches.
    fn matches(&self, role: &Role, name: &str) -> bool {
        self.role.as_ref().is_none_or(|wanted| wanted == role)
            && self.name.as_ref().is_none_or(|pattern| pattern.is_match(name) != Ok(false))
    }
}

fn compile_rule(pattern: &str) -> Result<Pattern, String> {
    Pattern::compile(pattern)
        .map_err(|problem| format!("confirmation_required: name_regex '{pattern}': {problem}"))
}
