//! Which commits of a walk are shown, and which parents it goes on to.

use std::collections::HashMap;
use std::ops::Range;

use gix_hash::ObjectId;

use super::lines;
use super::objects::{Entry, Step};
use super::open::Repository;
use crate::tool::ToolError;

/// A commit's parents, each with what it holds at a path.
type Parents = Vec<(ObjectId, Option<Entry>)>;

/// Trees whose entry is remembered.
const MOST_REMEMBERED: usize = 50_000;

/// What of the history is wanted.
pub(super) enum Follow {
    /// Every commit.
    All,
    /// Those that changed a path.
    Path(Entries),
    /// Those that changed lines of a file.
    Lines {
        /// The file.
        entries: Entries,
        /// The lines, counted from 0, as they stand in each commit that is waiting.
        ranges: HashMap<ObjectId, Range<u32>>,
    },
}

/// What trees hold at one path.
pub(super) struct Entries {
    path: Vec<u8>,
    known: HashMap<ObjectId, Option<Entry>>,
}

impl Entries {
    pub(super) fn new(path: Vec<u8>) -> Self {
        Self { path, known: HashMap::new() }
    }

    /// What a tree holds at the path.
    pub(super) fn at(&mut self, repository: &Repository<'_>, tree: ObjectId) -> Result<Option<Entry>, ToolError> {
        if let Some(known) = self.known.get(&tree) {
            return Ok(*known);
        }
        let entry = repository.objects.entry(tree, &self.path)?;
        if self.known.len() >= MOST_REMEMBERED {
            self.known.clear();
        }
        self.known.insert(tree, entry);
        Ok(entry)
    }

    /// What a commit and its parents hold.
    fn around(&mut self, repository: &Repository<'_>, step: &Step) -> Result<(Option<Entry>, Parents), ToolError> {
        let here = self.at(repository, step.tree)?;
        let mut parents = Vec::new();
        for id in repository.parents(step) {
            let tree = repository.objects.step(id)?.tree;
            parents.push((id, self.at(repository, tree)?));
        }
        Ok((here, parents))
    }
}

impl Follow {
    /// Whether a commit is shown, and the parents to go on to.
    ///
    /// As git simplifies a history: where a parent has the same, the change is not this commit's, and only that parent can
    /// know more of it.
    pub(super) fn look(
        &mut self,
        repository: &Repository<'_>,
        step: &Step,
    ) -> Result<(bool, Vec<ObjectId>), ToolError> {
        match self {
            Self::All => Ok((true, repository.parents(step))),
            Self::Path(entries) => {
                let (here, parents) = entries.around(repository, step)?;
                if let Some((same, _)) = parents.iter().find(|(_, entry)| *entry == here) {
                    return Ok((false, vec![*same]));
                }
                let shown = here.is_some() || !parents.is_empty();
                Ok((shown, parents.into_iter().map(|(id, _)| id).collect()))
            }
            Self::Lines { entries, ranges } => {
                let Some(range) = ranges.remove(&step.id) else { return Ok((false, Vec::new())) };
                let (here, parents) = entries.around(repository, step)?;
                let Some(here) = here else { return Ok((false, Vec::new())) };
                if let Some((same, _)) =
                    parents.iter().find(|(_, entry)| entry.is_some_and(|entry| entry.id == here.id))
                {
                    join(ranges, *same, range);
                    return Ok((false, vec![*same]));
                }
                let after = content(repository, here)?;
                let mut next = Vec::new();
                for (id, entry) in parents {
                    let Some(entry) = entry.filter(|entry| entry.mode.is_blob()) else { continue };
                    let before = content(repository, entry)?;
                    let changes = lines::changes(&before, &after);
                    let Some(earlier) = lines::before(&range, &changes) else { continue };
                    if !lines::touches(&range, &changes) {
                        join(ranges, id, earlier);
                        return Ok((false, vec![id]));
                    }
                    next.push((id, earlier));
                }
                Ok((
                    true,
                    next.into_iter()
                        .map(|(id, earlier)| {
                            join(ranges, id, earlier);
                            id
                        })
                        .collect(),
                ))
            }
        }
    }
}

/// A commit that is reached by two ways is looked at once, for all lines it was reached for.
fn join(ranges: &mut HashMap<ObjectId, Range<u32>>, id: ObjectId, range: Range<u32>) {
    ranges
        .entry(id)
        .and_modify(|known| *known = known.start.min(range.start)..known.end.max(range.end))
        .or_insert(range);
}

/// A version of a file that is followed by lines.
pub(super) fn content(repository: &Repository<'_>, entry: Entry) -> Result<Vec<u8>, ToolError> {
    repository.objects.budget().check()?;
    match repository.objects.blob(&entry.id, lines::MOST_BYTES)? {
        Some(content) if !lines::is_binary(&content) => Ok(content),
        Some(_) => Err(ToolError::Failed("a version of the file is binary; it has no lines to follow".to_owned())),
        None => Err(ToolError::Failed(format!(
            "a version of the file has more than {} MiB; it is not followed by lines",
            lines::MOST_BYTES >> 20
        ))),
    }
}
