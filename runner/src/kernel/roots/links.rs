//! Follows links, one at a time, through the tree as tools know it: `/workspace/<source>` and `/out`.
//!
//! This only finds the place. Whatever is read is opened afterwards by the kernel, beneath the root, at the link-free path
//! found here; when the tree has changed in between, that open fails.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use anchorhold_plan::{OUT, WORKSPACE};
use rustix::io::Errno;

use super::{FileKind, PathError, Root, Roots, components};

/// As many as Linux follows in one path.
const MAX_LINKS: usize = 40;

/// Where a path landed.
pub(super) enum Landed<'a> {
    Workspace,
    Beneath {
        root: &'a Root,
        below: PathBuf,
        kind: FileKind,
    },
    /// Nothing is there: `below` is the folder where the path ends, `rest` what it would need from there.
    Nothing {
        root: &'a Root,
        below: PathBuf,
        rest: Vec<OsString>,
    },
}

/// Why it landed nowhere.
pub(super) enum Failure {
    Missing,
    NotAFolder { component: String, kind: FileKind },
    LeadsOut { lands: String },
    Loop,
    Io(Errno),
}

impl Failure {
    pub(super) fn into_error(self, path: &str) -> PathError {
        let path = path.to_owned();
        match self {
            Self::Missing => PathError::Missing { path, looked: String::new() },
            Self::NotAFolder { component, kind } => PathError::NotAFolder { path, component, kind },
            Self::LeadsOut { lands } => PathError::LeadsOut { path, lands },
            Self::Loop => PathError::Loop { path },
            Self::Io(source) => PathError::io(&path, source),
        }
    }
}

/// Follows `below` from a root.
pub(super) fn follow<'a>(roots: &'a Roots, root: &'a Root, below: &Path) -> Result<Landed<'a>, Failure> {
    let mut at = Some(root);
    let mut stack: Vec<OsString> = Vec::new();
    let mut todo: VecDeque<OsString> = components(below).into();
    let mut kind = FileKind::Folder;
    let mut links = 0;

    while let Some(part) = todo.pop_front() {
        let Some(root) = at else {
            // In `/workspace`: the next component is a source or nothing.
            at = Some(if part == ".." {
                return Err(leads_out(Path::new("/"), &todo));
            } else {
                part.to_str().and_then(|name| roots.source(name)).ok_or(Failure::Missing)?
            });
            continue;
        };
        if part == ".." {
            kind = FileKind::Folder;
            if stack.pop().is_none() {
                // Above a source lies `/workspace`; above `/out` lies nothing of the job's.
                if root.shown() == OUT {
                    return Err(leads_out(Path::new("/"), &todo));
                }
                at = None;
            }
            continue;
        }
        stack.push(part);
        let here: PathBuf = stack.iter().collect();
        kind = match root.look(&here) {
            Ok(kind) => kind,
            Err(Errno::NOENT) => {
                let rest = stack.pop().into_iter().chain(todo).collect();
                return Ok(Landed::Nothing { root, below: stack.iter().collect(), rest });
            }
            Err(Errno::LOOP) => return Err(Failure::Loop),
            Err(other) => return Err(Failure::Io(other)),
        };
        if kind == FileKind::Link {
            links += 1;
            if links > MAX_LINKS {
                return Err(Failure::Loop);
            }
            stack.pop();
            let target = root.read_link(&here).map_err(Failure::Io)?;
            let target = PathBuf::from(OsString::from_vec(target));
            let parts = if target.is_absolute() {
                let (next, parts) = absolute(roots, &target).ok_or_else(|| leads_out(&target, &todo))?;
                at = next;
                stack.clear();
                parts
            } else {
                components(&target)
            };
            for part in parts.into_iter().rev() {
                todo.push_front(part);
            }
            kind = FileKind::Folder;
        } else if kind != FileKind::Folder && !todo.is_empty() {
            let component = format!("{}/{}", root.shown(), here.display());
            return Err(Failure::NotAFolder { component, kind });
        }
    }
    Ok(match at {
        None => Landed::Workspace,
        Some(root) => Landed::Beneath { root, below: stack.iter().collect(), kind },
    })
}

/// Where an absolute link leads, as tools know the tree: by the shown path of a root, or by its real one.
fn absolute<'a>(roots: &'a Roots, target: &Path) -> Option<(Option<&'a Root>, Vec<OsString>)> {
    let all = || roots.sources().iter().chain([roots.out()]);
    for root in all() {
        for prefix in [Path::new(root.shown()), root.real.as_path()] {
            if let Ok(rest) = target.strip_prefix(prefix) {
                return Some((Some(root), components(rest)));
            }
        }
    }
    let rest = target.strip_prefix(WORKSPACE).ok()?;
    Some((None, components(rest)))
}

/// Names the place outside: the rest of the path is added as it is written.
fn leads_out(base: &Path, rest: &VecDeque<OsString>) -> Failure {
    let mut lands = base.to_path_buf();
    for part in rest {
        if part == OsStr::new("..") {
            lands.pop();
        } else {
            lands.push(part);
        }
    }
    Failure::LeadsOut { lands: lands.display().to_string() }
}
