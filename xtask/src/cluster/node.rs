//! Which node, and where its files are. A node is its folder: everything it has on disk is beneath it, and whatever
//! else belongs to it (its first process, its cgroups) is found by the folder's path.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

/// The addresses of every node: each has a network of its own, so they never meet.
pub(crate) const NODE_IP: &str = "172.30.99.1";
pub(crate) const NODE_NAME: &str = "node";
pub(crate) const SERVER: &str = "https://127.0.0.1:6443";
pub(crate) const SERVICE_CIDR: &str = "10.96.0.0/16";
pub(crate) const SERVICE_IP: &str = "10.96.0.1";
/// 4,093 addresses: pods that have ended give theirs back only when they are deleted.
pub(crate) const POD_CIDR: &str = "10.244.0.0/20";

/// Unix sockets have paths of at most 107 bytes; the kubelet's longest one beneath its folder has 47.
const PATH_MAX: usize = 60;

/// Folders of which every node has its own (see `Keeper::start`), so that a node inside one could not see itself.
pub(crate) const PRIVATE: [&str; 3] = ["/run", "/var/lib", "/var/log"];

/// A node that may or may not be there.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    dir: PathBuf,
    /// It was chosen by its name, not by its folder.
    named: bool,
}

impl Node {
    /// The node of this name.
    pub(crate) fn named(cache: &Path, name: &str) -> Result<Self> {
        let plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            bail!("a node's name is made of letters, digits, '.', '_' and '-' and does not start with '.': {name:?}");
        }
        Ok(Self { named: true, ..Self::at(&cache.join("nodes").join(name))? })
    }

    /// The node in this folder.
    pub(crate) fn at(dir: &Path) -> Result<Self> {
        // What names the folder is also what its processes are found by, so it is one name however it is written.
        let dir: PathBuf = std::path::absolute(dir)
            .with_context(|| format!("cannot resolve {}", dir.display()))?
            .components()
            .collect();
        usable(&dir)?;
        Ok(Self { dir, named: false })
    }

    /// The option that chooses this node.
    pub(crate) fn option(&self) -> String {
        if self.named { format!("--name {}", self.name()) } else { format!("--dir {}", self.dir.display()) }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn name(&self) -> String {
        self.dir.file_name().unwrap_or(OsStr::new("node")).to_string_lossy().into_owned()
    }

    /// A file or folder of the node.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.join(relative)
    }

    /// The administrator's.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.path("kubeconfig")
    }

    pub(crate) fn containerd_socket(&self) -> PathBuf {
        self.path("containerd.sock")
    }

    /// Folders for local and hostPath volumes: there is no provisioner.
    pub(crate) fn volumes(&self) -> PathBuf {
        self.path("volumes")
    }

    pub(crate) fn log(&self, component: &str) -> PathBuf {
        self.path(&format!("log/{component}.log"))
    }

    /// The cgroup of its pods, in every hierarchy.
    pub(crate) fn cgroup(&self) -> String {
        let digest = Sha256::digest(self.dir.as_os_str().as_encoded_bytes());
        let short = digest.iter().take(4).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        format!("anchorhold-{}-{short}", self.name())
    }

    /// Keeps others from changing the node until the file is dropped. It lies beside the folder, which comes and goes.
    pub(crate) fn lock(&self) -> Result<File> {
        let path = self.dir.with_file_name(format!("{}.lock", self.name()));
        if let Some(parent) = path.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o755)
                .create(parent)
                .with_context(|| format!("cannot make the folder {}", parent.display()))?;
        }
        let file = File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
        if file.try_lock().is_err() {
            eprintln!("waiting for another command on this node to end ({})", path.display());
            file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        }
        Ok(file)
    }
}

/// The path goes into YAML, TOML, command lines and socket addresses.
fn usable(dir: &Path) -> Result<()> {
    let text = dir.to_string_lossy();
    let plain = |character: char| character.is_ascii_alphanumeric() || "._-/".contains(character);
    if !text.chars().all(plain) {
        bail!(
            "the node's folder may have only letters, digits, '.', '_', '-' and '/' in its path: {text:?}; choose another with --dir"
        );
    }
    if text.len() > PATH_MAX {
        bail!(
            "the node's folder has a path of {} bytes, and sockets in it would be longer than the system allows; choose one of at most {PATH_MAX} with --dir: {text}",
            text.len()
        );
    }
    if dir.file_name().is_none() || dir.components().any(|part| part == Component::ParentDir) {
        bail!("the node's folder needs a name of its own, without '..': {text}");
    }
    visible_to_nodes(dir)
}

/// Whether a node sees this folder, of its own or of its programs.
pub(crate) fn visible_to_nodes(dir: &Path) -> Result<()> {
    if let Some(private) = PRIVATE.iter().find(|private| dir.starts_with(private)) {
        bail!(
            "{} is beneath {private}, of which a node has its own; set --dir and ANCHORHOLD_CACHE to folders elsewhere",
            dir.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Node;

    fn named(name: &str) -> bool {
        Node::named(Path::new("/cache"), name).is_ok()
    }

    fn at(dir: &str) -> bool {
        Node::at(Path::new(dir)).is_ok()
    }

    #[test]
    fn names_and_folders_that_would_break_a_file_or_a_socket_are_refused() {
        assert!(named("a-1.b_2"));
        assert!(!named("") && !named("../x") && !named(".x") && !named("a b"));
        assert!(at("/tmp/node"));
        assert!(!at("/tmp/a b") && !at("/run/node") && !at("/tmp/../x") && !at("/"));
        assert!(!at(&format!("/tmp/{}", "x".repeat(60))));
    }

    #[test]
    fn two_folders_of_one_name_have_cgroups_of_their_own() {
        let cgroup = |dir: &str| Node::at(Path::new(dir)).unwrap().cgroup();
        assert_ne!(cgroup("/tmp/a/node"), cgroup("/tmp/b/node"));
        assert_eq!(cgroup("/tmp/a/node"), cgroup("/tmp/./a//node/"));
    }
}
