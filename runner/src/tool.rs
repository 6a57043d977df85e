//! What a tool call is, and what comes back. Kernel tools, codemode and the broker's client all speak these types and
//! never import one another: every call goes through the router.

use std::future::Future;
use std::pin::Pin;

use anchorhold_plan::ToolCaller;
use serde_json::Value;

/// One call as it arrives at the router.
#[derive(Clone, Debug)]
pub struct Call {
    /// The exact name the caller used.
    pub name: String,
    /// The arguments: a JSON object, or what the caller sent instead of one.
    pub arguments: Value,
    /// Who calls.
    pub caller: ToolCaller,
    /// The script that makes the call, as the record numbers it; `None` for the model.
    pub script: Option<u64>,
}

/// What a tool returned.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolOutput {
    /// Text, as a person or model reads it.
    Text(String),
    /// A structured value.
    Json(Value),
}

/// Why a call gave no output. The message is for the caller: it says what was wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The policy refused the call: a blocked call.
    #[error("{0}")]
    Blocked(String),
    /// An argument is missing, unknown or of the wrong type.
    #[error("{0}")]
    InvalidArguments(String),
    /// The tool ran and failed.
    #[error("{0}")]
    Failed(String),
    /// The call's own deadline passed.
    #[error("{0}")]
    TimedOut(String),
    /// A limit of the job or of the script was reached.
    #[error("{0}")]
    LimitReached(String),
}

impl ToolError {
    /// A stable word for the record and for `error.code` in a script.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Blocked(_) => "blocked",
            Self::InvalidArguments(_) => "invalid_arguments",
            Self::Failed(_) => "failed",
            Self::TimedOut(_) => "timed_out",
            Self::LimitReached(_) => "limit_reached",
        }
    }
}

/// A call in flight. Dropping it cancels the call.
pub type PendingCall = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>>;

/// Whoever answers calls: the router, seen from codemode.
pub trait CallTool: Send + Sync + 'static {
    /// Starts a call.
    fn call(&self, call: Call) -> PendingCall;
    /// The tools this caller may call, for listing: `(name, description, JSON Schema of the arguments)`.
    fn list(&self, caller: ToolCaller) -> Vec<ToolDescription>;
}

/// A tool as it is listed.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDescription {
    /// The exact name.
    pub name: String,
    /// What it does and how to use it cheaply.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}
