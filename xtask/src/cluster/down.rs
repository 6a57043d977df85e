//! Removing a node, or what is left of one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::mount::{UnmountFlags, unmount};

use super::cgroups;
use super::keeper::Keeper;
use super::node::Node;
use super::state::{self, State};

/// Removes whatever there is of the node. Returns whether there was anything.
pub(crate) fn down(node: &Node) -> Result<bool> {
    let _lock = node.lock()?;
    remove(node)
}

/// As [`down`], for a caller that holds the node's lock: processes first, and with them its network and mounts (see
/// `keeper`), then cgroups, then files. Whatever of it is missing, the rest is removed.
pub(crate) fn remove(node: &Node) -> Result<bool> {
    let ended = Keeper::end(node)?;
    let cgroups = cgroups::remove(node)?;
    for mount in mounts_beneath(node.dir())? {
        // The node's own were in its namespace. What somebody mounted here from outside must not be emptied below.
        unmount(&mount, UnmountFlags::DETACH).with_context(|| format!("cannot unmount {}", mount.display()))?;
    }
    let marked = State::marks(node);
    if marked {
        remove_files(node)?;
    }
    Ok(ended || cgroups || marked)
}

/// The mark goes last, so that a folder whose removal was cut off is still known for a node's.
fn remove_files(node: &Node) -> Result<()> {
    let dir = node.dir();
    let failed = || format!("cannot remove {}", dir.display());
    for entry in fs::read_dir(dir).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        if entry.file_name() == state::FILE {
            continue;
        }
        let removed = if entry.file_type().with_context(failed)?.is_dir() {
            fs::remove_dir_all(entry.path())
        } else {
            fs::remove_file(entry.path())
        };
        removed.with_context(|| format!("cannot remove {}", entry.path().display()))?;
    }
    fs::remove_dir_all(dir).with_context(failed)
}

/// Mounts of this machine at and beneath a folder, the innermost first.
fn mounts_beneath(dir: &Path) -> Result<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/self/mountinfo").context("cannot read /proc/self/mountinfo")?;
    let mut mounts = Vec::new();
    for line in table.lines() {
        let Some(target) = line.split(' ').nth(4) else {
            bail!("a line of /proc/self/mountinfo has no mount point: {line}");
        };
        let target = PathBuf::from(target.replace("\\040", " "));
        if target.starts_with(dir) {
            mounts.push(target);
        }
    }
    mounts.reverse();
    Ok(mounts)
}
