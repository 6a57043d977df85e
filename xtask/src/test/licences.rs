//! Licences, bans and origins of every dependency, by cargo-deny.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::command::{captured, output};
use crate::cargo::cargo;

/// The version that reads our deny.toml; a newer one may ask for other keys.
const CARGO_DENY: &str = "0.20.2";

/// Checks; builds cargo-deny once into the cache where it is not installed.
pub(super) fn check(root: &Path) -> Result<String> {
    let program = installed(root)?;
    // It reads the manifest of every crate in the lock file, also of those that only other platforms build.
    output(&mut cargo(root, &["fetch", "--quiet", "--locked"]))?;
    output(
        Command::new(program)
            .args([
                "--workspace",
                "--offline",
                "--locked",
                "check",
                "--hide-inclusion-graph",
                "licenses",
                "bans",
                "sources",
            ])
            .current_dir(root),
    )
}

fn installed(root: &Path) -> Result<PathBuf> {
    if captured(Command::new("cargo-deny").arg("--version")).is_ok() {
        return Ok("cargo-deny".into());
    }
    let home = crate::cluster::cache::folder()
        .context("failed to find the cache folder")?
        .join(format!("cargo-deny-{CARGO_DENY}"));
    let program = home.join("bin/cargo-deny");
    if !program.is_file() {
        eprintln!("   building cargo-deny {CARGO_DENY} once, a few minutes");
        let place = home.to_string_lossy().into_owned();
        // Outside the workspace, or its .cargo/config.toml would make the program static for nothing.
        output(
            cargo(
                root,
                &[
                    "install",
                    "--quiet",
                    "--locked",
                    "--root",
                    &place,
                    "--version",
                    CARGO_DENY,
                    "--no-default-features",
                    "cargo-deny",
                ],
            )
            .current_dir("/")
            .env_remove("CARGO_TARGET_DIR"),
        )?;
    }
    Ok(program)
}
