//! `cargo xtask`: everything a contributor or the build machine does besides `cargo build` and `cargo test`.

mod bench;
mod cargo;
mod cluster;
mod r#gen;
mod image;
mod oci;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Development tasks of Anchorhold", version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

/// One variant a module: a new task adds a line here and one in `run`.
#[derive(Subcommand)]
enum Task {
    /// A real one-node Kubernetes on this machine: build it, start it, use it, remove it
    Cluster(cluster::Arguments),
    /// The files that are made from code and committed: writes them, or checks them with --check
    Gen(r#gen::Arguments),
    /// The images of the runner and the operator, made without a container engine
    Image(image::Arguments),
    /// Everything: format, lints, generated files, tests, docs, licences, and the product on a real cluster
    Test(test::Arguments),
    /// Speed, as ratios within one run
    Bench(bench::Arguments),
}

fn run(task: Task) -> anyhow::Result<ExitCode> {
    match task {
        Task::Cluster(arguments) => cluster::run(arguments),
        Task::Gen(arguments) => r#gen::run(&arguments),
        Task::Image(arguments) => image::run(arguments),
        Task::Test(arguments) => test::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
    }
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }
}
