//! Adds up what a root holds.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::kernel::roots::{FileKind, PathError, Root};
use crate::kernel::{Cancel, display};
use crate::tool::ToolError;

/// Files, folders and everything else that is looked at. As many as are listed when the run ends.
const MOST_ENTRIES: usize = 1_000_000;

/// The sizes of all regular files beneath a root: hidden ones, those in `.git`, and each name of a file that has several.
///
/// # Errors
/// When there are more than 1,000,000 entries, when a folder cannot be read, and when the call was cancelled: what is not
/// known is not taken for little.
pub(super) fn bytes(root: &Root, cancel: &Cancel) -> Result<u64, ToolError> {
    let mut total = 0_u64;
    let mut left = MOST_ENTRIES;
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        cancel.check()?;
        let entries = match root.entries(&folder) {
            Ok(entries) => entries,
            Err(PathError::Io { source, .. }) if is_gone(&source) && !folder.as_os_str().is_empty() => continue,
            Err(error) => return Err(uncounted(root, &error.to_string())),
        };
        for entry in entries {
            let entry = entry.map_err(|error| uncounted(root, &error.to_string()))?;
            left = left.checked_sub(1).ok_or_else(|| {
                let most = display::grouped(MOST_ENTRIES as u64);
                uncounted(root, &format!("it has more than {most} files and folders"))
            })?;
            if left.is_multiple_of(1024) {
                cancel.check()?;
            }
            let below = folder.join(OsStr::from_bytes(&entry.name));
            match entry.kind {
                FileKind::Folder => folders.push(below),
                FileKind::File | FileKind::Unknown => match root.describe(&below) {
                    Ok((FileKind::Folder, _)) => folders.push(below),
                    Ok((FileKind::File, size)) => total = total.saturating_add(size),
                    Ok(_) => {}
                    Err(errno) if is_gone(&errno.into()) => {}
                    Err(errno) => return Err(uncounted(root, &unreadable(&below, errno))),
                },
                FileKind::Link | FileKind::Fifo | FileKind::Socket | FileKind::Device => {}
            }
        }
    }
    Ok(total)
}

/// What was removed or swapped since it was listed.
fn is_gone(error: &std::io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP];
    error.raw_os_error().is_some_and(|number| gone.iter().any(|errno| errno.raw_os_error() == number))
}

fn unreadable(below: &Path, errno: Errno) -> String {
    format!("{}: {errno}", display::path(below))
}

fn uncounted(root: &Root, problem: &str) -> ToolError {
    ToolError::Failed(format!("nothing was written: what {} holds cannot be counted: {problem}", root.shown()))
}
