//! What a recipe demands of the session that it runs in, checked before a browser is started.

use super::format::{Recipe, Requirement};

/// The code of the refusal.
pub const PROFILE_REQUIRED: &str = "ProfileRequired";

/// What is known of a session before its browser starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts<'a> {
    /// The profile that the browser is started with; a guest has none.
    pub profile: Option<&'a str>,
    /// The browser has the user-data folder of a person (`browser.user_data_dir`, or it is attached).
    pub user_data_dir: bool,
    /// A person has logged in with it.
    pub warmed: bool,
}

impl Recipe {
    /// Whether it demands more than a guest.
    pub fn is_protected(&self) -> bool {
        !self.requires.is_empty()
    }

    /// Why the recipe cannot run in this session, and what to do about it.
    pub fn check_session(&self, session: &SessionFacts) -> Result<(), String> {
        let is_kept = session.profile.is_some() || session.user_data_dir || session.warmed;
        if self.requires.contains(&Requirement::Profile) && !is_kept {
            return Err(format!(
                "the recipe '{}' needs a browser whose logins stay: name a profile, set browser.user_data_dir, or use a \
                 warmed session; no browser was started",
                self.id
            ));
        }
        if self.requires.contains(&Requirement::Warmed) && !session.warmed {
            let profile = session.profile.unwrap_or("NAME");
            return Err(format!(
                "the recipe '{}' needs a warmed session, and nobody has logged in with this one: run `profile login \
                 {profile} URL` first; no browser was started",
                self.id
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(requires: &[Requirement], session: SessionFacts, expected: Option<&str>) {
        let recipe = Recipe { id: "r".to_owned(), requires: requires.to_vec(), ..Recipe::default() };
        match (recipe.check_session(&session), expected) {
            (Ok(()), None) => {}
            (Err(said), Some(words)) => assert!(said.contains(words), "{said}"),
            (got, _) => panic!("{requires:?} {session:?}: {got:?}"),
        }
    }

    #[test]
    fn a_protected_recipe_demands_its_session() {
        let guest = SessionFacts::default();
        let profile = SessionFacts { profile: Some("work"), ..guest };
        let own = SessionFacts { user_data_dir: true, ..guest };
        let warmed = SessionFacts { profile: Some("work"), warmed: true, ..guest };
        for session in [guest, profile, own, warmed] {
            check(&[], session, None);
        }
        check(&[Requirement::Profile], guest, Some("name a profile"));
        for session in [profile, own, warmed] {
            check(&[Requirement::Profile], session, None);
        }
        check(&[Requirement::Warmed], guest, Some("profile login NAME URL"));
        check(&[Requirement::Warmed], profile, Some("profile login work URL"));
        check(&[Requirement::Warmed], warmed, None);
    }
}
