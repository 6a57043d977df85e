//! Images into the node: there is no registry, so containerd is handed what pods name.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::command::{run, run_with_input};
use super::node::Node;
use super::state::State;
use crate::oci::{Image, ImageFile};

/// The sandbox image of every pod. `pause exit N` ends with status N.
pub(crate) const PAUSE: &str = "localhost/pause:1";

/// Makes the sandbox image and imports it.
pub(crate) fn import_pause(node: &Node, state: &State) -> Result<()> {
    let program = state.bin.join("pause");
    let contents = fs::read(&program).with_context(|| format!("cannot read {}", program.display()))?;
    let image = Image {
        reference: PAUSE.to_owned(),
        config: json!({"Entrypoint": ["/pause"], "User": "65535:65535"}),
        files: vec![ImageFile { path: "pause".to_owned(), mode: 0o755, contents }],
    };
    let mut archive = Vec::new();
    image.write_archive(&mut archive)?;
    run_with_input(import(node, state).arg("-"), &archive).context("cannot import the sandbox image")?;
    Ok(())
}

/// Imports an archive (OCI or of `docker save`) or the folder of an OCI image layout. Returns what ctr says of it.
pub(crate) fn load(node: &Node, state: &State, image: &Path) -> Result<String> {
    let failed = || format!("cannot import {}", image.display());
    if !image.is_dir() {
        return run(import(node, state).arg(image)).with_context(failed);
    }
    if !image.join("oci-layout").is_file() {
        bail!("{} is a folder, but not an OCI image layout: it has no file oci-layout", image.display());
    }
    let mut child = import(node, state).arg("-").stdin(Stdio::piped()).spawn().context("cannot start ctr")?;
    if let Some(input) = child.stdin.take() {
        let mut archive = tar::Builder::new(input);
        archive.append_dir_all(".", image).and_then(|()| archive.into_inner().map(drop)).with_context(failed)?;
    }
    let status = child.wait().context("cannot wait for ctr")?;
    if !status.success() {
        bail!("{}: ctr failed ({status})", failed());
    }
    Ok(String::new())
}

fn import(node: &Node, state: &State) -> Command {
    let mut command = Command::new(state.bin.join("ctr"));
    command.arg("--address").arg(node.containerd_socket());
    command.args(["--namespace", "k8s.io", "images", "import", "--base-name", "localhost"]);
    command
}

/// Whether containerd takes connections, which it does once its plug-ins are loaded.
pub(crate) fn reachable(node: &Node) -> bool {
    UnixStream::connect(node.containerd_socket()).is_ok()
}
