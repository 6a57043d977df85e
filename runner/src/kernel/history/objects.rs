//! The objects of a repository, each read within a bound.

use std::cell::RefCell;
use std::collections::HashMap;

use gix_hash::{ObjectId, Prefix, oid};
use gix_object::bstr::ByteSlice;
use gix_object::tree::EntryMode;
use gix_object::{CommitRef, Data, Find, FindHeader, Kind, TreeRefIter};
use gix_odb::store::init::Options;
use gix_pack::cache::lru::StaticLinkedList;

use super::budget::Budget;
use super::ground::Spot;
use super::person::Person;
use crate::tool::ToolError;

/// Bytes of one object, and of every step on the way to it: what a chain of deltas may make the store allocate. A tree of
/// 1,000,000 entries has less; a larger file is of no use line by line.
const MOST_OBJECT_BYTES: usize = 64 << 20;
/// Bytes of decoded objects that are kept: most of the bases of a chain of deltas are needed again at once.
const CACHE_BYTES: usize = 24 << 20;

/// Commits that are remembered, of at most some 200 bytes each.
const MOST_STEPS: usize = 20_000;
/// Parents of a commit that is remembered.
const FEW_PARENTS: usize = 4;

/// A repository's objects.
pub(super) struct Objects {
    handle: gix_odb::Handle,
    /// A commit is met as a parent first and then by itself.
    steps: RefCell<HashMap<ObjectId, Step>>,
    budget: Budget,
    shown: String,
}

/// What a commit says, its message included.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    pub(super) id: ObjectId,
    pub(super) tree: ObjectId,
    pub(super) parents: Vec<ObjectId>,
    pub(super) author: Person,
    pub(super) committer: Person,
    pub(super) message: String,
}

/// What a walk needs of a commit.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) id: ObjectId,
    pub(super) tree: ObjectId,
    pub(super) parents: Vec<ObjectId>,
    /// When it was committed, in seconds since 1970.
    pub(super) time: i64,
}

/// What a tree holds at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: EntryMode,
    pub(super) id: ObjectId,
}

impl Objects {
    /// Opens the store in a folder that was looked through.
    pub(super) fn open(folder: &Spot<'_>, shown: &str, budget: Budget) -> Result<Self, ToolError> {
        let options = Options { alloc_limit_bytes: Some(MOST_OBJECT_BYTES), ..Options::default() };
        let mut handle = gix_odb::at_opts(&folder.real, gix_hash::Kind::Sha1, None, options)
            .map_err(|_| ToolError::Failed(format!("{} cannot be read as an object folder of git", folder.shown())))?;
        handle.set_pack_cache(|| Box::new(StaticLinkedList::<64>::new(CACHE_BYTES)));
        // Everything is listed once; an object that is missing then is missing.
        handle.refresh_never();
        Ok(Self { handle, steps: RefCell::default(), budget, shown: shown.to_owned() })
    }

    /// The time the call has.
    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Kind and size of an object; `None` when there is none.
    pub(super) fn header(&self, id: &oid) -> Result<Option<(Kind, u64)>, ToolError> {
        self.budget.check()?;
        match FindHeader::try_header(&self.handle, id) {
            Ok(header) => Ok(header.map(|header| (header.kind, header.size))),
            Err(_) => Err(self.damaged(id)),
        }
    }

    /// The object, whatever it is.
    pub(super) fn get<'b>(&self, id: &oid, buffer: &'b mut Vec<u8>) -> Result<Data<'b>, ToolError> {
        self.budget.check()?;
        match Find::try_find(&self.handle, id, buffer) {
            Ok(Some(data)) => Ok(data),
            Ok(None) => Err(ToolError::Failed(format!(
                "object {id} is not in {}: the clone is partial, or the repository is damaged",
                self.shown
            ))),
            Err(_) => match FindHeader::try_header(&self.handle, id) {
                Ok(Some(header)) if header.size > MOST_OBJECT_BYTES as u64 => Err(ToolError::Failed(format!(
                    "object {id} has {} bytes; at most {} are read",
                    super::super::display::grouped(header.size),
                    super::super::display::grouped(MOST_OBJECT_BYTES as u64)
                ))),
                _ => Err(self.damaged(id)),
            },
        }
    }

    pub(super) fn damaged(&self, id: &oid) -> ToolError {
        ToolError::Failed(format!(
            "object {id} of {} is damaged or too large to decode; git fsck says more",
            self.shown
        ))
    }

    /// A commit with its message.
    pub(super) fn commit(&self, id: ObjectId) -> Result<Commit, ToolError> {
        let mut buffer = Vec::new();
        let commit = self.commit_in(id, &mut buffer)?;
        let encoding = commit.encoding.map(|name| name.as_bytes());
        Ok(Commit {
            id,
            tree: commit.tree(),
            parents: commit.parents().collect(),
            author: Person::parse(commit.author, encoding),
            committer: Person::parse(commit.committer, encoding),
            message: super::person::decoded(commit.message, encoding),
        })
    }

    /// A commit as a walk needs it.
    pub(super) fn step(&self, id: ObjectId) -> Result<Step, ToolError> {
        if let Some(known) = self.steps.borrow().get(&id) {
            self.budget.check()?;
            return Ok(known.clone());
        }
        let mut buffer = Vec::new();
        let commit = self.commit_in(id, &mut buffer)?;
        let time = Person::seconds(commit.committer);
        let step = Step { id, tree: commit.tree(), parents: commit.parents().collect(), time };
        let mut steps = self.steps.borrow_mut();
        if steps.len() >= MOST_STEPS {
            steps.clear();
        }
        if step.parents.len() <= FEW_PARENTS {
            steps.insert(id, step.clone());
        }
        Ok(step)
    }

    fn commit_in<'b>(&self, id: ObjectId, buffer: &'b mut Vec<u8>) -> Result<CommitRef<'b>, ToolError> {
        let data = self.get(&id, buffer)?;
        if data.kind != Kind::Commit {
            return Err(ToolError::Failed(format!("object {id} is a {}, where a commit is needed", data.kind)));
        }
        CommitRef::from_bytes(data.data, gix_hash::Kind::Sha1).map_err(|_| self.damaged(&id))
    }

    /// What a tree holds at a path; an empty path is the tree itself.
    pub(super) fn entry(&self, tree: ObjectId, path: &[u8]) -> Result<Option<Entry>, ToolError> {
        let mut at = Entry { mode: gix_object::tree::EntryKind::Tree.into(), id: tree };
        let mut buffer = Vec::new();
        for name in path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            if !at.mode.is_tree() {
                return Ok(None);
            }
            let mut found = None;
            for entry in self.tree(&at.id, &mut buffer)? {
                let entry = entry.map_err(|_| self.damaged(&at.id))?;
                if entry.filename == name {
                    found = Some(Entry { mode: entry.mode, id: entry.oid.to_owned() });
                    break;
                }
            }
            match found {
                Some(entry) => at = entry,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// The entries of a tree.
    pub(super) fn tree<'b>(&self, id: &oid, buffer: &'b mut Vec<u8>) -> Result<TreeRefIter<'b>, ToolError> {
        let data = self.get(id, buffer)?;
        data.try_into_tree_iter().ok_or_else(|| {
            ToolError::Failed(format!("object {id} is no tree, where one is needed; the repository is damaged"))
        })
    }

    /// The content of a file of at most `most` bytes; `None` when it is larger.
    pub(super) fn blob(&self, id: &oid, most: usize) -> Result<Option<Vec<u8>>, ToolError> {
        match self.header(id)? {
            Some((Kind::Blob, size)) if size > most as u64 => return Ok(None),
            _ => {}
        }
        let mut buffer = Vec::new();
        let data = self.get(id, &mut buffer)?;
        if data.kind != Kind::Blob {
            return Err(ToolError::Failed(format!("object {id} is a {}, where a file is needed", data.kind)));
        }
        let length = data.data.len();
        buffer.truncate(length);
        Ok(Some(buffer))
    }

    /// The one object whose name begins so; `Err` inside when there are several.
    pub(super) fn by_prefix(&self, prefix: Prefix) -> Result<Option<Result<ObjectId, ()>>, ToolError> {
        self.budget.check()?;
        self.handle.lookup_prefix(prefix, None).map_err(|_| {
            ToolError::Failed(format!("the objects of {} cannot be listed; git fsck says more", self.shown))
        })
    }
}

/// For the libraries that read objects themselves: they end with the call.
impl Find for Objects {
    fn try_find<'a>(&self, id: &oid, buffer: &'a mut Vec<u8>) -> gix_error::Result<Option<Data<'a>>> {
        if self.budget.check().is_err() {
            return Err(gix_error::Error::from_error(gix_error::message("the call was ended")));
        }
        self.handle.try_find(id, buffer)
    }
}
