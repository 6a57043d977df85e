//! The folders a job may look into, and the only way to open anything in them.
//!
//! Each source and the output folder is opened once, when the run starts. From then on every path is resolved relative to
//! that descriptor by the kernel (`openat2` beneath it, no link followed), so a tree that changes under a call can make the
//! call fail and can not make it look elsewhere. Links are followed by [`Roots::locate`], one at a time, which knows where
//! each of them lands: inside the roots the answer is the link-free place, outside it is a refusal that names the place.

mod destination;
mod error;
mod links;
mod named;
mod open;
mod replace;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anchorhold_plan::{OUT, RunPlan};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags};

pub(crate) use destination::Destination;
pub use error::{PathError, RootError};
pub use open::{FileKind, Opened, OpenedFile};

/// One folder with the name under which tools know it.
#[derive(Debug)]
pub struct Root {
    name: String,
    shown: String,
    real: PathBuf,
    directory: OwnedFd,
}

/// Every folder of a job: its sources and `/out`.
#[derive(Debug)]
pub struct Roots {
    sources: Vec<Root>,
    out: Root,
    out_limit: u64,
}

/// Where a path leads, links followed.
#[derive(Debug)]
pub enum Place<'a> {
    /// `/workspace` itself, which holds the sources and nothing else.
    Workspace,
    /// Something beneath a root.
    Beneath(Located<'a>),
}

/// Something beneath a root, by the path that leads there without a link.
#[derive(Debug)]
pub struct Located<'a> {
    /// The root it is in.
    pub root: &'a Root,
    /// The path from the root; empty for the root itself. Neither `.` nor `..` nor a link occurs in it.
    pub below: PathBuf,
    /// What is there, as far as a look can tell.
    pub kind: FileKind,
    /// The path as the caller wrote it, without `.` and doubled slashes and fit for one line; results are named by it.
    pub named: String,
}

impl Root {
    fn open(name: &str, shown: &str, real: &str) -> Result<Self, RootError> {
        let fail =
            |source: rustix::io::Errno| RootError::Open { shown: shown.to_owned(), path: real.to_owned(), source };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(real, flags, Mode::empty()).map_err(fail)?;
        // A kernel or a container filter without openat2 would fail every later call: better one clear refusal now.
        rustix::fs::openat2(&directory, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::BENEATH)
            .map_err(|source| RootError::Openat2 { source })?;
        Ok(Self { name: name.to_owned(), shown: shown.to_owned(), real: PathBuf::from(real), directory })
    }

    /// The name of a source; `out` for the output folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path tools and scripts know it by.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The path of this process. What is beneath it is to be opened through the root; a library that opens by path is
    /// given only what was seen to stay beneath it.
    pub(crate) fn real(&self) -> &Path {
        &self.real
    }

    /// The name of the folder that stands for the root where Kubernetes mounted a ConfigMap: there, the files are links
    /// into a folder `..<time>`, named by the link `..data`, and only that folder has the files themselves.
    #[must_use]
    pub fn projected(&self) -> Option<PathBuf> {
        let target = rustix::fs::readlinkat(&self.directory, "..data", Vec::new()).ok()?;
        let target = target.into_string().ok()?;
        (target.starts_with("..") && target.len() > 2 && !target.contains('/')).then(|| PathBuf::from(target))
    }

    /// Whether the folder holds nothing, the marks of a ConfigMap without keys and of a new file system left aside.
    pub fn is_empty(&self) -> Result<bool, PathError> {
        for entry in self.entries(Path::new(""))? {
            let entry = entry.map_err(|source| PathError::io(&self.shown, source))?;
            if !entry.name.starts_with(b"..") && entry.name != b"lost+found" {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Roots {
    /// Opens every folder of a plan.
    pub fn open_all(plan: &RunPlan) -> Result<Self, RootError> {
        let sources = plan
            .sources
            .iter()
            .map(|source| Root::open(&source.name, &source.shown_path(), &source.path))
            .collect::<Result<_, _>>()?;
        let out = Root::open("out", OUT, &plan.output.path)?;
        Ok(Self { sources, out, out_limit: plan.output.size_limit_bytes })
    }

    /// The sources, in the plan's order.
    #[must_use]
    pub fn sources(&self) -> &[Root] {
        &self.sources
    }

    /// The output folder.
    #[must_use]
    pub fn out(&self) -> &Root {
        &self.out
    }

    /// Bytes that the output folder may hold, by the plan.
    #[must_use]
    pub const fn out_limit(&self) -> u64 {
        self.out_limit
    }

    /// The first source without a single entry, if there is one.
    pub fn empty_source(&self) -> Result<Option<&Root>, PathError> {
        for source in &self.sources {
            if source.is_empty()? {
                return Ok(Some(source));
            }
        }
        Ok(None)
    }

    /// Finds out where a path leads. Nothing is opened for reading.
    pub fn locate(&self, path: &str) -> Result<Place<'_>, PathError> {
        let named = named::parse(self, path)?;
        let mut missing = None;
        for (root, below) in named.candidates {
            match links::follow(self, root, &below) {
                Ok(links::Landed::Workspace) => return Ok(Place::Workspace),
                Ok(links::Landed::Beneath { root, below, kind }) => {
                    return Ok(Place::Beneath(Located { root, below, kind, named: named.shown }));
                }
                Ok(links::Landed::Nothing { .. }) | Err(links::Failure::Missing) => {
                    missing = Some(PathError::missing(self, path));
                }
                Err(failure) => return Err(failure.into_error(path)),
            }
        }
        // No candidate at all means `/workspace` itself.
        missing.map_or(Ok(Place::Workspace), Err)
    }

    /// Opens a file or folder for reading, links followed.
    ///
    /// # Errors
    /// Anything but a regular file or a folder is named and not opened: a FIFO would block, a device could act.
    pub fn open(&self, path: &str) -> Result<Option<Opened<'_>>, PathError> {
        for _ in 0..3 {
            let Place::Beneath(located) = self.locate(path)? else { return Ok(None) };
            match located.root.open_located(&located.below, located.kind, path) {
                Ok(file) => return Ok(Some(Opened { located, file })),
                // What was no link a moment ago is one now: look again.
                Err(PathError::Changed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(PathError::Changed { path: path.to_owned() })
    }

    fn source(&self, name: &str) -> Option<&Root> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// The names of the sources, for messages.
    fn source_names(&self) -> String {
        match self.sources.len() {
            0 => "the job has no source".to_owned(),
            _ => self.sources.iter().map(|source| source.shown.as_str()).collect::<Vec<_>>().join(", "),
        }
    }
}

/// The components of a path, `.` and doubled slashes left out.
fn components(path: &Path) -> Vec<OsString> {
    use std::path::Component;
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
