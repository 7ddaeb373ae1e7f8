//! Asking the person about an application, once in a session: `apps.ask`. The observer withholds it until then, for
//! reading and for acting; here the question is made and the answer taken.

use super::confirm::{Consent, Person, Question, Ticket};
use super::{CallAuthority, Gate, Judgement};
use crate::error::{Error, Result};
use crate::privacy::untrusted::escape_unseen;
use crate::tool::Target;

impl Gate {
    /// Takes the person's answer to a question about an application. What is judged afterwards has not been answered yet.
    pub(super) fn take_app_answer(&self, person: &Person, notes: &mut Judgement) -> Person {
        let (ticket, agreed) = match person {
            Person::Agreed(ticket) => (ticket, Some(true)),
            Person::Declined(ticket) => (ticket, Some(false)),
            Person::Silent(ticket) => (ticket, None),
            Person::Unreachable | Person::Reachable => return person.clone(),
        };
        let ours = self.observer.app_grants().is_some_and(|grants| grants.note_answer(&ticket.0, agreed));
        if !ours {
            return person.clone();
        }
        notes.consent = agreed.filter(|agreed| *agreed).map(|_| Consent::Person);
        // Somebody was there to answer, and may be asked about something else; who was silent is not asked again.
        if agreed.is_some() { Person::Reachable } else { Person::Unreachable }
    }

    /// Makes a question of an error that says that the person has to be asked, where somebody can ask.
    pub(super) fn ask_about_app(
        &self,
        error: &Error,
        tool: &str,
        showing: &CallAuthority,
        notes: &mut Judgement,
    ) {
        let can_ask = match showing.person {
            Person::Reachable => true,
            Person::Unreachable => self.approvals.are_served() && !showing.was_silent,
            Person::Agreed(_) | Person::Declined(_) | Person::Silent(_) => false,
        };
        if !can_ask || notes.question.is_some() {
            return;
        }
        let Some((ticket, app)) = self.observer.app_grants().and_then(|grants| grants.open_question(error))
        else {
            return;
        };
        let text = format!(
            "Allow the agent to see and operate the application {} until the server ends? It was wanted by {tool}.",
            escape_unseen(&serde_json::Value::from(crate::text::shorten(&app, 80)).to_string())
        );
        notes.question = Some(Box::new(Question {
            ticket: Ticket(ticket),
            text,
            target: Target::ProgramName(app),
            hides_typed: true,
            for_session: true,
        }));
    }

    /// Nobody will answer any more.
    pub(super) fn withdraw_app_question(&self, ticket: &Ticket) {
        if let Some(grants) = self.observer.app_grants() {
            grants.note_answer(&ticket.0, None);
        }
    }

    /// Whether the programs that a call would start may be operated.
    pub(super) fn check_programs(&self, targets: &[Target]) -> Result<()> {
        let Some(grants) = self.observer.app_grants() else {
            return Ok(());
        };
        let mut programs = targets.iter().filter_map(Target::program);
        programs.try_for_each(|starting| grants.check_program(&starting.program, &starting.command))
    }
}
