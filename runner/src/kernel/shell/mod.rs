//! `shell`: a command in a confined process.
//!
//! The runner starts itself again as a supervisor ([`run_if_asked`]), which confines itself and thereby all that it
//! starts, and then starts `sh -c`. The call returns when the shell has ended; by then everything that it started is dead.
//! README.md beside this file says which wall holds what, and from which kernel on.

mod clean;
mod environment;
mod git;
mod output;
mod session;
mod supervisor;
mod wire;

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;

use anchorhold_plan::{OUT, RunPlan, WORKSPACE};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Allowance, arguments, display};
use crate::sandbox::{ToolAccess, ToolLimits, devices};
use crate::tool::{ToolError, ToolOutput};
use wire::{End, How, Order};

pub(super) const DESCRIPTION: &str = "Runs a command with sh -c, in the source's folder (in /workspace if there are several). \
Sources are read-only; write to /out (kept) or $HOME (not kept). There is no network, and nothing that the command starts outlives \
the call. Prefer read, grep and find for looking. The last line tells the exit code; of a long output the first and the last 16 KiB \
are given.";

pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

/// Seconds without an argument, and at most.
const DEFAULT_SECONDS: i64 = 30;
const MOST_SECONDS: u32 = 600;
/// A call that takes longer than its command and the end of all it started hangs.
pub(super) const DEADLINE: Duration = Duration::from_secs(MOST_SECONDS as u64 + 30);
/// Bytes of output that are given: what a model reads with profit at once.
const OUTPUT_BYTES: usize = 32 << 10;
/// Bytes of the answer that are not output.
const FRAME_BYTES: usize = 1024;
/// Bytes of a command: Linux takes 128 KiB as one argument (`MAX_ARG_STRLEN`).
const COMMAND_BYTES: usize = 64 << 10;
/// The shell.
const SHELL: &str = "/bin/sh";

/// Where programs, their libraries and their data are, on the usual systems.
const PROGRAMS: &[&str] = &["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32"];
/// What programs read before they begin.
const LOADER: &[&str] = &["/etc/ld.so.cache"];

/// Bytes of private memory of one process: compilers fit, and a few at once fit into a job of some GiB.
const DATA_BYTES: u64 = 1 << 30;
/// Processes of this user. Pods of one node share the count, so it leaves room for a hundred jobs that idle with a dozen
/// threads each, and still ends a fork bomb in a second.
const PROCESSES: u64 = 4096;
/// What `ulimit -n` is on most systems.
const OPEN_FILES: u64 = 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The command, as in sh -c.
    command: String,
    /// Seconds after which everything is killed, 1 to 600. Default 30.
    timeout: Option<i64>,
}

/// The tool `shell` of one job.
#[derive(Clone, Debug)]
pub struct Shell {
    program: PathBuf,
    /// The name a tool knows it by, and where it is: sources, and then the output folder.
    folders: Vec<(String, PathBuf)>,
    output: PathBuf,
    file_bytes: u64,
    scratch: PathBuf,
    scopes: bool,
    /// The folder in which commands find our `git`, and this program's own path.
    git: Option<(PathBuf, PathBuf)>,
}

/// Becomes the part of a command that this process was started as: its supervisor, or its `git`; `None` otherwise.
///
/// Every program that offers the tool `shell` calls this first of all in `main`: the parts are the same program, started
/// again.
#[must_use]
pub fn run_if_asked() -> Option<ExitCode> {
    git::run_if_asked().or_else(supervisor::run_if_asked)
}

impl Shell {
    /// The shell over a plan's folders. `program` is this program, started again as the supervisor: its `main` begins with
    /// [`run_if_asked`]. `scratch` is an existing folder that commands may write to beside the output folder.
    #[must_use]
    pub fn new(plan: &RunPlan, program: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Self {
        let folders = plan.sources.iter().map(|source| (source.shown_path(), PathBuf::from(&source.path)));
        Self {
            program: program.into(),
            folders: folders.collect(),
            output: PathBuf::from(&plan.output.path),
            file_bytes: plan.output.size_limit_bytes,
            scratch: scratch.into(),
            scopes: true,
            git: None,
        }
    }

    /// Has commands find, in `folder`, a `git` that starts nothing a repository names. The folder is made if need be; commands
    /// must not be able to write to it. Without a git in the system there is nothing to do.
    ///
    /// Called before the runner confines itself, which may not make links.
    pub fn with_guarded_git(mut self, folder: &Path) -> io::Result<Self> {
        if git::find().is_none() {
            return Ok(self);
        }
        // A name that stays true in another process; /proc/self/exe means whoever asks.
        let program = self.program.canonicalize()?;
        fs::create_dir_all(folder)?;
        let link = folder.join(git::NAME);
        match symlink(&program, &link) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && link.read_link()? == program => {}
            made => made?,
        }
        self.git = Some((folder.canonicalize()?, program));
        Ok(self)
    }

    /// Has commands confined as on a kernel whose Landlock keeps no signals in, before ABI 6.
    #[must_use]
    pub fn without_scopes(mut self) -> Self {
        self.scopes = false;
        self
    }

    /// What commands may read, write and execute. The runner must have as much itself: no process gets more than the one
    /// that starts it.
    #[must_use]
    pub fn access(&self) -> ToolAccess {
        let existing =
            |paths: &[&str]| paths.iter().map(Path::new).filter(|path| path.exists()).map(PathBuf::from).collect();
        let mut programs: Vec<PathBuf> = existing(PROGRAMS);
        programs.extend(self.folders.iter().map(|(_, real)| real.clone()));
        programs.extend(self.git.iter().map(|(_, program)| program.clone()));
        if self.is_mounted() {
            programs.push(PathBuf::from(WORKSPACE));
        }
        let (mut write, mut read) = devices();
        read.extend::<Vec<PathBuf>>(existing(LOADER));
        write.extend([self.output.clone(), self.scratch.clone()]);
        ToolAccess { programs, read, write }
    }

    /// Whether each source is where its name says: in a pod.
    fn is_mounted(&self) -> bool {
        !self.folders.is_empty() && self.folders.iter().all(|(shown, real)| Path::new(shown) == real)
    }

    /// The folder a command begins in.
    fn folder(&self) -> &Path {
        match self.folders.as_slice() {
            [] => &self.scratch,
            [_, _, ..] if self.is_mounted() => Path::new(WORKSPACE),
            [(_, first), ..] => first,
        }
    }

    /// A model knows folders by the names of a pod; elsewhere they are elsewhere.
    fn elsewhere(&self, command: &str) -> String {
        let out = (OUT.to_owned(), self.output.clone());
        let moved = self.folders.iter().chain([&out]);
        let moved = moved.filter(|(shown, real)| Path::new(shown) != real && names(command, shown));
        moved.map(|(shown, real)| format!("; {shown} is {} here", display::path(real))).collect()
    }
}

/// Whether a command has this absolute path in it, and not as a part of a longer name.
fn names(command: &str, path: &str) -> bool {
    let in_name = |character: char| character.is_alphanumeric() || "/._-".contains(character);
    command.match_indices(path).any(|(at, _)| {
        let (before, after) = (command.get(..at), command.get(at + path.len()..));
        !before.is_some_and(|text| text.ends_with(in_name))
            && !after.is_some_and(|text| !text.starts_with('/') && text.starts_with(in_name))
    })
}

pub(super) fn call(shell: &Shell, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
    let Arguments { command, timeout } = arguments::parse("shell", &SCHEMA, arguments)?;
    let seconds = seconds(timeout)?;
    check(&command)?;
    if !Path::new(SHELL).exists() {
        return Err(ToolError::Failed(format!(
            "shell: the runner image has no {SHELL}; use read, ls, grep and find, or an image that brings a shell"
        )));
    }
    let order = Order {
        shell: PathBuf::from(SHELL),
        command,
        folder: shell.folder().to_owned(),
        environment: environment::of(&shell.scratch, shell.git.as_ref().map(|(folder, _)| folder.as_path())),
        timeout_ms: u64::from(seconds) * 1000,
        access: shell.access(),
        limits: ToolLimits {
            file_bytes: shell.file_bytes,
            data_bytes: DATA_BYTES,
            processes: PROCESSES,
            open_files: OPEN_FILES,
        },
        scopes: shell.scopes,
    };
    let bytes = OUTPUT_BYTES.min(allowance.result_bytes.saturating_sub(FRAME_BYTES));
    let session::Ran { end, mut text } = session::run(&shell.program, &order, bytes, &allowance.cancel)
        .map_err(|error| ToolError::Failed(format!("shell: failed to start the command's process: {error}")))?;
    let elsewhere = shell.elsewhere(&order.command);
    match end {
        Ok(end) => {
            let silent = if text.is_empty() { "; no output" } else { "" };
            text.push_str(&format!("[{}{silent}{}{elsewhere}]", told(end.how, seconds), left(end)));
            match end.how {
                How::Exited(_) | How::Signalled(_) => Ok(ToolOutput::Text(text)),
                How::TimedOut | How::Cancelled => Err(ToolError::TimedOut(text)),
            }
        }
        Err(problem) => Err(ToolError::Failed(format!("{text}[shell: {problem}]"))),
    }
}

fn seconds(timeout: Option<i64>) -> Result<u32, ToolError> {
    let wanted = timeout.unwrap_or(DEFAULT_SECONDS);
    u32::try_from(wanted).ok().filter(|seconds| (1..=MOST_SECONDS).contains(seconds)).ok_or_else(|| {
        ToolError::InvalidArguments(format!(
            "shell: timeout is in seconds and must be between 1 and {MOST_SECONDS}; got the number {wanted}"
        ))
    })
}

fn check(command: &str) -> Result<(), ToolError> {
    let refuse = |problem: String| Err(ToolError::InvalidArguments(format!("shell: {problem}")));
    if command.trim().is_empty() {
        return refuse("command is empty; give a command as for sh -c".to_owned());
    }
    if command.contains('\0') {
        return refuse("command contains a NUL character, which no command can".to_owned());
    }
    if command.len() > COMMAND_BYTES {
        return refuse(format!(
            "command has {} bytes; at most {} are taken: write a script to {OUT} and run it with sh",
            display::grouped(command.len() as u64),
            display::grouped(COMMAND_BYTES as u64)
        ));
    }
    Ok(())
}

fn told(how: How, seconds: u32) -> String {
    match how {
        How::Exited(code) => format!("exit code {code}"),
        How::Signalled(signal) => match name(signal) {
            Some(name) => format!("ended by signal {signal} ({name})"),
            None => format!("ended by signal {signal}"),
        },
        How::TimedOut if seconds < MOST_SECONDS => {
            format!("killed after {seconds} s with all it had started; more time: timeout, up to {MOST_SECONDS}")
        }
        How::TimedOut => format!("killed after {seconds} s with all it had started"),
        How::Cancelled => "killed with all it had started: the call was ended before it had an answer".to_owned(),
    }
}

fn left(end: End) -> String {
    let killed = match end.left {
        0 => String::new(),
        _ if matches!(end.how, How::TimedOut | How::Cancelled) => String::new(),
        left => format!("; {} still running and killed", display::count(left, "process was", "processes were")),
    };
    let hangs = if end.hang { "; some of what it started hangs in the kernel and is not gone yet" } else { "" };
    killed + hangs
}

/// The signals that end commands, by name.
fn name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ: a file grew beyond what the job may write",
        libc::SIGSYS => "SIGSYS: a system call that is not allowed",
        _ => return None,
    })
}
