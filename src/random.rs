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

/// A random UUID (version 4).
pub fn random_uuid() -> String {
    let digits = random_token("") + &random_token("");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    // The digit of the variant is one of 8, 9, a and b.
    let variant = digits.get(16..17).and_then(|digit| u8::from_str_radix(digit, 16).ok()).unwrap_or_default();
    let variant = char::from_digit(u32::from(variant & 3 | 8), 16).unwrap_or('8');
    format!("{}-{}-4{}-{variant}{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_says_its_version_and_variant() {
        for _ in 0..100 {
            let uuid = random_uuid();
            let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
            assert!(uuid[14..].starts_with('4') && "89ab".contains(&uuid[19..20]), "{uuid}");
        }
        assert_ne!(random_uuid(), random_uuid());
    }
}
