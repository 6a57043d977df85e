//! A node of our own, the product's images in it, the tests inside its network namespace, and nothing left of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::command::{Failed, captured, cargo, output};
use super::summary::Summary;

pub(super) struct Options<'a> {
    pub(super) root: &'a Path,
    pub(super) install: bool,
    pub(super) filter: Option<&'a str>,
    pub(super) keep_node: bool,
    pub(super) kubeconfig: bool,
}

/// The test binaries in the order they run: the charts first, on an empty cluster, then what runs on one installation.
const ORDER: [&str; 2] = ["chart", "suite"];

/// Every step is named in the summary. A step that fails leaves out those that need it, and says so.
pub(super) fn run(options: &Options<'_>, summary: &mut Summary) {
    let mut programs = Vec::new();
    if !summary.step("cluster tests: build", || {
        programs = build(options.root)?;
        Ok(String::new())
    }) {
        return summary.left_out("cluster tests (they did not build)");
    }
    let images = options.root.join("target/images");
    if !summary.step("images", || xtask(&["image", "--out", &images.to_string_lossy()])) {
        return summary.left_out("cluster tests (no images)");
    }
    if options.kubeconfig {
        for (name, program) in programs {
            summary.tests(&format!("cluster: {name}"), || output(&mut test_command(Command::new(program), options)));
        }
        return;
    }
    if !summary.step("node: programs", || {
        xtask(if options.install { &["cluster", "build", "--install"] } else { &["cluster", "build"] })
    }) {
        return summary.left_out("cluster tests (no node)");
    }
    let mut node = Node { name: format!("test-{}", std::process::id()), keep: options.keep_node };
    if !summary.step("node: up", || node.up(&images)) {
        return summary.left_out("cluster tests (the node did not start)");
    }
    let mut passed = true;
    for (name, program) in programs {
        passed &= summary.tests(&format!("cluster: {name}"), || node.run(&program, options));
    }
    if passed {
        node.keep = false;
    }
    summary.step("node: down leaves nothing behind", || node.down());
}

/// Builds the test programs and returns them by name, in [`ORDER`].
fn build(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let messages = captured(&mut cargo(
        root,
        &["test", "--locked", "--package", "anchorhold-cluster-tests", "--features", "cluster", "--no-run", "--message-format", "json"],
    ))?;
    let mut programs: Vec<(String, PathBuf)> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["kind"][0] == "test")
        .filter_map(|message| Some((message["target"]["name"].as_str()?.to_owned(), message["executable"].as_str()?.into())))
        .collect();
    programs.sort_by_key(|(name, _)| (ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()), name.clone()));
    if programs.is_empty() {
        bail!("no cluster test was built");
    }
    Ok(programs)
}

fn test_command(mut command: Command, options: &Options<'_>) -> Command {
    command.args(["--test-threads", "6"]).args(options.filter).env("ANCHORHOLD_ROOT", options.root).env("RUST_BACKTRACE", "1");
    command
}

/// A node that is taken down when it goes out of scope.
struct Node {
    name: String,
    keep: bool,
}

impl Node {
    fn up(&self, images: &Path) -> Result<String> {
        xtask(&["cluster", "up", "--name", &self.name])?;
        for image in ["anchorhold-runner.tar", "anchorhold-operator.tar"] {
            xtask(&["cluster", "load-image", "--name", &self.name, &images.join(image).to_string_lossy()])?;
        }
        Ok(String::new())
    }

    fn run(&self, program: &Path, options: &Options<'_>) -> Result<String> {
        let mut inside = Command::new(own_program()?);
        inside.args(["cluster", "exec", "--name", &self.name, "--"]).arg(program);
        inside.env("ANCHORHOLD_XTASK", own_program()?).env("ANCHORHOLD_NODE", &self.name);
        output(&mut test_command(inside, options))
    }

    fn down(&mut self) -> Result<String> {
        if self.keep {
            eprintln!("   kept: cargo xtask cluster exec --name {0} -- kubectl get pods -A; cargo xtask cluster down --name {0}", self.name);
            return Ok(String::new());
        }
        self.keep = true;
        xtask(&["cluster", "down", "--name", &self.name])
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if !self.keep
            && let Err(error) = self.down()
        {
            eprintln!("failed to take the node down: {error:#}");
        }
    }
}

fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("failed to find the path of xtask itself")
}

/// Runs another of our own tasks as a process: its failure cannot take the summary with it.
fn xtask(args: &[&str]) -> Result<String> {
    match output(Command::new(own_program()?).args(args)) {
        Err(error) if error.is::<Failed>() => Err(error.context(format!("cargo xtask {}", args.join(" ")))),
        result => result,
    }
}
