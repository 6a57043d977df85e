//! The runner's side of one command: starts the supervisor, reads what the command prints, and sees to its end.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::output::Output;
use super::supervisor;
use super::wire::{End, Order, Report};
use crate::kernel::Cancel;

/// How often the call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);
/// What a supervisor may take beyond the command's time: its own start, and the end of processes that hang for a while.
const GRACE: Duration = Duration::from_secs(10);
/// How long a supervisor that has reported may take to end.
const LEAVE: Duration = Duration::from_secs(2);
/// Between two looks at a process that is about to be gone.
const MOMENT: Duration = Duration::from_micros(50);
/// Bytes that are read at a time: what a pipe holds.
const CHUNK: usize = 64 << 10;
/// The longest line of a report.
const REPORT_BYTES: usize = 64 << 10;

/// What came of a command.
#[derive(Debug)]
pub(super) struct Ran {
    /// How it ended, or why nobody knows.
    pub(super) end: Result<End, String>,
    /// What it printed, cut.
    pub(super) text: String,
}

/// Runs a command to its end, and that of all it starts.
///
/// # Errors
/// When the supervisor cannot be started.
pub(super) fn run(program: &Path, order: &Order, output_bytes: usize, cancel: &Cancel) -> io::Result<Ran> {
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    let mut session = Session::start(program, line)?;
    let mut output = Output::new(output_bytes);
    let deadline = Instant::now() + Duration::from_millis(order.timeout_ms) + GRACE;
    let end = session.follow(&mut output, deadline, cancel);
    session.drain(&mut output);
    session.close();
    Ok(Ran { end, text: output.into_text() })
}

/// A supervisor that runs. Dropping it ends the command.
struct Session {
    supervisor: Child,
    /// Whoever holds the other end of this goes on; closing it ends the command.
    control: Option<OwnedFd>,
    /// What of the order was not written yet.
    unsent: Vec<u8>,
    reports: OwnedFd,
    line: Vec<u8>,
    output: OwnedFd,
    has_output: bool,
    buffer: Vec<u8>,
    /// The shell's process group.
    group: Option<Pid>,
}

impl Session {
    fn start(program: &Path, order: Vec<u8>) -> io::Result<Self> {
        let mut supervisor = Command::new(program)
            .arg(supervisor::ARGUMENT)
            .env_clear()
            .current_dir("/")
            // A group of its own: whoever ends the runner's group leaves it time to end the command.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pipes = (supervisor.stdin.take(), supervisor.stdout.take(), supervisor.stderr.take());
        let (Some(control), Some(reports), Some(output)) = pipes else {
            return Err(io::Error::other("a pipe is missing"));
        };
        let session = Self {
            supervisor,
            control: Some(control.into()),
            unsent: order,
            reports: reports.into(),
            line: Vec::new(),
            output: output.into(),
            has_output: true,
            buffer: vec![0; CHUNK],
            group: None,
        };
        for pipe in session.control.iter().chain([&session.reports, &session.output]) {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(session)
    }

    /// Reads until the supervisor has reported the end.
    fn follow(&mut self, output: &mut Output, mut deadline: Instant, cancel: &Cancel) -> Result<End, String> {
        loop {
            if cancel.is_set() && self.control.take().is_some() {
                deadline = deadline.min(Instant::now() + GRACE);
            }
            if Instant::now() >= deadline {
                return Err("the process that watches over the command did not answer".to_owned());
            }
            self.wait();
            self.give();
            if self.has_output {
                self.read(output);
            }
            if let Some(end) = self.reported() {
                return end;
            }
        }
    }

    /// Waits until something can be read or written, or for a moment.
    fn wait(&self) {
        let mut awaited = vec![PollFd::new(&self.reports, PollFlags::IN)];
        if self.has_output {
            awaited.push(PollFd::new(&self.output, PollFlags::IN));
        }
        if let Some(control) = self.control.as_ref().filter(|_| !self.unsent.is_empty()) {
            awaited.push(PollFd::from_borrowed_fd(control.as_fd(), PollFlags::OUT));
        }
        // An error is an interruption; the caller looks at everything anyway.
        _ = poll(&mut awaited, Timespec::try_from(LOOK).ok().as_ref());
    }

    fn give(&mut self) {
        if let Some(control) = self.control.as_ref().filter(|_| !self.unsent.is_empty())
            && let Ok(written) = rustix::io::write(control, &self.unsent)
        {
            self.unsent.drain(..written);
        }
    }

    /// Reads once; says whether there was something.
    fn read(&mut self, output: &mut Output) -> bool {
        match rustix::io::read(&self.output, &mut self.buffer) {
            Ok(0) => self.has_output = false,
            Ok(read) => {
                output.push(self.buffer.get(..read).unwrap_or_default());
                return true;
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => self.has_output = false,
        }
        false
    }

    /// Takes what is still in the pipe: at most what it holds, as nobody writes any more.
    fn drain(&mut self, output: &mut Output) {
        const PIPE_MOST: usize = 1 << 20; // fs.pipe-max-size, as far as a command can enlarge its pipe
        for _ in 0..=PIPE_MOST / CHUNK {
            if !self.has_output || !self.read(output) {
                return;
            }
        }
    }

    /// Reads reports; the last one says how the command ended.
    fn reported(&mut self) -> Option<Result<End, String>> {
        let mut bytes = [0; 4 << 10];
        let ended = match rustix::io::read(&self.reports, &mut bytes) {
            Ok(read) => {
                self.line.extend(bytes.iter().take(read));
                read == 0 || self.line.len() > REPORT_BYTES
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            Err(_) => true,
        };
        while let Some(end) = memchr::memchr(b'\n', &self.line) {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Report::Started(group)) => self.group = Pid::from_raw(group),
                Ok(Report::Ended(end)) => return Some(Ok(end)),
                Ok(Report::Failed(problem)) => return Some(Err(problem)),
                Err(error) => return Some(Err(format!("a report cannot be read: {error}"))),
            }
        }
        ended.then(|| {
            // The shell itself ended with the supervisor; this is for the rest of its group. What left the group is an
            // orphan of the container, and ends with it.
            if let Some(group) = self.group {
                _ = kill_process_group(group, Signal::KILL);
            }
            Err("the process that watches over the command was killed from outside".to_owned())
        })
    }

    /// Lets go of the supervisor and waits until it has ended.
    fn close(&mut self) {
        self.control = None;
        let until = Instant::now() + LEAVE;
        while Instant::now() < until {
            match self.supervisor.try_wait() {
                Ok(None) => {
                    // The end of its reports comes a moment before its own.
                    let mut awaited = [PollFd::new(&self.reports, PollFlags::empty())];
                    _ = poll(&mut awaited, Timespec::try_from(LOOK).ok().as_ref());
                    std::thread::sleep(MOMENT);
                }
                Ok(Some(_)) | Err(_) => return,
            }
        }
        _ = self.supervisor.kill();
        _ = self.supervisor.wait();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}
