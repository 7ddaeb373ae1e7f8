//! Where the program is that reads text, and how to get it.

use std::path::{Path, PathBuf};

use super::fixes::{self, Package};
use super::{Machine, RealMachine};

/// The program that reads text: the one that was named if it is there, else the one on the PATH.
pub fn find_tesseract(machine: &dyn Machine, named: Option<&Path>) -> Option<PathBuf> {
    named.and_then(|name| resolve(machine, name)).or_else(|| machine.find_program("tesseract"))
}

/// The line that installs it here; where no package manager is found, the usual one of this system.
pub fn tesseract_install_line() -> String {
    let usual = match std::env::consts::OS {
        "windows" => "winget install --exact --id UB-Mannheim.TesseractOCR",
        "macos" => "brew install tesseract",
        _ => "sudo apt-get install -y tesseract-ocr",
    };
    fixes::install_command(&RealMachine, Package::Tesseract).unwrap_or_else(|| usual.to_owned())
}

/// A bare name is looked up on PATH, anything else must exist.
pub fn resolve(machine: &dyn Machine, program: &Path) -> Option<PathBuf> {
    match program.to_str().filter(|name| !name.contains(['/', '\\'])) {
        Some(name) => machine.find_program(name),
        None => machine.exists(program).then(|| program.to_owned()),
    }
}
