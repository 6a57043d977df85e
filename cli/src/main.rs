//! The command line: runs and checks the manifests of jobs without a cluster.

#![forbid(unsafe_code)]

/// A line on standard error. That it cannot be written changes nothing of how the command ends.
macro_rules! say {
    ($($arguments:tt)*) => {
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{}\n", format_args!($($arguments)*)));
    };
}

mod args;
mod document;
mod exit;
mod finding;
mod manifest;
mod report;
mod run;
mod validate;
mod version;

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    // The parts of a run are this same program: it must become one before anything else is set up.
    if let Some(ended) = anchorhold_runner::run::part_if_asked() {
        return ended;
    }
    let mut command = Cli::command();
    if is_kubectl_plugin() {
        command = command.bin_name("kubectl anchorhold");
    }
    let cli = match Cli::from_arg_matches(&command.get_matches_mut()) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    if let Command::Runner(args) = &cli.command {
        return run::follow_parent(args);
    }
    match dispatch(&cli, &mut command) {
        Ok(exit) => exit.into(),
        // Whoever reads the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Completed.into(),
        Err(error) => {
            say!("error: failed to write the output: {error}");
            Exit::Usage.into()
        }
    }
}

fn dispatch(cli: &Cli, command: &mut clap::Command) -> io::Result<Exit> {
    match &cli.command {
        Command::Validate(args) => validate::command::run(args),
        Command::Report(args) => report::run(args),
        Command::Version(args) => version::run(args),
        Command::Completion(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, command, "anchorhold", &mut script);
            io::Write::write_all(&mut io::stdout().lock(), &script)?;
            Ok(Exit::Completed)
        }
        Command::Run(args) => run::run(args),
        // `main` has become the runner before it came here.
        Command::Runner(_) => Ok(Exit::Usage),
    }
}

/// Whether `kubectl anchorhold` started this program: it looks for a program of that name.
fn is_kubectl_plugin() -> bool {
    std::env::args_os()
        .next()
        .as_deref()
        .map(Path::new)
        .and_then(Path::file_name)
        .and_then(OsStr::to_str)
        .is_some_and(|name| name.starts_with("kubectl-anchorhold"))
}
