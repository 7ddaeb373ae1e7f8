//! The files of a job. A job that is recorded is a trace: its folder is the folder of the run, and each file in it has a
//! row with its hash and size. A file is found again only by its row.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::store::{Claimed, JobArtifact, JobLease, Store};
use crate::error::{Error, Kind, Result};
use crate::files;
use crate::gate::Gate;

/// The folder of all runs, below that of the store.
pub const RUNS: &str = "runs";
/// Longer files are not handed out.
pub const LARGEST_ARTIFACT: u64 = 256 << 20;

/// The trace of a running job, where it is recorded.
#[derive(Debug)]
pub enum JobRecording {
    Off,
    Into(PathBuf),
}

impl JobRecording {
    /// Fails where the job is to be recorded and cannot be.
    pub fn start(gate: &Gate, store: &dyn Store, claimed: &Claimed) -> Result<Self> {
        if !claimed.spec.record {
            return Ok(JobRecording::Off);
        }
        let trace = gate.traces().start(Some(claimed.lease.job_id.clone()))?;
        if let Err(problem) = store.set_run_dir(&claimed.lease, &trace.dir.to_string_lossy()) {
            // Nobody would find it.
            let _ = gate.traces().stop();
            return Err(problem);
        }
        Ok(JobRecording::Into(trace.dir))
    }

    /// Ends the trace and writes down what it left.
    pub fn finish(self, gate: &Gate, store: &dyn Store, lease: &JobLease) -> Result<()> {
        let JobRecording::Into(dir) = self else {
            return Ok(());
        };
        gate.traces().stop()?;
        let artifacts = list_files(&dir).map_err(|problem| storage(&dir, &problem))?;
        artifacts.iter().try_for_each(|artifact| store.add_artifact(lease, artifact))
    }
}

fn storage(path: &Path, problem: &io::Error) -> Error {
    Error::new(Kind::StorageFailed, format!("{}: {problem}", path.display()))
}

/// The files of a folder and of the folders in it, by their paths from there.
fn list_files(folder: &Path) -> io::Result<Vec<JobArtifact>> {
    let mut found = Vec::new();
    for (prefix, path) in std::iter::once((String::new(), folder.to_owned())).chain(folders_in(folder)?) {
        for entry in std::fs::read_dir(&path)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                found.push(hash_file(name, &entry.path())?);
            }
        }
    }
    Ok(found)
}

fn folders_in(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push((format!("{}/", entry.file_name().to_string_lossy()), entry.path()));
        }
    }
    Ok(folders)
}

fn hash_file(name: String, path: &Path) -> io::Result<JobArtifact> {
    let mut file = File::open(path)?;
    let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 64 * 1024]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hash.update(buffer.get(..count).unwrap_or_default());
        bytes += count as i64;
    }
    Ok(JobArtifact { path: name, sha256: hex_of(&hash.finalize()), bytes })
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file of a job by its path below the folder of the run, or by its whole path. What has no row is not there, and
/// what has changed since is not handed out.
pub fn read_artifact(store: &dyn Store, job_id: &str, wanted: &str) -> Result<(JobArtifact, Vec<u8>)> {
    let missing = || Error::new(Kind::JobNotFound, "the job has no such file");
    let job = store.read(job_id)?.ok_or_else(missing)?;
    let folder = job.run_dir.ok_or_else(missing)?;
    let below = wanted.strip_prefix(folder.as_str()).map_or(wanted, |rest| rest.trim_start_matches('/'));
    let artifact = store.artifacts(job_id)?.into_iter().find(|row| row.path == below).ok_or_else(missing)?;
    let found = files::below(&[PathBuf::from(folder)], &artifact.path).map_err(|_| missing())?;
    let bytes = found.read(LARGEST_ARTIFACT).map_err(|_| missing())?;
    if hex_of(&Sha256::digest(&bytes)) != artifact.sha256 {
        return Err(Error::new(Kind::StorageFailed, "the file was changed after the job had written it"));
    }
    Ok((artifact, bytes))
}
