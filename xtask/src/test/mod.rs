//! `cargo xtask test`: everything, in the order of what fails fastest.

mod cluster_tests;
pub(crate) mod command;
mod licences;
pub(crate) mod node;
pub(crate) mod product;
mod summary;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;

use command::output;
use summary::Summary;

use crate::cargo::cargo;

/// What `cargo xtask test` takes.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Arguments {
    /// Leave the cluster and its tests out.
    #[arg(long)]
    no_cluster: bool,
    /// Leave the licence check out (it builds cargo-deny once).
    #[arg(long)]
    no_deny: bool,
    /// Install missing Debian packages; implied by CI=true.
    #[arg(long)]
    install: bool,
    /// Run the cluster tests alone, on what is built.
    #[arg(long, conflicts_with = "no_cluster")]
    only_cluster: bool,
    /// Only cluster tests whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Keep the node when a cluster test failed, to look at it.
    #[arg(long)]
    keep_node: bool,
    /// Use the cluster of KUBECONFIG instead of a node of our own. The two images must be loaded there already.
    #[arg(long)]
    kubeconfig: bool,
}

/// Runs all steps; fails at the end when one failed, so that one run tells everything.
pub(crate) fn run(args: &Arguments) -> Result<ExitCode> {
    let root = workspace_root()?;
    let mut summary = Summary::default();
    if !args.only_cluster {
        without_cluster(args, &root, &mut summary);
    }
    if args.no_cluster {
        summary.left_out("cluster tests (--no-cluster)");
    } else {
        cluster_tests::run(
            &cluster_tests::Options {
                root: &root,
                install: args.install || std::env::var_os("CI").is_some_and(|value| value == "true"),
                filter: args.filter.as_deref(),
                keep_node: args.keep_node,
                kubeconfig: args.kubeconfig,
            },
            &mut summary,
        );
    }
    summary.print();
    Ok(if summary.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn without_cluster(args: &Arguments, root: &Path, summary: &mut Summary) {
    summary.step("format", || output(&mut cargo(root, &["fmt", "--all", "--check"])));
    summary.step("lints", || {
        output(&mut cargo(
            root,
            &["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--", "-D", "warnings"],
        ))
    });
    summary
        .step("generated files", || output(std::process::Command::new(node::own_program()?).args(["gen", "--check"])));
    summary.step("the runner links no Kubernetes client", || runner_without_kube(root));
    summary.tests("workspace", || output(&mut cargo(root, &["test", "--workspace", "--locked", "--no-fail-fast"])));
    summary.step("docs", || {
        output(cargo(root, &["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"))
    });
    summary.step("quickstart and examples", || examples(root));
    if args.no_deny {
        summary.left_out("licences (--no-deny)");
    } else {
        summary.step("licences", || licences::check(root));
    }
}

/// The runner is the program that stands next to untrusted code: a Kubernetes client in it would be a way out.
fn runner_without_kube(root: &Path) -> Result<String> {
    let tree = command::captured(&mut cargo(
        root,
        &["tree", "--package", "anchorhold-runner", "--edges", "normal", "--prefix", "none", "--locked"],
    ))?;
    if let Some(line) = tree.lines().find(|line| line.starts_with("kube") || line.starts_with("k8s-openapi")) {
        bail!("anchorhold-runner depends on {line}; data flows from the operator to the runner through the plan alone");
    }
    Ok(String::new())
}

/// The first command of the README, and every example through `validate`.
#[expect(clippy::indexing_slicing, reason = "a JSON value answers a missing key with null")]
fn examples(root: &Path) -> Result<String> {
    output(&mut cargo(root, &["build", "--release", "--locked", "--package", "anchorhold"]))?;
    let run = ["run", "--quiet", "--release", "--locked", "--", "run", "examples/quickstart", "-o", "json"];
    let started = Instant::now();
    let printed = command::captured(&mut cargo(root, &run))?;
    let document: serde_json::Value = serde_json::from_str(&printed)?;
    if document["outcome"] != "Completed" {
        bail!("the quickstart ended as {}", document["outcome"]);
    }
    eprintln!("   quickstart: {} ms", started.elapsed().as_millis());
    output(&mut cargo(root, &["run", "--quiet", "--release", "--locked", "--", "validate", "examples"]))
}

/// The folder of the workspace's manifest.
pub(crate) fn workspace_root() -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    match manifest.parent() {
        Some(root) if root.join("Cargo.toml").is_file() => Ok(root.to_path_buf()),
        _ => bail!("the workspace of {} is not there any more; run xtask through cargo", manifest.display()),
    }
}
