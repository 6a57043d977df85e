//! Removing a node, or what is left of one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::mount::{UnmountFlags, unmount};

use super::cgroups;
use super::keeper::Keeper;
use super::node::Node;
use super::state::State;

/// Removes whatever there is of the node: processes first, and with them its network and mounts (see `keeper`), then
/// cgroups, then files. Returns whether there was anything.
pub(crate) fn down(node: &Node) -> Result<bool> {
    let _lock = node.lock()?;
    let remains = remains(node)?;
    remove(node)?;
    Ok(remains)
}

/// Whether anything of the node is there.
pub(crate) fn remains(node: &Node) -> Result<bool> {
    Ok(State::marks(node) || Keeper::find(node)?.is_some() || !cgroups::existing(node)?.is_empty())
}

/// As [`down`], for a caller that holds the node's lock.
pub(crate) fn remove(node: &Node) -> Result<()> {
    Keeper::end(node)?;
    cgroups::remove(node)?;
    for mount in mounts_beneath(node.dir())? {
        // The node's own were in its namespace. What somebody mounted here from outside must not be emptied below.
        unmount(&mount, UnmountFlags::DETACH).with_context(|| format!("cannot unmount {}", mount.display()))?;
    }
    if State::marks(node) {
        remove_files(node.dir())?;
    }
    Ok(())
}

fn remove_files(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.with_context(|| format!("cannot remove {}", dir.display())),
    }
}

/// Mounts of this machine at and beneath a folder, the innermost first.
pub(crate) fn mounts_beneath(dir: &Path) -> Result<Vec<PathBuf>> {
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
