//! The files that the components read, from the templates in `tests/cluster/config`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::images::PAUSE;
use super::node::{Node, POD_CIDR, SERVER};
use super::packages;
use super::state::State;

const CONTAINERD: &str = include_str!("../../../tests/cluster/config/containerd.toml");
const KUBELET: &str = include_str!("../../../tests/cluster/config/kubelet.yaml");
const CNI: &str = include_str!("../../../tests/cluster/config/cni.conflist");
const KUBECONFIG: &str = include_str!("../../../tests/cluster/config/kubeconfig.yaml");
const RESOLV_CONF: &str = include_str!("../../../tests/cluster/config/resolv.conf");

/// Who calls the API server, and as whom. kube-router's own RBAC rules come as a manifest for an installation in the
/// cluster; here it acts as the administrator.
const CLIENTS: [(&str, &str); 5] = [
    ("kube-controller-manager", "kube-controller-manager"),
    ("kube-scheduler", "kube-scheduler"),
    ("kubelet", "node"),
    ("kube-proxy", "kube-proxy"),
    ("kube-router", "admin"),
];

/// Writes all of them.
pub(crate) fn write(node: &Node, state: &State) -> Result<()> {
    let dir = node.dir().display().to_string();
    let plugins =
        packages::cni_plugins().context("there are no CNI plugins (Debian package containernetworking-plugins)")?;
    let max_pods = state.options.max_pods.to_string();
    let cgroup = node.cgroup();
    let values = [
        ("dir", dir.as_str()),
        ("cgroup", &cgroup),
        ("max_pods", &max_pods),
        ("pause_image", PAUSE),
        ("cni_plugins", plugins),
        ("pod_cidr", POD_CIDR),
    ];
    write_file(&node.path("config/containerd.toml"), &render(CONTAINERD, &values)?)?;
    write_file(&node.path("config/kubelet.yaml"), &render(KUBELET, &values)?)?;
    write_file(&node.path("config/cni/10-bridge.conflist"), &render(CNI, &values)?)?;
    write_file(&node.path("config/resolv.conf"), RESOLV_CONF)?;
    let kubeconfig = |user| render(KUBECONFIG, &[("dir", dir.as_str()), ("server", SERVER), ("user", user)]);
    for (component, user) in CLIENTS {
        write_file(&node.path(&format!("config/{component}.kubeconfig")), &kubeconfig(user)?)?;
    }
    write_file(&node.kubeconfig(), &kubeconfig("admin")?)
}

/// The template with each `{{name}}` replaced. Values hold nothing that YAML, TOML or JSON would read as more than
/// text: the folder's path is checked (`Node::at`), the rest is ours.
fn render(template: &str, values: &[(&str, &str)]) -> Result<String> {
    let text =
        values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value));
    if let Some((_, rest)) = text.split_once("{{") {
        bail!("a template has a name without a value: {}", rest.split("}}").next().unwrap_or_default());
    }
    Ok(text)
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn a_name_without_a_value_is_an_error() {
        assert_eq!(render("a {{x}} c", &[("x", "b")]).unwrap(), "a b c");
        assert!(render("{{x}} {{y}}", &[("x", "b")]).is_err());
    }
}
