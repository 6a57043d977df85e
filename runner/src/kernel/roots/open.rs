//! The system calls beneath a root. Nothing else in the kernel tools opens a file of the job.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::{Located, PathError, Root};

/// Refuses every link and everything that is not beneath the root.
const STRICT: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// How a file is opened for reading: a FIFO would not block, no terminal is acquired, nothing is inherited.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A rename elsewhere in the tree makes the kernel give up on a path that goes through `..`; it asks for another try.
const ATTEMPTS: usize = 16;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
    /// Something this program does not know.
    Unknown,
}

impl FileKind {
    pub(crate) fn from_type(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Self::Device,
            FileType::Unknown => Self::Unknown,
        }
    }

    /// The word for structured output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Fifo => "fifo",
            Self::Socket => "socket",
            Self::Device => "device",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Folder => "a folder",
            Self::Link => "a link",
            Self::Fifo => "a named pipe (FIFO)",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Unknown => "of an unknown kind",
        })
    }
}

/// An open file or folder.
#[derive(Debug)]
pub struct Opened<'a> {
    /// Where it is.
    pub located: Located<'a>,
    /// The descriptor.
    pub file: OpenedFile,
}

/// A descriptor with what `fstat` said of it after it was opened.
#[derive(Debug)]
pub struct OpenedFile {
    /// Readable, positioned at the start.
    pub file: File,
    /// [`FileKind::File`] or [`FileKind::Folder`].
    pub kind: FileKind,
    /// Bytes, for a file.
    pub size: u64,
}

impl Root {
    /// What is at a link-free path; a link at its end is not followed.
    pub(super) fn look(&self, below: &Path) -> Result<FileKind, Errno> {
        Ok(FileKind::from_type(FileType::from_raw_mode(rustix::fs::fstat(self.path_descriptor(below)?)?.st_mode)))
    }

    /// The target of the link at a link-free path.
    pub(crate) fn read_link(&self, below: &Path) -> Result<Vec<u8>, Errno> {
        Ok(rustix::fs::readlinkat(self.path_descriptor(below)?, "", Vec::new())?.into_bytes())
    }

    /// Kind and size of what is at a link-free path; a link at its end is not followed.
    pub(crate) fn describe(&self, below: &Path) -> Result<(FileKind, u64), Errno> {
        let stat = self.stat(below)?;
        Ok((FileKind::from_type(FileType::from_raw_mode(stat.st_mode)), u64::try_from(stat.st_size).unwrap_or(0)))
    }

    /// What is at a link-free path; a link at its end is not followed.
    pub(super) fn stat(&self, below: &Path) -> Result<Stat, Errno> {
        rustix::fs::statat(self.path_descriptor(below)?, "", AtFlags::EMPTY_PATH)
    }

    /// Opens the regular file at a link-free path.
    pub(crate) fn open_file(&self, below: &Path) -> Result<OpenedFile, Errno> {
        OpenedFile::check(self.open_beneath(below, READ)?)
    }

    /// Lists the folder at a link-free path; an empty path is the root. `.` and `..` are left out.
    pub(crate) fn entries(&self, below: &Path) -> Result<Entries, PathError> {
        let descriptor = self
            .open_beneath(below, READ | OFlags::DIRECTORY)
            .map_err(|errno| PathError::io(&format!("{}/{}", self.shown, below.display()), errno))?;
        let directory = rustix::fs::Dir::new(descriptor).map_err(|errno| PathError::io(&self.shown, errno))?;
        Ok(Entries { directory })
    }

    pub(super) fn open_located(&self, below: &Path, kind: FileKind, named: &str) -> Result<OpenedFile, PathError> {
        let special = |kind| PathError::Special { path: named.to_owned(), kind };
        if !matches!(kind, FileKind::File | FileKind::Folder) {
            return Err(special(kind));
        }
        let opened = self.open_file(below).map_err(|errno| match errno {
            Errno::LOOP | Errno::NOENT | Errno::NOTDIR => PathError::Changed { path: named.to_owned() },
            other => PathError::io(named, other),
        })?;
        match opened.kind {
            FileKind::File | FileKind::Folder => Ok(opened),
            kind => Err(special(kind)),
        }
    }

    fn path_descriptor(&self, below: &Path) -> Result<OwnedFd, Errno> {
        self.open_beneath(below, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)
    }

    pub(super) fn open_beneath(&self, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        open_strictly(&self.directory, below, flags, Mode::empty())
    }
}

/// Opens what is beneath a folder, no link followed. `mode` is that of a file it makes.
pub(super) fn open_strictly(folder: impl AsFd, below: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut last = Errno::AGAIN;
    for _ in 0..ATTEMPTS {
        match rustix::fs::openat2(&folder, below, flags, mode, STRICT) {
            Err(errno @ (Errno::AGAIN | Errno::INTR)) => last = errno,
            other => return other,
        }
    }
    Err(last)
}

impl OpenedFile {
    fn check(descriptor: OwnedFd) -> Result<Self, Errno> {
        let stat = rustix::fs::fstat(&descriptor)?;
        Ok(Self {
            file: File::from(descriptor),
            kind: FileKind::from_type(FileType::from_raw_mode(stat.st_mode)),
            size: u64::try_from(stat.st_size).unwrap_or(0),
        })
    }
}

/// The entries of one folder, in the order of the file system.
pub(crate) struct Entries {
    directory: rustix::fs::Dir,
}

/// One entry.
pub(crate) struct Entry {
    /// The name's bytes.
    pub(crate) name: Vec<u8>,
    /// What the file system says it is; [`FileKind::Unknown`] where it says nothing.
    pub(crate) kind: FileKind,
}

impl Iterator for Entries {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let entry = match self.directory.read()? {
                Ok(entry) => entry,
                Err(errno) => return Some(Err(errno.into())),
            };
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                return Some(Ok(Entry { name: name.to_vec(), kind: FileKind::from_type(entry.file_type()) }));
            }
        }
    }
}
