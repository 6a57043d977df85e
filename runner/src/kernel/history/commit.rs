//! A commit as it is shown: what it says, what it changed, and how.

use std::fmt::Write;

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_object::tree::EntryKind;

use super::super::display;
use super::changes::{self, Change};
use super::lines;
use super::objects::{Commit, Entry};
use super::open::Repository;
use super::patch::Patch;
use super::person::{self, Person};
use super::revision::{self, short};
use super::show::Size;
use crate::tool::ToolError;

/// Of a message.
const MESSAGE_LINES: usize = 100;
const MESSAGE_BYTES: usize = 8 << 10;
/// Files that are listed and compared.
const MOST_FILES: usize = 100;

/// The text of the commit, or of the tag with its commit. `within` is the path that narrows it, in the repository and as
/// it was named.
pub(super) fn text(
    repository: &Repository<'_>,
    object: ObjectId,
    revision: &str,
    within: (&[u8], &str),
    size: Size,
) -> Result<String, ToolError> {
    let mut text = String::new();
    if let Some((Kind::Tag, _)) = repository.objects.header(&object)? {
        tag(repository, object, &mut text)?;
    }
    let Commit { id, tree, parents, author, committer, message } =
        repository.objects.commit(revision::commit(repository, object, revision)?)?;
    let _ = writeln!(text, "commit {id}");
    if parents.len() > 1 {
        let shown: Vec<String> = parents.iter().map(short).collect();
        let _ = writeln!(text, "merge of {} (the diff is to the first)", shown.join(" "));
    }
    let _ = writeln!(text, "author {}", signed(&author));
    if (&committer.name, &committer.email) != (&author.name, &author.email) {
        let _ = writeln!(text, "committer {}", signed(&committer));
    }
    text.push('\n');
    indented(&mut text, &message);

    let shallow = repository.shallow.contains(&id);
    let before = match parents.first() {
        Some(parent) if !shallow => Some(repository.objects.step(*parent)?.tree),
        _ => None,
    };
    let (mut files, partial) = changes::between(&repository.objects, before, tree)?;
    let (inner, named) = within;
    if !inner.is_empty() {
        files.retain(|change| {
            change.path.strip_prefix(inner).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        });
    }
    text.push('\n');
    let count = display::count(files.len() as u64, "file", "files");
    let more = if partial { " or more" } else { "" };
    let beneath = if inner.is_empty() { String::new() } else { format!(" of {named}") };
    let _ = writeln!(
        text,
        "{count}{more}{beneath} changed{}",
        if shallow { " (the clone is shallow: shown against nothing)" } else { "" }
    );
    let mut patch = Patch::new(size.lines, size.bytes);
    let mut rows = Vec::new();
    for change in files.iter().take(MOST_FILES) {
        repository.objects.budget().check()?;
        rows.push(file(repository, change, &mut patch)?);
    }
    text.push_str(&rows.concat());
    if files.len() > MOST_FILES {
        let left = display::count((files.len() - MOST_FILES) as u64, "more file is", "more files are");
        let _ = writeln!(text, "[{left} not listed: narrow with path]");
    }
    if !patch.text.is_empty() {
        text.push('\n');
        text.push_str(&patch.text);
    }
    if patch.is_full() {
        let left = display::count(patch.left_out as u64, "line was", "lines were");
        let _ = writeln!(text, "[the diff is cut: {left} left out; name one file with path, or give a larger limit]");
    }
    text.truncate(text.trim_end_matches('\n').len());
    Ok(text)
}

fn signed(person: &Person) -> String {
    let Person { name, email, time } = person;
    format!("{name} <{email}> {time}")
}

/// The message, set in, so that no line of it reads as one of ours.
fn indented(text: &mut String, message: &str) {
    let message = message.trim_matches('\n');
    let mut room = MESSAGE_BYTES;
    for (index, line) in message.lines().enumerate() {
        if index >= MESSAGE_LINES || line.len() > room {
            let first = if index == 0 { display::prefix(line, room) } else { "" };
            let _ = writeln!(
                text,
                "    {first}\n    [the message is cut: {} bytes in all]",
                display::grouped(message.len() as u64)
            );
            return;
        }
        room -= line.len();
        let _ = writeln!(text, "    {}", display::name(line.replace('\t', "    ").as_bytes()));
    }
}

fn tag(repository: &Repository<'_>, id: ObjectId, text: &mut String) -> Result<(), ToolError> {
    let mut buffer = Vec::new();
    let data = repository.objects.get(&id, &mut buffer)?;
    let tag =
        gix_object::TagRef::from_bytes(data.data, gix_hash::Kind::Sha1).map_err(|_| repository.objects.damaged(&id))?;
    let _ = writeln!(text, "tag {}", display::name(tag.name));
    if let Some(tagger) = tag.tagger {
        let _ = writeln!(text, "tagger {}", signed(&Person::parse(tagger, None)));
    }
    text.push('\n');
    indented(text, &person::decoded(tag.message, None));
    text.push('\n');
    Ok(())
}

/// One side of a changed file.
enum Side {
    Absent,
    Text(Vec<u8>),
    /// Why it is not compared.
    Opaque(&'static str),
}

fn side(repository: &Repository<'_>, entry: Option<Entry>) -> Result<Side, ToolError> {
    let Some(Entry { mode, id }) = entry else { return Ok(Side::Absent) };
    Ok(match mode.kind() {
        EntryKind::Commit => Side::Text(format!("Subproject commit {id}\n").into_bytes()),
        EntryKind::Tree => Side::Absent,
        EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => {
            match repository.objects.blob(&id, lines::MOST_BYTES)? {
                Some(content) if lines::is_binary(&content) => Side::Opaque("binary"),
                Some(content) => Side::Text(content),
                None => Side::Opaque("too large to compare"),
            }
        }
    })
}

/// Adds a file's diff to the patch; returns its row in the list.
fn file(repository: &Repository<'_>, change: &Change, patch: &mut Patch) -> Result<String, ToolError> {
    let Change { path, before, after } = change;
    let name = display::name(path);
    let letter = match (before, after) {
        (None, _) => 'A',
        (_, None) => 'D',
        (Some(_), Some(_)) => 'M',
    };
    let mode = match (before, after) {
        (Some(before), Some(after)) if before.mode != after.mode => {
            format!(" (mode {:o} to {:o})", before.mode.value(), after.mode.value())
        }
        _ => String::new(),
    };
    let (old, new) = match (side(repository, *before)?, side(repository, *after)?) {
        (Side::Opaque(why), _) | (_, Side::Opaque(why)) => return Ok(format!("{letter} {why} {name}{mode}\n")),
        (old, new) => (content(old), content(new)),
    };
    let changes = lines::changes(&old, &new);
    let added: u32 = changes.iter().map(|change| change.after.end - change.after.start).sum();
    let removed: u32 = changes.iter().map(|change| change.before.end - change.before.start).sum();
    if !changes.is_empty() {
        let side = |entry: &Option<Entry>, letter| {
            if entry.is_some() { format!("{letter}/{name}") } else { "/dev/null".to_owned() }
        };
        patch.line(&format!("diff --git a/{name} b/{name}"));
        patch.line(&format!("--- {}", side(before, 'a')));
        patch.line(&format!("+++ {}", side(after, 'b')));
        patch.hunks(&old, &new, &changes);
    }
    Ok(format!("{letter} +{added} -{removed} {name}{mode}\n"))
}

fn content(side: Side) -> Vec<u8> {
    match side {
        Side::Text(content) => content,
        Side::Absent | Side::Opaque(_) => Vec::new(),
    }
}
