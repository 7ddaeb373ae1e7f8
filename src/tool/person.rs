//! The person behind a call, as a surface knows them, and what they have to be asked.

use super::Target;

/// What a surface knows of the person behind a call. Only surfaces make one.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Person {
    /// There is no way to ask.
    #[default]
    Unreachable,
    /// The surface can ask, and will if it gets a [`Question`].
    Reachable,
    /// The person agreed to the question that this ticket stands for.
    Agreed(Ticket),
    /// The person said no.
    Declined(Ticket),
    /// The person did not decide.
    Silent(Ticket),
}

/// Stands for one question to the person. It is no secret: without a surface that says [`Person::Agreed`] it
/// is good for nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticket(pub String);

/// What the person has to be asked before the call can be made again.
#[derive(Clone, Debug)]
pub struct Question {
    pub ticket: Ticket,
    pub text: String,
    /// The protected element that would be touched.
    pub target: Target,
    /// What the call types is private: whoever shows its arguments leaves that out.
    pub hides_typed: bool,
    /// The answer holds until the server ends, not for this call alone.
    pub for_session: bool,
}
