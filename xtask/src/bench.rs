//! `cargo xtask bench`: speed as ratios within one run, on a node of its own.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::test::command::output;
use crate::test::node::{TestNode, xtask};
use crate::test::product::Product;
use crate::test::workspace_root;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// From create to a script's first line, beside bare pods and batch/v1 Jobs; a burst; requests; the idle operator
    JobStart {
        /// Objects of each kind, one after the other
        #[arg(long, default_value_t = 20)]
        rounds: u16,
        /// Objects at once
        #[arg(long, default_value_t = 200)]
        burst: u16,
        /// Install missing Debian packages
        #[arg(long)]
        install: bool,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Bench::JobStart { rounds, burst, install } = &arguments.bench;
    let root = workspace_root()?;
    let product = Product::build(&root)?;
    let archives = product.images(&root.join("target/images"))?;
    xtask(&["cluster", "build"])?;
    let mut node = TestNode::new(false);
    node.up(&archives, *install)?;
    let mut bench = node.inside(&product.job_start)?;
    bench.env("ANCHORHOLD_ROOT", &root).env("ROUNDS", rounds.to_string()).env("BURST", burst.to_string());
    output(&mut bench)?;
    node.down()?;
    Ok(ExitCode::SUCCESS)
}
