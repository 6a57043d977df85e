//! `shell`: a command in a confined process.
//!
//! The runner starts itself again as a supervisor ([`run_if_asked`]), which confines itself and thereby all that it
//! starts, and then starts `sh -c`. The call returns when the shell has ended; by then everything that it started is dead.
//! README.md beside this file says which wall holds what, and from which kernel on.

mod clean;
mod ending;
mod environment;
mod git;
mod output;
mod session;
mod settings;
mod supervisor;
mod wire;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;

use anchorhold_plan::OUT;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Allowance, arguments, display};
use crate::sandbox::ToolLimits;
use crate::tool::{ToolError, ToolOutput};
pub use settings::Shell;
use wire::{How, Order};

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

/// Becomes the part of a command that this process was started as: its supervisor, or its `git`; `None` otherwise.
///
/// Every program that offers the tool `shell` calls this first of all in `main`: the parts are the same program, started
/// again.
#[must_use]
pub fn run_if_asked() -> Option<ExitCode> {
    git::run_if_asked().or_else(supervisor::run_if_asked)
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
        environment: environment::of(&shell.scratch, shell.first_programs()),
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
            text.extend(["[", &ending::told(end.how, seconds), silent, &ending::left(end), &elsewhere, "]"]);
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
