//! The images that only tests use: an attacker in the runner's place, and a folder of code as an OCI image.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use crate::oci::{Image, ImageFile};

/// Writes both into the folder and returns the archives.
pub(super) fn write(folder: &Path, attacker: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let program = fs::read(attacker).with_context(|| format!("cannot read {}", attacker.display()))?;
    let images = [
        ("anchorhold-test-attacker", "65532:65532", vec![file("anchorhold-runner", 0o755, program)]),
        (
            "anchorhold-test-code",
            "",
            vec![
                file("hello.txt", 0o644, b"hello\n".to_vec()),
                file("src/lib.rs", 0o644, b"pub fn answer() {}\n".to_vec()),
            ],
        ),
    ];
    images
        .into_iter()
        .map(|(name, user, files)| {
            let image = Image { reference: format!("localhost/{name}:1"), config: json!({"User": user}), files };
            let archive = folder.join(format!("{name}.tar"));
            let output = File::create(&archive).with_context(|| format!("cannot write {}", archive.display()))?;
            image.write_archive(BufWriter::new(output))?;
            Ok(archive)
        })
        .collect()
}

fn file(path: &str, mode: u32, contents: Vec<u8>) -> ImageFile {
    ImageFile { path: path.into(), mode, contents }
}
