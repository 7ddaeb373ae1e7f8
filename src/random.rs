//! Random names that cannot be guessed.

/// `prefix` and 16 random hex digits. Tokens are guessed by nobody: they stand for consent and state.
pub fn random_token(prefix: &str) -> String {
    // The system's random source fails only before the machine is fully up; then the address of a
    // fresh hash seed is still unique, which is all that a tree token needs.
    let number = getrandom::u64().unwrap_or_else(|_| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(std::process::id())
    });
    format!("{prefix}{number:016x}")
}
