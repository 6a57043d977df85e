//! Puts the lines that were found into one answer, and says what was and was not looked at.

use std::ops::AddAssign;

use serde_json::{Map, Value, json};

use super::haystack::{Line, Role, Searched};
use crate::kernel::walk::Skipped;
use crate::kernel::{Form, Window, display};
use crate::tool::ToolOutput;

/// Bytes of an answer kept for the sentence at its end.
const NOTICE_BYTES: usize = 1024;

/// What was looked at and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Looked {
    pub(super) files: u64,
    pub(super) binary: u64,
    pub(super) long_line: u64,
    pub(super) unreadable: u64,
    pub(super) skipped: Skipped,
}

/// An answer as it grows.
pub(super) struct Answer {
    window: Window,
    form: Form,
    /// Whether groups of lines are set apart.
    separated: bool,
    /// The file and line the answer ends with so far.
    last: Option<(String, u64)>,
    bytes_left: usize,
    /// Matches met, those before the window included.
    pub(super) passed: usize,
    /// Matches in the answer.
    shown: usize,
    more: bool,
    lines: Vec<String>,
    values: Vec<Value>,
    pub(super) looked: Looked,
}

/// A match with the lines around it.
struct Group<'a> {
    before: Vec<&'a Line>,
    matched: &'a Line,
    after: Vec<&'a Line>,
}

impl Answer {
    pub(super) fn new(window: Window, result_bytes: usize, form: Form, separated: bool) -> Self {
        Self {
            window,
            form,
            separated,
            last: None,
            bytes_left: result_bytes.saturating_sub(NOTICE_BYTES),
            passed: 0,
            shown: 0,
            more: false,
            lines: Vec::new(),
            values: Vec::new(),
            looked: Looked::default(),
        }
    }

    /// Whether nothing more can be added.
    pub(super) fn is_full(&self) -> bool {
        self.more
    }

    /// Adds what a file gave.
    pub(super) fn add(&mut self, searched: &Searched) {
        self.looked.binary += u64::from(searched.binary);
        self.looked.long_line += u64::from(searched.long_line);
        self.looked.unreadable += u64::from(searched.unreadable);
        for group in groups(&searched.lines) {
            if self.passed >= self.window.end() {
                self.more = true;
            }
            if self.more {
                return;
            }
            self.passed += 1;
            if self.passed >= self.window.offset {
                self.show(&searched.path, &group);
            }
        }
    }

    fn show(&mut self, path: &str, group: &Group<'_>) {
        let (lines, value) = match self.form {
            Form::Text => (self.texts(path, group), Value::Null),
            Form::Json => (Vec::new(), value(path, group)),
        };
        let size = match self.form {
            Form::Text => lines.iter().map(|line| line.len() + 1).sum(),
            Form::Json => value.to_string().len() + 1,
        };
        let Some(left) = self.bytes_left.checked_sub(size) else {
            self.passed -= 1;
            self.more = true;
            return;
        };
        self.bytes_left = left;
        self.shown += 1;
        self.lines.extend(lines);
        if self.form == Form::Json {
            self.values.push(value);
        }
    }

    /// `path:line: text` for the match, `path-line- text` for the lines around it, `--` where lines are left out between.
    fn texts(&mut self, path: &str, group: &Group<'_>) -> Vec<String> {
        let Group { before, matched, after } = group;
        let first = before.first().unwrap_or(matched).number;
        let follows = self.last.as_ref().is_some_and(|(file, line)| file == path && line + 1 == first);
        let mut lines = Vec::new();
        if self.separated && self.last.is_some() && !follows {
            lines.push("--".to_owned());
        }
        lines.extend(before.iter().map(|line| format!("{path}-{}- {}", line.number, line.text)));
        lines.push(format!("{path}:{}: {}", matched.number, matched.text));
        lines.extend(after.iter().map(|line| format!("{path}-{}- {}", line.number, line.text)));
        self.last = Some((path.to_owned(), after.last().unwrap_or(matched).number));
        lines
    }

    /// The whole answer.
    pub(super) fn finish(self, pattern: &str, named: &str) -> ToolOutput {
        match self.form {
            Form::Text => ToolOutput::Text(self.text(pattern, named)),
            Form::Json => ToolOutput::Json(self.value()),
        }
    }

    fn next(&self) -> Option<usize> {
        self.more.then(|| self.window.offset + self.shown)
    }

    fn text(mut self, pattern: &str, named: &str) -> String {
        let mut clauses = Vec::new();
        if self.shown == 0 && !self.more {
            let files = display::count(self.looked.files, "file was", "files were");
            let pattern = display::name(display::prefix(pattern, 100).as_bytes());
            clauses.push(match self.passed {
                0 => format!("no line matches {pattern} in {}; {files} searched", display::name(named.as_bytes())),
                found => format!("there are only {found} matches; offset={} is beyond them", self.window.offset),
            });
        }
        if let Some(next) = self.next() {
            clauses.push(format!("more matches follow: continue with offset={next}, or narrow pattern, glob or path"));
        }
        clauses.extend(self.looked.clauses());
        if !clauses.is_empty() {
            self.lines.push(format!("[{}]", clauses.join("; ")));
        }
        self.lines.join("\n")
    }

    fn value(self) -> Value {
        let next = self.next();
        let Looked { files, binary, long_line, unreadable, skipped } = self.looked;
        json!({
            "matches": self.values,
            "cut": next.is_some(),
            "next": next.map(|offset| json!({"offset": offset})),
            "filesSearched": files,
            "skipped": {
                "ignored": skipped.ignored,
                "binary": binary,
                "longLine": long_line,
                "links": skipped.links,
                "special": skipped.special,
                "unreadable": unreadable + skipped.unreadable,
            },
        })
    }
}

/// Splits the lines of a file into matches with what stands around each. A line between two matches that are close
/// belongs to the first.
fn groups(lines: &[Line]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut before = Vec::new();
    for line in lines {
        match line.role {
            Role::Before => before.push(line),
            Role::Match => groups.push(Group { before: std::mem::take(&mut before), matched: line, after: Vec::new() }),
            Role::After => {
                if let Some(group) = groups.last_mut() {
                    group.after.push(line);
                }
            }
        }
    }
    groups
}

fn value(path: &str, group: &Group<'_>) -> Value {
    let Group { before, matched, after } = group;
    let mut value = Map::new();
    value.insert("path".to_owned(), path.into());
    value.insert("line".to_owned(), matched.number.into());
    value.insert("text".to_owned(), matched.text.as_str().into());
    let around = |lines: &[&Line]| -> Value {
        lines.iter().map(|line| json!({"line": line.number, "text": line.text})).collect()
    };
    if !before.is_empty() {
        value.insert("before".to_owned(), around(before));
    }
    if !after.is_empty() {
        value.insert("after".to_owned(), around(after));
    }
    Value::Object(value)
}

impl AddAssign for Looked {
    fn add_assign(&mut self, other: Self) {
        let Self { files, binary, long_line, unreadable, skipped } = other;
        self.files += files;
        self.binary += binary;
        self.long_line += long_line;
        self.unreadable += unreadable;
        self.skipped += skipped;
    }
}

impl Looked {
    fn clauses(&self) -> Vec<String> {
        let Self { files: _, binary, long_line, unreadable, skipped } = self;
        let mut clauses = skipped.clauses();
        if *binary > 0 {
            clauses.push(format!("{} not searched", display::count(*binary, "binary file was", "binary files were")));
        }
        if *long_line > 0 {
            let files = display::count(*long_line, "file has", "files have");
            clauses.push(format!("{files} a line over 16 MiB and was not searched beyond it"));
        }
        if *unreadable > 0 {
            clauses.push(format!("{} could not be read", display::count(*unreadable, "file", "files")));
        }
        clauses
    }
}
