//! What must not be shown, and what is not what it seems: secrets taken out of texts, control characters removed,
//! texts that speak to an agent recognised. It works on texts, trees and values that are about to leave, and knows
//! neither a tool nor a reply.

pub mod app_rules;
pub mod arguments;
pub mod injection;
pub mod redact;
pub mod scrub;
pub mod spelling;
pub mod untrusted;
pub mod watch;
