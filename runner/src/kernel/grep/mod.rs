//! `grep`: lines of files by regular expression, on ripgrep's searcher.

mod answer;
mod haystack;
mod parallel;

use std::path::PathBuf;
use std::sync::LazyLock;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::find::{DEFAULT_RESULTS, MODEL_RESULTS, SCRIPT_RESULTS, walks};
use super::roots::{FileKind, Located, PathError, Place, Roots};
use super::walk::{Item, Met, Skipped, Step};
use super::{Allowance, Cancel, Form, Window, arguments, glob};
use crate::tool::{ToolError, ToolOutput};
use anchorhold_plan::WORKSPACE;
use answer::{Answer, Looked};
use haystack::Searched;
use parallel::Collector;

pub(super) const DESCRIPTION: &str = "Searches file contents with a regular expression (Rust syntax: no look-around, no back-references; \
literal=true takes the pattern as plain text). Answers path:line: text, with context also path-line- text. glob limits which files are \
searched, path where. Hidden files are searched, .git and binary files are not; files that .gitignore names are skipped and counted \
(ignored=true includes them). Sorted by path; 50 matches without limit; output=\"json\" gives {matches: [{path, line, text}], …}.";

pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

/// Lines before and after a match.
const MAX_CONTEXT: i64 = 50;
/// Bytes of a pattern.
const MAX_PATTERN: usize = 16 << 10;
/// Bytes a compiled pattern and its lazy automaton may take, for each of the two searching threads.
const REGEX_BYTES: usize = 4 << 20;
const AUTOMATON_BYTES: usize = 8 << 20;
/// Bytes of the longest line that is searched.
const LINE_BYTES: usize = 16 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The regular expression, matched against one line at a time.
    pattern: String,
    /// The file or folder to search. Default: all sources.
    path: Option<String>,
    /// Which files: *.rs matches names at any depth, src/**/*.rs paths below the folder searched, !*.min.js all others.
    glob: Option<String>,
    /// Whether upper and lower case are the same. Default false.
    ignore_case: Option<bool>,
    /// Whether the pattern is plain text. Default false.
    literal: Option<bool>,
    /// Lines to show before and after each match, 0 to 50. Default 0.
    context: Option<i64>,
    /// First match, counted from 1. Default 1.
    offset: Option<i64>,
    /// Number of matches. Default 50.
    limit: Option<i64>,
    /// Whether files that .gitignore names are searched too. Default false.
    ignored: Option<bool>,
    /// "text" (default) or "json".
    output: Option<Form>,
}

/// One search, ready to run on a file.
#[derive(Clone)]
struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
}

pub(super) fn call(roots: &Roots, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
    let arguments: Arguments = arguments::parse("grep", &SCHEMA, arguments)?;
    let most = allowance.cap(MODEL_RESULTS, SCRIPT_RESULTS);
    let window = Window::parse("grep", arguments.offset, arguments.limit, DEFAULT_RESULTS, most)?;
    let context = context(arguments.context)?;
    let search = Search { matcher: matcher(&arguments)?, searcher: searcher(context, window) };
    let glob = arguments.glob.as_deref().map(|text| glob::parse("grep", "glob", text)).transpose()?;
    let form = arguments.output.unwrap_or_default();
    let mut answer = Answer::new(window, allowance.result_bytes, form, context > 0);

    // A file that is named is searched, whatever ignore files or the glob say.
    if let Some(path) = arguments.path.as_deref()
        && let Place::Beneath(Located { kind, .. }) = roots.locate(path)?
        && kind != FileKind::Folder
    {
        let searched = named_file(roots, path, search, &allowance.cancel)?;
        answer.looked.files = 1;
        answer.add(&searched);
        return Ok(answer.finish(&arguments.pattern, path));
    }

    let named = arguments.path.as_deref().unwrap_or(WORKSPACE);
    for walk in walks(roots, arguments.path.as_deref(), arguments.ignored.unwrap_or(false))? {
        let collector = Collector::new(window.end() + 1 - answer.passed.min(window.end()), allowance.result_bytes);
        let mut skipped = Skipped::default();
        let mut files = 0;
        let root = walk.root;
        let result = parallel::run(root, &search, &collector, &allowance.cancel, |submit| {
            walk.run(&allowance.cancel, &mut skipped, &mut |met| match met {
                Met::File(item) if glob.as_ref().is_none_or(|glob| glob.is_match(&item.relative)) => {
                    files += 1;
                    submit(job(item, walk.shown(item)))
                }
                Met::File(_) | Met::Folder(_) | Met::Link(_) => Step::On,
            })
        });
        result?;
        answer.looked += Looked { files, skipped, ..Looked::default() };
        for searched in collector.into_results() {
            answer.add(&searched);
        }
        if answer.is_full() {
            break;
        }
    }
    Ok(answer.finish(&arguments.pattern, named))
}

/// A file to search: where it is and what it is called.
struct Job {
    below: PathBuf,
    shown: String,
}

fn job(item: &Item, shown: String) -> Job {
    Job { below: item.below.clone(), shown }
}

fn named_file(roots: &Roots, path: &str, mut search: Search, cancel: &Cancel) -> Result<Searched, ToolError> {
    let Some(opened) = roots.open(path)? else {
        return Err(ToolError::Failed(format!("{path} is a folder")));
    };
    let searched = haystack::search(&mut search, opened.file.file, opened.located.named, cancel);
    cancel.check()?;
    searched.map_err(|source| PathError::Io { path: path.to_owned(), source }.into())
}

fn context(context: Option<i64>) -> Result<usize, ToolError> {
    match context {
        None => Ok(0),
        Some(lines) => usize::try_from(lines).ok().filter(|_| lines <= MAX_CONTEXT).ok_or_else(|| {
            ToolError::InvalidArguments(format!(
                "grep: context must be between 0 and {MAX_CONTEXT}; got the number {lines}"
            ))
        }),
    }
}

fn matcher(arguments: &Arguments) -> Result<RegexMatcher, ToolError> {
    let Arguments { pattern, ignore_case, literal, .. } = arguments;
    let refuse = |problem: String| ToolError::InvalidArguments(format!("grep: pattern {problem}"));
    if pattern.is_empty() {
        return Err(refuse("is empty; it would match every line".to_owned()));
    }
    if pattern.len() > MAX_PATTERN {
        return Err(refuse(format!("has {} bytes; at most {MAX_PATTERN} are accepted", pattern.len())));
    }
    RegexMatcherBuilder::new()
        .case_insensitive(ignore_case.unwrap_or(false))
        .fixed_strings(literal.unwrap_or(false))
        .multi_line(true)
        .crlf(true)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(AUTOMATON_BYTES)
        .build(pattern)
        .map_err(|error| {
            let hint = if pattern.contains("(?=") || pattern.contains("(?!") || pattern.contains("(?<") {
                "; look-around is not supported: search for less and filter the lines"
            } else if pattern.contains('\n') {
                "; lines are matched one at a time"
            } else {
                "; literal=true takes it as plain text"
            };
            refuse(format!("is not accepted: {error}{hint}"))
        })
}

fn searcher(context: usize, window: Window) -> Searcher {
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        // A file that is cut off while it is mapped would end the process with SIGBUS.
        .memory_map(MmapChoice::never())
        .heap_limit(Some(LINE_BYTES))
        // One more than the window holds, to know whether there is more.
        .max_matches(Some(window.end() as u64 + 1))
        .build()
}
