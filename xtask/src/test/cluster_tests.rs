//! The product on a real cluster: every step is named in the summary, and nothing of the node is left.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::command::output;
use super::node::{TestNode, xtask};
use super::product::Product;
use super::summary::Summary;
use crate::cargo::cargo;

pub(super) struct Options<'a> {
    pub(super) root: &'a Path,
    pub(super) install: bool,
    pub(super) filter: Option<&'a str>,
    pub(super) keep_node: bool,
    pub(super) kubeconfig: bool,
}

/// A step that fails leaves out those that need it, and says so.
pub(super) fn run(options: &Options<'_>, summary: &mut Summary) {
    let mut product = Product::default();
    let mut archives = Vec::new();
    if !summary.step("cluster tests: build, and the images", || {
        product = Product::build(options.root)?;
        archives = product.images(&options.root.join("target/images"))?;
        Ok(String::new())
    }) {
        return summary.left_out("cluster tests (they did not build)");
    }
    if options.kubeconfig {
        for (name, program) in &product.tests {
            summary.tests(&format!("cluster: {name}"), || {
                output(&mut test_command(Command::new(program), options, &product))
            });
        }
        return;
    }
    if !summary.step("node: programs", || xtask(&["cluster", "build"])) {
        return summary.left_out("cluster tests (no node)");
    }
    summary.step("node: its Go program", || go_vet(options.root));
    let mut node = TestNode::new(options.keep_node);
    if !summary.step("node: up", || node.up(&archives, options.install)) {
        return summary.left_out("cluster tests (the node did not start)");
    }
    let mut passed = true;
    for (name, program) in &product.tests {
        passed &= summary
            .tests(&format!("cluster: {name}"), || output(&mut test_command(node.inside(program)?, options, &product)));
    }
    if passed {
        node.keep = false;
    }
    summary.step("node: down leaves nothing behind", || node.down());
    // Last: it builds xtask once more, in the place of the one that runs.
    let lifecycle = ["test", "--locked", "--package", "xtask", "--features", "cluster", "--test", "cluster_lifecycle"];
    summary.tests("cluster: lifecycle of a node", || {
        output(cargo(options.root, &lifecycle).arg("--").args(options.filter))
    });
    if let Some(filter) = options.filter
        && !summary.ran_a_test("cluster")
    {
        summary.step("cluster: filter", || bail!("no cluster test's name contains {filter}"));
    }
}

fn test_command(mut command: Command, options: &Options<'_>, product: &Product) -> Command {
    command.args(["--test-threads", "6"]).args(options.filter);
    command.env("ANCHORHOLD_ROOT", options.root).env("ANCHORHOLD_OPERATOR", &product.operator);
    command
}

/// With the flags of the build, whose packages the compiler then finds in its cache.
fn go_vet(root: &Path) -> Result<String> {
    output(
        Command::new("go")
            .args(["vet", "-trimpath", "./..."])
            .current_dir(root.join("tests/cluster"))
            .env("CGO_ENABLED", "0"),
    )
}
