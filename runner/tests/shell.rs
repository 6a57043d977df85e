//! The tool `shell`: real commands, in the real supervisor.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod job;

use std::fs;

use anchorhold_plan::KernelTool::Shell;
use anchorhold_plan::ToolCaller;
use anchorhold_runner::kernel::{Allowance, Cancel};
use job::{Job, allowance, told};
use serde_json::{Value, json};

/// What a model is told of a call.
fn call(job: &Job, arguments: Value) -> String {
    told(job.kernel_with_shell().call(Shell, arguments, &allowance(ToolCaller::Model)))
}

fn run(job: &Job, command: &str) -> String {
    call(job, json!({"command": command}))
}

#[test]
fn a_command_runs_in_the_source_and_its_exit_code_is_told() {
    let job = Job::new();
    let folder = job.path("app").canonicalize().unwrap();
    assert_eq!(run(&job, "pwd; cat main.rs; exit 3"), format!("{}\nfn main() {{}}\n[exit code 3]", folder.display()));
    assert_eq!(run(&job, "true"), "[exit code 0; no output]");
    assert_eq!(run(&job, "kill -SEGV $$"), "[ended by signal 11 (SIGSEGV); no output]");
    assert_eq!(run(&job, "no-such-program"), "/bin/sh: 1: no-such-program: not found\n[exit code 127]");
}

#[test]
fn output_and_errors_come_as_they_were_printed() {
    assert_eq!(run(&Job::new(), "echo a; echo b >&2; echo c"), "a\nb\nc\n[exit code 0]");
}
