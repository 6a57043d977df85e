//! Goes through commits, the newest first, each once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use gix_hash::ObjectId;

use super::objects::Step;
use super::open::Repository;
use crate::tool::ToolError;

/// Commits one call looks at. What is remembered of each is some 200 bytes at most.
const MOST_COMMITS: usize = 1_000_000;

/// The commits that are still to be looked at.
pub(super) struct Walk {
    heap: BinaryHeap<(i64, Reverse<usize>, Waiting)>,
    seen: HashSet<ObjectId>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    id: ObjectId,
    tree: ObjectId,
    parents: Vec<ObjectId>,
}

impl Walk {
    pub(super) fn new() -> Self {
        Self { heap: BinaryHeap::new(), seen: HashSet::new() }
    }

    /// Adds a commit, unless it was added before.
    pub(super) fn add(&mut self, repository: &Repository<'_>, id: ObjectId) -> Result<(), ToolError> {
        if self.seen.len() < MOST_COMMITS && self.seen.insert(id) {
            let Step { id, tree, parents, time } = repository.objects.step(id)?;
            // Among commits of one second, as they were met.
            self.heap.push((time, Reverse(self.seen.len()), Waiting { id, tree, parents }));
        }
        Ok(())
    }

    /// Adds a commit, also when it was looked at before: more of it is wanted now.
    pub(super) fn again(&mut self, repository: &Repository<'_>, id: ObjectId) -> Result<(), ToolError> {
        self.seen.remove(&id);
        self.add(repository, id)
    }

    /// The newest commit that is waiting.
    pub(super) fn next(&mut self) -> Option<Step> {
        let (time, _, Waiting { id, tree, parents }) = self.heap.pop()?;
        Some(Step { id, tree, parents, time })
    }

    /// Whether commits were left out because there are too many.
    pub(super) fn is_full(&self) -> bool {
        self.seen.len() >= MOST_COMMITS
    }

    /// Commits that were added so far.
    pub(super) fn looked_at(&self) -> usize {
        self.seen.len()
    }
}

impl Repository<'_> {
    /// The parents of a commit that the clone has.
    pub(super) fn parents(&self, step: &Step) -> Vec<ObjectId> {
        if self.shallow.contains(&step.id) { Vec::new() } else { step.parents.clone() }
    }
}
