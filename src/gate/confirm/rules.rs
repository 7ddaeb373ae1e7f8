//! Which targets need consent: rules about roles and names, asked about what was resolved and never about how it was
//! spelled.

use crate::config::{Config, OnUnread, PageOrigin};
use crate::model::{Element, Role};
use crate::observer::View;
use crate::pattern::Pattern;
use crate::privacy::spelling::other_readings;
use crate::tool::{ConsentRules, ElementTarget, Target, TargetOrigin};

/// Of what is pressed, more texts are not its label any more.
const MOST_TEXTS: usize = 32;

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
    /// as a name does: it is the tooltip of a button with an icon, and often all that says what the button is for. So
    /// does what a person reads in it, where the application calls it otherwise.
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
            let read_in_it = || texts_within(view, at).filter(|_| counts);
            if counts
                && says(element).chain(read_in_it()).any(|text| self.any_matches(&element.role, text, origin))
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

/// What an element says of itself.
fn says(element: &Element) -> impl Iterator<Item = &str> {
    [Some(element.name.as_str()), element.description.as_deref(), element.shown_text.as_deref()]
        .into_iter()
        .flatten()
}

/// The texts and images that something that is pressed is made of. What is pressed by itself in it is something else.
fn texts_within(view: &View, node: usize) -> impl Iterator<Item = &str> {
    let role = &view.unredacted(node).role;
    let is_pressed = role.is_pressed_by_key() || role.is_option();
    let end = if is_pressed { view.tree().end(node) } else { node };
    let mut at = node + 1;
    let inner = std::iter::from_fn(move || {
        while at < end {
            let here = at;
            let is_passive = view.unredacted(here).role.is_passive();
            at = if is_passive { here + 1 } else { view.tree().end(here) };
            if is_passive {
                return Some(here);
            }
        }
        None
    });
    inner.take(MOST_TEXTS).flat_map(|inner| says(view.unredacted(inner)))
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
