//! What one job's commands may use: folders, programs, and a `git` of ours.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anchorhold_plan::{OUT, RunPlan, WORKSPACE};

use super::git;
use crate::kernel::display;
use crate::sandbox::{ToolAccess, devices};

/// Where programs, their libraries and their data are, on the usual systems.
const PROGRAMS: &[&str] = &["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32"];
/// What programs read before they begin.
const LOADER: &[&str] = &["/etc/ld.so.cache"];

/// The tool `shell` of one job.
#[derive(Clone, Debug)]
pub struct Shell {
    pub(super) program: PathBuf,
    /// The name a tool knows it by, and where it is: sources, and then the output folder.
    folders: Vec<(String, PathBuf)>,
    output: PathBuf,
    pub(super) file_bytes: u64,
    pub(super) scratch: PathBuf,
    pub(super) scopes: bool,
    /// The folder in which commands find our `git`, and this program's own path.
    git: Option<(PathBuf, PathBuf)>,
}

impl Shell {
    /// The shell over a plan's folders. `program` is this program, started again as the supervisor: its `main` begins with
    /// [`run_if_asked`](super::run_if_asked). `scratch` is an existing folder that commands may write to beside the output folder.
    #[must_use]
    pub fn new(plan: &RunPlan, program: impl Into<PathBuf>, scratch: impl Into<PathBuf>) -> Self {
        let folders = plan.sources.iter().map(|source| (source.shown_path(), PathBuf::from(&source.path)));
        Self {
            program: program.into(),
            folders: folders.collect(),
            output: PathBuf::from(&plan.output.path),
            file_bytes: plan.output.size_limit_bytes,
            scratch: scratch.into(),
            scopes: true,
            git: None,
        }
    }

    /// Has commands find, in `folder`, a `git` that starts nothing a repository names. The folder is made if need be; commands
    /// must not be able to write to it. Without a git in the system there is nothing to do.
    ///
    /// Called before the runner confines itself, which may not make links.
    pub fn with_guarded_git(mut self, folder: &Path) -> io::Result<Self> {
        if git::find().is_none() {
            return Ok(self);
        }
        // A name that stays true in another process; /proc/self/exe means whoever asks.
        let program = self.program.canonicalize()?;
        fs::create_dir_all(folder)?;
        let link = folder.join(git::NAME);
        match symlink(&program, &link) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && link.read_link()? == program => {}
            made => made?,
        }
        self.git = Some((folder.canonicalize()?, program));
        Ok(self)
    }

    /// Has commands confined as on a kernel whose Landlock keeps no signals in, before ABI 6.
    #[must_use]
    pub fn without_scopes(mut self) -> Self {
        self.scopes = false;
        self
    }

    /// What commands may read, write and execute. The runner must have as much itself: no process gets more than the one
    /// that starts it.
    #[must_use]
    pub fn access(&self) -> ToolAccess {
        let existing =
            |paths: &[&str]| paths.iter().map(Path::new).filter(|path| path.exists()).map(PathBuf::from).collect();
        let mut programs: Vec<PathBuf> = existing(PROGRAMS);
        programs.extend(self.folders.iter().map(|(_, real)| real.clone()));
        programs.extend(self.git.iter().map(|(_, program)| program.clone()));
        if self.is_mounted() {
            programs.push(PathBuf::from(WORKSPACE));
        }
        let (mut write, mut read) = devices();
        read.extend::<Vec<PathBuf>>(existing(LOADER));
        write.extend([self.output.clone(), self.scratch.clone()]);
        ToolAccess { programs, read, write }
    }

    /// Whether each source is where its name says: in a pod.
    fn is_mounted(&self) -> bool {
        !self.folders.is_empty() && self.folders.iter().all(|(shown, real)| Path::new(shown) == real)
    }

    /// The folder in which commands find our `git` before any other.
    pub(super) fn first_programs(&self) -> Option<&Path> {
        self.git.as_ref().map(|(folder, _)| folder.as_path())
    }

    /// The folder a command begins in.
    pub(super) fn folder(&self) -> &Path {
        match self.folders.as_slice() {
            [] => &self.scratch,
            [_, _, ..] if self.is_mounted() => Path::new(WORKSPACE),
            [(_, first), ..] => first,
        }
    }

    /// A model knows folders by the names of a pod; elsewhere they are elsewhere.
    pub(super) fn elsewhere(&self, command: &str) -> String {
        let out = (OUT.to_owned(), self.output.clone());
        let moved = self.folders.iter().chain([&out]);
        let moved = moved.filter(|(shown, real)| Path::new(shown) != real && names(command, shown));
        moved
            .flat_map(|(shown, real)| ["; ".into(), shown.clone(), " is ".into(), display::path(real), " here".into()])
            .collect()
    }
}

/// Whether a command has this absolute path in it, and not as a part of a longer name.
fn names(command: &str, path: &str) -> bool {
    let in_name = |character: char| character.is_alphanumeric() || "/._-".contains(character);
    command.match_indices(path).any(|(at, _)| {
        let (before, after) = (command.get(..at), command.get(at + path.len()..));
        !before.is_some_and(|text| text.ends_with(in_name))
            && !after.is_some_and(|text| !text.starts_with('/') && text.starts_with(in_name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_only_as_a_whole() {
        for command in ["/out", "ls /out/x", "echo x>/out", "A=/out;", "cp x '/out'", "ls /tmp/out /out"] {
            assert!(names(command, "/out"), "{command}");
        }
        for command in ["", "ls /outside", "ls /tmp/out", "ls ./out", "ls /out.old", "ls out"] {
            assert!(!names(command, "/out"), "{command}");
        }
    }
}
