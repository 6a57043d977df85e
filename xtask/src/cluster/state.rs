//! What `up` was asked for. Whether the node runs is not recorded: the kernel knows (see `keeper`).

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::components::Component;
use super::node::Node;

pub(crate) const FILE: &str = "state.json";

/// Also what marks a folder as a node's, which `down` may therefore remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// The folder of the programs that the node was started from.
    pub(crate) bin: PathBuf,
    pub(crate) options: Options,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    pub(crate) max_pods: u16,
    pub(crate) network_policy: bool,
    pub(crate) component_args: Vec<(Component, String)>,
}

impl State {
    /// Of the node, if its folder is there.
    pub(crate) fn read(node: &Node) -> Result<Option<Self>> {
        let path = node.path(FILE);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map(Some).with_context(|| {
                format!("{} is not a node's state; remove the node with `cargo xtask cluster down`", path.display())
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub(crate) fn write(&self, node: &Node) -> Result<()> {
        let path = node.path(FILE);
        let text = serde_json::to_vec_pretty(self).context("cannot print the node's state")?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Whether the folder is a node's, whatever the file says.
    pub(crate) fn marks(node: &Node) -> bool {
        node.path(FILE).is_file()
    }
}
