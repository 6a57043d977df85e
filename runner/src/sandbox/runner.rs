use std::path::{Path, PathBuf};

use super::SandboxError;
use super::access::Rules;
use super::filter;
use super::process::become_undumpable;

/// What the runner keeps when it confines itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunnerAccess {
    /// Files and folders to read beneath: the sources.
    pub read: Vec<PathBuf>,
    /// Folders to read and write beneath: `/out` and `/tmp`.
    pub write: Vec<PathBuf>,
    /// The one file that may be executed: this program, as the script worker.
    pub execute: Option<PathBuf>,
    /// Folders whose files may be read and executed: programs and libraries of the system, when the job has the tool `shell`.
    pub programs: Vec<PathBuf>,
    /// Whether sockets of the family `AF_UNIX` may be made, to reach the broker. No other family ever may.
    pub unix_sockets: bool,
}

/// Opened by the standard library for the standard streams of a process it starts.
const NULL_DEVICE: &str = "/dev/null";

/// Gives up, for good, everything but what `access` names.
///
/// Called before the runtime starts, because Landlock binds the calling thread and the threads it starts later. Files that
/// are open already stay usable. Every path must exist. Afterwards there is no TCP, no socket (save `AF_UNIX` when asked
/// for), no tracing, no new namespace or mount, and no program but those named.
pub fn confine_runner(access: &RunnerAccess) -> Result<(), SandboxError> {
    let RunnerAccess { read, write, execute, programs, unix_sockets } = access;
    become_undumpable()?;
    let mut rules = Rules::deny_all()?.allow_write(Path::new(NULL_DEVICE))?;
    for path in read {
        rules = rules.allow_read(path)?;
    }
    for path in write {
        rules = rules.allow_write(path)?;
    }
    if let Some(program) = execute {
        rules = rules.allow_execute(program)?;
    }
    for path in programs {
        rules = rules.allow_programs(path)?;
    }
    rules.enforce()?;
    filter::deny_runner(*unix_sockets)
}
