//! What a record can say. Written by the runner, read by the command line and by whoever collects logs.
//!
//! Attribute names with a dot are those of OpenTelemetry's semantic conventions for generative AI.

use anchorhold_plan::{Enforcement, JobIdentity, KernelTool, Outcome, RunResult};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// One line of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Counts from 1, without a gap.
    pub seq: u64,
    /// When it was written, RFC 3339 in UTC.
    pub time: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened. A reader skips a `type` it does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Event {
    /// The plan was read and its folders are open.
    #[serde(rename = "run.started")]
    RunStarted(RunStarted),
    /// The network is closed, or vouched for.
    #[serde(rename = "gate.passed")]
    GatePassed(GatePassed),
    /// A script begins.
    #[serde(rename = "script.started")]
    ScriptStarted(ScriptStarted),
    /// A script has ended.
    #[serde(rename = "script.ended")]
    ScriptEnded(ScriptEnded),
    /// A call has ended.
    #[serde(rename = "call")]
    Call(CallEnded),
    /// The policy refused a call.
    #[serde(rename = "blocked")]
    Blocked(BlockedCall),
    /// A result was cut.
    #[serde(rename = "cut")]
    Cut(Cut),
    /// Events were given up, because nobody read standard output.
    #[serde(rename = "record.lost")]
    RecordLost(RecordLost),
    /// The run has ended. Always the last line.
    #[serde(rename = "run.ended")]
    RunEnded(RunEnded),
}

/// The plan was read and its folders are open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The version of the runner.
    pub runner: String,
    /// Whose plan it is.
    pub job: JobIdentity,
    /// SHA-256 of the plan's file, in lower-case hexadecimal.
    #[serde(rename = "plan.sha256")]
    pub plan_sha256: String,
    /// The paths of the sources.
    pub sources: Vec<String>,
    /// The tools the agent grants.
    pub tools: Vec<KernelTool>,
}

/// The network is closed, or vouched for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatePassed {
    /// What is known of it.
    pub enforcement: Enforcement,
    /// Rounds of new connections that were tried.
    pub rounds: u32,
    /// Milliseconds that took.
    pub duration_ms: u64,
}

/// A script begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptStarted {
    /// The script's number; calls refer to it.
    pub script: u64,
    /// Its text.
    pub source: Content,
}

/// A script has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptEnded {
    /// The script's number.
    pub script: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Milliseconds from its start, waiting for a slot included.
    pub duration_ms: u64,
    /// One sentence or error; empty when it completed.
    #[serde(rename = "error.message", default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// What it returned and printed.
    pub output: Content,
}

/// A call has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallEnded {
    /// The call's number.
    #[serde(rename = "gen_ai.tool.call.id")]
    pub call: u64,
    /// The script that made it; none for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<u64>,
    /// Always `execute_tool`.
    #[serde(rename = "gen_ai.operation.name")]
    pub operation: String,
    /// The tool.
    #[serde(rename = "gen_ai.tool.name")]
    pub tool: String,
    /// Milliseconds it took, rounded down.
    pub duration_ms: u64,
    /// Why it failed, as [`ToolError::code`](crate::tool::ToolError::code) names it, or `cancelled`; none when it did not.
    #[serde(rename = "error.type", default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the caller was told, at most 1,000 bytes of it.
    #[serde(rename = "error.message", default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The arguments, as JSON.
    pub arguments: Content,
    /// The result, as JSON or text; none when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Content>,
}

/// The policy refused a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedCall {
    /// The call's number.
    #[serde(rename = "gen_ai.tool.call.id")]
    pub call: u64,
    /// The script that made it; none for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<u64>,
    /// The name that was called, at most 200 bytes of it.
    #[serde(rename = "gen_ai.tool.name")]
    pub tool: String,
    /// Why.
    pub reason: String,
    /// The arguments, as JSON.
    pub arguments: Content,
}

/// A result was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// The call whose result was cut.
    #[serde(rename = "gen_ai.tool.call.id", default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u64>,
    /// The script whose output was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<u64>,
    /// Bytes there were.
    pub bytes: u64,
    /// Bytes that are left.
    pub kept: u64,
}

/// Events were given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordLost {
    /// How many.
    pub events: u64,
}

/// The run has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnded {
    /// Milliseconds from the runner's start.
    pub duration_ms: u64,
    /// What came of it; its text is cut to fit the line.
    pub result: RunResult,
}

/// A text, by size and hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Bytes of UTF-8.
    pub bytes: u64,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// The text, cut to fit the line; only where the plan asks for content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Content {
    /// Size and hash of a text, and the text itself if `full`.
    #[must_use]
    pub fn of(text: &str, full: bool) -> Self {
        Self { bytes: text.len() as u64, sha256: sha256(text.as_bytes()), text: full.then(|| text.to_owned()) }
    }
}

impl Event {
    /// The texts of the event that may be cut to make it fit a line.
    pub(super) fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::ScriptStarted(ScriptStarted { source, .. }) => source.text.iter_mut().collect(),
            Self::ScriptEnded(ScriptEnded { output, message, .. }) => output.text.iter_mut().chain([message]).collect(),
            Self::Call(CallEnded { arguments, result, message, .. }) => {
                let result = result.as_mut().and_then(|result| result.text.as_mut());
                arguments.text.iter_mut().chain(result).chain([message]).collect()
            }
            Self::Blocked(BlockedCall { arguments, tool, reason, .. }) => {
                arguments.text.iter_mut().chain([tool, reason]).collect()
            }
            Self::RunEnded(RunEnded { result, .. }) => vec![&mut result.text, &mut result.message],
            Self::RunStarted(_) | Self::GatePassed(_) | Self::Cut(_) | Self::RecordLost(_) => Vec::new(),
        }
    }

    /// Halves the list of the event, if it has one of more than `least` entries.
    pub(super) fn shorten_list(&mut self, least: usize) -> bool {
        match self {
            Self::RunEnded(RunEnded { result, .. }) if result.files.len() > least => {
                result.files.truncate(result.files.len() / 2);
                true
            }
            Self::RunStarted(RunStarted { sources, .. }) if sources.len() > least => {
                sources.truncate(sources.len() / 2);
                true
            }
            _ => false,
        }
    }
}

/// The hash of some bytes, in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
