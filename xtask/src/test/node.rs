//! A node of our own with the product's images in it, taken down when it goes out of scope.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::command::{Failed, output};

/// A node for one run.
pub(crate) struct TestNode {
    name: String,
    /// Whether it stays when it goes out of scope.
    pub(crate) keep: bool,
}

impl TestNode {
    /// A node that is not there yet; its name is this process's own.
    pub(crate) fn new(keep: bool) -> Self {
        Self { name: format!("test-{}", std::process::id()), keep }
    }

    /// Starts it and loads the images.
    pub(crate) fn up(&self, archives: &[PathBuf], install: bool) -> Result<String> {
        // As many requests as a cluster's own controllers need not wait for: the default of 20 a second is their limit,
        // not ours, and a burst of two hundred would measure it.
        let controllers = "kube-controller-manager=--kube-api-qps=200";
        let burst = "kube-controller-manager=--kube-api-burst=400";
        let mut up =
            vec!["cluster", "up", "--name", &self.name, "--component-arg", controllers, "--component-arg", burst];
        if install {
            up.push("--install");
        }
        xtask(&up)?;
        for archive in archives {
            xtask(&["cluster", "load-image", "--name", &self.name, &archive.to_string_lossy()])?;
        }
        Ok(String::new())
    }

    /// A command that runs the program inside.
    pub(crate) fn inside(&self, program: &Path) -> Result<Command> {
        let mut inside = Command::new(own_program()?);
        inside
            .args(["cluster", "exec", "--name", &self.name, "--"])
            .arg(program)
            .env("ANCHORHOLD_XTASK", own_program()?);
        Ok(inside)
    }

    /// Takes it down, unless it is kept.
    pub(crate) fn down(&mut self) -> Result<String> {
        if self.keep {
            let name = &self.name;
            eprintln!(
                "   kept: cargo xtask cluster --name {name} exec -- kubectl get pods -A; then cargo xtask cluster --name {name} down"
            );
            return Ok(String::new());
        }
        self.keep = true;
        xtask(&["cluster", "down", "--name", &self.name])
    }
}

impl Drop for TestNode {
    fn drop(&mut self) {
        if !self.keep
            && let Err(error) = self.down()
        {
            eprintln!("failed to take the node down: {error:#}");
        }
    }
}

/// This program. One that was built anew since it started lies at the same path, which the kernel then calls deleted.
pub(crate) fn own_program() -> Result<PathBuf> {
    let path = std::env::current_exe().context("failed to find the path of xtask itself")?;
    Ok(path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map_or_else(|| path.clone(), PathBuf::from))
}

/// Runs another of our own tasks as a process: its failure cannot take the caller's summary with it.
pub(crate) fn xtask(args: &[&str]) -> Result<String> {
    match output(Command::new(own_program()?).args(args)) {
        Err(error) if error.is::<Failed>() => Err(error.context(format!("cargo xtask {}", args.join(" ")))),
        result => result,
    }
}
