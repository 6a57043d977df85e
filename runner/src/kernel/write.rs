//! `write`: creates or replaces one file beneath `/out`.

use std::borrow::Cow;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::output::Output;
use super::roots::Roots;
use super::{Allowance, arguments, display};
use crate::tool::{ToolError, ToolOutput};

pub(super) const DESCRIPTION: &str = "Writes a text file below /out, where the job's results are collected; folders that are missing are \
made, a file that is there is replaced. /workspace is read-only. To change part of a file in /out use edit.";

pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The file: /out/….
    path: String,
    /// All of the file, exactly as it is to be.
    content: String,
}

pub(super) fn call(
    roots: &Roots,
    output: &Output,
    arguments: Value,
    allowance: &Allowance,
) -> Result<ToolOutput, ToolError> {
    let Arguments { path, content } = arguments::parse("write", &SCHEMA, arguments)?;
    output
        .write(roots, &path, &allowance.cancel, |destination| {
            let done = if destination.exists() { "replaced" } else { "created" };
            let answer = format!("{done} {}: {}", destination.named, measured(content.as_bytes()));
            Ok((Cow::Borrowed(content.as_bytes()), answer))
        })
        .map(ToolOutput::Text)
}

/// `12 bytes, 2 lines`; a last line without an ending counts.
pub(super) fn measured(content: &[u8]) -> String {
    let lines =
        memchr::memchr_iter(b'\n', content).count() + usize::from(!matches!(content.last(), None | Some(b'\n')));
    let bytes = display::count(content.len() as u64, "byte", "bytes");
    format!("{bytes}, {}", display::count(lines as u64, "line", "lines"))
}
