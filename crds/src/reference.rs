//! References to other objects, always of the same namespace.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::rule;

/// Names an Agent of the same namespace.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AgentRef {
    /// Name of the Agent.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rule::object_name("the Agent's name"))]
    pub name: String,
}

/// Names an McpServer of the same namespace.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct McpServerRef {
    /// Name of the McpServer.
    #[schemars(length(min = 1, max = 63))]
    #[x_kube(validation = rule::dns_label("the McpServer's name"))]
    pub name: String,
}

/// Names one key of a ConfigMap of the same namespace.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapKeyRef {
    /// Name of the ConfigMap.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::object_name("the ConfigMap's name"))]
    pub name: String,
    /// Key within `data`.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::data_key("the ConfigMap's key"))]
    pub key: String,
}

/// Takes a text from elsewhere.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ConfigMapKeyFrom {
    /// The key of a ConfigMap that holds the text. It is read once, when the job starts.
    pub config_map_key_ref: ConfigMapKeyRef,
}

/// Names one key of a Secret of the same namespace. The kubelet mounts it; the operator never reads it.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SecretKeyRef {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::object_name("the Secret's name"))]
    pub name: String,
    /// Key within `data`.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::data_key("the Secret's key"))]
    pub key: String,
}

/// Names a Secret of the same namespace.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SecretRef {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = rule::object_name("the Secret's name"))]
    pub name: String,
}
