//! A file or folder as it was in a commit.

use std::fmt::Write;

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;

use super::super::display;
use super::lines;
use super::objects::Entry;
use super::open::Repository;
use super::show::Size;
use crate::tool::ToolError;

/// Bytes of a file that is shown.
const MOST_BYTES: usize = 64 << 20;

/// The text of what `path` was in a commit.
pub(super) fn text(
    repository: &Repository<'_>,
    commit: ObjectId,
    revision: &str,
    path: &str,
    size: Size,
) -> Result<String, ToolError> {
    let tree = repository.objects.step(commit)?.tree;
    let shown = format!("{revision}:{path}");
    let Some(Entry { mode, id }) = repository.objects.entry(tree, path.as_bytes())? else {
        return Err(ToolError::Failed(format!(
            "{shown} does not exist in {}; git_show revision=\"{revision}:\" lists the top folder, git_log with path finds a deleted file",
            repository.shown
        )));
    };
    match mode.kind() {
        EntryKind::Tree => folder(repository, id, &shown, size),
        EntryKind::Commit => {
            Ok(format!("[{shown} is a submodule at commit {id}; its files are a repository of their own]"))
        }
        EntryKind::Link => {
            let target = repository.objects.blob(&id, 4096)?.unwrap_or_default();
            Ok(format!("[{shown} is a link to {}]", display::name(&target)))
        }
        EntryKind::Blob | EntryKind::BlobExecutable => file(repository, id, &shown, size),
    }
}

fn file(repository: &Repository<'_>, id: ObjectId, shown: &str, size: Size) -> Result<String, ToolError> {
    let Some(content) = repository.objects.blob(&id, MOST_BYTES)? else {
        return Err(ToolError::Failed(format!("{shown} has more than {} MiB; it is not shown", MOST_BYTES >> 20)));
    };
    if lines::is_binary(&content) {
        let bytes = display::grouped(content.len() as u64);
        return Err(ToolError::Failed(format!("{shown} is a binary file ({bytes} bytes); git_show returns text only")));
    }
    if content.is_empty() {
        return Ok(format!("[{shown} is empty]"));
    }
    let total = lines::of(&content).count();
    let Size { offset, lines: wanted, bytes } = size;
    if offset > total {
        return Err(ToolError::InvalidArguments(format!(
            "git_show: offset {offset} is beyond the end: {shown} has {}",
            display::count(total as u64, "line", "lines")
        )));
    }
    let mut text = String::new();
    let mut given = 0;
    for line in lines::of(&content).skip(offset - 1).take(wanted) {
        let line = String::from_utf8_lossy(line);
        if text.len() + line.len() > bytes {
            if given == 0 {
                text.push_str(display::prefix(&line, bytes));
                let _ = write!(
                    text,
                    "\n[line {offset} is longer than this answer: {} bytes]",
                    display::grouped(line.len() as u64)
                );
                given = 1;
            }
            break;
        }
        text.push_str(&line);
        given += 1;
    }
    let next = offset + given;
    if next <= total {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let more = display::count((total + 1 - next) as u64, "more line", "more lines");
        let _ = write!(text, "[{more} of {} in all; continue with offset={next}]", display::grouped(total as u64));
    }
    Ok(text)
}

fn folder(repository: &Repository<'_>, id: ObjectId, shown: &str, size: Size) -> Result<String, ToolError> {
    let mut buffer = Vec::new();
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut more = false;
    for (index, entry) in repository.objects.tree(&id, &mut buffer)?.enumerate() {
        let entry = entry.map_err(|_| repository.objects.damaged(&id))?;
        if index + 1 < size.offset {
            continue;
        }
        let name = display::name(entry.filename);
        let row = match entry.mode.kind() {
            EntryKind::Tree => format!("{name}/"),
            EntryKind::Commit => format!("{name} (submodule)"),
            EntryKind::Link => format!("{name} (link)"),
            EntryKind::Blob | EntryKind::BlobExecutable => name,
        };
        bytes += row.len() + 1;
        if rows.len() >= size.lines || bytes > size.bytes {
            more = true;
            break;
        }
        rows.push(row);
    }
    if more {
        rows.push(format!("[more entries follow: continue with offset={}]", size.offset + rows.len()));
    } else if rows.is_empty() {
        rows.push(if size.offset == 1 {
            format!("[{shown} is empty]")
        } else {
            format!("[{shown} has fewer than {} entries]", size.offset)
        });
    }
    Ok(rows.join("\n"))
}
