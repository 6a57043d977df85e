//! `git_blame`: the commit that brought in each line of a file.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

use gix_hash::ObjectId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::roots::Roots;
use super::super::{Allowance, Form, Window, arguments, display};
use super::blaming;
use super::budget::Budget;
use super::follow::content;
use super::lines;
use super::open::{self, Found};
use super::person::Person;
use super::revision::{self, short};
use crate::tool::{ToolError, ToolOutput};

pub(in super::super) const DESCRIPTION: &str = "Says for each line of a file which commit brought it in: number, hash, day, \
author, text. Find the lines first (grep, read), then blame that window with offset and limit: a narrow window is fast. At most 200 \
lines without limit. Renames are not followed. Then git_show the commit. output=\"json\" gives objects.";

pub(in super::super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

const DEFAULT_LINES: usize = 200;
const MOST_LINES: usize = 5_000;
/// Characters of one line: what is behind is read with `read`.
const LINE_CHARACTERS: usize = 500;
/// Bytes of the answer that are no lines.
const FRAME_BYTES: usize = 1024;
const DEFAULT_BYTES: usize = 64 << 10;
const MODEL_BYTES: usize = 256 << 10;
const SCRIPT_BYTES: usize = 16 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// The file: /workspace/<source>/…, or relative to /workspace.
    path: String,
    /// The version of the file: a branch, a tag, a commit hash, HEAD~3. Default HEAD; changes that were not committed are not seen.
    revision: Option<String>,
    /// First line, counted from 1. Default 1.
    offset: Option<i64>,
    /// Number of lines. Default 200.
    limit: Option<i64>,
    /// "text" (default) or "json".
    output: Option<Form>,
}

/// One line of the answer.
struct Line {
    number: usize,
    commit: Option<ObjectId>,
    text: String,
}

pub(in super::super) fn call(roots: &Roots, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
    let Arguments { path, revision, offset, limit, output } = arguments::parse("git_blame", &SCHEMA, arguments)?;
    let window = Window::parse("git_blame", offset, limit, DEFAULT_LINES, MOST_LINES)?;
    let revision = revision.unwrap_or_else(|| "HEAD".to_owned());
    revision::check("git_blame", &revision)?;

    let budget = Budget::new(&allowance.cancel);
    let Found { repository, inner, named } = open::open(roots, Some(&path), &budget)?;
    let commit = revision::commit(&repository, revision::resolve(&repository, &revision)?, &revision)?;
    let tree = repository.objects.step(commit)?.tree;
    let entry = match repository.objects.entry(tree, &inner)? {
        Some(entry) if entry.mode.is_blob() => entry,
        Some(entry) if entry.mode.is_tree() => {
            return Err(ToolError::Failed(format!("{named} is a folder at {revision}; git_blame takes a file")));
        }
        Some(_) => {
            return Err(ToolError::Failed(format!("{named} is a link or a submodule at {revision}, not a file")));
        }
        None => {
            return Err(ToolError::Failed(format!(
                "{named} does not exist at {revision}; git_log with the path says which commits had it"
            )));
        }
    };
    let text = content(&repository, entry)?;
    let total = lines::of(&text).count();
    if window.offset > total {
        return Err(ToolError::InvalidArguments(format!(
            "git_blame: offset {} is beyond the end: {named} has {} at {revision}",
            window.offset,
            display::count(total as u64, "line", "lines")
        )));
    }
    let first = window.offset - 1;
    let last = window.end().min(total);
    let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let found = blaming::blame(&repository, commit, &inner, &(number(first)..number(last)))?;

    let mut commits: HashMap<ObjectId, Person> = HashMap::new();
    for id in found.iter().flatten() {
        if !commits.contains_key(id) {
            // What was found is given also when the time ends here: the lines then say "not found".
            let Ok(commit) = repository.objects.commit(*id) else { continue };
            commits.insert(*id, commit.author);
        }
    }
    let window_lines = lines::of(&text).skip(first).zip(found).enumerate();
    let lines: Vec<Line> = window_lines
        .map(|(index, (text, commit))| Line { number: first + index + 1, commit, text: shown(text) })
        .collect();
    let most = if limit.is_some() { allowance.cap(MODEL_BYTES, SCRIPT_BYTES) } else { DEFAULT_BYTES };
    let most = most.min(allowance.result_bytes).saturating_sub(FRAME_BYTES);
    let answer = Answer { named: &named, total, lines, commits, most };
    Ok(match output.unwrap_or_default() {
        Form::Text => ToolOutput::Text(answer.text()),
        Form::Json => ToolOutput::Json(answer.value()),
    })
}

fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
    let mut shown: String = line.chars().take(LINE_CHARACTERS).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    shown
}

struct Answer<'a> {
    named: &'a str,
    total: usize,
    lines: Vec<Line>,
    commits: HashMap<ObjectId, Person>,
    most: usize,
}

impl Answer<'_> {
    fn text(&self) -> String {
        let mut text = String::new();
        let mut next = 0;
        for Line { number, commit, text: line } in &self.lines {
            let who = commit.and_then(|id| self.commits.get(&id).map(|person| (id, person)));
            let row = match who {
                Some((id, person)) => format!("{number} {} {} {}: {line}\n", short(&id), person.day(), person.name),
                None => format!("{number} (not found in the time there is): {line}\n"),
            };
            if text.len() + row.len() > self.most && next > 0 {
                break;
            }
            text.push_str(&row);
            next = number + 1;
        }
        if next <= self.total {
            let _ = write!(
                text,
                "[{} of {} in all; continue with offset={next}]",
                display::count((self.total + 1 - next) as u64, "more line", "more lines"),
                display::grouped(self.total as u64)
            );
        }
        text
    }

    fn value(self) -> Value {
        let Self { named, total, lines, commits, most } = self;
        let mut left = most;
        let mut values = Vec::new();
        let mut next = 0;
        for Line { number, commit, text } in lines {
            let person = commit.and_then(|id| commits.get(&id));
            let value = json!({
                "line": number,
                "hash": commit.map(|id| id.to_string()),
                "author": person.map(|person| &person.name),
                "time": person.map(|person| &person.time),
                "text": text,
            });
            let Some(rest) = left.checked_sub(value.to_string().len() + 1) else { break };
            left = rest;
            next = number + 1;
            values.push(value);
        }
        let next = (next <= total).then(|| json!({"offset": next}));
        json!({"path": named, "lines": values, "totalLines": total, "cut": next.is_some(), "next": next})
    }
}
