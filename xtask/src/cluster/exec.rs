//! Running a command as an administrator of the node.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;

use anyhow::{Context, Result};

use super::keeper::Keeper;
use super::node::Node;
use super::state::State;

/// Turns this program into the command, in the node's network, with the environment of an administrator: the
/// command's exit status is this program's. Returns only when that cannot be done.
pub(crate) fn exec(
    node: &Node,
    state: &State,
    keeper: Keeper,
    command: &[OsString],
) -> Result<std::convert::Infallible> {
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(state.bin.clone()).chain(env::split_paths(&path)))
        .context("the PATH cannot be extended")?;
    let error = keeper
        .enter_network()
        .args(command)
        .env("PATH", path)
        .envs(environment(node))
        // Nothing beyond the node is reachable, a proxy least of all.
        .env_remove("HTTP_PROXY")
        .env_remove("HTTPS_PROXY")
        .env_remove("http_proxy")
        .env_remove("https_proxy")
        .exec();
    Err(error).context("cannot start nsenter (Debian package util-linux)")
}

/// What kubectl, helm, ctr and a nested `cargo xtask cluster` need to use this node, and to leave no files elsewhere.
fn environment(node: &Node) -> [(&'static str, OsString); 9] {
    [
        ("KUBECONFIG", node.kubeconfig().into()),
        ("KUBECACHEDIR", node.path("home/kubectl").into()),
        ("HELM_CACHE_HOME", node.path("home/helm/cache").into()),
        ("HELM_CONFIG_HOME", node.path("home/helm/config").into()),
        ("HELM_DATA_HOME", node.path("home/helm/data").into()),
        ("CONTAINERD_ADDRESS", node.containerd_socket().into()),
        ("CONTAINERD_NAMESPACE", "k8s.io".into()),
        ("ANCHORHOLD_NODE", node.name().into()),
        ("ANCHORHOLD_NODE_DIR", node.dir().into()),
    ]
}
