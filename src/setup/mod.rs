//! The entry of this server in the configuration of an MCP client: put in, kept up to date, and taken out again. Everything
//! else in the client's file stays as it is, comments included. It prints nothing and asks nothing.

pub mod clients;
pub mod entry;
mod json_text;
mod toml_text;

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::clients::{ClientFile, FileFormat};
use crate::files;
use crate::random::random_token;

/// What the server is called in every client.
pub const ENTRY_NAME: &str = "os-screen-observer";
/// What the copy of a file is called, behind the file's own name.
const COPY_SUFFIX: &str = ".before-os-screen-observer";
/// A larger file is no configuration of a client.
const LARGEST_FILE: u64 = 64 << 20;

/// What became of a client's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryChange {
    /// The file is new.
    Created,
    /// A copy of the file as it was before is kept here.
    Changed { copy: PathBuf },
    /// The entry was there already.
    Unchanged,
}

/// What was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The file is as it was before.
    Restored,
    /// The file was changed by others since, so only the entry was removed.
    Removed,
    /// There was nothing but the entry in it, and no file before.
    Deleted,
    /// There is no entry.
    Nothing,
}

/// Puts the entry into the client's file. Nothing is changed where the file cannot be understood or written.
pub fn add_entry(file: &ClientFile, entry: &Value) -> Result<EntryChange, String> {
    let Some(found) = read_file(&file.path)? else {
        let text = put(file.format, "", entry).map_err(|problem| named(&file.path, &problem))?;
        return write_new(&file.path, &text).map(|()| EntryChange::Created);
    };
    let old = find(file.format, &found.text).map_err(|problem| named(&found.path, &problem))?;
    if old.as_ref() == Some(entry) {
        return Ok(EntryChange::Unchanged);
    }
    let text = put(file.format, &found.text, entry).map_err(|problem| named(&found.path, &problem))?;
    found.require_writable()?;
    let copy = copy_path(&found.path);
    // The copy of an earlier run shows the file before the first one; it is kept for as long as our entry is there.
    if old.is_none() || !copy.exists() {
        write_beside(&copy, &found.text, &found.path)?;
    }
    write_beside(&found.path, &text, &found.path)?;
    Ok(EntryChange::Changed { copy })
}

/// Takes the entry out again.
pub fn remove_entry(file: &ClientFile) -> Result<Undone, String> {
    let Some(found) = read_file(&file.path)? else {
        return Ok(Undone::Nothing);
    };
    let failed = |problem: String| named(&found.path, &problem);
    let Some(entry) = find(file.format, &found.text).map_err(failed)? else {
        return Ok(Undone::Nothing);
    };
    found.require_writable()?;
    let copy = copy_path(&found.path);
    let before = read_file(&copy)?.map(|copy| copy.text);
    if let Some(before) = before.filter(|before| put(file.format, before, &entry).as_ref() == Ok(&found.text))
    {
        write_beside(&found.path, &before, &found.path)?;
        remove_copy(&copy)?;
        return Ok(Undone::Restored);
    }
    let created = put(file.format, "", &entry).as_ref() == Ok(&found.text);
    if created && !copy.exists() {
        fs::remove_file(&found.path).map_err(|problem| failed(problem.to_string()))?;
        return Ok(Undone::Deleted);
    }
    let text = take_out(file.format, &found.text).map_err(failed)?;
    write_beside(&found.path, &text, &found.path)?;
    remove_copy(&copy)?;
    Ok(Undone::Removed)
}

fn named(path: &Path, problem: &str) -> String {
    format!("{}: {problem}", path.display())
}

fn put(format: FileFormat, text: &str, entry: &Value) -> Result<String, String> {
    match format {
        FileFormat::Json(section) => json_text::put_entry(text, section, ENTRY_NAME, entry),
        FileFormat::Toml(section) => toml_text::put_entry(text, section, ENTRY_NAME, entry),
    }
}

fn find(format: FileFormat, text: &str) -> Result<Option<Value>, String> {
    match format {
        FileFormat::Json(section) => json_text::find_entry(text, section, ENTRY_NAME),
        FileFormat::Toml(section) => toml_text::find_entry(text, section, ENTRY_NAME),
    }
}

fn take_out(format: FileFormat, text: &str) -> Result<String, String> {
    match format {
        FileFormat::Json(section) => json_text::remove_entry(text, section, ENTRY_NAME),
        FileFormat::Toml(section) => toml_text::remove_entry(text, section, ENTRY_NAME),
    }
}

/// A file of a client, and where it really is: a folder of dotfiles may be linked to.
struct FoundFile {
    path: PathBuf,
    text: String,
}

impl FoundFile {
    /// Who makes a file read-only wants it left alone, although its folder would let us replace it.
    fn require_writable(&self) -> Result<(), String> {
        let facts = fs::metadata(&self.path).map_err(|problem| named(&self.path, &problem.to_string()))?;
        match facts.permissions().readonly() {
            true => Err(named(&self.path, "the file is read-only, so it was not changed")),
            false => Ok(()),
        }
    }
}

/// Nothing where there is no file.
fn read_file(path: &Path) -> Result<Option<FoundFile>, String> {
    let failed = |problem: std::io::Error| named(path, &problem.to_string());
    let facts = match fs::metadata(path) {
        Err(problem) if problem.kind() == ErrorKind::NotFound => return Ok(None),
        Err(problem) => return Err(failed(problem)),
        Ok(facts) => facts,
    };
    if !facts.is_file() || facts.len() > LARGEST_FILE {
        return Err(named(path, "this is not a configuration file"));
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    Ok(Some(FoundFile { path: path.canonicalize().map_err(failed)?, text }))
}

fn copy_path(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{name}{COPY_SUFFIX}"))
}

fn remove_copy(copy: &Path) -> Result<(), String> {
    match fs::remove_file(copy) {
        Err(problem) if problem.kind() != ErrorKind::NotFound => Err(named(copy, &problem.to_string())),
        _ => Ok(()),
    }
}

fn write_new(path: &Path, text: &str) -> Result<(), String> {
    let failed = |problem: std::io::Error| named(path, &problem.to_string());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file =
        files::create_private(path, fs::OpenOptions::new().write(true).create_new(true)).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// Whole or not at all, readable by those who could read `like`.
fn write_beside(path: &Path, text: &str, like: &Path) -> Result<(), String> {
    let failed = |problem: std::io::Error| named(path, &problem.to_string());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fresh = path.with_file_name(format!(".{name}.{}", random_token("")));
    let written = files::create_private(&fresh, fs::OpenOptions::new().write(true).create_new(true))
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::set_permissions(&fresh, fs::metadata(like)?.permissions()))
        .and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written.map_err(failed)
}

#[cfg(test)]
mod tests;
