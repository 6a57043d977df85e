//! Which files a repository asks to leave out: `.gitignore`, `.ignore` and `.git/info/exclude`, read through the roots.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::roots::{FileKind, Root};

/// Bytes read of one ignore file. Real ones have a few kilobytes; the rest of a larger one is left unread.
const IGNORE_FILE_MAX: u64 = 256 * 1024;

/// The rules of one folder and of those above it.
#[derive(Clone, Default)]
pub(super) struct Rules {
    /// From the outermost folder inwards.
    levels: Vec<std::sync::Arc<Gitignore>>,
}

impl Rules {
    /// These rules with those of one more folder, if it has any. `names` says which ignore files the folder holds.
    pub(super) fn with_folder(&self, root: &Root, folder: &Path, names: IgnoreFiles) -> Self {
        let mut rules = self.clone();
        if names.is_empty() {
            return rules;
        }
        // Matching is relative to the folder; the absolute prefix is only a name and nothing is looked up by it.
        let mut builder = GitignoreBuilder::new(Path::new("/").join(folder));
        // The last matching line wins, so the strongest file comes last.
        let sources = [
            (names.git, PathBuf::from(".git/info/exclude")),
            (names.gitignore, PathBuf::from(".gitignore")),
            (names.ignore, PathBuf::from(".ignore")),
        ];
        for (present, name) in sources {
            if present {
                for line in lines(root, &folder.join(name)) {
                    // A line that is no pattern ignores nothing, as in git.
                    let _ = builder.add_line(None, &line);
                }
            }
        }
        if let Ok(level) = builder.build()
            && !level.is_empty()
        {
            rules.levels.push(std::sync::Arc::new(level));
        }
        rules
    }

    /// Whether the path, relative to the root, is to be left out. The innermost folder with an opinion decides.
    pub(super) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        if self.levels.is_empty() {
            return false;
        }
        let path = Path::new("/").join(path);
        for level in self.levels.iter().rev() {
            match level.matched(&path, is_folder) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }
}

/// The ignore files seen while a folder was listed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IgnoreFiles {
    gitignore: bool,
    ignore: bool,
    git: bool,
}

impl IgnoreFiles {
    /// Notes a name that was seen.
    pub(super) fn see(&mut self, name: &[u8]) {
        match name {
            b".gitignore" => self.gitignore = true,
            b".ignore" => self.ignore = true,
            b".git" => self.git = true,
            _ => {}
        }
    }

    /// All of them, for a folder that is not listed itself.
    pub(super) const fn maybe() -> Self {
        Self { gitignore: true, ignore: true, git: true }
    }

    const fn is_empty(self) -> bool {
        !self.gitignore && !self.ignore && !self.git
    }
}

/// The lines of an ignore file; none if it is not a readable regular file.
fn lines(root: &Root, path: &Path) -> Vec<String> {
    let Ok(opened) = root.open_file(path) else { return Vec::new() };
    if opened.kind != FileKind::File {
        return Vec::new();
    }
    let mut text = Vec::new();
    if opened.file.take(IGNORE_FILE_MAX).read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&text);
    text.trim_start_matches('\u{feff}').lines().map(str::to_owned).collect()
}

/// Whether a name belongs to git itself.
pub(super) fn is_git(name: &[u8]) -> bool {
    OsStr::from_bytes(name) == ".git"
}
