//! Finds for each line of a file the commit that brought it in.

use std::collections::HashMap;
use std::ops::Range;

use gix_hash::ObjectId;

use super::follow::{Entries, content};
use super::lines;
use super::open::Repository;
use super::walk::Walk;
use crate::tool::ToolError;

/// Lines that are still looked for: where they are in a commit, and where they were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    here: Range<u32>,
    asked: u32,
}

/// The commit of each line of `asked`, in order; `None` for a line that was not found within the time.
///
/// Renames are not followed: the commit that gave a file its name is the one that brought in its lines.
pub(super) fn blame(
    repository: &Repository<'_>,
    commit: ObjectId,
    path: &[u8],
    asked: &Range<u32>,
) -> Result<Vec<Option<ObjectId>>, ToolError> {
    let mut found: Vec<Option<ObjectId>> = vec![None; asked.len()];
    let mut waiting: HashMap<ObjectId, Vec<Piece>> = HashMap::new();
    waiting.insert(commit, vec![Piece { here: asked.clone(), asked: 0 }]);
    let mut entries = Entries::new(path.to_vec());
    let mut walk = Walk::new();
    walk.add(repository, commit)?;
    while let Some(step) = walk.next() {
        if repository.objects.budget().is_over() {
            break;
        }
        let Some(mut pieces) = waiting.remove(&step.id) else { continue };
        let Some(entry) = entries.at(repository, step.tree)? else { continue };
        let mut parents = Vec::new();
        for id in repository.parents(&step) {
            let tree = repository.objects.step(id)?.tree;
            if let Some(earlier) = entries.at(repository, tree)?.filter(|earlier| earlier.mode.is_blob()) {
                parents.push((id, earlier));
            }
        }
        // A parent that has the very same file has all of its lines.
        if let Some((same, _)) = parents.iter().find(|(_, earlier)| earlier.id == entry.id) {
            waiting.entry(*same).or_default().append(&mut pieces);
            walk.again(repository, *same)?;
            continue;
        }
        let after = content(repository, entry)?;
        for (id, earlier) in parents {
            if pieces.is_empty() {
                break;
            }
            let changes = lines::changes(&content(repository, earlier)?, &after);
            let (passed, kept) = split(&pieces, &changes);
            pieces = kept;
            if !passed.is_empty() {
                waiting.entry(id).or_default().extend(passed);
                walk.again(repository, id)?;
            }
        }
        for Piece { here, asked } in pieces {
            for line in 0..here.len() {
                if let Some(slot) = found.get_mut(asked as usize + line) {
                    *slot = Some(step.id);
                }
            }
        }
    }
    Ok(found)
}

/// The pieces that a parent has as well, where it has them, and those that are new.
fn split(pieces: &[Piece], changes: &[gix_imara_diff::Hunk]) -> (Vec<Piece>, Vec<Piece>) {
    let (mut passed, mut kept) = (Vec::new(), Vec::new());
    for Piece { here, asked } in pieces {
        let part = |range: Range<u32>| (range.clone(), asked + (range.start - here.start));
        let mut at = here.start;
        let mut shift = 0_i64;
        let mut old = |range: Range<u32>, shift: i64| {
            if range.is_empty() {
                return;
            }
            let (range, asked) = part(range);
            let earlier = |line: u32| u32::try_from(i64::from(line) + shift).unwrap_or(0);
            passed.push(Piece { here: earlier(range.start)..earlier(range.end), asked });
        };
        let first = changes.partition_point(|change| change.after.end <= here.start);
        if let Some(last_before) = first.checked_sub(1).and_then(|index| changes.get(index)) {
            shift = i64::from(last_before.before.end) - i64::from(last_before.after.end);
        }
        for change in changes.get(first..).unwrap_or_default() {
            if change.after.start >= here.end {
                break;
            }
            old(at..change.after.start.max(at), shift);
            let new = change.after.start.max(at)..change.after.end.min(here.end);
            if !new.is_empty() {
                let (here, asked) = part(new);
                kept.push(Piece { here, asked });
            }
            at = change.after.end.clamp(at, here.end);
            shift = i64::from(change.before.end) - i64::from(change.after.end);
        }
        old(at..here.end, shift);
    }
    (passed, kept)
}
