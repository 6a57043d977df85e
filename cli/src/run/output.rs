//! The folder a job writes to, and the run's own folder around it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::refusal::Refusal;

/// Makes the folder that the job writes to. One that the user named must be new or empty: a job's output is its own.
pub(super) fn prepare(named: Option<&Path>, scratch: &Path) -> Result<PathBuf, Refusal> {
    let failed = |path: &Path, error: io::Error| -> Refusal {
        format!("failed to prepare the output folder {}: {error}", path.display()).into()
    };
    let path = named.map_or_else(|| scratch.join("out"), Path::to_owned);
    fs::create_dir_all(&path).map_err(|error| failed(&path, error))?;
    if fs::read_dir(&path).map_err(|error| failed(&path, error))?.next().is_some() {
        return Err(format!("--out {}: the folder is not empty; name a new or an empty one", path.display()).into());
    }
    path.canonicalize().map_err(|error| failed(&path, error))
}
