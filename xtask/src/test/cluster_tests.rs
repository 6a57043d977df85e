//! A node of our own, the product's images in it, the tests inside its network namespace, and nothing left of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::command::{Failed, captured, cargo, output};
use super::summary::Summary;
use super::test_images;

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
    let mut built = Built::default();
    if !summary.step("cluster tests: build", || {
        built = build(options.root)?;
        Ok(String::new())
    }) {
        return summary.left_out("cluster tests (they did not build)");
    }
    let folder = options.root.join("target/images");
    let mut archives = vec![folder.join("anchorhold-runner.tar"), folder.join("anchorhold-operator.tar")];
    if !summary.step("images", || {
        archives.extend(test_images::write(&folder, &built.attacker)?);
        xtask(&["image", "--out", &folder.to_string_lossy()])
    }) {
        return summary.left_out("cluster tests (no images)");
    }
    if options.kubeconfig {
        for (name, program) in &built.tests {
            summary.tests(&format!("cluster: {name}"), || {
                output(&mut test_command(Command::new(program), options, &built.operator))
            });
        }
        return;
    }
    if !summary.step("node: programs", || xtask(&["cluster", "build"])) {
        return summary.left_out("cluster tests (no node)");
    }
    let mut node = Node { name: format!("test-{}", std::process::id()), keep: options.keep_node };
    if !summary.step("node: up", || node.up(&archives, options.install)) {
        return summary.left_out("cluster tests (the node did not start)");
    }
    let mut passed = true;
    for (name, program) in &built.tests {
        passed &= summary.tests(&format!("cluster: {name}"), || node.run(program, options, &built.operator));
    }
    if passed {
        node.keep = false;
    }
    summary.step("node: down leaves nothing behind", || node.down());
}

/// What the cluster tests run.
#[derive(Default)]
struct Built {
    /// The test programs by name, in [`ORDER`].
    tests: Vec<(String, PathBuf)>,
    attacker: PathBuf,
    /// The operator of the release profile, the same program as in the image.
    operator: PathBuf,
}

fn build(root: &Path) -> Result<Built> {
    let tests = ["test", "--locked", "--package", "anchorhold-cluster-tests", "--features", "cluster", "--no-run"];
    let made = executables(root, &tests)?;
    let operator = executables(root, &["build", "--locked", "--release", "--package", "anchorhold-operator"])?;
    let named = |all: &[Executable], name: &str| {
        let found = all.iter().find(|made| made.kind == "bin" && made.name == name).map(|made| made.path.clone());
        found.with_context(|| format!("cargo built no program {name}"))
    };
    let (attacker, operator) = (named(&made, "attacker")?, named(&operator, "anchorhold-operator")?);
    let mut tests: Vec<_> =
        made.into_iter().filter(|made| made.kind == "test").map(|made| (made.name, made.path)).collect();
    tests.sort_by_key(|(name, _)| (ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()), name.clone()));
    if tests.is_empty() {
        bail!("no cluster test was built");
    }
    Ok(Built { tests, attacker, operator })
}

/// A program that cargo made.
struct Executable {
    kind: String,
    name: String,
    path: PathBuf,
}

/// Runs cargo and returns the programs it made or found made.
#[expect(clippy::indexing_slicing, reason = "a JSON value answers a missing key with null")]
fn executables(root: &Path, args: &[&str]) -> Result<Vec<Executable>> {
    let messages = captured(cargo(root, args).args(["--message-format", "json-render-diagnostics"]))?;
    let read = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(Executable {
            kind: message["target"]["kind"][0].as_str()?.to_owned(),
            name: message["target"]["name"].as_str()?.to_owned(),
            path: message["executable"].as_str()?.into(),
        })
    };
    Ok(messages.lines().filter_map(read).collect())
}

fn test_command(mut command: Command, options: &Options<'_>, operator: &Path) -> Command {
    command.args(["--test-threads", "6"]).args(options.filter);
    command.env("ANCHORHOLD_ROOT", options.root).env("ANCHORHOLD_OPERATOR", operator).env("RUST_BACKTRACE", "1");
    command
}

/// A node that is taken down when it goes out of scope.
struct Node {
    name: String,
    keep: bool,
}

impl Node {
    fn up(&self, archives: &[PathBuf], install: bool) -> Result<String> {
        let mut up = vec!["cluster", "up", "--name", &self.name];
        if install {
            up.push("--install");
        }
        xtask(&up)?;
        for archive in archives {
            xtask(&["cluster", "load-image", "--name", &self.name, &archive.to_string_lossy()])?;
        }
        Ok(String::new())
    }

    fn run(&self, program: &Path, options: &Options<'_>, operator: &Path) -> Result<String> {
        let mut inside = Command::new(own_program()?);
        inside.args(["cluster", "exec", "--name", &self.name, "--"]).arg(program);
        inside.env("ANCHORHOLD_XTASK", own_program()?);
        output(&mut test_command(inside, options, operator))
    }

    fn down(&mut self) -> Result<String> {
        if self.keep {
            eprintln!(
                "   kept: cargo xtask cluster exec --name {0} -- kubectl get pods -A; cargo xtask cluster down --name {0}",
                self.name
            );
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
