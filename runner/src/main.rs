//! Entry point of the runner: see [`anchorhold_runner::run`].

fn main() -> std::process::ExitCode {
    anchorhold_runner::run::main_with(std::env::args_os().skip(1))
}
