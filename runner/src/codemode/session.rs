//! One worker process and what is going on with it.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anchorhold_plan::{Outcome, ScriptLimits, ToolCaller};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::image;
use super::lines::{Line, Lines};
use super::output::Part;
use super::result::{CallOutcome, CallSummary};
use super::wire::{CallResult, Channel, End, FromWorker, How, Image, Reply, Start, ToolCall};
use crate::tool::{Call, CallTool, ToolError, ToolOutput};

/// Bytes of standard error that are looked at: a panic's message or a sandbox's.
const STDERR: u64 = 4 << 10;
/// What an image and the rest of a last message may take in one line.
const LINE_EXTRA: usize = 16 << 20;
/// Bytes of a tool's name in a call; longer ones are nobody's.
const NAME: usize = 512;
/// Bytes of an error's text from the worker.
const ERROR: usize = 16 << 10;
/// Bytes of one note from the worker.
const NOTE: usize = 4 << 10;
/// How long a killed process may take to go. The kernel needs microseconds; a process in an uninterruptible wait does not
/// hold its job up.
const REAP: Duration = Duration::from_secs(2);

/// What a session came to.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) error: Part,
    pub(super) value: Part,
    pub(super) text: Part,
    pub(super) console: Part,
    pub(super) images: Vec<Image>,
    pub(super) notes: Vec<String>,
    pub(super) store: Vec<(String, Option<String>)>,
    pub(super) calls: Vec<CallSummary>,
    pub(super) blocked_calls: u64,
}

impl Ended {
    pub(super) fn failed(outcome: Outcome, error: String) -> Self {
        Self {
            outcome,
            error: Part::whole(error),
            value: Part::default(),
            text: Part::default(),
            console: Part::default(),
            images: Vec::new(),
            notes: Vec::new(),
            store: Vec::new(),
            calls: Vec::new(),
            blocked_calls: 0,
        }
    }
}

/// Why the conversation with the worker is over.
pub(super) enum Over {
    /// The worker said how its script ended.
    Said(Box<End>),
    /// The host decided.
    Decided(Outcome, String),
    /// The worker's output ended without a last message: what the process's status says.
    Silent,
}

/// A call that has no answer yet.
struct Running {
    index: usize,
    since: Instant,
}

/// A worker process, its pipes and its calls. Dropping it kills the process and cancels the calls.
pub(super) struct Session {
    child: Child,
    lines: Lines<ChildStdout>,
    stderr: Option<ChildStderr>,
    replies: mpsc::Sender<Vec<u8>>,
    /// The task that writes to the worker, and one per call; all end with the session.
    tasks: JoinSet<Done>,
    tools: Arc<dyn CallTool>,
    script: u64,
    limits: ScriptLimits,
    output_bytes: usize,
    printed: [String; 2],
    images: Vec<Image>,
    calls: Vec<CallSummary>,
    running: HashMap<u64, Running>,
    blocked_calls: u64,
    /// A call beyond the limit on calls in flight.
    held: Option<ToolCall>,
    is_ready: bool,
}

/// What a task of a session returns.
enum Done {
    Writer,
    Call { id: u64, outcome: CallOutcome },
}

impl Session {
    /// Starts a worker and hands it its script.
    pub(super) fn begin(
        executable: &Path,
        argument: &str,
        start: &Start,
        limits: &ScriptLimits,
        tools: Arc<dyn CallTool>,
        script: u64,
    ) -> io::Result<Self> {
        // A text of control characters takes six bytes for each as JSON; the first message has to fit as well.
        let line_to_worker = limits.result_bytes.saturating_mul(6).saturating_add(16 << 20);
        let address_space =
            start.heap_bytes.saturating_add(limits.result_bytes.saturating_mul(8)).saturating_add(256 << 20);
        let cpu_seconds = start.timeout_ms.div_ceil(1000).saturating_add(1);
        let mut child = Command::new(executable)
            .arg(argument)
            .args(
                [u64::from(std::process::id()), address_space, cpu_seconds, line_to_worker]
                    .map(|number| number.to_string()),
            )
            .env_clear()
            .env("TZ", "UTC0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let stderr = child.stderr.take();
        widen(&stdin);
        widen(&stdout);
        let mut first = serde_json::to_vec(start)?;
        first.push(b'\n');
        let in_flight = usize::try_from(limits.calls_in_flight).unwrap_or(1);
        let (replies, queue) = mpsc::channel(in_flight.max(1));
        let mut tasks = JoinSet::new();
        tasks.spawn(write(stdin, first, queue));
        let argument_bytes = usize::try_from(limits.argument_bytes).unwrap_or(usize::MAX);
        let longest = argument_bytes.saturating_add(start.output_bytes.saturating_mul(6)).saturating_add(LINE_EXTRA);
        Ok(Self {
            child,
            lines: Lines::new(stdout, longest),
            stderr,
            replies,
            tasks,
            tools,
            script,
            limits: limits.clone(),
            output_bytes: start.output_bytes,
            printed: [String::new(), String::new()],
            images: Vec::new(),
            calls: Vec::new(),
            running: HashMap::new(),
            blocked_calls: 0,
            held: None,
            is_ready: false,
        })
    }

    /// Listens to the worker until it has nothing more to say. Safe to drop at any point.
    pub(super) async fn run(&mut self) -> Over {
        loop {
            // A worker that keeps to its limit never has a call held; one that does not is not listened to meanwhile. A
            // worker that keeps to it is always listened to: it may be writing, and read its replies only afterwards.
            let may_listen = self.held.is_none();
            tokio::select! {
                line = self.lines.next(), if may_listen => match line {
                    Ok(Line::Text(line)) => {
                        if let Some(over) = self.hear(&line) {
                            return over;
                        }
                    }
                    Ok(Line::TooLong) => return misbehaved("sent a line without end"),
                    Ok(Line::End) | Err(_) => return Over::Silent,
                },
                Some(done) = self.tasks.join_next() => {
                    if let Ok(Done::Call { id, outcome }) = done {
                        self.conclude(id, outcome);
                        if let Some(call) = self.held.take() {
                            self.call(call);
                        }
                    }
                }
            }
        }
    }

    fn hear(&mut self, line: &[u8]) -> Option<Over> {
        let Ok(message) = serde_json::from_slice::<FromWorker>(line) else {
            return Some(misbehaved("sent something that no worker sends"));
        };
        match message {
            FromWorker::Ready if !self.is_ready => self.is_ready = true,
            FromWorker::Ready => return Some(misbehaved("sent something that no worker sends")),
            FromWorker::Call(call) => {
                // The engine counts and measures too; this is for one that was taken over.
                let is_over = u64::try_from(self.calls.len()).map_or(true, |made| made >= u64::from(self.limits.calls));
                if is_over || call.tool.len() > NAME || self.running.contains_key(&call.id) {
                    return Some(misbehaved("made a call that it may not make"));
                }
                if u64::try_from(line.len())
                    .map_or(true, |length| length > self.limits.argument_bytes + NAME as u64 * 8)
                {
                    return Some(misbehaved("made a call with larger arguments than it may"));
                }
                self.call(call);
            }
            FromWorker::Print(printed) => {
                let room = self.output_bytes;
                if let Some(text) = self.printed.get_mut(printed.channel as usize) {
                    let left = room.saturating_sub(text.len());
                    text.push_str(printed.text.get(..printed.text.floor_char_boundary(left)).unwrap_or_default());
                    if left > 0 {
                        text.push('\n');
                    }
                }
            }
            FromWorker::Image(image) if self.images.len() < image::MOST => self.images.push(image),
            FromWorker::Image(_) => return Some(misbehaved("sent more images than it may")),
            FromWorker::End(end) => return Some(Over::Said(end)),
        }
        None
    }

    /// Starts a call, or holds it until another has ended.
    fn call(&mut self, call: ToolCall) {
        if self.running.len() >= usize::try_from(self.limits.calls_in_flight).unwrap_or(1) {
            self.held = Some(call);
            return;
        }
        let ToolCall { id, tool, arguments } = call;
        self.running.insert(id, Running { index: self.calls.len(), since: Instant::now() });
        self.calls.push(CallSummary { tool: tool.clone(), outcome: CallOutcome::Cancelled, duration: Duration::ZERO });
        let call = Call { name: tool, arguments, caller: ToolCaller::Script, script: Some(self.script) };
        let pending = self.tools.call(call);
        let (replies, limit) = (self.replies.clone(), self.limits.result_bytes);
        self.tasks.spawn(async move {
            let (line, outcome) = reply(id, &pending.await, limit);
            // A worker that is gone needs no answer.
            _ = replies.send(line).await;
            Done::Call { id, outcome }
        });
    }

    fn conclude(&mut self, id: u64, outcome: CallOutcome) {
        let Some(running) = self.running.remove(&id) else { return };
        if outcome == CallOutcome::Failed("blocked") {
            self.blocked_calls += 1;
        }
        if let Some(call) = self.calls.get_mut(running.index) {
            call.outcome = outcome;
            call.duration = running.since.elapsed();
        }
    }

    pub(super) fn timed_out(&self, timeout_ms: u64) -> Over {
        let mut message = format!("the deadline of {timeout_ms} ms passed; the script was killed");
        if !self.running.is_empty() {
            message.push_str(" while it waited for calls");
        }
        Over::Decided(Outcome::TimedOut, message)
    }

    pub(super) fn cancelled() -> Over {
        Over::Decided(Outcome::Cancelled, "the script was cancelled".into())
    }

    /// Makes sure that the process is gone and tells what the session came to.
    pub(super) async fn close(mut self, over: Over) -> Ended {
        // Calls that ended at the same moment are known; the rest is cancelled.
        while let Some(done) = self.tasks.try_join_next() {
            if let Ok(Done::Call { id, outcome }) = done {
                self.conclude(id, outcome);
            }
        }
        let still_running: Vec<(usize, Duration)> =
            self.running.values().map(|running| (running.index, running.since.elapsed())).collect();
        let mut cancelled = Vec::new();
        for (index, duration) in still_running {
            if let Some(call) = self.calls.get_mut(index) {
                call.duration = duration;
                cancelled.push(call.tool.clone());
            }
        }
        self.tasks.abort_all();
        let ended_by_itself = matches!(over, Over::Silent) && timeout(LINGER, self.child.wait()).await.is_ok();
        _ = self.child.start_kill();
        let status = timeout(REAP, self.child.wait()).await.ok().and_then(Result::ok);
        let [text, console] = self.printed.each_mut().map(std::mem::take);
        let mut ended = match over {
            Over::Said(end) => said(*end, text, console),
            Over::Decided(outcome, error) => printed(Ended::failed(outcome, error), text, console),
            Over::Silent => {
                let stderr = read_stderr(self.stderr.take()).await;
                let (outcome, error) = silent(status.filter(|_| ended_by_itself), self.is_ready, &stderr);
                printed(Ended::failed(outcome, error), text, console)
            }
        };
        if ended.notes.is_empty() && !cancelled.is_empty() {
            let total = cancelled.len();
            cancelled.truncate(5);
            let more = if total > 5 { format!(" and {} more", total - 5) } else { String::new() };
            ended.notes.push(format!("calls that were still running were cancelled: {}{more}", cancelled.join(", ")));
        }
        ended.images = self.images;
        ended.calls = self.calls;
        ended.blocked_calls = self.blocked_calls;
        ended
    }
}

/// The end of a worker that does what none does: a script has taken its engine over, or it is no worker.
fn misbehaved(how: &str) -> Over {
    Over::Decided(Outcome::Killed, format!("the script's process {how}; it was killed"))
}

/// How long a process that closed its output may take to end, so that its status tells what happened.
const LINGER: Duration = Duration::from_millis(20);

/// Makes a pipe hold more than the usual 64 KiB, so that a large message needs few switches between the processes. What an
/// unprivileged process may have (`/proc/sys/fs/pipe-max-size`) is enough; without it everything still works.
fn widen(pipe: &impl AsFd) {
    const PIPE: usize = 1 << 20;
    _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE);
}

/// Writes the first message and then every reply, several in one write when they have piled up.
async fn write(mut stdin: ChildStdin, first: Vec<u8>, mut queue: mpsc::Receiver<Vec<u8>>) -> Done {
    let mut lines = vec![first];
    loop {
        let bytes = if lines.len() == 1 { lines.pop().unwrap_or_default() } else { lines.concat() };
        lines.clear();
        if stdin.write_all(&bytes).await.is_err() || queue.recv_many(&mut lines, 64).await == 0 {
            return Done::Writer;
        }
    }
}

/// The line that answers a call.
fn reply(id: u64, result: &Result<ToolOutput, ToolError>, limit: u64) -> (Vec<u8>, CallOutcome) {
    let too_large = |size: usize| {
        let message = format!("the result has {size} bytes; a script gets at most {limit}: ask for less at a time");
        (CallResult::Error { message, code: "limit_reached".into() }, CallOutcome::Failed("limit_reached"))
    };
    let fits = |size: usize| u64::try_from(size).is_ok_and(|size| size <= limit);
    let raw;
    let (result, outcome) = match result {
        Ok(ToolOutput::Text(text)) if fits(text.len()) => {
            (CallResult::Text(text.as_str().into()), CallOutcome::Completed)
        }
        Ok(ToolOutput::Text(text)) => too_large(text.len()),
        Ok(ToolOutput::Json(value)) => {
            raw = serde_json::value::to_raw_value(value);
            match &raw {
                Ok(json) if fits(json.get().len()) => (CallResult::Json(json), CallOutcome::Completed),
                Ok(json) => too_large(json.get().len()),
                Err(error) => (
                    CallResult::Error { message: error.to_string(), code: "failed".into() },
                    CallOutcome::Failed("failed"),
                ),
            }
        }
        Err(error) => (
            CallResult::Error { message: error.to_string(), code: error.code().into() },
            CallOutcome::Failed(error.code()),
        ),
    };
    let mut line = serde_json::to_vec(&Reply { id, result }).unwrap_or_default();
    line.push(b'\n');
    (line, outcome)
}

fn printed(ended: Ended, text: String, console: String) -> Ended {
    Ended { text: lines(text, 0), console: lines(console, 0), ..ended }
}

/// What was printed, line by line. The end of the last line is not part of it.
fn lines(mut text: String, bytes: u64) -> Part {
    let bytes = bytes.max(text.len() as u64);
    if text.ends_with('\n') {
        text.pop();
    }
    Part { text, bytes: bytes.saturating_sub(1) }
}

/// What a last message says. Sizes are taken from it, but never below what has arrived.
fn said(end: End, text: String, console: String) -> Ended {
    let End { how, mut error, value, value_bytes, text_bytes, console_bytes, notes, store } = end;
    error.truncate(error.floor_char_boundary(ERROR));
    let outcome = match how {
        How::Completed => Outcome::Completed,
        How::Threw => Outcome::Threw,
        How::TimedOut => Outcome::TimedOut,
        How::OutOfMemory => Outcome::OutOfMemory,
        How::Stalled => Outcome::Stalled,
        How::Refused => Outcome::Refused,
    };
    let value = value.unwrap_or_default();
    let value_bytes = value_bytes.max(value.len() as u64);
    let notes = notes.into_iter().take(10).map(|mut note| {
        note.truncate(note.floor_char_boundary(NOTE));
        note
    });
    Ended {
        error: Part::whole(error),
        value: Part { text: value, bytes: value_bytes },
        text: lines(text, text_bytes),
        console: lines(console, console_bytes),
        notes: notes.collect(),
        store,
        ..Ended::failed(outcome, String::new())
    }
}

/// What the status of a process says that ended without a last message.
fn silent(status: Option<ExitStatus>, is_ready: bool, stderr: &str) -> (Outcome, String) {
    let details = if stderr.is_empty() { String::new() } else { format!(": {stderr}") };
    let Some(status) = status else {
        return (Outcome::Killed, "the script's process closed its output and went on; it was killed".into());
    };
    match (status.signal(), status.code()) {
        (Some(libc::SIGXCPU), _) => (Outcome::TimedOut, "the script used up its processor time and was killed".into()),
        (Some(libc::SIGSYS), _) => {
            (Outcome::Killed, "the script's process tried a forbidden system call and was killed".into())
        }
        (Some(signal), _) => {
            (Outcome::Killed, format!("the script's engine crashed (signal {signal}); its process is gone{details}"))
        }
        // What a worker exits with when it cannot confine itself (`worker::run_worker_if_asked`).
        (None, Some(3)) if !is_ready => {
            (Outcome::SandboxUnavailable, format!("the script's process cannot be confined{details}"))
        }
        (None, code) => {
            let code = code.unwrap_or_default();
            (Outcome::Killed, format!("the script's process ended without an answer (exit code {code}){details}"))
        }
    }
}

async fn read_stderr(stderr: Option<ChildStderr>) -> String {
    let Some(stderr) = stderr else { return String::new() };
    let mut bytes = Vec::new();
    // The process is gone, so this ends; a copy of the pipe in other hands would not hold it up.
    _ = timeout(LINGER, stderr.take(STDERR).read_to_end(&mut bytes)).await;
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

const _: () = assert!(Channel::Text as usize == 0 && Channel::Console as usize == 1, "channels index `printed`");
