//! Which files a command line names, and their text.
//!
//! A folder stands for every `*.yaml`, `*.yml` and `*.json` beneath it, in order of their paths; folders whose name starts
//! with a dot are left out, links to folders are not followed. A file that is named is read whatever its name.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::finding::Finding;

/// Bytes of one file. The API server takes 3 MiB in one request; a bundle of many objects may be larger.
pub(crate) const FILE_MAX_BYTES: u64 = 16 << 20;
/// Files of one command line.
const FILES_MAX: usize = 10_000;

/// A file's text and where it came from.
#[derive(Debug)]
pub(crate) struct ManifestFile {
    /// As it is shown.
    pub(crate) name: Arc<str>,
    /// Where it lies; `None` for standard input.
    pub(crate) path: Option<PathBuf>,
    pub(crate) text: String,
    /// Whether the command line named it, rather than a folder around it.
    pub(crate) named: bool,
}

/// Reads every file that the paths stand for; `-` is standard input. What cannot be read is a finding.
pub(crate) fn read(paths: &[PathBuf]) -> (Vec<ManifestFile>, Vec<Finding>) {
    let (mut files, mut findings) = (Vec::new(), Vec::new());
    for path in paths {
        let name: Arc<str> = path.to_string_lossy().into();
        if path == Path::new("-") {
            match text(io::stdin().lock()) {
                Ok(text) => files.push(ManifestFile { name, path: None, text, named: true }),
                Err(problem) => findings.push(Finding::file(&name, problem)),
            }
            continue;
        }
        let mut found = Vec::new();
        let is_folder = path.is_dir();
        if is_folder {
            if let Err(problem) = walk(path, &mut found, &mut findings) {
                findings.push(Finding::file(&name, problem));
                continue;
            }
            if found.is_empty() {
                findings.push(Finding::file(
                    &name,
                    "the folder holds no *.yaml, *.yml or *.json file; name a folder that does",
                ));
            }
            found.sort();
        } else {
            found.push(path.clone());
        }
        for path in found {
            let name: Arc<str> = path.to_string_lossy().into();
            match File::open(&path).map_err(|error| format!("failed to open the file: {error}")).and_then(text) {
                Ok(text) => files.push(ManifestFile { name, path: Some(path), text, named: !is_folder }),
                Err(problem) => findings.push(Finding::file(&name, problem)),
            }
        }
    }
    (files, findings)
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>, findings: &mut Vec<Finding>) -> Result<(), String> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error: io::Error| format!("failed to list {}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let path = entry.path();
            if kind.is_dir() {
                if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                    folders.push(path);
                }
            } else if kind.is_symlink() && path.is_dir() {
                let problem = "is a link to a folder, which is not followed; name it on the command line";
                findings.push(Finding::note(&path.to_string_lossy().into(), problem));
            } else if is_manifest(&path) {
                // What can only fail to open is opened all the same: the failure is then told.
                if path.exists() && !path.is_file() {
                    findings.push(Finding::file(&path.to_string_lossy().into(), "is no regular file; take it away"));
                    continue;
                }
                found.push(path);
                if found.len() > FILES_MAX {
                    return Err(format!("the folder holds more than {FILES_MAX} manifests; name a smaller one"));
                }
            }
        }
    }
    Ok(())
}

fn is_manifest(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|extension| matches!(extension, "yaml" | "yml" | "json"))
}

/// Reads a text of bounded size. The error is a sentence.
fn text(from: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    from.take(FILE_MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("failed to read the file: {error}"))?;
    if bytes.len() as u64 > FILE_MAX_BYTES {
        return Err(format!("the file is larger than {FILE_MAX_BYTES} bytes; split it"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = valid.split(|byte| *byte == b'\n').count();
        format!("line {line} is not UTF-8; save the file as UTF-8")
    })
}
