//! Why a path was refused or could not be opened; every message is for the caller of a tool.

use std::io;

use anchorhold_plan::{OUT, WORKSPACE};
use rustix::io::Errno;

use super::{FileKind, Roots};

/// A folder of the plan could not be opened when the run started.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The folder is missing, not a folder, or not readable.
    #[error("failed to open {path}, which the job sees as {shown}")]
    Open {
        /// The path tools know.
        shown: String,
        /// The path of this process.
        path: String,
        /// What the kernel said.
        source: Errno,
    },
    /// The kernel, or a filter around this container, has no `openat2`.
    #[error(
        "this kernel or container refuses openat2, without which no path can be confined; Linux 5.6 or newer is needed"
    )]
    Openat2 {
        /// What the kernel said.
        source: Errno,
    },
}

/// A path that gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// Not a path at all.
    #[error("{problem}; give a path like {WORKSPACE}/<source>/<file>")]
    Malformed {
        /// What is wrong with it.
        problem: String,
    },
    /// The path is outside the roots as it is written.
    #[error("{path} is outside the job's folders; what a tool can see is {WORKSPACE} ({sources}) and {OUT}")]
    Outside {
        /// The path as written.
        path: String,
        /// What there is instead.
        sources: String,
    },
    /// A link or a `..` leads out of the roots.
    #[error("{path} leads to {lands}, which is outside the job's folders")]
    LeadsOut {
        /// The path as written.
        path: String,
        /// Where it would land.
        lands: String,
    },
    /// Nothing is there.
    #[error("{path} does not exist{looked}")]
    Missing {
        /// The path as written.
        path: String,
        /// Where it was looked for, if that is not plain.
        looked: String,
    },
    /// A component in the middle of the path is no folder.
    #[error("{path} does not exist: {component} is {kind}, not a folder")]
    NotAFolder {
        /// The path as written.
        path: String,
        /// The component.
        component: String,
        /// What it is.
        kind: FileKind,
    },
    /// Neither a regular file nor a folder.
    #[error("{path} is {kind}; only regular files and folders are read")]
    Special {
        /// The path as written.
        path: String,
        /// What it is.
        kind: FileKind,
    },
    /// More links in a row than the kernel itself would follow.
    #[error("{path} goes through more than 40 links; it is most likely a loop of links")]
    Loop {
        /// The path as written.
        path: String,
    },
    /// The path turned into something else between two looks, three times in a row.
    #[error("{path} changed while it was opened; try again")]
    Changed {
        /// The path as written.
        path: String,
    },
    /// Not a path at all, where one is wanted to write to.
    #[error("{problem}; give a path like {OUT}/<file>")]
    NoDestination {
        /// What is wrong with it.
        problem: String,
    },
    /// The path is in the workspace.
    #[error("{path} {is}, which is read-only; write below {OUT}")]
    ReadOnly {
        /// The path as written.
        path: String,
        /// How it gets there: `is in …`, `leads to …`.
        is: String,
    },
    /// What is to be replaced is no regular file.
    #[error("{path} is {kind}; only a regular file can be replaced")]
    NotReplaceable {
        /// The path as written.
        path: String,
        /// What it is.
        kind: FileKind,
    },
    /// The kernel refused to write.
    #[error("failed to write {path}: {source}; what was there is unchanged")]
    Write {
        /// The path as written.
        path: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused.
    #[error("failed to open {path}: {source}")]
    Io {
        /// The path as written.
        path: String,
        /// What the kernel said.
        source: io::Error,
    },
}

impl PathError {
    pub(super) fn missing(roots: &Roots, path: &str) -> Self {
        let looked = match roots.sources() {
            _ if path.starts_with('/') => String::new(),
            [only] => format!(", neither beneath {WORKSPACE} nor beneath {}", only.shown()),
            _ => format!(" beneath {WORKSPACE}, which holds {}", roots.source_names()),
        };
        Self::Missing { path: path.to_owned(), looked }
    }

    pub(super) fn io(path: &str, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), source: source.into() }
    }
}
