use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process_group, set_child_subreaper,
    set_parent_process_death_signal, setsid, test_kill_process, wait,
};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::access::{Rules, availability};
use super::process::{become_undumpable, close_other_descriptors, failed, limit};
use super::{SandboxError, filter, tool_filter};

/// Where a tool process and all it starts may look, write and find programs. Every path must exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolAccess {
    /// Folders and files to read and execute: programs, libraries and the sources.
    pub programs: Vec<PathBuf>,
    /// Folders and files to read.
    pub read: Vec<PathBuf>,
    /// Folders to read and write beneath, and devices.
    pub write: Vec<PathBuf>,
}

/// What each process of a tool may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolLimits {
    /// Bytes of a file that is written.
    pub file_bytes: u64,
    /// Bytes of private memory of one process. A container's own limit counts all of them and ends the runner as well; this
    /// ends the hog alone.
    pub data_bytes: u64,
    /// Processes and threads of this user, those of other containers of the same user included, as the kernel counts them.
    /// The kernel exempts root.
    pub processes: u64,
    /// Open descriptors of one process.
    pub open_files: u64,
}

/// The domain that this process is in since [`confine_tool`], with everything it starts.
#[derive(Debug)]
pub struct Domain {
    /// The process that started this one.
    parent: Pid,
    /// Whether the kernel keeps signals inside the domain.
    scoped: bool,
}

/// Makes this process the guardian of a command, and gives up, for good, what no command needs.
///
/// Called first of all, while there is one thread. Afterwards there is no socket, no file but those that `access` names, no
/// tracing, no namespace, no capability; every orphan of what is started becomes a child of this process.
pub fn confine_tool(access: &ToolAccess, limits: &ToolLimits) -> Result<Domain, SandboxError> {
    confine(access, limits, availability()?.has_scopes())
}

/// The same as on a kernel whose Landlock has no scopes (before ABI 6): a filter refuses signals to the parent and to this
/// process, and what is started cannot leave its process group.
pub fn confine_tool_without_scopes(access: &ToolAccess, limits: &ToolLimits) -> Result<Domain, SandboxError> {
    confine(access, limits, false)
}

fn confine(access: &ToolAccess, limits: &ToolLimits, scoped: bool) -> Result<Domain, SandboxError> {
    let ToolAccess { programs, read, write } = access;
    let parent = getppid().ok_or(SandboxError::ParentGone)?;
    set_child_subreaper(Some(getpid())).map_err(failed("adopt orphaned processes"))?;
    become_undumpable()?;
    close_other_descriptors()?;
    let mut rules = Rules::deny_all()?;
    for path in programs {
        rules = rules.allow_programs(path)?;
    }
    for path in read {
        rules = rules.allow_read(path)?;
    }
    for path in write {
        rules = rules.allow_write(path)?;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(failed("drop capabilities"))?;
    rules.enforce()?;
    limit(Resource::Core, 0)?;
    limit(Resource::Memlock, 0)?;
    limit(Resource::Fsize, limits.file_bytes)?;
    limit(Resource::Data, limits.data_bytes)?;
    limit(Resource::Nproc, limits.processes)?;
    limit(Resource::Nofile, limits.open_files)?;
    tool_filter::deny_tool()?;
    // The parent has the same user and may be signalled by every process of it: only the domain's wall refuses.
    if scoped && test_kill_process(parent) != Err(Errno::PERM) {
        return Err(SandboxError::LandlockPartial("a signal leaves the domain".to_owned()));
    }
    Ok(Domain { parent, scoped })
}

/// What is left of what was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Not one process.
    Nothing,
    /// At least one that has not ended yet.
    Something,
}

impl Domain {
    /// Starts a program in a session of its own, which can signal neither this process nor its parent.
    ///
    /// # Errors
    /// When the inner wall cannot be built or the program cannot be started.
    pub fn spawn(&self, command: &mut Command) -> Result<Child, SandboxError> {
        let mut inner = Rules::scopes()?.filter(|_| self.scoped);
        let filter = match inner {
            Some(_) => None,
            None => Some(tool_filter::hold_signals(&[self.parent.as_raw_pid(), getpid().as_raw_pid()])?),
        };
        let enter = move || -> io::Result<()> {
            setsid()?;
            set_parent_process_death_signal(Some(Signal::KILL))?;
            if let Some(rules) = inner.take() {
                rules.enforce().map_err(io::Error::other)?;
            }
            filter.as_ref().map_or(Ok(()), filter::install).map_err(io::Error::other)
        };
        // SAFETY: this process has one thread, so the child of its `fork` has a whole copy of it and no lock is held by a
        // thread that is gone: the closure may allocate. It touches no descriptor but the ruleset that it owns.
        let command = unsafe { command.pre_exec(enter) };
        command.spawn().map_err(|source| SandboxError::System { step: "start the command", source })
    }

    /// Kills everything that was started and has not ended: in one step, so that no fork can run ahead of it.
    ///
    /// `leader` is the process that [`Domain::spawn`] started.
    pub fn kill_all(&self, leader: Pid) {
        if self.scoped {
            // SAFETY: reads and writes no memory. "Every process" is every one of this domain: `confine_tool` has seen that a
            // signal does not leave it.
            unsafe { libc::kill(-1, libc::SIGKILL) };
        } else {
            // Nothing can have left the group. It is gone when its last process is.
            _ = kill_process_group(leader, Signal::KILL);
        }
    }

    /// Collects what has ended, orphans included, without waiting.
    pub fn reap(&self, mut ended: impl FnMut(Pid, WaitStatus)) -> Left {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((process, status))) => ended(process, status),
                Ok(None) => return Left::Something,
                Err(Errno::INTR) => {}
                Err(_) => return Left::Nothing,
            }
        }
    }
}

/// The devices that commands expect, those that exist: to write, and to read only.
#[must_use]
pub fn devices() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let existing =
        |paths: &[&str]| paths.iter().map(Path::new).filter(|path| path.exists()).map(Path::to_owned).collect();
    (existing(&["/dev/null", "/dev/full"]), existing(&["/dev/zero", "/dev/random", "/dev/urandom"]))
}
