//! The key to a private display: made here, written into a file that only we can read, shown to the server.
//!
//! The format is that of `.Xauthority`: lengths and numbers in network order, one entry after the other. Ours
//! has one entry for every address and every display number, because the number is not known before the X server
//! has found a free one, and the file belongs to that server alone.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub const METHOD: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// An entry of this family fits every address.
const FAMILY_WILD: u16 = 65535;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookie(pub [u8; 16]);

impl Cookie {
    pub fn new() -> Result<Self, String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|problem| format!("no random numbers: {problem}"))?;
        Ok(Self(bytes))
    }

    fn entry(&self) -> Vec<u8> {
        let mut entry = FAMILY_WILD.to_be_bytes().to_vec();
        for field in [&[][..], &[][..], METHOD, &self.0] {
            entry.extend_from_slice(&u16::try_from(field.len()).unwrap_or_default().to_be_bytes());
            entry.extend_from_slice(field);
        }
        entry
    }

    pub fn write(&self, file: &Path) -> Result<(), String> {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file)
            .and_then(|mut file| file.write_all(&self.entry()))
            .map_err(|problem| format!("{} cannot be written: {problem}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_is_in_the_format_of_xauthority() {
        let entry = Cookie([7; 16]).entry();
        let expected = [&[0xff, 0xff, 0, 0, 0, 0, 0, 18][..], METHOD, &[0, 16], &[7; 16]].concat();
        assert_eq!(entry, expected);
    }

    #[test]
    fn the_file_is_ours_alone_and_no_two_cookies_are_alike() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("xauthority");
        let cookie = Cookie::new().unwrap();
        assert_ne!(cookie, Cookie::new().unwrap());
        cookie.write(&file).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(cookie.write(&file).unwrap_err().contains("cannot be written"));
    }
}
