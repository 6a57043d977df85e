//! What a command starts when it starts `git`: git, with nothing else to start.
//!
//! A repository's configuration names programs in more places than can be listed: filters and text converters by any name,
//! aliases, hooks, pagers, monitors, drivers for merges. Settings in the environment override the fixed names among them; all
//! of them are cut off by the kernel here, since git and its own programs are the only ones that this process may start.
//! `/bin/sh`, through which git starts everything that has an argument, is not among them.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::environment::PROGRAM_FOLDERS;
use crate::sandbox::confine_programs;

/// The name under which this program is found by a command.
pub(super) const NAME: &str = "git";

/// Where git has its own programs, on the usual systems.
const OWN_PROGRAMS: &[&str] =
    &["/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core", "/usr/local/lib/git-core"];

/// What the kernel starts to load a program that is not static.
const LOADERS: &[&str] = &[
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

/// The exit codes of a shell for a program that does not exist, and for one that cannot be started.
const MISSING: u8 = 127;
const REFUSED: u8 = 126;

/// The git of this system.
pub(super) fn find() -> Option<PathBuf> {
    PROGRAM_FOLDERS.iter().map(|folder| Path::new(folder).join(NAME)).find(|path| path.is_file())
}

/// Becomes git when this process was started by that name; `None` otherwise.
pub(super) fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os();
    let name = arguments.next()?;
    if Path::new(&name).file_name() != Some(OsStr::new(NAME)) {
        return None;
    }
    let Some(git) = find() else {
        eprintln!("git: not found");
        return Some(ExitCode::from(MISSING));
    };
    let existing = OWN_PROGRAMS.iter().chain(LOADERS).map(PathBuf::from).filter(|path| path.exists());
    let programs: Vec<PathBuf> = existing.chain([git.clone()]).collect();
    if let Err(error) = confine_programs(&programs) {
        eprintln!("git: {error}");
        return Some(ExitCode::from(REFUSED));
    }
    let error = Command::new(&git).arg0(NAME).args(arguments).exec();
    eprintln!("git: failed to start {}: {error}", git.display());
    Some(ExitCode::from(REFUSED))
}
