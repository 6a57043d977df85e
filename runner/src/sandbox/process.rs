use std::io;

use rustix::process::{
    DumpableBehavior, Pid, Resource, Rlimit, Signal, getppid, getrlimit, set_dumpable_behavior,
    set_parent_process_death_signal, setrlimit,
};

use super::SandboxError;

pub(super) fn failed(step: &'static str) -> impl FnOnce(rustix::io::Errno) -> SandboxError {
    move |errno| SandboxError::System { step, source: errno.into() }
}

/// Dies when the thread that started this process ends, and fails if that has happened already.
pub(super) fn die_with_parent(parent: Option<Pid>) -> Result<(), SandboxError> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed("ask for a signal at the parent's death"))?;
    // The parent may have ended between the start of this process and the line above; then no signal comes.
    if getppid() == parent { Ok(()) } else { Err(SandboxError::ParentGone) }
}

/// No core dump, no ptrace by a process of the same user, `/proc/<pid>` owned by root.
pub(super) fn become_undumpable() -> Result<(), SandboxError> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(failed("make this process undumpable"))
}

/// Sets a limit of this process, soft and hard.
pub(super) fn limit(resource: Resource, value: u64) -> Result<(), SandboxError> {
    limits(resource, value, value)
}

/// Seconds of processor time: SIGXCPU ends the process when they are used up, so that its end tells why, and SIGKILL a
/// second later.
pub(super) fn limit_processor_time(seconds: u64) -> Result<(), SandboxError> {
    limits(Resource::Cpu, seconds, seconds.saturating_add(1))
}

/// One that was inherited and is lower stays: raising it takes a privilege, and it is the stricter one.
fn limits(resource: Resource, soft: u64, hard: u64) -> Result<(), SandboxError> {
    let inherited = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let (soft, hard) = (soft.min(inherited), hard.min(inherited));
    setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) }).map_err(failed("set a resource limit"))
}

/// Closes every descriptor but standard input, output and error.
pub(super) fn close_other_descriptors() -> Result<(), SandboxError> {
    // SAFETY: the caller is at the start of `main`, before anything owns a descriptor above 2, so none is closed under an
    // owner. The call reads no memory of ours.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if result == 0 {
        return Ok(());
    }
    Err(SandboxError::System { step: "close inherited descriptors", source: io::Error::last_os_error() })
}

/// Lets the C library read its time zone now: the engine's `Date` would open the file later, when nothing can be opened.
pub(super) fn load_time_zone() {
    unsafe extern "C" {
        fn tzset();
    }
    // SAFETY: POSIX `tzset` takes nothing and returns nothing. It reads the environment, which no other thread changes: there
    // is none yet.
    unsafe { tzset() }
}
