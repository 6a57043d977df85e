//! Goes through a tree in a fixed order: the entries of a folder by the bytes of their names, depth first.
//!
//! Every folder is opened beneath its root by the kernel and no link is followed, so there are no loops and no way out.
//! What is passed over is counted, because an answer has to say what was not looked at.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::ignored::{IgnoreFiles, Rules, is_git};
use super::roots::{FileKind, Located, Root};
use super::{Cancel, display};
use crate::tool::ToolError;

/// Folders within folders. Far more than any real tree has; a path of Linux is 4,096 bytes at most in any case.
const MAX_DEPTH: usize = 512;

/// One tree to go through.
pub(super) struct Walk<'a> {
    /// The root the tree is in.
    pub(super) root: &'a Root,
    /// The folder, from the root.
    pub(super) start: PathBuf,
    /// The folder as results name it.
    pub(super) named: String,
    /// Whether ignored files are gone through as well.
    pub(super) include_ignored: bool,
}

/// What was passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Skipped {
    /// Files and folders that an ignore file names; a folder counts as one.
    pub(super) ignored: u64,
    /// Links.
    pub(super) links: u64,
    /// FIFOs, sockets and devices.
    pub(super) special: u64,
    /// Folders that could not be opened.
    pub(super) unreadable: u64,
}

/// What the walk meets.
pub(super) enum Met<'e> {
    /// A regular file.
    File(&'e Item),
    /// A folder, before what is in it.
    Folder(&'e Item),
    /// A link.
    Link(&'e Item),
}

/// One file, folder or link.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The path from the root.
    pub(super) below: PathBuf,
    /// The path from the folder the walk began at.
    pub(super) relative: PathBuf,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To the next.
    On,
    /// No further.
    End,
}

impl<'a> Walk<'a> {
    /// The walk through a folder that a caller named.
    pub(super) fn of(located: Located<'a>, include_ignored: bool) -> Self {
        let Located { root, below, named, .. } = located;
        Self { root, start: below, named, include_ignored }
    }

    /// The walk through a whole root.
    pub(super) fn whole(root: &'a Root, named: String, include_ignored: bool) -> Self {
        Self { root, start: PathBuf::new(), named, include_ignored }
    }

    /// The item's path as results name it.
    pub(super) fn shown(&self, item: &Item) -> String {
        display::join(&self.named, &display::path(&item.relative))
    }

    /// Goes through the tree. Adds to `skipped`; returns [`Step::End`] when `meet` did.
    ///
    /// # Errors
    /// When the call was cancelled.
    pub(super) fn run(
        &self,
        cancel: &Cancel,
        skipped: &mut Skipped,
        meet: &mut dyn FnMut(Met<'_>) -> Step,
    ) -> Result<Step, ToolError> {
        let mut start = self.start.clone();
        if start.as_os_str().is_empty()
            && let Some(projected) = self.root.projected()
        {
            start = projected;
        }
        let rules = if self.include_ignored { Rules::default() } else { self.rules_above(&start) };
        let mut pass = Pass { walk: self, cancel, skipped, meet };
        pass.folder(&start, Path::new(""), &rules, 0)
    }

    /// The rules of the folders above the start. When they would ignore the start itself, its caller named it all the
    /// same, and then they do not count.
    fn rules_above(&self, start: &Path) -> Rules {
        let mut rules = Rules::default();
        let mut above = PathBuf::new();
        for component in start.components() {
            rules = rules.with_folder(self.root, &above, IgnoreFiles::maybe());
            above.push(component);
            if rules.ignores(&above, true) {
                return Rules::default();
            }
        }
        rules
    }
}

/// One pass through a tree.
struct Pass<'a, 'b> {
    walk: &'b Walk<'a>,
    cancel: &'b Cancel,
    skipped: &'b mut Skipped,
    meet: &'b mut dyn FnMut(Met<'_>) -> Step,
}

impl Pass<'_, '_> {
    fn folder(&mut self, below: &Path, relative: &Path, rules: &Rules, depth: usize) -> Result<Step, ToolError> {
        self.cancel.check()?;
        let root = self.walk.root;
        let Ok(entries) = root.entries(below) else {
            self.skipped.unreadable += 1;
            return Ok(Step::On);
        };
        let mut found = Vec::new();
        let mut ignore_files = IgnoreFiles::default();
        for (index, entry) in entries.enumerate() {
            if index % 1024 == 1023 {
                self.cancel.check()?;
            }
            let Ok(entry) = entry else {
                self.skipped.unreadable += 1;
                break;
            };
            ignore_files.see(&entry.name);
            if !is_git(&entry.name) {
                found.push(entry);
            }
        }
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let rules =
            if self.walk.include_ignored { rules.clone() } else { rules.with_folder(root, below, ignore_files) };

        for entry in found {
            let name = OsStr::from_bytes(&entry.name);
            let item = Item { below: below.join(name), relative: relative.join(name) };
            let kind = match entry.kind {
                FileKind::Unknown => root.describe(&item.below).map_or(FileKind::Unknown, |(kind, _)| kind),
                known => known,
            };
            if rules.ignores(&item.below, kind == FileKind::Folder) {
                self.skipped.ignored += 1;
                continue;
            }
            let step = match kind {
                FileKind::File => (self.meet)(Met::File(&item)),
                FileKind::Link => {
                    self.skipped.links += 1;
                    (self.meet)(Met::Link(&item))
                }
                FileKind::Folder => match (self.meet)(Met::Folder(&item)) {
                    Step::On if depth < MAX_DEPTH => self.folder(&item.below, &item.relative, &rules, depth + 1)?,
                    Step::On => {
                        self.skipped.unreadable += 1;
                        Step::On
                    }
                    Step::End => Step::End,
                },
                FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Unknown => {
                    self.skipped.special += 1;
                    Step::On
                }
            };
            if step == Step::End {
                return Ok(Step::End);
            }
        }
        Ok(Step::On)
    }
}

impl std::ops::AddAssign for Skipped {
    fn add_assign(&mut self, other: Self) {
        let Self { ignored, links, special, unreadable } = other;
        self.ignored += ignored;
        self.links += links;
        self.special += special;
        self.unreadable += unreadable;
    }
}

impl Skipped {
    /// What an answer says of it, or nothing: clauses, without brackets.
    pub(super) fn clauses(&self) -> Vec<String> {
        let Self { ignored, links, special, unreadable } = *self;
        let mut clauses = Vec::new();
        if ignored > 0 {
            let skipped = display::count(ignored, "ignored file or folder was", "ignored files and folders were");
            clauses.push(format!("{skipped} skipped: ignored=true includes them"));
        }
        if links > 0 {
            let skipped = display::count(links, "link was", "links were");
            clauses.push(format!("{skipped} not followed: name one to look at it"));
        }
        if special > 0 {
            let skipped = display::count(special, "FIFO, socket or device was", "FIFOs, sockets and devices were");
            clauses.push(format!("{skipped} skipped"));
        }
        if unreadable > 0 {
            clauses.push(format!("{} could not be read", display::count(unreadable, "folder", "folders")));
        }
        clauses
    }
}
