use std::io;
use std::path::PathBuf;

/// Why this process could not be confined. Every text says what is missing and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel was built without Landlock.
    #[error(
        "this kernel has no Landlock; use Linux 6.2 or newer with CONFIG_SECURITY_LANDLOCK (under gVisor there is none: \
         choose another runtime class)"
    )]
    LandlockMissing,
    /// The kernel has Landlock, but it is switched off.
    #[error("Landlock is built into this kernel but not enabled; add \"landlock\" to the kernel parameter lsm=")]
    LandlockDisabled,
    /// Something above the kernel keeps us from Landlock: a container's seccomp profile, most likely.
    #[error(
        "Landlock is refused to this process; the container's seccomp profile must allow landlock_create_ruleset, \
         landlock_add_rule and landlock_restrict_self (RuntimeDefault does)"
    )]
    LandlockRefused(#[source] io::Error),
    /// The kernel's Landlock cannot guard all that must be guarded.
    #[error("this kernel has Landlock ABI {found}; at least ABI {needed} is needed, which Linux 6.2 has")]
    LandlockTooOld {
        /// What the kernel has.
        found: u32,
        /// What is needed.
        needed: u32,
    },
    /// A ruleset was made and not enforced in full.
    #[error("Landlock enforces the rules in part only ({0}); nothing was started")]
    LandlockPartial(String),
    /// A ruleset could not be made.
    #[error("failed to confine this process with Landlock")]
    Landlock(#[from] landlock::RulesetError),
    /// A path that access was asked for cannot be opened.
    #[error("failed to open {} to grant access to it", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system-call filter could not be made.
    #[error("failed to compile the system-call filter")]
    FilterCompile(#[source] seccompiler::BackendError),
    /// The system-call filter could not be installed.
    #[error("failed to install the system-call filter; the kernel needs CONFIG_SECCOMP_FILTER")]
    FilterInstall(#[source] seccompiler::Error),
    /// This architecture has no list of system calls.
    #[error("there is no system-call filter for {0}; x86_64 and aarch64 are supported")]
    Architecture(&'static str),
    /// A step of the process's own set-up failed.
    #[error("failed to {step}")]
    System {
        /// What was attempted.
        step: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The process that started this one is gone already.
    #[error("the process that started this worker has ended")]
    ParentGone,
}
