//! `read`: a window of lines of one file, exactly as they stand in it.

mod window;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::roots::{FileKind, OpenedFile, PathError, Roots};
use super::{Allowance, Form, arguments, display};
use crate::tool::{ToolError, ToolOutput};
use anchorhold_plan::ToolCaller;
use window::{End, Request, Start, Window};

pub(super) const DESCRIPTION: &str = "Reads lines of a text file, exactly as they are. Without limit: at most 400 lines and 32 KiB. \
Search first (grep, find), then read a narrow window with offset and limit. What was cut is said in a last line in brackets, with the \
call that continues; output=\"json\" gives {path, text, firstLine, lastLine, totalLines, bytes, cut, next} instead.";

pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

/// Lines and bytes without a limit: what a model reads with profit at once.
const DEFAULT_LINES: u64 = 400;
const DEFAULT_BYTES: usize = 32 << 10;
/// Bytes when a limit is given: what a model can use at most, and what fits a script's result.
const MODEL_BYTES: usize = 256 << 10;
const SCRIPT_BYTES: usize = 16 << 20;
/// Bytes of the answer that are not text of the file.
const FRAME_BYTES: usize = 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The file: /workspace/<source>/…, /out/…, or relative to /workspace.
    path: String,
    /// First line, counted from 1; a negative number counts from the end (-20: the last 20 lines). Default 1.
    offset: Option<i64>,
    /// Number of lines. Default 400.
    limit: Option<i64>,
    /// For a line too long for one answer: the byte of the first line to begin at, counted from 1.
    column: Option<i64>,
    /// "text" (default) or "json".
    output: Option<Form>,
}

pub(super) fn call(roots: &Roots, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
    let Arguments { path, offset, limit, column, output } = arguments::parse("read", &SCHEMA, arguments)?;
    let form = output.unwrap_or_default();
    let request = request(offset, limit, column, form, allowance)?;

    let Some(opened) = roots.open(&path)? else {
        return Err(ToolError::Failed(format!("{path} is a folder; list it with ls")));
    };
    let shown = opened.located.named;
    let OpenedFile { mut file, kind, size } = opened.file;
    if kind == FileKind::Folder {
        return Err(ToolError::Failed(format!("{shown} is a folder; list it with ls")));
    }
    let window = window::read(&mut file, &request, &allowance.cancel).map_err(|error| match error {
        window::Failure::Ended(error) => error,
        window::Failure::Io(source) => PathError::Io { path: shown.clone(), source }.into(),
        window::Failure::Binary { at, kind } => ToolError::Failed(format!(
            "{shown} is a binary file ({kind}, {} bytes; the first byte that is no text is number {at}); read returns text only",
            display::grouped(size)
        )),
        window::Failure::Beyond { lines } => ToolError::InvalidArguments(format!(
            "read: offset {} is beyond the end: {shown} has {}",
            offset.unwrap_or(1),
            display::count(lines, "line", "lines")
        )),
        window::Failure::TooFar { bytes } => ToolError::Failed(format!(
            "{shown}: line {} is not within the first {} bytes, which is as far as read counts lines; search with grep",
            offset.unwrap_or(1),
            display::grouped(bytes)
        )),
        window::Failure::BeyondLine { bytes } => ToolError::InvalidArguments(format!(
            "read: column {} is beyond the end of the line, which has {}",
            column.unwrap_or(1),
            display::count(bytes, "byte", "bytes")
        )),
    })?;
    Ok(match form {
        Form::Text => ToolOutput::Text(text(&shown, window, &request, allowance.caller)),
        Form::Json => ToolOutput::Json(value(&shown, window, size)),
    })
}

fn request(
    offset: Option<i64>,
    limit: Option<i64>,
    column: Option<i64>,
    form: Form,
    allowance: &Allowance,
) -> Result<Request, ToolError> {
    let invalid = |problem: String| ToolError::InvalidArguments(format!("read: {problem}"));
    let start = match offset {
        None => Start::Line(1),
        // A window computed as page * size begins at 0, and taking 0 for 1 would show one line twice.
        Some(0) => {
            return Err(invalid("offset counts lines from 1, and from the end with -1; got the number 0".to_owned()));
        }
        Some(line) if line < 0 => Start::FromEnd(line.unsigned_abs()),
        Some(line) => Start::Line(line.unsigned_abs()),
    };
    let lines = match limit {
        None => DEFAULT_LINES,
        Some(limit) if limit < 1 => {
            return Err(invalid(format!("limit must be 1 or more; got the number {limit}")));
        }
        Some(limit) => limit.unsigned_abs(),
    };
    let column = match column {
        None => 1,
        Some(column) if column < 1 => {
            return Err(invalid(format!("column counts bytes from 1; got the number {column}")));
        }
        Some(column) => column.unsigned_abs(),
    };
    let asked = if limit.is_some() { allowance.cap(MODEL_BYTES, SCRIPT_BYTES) } else { DEFAULT_BYTES };
    let room = allowance.result_bytes.saturating_sub(FRAME_BYTES);
    // As JSON a line ending, a quote or a backslash takes two bytes.
    let room = if form == Form::Json { room / 2 } else { room };
    Ok(Request { start, lines, column, bytes: asked.min(room).max(4) })
}

/// The lines, and after them what was left out.
fn text(shown: &str, window: Window, request: &Request, caller: ToolCaller) -> String {
    let Window { mut text, first, last, end, total } = window;
    let more = |from: u64| match total {
        Some(total) => {
            let left = total.saturating_sub(from - 1);
            format!("{} of {} in all", display::count(left, "more line", "more lines"), display::grouped(total))
        }
        None => "more lines follow".to_owned(),
    };
    let notice = match end {
        // A script gets what the file holds; a model cannot tell an empty answer from a lost one.
        End::File if text.is_empty() && caller == ToolCaller::Model => Some(format!("[{shown} is empty]")),
        End::File => None,
        End::Lines => Some(format!("[{}; continue with offset={}]", more(last + 1), last + 1)),
        End::Bytes { next_line } => Some(format!(
            "[cut at {} bytes, after line {last}; {}; continue with offset={next_line}, give limit for more at a time]",
            display::grouped(request.bytes as u64),
            more(next_line),
        )),
        End::InLine { next_column } => Some(format!(
            "[line {first} is longer than this answer: continue with offset={first}, column={next_column}]"
        )),
    };
    if let Some(notice) = notice {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&notice);
    }
    text
}

fn value(shown: &str, window: Window, size: u64) -> Value {
    let Window { text, first, last, end, total } = window;
    let next = match end {
        End::File => Value::Null,
        End::Lines => json!({"offset": last + 1}),
        End::Bytes { next_line } => json!({"offset": next_line}),
        End::InLine { next_column } => json!({"offset": first, "column": next_column}),
    };
    json!({
        "path": shown,
        "text": text,
        "firstLine": first,
        "lastLine": last,
        "totalLines": total,
        "bytes": size,
        "cut": !next.is_null(),
        "next": next,
    })
}
