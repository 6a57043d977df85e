//! Lists what a run left in `/out`.

use std::io::{self, Read};
use std::path::Path;

use anchorhold_plan::OutputFile;
use sha2::{Digest, Sha256};

use crate::kernel::each_file;
use crate::kernel::roots::{FileKind, OpenedFile, Root};
use crate::record::hexadecimal;

/// Files that are named; the rest is only counted.
const NAMED: usize = 1_000;
/// Files that are counted.
const COUNTED: u64 = 1_000_000;
/// Bytes that are hashed in all: about a second of work. A file beyond them has an empty hash.
const HASHED: u64 = 512 << 20;

/// The first files by path, and how many there are.
pub(super) fn list(out: &Root) -> (Vec<OutputFile>, u64) {
    let mut files = Vec::new();
    let mut total = 0;
    let mut budget = HASHED;
    each_file(out, &mut |below, shown| {
        total += 1;
        if files.len() < NAMED
            && let Some(file) = describe(out, below, shown, &mut budget)
        {
            files.push(file);
        }
        total < COUNTED
    });
    (files, total)
}

fn describe(root: &Root, below: &Path, shown: String, budget: &mut u64) -> Option<OutputFile> {
    let OpenedFile { file, kind, size } = root.open_file(below).ok()?;
    if kind != FileKind::File {
        return None;
    }
    let mut sha256 = String::new();
    if let Some(left) = budget.checked_sub(size) {
        *budget = left;
        sha256 = hash(&mut file.take(size)).unwrap_or_default();
    }
    Some(OutputFile { name: shown, size_bytes: size, sha256 })
}

fn hash(reader: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(&hasher.finalize())),
            Ok(read) => hasher.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
