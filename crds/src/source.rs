//! What a job may look at: each source is mounted read-only at `/workspace/<name>`.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::reference::McpServerRef;
use crate::rule;

/// One folder of `/workspace`, mounted read-only. Exactly one of persistentVolumeClaim, configMap, image and repository.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = rule::exactly_one(
    &["persistentVolumeClaim", "configMap", "image", "repository"],
    "a source needs exactly one of persistentVolumeClaim, configMap, image and repository: set one and remove the others",
))]
pub struct Source {
    /// Name of the folder below `/workspace`: a DNS label of at most 50 characters, unique among the sources.
    // 50: the volume is called after it, with a prefix, and volume names end at 63.
    #[schemars(length(min = 1, max = 50))]
    #[x_kube(validation = rule::dns_label("the name of a source"))]
    #[x_kube(validation = Rule::new("!(self in ['out', 'tmp', 'workspace'])").message(
        "the names out, tmp and workspace are reserved: they would read like the sandbox's own folders; choose another name"
    ))]
    pub name: String,
    /// A claim of the same namespace that holds the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim: Option<ClaimSource>,
    /// A ConfigMap of the same namespace; each key is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapSource>,
    /// An OCI image whose files are mounted; nothing of it is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageSource>,
    /// A repository that a managed code server keeps a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<RepositorySource>,
}

/// A folder of a PersistentVolumeClaim.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ClaimSource {
    /// Name of the claim.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::object_name("claimName"))]
    pub claim_name: String,
    /// Folder within the volume, relative and without `..`. The whole volume when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    #[x_kube(validation = rule::relative_path("subPath"))]
    pub sub_path: Option<String>,
}

/// Files from a ConfigMap.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapSource {
    /// Name of the ConfigMap.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::object_name("the ConfigMap's name"))]
    pub name: String,
    /// Which keys to mount and where. Every key, as a file of its own name, when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["path".into()]))]
    pub items: Option<Vec<ConfigMapItem>>,
}

/// One key of a ConfigMap as a file.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapItem {
    /// Key within `data` or `binaryData`.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::data_key("the ConfigMap's key"))]
    pub key: String,
    /// File below the source's folder, relative and without `..`.
    #[schemars(length(min = 1, max = 1024))]
    #[x_kube(validation = rule::relative_path("path"))]
    pub path: String,
}

/// The files of an OCI image.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ImageSource {
    /// Reference of the image. With a digest (`name@sha256:…`) two jobs see the same files.
    #[schemars(length(min = 1, max = 1000))]
    #[x_kube(validation = Rule::new(r"!self.matches('\\s') && !self.contains('://')").message(
        "the reference of an image is written as host/path:tag or host/path@sha256:digest, without a scheme and without spaces"
    ))]
    pub reference: String,
    /// When the kubelet pulls it. As for containers when left out: Always for the tag `latest`, `IfNotPresent` otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_policy: Option<PullPolicy>,
}

/// When an image is pulled.
#[derive(schemars::JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullPolicy {
    /// Before every attempt.
    Always,
    /// When the node does not have it.
    IfNotPresent,
    /// Never: the node must have it.
    Never,
}

impl PullPolicy {
    /// The value as Kubernetes writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "Always",
            Self::IfNotPresent => "IfNotPresent",
            Self::Never => "Never",
        }
    }
}

/// A repository of a managed code server (`McpServer.spec.code`).
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RepositorySource {
    /// The McpServer with `spec.code`.
    pub mcp_server_ref: McpServerRef,
    /// Name of the repository in its `spec.code.repositories`.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rule::dns_label("the name of a repository"))]
    pub name: String,
}
