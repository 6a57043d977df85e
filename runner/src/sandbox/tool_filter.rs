//! What a tool process may not ask of the kernel, beyond what the runner may not.

use seccompiler::{BpfProgram, SeccompCmpOp};

use super::SandboxError;
use super::filter::{List, denied_everywhere, not_implemented, refuse, refusing, rule, rule_of_all};

/// What a command has no use for. A pair of connected sockets stays, as pipes do; nothing makes it reach further. Message
/// queues, semaphores and shared memory of System V would outlive the call.
const DENIED: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_process_mrelease,
];

/// Calls that act on the process named by their first argument: only on the caller itself, which is 0. Landlock does not
/// look at them, and a limit of processor time would kill the runner as well as a signal.
const OWN_ONLY: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

const SYS_FCHMODAT2: i64 = 452; // asm-generic/unistd.h; the `libc` crate has it not for every target
const IOPRIO_WHO_PROCESS: u64 = 1; // linux/ioprio.h
const SOCKET_TYPE: u64 = 0xf; // SOCK_TYPE_MASK in the kernel's net/socket.c; above it are flags
const SET_IDS: [u64; 2] = [0o4000, 0o2000];

/// Refuses, with `EPERM`, what no command needs. Binds this process and all it starts.
pub(super) fn deny_tool() -> Result<(), SandboxError> {
    let mut list = denied_everywhere()?;
    list.extend(DENIED.iter().map(|number| (*number, Vec::new())));
    for number in OWN_ONLY {
        list.insert(*number, vec![rule(0, SeccompCmpOp::Ne, 0)?]);
    }
    let process = u64::from(libc::PRIO_PROCESS);
    list.insert(libc::SYS_setpriority, vec![rule(0, SeccompCmpOp::Ne, process)?, rule(1, SeccompCmpOp::Ne, 0)?]);
    let own_io = vec![rule(0, SeccompCmpOp::Ne, IOPRIO_WHO_PROCESS)?, rule(1, SeccompCmpOp::Ne, 0)?];
    list.insert(libc::SYS_ioprio_set, own_io);
    // A datagram can be sent from a connected socket to any other socket's path.
    let datagrams = [libc::SOCK_DGRAM, libc::SOCK_RAW]
        .map(|kind| rule(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), u64::from(kind.unsigned_abs())));
    list.insert(libc::SYS_socketpair, datagrams.into_iter().collect::<Result<_, _>>()?);
    let terminals = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| rule(1, SeccompCmpOp::Eq, request));
    list.insert(libc::SYS_ioctl, terminals.into_iter().collect::<Result<_, _>>()?);
    deny_set_ids(&mut list)?;
    // Neither call's structure can be looked into; without them the C library uses `clone` and `openat`.
    not_implemented(&[libc::SYS_clone3, libc::SYS_openat2])?;
    refuse(list)
}

/// No file with a set-user-ID or set-group-ID bit: whoever ran it later would be this user.
fn deny_set_ids(list: &mut List) -> Result<(), SandboxError> {
    let mut modes = vec![(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (SYS_FCHMODAT2, 2)];
    let mut creations = vec![(libc::SYS_openat, 2, 3)];
    #[cfg(target_arch = "x86_64")]
    {
        modes.extend([(libc::SYS_chmod, 1), (libc::SYS_creat, 1)]);
        creations.push((libc::SYS_open, 1, 2));
    }
    for (number, mode) in modes {
        let rules = SET_IDS.map(|bit| rule(mode, SeccompCmpOp::MaskedEq(bit), bit));
        list.insert(number, rules.into_iter().collect::<Result<_, _>>()?);
    }
    let create = u64::from(libc::O_CREAT.unsigned_abs());
    for (number, flags, mode) in creations {
        let rules = SET_IDS.map(|bit| {
            rule_of_all(vec![(flags, SeccompCmpOp::MaskedEq(create), create), (mode, SeccompCmpOp::MaskedEq(bit), bit)])
        });
        list.insert(number, rules.into_iter().collect::<Result<_, _>>()?);
    }
    Ok(())
}

/// For kernels whose Landlock has no scopes: the processes that a command may not signal are named, and it can leave neither
/// its session nor its process group, so that one signal to the group reaches all of it.
///
/// A filter sees numbers only. Whoever else runs as the same user, in the same process namespace, stays within reach of a
/// signal: in a pod that is a script worker of the same job, on a laptop every program of the person.
pub(super) fn hold_signals(protected: &[i32]) -> Result<BpfProgram, SandboxError> {
    const FIOSETOWN: u64 = 0x8901; // asm-generic/sockios.h, as the next
    const SIOCSPGRP: u64 = 0x8902;
    const F_SETSIG: u64 = 10; // asm-generic/fcntl.h, as the next two
    const F_SETOWN: u64 = 8;
    const F_SETOWN_EX: u64 = 15;
    let never = [
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_pidfd_send_signal,
        libc::SYS_setsid,
        libc::SYS_setpgid,
    ];
    let mut list: List = never.iter().map(|number| (*number, Vec::new())).collect();
    let is = |argument: u8, value: u64| rule(argument, SeccompCmpOp::Eq, value);
    let number = |process: i32| u64::from(process.cast_unsigned());
    // Everybody at once (-1), the first process, and each protected one by itself or as the leader of its group.
    let named = protected.iter().flat_map(|process| [*process, -*process]).chain([-1, 1]);
    list.insert(libc::SYS_kill, named.clone().map(|process| is(0, number(process))).collect::<Result<_, _>>()?);
    list.insert(libc::SYS_tgkill, named.map(|process| is(0, number(process))).collect::<Result<_, _>>()?);
    let owners = [F_SETOWN, F_SETSIG, F_SETOWN_EX].map(|command| is(1, command));
    list.insert(libc::SYS_fcntl, owners.into_iter().collect::<Result<_, _>>()?);
    let owners = [FIOSETOWN, SIOCSPGRP].map(|request| is(1, request));
    list.insert(libc::SYS_ioctl, owners.into_iter().collect::<Result<_, _>>()?);
    refusing(list)
}
