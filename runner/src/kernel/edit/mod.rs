//! `edit`: replaces pieces of one text file beneath `/out`, and nothing else of it.
//!
//! [`place`] finds where each old text is, in the file as it was, [`apply`] makes the new file, [`difference`] shows what
//! came of it and [`refusal`] what went wrong. All of that is pure; this file has the arguments and the bounds.

mod apply;
mod difference;
mod fold;
mod lines;
mod nearest;
mod place;
#[cfg(test)]
mod properties;
mod refusal;

use std::borrow::Cow;
use std::io::Read;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::output::{Output, Unwritten};
use super::roots::{Destination, OpenedFile, PathError, Roots};
use super::write::measured;
use super::{Allowance, Cancel, arguments, binary, display};
use crate::tool::{ToolError, ToolOutput};
use anchorhold_plan::OUT;
use apply::Replacement;
use difference::difference;
use place::{Original, Place};

pub(super) const DESCRIPTION: &str = "Replaces pieces of a text file below /out; /workspace is read-only. Each oldText must occur exactly \
once in the file as it is now: take it from read, with enough lines to be unique. Give all changes of a file in one call; they must not \
overlap. Line endings stay those of the file.";

pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

/// Bytes of a file that is edited: it is in memory up to three times.
const MOST_BYTES: u64 = 16 << 20;
/// Edits in one call: each may look through the whole file.
const MOST_EDITS: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The file: /out/….
    path: String,
    /// The changes, 1 to 200.
    edits: Vec<Edit>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Edit {
    /// The text to replace, exactly as it is in the file; it occurs there once.
    old_text: String,
    /// What takes its place; may be empty.
    new_text: String,
}

pub(super) fn call(
    roots: &Roots,
    output: &Output,
    arguments: Value,
    allowance: &Allowance,
) -> Result<ToolOutput, ToolError> {
    let (arguments, gathered) = gather(arguments);
    let Arguments { path, edits } = arguments::parse("edit", &SCHEMA, arguments)?;
    refuse_edits(&edits)?;
    let mut text = output.write(roots, &path, &allowance.cancel, |destination| {
        let original = read(destination)?;
        let (text, answer) = edited(&destination.named, &original, &edits, &allowance.cancel)?;
        Ok((Cow::Owned(text), answer))
    })?;
    if gathered {
        text.push_str("\n[oldText and newText were taken as the only entry of edits]");
    }
    Ok(ToolOutput::Text(text))
}

/// Takes one `oldText` with its `newText` beside `path` for the list of that one edit, as models often give it: it can mean
/// nothing else. With `edits` beside them it could, and stays as it is, to be refused.
fn gather(arguments: Value) -> (Value, bool) {
    let Value::Object(mut given) = arguments else { return (arguments, false) };
    if given.get("edits").is_some_and(|edits| !edits.is_null()) {
        return (Value::Object(given), false);
    }
    let (Some(old), Some(new)) = (given.get("oldText").cloned(), given.get("newText").cloned()) else {
        return (Value::Object(given), false);
    };
    given.retain(|name, _| !["oldText", "newText"].contains(&name.as_str()));
    given.insert("edits".to_owned(), json!([{"oldText": old, "newText": new}]));
    (Value::Object(given), true)
}

fn refuse_edits(edits: &[Edit]) -> Result<(), ToolError> {
    let refuse = |problem: String| Err(ToolError::InvalidArguments(format!("edit: {problem}")));
    match edits.len() {
        0 => return refuse("edits is empty; give at least one edit".to_owned()),
        1..=MOST_EDITS => {}
        more => return refuse(format!("edits has {more} entries; at most {MOST_EDITS} are possible in one call")),
    }
    for (index, Edit { old_text, new_text }) in edits.iter().enumerate() {
        if old_text.is_empty() {
            return refuse(format!(
                "edits[{index}].oldText is empty; give the text to replace, or use write for a new file"
            ));
        }
        if old_text == new_text {
            return refuse(format!("edits[{index}] changes nothing: oldText and newText are the same"));
        }
    }
    Ok(())
}

/// The whole file, if it is text and not too large.
fn read(destination: &Destination<'_>) -> Result<Vec<u8>, Unwritten> {
    let named = &destination.named;
    let failed = |problem: String| Unwritten::Refused(ToolError::Failed(problem));
    let Some(OpenedFile { file, size, .. }) = destination.open()? else {
        return Err(failed(format!("{named} does not exist; make it with write")));
    };
    let mut bytes = Vec::new();
    if size <= MOST_BYTES {
        let mut limited = file.take(MOST_BYTES + 1);
        limited.read_to_end(&mut bytes).map_err(|source| PathError::Io { path: named.clone(), source })?;
    }
    let size = size.max(bytes.len() as u64);
    if size > MOST_BYTES {
        return Err(failed(format!(
            "{named} has {} bytes; edit takes files of at most {} bytes: write smaller files to {OUT}",
            display::grouped(size),
            display::grouped(MOST_BYTES)
        )));
    }
    match memchr::memchr(0, &bytes) {
        None => Ok(bytes),
        Some(at) => Err(failed(format!(
            "{named} is a binary file ({}, {} bytes; the first byte that is no text is number {}); edit takes text only",
            binary::kind(&bytes),
            display::grouped(size),
            at + 1
        ))),
    }
}

/// The file with all edits made, and what is said of them.
fn edited(named: &str, file: &[u8], edits: &[Edit], cancel: &Cancel) -> Result<(Vec<u8>, String), ToolError> {
    let original = Original::new(file);
    let mut replacements = Vec::with_capacity(edits.len());
    let mut tolerated = Vec::new();
    for (index, Edit { old_text, new_text }) in edits.iter().enumerate() {
        cancel.check()?;
        match original.find(old_text) {
            Place::Once { range, exact } => {
                if !exact {
                    tolerated.push(format!("edits[{index}]"));
                }
                replacements.push(Replacement { index, range, new: new_text });
            }
            Place::Several { first, count, exact } => {
                return Err(ToolError::Failed(refusal::several(index, named, &original, &first, count, exact)));
            }
            Place::Nowhere => return Err(ToolError::Failed(refusal::nowhere(index, named, &original, old_text))),
        }
    }
    let ranges: Vec<_> = replacements.iter().map(|replacement| replacement.range.clone()).collect();
    let (text, changes) = apply::apply(file, replacements)
        .map_err(|conflict| ToolError::InvalidArguments(refusal::conflict(named, file, &ranges, &conflict)))?;
    let places = display::count(changes.len() as u64, "place", "places");
    let mut answer = format!("edited {named}: {places} changed; now {}", measured(&text));
    answer.push_str(&difference(file, &text, &changes));
    if !tolerated.is_empty() {
        let which = tolerated.join(", ");
        answer.push_str("\n[found apart from typographic quotes or dashes, or white space: ");
        answer.push_str(&which);
        answer.push(']');
    }
    Ok((text, answer))
}
