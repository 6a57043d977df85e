//! Where a path of this process leads, links followed as the kernel follows them, and whether that is in the job's folders.
//!
//! A repository names other places by path: in a `.git` file, in `commondir`, in `objects/info/alternates`, by links. The
//! object store opens by path, so each of these places is looked up here first. Nothing is opened by looking.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::super::display;
use super::super::roots::{FileKind, Root, Roots};
use crate::tool::ToolError;

/// The folders of the job by the paths the kernel knows them by.
pub(super) struct Ground<'a> {
    roots: Vec<(PathBuf, &'a Root)>,
}

/// A place in the job's folders.
#[derive(Clone, Debug)]
pub(super) struct Spot<'a> {
    /// The root it is in.
    pub(super) root: &'a Root,
    /// The path from the root, without a link.
    pub(super) below: PathBuf,
    /// The path of this process, without a link.
    pub(super) real: PathBuf,
}

impl<'a> Ground<'a> {
    pub(super) fn new(roots: &'a Roots) -> Result<Self, ToolError> {
        let all = roots.sources().iter().chain([roots.out()]);
        let roots = all.map(|root| {
            let real = fs::canonicalize(root.real())
                .map_err(|error| ToolError::Failed(format!("failed to look at {}: {error}", root.shown())))?;
            Ok((real, root))
        });
        Ok(Self { roots: roots.collect::<Result<_, ToolError>>()? })
    }

    /// The place of something beneath a root, at a path without a link.
    pub(super) fn beneath(&self, root: &'a Root, below: &Path) -> Result<Spot<'a>, ToolError> {
        let (real, root) = self
            .roots
            .iter()
            .find(|(_, known)| std::ptr::eq(*known, root))
            .ok_or_else(|| ToolError::Failed(format!("{} is no folder of this job", root.shown())))?;
        Ok(Spot { root, below: below.to_path_buf(), real: real.join(below) })
    }

    /// Where `path` leads. `named` is what named it, for the message.
    ///
    /// # Errors
    /// When it leads out of the job's folders, or nowhere.
    pub(super) fn land(&self, path: &Path, named: &str) -> Result<Spot<'a>, ToolError> {
        let (real, exists) = match fs::canonicalize(path) {
            Ok(real) => (real, true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (flattened(path), false),
            Err(error) => {
                return Err(ToolError::Failed(format!("{named} leads to a place that cannot be looked at: {error}")));
            }
        };
        let inside = self
            .roots
            .iter()
            .find_map(|(root_real, root)| real.strip_prefix(root_real).ok().map(|below| (root, below.to_path_buf())));
        match inside {
            None => Err(ToolError::Failed(format!(
                "{named} leads to {}, which is outside the job's folders; a repository is opened only with all of its parts in them",
                display::path(&real)
            ))),
            Some((root, below)) if exists => Ok(Spot { root, below, real }),
            Some((root, below)) => Err(ToolError::Failed(format!(
                "{named} leads to {}, which does not exist",
                display::join(root.shown(), &display::path(&below))
            ))),
        }
    }
}

impl Spot<'_> {
    /// The path as tools know it.
    pub(super) fn shown(&self) -> String {
        display::join(self.root.shown(), &display::path(&self.below))
    }

    /// What `name` in this folder is; `None` when there is nothing.
    pub(super) fn kind(&self, name: &str) -> Option<FileKind> {
        self.root.describe(&self.below.join(name)).ok().map(|(kind, _)| kind)
    }

    /// The content of the regular file `name` in this folder; `None` when there is none.
    ///
    /// # Errors
    /// When it has more than `most` bytes, is no regular file, or cannot be read.
    pub(super) fn read(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, ToolError> {
        let below = self.below.join(name);
        let shown = || display::join(self.root.shown(), &display::path(&below));
        let fail = |error: io::Error| ToolError::Failed(format!("failed to read {}: {error}", shown()));
        let opened = match self.root.open_file(&below) {
            Ok(opened) => opened,
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
            Err(rustix::io::Errno::LOOP) => {
                return Err(ToolError::Failed(format!(
                    "{} is a link, or beneath one; this part of a repository has to be a file of its own",
                    shown()
                )));
            }
            Err(errno) => return Err(fail(errno.into())),
        };
        match opened.kind {
            FileKind::File => {}
            FileKind::Folder => return Ok(None),
            kind => return Err(ToolError::Failed(format!("{} is {kind}, where git has a regular file", shown()))),
        }
        let mut content = Vec::new();
        opened.file.take(most + 1).read_to_end(&mut content).map_err(fail)?;
        if content.len() as u64 > most {
            return Err(ToolError::Failed(format!(
                "{} has more than {} bytes, which no repository needs there",
                shown(),
                display::grouped(most)
            )));
        }
        Ok(Some(content))
    }
}

/// The path without `.` and `..`, by its letters alone.
fn flattened(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                flat.pop();
            }
            Component::CurDir => {}
            other => flat.push(AsRef::<OsStr>::as_ref(&other)),
        }
    }
    flat
}
