//! What differs between two trees.

use std::ops::ControlFlow;

use gix_diff::tree::{Recorder, State, Visit, recorder, visit};
use gix_hash::ObjectId;
use gix_object::TreeRefIter;
use gix_object::bstr::{BStr, BString};

use super::objects::{Entry, Objects};
use crate::tool::ToolError;

/// Entries that may differ, and the bytes of their paths: a damaged tree may hold itself, and would never end.
const MOST_CHANGES: usize = 200_000;
const MOST_PATHS_BYTES: usize = 32 << 20;
/// Bytes of one path, as in Linux.
const MOST_PATH_BYTES: usize = 4096;

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: BString,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

/// The files that differ, sorted by path, and whether there are more than are looked at.
pub(super) fn between(
    objects: &Objects,
    before: Option<ObjectId>,
    after: ObjectId,
) -> Result<(Vec<Change>, bool), ToolError> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let nothing = || TreeRefIter::from_bytes(&[], gix_hash::Kind::Sha1);
    let old = before.map_or_else(|| Ok(nothing()), |id| objects.tree(&id, &mut old))?;
    let new = objects.tree(&after, &mut new)?;
    let mut bounded = Bounded { recorder: Recorder::default(), entries: 0, bytes: 0, changes: Vec::new(), full: false };
    let result = gix_diff::tree(old, new, State::default(), objects, &mut bounded);
    objects.budget().check()?;
    match result {
        Ok(()) => {}
        Err(gix_diff::tree::Error::Cancelled) if bounded.full => {}
        Err(_) => return Err(objects.damaged(&after)),
    }
    bounded.changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((bounded.changes, bounded.full))
}

/// Keeps what is no folder.
struct Bounded {
    recorder: Recorder,
    entries: usize,
    bytes: usize,
    changes: Vec<Change>,
    full: bool,
}

impl Visit for Bounded {
    fn pop_front_tracked_path_and_set_current(&mut self) {
        self.recorder.pop_front_tracked_path_and_set_current();
    }

    fn push_back_tracked_path_component(&mut self, component: &BStr) {
        self.recorder.push_back_tracked_path_component(component);
    }

    fn push_path_component(&mut self, component: &BStr) {
        self.recorder.push_path_component(component);
    }

    fn pop_path_component(&mut self) {
        self.recorder.pop_path_component();
    }

    fn visit(&mut self, change: visit::Change) -> visit::Action {
        // The recorder knows the path of the change; what it recorded is taken out again at once.
        let _ = self.recorder.visit(change);
        let Some(recorded) = self.recorder.records.pop() else { return ControlFlow::Continue(()) };
        let entry = |mode, id| Some(Entry { mode, id }).filter(|entry| !entry.mode.is_tree());
        let (path, before, after) = match recorded {
            recorder::Change::Addition { entry_mode, oid, path, .. } => (path, None, entry(entry_mode, oid)),
            recorder::Change::Deletion { entry_mode, oid, path, .. } => (path, entry(entry_mode, oid), None),
            recorder::Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
                (path, entry(previous_entry_mode, previous_oid), entry(entry_mode, oid))
            }
        };
        self.entries += 1;
        self.bytes += path.len();
        if self.entries > MOST_CHANGES || self.bytes > MOST_PATHS_BYTES || path.len() > MOST_PATH_BYTES {
            self.full = true;
            return ControlFlow::Break(());
        }
        if before.is_some() || after.is_some() {
            self.changes.push(Change { path, before, after });
        }
        ControlFlow::Continue(())
    }
}
