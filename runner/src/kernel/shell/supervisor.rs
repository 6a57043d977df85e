//! The process between the runner and a shell: it confines itself and thereby all it starts, starts the shell, and ends only
//! when nothing that was started is alive.
//!
//! Standard input carries the order; its end means that nobody waits any more, be it that the call was cancelled or that the
//! runner is gone. Standard output carries the reports, standard error what the command prints.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitStatus, pidfd_open};

use super::wire::{End, How, Order, Report};
use crate::error::chain;
use crate::sandbox::{Domain, Left, SandboxError, confine_tool, confine_tool_without_scopes};

/// The first argument of a supervisor.
pub(super) const ARGUMENT: &str = "tool-process";
/// The longest order that is read, bytes: the longest command with every byte escaped, and some folders.
const ORDER_BYTES: usize = 1 << 20;
/// How often orphans that ended are collected while the command runs.
const COLLECT: Duration = Duration::from_millis(250);
/// How long what was killed may take to be gone. Only a process that hangs in the kernel takes longer than a moment.
const GONE: Duration = Duration::from_secs(5);
/// Between two looks at whether it is gone.
const LOOK: Duration = Duration::from_millis(1);

/// Becomes the supervisor of a command when this process was started as one; `None` otherwise.
pub(super) fn run_if_asked() -> Option<ExitCode> {
    if std::env::args_os().nth(1)? != ARGUMENT {
        return None;
    }
    let report = match receive().and_then(|order| supervise(&order)) {
        Ok(end) => Report::Ended(end),
        Err(problem) => Report::Failed(problem),
    };
    send(&report);
    Some(ExitCode::SUCCESS)
}

fn supervise(order: &Order) -> Result<End, String> {
    let deadline = Instant::now() + Duration::from_millis(order.timeout_ms);
    let confine = if order.scopes { confine_tool } else { confine_tool_without_scopes };
    let domain = confine(&order.access, &order.limits).map_err(|error| chain(&error))?;
    let output = || rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3).map(Stdio::from);
    let (stdout, stderr) = output()
        .and_then(|stdout| Ok((stdout, output()?)))
        .map_err(|error| format!("failed to hand on the output: {error}"))?;
    let mut command = Command::new(&order.shell);
    command
        .arg("-c")
        .arg(&order.command)
        .env_clear()
        .envs(order.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&order.folder)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr);
    let child = domain.spawn(&mut command).map_err(|error| started(order, &error))?;
    // The command keeps copies of the output; with them the pipe would never end.
    drop(command);
    let leader = Pid::from_child(&child);
    let waited = pidfd_open(leader, PidfdFlags::empty()).map_err(|error| {
        domain.kill_all(leader);
        format!("failed to wait for the shell: {error}")
    });
    send(&Report::Started(leader.as_raw_pid()));
    let how = watch(&domain, leader, &waited?, deadline);
    Ok(finish(&domain, leader, how))
}

fn started(order: &Order, error: &SandboxError) -> String {
    format!("{} in {}: {}", order.shell.display(), order.folder.display(), chain(error))
}

/// Waits until the shell has ended, the time is up, or nobody waits any more.
fn watch(domain: &Domain, leader: Pid, shell: &OwnedFd, deadline: Instant) -> How {
    loop {
        let mut ended = None;
        let left = domain.reap(|process, status| {
            if process == leader {
                ended = Some(told(status));
            }
        });
        if let Some(how) = ended {
            return how;
        }
        let now = Instant::now();
        if now >= deadline || left == Left::Nothing {
            return How::TimedOut;
        }
        let stdin = rustix::stdio::stdin();
        let mut awaited = [
            PollFd::from_borrowed_fd(shell.as_fd(), PollFlags::IN),
            // Nothing more is ever sent, so only the end is waited for.
            PollFd::from_borrowed_fd(stdin, PollFlags::empty()),
        ];
        let time = Timespec::try_from((deadline - now).min(COLLECT)).ok();
        // An error is an interruption; the loop looks again.
        _ = poll(&mut awaited, time.as_ref());
        if let [_, input] = &awaited
            && !input.revents().is_empty()
        {
            return How::Cancelled;
        }
    }
}

fn told(status: WaitStatus) -> How {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => How::Exited(code),
        (None, Some(signal)) => How::Signalled(signal),
        // Only ended processes are asked for.
        (None, None) => How::Signalled(0),
    }
}

/// Kills until nothing is left. No descendant can be elsewhere: every orphan becomes a child of this process.
fn finish(domain: &Domain, leader: Pid, how: How) -> End {
    let until = Instant::now() + GONE;
    let mut left = 0;
    loop {
        // What ended by itself in the meantime was not left behind.
        let mut killed = 0;
        domain.kill_all(leader);
        let remains = domain.reap(|process, status| {
            if process != leader && status.terminating_signal() == Some(libc::SIGKILL) {
                killed += 1;
            }
        });
        left += killed;
        if remains == Left::Nothing {
            return End { how, left, hang: false };
        }
        if Instant::now() >= until {
            return End { how, left, hang: true };
        }
        std::thread::sleep(LOOK);
    }
}

fn receive() -> Result<Order, String> {
    let mut line = Vec::new();
    while memchr::memchr(b'\n', &line).is_none() {
        if line.len() > ORDER_BYTES {
            return Err(format!("the order has more than {ORDER_BYTES} bytes"));
        }
        line.reserve(64 << 10);
        match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(&mut line)) {
            Ok(0) => return Err("the order ended early".to_owned()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("failed to read the order: {error}")),
        }
    }
    serde_json::from_slice(&line).map_err(|error| format!("the order cannot be read: {error}"))
}

fn send(report: &Report) {
    let Ok(mut line) = serde_json::to_string(report) else { return };
    line.push('\n');
    // Nobody may listen any more; then there is nobody to tell.
    let mut output = std::io::stdout().lock();
    _ = output.write_all(line.as_bytes()).and_then(|()| output.flush());
}
