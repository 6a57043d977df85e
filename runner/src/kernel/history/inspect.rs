//! Looks through the folders of an object store before the store is opened by path: nothing in them may lead out of the
//! job's folders, and nothing may be what blocks or acts when it is opened.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::super::display;
use super::super::roots::FileKind;
use super::budget::Budget;
use super::ground::{Ground, Spot};
use crate::tool::ToolError;

/// Entries of all object folders of one repository. git itself packs loose objects at 6,700; a store with more than this
/// was not made by git.
const MOST_ENTRIES: usize = 1_000_000;
/// Stores that a store borrows from, directly or not.
const MOST_ALTERNATES: usize = 64;
/// Bytes of an `alternates` file.
const MOST_ALTERNATES_BYTES: u64 = 1 << 20;

/// Looks through the object folder `objects` and every one it borrows from.
///
/// # Errors
/// At the first part that leads out of the job's folders, is a FIFO, a socket or a device, or is fetched by HTTP.
pub(super) fn inspect(ground: &Ground<'_>, objects: &Spot<'_>, budget: &Budget) -> Result<(), ToolError> {
    let mut look = Look { ground, budget, entries: 0, seen: HashSet::new() };
    let mut todo = vec![objects.clone()];
    while let Some(folder) = todo.pop() {
        if !look.folder(&folder, 1)? {
            continue;
        }
        if look.seen.len() > MOST_ALTERNATES * 300 {
            return Err(ToolError::Failed(format!("{} borrows from too many object folders", objects.shown())));
        }
        let Some(content) = folder.read("info/alternates", MOST_ALTERNATES_BYTES)? else { continue };
        let named = format!("{}/info/alternates", folder.shown());
        let paths = gix_odb::alternate::parse(&content)
            .map_err(|_| ToolError::Failed(format!("{named} is not a list of folders")))?;
        if paths.len() > MOST_ALTERNATES {
            return Err(ToolError::Failed(format!("{named} names more than {MOST_ALTERNATES} folders")));
        }
        for path in paths {
            // The store joins every path, also those of a borrowed store, to its own folder.
            todo.push(ground.land(&objects.real.join(path), &named)?);
        }
    }
    Ok(())
}

struct Look<'g, 'a> {
    ground: &'g Ground<'a>,
    budget: &'g Budget,
    entries: usize,
    seen: HashSet<PathBuf>,
}

impl Look<'_, '_> {
    /// Looks at the entries of a folder and `depth` levels below. False when it was looked at before.
    fn folder(&mut self, folder: &Spot<'_>, depth: usize) -> Result<bool, ToolError> {
        self.budget.check()?;
        if !self.seen.insert(folder.real.clone()) {
            return Ok(false);
        }
        for entry in folder.root.entries(&folder.below)? {
            let entry =
                entry.map_err(|error| ToolError::Failed(format!("failed to list {}: {error}", folder.shown())))?;
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                let most = display::grouped(MOST_ENTRIES as u64);
                return Err(ToolError::Failed(format!(
                    "{} has more than {most} entries; it is no object folder of git",
                    folder.shown()
                )));
            }
            if self.entries.is_multiple_of(1024) {
                self.budget.check()?;
            }
            let name = OsStr::from_bytes(&entry.name);
            let here = Spot { root: folder.root, below: folder.below.join(name), real: folder.real.join(name) };
            self.entry(here, entry.kind, depth)?;
        }
        Ok(true)
    }

    fn entry(&mut self, here: Spot<'_>, kind: FileKind, depth: usize) -> Result<(), ToolError> {
        let (here, kind) = match kind {
            FileKind::Link => {
                let landed = self.ground.land(&here.real, &here.shown())?;
                let kind = landed.root.describe(&landed.below).map_or(FileKind::Unknown, |(kind, _)| kind);
                (landed, kind)
            }
            FileKind::Unknown => {
                let kind = here.root.describe(&here.below).map_or(FileKind::Unknown, |(kind, _)| kind);
                // A link again, on a file system that does not say what its entries are.
                if kind == FileKind::Link {
                    return self.entry(here, kind, depth);
                }
                (here, kind)
            }
            kind => (here, kind),
        };
        match kind {
            FileKind::File if here.below.ends_with("info/http-alternates") => {
                Err(ToolError::Failed(format!("{} borrows objects by HTTP, which is never done here", here.shown())))
            }
            FileKind::Folder if depth > 0 => self.folder(&here, depth - 1).map(|_| ()),
            FileKind::File | FileKind::Folder => Ok(()),
            kind => Err(ToolError::Failed(format!("{} is {kind}, where git has regular files", here.shown()))),
        }
    }
}
