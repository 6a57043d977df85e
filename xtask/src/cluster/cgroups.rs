//! The cgroups of a node's pods: one folder in every hierarchy (version 1) or in the only one (version 2).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::node::Node;
use super::wait;

const MOUNT: &str = "/sys/fs/cgroup";
/// A cgroup is busy for a moment after its last process has ended.
const REMOVAL: Duration = Duration::from_secs(20);

/// Makes the node's cgroup in each hierarchy.
pub(crate) fn create(node: &Node) -> Result<()> {
    for hierarchy in hierarchies()? {
        let folder = hierarchy.join(node.cgroup());
        fs::create_dir(&folder).with_context(|| format!("cannot make the cgroup {}", folder.display()))?;
        // Version 1: a new cpuset is empty, and no process can join it, until it is given what its parent has.
        for file in ["cpuset.cpus", "cpuset.mems"] {
            let (above, ours) = (hierarchy.join(file), folder.join(file));
            if above.exists() {
                let all = fs::read(&above).with_context(|| format!("cannot read {}", above.display()))?;
                fs::write(&ours, all).with_context(|| format!("cannot write {}", ours.display()))?;
            }
        }
    }
    Ok(())
}

/// The node's cgroups that exist.
fn existing(node: &Node) -> Result<Vec<PathBuf>> {
    let name = node.cgroup();
    Ok(hierarchies()?.into_iter().map(|hierarchy| hierarchy.join(&name)).filter(|folder| folder.is_dir()).collect())
}

/// Removes the node's cgroups, all of whose processes have ended. Returns whether there were any.
pub(crate) fn remove(node: &Node) -> Result<bool> {
    let deadline = Instant::now() + REMOVAL;
    let existing = existing(node)?;
    for folder in &existing {
        let removed = wait::until("its processes to end", deadline, || match remove_tree(folder) {
            Ok(()) => Ok(Some(())),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => Ok(None),
            Err(error) => Err(error.into()),
        });
        if let Err(error) = removed {
            bail!("cannot remove the cgroup {}: {error:#}; see the files cgroup.procs in it", folder.display());
        }
    }
    Ok(!existing.is_empty())
}

/// The files of a cgroup leave with its folder and cannot be removed one by one.
fn remove_tree(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn hierarchies() -> Result<Vec<PathBuf>> {
    let mount = Path::new(MOUNT);
    if mount.join("cgroup.controllers").is_file() {
        return Ok(vec![mount.to_owned()]);
    }
    let entries = fs::read_dir(mount).with_context(|| format!("cannot list {MOUNT}: are cgroups mounted?"))?;
    // A symbolic link (`cpu` to `cpu,cpuacct`) would name a hierarchy a second time.
    let own = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(own.map(|entry| entry.path()).filter(|path| path.join("cgroup.procs").is_file()).collect())
}
