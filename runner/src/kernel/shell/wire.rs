//! What the runner and the supervisor of a command tell one another: one order, then reports, each one line of JSON.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::sandbox::{ToolAccess, ToolLimits};

/// What is to be run, and within what.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// The program that understands `-c`.
    pub(super) shell: PathBuf,
    /// The command.
    pub(super) command: String,
    /// The folder it begins in.
    pub(super) folder: PathBuf,
    /// All of its environment.
    pub(super) environment: Vec<(String, String)>,
    /// Milliseconds until everything is killed.
    pub(super) timeout_ms: u64,
    pub(super) access: ToolAccess,
    pub(super) limits: ToolLimits,
    /// Whether a kernel that can keep signals inside a Landlock domain is used as one.
    pub(super) scopes: bool,
}

/// What the supervisor says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Report {
    /// The shell was started; its number is that of its process group, too.
    Started(i32),
    /// The shell has ended and so has everything that it started.
    Ended(End),
    /// Nothing was started, or nobody can say how it ended.
    Failed(String),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) how: How,
    /// Processes that were still there when the shell had ended, and were killed.
    pub(super) left: u64,
    /// Whether some of them could not be killed in time: they hang in the kernel.
    pub(super) hang: bool,
}

/// Why the shell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum How {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// The time was up.
    TimedOut,
    /// The runner let go of it.
    Cancelled,
}
