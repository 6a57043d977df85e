//! Running other programs to their end.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// What the program printed. Its failure is an error that says what was run and what it complained of.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let output = command_output(command, None)?;
    finish(command, &output)
}

/// As [`run`], with `input` on the program's standard input.
pub(crate) fn run_with_input(command: &mut Command, input: &[u8]) -> Result<String> {
    let output = command_output(command, Some(input))?;
    finish(command, &output)
}

fn command_output(command: &mut Command, input: Option<&[u8]>) -> Result<Output> {
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
        // A program that stops reading has failed or has seen enough: its exit status tells which.
        let _ = pipe.write_all(input);
    }
    child.wait_with_output().with_context(|| format!("cannot wait for {}", shown(command)))
}

fn finish(command: &Command, output: &Output) -> Result<String> {
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed ({}): {}", shown(command), output.status, complaint.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
