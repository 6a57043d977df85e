//! Running other programs: output passes through as it comes and is kept for the summary.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// Runs, lets standard error through, shows standard output as it comes and returns it.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    run(command, true)
}

/// As [`output`], without showing standard output.
pub(crate) fn captured(command: &mut Command) -> Result<String> {
    run(command, false)
}

fn run(command: &mut Command, show: bool) -> Result<String> {
    let said = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start {said}"))?;
    let mut text = String::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.with_context(|| format!("failed to read what {said} prints"))?;
            let line = String::from_utf8_lossy(&line);
            if show {
                // A closed pipe on our own output must not hide how the command ended.
                let _ = writeln!(std::io::stdout(), "{line}");
            }
            text.push_str(&line);
            text.push('\n');
        }
    }
    let status = child.wait().with_context(|| format!("failed to wait for {said}"))?;
    if status.success() { Ok(text) } else { Err(Failed { said, status, text }.into()) }
}

/// A command that ended with another status than 0; carries what it printed.
#[derive(Debug)]
pub(crate) struct Failed {
    said: String,
    status: std::process::ExitStatus,
    /// Its standard output.
    pub(crate) text: String,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ended with {}", self.said, self.status)
    }
}

impl std::error::Error for Failed {}

/// The output of a run whether it passed or not; an error only when it could not be run.
pub(crate) fn text_of(result: &Result<String>) -> Option<&str> {
    match result {
        Ok(text) => Some(text),
        Err(error) => error.downcast_ref::<Failed>().map(|failed| failed.text.as_str()),
    }
}
