use rustix::process::{Pid, Resource};

use super::SandboxError;
use super::access::Rules;
use super::filter;
use super::process::{
    become_undumpable, close_other_descriptors, die_with_parent, limit, limit_processor_time, load_time_zone,
};

/// What a script worker may use, set by the process that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLimits {
    /// The process that started the worker.
    pub parent: Option<Pid>,
    /// Bytes of address space: the engine's heap, its stack, the program, and one message each way.
    pub address_space: u64,
    /// Seconds of processor time. The starter kills the worker at its deadline; this holds when the starter cannot.
    pub cpu_seconds: u64,
}

/// The stack may grow to this many bytes. The engine bounds its own recursion far below; chains of iterator helpers recurse
/// in native code that it does not count (200 bytes a link were seen), and they end the process when the stack ends.
const STACK: u64 = 64 << 20;

/// Gives up, for good, everything but reading standard input, writing standard output and error, and memory.
///
/// Called first of all by a script worker, before it reads a byte of the script. Afterwards no file, socket, process,
/// thread or signal can be had; whatever else is tried kills the process.
pub fn confine_worker(limits: &WorkerLimits) -> Result<(), SandboxError> {
    confine(limits, true)
}

/// The same but for the Landlock domain, for a run that its user wants unconfined on a kernel without Landlock. The list of
/// system calls still has none that opens, connects or starts anything.
pub fn confine_worker_without_landlock(limits: &WorkerLimits) -> Result<(), SandboxError> {
    confine(limits, false)
}

fn confine(limits: &WorkerLimits, landlock: bool) -> Result<(), SandboxError> {
    die_with_parent(limits.parent)?;
    become_undumpable()?;
    close_other_descriptors()?;
    load_time_zone();
    if landlock {
        Rules::deny_all()?.enforce()?;
    }
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?; // Pipes are not files; nothing else may be written.
    limit(Resource::Nofile, 3)?;
    limit(Resource::Stack, STACK)?;
    limit(Resource::As, limits.address_space)?;
    limit_processor_time(limits.cpu_seconds)?;
    filter::allow_worker()
}
