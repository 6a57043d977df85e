//! Where a file is written: beneath `/out`, at the place where its path leads, links followed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anchorhold_plan::{OUT, WORKSPACE};
use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;

use super::{FileKind, OpenedFile, PathError, Root, Roots, links, named};
use crate::kernel::display;

/// `PATH_MAX` of Linux, with the NUL that ends a path.
const PATH_BYTES: usize = 4096;
/// Folders within folders. The tools that list a tree go far deeper, so whatever is written is found again.
const MAX_FOLDERS: usize = 128;
/// What a replaced file keeps: no bit that lends its owner's rights to whoever runs it.
const KEPT: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);

/// A regular file beneath `/out`, or the place for one, by the path that leads there without a link.
#[derive(Debug)]
pub(crate) struct Destination<'a> {
    pub(super) root: &'a Root,
    /// The folder that exists.
    pub(super) folder: PathBuf,
    /// Folders to make in it.
    pub(super) missing: Vec<OsString>,
    /// The file's own name.
    pub(super) name: OsString,
    pub(super) found: Option<Found>,
    /// The path as the caller wrote it, fit for one line.
    pub(crate) named: String,
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) mode: Mode,
    device: u64,
    inode: u64,
    size: i64,
    changed: (i64, u64),
}

impl Roots {
    /// Finds out where a path leads that is to be written to. Links beneath `/out` are followed; nothing is made.
    ///
    /// # Errors
    /// When the path is not written beneath [`OUT`] or does not land there, when what is there is no regular file, and when
    /// it is longer than 4,095 bytes or more than 128 folders deep.
    pub(crate) fn destination(&self, path: &str) -> Result<Destination<'_>, PathError> {
        refuse_malformed(path)?;
        refuse_workspace(path)?;
        let named = named::parse(self, path)?;
        let shown = named.shown;
        let Some((root, below)) = named.candidates.into_iter().next() else {
            return Err(read_only(path, format!("is in {WORKSPACE}")));
        };
        match links::follow(self, root, &below).map_err(|failure| failure.into_error(path))? {
            links::Landed::Workspace => Err(read_only(path, format!("leads to {WORKSPACE}"))),
            links::Landed::Beneath { root, below, kind } => {
                let (Some(name), FileKind::File) = (below.file_name(), kind) else {
                    return Err(PathError::NotReplaceable { path: path.to_owned(), kind });
                };
                let folder = below.parent().unwrap_or(Path::new("")).to_path_buf();
                let name = name.to_owned();
                let found = match root.stat(&below) {
                    Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => Found::of(&stat),
                    Ok(_) | Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => return Err(changed(path)),
                    Err(errno) => return Err(PathError::io(path, errno)),
                };
                Destination { root, folder, missing: Vec::new(), name, found: Some(found), named: shown }
                    .beneath_out(path)
            }
            links::Landed::Nothing { root, below, mut rest } => {
                let Some(name) = rest.pop().filter(|name| name != ".." && rest.iter().all(|part| part != "..")) else {
                    return Err(PathError::missing(self, path));
                };
                if below.components().count() + rest.len() > MAX_FOLDERS {
                    let problem = format!("{path} is more than {MAX_FOLDERS} folders deep");
                    return Err(PathError::NoDestination { problem });
                }
                Destination { root, folder: below, missing: rest, name, found: None, named: shown }.beneath_out(path)
            }
        }
    }
}

fn refuse_malformed(path: &str) -> Result<(), PathError> {
    let problem = if path.is_empty() {
        "the path is empty".to_owned()
    } else if path.contains('\0') {
        "the path contains a NUL character".to_owned()
    } else if path.len() >= PATH_BYTES {
        format!("the path has {} bytes; at most {} are possible", path.len(), PATH_BYTES - 1)
    } else if path.ends_with('/') || path.ends_with("/.") {
        format!("{path} names a folder")
    } else {
        return Ok(());
    };
    Err(PathError::NoDestination { problem })
}

fn refuse_workspace(path: &str) -> Result<(), PathError> {
    let parts = super::components(Path::new(path));
    if !path.starts_with('/') {
        return Err(read_only(path, format!("is relative to {WORKSPACE}")));
    }
    if parts.first().is_some_and(|first| *first == *WORKSPACE.trim_start_matches('/')) {
        return Err(read_only(path, format!("is in {WORKSPACE}")));
    }
    Ok(())
}

fn read_only(path: &str, is: String) -> PathError {
    PathError::ReadOnly { path: path.to_owned(), is }
}

pub(super) fn changed(path: &str) -> PathError {
    PathError::Changed { path: path.to_owned() }
}

impl Found {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            mode: Mode::from_raw_mode(stat.st_mode) & KEPT,
            device: stat.st_dev,
            inode: stat.st_ino,
            size: stat.st_size,
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

impl Destination<'_> {
    /// Refuses a place in a source.
    fn beneath_out(self, path: &str) -> Result<Self, PathError> {
        if self.root.shown() == OUT {
            return Ok(self);
        }
        let lands = display::join(self.root.shown(), &display::path(&self.below()));
        Err(read_only(path, format!("leads to {lands}")))
    }

    fn below(&self) -> PathBuf {
        let mut below = self.folder.clone();
        below.extend(&self.missing);
        below.push(&self.name);
        below
    }

    /// Whether a file is there that would be replaced.
    pub(crate) const fn exists(&self) -> bool {
        self.found.is_some()
    }

    /// Opens the file for reading. `None` when nothing is there.
    ///
    /// # Errors
    /// [`PathError::Changed`] when another file is there than was found.
    pub(crate) fn open(&self) -> Result<Option<OpenedFile>, PathError> {
        let Some(found) = self.found else { return Ok(None) };
        let opened = self.root.open_file(&self.below()).map_err(|errno| self.failed_open(errno))?;
        let stat = rustix::fs::fstat(&opened.file).map_err(|errno| PathError::io(&self.named, errno))?;
        if Found::of(&stat) == found { Ok(Some(opened)) } else { Err(changed(&self.named)) }
    }

    pub(super) fn failed_open(&self, errno: Errno) -> PathError {
        match errno {
            Errno::LOOP | Errno::NOENT | Errno::NOTDIR => changed(&self.named),
            other => PathError::io(&self.named, other),
        }
    }
}
