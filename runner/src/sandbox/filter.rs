//! The lists of system calls. Names come from the kernel's headers through `libc`, so that both architectures share them.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::SandboxError;

/// What a script worker does: pipes, memory, time, random numbers, its own end. `writev` and `gettid` are what a panic needs
/// to print its message; `mprotect` is used by the C library's allocator.
const WORKER_ALLOWED: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_sched_yield,
    libc::SYS_gettid,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// What no tool of the runner needs and an escape might. `memfd_create` is here because a file without a path could be
/// executed past Landlock.
const RUNNER_DENIED: &[i64] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_memfd_create,
    libc::SYS_mknodat,
    libc::SYS_fanotify_init,
    libc::SYS_personality,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// System calls that only this architecture has.
#[cfg(target_arch = "x86_64")]
const RUNNER_DENIED_HERE: &[i64] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_mknod, libc::SYS_uselib, libc::SYS__sysctl];
#[cfg(not(target_arch = "x86_64"))]
const RUNNER_DENIED_HERE: &[i64] = &[];

/// Flags of `clone` that make a namespace (linux/sched.h).
const NAMESPACE_FLAGS: &[i32] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Kills this process at every system call that a script worker has no use for.
pub(super) fn allow_worker() -> Result<(), SandboxError> {
    let rules = WORKER_ALLOWED.iter().map(|number| (*number, Vec::new())).collect();
    install(&compile(rules, SeccompAction::KillProcess, SeccompAction::Allow)?)
}

/// Refuses, with `EPERM`, what no tool of the runner needs.
pub(super) fn deny_runner(unix_sockets: bool) -> Result<(), SandboxError> {
    let mut rules = denied_everywhere()?;
    let sockets = if unix_sockets {
        vec![rule(0, SeccompCmpOp::Ne, u64::from(libc::AF_UNIX.unsigned_abs()))?]
    } else {
        Vec::new()
    };
    rules.insert(libc::SYS_socket, sockets);
    // A filter cannot look into the structure that `clone3` takes. "Not implemented" makes the C library use `clone`.
    not_implemented(&[libc::SYS_clone3])?;
    refuse(rules)
}

/// A list of system calls: one with no rule is meant always, one with rules when one of them holds.
pub(super) type List = BTreeMap<i64, Vec<SeccompRule>>;

/// What neither the runner nor a tool may do.
pub(super) fn denied_everywhere() -> Result<List, SandboxError> {
    let mut rules: List = RUNNER_DENIED.iter().chain(RUNNER_DENIED_HERE).map(|number| (*number, Vec::new())).collect();
    let namespaces = NAMESPACE_FLAGS.iter().map(|flag| {
        let flag = u64::from(flag.cast_unsigned());
        rule(0, SeccompCmpOp::MaskedEq(flag), flag)
    });
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    Ok(rules)
}

/// Answers a list of calls with `EPERM`.
pub(super) fn refuse(list: List) -> Result<(), SandboxError> {
    install(&refusing(list)?)
}

/// The filter that answers a list of calls with `EPERM`, to be installed later.
pub(super) fn refusing(list: List) -> Result<BpfProgram, SandboxError> {
    compile(list, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM.unsigned_abs()))
}

/// Answers calls as a kernel does that does not have them, so that the caller takes its older way.
pub(super) fn not_implemented(numbers: &[i64]) -> Result<(), SandboxError> {
    let list = numbers.iter().map(|number| (*number, Vec::new())).collect();
    install(&compile(list, SeccompAction::Allow, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()))?)
}

/// A rule that holds when the lower half of one argument compares so.
pub(super) fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, SandboxError> {
    rule_of_all(vec![(argument, operator, value)])
}

/// A rule that holds when the lower halves of these arguments all compare so.
pub(super) fn rule_of_all(conditions: Vec<(u8, SeccompCmpOp, u64)>) -> Result<SeccompRule, SandboxError> {
    let conditions = conditions
        .into_iter()
        .map(|(argument, operator, value)| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value));
    conditions.collect::<Result<Vec<_>, _>>().and_then(SeccompRule::new).map_err(SandboxError::FilterCompile)
}

/// A filter that answers a listed call with `listed` and every other with `unlisted`. A call by another architecture's table
/// kills the process.
fn compile(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    unlisted: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, SandboxError> {
    let architecture =
        TargetArch::try_from(std::env::consts::ARCH).map_err(|_| SandboxError::Architecture(std::env::consts::ARCH))?;
    let filter = SeccompFilter::new(rules, unlisted, listed, architecture).map_err(SandboxError::FilterCompile)?;
    let mut program = refuse_x32();
    program.extend(BpfProgram::try_from(filter).map_err(SandboxError::FilterCompile)?);
    Ok(program)
}

/// x86-64 kernels may take the same calls under a second set of numbers, from 0x40000000 on, past a list of the first set.
/// No number of another architecture is that large.
fn refuse_x32() -> BpfProgram {
    const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS: the system call's number is at offset 0 of struct seccomp_data
    const JUMP_IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    const X32_BIT: u32 = 0x4000_0000;
    vec![
        sock_filter { code: LOAD_WORD, jt: 0, jf: 0, k: 0 },
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: X32_BIT },
        sock_filter { code: RETURN, jt: 0, jf: 0, k: libc::SECCOMP_RET_KILL_PROCESS },
    ]
}

pub(super) fn install(program: &BpfProgram) -> Result<(), SandboxError> {
    apply_filter(program).map_err(SandboxError::FilterInstall)
}
