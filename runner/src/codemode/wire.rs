//! What the two processes say to each other: one JSON value a line, over the worker's standard input and output.
//!
//! The host's side is trusted by the worker. The worker's side is not trusted by the host: a script may have taken the engine
//! over, so unknown fields, unknown messages and long lines end the worker.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The first line to the worker: all it needs to run one script.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    /// The script, without its fence; as many lines as the text that was sent.
    pub script: String,
    /// Milliseconds from now until the script is interrupted.
    pub timeout_ms: u64,
    /// The deadline as it was set, for the message: some of it may have passed before the worker started.
    pub deadline_ms: u64,
    /// The engine's heap, bytes.
    pub heap_bytes: u64,
    /// Calls the script may make.
    pub calls: u32,
    /// Calls that are in flight; more wait inside the engine, on the script's heap.
    pub calls_in_flight: u32,
    /// Bytes of one call's arguments.
    pub argument_bytes: u64,
    /// Bytes of each of the return value, `text` and `console` that are worth sending.
    pub output_bytes: usize,
    /// The tools the script may call.
    pub tools: Vec<Listed>,
    /// Tools that exist and are not for scripts: a call by name is a blocked call.
    pub blocked: Vec<String>,
    /// What earlier scripts of the job stored: key and JSON text.
    pub store: Vec<(String, String)>,
}

/// A tool as scripts see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    pub name: String,
    pub description: String,
    pub schema: serde_json::Value,
}

/// A later line to the worker: what came of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply<'a> {
    pub id: u64,
    #[serde(borrow)]
    pub result: CallResult<'a>,
}

/// What came of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CallResult<'a> {
    /// A structured value, as JSON text that only the engine parses.
    #[serde(borrow)]
    Json(&'a RawValue),
    #[serde(borrow)]
    Text(Cow<'a, str>),
    Error {
        message: String,
        code: String,
    },
}

/// A line from the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FromWorker {
    /// The worker is confined and waits for its script. From here on what it says may be a script's doing.
    Ready,
    /// The script calls a tool.
    Call(ToolCall),
    /// The script printed.
    Print(Printed),
    /// The script returned an image.
    Image(Image),
    /// The script has ended; nothing follows.
    End(Box<End>),
}

/// A call of a script.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolCall {
    pub id: u64,
    pub tool: String,
    pub arguments: serde_json::Value,
}

/// A piece of output; pieces of one channel are lines of one text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Printed {
    pub channel: Channel,
    pub text: String,
}

/// Which of the two streams of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Channel {
    Text,
    Console,
}

/// An image that a script returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`, by what the bytes are.
    pub mime_type: String,
    /// The image in base64.
    pub data: String,
}

/// How the script ended, as the worker tells it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub how: How,
    /// The error with its frames; empty when completed.
    pub error: String,
    /// The return value as text, as much of it as is worth sending.
    pub value: Option<String>,
    /// Size of the whole text of the return value.
    pub value_bytes: u64,
    /// Bytes printed with `text`, sent or not.
    pub text_bytes: u64,
    /// Bytes printed with `console`, sent or not.
    pub console_bytes: u64,
    /// Sentences about what the script should know: unawaited calls, unhandled rejections.
    pub notes: Vec<String>,
    /// What the script stored: key and JSON text, or `null` for a key that it removed.
    pub store: Vec<(String, Option<String>)>,
}

/// How a script can end by its own doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum How {
    #[default]
    Completed,
    Threw,
    TimedOut,
    OutOfMemory,
    Stalled,
    Refused,
}
