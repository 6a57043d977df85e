//! The runner: this program, started a second time, in a process group of its own.
//!
//! It confines itself, so it cannot be a thread of ours. Its record arrives on a pipe, line by line, bounded. Whatever
//! happens, no process is left: an interrupt is passed on, what does not end in time is killed, and should this process be
//! killed, the kernel ends the runner ([`follow_parent`]) and the runner's own children with it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anchorhold_runner::record::{LINE_MAX_BYTES, Line};
use rustix::process::{Pid, Signal, getppid, kill_process, kill_process_group, set_parent_process_death_signal};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use crate::args::RunnerArgs;

/// How long a runner that was told to stop may take to say what it has.
const STOP_WAIT: Duration = Duration::from_secs(5);
/// How long a runner may take beyond its own deadline.
const DEADLINE_WAIT: Duration = Duration::from_secs(15);

/// How the runner ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// Its exit code; `None` when a signal ended it.
    pub(super) code: Option<i32>,
    /// Whether the user interrupted it.
    pub(super) interrupted: bool,
    /// Whether it had to be killed.
    pub(super) killed: bool,
}

/// Starts the runner on a plan and hands each line of its record to `each`, until it has ended. The run itself ends at
/// `timeout`; the runner sees to that, and is killed when it does not. What it has to say beside its record goes to
/// `errors`.
pub(super) async fn run(
    plan: &Path,
    unconfined: bool,
    timeout: Duration,
    errors: File,
    mut each: impl FnMut(&[u8], Option<Line>) -> io::Result<()>,
) -> io::Result<Ended> {
    // Listened for before the start: an interrupt in between must not leave the runner behind.
    let mut signals =
        [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
    let mut child = start(plan, unconfined, errors)?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let output = child.stdout.take().ok_or_else(|| io::Error::other("the runner has no standard output"))?;
    let mut lines = BufReader::with_capacity(LINE_MAX_BYTES, output);

    let mut ended = Ended::default();
    let mut until = Instant::now() + timeout + DEADLINE_WAIT;
    let mut buffer = Vec::new();
    let mut failure = None;
    loop {
        tokio::select! {
            more = read_line(&mut lines, &mut buffer) => {
                if !more? {
                    break;
                }
                if failure.is_none()
                    && let Err(error) = each(&buffer, serde_json::from_slice(&buffer).ok())
                {
                    failure = Some(error);
                    stop(group);
                    until = Instant::now() + STOP_WAIT;
                }
                buffer.clear();
            }
            () = told(&mut signals) => {
                // A second interrupt does not wait for the runner's last words.
                if ended.interrupted { kill(group) } else { stop(group) }
                ended.interrupted = true;
                until = Instant::now() + STOP_WAIT;
            }
            () = sleep_until(until) => {
                ended.killed = true;
                kill(group);
                break;
            }
        }
    }
    ended.code = reap(&mut child, group).await?;
    match failure {
        Some(error) => Err(error),
        None => Ok(ended),
    }
}

fn start(plan: &Path, unconfined: bool, errors: File) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0("anchorhold")
        .arg("runner")
        .arg("--parent")
        .arg(std::process::id().to_string())
        .arg("--plan")
        .arg(plan);
    if unconfined {
        command.arg("--unconfined");
    }
    // The environment may hold credentials; nothing in the runner reads it.
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
    // A group of its own: Ctrl-C reaches the runner once, through us.
    command.process_group(0).kill_on_drop(true).spawn()
}

/// Waits until its output's end is its own end. A process that holds the output and does not end is killed.
async fn reap(child: &mut Child, group: Option<Pid>) -> io::Result<Option<i32>> {
    if let Ok(status) = tokio::time::timeout(STOP_WAIT, child.wait()).await {
        // Whatever of its group is left belongs to nobody any more.
        kill(group);
        return status.map(|status| status.code());
    }
    kill(group);
    child.wait().await.map(|status| status.code())
}

/// Tells the runner, and not its script's process, to stop: it then reports what it has.
fn stop(group: Option<Pid>) {
    if let Some(runner) = group {
        // It may have ended already.
        let _ = kill_process(runner, Signal::TERM);
    }
}

/// Ends the runner and all that belongs to it.
fn kill(group: Option<Pid>) {
    if let Some(group) = group {
        // All may have ended already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Waits for one of the signals.
async fn told(signals: &mut [tokio::signal::unix::Signal; 3]) {
    let [interrupt, terminate, hang_up] = signals;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
}

/// Reads up to the next line feed, or up to the longest line; `false` at the end. Cancelling it loses nothing: what was
/// read is in the buffer.
async fn read_line(from: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        let available = from.fill_buf().await?;
        if available.is_empty() {
            return Ok(!line.is_empty());
        }
        let end = available.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
        let room = LINE_MAX_BYTES.saturating_sub(line.len());
        let take = end.unwrap_or(available.len()).min(room);
        line.extend(available.iter().take(take));
        from.consume(take);
        if end == Some(take) || line.len() >= LINE_MAX_BYTES {
            return Ok(true);
        }
    }
}

/// The hidden sub-command: becomes the runner, and ends with the process that started it.
pub(crate) fn follow_parent(args: &RunnerArgs) -> std::process::ExitCode {
    let parent = i32::try_from(args.parent).ok().and_then(Pid::from_raw);
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        say!("error: failed to bind the runner to its parent: {error}");
        return anchorhold_plan::ExitCode::Internal.into();
    }
    // The parent may have ended before the line above.
    if getppid() != parent {
        return anchorhold_plan::ExitCode::Cancelled.into();
    }
    let mut arguments =
        vec!["--plan".into(), args.plan.clone().into_os_string(), "--termination-log".into(), "none".into()];
    if args.unconfined {
        arguments.push("--unconfined".into());
    }
    anchorhold_runner::run::main_with(arguments)
}
