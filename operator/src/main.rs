//! Entry point: flags in, exit status out.

use std::process::ExitCode;

use anchorhold_operator::args::Args;
use anchorhold_operator::serve;
use clap::Parser as _;

fn main() -> ExitCode {
    match serve::run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Also a wrong --log-level ends here, so the line does not go through the log.
            eprintln!("anchorhold-operator: {error:#}");
            ExitCode::FAILURE
        }
    }
}
