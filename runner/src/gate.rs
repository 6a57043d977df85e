//! The network gate: proves that new connections are refused before anything of a plan runs.
//!
//! A NetworkPolicy takes effect some time after the pod starts, and connections that exist by then survive it. So each
//! round opens *new* connections, to every canary at once, and sends nothing on them. The canaries are addresses that any
//! unrestricted pod reaches: when none of them answers, several rounds in a row, the policy is in force. Whatever else goes
//! wrong on this side (no descriptor left, say) proves nothing, and the gate stays shut.
//!
//! Blocking code of one thread: it runs before the process confines itself, which needs to be the only thread.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anchorhold_plan::Gate;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, ipproto, socket_with, sockopt};

/// How long a connection may take. A packet that a policy drops gets no answer at all; in a cluster an answer takes
/// well under a millisecond.
const CONNECT_WAIT: Duration = Duration::from_millis(300);
/// The pause between two rounds: random, so that rounds do not keep step with whatever rewrites the rules.
const PAUSE_MS: std::ops::Range<u64> = 20..60;

/// What the gate found.
#[derive(Debug)]
pub enum GateOutcome {
    /// Every canary refused, in as many rounds in a row as asked.
    Enforced(Rounds),
    /// The administrator vouches for the cluster.
    Assumed,
    /// There is no cluster.
    NoCluster,
    /// The time-out passed first.
    NotEnforced {
        /// The last canary that answered; none if there were only too few rounds.
        open: Option<SocketAddr>,
        /// What was tried.
        rounds: Rounds,
    },
    /// The pause between two rounds said to stop.
    Stopped,
    /// Nothing could be proved.
    Failed(GateError),
}

/// How much was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// Rounds of new connections.
    pub tried: u32,
    /// The last of them that nothing answered, in a row.
    pub closed: u32,
}

/// The gate could not look.
#[derive(Debug, thiserror::Error)]
#[error("failed to {step} {canary}, so nothing is known of the network")]
pub struct GateError {
    step: &'static str,
    canary: SocketAddr,
    source: Errno,
}

/// Whether to go on after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// To the next round.
    Over,
    /// No further: the run was told to stop.
    Stop,
}

/// Passes the gate, or says why not. `pause` waits for as long as it is told.
pub fn pass(gate: &Gate, pause: impl FnMut(Duration) -> Pause) -> GateOutcome {
    match gate {
        Gate::Assume => GateOutcome::Assumed,
        Gate::NoCluster => GateOutcome::NoCluster,
        Gate::Probe { canaries, rounds, timeout_ms } => {
            probe(canaries, *rounds, Instant::now() + Duration::from_millis(*timeout_ms), pause)
        }
    }
}

fn probe(
    canaries: &[SocketAddr],
    wanted: u32,
    deadline: Instant,
    mut pause: impl FnMut(Duration) -> Pause,
) -> GateOutcome {
    let mut rounds = Rounds::default();
    let mut open = None;
    loop {
        match round(canaries) {
            Err(error) => return GateOutcome::Failed(error),
            Ok(Some(canary)) => {
                open = Some(canary);
                rounds.closed = 0;
            }
            Ok(None) => rounds.closed += 1,
        }
        rounds.tried += 1;
        if rounds.closed >= wanted {
            return GateOutcome::Enforced(rounds);
        }
        if Instant::now() >= deadline {
            // A canary that answered before the last rounds is not why the time was too short.
            return GateOutcome::NotEnforced { open: open.filter(|_| rounds.closed == 0), rounds };
        }
        if pause(random(PAUSE_MS)) == Pause::Stop {
            return GateOutcome::Stopped;
        }
    }
}

/// Opens a new connection to every canary. Returns one that was accepted.
fn round(canaries: &[SocketAddr]) -> Result<Option<SocketAddr>, GateError> {
    let mut waiting: Vec<(SocketAddr, OwnedFd)> = Vec::new();
    for &canary in canaries {
        let fail = |step| move |source| GateError { step, canary, source };
        let family = if canary.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))
            .map_err(fail("make a socket for the canary"))?;
        // Closed with a reset: a canary that answers is left with nothing of ours.
        sockopt::set_socket_linger(&socket, Some(Duration::ZERO)).map_err(fail("set up the socket for the canary"))?;
        match connect(&socket, &canary) {
            Ok(()) => return Ok(Some(canary)),
            Err(Errno::INPROGRESS | Errno::INTR) => waiting.push((canary, socket)),
            Err(errno) if is_refusal(errno) => {}
            Err(errno) => return Err(fail("connect to the canary")(errno)),
        }
    }
    let deadline = Instant::now() + CONNECT_WAIT;
    while let Some(&(first, _)) = waiting.first() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let ready = wait(&waiting, left).map_err(|source| GateError {
            step: "wait for an answer of the canary",
            canary: first,
            source,
        })?;
        let mut still = Vec::new();
        for ((canary, socket), ready) in waiting.into_iter().zip(ready) {
            if !ready {
                still.push((canary, socket));
                continue;
            }
            let fail = |source| GateError { step: "connect to the canary", canary, source };
            match sockopt::socket_error(&socket).map_err(fail)? {
                Ok(()) => return Ok(Some(canary)),
                Err(errno) if is_refusal(errno) => {}
                Err(errno) => return Err(fail(errno)),
            }
        }
        waiting = still;
    }
    Ok(None)
}

/// Waits until a connection was decided on; says for each whether it was.
fn wait(sockets: &[(SocketAddr, OwnedFd)], left: Duration) -> Result<Vec<bool>, Errno> {
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
    let mut polled: Vec<_> = sockets.iter().map(|(_, socket)| PollFd::new(socket, PollFlags::OUT)).collect();
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(polled.iter().map(|socket| !socket.revents().is_empty()).collect()),
        Err(errno) => Err(errno),
    }
}

/// Whether the network, or a filter in front of it, said no.
fn is_refusal(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::CONNREFUSED
            | Errno::TIMEDOUT
            | Errno::HOSTUNREACH
            | Errno::NETUNREACH
            | Errno::HOSTDOWN
            | Errno::NETDOWN
            | Errno::ACCESS
            | Errno::PERM
            | Errno::CONNRESET
    )
}

/// A random time. The standard library seeds its hash maps from the kernel; that is random enough for a pause.
fn random(range: std::ops::Range<u64>) -> Duration {
    let span = range.end.saturating_sub(range.start).max(1);
    Duration::from_millis(range.start + RandomState::new().hash_one(()) % span)
}
