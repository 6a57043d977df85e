//! Runs the real program in a folder of its own.

#![allow(dead_code, reason = "each test program uses its own part of this")]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with manifests.
pub(crate) struct Folder(TempDir);

/// What the program did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Did {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(TempDir::new().unwrap());
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The program with these arguments, started in the folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Did {
        Did::from(self.command(arguments).output().unwrap())
    }

    /// Runs `validate` on one file of this text.
    pub(crate) fn validate(text: &str) -> Did {
        Self::with(&[("x.yaml", text)]).run(&["validate", "x.yaml"])
    }
}

impl From<Output> for Did {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub(crate) fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_anchorhold").into()
}

/// The top of this repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// An Agent `reader` and a Job `look` with this script.
pub(crate) fn script_job(script: &str) -> String {
    let lines: Vec<String> = script.lines().map(|line| format!("    {line}")).collect();
    format!("{AGENT}---\n{}  script: |\n{}\n", job("look"), lines.join("\n"))
}

pub(crate) const AGENT: &str = "\
apiVersion: anchorhold.dev/v1alpha1
kind: Agent
metadata:
  name: reader
spec:
  tools: [read, ls, grep, find, codemode]
";

/// The lines of a Job of the agent `reader`, up to where its spec goes on.
pub(crate) fn job(name: &str) -> String {
    format!(
        "apiVersion: anchorhold.dev/v1alpha1\nkind: Job\nmetadata:\n  name: {name}\nspec:\n  agentRef:\n    name: reader\n"
    )
}
