//! What the node is built from. Kubernetes, etcd and all that they need are pinned by `tests/cluster/go.mod` and its
//! sums; the programs below are installed by version, which the module checksum database vouches for, as `go install
//! PACKAGE@VERSION` reads no `go.sum` of ours.

/// A program that Go builds from a published module.
pub(crate) struct Module {
    pub(crate) program: &'static str,
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
}

const CONTAINERD: &str = "v2.4.2";

pub(crate) const MODULES: [Module; 5] = [
    Module {
        program: "containerd",
        package: "github.com/containerd/containerd/v2/cmd/containerd",
        version: CONTAINERD,
    },
    Module {
        program: "containerd-shim-runc-v2",
        package: "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
        version: CONTAINERD,
    },
    Module { program: "ctr", package: "github.com/containerd/containerd/v2/cmd/ctr", version: CONTAINERD },
    Module {
        program: "kube-router",
        package: "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router",
        version: "v2.1.0",
    },
    Module { program: "helm", package: "helm.sh/helm/v4/cmd/helm", version: "v4.3.1" },
];

/// The sources of `kubenode` and `pause`, as they were when this program was compiled: a node is built from exactly
/// what its cache key was computed from.
pub(crate) const SOURCES: [(&str, &str); 5] = [
    ("go.mod", include_str!("../../../tests/cluster/go.mod")),
    ("go.sum", include_str!("../../../tests/cluster/go.sum")),
    ("main.go", include_str!("../../../tests/cluster/main.go")),
    ("etcd.go", include_str!("../../../tests/cluster/etcd.go")),
    ("pause/main.go", include_str!("../../../tests/cluster/pause/main.go")),
];

/// The oldest Go that builds everything above.
pub(crate) const GO: (u32, u32) = (1, 26);

/// The version of Kubernetes that `go.mod` requires, as `v1.34.4`.
pub(crate) fn kubernetes(go_mod: &str) -> Option<&str> {
    go_mod.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "))
}

#[cfg(test)]
mod tests {
    use super::{SOURCES, kubernetes};

    #[test]
    fn the_module_file_names_the_kubernetes_version() {
        assert_eq!(kubernetes(SOURCES[0].1), Some("v1.34.4"));
    }
}
