//! `git_log`: commits, the newest first.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::roots::Roots;
use super::super::{Allowance, Form, Window, arguments, display};
use super::budget::Budget;
use super::follow::{Entries, Follow, content};
use super::lines;
use super::objects::{Commit, Step};
use super::open::{self, Found, Repository};
use super::period::Period;
use super::revision::{self, short};
use super::walk::Walk;
use crate::tool::{ToolError, ToolOutput};

pub(in super::super) const DESCRIPTION: &str = "Lists commits, newest first, one line each: hash, day, author, subject. At most \
20 without limit. With path: the commits that changed it (also one deleted since; renames are not followed); with range=\"10,20\" as \
well: those that changed these lines. Narrow with author, grep, since; then git_show one commit. output=\"json\" gives objects.";

pub(in super::super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

const DEFAULT_COMMITS: usize = 20;
const MOST_COMMITS: usize = 500;
/// Characters of a subject: more is a message without an empty line.
const SUBJECT_CHARACTERS: usize = 200;
/// Bytes of the answer that are no commits.
const FRAME_BYTES: usize = 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Arguments {
    /// A file or folder, or the repository: /workspace/<source>/…, or relative to /workspace. Default: the only source.
    path: Option<String>,
    /// Where to begin: a branch, a tag, a commit hash, HEAD~3. Default HEAD.
    revision: Option<String>,
    /// "first,last": only commits that changed these lines of the file, as they are counted at the revision. Needs path.
    range: Option<String>,
    /// Text in the author's name or address, whatever its case.
    author: Option<String>,
    /// Text in the message, whatever its case. No regular expression.
    grep: Option<String>,
    /// Only commits since then: 2026-05-01 or 2026-05-01T12:00:00Z.
    since: Option<String>,
    /// Only commits until then; a day counts as a whole.
    until: Option<String>,
    /// Number of commits, at most 500. Default 20.
    limit: Option<i64>,
    /// First commit of the list, counted from 1. Default 1.
    offset: Option<i64>,
    /// "text" (default) or "json".
    output: Option<Form>,
}

pub(in super::super) fn call(roots: &Roots, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
    let Arguments { path, revision, range, author, grep, since, until, limit, offset, output } =
        arguments::parse("git_log", &SCHEMA, arguments)?;
    let window = Window::parse("git_log", offset, limit, DEFAULT_COMMITS, MOST_COMMITS)?;
    let period = Period::parse(since.as_deref(), until.as_deref())?;
    let range = range.as_deref().map(parse_range).transpose()?;
    let revision = revision.unwrap_or_else(|| "HEAD".to_owned());
    revision::check("git_log", &revision)?;

    let budget = Budget::new(&allowance.cancel);
    let Found { repository, inner, named } = open::open(roots, path.as_deref(), &budget)?;
    let start = revision::commit(&repository, revision::resolve(&repository, &revision)?, &revision)?;
    let mut follow = match (range, inner.is_empty()) {
        (None, true) => Follow::All,
        (None, false) => Follow::Path(Entries::new(inner)),
        (Some(range), false) => {
            check_lines(&repository, start, &inner, &range, &named, &revision)?;
            Follow::Lines { entries: Entries::new(inner), ranges: HashMap::from([(start, range)]) }
        }
        (Some(_), true) => {
            return Err(ToolError::InvalidArguments("git_log: range needs the path of a file".to_owned()));
        }
    };
    let wanted =
        Wanted { period, author: author.map(|text| text.to_lowercase()), grep: grep.map(|text| text.to_lowercase()) };

    let mut walk = Walk::new();
    walk.add(&repository, start)?;
    let mut listing = Listing { window, passed: 0, more: false, commits: Vec::new(), ended_at: None };
    while let Some(step) = walk.next() {
        if budget.is_over() || walk.is_full() {
            listing.ended_at = Some(step.time);
            break;
        }
        // What waits is not newer than this, and the commits before those are older still.
        if step.time < period.since {
            break;
        }
        let (shown, parents) = follow.look(&repository, &step)?;
        for parent in parents {
            walk.add(&repository, parent)?;
        }
        if shown
            && let Some(commit) = wanted.take(&repository, &step, listing.passed + 1 < window.offset)?
            && !listing.add(commit)
        {
            break;
        }
    }
    Ok(match output.unwrap_or_default() {
        Form::Text => ToolOutput::Text(text(&named, &repository, listing, &walk, allowance.result_bytes)),
        Form::Json => ToolOutput::Json(value(&named, &repository, listing, allowance.result_bytes)),
    })
}

/// `first,last`, counted from 1, as a range counted from 0.
fn parse_range(text: &str) -> Result<Range<u32>, ToolError> {
    let parsed = text.split_once(',').and_then(|(first, last)| {
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        (1 <= first && first <= last).then(|| first - 1..last)
    });
    parsed.ok_or_else(|| {
        let shown = display::name(display::prefix(text, 60).as_bytes());
        ToolError::InvalidArguments(format!(
            "git_log: range must be \"first,last\", counted from 1, as in \"10,20\"; got the text \"{shown}\""
        ))
    })
}

fn check_lines(
    repository: &Repository<'_>,
    start: gix_hash::ObjectId,
    inner: &[u8],
    range: &Range<u32>,
    named: &str,
    revision: &str,
) -> Result<(), ToolError> {
    let tree = repository.objects.step(start)?.tree;
    let Some(entry) = repository.objects.entry(tree, inner)?.filter(|entry| entry.mode.is_blob()) else {
        return Err(ToolError::Failed(format!("{named} is no file at {revision}; range needs one")));
    };
    let count = lines::of(&content(repository, entry)?).count();
    if range.end as usize > count {
        return Err(ToolError::InvalidArguments(format!(
            "git_log: range ends at line {}, but {named} has {} at {revision}",
            range.end,
            display::count(count as u64, "line", "lines")
        )));
    }
    Ok(())
}

struct Wanted {
    period: Period,
    author: Option<String>,
    grep: Option<String>,
}

/// A commit of the list. One before the window has no content when nothing had to be looked for in it.
type Listed = Option<Commit>;

impl Wanted {
    /// The commit, if it is wanted.
    fn take(&self, repository: &Repository<'_>, step: &Step, before_window: bool) -> Result<Option<Listed>, ToolError> {
        let Self { period, author, grep } = self;
        if !period.holds(step.time) {
            return Ok(None);
        }
        if before_window && author.is_none() && grep.is_none() {
            return Ok(Some(None));
        }
        let commit = repository.objects.commit(step.id)?;
        let by = |author: &String| {
            format!("{} <{}>", commit.author.name, commit.author.email).to_lowercase().contains(author.as_str())
        };
        let says = |text: &String| commit.message.to_lowercase().contains(text.as_str());
        let wanted = author.as_ref().is_none_or(by) && grep.as_ref().is_none_or(says);
        Ok(wanted.then_some(Some(commit)))
    }
}

struct Listing {
    window: Window,
    /// Wanted commits met, those before the window included.
    passed: usize,
    /// Whether there is one after the window.
    more: bool,
    commits: Vec<Row>,
    /// The time of the commit at which the call's own time was over.
    ended_at: Option<i64>,
}

/// A commit without the rest of its message.
struct Row {
    commit: Commit,
    subject: String,
}

impl Listing {
    /// False when no more are needed.
    fn add(&mut self, listed: Listed) -> bool {
        if self.passed >= self.window.end() {
            self.more = true;
            return false;
        }
        self.passed += 1;
        if self.passed >= self.window.offset
            && let Some(mut commit) = listed
        {
            let subject = subject(&commit.message);
            commit.message = String::new();
            self.commits.push(Row { commit, subject });
        }
        true
    }
}

/// The first paragraph of a message on one line.
pub(super) fn subject(message: &str) -> String {
    let paragraph = message.trim_start_matches('\n').lines().take_while(|line| !line.trim().is_empty());
    let mut subject = String::new();
    for line in paragraph.take(20) {
        if !subject.is_empty() {
            subject.push(' ');
        }
        subject.push_str(display::prefix(line.trim(), 4 * SUBJECT_CHARACTERS));
    }
    let mut shown: String = subject.chars().take(SUBJECT_CHARACTERS).collect();
    if shown.len() < subject.len() {
        shown.push('…');
    }
    if shown.is_empty() { "(no message)".to_owned() } else { display::name(shown.as_bytes()) }
}

fn text(named: &str, repository: &Repository<'_>, listing: Listing, walk: &Walk, bytes: usize) -> String {
    let Listing { window, passed, mut more, commits, ended_at } = listing;
    let mut lines = Vec::new();
    let mut left = bytes.saturating_sub(FRAME_BYTES);
    let mut given = 0;
    for Row { commit, subject } in &commits {
        let line = format!("{} {} {}: {subject}", short(&commit.id), commit.author.day(), commit.author.name);
        let Some(rest) = left.checked_sub(line.len() + 1) else {
            more = true;
            break;
        };
        left = rest;
        given += 1;
        lines.push(line);
    }
    if more {
        lines.push(format!("[more commits follow: continue with offset={}]", window.offset + given));
    } else if let Some(time) = ended_at {
        let day =
            jiff::Timestamp::from_second(time).map(|time| time.strftime("%Y-%m-%d").to_string()).unwrap_or_default();
        lines.push(format!(
            "[not complete: {} commits back to {day} were looked at in {} s; go on with until={day}, or narrow with path]",
            display::grouped(walk.looked_at() as u64),
            Budget::seconds()
        ));
    } else if lines.is_empty() {
        lines.push(match passed {
            0 => format!(
                "[no commit of {named} is wanted; {} looked at]",
                display::count(walk.looked_at() as u64, "commit was", "commits were")
            ),
            _ => format!("[the list has fewer than {} commits: {passed} in all]", window.offset),
        });
    } else if !repository.shallow.is_empty() {
        lines.push("[the clone is shallow: older commits were not fetched]".to_owned());
    }
    lines.join("\n")
}

fn value(named: &str, repository: &Repository<'_>, listing: Listing, bytes: usize) -> Value {
    let Listing { window, mut more, commits, ended_at, .. } = listing;
    let mut left = bytes.saturating_sub(FRAME_BYTES);
    let mut values = Vec::new();
    for Row { commit, subject } in commits {
        let Commit { id, parents, author, committer, .. } = commit;
        let value = json!({
            "hash": id.to_string(),
            "author": author.name,
            "email": author.email,
            "time": author.time,
            "committed": committer.time,
            "subject": subject,
            "parents": parents.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        let Some(rest) = left.checked_sub(value.to_string().len() + 1) else {
            more = true;
            break;
        };
        left = rest;
        values.push(value);
    }
    let next = more.then(|| json!({"offset": window.offset + values.len()}));
    json!({
        "path": named,
        "commits": values,
        "complete": ended_at.is_none(),
        "shallow": !repository.shallow.is_empty(),
        "cut": next.is_some(),
        "next": next,
    })
}
