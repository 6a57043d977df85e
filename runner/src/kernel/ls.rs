//! `ls`: the entries of a folder, or of a few levels of a tree.

use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ignored::is_git;
use super::roots::{FileKind, Located, PathError, Place, Root, Roots};
use super::{Allowance, Cancel, Form, Window, arguments, display};
use crate::tool::{ToolError, ToolOutput};
use anchorhold_plan::WORKSPACE;

pub(super) const DESCRIPTION: &str = "Lists a folder, sorted by name, hidden files included: folders end in /, links show \
their target. Without path: /workspace, the folder of all sources. depth=2 or more lists a tree. At most 200 entries without limit.";

pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(arguments::schema::<Arguments>);

const DEFAULT_ENTRIES: usize = 200;
const MODEL_ENTRIES: usize = 2_000;
const SCRIPT_ENTRIES: usize = 200_000;
/// Levels of a tree in one answer.
const MAX_DEPTH: usize = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    /// The folder: /workspace, /workspace/<source>/…, /out/…, or relative to /workspace. Default /workspace.
    path: Option<String>,
    /// Levels to list, 1 to 10. Default 1.
    depth: Option<i64>,
    /// First entry, counted from 1. Default 1.
    offset: Option<i64>,
    /// Number of entries. Default 200.
    limit: Option<i64>,
    /// "text" (default) or "json".
    output: Option<Form>,
}

/// One line of the answer.
struct Listed {
    /// Path from the folder that was asked for.
    name: String,
    kind: FileKind,
    size: Option<u64>,
    target: Option<String>,
}

pub(super) fn call(roots: &Roots, arguments: Value, allowance: &Allowance) -> Result<ToolOutput, ToolError> {
    let Arguments { path, depth, offset, limit, output } = arguments::parse("ls", &SCHEMA, arguments)?;
    let path = path.unwrap_or_else(|| WORKSPACE.to_owned());
    let most = allowance.cap(MODEL_ENTRIES, SCRIPT_ENTRIES);
    let window = Window::parse("ls", offset, limit, DEFAULT_ENTRIES, most)?;
    let depth = match depth.map(usize::try_from) {
        None => 1,
        Some(Ok(depth)) if (1..=MAX_DEPTH).contains(&depth) => depth,
        Some(_) => {
            return Err(ToolError::InvalidArguments(format!("ls: depth must be between 1 and {MAX_DEPTH}")));
        }
    };
    let form = output.unwrap_or_default();

    let mut listing =
        Listing { window, passed: 0, seen: 0, complete: true, entries: Vec::new(), cancel: &allowance.cancel };
    let shown = match roots.locate(&path)? {
        Place::Workspace => {
            for source in roots.sources() {
                listing.seen += 1;
                listing.add(source, Path::new(""), Path::new(source.name()), FileKind::Folder, depth)?;
            }
            WORKSPACE.to_owned()
        }
        Place::Beneath(Located { root, below, kind: FileKind::Folder, named }) => {
            let below = match root.projected() {
                Some(projected) if below.as_os_str().is_empty() => projected,
                _ => below,
            };
            listing.folder(root, &below, Path::new(""), depth)?;
            named
        }
        Place::Beneath(Located { kind, named, .. }) => {
            return Err(ToolError::Failed(format!("{named} is {kind}, not a folder; read it with read")));
        }
    };
    let Listing { passed, seen, complete, mut entries, .. } = listing;
    // Of a tree only as much is looked at as the window needs.
    let total = (depth == 1).then_some(seen);
    fit(&mut entries, allowance.result_bytes);
    let next =
        (!complete || entries.len() < passed.saturating_sub(window.offset - 1)).then(|| window.offset + entries.len());
    Ok(match form {
        Form::Text => ToolOutput::Text(text(&shown, &entries, window, total, next)),
        Form::Json => ToolOutput::Json(value(&shown, entries, total, next)),
    })
}

/// What was listed so far.
struct Listing<'a> {
    window: Window,
    /// Entries met, those before the window included.
    passed: usize,
    /// Entries of the folders that were listed.
    seen: u64,
    complete: bool,
    entries: Vec<Listed>,
    cancel: &'a Cancel,
}

impl Listing<'_> {
    fn is_full(&self) -> bool {
        self.passed >= self.window.end()
    }

    /// Lists the entries of a folder, and `depth - 1` levels below it.
    fn folder(&mut self, root: &Root, below: &Path, relative: &Path, depth: usize) -> Result<(), ToolError> {
        self.cancel.check()?;
        // Only as many names are kept as the window still needs: a folder may have millions.
        let needed = self.window.end().saturating_sub(self.passed);
        let mut smallest: BinaryHeap<Vec<u8>> = BinaryHeap::new();
        let hide = below.as_os_str().is_empty() && root.projected().is_some();
        for (index, entry) in root.entries(below)?.enumerate() {
            if index % 4096 == 4095 {
                self.cancel.check()?;
            }
            let entry = entry.map_err(|source| PathError::Io { path: root.shown().to_owned(), source })?;
            if hide && entry.name.starts_with(b"..") {
                continue;
            }
            self.seen += 1;
            smallest.push(entry.name);
            if smallest.len() > needed {
                smallest.pop();
                self.complete = false;
            }
        }
        for name in smallest.into_sorted_vec() {
            let name = OsStr::from_bytes(&name);
            let (here, relative) = (below.join(name), relative.join(name));
            let kind = root.describe(&here).map_or(FileKind::Unknown, |(kind, _)| kind);
            self.add(root, &here, &relative, kind, depth)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        root: &Root,
        below: &Path,
        relative: &Path,
        kind: FileKind,
        depth: usize,
    ) -> Result<(), ToolError> {
        if self.is_full() {
            self.complete = false;
            return Ok(());
        }
        self.passed += 1;
        if self.passed >= self.window.offset {
            let size = root.describe(below).ok().filter(|_| kind == FileKind::File).map(|(_, size)| size);
            let target = (kind == FileKind::Link)
                .then(|| root.read_link(below).ok().map(|target| display::name(&target)))
                .flatten();
            self.entries.push(Listed { name: display::path(relative), kind, size, target });
        }
        let opens = kind == FileKind::Folder && depth > 1;
        if opens && !relative.file_name().is_some_and(|name| is_git(name.as_bytes())) {
            match self.folder(root, below, relative, depth - 1) {
                // A folder that cannot be read is shown by its name; its caller may ask for it and gets the reason.
                Err(ToolError::Failed(_)) => {}
                other => other?,
            }
        }
        Ok(())
    }
}

/// Leaves out from the end what does not fit the answer.
fn fit(entries: &mut Vec<Listed>, bytes: usize) {
    const FRAME: usize = 512;
    let mut left = bytes.saturating_sub(FRAME);
    let mut fitting = 0;
    for entry in &*entries {
        // As JSON, with room for the keys.
        let size = 2 * (entry.name.len() + entry.target.as_ref().map_or(0, String::len)) + 64;
        let Some(rest) = left.checked_sub(size) else { break };
        left = rest;
        fitting += 1;
    }
    entries.truncate(fitting);
}

fn text(shown: &str, entries: &[Listed], window: Window, total: Option<u64>, next: Option<usize>) -> String {
    if entries.is_empty() && next.is_none() {
        return match window.offset {
            1 => format!("[{shown} is empty]"),
            offset => format!("[{shown} has fewer than {offset} entries]"),
        };
    }
    let mut lines: Vec<String> = entries
        .iter()
        .map(|entry| match (entry.kind, &entry.target) {
            (FileKind::Folder, _) => format!("{}/", entry.name),
            (FileKind::Link, Some(target)) => format!("{} -> {target}", entry.name),
            (FileKind::File | FileKind::Link, _) => entry.name.clone(),
            (kind, _) => format!("{} ({})", entry.name, kind.word()),
        })
        .collect();
    if let Some(next) = next {
        let of = total.map(|total| format!(", {} in all", display::grouped(total))).unwrap_or_default();
        lines.push(format!("[more entries follow{of}: continue with offset={next}]"));
    }
    lines.join("\n")
}

fn value(shown: &str, entries: Vec<Listed>, total: Option<u64>, next: Option<usize>) -> Value {
    let entries: Vec<Value> = entries.into_iter().map(entry).collect();
    let cut = next.is_some();
    json!({"path": shown, "entries": entries, "total": total, "cut": cut, "next": next.map(|offset| json!({"offset": offset}))})
}

fn entry(listed: Listed) -> Value {
    let Listed { name, kind, size, target } = listed;
    let mut entry = Map::new();
    entry.insert("name".to_owned(), name.into());
    entry.insert("type".to_owned(), kind.word().into());
    if let Some(size) = size {
        entry.insert("size".to_owned(), size.into());
    }
    if let Some(target) = target {
        entry.insert("target".to_owned(), target.into());
    }
    Value::Object(entry)
}
