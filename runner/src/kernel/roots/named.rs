//! A path as a caller writes it: which root it means, and what beneath it. Pure: nothing is looked up.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anchorhold_plan::{OUT, WORKSPACE};

use super::{PathError, Root, Roots, components};
use crate::kernel::display;

/// What a path may mean, in the order in which it is tried.
#[derive(Debug)]
pub(super) struct Named<'a> {
    /// Empty for `/workspace` itself.
    pub(super) candidates: Vec<(&'a Root, PathBuf)>,
    /// The path without `.` and doubled slashes, fit for one line of output.
    pub(super) shown: String,
}

/// Reads a path: absolute beneath `/workspace/<source>` or `/out`, or relative to `/workspace`, or, when there is exactly
/// one source, relative to that.
pub(super) fn parse<'a>(roots: &'a Roots, path: &str) -> Result<Named<'a>, PathError> {
    if path.is_empty() {
        return Err(PathError::Malformed { problem: "the path is empty".to_owned() });
    }
    if path.contains('\0') {
        return Err(PathError::Malformed { problem: "the path contains a NUL character".to_owned() });
    }
    let outside = || PathError::Outside { path: path.to_owned(), sources: roots.source_names() };
    let parts = components(Path::new(path));
    let joined: PathBuf = parts.iter().collect();
    let absolute = path.starts_with('/');
    let shown = if absolute { format!("/{}", display::path(&joined)) } else { display::path(&joined) };

    let below_workspace = if absolute {
        match parts.split_first() {
            Some((first, rest)) if *first == *OUT.trim_start_matches('/') => {
                return Ok(Named { candidates: vec![(roots.out(), rest.iter().collect())], shown });
            }
            Some((first, rest)) if *first == *WORKSPACE.trim_start_matches('/') => rest,
            _ => return Err(outside()),
        }
    } else {
        parts.as_slice()
    };
    let Some((first, rest)) = below_workspace.split_first() else {
        return Ok(Named { candidates: Vec::new(), shown });
    };
    if first == ".." {
        return Err(outside());
    }
    let mut candidates = Vec::new();
    if let Some(source) = first.to_str().and_then(|name| roots.source(name)) {
        candidates.push((source, rest.iter().collect()));
    }
    if let ([only], false) = (roots.sources(), absolute) {
        candidates.push((only, below_workspace.iter().map(OsStr::new).collect()));
    }
    if candidates.is_empty() {
        return Err(PathError::missing(roots, path));
    }
    Ok(Named { candidates, shown })
}
