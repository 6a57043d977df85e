//! `git_show`: one commit with its changes, or a file or folder as it was.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::roots::Roots;
use super::super::{Allowance, arguments, display};
use super::budget::Budget;
use super::open::{self, Found};
use super::revision;
use super::{at, commit};
use crate::tool::{ToolError, ToolOutput};

pub(in super::super) const DESCRIPTION: &str = "Shows one commit: message, author, files with lines added and removed, and the diff \
(to the first parent), at most 400 lines and 32 KiB without limit; path narrows it to a file or folder, which is the cheap way into a \
large commit. revision=\"HEAD~3:src/main.rs\" shows that file as it was (offset and limit as in read), or lists that folder.";

pub(in super::super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

const DEFAULT_LINES: usize = 400;
const DEFAULT_BYTES: usize = 32 << 10;
const MODEL_LINES: usize = 5_000;
const MODEL_BYTES: usize = 256 << 10;
const SCRIPT_LINES: usize = 200_000;
const SCRIPT_BYTES: usize = 16 << 20;
/// Bytes of the answer that are neither diff nor content.
const FRAME_BYTES: usize = 32 << 10;
/// The furthest line of a file that may be asked for.
const MOST_OFFSET: i64 = 100_000_000;
/// Bytes of a path, as in Linux.
const MOST_PATH_BYTES: usize = 4096;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// The commit: a hash, a branch, a tag, HEAD~3. Or "<commit>:<path in the repository>" for a file or folder as it was.
    revision: String,
    /// Only changes of this file or folder; also says which repository is meant. Default: the only source.
    path: Option<String>,
    /// For a file: the first line, counted from 1. Default 1.
    offset: Option<i64>,
    /// Lines of diff or file. Default 400.
    limit: Option<i64>,
}

/// How much is given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// The first line, counted from 1.
    pub(super) offset: usize,
    pub(super) lines: usize,
    pub(super) bytes: usize,
}

pub(in super::super) fn call(roots: &Roots, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
    let Arguments { revision, path, offset, limit } = arguments::parse("git_show", &SCHEMA, arguments)?;
    let size = size(offset, limit, allowance)?;
    let (revision, at_path) = match revision.split_once(':') {
        Some((revision, path)) if !revision.is_empty() => (revision, Some(path)),
        _ => (revision.as_str(), None),
    };
    revision::check("git_show", revision)?;
    if let Some(path) = at_path {
        check_path(path)?;
    }
    let budget = Budget::new(&allowance.cancel);
    let Found { repository, inner, named } = open::open(roots, path.as_deref(), &budget)?;
    let object = revision::resolve(&repository, revision)?;
    let text = if let Some(path) = at_path {
        at::text(&repository, revision::commit(&repository, object, revision)?, revision, path, size)?
    } else if offset.is_some() {
        return Err(ToolError::InvalidArguments(
            "git_show: offset is for a file as it was, revision=\"<commit>:<path>\"; a diff is narrowed with path"
                .to_owned(),
        ));
    } else {
        commit::text(&repository, object, revision, (&inner, &named), size)?
    };
    Ok(ToolOutput::Text(text))
}

fn size(offset: Option<i64>, limit: Option<i64>, allowance: &Allowance) -> Result<Size, ToolError> {
    let most = allowance.cap(MODEL_LINES, SCRIPT_LINES);
    let count = |name: &str, value: Option<i64>, default: usize, most: i64| match value {
        None => Ok(default),
        Some(value) => usize::try_from(value).ok().filter(|_| (1..=most).contains(&value)).ok_or_else(|| {
            ToolError::InvalidArguments(format!(
                "git_show: {name} must be between 1 and {most}; got the number {value}"
            ))
        }),
    };
    let bytes = if limit.is_some() { allowance.cap(MODEL_BYTES, SCRIPT_BYTES) } else { DEFAULT_BYTES };
    Ok(Size {
        offset: count("offset", offset, 1, MOST_OFFSET)?,
        lines: count("limit", limit, DEFAULT_LINES, i64::try_from(most).unwrap_or(i64::MAX))?,
        bytes: bytes.min(allowance.result_bytes.saturating_sub(FRAME_BYTES)),
    })
}

fn check_path(path: &str) -> Result<(), ToolError> {
    let problem = if path.len() > MOST_PATH_BYTES {
        "is longer than 4,096 bytes"
    } else if path.chars().any(char::is_control) {
        "contains a control character"
    } else if path.starts_with('/') {
        "begins with /, where a path within the repository is wanted, as in HEAD:src/main.rs"
    } else if path.split('/').any(|part| part == ".." || part == ".") {
        "contains . or .., where a path within the repository is wanted, as in HEAD:src/main.rs"
    } else {
        return Ok(());
    };
    let shown = display::name(display::prefix(path, 60).as_bytes());
    Err(ToolError::InvalidArguments(format!("git_show: the path \"{shown}\" of the revision {problem}")))
}
