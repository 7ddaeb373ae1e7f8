//! PowerShell, asked by constant scripts. It runs below the keeper of commands, so that what it starts ends with it and
//! a question ends in time; what it prints is for `decode` to judge.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::exec;
use super::decode;
use crate::clock::Cancel;
use crate::error::Result;
use crate::model::app::{Launch, Run};

const COMMON: &str = include_str!("scripts/common.ps1");
const WINDOWS: &str = include_str!("scripts/windows.ps1");
const SCREEN: &str = include_str!("scripts/screen.ps1");
const WINDOW: &str = include_str!("scripts/window.ps1");

/// A cold PowerShell that compiles its few lines of C# takes three seconds on a slow machine.
const PATIENCE: Duration = Duration::from_secs(15);
const MOST_LIST_BYTES: usize = 4 << 20;
/// The picture of several large monitors as base64.
const MOST_PICTURE_BYTES: usize = 96 << 20;

/// As text, because its errors would come as XML otherwise.
const ARGUMENTS: [&str; 6] =
    ["-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand"];

pub fn ask_windows(powershell: &Path) -> Result<String> {
    run(powershell, &[COMMON, WINDOWS].concat(), MOST_LIST_BYTES)
}

pub fn screen_picture(powershell: &Path) -> Result<String> {
    run(powershell, &[COMMON, SCREEN].concat(), MOST_PICTURE_BYTES)
}

/// A window's number is all that ever goes into a script, and it is a number.
pub fn window_picture(powershell: &Path, handle: i64) -> Result<String> {
    run(powershell, &format!("{COMMON}$handle = [long]'{handle}'\n{WINDOW}"), MOST_PICTURE_BYTES)
}

fn run(powershell: &Path, script: &str, most: usize) -> Result<String> {
    let words = ARGUMENTS.map(str::to_owned);
    let mut command = vec![powershell.to_string_lossy().into_owned()];
    command.extend(words);
    command.push(encode_script(script));
    let launch = Launch { command, cwd: None };
    let ended = exec::run(&Run { launch, timeout: PATIENCE, max_output_bytes: most }, &Cancel::new())?;
    decode::answer(ended, PATIENCE, most)
}

/// As PowerShell wants it: no quoting can go wrong on the way through two systems.
fn encode_script(script: &str) -> String {
    let bytes: Vec<u8> = script.encode_utf16().flat_map(u16::to_le_bytes).collect();
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_fit_into_a_command_line_of_windows() {
        for script in [WINDOWS, SCREEN, WINDOW] {
            let line = encode_script(&[COMMON, script].concat());
            assert!(line.len() < 32_000, "{} characters", line.len());
        }
    }

    #[test]
    fn a_script_is_encoded_as_utf_16() {
        assert_eq!(encode_script("a"), "YQA=");
    }
}
