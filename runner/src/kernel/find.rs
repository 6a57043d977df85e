//! `find`: files by name.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::glob;
use super::roots::{FileKind, Located, Place, Roots};
use super::walk::{Met, Skipped, Step, Walk};
use super::{Allowance, Form, Window, arguments, display};
use crate::tool::{ToolError, ToolOutput};
use anchorhold_plan::WORKSPACE;

pub(super) const DESCRIPTION: &str = "Finds files by name. pattern is a glob: *.rs finds at any depth, src/**/*.rs matches the path \
below the folder searched, a pattern that ends in / finds folders. Hidden files are searched, .git is not; files that .gitignore names \
are skipped and counted (ignored=true includes them). Sorted by path; 50 results without limit.";

pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

pub(super) const DEFAULT_RESULTS: usize = 50;
pub(super) const MODEL_RESULTS: usize = 1_000;
pub(super) const SCRIPT_RESULTS: usize = 200_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The glob. Without a / it is matched against names, with one against paths below the folder searched.
    pattern: String,
    /// The folder to search. Default: all sources.
    path: Option<String>,
    /// First result, counted from 1. Default 1.
    offset: Option<i64>,
    /// Number of results. Default 50.
    limit: Option<i64>,
    /// Whether files that .gitignore names are found too. Default false.
    ignored: Option<bool>,
    /// "text" (default) or "json".
    output: Option<Form>,
}

/// The results and what there is to say of them.
struct Found {
    window: Window,
    /// Results met, those before the window included.
    passed: usize,
    bytes_left: usize,
    paths: Vec<String>,
    looked_at: u64,
    skipped: Skipped,
    more: bool,
}

pub(super) fn call(roots: &Roots, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
    let Arguments { pattern, path, offset, limit, ignored, output } = arguments::parse("find", &SCHEMA, arguments)?;
    let most = allowance.cap(MODEL_RESULTS, SCRIPT_RESULTS);
    let window = Window::parse("find", offset, limit, DEFAULT_RESULTS, most)?;
    let folders = pattern.ends_with('/');
    let matcher = glob::parse("find", "pattern", pattern.trim_end_matches('/'))?;
    let named = path.as_deref().unwrap_or(WORKSPACE);

    let walks = walks(roots, path.as_deref(), ignored.unwrap_or(false))?;
    let mut found = Found {
        window,
        passed: 0,
        bytes_left: allowance.result_bytes.saturating_sub(1024),
        paths: Vec::new(),
        looked_at: 0,
        skipped: Skipped::default(),
        more: false,
    };
    for walk in &walks {
        let mut skipped = Skipped::default();
        let step = walk.run(&allowance.cancel, &mut skipped, &mut |met| {
            let (item, is_folder, kind) = match met {
                Met::File(item) => (item, false, FileKind::File),
                Met::Link(item) => (item, false, FileKind::Link),
                Met::Folder(item) => (item, true, FileKind::Folder),
            };
            if !is_folder {
                found.looked_at += 1;
            }
            if is_folder != folders || !matcher.is_match(&item.relative) {
                return Step::On;
            }
            found.add(walk.shown(item), kind)
        })?;
        // Links are found by name here, so nothing of them was left out.
        found.skipped += Skipped { links: 0, ..skipped };
        if step == Step::End {
            break;
        }
    }
    Ok(match output.unwrap_or_default() {
        Form::Text => ToolOutput::Text(found.text(&pattern, named)),
        Form::Json => ToolOutput::Json(found.value()),
    })
}

/// The trees to search: the folder that was named, or every source.
pub(super) fn walks<'a>(
    roots: &'a Roots,
    path: Option<&str>,
    include_ignored: bool,
) -> Result<Vec<Walk<'a>>, ToolError> {
    let all = |prefix: &str| {
        let named = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        let mut sources: Vec<_> = roots.sources().iter().collect();
        sources.sort_unstable_by_key(|source| source.name());
        sources.into_iter().map(|source| Walk::whole(source, named(source.name()), include_ignored)).collect()
    };
    let Some(path) = path else { return Ok(all("")) };
    match roots.locate(path)? {
        Place::Workspace if path.starts_with('/') => Ok(all(WORKSPACE)),
        Place::Workspace => Ok(all("")),
        Place::Beneath(located @ Located { kind: FileKind::Folder, .. }) => {
            Ok(vec![Walk::of(located, include_ignored)])
        }
        Place::Beneath(Located { kind, named, .. }) => {
            Err(ToolError::Failed(format!("{named} is {kind}, not a folder")))
        }
    }
}

impl Found {
    fn add(&mut self, mut shown: String, kind: FileKind) -> Step {
        if self.passed >= self.window.end() {
            self.more = true;
            return Step::End;
        }
        if kind == FileKind::Folder {
            shown.push('/');
        }
        self.passed += 1;
        if self.passed >= self.window.offset {
            let Some(left) = self.bytes_left.checked_sub(shown.len() + 8) else {
                self.more = true;
                return Step::End;
            };
            self.bytes_left = left;
            self.paths.push(shown);
        }
        Step::On
    }

    fn next(&self) -> Option<usize> {
        self.more.then(|| self.window.offset + self.paths.len())
    }

    fn text(self, pattern: &str, named: &str) -> String {
        let next = self.next();
        let mut clauses = Vec::new();
        if self.paths.is_empty() && next.is_none() {
            let looked_at = display::count(self.looked_at, "file was", "files were");
            clauses.push(match self.passed {
                0 => format!(
                    "no name matches {} beneath {}; {looked_at} looked at",
                    display::name(pattern.as_bytes()),
                    display::name(named.as_bytes())
                ),
                found => format!("there are only {found} results; offset={} is beyond them", self.window.offset),
            });
        }
        if let Some(next) = next {
            clauses.push(format!("more results follow: continue with offset={next}, or narrow pattern or path"));
        }
        clauses.extend(self.skipped.clauses());
        let mut lines = self.paths;
        if !clauses.is_empty() {
            lines.push(format!("[{}]", clauses.join("; ")));
        }
        lines.join("\n")
    }

    fn value(self) -> Value {
        let next = self.next();
        let Skipped { ignored, links: _, special, unreadable } = self.skipped;
        json!({
            "paths": self.paths,
            "cut": next.is_some(),
            "next": next.map(|offset| json!({"offset": offset})),
            "lookedAt": self.looked_at,
            "skipped": {"ignored": ignored, "special": special, "unreadable": unreadable},
        })
    }
}
