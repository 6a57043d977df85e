//! Cargo builds the programs and says itself where it put them: the folder depends on the profile, the target and the
//! environment.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::cargo::cargo;

use super::{Profile, Program, complete};

/// The one message of `--message-format=json` that matters here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Builds the programs and returns where each lies.
pub(super) fn build(programs: &[Program], profile: Profile) -> Result<Vec<(Program, PathBuf)>> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace has no folder")?;
    let mut cargo = cargo(workspace, &["build", "--bins", "--message-format=json-render-diagnostics", "--profile"]);
    cargo.arg(match profile {
        Profile::Dev => "dev",
        Profile::Release => "release",
    });
    for program in programs {
        cargo.args(["--package", program.name()]);
    }
    let mut child = cargo.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let mut built = Vec::new();
    let output = child.stdout.take().context("cargo has no output")?;
    for line in BufReader::new(output).lines() {
        built.extend(executable(&line.context("cannot read what cargo says")?));
    }
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() {
        bail!("cargo build failed ({status})");
    }
    complete(programs, &built)?;
    built.retain(|(program, _)| programs.contains(program));
    built.sort();
    Ok(built)
}

/// The program that a line of cargo's output names, if it names one of ours.
fn executable(line: &str) -> Option<(Program, PathBuf)> {
    let message: Message = serde_json::from_str(line).ok()?;
    if message.reason != "compiler-artifact" {
        return None;
    }
    let name = message.target?.name;
    let program = Program::ALL.into_iter().find(|program| program.name() == name)?;
    Some((program, message.executable?))
}

#[cfg(test)]
mod tests {
    use super::{Program, executable};

    #[test]
    fn only_an_artifact_with_an_executable_names_a_program() {
        let message = |reason: &str, name: &str, executable: &str| {
            format!(r#"{{"reason":"{reason}","target":{{"name":"{name}"}},"executable":{executable}}}"#)
        };
        assert_eq!(
            executable(&message("compiler-artifact", "anchorhold-runner", r#""/t/anchorhold-runner""#)),
            Some((Program::Runner, "/t/anchorhold-runner".into()))
        );
        for line in [
            message("compiler-artifact", "anchorhold-runner", "null"),
            message("compiler-artifact", "anchorhold", r#""/t/anchorhold""#),
            message("build-finished", "anchorhold-runner", r#""/t/anchorhold-runner""#),
            "not JSON".to_owned(),
        ] {
            assert_eq!(executable(&line), None, "{line}");
        }
    }
}
