//! What the cluster's tests and benches run: the images, and the programs that talk to the cluster from outside.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::command::captured;
use super::node::xtask;
use crate::cargo::cargo;
use crate::oci::{Image, ImageFile};

/// The order of the test programs: the charts on an empty cluster, what runs on one installation, what changes it, and
/// last what leaves the node busy, or takes it away.
const ORDER: [&str; 7] = ["chart", "suite", "attack", "enforcement_off", "restart", "burst", "node_loss"];

/// Everything that was built.
#[derive(Default)]
pub(crate) struct Product {
    /// The test programs by name, in the order they run.
    pub(crate) tests: Vec<(String, PathBuf)>,
    /// The operator of the release profile, the same program as in its image.
    pub(crate) operator: PathBuf,
    /// The bench of a job's start.
    pub(crate) job_start: PathBuf,
    attacker: PathBuf,
    stamp: PathBuf,
}

impl Product {
    /// Builds all programs.
    pub(crate) fn build(root: &Path) -> Result<Self> {
        let tests = ["test", "--locked", "--package", "anchorhold-cluster-tests", "--features", "cluster", "--no-run"];
        let made = executables(root, &tests)?;
        // The packages of `cargo xtask image`: cargo unites the features of what it builds together, and another set of
        // packages would compile the same crates once more.
        let release = ["build", "--locked", "--release", "--bins"];
        let operator = executables(
            root,
            &[&release[..], &["--package", "anchorhold-runner", "--package", "anchorhold-operator"]].concat(),
        )?;
        let (attacker, stamp) = (named(&made, "attacker")?, named(&made, "stamp")?);
        let (job_start, operator) = (named(&made, "job_start")?, named(&operator, "anchorhold-operator")?);
        let mut tests: Vec<_> =
            made.into_iter().filter(|made| made.kind == "test").map(|made| (made.name, made.path)).collect();
        tests.sort_by_key(|(name, _)| {
            (ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()), name.clone())
        });
        if tests.is_empty() {
            bail!("no cluster test was built");
        }
        Ok(Self { tests, operator, job_start, attacker, stamp })
    }

    /// Writes every image into the folder and returns the archives: the product's two, an attacker in the runner's place,
    /// a program that notes when it began, and a folder of code.
    pub(crate) fn images(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        xtask(&["image", "--out", &folder.to_string_lossy()])?;
        let program = |path: &Path| {
            let contents = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            anyhow::Ok(file("anchorhold-runner", 0o755, contents))
        };
        let code = vec![
            file("hello.txt", 0o644, b"hello\n".to_vec()),
            file("src/lib.rs", 0o644, b"pub fn answer() {}\n".to_vec()),
        ];
        let mut archives = vec![folder.join("anchorhold-runner.tar"), folder.join("anchorhold-operator.tar")];
        for (name, files) in [
            ("anchorhold-test-attacker", vec![program(&self.attacker)?]),
            ("anchorhold-test-stamp", vec![program(&self.stamp)?]),
            ("anchorhold-test-code", code),
        ] {
            let config = json!({"User": "65532:65532"});
            let image = Image { reference: format!("localhost/{name}:test"), config, files };
            let archive = folder.join(format!("{name}.tar"));
            let output = File::create(&archive).with_context(|| format!("cannot write {}", archive.display()))?;
            image.write_archive(BufWriter::new(output))?;
            archives.push(archive);
        }
        Ok(archives)
    }
}

fn file(path: &str, mode: u32, contents: Vec<u8>) -> ImageFile {
    ImageFile { path: path.into(), mode, contents }
}

/// A program that cargo made.
struct Executable {
    kind: String,
    name: String,
    path: PathBuf,
}

fn named(all: &[Executable], name: &str) -> Result<PathBuf> {
    let found = all.iter().find(|made| made.kind == "bin" && made.name == name).map(|made| made.path.clone());
    found.with_context(|| format!("cargo built no program {name}"))
}

/// Runs cargo and returns the programs it made or found made.
#[expect(clippy::indexing_slicing, reason = "a JSON value answers a missing key with null")]
fn executables(root: &Path, args: &[&str]) -> Result<Vec<Executable>> {
    let messages = captured(cargo(root, args).args(["--message-format", "json-render-diagnostics"]))?;
    let read = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        // A program's own unit tests are a program of the same name.
        if message["target"]["kind"][0] == "bin" && message["profile"]["test"] == true {
            return None;
        }
        Some(Executable {
            kind: message["target"]["kind"][0].as_str()?.to_owned(),
            name: message["target"]["name"].as_str()?.to_owned(),
            path: message["executable"].as_str()?.into(),
        })
    };
    Ok(messages.lines().filter_map(read).collect())
}
