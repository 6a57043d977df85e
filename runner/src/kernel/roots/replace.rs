//! Writes a file beneath `/out`: whole, or not at all.
//!
//! The new content goes into a temporary file in the folder of the old one and takes its name in one step, so nobody ever
//! sees half of it. The folder is opened by the kernel beneath the root, no link followed, and everything after that is
//! done in that descriptor with names that hold no slash: a link that appears in the path meanwhile makes the write fail
//! and can not lead it elsewhere.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::destination::{Found, changed};
use super::open::open_strictly;
use super::{Destination, PathError};

/// What a file or folder has that was not there before.
const NEW_FILE: Mode = Mode::from_raw_mode(0o644);
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o755);
/// The kernel makes a name of ours only if it is free; that this many are taken in a row is no accident.
const NAMES_TRIED: usize = 8;

impl Destination<'_> {
    /// Puts `content` in the place of the file, and makes the folders that are missing. A file that was there gives its
    /// mode, without setuid, setgid and sticky bit; another has the mode 0644. Other names (hard links) of a file that was
    /// there keep the old content.
    ///
    /// It is not forced to the disk: what a job leaves in `/out` is collected by a process that runs on the same node.
    ///
    /// # Errors
    /// Whatever goes wrong, the file is as it was. [`PathError::Changed`] when something else is there than was found.
    pub(crate) fn replace(&self, content: &[u8]) -> Result<(), PathError> {
        let folder = self.open_folder()?;
        let temporary = Temporary::make(&folder).map_err(|errno| self.failed(errno))?;
        (&temporary.file).write_all(content).map_err(|source| self.failed(source))?;
        let mode = self.found.map_or(NEW_FILE, |found| found.mode);
        rustix::fs::fchmod(&temporary.file, mode).map_err(|errno| self.failed(errno))?;
        let now = match rustix::fs::statat(&folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(Found::of(&stat)),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(self.failed(errno)),
        };
        if now != self.found {
            return Err(changed(&self.named));
        }
        temporary.rename(&self.name).map_err(|errno| self.failed(errno))
    }

    /// Opens the folder of the file, and makes what is missing on the way.
    fn open_folder(&self) -> Result<OwnedFd, PathError> {
        const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
        let mut folder = self.root.open_beneath(&self.folder, FOLDER).map_err(|errno| self.failed_open(errno))?;
        for name in &self.missing {
            match rustix::fs::mkdirat(&folder, name, NEW_FOLDER) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(self.failed(errno)),
            }
            folder = open_strictly(&folder, Path::new(name), FOLDER, Mode::empty())
                .map_err(|errno| self.failed_open(errno))?;
        }
        Ok(folder)
    }

    fn failed(&self, source: impl Into<std::io::Error>) -> PathError {
        PathError::Write { path: self.named.clone(), source: source.into() }
    }
}

/// A new file of ours in a folder, which goes unless it is renamed.
struct Temporary<'a> {
    folder: &'a OwnedFd,
    name: String,
    file: File,
    renamed: bool,
}

impl<'a> Temporary<'a> {
    fn make(folder: &'a OwnedFd) -> Result<Self, Errno> {
        const NEW: OFlags =
            OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
        let mut last = Errno::EXIST;
        for _ in 0..NAMES_TRIED {
            // The standard library's keys are random; the name is only to be free, the kernel sees to the rest.
            let name = format!(".{:016x}.partial", RandomState::new().hash_one(std::process::id()));
            match open_strictly(folder, Path::new(&name), NEW, Mode::RUSR | Mode::WUSR) {
                Ok(descriptor) => return Ok(Self { folder, name, file: File::from(descriptor), renamed: false }),
                Err(Errno::EXIST) => last = Errno::EXIST,
                Err(errno) => return Err(errno),
            }
        }
        Err(last)
    }

    fn rename(mut self, name: &OsString) -> Result<(), Errno> {
        rustix::fs::renameat(self.folder, &self.name, self.folder, name)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // It may be gone already; there is nothing else to be done about one that cannot be removed.
            let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}
